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
use wgcl_runtime::{Compile, KernelFacts, PrefetchedProgram, Program, ProgramCache, catch_panic};

use crate::gpu::open_device::Gpu;
use crate::launch::kernel::{Kernel, KernelShader};
use crate::launch::key;
use crate::launch::ndrange::GROUP;
use crate::memory::device_memory::WgpuMemory;
use crate::vulkan::pipeline_statistics;

/// The key of the register count among the cached measurements of a kernel ([`Kernel::measure_once`]).
/// [`crate::launch::thread_coarsening`] uses keys below this one.
const REGISTERS: u32 = 1 << 16;
/// A group size that does not limit the register count of an invocation.
const UNCONSTRAINED_GROUP: [u32; 3] = [256, 1, 1];

/// Starts loading a program that was found in the cache: creates the pipelines that earlier processes used.
pub(crate) fn prefetch_program(gpu: &Arc<Gpu>, name: Key, target: &Target) -> PrefetchedProgram<Gpu> {
    // The cache contains only SPIR-V, so a device without SPIR-V passthrough uses an empty cache.
    let cache = if gpu.capabilities.spirv { ProgramCache::named(name, target) } else { ProgramCache::empty() };
    PrefetchedProgram::begin(gpu, Arc::new(cache))
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
    /// Creates the program of a compiled module. `prefetched` is the result of [`prefetch_program`].
    pub(crate) fn of_module(gpu: &Arc<Gpu>, module: Arc<ir::Module>, target: Target, prefetched: Option<PrefetchedProgram<Gpu>>) -> Self {
        let cache = match &prefetched {
            Some(prefetched) => Arc::clone(prefetched.cache()),
            None if gpu.capabilities.spirv => Arc::new(ProgramCache::of_module(Arc::clone(&module), target.clone())),
            None => Arc::new(ProgramCache::empty()),
        };
        let kernels = KernelFacts::of_module(&module);
        let compile = move |kernel: &str, key: &LaunchKey| compile(&module, kernel, key, &target);
        let mut code = Program::new(Arc::clone(gpu), kernels, Box::new(compile), Some(cache));
        if let Some(prefetched) = prefetched {
            code.adopt(prefetched);
        }
        Self { code: Arc::new(code), constants: None, variables: None }
    }

    /// Creates a program from any source of shaders.
    pub(crate) fn of_shaders(gpu: &Arc<Gpu>, kernels: Vec<KernelFacts>, compile: Box<Compile<KernelShader>>) -> Self {
        Self { code: Arc::new(Program::new(Arc::clone(gpu), kernels, compile, None)), constants: None, variables: None }
    }

    /// Returns the key that a launch with this group size probably has.
    fn probable_key(&self, kernel: &Kernel, local_size: [u32; 3]) -> LaunchKey {
        let function = ir::Function {
            kernel: Some(ir::Kernel {
                params: kernel.params().to_vec(),
                reqd_work_group_size: kernel.required_group_size(),
                requires_addresses: kernel.requires_addresses(),
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
    /// Compiles a kernel before its first launch. A GPU driver takes 10 to 100 ms for a small kernel, and before the
    /// first launch the host has little else to do. hashcat benchmarks itself with one launch of about 70 ms after it
    /// creates three kernels: a compilation during that launch falsifies the result. A device with unified memory does
    /// not compile a kernel whose group size is unknown: an unneeded pipeline would take CPU time from other work.
    fn precompile(&self, kernel: &str, local_size: Option<[u32; 3]>, constants: &[u64]) {
        let Ok(found) = self.code.kernel(kernel) else { return };
        let default_size = || (!self.code.machine().capabilities.unified).then_some([GROUP, 1, 1]);
        let Some(size) = local_size.or_else(default_size) else { return };
        let guards = local_size.is_none() && found.is_long();
        let gpu = self.code.machine();
        let key = self.probable_key(found, size).changed(|key| {
            key.kernel.guard[0] |= guards;
            key.binding.constant_args = constants.iter().map(|size| key::constant_binding_of_size(gpu, *size)).collect();
        });
        self.code.compile_in_background(found, key, Urgency::Hint);
    }

    fn kernel_usage(&self, kernel: &str) -> BackendResult<KernelUsage> {
        let kernel = self.code.kernel(kernel)?;
        self.code.usage(kernel, || self.probable_key(kernel, [64, 1, 1]))
    }

    /// Returns the largest group size that the register count of the kernel permits. The count comes from a pipeline
    /// whose group size does not limit the count. Returns `None` if the driver does not report the count. Also returns
    /// `None` if the kernel does not depend on its work-group size, because the backend then chooses the size. A long
    /// kernel is assumed to use all registers, because the driver would take seconds to compile it.
    fn max_group_size(&self, kernel: &str) -> Option<u32> {
        let gpu = self.code.machine();
        let kernel = self.code.kernel(kernel).ok().filter(|kernel| !kernel.group_independent() && gpu.reports_registers())?;
        if kernel.is_long() {
            return pipeline_statistics::max_group_size(pipeline_statistics::MAX_REGISTERS);
        }
        let registers = kernel.measure_once(REGISTERS, || {
            let pipeline = self.code.executable(kernel, &self.probable_key(kernel, UNCONSTRAINED_GROUP))?;
            Ok(pipeline.statistics().registers.unwrap_or(0))
        });
        pipeline_statistics::max_group_size(
            registers.inspect_err(|error| tracing::debug!("cannot count the registers of kernel `{}`: {error}", kernel.name())).ok()?,
        )
    }

    fn variables(&self) -> Option<Arc<dyn Memory>> {
        self.variables.clone().map(|memory| memory as Arc<dyn Memory>)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
