//! The graph of events under load: random graphs over several devices, enqueued by several threads while other
//! threads complete user events. A model predicts the result.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use parking_lot::Mutex;

use super::{Setup, launch, setup};
use crate::backend::{HostSource, HostTarget};
use crate::objects::event::Event;
use crate::objects::memory::Buffer;
use crate::objects::queue::Queue;
use crate::test_backend::Sink;
use crate::types::flags::QueueProperties;
use crate::types::status::Status;

/// Small numbers that look random (a linear congruential generator).
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Host memory that records the position of a command in the execution order. 0 means that the command did not run.
#[derive(Debug)]
struct Stamp {
    clock: Arc<AtomicU64>,
    at: Arc<AtomicU64>,
}

impl HostSource for Stamp {
    fn with(&self, f: &mut dyn FnMut(&[u8])) {
        self.at.store(self.clock.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
        f(&[1]);
    }
}

/// An event and its state in the model.
#[derive(Clone)]
struct Node {
    event: Arc<Event>,
    /// Whether the command may fail.
    may_fail: bool,
    /// Whether the command must fail.
    must_fail: bool,
    /// Whether the command must not run, because it fails before its submission. A command that was submitted together
    /// with one that fails on the device may still run.
    must_not_run: bool,
    /// The position of the command in the execution order.
    at: Arc<AtomicU64>,
    /// Whether the command records its position.
    stamped: bool,
}

struct World {
    setup: Setup,
    clock: Arc<AtomicU64>,
    /// The events that other commands may wait for.
    nodes: Mutex<Vec<Node>>,
    shared: Arc<Buffer>,
    called: AtomicUsize,
    /// Whether the test registers no callbacks. A callback would report a failure while commands are enqueued.
    is_silent: bool,
    /// Waits until all clients have enqueued their commands.
    enqueued: Barrier,
}

/// The possible failures among the predecessors of a queue's next command.
#[derive(Clone, Copy, Default)]
struct Failed {
    failure: bool,
    /// Whether a barrier may have failed, or any command of an in-order queue.
    failed_barrier: bool,
}

/// Enqueues a random command. Returns its event, and whether it records its position in `at`.
fn enqueue(world: &World, queue: &Arc<Queue>, kind: usize, list: &[Arc<Event>], at: &Arc<AtomicU64>) -> (Arc<Event>, bool) {
    let stamped = kind >= 5;
    let event = match kind {
        0 => queue.barrier(list).expect("a barrier"),
        1 => queue.marker(list).expect("a marker"),
        2 => launch(queue, "broken", list),
        3 | 4 => {
            let sink = Sink(Arc::new(Mutex::new(vec![0; 8])));
            queue.read(&world.shared, false, (0, 8), |_| Ok(Arc::new(sink) as Arc<dyn HostTarget>), list).expect("a read")
        }
        _ => {
            let buffer = world.setup.buffer(&[0]);
            let stamp = Stamp { clock: world.clock.clone(), at: at.clone() };
            queue.write(&buffer, false, (0, 1), |_| Ok(Arc::new(stamp)), list).expect("a write")
        }
    };
    (event, stamped)
}

/// Checks the status of each command, and that it ran after the commands that it depends on.
fn check_order(seed: u64, orders: &[(Node, Vec<Node>)]) {
    for (node, earlier) in orders {
        let event = &node.event;
        let status = event.status();
        assert!(status.is_done(), "seed {seed}: {event:?} has not ended after clFinish");
        assert!(status.is_failed() || !node.must_fail, "seed {seed}: {event:?}");
        assert!(!status.is_failed() || node.may_fail, "seed {seed}: {event:?}");
        let at = node.at.load(Ordering::SeqCst);
        if !node.stamped {
            continue;
        }
        assert!(at != 0 || node.may_fail, "seed {seed}: the command did not run");
        assert!(at == 0 || !node.must_not_run, "seed {seed}: the command ran");
        for other in earlier.iter().filter(|other| other.stamped && !other.may_fail && at != 0) {
            let other = other.at.load(Ordering::SeqCst);
            assert!(other != 0 && other < at, "seed {seed}: the command ran as number {at}, a predecessor as number {other}");
        }
    }
}

/// A client thread: enqueues to its own queues, and checks them at the end.
fn client(world: &Arc<World>, seed: u64, commands: usize) {
    let mut random = Random(seed);
    let mut registered = 0;
    let called = Arc::new(AtomicUsize::new(0));
    let make = |index: usize, random: &mut Random| {
        let ordered = index.is_multiple_of(2);
        let properties = if ordered { QueueProperties::empty() } else { QueueProperties::OUT_OF_ORDER };
        (world.setup.queue(random.below(world.setup.devices.len()), properties), ordered)
    };
    let mut queues: Vec<(Arc<Queue>, bool)> = (0..4).map(|index| make(index, &mut random)).collect();
    let mut replaced = Vec::new();
    let mut failed = vec![Failed::default(); queues.len()];
    // Per queue: the predecessors of the next command, and all nodes since the last barrier.
    let mut before: Vec<Vec<Node>> = vec![Vec::new(); queues.len()];
    let mut since: Vec<Vec<Node>> = vec![Vec::new(); queues.len()];
    let mut orders: Vec<(Node, Vec<Node>)> = Vec::new();
    for _ in 0..commands {
        let chosen = random.below(queues.len());
        if failed[chosen].failed_barrier && random.chance(30) {
            let new = make(chosen, &mut random);
            replaced.push(std::mem::replace(&mut queues[chosen], new));
            failed[chosen] = Failed::default();
            before[chosen].clear();
            since[chosen].clear();
        }
        let (queue, ordered) = &queues[chosen];
        let waits: Vec<Node> = {
            let nodes = world.nodes.lock();
            (0..random.below(4)).map(|_| nodes[nodes.len() - 1 - random.below(nodes.len().min(40))].clone()).collect()
        };
        let list: Vec<Arc<Event>> = waits.iter().map(|node| node.event.clone()).collect();
        let kind = random.below(20);
        let mut may_fail = kind == 2 || waits.iter().any(|node| node.may_fail);
        let mut must_fail = kind == 2 || waits.iter().any(|node| node.must_fail);
        let must_not_run = waits.iter().any(|node| node.must_not_run);
        let at = Arc::new(AtomicU64::new(0));
        let barrier = kind == 0;
        let (event, stamped) = enqueue(world, queue, kind, &list, &at);
        let follows_all = *ordered || (kind < 2 && list.is_empty());
        if failed[chosen].failed_barrier || (follows_all && failed[chosen].failure) {
            may_fail = true;
            must_fail |= world.is_silent;
        }
        failed[chosen].failure |= may_fail;
        failed[chosen].failed_barrier |= may_fail && (*ordered || barrier);
        if !world.is_silent && random.chance(30) {
            let called = called.clone();
            registered += 1;
            event.on_status(
                Status::COMPLETE,
                Box::new(move |_, status| {
                    assert!(status.is_done());
                    called.fetch_add(1, Ordering::SeqCst);
                }),
            );
        }
        if random.chance(10) {
            queue.flush();
        }
        if random.chance(3) && !may_fail && waits.is_empty() && *ordered {
            // This wait cannot hang, because the threads that complete user events (`decider`) never wait.
            event.flush();
            event.wait();
        }
        let node = Node { event, may_fail, must_fail, must_not_run, at, stamped };
        let mut earlier = before[chosen].clone();
        earlier.extend(waits.into_iter().filter(|wait| wait.stamped));
        if barrier && list.is_empty() {
            earlier.extend(since[chosen].iter().cloned());
        }
        orders.push((node.clone(), earlier));
        if *ordered {
            // In an in-order queue, only the last command must be checked as a predecessor: it runs after all others.
            if stamped && !may_fail {
                before[chosen] = vec![node.clone()];
            }
        } else if barrier {
            // Later commands run after the commands that the barrier waited for, unless the barrier failed.
            before[chosen] =
                if may_fail { before[chosen].clone() } else { orders.last().map(|(_, earlier)| earlier.clone()).unwrap_or_default() };
            since[chosen].clear();
        } else {
            since[chosen].push(node.clone());
        }
        let mut nodes = world.nodes.lock();
        nodes.push(node);
    }
    // clFinish reports failures. If a client called it earlier, a command that another client then enqueues would not
    // fail as the model predicts.
    world.enqueued.wait();
    for (queue, _) in queues.iter().chain(&replaced) {
        // This returns failures that no call has returned yet, so errors are expected.
        let _ = queue.finish();
    }
    check_order(seed, &orders);
    let all = super::within_seconds(|| called.load(Ordering::SeqCst) == registered);
    assert!(all, "seed {seed}: {} callbacks of {registered}", called.load(Ordering::SeqCst));
    world.called.fetch_add(registered, Ordering::SeqCst);
}

/// Sets the status of user events one at a time, in random order, while the clients wait for them.
fn decider(mut events: Vec<(Arc<Event>, Status)>, mut random: Random) {
    while !events.is_empty() {
        let (event, status) = events.swap_remove(random.below(events.len()));
        std::thread::sleep(Duration::from_micros(random.below(800) as u64));
        event.set_user_status(status).expect("its first status");
    }
}

fn round(seed: u64) {
    let mut random = Random(seed);
    let setup = setup(3);
    let shared = setup.buffer(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let world = Arc::new(World {
        shared,
        setup,
        clock: Arc::new(AtomicU64::new(1)),
        nodes: Mutex::default(),
        called: AtomicUsize::new(0),
        is_silent: seed.is_multiple_of(2),
        enqueued: Barrier::new(3),
    });
    let mut decided = Vec::new();
    for _ in 0..12 {
        let event = Event::user(&world.setup.context);
        let status = if random.chance(20) { Status(-5) } else { Status::COMPLETE };
        let may_fail = status.is_failed();
        let node = Node { event: event.clone(), may_fail, must_fail: may_fail, must_not_run: may_fail, at: Arc::default(), stamped: false };
        world.nodes.lock().push(node);
        decided.push((event, status));
    }
    std::thread::scope(|scope| {
        let half = decided.split_off(6);
        let (one, two) = (random.clone(), Random(seed ^ 77));
        scope.spawn(|| decider(decided, one));
        scope.spawn(|| decider(half, two));
        for number in 0..3 {
            let world = &world;
            scope.spawn(move || client(world, seed * 10 + number, 60));
        }
    });
    assert!(world.is_silent || world.called.load(Ordering::SeqCst) > 0);
}

/// Runs code that may hang. Panics with `name` if it takes longer than `seconds`.
fn within(seconds: u64, what: impl FnOnce() + Send + 'static, name: &str) {
    let (done, end) = channel();
    let thread = std::thread::spawn(move || {
        what();
        let _ = done.send(());
    });
    let ended = end.recv_timeout(Duration::from_secs(seconds));
    assert!(ended.is_ok() || thread.is_finished(), "{name} hangs");
    assert!(thread.join().is_ok(), "{name}");
}

#[test]
fn random_graphs_match_the_model() {
    let count = std::env::var("WGCL_FUZZ_COUNT").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    let first = std::env::var("WGCL_FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    for seed in first..first + count {
        within(60, move || round(seed), &format!("the graph of seed {seed}"));
    }
}

#[test]
fn waiting_for_an_abandoned_event_fails() {
    let setup = setup(1);
    for properties in [QueueProperties::empty(), QueueProperties::OUT_OF_ORDER] {
        let queue = setup.queue(0, properties);
        let gate = Event::user(&setup.context);
        let held = launch(&queue, "held", std::slice::from_ref(&gate));
        let after = launch(&queue, "after", std::slice::from_ref(&held));
        drop(gate);
        assert_eq!((held.wait(), after.wait()), (Status::DEPENDENCY_FAILED, Status::DEPENDENCY_FAILED));
        assert!(Event::wait_all(&[after]).is_err());
        let fine = launch(&queue, "fine", &[]);
        fine.flush();
        assert_eq!(fine.wait(), Status::COMPLETE);
    }
}

/// A command that fails before it reaches the device must not overtake one that runs.
#[test]
fn in_order_commands_end_in_order_even_if_they_fail() {
    let setup = setup(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let buffer = setup.buffer(&[0]);
    let gate = Event::user(&setup.context);
    gate.set_user_status(Status(-5)).expect("its status");
    let (clock, at) = (Arc::new(AtomicU64::new(1)), Arc::new(AtomicU64::new(0)));

    #[derive(Debug)]
    struct Slow(Stamp);
    impl HostSource for Slow {
        fn with(&self, f: &mut dyn FnMut(&[u8])) {
            std::thread::sleep(Duration::from_millis(100));
            self.0.with(f);
        }
    }
    let slow = Slow(Stamp { clock, at: at.clone() });
    let first = queue.write(&buffer, false, (0, 1), |_| Ok(Arc::new(slow)), &[]).expect("a write");
    let second = launch(&queue, "second", &[gate]);
    assert_eq!(second.status(), Status::QUEUED, "an earlier command has not ended");
    let _ = queue.finish();
    assert_eq!((first.status(), second.status()), (Status::COMPLETE, Status::DEPENDENCY_FAILED));
    assert_eq!(at.load(Ordering::SeqCst), 1);
}
