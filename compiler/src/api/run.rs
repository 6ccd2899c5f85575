//! The interpreter: runs a kernel without a device.

use super::image::{Image, Sampler};
use super::program::Program;
use super::range::Range;
use crate::interpret::{self, Fault, Memory, MemoryLocation, NdRange, ObjectId, Settings, Stage};
use crate::ir;
use crate::launch::LaunchKey;
use crate::specialise::expand_images;

/// The value of an argument for [`Program::run`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Value<'a> {
    /// The bytes of a scalar, vector or structure.
    Bytes(&'a [u8]),
    /// The contents of a buffer. They are changed by the launch.
    Buffer(&'a mut [u8]),
    /// The size in bytes of local memory.
    Local(u32),
    /// A null pointer to a buffer.
    Null,
    /// An image and its pixels. They are changed by the launch.
    Image(Image, &'a mut [u8]),
    Sampler(Sampler),
}

/// The launch failed: the kernel made an error, such as an access out of bounds, or the arguments do not match it.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{message}")]
#[non_exhaustive]
pub struct RunError {
    pub message: String,
    /// The source line of the error, from 1.
    pub line: Option<u32>,
    /// The global id of the work-item.
    pub work_item: Option<[u32; 3]>,
}

impl Program {
    /// Runs a kernel with the interpreter. Returns the output of `printf`. The interpreter is slow and strict: accesses
    /// out of bounds, misaligned accesses, writes to constant memory, and barriers that not all work-items reach, are
    /// errors. It is therefore also a checker.
    ///
    /// ```
    /// use wgcl_compiler::{Device, Options, Range, Value, compile};
    ///
    /// let source = "kernel void add(global int *a, int n) { int i = get_global_id(0); a[i] += n * i; }";
    /// let program = compile(source, &Options::new(Device::Vulkan)).unwrap();
    /// let mut data = [1u8, 0, 0, 0, 2, 0, 0, 0];
    /// let five = 5i32.to_le_bytes();
    /// program.run("add", &Range::linear(2, 1), &mut [Value::Buffer(&mut data), Value::Bytes(&five)]).unwrap();
    /// assert_eq!(data, [1, 0, 0, 0, 7, 0, 0, 0]);
    ///
    /// let arguments = &mut [Value::Buffer(&mut data), Value::Bytes(&five)];
    /// let error = program.run("add", &Range::linear(3, 1), arguments).unwrap_err();
    /// assert_eq!((error.line, error.work_item), (Some(1), Some([2, 0, 0])));
    /// assert!(error.message.starts_with("access of 4 bytes at offset 8 is out of bounds of an object of 8 bytes"));
    /// ```
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn run(&self, kernel: &str, range: &Range, arguments: &mut [Value<'_>]) -> Result<String, RunError> {
        let module = self.expanded(kernel, arguments)?;
        let program = interpret::Program::new(module.as_ref().unwrap_or(&self.inner.module), Settings::new(Stage::Built, &self.target));
        let mut memory = Memory::default();
        let mut next = 0;
        let mut name = || {
            next += 1;
            ObjectId::new(next)
        };
        let too_many = || RunError { message: "the launch has too many buffers".to_owned(), line: None, work_item: None };
        let instance = program.instantiate(&mut memory, &mut name).ok_or_else(too_many)?;
        let mut values = Vec::with_capacity(arguments.len());
        let mut objects = Vec::new();
        for argument in &*arguments {
            values.push(match argument {
                Value::Bytes(bytes) => interpret::Argument::Value(bytes.to_vec()),
                Value::Local(size) => interpret::Argument::Local(*size),
                Value::Null => interpret::Argument::Buffer(None),
                Value::Sampler(sampler) => interpret::Argument::Value(sampler.bits().to_le_bytes().to_vec()),
                Value::Buffer(bytes) | Value::Image(_, bytes) => {
                    let object = name().ok_or_else(too_many)?;
                    memory.insert(object, bytes.to_vec(), false);
                    objects.push(object);
                    let place = MemoryLocation { object, offset: 0 };
                    match argument {
                        Value::Image(image, _) => interpret::Argument::Image(place, image.words()),
                        _ => interpret::Argument::Buffer(Some(place)),
                    }
                }
            });
        }
        let range = NdRange { work_dim: range.dimensions, global_offset: [0; 3], global_size: range.global, local_size: range.local };
        let mut output = Vec::new();
        let result = program.launch(&instance, kernel, &values, &range, &mut memory, &mut output);
        let buffers = arguments.iter_mut().filter_map(|argument| match argument {
            Value::Buffer(bytes) | Value::Image(_, bytes) => Some(bytes),
            _ => None,
        });
        for (bytes, object) in buffers.zip(objects) {
            if let Some(changed) = memory.get(object).filter(|changed| changed.len() == bytes.len()) {
                bytes.copy_from_slice(changed);
            }
        }
        result.map_err(|fault| self.run_error(&fault))?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// Returns the module with image accesses for the formats and samplers of the arguments. Returns `None` if there is
    /// no image.
    fn expanded(&self, kernel: &str, arguments: &[Value<'_>]) -> Result<Option<ir::Module>, RunError> {
        let mut key = LaunchKey::default();
        for argument in arguments {
            match argument {
                Value::Image(image, _) => key.kernel.images.push(image.format.inner()),
                Value::Sampler(sampler) => key.kernel.samplers.push(sampler.bits()),
                _ => {}
            }
        }
        if key.kernel.images.is_empty() {
            return Ok(None);
        }
        let expanded = expand_images(&self.inner.module, kernel, &key, &self.target);
        expanded.map(Some).map_err(|error| RunError { message: error.to_string(), line: None, work_item: None })
    }

    fn run_error(&self, fault: &Fault) -> RunError {
        let span = fault.function.as_ref().map(|(_, span)| *span);
        let location = self.inner.sources.as_ref().zip(span).and_then(|(sources, span)| sources.locate(span));
        RunError { message: fault.to_string(), line: location.map(|location| location.line), work_item: fault.item }
    }
}
