//! The address space that a process can still use if the system limits it (`ulimit -v`, `ulimit -d`).
//!
//! Rust ends the process when an allocation fails, and the compiler allocates memory in every stage. The available
//! memory is therefore checked before a compilation starts. Without a limit, allocations do not fail, because the
//! system provides pages when they are used. The limits can only be read on Linux.

use std::fs::read_to_string;

/// The maximum page size in bytes. If the pages are smaller, [`mappable_bytes`] returns too small a number, which is
/// safe.
const PAGE: u64 = if cfg!(target_arch = "x86_64") { 4096 } else { 65536 };

/// Address space in bytes that a compilation needs in addition to its stack: its data, and the memory that the C
/// library reserves per thread.
const DATA: u64 = 192 << 20;
/// Bytes of data per byte of source. A high estimate.
const PER_BYTE: u64 = 4096;

/// Returns the number of bytes that the process can still map, or `None` if there is no limit or it is not known.
pub fn mappable_bytes() -> Option<u64> {
    let limits = read_to_string("/proc/self/limits").ok()?;
    let (space, data) = (limit(&limits, "Max address space"), limit(&limits, "Max data size"));
    if space.is_none() && data.is_none() {
        return None;
    }
    let used = read_to_string("/proc/self/statm").ok()?;
    let pages = |field: usize| used.split_whitespace().nth(field)?.parse::<u64>().ok();
    let rest = |limit: Option<u64>, field| Some(limit?.saturating_sub(pages(field)?.saturating_mul(PAGE)));
    [rest(space, 0), rest(data, 5)].into_iter().flatten().min()
}

/// Whether the address space suffices to compile `source` bytes on a thread with a stack of `stack` bytes.
pub fn has_room_to_compile(source: usize, stack: usize) -> bool {
    let needed = DATA + stack as u64 + (source as u64).saturating_mul(PER_BYTE);
    mappable_bytes().is_none_or(|left| left >= needed)
}

/// Returns the soft limit `name` in the text of /proc/self/limits, or `None` if it is unlimited or missing.
fn limit(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::limit;

    #[test]
    fn limits_are_parsed() {
        let text = "Limit                     Soft Limit           Hard Limit           Units\n\
                    Max data size             unlimited            unlimited            bytes\n\
                    Max address space         307200000            unlimited            bytes\n";
        assert_eq!(limit(text, "Max address space"), Some(307_200_000));
        assert_eq!(limit(text, "Max data size"), None);
        assert_eq!(limit(text, "Max cpu time"), None);
    }
}
