//! Creates a compute pipeline from a compiled shader.

use std::sync::Arc;

use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_compiler::binding::ArgLayout;
use wgcl_compiler::emit::{Binding, BindingKind, BindingSource, Shader};
use wgcl_compiler::printf::Table;

use crate::gpu::compute_pipeline::ComputePipeline;
use crate::gpu::open_device::Gpu;
use crate::vulkan::pipeline_statistics::Statistics;
use crate::vulkan::queue::{self, BindingType};

/// A shader on a device.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) id: u64,
    pub(crate) compute: ComputePipeline,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) args: ArgLayout,
    /// Number of work-items per invocation, along dimension 0.
    pub(crate) coarsening_factor: u32,
    /// Format strings, if the kernel prints.
    pub(crate) printf: Option<Arc<Table>>,
    /// Whether the kernel may write the failure word.
    pub(crate) reports_failures: bool,
}

impl Pipeline {
    /// Whether the shader reads the argument buffer.
    pub(crate) fn has_arguments(&self) -> bool {
        self.bindings.iter().any(|binding| binding.source == BindingSource::Arguments)
    }

    /// Returns the register count and the stack size, if the driver reports them.
    pub(crate) fn statistics(&self) -> Statistics {
        match &self.compute {
            ComputePipeline::Vulkan(pipeline) => pipeline.statistics(),
            ComputePipeline::Wgpu { .. } => Statistics::default(),
        }
    }

    /// Returns the number of bytes of scratch memory per work-item, or 0 if the shader uses none.
    pub(crate) fn scratch(&self) -> u64 {
        self.bindings
            .iter()
            .filter_map(|binding| match binding.source {
                BindingSource::Scratch { bytes_per_item } => Some(u64::from(bytes_per_item)),
                _ => None,
            })
            .max()
            .unwrap_or(0)
    }

    /// Creates the pipeline of a shader for this group size. The driver compiles it, which may take seconds.
    pub(crate) fn new(gpu: &Gpu, shader: Shader, local_size: [u32; 3]) -> BackendResult<Self> {
        let Shader { naga, spirv, entry_point, bindings, args, coarsening_factor, subgroup_size, printf, .. } = shader;
        let printf = (!printf.is_empty()).then(|| Arc::new(printf));
        let reports_failures = bindings.iter().any(|binding| binding.source == BindingSource::Failures);
        let kinds: Vec<_> = bindings.iter().map(kind).collect();
        let compute = match (&gpu.vulkan_queue, spirv) {
            (Some(queue), Some(words)) => {
                let kinds: Vec<_> = kinds.iter().map(|(binding, kind, _)| (*binding, *kind)).collect();
                // SAFETY: the compiler wrote and checked the module. Its memory accesses are those of the
                // application's kernel. Accesses out of bounds are undefined in OpenCL, and robust buffer access
                // keeps them inside the process.
                let pipeline = unsafe { queue::Pipeline::new(queue, &words, &entry_point, &kinds, gpu.subgroups.required(subgroup_size)) }?;
                ComputePipeline::Vulkan(Arc::new(pipeline))
            }
            (_, spirv) => gpu.scoped(|| {
                let module = shader_module(gpu, naga, spirv, &entry_point, local_size)?;
                Ok::<_, BackendError>(ComputePipeline::of_module(gpu, &module, &entry_point, &kinds))
            })??,
        };
        Ok(Self { id: gpu.fresh_id(), compute, bindings, args, coarsening_factor, printf, reports_failures })
    }
}

/// Returns the number, the type and the minimum size in bytes of a binding.
fn kind(binding: &Binding) -> (u32, BindingType, u64) {
    match binding.kind {
        BindingKind::Uniform { size } if binding.source == BindingSource::Arguments => {
            (binding.binding, BindingType::Arguments, size.into())
        }
        BindingKind::Uniform { size } => (binding.binding, BindingType::Uniform, size.into()),
        BindingKind::Storage => (binding.binding, BindingType::Storage, 0),
    }
}

fn shader_module(
    gpu: &Gpu,
    naga: wgpu::naga::Module,
    spirv: Option<Vec<u32>>,
    entry_point: &str,
    local_size: [u32; 3],
) -> BackendResult<wgpu::ShaderModule> {
    match spirv {
        Some(words) if gpu.capabilities.spirv => {
            let workgroup_size = local_size.map(|n| n.max(1));
            let entry_points = [wgpu::PassthroughShaderEntryPoint { name: entry_point.into(), workgroup_size: workgroup_size.into() }];
            let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
                label: None,
                entry_points: entry_points.as_slice().into(),
                spirv: Some(words.into()),
                dxil: None,
                hlsl: None,
                metallib: None,
                msl: None,
                glsl: None,
                wgsl: None,
            };
            // SAFETY: the reasons of `Pipeline::new` hold.
            Ok(unsafe { gpu.device.create_shader_module_passthrough(descriptor) })
        }
        Some(_) => Err(BackendError::Other("internal error: SPIR-V for a device without SPIR-V passthrough".to_owned())),
        None => {
            let descriptor = wgpu::ShaderModuleDescriptor { label: None, source: wgpu::ShaderSource::Naga(std::borrow::Cow::Owned(naga)) };
            // SAFETY: the reasons of `Pipeline::new` hold, and naga validates the module.
            Ok(unsafe { gpu.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) })
        }
    }
}
