//! Sub-devices: how a device can be partitioned, the properties of sub-devices, their shared memory and programs, and
//! their separate cores.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::thread::available_parallelism;

use common::ffi::{
    CL_INVALID_DEVICE, CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_VALUE, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_COPY_HOST_PTR, CL_SUCCESS,
    CL_TRUE, cl_device_id, cl_event, cl_int, cl_uint,
};
use common::objects::{Context, Event, Mem, Queue};
use common::{info, info_bytes, target};

const CL_DEVICE_MAX_COMPUTE_UNITS: cl_uint = 0x1002;
const CL_DEVICE_PARENT_DEVICE: cl_uint = 0x1042;
const CL_DEVICE_PARTITION_MAX_SUB_DEVICES: cl_uint = 0x1043;
const CL_DEVICE_PARTITION_PROPERTIES: cl_uint = 0x1044;
const CL_DEVICE_PARTITION_AFFINITY_DOMAIN: cl_uint = 0x1045;
const CL_DEVICE_PARTITION_TYPE: cl_uint = 0x1046;
const CL_DEVICE_REFERENCE_COUNT: cl_uint = 0x1047;
const EQUALLY: isize = 0x1086;
const BY_COUNTS: isize = 0x1087;
const BY_AFFINITY_DOMAIN: isize = 0x1088;
const NEXT_PARTITIONABLE: isize = 1 << 5;
const CL_DEVICE_PARTITION_FAILED: cl_int = -18;
const CL_INVALID_DEVICE_PARTITION_COUNT: cl_int = -68;

fn query<T: Copy + Default>(device: cl_device_id, name: cl_uint) -> T {
    info(|size, value, ret| target().cl.clGetDeviceInfo(device, name, size, value, ret)).expect("an answer")
}

fn list(device: cl_device_id, name: cl_uint) -> Vec<isize> {
    let bytes = info_bytes(|size, value, ret| target().cl.clGetDeviceInfo(device, name, size, value, ret)).expect("an answer");
    bytes.as_chunks().0.iter().map(|bytes| isize::from_ne_bytes(*bytes)).collect()
}

fn units(device: cl_device_id) -> isize {
    query::<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS) as isize
}

/// A sub-device, released when dropped.
struct Part(cl_device_id);

impl Drop for Part {
    fn drop(&mut self) {
        assert_eq!(target().cl.clReleaseDevice(self.0), CL_SUCCESS, "clReleaseDevice");
    }
}

fn partition(device: cl_device_id, scheme: &[isize]) -> Result<Vec<Part>, cl_int> {
    let cl = &target().cl;
    let mut count = 0;
    match cl.clCreateSubDevices(device, scheme.as_ptr(), 0, null_mut(), &mut count) {
        CL_SUCCESS => {}
        error => return Err(error),
    }
    let mut parts = vec![null_mut(); count as usize];
    let too_few = cl.clCreateSubDevices(device, scheme.as_ptr(), count - 1, parts.as_mut_ptr(), null_mut());
    assert_eq!(too_few, CL_INVALID_VALUE, "no space for the last one");
    assert_eq!(cl.clCreateSubDevices(device, scheme.as_ptr(), count, parts.as_mut_ptr(), null_mut()), CL_SUCCESS);
    Ok(parts.into_iter().map(Part).collect())
}

/// Returns sub-devices of one compute unit each, if the device can be partitioned.
fn single_units() -> Option<Vec<Part>> {
    let device = target().device;
    (query::<cl_uint>(device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES) > 1).then(|| partition(device, &[EQUALLY, 1, 0]).expect("parts"))
}

#[test]
fn devices_report_their_partition_properties() {
    let device = target().device;
    let most = query::<cl_uint>(device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES) as isize;
    let schemes = list(device, CL_DEVICE_PARTITION_PROPERTIES);
    let domains = query::<u64>(device, CL_DEVICE_PARTITION_AFFINITY_DOMAIN);
    assert_eq!(query::<usize>(device, CL_DEVICE_PARENT_DEVICE), 0);
    assert_eq!(query::<cl_uint>(device, CL_DEVICE_REFERENCE_COUNT), 1);
    assert!([&[][..], &[0]].contains(&&*list(device, CL_DEVICE_PARTITION_TYPE)));
    assert!(most <= units(device));
    if common::is_cpu() && available_parallelism().is_ok_and(|cores| cores.get() > 1) {
        assert_eq!(most, units(device), "the CPU can be partitioned");
    }
    if most == 0 {
        assert_eq!((schemes, domains), (vec![0], 0));
        let error = partition(device, &[EQUALLY, 1, 0]).map(drop);
        assert!([Err(CL_INVALID_VALUE), Err(CL_DEVICE_PARTITION_FAILED)].contains(&error), "{error:?}");
    } else {
        assert!(schemes.starts_with(&[EQUALLY, BY_COUNTS]), "{schemes:x?}");
        assert_eq!(schemes.contains(&BY_AFFINITY_DOMAIN), domains != 0);
    }
}

#[test]
fn invalid_partitions_are_rejected() {
    let (cl, device) = (&target().cl, target().device);
    let count = |scheme: *const isize| cl.clCreateSubDevices(device, scheme, 0, null_mut(), &mut 0);
    assert_eq!(cl.clCreateSubDevices(null_mut(), [EQUALLY, 1, 0].as_ptr(), 0, null_mut(), &mut 0), CL_INVALID_DEVICE);
    assert_eq!(count(null()), CL_INVALID_VALUE);
    for scheme in
        [[0_isize, 0, 0], [7, 1, 0], [EQUALLY, 0, 0], [EQUALLY, -1, 0], [BY_COUNTS, 0, 0], [BY_AFFINITY_DOMAIN, 3, 0], [EQUALLY, 1, 7]]
    {
        assert_eq!(count(scheme.as_ptr()), CL_INVALID_VALUE, "{scheme:x?}");
    }
    if query::<cl_uint>(device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES) == 0 {
        return;
    }
    let all = units(device);
    assert_eq!(count([EQUALLY, all + 1, 0].as_ptr()), CL_INVALID_DEVICE_PARTITION_COUNT);
    assert_eq!(count([EQUALLY, all, 0].as_ptr()), CL_DEVICE_PARTITION_FAILED, "a single sub-device");
    for scheme in [[BY_COUNTS, all, 1, 0, 0], [BY_COUNTS, all + 1, 0, 0, 0], [BY_COUNTS, -1, 1, 0, 0]] {
        assert_eq!(count(scheme.as_ptr()), CL_INVALID_DEVICE_PARTITION_COUNT, "{scheme:x?}");
    }
    // 2 is CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE. Few processors have a fourth-level cache.
    let domains = query::<u64>(device, CL_DEVICE_PARTITION_AFFINITY_DOMAIN);
    if domains & 2 == 0 {
        let expected = if domains == 0 { CL_INVALID_VALUE } else { CL_DEVICE_PARTITION_FAILED };
        assert_eq!(count([BY_AFFINITY_DOMAIN, 2, 0].as_ptr()), expected);
    }
}

#[test]
fn sub_device_queries_are_answered() {
    let (cl, device) = (&target().cl, target().device);
    let Some(parts) = single_units() else { return };
    assert_eq!(parts.len() as isize, units(device));
    for Part(part) in &parts {
        assert_eq!((units(*part), query::<usize>(*part, CL_DEVICE_PARENT_DEVICE)), (1, device.addr()));
        assert_eq!(list(*part, CL_DEVICE_PARTITION_TYPE), [EQUALLY, 1, 0]);
        assert_eq!(
            (list(*part, CL_DEVICE_PARTITION_PROPERTIES), query::<cl_uint>(*part, CL_DEVICE_PARTITION_MAX_SUB_DEVICES)),
            (vec![0], 0)
        );
        assert_eq!(partition(*part, &[EQUALLY, 1, 0]).map(drop), Err(CL_DEVICE_PARTITION_FAILED));
        assert_eq!(query::<cl_uint>(*part, CL_DEVICE_REFERENCE_COUNT), 1);
        assert_eq!(cl.clRetainDevice(*part), CL_SUCCESS);
        assert_eq!(query::<cl_uint>(*part, CL_DEVICE_REFERENCE_COUNT), 2);
        assert_eq!(cl.clReleaseDevice(*part), CL_SUCCESS);
    }
    assert_eq!(
        (cl.clRetainDevice(device), query::<cl_uint>(device, CL_DEVICE_REFERENCE_COUNT)),
        (CL_SUCCESS, 1),
        "a root device is not counted"
    );
    let most = units(device) - 1;
    let uneven = partition(device, &[BY_COUNTS, most, 1, 0, 0]).expect("two parts");
    assert_eq!(uneven.iter().map(|part| units(part.0)).collect::<Vec<_>>(), [most, 1]);
    assert_eq!(list(uneven[0].0, CL_DEVICE_PARTITION_TYPE), [BY_COUNTS, most, 1, 0, 0]);
    if target().is_wgcl() {
        let gone = uneven[1].0;
        drop(uneven);
        assert_eq!(cl.clReleaseDevice(gone), CL_INVALID_DEVICE);
        assert_eq!(cl.clGetDeviceInfo(gone, CL_DEVICE_MAX_COMPUTE_UNITS, 0, null_mut(), &mut 0), CL_INVALID_DEVICE);
    }
}

#[test]
fn affinity_domains_partition_all_of_a_device() {
    let device = target().device;
    let domains = query::<u64>(device, CL_DEVICE_PARTITION_AFFINITY_DOMAIN) as isize;
    let known: Vec<isize> = (0..5).map(|bit| 1 << bit).filter(|domain| domains & domain != 0).collect();
    for domain in &known {
        let parts = partition(device, &[BY_AFFINITY_DOMAIN, *domain, 0]).expect("parts");
        assert!(parts.len() > 1);
        assert_eq!(parts.iter().map(|part| units(part.0)).sum::<isize>(), units(device));
        assert_eq!(list(parts[0].0, CL_DEVICE_PARTITION_TYPE), [BY_AFFINITY_DOMAIN, *domain, 0]);
        assert_eq!(
            query::<u64>(parts[0].0, CL_DEVICE_PARTITION_AFFINITY_DOMAIN) as isize & domain,
            0,
            "a sub-device cannot be partitioned by its own domain again"
        );
    }
    if let Some(first) = known.first() {
        let parts = partition(device, &[BY_AFFINITY_DOMAIN, NEXT_PARTITIONABLE, 0]).expect("parts");
        assert_eq!(list(parts[0].0, CL_DEVICE_PARTITION_TYPE), [BY_AFFINITY_DOMAIN, *first, 0]);
    }
}

fn context_of(devices: &[cl_device_id]) -> Context {
    let mut status = 1;
    let context = target().cl.clCreateContext(null(), devices.len() as cl_uint, devices.as_ptr(), None, null_mut(), &mut status);
    assert_eq!(status, CL_SUCCESS, "clCreateContext");
    Context(context)
}

fn queue_of(context: &Context, device: cl_device_id) -> Result<Queue, cl_int> {
    let mut status = 1;
    let queue = target().cl.clCreateCommandQueue(context.0, device, 0, &mut status);
    if status == CL_SUCCESS { Ok(Queue(queue)) } else { Err(status) }
}

const SOURCE: &str = "global uint calls;
kernel void step(global uint *a, uint factor) { size_t i = get_global_id(0); a[i] = a[i] * factor + 1; }
kernel void count(global uint *out) { out[0] = ++calls; }";

#[test]
fn sub_devices_and_their_parent_share_memory_and_programs() {
    let (cl, device) = (&target().cl, target().device);
    let Some(parts) = single_units() else { return };
    let devices = [parts[0].0, device, parts[1].0];
    let context = context_of(&devices);
    let queues = devices.map(|device| queue_of(&context, device).expect("a queue"));
    let program = context.program(SOURCE);
    // The program is built only for the root device, but its sub-devices can use the executable, too.
    assert_eq!(cl.clBuildProgram(program.0, 1, &device, c"-cl-std=CL3.0".as_ptr(), None, null_mut()), CL_SUCCESS);
    for device in devices {
        // CL_PROGRAM_BUILD_STATUS
        let status = info::<cl_int>(|size, value, ret| cl.clGetProgramBuildInfo(program.0, device, 0x1181, size, value, ret));
        assert_eq!(status, Ok(0), "CL_BUILD_SUCCESS");
    }
    let mut host: Vec<u32> = (0..4096).collect();
    let mem = context.buffer_with(CL_MEM_COPY_HOST_PTR, 4 * host.len(), host.as_mut_ptr().cast());
    let kernel = program.kernel("step");
    kernel.set_mem(0, &mem);
    let mut last: Option<Event> = None;
    for round in 0..60_u32 {
        assert_eq!(kernel.set(1, &(round | 1)), CL_SUCCESS);
        let mut event: cl_event = null_mut();
        let waits = last.as_ref().map_or(null(), |event| &raw const event.0);
        let queue = &queues[round as usize % 3];
        let size = host.len();
        let enqueued = cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &size, null(), last.is_some().into(), waits, &mut event);
        assert_eq!(enqueued, CL_SUCCESS);
        last = Some(Event(event));
        host.iter_mut().for_each(|word| *word = word.wrapping_mul(round | 1).wrapping_add(1));
    }
    assert_eq!(cl.clWaitForEvents(1, &last.as_ref().expect("an event").0), CL_SUCCESS);
    for queue in &queues {
        assert!(queue.read::<u32>(&mem, host.len()) == host, "every device sees the results of the others");
    }
    // All sub-devices share one memory, without copies.
    let places = queues.each_ref().map(|queue| {
        let mut status = 1;
        let flags = CL_MAP_READ | CL_MAP_WRITE;
        let place = cl.clEnqueueMapBuffer(queue.0, mem.0, CL_TRUE, flags, 0, 16, 0, null(), null_mut(), &mut status);
        assert_eq!(status, CL_SUCCESS);
        assert_eq!(cl.clEnqueueUnmapMemObject(queue.0, mem.0, place, 0, null(), null_mut()), CL_SUCCESS);
        queue.finish();
        place.addr()
    });
    assert_eq!(places, [places[0]; 3]);
    // Each device has its own program-scope variables.
    let out = context.buffer(4);
    let count = program.kernel("count");
    count.set_mem(0, &out);
    for expected in 1..=2 {
        for queue in &queues {
            assert_eq!(queue.launch(&count, &[1], None), CL_SUCCESS);
            assert_eq!(queue.read::<u32>(&out, 1), [expected]);
        }
    }
}

#[test]
fn contexts_have_exactly_the_given_devices() {
    let (cl, device) = (&target().cl, target().device);
    let Some(parts) = single_units() else { return };
    let context = context_of(&[parts[0].0]);
    for other in [device, parts[1].0] {
        assert_eq!(queue_of(&context, other).map(drop), Err(CL_INVALID_DEVICE));
        let program = context.program(SOURCE);
        assert_eq!(cl.clBuildProgram(program.0, 1, &other, c"".as_ptr(), None, null_mut()), CL_INVALID_DEVICE);
    }
    // The context retains its devices.
    let kept = parts[0].0;
    drop(parts);
    let queue = queue_of(&context, kept).expect("a queue");
    let program = context.program(SOURCE);
    assert_eq!(cl.clBuildProgram(program.0, 0, null(), c"-cl-std=CL3.0".as_ptr(), None, null_mut()), CL_SUCCESS);
    let kernel = program.kernel("step");
    let mem = context.buffer(4096);
    queue.write(&mem, &[5_u32; 1024]);
    kernel.set_mem(0, &mem);
    assert_eq!(kernel.set(1, &3_u32), CL_SUCCESS);
    assert_eq!(queue.launch(&kernel, &[1024], None), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&mem, 1024), [16; 1024]);
}

#[test]
fn built_in_kernels_of_a_device_run_on_its_sub_devices() {
    let device = target().device;
    let Some(parts) = single_units().filter(|_| target().is_wgcl()) else { return };
    let devices = [parts[0].0, device, parts[1].0];
    let context = context_of(&devices);
    let queues = devices.map(|device| queue_of(&context, device).expect("a queue"));
    let mem = context.buffer(256);
    queues[0].write(&mem, &[3_i32; 64]);
    // For each list of devices: which queues can run the kernel.
    for (list, runs) in [(vec![device], [true; 3]), (vec![parts[0].0], [true, false, false]), (devices.to_vec(), [true; 3])] {
        let kernel = context.built_in_for(&list, "pocl.abs.f32").expect("a program").kernel("pocl.abs.f32");
        let out = context.buffer(256);
        kernel.set_mem(0, &mem);
        kernel.set_mem(1, &out);
        let expected = runs.map(|runs| if runs { CL_SUCCESS } else { CL_INVALID_PROGRAM_EXECUTABLE });
        assert_eq!(queues.each_ref().map(|queue| queue.launch(&kernel, &[64], None)), expected);
        queues.iter().for_each(Queue::finish);
        assert_eq!(queues[0].read::<i32>(&out, 64), [3; 64]);
    }
}

/// Returns the number of cores on which this thread may run.
#[cfg(not(windows))]
fn own_cores() -> u32 {
    available_parallelism().map_or(0, |cores| cores.get() as u32)
}

/// Returns the number of cores on which this thread may run. On Windows, `available_parallelism` counts all cores of
/// the machine.
#[cfg(windows)]
fn own_cores() -> u32 {
    use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
    use windows_sys::Win32::System::Threading::{GetCurrentThread, GetThreadGroupAffinity};

    let mut own = GROUP_AFFINITY::default();
    // SAFETY: the call writes the mask.
    let is_known = unsafe { GetThreadGroupAffinity(GetCurrentThread(), &raw mut own) } != 0;
    if is_known { own.Mask.count_ones() } else { 0 }
}

/// Writes the number of cores on which this thread may run. A native kernel calls this function.
unsafe extern "C" fn note_cores(arguments: *mut c_void) {
    // SAFETY: the arguments of the test below.
    let place = unsafe { *arguments.cast::<*mut u32>() };
    // SAFETY: a buffer of one word.
    unsafe { *place = own_cores() };
}

#[test]
fn commands_of_a_sub_device_run_on_its_cores() {
    let cl = &target().cl;
    let Some(parts) = single_units() else { return };
    let devices: Vec<cl_device_id> = parts.iter().map(|part| part.0).collect();
    let context = context_of(&devices);
    let mem: Mem = context.buffer(4);
    for device in devices {
        let queue = queue_of(&context, device).expect("a queue");
        let mut arguments: *mut c_void = null_mut();
        let mut place = (&raw const arguments).cast::<c_void>();
        let pointer = (&raw mut arguments).cast();
        let size = size_of::<*mut c_void>();
        let enqueued = cl.clEnqueueNativeKernel(queue.0, Some(note_cores), pointer, size, 1, &mem.0, &mut place, 0, null(), null_mut());
        assert_eq!(enqueued, CL_SUCCESS);
        assert_eq!(queue.read::<u32>(&mem, 1), [1]);
    }
}
