//! Ring buffers for staging memory and arguments.
//!
//! A ring consists of a few segments. Batches allocate slots of a segment from front to back. The segment is reused
//! once the last batch that uses it is complete.

use std::sync::Arc;

use wgcl_api::backend::BackendResult;

use crate::gpu::open_device::Gpu;
use crate::memory::staging_buffer::{Direction, HostBuffer};

#[derive(Debug)]
struct Segment {
    memory: Arc<HostBuffer>,
    /// Serial number of the last batch that uses the segment. It is `u64::MAX` while the segment is held
    /// ([`Ring::hold`]).
    last_use: u64,
}

#[derive(Debug)]
pub(crate) struct Ring {
    direction: Direction,
    /// Size of a segment in bytes, and maximum size of a slot.
    segment_size: u64,
    max_segments: usize,
    segments: Vec<Segment>,
    current: usize,
    cursor: u64,
    /// Incremented whenever slots may be reused.
    generation: u64,
}

/// A part of a segment.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) memory: Arc<HostBuffer>,
    pub(crate) offset: u64,
}

#[derive(Debug)]
pub(crate) enum Allocation {
    Slot(Slot),
    /// All segments are in use. A segment is free once the batch with this serial number is complete. The number is
    /// `u64::MAX` if all segments are held.
    WaitFor(u64),
}

impl Ring {
    pub(crate) const fn new(direction: Direction, segment_size: u64, max_segments: usize) -> Self {
        Self { direction, segment_size, max_segments, segments: Vec::new(), current: 0, cursor: 0, generation: 0 }
    }

    pub(crate) const fn segment_size(&self) -> u64 {
        self.segment_size
    }

    pub(crate) const fn generation(&self) -> u64 {
        self.generation
    }

    /// Records that batch `serial` also uses a slot, which was allocated for an earlier batch.
    pub(crate) fn touch(&mut self, slot: &Slot, serial: u64) {
        if let Some(segment) = self.segments.iter_mut().find(|segment| segment.memory.id == slot.memory.id) {
            segment.last_use = segment.last_use.max(serial);
        }
    }

    /// Prevents the reuse of a slot's segment until [`Ring::release`], because the host has not read the slot yet.
    pub(crate) fn hold(&mut self, slot: &Slot) {
        self.touch(slot, u64::MAX);
    }

    /// Releases the held segment of a slot, or all held segments, for reuse after batch `serial`.
    pub(crate) fn release(&mut self, slot: Option<&Slot>, serial: u64) {
        for segment in &mut self.segments {
            if segment.last_use == u64::MAX && slot.is_none_or(|slot| slot.memory.id == segment.memory.id) {
                segment.last_use = serial;
            }
        }
    }

    /// Allocates a slot for batch `serial`. The batches up to `completed` are complete. `size` must be at most the size
    /// of a segment.
    pub(crate) fn take(&mut self, gpu: &Gpu, size: u64, align: u64, serial: u64, completed: u64) -> BackendResult<Allocation> {
        if let Some(segment) = self.segments.get_mut(self.current) {
            if segment.last_use <= completed && self.cursor > 0 {
                self.cursor = 0;
                self.generation += 1;
            }
            let offset = self.cursor.next_multiple_of(align);
            if offset + size <= self.segment_size {
                self.cursor = offset + size;
                segment.last_use = serial;
                return Ok(Allocation::Slot(Slot { memory: Arc::clone(&segment.memory), offset }));
            }
        }
        let free = self.segments.iter().position(|segment| segment.last_use <= completed);
        let next = match free {
            Some(next) => next,
            None if self.segments.len() < self.max_segments => {
                let memory = Arc::new(HostBuffer::new(gpu, self.segment_size, self.direction)?);
                self.segments.push(Segment { memory, last_use: 0 });
                self.segments.len() - 1
            }
            None => return Ok(Allocation::WaitFor(self.segments.iter().map(|segment| segment.last_use).min().unwrap_or(0))),
        };
        self.current = next;
        self.generation += 1;
        self.cursor = size;
        let segment = &mut self.segments[next];
        segment.last_use = serial;
        Ok(Allocation::Slot(Slot { memory: Arc::clone(&segment.memory), offset: 0 }))
    }
}
