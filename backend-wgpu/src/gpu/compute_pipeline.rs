//! Compute pipelines and bind groups, of wgpu or of Vulkan.

use std::sync::Arc;

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult};

use crate::buffer::Buffer;
use crate::context_lock::Guarded;
use crate::gpu::open_device::Gpu;
use crate::vulkan::queue::{self, BindingType};

/// A compute pipeline and the layout of its bind group.
#[derive(Clone, Debug)]
pub(crate) enum ComputePipeline {
    Wgpu { pipeline: Guarded<wgpu::ComputePipeline>, layout: Guarded<wgpu::BindGroupLayout> },
    Vulkan(Arc<queue::Pipeline>),
}

/// The buffers that a dispatch binds.
#[derive(Clone, Debug)]
pub(crate) enum BindGroup {
    Wgpu(Guarded<wgpu::BindGroup>),
    Vulkan(Arc<queue::DescriptorSet>),
}

impl ComputePipeline {
    /// Creates the pipeline of a wgpu module. The caller must be in [`Gpu::scoped`]. `bindings` has the number and
    /// type of each binding, and the minimum size in bytes of uniform bindings.
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
                // Local memory is uninitialised in OpenCL.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        Self::Wgpu { pipeline: gpu.context_lock.guard(pipeline), layout: gpu.context_lock.guard(layout) }
    }

    /// Creates the bind group for `bound`. Each element has the binding number, the buffer, and the offset and size in
    /// bytes.
    pub(crate) fn group(&self, gpu: &Gpu, bound: &[(u32, &Buffer, u64, u64)]) -> BackendResult<BindGroup> {
        if !bound.iter().all(|(_, buffer, offset, size)| offset.checked_add(*size).is_some_and(|end| end <= buffer.size())) {
            return Err(BackendError::Other("internal error: a binding ends beyond its buffer".to_owned()));
        }
        match self {
            Self::Vulkan(pipeline) => {
                let bound: SmallVec<[_; 8]> = bound.iter().map(|(_, buffer, offset, size)| (buffer.handle, *offset, *size)).collect();
                // SAFETY: the ranges were just checked. A descriptor set is used only in commands that list its
                // buffers, which keeps them alive.
                Ok(BindGroup::Vulkan(Arc::new(unsafe { pipeline.create_descriptor_set(&bound) }?)))
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
                gpu.scoped(|| gpu.device.create_bind_group(&descriptor)).map(|group| BindGroup::Wgpu(gpu.context_lock.guard(group)))
            }
        }
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
