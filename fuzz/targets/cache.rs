//! Reads any bytes as a program of the disk cache, and as a file of the cache.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wgcl_api::cache::{Cache, Key};
use wgcl_compiler::stored::{decode_program, encode_program};

fuzz_target!(|bytes: &[u8]| {
    if let Some(program) = decode_program(bytes) {
        let _ = encode_program(&program);
    }
    let Ok(folder) = tempfile::tempdir() else { return };
    let (cache, key) = (Cache::new(folder.path(), 1 << 20), Key::of_contents(b"key"));
    cache.store(&key, b"contents");
    for entry in entries(folder.path()) {
        let _ = std::fs::write(entry, bytes);
    }
    // A damaged file must not be found with contents that were not stored.
    assert!(cache.find(&key).is_none_or(|found| found == b"contents"));
});

/// The files below a folder.
fn entries(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let (mut list, mut waiting) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = waiting.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() { waiting.push(path) } else { list.push(path) }
        }
    }
    list
}
