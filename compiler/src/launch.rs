//! The launch key: the properties of a launch that the compiler specialises code to. Also the errors of
//! [`crate::specialise`].
//!
//! Example: [`LaunchKey::example`] with `[64, 1, 1]` is the key of a launch with work-groups of 64 work-items.

use serde::{Deserialize, Serialize};

pub use crate::binding::{BindingKey, ConstantBinding, SplitBindings};
use crate::diag::{Diagnostic, Span};
use crate::ir;
use crate::ir::image::ImageFormat;
use crate::project::BUG_TRACKER;
pub use crate::word_list::Words;

/// The launch parameters that code is specialised to. Equal keys result in equal code. The key should be small.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LaunchKey {
    /// The parameters that apply to every kind of device.
    pub kernel: KernelKey,
    /// For shaders: how memory is bound, and how the NDRange is divided into dispatches.
    pub binding: BindingKey,
}

/// The key for passes that run when a program is built. They do not use it.
pub static NONE: LaunchKey = LaunchKey { kernel: KernelKey::NONE, binding: BindingKey::WHOLE };

/// Properties of a launch that the code of a kernel depends on, for every kind of device.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KernelKey {
    /// Size of the work-groups of this dispatch in work-items.
    pub local_size: [u32; 3],
    /// Work-group size that the launch requested. Only the last work-groups in each dimension of an NDRange may be
    /// smaller.
    pub enqueued_local_size: [u32; 3],
    /// Dimensions in which the last work-groups extend beyond the NDRange. Work-items outside of it return immediately.
    /// Only for kernels that do not depend on their work-group ([`crate::passes::group_independent()`]).
    pub guard: [bool; 3],
    /// Whether the global offset is zero in all dimensions.
    pub zero_offset: bool,
    /// Whether offsets need 64 bits, for example because the kernel may access a memory object of more than 2 GiB.
    pub large_offsets: bool,
    /// Whether an image of the launch has more than 4 GiB, so that the library computes the offsets of elements with 64
    /// bits. Implies `large_offsets`.
    pub large_images: bool,
    /// Size in bytes of each `__local` argument, in order of the kernel's `KernelParam::Local` parameters.
    pub local_args: Words,
    /// Indices of the parameters with a null pointer. Nearly always empty.
    pub null_args: Words,
    /// The format of each image, in order of the kernel's `KernelParam::Image` parameters.
    pub images: Vec<ImageFormat>,
    /// The value of each sampler, in order of the kernel's `KernelParam::Sampler` parameters. The bits are those of the
    /// CLK_ constants of OpenCL C.
    pub samplers: Words,
}

impl KernelKey {
    /// The key of a kernel without a launch.
    const NONE: Self = Self {
        local_size: [0; 3],
        enqueued_local_size: [0; 3],
        guard: [false; 3],
        zero_offset: false,
        large_offsets: false,
        large_images: false,
        local_args: Words::new(),
        null_args: Words::new(),
        images: Vec::new(),
        samplers: Words::new(),
    };
}

impl Default for KernelKey {
    fn default() -> Self {
        Self::NONE
    }
}

impl LaunchKey {
    /// Returns a key for `wgclc` and tests, with the required work-group size or `local_size`. Each local argument has
    /// 4 KiB, and each `__constant` argument is a uniform buffer of 64 KiB.
    pub fn example(function: &ir::Function, local_size: [u32; 3]) -> Self {
        let kernel = KernelKey { local_size, enqueued_local_size: local_size, zero_offset: true, ..KernelKey::default() };
        let mut key = Self { kernel, binding: BindingKey::default() };
        if let Some(kernel) = &function.kernel {
            key.binding.addresses = kernel.requires_addresses;
            if let Some(size) = kernel.reqd_work_group_size {
                key.kernel.local_size = size;
                key.kernel.enqueued_local_size = size;
            }
            for param in &kernel.params {
                match param {
                    ir::KernelParam::Local { .. } => key.kernel.local_args.push(4096),
                    // CL_RGBA, CL_UNORM_INT8
                    ir::KernelParam::Image => key.kernel.images.push(ImageFormat { order: 0x10b5, data_type: 0x10d2 }),
                    // Unnormalised coordinates, clamped to the edge, with nearest filtering.
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

    /// Returns the key with a change, for tests and tools.
    #[must_use]
    pub fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// The maximum size in bytes of an image whose elements have 32-bit offsets ([`KernelKey::large_images`]).
pub const MAX_SMALL_IMAGE: u64 = 1 << 32;

/// The value of `what` in [`LaunchError::Limit`] for kernels whose control flow is nested too deeply.
pub const NESTED_LEVELS: &str = "levels of nested control flow";

/// The reason why a kernel could not be specialised.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum LaunchError {
    /// The program does not have the kernel.
    #[error("no kernel is named `{0}`")]
    NoKernel(String),
    /// The kernel exceeds a limit of the device.
    #[error("kernel `{kernel}` needs {needed} {what}; the limit of the device is {limit}")]
    Limit {
        kernel: String,
        /// The limited resource.
        what: &'static str,
        /// The required amount.
        needed: u64,
        /// The limit of the device.
        limit: u64,
    },
    /// The kernel exceeds the maximum number of instructions. Copies by inlining count, because drivers inline all
    /// calls.
    #[error("kernel `{kernel}` has {size} instructions after inlining; the limit for this device is {limit}")]
    TooLarge { kernel: String, size: u64, limit: u64 },
    /// A construct that this device or this version does not support.
    #[error("kernel `{kernel}`: {what} is not supported")]
    Unsupported { kernel: String, what: String },
    /// A barrier in control flow that the shader language does not accept as uniform for the work-group.
    #[error(
        "kernel `{kernel}`: the barrier is in control flow that may be non-uniform in the work-group, which the shader language does not permit"
    )]
    NotUniform {
        kernel: String,
        /// The location of the barrier.
        at: Span,
        /// The location of the condition that the control flow of the barrier depends on.
        branch: Span,
    },
    /// A pass or naga rejected the compiler's own output: a defect of the compiler.
    #[error("kernel `{kernel}`: internal compiler error in {stage}: {message}; report it at {BUG_TRACKER}")]
    Internal { kernel: String, stage: &'static str, message: String },
}

impl LaunchError {
    /// Returns the error as a diagnostic if it has a source location, which only [`Self::NotUniform`] has.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let Self::NotUniform { at, branch, .. } = self else { return None };
        let error = Diagnostic::error(*at, self.to_string());
        Some(if *branch == Span::NONE { error } else { error.with_note(*branch, "control flow depends on this condition") })
    }
}

pub type LaunchResult<T> = Result<T, LaunchError>;
