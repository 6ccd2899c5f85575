//! Programs in an intermediate language: SPIR-V modules through clCreateProgramWithIL, alone and linked with OpenCL C,
//! their queries and diagnostics.

mod common;

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

use common::features::require;
use common::ffi::{
    CL_DEVICE_EXTENSIONS, CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR, CL_INVALID_OPERATION, CL_INVALID_PROGRAM, CL_INVALID_VALUE,
    CL_INVALID_WORK_GROUP_SIZE, CL_PROGRAM_BINARIES, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_SOURCE, CL_SUCCESS, CL_TRUE, cl_context, cl_int,
    cl_program, cl_uint,
};
use common::objects::{Context, Kernel, Program};
use common::{info, info_bytes, info_string, target};

const CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE: cl_uint = 0x2033;
const CL_DEVICE_IL_VERSION: cl_uint = 0x105B;
const CL_DEVICE_ILS_WITH_VERSION: cl_uint = 0x1061;
const CL_DEVICE_SPIRV_CAPABILITIES_KHR: cl_uint = 0x12BB;
const CL_PROGRAM_IL: cl_uint = 0x1169;
const CL_INVALID_SPEC_ID: cl_int = -71;

/// `k` writes three values: the length of an array, 7 or 100 (selected by a flag), and a 64-bit constant as `uint`.
/// `constants.spvasm` is the assembly text of the module.
const CONSTANTS: &[u8] = include_bytes!("../../tests/spirv/constants.spv");
/// Exports `twice`. The kernel `call` calls `thrice`, which the module imports.
const LINKED: &[u8] = include_bytes!("../../tests/spirv/linked.spv");

/// `turn` reverses the elements of a work-group of 8 with a split barrier (`SPV_INTEL_split_barrier`).
const SPLIT: &[u8] = include_bytes!("../../tests/spirv/split.spv");

/// `order` writes 1 if no clock reading decreased.
const CLOCK: &[u8] = include_bytes!("../../tests/spirv/clock.spv");

/// `rounds` counts with a named barrier of the subgroups with an even number, and with one of all subgroups.
const NAMED_BARRIERS: &[u8] = include_bytes!("../../tests/spirv/named_barriers.spv");

/// `send` and `receive` use two program-scope pipes.
const PIPE_STORAGE: &[u8] = include_bytes!("../../tests/spirv/pipe_storage.spv");

fn has_extension(wanted: &str) -> bool {
    let names = info_string(|size, value, ret| target().cl.clGetDeviceInfo(target().device, CL_DEVICE_EXTENSIONS, size, value, ret));
    names.unwrap_or_default().split_whitespace().any(|name| name == wanted)
}

fn accepts_il() -> bool {
    require("cl_khr_il_program", has_extension("cl_khr_il_program"))
}

fn create(context: &Context, bytes: &[u8]) -> (Program, cl_int) {
    let mut status = 1;
    let program = target().cl.clCreateProgramWithIL(context.0, bytes.as_ptr().cast(), bytes.len(), &mut status);
    (Program(program), status)
}

/// Runs a kernel whose only argument is a buffer of integers. Returns the contents of the buffer after the launch.
fn run<const N: usize>(context: &Context, program: &Program, kernel: &str, items: usize) -> [i32; N] {
    let cl = &target().cl;
    let queue = context.queue(0);
    let buffer = context.buffer(N * 4);
    let kernel = program.kernel(kernel);
    assert_eq!(kernel.set(0, &buffer.0), CL_SUCCESS);
    let status = cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &items, null(), 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    let mut found = [0; N];
    let status = cl.clEnqueueReadBuffer(queue.0, buffer.0, CL_TRUE, 0, N * 4, found.as_mut_ptr().cast(), 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    found
}

fn specialise<T>(program: &Program, number: cl_uint, value: &T) -> cl_int {
    target().cl.clSetProgramSpecializationConstant(program.0, number, size_of::<T>(), (&raw const *value).cast())
}

#[test]
fn il_versions_are_reported() {
    if !accepts_il() {
        return;
    }
    let target = target();
    let text = info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_IL_VERSION, size, value, ret));
    let text = text.expect("the versions");
    assert!(text.split(' ').any(|name| name == "SPIR-V_1.2"), "{text}");
    let list = info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_ILS_WITH_VERSION, size, value, ret));
    // Each entry has a version of 4 bytes and a name of 64 bytes.
    assert_eq!(list.expect("the list").len(), text.split(' ').count() * 68);
    if target.is_wgcl() {
        let found =
            info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_SPIRV_CAPABILITIES_KHR, size, value, ret));
        let found = found.expect("the capabilities");
        let kernel = 6_u32.to_ne_bytes();
        assert!(found.chunks_exact(4).any(|word| word == kernel));
    }
}

#[test]
fn invalid_modules_are_rejected() {
    if !accepts_il() {
        return;
    }
    let context = Context::new();
    for bytes in [b"kernel void k() {}".as_slice(), &[0; 64], &CONSTANTS[..18]] {
        let (program, status) = create(&context, bytes);
        assert_eq!((program.0.is_null(), status), (true, CL_INVALID_VALUE));
        std::mem::forget(program);
    }
    // The header is valid, but the rest of the module is not. The build reports the error.
    let mut damaged = CONSTANTS.to_vec();
    damaged[23] = 0x7f;
    let (program, status) = create(&context, &damaged);
    assert_eq!(status, CL_SUCCESS);
    assert_ne!(program.build(""), CL_SUCCESS);
    assert!(program.log().contains("at byte "), "{}", program.log());
}

#[test]
fn a_module_is_built_and_its_queries_are_answered() {
    if !accepts_il() {
        return;
    }
    let (context, target) = (Context::new(), target());
    let (program, status) = create(&context, CONSTANTS);
    assert_eq!(status, CL_SUCCESS);
    let info =
        |name: cl_uint| info_bytes(|size, value, ret| target.cl.clGetProgramInfo(program.0, name, size, value, ret)).expect("an answer");
    assert_eq!(info(CL_PROGRAM_IL), CONSTANTS);
    assert!(info(CL_PROGRAM_SOURCE).iter().all(|byte| *byte == 0));
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
    assert_eq!(run::<3>(&context, &program, "k", 1), [9, 7, 5]);
}

#[test]
fn split_barriers_exchange_elements() {
    if !accepts_il() {
        return;
    }
    let context = Context::new();
    let (program, _) = create(&context, SPLIT);
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
    assert_eq!(run::<8>(&context, &program, "turn", 8), [49, 36, 25, 16, 9, 4, 1, 0]);
}

/// Returns the capabilities that the device reports for SPIR-V modules.
fn capabilities() -> Vec<u32> {
    let (cl, device) = (&target().cl, target().device);
    let found = info_bytes(|size, value, ret| cl.clGetDeviceInfo(device, CL_DEVICE_SPIRV_CAPABILITIES_KHR, size, value, ret));
    found.unwrap_or_default().as_chunks::<4>().0.iter().map(|bytes| u32::from_ne_bytes(*bytes)).collect()
}

#[test]
fn named_barriers_wait_for_some_subgroups() {
    const NAMED_BARRIER: u32 = 59;
    if !accepts_il() {
        return;
    }
    let (context, target) = (Context::new(), target());
    let present = has_extension("cl_khr_subgroup_named_barrier");
    let count = info::<cl_uint>(|size, value, ret| {
        target.cl.clGetDeviceInfo(target.device, CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR, size, value, ret)
    });
    let (program, _) = create(&context, NAMED_BARRIERS);
    if !present {
        if target.is_wgcl() {
            assert_eq!((count, has_extension("cl_khr_subgroups")), (Err(CL_INVALID_VALUE), false));
            assert!(!capabilities().contains(&NAMED_BARRIER));
            assert_ne!(program.build(""), CL_SUCCESS);
            assert!(program.log().contains("a named barrier on this device"), "{}", program.log());
        }
        return;
    }
    assert!(count.is_ok_and(|count| count >= 8), "{count:?}");
    assert!(!target.is_wgcl() || capabilities().contains(&NAMED_BARRIER));
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
    let kernel = program.kernel("rounds");
    let queue = context.queue(0);
    let out = context.buffer(1024 * 4);
    kernel.set_mem(0, &out);
    // The last subgroup of a group of 50 work-items is smaller. A group of one work-item has one subgroup.
    for (global, local) in [(1024, 64), (512, 256), (100, 50), (7, 1)] {
        queue.write(&out, &[0_u32; 1024]);
        assert_eq!(queue.launch(&kernel, &[global], Some(&[local])), CL_SUCCESS);
        assert_eq!(queue.read::<u32>(&out, global), vec![1; global], "{global} work-items in groups of {local}");
    }
}

#[test]
fn pipe_storage_keeps_packets_between_launches() {
    const PIPE_STORAGE_CAPABILITY: u32 = 60;
    if !accepts_il() {
        return;
    }
    let (context, target) = (Context::new(), target());
    if !target.is_wgcl() && !capabilities().contains(&PIPE_STORAGE_CAPABILITY) {
        return;
    }
    assert!(capabilities().contains(&PIPE_STORAGE_CAPABILITY));
    let (program, _) = create(&context, PIPE_STORAGE);
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
    assert_eq!(run::<3>(&context, &program, "send", 3), [0, 0, 0]);
    assert_eq!(run::<6>(&context, &program, "receive", 1), [3, 3, 0, 100, 0, 7]);
    assert_eq!(run::<6>(&context, &program, "receive", 1)[..2], [2, 3]);
    // The first pipe has place for three more packets, the second one for two.
    let mut found = run::<3>(&context, &program, "send", 3);
    found.sort_unstable();
    assert_eq!(found, [-1, 0, 0]);
    // Another program of the same module has its own pipes.
    let (other, _) = create(&context, PIPE_STORAGE);
    assert_eq!(other.build(""), CL_SUCCESS, "{}", other.log());
    assert_eq!(run::<6>(&context, &other, "receive", 1)[..2], [0, 3]);
}

#[test]
fn clock_readings_do_not_decrease() {
    if !accepts_il() || !require("cl_khr_kernel_clock", has_extension("cl_khr_kernel_clock")) {
        return;
    }
    let context = Context::new();
    let (program, _) = create(&context, CLOCK);
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
    assert_eq!(run::<1>(&context, &program, "order", 1), [1]);
}

#[test]
fn specialization_constants_are_set() {
    if !accepts_il() {
        return;
    }
    let context = Context::new();
    let (program, _) = create(&context, CONSTANTS);
    assert_eq!(specialise(&program, 1, &3_u32), CL_SUCCESS);
    assert_eq!(specialise(&program, 2, &1_u8), CL_SUCCESS);
    assert_eq!(specialise(&program, 7, &9_u64), CL_SUCCESS);
    assert_eq!(specialise(&program, 3, &9_u32), CL_INVALID_SPEC_ID);
    assert_eq!(specialise(&program, 1, &9_u64), CL_INVALID_VALUE);
    assert_eq!(target().cl.clSetProgramSpecializationConstant(program.0, 1, 4, null::<c_void>()), CL_INVALID_VALUE);
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
    assert_eq!(run::<3>(&context, &program, "k", 1), [7, 100, 9]);
    // A specialisation constant does not change a built program until the program is built again.
    assert_eq!(specialise(&program, 1, &5_u32), CL_SUCCESS);
    assert_eq!(run::<3>(&context, &program, "k", 1), [7, 100, 9]);
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
    assert_eq!(run::<3>(&context, &program, "k", 1), [11, 100, 9]);
    let source = context.program("kernel void k(global int *out) { *out = 1; }");
    let status = specialise(&source, 1, &3_u32);
    assert!(matches!(status, CL_INVALID_PROGRAM | CL_INVALID_OPERATION), "{status}");
}

/// A module with two kernels. `shuffles` requires subgroups of 16 work-items. `counted` requires two subgroups of any
/// size. `subgroups.spvasm` is the assembly text of the module.
const SUBGROUPS: &[u8] = include_bytes!("../../tests/spirv/subgroups.spv");
const CL_DEVICE_SUB_GROUP_SIZES_INTEL: cl_uint = 0x4108;
const CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL: cl_uint = 0x410A;
const CL_KERNEL_COMPILE_NUM_SUB_GROUPS: cl_uint = 0x11BA;
const CL_KERNEL_ATTRIBUTES: cl_uint = 0x1195;

/// Returns the module [`SUBGROUPS`] with `size` in place of the required subgroup size 16.
fn requiring(size: u32) -> Vec<u8> {
    let mut words: Vec<u32> = SUBGROUPS.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    // Find an OpExecutionMode of four words, with the mode SubgroupSize.
    let at = words.windows(3).position(|words| words[0] == 4 << 16 | 16 && words[2] == 35).expect("the mode");
    words[at + 3] = size;
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn modules_require_subgroup_sizes() {
    let (cl, device) = (&target().cl, target().device);
    let sizes = info_bytes(|size, value, ret| cl.clGetDeviceInfo(device, CL_DEVICE_SUB_GROUP_SIZES_INTEL, size, value, ret));
    let Some(size) = sizes.ok().and_then(|bytes| bytes.as_chunks::<8>().0.first().map(|bytes| usize::from_ne_bytes(*bytes))) else {
        return;
    };
    let context = Context::new();
    if !accepts_il() || size > 64 {
        return;
    }
    let (program, _) = create(&context, &requiring(7));
    assert_ne!(program.build(""), CL_SUCCESS);
    assert!(program.log().contains("subgroup size 7 is not supported"), "{}", program.log());
    let (program, status) = create(&context, &requiring(size as u32));
    assert_eq!(status, CL_SUCCESS);
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
    let (shuffles, blocks, counted) = (program.kernel("shuffles"), program.kernel("blocks"), program.kernel("counted"));
    let compiled = |kernel: &Kernel, name: cl_uint| {
        info::<usize>(|size, value, ret| cl.clGetKernelSubGroupInfo(kernel.0, device, name, 0, null(), size, value, ret))
    };
    assert_eq!(compiled(&shuffles, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL), Ok(size));
    assert_eq!(compiled(&blocks, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL), Ok(0));
    assert_eq!((compiled(&blocks, CL_KERNEL_COMPILE_NUM_SUB_GROUPS), compiled(&counted, CL_KERNEL_COMPILE_NUM_SUB_GROUPS)), (Ok(0), Ok(2)));
    let queue = context.queue(0);
    let wrong = context.buffer(64 * 4);
    queue.write(&wrong, &[9u32; 64]);
    shuffles.set_mem(0, &wrong);
    assert_eq!(queue.launch(&shuffles, &[64], Some(&[64])), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&wrong, 64), [0; 64]);
    let data = context.buffer(256 * 2);
    queue.write(&data, &std::array::from_fn::<u16, 256, _>(|index| index as u16));
    blocks.set_mem(0, &data);
    assert_eq!(queue.launch(&blocks, &[64], Some(&[64])), CL_SUCCESS);
    assert_eq!(queue.read::<u16>(&data, 256), std::array::from_fn::<u16, 256, _>(|index| index as u16 + 1));
    // `counted` requires no subgroup size, so its subgroups have the default size.
    let one = [1_usize];
    let size = info::<usize>(|capacity, value, ret| {
        let (bytes, range) = (size_of_val(&one), one.as_ptr().cast());
        cl.clGetKernelSubGroupInfo(counted.0, device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, bytes, range, capacity, value, ret)
    })
    .expect("a size");
    let counts = context.buffer(size * 4 * 4);
    counted.set_mem(0, &counts);
    assert_eq!(queue.launch(&counted, &[size * 4], Some(&[size * 4])), CL_INVALID_WORK_GROUP_SIZE);
    assert_eq!(queue.launch(&counted, &[size * 4], None), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&counts, size * 4), vec![2; size * 4]);
}

#[test]
fn sources_require_subgroup_sizes() {
    let (cl, device) = (&target().cl, target().device);
    let sizes = info_bytes(|size, value, ret| cl.clGetDeviceInfo(device, CL_DEVICE_SUB_GROUP_SIZES_INTEL, size, value, ret));
    let Ok(sizes) = sizes else { return };
    let context = Context::new();
    for size in sizes.as_chunks::<8>().0.iter().map(|bytes| usize::from_ne_bytes(*bytes)) {
        let source = "#ifndef cl_intel_required_subgroup_size
             #error
             #endif
             __attribute__((intel_reqd_sub_group_size(SIZE))) kernel void k(global int *a) { a[get_global_id(0)] = get_max_sub_group_size(); }";
        let program = context.program(source);
        assert_eq!(program.build(&format!("-DSIZE={size}")), CL_SUCCESS, "{}", program.log());
        let kernel = program.kernel("k");
        let compiled = info::<usize>(|capacity, value, ret| {
            cl.clGetKernelSubGroupInfo(kernel.0, device, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, 0, null(), capacity, value, ret)
        });
        assert_eq!(compiled, Ok(size));
        let text = info_string(|capacity, value, ret| cl.clGetKernelInfo(kernel.0, CL_KERNEL_ATTRIBUTES, capacity, value, ret));
        assert_eq!(text, Ok(format!("intel_reqd_sub_group_size({size})")));
        assert_eq!(run::<4>(&context, &program, "k", 4), [size as i32; 4]);
        let is_listed = sizes.as_chunks::<8>().0.contains(&(size * 2).to_ne_bytes());
        assert_eq!(context.program(source).build(&format!("-DSIZE={}", size * 2)) == CL_SUCCESS, is_listed);
    }
}

#[test]
fn the_extension_function_is_found() {
    type Create = unsafe extern "C" fn(cl_context, *const c_void, usize, *mut cl_int) -> cl_program;
    if !accepts_il() {
        return;
    }
    let (context, target) = (Context::new(), target());
    let found = target.cl.clGetExtensionFunctionAddressForPlatform(target.platform, c"clCreateProgramWithILKHR".as_ptr());
    assert!(!found.is_null());
    // SAFETY: the type of the function of this name.
    let function = unsafe { std::mem::transmute::<*mut c_void, Create>(found) };
    let mut status = 1;
    // SAFETY: the byte count matches the argument.
    let program = Program(unsafe { function(context.0, CONSTANTS.as_ptr().cast(), CONSTANTS.len(), &mut status) });
    assert_eq!(status, CL_SUCCESS);
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
}

#[test]
fn a_binary_holds_the_module_and_its_constants() {
    if !accepts_il() {
        return;
    }
    let (context, target) = (Context::new(), target());
    let (program, _) = create(&context, CONSTANTS);
    assert_eq!(specialise(&program, 1, &3_u32), CL_SUCCESS);
    assert_eq!(program.build(""), CL_SUCCESS, "{}", program.log());
    let mut size = 0_usize;
    let status = target.cl.clGetProgramInfo(program.0, CL_PROGRAM_BINARY_SIZES, 8, (&raw mut size).cast(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    let mut binary = vec![0_u8; size];
    let mut place = binary.as_mut_ptr();
    let status = target.cl.clGetProgramInfo(program.0, CL_PROGRAM_BINARIES, 8, (&raw mut place).cast(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    let (mut loaded, mut status) = (1, 1);
    let bytes = binary.as_ptr();
    let again = Program(target.cl.clCreateProgramWithBinary(context.0, 1, &target.device, &size, &bytes, &mut loaded, &mut status));
    assert_eq!((loaded, status), (CL_SUCCESS, CL_SUCCESS));
    assert_eq!(again.build(""), CL_SUCCESS, "{}", again.log());
    assert_eq!(run::<3>(&context, &again, "k", 1), [7, 7, 5]);
}

#[test]
fn modules_are_linked_with_sources() {
    if !accepts_il() {
        return;
    }
    let (context, target) = (Context::new(), target());
    let compile = |program: &Program| {
        let options = CString::default();
        let status = target.cl.clCompileProgram(program.0, 1, &target.device, options.as_ptr(), 0, null(), null(), None, null_mut());
        assert_eq!(status, CL_SUCCESS, "{}", program.log());
    };
    let (module, status) = create(&context, LINKED);
    assert_eq!(status, CL_SUCCESS);
    let source = context.program(
        "int twice(int x);\n\
         int thrice(int x) { return 3 * x; }\n\
         kernel void source(global int *out) { out[get_global_id(0)] = twice(get_global_id(0)) + 1; }",
    );
    compile(&module);
    compile(&source);
    let inputs = [module.0, source.0];
    let mut status = 1;
    let linked = target.cl.clLinkProgram(context.0, 1, &target.device, null(), 2, inputs.as_ptr(), None, null_mut(), &mut status);
    let linked = Program(linked);
    assert_eq!(status, CL_SUCCESS, "{}", linked.log());
    assert_eq!(run::<4>(&context, &linked, "source", 4), [1, 3, 5, 7]);
    assert_eq!(run::<4>(&context, &linked, "call", 4), [0, 3, 6, 9]);
    // Without the other module, the import `thrice` is undefined.
    let (alone, _) = create(&context, LINKED);
    assert_ne!(alone.build(""), CL_SUCCESS);
    assert!(alone.log().contains("thrice"), "{}", alone.log());
}
