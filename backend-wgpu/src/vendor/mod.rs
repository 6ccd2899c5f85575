//! Facts and controls of GPU drivers that Vulkan does not offer, from the operating system: clocks, and the attributes
//! of NVIDIA's GPUs.
//!
//! Everything here is optional. Without the driver's library or file, [`hardware`] returns estimates and
//! [`clock_boost::ClockBoost`] does nothing.

pub(crate) mod clock_boost;
mod nvml;
#[cfg(target_os = "linux")]
mod resource_manager;
mod sysfs;

use wgcl_api::backend::{DeviceKind, HardwareFacts, NvidiaAttributes};
use wgcl_runtime::host;

/// NVIDIA's PCI vendor ID.
pub(crate) const NVIDIA: u32 = 0x10de;

/// Returns the facts of an adapter at this PCI address (domain, bus, device, function). Loads NVIDIA's management
/// library for NVIDIA's devices, which takes about 20 ms.
pub(crate) fn hardware(kind: DeviceKind, vendor: u32, pci: Option<[u32; 4]>, copy_queues: u32) -> HardwareFacts {
    if kind == DeviceKind::Cpu {
        return HardwareFacts { max_clock_mhz: host::clock_mhz(), ..HardwareFacts::default() };
    }
    if vendor == NVIDIA
        && let Some(found) = pci.and_then(nvml::query)
    {
        return HardwareFacts {
            max_clock_mhz: found.max_clock_mhz.unwrap_or_else(|| estimated_clock_mhz(kind)),
            error_correction: found.error_correction,
            nvidia: Some(NvidiaAttributes {
                compute_capability: found.compute_capability,
                registers_per_block: registers_per_block(found.compute_capability),
                integrated: kind == DeviceKind::IntegratedGpu,
                execution_timeout: found.drives_display,
                copy_engines: copy_queues,
            }),
        };
    }
    let max_clock_mhz = sysfs::max_clock_mhz(pci).unwrap_or_else(|| estimated_clock_mhz(kind));
    HardwareFacts { max_clock_mhz, ..HardwareFacts::default() }
}

/// The name of NVIDIA's driver in Vulkan. NVML requires this driver. NVK, Mesa's driver for the same GPUs, does not
/// suffice.
const NVIDIA_DRIVER: &str = "NVIDIA";

/// Whether [`hardware`] can return the attributes of cl_nv_device_attribute_query: NVIDIA's driver and its management
/// library are in use. Programs list the extensions when they start, so this does not initialise the library. If the
/// initialisation fails later, the queries return CL_INVALID_VALUE.
pub(crate) fn has_nvidia_attributes(vendor: u32, driver: &str, pci: Option<[u32; 4]>) -> bool {
    vendor == NVIDIA && driver == NVIDIA_DRIVER && pci.is_some() && nvml::is_installed()
}

/// Returns a typical clock in MHz of GPUs of 2020 to 2025. Programs multiply the clock by the number of compute units
/// to choose the fastest device. With 0, they would not choose a GPU.
const fn estimated_clock_mhz(kind: DeviceKind) -> u32 {
    match kind {
        DeviceKind::DiscreteGpu => 1800,
        DeviceKind::IntegratedGpu | DeviceKind::VirtualGpu => 1200,
        DeviceKind::Cpu | DeviceKind::Other => 1000,
    }
}

/// Returns the number of 32-bit registers of a thread block (CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability").
const fn registers_per_block(compute_capability: (u32, u32)) -> u32 {
    match compute_capability {
        (3, 2) | (5, 3) | (6, 2) => 32 << 10,
        _ => 64 << 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_device_has_a_clock() {
        let kinds = [DeviceKind::DiscreteGpu, DeviceKind::IntegratedGpu, DeviceKind::VirtualGpu, DeviceKind::Cpu, DeviceKind::Other];
        for kind in kinds {
            // No device has this address.
            let facts = hardware(kind, 0x1002, Some([0xffff, 0xff, 0x1f, 7]), 0);
            assert!(facts.max_clock_mhz > 0, "{kind:?}");
            assert_eq!(facts.nvidia, None, "{kind:?}");
        }
    }

    #[test]
    fn attributes_require_the_driver_and_an_address() {
        let pci = Some([0, 1, 0, 0]);
        assert!(!has_nvidia_attributes(NVIDIA, "NVK", pci));
        assert!(!has_nvidia_attributes(NVIDIA, NVIDIA_DRIVER, None));
        assert!(!has_nvidia_attributes(0x1002, NVIDIA_DRIVER, pci));
        assert_eq!(has_nvidia_attributes(NVIDIA, NVIDIA_DRIVER, pci), nvml::is_installed());
    }

    #[test]
    fn small_chips_have_half_of_the_registers() {
        assert_eq!(registers_per_block((9, 0)), 65_536);
        assert_eq!(registers_per_block((6, 2)), 32_768);
    }
}
