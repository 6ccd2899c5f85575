//! From a shader that the compiler made to a compute pipeline.

use std::sync::Arc;

use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_compiler::launch::{ArgLayout, Binding, BindingKind, BindingSource, Shader};
use wgcl_compiler::printf::Table;

use crate::gpu::Gpu;

/// A shader on a device.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) id: u64,
    pub(crate) pipeline: wgpu::ComputePipeline,
    pub(crate) layout: wgpu::BindGroupLayout,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) args: ArgLayout,
    pub(crate) local_memory: u32,
    pub(crate) private_memory: u32,
    /// How to read what it prints, if it does.
    pub(crate) printf: Option<Arc<Table>>,
}

impl Pipeline {
    /// Whether the shader reads the argument buffer.
    pub(crate) fn has_arguments(&self) -> bool {
        self.bindings.iter().any(|binding| binding.source == BindingSource::Arguments)
    }

    /// Bytes of scratch memory for a work-item.
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

    /// Makes the pipeline of a shader for work-groups of that size. Takes long: the driver compiles.
    pub(crate) fn new(gpu: &Gpu, shader: Shader, local_size: [u32; 3]) -> BackendResult<Self> {
        let Shader { naga, spirv, entry_point, bindings, args, local_memory, private_memory, printf } = shader;
        let printf = (!printf.is_empty()).then(|| Arc::new(printf));
        let entries: Vec<_> = bindings.iter().map(layout_entry).collect();
        gpu.scoped(|| {
            let module = shader_module(gpu, naga, spirv, &entry_point, local_size)?;
            let layout = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
            let pipeline_layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            });
            let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(&entry_point),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some(&entry_point),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &[],
                    // OpenCL's local memory starts undefined.
                    zero_initialize_workgroup_memory: false,
                },
                cache: None,
            });
            Ok(Self { id: gpu.fresh_id(), pipeline, layout, bindings, args, local_memory, private_memory, printf })
        })?
    }
}

fn layout_entry(binding: &Binding) -> wgpu::BindGroupLayoutEntry {
    let ty = match binding.kind {
        BindingKind::Uniform { size } => wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: binding.source == BindingSource::Arguments,
            min_binding_size: wgpu::BufferSize::new(u64::from(size)),
        },
        BindingKind::Storage => wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: false },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
    };
    wgpu::BindGroupLayoutEntry { binding: binding.binding, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None }
}

fn shader_module(
    gpu: &Gpu,
    naga: wgpu::naga::Module,
    spirv: Option<Vec<u32>>,
    entry_point: &str,
    local_size: [u32; 3],
) -> BackendResult<wgpu::ShaderModule> {
    match spirv {
        Some(words) if gpu.approach.spirv => {
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
            // SAFETY: the compiler wrote and checked the module. What it does with memory is what the application's kernel says; OpenCL
            // leaves accesses out of bounds undefined, and the driver's robust buffer access keeps them inside the process.
            Ok(unsafe { gpu.device.create_shader_module_passthrough(descriptor) })
        }
        Some(_) => Err(BackendError::Other("SPIR-V for a device that does not take it".to_owned())),
        None => {
            let descriptor = wgpu::ShaderModuleDescriptor { label: None, source: wgpu::ShaderSource::Naga(std::borrow::Cow::Owned(naga)) };
            // SAFETY: as above; naga validates the module all the same.
            Ok(unsafe { gpu.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) })
        }
    }
}
