//! Contents that are copied from one device to another through host memory that both devices can access.

use super::*;
use crate::commands::shared_staging::{CHUNK_SIZE, SLOTS};
use crate::test_backend::TestMemory;

/// More chunks than the staging memory has slots. The last chunk is partial.
const SIZE: u64 = CHUNK_SIZE * (SLOTS + 3) + 12;
const CHUNKS: u64 = SLOTS + 4;

fn setup_with_staging() -> Setup {
    let devices: Vec<_> = (0..2).map(|index| TestDevice::new(&format!("device {index}"))).collect();
    let between = Arc::new(TestMemory(Mutex::new(vec![0; (CHUNK_SIZE * SLOTS) as usize])));
    for device in &devices {
        *device.staging.lock() = Some(between.clone());
    }
    setup_of(devices)
}

fn contents(seed: u64) -> Vec<u8> {
    (0..SIZE).map(|index| ((index * 31 + index / CHUNK_SIZE + seed) % 251) as u8).collect()
}

fn executed(setup: &Setup) -> [u64; 2] {
    [0, 1].map(|index| setup.devices[index].executed.load(Ordering::Acquire))
}

#[test]
fn chunks_are_copied_through_shared_staging_memory() {
    let setup = setup_with_staging();
    let queues = [0, 1].map(|device| setup.queue(device, QueueProperties::empty()));
    let buffer = setup.buffer(&vec![0; SIZE as usize]);
    for (seed, from) in [(1, 0), (2, 1), (3, 0)] {
        let model = contents(seed);
        write(&queues[from], &buffer, 0, &model, &[]).wait();
        let before = executed(&setup);
        assert!(read(&queues[1 - from], &buffer) == model, "from {from}");
        let after = executed(&setup);
        // For each chunk, one copy to and one copy from the staging memory. The target device also runs the read.
        assert_eq!(after[from] - before[from], CHUNKS);
        assert_eq!(after[1 - from] - before[1 - from], CHUNKS + 1);
    }
}

#[test]
fn devices_without_shared_memory_copy_through_the_host() {
    let setup = setup_with_staging();
    *setup.devices[1].staging.lock() = None;
    let queues = [0, 1].map(|device| setup.queue(device, QueueProperties::empty()));
    let (model, buffer) = (contents(4), setup.buffer(&vec![0; SIZE as usize]));
    write(&queues[0], &buffer, 0, &model, &[]).wait();
    let before = executed(&setup);
    assert!(read(&queues[1], &buffer) == model);
    // The migration is a read on the source device and a write on the target device, which also runs the read of the
    // test.
    assert_eq!([0, 1].map(|index| executed(&setup)[index] - before[index]), [1, 2]);
}

#[test]
fn a_failed_chunk_fails_the_command_and_frees_its_slot() {
    let setup = setup_with_staging();
    let queues = [0, 1].map(|device| setup.queue(device, QueueProperties::empty()));
    let (model, buffer) = (contents(5), setup.buffer(&vec![0; SIZE as usize]));
    write(&queues[0], &buffer, 0, &model, &[]).wait();
    for broken in [0, 1] {
        setup.devices[broken].refuses_copies.store(true, Ordering::Release);
        let failed = try_read(&queues[1], &buffer);
        assert!(failed.is_err(), "device {broken}");
        setup.devices[broken].refuses_copies.store(false, Ordering::Release);
        // After a new write, all chunks of the new contents are transferred.
        write(&queues[0], &buffer, 0, &model, &[]).wait();
        assert!(try_read(&queues[1], &buffer).is_ok_and(|bytes| bytes == model), "device {broken}");
        write(&queues[0], &buffer, 0, &model, &[]).wait();
    }
}

/// A lost device drops commands without a result. The command that needs the contents fails, and the slots are free.
#[test]
fn a_dropped_chunk_fails_the_command_and_frees_its_slot() {
    let setup = setup_with_staging();
    let queues = [0, 1].map(|device| setup.queue(device, QueueProperties::empty()));
    let (model, buffer) = (contents(6), setup.buffer(&vec![0; SIZE as usize]));
    for lost in [0, 1] {
        write(&queues[0], &buffer, 0, &model, &[]).wait();
        setup.devices[lost].drops_copies.store(true, Ordering::Release);
        assert!(try_read(&queues[1], &buffer).is_err(), "device {lost}");
        setup.devices[lost].drops_copies.store(false, Ordering::Release);
        write(&queues[0], &buffer, 0, &model, &[]).wait();
        assert!(try_read(&queues[1], &buffer).is_ok_and(|bytes| bytes == model), "device {lost}");
    }
}

#[test]
fn a_dropped_read_fails_the_command() {
    let setup = setup(2);
    let queues = [0, 1].map(|device| setup.queue(device, QueueProperties::empty()));
    let (model, buffer) = (contents(7), setup.buffer(&vec![0; SIZE as usize]));
    write(&queues[0], &buffer, 0, &model, &[]).wait();
    setup.devices[0].drops_reads.store(true, Ordering::Release);
    assert!(try_read(&queues[1], &buffer).is_err());
    setup.devices[0].drops_reads.store(false, Ordering::Release);
    write(&queues[0], &buffer, 0, &model, &[]).wait();
    assert!(try_read(&queues[1], &buffer).is_ok_and(|bytes| bytes == model));
}

#[test]
fn many_users_of_slots_need_a_small_stack() {
    let setup = setup_with_staging();
    let shared = setup.context.shared_staging().expect("staging memory");
    let slots = Arc::new(Mutex::new(Vec::new()));
    for _ in 0..SLOTS {
        let slots = slots.clone();
        shared.with_slot(move |slot| slots.lock().push(slot));
    }
    let served = Arc::new(AtomicUsize::new(0));
    for _ in 0..100_000 {
        let (served, inner) = (served.clone(), shared.clone());
        shared.with_slot(move |slot| {
            served.fetch_add(1, Ordering::Relaxed);
            inner.release(slot);
        });
    }
    assert_eq!((slots.lock().len() as u64, served.load(Ordering::Relaxed)), (SLOTS, 0));
    shared.release(0);
    assert_eq!(served.load(Ordering::Relaxed), 100_000);
}
