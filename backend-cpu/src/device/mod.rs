//! The device and its sub-devices.
//!
//! A sub-device shares memory and compiled code with the device. It has its own command queue, and threads bound to its
//! processors.

mod processor;
pub(crate) mod properties;
mod topology;

use std::ops::Range;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use wgcl_api::backend::{
    BackendResult, Command, CopyRegion, Device, DeviceProperties, HardwareFacts, HostTarget, LoadedProgram, Memory, Progress,
};
use wgcl_api::cache::Key;
use wgcl_api::options::Options;
use wgcl_api::types::affinity::Division;
use wgcl_api::types::graphics::HAS_OPENGL;
use wgcl_api::types::host_memory::HostRegion;
use wgcl_codegen::Isa;
use wgcl_compiler::ir;
use wgcl_compiler::target::{Target, ValueChecks};
use wgcl_compiler::vectorize::{Style, subgroup_size, subgroup_sizes};
use wgcl_runtime::{PrefetchedProgram, Program};

use crate::device::properties::properties;
use crate::device::topology::divisions;
use crate::launch::engine::{self, Engine};
use crate::launch::queue::CommandQueue;
use crate::launch::subgroups::IS_AVAILABLE;
use crate::launch::transfer;
use crate::memory::{CpuMemory, MemoryTracker, host_visible_target};
use crate::program::{self, Cpu, CpuProgram};
use crate::threads::affinity::{self, ComputeUnits};

/// A module, and its code that a device has compiled.
struct ModuleCode {
    module: Weak<ir::Module>,
    code: Weak<Program<Cpu>>,
}

/// The state that the device and its sub-devices share.
struct SharedState {
    target: Target,
    cpu: Arc<Cpu>,
    memory: Arc<MemoryTracker>,
    /// Programs that are being loaded from the disk cache, by cache key.
    prefetched: Mutex<FxHashMap<Key, PrefetchedProgram<Cpu>>>,
    /// The code of each module, shared by the device and its sub-devices.
    codes: Mutex<Vec<ModuleCode>>,
}

impl SharedState {
    /// The code of a module, or `None` if neither the device nor a sub-device has compiled it.
    fn code_of(&self, module: &Arc<ir::Module>) -> Option<Arc<Program<Cpu>>> {
        let mut codes = self.codes.lock();
        codes.retain(|known| known.module.strong_count() > 0 && known.code.strong_count() > 0);
        codes.iter().find(|known| known.module.as_ptr() == Arc::as_ptr(module)).and_then(|known| known.code.upgrade())
    }

    fn load(&self, module: &Arc<ir::Module>, name: Option<Key>) -> BackendResult<CpuProgram> {
        if let Some(code) = self.code_of(module) {
            return CpuProgram::of_code(code, module);
        }
        let prefetched = name.map(|name| {
            let found = self.prefetched.lock().remove(&name);
            found.unwrap_or_else(|| program::prefetch_program(&self.cpu, name, &self.target))
        });
        let program = CpuProgram::of_module(&self.cpu, Arc::clone(module), &self.target, prefetched)?;
        self.codes.lock().push(ModuleCode { module: Arc::downgrade(module), code: Arc::downgrade(&program.code) });
        Ok(program)
    }
}

/// The CPU, or a sub-device with some of its compute units.
pub(crate) struct CpuDevice {
    properties: DeviceProperties,
    shared: Arc<SharedState>,
    /// The processors of each compute unit; `None` if the system cannot bind threads.
    units: Option<ComputeUnits>,
    commands: CommandQueue,
}

impl std::fmt::Debug for CpuDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CpuDevice").field("name", &self.properties.name).field("units", &self.units).finish_non_exhaustive()
    }
}

impl CpuDevice {
    /// Creates the device. Kernels are compiled for `isa`. `WGCL_CHECK` enables the sanitizer. Starts no thread.
    pub(crate) fn new(isa: Isa) -> Self {
        Self::with(Cpu::new(Style { isa, checked: Options::get().is_checked() }), affinity::cores())
    }

    /// Creates a device that runs kernels of `cpu` on `threads` threads.
    pub(crate) fn with(cpu: Arc<Cpu>, threads: usize) -> Self {
        let sizes = subgroup_sizes(cpu.style);
        let requested = Options::get().subgroup_size().filter(|size| sizes & size != 0);
        let target = Target::cpu().with_subgroups_of(subgroup_size(cpu.style), sizes);
        let target = match requested {
            Some(size) => target.with_requested_subgroups_of(size),
            None => target,
        };
        let (nans, conversions) = (Options::get().checks_nans(), Options::get().checks_conversions());
        let value_checks = if cpu.style.checked { ValueChecks { nans, conversions, undefined: true } } else { ValueChecks::NONE };
        let target = Target { value_checks, marks_async_copies: cpu.style.checked, ..target };
        let target = if cpu.style.checked || !IS_AVAILABLE { target.without_independent_subgroups() } else { target };
        let target = if !cpu.style.isa.caps().has_fma_f64 { target.without_fused_fma() } else { target };
        let target = if Options::get().inline.as_deref() == Some("0") {
            Target { inlining: target.inlining.keeping_all(), ..target }
        } else {
            target
        };
        let target = target.changed(|target| {
            target.language.extension_changes = Options::get().extension_changes();
            target.language.multisample_images = HAS_OPENGL;
        });
        let properties = properties(cpu.style.isa, threads, &target);
        let memory = MemoryTracker::new(properties.global_memory);
        let commands = CommandQueue::new(Engine::new(threads, Arc::clone(&memory)));
        let shared = SharedState { target, cpu, memory, prefetched: Mutex::default(), codes: Mutex::default() };
        Self { properties, shared: Arc::new(shared), units: ComputeUnits::of_this_thread(threads), commands }
    }

    /// Creates a sub-device of the compute units with these indices. Returns `None` if an index is out of range or the
    /// units are unknown.
    pub(crate) fn with_units(&self, units: &[u32]) -> Option<Self> {
        let units = self.units.as_ref()?.subset(units)?;
        let mut properties = self.properties.clone();
        properties.compute_units = u32::try_from(units.count()).unwrap_or(u32::MAX);
        let commands = CommandQueue::new(Engine::of_units(&units, Arc::clone(&self.shared.memory)));
        Some(Self { properties, shared: Arc::clone(&self.shared), units: Some(units), commands })
    }
}

impl Device for CpuDevice {
    fn checks_kernels(&self) -> bool {
        self.shared.cpu.style.checked
    }

    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn hardware(&self) -> HardwareFacts {
        HardwareFacts { max_clock_mhz: wgcl_runtime::host::clock_mhz(), ..HardwareFacts::default() }
    }

    fn target(&self) -> &Target {
        &self.shared.target
    }

    fn allocate(&self, size: u64) -> BackendResult<Arc<dyn Memory>> {
        Ok(Arc::new(CpuMemory::new(&self.shared.memory, size)?))
    }

    fn can_import_host_memory(&self) -> bool {
        true
    }

    fn import_host_memory(&self, region: &Arc<dyn HostRegion>, size: u64) -> Option<Arc<dyn Memory>> {
        Some(Arc::new(CpuMemory::of_host(&self.shared.memory, region, size)?))
    }

    fn write_immediately(&self, memory: &dyn Memory, offset: u64, bytes: &[u8]) -> bool {
        let region = CopyRegion { buffer: offset, host: 0, size: bytes.len() as u64 };
        // Only the commands of the device may use its threads.
        memory.as_any().downcast_ref::<CpuMemory>().is_some_and(|memory| transfer::write(memory, None, bytes, &[region]).is_ok())
    }

    fn host_visible_target(&self, memory: &Arc<dyn Memory>, range: Range<u64>) -> Option<Arc<dyn HostTarget>> {
        host_visible_target(memory, range)
    }

    fn supports_partitioning(&self) -> bool {
        self.units.is_some()
    }

    fn affinity_divisions(&self) -> Vec<Division> {
        self.units.as_ref().map(divisions).unwrap_or_default()
    }

    fn sub_device(&self, units: &[u32]) -> Option<Arc<dyn Device>> {
        Some(Arc::new(self.with_units(units)?))
    }

    fn prefetch(&self, name: Key) {
        let prefetched = program::prefetch_program(&self.shared.cpu, name, &self.shared.target);
        self.shared.prefetched.lock().insert(name, prefetched);
    }

    fn load(&self, module: Arc<ir::Module>, name: Option<Key>) -> BackendResult<Arc<dyn LoadedProgram>> {
        Ok(Arc::new(self.shared.load(&module, name)?))
    }

    fn enqueue(&self, command: Command, _profile: bool, progress: Arc<dyn Progress>) {
        self.commands.enqueue(command, progress);
    }

    fn flush(&self) {
        self.commands.flush();
    }

    fn flush_until(&self, done: &dyn Fn() -> bool) {
        self.commands.flush_until(done);
    }

    fn now(&self) -> u64 {
        engine::now()
    }
}
