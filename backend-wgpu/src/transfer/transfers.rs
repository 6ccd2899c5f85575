//! Performs reads, writes, copies and fills on the path that [`crate::transfer::path`] chooses.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use smallvec::SmallVec;
use wgcl_api::backend::{Action, BackendError, BackendResult, CopyRegion, HostSource, HostTarget, Memory, Progress, Times};

use crate::buffer::{Buffer, WORD};
use crate::gpu::open_device::Gpu;
use crate::host::clock;
use crate::host::mapped_copy::{self, host_part, host_part_mut};
use crate::host::mapping::Mapping;
use crate::host::uncached_read;
use crate::memory::device_memory::{WgpuMemory, check_ranges, downcast};
use crate::memory::ring::{Ring, Slot};
use crate::memory::staging_buffer::Direction;
use crate::readback::pending_read::{CHUNK, PendingRead, ReadbackPool};
use crate::submit::batch_encoder::Dispatch;
use crate::submit::completion::{Completion, PostWork};
use crate::submit::open_batch::OpenBatch;
use crate::transfer::builtin_kernels::{Builtin, Builtins, PARAMETERS, PATTERN_BYTES, expand_pattern};
use crate::transfer::path::{DeviceCopy, TransferFacts, TransferKind, TransferPath, VECTOR, device_copy, path_of};

/// Maximum number of regions of a readback.
const MAX_READBACK_REGIONS: usize = 64;
/// A binding size in bytes that all devices support. Smaller values of `WGCL_BINDING_LIMIT` do not apply to built-in
/// kernels.
const SMALLEST_PART: u64 = 1 << 16;
/// Size in bytes of a segment of a staging ring.
const STAGING_SEGMENT: u64 = 8 << 20;

#[derive(Clone, Copy)]
pub(crate) struct TransferRequest<'a> {
    /// Whether timestamps are requested.
    pub(crate) profile: bool,
    pub(crate) progress: &'a Arc<dyn Progress>,
}

/// The buffers of a copy. In its regions, `buffer` is the offset in `from`, and `host` is the offset in `to`.
#[derive(Clone, Copy)]
struct CopyBuffers<'a> {
    from: &'a WgpuMemory,
    to: &'a WgpuMemory,
}

impl<'a> CopyBuffers<'a> {
    /// Fails if a region is not inside the buffers.
    fn new(src: &'a Arc<dyn Memory>, dst: &'a Arc<dyn Memory>, regions: &[CopyRegion]) -> BackendResult<Self> {
        let (from, to) = (downcast(src)?, downcast(dst)?);
        check_ranges(regions.iter().map(|region| (region.buffer, region.size)), from)?;
        check_ranges(regions.iter().map(|region| (region.host, region.size)), to)?;
        Ok(Self { from, to })
    }
}

/// A pattern, and the range that it fills.
#[derive(Clone, Copy)]
struct Fill<'a> {
    pattern: &'a [u8],
    offset: u64,
    size: u64,
}

/// The state that the transfers of a device share: staging memory and built-in kernels.
pub(crate) struct Transfers {
    up: Ring,
    down: Ring,
    pending_reads: ReadbackPool,
    builtins: Builtins,
    /// Maximum number of groups of a dispatch.
    max_groups: u32,
}

impl Transfers {
    pub(crate) fn new(max_groups: u32) -> Self {
        Self {
            up: Ring::new(Direction::Up, STAGING_SEGMENT, 4),
            down: Ring::new(Direction::Down, STAGING_SEGMENT, 2),
            pending_reads: ReadbackPool::default(),
            builtins: Builtins::default(),
            max_groups,
        }
    }

    /// Chooses the path of a transfer. If a read cannot use the bus because the host does not see the last write,
    /// requests that later batches make their writes visible. Fails for memory of another backend and for launches.
    pub(crate) fn path(&self, batch: &OpenBatch, action: &Action) -> BackendResult<TransferPath> {
        let busy = |memory: &WgpuMemory, writes: bool| memory.busy_until(writes) > batch.completed();
        let facts = |kind: TransferKind, memory: &WgpuMemory, bytes: u64| TransferFacts {
            kind,
            bytes,
            mapped: memory.mapping().is_some(),
            bar: memory.bar().is_some(),
            busy: busy(memory, kind != TransferKind::Read),
            pinned: false,
            has_readback_space: false,
            aligned: false,
            max_bar_read: uncached_read::max_fast_read(),
        };
        let facts = match action {
            Action::Write { dst, src, regions } => {
                TransferFacts { pinned: is_pinned(batch, src.memory()), ..facts(TransferKind::Write, downcast(dst)?, sum(regions)) }
            }
            Action::Read { src, dst, regions } => {
                let memory = downcast(src)?;
                let facts = TransferFacts {
                    pinned: is_pinned(batch, dst.memory()),
                    has_readback_space: self.can_read_back(batch, regions),
                    ..facts(TransferKind::Read, memory, sum(regions))
                };
                let visibility = &memory.buffer().visibility;
                if matches!(path_of(&facts), TransferPath::Bar(_)) && !visibility.is_current() {
                    visibility.request_barriers();
                    TransferFacts { bar: false, ..facts }
                } else {
                    facts
                }
            }
            Action::Copy { src, dst, regions } => {
                let (from, to) = (downcast(src)?, downcast(dst)?);
                let is_aligned = |region: &CopyRegion| [region.buffer, region.host, region.size].iter().all(|n| n.is_multiple_of(WORD));
                TransferFacts {
                    mapped: from.mapping().is_some() && to.mapping().is_some(),
                    busy: busy(from, false) || busy(to, true),
                    aligned: regions.iter().all(is_aligned),
                    ..facts(TransferKind::Copy, to, sum(regions))
                }
            }
            Action::Fill { dst, size, .. } => facts(TransferKind::Fill, downcast(dst)?, *size),
            Action::Launch(_) => return Err(BackendError::Other("internal error: a launch is not a transfer".to_owned())),
        };
        Ok(path_of(&facts))
    }

    /// Records or performs a transfer on `path`.
    pub(crate) fn perform(
        &mut self,
        batch: &mut OpenBatch,
        action: &Action,
        path: TransferPath,
        request: TransferRequest<'_>,
    ) -> BackendResult<Completion> {
        match action {
            Action::Write { dst, src, regions } => match (path, src.memory()) {
                (TransferPath::Pinned, Some((memory, offset))) => {
                    let swapped: Vec<_> =
                        regions.iter().map(|region| CopyRegion { buffer: offset + region.host, host: region.buffer, ..*region }).collect();
                    self.copy_on_device(batch, CopyBuffers::new(&memory, dst, &swapped)?, &swapped, request.profile)
                }
                _ => self.write(batch, downcast(dst)?, &**src, regions, path, request.progress),
            },
            Action::Read { src, dst, regions } => match (path, dst.memory()) {
                (TransferPath::Pinned, Some((memory, offset))) => {
                    let moved: Vec<_> = regions.iter().map(|region| CopyRegion { host: offset + region.host, ..*region }).collect();
                    self.copy_on_device(batch, CopyBuffers::new(src, &memory, &moved)?, &moved, request.profile)
                }
                _ => self.read(batch, downcast(src)?, dst, regions, path, request.progress),
            },
            Action::Copy { src, dst, regions } => self.copy(batch, CopyBuffers::new(src, dst, regions)?, regions, path, request),
            Action::Fill { dst, pattern, offset, size } => {
                self.fill(batch, downcast(dst)?, Fill { pattern, offset: *offset, size: *size }, path, request)
            }
            Action::Launch(_) => Err(BackendError::Other("internal error: a launch is not a transfer".to_owned())),
        }
    }

    /// Writes host memory to the device.
    fn write(
        &mut self,
        batch: &mut OpenBatch,
        memory: &WgpuMemory,
        src: &dyn HostSource,
        regions: &[CopyRegion],
        path: TransferPath,
        progress: &Arc<dyn Progress>,
    ) -> BackendResult<Completion> {
        check_ranges(regions.iter().map(|region| (region.buffer, region.size)), memory)?;
        let mut result = Ok(());
        if let Some(mapping) = host_mapping(memory, path) {
            if matches!(path, TransferPath::Mapped(_)) {
                batch.wait(memory.busy_until(true))?;
            }
            let start = batch.begin(progress);
            let copy_threads = &batch.gpu().copy_threads;
            src.with(&mut |bytes| result = mapped_copy::write_mapped(copy_threads, mapping, bytes, regions));
            // Flushes write-combined stores before the next submission.
            fence(Ordering::SeqCst);
            return result.map(|()| Completion::Done(Times { start, end: clock::now() }));
        }
        if path == TransferPath::Nothing {
            return Ok(Completion::Marker);
        }
        src.with(&mut |bytes| {
            result = regions.iter().try_for_each(|region| self.upload(batch, memory, region.buffer, host_part(bytes, *region)?));
        });
        result.map(|()| Completion::Batch { timestamps: None, post_work: None })
    }

    /// Reads device memory to the host.
    fn read(
        &mut self,
        batch: &mut OpenBatch,
        memory: &WgpuMemory,
        dst: &Arc<dyn HostTarget>,
        regions: &[CopyRegion],
        path: TransferPath,
        progress: &Arc<dyn Progress>,
    ) -> BackendResult<Completion> {
        check_ranges(regions.iter().map(|region| (region.buffer, region.size)), memory)?;
        let mut result = Ok(());
        let start = match (path, host_mapping(memory, path)) {
            (TransferPath::Nothing, _) => return Ok(Completion::Marker),
            (TransferPath::Readback, _) => {
                let read_back = self.read_back(batch, memory, dst, regions)?;
                return Ok(Completion::Batch {
                    timestamps: None,
                    post_work: Some(Box::new(PostWork { pending_reads: vec![read_back], ..PostWork::default() })),
                });
            }
            (TransferPath::Mapped(_), Some(mapping)) => {
                batch.wait(memory.busy_until(false))?;
                let (start, copy_threads) = (batch.begin(progress), &batch.gpu().copy_threads);
                dst.with_mut(&mut |bytes| result = mapped_copy::read_mapped(copy_threads, mapping, bytes, regions));
                start
            }
            (_, Some(bar)) => {
                let start = batch.begin(progress);
                dst.with_mut(&mut |bytes| result = mapped_copy::read_bar(bar, bytes, regions));
                start
            }
            (_, None) => {
                let start = batch.begin(progress);
                dst.with_mut(&mut |bytes| {
                    result =
                        regions.iter().try_for_each(|region| self.download(batch, memory, region.buffer, host_part_mut(bytes, *region)?));
                });
                // After an error, slots may still be held.
                self.down.release(None, batch.serial());
                start
            }
        };
        result.map(|()| Completion::Done(Times { start, end: clock::now() }))
    }

    /// Whether [`Transfers::read_back`] is possible for these regions. It requires mapped staging memory.
    fn can_read_back(&self, batch: &OpenBatch, regions: &[CopyRegion]) -> bool {
        let max_bytes = regions.iter().fold(0_u64, |sum, region| sum.saturating_add(region.size.saturating_add(2 * WORD + 8)));
        batch.gpu().vulkan_queue.is_some()
            && max_bytes <= CHUNK
            && regions.len() <= MAX_READBACK_REGIONS
            && self.pending_reads.has_space(max_bytes)
    }

    /// Records a read whose bytes are delivered when its batch is complete.
    fn read_back(
        &mut self,
        batch: &mut OpenBatch,
        memory: &WgpuMemory,
        target: &Arc<dyn HostTarget>,
        regions: &[CopyRegion],
    ) -> BackendResult<PendingRead> {
        let words = |region: &CopyRegion| (region.buffer & !(WORD - 1), (region.buffer + region.size).next_multiple_of(WORD));
        let size = regions.iter().map(words).map(|(first, last)| (last - first).next_multiple_of(8)).sum();
        let (chunk, mut at) = self.pending_reads.take(batch.gpu(), size)?;
        let mut pieces = SmallVec::new();
        for region in regions.iter().filter(|region| region.size > 0) {
            let (first, last) = words(region);
            batch.copy((memory.buffer(), first), (&chunk.buffer, at), last - first)?;
            pieces.push((at + region.buffer - first, region.host, region.size));
            at += (last - first).next_multiple_of(8);
        }
        memory.record_use(batch.serial(), false);
        Ok(PendingRead { memory: chunk, pieces, target: Arc::clone(target) })
    }

    /// Writes to device memory through the staging ring. The device copies one chunk while the host fills the next one.
    fn upload(&mut self, batch: &mut OpenBatch, memory: &WgpuMemory, offset: u64, bytes: &[u8]) -> BackendResult<()> {
        let segment = self.up.segment_size();
        let mut at = offset;
        for piece in bytes.chunks((segment - WORD) as usize) {
            let size = piece.len() as u64;
            // The source gets the same offset within a word as the destination. The copy kernel then loads one word per
            // stored word.
            let lead = at % WORD;
            let mut padded;
            let source = if lead == 0 {
                piece
            } else {
                padded = vec![0; lead as usize];
                padded.extend_from_slice(piece);
                &padded
            };
            let slot = batch.slot(&mut self.up, (lead + size).next_multiple_of(WORD), 16)?;
            slot.memory.write(batch.gpu(), slot.offset, source)?;
            if lead == 0 && size.is_multiple_of(WORD) {
                batch.copy((&slot.memory.buffer, slot.offset), (memory.buffer(), at), size)?;
            } else {
                self.run_builtin(batch, BuiltinJob::Copy { unit: 1, first: slot.offset + lead }, &slot.memory.buffer, memory, (at, size))?;
                // Allocating the slot for the kernel's parameters may have begun a new batch.
                self.up.touch(&slot, batch.serial());
            }
            memory.record_use(batch.serial(), true);
            at += size;
            if at < offset + bytes.len() as u64 {
                batch.submit();
            }
        }
        Ok(())
    }

    /// Reads device memory through the staging ring. The device copies the next chunk while the host reads the previous
    /// one.
    fn download(&mut self, batch: &mut OpenBatch, memory: &WgpuMemory, offset: u64, bytes: &mut [u8]) -> BackendResult<()> {
        let mut pending: Option<PendingDownload<'_>> = None;
        let mut at = offset;
        let piece = (self.down.segment_size() - 2 * WORD) as usize;
        for part in bytes.chunks_mut(piece) {
            let size = part.len() as u64;
            let first = at & !(WORD - 1);
            let words = (at + size).next_multiple_of(WORD) - first;
            let slot = batch.slot(&mut self.down, words, 8)?;
            batch.copy((memory.buffer(), first), (&slot.memory.buffer, slot.offset), words)?;
            memory.record_use(batch.serial(), false);
            let serial = batch.serial();
            batch.submit();
            self.down.hold(&slot);
            if let Some(previous) = pending.replace(PendingDownload { slot, lead: (at - first) as usize, serial, target: part }) {
                self.finish_download(batch, previous)?;
            }
            at += size;
        }
        pending.map_or(Ok(()), |last| self.finish_download(batch, last))
    }

    fn finish_download(&mut self, batch: &mut OpenBatch, piece: PendingDownload<'_>) -> BackendResult<()> {
        let PendingDownload { slot, lead, serial, target } = piece;
        let result = batch.wait(serial).and_then(|()| {
            let gpu = batch.gpu();
            slot.memory.read(gpu, slot.offset, (lead + target.len()) as u64, &mut |bytes| gpu.copy_threads.copy(target, &bytes[lead..]))
        });
        self.down.release(Some(&slot), serial);
        result
    }

    /// Copies between buffers of the device.
    fn copy(
        &mut self,
        batch: &mut OpenBatch,
        buffers: CopyBuffers<'_>,
        regions: &[CopyRegion],
        path: TransferPath,
        request: TransferRequest<'_>,
    ) -> BackendResult<Completion> {
        if path == TransferPath::Nothing {
            return Ok(Completion::Marker);
        }
        let CopyBuffers { from, to } = buffers;
        let (Some(source), Some(target)) = (host_mapping(from, path), host_mapping(to, path)) else {
            return self.copy_on_device(batch, buffers, regions, request.profile);
        };
        batch.wait(from.busy_until(false).max(to.busy_until(true)))?;
        let start = batch.begin(request.progress);
        for region in regions {
            mapped_copy::copy_mapped(source, target, *region);
        }
        Ok(Completion::Done(Times { start, end: clock::now() }))
    }

    /// Records copies by the device.
    fn copy_on_device(
        &mut self,
        batch: &mut OpenBatch,
        CopyBuffers { from, to }: CopyBuffers<'_>,
        regions: &[CopyRegion],
        profile: bool,
    ) -> BackendResult<Completion> {
        let timestamps = batch.timestamps(profile)?;
        batch.begin_timestamps(timestamps.as_ref(), false)?;
        for region in regions.iter().filter(|region| region.size > 0) {
            let mut run = |unit: u64| {
                let job = BuiltinJob::Copy { unit, first: region.buffer };
                self.run_builtin(batch, job, from.buffer(), to, (region.host, region.size))
            };
            match device_copy(*region, from.id != to.id, from.mapping().is_none()) {
                DeviceCopy::VectorKernel => run(VECTOR)?,
                DeviceCopy::ByteKernel => run(1)?,
                DeviceCopy::Command => batch.copy((from.buffer(), region.buffer), (to.buffer(), region.host), region.size)?,
            }
        }
        batch.end_timestamps(timestamps.as_ref(), false)?;
        from.record_use(batch.serial(), false);
        to.record_use(batch.serial(), true);
        Ok(Completion::Batch { timestamps, post_work: None })
    }

    /// Fills a range with a pattern.
    fn fill(
        &mut self,
        batch: &mut OpenBatch,
        memory: &WgpuMemory,
        Fill { pattern, offset, size }: Fill<'_>,
        path: TransferPath,
        request: TransferRequest<'_>,
    ) -> BackendResult<Completion> {
        check_ranges(std::iter::once((offset, size)), memory)?;
        if pattern.is_empty() || pattern.len() > PATTERN_BYTES / 4 {
            return Err(BackendError::Other(format!("fill pattern of {} bytes: expected 1 to {}", pattern.len(), PATTERN_BYTES / 4)));
        }
        if path == TransferPath::Nothing {
            return Ok(Completion::Marker);
        }
        if let Some(mapping) = host_mapping(memory, path) {
            batch.wait(memory.busy_until(true))?;
            let start = batch.begin(request.progress);
            mapped_copy::fill_mapped(mapping, offset, size, pattern);
            return Ok(Completion::Done(Times { start, end: clock::now() }));
        }
        let timestamps = batch.timestamps(request.profile)?;
        batch.begin_timestamps(timestamps.as_ref(), false)?;
        let is_aligned = offset.is_multiple_of(WORD) && size.is_multiple_of(WORD);
        let word = if is_aligned { repeated_word(pattern) } else { None };
        if word == Some(0) {
            batch.clear(memory.buffer(), offset, size)?;
        } else if let Some(word) = word
            && batch.fill(memory.buffer(), (offset, size), word)?
        {
        } else {
            self.run_builtin(batch, BuiltinJob::Fill(pattern), memory.buffer(), memory, (offset, size))?;
        }
        batch.end_timestamps(timestamps.as_ref(), false)?;
        memory.record_use(batch.serial(), true);
        Ok(Completion::Batch { timestamps, post_work: None })
    }

    /// Runs a built-in kernel on a range of the destination, with as many dispatches as the size of a binding
    /// requires.
    fn run_builtin(
        &mut self,
        batch: &mut OpenBatch,
        job: BuiltinJob<'_>,
        source: &Buffer,
        to: &WgpuMemory,
        (begin, size): (u64, u64),
    ) -> BackendResult<()> {
        // The size of a part is limited, because the kernels count bytes in 31 bits. It is a multiple of all pattern
        // sizes, so each part starts with a repetition of the pattern.
        let max_part = batch.gpu().binding_limit.clamp(SMALLEST_PART, 1 << 31) - SMALLEST_PART / 2;
        let mut done = 0;
        while done < size {
            let part = (size - done).min(max_part & !(PATTERN_BYTES as u64 - 1));
            self.run_part(batch, job, source, to, begin + done..begin + done + part, done)?;
            done += part;
        }
        Ok(())
    }

    /// Records one dispatch of [`Transfers::run_builtin`]. `done` is the number of bytes before this part.
    fn run_part(
        &mut self,
        batch: &mut OpenBatch,
        job: BuiltinJob<'_>,
        source: &Buffer,
        to: &WgpuMemory,
        Range { start: begin, end }: Range<u64>,
        done: u64,
    ) -> BackendResult<()> {
        let size = end - begin;
        let gpu = Arc::clone(batch.gpu());
        let (builtin, units) = match job {
            BuiltinJob::Copy { unit: 1, .. } => (Builtin::Copy, size),
            BuiltinJob::Copy { unit, .. } => (Builtin::CopyWide, size / unit),
            BuiltinJob::Fill(_) => (Builtin::Fill, size),
        };
        let (groups, stride) = builtin.groups(units, self.max_groups);
        let (to_window, to_size) = window(&gpu, to.buffer(), begin, size);
        let mut bytes = [0; PARAMETERS as usize];
        let (from_window, from_size, numbers) = match job {
            BuiltinJob::Copy { unit, first } => {
                let (window, length) = window(&gpu, source, first + done, size);
                let numbers = [first + done - window, begin - to_window, begin - to_window + size].map(|number| number / unit);
                (window, length, numbers)
            }
            BuiltinJob::Fill(pattern) => {
                let (pattern, words) = expand_pattern(pattern, begin);
                bytes[16..16 + pattern.len()].copy_from_slice(&pattern);
                (to_window, to_size, [u64::from(words), begin - to_window, begin - to_window + size])
            }
        };
        let words = [numbers[0] as u32, numbers[1] as u32, numbers[2] as u32, stride];
        for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        let slot = batch.place_parameters(&bytes)?;
        let compute = &self.builtins.get(&gpu, builtin)?;
        let bound = [(0, &slot.memory.buffer, 0, PARAMETERS), (1, to.buffer(), to_window, to_size), (2, source, from_window, from_size)];
        let group = compute.group(&gpu, &bound)?;
        let uses = [to.buffer().used(true), source.used(false)];
        let offset = Some(slot.offset as u32);
        batch.dispatch(&Dispatch { id: 0, compute, group: &group, offset, uses: &uses, groups: [groups, 1, 1] })
    }
}

fn sum(regions: &[CopyRegion]) -> u64 {
    regions.iter().fold(0, |sum: u64, region| sum.saturating_add(region.size))
}

/// Whether host memory is in a buffer that this device can access.
fn is_pinned(batch: &OpenBatch, found: Option<(Arc<dyn Memory>, u64)>) -> bool {
    found.is_some_and(|(memory, _)| downcast(&memory).is_ok_and(|memory| memory.is_of(batch.gpu())))
}

/// Returns the host's address of the memory, or `None` if the host does not move the bytes on this path.
fn host_mapping(memory: &WgpuMemory, path: TransferPath) -> Option<Mapping> {
    match path {
        TransferPath::Mapped(_) => memory.mapping(),
        TransferPath::Bar(_) => memory.bar(),
        _ => None,
    }
}

/// The work of a built-in kernel.
#[derive(Clone, Copy)]
enum BuiltinJob<'a> {
    /// Copies in units of `unit` bytes, starting at byte `first` of the source.
    Copy { unit: u64, first: u64 },
    /// Fills with a pattern.
    Fill(&'a [u8]),
}

/// Returns offset and size of a binding that contains a range. The offset is aligned to the device's binding alignment
/// and to whole vectors. The size is a whole number of vectors, unless the buffer ends earlier.
fn window(gpu: &Gpu, buffer: &Buffer, at: u64, size: u64) -> (u64, u64) {
    let first = at - at % u64::from(gpu.limits.min_storage_buffer_offset_alignment).max(VECTOR);
    (first, (at + size - first).next_multiple_of(VECTOR).min(buffer.size() - first))
}

/// Returns the word that a fill with the pattern repeats from an aligned offset on, or `None` if the fill writes
/// different words.
fn repeated_word(pattern: &[u8]) -> Option<u32> {
    let mut word = [0; WORD as usize];
    for (place, byte) in word.iter_mut().zip(pattern.iter().cycle()) {
        *place = *byte;
    }
    pattern
        .chunks(word.len())
        .all(|chunk| word.starts_with(chunk) && word.len().is_multiple_of(chunk.len()))
        .then(|| u32::from_le_bytes(word))
}

/// A chunk that the device copies to the staging ring.
struct PendingDownload<'a> {
    slot: Slot,
    /// Number of bytes in the slot before the chunk.
    lead: usize,
    serial: u64,
    target: &'a mut [u8],
}
