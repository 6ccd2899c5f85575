//! The OpenCL functions that this crate uses. They are loaded at run time from the ICD loader, or from a driver that
//! exports the same names.

use std::ffi::{OsStr, c_char, c_void};
use std::sync::{Mutex, PoisonError};

use wgcl_opencl_headers as headers;

/// A function type of the headers, which is an `Option` of a function pointer. `Pointer` is the type of the pointer.
pub trait EntryPoint {
    type Pointer: Copy;
}

impl<T: Copy> EntryPoint for Option<T> {
    type Pointer = T;
}

/// Declares the table of entry points and its loader.
macro_rules! entry_points {
    ($($field:ident = $name:ident: $type:ident;)*) => {
        /// The entry points of a library.
        pub struct Api {
            $(#[doc = stringify!($name)] pub $field: <headers::$type as EntryPoint>::Pointer,)*
            _library: libloading::Library,
        }

        impl Api {
            /// Loads a library.
            ///
            /// # Errors
            /// Fails if the library cannot be loaded or lacks an entry point.
            pub fn load(path: &OsStr) -> Result<Self, libloading::Error> {
                // SAFETY: an OpenCL library may be loaded at any time. The user selects the library, and is responsible
                // for its initialisation code.
                let library = unsafe { libloading::Library::new(path)? };
                $(
                    // SAFETY: the Khronos headers declare the function of this name with this type.
                    let $field = *unsafe {
                        library.get::<<headers::$type as EntryPoint>::Pointer>(concat!(stringify!($name), "\0").as_bytes())?
                    };
                )*
                Ok(Self { $($field,)* _library: library })
            }
        }
    };
}

entry_points! {
    get_platform_ids = clGetPlatformIDs: cl_api_clGetPlatformIDs;
    get_platform_info = clGetPlatformInfo: cl_api_clGetPlatformInfo;
    get_device_ids = clGetDeviceIDs: cl_api_clGetDeviceIDs;
    get_device_info = clGetDeviceInfo: cl_api_clGetDeviceInfo;
    create_context = clCreateContext: cl_api_clCreateContext;
    release_context = clReleaseContext: cl_api_clReleaseContext;
    create_queue = clCreateCommandQueue: cl_api_clCreateCommandQueue;
    release_queue = clReleaseCommandQueue: cl_api_clReleaseCommandQueue;
    finish = clFinish: cl_api_clFinish;
    create_buffer = clCreateBuffer: cl_api_clCreateBuffer;
    create_sub_buffer = clCreateSubBuffer: cl_api_clCreateSubBuffer;
    create_image = clCreateImage: cl_api_clCreateImage;
    create_pipe = clCreatePipe: cl_api_clCreatePipe;
    release_memory = clReleaseMemObject: cl_api_clReleaseMemObject;
    create_sampler = clCreateSampler: cl_api_clCreateSampler;
    create_sampler_with_properties = clCreateSamplerWithProperties: cl_api_clCreateSamplerWithProperties;
    release_sampler = clReleaseSampler: cl_api_clReleaseSampler;
    create_program = clCreateProgramWithSource: cl_api_clCreateProgramWithSource;
    create_program_with_il = clCreateProgramWithIL: cl_api_clCreateProgramWithIL;
    set_specialisation = clSetProgramSpecializationConstant: cl_api_clSetProgramSpecializationConstant;
    build_program = clBuildProgram: cl_api_clBuildProgram;
    compile_program = clCompileProgram: cl_api_clCompileProgram;
    link_program = clLinkProgram: cl_api_clLinkProgram;
    get_program_info = clGetProgramInfo: cl_api_clGetProgramInfo;
    get_build_info = clGetProgramBuildInfo: cl_api_clGetProgramBuildInfo;
    release_program = clReleaseProgram: cl_api_clReleaseProgram;
    create_kernel = clCreateKernel: cl_api_clCreateKernel;
    get_kernel_info = clGetKernelInfo: cl_api_clGetKernelInfo;
    get_kernel_arg_info = clGetKernelArgInfo: cl_api_clGetKernelArgInfo;
    set_kernel_arg = clSetKernelArg: cl_api_clSetKernelArg;
    release_kernel = clReleaseKernel: cl_api_clReleaseKernel;
    enqueue_kernel = clEnqueueNDRangeKernel: cl_api_clEnqueueNDRangeKernel;
    enqueue_read = clEnqueueReadBuffer: cl_api_clEnqueueReadBuffer;
    enqueue_write = clEnqueueWriteBuffer: cl_api_clEnqueueWriteBuffer;
    enqueue_read_image = clEnqueueReadImage: cl_api_clEnqueueReadImage;
    enqueue_write_image = clEnqueueWriteImage: cl_api_clEnqueueWriteImage;
    wait_for_events = clWaitForEvents: cl_api_clWaitForEvents;
    get_profiling_info = clGetEventProfilingInfo: cl_api_clGetEventProfilingInfo;
    release_event = clReleaseEvent: cl_api_clReleaseEvent;
}

/// The error texts that drivers passed to context callbacks since the last call of [`take_error_texts`].
static ERROR_TEXTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The `pfn_notify` callback of every context. Drivers can call it on any thread.
///
/// # Safety
/// `text` is null or a string that ends with a zero byte.
pub unsafe extern "C" fn notify(text: *const c_char, _: *const c_void, _: usize, _: *mut c_void) {
    if text.is_null() {
        return;
    }
    // SAFETY: the caller ensures that the string ends with a zero byte.
    let text = unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned();
    ERROR_TEXTS.lock().unwrap_or_else(PoisonError::into_inner).push(text);
}

/// Returns the error texts since the last call, and clears the list.
pub fn take_error_texts() -> Vec<String> {
    std::mem::take(&mut *ERROR_TEXTS.lock().unwrap_or_else(PoisonError::into_inner))
}
