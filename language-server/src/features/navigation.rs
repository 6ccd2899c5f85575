//! Definitions, references and highlights.

use lsp_types::{
    DocumentHighlight, DocumentHighlightParams, GotoDefinitionParams, GotoDefinitionResponse, Location, Position, ReferenceParams,
};
use wgcl_compiler::editor::index::{Target, Use};

use crate::analysis::Analysis;

/// Returns the use of a name at a position.
pub(crate) fn use_at(analysis: &Analysis, position: Position) -> Option<&Use> {
    let offset = analysis.lines.offset(&analysis.text, position);
    analysis.index.use_at(analysis.position(offset))
}

pub(crate) fn definition(analysis: &Analysis, params: &GotoDefinitionParams) -> Option<GotoDefinitionResponse> {
    let found = use_at(analysis, params.text_document_position_params.position)?;
    let Target::Declaration(index) = found.target else { return None };
    let declaration = analysis.index.declarations.get(index)?;
    analysis.location(declaration.span).map(GotoDefinitionResponse::Scalar)
}

/// Whether two uses refer to the same object.
fn is_same(a: &Target, b: &Target) -> bool {
    match (a, b) {
        (Target::Declaration(a), Target::Declaration(b)) => a == b,
        (Target::Builtin { name: a, .. }, Target::Builtin { name: b, .. }) => a == b,
        _ => false,
    }
}

pub(crate) fn references(analysis: &Analysis, params: &ReferenceParams) -> Option<Vec<Location>> {
    let found = use_at(analysis, params.text_document_position.position)?;
    let declared = match found.target {
        Target::Declaration(index) => analysis.index.declarations.get(index).map(|declaration| declaration.span),
        _ => None,
    };
    let is_wanted = |other: &&Use| params.context.include_declaration || Some(other.span) != declared;
    let same = analysis.index.uses.iter().filter(|other| is_same(&found.target, &other.target));
    Some(same.filter(is_wanted).filter_map(|other| analysis.location(other.span)).collect())
}

pub(crate) fn highlights(analysis: &Analysis, params: &DocumentHighlightParams) -> Option<Vec<DocumentHighlight>> {
    let found = use_at(analysis, params.text_document_position_params.position)?;
    let same = analysis.index.uses.iter().filter(|other| is_same(&found.target, &other.target));
    Some(same.filter_map(|other| analysis.range(other.span)).map(|range| DocumentHighlight { range, kind: None }).collect())
}
