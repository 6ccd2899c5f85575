//! Computes the compiler's identity, which is part of every key in the disk cache. The identity is a hash of the
//! compiler's sources, of the versions of its dependencies, and of the target. So entries of another version or another
//! target are never used.

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
    // The code generator is a separate crate, but it also determines the cached code.
    for folder in ["src", "library", "../codegen/src"] {
        println!("cargo:rerun-if-changed={folder}");
        files(Path::new(folder), &mut found);
    }
    found.sort();
    // The versions of the dependencies, such as naga.
    let lock = Path::new("../Cargo.lock");
    if lock.exists() {
        println!("cargo:rerun-if-changed={}", lock.display());
        found.push(lock.to_owned());
    }
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo:rustc-env=WGCL_TARGET={target}");
    let mut hasher = DefaultHasher::new();
    hasher.write(target.as_bytes());
    for path in found {
        hasher.write(path.to_string_lossy().as_bytes());
        hasher.write(&std::fs::read(&path).unwrap_or_default());
    }
    println!("cargo:rustc-env=WGCL_COMPILER_ID={}-{:016x}", std::env::var("CARGO_PKG_VERSION").unwrap_or_default(), hasher.finish());
}
