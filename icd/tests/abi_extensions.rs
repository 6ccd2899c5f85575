//! Tests extensions that applications query: the device must report them, and they must work as specified.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::features::require;
use common::ffi::{
    CL_DEVICE_EXTENSIONS, CL_EVENT_COMMAND_TYPE, CL_INVALID_COMMAND_QUEUE, CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_KERNEL,
    CL_INVALID_KERNEL_ARGS, CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_INVALID_WORK_DIMENSION, CL_SUCCESS,
    cl_command_queue, cl_int, cl_kernel, cl_mem, cl_uint,
};
use common::objects::{Context, Event, Queue};
use common::{info, info_bytes, info_string, language_features, target};

fn extensions() -> String {
    let target = target();
    info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_EXTENSIONS, size, value, ret)).unwrap_or_default()
}

fn has(name: &str) -> bool {
    extensions().split_whitespace().any(|extension| extension == name)
}

#[test]
fn extensions_that_applications_query_are_reported() {
    if !target().is_wgcl() {
        return;
    }
    for name in [
        "cl_khr_byte_addressable_store",
        "cl_khr_create_command_queue",
        "cl_khr_extended_versioning",
        "cl_khr_global_int32_base_atomics",
        "cl_khr_global_int32_extended_atomics",
        "cl_khr_local_int32_base_atomics",
        "cl_khr_local_int32_extended_atomics",
        "cl_khr_priority_hints",
        "cl_khr_suggested_local_work_size",
        "cl_khr_throttle_hints",
    ] {
        assert!(has(name), "{name} is missing in {}", extensions());
    }
}

/// cl_ext_float_atomics: the capabilities and the feature macros name the same operations.
#[test]
fn capabilities_of_float_atomics_agree_with_macros() {
    if !has("cl_ext_float_atomics") {
        return;
    }
    let target = target();
    let macros = language_features();
    for (query, ty) in [(0x4231, "fp32"), (0x4232, "fp64"), (0x4233, "fp16")] {
        let capabilities: u64 = info(|size, value, ret| target.cl.clGetDeviceInfo(target.device, query, size, value, ret))
            .expect("cl_ext_float_atomics has this query");
        for (shift, space) in [(0, "global"), (16, "local")] {
            for (bit, operation) in [(0, "load_store"), (1, "add"), (2, "min_max")] {
                // Only halves have a macro for loads, stores and exchanges.
                if operation == "load_store" && ty != "fp16" {
                    continue;
                }
                let name = format!("__opencl_c_ext_{ty}_{space}_atomic_{operation}");
                assert_eq!(capabilities >> (shift + bit) & 1 == 1, macros.contains(&name), "{name}, capabilities {capabilities:#x}");
            }
        }
    }
}

type Suggest = unsafe extern "C" fn(cl_command_queue, cl_kernel, cl_uint, *const usize, *const usize, *mut usize) -> cl_int;

#[test]
fn local_sizes_are_suggested() {
    if !has("cl_khr_suggested_local_work_size") {
        return;
    }
    let target = target();
    let found = target.cl.clGetExtensionFunctionAddressForPlatform(target.platform, c"clGetKernelSuggestedLocalWorkSizeKHR".as_ptr());
    assert!(!found.is_null());
    // SAFETY: the type of the function of this name.
    let function = unsafe { std::mem::transmute::<*mut c_void, Suggest>(found) };
    let suggest = |queue: cl_command_queue, kernel: cl_kernel, dim, global: *const usize, answer: *mut usize| {
        // SAFETY: the pointers are null or valid for as many values as there are dimensions.
        unsafe { function(queue, kernel, dim, null(), global, answer) }
    };
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(
        "kernel void free(global int *a) { a[get_global_id(0)] = 1; }
         kernel void seen(global int *a) { a[get_global_id(0)] = get_local_size(0); }
         kernel __attribute__((reqd_work_group_size(4, 2, 1))) void fixed(global int *a) { a[get_global_id(0)] = 1; }",
    );
    let (free, seen, fixed) = (program.kernel("free"), program.kernel("seen"), program.kernel("fixed"));
    let mem = context.buffer(4096 * 4);
    let mut size = [99usize; 3];
    assert_eq!(suggest(queue.0, free.0, 1, &1024, size.as_mut_ptr()), CL_INVALID_KERNEL_ARGS);
    for kernel in [&free, &seen, &fixed] {
        kernel.set_mem(0, &mem);
    }
    assert_eq!(suggest(queue.0, seen.0, 1, &1024, size.as_mut_ptr()), CL_SUCCESS);
    assert!(size[0] > 0 && 1024 % size[0] == 0 && size[1] == 99, "{size:?}");
    // A launch without a local size uses the suggested size.
    assert_eq!(queue.launch(&seen, &[1024], None), CL_SUCCESS);
    assert_eq!(queue.read::<i32>(&mem, 1024), vec![size[0] as i32; 1024]);
    assert_eq!(suggest(queue.0, fixed.0, 2, [8, 4].as_ptr(), size.as_mut_ptr()), CL_SUCCESS);
    assert_eq!(size, [4, 2, 99]);
    if target.is_wgcl() {
        // The number of work-items is prime. Only a kernel whose results depend on its groups runs in groups of one
        // work-item.
        assert_eq!(suggest(queue.0, seen.0, 1, &1009, size.as_mut_ptr()), CL_SUCCESS);
        assert_eq!(size[0], 1);
        assert_eq!(suggest(queue.0, free.0, 1, &1009, size.as_mut_ptr()), CL_SUCCESS);
        assert!(size[0] >= 32, "{size:?}");
    }
    assert_eq!(suggest(null_mut(), free.0, 1, &64, size.as_mut_ptr()), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(suggest(queue.0, null_mut(), 1, &64, size.as_mut_ptr()), CL_INVALID_KERNEL);
    assert_eq!(suggest(queue.0, free.0, 4, &64, size.as_mut_ptr()), CL_INVALID_WORK_DIMENSION);
    assert_eq!(suggest(queue.0, free.0, 1, null(), size.as_mut_ptr()), CL_INVALID_GLOBAL_WORK_SIZE);
    assert_eq!(suggest(queue.0, free.0, 1, &0, size.as_mut_ptr()), CL_INVALID_GLOBAL_WORK_SIZE);
    assert_eq!(suggest(queue.0, free.0, 1, &64, null_mut()), CL_INVALID_VALUE);
}

#[test]
fn queues_accept_hints() {
    if !has("cl_khr_priority_hints") || !has("cl_khr_throttle_hints") {
        return;
    }
    let target = target();
    let context = Context::new();
    let create = |properties: &[u64]| {
        let mut status = 1;
        let queue = target.cl.clCreateCommandQueueWithProperties(context.0, target.device, properties.as_ptr(), &mut status);
        assert_eq!(queue.is_null(), status != CL_SUCCESS);
        (!queue.is_null()).then(|| Queue(queue)).ok_or(status)
    };
    for hint in [1, 2, 4] {
        let queue = create(&[0x1096, hint, 0x1097, hint, 0]).expect("both hints");
        // CL_QUEUE_PROPERTIES_ARRAY returns the hints.
        let array = info_bytes(|size, value, ret| target.cl.clGetCommandQueueInfo(queue.0, 0x1098, size, value, ret));
        let want: Vec<u8> = [0x1096, hint, 0x1097, hint, 0].iter().flat_map(|value: &u64| value.to_ne_bytes()).collect();
        assert_eq!(array, Ok(want));
    }
    for wrong in [0, 3, 8] {
        assert_eq!(create(&[0x1096, wrong, 0]).err(), Some(CL_INVALID_VALUE));
        assert_eq!(create(&[0x1097, wrong, 0]).err(), Some(CL_INVALID_VALUE));
    }
}

#[test]
fn the_pci_bus_location_is_correct_or_not_reported() {
    let target = target();
    let place = info::<[u32; 4]>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, 0x410F, size, value, ret));
    if has("cl_khr_pci_bus_info") {
        let [_, bus, device, function] = place.expect("cl_device_pci_bus_info_khr");
        assert!(bus < 256 && device < 32 && function < 8, "{bus} {device} {function}");
    } else {
        assert_eq!(place, Err(CL_INVALID_VALUE));
    }
}

#[test]
fn the_attributes_of_nvidia_devices_are_consistent_or_not_reported() {
    let target = target();
    let attribute = |name: u32| info::<u32>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret));
    // CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV to CL_DEVICE_PCI_DOMAIN_ID_NV
    let all: Vec<_> = (0x4000..=0x400A).map(attribute).collect();
    if has("cl_nv_device_attribute_query") {
        let all: Vec<u32> = all.into_iter().collect::<Result<_, _>>().expect("all attributes");
        assert!((5..100).contains(&all[0]), "compute capability {}", all[0]);
        assert!(all[2] >= 32 << 10, "{} registers", all[2]);
        assert_eq!(all[3], 32, "warp size");
        assert_eq!(all[4] != 0, all[7] > 0, "overlap needs a copy engine");
        let place = info::<[u32; 4]>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, 0x410F, size, value, ret));
        assert_eq!(place, Ok([all[10], all[8], all[9] >> 3, all[9] & 7]));
    } else {
        assert!(all.iter().all(|value| *value == Err(CL_INVALID_VALUE)), "{all:?}");
    }
}

#[repr(C)]
struct Arguments {
    factor: u32,
    count: u64,
    numbers: *mut u32,
    nothing: *mut u32,
}

unsafe extern "C" fn scale(arguments: *mut c_void) {
    // SAFETY: the caller is the test below, which passes such a structure.
    let arguments = unsafe { &*arguments.cast::<Arguments>() };
    assert!(arguments.nothing.is_null());
    // SAFETY: the buffer has as many numbers as the arguments say.
    let numbers = unsafe { std::slice::from_raw_parts_mut(arguments.numbers, arguments.count as usize) };
    numbers.iter_mut().for_each(|number| *number *= arguments.factor);
}

unsafe extern "C" fn nothing(arguments: *mut c_void) {
    assert!(arguments.is_null());
}

type Native = unsafe extern "C" fn(*mut c_void);

#[test]
fn native_kernels_run_in_the_order_of_the_queue() {
    let target = target();
    // CL_DEVICE_EXECUTION_CAPABILITIES, CL_EXEC_NATIVE_KERNEL
    let capabilities = info::<u64>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, 0x1029, size, value, ret)).unwrap_or(0);
    let context = Context::new();
    let queue = context.queue(0);
    let mem = context.buffer(256);
    let mut arguments = Arguments { factor: 3, count: 64, numbers: null_mut(), nothing: null_mut() };
    let places = [(&raw const arguments.numbers).cast::<c_void>(), (&raw const arguments.nothing).cast()];
    let objects: [cl_mem; 2] = [mem.0, null_mut()];
    let pointer = (&raw mut arguments).cast::<c_void>();
    let enqueue = |function: Option<Native>, args: *mut c_void, size, n, list: *const cl_mem, at: *const *const c_void, event| {
        target.cl.clEnqueueNativeKernel(queue.0, function, args, size, n, list, at.cast_mut(), 0, null(), event)
    };
    let size = size_of::<Arguments>();
    if !require("native kernels", capabilities & 2 != 0) {
        let status = enqueue(Some(scale), pointer, size, 2, objects.as_ptr(), places.as_ptr(), null_mut());
        assert_eq!(status, CL_INVALID_OPERATION);
        return;
    }
    let program = context.build("kernel void fill(global uint *a, uint by) { a[get_global_id(0)] = get_global_id(0) + by; }");
    let fill = program.kernel("fill");
    fill.set_mem(0, &mem);
    assert_eq!(fill.set(1, &100u32), CL_SUCCESS);
    assert_eq!(queue.launch(&fill, &[64], None), CL_SUCCESS);
    let mut event = null_mut();
    assert_eq!(enqueue(Some(scale), pointer, size, 2, objects.as_ptr(), places.as_ptr(), &mut event), CL_SUCCESS);
    let event = Event(event);
    // CL_COMMAND_NATIVE_KERNEL
    assert_eq!(info::<u32>(|size, value, ret| target.cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_TYPE, size, value, ret)), Ok(0x11F2));
    let want: Vec<u32> = (0..64).map(|k| 3 * (k + 100)).collect();
    assert_eq!(queue.read::<u32>(&mem, 64), want);
    assert_eq!(enqueue(Some(nothing), null_mut(), 0, 0, null(), null(), null_mut()), CL_SUCCESS);
    queue.finish();

    assert_eq!(enqueue(None, pointer, size, 0, null(), null(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(enqueue(Some(scale), null_mut(), size, 0, null(), null(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(enqueue(Some(scale), pointer, 0, 0, null(), null(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(enqueue(Some(scale), pointer, size, 2, null(), places.as_ptr(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(enqueue(Some(scale), pointer, size, 2, objects.as_ptr(), null(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(enqueue(Some(scale), pointer, size, 0, objects.as_ptr(), places.as_ptr(), null_mut()), CL_INVALID_VALUE);
    if target.is_wgcl() {
        let wrong: [cl_mem; 2] = [queue.0, null_mut()];
        assert_eq!(enqueue(Some(scale), pointer, size, 2, wrong.as_ptr(), places.as_ptr(), null_mut()), CL_INVALID_MEM_OBJECT);
    }
}

/// Sets the word that its argument points to.
unsafe extern "C" fn raise(arguments: *mut c_void) {
    // SAFETY: the argument of the test below, whose word lives until the command is done.
    unsafe { (*arguments.cast::<*const std::sync::atomic::AtomicU32>()).as_ref() }
        .expect("a word")
        .store(1, std::sync::atomic::Ordering::SeqCst);
}

#[test]
fn native_kernels_wait_for_events_and_complete_events() {
    let target = target();
    let capabilities = info::<u64>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, 0x1029, size, value, ret)).unwrap_or(0);
    if !require("native kernels", capabilities & 2 != 0) {
        return;
    }
    let context = Context::new();
    // The queue is out of order, so only the events delay the command.
    let queue = context.queue(1);
    let word = std::sync::atomic::AtomicU32::new(0);
    let mut argument = &raw const word;
    let mut status = 1;
    let gate = Event(target.cl.clCreateUserEvent(context.0, &mut status));
    let mut event = null_mut();
    let size = size_of_val(&argument);
    let pointer = (&raw mut argument).cast();
    let enqueued = target.cl.clEnqueueNativeKernel(queue.0, Some(raise), pointer, size, 0, null(), null_mut(), 1, &gate.0, &mut event);
    assert_eq!(enqueued, CL_SUCCESS);
    let event = Event(event);
    // The driver copied the arguments when the command was enqueued, so the command does not read this variable.
    argument = null();
    assert!(argument.is_null());
    assert_eq!(target.cl.clFlush(queue.0), CL_SUCCESS);
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(word.load(std::sync::atomic::Ordering::SeqCst), 0, "the native kernel did not wait for the event");
    assert_eq!(target.cl.clSetUserEventStatus(gate.0, 0), CL_SUCCESS);
    assert_eq!(target.cl.clWaitForEvents(1, &event.0), CL_SUCCESS);
    assert_eq!(word.load(std::sync::atomic::Ordering::SeqCst), 1);
}
