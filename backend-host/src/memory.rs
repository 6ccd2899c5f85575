//! Memory of the interpreter's device, and the names by which kernels' pointers know it.

use std::any::Any;
use std::sync::Arc;

use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, BackendResult, Memory};
use wgcl_api::host_commands::HostBytes;
use wgcl_compiler::interpret::ObjectId;
use wgcl_compiler::pointer::identity;

/// Bytes that all objects may take together.
pub(crate) const GLOBAL_MEMORY: u64 = 2 << 30;

/// From here on up to `identity::FIRST_BUFFER` objects are known by the high halves of their addresses in the host.
const FIRST_OF_HOST: u32 = 0x1000;

/// What memory holds that was never written.
const FRESH: u8 = 0xcd;

/// The names of a device's objects, and how much they take. A name is given again once its object is gone.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<Pool>);

#[derive(Debug, Default)]
struct Pool {
    last: u32,
    free: Vec<ObjectId>,
    /// Bytes of all objects.
    used: u64,
}

impl Names {
    /// A name that nothing has.
    pub(crate) fn take(&self) -> Option<ObjectId> {
        let mut pool = self.0.lock();
        pool.free.pop().or_else(|| {
            pool.last += 1;
            if pool.last == FIRST_OF_HOST {
                pool.last = identity::FIRST_BUFFER;
            }
            ObjectId::new(pool.last)
        })
    }

    fn give_back(&self, id: ObjectId, bytes: u64) {
        let mut pool = self.0.lock();
        // Those of the host's memory are the host's.
        if !(FIRST_OF_HOST..identity::FIRST_BUFFER).contains(&id.number()) {
            pool.free.push(id);
        }
        pool.used -= bytes;
    }

    /// Counts the bytes of an object; `false` if that would be more than the device has.
    fn reserve(&self, bytes: u64, limit: u64) -> bool {
        let mut pool = self.0.lock();
        let sum = pool.used.saturating_add(bytes);
        let fits = sum <= limit;
        if fits {
            pool.used = sum;
        }
        fits
    }

    fn release(&self, bytes: u64) {
        self.0.lock().used -= bytes;
    }
}

/// A memory object.
#[derive(Debug)]
pub(crate) struct InterpreterMemory {
    pub(crate) id: ObjectId,
    names: Arc<Names>,
    size: u64,
    /// Empty while a launch has them. Only the device's thread touches them.
    bytes: Mutex<Vec<u8>>,
}

impl InterpreterMemory {
    pub(crate) fn new(names: &Arc<Names>, size: u64) -> BackendResult<Self> {
        Self::fresh(names, size, || names.take())
    }

    /// Of a name that the host gives.
    pub(crate) fn of_host(names: &Arc<Names>, size: u64, identity: u32) -> BackendResult<Self> {
        Self::fresh(names, size, || ObjectId::new(identity).filter(|id| id.number() >= FIRST_OF_HOST))
    }

    fn fresh(names: &Arc<Names>, size: u64, name: impl FnOnce() -> Option<ObjectId>) -> BackendResult<Self> {
        if !names.reserve(size, GLOBAL_MEMORY) {
            return Err(BackendError::OutOfDeviceMemory);
        }
        let made = || {
            let length = usize::try_from(size).ok()?;
            let mut bytes = Vec::new();
            bytes.try_reserve_exact(length).ok()?;
            bytes.resize(length, FRESH);
            Some((bytes, name()?))
        };
        let Some((bytes, id)) = made() else {
            names.release(size);
            return Err(BackendError::OutOfDeviceMemory);
        };
        Ok(Self { id, names: names.clone(), size, bytes: Mutex::new(bytes) })
    }

    /// Of a name that was taken already, and its contents.
    pub(crate) fn named(names: &Arc<Names>, id: ObjectId, bytes: Vec<u8>) -> Self {
        names.reserve(bytes.len() as u64, u64::MAX);
        Self { id, names: names.clone(), size: bytes.len() as u64, bytes: Mutex::new(bytes) }
    }

    /// Takes the contents out, for a launch.
    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes.lock())
    }

    /// Puts the contents back.
    pub(crate) fn put(&self, bytes: Vec<u8>) {
        *self.bytes.lock() = bytes;
    }
}

impl Drop for InterpreterMemory {
    fn drop(&mut self) {
        self.names.give_back(self.id, self.size);
    }
}

impl Memory for InterpreterMemory {
    fn size(&self) -> u64 {
        self.size
    }

    fn host_address(&self) -> Option<usize> {
        None
    }

    fn kernel_address(&self) -> Option<u64> {
        Some(u64::from(self.id.number()) << 32)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl HostBytes for InterpreterMemory {
    fn with_bytes<T>(&self, f: impl FnOnce(&mut [u8]) -> T) -> T {
        f(&mut self.bytes.lock())
    }
}
