//! The map file for Linux `perf` (`WGCL_PERF_MAP=1`): a line per kernel with its address, size and name.
//!
//! Example: `7f0000001000 240 vadd.avx2`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use wgcl_api::options::Options;

/// Adds a kernel to the map if `WGCL_PERF_MAP` is set. A failure is only logged.
pub(crate) fn add_kernel(address: usize, bytes: usize, name: &str) {
    if Options::get().perf_map.as_deref() != Some("1") {
        return;
    }
    // The path that perf reads. A forked process has its own path.
    let file = PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()));
    if let Err(error) = append(&file, address, bytes, name) {
        tracing::warn!("WGCL_PERF_MAP: {}: {error}", file.display());
    }
}

fn append(file: &Path, address: usize, bytes: usize, name: &str) -> io::Result<()> {
    // Every user may write to /tmp, so do not follow a symbolic link of another user.
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(file)?;
    // Write the line with one call, because other threads append at the same time.
    file.write_all(format!("{address:x} {bytes:x} {name}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::append;

    #[test]
    fn lines_are_appended_and_symbolic_links_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("map"), folder.path().join("link"));
        append(&file, 0x7f00_0000_1000, 0x240, "vadd.avx2").expect("a line");
        append(&file, 0x10, 1, "b").expect("a line");
        assert_eq!(std::fs::read_to_string(&file).expect("the map"), "7f0000001000 240 vadd.avx2\n10 1 b\n");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert!(append(&link, 1, 1, "c").is_err());
    }
}
