//! The input of a launch to the compiler, and its failures: keys and errors. [`crate::specialise`] uses them.
//!
//! Example: the key of a launch with groups of 64 work-items is [`LaunchKey::example`] with `[64, 1, 1]`.

use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

use crate::diag::{Diagnostic, Span};
use crate::ir;
use crate::ir::image::ImageFormat;

/// The launch parameters that code is specialised to. Equal keys give equal code; keep it small.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LaunchKey {
    /// The parameters that apply to every kind of device.
    pub kernel: KernelKey,
    /// How memory is bound and how the NDRange is divided if kernels run as shaders.
    pub binding: BindingKey,
}

/// The key for passes that run when a program is built. They get a key but do not use it.
pub static NONE: LaunchKey = LaunchKey { kernel: KernelKey::NONE, binding: BindingKey::WHOLE };

/// A list of words in a key, nearly always empty. Comparing empty lists does not touch memory. `memcmp` of zero bytes
/// may load from the slice's dangling address. Processors then need some 80 ns, and Zen 4 cores are slower
/// afterwards: after one such comparison a copy of 4 MiB took 1.08 times as long.
#[derive(Clone, Debug, Default, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Words(Vec<u32>);

impl Words {
    pub const fn new() -> Self {
        Self(Vec::new())
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && (self.0.is_empty() || self.0 == other.0)
    }
}

impl Hash for Words {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Deref for Words {
    type Target = Vec<u32>;

    fn deref(&self) -> &Vec<u32> {
        &self.0
    }
}

impl DerefMut for Words {
    fn deref_mut(&mut self) -> &mut Vec<u32> {
        &mut self.0
    }
}

impl From<Vec<u32>> for Words {
    fn from(words: Vec<u32>) -> Self {
        Self(words)
    }
}

impl FromIterator<u32> for Words {
    fn from_iter<I: IntoIterator<Item = u32>>(words: I) -> Self {
        Self(words.into_iter().collect())
    }
}

/// Values that a kernel's code can query and that are the same for all work-items of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KernelKey {
    /// Size of the work-groups of this dispatch.
    pub local_size: [u32; 3],
    /// Work-group size that the launch requested; only groups at the upper edges of an NDRange are smaller.
    pub enqueued_local_size: [u32; 3],
    /// Dimensions in which the last groups extend beyond the NDRange: work-items outside of it return at once. Only
    /// for kernels that do not depend on their work-group ([`crate::passes::group_blind()`]).
    pub guard: [bool; 3],
    /// Whether the global offset is zero in all dimensions.
    pub zero_offset: bool,
    /// Whether a memory object that the kernel may access has more than 2 GiB, so that offsets need 64 bits.
    pub large_offsets: bool,
    /// Size in bytes of each `__local` argument, in order of the kernel's `KernelParam::Local` parameters.
    pub local_args: Words,
    /// Indices of the parameters with a null pointer; nearly always empty.
    pub null_args: Words,
    /// The format of each image, in order of the kernel's `KernelParam::Image` parameters.
    pub images: Vec<ImageFormat>,
    /// The value of each sampler, in order of the kernel's `KernelParam::Sampler` parameters: the bits of OpenCL C's
    /// CLK_ constants.
    pub samplers: Words,
}

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

impl KernelKey {
    /// The key of a kernel outside of a launch.
    const NONE: Self = Self {
        local_size: [0; 3],
        enqueued_local_size: [0; 3],
        guard: [false; 3],
        zero_offset: false,
        large_offsets: false,
        local_args: Words::new(),
        null_args: Words::new(),
        images: Vec::new(),
        samplers: Words::new(),
    };
}

impl BindingKey {
    /// One dispatch for the whole NDRange, one invocation per work-item, and no information about buffers.
    const WHOLE: Self = Self {
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

impl Default for KernelKey {
    fn default() -> Self {
        Self::NONE
    }
}

impl Default for BindingKey {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl LaunchKey {
    /// A key for `wgclc` and tests: the required work-group size or `local_size`, 4 KiB for each local argument, 64
    /// KiB uniforms.
    pub fn example(function: &ir::Function, local_size: [u32; 3]) -> Self {
        let kernel = KernelKey { local_size, enqueued_local_size: local_size, zero_offset: true, ..KernelKey::default() };
        let mut key = Self { kernel, binding: BindingKey::default() };
        if let Some(kernel) = &function.kernel {
            if let Some(size) = kernel.reqd_work_group_size {
                key.kernel.local_size = size;
                key.kernel.enqueued_local_size = size;
            }
            for param in &kernel.params {
                match param {
                    ir::KernelParam::Local { .. } => key.kernel.local_args.push(4096),
                    // CL_RGBA, CL_UNORM_INT8
                    ir::KernelParam::Image => key.kernel.images.push(ImageFormat { order: 0x10b5, data_type: 0x10d2 }),
                    // Unnormalised coordinates, clamped to the edge, nearest.
                    ir::KernelParam::Sampler => key.kernel.samplers.push(0x12),
                    ir::KernelParam::Buffer { space: ir::Space::Constant, .. } => {
                        key.binding.constant_args.push(ConstantBinding::Uniform(65536));
                    }
                    _ => {}
                }
            }
        }
        key
    }

    /// The same key with a change: for tests and tools.
    #[must_use]
    pub fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// How a `__constant` argument is bound in a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ConstantBinding {
    /// A uniform buffer of this size in bytes (a power of two from 256 to the device's limit). The binding has the
    /// same size.
    Uniform(u32),
    /// A read-write storage buffer (like a `__global` argument): too large for a uniform binding, or also bound writable.
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

/// Why a kernel could not be specialised: a defect of the compiler or a limit of the device, never an error in the
/// source.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum LaunchError {
    #[error("no kernel named `{0}`")]
    NoKernel(String),
    /// The kernel exceeds a limit of the device.
    #[error("kernel `{kernel}` needs {needed} {what}; the limit of the device is {limit}")]
    Limit {
        kernel: String,
        /// The limited resource.
        what: &'static str,
        /// How much it takes.
        needed: u64,
        /// How much there is.
        limit: u64,
    },
    /// The kernel exceeds the instruction limit after inlining, which drivers do.
    #[error("kernel `{kernel}` has {size} instructions after inlining; the limit for this device is {limit}")]
    TooLarge { kernel: String, size: u64, limit: u64 },
    /// A construct that this device or this version does not support.
    #[error("kernel `{kernel}`: {what} is not supported")]
    Unsupported { kernel: String, what: String },
    /// A barrier in control flow that the device's language does not accept as uniform for the work-group.
    #[error("kernel `{kernel}`: barrier in control flow that may be non-uniform for the work-group; the device's language rejects it")]
    NotUniform {
        kernel: String,
        /// Where the barrier is.
        at: Span,
        /// The branch that the barrier's control flow depends on.
        branch: Span,
    },
    /// A pass or naga rejected the compiler's own output: a defect of the compiler.
    #[error("kernel `{kernel}`: internal compiler error in {stage}: {message}")]
    Internal { kernel: String, stage: &'static str, message: String },
}

impl LaunchError {
    /// This error as a diagnostic, if it refers to the source.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let Self::NotUniform { at, branch, .. } = self else { return None };
        let error = Diagnostic::error(*at, self.to_string());
        Some(if *branch == Span::NONE { error } else { error.with_note(*branch, "control flow depends on this condition") })
    }
}

pub type LaunchResult<T> = Result<T, LaunchError>;
