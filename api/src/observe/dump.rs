//! Keeping what passes through, for reports and curiosity: `WGCL_DUMP_DIR`.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::options::Options;

/// Whether anything is kept: what is expensive to print need not be printed otherwise.
pub fn enabled() -> bool {
    Options::get().dump_dir.is_some()
}

/// A number that no other file of this process has in its name, with the process: builds and kernels are numbered in
/// order.
pub fn prefix() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("{}-{:04}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Keeps a file, if files are kept. What cannot be a file name becomes an underscore. Failures are logged and do no
/// harm.
pub fn write(name: &str, contents: &[u8]) {
    let Some(directory) = &Options::get().dump_dir else { return };
    let name: String = name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    if let Err(error) = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(directory.join(&name), contents)) {
        tracing::warn!("WGCL_DUMP_DIR: {}: {error}", directory.join(&name).display());
    }
}
