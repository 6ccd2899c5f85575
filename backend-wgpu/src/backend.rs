//! Lists the adapters that become OpenCL devices, in the order of the devices.

use std::sync::Arc;
use std::time::Instant;

use rustc_hash::FxHashSet;
use wgcl_api::backend::{Backend, Device, DeviceKind};

use crate::adapter::properties;
use crate::adapter::settings::Settings;
use crate::device::WgpuDevice;
use crate::host::process_exit;
#[cfg(not(any(windows, target_vendor = "apple")))]
use crate::vulkan::hal_adapter;

/// Minimum number of storage buffers per shader.
const MIN_STORAGE_BUFFERS: u32 = 4;

/// The devices of one set of drivers.
#[derive(Debug, Default)]
pub struct WgpuBackend {
    settings: Settings,
    /// Whether to use OpenGL ES 3.1 instead of the system's main API.
    gl: bool,
}

impl WgpuBackend {
    /// Creates the backend for Vulkan, Metal and Direct3D 12. Loads no driver.
    #[must_use]
    pub const fn new(settings: Settings) -> Self {
        Self { settings, gl: false }
    }

    /// Creates the backend for OpenGL ES (EGL without a window), for GPUs that have no other driver. Loads no driver.
    #[must_use]
    pub const fn gl(settings: Settings) -> Self {
        Self { settings, gl: true }
    }

    /// Lists the devices, GPUs first, without opening them. Returns an empty list if there is no driver.
    #[must_use]
    pub fn list_devices(&self) -> Vec<Arc<WgpuDevice>> {
        let backends = if self.gl { wgpu::Backends::GL } else { wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12 };
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = backends;
        descriptor.flags = wgpu::InstanceFlags::empty();
        let begin = Instant::now();
        let Some((instance, mut adapters)) = self.list(descriptor) else { return Vec::new() };
        tracing::debug!("listed {} adapters in {:?}", adapters.len(), begin.elapsed());
        // The driver stays loaded. One thread must not unload it while another runs its exit handlers.
        process_exit::leak(instance.clone());
        adapters.retain(|adapter| {
            let lack = missing_feature(adapter.get_downlevel_capabilities().flags, &adapter.limits());
            lack.inspect(|lack| log_skipped(adapter, lack)).is_none()
        });
        // Two drivers or two APIs may list the same GPU. Only the first adapter in this order becomes a device.
        adapters.sort_by_key(|adapter| {
            let info = adapter.get_info();
            (properties::kind(info.device_type), api_rank(info.backend))
        });
        let mut listed = FxHashSet::default();
        adapters.retain(|adapter| {
            let info = adapter.get_info();
            let location = if info.device_pci_bus_id.is_empty() { info.name } else { info.device_pci_bus_id };
            let is_first = listed.insert((info.vendor, info.device, location));
            if !is_first {
                log_skipped(adapter, "another driver or API offers the same device");
            }
            is_first
        });
        adapters.into_iter().map(|adapter| Arc::new(WgpuDevice::new(&instance, adapter, self.settings))).collect()
    }
}

impl WgpuBackend {
    /// Returns the instance and its adapters, or `None` if there is no driver.
    #[cfg(any(windows, target_vendor = "apple"))]
    fn list(&self, descriptor: wgpu::InstanceDescriptor) -> Option<(wgpu::Instance, Vec<wgpu::Adapter>)> {
        Some(list_by_wgpu(descriptor))
    }

    /// Returns the instance and its adapters, or `None` if there is no driver.
    /// Only Vulkan and OpenGL ES exist on these systems.
    #[cfg(not(any(windows, target_vendor = "apple")))]
    fn list(&self, descriptor: wgpu::InstanceDescriptor) -> Option<(wgpu::Instance, Vec<wgpu::Adapter>)> {
        if self.gl {
            return Some(list_by_wgpu(descriptor));
        }
        let instance = hal_adapter::instance(&descriptor)?;
        let adapters = hal_adapter::adapters(&instance);
        Some((instance, adapters))
    }
}

/// Returns the feature that an adapter lacks to be an OpenCL device, or `None` if it has all of them.
fn missing_feature(flags: wgpu::DownlevelFlags, limits: &wgpu::Limits) -> Option<&'static str> {
    if !flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) {
        Some("no compute shaders")
    } else if limits.max_storage_buffers_per_shader_stage < MIN_STORAGE_BUFFERS {
        Some("fewer than 4 storage buffers per shader")
    } else {
        None
    }
}

fn log_skipped(adapter: &wgpu::Adapter, reason: &str) {
    let info = adapter.get_info();
    tracing::info!("skipped device {} ({}): {reason}", info.name, info.backend);
}

fn list_by_wgpu(descriptor: wgpu::InstanceDescriptor) -> (wgpu::Instance, Vec<wgpu::Adapter>) {
    let backends = descriptor.backends;
    let instance = wgpu::Instance::new(descriptor);
    let adapters = pollster::block_on(instance.enumerate_adapters(backends));
    (instance, adapters)
}

impl Backend for WgpuBackend {
    fn devices(&self) -> Vec<Arc<dyn Device>> {
        self.list_devices().into_iter().map(|device| device as Arc<dyn Device>).collect()
    }
}

/// Returns the sort key of an API. Vulkan is first because it accepts the compiler's SPIR-V.
const fn api_rank(backend: wgpu::Backend) -> u8 {
    match backend {
        wgpu::Backend::Vulkan => 0,
        wgpu::Backend::Metal => 1,
        wgpu::Backend::Dx12 => 2,
        _ => 3,
    }
}

/// Devices are sorted by the order of this enum.
const _: () = assert!((DeviceKind::DiscreteGpu as u8) < (DeviceKind::Cpu as u8));

#[cfg(test)]
mod tests {
    use super::missing_feature;

    #[test]
    fn adapters_without_compute_shaders_or_buffers_are_skipped() {
        let (compute, none) = (wgpu::DownlevelFlags::COMPUTE_SHADERS, wgpu::DownlevelFlags::empty());
        let limits = |count| wgpu::Limits { max_storage_buffers_per_shader_stage: count, ..wgpu::Limits::default() };
        assert_eq!(missing_feature(compute, &limits(4)), None);
        assert_eq!(missing_feature(none, &limits(4)), Some("no compute shaders"));
        assert_eq!(missing_feature(compute, &limits(3)), Some("fewer than 4 storage buffers per shader"));
    }
}
