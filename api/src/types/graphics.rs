//! The interface to objects of OpenGL and EGL from which memory objects are created ([`crate::objects::graphics`]).

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::backend::BackendResult;

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
    /// The implementation, for downcasts by the C ABI.
    fn as_any(&self) -> &dyn Any;
}

/// The object of OpenGL or EGL that memory was created from, and its state.
#[derive(Debug)]
pub struct Graphics {
    object: Arc<dyn GraphicsObject>,
    pub(crate) is_acquired: AtomicBool,
    /// Whether a command that writes the memory was enqueued after the last acquire.
    pub(crate) is_written: AtomicBool,
}

impl Graphics {
    pub(crate) fn new(object: Arc<dyn GraphicsObject>) -> Self {
        Self { object, is_acquired: AtomicBool::new(false), is_written: AtomicBool::new(false) }
    }

    pub fn object(&self) -> &Arc<dyn GraphicsObject> {
        &self.object
    }

    pub(crate) fn record_write(&self) {
        self.is_written.store(true, Ordering::Release);
    }
}
