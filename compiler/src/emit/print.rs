//! Prints shaders as text.
//!
//! Example: `wgclc --emit wgsl` prints [`Format::Wgsl`].

use super::EmitError;
use super::lines::{LineOf, LinedText, with_markers, without_markers, without_op_lines};
use super::shader::Shader;
use super::spirv::validate;
use crate::launch::{LaunchError, LaunchResult};
use crate::target::Target;
use naga::back::{glsl, hlsl, msl, wgsl};

/// The language of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Debug output of naga's data structures.
    Naga,
    /// Disassembly of the SPIR-V that the driver receives.
    Spirv,
    /// WebGPU Shading Language.
    Wgsl,
    /// Metal Shading Language.
    Msl,
    /// High-Level Shading Language, shader model 6.6.
    Hlsl,
    /// OpenGL ES Shading Language 3.10.
    Glsl,
}

/// Prints a shader. If [`Shaders::spirv`](crate::target::Shaders::spirv) is true, the caller must not request other
/// formats than `Naga` and `Spirv`: the other languages do not support aliased views. This is not checked. If `spirv`
/// is false, `Spirv` fails.
///
/// # Errors
///
/// Fails if the language does not support a construct of the shader.
pub fn print(shader: &Shader, format: Format, target: &Target) -> LaunchResult<String> {
    let entry = shader.entry_point.clone();
    super::contain(&entry, "printing", || match format {
        Format::Naga => Ok(format!("{:#?}\n", shader.naga)),
        Format::Spirv => match &shader.spirv {
            Some(words) => disassemble(words),
            None => Err(EmitError::unsupported("SPIR-V output for this target")),
        },
        Format::Wgsl | Format::Msl | Format::Hlsl | Format::Glsl => text(shader, format, target),
    })
    .map_err(|error| match error {
        LaunchError::Internal { kernel, message, .. } => LaunchError::Internal { kernel, stage: "printing", message },
        other => other,
    })
}

/// Returns the name of the entry point in WGSL. naga's writer appends an underscore to names that end with a digit, and
/// to names of WGSL's functions and types, such as `step`.
pub fn wgsl_entry_point(shader: &Shader) -> String {
    use naga::keywords::wgsl::{BUILTIN_IDENTIFIER_SET, RESERVED_SET};
    use naga::proc::{CaseInsensitiveKeywordSet, NameKey, Namer};
    let mut names = naga::FastHashMap::default();
    let insensitive = CaseInsensitiveKeywordSet::empty();
    Namer::default().reset(&shader.naga, &RESERVED_SET, &BUILTIN_IDENTIFIER_SET, insensitive, &["__", "_naga"], &mut names);
    names.remove(&NameKey::EntryPoint(0)).unwrap_or_else(|| shader.entry_point.clone())
}

/// Prints a shader with the line of the source for each line of the text. A shader in SPIR-V must have been emitted
/// with lines. Only WGSL and SPIR-V have lines.
///
/// # Errors
/// See [`print`].
pub fn print_lines(shader: &Shader, format: Format, target: &Target, line_of: LineOf<'_>) -> LaunchResult<LinedText> {
    let text = print(shader, format, target)?;
    match format {
        Format::Spirv => Ok(without_op_lines(&text)),
        Format::Wgsl => {
            let marked = Shader { naga: with_markers(&shader.naga, line_of), ..shader.clone() };
            let lined = without_markers(&print(&marked, format, target)?);
            // A difference means that the markers have changed the code.
            Ok(if lined.text == text { lined } else { LinedText::without_lines(text) })
        }
        _ => Ok(LinedText::without_lines(text)),
    }
}

fn disassemble(words: &[u32]) -> Result<String, EmitError> {
    use rspirv::binary::Disassemble;
    let mut loader = rspirv::dr::Loader::new();
    rspirv::binary::parse_words(words, &mut loader).map_err(|error| EmitError::Internal(error.to_string()))?;
    Ok(loader.module().disassemble() + "\n")
}

fn text(shader: &Shader, format: Format, target: &Target) -> Result<String, EmitError> {
    let module = &shader.naga;
    let info = validate(module, target)?;
    let language = match format {
        Format::Msl => "MSL",
        Format::Hlsl => "HLSL",
        Format::Glsl => "GLSL",
        _ => "WGSL",
    };
    let failed = |error: &dyn std::error::Error| EmitError::Unsupported(format!("output as {language} ({error})"));
    let unchecked = naga::proc::BoundsCheckPolicies {
        index: naga::proc::BoundsCheckPolicy::Unchecked,
        buffer: naga::proc::BoundsCheckPolicy::Unchecked,
        image_load: naga::proc::BoundsCheckPolicy::Unchecked,
        binding_array: naga::proc::BoundsCheckPolicy::Unchecked,
    };
    match format {
        Format::Msl if module.types.iter().any(|(_, ty)| is_double(&ty.inner)) => Err(EmitError::unsupported("`double` in MSL")),
        Format::Msl => {
            let options = msl::Options {
                lang_version: (3, 0),
                bounds_check_policies: unchecked,
                zero_initialize_workgroup_memory: false,
                force_loop_bounding: false,
                emit_int_div_checks: false,
                ..msl::Options::default()
            };
            msl::write_string(module, &info, &options, &msl::PipelineOptions::default())
                .map(|(text, _)| text)
                .map_err(|error| failed(&error))
        }
        Format::Hlsl => {
            let options = hlsl::Options {
                shader_model: if target.shaders.int64 { hlsl::ShaderModel::V6_6 } else { hlsl::ShaderModel::V5_1 },
                zero_initialize_workgroup_memory: false,
                restrict_indexing: false,
                force_loop_bounding: false,
                ..hlsl::Options::default()
            };
            let pipeline = hlsl::PipelineOptions::default();
            let mut text = String::new();
            hlsl::Writer::new(&mut text, &options, &pipeline).write(module, &info, None).map_err(|error| failed(&error))?;
            Ok(text)
        }
        Format::Glsl => {
            let options = glsl::Options {
                version: glsl::Version::new_gles(310),
                zero_initialize_workgroup_memory: false,
                ..glsl::Options::default()
            };
            let entry_point = shader.entry_point.clone();
            let pipeline = glsl::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point, multiview: None };
            let mut text = String::new();
            glsl::Writer::new(&mut text, module, &info, &options, &pipeline, unchecked)
                .and_then(|mut writer| writer.write())
                .map_err(|error| failed(&error))?;
            Ok(text)
        }
        _ => wgsl::write_string(module, &info, wgsl::WriterFlags::empty()).map_err(|error| failed(&error)),
    }
}

fn is_double(ty: &naga::TypeInner) -> bool {
    matches!(ty, naga::TypeInner::Scalar(naga::Scalar::F64) | naga::TypeInner::Vector { scalar: naga::Scalar::F64, .. })
}
