//! The files of the code generator import each other in one direction.
//!
//! An import is a path in a `use` item that begins with `crate`, `super` or `self`, re-exports included; `mod` items are none. A file that names an item through a
//! re-export imports the file with the re-export.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// All modules below `folder`: their paths as lists of names, and their texts without tests.
fn modules(folder: &Path, prefix: &[String], found: &mut BTreeMap<Vec<String>, String>) {
    let entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    for path in entries {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let module: Vec<String> = prefix.iter().cloned().chain([name.clone()]).collect();
        if path.is_dir() {
            modules(&path, &module, found);
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
            let module = if matches!(name.as_str(), "mod" | "lib") { prefix.to_vec() } else { module };
            found.insert(module, text[..end].to_owned());
        }
    }
}

/// The paths of a `use` item, whose braces are expanded.
fn expand(item: &str) -> Vec<String> {
    let Some(open) = item.find('{') else { return vec![item.split(" as ").next().unwrap_or(item).trim().to_owned()] };
    let (head, rest) = (&item[..open], &item[open + 1..item.rfind('}').unwrap()]);
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in rest.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 { parts.push(String::new()) } else { parts.last_mut().unwrap().push(c) }
    }
    parts.iter().filter(|part| !part.trim().is_empty()).flat_map(|part| expand(&format!("{}{}", head.trim(), part.trim()))).collect()
}

/// The modules that a module imports.
fn imports(module: &[String], text: &str, all: &BTreeMap<Vec<String>, String>) -> BTreeSet<Vec<String>> {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join(" ");
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("use ").filter(|(at, _)| *at == 0 || code[..*at].ends_with([' ', ')'])) {
        let Some(end) = code[at..].find(';') else { continue };
        for path in expand(&code[at + 4..at + end]) {
            let mut names: Vec<String> = path.split("::").map(|name| name.trim().to_owned()).collect();
            let mut base = match names[0].as_str() {
                "crate" => Vec::new(),
                "self" => module.to_vec(),
                "super" => module[..module.len().saturating_sub(1)].to_vec(),
                // A child of the module, or an external crate.
                first => {
                    let child: Vec<String> = module.iter().cloned().chain([first.to_owned()]).collect();
                    if !all.contains_key(&child) {
                        continue;
                    }
                    names.insert(0, String::new());
                    module.to_vec()
                }
            };
            for name in &names[1..] {
                if name == "super" {
                    base.pop();
                    continue;
                }
                let next: Vec<String> = base.iter().cloned().chain([name.clone()]).collect();
                if !all.contains_key(&next) {
                    break;
                }
                base = next;
            }
            if base != module {
                found.insert(base);
            }
        }
    }
    found
}

#[test]
fn files_import_each_other_in_one_direction() {
    let mut all = BTreeMap::new();
    modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &[], &mut all);
    let mut graph: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> =
        all.iter().map(|(module, text)| (module.clone(), imports(module, text, &all))).collect();
    assert!(graph.values().map(BTreeSet::len).sum::<usize>() > 100, "the imports are found");
    // Remove the modules that import nothing that is left, until there are none.
    loop {
        let free: Vec<Vec<String>> = graph.iter().filter(|(_, imported)| imported.is_empty()).map(|(module, _)| module.clone()).collect();
        if free.is_empty() {
            break;
        }
        graph.retain(|module, _| !free.contains(module));
        graph.values_mut().for_each(|imported| imported.retain(|other| !free.contains(other)));
    }
    assert!(graph.is_empty(), "some of these modules import each other in a circle: {graph:#?}");
}

/// The parts that every instruction set shares do not know any of them.
#[test]
fn only_the_root_knows_the_instruction_sets() {
    let mut all = BTreeMap::new();
    modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &[], &mut all);
    for (module, text) in all.iter().filter(|(module, _)| !module.is_empty() && module[0] != "isa") {
        let known: Vec<Vec<String>> =
            imports(module, text, &all).into_iter().filter(|other| other.first().is_some_and(|name| name == "isa")).collect();
        assert!(known.is_empty(), "{module:?} imports {known:?}");
    }
}
