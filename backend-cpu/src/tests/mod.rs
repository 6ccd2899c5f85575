//! Tests of launches. The kernels are Rust functions with the interface of generated code.

#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use wgcl_api::backend::{
    Action, BackendError, BackendResult, Command, CopyRegion, Device, HostTarget, HostWork, Launch, LaunchArg, LoadedProgram, Memory,
    MemoryRange, Progress, Times,
};
use wgcl_codegen::Isa;
use wgcl_compiler::ir::{Global, GlobalVar, KernelParam, Module, Reloc, Space};
use wgcl_compiler::vectorize::abi::{ArgPlace, ArgPlaces, LaunchContext, NativeKernel, WorkerContext};
use wgcl_runtime::{Artifact, KernelFacts};

use crate::device::CpuDevice;
use crate::program::code::{Code, Entry};
use crate::program::key::VariantKey;
use crate::program::{CompiledKernel, Cpu, CpuProgram, InitializedMemory, initialized_memory};

use system::{bind_this_thread, processors_of_this_thread, thread_number};

/// The words of the buffer that is the kernel's only argument.
unsafe fn words(launch: *const LaunchContext) -> *mut u32 {
    // SAFETY: the argument block begins with the address of the buffer.
    unsafe { std::ptr::with_exposed_provenance_mut(*std::ptr::with_exposed_provenance::<usize>((*launch).args as usize)) }
}

generated_code_abi! {
    /// Adds `1 + 100 * num_groups` to the word of each work-item. A group has `LOCAL` work-items. `ENQUEUED` is the
    /// enqueued local size.
    unsafe fn count<const LOCAL: u32, const ENQUEUED: u32>(
        launch: *const LaunchContext,
        worker: *mut WorkerContext,
        first: u64,
        end: u64,
    ) {
        // SAFETY: the tests pass a buffer with a word per work-item, and an arena.
        unsafe {
            assert!((*worker).arena != 0 && (*worker).arena.is_multiple_of(128));
            for group in first..end {
                let start = ((*launch).group_base[0] + group as u32) * ENQUEUED + (*launch).global_offset[0];
                for item in start..start + LOCAL {
                    *words(launch).add(item as usize) += 1 + 100 * (*launch).num_groups[0];
                }
            }
        }
    }
}

generated_code_abi! {
    /// Sleeps for each group, and stores the thread's number to the group's word.
    unsafe fn slow(launch: *const LaunchContext, _: *mut WorkerContext, first: u64, end: u64) {
        for group in first..end {
            thread::sleep(Duration::from_millis(1));
            // SAFETY: the tests pass a buffer with a word per group.
            unsafe { *words(launch).add(group as usize) = thread_number() };
        }
    }
}

generated_code_abi! {
    /// Sleeps for each group, and stores the number of processors in the thread's affinity mask to the group's word.
    unsafe fn cores(launch: *const LaunchContext, _: *mut WorkerContext, first: u64, end: u64) {
        for group in first..end {
            thread::sleep(Duration::from_millis(1));
            // SAFETY: the tests pass a buffer with a word per group.
            unsafe { *words(launch).add(group as usize) = processors_of_this_thread().len() as u32 };
        }
    }
}

generated_code_abi! {
    /// Sleeps for each group, and stores the first 32 bits of the thread's affinity mask to the group's word.
    unsafe fn processors(launch: *const LaunchContext, _: *mut WorkerContext, first: u64, end: u64) {
        for group in first..end {
            thread::sleep(Duration::from_millis(1));
            // SAFETY: the tests pass a buffer with a word per group.
            unsafe { *words(launch).add(group as usize) = bits() };
        }
    }
}

/// The first 32 bits of the thread's affinity mask.
fn bits() -> u32 {
    processors_of_this_thread().into_iter().filter(|&processor| processor < 32).fold(0, |bits, processor| bits | 1 << processor)
}

/// The functions, by kernel name, local size and enqueued local size in dimension 0.
const FUNCTIONS: [(&str, [u32; 2], Entry); 9] = [
    ("count", [64, 64], count::<64, 64>),
    ("count", [40, 64], count::<40, 64>),
    ("count", [256, 256], count::<256, 256>),
    ("count", [16, 16], count::<16, 16>),
    ("count", [8, 16], count::<8, 16>),
    ("slow", [1, 1], slow),
    ("large_stack", [1, 1], slow),
    ("cores", [1, 1], cores),
    ("processors", [1, 1], processors),
];

fn map(kernel: &NativeKernel) -> BackendResult<Code> {
    Ok(Code::of_function(FUNCTIONS[usize::from(kernel.code[0])].2))
}

/// Compiles a kernel to one byte of code: the index of its function in `FUNCTIONS`.
fn compile(kernel: &str, key: &VariantKey) -> BackendResult<CompiledKernel> {
    let size = [key.kernel.local_size[0], key.kernel.enqueued_local_size[0]];
    let missing = || BackendError::Other(format!("no function `{kernel}` for {size:?}"));
    let function = FUNCTIONS.iter().position(|(name, sizes, _)| *name == kernel && *sizes == size).ok_or_else(missing)?;
    Ok(CompiledKernel::new(NativeKernel {
        code: vec![function as u8],
        stack: if kernel == "large_stack" { 1 << 20 } else { 0 },
        arena: 1 << 16,
        args: ArgPlaces { places: vec![ArgPlace::Address { offset: 0 }], size: 128 },
        ..NativeKernel::default()
    }))
}

fn device(threads: usize) -> (Arc<CpuDevice>, impl Fn(bool) -> Arc<dyn LoadedProgram>) {
    let cpu = Cpu::of_functions(map);
    let program = {
        let cpu = Arc::clone(&cpu);
        move |group_independent: bool| -> Arc<dyn LoadedProgram> {
            let params = vec![KernelParam::Buffer { space: Space::Global, read_only: false, restrict: false }];
            let facts = |name: &str| KernelFacts {
                name: name.to_owned(),
                params: params.clone(),
                required_group_size: None,
                group_independent,
                requires_addresses: false,
                instructions: 0,
            };
            Arc::new(CpuProgram::of_kernels(
                &cpu,
                ["count", "slow", "large_stack", "cores", "processors"].map(facts).to_vec(),
                Box::new(compile),
            ))
        }
    };
    (Arc::new(CpuDevice::with(cpu, threads)), program)
}

#[derive(Default)]
struct Done(Mutex<Option<BackendResult<Times>>>, Condvar);

impl Progress for Done {
    fn submitted(&self, _: u64) {}

    fn running(&self) {}

    fn complete(&self, result: BackendResult<Times>) {
        *self.0.lock() = Some(result);
        self.1.notify_all();
    }
}

impl Done {
    fn is_done(&self) -> bool {
        self.0.lock().is_some()
    }

    fn wait(&self) -> BackendResult<Times> {
        let mut result = self.0.lock();
        while result.is_none() {
            assert!(!self.1.wait_for(&mut result, Duration::from_secs(60)).timed_out(), "the command does not complete");
        }
        result.clone().expect("a result")
    }
}

fn enqueue(device: &CpuDevice, command: impl Into<Command>) -> Arc<Done> {
    let done = Arc::new(Done::default());
    device.enqueue(command.into(), false, done.clone());
    done
}

fn run(device: &CpuDevice, command: impl Into<Command>) -> BackendResult<Times> {
    let done = enqueue(device, command);
    device.flush_until(&|| done.is_done());
    done.wait()
}

#[derive(Clone, Debug)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl HostTarget for Sink {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        f(&mut self.0.lock());
    }
}

fn zeros(device: &CpuDevice, words: u64) -> Arc<dyn Memory> {
    let memory = device.allocate(4 * words).expect("memory");
    run(device, Action::Fill { dst: memory.clone(), pattern: vec![0], offset: 0, size: 4 * words }).expect("a fill");
    memory
}

fn contents(device: &CpuDevice, memory: &Arc<dyn Memory>) -> Vec<u32> {
    let sink = Sink(Arc::new(Mutex::new(vec![0; memory.size() as usize])));
    let regions = vec![CopyRegion { buffer: 0, host: 0, size: memory.size() }];
    run(device, Action::Read { src: memory.clone(), dst: Arc::new(sink.clone()), regions }).expect("a read");
    let bytes = sink.0.lock();
    bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn launch(program: &Arc<dyn LoadedProgram>, kernel: &str, memory: &Arc<dyn Memory>, [offset, global, local]: [u32; 3]) -> Action {
    let range = MemoryRange { memory: memory.clone(), offset: 0, size: memory.size(), start: 0, identity: 0x1_0000, read_only: false };
    Action::Launch(Launch {
        program: program.clone(),
        kernel: kernel.into(),
        args: vec![LaunchArg::Buffer(Some(range))],
        extra: Vec::new(),
        work_dim: 1,
        global_offset: [offset.into(), 0, 0],
        global_size: [global.into(), 1, 1],
        local_size: [local, 1, 1],
    })
}

#[test]
fn every_work_item_runs_once_for_all_groupings() {
    for threads in [1, 2, 5] {
        let (device, program) = device(threads);
        for (free, global, groups) in [(false, 1000, 63), (true, 1000, 16), (true, 1 << 20, 4096), (false, 1 << 16, 4096)] {
            let memory = zeros(&device, u64::from(global) + 16);
            let program = program(free);
            for _ in 0..3 {
                run(&device, launch(&program, "count", &memory, [16, global, 16])).expect("a launch");
            }
            let words = contents(&device, &memory);
            assert!(words[..16].iter().all(|&word| word == 0));
            let expected = 3 * (1 + 100 * groups);
            assert!(words[16..].iter().all(|&word| word == expected), "{threads} threads, {global} of {groups} groups: {:?}", &words[..64]);
        }
    }
}

/// Without FMA, built-in functions use another argument reduction. Therefore, the target must report FMA correctly.
#[test]
fn fused_fma_is_reported_for_instruction_sets_with_fma() {
    for (isa, fused) in [(Isa::SSE42, false), (Isa::AVX2, true), (Isa::AVX512, true)] {
        assert_eq!(CpuDevice::new(isa).target().language.fused_fma, fused, "{isa:?}");
    }
}

#[test]
fn long_launches_use_all_threads_except_kernels_with_a_large_stack() {
    let (device, program) = device(3);
    let memory = zeros(&device, 40);
    let program = program(false);
    let threads = |kernel| {
        run(&device, launch(&program, kernel, &memory, [0, 40, 1])).expect("a launch");
        contents(&device, &memory).into_iter().collect::<BTreeSet<u32>>()
    };
    // The duration of the first launch is unknown, so it may run on one thread.
    threads("slow");
    let slow = threads("slow");
    assert!(slow.len() == 3 && slow.contains(&thread_number()), "{slow:?}");
    let large_stack = threads("large_stack");
    assert!(large_stack.len() == 2 && !large_stack.contains(&thread_number()), "{large_stack:?}");
}

#[test]
fn threads_inherit_the_affinity_mask_of_the_application() {
    let launch_on_one_core = || {
        bind_this_thread(processors_of_this_thread()[0]);
        let (device, program) = device(3);
        let memory = zeros(&device, 60);
        run(&device, launch(&program(false), "cores", &memory, [0, 60, 1])).expect("a launch");
        run(&device, launch(&program(false), "cores", &memory, [0, 60, 1])).expect("a launch");
        contents(&device, &memory)
    };
    let words = thread::scope(|scope| scope.spawn(launch_on_one_core).join()).expect("the thread");
    assert_eq!(words, [1; 60]);
}

#[test]
fn sub_devices_run_on_their_processors_and_their_own_threads() {
    if wgcl_compiler::parallel::cores() < 2 {
        return;
    }
    let (device, program) = device(2);
    let program = program(false);
    let memory = zeros(&device, 60);
    let where_it_ran = |device: &CpuDevice, kernel: &str| {
        for _ in 0..2 {
            run(device, launch(&program, kernel, &memory, [0, 60, 1])).expect("a launch");
        }
        contents(device, &memory).into_iter().collect::<BTreeSet<u32>>()
    };
    let all = bits();
    let parts: Vec<CpuDevice> = [0, 1].map(|unit| device.with_units(&[unit]).expect("a part")).into();
    let places: Vec<BTreeSet<u32>> = parts.iter().map(|part| where_it_ran(part, "processors")).collect();
    assert!(places.iter().all(|place| place.len() == 1), "{places:?}");
    let [first, second] = [0, 1].map(|part| *places[part].first().expect("one"));
    assert!(first & second == 0 && first | second == all, "{first:x} and {second:x} of {all:x}");
    for part in &parts {
        assert_eq!((part.properties().compute_units, where_it_ran(part, "cores").len()), (1, 1));
        assert!(!where_it_ran(part, "slow").contains(&thread_number()), "a thread of the application");
    }
    let both = device.with_units(&[1, 0]).expect("all of it");
    assert_eq!((both.properties().compute_units, where_it_ran(&both, "processors")), (2, [all].into()));
    let slow = where_it_ran(&both, "slow");
    assert!(slow.len() == 2 && !slow.contains(&thread_number()), "{slow:?}");
    assert!(device.with_units(&[2]).is_none() && parts[0].with_units(&[1]).is_none());
    // The affinity of the whole device is unchanged.
    assert_eq!(where_it_ran(&device, "processors"), [all].into());
}

/// A thread of a sub-device enqueues on the whole device, whose threads must not inherit that thread's affinity mask.
#[test]
fn nested_threads_have_the_affinity_of_the_application() {
    if wgcl_compiler::parallel::cores() < 2 {
        return;
    }
    let (device, program) = device(2);
    let part = device.with_units(&[1]).expect("a part");
    let memory = zeros(&part, 60);
    let launched = launch(&program(false), "processors", &memory, [0, 60, 1]);
    let done = Arc::new(Done::default());
    let (whole, there) = (Arc::clone(&device), Arc::clone(&done));
    let first = HostWork(Box::new(move || {
        whole.enqueue(launched.into(), false, there);
        whole.flush();
        Ok(())
    }));
    run(&part, Command::Host(first)).expect("the host's work");
    done.wait().expect("a launch");
    assert_eq!(contents(&part, &memory), [bits(); 60]);
}

#[test]
fn one_thread_devices_run_large_stack_kernels_on_a_worker() {
    let (device, program) = device(1);
    let memory = zeros(&device, 3);
    run(&device, launch(&program(false), "large_stack", &memory, [0, 3, 1])).expect("a launch");
    let threads: BTreeSet<u32> = contents(&device, &memory).into_iter().collect();
    assert!(threads.len() == 1 && !threads.contains(&thread_number()), "{threads:?}");
}

#[test]
fn commands_run_in_order_on_any_thread() {
    let (device, program) = device(2);
    let memory = zeros(&device, 64);
    let program = program(true);
    for round in 0..300 {
        let fill = |byte: u8| Action::Fill { dst: memory.clone(), pattern: vec![byte, 0, 0, 0], offset: 0, size: 256 };
        enqueue(&device, fill(7));
        let add = enqueue(&device, launch(&program, "count", &memory, [0, 64, 64]));
        if round % 3 == 0 {
            device.flush();
        }
        let read = Sink(Arc::new(Mutex::new(vec![0; 256])));
        let regions = vec![CopyRegion { buffer: 0, host: 0, size: 256 }];
        let done = enqueue(&device, Action::Read { src: memory.clone(), dst: Arc::new(read.clone()), regions });
        let last = enqueue(&device, fill(9));
        if round % 2 == 0 {
            device.flush();
        } else {
            device.flush_until(&|| done.is_done());
        }
        let (first, second, third) = (add.wait().expect("times"), done.wait().expect("times"), last.wait().expect("times"));
        assert!(first.start <= first.end && first.end <= second.start && second.end <= third.start);
        assert!(read.0.lock().as_chunks::<4>().0.iter().all(|word| u32::from_le_bytes(*word) == 108), "round {round}");
    }
}

#[test]
fn long_commands_start_without_a_flush() {
    let (device, program) = device(2);
    let (memory, program) = (zeros(&device, 60), program(false));
    let slow = || launch(&program, "slow", &memory, [0, 60, 1]);
    // The duration is not known before the first launch.
    run(&device, slow()).expect("a launch");
    enqueue(&device, slow()).wait().expect("a launch");
    // A short command must not wake a thread. The thread that ran the launch may still be awake and run it.
    let waits_for_flush = || {
        let short = enqueue(&device, Command::Nop);
        thread::sleep(Duration::from_millis(20));
        let waits = !short.is_done();
        device.flush();
        short.wait().expect("a command");
        waits
    };
    assert!((0..10).any(|_| waits_for_flush()));
}

#[test]
fn many_threads_enqueue_at_once() {
    let (device, program) = device(2);
    let program = program(true);
    thread::scope(|scope| {
        for number in 0..4 {
            let (device, program) = (&device, &program);
            scope.spawn(move || {
                let memory = zeros(device, 64);
                for iteration in 1..=500 {
                    let done = enqueue(device, launch(program, "count", &memory, [0, 64, 64]));
                    match (iteration + number) % 3 {
                        0 => device.flush(),
                        1 => device.flush_until(&|| done.is_done()),
                        _ => continue,
                    }
                    done.wait().expect("a launch");
                }
                assert_eq!(contents(device, &memory), [500 * 101; 64]);
            });
        }
    });
}

#[test]
fn commands_enqueued_by_a_completion_run() {
    struct Chain(Arc<CpuDevice>, u32, Arc<Done>);

    impl Progress for Chain {
        fn submitted(&self, _: u64) {}

        fn running(&self) {}

        fn complete(&self, result: BackendResult<Times>) {
            match self.1 {
                0 => self.2.complete(result),
                left => {
                    self.0.enqueue(Command::Nop, false, Arc::new(Chain(self.0.clone(), left - 1, self.2.clone())));
                    self.0.flush();
                }
            }
        }
    }

    let (device, _) = device(2);
    for _ in 0..20 {
        let done = Arc::new(Done::default());
        device.enqueue(Command::Nop, false, Arc::new(Chain(device.clone(), 50, done.clone())));
        device.flush();
        done.wait().expect("the end of the chain");
    }
}

#[test]
fn host_work_may_wait_for_the_thread_that_flushes() {
    let (device, _) = device(2);
    let (sender, receiver) = std::sync::mpsc::channel();
    let work = HostWork(Box::new(move || receiver.recv_timeout(Duration::from_secs(60)).map_err(|_| BackendError::OutOfHostMemory)));
    let done = enqueue(&device, Command::Host(work));
    let next = enqueue(&device, Command::Nop);
    device.flush();
    assert!(!next.is_done());
    sender.send(()).expect("the work waits");
    assert!(done.wait().is_ok() && next.wait().is_ok());
}

#[test]
fn a_failed_command_does_not_affect_others() {
    let (device, program) = device(2);
    let memory = zeros(&device, 64);
    let program = program(false);
    assert!(run(&device, launch(&program, "none", &memory, [0, 64, 16])).is_err());
    assert!(run(&device, launch(&program, "count", &memory, [0, 64, 3])).is_err());
    let panics = HostWork(Box::new(|| std::panic::resume_unwind(Box::new("a panic of the host's work"))));
    assert!(run(&device, Command::Host(panics)).is_err());
    let Action::Launch(mut other) = launch(&program, "count", &memory, [0, 64, 16]) else { return };
    other.args = vec![LaunchArg::Value([0; 8].as_slice().into())];
    assert!(run(&device, Action::Launch(other)).is_err());
    assert!(run(&device, launch(&program, "count", &memory, [0, 64, 16])).is_ok());
    assert_eq!(contents(&device, &memory), [401; 64]);
    assert_eq!(device.allocate(u64::MAX).err(), Some(BackendError::OutOfDeviceMemory));
}

#[test]
fn kernels_are_restored_from_the_cache() {
    let kernel = NativeKernel { code: vec![1, 2, 3], entry: 1, stack: 8, arena: 1 << 40, lanes: 8, ..NativeKernel::default() };
    let bytes = CompiledKernel::new(kernel.clone()).encode().expect("bytes");
    assert_eq!(CompiledKernel::decode(&bytes).map(|native| native.kernel), Some(Arc::new(kernel)));
    assert!(CompiledKernel::decode(&bytes[..3]).is_none());
    let prints = NativeKernel { prints: true, ..NativeKernel::default() };
    assert!(CompiledKernel::new(prints).encode().is_none(), "the cache does not keep format strings");
}

#[test]
fn pointers_in_program_memory_are_host_addresses() {
    let global = |space, init: Option<Vec<u8>>, relocs| GlobalVar { name: "g".into(), space, size: 16, align: 8, init, relocs };
    let module = Module {
        functions: Vec::new(),
        globals: vec![
            global(Space::Constant, Some((1..=16).collect()), Vec::new()),
            global(Space::Constant, None, vec![Reloc { at: 8, target: Global(0), addend: 3 }]),
            global(Space::Global, None, vec![Reloc { at: 0, target: Global(2), addend: 8 }]),
        ],
    };
    let InitializedMemory { constants, variables, places } = initialized_memory(&module).expect("memory");
    let (mut constants, mut variables) = (constants.expect("constants"), variables.expect("variables"));
    assert_eq!((places.constant, places.global), (constants.address() as u64, variables.address() as u64));
    assert_eq!(constants.bytes_mut()[..16], (1..=16).collect::<Vec<u8>>());
    assert_eq!(constants.bytes_mut()[24..32], (places.constant + 3).to_le_bytes());
    assert_eq!(variables.bytes_mut()[..8], (places.global + 8).to_le_bytes());
}

#[test]
fn the_device_reports_its_properties() {
    let (device, _) = device(3);
    let properties = device.properties();
    assert_eq!((properties.compute_units, properties.local_memory, properties.max_group_invocations), (3, 1 << 20, 4096));
    assert!(properties.unified_memory && properties.native_kernels && properties.max_allocation == properties.global_memory);
    let profile = wgcl_compiler::target::Target::profile("cpu").expect("the profile");
    let least = profile.without_fused_fma().with_subgroups_of(1, 1);
    assert_eq!((device.target(), properties.subgroup_size), (&least, 1), "the tests' code uses SSE4.2");
    let memory = device.allocate(100).expect("memory");
    assert_eq!((memory.size(), memory.host_address().map(|address| address % 128)), (100, Some(0)));
}
