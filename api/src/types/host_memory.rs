//! Host memory that devices access by import or by copies: CL_MEM_USE_HOST_PTR, SVM, the targets of maps, and memory
//! for transfers between devices.
//!
//! This crate never dereferences an address. The C ABI implements these traits over raw memory.

use std::fmt;
use std::sync::Arc;

use crate::backend::memory::{HostSource, HostTarget};

/// A range of host memory with a constant address.
pub trait HostRegion: Send + Sync + fmt::Debug {
    fn address(&self) -> usize;
    /// Returns a source that reads the `size` bytes from byte `offset` of the region.
    fn source(self: Arc<Self>, offset: u64, size: u64) -> Arc<dyn HostSource>;
    /// Returns a target that writes the `size` bytes from byte `offset` of the region.
    fn target(self: Arc<Self>, offset: u64, size: u64) -> Arc<dyn HostTarget>;
}

/// Allocates host memory for maps, SVM and staging buffers.
pub trait HostAllocator: Send + Sync {
    /// Allocates `size` zeroed bytes, aligned for every type of OpenCL C. Returns `None` if the allocation fails.
    fn allocate(&self, size: u64) -> Option<Arc<dyn HostRegion>>;
    /// Allocates `size` bytes at a multiple of 4 GiB, below 2^48. Returns `None` if the allocation fails, or if the
    /// host has no such addresses.
    fn allocate_shared(&self, size: u64) -> Option<Arc<dyn HostRegion>> {
        let _ = size;
        None
    }
}
