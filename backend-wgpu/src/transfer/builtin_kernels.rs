//! Built-in kernels for copies and fills. wgpu's commands require multiples of four bytes, and a kernel is faster for
//! large copies: on an H100, vkCmdCopyBuffer between two buffers in device memory takes four times as long as the
//! kernel.
//!
//! The printf buffer is also copied by a kernel, because only the device knows the number of bytes to copy.
//!
//! Each invocation writes whole words of the destination. No two invocations write the same word, and no bytes
//! outside of the range change.

use std::sync::Arc;

use wgcl_api::backend::{BackendError, BackendResult};
use wgpu::naga;

use crate::gpu::compute_pipeline::ComputePipeline;
use crate::gpu::open_device::Gpu;
use crate::vulkan::queue::{self, BindingType};

/// Work-items per group, for the kernels that write words.
const GROUP: u64 = 64;
/// Maximum number of groups of these kernels. Each work-item writes several words.
const MAX_GROUPS: u32 = 4096;
/// Maximum number of groups of `copy_counted`.
const MAX_COUNTED_GROUPS: u32 = 64;
/// Vectors that a group of `copy_wide` moves per iteration, four per work-item.
const WIDE_GROUP: u64 = 1024;
/// Size in bytes of the parameters of all kernels, including the pattern.
pub(crate) const PARAMETERS: u64 = 16 + PATTERN_BYTES as u64;
/// Maximum size in bytes of an expanded pattern: four times OpenCL's longest pattern.
pub(crate) const PATTERN_BYTES: usize = 512;

const SOURCE: &str = "
struct Parameters {
    // Copy: byte offset in the source. Fill: words of the pattern.
    first: u32,
    // First byte in the destination, and the byte after the last one.
    begin: u32,
    end: u32,
    // Words that all work-items write per iteration.
    stride: u32,
    pattern: array<vec4<u32>, 32>,
}
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> destination: array<u32>;
@group(0) @binding(2) var<storage, read_write> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> wide_destination: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> wide_source: array<vec4<u32>>;

// Writes the bytes of `value` that are in the range.
fn merge(word: u32, value: u32) {
    let first = word * 4u;
    if first >= parameters.begin && first + 4u <= parameters.end {
        destination[word] = value;
        return;
    }
    var mask = 0u;
    for (var k = 0u; k < 4u; k++) {
        let at = first + k;
        if at >= parameters.begin && at < parameters.end {
            mask |= 0xffu << (k * 8u);
        }
    }
    destination[word] = (destination[word] & ~mask) | (value & mask);
}

fn load(word: i32) -> u32 {
    if word < 0 || word >= i32(arrayLength(&source)) {
        return 0u;
    }
    return source[word];
}

@compute @workgroup_size(64)
fn copy(@builtin(global_invocation_id) id: vec3<u32>) {
    let last = (parameters.end + 3u) / 4u;
    let shift = i32(parameters.first) - i32(parameters.begin);
    for (var word = parameters.begin / 4u + id.x; word < last; word += parameters.stride) {
        let at = i32(word * 4u) + shift;
        let low = u32(at & 3) * 8u;
        var value = load(at >> 2u) >> low;
        if low != 0u {
            value |= load((at >> 2u) + 1) << (32u - low);
        }
        merge(word, value);
    }
}

// Copies vectors of 16 bytes. `first`, `begin` and `end` count vectors.
@compute @workgroup_size(256)
fn copy_wide(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) id: vec3<u32>) {
    let shift = parameters.first - parameters.begin;
    for (var at = parameters.begin + group.x * 1024u + id.x; at < parameters.end; at += parameters.stride) {
        if at + 768u < parameters.end {
            let a = wide_source[at + shift];
            let b = wide_source[at + shift + 256u];
            let c = wide_source[at + shift + 512u];
            let d = wide_source[at + shift + 768u];
            wide_destination[at] = a;
            wide_destination[at + 256u] = b;
            wide_destination[at + 512u] = c;
            wide_destination[at + 768u] = d;
        } else {
            for (var rest = at; rest < parameters.end; rest += 256u) {
                wide_destination[rest] = wide_source[rest + shift];
            }
        }
    }
}

// Copies a word that counts the words after it, and these words. `end` is the number of words of each buffer.
@compute @workgroup_size(64)
fn copy_counted(@builtin(global_invocation_id) id: vec3<u32>) {
    let last = min(source[0], parameters.end - 1u) + 1u;
    for (var word = id.x; word < last; word += parameters.stride) {
        destination[word] = source[word];
    }
}

@compute @workgroup_size(64)
fn fill(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = parameters.begin / 4u;
    let last = (parameters.end + 3u) / 4u;
    for (var word = first + id.x; word < last; word += parameters.stride) {
        let at = (word - first) % parameters.first;
        merge(word, parameters.pattern[at / 4u][at % 4u]);
    }
}
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    Copy,
    CopyWide,
    CopyCounted,
    Fill,
}

impl Builtin {
    const fn entry_point(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::CopyWide => "copy_wide",
            Self::CopyCounted => "copy_counted",
            Self::Fill => "fill",
        }
    }

    fn make(self, gpu: &Gpu) -> BackendResult<ComputePipeline> {
        let entry_point = self.entry_point();
        match &gpu.vulkan_queue {
            Some(queue) => {
                let (kinds, words) = (BINDINGS.map(|(binding, kind, _)| (binding, kind)), spirv(entry_point)?);
                // SAFETY: naga wrote the module, and `BINDINGS` describes it.
                unsafe { queue::Pipeline::new(queue, &words, entry_point, &kinds, gpu.subgroups) }
                    .map(|pipeline| ComputePipeline::Vulkan(Arc::new(pipeline)))
            }
            None => gpu.scoped(|| {
                let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some("wgcl"),
                    source: wgpu::ShaderSource::Wgsl(SOURCE.into()),
                });
                ComputePipeline::of_module(gpu, &module, entry_point, &BINDINGS)
            }),
        }
    }

    /// Returns the number of groups, and the number of words that all of them write per iteration. `size` is the size
    /// of the destination in bytes. For `copy_wide`, `size` and the second result count vectors.
    pub(crate) fn groups(self, size: u64, max_groups: u32) -> (u32, u32) {
        let (count, max_groups, each) = match self {
            Self::CopyWide => (size.div_ceil(WIDE_GROUP), max_groups, WIDE_GROUP),
            // Most launches print little.
            Self::CopyCounted => (size.div_ceil(4 * GROUP), max_groups.min(MAX_COUNTED_GROUPS), GROUP),
            Self::Copy | Self::Fill => (size.div_ceil(4 * GROUP), max_groups.min(MAX_GROUPS), GROUP),
        };
        let groups = count.clamp(1, u64::from(max_groups));
        (groups as u32, (groups * each) as u32)
    }
}

/// The bindings of every built-in kernel: parameters, destination, source. Each has a number, a type, and a minimum
/// size in bytes.
const BINDINGS: [(u32, BindingType, u64); 3] =
    [(0, BindingType::Arguments, PARAMETERS), (1, BindingType::Storage, 0), (2, BindingType::Storage, 0)];

/// The kernels on a device, created on first use.
#[derive(Debug, Default)]
pub(crate) struct Builtins([Option<ComputePipeline>; 4]);

impl Builtins {
    pub(crate) fn get(&mut self, gpu: &Gpu, builtin: Builtin) -> BackendResult<ComputePipeline> {
        let slot = &mut self.0[builtin as usize];
        match slot {
            Some(made) => Ok(made.clone()),
            None => Ok(slot.insert(builtin.make(gpu)?).clone()),
        }
    }
}

/// Compiles a kernel to SPIR-V.
fn spirv(entry_point: &str) -> BackendResult<Vec<u32>> {
    let failed = |error: String| BackendError::Other(format!("internal error: built-in kernel `{entry_point}` does not compile: {error}"));
    let module = naga::front::wgsl::parse_str(SOURCE).map_err(|error| failed(error.to_string()))?;
    let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::default());
    let info = validator.validate(&module).map_err(|error| failed(error.to_string()))?;
    let options = naga::back::spv::Options { lang_version: (1, 3), force_loop_bounding: false, ..naga::back::spv::Options::default() };
    let stage = naga::back::spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point: entry_point.to_owned() };
    naga::back::spv::write_vec(&module, &info, &options, Some(&stage)).map_err(|error| failed(error.to_string()))
}

/// Expands a pattern to whole words for the fill kernel, starting at the word that contains byte `offset` of the
/// buffer. Also returns the number of words.
pub(crate) fn expand_pattern(pattern: &[u8], offset: u64) -> ([u8; PATTERN_BYTES], u32) {
    debug_assert!((1..=PATTERN_BYTES / 4).contains(&pattern.len()), "pattern of {} bytes", pattern.len());
    let length = pattern.len();
    let words = if length.is_multiple_of(4) { length / 4 } else { length };
    let base = (offset & !3) as usize;
    // Index of the pattern byte at `base`, the first byte of the word. A repetition of the pattern starts at `offset`.
    let phase = (length - (offset as usize - base) % length) % length;
    let mut bytes = [0; PATTERN_BYTES];
    for (k, byte) in bytes.iter_mut().take(words * 4).enumerate() {
        *byte = pattern[(phase + k) % length];
    }
    (bytes, words as u32)
}

#[cfg(test)]
mod tests {
    use super::expand_pattern;

    #[test]
    fn patterns_begin_at_a_word() {
        let (bytes, words) = expand_pattern(&[1, 2], 2);
        assert_eq!((words, &bytes[..8]), (2, &[1, 2, 1, 2, 1, 2, 1, 2][..]));
        let (bytes, words) = expand_pattern(&[1, 2, 3], 3);
        // Byte 3 is the first byte of the pattern.
        assert_eq!((words, &bytes[..12]), (3, &[1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3][..]));
        let (bytes, words) = expand_pattern(&[1, 2, 3], 6);
        assert_eq!((words, &bytes[..5]), (3, &[2, 3, 1, 2, 3][..]));
        let (_, words) = expand_pattern(&[0; 128], 128);
        assert_eq!(words, 32);
    }
}
