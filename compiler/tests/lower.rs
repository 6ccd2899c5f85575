//! The IR of small sources: `tests/lower/*.cl`, with the expected IR in a file of the same name that ends in `.ir`.
//!
//! `UPDATE_EXPECT=1` rewrites the expected files: review the difference.

use std::path::{Path, PathBuf};

use wgcl_compiler::front::FrontEnd;
use wgcl_compiler::ir::read::read_module;
use wgcl_compiler::ir::verify::verify;
use wgcl_compiler::program::{BuildOptions, Source};
use wgcl_compiler::target::Target;

fn lowered(text: String) -> Result<String, String> {
    let (options, target) = (BuildOptions::default(), Target::full());
    let source = Source { text, ..Source::default() };
    let mut front = FrontEnd::new(&source, &options, &target);
    let module = front.lower().ok_or_else(|| format!("{:?}", front.diags.list()))?;
    verify(&module).map_err(|errors| errors.iter().map(|error| format!("{error}\n")).collect::<String>())?;
    let text = module.to_string();
    let again = read_module(&text).map_err(|error| error.to_string())?.to_string();
    if text == again { Ok(text) } else { Err(format!("the text form reads back differently:\n{text}\n{again}")) }
}

fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let have = lowered(text)?;
    let expected = path.with_extension("ir");
    if std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1") {
        return std::fs::write(&expected, have).map_err(|error| error.to_string());
    }
    let want = std::fs::read_to_string(&expected).map_err(|error| format!("{}: {error}", expected.display()))?;
    if have == want { Ok(()) } else { Err(format!("wanted:\n{want}\nlowered to:\n{have}")) }
}

#[test]
fn sources_lower_to_the_expected_ir() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lower");
    let entries = std::fs::read_dir(&folder).map(|entries| entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect());
    let mut paths: Vec<PathBuf> = entries.unwrap_or_default();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "cl"));
    paths.sort();
    assert!(!paths.is_empty(), "no sources in {}", folder.display());
    let failures: Vec<String> =
        paths.iter().filter_map(|path| check(path).err().map(|error| format!("{}:\n{error}", path.display()))).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
