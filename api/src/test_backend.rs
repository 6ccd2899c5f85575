//! A backend for tests: host memory, and commands on a thread of the device, which receives them only after a flush.
//! Launches are recorded but do nothing, except that a launch of a kernel named `broken` fails.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use wgcl_compiler::ir;
use wgcl_compiler::launch::LaunchError;
use wgcl_compiler::target::Target;

use crate::backend::{
    Action, Backend, BackendError, BackendResult, Command, Device, DeviceKind, DeviceProperties, HardwareFacts, HostSource, HostTarget,
    KernelUsage, Launch, LoadedProgram, Memory, PreferredGroup, Progress, SvmCapabilities, Times,
};
use crate::host_commands::{self, HostBytes};
use crate::types::host_memory::{HostAllocator, HostRegion};

pub(crate) fn properties(name: &str) -> DeviceProperties {
    DeviceProperties {
        name: name.to_owned(),
        kind: DeviceKind::Cpu,
        vendor_id: 1,
        device_id: 2,
        vendor: "test".to_owned(),
        driver: "test 1".to_owned(),
        api: "Test",
        global_memory: 1 << 30,
        max_allocation: 1 << 28,
        local_memory: 32768,
        max_constant_size: 65536,
        max_constant_args: 8,
        max_group_invocations: 1024,
        max_group_size: [1024, 1024, 64],
        max_groups: [65535; 3],
        base_alignment: 32,
        compute_units: 2,
        subgroup_size: 8,
        max_required_subgroups: u32::MAX,
        preferred_group: PreferredGroup { min_items: 64, max_items: 1024, groups_per_unit: 8 },
        cache: None,
        dedicated_local_memory: false,
        unified_memory: false,
        native_kernels: false,
        svm: SvmCapabilities::COARSE_GRAIN_BUFFER,
        timer_resolution: 1,
        correctly_rounded: true,
        uuid: None,
        pci: None,
    }
}

#[derive(Debug)]
pub(crate) struct TestMemory(pub(crate) Mutex<Vec<u8>>);

impl Memory for TestMemory {
    fn size(&self) -> u64 {
        self.0.lock().len() as u64
    }

    fn host_address(&self) -> Option<usize> {
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl HostBytes for TestMemory {
    type Threads = ();

    fn with_bytes<T>(&self, f: impl FnOnce(&mut [u8]) -> T) -> T {
        f(&mut self.0.lock())
    }
}

/// The arguments of a call of [`LoadedProgram::precompile`].
pub(crate) type Precompiled = (String, Option<[u32; 3]>, Vec<u64>);

#[derive(Debug, Default)]
pub(crate) struct TestProgram {
    /// Kernels whose compilation was requested ahead of their launches.
    pub(crate) precompiled: Mutex<Vec<Precompiled>>,
}

impl LoadedProgram for TestProgram {
    fn precompile(&self, kernel: &str, local_size: Option<[u32; 3]>, constants: &[u64]) {
        self.precompiled.lock().push((kernel.to_owned(), local_size, constants.to_vec()));
    }

    /// Kernels named `refused` cannot be compiled.
    fn kernel_usage(&self, kernel: &str) -> BackendResult<KernelUsage> {
        if kernel == "refused" {
            return Err(LaunchError::Unsupported { kernel: kernel.to_owned(), what: "its name".to_owned() }.into());
        }
        Ok(KernelUsage::default())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

type Item = (Command, Arc<dyn Progress>);

pub(crate) struct TestDevice {
    properties: DeviceProperties,
    target: Target,
    waiting: Mutex<Vec<Item>>,
    sender: Mutex<Sender<Vec<Item>>>,
    pub(crate) refuses_writes: Arc<AtomicBool>,
    pub(crate) refuses_copies: Arc<AtomicBool>,
    /// Whether copies and reads are dropped without a result, as by a lost device.
    pub(crate) drops_copies: Arc<AtomicBool>,
    pub(crate) drops_reads: Arc<AtomicBool>,
    /// The memory that represents all host memory that the copies of this device can access.
    pub(crate) staging: Mutex<Option<Arc<TestMemory>>>,
    /// Commands that were run.
    pub(crate) executed: Arc<AtomicU64>,
    /// The launches among the executed commands.
    pub(crate) launches: Arc<Mutex<Vec<Launch>>>,
}

impl std::fmt::Debug for TestDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TestDevice")
    }
}

fn now() -> u64 {
    static START: OnceLock<std::time::Instant> = OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}

/// Records a launch, or fails if the kernel is named `broken`.
fn record_launch(launch: &Launch, launches: &Mutex<Vec<Launch>>) -> BackendResult<()> {
    if &*launch.kernel == "broken" {
        return Err(BackendError::Other("the kernel is broken".to_owned()));
    }
    launches.lock().push(launch.clone());
    Ok(())
}

impl TestDevice {
    pub(crate) fn new(name: &str) -> Arc<Self> {
        Self::with_images(name, false)
    }

    pub(crate) fn with_images(name: &str, images: bool) -> Arc<Self> {
        Self::changed(name, |_, target| target.language.images = images)
    }

    /// Creates a device with changed properties.
    pub(crate) fn changed(name: &str, change: impl FnOnce(&mut DeviceProperties, &mut Target)) -> Arc<Self> {
        let (mut properties, mut target) = (properties(name), Target::full());
        target.language.images = false;
        change(&mut properties, &mut target);
        let (sender, receiver) = channel::<Vec<Item>>();
        let executed = Arc::new(AtomicU64::new(0));
        let counter = executed.clone();
        let launches = Arc::new(Mutex::new(Vec::new()));
        let recorded = launches.clone();
        let refuses_writes = Arc::new(AtomicBool::new(false));
        let refused = refuses_writes.clone();
        let refuses_copies = Arc::new(AtomicBool::new(false));
        let refused_copies = refuses_copies.clone();
        let (drops_copies, drops_reads) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (dropped_copies, dropped_reads) = (drops_copies.clone(), drops_reads.clone());
        // The test `a_build_without_a_thread_fails` prevents the creation of threads without an explicit stack size.
        let thread = std::thread::Builder::new().stack_size(1 << 21);
        let run = move || {
            for (command, progress) in receiver.into_iter().flatten() {
                let is_dropped = match &command {
                    Command::Once(Action::Copy { .. }) => dropped_copies.load(Ordering::Acquire),
                    Command::Once(Action::Read { .. }) => dropped_reads.load(Ordering::Acquire),
                    _ => false,
                };
                if is_dropped {
                    continue;
                }
                let start = now();
                progress.submitted(start);
                progress.running();
                let result = match &command {
                    Command::Once(Action::Write { .. }) if refused.load(Ordering::Acquire) => {
                        Err(BackendError::Other("the device rejects the write".to_owned()))
                    }
                    Command::Once(Action::Copy { .. }) if refused_copies.load(Ordering::Acquire) => {
                        Err(BackendError::Other("the device rejects the copy".to_owned()))
                    }
                    _ => host_commands::run::<TestMemory>(command, &(), |launch| record_launch(launch, &recorded)),
                };
                counter.fetch_add(1, Ordering::Relaxed);
                progress.complete(result.map(|()| Times { start, end: now() }));
            }
        };
        thread.spawn(run).expect("the thread of the test device");
        Arc::new(Self {
            properties,
            target: target.with_extensions(),
            waiting: Mutex::new(Vec::new()),
            sender: Mutex::new(sender),
            refuses_writes,
            refuses_copies,
            drops_copies,
            drops_reads,
            staging: Mutex::new(None),
            executed,
            launches,
        })
    }
}

impl Device for TestDevice {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn hardware(&self) -> HardwareFacts {
        HardwareFacts { max_clock_mhz: 1, ..HardwareFacts::default() }
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn allocate(&self, size: u64) -> BackendResult<Arc<dyn Memory>> {
        // Uninitialised memory must not look like valid contents.
        Ok(Arc::new(TestMemory(Mutex::new(vec![0xcd; size as usize]))))
    }

    fn import_for_copies(&self, _region: &Arc<dyn HostRegion>, size: u64) -> Option<Arc<dyn Memory>> {
        let staging = self.staging.lock().clone().filter(|memory| memory.size() >= size)?;
        Some(staging)
    }

    fn load(&self, _module: Arc<ir::Module>, _name: Option<crate::cache::Key>) -> BackendResult<Arc<dyn LoadedProgram>> {
        Ok(Arc::new(TestProgram::default()))
    }

    fn enqueue(&self, command: Command, _profile: bool, progress: Arc<dyn Progress>) {
        self.waiting.lock().push((command, progress));
    }

    fn flush(&self) {
        let mut waiting = self.waiting.lock();
        if !waiting.is_empty() {
            let _ = self.sender.lock().send(std::mem::take(&mut waiting));
        }
    }

    fn now(&self) -> u64 {
        now()
    }
}

/// A backend with these devices.
pub(crate) struct TestBackend(pub(crate) Vec<Arc<TestDevice>>);

impl Backend for TestBackend {
    fn devices(&self) -> Vec<Arc<dyn Device>> {
        self.0.iter().map(|device| device.clone() as Arc<dyn Device>).collect()
    }
}

/// Host memory without a valid address.
#[derive(Debug)]
pub(crate) struct TestRegion(pub(crate) Mutex<Vec<u8>>);

#[derive(Debug)]
struct Part(Arc<TestRegion>, std::ops::Range<usize>);

impl HostSource for Part {
    fn with(&self, f: &mut dyn FnMut(&[u8])) {
        f(&self.0.0.lock()[self.1.clone()]);
    }
}

impl HostTarget for Part {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        f(&mut self.0.0.lock()[self.1.clone()]);
    }
}

impl HostRegion for TestRegion {
    fn address(&self) -> usize {
        0x1_0000
    }

    fn source(self: Arc<Self>, offset: u64, size: u64) -> Arc<dyn HostSource> {
        Arc::new(Part(self, offset as usize..(offset + size) as usize))
    }

    fn target(self: Arc<Self>, offset: u64, size: u64) -> Arc<dyn HostTarget> {
        Arc::new(Part(self, offset as usize..(offset + size) as usize))
    }
}

/// Allocates [`TestRegion`]s, and records the last one.
#[derive(Default)]
pub(crate) struct TestAllocator(pub(crate) Mutex<Option<Arc<TestRegion>>>);

impl HostAllocator for TestAllocator {
    fn allocate(&self, size: u64) -> Option<Arc<dyn HostRegion>> {
        let region = Arc::new(TestRegion(Mutex::new(vec![0; size as usize])));
        *self.0.lock() = Some(region.clone());
        Some(region)
    }
}

/// A target for reads that the test can inspect.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sink(pub(crate) Arc<Mutex<Vec<u8>>>);

impl HostTarget for Sink {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        f(&mut self.0.lock());
    }
}
