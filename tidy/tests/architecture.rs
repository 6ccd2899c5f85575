//! What ARCHITECTURE.md promises of the source itself: that the places it names are there, where `unsafe` may stand, and that the rooms of the compiler import in one
//! direction.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All Rust files below a folder.
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
    files.sort();
    files
}

/// What stands between back-quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn the_places_that_it_names_are_there() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let bases = [
        root(),
        root().join("compiler/src"),
        root().join("compiler"),
        root().join("backend-wgpu/src"),
        root().join("backend-cpu/src"),
        root().join("codegen/src"),
        root().join("api/src"),
        root().join("icd/src"),
        root().join("client/src"),
    ];
    let is_path = |word: &&str| word.ends_with(".rs") || word.ends_with(".md") || (word.contains('/') && !word.contains(' '));
    let missing: Vec<&str> =
        quoted(&text).filter(is_path).filter(|word| !word.contains('*') && !bases.iter().any(|base| base.join(word).exists())).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names what is not there: {missing:?}");
}

/// The files that a line of ARCHITECTURE.md lists behind its beginning.
fn files_named_behind(beginning: &str) -> BTreeSet<PathBuf> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let line = text.lines().find_map(|line| line.strip_prefix(beginning)).expect("the invariant");
    // Files follow the crate that they are of.
    let mut folder = PathBuf::new();
    let mut file = |word: &str| {
        if word.ends_with(".rs") {
            return Some(folder.join(word));
        }
        folder = Path::new(word).join("src");
        None
    };
    quoted(line).filter_map(&mut file).collect()
}

#[test]
fn unsafe_code_is_where_it_is_named() {
    let named = files_named_behind("- **`unsafe` lives in");
    let mut used = BTreeSet::new();
    for path in ["backend-cpu", "backend-wgpu", "client", "codegen"].iter().flat_map(|folder| sources(&root().join(folder).join("src"))) {
        // As code, not in lints and prose.
        let has = |line: &str| {
            !line.trim_start().starts_with("//") && ["unsafe {", "unsafe fn", "unsafe impl"].iter().any(|word| line.contains(word))
        };
        if read(&path).lines().any(has) {
            used.insert(path.strip_prefix(root()).unwrap().to_owned());
        }
    }
    assert_eq!(used, named, "left: files with `unsafe`; right: those that ARCHITECTURE.md names");
    for safe in ["api", "compiler", "runtime", "backend-host"] {
        let library = read(&root().join(safe).join("src/lib.rs"));
        assert!(library.contains("#![forbid(unsafe_code)]"), "{safe} does not forbid unsafe code");
    }
}

/// Whether code names what only some systems have: a path that begins with one of these.
fn names_a_system(code: &str) -> bool {
    let begins = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    ["libc::", "ash::", "os::unix", "os::fd", "os::linux", "os::windows"]
        .iter()
        .any(|name| code.match_indices(name).any(|(at, _)| begins(at)))
}

#[test]
fn systems_are_named_where_it_is_said() {
    let named = files_named_behind("- **Systems are named in these files alone**");
    let crates = ["api", "backend-cpu", "backend-host", "backend-wgpu", "client", "codegen", "compiler", "icd", "runtime"];
    let files = crates.iter().flat_map(|folder| sources(&root().join(folder).join("src")));
    let used: BTreeSet<PathBuf> = files
        .filter(|path| !path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs"))
        .filter(|path| names_a_system(&code(path)))
        .map(|path| path.strip_prefix(root()).unwrap().to_owned())
        .collect();
    assert_eq!(used, named, "left: files that name a system's interfaces; right: those that ARCHITECTURE.md names");
}

/// The text of a file without comments and without its tests at the end.
fn code(path: &Path) -> String {
    let text = read(path);
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// The names that follow each `crate::`, also in braces.
fn imports(code: &str) -> BTreeSet<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut item = String::new();
            for c in list.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    _ => {}
                }
                if c == ',' && depth == 0 {
                    found.insert(word(item.trim()));
                    item.clear();
                } else {
                    item.push(c);
                }
            }
            found.insert(word(item.trim()));
        } else {
            found.insert(word(rest));
        }
    }
    found
}

#[test]
fn the_rooms_of_the_compiler_import_in_one_direction() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in sources(&folder) {
        let relative = path.strip_prefix(&folder).unwrap();
        let room = relative.components().next().unwrap().as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned();
        let is_test = relative.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")));
        if !matches!(room.as_str(), "lib" | "bin") && !is_test {
            rooms.entry(room).or_default().extend(imports(&code(&path)));
        }
    }
    let names: BTreeSet<String> = rooms.keys().cloned().collect();
    for (room, imported) in &mut rooms {
        imported.retain(|other| other != room && names.contains(other));
    }
    // What imports nothing that is left goes, until nothing is left or all that is left goes round.
    loop {
        let free: Vec<String> = rooms.iter().filter(|(_, imported)| imported.is_empty()).map(|(room, _)| room.clone()).collect();
        if free.is_empty() {
            break;
        }
        rooms.retain(|room, _| !free.contains(room));
        rooms.values_mut().for_each(|imported| imported.retain(|other| !free.contains(other)));
    }
    assert!(rooms.is_empty(), "these rooms, or some of them, import each other in a circle: {rooms:#?}");
}
