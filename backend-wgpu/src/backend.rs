//! Which adapters become OpenCL devices, and in which order.

use std::sync::Arc;
use std::time::Instant;

use rustc_hash::FxHashSet;
use wgcl_api::backend::{Backend, Device, DeviceKind};

use crate::adapter::properties;
use crate::device::WgpuDevice;
use crate::host::process_exit;
use crate::vulkan::hal;

/// What can be chosen about the backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Use nothing below wgpu's portable interface: no host addresses, no SPIR-V passthrough, staged transfers. What Metal and DX12 get; a way
    /// to test those paths on Vulkan.
    pub portable: bool,
    /// Treat every device as one with memory of its own: staged transfers even where the host could see the memory.
    pub discrete: bool,
    /// Never write such a device's memory through the bus directly: what devices get whose memory the host does not see.
    pub staged: bool,
}

/// All devices that wgpu reaches by one kind of drivers.
#[derive(Debug, Default)]
pub struct WgpuBackend {
    settings: Settings,
    /// OpenGL ES 3.1, and not what the system has rather.
    gl: bool,
}

impl WgpuBackend {
    /// Vulkan's, Metal's and Direct3D's, with the settings given. Touches no driver.
    #[must_use]
    pub const fn new(settings: Settings) -> Self {
        Self { settings, gl: false }
    }

    /// Those of OpenGL ES, through EGL and without a window: for GPUs that have nothing else. Touches no driver.
    #[must_use]
    pub const fn gl(settings: Settings) -> Self {
        Self { settings, gl: true }
    }

    /// The devices, GPUs first; empty where there is no driver.
    #[must_use]
    pub fn open_devices(&self) -> Vec<Arc<WgpuDevice>> {
        let backends = if self.gl { wgpu::Backends::GL } else { wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12 };
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = backends;
        descriptor.flags = wgpu::InstanceFlags::empty();
        let begin = Instant::now();
        // Elsewhere than on Windows and Apple's systems Vulkan is all there is, but for OpenGL ES.
        let (instance, mut adapters) = if self.gl || cfg!(any(windows, target_vendor = "apple")) {
            let instance = wgpu::Instance::new(descriptor);
            let adapters = pollster::block_on(instance.enumerate_adapters(backends));
            (instance, adapters)
        } else {
            let Some(instance) = hal::instance(&descriptor) else { return Vec::new() };
            let adapters = hal::adapters(&instance);
            (instance, adapters)
        };
        tracing::debug!("{} adapters after {:?}", adapters.len(), begin.elapsed());
        // A driver stays loaded: it must not be unloaded by one thread while another runs its exit handlers.
        process_exit::leak(instance.clone());
        adapters.retain(|adapter| {
            let flags = adapter.get_downlevel_capabilities().flags;
            flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) && adapter.limits().max_storage_buffers_per_shader_stage >= 4
        });
        // One GPU may be offered by two drivers or two APIs: the first in this order stays.
        adapters.sort_by_key(|adapter| {
            let info = adapter.get_info();
            (properties::kind(info.device_type), api_rank(info.backend))
        });
        let mut seen = FxHashSet::default();
        adapters.retain(|adapter| {
            let info = adapter.get_info();
            let place = if info.device_pci_bus_id.is_empty() { info.name } else { info.device_pci_bus_id };
            seen.insert((info.vendor, info.device, place))
        });
        adapters.into_iter().map(|adapter| Arc::new(WgpuDevice::new(&instance, adapter, self.settings))).collect()
    }
}

impl Backend for WgpuBackend {
    fn devices(&self) -> Vec<Arc<dyn Device>> {
        self.open_devices().into_iter().map(|device| device as Arc<dyn Device>).collect()
    }
}

/// Vulkan first: it is the one whose SPIR-V is ours.
const fn api_rank(backend: wgpu::Backend) -> u8 {
    match backend {
        wgpu::Backend::Vulkan => 0,
        wgpu::Backend::Metal => 1,
        wgpu::Backend::Dx12 => 2,
        _ => 3,
    }
}

/// The order of kinds is the order of devices.
const _: () = assert!((DeviceKind::DiscreteGpu as u8) < (DeviceKind::Cpu as u8));
