//! The key of a kernel's variants, and that of a launch.

use serde::{Deserialize, Serialize};
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg};
use wgcl_compiler::ir::{self, KernelParam};
use wgcl_compiler::launch::{KernelKey, LaunchKey};
use wgcl_compiler::vectorize::Style;

use crate::ndrange::Part;

/// What a kernel's code is made for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Key {
    /// What it is specialised to.
    pub(crate) kernel: KernelKey,
    /// Bytes of the largest vector that its instructions have: every instruction set has another number.
    pub(crate) vector_bytes: u32,
    /// Whether its accesses are checked.
    pub(crate) checked: bool,
}

impl Key {
    /// The key of a launch, but for the size of its groups. `large_offsets`: whether the device has memory objects within which offsets take 64 bits. What the application has allocated by itself may be
    /// of any size.
    pub(crate) fn of_launch(launch: &Launch, params: &[KernelParam], style: Style, large_offsets: bool) -> BackendResult<Self> {
        if params.len() != launch.args.len() {
            return Err(BackendError::Other("a launch with the wrong number of arguments".to_owned()));
        }
        // What is checked has to be whole.
        let large_offsets = large_offsets || style.checked || launch.args.iter().any(|arg| matches!(arg, LaunchArg::Address(_)));
        let mut kernel = KernelKey { zero_offset: launch.global_offset == [0; 3], large_offsets, ..KernelKey::default() };
        for (index, (param, arg)) in (0..).zip(params.iter().zip(&launch.args)) {
            match (param, arg) {
                (KernelParam::Buffer { .. }, LaunchArg::Buffer(None)) => kernel.null_args.push(index),
                (KernelParam::Local { .. }, LaunchArg::Local(bytes)) => kernel.local_args.push(*bytes),
                (KernelParam::Image, LaunchArg::Image(_, image)) => kernel.images.push(image.format),
                (KernelParam::Sampler, LaunchArg::Value(value)) => kernel.samplers.push(sampler_word(value)?),
                (KernelParam::Buffer { .. }, LaunchArg::Buffer(_) | LaunchArg::Address(_))
                | (KernelParam::Value | KernelParam::Bytes { .. }, LaunchArg::Value(_)) => {}
                _ => return Err(BackendError::Other("an argument of the wrong kind".to_owned())),
            }
        }
        Ok(Self { kernel, vector_bytes: style.isa.vector_bytes(), checked: style.checked })
    }

    /// The key for groups of a size.
    #[must_use]
    pub(crate) fn of_part(mut self, part: &Part) -> Self {
        (self.kernel.local_size, self.kernel.enqueued_local_size) = (part.local_size, part.enqueued);
        self
    }

    /// The key of a launch as it probably comes.
    pub(crate) fn probable(params: &[KernelParam], required: Option<[u32; 3]>, local_size: [u32; 3], style: Style) -> Self {
        let function = ir::Function {
            kernel: Some(ir::Kernel { params: params.to_vec(), reqd_work_group_size: required, ..ir::Kernel::default() }),
            ..ir::Function::new("", ir::Type::Void)
        };
        let kernel = KernelKey { large_offsets: style.checked, ..LaunchKey::example(&function, local_size).kernel };
        Self { kernel, vector_bytes: style.isa.vector_bytes(), checked: style.checked }
    }
}

/// The value of a sampler.
fn sampler_word(bytes: &[u8]) -> BackendResult<u32> {
    bytes.try_into().map(u32::from_le_bytes).map_err(|_| BackendError::Other("a sampler that is no word".to_owned()))
}
