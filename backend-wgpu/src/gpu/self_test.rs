//! Runs a small kernel on an adapter and checks the result, before the adapter becomes a device.
//!
//! Some translation layers for Direct3D 12 report success and execute nothing: after a launch, vkd3d of Wine 8 leaves
//! buffers unchanged. The result of a test that passed is stored in the disk cache, so that later processes do not open
//! the adapter to list devices.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use wgcl_api::cache::{Cache, Key};

use crate::gpu::open_device::log_uncaptured_errors;

/// Work-items per work-group.
const GROUP: u32 = 64;
/// Number of work-groups.
const GROUPS: u32 = 4;
/// Time limit for the kernel and the copy of its result.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A parameter of the kernel.
const ADDEND: u32 = 0x1234_5678;

/// Reads a uniform buffer and a storage buffer, exchanges values through work-group memory, and updates an atomic. The
/// last word of `data` counts work-items.
const SOURCE: &str = "
@group(0) @binding(0) var<uniform> addend: vec4<u32>;
@group(0) @binding(1) var<storage, read_write> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> count: array<atomic<u32>>;
var<workgroup> exchanged: array<u32, 64>;

@compute @workgroup_size(64)
fn test(@builtin(local_invocation_index) item: u32, @builtin(global_invocation_id) id: vec3<u32>) {
    exchanged[item] = data[id.x] * 3u + addend.x;
    workgroupBarrier();
    for (var k = 0u; k <= item; k++) {
        data[id.x] ^= exchanged[63u - k];
    }
    atomicAdd(&count[0], 1u);
}
";

/// Why a test failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("the device cannot be opened: {0}")]
    Open(#[from] wgpu::RequestDeviceError),
    #[error("{0}")]
    Driver(#[from] wgpu::Error),
    #[error("the kernel did not end: {0}")]
    Poll(#[from] wgpu::PollError),
    #[error("the buffer with the result cannot be mapped: {0}")]
    Map(String),
    #[error("word {index} of the result is {have:#x}, and must be {want:#x}")]
    Value { index: usize, have: u32, want: u32 },
}

/// Returns whether an adapter computes right values. Logs a failure.
pub(crate) fn passes(adapter: &wgpu::Adapter) -> bool {
    let info = adapter.get_info();
    let ids = [info.vendor.to_le_bytes(), info.device.to_le_bytes()].concat();
    let key = Key::of(&[
        b"self-test",
        env!("CARGO_PKG_VERSION").as_bytes(),
        SOURCE.as_bytes(),
        info.name.as_bytes(),
        info.driver.as_bytes(),
        info.driver_info.as_bytes(),
        &ids,
    ]);
    if Cache::get().is_some_and(|cache| cache.find(&key).is_some()) {
        return true;
    }
    let begin = Instant::now();
    match pollster::block_on(run(adapter)) {
        Ok(()) => {
            tracing::debug!("{}: the self-test passed in {:?}", info.name, begin.elapsed());
            if let Some(cache) = Cache::get() {
                cache.store(&key, &[]);
            }
            true
        }
        Err(failure) => {
            tracing::warn!("device {} ({}) is not offered, because it fails the self-test: {failure}", info.name, info.backend);
            false
        }
    }
}

/// The contents of the buffers before the launch: the data, and the count.
fn contents() -> Vec<u32> {
    (0..GROUP * GROUPS).map(|index| index.wrapping_mul(2_654_435_761)).chain([7]).collect()
}

/// The contents after the launch.
fn expected() -> Vec<u32> {
    let before = contents();
    let (data, count) = before.split_at((GROUP * GROUPS) as usize);
    let groups = data.chunks_exact(GROUP as usize);
    let after = groups.flat_map(|group| {
        let exchanged: Vec<_> = group.iter().map(|value| value.wrapping_mul(3).wrapping_add(ADDEND)).collect();
        group
            .iter()
            .enumerate()
            .map(move |(item, value)| exchanged.iter().rev().take(item + 1).fold(*value, |sum, other| sum ^ other))
            .collect::<Vec<_>>()
    });
    after.chain(count.iter().map(|count| count + GROUP * GROUPS)).collect()
}

fn compare(result: &[u32]) -> Result<(), Failure> {
    let wrong = result.iter().zip(expected()).enumerate().find(|(_, (have, want))| *have != want);
    wrong.map_or(Ok(()), |(index, (have, want))| Err(Failure::Value { index, have: *have, want }))
}

/// Opens the adapter, runs the kernel and compares the result.
async fn run(adapter: &wgpu::Adapter) -> Result<(), Failure> {
    let (device, queue) = adapter.request_device(&wgpu::DeviceDescriptor::default()).await?;
    log_uncaptured_errors(&device);
    let scopes = [wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::OutOfMemory]
        .map(|filter| device.push_error_scope(filter));
    let buffer = |size: usize, usage| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size: size as u64, usage, mapped_at_creation: false })
    };
    let words = contents();
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    let (data_size, count_size) = (4 * (words.len() - 1), 4);
    let addend = buffer(16, wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST);
    let data = buffer(data_size, storage);
    let count = buffer(count_size, storage);
    let result = buffer(data_size + count_size, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    queue.write_buffer(&addend, 0, &bytes(&[ADDEND; 4]));
    queue.write_buffer(&data, 0, &bytes(&words[..words.len() - 1]));
    queue.write_buffer(&count, 0, &bytes(&words[words.len() - 1..]));
    let pipeline = pipeline(&device);
    let bindings = bindings(&device, &pipeline, [&addend, &data, &count]);
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        pass.dispatch_workgroups(GROUPS, 1, 1);
    }
    encoder.copy_buffer_to_buffer(&data, 0, &result, 0, data_size as u64);
    encoder.copy_buffer_to_buffer(&count, 0, &result, data_size as u64, count_size as u64);
    queue.submit([encoder.finish()]);
    for scope in scopes.into_iter().rev() {
        if let Some(error) = scope.pop().await {
            return Err(error.into());
        }
    }
    compare(&read(&device, &result)?)
}

fn pipeline(device: &wgpu::Device) -> wgpu::ComputePipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source: wgpu::ShaderSource::Wgsl(SOURCE.into()) });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    })
}

/// Binds buffers in the order of their numbers.
fn bindings(device: &wgpu::Device, pipeline: &wgpu::ComputePipeline, buffers: [&wgpu::Buffer; 3]) -> wgpu::BindGroup {
    let entries: Vec<_> =
        (0..).zip(buffers).map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }).collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &pipeline.get_bind_group_layout(0), entries: &entries })
}

/// Waits until the device is idle, and returns the words of a buffer.
fn read(device: &wgpu::Device, buffer: &wgpu::Buffer) -> Result<Vec<u32>, Failure> {
    let (sender, receiver) = channel();
    buffer.slice(..).map_async(wgpu::MapMode::Read, move |mapped| {
        // The receiver exists, unless the poll below failed.
        let _ = sender.send(mapped);
    });
    device.poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(TIMEOUT) })?;
    let mapped = receiver.recv_timeout(TIMEOUT).map_err(|error| Failure::Map(error.to_string()))?;
    mapped.map_err(|error| Failure::Map(error.to_string()))?;
    let view = buffer.slice(..).get_mapped_range().map_err(|error| Failure::Map(error.to_string()))?;
    Ok(view.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}

#[cfg(test)]
mod tests {
    use super::{compare, contents, expected, passes};
    use crate::backend::list_by_wgpu;

    #[test]
    fn wrong_results_are_found() {
        assert!(compare(&expected()).is_ok());
        assert!(compare(&contents()).is_err(), "unchanged buffers");
        let mut result = expected();
        *result.last_mut().expect("a result") -= 1;
        assert!(compare(&result).is_err(), "a lost update");
    }

    #[test]
    fn vulkan_devices_pass() {
        let (_instance, adapters) = list_by_wgpu(wgpu::Backends::VULKAN);
        for adapter in adapters {
            assert!(passes(&adapter), "{}", adapter.get_info().name);
        }
    }
}
