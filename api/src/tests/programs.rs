//! Programs and kernels: builds, logs, binaries, linking, arguments, NDRanges.

use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::{Setup, read, setup, within_seconds};
use crate::commands::command::CommandType;
use crate::objects::kernel::{ArgValue, Kernel};
use crate::objects::memory::{Buffer, HostData, MemFlags};
use crate::objects::program::binary::BinaryKind;
use crate::objects::program::{BuildStatus, Program};
use crate::objects::queue::Queue;
use crate::test_backend::TestProgram;
use crate::types::error::Result;
use crate::types::flags::QueueProperties;
use crate::types::nd_range::NdRange;
use crate::types::status::Status;

const SOURCE: &str = "kernel void scale(global float *a, float f, local float *t) { int i = get_global_id(0); a[i] = a[i] * f; }\n\
                      kernel __attribute__((reqd_work_group_size(8, 1, 1))) void fixed(global int *a) { a[get_global_id(0)] = 1; }\n";

fn built(setup: &Setup) -> Arc<Program> {
    let program = Program::with_source(&setup.context, SOURCE.to_owned());
    let result = program.build(None, "", None);
    let log = program.build_of(&setup.context.devices()[0]).expect("build").log;
    assert!(result.is_ok(), "{log}");
    program
}

fn name_of<T>(result: Result<T>) -> &'static str {
    result.map_or_else(|error| error.name(), |_| "CL_SUCCESS")
}

#[test]
fn builds_report_status_log_and_kernels() {
    let setup = setup(1);
    let device = &setup.context.devices()[0];
    let program = Program::with_source(&setup.context, SOURCE.to_owned());
    assert_eq!(program.build_of(device).expect("build").status, BuildStatus::None);
    assert_eq!(name_of(program.kernel_names()), "CL_INVALID_PROGRAM_EXECUTABLE");
    assert_eq!(name_of(Kernel::new(&program, "scale")), "CL_INVALID_PROGRAM_EXECUTABLE");
    assert_eq!(name_of(program.build(None, "-no-such-option", None)), "CL_INVALID_BUILD_OPTIONS");
    assert_eq!(name_of(program.build(None, "-DX=1", None)), "CL_SUCCESS");
    let build = program.build_of(device).expect("build");
    assert_eq!((build.status, build.kind, build.options.as_str()), (BuildStatus::Success, BinaryKind::Executable, "-DX=1"));
    assert_eq!(program.kernel_names().expect("names"), ["scale", "fixed"]);
    let kernel = Kernel::new(&program, "scale").expect("kernel");
    assert_eq!(name_of(program.build(None, "", None)), "CL_INVALID_OPERATION", "a kernel is attached");
    drop(kernel);
    assert_eq!(name_of(program.build(None, "", None)), "CL_SUCCESS");
    assert_eq!(name_of(Kernel::new(&program, "missing")), "CL_INVALID_KERNEL_NAME");
    assert_eq!(Kernel::all(&program).expect("kernels").len(), 2);

    let wrong = Program::with_source(&setup.context, "kernel void f() { nonsense; }".to_owned());
    assert_eq!(name_of(wrong.build(None, "", None)), "CL_BUILD_PROGRAM_FAILURE");
    let build = wrong.build_of(device).expect("build");
    assert_eq!((build.status, build.kind), (BuildStatus::Error, BinaryKind::None));
    assert!(build.log.contains("nonsense"), "{}", build.log);
}

/// If the thread of a build cannot be created, the call fails and the build ends. A later build is possible.
#[cfg(unix)]
#[test]
fn a_build_without_a_thread_fails() {
    const VARIABLE: &str = "WGCL_TEST_BUILD_WITHOUT_THREAD";
    if std::env::var_os(VARIABLE).is_none() {
        // No address space has room for a stack of this size, so threads with the default size cannot be created.
        let status = std::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "tests::programs::a_build_without_a_thread_fails"])
            .env(VARIABLE, "1")
            .env("RUST_MIN_STACK", (1_u64 << 62).to_string())
            .status();
        assert!(status.expect("a child process").success());
        return;
    }
    assert!(std::thread::Builder::new().spawn(|| ()).is_err(), "a thread was created");
    let setup = setup(1);
    let program = Program::with_source(&setup.context, SOURCE.to_owned());
    let result = program.build(None, "", Some(Box::new(|| unreachable!("the callback was called"))));
    assert_eq!(name_of(result), "CL_OUT_OF_HOST_MEMORY");
    let build = program.build_of(&setup.context.devices()[0]).expect("build");
    assert_eq!(build.status, BuildStatus::Error);
    assert!(build.log.contains("cannot create the build thread"), "{}", build.log);
    assert_eq!(name_of(program.build(None, "", None)), "CL_SUCCESS");
}

#[test]
fn kernels_with_known_launches_are_compiled_early() {
    const SOURCE: &str = "#define GROUPS __attribute__((reqd_work_group_size(4, 2, 1)))
        GROUPS kernel void fixed_size(global int *a, float b) { a[get_global_id(0)] = get_local_id(0); }
        kernel void any_size(global int *a) { a[get_global_id(0)] = get_local_id(0); }
        GROUPS kernel void ignores_groups(global int *a) { a[get_global_id(0)] = 1; }
        GROUPS kernel void local_argument(global int *a, local int *b) { b[get_local_id(0)] = 1; a[get_global_id(0)] = b[0]; }
        GROUPS kernel void constants(global int *a, constant int *b) { a[get_global_id(0)] = b[get_local_id(0)]; }";
    let setup = setup(1);
    let program = Program::with_source(&setup.context, SOURCE.to_owned());
    program.build(None, "", None).expect("it builds");
    let executable = program.executables().into_iter().flatten().next().expect("an executable");
    let precompiled =
        || executable.loaded.as_any().downcast_ref::<TestProgram>().expect("a program of the tests").precompiled.lock().clone();
    assert_eq!(precompiled(), [], "kernels are precompiled before they are created");
    let kernels = Kernel::all(&program).expect("kernels");
    assert_eq!(kernels.len(), 5);
    let early = [("fixed_size".to_owned(), Some([4, 2, 1]), vec![]), ("ignores_groups".to_owned(), None, vec![])];
    assert_eq!(precompiled(), early);
    // The code of this kernel depends on the size of an argument.
    let kernel = kernels.iter().find(|kernel| &**kernel.name() == "constants").expect("the kernel");
    let buffer = Buffer::new(&setup.context, MemFlags::READ_WRITE, 100, HostData::None, None).expect("a buffer");
    kernel.set_buffer(1, &buffer).expect("a constant argument");
    assert_eq!(precompiled(), early, "an argument is missing");
    for _ in 0..2 {
        kernel.set_buffer(0, &buffer).expect("a global argument");
        assert_eq!(precompiled()[2..], [("constants".to_owned(), Some([4, 2, 1]), vec![100])]);
        kernel.set_arg(0, ArgValue::Null).expect("a null pointer");
    }
}

#[test]
fn the_log_warns_of_kernels_that_the_device_rejects() {
    let setup = setup(1);
    let program = Program::with_source(&setup.context, "kernel void fine() {} kernel void refused() {}".to_owned());
    program.build(None, "", None).expect("the build succeeds because of the other kernel");
    let log = program.build_of(&setup.context.devices()[0]).expect("build").log;
    assert!(log.contains("warning: kernel `refused`: its name is not supported"), "{log}");
    assert_eq!(program.kernel_names().expect("names"), ["fine", "refused"]);
}

#[test]
fn asynchronous_builds_call_back_after_the_result_is_recorded() {
    let setup = setup(2);
    let program = Program::with_source(&setup.context, SOURCE.to_owned());
    let (sender, receiver) = mpsc::channel();
    let seen = program.clone();
    let done = Box::new(move || {
        let statuses: Vec<_> = seen.devices().iter().map(|device| seen.build_of(device).expect("build").status).collect();
        sender.send(statuses).expect("send");
    });
    program.build(None, "", Some(done)).expect("build");
    let statuses = receiver.recv_timeout(Duration::from_secs(60)).expect("the callback comes");
    assert_eq!(statuses, [BuildStatus::Success; 2]);
}

#[test]
fn binaries_recreate_the_program() {
    let setup = setup(1);
    let device = setup.context.devices()[0].clone();
    let binary = built(&setup).binaries().remove(0);
    let again = Program::with_binaries(&setup.context, &[(device.clone(), &binary)]).expect("program");
    assert_eq!(again.build_of(&device).expect("build").kind, BinaryKind::Executable);
    assert_eq!(name_of(Kernel::new(&again, "scale")), "CL_INVALID_PROGRAM_EXECUTABLE", "a binary is built before it is used");
    again.build(None, "", None).expect("build");
    assert_eq!(again.kernel_names().expect("names"), ["scale", "fixed"]);
    let mut damaged = binary.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    let (error, valid) = Program::with_binaries(&setup.context, &[(device.clone(), &binary), (device, &damaged)]).expect_err("damaged");
    assert_eq!((error.name(), valid), ("CL_INVALID_BINARY", vec![true, false]));
}

#[test]
fn programs_are_compiled_separately_and_linked() {
    let setup = setup(1);
    let context = &setup.context;
    let make = |source: &str| Program::with_source(context, source.to_owned());
    let header = make("int twice(int x);\n#define FACTOR 2\n");
    let library = make("#include \"twice.h\"\nint twice(int x) { return x * FACTOR + OFFSET; }\n");
    let main = make("#include \"twice.h\"\nkernel void k(global int *a) { a[0] = twice(a[0]); }\n");
    let headers = [("twice.h".to_owned(), header)];
    assert_eq!(name_of(library.compile(None, "", &headers, None)), "CL_COMPILE_PROGRAM_FAILURE", "OFFSET is missing");
    library.compile(None, "-DOFFSET=3", &headers, None).expect("compile");
    main.compile(None, "", &headers, None).expect("compile");
    let device = &context.devices()[0];
    assert_eq!(main.build_of(device).expect("build").kind, BinaryKind::CompiledObject);
    let (alone, result) = Program::link(context, None, "", std::slice::from_ref(&main), None).expect("link");
    assert_eq!(name_of(result), "CL_LINK_PROGRAM_FAILURE");
    assert!(alone.build_of(device).expect("build").log.contains("twice"));
    let (archive, result) = Program::link(context, None, "-create-library", &[library], None).expect("link");
    result.expect("library");
    assert_eq!(archive.build_of(device).expect("build").kind, BinaryKind::Library);
    let (linked, result) = Program::link(context, None, "", &[main.clone(), archive], None).expect("link");
    let log = linked.build_of(device).expect("build").log;
    assert!(result.is_ok(), "{log}");
    assert_eq!(linked.kernel_names().expect("names"), ["k"]);
    assert_eq!(name_of(linked.build(None, "", None)), "CL_INVALID_OPERATION");
    assert_eq!(name_of(Program::link(context, None, "-what", &[main], None)), "CL_INVALID_LINKER_OPTIONS");
    assert_eq!(name_of(Program::link(context, None, "", &[make("")], None)), "CL_INVALID_OPERATION");
}

#[test]
fn linking_skips_devices_without_compiled_inputs() {
    let setup = setup(2);
    let context = &setup.context;
    let [first, second] = context.devices() else { unreachable!("two devices") };
    let make = |source: &str| Program::with_source(context, source.to_owned());
    let (main, part) = (make("int f(int); kernel void k(global int *a) { a[0] = f(1); }"), make("int f(int x) { return x; }"));
    main.compile(Some(std::slice::from_ref(first)), "", &[], None).expect("compile");
    part.compile(Some(std::slice::from_ref(first)), "", &[], None).expect("compile");
    let (program, result) = Program::link(context, None, "", &[main.clone(), part.clone()], None).expect("link");
    result.expect("linked");
    assert_eq!(program.build_of(first).expect("build").kind, BinaryKind::Executable);
    let other = program.build_of(second).expect("build");
    assert_eq!((other.status, other.kind), (BuildStatus::None, BinaryKind::None));
    // Linking for a device requires that all inputs are compiled for it.
    part.compile(None, "", &[], None).expect("compile");
    assert_eq!(name_of(Program::link(context, None, "", &[main, part], None)), "CL_INVALID_OPERATION");
}

fn launch(queue: &Arc<Queue>, kernel: &Arc<Kernel>, global: &[usize], local: Option<&[usize]>, offset: Option<&[usize]>) -> &'static str {
    let range = NdRange { work_dim: global.len() as u32, global_offset: offset, global_size: Some(global), local_size: local };
    name_of(queue.launch(CommandType::NdRangeKernel, kernel, &range, &[]))
}

#[test]
fn required_sizes_above_the_limits_are_rejected() {
    const SOURCE: &str = "__attribute__((reqd_work_group_size(2048, 1, 1))) kernel void wide(global int *a) { a[get_global_id(0)] = 1; }
        __attribute__((reqd_work_group_size(64, 64, 1))) kernel void many(global int *a) { a[get_global_id(0)] = 1; }
        __attribute__((reqd_work_group_size(64, 16, 1))) kernel void largest(global int *a) { a[get_global_id(0)] = 1; }";
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let program = Program::with_source(&setup.context, SOURCE.to_owned());
    assert_eq!(name_of(program.build(None, "", None)), "CL_SUCCESS");
    let buffer = setup.buffer(&[0; 64]);
    // The device accepts 1,024 work-items per work-group.
    for (name, given, explicit, implicit) in [
        ("wide", [2048, 1], "CL_INVALID_WORK_ITEM_SIZE", "CL_INVALID_WORK_GROUP_SIZE"),
        ("many", [64, 64], "CL_INVALID_WORK_GROUP_SIZE", "CL_INVALID_WORK_GROUP_SIZE"),
        ("largest", [64, 16], "CL_SUCCESS", "CL_SUCCESS"),
    ] {
        let kernel = Kernel::new(&program, name).expect("kernel");
        kernel.set_arg(0, ArgValue::Buffer(Arc::downgrade(&buffer))).expect("buffer");
        assert_eq!(launch(&queue, &kernel, &[2048, 64], Some(&given), None), explicit, "{name}");
        assert_eq!(launch(&queue, &kernel, &[2048, 64], None, None), implicit, "{name}");
    }
}

#[test]
fn arguments_are_checked_and_captured() {
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let kernel = Kernel::new(&built(&setup), "scale").expect("kernel");
    let buffer = setup.buffer(&[0; 64]);
    assert_eq!(launch(&queue, &kernel, &[16], None, None), "CL_INVALID_KERNEL_ARGS");
    let value = |size: usize| ArgValue::Value(vec![0; size].into());
    assert_eq!(name_of(kernel.set_arg(3, value(4))), "CL_INVALID_ARG_INDEX");
    assert_eq!(name_of(kernel.set_arg(1, value(8))), "CL_INVALID_ARG_SIZE");
    assert_eq!(name_of(kernel.set_arg(1, ArgValue::Null)), "CL_INVALID_ARG_VALUE");
    assert_eq!(name_of(kernel.set_arg(2, ArgValue::Local(0))), "CL_INVALID_ARG_SIZE");
    kernel.set_arg(0, ArgValue::Buffer(Arc::downgrade(&buffer))).expect("buffer");
    kernel.set_arg(1, value(4)).expect("value");
    kernel.set_arg(2, ArgValue::Local(1 << 20)).expect("local");
    assert_eq!(launch(&queue, &kernel, &[16], None, None), "CL_OUT_OF_RESOURCES", "the kernel needs more local memory than the device has");
    kernel.set_arg(2, ArgValue::Local(64)).expect("local");
    assert_eq!(kernel.work_group_info(queue.device()).expect("info").local_memory, 64);
    assert_eq!(launch(&queue, &kernel, &[16], None, None), "CL_SUCCESS");
    let other = super::setup(1).buffer(&[0; 4]);
    assert_eq!(name_of(kernel.set_arg(0, ArgValue::Buffer(Arc::downgrade(&other)))), "CL_INVALID_CONTEXT");
    let copy = kernel.duplicate();
    kernel.set_arg(0, ArgValue::Null).expect("null");
    assert_eq!(launch(&queue, &copy, &[16], None, None), "CL_SUCCESS");
    assert_eq!(read(&queue, &buffer).len(), 64);
    drop(buffer);
    assert_eq!(launch(&queue, &copy, &[16], None, None), "CL_INVALID_KERNEL_ARGS", "kernels do not keep buffers alive");
}

#[test]
fn ranges_are_checked() {
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let program = built(&setup);
    let buffer = setup.buffer(&[0; 64]);
    let free = Kernel::new(&program, "scale").expect("kernel");
    free.set_arg(1, ArgValue::Value(vec![0; 4].into())).expect("value");
    free.set_arg(2, ArgValue::Local(64)).expect("local");
    let fixed = Kernel::new(&program, "fixed").expect("kernel");
    for kernel in [&free, &fixed] {
        kernel.set_arg(0, ArgValue::Buffer(Arc::downgrade(&buffer))).expect("buffer");
    }
    assert_eq!(launch(&queue, &free, &[], None, None), "CL_INVALID_WORK_DIMENSION");
    assert_eq!(launch(&queue, &free, &[1, 1, 1, 1], None, None), "CL_INVALID_WORK_DIMENSION");
    assert_eq!(launch(&queue, &free, &[usize::MAX], None, None), "CL_INVALID_GLOBAL_WORK_SIZE");
    assert_eq!(launch(&queue, &free, &[16], None, Some(&[usize::MAX])), "CL_INVALID_GLOBAL_OFFSET");
    assert_eq!(launch(&queue, &free, &[16], Some(&[5]), None), "CL_INVALID_WORK_GROUP_SIZE");
    assert_eq!(launch(&queue, &free, &[16], Some(&[0]), None), "CL_INVALID_WORK_GROUP_SIZE");
    assert_eq!(launch(&queue, &free, &[4096], Some(&[2048]), None), "CL_INVALID_WORK_ITEM_SIZE");
    assert_eq!(launch(&queue, &free, &[64, 64], Some(&[64, 64]), None), "CL_INVALID_WORK_GROUP_SIZE");
    assert_eq!(launch(&queue, &fixed, &[16], Some(&[16]), None), "CL_INVALID_WORK_GROUP_SIZE");
    assert_eq!(launch(&queue, &fixed, &[12], None, None), "CL_INVALID_WORK_GROUP_SIZE");
    assert_eq!(launch(&queue, &fixed, &[16], Some(&[8]), None), "CL_SUCCESS");
    assert_eq!(launch(&queue, &fixed, &[16], None, None), "CL_SUCCESS");
    assert_eq!(launch(&queue, &free, &[64, 32], Some(&[32, 32]), Some(&[1, 2])), "CL_SUCCESS");
    let nothing = NdRange { work_dim: 2, global_offset: None, global_size: Some(&[16, 0]), local_size: None };
    let event = queue.launch(CommandType::NdRangeKernel, &free, &nothing, &[]).expect("an empty range succeeds");
    queue.flush();
    assert_eq!(event.wait(), Status::COMPLETE);
    assert_eq!(event.command_type(), CommandType::NdRangeKernel);
    assert!(within_seconds(|| setup.devices[0].executed.load(Ordering::Relaxed) >= 4));
}
