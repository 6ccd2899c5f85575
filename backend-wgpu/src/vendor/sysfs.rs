//! The clocks of GPUs in Linux's sysfs. On other systems the files do not exist.

use std::path::{Path, PathBuf};

/// The folder of the devices whose clocks Linux controls. It includes the GPUs of systems on a chip.
const DEVFREQ: &str = "/sys/class/devfreq";

/// Returns the highest clock in MHz of the GPU at a PCI address. Without an address, this is the GPU of a system on a
/// chip. Returns `None` if no file contains the clock.
pub(super) fn max_clock_mhz(pci: Option<[u32; 4]>) -> Option<u32> {
    match pci {
        Some([domain, bus, device, function]) => {
            let name = format!("/sys/bus/pci/devices/{domain:04x}:{bus:02x}:{device:02x}.{function:x}");
            pci_clock_mhz(Path::new(&name))
        }
        None => devfreq_clock_mhz(Path::new(DEVFREQ)),
    }
}

/// Returns the highest clock in MHz of the PCI device with this folder.
fn pci_clock_mhz(device: &Path) -> Option<u32> {
    // amdgpu: one line for each clock, `1: 2475Mhz *`.
    if let Ok(text) = std::fs::read_to_string(device.join("pp_dpm_sclk")) {
        return text.lines().filter_map(dpm_clock_mhz).max();
    }
    // The files of the drivers i915 and xe, in this order. All values are in MHz.
    let cards = entries(&device.join("drm"), "card");
    let i915 = cards.iter().flat_map(|card| [card.join("gt/gt0/rps_max_freq_mhz"), card.join("gt_max_freq_mhz")]);
    let xe = entries(device, "tile").into_iter().flat_map(|tile| entries(&tile, "gt")).map(|gt| gt.join("freq0/max_freq"));
    i915.chain(xe).filter_map(|file| number(&file)).find(|mhz| *mhz > 0)
}

/// Parses the clock in a line `1: 2475Mhz *`.
fn dpm_clock_mhz(line: &str) -> Option<u32> {
    let (_, clock) = line.split_once(':')?;
    let digits = clock.trim().split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|mhz| *mhz > 0)
}

/// Returns the highest clock in MHz of the devfreq device whose name contains `gpu` or `mali`. The files are in Hz.
fn devfreq_clock_mhz(folder: &Path) -> Option<u32> {
    let is_gpu =
        |path: &PathBuf| path.file_name().is_some_and(|name| ["gpu", "mali"].iter().any(|word| name.to_string_lossy().contains(word)));
    let hertz = entries(folder, "").into_iter().filter(is_gpu).filter_map(|device| number::<u64>(&device.join("max_freq"))).max()?;
    u32::try_from(hertz / 1_000_000).ok().filter(|mhz| *mhz > 0)
}

/// Returns the paths in a folder whose names begin with `prefix`, sorted by name.
fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(read) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> =
        read.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix)).map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn number<T: std::str::FromStr>(file: &Path) -> Option<T> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn file(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn the_largest_clock_of_each_driver_is_found() {
        let root = tempfile::tempdir().unwrap();
        let (amd, i915, old, xe, soc) = ["amd", "i915", "old", "xe", "soc"].map(|name| root.path().join(name)).into();
        file(&amd, "pp_dpm_sclk", "0: 500Mhz\n1: 2475Mhz *\n2: 800Mhz\n");
        file(&i915, "drm/card0/gt/gt0/rps_max_freq_mhz", "1450\n");
        file(&i915, "drm/renderD128/gt_max_freq_mhz", "7\n");
        file(&old, "drm/card1/gt_max_freq_mhz", "1100\n");
        file(&xe, "tile0/gt0/freq0/max_freq", "2400\n");
        file(&soc, "ff9a0000.gpu/max_freq", "800000000\n");
        file(&soc, "memory-controller/max_freq", "1600000000\n");
        assert_eq!([&amd, &i915, &old, &xe].map(|device| pci_clock_mhz(device)), [Some(2475), Some(1450), Some(1100), Some(2400)]);
        assert_eq!(devfreq_clock_mhz(&soc), Some(800));
        assert_eq!(pci_clock_mhz(&soc), None);
        file(&amd, "pp_dpm_sclk", "unexpected\n");
        assert_eq!(pci_clock_mhz(&amd), None);
    }
}
