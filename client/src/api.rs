//! The part of OpenCL's C API that is used here, looked up in a library at run time: the ICD loader's, or a driver that exports the same names.

use std::ffi::{OsStr, c_char, c_void};
use std::sync::{Mutex, PoisonError};

pub type Handle = *mut c_void;

/// `pfn_notify` of clCreateContext
pub type Notify = unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void);

/// `cl_buffer_region`
#[repr(C)]
pub struct BufferRegion {
    pub origin: usize,
    pub size: usize,
}

/// `cl_image_format`
#[repr(C)]
pub struct ImageFormat {
    pub order: u32,
    pub data_type: u32,
}

/// `cl_image_desc`
#[repr(C)]
pub struct ImageDesc {
    pub kind: u32,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub array_size: usize,
    pub row_pitch: usize,
    pub slice_pitch: usize,
    pub mip_levels: u32,
    pub samples: u32,
    pub buffer: Handle,
}

/// Declares the table of entry points, and its lookup.
macro_rules! entry_points {
    ($(fn $field:ident = $name:ident($($type:ty),*) -> $ret:ty;)*) => {
        /// The entry points of a library.
        pub struct Api {
            $(#[doc = stringify!($name)] pub $field: unsafe extern "C" fn($($type),*) -> $ret,)*
            _library: libloading::Library,
        }

        impl Api {
            /// Loads a library. The error says which it is or what it lacks.
            pub fn load(path: &OsStr) -> Result<Self, libloading::Error> {
                // SAFETY: an OpenCL library may be loaded at any time; what it does then is its own business.
                let library = unsafe { libloading::Library::new(path)? };
                $(
                    // SAFETY: the type is that of the function of this name in CL/cl.h.
                    let $field = *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes())? };
                )*
                Ok(Self { $($field,)* _library: library })
            }
        }
    };
}

entry_points! {
    fn get_platform_ids = clGetPlatformIDs(u32, *mut Handle, *mut u32) -> i32;
    fn get_platform_info = clGetPlatformInfo(Handle, u32, usize, *mut c_void, *mut usize) -> i32;
    fn get_device_ids = clGetDeviceIDs(Handle, u64, u32, *mut Handle, *mut u32) -> i32;
    fn get_device_info = clGetDeviceInfo(Handle, u32, usize, *mut c_void, *mut usize) -> i32;
    fn create_context = clCreateContext(*const isize, u32, *const Handle, Option<Notify>, *mut c_void, *mut i32) -> Handle;
    fn release_context = clReleaseContext(Handle) -> i32;
    fn create_queue = clCreateCommandQueue(Handle, Handle, u64, *mut i32) -> Handle;
    fn release_queue = clReleaseCommandQueue(Handle) -> i32;
    fn finish = clFinish(Handle) -> i32;
    fn create_buffer = clCreateBuffer(Handle, u64, usize, *mut c_void, *mut i32) -> Handle;
    fn create_sub_buffer = clCreateSubBuffer(Handle, u64, u32, *const c_void, *mut i32) -> Handle;
    fn create_image = clCreateImage(Handle, u64, *const ImageFormat, *const ImageDesc, *mut c_void, *mut i32) -> Handle;
    fn create_pipe = clCreatePipe(Handle, u64, u32, u32, *const isize, *mut i32) -> Handle;
    fn release_memory = clReleaseMemObject(Handle) -> i32;
    fn create_sampler = clCreateSampler(Handle, u32, u32, u32, *mut i32) -> Handle;
    fn create_sampler_with_properties = clCreateSamplerWithProperties(Handle, *const u64, *mut i32) -> Handle;
    fn release_sampler = clReleaseSampler(Handle) -> i32;
    fn create_program = clCreateProgramWithSource(Handle, u32, *const *const c_char, *const usize, *mut i32) -> Handle;
    fn create_program_with_il = clCreateProgramWithIL(Handle, *const c_void, usize, *mut i32) -> Handle;
    fn build_program = clBuildProgram(Handle, u32, *const Handle, *const c_char, *const c_void, *mut c_void) -> i32;
    fn get_program_info = clGetProgramInfo(Handle, u32, usize, *mut c_void, *mut usize) -> i32;
    fn get_build_info = clGetProgramBuildInfo(Handle, Handle, u32, usize, *mut c_void, *mut usize) -> i32;
    fn release_program = clReleaseProgram(Handle) -> i32;
    fn create_kernel = clCreateKernel(Handle, *const c_char, *mut i32) -> Handle;
    fn get_kernel_info = clGetKernelInfo(Handle, u32, usize, *mut c_void, *mut usize) -> i32;
    fn get_kernel_arg_info = clGetKernelArgInfo(Handle, u32, u32, usize, *mut c_void, *mut usize) -> i32;
    fn set_kernel_arg = clSetKernelArg(Handle, u32, usize, *const c_void) -> i32;
    fn release_kernel = clReleaseKernel(Handle) -> i32;
    fn enqueue_kernel = clEnqueueNDRangeKernel(Handle, Handle, u32, *const usize, *const usize, *const usize, u32, *const Handle, *mut Handle) -> i32;
    fn enqueue_read = clEnqueueReadBuffer(Handle, Handle, u32, usize, usize, *mut c_void, u32, *const Handle, *mut Handle) -> i32;
    fn enqueue_read_image = clEnqueueReadImage(Handle, Handle, u32, *const usize, *const usize, usize, usize, *mut c_void, u32, *const Handle, *mut Handle) -> i32;
    fn enqueue_write_image = clEnqueueWriteImage(Handle, Handle, u32, *const usize, *const usize, usize, usize, *const c_void, u32, *const Handle, *mut Handle) -> i32;
    fn wait_for_events = clWaitForEvents(u32, *const Handle) -> i32;
    fn get_profiling_info = clGetEventProfilingInfo(Handle, u32, usize, *mut c_void, *mut usize) -> i32;
    fn release_event = clReleaseEvent(Handle) -> i32;
}

/// What drivers told of errors by their contexts' callbacks, and nobody has asked for yet.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// `pfn_notify` of all contexts: drivers call it on any thread.
pub unsafe extern "C" fn notify(text: *const c_char, _: *const c_void, _: usize, _: *mut c_void) {
    if text.is_null() {
        return;
    }
    // SAFETY: the specification says that it is a string that ends with a zero.
    let text = unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned();
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).push(text);
}

/// What was told since the last time.
pub fn take_told() -> Vec<String> {
    std::mem::take(&mut *TOLD.lock().unwrap_or_else(PoisonError::into_inner))
}
