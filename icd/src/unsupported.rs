//! Entry points for sharing with OpenGL and EGL, which wgcl does not support. Each function checks its first handle, or
//! the platform in the properties. It then fails with the error that its extension specifies for objects that were not
//! created from OpenGL or EGL.

use wgcl_api::objects::context::Context;
use wgcl_api::objects::platform::Platform;
use wgcl_api::objects::queue::Queue;
use wgcl_api::types::error::{Error, Result};

use crate::check;
use crate::ffi::{BytesMut, List, Out};
use crate::handles;
use wgcl_opencl_headers::{
    _cl_event, _cl_mem, CL_CONTEXT_PLATFORM, CLeglDisplayKHR, CLeglImageKHR, CLeglSyncKHR, cl_GLenum, cl_GLint, cl_GLsync, cl_GLuint,
    cl_command_queue, cl_context, cl_context_properties, cl_egl_image_properties_khr, cl_event, cl_gl_context_info, cl_gl_object_type,
    cl_gl_texture_info, cl_mem, cl_mem_flags, cl_uint,
};

/// The error message, with an alternative that applications can use instead.
const UNSUPPORTED: &str = "sharing with OpenGL and EGL is not supported; copy the data through host memory";

/// Fails: "CL_INVALID_CONTEXT if context is not a valid context or was not created from a GL context."
fn no_gl_context<T>(context: cl_context) -> Result<T> {
    handles::get::<Context>(context)?;
    Err(Error::InvalidContext(UNSUPPORTED.into()))
}

/// Whether a list of objects to acquire or release is empty: "If num_objects is 0 and mem_objects is NULL the function
/// does nothing and returns CL_SUCCESS."
fn is_empty(count: cl_uint, objects: &List<cl_mem>) -> Result<bool> {
    // "CL_INVALID_VALUE if num_objects is zero and mem_objects is not a NULL value or if num_objects > 0 and
    // mem_objects is NULL."
    check!((count == 0) == objects.is_null(), InvalidValue, "the list of memory objects does not match the count {count}");
    Ok(count == 0)
}

/// Acquires or releases objects of OpenGL. Succeeds if there are none.
fn gl_objects(queue: cl_command_queue, count: cl_uint, objects: &List<cl_mem>) -> Result<()> {
    handles::get::<Queue>(queue)?;
    if is_empty(count, objects)? {
        return Ok(());
    }
    // "CL_INVALID_CONTEXT if context associated with command_queue was not created from an OpenGL context."
    Err(Error::InvalidContext(UNSUPPORTED.into()))
}

/// Acquires or releases objects of EGL. Succeeds if there are none.
fn egl_objects(queue: cl_command_queue, count: cl_uint, objects: &List<cl_mem>) -> Result<()> {
    handles::get::<Queue>(queue)?;
    if is_empty(count, objects)? {
        return Ok(());
    }
    for memory in objects.get(count as usize) {
        handles::get_memory(memory)?;
    }
    // "CL_INVALID_EGL_OBJECT_KHR if memory objects in mem_objects have not been created from EGL resources."
    Err(Error::InvalidEglObject(UNSUPPORTED.into()))
}

crate::entry! {
    fn clCreateFromGLBuffer(context: cl_context, _flags: cl_mem_flags, _object: cl_GLuint) -> *mut _cl_mem {
        no_gl_context(context)
    }

    fn clCreateFromGLTexture(
        context: cl_context,
        _flags: cl_mem_flags,
        _target: cl_GLenum,
        _level: cl_GLint,
        _texture: cl_GLuint,
    ) -> *mut _cl_mem {
        no_gl_context(context)
    }

    fn clCreateFromGLTexture2D(
        context: cl_context,
        _flags: cl_mem_flags,
        _target: cl_GLenum,
        _level: cl_GLint,
        _texture: cl_GLuint,
    ) -> *mut _cl_mem {
        no_gl_context(context)
    }

    fn clCreateFromGLTexture3D(
        context: cl_context,
        _flags: cl_mem_flags,
        _target: cl_GLenum,
        _level: cl_GLint,
        _texture: cl_GLuint,
    ) -> *mut _cl_mem {
        no_gl_context(context)
    }

    fn clCreateFromGLRenderbuffer(context: cl_context, _flags: cl_mem_flags, _object: cl_GLuint) -> *mut _cl_mem {
        no_gl_context(context)
    }

    fn clGetGLObjectInfo(memory: cl_mem, _kind: Out<cl_gl_object_type>, _name: Out<cl_GLuint>) {
        handles::get_memory(memory)?;
        // "CL_INVALID_GL_OBJECT if there is no GL object associated with memobj."
        Err(Error::InvalidGlObject("the object was not created from an OpenGL object".into()))
    }

    fn clGetGLTextureInfo(memory: cl_mem, _param: cl_gl_texture_info, _size: usize, _value: BytesMut, _size_ret: Out<usize>) {
        handles::get_memory(memory)?;
        Err(Error::InvalidGlObject("the object was not created from an OpenGL object".into()))
    }

    fn clEnqueueAcquireGLObjects(
        queue: cl_command_queue,
        count: cl_uint,
        objects: List<cl_mem>,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        gl_objects(queue, count, &objects)
    }

    fn clEnqueueReleaseGLObjects(
        queue: cl_command_queue,
        count: cl_uint,
        objects: List<cl_mem>,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        gl_objects(queue, count, &objects)
    }

    fn clGetGLContextInfoKHR(
        properties: List<cl_context_properties>,
        _param: cl_gl_context_info,
        _size: usize,
        _value: BytesMut,
        _size_ret: Out<usize>,
    ) {
        let platform = properties.properties().and_then(|(pairs, _)| {
            pairs.into_iter().find(|(name, _)| *name == CL_CONTEXT_PLATFORM).map(|(_, value)| value.cast_unsigned())
        });
        if let Some(platform) = platform {
            handles::get::<Platform>(std::ptr::with_exposed_provenance_mut(platform))?;
        }
        // "CL_INVALID_OPERATION if ... the OpenGL implementation does not support that window-system binding API."
        Err(Error::InvalidOperation(UNSUPPORTED.into()))
    }

    fn clCreateEventFromGLsyncKHR(context: cl_context, _sync: cl_GLsync) -> *mut _cl_event {
        no_gl_context(context)
    }

    fn clCreateFromEGLImageKHR(
        context: cl_context,
        _display: CLeglDisplayKHR,
        _image: CLeglImageKHR,
        _flags: cl_mem_flags,
        _properties: List<cl_egl_image_properties_khr>,
    ) -> *mut _cl_mem {
        handles::get::<Context>(context)?;
        // "CL_IMAGE_FORMAT_NOT_SUPPORTED if the OpenCL implementation is not able to create a cl_mem compatible with
        // the provided CLeglImageKHR for an implementation-dependent reason."
        Err(Error::ImageFormatNotSupported(UNSUPPORTED.into()))
    }

    fn clEnqueueAcquireEGLObjectsKHR(
        queue: cl_command_queue,
        count: cl_uint,
        objects: List<cl_mem>,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        egl_objects(queue, count, &objects)
    }

    fn clEnqueueReleaseEGLObjectsKHR(
        queue: cl_command_queue,
        count: cl_uint,
        objects: List<cl_mem>,
        _num_waits: cl_uint,
        _waits: List<cl_event>,
        _event: Out<cl_event>,
    ) {
        egl_objects(queue, count, &objects)
    }

    fn clCreateEventFromEGLSyncKHR(context: cl_context, _sync: CLeglSyncKHR, _display: CLeglDisplayKHR) -> *mut _cl_event {
        no_gl_context(context)
    }
}
