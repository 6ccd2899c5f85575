//! Code actions: the corrections that the compiler suggests.

use std::collections::HashMap;

use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse, Range, TextEdit, WorkspaceEdit};

use super::diagnostics::diagnostic;
use crate::analysis::Analysis;

pub(crate) fn actions(analysis: &Analysis, params: &CodeActionParams) -> Option<CodeActionResponse> {
    let touches = |range: Range| range.start <= params.range.end && params.range.start <= range.end;
    let mut actions = Vec::new();
    for found in &analysis.diagnostics {
        let Some(fix) = found.fix.as_ref().filter(|fix| !analysis.is_in_expansion(fix.span)) else { continue };
        let (Some(range), Some(at)) = (analysis.range(fix.span), analysis.range(found.span)) else { continue };
        if !touches(range) && !touches(at) {
            continue;
        }
        let title = match (range.start == range.end, fix.replacement.as_str()) {
            (true, text) => format!("Insert '{text}'"),
            (false, "") => "Remove".to_owned(),
            (false, text) => format!("Change to '{text}'"),
        };
        let edit = TextEdit { range, new_text: fix.replacement.clone() };
        #[expect(clippy::mutable_key_type, reason = "the protocol's type; its hash does not depend on the mutable part")]
        let changes = HashMap::from([(analysis.uri.clone(), vec![edit])]);
        actions.push(CodeActionOrCommand::CodeAction(CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![diagnostic(analysis, found)]),
            edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
            is_preferred: Some(true),
            ..CodeAction::default()
        }));
    }
    Some(actions)
}
