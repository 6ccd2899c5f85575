//! Entry points of optional features that wgcl does not have: each answers as the specification says for a device without them.

use std::ffi::c_void;

use wgcl_api::context::Context;
use wgcl_api::error::{Error, Result};
use wgcl_api::platform::Platform;
use wgcl_api::queue::Queue;

use crate::bindings::{
    _cl_event, _cl_mem, CL_CONTEXT_PLATFORM, CLeglDisplayKHR, CLeglImageKHR, CLeglSyncKHR, cl_GLenum, cl_GLint, cl_GLsync, cl_GLuint,
    cl_bool, cl_command_queue, cl_context, cl_context_properties, cl_egl_image_properties_khr, cl_event, cl_gl_context_info,
    cl_gl_object_type, cl_gl_texture_info, cl_map_flags, cl_mem, cl_mem_flags, cl_mem_migration_flags, cl_pipe_info, cl_pipe_properties,
    cl_svm_mem_flags, cl_uint,
};
use crate::ffi::{Bytes, BytesMut, Callback, List, Out, OutList, UserData};
use crate::handles;

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
        handles::get_memory(pipe)?;
        Err(Error::InvalidMemObject("it is not a pipe".into()))
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
        handles::get_memory(memory)?;
        // "CL_INVALID_GL_OBJECT if there is no GL object associated with memobj."
        Err(Error::InvalidGlObject("the object has nothing to do with GL".into()))
    }

    fn clGetGLTextureInfo(memory: cl_mem, _param: cl_gl_texture_info, _size: usize, _value: BytesMut, _size_ret: Out<usize>) {
        handles::get_memory(memory)?;
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
