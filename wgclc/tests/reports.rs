//! Compares the output of `wgclc --emit report` for `tests/reports/NAME.cl` with `NAME.report`. For the same sources,
//! listings (`--emit asm`) must contain the names of kernels and the source lines.
//!
//! The directive `// arguments: ...` contains arguments of `wgclc`. `UPDATE_EXPECT=1` rewrites the expected files.
//! Review the difference.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut list: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|extension| extension == "cl")).collect();
    list.sort();
    list
}

/// Returns the output of `wgclc` for a source. The working directory of `wgclc` is the directory of the source.
fn output(path: &Path, emit: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let arguments = text.lines().find_map(|line| line.strip_prefix("// arguments: ")).unwrap_or("");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wgclc"));
    command.args(["--device", "cpu", "--emit", emit]).args(arguments.split_whitespace()).arg(path.file_name().unwrap());
    let output = command.current_dir(path.parent().unwrap()).output().unwrap();
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn reports_are_as_expected() {
    let update = std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1");
    let files = sources();
    assert!(!files.is_empty());
    for path in files {
        // The size of machine code also depends on changes that this test does not cover, so its line is not compared.
        let size = |line: &&str| !line.starts_with("  machine code: ");
        let text: String = output(&path, "report").lines().filter(size).map(|line| format!("{line}\n")).collect();
        let expected = path.with_extension("report");
        if update {
            std::fs::write(&expected, text).unwrap();
        } else {
            assert_eq!(text, std::fs::read_to_string(&expected).unwrap_or_default(), "{}", expected.display());
        }
    }
}

#[test]
fn listings_contain_names_and_source_lines() {
    for path in sources() {
        let text = output(&path, "asm");
        let source = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut lines = 0;
        for line in text.lines().map(str::trim_start).filter(|line| line.starts_with(['#', '/'])) {
            let rest = line.trim_start_matches(['#', '/', ' ']).strip_prefix(&format!("{name}:")).unwrap_or_else(|| panic!("{line}"));
            let (number, quoted) = rest.split_once(": ").unwrap();
            let number: usize = number.parse().unwrap();
            assert_eq!(source.lines().nth(number - 1).unwrap().trim(), quoted);
            lines += 1;
        }
        assert!(lines > 5, "{text}");
        for kernel in source.lines().filter_map(|line| line.strip_prefix("kernel void ")) {
            let label = format!("{}:", kernel.split('(').next().unwrap());
            assert!(text.lines().any(|line| line == label), "{label}\n{text}");
        }
    }
}
