//! Runs a captured launch on a device.

use std::time::{Duration, Instant};

use crate::capture::{self, Capture, Unit, Value};
use crate::devices::Device;
use crate::error::ClientError;
use crate::image::ImageProperties;
use crate::notation::Launch;
use crate::objects::{Code, Context, Kernel, Object, Program, Sampler};
use crate::session::Buffer;

type Result<T> = std::result::Result<T, ClientError>;

/// The results of a replay.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The memory objects before and after the first launch.
    pub memory: Vec<Buffer>,
    /// The build log, which may contain warnings.
    pub log: String,
    /// The duration of the build.
    pub build: Duration,
    /// The duration of the first launch on the host.
    pub first: Duration,
    /// The duration of the first launch by the device's clock, or `None` if the device does not report it.
    pub first_on_device: Option<Duration>,
    /// The durations of the further launches, by the device's clock if possible. Each launch begins with the captured
    /// contents.
    pub further: Vec<Duration>,
}

/// A memory object of the launch.
struct Memory {
    object: Object,
    image: Option<ImageProperties>,
    before: Vec<u8>,
}

/// Builds the program and launches the kernel, and then launches it `repeat` more times.
///
/// # Errors
/// Fails if a file of the capture is not valid or a call fails.
pub fn replay(device: &Device, capture: &Capture, repeat: usize) -> Result<Replayed> {
    let context = Context::new(&device.api, device.handle)?;
    let begin = Instant::now();
    let (program, log) = build(&context, capture)?;
    let build = begin.elapsed();
    let kernel = context.kernel(&program, &capture.kernel)?;
    let mut memory = Vec::new();
    for index in 0..capture.memory.len() {
        memory.push(create(&context, capture, index)?);
    }
    let _kept = set_arguments(&context, &kernel, capture, &memory)?;
    let offset = capture.offset.iter().any(|&offset| offset != 0).then(|| capture.offset.clone());
    let launch = Launch { kernel: capture.kernel.clone(), global: capture.global.clone(), local: capture.local.clone(), offset };
    let begin = Instant::now();
    let first_on_device = context.launch(&kernel, &launch)?;
    let first = begin.elapsed();
    context.finish()?;
    let mut contents = Vec::new();
    for (index, memory) in memory.iter().enumerate() {
        let after = match &memory.image {
            Some(image) => context.read_image(&memory.object, image)?,
            None => context.read(&memory.object, memory.before.len())?,
        };
        let (name, element) = capture.describe(index);
        contents.push(Buffer { name, element, before: memory.before.clone(), after });
    }
    let mut further = Vec::new();
    for _ in 0..repeat {
        for memory in &memory {
            match &memory.image {
                Some(image) => context.write_levels(&memory.object, image, &memory.before)?,
                None => context.write(&memory.object, &memory.before)?,
            }
        }
        let begin = Instant::now();
        let on_device = context.launch(&kernel, &launch)?;
        further.push(on_device.unwrap_or_else(|| begin.elapsed()));
    }
    Ok(Replayed { memory: contents, log, build, first, first_on_device, further })
}

fn create(context: &Context, capture: &Capture, index: usize) -> Result<Memory> {
    let before = capture.contents(index, "before")?;
    let image = capture.memory.get(index).map(capture::Memory::image).transpose()?.flatten();
    let object = match &image {
        Some(image) => context.image(image, &before)?,
        None => context.buffer(&before)?,
    };
    Ok(Memory { object, image, before })
}

/// Sets all arguments. Returns the sub-buffers and samplers, which must exist until the launches are complete.
fn set_arguments(context: &Context, kernel: &Kernel, capture: &Capture, memory: &[Memory]) -> Result<(Vec<Object>, Vec<Sampler>)> {
    let (mut parts, mut samplers) = (Vec::new(), Vec::new());
    for (index, argument) in (0..).zip(&capture.arguments) {
        let object = |number: usize| {
            let none = || ClientError::Arguments(format!("argument `{}`: there is no memory object {number}", argument.name));
            memory.get(number).ok_or_else(none)
        };
        match &argument.value {
            Value::Value { bytes } => context.set_bytes(kernel, index, &capture::bytes(bytes)?)?,
            Value::Null => context.set_object(kernel, index, None)?,
            Value::Local { size } => context.set_local(kernel, index, *size)?,
            Value::Image { memory } => context.set_object(kernel, index, Some(&object(*memory)?.object))?,
            Value::Buffer { memory, offset: 0, size } if object(*memory)?.before.len() == *size => {
                context.set_object(kernel, index, Some(&object(*memory)?.object))?;
            }
            Value::Buffer { memory, offset, size } => {
                let part = context.sub_buffer(&object(*memory)?.object, *offset, *size)?;
                context.set_object(kernel, index, Some(&part))?;
                parts.push(part);
            }
            Value::Sampler { sampler } => {
                let sampler = context.sampler(&capture::sampler(sampler)?)?;
                context.set_sampler(kernel, index, &sampler)?;
                samplers.push(sampler);
            }
        }
    }
    Ok((parts, samplers))
}

/// Builds the program: one unit as clBuildProgram does, several with clCompileProgram and clLinkProgram.
fn build(context: &Context, capture: &Capture) -> Result<(Program, String)> {
    if let [unit] = capture.units.as_slice() {
        let program = create_unit(context, capture, unit)?;
        let log = context.build_created(&program, &options(capture, unit))?;
        return Ok((program, log));
    }
    let mut log = String::new();
    let mut programs = Vec::new();
    for unit in &capture.units {
        let program = create_unit(context, capture, unit)?;
        log.push_str(&context.compile(&program, &options(capture, unit))?);
        programs.push(program);
    }
    Ok((context.link(&programs)?, log))
}

fn create_unit(context: &Context, capture: &Capture, unit: &Unit) -> Result<Program> {
    let bytes = capture.file(&unit.file)?;
    if !unit.file.ends_with(".spv") {
        return context.program(&Code::Source(&String::from_utf8_lossy(&bytes)));
    }
    let program = context.program(&Code::Module(&bytes))?;
    for constant in &unit.constants {
        context.set_specialisation(&program, constant.number, &constant.bytes()?)?;
    }
    Ok(program)
}

/// The options of a unit. The folder of included files precedes the directories of the application.
fn options(capture: &Capture, unit: &Unit) -> String {
    let Some(include) = &unit.include else { return unit.options.clone() };
    let folder = capture.folder.join(include).display().to_string();
    let folder = if folder.contains(char::is_whitespace) { format!("\"{folder}\"") } else { folder };
    format!("-I {folder} {}", unit.options)
}
