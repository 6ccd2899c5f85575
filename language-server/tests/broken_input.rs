//! Sends broken programs to the server, with requests at random positions. Each request must be answered without an
//! internal error. The programs are those of the compiler's fuzz test.

#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_possible_truncation, reason = "tests may panic")]

#[path = "../../compiler/tests/front_fuzz/mutate.rs"]
mod mutate;

use std::path::Path;

use lsp_server::{Connection, Message, Notification, Request, Response};
use serde_json::{Value, json};

/// A pseudo-random generator with a fixed sequence.
pub struct Random(u64);

impl Random {
    /// Returns a random number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Number of programs.
const COUNT: u64 = 200;

fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cl");
    let mut folders = vec![root];
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "cl") {
                texts.push(std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    texts
}

/// A client in the same process.
struct Client {
    connection: Connection,
    next: i32,
}

impl Client {
    fn start() -> (Self, std::thread::JoinHandle<()>) {
        let (server, connection) = Connection::memory();
        let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(|| wgcl_language_server::serve(server).unwrap()).unwrap();
        let mut client = Self { connection, next: 1 };
        client.request("initialize", json!({"capabilities": {}}));
        client.notify("initialized", json!({}));
        (client, thread)
    }

    fn notify(&self, method: &str, params: Value) {
        self.connection.sender.send(Notification { method: method.to_owned(), params }.into()).unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Response {
        let id = self.next.into();
        self.next += 1;
        self.connection.sender.send(Request { id, method: method.to_owned(), params }.into()).unwrap();
        loop {
            match self.connection.receiver.recv().unwrap() {
                Message::Response(response) => return response,
                Message::Notification(shown) if shown.method == "window/showMessage" => panic!("{:?}", shown.params),
                _ => {}
            }
        }
    }

    /// Sends a request, which must succeed.
    fn check(&mut self, method: &str, params: Value, text: &str) -> Value {
        let response = self.request(method, params);
        assert!(response.error.is_none(), "{method}: {:?}\n{text}", response.error);
        response.result.unwrap_or_default()
    }
}

#[test]
fn broken_programs() {
    let corpus = corpus();
    assert!(corpus.len() > 50, "only {} sources found", corpus.len());
    let (mut client, thread) = Client::start();
    let uri = "untitled:a.cl";
    client.notify("textDocument/didOpen", json!({"textDocument": {"uri": uri, "languageId": "opencl", "version": 0, "text": ""}}));
    let mut answered = 0;
    for seed in 1..=COUNT {
        let random = &mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (first, second) = (random.below(corpus.len()), random.below(corpus.len()));
        let text = mutate::mutate(random, &corpus[first], &corpus[second]);
        let document = json!({"uri": uri, "version": seed});
        client.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": [{"text": text}]}));
        let lines = text.lines().count().max(1);
        let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": lines, "character": 0}});
        for method in ["documentSymbol", "semanticTokens/full", "inlayHint", "codeAction"] {
            let params = json!({"textDocument": {"uri": uri}, "range": whole, "context": {"diagnostics": []}});
            client.check(&format!("textDocument/{method}"), params, &text);
        }
        for _ in 0..4 {
            let position = json!({"line": random.below(lines), "character": random.below(80)});
            for method in ["hover", "completion", "signatureHelp", "definition", "references", "documentHighlight"] {
                let params = json!({"textDocument": {"uri": uri}, "position": position, "context": {"includeDeclaration": true, "triggerKind": 1, "isRetrigger": false}});
                let answer = client.check(&format!("textDocument/{method}"), params, &text);
                answered += usize::from(!answer.is_null());
            }
        }
    }
    assert!(answered > 500, "only {answered} answers");
    client.check("shutdown", Value::Null, "");
    client.notify("exit", Value::Null);
    thread.join().unwrap();
}
