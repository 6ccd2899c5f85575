//! Runs commands: transfers at once, launches as dispatches on one thread or several.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::Mutex;
use wgcl_api::backend::{Action, BackendError, BackendResult, Command, CopyRegion, Launch, Progress, Times};
use wgcl_api::host_commands;
use wgcl_compiler::printf::{BUFFER_SIZE, Table};
use wgcl_compiler::vectorize::abi::LaunchContext;
use wgcl_runtime::workers::Urgency;

use crate::launch::arguments::ArgBlock;
use crate::launch::dispatch::Dispatch;
use crate::memory::host_allocation::Block;
use crate::memory::{CpuMemory, Quota};
use crate::ndrange::{Part, parts};
use crate::program::key::Key;
use crate::program::{CpuProgram, Freedom, Kernel, Pace};
use crate::sanitizer::{self, Checker};
use crate::threads::affinity::Cores;
use crate::threads::thread_pool::Pool;

/// Nanoseconds that a dispatch should take at least on one thread for others to be woken.
const WORTH_SHARING: u64 = 10_000;
/// Nanoseconds that a work-item is taken for before its kernel was launched once.
const UNKNOWN_ITEM: u64 = 1;
/// Pieces in which a dispatch is run alone: in between it is seen whether it takes longer than was thought.
const LOOKS: u64 = 4;
/// Bytes of the stack that every thread has to spare.
const SPARE_STACK: u32 = 256 << 10;
/// Nanoseconds that a command may take for a flush to run it.
const QUICK: u64 = 10_000;
/// Bytes that are moved in that time.
const QUICK_BYTES: u64 = 64 << 10;

/// Nanoseconds since the clock was first looked at.
pub(crate) fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    // One, so that zero keeps its meaning of "not yet".
    1 + u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX - 1)
}

/// On what kind of thread something runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// One of the application's, of whose stack nothing is known.
    Application,
    /// The device's own.
    Device,
}

/// Runs commands, one at a time.
#[derive(Debug)]
pub(crate) struct Engine {
    pool: Pool,
    memory: Arc<Quota>,
    /// What all that runs commands keeps to.
    cores: Option<Cores>,
    /// For what kernels print: made by the first that may.
    printf: Mutex<Option<Block>>,
}

/// The program of a launch.
fn program(launch: &Launch) -> BackendResult<&CpuProgram> {
    launch.program.as_any().downcast_ref().ok_or_else(|| BackendError::Other("a program of another backend".to_owned()))
}

/// Whether the work-items of a kernel may be grouped in any way: not where somebody is told of their groups.
fn is_free(kernel: &Kernel, program: &CpuProgram) -> bool {
    kernel.is_free() && !program.code.machine().style.checked
}

fn items(launch: &Launch) -> u64 {
    launch.global_size.iter().fold(1, |product: u64, &size| product.saturating_mul(size))
}

impl Engine {
    /// Of so many threads, those of the application among them, for kernels that use this memory.
    pub(crate) fn new(threads: usize, memory: Arc<Quota>) -> Self {
        Self { pool: Pool::new(threads, None), memory, cores: None, printf: Mutex::new(None) }
    }

    /// Of a thread for each unit of processors, which keep to them.
    pub(crate) fn of_cores(cores: &Cores, memory: Arc<Quota>) -> Self {
        Self { pool: Pool::new(cores.units(), Some(cores.clone())), memory, cores: Some(cores.clone()), printf: Mutex::new(None) }
    }

    /// What all that runs commands keeps to; threads of the application run none then.
    pub(crate) fn cores(&self) -> Option<&Cores> {
        self.cores.as_ref()
    }

    /// Whether a command is over so soon that no other thread need be woken for it.
    pub(crate) fn is_quick(command: &Command) -> bool {
        let few = |regions: &[CopyRegion]| regions.iter().map(|region| region.size).sum::<u64>() <= QUICK_BYTES;
        match command {
            Command::Nop => true,
            Command::Once(Action::Write { regions, .. } | Action::Read { regions, .. } | Action::Copy { regions, .. }) => few(regions),
            Command::Once(Action::Fill { size, .. }) => *size <= QUICK_BYTES,
            Command::Once(Action::Launch(launch)) => {
                let pace = program(launch).ok().and_then(|program| program.pace(&launch.kernel));
                pace.and_then(|pace| pace.estimate(items(launch))).is_some_and(|estimate| estimate <= QUICK)
            }
            Command::Replay(_) | Command::Host(_) | Command::Wait(_) | Command::Signal(_) => false,
        }
    }

    /// Has the code of a launch made while others are run before it.
    pub(crate) fn prepare(&self, command: &Command) {
        let Command::Once(Action::Launch(launch)) = command else { return };
        let prepare = || -> BackendResult<()> {
            let program = program(launch)?;
            let kernel = program.code.kernel(&launch.kernel)?;
            if !kernel.is_ready() && kernel.is_first_to_begin() {
                let (_, parts) = parts(launch, is_free(kernel, program), self.pool.threads())?;
                if let Some(part) = parts.first() {
                    let key = Key::of_launch(launch, kernel.params(), program.code.machine().style, self.memory.has_far())?.of_part(part);
                    program.code.begin(kernel, key, Urgency::Awaited);
                }
            }
            Ok(())
        };
        // What cannot be launched is told by the launch itself.
        let _ = prepare();
    }

    /// Runs a command and reports.
    pub(crate) fn run(&self, command: Command, progress: &dyn Progress, host: Host) {
        let start = now();
        progress.submitted(start);
        progress.running();
        let execute = || host_commands::run::<CpuMemory>(command, |launch| self.launch(launch, progress, host));
        let result = catch_unwind(AssertUnwindSafe(execute));
        let result = result.unwrap_or_else(|_| Err(BackendError::Other("a defect of the device ended a command".to_owned())));
        progress.complete(result.map(|()| Times { start, end: now() }));
    }

    /// Appends what was printed, and keeps the buffer for the next launch.
    fn take_text(&self, text: &mut Vec<u8>, printed: Option<(Block, Table)>, constants: u64) {
        let Some((mut block, table)) = printed else { return };
        if block.bytes_mut()[..4] != [0; 4] {
            text.extend(table.with_constants_at(constants).text(block.bytes_mut()));
        }
        *self.printf.lock() = Some(block);
    }

    fn launch(&self, launch: &Launch, progress: &dyn Progress, host: Host) -> BackendResult<()> {
        let program = program(launch)?;
        let kernel = program.code.kernel(&launch.kernel)?;
        let (num_groups, parts) = parts(launch, is_free(kernel, program), self.pool.threads())?;
        let common = Key::of_launch(launch, kernel.params(), program.code.machine().style, self.memory.has_far())?;
        let context = context(launch, num_groups, program);
        let mut text = Vec::new();
        // All parts of a launch print into one buffer, which runs full but once.
        let mut printed: Option<(Block, Table)> = None;
        let mut arguments: Option<Arc<ArgBlock>> = None;
        let mut checked = Ok(());
        let common_checks = sanitizer::Common::of(program, num_groups);
        for part in &parts {
            let variant = program.variant(kernel, &common.clone().of_part(part))?;
            if let Some(table) = &variant.printed
                && printed.as_ref().is_none_or(|(_, before)| before != table)
            {
                self.take_text(&mut text, printed.take(), context.constants);
                printed = Some((self.printf_buffer()?, table.clone()));
            }
            let printf = printed.as_ref().map_or(0, |(block, _)| block.address() as u64);
            let arguments = match &arguments {
                Some(arguments) => arguments,
                None => arguments.insert(Arc::new(ArgBlock::new(&variant.args, &launch.args)?)),
            };
            let checker = common_checks
                .as_ref()
                .map(|common| Checker::of(launch, (program, &self.memory), &variant, (part, Arc::clone(common)), arguments));
            let checker = checker.transpose()?;
            let context = LaunchContext {
                printf,
                checker: checker.as_ref().map_or(0, Checker::address),
                group_base: part.base,
                group_count: part.groups,
                ..context
            };
            let dispatch = Arc::new(Dispatch::new(Arc::clone(&variant), context, Arc::clone(arguments)));
            self.execute(dispatch, part, program.pace(&launch.kernel), host)?;
            if let Some(checker) = checker {
                checked = checked.and(checker.result());
            }
        }
        self.take_text(&mut text, printed, context.constants);
        if !text.is_empty() {
            progress.print(&text);
        }
        checked
    }

    /// Runs the groups of a dispatch, on as many threads as it is worth.
    fn execute(&self, dispatch: Arc<Dispatch>, part: &Part, pace: Option<&Pace>, host: Host) -> BackendResult<()> {
        let groups = dispatch.groups();
        let items = part.local_size.iter().fold(groups, |product, &size| product.saturating_mul(size.into()));
        let begin = Instant::now();
        let elapsed = || u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if host == Host::Application && dispatch.stack() > SPARE_STACK {
            return self.pool.share(dispatch, 0..groups, false);
        }
        let estimate = pace.and_then(|pace| pace.estimate(items)).unwrap_or(items.saturating_mul(UNKNOWN_ITEM));
        let mut done = 0;
        if self.pool.threads() == 1 || groups == 1 {
            self.pool.run_alone(&*dispatch, 0..groups)?;
            done = groups;
        } else if estimate < WORTH_SHARING {
            while done < groups && (done == 0 || elapsed() < WORTH_SHARING) {
                let next = (done + groups.div_ceil(LOOKS)).min(groups);
                self.pool.run_alone(&*dispatch, done..next)?;
                done = next;
            }
        }
        let (alone, shared) = (elapsed(), groups - done);
        self.pool.share(dispatch, done..groups, true)?;
        if let Some(pace) = pace {
            let others = if shared == 0 { 0 } else { (elapsed() - alone).saturating_mul(shared.min(self.pool.threads() as u64)) };
            pace.note(items, alone.saturating_add(others));
        }
        Ok(())
    }

    /// A buffer for what a launch prints.
    fn printf_buffer(&self) -> BackendResult<Block> {
        let known = self.printf.lock().take();
        let mut block = known.or_else(|| Block::new(BUFFER_SIZE.into())).ok_or(BackendError::OutOfHostMemory)?;
        // The count of words, with which it begins.
        block.bytes_mut()[..4].fill(0);
        Ok(block)
    }
}

/// `a * b + c` of doubles with one rounding, by their bits.
extern "sysv64" fn fused(a: u64, b: u64, c: u64) -> u64 {
    f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits()
}

/// What all dispatches of a launch share.
fn context(launch: &Launch, num_groups: [u32; 3], program: &CpuProgram) -> LaunchContext {
    let narrow = |sizes: [u64; 3]| sizes.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    let places = program.places();
    LaunchContext {
        constants: places.constant,
        variables: places.global,
        fused: fused as *const () as u64,
        check: sanitizer::ask as *const () as u64,
        num_groups,
        global_size: narrow(launch.global_size),
        global_offset: narrow(launch.global_offset),
        work_dim: launch.work_dim,
        ..LaunchContext::default()
    }
}
