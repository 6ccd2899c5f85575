//! Tests of the effect of failures on other commands.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::{launch, launch_using, read, setup, try_read, within_seconds, write};
use crate::backend::HostTarget;
use crate::commands::command::AccessMode;
use crate::commands::svm_types::SvmApi;
use crate::commands::transfer::buffer_access;
use crate::image::MemObject;
use crate::objects::context::Context;
use crate::objects::event::Event;
use crate::objects::memory::Buffer;
use crate::objects::queue::Queue;
use crate::test_backend::{Sink, TestAllocator};
use crate::types::error::{Error, Result};
use crate::types::flags::QueueProperties;
use crate::types::status::Status;

const ORDERED: QueueProperties = QueueProperties::empty();
const UNORDERED: QueueProperties = QueueProperties::OUT_OF_ORDER;

/// Enqueues a launch of a kernel that writes a buffer.
fn launch_on(queue: &Arc<Queue>, kernel: &str, buffer: &Arc<Buffer>) -> Arc<Event> {
    launch_using(queue, kernel, vec![buffer_access(buffer, 0..buffer.size(), AccessMode::Write)], &[])
}

/// Enqueues a non-blocking read.
fn read_later(queue: &Arc<Queue>, buffer: &Arc<Buffer>) -> Arc<Event> {
    let sink = Sink(Arc::new(Mutex::new(vec![0; buffer.size() as usize])));
    queue.read(buffer, false, (0, buffer.size()), |_| Ok(Arc::new(sink) as Arc<dyn HostTarget>), &[]).expect("read")
}

fn wait(event: &Arc<Event>) -> Result<()> {
    Event::wait_all(std::slice::from_ref(event))
}

/// In an in-order queue, the dependents of a failed user event and all later commands do not run. Commands that are
/// enqueued after the failure was reported run.
#[test]
fn a_failed_user_event_fails_waiting_and_later_commands() {
    let setup = setup(1);
    let queue = setup.queue(0, ORDERED);
    let buffer = setup.buffer(&[5; 4]);
    let user = Event::user(&setup.context);
    let held = write(&queue, &buffer, 0, &[1; 4], std::slice::from_ref(&user));
    let chained = write(&queue, &buffer, 0, &[2; 4], std::slice::from_ref(&held));
    let later = write(&queue, &buffer, 0, &[3; 4], &[]);
    let marker = queue.marker(&[]).expect("marker");
    user.set_user_status(Status(-5)).expect("status");
    for event in [&held, &chained, &later, &marker] {
        assert_eq!(event.wait(), Status::DEPENDENCY_FAILED, "{event:?}");
    }
    assert!(matches!(Event::wait_all(&[marker, held]), Err(Error::ExecStatusErrorForEventsInWaitList(_))));
    assert!(queue.finish().is_ok(), "the failure is already reported");
    assert_eq!(read(&queue, &buffer), [5; 4]);
}

#[test]
fn a_read_after_a_failure_fails() {
    let setup = setup(1);
    let queue = setup.queue(0, ORDERED);
    let buffer = setup.buffer(&[5; 4]);
    let broken = launch(&queue, "broken", &[]);
    let first = read_later(&queue, &buffer);
    let second = read_later(&queue, &buffer);
    queue.flush();
    assert_eq!((first.wait(), second.wait(), broken.wait()), (Status::DEPENDENCY_FAILED, Status::DEPENDENCY_FAILED, Status(-5)));
    // The read is enqueued after the failure, before the application was notified.
    let third = read_later(&queue, &buffer);
    assert!(matches!(wait(&third), Err(Error::ExecStatusErrorForEventsInWaitList(_))));
    assert!(wait(&read_later(&queue, &buffer)).is_ok(), "the failure is reported once");
    assert_eq!(read(&queue, &buffer), [5; 4]);
    assert!(queue.finish().is_err(), "clFinish returns failures of the device");
    assert!(queue.finish().is_ok());
}

#[test]
fn commands_enqueued_before_the_failure_is_reported_fail() {
    let setup = setup(1);
    let queue = setup.queue(0, ORDERED);
    let buffer = setup.buffer(&[5; 4]);
    let gate = Event::user(&setup.context);
    let broken = launch(&queue, "broken", &[]);
    let held = write(&queue, &buffer, 0, &[1; 4], std::slice::from_ref(&gate));
    let later = read_later(&queue, &buffer);
    assert!(wait(&broken).is_err());
    gate.set_user_status(Status::COMPLETE).expect("status");
    assert_eq!((held.wait(), later.wait()), (Status::DEPENDENCY_FAILED, Status::DEPENDENCY_FAILED));
    assert_eq!(read(&queue, &buffer), [5; 4], "the write does not reach the device");
}

#[test]
fn reads_of_memory_of_a_failed_command_fail() {
    let setup = setup(1);
    let (queue, other) = (setup.queue(0, ORDERED), setup.queue(0, UNORDERED));
    let (buffer, unrelated) = (setup.buffer(&[5; 4]), setup.buffer(&[6; 4]));
    let whole = buffer.sub_buffer(crate::objects::memory::MemFlags::empty(), 0, 4).expect("sub-buffer");
    launch_on(&queue, "broken", &buffer);
    assert_eq!(read(&other, &unrelated), [6; 4]);
    assert!(matches!(try_read(&other, &whole), Err(Error::ExecStatusErrorForEventsInWaitList(_))));
    assert_eq!(read(&other, &buffer), [5; 4], "the failure is reported once");
    assert!(queue.finish().is_ok(), "a blocking call has reported the failure");
    // A copy from a buffer whose contents are invalid after a failure fails too.
    launch_on(&queue, "broken", &buffer);
    other.copy(&buffer, &unrelated, (0, 0, 4), &[]).expect("copy");
    assert!(try_read(&setup.queue(0, ORDERED), &unrelated).is_err());
    // A write of the whole buffer makes the contents valid.
    launch_on(&queue, "broken", &buffer);
    let new = write(&other, &buffer, 0, &[7; 4], &[]);
    assert_eq!(read(&other, &buffer), [7; 4]);
    assert_eq!(new.status(), Status::COMPLETE);
    assert!(queue.finish().is_err());
}

#[test]
fn out_of_order_queues_propagate_failures_through_markers_and_barriers() {
    let setup = setup(1);
    let queue = setup.queue(0, UNORDERED);
    let buffer = setup.buffer(&[5; 4]);
    let broken = launch(&queue, "broken", &[]);
    let free = launch(&queue, "fine", &[]);
    let marker = queue.marker(&[]).expect("marker");
    let marker_of_one = queue.marker(std::slice::from_ref(&free)).expect("marker");
    queue.flush();
    assert_eq!((broken.wait(), free.wait()), (Status(-5), Status::COMPLETE));
    assert_eq!((marker.wait(), marker_of_one.wait()), (Status::DEPENDENCY_FAILED, Status::COMPLETE));
    // Every command is done, and the failure is still unreported.
    assert_eq!(read(&queue, &buffer), [5; 4]);
    let barrier = queue.barrier(&[]).expect("barrier");
    queue.flush();
    assert_eq!(barrier.wait(), Status::DEPENDENCY_FAILED);
    assert!(matches!(try_read(&queue, &buffer), Err(Error::ExecStatusErrorForEventsInWaitList(_))));
    assert_eq!(read(&queue, &buffer), [5; 4]);
    assert!(wait(&queue.barrier(&[]).expect("barrier")).is_ok());
    assert!(queue.finish().is_ok());
    // A barrier whose wait list contains a failed event fails the next command.
    let broken = launch(&queue, "broken", &[]);
    queue.barrier(&[broken]).expect("barrier");
    let later = launch(&queue, "fine", &[]);
    assert!(wait(&later).is_err());
    assert!(wait(&launch(&queue, "fine", &[])).is_ok());
}

/// After a status query, later commands run. But blocking calls still return the failure, because many programs do not
/// check the sign of the status.
#[test]
fn calls_return_a_failure_after_a_status_query() {
    let setup = setup(1);
    let queue = setup.queue(0, ORDERED);
    let buffer = setup.buffer(&[5; 4]);
    let broken = launch(&queue, "broken", &[]);
    assert!(within_seconds(|| broken.poll().is_failed()));
    let next = launch(&queue, "fine", &[]);
    assert!(within_seconds(|| next.poll() == Status::COMPLETE));
    assert!(try_read(&queue, &buffer).is_err(), "no call has returned the failure");
    assert_eq!(read(&queue, &buffer), [5; 4]);
    // The same case with callbacks: a callback that enqueues a command has observed the failure.
    let broken = launch(&queue, "broken", &[]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    broken.on_status(
        Status::COMPLETE,
        Box::new(move |event, status| {
            let queue = event.queue().expect("its queue");
            noted.lock().push((status, launch(queue, "fine", &[])));
        }),
    );
    queue.flush();
    assert!(within_seconds(|| !seen.lock().is_empty()));
    let (status, next) = seen.lock().remove(0);
    next.flush();
    assert_eq!((status, next.wait()), (Status(-5), Status::COMPLETE));
    assert!(queue.finish().is_err());
}

#[test]
fn waits_for_a_reported_failure_fail_again() {
    let setup = setup(1);
    let queue = setup.queue(0, ORDERED);
    let buffer = setup.buffer(&[5; 4]);
    let broken = launch(&queue, "broken", &[]);
    assert!(queue.finish().is_err());
    write(&queue, &buffer, 0, &[1; 4], std::slice::from_ref(&broken));
    assert!(matches!(try_read(&queue, &buffer), Err(Error::ExecStatusErrorForEventsInWaitList(_))), "the buffer was not written");
    assert_eq!(read(&queue, &buffer), [5; 4]);
    let sink = Sink(Arc::new(Mutex::new(vec![0; 4])));
    let blocking = queue.read(&buffer, true, (0, 4), |_| Ok(Arc::new(sink) as Arc<dyn HostTarget>), &[broken]);
    assert!(matches!(blocking, Err(Error::ExecStatusErrorForEventsInWaitList(_))));
    assert_eq!(read(&queue, &buffer), [5; 4]);
}

#[test]
fn releases_succeed_after_a_failure() {
    let setup = setup(1);
    let queue = setup.queue(0, ORDERED);
    let buffer = setup.buffer(&[5; 8]);
    let object = MemObject::Buffer(buffer.clone());
    let (mapped, _) = queue.map(&buffer, true, 2, (0, 4), &[]).expect("map");
    let gate = Event::user(&setup.context);
    launch(&queue, "broken", &[]);
    // The marker prevents later commands from reaching the device before the failure is known.
    queue.marker(std::slice::from_ref(&gate)).expect("marker");
    assert_eq!(object.map_count(), 1);
    let unmapped = queue.unmap(&object, mapped, &[]).expect("unmap");
    let freed = Arc::new(AtomicBool::new(false));
    let flag = freed.clone();
    queue.svm_free(SvmApi::Core, move || flag.store(true, Ordering::SeqCst), &[]).expect("free");
    queue.flush();
    gate.set_user_status(Status::COMPLETE).expect("status");
    assert!(matches!(queue.map(&buffer, true, 2, (0, 8), &[]), Err(Error::ExecStatusErrorForEventsInWaitList(_))));
    assert_eq!(unmapped.status(), Status::DEPENDENCY_FAILED);
    assert!(freed.load(Ordering::SeqCst));
    assert_eq!(object.map_count(), 0, "neither the unmapped map nor the failed map remains");
    let (again, _) = queue.map(&buffer, true, 2, (0, 8), &[]).expect("map");
    queue.unmap(&object, again, &[]).expect("unmap");
    queue.finish().expect("finish");
}

#[test]
fn many_failures_are_reported_in_few_calls() {
    let setup = setup(1);
    for properties in [ORDERED, UNORDERED] {
        let queue = setup.queue(0, properties);
        let all: Vec<_> = (0..100).map(|_| launch(&queue, "broken", &[])).collect();
        assert!(wait(&all[0]).is_err());
        assert!(queue.finish().is_err());
        assert!(all.iter().all(|event| event.status() == Status(-5)));
        assert!(queue.finish().is_ok());
        assert!(wait(&launch(&queue, "fine", &[])).is_ok());
        assert!(wait(&queue.marker(&[]).expect("marker")).is_ok());
    }
}

#[test]
fn a_reported_failure_does_not_hide_another() {
    let setup = setup(1);
    let queue = setup.queue(0, ORDERED);
    let buffer = setup.buffer(&[5; 4]);
    let first = launch(&queue, "broken", &[]);
    let second = launch(&queue, "broken", &[]);
    queue.flush();
    second.wait();
    assert!(wait(&first).is_err());
    assert!(wait(&read_later(&queue, &buffer)).is_err(), "the second failure");
    assert!(wait(&read_later(&queue, &buffer)).is_ok());
}

/// pfn_notify receives each failure of the device once, without its dependents.
#[test]
fn the_context_is_notified_of_each_device_failure_once() {
    let setup = setup(1);
    let heard = Arc::new(Mutex::new(Vec::<String>::new()));
    let sink = heard.clone();
    let notify = Arc::new(move |text: &str, _: i32| sink.lock().push(text.to_owned()));
    let context = Context::new(setup.platform.devices(), None, Some(notify), Arc::new(TestAllocator::default())).expect("context");
    let queue = Queue::new(&context, &setup.platform.devices()[0], ORDERED, None).expect("queue");
    launch(&queue, "broken", &[]);
    queue.marker(&[]).expect("marker");
    assert!(queue.finish().is_err());
    let done = Arc::new(AtomicBool::new(false));
    let flag = done.clone();
    queue.marker(&[]).expect("marker").on_status(Status::COMPLETE, Box::new(move |_, _| flag.store(true, Ordering::SeqCst)));
    queue.finish().expect("finish");
    assert!(within_seconds(|| done.load(Ordering::SeqCst)));
    assert_eq!(*heard.lock(), ["CL_OUT_OF_RESOURCES: the kernel is broken"]);
}

#[test]
fn a_failed_transfer_fails_the_commands_that_need_the_contents() {
    let setup = setup(2);
    let (here, there) = (setup.queue(0, ORDERED), setup.queue(1, ORDERED));
    let buffer = setup.buffer(&[5; 4]);
    assert_eq!(read(&here, &buffer), [5; 4]);
    setup.devices[1].refuses_writes.store(true, Ordering::Release);
    assert!(try_read(&there, &buffer).is_err(), "the transfer between the devices fails");
    setup.devices[1].refuses_writes.store(false, Ordering::Release);
    // The upload of a buffer's initial contents fails.
    setup.devices[0].refuses_writes.store(true, Ordering::Release);
    let buffer = setup.buffer(&[5; 4]);
    assert!(matches!(try_read(&here, &buffer), Err(Error::ExecStatusErrorForEventsInWaitList(_))));
}
