//! Memory objects of more than 4 GiB. The tests touch only a few pages, so the system does not need that much memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::ffi::{CL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_MAX_MEM_ALLOC_SIZE};
use super::{info, is_cpu, target};

/// Size in bytes of a buffer that needs 64-bit offsets.
pub const SIZE: usize = (9 << 29) + 4096;

/// Serialises the tests, because the device may not have the memory for two of them.
static MEMORY: Mutex<()> = Mutex::new(());

/// Waits until a test may allocate this number of bytes. Returns `None` if the device does not support an object of
/// this size. Without a configured limit, the CPU device must support the object if the host has 1.5 times as much
/// memory.
///
/// # Panics
/// If the CPU device does not support the object, although the host has that much memory.
pub fn reserve(bytes: usize) -> Option<MutexGuard<'static, ()>> {
    let target = target();
    let size = |name| info::<u64>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret)).unwrap_or(0);
    let (most, memory) = (size(CL_DEVICE_MAX_MEM_ALLOC_SIZE), size(CL_DEVICE_GLOBAL_MEM_SIZE));
    let has = most > bytes as u64;
    assert!(!is_cpu() || has || memory < bytes as u64 * 3 / 2, "{most} of {memory} bytes");
    has.then(alone)
}

/// Waits until no other test has a large memory object.
pub fn alone() -> MutexGuard<'static, ()> {
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}
