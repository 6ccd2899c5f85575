//! Eight threads make random calls of every kind at the same time, with their own objects and shared objects, through
//! the loader.
//!
//! `WGCL_STRESS_STEPS` is the number of steps of each thread, `WGCL_FUZZ_SEED` the seed. Each thread compares its own
//! data with a model. A run longer than `WGCL_STRESS_SECONDS` is a hang, and the process exits.

mod common;

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::ffi::{
    CL_COMPLETE, CL_CONTEXT_REFERENCE_COUNT, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_FALSE, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_READ_WRITE,
    CL_MEM_SIZE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CL_RUNNING, CL_SUBMITTED, CL_SUCCESS, CL_TRUE,
    cl_buffer_region, cl_event, cl_int, cl_mem,
};
use common::objects::{Context, Event, Mem, Program, Queue};
use common::random::{Random, setting};
use common::{info, target};

const THREADS: usize = 8;
const WORDS: usize = 256;
const BYTES: usize = WORDS * 4;
const SOURCE: &str = "
    kernel void add(global uint *a, uint n) { a[get_global_id(0)] += n; }
    kernel void touch(global uint *a, local uint *l) { l[get_local_id(0)] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = l[0] | 1; }";

/// Objects that all threads use.
struct Shared {
    context: Context,
    program: Program,
    queues: Vec<Queue>,
    mems: Vec<Mem>,
    called: AtomicUsize,
    registered: AtomicUsize,
}

unsafe extern "C" fn called(event: cl_event, status: cl_int, data: *mut c_void) {
    assert!(!event.is_null() && status <= CL_SUBMITTED);
    // SAFETY: the shared state, which lives until all callbacks have run.
    unsafe { &*data.cast::<Shared>() }.called.fetch_add(1, Ordering::SeqCst);
}

unsafe extern "C" fn destroyed(_mem: cl_mem, data: *mut c_void) {
    // SAFETY: as above.
    unsafe { &*data.cast::<Shared>() }.called.fetch_add(1, Ordering::SeqCst);
}

/// One thread. All words of its own buffer have the same known value. It keeps the events of its latest commands.
struct Worker<'a> {
    shared: &'a Shared,
    number: usize,
    random: Random,
    own: Mem,
    value: u32,
    /// The last command on the thread's own buffer.
    last: Option<Event>,
    events: VecDeque<Event>,
    scratch: Vec<Vec<u32>>,
    queues: Vec<Queue>,
}

impl Worker<'_> {
    fn queue(&mut self) -> &Queue {
        let all = self.shared.queues.len() + self.queues.len();
        let index = self.random.below(all);
        self.shared.queues.get(index).unwrap_or_else(|| &self.queues[index - self.shared.queues.len()])
    }

    /// Stores an event, so that later commands of this thread can wait for it.
    fn keep(&mut self, event: cl_event) {
        self.events.push_back(Event(event));
        if self.events.len() > 24 {
            self.events.pop_front();
        }
    }

    fn some_events(&mut self) -> Vec<cl_event> {
        let count = self.random.below(4).min(self.events.len());
        (0..count).map(|_| self.events[self.random.below(self.events.len())].0).collect()
    }

    fn register(&self, event: cl_event, state: cl_int) {
        self.shared.registered.fetch_add(1, Ordering::SeqCst);
        let data = std::ptr::from_ref(self.shared).cast_mut().cast();
        assert_eq!(target().cl.clSetEventCallback(event, state, Some(called), data), CL_SUCCESS);
    }

    fn last(&self) -> Vec<cl_event> {
        self.last.iter().map(|event| event.0).collect()
    }

    /// Enqueues a command on the thread's own buffer, which waits for the last command on it.
    fn change(&mut self) {
        let cl = &target().cl;
        let n = self.random.below(1000) as u32;
        let wait = self.last();
        let (count, list) = (wait.len() as u32, if wait.is_empty() { null() } else { wait.as_ptr() });
        let (mut event, kind) = (null_mut(), self.random.below(4));
        let (own, queue) = (self.own.0, self.queue().0);
        match kind {
            0 => {
                let status = cl.clEnqueueFillBuffer(queue, own, (&raw const n).cast(), 4, 0, BYTES, count, list, &mut event);
                assert_eq!(status, CL_SUCCESS);
                self.value = n;
            }
            1 => {
                self.scratch.push(vec![n; WORDS]);
                let source = self.scratch.last().map_or(null(), |words| words.as_ptr());
                let status = cl.clEnqueueWriteBuffer(queue, own, CL_FALSE, 0, BYTES, source.cast(), count, list, &mut event);
                assert_eq!(status, CL_SUCCESS);
                self.value = n;
            }
            _ => {
                let kernel = self.shared.program.kernel("add");
                kernel.set_mem(0, &self.own);
                assert_eq!(kernel.set(1, &n), CL_SUCCESS);
                let status = cl.clEnqueueNDRangeKernel(queue, kernel.0, 1, null(), &WORDS, null(), count, list, &mut event);
                assert_eq!(status, CL_SUCCESS);
                self.value = self.value.wrapping_add(n);
            }
        }
        assert_eq!(cl.clRetainEvent(event), CL_SUCCESS);
        self.keep(event);
        self.last = Some(Event(event));
    }

    fn check(&mut self) {
        let cl = &target().cl;
        let wait = self.last();
        let (count, list) = (wait.len() as u32, if wait.is_empty() { null() } else { wait.as_ptr() });
        let mut words = [0u32; WORDS];
        let (own, queue) = (self.own.0, self.queue().0);
        if self.random.below(2) == 0 {
            let status = cl.clEnqueueReadBuffer(queue, own, CL_TRUE, 0, BYTES, words.as_mut_ptr().cast(), count, list, null_mut());
            assert_eq!(status, CL_SUCCESS);
        } else {
            let mut status = 1;
            let mut unmapped = null_mut();
            let mapped = cl.clEnqueueMapBuffer(queue, own, CL_TRUE, CL_MAP_READ, 0, BYTES, count, list, null_mut(), &mut status);
            assert_eq!(status, CL_SUCCESS);
            // SAFETY: the buffer is mapped, and has that many words.
            unsafe { std::ptr::copy_nonoverlapping(mapped.cast::<u32>(), words.as_mut_ptr(), WORDS) };
            assert_eq!(cl.clEnqueueUnmapMemObject(queue, own, mapped, 0, null(), &mut unmapped), CL_SUCCESS);
            self.last = Some(Event(unmapped));
        }
        assert_eq!(words, [self.value; WORDS]);
        // All earlier commands on the buffer are complete, so no command reads this memory any more.
        self.scratch.clear();
    }

    /// Enqueues commands on shared buffers, whose contents are unknown.
    fn disturb(&mut self) {
        let cl = &target().cl;
        let wait = self.some_events();
        let (count, list) = (wait.len() as u32, if wait.is_empty() { null() } else { wait.as_ptr() });
        let (one, two) = (self.random.below(4), 4 + self.random.below(4));
        let (one, two) = (self.shared.mems[one].0, self.shared.mems[two].0);
        let (mut event, kind) = (null_mut(), self.random.below(5));
        let queue = self.queue().0;
        let pattern = [1u8; 128];
        let status = match kind {
            0 => cl.clEnqueueCopyBuffer(queue, one, two, 0, 0, BYTES, count, list, &mut event),
            1 => cl.clEnqueueFillBuffer(queue, one, pattern.as_ptr().cast(), 128, 0, BYTES, count, list, &mut event),
            2 => cl.clEnqueueMarkerWithWaitList(queue, count, list, &mut event),
            3 => cl.clEnqueueBarrierWithWaitList(queue, count, list, &mut event),
            _ => {
                let kernel = self.shared.program.kernel("touch");
                assert_eq!(kernel.set(0, &one), CL_SUCCESS);
                assert_eq!(cl.clSetKernelArg(kernel.0, 1, BYTES, null()), CL_SUCCESS);
                cl.clEnqueueNDRangeKernel(queue, kernel.0, 1, null(), &WORDS, &32, count, list, &mut event)
            }
        };
        assert_eq!(status, CL_SUCCESS);
        self.keep(event);
    }

    /// Creates and releases objects.
    fn churn(&mut self) {
        let cl = &target().cl;
        match self.random.below(6) {
            0 => {
                let mem = self.shared.context.buffer(4096);
                self.shared.registered.fetch_add(1, Ordering::SeqCst);
                let data = std::ptr::from_ref(self.shared).cast_mut().cast();
                assert_eq!(cl.clSetMemObjectDestructorCallback(mem.0, Some(destroyed), data), CL_SUCCESS);
                let region = cl_buffer_region { origin: 1024, size: 1024 };
                let mut status = 1;
                let part = Mem(cl.clCreateSubBuffer(mem.0, CL_MEM_READ_WRITE, 0x1220, (&raw const region).cast(), &mut status));
                assert_eq!(status, CL_SUCCESS);
                drop(mem);
                let size: usize = info(|size, value, ret| cl.clGetMemObjectInfo(part.0, CL_MEM_SIZE, size, value, ret)).expect("its size");
                assert_eq!(size, 1024);
                let (word, queue) = (7u32, self.queue().0);
                let status = cl.clEnqueueFillBuffer(queue, part.0, (&raw const word).cast(), 4, 0, 1024, 0, null(), null_mut());
                assert_eq!(status, CL_SUCCESS);
            }
            1 => {
                let properties = [0, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE][self.random.below(3)];
                let queue = self.shared.context.queue(properties);
                self.queues.push(queue);
                if self.queues.len() > 3 {
                    self.queues.remove(0);
                }
            }
            2 => {
                let context = Context::new();
                let (queue, mem) = (context.queue(0), context.buffer(64));
                queue.write(&mem, &[5u32; 16]);
                assert_eq!(queue.read::<u32>(&mem, 16), [5; 16]);
            }
            3 => {
                let program = self.shared.context.build("kernel void k(global int *a) { a[0] = 1; }");
                drop(program.kernel("k"));
            }
            4 => {
                let context = self.shared.context.0;
                assert_eq!(cl.clRetainContext(context), CL_SUCCESS);
                let count: u32 =
                    info(|size, value, ret| cl.clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, size, value, ret)).expect("a count");
                assert!(count >= 2);
                assert_eq!(cl.clReleaseContext(context), CL_SUCCESS);
            }
            _ => {
                // Map a buffer for writing, and unmap it. Each thread has its own region, because regions that are
                // mapped for writing must not overlap.
                let at = self.number * 64;
                let (mut status, mut event) = (1, null_mut());
                let place = self.random.below(8);
                let (mem, queue) = (self.shared.mems[place].0, self.queue().0);
                let mapped =
                    cl.clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, at, 64, 0, null(), null_mut(), &mut status);
                assert_eq!(status, CL_SUCCESS);
                assert_eq!(cl.clEnqueueUnmapMemObject(queue, mem, mapped, 0, null(), &mut event), CL_SUCCESS);
                self.keep(event);
            }
        }
    }

    /// Makes calls that wait, register callbacks, query events, or use user events.
    fn watch(&mut self) {
        let cl = &target().cl;
        match self.random.below(6) {
            0 => {
                let events = self.some_events();
                if !events.is_empty() {
                    assert_eq!(cl.clWaitForEvents(events.len() as u32, events.as_ptr()), CL_SUCCESS);
                }
            }
            1 => {
                for event in self.some_events() {
                    let state = [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE][self.random.below(3)];
                    self.register(event, state);
                }
            }
            2 => {
                let queue = self.queue().0;
                assert_eq!(if self.random.below(3) == 0 { cl.clFinish(queue) } else { cl.clFlush(queue) }, CL_SUCCESS);
            }
            3 => {
                for event in self.some_events() {
                    let status: cl_int =
                        info(|size, value, ret| cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, size, value, ret))
                            .expect("a status");
                    assert!((0..=3).contains(&status), "{status}");
                }
            }
            _ => {
                // A user event blocks a marker for a moment. This thread completes the user event.
                let mut status = 1;
                let gate = Event(cl.clCreateUserEvent(self.shared.context.0, &mut status));
                assert_eq!(status, CL_SUCCESS);
                self.register(gate.0, CL_COMPLETE);
                let mut event = null_mut();
                // Set the status immediately, because another thread may wait for it in clFinish.
                let queue = self.queue().0;
                assert_eq!(cl.clEnqueueMarkerWithWaitList(queue, 1, &gate.0, &mut event), CL_SUCCESS);
                assert_eq!(cl.clSetUserEventStatus(gate.0, CL_COMPLETE), CL_SUCCESS);
                self.keep(event);
            }
        }
    }

    fn run(&mut self, steps: u64) {
        for _ in 0..steps {
            match self.random.below(10) {
                0..=3 => self.change(),
                4 => self.check(),
                5 | 6 => self.disturb(),
                7 => self.churn(),
                _ => self.watch(),
            }
        }
        self.check();
        for queue in &self.queues {
            queue.finish();
        }
    }
}

#[test]
fn eight_threads_call_everything_at_once() {
    let (steps, seed) = (setting("WGCL_STRESS_STEPS", 150), setting("WGCL_FUZZ_SEED", 1));
    let limit = setting("WGCL_STRESS_SECONDS", 240);
    target();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(limit));
        eprintln!("the threads are not done after {limit} s: a thread hangs");
        std::process::abort();
    });
    let context = Context::new();
    let shared = Shared {
        program: context.build(SOURCE),
        queues: [0, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE]
            .map(|properties| context.queue(properties))
            .into(),
        mems: (0..8).map(|_| context.buffer(BYTES)).collect(),
        called: AtomicUsize::new(0),
        registered: AtomicUsize::new(0),
        context,
    };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let shared = &shared;
            scope.spawn(move || {
                let own = shared.context.buffer(BYTES);
                shared.queues[0].write(&own, &[0u32; WORDS]);
                let mut worker = Worker {
                    shared,
                    number: thread,
                    random: Random(seed * 1000 + thread as u64),
                    own,
                    value: 0,
                    last: None,
                    events: VecDeque::new(),
                    scratch: Vec::new(),
                    queues: Vec::new(),
                };
                worker.run(steps);
            });
        }
    });
    for queue in &shared.queues {
        queue.finish();
    }
    let begin = Instant::now();
    let counts = || (shared.called.load(Ordering::SeqCst), shared.registered.load(Ordering::SeqCst));
    while counts().0 < counts().1 && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(counts().0, counts().1, "callbacks that were called, and registered callbacks");
}
