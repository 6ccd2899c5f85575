//! Sharing with OpenGL and EGL: memory objects that are created from their objects (cl_khr_gl_sharing,
//! cl_khr_egl_image).
//!
//! A shared memory object has its own memory. An acquire copies the contents of the OpenGL or EGL object to this
//! memory, and a release copies them back. A release copies nothing if no command has written the memory since the
//! acquire. The C ABI implements [`GraphicsObject`], because only it calls OpenGL.
//!
//! If OpenGL can import memory of the queue's device, the copies stay on the device: OpenGL copies between the object
//! and [`TransferMemory`], and the queue copies between this memory and that of the memory object. Otherwise, the
//! contents pass through host memory.

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
use crate::types::graphics::{Graphics, GraphicsApi, GraphicsObject, TransferMemory};
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

/// The memory between an object of OpenGL and the memory of a device, for one command.
#[derive(Clone)]
enum Intermediate {
    Host(Arc<Staging>),
    Device(Arc<TransferMemory<Buffer>>),
}

/// A copy between the memory of a shared object and the object.
struct Copy {
    buffer: Arc<Buffer>,
    graphics: Arc<dyn GraphicsObject>,
    intermediate: Intermediate,
}

impl Copy {
    fn size(&self) -> u64 {
        self.buffer.store().size()
    }

    fn access(&self, access: AccessMode) -> BufferAccess {
        buffer_access(&self.buffer, 0..self.size(), access)
    }

    /// The second part of an acquire: from the intermediate memory to the memory object.
    fn write_buffer(self) -> PendingCommand {
        let (regions, access) = (self.regions(), self.access(AccessMode::Overwrite));
        match self.intermediate {
            Intermediate::Host(staging) => PendingCommand::new(Operation::Write(self.buffer, staging, regions), vec![access]),
            Intermediate::Device(memory) => {
                let read = buffer_access(&memory.buffer, 0..memory.buffer.size(), AccessMode::Read);
                PendingCommand::new(Operation::Copy(memory.buffer.clone(), self.buffer, regions), vec![read, access])
            }
        }
    }

    /// The first part of a release: from the memory object to the intermediate memory.
    fn read_buffer(&self) -> Result<PendingCommand> {
        let (buffer, regions, access) = (self.buffer.clone(), self.regions(), self.access(AccessMode::Read));
        Ok(match &self.intermediate {
            Intermediate::Host(staging) => {
                *staging.0.lock() = zeroed(self.size())?;
                PendingCommand::new(Operation::Read(buffer, staging.clone(), regions), vec![access])
            }
            Intermediate::Device(memory) => {
                let overwrite = buffer_access(&memory.buffer, 0..memory.buffer.size(), AccessMode::Overwrite);
                PendingCommand::new(Operation::Copy(buffer, memory.buffer.clone(), regions), vec![access, overwrite])
            }
        })
    }

    fn regions(&self) -> Vec<CopyRegion> {
        vec![CopyRegion { buffer: 0, host: 0, size: self.size() }]
    }

    /// Returns the part that OpenGL executes.
    fn transfer(&self) -> Transfer {
        Transfer { object: self.graphics.clone(), intermediate: self.intermediate.clone(), size: self.size() }
    }
}

/// A copy between an object of OpenGL and the intermediate memory.
struct Transfer {
    object: Arc<dyn GraphicsObject>,
    intermediate: Intermediate,
    size: u64,
}

impl Transfer {
    fn read_object(self) -> BackendResult<()> {
        match self.intermediate {
            Intermediate::Host(staging) => {
                let mut bytes = zeroed(self.size).map_err(|_| BackendError::OutOfHostMemory)?;
                self.object.read(&mut bytes)?;
                *staging.0.lock() = bytes;
                Ok(())
            }
            Intermediate::Device(memory) => memory.imported.read_object(),
        }
    }

    fn write_object(self) -> BackendResult<()> {
        match self.intermediate {
            Intermediate::Host(staging) => {
                let bytes = std::mem::take(&mut *staging.0.lock());
                self.object.write(bytes)
            }
            Intermediate::Device(memory) => memory.imported.write_object(),
        }
    }
}

impl TransferMemory<Buffer> {
    /// Creates memory of a device, and imports it into OpenGL. Returns `None` if that is not possible.
    fn new(context: &Arc<Context>, device: usize, object: &dyn GraphicsObject, size: u64) -> Option<Self> {
        let backend = context.devices().get(context.memory_owner(device))?.backend();
        let create = || {
            let Some(exported) = backend.export_memory(size)? else { return Ok(None) };
            let imported = object.import(exported.fd, exported.allocated, size)?;
            Ok::<_, BackendError>(Some((exported.memory, imported)))
        };
        let (memory, imported) = create()
            .inspect_err(|error| tracing::debug!("an OpenGL object of {size} bytes is copied through host memory: {error}"))
            .ok()??;
        let store = Store::imported(context, size, vec![device], memory);
        let buffer = Buffer::of_store(MemFlags::READ_WRITE, store, 0, size, None);
        tracing::debug!("an OpenGL object of {size} bytes is copied on the device");
        Some(Self { device, buffer, imported })
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
        let transfers: Vec<_> = copies.iter().map(Copy::transfer).collect();
        let read = move || {
            before.map_or(Ok(()), |before| before())?;
            transfers.into_iter().try_for_each(Transfer::read_object)
        };
        let work = PendingCommand::new(Operation::Host(HostWork(Box::new(read))), Vec::new());
        let mut last = self.submit(api.acquire(), work, wait_list)?;
        for copy in copies {
            let buffer = copy.buffer.clone();
            last = self.submit(api.acquire(), copy.write_buffer(), &[last])?;
            if let Some(graphics) = buffer.store().graphics() {
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
        let mut transfers = Vec::new();
        for copy in &copies {
            let Some(graphics) = copy.buffer.store().graphics() else { continue };
            let is_written = graphics.is_written.swap(false, Ordering::AcqRel);
            graphics.is_acquired.store(false, Ordering::Release);
            if is_written {
                waits = vec![self.submit(api.release(), copy.read_buffer()?, &waits)?];
                transfers.push(copy.transfer());
            }
        }
        let write = move || transfers.into_iter().try_for_each(Transfer::write_object);
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
                let intermediate =
                    self.transfer_memory(buffer.store()).map_or_else(|| Intermediate::Host(Staging::new()), Intermediate::Device);
                copies.push(Copy { buffer: buffer.clone(), graphics: graphics.clone(), intermediate });
            }
        }
        Ok(copies)
    }

    /// Returns the memory through which an object is copied on the queue's device, if OpenGL uses the same device.
    fn transfer_memory(&self, store: &Store) -> Option<Arc<TransferMemory<Buffer>>> {
        let graphics = store.graphics()?;
        let (context, index) = (self.context(), self.device_index());
        if self.device().properties().uuid.is_none_or(|uuid| graphics.object().importing_device() != Some(uuid)) {
            return None;
        }
        let memory =
            graphics.transfer_memory.get_or_init(|| TransferMemory::new(context, index, &**graphics.object(), store.size()).map(Arc::new));
        memory.clone().filter(|memory| context.memory_owner(memory.device) == context.memory_owner(index))
    }
}
