//! Builds and runs a file's variants on the device under test.

use std::collections::HashMap;
use std::ptr::{null, null_mut};
use std::rc::Rc;

use wgcl_client::contents::{fill, layout};
use wgcl_client::element::Element;
use wgcl_client::error::NotationError;
use wgcl_client::expression::{Input, Scope};
use wgcl_client::image::ImageProperties;
use wgcl_client::notation::ArgumentKind;

use super::compare::{Records, compare};
use super::directive::{Argument, Run, Variant};
use super::record::Recorder;
use super::{diagnostics, image};
use crate::common::ffi::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_BUILD_PROGRAM_FAILURE, CL_DEVICE_EXTENSIONS, CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_PROFILE,
    CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, CL_SUCCESS, CL_TRUE, cl_buffer_region, cl_mem, cl_uint,
};
use crate::common::images;
use crate::common::objects::{Context, Kernel, Mem, Program, Queue, Sampler};
use crate::common::{info, info_string, language_features, target};

/// Returns the first requirement of a variant that this device does not meet. This is a feature that the device lacks,
/// or `!` and a feature that the device has.
pub fn missing_feature(variant: &Variant) -> Option<&str> {
    let target = target();
    let text = |name: cl_uint| {
        info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret)).unwrap_or_default()
    };
    let extensions = text(CL_DEVICE_EXTENSIONS);
    let has = |name: &str| extensions.split_whitespace().any(|extension| extension == name);
    variant.requires.iter().map(String::as_str).find(|&feature| {
        let (name, wanted) = feature.strip_prefix('!').map_or((feature, true), |lacked| (lacked, false));
        let present = match name {
            "fp64" => has("cl_khr_fp64"),
            "fp16" => has("cl_khr_fp16"),
            "int64" => text(CL_DEVICE_PROFILE) == "FULL_PROFILE" || has("cles_khr_int64"),
            "atomic_float" | "atomic_half" => true,
            // These atomics are emulated with 64-bit integers.
            "atomic_double" => has("cl_khr_int64_base_atomics"),
            "images" => images::reported(),
            "wgcl" => target.is_wgcl(),
            "one_by_one" => crate::common::is_cpu() || std::env::var("WGCL_TEST_DEVICE").as_deref() == Ok("interpreter"),
            "shaders" => target.is_wgcl() && !crate::common::is_cpu() && std::env::var("WGCL_TEST_DEVICE").as_deref() != Ok("interpreter"),
            other if other.starts_with("__opencl_c_") => language_features().iter().any(|known| known == other),
            other => other.strip_prefix("groups_of_").map_or_else(|| has(other), has_groups_of),
        };
        present != wanted
    })
}

/// Whether the device supports groups with that number of work-items.
fn has_groups_of(items: &str) -> bool {
    let target = target();
    let most = info::<usize>(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, size, value, ret));
    items.parse::<usize>().is_ok_and(|items| most.is_ok_and(|most| items <= most))
}

/// Builds and runs one variant. Returns the list of mismatches. Stores results in `recorder`.
pub fn variant(source: &str, variant: &Variant, recorder: &mut Recorder) -> Vec<String> {
    let context = Context::new();
    let module = super::spirv::module(source, variant);
    let (program, options) = match &module {
        Some(module) => (context.program_with_il(module), super::spirv::build_options(&variant.options)),
        None => (context.program(source), variant.options.clone()),
    };
    let status = program.build(&options);
    let log = program.log();
    let expects_error = variant.diagnostics.iter().any(|want| want.severity == "error");
    let wanted = if expects_error { CL_BUILD_PROGRAM_FAILURE } else { CL_SUCCESS };
    let mut problems = Vec::new();
    if status != wanted {
        problems.push(format!("clBuildProgram returned {status}, expected {wanted}"));
    }
    for text in variant.log.iter().filter(|text| !log.contains(text.as_str())) {
        problems.push(format!("the build log does not contain `{text}`"));
    }
    if !expects_error && !problems.is_empty() {
        problems.push(format!("the build log:\n{log}"));
    } else if module.is_none() {
        problems.extend(diagnostics::compare(&variant.diagnostics, &log));
    }
    if problems.is_empty() && !expects_error {
        let queue = context.queue(0);
        let mut kept = HashMap::new();
        for run in &variant.runs {
            let title = format!("{} run of {} (line {})", variant.label, run.launch.kernel, run.line);
            let mut records = Records { title: title.trim_start(), recorder };
            let outcome = launch(&context, &queue, &program, run, (&mut kept, &mut records)).unwrap_or_else(|problem| vec![problem]);
            problems.extend(outcome.into_iter().map(|problem| format!("run of {} (line {}): {problem}", run.launch.kernel, run.line)));
        }
    }
    problems
}

/// A buffer, image or pipe that later arguments can name.
struct MemoryObject {
    mem: Mem,
    /// The parent of a sub-buffer, which must live as long as the sub-buffer.
    _whole: Option<Rc<MemoryObject>>,
    /// The properties of an image. `None` for buffers and pipes.
    image: Option<ImageProperties>,
    element: Element,
    /// The size in bytes. 0 for a pipe, which the host cannot read.
    bytes: usize,
}

/// Creates a sub-buffer of `count` elements, starting at element `first`.
fn sub_buffer(whole: &Rc<MemoryObject>, first: usize, count: usize) -> Result<MemoryObject, String> {
    if whole.image.is_some() {
        return Err("an image cannot have a sub-buffer".to_owned());
    }
    let size = whole.element.size();
    let region = cl_buffer_region { origin: first * size, size: count * size };
    let mut status = 1;
    let cl = &target().cl;
    let mem = cl.clCreateSubBuffer(whole.mem.0, 0, CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast(), &mut status);
    if status != CL_SUCCESS {
        return Err(format!("clCreateSubBuffer returned {status}"));
    }
    Ok(MemoryObject { mem: Mem(mem), _whole: Some(Rc::clone(whole)), image: None, element: whole.element, bytes: count * size })
}

/// Reads a buffer or an image. Returns no bytes for a pipe.
fn read(queue: &Queue, kept: &MemoryObject) -> Result<Vec<u8>, String> {
    if let Some(form) = &kept.image {
        return Ok(image::read_form(queue, &kept.mem, form));
    }
    if kept.bytes == 0 {
        return Ok(Vec::new());
    }
    let mut bytes = vec![0u8; kept.bytes];
    let status =
        target().cl.clEnqueueReadBuffer(queue.0, kept.mem.0, CL_TRUE, 0, bytes.len(), bytes.as_mut_ptr().cast(), 0, null(), null_mut());
    if status == CL_SUCCESS { Ok(bytes) } else { Err(format!("clEnqueueReadBuffer returned {status}")) }
}

/// The arguments of a run, by name.
#[derive(Default)]
struct Arguments {
    /// The contents of the arguments before the run.
    inputs: HashMap<String, Input>,
    /// Buffers, images and pipes.
    buffers: HashMap<String, Rc<MemoryObject>>,
    samplers: Vec<Sampler>,
}

/// Sets an argument. Stores its bytes. For a memory object, also stores the object in `kept`, so that later runs find
/// it.
fn set_argument(
    (context, queue): (&Context, &Queue),
    kernel: &Kernel,
    index: usize,
    argument: &Argument,
    Arguments { inputs, buffers, samplers }: &mut Arguments,
    kept: &mut HashMap<String, Rc<MemoryObject>>,
) -> Result<(), String> {
    let scope = Scope { inputs: Some(inputs), salt: index as u64, ..Scope::default() };
    let text = |error: NotationError| error.to_string();
    let number = cl_uint::try_from(index).map_err(|error| error.to_string())?;
    let cl = &target().cl;
    let mut keep = None;
    let status = match &argument.kind {
        ArgumentKind::Buffer { element, count, init } => {
            let mut bytes = fill(*element, *count, *count, init, &scope).map_err(text)?;
            let mem = context.buffer_with(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.len(), bytes.as_mut_ptr().cast());
            let status = kernel.set(number, &mem.0);
            let object = MemoryObject { mem, _whole: None, image: None, element: *element, bytes: bytes.len() };
            buffers.insert(argument.name.clone(), Rc::new(object));
            keep = Some(Input { element: *element, bytes, is_scalar: false });
            status
        }
        ArgumentKind::Image { form, init } => {
            let mut bytes = fill(form.element, form.count(), form.count(), init, &scope).map_err(text)?;
            let mem = image::create(context, queue, form, &mut bytes)?;
            let status = kernel.set(number, &mem.0);
            let image = MemoryObject { mem, _whole: None, image: Some(*form), element: form.element, bytes: bytes.len() };
            buffers.insert(argument.name.clone(), Rc::new(image));
            keep = Some(Input { element: form.element, bytes, is_scalar: false });
            status
        }
        ArgumentKind::Sampler(form) => {
            let sampler = image::sampler(context, *form)?;
            let status = kernel.set(number, &sampler.0);
            samplers.push(sampler);
            status
        }
        ArgumentKind::Pipe { packet, packets } => {
            let mem = context.pipe(*packet, *packets);
            let status = kernel.set(number, &mem.0);
            let element = Element::from_name("uchar").ok_or("no bytes")?;
            buffers.insert(argument.name.clone(), Rc::new(MemoryObject { mem, _whole: None, image: None, element, bytes: 0 }));
            keep = Some(Input { element, bytes: Vec::new(), is_scalar: false });
            status
        }
        ArgumentKind::Same { name, part } => {
            let whole = buffers.get(name).or_else(|| kept.get(name)).ok_or_else(|| format!("no earlier buffer `{name}`"))?;
            let same = match part {
                Some((first, count)) => Rc::new(sub_buffer(whole, *first, *count)?),
                None => Rc::clone(whole),
            };
            keep = Some(Input { element: same.element, bytes: read(queue, &same)?, is_scalar: false });
            let status = kernel.set(number, &same.mem.0);
            buffers.insert(argument.name.clone(), same);
            status
        }
        ArgumentKind::Value { element, count, slots, init } => {
            let bytes = fill(*element, *count, *slots, init, &scope).map_err(text)?;
            let status = cl.clSetKernelArg(kernel.0, number, bytes.len(), bytes.as_ptr().cast());
            keep = Some(Input { element: *element, bytes, is_scalar: *count == 1 });
            status
        }
        ArgumentKind::Struct(fields) => {
            let bytes = layout(fields, &scope).map_err(text)?;
            cl.clSetKernelArg(kernel.0, number, bytes.len(), bytes.as_ptr().cast())
        }
        ArgumentKind::Local(size) => cl.clSetKernelArg(kernel.0, number, *size, null()),
        ArgumentKind::Null => {
            let nothing: cl_mem = null_mut();
            kernel.set(number, &nothing)
        }
    };
    if let Some(input) = keep {
        inputs.insert(argument.name.clone(), input);
    }
    if let Some(buffer) = buffers.get(&argument.name) {
        kept.insert(argument.name.clone(), Rc::clone(buffer));
    }
    if status == CL_SUCCESS { Ok(()) } else { Err(format!("clSetKernelArg({index}, {}) returned {status}", argument.name)) }
}

/// Runs a kernel once. Fails if the kernel could not run. Otherwise, returns the mismatches.
fn launch(
    context: &Context,
    queue: &Queue,
    program: &Program,
    run: &Run,
    (kept, records): (&mut HashMap<String, Rc<MemoryObject>>, &mut Records<'_>),
) -> Result<Vec<String>, String> {
    let target = target();
    let kernel = program.try_kernel(&run.launch.kernel).map_err(|status| format!("clCreateKernel returned {status}"))?;
    let mut arguments = Arguments::default();
    for (index, argument) in run.arguments.iter().enumerate() {
        set_argument((context, queue), &kernel, index, argument, &mut arguments, kept)?;
    }
    let Arguments { inputs, buffers, samplers: _samplers } = arguments;
    let dimensions = cl_uint::try_from(run.launch.global.len()).map_err(|error| error.to_string())?;
    let list = |sizes: &Option<Vec<usize>>| sizes.as_ref().map_or(null(), |sizes| sizes.as_ptr());
    let status = target.cl.clEnqueueNDRangeKernel(
        queue.0,
        kernel.0,
        dimensions,
        list(&run.launch.offset),
        run.launch.global.as_ptr(),
        list(&run.launch.local),
        0,
        null(),
        null_mut(),
    );
    if status != CL_SUCCESS {
        return Err(format!("clEnqueueNDRangeKernel returned {status}; the build log:\n{}", program.log()));
    }
    if buffers.is_empty() {
        // There is no read that waits for this launch, so wait with clFinish.
        let status = target.cl.clFinish(queue.0);
        if status != CL_SUCCESS {
            return Err(format!("clFinish returned {status}"));
        }
    }
    let mut outputs = HashMap::new();
    // If an argument is another name of a buffer of this run, it needs no expectation.
    let alias = |argument: &Argument| matches!(&argument.kind, ArgumentKind::Same { name, .. } if run.arguments.iter().any(|other| other.name == *name));
    let is_compared = |argument: &&Argument| !alias(argument) || run.expects.iter().any(|expect| expect.name == argument.name);
    for argument in run.arguments.iter().filter(is_compared) {
        if let Some(buffer) = buffers.get(&argument.name) {
            outputs.insert(argument.name.as_str(), read(queue, buffer)?);
        }
    }
    compare(run, &inputs, &outputs, records)
}
