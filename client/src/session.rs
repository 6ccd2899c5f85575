//! A program on a device, and launches of its kernels with arguments in text form.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::contents::{fill, layout};
use crate::devices::Device;
use crate::element::Element;
use crate::error::ClientError;
use crate::expression::{Input, Scope};
use crate::image::ImageProperties;
use crate::notation::{Argument, ArgumentKind, Launch};
use crate::objects::{Context, Kernel, Object, Program, Sampler};
use crate::parameters;

pub use crate::objects::Code;

type Result<T> = std::result::Result<T, ClientError>;

/// A program built for a device.
pub struct Session {
    // Declared before `context`, so that it is dropped first.
    program: Program,
    context: Context,
    /// The build log, which may contain warnings.
    pub log: String,
    /// The duration of the build.
    pub build: Duration,
}

/// The results and times of the launches of a kernel.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// The buffers and images, in the order of the arguments.
    pub buffers: Vec<Buffer>,
    /// The duration of the first launch on the host, from the call to the completion.
    pub first: Duration,
    /// The duration of the first launch by the device's clock, or `None` if the device does not report it.
    pub first_on_device: Option<Duration>,
    /// The durations of the further launches, by the device's clock if possible, otherwise on the host. Each launch
    /// uses the results of the previous one.
    pub further: Vec<Duration>,
}

/// A buffer before and after the first launch.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// The name of the argument.
    pub name: String,
    /// The type of its scalars.
    pub element: Element,
    pub before: Vec<u8>,
    pub after: Vec<u8>,
}

/// A memory object argument.
struct Memory {
    object: Object,
    /// The properties of an image, or `None` for a buffer or pipe.
    image: Option<ImageProperties>,
    element: Element,
    /// Number of readable bytes, or 0 for a pipe.
    size: usize,
    /// The buffer that contains a sub-buffer.
    _whole: Option<Rc<Memory>>,
}

/// The arguments of a launch by name.
#[derive(Default)]
struct Given {
    inputs: HashMap<String, Input>,
    memory: HashMap<String, Rc<Memory>>,
    samplers: Vec<Sampler>,
    /// The names of the created buffers and images, in the order of creation.
    order: Vec<String>,
}

impl Session {
    /// Builds a program for a device.
    ///
    /// # Errors
    /// Fails if the program does not build or a call fails.
    pub fn build(device: &Device, code: &Code<'_>, options: &str) -> Result<Self> {
        let context = Context::new(&device.api, device.handle)?;
        let begin = Instant::now();
        let (program, log) = context.build(code, options)?;
        Ok(Self { program, context, log, build: begin.elapsed() })
    }

    /// Launches a kernel, reads its buffers, and then launches it `repeat` more times.
    ///
    /// # Errors
    /// Fails if the arguments do not match the kernel or a call fails.
    pub fn run(&self, launch: &Launch, arguments: &[Argument], repeat: usize) -> Result<RunResult> {
        let kernel = self.context.kernel(&self.program, &launch.kernel)?;
        let mut given = Given::default();
        for (index, name, kind) in parameters::assign(&launch.kernel, &self.context.parameters(&kernel), arguments)? {
            self.set(&kernel, index, &name, kind, &mut given)?;
        }
        let begin = Instant::now();
        let first_on_device = self.context.launch(&kernel, launch)?;
        let first = begin.elapsed();
        // Wait, so that the printf output of the kernel precedes the report.
        self.context.finish()?;
        let read = |name: &String| {
            let (memory, input) = (given.memory.get(name)?, given.inputs.get(name)?);
            Some(self.read(memory).map(|after| Buffer { name: name.clone(), element: memory.element, before: input.bytes.clone(), after }))
        };
        let buffers = given.order.iter().filter_map(read).collect::<Result<Vec<_>>>()?;
        let run_again = || {
            let begin = Instant::now();
            let on_device = self.context.launch(&kernel, launch)?;
            Ok(on_device.unwrap_or_else(|| begin.elapsed()))
        };
        let further = (0..repeat).map(|_| run_again()).collect::<Result<Vec<_>>>()?;
        Ok(RunResult { buffers, first, first_on_device, further })
    }

    fn read(&self, memory: &Memory) -> Result<Vec<u8>> {
        match &memory.image {
            Some(form) => self.context.read_image(&memory.object, form),
            None => self.context.read(&memory.object, memory.size),
        }
    }

    /// Sets an argument, and records it so that later arguments can refer to it.
    fn set(&self, kernel: &Kernel, index: u32, name: &str, kind: &ArgumentKind, given: &mut Given) -> Result<()> {
        let scope = Scope { inputs: Some(&given.inputs), salt: u64::from(index), ..Scope::default() };
        let wrong = |error| ClientError::Arguments(format!("argument `{name}`: {error}"));
        let context = &self.context;
        let plain = |object, element, size| Memory { object, image: None, element, size, _whole: None };
        let (memory, bytes) = match kind {
            ArgumentKind::Buffer { element, count, init } => {
                let bytes = fill(*element, *count, *count, init, &scope).map_err(wrong)?;
                (Rc::new(plain(context.buffer(&bytes)?, *element, bytes.len())), bytes)
            }
            ArgumentKind::Image { form, init } => {
                let bytes = fill(form.element, form.count(), form.count(), init, &scope).map_err(wrong)?;
                let image = plain(context.image(form, &bytes)?, form.element, bytes.len());
                (Rc::new(Memory { image: Some(*form), ..image }), bytes)
            }
            ArgumentKind::Pipe { packet, packets } => (Rc::new(plain(context.pipe(*packet, *packets)?, Element::Uchar, 0)), Vec::new()),
            ArgumentKind::Same { name: other, part } => {
                let none = || ClientError::Arguments(format!("argument `{name}`: there is no earlier buffer argument `{other}`"));
                let whole = given.memory.get(other).ok_or_else(none)?;
                let memory = match part {
                    Some((first, count)) if whole.image.is_none() => {
                        // A saturated size exceeds the buffer, so the OpenCL function reports the error.
                        let (first, size) = (first.saturating_mul(whole.element.size()), count.saturating_mul(whole.element.size()));
                        let part = plain(context.sub_buffer(&whole.object, first, size)?, whole.element, size);
                        Rc::new(Memory { _whole: Some(Rc::clone(whole)), ..part })
                    }
                    Some(_) => {
                        return Err(ClientError::Arguments(format!(
                            "argument `{name}`: only a buffer can have sub-buffers, and `{other}` is an image"
                        )));
                    }
                    None => Rc::clone(whole),
                };
                let bytes = self.read(&memory)?;
                (memory, bytes)
            }
            ArgumentKind::Sampler(form) => {
                let sampler = context.sampler(form)?;
                context.set_sampler(kernel, index, &sampler)?;
                given.samplers.push(sampler);
                return Ok(());
            }
            ArgumentKind::Value { element, count, slots, init } => {
                let bytes = fill(*element, *count, *slots, init, &scope).map_err(wrong)?;
                context.set_bytes(kernel, index, &bytes)?;
                given.inputs.insert(name.to_owned(), Input { element: *element, bytes, is_scalar: *count == 1 });
                return Ok(());
            }
            ArgumentKind::Struct(fields) => return context.set_bytes(kernel, index, &layout(fields, &scope).map_err(wrong)?),
            ArgumentKind::Local(size) => return context.set_local(kernel, index, *size),
            ArgumentKind::Null => return context.set_object(kernel, index, None),
        };
        context.set_object(kernel, index, Some(&memory.object))?;
        // Buffers and images are read and reported. Pipes cannot be read, and a `same` argument has the memory of an
        // earlier argument.
        if !matches!(kind, ArgumentKind::Same { .. } | ArgumentKind::Pipe { .. }) {
            given.order.push(name.to_owned());
        }
        given.inputs.insert(name.to_owned(), Input { element: memory.element, bytes, is_scalar: false });
        given.memory.insert(name.to_owned(), memory);
        Ok(())
    }
}
