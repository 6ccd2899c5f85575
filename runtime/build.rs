//! Computes the identity of this crate, which is a hash of the files in `src`, without the files in its subfolders.
//! Keys in the disk cache contain the identity, because the format of histories may differ between versions.

use std::hash::{DefaultHasher, Hasher};
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=src");
    let mut files: Vec<PathBuf> = std::fs::read_dir("src").into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut hasher = DefaultHasher::new();
    for path in files {
        hasher.write(path.to_string_lossy().as_bytes());
        hasher.write(&std::fs::read(&path).unwrap_or_default());
    }
    println!("cargo:rustc-env=WGCL_RUNTIME_ID={:016x}", hasher.finish());
}
