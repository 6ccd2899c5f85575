//! The buffers that a launch binds, and the contents of its argument buffer.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg, MemoryRange};
use wgcl_compiler::binding::{ArgLayout, hidden};
use wgcl_compiler::emit::{Binding, BindingKind, BindingSource};
use wgcl_compiler::ir::{KernelParam, Space};
use wgcl_compiler::launch::SplitBindings;

use crate::buffer::Buffer;
use crate::gpu::compute_pipeline::BindGroup;
use crate::launch::kernel::Kernel;
use crate::launch::merge_buffers::{self, MergedBuffers, MergedRange};
use crate::launch::ndrange::GroupSpan;
use crate::launch::program::WgpuProgram;
use crate::launch::split_bindings::{self, Window};
use crate::memory::argument_ring::ArgumentBytes;
use crate::memory::device_memory::{WgpuMemory, downcast};
use crate::memory::ring::Slot;

/// Maximum number of cached bind groups. A full cache drops all of them.
const MAX_BIND_GROUPS: usize = 1024;
/// The largest element of a buffer view, in bytes. The sizes of storage bindings are rounded up to a multiple of it, if
/// the buffer is large enough.
pub(crate) const LARGEST_VIEW_ELEMENT: u64 = 16;

/// The range of each binding.
pub(crate) type Ranges = SmallVec<[BoundRange; 8]>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BoundRange {
    /// ID of the memory object or of the ring segment.
    pub(crate) id: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// A launch with its program and kernel.
#[derive(Clone, Copy)]
pub(crate) struct LaunchTarget<'a> {
    pub(crate) launch: &'a Launch,
    pub(crate) program: &'a WgpuProgram,
    pub(crate) kernel: &'a Kernel,
}

/// Bind groups by pipeline and bound ranges.
#[derive(Default)]
pub(crate) struct BindGroups {
    groups: FxHashMap<(u64, Ranges), BindGroup>,
}

impl BindGroups {
    /// Returns the bind group of a key. `make` creates it if it is not cached.
    pub(crate) fn get(&mut self, key: (u64, Ranges), make: impl FnOnce() -> BackendResult<BindGroup>) -> BackendResult<BindGroup> {
        if let Some(group) = self.groups.get(&key) {
            return Ok(group.clone());
        }
        let group = make()?;
        if self.groups.len() >= MAX_BIND_GROUPS {
            self.groups.clear();
        }
        self.groups.insert(key, group.clone());
        Ok(group)
    }

    /// Drops the bind groups of a freed buffer.
    pub(crate) fn forget(&mut self, id: u64) {
        self.groups.retain(|(_, ranges), _| ranges.iter().all(|range| range.id != id));
    }
}

/// Buffers of the engine that kernels may bind. A launch leaves those that it does not use at `None`.
pub(crate) struct InternalMemory<'a> {
    pub(crate) printf: Option<&'a Arc<WgpuMemory>>,
    pub(crate) failure_word: Option<&'a Arc<WgpuMemory>>,
    pub(crate) scratch: Option<&'a Arc<WgpuMemory>>,
    /// The parameter at which the memory of merged arguments is bound, and this memory.
    pub(crate) merged: Option<(u32, MergedMemory<'a>)>,
    /// The buffers that are bound for null pointers, as uniform and as storage.
    pub(crate) nulls: [Option<&'a Arc<WgpuMemory>>; 2],
}

/// The memory of merged arguments.
#[derive(Clone, Copy)]
pub(crate) enum MergedMemory<'a> {
    /// A buffer with copies of their contents.
    Copied(&'a Arc<WgpuMemory>),
    /// A range of the memory on which all of them are.
    InPlace(&'a MergedRange),
}

/// Every device supports storage bindings of this size.
const ALWAYS_BINDABLE: u64 = 1 << 27;

/// The buffer for one binding.
pub(crate) struct BoundBuffer<'a> {
    pub(crate) buffer: &'a Buffer,
    /// `None` for a slot of a ring, and for a failure word that the host reads in place.
    pub(crate) memory: Option<&'a WgpuMemory>,
    pub(crate) writes: bool,
    pub(crate) range: BoundRange,
}

/// The buffers that a dispatch may bind.
pub(crate) struct BindContext<'a> {
    pub(crate) target: LaunchTarget<'a>,
    pub(crate) internal: InternalMemory<'a>,
    pub(crate) arguments: Option<&'a Slot>,
    pub(crate) layout: &'a ArgLayout,
    pub(crate) split: &'a SplitBindings,
}

/// Finds the buffer for a binding.
pub(crate) fn bind<'a>(context: &BindContext<'a>, binding: &Binding) -> BackendResult<BoundBuffer<'a>> {
    let BindContext { target: LaunchTarget { launch, program, kernel }, internal, arguments, layout, split } = context;
    let missing = |what: &str| BackendError::Other(format!("internal error: the launch binds a {what} that does not exist"));
    let whole = |memory: &'a Arc<WgpuMemory>| match binding.kind {
        BindingKind::Uniform { size } => BoundBuffer {
            buffer: memory.buffer(),
            memory: Some(memory),
            writes: false,
            range: BoundRange { id: memory.id, offset: 0, size: u64::from(size) },
        },
        BindingKind::Storage => BoundBuffer {
            buffer: memory.buffer(),
            memory: Some(memory),
            writes: true,
            range: BoundRange { id: memory.id, offset: 0, size: memory.allocated },
        },
    };
    match binding.source {
        BindingSource::Arguments => {
            let slot = arguments.ok_or_else(|| missing("argument buffer"))?;
            let size = u64::from(layout.size.max(ArgLayout::HEADER));
            Ok(BoundBuffer {
                buffer: &slot.memory.buffer,
                memory: None,
                writes: false,
                range: BoundRange { id: slot.memory.id, offset: 0, size },
            })
        }
        BindingSource::Param(index) => {
            let (index, window) = split_bindings::window(split, launch, index);
            match internal.merged {
                Some((first, MergedMemory::Copied(memory))) if first == index => return Ok(whole(memory)),
                Some((first, MergedMemory::InPlace(MergedRange { memory, start, end, .. }))) if first == index => {
                    let memory = downcast(memory)?;
                    let range = BoundRange { id: memory.id, offset: *start, size: end - start };
                    return Ok(BoundBuffer { buffer: memory.buffer(), memory: Some(memory), writes: true, range });
                }
                _ => {}
            }
            match (launch.args.get(index as usize), bound_range(launch, index)) {
                (_, Some(range)) => bind_range(range, window, binding.kind, !is_only_read(kernel, index)),
                (Some(LaunchArg::Buffer(None)), None) => {
                    internal.nulls[usize::from(binding.kind == BindingKind::Storage)].map(whole).ok_or_else(|| missing("null buffer"))
                }
                _ => Err(missing("buffer")),
            }
        }
        BindingSource::ConstantData => program.constants.as_ref().map(whole).ok_or_else(|| missing("constant data buffer")),
        BindingSource::GlobalVariables => program.variables.as_ref().map(whole).ok_or_else(|| missing("program-scope variable buffer")),
        BindingSource::Scratch { .. } => internal.scratch.map(whole).ok_or_else(|| missing("scratch buffer")),
        // If the host reads the word in place, launches only set it, and need no barrier between them. Otherwise each
        // launch clears and copies the word, which needs barriers.
        BindingSource::Failures => {
            let memory = internal.failure_word.ok_or_else(|| missing("failure word"))?;
            let bound = whole(memory);
            Ok(if memory.mapping().is_some() { BoundBuffer { memory: None, writes: false, ..bound } } else { bound })
        }
        BindingSource::Printf => internal.printf.map(whole).ok_or_else(|| missing("printf buffer")),
    }
}

/// Memory that a pipeline accesses by address.
pub(crate) struct AddressedMemory<'a> {
    /// Index of the parameter, or of memory that only pointers in memory refer to (see [`bound_range`]).
    pub(crate) index: u32,
    pub(crate) memory: &'a WgpuMemory,
    pub(crate) writes: bool,
}

/// Returns the memory that a pipeline accesses by address.
pub(crate) fn addressed<'a>(target: LaunchTarget<'a>, layout: &ArgLayout) -> BackendResult<SmallVec<[AddressedMemory<'a>; 8]>> {
    let LaunchTarget { launch, kernel, .. } = target;
    let mut found = SmallVec::new();
    for (index, _) in (0..).zip(&layout.addresses).filter(|(_, offset)| offset.is_some()) {
        if let Some(range) = bound_range(launch, index) {
            found.push(AddressedMemory { index, memory: downcast(&range.memory)?, writes: !is_only_read(kernel, index) });
        }
    }
    Ok(found)
}

/// Whether the kernel only reads the memory of a parameter.
fn is_only_read(kernel: &Kernel, index: u32) -> bool {
    matches!(
        kernel.params().get(index as usize),
        Some(KernelParam::Buffer { read_only: true, .. } | KernelParam::Buffer { space: Space::Constant, .. })
    )
}

/// Returns the memory bound for a parameter, or `None` for a null pointer or an argument that is not memory. The
/// indices after the kernel's parameters denote memory that only pointers in memory refer to.
pub(crate) fn bound_range(launch: &Launch, index: u32) -> Option<&MemoryRange> {
    let index = index as usize;
    match launch.args.get(index) {
        Some(arg) => merge_buffers::range(arg),
        None => launch.extra.get(index - launch.args.len()),
    }
}

/// Binds the memory of a parameter, or the range of it that `window` selects.
fn bind_range(range: &MemoryRange, window: Window, kind: BindingKind, writes: bool) -> BackendResult<BoundBuffer<'_>> {
    let memory = downcast(&range.memory)?;
    let (begin, max_size) = window.unwrap_or((0, u64::MAX));
    let offset = range.offset.saturating_add(begin);
    let available = memory.allocated.saturating_sub(offset);
    let size = match kind {
        BindingKind::Uniform { size } => u64::from(size),
        BindingKind::Storage => {
            let range_size = range.size.saturating_sub(begin).max(1).next_multiple_of(LARGEST_VIEW_ELEMENT);
            // Some programs access the parent buffer beyond the end of a sub-buffer, which works with drivers whose
            // pointers are addresses. So the binding extends beyond the range.
            range_size.max(available.min(ALWAYS_BINDABLE)).min(available & !3).min(max_size)
        }
    };
    if size == 0 || size > available {
        return Err(BackendError::Other("internal error: an argument ends beyond its buffer".to_owned()));
    }
    Ok(BoundBuffer { buffer: memory.buffer(), memory: Some(memory), writes, range: BoundRange { id: memory.id, offset, size } })
}

/// Returns the contents of the argument buffer.
pub(crate) fn argument_bytes(
    launch: &Launch,
    kernel: &Kernel,
    layout: &ArgLayout,
    merged: Option<&MergedBuffers>,
    span: GroupSpan,
) -> BackendResult<ArgumentBytes> {
    let mut bytes: ArgumentBytes = smallvec::smallvec![0; layout.size.max(ArgLayout::HEADER) as usize];
    let mut put = |at: u32, data: &[u8]| -> BackendResult<()> {
        let start = at as usize;
        bytes
            .get_mut(start..start + data.len())
            .ok_or_else(|| BackendError::Other("internal error: an argument ends beyond the argument buffer".to_owned()))?
            .copy_from_slice(data);
        Ok(())
    };
    for d in 0..3 {
        let word = 4 * d as u32;
        put(hidden::GLOBAL_OFFSET + word, &(launch.global_offset[d] as u32).to_le_bytes())?;
        put(hidden::GLOBAL_SIZE + word, &(launch.global_size[d] as u32).to_le_bytes())?;
        put(hidden::NUM_GROUPS + word, &span.total[d].to_le_bytes())?;
        put(hidden::GROUP_BASE + word, &span.range.base[d].to_le_bytes())?;
    }
    put(hidden::WORK_DIM, &launch.work_dim.to_le_bytes())?;
    for ((slot, arg), _) in layout.values.iter().zip(&launch.args).zip(kernel.params()) {
        if let (Some((at, size)), LaunchArg::Value(value)) = (slot, arg) {
            let used = value.len().min(*size as usize);
            put(*at, &value[..used])?;
        }
    }
    if let Some(merged) = merged {
        for (index, slot) in layout.merged_offsets.iter().enumerate() {
            if let Some(at) = slot {
                put(*at, &merged.offset(index)?.to_le_bytes())?;
            }
        }
    }
    for (slot, arg) in layout.images.iter().zip(&launch.args) {
        if let (Some(at), LaunchArg::Image(_, image)) = (slot, arg) {
            for (word, value) in (0..).zip(image.words()) {
                put(at + 4 * word, &value.to_le_bytes())?;
            }
        }
    }
    for (index, slot) in (0..).zip(&layout.addresses) {
        if let (Some(at), Some(range)) = (slot, bound_range(launch, index)) {
            let address = downcast(&range.memory)?.buffer().address;
            put(*at, &address.wrapping_add(range.offset).to_le_bytes())?;
        }
    }
    for (index, slot) in (0..).zip(&layout.identities) {
        if let (Some(at), Some(range)) = (slot, bound_range(launch, index)) {
            // Merged arguments have separate offsets, relative to the memory that is bound for them.
            let bound = merged.filter(|merged| merged.first == index);
            let offset = bound.map_or(range.offset, |merged| merged.common_range().map_or(0, |common| common.start));
            let flat = (u64::from(range.identity) << 32).wrapping_add(offset);
            let halves = |number: u64| ((number >> 32) as u32, number as u32);
            let ((identity, base), (size_high, size)) = (halves(flat), halves(range.size));
            for (word, value) in (0..).zip([identity, base, size, range.start as u32, size_high]) {
                put(at + 4 * word, &value.to_le_bytes())?;
            }
        }
    }
    Ok(bytes)
}
