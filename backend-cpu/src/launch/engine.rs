//! Runs commands. A launch is one dispatch per region. Short launches and transfers run on one thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::Mutex;
use wgcl_api::backend::{Action, BackendError, BackendResult, Command, Launch, Progress, Times};
use wgcl_api::host_commands;
use wgcl_api::observe::sanitizer_summary;
use wgcl_compiler::printf::{BUFFER_SIZE, Table};
use wgcl_compiler::project::internal_error;
use wgcl_compiler::vectorize::abi::LaunchContext;
use wgcl_runtime::workers::Urgency;

use crate::launch::arguments::ArgumentBlock;
use crate::launch::dispatch::Dispatch;
use crate::launch::plan::{LaunchPlan, PlanContext, PlannedRegion, program_of};
use crate::launch::subgroups::schedule;
use crate::memory::host_allocation::HostAllocation;
use crate::memory::{CpuMemory, MemoryTracker};
use crate::ndrange::Region;
use crate::program::{CpuProgram, Variant};
use crate::sanitizer::{self, CheckedDispatch, Checker, LaunchState};
use crate::threads::affinity::ComputeUnits;
use crate::threads::thread_pool::ThreadPool;

/// A dispatch runs on several threads if it takes at least this number of nanoseconds on one thread, as estimated or
/// measured.
const MIN_SHARED_TIME: u64 = 10_000;
/// Assumed nanoseconds per work-item of a kernel that has not run yet.
const DEFAULT_ITEM_TIME: u64 = 1;
/// Number of chunks of a dispatch that starts on one thread. After each chunk, the engine checks whether the estimate
/// was too low.
const CHUNKS: u64 = 4;
/// Maximum bytes of stack of a kernel that runs on a thread of the application.
const APPLICATION_STACK: u32 = 256 << 10;
/// Maximum duration in nanoseconds of a command that a flushing thread runs itself.
const QUICK_TIME: u64 = 10_000;
/// Assumed picoseconds per byte of a transfer on one thread.
const COPY_PICOSECONDS: u64 = 150;

/// Nanoseconds since the first call, plus 1.
pub(crate) fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    // Zero is reserved for "no time".
    1 + nanoseconds_since(*START.get_or_init(Instant::now))
}

fn nanoseconds_since(start: Instant) -> u64 {
    // 64 bits are enough for 584 years.
    start.elapsed().as_nanos() as u64
}

/// The kind of thread that runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadKind {
    /// A thread of the application, whose stack may be small.
    Application,
    /// A thread of the device.
    Device,
}

/// The estimated duration of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    /// Whether the command is known to be shorter than the time to wake another thread.
    pub(crate) is_quick: bool,
    /// The duration on the threads of the device, in nanoseconds; 0 if it is not known.
    pub(crate) duration: u64,
}

/// Runs commands, one at a time.
#[derive(Debug)]
pub(crate) struct Engine {
    pool: ThreadPool,
    memory: Arc<MemoryTracker>,
    /// The compute units of a sub-device, to which its threads are bound. `None` for the whole device.
    units: Option<ComputeUnits>,
    /// The printf buffer, allocated by the first launch that needs it.
    printf: Mutex<Option<HostAllocation>>,
}

fn work_items(launch: &Launch) -> u64 {
    launch.global_size.iter().fold(1, |product: u64, &size| product.saturating_mul(size))
}

/// The printf buffer of a launch, and the format strings of the kernel that writes it.
#[derive(Debug)]
struct Printf {
    buffer: HostAllocation,
    formats: Table,
}

/// A region of a launch, and the resources that all regions share.
#[derive(Clone, Copy)]
struct RegionLaunch<'a> {
    launch: &'a Launch,
    program: &'a CpuProgram,
    region: &'a Region,
    variant: &'a Arc<Variant>,
    arguments: &'a Arc<ArgumentBlock>,
    context: LaunchContext,
    thread: ThreadKind,
}

impl Engine {
    /// Creates an engine that runs work-groups on `threads` threads, the calling thread included.
    pub(crate) fn new(threads: usize, memory: Arc<MemoryTracker>) -> Self {
        Self { pool: ThreadPool::new(threads, None), memory, units: None, printf: Mutex::new(None) }
    }

    /// Creates an engine with one thread per compute unit, bound to the units' processors.
    pub(crate) fn of_units(units: &ComputeUnits, memory: Arc<MemoryTracker>) -> Self {
        Self { pool: ThreadPool::new(units.count(), Some(units.clone())), memory, units: Some(units.clone()), printf: Mutex::new(None) }
    }

    /// The compute units of a sub-device; `None` for the whole device. On a sub-device, the queue's own thread runs all
    /// commands. Threads of the application run them only if that thread cannot be created.
    pub(crate) fn units(&self) -> Option<&ComputeUnits> {
        self.units.as_ref()
    }

    /// The estimated duration of a command on one thread, in nanoseconds. `None` if it is not known.
    fn duration_alone(command: &Command) -> Option<u64> {
        let copied = |size: u64| size.saturating_mul(COPY_PICOSECONDS) / 1000;
        match command {
            Command::Nop => Some(0),
            Command::Once(Action::Write { regions, .. } | Action::Read { regions, .. } | Action::Copy { regions, .. }) => {
                Some(copied(regions.iter().fold(0, |sum: u64, region| sum.saturating_add(region.size))))
            }
            Command::Once(Action::Fill { size, .. }) => Some(copied(*size)),
            Command::Once(Action::Launch(launch)) => program_of(launch).ok()?.timing(&launch.kernel)?.estimate(work_items(launch)),
            Command::Replay(_) | Command::Host(_) | Command::Wait(_) | Command::Signal(_) => None,
        }
    }

    pub(crate) fn estimate(&self, command: &Command) -> Estimate {
        let Some(alone) = Self::duration_alone(command) else { return Estimate { is_quick: false, duration: 0 } };
        let duration = if alone < MIN_SHARED_TIME { alone } else { alone / self.pool.threads() as u64 };
        Estimate { is_quick: alone <= QUICK_TIME, duration }
    }

    fn plan_context(&self) -> PlanContext {
        PlanContext { threads: self.pool.threads(), objects: self.memory.object_sizes() }
    }

    /// Plans a launch. If the kernel has no compiled variant, starts the background compilation for the first region.
    /// Returns `None` for other commands, and if the planning fails. The execution then repeats the planning, and
    /// reports the error.
    pub(crate) fn prepare(&self, command: &Command) -> Option<LaunchPlan> {
        let Command::Once(Action::Launch(launch)) = command else { return None };
        let plan = LaunchPlan::new(launch, self.plan_context()).ok()?;
        let code = &program_of(launch).ok()?.code;
        let kernel = code.kernel(&launch.kernel).ok()?;
        if let Some(PlannedRegion { key, .. }) = plan.regions.first()
            && !kernel.is_ready()
            && kernel.claim_background_compilation()
        {
            code.compile_in_background(kernel, key.clone(), Urgency::Awaited);
        }
        Some(plan)
    }

    /// Runs a command, and reports its result. `plan` is the result of [`Self::prepare`].
    pub(crate) fn run(&self, command: Command, mut plan: Option<LaunchPlan>, progress: &dyn Progress, thread: ThreadKind) {
        let start = now();
        progress.submitted(start);
        progress.running();
        let execute = || {
            host_commands::run::<CpuMemory>(command, &self.pool, |launch| {
                // `plan` is `None` for the launches of a command buffer, and for a launch whose planning failed.
                let plan = plan.take().map_or_else(|| LaunchPlan::new(launch, self.plan_context()), Ok)?;
                self.launch(launch, &plan, progress, thread)
            })
        };
        let result = catch_unwind(AssertUnwindSafe(execute));
        let result = result.unwrap_or_else(|_| Err(BackendError::Other(internal_error("the CPU device panicked in a command"))));
        progress.complete(result.map(|()| Times { start, end: now() }));
    }

    fn launch(&self, launch: &Launch, plan: &LaunchPlan, progress: &dyn Progress, thread: ThreadKind) -> BackendResult<()> {
        let program = program_of(launch)?;
        let kernel = program.code.kernel(&launch.kernel)?;
        let context = context(launch, plan, program);
        let mut text = Vec::new();
        // All regions of a launch share one printf buffer, unless their variants have different format strings.
        let mut printf: Option<Printf> = None;
        let mut arguments: Option<Arc<ArgumentBlock>> = None;
        let mut checked = Ok(());
        let checks = program.is_checked().then(|| {
            sanitizer_summary::count_launch(&launch.kernel);
            Arc::new(LaunchState::new(plan.num_groups))
        });
        for PlannedRegion { region, key } in &plan.regions {
            let variant = program.variant(kernel, key)?;
            if let Some(formats) = &variant.printf
                && printf.as_ref().is_none_or(|printf| printf.formats != *formats)
            {
                self.take_text(&mut text, printf.take(), context.constants);
                printf = Some(Printf { buffer: self.printf_buffer()?, formats: formats.clone() });
            }
            let arguments = match &arguments {
                Some(arguments) => arguments,
                None => arguments.insert(Arc::new(ArgumentBlock::new(&variant.args, &launch.args)?)),
            };
            let context = LaunchContext {
                printf: printf.as_ref().map_or(0, |printf| printf.buffer.address() as u64),
                group_base: region.first_group,
                group_count: region.group_count,
                ..context
            };
            let region = RegionLaunch { launch, program, region, variant: &variant, arguments, context, thread };
            match &checks {
                Some(checks) => checked = checked.and(self.launch_checked(region, checks)?),
                None => self.launch_region(region)?,
            }
        }
        self.take_text(&mut text, printf, context.constants);
        if !text.is_empty() {
            progress.print(&text);
        }
        checked
    }

    /// Runs a region with the sanitizer. The outer result is an error if the region cannot run. The inner result is an
    /// error if a finding fails the launch.
    fn launch_checked(&self, region: RegionLaunch<'_>, checks: &Arc<LaunchState>) -> BackendResult<BackendResult<()>> {
        let RegionLaunch { launch, program, variant, context, .. } = region;
        let mut memory: Vec<_> = program.memory_ranges().collect();
        memory.push(region.arguments.range(&variant.args));
        let checker = Checker::new(CheckedDispatch {
            launch,
            region: region.region,
            sites: Arc::clone(&variant.sites),
            arena_size: variant.arena,
            memory,
            objects: self.memory.objects(),
            state: Arc::clone(checks),
            reports: Arc::clone(&program.reports),
        })?;
        self.launch_region(RegionLaunch { context: LaunchContext { checker: checker.address(), ..context }, ..region })?;
        Ok(checker.result())
    }

    /// Runs the groups of a region: on one thread if the dispatch is short, otherwise on all threads of the pool.
    fn launch_region(&self, region: RegionLaunch<'_>) -> BackendResult<()> {
        let RegionLaunch { launch, program, variant, arguments, context, .. } = region;
        let dispatch = Arc::new(Dispatch::new(Arc::clone(variant), context, Arc::clone(arguments)));
        let timing = program.timing(&launch.kernel);
        let groups = dispatch.groups();
        let items = region.region.local_size.iter().fold(groups, |product, &size| product.saturating_mul(size.into()));
        let begin = Instant::now();
        if region.thread == ThreadKind::Application && dispatch.stack() > APPLICATION_STACK {
            return self.pool.share(dispatch, 0..groups, false);
        }
        let estimate = timing.and_then(|timing| timing.estimate(items)).unwrap_or(items.saturating_mul(DEFAULT_ITEM_TIME));
        let mut done = 0;
        if self.pool.threads() == 1 || groups == 1 {
            self.pool.run_alone(&*dispatch, 0..groups)?;
            done = groups;
        } else if estimate < MIN_SHARED_TIME {
            while done < groups && (done == 0 || nanoseconds_since(begin) < MIN_SHARED_TIME) {
                let next = (done + groups.div_ceil(CHUNKS)).min(groups);
                self.pool.run_alone(&*dispatch, done..next)?;
                done = next;
            }
        }
        let (alone, shared) = (nanoseconds_since(begin), groups - done);
        self.pool.share(dispatch, done..groups, true)?;
        if let Some(timing) = timing {
            let threads = shared.min(self.pool.threads() as u64);
            let together = if shared == 0 { 0 } else { (nanoseconds_since(begin) - alone).saturating_mul(threads) };
            timing.record(items, alone.saturating_add(together));
        }
        Ok(())
    }

    /// Appends the printed text to `text`, and stores the buffer for the next launch. `constants` is the address of the
    /// program's constants.
    fn take_text(&self, text: &mut Vec<u8>, printf: Option<Printf>, constants: u64) {
        let Some(Printf { mut buffer, formats }) = printf else { return };
        if buffer.bytes_mut()[..4] != [0; 4] {
            text.extend(formats.with_constants_at(constants).text(buffer.bytes_mut()));
        }
        *self.printf.lock() = Some(buffer);
    }

    /// Returns an empty printf buffer: the buffer of a previous launch, or a new one.
    fn printf_buffer(&self) -> BackendResult<HostAllocation> {
        let known = self.printf.lock().take();
        let mut buffer = known.or_else(|| HostAllocation::new(BUFFER_SIZE.into())).ok_or(BackendError::OutOfHostMemory)?;
        // The buffer begins with the number of words that records requested.
        buffer.bytes_mut()[..4].fill(0);
        Ok(buffer)
    }
}

generated_code_abi! {
    /// Returns the bits of `fma(a, b, c)`. The parameters are the bits of doubles.
    fn fma_bits(a: u64, b: u64, c: u64) -> u64 {
        wgcl_compiler::fma::fma(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c)).to_bits()
    }
}

/// Creates a context with the fields that all regions of a launch share.
fn context(launch: &Launch, plan: &LaunchPlan, program: &CpuProgram) -> LaunchContext {
    let places = program.addresses();
    LaunchContext {
        constants: places.constant,
        variables: places.global,
        fused: fma_bits as *const () as u64,
        check: sanitizer::check_access as *const () as u64,
        scheduler: schedule as *const () as u64,
        num_groups: plan.num_groups,
        global_size: plan.global_size,
        global_offset: plan.global_offset,
        work_dim: launch.work_dim,
        ..LaunchContext::default()
    }
}
