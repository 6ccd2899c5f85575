//! The files that the checks read, by kind. These are source, documentation and scripts, if git tracks them or does not
//! ignore them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// How the text of a file is split into prose and code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Rust,
    /// OpenCL C and C: comments, string literals and names are prose.
    C,
    /// Prose, except for fenced blocks and inline code.
    Markdown,
    /// Scripts, and data with `#` comments. Every line is prose, because any line may contain a message or a help text.
    Script,
    /// The IR, assembly and WGSL: comments of any style are prose.
    Assembly,
}

/// One file of the repository.
#[derive(Debug)]
pub struct File {
    /// Relative to the root of the repository, with `/` separators.
    pub path: String,
    pub kind: Kind,
    pub text: String,
}

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Files that are generated, third-party, or contain banned phrases as data.
const SKIPPED: [&str; 7] = [
    "opencl-headers/src/bindings.rs",
    "tidy/src/words.rs",
    "tidy/tests/rules.rs",
    "tidy/baseline.txt",
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
];

/// Returns the kind of a file, or `None` if the checks do not read it.
fn kind(path: &str) -> Option<Kind> {
    if SKIPPED.contains(&path) || path.starts_with("khronos-cts/expectations/") {
        return None;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("rs") => Some(Kind::Rust),
        Some("cl" | "c" | "h" | "clh") => Some(Kind::C),
        Some("md") => Some(Kind::Markdown),
        Some("ir" | "vir" | "spvasm" | "wgsl") => Some(Kind::Assembly),
        Some("py" | "sh" | "ps1" | "toml" | "yml" | "mjs" | "html" | "txt") => Some(Kind::Script),
        Some(_) => None,
        None => (path.starts_with("scripts/") || path.starts_with(".ci/") || name.contains("run")).then_some(Kind::Script),
    }
}

/// Returns every file that the checks read, ordered by path. Fails if git is missing or this is not a checkout.
pub fn all() -> Result<Vec<File>, String> {
    let listing = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .map_err(|error| format!("git ls-files: {error}"))?;
    if !listing.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&listing.stderr)));
    }
    let mut paths: Vec<String> = String::from_utf8_lossy(&listing.stdout).split('\0').map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    let read = |path: String| {
        let kind = kind(&path)?;
        // Reading fails for a deleted file, which git lists until the deletion is staged, and for a binary file.
        let text = std::fs::read_to_string(root().join(&path)).ok()?;
        Some(File { path, kind, text })
    };
    Ok(paths.into_iter().filter_map(read).collect())
}
