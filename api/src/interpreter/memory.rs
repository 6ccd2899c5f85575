//! Memory of the interpreter's device, and the names by which kernels' pointers know it.

use std::any::Any;
use std::sync::Arc;

use parking_lot::Mutex;
use wgcl_compiler::interpret::ObjectId;

use crate::backend::{BackendError, BackendResult, Memory};

/// What memory holds that was never written.
const FRESH: u8 = 0xcd;

/// The names of a device's objects. A name is given again once its object is gone.
#[derive(Debug, Default)]
pub(super) struct Names(Mutex<Pool>);

#[derive(Debug, Default)]
struct Pool {
    last: u32,
    free: Vec<ObjectId>,
}

impl Names {
    /// A name that nothing has.
    pub(super) fn take(&self) -> Option<ObjectId> {
        let mut pool = self.0.lock();
        pool.free.pop().or_else(|| {
            pool.last += 1;
            ObjectId::new(pool.last)
        })
    }

    fn give_back(&self, id: ObjectId) {
        self.0.lock().free.push(id);
    }
}

/// A memory object.
#[derive(Debug)]
pub(super) struct InterpreterMemory {
    pub(super) id: ObjectId,
    names: Arc<Names>,
    size: u64,
    /// Empty while a launch has them. Only the device's thread touches them.
    bytes: Mutex<Vec<u8>>,
}

impl InterpreterMemory {
    pub(super) fn new(names: &Arc<Names>, size: u64) -> BackendResult<Self> {
        let length = usize::try_from(size).map_err(|_| BackendError::OutOfDeviceMemory)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| BackendError::OutOfDeviceMemory)?;
        bytes.resize(length, FRESH);
        let id = names.take().ok_or(BackendError::OutOfDeviceMemory)?;
        Ok(Self { id, names: names.clone(), size, bytes: Mutex::new(bytes) })
    }

    /// Of a name that was taken already, and its contents.
    pub(super) fn named(names: &Arc<Names>, id: ObjectId, bytes: Vec<u8>) -> Self {
        Self { id, names: names.clone(), size: bytes.len() as u64, bytes: Mutex::new(bytes) }
    }

    /// Takes the contents out, for a launch.
    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes.lock())
    }

    /// Puts the contents back.
    pub(super) fn put(&self, bytes: Vec<u8>) {
        *self.bytes.lock() = bytes;
    }

    /// Hands the contents to `f`.
    pub(super) fn with<T>(&self, f: impl FnOnce(&mut [u8]) -> T) -> T {
        f(&mut self.bytes.lock())
    }
}

impl Drop for InterpreterMemory {
    fn drop(&mut self) {
        self.names.give_back(self.id);
    }
}

impl Memory for InterpreterMemory {
    fn size(&self) -> u64 {
        self.size
    }

    fn host_address(&self) -> Option<usize> {
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Our implementation of a memory object.
pub(super) fn downcast(memory: &Arc<dyn Memory>) -> BackendResult<&InterpreterMemory> {
    memory.as_any().downcast_ref().ok_or_else(|| BackendError::Other("memory of another backend".to_owned()))
}
