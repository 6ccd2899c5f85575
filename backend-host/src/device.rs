//! The device: what it says of itself, and its thread.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use wgcl_api::backend::{
    BackendError, BackendResult, Command, Device, DeviceKind, DeviceProperties, LoadedProgram, Memory, PreferredGroup, Progress,
    SvmCapabilities,
};
use wgcl_api::cache::Key;
use wgcl_api::options::Options;
use wgcl_compiler::ir;
use wgcl_compiler::target::{AtomicOrder, Target};
use wgcl_runtime::host;

use crate::engine::{self, Task};
use crate::memory::{GLOBAL_MEMORY, InterpreterMemory, Names};
use crate::program::InterpreterProgram;

/// Bytes of the largest allocation, a quarter of all.
const MAX_ALLOCATION: u64 = 1 << 29;
/// Bytes of work-group memory.
const LOCAL_MEMORY: u32 = 1 << 16;
/// Work-items of a group.
const MAX_GROUP: u32 = 1024;

fn properties() -> DeviceProperties {
    DeviceProperties {
        name: "wgcl interpreter".to_owned(),
        kind: DeviceKind::Cpu,
        vendor_id: 0,
        device_id: 0,
        vendor: "wgcl".to_owned(),
        driver: concat!("interpreter ", env!("CARGO_PKG_VERSION")).to_owned(),
        api: "interpreter",
        global_memory: GLOBAL_MEMORY,
        max_allocation: MAX_ALLOCATION,
        local_memory: LOCAL_MEMORY,
        max_constant_size: 1 << 16,
        max_constant_args: 64,
        max_group_invocations: MAX_GROUP,
        max_group_size: [MAX_GROUP; 3],
        max_groups: [u32::MAX; 3],
        base_alignment: 128,
        compute_units: 1,
        clock_mhz: 0,
        subgroup_size: 1,
        max_required_subgroups: u32::MAX,
        // To it a group is worth no more than its work-items, but what it runs is what CPUs run elsewhere.
        preferred_group: PreferredGroup { least: 64, most: MAX_GROUP, groups_per_unit: 8 },
        cache: host::cache(),
        dedicated_local_memory: false,
        unified_memory: false,
        // A launch has the memory for itself, wherever that is.
        native_kernels: false,
        svm: SvmCapabilities::COARSE_GRAIN_BUFFER,
        timer_resolution: 1,
        correctly_rounded: true,
        uuid: None,
        pci: None,
    }
}

/// All that OpenCL C may have and the interpreter knows.
fn target() -> Target {
    Target::portable().changed(|target| {
        target.language.subgroup_size = 1;
        target.language.subgroup_sizes = 1;
        target.language.atomic_order = AtomicOrder::Total;
        target.language.max_local_memory = LOCAL_MEMORY;
        (target.language.device_clock, target.language.subgroup_clock) = (true, true);
        target.nan_checks = Options::get().checks_nans();
    })
}

/// Nanoseconds since the clock was first looked at.
pub(crate) fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    // One, so that zero keeps its meaning of "not yet".
    1 + u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX - 1)
}

/// The interpreter as a device.
#[derive(Debug)]
pub(crate) struct InterpreterDevice {
    properties: DeviceProperties,
    target: Target,
    names: Arc<Names>,
    thread: OnceLock<Option<Sender<Task>>>,
}

impl InterpreterDevice {
    pub(crate) fn new() -> Self {
        Self { properties: properties(), target: target(), names: Arc::default(), thread: OnceLock::new() }
    }

    /// The thread, started by the first command. `None` if the host has none to give.
    fn thread(&self) -> Option<&Sender<Task>> {
        let start = || {
            let (sender, tasks) = channel();
            let thread = std::thread::Builder::new().name("wgcl-interpreter".to_owned());
            thread.spawn(move || tasks.into_iter().for_each(engine::run)).ok().map(|_| sender)
        };
        self.thread.get_or_init(start).as_ref()
    }
}

impl Device for InterpreterDevice {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn allocate(&self, size: u64) -> BackendResult<Arc<dyn Memory>> {
        if size > MAX_ALLOCATION {
            return Err(BackendError::OutOfDeviceMemory);
        }
        Ok(Arc::new(InterpreterMemory::new(&self.names, size)?))
    }

    fn allocate_shared(&self, size: u64, identity: u32) -> BackendResult<Arc<dyn Memory>> {
        if size > MAX_ALLOCATION {
            return Err(BackendError::OutOfDeviceMemory);
        }
        Ok(Arc::new(InterpreterMemory::of_host(&self.names, size, identity)?))
    }

    fn load(&self, module: Arc<ir::Module>, _name: Option<Key>) -> BackendResult<Arc<dyn LoadedProgram>> {
        Ok(Arc::new(InterpreterProgram::new(module, &self.target, &self.names)?))
    }

    fn enqueue(&self, command: Command, _profile: bool, progress: Arc<dyn Progress>) {
        let refused = match self.thread() {
            Some(thread) => match thread.send(Task { command, progress }) {
                Ok(()) => return,
                Err(error) => error.0.progress,
            },
            None => progress,
        };
        refused.complete(Err(BackendError::DeviceLost("it has no thread".to_owned())));
    }

    fn flush(&self) {
        // Commands run as they come.
    }

    fn now(&self) -> u64 {
        now()
    }
}
