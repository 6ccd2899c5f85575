//! The key of a compiled kernel variant.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg};
use wgcl_compiler::ir::{self, KernelParam};
use wgcl_compiler::launch::{KernelKey, LaunchKey};
use wgcl_compiler::stored::TARGET_TRIPLE;
use wgcl_compiler::vectorize::Style;

use crate::memory::ObjectSizes;
use crate::ndrange::Region;

/// The properties that the machine code of a kernel depends on. The disk cache uses them as a part of its key, because
/// several machines may share the cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct VariantKey {
    /// The kernel's specialisation.
    pub(crate) kernel: KernelKey,
    /// The instruction set. A vector size does not identify it: AVX2 and SVE-256 both have vectors of 32 bytes.
    isa: Cow<'static, str>,
    /// The target triple of this build, such as `x86_64-unknown-linux-gnu`. It determines the calling convention.
    triple: Cow<'static, str>,
    /// Whether the sanitizer checks the kernel.
    checked: bool,
}

impl VariantKey {
    fn new(kernel: KernelKey, style: Style) -> Self {
        Self { kernel, isa: Cow::Borrowed(style.isa.name()), triple: Cow::Borrowed(TARGET_TRIPLE), checked: style.checked }
    }

    /// Creates the key of a launch, without the local size. An argument that is an address requires 64-bit offsets,
    /// because the size of its memory is unknown.
    ///
    /// # Errors
    /// Fails if the arguments do not match the parameters.
    pub(crate) fn of_launch(launch: &Launch, params: &[KernelParam], style: Style, objects: ObjectSizes) -> BackendResult<Self> {
        if params.len() != launch.args.len() {
            let (expected, given) = (params.len(), launch.args.len());
            return Err(BackendError::Other(format!("kernel `{}`: expected {expected} arguments, got {given}", launch.kernel)));
        }
        // Large objects, the sanitizer, and arguments that are addresses require 64-bit offsets.
        let large_offsets = objects.large || style.checked || launch.args.iter().any(|arg| matches!(arg, LaunchArg::Address(_)));
        let mut kernel = KernelKey { zero_offset: launch.global_offset == [0; 3], large_offsets, ..KernelKey::default() };
        for (index, (param, arg)) in (0..).zip(params.iter().zip(&launch.args)) {
            match (param, arg) {
                (KernelParam::Buffer { .. }, LaunchArg::Buffer(None)) => kernel.null_args.push(index),
                (KernelParam::Local { .. }, LaunchArg::Local(bytes)) => kernel.local_args.push(*bytes),
                (KernelParam::Image, LaunchArg::Image(range, image)) => {
                    kernel.images.push(image.format);
                    kernel.large_images |= range.size > objects.max_small_image;
                }
                (KernelParam::Sampler, LaunchArg::Value(value)) => {
                    let size =
                        |_| format!("kernel `{}`: argument {index}: expected a sampler of 4 bytes, got {}", launch.kernel, value.len());
                    kernel.samplers.push((**value).try_into().map(u32::from_le_bytes).map_err(size).map_err(BackendError::Other)?);
                }
                (KernelParam::Buffer { .. }, LaunchArg::Buffer(_) | LaunchArg::Address(_))
                | (KernelParam::Value | KernelParam::Bytes { .. }, LaunchArg::Value(_)) => {}
                _ => {
                    let message = format!("kernel `{}`: argument {index} does not match its parameter", launch.kernel);
                    return Err(BackendError::Other(message));
                }
            }
        }
        Ok(Self::new(kernel, style))
    }

    /// Sets the local size of the key to that of a region's groups.
    #[must_use]
    pub(crate) fn with_region(mut self, region: &Region) -> Self {
        (self.kernel.local_size, self.kernel.enqueued_local_size) = (region.local_size, region.enqueued_local_size);
        self
    }

    /// Sets the local size of the key to 1 in each dimension, for a key that is the same for all local sizes.
    #[must_use]
    pub(crate) fn without_local_size(mut self) -> Self {
        (self.kernel.local_size, self.kernel.enqueued_local_size) = ([1; 3], [1; 3]);
        self
    }

    /// Returns the most probable key of a launch with this local size.
    pub(crate) fn probable(params: &[KernelParam], required: Option<[u32; 3]>, local_size: [u32; 3], style: Style) -> Self {
        let function = ir::Function {
            kernel: Some(ir::Kernel { params: params.to_vec(), reqd_work_group_size: required, ..ir::Kernel::default() }),
            ..ir::Function::new("", ir::Type::Void)
        };
        Self::new(KernelKey { large_offsets: style.checked, ..LaunchKey::example(&function, local_size).kernel }, style)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::collections::BTreeSet;

    use wgcl_codegen::Isa;
    use wgcl_compiler::launch::KernelKey;
    use wgcl_compiler::stored::TARGET_TRIPLE;
    use wgcl_compiler::vectorize::Style;

    use super::VariantKey;

    fn key(isa: Isa, checked: bool) -> VariantKey {
        VariantKey::new(KernelKey::default(), Style { isa, checked })
    }

    fn bytes(key: &VariantKey) -> Vec<u8> {
        postcard::to_stdvec(key).expect("bytes")
    }

    #[test]
    fn instruction_sets_and_targets_never_share_a_key() {
        let keys: Vec<VariantKey> = Isa::ALL.iter().flat_map(|&isa| [false, true].map(|checked| key(isa, checked))).collect();
        assert_eq!(keys.iter().map(bytes).collect::<BTreeSet<_>>().len(), keys.len());
        let avx2 = key(Isa::AVX2, false);
        let windows = VariantKey { triple: Cow::Borrowed("x86_64-pc-windows-msvc"), ..avx2.clone() };
        assert!(avx2 != windows && bytes(&avx2) != bytes(&windows));
        assert!(TARGET_TRIPLE.starts_with(std::env::consts::ARCH), "{TARGET_TRIPLE}");
    }

    #[test]
    fn a_decoded_key_equals_the_encoded_key() {
        let key = key(Isa::AVX512, true);
        assert_eq!(postcard::from_bytes(&bytes(&key)), Ok(key));
    }
}
