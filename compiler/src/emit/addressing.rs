//! Which memory a kernel accesses by address, and which by binding.
//!
//! If bindings are not sufficient, all memory is accessed by address
//! ([`BindingKey::addresses`](crate::launch::BindingKey::addresses)). Otherwise, if this is faster
//! ([`Costs::updates_by_address`](crate::target::Costs::updates_by_address)), addresses are used for buffers that a
//! kernel both loads from and stores to. Buffers that are only read stay bound, because an H100 reads bound buffers
//! through other caches. By address, N-body runs at 0.84 of its speed, and naive matrix products at 0.95. Buffers
//! that are only written are not faster by address.

use crate::analysis::definitions::{Definitions, Root};
use crate::ir::{Function, KernelParam, Op, Space};
use crate::launch::LaunchKey;
use crate::layout::reached_by_address;
use crate::target::Target;

/// Per parameter: whether its memory is accessed by address. Empty if none is.
pub(super) fn by_address(kernel: &Function, key: &LaunchKey, target: &Target) -> Vec<bool> {
    let params = kernel.kernel.as_ref().map_or(&[][..], |kernel| &kernel.params);
    if key.binding.addresses || !target.shaders.addresses || !target.shaders.costs.updates_by_address {
        return reached_by_address(params, &key.binding);
    }
    // Merged buffers and split buffers are bound.
    if !key.binding.merged.is_empty() || !key.binding.split.params.is_empty() {
        return Vec::new();
    }
    let updated = updated(kernel, params.len());
    if updated.contains(&true) { updated } else { Vec::new() }
}

/// The buffers that a kernel loads from and stores to.
fn updated(kernel: &Function, count: usize) -> Vec<bool> {
    let definitions = Definitions::of(kernel);
    let (mut loaded, mut stored) = (vec![false; count], vec![false; count]);
    kernel.body.walk(&mut |inst| {
        let (pointer, accessed) = match inst.op {
            Op::Load { ptr, .. } => (ptr, &mut loaded),
            Op::Store { ptr, .. } => (ptr, &mut stored),
            _ => return,
        };
        if let Some((Root::Param(index), _)) = definitions.pointer(pointer)
            && let Some(place) = accessed.get_mut(index as usize)
        {
            *place = true;
        }
    });
    let params = kernel.kernel.iter().flat_map(|kernel| &kernel.params);
    let is_buffer = |param: &KernelParam| matches!(param, KernelParam::Buffer { space: Space::Global, .. });
    loaded.into_iter().zip(stored).zip(params).map(|((loaded, stored), param)| loaded && stored && is_buffer(param)).collect()
}
