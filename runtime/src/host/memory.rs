//! How much memory the machine has, for devices whose memory is the host's: their drivers hand out more than there is, and the system then ends the process.
//!
//! Linux tells; elsewhere nothing is known.

use std::fs::read_to_string;

/// Bytes of a page: the smallest that Linux has. Larger ones make what is resident look smaller than it is, which errs on the safe side.
const PAGE: u64 = 4096;

/// Bytes of memory that this process may have at most, if that is known: the machine's, or those of its control group.
pub fn total() -> Option<u64> {
    let machine = of_meminfo(&read_to_string("/proc/meminfo").ok()?, "MemTotal:")?;
    let group = read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse::<u64>().ok());
    Some(group.map_or(machine, |group| group.min(machine)))
}

/// Whether so many bytes more can be had, with `promised` given away before; true where that is not known.
pub fn has_room_for(bytes: u64, promised: u64) -> bool {
    let available = read_to_string("/proc/meminfo").ok().and_then(|text| of_meminfo(&text, "MemAvailable:"));
    let Some(available) = available else { return true };
    let resident = read_to_string("/proc/self/statm").ok().and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    // What was promised and is not there yet is going to be taken from what is available. Not all that is there is ours: this is the least of it.
    let outstanding = promised.saturating_sub(resident.unwrap_or(0).saturating_mul(PAGE));
    bytes.saturating_add(outstanding) <= available
}

/// A line of /proc/meminfo, in bytes.
fn of_meminfo(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::{has_room_for, of_meminfo, total};

    #[test]
    fn lines_are_read() {
        let text = "MemTotal:       24684208 kB\nMemFree:         3161772 kB\nHugePages_Total:       0\n";
        assert_eq!(of_meminfo(text, "MemTotal:"), Some(24_684_208 << 10));
        assert_eq!(of_meminfo(text, "HugePages_Total:"), None);
        assert_eq!(of_meminfo(text, "MemAvailable:"), None);
    }

    #[test]
    fn there_is_room_for_a_page_but_not_for_more_than_there_is() {
        let Some(total) = total() else { return };
        assert!(has_room_for(4096, 0));
        assert!(!has_room_for(total, total.saturating_mul(2)));
    }
}
