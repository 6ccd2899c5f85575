//! Shaders of kernels: SPIR-V, text in shading languages, and the resources that a launch binds.

use super::image::{ImageFormat, Sampler};
use super::options::Device;
use super::program::Program;
use super::range::Range;
use crate::binding::hidden;
use crate::emit::{self, BindingSource};
use crate::image::WORDS;
use crate::ir::{self, KernelParam};
use crate::launch::{ConstantBinding, KernelKey, LaunchError, LaunchKey};
use crate::layout::program_data;
use crate::passes::locks::TABLE_BYTES;
use crate::specialise::specialise;

/// The properties of a launch for which a shader is compiled.
///
/// ```
/// use wgcl_compiler::Launch;
///
/// // Work-groups of 64 work-items. Argument 1, a pointer to local memory, has 256 bytes.
/// let launch = Launch::new([64, 1, 1]).local_memory(1, 256);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    work_group_size: [u32; 3],
    local: Vec<(usize, u32)>,
    images: Vec<(usize, ImageFormat)>,
    samplers: Vec<(usize, Sampler)>,
}

impl Launch {
    /// Creates a launch with a work-group size. An attribute `reqd_work_group_size` of the kernel has precedence.
    pub const fn new(work_group_size: [u32; 3]) -> Self {
        Self { work_group_size, local: Vec::new(), images: Vec::new(), samplers: Vec::new() }
    }

    /// Sets the size in bytes of an argument that points to local memory. The default is 4096.
    #[must_use]
    pub fn local_memory(mut self, argument: usize, bytes: u32) -> Self {
        self.local.push((argument, bytes));
        self
    }

    /// Sets the format of an argument that is an image. The default is [`ImageFormat::Rgba8`].
    #[must_use]
    pub fn image(mut self, argument: usize, format: ImageFormat) -> Self {
        self.images.push((argument, format));
        self
    }

    /// Sets an argument that is a sampler.
    #[must_use]
    pub fn sampler(mut self, argument: usize, sampler: Sampler) -> Self {
        self.samplers.push((argument, sampler));
        self
    }

    /// Returns the launch key of a kernel.
    pub(super) fn key(&self, function: &ir::Function) -> LaunchKey {
        let mut key = LaunchKey::example(function, self.work_group_size);
        key.binding.distinct = true;
        key.binding.constant_args.fill(ConstantBinding::Storage);
        let KernelKey { local_args, images, samplers, .. } = &mut key.kernel;
        let (mut local_args, mut images, mut samplers) = (local_args.iter_mut(), images.iter_mut(), samplers.iter_mut());
        for (index, param) in (0..).zip(function.kernel.iter().flat_map(|kernel| &kernel.params)) {
            match param {
                KernelParam::Local { .. } => set(local_args.next(), index, &self.local, |bytes| bytes),
                KernelParam::Image => set(images.next(), index, &self.images, ImageFormat::inner),
                KernelParam::Sampler => set(samplers.next(), index, &self.samplers, Sampler::bits),
                _ => {}
            }
        }
        key
    }
}

/// Sets an entry of a launch key to the value of an argument, if there is one.
fn set<T, V: Copy>(entry: Option<&mut T>, argument: usize, values: &[(usize, V)], convert: impl Fn(V) -> T) {
    if let Some((entry, (_, value))) = entry.zip(values.iter().find(|(index, _)| *index == argument)) {
        *entry = convert(*value);
    }
}

/// A shader could not be compiled, or its arguments do not match it.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShaderError {
    /// The program does not have the kernel.
    #[error("no kernel is named `{0}`")]
    NoKernel(String),
    /// The kernel exceeds a limit of the device.
    #[error("{0}")]
    Limit(String),
    /// The device, the output language or this interface does not support a construct.
    #[error("{0}")]
    Unsupported(String),
    /// The value of an argument does not match the kernel.
    #[error("argument {argument}: expected {expected} bytes, got {found}")]
    ArgumentSize { argument: usize, expected: u32, found: usize },
    /// An argument by value is missing.
    #[error("argument {0}: the value is missing")]
    MissingArgument(usize),
    /// The work-group size does not divide the global size.
    #[error("dimension {dimension}: the work-group size {local} does not divide the global size {global}")]
    Range { dimension: usize, local: u32, global: u32 },
    /// A bug in the compiler.
    #[error("{0}")]
    Internal(String),
}

impl From<LaunchError> for ShaderError {
    fn from(error: LaunchError) -> Self {
        let text = error.to_string();
        match error {
            LaunchError::NoKernel(name) => Self::NoKernel(name),
            LaunchError::Limit { .. } | LaunchError::TooLarge { .. } => Self::Limit(text),
            LaunchError::Unsupported { .. } | LaunchError::NotUniform { .. } => Self::Unsupported(text),
            LaunchError::Internal { .. } => Self::Internal(text),
        }
    }
}

/// The contents of a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resource {
    /// The argument buffer: the bytes that [`Shader::arguments`] returns.
    Arguments,
    /// The buffer that is passed for the argument with this index.
    Argument(usize),
    /// Constant data of the program, with these contents.
    Constants(Vec<u8>),
    /// Variables at program scope. The contents are those before the first launch. All launches share the buffer.
    Variables(Vec<u8>),
    /// Scratch memory of this size for each work-item of a dispatch. Its contents are not used.
    Scratch { bytes_per_work_item: u32 },
    /// A buffer of this size that all launches share. It is zero before the first launch.
    Zeros { size: u64 },
}

/// The type of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BindingKind {
    /// A uniform buffer of at least this size in bytes.
    Uniform { size: u32 },
    /// A storage buffer that the shader may read and write.
    Storage,
}

/// A binding in bind group (descriptor set) 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Binding {
    pub number: u32,
    pub kind: BindingKind,
    pub resource: Resource,
}

/// A language in which a shader can be written as text.
#[cfg(feature = "languages")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// WebGPU Shading Language.
    Wgsl,
    /// Metal Shading Language.
    Msl,
    /// High-Level Shading Language.
    Hlsl,
    /// OpenGL ES Shading Language 3.10.
    Glsl,
}

#[cfg(feature = "languages")]
impl Language {
    pub(super) const fn format(self) -> emit::Format {
        match self {
            Self::Wgsl => emit::Format::Wgsl,
            Self::Msl => emit::Format::Msl,
            Self::Hlsl => emit::Format::Hlsl,
            Self::Glsl => emit::Format::Glsl,
        }
    }
}

/// A kernel that is compiled to a compute shader.
#[derive(Clone, Debug)]
pub struct Shader {
    inner: emit::Shader,
    entry_point: String,
    bindings: Vec<Binding>,
    work_group_size: [u32; 3],
    #[cfg(feature = "languages")]
    target: crate::target::Target,
}

impl Program {
    /// Compiles a kernel to a shader for the device of the program's options.
    ///
    /// Images are passed as buffers. Kernels with pipes or `printf` are not supported, and neither are kernels that
    /// store pointers in memory. The buffers of a launch must not overlap.
    ///
    /// ```
    /// use wgcl_compiler::{Device, Launch, Options, Resource, compile};
    ///
    /// let source = "kernel void scale(global float *data, float factor) { data[get_global_id(0)] *= factor; }";
    /// let program = compile(source, &Options::new(Device::Vulkan)).unwrap();
    /// let shader = program.shader("scale", &Launch::new([64, 1, 1])).unwrap();
    /// assert_eq!(shader.spirv().unwrap()[0], 0x0723_0203);
    /// let resources: Vec<_> = shader.bindings().iter().map(|binding| &binding.resource).collect();
    /// assert_eq!(resources, [&Resource::Arguments, &Resource::Argument(0)]);
    /// ```
    ///
    /// # Errors
    /// See [`ShaderError`].
    pub fn shader(&self, kernel: &str, launch: &Launch) -> Result<Shader, ShaderError> {
        let module = &self.inner.module;
        let key = launch.key(self.kernel_function(kernel)?);
        let unsupported = |what: &str| ShaderError::Unsupported(format!("kernel `{kernel}`: {what} not supported by this interface"));
        if self.device == Device::Cpu {
            return Err(unsupported("shaders for the device `Cpu` are"));
        }
        let work_group_size = key.kernel.local_size;
        let inner = specialise(module, kernel, &key, &self.target)?;
        let args = &inner.args;
        if args.identities.iter().chain(&args.addresses).any(Option::is_some) {
            return Err(unsupported("pointers in memory are"));
        }
        let data = program_data(module, &self.target);
        let mut bindings = Vec::with_capacity(inner.bindings.len());
        for binding in &inner.bindings {
            let kind = match binding.kind {
                emit::BindingKind::Uniform { size } => BindingKind::Uniform { size },
                emit::BindingKind::Storage => BindingKind::Storage,
            };
            let resource = match binding.source {
                BindingSource::Arguments => Resource::Arguments,
                BindingSource::Param(index) => Resource::Argument(index as usize),
                BindingSource::ConstantData => Resource::Constants(data.constant.clone()),
                BindingSource::GlobalVariables => Resource::Variables(data.global.clone()),
                BindingSource::Scratch { bytes_per_item } => Resource::Scratch { bytes_per_work_item: bytes_per_item },
                BindingSource::Failures => Resource::Zeros { size: u64::from(TABLE_BYTES) },
                BindingSource::Printf => return Err(unsupported("`printf` is")),
            };
            bindings.push(Binding { number: binding.binding, kind, resource });
        }
        #[cfg(feature = "languages")]
        let entry_point = if inner.spirv.is_none() { emit::wgsl_entry_point(&inner) } else { inner.entry_point.clone() };
        #[cfg(not(feature = "languages"))]
        let entry_point = inner.entry_point.clone();
        Ok(Shader {
            inner,
            entry_point,
            bindings,
            work_group_size,
            #[cfg(feature = "languages")]
            target: self.target.clone(),
        })
    }
}

impl Program {
    pub(super) fn kernel_function(&self, kernel: &str) -> Result<&ir::Function, ShaderError> {
        let found = self.inner.module.functions.iter().find(|function| function.name == kernel && function.kernel.is_some());
        found.ok_or_else(|| ShaderError::NoKernel(kernel.to_owned()))
    }
}

impl Shader {
    /// Returns the name of the entry point in SPIR-V and WGSL. It can differ from the kernel's name. The entry point in
    /// GLSL is `main`. In MSL and HLSL, it can have an underscore at the end.
    ///
    /// ```
    /// use wgcl_compiler::{Device, Language, Launch, Options, compile};
    ///
    /// // WGSL has a function `step`.
    /// let program = compile("kernel void step(global int *a) { a[0] = 1; }", &Options::new(Device::WebGpu)).unwrap();
    /// let shader = program.shader("step", &Launch::new([1, 1, 1])).unwrap();
    /// assert_eq!(shader.entry_point(), "step_");
    /// assert!(shader.text(Language::Wgsl).unwrap().contains("fn step_("));
    /// ```
    pub fn entry_point(&self) -> &str {
        &self.entry_point
    }

    /// Returns the bindings of bind group 0, in order of their numbers.
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// Returns the work-group size.
    pub const fn work_group_size(&self) -> [u32; 3] {
        self.work_group_size
    }

    /// Returns the SPIR-V module. Returns `None` unless the device is `Vulkan`.
    pub fn spirv(&self) -> Option<&[u32]> {
        self.inner.spirv.as_deref()
    }

    /// Returns the shader as text.
    ///
    /// ```
    /// use wgcl_compiler::{Device, Language, Launch, Options, compile};
    ///
    /// let source = "kernel void k(global int *a) { a[get_global_id(0)]++; }";
    /// let program = compile(source, &Options::new(Device::WebGpu)).unwrap();
    /// let shader = program.shader("k", &Launch::new([64, 1, 1])).unwrap();
    /// assert!(shader.text(Language::Wgsl).unwrap().contains("@workgroup_size(64, 1, 1)"));
    /// for language in [Language::Msl, Language::Hlsl, Language::Glsl] {
    ///     assert!(!shader.text(language).unwrap().is_empty());
    /// }
    /// ```
    ///
    /// # Errors
    /// Fails if the device is `Vulkan`, or if the language does not support a construct of the shader.
    #[cfg(feature = "languages")]
    pub fn text(&self, language: Language) -> Result<String, ShaderError> {
        if self.inner.spirv.is_some() {
            return Err(ShaderError::Unsupported("a shader for the device `Vulkan` has SPIR-V only; select another device".to_owned()));
        }
        Ok(emit::print(&self.inner, language.format(), &self.target)?)
    }

    /// Returns the contents of the argument buffer ([`Resource::Arguments`]) for a launch. `values` are the indices and
    /// bytes of the arguments by value, and of images ([`Image::argument`](super::Image::argument)). If the shader has
    /// no binding for the argument buffer, the result is not needed.
    ///
    /// ```
    /// # use wgcl_compiler::{Device, Launch, Options, Range, ShaderError, compile};
    /// # let source = "kernel void scale(global float *data, float factor) { data[get_global_id(0)] *= factor; }";
    /// # let program = compile(source, &Options::new(Device::WebGpu)).unwrap();
    /// let shader = program.shader("scale", &Launch::new([64, 1, 1])).unwrap();
    /// let range = Range::linear(1024, 64);
    /// let bytes = shader.arguments(&range, &[(1, &2.5f32.to_le_bytes())]).unwrap();
    /// assert_eq!(bytes.len() % 16, 0);
    /// assert_eq!(range.work_groups(), [16, 1, 1]);
    /// assert_eq!(shader.arguments(&range, &[]), Err(ShaderError::MissingArgument(1)));
    /// ```
    ///
    /// # Errors
    /// Fails if a value is missing or has the wrong size, or if the range does not consist of whole work-groups.
    pub fn arguments(&self, range: &Range, values: &[(usize, &[u8])]) -> Result<Vec<u8>, ShaderError> {
        for (dimension, (local, global)) in self.work_group_size.into_iter().zip(range.global).enumerate() {
            if global % local.max(1) != 0 {
                return Err(ShaderError::Range { dimension, local, global });
            }
        }
        let layout = &self.inner.args;
        let mut bytes = vec![0; layout.size as usize];
        let mut put = |at: u32, value: &[u8]| {
            if let Some(place) = bytes.get_mut(at as usize..at as usize + value.len()) {
                place.copy_from_slice(value);
            }
        };
        put(hidden::WORK_DIM, &range.dimensions.to_le_bytes());
        let groups = Range { local: self.work_group_size, ..*range }.work_groups();
        for ((at, global), groups) in (0..).step_by(4).zip(range.global).zip(groups) {
            put(hidden::GLOBAL_SIZE + at, &global.to_le_bytes());
            put(hidden::NUM_GROUPS + at, &groups.to_le_bytes());
        }
        let image = |place: &Option<u32>| place.map(|at| (at, 4 * WORDS));
        let images = layout.images.iter().map(image).enumerate();
        for (argument, place) in layout.values.iter().copied().enumerate().chain(images) {
            let Some((at, expected)) = place else { continue };
            let (_, value) = values.iter().find(|(index, _)| *index == argument).ok_or(ShaderError::MissingArgument(argument))?;
            if value.len() < expected as usize {
                return Err(ShaderError::ArgumentSize { argument, expected, found: value.len() });
            }
            put(at, &value[..expected as usize]);
        }
        Ok(bytes)
    }
}
