//! Tests `wgclc lsp` as an editor uses it: a scripted client sends documents, changes and requests over standard input
//! and output, checks the answers, and measures their time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

mod client;

use std::path::Path;
use std::time::{Duration, Instant};

use client::Client;
use serde_json::{Value, json};

/// The document of most tests.
const SOURCE: &str = "\
#define TILE 16
#define SQUARE(x) ((x) * (x))

typedef struct { float4 position; float mass; } body;

enum mode { FAST, EXACT = 4 };

// Adds the masses
// of two bodies.
float total(body a, global const body *b)
{
    return a.mass + b->mass;
}

kernel void move(global body *bodies, local float *cache, int count, float step)
{
    int i = get_global_id(0);
    int rows = count / TILE;
    float4 at = bodies[i].position;
    float2 low = at.lo;
    if (i >= count) return;
    for (int k = 0; k < rows; k++) {
        cache[k] = SQUARE(low.x) + total(bodies[i], &bodies[k]);
        at.xyz += clamp(at.zyx * step, 0.0f, 1.0f);
    }
    body moved = { .position = at, .mass = EXACT };
    bodies[i] = moved;
again:
    if (rows > FAST) { rows--; goto again; }
}
";

/// An open document.
struct Editor {
    client: Client,
    uri: String,
    text: String,
    version: i64,
}

impl Editor {
    fn open(uri: &str, text: &str) -> Self {
        let mut editor = Self { client: Client::start(), uri: uri.to_owned(), text: text.to_owned(), version: 1 };
        editor
            .client
            .notify("textDocument/didOpen", json!({"textDocument": {"uri": uri, "languageId": "opencl", "version": 1, "text": text}}));
        editor
    }

    /// Returns the position of the character after `before` in the first occurrence of `before` followed by `after`.
    fn at(&self, before: &str, after: &str) -> Value {
        let offset = self.text.find(&format!("{before}{after}")).unwrap_or_else(|| panic!("{before}{after}")) + before.len();
        let line = self.text[..offset].matches('\n').count();
        let start = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
        json!({"line": line, "character": self.text[start..offset].encode_utf16().count()})
    }

    /// Replaces the first occurrence of a text by an incremental change.
    fn replace(&mut self, old: &str, new: &str) {
        let (start, end) = (self.at("", old), self.at(old, ""));
        self.version += 1;
        self.text = self.text.replacen(old, new, 1);
        let change = json!({"range": {"start": start, "end": end}, "text": new});
        let document = json!({"uri": self.uri, "version": self.version});
        self.client.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
    }

    fn diagnostics(&mut self) -> Vec<Value> {
        self.client.wait_for_diagnostics(self.version)
    }

    fn messages(&mut self) -> Vec<String> {
        self.diagnostics().iter().map(|found| found["message"].as_str().unwrap().to_owned()).collect()
    }

    fn request_at(&mut self, method: &str, position: Value) -> Value {
        self.client.request(method, json!({"textDocument": {"uri": self.uri}, "position": position, "context": {"includeDeclaration": true, "triggerKind": 1, "isRetrigger": false}}))
    }

    fn request(&mut self, method: &str) -> Value {
        let end = json!({"line": self.text.lines().count(), "character": 0});
        let range = json!({"start": {"line": 0, "character": 0}, "end": end});
        self.client.request(method, json!({"textDocument": {"uri": self.uri}, "range": range, "context": {"diagnostics": []}}))
    }

    fn hover(&mut self, before: &str, after: &str) -> String {
        let position = self.at(before, after);
        self.request_at("textDocument/hover", position)["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns the text of the line that is the definition of the name after `before`.
    fn definition(&mut self, before: &str, after: &str) -> String {
        let position = self.at(before, after);
        let answer = self.request_at("textDocument/definition", position);
        let line = usize::try_from(answer["range"]["start"]["line"].as_u64().unwrap_or(9999)).unwrap();
        self.text.lines().nth(line).unwrap_or_default().trim().to_owned()
    }

    fn references(&mut self, before: &str, after: &str) -> usize {
        let position = self.at(before, after);
        self.request_at("textDocument/references", position).as_array().map_or(0, Vec::len)
    }

    /// Returns the labels of the completions at the end of `before`.
    fn completions(&mut self, before: &str, after: &str) -> Vec<String> {
        let position = self.at(before, after);
        let answer = self.request_at("textDocument/completion", position);
        answer.as_array().map_or_else(Vec::new, |list| list.iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect())
    }

    /// Returns the label of the active signature, and the number of the active parameter.
    fn signature(&mut self, before: &str, after: &str) -> (String, u64) {
        let position = self.at(before, after);
        let answer = self.request_at("textDocument/signatureHelp", position);
        let active = usize::try_from(answer["activeSignature"].as_u64().unwrap_or(0)).unwrap();
        (answer["signatures"][active]["label"].as_str().unwrap_or_default().to_owned(), answer["activeParameter"].as_u64().unwrap_or(99))
    }
}

#[test]
fn hovers() {
    let mut editor = Editor::open("untitled:hover.cl", SOURCE);
    for (before, after, expected) in [
        ("+ ", "total", "float total(body a, __global const body *b)"),
        ("+ ", "total", "Adds the masses\nof two bodies."),
        ("int ", "i =", "int i\n"),
        ("int ", "i =", "Varying"),
        ("int ", "count", "Uniform"),
        ("/ ", "TILE", "#define TILE 16"),
        ("[k] = ", "SQUARE", "#define SQUARE(x) ((x) * (x))"),
        (" = ", "get_global_id", "size_t get_global_id(uint)"),
        (" = ", "get_global_id", "Returns the index of the work-item in the NDRange"),
        ("+= ", "clamp", "float3 clamp(float3, float, float)"),
        ("+= ", "clamp", "Limits a value to the range"),
        ("at.", "lo;", "float2"),
        ("bodies[i].", "position", "float4 position"),
        ("{ .position = at, .", "mass", "float mass"),
        ("mass = ", "EXACT", "EXACT = 4"),
        ("", "float4 at", "A vector of 4 components"),
        ("", "kernel void", "Declares a function that the host can launch."),
        ("", "body *bodies", "typedef"),
        ("float step", ")", "float step"),
        ("goto ", "again", "again:"),
    ] {
        let text = editor.hover(before, after);
        assert!(text.contains(expected), "{before}^{after}: expected {expected:?} in {text:?}");
    }
    assert_eq!(editor.hover("count / TILE", ";\n"), "```opencl\n#define TILE 16\n```");
    assert_eq!(editor.hover("// Adds the ", "masses"), "");
    editor.client.stop();
}

#[test]
fn definitions_and_references() {
    let mut editor = Editor::open("untitled:definition.cl", SOURCE);
    for (before, after, expected) in [
        ("+ ", "total", "float total(body a, global const body *b)"),
        ("if (", "i >=", "int i = get_global_id(0);"),
        ("k < ", "rows", "int rows = count / TILE;"),
        ("/ ", "TILE", "#define TILE 16"),
        ("[k] = ", "SQUARE", "#define SQUARE(x) ((x) * (x))"),
        ("bodies[i].", "position", "typedef struct { float4 position; float mass; } body;"),
        ("{ .", "position", "typedef struct { float4 position; float mass; } body;"),
        ("b->", "mass", "typedef struct { float4 position; float mass; } body;"),
        ("    ", "body moved", "typedef struct { float4 position; float mass; } body;"),
        ("> ", "FAST", "enum mode { FAST, EXACT = 4 };"),
        ("goto ", "again", "again:"),
        ("zyx * ", "step", "kernel void move(global body *bodies, local float *cache, int count, float step)"),
    ] {
        assert_eq!(editor.definition(before, after), expected, "{before}^{after}");
    }
    for (before, after, expected) in [
        ("int ", "i =", 5),
        ("", "rows =", 4),
        ("float ", "total", 2),
        ("#define ", "TILE", 2),
        ("float ", "mass; }", 4),
        ("", "EXACT", 2),
        ("SQUARE(", "low.x", 2),
        ("", "again:", 2),
        ("= ", "get_global_id", 1),
        ("", "body;", 5),
    ] {
        assert_eq!(editor.references(before, after), expected, "{before}^{after}");
    }
    let position = editor.at("int ", "rows");
    assert_eq!(editor.request_at("textDocument/documentHighlight", position).as_array().unwrap().len(), 4);
    editor.client.stop();
}

#[test]
fn completions() {
    let mut editor = Editor::open("untitled:completion.cl", SOURCE);
    let has = |list: &[String], names: &[&str]| names.iter().all(|name| list.iter().any(|item| item == name));
    let names = editor.completions("    for", " (int k");
    assert!(has(
        &names,
        &["i", "rows", "total", "body", "get_global_id", "float4", "convert_float4", "while", "CLK_LOCAL_MEM_FENCE", "TILE"]
    ));
    assert!(!has(&names, &["k"]) && !has(&names, &["moved"]) && !has(&names, &["a"]), "names of other scopes");
    assert_eq!(editor.completions("bodies[i].", "position;"), ["position", "mass"]);
    assert_eq!(editor.completions("b->", "mass;"), ["position", "mass"]);
    assert!(has(&editor.completions("at.", "xyz +="), &["x", "w", "xyz", "lo", "odd", "s3"]));
    // Incomplete code, as during typing.
    editor.replace("    bodies[i] = moved;\n", "    bodies[i].\n");
    assert_eq!(editor.completions("    bodies[i].", "\nagain"), ["position", "mass"]);
    editor.replace("    bodies[i].\n", "    float z = moved.position.\n");
    assert!(has(&editor.completions("moved.position.", "\n"), &["x", "hi"]));
    editor.replace("    float z = moved.position.\n", "    float z = total(moved, &bodies[i].po\n");
    assert_eq!(editor.completions("&bodies[i].po", "\n"), ["position", "mass"]);
    editor.replace("#define TILE 16\n", "#def\n#pragma OPENCL EXTENSION cl_\n__attribute__((re\n");
    assert!(has(&editor.completions("#def", "\n"), &["define", "ifdef"]));
    assert!(has(&editor.completions("EXTENSION cl_", "\n"), &["cl_khr_fp64", "all"]));
    assert!(has(&editor.completions("((re", "\n"), &["reqd_work_group_size", "aligned"]));
    assert!(editor.completions("// Adds the ", "masses").is_empty());
    let position = editor.at("    for", " (int k");
    let list = editor.request_at("textDocument/completion", position);
    let item = list.as_array().unwrap().iter().find(|item| item["label"] == "barrier").unwrap().clone();
    let item = editor.client.request("completionItem/resolve", item);
    assert!(item["documentation"]["value"].as_str().unwrap().contains("Waits until all work-items"), "{item}");
    editor.client.stop();
}

#[test]
fn signatures() {
    let mut editor = Editor::open("untitled:signature.cl", SOURCE);
    for (before, after, label, parameter) in [
        ("get_global_id(", "0", "size_t get_global_id(uint)", 0),
        ("total(bodies[i], ", "&", "float total(body a, __global const body *b)", 1),
        ("clamp(at.zyx * step, ", "0.0f", "gentype clamp(gentype, gentype, gentype)", 1),
        ("clamp(at.zyx * step, 0.0f, ", "1.0f", "gentype clamp(gentype, gentype, gentype)", 2),
    ] {
        assert_eq!(editor.signature(before, after), (label.to_owned(), parameter), "{before}^{after}");
    }
    editor.replace("int i = get_global_id(0);", "int i = get_global_id(0); float q = mix(1.0f, fma(2.0f, ");
    assert_eq!(editor.signature("fma(2.0f, ", "\n"), ("gentype fma(gentype, gentype, gentype)".to_owned(), 1));
    editor.client.stop();
}

#[test]
fn symbols_and_tokens() {
    let mut editor = Editor::open("untitled:symbols.cl", SOURCE);
    let symbols = editor.request("textDocument/documentSymbol");
    let names: Vec<&str> = symbols.as_array().unwrap().iter().map(|symbol| symbol["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["TILE", "SQUARE", "body", "mode", "total", "move"]);
    assert_eq!(symbols[2]["children"][1]["name"], "mass");
    let modes = symbols[3]["children"].as_array().unwrap();
    assert_eq!(modes.iter().map(|symbol| symbol["name"].as_str().unwrap()).collect::<Vec<_>>(), ["FAST", "EXACT"]);
    let data = editor.request("textDocument/semanticTokens/full")["data"].as_array().unwrap().clone();
    let tokens = decode(&editor.text, &data);
    for (text, kind) in [
        ("TILE", 8),
        ("body", 0),
        ("position", 6),
        ("FAST", 3),
        ("// Adds the masses", 10),
        ("total", 7),
        ("a", 4),
        ("kernel", 9),
        ("get_global_id", 7),
        ("i", 5),
        ("float4", 0),
        ("lo", 6),
        ("0.0f", 12),
        ("again", 13),
    ] {
        assert!(tokens.contains(&(text.to_owned(), kind)), "{text} {kind}: {tokens:?}");
    }
    editor.client.stop();
}

/// Returns the texts and types of semantic tokens.
fn decode(text: &str, data: &[Value]) -> Vec<(String, u64)> {
    let lines: Vec<&str> = text.lines().collect();
    let (mut line, mut character) = (0, 0);
    let mut tokens = Vec::new();
    for token in data.chunks(5) {
        let value = |index: usize| usize::try_from(token[index].as_u64().unwrap()).unwrap();
        character = if value(0) == 0 { character + value(1) } else { value(1) };
        line += value(0);
        tokens.push((lines[line][character..character + value(2)].to_owned(), token[3].as_u64().unwrap()));
    }
    tokens
}

#[test]
fn diagnostics_follow_changes() {
    let mut editor = Editor::open("untitled:diagnostics.cl", SOURCE);
    assert_eq!(editor.messages(), Vec::<String>::new());
    editor.replace("int i = get_global_id(0);", "int i = get_gobal_id(0)");
    let found = editor.diagnostics();
    assert_eq!(found[0]["message"], "expected ';' at end of declaration");
    assert_eq!(found[0]["range"]["start"], editor.at("get_gobal_id(0)", ""));
    let wrong = &found[1];
    assert_eq!(wrong["range"], json!({"start": editor.at("= ", "get_gobal_id"), "end": editor.at("get_gobal_id", "")}));
    assert!(wrong["message"].as_str().unwrap().ends_with("did you mean 'get_global_id'?"), "{wrong}");
    editor.replace("get_gobal_id(0)", "get_global_id(0);");
    assert_eq!(editor.messages(), Vec::<String>::new());
    // A change that repeats is answered once, for the last version.
    for _ in 0..20 {
        editor.replace("TILE 16", "TILE 1");
        editor.replace("TILE 1", "TILE 16");
    }
    assert_eq!(editor.messages(), Vec::<String>::new());
    let uri = editor.uri.clone();
    editor.client.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    assert_eq!(editor.request("textDocument/documentSymbol"), Value::Null);
    let answer = editor.client.request_any("textDocument/nonsense", json!({}));
    assert_eq!(answer["error"]["code"], -32601);
    editor.client.stop();
}

#[test]
fn corrections() {
    let mut editor = Editor::open("untitled:actions.cl", SOURCE);
    for (good, bad) in [
        ("get_global_id(0);", "get_gobal_id(0);"),
        ("float step)", "float step"),
        ("int rows = count / TILE;", "int rows = count / TILE ;"),
        ("float4 at = bodies[i].position;", "float4 at = bodies[i].positoin;"),
        ("b->mass", "b.mass"),
        ("bodies[i] = moved;", "bodies[i] = moved"),
        ("#define TILE", "#defne TILE"),
        ("float4 at =", "vec4 at ="),
    ] {
        let original = editor.text.clone();
        editor.replace(good, bad);
        let actions = editor.request("textDocument/codeAction");
        if bad.contains("TILE ;") {
            assert_eq!(actions.as_array().unwrap().len(), 0, "{actions}");
            editor.replace(bad, good);
            continue;
        }
        let uri = editor.uri.clone();
        let edit = actions.as_array().unwrap().iter().map(|action| action["edit"]["changes"][&uri][0].clone()).next();
        let edit = edit.unwrap_or_else(|| panic!("no action for {bad}"));
        let offset = |position: &Value| {
            let line = usize::try_from(position["line"].as_u64().unwrap()).unwrap();
            let start: usize = editor.text.split_inclusive('\n').take(line).map(str::len).sum();
            start + usize::try_from(position["character"].as_u64().unwrap()).unwrap()
        };
        let (start, end) = (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]));
        let fixed = [&editor.text[..start], edit["newText"].as_str().unwrap(), &editor.text[end..]].concat();
        assert_eq!(fixed, original, "{actions}");
        editor.replace(bad, good);
    }
    editor.client.stop();
}

#[test]
fn inlay_hints() {
    let text = "\
float pick(float *p, int n) { return p[n]; }
kernel void k(global float *a, local float *b, int n)
{
    float4 v = vload4(0, a);
    float2 w = v.hi;
    int i = get_local_id(0);
    int half_size = n / 2;
    int sum = 0;
    for (int j = 0; j < half_size; j++) sum += j;
    int mine = 0;
    for (int j = 0; j < i; j++) mine++;
    float *q = i > 3 ? (float *)a : (float *)b;
    a[i] = pick(q, sum) + pick(a, mine) + w.x;
}
";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".wgclc.toml"), "options = '-cl-std=CL2.0'").unwrap();
    let mut editor = Editor::open(&format!("file://{}", folder.path().join("h.cl").display()), text);
    assert_eq!(editor.messages(), Vec::<String>::new());
    let hints = editor.request("textDocument/inlayHint");
    let lines: Vec<&str> = text.lines().collect();
    let found: Vec<String> = hints
        .as_array()
        .unwrap()
        .iter()
        .map(|hint| {
            let index = |name: &str| usize::try_from(hint["position"][name].as_u64().unwrap()).unwrap();
            let before = &lines[index("line")][..index("character")];
            let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
            format!("{word} {}", hint["label"].as_str().unwrap())
        })
        .collect();
    let expected = [
        "p local|global",
        "v uniform",
        "w uniform",
        "hi : float2",
        "i varying",
        "half_size uniform",
        "sum uniform",
        "j uniform",
        "mine varying",
        "j varying",
        "q local|global",
        "q varying",
    ];
    assert_eq!(found, expected);
    editor.client.stop();
}

#[test]
fn settings_and_headers() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("inc")).unwrap();
    write("inc/shared.h", "// Shared.\nint twice(int x) { return 2 * x; }\n");
    write(".wgclc.toml", "options = '-cl-std=CL3.0 -DN=4'\ninclude = ['inc']\ndevice = 'cpu'\n");
    let uri = format!("file://{}", folder.path().join("a.cl").display());
    let text = "#include \"shared.h\"\nkernel void k(global int *a)\n{\n    int *p = a;\n    *p = twice(N);\n}\n";
    let mut editor = Editor::open(&uri, text);
    assert_eq!(editor.messages(), Vec::<String>::new());
    let position = editor.at("= ", "twice");
    let answer = editor.request_at("textDocument/definition", position);
    assert_eq!(answer["uri"], format!("file://{}", folder.path().join("inc/shared.h").display()));
    assert_eq!(answer["range"]["start"], json!({"line": 1, "character": 4}));
    // An error in a header is shown at the `#include`.
    write("inc/shared.h", "int twice(int x) { return 2 * y; }\n");
    editor.client.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
    editor.client.diagnostics = Value::Null;
    let found = editor.diagnostics();
    assert_eq!(found[0]["message"], "use of undeclared identifier 'y'");
    assert_eq!(found[0]["range"]["start"], json!({"line": 0, "character": 9}));
    assert_eq!(found[0]["relatedInformation"][0]["location"]["range"]["start"], json!({"line": 0, "character": 30}));
    // The settings are read again after a change.
    write("inc/shared.h", "int twice(int x) { return 2 * x; }\n");
    write(".wgclc.toml", "device = 'abacus'\n");
    editor.client.notify("workspace/didChangeWatchedFiles", json!({"changes": []}));
    editor.client.diagnostics = Value::Null;
    let messages = editor.messages();
    assert!(messages.contains(&"'shared.h' file not found".to_owned()), "{messages:?}");
    editor.request("textDocument/documentSymbol");
    assert!(editor.client.shown[0].contains("unknown device `abacus`"), "{:?}", editor.client.shown);
    editor.client.stop();
}

/// Returns a source with at least this number of lines.
fn long_source(lines: usize) -> String {
    let mut text = String::from("#define N 16\ntypedef struct { float4 position; float mass; } body;\n");
    let mut number = 0;
    while text.lines().count() < lines {
        text.push_str(&format!(
            "float helper{number}(body a, float b)\n{{\n    float4 c = a.position * b;\n    if (a.mass > b) {{\n        c.xy = c.yx + \
             (float2)(a.mass);\n    }}\n    return dot(c, a.position) + N;\n}}\n\nkernel void kernel{number}(global body *bodies, global float \
             *out, int count)\n{{\n    int i = get_global_id(0);\n    float sum = 0.0f;\n    for (int k = 0; k < count; k++) {{\n        sum += \
             helper{number}(bodies[k], fma(out[i], 2.0f, (float)k));\n        sum = clamp(sum, 0.0f, native_exp(sum));\n    }}\n    out[i] = \
             sum;\n}}\n\n"
        ));
        number += 1;
    }
    text
}

/// 100 exchanges with a source of 2,000 lines. Each one changes the document or asks about it. The answer, including
/// the analysis after a change, must take less than 50 ms in 90 of them.
#[test]
fn latency() {
    let text = long_source(2000);
    assert!(text.lines().count() >= 2000);
    let mut editor = Editor::open("untitled:long.cl", &text);
    assert_eq!(editor.messages(), Vec::<String>::new());
    let mut slowest = Vec::new();
    let mut time = |what: &str, start: Instant| slowest.push((start.elapsed(), what.to_owned()));
    for round in 0..10 {
        let name = format!("helper{}", round * 9);
        let start = Instant::now();
        editor.replace(&format!("float {name}(body a"), &format!("floa {name}(body a"));
        assert!(!editor.diagnostics().is_empty());
        time("diagnostics with an error", start);
        let start = Instant::now();
        editor.replace(&format!("floa {name}(body a"), &format!("float {name}(body a"));
        assert!(editor.diagnostics().is_empty());
        time("diagnostics", start);
        // The next request needs an analysis of a text that has just changed.
        editor.replace("#define N 16", "#define N 16 ");
        let start = Instant::now();
        assert!(editor.hover(" += ", &format!("\n             {name}").replace("\n             ", "")).contains(&name));
        time("hover after a change", start);
        editor.replace("#define N 16 ", "#define N 16");
        let start = Instant::now();
        assert!(
            editor.completions(&format!("float {name}(body a, float b)\n{{\n    float4 c = a."), "position").contains(&"mass".to_owned())
        );
        time("completion of members after a change", start);
        let start = Instant::now();
        assert!(editor.completions(&format!("float {name}(body a, float b)\n{{\n    float4 c = "), "a.").contains(&"a".to_owned()));
        time("completion of names", start);
        let start = Instant::now();
        assert_eq!(editor.references("float ", &name), 2);
        time("references", start);
        let start = Instant::now();
        assert!(!editor.definition(" += ", &name).is_empty());
        time("definition", start);
        for method in ["textDocument/documentSymbol", "textDocument/semanticTokens/full", "textDocument/inlayHint"] {
            let start = Instant::now();
            assert_ne!(editor.request(method), Value::Null);
            time(method, start);
        }
    }
    slowest.sort();
    slowest.reverse();
    println!("{} exchanges, slowest: {:?}", slowest.len(), &slowest[..8]);
    assert!(slowest.len() >= 100);
    // A busy machine delays single exchanges.
    assert!(slowest[10].0 < Duration::from_millis(50), "{:?}", &slowest[..20]);
    assert!(slowest[0].0 < Duration::from_millis(500), "{:?}", &slowest[..8]);
    editor.client.stop();
}

/// The script of a session is in the repository's test programs: every request must be answered for each of them.
#[test]
fn every_request_is_answered_for_the_test_programs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cl/programs");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if path.extension().is_none_or(|extension| extension != "cl") {
            continue;
        }
        let mut editor = Editor::open(&format!("file://{}", path.canonicalize().unwrap().display()), &text);
        for method in
            ["textDocument/documentSymbol", "textDocument/semanticTokens/full", "textDocument/inlayHint", "textDocument/codeAction"]
        {
            assert_ne!(editor.request(method), Value::Null, "{method}: {}", path.display());
        }
        editor.client.stop();
        count += 1;
    }
    assert!(count > 5, "{count} programs");
}
