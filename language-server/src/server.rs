//! The main loop: receives messages, holds the open documents, answers requests, publishes diagnostics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Notification as Notified,
    PublishDiagnostics, ShowMessage,
};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentHighlightRequest, DocumentSymbolRequest, GotoDefinition, HoverRequest, InlayHintRequest,
    References, Request as Requested, ResolveCompletionItem, SemanticTokensFullRequest, SignatureHelpRequest,
};
use lsp_types::{
    InitializeParams, InitializeResult, MessageType, PublishDiagnosticsParams, ServerInfo, ShowMessageParams,
    TextDocumentContentChangeEvent, Uri,
};
use rustc_hash::FxHashMap;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::analysis::Analysis;
use crate::features;
use crate::position::Lines;
use crate::settings::Settings;
use crate::uri;

/// Stack size in bytes of the server's thread. The depth of recursion depends on the nesting of a source.
const STACK: usize = 256 << 20;

/// An error that ends the server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("the client violated the protocol: {0}")]
    Protocol(#[from] lsp_server::ProtocolError),
    #[error("a message is not valid: {0}")]
    Message(#[from] serde_json::Error),
    #[error("the connection was closed")]
    Closed,
    #[error("the server's thread failed: {0}")]
    Thread(#[from] std::io::Error),
    #[error("the server's thread ended with a panic")]
    Panic,
}

/// Runs the server on standard input and output until the client ends it.
///
/// # Errors
/// Fails if the client violates the protocol or closes the connection early.
pub fn serve_stdio() -> Result<(), ServerError> {
    let (connection, threads) = Connection::stdio();
    let server = std::thread::Builder::new().stack_size(STACK).spawn(move || serve(connection))?;
    server.join().map_err(|_| ServerError::Panic)??;
    Ok(threads.join()?)
}

/// Runs the server on a connection.
///
/// # Errors
/// See [`serve_stdio`].
pub fn serve(connection: Connection) -> Result<(), ServerError> {
    let (id, parameters) = connection.initialize_start()?;
    let parameters: InitializeParams = serde_json::from_value(parameters)?;
    let server_info = Some(ServerInfo { name: "wgclc".to_owned(), version: Some(env!("CARGO_PKG_VERSION").to_owned()) });
    let result = InitializeResult { capabilities: features::capabilities(&parameters), server_info };
    connection.initialize_finish(id, serde_json::to_value(result)?)?;
    let mut server = Server { connection, documents: FxHashMap::default(), shown: None };
    server.run()
}

/// An open document.
struct Document {
    text: Arc<str>,
    version: i32,
    settings: Arc<Settings>,
    /// The analysis of the current text, or `None` if the text has changed since the last one.
    analysis: Option<Arc<Analysis>>,
    /// Whether the diagnostics of the current text were published.
    is_published: bool,
}

struct Server {
    connection: Connection,
    documents: FxHashMap<Uri, Document>,
    /// The last error in a settings file that was shown.
    shown: Option<String>,
}

impl Server {
    fn run(&mut self) -> Result<(), ServerError> {
        loop {
            // While messages are waiting, only the requests need an analysis. Diagnostics follow after the last change.
            let message = match self.connection.receiver.try_recv() {
                Ok(message) => message,
                Err(_) => {
                    self.publish()?;
                    match self.connection.receiver.recv() {
                        Ok(message) => message,
                        Err(_) => return Ok(()),
                    }
                }
            };
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    let response = self.answer(request);
                    self.connection.sender.send(response.into()).map_err(|_| ServerError::Closed)?;
                }
                Message::Notification(notification) => self.notified(notification)?,
                Message::Response(_) => {}
            }
        }
    }

    fn answer(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        // A panic is a bug of the compiler. It must not end the editor's session.
        let answer = catch_unwind(AssertUnwindSafe(|| self.dispatch(&method, params)));
        match answer {
            Ok(Some(Ok(value))) => Response::new_ok(id, value),
            Ok(Some(Err(error))) => failure(id, ErrorCode::InvalidParams, format!("{method}: {error}")),
            Ok(None) => failure(id, ErrorCode::MethodNotFound, format!("{method}: the server does not have this method")),
            Err(_) => failure(id, ErrorCode::InternalError, wgcl_compiler::project::internal_error(&method)),
        }
    }

    /// Answers a request. Returns `None` for an unknown method.
    fn dispatch(&mut self, method: &str, params: Value) -> Option<Result<Value, serde_json::Error>> {
        use features::{actions, completion, hints, hover, navigation, semantic, signature, symbols};
        Some(match method {
            HoverRequest::METHOD => self.on::<HoverRequest>(params, |p| &p.text_document_position_params.text_document.uri, hover::hover),
            Completion::METHOD => self.on::<Completion>(params, |p| &p.text_document_position.text_document.uri, completion::complete),
            ResolveCompletionItem::METHOD => self.resolve(params),
            SignatureHelpRequest::METHOD => {
                self.on::<SignatureHelpRequest>(params, |p| &p.text_document_position_params.text_document.uri, signature::help)
            }
            GotoDefinition::METHOD => {
                self.on::<GotoDefinition>(params, |p| &p.text_document_position_params.text_document.uri, navigation::definition)
            }
            References::METHOD => self.on::<References>(params, |p| &p.text_document_position.text_document.uri, navigation::references),
            DocumentHighlightRequest::METHOD => {
                self.on::<DocumentHighlightRequest>(params, |p| &p.text_document_position_params.text_document.uri, navigation::highlights)
            }
            DocumentSymbolRequest::METHOD => self.on::<DocumentSymbolRequest>(params, |p| &p.text_document.uri, symbols::symbols),
            SemanticTokensFullRequest::METHOD => self.on::<SemanticTokensFullRequest>(params, |p| &p.text_document.uri, semantic::full),
            InlayHintRequest::METHOD => self.on::<InlayHintRequest>(params, |p| &p.text_document.uri, hints::hints),
            CodeActionRequest::METHOD => self.on::<CodeActionRequest>(params, |p| &p.text_document.uri, actions::actions),
            _ => return None,
        })
    }

    /// Answers a request about a document. The answer is null if the document is not open.
    fn on<R: Requested>(
        &mut self,
        params: Value,
        uri: impl Fn(&R::Params) -> &Uri,
        answer: impl Fn(&Analysis, &R::Params) -> R::Result,
    ) -> Result<Value, serde_json::Error>
    where
        R::Params: DeserializeOwned,
    {
        let params: R::Params = serde_json::from_value(params)?;
        match self.analysis(uri(&params)) {
            Some(analysis) => serde_json::to_value(answer(&analysis, &params)),
            None => Ok(Value::Null),
        }
    }

    fn resolve(&mut self, params: Value) -> Result<Value, serde_json::Error> {
        let item: lsp_types::CompletionItem = serde_json::from_value(params)?;
        let settings =
            features::completion::document_of(&item).and_then(|uri| self.documents.get(&uri)).map(|found| found.settings.clone());
        serde_json::to_value(features::completion::resolve(item, &settings.unwrap_or_default()))
    }

    /// Returns the analysis of a document's current text.
    fn analysis(&mut self, uri: &Uri) -> Option<Arc<Analysis>> {
        let document = self.documents.get_mut(uri)?;
        if document.analysis.is_none() {
            let (text, settings) = (document.text.clone(), document.settings.clone());
            document.analysis = Some(Arc::new(Analysis::new(uri.clone(), text, settings)));
        }
        document.analysis.clone()
    }

    fn notified(&mut self, notification: Notification) -> Result<(), ServerError> {
        let Notification { method, params } = notification;
        match method.as_str() {
            DidOpenTextDocument::METHOD => {
                let params: lsp_types::DidOpenTextDocumentParams = serde_json::from_value(params)?;
                let document = params.text_document;
                let settings = Arc::new(uri::path(&document.uri).map(|path| Settings::of(&path)).unwrap_or_default());
                let (text, version) = (Arc::from(document.text), document.version);
                self.documents.insert(document.uri, Document { text, version, settings, analysis: None, is_published: false });
            }
            DidChangeTextDocument::METHOD => {
                let params: lsp_types::DidChangeTextDocumentParams = serde_json::from_value(params)?;
                if let Some(document) = self.documents.get_mut(&params.text_document.uri) {
                    document.text = params.content_changes.into_iter().fold(document.text.clone(), changed);
                    document.version = params.text_document.version;
                    (document.analysis, document.is_published) = (None, false);
                }
            }
            // Headers and settings may have changed.
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => self.reload(),
            DidCloseTextDocument::METHOD => {
                let params: lsp_types::DidCloseTextDocumentParams = serde_json::from_value(params)?;
                let uri = params.text_document.uri;
                self.documents.remove(&uri);
                self.notify::<PublishDiagnostics>(&PublishDiagnosticsParams { uri, diagnostics: Vec::new(), version: None })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Discards all analyses, and reads the settings again if their files have changed.
    fn reload(&mut self) {
        for (uri, document) in &mut self.documents {
            if let Some(path) = uri::path(uri)
                && !document.settings.is_current(&path)
            {
                document.settings = Arc::new(Settings::of(&path));
            }
            (document.analysis, document.is_published) = (None, false);
        }
    }

    /// Publishes the diagnostics of all documents that have changed.
    fn publish(&mut self) -> Result<(), ServerError> {
        let changed: Vec<Uri> = self.documents.iter().filter(|(_, document)| !document.is_published).map(|(uri, _)| uri.clone()).collect();
        for uri in changed {
            let found =
                catch_unwind(AssertUnwindSafe(|| self.analysis(&uri).map(|analysis| features::diagnostics::diagnostics(&analysis))));
            let Some(document) = self.documents.get_mut(&uri) else { continue };
            document.is_published = true;
            let (version, error) = (Some(document.version), document.settings.error.clone());
            let Ok(Some(diagnostics)) = found else {
                self.show(wgcl_compiler::project::internal_error("the analysis of a document"))?;
                continue;
            };
            self.notify::<PublishDiagnostics>(&PublishDiagnosticsParams { uri, diagnostics, version })?;
            if let Some(error) = error {
                self.show(error)?;
            }
        }
        Ok(())
    }

    /// Shows a message to the user, unless it was the last one.
    fn show(&mut self, message: String) -> Result<(), ServerError> {
        if self.shown.as_ref() == Some(&message) {
            return Ok(());
        }
        self.shown = Some(message.clone());
        self.notify::<ShowMessage>(&ShowMessageParams { typ: MessageType::ERROR, message })
    }

    fn notify<N: Notified>(&self, params: &N::Params) -> Result<(), ServerError> {
        let notification = Notification { method: N::METHOD.to_owned(), params: serde_json::to_value(params)? };
        self.connection.sender.send(notification.into()).map_err(|_| ServerError::Closed)
    }
}

fn failure(id: RequestId, code: ErrorCode, message: String) -> Response {
    Response::new_err(id, code as i32, message)
}

/// Applies a change to a text.
fn changed(text: Arc<str>, change: TextDocumentContentChangeEvent) -> Arc<str> {
    let Some(range) = change.range else { return Arc::from(change.text) };
    let lines = Lines::new(&text);
    let (start, end) = (lines.offset(&text, range.start), lines.offset(&text, range.end));
    let (before, after) = (text.get(..start).unwrap_or_default(), text.get(end.max(start)..).unwrap_or_default());
    Arc::from([before, &change.text, after].concat())
}
