//! An OpenCL device on a wgpu adapter. Its properties are known before the device is opened. The first use opens the
//! device.

use std::fmt;
use std::ops::Range;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use wgcl_api::backend::{
    Action, BackendError, BackendResult, Command, CopyRegion, Device, DeviceKind, DeviceProperties, ExportedMemory, ExternalMemory,
    ExternalSemaphore, HardwareFacts, HostTarget, LoadedProgram, Memory, Progress, SharedPayload, Times,
};
use wgcl_api::cache::Key;
use wgcl_api::types::host_memory::HostRegion;
use wgcl_api::types::process;
use wgcl_compiler::emit::Shader;
use wgcl_compiler::ir;
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::layout::ProgramData;
use wgcl_compiler::layout::program_data;
use wgcl_compiler::target::Target;
use wgcl_runtime::shutdown;
use wgcl_runtime::{KernelFacts, PrefetchedProgram};

use crate::adapter::capabilities::Capabilities;
use crate::adapter::properties;
use crate::adapter::settings::Settings;
use crate::gpu::open_device::Gpu;
use crate::host::clock;
use crate::host::process_exit;
use crate::launch::kernel::KernelShader;
use crate::launch::limits::LaunchLimits;
use crate::launch::program::{self, WgpuProgram};
use crate::memory::device_memory::{WgpuMemory, mapped_target};
use crate::memory::pinned::Pinned;
use crate::message::Message;
use crate::queue::device_queue::DeviceQueue;
use crate::queue::engine::Engine;
use crate::submit::completion::{self, CompletionQueue};
use crate::vulkan::queue::VulkanQueue;
use crate::vulkan::semaphores::SharedSemaphore;

/// An OpenCL device on a wgpu adapter.
pub struct WgpuDevice {
    /// Prevents the driver from being unloaded.
    _instance: wgpu::Instance,
    adapter: wgpu::Adapter,
    capabilities: Capabilities,
    properties: DeviceProperties,
    hardware: OnceLock<HardwareFacts>,
    target: Target,
    /// Kinds of external memory that can be imported.
    importable: Vec<ExternalMemory>,
    /// Whether memory can be exported as opaque file descriptors.
    exports_memory: bool,
    /// Kinds of semaphores that can be shared with other APIs.
    shareable: Vec<ExternalSemaphore>,
    open: OnceLock<BackendResult<Open>>,
    /// Fork generation ([`process`]) of the process that listed the device.
    generation: u32,
}

/// State of an opened device.
struct Open {
    gpu: Arc<Gpu>,
    queue: Arc<DeviceQueue>,
    /// Sends to the submission thread.
    messages: Sender<Message>,
    /// Programs that were found in the cache and are being loaded.
    prefetched: Mutex<FxHashMap<Key, PrefetchedProgram<Gpu>>>,
    /// Fork generation ([`process`]) of the process that opened the device.
    generation: u32,
}

/// The reason of a failed call in a forked child.
const FORKED: &str = "the driver belongs to the parent process, and a forked child cannot use it: fork before the first OpenCL call, or \
                      call exec in the child";

fn forked() -> BackendError {
    BackendError::DeviceLost(FORKED.to_owned())
}

impl Open {
    /// Creates memory with contents. The write is ordered before all commands that are enqueued later. Returns `None`
    /// if `bytes` is empty.
    fn initialised(&self, bytes: Vec<u8>) -> BackendResult<Option<Arc<WgpuMemory>>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let size = bytes.len() as u64;
        let memory = WgpuMemory::new(&self.gpu, size, Some(self.messages.clone()))?;
        let dst: Arc<dyn Memory> = Arc::<WgpuMemory>::clone(&memory);
        let regions = vec![CopyRegion { buffer: 0, host: 0, size }];
        let command = Action::Write { dst, src: Arc::new(bytes), regions };
        self.queue.enqueue(command.into(), false, Arc::new(Unobserved));
        Ok(Some(memory))
    }
}

/// The progress of a write without an event: logs a failure.
struct Unobserved;

impl Progress for Unobserved {
    fn submitted(&self, _: u64) {}

    fn running(&self) {}

    fn complete(&self, result: BackendResult<Times>) {
        if let Err(error) = result {
            tracing::error!(
                "the initial values of a program's constants or program-scope variables could not be written, so its kernels read wrong \
                 values: {error}"
            );
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // The submission thread completes submitted work and ends. It is not joined, because it may itself run this
        // destructor.
        let _ = self.messages.send(Message::Quit);
    }
}

impl fmt::Debug for WgpuDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WgpuDevice").field("name", &self.properties.name).field("api", &self.properties.api).finish_non_exhaustive()
    }
}

impl WgpuDevice {
    pub(crate) fn new(instance: &wgpu::Instance, adapter: wgpu::Adapter, settings: Settings) -> Self {
        let capabilities = properties::capabilities(&adapter, settings);
        let target = properties::target(&adapter, capabilities);
        Self {
            _instance: instance.clone(),
            properties: properties::device_properties(&adapter, capabilities, &target),
            hardware: OnceLock::new(),
            target,
            importable: properties::importable(&adapter, capabilities),
            exports_memory: properties::exports_memory(&adapter, capabilities),
            shareable: properties::shareable(&adapter, capabilities),
            capabilities,
            adapter,
            open: OnceLock::new(),
            generation: process::generation(),
        }
    }

    /// Opens the device on the first call, and returns it.
    ///
    /// # Errors
    /// If the device cannot be opened. Also fails in a forked child if the parent opened the device, because the
    /// driver's threads do not exist in the child. On OpenGL ES, it is sufficient that the parent listed the device.
    fn open(&self) -> BackendResult<&Open> {
        let generation = process::generation();
        // Mesa's OpenGL ES driver starts threads when its devices are listed.
        if self.generation != generation && self.adapter.get_info().backend == wgpu::Backend::Gl {
            process_exit::skip_exit_handlers_of_child();
            return Err(forked());
        }
        let open = self.open.get_or_init(|| self.start()).as_ref().map_err(Clone::clone)?;
        if open.generation == generation { Ok(open) } else { Err(forked()) }
    }

    /// Opens the device and starts its threads.
    fn start(&self) -> BackendResult<Open> {
        let gpu = Gpu::open(&self.adapter, self.capabilities)?;
        let (messages, received) = channel();
        let (batches, serials) = channel();
        let completions = Arc::new(CompletionQueue::new(Arc::clone(&gpu)));
        shutdown::note_driver();
        process_exit::register(messages.clone(), self.properties.kind == DeviceKind::Cpu);
        if self.adapter.get_info().backend == wgpu::Backend::Gl {
            process_exit::skip_exit_handlers();
        }
        let spawn = |name: &str, body: Box<dyn FnOnce() + Send>| {
            let running = shutdown::Running::new();
            thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || {
                    body();
                    drop(running);
                })
                .map(drop)
                .map_err(|error| BackendError::Other(format!("cannot start thread {name}: {error}")))
        };
        let completion = Arc::clone(&completions);
        spawn("wgcl-complete", Box::new(move || completion::run(&completion, &serials)))?;
        let limits = LaunchLimits {
            gpu: Arc::clone(&gpu),
            max_groups: self.properties.max_groups,
            busy_invocations: crate::launch::thread_coarsening::busy_invocations(&self.properties),
        };
        // On a CPU, a submission takes processor time from kernels. Some drivers block a submission until the previous
        // one is complete. So small batches are not submitted early.
        let eager = !matches!(self.properties.kind, DeviceKind::Cpu | DeviceKind::Other);
        let queue = DeviceQueue::new(Engine::new(completions, batches, limits, eager), messages.clone());
        let served = Arc::clone(&queue);
        spawn("wgcl-submit", Box::new(move || served.run(&received)))?;
        Ok(Open { gpu, queue, messages, prefetched: Mutex::default(), generation: process::generation() })
    }

    fn vulkan_queue(&self) -> BackendResult<&Arc<VulkanQueue>> {
        let unsupported = || BackendError::Other("semaphores can be shared only on devices with a Vulkan driver".to_owned());
        self.open()?.gpu.vulkan_queue.as_ref().ok_or_else(unsupported)
    }

    /// Loses the device, as a driver does when a kernel hangs. For tests of this crate.
    ///
    /// # Errors
    /// When the device cannot be opened.
    #[doc(hidden)]
    pub fn lose(&self) -> BackendResult<()> {
        let gpu = &self.open()?.gpu;
        gpu.set_lost("lost on request of a test".to_owned());
        gpu.device.destroy();
        Ok(())
    }

    /// Returns the number of pipelines of a program, including failed ones and those that are being created. For tests
    /// of this crate.
    #[doc(hidden)]
    pub fn pipelines(program: &dyn LoadedProgram) -> usize {
        program.as_any().downcast_ref::<WgpuProgram>().map_or(0, |program| program.code.variant_count())
    }

    /// Creates a program whose shaders come from a function instead of the compiler. For tests of this crate.
    ///
    /// # Errors
    /// When the device cannot be opened.
    #[doc(hidden)]
    pub fn load_shaders(
        &self,
        kernels: Vec<(String, Vec<ir::KernelParam>)>,
        specialise: impl Fn(&str, &LaunchKey) -> BackendResult<Shader> + Send + Sync + 'static,
    ) -> BackendResult<Arc<dyn LoadedProgram>> {
        let open = self.open()?;
        let facts = |(name, params)| KernelFacts {
            name,
            params,
            required_group_size: None,
            group_independent: false,
            requires_addresses: false,
            instructions: 0,
        };
        let make = move |kernel: &str, key: &LaunchKey| specialise(kernel, key).map(KernelShader::new);
        Ok(Arc::new(WgpuProgram::of_shaders(&open.gpu, kernels.into_iter().map(facts).collect(), Box::new(make))))
    }
}

impl Device for WgpuDevice {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn has_nvidia_attributes(&self) -> bool {
        properties::has_nvidia_attributes(&self.adapter)
    }

    fn hardware(&self) -> HardwareFacts {
        *self.hardware.get_or_init(|| properties::hardware(&self.adapter))
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn allocate(&self, size: u64) -> BackendResult<Arc<dyn Memory>> {
        let open = self.open()?;
        if size > self.properties.max_allocation {
            return Err(BackendError::OutOfDeviceMemory);
        }
        let memory: Arc<dyn Memory> = WgpuMemory::of_any_size(&open.gpu, size, Some(open.messages.clone()))?;
        Ok(memory)
    }

    fn can_import_host_memory(&self) -> bool {
        self.capabilities.unified && self.capabilities.host_memory.is_some()
    }

    fn import_host_memory(&self, region: &Arc<dyn HostRegion>, size: u64) -> Option<Arc<dyn Memory>> {
        if self.can_import_host_memory() { self.import_for_copies(region, size) } else { None }
    }

    fn import_for_copies(&self, region: &Arc<dyn HostRegion>, size: u64) -> Option<Arc<dyn Memory>> {
        self.capabilities.host_memory?;
        let open = self.open().ok()?;
        let memory: Arc<dyn Memory> = WgpuMemory::import_host(&open.gpu, region, size, open.messages.clone())?;
        Some(memory)
    }

    fn host_visible_target(&self, memory: &Arc<dyn Memory>, range: Range<u64>) -> Option<Arc<dyn HostTarget>> {
        mapped_target(memory, range)
    }

    fn keeps_opengl_context(&self) -> bool {
        self.adapter.get_info().backend != wgpu::Backend::Gl
    }

    fn importable_memory(&self) -> Vec<ExternalMemory> {
        self.importable.clone()
    }

    fn import_memory(&self, kind: ExternalMemory, fd: i32, size: u64) -> BackendResult<Arc<dyn Memory>> {
        let open = self.open()?;
        if size > self.properties.max_allocation || !self.importable.contains(&kind) {
            return Err(BackendError::OutOfDeviceMemory);
        }
        let memory: Arc<dyn Memory> = WgpuMemory::import_fd(&open.gpu, kind, fd, size, open.messages.clone())?;
        Ok(memory)
    }

    fn export_memory(&self, size: u64) -> BackendResult<Option<ExportedMemory>> {
        if !self.exports_memory || size > self.properties.max_allocation {
            return Ok(None);
        }
        let open = self.open()?;
        WgpuMemory::exportable(&open.gpu, size, open.messages.clone()).map(Some)
    }

    fn shareable_semaphores(&self) -> Vec<ExternalSemaphore> {
        self.shareable.clone()
    }

    fn exportable_semaphore(&self, kind: ExternalSemaphore) -> BackendResult<Arc<dyn SharedPayload>> {
        Ok(Arc::new(SharedSemaphore::exportable(self.vulkan_queue()?, kind)?))
    }

    fn import_semaphore(&self, kind: ExternalSemaphore, fd: i32) -> BackendResult<Arc<dyn SharedPayload>> {
        Ok(Arc::new(SharedSemaphore::import_fd(self.vulkan_queue()?, kind, fd)?))
    }

    fn host_region(&self, size: u64) -> Option<Arc<dyn HostRegion>> {
        let open = self.open().ok()?;
        open.gpu.vulkan_queue.as_ref()?;
        if open.gpu.capabilities.unified {
            return None;
        }
        let memory = WgpuMemory::host_allocation(&open.gpu, size, open.messages.clone()).ok()?;
        Some(Arc::new(Pinned::new(memory)?))
    }

    fn prefetch(&self, name: Key) {
        if let Ok(open) = self.open() {
            let prefetched = program::prefetch_program(&open.gpu, name, &self.target);
            open.prefetched.lock().insert(name, prefetched);
        }
    }

    fn load(&self, module: Arc<ir::Module>, name: Option<Key>) -> BackendResult<Arc<dyn LoadedProgram>> {
        let open = self.open()?;
        let ProgramData { constant, global } = program_data(&module, &self.target);
        let prefetched = name.map(|name| {
            let found = open.prefetched.lock().remove(&name);
            found.unwrap_or_else(|| program::prefetch_program(&open.gpu, name, &self.target))
        });
        let mut program = WgpuProgram::of_module(&open.gpu, module, self.target.clone(), prefetched);
        program.constants = open.initialised(constant)?;
        program.variables = open.initialised(global)?;
        Ok(Arc::new(program))
    }

    fn enqueue(&self, command: Command, profile: bool, progress: Arc<dyn Progress>) {
        match self.open() {
            Ok(open) => open.queue.enqueue(command, profile, progress),
            Err(error) => progress.complete(Err(error)),
        }
    }

    fn flush(&self) {
        if let Ok(open) = self.open() {
            open.queue.flush();
        }
    }

    fn flush_until(&self, done: &dyn Fn() -> bool) {
        if let Ok(open) = self.open() {
            open.queue.flush_until(done);
        }
    }

    fn now(&self) -> u64 {
        clock::now()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wgcl_api::backend::Device;

    use super::WgpuDevice;
    use crate::adapter::capabilities::Capabilities;
    use crate::adapter::settings::Settings;
    use crate::backend::WgpuBackend;

    fn first(settings: Settings) -> Arc<WgpuDevice> {
        WgpuBackend::new(settings).list_devices().into_iter().next().expect("a Vulkan device: install mesa-vulkan-drivers")
    }

    /// The portable device tests the code for APIs other than Vulkan, so it must use only wgpu's interface.
    #[test]
    fn a_portable_device_uses_nothing_below_wgpu() {
        let device = first(Settings { portable: true, ..Settings::default() });
        let Capabilities { vulkan_buffers, spirv, vulkan_queue, unified, bar, host_clock: _, addresses, distinct_bindings: _, host_memory } =
            device.capabilities;
        assert_eq!([vulkan_buffers, spirv, vulkan_queue, unified, bar, addresses, host_memory.is_some()], [false; 7]);
        assert!(!device.target().shaders.spirv && !device.properties().unified_memory);
        let open = device.open().expect("an open device");
        assert!(open.gpu.vulkan_queue.is_none(), "the portable device has a Vulkan queue");
        let memory = device.allocate(4096).expect("memory");
        assert!(memory.host_address().is_none(), "the portable device has mapped memory");
        assert!(device.host_region(4096).is_none(), "the portable device accesses host memory");
    }

    /// The Vulkan device uses the paths that the portable device must not use.
    #[test]
    fn a_vulkan_device_uses_the_paths_below_wgpu() {
        let device = first(Settings::default());
        let Capabilities { vulkan_buffers, spirv, vulkan_queue, .. } = device.capabilities;
        assert_eq!([vulkan_buffers, spirv, vulkan_queue], [true; 3]);
        assert!(device.open().expect("an open device").gpu.vulkan_queue.is_some());
    }
}
