//! Sharing with OpenGL and EGL (cl_khr_gl_sharing, cl_khr_gl_event, cl_khr_gl_depth_images, cl_khr_gl_msaa_sharing,
//! cl_khr_egl_image, cl_khr_egl_event).
//!
//! - [`contexts`] finds the application's context in the properties of an OpenCL context.
//! - [`binding`] creates a context that shares its objects with the application's context, and [`connection`] the
//!   thread that uses it.
//! - [`describe`] queries an object of OpenGL when a memory object is created from it. [`mod@format`] maps its format.
//! - [`object`] and [`transfer`] copy its contents when it is acquired or released ([`wgcl_api::objects::graphics`]).
//! - [`multisample`] reads the samples of multisample textures.
//! - [`imported`] imports memory of Vulkan, through which the contents are copied on the device.
//! - [`functions`] and [`constants`] declare the parts of OpenGL, EGL, GLX and WGL that wgcl uses.
//!
//! The libraries of OpenGL are loaded when an application passes a context or an EGL image, not earlier.

mod binding;
mod connection;
mod constants;
pub(crate) mod contexts;
mod describe;
mod format;
mod functions;
mod imported;
mod multisample;
mod object;
mod transfer;

use std::sync::Arc;

use wgcl_api::commands::command::CommandType;
use wgcl_api::image::{Image, ImageDesc, MemObject};
use wgcl_api::objects::context::Context;
use wgcl_api::objects::event::Event;
use wgcl_api::objects::memory::{Buffer, MemFlags};
use wgcl_api::objects::queue::Queue;
use wgcl_api::types::error::{Error, Result};
use wgcl_api::types::graphics::{GraphicsApi, GraphicsObject};

use crate::check;
use crate::event::{return_event, wait_list};
use crate::ffi::{BytesMut, List, Out};
use crate::handles;
use crate::info::Query;
use connection::{Connection, Sync};
use constants::{GL_TEXTURE_2D, GL_TEXTURE_3D};
use contexts::Graphics;
use describe::Described;
use object::{Identity, SharedObject, Storage, TextureIdentity};
use wgcl_opencl_headers::{
    _cl_event, _cl_mem, CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR, CL_DEVICES_FOR_GL_CONTEXT_KHR, CL_GL_MIPMAP_LEVEL, CL_GL_NUM_SAMPLES,
    CL_GL_OBJECT_BUFFER, CL_GL_OBJECT_RENDERBUFFER, CL_GL_OBJECT_TEXTURE_BUFFER, CL_GL_OBJECT_TEXTURE1D, CL_GL_OBJECT_TEXTURE1D_ARRAY,
    CL_GL_OBJECT_TEXTURE2D, CL_GL_OBJECT_TEXTURE2D_ARRAY, CL_GL_OBJECT_TEXTURE3D, CL_GL_TEXTURE_TARGET, CLeglDisplayKHR, CLeglImageKHR,
    CLeglSyncKHR, cl_GLenum, cl_GLint, cl_GLsync, cl_GLuint, cl_command_queue, cl_context, cl_context_properties,
    cl_egl_image_properties_khr, cl_event, cl_gl_context_info, cl_gl_object_type, cl_gl_texture_info, cl_mem, cl_mem_flags, cl_uint,
};

/// Returns a context and its connection to OpenGL.
fn connected(context: cl_context) -> Result<(Arc<Context>, Arc<Connection>)> {
    let context = handles::get::<Context>(context)?;
    // "CL_INVALID_CONTEXT if context is not a valid context or was not created from a GL context."
    let connection = Graphics::of(&context).opengl().cloned();
    let connection = connection.ok_or_else(|| Error::InvalidContext("the context was not created from an OpenGL context".into()))?;
    Ok((context, connection))
}

/// The cl_gl_object_type of a texture target.
fn object_type(target: u32) -> u32 {
    use wgcl_api::image::image_type::ImageType;
    match describe::image_type(target) {
        Some(ImageType::Image1d) => CL_GL_OBJECT_TEXTURE1D,
        Some(ImageType::Image1dArray) => CL_GL_OBJECT_TEXTURE1D_ARRAY,
        Some(ImageType::Image1dBuffer) => CL_GL_OBJECT_TEXTURE_BUFFER,
        Some(ImageType::Image2dArray) => CL_GL_OBJECT_TEXTURE2D_ARRAY,
        Some(ImageType::Image3d) => CL_GL_OBJECT_TEXTURE3D,
        Some(ImageType::Image2d) | None => CL_GL_OBJECT_TEXTURE2D,
    }
}

/// Creates an image from an object of OpenGL or EGL.
fn image_of(context: &Arc<Context>, flags: MemFlags, described: Described, object: Arc<dyn GraphicsObject>) -> Result<Arc<Image>> {
    let Described { format, desc, buffer_size, .. } = described;
    let image = match buffer_size {
        None => Image::from_graphics(context, flags, format, &desc, object),
        Some(size) => {
            let buffer = Buffer::from_graphics(context, flags, size, object)?;
            let desc = ImageDesc { source: Some(MemObject::Buffer(buffer)), ..desc };
            Image::new(context, None, 0, Some(format.stored), Some(&desc), None)
        }
    };
    // "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if the OpenGL texture internal format does not map to a supported OpenCL
    // image format."
    image.map_err(|error| match error {
        Error::ImageFormatNotSupported(why) => Error::InvalidImageFormatDescriptor(why),
        other => other,
    })
}

/// clCreateFromGLTexture
fn from_texture(context: cl_context, flags: cl_mem_flags, target: u32, level: i32, name: u32) -> Result<*mut _cl_mem> {
    let (context, connection) = connected(context)?;
    let flags = MemFlags::parse_graphics(flags, GraphicsApi::OpenGl)?;
    // "CL_INVALID_VALUE ... if value specified in texture_target is not one of the values specified."
    check!(describe::image_type(target).is_some(), InvalidValue, "texture target {target:#x} is unknown");
    let has_samples = context.devices().iter().any(|device| device.target().has_extension("cl_khr_gl_msaa_sharing"));
    let is_supported = has_samples || !describe::is_multisample(target);
    check!(is_supported, InvalidValue, "texture target {target:#x}: no device of the context has cl_khr_gl_msaa_sharing");
    connection.finish_application();
    let described = connection.call(move |gl| describe::texture(gl, target, level, name))??;
    let samples = described.desc.graphics_samples.max(1).cast_signed();
    let identity = Identity { kind: object_type(target), name, texture: Some(TextureIdentity { target, level, samples }) };
    let object = SharedObject { connection, storage: described.storage, identity, own_texture: None };
    image_of(&context, flags, described, Arc::new(object)).map(handles::retained)
}

/// The object of OpenGL or EGL that a memory object was created from.
fn shared_object(memory: &MemObject) -> Option<&SharedObject> {
    memory.buffer().store().graphics()?.object().as_any().downcast_ref()
}

/// Returns a property of the OpenGL object that a memory object was created from.
fn with_object<R>(memory: cl_mem, read: impl FnOnce(&Identity) -> Option<R>) -> Result<R> {
    let memory = handles::get_memory(memory)?;
    // "CL_INVALID_GL_OBJECT if there is no GL object associated with memobj."
    shared_object(&memory)
        .filter(|object| object.own_texture.is_none())
        .and_then(|object| read(&object.identity))
        .ok_or_else(|| Error::InvalidGlObject("the memory object was not created from an OpenGL object of this kind".into()))
}

/// Returns the queue and the memory objects of an acquire or release. The list is `None` if there are no objects: "If
/// num_objects is 0 and mem_objects is NULL the function does nothing and returns CL_SUCCESS."
fn objects_of(
    api: GraphicsApi,
    queue: cl_command_queue,
    count: cl_uint,
    list: &List<cl_mem>,
) -> Result<(Arc<Queue>, Option<Vec<MemObject>>)> {
    let queue = handles::get::<Queue>(queue)?;
    // "CL_INVALID_VALUE if num_objects is zero and mem_objects is not a NULL value or if num_objects > 0 and
    // mem_objects is NULL."
    check!((count == 0) == list.is_null(), InvalidValue, "the list of memory objects does not match the count {count}");
    if count == 0 {
        return Ok((queue, None));
    }
    let objects = list.get(count as usize).into_iter().map(handles::get_memory).collect::<Result<_>>()?;
    // "CL_INVALID_CONTEXT if context associated with command_queue was not created from an OpenGL context."
    let is_connected = api == GraphicsApi::Egl || Graphics::of(queue.context()).opengl().is_some();
    check!(is_connected, InvalidContext, "the context of the queue was not created from an OpenGL context");
    Ok((queue, Some(objects)))
}

/// The connection of an object that is acquired, for the synchronisation with the calling thread.
fn connection_of(object: &MemObject) -> Option<Arc<Connection>> {
    shared_object(object).map(|object| object.connection.clone())
}

/// Acquires objects. The copies follow the OpenGL commands that the calling thread has called: "any OpenGL commands
/// which ... were issued on that OpenGL context prior to the call ... will complete before execution of any OpenCL
/// commands following the clEnqueueAcquireGLObjects" (cl_khr_gl_event).
fn acquire(
    api: GraphicsApi,
    (queue, count, list): (cl_command_queue, cl_uint, &List<cl_mem>),
    waits: (cl_uint, &List<cl_event>),
    event: &Out<cl_event>,
) -> Result<()> {
    let (queue, objects) = objects_of(api, queue, count, list)?;
    let Some(objects) = objects else { return Ok(()) };
    let waits = wait_list(waits.0, waits.1)?;
    let fence = objects.iter().find_map(connection_of).and_then(|connection| connection.fence());
    return_event(event, queue.acquire_graphics(api, &objects, fence, &waits)?);
    Ok(())
}

/// Releases objects. If an OpenGL context is current, waits for the copies: OpenGL commands that are called later "will
/// not execute until after execution of any OpenCL commands preceding the clEnqueueReleaseGLObjects" (cl_khr_gl_event).
fn release(
    api: GraphicsApi,
    (queue, count, list): (cl_command_queue, cl_uint, &List<cl_mem>),
    waits: (cl_uint, &List<cl_event>),
    event: &Out<cl_event>,
) -> Result<()> {
    let (queue, objects) = objects_of(api, queue, count, list)?;
    let Some(objects) = objects else { return Ok(()) };
    let released = queue.release_graphics(api, &objects, &wait_list(waits.0, waits.1)?)?;
    if objects.iter().find_map(connection_of).is_some_and(|connection| connection.is_current()) {
        released.wait_unless_blocked_by_application();
    }
    return_event(event, released);
    Ok(())
}

/// clCreateFromEGLImageKHR, after the checks of the arguments.
fn from_egl_image(context: &Arc<Context>, flags: MemFlags, display: usize, image: usize) -> Result<*mut _cl_mem> {
    let connection = Graphics::of(context).egl(display)?;
    connection.finish_application();
    let (described, texture) = connection.call(move |gl| describe::egl_image(gl, image))??;
    let identity = Identity { kind: 0, name: texture, texture: None };
    // From here on, the object deletes the texture.
    let object = SharedObject { connection, storage: described.storage, identity, own_texture: Some(texture) };
    let image = image_of(context, flags, described, Arc::new(object)).map_err(|error| match error {
        Error::InvalidImageFormatDescriptor(why) => Error::ImageFormatNotSupported(why),
        other => other,
    });
    image.map(handles::retained)
}

crate::entry! {
    fn clCreateFromGLBuffer(context: cl_context, flags: cl_mem_flags, name: cl_GLuint) -> *mut _cl_mem {
        let (context, connection) = connected(context)?;
        let flags = MemFlags::parse_graphics(flags, GraphicsApi::OpenGl)?;
        connection.finish_application();
        let size = connection.call(move |gl| describe::buffer_size(gl, name))??;
        let identity = Identity { kind: CL_GL_OBJECT_BUFFER, name, texture: None };
        let object = SharedObject { connection, storage: Storage::Buffer { name, offset: 0 }, identity, own_texture: None };
        Buffer::from_graphics(&context, flags, size, Arc::new(object)).map(handles::retained)
    }

    fn clCreateFromGLTexture(
        context: cl_context,
        flags: cl_mem_flags,
        target: cl_GLenum,
        level: cl_GLint,
        texture: cl_GLuint,
    ) -> *mut _cl_mem {
        from_texture(context, flags, target, level, texture)
    }

    fn clCreateFromGLTexture2D(
        context: cl_context,
        flags: cl_mem_flags,
        target: cl_GLenum,
        level: cl_GLint,
        texture: cl_GLuint,
    ) -> *mut _cl_mem {
        connected(context)?;
        let is_2d = object_type(target) == CL_GL_OBJECT_TEXTURE2D && describe::image_type(target).is_some() && !describe::is_multisample(target);
        check!(is_2d, InvalidValue, "texture target {target:#x} is not {GL_TEXTURE_2D:#x} or another target of two dimensions");
        from_texture(context, flags, target, level, texture)
    }

    fn clCreateFromGLTexture3D(
        context: cl_context,
        flags: cl_mem_flags,
        target: cl_GLenum,
        level: cl_GLint,
        texture: cl_GLuint,
    ) -> *mut _cl_mem {
        connected(context)?;
        check!(target == GL_TEXTURE_3D, InvalidValue, "texture target {target:#x}: it must be GL_TEXTURE_3D");
        from_texture(context, flags, target, level, texture)
    }

    fn clCreateFromGLRenderbuffer(context: cl_context, flags: cl_mem_flags, name: cl_GLuint) -> *mut _cl_mem {
        let (context, connection) = connected(context)?;
        let flags = MemFlags::parse_graphics(flags, GraphicsApi::OpenGl)?;
        connection.finish_application();
        let described = connection.call(move |gl| describe::renderbuffer(gl, name))??;
        let identity = Identity { kind: CL_GL_OBJECT_RENDERBUFFER, name, texture: None };
        let object = SharedObject { connection, storage: described.storage, identity, own_texture: None };
        image_of(&context, flags, described, Arc::new(object)).map(handles::retained)
    }

    fn clGetGLObjectInfo(memory: cl_mem, kind: Out<cl_gl_object_type>, name: Out<cl_GLuint>) {
        let identity = with_object(memory, |identity| Some(*identity))?;
        kind.set(identity.kind);
        name.set(identity.name);
        Ok(())
    }

    fn clGetGLTextureInfo(memory: cl_mem, param: cl_gl_texture_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        // "CL_INVALID_GL_OBJECT if there is no GL texture object associated with memobj."
        let texture = with_object(memory, |identity| identity.texture)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_GL_TEXTURE_TARGET => query.put(texture.target),
            CL_GL_MIPMAP_LEVEL => query.put(texture.level),
            // "If image is not a MSAA texture, 1 is returned."
            CL_GL_NUM_SAMPLES => query.put(texture.samples),
            _ => query.unknown(param),
        }
    }

    fn clEnqueueAcquireGLObjects(
        queue: cl_command_queue,
        count: cl_uint,
        objects: List<cl_mem>,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        acquire(GraphicsApi::OpenGl, (queue, count, &objects), (num_waits, &waits), &event)
    }

    fn clEnqueueReleaseGLObjects(
        queue: cl_command_queue,
        count: cl_uint,
        objects: List<cl_mem>,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        release(GraphicsApi::OpenGl, (queue, count, &objects), (num_waits, &waits), &event)
    }

    fn clGetGLContextInfoKHR(
        properties: List<cl_context_properties>,
        param: cl_gl_context_info,
        size: usize,
        value: BytesMut,
        size_ret: Out<usize>,
    ) {
        let devices = contexts::devices_of_properties(&properties)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR => query.put(devices.iter().take(1).map(handles::borrowed).collect::<Vec<_>>()),
            CL_DEVICES_FOR_GL_CONTEXT_KHR => query.put(devices.iter().map(handles::borrowed).collect::<Vec<_>>()),
            _ => query.unknown(param),
        }
    }

    fn clCreateEventFromGLsyncKHR(context: cl_context, sync: cl_GLsync) -> *mut _cl_event {
        let (context, connection) = connected(context)?;
        connection.flush_application();
        // "CL_INVALID_GL_OBJECT if sync is not the name of a sync object in the GL share group associated with
        // context."
        let sync = Sync::Gl(sync.expose_provenance());
        check!(connection.is_sync(sync), InvalidGlObject, "the sync object does not exist");
        let event = Event::of_sync(&context, CommandType::GlFenceSync);
        connection.complete_after(sync, &event)?;
        Ok(handles::retained(event))
    }

    fn clCreateFromEGLImageKHR(
        context: cl_context,
        display: CLeglDisplayKHR,
        image: CLeglImageKHR,
        flags: cl_mem_flags,
        properties: List<cl_egl_image_properties_khr>,
    ) -> *mut _cl_mem {
        let context = handles::get::<Context>(context)?;
        // "CL_INVALID_VALUE if properties contains invalid values, if display is not a valid display object or if flags
        // are not in the set defined above."
        let has_properties = properties.properties().is_some_and(|(pairs, _)| !pairs.is_empty());
        check!(!has_properties, InvalidValue, "the list of properties of an EGL image must be empty");
        check!(!display.is_null(), InvalidValue, "the EGL display is null");
        let flags = MemFlags::parse_graphics(flags, GraphicsApi::Egl)?;
        check!(!image.is_null(), InvalidEglObject, "the EGL image is null");
        from_egl_image(&context, flags, display.expose_provenance(), image.expose_provenance())
    }

    fn clEnqueueAcquireEGLObjectsKHR(
        queue: cl_command_queue,
        count: cl_uint,
        objects: List<cl_mem>,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        acquire(GraphicsApi::Egl, (queue, count, &objects), (num_waits, &waits), &event)
    }

    fn clEnqueueReleaseEGLObjectsKHR(
        queue: cl_command_queue,
        count: cl_uint,
        objects: List<cl_mem>,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        release(GraphicsApi::Egl, (queue, count, &objects), (num_waits, &waits), &event)
    }

    fn clCreateEventFromEGLSyncKHR(context: cl_context, sync: CLeglSyncKHR, display: CLeglDisplayKHR) -> *mut _cl_event {
        let context = handles::get::<Context>(context)?;
        // "CL_INVALID_EGL_OBJECT_KHR if sync is not a valid EGLSyncKHR object created with respect to EGLDisplay
        // display."
        check!(!display.is_null() && !sync.is_null(), InvalidEglObject, "the EGL display or the sync object is null");
        let (display, sync) = (display.expose_provenance(), sync.expose_provenance());
        let connection = Graphics::of(&context).egl(display).map_err(|error| Error::InvalidEglObject(error.to_string().into()))?;
        connection.flush_application();
        let sync = Sync::Egl { display, sync };
        check!(connection.is_sync(sync), InvalidEglObject, "the sync object does not exist");
        let event = Event::of_sync(&context, CommandType::EglFenceSync);
        connection.complete_after(sync, &event)?;
        Ok(handles::retained(event))
    }
}
