//! The entry points of the OpenCL C API that the tests call. Types and constants are those of the Khronos headers.
//!
//! Every function is loaded from the ICD loader, for example `libOpenCL.so.1`, at run time ([`super::target`]), as in
//! an application that loads OpenCL on demand.

#![allow(
    non_camel_case_types,
    non_snake_case,
    dead_code,
    missing_docs,
    reason = "names of the C API; each test binary uses another part of them"
)]

use std::ffi::{c_char, c_void};

pub use wgcl_opencl_headers::*;

// The handles have no type, because the tests also pass null handles, released handles, and handles of the wrong type.
pub type cl_platform_id = *mut c_void;
pub type cl_device_id = *mut c_void;
pub type cl_context = *mut c_void;
pub type cl_command_queue = *mut c_void;
pub type cl_mem = *mut c_void;
pub type cl_program = *mut c_void;
pub type cl_kernel = *mut c_void;
pub type cl_event = *mut c_void;
pub type cl_sampler = *mut c_void;

pub type ContextCallback = Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void)>;
pub type ProgramCallback = Option<unsafe extern "C" fn(cl_program, *mut c_void)>;
pub type EventCallback = Option<unsafe extern "C" fn(cl_event, cl_int, *mut c_void)>;
pub type MemCallback = Option<unsafe extern "C" fn(cl_mem, *mut c_void)>;
pub type SvmFreeCallback = Option<unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void)>;

/// A channel type that the headers do not define yet.
pub const CL_UNORM_INT_2_101010_EXT: cl_uint = 0x10E5;

/// Declares the table of entry points, its lookup in a library, and a method with the same name for each entry point.
macro_rules! entry_points {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $ret:ty;)*) => {
        /// The entry points of the loaded ICD loader.
        pub struct Cl {
            $($name: unsafe extern "C" fn($($type),*) -> $ret,)*
            library: libloading::Library,
        }

        impl Cl {
            /// Looks up every entry point. Fails with the error of the first missing entry point.
            pub fn from_library(library: libloading::Library) -> Result<Self, libloading::Error> {
                $(
                    // SAFETY: the type is that of the function of this name in CL/cl.h.
                    let $name = *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes())? };
                )*
                Ok(Self { $($name,)* library })
            }

            /// Returns the address of another function that the loader exports.
            pub fn exported(&self, name: &str) -> Option<*mut c_void> {
                // SAFETY: the symbol is only used as an address.
                unsafe { self.library.get::<*mut c_void>(name.as_bytes()) }.ok().map(|symbol| *symbol)
            }

            $(
                #[allow(clippy::too_many_arguments, reason = "the C API's own shape")]
                pub fn $name(&self, $($arg: $type),*) -> $ret {
                    // SAFETY: the function pointer was loaded under this name, and the library is still loaded. The
                    // calling test must pass valid pointers.
                    unsafe { (self.$name)($($arg),*) }
                }
            )*
        }
    };
}

entry_points! {
    fn clGetPlatformIDs(num: cl_uint, out: *mut cl_platform_id, count: *mut cl_uint) -> cl_int;
    fn clGetPlatformInfo(p: cl_platform_id, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clGetDeviceIDs(p: cl_platform_id, ty: cl_bitfield, num: cl_uint, out: *mut cl_device_id, count: *mut cl_uint) -> cl_int;
    fn clGetDeviceInfo(d: cl_device_id, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clCreateSubDevices(d: cl_device_id, props: *const isize, num: cl_uint, out: *mut cl_device_id, count: *mut cl_uint) -> cl_int;
    fn clRetainDevice(d: cl_device_id) -> cl_int;
    fn clReleaseDevice(d: cl_device_id) -> cl_int;
    fn clGetExtensionFunctionAddressForPlatform(p: cl_platform_id, name: *const c_char) -> *mut c_void;
    fn clCreateContext(props: *const isize, num: cl_uint, devices: *const cl_device_id, notify: ContextCallback, data: *mut c_void, err: *mut cl_int) -> cl_context;
    fn clCreateContextFromType(props: *const isize, ty: cl_bitfield, notify: ContextCallback, data: *mut c_void, err: *mut cl_int) -> cl_context;
    fn clRetainContext(c: cl_context) -> cl_int;
    fn clReleaseContext(c: cl_context) -> cl_int;
    fn clGetContextInfo(c: cl_context, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clCreateCommandQueue(c: cl_context, d: cl_device_id, props: cl_bitfield, err: *mut cl_int) -> cl_command_queue;
    fn clCreateCommandQueueWithProperties(c: cl_context, d: cl_device_id, props: *const cl_bitfield, err: *mut cl_int) -> cl_command_queue;
    fn clRetainCommandQueue(q: cl_command_queue) -> cl_int;
    fn clReleaseCommandQueue(q: cl_command_queue) -> cl_int;
    fn clGetCommandQueueInfo(q: cl_command_queue, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clSetDefaultDeviceCommandQueue(c: cl_context, d: cl_device_id, q: cl_command_queue) -> cl_int;
    fn clFlush(q: cl_command_queue) -> cl_int;
    fn clFinish(q: cl_command_queue) -> cl_int;
    fn clCreateBuffer(c: cl_context, flags: cl_bitfield, size: usize, host: *mut c_void, err: *mut cl_int) -> cl_mem;
    fn clCreateBufferWithProperties(c: cl_context, props: *const u64, flags: cl_bitfield, size: usize, host: *mut c_void, err: *mut cl_int) -> cl_mem;
    fn clCreateSubBuffer(m: cl_mem, flags: cl_bitfield, ty: cl_uint, region: *const c_void, err: *mut cl_int) -> cl_mem;
    fn clCreatePipe(c: cl_context, flags: cl_bitfield, packet: cl_uint, packets: cl_uint, props: *const isize, err: *mut cl_int) -> cl_mem;
    fn clGetPipeInfo(m: cl_mem, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clRetainMemObject(m: cl_mem) -> cl_int;
    fn clReleaseMemObject(m: cl_mem) -> cl_int;
    fn clGetMemObjectInfo(m: cl_mem, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clSetMemObjectDestructorCallback(m: cl_mem, notify: MemCallback, data: *mut c_void) -> cl_int;
    fn clEnqueueReadBuffer(q: cl_command_queue, m: cl_mem, block: cl_bool, offset: usize, size: usize, ptr: *mut c_void, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueWriteBuffer(q: cl_command_queue, m: cl_mem, block: cl_bool, offset: usize, size: usize, ptr: *const c_void, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueReadBufferRect(q: cl_command_queue, m: cl_mem, block: cl_bool, buffer_origin: *const usize, host_origin: *const usize, region: *const usize, buffer_row: usize, buffer_slice: usize, host_row: usize, host_slice: usize, ptr: *mut c_void, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueWriteBufferRect(q: cl_command_queue, m: cl_mem, block: cl_bool, buffer_origin: *const usize, host_origin: *const usize, region: *const usize, buffer_row: usize, buffer_slice: usize, host_row: usize, host_slice: usize, ptr: *const c_void, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueCopyBufferRect(q: cl_command_queue, src: cl_mem, dst: cl_mem, src_origin: *const usize, dst_origin: *const usize, region: *const usize, src_row: usize, src_slice: usize, dst_row: usize, dst_slice: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueCopyBuffer(q: cl_command_queue, src: cl_mem, dst: cl_mem, src_offset: usize, dst_offset: usize, size: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueFillBuffer(q: cl_command_queue, m: cl_mem, pattern: *const c_void, pattern_size: usize, offset: usize, size: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clSVMAlloc(c: cl_context, flags: cl_bitfield, size: usize, alignment: cl_uint) -> *mut c_void;
    fn clSVMFree(c: cl_context, ptr: *mut c_void) -> ();
    fn clEnqueueSVMFree(q: cl_command_queue, num: cl_uint, list: *mut *mut c_void, notify: SvmFreeCallback, data: *mut c_void, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueSVMMemcpy(q: cl_command_queue, block: cl_bool, dst: *mut c_void, src: *const c_void, size: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueSVMMemFill(q: cl_command_queue, ptr: *mut c_void, pattern: *const c_void, pattern_size: usize, size: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueSVMMap(q: cl_command_queue, block: cl_bool, flags: cl_bitfield, ptr: *mut c_void, size: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueSVMUnmap(q: cl_command_queue, ptr: *mut c_void, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueSVMMigrateMem(q: cl_command_queue, num: cl_uint, list: *const *const c_void, sizes: *const usize, flags: cl_bitfield, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clSetKernelArgSVMPointer(k: cl_kernel, index: cl_uint, value: *const c_void) -> cl_int;
    fn clSetKernelExecInfo(k: cl_kernel, name: cl_uint, size: usize, value: *const c_void) -> cl_int;
    fn clEnqueueNativeKernel(q: cl_command_queue, function: Option<unsafe extern "C" fn(*mut c_void)>, args: *mut c_void, size: usize, objects: cl_uint, list: *const cl_mem, places: *mut *const c_void, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueMapBuffer(q: cl_command_queue, m: cl_mem, block: cl_bool, flags: cl_bitfield, offset: usize, size: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event, err: *mut cl_int) -> *mut c_void;
    fn clEnqueueUnmapMemObject(q: cl_command_queue, m: cl_mem, ptr: *mut c_void, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clCreateImage(c: cl_context, flags: cl_bitfield, format: *const cl_image_format, desc: *const cl_image_desc, host: *mut c_void, err: *mut cl_int) -> cl_mem;
    fn clCreateImageWithProperties(c: cl_context, props: *const cl_bitfield, flags: cl_bitfield, format: *const cl_image_format, desc: *const cl_image_desc, host: *mut c_void, err: *mut cl_int) -> cl_mem;
    fn clCreateImage2D(c: cl_context, flags: cl_bitfield, format: *const cl_image_format, width: usize, height: usize, row_pitch: usize, host: *mut c_void, err: *mut cl_int) -> cl_mem;
    fn clCreateImage3D(c: cl_context, flags: cl_bitfield, format: *const cl_image_format, width: usize, height: usize, depth: usize, row_pitch: usize, slice_pitch: usize, host: *mut c_void, err: *mut cl_int) -> cl_mem;
    fn clGetSupportedImageFormats(c: cl_context, flags: cl_bitfield, ty: cl_uint, num: cl_uint, out: *mut cl_image_format, count: *mut cl_uint) -> cl_int;
    fn clGetImageInfo(m: cl_mem, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clEnqueueReadImage(q: cl_command_queue, m: cl_mem, block: cl_bool, origin: *const usize, region: *const usize, row: usize, slice: usize, ptr: *mut c_void, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueWriteImage(q: cl_command_queue, m: cl_mem, block: cl_bool, origin: *const usize, region: *const usize, row: usize, slice: usize, ptr: *const c_void, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueFillImage(q: cl_command_queue, m: cl_mem, color: *const c_void, origin: *const usize, region: *const usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueCopyImage(q: cl_command_queue, src: cl_mem, dst: cl_mem, src_origin: *const usize, dst_origin: *const usize, region: *const usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueCopyImageToBuffer(q: cl_command_queue, src: cl_mem, dst: cl_mem, origin: *const usize, region: *const usize, offset: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueCopyBufferToImage(q: cl_command_queue, src: cl_mem, dst: cl_mem, offset: usize, origin: *const usize, region: *const usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueMapImage(q: cl_command_queue, m: cl_mem, block: cl_bool, flags: cl_bitfield, origin: *const usize, region: *const usize, row: *mut usize, slice: *mut usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event, err: *mut cl_int) -> *mut c_void;
    fn clEnqueueMigrateMemObjects(q: cl_command_queue, num: cl_uint, objects: *const cl_mem, flags: cl_bitfield, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clCreateSampler(c: cl_context, normalized: cl_bool, addressing: cl_uint, filter: cl_uint, err: *mut cl_int) -> cl_sampler;
    fn clCreateSamplerWithProperties(c: cl_context, props: *const cl_bitfield, err: *mut cl_int) -> cl_sampler;
    fn clRetainSampler(s: cl_sampler) -> cl_int;
    fn clReleaseSampler(s: cl_sampler) -> cl_int;
    fn clGetSamplerInfo(s: cl_sampler, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clEnqueueMarkerWithWaitList(q: cl_command_queue, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueBarrierWithWaitList(q: cl_command_queue, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clCreateProgramWithIL(c: cl_context, il: *const c_void, length: usize, err: *mut cl_int) -> cl_program;
    fn clSetProgramSpecializationConstant(p: cl_program, id: cl_uint, size: usize, value: *const c_void) -> cl_int;
    fn clCreateProgramWithSource(c: cl_context, count: cl_uint, strings: *const *const c_char, lengths: *const usize, err: *mut cl_int) -> cl_program;
    fn clRetainProgram(p: cl_program) -> cl_int;
    fn clReleaseProgram(p: cl_program) -> cl_int;
    fn clBuildProgram(p: cl_program, num: cl_uint, devices: *const cl_device_id, options: *const c_char, notify: ProgramCallback, data: *mut c_void) -> cl_int;
    fn clCreateProgramWithBinary(c: cl_context, num: cl_uint, devices: *const cl_device_id, lengths: *const usize, binaries: *const *const u8, status: *mut cl_int, err: *mut cl_int) -> cl_program;
    fn clCreateProgramWithBuiltInKernels(c: cl_context, num: cl_uint, devices: *const cl_device_id, names: *const c_char, err: *mut cl_int) -> cl_program;
    fn clCompileProgram(p: cl_program, num: cl_uint, devices: *const cl_device_id, options: *const c_char, headers: cl_uint, programs: *const cl_program, names: *const *const c_char, notify: ProgramCallback, data: *mut c_void) -> cl_int;
    fn clLinkProgram(c: cl_context, num: cl_uint, devices: *const cl_device_id, options: *const c_char, inputs: cl_uint, programs: *const cl_program, notify: ProgramCallback, data: *mut c_void, err: *mut cl_int) -> cl_program;
    fn clGetProgramInfo(p: cl_program, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clGetProgramBuildInfo(p: cl_program, d: cl_device_id, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clCreateKernel(p: cl_program, name: *const c_char, err: *mut cl_int) -> cl_kernel;
    fn clCreateKernelsInProgram(p: cl_program, num: cl_uint, kernels: *mut cl_kernel, count: *mut cl_uint) -> cl_int;
    fn clCloneKernel(k: cl_kernel, err: *mut cl_int) -> cl_kernel;
    fn clRetainKernel(k: cl_kernel) -> cl_int;
    fn clReleaseKernel(k: cl_kernel) -> cl_int;
    fn clGetKernelSubGroupInfo(k: cl_kernel, device: cl_device_id, name: cl_uint, input_size: usize, input: *const c_void, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clSetKernelArg(k: cl_kernel, index: cl_uint, size: usize, value: *const c_void) -> cl_int;
    fn clGetKernelInfo(k: cl_kernel, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clGetKernelArgInfo(k: cl_kernel, index: cl_uint, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clGetKernelWorkGroupInfo(k: cl_kernel, d: cl_device_id, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clEnqueueNDRangeKernel(q: cl_command_queue, k: cl_kernel, dim: cl_uint, offset: *const usize, global: *const usize, local: *const usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clCreateUserEvent(c: cl_context, err: *mut cl_int) -> cl_event;
    fn clSetUserEventStatus(e: cl_event, status: cl_int) -> cl_int;
    fn clWaitForEvents(n: cl_uint, events: *const cl_event) -> cl_int;
    fn clGetEventInfo(e: cl_event, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clRetainEvent(e: cl_event) -> cl_int;
    fn clReleaseEvent(e: cl_event) -> cl_int;
    fn clSetEventCallback(e: cl_event, status: cl_int, notify: EventCallback, data: *mut c_void) -> cl_int;
    fn clGetEventProfilingInfo(e: cl_event, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
}
