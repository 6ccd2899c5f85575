//! Memory objects, and the ids that identify them in kernel pointers.

use std::any::Any;
use std::sync::Arc;

use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, BackendResult, Memory};
use wgcl_api::host_commands::HostBytes;
use wgcl_compiler::interpret::ObjectId;
use wgcl_compiler::pointer::identity;

/// Size of the device's memory in bytes.
pub(crate) const GLOBAL_MEMORY: u64 = 2 << 30;

/// The first id of shared virtual memory. Ids from this one up to `identity::FIRST_BUFFER` (exclusive) are the high 32
/// bits of host addresses.
const FIRST_OF_HOST: u32 = 0x1000;

/// The value of uninitialised bytes.
const UNINITIALIZED: u8 = 0xcd;

/// Allocates object ids, and counts the bytes of the device's objects. Reuses an id that it has allocated itself after
/// the object with this id is dropped.
#[derive(Debug, Default)]
pub(crate) struct ObjectIds(Mutex<Pool>);

#[derive(Debug, Default)]
struct Pool {
    last: u32,
    free: Vec<ObjectId>,
    /// Number of bytes of all objects.
    used: u64,
}

impl ObjectIds {
    /// Allocates an unused id. Returns `None` if all ids are in use.
    pub(crate) fn allocate(&self) -> Option<ObjectId> {
        let mut pool = self.0.lock();
        pool.free.pop().or_else(|| {
            pool.last += 1;
            if pool.last == FIRST_OF_HOST {
                pool.last = identity::FIRST_BUFFER;
            }
            ObjectId::new(pool.last)
        })
    }

    fn free(&self, id: ObjectId, bytes: u64) {
        let mut pool = self.0.lock();
        // Ids of shared virtual memory are not reused here, because the API allocates them.
        if !(FIRST_OF_HOST..identity::FIRST_BUFFER).contains(&id.number()) {
            pool.free.push(id);
        }
        pool.used -= bytes;
    }

    /// Reserves bytes. Returns false, and reserves nothing, if all objects would then have more than `limit` bytes.
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
    ids: Arc<ObjectIds>,
    size: u64,
    /// Empty while a launch uses the object. Only the device's thread accesses it.
    bytes: Mutex<Vec<u8>>,
}

impl InterpreterMemory {
    pub(crate) fn new(ids: &Arc<ObjectIds>, size: u64) -> BackendResult<Self> {
        Self::create(ids, size, || ids.allocate())
    }

    /// Creates shared virtual memory with an id that the API has allocated.
    pub(crate) fn of_host(ids: &Arc<ObjectIds>, size: u64, identity: u32) -> BackendResult<Self> {
        Self::create(ids, size, || ObjectId::new(identity).filter(|id| id.number() >= FIRST_OF_HOST))
    }

    fn create(ids: &Arc<ObjectIds>, size: u64, allocate_id: impl FnOnce() -> Option<ObjectId>) -> BackendResult<Self> {
        if !ids.reserve(size, GLOBAL_MEMORY) {
            return Err(BackendError::OutOfDeviceMemory);
        }
        let allocate = || {
            let length = usize::try_from(size).ok()?;
            let mut bytes = Vec::new();
            bytes.try_reserve_exact(length).ok()?;
            bytes.resize(length, UNINITIALIZED);
            Some((bytes, allocate_id()?))
        };
        let Some((bytes, id)) = allocate() else {
            ids.release(size);
            return Err(BackendError::OutOfDeviceMemory);
        };
        Ok(Self { id, ids: ids.clone(), size, bytes: Mutex::new(bytes) })
    }

    /// Creates an object with an id from [`ObjectIds::allocate`] and these contents. The memory limit does not apply.
    pub(crate) fn with_id(ids: &Arc<ObjectIds>, id: ObjectId, bytes: Vec<u8>) -> Self {
        ids.reserve(bytes.len() as u64, u64::MAX);
        Self { id, ids: ids.clone(), size: bytes.len() as u64, bytes: Mutex::new(bytes) }
    }

    /// Moves the contents to a launch.
    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes.lock())
    }

    /// Moves the contents back from a launch.
    pub(crate) fn put(&self, bytes: Vec<u8>) {
        *self.bytes.lock() = bytes;
    }
}

impl Drop for InterpreterMemory {
    fn drop(&mut self) {
        self.ids.free(self.id, self.size);
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
    type Threads = ();

    fn with_bytes<T>(&self, f: impl FnOnce(&mut [u8]) -> T) -> T {
        f(&mut self.bytes.lock())
    }
}
