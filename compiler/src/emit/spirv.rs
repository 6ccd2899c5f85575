//! Validation, SPIR-V output, and post-processing of naga's SPIR-V.
//!
//! naga's writer does not support contraction control, unordered comparisons, aliasing or float controls.
//! Post-processing changes its output:
//!
//! * Every floating-point operation is decorated `NoContraction`. The IR already contains the fused operations, and
//!   some drivers perform arbitrary algebraic changes if the decoration is missing. `Fma` is decorated too, because it
//!   could otherwise become a product and a sum. `OpFConvert` is decorated, because Mesa 26.2 replaces a conversion to
//!   a narrower type and back by the unrounded value;
//! * `OpFOrdNotEqual` becomes `OpFUnordNotEqual`, `FMin` and `FMax` become `NMin` and `NMax`;
//! * Storage buffers are decorated `Aliased` if the shader has more than one. Exceptions are buffers that have one view
//!   or are only read, if the source has `restrict` or the launch binds no memory twice;
//! * The zero initialisers of private arrays are removed, because OpenCL C does not require them. The time that
//!   lavapipe's compiler needs for one is quadratic in the length of the array, and GPUs store the zeros;
//! * Preservation of denormals, of signed zeros, infinities and NaNs, and rounding to nearest even are requested if the
//!   device supports them. With [`Costs::approximate_division`](crate::target::Costs::approximate_division), this
//!   rounding is not requested for `float`.

use super::EmitError;
use super::words::{BINDING, FUNCTION, HEADER, STORAGE_BUFFER, op};
use crate::target::Target;
use naga::Module;
use naga::back::spv;
use naga::valid::{Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};
use rustc_hash::FxHashSet;

/// The naga capabilities that the shaders of a target may use.
pub(super) fn capabilities(target: &Target) -> Capabilities {
    let mut all = Capabilities::MEMORY_DECORATION_COHERENT;
    all.set(Capabilities::FLOAT64, target.shaders.fp64);
    all.set(Capabilities::SHADER_FLOAT16, target.language.fp16);
    all.set(Capabilities::SHADER_INT64, target.shaders.int64);
    all.set(Capabilities::SHADER_INT16, target.shaders.int16);
    all.set(Capabilities::SHADER_INT64_ATOMIC_ALL_OPS | Capabilities::SHADER_INT64_ATOMIC_MIN_MAX, target.shaders.int64_atomics);
    all.set(Capabilities::SHADER_FLOAT32_ATOMIC, target.shaders.float_atomics);
    all.set(Capabilities::SUBGROUP | Capabilities::SUBGROUP_BARRIER, target.language.subgroups);
    all
}

/// Validates a module. If the output is SPIR-V, several variables may have the same binding. Otherwise validation is
/// full.
pub(super) fn validate(module: &Module, target: &Target) -> Result<ModuleInfo, EmitError> {
    let mut flags = ValidationFlags::all();
    if target.shaders.spirv {
        flags.remove(ValidationFlags::BINDINGS);
    }
    Validator::new(flags, capabilities(target))
        .subgroup_stages(ShaderStages::COMPUTE)
        .subgroup_operations(SubgroupOperationSet::all())
        .validate(module)
        .map_err(|error| EmitError::Internal(describe(module, &error.into_inner())))
}

/// An error and its causes, on one line.
fn describe(_module: &Module, error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// The debug information of a SPIR-V module.
pub(super) enum Detail {
    /// The code alone.
    Code,
    Names,
    /// Names, and `OpLine`. The module has positions in this text ([`super::lines::with_rows`]).
    Rows(String),
}

/// Options with which naga adds no code: no bounds checks, no loop bounds, no initialisation.
fn options<'a>(detail: &'a Detail) -> spv::Options<'a> {
    let unchecked = naga::proc::BoundsCheckPolicy::Unchecked;
    spv::Options {
        lang_version: (1, 3),
        flags: if matches!(detail, Detail::Code) { spv::WriterFlags::empty() } else { spv::WriterFlags::DEBUG },
        debug_info: match detail {
            Detail::Rows(rows) => {
                Some(spv::DebugInfo { source_code: rows, file_name: "", language: naga::back::spv::SourceLanguage::Unknown })
            }
            Detail::Code | Detail::Names => None,
        },
        bounds_check_policies: naga::proc::BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        ray_query_initialization_tracking: false,
        trace_ray_argument_validation: false,
        use_storage_input_output_16: false,
        emit_int_div_checks: false,
        ..spv::Options::default()
    }
}

/// Writes a module as SPIR-V. `unaliased`: the bindings of group 0 that share no memory with others.
pub(super) fn write(
    module: &Module,
    info: &ModuleInfo,
    entry_point: &str,
    unaliased: &FxHashSet<u32>,
    target: &Target,
    detail: &Detail,
) -> Result<Vec<u32>, EmitError> {
    let pipeline = spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point: entry_point.to_owned() };
    let words = spv::write_vec(module, info, &options(detail), Some(&pipeline)).map_err(|error| EmitError::Internal(error.to_string()))?;
    let reads_clock = super::clock::is_read(module);
    finish(&words, unaliased, target)
        .and_then(|words| if reads_clock { super::clock::insert_reads(words) } else { Some(words) })
        .and_then(super::bytes::convert_views)
        .and_then(super::addresses::convert_views)
        .ok_or_else(|| EmitError::Internal("naga's SPIR-V does not have the expected form".to_owned()))
}

mod decoration {
    pub(super) const ALIASED: u32 = 20;
    pub(super) const NO_CONTRACTION: u32 = 42;
}

mod glsl {
    pub(super) const FMA: u32 = 50;
    pub(super) const F_MIN: u32 = 37;
    pub(super) const F_MAX: u32 = 40;
    pub(super) const N_MIN: u32 = 79;
    pub(super) const N_MAX: u32 = 80;
}

/// Post-processes naga's SPIR-V as described in the module documentation. Returns `None` if it is malformed.
fn finish(words: &[u32], unaliased: &FxHashSet<u32>, target: &Target) -> Option<Vec<u32>> {
    let mut out = Vec::with_capacity(words.len() + words.len() / 8);
    out.extend_from_slice(words.get(..HEADER)?);
    let mut inexact = Vec::new();
    let mut aliased = Vec::new();
    let mut restricted = FxHashSet::default();
    let (mut arrays, mut private_arrays) = (FxHashSet::default(), FxHashSet::default());
    let mut entry = None;
    // Positions in `out` at which instructions of each kind are inserted.
    let (mut after_capabilities, mut extensions_at, mut modes_at, mut annotations_at) = (HEADER, None, None, None);
    let mut at = HEADER;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        let code = words[at] & 0xffff;
        let inst = words.get(at..at + length).filter(|inst| !inst.is_empty())?;
        at += length;
        let start = out.len();
        out.extend_from_slice(inst);
        match code {
            op::TYPE_ARRAY => {
                arrays.insert(*inst.get(1)?);
            }
            op::TYPE_POINTER if inst.get(2) == Some(&FUNCTION) && arrays.contains(inst.get(3)?) => {
                private_arrays.insert(*inst.get(1)?);
            }
            _ => {}
        }
        match code {
            op::CAPABILITY => after_capabilities = out.len(),
            op::EXTENSION | op::EXT_INST_IMPORT | op::MEMORY_MODEL if extensions_at.is_none() => extensions_at = Some(start),
            op::ENTRY_POINT => {
                entry = inst.get(2).copied();
                modes_at = Some(out.len());
            }
            op::EXECUTION_MODE => modes_at = Some(out.len()),
            op::DECORATE if inst.get(2) == Some(&BINDING) && unaliased.contains(&(inst.get(3)? & !super::bytes::TAG)) => {
                restricted.insert(*inst.get(1)?);
            }
            op::TYPE_VOID..=op::TYPE_FORWARD_POINTER | op::CONSTANT_TRUE..=op::CONSTANT_NULL if annotations_at.is_none() => {
                annotations_at = Some(start);
            }
            op::VARIABLE if inst.get(3) == Some(&FUNCTION) && inst.len() == 5 && private_arrays.contains(inst.get(1)?) => {
                out.truncate(start + 4);
                out[start] = 4 << 16 | op::VARIABLE;
            }
            op::VARIABLE if inst.get(3) == Some(&STORAGE_BUFFER) => aliased.push(*inst.get(2)?),
            op::F_CONVERT | op::F_NEGATE | op::F_ADD | op::F_SUB | op::F_MUL | op::F_DIV | op::F_REM | op::F_MOD => {
                inexact.push(*inst.get(2)?)
            }
            op::F_ORD_NOT_EQUAL => out[start] = (words[at - length] & 0xffff_0000) | op::F_UNORD_NOT_EQUAL,
            op::EXT_INST => match inst.get(4) {
                Some(&glsl::F_MIN) => out[start + 4] = glsl::N_MIN,
                Some(&glsl::F_MAX) => out[start + 4] = glsl::N_MAX,
                Some(&glsl::FMA) => inexact.push(*inst.get(2)?),
                _ => {}
            },
            _ => {}
        }
    }
    if aliased.len() < 2 {
        aliased.clear();
    }
    aliased.retain(|id| !restricted.contains(id));
    let exact = inexact.iter().map(|&id| (id, decoration::NO_CONTRACTION));
    let annotations: Vec<u32> = exact
        .chain(aliased.iter().map(|&id| (id, decoration::ALIASED)))
        .flat_map(|(id, what)| [3 << 16 | op::DECORATE, id, what])
        .collect();
    // Inserts from the end to the start, so that the earlier positions remain valid.
    let annotations_at = annotations_at?;
    out.splice(annotations_at..annotations_at, annotations);
    let controls = FloatControls::of(target);
    if let (Some(entry), Some(modes_at), Some(extensions_at)) = (entry, modes_at, extensions_at)
        && !controls.is_empty()
    {
        out.splice(modes_at..modes_at, controls.modes(entry));
        out.splice(extensions_at..extensions_at, string_instruction(op::EXTENSION, "SPV_KHR_float_controls"));
        out.splice(after_capabilities..after_capabilities, controls.capabilities());
    }
    Some(out)
}

/// Changes the declared work-group size.
pub(crate) fn set_local_size(words: &mut [u32], local_size: [u32; 3]) {
    const LOCAL_SIZE: u32 = 17;
    let mut at = HEADER;
    while let Some(&first) = words.get(at) {
        let (length, code) = ((first >> 16) as usize, first & 0xffff);
        if code == op::TYPE_VOID || length == 0 {
            return;
        }
        if code == op::EXECUTION_MODE && words.get(at + 2) == Some(&LOCAL_SIZE) {
            words.iter_mut().skip(at + 3).zip(local_size).for_each(|(word, size)| *word = size);
        }
        at += length;
    }
}

/// An instruction whose only operand is a string.
pub(super) fn string_instruction(code: u32, text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let length = bytes.len() as u32 / 4 + 1;
    [length << 16 | code].into_iter().chain(words).collect()
}

/// Execution modes of SPV_KHR_float_controls: pairs of an execution mode and a width in bits.
struct FloatControls(Vec<(u32, u32)>);

impl FloatControls {
    const DENORM_PRESERVE: u32 = 4459;
    const SIGNED_ZERO_INF_NAN_PRESERVE: u32 = 4461;
    const ROUNDING_MODE_RTE: u32 = 4462;

    fn of(target: &Target) -> Self {
        let mut modes = Vec::new();
        let mut add = |mode, widths: u8| {
            for (bit, width, available) in [(1, 16, target.language.fp16), (2, 32, true), (4, 64, target.shaders.fp64)] {
                if widths & bit != 0 && available {
                    modes.push((mode, width));
                }
            }
        };
        add(Self::SIGNED_ZERO_INF_NAN_PRESERVE, target.shaders.float_controls.signed_zero_inf_nan_preserve);
        add(Self::DENORM_PRESERVE, target.shaders.float_controls.denorm_preserve);
        let approximate = if target.shaders.costs.approximate_division { 2 } else { 0 };
        add(Self::ROUNDING_MODE_RTE, target.shaders.float_controls.rounding_mode_rte & !approximate);
        Self(modes)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn modes(&self, entry: u32) -> Vec<u32> {
        self.0.iter().flat_map(|&(mode, width)| [4 << 16 | op::EXECUTION_MODE, entry, mode, width]).collect()
    }

    fn capabilities(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self
            .0
            .iter()
            .map(|&(mode, _)| match mode {
                Self::DENORM_PRESERVE => 4464,
                Self::SIGNED_ZERO_INF_NAN_PRESERVE => 4466,
                _ => 4467,
            })
            .collect();
        numbers.dedup();
        numbers.into_iter().flat_map(|number| [2 << 16 | op::CAPABILITY, number]).collect()
    }
}
