//! Dumps of sources, IR and code for bug reports: `WGCL_DUMP_DIR`.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::options::Options;

/// Whether dumps are enabled. Callers can skip the work of printing a dump otherwise.
pub fn enabled() -> bool {
    Options::get().dump_dir.is_some()
}

/// Returns a new, unique prefix of file names: the process id and a number. Builds and kernels are numbered in order.
pub fn prefix() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("{}-{:04}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Writes a file, if dumps are enabled. Invalid characters in the name become underscores. Failures are logged and
/// otherwise ignored.
pub fn write(name: &str, contents: &[u8]) {
    let Some(directory) = &Options::get().dump_dir else { return };
    let name: String = name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    if let Err(error) = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(directory.join(&name), contents)) {
        tracing::warn!("WGCL_DUMP_DIR: {}: {error}", directory.join(&name).display());
    }
}
