//! The backends that the options select: wgpu, the host's CPU, the interpreter.

use std::sync::Arc;

use wgcl_api::backend::{Backend, Device, DeviceKind};
use wgcl_api::objects::platform::{is_device_type, names_device};
use wgcl_api::options::Options;
use wgcl_backend_host::InterpreterBackend;
use wgcl_backend_wgpu::{Settings, WgpuBackend};

use crate::{gpu_probe, lifetime};

/// The default of `WGCL_CPU`: enabled if the code generator supports this processor.
const CPU_BY_DEFAULT: bool = cfg!(all(any(unix, windows), any(target_arch = "x86_64", target_arch = "aarch64")));

/// The selected backends.
pub(crate) struct Backends {
    wgpu: Option<WgpuBackend>,
    /// The OpenGL ES backend. It is slow to start, so it is queried only if [`Backends::wants_gl`] returns true.
    gl: Option<WgpuBackend>,
    cpu: Option<Box<dyn Backend>>,
    interpreter: Option<InterpreterBackend>,
    /// Whether the system refuses executable memory. If it does, launches on Vulkan drivers for CPUs may also fail,
    /// because these drivers generate machine code.
    refuses_executable_memory: bool,
    /// The value of `WGCL_DEVICE`.
    choice: Option<String>,
}

impl Backends {
    /// Creates the backends that the options select, without loading a driver.
    pub(crate) fn of(options: &Options) -> Self {
        let interpreter = options.interpreter.as_deref();
        let only_interpreter = interpreter == Some("only");
        let wants_cpu = !only_interpreter && options.cpu.as_deref().map_or(CPU_BY_DEFAULT, is_on);
        let (cpu, refuses_executable_memory) = if wants_cpu { cpu(options) } else { (None, false) };
        let interpreter = match interpreter {
            // The option is not set. If the CPU device is wanted but not available, the interpreter replaces it.
            None => wants_cpu && cpu.is_none(),
            Some(word) => word != "0",
        };
        // Without a GPU, the only Vulkan drivers are those for CPUs. The CPU device replaces them, unless the options
        // name a device.
        let drivers = !only_interpreter && (cpu.is_none() || options.device.is_some() || gpu_probe::may_have_gpu());
        if !drivers && !only_interpreter {
            tracing::info!("no Vulkan driver is loaded: /dev contains no GPU");
        }
        Self {
            wgpu: drivers.then(|| WgpuBackend::new(settings(options)).with_compilers_in(lifetime::library_folder())),
            gl: drivers.then(|| WgpuBackend::gl(settings(options))),
            cpu,
            interpreter: interpreter.then_some(InterpreterBackend),
            refuses_executable_memory,
            choice: options.device.clone(),
        }
    }

    /// Whether to list OpenGL ES devices as well. Returns true in three cases: the machine may have a GPU but none was
    /// found, no device was found, or `WGCL_DEVICE` names an unknown device.
    fn wants_gl(&self, found: &[Arc<dyn Device>]) -> bool {
        let is_gpu = |device: &Arc<dyn Device>| device.properties().kind < DeviceKind::Cpu;
        let lacks_gpu = !found.iter().any(is_gpu) && gpu_probe::has_gpu();
        let named = self.choice.iter().flat_map(|choice| choice.split(','));
        let mut unknown = named.filter(|part| {
            part.trim().parse::<usize>().is_err()
                && !is_device_type(part)
                && !found.iter().any(|device| names_device(part, &device.properties().name))
        });
        lacks_gpu || (found.is_empty() && self.cpu.is_none()) || unknown.any(|part| !part.trim().is_empty())
    }

    /// Replaces the Vulkan and OpenGL ES devices of type CPU with the CPU device, except those that `WGCL_DEVICE`
    /// names. In the list, the CPU device follows the GPUs.
    fn with_cpu(&self, mut devices: Vec<Arc<dyn Device>>, cpu: Vec<Arc<dyn Device>>) -> Vec<Arc<dyn Device>> {
        let is_named =
            |device: &Arc<dyn Device>| self.choice.as_ref().is_some_and(|choice| names_device(choice, &device.properties().name));
        devices.retain(|device| {
            let stays = device.properties().kind != DeviceKind::Cpu || is_named(device);
            if !stays {
                tracing::info!("skipped device {}: the CPU device replaces it", device.properties().name);
            }
            stays
        });
        let place = devices.iter().position(|device| device.properties().kind >= DeviceKind::Cpu).unwrap_or(devices.len());
        devices.splice(place..place, cpu);
        devices
    }
}

impl Backend for Backends {
    fn devices(&self) -> Vec<Arc<dyn Device>> {
        let mut devices = self.wgpu.as_ref().map(WgpuBackend::devices).unwrap_or_default();
        let cpu = self.cpu.as_ref().map(|cpu| cpu.devices());
        let all: Vec<_> = devices.iter().chain(cpu.iter().flatten()).cloned().collect();
        if let Some(gl) = self.gl.as_ref().filter(|_| self.wants_gl(&all)) {
            devices.extend(gl.devices());
        }
        if let Some(cpu) = cpu {
            devices = self.with_cpu(devices, cpu);
        }
        let interpreter = self.interpreter.iter().flat_map(InterpreterBackend::devices);
        let first_cpu = devices.iter().position(|device| device.properties().kind >= DeviceKind::Cpu);
        let place = first_cpu.filter(|_| self.refuses_executable_memory).unwrap_or(devices.len());
        devices.splice(place..place, interpreter);
        devices
    }
}

/// Creates the CPU backend, if this processor can be a device. The flag reports whether the system refused executable
/// memory.
#[cfg(all(any(unix, windows), any(target_arch = "x86_64", target_arch = "aarch64")))]
fn cpu(options: &Options) -> (Option<Box<dyn Backend>>, bool) {
    use wgcl_backend_cpu::{CpuBackend, Unavailable, isa_named};

    let limit = options.cpu_isa.as_deref().and_then(isa_named);
    match CpuBackend::new(limit) {
        Ok(backend) => (Some(Box::new(backend)), false),
        Err(why) => {
            tracing::warn!("the CPU device is not available: {why}");
            (None, matches!(why, Unavailable::ExecutableMemory(_)))
        }
    }
}

/// Creates the CPU backend, if this processor can be a device. The flag reports whether the system refused executable
/// memory.
#[cfg(not(all(any(unix, windows), any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn cpu(_: &Options) -> (Option<Box<dyn Backend>>, bool) {
    tracing::warn!("the CPU device is not available: it requires an x86-64 or AArch64 processor, and Windows or a Unix system");
    (None, false)
}

/// Returns the settings of wgpu devices.
fn settings(options: &Options) -> Settings {
    Settings { portable: options.portable.as_deref().is_some_and(is_on), ..Settings::default() }
}

/// Whether the value of an option enables the option.
fn is_on(value: &str) -> bool {
    value == "1"
}
