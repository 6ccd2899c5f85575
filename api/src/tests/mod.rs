//! Tests of the objects together, on a backend with host memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::backend::{Backend, HostTarget, SvmCapabilities};
use crate::commands::command::{BufferAccess, CommandType, KernelLaunch, Operation, PendingCommand};
use crate::commands::transfer::RectArgs;
use crate::image::MemObject;
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::event::Event;
use crate::objects::memory::{Buffer, HostData, MemFlags};
use crate::objects::platform::Platform;
use crate::objects::queue::Queue;
use crate::test_backend::{Sink, TestAllocator, TestBackend, TestDevice};
use crate::types::error::{Error, Result};
use crate::types::flags::DeviceType;
use crate::types::flags::QueueProperties;
use crate::types::status::Status;

mod failures;
mod graph;
mod images;
mod migration;
mod programs;

struct Setup {
    devices: Vec<Arc<TestDevice>>,
    platform: Arc<Platform>,
    context: Arc<Context>,
    allocator: Arc<TestAllocator>,
}

fn setup(devices: usize) -> Setup {
    setup_of((0..devices).map(|index| TestDevice::new(&format!("device {index}"))).collect())
}

fn setup_of(devices: Vec<Arc<TestDevice>>) -> Setup {
    let platform = Platform::new(Arc::new(TestBackend(devices.clone())));
    let allocator = Arc::new(TestAllocator::default());
    let context = Context::new(platform.devices(), None, None, allocator.clone()).expect("context");
    Setup { devices, platform, context, allocator }
}

impl Setup {
    fn queue(&self, device: usize, properties: QueueProperties) -> Arc<Queue> {
        Queue::new(&self.context, &self.platform.devices()[device], properties, None).expect("queue")
    }

    fn buffer(&self, contents: &[u8]) -> Arc<Buffer> {
        Buffer::new(&self.context, MemFlags::READ_WRITE, contents.len() as u64, HostData::Copy(contents.to_vec()), None).expect("buffer")
    }
}

fn write(queue: &Arc<Queue>, buffer: &Arc<Buffer>, offset: u64, bytes: &[u8], waits: &[Arc<Event>]) -> Arc<Event> {
    let source = bytes.to_vec();
    queue.write(buffer, false, (offset, bytes.len() as u64), |_| Ok(Arc::new(source)), waits).expect("write")
}

fn read(queue: &Arc<Queue>, buffer: &Arc<Buffer>) -> Vec<u8> {
    try_read(queue, buffer).expect("read")
}

fn try_read(queue: &Arc<Queue>, buffer: &Arc<Buffer>) -> Result<Vec<u8>> {
    let sink = Sink(Arc::new(Mutex::new(vec![0; buffer.size() as usize])));
    let target = sink.clone();
    queue.read(buffer, true, (0, buffer.size()), |_| Ok(Arc::new(target) as Arc<dyn HostTarget>), &[])?;
    let bytes = sink.0.lock().clone();
    Ok(bytes)
}

/// Launches a kernel with this name. The backend only interprets the name "broken".
fn launch(queue: &Arc<Queue>, kernel: &str, waits: &[Arc<Event>]) -> Arc<Event> {
    launch_using(queue, kernel, Vec::new(), waits)
}

/// Launches a kernel that uses memory.
fn launch_using(queue: &Arc<Queue>, kernel: &str, accesses: Vec<BufferAccess>, waits: &[Arc<Event>]) -> Arc<Event> {
    let program = queue.device().backend().load(Arc::new(wgcl_compiler::ir::Module::default()), None).expect("program");
    let launch = KernelLaunch {
        program,
        kernel: kernel.into(),
        args: Vec::new(),
        extra: Vec::new(),
        work_dim: 1,
        global_offset: [0; 3],
        global_size: [1; 3],
        local_size: [1; 3],
        enqueues_from: None,
    };
    queue.submit(CommandType::NdRangeKernel, PendingCommand::new(Operation::Launch(launch), accesses), waits).expect("launch")
}

fn within_seconds(condition: impl Fn() -> bool) -> bool {
    (0..2000).any(|_| {
        let met = condition();
        if !met {
            std::thread::sleep(Duration::from_millis(5));
        }
        met
    })
}

#[test]
fn written_bytes_are_read_back() {
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let buffer = setup.buffer(&[1, 2, 3, 4, 5, 6, 7, 8]);
    write(&queue, &buffer, 2, &[9, 9], &[]);
    queue.fill(&buffer, vec![7, 0], (4, 4), &[]).expect("fill");
    queue.copy(&buffer, &buffer, (0, 6, 2), &[]).expect("copy");
    assert_eq!(read(&queue, &buffer), [1, 2, 9, 9, 7, 0, 1, 2]);
    assert_eq!(queue.copy(&buffer, &buffer, (0, 1, 2), &[]).map(|_| ()).map_err(|e| e.name()), Err("CL_MEM_COPY_OVERLAP"));
}

#[test]
fn rectangles() {
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let buffer = setup.buffer(&(0..64).collect::<Vec<u8>>());
    let args = RectArgs {
        buffer_origin: [2, 1, 0],
        host_origin: [0, 0, 0],
        region: [3, 2, 2],
        buffer_row_pitch: 8,
        buffer_slice_pitch: 32,
        host_row_pitch: 0,
        host_slice_pitch: 0,
    };
    let sink = Sink(Arc::new(Mutex::new(vec![0; 12])));
    let target = sink.clone();
    queue.read_rect(&buffer, true, &args, |_| Ok(Arc::new(target) as Arc<dyn HostTarget>), &[]).expect("read");
    assert_eq!(*sink.0.lock(), [10, 11, 12, 18, 19, 20, 42, 43, 44, 50, 51, 52]);
}

#[test]
fn commands_wait_for_user_events() {
    let setup = setup(1);
    for properties in [QueueProperties::empty(), QueueProperties::OUT_OF_ORDER] {
        let queue = setup.queue(0, properties);
        let buffer = setup.buffer(&[0; 4]);
        let user = Event::user(&setup.context);
        let held = write(&queue, &buffer, 0, &[1, 1, 1, 1], std::slice::from_ref(&user));
        let after = write(&queue, &buffer, 0, &[2], std::slice::from_ref(&held));
        queue.flush();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(held.status(), Status::QUEUED);
        assert_eq!(after.status(), Status::QUEUED);
        user.set_user_status(Status::COMPLETE).expect("status");
        assert_eq!(after.wait(), Status::COMPLETE);
        assert_eq!(read(&queue, &buffer), [2, 1, 1, 1]);
        assert!(matches!(user.set_user_status(Status::COMPLETE), Err(Error::InvalidOperation(_))));
        assert!(matches!(held.set_user_status(Status::COMPLETE), Err(Error::InvalidEvent(_))));
    }
}

#[test]
fn the_failure_of_a_kernel_is_reported() {
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let buffer = setup.buffer(&[5; 4]);
    let broken = launch(&queue, "broken", &[]);
    let dependent = launch(&queue, "fine", std::slice::from_ref(&broken));
    assert!(matches!(try_read(&queue, &buffer), Err(Error::ExecStatusErrorForEventsInWaitList(_))));
    assert_eq!(broken.status(), Status(-5));
    assert_eq!(dependent.status(), Status::DEPENDENCY_FAILED, "the command was submitted before the failure was known");
    assert_eq!(read(&queue, &buffer), [5; 4], "the failure is returned once");
    launch(&queue, "broken", &[]);
    assert!(queue.finish().is_err());
    assert!(queue.finish().is_ok());
}

#[test]
fn an_abandoned_user_event_fails_its_dependents() {
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let user = Event::user(&setup.context);
    user.on_status(Status::COMPLETE, Box::new(|_, _| {}));
    let mut last = queue.marker(std::slice::from_ref(&user)).expect("marker");
    // The chain is long enough to overflow the stack if its processing were recursive.
    for _ in 0..200_000 {
        last = queue.marker(&[last]).expect("marker");
    }
    drop(user);
    assert_eq!(last.wait(), Status::DEPENDENCY_FAILED);
    assert!(matches!(queue.finish(), Err(Error::ExecStatusErrorForEventsInWaitList(_))));
    assert!(queue.finish().is_ok());
}

#[test]
fn long_chains_of_events_do_not_overflow_the_stack() {
    let setup = setup(2);
    let (here, there) = (setup.queue(0, QueueProperties::empty()), setup.queue(1, QueueProperties::empty()));
    let user = Event::user(&setup.context);
    let mut last = user.clone();
    for index in 0..20_000 {
        last = (if index % 2 == 0 { &here } else { &there }).marker(&[last]).expect("marker");
    }
    user.set_user_status(Status::COMPLETE).expect("status");
    assert_eq!(last.wait(), Status::COMPLETE);
}

#[test]
fn callbacks_run_in_order_and_without_locks() {
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let user = Event::user(&setup.context);
    let event = queue.marker(std::slice::from_ref(&user)).expect("marker");
    let seen = Arc::new(Mutex::new(Vec::new()));
    for trigger in [Status::COMPLETE, Status::SUBMITTED, Status::RUNNING] {
        let (seen, queue) = (seen.clone(), queue.clone());
        event.on_status(
            trigger,
            Box::new(move |event, status| {
                assert!(event.status() <= status);
                // A callback may enqueue commands.
                queue.marker(&[]).expect("marker");
                queue.flush();
                seen.lock().push(status);
            }),
        );
    }
    user.set_user_status(Status::COMPLETE).expect("status");
    event.wait();
    assert!(within_seconds(|| seen.lock().len() == 3));
    assert_eq!(*seen.lock(), [Status::SUBMITTED, Status::RUNNING, Status::COMPLETE]);
    let late = seen.clone();
    event.on_status(Status::RUNNING, Box::new(move |_, status| late.lock().push(status)));
    assert!(within_seconds(|| seen.lock().len() == 4));
}

#[test]
fn out_of_order_barriers_and_markers() {
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::OUT_OF_ORDER);
    let user = Event::user(&setup.context);
    let held = queue.marker(std::slice::from_ref(&user)).expect("marker");
    let free = launch(&queue, "fine", &[]);
    queue.flush();
    assert_eq!(free.wait(), Status::COMPLETE, "a command of an out-of-order queue does not wait");
    let barrier = queue.barrier(&[]).expect("barrier");
    let later = launch(&queue, "fine", &[]);
    queue.flush();
    std::thread::sleep(Duration::from_millis(20));
    assert!(!barrier.status().is_done() && !later.status().is_done());
    user.set_user_status(Status::COMPLETE).expect("status");
    assert_eq!(later.wait(), Status::COMPLETE);
    assert!(held.status().is_done() && barrier.status().is_done());
    queue.finish().expect("finish");
}

#[test]
fn contents_are_migrated_between_devices() {
    let setup = setup(2);
    let (here, there) = (setup.queue(0, QueueProperties::empty()), setup.queue(1, QueueProperties::empty()));
    let buffer = setup.buffer(&(0..16).collect::<Vec<u8>>());
    let changed = write(&there, &buffer, 4, &[100; 4], &[]);
    let halves = [buffer.range(0, 8).expect("range"), buffer.range(8, 8).expect("range")];
    assert_eq!(halves, [0..8, 8..16]);
    changed.flush();
    changed.wait();
    let expected = [0, 1, 2, 3, 100, 100, 100, 100, 8, 9, 10, 11, 12, 13, 14, 15];
    assert_eq!(read(&here, &buffer), expected);
    assert_eq!(read(&there, &buffer), expected);
    // The contents move between the devices; only events order the commands.
    let mut last = write(&here, &buffer, 0, &[1], &[]);
    for value in 2..50u8 {
        let queue = if value % 2 == 0 { &there } else { &here };
        last = write(queue, &buffer, u64::from(value % 3), &[value], &[last]);
    }
    last.flush();
    last.wait();
    assert_eq!(read(&here, &buffer)[..3], [48, 49, 47]);
}

#[test]
fn maps_read_and_write_back() {
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let buffer = setup.buffer(&(0..8).collect::<Vec<u8>>());
    let (first, _) = queue.map(&buffer, true, 1 | 2, (2, 4), &[]).expect("map");
    let (second, _) = queue.map(&buffer, true, 1, (0, 8), &[]).expect("map");
    assert_eq!(first, second + 2, "all maps share one allocation");
    assert_eq!(MemObject::Buffer(buffer.clone()).map_count(), 2);
    let region = setup.allocator.0.lock().clone().expect("region");
    assert_eq!(region.0.lock()[2..6], [2, 3, 4, 5]);
    region.0.lock()[3] = 33;
    queue.unmap(&MemObject::Buffer(buffer.clone()), first, &[]).expect("unmap");
    assert_eq!(read(&queue, &buffer), [0, 1, 2, 33, 4, 5, 6, 7]);
    assert!(matches!(queue.unmap(&MemObject::Buffer(buffer.clone()), first, &[]), Err(Error::InvalidValue(_))));
    queue.unmap(&MemObject::Buffer(buffer.clone()), second, &[]).expect("unmap");
    assert_eq!(MemObject::Buffer(buffer.clone()).map_count(), 0);
    let (held, _) = queue.map(&buffer, true, 2, (0, 4), &[]).expect("map");
    assert!(
        matches!(queue.map(&buffer, true, 4, (3, 2), &[]), Err(Error::InvalidOperation(_))),
        "a region cannot be mapped for writing twice"
    );
    queue.unmap(&MemObject::Buffer(buffer.clone()), held, &[]).expect("unmap");
    assert!(queue.map(&buffer, true, 8, (0, 8), &[]).is_err());
    assert!(queue.map(&buffer, true, 1, (4, 8), &[]).is_err());
}

#[test]
fn sub_buffers_share_memory() {
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let buffer = setup.buffer(&[0; 512]);
    let part = buffer.sub_buffer(MemFlags::empty(), 128, 64).expect("sub-buffer");
    write(&queue, &part, 1, &[9], &[]);
    assert_eq!(read(&queue, &buffer)[129], 9);
    let code = |result: Result<Arc<Buffer>>| result.map(|_| ()).map_err(|error| error.name());
    assert_eq!(code(buffer.sub_buffer(MemFlags::empty(), 100, 64)), Err("CL_MISALIGNED_SUB_BUFFER_OFFSET"));
    assert_eq!(code(buffer.sub_buffer(MemFlags::empty(), 0, 0)), Err("CL_INVALID_BUFFER_SIZE"));
    assert_eq!(code(buffer.sub_buffer(MemFlags::empty(), 512, 1)), Err("CL_INVALID_VALUE"));
    assert_eq!(code(buffer.sub_buffer(MemFlags::COPY_HOST_PTR, 0, 1)), Err("CL_INVALID_VALUE"));
    assert_eq!(code(part.sub_buffer(MemFlags::empty(), 0, 1)), Err("CL_INVALID_MEM_OBJECT"));
}

#[test]
fn profiling_times_ascend() {
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::PROFILING);
    let event = launch(&queue, "fine", &[]);
    assert!(event.profile().is_err(), "not complete yet");
    queue.finish().expect("finish");
    let profile = event.profile().expect("profile");
    assert!(profile.queued <= profile.submit && profile.submit <= profile.start && profile.start <= profile.end);
    assert!(profile.queued > 0);
    let silent = launch(&setup.queue(0, QueueProperties::empty()), "fine", &[]);
    assert!(silent.profile().is_err());
}

#[test]
fn destructors_run_last_to_first_when_commands_are_done() {
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let buffer = setup.buffer(&[0; 4]);
    let order = Arc::new(Mutex::new(Vec::new()));
    for number in 0..3 {
        let order = order.clone();
        buffer.on_destruction(Box::new(move || order.lock().push(number)));
    }
    let user = Event::user(&setup.context);
    write(&queue, &buffer, 0, &[1], std::slice::from_ref(&user));
    drop(buffer);
    std::thread::sleep(Duration::from_millis(20));
    assert!(order.lock().is_empty(), "a command still needs the buffer");
    user.set_user_status(Status::COMPLETE).expect("status");
    assert!(within_seconds(|| order.lock().len() == 3));
    assert_eq!(*order.lock(), [2, 1, 0]);
}

#[test]
fn device_types() {
    let setup = setup(2);
    assert_eq!(setup.platform.devices_of(DeviceType::ANY).len(), 2);
    assert_eq!(setup.platform.devices_of(DeviceType::DEFAULT).len(), 1);
    assert_eq!(setup.platform.devices_of(DeviceType::CPU).len(), 2);
    assert_eq!(setup.platform.devices_of(DeviceType::GPU | DeviceType::CUSTOM).len(), 0);
    assert!(TestBackend(Vec::new()).devices().is_empty());
}

#[test]
fn hints_need_not_be_awaited() {
    let setup = setup_of(vec![TestDevice::changed("device", |properties, _| properties.svm = SvmCapabilities::all())]);
    let queue = setup.queue(0, QueueProperties::empty());
    for command in [CommandType::UsmMigrateMem, CommandType::UsmMemAdvise] {
        let hint = queue.usm_hint(command, &[]);
        if cfg!(all(unix, target_pointer_width = "64")) {
            assert!(hint.is_ok() && !queue.awaited().has_unawaited(), "{command:?}");
        }
    }
    let event = launch(&queue, "fine", &[]);
    assert!(queue.awaited().has_unawaited());
    event.wait();
}

/// Threads that enqueue, wait, map, and chain events over two devices at random.
#[test]
fn stress() {
    let setup = setup(2);
    let queues: Vec<_> = (0..4)
        .map(|index| setup.queue(index % 2, if index < 2 { QueueProperties::empty() } else { QueueProperties::OUT_OF_ORDER }))
        .collect();
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..6u64 {
            let (setup, queues, done) = (&setup, &queues, &done);
            scope.spawn(move || {
                let mut random = thread * 7919 + 1;
                let mut next = |limit: usize| {
                    random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (random >> 33) as usize % limit
                };
                let buffer = setup.buffer(&[thread as u8; 64]);
                let mut events: Vec<Arc<Event>> = Vec::new();
                let mut users: Vec<Arc<Event>> = Vec::new();
                for round in 0..400u32 {
                    let queue = &queues[next(4)];
                    let waits: Vec<_> = (0..next(3)).filter_map(|_| events.get(next(events.len().max(1))).cloned()).collect();
                    match next(8) {
                        0 => events.push(write(queue, &buffer, next(60) as u64, &round.to_le_bytes(), &waits)),
                        1 => events.push(queue.marker(&waits).expect("marker")),
                        2 => events.push(queue.barrier(&waits).expect("barrier")),
                        3 => users.push(Event::user(&setup.context)),
                        4 => {
                            if let Some(user) = users.pop() {
                                events.push(queue.marker(std::slice::from_ref(&user)).expect("marker"));
                                user.set_user_status(Status(if next(4) == 0 { -7 } else { 0 })).expect("status");
                            }
                        }
                        5 => {
                            if let Some(event) = events.get(next(events.len().max(1))) {
                                event.flush();
                                event.wait();
                            }
                        }
                        6 => events.push(launch(queue, "fine", &waits)),
                        _ => {
                            events.truncate(8);
                            // Only user events fail, not the device.
                            let finished = queue.finish();
                            assert!(matches!(finished, Ok(()) | Err(Error::ExecStatusErrorForEventsInWaitList(_))), "{finished:?}");
                        }
                    }
                }
                for event in &events {
                    event.flush();
                    event.wait();
                }
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(done.load(Ordering::Relaxed), 6);
    for queue in &queues {
        // The first call may return a failure of another thread's command that is not reported yet.
        let _ = queue.finish();
        queue.finish().expect("finish");
    }
    let device: &Arc<Device> = queues[0].device();
    device.backend().flush();
}
