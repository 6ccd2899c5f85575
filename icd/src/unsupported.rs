//! Entry points for sharing with OpenGL and EGL, which wgcl does not support. Each checks its first handle, or the
//! platform in the properties, and fails.

use wgcl_api::objects::context::Context;
use wgcl_api::objects::platform::Platform;
use wgcl_api::objects::queue::Queue;
use wgcl_api::types::error::{Error, Result};

use crate::ffi::{BytesMut, List, Out};
use crate::handles;
use wgcl_opencl_headers::{
    _cl_event, _cl_mem, CL_CONTEXT_PLATFORM, CLeglDisplayKHR, CLeglImageKHR, CLeglSyncKHR, cl_GLenum, cl_GLint, cl_GLsync, cl_GLuint,
    cl_command_queue, cl_context, cl_context_properties, cl_egl_image_properties_khr, cl_event, cl_gl_context_info, cl_gl_object_type,
    cl_gl_texture_info, cl_mem, cl_mem_flags, cl_uint,
};

/// Fails: wgcl cannot create objects from those of OpenGL or EGL.
fn no_sharing<T>(context: cl_context) -> Result<T> {
    handles::get::<Context>(context)?;
    Err(Error::InvalidOperation("sharing with OpenGL and EGL is not supported; copy the data through host memory".into()))
}

/// Fails: no memory object was created from OpenGL or EGL.
fn no_sharing_command(queue: cl_command_queue) -> Result<()> {
    handles::get::<Queue>(queue)?;
    Err(Error::InvalidOperation("sharing with OpenGL and EGL is not supported; copy the data through host memory".into()))
}

crate::entry! {
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
        Err(Error::InvalidGlObject("the object was not created from an OpenGL object".into()))
    }

    fn clGetGLTextureInfo(memory: cl_mem, _param: cl_gl_texture_info, _size: usize, _value: BytesMut, _size_ret: Out<usize>) {
        handles::get_memory(memory)?;
        Err(Error::InvalidGlObject("the object was not created from an OpenGL object".into()))
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
            pairs.into_iter().find(|(name, _)| *name == CL_CONTEXT_PLATFORM).map(|(_, value)| value.cast_unsigned())
        });
        if let Some(platform) = platform {
            handles::get::<Platform>(std::ptr::with_exposed_provenance_mut(platform))?;
        }
        Err(Error::InvalidOperation("sharing with OpenGL and EGL is not supported; copy the data through host memory".into()))
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
