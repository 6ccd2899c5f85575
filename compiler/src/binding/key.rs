//! The part of a launch key that describes the bindings of a shader.
//!
//! Example: a launch whose buffers do not overlap has `distinct: true`, and [`BindingKey::default`] otherwise.

use serde::{Deserialize, Serialize};

use crate::word_list::Words;

/// How a shader's memory is bound, and how an NDRange becomes dispatches.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BindingKey {
    /// How each `__constant` argument is bound, in order of the kernel's `Buffer { space: Constant, .. }` parameters.
    pub constant_args: Vec<ConstantBinding>,
    /// Indices of the parameters that share the binding of the first of them ([`crate::passes::merge_bindings`]);
    /// nearly always empty.
    pub merged: Words,
    /// Indices of the parameters whose pointer is not the first byte of their binding (shared virtual memory); nearly
    /// always empty.
    pub started_args: Words,
    /// Whether the buffers and images of the launch do not overlap, so that a write through one is not visible
    /// through another.
    pub distinct: bool,
    /// Whether buffers and images are accessed by device addresses in the argument buffer instead of by bindings
    /// ([`Shaders::addresses`](crate::target::Shaders::addresses)). Their number and size are then unlimited.
    pub addresses: bool,
    /// Number of buffers that the launch binds in addition to the arguments, because pointers in memory may point to
    /// them. They become parameters after the kernel's own.
    pub extra_buffers: u32,
    /// The parameters with several bindings; nearly always none.
    pub split: SplitBindings,
    /// Whether the dispatch starts with the NDRange's first group: the group base is zero.
    pub single_dispatch: bool,
    /// Work-items of dimension 0 per invocation (`passes::coarsen`): a power of two that divides the global size.
    /// Greater than 1 only if the kernel does not depend on its work-group and the offset is zero.
    pub coarsen: u32,
    /// Whether the second dimension of a dispatch continues the first. A dispatch then holds more groups of a
    /// one-dimensional NDRange than the limit of one dimension.
    pub two_dimensional_dispatch: bool,
}

impl BindingKey {
    /// One dispatch for the whole NDRange, one invocation per work-item, and no information about buffers.
    pub(crate) const WHOLE: Self = Self {
        constant_args: Vec::new(),
        merged: Words::new(),
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
    /// A uniform buffer of this size in bytes (a power of two from 256 to the device's limit). The binding has the
    /// same size.
    Uniform(u32),
    /// A read-write storage buffer (like a `__global` argument): too large for a uniform binding, or also bound
    /// writable.
    Storage,
}

/// Buffers that are larger than the limit of a binding. Each has several bindings, and an access chooses the one that
/// contains its first byte (`passes::split_bindings`).
///
/// Each binding starts [`SplitBindings::step`] bytes after the previous one and has `1 << shift` bytes; the last one
/// has the rest. Consecutive bindings overlap by [`SplitBindings::overlap`] bytes, so that every access lies in one
/// binding whatever its alignment. The first binding belongs to the parameter itself. The others belong to additional
/// parameters at the end, in the order of `params`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SplitBindings {
    /// The parameters, including extra buffers, and the number of bindings of each: at least two.
    pub params: Vec<(u32, u32)>,
    /// Size of a binding in bytes, as a power of two.
    pub shift: u32,
    /// Bytes that a binding shares with the next one: a multiple of the binding alignment, at least
    /// [`SplitBindings::WIDEST`]. The number of bindings times this is less than the size of a binding.
    pub overlap: u32,
}

impl SplitBindings {
    /// Size in bytes of the widest access: sixteen lanes of 64 bits.
    pub const WIDEST: u32 = 128;

    /// Distance in bytes between the starts of consecutive bindings.
    pub const fn step(&self) -> u32 {
        (1 << self.shift) - self.overlap
    }

    /// Number of bindings for a buffer of `size` bytes; at least one.
    pub const fn count(&self, size: u64) -> u64 {
        1 + size.saturating_sub(1 << self.shift).div_ceil(self.step() as u64)
    }

    /// The added parameters in order: the original parameter, and the number of the binding, from 1.
    pub fn added(&self) -> impl Iterator<Item = (u32, u32)> {
        self.params.iter().flat_map(|&(param, count)| (1..count).map(move |piece| (param, piece)))
    }
}
