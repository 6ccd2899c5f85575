//! Completion of members, names, built-ins, types, keywords, attributes, directives and extensions.

use std::str::FromStr;

use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionParams, CompletionResponse, CompletionTextEdit, Documentation, MarkupContent, MarkupKind,
    TextEdit, Uri,
};
use serde_json::Value;
use wgcl_compiler::editor::catalogue;
use wgcl_compiler::editor::index::Kind;
use wgcl_compiler::editor::tokens::{self, Class, TextToken};

use super::hover;
use crate::analysis::Analysis;
use crate::descriptions;
use crate::settings::Settings;

/// The names of directives.
const DIRECTIVES: &[&str] =
    &["define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning", "line", "pragma"];

/// The start of the label of an item that a built-in function provides, in the item's data.
const BUILTIN: &str = "builtin";

/// The text around the cursor.
struct Place<'a> {
    /// The part of a word before the cursor.
    start: usize,
    /// The end of the word that contains the cursor.
    end: usize,
    /// The tokens before the word.
    before: &'a [TextToken],
}

pub(crate) fn complete(analysis: &Analysis, params: &CompletionParams) -> Option<CompletionResponse> {
    let offset = analysis.lines.offset(&analysis.text, params.text_document_position.position);
    let place = place(analysis, offset)?;
    let word = |token: Option<&TextToken>| token.and_then(|token| analysis.text.get(token.range.clone())).unwrap_or_default();
    let last = place.before.last();
    let items = match word(last) {
        "." | "->" => members(analysis, &place),
        "#" if last.is_some_and(|token| token.class == Class::Directive) => plain(DIRECTIVES, CompletionItemKind::KEYWORD),
        "EXTENSION" => extensions(analysis),
        _ if in_attribute(analysis, place.before) => plain(tokens::attributes(), CompletionItemKind::PROPERTY),
        _ => names(analysis, offset),
    };
    let range = analysis.lines.range(&analysis.text, place.start..place.end);
    let edited = |item: CompletionItem| {
        let text_edit = Some(CompletionTextEdit::Edit(TextEdit { range, new_text: item.label.clone() }));
        CompletionItem { text_edit, ..item }
    };
    Some(CompletionResponse::Array(items.into_iter().map(edited).collect()))
}

/// Returns the word at an offset. Returns `None` in a comment, a string or a number.
fn place(analysis: &Analysis, offset: usize) -> Option<Place<'_>> {
    let tokens = analysis.tokens();
    let next = tokens.partition_point(|token| token.range.start < offset);
    let at = next.checked_sub(1).and_then(|before| tokens.get(before)).filter(|token| token.range.end >= offset);
    match at {
        Some(token) if matches!(token.class, Class::Name | Class::Keyword | Class::Type) || is_directive_name(analysis, token) => {
            Some(Place { start: token.range.start, end: token.range.end, before: tokens.get(..next - 1)? })
        }
        Some(token)
            if matches!(token.class, Class::Punctuation | Class::Directive)
                || token.range.end == offset && token.class == Class::String =>
        {
            Some(Place { start: offset, end: offset, before: tokens.get(..next)? })
        }
        Some(_) => None,
        None => Some(Place { start: offset, end: offset, before: tokens.get(..next)? }),
    }
}

fn is_directive_name(analysis: &Analysis, token: &TextToken) -> bool {
    token.class == Class::Directive && analysis.text.get(token.range.clone()) != Some("#")
}

/// Whether the cursor is in the parentheses of `__attribute__((`.
fn in_attribute(analysis: &Analysis, before: &[TextToken]) -> bool {
    let mut depth = 0;
    for token in before.iter().rev().take(16) {
        match analysis.text.get(token.range.clone()).unwrap_or_default() {
            "(" => depth += 1,
            ")" => depth -= 1,
            "__attribute__" | "__attribute" => return depth == 2,
            ";" | "{" | "}" => return false,
            _ => {}
        }
    }
    false
}

/// Returns the members of the expression before the cursor. Analyses the document with a complete member name, so that
/// the parser sees a member expression.
fn members(analysis: &Analysis, place: &Place<'_>) -> Vec<CompletionItem> {
    let (Some(head), Some(tail)) = (analysis.text.get(..place.start), analysis.text.get(place.end..)) else { return Vec::new() };
    let text = [head, "m", tail].concat();
    let candidates = analysis.members(&text, place.start).members;
    let item = |(number, candidate): (usize, wgcl_compiler::editor::index::Candidate)| CompletionItem {
        label: candidate.name,
        kind: Some(if candidate.is_swizzle { CompletionItemKind::PROPERTY } else { CompletionItemKind::FIELD }),
        detail: Some(candidate.ty),
        sort_text: Some(format!("{number:03}")),
        ..CompletionItem::default()
    };
    candidates.into_iter().enumerate().map(item).collect()
}

fn plain(names: &[&str], kind: CompletionItemKind) -> Vec<CompletionItem> {
    names.iter().map(|name| CompletionItem { label: (*name).to_owned(), kind: Some(kind), ..CompletionItem::default() }).collect()
}

fn extensions(analysis: &Analysis) -> Vec<CompletionItem> {
    let known = &analysis.settings.target.language.extensions;
    let names: Vec<&str> = known.iter().map(|name| -> &str { name }).chain(["all"]).collect();
    plain(&names, CompletionItemKind::MODULE)
}

fn names(analysis: &Analysis, offset: usize) -> Vec<CompletionItem> {
    let visible = analysis.index.visible_at(analysis.position(offset));
    let mut items: Vec<CompletionItem> = visible
        .into_iter()
        .map(|declaration| CompletionItem {
            label: declaration.name.to_string(),
            kind: Some(kind(declaration.kind)),
            detail: Some(declaration.detail.clone()),
            sort_text: Some(format!("0{}", declaration.name)),
            ..CompletionItem::default()
        })
        .collect();
    let settings = &analysis.settings;
    let data = Value::Array(vec![BUILTIN.into(), analysis.uri.as_str().into()]);
    items.extend(catalogue::names(&settings.options, &settings.target).into_iter().map(|label| CompletionItem {
        label,
        kind: Some(CompletionItemKind::FUNCTION),
        data: Some(data.clone()),
        ..CompletionItem::default()
    }));
    let types: Vec<&str> = tokens::types().collect();
    items.extend(plain(&types, CompletionItemKind::STRUCT));
    let keywords: Vec<&str> = tokens::keywords().filter(|name| !name.starts_with('_')).collect();
    items.extend(plain(&keywords, CompletionItemKind::KEYWORD));
    let macros: Vec<&str> = tokens::predefined_macros().collect();
    items.extend(plain(&macros, CompletionItemKind::CONSTANT));
    items
}

const fn kind(kind: Kind) -> CompletionItemKind {
    match kind {
        Kind::Function | Kind::Kernel => CompletionItemKind::FUNCTION,
        Kind::Parameter | Kind::Variable | Kind::Global => CompletionItemKind::VARIABLE,
        Kind::Typedef => CompletionItemKind::CLASS,
        Kind::Struct | Kind::Union => CompletionItemKind::STRUCT,
        Kind::Enum => CompletionItemKind::ENUM,
        Kind::Enumerator => CompletionItemKind::ENUM_MEMBER,
        Kind::Member => CompletionItemKind::FIELD,
        Kind::Label => CompletionItemKind::REFERENCE,
        Kind::Macro => CompletionItemKind::CONSTANT,
    }
}

/// Returns the document of an item for a built-in function. Returns `None` for other items.
pub(crate) fn document_of(item: &CompletionItem) -> Option<Uri> {
    let data = item.data.as_ref()?.as_array()?;
    if data.first()?.as_str()? != BUILTIN {
        return None;
    }
    Uri::from_str(data.get(1)?.as_str()?).ok()
}

/// Adds the documentation of an item.
pub(crate) fn resolve(item: CompletionItem, settings: &Settings) -> CompletionItem {
    let value = match document_of(&item) {
        Some(_) => Some(hover::builtin(settings, &item.label, None)),
        None => descriptions::of_type(&item.label).or_else(|| descriptions::of_word(&item.label)),
    };
    let documentation = value.map(|value| Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value }));
    CompletionItem { documentation: documentation.or(item.documentation.clone()), ..item }
}
