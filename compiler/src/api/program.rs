//! Compilation, and reflection of kernels.

use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::options::{Device, Options};
use crate::front::FrontEnd;
use crate::ir::{KernelParam, Space};
use crate::parallel::on_thread;
use crate::program::{self, BuildResult};
use crate::reflection::{AccessQualifier, ArgInfo, KernelInfo};
use crate::target::Target;

/// Checks a source with the front end. Returns all errors and warnings. This is faster than [`compile`].
///
/// ```
/// use wgcl_compiler::{Device, DiagnosticKind, Options, check};
///
/// let found = check("kernel void k(global int *a) { a[0] = get_gobal_id(0); }", &Options::new(Device::Vulkan));
/// assert_eq!(found[0].kind, DiagnosticKind::Error);
/// assert!(found[0].message.ends_with("did you mean 'get_global_id'?"));
/// assert_eq!(found[0].location.as_ref().unwrap().column, 39);
/// assert_eq!(found[0].notes[0].replacement.as_deref(), Some("get_global_id"));
///
/// let found = check("kernel void k(int n) { n + 1; }", &Options::new(Device::Vulkan));
/// assert_eq!((found[0].kind, found[0].group), (DiagnosticKind::Warning, Some("unused-value")));
/// ```
pub fn check(source: &str, options: &Options) -> Vec<Diagnostic> {
    let (source, target) = (options.source(source), options.target());
    let messages = on_thread(|| {
        let mut front = FrontEnd::new(&source, &options.build, &target);
        front.check();
        front.messages()
    });
    messages.unwrap_or_else(|error| vec![*error]).into_iter().map(Diagnostic::from).collect()
}

/// Compiles an OpenCL C source to a program.
///
/// ```
/// use wgcl_compiler::{ArgumentKind, Device, Options, compile};
///
/// let source = "kernel void scale(global float *data, float factor, local int *scratch)
///     { data[get_global_id(0)] *= factor; }";
/// let program = compile(source, &Options::new(Device::Vulkan)).unwrap();
/// let kernel = &program.kernels()[0];
/// assert_eq!(kernel.name, "scale");
/// assert_eq!(kernel.arguments[0].kind, ArgumentKind::Buffer { is_read_only: false, is_constant: false });
/// assert_eq!(kernel.arguments[1].kind, ArgumentKind::Value { size: 4 });
/// assert_eq!(kernel.arguments[2].kind, ArgumentKind::Local);
/// assert_eq!((&*kernel.arguments[0].type_name, &*kernel.arguments[0].name), ("float*", "data"));
/// ```
///
/// # Errors
/// Fails with the diagnostics if the source is rejected.
pub fn compile(source: &str, options: &Options) -> Result<Program, CompileError> {
    let target = options.target();
    Program::of(crate::build::build(&options.source(source), &options.build, &target), options.device, target)
}

/// Compiles a SPIR-V module for OpenCL (the execution model `Kernel`) to a program.
///
/// # Errors
/// Fails with the diagnostics if the module is invalid or not supported.
#[cfg(feature = "spirv-input")]
pub fn compile_spirv(words: &[u32], options: &Options) -> Result<Program, CompileError> {
    let target = options.target();
    let source = crate::spirv::Source { words, specialisation: &crate::spirv::Specialisation::new() };
    Program::of(crate::spirv::build_watched(source, &options.build, &target, None), options.device, target)
}

/// The source was rejected.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{}", self.log())]
#[non_exhaustive]
pub struct CompileError {
    /// All errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

impl CompileError {
    /// Returns the build log: the text of all diagnostics.
    pub fn log(&self) -> String {
        self.diagnostics.iter().map(|diagnostic| diagnostic.rendered.as_str()).collect()
    }
}

/// A compiled program: its kernels, as device-independent code.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) inner: program::Program,
    pub(super) device: Device,
    pub(super) target: Target,
    kernels: Vec<Kernel>,
    diagnostics: Vec<Diagnostic>,
}

impl Program {
    fn of(result: BuildResult, device: Device, target: Target) -> Result<Self, CompileError> {
        let diagnostics: Vec<Diagnostic> = result.messages.into_iter().map(Diagnostic::from).collect();
        let Some(inner) = result.program else { return Err(CompileError { diagnostics }) };
        let kernels = inner.kernels.iter().map(Kernel::of).collect();
        Ok(Self { inner, device, target, kernels, diagnostics })
    }

    /// Returns the kernels in order of their definition.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Returns the kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// Returns the warnings of the compilation.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.kind == DiagnosticKind::Warning)
    }
}

/// Reflection of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kernel {
    pub name: String,
    pub arguments: Vec<Argument>,
    /// The attribute `reqd_work_group_size`.
    pub required_work_group_size: Option<[u32; 3]>,
    /// The size in bytes of the kernel's `__local` variables, without arguments.
    pub local_memory: u32,
}

impl Kernel {
    fn of(info: &KernelInfo) -> Self {
        Self {
            name: info.name.clone(),
            arguments: info.args.iter().map(Argument::of).collect(),
            required_work_group_size: info.reqd_work_group_size,
            local_memory: info.local_memory,
        }
    }
}

/// Reflection of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    pub name: String,
    /// The type in the form of clGetKernelArgInfo, such as `float4*`.
    pub type_name: String,
    pub kind: ArgumentKind,
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// A scalar, vector or structure of `size` bytes.
    Value {
        size: u32,
    },
    /// A pointer to global or constant memory.
    Buffer {
        /// Whether the kernel declares that it does not write to the buffer.
        is_read_only: bool,
        /// Whether the pointer is `constant`.
        is_constant: bool,
    },
    /// A pointer to local memory, whose size the launch determines.
    Local,
    Image,
    Sampler,
    Pipe,
}

impl Argument {
    fn of(info: &ArgInfo) -> Self {
        let kind = match info.passing {
            _ if info.packet.is_some() && info.access != AccessQualifier::None => ArgumentKind::Pipe,
            KernelParam::Value | KernelParam::Bytes { .. } => ArgumentKind::Value { size: info.size },
            KernelParam::Buffer { space, read_only, .. } => {
                ArgumentKind::Buffer { is_read_only: read_only, is_constant: space == Space::Constant }
            }
            KernelParam::Local { .. } => ArgumentKind::Local,
            KernelParam::Sampler => ArgumentKind::Sampler,
            KernelParam::Image => ArgumentKind::Image,
        };
        Self { name: info.name.clone(), type_name: info.type_name.clone(), kind }
    }
}
