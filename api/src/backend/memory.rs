//! Device memory, and the host memory that transfers read and write.

use std::fmt;
use std::sync::Arc;

/// Host memory that a command reads. Implemented for memory of the application (in the C ABI), pinned and staging
/// memory, and vectors.
pub trait HostSource: Send + Sync + fmt::Debug {
    /// Calls `f` with the bytes. The bytes may change while `f` runs if the application writes them concurrently.
    fn with(&self, f: &mut dyn FnMut(&[u8]));
    /// Returns the device memory that contains the bytes (see `Device::host_region`) and the byte offset in it. Returns
    /// `None` if no device memory contains them.
    fn memory(&self) -> Option<(Arc<dyn Memory>, u64)> {
        None
    }
}

/// Host memory that a command writes: memory of the application, staging memory, or host-visible memory of a device.
pub trait HostTarget: Send + Sync + fmt::Debug {
    /// Calls `f` with the bytes.
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8]));
    /// Returns the device memory that contains the bytes, as [`HostSource::memory`] does.
    fn memory(&self) -> Option<(Arc<dyn Memory>, u64)> {
        None
    }
}

impl HostSource for Vec<u8> {
    fn with(&self, f: &mut dyn FnMut(&[u8])) {
        f(self);
    }
}

/// A region of a transfer between a buffer and the host, or between two buffers. For two buffers, `host` is the offset
/// in the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyRegion {
    /// Byte offset in the (source) buffer.
    pub buffer: u64,
    /// Byte offset in the host's memory, or in the destination buffer.
    pub host: u64,
    /// The number of bytes to copy.
    pub size: u64,
}

/// Device memory. The backend frees the memory when this object is dropped and the commands that use it are complete.
pub trait Memory: Send + Sync + fmt::Debug {
    /// The size in bytes.
    fn size(&self) -> u64;
    /// The host address of this memory if the host can always access it (unified memory), otherwise `None`. This crate
    /// never dereferences the address.
    fn host_address(&self) -> Option<usize>;
    /// The address that kernels use for the first byte. `None` if kernels use the buffer's `Identity` and an offset.
    fn kernel_address(&self) -> Option<u64> {
        None
    }
    /// The implementation, for downcasts by its backend.
    fn as_any(&self) -> &dyn std::any::Any;
}
