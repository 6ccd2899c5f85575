//! OpenCL imports the memory of a Vulkan program, and both APIs compute on the memory alternately
//! (cl_khr_external_memory).

mod common;
#[path = "common/vulkan.rs"]
mod vulkan;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use common::features::require;
use common::ffi::{
    CL_EVENT_COMMAND_TYPE, CL_INVALID_COMMAND_QUEUE, CL_INVALID_DEVICE, CL_INVALID_MEM_OBJECT, CL_INVALID_PROPERTY, CL_INVALID_VALUE,
    CL_MEM_ALLOC_HOST_PTR, CL_SUCCESS, cl_bitfield, cl_command_queue, cl_event, cl_int, cl_mem, cl_uint,
};
use common::objects::{Context, Event, Mem, Queue};
use common::{info, info_bytes, target};
use vulkan::{COUNT, SIZE, Vulkan};

const CL_DEVICE_UUID: cl_uint = 0x106A;
const IMPORT_HANDLE_TYPES: cl_uint = 0x204F;
const OPAQUE_FD: u64 = 0x2060;
const DEVICES: u64 = 0x2051;
const COMMAND_ACQUIRE: cl_uint = 0x2047;
const COMMAND_RELEASE: cl_uint = 0x2048;

common::extension_functions! {
    fn clEnqueueAcquireExternalMemObjectsKHR(q: cl_command_queue, n: cl_uint, list: *const cl_mem, events: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueReleaseExternalMemObjectsKHR(q: cl_command_queue, n: cl_uint, list: *const cl_mem, events: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
}

/// Returns the functions of the extension, if the device imports memory of Vulkan.
fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    let target = target();
    let kinds = info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, IMPORT_HANDLE_TYPES, size, value, ret));
    let has = kinds.is_ok_and(|kinds| kinds.chunks(4).any(|kind| kind == (OPAQUE_FD as u32).to_ne_bytes()));
    FUNCTIONS.get_or_init(Functions::load).as_ref().filter(|_| require("cl_khr_external_memory_opaque_fd", has))
}

fn uuid() -> Vec<u8> {
    let target = target();
    info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_UUID, size, value, ret)).expect("a UUID")
}

fn vulkan() -> Vulkan {
    Vulkan::new(&uuid(), false).expect("a Vulkan program")
}

fn import(context: &Context, flags: cl_bitfield, list: &[u64], size: usize) -> Result<Mem, cl_int> {
    let mut status = 1;
    let mem = target().cl.clCreateBufferWithProperties(context.0, list.as_ptr(), flags, size, null_mut(), &mut status);
    assert_eq!(mem.is_null(), status != CL_SUCCESS);
    if mem.is_null() { Err(status) } else { Ok(Mem(mem)) }
}

type Transfer = fn(&Functions, cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event, *mut cl_event) -> cl_int;

fn transfer_ownership(functions: &Functions, call: Transfer, queue: &Queue, mem: &Mem, command: cl_uint) {
    let mut event = null_mut();
    assert_eq!(call(functions, queue.0, 1, &mem.0, 0, null(), &mut event), CL_SUCCESS);
    let event = Event(event);
    let kind = info::<cl_uint>(|size, value, ret| target().cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_TYPE, size, value, ret));
    assert_eq!(kind, Ok(command));
}

#[test]
fn opencl_and_vulkan_compute_alternately_on_one_memory() {
    let Some(functions) = functions() else { return };
    let vulkan = vulkan();
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build("kernel void step(global uint *a) { size_t i = get_global_id(0); a[i] = 2 * a[i] + (uint)i; }");
    let kernel = program.kernel("step");
    vulkan.fill(5);
    let mem = import(&context, 0, &[OPAQUE_FD, vulkan.fd() as u64, 0], SIZE).expect("the memory");
    kernel.set_mem(0, &mem);
    let mut expected: Vec<u32> = vec![5; COUNT];
    for _ in 0..3 {
        vulkan.step();
        transfer_ownership(functions, Functions::clEnqueueAcquireExternalMemObjectsKHR, &queue, &mem, COMMAND_ACQUIRE);
        assert_eq!(queue.launch(&kernel, &[COUNT], None), CL_SUCCESS);
        transfer_ownership(functions, Functions::clEnqueueReleaseExternalMemObjectsKHR, &queue, &mem, COMMAND_RELEASE);
        queue.finish();
        expected.iter_mut().enumerate().for_each(|(i, word)| *word = 2 * (3 * *word + 1) + i as u32);
    }
    transfer_ownership(functions, Functions::clEnqueueAcquireExternalMemObjectsKHR, &queue, &mem, COMMAND_ACQUIRE);
    assert_eq!(queue.read::<u32>(&mem, COUNT), expected);
    // A copy command writes to the same memory.
    let other = context.buffer(SIZE);
    queue.write(&other, &[7u32; COUNT]);
    assert_eq!(target().cl.clEnqueueCopyBuffer(queue.0, other.0, mem.0, 0, 0, SIZE, 0, null(), null_mut()), CL_SUCCESS);
    transfer_ownership(functions, Functions::clEnqueueReleaseExternalMemObjectsKHR, &queue, &mem, COMMAND_RELEASE);
    queue.finish();
    vulkan.step();
    // A second import creates another memory object for the same memory.
    let again = import(&context, 0, &[OPAQUE_FD, vulkan.fd() as u64, DEVICES, target().device as u64, 0, 0], SIZE).expect("the memory");
    transfer_ownership(functions, Functions::clEnqueueAcquireExternalMemObjectsKHR, &queue, &again, COMMAND_ACQUIRE);
    assert_eq!(queue.read::<u32>(&again, COUNT), [22; COUNT]);
}

/// An application may allocate the memory from any memory type. The file descriptor does not contain the type.
#[test]
fn memory_of_every_memory_type_is_imported() {
    if functions().is_none() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let mut taken = 0;
    for number in 0..32 {
        let vulkan = match Vulkan::of_type(&uuid(), false, Some(number)) {
            Ok(vulkan) => vulkan,
            Err(error) => {
                assert_eq!(error, ash::vk::Result::ERROR_FEATURE_NOT_PRESENT, "memory of type {number}");
                break;
            }
        };
        vulkan.fill(number as u32 + 1);
        let mem = import(&context, 0, &[OPAQUE_FD, vulkan.fd() as u64, 0], SIZE);
        assert_eq!(mem.as_ref().err(), None, "memory of type {number}");
        let mem = mem.expect("the memory");
        assert_eq!(queue.read::<u32>(&mem, COUNT), [number as u32 + 1; COUNT]);
        queue.write(&mem, &[77u32; COUNT]);
        vulkan.step();
        assert_eq!(queue.read::<u32>(&mem, COUNT), [232; COUNT]);
        taken += 1;
    }
    assert!(taken > 0);
}

#[test]
fn invalid_imports_are_rejected() {
    let Some(functions) = functions() else {
        if target().is_wgcl() && common::is_cpu() {
            // A device that cannot import memory does not support the property.
            assert_eq!(import(&Context::new(), 0, &[OPAQUE_FD, 0, 0], SIZE).err(), Some(CL_INVALID_PROPERTY));
        }
        return;
    };
    let vulkan = vulkan();
    let context = Context::new();
    let queue = context.queue(0);
    let fd = vulkan.fd() as u64;
    let refused = |flags: cl_bitfield, list: &[u64]| import(&context, flags, list, SIZE).err();
    assert_eq!(refused(0, &[OPAQUE_FD, fd, OPAQUE_FD, fd, 0]), Some(CL_INVALID_PROPERTY), "two handles");
    assert_eq!(refused(0, &[DEVICES, target().device as u64, 0, 0]), Some(CL_INVALID_PROPERTY), "no handle");
    assert_eq!(refused(0, &[OPAQUE_FD, u64::MAX, 0]), Some(CL_INVALID_PROPERTY), "no descriptor");
    assert_eq!(refused(0, &[OPAQUE_FD, fd, DEVICES, context.0 as u64, 0, 0]), Some(CL_INVALID_DEVICE));
    assert_eq!(refused(CL_MEM_ALLOC_HOST_PTR, &[OPAQUE_FD, fd, 0]), Some(CL_INVALID_VALUE));
    // After all failed imports, the descriptor still belongs to the Vulkan program.
    let mem = import(&context, 0, &[OPAQUE_FD, fd, 0], SIZE).expect("the memory");

    let ordinary = context.buffer(SIZE);
    let acquire = |queue: cl_command_queue, count: cl_uint, list: *const cl_mem| {
        functions.clEnqueueAcquireExternalMemObjectsKHR(queue, count, list, 0, null(), null_mut())
    };
    assert_eq!(acquire(queue.0, 1, &ordinary.0), CL_INVALID_MEM_OBJECT);
    assert_eq!(acquire(queue.0, 1, null()), CL_INVALID_VALUE);
    assert_eq!(acquire(queue.0, 0, &mem.0), CL_INVALID_VALUE);
    assert_eq!(acquire(queue.0, 0, null()), CL_SUCCESS);
    assert_eq!(acquire(null_mut(), 1, &mem.0), CL_INVALID_COMMAND_QUEUE);
    let foreign = Context::new();
    assert_eq!(acquire(foreign.queue(0).0, 1, &mem.0), CL_INVALID_COMMAND_QUEUE);
    let _: *mut c_void = mem.0;
}
