//! Memory objects (OpenCL API 5.2, 5.5).

use std::ffi::c_void;
use std::sync::Arc;

use wgcl_api::backend::ExternalMemory;
use wgcl_api::image::{Image, MemObject};
use wgcl_api::objects::context::Context;
use wgcl_api::objects::device::Device;
use wgcl_api::objects::device_address::DEVICE_ADDRESS;
use wgcl_api::objects::external_memory::External;
use wgcl_api::objects::memory::{Buffer, HostData, MemFlags};
use wgcl_api::objects::pipe::Pipe;
use wgcl_api::types::error::{Error, Result};

use crate::check;
use crate::context::UserHandle;
use crate::ffi::{Bytes, BytesMut, Callback, List, Out, UserData};
use crate::handles;
use crate::info::Query;
use wgcl_opencl_headers::{
    _cl_mem, CL_BUFFER_CREATE_TYPE_REGION, CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_CONTEXT, CL_MEM_FLAGS, CL_MEM_HOST_PTR, CL_MEM_MAP_COUNT,
    CL_MEM_OBJECT_BUFFER, CL_MEM_OBJECT_PIPE, CL_MEM_OFFSET, CL_MEM_PROPERTIES, CL_MEM_REFERENCE_COUNT, CL_MEM_SIZE, CL_MEM_TYPE,
    CL_MEM_USES_SVM_POINTER, CL_MEM_USES_SVM_POINTER_ARM, cl_buffer_create_type, cl_context, cl_mem, cl_mem_flags, cl_mem_info,
    cl_mem_properties, cl_uint,
};

/// pfn_notify of clSetMemObjectDestructorCallback.
type DestructorFn = unsafe extern "C" fn(cl_mem, *mut c_void);

/// CL_MEM_DEVICE_ADDRESS_EXT, which the headers of the bindings do not have yet.
const DEVICE_ADDRESSES: cl_mem_info = 0x5001;

/// CL_MEM_DEVICE_HANDLE_LIST_KHR, which the headers of the bindings do not have yet. A zero ends the list of handles.
const DEVICE_HANDLE_LIST: u64 = 0x2051;

/// The properties of a new memory object.
#[derive(Default)]
struct Properties {
    /// The original properties with the terminating zero. `None` for a null pointer.
    list: Option<Vec<u64>>,
    external: Option<External>,
}

/// Reads properties. Only cl_ext_buffer_device_address and cl_khr_external_memory define properties.
///
/// # Errors
/// "CL_INVALID_PROPERTY if a property name in properties is not a supported property name, if the value specified for
/// a supported property name is not valid, or if the same property name is specified more than once."
fn properties(context: &Context, given: &List<cl_mem_properties>) -> Result<Properties> {
    if given.is_null() {
        return Ok(Properties::default());
    }
    let mut list: Vec<u64> = Vec::new();
    let mut next = || -> u64 {
        let value = given.get(list.len() + 1).pop().unwrap_or_default();
        list.push(value);
        value
    };
    let (mut addresses, mut handle, mut devices) = (false, None, None);
    loop {
        let name = next();
        match (name, ExternalMemory::from_raw(name)) {
            (0, _) => break,
            (DEVICE_ADDRESS, _) if !addresses => {
                let value = next();
                check!(value <= 1, InvalidProperty, "property {name:#x}: expected 0 or 1, got {value:#x}");
                check!(context.has_device_addresses(), InvalidProperty, "a device of the context does not support buffer device addresses");
                addresses = true;
            }
            (DEVICE_HANDLE_LIST, _) if devices.is_none() => {
                let named = std::iter::from_fn(|| Some(next()).filter(|&handle| handle != 0));
                devices = Some(named.map(|handle| std::ptr::with_exposed_provenance_mut(handle as usize)).collect::<Vec<_>>());
            }
            (_, Some(kind)) if handle.is_none() => {
                let known = context.devices().iter().any(|device| device.importable_memory().contains(&kind));
                check!(known, InvalidProperty, "no device of the context can import memory with handle type {name:#x}");
                let value = next();
                let fd = i32::try_from(value).map_err(|_| Error::InvalidProperty(format!("{value:#x} is not a file descriptor").into()))?;
                handle = Some((kind, fd));
            }
            _ => return Err(Error::InvalidProperty(format!("the property {name:#x} is unknown, or specified twice").into())),
        }
    }
    let devices = devices.map(|handles| handles::get_all::<Device>(&handles)).transpose()?;
    // "CL_INVALID_PROPERTY ... if properties does not include a supported external memory handle and
    // CL_MEM_DEVICE_HANDLE_LIST_KHR is specified."
    check!(handle.is_some() || devices.is_none(), InvalidProperty, "CL_MEM_DEVICE_HANDLE_LIST_KHR requires a handle to external memory");
    Ok(Properties { list: Some(list), external: handle.map(|(kind, fd)| External { kind, fd, devices }) })
}

fn create(
    context: &Arc<Context>,
    Properties { list, external }: Properties,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: BytesMut,
) -> Result<*mut _cl_mem> {
    let flags = MemFlags::parse(flags)?;
    if let Some(external) = external {
        check!(host_ptr.is_null(), InvalidHostPtr, "the host pointer must be null for external memory");
        return register(context, Buffer::import(context, flags, size as u64, &external, list)?);
    }
    flags.check_contents()?;
    Buffer::check_size(context, size as u64)?;
    // "CL_INVALID_HOST_PTR if host_ptr is NULL and CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR are set in flags or if
    // host_ptr is not NULL but CL_MEM_COPY_HOST_PTR or CL_MEM_USE_HOST_PTR are not set in flags."
    let requires_pointer = flags.intersects(MemFlags::USE_HOST_PTR | MemFlags::COPY_HOST_PTR);
    check!(!(requires_pointer && host_ptr.is_null()), InvalidHostPtr, "the host pointer is null, but the flags require it");
    check!(requires_pointer || host_ptr.is_null(), InvalidHostPtr, "the host pointer is not null, but the flags do not permit it");
    if flags.contains(MemFlags::USE_HOST_PTR)
        && let Some((shared, offset)) = context.svm_at(host_ptr.address())
    {
        return register(context, shared.from_svm(flags, offset, size as u64, list)?);
    }
    let data = if flags.contains(MemFlags::USE_HOST_PTR) {
        HostData::Use(host_ptr.region(size as u64)?)
    } else if flags.contains(MemFlags::COPY_HOST_PTR) {
        HostData::Copy(host_ptr.as_bytes().try_get(size)?)
    } else {
        HostData::None
    };
    register(context, Buffer::new(context, flags, size as u64, data, list)?)
}

fn register(context: &Context, buffer: Arc<Buffer>) -> Result<*mut _cl_mem> {
    context.register_address(&buffer)?;
    Ok(handles::retained(buffer))
}

crate::entry! {
    fn clCreateBuffer(context: cl_context, flags: cl_mem_flags, size: usize, host_ptr: BytesMut) -> *mut _cl_mem {
        create(&handles::get(context)?, Properties::default(), flags, size, host_ptr)
    }

    fn clCreateBufferWithProperties(
        context: cl_context,
        properties: List<cl_mem_properties>,
        flags: cl_mem_flags,
        size: usize,
        host_ptr: BytesMut,
    ) -> *mut _cl_mem {
        let context = handles::get::<Context>(context)?;
        create(&context, self::properties(&context, &properties)?, flags, size, host_ptr)
    }

    fn clCreateSubBuffer(
        buffer: cl_mem,
        flags: cl_mem_flags,
        kind: cl_buffer_create_type,
        info: Bytes,
    ) -> *mut _cl_mem {
        let buffer = handles::get::<Buffer>(buffer)?;
        // "CL_INVALID_MEM_OBJECT if buffer is not a valid buffer object or is a sub-buffer object."
        check!(buffer.parent().is_none(), InvalidMemObject, "the parent of a sub-buffer cannot be a sub-buffer");
        let flags = MemFlags::parse(flags)?;
        // "CL_INVALID_VALUE if value specified in buffer_create_type is not valid" or "if value(s) specified in
        // buffer_create_info ... is not valid or if buffer_create_info is NULL."
        check!(kind == CL_BUFFER_CREATE_TYPE_REGION, InvalidValue, "buffer_create_type {kind:#x} is unknown");
        let (origin, size) = info.pair().ok_or_else(|| Error::InvalidValue("buffer_create_info is null".into()))?;
        buffer.sub_buffer(flags, origin as u64, size as u64).map(handles::retained)
    }

    fn clSetContentSizeBufferPoCL(buffer: cl_mem, content_size_buffer: cl_mem) {
        // "CL_INVALID_MEM_OBJECT if buffer or content_size_buffer is not a valid" buffer.
        let buffer = handles::get::<Buffer>(buffer)?;
        buffer.set_content_size_buffer(&handles::get::<Buffer>(content_size_buffer)?)
    }

    fn clRetainMemObject(memory: cl_mem) {
        match handles::get_memory(memory)? {
            MemObject::Buffer(_) => handles::retain::<Buffer>(memory),
            MemObject::Image(_) => handles::retain::<Image>(memory),
            MemObject::Pipe(_) => handles::retain::<Pipe>(memory),
        }
    }

    fn clReleaseMemObject(memory: cl_mem) {
        // The object must be dropped during this call, because dropping the object frees its memory.
        let release: fn(cl_mem) -> Result<Option<MemObject>> = match handles::get_memory(memory)? {
            MemObject::Buffer(_) => |memory| Ok(handles::release::<Buffer>(memory)?.map(MemObject::Buffer)),
            MemObject::Image(_) => |memory| Ok(handles::release::<Image>(memory)?.map(MemObject::Image)),
            MemObject::Pipe(_) => |memory| Ok(handles::release::<Pipe>(memory)?.map(MemObject::Pipe)),
        };
        release(memory)?.iter().for_each(MemObject::on_release);
        Ok(())
    }

    fn clGetMemObjectInfo(memory: cl_mem, param: cl_mem_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let object = handles::get_memory(memory)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_MEM_TYPE => query.put(match &object {
                MemObject::Buffer(_) => CL_MEM_OBJECT_BUFFER,
                MemObject::Image(image) => image.image_type() as u32,
                MemObject::Pipe(_) => CL_MEM_OBJECT_PIPE,
            }),
            CL_MEM_FLAGS => query.put(object.flags().bits()),
            CL_MEM_SIZE => query.put(object.size() as usize),
            // An image begins at the first byte of its buffer, so it has the host pointer of its buffer.
            CL_MEM_HOST_PTR => query.put(object.buffer().host_pointer()),
            CL_MEM_MAP_COUNT => query.put(object.map_count() as cl_uint),
            CL_MEM_REFERENCE_COUNT => query.put(match &object {
                MemObject::Buffer(buffer) => handles::reference_count(buffer),
                MemObject::Image(image) => handles::reference_count(image),
                MemObject::Pipe(pipe) => handles::reference_count(pipe),
            }),
            CL_MEM_CONTEXT => query.put(handles::borrowed(object.context())),
            CL_MEM_ASSOCIATED_MEMOBJECT => query.put(match &object {
                MemObject::Buffer(buffer) => buffer.parent().map_or(std::ptr::null_mut(), handles::borrowed),
                MemObject::Image(image) => image.source().map_or(std::ptr::null_mut(), handles::borrowed_memory),
                MemObject::Pipe(_) => std::ptr::null_mut(),
            }),
            CL_MEM_OFFSET => query.put(match &object {
                MemObject::Buffer(buffer) => buffer.offset() as usize,
                MemObject::Image(_) | MemObject::Pipe(_) => 0,
            }),
            CL_MEM_USES_SVM_POINTER | CL_MEM_USES_SVM_POINTER_ARM => query.put(object.buffer().store().is_svm()),
            CL_MEM_PROPERTIES => query.put(match &object {
                MemObject::Buffer(buffer) => buffer.property_list().unwrap_or(&[]),
                MemObject::Image(image) => image.property_list().unwrap_or(&[]),
                MemObject::Pipe(_) => &[],
            }),
            DEVICE_ADDRESSES => query.put(object.buffer().device_addresses()?),
            _ => query.unknown(param),
        }
    }

    fn clSetMemObjectDestructorCallback(memory: cl_mem, pfn_notify: Callback<DestructorFn>, user_data: UserData) {
        let handle = UserHandle(memory);
        let object = handles::get_memory(memory)?;
        // "CL_INVALID_VALUE if pfn_notify is NULL."
        let callback = pfn_notify.get().ok_or_else(|| Error::InvalidValue("the callback is null".into()))?;
        object.on_destruction(Box::new(move || {
            let handle = handle;
            // SAFETY: the application's function, called as the specification says.
            unsafe { callback(handle.0, user_data.get()) };
        }));
        Ok(())
    }
}
