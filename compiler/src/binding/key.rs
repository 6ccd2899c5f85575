//! The part of a launch key that describes the bindings of a shader.
//!
//! Example: a launch whose buffers do not overlap has `distinct: true` and the other fields of [`BindingKey::default`].

use serde::{Deserialize, Serialize};

use crate::word_list::Words;

/// How the memory of a shader is bound, and how an NDRange is divided into dispatches.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BindingKey {
    /// How each `__constant` argument is bound, in the order of the kernel's `Buffer { space: Constant, .. }`
    /// parameters.
    pub constant_args: Vec<ConstantBinding>,
    /// Indices of the parameters that share the binding of the first of these parameters
    /// ([`crate::passes::merge_bindings`]). Nearly always empty.
    pub merged: Words,
    /// Whether the merged parameters are on one memory object, and the launch binds their common range. Addresses then
    /// do not change.
    pub merged_in_place: bool,
    /// Indices of the parameters whose pointer is not the first byte of their binding (shared virtual memory). Nearly
    /// always empty.
    pub started_args: Words,
    /// Whether the buffers and images of the launch do not overlap, so that a store to one does not affect another.
    pub distinct: bool,
    /// Whether buffers and images are accessed with device addresses in the argument buffer instead of through bindings
    /// ([`Shaders::addresses`](crate::target::Shaders::addresses)). Their number and size are then unlimited.
    pub addresses: bool,
    /// Number of buffers that the launch binds in addition to the arguments, because pointers in memory may point to
    /// them. They are additional parameters after those of the kernel.
    pub extra_buffers: u32,
    /// The parameters with several bindings. Nearly always none.
    pub split: SplitBindings,
    /// Whether the dispatch starts at the first group of the NDRange, so that the group base is zero.
    pub single_dispatch: bool,
    /// Maximum number of work-items of dimension 0 per invocation, a power of two that divides the global size.
    /// `passes::coarsen` selects the number
    /// ([`Shader::coarsening_factor`](crate::emit::Shader::coarsening_factor)). Greater than 1 only if the kernel does
    /// not depend on its work-group and the global offset is zero.
    pub coarsen: u32,
    /// Whether the second dimension of a dispatch continues the first. Then a dispatch may have more groups of a
    /// one-dimensional NDRange than the limit of one dimension.
    pub two_dimensional_dispatch: bool,
}

impl BindingKey {
    /// One dispatch for the whole NDRange, one work-item per invocation, and no assumptions about buffers.
    pub(crate) const WHOLE: Self = Self {
        constant_args: Vec::new(),
        merged: Words::new(),
        merged_in_place: false,
        started_args: Words::new(),
        distinct: false,
        addresses: false,
        extra_buffers: 0,
        split: SplitBindings { params: Vec::new(), shift: 0, overlap: 0 },
        single_dispatch: true,
        coarsen: 1,
        two_dimensional_dispatch: false,
    };
}

impl Default for BindingKey {
    fn default() -> Self {
        Self::WHOLE
    }
}

/// How a `__constant` argument is bound in a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ConstantBinding {
    /// A uniform buffer of this size in bytes: a power of two, at least 256 and at most the limit of the device. The
    /// binding has the same size.
    Uniform(u32),
    /// A read-write storage buffer, like a `__global` argument. The size or the alignment of the buffer does not permit
    /// a uniform binding, or the launch also binds its memory as storage.
    Storage,
}

/// Buffers that are larger than the limit of a binding. Each has several bindings. An access selects the binding that
/// contains its first byte (`passes::split_bindings`).
///
/// Each binding starts [`SplitBindings::step`] bytes after the previous one. It has `1 << shift` bytes, except for the
/// last one, which has the remaining bytes. Consecutive bindings overlap by [`SplitBindings::overlap`] bytes. So each
/// access is inside one binding, independent of its alignment. The first binding belongs to the parameter itself. The
/// others belong to additional parameters at the end, in the order of `params`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SplitBindings {
    /// The parameters, including those of [`BindingKey::extra_buffers`], and the number of bindings of each, at least
    /// two.
    pub params: Vec<(u32, u32)>,
    /// Base-2 logarithm of the size of a binding in bytes.
    pub shift: u32,
    /// Number of bytes that a binding shares with the next one: a multiple of the binding alignment, at least
    /// [`SplitBindings::WIDEST`]. All overlaps together have fewer bytes than a binding.
    pub overlap: u32,
}

impl SplitBindings {
    /// Size in bytes of the widest access, sixteen lanes of 64 bits.
    pub const WIDEST: u32 = 128;

    /// Distance in bytes between the starts of consecutive bindings.
    pub const fn step(&self) -> u32 {
        (1 << self.shift) - self.overlap
    }

    /// Number of bindings for a buffer of `size` bytes, at least one.
    pub const fn count(&self, size: u64) -> u64 {
        1 + size.saturating_sub(1 << self.shift).div_ceil(self.step() as u64)
    }

    /// The additional parameters in order: the index of the original parameter, and the index of the binding, from 1.
    pub fn added(&self) -> impl Iterator<Item = (u32, u32)> {
        self.params.iter().flat_map(|&(param, count)| (1..count).map(move |piece| (param, piece)))
    }
}
