//! Launches whose buffer arguments must share a binding. There are more of them than the device has bindings, or they
//! are on the same memory and the device's bindings must not share memory. The compiler addresses them through one
//! binding (see `passes::merge_bindings`). If all of them are on the same memory, the binding is their common range.
//! Otherwise their contents are copied into a merged buffer before the launch and back after it, which is rare and
//! slow.

use std::sync::Arc;

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg, Memory, MemoryRange};
use wgcl_compiler::ir::{KernelParam, Space};
use wgcl_compiler::launch::SplitBindings;
use wgcl_compiler::passes::merge_bindings;

use crate::gpu::open_device::Gpu;
use crate::memory::device_memory::{WgpuMemory, downcast};
use crate::submit::open_batch::OpenBatch;

/// Number of bindings that a kernel may need besides its arguments: program variables, constants, the printf buffer,
/// scratch memory, the failure word.
pub(crate) const OTHER_BINDINGS: usize = 5;
/// The offsets of an object in its own buffer and in the merged buffer are equal modulo this number of bytes, which
/// preserves alignment.
const ALIGN: u64 = merge_bindings::LOW + 1;

/// A range of a memory object, and its offset in the merged buffer.
pub(crate) struct MergedRange {
    pub(crate) memory: Arc<dyn Memory>,
    pub(crate) start: u64,
    pub(crate) end: u64,
    at: u64,
}

/// The merged arguments of a launch.
pub(crate) struct MergedBuffers {
    parts: Vec<MergedRange>,
    /// Offset of each argument in the merged buffer, by parameter. `None` for arguments that are not merged.
    offsets: Vec<Option<u32>>,
    /// The first merged parameter. The merged buffer is bound for this parameter.
    pub(crate) first: u32,
    size: u64,
}

/// Returns the maximum number of storage bindings of a kernel.
pub(crate) fn bindings(gpu: &Gpu) -> u32 {
    gpu.limits.max_storage_buffers_per_shader_stage.min(gpu.limits.max_bindings_per_bind_group)
}

/// Returns the memory that an argument points to, or `None` for null pointers and other arguments.
pub(crate) fn range(arg: &LaunchArg) -> Option<&MemoryRange> {
    match arg {
        LaunchArg::Buffer(Some(range)) | LaunchArg::Image(range, _) => Some(range),
        _ => None,
    }
}

/// Returns the memory of all objects that a launch can access: arguments, and objects that pointers in memory may refer
/// to.
pub(crate) fn ranges(launch: &Launch) -> impl Iterator<Item = &MemoryRange> {
    launch.args.iter().filter_map(range).chain(&launch.extra)
}

/// Returns the indices of the parameters to merge: those that exceed the number of bindings, and all others on the
/// same memory. Split buffers are too large for the merged buffer. Arguments that share memory with a split buffer are
/// not merged either.
pub(crate) fn merged_params(launch: &Launch, params: &[KernelParam], split: &SplitBindings, gpu: &Gpu) -> Vec<u32> {
    let limit = bindings(gpu) as usize;
    let split_ranges: SmallVec<[&MemoryRange; 2]> =
        split.params.iter().filter_map(|(index, _)| launch.args.get(*index as usize).and_then(range)).collect();
    let is_split = |range: &MemoryRange| split_ranges.iter().any(|other| Arc::ptr_eq(&other.memory, &range.memory));
    let mergeable: Vec<(u32, &MemoryRange)> = (0..)
        .zip(params.iter().zip(&launch.args))
        .filter(|(_, (param, _))| matches!(param, KernelParam::Image | KernelParam::Buffer { space: Space::Global, .. }))
        .filter_map(|(index, (_, arg))| range(arg).map(|range| (index, range)))
        .filter(|(_, range)| !is_split(range))
        .collect();
    let is_global = |param: &KernelParam| !matches!(param, KernelParam::Buffer { space: Space::Constant, .. });
    let unmerged = (params.iter().zip(&launch.args)).filter(|(param, arg)| is_global(param) && range(arg).is_some_and(is_split)).count();
    let constants = params.iter().filter(|param| matches!(param, KernelParam::Buffer { space: Space::Constant, .. })).count();
    let others = OTHER_BINDINGS + launch.extra.len() + unmerged + split.added().count();
    let overlapping = if gpu.capabilities.distinct_bindings { overlapping(&mergeable, params) } else { Vec::new() };
    let late = if mergeable.len() + constants + others <= limit {
        &[]
    } else {
        mergeable.get(limit.saturating_sub(constants + others + 1)..).unwrap_or_default()
    };
    let shared = |range: &MemoryRange| late.iter().any(|(_, other)| Arc::ptr_eq(&other.memory, &range.memory));
    mergeable.iter().filter(|(index, range)| overlapping.contains(index) || shared(range)).map(|(index, _)| *index).collect()
}

/// Returns whether all merged arguments are on one memory object.
pub(crate) fn is_in_place(launch: &Launch, merged: &[u32]) -> bool {
    let mut ranges = merged.iter().filter_map(|&index| launch.args.get(index as usize).and_then(range));
    ranges.next().is_some_and(|first| ranges.all(|other| Arc::ptr_eq(&first.memory, &other.memory)))
}

/// Returns the arguments whose memory overlaps that of another argument, if the kernel may write one of them.
fn overlapping(arguments: &[(u32, &MemoryRange)], params: &[KernelParam]) -> Vec<u32> {
    let is_only_read = |index: u32| matches!(params.get(index as usize), Some(KernelParam::Buffer { read_only: true, .. }));
    let overlap = |a: &MemoryRange, b: &MemoryRange| {
        Arc::ptr_eq(&a.memory, &b.memory) && a.offset < b.offset.saturating_add(b.size) && b.offset < a.offset.saturating_add(a.size)
    };
    let conflicts = |(index, range): &(u32, &MemoryRange)| {
        arguments.iter().any(|(other, second)| other != index && overlap(range, second) && !(is_only_read(*index) && is_only_read(*other)))
    };
    arguments.iter().filter(|argument| conflicts(argument)).map(|(index, _)| *index).collect()
}

impl MergedBuffers {
    /// Lays out the merged buffer. Returns `None` if no parameter is merged.
    pub(crate) fn new(launch: &Launch, merged: &[u32], gpu: &Gpu) -> BackendResult<Option<Self>> {
        let Some(&first) = merged.first() else { return Ok(None) };
        let mut parts: Vec<MergedRange> = Vec::new();
        let ranges: SmallVec<[(u32, &MemoryRange); 8]> =
            merged.iter().filter_map(|&index| launch.args.get(index as usize).and_then(range).map(|range| (index, range))).collect();
        for (_, range) in &ranges {
            let (start, end) = (range.offset, range.offset + range.size);
            match parts.iter_mut().find(|part| Arc::ptr_eq(&part.memory, &range.memory)) {
                Some(part) => (part.start, part.end) = (part.start.min(start), part.end.max(end)),
                None => parts.push(MergedRange { memory: range.memory.clone(), start, end, at: 0 }),
            }
        }
        let mut size = 0;
        for part in &mut parts {
            part.start = part.start / ALIGN * ALIGN;
            part.end = part.end.next_multiple_of(4).min(downcast(&part.memory)?.allocated & !3);
            part.at = size;
            size = (size + part.end - part.start).next_multiple_of(ALIGN);
        }
        if size > gpu.limits.max_storage_buffer_binding_size.min(gpu.limits.max_buffer_size) {
            return Err(BackendError::OutOfDeviceMemory);
        }
        let mut offsets = vec![None; launch.args.len()];
        for (index, range) in ranges {
            let part = parts.iter().find(|part| Arc::ptr_eq(&part.memory, &range.memory));
            if let (Some(part), Some(offset)) = (part, offsets.get_mut(index as usize)) {
                *offset = u32::try_from(part.at + range.offset - part.start).ok();
            }
        }
        Ok(Some(Self { parts, offsets, first, size }))
    }

    /// Returns the range to bind, if all arguments are on the same memory. Nothing is copied then.
    pub(crate) fn common_range(&self) -> Option<&MergedRange> {
        match &self.parts[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns the offset of an argument in the merged buffer. Fails if the argument is not merged.
    pub(crate) fn offset(&self, index: usize) -> BackendResult<u32> {
        let offset = self.offsets.get(index).copied().flatten();
        offset.ok_or_else(|| BackendError::Other(format!("internal error: argument {index} is not in the merged buffer")))
    }
}

impl MergedBuffers {
    /// Returns the size of the merged buffer in bytes.
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// Copies the arguments into the merged buffer.
    pub(crate) fn copy_in(&self, batch: &mut OpenBatch, merged: &WgpuMemory) -> BackendResult<()> {
        self.copy(batch, merged, true)
    }

    /// Copies the contents of the merged buffer back to the arguments.
    pub(crate) fn copy_out(&self, batch: &mut OpenBatch, merged: &WgpuMemory) -> BackendResult<()> {
        self.copy(batch, merged, false)
    }

    fn copy(&self, batch: &mut OpenBatch, merged: &WgpuMemory, into: bool) -> BackendResult<()> {
        merged.record_use(batch.serial(), true);
        for part in &self.parts {
            let memory = downcast(&part.memory)?;
            memory.record_use(batch.serial(), true);
            let (original, size) = (memory.buffer(), part.end - part.start);
            let (original, common) = ((original, part.start), (merged.buffer(), part.at));
            let (from, to) = if into { (original, common) } else { (common, original) };
            batch.copy(from, to, size)?;
        }
        Ok(())
    }
}
