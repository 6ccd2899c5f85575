//! The memory of the host, for devices that use it. Drivers of such devices would allocate more memory than the machine
//! has, and the system would then kill the process.
//!
//! Only Linux reports the available memory.

use std::fs::read_to_string;

use crate::host::group;

/// The smallest page size of Linux, in bytes. On a system with larger pages, the computed resident memory is too low,
/// which is safe.
const PAGE: u64 = 4096;

/// Returns the memory limit of this process in bytes: the minimum of the machine's memory and the limits of the control
/// groups. Returns `None` if the machine's memory is unknown.
pub fn total() -> Option<u64> {
    let machine = machine_memory()?;
    Some(group::limits().map(|group| group.limit).fold(machine, u64::min))
}

/// Whether `bytes` more bytes can be allocated, if earlier allocations have `promised` bytes in total. Returns true if
/// the available memory is unknown.
pub fn has_room_for(bytes: u64, promised: u64) -> bool {
    let available = read_to_string("/proc/meminfo").ok().and_then(|text| of_meminfo(&text, "MemAvailable:"));
    let Some(available) = available else { return true };
    let available = group::limits().map(|group| group.limit.saturating_sub(group.used)).fold(available, u64::min);
    let resident = read_to_string("/proc/self/statm").ok().and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    // Promised memory that is not resident yet will reduce the available memory. The resident memory also contains
    // other data, so `outstanding` is a lower bound.
    let outstanding = promised.saturating_sub(resident.unwrap_or(0).saturating_mul(PAGE));
    bytes.saturating_add(outstanding) <= available
}

/// The memory of the machine in bytes.
fn machine_memory() -> Option<u64> {
    #[cfg(target_vendor = "apple")]
    return super::apple::memory();
    #[cfg(not(target_vendor = "apple"))]
    return of_meminfo(&read_to_string("/proc/meminfo").ok()?, "MemTotal:");
}

/// Returns the value of the line `name` of /proc/meminfo, in bytes.
fn of_meminfo(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::{has_room_for, of_meminfo, total};

    #[test]
    fn meminfo_lines_are_parsed() {
        let text = "MemTotal:       24684208 kB\nMemFree:         3161772 kB\nHugePages_Total:       0\n";
        assert_eq!(of_meminfo(text, "MemTotal:"), Some(24_684_208 << 10));
        assert_eq!(of_meminfo(text, "HugePages_Total:"), None);
        assert_eq!(of_meminfo(text, "MemAvailable:"), None);
    }

    #[test]
    fn a_page_is_available_but_not_more_than_the_total() {
        let Some(total) = total() else { return };
        assert!(has_room_for(4096, 0));
        assert!(!has_room_for(total, total.saturating_mul(2)));
    }
}
