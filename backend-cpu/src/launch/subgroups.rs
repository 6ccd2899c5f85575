//! The scheduler of kernels whose subgroups wait for each other (`wgcl_compiler::vectorize::SubgroupRequest`).
//!
//! The groups of a dispatch run on the *first stack*, that of the thread. While a gang on the first stack waits, the
//! scheduler runs other gangs of the same group on separate stacks. Such a stack starts when a gang waits, runs
//! gangs that have not started, and ends when none is left. So a group whose gangs do not wait uses only the first
//! stack. All stacks of a group belong to one thread, and switch only in calls of the scheduler.
//!
//! # Memory
//! The arena of the thread starts with the arena of the first stack. A stack and an arena for each other gang of a
//! group follow. Their pages are touched only if the stack starts.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::rc::Rc;

use corosensei::stack::{Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use wgcl_compiler::vectorize::abi::{ARENA_ALIGN, LaunchContext, SubgroupRequest, WorkerContext};

use crate::program::Variant;
use crate::program::code::Entry;
use crate::program::fp_environment::DefaultFpEnvironment;

/// Whether subgroups can wait for each other.
pub(crate) const IS_AVAILABLE: bool = true;
/// Bytes of a stack for the scheduler and for signal handlers, in addition to those for the kernel.
const HOST_STACK: u64 = 32 << 10;
/// A gang that waits checks its condition this number of times before it lets other gangs run.
const SPINS: u32 = 64;

/// Where the stacks of a group are in the arena of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// Bytes of the arena of a stack.
    arena: u64,
    /// Bytes of a stack, without its arena.
    stack: u64,
    gangs: u32,
}

impl Places {
    pub(crate) fn of(variant: &Variant) -> Self {
        let align = u64::from(ARENA_ALIGN);
        let stack = (u64::from(variant.stack) + HOST_STACK).next_multiple_of(align);
        Self { arena: variant.arena.next_multiple_of(align), stack, gangs: variant.subgroups }
    }

    /// Bytes of the arena of the thread.
    pub(crate) fn size(&self) -> u64 {
        let others = u64::from(self.gangs.saturating_sub(1));
        self.arena.saturating_add(others.saturating_mul(self.arena.saturating_add(self.stack)))
    }

    /// The offset of the stack with this number in the arena of the thread. The arena of the stack follows it.
    fn stack_offset(&self, number: u32) -> u64 {
        self.arena + u64::from(number) * (self.arena + self.stack)
    }
}

/// The memory of a stack in the arena of a thread.
struct StackMemory {
    start: NonZeroUsize,
    end: NonZeroUsize,
}

// SAFETY: the stack has no guard page. It has the bytes that the code generator computed for the kernel, and
// `HOST_STACK` for the functions of this file, so it cannot overflow.
unsafe impl Stack for StackMemory {
    fn base(&self) -> StackPointer {
        self.end
    }

    fn limit(&self) -> StackPointer {
        self.start
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        let (base, limit) = (self.end.get(), self.start.get());
        corosensei::stack::StackTebFields { StackBase: base, StackLimit: limit, DeallocationStack: limit, GuaranteedStackBytes: 0 }
    }

    // All pages are committed, so the fields do not change.
    #[cfg(windows)]
    fn update_teb_fields(&mut self, _: usize, _: usize) {}
}

/// A stack that runs gangs. Generated code passes its address to [`schedule`].
#[repr(C)]
struct Worker {
    /// The part that generated code reads. It must be the first field.
    context: WorkerContext,
    scheduler: *const Scheduler,
    /// Suspends this stack. Null for the first stack.
    yielder: Cell<*const Yielder<(), ()>>,
    has_gang: Cell<bool>,
    /// The number of the barrier at which the gang waits.
    barrier: Cell<Option<u64>>,
}

/// A stack other than the first one, with the gang that it runs.
struct Fiber {
    number: u32,
    worker: Rc<Worker>,
    coroutine: Coroutine<(), (), (), StackMemory>,
}

/// Runs the gangs of one group after the other, on one thread.
pub(crate) struct Scheduler {
    entry: Entry,
    launch: *const LaunchContext,
    /// The address of the thread's arena.
    memory: u64,
    places: Places,
    /// The current group. `None` before the first gang starts, and after the last gang has ended.
    group: Cell<Option<u64>>,
    /// The first gang that has not started.
    next: Cell<u32>,
    /// Number of gangs that have ended.
    ended: Cell<u32>,
    /// Number of gangs that wait at the barrier.
    arrived: Cell<u32>,
    /// Number of barriers that all gangs have passed.
    barriers: Cell<u64>,
    pauses: Cell<u32>,
    fibers: RefCell<Vec<Fiber>>,
    /// The numbers of stacks that have ended.
    free: RefCell<Vec<u32>>,
    /// Number of stacks that have started.
    stacks: Cell<u32>,
}

impl Scheduler {
    /// Runs a range of work-groups. `memory` is the address of the thread's arena.
    ///
    /// # Safety
    /// The conditions of [`Code::run`](crate::program::code::Code::run) hold. The variant has subgroups. The arena has
    /// [`Places::size`] bytes.
    pub(crate) unsafe fn run(variant: &Variant, launch: &LaunchContext, memory: u64, groups: Range<u64>) {
        let _fp_environment = DefaultFpEnvironment::new();
        let scheduler = Self {
            entry: variant.code.entry(),
            launch,
            memory,
            places: Places::of(variant),
            group: Cell::new(None),
            next: Cell::new(0),
            ended: Cell::new(0),
            arrived: Cell::new(0),
            barriers: Cell::new(0),
            pauses: Cell::new(0),
            fibers: RefCell::default(),
            free: RefCell::default(),
            stacks: Cell::new(0),
        };
        let worker = scheduler.worker(memory);
        variant.code.commit_stack();
        // SAFETY: the caller ensures the conditions.
        unsafe { (scheduler.entry)(launch, Rc::as_ptr(&worker).cast_mut().cast(), groups.start, groups.end) };
    }

    fn worker(&self, arena: u64) -> Rc<Worker> {
        let context = WorkerContext { arena, local: self.memory };
        let (yielder, has_gang, barrier) = (Cell::new(std::ptr::null()), Cell::new(false), Cell::new(None));
        Rc::new(Worker { context, scheduler: self, yielder, has_gang, barrier })
    }

    /// Ends the gang of a stack, and returns the next one. If no gang is left, returns the number of gangs. On the
    /// first stack, all gangs of the group have then ended.
    fn claim(&self, worker: &Worker, group: u64) -> u32 {
        let is_first = worker.yielder.get().is_null();
        if is_first && self.group.get() != Some(group) {
            self.group.set(Some(group));
            self.next.set(0);
            self.ended.set(0);
        } else if worker.has_gang.get() {
            self.ended.set(self.ended.get() + 1);
            self.open_barrier();
        }
        let gang = self.next.get();
        worker.has_gang.set(gang < self.places.gangs);
        if gang < self.places.gangs {
            self.next.set(gang + 1);
            return gang;
        }
        if is_first {
            while !self.fibers.borrow().is_empty() {
                self.run_others();
            }
            self.group.set(None);
        }
        self.places.gangs
    }

    /// Lets other gangs run, from time to time.
    fn pause(&self, worker: &Worker) {
        let pauses = self.pauses.get().wrapping_add(1);
        self.pauses.set(pauses);
        if pauses.is_multiple_of(SPINS) {
            self.switch(worker);
        } else {
            std::hint::spin_loop();
        }
    }

    fn barrier(&self, worker: &Worker) {
        let own = self.barriers.get();
        worker.barrier.set(Some(own));
        self.arrived.set(self.arrived.get() + 1);
        self.open_barrier();
        while self.barriers.get() == own {
            self.switch(worker);
        }
        worker.barrier.set(None);
    }

    /// Lets the gangs at the barrier pass if all other gangs have ended.
    fn open_barrier(&self) {
        if self.arrived.get() > 0 && self.arrived.get() + self.ended.get() == self.places.gangs {
            self.arrived.set(0);
            self.barriers.set(self.barriers.get() + 1);
        }
    }

    fn switch(&self, worker: &Worker) {
        let yielder = worker.yielder.get();
        if yielder.is_null() {
            self.run_others();
        } else {
            // SAFETY: the yielder lives as long as its coroutine runs, and the caller runs in the coroutine.
            unsafe { &*yielder }.suspend(());
        }
    }

    /// Runs each other stack until it waits or ends. Starts a stack if a gang has not started. Called on the first
    /// stack.
    fn run_others(&self) {
        let mut fibers = self.fibers.take();
        fibers.retain_mut(|fiber| fiber.worker.barrier.get() == Some(self.barriers.get()) || self.resume(fiber));
        if self.next.get() < self.places.gangs {
            let mut fiber = self.start();
            if self.resume(&mut fiber) {
                fibers.push(fiber);
            }
        }
        self.fibers.replace(fibers);
    }

    /// Runs a stack until it waits or ends. Returns false if it has ended.
    fn resume(&self, fiber: &mut Fiber) -> bool {
        match fiber.coroutine.resume(()) {
            CoroutineResult::Yield(()) => true,
            CoroutineResult::Return(()) => {
                self.free.borrow_mut().push(fiber.number);
                false
            }
        }
    }

    fn start(&self) -> Fiber {
        let number = self.free.borrow_mut().pop().unwrap_or_else(|| {
            let number = self.stacks.get();
            self.stacks.set(number + 1);
            number
        });
        let start = self.memory + self.places.stack_offset(number);
        let end = start + self.places.stack;
        // Addresses of the arena are not null.
        let address = |address: u64| NonZeroUsize::new(address as usize).unwrap_or(NonZeroUsize::MIN);
        let worker = self.worker(end);
        let (entry, launch, group) = (self.entry, self.launch, self.group.get().unwrap_or(0));
        let own = Rc::clone(&worker);
        let coroutine = Coroutine::with_stack(StackMemory { start: address(start), end: address(end) }, move |yielder, ()| {
            own.yielder.set(yielder);
            // SAFETY: the caller of `Scheduler::run` ensures the conditions. The arena and the stack of this worker are
            // in the arena of the thread, and no other stack uses them.
            unsafe { entry(launch, Rc::as_ptr(&own).cast_mut().cast(), group, group + 1) };
        });
        Fiber { number, worker, coroutine }
    }
}

generated_code_abi! {
    /// The scheduler that generated code calls: see `LaunchContext::scheduler` of `wgcl_compiler::vectorize::abi`.
    pub(crate) fn schedule(worker: *const WorkerContext, request: u64, group: u64) -> u64 {
        // SAFETY: generated code passes the address that it received from `Scheduler::run` or `Scheduler::start`. The
        // context is the first field of a worker.
        let worker = unsafe { &*worker.cast::<Worker>() };
        // SAFETY: the scheduler lives until all stacks have ended.
        let scheduler = unsafe { &*worker.scheduler };
        match request {
            request if request == SubgroupRequest::Claim as u64 => return scheduler.claim(worker, group).into(),
            request if request == SubgroupRequest::Pause as u64 => scheduler.pause(worker),
            _ => scheduler.barrier(worker),
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use wgcl_codegen::Isa;
    use wgcl_compiler::vectorize::abi::{ArgPlaces, LaunchContext, SubgroupRequest, WorkerContext};

    use super::{Places, Scheduler, schedule};
    use crate::memory::arena::Arena;
    use crate::program::Variant;
    use crate::program::code::Code;

    const GANGS: u64 = 9;
    /// The first group of the dispatch.
    const FIRST: u64 = 10;

    /// The state that the test kernel shares with the test. `LaunchContext::args` is its address.
    #[derive(Default)]
    struct State {
        passed: AtomicU64,
        ended: AtomicU64,
        wrong: AtomicU64,
    }

    generated_code_abi! {
        /// Each gang waits for the next one. Then all gangs wait at a barrier, three times.
        unsafe fn chain(launch: *const LaunchContext, worker: *mut WorkerContext, first: u64, end: u64) {
            // SAFETY: the test passes a context, whose `args` is the address of a state.
            let state = unsafe { &*std::ptr::with_exposed_provenance::<State>((*launch).args as usize) };
            for group in first..end {
                loop {
                    let gang = schedule(worker, SubgroupRequest::Claim as u64, group);
                    if gang >= GANGS {
                        break;
                    }
                    while state.passed.load(Ordering::Relaxed) % GANGS != GANGS - 1 - gang {
                        schedule(worker, SubgroupRequest::Pause as u64, 0);
                    }
                    state.passed.fetch_add(1, Ordering::Relaxed);
                    for _ in 0..3 {
                        schedule(worker, SubgroupRequest::Barrier as u64, 0);
                        // Before all gangs arrive, some have not increased `passed`.
                        let all = (group + 1 - FIRST) * GANGS;
                        state.wrong.fetch_add(u64::from(state.passed.load(Ordering::Relaxed) != all), Ordering::Relaxed);
                    }
                    state.ended.fetch_add(1, Ordering::Relaxed);
                }
                // SAFETY: the worker is that of the call.
                let is_first = unsafe { (*worker).arena == (*worker).local };
                let ended = state.ended.load(Ordering::Relaxed);
                state.wrong.fetch_add(u64::from(is_first && ended != (group + 1 - FIRST) * GANGS), Ordering::Relaxed);
            }
        }
    }

    #[test]
    fn gangs_wait_for_later_gangs_and_at_barriers() {
        let variant = Variant {
            code: Code::of_function(chain),
            isa: Isa::SSE42,
            args: ArgPlaces::default(),
            stack: 64 << 10,
            arena: 1000,
            subgroups: GANGS as u32,
            printf: None,
            sites: [].into(),
        };
        let state = State::default();
        let launch = LaunchContext { args: std::ptr::from_ref(&state).expose_provenance() as u64, ..LaunchContext::default() };
        let places = Places::of(&variant);
        let mut arena = Arena::default();
        let memory = arena.reserve(places.size()).expect("memory").arena;
        // SAFETY: the arena has the size that the scheduler needs, and the context is the one that `chain` needs.
        unsafe { Scheduler::run(&variant, &launch, memory, FIRST..FIRST + 20) };
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        assert_eq!((count(&state.ended), count(&state.wrong)), (20 * GANGS, 0));
    }

    #[test]
    fn stacks_do_not_overlap() {
        let places = Places { arena: 256, stack: 1024, gangs: 4 };
        assert_eq!((0..3).map(|number| places.stack_offset(number)).collect::<Vec<_>>(), [256, 1536, 2816]);
        assert_eq!(places.size(), 4096);
    }
}
