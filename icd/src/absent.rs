//! Entry points of optional features that wgcl does not have: each answers as the specification says for a device without them.

use std::ffi::c_void;

use wgcl_api::context::Context;
use wgcl_api::error::{Error, Result};
use wgcl_api::memory::Buffer;
use wgcl_api::platform::Platform;
use wgcl_api::queue::Queue;

use crate::bindings::{
    _cl_event, _cl_mem, _cl_sampler, CL_CONTEXT_PLATFORM, CL_MEM_KERNEL_READ_AND_WRITE, CL_MEM_OBJECT_IMAGE1D_BUFFER,
    CL_MEM_OBJECT_IMAGE2D, CLeglDisplayKHR, CLeglImageKHR, CLeglSyncKHR, cl_GLenum, cl_GLint, cl_GLsync, cl_GLuint, cl_addressing_mode,
    cl_bool, cl_command_queue, cl_context, cl_context_properties, cl_egl_image_properties_khr, cl_event, cl_filter_mode,
    cl_gl_context_info, cl_gl_object_type, cl_gl_texture_info, cl_image_desc, cl_image_format, cl_image_info, cl_int, cl_map_flags, cl_mem,
    cl_mem_flags, cl_mem_migration_flags, cl_mem_object_type, cl_mem_properties, cl_pipe_info, cl_pipe_properties, cl_sampler,
    cl_sampler_info, cl_sampler_properties, cl_svm_mem_flags, cl_uint,
};
use crate::check;
use crate::ffi::{Bytes, BytesMut, Callback, List, Out, OutList, UserData};
use crate::handles;

/// "CL_INVALID_OPERATION if there are no devices in context that support images."
fn no_images<T>(context: cl_context) -> Result<T> {
    handles::get::<Context>(context)?;
    Err(Error::InvalidOperation("no device of the context supports images".into()))
}

/// A command on images: there are none, so that no handle can be one.
fn no_image_command(queue: cl_command_queue) -> Result<()> {
    handles::get::<Queue>(queue)?;
    Err(Error::InvalidMemObject("it is not an image".into()))
}

/// "CL_INVALID_OPERATION if the device associated with command_queue does not support SVM."
fn no_svm_command(queue: cl_command_queue) -> Result<()> {
    handles::get::<Queue>(queue)?;
    Err(Error::InvalidOperation("the device does not support SVM".into()))
}

/// Creation of an object from another API.
fn no_sharing<T>(context: cl_context) -> Result<T> {
    handles::get::<Context>(context)?;
    Err(Error::InvalidOperation("sharing with other APIs is not supported".into()))
}

/// A command on objects from another API.
fn no_sharing_command(queue: cl_command_queue) -> Result<()> {
    handles::get::<Queue>(queue)?;
    Err(Error::InvalidOperation("sharing with other APIs is not supported".into()))
}

/// pfn_free_func of clEnqueueSVMFree.
type SvmFreeFn = unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void);

crate::entry! {
    fn clCreateImage(
        context: cl_context,
        _flags: cl_mem_flags,
        _format: List<cl_image_format>,
        _desc: List<cl_image_desc>,
        _host_ptr: BytesMut,
    ) -> *mut _cl_mem {
        no_images(context)
    }

    fn clCreateImageWithProperties(
        context: cl_context,
        _properties: List<cl_mem_properties>,
        _flags: cl_mem_flags,
        _format: List<cl_image_format>,
        _desc: List<cl_image_desc>,
        _host_ptr: BytesMut,
    ) -> *mut _cl_mem {
        no_images(context)
    }

    fn clCreateImage2D(
        context: cl_context,
        _flags: cl_mem_flags,
        _format: List<cl_image_format>,
        _width: usize,
        _height: usize,
        _row_pitch: usize,
        _host_ptr: BytesMut,
    ) -> *mut _cl_mem {
        no_images(context)
    }

    fn clCreateImage3D(
        context: cl_context,
        _flags: cl_mem_flags,
        _format: List<cl_image_format>,
        _width: usize,
        _height: usize,
        _depth: usize,
        _row_pitch: usize,
        _slice_pitch: usize,
        _host_ptr: BytesMut,
    ) -> *mut _cl_mem {
        no_images(context)
    }

    fn clGetSupportedImageFormats(
        context: cl_context,
        flags: cl_mem_flags,
        kind: cl_mem_object_type,
        num_entries: cl_uint,
        formats: OutList<cl_image_format>,
        num_formats: Out<cl_uint>,
    ) {
        handles::get::<Context>(context)?;
        // "CL_INVALID_VALUE if flags or image_type are not valid, or if num_entries is 0 and image_formats is not NULL."
        wgcl_api::memory::MemFlags::parse(flags & !u64::from(CL_MEM_KERNEL_READ_AND_WRITE))?;
        check!((CL_MEM_OBJECT_IMAGE2D..=CL_MEM_OBJECT_IMAGE1D_BUFFER).contains(&kind), InvalidValue, "image type {kind:#x} is unknown");
        check!(num_entries != 0 || formats.is_null(), InvalidValue, "num_entries is zero");
        num_formats.set(0);
        Ok(())
    }

    fn clGetImageInfo(image: cl_mem, _param: cl_image_info, _size: usize, _value: BytesMut, _size_ret: Out<usize>) {
        handles::get::<Buffer>(image)?;
        Err(Error::InvalidMemObject("it is a buffer, not an image".into()))
    }

    fn clEnqueueReadImage(
        queue: cl_command_queue,
        _image: cl_mem,
        _blocking: cl_bool,
        _origin: List<usize>,
        _region: List<usize>,
        _row_pitch: usize,
        _slice_pitch: usize,
        _ptr: BytesMut,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_image_command(queue)
    }

    fn clEnqueueWriteImage(
        queue: cl_command_queue,
        _image: cl_mem,
        _blocking: cl_bool,
        _origin: List<usize>,
        _region: List<usize>,
        _row_pitch: usize,
        _slice_pitch: usize,
        _ptr: Bytes,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_image_command(queue)
    }

    fn clEnqueueFillImage(
        queue: cl_command_queue,
        _image: cl_mem,
        _color: Bytes,
        _origin: List<usize>,
        _region: List<usize>,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_image_command(queue)
    }

    fn clEnqueueCopyImage(
        queue: cl_command_queue,
        _src: cl_mem,
        _dst: cl_mem,
        _src_origin: List<usize>,
        _dst_origin: List<usize>,
        _region: List<usize>,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_image_command(queue)
    }

    fn clEnqueueCopyImageToBuffer(
        queue: cl_command_queue,
        _src: cl_mem,
        _dst: cl_mem,
        _origin: List<usize>,
        _region: List<usize>,
        _offset: usize,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_image_command(queue)
    }

    fn clEnqueueCopyBufferToImage(
        queue: cl_command_queue,
        _src: cl_mem,
        _dst: cl_mem,
        _offset: usize,
        _origin: List<usize>,
        _region: List<usize>,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_image_command(queue)
    }

    fn clCreateSampler(context: cl_context, _normalized: cl_bool, _addressing: cl_addressing_mode, _filter: cl_filter_mode) -> *mut _cl_sampler {
        no_images(context)
    }

    fn clCreateSamplerWithProperties(context: cl_context, _properties: List<cl_sampler_properties>) -> *mut _cl_sampler {
        no_images(context)
    }

    fn clRetainSampler(_sampler: cl_sampler) {
        Err(Error::InvalidSampler("there are no samplers".into()))
    }

    fn clReleaseSampler(_sampler: cl_sampler) {
        Err(Error::InvalidSampler("there are no samplers".into()))
    }

    fn clGetSamplerInfo(_sampler: cl_sampler, _param: cl_sampler_info, _size: usize, _value: BytesMut, _size_ret: Out<usize>) {
        Err(Error::InvalidSampler("there are no samplers".into()))
    }

    fn clCreatePipe(
        context: cl_context,
        _flags: cl_mem_flags,
        _packet_size: cl_uint,
        _max_packets: cl_uint,
        _properties: List<cl_pipe_properties>,
    ) -> *mut _cl_mem {
        handles::get::<Context>(context)?;
        // "CL_INVALID_OPERATION if no devices in context support pipes."
        Err(Error::InvalidOperation("no device of the context supports pipes".into()))
    }

    fn clGetPipeInfo(pipe: cl_mem, _param: cl_pipe_info, _size: usize, _value: BytesMut, _size_ret: Out<usize>) {
        handles::get::<Buffer>(pipe)?;
        Err(Error::InvalidMemObject("it is a buffer, not a pipe".into()))
    }

    fn clEnqueueSVMFree(
        queue: cl_command_queue,
        _count: cl_uint,
        _pointers: OutList<*mut c_void>,
        _function: Callback<SvmFreeFn>,
        _user_data: UserData,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_svm_command(queue)
    }

    fn clEnqueueSVMMemcpy(
        queue: cl_command_queue,
        _blocking: cl_bool,
        _dst: BytesMut,
        _src: Bytes,
        _size: usize,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_svm_command(queue)
    }

    fn clEnqueueSVMMemFill(
        queue: cl_command_queue,
        _ptr: BytesMut,
        _pattern: Bytes,
        _pattern_size: usize,
        _size: usize,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_svm_command(queue)
    }

    fn clEnqueueSVMMap(
        queue: cl_command_queue,
        _blocking: cl_bool,
        _flags: cl_map_flags,
        _ptr: BytesMut,
        _size: usize,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_svm_command(queue)
    }

    fn clEnqueueSVMUnmap(queue: cl_command_queue, _ptr: BytesMut, _num_waits: cl_uint, _waits: List<cl_event>, _event: Out<cl_event>) {
        no_svm_command(queue)
    }

    fn clEnqueueSVMMigrateMem(
        queue: cl_command_queue,
        _count: cl_uint,
        _pointers: OutList<*const c_void>,
        _sizes: List<usize>,
        _flags: cl_mem_migration_flags,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_svm_command(queue)
    }

    fn clCreateFromGLBuffer(context: cl_context, _flags: cl_mem_flags, _object: cl_GLuint) -> *mut _cl_mem {
        no_sharing(context)
    }

    fn clCreateFromGLTexture(
        context: cl_context,
        _flags: cl_mem_flags,
        _target: cl_GLenum,
        _level: cl_GLint,
        _texture: cl_GLuint,
    ) -> *mut _cl_mem {
        no_sharing(context)
    }

    fn clCreateFromGLTexture2D(
        context: cl_context,
        _flags: cl_mem_flags,
        _target: cl_GLenum,
        _level: cl_GLint,
        _texture: cl_GLuint,
    ) -> *mut _cl_mem {
        no_sharing(context)
    }

    fn clCreateFromGLTexture3D(
        context: cl_context,
        _flags: cl_mem_flags,
        _target: cl_GLenum,
        _level: cl_GLint,
        _texture: cl_GLuint,
    ) -> *mut _cl_mem {
        no_sharing(context)
    }

    fn clCreateFromGLRenderbuffer(context: cl_context, _flags: cl_mem_flags, _object: cl_GLuint) -> *mut _cl_mem {
        no_sharing(context)
    }

    fn clGetGLObjectInfo(memory: cl_mem, _kind: Out<cl_gl_object_type>, _name: Out<cl_GLuint>) {
        handles::get::<Buffer>(memory)?;
        // "CL_INVALID_GL_OBJECT if there is no GL object associated with memobj."
        Err(Error::InvalidGlObject("the object has nothing to do with GL".into()))
    }

    fn clGetGLTextureInfo(memory: cl_mem, _param: cl_gl_texture_info, _size: usize, _value: BytesMut, _size_ret: Out<usize>) {
        handles::get::<Buffer>(memory)?;
        Err(Error::InvalidGlObject("the object has nothing to do with GL".into()))
    }

    fn clEnqueueAcquireGLObjects(
        queue: cl_command_queue,
        _count: cl_uint,
        _objects: List<cl_mem>,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_sharing_command(queue)
    }

    fn clEnqueueReleaseGLObjects(
        queue: cl_command_queue,
        _count: cl_uint,
        _objects: List<cl_mem>,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_sharing_command(queue)
    }

    fn clGetGLContextInfoKHR(
        properties: List<cl_context_properties>,
        _param: cl_gl_context_info,
        _size: usize,
        _value: BytesMut,
        _size_ret: Out<usize>,
    ) {
        let platform = properties.properties().and_then(|(pairs, _)| {
            pairs.into_iter().find(|(name, _)| *name == CL_CONTEXT_PLATFORM as isize).map(|(_, value)| value.cast_unsigned())
        });
        if let Some(platform) = platform {
            handles::get::<Platform>(std::ptr::with_exposed_provenance_mut(platform))?;
        }
        Err(Error::InvalidOperation("sharing with other APIs is not supported".into()))
    }

    fn clCreateEventFromGLsyncKHR(context: cl_context, _sync: cl_GLsync) -> *mut _cl_event {
        no_sharing(context)
    }

    fn clCreateFromEGLImageKHR(
        context: cl_context,
        _display: CLeglDisplayKHR,
        _image: CLeglImageKHR,
        _flags: cl_mem_flags,
        _properties: List<cl_egl_image_properties_khr>,
    ) -> *mut _cl_mem {
        no_sharing(context)
    }

    fn clEnqueueAcquireEGLObjectsKHR(
        queue: cl_command_queue,
        _count: cl_uint,
        _objects: List<cl_mem>,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_sharing_command(queue)
    }

    fn clEnqueueReleaseEGLObjectsKHR(
        queue: cl_command_queue,
        _count: cl_uint,
        _objects: List<cl_mem>,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        no_sharing_command(queue)
    }

    fn clCreateEventFromEGLSyncKHR(context: cl_context, _sync: CLeglSyncKHR, _display: CLeglDisplayKHR) -> *mut _cl_event {
        no_sharing(context)
    }
}

/// `clSVMAlloc`: "returns NULL if ... no devices in context support SVM".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clSVMAlloc(_context: cl_context, _flags: cl_svm_mem_flags, _size: usize, _alignment: cl_uint) -> *mut c_void {
    std::ptr::null_mut()
}

/// `clSVMFree`: nothing was allocated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clSVMFree(_context: cl_context, _pointer: *mut c_void) {}

/// `clEnqueueMapImage`: it returns an address, not an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clEnqueueMapImage(
    queue: cl_command_queue,
    _image: cl_mem,
    _blocking: cl_bool,
    _flags: cl_map_flags,
    _origin: *const usize,
    _region: *const usize,
    _row_pitch: *mut usize,
    _slice_pitch: *mut usize,
    _num_waits: cl_uint,
    _waits: *const cl_event,
    _event: *mut cl_event,
    errcode_ret: *mut cl_int,
) -> *mut c_void {
    crate::ffi::pointer("clEnqueueMapImage", errcode_ret, |_| {
        no_image_command(queue)?;
        Ok(std::ptr::null_mut())
    })
}
