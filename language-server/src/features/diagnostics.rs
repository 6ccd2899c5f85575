//! Diagnostics of the front end.

use lsp_types::{Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, NumberOrString, Position, Range};
use wgcl_compiler::diag::{Diagnostic as Found, Severity};

use crate::analysis::Analysis;

/// Returns the diagnostics of a document. A diagnostic in a header is at the `#include`.
pub(crate) fn diagnostics(analysis: &Analysis) -> Vec<Diagnostic> {
    let levels = &analysis.settings.options.warnings;
    let is_shown = |found: &&Found| levels.severity(found).is_some();
    analysis.diagnostics.iter().filter(is_shown).map(|found| diagnostic(analysis, found)).collect()
}

pub(super) fn diagnostic(analysis: &Analysis, found: &Found) -> Diagnostic {
    let severity = match analysis.settings.options.warnings.severity(found).unwrap_or(found.severity) {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Note => DiagnosticSeverity::INFORMATION,
    };
    let mut notes: Vec<DiagnosticRelatedInformation> = Vec::new();
    let range = analysis.range(found.span).unwrap_or_else(|| {
        let location = analysis.location(found.span);
        notes.extend(location.map(|location| DiagnosticRelatedInformation { location, message: found.message.clone() }));
        analysis.included_at(found.span).unwrap_or(Range { start: Position::new(0, 0), end: Position::new(0, 0) })
    });
    notes.extend(found.notes.iter().filter_map(|(span, message)| {
        let location = analysis.location(*span)?;
        Some(DiagnosticRelatedInformation { location, message: message.clone() })
    }));
    let related_information = if notes.is_empty() { None } else { Some(notes) };
    let source = Some("wgclc".to_owned());
    let code = found.group.map(|group| NumberOrString::String(group.name().to_owned()));
    let message = found.message.clone();
    Diagnostic { range, severity: Some(severity), code, source, message, related_information, ..Diagnostic::default() }
}
