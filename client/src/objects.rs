//! OpenCL objects. Their creation checks the error code, and they are released on drop. Only this file calls OpenCL
//! functions.

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::api::{Api, notify, take_error_texts};
use crate::error::ClientError;
use crate::image::{ImageProperties, SamplerProperties};
use crate::notation::Launch;
use wgcl_opencl_headers::{
    _cl_command_queue, _cl_context, _cl_kernel, _cl_mem, _cl_program, _cl_sampler, CL_BUFFER_CREATE_TYPE_REGION, CL_DEVICE_NOT_FOUND,
    CL_DEVICE_TYPE_ALL, CL_KERNEL_ARG_NAME, CL_KERNEL_ARG_TYPE_NAME, CL_KERNEL_NUM_ARGS, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE1D_ARRAY,
    CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_READ_WRITE, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_START, CL_PROGRAM_BUILD_LOG,
    CL_PROGRAM_KERNEL_NAMES, CL_QUEUE_PROFILING_ENABLE, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE, CL_SAMPLER_LOD_MAX,
    CL_SAMPLER_LOD_MIN, CL_SAMPLER_MIP_FILTER_MODE, CL_SAMPLER_NORMALIZED_COORDS, CL_SUCCESS, CL_TRUE, cl_buffer_region, cl_device_id,
    cl_image_desc, cl_image_format, cl_int, cl_mem, cl_platform_id,
};

type Result<T> = std::result::Result<T, ClientError>;

/// Time to wait for error texts after a failed call, because drivers can call the context's callback on other threads.
const CALLBACK_TIMEOUT: Duration = Duration::from_millis(50);

/// Fails with the error texts of the driver if `code` is an error. `call` returns the name of the function.
fn check(code: i32, call: impl FnOnce() -> String) -> Result<()> {
    if code == CL_SUCCESS {
        return Ok(());
    }
    let begin = Instant::now();
    let mut texts = take_error_texts();
    while texts.is_empty() && begin.elapsed() < CALLBACK_TIMEOUT {
        std::thread::sleep(Duration::from_millis(2));
        texts = take_error_texts();
    }
    Err(ClientError::Call { call: call(), code, texts })
}

/// Returns the result of an information query, or `None` if the query fails.
fn info(query: impl Fn(usize, *mut c_void, *mut usize) -> i32) -> Option<Vec<u8>> {
    let mut size = 0;
    if query(0, null_mut(), &mut size) != CL_SUCCESS {
        return None;
    }
    let mut bytes = vec![0u8; size];
    if size > 0 && query(size, bytes.as_mut_ptr().cast(), null_mut()) != CL_SUCCESS {
        return None;
    }
    Some(bytes)
}

fn text(bytes: Option<Vec<u8>>) -> String {
    String::from_utf8_lossy(&bytes.unwrap_or_default()).trim_end_matches('\0').trim().to_owned()
}

fn c_options(options: &str) -> Result<CString> {
    CString::new(options).map_err(|_| ClientError::Arguments("the build options contain a zero byte".to_owned()))
}

/// A platform and its devices.
pub struct Platform {
    pub handle: cl_platform_id,
    pub devices: Vec<cl_device_id>,
}

/// Returns the platforms of a library, and their devices.
pub fn platforms(api: &Api) -> Result<Vec<Platform>> {
    let mut count = 0;
    // SAFETY: the list is null, and `count` is writable.
    let code = unsafe { (api.get_platform_ids)(0, null_mut(), &mut count) };
    // CL_PLATFORM_NOT_FOUND_KHR: the ICD loader found no platform.
    if code == -1001 {
        return Ok(Vec::new());
    }
    check(code, || "clGetPlatformIDs".to_owned())?;
    let mut handles = vec![null_mut(); count as usize];
    // SAFETY: the list has `count` elements.
    check(unsafe { (api.get_platform_ids)(count, handles.as_mut_ptr(), null_mut()) }, || "clGetPlatformIDs".to_owned())?;
    let devices = |platform: cl_platform_id| -> Result<Vec<cl_device_id>> {
        let mut count = 0;
        // SAFETY: the list is null, and `count` is writable.
        let code = unsafe { (api.get_device_ids)(platform, CL_DEVICE_TYPE_ALL, 0, null_mut(), &mut count) };
        if code == CL_DEVICE_NOT_FOUND {
            return Ok(Vec::new());
        }
        check(code, || "clGetDeviceIDs".to_owned())?;
        let mut devices = vec![null_mut(); count as usize];
        // SAFETY: the list has `count` elements.
        let code = unsafe { (api.get_device_ids)(platform, CL_DEVICE_TYPE_ALL, count, devices.as_mut_ptr(), null_mut()) };
        check(code, || "clGetDeviceIDs".to_owned())?;
        Ok(devices)
    };
    handles.into_iter().map(|handle| Ok(Platform { handle, devices: devices(handle)? })).collect()
}

/// Returns a string property of a platform. Empty if the query fails.
pub fn platform_text(api: &Api, platform: cl_platform_id, name: u32) -> String {
    // SAFETY: `info` passes a buffer of `size` bytes.
    text(info(|size, value, ret| unsafe { (api.get_platform_info)(platform, name, size, value, ret) }))
}

/// Returns a string property of a device. Empty if the query fails.
pub fn device_text(api: &Api, device: cl_device_id, name: u32) -> String {
    // SAFETY: `info` passes a buffer of `size` bytes.
    text(info(|size, value, ret| unsafe { (api.get_device_info)(device, name, size, value, ret) }))
}

/// An object that is released on drop.
struct Owned<T> {
    handle: *mut T,
    release: unsafe extern "C" fn(*mut T) -> cl_int,
    /// Keeps the library loaded.
    _api: Arc<Api>,
}

impl<T> Owned<T> {
    fn new(api: &Arc<Api>, handle: *mut T, release: unsafe extern "C" fn(*mut T) -> cl_int) -> Self {
        Self { handle, release, _api: Arc::clone(api) }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: this library created the object, and only this call releases it.
        unsafe { (self.release)(self.handle) };
    }
}

/// A context of one device, and a queue with profiling.
pub struct Context {
    device: cl_device_id,
    // Declared before `context`, so that it is dropped first.
    queue: Owned<_cl_command_queue>,
    context: Owned<_cl_context>,
    api: Arc<Api>,
}

/// A buffer, an image or a pipe.
pub struct Object(Owned<_cl_mem>);

pub struct Sampler(Owned<_cl_sampler>);

/// A built program.
pub struct Program(Owned<_cl_program>);

/// The source of a program.
pub enum Code<'a> {
    Source(&'a str),
    /// A SPIR-V module.
    Module(&'a [u8]),
}

pub struct Kernel(Owned<_cl_kernel>);

/// The name and the type of a kernel parameter. Both are empty if the driver does not report them.
#[derive(Clone, Debug, Default)]
pub struct Parameter {
    pub name: String,
    pub type_name: String,
}

impl Context {
    pub fn new(api: &Arc<Api>, device: cl_device_id) -> Result<Self> {
        let mut code = CL_SUCCESS;
        // SAFETY: there is one device, and the callback follows the specification.
        let context = unsafe { (api.create_context)(null(), 1, &device, Some(notify), null_mut(), &mut code) };
        check(code, || "clCreateContext".to_owned())?;
        let context = Owned::new(api, context, api.release_context);
        // SAFETY: `code` is writable.
        let queue = unsafe { (api.create_queue)(context.handle, device, CL_QUEUE_PROFILING_ENABLE, &mut code) };
        check(code, || "clCreateCommandQueue".to_owned())?;
        Ok(Self { device, queue: Owned::new(api, queue, api.release_queue), context, api: Arc::clone(api) })
    }

    fn object(&self, handle: cl_mem, code: i32, call: impl FnOnce() -> String) -> Result<Object> {
        check(code, call)?;
        Ok(Object(Owned::new(&self.api, handle, self.api.release_memory)))
    }

    /// Creates a buffer with these contents.
    pub fn buffer(&self, bytes: &[u8]) -> Result<Object> {
        let mut code = CL_SUCCESS;
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        // SAFETY: the call reads the bytes before it returns, and does not write them.
        let handle =
            unsafe { (self.api.create_buffer)(self.context.handle, flags, bytes.len(), bytes.as_ptr().cast_mut().cast(), &mut code) };
        self.object(handle, code, || format!("clCreateBuffer of {} bytes", bytes.len()))
    }

    /// Creates a sub-buffer of `size` bytes at byte `origin` of a buffer.
    pub fn sub_buffer(&self, whole: &Object, origin: usize, size: usize) -> Result<Object> {
        let region = cl_buffer_region { origin, size };
        let mut code = CL_SUCCESS;
        // SAFETY: the region has the type that CL_BUFFER_CREATE_TYPE_REGION requires.
        let handle =
            unsafe { (self.api.create_sub_buffer)(whole.0.handle, 0, CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast(), &mut code) };
        self.object(handle, code, || format!("clCreateSubBuffer of {size} bytes at {origin}"))
    }

    /// Creates an image with these contents. Rows, slices and levels have no padding.
    pub fn image(&self, form: &ImageProperties, bytes: &[u8]) -> Result<Object> {
        let [width, height, depth] = form.sizes;
        let array_size = if form.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { height } else { depth };
        let mut desc = cl_image_desc {
            image_type: form.kind,
            image_width: width,
            image_height: height,
            image_depth: depth,
            image_array_size: array_size,
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: if form.levels > 1 { form.levels } else { 0 },
            num_samples: 0,
            mem_object: null_mut(),
        };
        let format = cl_image_format { image_channel_order: form.order, image_channel_data_type: form.data_type };
        let (mut flags, mut host) = (CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.as_ptr().cast_mut().cast());
        // The contents of a 1D image buffer are in this buffer, which the image retains.
        let buffer = (form.kind == CL_MEM_OBJECT_IMAGE1D_BUFFER).then(|| self.buffer(bytes)).transpose()?;
        if let Some(buffer) = &buffer {
            desc.mem_object = buffer.0.handle;
            (flags, host) = (CL_MEM_READ_WRITE, null_mut());
        }
        if form.levels > 1 {
            (flags, host) = (CL_MEM_READ_WRITE, null_mut());
        }
        let mut code = CL_SUCCESS;
        // SAFETY: `bytes` has the size of the image. The call reads the bytes before it returns, and does not write
        // them.
        let handle = unsafe { (self.api.create_image)(self.context.handle, flags, &format, &desc, host, &mut code) };
        let image = self.object(handle, code, || "clCreateImage".to_owned())?;
        if form.levels > 1 {
            self.write_levels(&image, form, bytes)?;
        }
        Ok(image)
    }

    /// Writes the contents of an image: all of its mip levels.
    pub fn write_levels(&self, image: &Object, form: &ImageProperties, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        for level in form.levels() {
            let (here, next) = rest.split_at(form.scalars(level.sizes) * form.element.size());
            rest = next;
            // SAFETY: `here` has the size of the level. The blocking call reads the bytes before it returns.
            let code = unsafe {
                (self.api.enqueue_write_image)(
                    self.queue.handle,
                    image.0.handle,
                    CL_TRUE,
                    level.origin.as_ptr(),
                    level.sizes.as_ptr(),
                    0,
                    0,
                    here.as_ptr().cast(),
                    0,
                    null(),
                    null_mut(),
                )
            };
            check(code, || "clEnqueueWriteImage".to_owned())?;
        }
        Ok(())
    }

    /// Creates an empty pipe.
    pub fn pipe(&self, packet: u32, packets: u32) -> Result<Object> {
        let mut code = CL_SUCCESS;
        // SAFETY: the list of properties is null.
        let handle = unsafe { (self.api.create_pipe)(self.context.handle, 0, packet, packets, null(), &mut code) };
        self.object(handle, code, || format!("clCreatePipe of {packets} packets of {packet} bytes"))
    }

    pub fn sampler(&self, form: &SamplerProperties) -> Result<Sampler> {
        let mut code = CL_SUCCESS;
        let SamplerProperties { normalized, addressing, filter, levels } = *form;
        let Some((mip_filter, least, most)) = levels else {
            // SAFETY: `code` is writable.
            let handle = unsafe { (self.api.create_sampler)(self.context.handle, normalized, addressing, filter, &mut code) };
            check(code, || "clCreateSampler".to_owned())?;
            return Ok(Sampler(Owned::new(&self.api, handle, self.api.release_sampler)));
        };
        let modes =
            [(CL_SAMPLER_NORMALIZED_COORDS, normalized), (CL_SAMPLER_ADDRESSING_MODE, addressing), (CL_SAMPLER_FILTER_MODE, filter)];
        let of_levels =
            [(CL_SAMPLER_MIP_FILTER_MODE, mip_filter), (CL_SAMPLER_LOD_MIN, least.to_bits()), (CL_SAMPLER_LOD_MAX, most.to_bits())];
        let properties: Vec<u64> =
            modes.into_iter().chain(of_levels).flat_map(|pair| [pair.0, pair.1].map(u64::from)).chain(std::iter::once(0)).collect();
        // SAFETY: the list ends with a zero.
        let handle = unsafe { (self.api.create_sampler_with_properties)(self.context.handle, properties.as_ptr(), &mut code) };
        check(code, || "clCreateSamplerWithProperties".to_owned())?;
        Ok(Sampler(Owned::new(&self.api, handle, self.api.release_sampler)))
    }

    /// Builds a program. Returns it and the build log, which may contain warnings.
    pub fn build(&self, code_of: &Code<'_>, options: &str) -> Result<(Program, String)> {
        let program = self.program(code_of)?;
        let log = self.build_created(&program, options)?;
        Ok((program, log))
    }

    /// Creates a program that is not built.
    pub fn program(&self, code_of: &Code<'_>) -> Result<Program> {
        let mut code = CL_SUCCESS;
        let (handle, call) = match code_of {
            Code::Source(source) => {
                let mut pointer = source.as_ptr().cast();
                // SAFETY: the list has one string, and its length is correct.
                let handle = unsafe { (self.api.create_program)(self.context.handle, 1, &raw mut pointer, &source.len(), &mut code) };
                (handle, "clCreateProgramWithSource")
            }
            Code::Module(bytes) => {
                // SAFETY: the module has this length.
                let handle =
                    unsafe { (self.api.create_program_with_il)(self.context.handle, bytes.as_ptr().cast(), bytes.len(), &mut code) };
                (handle, "clCreateProgramWithIL")
            }
        };
        check(code, || call.to_owned())?;
        Ok(Program(Owned::new(&self.api, handle, self.api.release_program)))
    }

    /// Sets a specialisation constant of a program that is not built.
    pub fn set_specialisation(&self, program: &Program, number: u32, value: &[u8]) -> Result<()> {
        // SAFETY: the value has this size.
        let code = unsafe { (self.api.set_specialisation)(program.0.handle, number, value.len(), value.as_ptr().cast()) };
        check(code, || format!("clSetProgramSpecializationConstant of constant {number}"))
    }

    /// Builds a program that [`Self::program`] created. Returns the build log.
    pub fn build_created(&self, program: &Program, options: &str) -> Result<String> {
        let options = c_options(options)?;
        // SAFETY: there is one device, and the options end with a zero.
        let code = unsafe { (self.api.build_program)(program.0.handle, 1, &self.device, options.as_ptr(), None, null_mut()) };
        self.checked_log(program, code, "clBuildProgram")
    }

    /// Compiles a program for [`Self::link`]. Returns the build log.
    pub fn compile(&self, program: &Program, options: &str) -> Result<String> {
        let options = c_options(options)?;
        // SAFETY: there is one device, there are no headers, and the options end with a zero.
        let code = unsafe {
            (self.api.compile_program)(program.0.handle, 1, &self.device, options.as_ptr(), 0, null(), null_mut(), None, null_mut())
        };
        self.checked_log(program, code, "clCompileProgram")
    }

    /// Links compiled programs.
    pub fn link(&self, programs: &[Program]) -> Result<Program> {
        let handles: Vec<_> = programs.iter().map(|program| program.0.handle).collect();
        let count = u32::try_from(handles.len()).unwrap_or(u32::MAX);
        let mut code = CL_SUCCESS;
        // SAFETY: there is one device, the options are null, and the list has `count` programs.
        let handle = unsafe {
            (self.api.link_program)(self.context.handle, 1, &self.device, null(), count, handles.as_ptr(), None, null_mut(), &mut code)
        };
        check(code, || "clLinkProgram".to_owned())?;
        Ok(Program(Owned::new(&self.api, handle, self.api.release_program)))
    }

    /// Returns the build log if `code` is not an error.
    fn checked_log(&self, program: &Program, code: i32, call: &str) -> Result<String> {
        // SAFETY: `info` passes a buffer of `size` bytes.
        let log = text(info(|size, value, ret| unsafe {
            (self.api.get_build_info)(program.0.handle, self.device, CL_PROGRAM_BUILD_LOG, size, value, ret)
        }));
        if code != CL_SUCCESS && !log.is_empty() {
            return Err(ClientError::Build { log });
        }
        check(code, || call.to_owned())?;
        Ok(log)
    }

    /// Creates the kernel with this name.
    pub fn kernel(&self, program: &Program, name: &str) -> Result<Kernel> {
        let text_of_name = CString::new(name).unwrap_or_default();
        let mut code = CL_SUCCESS;
        // SAFETY: the name ends with a zero.
        let handle = unsafe { (self.api.create_kernel)(program.0.handle, text_of_name.as_ptr(), &mut code) };
        if code == CL_SUCCESS {
            return Ok(Kernel(Owned::new(&self.api, handle, self.api.release_kernel)));
        }
        // SAFETY: `info` passes a buffer of `size` bytes.
        let known = text(info(|size, value, ret| unsafe {
            (self.api.get_program_info)(program.0.handle, CL_PROGRAM_KERNEL_NAMES, size, value, ret)
        }));
        let known: Vec<String> = known.split(';').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        if known.iter().any(|known| known == name) {
            check(code, || format!("clCreateKernel of `{name}`"))?;
        }
        // Discard the error texts of the driver, because the error names the kernel.
        take_error_texts();
        Err(ClientError::NoKernel { wanted: name.to_owned(), known })
    }

    /// Returns the parameters of a kernel.
    pub fn parameters(&self, kernel: &Kernel) -> Vec<Parameter> {
        let handle = kernel.0.handle;
        // SAFETY: `info` passes a buffer of `size` bytes.
        let count = info(|size, value, ret| unsafe { (self.api.get_kernel_info)(handle, CL_KERNEL_NUM_ARGS, size, value, ret) });
        let count = count.and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_ne_bytes);
        let word = |index: u32, name: u32| {
            // SAFETY: `info` passes a buffer of `size` bytes.
            text(info(|size, value, ret| unsafe { (self.api.get_kernel_arg_info)(handle, index, name, size, value, ret) }))
        };
        let parameter = |index| Parameter { name: word(index, CL_KERNEL_ARG_NAME), type_name: word(index, CL_KERNEL_ARG_TYPE_NAME) };
        let parameters = (0..count).map(parameter).collect();
        // Drivers are not required to report names. Discard the error texts.
        take_error_texts();
        parameters
    }

    fn set(&self, kernel: &Kernel, index: u32, size: usize, value: *const c_void) -> Result<()> {
        // SAFETY: the value has `size` bytes, or is null for local memory.
        let code = unsafe { (self.api.set_kernel_arg)(kernel.0.handle, index, size, value) };
        check(code, || format!("clSetKernelArg of argument {index}"))
    }

    /// Sets an argument by value.
    pub fn set_bytes(&self, kernel: &Kernel, index: u32, bytes: &[u8]) -> Result<()> {
        self.set(kernel, index, bytes.len(), bytes.as_ptr().cast())
    }

    /// Sets an argument to an object, or a buffer argument to null.
    pub fn set_object(&self, kernel: &Kernel, index: u32, object: Option<&Object>) -> Result<()> {
        let handle = object.map_or(null_mut(), |object| object.0.handle);
        self.set(kernel, index, size_of_val(&handle), (&raw const handle).cast())
    }

    /// Sets an argument to a sampler.
    pub fn set_sampler(&self, kernel: &Kernel, index: u32, sampler: &Sampler) -> Result<()> {
        let handle = sampler.0.handle;
        self.set(kernel, index, size_of_val(&handle), (&raw const handle).cast())
    }

    /// Sets an argument to local memory of `bytes` bytes.
    pub fn set_local(&self, kernel: &Kernel, index: u32, bytes: usize) -> Result<()> {
        self.set(kernel, index, bytes, null())
    }

    /// Launches a kernel and waits until it is complete. Returns the duration by the device's clock, or `None` if the
    /// device does not report it.
    pub fn launch(&self, kernel: &Kernel, launch: &Launch) -> Result<Option<Duration>> {
        let dimensions = u32::try_from(launch.global.len()).unwrap_or(u32::MAX);
        let list = |sizes: &Option<Vec<usize>>| sizes.as_ref().map_or(null(), |sizes| sizes.as_ptr());
        let mut event = null_mut();
        // SAFETY: each list has one element per dimension or is null, and the wait list is empty.
        let code = unsafe {
            (self.api.enqueue_kernel)(
                self.queue.handle,
                kernel.0.handle,
                dimensions,
                list(&launch.offset),
                launch.global.as_ptr(),
                list(&launch.local),
                0,
                null(),
                &mut event,
            )
        };
        check(code, || format!("clEnqueueNDRangeKernel of `{}`", launch.kernel))?;
        let event = Owned::new(&self.api, event, self.api.release_event);
        // SAFETY: the list has one event.
        check(unsafe { (self.api.wait_for_events)(1, &event.handle) }, || format!("the launch of `{}`", launch.kernel))?;
        let time = |name| {
            let query = |size, value, ret: *mut usize| {
                // SAFETY: `info` passes a buffer of `size` bytes.
                unsafe { (self.api.get_profiling_info)(event.handle, name, size, value, ret) }
            };
            info(query).and_then(|bytes| bytes.try_into().ok()).map(u64::from_ne_bytes)
        };
        let times = time(CL_PROFILING_COMMAND_START).zip(time(CL_PROFILING_COMMAND_END));
        Ok(times.map(|(start, end)| Duration::from_nanos(end.saturating_sub(start))))
    }

    /// Waits for all commands of the queue.
    pub fn finish(&self) -> Result<()> {
        // SAFETY: the queue exists as long as `self`.
        check(unsafe { (self.api.finish)(self.queue.handle) }, || "clFinish".to_owned())
    }

    /// Reads the first `size` bytes of a buffer.
    pub fn read(&self, buffer: &Object, size: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0u8; size];
        let pointer = bytes.as_mut_ptr().cast();
        // SAFETY: the vector has `size` bytes, and the blocking call writes them before it returns.
        let code = unsafe { (self.api.enqueue_read)(self.queue.handle, buffer.0.handle, CL_TRUE, 0, size, pointer, 0, null(), null_mut()) };
        check(code, || format!("clEnqueueReadBuffer of {size} bytes"))?;
        Ok(bytes)
    }

    /// Writes the contents of a buffer.
    pub fn write(&self, buffer: &Object, bytes: &[u8]) -> Result<()> {
        let (size, pointer) = (bytes.len(), bytes.as_ptr().cast());
        // SAFETY: the slice has `size` bytes, and the blocking call reads them before it returns.
        let code =
            unsafe { (self.api.enqueue_write)(self.queue.handle, buffer.0.handle, CL_TRUE, 0, size, pointer, 0, null(), null_mut()) };
        check(code, || format!("clEnqueueWriteBuffer of {size} bytes"))
    }

    /// Reads the contents of an image. Rows, slices and levels have no padding.
    pub fn read_image(&self, image: &Object, form: &ImageProperties) -> Result<Vec<u8>> {
        let mut bytes = vec![0u8; form.count() * form.element.size()];
        let mut rest = &mut bytes[..];
        for level in form.levels() {
            let (here, next) = rest.split_at_mut(form.scalars(level.sizes) * form.element.size());
            rest = next;
            // SAFETY: the slice has the size of the level, and the blocking call writes it before it returns.
            let code = unsafe {
                (self.api.enqueue_read_image)(
                    self.queue.handle,
                    image.0.handle,
                    CL_TRUE,
                    level.origin.as_ptr(),
                    level.sizes.as_ptr(),
                    0,
                    0,
                    here.as_mut_ptr().cast(),
                    0,
                    null(),
                    null_mut(),
                )
            };
            check(code, || "clEnqueueReadImage".to_owned())?;
        }
        Ok(bytes)
    }
}
