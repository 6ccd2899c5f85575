//! The compiler's output, run on the device and compared with the host. Each test writes a kernel in IR.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../compiler/tests/common/mod.rs"]
mod kernels;

mod address_spaces;
mod arithmetic;
mod control;
mod memory;

use common::{buffer, launch, read, run, write};
use kernels::Text;
use wgcl_api::backend::{BackendError, Device, LaunchArg};
use wgcl_backend_wgpu::WgpuDevice;
use wgcl_compiler::emit::{Format, print};
use wgcl_compiler::ir::{read::read_module, verify::verify};
use wgcl_compiler::launch::LaunchError;
use wgcl_compiler::target::Target;

/// Runs function 0 of a module with `items` work-items in groups of `local`. Returns the contents of the buffers.
fn execute(device: &WgpuDevice, text: &str, buffers: &[Vec<u8>], others: &[LaunchArg], items: u64, local: u32) -> Vec<Vec<u8>> {
    execute_for(device, device.target().clone(), text, buffers, others, items, local)
}

/// Like [`execute`], compiled for a target that may have fewer features than the device.
fn execute_for(
    device: &WgpuDevice,
    target: Target,
    text: &str,
    buffers: &[Vec<u8>],
    others: &[LaunchArg],
    items: u64,
    local: u32,
) -> Vec<Vec<u8>> {
    let module = read_module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&module).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let kernel = &module.functions[0];
    let name = kernel.name.clone();
    let kernels = vec![(name.clone(), kernel.kernel.as_ref().unwrap().params.clone())];
    let program = device
        .load_shaders(kernels, move |name, key| {
            let shader = wgcl_compiler::specialise::specialise(&module, name, key, &target).map_err(BackendError::Launch)?;
            for format in if target.shaders.spirv { &[][..] } else { &[Format::Wgsl, Format::Msl, Format::Hlsl] } {
                match print(&shader, *format, &target) {
                    // Metal has no `double`, and naga's HLSL has no 16-bit integers.
                    Ok(_) | Err(LaunchError::Unsupported { .. }) => {}
                    Err(error) => return Err(BackendError::Launch(error)),
                }
            }
            Ok(shader)
        })
        .unwrap();
    let memories: Vec<_> = buffers
        .iter()
        .map(|bytes| {
            let memory = device.allocate(bytes.len() as u64).unwrap();
            write(device, &memory, 0, bytes);
            memory
        })
        .collect();
    let args = memories.iter().map(buffer).chain(others.iter().cloned()).collect();
    run(device, launch(&program, &name, args, [items, 1, 1], [local, 1, 1]));
    memories.iter().zip(buffers).map(|(memory, bytes)| read(device, memory, 0, bytes.len())).collect()
}

/// Returns a kernel `out[id * size] = f(in[...])`. `body` writes its instructions, given the value of the work-item's
/// id.
fn kernel(name: &str, params: &str, count: u32, body: impl FnOnce(&mut Text, &str)) -> String {
    let mut t = Text::new(count);
    let id = t.op("i32", "workitem.global_id 0");
    body(&mut t, &id);
    t.kernel(&format!("\"{name}\" ({params})"))
}

const TWO: &str = "%0: ptr.global buffer, %1: ptr.global buffer";
