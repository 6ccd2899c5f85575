//! Buffers that are split across several bindings, with all settings of the backend: launches, and the built-in copy
//! and fill kernels.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::sync::{Arc, Once};

use common::{ALL, buffer, bytes, launch, read, run, words, write};
use wgcl_api::backend::{Action, CopyRegion, Device, LaunchArg, LoadedProgram};
use wgcl_backend_wgpu::{Settings, WgpuDevice};
use wgcl_compiler::build::build;
use wgcl_compiler::options::parse_options;
use wgcl_compiler::program::Source;

/// Returns a device on which bindings have at most 8 KiB.
fn device(settings: Settings) -> Arc<WgpuDevice> {
    static LIMIT: Once = Once::new();
    // SAFETY: every test calls this before anything reads the environment.
    LIMIT.call_once(|| unsafe {
        std::env::set_var("WGCL_BINDING_LIMIT", "8192");
        // Buffers that are accessed by address are not split.
        std::env::set_var("WGCL_ADDRESSES", "0");
    });
    common::device(settings)
}

fn load(device: &WgpuDevice, source: &str) -> Arc<dyn LoadedProgram> {
    let result = build(&Source { text: source.to_owned(), ..Source::default() }, &parse_options("").unwrap(), device.target());
    device.load(result.program.unwrap_or_else(|| panic!("the program does not build")).module, None).unwrap()
}

fn noise(count: usize, seed: u32) -> Vec<u8> {
    (0..count as u32).map(|n| (n.wrapping_add(seed).wrapping_mul(0x9E37_79B9) >> 15) as u8).collect()
}

#[test]
fn kernels_see_a_split_buffer_as_one_buffer() {
    const COUNT: u32 = 25_000;
    let source = "
        kernel void mix(global uint *out, global const uint *in, uint n) {
            uint i = get_global_id(0);
            atomic_add(&out[n - 1 - i], in[(i * 7919u) % n]);
        }
        kernel void shift(global uchar *out, global const uchar *in, uint n) {
            uint i = get_global_id(0);
            if (4 * i + 5 < n) vstore4(vload4(i, in + 1), i, out + 1);
        }";
    for settings in ALL {
        let device = device(settings);
        let program = load(&device, source);
        let [out, source] = [(); 2].map(|()| device.allocate(u64::from(COUNT) * 4).unwrap());
        let input: Vec<u32> = (0..COUNT).map(|k| k.wrapping_mul(0x9E37_79B9)).collect();
        write(&*device, &out, 0, &bytes(&vec![1; COUNT as usize]));
        write(&*device, &source, 0, &bytes(&input));
        run(&*device, launch(&program, "mix", vec![buffer(&out), buffer(&source), value(COUNT)], [u64::from(COUNT), 1, 1], [50, 1, 1]));
        let expected: Vec<u32> = (0..COUNT).rev().map(|i| 1_u32.wrapping_add(input[(i.wrapping_mul(7919) % COUNT) as usize])).collect();
        assert!(words(&read(&*device, &out, 0, COUNT as usize * 4)) == expected, "{settings:?}");
        run(
            &*device,
            launch(&program, "shift", vec![buffer(&out), buffer(&source), value(4 * COUNT)], [u64::from(COUNT), 1, 1], [50, 1, 1]),
        );
        let copied = read(&*device, &out, 1, COUNT as usize * 4 - 8);
        assert!(copied == read(&*device, &source, 1, COUNT as usize * 4 - 8), "{settings:?}");
    }
}

fn value(number: u32) -> LaunchArg {
    LaunchArg::Value(number.to_le_bytes().to_vec().into())
}

#[test]
fn copies_and_fills_continue_across_parts() {
    const SIZE: usize = 400_000;
    for settings in ALL {
        let device = device(settings);
        let [a, b] = [(); 2].map(|()| device.allocate(SIZE as u64).unwrap());
        let mut model = noise(SIZE, 1);
        write(&*device, &a, 0, &model);
        write(&*device, &b, 0, &vec![0; SIZE]);
        let mut target = vec![0; SIZE];
        for (from, to, size) in [(16, 48, 300_000), (3, 6, 200_001), (100_001, 2, 70_000), (7, 399_000, 999)] {
            let regions = vec![CopyRegion { buffer: from as u64, host: to as u64, size: size as u64 }];
            run(&*device, Action::Copy { src: Arc::clone(&a), dst: Arc::clone(&b), regions });
            target[to..to + size].copy_from_slice(&model[from..from + size]);
            assert!(read(&*device, &b, 0, SIZE) == target, "{settings:?}: {size} bytes from {from} to {to}");
        }
        for (length, offset, size) in [(1, 13, 180_007), (2, 30_006, 100_010), (16, 32_752, 320_000), (128, 65_408, 128_000)] {
            let pattern = noise(length, length as u32);
            run(&*device, Action::Fill { dst: Arc::clone(&a), pattern: pattern.clone(), offset: offset as u64, size: size as u64 });
            for (n, byte) in model[offset..offset + size].iter_mut().enumerate() {
                *byte = pattern[n % length];
            }
            assert!(read(&*device, &a, 0, SIZE) == model, "{settings:?}: {size} bytes of {length} at {offset}");
        }
    }
}
