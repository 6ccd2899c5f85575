//! Compares the source with ARCHITECTURE.md. All places that the page names must exist. `unsafe`, interfaces of
//! operating systems and environment variables must be used only in the listed files. The modules of each crate must
//! import in one direction, except for the cycles that this file lists.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use wgcl_tidy::files::root;
use wgcl_tidy::imports::{code, cycles, file_graph, graph, is_test, sources};

/// The crates of the workspace, except for `tidy`, and for `opencl-headers`, which is generated.
const CRATES: [&str; 12] = [
    "api",
    "backend-cpu",
    "backend-host",
    "backend-wgpu",
    "browser",
    "client",
    "codegen",
    "compiler",
    "icd",
    "language-server",
    "runtime",
    "wgclc",
];

/// For each crate, the modules that may import each other in cycles.
const MODULES_IN_CYCLES: [(&str, &str); 2] = [
    ("api", "backend cache commands image objects observe types"),
    // Entry points refer to the dispatch table, which refers to all entry points.
    (
        "icd",
        "command_buffer context device dispatch enqueue event external gl handles image image_enqueue kernel leak_report memory \
         mutable_dispatch pipe platform program queue sampler semaphore svm svm_arm usm",
    ),
];

/// The files of `api` that import each other in cycles. They define the graph of OpenCL's objects: an event has a
/// queue, and a queue has its last event. Do not add a file. Move plain types to a file without imports, or use a
/// trait.
const FILES_IN_CYCLES: [&str; 9] = [
    "commands/command.rs",
    "commands/command_buffer/mod.rs",
    "commands/command_buffer/mutable_dispatch.rs",
    "commands/migration.rs",
    "objects/context.rs",
    "objects/event/command_handle.rs",
    "objects/event/mod.rs",
    "objects/memory.rs",
    "objects/queue.rs",
];

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the text between each pair of back-quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_path_in_architecture_md_exists() {
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
        root().join("browser/src"),
        root().join("language-server/src"),
        root().join("wgclc/src"),
    ];
    let is_path = |word: &&str| word.ends_with(".rs") || word.ends_with(".md") || (word.contains('/') && !word.contains(' '));
    let missing: Vec<&str> =
        quoted(&text).filter(is_path).filter(|word| !word.contains('*') && !bases.iter().any(|base| base.join(word).exists())).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names paths that do not exist: {missing:?}");
}

/// Returns the files that ARCHITECTURE.md lists in the line that starts with `beginning`, and in the indented lines
/// after it.
fn files_listed_after(beginning: &str) -> BTreeSet<PathBuf> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let (_, rest) = text.split_once(&format!("\n{beginning}")).expect("the invariant");
    let mut lines = rest.lines();
    let first = lines.next().unwrap_or_default();
    let entry: String = std::iter::once(first).chain(lines.take_while(|line| line.starts_with("  "))).collect();
    // In the list, the name of a crate precedes its files.
    let mut folder = PathBuf::new();
    let mut file = |word: &str| {
        if word.ends_with(".rs") {
            return Some(folder.join(word));
        }
        folder = Path::new(word).join("src");
        None
    };
    quoted(&entry).filter_map(&mut file).collect()
}

/// Compares the files that a property applies to with the list in ARCHITECTURE.md.
fn assert_same(used: &BTreeSet<PathBuf>, listed: &BTreeSet<PathBuf>, property: &str) {
    let missing: Vec<_> = used.difference(listed).collect();
    let stale: Vec<_> = listed.difference(used).collect();
    assert!(missing.is_empty() && stale.is_empty(), "{property}: ARCHITECTURE.md does not list {missing:?}, and need not list {stale:?}");
}

#[test]
fn unsafe_code_is_only_in_the_listed_files() {
    let listed = files_listed_after("- **`unsafe` lives in");
    let mut used = BTreeSet::new();
    for path in ["backend-cpu", "backend-wgpu", "browser", "client", "codegen"]
        .iter()
        .flat_map(|folder| sources(&root().join(folder).join("src")).unwrap())
    {
        // Comments and lint attributes may contain the word `unsafe`.
        let has = |line: &str| {
            !line.trim_start().starts_with("//")
                && ["unsafe {", "unsafe fn", "unsafe impl", "#[unsafe("].iter().any(|word| line.contains(word))
        };
        if read(&path).lines().any(has) {
            used.insert(path.strip_prefix(root()).unwrap().to_owned());
        }
    }
    assert_same(&used, &listed, "files with `unsafe`");
    for file in [
        "api/src/lib.rs",
        "backend-host/src/lib.rs",
        "compiler/src/lib.rs",
        "examples/wgpu/src/main.rs",
        "language-server/src/lib.rs",
        "opencl-headers/src/lib.rs",
        "runtime/src/lib.rs",
        "tidy/src/lib.rs",
        "tidy/src/main.rs",
        "wgclc/src/main.rs",
    ] {
        assert!(read(&root().join(file)).contains("#![forbid(unsafe_code)]"), "{file} does not forbid unsafe code");
    }
}

/// Whether code contains a path that only some operating systems have.
fn names_a_system(code: &str) -> bool {
    let begins = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    ["libc::", "ash::", "windows_sys::", "os::unix", "os::fd", "os::linux", "os::windows"]
        .iter()
        .any(|name| code.match_indices(name).any(|(at, _)| begins(at)))
}

/// Whether code reads an environment variable when it runs. The macro `env!` reads one when the code is compiled.
fn reads_a_variable(code: &str) -> bool {
    let ends = |text: &str| !text.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let names = ["env::var", "env::vars", "env::var_os", "env::vars_os", "env::{", "getenv"];
    names.iter().any(|name| code.match_indices(name).any(|(at, _)| ends(&code[at + name.len()..]) || name.ends_with('{')))
}

/// Compares the files whose code has a property with those that ARCHITECTURE.md lists in the line that starts with
/// `beginning`. Code in tests is not examined.
fn assert_listed(beginning: &str, has: fn(&str) -> bool, property: &str) {
    let used: BTreeSet<PathBuf> = CRATES
        .iter()
        .flat_map(|folder| sources(&root().join(folder).join("src")).unwrap())
        .filter(|path| !is_test(path.strip_prefix(root()).unwrap()))
        .filter(|path| has(&code(path).unwrap()))
        .map(|path| path.strip_prefix(root()).unwrap().to_owned())
        .collect();
    assert!(!used.is_empty(), "no file has the property: {property}");
    assert_same(&used, &files_listed_after(beginning), property);
}

#[test]
fn operating_systems_are_only_named_in_the_listed_files() {
    assert_listed("- **Only these files use platform APIs**", names_a_system, "files that name interfaces of a system");
}

#[test]
fn environment_variables_are_only_read_in_the_listed_files() {
    assert_listed("- **Only these files read environment variables.**", reads_a_variable, "files that read environment variables");
    assert!(reads_a_variable("let home = std::env::var_os(name);") && reads_a_variable("use std::env::{self, var};"));
    assert!(!reads_a_variable("const VERSION: &str = env!(name); std::env::var_name(); std::env::current_exe()"));
}

#[test]
fn modules_import_in_one_direction() {
    let mut unexpected = Vec::new();
    for name in CRATES {
        let graph = graph(&root().join(name)).unwrap();
        assert!(!graph.is_empty(), "crate {name} has no modules");
        let permitted: Vec<BTreeSet<&str>> =
            MODULES_IN_CYCLES.iter().filter(|(owner, _)| *owner == name).map(|(_, modules)| modules.split_whitespace().collect()).collect();
        for cycle in cycles(&graph) {
            let edges = cycle.iter().map(|module| {
                let imported: Vec<&str> = graph[module].intersection(&cycle).map(String::as_str).collect();
                format!("\n  {module} imports {}", imported.join(", "))
            });
            let report = format!("{name}: {} modules import each other in a cycle:{}", cycle.len(), edges.collect::<String>());
            println!("{report}");
            if !permitted.iter().any(|permitted| cycle.iter().all(|module| permitted.contains(module.as_str()))) {
                unexpected.push(report);
            }
        }
    }
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
}

#[test]
fn files_import_in_one_direction() {
    for (name, permitted) in [("api", &FILES_IN_CYCLES[..]), ("codegen", &[]), ("backend-wgpu", &[])] {
        let graph = file_graph(&root().join(name)).unwrap();
        assert!(graph.values().map(BTreeSet::len).sum::<usize>() > 100, "the imports of {name} are found: {graph:#?}");
        let in_cycles: BTreeSet<String> = cycles(&graph).into_iter().flatten().collect();
        let in_cycles: Vec<&str> = in_cycles.iter().map(String::as_str).collect();
        assert_eq!(in_cycles, permitted, "{name}; left: the files that import each other in cycles; right: those that may");
    }
}

/// The shared parts of the code generator must not depend on an instruction set.
#[test]
fn only_the_root_of_codegen_knows_the_instruction_sets() {
    let is_of_isa = |name: &String| name.starts_with("isa/");
    for (name, imported) in file_graph(&root().join("codegen")).unwrap() {
        assert!(is_of_isa(&name) || !imported.iter().any(is_of_isa), "{name} imports {imported:?}");
    }
}
