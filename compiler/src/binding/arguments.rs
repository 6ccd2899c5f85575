//! The argument buffer of a kernel, which the host fills.
//!
//! The layout depends on the signature and on the queries of the kernel only, so the host can fill the buffer without
//! emitting code.
//!
//! One uniform binding of group 0 (the first one, if the shader needs it) holds an array of `vec4<u32>`. Its first
//! [`ArgLayout::HEADER`] bytes are the hidden values of [`hidden`]. Every by-value argument follows at its own offset
//! ([`ArgLayout::values`]). The buffer is little-endian, and its size is rounded up to 16 bytes.
//!
//! After the values come identity, first byte and size of those pointer arguments whose identity the kernel uses
//! ([`ArgLayout::identities`]). Only kernels that keep pointers in memory or compare arguments use them. Everything
//! else is a separate binding in group 0, listed in [`Shader::bindings`](crate::emit::Shader::bindings).

use serde::{Deserialize, Serialize};

use crate::ir::{self, KernelParam, Op, Scalar, Type, WorkItem};
use crate::target::Target;

/// Byte offsets of the hidden values in the argument buffer; each is a `u32`.
pub mod hidden {
    /// Three words: the global offset.
    pub const GLOBAL_OFFSET: u32 = 0;
    /// The number of dimensions.
    pub const WORK_DIM: u32 = 12;
    /// Three words: the global size.
    pub const GLOBAL_SIZE: u32 = 16;
    /// Three words: number of groups of the whole NDRange.
    pub const NUM_GROUPS: u32 = 32;
    /// Three words: the first group of this dispatch, for an NDRange with several dispatches. An NDRange is split if
    /// it has too many groups, or if the groups at its edges are smaller.
    pub const GROUP_BASE: u32 = 48;
}

/// Offsets of the by-value arguments of a kernel in the argument buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgLayout {
    /// Per kernel parameter: byte offset and size in the argument buffer if it is passed by value, else `None`.
    pub values: Vec<Option<(u32, u32)>>,
    /// Per parameter: byte offset of five `u32` words if the kernel uses its identity, else `None`; empty if no
    /// parameter has them. The words are:
    /// - the identity of the allocation
    /// - the argument's offset in the allocation
    /// - the size of the argument
    /// - the offset of the pointer in the argument
    /// - the upper half of the size
    ///
    /// All are 0 for null. The first two words are the halves of one number: an allocation of more than 4 GiB has
    /// several consecutive identities.
    pub identities: Vec<Option<u32>>,
    /// Per parameter: byte offset of the words of `ImageDescriptor::words` if the kernel uses them; empty if no
    /// parameter has them.
    pub images: Vec<Option<u32>>,
    /// Per parameter: byte offset of the word with its position in the common buffer, if it is a merged one; empty if
    /// none is.
    pub merged_offsets: Vec<Option<u32>>,
    /// Per parameter: byte offset of the eight bytes of its address, if its memory is accessed by address; empty if
    /// none is.
    pub addresses: Vec<Option<u32>>,
    /// Size in bytes of the whole buffer, a multiple of 16.
    pub size: u32,
}

impl ArgLayout {
    /// Size in bytes of the hidden values.
    pub const HEADER: u32 = 64;
    /// Size in bytes of the identity of one argument.
    pub const IDENTITY: u32 = 20;
    /// Size in bytes of an address.
    pub const ADDRESS: u32 = 8;
}

/// The argument buffer of a kernel (see the module's documentation): by-value arguments in order, each at the
/// alignment of its type, then the identities of pointer arguments, then the addresses of the parameters in
/// `reached`.
pub fn arg_layout(function: &ir::Function, reached: &[bool], target: &Target) -> ArgLayout {
    let mut end = ArgLayout::HEADER;
    let mut values = Vec::with_capacity(function.params.len());
    let kinds = function.kernel.as_ref().map_or(&[][..], |kernel| &kernel.params);
    for (index, &param) in function.params.iter().enumerate() {
        let place = match kinds.get(index) {
            Some(KernelParam::Value) => Some(value_place(function.ty(param), target)),
            Some(kind @ KernelParam::Bytes { size, .. }) => Some((*size, kind.align())),
            _ => None,
        };
        values.push(place.map(|(size, align)| {
            let offset = end.next_multiple_of(align);
            end = offset + size;
            (offset, size)
        }));
    }
    let identities = asked_of(function, &mut end, ArgLayout::IDENTITY, |question| match question {
        WorkItem::ArgIdentity(index)
        | WorkItem::ArgBase(index)
        | WorkItem::ArgSize(index)
        | WorkItem::ArgStart(index)
        | WorkItem::ArgSizeHigh(index) => Some(index),
        _ => None,
    });
    let images = asked_of(function, &mut end, 4 * crate::ir::image::WORDS, |question| match question {
        WorkItem::ArgImage { param, .. } => Some(param),
        _ => None,
    });
    let merged_offsets = asked_of(function, &mut end, 4, |question| match question {
        WorkItem::ArgMergedOffset(index) => Some(index),
        _ => None,
    });
    let addresses = places_of_addresses(reached, &mut end);
    ArgLayout { values, identities, images, merged_offsets, addresses, size: end.next_multiple_of(16) }
}

/// Assigns offsets to addresses.
fn places_of_addresses(reached: &[bool], end: &mut u32) -> Vec<Option<u32>> {
    let mut place = || {
        let offset = end.next_multiple_of(ArgLayout::ADDRESS);
        *end = offset + ArgLayout::ADDRESS;
        offset
    };
    reached.iter().map(|reached| reached.then(&mut place)).collect()
}

/// Assigns offsets to the entries of the arguments that the kernel queries, `bytes` each.
fn asked_of(function: &ir::Function, end: &mut u32, bytes: u32, param: fn(WorkItem) -> Option<u32>) -> Vec<Option<u32>> {
    let mut asked = vec![false; function.params.len()];
    function.body.walk(&mut |inst| {
        if let Op::WorkItem(question) = inst.op
            && let Some(slot) = param(question).and_then(|index| asked.get_mut(index as usize))
        {
            *slot = true;
        }
    });
    if !asked.contains(&true) {
        return Vec::new();
    }
    let mut place = || {
        let offset = end.next_multiple_of(4);
        *end = offset + bytes;
        offset
    };
    asked.into_iter().map(|asked| asked.then(&mut place)).collect()
}

/// Size and alignment of a by-value argument: three lanes take the memory of four.
fn value_place(ty: Type, target: &Target) -> (u32, u32) {
    let scalar = match ty {
        Type::Ptr(_) => target.pointer_size(),
        _ => ty.scalar().map_or(0, Scalar::size),
    };
    let lanes = if ty.lanes() == 3 { 4 } else { u32::from(ty.lanes()) };
    let size = (scalar * lanes).max(1);
    (size, size)
}

#[cfg(test)]
mod tests {
    use super::arg_layout;
    use crate::binding::{BindingKey, required_addresses};
    use crate::ir::{Function, Kernel, KernelParam, Scalar, Space, Type};
    use crate::target::Target;

    #[test]
    fn arguments_lie_at_their_alignment() {
        let mut function = Function::new("k", Type::Void);
        let types = [Type::Scalar(Scalar::I8), Type::Vector(Scalar::F32, 3), Type::Ptr(Space::Global), Type::Ptr(Space::Constant)];
        function.params = types.into_iter().map(|ty| function.new_value(ty)).collect();
        function.kernel = Some(Kernel {
            params: vec![
                KernelParam::Value,
                KernelParam::Value,
                KernelParam::Buffer { space: Space::Global, read_only: false, restrict: false },
                KernelParam::Bytes { size: 10, align: 2 },
            ],
            ..Kernel::default()
        });
        let layout = arg_layout(&function, &[], &Target::full());
        assert_eq!(layout.values, [Some((64, 1)), Some((80, 16)), None, Some((96, 10))]);
        assert_eq!((layout.size, &layout.addresses[..]), (112, &[][..]));
        let by_address = BindingKey { addresses: true, ..BindingKey::default() };
        let params = function.kernel.as_ref().map(|kernel| required_addresses(&kernel.params, &by_address));
        let layout = arg_layout(&function, &params.unwrap_or_default(), &Target::full());
        assert_eq!((layout.size, &layout.addresses[..]), (128, &[None, None, Some(112), None][..]));
    }
}
