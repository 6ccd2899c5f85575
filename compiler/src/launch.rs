//! What a launch tells the compiler, and what the compiler may answer: keys and errors. [`crate::specialise`] tells what happens in between.

use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

use crate::diag::{Diagnostic, Span};
use crate::ir;
use crate::ir::image::ImageFormat;

/// What is known at launch. Equal keys give equal code; keep it small.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LaunchKey {
    /// What the kernel is specialised to, on every kind of device.
    pub kernel: KernelKey,
    /// How memory is bound and the range is divided where kernels run as shaders.
    pub binding: BindingKey,
}

/// No launch: passes of a build are told of one, but do not ask.
pub static NONE: LaunchKey = LaunchKey { kernel: KernelKey::NONE, binding: BindingKey::WHOLE };

/// Words of a key, of which there are nearly always none. Comparing none looks at no memory: the C library may compare no bytes by a load of none from where the slice says that they are,
/// and an empty slice's address is one that leads nowhere. Processors take some 80 ns to find out that the load does not matter, and those with Zen 4 cores are slower afterwards: a copy of
/// 4 MiB took 1.08 times as long as otherwise behind one such comparison.
#[derive(Clone, Debug, Default, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Words(Vec<u32>);

impl Words {
    /// No words.
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

/// What a kernel is specialised to: what its code may ask for and is the same for all work-items of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KernelKey {
    /// Work-items a group in each dimension: those of the groups of this dispatch.
    pub local_size: [u32; 3],
    /// Work-items a group in each dimension as the launch asks for them; only groups at the upper edges of an NDRange have fewer.
    pub enqueued_local_size: [u32; 3],
    /// Dimensions in which the last groups reach beyond the NDRange: work-items that are not in it end at once. Only for kernels that cannot tell
    /// ([`crate::passes::group_blind()`]).
    pub guard: [bool; 3],
    /// Whether the global offset is zero in all dimensions.
    pub zero_offset: bool,
    /// Whether a memory object that the kernel may reach has more than 2 GiB, so that offsets within it take 64 bits.
    pub large_offsets: bool,
    /// Bytes of each `__local` argument, in order of the kernel's `KernelParam::Local` parameters.
    pub local_args: Words,
    /// Indices of the parameters for which the host passed a null pointer; nearly always empty.
    pub null_args: Words,
    /// The format of each image, in order of the kernel's `KernelParam::Image` parameters.
    pub images: Vec<ImageFormat>,
    /// The value of each sampler, in order of the kernel's `KernelParam::Sampler` parameters: the bits of OpenCL C's CLK_ constants.
    pub samplers: Words,
}

/// How a shader's memory is bound, and how an NDRange becomes dispatches.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BindingKey {
    /// How each `__constant` argument is bound, in order of the kernel's `Buffer { space: Constant, .. }` parameters.
    pub constant_args: Vec<ConstantBinding>,
    /// Indices of the parameters that share one binding, that of the first of them; nearly always empty.
    pub merged: Words,
    /// Indices of the parameters whose pointer does not point to the first byte of what is bound for them (shared virtual memory); nearly always empty.
    pub started_args: Words,
    /// Whether no two of the buffers and images that the launch binds share memory, so that what is written through one is not seen through another.
    pub distinct: bool,
    /// Whether buffers and images are reached by addresses of the device's memory, which the argument buffer has, and not by bindings
    /// ([`Shaders::addresses`](crate::target::Shaders::addresses)): then they may have any number and any size.
    pub addresses: bool,
    /// Buffers that the launch binds besides the arguments, because pointers in memory may lead there: parameters behind the kernel's own.
    pub extra_buffers: u32,
    /// The parameters that are bound in several pieces; nearly always none.
    pub split: SplitBindings,
    /// Whether the dispatch begins with the NDRange's first group: the group base is zero.
    pub single_dispatch: bool,
    /// Work-items of dimension 0 that an invocation may stand for (`passes::coarsen`): a power of two that divides the global size. More than one only for
    /// kernels that cannot tell how they are grouped, with an offset of zero.
    pub coarsen: u32,
    /// Whether a dispatch's second dimension continues the first: so one dispatch holds more groups of a one-dimensional NDRange than a dimension may have.
    pub two_dimensional_dispatch: bool,
}

impl KernelKey {
    /// Of a kernel that is not launched.
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
    /// All of an NDRange in one dispatch, an invocation for each work-item, and buffers of which nothing is known.
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
    /// A key for `wgclc` and tests: the required work-group size or `local_size`, 4 KiB for each local argument, 64 KiB uniforms.
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

    /// The same key with something changed: for tests and tools.
    #[must_use]
    pub fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// How a `__constant` argument is bound in a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ConstantBinding {
    /// A uniform buffer of that many bytes (a power of two from 256 to the device's limit): the binding must be as large.
    Uniform(u32),
    /// A read-write storage buffer (like a `__global` argument): too large for a uniform binding, or also bound writable.
    Storage,
}

/// Buffers that are larger than a binding may be: each is bound as several *pieces*, one after the other, and an access chooses the one where it begins
/// (`passes::split_bindings`).
///
/// A piece begins [`SplitBindings::step`] bytes behind the one before it and has `1 << shift` bytes, the last one what is left: it goes on for [`SplitBindings::overlap`]
/// bytes where the next one has begun, so that an access lies in one piece whatever its alignment. The first piece is bound for the parameter itself, the
/// others for parameters behind all others, in the order of `params`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SplitBindings {
    /// The parameters, those for extra buffers included, and how many pieces each is bound as: two at least.
    pub params: Vec<(u32, u32)>,
    /// Bytes of a piece, as a power of two.
    pub shift: u32,
    /// Bytes that a piece shares with the next: a multiple of the alignment of bindings, [`SplitBindings::WIDEST`] at least. The number of pieces times this is less
    /// than the bytes of a piece.
    pub overlap: u32,
}

impl SplitBindings {
    /// Bytes of the widest access: sixteen lanes of 64 bits.
    pub const WIDEST: u32 = 128;

    /// Bytes from where a piece begins to where the next one does.
    pub const fn step(&self) -> u32 {
        (1 << self.shift) - self.overlap
    }

    /// Number of bindings for a buffer of `size` bytes; at least one.
    pub const fn count(&self, size: u64) -> u64 {
        1 + size.saturating_sub(1 << self.shift).div_ceil(self.step() as u64)
    }

    /// The parameters that are added, in their order: which one each is a piece of, and which piece, from 1 on.
    pub fn added(&self) -> impl Iterator<Item = (u32, u32)> {
        self.params.iter().flat_map(|&(param, count)| (1..count).map(move |piece| (param, piece)))
    }
}

/// Why a kernel could not be specialised. A defect of ours or a limit of the device, never of the source's form.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum LaunchError {
    /// No kernel of that name.
    #[error("no kernel named `{0}`")]
    NoKernel(String),
    /// The kernel needs more of something than the device has.
    #[error("kernel `{kernel}` needs {needed} {what}, the device has {limit}")]
    Limit {
        /// The kernel.
        kernel: String,
        /// What there is not enough of.
        what: &'static str,
        /// How much it takes.
        needed: u64,
        /// How much there is.
        limit: u64,
    },
    /// A construct that this device or this version cannot express.
    #[error("kernel `{kernel}`: {what} is not supported")]
    Unsupported {
        /// The kernel.
        kernel: String,
        /// The construct.
        what: String,
    },
    /// A barrier where the device's language asks for control flow that it sees to be the same for all of a work-group.
    #[error(
        "kernel `{kernel}`: a barrier in control flow that may not be the same for all work-items of a group, which the device's language refuses"
    )]
    NotUniform {
        /// The kernel.
        kernel: String,
        /// Where the barrier is.
        at: Span,
        /// Where the branch is that its control flow depends on.
        branch: Span,
    },
    /// A pass or naga rejected what we made: a defect of the compiler.
    #[error("kernel `{kernel}`: internal compiler error in {stage}: {message}")]
    Internal {
        /// The kernel.
        kernel: String,
        /// Where.
        stage: &'static str,
        /// What was said.
        message: String,
    },
}

impl LaunchError {
    /// The same as a diagnostic, where it is about a place in the source.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let Self::NotUniform { at, branch, .. } = self else { return None };
        let error = Diagnostic::error(*at, self.to_string());
        Some(if *branch == Span::NONE { error } else { error.with_note(*branch, "what control flow depends on is here") })
    }
}

/// Convenience for passes and emission.
pub type LaunchResult<T> = Result<T, LaunchError>;
