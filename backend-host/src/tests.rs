//! The interpreter as a device: kernels from source to buffers.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use wgcl_api::backend::{
    Action, Backend, BackendError, BackendResult, CopyRegion, Device, HostTarget, Launch, LaunchArg, LoadedProgram, Memory, MemoryRange,
    Progress, Times,
};
use wgcl_compiler::build::build;
use wgcl_compiler::program::{BuildOptions, CStd, Source};

use crate::InterpreterBackend;

/// A target of reads whose contents the test can access.
#[derive(Clone, Debug)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl HostTarget for Sink {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        f(&mut self.0.lock());
    }
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

fn run(device: &dyn Device, action: Action) -> BackendResult<Times> {
    let done = Arc::new(Done::default());
    device.enqueue(action.into(), false, done.clone());
    device.flush();
    let mut result = done.0.lock();
    loop {
        match result.take() {
            Some(result) => return result,
            None => done.1.wait(&mut result),
        }
    }
}

fn load(device: &dyn Device, text: &str) -> Arc<dyn LoadedProgram> {
    let source = Source { text: text.to_owned(), ..Source::default() };
    let options = BuildOptions { std: CStd::Cl12, ..BuildOptions::default() };
    let result = build(&source, &options, device.target());
    assert_eq!(result.log, "");
    device.load(result.program.expect("a program").module, None).expect("it loads")
}

fn buffer(device: &dyn Device, contents: &[u32]) -> Arc<dyn Memory> {
    let bytes: Vec<u8> = contents.iter().flat_map(|word| word.to_le_bytes()).collect();
    let memory = device.allocate(bytes.len() as u64).expect("memory");
    let regions = vec![CopyRegion { buffer: 0, host: 0, size: bytes.len() as u64 }];
    run(device, Action::Write { dst: memory.clone(), src: Arc::new(bytes), regions }).expect("a write");
    memory
}

fn contents(device: &dyn Device, memory: &Arc<dyn Memory>) -> Vec<u32> {
    let sink = Sink(Arc::new(Mutex::new(vec![0; memory.size() as usize])));
    let regions = vec![CopyRegion { buffer: 0, host: 0, size: memory.size() }];
    run(device, Action::Read { src: memory.clone(), dst: Arc::new(sink.clone()), regions }).expect("a read");
    let bytes = sink.0.lock();
    bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn launch(
    device: &dyn Device,
    program: &Arc<dyn LoadedProgram>,
    kernel: &str,
    args: Vec<LaunchArg>,
    global: u64,
    local: u32,
) -> BackendResult<Times> {
    let launch = Launch {
        program: program.clone(),
        kernel: kernel.into(),
        args,

        extra: Vec::new(),
        work_dim: 1,
        global_offset: [0; 3],
        global_size: [global, 1, 1],
        local_size: [local, 1, 1],
    };
    run(device, Action::Launch(launch))
}

fn whole_buffer(memory: &Arc<dyn Memory>) -> LaunchArg {
    LaunchArg::Buffer(Some(MemoryRange {
        memory: memory.clone(),
        offset: 0,
        size: memory.size(),
        start: 0,
        identity: 0x1_0000,
        read_only: false,
    }))
}

#[test]
fn work_items_meet_at_barriers() {
    let devices = InterpreterBackend.devices();
    let device = &*devices[0];
    let program = load(
        device,
        "kernel void shift_items(global uint *data, local uint *shared) {
             size_t i = get_local_id(0), n = get_local_size(0);
             for (int round = 0; round < 3; round++) {
                 shared[i] = data[get_global_id(0)];
                 barrier(CLK_LOCAL_MEM_FENCE);
                 data[get_global_id(0)] = shared[(i + 1) % n];
                 barrier(CLK_LOCAL_MEM_FENCE);
             }
         }",
    );
    let data = buffer(device, &[0, 1, 2, 3, 4, 5, 6, 7]);
    launch(device, &program, "shift_items", vec![whole_buffer(&data), LaunchArg::Local(16)], 8, 4).expect("it runs");
    assert_eq!(contents(device, &data), [3, 0, 1, 2, 7, 4, 5, 6]);
}

#[test]
fn a_work_item_may_wait_for_another() {
    let devices = InterpreterBackend.devices();
    let device = &*devices[0];
    let program = load(
        device,
        "kernel void wait(global volatile uint *flag) {
             if (get_local_id(0) == 0) { while (atomic_add(&flag[0], 0u) == 0u) { } flag[1] = 7u; }
             else atomic_inc(&flag[0]);
         }",
    );
    let flag = buffer(device, &[0, 0]);
    launch(device, &program, "wait", vec![whole_buffer(&flag)], 2, 2).expect("it runs");
    assert_eq!(contents(device, &flag), [1, 7]);
}

#[test]
fn invalid_launches_fail_and_keep_the_memory() {
    let devices = InterpreterBackend.devices();
    let device = &*devices[0];
    let program = load(
        device,
        "kernel void beyond(global uint *data, uint n) { data[n] = 1u; }
         kernel void apart(global uint *data) { if (data[get_local_id(0)] != 0u) barrier(CLK_GLOBAL_MEM_FENCE); data[0] = 9u; }",
    );
    let data = buffer(device, &[0, 1]);
    let beyond =
        |n: u32| launch(device, &program, "beyond", vec![whole_buffer(&data), LaunchArg::Value(n.to_le_bytes().to_vec().into())], 1, 1);
    assert!(matches!(beyond(2), Err(BackendError::Other(text)) if text.contains("at offset 8 is out of bounds of an object of 8 bytes")));
    assert!(beyond(1).is_ok());
    assert!(
        matches!(launch(device, &program, "apart", vec![whole_buffer(&data)], 2, 2), Err(BackendError::Other(text)) if text.contains("barrier"))
    );
    assert_eq!(contents(device, &data), [9, 1]);
}

#[test]
fn variables_keep_their_values() {
    let devices = InterpreterBackend.devices();
    let device = &*devices[0];
    let program = load(
        device,
        "constant uint table[3] = {10, 20, 30};
         kernel void look(global uint *data, constant uint *given) { data[get_global_id(0)] = table[get_global_id(0)] + given[1]; }",
    );
    let (data, given) = (buffer(device, &[0; 3]), buffer(device, &[1, 2]));
    launch(device, &program, "look", vec![whole_buffer(&data), whole_buffer(&given)], 3, 1).expect("it runs");
    assert_eq!(contents(device, &data), [12, 22, 32]);
    assert_eq!(program.kernel_usage("look").map(|usage| usage.local_memory), Ok(0));
    assert!(program.kernel_usage("none").is_err());
}
