//! The outline of a document: functions, types and variables at program scope, macros, members and enumerators.

use lsp_types::{DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, SymbolKind};
use wgcl_compiler::editor::index::{Declaration, Kind};

use crate::analysis::Analysis;

pub(crate) fn symbols(analysis: &Analysis, _: &DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
    let declarations = &analysis.index.declarations;
    let is_part = |found: &Declaration| matches!(found.kind, Kind::Member | Kind::Enumerator) && found.container.is_some();
    let mut parts: Vec<Vec<DocumentSymbol>> = vec![Vec::new(); declarations.len()];
    for part in declarations.iter().filter(|found| is_part(found)) {
        let siblings = part.container.and_then(|container| parts.get_mut(container));
        if let (Some(siblings), Some(symbol)) = (siblings, symbol(analysis, part)) {
            siblings.push(symbol);
        }
    }
    let mut outermost = Vec::new();
    // Variables and types in functions are not part of the outline.
    for (declaration, own) in declarations.iter().zip(parts).filter(|(found, _)| found.container.is_none()) {
        if let Some(symbol) = symbol(analysis, declaration) {
            let children = if own.is_empty() { None } else { Some(own) };
            outermost.push(DocumentSymbol { children, ..symbol });
        }
    }
    outermost.sort_by_key(|symbol| (symbol.range.start.line, symbol.range.start.character));
    Some(DocumentSymbolResponse::Nested(outermost))
}

/// Returns a symbol without children. Returns `None` for a declaration in another file and for a parameter.
fn symbol(analysis: &Analysis, declaration: &Declaration) -> Option<DocumentSymbol> {
    let kind = match declaration.kind {
        Kind::Function | Kind::Kernel => SymbolKind::FUNCTION,
        Kind::Global | Kind::Variable => SymbolKind::VARIABLE,
        Kind::Typedef => SymbolKind::CLASS,
        Kind::Struct | Kind::Union => SymbolKind::STRUCT,
        Kind::Enum => SymbolKind::ENUM,
        Kind::Enumerator => SymbolKind::ENUM_MEMBER,
        Kind::Member => SymbolKind::FIELD,
        Kind::Macro => SymbolKind::CONSTANT,
        Kind::Parameter | Kind::Label => return None,
    };
    let selection_range = analysis.range(declaration.span)?;
    let range = analysis.range(declaration.extent).unwrap_or(selection_range);
    // The protocol requires that the range contains the name.
    let range = if range.start <= selection_range.start && selection_range.end <= range.end { range } else { selection_range };
    #[expect(deprecated, reason = "the structure has no other constructor")]
    Some(DocumentSymbol {
        name: declaration.name.to_string(),
        detail: Some(declaration.detail.clone()),
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range,
        children: None,
    })
}
