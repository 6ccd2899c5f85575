//! Command buffers: the functions of cl_khr_command_buffer and cl_khr_command_buffer_mutable_dispatch, queried like in
//! an application, and a type that owns a command buffer.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use super::ffi::{CL_SUCCESS, cl_command_queue, cl_event, cl_int, cl_kernel, cl_mem, cl_uint};
use super::objects::{Kernel, Mem, Queue};
use super::{info, target};

/// cl_command_buffer_khr, or cl_mutable_command_khr.
pub type Handle = *mut c_void;
/// cl_sync_point_khr
pub type Point = cl_uint;

super::extension_functions! {
    fn clCreateCommandBufferKHR(num: cl_uint, queues: *const cl_command_queue, properties: *const u64, status: *mut cl_int) -> Handle;
    fn clRetainCommandBufferKHR(buffer: Handle) -> cl_int;
    fn clReleaseCommandBufferKHR(buffer: Handle) -> cl_int;
    fn clFinalizeCommandBufferKHR(buffer: Handle) -> cl_int;
    fn clEnqueueCommandBufferKHR(num: cl_uint, queues: *const cl_command_queue, buffer: Handle, n: cl_uint, waits: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clCommandBarrierWithWaitListKHR(buffer: Handle, queue: cl_command_queue, properties: *const u64, n: cl_uint, waits: *const Point, point: *mut Point, command: *mut Handle) -> cl_int;
    fn clCommandCopyBufferKHR(buffer: Handle, queue: cl_command_queue, properties: *const u64, src: cl_mem, dst: cl_mem, from: usize, to: usize, size: usize, n: cl_uint, waits: *const Point, point: *mut Point, command: *mut Handle) -> cl_int;
    fn clCommandCopyBufferRectKHR(buffer: Handle, queue: cl_command_queue, properties: *const u64, src: cl_mem, dst: cl_mem, src_origin: *const usize, dst_origin: *const usize, region: *const usize, src_row: usize, src_slice: usize, dst_row: usize, dst_slice: usize, n: cl_uint, waits: *const Point, point: *mut Point, command: *mut Handle) -> cl_int;
    fn clCommandFillBufferKHR(buffer: Handle, queue: cl_command_queue, properties: *const u64, mem: cl_mem, pattern: *const c_void, pattern_size: usize, offset: usize, size: usize, n: cl_uint, waits: *const Point, point: *mut Point, command: *mut Handle) -> cl_int;
    fn clCommandCopyImageKHR(buffer: Handle, queue: cl_command_queue, properties: *const u64, src: cl_mem, dst: cl_mem, from: *const usize, to: *const usize, region: *const usize, n: cl_uint, waits: *const Point, point: *mut Point, command: *mut Handle) -> cl_int;
    fn clCommandCopyImageToBufferKHR(buffer: Handle, queue: cl_command_queue, properties: *const u64, src: cl_mem, dst: cl_mem, origin: *const usize, region: *const usize, offset: usize, n: cl_uint, waits: *const Point, point: *mut Point, command: *mut Handle) -> cl_int;
    fn clCommandCopyBufferToImageKHR(buffer: Handle, queue: cl_command_queue, properties: *const u64, src: cl_mem, dst: cl_mem, offset: usize, origin: *const usize, region: *const usize, n: cl_uint, waits: *const Point, point: *mut Point, command: *mut Handle) -> cl_int;
    fn clCommandFillImageKHR(buffer: Handle, queue: cl_command_queue, properties: *const u64, mem: cl_mem, color: *const c_void, origin: *const usize, region: *const usize, n: cl_uint, waits: *const Point, point: *mut Point, command: *mut Handle) -> cl_int;
    fn clCommandNDRangeKernelKHR(buffer: Handle, queue: cl_command_queue, properties: *const u64, kernel: cl_kernel, dim: cl_uint, offset: *const usize, global: *const usize, local: *const usize, n: cl_uint, waits: *const Point, point: *mut Point, command: *mut Handle) -> cl_int;
    fn clCommandSVMMemcpyKHR(buffer: Handle, queue: cl_command_queue, properties: *const u64, dst: *mut c_void, src: *const c_void, size: usize, n: cl_uint, waits: *const Point, point: *mut Point, command: *mut Handle) -> cl_int;
    fn clCommandSVMMemFillKHR(buffer: Handle, queue: cl_command_queue, properties: *const u64, start: *mut c_void, pattern: *const c_void, pattern_size: usize, size: usize, n: cl_uint, waits: *const Point, point: *mut Point, command: *mut Handle) -> cl_int;
    fn clGetCommandBufferInfoKHR(buffer: Handle, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
    fn clUpdateMutableCommandsKHR(buffer: Handle, n: cl_uint, types: *const cl_uint, configs: *const *const c_void) -> cl_int;
    fn clGetMutableCommandInfoKHR(command: Handle, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
}

/// cl_mutable_dispatch_arg_khr
#[derive(Clone, Copy)]
#[repr(C)]
pub struct NewArg {
    pub index: cl_uint,
    pub size: usize,
    pub value: *const c_void,
}

impl NewArg {
    /// Creates an argument whose value has the form that clSetKernelArg expects.
    pub fn new<T>(index: cl_uint, value: &T) -> Self {
        Self { index, size: size_of::<T>(), value: (&raw const *value).cast() }
    }
}

/// cl_mutable_dispatch_exec_info_khr
#[derive(Clone, Copy)]
#[repr(C)]
pub struct NewInfo {
    pub name: cl_uint,
    pub size: usize,
    pub value: *const c_void,
}

/// cl_mutable_dispatch_config_khr
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Config {
    pub command: Handle,
    pub num_args: cl_uint,
    pub num_svm_args: cl_uint,
    pub num_exec_infos: cl_uint,
    pub work_dim: cl_uint,
    pub args: *const NewArg,
    pub svm_args: *const NewArg,
    pub exec_infos: *const NewInfo,
    pub global_offset: *const usize,
    pub global_size: *const usize,
    pub local_size: *const usize,
}

impl Config {
    /// Creates an update without changes.
    pub const fn new(command: Handle) -> Self {
        Self {
            command,
            num_args: 0,
            num_svm_args: 0,
            num_exec_infos: 0,
            work_dim: 0,
            args: null(),
            svm_args: null(),
            exec_infos: null(),
            global_offset: null(),
            global_size: null(),
            local_size: null(),
        }
    }

    /// Updates arguments. The slice and its values must outlive the update.
    pub const fn with_args(self, args: &[NewArg]) -> Self {
        Self { num_args: args.len() as cl_uint, args: args.as_ptr(), ..self }
    }

    /// Changes the global size.
    pub const fn with_global(self, size: &usize) -> Self {
        Self { global_size: size, ..self }
    }

    /// Changes the local size.
    pub const fn with_local(self, size: &usize) -> Self {
        Self { local_size: size, ..self }
    }
}

/// Returns the functions. Returns `None` on other platforms that lack them.
pub(crate) fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    let found = FUNCTIONS.get_or_init(Functions::load).as_ref();
    assert!(found.is_some() || !target().is_wgcl(), "a function is missing");
    found
}

/// A command buffer, released when dropped.
pub struct Commands(pub Handle, pub &'static Functions);

impl Drop for Commands {
    fn drop(&mut self) {
        let status = self.1.clReleaseCommandBufferKHR(self.0);
        if !std::thread::panicking() {
            assert_eq!(status, CL_SUCCESS, "clReleaseCommandBufferKHR");
        }
    }
}

impl Commands {
    pub(crate) fn new(functions: &'static Functions, queue: &Queue) -> Self {
        Self::with(functions, queue, &[0])
    }

    /// Creates a command buffer with properties. The list of properties ends with a zero.
    pub(crate) fn with(functions: &'static Functions, queue: &Queue, properties: &[u64]) -> Self {
        let mut status = 1;
        let handle = functions.clCreateCommandBufferKHR(1, &queue.0, properties.as_ptr(), &mut status);
        assert_eq!(status, CL_SUCCESS, "clCreateCommandBufferKHR");
        assert!(!handle.is_null());
        Self(handle, functions)
    }

    pub fn launch(&self, kernel: &Kernel, global: usize, local: Option<usize>, waits: &[Point]) -> Point {
        let mut point = 0;
        let local = local.as_ref().map_or(null(), |local| &raw const *local);
        let list = if waits.is_empty() { null() } else { waits.as_ptr() };
        let status = self.1.clCommandNDRangeKernelKHR(
            self.0,
            null_mut(),
            null(),
            kernel.0,
            1,
            null(),
            &global,
            local,
            waits.len() as cl_uint,
            list,
            &mut point,
            null_mut(),
        );
        assert_eq!(status, CL_SUCCESS, "clCommandNDRangeKernelKHR");
        point
    }

    /// Records a launch with these properties, and returns the handle of the mutable command.
    pub fn launch_mutable(
        &self,
        kernel: &Kernel,
        global: usize,
        local: Option<usize>,
        properties: Option<&[u64]>,
    ) -> Result<Handle, cl_int> {
        let mut handle = null_mut();
        let properties = properties.map_or(null(), <[u64]>::as_ptr);
        let local = local.as_ref().map_or(null(), |local| &raw const *local);
        let (none, point, raw) = (null(), null_mut(), &mut handle);
        let status =
            self.1.clCommandNDRangeKernelKHR(self.0, null_mut(), properties, kernel.0, 1, null(), &global, local, 0, none, point, raw);
        if status == CL_SUCCESS { Ok(handle) } else { Err(status) }
    }

    pub fn update(&self, configs: &[Config]) -> cl_int {
        let types = vec![0; configs.len()];
        let pointers: Vec<*const c_void> = configs.iter().map(|config| (&raw const *config).cast()).collect();
        self.1.clUpdateMutableCommandsKHR(self.0, configs.len() as cl_uint, types.as_ptr(), pointers.as_ptr())
    }

    pub fn copy(&self, src: &Mem, dst: &Mem, (from, to, size): (usize, usize, usize)) -> (cl_int, Point) {
        let mut point = 0;
        let status =
            self.1.clCommandCopyBufferKHR(self.0, null_mut(), null(), src.0, dst.0, from, to, size, 0, null(), &mut point, null_mut());
        (status, point)
    }

    pub fn fill(&self, mem: &Mem, value: u32, (offset, size): (usize, usize)) -> (cl_int, Point) {
        let mut point = 0;
        let pattern = (&raw const value).cast();
        let status =
            self.1.clCommandFillBufferKHR(self.0, null_mut(), null(), mem.0, pattern, 4, offset, size, 0, null(), &mut point, null_mut());
        (status, point)
    }

    pub fn barrier(&self, waits: &[Point]) -> (cl_int, Point) {
        let mut point = 0;
        let list = if waits.is_empty() { null() } else { waits.as_ptr() };
        let count = waits.len() as cl_uint;
        let status = self.1.clCommandBarrierWithWaitListKHR(self.0, null_mut(), null(), count, list, &mut point, null_mut());
        (status, point)
    }

    pub fn finalize(&self) {
        assert_eq!(self.1.clFinalizeCommandBufferKHR(self.0), CL_SUCCESS, "clFinalizeCommandBufferKHR");
    }

    pub fn enqueue(&self) {
        let status = self.1.clEnqueueCommandBufferKHR(0, null(), self.0, 0, null(), null_mut());
        assert_eq!(status, CL_SUCCESS, "clEnqueueCommandBufferKHR");
    }

    pub fn info<T: Copy + Default>(&self, name: cl_uint) -> Result<T, cl_int> {
        info(|size, value, ret| self.1.clGetCommandBufferInfoKHR(self.0, name, size, value, ret))
    }
}
