//! Runs `tests/sema/*.cl` through the front end.
//!
//! A file says its options in `// build: OPTIONS`. Each line that ends in `// error: TEXT` is checked alone, all other such lines left out: it must
//! be refused, at that line and nowhere else, with a message that contains the text. Without any of them the file must be accepted.

use std::path::Path;

use wgcl_compiler::diag::{Diagnostics, Severity, SourceMap};
use wgcl_compiler::program::Source;
use wgcl_compiler::target::Target;
use wgcl_compiler::{options, parse, preprocess, sema};

/// Line and text of every error.
fn errors(text: &str, options: &str) -> Vec<(usize, String)> {
    let options = options::parse_words(options.split_whitespace().map(str::to_owned)).expect("options of the test");
    let target = Target::full();
    let source = Source { text: text.to_owned(), ..Default::default() };
    let mut map = SourceMap::default();
    let mut diags = Diagnostics::default();
    let tokens = preprocess::preprocess(&source, &options, &target, &mut map, &mut diags);
    let unit = parse::parse(tokens, &mut diags);
    let program = sema::check(&unit, &options, &target, &mut diags);
    assert_eq!(program.is_none(), diags.has_errors());
    diags
        .list()
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| (map.locate(d.span).map_or(0, |at| at.line as usize), d.message.clone()))
        .collect()
}

fn check(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("readable test");
    let lines: Vec<&str> = text.lines().collect();
    let options = lines.iter().find_map(|l| l.strip_prefix("// build: ")).unwrap_or("");
    let is_wrong = |line: &str| line.contains("// error: ");
    let base: Vec<&str> = lines.iter().map(|l| if is_wrong(l) { "" } else { *l }).collect();
    let mut failures = Vec::new();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for (line, message) in errors(&base.join("\n"), options) {
        failures.push(format!("{name}:{line}: unexpected: {message}"));
    }
    for (index, line) in lines.iter().enumerate().filter(|(_, l)| is_wrong(l)) {
        let mut source = base.clone();
        source[index] = line;
        let found = errors(&source.join("\n"), options);
        let wanted: Vec<&str> = line.split("// error: ").skip(1).map(str::trim).collect();
        let matches =
            found.len() == wanted.len() && found.iter().zip(&wanted).all(|((at, text), want)| *at == index + 1 && text.contains(want));
        if !matches {
            failures.push(format!("{name}:{}: wanted {wanted:?}, found {found:?}", index + 1));
        }
    }
    failures
}

#[test]
fn programs_are_accepted_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sema");
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("the tests").filter_map(|e| Some(e.ok()?.path())).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "cl"));
    paths.sort();
    assert!(!paths.is_empty());
    // The front end recurses: as deep a stack as a build has.
    let run = move || paths.iter().flat_map(|path| check(path)).collect::<Vec<_>>();
    let failures = std::thread::Builder::new().stack_size(256 << 20).spawn(run).expect("a thread").join().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
