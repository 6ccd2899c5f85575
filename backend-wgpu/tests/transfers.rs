//! Reads, writes, copies and fills, compared with the same operations on the host, at every alignment.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;

use std::sync::Mutex;

use common::{ALL, Target, device, noise, read, run, start, write};
use wgcl_api::backend::{Action, CopyRegion, Device, HostSource, HostTarget, Memory};
use wgcl_api::types::host_memory::HostRegion;

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
fn transfers_larger_than_the_staging_ring() {
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
fn large_copies_change_only_their_range() {
    for settings in ALL {
        let device = device(settings);
        let size = 3 << 20;
        let (from, to) = (device.allocate(size as u64).unwrap(), device.allocate(size as u64).unwrap());
        let source = noise(size, 21);
        write(&*device, &from, 0, &source);
        for (a, b, length) in [(0, 0, size), (16, 48, (1 << 20) + 16), (32, 16, 1 << 18), (48, 4, 1 << 20), (1 << 20, 0, (2 << 20) - 16)] {
            let mut model = noise(size, 23);
            write(&*device, &to, 0, &model);
            let regions = vec![CopyRegion { buffer: a as u64, host: b as u64, size: length as u64 }];
            run(&*device, Action::Copy { src: Arc::clone(&from), dst: Arc::clone(&to), regions });
            model[b..b + length].copy_from_slice(&source[a..a + length]);
            assert!(read(&*device, &to, 0, size) == model, "{settings:?} {a} {b} {length}");
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
fn transfers_outside_of_a_buffer_are_rejected() {
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
fn memory_can_be_allocated_again_after_running_out() {
    let device = device(ALL[0]);
    if device.properties().kind != wgcl_api::backend::DeviceKind::Cpu {
        // A GPU's driver limits allocations itself, and filling its memory would disturb other processes.
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
            // No machine has that much memory.
            assert!(kept.len() < 1 << 20);
        }
        // Other processes may have allocated some of the memory.
        assert!(!kept.is_empty() && kept.len() as u64 * most <= device.properties().global_memory);
    }
}

/// Each read returns the contents at its position in the queue, even if 300 reads are in flight.
#[test]
fn many_reads_are_in_flight_at_once() {
    for settings in ALL {
        let device = device(settings);
        let memory = device.allocate(40_000).unwrap();
        let mut pending = Vec::new();
        for k in 0..300_u32 {
            let pattern = k.to_le_bytes().to_vec();
            drop(start(&*device, Action::Fill { dst: Arc::clone(&memory), pattern, offset: 0, size: 40_000 }, false));
            let target = Target(Arc::new(Mutex::new(vec![0; 40_000])));
            let regions = vec![CopyRegion { buffer: 1, host: 2, size: 7 }, CopyRegion { buffer: 4000, host: 4000, size: 36_000 }];
            let read = Action::Read { src: Arc::clone(&memory), dst: Arc::new(target.clone()), regions };
            pending.push((k, target, start(&*device, read, k % 7 == 0)));
        }
        device.flush();
        for (k, target, read) in pending {
            read.wait().unwrap();
            let bytes = target.0.lock().unwrap();
            let word = k.to_le_bytes();
            assert_eq!(bytes[2..9], [word[1], word[2], word[3], word[0], word[1], word[2], word[3]], "{settings:?} {k}");
            assert!(bytes[4000..].chunks(4).all(|chunk| *chunk == word), "{settings:?} {k}");
        }
    }
}

#[test]
fn the_device_accesses_pinned_host_memory() {
    for settings in ALL {
        let device = device(settings);
        let region = device.host_region(5000);
        assert_eq!(region.is_some(), settings.discrete && !settings.portable, "{settings:?}");
        let Some(region) = region else { continue };
        let memory = device.allocate(5000).unwrap();
        let model = noise(5000, 5);
        write(&*device, &memory, 0, &model);
        for (from, to, size) in [(0, 0, 5000), (8, 4, 100), (13, 7, 333)] {
            let there = |k: u64, size: u64| vec![CopyRegion { buffer: k, host: 0, size }];
            run(&*device, Action::Read { src: Arc::clone(&memory), dst: region.clone().target(to, size), regions: there(from, size) });
            region.clone().source(to, size).with(&mut |bytes| assert_eq!(bytes, &model[from as usize..][..size as usize]));
            let own = device.allocate(5000).unwrap();
            run(&*device, Action::Write { dst: Arc::clone(&own), src: region.clone().source(to, size), regions: there(from, size) });
            assert_eq!(read(&*device, &own, from, size as usize), model[from as usize..][..size as usize]);
        }
        // The region exists until all commands that use it are complete.
        let last = start(
            &*device,
            Action::Read { src: memory, dst: region.target(0, 5000), regions: vec![CopyRegion { buffer: 0, host: 0, size: 5000 }] },
            true,
        );
        device.flush();
        last.wait().unwrap();
    }
}

/// Host memory at a page boundary.
#[derive(Debug)]
struct Pages {
    bytes: Mutex<Vec<u8>>,
    lead: usize,
    size: usize,
}

impl Pages {
    fn new(contents: &[u8]) -> Arc<Self> {
        let mut bytes = vec![0; contents.len() + 2 * 4096];
        let lead = bytes.as_ptr().align_offset(4096);
        bytes[lead..lead + contents.len()].copy_from_slice(contents);
        Arc::new(Self { bytes: Mutex::new(bytes), lead, size: contents.len() })
    }

    fn contents(&self) -> Vec<u8> {
        self.bytes.lock().unwrap()[self.lead..self.lead + self.size].to_vec()
    }
}

impl HostRegion for Pages {
    fn address(&self) -> usize {
        self.bytes.lock().unwrap()[self.lead..].as_mut_ptr().expose_provenance()
    }

    fn source(self: Arc<Self>, offset: u64, size: u64) -> Arc<dyn HostSource> {
        Arc::new(self.contents()[offset as usize..(offset + size) as usize].to_vec())
    }

    fn target(self: Arc<Self>, _: u64, _: u64) -> Arc<dyn HostTarget> {
        unreachable!("the device writes to the region directly")
    }
}

#[test]
fn devices_import_host_memory() {
    const SIZE: u64 = 3 << 20;
    for settings in ALL {
        let device = device(settings);
        let model = noise(SIZE as usize, 6);
        let pages = Pages::new(&model);
        let region: Arc<dyn HostRegion> = pages.clone();
        // Only devices that share the host's memory import host memory for kernels. wgpu cannot import host memory.
        let adopted = device.import_host_memory(&region, SIZE);
        assert_eq!(adopted.is_some(), device.can_import_host_memory(), "{settings:?}");
        assert!(!(settings.discrete && device.can_import_host_memory()), "{settings:?}");
        // The size must be a multiple of 4, so that no word contains other data.
        assert!(device.import_for_copies(&region, SIZE - 1).is_none(), "{settings:?}");
        let Some(there) = device.import_for_copies(&region, SIZE) else {
            assert!(settings.portable, "{settings:?}: VK_EXT_external_memory_host");
            continue;
        };
        let own = device.allocate(SIZE).unwrap();
        let copy = |src: &Arc<dyn Memory>, dst: &Arc<dyn Memory>, regions| Action::Copy { src: src.clone(), dst: dst.clone(), regions };
        run(&*device, copy(&there, &own, vec![CopyRegion { buffer: 0, host: 0, size: SIZE }]));
        assert_eq!(read(&*device, &own, 0, SIZE as usize), model, "{settings:?}");
        run(&*device, Action::Fill { dst: own.clone(), pattern: vec![7], offset: 100, size: 1000 });
        run(&*device, copy(&own, &there, vec![CopyRegion { buffer: 96, host: 4, size: 2 << 20 }]));
        let seen = pages.contents();
        assert_eq!(seen[..4], model[..4], "{settings:?}");
        assert!(seen[8..1008].iter().all(|byte| *byte == 7), "{settings:?}");
        assert_eq!(seen[1008..4 + (2 << 20)], model[1100..96 + (2 << 20)], "{settings:?}");
        assert_eq!(seen[4 + (2 << 20)..], model[4 + (2 << 20)..], "{settings:?}");
    }
}
