//! A mapped region of a memory object.

use std::ops::Range;
use std::sync::Arc;

use crate::backend::CopyRegion;
use crate::types::host_memory::HostRegion;

/// The memory through which the host accesses a mapped region.
#[derive(Clone, Debug)]
pub(crate) enum MapBacking {
    /// The host accesses the memory of the device that has this index in the context.
    Device(usize),
    /// The host accesses a copy of the contents.
    Region(Arc<dyn HostRegion>),
}

/// An active map.
#[derive(Clone, Debug)]
pub(crate) struct MapRecord {
    /// The identity of the mapped object.
    pub owner: usize,
    /// The address that the application received.
    pub address: usize,
    /// The byte range in the object's `Store` (its memory), from the first to the last mapped byte.
    pub span: Range<u64>,
    /// The mapped bytes in the span, in order: `buffer` is relative to the `Store`, `host` to the span.
    pub pieces: Vec<CopyRegion>,
    /// Whether the map permits writes.
    pub write: bool,
    pub backing: MapBacking,
}

impl MapRecord {
    /// Whether all bytes of the span are mapped.
    pub(crate) fn is_dense(&self) -> bool {
        self.pieces.len() == 1
    }
}
