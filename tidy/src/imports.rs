//! The import graphs of a crate, and their cycles.
//!
//! In [`file_graph`], a node is a file, and an edge is a path to another file. In [`graph`], a node is a file or folder
//! directly under `src`, with all its contents. Tests are excluded. In [`graph`], a path is an import if it starts at
//! the crate's root: `crate::a::B`, `super::a::B` from a file in `src`, or `crate::B` where `lib.rs` re-exports `B`
//! from `a`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::files::Kind;
use crate::syntax;

/// The modules that each module imports.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// Returns all Rust files below a folder, ordered by path.
pub fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        if path.is_dir() {
            files.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Whether a file contains only tests, according to its path in the repository or in a crate.
pub fn is_test(path: &Path) -> bool {
    path.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")))
}

/// Returns the code of a file without comments, strings and the tests at its end.
pub fn code(path: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    Ok(syntax::split(&text[..end], Kind::Rust).code)
}

/// Returns the import graph of the crate in a folder.
pub fn graph(folder: &Path) -> Result<Graph, String> {
    let source = folder.join("src");
    let mut graph = Graph::new();
    let mut exports = BTreeMap::new();
    for path in sources(&source)? {
        let relative = path.strip_prefix(&source).unwrap_or(&path);
        if is_test(relative) {
            continue;
        }
        let relative = relative.with_extension("");
        let mut parts: Vec<String> = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if parts.last().is_some_and(|part| part == "mod") {
            parts.pop();
        }
        let code = code(&path)?;
        match parts[0].as_str() {
            "lib" => exports = re_exports(&code),
            "bin" | "main" => {}
            _ => graph.entry(parts[0].clone()).or_default().extend(imports(&code, parts.len())),
        }
    }
    let names: BTreeSet<String> = graph.keys().cloned().collect();
    for (module, imported) in &mut graph {
        let resolve = |name: &String| if names.contains(name) { Some(name.clone()) } else { exports.get(name).cloned() };
        *imported = imported.iter().filter_map(resolve).filter(|other| other != module && names.contains(other)).collect();
    }
    Ok(graph)
}

/// Returns the cycles: sets of modules in which each module imports every other one, directly or indirectly.
pub fn cycles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = graph.keys().map(|from| (from, reachable(graph, from))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (from, to) in &reached {
        let cycle: BTreeSet<String> = to.iter().filter(|other| reached[*other].contains(from)).map(|other| (*other).clone()).collect();
        if !cycle.is_empty() && !found.contains(&cycle) {
            found.push(cycle);
        }
    }
    found
}

/// Returns the modules that a module imports, directly or indirectly.
fn reachable<'a>(graph: &'a Graph, from: &'a String) -> BTreeSet<&'a String> {
    let mut found: BTreeSet<&String> = BTreeSet::new();
    let mut open: Vec<&String> = vec![from];
    while let Some(module) = open.pop() {
        open.extend(graph[module].iter().filter(|other| found.insert(other)));
    }
    found
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Returns the names that follow `crate::` or `depth` times `super::`, including those in braces.
fn imports(code: &str, depth: usize) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for root in ["crate::".to_owned(), "super::".repeat(depth)] {
        for (at, _) in code.match_indices(&root) {
            let inside = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
            let rest = &code[at + root.len()..];
            if !inside && !rest.starts_with("super::") {
                found.extend(items(rest).into_iter().map(word));
            }
        }
    }
    found
}

/// Returns the path in `text`, or the paths of a list in braces.
fn items(text: &str) -> Vec<&str> {
    let Some(list) = text.strip_prefix('{') else { return vec![text] };
    let mut depth = 0_usize;
    let mut begin = 0;
    let mut found = Vec::new();
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(list[begin..at].trim());
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(list[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// Returns the module of each name in the statements `use module::Name;` and `use module::{Name, ...};` of `lib.rs`.
/// Most of these statements are re-exports.
fn re_exports(code: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for statement in code.split(';') {
        let Some((_, path)) = statement.rsplit_once("use ") else { continue };
        let path = path.trim().trim_start_matches("crate::").trim_start_matches("self::");
        let Some((module, rest)) = path.split_once("::") else { continue };
        for item in rest.split(['{', '}', ',']) {
            let name = item.trim().rsplit([' ', ':']).next().unwrap_or("");
            if !name.is_empty() {
                found.insert(name.to_owned(), module.to_owned());
            }
        }
    }
    found
}

/// A module path below the crate, such as `["objects", "event"]`. The root of the crate is empty.
type Module = Vec<String>;

fn module_of(relative: &Path) -> Module {
    let parts = relative.with_extension("");
    let mut parts: Module = parts.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod") || parts == ["lib"] {
        parts.pop();
    }
    parts
}

/// Returns the import graph of the files of the crate in a folder. The names of the nodes are paths in `src`. Files of
/// tests are excluded, and so is `lib.rs`, because it declares all other files.
pub fn file_graph(folder: &Path) -> Result<Graph, String> {
    let source = folder.join("src");
    let mut files: BTreeMap<Module, (String, String)> = BTreeMap::new();
    for path in sources(&source)? {
        let relative = path.strip_prefix(&source).unwrap_or(&path);
        let name = relative.to_string_lossy().replace('\\', "/");
        if !is_test(relative) && !matches!(name.as_str(), "lib.rs" | "test_backend.rs") {
            files.insert(module_of(relative), (name, code(&path)?));
        }
    }
    let known: BTreeSet<Module> = files.keys().cloned().collect();
    let imported =
        |module: &Module, code: &str| imported_modules(module, code, &known).iter().map(|other| files[other].0.clone()).collect();
    Ok(files.iter().map(|(module, (name, code))| (name.clone(), imported(module, code))).collect())
}

const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns every path in `text`, with lists in braces expanded: `a::{b, c::d}` gives `a::b` and `a::c::d`.
fn paths(text: &str) -> Vec<Module> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_word) {
        let (expanded, after) = path(&rest[at..]);
        found.extend(expanded);
        rest = after;
    }
    found
}

/// Returns the paths that begin with the word at the start of `text`, and the text after them.
fn path(text: &str) -> (Vec<Module>, &str) {
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let (word, rest) = (text[..end].to_owned(), &text[end..]);
    let Some(after) = rest.strip_prefix("::") else { return (vec![vec![word]], rest) };
    let (tails, rest) = if let Some(list) = after.strip_prefix('{') {
        let mut depth = 1;
        let close = list.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            depth == 0
        });
        let close = close.map_or(list.len(), |(at, _)| at);
        (paths(&list[..close]), &list[close..])
    } else if after.starts_with(is_word) {
        path(after)
    } else {
        (vec![vec![]], after)
    };
    (tails.into_iter().map(|tail| [word.clone()].into_iter().chain(tail).collect()).collect(), rest)
}

/// Returns the modules to which a file refers by `crate::`, by `super::`, or by a relative path.
fn imported_modules(module: &Module, code: &str, known: &BTreeSet<Module>) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    for path in paths(code).into_iter().filter(|path| path.len() > 1) {
        let mut base = if path[0] == "crate" { Module::new() } else { module.clone() };
        for part in path.iter().skip(usize::from(matches!(path[0].as_str(), "crate" | "self"))) {
            if part == "super" {
                base.pop();
                continue;
            }
            base.push(part.clone());
            if !known.contains(&base) && !known.iter().any(|module| module.starts_with(&base)) {
                base.pop();
                break;
            }
        }
        if base != *module && known.contains(&base) {
            found.insert(base);
        }
    }
    found
}
