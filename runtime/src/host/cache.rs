//! Finds the largest cache of the host in Linux's sysfs.

use std::path::Path;

use wgcl_api::backend::CacheProperties;

/// The folder with one folder for each cache of the first processor.
const FOLDER: &str = "/sys/devices/system/cpu/cpu0/cache";

/// Returns the largest cache of the first processor, or `None` if it is unknown.
pub(super) fn cache() -> Option<CacheProperties> {
    let caches = std::fs::read_dir(FOLDER).ok()?.flatten().filter_map(|entry| of_folder(&entry.path()));
    caches.max_by_key(|cache| cache.size)
}

fn of_folder(folder: &Path) -> Option<CacheProperties> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    Some(CacheProperties { line: read("coherency_line_size")?.trim().parse().ok()?, size: bytes(&read("size")?)? })
}

/// Parses a size such as `32768K`, `1M` or `512`.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, factor) = match text.strip_suffix('K') {
        Some(number) => (number, 1 << 10),
        None => text.strip_suffix('M').map_or((text, 1), |number| (number, 1 << 20)),
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::{bytes, cache};

    #[test]
    fn sizes_are_parsed() {
        assert_eq!(bytes("32768K\n"), Some(32 << 20));
        assert_eq!(bytes("1M"), Some(1 << 20));
        assert_eq!(bytes("512"), Some(512));
        assert_eq!(bytes("99999999999999999999"), None);
        assert_eq!(bytes("K"), None);
    }

    #[test]
    fn a_cache_has_lines() {
        assert!(cache().is_none_or(|cache| cache.line > 0 && cache.size >= u64::from(cache.line)));
    }
}
