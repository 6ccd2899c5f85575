//! The arguments of launches, in a ring of memory: where the device reads them.

use smallvec::SmallVec;
use wgcl_api::backend::BackendResult;

use crate::gpu::open_device::Gpu;
use crate::memory::staging_buffer::Direction;
use crate::memory::staging_ring::{Allocation, Ring, Slot};

/// Bytes of arguments a segment of the ring holds.
const SEGMENT: u64 = 1 << 18;
/// Segments at most.
const MAX_SEGMENTS: usize = 64;

/// The contents of an argument buffer.
pub(crate) type ArgumentBytes = SmallVec<[u8; 256]>;

/// The arguments that were placed last: a kernel that is launched again and again mostly gets the same ones.
struct Last {
    bytes: ArgumentBytes,
    slot: Slot,
    /// The ring's generation then.
    generation: u64,
}

/// The ring, and what was put there last.
pub(crate) struct Arguments {
    ring: Ring,
    last: Option<Last>,
}

impl Default for Arguments {
    fn default() -> Self {
        Self { ring: Ring::new(Direction::Arguments, SEGMENT, MAX_SEGMENTS), last: None }
    }
}

impl Arguments {
    /// Where the last arguments are, if they are these; the batch `serial` then uses them too.
    pub(crate) fn find(&mut self, bytes: &ArgumentBytes, serial: u64) -> Option<Slot> {
        let last = self.last.as_ref().filter(|last| last.generation == self.ring.generation() && last.bytes == *bytes)?;
        self.ring.touch(&last.slot, serial);
        Some(last.slot.clone())
    }

    /// Allocation for so many bytes, as [`Ring::take`].
    pub(crate) fn take(&mut self, gpu: &Gpu, size: u64, align: u64, serial: u64, completed: u64) -> BackendResult<Allocation> {
        self.ring.take(gpu, size, align, serial, completed)
    }

    /// Notes what was put into a slot.
    pub(crate) fn set_last(&mut self, bytes: ArgumentBytes, slot: &Slot) {
        self.last = Some(Last { bytes, slot: slot.clone(), generation: self.ring.generation() });
    }
}
