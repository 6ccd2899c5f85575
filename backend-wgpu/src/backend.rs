//! Lists the adapters that become OpenCL devices, in the order of the devices.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use wgcl_api::backend::{Backend, Device, DeviceKind};
use wgcl_api::objects::platform::names_device;
use wgcl_api::options::Options;

use crate::adapter::properties;
use crate::adapter::settings::Settings;
use crate::device::WgpuDevice;
use crate::gpu::self_test;
use crate::host::process_exit;
#[cfg(not(target_vendor = "apple"))]
use crate::vulkan::hal_adapter;

/// Minimum number of storage buffers per shader.
const MIN_STORAGE_BUFFERS: u32 = 4;

/// The devices of one set of drivers.
#[derive(Debug, Default)]
pub struct WgpuBackend {
    settings: Settings,
    /// Whether to use OpenGL ES 3.1 instead of Vulkan, Metal and Direct3D 12.
    gl: bool,
    /// The folder in which the compiler for shader model 6 is searched first.
    compilers: Option<PathBuf>,
}

impl WgpuBackend {
    /// Creates the backend for Vulkan, Metal and Direct3D 12. Loads no driver.
    #[must_use]
    pub const fn new(settings: Settings) -> Self {
        Self { settings, gl: false, compilers: None }
    }

    /// Creates the backend for OpenGL ES (EGL without a window), for GPUs that have no other driver. Loads no driver.
    #[must_use]
    pub const fn gl(settings: Settings) -> Self {
        Self { settings, gl: true, compilers: None }
    }

    /// Searches for `dxcompiler.dll` (Direct3D 12) in this folder first, and then like other libraries.
    #[must_use]
    pub fn with_compilers_in(self, folder: Option<PathBuf>) -> Self {
        Self { compilers: folder, ..self }
    }

    /// Lists the devices, GPUs first, without opening them. Returns an empty list if there is no driver.
    #[must_use]
    pub fn list_devices(&self) -> Vec<Arc<WgpuDevice>> {
        let begin = Instant::now();
        let instances = self.list();
        for (instance, adapters) in &instances {
            tracing::debug!("listed {} adapters in {:?}", adapters.len(), begin.elapsed());
            // A leaked instance keeps the driver loaded. One thread must not unload the driver while another runs the
            // driver's exit handlers.
            process_exit::leak(instance.clone());
        }
        let with_instance = |(instance, adapters): (wgpu::Instance, Vec<wgpu::Adapter>)| {
            adapters.into_iter().map(move |adapter| (instance.clone(), adapter))
        };
        let mut adapters: Vec<_> = instances.into_iter().flat_map(with_instance).collect();
        adapters.retain(|(_, adapter)| {
            let lack = missing_feature(adapter.get_downlevel_capabilities().flags, &adapter.limits());
            lack.inspect(|lack| log_skipped(adapter, lack)).is_none()
        });
        let infos: Vec<_> = adapters.iter().map(|(_, adapter)| adapter.get_info()).collect();
        let mut is_first = first_of_each_device(&infos, Options::get().device.as_deref().unwrap_or_default()).into_iter();
        adapters.retain(|(_, adapter)| {
            let stays = is_first.next().unwrap_or(true);
            if !stays {
                log_skipped(adapter, "another driver or API offers the same device");
            }
            stays
        });
        adapters.retain(|(_, adapter)| adapter.get_info().backend != wgpu::Backend::Dx12 || self_test::passes(adapter));
        adapters.sort_by_key(|(_, adapter)| {
            let info = adapter.get_info();
            (properties::kind(info.device_type), api_rank(&info))
        });
        adapters.into_iter().map(|(instance, adapter)| Arc::new(WgpuDevice::new(&instance, adapter, self.settings))).collect()
    }
}

impl WgpuBackend {
    /// Returns each instance with its adapters. There are no adapters without a driver.
    fn list(&self) -> Vec<(wgpu::Instance, Vec<wgpu::Adapter>)> {
        if self.gl { vec![list_by_wgpu(wgpu::Backends::GL)] } else { list_main_apis(self.compilers.as_deref()) }
    }
}

/// Lists the adapters of Vulkan ([`hal_adapter::adapters`]), and on Windows also those of Direct3D 12.
#[cfg(not(target_vendor = "apple"))]
fn list_main_apis(compilers: Option<&Path>) -> Vec<(wgpu::Instance, Vec<wgpu::Adapter>)> {
    let vulkan = hal_adapter::instance(&descriptor(wgpu::Backends::VULKAN));
    let vulkan = vulkan.map(|instance| {
        let adapters = hal_adapter::adapters(&instance);
        (instance, adapters)
    });
    let direct3d = if cfg!(windows) { list_direct3d(compilers) } else { Vec::new() };
    vulkan.into_iter().chain(direct3d).collect()
}

/// Lists the adapters of Direct3D 12. DXC compiles for shader model 6, with 64-bit integers and `half`, but is not part
/// of Windows. FXC compiles for shader model 5.1. wgpu uses one compiler per instance, and hides adapters whose driver
/// does not support its shader model.
#[cfg(not(target_vendor = "apple"))]
fn list_direct3d(compilers: Option<&Path>) -> Vec<(wgpu::Instance, Vec<wgpu::Adapter>)> {
    let list = |compiler| {
        let mut descriptor = descriptor(wgpu::Backends::DX12);
        descriptor.backend_options.dx12.shader_compiler = compiler;
        list_from(descriptor)
    };
    let beside = compilers.map(|folder| folder.join(DXC)).filter(|path| path.exists());
    let dxc_path = beside.map_or_else(|| DXC.to_owned(), |path| path.to_string_lossy().into_owned());
    let (dxc, mut fxc) = (list(wgpu::Dx12Compiler::DynamicDxc { dxc_path }), list(wgpu::Dx12Compiler::Fxc));
    let is_same = |a: &wgpu::AdapterInfo, b: &wgpu::AdapterInfo| {
        (a.vendor, a.device, &a.name, &a.device_pci_bus_id) == (b.vendor, b.device, &b.name, &b.device_pci_bus_id)
    };
    let listed: Vec<_> = dxc.1.iter().map(wgpu::Adapter::get_info).collect();
    fxc.1.retain(|adapter| !listed.iter().any(|other| is_same(&adapter.get_info(), other)));
    vec![dxc, fxc]
}

/// The file name of the compiler for shader model 6.
#[cfg(not(target_vendor = "apple"))]
const DXC: &str = "dxcompiler.dll";

/// Lists the adapters of Metal, and those of Vulkan drivers that use it.
#[cfg(target_vendor = "apple")]
fn list_main_apis(_: Option<&Path>) -> Vec<(wgpu::Instance, Vec<wgpu::Adapter>)> {
    vec![list_by_wgpu(wgpu::Backends::METAL | wgpu::Backends::VULKAN)]
}

fn descriptor(backends: wgpu::Backends) -> wgpu::InstanceDescriptor {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    descriptor.flags = wgpu::InstanceFlags::empty();
    descriptor
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

pub(crate) fn list_by_wgpu(backends: wgpu::Backends) -> (wgpu::Instance, Vec<wgpu::Adapter>) {
    list_from(descriptor(backends))
}

/// Creates an instance of wgpu and lists its adapters.
fn list_from(descriptor: wgpu::InstanceDescriptor) -> (wgpu::Instance, Vec<wgpu::Adapter>) {
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

/// Returns the sort key of an adapter's API. Vulkan is first because it accepts the compiler's SPIR-V. Mesa's Dozen
/// translates Vulkan to Direct3D 12, so it follows Direct3D.
fn api_rank(info: &wgpu::AdapterInfo) -> u8 {
    match info.backend {
        wgpu::Backend::Vulkan if info.driver == DOZEN => 3,
        wgpu::Backend::Vulkan => 0,
        wgpu::Backend::Metal => 1,
        wgpu::Backend::Dx12 => 2,
        _ => 4,
    }
}

/// The name of Mesa's Vulkan driver for Direct3D 12.
const DOZEN: &str = "Dozen";

/// Returns for each adapter whether it becomes a device, so that each GPU is listed once.
///
/// Several APIs may list the same GPU. Their adapters then have the same vendor and device ID, but may have other
/// names, types and locations. Only the adapters of the first API become devices: one that the user's choice of devices
/// (`WGCL_DEVICE`) names, or the first by [`api_rank`]. Several drivers of one API may list the same GPU. Their
/// adapters have the same location on the PCI bus, or the same name if the location is unknown.
fn first_of_each_device(adapters: &[wgpu::AdapterInfo], choice: &str) -> Vec<bool> {
    let mut by_rank: Vec<usize> = (0..adapters.len()).collect();
    by_rank.sort_by_key(|&index| {
        let info = &adapters[index];
        (!names_device(choice, &properties::name(info)), api_rank(info), properties::kind(info.device_type))
    });
    let mut ranks = FxHashMap::default();
    let mut listed = FxHashSet::default();
    let mut is_first = vec![false; adapters.len()];
    for index in by_rank {
        let info = &adapters[index];
        let location = if info.device_pci_bus_id.is_empty() { &info.name } else { &info.device_pci_bus_id };
        let rank = api_rank(info);
        is_first[index] =
            *ranks.entry((info.vendor, info.device)).or_insert(rank) == rank && listed.insert((info.vendor, info.device, location));
    }
    is_first
}

/// Devices are sorted by [`DeviceKind`], and GPUs must precede CPUs.
const _: () = assert!((DeviceKind::DiscreteGpu as u8) < (DeviceKind::Cpu as u8));

#[cfg(test)]
mod tests {
    use super::{DOZEN, first_of_each_device, missing_feature};

    #[test]
    fn adapters_without_compute_shaders_or_buffers_are_skipped() {
        let (compute, none) = (wgpu::DownlevelFlags::COMPUTE_SHADERS, wgpu::DownlevelFlags::empty());
        let limits = |count| wgpu::Limits { max_storage_buffers_per_shader_stage: count, ..wgpu::Limits::default() };
        assert_eq!(missing_feature(compute, &limits(4)), None);
        assert_eq!(missing_feature(none, &limits(4)), Some("no compute shaders"));
        assert_eq!(missing_feature(compute, &limits(3)), Some("fewer than 4 storage buffers per shader"));
    }

    #[test]
    fn each_gpu_is_listed_once() {
        let adapter = |backend, device_type, device, name: &str, location: &str| {
            let mut info = wgpu::AdapterInfo::new(device_type, backend);
            (info.vendor, info.device, info.name, info.device_pci_bus_id) = (7, device, name.to_owned(), location.to_owned());
            info
        };
        use wgpu::Backend::{Dx12, Vulkan};
        use wgpu::DeviceType::{Cpu, DiscreteGpu};
        let lists = |adapters: &[wgpu::AdapterInfo], expected: &[bool]| assert_eq!(first_of_each_device(adapters, ""), expected);
        // Two APIs that disagree on the type, the name and the location.
        lists(&[adapter(Dx12, DiscreteGpu, 1, "a", "0:1"), adapter(Vulkan, Cpu, 1, "b", "")], &[false, true]);
        // Two GPUs of the same model in two APIs, and a GPU without a Vulkan driver.
        let two = |backend| [adapter(backend, DiscreteGpu, 1, "a", "0:1"), adapter(backend, DiscreteGpu, 1, "a", "0:2")];
        let other = adapter(Dx12, DiscreteGpu, 2, "c", "0:3");
        lists(&[two(Dx12).as_slice(), &two(Vulkan), &[other]].concat(), &[false, false, true, true, true]);
        // Two Vulkan drivers for one GPU.
        lists(&[adapter(Vulkan, DiscreteGpu, 1, "a", "0:1"), adapter(Vulkan, DiscreteGpu, 1, "a (other)", "0:1")], &[true, false]);
        // A Vulkan driver that uses Direct3D.
        let dozen = wgpu::AdapterInfo { driver: DOZEN.to_owned(), ..adapter(Vulkan, DiscreteGpu, 1, "a", "0:1") };
        lists(&[dozen.clone(), adapter(Dx12, DiscreteGpu, 1, "a", "0:1")], &[false, true]);
        lists(&[dozen], &[true]);
        // The user's choice.
        let apis = [adapter(Dx12, DiscreteGpu, 1, "a", "0:1"), adapter(Vulkan, DiscreteGpu, 1, "a", "0:1")];
        assert_eq!(first_of_each_device(&apis, "direct3d 12"), [true, false]);
        assert_eq!(first_of_each_device(&apis, "0,a"), [false, true]);
    }
}
