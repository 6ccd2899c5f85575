//! The part of the OpenCL C API that the tests call, written by hand so that the tests depend on the loader and on nothing of ours.
//!
//! Every function is looked up in `libOpenCL.so.1` at run time ([`super::cl`]), as an application that loads OpenCL
//! lazily would do. Names and values are those of `CL/cl.h`.

#![allow(
    non_camel_case_types,
    non_snake_case,
    dead_code,
    missing_docs,
    reason = "names of the C API; each test binary uses another part of them"
)]

use std::ffi::{c_char, c_void};

pub type cl_int = i32;
pub type cl_uint = u32;
pub type cl_bool = u32;
pub type cl_bitfield = u64;
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

/// `cl_buffer_region`, the argument of `clCreateSubBuffer`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cl_buffer_region {
    pub origin: usize,
    pub size: usize,
}

/// `cl_image_format`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct cl_image_format {
    pub image_channel_order: cl_uint,
    pub image_channel_data_type: cl_uint,
}

/// `cl_image_desc`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cl_image_desc {
    pub image_type: cl_uint,
    pub image_width: usize,
    pub image_height: usize,
    pub image_depth: usize,
    pub image_array_size: usize,
    pub image_row_pitch: usize,
    pub image_slice_pitch: usize,
    pub num_mip_levels: cl_uint,
    pub num_samples: cl_uint,
    pub mem_object: cl_mem,
}

macro_rules! constants {
    ($type:ty; $($name:ident = $value:expr;)*) => { $(pub const $name: $type = $value;)* };
}

constants! { cl_int;
    CL_SUCCESS = 0;
    CL_DEVICE_NOT_FOUND = -1;
    CL_IMAGE_FORMAT_MISMATCH = -9;
    CL_IMAGE_FORMAT_NOT_SUPPORTED = -10;
    CL_BUILD_PROGRAM_FAILURE = -11;
    CL_MAP_FAILURE = -12;
    CL_COMPILE_PROGRAM_FAILURE = -15;
    CL_LINK_PROGRAM_FAILURE = -17;
    CL_MISALIGNED_SUB_BUFFER_OFFSET = -13;
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST = -14;
    CL_PROFILING_INFO_NOT_AVAILABLE = -7;
    CL_MEM_COPY_OVERLAP = -8;
    CL_KERNEL_ARG_INFO_NOT_AVAILABLE = -19;
    CL_INVALID_VALUE = -30;
    CL_INVALID_DEVICE_TYPE = -31;
    CL_INVALID_PLATFORM = -32;
    CL_INVALID_DEVICE = -33;
    CL_INVALID_CONTEXT = -34;
    CL_INVALID_QUEUE_PROPERTIES = -35;
    CL_INVALID_COMMAND_QUEUE = -36;
    CL_INVALID_HOST_PTR = -37;
    CL_INVALID_MEM_OBJECT = -38;
    CL_INVALID_IMAGE_FORMAT_DESCRIPTOR = -39;
    CL_INVALID_IMAGE_SIZE = -40;
    CL_INVALID_SAMPLER = -41;
    CL_INVALID_BUILD_OPTIONS = -43;
    CL_INVALID_PROGRAM = -44;
    CL_INVALID_PROGRAM_EXECUTABLE = -45;
    CL_INVALID_KERNEL_NAME = -46;
    CL_INVALID_KERNEL = -48;
    CL_INVALID_ARG_INDEX = -49;
    CL_INVALID_ARG_VALUE = -50;
    CL_INVALID_ARG_SIZE = -51;
    CL_INVALID_KERNEL_ARGS = -52;
    CL_INVALID_WORK_DIMENSION = -53;
    CL_INVALID_WORK_GROUP_SIZE = -54;
    CL_INVALID_WORK_ITEM_SIZE = -55;
    CL_INVALID_GLOBAL_OFFSET = -56;
    CL_INVALID_EVENT_WAIT_LIST = -57;
    CL_INVALID_EVENT = -58;
    CL_INVALID_OPERATION = -59;
    CL_INVALID_BUFFER_SIZE = -61;
    CL_INVALID_MIP_LEVEL = -62;
    CL_INVALID_GLOBAL_WORK_SIZE = -63;
    CL_INVALID_PROPERTY = -64;
    CL_INVALID_IMAGE_DESCRIPTOR = -65;
    CL_COMPLETE = 0;
    CL_RUNNING = 1;
    CL_SUBMITTED = 2;
    CL_QUEUED = 3;
    CL_BUILD_SUCCESS = 0;
    CL_BUILD_NONE = -1;
    CL_BUILD_ERROR = -2;
    CL_BUILD_IN_PROGRESS = -3;
}

constants! { cl_bool;
    CL_FALSE = 0;
    CL_TRUE = 1;
}

constants! { cl_uint;
    CL_DEVICE_MAX_READ_IMAGE_ARGS = 0x100E;
    CL_DEVICE_MAX_WRITE_IMAGE_ARGS = 0x100F;
    CL_DEVICE_IMAGE2D_MAX_WIDTH = 0x1011;
    CL_DEVICE_IMAGE2D_MAX_HEIGHT = 0x1012;
    CL_DEVICE_IMAGE3D_MAX_WIDTH = 0x1013;
    CL_DEVICE_IMAGE3D_MAX_HEIGHT = 0x1014;
    CL_DEVICE_IMAGE3D_MAX_DEPTH = 0x1015;
    CL_DEVICE_IMAGE_SUPPORT = 0x1016;
    CL_DEVICE_MAX_SAMPLERS = 0x1018;
    CL_DEVICE_IMAGE_MAX_BUFFER_SIZE = 0x1040;
    CL_DEVICE_IMAGE_MAX_ARRAY_SIZE = 0x1041;
    CL_DEVICE_IMAGE_PITCH_ALIGNMENT = 0x104A;
    CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT = 0x104B;
    CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS = 0x104C;
    CL_R = 0x10B0;
    CL_A = 0x10B1;
    CL_RG = 0x10B2;
    CL_RA = 0x10B3;
    CL_RGB = 0x10B4;
    CL_RGBA = 0x10B5;
    CL_BGRA = 0x10B6;
    CL_ARGB = 0x10B7;
    CL_INTENSITY = 0x10B8;
    CL_LUMINANCE = 0x10B9;
    CL_RGB_X = 0x10BC;
    CL_DEPTH = 0x10BD;
    CL_SRGBX = 0x10C0;
    CL_SRGBA = 0x10C1;
    CL_SBGRA = 0x10C2;
    CL_ABGR = 0x10C3;
    CL_SNORM_INT8 = 0x10D0;
    CL_SNORM_INT16 = 0x10D1;
    CL_UNORM_INT8 = 0x10D2;
    CL_UNORM_INT16 = 0x10D3;
    CL_UNORM_SHORT_565 = 0x10D4;
    CL_UNORM_SHORT_555 = 0x10D5;
    CL_UNORM_INT_101010 = 0x10D6;
    CL_SIGNED_INT8 = 0x10D7;
    CL_SIGNED_INT16 = 0x10D8;
    CL_SIGNED_INT32 = 0x10D9;
    CL_UNSIGNED_INT8 = 0x10DA;
    CL_UNSIGNED_INT16 = 0x10DB;
    CL_UNSIGNED_INT32 = 0x10DC;
    CL_HALF_FLOAT = 0x10DD;
    CL_FLOAT = 0x10DE;
    CL_UNORM_INT_101010_2 = 0x10E0;
    CL_UNORM_INT_2_101010_EXT = 0x10E5;
    CL_MEM_OBJECT_IMAGE2D = 0x10F1;
    CL_MEM_OBJECT_IMAGE3D = 0x10F2;
    CL_MEM_OBJECT_IMAGE2D_ARRAY = 0x10F3;
    CL_MEM_OBJECT_IMAGE1D = 0x10F4;
    CL_MEM_OBJECT_IMAGE1D_ARRAY = 0x10F5;
    CL_MEM_OBJECT_IMAGE1D_BUFFER = 0x10F6;
    CL_IMAGE_FORMAT = 0x1110;
    CL_IMAGE_ELEMENT_SIZE = 0x1111;
    CL_IMAGE_ROW_PITCH = 0x1112;
    CL_IMAGE_SLICE_PITCH = 0x1113;
    CL_IMAGE_WIDTH = 0x1114;
    CL_IMAGE_HEIGHT = 0x1115;
    CL_IMAGE_DEPTH = 0x1116;
    CL_IMAGE_ARRAY_SIZE = 0x1117;
    CL_IMAGE_BUFFER = 0x1118;
    CL_IMAGE_NUM_MIP_LEVELS = 0x1119;
    CL_IMAGE_NUM_SAMPLES = 0x111A;
    CL_ADDRESS_NONE = 0x1130;
    CL_ADDRESS_CLAMP_TO_EDGE = 0x1131;
    CL_ADDRESS_CLAMP = 0x1132;
    CL_ADDRESS_REPEAT = 0x1133;
    CL_ADDRESS_MIRRORED_REPEAT = 0x1134;
    CL_FILTER_NEAREST = 0x1140;
    CL_FILTER_LINEAR = 0x1141;
    CL_SAMPLER_REFERENCE_COUNT = 0x1150;
    CL_SAMPLER_CONTEXT = 0x1151;
    CL_SAMPLER_NORMALIZED_COORDS = 0x1152;
    CL_SAMPLER_ADDRESSING_MODE = 0x1153;
    CL_SAMPLER_FILTER_MODE = 0x1154;
    CL_SAMPLER_PROPERTIES = 0x1158;
    CL_COMMAND_READ_IMAGE = 0x11F6;
    CL_COMMAND_WRITE_IMAGE = 0x11F7;
    CL_COMMAND_COPY_IMAGE = 0x11F8;
    CL_COMMAND_COPY_IMAGE_TO_BUFFER = 0x11F9;
    CL_COMMAND_COPY_BUFFER_TO_IMAGE = 0x11FA;
    CL_COMMAND_MAP_IMAGE = 0x11FC;
    CL_COMMAND_FILL_IMAGE = 0x1208;
    CL_PLATFORM_PROFILE = 0x0900;
    CL_PLATFORM_VERSION = 0x0901;
    CL_PLATFORM_NAME = 0x0902;
    CL_PLATFORM_VENDOR = 0x0903;
    CL_PLATFORM_EXTENSIONS = 0x0904;
    CL_PLATFORM_NUMERIC_VERSION = 0x0906;
    CL_PLATFORM_ICD_SUFFIX_KHR = 0x0920;
    CL_DEVICE_TYPE = 0x1000;
    CL_DEVICE_VENDOR_ID = 0x1001;
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002;
    CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS = 0x1003;
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004;
    CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT = 0x1065;
    CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005;
    CL_DEVICE_ADDRESS_BITS = 0x100D;
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010;
    CL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019;
    CL_DEVICE_MAX_PARAMETER_SIZE = 0x1017;
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F;
    CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE = 0x1020;
    CL_DEVICE_MAX_CONSTANT_ARGS = 0x1021;
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023;
    CL_DEVICE_NAME = 0x102B;
    CL_DEVICE_VENDOR = 0x102C;
    CL_DRIVER_VERSION = 0x102D;
    CL_DEVICE_PROFILE = 0x102E;
    CL_DEVICE_VERSION = 0x102F;
    CL_DEVICE_EXTENSIONS = 0x1030;
    CL_DEVICE_PLATFORM = 0x1031;
    CL_DEVICE_OPENCL_C_VERSION = 0x103D;
    CL_DEVICE_NUMERIC_VERSION = 0x105E;
    CL_CONTEXT_REFERENCE_COUNT = 0x1080;
    CL_CONTEXT_DEVICES = 0x1081;
    CL_CONTEXT_PROPERTIES = 0x1082;
    CL_CONTEXT_NUM_DEVICES = 0x1083;
    CL_QUEUE_CONTEXT = 0x1090;
    CL_QUEUE_DEVICE = 0x1091;
    CL_QUEUE_REFERENCE_COUNT = 0x1092;
    CL_QUEUE_PROPERTIES = 0x1093;
    CL_MEM_TYPE = 0x1100;
    CL_MEM_FLAGS = 0x1101;
    CL_MEM_SIZE = 0x1102;
    CL_MEM_HOST_PTR = 0x1103;
    CL_MEM_MAP_COUNT = 0x1104;
    CL_MEM_REFERENCE_COUNT = 0x1105;
    CL_MEM_CONTEXT = 0x1106;
    CL_MEM_ASSOCIATED_MEMOBJECT = 0x1107;
    CL_MEM_OFFSET = 0x1108;
    CL_MEM_OBJECT_BUFFER = 0x10F0;
    CL_PROGRAM_REFERENCE_COUNT = 0x1160;
    CL_PROGRAM_CONTEXT = 0x1161;
    CL_PROGRAM_NUM_DEVICES = 0x1162;
    CL_PROGRAM_DEVICES = 0x1163;
    CL_PROGRAM_SOURCE = 0x1164;
    CL_PROGRAM_BINARY_SIZES = 0x1165;
    CL_PROGRAM_BINARIES = 0x1166;
    CL_PROGRAM_NUM_KERNELS = 0x1167;
    CL_PROGRAM_KERNEL_NAMES = 0x1168;
    CL_PROGRAM_BUILD_STATUS = 0x1181;
    CL_PROGRAM_BUILD_OPTIONS = 0x1182;
    CL_PROGRAM_BUILD_LOG = 0x1183;
    CL_PROGRAM_BINARY_TYPE = 0x1184;
    CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT = 1;
    CL_PROGRAM_BINARY_TYPE_LIBRARY = 2;
    CL_PROGRAM_BINARY_TYPE_EXECUTABLE = 4;
    CL_KERNEL_FUNCTION_NAME = 0x1190;
    CL_KERNEL_NUM_ARGS = 0x1191;
    CL_KERNEL_REFERENCE_COUNT = 0x1192;
    CL_KERNEL_CONTEXT = 0x1193;
    CL_KERNEL_PROGRAM = 0x1194;
    CL_KERNEL_ARG_ADDRESS_QUALIFIER = 0x1196;
    CL_KERNEL_ARG_ACCESS_QUALIFIER = 0x1197;
    CL_KERNEL_ARG_TYPE_NAME = 0x1198;
    CL_KERNEL_ARG_TYPE_QUALIFIER = 0x1199;
    CL_KERNEL_ARG_NAME = 0x119A;
    CL_KERNEL_ARG_ADDRESS_GLOBAL = 0x119B;
    CL_KERNEL_ARG_ADDRESS_LOCAL = 0x119C;
    CL_KERNEL_ARG_ADDRESS_CONSTANT = 0x119D;
    CL_KERNEL_ARG_ADDRESS_PRIVATE = 0x119E;
    CL_KERNEL_WORK_GROUP_SIZE = 0x11B0;
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE = 0x11B1;
    CL_KERNEL_LOCAL_MEM_SIZE = 0x11B2;
    CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 0x11B3;
    CL_KERNEL_PRIVATE_MEM_SIZE = 0x11B4;
    CL_EVENT_COMMAND_QUEUE = 0x11D0;
    CL_EVENT_COMMAND_TYPE = 0x11D1;
    CL_EVENT_REFERENCE_COUNT = 0x11D2;
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3;
    CL_EVENT_CONTEXT = 0x11D4;
    CL_COMMAND_NDRANGE_KERNEL = 0x11F0;
    CL_COMMAND_READ_BUFFER = 0x11F3;
    CL_COMMAND_WRITE_BUFFER = 0x11F4;
    CL_COMMAND_COPY_BUFFER = 0x11F5;
    CL_COMMAND_MAP_BUFFER = 0x11FB;
    CL_COMMAND_UNMAP_MEM_OBJECT = 0x11FD;
    CL_COMMAND_MARKER = 0x11FE;
    CL_COMMAND_USER = 0x1204;
    CL_COMMAND_BARRIER = 0x1205;
    CL_COMMAND_FILL_BUFFER = 0x1207;
    CL_BUFFER_CREATE_TYPE_REGION = 0x1220;
    CL_PROFILING_COMMAND_QUEUED = 0x1280;
    CL_PROFILING_COMMAND_SUBMIT = 0x1281;
    CL_PROFILING_COMMAND_START = 0x1282;
    CL_PROFILING_COMMAND_END = 0x1283;
}

constants! { cl_bitfield;
    CL_DEVICE_TYPE_DEFAULT = 1 << 0;
    CL_DEVICE_TYPE_CPU = 1 << 1;
    CL_DEVICE_TYPE_GPU = 1 << 2;
    CL_DEVICE_TYPE_ACCELERATOR = 1 << 3;
    CL_DEVICE_TYPE_ALL = 0xFFFF_FFFF;
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE = 1 << 0;
    CL_QUEUE_PROFILING_ENABLE = 1 << 1;
    CL_MEM_READ_WRITE = 1 << 0;
    CL_MEM_WRITE_ONLY = 1 << 1;
    CL_MEM_READ_ONLY = 1 << 2;
    CL_MEM_USE_HOST_PTR = 1 << 3;
    CL_MEM_ALLOC_HOST_PTR = 1 << 4;
    CL_MEM_COPY_HOST_PTR = 1 << 5;
    CL_MEM_HOST_WRITE_ONLY = 1 << 7;
    CL_MEM_HOST_READ_ONLY = 1 << 8;
    CL_MEM_HOST_NO_ACCESS = 1 << 9;
    CL_MEM_KERNEL_READ_AND_WRITE = 1 << 12;
    CL_MIGRATE_MEM_OBJECT_HOST = 1 << 0;
    CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED = 1 << 1;
    CL_MAP_READ = 1 << 0;
    CL_MAP_WRITE = 1 << 1;
    CL_MAP_WRITE_INVALIDATE_REGION = 1 << 2;
}

constants! { isize;
    CL_CONTEXT_PLATFORM = 0x1084;
    CL_PRINTF_CALLBACK_ARM = 0x40B0;
}

/// Declares the table of entry points, its lookup in a library, and a method of the same name for each.
macro_rules! entry_points {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $ret:ty;)*) => {
        /// The entry points of a loaded `libOpenCL.so.1`.
        pub struct Cl {
            $($name: unsafe extern "C" fn($($type),*) -> $ret,)*
            _library: libloading::Library,
        }

        impl Cl {
            /// Looks up every entry point; the first missing one is the error.
            pub fn from_library(library: libloading::Library) -> Result<Self, libloading::Error> {
                $(
                    // SAFETY: the type is that of the function of this name in CL/cl.h.
                    let $name = *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes())? };
                )*
                Ok(Self { $($name,)* _library: library })
            }

            $(
                #[allow(clippy::too_many_arguments, reason = "the C API's own shape")]
                pub fn $name(&self, $($arg: $type),*) -> $ret {
                    // SAFETY: the function pointer was looked up under this name and the library is still loaded. What
                    // the pointers among the arguments must satisfy is the business of the test that passes them.
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
