//! The device: its properties and its thread.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use parking_lot::Mutex;
use wgcl_api::backend::{
    BackendError, BackendResult, Command, Device, DeviceKind, DeviceProperties, HardwareFacts, LoadedProgram, Memory, PreferredGroup,
    Progress, SvmCapabilities,
};
use wgcl_api::cache::Key;
use wgcl_api::options::Options;
use wgcl_api::types::graphics::HAS_OPENGL;
use wgcl_api::types::process::PerProcess;
use wgcl_compiler::ir;
use wgcl_compiler::target::{AtomicOrder, Target, ValueChecks};
use wgcl_runtime::host;

use crate::engine::{self, Task, now};
use crate::memory::{GLOBAL_MEMORY, InterpreterMemory, ObjectIds};
use crate::program::InterpreterProgram;

/// Maximum allocation size in bytes: a quarter of the memory size.
const MAX_ALLOCATION: u64 = 1 << 29;
/// Local memory size in bytes.
const LOCAL_MEMORY: u32 = 1 << 20;
/// Maximum number of work-items per group.
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
        subgroup_size: 1,
        max_required_subgroups: u32::MAX,
        // The device of the CPU backend has the same values. Kernels therefore run with the same local sizes on both
        // devices.
        preferred_group: PreferredGroup { min_items: 64, max_items: MAX_GROUP, groups_per_unit: 8 },
        cache: host::cache(),
        dedicated_local_memory: false,
        unified_memory: false,
        // A native kernel needs host addresses. Memory objects of this device have none, because launches move their
        // bytes.
        native_kernels: false,
        svm: SvmCapabilities::COARSE_GRAIN_BUFFER,
        timer_resolution: 1,
        correctly_rounded: true,
        uuid: None,
        pci: None,
    }
}

/// Returns the compiler's target, with every optional feature that the interpreter supports.
fn target() -> Target {
    Target::portable().changed(|target| {
        target.inlining.takes_addresses = true;
        if Options::get().inline.as_deref() == Some("0") {
            target.inlining = target.inlining.keeping_all();
        }
        target.language.subgroup_size = 1;
        target.language.subgroup_sizes = 1;
        // The interpreter switches between the work-items of a group after a number of loop iterations.
        target.language.independent_subgroups = true;
        target.language.atomic_order = AtomicOrder::Total;
        target.language.max_local_memory = LOCAL_MEMORY;
        (target.language.device_clock, target.language.subgroup_clock) = (true, true);
        target.value_checks = ValueChecks {
            nans: Options::get().checks_nans(),
            conversions: Options::get().checks_conversions(),
            undefined: Options::get().is_checked(),
        };
        target.language.multisample_images = HAS_OPENGL;
        target.language.extension_changes = Options::get().extension_changes();
    })
}

/// The interpreter as a device.
#[derive(Debug)]
pub(crate) struct InterpreterDevice {
    properties: DeviceProperties,
    target: Target,
    ids: Arc<ObjectIds>,
    /// The queue of the device's thread. `None` until the thread is created.
    thread: Mutex<PerProcess<Option<Sender<Task>>>>,
}

impl InterpreterDevice {
    pub(crate) fn new() -> Self {
        Self { properties: properties(), target: target(), ids: Arc::default(), thread: Mutex::default() }
    }

    /// Sends a command to the device's thread, which the first command starts. If the system refuses to create a
    /// thread, returns the task as the error.
    #[expect(clippy::result_large_err, reason = "the caller handles the unsent task, at most once per device")]
    fn send(&self, task: Task) -> Result<(), Task> {
        let mut thread = self.thread.lock();
        let queue = thread.get_or_insert_with(|| None);
        if queue.is_none() {
            let (sender, tasks) = channel();
            let builder = std::thread::Builder::new().name("wgcl-interpreter".to_owned());
            *queue = builder.spawn(move || tasks.into_iter().for_each(engine::run)).ok().map(|_| sender);
        }
        match queue {
            Some(sender) => sender.send(task).map_err(|error| error.0),
            None => Err(task),
        }
    }
}

impl Device for InterpreterDevice {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn hardware(&self) -> HardwareFacts {
        HardwareFacts { max_clock_mhz: wgcl_runtime::host::clock_mhz(), ..HardwareFacts::default() }
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn allocate(&self, size: u64) -> BackendResult<Arc<dyn Memory>> {
        if size > MAX_ALLOCATION {
            return Err(BackendError::OutOfDeviceMemory);
        }
        Ok(Arc::new(InterpreterMemory::new(&self.ids, size)?))
    }

    fn allocate_shared(&self, size: u64, identity: u32) -> BackendResult<Arc<dyn Memory>> {
        if size > MAX_ALLOCATION {
            return Err(BackendError::OutOfDeviceMemory);
        }
        Ok(Arc::new(InterpreterMemory::of_host(&self.ids, size, identity)?))
    }

    fn load(&self, module: Arc<ir::Module>, _name: Option<Key>) -> BackendResult<Arc<dyn LoadedProgram>> {
        Ok(Arc::new(InterpreterProgram::new(module, &self.target, &self.ids)?))
    }

    fn enqueue(&self, command: Command, _profile: bool, progress: Arc<dyn Progress>) {
        if let Err(refused) = self.send(Task { command, progress }) {
            refused.progress.complete(Err(BackendError::DeviceLost("the interpreter's thread could not be started".to_owned())));
        }
    }

    fn flush(&self) {
        // Commands run without a flush.
    }

    fn now(&self) -> u64 {
        now()
    }
}
