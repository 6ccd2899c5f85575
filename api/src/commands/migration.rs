//! What brings contents from the device of a context that has them to the one that needs them, before the command that does.
//!
//! There are three ways, the first that there is:
//! - The host sees the memory of the device that needs them: the other's read writes there ([`Device::landing`](crate::backend::Device::landing)).
//! - Both devices' copies reach memory of the host's ([`Bridge`]): one writes a piece there while the other one takes the piece before.
//! - By way of a copy of the host's: a read, and a write.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use once_cell::sync::OnceCell;
use parking_lot::Mutex;

use crate::backend::{Action, BackendResult, CopyRegion, HostSource, HostTarget, Memory, Progress, Times};
use crate::commands::command::{Prepared, Work};
use crate::objects::context::Context;
use crate::objects::event::Event;
use crate::objects::memory::{Buffer, zeroed};
use crate::objects::queue::Queue;
use crate::types::error::{Error, Result};
use crate::types::host_memory::HostAllocator;

/// Bytes of a piece that crosses a bridge: a copy of so many takes several times what it costs to submit it.
pub(crate) const PIECE: u64 = if cfg!(test) { 1 << 16 } else { 8 << 20 };
/// Pieces that are on a bridge at a time.
pub(crate) const SLOTS: u64 = 8;
/// Bytes from which on a bridge is worth two more submissions.
const BRIDGED: u64 = 1 << 18;

/// Bytes that have to come from another device.
#[derive(Debug)]
pub(crate) struct Transfer {
    pub(crate) buffer: Arc<Buffer>,
    /// The device that has them, by its place in the context.
    pub(crate) from: usize,
    pub(crate) range: Range<u64>,
}

impl Transfer {
    fn size(&self) -> u64 {
        self.range.end - self.range.start
    }
}

/// Bytes on their way through the host.
#[derive(Debug)]
struct Staging(Arc<Mutex<Vec<u8>>>);

impl HostTarget for Staging {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        f(&mut self.0.lock());
    }
}

impl HostSource for Staging {
    fn with(&self, f: &mut dyn FnMut(&[u8])) {
        f(&self.0.lock());
    }
}

/// Memory of the host's that copies of a context's devices reach, in slots of a piece each.
#[derive(Debug)]
pub(crate) struct Bridge {
    /// For each device of the context its memory there, if it reaches it.
    ends: Vec<Option<Arc<dyn Memory>>>,
    state: Mutex<Slots>,
}

#[derive(Debug)]
struct Slots {
    free: Vec<u64>,
    waiting: VecDeque<Piece>,
}

impl Bridge {
    /// `None` where fewer than two devices reach such memory, or there is none.
    pub(crate) fn new(context: &Context, allocator: &dyn HostAllocator) -> Option<Arc<Self>> {
        let region = allocator.allocate(PIECE * SLOTS)?;
        let end = |(index, device): (usize, &Arc<crate::objects::device::Device>)| {
            if context.home(index) == index { device.backend().reach(&region, PIECE * SLOTS) } else { None }
        };
        let ends: Vec<_> = context.devices().iter().enumerate().map(end).collect();
        let state = Mutex::new(Slots { free: (0..SLOTS).collect(), waiting: VecDeque::new() });
        (ends.iter().flatten().count() > 1).then(|| Arc::new(Self { ends, state }))
    }

    fn end(&self, context: &Context, device_index: usize) -> Option<&Arc<dyn Memory>> {
        self.ends.get(context.home(device_index))?.as_ref()
    }

    /// Sends a piece across, now or when a slot is free.
    fn send(self: &Arc<Self>, piece: Piece) {
        let slot = {
            let mut state = self.state.lock();
            match state.free.pop() {
                Some(slot) => slot,
                None => return state.waiting.push_back(piece),
            }
        };
        self.begin(piece, slot);
    }

    /// A slot is free again.
    fn release(self: &Arc<Self>, slot: u64) {
        let next = {
            let mut state = self.state.lock();
            let next = state.waiting.pop_front();
            if next.is_none() {
                state.free.push(slot);
            }
            next
        };
        if let Some(piece) = next {
            self.begin(piece, slot);
        }
    }

    fn begin(self: &Arc<Self>, piece: Piece, slot: u64) {
        let context = piece.migration.queue.context().clone();
        let ends = piece.memory_there().and_then(|src| {
            let dst = self.end(&context, piece.transfer.from).cloned();
            Ok((src, dst.ok_or_else(|| Error::InvalidDevice("the device reaches no memory of the host's".into()))?))
        });
        let (src, dst) = match ends {
            Ok(ends) => ends,
            Err(error) => {
                self.release(slot);
                return piece.migration.arrived(Err(error));
            }
        };
        let regions = vec![CopyRegion { buffer: piece.range.start, host: slot * PIECE, size: piece.range.end - piece.range.start }];
        let device = context.devices()[piece.transfer.from].clone();
        let step = Onto { bridge: self.clone(), piece, slot };
        device.backend().enqueue(Action::Copy { src, dst, regions }.into(), false, Arc::new(step));
        device.backend().flush();
    }
}

/// A part of a transfer that fits a slot.
#[derive(Debug)]
struct Piece {
    migration: Arc<Migration>,
    transfer: Arc<Transfer>,
    range: Range<u64>,
}

impl Piece {
    /// The memory from which it comes.
    fn memory_there(&self) -> Result<Arc<dyn Memory>> {
        self.transfer.buffer.store().memory(self.transfer.from)
    }
}

/// The first half of a piece's way.
struct Onto {
    bridge: Arc<Bridge>,
    piece: Piece,
    slot: u64,
}

impl Progress for Onto {
    fn submitted(&self, _now: u64) {}

    fn running(&self) {}

    fn complete(&self, result: BackendResult<Times>) {
        let Self { bridge, piece, slot } = self;
        let queue = &piece.migration.queue;
        let (context, store) = (queue.context(), piece.transfer.buffer.store());
        let index = queue.device_index();
        let ends = result.map_err(Error::from).and_then(|_| {
            let src = bridge.end(context, index).cloned();
            Ok((src.ok_or_else(|| Error::InvalidDevice("the device reaches no memory of the host's".into()))?, store.memory(index)?))
        });
        let outcome = ends.map(|(src, dst)| {
            let size = piece.range.end - piece.range.start;
            let regions = vec![CopyRegion { buffer: slot * PIECE, host: piece.range.start, size }];
            let step = Off { bridge: bridge.clone(), slot: *slot, event: piece.migration.event.clone() };
            queue.device().backend().enqueue(Action::Copy { src, dst, regions }.into(), false, Arc::new(step));
            queue.device().backend().flush();
            store.copied(index, piece.range.clone());
        });
        if outcome.is_err() {
            bridge.release(*slot);
        }
        piece.migration.arrived(outcome);
    }
}

/// The second half, which nobody waits for: the device has it before the command that needs it.
struct Off {
    bridge: Arc<Bridge>,
    slot: u64,
    event: Arc<Event>,
}

impl Progress for Off {
    fn submitted(&self, _now: u64) {}

    fn running(&self) {}

    fn complete(&self, result: BackendResult<Times>) {
        self.bridge.release(self.slot);
        if let Err(error) = result {
            self.event.lacks(error.into());
        }
    }
}

/// Transfers that a command waits for.
#[derive(Debug)]
struct Migration {
    event: Arc<Event>,
    queue: Arc<Queue>,
    work: Mutex<Option<Work>>,
    /// Steps whose first half is not done.
    remaining: AtomicUsize,
    failure: Mutex<Option<Error>>,
}

impl Migration {
    /// The first half of a step is done, or will not be.
    fn arrived(&self, outcome: Result<()>) {
        if let Err(error) = outcome {
            self.failure.lock().get_or_insert(error);
        }
        if self.remaining.fetch_sub(1, Ordering::AcqRel) == 1 {
            let failure = self.failure.lock().take();
            let work = self.work.lock().take();
            if let Some(work) = work {
                self.event.resume(match failure {
                    None => Ok(work),
                    Some(error) => Err((error, work.into_kept())),
                });
            }
        }
    }
}

/// The first half of a transfer, a read; the bytes go where they belong, or into `staging`.
struct Step {
    migration: Arc<Migration>,
    transfer: Arc<Transfer>,
    staging: Option<Arc<Mutex<Vec<u8>>>>,
}

/// How a transfer is done.
enum Way {
    Read { src: Arc<dyn Memory>, dst: Arc<dyn HostTarget>, staging: Option<Arc<Mutex<Vec<u8>>>> },
    Bridge(Arc<Bridge>),
}

/// The way of a transfer to a queue's device.
fn way(transfer: &Transfer, queue: &Queue) -> Result<Way> {
    let (store, context, index) = (transfer.buffer.store(), queue.context(), queue.device_index());
    let (src, own) = (store.memory(transfer.from)?, store.memory(index)?);
    // Who has written what is missing here came behind all that used the old contents here: nothing does now.
    if let Some(dst) = queue.device().backend().landing(&own, transfer.range.clone()) {
        return Ok(Way::Read { src, dst, staging: None });
    }
    if transfer.size() >= BRIDGED
        && let Some(bridge) = context.bridge()
        && [transfer.from, index].iter().all(|&index| bridge.end(context, index).is_some())
    {
        return Ok(Way::Bridge(bridge.clone()));
    }
    let staging = Arc::new(Mutex::new(zeroed(transfer.size())?));
    Ok(Way::Read { src, dst: Arc::new(Staging(staging.clone())), staging: Some(staging) })
}

/// The pieces of a range.
fn pieces(range: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    (range.start..end).step_by(PIECE as usize).map(move |start| start..end.min(start + PIECE))
}

/// Begins the transfers, after all of which the work comes.
pub(crate) fn migrate(missing: Vec<Transfer>, work: Work, queue: &Arc<Queue>, event: &Arc<Event>) -> Prepared {
    // None of them begins unless all can: what is on its way resumes the event.
    let ways = match missing.iter().map(|transfer| way(transfer, queue)).collect::<Result<Vec<_>>>() {
        Ok(ways) => ways,
        Err(error) => return Prepared::Failed(error, work.into_kept()),
    };
    let steps = |(way, transfer): (&Way, &Transfer)| match way {
        Way::Read { .. } => 1,
        Way::Bridge(_) => pieces(&transfer.range).count(),
    };
    let migration = Arc::new(Migration {
        event: event.clone(),
        queue: queue.clone(),
        work: Mutex::new(Some(work)),
        remaining: AtomicUsize::new(ways.iter().zip(&missing).map(steps).sum()),
        failure: Mutex::new(None),
    });
    for (transfer, way) in missing.into_iter().zip(ways) {
        let transfer = Arc::new(transfer);
        match way {
            Way::Read { src, dst, staging } => {
                let regions = vec![CopyRegion { buffer: transfer.range.start, host: 0, size: transfer.size() }];
                let device = queue.context().devices()[transfer.from].clone();
                let step = Step { migration: migration.clone(), transfer, staging };
                device.backend().enqueue(Action::Read { src, dst, regions }.into(), false, Arc::new(step));
                device.backend().flush();
            }
            Way::Bridge(bridge) => {
                for range in pieces(&transfer.range) {
                    bridge.send(Piece { migration: migration.clone(), transfer: transfer.clone(), range });
                }
            }
        }
    }
    Prepared::Later
}

impl Progress for Step {
    fn submitted(&self, _now: u64) {}

    fn running(&self) {}

    fn complete(&self, result: BackendResult<Times>) {
        let migration = &self.migration;
        let Range { start, end } = self.transfer.range.clone();
        let store = self.transfer.buffer.store();
        let index = migration.queue.device_index();
        migration.arrived(result.map_err(Error::from).and_then(|_| store.memory(index)).map(|dst| {
            let device = migration.queue.device().backend();
            // Other devices may have this memory too: they do not come behind a command of this one.
            if let Some(staging) = &self.staging
                && !device.write_at_once(&*dst, start, &staging.lock())
            {
                let regions = vec![CopyRegion { buffer: start, host: 0, size: end - start }];
                let command = Action::Write { dst, src: Arc::new(Staging(staging.clone())), regions };
                device.enqueue(command.into(), false, Arc::new(Arrival(migration.event.clone())));
            }
            store.copied(index, start..end);
        }));
    }
}

/// The second half of a transfer by way of the host.
struct Arrival(Arc<Event>);

impl Progress for Arrival {
    fn submitted(&self, _now: u64) {}

    fn running(&self) {}

    fn complete(&self, result: BackendResult<Times>) {
        if let Err(error) = result {
            self.0.lacks(error.into());
        }
    }
}

/// A context's bridge, made when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct LazyBridge(OnceCell<Option<Arc<Bridge>>>);

impl LazyBridge {
    pub(crate) fn get(&self, context: &Context, allocator: &dyn HostAllocator) -> Option<&Arc<Bridge>> {
        self.0.get_or_init(|| Bridge::new(context, allocator)).as_ref()
    }
}
