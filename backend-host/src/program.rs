//! Programs: the interpreter's code, and the memory of program-scope variables.

use std::any::Any;
use std::sync::Arc;

use wgcl_api::backend::{BackendError, BackendResult, KernelUsage, Launch, LaunchArg, LoadedProgram};
use wgcl_compiler::image::ImageFormat;
use wgcl_compiler::interpret::{self, Fault, Instance, Settings, Stage};
use wgcl_compiler::ir::{self, KernelParam};
use wgcl_compiler::launch::{LaunchError, LaunchKey};
use wgcl_compiler::specialise::expand_images;
use wgcl_compiler::target::Target;
use wgcl_runtime::{Artifact, KernelFacts, Machine, Program};

use crate::memory::{InterpreterMemory, Names};

/// The interpreter as what runs the variants of kernels: those with accesses to images are made for one launch's formats and samplers.
#[derive(Debug)]
struct Interpreter;

/// The formats of a launch's images and the values of its samplers, each in the order of the parameters.
type ImageKey = (Vec<ImageFormat>, Vec<u32>);

/// A module in which one kernel's accesses to images are written out.
#[derive(Clone)]
struct Expanded {
    program: Arc<interpret::Program>,
    usage: KernelUsage,
}

impl Artifact for Expanded {
    type Key = ImageKey;
    const KIND: &'static str = "interpreter";

    fn encode(&self) -> Option<Vec<u8>> {
        // It is made in no time.
        None
    }

    fn decode(_: &[u8]) -> Option<Self> {
        None
    }

    fn usage(&self) -> KernelUsage {
        self.usage
    }

    fn serves_any_group_size(&self) -> bool {
        true
    }

    fn adapt(&mut self, _: &ImageKey) {
        // It is told the size of groups when it is launched.
    }

    fn any_group_size(key: &ImageKey) -> ImageKey {
        key.clone()
    }
}

impl Machine for Interpreter {
    type Artifact = Expanded;
    type Executable = Arc<interpret::Program>;

    fn load(&self, _: &str, artifact: Expanded, _: &ImageKey) -> BackendResult<Arc<interpret::Program>> {
        Ok(artifact.program)
    }
}

/// A program on the device.
#[derive(Debug)]
pub(crate) struct InterpreterProgram {
    program: Arc<interpret::Program>,
    pub(crate) instance: Instance,
    /// Variables and constants of program scope; the former may be written.
    pub(crate) objects: Vec<(InterpreterMemory, bool)>,
    /// Kernels with the accesses to images that some launch needed.
    expanded: Program<Interpreter>,
}

impl InterpreterProgram {
    pub(crate) fn new(module: Arc<ir::Module>, target: &Target, names: &Arc<Names>) -> BackendResult<Self> {
        let program = Arc::new(interpret::Program::new(&module, Settings::new(Stage::Built, target)));
        let mut memory = interpret::Memory::default();
        let instance = program.instantiate(&mut memory, || names.take()).ok_or(BackendError::OutOfDeviceMemory)?;
        let objects = instance
            .objects()
            .map(|(id, read_only)| (InterpreterMemory::named(names, id, memory.remove(id).unwrap_or_default()), read_only))
            .collect();
        let (kernels, target) = (KernelFacts::of_module(&module), target.clone());
        let expand = move |kernel: &str, key: &ImageKey| expand(&module, kernel, key, &target);
        Ok(Self { program, instance, objects, expanded: Program::new(Arc::new(Interpreter), kernels, Box::new(expand), None) })
    }

    /// The code of a launch.
    pub(crate) fn for_launch(&self, launch: &Launch) -> BackendResult<Arc<interpret::Program>> {
        let mut formats = Vec::new();
        for arg in &launch.args {
            if let LaunchArg::Image(_, image) = arg {
                formats.push(image.format);
            }
        }
        if formats.is_empty() {
            return Ok(self.program.clone());
        }
        let kernel = self.expanded.kernel(&launch.kernel)?;
        let samplers = kernel.params().iter().zip(&launch.args).filter_map(|(param, arg)| match (param, arg) {
            (KernelParam::Sampler, LaunchArg::Value(bytes)) => bytes.first_chunk().map(|word| u32::from_le_bytes(*word)),
            _ => None,
        });
        let key = (formats, samplers.collect());
        self.expanded.executable(kernel, &key).map(|program| Arc::clone(&*program))
    }
}

/// Writes out a kernel's accesses to images of those formats by those samplers.
fn expand(module: &ir::Module, kernel: &str, (formats, samplers): &ImageKey, target: &Target) -> BackendResult<Expanded> {
    let mut key = LaunchKey::default();
    (key.kernel.images, key.kernel.samplers) = (formats.clone(), samplers.clone().into());
    let module = expand_images(module, kernel, &key, target)?;
    let program = Arc::new(interpret::Program::new(&module, Settings::new(Stage::Built, target)));
    let usage = usage(&program, kernel)?;
    Ok(Expanded { program, usage })
}

fn usage(program: &interpret::Program, kernel: &str) -> BackendResult<KernelUsage> {
    let missing = |_: Fault| BackendError::Launch(LaunchError::NoKernel(kernel.to_owned()));
    let (local_memory, private_memory) = program.usage(kernel).map_err(missing)?;
    Ok(KernelUsage { local_memory, private_memory })
}

impl LoadedProgram for InterpreterProgram {
    fn precompile(&self, _kernel: &str, _local_size: Option<[u32; 3]>) {
        // There is nothing to make ahead of time.
    }

    fn kernel_usage(&self, kernel: &str) -> BackendResult<KernelUsage> {
        usage(&self.program, kernel)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
