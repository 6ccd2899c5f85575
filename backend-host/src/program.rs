//! Programs: the interpreter's code, and the memory of program-scope variables.

use std::any::Any;
use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use wgcl_api::backend::{BackendError, BackendResult, KernelUsage, Launch, LaunchArg, LoadedProgram};
use wgcl_compiler::image::ImageFormat;
use wgcl_compiler::interpret::{self, Instance, Settings, Stage};
use wgcl_compiler::ir::{self, KernelParam};
use wgcl_compiler::launch::{LaunchError, LaunchKey};
use wgcl_compiler::specialise::expand_images;
use wgcl_compiler::target::Target;

use crate::memory::{InterpreterMemory, Names};

/// A program on the device.
#[derive(Debug)]
pub(crate) struct InterpreterProgram {
    program: Arc<interpret::Program>,
    pub(crate) instance: Instance,
    /// Variables and constants of program scope; the former may be written.
    pub(crate) objects: Vec<(InterpreterMemory, bool)>,
    module: Arc<ir::Module>,
    target: Target,
    /// Kernels with the accesses to images that some launch needed.
    expanded: Mutex<FxHashMap<Expanded, Arc<interpret::Program>>>,
}

/// What accesses to images are made for: the kernel's name, the formats of its images and the values of its samplers.
type Expanded = (String, Vec<ImageFormat>, Vec<u32>);

impl InterpreterProgram {
    pub(crate) fn new(module: Arc<ir::Module>, target: &Target, names: &Arc<Names>) -> BackendResult<Self> {
        let program = Arc::new(interpret::Program::new(&module, Settings::new(Stage::Built, target)));
        let mut memory = interpret::Memory::default();
        let instance = program.instantiate(&mut memory, || names.take()).ok_or(BackendError::OutOfDeviceMemory)?;
        let objects = instance
            .objects()
            .map(|(id, read_only)| (InterpreterMemory::named(names, id, memory.remove(id).unwrap_or_default()), read_only))
            .collect();
        Ok(Self { program, instance, objects, module, target: target.clone(), expanded: Mutex::default() })
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
        let kernel =
            self.module.functions.iter().filter(|function| *function.name == *launch.kernel).find_map(|function| function.kernel.as_ref());
        let params = kernel.map_or(&[][..], |kernel| &kernel.params);
        let samplers = params.iter().zip(&launch.args).filter_map(|(param, arg)| match (param, arg) {
            (KernelParam::Sampler, LaunchArg::Value(bytes)) => bytes.first_chunk().map(|word| u32::from_le_bytes(*word)),
            _ => None,
        });
        let key = (launch.kernel.to_string(), formats, samplers.collect());
        if let Some(known) = self.expanded.lock().get(&key) {
            return Ok(known.clone());
        }
        let mut launch = LaunchKey::default();
        (launch.kernel.images, launch.kernel.samplers) = (key.1.clone(), key.2.clone());
        let module = expand_images(&self.module, &key.0, &launch, &self.target)?;
        let program = Arc::new(interpret::Program::new(&module, Settings::new(Stage::Built, &self.target)));
        Ok(self.expanded.lock().entry(key).or_insert(program).clone())
    }
}

impl LoadedProgram for InterpreterProgram {
    fn warm(&self, _kernel: &str, _local_size: [u32; 3]) {
        // There is nothing to make ahead of time.
    }

    fn kernel_usage(&self, kernel: &str) -> BackendResult<KernelUsage> {
        let missing = |_| BackendError::Launch(LaunchError::NoKernel(kernel.to_owned()));
        let (local_memory, private_memory) = self.program.usage(kernel).map_err(missing)?;
        Ok(KernelUsage { local_memory, private_memory })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
