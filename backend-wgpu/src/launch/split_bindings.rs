//! Launches with buffers that are larger than a binding. Such a buffer is split across several bindings (see
//! `passes::split_bindings` of the compiler).
//!
//! The size of a part is the largest power of two that a binding may have. A kernel finds the part by a shift.
//! `WGCL_BINDING_LIMIT` splits smaller buffers as well, for tests. Parts are then as small as the number of bindings
//! allows.

use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg, MemoryRange};
use wgcl_compiler::ir::{KernelParam, Space};
use wgcl_compiler::launch::{ConstantBinding, LaunchError, SplitBindings};

use crate::gpu::open_device::Gpu;
use crate::launch::merge_buffers::{self, OTHER_BINDINGS};

/// The bytes of a buffer that a binding covers: offset and maximum size in bytes. `None` for the whole buffer.
pub(crate) type Window = Option<(u64, u64)>;

/// Maps the parameter index of a binding to the parameter of the launch, and to the bytes that the binding covers.
pub(crate) fn window(split: &SplitBindings, launch: &Launch, index: u32) -> (u32, Window) {
    if split.params.is_empty() {
        return (index, None);
    }
    let argument_count = (launch.args.len() + launch.extra.len()) as u32;
    let size = 1 << split.shift;
    if let Some(further) = index.checked_sub(argument_count) {
        return match split.added().nth(further as usize) {
            Some((param, piece)) => (param, Some((u64::from(piece) * u64::from(split.step()), size))),
            None => (index, None),
        };
    }
    (index, split.params.iter().any(|(param, _)| *param == index).then_some((0, size)))
}

/// Finds the buffers that a launch splits. `constants` has the bindings of its `__constant` arguments.
///
/// # Errors
/// If the launch needs more bindings than the device has.
pub(crate) fn find(launch: &Launch, params: &[KernelParam], constants: &[ConstantBinding], gpu: &Gpu) -> BackendResult<SplitBindings> {
    let limit = gpu.binding_limit;
    let is_large = |range: &MemoryRange| range.size > limit;
    // Nearly all launches have no large buffer, and return here.
    let arg_range = |arg: &LaunchArg| merge_buffers::range(arg).is_some_and(is_large);
    if !launch.args.iter().any(arg_range) && !launch.extra.iter().any(is_large) {
        return Ok(SplitBindings::default());
    }
    let mut constants = constants.iter();
    let mut large = Vec::new();
    let (mut small, mut mergeable) = (0, 0);
    for (index, (param, arg)) in (0..).zip(params.iter().zip(&launch.args)) {
        let is_constant = matches!(param, KernelParam::Buffer { space: Space::Constant, .. });
        let is_uniform = is_constant && matches!(constants.next(), Some(ConstantBinding::Uniform(_)));
        match merge_buffers::range(arg) {
            Some(range) if is_large(range) && !is_uniform => large.push((index, range.size)),
            Some(_) if is_constant => small += 1,
            Some(_) => mergeable += 1,
            None => {}
        }
    }
    for (index, range) in (params.len() as u32..).zip(&launch.extra) {
        if is_large(range) {
            large.push((index, range.size));
        } else {
            small += 1;
        }
    }
    if large.is_empty() {
        return Ok(SplitBindings::default());
    }
    let bindings = u64::from(merge_buffers::bindings(gpu));
    let others = (OTHER_BINDINGS + small) as u64;
    let overlap = SplitBindings::WIDEST.max(gpu.limits.min_storage_buffer_offset_alignment);
    let largest = gpu.limits.max_storage_buffer_binding_size.ilog2();
    let mut split = SplitBindings { params: Vec::new(), shift: limit.max(2 * u64::from(overlap)).ilog2().min(largest), overlap };
    loop {
        let counts = large.iter().map(|(_, size)| split.count(*size));
        let (max_count, all) = (counts.clone().max().unwrap_or(0), counts.sum::<u64>());
        let is_last = split.shift == largest;
        // Merging the other buffers saves bindings. Merging is slow, so it is considered only if parts cannot be
        // larger.
        let needed = others + all + if is_last { mergeable.min(1) } else { mergeable };
        if needed <= bindings && (max_count + 1) * u64::from(overlap) < 1 << split.shift {
            break;
        }
        if is_last {
            let kernel = launch.kernel.to_string();
            return Err(BackendError::Launch(LaunchError::Limit { kernel, what: "storage buffers", needed, limit: bindings }));
        }
        split.shift += 1;
    }
    let counted = large.into_iter().map(|(index, size)| (index, split.count(size) as u32));
    split.params = counted.filter(|(_, count)| *count > 1).collect();
    Ok(split)
}
