//! Names the compiler by what it is made of, so that what an older one left in a cache on disk is not taken for its own.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn main() {
    let mut found = Vec::new();
    // What makes machine code of kernels is a crate of its own.
    for folder in ["src", "library", "../codegen/src"] {
        println!("cargo:rerun-if-changed={folder}");
        files(Path::new(folder), &mut found);
    }
    found.sort();
    // The versions of the crates below, naga's above all.
    let lock = Path::new("../Cargo.lock");
    if lock.exists() {
        println!("cargo:rerun-if-changed={}", lock.display());
        found.push(lock.to_owned());
    }
    let mut hasher = DefaultHasher::new();
    for path in found {
        hasher.write(path.to_string_lossy().as_bytes());
        hasher.write(&std::fs::read(&path).unwrap_or_default());
    }
    println!("cargo:rustc-env=WGCL_COMPILER_ID={}-{:016x}", std::env::var("CARGO_PKG_VERSION").unwrap_or_default(), hasher.finish());
}
