//! Launches: arguments, constants, split ranges, batches, order, times.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use common::{
    ALL, ARGUMENTS, CONSTANT, GLOBAL, Target, adder, bindings, buffer, bytes, device, launch, layout, read, run, shader, start, words,
    write,
};
use wgcl_api::backend::{
    Action, BackendError, BackendResult, Command, CopyRegion, Device, HostWork, LaunchArg, MemoryRange, Progress, Times,
};
use wgcl_compiler::binding::ArgLayout;
use wgcl_compiler::emit::{Binding, BindingKind, BindingSource};
use wgcl_compiler::launch::{ConstantBinding, LaunchError, LaunchKey};

fn value(number: u32) -> LaunchArg {
    LaunchArg::Value(number.to_le_bytes().to_vec().into())
}

#[test]
fn values_and_buffers_reach_the_kernel() {
    for settings in ALL {
        let device = device(settings);
        let program = adder(&device);
        let memory = device.allocate(1024).unwrap();
        write(&*device, &memory, 0, &bytes(&(0..256).collect::<Vec<_>>()));
        run(&*device, launch(&program, "add", vec![buffer(&memory), value(7)], [256, 1, 1], [64, 1, 1]));
        assert_eq!(words(&read(&*device, &memory, 0, 1024)), (7..263).collect::<Vec<_>>(), "{settings:?}");
    }
}

#[test]
fn sub_buffers_are_bound_at_their_offset() {
    for settings in ALL {
        let device = device(settings);
        let program = adder(&device);
        let align = u64::from(device.properties().base_alignment);
        let memory = device.allocate(4 * align).unwrap();
        write(&*device, &memory, 0, &vec![0; 4 * align as usize]);
        let part = LaunchArg::Buffer(Some(MemoryRange {
            memory: Arc::clone(&memory),
            offset: align,
            size: align,
            start: 0,
            identity: 0x1_0000,
            read_only: false,
        }));
        run(&*device, launch(&program, "add", vec![part, value(1)], [align / 4, 1, 1], [1, 1, 1]));
        let expected: Vec<_> = (0..4 * align / 4).map(|k| u32::from((align / 4..align / 2).contains(&k))).collect();
        assert_eq!(words(&read(&*device, &memory, 0, 4 * align as usize)), expected, "{settings:?}");
    }
}

#[test]
fn a_range_beyond_the_group_limit_is_split() {
    for settings in ALL {
        let device = device(settings);
        let program = adder(&device);
        let count = 150_001;
        let memory = device.allocate(count * 4).unwrap();
        write(&*device, &memory, 0, &vec![0; count as usize * 4]);
        run(&*device, launch(&program, "add", vec![buffer(&memory), value(3)], [count, 1, 1], [1, 1, 1]));
        assert!(words(&read(&*device, &memory, 0, count as usize * 4)).iter().all(|word| *word == 3), "{settings:?}");
    }
}

#[test]
fn batches_of_launches_run_in_order() {
    for settings in ALL {
        let device = device(settings);
        let spirv = device.target().shaders.spirv;
        // The result shows the order of the launches, because x = x * 3 + value does not commute.
        let params = vec![GLOBAL, wgcl_compiler::ir::KernelParam::Value];
        let program = device
            .load_shaders(vec![("step".to_owned(), params)], move |_, _| {
                let source = format!(
                    "{ARGUMENTS} @group(0) @binding(1) var<storage, read_write> data: array<u32>;
                    @compute @workgroup_size(1) fn main() {{ data[0] = data[0] * 3u + args.value.x; }}"
                );
                Ok(shader(&source, bindings(&[(0, BindingKind::Storage)]), layout(&[false, true]), spirv))
            })
            .unwrap();
        let memory = device.allocate(4).unwrap();
        write(&*device, &memory, 0, &[0; 4]);
        let mut expected = 0_u32;
        let mut pending = Vec::new();
        for k in 0..3000 {
            expected = expected.wrapping_mul(3).wrapping_add(k);
            pending.push(start(&*device, launch(&program, "step", vec![buffer(&memory), value(k)], [1; 3], [1; 3]), false));
        }
        device.flush();
        for one in pending {
            one.wait().unwrap();
        }
        assert_eq!(words(&read(&*device, &memory, 0, 4)), [expected], "{settings:?}");
    }
}

/// The first read that could use the bus copies the bytes on the device. Later reads use the bus.
#[test]
fn small_reads_see_each_launch() {
    for settings in ALL {
        let device = device(settings);
        let program = adder(&device);
        let memory = device.allocate(256).unwrap();
        write(&*device, &memory, 0, &[0; 256]);
        for count in 1..=5 {
            run(&*device, launch(&program, "add", vec![buffer(&memory), value(1)], [64, 1, 1], [64, 1, 1]));
            assert_eq!(words(&read(&*device, &memory, 0, 256)), [count; 64], "{settings:?}");
        }
    }
}

#[test]
fn a_resubmitted_command_buffer_has_the_same_effect() {
    for settings in ALL {
        let device = device(settings);
        let program = adder(&device);
        let mut expected = [vec![0_u32; 64], vec![5; 64]];
        let mut memories: Vec<_> = expected
            .iter()
            .map(|words| {
                let memory = device.allocate(256).unwrap();
                write(&*device, &memory, 0, &bytes(words));
                memory
            })
            .collect();
        let mut add = |which: usize, number: u32, memories: &[Arc<dyn wgcl_api::backend::Memory>], profile: bool| {
            expected[which].iter_mut().for_each(|word| *word += number);
            let launch = launch(&program, "add", vec![buffer(&memories[which]), value(number)], [64, 1, 1], [64, 1, 1]);
            let pending = start(&*device, launch, profile);
            device.flush();
            let times = pending.wait().unwrap();
            assert!(times.start <= times.end);
            assert_eq!(words(&read(&*device, &memories[which], 0, 256)), expected[which], "{settings:?}: {number}");
        };
        for round in 0..20 {
            add(0, 1, &memories, false);
            add(0, 1, &memories, round % 3 == 0);
            if round % 4 == 1 {
                add(1, round, &memories, true);
                add(1, 1, &memories, false);
            }
            if round == 10 {
                // The new object may get the handle and the memory of the old one.
                let words = read(&*device, &memories[0], 0, 256);
                memories[0] = device.allocate(256).unwrap();
                write(&*device, &memories[0], 0, &words);
            }
        }
    }
}

/// Returns a program with the kernel `sum(global uint *out, constant uint *a, constant uint *b)`, which computes
/// out[i] = a[i] * 10 + b[i]. The launch key chooses the bindings of the constants. Adds each key to `seen`.
fn summer(device: &wgcl_backend_wgpu::WgpuDevice, seen: &Arc<Mutex<Vec<LaunchKey>>>) -> Arc<dyn wgcl_api::backend::LoadedProgram> {
    let spirv = device.target().shaders.spirv;
    let seen = Arc::clone(seen);
    device
        .load_shaders(vec![("sum".to_owned(), vec![GLOBAL, CONSTANT, CONSTANT])], move |_, key| {
            seen.lock().unwrap().push(key.clone());
            let declare = |k: usize, name: &str| match key.binding.constant_args[k] {
                ConstantBinding::Uniform(size) => (
                    format!("@group(0) @binding({}) var<uniform> {name}: array<vec4<u32>, {}>;", k + 2, size / 16),
                    format!("{name}[id.x / 4u][id.x % 4u]"),
                    BindingKind::Uniform { size },
                ),
                ConstantBinding::Storage => (
                    format!("@group(0) @binding({}) var<storage, read_write> {name}: array<u32>;", k + 2),
                    format!("{name}[id.x]"),
                    BindingKind::Storage,
                ),
            };
            let (a, b) = (declare(0, "a"), declare(1, "b"));
            let source = format!(
                "{ARGUMENTS} @group(0) @binding(1) var<storage, read_write> data: array<u32>; {} {}
                @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                    data[id.x] = {} * 10u + {} + args.dim - 3u;
                }}",
                a.0, b.0, a.1, b.1
            );
            let bindings = bindings(&[(0, BindingKind::Storage), (1, a.2), (2, b.2)]);
            Ok(shader(&source, bindings, layout(&[false, false, false]), spirv))
        })
        .unwrap()
}

#[test]
fn constants_are_uniforms_where_they_can_be() {
    for settings in ALL {
        let device = device(settings);
        let seen = Arc::default();
        let program = summer(&device, &seen);
        let out = device.allocate(32).unwrap();
        let small = device.allocate(32).unwrap();
        let large = device.allocate(100_000).unwrap();
        write(&*device, &small, 0, &bytes(&[1, 2, 3, 4, 5, 6, 7, 8]));
        write(&*device, &large, 0, &bytes(&[9, 8, 7, 6, 5, 4, 3, 2]));
        run(&*device, launch(&program, "sum", vec![buffer(&out), buffer(&small), buffer(&large)], [8, 1, 1], [4, 1, 1]));
        assert_eq!(words(&read(&*device, &out, 0, 32)), [19, 28, 37, 46, 55, 64, 73, 82], "{settings:?}");
        assert_eq!(seen.lock().unwrap()[0].binding.constant_args, [ConstantBinding::Uniform(256), ConstantBinding::Storage]);
        // A constant buffer that the same launch writes is bound as storage.
        run(&*device, launch(&program, "sum", vec![buffer(&small), buffer(&small), buffer(&out)], [8, 1, 1], [4, 1, 1]));
        assert_eq!(words(&read(&*device, &small, 0, 32))[..2], [29, 48]);
        assert_eq!(seen.lock().unwrap()[1].binding.constant_args, [ConstantBinding::Storage, ConstantBinding::Uniform(256)]);
        // Both `out` and a constant argument may be null pointers.
        let null = LaunchArg::Buffer(None);
        run(&*device, launch(&program, "sum", vec![null.clone(), buffer(&small), null], [8, 1, 1], [4, 1, 1]));
    }
}

#[test]
fn scratch_memory_is_divided_among_the_items() {
    for settings in ALL {
        let device = device(settings);
        let spirv = device.target().shaders.spirv;
        let program = device
            .load_shaders(vec![("use".to_owned(), vec![GLOBAL])], move |_, _| {
                let source = format!(
                    "{ARGUMENTS} @group(0) @binding(1) var<storage, read_write> data: array<u32>;
                    @group(0) @binding(2) var<storage, read_write> scratch: array<u32>;
                    @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                        for (var k = 0u; k < 16u; k++) {{ scratch[id.x * 16u + k] = id.x * k; }}
                        var sum = 0u;
                        for (var k = 0u; k < 16u; k++) {{ sum += scratch[id.x * 16u + k]; }}
                        data[id.x] = sum + args.dim - 3u;
                    }}"
                );
                let mut all = bindings(&[(0, BindingKind::Storage)]);
                all.push(Binding { binding: 2, kind: BindingKind::Storage, source: BindingSource::Scratch { bytes_per_item: 64 } });
                Ok(shader(&source, all, layout(&[false]), spirv))
            })
            .unwrap();
        for count in [64_u64, 4096] {
            let memory = device.allocate(count * 4).unwrap();
            run(&*device, launch(&program, "use", vec![buffer(&memory)], [count, 1, 1], [8, 1, 1]));
            let expected: Vec<_> = (0..count as u32).map(|k| k * 120).collect();
            assert_eq!(words(&read(&*device, &memory, 0, count as usize * 4)), expected, "{settings:?}");
        }
    }
}

#[test]
fn profiled_times_follow_each_other() {
    for settings in ALL {
        let device = device(settings);
        let program = adder(&device);
        let memory = device.allocate(4 << 20).unwrap();
        let other = device.allocate(4 << 20).unwrap();
        write(&*device, &memory, 0, &[0; 16]);
        let before = device.now();
        let mut pending = Vec::new();
        for k in 0..20 {
            let command = match k % 3 {
                0 => Action::Fill { dst: Arc::clone(&memory), pattern: vec![1], offset: 0, size: 4 << 20 },
                1 => launch(&program, "add", vec![buffer(&memory), value(1)], [1 << 20, 1, 1], [64, 1, 1]),
                _ => {
                    let regions = vec![wgcl_api::backend::CopyRegion { buffer: 0, host: 0, size: 4 << 20 }];
                    Action::Copy { src: Arc::clone(&memory), dst: Arc::clone(&other), regions }
                }
            };
            pending.push(start(&*device, command, true));
        }
        device.flush();
        let times: Vec<Times> = pending.into_iter().map(|one| one.wait().unwrap()).collect();
        let after = device.now();
        assert!(times[0].start >= before && times[19].end <= after, "{settings:?} {before} {times:?} {after}");
        for pair in times.windows(2) {
            assert!(pair[0].start < pair[0].end && pair[0].end <= pair[1].start, "{settings:?} {pair:?}");
        }
    }
}

#[test]
fn many_profiled_commands_need_several_sets() {
    let device = device(ALL[0]);
    let program = adder(&device);
    let memory = device.allocate(256).unwrap();
    let pending: Vec<_> =
        (0..5000).map(|_| start(&*device, launch(&program, "add", vec![buffer(&memory), value(1)], [4, 1, 1], [4, 1, 1]), true)).collect();
    device.flush();
    let times: Vec<Times> = pending.into_iter().map(|one| one.wait().unwrap()).collect();
    assert!(times.windows(2).all(|pair| pair[0].end <= pair[1].start && pair[0].start <= pair[0].end));
}

#[test]
fn a_kernel_that_cannot_be_compiled_fails_only_its_launch() {
    for settings in ALL {
        let device = device(settings);
        let good = adder(&device);
        let bad = device
            .load_shaders(vec![("bad".to_owned(), vec![GLOBAL])], |kernel, _| {
                Err(BackendError::Launch(LaunchError::Unsupported { kernel: kernel.to_owned(), what: "everything".to_owned() }))
            })
            .unwrap();
        let memory = device.allocate(256).unwrap();
        write(&*device, &memory, 0, &[0; 256]);
        let first = start(&*device, launch(&good, "add", vec![buffer(&memory), value(1)], [64, 1, 1], [64, 1, 1]), false);
        let second = start(&*device, launch(&bad, "bad", vec![buffer(&memory)], [64, 1, 1], [64, 1, 1]), false);
        let third = start(&*device, launch(&good, "add", vec![buffer(&memory), value(1)], [64, 1, 1], [64, 1, 1]), false);
        let missing = start(&*device, launch(&good, "sub", vec![], [64, 1, 1], [64, 1, 1]), false);
        device.flush();
        assert!(first.wait().is_ok() && third.wait().is_ok());
        assert!(matches!(second.wait(), Err(BackendError::Launch(LaunchError::Unsupported { .. }))));
        assert!(matches!(missing.wait(), Err(BackendError::Launch(LaunchError::NoKernel(_)))));
        assert!(bad.kernel_usage("bad").is_err());
        assert!(good.kernel_usage("add").is_ok());
        assert!(words(&read(&*device, &memory, 0, 256)).iter().all(|word| *word == 2));
    }
}

#[test]
fn a_panic_of_the_compiler_does_not_end_the_device() {
    let device = device(ALL[0]);
    let good = adder(&device);
    let bad = device.load_shaders(vec![("bad".to_owned(), vec![])], |_, _| panic!("expected panic")).unwrap();
    let memory = device.allocate(256).unwrap();
    write(&*device, &memory, 0, &[0; 256]);
    let pending = start(&*device, launch(&bad, "bad", vec![], [1; 3], [1; 3]), false);
    device.flush();
    assert!(pending.wait().is_err());
    run(&*device, launch(&good, "add", vec![buffer(&memory), value(1)], [64, 1, 1], [64, 1, 1]));
    assert_eq!(words(&read(&*device, &memory, 0, 4)), [1]);
}

#[test]
fn host_work_runs_after_all_earlier_commands() {
    for settings in ALL {
        let device = device(settings);
        let program = adder(&device);
        let memory = device.allocate(256).unwrap();
        write(&*device, &memory, 0, &[0; 256]);
        let add = || launch(&program, "add", vec![buffer(&memory), value(1)], [64, 1, 1], [64, 1, 1]);
        let launched: Vec<_> = (0..100).map(|_| start(&*device, add(), false)).collect();
        let target = Target(Arc::new(Mutex::new(vec![0xee; 256])));
        let regions = vec![CopyRegion { buffer: 0, host: 0, size: 256 }];
        let read = start(&*device, Action::Read { src: Arc::clone(&memory), dst: Arc::new(target.clone()), regions }, false);
        let (sender, receiver) = std::sync::mpsc::channel();
        // The bytes that the read has delivered when the work runs.
        let work = HostWork(Box::new(move || {
            sender.send(words(&target.0.lock().unwrap())).unwrap();
            Err(BackendError::Other("expected failure".to_owned()))
        }));
        let worked = start(&*device, Command::Host(work), true);
        let after = start(&*device, Command::Nop, false);
        device.flush();
        for one in launched {
            one.wait().unwrap();
        }
        read.wait().unwrap();
        assert_eq!(worked.wait(), Err(BackendError::Other("expected failure".to_owned())));
        after.wait().unwrap();
        assert_eq!(receiver.recv().unwrap(), [100; 64], "{settings:?}");
    }
}

/// Enqueues the next launch in the completion callback of the previous one.
struct Chain {
    device: Arc<wgcl_backend_wgpu::WgpuDevice>,
    program: Arc<dyn wgcl_api::backend::LoadedProgram>,
    memory: Arc<dyn wgcl_api::backend::Memory>,
    left: AtomicU32,
    done: Mutex<std::sync::mpsc::Sender<()>>,
}

struct Link(Arc<Chain>);

impl Progress for Link {
    fn submitted(&self, _: u64) {}
    fn running(&self) {}
    fn complete(&self, result: BackendResult<Times>) {
        result.unwrap();
        let chain = &self.0;
        if chain.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            chain.done.lock().unwrap().send(()).unwrap();
            return;
        }
        let command = launch(&chain.program, "add", vec![buffer(&chain.memory), value(1)], [64, 1, 1], [64, 1, 1]);
        chain.device.enqueue(command.into(), false, Arc::new(Link(Arc::clone(chain))));
        chain.device.flush();
    }
}

#[test]
fn commands_can_be_enqueued_from_callbacks() {
    let device = device(ALL[0]);
    let program = adder(&device);
    let memory = device.allocate(256).unwrap();
    write(&*device, &memory, 0, &[0; 256]);
    let (sender, receiver) = std::sync::mpsc::channel();
    let chain = Arc::new(Chain {
        device: Arc::clone(&device),
        program,
        memory: Arc::clone(&memory),
        left: AtomicU32::new(101),
        done: Mutex::new(sender),
    });
    Link(chain).complete(Ok(Times::default()));
    receiver.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    assert_eq!(words(&read(&*device, &memory, 0, 4)), [100]);
}

#[test]
fn threads_may_enqueue_at_once() {
    let device = device(ALL[0]);
    let program = adder(&device);
    let memory = device.allocate(256).unwrap();
    write(&*device, &memory, 0, &[0; 256]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    // Each thread drops its memory while commands use it.
                    let own = device.allocate(4096).unwrap();
                    let other = start(&*device, launch(&program, "add", vec![buffer(&own), value(1)], [64, 1, 1], [64, 1, 1]), false);
                    drop(own);
                    let one = start(&*device, launch(&program, "add", vec![buffer(&memory), value(1)], [64, 1, 1], [64, 1, 1]), false);
                    device.flush();
                    one.wait().unwrap();
                    other.wait().unwrap();
                }
            });
        }
    });
    assert!(words(&read(&*device, &memory, 0, 256)).iter().all(|word| *word == 400));
}

#[test]
fn all_objects_may_be_dropped_with_work_in_flight() {
    for settings in ALL {
        for _ in 0..5 {
            let device = device(settings);
            let program = adder(&device);
            let memory = device.allocate(4 << 20).unwrap();
            let pending: Vec<_> = (0..50)
                .map(|_| start(&*device, launch(&program, "add", vec![buffer(&memory), value(1)], [1 << 20, 1, 1], [64, 1, 1]), false))
                .collect();
            drop((device, program, memory));
            for one in pending {
                one.wait().unwrap();
            }
        }
    }
}

#[test]
fn pipelines_are_created_ahead_of_time() {
    let device = device(ALL[0]);
    let made = Arc::new(AtomicU32::new(0));
    let (count, spirv) = (Arc::clone(&made), device.target().shaders.spirv);
    let program = device
        .load_shaders(vec![("nothing".to_owned(), vec![])], move |_, key| {
            count.fetch_add(1, Ordering::SeqCst);
            let source = format!("@compute @workgroup_size({}) fn main() {{ }}", key.kernel.local_size[0]);
            Ok(shader(&source, vec![], ArgLayout::default(), spirv))
        })
        .unwrap();
    program.precompile("nothing", Some([8, 1, 1]), &[]);
    program.precompile("nothing", Some([8, 1, 1]), &[]);
    for _ in 0..3 {
        run(&*device, launch(&program, "nothing", vec![], [8, 1, 1], [8, 1, 1]));
    }
    assert_eq!(made.load(Ordering::SeqCst), 1);
    // An empty range completes in order.
    run(&*device, launch(&program, "nothing", vec![], [0, 1, 1], [8, 1, 1]));
}

#[test]
fn two_devices_of_one_adapter_do_not_disturb_each_other() {
    let (one, two) = (device(ALL[0]), device(ALL[2]));
    let (first, second) = (adder(&one), adder(&two));
    let (a, b) = (one.allocate(256).unwrap(), two.allocate(256).unwrap());
    write(&*one, &a, 0, &[0; 256]);
    write(&*two, &b, 0, &[0; 256]);
    for _ in 0..10 {
        let x = start(&*one, launch(&first, "add", vec![buffer(&a), value(1)], [64, 1, 1], [64, 1, 1]), false);
        let y = start(&*two, launch(&second, "add", vec![buffer(&b), value(2)], [64, 1, 1], [64, 1, 1]), false);
        one.flush();
        two.flush();
        x.wait().unwrap();
        y.wait().unwrap();
    }
    assert_eq!((words(&read(&*one, &a, 0, 4)), words(&read(&*two, &b, 0, 4))), (vec![10], vec![20]));
    // A null pointer does not depend on a device.
    let pending = start(&*one, launch(&first, "add", vec![LaunchArg::Buffer(None), value(1)], [64, 1, 1], [64, 1, 1]), false);
    one.flush();
    pending.wait().unwrap();
}
