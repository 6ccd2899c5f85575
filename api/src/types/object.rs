//! The common parts of all objects: a slot for the object's handle, which the C ABI fills, and destructor callbacks.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

use crate::types::callback;
use crate::types::callback::Notify;
use crate::types::lock::{Mutex, Rank};

/// The slot in which the C ABI stores the object's handle. The slot is dropped with the object. The drop of the slot's
/// contents may then release the handle.
#[derive(Default)]
pub struct HandleSlot(OnceLock<Box<dyn Any + Send + Sync>>);

impl HandleSlot {
    /// Returns the handle, which the first call creates. Returns `None` if the slot contains a value of another type.
    pub fn get_or_init<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.0.get_or_init(|| Box::new(make())).downcast_ref()
    }
}

impl fmt::Debug for HandleSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "HandleSlot(set)" } else { "HandleSlot" })
    }
}

/// An object of the API.
pub trait Object: Any + Send + Sync {
    /// The slot of the object's handle.
    fn handle_slot(&self) -> &HandleSlot;

    /// The error callback of the object's context. `None` for objects without a context, and if the application passed
    /// no callback.
    fn listener(&self) -> Option<&Notify> {
        None
    }
}

/// Destructor callbacks of an object, called in reverse order of registration (clSetMemObjectDestructorCallback).
pub struct Destructors(Mutex<Vec<callback::Job>>);

impl Default for Destructors {
    fn default() -> Self {
        Self(Mutex::new(Rank::Callbacks, Vec::new()))
    }
}

impl Destructors {
    /// Registers a callback.
    pub fn push(&self, job: callback::Job) {
        self.0.lock().push(job);
    }

    /// Whether there is no callback.
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

impl Drop for Destructors {
    fn drop(&mut self) {
        for job in self.0.get_mut().drain(..).rev() {
            callback::schedule(job);
        }
    }
}

impl fmt::Debug for Destructors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Destructors")
    }
}
