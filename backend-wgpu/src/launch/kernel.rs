//! Kernels on a device: shaders from the compiler, and pipelines created from them.

use wgcl_api::backend::{BackendResult, KernelUsage};
use wgcl_api::observe::dump;
use wgcl_compiler::emit::Shader;
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::stored;
use wgcl_runtime::{Artifact, Machine};

use crate::gpu::open_device::Gpu;
use crate::launch::pipeline::Pipeline;

/// A kernel and its pipelines.
pub(crate) type Kernel = wgcl_runtime::Kernel<Gpu>;

/// A compiled kernel: SPIR-V, or naga IR for devices without SPIR-V passthrough.
#[derive(Clone, Debug)]
pub(crate) struct KernelShader(Shader);

impl KernelShader {
    /// Drops naga's module if the shader is SPIR-V.
    pub(crate) fn new(mut shader: Shader) -> Self {
        if shader.spirv.is_some() {
            shader.naga = wgpu::naga::Module::default();
        }
        Self(shader)
    }

    /// Returns the number of work-items per invocation, along dimension 0.
    pub(crate) const fn coarsening_factor(&self) -> u32 {
        self.0.coarsening_factor
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
        tracing::trace!("created pipeline of kernel `{kernel}` for {key:?}");
        tracing::debug!(
            "created pipeline of kernel `{kernel}` for groups of {:?} in {:?}: {:?}",
            key.kernel.local_size,
            begin.elapsed(),
            pipeline.statistics()
        );
        Ok(pipeline)
    }
}
