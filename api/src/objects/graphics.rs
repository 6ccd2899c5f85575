//! Sharing with OpenGL and EGL: memory objects that are created from their objects (cl_khr_gl_sharing,
//! cl_khr_egl_image).
//!
//! A shared memory object has its own memory. An acquire copies the contents of the OpenGL or EGL object to this
//! memory, and a release copies them back. A release copies nothing if no command has written the memory since the
//! acquire. The C ABI implements [`GraphicsObject`], because only it calls OpenGL.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use wgcl_compiler::image::ImageFormat;

use crate::backend::{BackendError, BackendResult, CopyRegion, HostSource, HostTarget, HostWork};
use crate::commands::command::{AccessMode, BufferAccess, CommandType, Operation, PendingCommand};
use crate::commands::transfer::buffer_access;
use crate::image::{Image, ImageDesc, MemObject};
use crate::objects::context::Context;
use crate::objects::event::Event;
use crate::objects::memory::{Buffer, HostData, MemFlags, Store, zeroed};
use crate::objects::queue::Queue;
use crate::types::error::{Error, Result, ensure};
use crate::types::graphics::{Graphics, GraphicsApi, GraphicsObject};
use crate::types::lock::{Mutex, Rank};

impl GraphicsApi {
    const fn acquire(self) -> CommandType {
        match self {
            Self::OpenGl => CommandType::AcquireGlObjects,
            Self::Egl => CommandType::AcquireEglObjects,
        }
    }

    const fn release(self) -> CommandType {
        match self {
            Self::OpenGl => CommandType::ReleaseGlObjects,
            Self::Egl => CommandType::ReleaseEglObjects,
        }
    }
}

impl Store {
    /// Checks that a command may use the memory.
    pub(crate) fn check_acquired(&self, command: CommandType) -> Result<()> {
        let Some(graphics) = self.graphics() else { return Ok(()) };
        let api = graphics.object().api();
        // "If an OpenCL memory object created from a EGL resource is used while it is not currently acquired by OpenCL,
        // the call ... will return CL_EGL_RESOURCE_NOT_ACQUIRED_KHR." For OpenGL, the result of such a use is
        // undefined.
        let is_transfer = command == api.acquire() || command == api.release();
        let may_use = api != GraphicsApi::Egl || is_transfer || graphics.is_acquired.load(Ordering::Acquire);
        ensure!(may_use, EglResourceNotAcquired, "a memory object that was created from an EGL image is not acquired");
        Ok(())
    }
}

impl MemFlags {
    /// Parses the flags of a memory object that is created from an object of OpenGL or EGL.
    ///
    /// # Errors
    /// If a flag is not permitted.
    pub fn parse_graphics(bits: u64, api: GraphicsApi) -> Result<Self> {
        let flags = Self::parse(bits)?;
        // "Only CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY and CL_MEM_READ_WRITE values ... can be used." EGL images also
        // permit the flags on the host's access.
        let kernel = Self::READ_ONLY | Self::WRITE_ONLY | Self::READ_WRITE;
        let host = Self::HOST_READ_ONLY | Self::HOST_WRITE_ONLY | Self::HOST_NO_ACCESS;
        let permitted = if api == GraphicsApi::Egl { kernel | host } else { kernel };
        ensure!(permitted.contains(flags), InvalidValue, "{flags}: a flag is not permitted for an object of another API");
        Ok(flags)
    }
}

impl Buffer {
    /// clCreateFromGLBuffer
    ///
    /// # Errors
    /// If the allocation fails. The caller has checked the flags.
    pub fn from_graphics(context: &Arc<Context>, flags: MemFlags, size: u64, object: Arc<dyn GraphicsObject>) -> Result<Arc<Self>> {
        let buffer = Self::new(context, flags, size, HostData::None, None)?;
        buffer.store().set_graphics(Graphics::new(object));
        Ok(buffer)
    }
}

/// The formats of an image that is created from an object of OpenGL or EGL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphicsFormat {
    /// The format of the elements in memory.
    pub stored: ImageFormat,
    /// CL_IMAGE_FORMAT. It differs from `stored` for depth-stencil formats, whose depth is stored without the stencil.
    pub reported: ImageFormat,
}

impl Image {
    /// clCreateFromGLTexture, clCreateFromGLRenderbuffer, clCreateFromEGLImageKHR
    ///
    /// # Errors
    /// If no device supports the format or the size, or if the allocation fails. The caller has checked the flags.
    pub fn from_graphics(
        context: &Arc<Context>,
        flags: MemFlags,
        format: GraphicsFormat,
        desc: &ImageDesc,
        object: Arc<dyn GraphicsObject>,
    ) -> Result<Arc<Self>> {
        let image = Self::new(context, None, flags.bits(), Some(format.stored), Some(desc), None)?;
        image.report_format(format.reported);
        image.buffer().store().set_graphics(Graphics::new(object));
        Ok(image)
    }
}

/// Host memory between an object of OpenGL and the memory of a device.
#[derive(Debug)]
struct Staging(Mutex<Vec<u8>>);

impl Staging {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Rank::Residency, Vec::new())))
    }
}

impl HostSource for Staging {
    fn with(&self, f: &mut dyn FnMut(&[u8])) {
        let bytes = std::mem::take(&mut *self.0.lock());
        f(&bytes);
        *self.0.lock() = bytes;
    }
}

impl HostTarget for Staging {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        let mut bytes = std::mem::take(&mut *self.0.lock());
        f(&mut bytes);
        *self.0.lock() = bytes;
    }
}

/// A function that makes the copies of an acquire wait for the application's OpenGL commands.
pub type BeforeAcquire = Box<dyn FnOnce() -> BackendResult<()> + Send>;

/// The memory of a shared object, and its staging memory for one command.
struct Copy {
    buffer: Arc<Buffer>,
    graphics: Arc<dyn GraphicsObject>,
    staging: Arc<Staging>,
}

impl Copy {
    fn access(&self, access: AccessMode) -> BufferAccess {
        buffer_access(&self.buffer, 0..self.buffer.store().size(), access)
    }

    fn regions(&self) -> Vec<CopyRegion> {
        vec![CopyRegion { buffer: 0, host: 0, size: self.buffer.store().size() }]
    }
}

impl Queue {
    /// clEnqueueAcquireGLObjects, clEnqueueAcquireEGLObjectsKHR. The copies wait for `before`.
    ///
    /// # Errors
    /// If an object was not created from one of `api`, or if it belongs to another context.
    pub fn acquire_graphics(
        self: &Arc<Self>,
        api: GraphicsApi,
        objects: &[MemObject],
        before: Option<BeforeAcquire>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_wait_list_with_syncs(wait_list)?;
        let copies = self.copies(api, objects)?;
        let jobs: Vec<_> = copies.iter().map(|copy| (copy.graphics.clone(), copy.staging.clone(), copy.buffer.store().size())).collect();
        let read = move || {
            before.map_or(Ok(()), |before| before())?;
            for (object, staging, size) in jobs {
                let mut bytes = zeroed(size).map_err(|_| BackendError::OutOfHostMemory)?;
                object.read(&mut bytes)?;
                *staging.0.lock() = bytes;
            }
            Ok(())
        };
        let work = PendingCommand::new(Operation::Host(HostWork(Box::new(read))), Vec::new());
        let mut last = self.submit(api.acquire(), work, wait_list)?;
        for copy in copies {
            let operation = Operation::Write(copy.buffer.clone(), copy.staging.clone(), copy.regions());
            let work = PendingCommand::new(operation, vec![copy.access(AccessMode::Overwrite)]);
            last = self.submit(api.acquire(), work, &[last])?;
            if let Some(graphics) = copy.buffer.store().graphics() {
                graphics.is_acquired.store(true, Ordering::Release);
                graphics.is_written.store(false, Ordering::Release);
            }
        }
        Ok(last)
    }

    /// clEnqueueReleaseGLObjects, clEnqueueReleaseEGLObjectsKHR
    ///
    /// # Errors
    /// The errors of [`Self::acquire_graphics`].
    pub fn release_graphics(self: &Arc<Self>, api: GraphicsApi, objects: &[MemObject], wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.check_wait_list(wait_list)?;
        let copies = self.copies(api, objects)?;
        let mut waits = wait_list.to_vec();
        let mut jobs = Vec::new();
        for copy in &copies {
            let Some(graphics) = copy.buffer.store().graphics() else { continue };
            let is_written = graphics.is_written.swap(false, Ordering::AcqRel);
            graphics.is_acquired.store(false, Ordering::Release);
            if is_written {
                *copy.staging.0.lock() = zeroed(copy.buffer.store().size())?;
                let operation = Operation::Read(copy.buffer.clone(), copy.staging.clone(), copy.regions());
                let work = PendingCommand::new(operation, vec![copy.access(AccessMode::Read)]);
                waits = vec![self.submit(api.release(), work, &waits)?];
                jobs.push((copy.graphics.clone(), copy.staging.clone()));
            }
        }
        let write = move || {
            for (object, staging) in jobs {
                let bytes = std::mem::take(&mut *staging.0.lock());
                object.write(bytes)?;
            }
            Ok(())
        };
        let accesses = copies.iter().map(|copy| copy.access(AccessMode::Read)).collect();
        let work = PendingCommand::new(Operation::Host(HostWork(Box::new(write))), accesses);
        self.submit(api.release(), work, &waits)
    }

    /// Checks the objects of an acquire or release, and returns them without duplicates.
    fn copies(&self, api: GraphicsApi, objects: &[MemObject]) -> Result<Vec<Copy>> {
        let mut copies: Vec<Copy> = Vec::with_capacity(objects.len());
        for object in objects {
            let buffer = object.buffer();
            ensure!(Arc::ptr_eq(buffer.context(), self.context()), InvalidContext, "a memory object belongs to another context");
            let graphics = buffer.store().graphics().map(Graphics::object).filter(|graphics| graphics.api() == api);
            let Some(graphics) = graphics else {
                // "CL_INVALID_GL_OBJECT if memory objects in mem_objects have not been created from a GL object(s)."
                return Err(match api {
                    GraphicsApi::OpenGl => Error::InvalidGlObject("a memory object was not created from an OpenGL object".into()),
                    GraphicsApi::Egl => Error::InvalidEglObject("a memory object was not created from an EGL image".into()),
                });
            };
            if !copies.iter().any(|copy| Arc::ptr_eq(copy.buffer.store(), buffer.store())) {
                copies.push(Copy { buffer: buffer.clone(), graphics: graphics.clone(), staging: Staging::new() });
            }
        }
        Ok(copies)
    }
}
