//! Semantic tokens: the tokens of the document, where the index knows what names denote.

use lsp_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensLegend, SemanticTokensParams,
    SemanticTokensResult,
};
use wgcl_compiler::editor::index::{Kind, Target};
use wgcl_compiler::editor::tokens::{Class, TextToken};

use crate::analysis::Analysis;
use crate::position::utf16_length;

/// The token types of the legend, in order.
#[derive(Clone, Copy)]
enum TokenType {
    Type,
    Struct,
    Enum,
    EnumMember,
    Parameter,
    Variable,
    Property,
    Function,
    Macro,
    Keyword,
    Comment,
    String,
    Number,
    Label,
}

/// The bit of a declaration in the modifiers.
const DECLARATION: u32 = 1;
/// The bit of a built-in.
const LIBRARY: u32 = 2;

pub(crate) fn legend() -> SemanticTokensLegend {
    let types = [
        SemanticTokenType::TYPE,
        SemanticTokenType::STRUCT,
        SemanticTokenType::ENUM,
        SemanticTokenType::ENUM_MEMBER,
        SemanticTokenType::PARAMETER,
        SemanticTokenType::VARIABLE,
        SemanticTokenType::PROPERTY,
        SemanticTokenType::FUNCTION,
        SemanticTokenType::MACRO,
        SemanticTokenType::KEYWORD,
        SemanticTokenType::COMMENT,
        SemanticTokenType::STRING,
        SemanticTokenType::NUMBER,
        SemanticTokenType::new("label"),
    ];
    let modifiers = [SemanticTokenModifier::DECLARATION, SemanticTokenModifier::DEFAULT_LIBRARY];
    SemanticTokensLegend { token_types: types.to_vec(), token_modifiers: modifiers.to_vec() }
}

pub(crate) fn full(analysis: &Analysis, _: &SemanticTokensParams) -> Option<SemanticTokensResult> {
    let mut data = Vec::new();
    let (mut line, mut character) = (0, 0);
    let uses = &analysis.index.uses;
    let mut next = 0;
    for token in analysis.tokens() {
        let start = analysis.position(token.range.start);
        while uses.get(next).is_some_and(|found| found.span.lo < start) {
            next += 1;
        }
        let found = uses.get(next).filter(|found| found.span.lo == start).map(|found| &found.target);
        let Some((ty, modifiers)) = classify(analysis, token, start, found) else { continue };
        // A token must be on one line. Only comments have several lines.
        let mut at = token.range.start;
        for text in analysis.text.get(token.range.clone()).unwrap_or_default().split_inclusive('\n') {
            let position = analysis.lines.position(&analysis.text, at);
            let length = utf16_length(text.trim_end_matches(['\n', '\r']));
            at += text.len();
            if length == 0 {
                continue;
            }
            let delta_line = position.line - line;
            let delta_start = if delta_line == 0 { position.character - character } else { position.character };
            data.push(SemanticToken { delta_line, delta_start, length, token_type: ty as u32, token_modifiers_bitset: modifiers });
            (line, character) = (position.line, position.character);
        }
    }
    Some(SemanticTokensResult::Tokens(SemanticTokens { result_id: None, data }))
}

/// Returns the type and the modifiers of a token. Returns `None` for a token without a type.
fn classify(analysis: &Analysis, token: &TextToken, start: u32, found: Option<&Target>) -> Option<(TokenType, u32)> {
    let plain = match token.class {
        Class::Comment => TokenType::Comment,
        Class::String => TokenType::String,
        Class::Number => TokenType::Number,
        Class::Keyword => TokenType::Keyword,
        Class::Directive => TokenType::Macro,
        Class::Punctuation => return None,
        Class::Type if found.is_none() => return Some((TokenType::Type, LIBRARY)),
        Class::Name | Class::Type => match found? {
            Target::Builtin { .. } => return Some((TokenType::Function, LIBRARY)),
            Target::Swizzle(_) => TokenType::Property,
            Target::Predefined if token.class == Class::Type => return Some((TokenType::Type, LIBRARY)),
            Target::Predefined => return Some((TokenType::Macro, LIBRARY)),
            Target::Declaration(index) => {
                let declaration = analysis.index.declarations.get(*index)?;
                let modifiers = if declaration.span.lo == start { DECLARATION } else { 0 };
                return Some((of_kind(declaration.kind), modifiers));
            }
        },
    };
    Some((plain, 0))
}

const fn of_kind(kind: Kind) -> TokenType {
    match kind {
        Kind::Function | Kind::Kernel => TokenType::Function,
        Kind::Parameter => TokenType::Parameter,
        Kind::Variable | Kind::Global => TokenType::Variable,
        Kind::Typedef => TokenType::Type,
        Kind::Struct | Kind::Union => TokenType::Struct,
        Kind::Enum => TokenType::Enum,
        Kind::Enumerator => TokenType::EnumMember,
        Kind::Member => TokenType::Property,
        Kind::Label => TokenType::Label,
        Kind::Macro => TokenType::Macro,
    }
}
