//! The device.

use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use wgcl_api::backend::{BackendResult, Command, Device, DeviceProperties, LoadedProgram, Memory, Progress};
use wgcl_api::cache::Key;
use wgcl_api::host::HostRegion;
use wgcl_codegen::Isa;
use wgcl_compiler::native::subgroup_size;
use wgcl_compiler::target::Target;
use wgcl_compiler::{ir, parallel};
use wgcl_runtime::Expected;

use crate::engine::{self, Engine};
use crate::memory::{CpuMemory, Quota};
use crate::program::{self, Cpu, CpuProgram};
use crate::properties::properties;
use crate::queue::Commands;

/// The host's CPU.
pub(crate) struct CpuDevice {
    properties: DeviceProperties,
    target: Target,
    cpu: Arc<Cpu>,
    quota: Arc<Quota>,
    commands: Commands,
    /// Programs that were found in the cache and are being loaded.
    expected: Mutex<FxHashMap<Key, Expected<Cpu>>>,
}

impl std::fmt::Debug for CpuDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CpuDevice").field("name", &self.properties.name).finish_non_exhaustive()
    }
}

impl CpuDevice {
    /// With instructions of this set. Nothing is started yet.
    pub(crate) fn new(isa: Isa) -> Self {
        // Those that the process's affinity and its control group leave it.
        Self::with(Cpu::new(isa), parallel::cores())
    }

    /// With code of a machine, run by so many threads.
    pub(crate) fn with(cpu: Arc<Cpu>, threads: usize) -> Self {
        let target = Target::cpu().with_subgroups_of(subgroup_size(cpu.isa));
        let target = if cpu.isa == Isa::Sse42 { target.without_fused_fma() } else { target };
        let properties = properties(cpu.isa, threads, &target);
        let quota = Quota::new(properties.global_memory);
        Self {
            properties,
            target,
            cpu,
            commands: Commands::new(Engine::new(threads, Arc::clone(&quota))),
            quota,
            expected: Mutex::default(),
        }
    }
}

impl Device for CpuDevice {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn allocate(&self, size: u64) -> BackendResult<Arc<dyn Memory>> {
        Ok(Arc::new(CpuMemory::new(&self.quota, size)?))
    }

    fn adopt(&self, region: &Arc<dyn HostRegion>, size: u64) -> Option<Arc<dyn Memory>> {
        Some(Arc::new(CpuMemory::of_host(&self.quota, region, size)?))
    }

    fn expect(&self, name: Key) {
        let expected = program::expect(&self.cpu, name, &self.target);
        self.expected.lock().insert(name, expected);
    }

    fn load(&self, module: Arc<ir::Module>, name: Option<Key>) -> BackendResult<Arc<dyn LoadedProgram>> {
        let expected = name.map(|name| {
            let known = self.expected.lock().remove(&name);
            known.unwrap_or_else(|| program::expect(&self.cpu, name, &self.target))
        });
        Ok(Arc::new(CpuProgram::of_module(&self.cpu, module, &self.target, expected)?))
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
