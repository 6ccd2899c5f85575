//! A program on a device: its kernels, and the memory of its constants and variables.

use std::any::Any;
use std::sync::Arc;

use wgcl_api::backend::{BackendResult, KernelUsage, LoadedProgram, Memory};
use wgcl_api::cache::Key;
use wgcl_compiler::ir;
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::specialise::specialise;
use wgcl_compiler::target::Target;
use wgcl_runtime::workers::Urgency;
use wgcl_runtime::{Compile, Expected, KernelFacts, Program, ProgramCache, catch_panic};

use crate::gpu::open_device::Gpu;
use crate::launch::kernel::{Kernel, KernelShader};
use crate::launch::ndrange::GROUP;
use crate::memory::device_memory::WgpuMemory;
use crate::vulkan::pipeline_statistics;

/// Cache key of a kernel's register count in [`Kernel::find_out`]. [`crate::launch::thread_coarsening`] uses smaller
/// keys.
const REGISTERS: u32 = 1 << 16;
/// In groups of this size an invocation may have as many registers as the device provides.
const EASY_GROUP: [u32; 3] = [256, 1, 1];

/// Starts loading a program that was found in the cache: creates the pipelines that earlier processes used.
pub(crate) fn expect(gpu: &Arc<Gpu>, name: Key, target: &Target) -> Expected<Gpu> {
    // The cache holds SPIR-V only.
    let cache = if gpu.capabilities.spirv { ProgramCache::named(name, target) } else { ProgramCache::empty() };
    Expected::begin(gpu, Arc::new(cache))
}

#[derive(Debug)]
pub(crate) struct WgpuProgram {
    /// Kernels, and their pipelines by launch key.
    pub(crate) code: Arc<Program<Gpu>>,
    /// Bound at `BindingSource::ConstantData`.
    pub(crate) constants: Option<Arc<WgpuMemory>>,
    /// Bound at `BindingSource::GlobalVariables`.
    pub(crate) variables: Option<Arc<WgpuMemory>>,
}

impl WgpuProgram {
    /// Creates the program of a compiled module. `expected` is the result of [`expect`].
    pub(crate) fn of_module(gpu: &Arc<Gpu>, module: Arc<ir::Module>, target: Target, expected: Option<Expected<Gpu>>) -> Self {
        let cache = match &expected {
            Some(expected) => Arc::clone(expected.cache()),
            None if gpu.capabilities.spirv => Arc::new(ProgramCache::of_module(Arc::clone(&module), target.clone())),
            None => Arc::new(ProgramCache::empty()),
        };
        let kernels = KernelFacts::of_module(&module);
        let compile = move |kernel: &str, key: &LaunchKey| compile(&module, kernel, key, &target);
        let mut code = Program::new(Arc::clone(gpu), kernels, Box::new(compile), Some(cache));
        if let Some(expected) = expected {
            code.adopt(expected);
        }
        Self { code: Arc::new(code), constants: None, variables: None }
    }

    /// Creates a program from any source of shaders.
    pub(crate) fn of_shaders(gpu: &Arc<Gpu>, kernels: Vec<KernelFacts>, make: Box<Compile<KernelShader>>) -> Self {
        Self { code: Arc::new(Program::new(Arc::clone(gpu), kernels, make, None)), constants: None, variables: None }
    }

    /// The key that a launch with this group size probably has.
    fn probable_key(&self, kernel: &Kernel, local_size: [u32; 3]) -> LaunchKey {
        let function = ir::Function {
            kernel: Some(ir::Kernel {
                params: kernel.params().to_vec(),
                reqd_work_group_size: kernel.required_group_size(),
                by_address: kernel.by_address(),
                ..ir::Kernel::default()
            }),
            ..ir::Function::new("", ir::Type::Void)
        };
        LaunchKey::example(&function, local_size).changed(|key| key.binding.distinct = true)
    }
}

fn compile(module: &Arc<ir::Module>, kernel: &str, key: &LaunchKey, target: &Target) -> BackendResult<KernelShader> {
    // naga's writers can panic on unsupported input.
    catch_panic(kernel, "emission", || specialise(module, kernel, key, target)).map(KernelShader::new)
}

impl LoadedProgram for WgpuProgram {
    /// Compiles ahead. A GPU driver takes 10 to 100 ms for a small kernel while the host has little to do. hashcat
    /// measures its own speed in the 70 ms of a launch that follows three such kernels. On a CPU device, or one that
    /// shares memory with the CPU, unneeded pipelines would take time from other work.
    fn precompile(&self, kernel: &str, local_size: Option<[u32; 3]>) {
        let Ok(found) = self.code.kernel(kernel) else { return };
        let own = || (!self.code.machine().capabilities.unified).then_some([GROUP, 1, 1]);
        let Some(size) = local_size.or_else(own) else { return };
        let guards = local_size.is_none() && found.is_long();
        let key = self.probable_key(found, size).changed(|key| key.kernel.guard[0] |= guards);
        self.code.begin(found, key, Urgency::Hint);
    }

    fn kernel_usage(&self, kernel: &str) -> BackendResult<KernelUsage> {
        let kernel = self.code.kernel(kernel)?;
        self.code.usage(kernel, || self.probable_key(kernel, [64, 1, 1]))
    }

    /// Derived from the register count of a pipeline for groups that do not limit registers. Kernels that cannot
    /// observe their groups run in such groups anyway. Long kernels use all registers, and the driver would take
    /// seconds to compile them.
    fn max_group_size(&self, kernel: &str) -> Option<u32> {
        let gpu = self.code.machine();
        let kernel = self.code.kernel(kernel).ok().filter(|kernel| !kernel.group_blind() && gpu.reports_registers())?;
        if kernel.is_long() {
            return pipeline_statistics::max_group_size(pipeline_statistics::MAX_REGISTERS);
        }
        let registers = kernel.find_out(REGISTERS, || {
            let pipeline = self.code.executable(kernel, &self.probable_key(kernel, EASY_GROUP))?;
            Ok(pipeline.statistics().registers.unwrap_or(0))
        });
        pipeline_statistics::max_group_size(registers.inspect_err(|error| tracing::debug!("{}: {error}", kernel.name())).ok()?)
    }

    fn variables(&self) -> Option<Arc<dyn Memory>> {
        self.variables.clone().map(|memory| memory as Arc<dyn Memory>)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
