//! Host memory that the device reads and writes directly, for maps of buffers that are not host-visible.

use std::sync::Arc;

use wgcl_api::backend::{HostSource, HostTarget, Memory};
use wgcl_api::types::host_memory::HostRegion;

use crate::host::mapping::Mapping;
use crate::memory::device_memory::WgpuMemory;

/// A host region that the device can access.
#[derive(Debug)]
pub(crate) struct Pinned {
    memory: Arc<WgpuMemory>,
    mapping: Mapping,
}

impl Pinned {
    pub(crate) fn new(memory: Arc<WgpuMemory>) -> Option<Self> {
        Some(Self { mapping: memory.mapping()?, memory })
    }
}

impl HostRegion for Pinned {
    fn address(&self) -> usize {
        self.mapping.address()
    }

    fn source(self: Arc<Self>, offset: u64, size: u64) -> Arc<dyn HostSource> {
        Arc::new(PinnedBytes { region: self, offset, size })
    }

    fn target(self: Arc<Self>, offset: u64, size: u64) -> Arc<dyn HostTarget> {
        Arc::new(PinnedBytes { region: self, offset, size })
    }
}

/// A range of the region.
#[derive(Debug)]
struct PinnedBytes {
    region: Arc<Pinned>,
    offset: u64,
    size: u64,
}

impl PinnedBytes {
    fn memory(&self) -> (Arc<dyn Memory>, u64) {
        (Arc::<WgpuMemory>::clone(&self.region.memory), self.offset)
    }

    /// Calls `f` with the bytes. Does not call it if they are not inside the memory.
    fn visit(&self, f: &mut dyn FnMut(&mut [u8])) {
        if self.offset.checked_add(self.size).is_some_and(|end| end <= self.region.memory.size()) {
            // SAFETY: the range is inside the memory, which the region keeps. Mapping and unmapping are commands, so
            // a correct application does not use the bytes while the device does.
            f(unsafe { self.region.mapping.bytes_mut(self.offset, self.size) });
        }
    }
}

impl HostSource for PinnedBytes {
    fn with(&self, f: &mut dyn FnMut(&[u8])) {
        self.visit(&mut |bytes| f(bytes));
    }

    fn memory(&self) -> Option<(Arc<dyn Memory>, u64)> {
        Some(self.memory())
    }
}

impl HostTarget for PinnedBytes {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        self.visit(f);
    }

    fn memory(&self) -> Option<(Arc<dyn Memory>, u64)> {
        Some(self.memory())
    }
}
