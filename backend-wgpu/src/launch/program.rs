//! A program on a device: what its kernels' variants are made of here, and the memory of its constants and variables.

use std::any::Any;
use std::sync::Arc;

use wgcl_api::backend::{BackendResult, KernelUsage, LoadedProgram, Memory};
use wgcl_api::cache::Key;
use wgcl_api::observe::dump;
use wgcl_compiler::emit::Shader;
use wgcl_compiler::ir;
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::specialise::specialise;
use wgcl_compiler::stored;
use wgcl_compiler::target::Target;
use wgcl_runtime::workers::Urgency;
use wgcl_runtime::{Artifact, Compile, Expected, KernelFacts, Machine, Program, Shelf, contained};

use crate::gpu::open_device::Gpu;
use crate::launch::ndrange::GROUP;
use crate::launch::pipeline::Pipeline;
use crate::memory::device_memory::WgpuMemory;
use crate::vulkan::pipeline_statistics;

/// The question how many registers a kernel's invocations take; smaller numbers are those of [`crate::launch::thread_coarsening`].
const REGISTERS: u32 = 1 << 16;
/// Groups in which invocations may have as many registers as there are.
const EASY_GROUP: [u32; 3] = [256, 1, 1];

/// A kernel and its pipelines.
pub(crate) type Kernel = wgcl_runtime::Kernel<Gpu>;

/// A kernel as the compiler made it: SPIR-V, or naga's IR where the device takes no SPIR-V.
#[derive(Clone, Debug)]
pub(crate) struct KernelShader(Shader);

impl KernelShader {
    /// Without what nobody asks for where there is SPIR-V.
    pub(crate) fn new(mut shader: Shader) -> Self {
        if shader.spirv.is_some() {
            shader.naga = wgpu::naga::Module::default();
        }
        Self(shader)
    }

    /// Work-items of dimension 0 for which an invocation stands.
    pub(crate) const fn coarse(&self) -> u32 {
        self.0.coarse
    }
}

impl Artifact for KernelShader {
    type Key = LaunchKey;
    const KIND: &'static str = "shader";

    fn encode(&self) -> Option<Vec<u8>> {
        stored::encode_shader(&self.0)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        stored::decode_shader(bytes).map(Self)
    }

    fn usage(&self) -> KernelUsage {
        KernelUsage { local_memory: self.0.local_memory, private_memory: self.0.private_memory }
    }

    fn serves_any_group_size(&self) -> bool {
        self.0.any_local_size
    }

    fn adapt(&mut self, key: &LaunchKey) {
        self.0.set_local_size(key.kernel.local_size);
    }

    fn any_group_size(key: &LaunchKey) -> LaunchKey {
        key.clone().changed(|key| {
            key.kernel.local_size = [1; 3];
            key.kernel.enqueued_local_size = [1; 3];
        })
    }

    fn dump(&self, kernel: &str, key: &LaunchKey) {
        if !dump::enabled() {
            return;
        }
        let [x, y, z] = key.kernel.local_size;
        let name = format!("{}-{kernel}-{x}x{y}x{z}", dump::prefix());
        match &self.0.spirv {
            Some(words) => dump::write(&format!("{name}.spv"), &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>()),
            None => dump::write(&format!("{name}.naga"), format!("{:#?}\n", self.0.naga).as_bytes()),
        }
    }
}

impl Machine for Gpu {
    type Artifact = KernelShader;
    type Executable = Pipeline;

    fn load(&self, kernel: &str, artifact: KernelShader, key: &LaunchKey) -> BackendResult<Pipeline> {
        let begin = std::time::Instant::now();
        let pipeline = Pipeline::new(self, artifact.0, key.kernel.local_size)?;
        tracing::trace!("{kernel}: {key:?}");
        tracing::debug!("{kernel} for groups of {:?}: {:?}, {:?}", key.kernel.local_size, pipeline.statistics(), begin.elapsed());
        Ok(pipeline)
    }
}

/// A program that was found in the cache and is going to be loaded: what earlier processes have launched of it is begun.
pub(crate) fn expect(gpu: &Arc<Gpu>, name: Key, target: &Target) -> Expected<Gpu> {
    // Only SPIR-V is kept.
    let shelf = if gpu.capabilities.spirv { Shelf::named(name, target) } else { Shelf::empty() };
    Expected::begin(gpu, Arc::new(shelf))
}

/// A program on a device.
#[derive(Debug)]
pub(crate) struct WgpuProgram {
    /// Its kernels, and their pipelines by launch key.
    pub(crate) code: Arc<Program<Gpu>>,
    /// `BindingSource::ConstantData`.
    pub(crate) constants: Option<Arc<WgpuMemory>>,
    /// `BindingSource::GlobalVariables`.
    pub(crate) variables: Option<Arc<WgpuMemory>>,
}

impl WgpuProgram {
    /// Of a module of the compiler's. `expected` is what was begun of it.
    pub(crate) fn of_module(gpu: &Arc<Gpu>, module: Arc<ir::Module>, target: Target, expected: Option<Expected<Gpu>>) -> Self {
        let shelf = match &expected {
            Some(expected) => Arc::clone(expected.shelf()),
            None if gpu.capabilities.spirv => Arc::new(Shelf::of_module(Arc::clone(&module), target.clone())),
            None => Arc::new(Shelf::empty()),
        };
        let kernels = KernelFacts::of_module(&module);
        let compile = move |kernel: &str, key: &LaunchKey| compile(&module, kernel, key, &target);
        let mut code = Program::new(Arc::clone(gpu), kernels, Box::new(compile), Some(shelf));
        if let Some(expected) = expected {
            code.adopt(expected);
        }
        Self { code: Arc::new(code), constants: None, variables: None }
    }

    /// Of kernels whose shaders come from anywhere.
    pub(crate) fn of_shaders(gpu: &Arc<Gpu>, kernels: Vec<KernelFacts>, make: Box<Compile<KernelShader>>) -> Self {
        Self { code: Arc::new(Program::new(Arc::clone(gpu), kernels, make, None)), constants: None, variables: None }
    }

    /// The key of a launch as it probably comes.
    fn probable_key(&self, kernel: &Kernel, local_size: [u32; 3]) -> LaunchKey {
        let function = ir::Function {
            kernel: Some(ir::Kernel {
                params: kernel.params().to_vec(),
                reqd_work_group_size: kernel.required_group_size(),
                ..ir::Kernel::default()
            }),
            ..ir::Function::new("", ir::Type::Void)
        };
        LaunchKey::example(&function, local_size).changed(|key| key.binding.distinct = true)
    }
}

/// Has the compiler make a shader.
fn compile(module: &Arc<ir::Module>, kernel: &str, key: &LaunchKey, target: &Target) -> BackendResult<KernelShader> {
    // naga's writers can panic on what they do not know.
    contained(kernel, "emission", || specialise(module, kernel, key, target)).map(KernelShader::new)
}

impl LoadedProgram for WgpuProgram {
    /// A GPU's driver takes 10 to 100 ms for a small kernel, while the processors have little to do: hashcat measures its own speed in the 70 ms of a launch behind three such. On
    /// devices that are the host's processors, or share its memory with them, what is made in vain would take as much from others.
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

    /// What a pipeline for groups of a size that wants no registers says of others. Kernels that cannot see their groups run in such ones anyway, and the
    /// driver takes seconds for long ones, which fill all registers.
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
