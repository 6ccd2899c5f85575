//! Runs the OpenCL kernel `mandelbrot.cl` with plain wgpu. No OpenCL driver is needed.
//!
//! The binding numbers come from [`Shader::bindings`]. `counts` is a storage buffer. All arguments by value are in the
//! argument buffer, a uniform buffer that [`Shader::arguments`] fills.

#![forbid(unsafe_code)]

use std::error::Error;

use wgcl_compiler::{BindingKind, Device, Language, Launch, Options, Range, Resource, Shader, compile};
use wgpu::{BufferUsages, CommandEncoderDescriptor, ComputePipelineDescriptor};

const SIZE: u32 = 64;

fn main() -> Result<(), Box<dyn Error>> {
    // Compile the kernel to WGSL for work-groups of 8 x 8.
    let options = Options::new(Device::WebGpu).file_name("mandelbrot.cl");
    let program = compile(include_str!("mandelbrot.cl"), &options)?;
    let kernel = program.shader("mandelbrot", &Launch::new([8, 8, 1]))?;
    let range = Range::plane([SIZE, SIZE], [8, 8]);
    let corner: Vec<u8> = [-2.0f32, -1.25].iter().flat_map(|value| value.to_le_bytes()).collect();
    let values: &[(usize, &[u8])] = &[(1, &corner), (2, &(2.5 / SIZE as f32).to_le_bytes()), (3, &100u32.to_le_bytes())];
    let counts = pollster::block_on(run(&kernel, &range, &kernel.arguments(&range, values)?, u64::from(4 * SIZE * SIZE)))?;
    for row in counts.chunks_exact(4 * SIZE as usize).step_by(2) {
        let shade = |count: &[u8]| {
            if count[0] >= 100 {
                '#'
            } else if count[0] > 8 {
                '+'
            } else {
                ' '
            }
        };
        println!("{}", row.chunks_exact(4).map(shade).collect::<String>());
    }
    Ok(())
}

/// Runs a kernel whose only buffer has `size` bytes, and returns the contents of the buffer.
async fn run(kernel: &Shader, range: &Range, arguments: &[u8], size: u64) -> Result<Vec<u8>, Box<dyn Error>> {
    let adapter = wgpu::Instance::default().request_adapter(&wgpu::RequestAdapterOptions::default()).await?;
    let (device, queue) = adapter.request_device(&wgpu::DeviceDescriptor::default()).await?;
    let source = wgpu::ShaderSource::Wgsl(kernel.text(Language::Wgsl)?.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = device.create_compute_pipeline(&ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some(kernel.entry_point()),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let buffer = |size, usage| device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    let result = buffer(size, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    let read = buffer(size, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let mut entries = Vec::new();
    let argument_buffer = buffer(arguments.len() as u64, BufferUsages::UNIFORM | BufferUsages::COPY_DST);
    queue.write_buffer(&argument_buffer, 0, arguments);
    for binding in kernel.bindings() {
        let bound = match (&binding.resource, binding.kind) {
            (Resource::Arguments, BindingKind::Uniform { .. }) => &argument_buffer,
            (Resource::Argument(0), BindingKind::Storage) => &result,
            other => return Err(format!("unexpected binding {other:?}").into()),
        };
        entries.push(wgpu::BindGroupEntry { binding: binding.number, resource: bound.as_entire_binding() });
    }
    let layout = &pipeline.get_bind_group_layout(0);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
    let mut encoder = device.create_command_encoder(&CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        let [x, y, z] = range.work_groups();
        pass.dispatch_workgroups(x, y, z);
    }
    encoder.copy_buffer_to_buffer(&result, 0, &read, 0, size);
    queue.submit([encoder.finish()]);
    read.map_async(wgpu::MapMode::Read, .., |_| {});
    device.poll(wgpu::PollType::wait_indefinitely())?;
    Ok(read.get_mapped_range(..)?.to_vec())
}
