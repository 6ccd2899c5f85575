//! Runs WGSL shaders on wgpu alone for `scripts/bench`, which compares wgcl with these shaders. They show the speed of
//! a program that does not use OpenCL.
//!
//! `twins` compiles as wgpu does by default: with bounds checks, bounded loops and zeroed work-group memory. `twins
//! unchecked` disables these. Commands are lines on stdin. Answers are lines on stdout: `ok ...` or `error ...`. Tabs
//! separate words.
//!
//! | command | effect and answer |
//! |---|---|
//! | `device` | answers the adapter's name, its driver, and `cpu` or `gpu` |
//! | `reset` | drops all buffers and steps |
//! | `buffer FILE` | creates a buffer with the file's bytes; answers its number, starting at 0 |
//! | `dispatch FILE X Y Z BUFFERS WORDS` | a step: X * Y * Z work-groups of the shader's only entry point |
//! | `clear BUFFER` | a step: clears the buffer |
//! | `run COUNT` | runs all steps COUNT times in one submission, and waits; answers the time in seconds |
//! | `read BUFFER FILE` | writes the buffer to the file |
//!
//! `dispatch` and `clear` append a step to the list that `run` executes. BUFFERS are numbers of buffers, separated by
//! commas, for the bindings from 0 on. If there are WORDS, the next binding is a uniform buffer of these 32-bit words.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a tool for developers")]

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

use wgpu::util::DeviceExt;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

enum Step {
    Dispatch { pipeline: wgpu::ComputePipeline, bindings: wgpu::BindGroup, groups: [u32; 3] },
    Clear(wgpu::Buffer),
}

struct Twins {
    info: wgpu::AdapterInfo,
    device: wgpu::Device,
    queue: wgpu::Queue,
    unchecked: bool,
    buffers: Vec<wgpu::Buffer>,
    steps: Vec<Step>,
}

fn main() -> Result<()> {
    let mut twins = Twins::open(std::env::args().any(|argument| argument == "unchecked"))?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split('\t').collect();
        match twins.execute(&words) {
            Ok(answer) => writeln!(out, "ok\t{answer}")?,
            Err(error) => writeln!(out, "error\t{}", error.to_string().replace('\n', " "))?,
        }
        out.flush()?;
    }
    Ok(())
}

impl Twins {
    /// Opens the first GPU, or the CPU's driver if there is no GPU, with all features that are not experimental.
    fn open(unchecked: bool) -> Result<Self> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
        let backends = descriptor.backends;
        let mut adapters = pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(backends));
        adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::IntegratedGpu => 1,
            wgpu::DeviceType::VirtualGpu => 2,
            wgpu::DeviceType::Cpu => 3,
            wgpu::DeviceType::Other => 4,
        });
        let adapter = adapters.first().ok_or("no wgpu adapter found")?;
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: None,
            required_features: adapter.features() - wgpu::Features::all_experimental_mask(),
            required_limits: adapter.limits(),
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        }))?;
        Ok(Self { info: adapter.get_info(), device, queue, unchecked, buffers: Vec::new(), steps: Vec::new() })
    }

    fn execute(&mut self, words: &[&str]) -> Result<String> {
        match *words {
            ["device"] => {
                let kind = if self.info.device_type == wgpu::DeviceType::Cpu { "cpu" } else { "gpu" };
                return Ok(format!("{}\t{} {}\t{kind}", self.info.name, self.info.driver, self.info.driver_info));
            }
            ["reset"] => {
                self.steps.clear();
                self.buffers.clear();
                self.wait()?;
            }
            ["buffer", file] => {
                let contents = std::fs::read(file)?;
                let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
                self.buffers.push(self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                    label: None,
                    contents: &contents,
                    usage,
                }));
                return Ok((self.buffers.len() - 1).to_string());
            }
            ["dispatch", file, x, y, z, buffers, constants] => {
                let step = self.dispatch(file, [x.parse()?, y.parse()?, z.parse()?], buffers, constants)?;
                self.steps.push(step);
            }
            ["clear", buffer] => self.steps.push(Step::Clear(self.buffer(buffer)?.clone())),
            ["run", count] => return self.run(count.parse()?),
            ["read", buffer, file] => self.read(self.buffer(buffer)?, file)?,
            _ => return Err(format!("unknown command: {words:?}").into()),
        }
        Ok(String::new())
    }

    fn buffer(&self, number: &str) -> Result<&wgpu::Buffer> {
        Ok(self.buffers.get(number.parse::<usize>()?).ok_or("unknown buffer number")?)
    }

    fn dispatch(&self, file: &str, groups: [u32; 3], buffers: &str, constants: &str) -> Result<Step> {
        let source = std::fs::read_to_string(file)?;
        let shader = wgpu::ShaderModuleDescriptor { label: None, source: wgpu::ShaderSource::Wgsl(source.into()) };
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let module = if self.unchecked {
            // SAFETY: the shaders of the benchmarks do not access memory out of bounds, and their loops end.
            unsafe { self.device.create_shader_module_trusted(shader, wgpu::ShaderRuntimeChecks::unchecked()) }
        } else {
            self.device.create_shader_module(shader)
        };
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: !self.unchecked,
                ..Default::default()
            },
            cache: None,
        });
        let mut bound = buffers.split(',').map(|number| self.buffer(number).cloned()).collect::<Result<Vec<_>>>()?;
        if !constants.is_empty() {
            let words = constants.split(',').map(str::parse).collect::<std::result::Result<Vec<u32>, _>>()?;
            let contents = bytemuck::cast_slice(&words);
            let usage = wgpu::BufferUsages::UNIFORM;
            bound.push(self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage }));
        }
        let entries: Vec<_> =
            bound.iter().zip(0..).map(|(buffer, binding)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }).collect();
        let layout = pipeline.get_bind_group_layout(0);
        let bindings = self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
        match pollster::block_on(scope.pop()) {
            Some(error) => Err(error.into()),
            None => Ok(Step::Dispatch { pipeline, bindings, groups }),
        }
    }

    fn run(&self, count: u32) -> Result<String> {
        let begin = Instant::now();
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = None;
        for step in (0..count).flat_map(|_| &self.steps) {
            match step {
                Step::Dispatch { pipeline, bindings, groups: [x, y, z] } => {
                    let pass =
                        pass.get_or_insert_with(|| encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()).forget_lifetime());
                    pass.set_pipeline(pipeline);
                    pass.set_bind_group(0, bindings, &[]);
                    pass.dispatch_workgroups(*x, *y, *z);
                }
                Step::Clear(buffer) => {
                    pass = None;
                    encoder.clear_buffer(buffer, 0, None);
                }
            }
        }
        drop(pass);
        self.queue.submit([encoder.finish()]);
        self.wait()?;
        Ok(begin.elapsed().as_secs_f64().to_string())
    }

    fn read(&self, buffer: &wgpu::Buffer, file: &str) -> Result<()> {
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, None);
        self.queue.submit([encoder.finish()]);
        let (sender, receiver) = std::sync::mpsc::channel();
        // `send` cannot fail, because the receiver exists until it has received the result.
        staging.slice(..).map_async(wgpu::MapMode::Read, move |result| drop(sender.send(result)));
        self.wait()?;
        receiver.recv()??;
        std::fs::write(file, &staging.get_mapped_range(..)?[..])?;
        Ok(())
    }

    fn wait(&self) -> Result<()> {
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(())
    }
}
