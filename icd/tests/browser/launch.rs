//! Converts a run of a `.cl` file to a WebGPU launch: the shader in WGSL, and its bindings.

use std::collections::HashMap;

use serde_json::{Value as Json, json};
use wgcl_client::contents::{fill, layout};
use wgcl_client::error::NotationError;
use wgcl_client::expression::{Input, Scope};
use wgcl_client::notation::ArgumentKind;
use wgcl_compiler::binding::{ArgLayout, hidden};
use wgcl_compiler::build::build;
use wgcl_compiler::emit::{BindingKind, BindingSource, Format, Shader, print};
use wgcl_compiler::ir::{KernelParam, Space};
use wgcl_compiler::launch::{ConstantBinding, LaunchError, LaunchKey};
use wgcl_compiler::layout::program_data;
use wgcl_compiler::options;
use wgcl_compiler::passes::locks::TABLE_BYTES;
use wgcl_compiler::program::{Program, Source};
use wgcl_compiler::specialise::specialise;
use wgcl_compiler::target::Target;

use crate::directive::{Run, Variant};

/// The largest work-group size that is chosen if the file does not specify one.
const GROUP: usize = 64;

/// Maximum number of work-groups per dispatch in each dimension.
const MOST_GROUPS: u32 = 65535;

/// For each binding, the name of the argument to which its buffer belongs, and the number of bytes of the argument.
/// `None` for a binding without an argument.
type Buffers = Vec<Option<(String, usize)>>;

/// The expected reaction of the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The launch runs.
    Accepted,
    /// The browser rejects a barrier in non-uniform control flow.
    Rejected,
}

pub struct Launch {
    pub verdict: Verdict,
    /// Whether the compiler changed non-uniform control flow, which the browser would reject.
    pub becomes_uniform: bool,
    /// The description of the launch that the page receives.
    pub request: Json,
    /// The initial contents of the arguments, by name.
    pub inputs: HashMap<String, Input>,
    pub buffers: Buffers,
}

/// The bytes of an argument: the contents of a buffer, or a value.
enum Bytes {
    Buffer(Vec<u8>),
    Value(Vec<u8>),
    Local(usize),
}

/// Extends sizes to three dimensions. Missing dimensions become `rest`.
fn three(numbers: &[usize], rest: usize) -> [u32; 3] {
    [0, 1, 2].map(|dimension| numbers.get(dimension).copied().unwrap_or(rest) as u32)
}

/// Returns the work-group size: that of the file or the kernel, or else the largest suitable divisor of the first
/// dimension.
fn group(run: &Run, required: Option<[u32; 3]>) -> [u32; 3] {
    let chosen = || (1..=GROUP).rev().find(|size| run.launch.global[0].is_multiple_of(*size)).unwrap_or(1);
    run.launch.local.as_ref().map_or_else(|| required.unwrap_or_else(|| three(&[chosen()], 1)), |local| three(local, 1))
}

/// Returns the launches of a variant's run. Without non-uniform control flow, this is one launch. Otherwise, the last
/// launch is the original kernel, which the browser must reject. If the compiler can make control flow uniform, the
/// uniform kernel is the launch before it. Fails with the missing feature if WebGPU does not support the run.
pub fn launches(text: &str, variant: &Variant, run: (&Run, bool), target: &Target) -> Result<Vec<Launch>, String> {
    let made = launch(text, variant, run, target)?;
    let as_it_is = target.clone().changed(|target| target.shaders.uniform_barriers = false);
    let plain = || match launch(text, variant, run, &as_it_is)? {
        Some(plain) => Ok(Launch { verdict: Verdict::Rejected, ..plain }),
        None => Err("control flow that this test does not cover".to_owned()),
    };
    match made {
        None => Ok(vec![plain()?]),
        Some(made) if made.becomes_uniform => Ok(vec![made, plain()?]),
        Some(made) => Ok(vec![made]),
    }
}

/// Creates one launch. Returns `None` if the compiler cannot make control flow uniform.
fn launch(text: &str, variant: &Variant, (run, is_first): (&Run, bool), target: &Target) -> Result<Option<Launch>, String> {
    // A work-item that waits for another work-item of its subgroup never ends if the subgroup runs in lock-step.
    // SwiftShader runs subgroups in lock-step, and the page cannot stop a shader.
    if variant.requires.iter().any(|feature| feature == "one_by_one") {
        return Err("work-items that run in sequence".to_owned());
    }
    let options = options::parse_options(&variant.options).map_err(|error| error.to_string())?;
    let built = build(&Source { text: text.to_owned(), ..Default::default() }, &options, target);
    let program = built.program.ok_or(built.log)?;
    let function = program.module.functions.iter().find(|function| function.kernel.is_some() && function.name == run.launch.kernel);
    let function = function.ok_or("no such kernel")?;
    let params = function.kernel.as_ref().map(|kernel| kernel.params.clone()).unwrap_or_default();
    let (arguments, inputs) = arguments(run)?;
    let local_size = group(run, function.kernel.as_ref().and_then(|kernel| kernel.reqd_work_group_size));
    let key = LaunchKey::example(function, local_size).changed(|key| {
        key.binding.distinct = true;
        key.kernel.zero_offset = run.launch.offset.is_none();
        key.kernel.local_args =
            arguments.iter().filter_map(|bytes| if let Bytes::Local(size) = bytes { Some(*size as u32) } else { None }).collect();
        let constant = |param: &&KernelParam| matches!(param, KernelParam::Buffer { space: Space::Constant, .. });
        key.binding.constant_args = params.iter().filter(constant).map(|_| ConstantBinding::Storage).collect();
    });
    let shader = match specialise(&program.module, &run.launch.kernel, &key, target) {
        Ok(shader) => shader,
        Err(LaunchError::NotUniform { .. }) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if shader.args.identities.iter().any(Option::is_some) {
        return Err("stored or compared pointers".to_owned());
    }
    if !is_first && shader.bindings.iter().any(|binding| binding.source == BindingSource::GlobalVariables) {
        return Err("program-scope variables of an earlier run".to_owned());
    }
    let code = print(&shader, Format::Wgsl, target).map_err(|error| error.to_string())?;
    let global = three(&run.launch.global, 1);
    let groups = [0, 1, 2].map(|dimension| global[dimension] / local_size[dimension]);
    if (0..3).any(|dimension| !global[dimension].is_multiple_of(local_size[dimension])) {
        return Err("groups of several sizes".to_owned());
    }
    if groups.iter().any(|&count| count > MOST_GROUPS) {
        return Err("more groups than a dispatch permits".to_owned());
    }
    let uniform = argument_buffer(run, &arguments, &shader, (global, groups));
    let (bindings, buffers) = bindings(run, &arguments, &shader, (&program, target), &uniform)?;
    let entry = entry_point(&code).ok_or("no entry point")?;
    let becomes_uniform = code.contains("workgroupUniformLoad");
    let request = json!({ "code": code, "entry": entry, "groups": groups, "bindings": bindings });
    Ok(Some(Launch { verdict: Verdict::Accepted, becomes_uniform, request, inputs, buffers }))
}

/// Returns the name of the entry point. This is the name of the kernel, unless that ends with a digit or is a reserved
/// word.
fn entry_point(code: &str) -> Option<&str> {
    code.split_once("@compute")?.1.split_once("fn ")?.1.split_once('(').map(|(name, _)| name)
}

/// Returns the bytes of the arguments in order, and the values that the expectations use.
fn arguments(run: &Run) -> Result<(Vec<Bytes>, HashMap<String, Input>), String> {
    let text = |error: NotationError| error.to_string();
    let (mut all, mut inputs) = (Vec::new(), HashMap::new());
    for (index, argument) in run.arguments.iter().enumerate() {
        let scope = Scope { inputs: Some(&inputs), salt: index as u64, ..Scope::default() };
        let (bytes, input) = match &argument.kind {
            ArgumentKind::Buffer { element, count, init } => {
                let bytes = fill(*element, *count, *count, init, &scope).map_err(text)?;
                (Bytes::Buffer(bytes.clone()), Some(Input { element: *element, bytes, is_scalar: false }))
            }
            ArgumentKind::Value { element, count, slots, init } => {
                let bytes = fill(*element, *count, *slots, init, &scope).map_err(text)?;
                (Bytes::Value(bytes.clone()), Some(Input { element: *element, bytes, is_scalar: *count == 1 }))
            }
            ArgumentKind::Struct(fields) => (Bytes::Value(layout(fields, &scope).map_err(text)?), None),
            ArgumentKind::Local(size) => (Bytes::Local(*size), None),
            _ => return Err(format!("argument {}", argument.name)),
        };
        inputs.extend(input.map(|input| (argument.name.clone(), input)));
        all.push(bytes);
    }
    Ok((all, inputs))
}

/// Returns the contents of the argument buffer, with the layout that the compiler chose.
fn argument_buffer(run: &Run, arguments: &[Bytes], shader: &Shader, (global, groups): ([u32; 3], [u32; 3])) -> Vec<u8> {
    let mut bytes = vec![0; shader.args.size.max(ArgLayout::HEADER) as usize];
    let mut put = |at: u32, data: &[u8]| bytes[at as usize..][..data.len()].copy_from_slice(data);
    let offset = three(run.launch.offset.as_deref().unwrap_or_default(), 0);
    for (place, numbers) in [(hidden::GLOBAL_OFFSET, offset), (hidden::GLOBAL_SIZE, global), (hidden::NUM_GROUPS, groups)] {
        for (word, number) in (0..).zip(numbers) {
            put(place + 4 * word, &number.to_le_bytes());
        }
    }
    put(hidden::WORK_DIM, &(run.launch.global.len() as u32).to_le_bytes());
    for (place, argument) in shader.args.values.iter().zip(arguments) {
        if let (Some((at, size)), Bytes::Value(value)) = (place, argument) {
            put(*at, &value[..value.len().min(*size as usize)]);
        }
    }
    bytes
}

/// Returns a binding as JSON for the page.
fn binding(number: u32, kind: &str, contents: &[u8]) -> Json {
    let hex: String = contents.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ "binding": number, "kind": kind, "contents": hex })
}

/// Returns the bindings, and the argument of each binding.
fn bindings(
    run: &Run,
    arguments: &[Bytes],
    shader: &Shader,
    (program, target): (&Program, &Target),
    uniform: &[u8],
) -> Result<(Vec<Json>, Buffers), String> {
    let data = program_data(&program.module, target);
    let (mut bindings, mut buffers) = (Vec::new(), Vec::new());
    for entry in &shader.bindings {
        let (mut contents, buffer) = match entry.source {
            BindingSource::Arguments => (uniform.to_vec(), None),
            BindingSource::Param(index) => match (arguments.get(index as usize), run.arguments.get(index as usize)) {
                (Some(Bytes::Buffer(bytes)), Some(argument)) => (bytes.clone(), Some((argument.name.clone(), bytes.len()))),
                _ => return Err(format!("a binding for parameter {index}")),
            },
            BindingSource::ConstantData => (data.constant.clone(), None),
            BindingSource::GlobalVariables => (data.global.clone(), None),
            BindingSource::Failures => (vec![0; TABLE_BYTES as usize], None),
            source @ (BindingSource::Printf | BindingSource::Scratch { .. }) => return Err(format!("{source:?}")),
        };
        let kind = match entry.kind {
            BindingKind::Uniform { size } => {
                contents.resize(contents.len().max(size as usize), 0);
                "uniform"
            }
            BindingKind::Storage => {
                contents.resize(contents.len().next_multiple_of(4).max(16), 0);
                "storage"
            }
        };
        bindings.push(binding(entry.binding, kind, &contents));
        buffers.push(buffer);
    }
    Ok((bindings, buffers))
}
