//! Import circles among the files of this crate.
//!
//! OpenCL's objects refer to each other: an event has a queue, a queue its last event. The files in [`IN_CIRCLES`] are
//! this graph of objects. Every other file can be read, tested and moved without the files that import it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files that are allowed in circles. Move plain types to a leaf file, or use a trait, instead of adding a file.
const IN_CIRCLES: [&str; 9] = [
    "commands/command.rs",
    "commands/command_buffer/mod.rs",
    "commands/command_buffer/mutable_dispatch.rs",
    "commands/migration.rs",
    "objects/context.rs",
    "objects/event/mod.rs",
    "objects/event/command_handle.rs",
    "objects/memory.rs",
    "objects/queue.rs",
];

/// A module path below the crate, such as `["objects", "event"]`.
type Module = Vec<String>;

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The text of a file without comments and without the unit tests at its end.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    text[..end].lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

fn module_of(relative: &Path) -> Module {
    let mut parts: Module = relative.with_extension("").components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Every path in `text`, with lists in braces expanded: `a::{b, c::d}` gives `a::b` and `a::c::d`.
fn paths(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_word) {
        let (expanded, after) = path(&rest[at..]);
        found.extend(expanded);
        rest = after;
    }
    found
}

/// The paths that begin with the word at the start of `text`, and the text after them.
fn path(text: &str) -> (Vec<Vec<String>>, &str) {
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

/// The modules that a file names by `crate::`, by `super::`, or relative to itself.
fn imports(module: &Module, code: &str, known: &BTreeSet<Module>) -> BTreeSet<Module> {
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

/// Every module that can be reached from `start`.
fn reachable(start: &Module, graph: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<Module> {
    let mut seen = BTreeSet::new();
    let mut pending: Vec<&Module> = graph[start].iter().collect();
    while let Some(module) = pending.pop() {
        if seen.insert(module.clone()) {
            pending.extend(&graph[module]);
        }
    }
    seen
}

#[test]
fn only_the_graph_of_objects_imports_in_circles() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files: BTreeMap<Module, (String, String)> = BTreeMap::new();
    for path in sources(&folder) {
        let relative = path.strip_prefix(&folder).unwrap();
        let name = relative.to_string_lossy().replace('\\', "/");
        if !name.contains("tests") && name != "test_backend.rs" && name != "lib.rs" {
            files.insert(module_of(relative), (name, code(&path)));
        }
    }
    let known: BTreeSet<Module> = files.keys().cloned().collect();
    let graph: BTreeMap<Module, BTreeSet<Module>> =
        files.iter().map(|(module, (_, code))| (module.clone(), imports(module, code, &known))).collect();
    assert!(graph[&module_of(Path::new("objects/queue.rs"))].len() > 5, "the imports of files are found: {graph:#?}");
    let in_circles: Vec<&str> =
        files.iter().filter(|(module, _)| reachable(module, &graph).contains(*module)).map(|(_, (name, _))| name.as_str()).collect();
    assert_eq!(in_circles, IN_CIRCLES, "left: the files that import each other in circles; right: those that may");
}
