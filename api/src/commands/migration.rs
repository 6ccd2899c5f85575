//! Migration: copies the contents of a buffer from a device that holds them to a device whose next command needs them.
//!
//! The first possible path is taken ([`TransferPath`]):
//! 1. The memory of the target device is host-visible: a read command of the source device writes to it directly
//!    ([`Device::host_visible_target`](crate::backend::Device::host_visible_target)).
//! 2. The transfer has at least [`MIN_SHARED_STAGING`] bytes, and both devices can copy to and from shared host memory
//!    ([`SharedStaging`]). The source device writes one chunk while the target device reads the previous one.
//! 3. Otherwise, the source device reads to host memory, then the target device writes from it.
//!
//! If the meaningful bytes of a buffer are counted in another buffer (cl_pocl_content_size), the count is read first
//! from the device that holds it. Then only the meaningful bytes are transferred.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::backend::{Action, BackendResult, CopyRegion, HostTarget, Memory, Times};
use crate::commands::command::{PendingCommand, Prepared, RetainedObject};
use crate::commands::completion::on_completion;
use crate::commands::shared_staging::{CHUNK_SIZE, SharedStaging};
use crate::commands::staging_buffer::StagingBuffer;
use crate::objects::event::Event;
use crate::objects::memory::{Buffer, CONTENT_COUNT_SIZE, Store, zeroed};
use crate::objects::queue::Queue;
use crate::types::error::{Error, Result};

/// The minimum number of bytes for a transfer through shared staging memory. For smaller transfers, the two additional
/// submissions take longer than the copy.
const MIN_SHARED_STAGING: u64 = 1 << 18;

/// Transfers of fewer bytes are not shortened: the read of the count would take longer.
const MIN_SHORTENED: u64 = 1 << 16;

/// Bytes that must be transferred from another device.
#[derive(Debug)]
pub(crate) struct MissingRange {
    pub(crate) buffer: Arc<Buffer>,
    /// The index of the source device in the context.
    pub(crate) from: usize,
    pub(crate) range: Range<u64>,
}

impl MissingRange {
    fn size(&self) -> u64 {
        self.range.end - self.range.start
    }
}

/// A part of a transfer, at most as long as one staging slot.
#[derive(Debug)]
struct Chunk {
    migration: Arc<Migration>,
    transfer: Arc<MissingRange>,
    range: Range<u64>,
}

impl Chunk {
    /// Starts the copy of the chunk to a slot of the staging memory.
    fn begin(self, staging: &Arc<SharedStaging>, slot: u64) {
        let context = self.migration.queue.context().clone();
        let mappings = self.source_memory().and_then(|src| {
            let dst = staging.mapping(self.transfer.from).cloned();
            Ok((src, dst.ok_or_else(|| Error::InvalidDevice("the device cannot access the shared staging memory".into()))?))
        });
        let (src, dst) = match mappings {
            Ok(mappings) => mappings,
            Err(error) => {
                staging.release(slot);
                return self.migration.finish_step(Err(error));
            }
        };
        let regions = vec![CopyRegion { buffer: self.range.start, host: slot * CHUNK_SIZE, size: self.range.end - self.range.start }];
        let device = context.devices()[self.transfer.from].clone();
        let step = CopyToStaging { shared_staging: staging.clone(), chunk: self, slot };
        device.backend().enqueue(Action::Copy { src, dst, regions }.into(), false, on_completion(|result| step.finish(result)));
        device.backend().flush();
    }

    /// The source memory.
    fn source_memory(&self) -> Result<Arc<dyn Memory>> {
        self.transfer.buffer.store().memory(self.transfer.from)
    }
}

/// The first half of the transfer of a chunk.
struct CopyToStaging {
    shared_staging: Arc<SharedStaging>,
    chunk: Chunk,
    slot: u64,
}

impl CopyToStaging {
    /// Starts the second half: the copy to the target device.
    fn finish(self, result: BackendResult<Times>) {
        let Self { shared_staging, chunk, slot } = self;
        let queue = &chunk.migration.queue;
        let store = chunk.transfer.buffer.store();
        let index = queue.device_index();
        let mappings = result.map_err(Error::from).and_then(|_| {
            let src = shared_staging.mapping(index).cloned();
            Ok((
                src.ok_or_else(|| Error::InvalidDevice("the device cannot access the shared staging memory".into()))?,
                store.memory(index)?,
            ))
        });
        let outcome = mappings.map(|(src, dst)| {
            let size = chunk.range.end - chunk.range.start;
            let regions = vec![CopyRegion { buffer: slot * CHUNK_SIZE, host: chunk.range.start, size }];
            let step = CopyFromStaging { shared_staging: shared_staging.clone(), slot, event: chunk.migration.event.clone() };
            let progress = on_completion(|result| step.finish(result));
            queue.device().backend().enqueue(Action::Copy { src, dst, regions }.into(), false, progress);
            queue.device().backend().flush();
            store.record_copy(index, chunk.range.clone());
        });
        if outcome.is_err() {
            shared_staging.release(slot);
        }
        chunk.migration.finish_step(outcome);
    }
}

/// The second half of the transfer of a chunk. No host thread waits for this copy: it precedes the dependent command in
/// the device queue.
struct CopyFromStaging {
    shared_staging: Arc<SharedStaging>,
    slot: u64,
    event: Arc<Event>,
}

impl CopyFromStaging {
    fn finish(self, result: BackendResult<Times>) {
        self.shared_staging.release(self.slot);
        if let Err(error) = result {
            self.event.record_migration_failure(error.into());
        }
    }
}

/// Transfers that a command waits for.
#[derive(Debug)]
struct Migration {
    event: Arc<Event>,
    queue: Arc<Queue>,
    work: Mutex<Option<PendingCommand>>,
    /// The number of steps whose copy from the source device is not complete. A step is a read, or one chunk in shared
    /// staging memory.
    remaining: AtomicUsize,
    failure: Mutex<Option<Error>>,
}

impl Migration {
    /// Records that the copy of a step from the source device is complete or has failed. The last step continues the
    /// command.
    fn finish_step(&self, outcome: Result<()>) {
        if let Err(error) = outcome {
            self.failure.lock().get_or_insert(error);
        }
        if self.remaining.fetch_sub(1, Ordering::AcqRel) == 1 {
            let failure = self.failure.lock().take();
            let work = self.work.lock().take();
            if let Some(work) = work {
                self.event.resume(match failure {
                    None => Ok(work),
                    Some(error) => Err((error, work.into_retained())),
                });
            }
        }
    }
}

/// Continues a transfer after its read. The read wrote the bytes to `staging`, or directly to the destination if
/// `staging` is `None`.
struct ReadStep {
    migration: Arc<Migration>,
    transfer: Arc<MissingRange>,
    staging: Option<Arc<Mutex<Vec<u8>>>>,
}

/// The method of a transfer.
enum TransferPath {
    Read { src: Arc<dyn Memory>, dst: Arc<dyn HostTarget>, staging: Option<Arc<Mutex<Vec<u8>>>> },
    SharedStaging(Arc<SharedStaging>),
}

/// Chooses the path of a transfer to a queue's device.
fn transfer_path(transfer: &MissingRange, queue: &Queue) -> Result<TransferPath> {
    let (store, context, index) = (transfer.buffer.store(), queue.context(), queue.device_index());
    let (src, own) = (store.memory(transfer.from)?, store.memory(index)?);
    // Another device has written the new contents. That write waited for all commands that use the old contents on the
    // target device, so the memory can be written directly.
    if let Some(dst) = queue.device().backend().host_visible_target(&own, transfer.range.clone()) {
        return Ok(TransferPath::Read { src, dst, staging: None });
    }
    if transfer.size() >= MIN_SHARED_STAGING
        && let Some(shared_staging) = context.shared_staging()
        && [transfer.from, index].iter().all(|&index| shared_staging.mapping(index).is_some())
    {
        return Ok(TransferPath::SharedStaging(shared_staging.clone()));
    }
    let staging = Arc::new(Mutex::new(zeroed(transfer.size())?));
    Ok(TransferPath::Read { src, dst: Arc::new(StagingBuffer(staging.clone())), staging: Some(staging) })
}

/// Splits a range into chunks of [`CHUNK_SIZE`] bytes.
fn chunks(range: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    (range.start..end).step_by(CHUNK_SIZE as usize).map(move |start| start..end.min(start + CHUNK_SIZE))
}

/// A count that must be read.
struct Count {
    /// The bytes of the store that the count describes.
    content: Range<u64>,
    memory: Arc<dyn Memory>,
    /// The index of the device that holds the count.
    device: usize,
    /// The offset of the count in the memory.
    offset: u64,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Count {
    /// Returns the count for a transfer. `None` if the transfer is not shortened.
    fn of(transfer: &MissingRange) -> Option<Self> {
        if transfer.range.end - transfer.range.start < MIN_SHORTENED {
            return None;
        }
        let (content, buffer) = transfer.buffer.store().content_sizes.of(&transfer.range)?;
        let (store, offset): (&Store, u64) = (buffer.store(), buffer.origin());
        let device = store.newest_on(&(offset..offset + CONTENT_COUNT_SIZE))?;
        let memory = store.memory(device).ok()?;
        Some(Self { content, memory, device, offset, bytes: Arc::new(Mutex::new(vec![0xff; CONTENT_COUNT_SIZE as usize])) })
    }

    /// Returns the end of the meaningful bytes in a transfer. If the count could not be read, all bytes are meaningful.
    fn end(&self, transfer: &Range<u64>) -> u64 {
        let count = self.bytes.lock().as_slice().try_into().map_or(u64::MAX, u64::from_le_bytes);
        self.content.start.saturating_add(count).clamp(transfer.start, transfer.end)
    }
}

/// Transfers that wait for their counts.
struct Shortening {
    parts: Vec<(MissingRange, Option<Count>)>,
    work: PendingCommand,
    queue: Arc<Queue>,
    event: Arc<Event>,
}

impl Shortening {
    /// Starts the transfers of the meaningful bytes.
    fn finish(self) {
        let Self { parts, work, queue, event } = self;
        let index = queue.device_index();
        let mut transfers = Vec::new();
        for (transfer, count) in parts {
            let Some(count) = count else {
                transfers.push(transfer);
                continue;
            };
            let Range { start, end } = transfer.range;
            let meaningful = count.end(&transfer.range);
            // The other bytes are undefined, so the device need not receive them.
            transfer.buffer.store().record_copy(index, meaningful..end);
            if start < meaningful {
                transfers.push(MissingRange { range: start..meaningful, ..transfer });
            }
        }
        if transfers.is_empty() {
            event.resume(Ok(work));
        } else if let Err(failure) = start(transfers, work, &queue, &event) {
            event.resume(Err(failure));
        }
    }
}

/// Starts the transfers that precede the work. Transfers of buffers with a content size are shortened first.
pub(crate) fn migrate(missing: Vec<MissingRange>, work: PendingCommand, queue: &Arc<Queue>, event: &Arc<Event>) -> Prepared {
    let counts: Vec<Option<Count>> = missing.iter().map(Count::of).collect();
    if counts.iter().all(Option::is_none) {
        return match start(missing, work, queue, event) {
            Ok(()) => Prepared::Migrating,
            Err((error, retained)) => Prepared::Failed(error, retained),
        };
    }
    let reads: Vec<_> = counts
        .iter()
        .flatten()
        .map(|count| (count.device, count.memory.clone(), count.offset, StagingBuffer(count.bytes.clone())))
        .collect();
    let shortening = Shortening { parts: missing.into_iter().zip(counts).collect(), work, queue: queue.clone(), event: event.clone() };
    let remaining = AtomicUsize::new(reads.len());
    let state = Arc::new((remaining, Mutex::new(Some(shortening))));
    for (device, src, offset, staging) in reads {
        let state = state.clone();
        // If the read fails, the count keeps its initial value, and the whole range is transferred.
        let progress = on_completion(move |_: BackendResult<Times>| {
            if state.0.fetch_sub(1, Ordering::AcqRel) == 1 {
                // The lock is not held while the transfers start.
                let shortening = state.1.lock().take();
                shortening.into_iter().for_each(Shortening::finish);
            }
        });
        let regions = vec![CopyRegion { buffer: offset, host: 0, size: CONTENT_COUNT_SIZE }];
        let device = queue.context().devices()[device].clone();
        device.backend().enqueue(Action::Read { src, dst: Arc::new(staging), regions }.into(), false, progress);
        device.backend().flush();
    }
    Prepared::Migrating
}

/// Starts transfers. The last one resumes the event. If they cannot start, returns the error and the objects of the
/// work.
fn start(
    missing: Vec<MissingRange>,
    work: PendingCommand,
    queue: &Arc<Queue>,
    event: &Arc<Event>,
) -> std::result::Result<(), (Error, Vec<RetainedObject>)> {
    // No transfer starts unless all can start, because the last transfer resumes the event.
    let paths = match missing.iter().map(|transfer| transfer_path(transfer, queue)).collect::<Result<Vec<_>>>() {
        Ok(paths) => paths,
        Err(error) => return Err((error, work.into_retained())),
    };
    let steps = |(transfer_path, transfer): (&TransferPath, &MissingRange)| match transfer_path {
        TransferPath::Read { .. } => 1,
        TransferPath::SharedStaging(_) => chunks(&transfer.range).count(),
    };
    let migration = Arc::new(Migration {
        event: event.clone(),
        queue: queue.clone(),
        work: Mutex::new(Some(work)),
        remaining: AtomicUsize::new(paths.iter().zip(&missing).map(steps).sum()),
        failure: Mutex::new(None),
    });
    for (transfer, transfer_path) in missing.into_iter().zip(paths) {
        let transfer = Arc::new(transfer);
        match transfer_path {
            TransferPath::Read { src, dst, staging } => {
                let regions = vec![CopyRegion { buffer: transfer.range.start, host: 0, size: transfer.size() }];
                let device = queue.context().devices()[transfer.from].clone();
                let step = ReadStep { migration: migration.clone(), transfer, staging };
                let progress = on_completion(|result| step.finish(result));
                device.backend().enqueue(Action::Read { src, dst, regions }.into(), false, progress);
                device.backend().flush();
            }
            TransferPath::SharedStaging(shared_staging) => {
                for range in chunks(&transfer.range) {
                    let chunk = Chunk { migration: migration.clone(), transfer: transfer.clone(), range };
                    let staging = shared_staging.clone();
                    shared_staging.with_slot(move |slot| chunk.begin(&staging, slot));
                }
            }
        }
    }
    Ok(())
}

impl ReadStep {
    fn finish(self, result: BackendResult<Times>) {
        let Self { migration, transfer, staging } = self;
        let Range { start, end } = transfer.range.clone();
        let store = transfer.buffer.store();
        let index = migration.queue.device_index();
        migration.finish_step(result.map_err(Error::from).and_then(|_| store.memory(index)).map(|dst| {
            let device = migration.queue.device().backend();
            // An immediate write is preferred: other devices may share this memory, and their commands are not ordered
            // after a command of this device.
            if let Some(staging) = &staging
                && !device.write_immediately(&*dst, start, &staging.lock())
            {
                let regions = vec![CopyRegion { buffer: start, host: 0, size: end - start }];
                let command = Action::Write { dst, src: Arc::new(StagingBuffer(staging.clone())), regions };
                let event = migration.event.clone();
                let written = move |result: BackendResult<Times>| {
                    if let Err(error) = result {
                        event.record_migration_failure(error.into());
                    }
                };
                device.enqueue(command.into(), false, on_completion(written));
            }
            store.record_copy(index, start..end);
        }));
    }
}
