//! The requests that the server answers.

pub(crate) mod actions;
pub(crate) mod completion;
pub(crate) mod diagnostics;
pub(crate) mod hints;
pub(crate) mod hover;
pub(crate) mod navigation;
pub(crate) mod semantic;
pub(crate) mod signature;
pub(crate) mod symbols;

use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions, HoverProviderCapability, InitializeParams, OneOf,
    SaveOptions, SemanticTokensFullOptions, SemanticTokensOptions, ServerCapabilities, SignatureHelpOptions, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions,
};

/// Returns the capabilities of the server. They do not depend on the client, because clients ignore unknown ones.
pub(crate) fn capabilities(_client: &InitializeParams) -> ServerCapabilities {
    let words = |list: &[&str]| Some(list.iter().map(|word| (*word).to_owned()).collect());
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
        ..TextDocumentSyncOptions::default()
    };
    let semantic = SemanticTokensOptions {
        legend: semantic::legend(),
        full: Some(SemanticTokensFullOptions::Bool(true)),
        ..SemanticTokensOptions::default()
    };
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            resolve_provider: Some(true),
            trigger_characters: words(&[".", ">", "#"]),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions { trigger_characters: words(&["(", ","]), ..SignatureHelpOptions::default() }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        semantic_tokens_provider: Some(semantic.into()),
        inlay_hint_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        ..ServerCapabilities::default()
    }
}
