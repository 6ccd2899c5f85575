//! The interface to objects of OpenGL and EGL from which memory objects are created ([`crate::objects::graphics`]).

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use once_cell::sync::OnceCell;

use crate::backend::BackendResult;

/// Whether the system has contexts of OpenGL whose objects can be shared. Those of macOS cannot be used.
pub const HAS_OPENGL: bool = cfg!(not(target_vendor = "apple"));

/// The interface that an object belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphicsApi {
    OpenGl,
    Egl,
}

/// An object of OpenGL or EGL. Its contents have the layout of the memory object that was created from it.
pub trait GraphicsObject: Send + Sync + fmt::Debug {
    fn api(&self) -> GraphicsApi;
    /// Copies the contents of the object to `bytes`.
    ///
    /// # Errors
    /// The errors of OpenGL.
    fn read(&self, bytes: &mut Vec<u8>) -> BackendResult<()>;
    /// Replaces the contents of the object by `bytes`, and waits until other contexts of OpenGL can use them.
    ///
    /// # Errors
    /// The errors of OpenGL.
    fn write(&self, bytes: Vec<u8>) -> BackendResult<()>;
    /// The UUIDs of the device and of the driver of OpenGL, if it can import memory of this device.
    fn importing_device(&self) -> Option<([u8; 16], [u8; 16])>;
    /// Imports `allocated` bytes of memory of this device by an opaque file descriptor, which the callee owns. The
    /// first `size` bytes have the size of the object.
    ///
    /// # Errors
    /// The errors of OpenGL.
    fn import(&self, fd: i32, allocated: u64, size: u64) -> BackendResult<Arc<dyn ImportedMemory>>;
    /// The implementation, for downcasts by the C ABI.
    fn as_any(&self) -> &dyn Any;
}

/// Memory of a device that OpenGL has imported, to copy the contents of one object.
pub trait ImportedMemory: Send + Sync + fmt::Debug {
    /// Copies the contents of the object to the memory, and waits until the device can use them.
    ///
    /// # Errors
    /// The errors of OpenGL.
    fn read_object(&self) -> BackendResult<()>;
    /// Replaces the contents of the object by those of the memory, and waits until other contexts of OpenGL can use
    /// them.
    ///
    /// # Errors
    /// The errors of OpenGL.
    fn write_object(&self) -> BackendResult<()>;
}

/// Memory that both OpenGL and a device of the context access. `B` is the type of buffers.
#[derive(Debug)]
pub(crate) struct TransferMemory<B> {
    /// The index of the device in the context.
    pub(crate) device: usize,
    /// The memory on the device.
    pub(crate) buffer: Arc<B>,
    pub(crate) imported: Arc<dyn ImportedMemory>,
}

/// The object of OpenGL or EGL that memory was created from, and its state. `B` is the type of buffers.
#[derive(Debug)]
pub struct Graphics<B> {
    object: Arc<dyn GraphicsObject>,
    pub(crate) is_acquired: AtomicBool,
    /// Whether a command that writes the memory was enqueued after the last acquire.
    pub(crate) is_written: AtomicBool,
    /// Created by the first acquire on the device of OpenGL. `None` if OpenGL cannot import the memory.
    pub(crate) transfer_memory: OnceCell<Option<Arc<TransferMemory<B>>>>,
}

impl<B> Graphics<B> {
    pub(crate) fn new(object: Arc<dyn GraphicsObject>) -> Self {
        Self { object, is_acquired: AtomicBool::new(false), is_written: AtomicBool::new(false), transfer_memory: OnceCell::new() }
    }

    pub fn object(&self) -> &Arc<dyn GraphicsObject> {
        &self.object
    }

    pub(crate) fn record_write(&self) {
        self.is_written.store(true, Ordering::Release);
    }
}
