//! The platform: its devices and its properties (OpenCL API 4.1).

use std::io::{self, Write as _};
use std::sync::{Arc, OnceLock};

use wgcl_compiler::target::is_hidden;

use crate::backend::{Backend, DeviceKind, ExternalMemory, ExternalSemaphore};
use crate::objects::device::Device;
use crate::objects::device::opencl_version;
use crate::options::Options;
use crate::types::flags::DeviceType;
use crate::types::object::{HandleSlot, Object};
use crate::types::version::{NameVersion, Version};

/// CL_PLATFORM_NAME and CL_PLATFORM_VENDOR
pub const NAME: &str = "wgcl";

/// CL_PLATFORM_ICD_SUFFIX_KHR
pub const SUFFIX: &str = "wgcl";

/// Extensions of the platform itself. [`Platform::extensions`] adds the extensions that all devices have.
pub const PLATFORM_EXTENSIONS: &[(&str, Version)] = &[
    ("cl_khr_icd", Version::new(2, 0, 1)),
    ("cl_khr_icd_unloadable", Version::new(1, 0, 0)),
    ("cl_khr_extended_versioning", Version::new(1, 0, 0)),
];

pub struct Platform {
    slot: HandleSlot,
    backend: Arc<dyn Backend>,
    devices: OnceLock<Vec<Arc<Device>>>,
}

impl Object for Platform {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }
}

impl Platform {
    /// Creates a platform with the devices of a backend. The first query for devices lists them.
    pub fn new(backend: Arc<dyn Backend>) -> Arc<Self> {
        Arc::new(Self { slot: HandleSlot::default(), backend, devices: OnceLock::new() })
    }

    /// All devices, best first. With the option `WGCL_DEVICE`, the devices that the option selects, in the order of the
    /// option.
    pub fn devices(&self) -> &[Arc<Device>] {
        self.devices.get_or_init(|| {
            let mut all: Vec<_> = self.backend.devices().into_iter().map(Device::new).collect();
            if let Some(choice) = &Options::get().device {
                all = select(all, choice);
            }
            for device in &all {
                tracing::info!("found device {} ({}), OpenCL {}", device.name(), device.properties().driver, device.version().short());
                let missing = device.missing_features_of_3_1();
                if !missing.is_empty() {
                    tracing::info!("{} does not support OpenCL 3.1: it lacks {}", device.name(), missing.join(", "));
                }
            }
            all
        })
    }

    /// The devices of a type. CL_DEVICE_TYPE_DEFAULT is the first device.
    pub fn devices_of(&self, kind: DeviceType) -> Vec<Arc<Device>> {
        self.devices()
            .iter()
            .enumerate()
            .filter(|(index, device)| {
                kind == DeviceType::ANY || device.device_type().intersects(kind) || (*index == 0 && kind.contains(DeviceType::DEFAULT))
            })
            .map(|(_, device)| device.clone())
            .collect()
    }

    /// CL_PLATFORM_NUMERIC_VERSION: the highest version of its devices.
    pub fn version(&self) -> Version {
        opencl_version::newest(self.devices().iter().map(|device| &**device))
    }

    /// CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR: the types that every device supports.
    pub fn importable_memory(&self) -> Vec<ExternalMemory> {
        let Some((first, others)) = self.devices().split_first() else { return Vec::new() };
        let mut kinds = first.importable_memory();
        kinds.retain(|kind| others.iter().all(|device| device.importable_memory().contains(kind)));
        kinds
    }

    /// CL_PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR and CL_PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR: the types
    /// that every device supports.
    pub fn shareable_semaphores(&self) -> Vec<ExternalSemaphore> {
        let Some((first, others)) = self.devices().split_first() else { return Vec::new() };
        let mut kinds = first.shareable_semaphores();
        kinds.retain(|kind| others.iter().all(|device| device.shareable_semaphores().contains(kind)));
        kinds
    }

    /// CL_PLATFORM_PROFILE: the full profile if every device supports it.
    pub fn profile(&self) -> &'static str {
        if self.devices().iter().all(|device| device.has_full_profile()) { "FULL_PROFILE" } else { "EMBEDDED_PROFILE" }
    }

    /// CL_PLATFORM_EXTENSIONS_WITH_VERSION: the platform extensions, and the extensions that all devices have.
    pub fn extensions(&self) -> Vec<NameVersion> {
        let changes = Options::get().extension_changes();
        let mut extensions: Vec<_> = PLATFORM_EXTENSIONS
            .iter()
            .filter(|(name, _)| !is_hidden(&changes, name))
            .map(|&(name, version)| NameVersion::new(name, version))
            .collect();
        if let Some((first, others)) = self.devices().split_first() {
            extensions.extend(
                first
                    .extensions()
                    .into_iter()
                    .filter(|e| !PLATFORM_EXTENSIONS.iter().any(|(name, _)| *name == e.name))
                    .filter(|e| others.iter().all(|other| other.extensions().contains(e))),
            );
        }
        extensions
    }
}

/// Whether `WGCL_DEVICE` selects a device by its name.
pub fn names_device(choice: &str, name: &str) -> bool {
    choice.split(',').map(str::trim).any(|part| !part.is_empty() && part.parse::<usize>().is_err() && name_contains(part, name))
}

fn name_contains(part: &str, name: &str) -> bool {
    name.to_lowercase().contains(&part.to_lowercase())
}

/// Whether a word of `WGCL_DEVICE` is a type: `cpu` or `gpu`.
pub fn is_device_type(word: &str) -> bool {
    ["cpu", "gpu"].iter().any(|name| word.trim().eq_ignore_ascii_case(name))
}

/// Whether a word is the type of a device.
fn is_of_type(word: &str, kind: DeviceKind) -> bool {
    is_device_type(word) && word.eq_ignore_ascii_case(if kind < DeviceKind::Cpu { "gpu" } else { "cpu" })
}

/// Keeps the devices that `WGCL_DEVICE` selects: indices, types or parts of names, separated by commas, in that order.
fn select(all: Vec<Arc<Device>>, choice: &str) -> Vec<Arc<Device>> {
    let mut chosen: Vec<Arc<Device>> = Vec::new();
    for part in choice.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let found: Vec<_> = match part.parse::<usize>() {
            Ok(index) => all.get(index).into_iter().collect(),
            Err(_) => all.iter().filter(|d| is_of_type(part, d.properties().kind) || name_contains(part, d.name())).collect(),
        };
        if found.is_empty() {
            let property = if part.parse::<usize>().is_ok() { "has the index" } else { "is named" };
            let names: Vec<_> = all.iter().enumerate().map(|(index, device)| format!("{index} ({})", device.name())).collect();
            // Users must see this message without a log, because the application only sees fewer devices.
            let _ = writeln!(io::stderr(), "wgcl: WGCL_DEVICE: no device {property} `{part}`; devices: {}", names.join(", "));
        }
        for device in found {
            if !chosen.iter().any(|d| Arc::ptr_eq(d, device)) {
                chosen.push(device.clone());
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::{is_of_type, names_device};
    use crate::backend::DeviceKind;

    #[test]
    fn devices_are_named_by_their_type() {
        assert!(is_of_type("GPU", DeviceKind::IntegratedGpu) && is_of_type("cpu", DeviceKind::Cpu));
        assert!(!is_of_type("cpu", DeviceKind::DiscreteGpu) && !is_of_type("gpu", DeviceKind::Cpu));
        assert!(!is_of_type("c", DeviceKind::Cpu));
    }

    #[test]
    fn devices_are_named_by_parts_of_their_names() {
        assert!(names_device("0, LLVM", "llvmpipe (LLVM 15.0.6, 256 bits)"));
        assert!(!names_device("0,15", "llvmpipe (LLVM 15.0.6, 256 bits)"));
        assert!(!names_device("nvidia,", "llvmpipe (LLVM 15.0.6, 256 bits)"));
        assert!(!names_device("", "llvmpipe"));
    }
}
