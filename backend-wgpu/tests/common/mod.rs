//! Helpers of the device tests: waiting for commands, and shaders in WGSL.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wgcl_api::backend::{
    Action, BackendResult, Command, CopyRegion, Device, HostTarget, Launch, LaunchArg, LoadedProgram, Memory, MemoryRange, Progress, Times,
};
use wgcl_backend_wgpu::{Settings, WgpuBackend, WgpuDevice};
use wgcl_compiler::binding::ArgLayout;
use wgcl_compiler::emit::{Binding, BindingKind, BindingSource, Shader};
use wgcl_compiler::ir::{KernelParam, Space};
use wgcl_compiler::launch::LaunchKey;

/// The tested settings of the backend.
pub const ALL: [Settings; 4] = [
    Settings { portable: false, discrete: false, staged: false },
    Settings { portable: false, discrete: true, staged: false },
    Settings { portable: false, discrete: true, staged: true },
    Settings { portable: true, discrete: true, staged: true },
];

pub fn device(settings: Settings) -> Arc<WgpuDevice> {
    WgpuBackend::new(settings).list_devices().into_iter().next().expect("a Vulkan device: install mesa-vulkan-drivers")
}

pub struct Pending {
    done: Receiver<BackendResult<Times>>,
    pub submitted: Arc<AtomicU32>,
}

struct ResultSender {
    done: Mutex<Sender<BackendResult<Times>>>,
    submitted: Arc<AtomicU32>,
}

impl Progress for ResultSender {
    fn submitted(&self, _: u64) {
        self.submitted.fetch_add(1, Ordering::SeqCst);
    }
    fn running(&self) {}
    fn complete(&self, result: BackendResult<Times>) {
        let _ = self.done.lock().unwrap().send(result);
    }
}

impl Pending {
    pub fn wait(self) -> BackendResult<Times> {
        self.done.recv_timeout(Duration::from_secs(60)).expect("the command did not complete")
    }
}

pub fn start(device: &dyn Device, command: impl Into<Command>, profile: bool) -> Pending {
    let (sender, done) = channel();
    let submitted = Arc::new(AtomicU32::new(0));
    device.enqueue(command.into(), profile, Arc::new(ResultSender { done: Mutex::new(sender), submitted: Arc::clone(&submitted) }));
    Pending { done, submitted }
}

pub fn run(device: &dyn Device, command: impl Into<Command>) -> Times {
    let pending = start(device, command, false);
    device.flush();
    pending.wait().expect("the command fails")
}

#[derive(Clone, Debug)]
pub struct Target(pub Arc<Mutex<Vec<u8>>>);

impl HostTarget for Target {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        f(&mut self.0.lock().unwrap());
    }
}

pub fn write(device: &dyn Device, memory: &Arc<dyn Memory>, offset: u64, bytes: &[u8]) {
    let regions = vec![CopyRegion { buffer: offset, host: 0, size: bytes.len() as u64 }];
    run(device, Action::Write { dst: Arc::clone(memory), src: Arc::new(bytes.to_vec()), regions });
}

pub fn read(device: &dyn Device, memory: &Arc<dyn Memory>, offset: u64, size: usize) -> Vec<u8> {
    let target = Target(Arc::new(Mutex::new(vec![0xee; size])));
    let regions = vec![CopyRegion { buffer: offset, host: 0, size: size as u64 }];
    run(device, Action::Read { src: Arc::clone(memory), dst: Arc::new(target.clone()), regions });
    Arc::try_unwrap(target.0).map_or_else(|shared| shared.lock().unwrap().clone(), |own| own.into_inner().unwrap())
}

pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Creates a shader from WGSL. With `spirv` it is also compiled to SPIR-V.
pub fn shader(source: &str, bindings: Vec<Binding>, args: ArgLayout, spirv: bool) -> Shader {
    let module = naga::front::wgsl::parse_str(source).unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
    let entry_point = module.entry_points[0].name.clone();
    let spirv = spirv.then(|| {
        let info =
            naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all()).validate(&module).unwrap();
        let mut options = naga::back::spv::Options { lang_version: (1, 3), ..Default::default() };
        options.flags.remove(naga::back::spv::WriterFlags::ADJUST_COORDINATE_SPACE);
        let pipeline = naga::back::spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point: entry_point.clone() };
        naga::back::spv::write_vec(&module, &info, &options, Some(&pipeline)).unwrap()
    });
    Shader {
        naga: module,
        spirv,
        entry_point,
        bindings,
        args,
        local_memory: 0,
        private_memory: 0,
        coarsening_factor: 1,
        subgroup_size: None,
        printf: Default::default(),
        any_local_size: false,
    }
}

pub const GLOBAL: KernelParam = KernelParam::Buffer { space: Space::Global, read_only: false, restrict: false };
pub const CONSTANT: KernelParam = KernelParam::Buffer { space: Space::Constant, read_only: true, restrict: false };

pub const ARGUMENTS: &str = "
struct Arguments { offset: vec3<u32>, dim: u32, size: vec4<u32>, groups: vec4<u32>, base: vec4<u32>, value: vec4<u32> }
@group(0) @binding(0) var<uniform> args: Arguments;
";

/// Returns the binding of the argument buffer, and one binding per buffer parameter, in order.
pub fn bindings(kinds: &[(u32, BindingKind)]) -> Vec<Binding> {
    let mut all = vec![Binding { binding: 0, kind: BindingKind::Uniform { size: 80 }, source: BindingSource::Arguments }];
    for (k, (param, kind)) in kinds.iter().enumerate() {
        all.push(Binding { binding: k as u32 + 1, kind: *kind, source: BindingSource::Param(*param) });
    }
    all
}

/// Returns the layout of the argument buffer. If `values[i]` is true, parameter `i` is a value. The values follow each
/// other from offset 64 on.
pub fn layout(values: &[bool]) -> ArgLayout {
    let mut next = 64;
    let values = values
        .iter()
        .map(|is_value| {
            is_value.then(|| {
                next += 4;
                (next - 4, 4)
            })
        })
        .collect();
    ArgLayout { values, identities: Vec::new(), images: Vec::new(), merged_offsets: Vec::new(), addresses: Vec::new(), size: 80 }
}

/// Returns a program with the kernel `add(global uint *data, uint value)`, which adds a value to each element.
pub fn adder(device: &WgpuDevice) -> Arc<dyn LoadedProgram> {
    let spirv = device.target().shaders.spirv;
    device
        .load_shaders(vec![("add".to_owned(), vec![GLOBAL, KernelParam::Value])], move |_, key: &LaunchKey| {
            let source = format!(
                "{ARGUMENTS} @group(0) @binding(1) var<storage, read_write> data: array<u32>;
                @compute @workgroup_size({}) fn main(
                    @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>,
                    @builtin(local_invocation_id) local: vec3<u32>) {{
                    let id = (group.x + group.y * count.x + args.base.x) * {}u + local.x;
                    data[id] += args.value.x;
                }}",
                key.kernel.local_size[0], key.kernel.local_size[0]
            );
            Ok(shader(&source, bindings(&[(0, BindingKind::Storage)]), layout(&[false, true]), spirv))
        })
        .unwrap()
}

pub fn buffer(memory: &Arc<dyn Memory>) -> LaunchArg {
    LaunchArg::Buffer(Some(MemoryRange {
        memory: Arc::clone(memory),
        offset: 0,
        size: memory.size(),
        start: 0,
        identity: 0x1_0000,
        read_only: false,
    }))
}

pub fn launch(program: &Arc<dyn LoadedProgram>, kernel: &str, args: Vec<LaunchArg>, global: [u64; 3], local: [u32; 3]) -> Action {
    Action::Launch(Launch {
        program: Arc::clone(program),
        kernel: kernel.into(),
        args,

        extra: Vec::new(),
        work_dim: 3,
        global_offset: [0; 3],
        global_size: global,
        local_size: local,
    })
}

pub fn noise(count: usize, mut seed: u32) -> Vec<u8> {
    (0..count)
        .map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        })
        .collect()
}
