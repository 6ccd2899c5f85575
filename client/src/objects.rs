//! Objects of OpenCL: created with a check, released when they are dropped. The calls that take pointers are made here, and only here.

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::api::{Api, BufferRegion, Handle, ImageDesc, ImageFormat, notify, take_told};
use crate::error::ClientError;
use crate::image::{Form, SamplerForm};
use crate::names::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_DEVICE_NOT_FOUND, CL_DEVICE_TYPE_ALL, CL_KERNEL_ARG_NAME, CL_KERNEL_ARG_TYPE_NAME, CL_KERNEL_NUM_ARGS,
    CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_READ_WRITE, CL_PROFILING_COMMAND_END,
    CL_PROFILING_COMMAND_START, CL_PROGRAM_BUILD_LOG, CL_PROGRAM_KERNEL_NAMES, CL_QUEUE_PROFILING_ENABLE, CL_SAMPLER_ADDRESSING_MODE,
    CL_SAMPLER_FILTER_MODE, CL_SAMPLER_LOD_MAX, CL_SAMPLER_LOD_MIN, CL_SAMPLER_MIP_FILTER_MODE, CL_SAMPLER_NORMALIZED_COORDS, CL_SUCCESS,
    CL_TRUE,
};
use crate::notation::Launch;

type Result<T> = std::result::Result<T, ClientError>;

/// How long a driver is given to tell more of an error that a call has returned: callbacks come on threads of its own.
const TELLING: Duration = Duration::from_millis(50);

/// Checks what a call returned.
fn check(code: i32, call: impl FnOnce() -> String) -> Result<()> {
    if code == CL_SUCCESS {
        return Ok(());
    }
    let begin = Instant::now();
    let mut told = take_told();
    while told.is_empty() && begin.elapsed() < TELLING {
        std::thread::sleep(Duration::from_millis(2));
        told = take_told();
    }
    Err(ClientError::Call { call: call(), code, told })
}

/// The answer to a question for information: bytes, of which the driver says how many they are.
fn info(ask: impl Fn(usize, *mut c_void, *mut usize) -> i32) -> Option<Vec<u8>> {
    let mut size = 0;
    if ask(0, null_mut(), &mut size) != CL_SUCCESS {
        return None;
    }
    let mut bytes = vec![0u8; size];
    if size > 0 && ask(size, bytes.as_mut_ptr().cast(), null_mut()) != CL_SUCCESS {
        return None;
    }
    Some(bytes)
}

fn text(bytes: Option<Vec<u8>>) -> String {
    String::from_utf8_lossy(&bytes.unwrap_or_default()).trim_end_matches('\0').trim().to_owned()
}

/// A platform's name and its devices.
pub struct Platform {
    pub handle: Handle,
    pub devices: Vec<Handle>,
}

/// All platforms of a library, with their devices.
pub fn platforms(api: &Api) -> Result<Vec<Platform>> {
    let mut count = 0;
    // SAFETY: no list is asked for, and `count` can be written.
    let code = unsafe { (api.get_platform_ids)(0, null_mut(), &mut count) };
    // What loaders return where there is no platform: CL_PLATFORM_NOT_FOUND_KHR.
    if code == -1001 {
        return Ok(Vec::new());
    }
    check(code, || "clGetPlatformIDs".to_owned())?;
    let mut handles = vec![null_mut(); count as usize];
    // SAFETY: the list has room for so many.
    check(unsafe { (api.get_platform_ids)(count, handles.as_mut_ptr(), null_mut()) }, || "clGetPlatformIDs".to_owned())?;
    let devices = |platform: Handle| -> Result<Vec<Handle>> {
        let mut count = 0;
        // SAFETY: as above.
        let code = unsafe { (api.get_device_ids)(platform, CL_DEVICE_TYPE_ALL, 0, null_mut(), &mut count) };
        if code == CL_DEVICE_NOT_FOUND {
            return Ok(Vec::new());
        }
        check(code, || "clGetDeviceIDs".to_owned())?;
        let mut devices = vec![null_mut(); count as usize];
        // SAFETY: as above.
        let code = unsafe { (api.get_device_ids)(platform, CL_DEVICE_TYPE_ALL, count, devices.as_mut_ptr(), null_mut()) };
        check(code, || "clGetDeviceIDs".to_owned())?;
        Ok(devices)
    };
    handles.into_iter().map(|handle| Ok(Platform { handle, devices: devices(handle)? })).collect()
}

/// A text that a platform tells of itself.
pub fn platform_text(api: &Api, platform: Handle, name: u32) -> String {
    // SAFETY: `info` passes room for as many bytes as it says.
    text(info(|size, value, ret| unsafe { (api.get_platform_info)(platform, name, size, value, ret) }))
}

/// A text that a device tells of itself.
pub fn device_text(api: &Api, device: Handle, name: u32) -> String {
    // SAFETY: as above.
    text(info(|size, value, ret| unsafe { (api.get_device_info)(device, name, size, value, ret) }))
}

/// An object that is released when it is dropped.
struct Owned {
    handle: Handle,
    release: unsafe extern "C" fn(Handle) -> i32,
    /// The library, which stays loaded until then.
    _api: Arc<Api>,
}

impl Owned {
    fn new(api: &Arc<Api>, handle: Handle, release: unsafe extern "C" fn(Handle) -> i32) -> Self {
        Self { handle, release, _api: Arc::clone(api) }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the object was made by this library and is released once. What that returns changes nothing any more.
        unsafe { (self.release)(self.handle) };
    }
}

/// A context of one device, with a queue that keeps times.
pub struct Context {
    device: Handle,
    // Before the context, which it is of.
    queue: Owned,
    context: Owned,
    api: Arc<Api>,
}

/// A buffer, an image, a pipe or a sampler.
pub struct Object(Owned);

/// A program that was built.
pub struct Program(Owned);

/// What a program is made of.
pub enum Code<'a> {
    /// OpenCL C.
    Source(&'a str),
    /// A module in SPIR-V.
    Module(&'a [u8]),
}

/// A kernel.
pub struct Kernel(Owned);

/// What a kernel says of one of its arguments; empty where the driver does not know.
#[derive(Clone, Debug, Default)]
pub struct Parameter {
    pub name: String,
    pub type_name: String,
}

impl Context {
    pub fn new(api: &Arc<Api>, device: Handle) -> Result<Self> {
        let mut code = CL_SUCCESS;
        // SAFETY: there is one device, and the callback keeps to what the specification says of it.
        let context = unsafe { (api.create_context)(null(), 1, &device, Some(notify), null_mut(), &mut code) };
        check(code, || "clCreateContext".to_owned())?;
        let context = Owned::new(api, context, api.release_context);
        // SAFETY: `code` can be written.
        let queue = unsafe { (api.create_queue)(context.handle, device, CL_QUEUE_PROFILING_ENABLE, &mut code) };
        check(code, || "clCreateCommandQueue".to_owned())?;
        Ok(Self { device, queue: Owned::new(api, queue, api.release_queue), context, api: Arc::clone(api) })
    }

    fn object(&self, handle: Handle, code: i32, call: impl FnOnce() -> String) -> Result<Object> {
        check(code, call)?;
        Ok(Object(Owned::new(&self.api, handle, self.api.release_memory)))
    }

    /// A buffer with these contents.
    pub fn buffer(&self, bytes: &[u8]) -> Result<Object> {
        let mut code = CL_SUCCESS;
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        // SAFETY: the bytes are only read, before the call returns.
        let handle =
            unsafe { (self.api.create_buffer)(self.context.handle, flags, bytes.len(), bytes.as_ptr().cast_mut().cast(), &mut code) };
        self.object(handle, code, || format!("clCreateBuffer of {} bytes", bytes.len()))
    }

    /// A part of a buffer, in bytes.
    pub fn sub_buffer(&self, whole: &Object, origin: usize, size: usize) -> Result<Object> {
        let region = BufferRegion { origin, size };
        let mut code = CL_SUCCESS;
        // SAFETY: the region is what this type takes.
        let handle =
            unsafe { (self.api.create_sub_buffer)(whole.0.handle, 0, CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast(), &mut code) };
        self.object(handle, code, || format!("clCreateSubBuffer of {size} bytes at {origin}"))
    }

    /// An image with these contents, rows, slices and levels without gaps.
    pub fn image(&self, form: &Form, bytes: &[u8]) -> Result<Object> {
        let [width, height, depth] = form.sizes;
        let array_size = if form.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { height } else { depth };
        let mut desc = ImageDesc {
            kind: form.kind,
            width,
            height,
            depth,
            array_size,
            row_pitch: 0,
            slice_pitch: 0,
            mip_levels: if form.levels > 1 { form.levels } else { 0 },
            samples: 0,
            buffer: null_mut(),
        };
        let format = ImageFormat { order: form.order, data_type: form.data_type };
        let (mut flags, mut host) = (CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.as_ptr().cast_mut().cast());
        // The image holds on to it.
        let buffer = (form.kind == CL_MEM_OBJECT_IMAGE1D_BUFFER).then(|| self.buffer(bytes)).transpose()?;
        if let Some(buffer) = &buffer {
            desc.buffer = buffer.0.handle;
            (flags, host) = (CL_MEM_READ_WRITE, null_mut());
        }
        if form.levels > 1 {
            (flags, host) = (CL_MEM_READ_WRITE, null_mut());
        }
        let mut code = CL_SUCCESS;
        // SAFETY: the bytes are as many as the description says, and are only read, before the call returns.
        let handle = unsafe { (self.api.create_image)(self.context.handle, flags, &format, &desc, host, &mut code) };
        let image = self.object(handle, code, || "clCreateImage".to_owned())?;
        if form.levels > 1 {
            self.write_levels(&image, form, bytes)?;
        }
        Ok(image)
    }

    /// Fills the levels of an image.
    fn write_levels(&self, image: &Object, form: &Form, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        for level in form.levels() {
            let (here, behind) = rest.split_at(form.scalars(level.sizes) * form.element.size());
            rest = behind;
            // SAFETY: the bytes are as many as the level has, and are read before the call returns.
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

    /// An empty pipe.
    pub fn pipe(&self, packet: u32, packets: u32) -> Result<Object> {
        let mut code = CL_SUCCESS;
        // SAFETY: there are no properties.
        let handle = unsafe { (self.api.create_pipe)(self.context.handle, 0, packet, packets, null(), &mut code) };
        self.object(handle, code, || format!("clCreatePipe of {packets} packets of {packet} bytes"))
    }

    pub fn sampler(&self, form: &SamplerForm) -> Result<Object> {
        let mut code = CL_SUCCESS;
        let SamplerForm { normalized, addressing, filter, levels } = *form;
        let Some((mip_filter, least, most)) = levels else {
            // SAFETY: `code` can be written.
            let handle = unsafe { (self.api.create_sampler)(self.context.handle, normalized, addressing, filter, &mut code) };
            check(code, || "clCreateSampler".to_owned())?;
            return Ok(Object(Owned::new(&self.api, handle, self.api.release_sampler)));
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
        Ok(Object(Owned::new(&self.api, handle, self.api.release_sampler)))
    }

    /// Builds a program. Its log comes with it, for warnings.
    pub fn build(&self, code_of: &Code<'_>, options: &str) -> Result<(Program, String)> {
        let mut code = CL_SUCCESS;
        let (handle, call) = match code_of {
            Code::Source(source) => {
                let pointer = source.as_ptr().cast();
                // SAFETY: there is one string, of that length.
                let handle = unsafe { (self.api.create_program)(self.context.handle, 1, &raw const pointer, &source.len(), &mut code) };
                (handle, "clCreateProgramWithSource")
            }
            Code::Module(bytes) => {
                // SAFETY: the module has so many bytes.
                let handle =
                    unsafe { (self.api.create_program_with_il)(self.context.handle, bytes.as_ptr().cast(), bytes.len(), &mut code) };
                (handle, "clCreateProgramWithIL")
            }
        };
        check(code, || call.to_owned())?;
        let program = Program(Owned::new(&self.api, handle, self.api.release_program));
        let options = CString::new(options).map_err(|_| ClientError::Arguments("the build options contain a zero byte".to_owned()))?;
        // SAFETY: there is one device, and the options end with a zero.
        let code = unsafe { (self.api.build_program)(program.0.handle, 1, &self.device, options.as_ptr(), null(), null_mut()) };
        // SAFETY: `info` passes room for as many bytes as it says.
        let log = text(info(|size, value, ret| unsafe {
            (self.api.get_build_info)(program.0.handle, self.device, CL_PROGRAM_BUILD_LOG, size, value, ret)
        }));
        if code != CL_SUCCESS && !log.is_empty() {
            return Err(ClientError::Build { log });
        }
        check(code, || "clBuildProgram".to_owned())?;
        Ok((program, log))
    }

    /// The kernel of that name.
    pub fn kernel(&self, program: &Program, name: &str) -> Result<Kernel> {
        let text_of_name = CString::new(name).unwrap_or_default();
        let mut code = CL_SUCCESS;
        // SAFETY: the name ends with a zero.
        let handle = unsafe { (self.api.create_kernel)(program.0.handle, text_of_name.as_ptr(), &mut code) };
        if code == CL_SUCCESS {
            return Ok(Kernel(Owned::new(&self.api, handle, self.api.release_kernel)));
        }
        // SAFETY: `info` passes room for as many bytes as it says.
        let known = text(info(|size, value, ret| unsafe {
            (self.api.get_program_info)(program.0.handle, CL_PROGRAM_KERNEL_NAMES, size, value, ret)
        }));
        let known: Vec<String> = known.split(';').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        if known.iter().any(|known| known == name) {
            check(code, || format!("clCreateKernel of `{name}`"))?;
        }
        // What the driver told of it says no more.
        take_told();
        Err(ClientError::NoKernel { wanted: name.to_owned(), known })
    }

    /// What a kernel takes.
    pub fn parameters(&self, kernel: &Kernel) -> Vec<Parameter> {
        let handle = kernel.0.handle;
        // SAFETY: `info` passes room for as many bytes as it says.
        let count = info(|size, value, ret| unsafe { (self.api.get_kernel_info)(handle, CL_KERNEL_NUM_ARGS, size, value, ret) });
        let count = count.and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_ne_bytes);
        let word = |index: u32, name: u32| {
            // SAFETY: as above.
            text(info(|size, value, ret| unsafe { (self.api.get_kernel_arg_info)(handle, index, name, size, value, ret) }))
        };
        let parameter = |index| Parameter { name: word(index, CL_KERNEL_ARG_NAME), type_name: word(index, CL_KERNEL_ARG_TYPE_NAME) };
        let parameters = (0..count).map(parameter).collect();
        // That a driver does not keep names is no error of anyone's.
        take_told();
        parameters
    }

    fn set(&self, kernel: &Kernel, index: u32, size: usize, value: *const c_void) -> Result<()> {
        // SAFETY: the value has so many bytes, or is null for local memory and null buffers.
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
        self.set(kernel, index, size_of::<Handle>(), (&raw const handle).cast())
    }

    /// Gives an argument so many bytes of local memory.
    pub fn set_local(&self, kernel: &Kernel, index: u32, bytes: usize) -> Result<()> {
        self.set(kernel, index, bytes, null())
    }

    /// Launches a kernel and waits for its end: the time that the device took, where it keeps times.
    pub fn launch(&self, kernel: &Kernel, launch: &Launch) -> Result<Option<Duration>> {
        let dimensions = u32::try_from(launch.global.len()).unwrap_or(u32::MAX);
        let list = |sizes: &Option<Vec<usize>>| sizes.as_ref().map_or(null(), |sizes| sizes.as_ptr());
        let mut event = null_mut();
        // SAFETY: the lists have so many dimensions, or are null; nothing is waited for.
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
        // SAFETY: there is one event.
        check(unsafe { (self.api.wait_for_events)(1, &event.handle) }, || format!("the launch of `{}`", launch.kernel))?;
        let time = |name| {
            let ask = |size, value, ret: *mut usize| {
                // SAFETY: `info` passes room for as many bytes as it says.
                unsafe { (self.api.get_profiling_info)(event.handle, name, size, value, ret) }
            };
            info(ask).and_then(|bytes| bytes.try_into().ok()).map(u64::from_ne_bytes)
        };
        let times = time(CL_PROFILING_COMMAND_START).zip(time(CL_PROFILING_COMMAND_END));
        Ok(times.map(|(start, end)| Duration::from_nanos(end.saturating_sub(start))))
    }

    /// Waits for everything.
    pub fn finish(&self) -> Result<()> {
        // SAFETY: the queue is ours.
        check(unsafe { (self.api.finish)(self.queue.handle) }, || "clFinish".to_owned())
    }

    /// The first `size` bytes of a buffer.
    pub fn read(&self, buffer: &Object, size: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0u8; size];
        let pointer = bytes.as_mut_ptr().cast();
        // SAFETY: there is room for so many bytes, which are written before the call returns.
        let code = unsafe { (self.api.enqueue_read)(self.queue.handle, buffer.0.handle, CL_TRUE, 0, size, pointer, 0, null(), null_mut()) };
        check(code, || format!("clEnqueueReadBuffer of {size} bytes"))?;
        Ok(bytes)
    }

    /// The contents of an image, rows, slices and levels without gaps.
    pub fn read_image(&self, image: &Object, form: &Form) -> Result<Vec<u8>> {
        let mut bytes = vec![0u8; form.count() * form.element.size()];
        let mut rest = &mut bytes[..];
        for level in form.levels() {
            let (here, behind) = rest.split_at_mut(form.scalars(level.sizes) * form.element.size());
            rest = behind;
            // SAFETY: there is room for all of the level, which is written before the call returns.
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
