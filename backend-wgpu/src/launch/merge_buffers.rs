//! Launches with more buffer arguments than the device has bindings. Some of the buffers are merged into one. Their
//! contents are copied into the merged buffer before the launch and back after it (see `passes::merge_bindings` of
//! the compiler). This is rare and slow.

use std::sync::Arc;

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg, Memory, MemoryRange};
use wgcl_compiler::ir::{KernelParam, Space};
use wgcl_compiler::launch::SplitBindings;
use wgcl_compiler::passes::merge_bindings;

use crate::gpu::open_device::Gpu;
use crate::memory::device_memory::{WgpuMemory, downcast};
use crate::submit::open_batch::OpenBatch;

/// Bindings that a kernel may need besides its arguments: program variables, constants, the printf buffer, scratch
/// memory, the watchdog's word.
pub(crate) const OTHERS: usize = 5;
/// An object has the same offset modulo this in its own buffer and in the merged buffer, which preserves alignment.
const ALIGN: u64 = merge_bindings::LOW + 1;

/// A range of a memory object, and its offset in the merged buffer.
struct Piece {
    memory: Arc<dyn Memory>,
    start: u64,
    end: u64,
    at: u64,
}

/// The merged arguments of a launch.
pub(crate) struct MergedBuffers {
    pieces: Vec<Piece>,
    /// Offset of each argument in the merged buffer, by parameter.
    places: Vec<Option<u32>>,
    /// The first merged parameter. The merged buffer is bound there.
    pub(crate) first: u32,
    size: u64,
}

/// Storage bindings that a kernel may have.
pub(crate) fn bindings(gpu: &Gpu) -> u32 {
    gpu.limits.max_storage_buffers_per_shader_stage.min(gpu.limits.max_bindings_per_bind_group)
}

/// The memory that an argument points to.
pub(crate) fn range(arg: &LaunchArg) -> Option<&MemoryRange> {
    match arg {
        LaunchArg::Buffer(Some(range)) | LaunchArg::Image(range, _) => Some(range),
        _ => None,
    }
}

/// All memory that a launch can access: arguments, and objects that pointers in memory may lead to.
pub(crate) fn ranges(launch: &Launch) -> impl Iterator<Item = &MemoryRange> {
    launch.args.iter().filter_map(range).chain(&launch.extra)
}

/// The parameters to merge: those that do not fit the bindings, and all others on the same memory. Split buffers are
/// too large for the merged buffer. Arguments that share memory with them are not merged either.
pub(crate) fn folded(launch: &Launch, params: &[KernelParam], pieces: &SplitBindings, gpu: &Gpu) -> Vec<u32> {
    let limit = bindings(gpu) as usize;
    let in_pieces: SmallVec<[&MemoryRange; 2]> =
        pieces.params.iter().filter_map(|(index, _)| launch.args.get(*index as usize).and_then(range)).collect();
    let stays = |range: &MemoryRange| in_pieces.iter().any(|other| Arc::ptr_eq(&other.memory, &range.memory));
    let foldable: Vec<(u32, &MemoryRange)> = (0..)
        .zip(params.iter().zip(&launch.args))
        .filter(|(_, (param, _))| matches!(param, KernelParam::Image | KernelParam::Buffer { space: Space::Global, .. }))
        .filter_map(|(index, (_, arg))| range(arg).map(|range| (index, range)))
        .filter(|(_, range)| !stays(range))
        .collect();
    let is_global = |param: &KernelParam| !matches!(param, KernelParam::Buffer { space: Space::Constant, .. });
    let unfolded = (params.iter().zip(&launch.args)).filter(|(param, arg)| is_global(param) && range(arg).is_some_and(stays)).count();
    let constants = params.iter().filter(|param| matches!(param, KernelParam::Buffer { space: Space::Constant, .. })).count();
    let others = OTHERS + launch.extra.len() + unfolded + pieces.added().count();
    if foldable.len() + constants + others <= limit {
        return Vec::new();
    }
    let own = limit.saturating_sub(constants + others + 1);
    let late = foldable.get(own..).unwrap_or_default();
    let shared = |range: &MemoryRange| late.iter().any(|(_, other)| Arc::ptr_eq(&other.memory, &range.memory));
    foldable.iter().filter(|(_, range)| shared(range)).map(|(index, _)| *index).collect()
}

impl MergedBuffers {
    /// Lays out the merged buffer. `None` if nothing is merged.
    pub(crate) fn new(launch: &Launch, folded: &[u32], gpu: &Gpu) -> BackendResult<Option<Self>> {
        let Some(&first) = folded.first() else { return Ok(None) };
        let mut pieces: Vec<Piece> = Vec::new();
        let ranges: SmallVec<[(u32, &MemoryRange); 8]> =
            folded.iter().filter_map(|&index| launch.args.get(index as usize).and_then(range).map(|range| (index, range))).collect();
        for (_, range) in &ranges {
            let (start, end) = (range.offset, range.offset + range.size);
            match pieces.iter_mut().find(|piece| Arc::ptr_eq(&piece.memory, &range.memory)) {
                Some(piece) => (piece.start, piece.end) = (piece.start.min(start), piece.end.max(end)),
                None => pieces.push(Piece { memory: range.memory.clone(), start, end, at: 0 }),
            }
        }
        let mut size = 0;
        for piece in &mut pieces {
            piece.start = piece.start / ALIGN * ALIGN;
            piece.end = piece.end.next_multiple_of(4).min(downcast(&piece.memory)?.allocated & !3);
            piece.at = size;
            size = (size + piece.end - piece.start).next_multiple_of(ALIGN);
        }
        if size > gpu.limits.max_storage_buffer_binding_size.min(gpu.limits.max_buffer_size) {
            return Err(BackendError::OutOfDeviceMemory);
        }
        let mut places = vec![None; launch.args.len()];
        for (index, range) in ranges {
            let piece = pieces.iter().find(|piece| Arc::ptr_eq(&piece.memory, &range.memory));
            if let (Some(piece), Some(place)) = (piece, places.get_mut(index as usize)) {
                *place = u32::try_from(piece.at + range.offset - piece.start).ok();
            }
        }
        Ok(Some(Self { pieces, places, first, size }))
    }

    /// Offset of an argument in the merged buffer.
    pub(crate) fn place(&self, index: usize) -> u32 {
        self.places.get(index).copied().flatten().unwrap_or(0)
    }
}

impl MergedBuffers {
    /// Bytes of the merged buffer.
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// Copies the arguments into the merged buffer.
    pub(crate) fn copy_in(&self, batch: &mut OpenBatch, folded: &WgpuMemory) -> BackendResult<()> {
        self.copy(batch, folded, true)
    }

    /// Copies the merged buffer back.
    pub(crate) fn copy_out(&self, batch: &mut OpenBatch, folded: &WgpuMemory) -> BackendResult<()> {
        self.copy(batch, folded, false)
    }

    fn copy(&self, batch: &mut OpenBatch, folded: &WgpuMemory, into: bool) -> BackendResult<()> {
        folded.mark(batch.serial(), true);
        for piece in &self.pieces {
            let memory = downcast(&piece.memory)?;
            memory.mark(batch.serial(), true);
            let (own, size) = (memory.buffer(), piece.end - piece.start);
            let (own, common) = ((own, piece.start), (folded.buffer(), piece.at));
            let (from, to) = if into { (own, common) } else { (common, own) };
            batch.copy(from, to, size)?;
        }
        Ok(())
    }
}
