//! The memory, caches and clock of the host, on Linux and on Apple systems.

#[cfg(target_vendor = "apple")]
mod apple;
#[cfg(not(target_vendor = "apple"))]
mod cache;
mod group;
pub mod memory;

#[cfg(not(target_vendor = "apple"))]
use std::path::Path;
use std::sync::OnceLock;

use wgcl_api::backend::CacheProperties;

/// Returns the largest cache of the first processor, or `None` if it is unknown.
pub fn cache() -> Option<CacheProperties> {
    #[cfg(target_vendor = "apple")]
    return apple::cache();
    #[cfg(not(target_vendor = "apple"))]
    return cache::cache();
}

/// Returns the name of the processor, or `None` if it is unknown.
#[cfg(target_vendor = "apple")]
pub fn processor_name() -> Option<&'static str> {
    apple::processor_name()
}

/// The clock in MHz if the system does not report one. It is that of a typical processor.
const UNKNOWN_MHZ: u32 = 2000;

/// Returns the maximum clock of the fastest processor in MHz. If it is unknown, returns the highest current clock of a
/// processor. The result is never 0. The clock is read only once, because reading it opens a file for each processor.
pub fn clock_mhz() -> u32 {
    static CLOCK: OnceLock<u32> = OnceLock::new();
    *CLOCK.get_or_init(|| {
        #[cfg(target_vendor = "apple")]
        let mhz = apple::clock_mhz();
        #[cfg(not(target_vendor = "apple"))]
        let mhz = highest_clock_mhz(Path::new("/sys/devices/system/cpu")).or_else(current_clock_mhz);
        mhz.filter(|mhz| *mhz > 0).unwrap_or(UNKNOWN_MHZ)
    })
}

/// Returns the largest `cpufreq/cpuinfo_max_freq` of all processors in a folder, in MHz.
#[cfg(not(target_vendor = "apple"))]
fn highest_clock_mhz(processors: &Path) -> Option<u32> {
    let khz = |folder: std::fs::DirEntry| -> Option<u32> {
        std::fs::read_to_string(folder.path().join("cpufreq/cpuinfo_max_freq")).ok()?.trim().parse().ok()
    };
    std::fs::read_dir(processors).ok()?.flatten().filter_map(khz).max().map(|khz| khz / 1000)
}

/// Returns the largest current clock in `/proc/cpuinfo`, in MHz.
#[cfg(not(target_vendor = "apple"))]
fn current_clock_mhz() -> Option<u32> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let mhz = text
        .lines()
        .filter(|line| line.starts_with("cpu MHz"))
        .filter_map(|line| line.split(':').nth(1)?.trim().parse::<f64>().ok())
        .fold(0.0, f64::max);
    Some(mhz.clamp(0.0, 1e6) as u32)
}
