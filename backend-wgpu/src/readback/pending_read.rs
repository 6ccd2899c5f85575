//! Reads of up to 2 MiB from memory that the host does not read in place. The read is a copy to staging memory,
//! recorded like any other command. The bytes are delivered when the batch is complete, so enqueuing a read does not
//! wait.

use std::sync::Arc;

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, HostTarget};

use crate::gpu::open_device::Gpu;
use crate::memory::staging_buffer::{Direction, HostBuffer};

/// Size in bytes of a chunk of staging memory, and of the largest read.
pub(crate) const CHUNK: u64 = 1 << 21;
/// Maximum number of chunks. While none has space, reads use the staging ring and wait.
const CHUNKS: usize = 32;

/// A recorded read whose bytes are not delivered yet.
#[derive(Debug)]
pub(crate) struct PendingRead {
    pub(crate) memory: Arc<HostBuffer>,
    /// Offset in the chunk, offset in the target, and size of each region, in bytes.
    pub(crate) pieces: SmallVec<[(u64, u64, u64); 1]>,
    pub(crate) target: Arc<dyn HostTarget>,
}

impl PendingRead {
    /// Copies the bytes to the target.
    pub(crate) fn deliver(&self, gpu: &Gpu) -> BackendResult<()> {
        let mut result = Ok(());
        self.target.with_mut(&mut |bytes| {
            result = self.pieces.iter().try_for_each(|(at, place, size)| {
                let range = *place as usize..(*place + *size) as usize;
                let Some(target) = bytes.get_mut(range) else {
                    return Err(BackendError::Other("internal error: a transfer ends beyond the host memory".to_owned()));
                };
                self.memory.read(gpu, *at, *size, &mut |source| gpu.copy_threads.copy(target, source))
            });
        });
        result
    }
}

/// Staging memory for reads.
#[derive(Default)]
pub(crate) struct ReadbackPool {
    chunks: Vec<Arc<HostBuffer>>,
    current: usize,
    cursor: u64,
}

impl ReadbackPool {
    /// Whether [`ReadbackPool::take`] finds a chunk, or may create one.
    pub(crate) fn has_space(&self, size: u64) -> bool {
        let fits = |chunk: &Arc<HostBuffer>| is_free(chunk) || self.cursor + size <= CHUNK;
        self.chunks.len() < CHUNKS || self.chunks.get(self.current).is_some_and(fits) || self.chunks.iter().any(is_free)
    }

    /// Allocates `size` bytes, at most [`CHUNK`], at a multiple of 8. Fails if the current chunk has no space and all
    /// others are in use. The caller must check [`ReadbackPool::has_space`] first.
    pub(crate) fn take(&mut self, gpu: &Gpu, size: u64) -> BackendResult<(Arc<HostBuffer>, u64)> {
        if let Some(chunk) = self.chunks.get(self.current) {
            if is_free(chunk) {
                self.cursor = 0;
            }
            if self.cursor + size <= CHUNK {
                let at = self.cursor;
                self.cursor = (at + size).next_multiple_of(8);
                return Ok((Arc::clone(chunk), at));
            }
        }
        self.current = match self.chunks.iter().position(is_free) {
            Some(free) => free,
            None if self.chunks.len() < CHUNKS => {
                self.chunks.push(Arc::new(HostBuffer::new(gpu, CHUNK, Direction::Down)?));
                self.chunks.len() - 1
            }
            None => return Err(BackendError::OutOfHostMemory),
        };
        self.cursor = size.next_multiple_of(8);
        self.chunks.get(self.current).map(|chunk| (Arc::clone(chunk), 0)).ok_or(BackendError::OutOfHostMemory)
    }
}

/// Whether no read uses a chunk. Each read holds a reference to its chunk.
fn is_free(chunk: &Arc<HostBuffer>) -> bool {
    Arc::strong_count(chunk) == 1
}
