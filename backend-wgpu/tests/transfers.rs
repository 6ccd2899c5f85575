//! Reads, writes, copies and fills against the same done on the host, at every alignment.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;

use common::{ALL, device, noise, read, run, write};
use wgcl_api::backend::{Action, CopyRegion, Device};

#[test]
fn reads_and_writes_at_odd_offsets() {
    for settings in ALL {
        let device = device(settings);
        let memory = device.allocate(1000).unwrap();
        let mut model = noise(1000, 1);
        write(&*device, &memory, 0, &model);
        for (offset, size) in [(0, 1), (1, 1), (3, 2), (5, 3), (6, 7), (13, 64), (100, 4), (201, 333), (999, 1)] {
            let data = noise(size, offset as u32);
            write(&*device, &memory, offset as u64, &data);
            model[offset..offset + size].copy_from_slice(&data);
            assert_eq!(read(&*device, &memory, 0, 1000), model, "{settings:?} write {offset} {size}");
            assert_eq!(read(&*device, &memory, offset as u64, size), data, "{settings:?} read {offset} {size}");
        }
    }
}

#[test]
fn large_transfers_pass_the_ring() {
    for settings in ALL {
        let device = device(settings);
        let size = 70 << 20;
        let memory = device.allocate(size as u64).unwrap();
        let data = noise(size - 5, 7);
        write(&*device, &memory, 3, &data);
        assert!(read(&*device, &memory, 3, size - 5) == data, "{settings:?}");
        assert_eq!(read(&*device, &memory, 40_000_001, 11), data[39_999_998..40_000_009]);
    }
}

#[test]
fn regions_of_a_rectangle() {
    for settings in ALL {
        let device = device(settings);
        let memory = device.allocate(256).unwrap();
        write(&*device, &memory, 0, &[0; 256]);
        let source = noise(64, 3);
        let regions = (0..4).map(|row| CopyRegion { buffer: 17 + row * 32, host: row * 16, size: 9 }).collect();
        run(&*device, Action::Write { dst: Arc::clone(&memory), src: Arc::new(source.clone()), regions });
        let mut model = vec![0; 256];
        for row in 0..4 {
            model[17 + row * 32..][..9].copy_from_slice(&source[row * 16..][..9]);
        }
        assert_eq!(read(&*device, &memory, 0, 256), model);
    }
}

#[test]
fn copies_at_every_alignment() {
    for settings in ALL {
        let device = device(settings);
        let (from, to) = (device.allocate(400).unwrap(), device.allocate(400).unwrap());
        let source = noise(400, 5);
        write(&*device, &from, 0, &source);
        for (a, b, size) in
            [(0, 0, 400), (0, 4, 100), (1, 0, 5), (0, 1, 5), (3, 2, 1), (2, 3, 300), (7, 9, 100), (5, 5, 6), (398, 0, 2), (0, 399, 1)]
        {
            let mut model = noise(400, 9);
            write(&*device, &to, 0, &model);
            let regions = vec![CopyRegion { buffer: a as u64, host: b as u64, size: size as u64 }];
            run(&*device, Action::Copy { src: Arc::clone(&from), dst: Arc::clone(&to), regions });
            model[b..b + size].copy_from_slice(&source[a..a + size]);
            assert_eq!(read(&*device, &to, 0, 400), model, "{settings:?} {a} {b} {size}");
        }
        for (a, b, size) in [(0, 200, 200), (1, 2, 1), (0, 6, 6), (10, 3, 7), (200, 13, 180)] {
            let mut model = noise(400, 11);
            write(&*device, &to, 0, &model);
            let regions = vec![CopyRegion { buffer: a as u64, host: b as u64, size: size as u64 }];
            run(&*device, Action::Copy { src: Arc::clone(&to), dst: Arc::clone(&to), regions });
            model.copy_within(a..a + size, b);
            assert_eq!(read(&*device, &to, 0, 400), model, "{settings:?} inside {a} {b} {size}");
        }
    }
}

#[test]
fn fills_with_every_pattern_size() {
    for settings in ALL {
        let device = device(settings);
        let memory = device.allocate(2048).unwrap();
        for length in (1..=128).chain([2, 4, 1]) {
            let pattern = if length == 4 { vec![0; 4] } else { noise(length, length as u32) };
            let mut model = noise(2048, 13);
            write(&*device, &memory, 0, &model);
            let (offset, size) = (length * 3, length * 5);
            let command = Action::Fill { dst: Arc::clone(&memory), pattern: pattern.clone(), offset: offset as u64, size: size as u64 };
            run(&*device, command);
            for k in 0..size {
                model[offset + k] = pattern[k % length];
            }
            assert_eq!(read(&*device, &memory, 0, 2048), model, "{settings:?} {length}");
        }
    }
}

#[test]
fn transfers_outside_of_a_buffer_are_refused() {
    for settings in ALL {
        let device = device(settings);
        let memory = device.allocate(64).unwrap();
        let regions = vec![CopyRegion { buffer: u64::MAX - 2, host: 0, size: 8 }];
        let pending = common::start(&*device, Action::Write { dst: memory, src: Arc::new(vec![0; 8]), regions }, false);
        device.flush();
        assert!(pending.wait().is_err());
    }
}

#[test]
fn too_much_memory_is_an_error() {
    for settings in ALL {
        let device = device(settings);
        let most = device.properties().max_allocation;
        assert!(device.allocate(most + 1).is_err());
        assert!(device.allocate(u64::MAX).is_err());
        assert_eq!(device.allocate(1).unwrap().size(), 1);
    }
}

#[test]
fn the_largest_buffer_works() {
    let device = device(ALL[0]);
    let size = device.properties().max_allocation;
    let memory = device.allocate(size).unwrap();
    run(&*device, Action::Fill { dst: Arc::clone(&memory), pattern: vec![1, 2, 3, 4], offset: 0, size });
    assert_eq!(read(&*device, &memory, size - 8, 8), [1, 2, 3, 4, 1, 2, 3, 4]);
}

#[test]
fn memory_runs_out_with_an_error_and_comes_back() {
    let device = device(ALL[0]);
    if device.properties().kind != wgcl_api::backend::DeviceKind::Cpu {
        // A GPU's driver keeps count, and filling it would disturb others.
        return;
    }
    let most = device.properties().max_allocation;
    for _ in 0..2 {
        let mut kept = Vec::new();
        loop {
            match device.allocate(most) {
                Ok(memory) => kept.push(memory),
                Err(error) => break assert_eq!(error, wgcl_api::backend::BackendError::OutOfDeviceMemory),
            }
            // No machine has that much.
            assert!(kept.len() < 1 << 20);
        }
        assert!(kept.len() as u64 * most >= device.properties().global_memory);
    }
}
