//! Hover: declarations, built-in functions, types, attributes.

use std::fmt::Write as _;

use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};
use wgcl_compiler::editor::catalogue;
use wgcl_compiler::editor::index::{Declaration, Target};
use wgcl_compiler::editor::tokens::Class;

use super::navigation::use_at;
use crate::analysis::Analysis;
use crate::descriptions;
use crate::settings::Settings;

/// The largest number of overloads that a hover lists.
const MAX_OVERLOADS: usize = 6;

pub(crate) fn hover(analysis: &Analysis, params: &HoverParams) -> Option<Hover> {
    let position = params.text_document_position_params.position;
    let found = use_at(analysis, position);
    let text = match found.map(|found| &found.target) {
        Some(Target::Declaration(index)) => declaration(analysis, analysis.index.declarations.get(*index)?),
        Some(Target::Builtin { name, call }) => builtin(&analysis.settings, name, call.as_deref()),
        Some(Target::Swizzle(ty)) => format!("```opencl\n{ty}\n```\nComponents of a vector"),
        Some(Target::Predefined) | None => return word(analysis, position),
    };
    Some(markdown(text, found.and_then(|found| analysis.range(found.span))))
}

fn markdown(value: String, range: Option<lsp_types::Range>) -> Hover {
    Hover { contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }), range }
}

fn declaration(analysis: &Analysis, declaration: &Declaration) -> String {
    let mut text = format!("```opencl\n{}\n```", declaration.detail);
    if let Some(comment) = comment_before(analysis, declaration) {
        let _ = write!(text, "\n{comment}");
    }
    if let Some(fact) = analysis.facts.of(declaration.span) {
        let shape =
            if fact.is_varying { "Varying: may differ between work-items" } else { "Uniform: equal in all work-items of a work-group" };
        let _ = write!(text, "\n\n{shape}");
    }
    text
}

/// Returns the text of the comments directly before a declaration.
fn comment_before(analysis: &Analysis, declaration: &Declaration) -> Option<String> {
    let start = analysis.bytes(declaration.extent)?.start;
    let tokens = analysis.tokens();
    let mut next = tokens.partition_point(|token| token.range.start < start);
    let mut end = start;
    let mut lines = Vec::new();
    while let Some(token) = next.checked_sub(1).and_then(|before| tokens.get(before)) {
        let gap = analysis.text.get(token.range.end..end)?;
        if token.class != Class::Comment || !gap.trim().is_empty() || gap.matches('\n').count() > 1 {
            break;
        }
        lines.push(analysis.text.get(token.range.clone())?);
        end = token.range.start;
        next -= 1;
    }
    // A comment at the end of another line belongs to that line.
    let before = analysis.text.get(..end)?.rsplit('\n').next()?;
    if lines.is_empty() || !before.trim().is_empty() {
        return None;
    }
    lines.reverse();
    let words =
        |line: &str| line.trim().trim_start_matches("//").trim_start_matches(['/', '*', '!']).trim_end_matches("*/").trim().to_owned();
    Some(lines.iter().flat_map(|comment| comment.lines()).map(words).collect::<Vec<_>>().join("\n"))
}

/// Returns the signatures and the description of a built-in function. `call` are the types of a call.
pub(crate) fn builtin(settings: &Settings, name: &str, call: Option<&str>) -> String {
    let overloads = catalogue::overloads(name, &settings.options, &settings.target);
    let mut text = String::from("```opencl\n");
    if let Some((result, arguments)) = call.and_then(|call| call.split_once(" (")) {
        let _ = writeln!(text, "{result} {name}({arguments}");
    }
    for overload in overloads.iter().take(if call.is_some() { 1 } else { MAX_OVERLOADS }) {
        let signature = format!("{} {name}({})", overload.result, overload.parameters.join(", "));
        let prefix = if call.is_some() { "// " } else { "" };
        let _ = writeln!(text, "{prefix}{signature}");
    }
    text.push_str("```\n");
    text.push_str(&descriptions::of(name));
    if let Some(generic) = overloads.first().map(|overload| &overload.generic).filter(|generic| !generic.is_empty()) {
        let _ = write!(text, "\n\n`gentype`: {generic}");
    }
    if let Some(extension) = overloads.first().and_then(|overload| overload.extension) {
        let _ = write!(text, "\n\nExtension: `{extension}`");
    }
    text
}

/// Describes a keyword, a predeclared type, a predefined macro or an attribute.
fn word(analysis: &Analysis, position: lsp_types::Position) -> Option<Hover> {
    let offset = analysis.lines.offset(&analysis.text, position);
    let tokens = analysis.tokens();
    let next = tokens.partition_point(|token| token.range.end < offset);
    let token = tokens.get(next..)?.iter().take(2).find(|token| token.range.contains(&offset) || token.range.end == offset)?;
    let name = analysis.text.get(token.range.clone())?;
    let text = match token.class {
        Class::Type => descriptions::of_type(name)?,
        Class::Name | Class::Keyword => descriptions::of_word(name)?,
        _ => return None,
    };
    Some(markdown(format!("```opencl\n{name}\n```\n{text}"), Some(analysis.lines.range(&analysis.text, token.range.clone()))))
}
