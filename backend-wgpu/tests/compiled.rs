//! Kernels in the compiler's IR and in OpenCL C, run on the device.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;

use common::{ALL, buffer, bytes, device, launch, read, run, start, words, write};
use wgcl_api::backend::{Action, BackendError, Device, Launch, LaunchArg, LoadedProgram};
use wgcl_backend_wgpu::WgpuDevice;
use wgcl_compiler::build::build;
use wgcl_compiler::ir::read::read_module;
use wgcl_compiler::program::{BuildOptions, Source};

fn load(device: &WgpuDevice, text: &str) -> Arc<dyn LoadedProgram> {
    let module = read_module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    if let Err(errors) = wgcl_compiler::ir::verify::verify(&module) {
        panic!("{errors:?}");
    }
    device.load(Arc::new(module), None).unwrap()
}

fn value(number: u32) -> LaunchArg {
    LaunchArg::Value(number.to_le_bytes().to_vec().into())
}

const ADD: &str = r#"
kernel @f0 "add" (%0: ptr.global buffer, %1: ptr.global buffer readonly, %2: i32 value) {
  %3: i32 = workitem.global_id 0
  %4: bool = ult %3, %2
  if %4 {
    %5: i32 = const 2
    %6: i32 = shl %3, %5
    %7: ptr.global = ptr_add %0, %6
    %8: ptr.global = ptr_add %1, %6
    %9: i32 = load %7 align 4
    %10: i32 = load %8 align 4
    %11: i32 = add %9, %10
    store %7, %11 align 4
    yield
  } else {
    yield
  }
  return
}"#;

#[test]
fn a_compiled_kernel_runs() {
    for settings in ALL {
        let device = device(settings);
        let program = load(&device, ADD);
        let (a, b) = (device.allocate(400).unwrap(), device.allocate(400).unwrap());
        write(&*device, &a, 0, &bytes(&(0..100).collect::<Vec<_>>()));
        write(&*device, &b, 0, &bytes(&(0..100).map(|k| k * 1000).collect::<Vec<_>>()));
        run(&*device, launch(&program, "add", vec![buffer(&a), buffer(&b), value(90)], [128, 1, 1], [32, 1, 1]));
        let expected: Vec<_> = (0..100).map(|k| if k < 90 { k * 1001 } else { k }).collect();
        assert_eq!(words(&read(&*device, &a, 0, 400)), expected, "{settings:?}");
        // The same buffer is bound to two parameters.
        run(&*device, launch(&program, "add", vec![buffer(&a), buffer(&a), value(10)], [32, 1, 1], [32, 1, 1]));
        assert_eq!(words(&read(&*device, &a, 0, 40)), (0..10).map(|k| k * 2002).collect::<Vec<_>>(), "{settings:?}");
        assert!(program.kernel_usage("add").is_ok());
    }
}

const WHERE: &str = r#"
kernel @f0 "where" (%0: ptr.global buffer) {
  %1: i32 = workitem.global_id 0
  %2: i32 = workitem.global_offset 0
  %3: i32 = sub %1, %2
  %4: i32 = const 2
  %5: i32 = shl %3, %4
  %6: ptr.global = ptr_add %0, %5
  %7: i32 = workitem.group_id 0
  %8: i32 = workitem.num_groups 0
  %9: i32 = mul %7, %8
  %10: i32 = add %9, %1
  store %6, %10 align 4
  return
}"#;

#[test]
fn work_item_ids_are_right_with_offsets_and_split_ranges() {
    for settings in ALL {
        let device = device(settings);
        let program = load(&device, WHERE);
        for (count, offset, local) in [(64_u32, 0_u64, 8_u32), (64, 1000, 8), (70_000, 0, 1), (140_000, 5, 1)] {
            let memory = device.allocate(u64::from(count) * 4).unwrap();
            run(
                &*device,
                Action::Launch(Launch {
                    program: Arc::clone(&program),
                    kernel: "where".into(),
                    args: vec![buffer(&memory)],

                    extra: Vec::new(),
                    work_dim: 1,
                    global_offset: [offset, 0, 0],
                    global_size: [u64::from(count), 1, 1],
                    local_size: [local, 1, 1],
                }),
            );
            let groups = count / local;
            let expected: Vec<_> = (0..count).map(|k| (k / local).wrapping_mul(groups).wrapping_add(k + offset as u32)).collect();
            assert!(words(&read(&*device, &memory, 0, count as usize * 4)) == expected, "{settings:?} {count} {offset} {local}");
        }
    }
}

const VARIABLES: &str = r#"
global @g0 "table" constant size=16 align=4 = 0a000000140000001e00000028000000
global @g1 "count" global size=4 align=4 = 64000000
kernel @f0 "next" (%0: ptr.global buffer) {
  %1: i32 = workitem.global_id 0
  %2: i32 = const 3
  %3: i32 = and %1, %2
  %4: i32 = const 2
  %5: i32 = shl %3, %4
  %6: ptr.constant = global_addr @g0
  %7: ptr.constant = ptr_add %6, %5
  %8: i32 = load %7 align 4
  %9: ptr.global = global_addr @g1
  %10: i32 = load %9 align 4
  %11: i32 = add %8, %10
  %12: i32 = shl %1, %4
  %13: ptr.global = ptr_add %0, %12
  store %13, %11 align 4
  return
}
kernel @f1 "bump" () {
  %0: ptr.global = global_addr @g1
  %1: i32 = load %0 align 4
  %2: i32 = const 1
  %3: i32 = add %1, %2
  store %0, %3 align 4
  return
}"#;

#[test]
fn constants_and_variables_of_a_program() {
    for settings in ALL {
        let device = device(settings);
        let program = load(&device, VARIABLES);
        let memory = device.allocate(16).unwrap();
        run(&*device, launch(&program, "next", vec![buffer(&memory)], [4, 1, 1], [4, 1, 1]));
        assert_eq!(words(&read(&*device, &memory, 0, 16)), [110, 120, 130, 140], "{settings:?}");
        // A variable keeps its value between launches, also between different kernels.
        run(&*device, launch(&program, "bump", vec![], [1; 3], [1; 3]));
        run(&*device, launch(&program, "next", vec![buffer(&memory)], [4, 1, 1], [4, 1, 1]));
        assert_eq!(words(&read(&*device, &memory, 0, 16)), [111, 121, 131, 141], "{settings:?}");
        // Another load of the program has its own variables.
        let again = load(&device, VARIABLES);
        run(&*device, launch(&again, "next", vec![buffer(&memory)], [4, 1, 1], [4, 1, 1]));
        assert_eq!(words(&read(&*device, &memory, 0, 16)), [110, 120, 130, 140], "{settings:?}");
    }
}

/// lavapipe stops the loops of a work-item after 65,535 iterations in total. Such a launch fails, and the next launch
/// does not. The settings cover both ways in which the host reads the failure word.
#[test]
fn launches_with_stopped_loops_fail() {
    const UNTIL: &str = "kernel void until(global float *a, uint n) {
        float x = 0;
        while (x < (float)n) { x += a[1 + (uint)x % 2u]; switch ((uint)x & 1u) { case 0: continue; default: break; } }
        a[0] = x;
    }";
    for settings in ALL {
        let device = device(settings);
        let source = Source { text: UNTIL.to_owned(), ..Source::default() };
        let built = build(&source, &BuildOptions::default(), device.target());
        let program = device.load(built.program.expect(&built.log).module, None).unwrap();
        let memory = device.allocate(64).unwrap();
        for n in [1_000_u32, 1_000_000, 1_000] {
            write(&*device, &memory, 0, &bytes(&[1_f32.to_bits(); 16]));
            let pending = start(&*device, launch(&program, "until", vec![buffer(&memory), value(n)], [1; 3], [1; 3]), false);
            device.flush();
            match pending.wait() {
                Ok(_) => assert_eq!(words(&read(&*device, &memory, 0, 4)), [(n as f32).to_bits()], "{settings:?}, {n} iterations"),
                Err(BackendError::Other(text)) => {
                    assert!(n > 65_535 && text.contains("stopped the loops"), "{settings:?}, {n} iterations: {text}")
                }
                Err(error) => panic!("{settings:?}, {n} iterations: {error}"),
            }
        }
    }
}
