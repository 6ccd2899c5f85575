//! Programs: the interpreter's code, and the memory of program-scope constants and variables.

use std::any::Any;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wgcl_api::backend::{BackendError, BackendResult, KernelUsage, Launch, LaunchArg, LoadedProgram};
use wgcl_compiler::image::ImageFormat;
use wgcl_compiler::interpret::{self, Fault, Instance, Settings, Stage};
use wgcl_compiler::ir::{self, KernelParam};
use wgcl_compiler::launch::{LaunchError, LaunchKey};
use wgcl_compiler::specialise::expand_images;
use wgcl_compiler::target::Target;
use wgcl_runtime::{Artifact, KernelFacts, Machine, Program};

use crate::memory::{InterpreterMemory, ObjectIds};

/// The interpreter as a [`Machine`]. Kernels with image accesses have a variant for each combination of image formats
/// and samplers.
#[derive(Debug)]
struct Interpreter;

/// The images and samplers of a launch, each in the order of the parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct ImageKey {
    formats: Vec<ImageFormat>,
    /// Values of the samplers.
    samplers: Vec<u32>,
}

/// A program in which the image accesses of one kernel are expanded.
#[derive(Clone)]
struct Expanded {
    program: Arc<interpret::Program>,
    usage: KernelUsage,
}

impl Artifact for Expanded {
    type Key = ImageKey;
    const KIND: &'static str = "interpreter";

    fn encode(&self) -> Option<Vec<u8>> {
        // Expansion takes less time than a read from the disk cache.
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
        // Nothing to adapt: each launch passes the local size to the interpreter.
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

/// Memory of a program-scope constant or variable.
#[derive(Debug)]
pub(crate) struct ProgramObject {
    pub(crate) memory: InterpreterMemory,
    pub(crate) read_only: bool,
}

/// A program on the device.
#[derive(Debug)]
pub(crate) struct InterpreterProgram {
    program: Arc<interpret::Program>,
    pub(crate) instance: Instance,
    /// Constants and variables of program scope.
    pub(crate) objects: Vec<ProgramObject>,
    /// The expanded variants of kernels with image accesses.
    expanded: Program<Interpreter>,
}

impl InterpreterProgram {
    pub(crate) fn new(module: Arc<ir::Module>, target: &Target, ids: &Arc<ObjectIds>) -> BackendResult<Self> {
        let program = Arc::new(interpret::Program::new(&module, Settings::new(Stage::Built, target)));
        let mut memory = interpret::Memory::default();
        let instance = program.instantiate(&mut memory, || ids.allocate()).ok_or(BackendError::OutOfDeviceMemory)?;
        let objects = instance
            .objects()
            .map(|(id, read_only)| {
                let bytes = memory.remove(id).unwrap_or_default();
                ProgramObject { memory: InterpreterMemory::with_id(ids, id, bytes), read_only }
            })
            .collect();
        let (kernels, target) = (KernelFacts::of_module(&module), target.clone());
        let expand = move |kernel: &str, key: &ImageKey| expand(&module, kernel, key, &target);
        Ok(Self { program, instance, objects, expanded: Program::new(Arc::new(Interpreter), kernels, Box::new(expand), None) })
    }

    /// Returns the code that the interpreter runs for a launch.
    ///
    /// # Errors
    /// If image accesses cannot be expanded.
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
        let key = ImageKey { formats, samplers: samplers.collect() };
        self.expanded.executable(kernel, &key).map(|program| Arc::clone(&*program))
    }
}

/// Expands a kernel's image accesses for the image formats and samplers in `images`.
fn expand(module: &ir::Module, kernel: &str, images: &ImageKey, target: &Target) -> BackendResult<Expanded> {
    let mut key = LaunchKey::default();
    (key.kernel.images, key.kernel.samplers) = (images.formats.clone(), images.samplers.clone().into());
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
    fn precompile(&self, _kernel: &str, _local_size: Option<[u32; 3]>, _constants: &[u64]) {
        // The interpreter needs no compilation before a launch.
    }

    fn kernel_usage(&self, kernel: &str) -> BackendResult<KernelUsage> {
        usage(&self.program, kernel)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
