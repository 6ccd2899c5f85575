//! Reads, writes, copies and fills: performed the way that [`crate::transfer::path`] says.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use smallvec::SmallVec;
use wgcl_api::backend::{Action, BackendError, BackendResult, CopyRegion, HostSource, HostTarget, Memory, Progress, Times};

use crate::buffer::Buffer;
use crate::gpu::open_device::Gpu;
use crate::host::clock;
use crate::host::mapped_copy::{self, check, host_part, host_part_mut};
use crate::host::uncached_read;
use crate::memory::device_memory::{WgpuMemory, downcast};
use crate::memory::staging_buffer::Direction;
use crate::memory::staging_ring::{Ring, Slot};
use crate::readback::pending_read::{CHUNK, PendingRead, ReadbackPool};
use crate::submit::batch_encoder::Dispatch;
use crate::submit::completion::PostWork;
use crate::submit::handled::Handled;
use crate::submit::open_batch::OpenBatch;
use crate::transfer::builtin_kernels::{Builtin, Builtins, PARAMETERS, PATTERN_BYTES, expand_pattern};
use crate::transfer::path::{DeviceCopy, Effort, TransferFacts, TransferKind, TransferPath, VECTOR, WORD, device_copy, route};
use crate::vulkan::hal::Mapping;

/// Pieces of a read that nobody waits for.
const MAX_READBACK_REGIONS: usize = 64;
/// No binding of a kernel's is limited to less.
const SMALLEST_PART: u64 = 1 << 16;
/// Bytes a segment of staging memory holds.
const STAGING_SEGMENT: u64 = 8 << 20;

/// Who asked for a transfer: whether its times are wanted, and who is told of it.
pub(crate) type Asker<'a> = (bool, &'a Arc<dyn Progress>);

/// What transfers go through.
pub(crate) struct Transfers {
    up: Ring,
    down: Ring,
    pending_reads: ReadbackPool,
    builtins: Builtins,
    /// Groups that a dispatch has at most.
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

    /// The way of a transfer that is taken now. Fails for memory of another backend and for what is no transfer.
    pub(crate) fn route(&self, batch: &OpenBatch, action: &Action) -> BackendResult<TransferPath> {
        let busy = |memory: &WgpuMemory, writes: bool| memory.busy_until(writes) > batch.completed();
        let facts = |kind: TransferKind, memory: &WgpuMemory, bytes: u64| TransferFacts {
            kind,
            bytes,
            mapped: memory.mapping().is_some(),
            window: memory.window().is_some(),
            busy: busy(memory, kind != TransferKind::Read),
            pinned: false,
            has_readback_space: false,
            aligned: false,
            window_reads: uncached_read::quick(),
        };
        let facts = match action {
            Action::Write { dst, src, regions } => {
                TransferFacts { pinned: is_pinned(batch, src.memory()), ..facts(TransferKind::Write, downcast(dst)?, sum(regions)) }
            }
            Action::Read { src, dst, regions } => TransferFacts {
                pinned: is_pinned(batch, dst.memory()),
                has_readback_space: self.can_read_back(batch, regions),
                ..facts(TransferKind::Read, downcast(src)?, sum(regions))
            },
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
            Action::Launch(_) => return Err(BackendError::Other("a launch among transfers".to_owned())),
        };
        Ok(route(&facts))
    }

    /// Records or performs a transfer that goes that way.
    pub(crate) fn perform(
        &mut self,
        batch: &mut OpenBatch,
        action: &Action,
        route: TransferPath,
        asker: Asker<'_>,
    ) -> BackendResult<Handled> {
        match action {
            Action::Write { dst, src, regions } => match (route, src.memory()) {
                (TransferPath::Pinned, Some((memory, at))) => {
                    let swapped: Vec<_> =
                        regions.iter().map(|region| CopyRegion { buffer: at + region.host, host: region.buffer, ..*region }).collect();
                    self.copy(batch, (&memory, dst), &swapped, TransferPath::Device(Effort::Short), asker)
                }
                _ => self.write(batch, downcast(dst)?, (&**src, regions), route, asker.1),
            },
            Action::Read { src, dst, regions } => match (route, dst.memory()) {
                (TransferPath::Pinned, Some((memory, at))) => {
                    let moved: Vec<_> = regions.iter().map(|region| CopyRegion { host: at + region.host, ..*region }).collect();
                    self.copy(batch, (src, &memory), &moved, TransferPath::Device(Effort::Short), asker)
                }
                _ => self.read(batch, downcast(src)?, (dst, regions), route, asker.1),
            },
            Action::Copy { src, dst, regions } => self.copy(batch, (src, dst), regions, route, asker),
            Action::Fill { dst, pattern, offset, size } => self.fill(batch, downcast(dst)?, (pattern, *offset, *size), route, asker),
            Action::Launch(_) => Err(BackendError::Other("a launch among transfers".to_owned())),
        }
    }

    /// Host to device.
    fn write(
        &mut self,
        batch: &mut OpenBatch,
        memory: &WgpuMemory,
        (src, regions): (&dyn HostSource, &[CopyRegion]),
        route: TransferPath,
        progress: &Arc<dyn Progress>,
    ) -> BackendResult<Handled> {
        check(regions.iter().map(|region| (region.buffer, region.size)), memory)?;
        let mut result = Ok(());
        if let Some(seen) = host_mapping(memory, route) {
            if matches!(route, TransferPath::Mapped(_)) {
                batch.wait(memory.busy_until(true))?;
            }
            let start = batch.begin(progress);
            let copy_threads = &batch.gpu().copy_threads;
            src.with(&mut |bytes| result = mapped_copy::write_mapped(copy_threads, seen, bytes, regions));
            // Writes across the bus are gathered: they leave before anything is submitted.
            fence(Ordering::SeqCst);
            return result.map(|()| Handled::Done(Times { start, end: clock::now() }));
        }
        if route == TransferPath::Nothing {
            return Ok(Handled::Nothing);
        }
        src.with(&mut |bytes| {
            result = regions.iter().try_for_each(|region| self.upload(batch, memory, region.buffer, host_part(bytes, *region)?));
        });
        result.map(|()| Handled::Recorded(None))
    }

    /// Device to host.
    fn read(
        &mut self,
        batch: &mut OpenBatch,
        memory: &WgpuMemory,
        (dst, regions): (&Arc<dyn HostTarget>, &[CopyRegion]),
        route: TransferPath,
        progress: &Arc<dyn Progress>,
    ) -> BackendResult<Handled> {
        check(regions.iter().map(|region| (region.buffer, region.size)), memory)?;
        let mut result = Ok(());
        let start = match (route, host_mapping(memory, route)) {
            (TransferPath::Nothing, _) => return Ok(Handled::Nothing),
            (TransferPath::Readback, _) => {
                let read_back = self.read_back(batch, memory, dst, regions)?;
                return Ok(Handled::Followed(None, Box::new(PostWork { pending_reads: vec![read_back], ..PostWork::default() })));
            }
            (TransferPath::Mapped(_), Some(mapping)) => {
                batch.wait(memory.busy_until(false))?;
                let (start, copy_threads) = (batch.begin(progress), &batch.gpu().copy_threads);
                dst.with_mut(&mut |bytes| result = mapped_copy::read_mapped(copy_threads, mapping, bytes, regions));
                start
            }
            (_, Some(window)) => {
                let start = batch.begin(progress);
                dst.with_mut(&mut |bytes| result = mapped_copy::read_window(window, bytes, regions));
                start
            }
            (_, None) => {
                let start = batch.begin(progress);
                dst.with_mut(&mut |bytes| {
                    result =
                        regions.iter().try_for_each(|region| self.download(batch, memory, region.buffer, host_part_mut(bytes, *region)?));
                });
                // What an error left.
                self.down.release(None, batch.serial());
                start
            }
        };
        result.map(|()| Handled::Done(Times { start, end: clock::now() }))
    }

    /// Whether [`Transfers::read_back`] can be had for a read: mappings are ours alone there.
    fn can_read_back(&self, batch: &OpenBatch, regions: &[CopyRegion]) -> bool {
        let most = regions.iter().fold(0_u64, |sum, region| sum.saturating_add(region.size.saturating_add(2 * WORD + 8)));
        batch.gpu().vulkan_queue.is_some() && most <= CHUNK && regions.len() <= MAX_READBACK_REGIONS && self.pending_reads.has_space(most)
    }

    /// Records a read whose bytes are taken out when its batch is complete.
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
        memory.mark(batch.serial(), false);
        Ok(PendingRead { memory: chunk, pieces, target: Arc::clone(target) })
    }

    /// Bytes into memory that the host does not see, through the ring. A piece travels while the next one is put into the ring.
    fn upload(&mut self, batch: &mut OpenBatch, memory: &WgpuMemory, offset: u64, bytes: &[u8]) -> BackendResult<()> {
        let segment = self.up.segment_size();
        let mut at = offset;
        for piece in bytes.chunks((segment - WORD) as usize) {
            let size = piece.len() as u64;
            // At the same place within a word as in the destination.
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
                self.run_builtin(batch, BuiltinJob::Copy(1, slot.offset + lead), &slot.memory.buffer, memory, (at, size))?;
                // The copy's own slot may have begun a new batch.
                self.up.touch(&slot, batch.serial());
            }
            memory.mark(batch.serial(), true);
            at += size;
            if at < offset + bytes.len() as u64 {
                batch.submit();
            }
        }
        Ok(())
    }

    /// Bytes out of memory that the host does not see. The next piece travels while one is taken out.
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
            memory.mark(batch.serial(), false);
            let serial = batch.serial();
            batch.submit();
            self.down.hold(&slot);
            if let Some(previous) = pending.replace(PendingDownload { slot, lead: (at - first) as usize, serial, target: part }) {
                self.take_out(batch, previous)?;
            }
            at += size;
        }
        pending.map_or(Ok(()), |last| self.take_out(batch, last))
    }

    fn take_out(&mut self, batch: &mut OpenBatch, piece: PendingDownload<'_>) -> BackendResult<()> {
        let PendingDownload { slot, lead, serial, target } = piece;
        let result = batch.wait(serial).and_then(|()| {
            let gpu = batch.gpu();
            slot.memory.read(gpu, slot.offset, (lead + target.len()) as u64, &mut |bytes| gpu.copy_threads.copy(target, &bytes[lead..]))
        });
        self.down.release(Some(&slot), serial);
        result
    }

    /// Device to device.
    fn copy(
        &mut self,
        batch: &mut OpenBatch,
        (src, dst): (&Arc<dyn Memory>, &Arc<dyn Memory>),
        regions: &[CopyRegion],
        route: TransferPath,
        (profile, progress): Asker<'_>,
    ) -> BackendResult<Handled> {
        let (from, to) = (downcast(src)?, downcast(dst)?);
        check(regions.iter().map(|region| (region.buffer, region.size)), from)?;
        check(regions.iter().map(|region| (region.host, region.size)), to)?;
        if route == TransferPath::Nothing {
            return Ok(Handled::Nothing);
        }
        if let (Some(source), Some(target)) = (host_mapping(from, route), host_mapping(to, route)) {
            batch.wait(from.busy_until(false).max(to.busy_until(true)))?;
            let start = batch.begin(progress);
            for region in regions {
                mapped_copy::copy_mapped(source, target, *region);
            }
            return Ok(Handled::Done(Times { start, end: clock::now() }));
        }
        let timestamps = batch.timestamps(profile)?;
        batch.begin_timestamps(timestamps.as_ref(), false)?;
        for region in regions.iter().filter(|region| region.size > 0) {
            let mut run =
                |unit: u64| self.run_builtin(batch, BuiltinJob::Copy(unit, region.buffer), from.buffer(), to, (region.host, region.size));
            match device_copy(*region, from.id != to.id, from.mapping().is_none()) {
                DeviceCopy::Vectors => run(VECTOR)?,
                DeviceCopy::Bytes => run(1)?,
                DeviceCopy::Words => batch.copy((from.buffer(), region.buffer), (to.buffer(), region.host), region.size)?,
            }
        }
        batch.end_timestamps(timestamps.as_ref(), false)?;
        from.mark(batch.serial(), false);
        to.mark(batch.serial(), true);
        Ok(Handled::Recorded(timestamps))
    }

    /// Repeats a pattern in so many bytes from an offset on.
    fn fill(
        &mut self,
        batch: &mut OpenBatch,
        memory: &WgpuMemory,
        (pattern, offset, size): (&[u8], u64, u64),
        route: TransferPath,
        (profile, progress): Asker<'_>,
    ) -> BackendResult<Handled> {
        check(std::iter::once((offset, size)), memory)?;
        if pattern.is_empty() || pattern.len() > PATTERN_BYTES / 4 {
            return Err(BackendError::Other("a pattern of a size that OpenCL does not have".to_owned()));
        }
        if route == TransferPath::Nothing {
            return Ok(Handled::Nothing);
        }
        if let Some(mapping) = host_mapping(memory, route) {
            batch.wait(memory.busy_until(true))?;
            let start = batch.begin(progress);
            mapped_copy::fill_mapped(mapping, offset, size, pattern);
            return Ok(Handled::Done(Times { start, end: clock::now() }));
        }
        let timestamps = batch.timestamps(profile)?;
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
        memory.mark(batch.serial(), true);
        Ok(Handled::Recorded(timestamps))
    }

    /// Dispatches a kernel of `builtin` on so many bytes of the destination from a byte on: as many times as it takes with what a binding holds.
    fn run_builtin(
        &mut self,
        batch: &mut OpenBatch,
        job: BuiltinJob<'_>,
        source: &Buffer,
        to: &WgpuMemory,
        (begin, size): (u64, u64),
    ) -> BackendResult<()> {
        // Kernels count in 31 bits. Patterns of all sizes begin anew with each part.
        let most = batch.gpu().binding_limit.clamp(SMALLEST_PART, 1 << 31) - SMALLEST_PART / 2;
        let mut done = 0;
        while done < size {
            let part = (size - done).min(most & !(PATTERN_BYTES as u64 - 1));
            self.run_part(batch, job, source, to, (begin + done, part, done))?;
            done += part;
        }
        Ok(())
    }

    /// One dispatch of [`Transfers::run_builtin`], with so much done before it.
    fn run_part(
        &mut self,
        batch: &mut OpenBatch,
        job: BuiltinJob<'_>,
        source: &Buffer,
        to: &WgpuMemory,
        (begin, size, done): (u64, u64, u64),
    ) -> BackendResult<()> {
        let gpu = Arc::clone(batch.gpu());
        let (builtin, units) = match job {
            BuiltinJob::Copy(1, _) => (Builtin::Copy, size),
            BuiltinJob::Copy(unit, _) => (Builtin::CopyWide, size / unit),
            BuiltinJob::Fill(_) => (Builtin::Fill, size),
        };
        let (groups, stride) = builtin.groups(units, self.max_groups);
        let (to_window, to_size) = window(&gpu, to.buffer(), begin, size);
        let mut bytes = [0; PARAMETERS as usize];
        let (from_window, from_size, numbers) = match job {
            BuiltinJob::Copy(unit, first) => {
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
        let group = Arc::new(compute.group(&gpu, &bound)?);
        let uses = [to.buffer().used(true), source.used(false)];
        let offset = Some(slot.offset as u32);
        batch.dispatch(&Dispatch { id: 0, compute, group: &group, offset, uses: &uses, groups: [groups, 1, 1] })
    }
}

/// Bytes of all pieces.
fn sum(regions: &[CopyRegion]) -> u64 {
    regions.iter().fold(0, |sum: u64, region| sum.saturating_add(region.size))
}

/// Whether bytes of the host's are in memory that this device reaches.
fn is_pinned(batch: &OpenBatch, found: Option<(Arc<dyn Memory>, u64)>) -> bool {
    found.is_some_and(|(memory, _)| downcast(&memory).is_ok_and(|memory| memory.is_of(batch.gpu())))
}

/// Where the host sees memory that a transfer reads or writes in this way, if it does.
fn host_mapping(memory: &WgpuMemory, route: TransferPath) -> Option<Mapping> {
    match route {
        TransferPath::Mapped(_) => memory.mapping(),
        TransferPath::Window(_) => memory.window(),
        _ => None,
    }
}

/// What a kernel of `builtin` does.
#[derive(Clone, Copy)]
enum BuiltinJob<'a> {
    /// Copies in units of so many bytes, from that byte of the source on.
    Copy(u64, u64),
    /// Repeats a pattern.
    Fill(&'a [u8]),
}

/// What is bound for some bytes of a buffer: from a byte at which a binding may begin, to a whole vector.
fn window(gpu: &Gpu, buffer: &Buffer, at: u64, size: u64) -> (u64, u64) {
    let first = at - at % u64::from(gpu.limits.min_storage_buffer_offset_alignment).max(VECTOR);
    (first, (at + size - first).next_multiple_of(VECTOR).min(buffer.size() - first))
}

/// The word that a pattern repeats from an aligned place on, if it is one.
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

/// A piece on its way down.
struct PendingDownload<'a> {
    slot: Slot,
    /// Bytes before it in the slot.
    lead: usize,
    serial: u64,
    target: &'a mut [u8],
}
