//! Each rule must report the text that it bans, and permit literal uses.

use wgcl_tidy::files::{File, Kind};
use wgcl_tidy::rules::check;

/// Returns the rules that a text violates, with the lines.
fn broken(path: &str, kind: Kind, text: &str) -> Vec<(&'static str, usize)> {
    let file = File { path: path.to_owned(), kind, text: text.to_owned() };
    check(&file).into_iter().map(|finding| (finding.rule, finding.line)).collect()
}

#[test]
fn a_phrase_may_continue_on_the_next_line() {
    let text = "//! A module for tests.\n\n// The loop goes\n// on with the next one.\nfn f() {}\n";
    assert_eq!(broken("x.rs", Kind::Rust, text), [("word", 3)]);
}

#[test]
fn code_and_quotations_are_not_prose() {
    let text =
        "//! A module for tests.\n\n// Use `turn`; the specification says \"so far\".\n/// ```\n/// turn behind\n/// ```\nfn f() {}\n";
    assert_eq!(broken("x.rs", Kind::Rust, text), []);
}

#[test]
fn messages_and_names_are_prose() {
    let text = "//! A module for tests.\n\nfn who_waits() {\n    println!(\"{} is no pointer\", 'x');\n}\n";
    assert_eq!(broken("x.rs", Kind::Rust, text), [("word", 4), ("name", 3), ("name", 3)]);
}

#[test]
fn names_in_opencl_c_are_prose() {
    assert_eq!(broken("x.cl", Kind::C, "kernel void turn(global int *out) { *out = 1; }\n"), [("name", 1)]);
}

#[test]
fn literal_uses_are_permitted() {
    let text = "//! A module for tests.\n\n// There is no limit. This turns on the check. The answer is no.\nfn f() {}\n";
    assert_eq!(broken("x.rs", Kind::Rust, text), []);
}

#[test]
fn american_spellings_are_reported_in_comments_and_pages() {
    let text = "//! A module for tests.\n\n// The neighbor is initialized. `color`, cl_khr_initialize_memory and \"behavior\" are names.\nfn f() {}\n";
    assert_eq!(broken("x.rs", Kind::Rust, text), [("spelling", 3), ("spelling", 3)]);
    assert_eq!(broken("x.md", Kind::Markdown, "A synchronization-point.\n"), [("spelling", 1)]);
    assert_eq!(broken("x.rs", Kind::Rust, "//! A module for tests.\n\nconst COLOR: &str = \"initializing it\";\n"), []);
}

#[test]
fn directives_of_tests_are_data() {
    let text = "// What comes first.\n// error: the type is no pointer\n";
    assert_eq!(broken("tests/cl/x.cl", Kind::C, text), [("headless", 1)]);
}

#[test]
fn short_documentation_and_missing_module_documentation_are_reported() {
    assert_eq!(broken("x.rs", Kind::Rust, "/// The bytes.\nstruct S;\n"), [("module-doc", 1), ("short-doc", 1)]);
}
