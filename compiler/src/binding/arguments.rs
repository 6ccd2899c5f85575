//! The argument buffer of a kernel, which the host fills.
//!
//! The layout depends only on the signature and the queries of the kernel, and on the parameters that are accessed by
//! address. So the host can fill the buffer without emitting code.
//!
//! The buffer is a uniform binding of group 0 with an array of `vec4<u32>`. If the shader reads the buffer, the buffer
//! is binding 0. Its first [`ArgLayout::HEADER`] bytes are the hidden values of [`hidden`]. Each by-value argument
//! follows at its offset ([`ArgLayout::values`]). The buffer is little-endian, and its size is rounded up to 16 bytes.
//!
//! The data that the kernel queries about its other arguments follow: identities and sizes, image descriptors, offsets
//! of merged arguments, and addresses. Everything else is a separate binding in group 0, listed in
//! [`Shader::bindings`](crate::emit::Shader::bindings).

use serde::{Deserialize, Serialize};

use crate::ir::{self, KernelParam, Op, Scalar, Type, WorkItem};
use crate::target::Target;

/// Byte offsets of the hidden values in the argument buffer. Each value consists of `u32` words.
pub mod hidden {
    /// The global offset, three words.
    pub const GLOBAL_OFFSET: u32 = 0;
    /// The number of dimensions.
    pub const WORK_DIM: u32 = 12;
    /// The global size, three words.
    pub const GLOBAL_SIZE: u32 = 16;
    /// The number of groups of the whole NDRange, three words.
    pub const NUM_GROUPS: u32 = 32;
    /// The first group of this dispatch, three words. An NDRange has several dispatches if it has too many groups, or
    /// if the groups at its edges are smaller.
    pub const GROUP_BASE: u32 = 48;
}

/// The layout of the argument buffer of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgLayout {
    /// For each parameter: byte offset and size in bytes in the argument buffer if it is passed by value, otherwise
    /// `None`.
    pub values: Vec<Option<(u32, u32)>>,
    /// For each parameter: byte offset of five `u32` words if the kernel queries them, otherwise `None`. Empty if the
    /// kernel queries none. The words are:
    /// - the identity of the allocation
    /// - the byte offset of the argument in the allocation
    /// - the lower half of the size of the argument in bytes
    /// - the byte offset of the pointer in the argument
    /// - the upper half of the size in bytes
    ///
    /// All words are 0 for a null argument. The first two words are the upper and the lower half of one 64-bit number.
    /// An allocation of more than 4 GiB thus has several consecutive identities.
    pub identities: Vec<Option<u32>>,
    /// For each parameter: byte offset of the words of `ImageDescriptor::words` if the kernel queries them. Empty if
    /// the kernel queries none.
    pub images: Vec<Option<u32>>,
    /// For each merged parameter: byte offset of the word that contains the parameter's offset in the common buffer.
    /// `None` for other parameters. Empty if no parameter is merged.
    pub merged_offsets: Vec<Option<u32>>,
    /// For each parameter whose memory is accessed by address: byte offset of the eight-byte address. `None` for other
    /// parameters. Empty if there is no such parameter.
    pub addresses: Vec<Option<u32>>,
    /// Size of the whole buffer in bytes, a multiple of 16.
    pub size: u32,
}

impl ArgLayout {
    /// Size of the hidden values in bytes.
    pub const HEADER: u32 = 64;
    /// Size in bytes of the words of [`ArgLayout::identities`] for one argument.
    pub const IDENTITY: u32 = 20;
    /// Size of an address in bytes.
    pub const ADDRESS: u32 = 8;
}

/// Computes the layout of the argument buffer. The by-value arguments come first, with the alignment of their types.
/// Identities, image descriptors and offsets of merged arguments follow. The addresses of the parameters in
/// `by_address` are the last. `functions` contains the kernel, followed by the functions that it calls.
pub fn arg_layout(functions: &[ir::Function], by_address: &[bool], target: &Target) -> ArgLayout {
    let Some(function) = functions.first() else { return ArgLayout::default() };
    let mut end = ArgLayout::HEADER;
    let mut values = Vec::with_capacity(function.params.len());
    let kinds = function.kernel.as_ref().map_or(&[][..], |kernel| &kernel.params);
    for (index, &param) in function.params.iter().enumerate() {
        let place = match kinds.get(index) {
            Some(KernelParam::Value) => Some(value_layout(function.ty(param), target)),
            Some(kind @ KernelParam::Bytes { size, .. }) => Some((*size, kind.align())),
            _ => None,
        };
        values.push(place.map(|(size, align)| {
            let offset = end.next_multiple_of(align);
            end = offset + size;
            (offset, size)
        }));
    }
    let identities = query_offsets(functions, &mut end, ArgLayout::IDENTITY, |query| match query {
        WorkItem::ArgIdentity(index)
        | WorkItem::ArgBase(index)
        | WorkItem::ArgSize(index)
        | WorkItem::ArgStart(index)
        | WorkItem::ArgSizeHigh(index) => Some(index),
        _ => None,
    });
    let images = query_offsets(functions, &mut end, 4 * crate::ir::image::WORDS, |query| match query {
        WorkItem::ArgImage { param, .. } => Some(param),
        _ => None,
    });
    let merged_offsets = query_offsets(functions, &mut end, 4, |query| match query {
        WorkItem::ArgMergedOffset(index) => Some(index),
        _ => None,
    });
    let addresses = address_offsets(by_address, &mut end);
    ArgLayout { values, identities, images, merged_offsets, addresses, size: end.next_multiple_of(16) }
}

/// Assigns offsets to the addresses of parameters.
fn address_offsets(by_address: &[bool], end: &mut u32) -> Vec<Option<u32>> {
    let mut place = || {
        let offset = end.next_multiple_of(ArgLayout::ADDRESS);
        *end = offset + ArgLayout::ADDRESS;
        offset
    };
    by_address.iter().map(|by_address| by_address.then(&mut place)).collect()
}

/// Assigns offsets to entries of `bytes` bytes for the arguments that the functions query. The first function is the
/// kernel.
fn query_offsets(functions: &[ir::Function], end: &mut u32, bytes: u32, param: fn(WorkItem) -> Option<u32>) -> Vec<Option<u32>> {
    let mut queried = vec![false; functions.first().map_or(0, |kernel| kernel.params.len())];
    for function in functions {
        function.body.walk(&mut |inst| {
            if let Op::WorkItem(query) = inst.op
                && let Some(slot) = param(query).and_then(|index| queried.get_mut(index as usize))
            {
                *slot = true;
            }
        });
    }
    if !queried.contains(&true) {
        return Vec::new();
    }
    let mut place = || {
        let offset = end.next_multiple_of(4);
        *end = offset + bytes;
        offset
    };
    queried.into_iter().map(|queried| queried.then(&mut place)).collect()
}

/// Size and alignment in bytes of a by-value argument. Three lanes have the size of four.
fn value_layout(ty: Type, target: &Target) -> (u32, u32) {
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
    fn arguments_are_aligned() {
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
        let layout = arg_layout(std::slice::from_ref(&function), &[], &Target::full());
        assert_eq!(layout.values, [Some((64, 1)), Some((80, 16)), None, Some((96, 10))]);
        assert_eq!((layout.size, &layout.addresses[..]), (112, &[][..]));
        let by_address = BindingKey { addresses: true, ..BindingKey::default() };
        let params = function.kernel.as_ref().map(|kernel| required_addresses(&kernel.params, &by_address));
        let layout = arg_layout(std::slice::from_ref(&function), &params.unwrap_or_default(), &Target::full());
        assert_eq!((layout.size, &layout.addresses[..]), (128, &[None, None, Some(112), None][..]));
    }
}
