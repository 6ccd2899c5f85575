//! From a shader that the compiler made to a compute pipeline.

use std::sync::Arc;

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_compiler::emit::{Binding, BindingKind, BindingSource, Shader};
use wgcl_compiler::layout::ArgLayout;
use wgcl_compiler::printf::Table;

use crate::buffer::Buffer;
use crate::gpu::open_device::Gpu;
use crate::vulkan::pipeline_statistics::Statistics;
use crate::vulkan::queue::{self, BindingType};

/// A shader on a device.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) id: u64,
    pub(crate) compute: Arc<ComputePipeline>,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) args: ArgLayout,
    /// Work-items of dimension 0 for which an invocation stands.
    pub(crate) coarse: u32,
    /// How to read what it prints, if it does.
    pub(crate) printf: Option<Arc<Table>>,
    /// The driver may stop its loops.
    pub(crate) watched: bool,
}

impl Pipeline {
    /// Whether the shader reads the argument buffer.
    pub(crate) fn has_arguments(&self) -> bool {
        self.bindings.iter().any(|binding| binding.source == BindingSource::Arguments)
    }

    /// What the driver's compiler made of it, as far as it tells.
    pub(crate) fn statistics(&self) -> Statistics {
        match &*self.compute {
            ComputePipeline::Vulkan(pipeline) => pipeline.statistics(),
            ComputePipeline::Wgpu { .. } => Statistics::default(),
        }
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
        let Shader { naga, spirv, entry_point, bindings, args, coarse, subgroup_size, printf, .. } = shader;
        let printf = (!printf.is_empty()).then(|| Arc::new(printf));
        let watched = bindings.iter().any(|binding| binding.source == BindingSource::Failures);
        let kinds: Vec<_> = bindings.iter().map(kind).collect();
        let compute = match (&gpu.vulkan_queue, spirv) {
            (Some(queue), Some(words)) => {
                let kinds: Vec<_> = kinds.iter().map(|(binding, kind, _)| (*binding, *kind)).collect();
                // SAFETY: the compiler wrote and checked the module. What it does with memory is what the application's kernel says; OpenCL
                // leaves accesses out of bounds undefined, and the driver's robust buffer access keeps them inside the process.
                ComputePipeline::Vulkan(unsafe {
                    queue::Pipeline::new(queue, &words, &entry_point, &kinds, gpu.subgroups.required(subgroup_size))
                }?)
            }
            (_, spirv) => gpu.scoped(|| {
                let module = shader_module(gpu, naga, spirv, &entry_point, local_size)?;
                Ok::<_, BackendError>(ComputePipeline::of_module(gpu, &module, &entry_point, &kinds))
            })??,
        };
        let compute = Arc::new(compute);
        Ok(Self { id: gpu.fresh_id(), compute, bindings, args, coarse, printf, watched })
    }
}

/// A pipeline and what its bind groups are made by.
#[derive(Debug)]
pub(crate) enum ComputePipeline {
    Wgpu { pipeline: wgpu::ComputePipeline, layout: wgpu::BindGroupLayout },
    Vulkan(queue::Pipeline),
}

/// Buffers, bound.
#[derive(Debug)]
pub(crate) enum BindGroup {
    Wgpu(wgpu::BindGroup),
    Vulkan(queue::DescriptorSet),
}

impl ComputePipeline {
    /// Of a module of wgpu's; to be called in a scope. The numbers are those of the bindings, and the bytes that each has at least.
    pub(crate) fn of_module(gpu: &Gpu, module: &wgpu::ShaderModule, entry_point: &str, bindings: &[(u32, BindingType, u64)]) -> Self {
        let entries: Vec<_> = bindings.iter().map(layout_entry).collect();
        let layout = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let pipeline_layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry_point),
            layout: Some(&pipeline_layout),
            module,
            entry_point: Some(entry_point),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &[],
                // OpenCL's local memory starts undefined.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        Self::Wgpu { pipeline, layout }
    }

    /// Binds ranges (buffer, first byte, bytes), one for each binding number.
    pub(crate) fn group(&self, gpu: &Gpu, bound: &[(u32, &Buffer, u64, u64)]) -> BackendResult<BindGroup> {
        if !bound.iter().all(|(_, buffer, offset, size)| offset.checked_add(*size).is_some_and(|end| end <= buffer.size())) {
            return Err(BackendError::Other("a binding beyond the end of a buffer".to_owned()));
        }
        match self {
            Self::Vulkan(pipeline) => {
                let bound: SmallVec<[_; 8]> = bound.iter().map(|(_, buffer, offset, size)| (buffer.handle, *offset, *size)).collect();
                // SAFETY: just checked; a set is used for commands on its buffers only, which keep them.
                Ok(BindGroup::Vulkan(unsafe { pipeline.set(&bound) }?))
            }
            Self::Wgpu { layout, .. } => {
                let entries: SmallVec<[wgpu::BindGroupEntry<'_>; 8]> = bound
                    .iter()
                    .map(|(binding, buffer, offset, size)| wgpu::BindGroupEntry {
                        binding: *binding,
                        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                            buffer: &buffer.wgpu,
                            offset: *offset,
                            size: wgpu::BufferSize::new(*size),
                        }),
                    })
                    .collect();
                let descriptor = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
                gpu.scoped(|| gpu.device.create_bind_group(&descriptor)).map(BindGroup::Wgpu)
            }
        }
    }
}

/// A binding's number, kind and bytes.
fn kind(binding: &Binding) -> (u32, BindingType, u64) {
    match binding.kind {
        BindingKind::Uniform { size } if binding.source == BindingSource::Arguments => {
            (binding.binding, BindingType::Arguments, size.into())
        }
        BindingKind::Uniform { size } => (binding.binding, BindingType::Uniform, size.into()),
        BindingKind::Storage => (binding.binding, BindingType::Storage, 0),
    }
}

fn layout_entry((binding, kind, size): &(u32, BindingType, u64)) -> wgpu::BindGroupLayoutEntry {
    let ty = match kind {
        BindingType::Arguments | BindingType::Uniform => wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: *kind == BindingType::Arguments,
            min_binding_size: wgpu::BufferSize::new(*size),
        },
        BindingType::Storage => wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: false },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
    };
    wgpu::BindGroupLayoutEntry { binding: *binding, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None }
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
