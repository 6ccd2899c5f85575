//! A client that talks to `wgclc lsp` over standard input and output, and measures the time of each exchange.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: i64,
    /// The method and the time of each request.
    pub(crate) times: Vec<(String, Duration)>,
    /// The last published diagnostics, and the version of the document.
    pub(crate) diagnostics: Value,
    /// The messages that the server showed.
    pub(crate) shown: Vec<String>,
}

impl Client {
    /// Starts the server and initialises it.
    pub(crate) fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wgclc"));
        let mut child = command.args(["lsp", "--stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (times, shown) = (Vec::new(), Vec::new());
        let mut client = Self { child, input, output, next: 1, times, diagnostics: Value::Null, shown };
        let answer = client.request("initialize", json!({"capabilities": {}, "processId": null, "rootUri": null}));
        assert_eq!(answer["serverInfo"]["name"], "wgclc");
        client.notify("initialized", json!({}));
        client
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Receives a message. Returns its id and the message. The id of a notification is null.
    fn next_message(&mut self) -> Value {
        let message = self.receive();
        match message["method"].as_str() {
            Some("textDocument/publishDiagnostics") => self.diagnostics = message["params"].clone(),
            Some("window/showMessage") => self.shown.push(message["params"]["message"].as_str().unwrap().to_owned()),
            _ => {}
        }
        message
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and returns its result.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request_any(method, params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Sends a request and returns the answer, which may be an error.
    pub(crate) fn request_any(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        let start = Instant::now();
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.next_message();
            if message["id"] == id {
                self.times.push((method.to_owned(), start.elapsed()));
                return message;
            }
        }
    }

    /// Waits for the diagnostics of a version of a document. Returns the list.
    pub(crate) fn wait_for_diagnostics(&mut self, version: i64) -> Vec<Value> {
        while self.diagnostics["version"] != version {
            self.next_message();
        }
        self.diagnostics["diagnostics"].as_array().unwrap().clone()
    }

    /// Ends the server, which must succeed.
    pub(crate) fn stop(mut self) -> Vec<(String, Duration)> {
        assert_eq!(self.request("shutdown", Value::Null), Value::Null);
        self.notify("exit", Value::Null);
        assert!(self.child.wait().unwrap().success());
        self.times
    }
}
