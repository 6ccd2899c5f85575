//! The launch key: the properties of a launch that decide which shader runs and how its arguments are bound.

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg, MemoryRange};
use wgcl_compiler::ir::{KernelParam, Space};
use wgcl_compiler::launch::{ConstantBinding, LaunchKey};

use crate::gpu::open_device::Gpu;
use crate::launch::kernel::Kernel;
use crate::launch::merge_buffers;
use crate::launch::ndrange::Region;
use crate::launch::split_bindings;
use crate::memory::device_memory::downcast;

/// Returns the key for the work-groups of a region.
pub(crate) fn region_key(common: &LaunchKey, region: &Region, guard: [bool; 3], max_groups: [u32; 3]) -> LaunchKey {
    let mut key = common.clone();
    (key.kernel.local_size, key.kernel.guard) = (region.local_size, guard);
    (key.binding.single_dispatch, key.binding.two_dimensional_dispatch) = region.range.shape(max_groups);
    key
}

/// Returns the key of a launch, without the fields that differ between its regions.
pub(crate) fn launch_key(launch: &Launch, kernel: &Kernel, gpu: &Gpu, local_size: [u32; 3]) -> BackendResult<LaunchKey> {
    if kernel.params().len() != launch.args.len() {
        return Err(BackendError::Other(format!(
            "kernel `{}`: expected {} arguments, got {}",
            launch.kernel,
            kernel.params().len(),
            launch.args.len()
        )));
    }
    let mut key = LaunchKey::default();
    key.kernel.local_size = local_size;
    key.kernel.enqueued_local_size = local_size;
    key.kernel.zero_offset = launch.global_offset == [0; 3];
    let too_many = || BackendError::Other("internal error: 2^32 or more buffers with pointers to them exist".to_owned());
    key.binding.extra_buffers = u32::try_from(launch.extra.len()).map_err(|_| too_many())?;
    for (index, (param, arg)) in (0..).zip(kernel.params().iter().zip(&launch.args)) {
        match arg {
            LaunchArg::Buffer(None) => key.kernel.null_args.push(index),
            LaunchArg::Buffer(Some(range)) if range.start != 0 => key.binding.started_args.push(index),
            _ => {}
        }
        match (param, arg) {
            (KernelParam::Local { .. }, LaunchArg::Local(bytes)) => key.kernel.local_args.push(*bytes),
            (KernelParam::Buffer { space: Space::Constant, .. }, LaunchArg::Buffer(range)) => {
                key.binding.constant_args.push(match range {
                    Some(range) => constant_binding(launch, kernel, gpu, range)?,
                    None => ConstantBinding::Uniform(256),
                });
            }
            (KernelParam::Image, LaunchArg::Image(_, image)) => key.kernel.images.push(image.format),
            (KernelParam::Sampler, LaunchArg::Value(value)) => key.kernel.samplers.push(sampler_word(value)?),
            (KernelParam::Buffer { .. }, LaunchArg::Buffer(_)) | (KernelParam::Value | KernelParam::Bytes { .. }, LaunchArg::Value(_)) => {}
            _ => {
                return Err(BackendError::Other(format!(
                    "argument {index} of kernel `{}`: the kind of the argument does not match the parameter",
                    launch.kernel
                )));
            }
        }
    }
    let is_required = || kernel.requires_addresses() || merge_buffers::ranges(launch).any(|range| range.size > gpu.binding_limit);
    if gpu.capabilities.addresses && (gpu.prefers_addresses || is_required()) {
        return by_addresses(key, launch, gpu);
    }
    key.binding.split = split_bindings::find(launch, kernel.params(), &key.binding.constant_args, gpu)?;
    let merged = merge_buffers::merged_params(launch, kernel.params(), &key.binding.split, gpu);
    if gpu.capabilities.addresses && !merged.is_empty() {
        return by_addresses(key, launch, gpu);
    }
    key.binding.merged_in_place = merge_buffers::is_in_place(launch, &merged);
    key.binding.merged = merged.into();
    key.binding.distinct = key.binding.merged.is_empty() && key.binding.split.params.is_empty() && are_distinct(launch)?;
    Ok(key)
}

/// Returns a key with which the shader accesses all buffers by address. Launches use such a key if buffers are too
/// large or too many for bindings, or if functions get pointers to buffers. `WGCL_ADDRESSES=1` requests it for all.
fn by_addresses(mut key: LaunchKey, launch: &Launch, gpu: &Gpu) -> BackendResult<LaunchKey> {
    key.binding.addresses = true;
    key.kernel.large_offsets = merge_buffers::ranges(launch).any(|range| range.size > gpu.near_limit());
    key.kernel.large_images = launch.args.iter().any(|arg| matches!(arg, LaunchArg::Image(range, _) if range.size > gpu.small_image()));
    key.binding.distinct = are_distinct(launch)?;
    Ok(key)
}

/// Returns true if no two memory ranges of the launch overlap.
fn are_distinct(launch: &Launch) -> BackendResult<bool> {
    let mut bound: SmallVec<[(u64, u64, u64); 8]> = SmallVec::new();
    for range in merge_buffers::ranges(launch) {
        bound.push((downcast(&range.memory)?.id, range.offset, range.offset.saturating_add(range.size)));
    }
    bound.sort_unstable();
    // The ranges are sorted by object and offset. If a range overlaps any later range, two adjacent ranges overlap.
    Ok(bound.windows(2).all(|pair| matches!(pair, [(id, _, end), (other, begin, _)] if id != other || begin >= end)))
}

fn sampler_word(bytes: &[u8]) -> BackendResult<u32> {
    bytes
        .try_into()
        .map(u32::from_le_bytes)
        .map_err(|_| BackendError::Other(format!("a sampler argument has {} bytes, expected 4", bytes.len())))
}

/// Chooses between a uniform and a storage binding for a `__constant` argument. A uniform binding requires a small
/// buffer with space up to the next power of two. wgpu does not allow a dispatch to bind one buffer both as uniform and
/// as storage.
fn constant_binding(launch: &Launch, kernel: &Kernel, gpu: &Gpu, range: &MemoryRange) -> BackendResult<ConstantBinding> {
    let memory = downcast(&range.memory)?;
    let ConstantBinding::Uniform(size) = constant_binding_of_size(gpu, range.size) else { return Ok(ConstantBinding::Storage) };
    let fits = u64::from(size) <= memory.allocated.saturating_sub(range.offset)
        && range.offset.is_multiple_of(u64::from(gpu.limits.min_uniform_buffer_offset_alignment));
    // All bindings of the memory must be uniform, or all must be storage. Other arguments on it exclude a uniform
    // binding, unless they are `__constant` with the same range.
    let mut shared = false;
    for (param, arg) in kernel.params().iter().zip(&launch.args) {
        let LaunchArg::Buffer(Some(other)) = arg else { continue };
        let other_memory = downcast(&other.memory)?;
        if other_memory.id == memory.id {
            let constant = matches!(param, KernelParam::Buffer { space: Space::Constant, .. });
            shared |= !constant || other.offset != range.offset || other.size != range.size;
        }
    }
    for other in &launch.extra {
        shared |= downcast(&other.memory)?.id == memory.id;
    }
    Ok(if fits && !shared { ConstantBinding::Uniform(size) } else { ConstantBinding::Storage })
}

/// Returns the binding for a `__constant` argument of `size` bytes that no other argument overlaps.
pub(crate) fn constant_binding_of_size(gpu: &Gpu, size: u64) -> ConstantBinding {
    let rounded = size.max(1).checked_next_power_of_two().unwrap_or(u64::MAX).max(256);
    let limit = gpu.limits.max_uniform_buffer_binding_size.min(1 << 16);
    if rounded <= limit { ConstantBinding::Uniform(rounded as u32) } else { ConstantBinding::Storage }
}
