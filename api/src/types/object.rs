//! What all objects have in common: a place where the C ABI keeps the object's handle, and callbacks for its death.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

use crate::types::callback;
use crate::types::callback::Notify;
use crate::types::lock::{Mutex, Rank};

/// Where the C ABI keeps what it needs to name an object to the application. Dropped with the object: whatever is in
/// it may take the handle out of circulation.
#[derive(Default)]
pub struct HandleSlot(OnceLock<Box<dyn Any + Send + Sync>>);

impl HandleSlot {
    /// The handle, made at the first call. `None` if the slot holds something of another type.
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
    /// The place of its handle.
    fn handle_slot(&self) -> &HandleSlot;

    /// Whom its context tells of errors; `None` for what belongs to no context, and where the application gave no
    /// callback.
    fn listener(&self) -> Option<&Notify> {
        None
    }
}

/// Callbacks to call, last registered first, when an object is gone (clSetMemObjectDestructorCallback and its like).
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
