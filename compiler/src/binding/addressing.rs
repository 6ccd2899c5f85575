//! Decides which memory a kernel accesses by address, and which through bindings.
//!
//! The back end decides whether a launch requires access by address ([`BindingKey::addresses`]). Access by address is
//! required if bindings do not suffice for the buffers, if functions have pointers to buffers as parameters, or on
//! request. Access by address then applies to all parameters that [`required_addresses`] returns. Otherwise emission
//! selects addresses where they are faster ([`Costs::updates_by_address`](crate::target::Costs::updates_by_address)):
//! for buffers that the final kernel both loads from and stores to.
//!
//! Buffers that are only read are bound, because an H100 reads bound buffers through other caches. With addresses,
//! N-body runs at 0.84 times, and naive matrix products at 0.95 times, the speed with bindings. Buffers that are only
//! written are not faster by address. Example: `a[i] = a[i] + b[i]` accesses `a` by address and `b` through a binding.

use super::key::{BindingKey, ConstantBinding};
use crate::analysis::definitions::{Definitions, Root};
use crate::ir::{Function, KernelParam, Op, Space};
use crate::target::Target;

/// Returns for each parameter whether the launch requires access by address: true for all buffers and images, except
/// for `__constant` arguments in uniform buffers. Empty if the launch does not require addresses.
pub(crate) fn required_addresses(params: &[KernelParam], key: &BindingKey) -> Vec<bool> {
    if !key.addresses {
        return Vec::new();
    }
    let mut constants = key.constant_args.iter();
    let is_by_address = |param: &KernelParam| match param {
        KernelParam::Buffer { space: Space::Constant, .. } => constants.next() == Some(&ConstantBinding::Storage),
        KernelParam::Buffer { .. } | KernelParam::Image => true,
        _ => false,
    };
    params.iter().map(is_by_address).collect()
}

/// Returns for each parameter whether the final kernel accesses its memory by address, because this is required or
/// faster. Empty or all false if no parameter is accessed by address.
pub(crate) fn chosen_addresses(kernel: &Function, key: &BindingKey, target: &Target) -> Vec<bool> {
    let params = kernel.kernel.as_ref().map_or(&[][..], |kernel| &kernel.params);
    if key.addresses || !target.shaders.addresses || !target.shaders.costs.updates_by_address {
        return required_addresses(params, key);
    }
    // Merged buffers and split buffers must be bound, so a launch with such buffers does not use addresses.
    if !key.merged.is_empty() || !key.split.params.is_empty() {
        return Vec::new();
    }
    let updated = updated(kernel, params.len());
    if updated.contains(&true) { updated } else { Vec::new() }
}

/// For each parameter, whether it is a buffer that the kernel loads from and stores to.
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
