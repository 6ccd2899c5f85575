//! The verifier must report all violations of the rules of the IR in `tests/verifier/*.ir`, and no other errors.
//!
//! At an instruction with a comment `; error: TEXT`, the verifier must report an error that contains the text.

use std::path::Path;
use wgcl_compiler::ir::read::read_module;
use wgcl_compiler::ir::verify::verify;

const MARK: &str = "; error: ";

/// Returns the differences between the errors of the verifier and those that the file expects.
fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let module = read_module(&text).map_err(|error| error.to_string())?;
    let mut found = verify(&module).err().unwrap_or_default();
    let mut failures = Vec::new();
    let mut function = "";
    let mut expected = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let (code, error) = line.split_once(MARK).map_or((line, None), |(code, error)| (code, Some(error)));
        let code = code.trim();
        let head = code.starts_with("kernel ") || code.starts_with("func ");
        if head {
            function = code.split('"').nth(1).unwrap_or_default();
        }
        let Some(error) = error else { continue };
        expected += 1;
        // A comment at the head of a function expects an error of the signature. The verifier reports `signature` as
        // the instruction.
        let inst = if head { "signature" } else { code };
        let same =
            |one: &wgcl_compiler::ir::verify::VerifyError| one.function == function && one.inst == inst && one.message.contains(error);
        match found.iter().position(same) {
            Some(index) => drop(found.remove(index)),
            None => failures.push(format!("line {number}: the verifier does not report `{error}`")),
        }
    }
    failures.extend(found.iter().map(|error| format!("unexpected error: {error}")));
    if expected == 0 {
        failures.push("the file contains no `; error:`".to_owned());
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

#[test]
fn violations_are_reported() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verifier");
    let entries = std::fs::read_dir(&folder).expect("the folder of the tests");
    let mut paths: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no tests in {}", folder.display());
    let failures: Vec<String> =
        paths.iter().filter_map(|path| check(path).err().map(|error| format!("{}:\n{error}", path.display()))).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
