//! Launches of command buffers that change between runs (cl_khr_command_buffer_mutable_dispatch): the effects of
//! updates, arguments set after recording, queries, and every error that the specification names.

mod common;

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use common::commands::{Commands, Config, Functions, Handle, NewArg, NewInfo, functions};
use common::ffi::{
    CL_INVALID_ARG_INDEX, CL_INVALID_ARG_SIZE, CL_INVALID_KERNEL_ARGS, CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION, CL_INVALID_VALUE,
    CL_INVALID_WORK_GROUP_SIZE, CL_MAP_READ, CL_MEM_READ_WRITE, CL_SUCCESS, CL_TRUE, cl_int, cl_uint,
};
use common::objects::{Context, Kernel, Queue};
use common::{info, info_bytes, target};

const CL_INVALID_COMMAND_BUFFER_KHR: cl_int = -1138;
const CL_INVALID_MUTABLE_COMMAND_KHR: cl_int = -1141;
const CL_COMMAND_BUFFER_FLAGS_KHR: u64 = 0x1293;
const CL_COMMAND_BUFFER_STATE_KHR: cl_uint = 0x1297;
const CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR: u64 = 0x12B7;
const CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR: u64 = 0x12B1;
const CL_MUTABLE_DISPATCH_ASSERTS_KHR: u64 = 0x12B8;
const CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR: cl_uint = 0x12A0;
const CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR: cl_uint = 0x12A1;
const CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR: cl_uint = 0x12A2;
const CL_MUTABLE_DISPATCH_KERNEL_KHR: cl_uint = 0x12A3;
const CL_MUTABLE_DISPATCH_DIMENSIONS_KHR: cl_uint = 0x12A4;
const CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR: cl_uint = 0x12A5;
const CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR: cl_uint = 0x12A6;
const CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR: cl_uint = 0x12A7;
const CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR: cl_uint = 0x12AD;
const CL_KERNEL_EXEC_INFO_SVM_PTRS: cl_uint = 0x11B6;

/// CL_COMMAND_BUFFER_MUTABLE_KHR
const MUTABLE: [u64; 3] = [CL_COMMAND_BUFFER_FLAGS_KHR, 2, 0];
/// The bits of CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR
const OFFSET: u64 = 1;
const GLOBAL: u64 = 2;
const LOCAL: u64 = 4;
const ARGUMENTS: u64 = 8;

const SOURCE: &str = "
kernel void add(global uint *a, uint by) { a[get_global_id(0)] += by; }
kernel void groups(global uint *a, local uint *l) { l[0] = get_num_groups(0); a[get_global_id(0)] = l[0] + (uint)get_global_offset(0); }
";

fn fields(bits: u64) -> [u64; 3] {
    [CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, bits, 0]
}

fn query<T: Copy + Default>(command: Handle, name: cl_uint) -> Result<T, cl_int> {
    let functions = functions().expect("the functions");
    info(|size, value, ret| functions.clGetMutableCommandInfoKHR(command, name, size, value, ret))
}

/// A kernel `add` whose arguments are a buffer of 16 zeros and the value 1, and an empty mutable command buffer.
struct Setup {
    functions: &'static Functions,
    context: Context,
    queue: Queue,
    a: common::objects::Mem,
    add: Kernel,
    commands: Commands,
}

fn setup() -> Option<Setup> {
    let functions = functions()?;
    let context = Context::new();
    let queue = context.queue(0);
    let a = context.buffer(64);
    queue.write(&a, &[0u32; 16]);
    let add = context.build(SOURCE).kernel("add");
    add.set_mem(0, &a);
    assert_eq!(add.set(1, &1u32), CL_SUCCESS);
    let commands = Commands::with(functions, &queue, &MUTABLE);
    Some(Setup { functions, context, queue, a, add, commands })
}

impl Setup {
    fn contents(&self) -> Vec<u32> {
        self.queue.read(&self.a, 16)
    }
}

/// Returns the values of a list of runs. Each run is a count and a value.
fn runs(parts: &[(usize, u32)]) -> Vec<u32> {
    parts.iter().flat_map(|&(count, value)| vec![value; count]).collect()
}

#[test]
fn the_implemented_version_of_the_extension_is_reported() {
    let target = target();
    if !target.is_wgcl() {
        return;
    }
    // Each cl_name_version has a cl_uint and 64 bytes.
    let with_version = info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, 0x1060, size, value, ret)).expect("versions");
    let version = with_version.chunks(68).find_map(|entry| {
        let name = CStr::from_bytes_until_nul(&entry[4..]).ok()?;
        (name == c"cl_khr_command_buffer_mutable_dispatch").then(|| u32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]))
    });
    assert_eq!(version, Some((9 << 12) | 5), "0.9.5");
    let capabilities = info::<u64>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, 0x12B0, size, value, ret));
    assert_eq!(capabilities, Ok(0b11111));
}

#[test]
fn updated_arguments_persist() {
    let Some(setup) = setup() else { return };
    let Setup { context, queue, a, add, commands, .. } = &setup;
    let command = commands.launch_mutable(add, 8, None, None).expect("recorded");
    commands.launch(add, 4, None, &[]);
    commands.finalize();
    commands.enqueue();
    assert_eq!(setup.contents(), runs(&[(4, 2), (4, 1), (8, 0)]));
    assert_eq!(commands.update(&[Config::new(command).with_args(&[NewArg::new(1, &100u32)])]), CL_SUCCESS);
    // The update changes neither the arguments of the kernel object nor the other launch.
    commands.enqueue();
    commands.enqueue();
    assert_eq!(setup.contents(), runs(&[(4, 204), (4, 201), (8, 0)]));
    assert_eq!(queue.launch(add, &[16], None), CL_SUCCESS);
    assert_eq!(setup.contents(), runs(&[(4, 205), (4, 202), (8, 1)]));
    // Update another buffer. If an argument has several values, the last one is used. Arguments that are not listed do
    // not change.
    let b = context.buffer(64);
    queue.write(&b, &[0u32; 16]);
    let (buffer, values) = ([NewArg::new(0, &b.0)], [NewArg::new(1, &5u32), NewArg::new(1, &7u32)]);
    assert_eq!(commands.update(&[Config::new(command).with_args(&buffer), Config::new(command).with_args(&values)]), CL_SUCCESS);
    commands.enqueue();
    assert_eq!(queue.read::<u32>(&b, 16), runs(&[(8, 7), (8, 0)]));
    assert_eq!(setup.contents(), runs(&[(4, 206), (4, 202), (8, 1)]));
    assert_eq!(commands.update(&[Config::new(command).with_args(&[NewArg::new(0, &a.0)])]), CL_SUCCESS);
    commands.enqueue();
    assert_eq!(setup.contents(), runs(&[(4, 214), (4, 209), (8, 1)]));
}

#[test]
fn updates_do_not_affect_earlier_enqueues() {
    let Some(setup) = setup() else { return };
    let Setup { functions, queue, add, commands, .. } = &setup;
    let cl = &target().cl;
    let command = commands.launch_mutable(add, 16, None, None).expect("recorded");
    commands.finalize();
    let mut status = 1;
    let user = common::objects::Event(cl.clCreateUserEvent(setup.context.0, &mut status));
    assert_eq!(status, CL_SUCCESS);
    // The values have different decimal digits, so their sum shows which values were used.
    for value in [1u32, 10, 100, 1000] {
        assert_eq!(commands.update(&[Config::new(command).with_args(&[NewArg::new(1, &value)])]), CL_SUCCESS);
        assert_eq!(functions.clEnqueueCommandBufferKHR(0, null(), commands.0, 1, &user.0, null_mut()), CL_SUCCESS);
    }
    assert_eq!(commands.update(&[Config::new(command).with_args(&[NewArg::new(1, &50_000u32)])]), CL_SUCCESS);
    assert_eq!(cl.clSetUserEventStatus(user.0, 0), CL_SUCCESS);
    queue.finish();
    assert_eq!(setup.contents(), [1111; 16]);
}

#[test]
fn sizes_are_replaced() {
    let Some(setup) = setup() else { return };
    let Setup { context, queue, a, commands, .. } = &setup;
    let groups = context.build(SOURCE).kernel("groups");
    groups.set_mem(0, a);
    assert_eq!(target().cl.clSetKernelArg(groups.0, 1, 4, null()), CL_SUCCESS);
    let command = commands.launch_mutable(&groups, 16, Some(4), None).expect("recorded");
    commands.finalize();
    commands.enqueue();
    assert_eq!(setup.contents(), [4; 16]);
    assert_eq!(commands.update(&[Config::new(command).with_local(&8)]), CL_SUCCESS);
    commands.enqueue();
    assert_eq!(setup.contents(), [2; 16]);
    assert_eq!(commands.update(&[Config::new(command).with_global(&8).with_local(&1)]), CL_SUCCESS);
    commands.enqueue();
    assert_eq!(setup.contents(), runs(&[(8, 8), (8, 2)]));
    let more = Config { global_offset: &3, work_dim: 1, ..Config::new(command) };
    assert_eq!(commands.update(&[more]), CL_SUCCESS);
    commands.enqueue();
    assert_eq!(setup.contents(), runs(&[(3, 8), (8, 11), (5, 2)]));
    // An update can also set local memory, and an empty global size.
    let local = NewArg { index: 1, size: 64, value: null() };
    assert_eq!(commands.update(&[Config::new(command).with_args(&[local]).with_global(&0)]), CL_SUCCESS);
    commands.enqueue();
    assert_eq!(setup.contents(), runs(&[(3, 8), (8, 11), (5, 2)]));
    assert_eq!(commands.update(&[Config::new(command).with_global(&1)]), CL_SUCCESS);
    commands.enqueue();
    assert_eq!(setup.contents(), runs(&[(3, 8), (1, 4), (7, 11), (5, 2)]));
    assert_eq!(query(command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR), Ok(3usize));
    assert_eq!(query(command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR), Ok(1usize));
    assert_eq!(query(command, CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR), Ok(1usize));
    queue.finish();
}

#[test]
fn arguments_may_be_set_after_recording() {
    let Some(setup) = setup() else { return };
    let Setup { functions, context, queue, a, commands, .. } = &setup;
    let bare = context.build(SOURCE).kernel("add");
    assert_eq!(commands.launch_mutable(&bare, 4, None, None).err(), Some(CL_INVALID_KERNEL_ARGS), "permitted only with the property");
    assert_eq!(commands.launch_mutable(&bare, 4, None, Some(&fields(GLOBAL))).err(), Some(CL_INVALID_KERNEL_ARGS));
    let later = fields(ARGUMENTS);
    assert_eq!(commands.launch_mutable(&bare, 5, Some(2), Some(&later)).err(), Some(CL_INVALID_WORK_GROUP_SIZE));
    let fixed = Commands::new(functions, queue);
    assert_eq!(fixed.launch_mutable(&bare, 4, None, Some(&later)).err(), Some(CL_INVALID_KERNEL_ARGS), "no update could set them");
    let command = commands.launch_mutable(&bare, 4, None, Some(&later)).expect("recorded without arguments");
    assert_eq!(commands.info(CL_COMMAND_BUFFER_STATE_KHR), Ok(0u32), "recording");
    commands.finalize();
    assert_eq!(commands.info(CL_COMMAND_BUFFER_STATE_KHR), Ok(2u32), "finalized");
    let enqueue = || functions.clEnqueueCommandBufferKHR(0, null(), commands.0, 0, null(), null_mut());
    assert_eq!(enqueue(), CL_INVALID_OPERATION);
    assert_eq!(commands.update(&[Config::new(command).with_args(&[NewArg::new(1, &9u32)])]), CL_SUCCESS);
    assert_eq!(commands.info(CL_COMMAND_BUFFER_STATE_KHR), Ok(2u32), "an argument is still missing");
    assert_eq!(enqueue(), CL_INVALID_OPERATION);
    assert_eq!(commands.update(&[Config::new(command).with_args(&[NewArg::new(0, &a.0)])]), CL_SUCCESS);
    assert_eq!(commands.info(CL_COMMAND_BUFFER_STATE_KHR), Ok(1u32), "executable");
    commands.enqueue();
    assert_eq!(setup.contents(), runs(&[(4, 9), (12, 0)]));
}

#[test]
fn shared_memory_arguments_are_updated() {
    let Some(setup) = setup() else { return };
    let target = target();
    // CL_DEVICE_SVM_CAPABILITIES
    let svm = info::<u64>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, 0x1053, size, value, ret));
    if svm.is_ok_and(|bits| bits == 0) {
        return;
    }
    let Setup { context, queue, add, commands, .. } = &setup;
    let (cl, follow) = (&target.cl, context.build("kernel void follow(global ulong *p) { *(global uint *)*p += 3; }").kernel("follow"));
    let [memory, pointee] = [(); 2].map(|()| cl.clSVMAlloc(context.0, CL_MEM_READ_WRITE, 64, 0));
    assert!(!memory.is_null() && !pointee.is_null());
    let clear =
        |memory| assert_eq!(cl.clEnqueueSVMMemFill(queue.0, memory, [0u8; 4].as_ptr().cast(), 4, 64, 0, null(), null_mut()), CL_SUCCESS);
    clear(memory);
    clear(pointee);
    let read = |memory: *mut c_void| {
        assert_eq!(cl.clEnqueueSVMMap(queue.0, CL_TRUE, CL_MAP_READ, memory, 64, 0, null(), null_mut()), CL_SUCCESS);
        // SAFETY: 64 bytes are mapped for reading.
        let found = unsafe { std::slice::from_raw_parts(memory.cast::<u32>(), 16) }.to_vec();
        assert_eq!(cl.clEnqueueSVMUnmap(queue.0, memory, 0, null(), null_mut()), CL_SUCCESS);
        queue.finish();
        found
    };
    let added = commands.launch_mutable(add, 8, None, None).expect("recorded");
    // `follow` reads a pointer from memory. The execution info lists the target of the pointer.
    let at = context.buffer(8);
    queue.write(&at, &[pointee as u64]);
    follow.set_mem(0, &at);
    let followed = commands.launch_mutable(&follow, 1, None, None).expect("recorded");
    commands.finalize();
    let arg = NewArg { index: 0, size: 0, value: memory };
    let list = [pointee];
    let pointers = NewInfo { name: CL_KERNEL_EXEC_INFO_SVM_PTRS, size: size_of_val(&list), value: list.as_ptr().cast() };
    let with_arg = Config { num_svm_args: 1, svm_args: &arg, ..Config::new(added) };
    let with_info = Config { num_exec_infos: 1, exec_infos: &pointers, ..Config::new(followed) };
    assert_eq!(commands.update(&[with_arg, with_info]), CL_SUCCESS);
    commands.enqueue();
    commands.enqueue();
    assert_eq!(read(memory), runs(&[(8, 2), (8, 0)]));
    assert_eq!(read(pointee), runs(&[(1, 6), (15, 0)]));
    assert_eq!(setup.contents(), [0; 16]);
    let unknown = NewInfo { name: 0xdead, ..pointers };
    assert_eq!(commands.update(&[Config { exec_infos: &unknown, ..with_info }]), CL_INVALID_VALUE);
    queue.finish();
    cl.clSVMFree(context.0, memory);
    cl.clSVMFree(context.0, pointee);
}

#[test]
fn queries_are_answered() {
    let Some(setup) = setup() else { return };
    let Setup { functions, queue, add, commands, .. } = &setup;
    let properties = [CL_MUTABLE_DISPATCH_ASSERTS_KHR, 1, CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, GLOBAL, 0];
    let command = commands.launch_mutable(add, 8, Some(4), Some(&properties)).expect("recorded");
    let other = commands.launch_mutable(add, 8, None, None).expect("recorded");
    assert_ne!(command, other);
    assert_eq!(query(command, CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR), Ok(queue.0 as usize));
    assert_eq!(query(command, CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR), Ok(commands.0 as usize));
    assert_eq!(query(command, CL_MUTABLE_DISPATCH_KERNEL_KHR), Ok(add.0 as usize));
    assert_eq!(query(command, CL_MUTABLE_DISPATCH_DIMENSIONS_KHR), Ok(1u32));
    assert_eq!(query(command, CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR), Ok(0x11F0u32), "CL_COMMAND_NDRANGE_KERNEL");
    assert_eq!(query(command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR), Ok(8usize));
    assert_eq!(query(command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR), Ok(0usize));
    assert_eq!(query(command, CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR), Ok(4usize));
    assert_eq!(query(other, CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR), Ok(0usize), "not given");
    assert_eq!(query::<u32>(command, 0xdead), Err(CL_INVALID_VALUE));
    let list = |command| {
        let name = CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR;
        info_bytes(|size, value, ret| functions.clGetMutableCommandInfoKHR(command, name, size, value, ret))
    };
    assert_eq!(list(command), Ok(properties.iter().flat_map(|value| value.to_ne_bytes()).collect()));
    assert_eq!(list(other), Ok(Vec::new()));
    for wrong in [null_mut(), commands.0, queue.0, add.0] {
        assert_eq!(query::<u32>(wrong, CL_MUTABLE_DISPATCH_DIMENSIONS_KHR), Err(CL_INVALID_MUTABLE_COMMAND_KHR));
    }
    // The handle is valid only as long as the command buffer exists.
    drop(setup);
    assert_eq!(query::<u32>(command, CL_MUTABLE_DISPATCH_DIMENSIONS_KHR), Err(CL_INVALID_MUTABLE_COMMAND_KHR));
}

#[test]
fn invalid_recording_is_rejected() {
    let Some(setup) = setup() else { return };
    let Setup { functions, queue, add, commands, .. } = &setup;
    let record = |properties: &[u64]| commands.launch_mutable(add, 8, None, Some(properties)).err();
    assert_eq!(record(&[0]), None, "an empty list");
    assert_eq!(record(&fields(0)), None);
    assert_eq!(record(&fields(1 << 5)), Some(CL_INVALID_VALUE));
    assert_eq!(record(&[0xdead, 0, 0]), Some(CL_INVALID_VALUE));
    assert_eq!(record(&[CL_MUTABLE_DISPATCH_ASSERTS_KHR, 2, 0]), Some(CL_INVALID_VALUE));
    assert_eq!(record(&[CL_MUTABLE_DISPATCH_ASSERTS_KHR, 1, 0]), Some(CL_INVALID_VALUE), "without a local size");
    assert_eq!(record(&[CL_MUTABLE_DISPATCH_ASSERTS_KHR, 0, CL_MUTABLE_DISPATCH_ASSERTS_KHR, 0, 0]), Some(CL_INVALID_VALUE), "twice");
    // The assertion can also apply to a whole command buffer.
    let asserting =
        Commands::with(functions, queue, &[CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR, 1, CL_COMMAND_BUFFER_FLAGS_KHR, 2, 0]);
    assert_eq!(asserting.launch_mutable(add, 8, None, None).err(), Some(CL_INVALID_VALUE));
    assert!(asserting.launch_mutable(add, 8, Some(4), None).is_ok());
    let mut status = 1;
    let wrong = [CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR, 2, 0];
    assert!(functions.clCreateCommandBufferKHR(1, &queue.0, wrong.as_ptr(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_VALUE);
}

#[test]
fn invalid_updates_are_rejected_and_change_nothing() {
    let Some(setup) = setup() else { return };
    let Setup { functions, context, queue, a, add, commands } = &setup;
    let command = commands.launch_mutable(add, 8, Some(4), None).expect("recorded");
    let rigid = commands.launch_mutable(add, 0, None, Some(&fields(0))).expect("recorded");
    assert_eq!(commands.update(&[Config::new(command)]), CL_INVALID_OPERATION, "not finalized");
    commands.finalize();
    let fixed = Commands::new(functions, queue);
    let of_fixed = fixed.launch_mutable(add, 8, None, None).expect("handles are returned all the same");
    fixed.finalize();
    assert_eq!(fixed.update(&[Config::new(of_fixed)]), CL_INVALID_OPERATION, "the command buffer is not mutable");
    let other = Commands::with(functions, queue, &MUTABLE);
    let of_other = other.launch_mutable(add, 8, None, None).expect("recorded");

    let update =
        |n, types: *const cl_uint, configs: *const *const c_void| functions.clUpdateMutableCommandsKHR(commands.0, n, types, configs);
    let config = Config::new(command);
    let (kind, pointer): (cl_uint, *const c_void) = (0, (&raw const config).cast());
    assert_eq!(update(0, null(), null()), CL_SUCCESS);
    assert_eq!(update(1, &kind, &pointer), CL_SUCCESS);
    assert_eq!(update(1, null(), &pointer), CL_INVALID_VALUE);
    assert_eq!(update(0, &kind, null()), CL_INVALID_VALUE);
    assert_eq!(update(1, &kind, null()), CL_INVALID_VALUE);
    assert_eq!(update(0, null(), &pointer), CL_INVALID_VALUE);
    assert_eq!(update(1, &1, &pointer), CL_INVALID_VALUE, "no such type");
    assert_eq!(update(1, &kind, &null()), CL_INVALID_VALUE);
    assert_eq!(functions.clUpdateMutableCommandsKHR(null_mut(), 0, null(), null()), CL_INVALID_COMMAND_BUFFER_KHR);

    for wrong in [null_mut(), commands.0, of_other, of_fixed] {
        assert_eq!(commands.update(&[Config::new(wrong)]), CL_INVALID_MUTABLE_COMMAND_KHR);
    }
    let value = [NewArg::new(1, &1000u32)];
    let dead = Config { num_args: 1, ..config };
    for (what, wrong, status) in [
        ("an argument that does not exist", config.with_args(&[NewArg::new(2, &1u32)]), CL_INVALID_ARG_INDEX),
        ("an argument of another size", config.with_args(&[NewArg::new(1, &1u64)]), CL_INVALID_ARG_SIZE),
        ("no memory object", config.with_args(&[NewArg::new(0, &queue.0)]), CL_INVALID_MEM_OBJECT),
        ("no list", dead, CL_INVALID_VALUE),
        ("a list of nothing", Config { num_args: 0, ..config.with_args(&value) }, CL_INVALID_VALUE),
        ("a list of no shared memory", Config { svm_args: value.as_ptr(), ..config }, CL_INVALID_VALUE),
        ("no execution infos", Config { num_exec_infos: 1, ..config }, CL_INVALID_VALUE),
        ("another number of dimensions", Config { work_dim: 2, ..config }, CL_INVALID_OPERATION),
        ("a size that does not divide", config.with_local(&3), CL_INVALID_WORK_GROUP_SIZE),
    ] {
        // The first configuration is valid, but must not be applied, because the second one is invalid.
        assert_eq!(commands.update(&[config.with_args(&value).with_global(&16), wrong]), status, "{what}");
    }
    commands.enqueue();
    assert_eq!(setup.contents(), runs(&[(8, 1), (8, 0)]));
    assert_eq!(query(command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR), Ok(8usize));

    let stiff = Config::new(rigid);
    for wrong in [stiff.with_args(&value), stiff.with_global(&8), stiff.with_local(&4), Config { global_offset: &1, ..stiff }] {
        assert_eq!(commands.update(&[wrong]), CL_INVALID_OPERATION, "the field cannot be updated");
    }
    assert_eq!(commands.update(&[stiff]), CL_SUCCESS);

    // Each updatable field permits only its own update.
    let several = Commands::with(functions, queue, &MUTABLE);
    let handles =
        [OFFSET, GLOBAL, LOCAL, ARGUMENTS].map(|bit| several.launch_mutable(add, 8, Some(4), Some(&fields(bit))).expect("recorded"));
    several.finalize();
    for (index, handle) in handles.into_iter().enumerate() {
        let config = Config::new(handle);
        let changes = [Config { global_offset: &1, ..config }, config.with_global(&4), config.with_local(&2), config.with_args(&value)];
        for (change, config) in changes.into_iter().enumerate() {
            let want = if change == index { CL_SUCCESS } else { CL_INVALID_OPERATION };
            assert_eq!(several.update(&[config]), want, "field {index}, change {change}");
        }
    }

    // Kernels of OpenCL C 2.0 and later support non-uniform work-groups, but an update cannot change a launch from
    // uniform to non-uniform.
    let program = context.program("kernel void add(global uint *a, uint by) { a[get_global_id(0)] += by; }");
    assert_eq!(program.build("-cl-std=CL3.0"), CL_SUCCESS);
    let uneven = program.kernel("add");
    uneven.set_mem(0, a);
    assert_eq!(uneven.set(1, &1u32), CL_SUCCESS);
    let third = Commands::with(functions, queue, &MUTABLE);
    let even = third.launch_mutable(&uneven, 8, Some(4), None).expect("recorded");
    let odd = third.launch_mutable(&uneven, 10, Some(4), None).expect("recorded");
    third.finalize();
    assert_eq!(third.update(&[Config::new(even).with_global(&9)]), CL_INVALID_OPERATION);
    assert_eq!(third.update(&[Config::new(odd).with_local(&5)]), CL_INVALID_OPERATION);
    assert_eq!(third.update(&[Config::new(even).with_global(&12), Config::new(odd).with_global(&13)]), CL_SUCCESS);
    third.enqueue();
    assert_eq!(setup.contents(), runs(&[(8, 3), (4, 2), (1, 1), (3, 0)]));
}
