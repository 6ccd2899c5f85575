//! Signature help: the parameters of the call around the cursor.

use lsp_types::{
    Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, SignatureHelp, SignatureHelpParams,
    SignatureInformation,
};
use wgcl_compiler::editor::catalogue;
use wgcl_compiler::editor::index::Kind;
use wgcl_compiler::editor::tokens::Class;

use crate::analysis::Analysis;
use crate::descriptions;
use crate::position::{number, utf16_length};

pub(crate) fn help(analysis: &Analysis, params: &SignatureHelpParams) -> Option<SignatureHelp> {
    let offset = analysis.lines.offset(&analysis.text, params.text_document_position_params.position);
    let (name, argument) = call(analysis, offset)?;
    let mut signatures = of_source(analysis, name, offset);
    if signatures.is_empty() {
        signatures = of_builtin(analysis, name);
    }
    if signatures.is_empty() {
        return None;
    }
    let fits = |signature: &SignatureInformation| signature.parameters.as_ref().is_some_and(|list| list.len() > argument);
    let active = signatures.iter().position(fits).unwrap_or(0);
    Some(SignatureHelp { signatures, active_signature: Some(number(active)), active_parameter: Some(number(argument)) })
}

/// Returns the name of the function whose call contains an offset, and the number of the argument at the offset.
fn call(analysis: &Analysis, offset: usize) -> Option<(&str, usize)> {
    let tokens = analysis.tokens();
    let end = tokens.partition_point(|token| token.range.start < offset);
    let text = |at: usize| tokens.get(at).and_then(|token| analysis.text.get(token.range.clone())).unwrap_or_default();
    let (mut depth, mut commas) = (0_usize, 0);
    for at in (0..end).rev() {
        match text(at) {
            ")" | "]" => depth += 1,
            "(" if depth == 0 => {
                let callee = tokens.get(at.checked_sub(1)?)?;
                if callee.class == Class::Name {
                    return Some((text(at - 1), commas));
                }
                // The parentheses of an expression. The call may be outside of them.
                commas = 0;
            }
            "(" | "[" => depth = depth.saturating_sub(1),
            "," if depth == 0 => commas += 1,
            ";" | "{" | "}" if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

fn of_source(analysis: &Analysis, name: &str, offset: usize) -> Vec<SignatureInformation> {
    let position = analysis.position(offset);
    let declared = analysis
        .index
        .declarations
        .iter()
        .filter(|found| matches!(found.kind, Kind::Function | Kind::Kernel) && *found.name == *name && found.visible_from <= position);
    declared
        .map(|found| {
            let result = found.detail.split_once(name).map_or("", |(result, _)| result);
            signature(result.trim_end(), name, &found.parameters, None)
        })
        .collect()
}

fn of_builtin(analysis: &Analysis, name: &str) -> Vec<SignatureInformation> {
    let settings = &analysis.settings;
    let overloads = catalogue::overloads(name, &settings.options, &settings.target);
    let text = |generic: &str| {
        let note = if generic.is_empty() { String::new() } else { format!("\n\n`gentype`: {generic}") };
        Some(descriptions::of(name) + &note)
    };
    overloads.iter().map(|found| signature(&found.result, name, &found.parameters, text(&found.generic))).collect()
}

fn signature(result: &str, name: &str, parameters: &[String], text: Option<String>) -> SignatureInformation {
    let mut label = format!("{result} {name}(");
    let mut list = Vec::new();
    for (at, parameter) in parameters.iter().enumerate() {
        if at > 0 {
            label.push_str(", ");
        }
        let start = utf16_length(&label);
        label.push_str(parameter);
        list.push(ParameterInformation { label: ParameterLabel::LabelOffsets([start, utf16_length(&label)]), documentation: None });
    }
    label.push(')');
    let documentation = text.map(|value| Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value }));
    SignatureInformation { label, documentation, parameters: Some(list), active_parameter: None }
}
