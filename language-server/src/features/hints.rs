//! Inlay hints: types of swizzles, uniformity of variables, address spaces of generic pointers.

use lsp_types::{InlayHint, InlayHintLabel, InlayHintParams, InlayHintTooltip};
use wgcl_compiler::editor::index::{Kind, Target};

use crate::analysis::Analysis;

pub(crate) fn hints(analysis: &Analysis, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
    let wanted = analysis.settings.hints;
    let start = analysis.position(analysis.lines.offset(&analysis.text, params.range.start));
    let end = analysis.position(analysis.lines.offset(&analysis.text, params.range.end));
    let uses = &analysis.index.uses;
    let first = uses.partition_point(|found| found.span.lo < start);
    let mut hints = Vec::new();
    for found in uses.get(first..).unwrap_or_default().iter().take_while(|found| found.span.hi <= end) {
        let Some(range) = analysis.range(found.span) else { continue };
        let mut add = |label: String, tooltip: &str| {
            hints.push(InlayHint {
                position: range.end,
                label: InlayHintLabel::String(label),
                kind: None,
                text_edits: None,
                tooltip: Some(InlayHintTooltip::String(tooltip.to_owned())),
                padding_left: Some(true),
                padding_right: None,
                data: None,
            });
        };
        match &found.target {
            Target::Swizzle(ty) if wanted.vectors && ty.ends_with(|last: char| last.is_ascii_digit()) => {
                add(format!(": {ty}"), "Type of the selected components");
            }
            Target::Declaration(index) => {
                let Some(declaration) = analysis.index.declarations.get(*index).filter(|found_at| found_at.span == found.span) else {
                    continue;
                };
                let Some(fact) = analysis.facts.of(declaration.span) else { continue };
                if wanted.spaces && !fact.spaces.is_empty() {
                    add(fact.spaces.join("|"), "Address spaces of the objects that this generic pointer can point to");
                }
                if wanted.uniformity && declaration.kind == Kind::Variable {
                    let (label, tooltip) = if fact.is_varying {
                        ("varying", "The value may differ between the work-items of a work-group")
                    } else {
                        ("uniform", "The value is equal in all work-items of a work-group")
                    };
                    add(label.to_owned(), tooltip);
                }
            }
            _ => {}
        }
    }
    Some(hints)
}
