//! The device, and its parts.

mod processor;
pub(crate) mod properties;
mod topology;

use std::ops::Range;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use wgcl_api::backend::{BackendResult, Command, CopyRegion, Device, DeviceProperties, HostTarget, LoadedProgram, Memory, Progress};
use wgcl_api::cache::Key;
use wgcl_api::host_commands::HostBytes;
use wgcl_api::objects::device::partition::Division;
use wgcl_api::options::Options;
use wgcl_api::types::host_memory::HostRegion;
use wgcl_codegen::Isa;
use wgcl_compiler::target::Target;
use wgcl_compiler::vectorize::{Style, subgroup_size, subgroup_sizes};
use wgcl_compiler::{ir, parallel};
use wgcl_runtime::{Expected, Program};

use crate::device::properties::properties;
use crate::device::topology::divisions;
use crate::launch::engine::{self, Engine};
use crate::launch::queue::Commands;
use crate::memory::{CpuMemory, Quota, host_visible_target};
use crate::program::{self, Cpu, CpuProgram};
use crate::threads::affinity::Cores;

/// A module, and the code that one of the devices has made of it.
type MadeCode = (Weak<ir::Module>, Weak<Program<Cpu>>);

/// What the device and its parts have in common.
struct Common {
    target: Target,
    cpu: Arc<Cpu>,
    quota: Arc<Quota>,
    /// Programs that were found in the cache and are being loaded.
    expected: Mutex<FxHashMap<Key, Expected<Cpu>>>,
    /// The code of modules, which is the same for all of them.
    codes: Mutex<Vec<MadeCode>>,
}

impl Common {
    /// The code of a module, if one of the devices has it.
    fn code_of(&self, module: &Arc<ir::Module>) -> Option<Arc<Program<Cpu>>> {
        let mut codes = self.codes.lock();
        codes.retain(|(module, code)| module.strong_count() > 0 && code.strong_count() > 0);
        codes.iter().find(|(known, _)| known.as_ptr() == Arc::as_ptr(module)).and_then(|(_, code)| code.upgrade())
    }

    fn load(&self, module: &Arc<ir::Module>, name: Option<Key>) -> BackendResult<CpuProgram> {
        if let Some(code) = self.code_of(module) {
            return CpuProgram::of_code(code, module);
        }
        let expected = name.map(|name| {
            let known = self.expected.lock().remove(&name);
            known.unwrap_or_else(|| program::expect(&self.cpu, name, &self.target))
        });
        let program = CpuProgram::of_module(&self.cpu, Arc::clone(module), &self.target, expected)?;
        self.codes.lock().push((Arc::downgrade(module), Arc::downgrade(&program.code)));
        Ok(program)
    }
}

/// The host's CPU, or some of its cores.
pub(crate) struct CpuDevice {
    properties: DeviceProperties,
    common: Arc<Common>,
    /// What its compute units are; `None` where threads keep to no processors.
    cores: Option<Cores>,
    commands: Commands,
}

impl std::fmt::Debug for CpuDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CpuDevice").field("name", &self.properties.name).field("cores", &self.cores).finish_non_exhaustive()
    }
}

impl CpuDevice {
    /// With instructions of this set. Kernels are checked if the options say so. Nothing is started yet.
    pub(crate) fn new(isa: Isa) -> Self {
        // Those that the process's affinity and its control group leave it.
        Self::with(Cpu::new(Style { isa, checked: Options::get().is_checked() }), parallel::cores())
    }

    /// With code of a machine, run by so many threads.
    pub(crate) fn with(cpu: Arc<Cpu>, threads: usize) -> Self {
        let sizes = subgroup_sizes(cpu.style);
        let asked = Options::get().subgroup_size().filter(|size| sizes & size != 0);
        let target = Target::cpu().with_subgroups_of(asked.unwrap_or(subgroup_size(cpu.style)), sizes);
        let target = Target { nan_checks: cpu.style.checked && Options::get().checks_nans(), ..target };
        let target = if cpu.style.isa == Isa::Sse42 { target.without_fused_fma() } else { target };
        let properties = properties(cpu.style.isa, threads, &target);
        let quota = Quota::new(properties.global_memory);
        let commands = Commands::new(Engine::new(threads, Arc::clone(&quota)));
        let common = Common { target, cpu, quota, expected: Mutex::default(), codes: Mutex::default() };
        Self { properties, common: Arc::new(common), cores: Cores::of_this_thread(threads), commands }
    }

    /// A device of some of its cores.
    pub(crate) fn of_units(&self, units: &[u32]) -> Option<Self> {
        let cores = self.cores.as_ref()?.part(units)?;
        let mut properties = self.properties.clone();
        properties.compute_units = u32::try_from(cores.units()).unwrap_or(u32::MAX);
        let commands = Commands::new(Engine::of_cores(&cores, Arc::clone(&self.common.quota)));
        Some(Self { properties, common: Arc::clone(&self.common), cores: Some(cores), commands })
    }
}

impl Device for CpuDevice {
    fn checks_kernels(&self) -> bool {
        self.common.cpu.style.checked
    }

    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn target(&self) -> &Target {
        &self.common.target
    }

    fn allocate(&self, size: u64) -> BackendResult<Arc<dyn Memory>> {
        Ok(Arc::new(CpuMemory::new(&self.common.quota, size)?))
    }

    fn can_import_host_memory(&self) -> bool {
        true
    }

    fn import_host_memory(&self, region: &Arc<dyn HostRegion>, size: u64) -> Option<Arc<dyn Memory>> {
        Some(Arc::new(CpuMemory::of_host(&self.common.quota, region, size)?))
    }

    fn write_immediately(&self, memory: &dyn Memory, offset: u64, bytes: &[u8]) -> bool {
        let region = CopyRegion { buffer: offset, host: 0, size: bytes.len() as u64 };
        memory.as_any().downcast_ref::<CpuMemory>().is_some_and(|memory| memory.write(bytes, region).is_ok())
    }

    fn host_visible_target(&self, memory: &Arc<dyn Memory>, range: Range<u64>) -> Option<Arc<dyn HostTarget>> {
        host_visible_target(memory, range)
    }

    fn is_divisible(&self) -> bool {
        self.cores.is_some()
    }

    fn affinity_divisions(&self) -> Vec<Division> {
        self.cores.as_ref().map(divisions).unwrap_or_default()
    }

    fn sub_device(&self, units: &[u32]) -> Option<Arc<dyn Device>> {
        Some(Arc::new(self.of_units(units)?))
    }

    fn prefetch(&self, name: Key) {
        let expected = program::expect(&self.common.cpu, name, &self.common.target);
        self.common.expected.lock().insert(name, expected);
    }

    fn load(&self, module: Arc<ir::Module>, name: Option<Key>) -> BackendResult<Arc<dyn LoadedProgram>> {
        Ok(Arc::new(self.common.load(&module, name)?))
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
