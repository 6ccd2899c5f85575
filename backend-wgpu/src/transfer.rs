//! Reads, writes, copies and fills.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, CopyRegion, HostSource, HostTarget, Memory, Progress, Times};

use crate::batch::Dispatch;
use crate::builtin::{Builtin, PARAMETERS, PATTERN_BYTES, expand_pattern};
use crate::clock;
use crate::copiers::Copiers;
use crate::engine::{Engine, Taking};
use crate::fetch::{CHUNK, Fetch};
use crate::gpu::{Buffer, Gpu};
use crate::host::HostBuffer;
use crate::memory::{WgpuMemory, downcast};
use crate::retire::After;
use crate::ring::Slot;
use crate::stream;
use crate::vulkan::Mapping;

/// Bytes from which on the host fills memory that it sees, even if it has to wait for the device first: it is several times quicker.
const HOST_FILL: u64 = 1 << 16;
/// Pieces of a read that nobody waits for.
const FETCHED_PIECES: usize = 64;
/// wgpu's copies take multiples of this.
const WORD: u64 = 4;
/// A kernel's copies do, ...
const WIDE: u64 = 16;
/// ... and are quicker from so many bytes on, in memory of the device's own.
const WIDE_COPY: u64 = 1 << 18;
/// No binding of a kernel's is limited to less.
const SMALLEST_PART: u64 = 1 << 16;

impl Engine {
    /// Tells that a command of the host's begins, and when. Its memory is free, but what it was told to wait for may still run on other memory: it is
    /// not running then as far as anybody can see, and [`crate::retire`] reports it in its turn.
    fn begin(&self, progress: &Arc<dyn Progress>) -> u64 {
        let now = clock::now();
        progress.submitted(now);
        if self.batch.is_empty() && self.retirer.completed() + 1 >= self.serial {
            progress.running();
        }
        now
    }

    /// Host to device.
    pub(crate) fn write(
        &mut self,
        dst: &Arc<dyn Memory>,
        src: &dyn HostSource,
        regions: &[CopyRegion],
        progress: &Arc<dyn Progress>,
    ) -> BackendResult<Taking> {
        let memory = downcast(dst)?;
        check(regions.iter().map(|region| (region.buffer, region.size)), memory)?;
        if let Some(mapping) = memory.mapping() {
            self.wait(memory.busy_until(true))?;
            let start = self.begin(progress);
            let mut result = Ok(());
            src.with(&mut |bytes| result = write_mapped(&self.gpu.copiers, mapping, bytes, regions));
            result?;
            return Ok(Taking::Done(Times { start, end: clock::now() }));
        }
        let mut result = Ok(());
        if let Some(window) = self.free_window(memory) {
            let start = self.begin(progress);
            src.with(&mut |bytes| result = write_mapped(&self.gpu.copiers, window, bytes, regions));
            // Writes across the bus are gathered: they leave before anything is submitted.
            fence(Ordering::SeqCst);
            result?;
            return Ok(Taking::Done(Times { start, end: clock::now() }));
        }
        src.with(&mut |bytes| {
            result = regions.iter().try_for_each(|region| self.upload(memory, region.buffer, host_part(bytes, *region)?));
        });
        result?;
        if regions.iter().all(|region| region.size == 0) { Ok(Taking::Nothing) } else { Ok(Taking::Recorded(None)) }
    }

    /// Where the host can write memory of the device's now, if it can.
    pub(crate) fn free_window(&self, memory: &WgpuMemory) -> Option<Mapping> {
        memory.window().filter(|_| memory.busy_until(true) <= self.retirer.completed())
    }

    /// Where the host can read few bytes of the device's memory now, and sooner than the device could hand them over, if it can.
    pub(crate) fn quick_window(&self, memory: &WgpuMemory, regions: &[CopyRegion]) -> Option<Mapping> {
        let size = regions.iter().fold(0_u64, |sum, region| sum.saturating_add(region.size));
        memory.window().filter(|_| size <= stream::quick() && memory.busy_until(false) <= self.retirer.completed())
    }

    /// Device to host.
    pub(crate) fn read(
        &mut self,
        src: &Arc<dyn Memory>,
        dst: &Arc<dyn HostTarget>,
        regions: &[CopyRegion],
        progress: &Arc<dyn Progress>,
    ) -> BackendResult<Taking> {
        let memory = downcast(src)?;
        check(regions.iter().map(|region| (region.buffer, region.size)), memory)?;
        if let Some(window) = self.quick_window(memory, regions) {
            let (start, mut result) = (self.begin(progress), Ok(()));
            dst.with_mut(&mut |bytes| result = read_window(window, bytes, regions));
            return result.map(|()| Taking::Done(Times { start, end: clock::now() }));
        }
        if memory.mapping().is_none()
            && let Some(fetch) = self.fetch(memory, dst, regions)?
        {
            return Ok(Taking::Followed(None, Box::new(After { fetches: vec![fetch], ..After::default() })));
        }
        let copiers = Arc::clone(&self.gpu);
        let mut result = Ok(());
        let start;
        if let Some(mapping) = memory.mapping() {
            self.wait(memory.busy_until(false))?;
            start = self.begin(progress);
            dst.with_mut(&mut |bytes| result = read_mapped(&copiers.copiers, mapping, bytes, regions));
        } else {
            start = self.begin(progress);
            dst.with_mut(&mut |bytes| {
                result = regions.iter().try_for_each(|region| {
                    let part = host_part_mut(bytes, *region)?;
                    self.download(memory, region.buffer, part)
                });
            });
            // What an error left.
            self.down.release(None, self.serial);
        }
        result?;
        Ok(Taking::Done(Times { start, end: clock::now() }))
    }

    /// Whether [`Engine::fetch`] can be had for a read: mappings are ours alone there.
    pub(crate) fn can_fetch(&self, regions: &[CopyRegion]) -> bool {
        let most = regions.iter().fold(0_u64, |sum, region| sum.saturating_add(region.size.saturating_add(2 * WORD + 8)));
        self.gpu.raw.is_some() && most <= CHUNK && regions.len() <= FETCHED_PIECES
    }

    /// Records a read of few bytes that nobody waits for. `None` where that cannot be.
    fn fetch(&mut self, memory: &WgpuMemory, target: &Arc<dyn HostTarget>, regions: &[CopyRegion]) -> BackendResult<Option<Fetch>> {
        if !self.can_fetch(regions) {
            return Ok(None);
        }
        let gpu = Arc::clone(&self.gpu);
        let words = |region: &CopyRegion| (region.buffer & !(WORD - 1), (region.buffer + region.size).next_multiple_of(WORD));
        let size = regions.iter().map(words).map(|(first, last)| (last - first).next_multiple_of(8)).sum();
        let Some((chunk, mut at)) = self.fetches.take(&gpu, size)? else { return Ok(None) };
        let mut pieces = SmallVec::new();
        for region in regions.iter().filter(|region| region.size > 0) {
            let (first, last) = words(region);
            self.batch.copy(&gpu, (memory.buffer(), first), (&chunk.buffer, at), last - first)?;
            pieces.push((at + region.buffer - first, region.host, region.size));
            at += (last - first).next_multiple_of(8);
        }
        if pieces.is_empty() {
            return Ok(None);
        }
        memory.mark(self.serial, false);
        Ok(Some(Fetch { memory: chunk, pieces, target: Arc::clone(target) }))
    }

    /// Bytes into memory that the host does not see, through the ring. A piece travels while the next one is put into the ring.
    fn upload(&mut self, memory: &WgpuMemory, offset: u64, bytes: &[u8]) -> BackendResult<()> {
        let segment = self.up.segment_size;
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
            let slot = self.slot(|engine| &mut engine.up, (lead + size).next_multiple_of(WORD), 16)?;
            slot.memory.write(&self.gpu, slot.offset, source)?;
            if lead == 0 && size.is_multiple_of(WORD) {
                let gpu = Arc::clone(&self.gpu);
                self.batch.copy(&gpu, (&slot.memory.buffer, slot.offset), (memory.buffer(), at), size)?;
            } else {
                self.copy_bytes(&Source::Host(&slot.memory), slot.offset + lead, memory, at, size)?;
                // The copy's own slot may have begun a new batch.
                self.up.touch(&slot, self.serial);
            }
            memory.mark(self.serial, true);
            at += size;
            if at < offset + bytes.len() as u64 {
                self.submit();
            }
        }
        Ok(())
    }

    /// Bytes out of memory that the host does not see. The next piece travels while one is taken out.
    fn download(&mut self, memory: &WgpuMemory, offset: u64, bytes: &mut [u8]) -> BackendResult<()> {
        let mut pending: Option<Down<'_>> = None;
        let mut at = offset;
        let piece = (self.down.segment_size - 2 * WORD) as usize;
        for part in bytes.chunks_mut(piece) {
            let size = part.len() as u64;
            let first = at & !(WORD - 1);
            let words = (at + size).next_multiple_of(WORD) - first;
            let slot = self.slot(|engine| &mut engine.down, words, 8)?;
            let gpu = Arc::clone(&self.gpu);
            self.batch.copy(&gpu, (memory.buffer(), first), (&slot.memory.buffer, slot.offset), words)?;
            memory.mark(self.serial, false);
            let serial = self.serial;
            self.submit();
            self.down.hold(&slot);
            if let Some(previous) = pending.replace(Down { slot, lead: (at - first) as usize, serial, target: part }) {
                self.take_out(previous)?;
            }
            at += size;
        }
        pending.map_or(Ok(()), |last| self.take_out(last))
    }

    fn take_out(&mut self, piece: Down<'_>) -> BackendResult<()> {
        let Down { slot, lead, serial, target } = piece;
        let result = self.wait(serial).and_then(|()| {
            slot.memory
                .read(&self.gpu, slot.offset, (lead + target.len()) as u64, &mut |bytes| self.gpu.copiers.copy(target, &bytes[lead..]))
        });
        self.down.release(Some(&slot), serial);
        result
    }

    /// Device to device.
    pub(crate) fn copy(
        &mut self,
        src: &Arc<dyn Memory>,
        dst: &Arc<dyn Memory>,
        regions: &[CopyRegion],
        (profile, progress): (bool, &Arc<dyn Progress>),
    ) -> BackendResult<Taking> {
        let (from, to) = (downcast(src)?, downcast(dst)?);
        check(regions.iter().map(|region| (region.buffer, region.size)), from)?;
        check(regions.iter().map(|region| (region.host, region.size)), to)?;
        let regions: Vec<_> = regions.iter().filter(|region| region.size > 0).collect();
        if regions.is_empty() {
            return Ok(Taking::Nothing);
        }
        let is_aligned = |region: &CopyRegion| [region.buffer, region.host, region.size].iter().all(|number| number.is_multiple_of(WORD));
        if let (Some(source), Some(target)) = (from.mapping(), to.mapping()) {
            let busy = from.busy_until(false).max(to.busy_until(true));
            if busy <= self.retirer.completed() || !regions.iter().all(|region| is_aligned(region)) {
                self.wait(busy)?;
                let start = self.begin(progress);
                for region in regions {
                    copy_mapped(source, target, *region);
                }
                return Ok(Taking::Done(Times { start, end: clock::now() }));
            }
        }
        let stamp = self.stamp(profile)?;
        let gpu = Arc::clone(&self.gpu);
        self.batch.begin_stamp(&gpu, stamp.as_ref(), false)?;
        for region in regions {
            let is_wide = [region.buffer, region.host, region.size].iter().all(|number| number.is_multiple_of(WIDE));
            if is_wide && region.size >= WIDE_COPY && from.id != to.id && from.mapping().is_none() {
                self.run_builtin(Job::Copy(WIDE, region.buffer), &Source::Device(from), to, (region.host, region.size))?;
            } else if is_aligned(region) && from.id != to.id {
                self.batch.copy(&gpu, (from.buffer(), region.buffer), (to.buffer(), region.host), region.size)?;
            } else {
                self.copy_bytes(&Source::Device(from), region.buffer, to, region.host, region.size)?;
            }
        }
        self.batch.end_stamp(&gpu, stamp.as_ref(), false)?;
        from.mark(self.serial, false);
        to.mark(self.serial, true);
        Ok(Taking::Recorded(stamp))
    }

    /// Repeats a pattern.
    pub(crate) fn fill(
        &mut self,
        dst: &Arc<dyn Memory>,
        pattern: &[u8],
        offset: u64,
        size: u64,
        (profile, progress): (bool, &Arc<dyn Progress>),
    ) -> BackendResult<Taking> {
        let memory = downcast(dst)?;
        check(std::iter::once((offset, size)), memory)?;
        if pattern.is_empty() || pattern.len() > PATTERN_BYTES / 4 {
            return Err(BackendError::Other("a pattern of a size that OpenCL does not have".to_owned()));
        }
        if size == 0 {
            return Ok(Taking::Nothing);
        }
        if let Some(mapping) = memory.mapping()
            && (size >= HOST_FILL || memory.busy_until(true) <= self.retirer.completed())
        {
            self.wait(memory.busy_until(true))?;
            let start = self.begin(progress);
            fill_mapped(mapping, offset, size, pattern);
            return Ok(Taking::Done(Times { start, end: clock::now() }));
        }
        let stamp = self.stamp(profile)?;
        let gpu = Arc::clone(&self.gpu);
        self.batch.begin_stamp(&gpu, stamp.as_ref(), false)?;
        let is_aligned = offset.is_multiple_of(WORD) && size.is_multiple_of(WORD);
        let word = if is_aligned { repeated_word(pattern) } else { None };
        if word == Some(0) {
            self.batch.clear(&gpu, memory.buffer(), offset, size)?;
        } else if let Some(word) = word
            && self.batch.fill(&gpu, memory.buffer(), (offset, size), word)?
        {
        } else {
            self.run_builtin(Job::Fill(pattern), &Source::Device(memory), memory, (offset, size))?;
        }
        self.batch.end_stamp(&gpu, stamp.as_ref(), false)?;
        memory.mark(self.serial, true);
        Ok(Taking::Recorded(stamp))
    }

    fn copy_bytes(&mut self, from: &Source<'_>, offset: u64, to: &WgpuMemory, at: u64, size: u64) -> BackendResult<()> {
        self.run_builtin(Job::Copy(1, offset), from, to, (at, size))
    }

    /// Dispatches a kernel of `builtin` on so many bytes of the destination from a byte on: as many times as it takes with what a binding holds.
    fn run_builtin(&mut self, job: Job<'_>, from: &Source<'_>, to: &WgpuMemory, (begin, size): (u64, u64)) -> BackendResult<()> {
        let gpu = Arc::clone(&self.gpu);
        let source = match from {
            Source::Device(memory) => memory.buffer(),
            Source::Host(memory) => &memory.buffer,
        };
        // Kernels count in 31 bits. Patterns of all sizes begin anew with each part.
        let most = gpu.binding_limit.clamp(SMALLEST_PART, 1 << 31) - SMALLEST_PART / 2;
        let mut done = 0;
        while done < size {
            let part = (size - done).min(most & !(PATTERN_BYTES as u64 - 1));
            self.run_part(job, source, to, (begin + done, part, done))?;
            done += part;
        }
        Ok(())
    }

    /// One dispatch of [`Engine::run_builtin`], with so much done before it.
    fn run_part(&mut self, job: Job<'_>, source: &Buffer, to: &WgpuMemory, (begin, size, done): (u64, u64, u64)) -> BackendResult<()> {
        let gpu = Arc::clone(&self.gpu);
        let (builtin, units) = match job {
            Job::Copy(1, _) => (Builtin::Copy, size),
            Job::Copy(unit, _) => (Builtin::CopyWide, size / unit),
            Job::Fill(_) => (Builtin::Fill, size),
        };
        let (groups, stride) = builtin.groups(units, self.planner.max_groups[0]);
        let (to_window, to_size) = window(&gpu, to.buffer(), begin, size);
        let mut bytes = [0; PARAMETERS as usize];
        let (from_window, from_size, numbers) = match job {
            Job::Copy(unit, first) => {
                let (window, length) = window(&gpu, source, first + done, size);
                let numbers = [first + done - window, begin - to_window, begin - to_window + size].map(|number| number / unit);
                (window, length, numbers)
            }
            Job::Fill(pattern) => {
                let (pattern, words) = expand_pattern(pattern, begin);
                bytes[16..16 + pattern.len()].copy_from_slice(&pattern);
                (to_window, to_size, [u64::from(words), begin - to_window, begin - to_window + size])
            }
        };
        let words = [numbers[0] as u32, numbers[1] as u32, numbers[2] as u32, stride];
        for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        let align = u64::from(gpu.limits.min_uniform_buffer_offset_alignment);
        // A wait in here leaves the open batch's commands before this one where they belong: ahead of it.
        let slot = self.slot(|engine| &mut engine.arguments, PARAMETERS, align)?;
        slot.memory.write(&gpu, slot.offset, &bytes)?;
        let compute = &self.builtins.get(&gpu, builtin)?;
        let bound = [(0, &slot.memory.buffer, 0, PARAMETERS), (1, to.buffer(), to_window, to_size), (2, source, from_window, from_size)];
        let group = Arc::new(compute.group(&gpu, &bound)?);
        let uses = [(to.buffer().raw, true), (source.raw, false)];
        let offset = Some(slot.offset as u32);
        let dispatch = Dispatch { id: 0, compute, group: &group, offset, uses: &uses, groups: [groups, 1, 1] };
        self.batch.dispatch(&gpu, &dispatch)
    }
}

/// What a kernel of `builtin` does.
#[derive(Clone, Copy)]
enum Job<'a> {
    /// Copies in units of so many bytes, from that byte of the source on.
    Copy(u64, u64),
    /// Repeats a pattern.
    Fill(&'a [u8]),
}

/// What is bound for some bytes of a buffer: from a byte at which a binding may begin, to a whole vector.
fn window(gpu: &Gpu, buffer: &Buffer, at: u64, size: u64) -> (u64, u64) {
    let first = at - at % u64::from(gpu.limits.min_storage_buffer_offset_alignment).max(WIDE);
    (first, (at + size - first).next_multiple_of(WIDE).min(buffer.size() - first))
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
struct Down<'a> {
    slot: Slot,
    /// Bytes before it in the slot.
    lead: usize,
    serial: u64,
    target: &'a mut [u8],
}

/// Where the byte copy reads.
enum Source<'a> {
    Device(&'a WgpuMemory),
    Host(&'a HostBuffer),
}

/// Fails where a piece does not lie inside the memory: the API has checked it, this is what soundness rests upon.
fn check(mut pieces: impl Iterator<Item = (u64, u64)>, memory: &WgpuMemory) -> BackendResult<()> {
    if pieces.all(|(offset, size)| offset.checked_add(size).is_some_and(|end| end <= memory.allocated)) {
        Ok(())
    } else {
        Err(BackendError::Other("a transfer beyond the end of a buffer".to_owned()))
    }
}

fn outside() -> BackendError {
    BackendError::Other("a transfer beyond the end of the host's memory".to_owned())
}

fn host_range(region: CopyRegion) -> BackendResult<std::ops::Range<usize>> {
    let start = usize::try_from(region.host).map_err(|_| outside())?;
    let size = usize::try_from(region.size).map_err(|_| outside())?;
    Ok(start..start.checked_add(size).ok_or_else(outside)?)
}

fn host_part(bytes: &[u8], region: CopyRegion) -> BackendResult<&[u8]> {
    bytes.get(host_range(region)?).ok_or_else(outside)
}

fn host_part_mut(bytes: &mut [u8], region: CopyRegion) -> BackendResult<&mut [u8]> {
    bytes.get_mut(host_range(region)?).ok_or_else(outside)
}

/// Whether the application's memory is the mapped memory itself, or overlaps it.
fn overlaps(mapping: Mapping, region: CopyRegion, host: &[u8]) -> bool {
    let device = mapping.address() + region.buffer as usize;
    let host_start = host.as_ptr() as usize;
    host_start < device + host.len() && device < host_start + host.len()
}

fn write_mapped(copiers: &Copiers, mapping: Mapping, bytes: &[u8], regions: &[CopyRegion]) -> BackendResult<()> {
    for region in regions {
        let source = host_part(bytes, *region)?;
        if overlaps(mapping, *region, source) {
            // SAFETY: the region lies inside the buffer, as `check` saw, and the device has done with it. No reference is made to the
            // destination, for it is the source's memory too.
            unsafe { std::ptr::copy(source.as_ptr(), mapping.0.as_ptr().add(region.buffer as usize), source.len()) };
        } else {
            // SAFETY: the region lies inside the buffer, as `check` saw; the device has done with it, and the application's own accesses
            // to mapped memory during a command on it are undefined in OpenCL.
            copiers.copy(unsafe { mapping.bytes_mut(region.buffer, region.size) }, source);
        }
    }
    Ok(())
}

fn copy_mapped(source: Mapping, target: Mapping, region: CopyRegion) {
    // SAFETY: as in `write_mapped`, for both ends.
    unsafe {
        let from = source.0.as_ptr().add(region.buffer as usize);
        std::ptr::copy(from, target.0.as_ptr().add(region.host as usize), region.size as usize);
    }
}

fn fill_mapped(mapping: Mapping, offset: u64, size: u64, pattern: &[u8]) {
    // SAFETY: as in `write_mapped`.
    let bytes = unsafe { mapping.bytes_mut(offset, size) };
    let first = pattern.len().min(bytes.len());
    bytes[..first].copy_from_slice(&pattern[..first]);
    // Twice as much each time, up to what the caches hold.
    let mut done = first;
    while done < bytes.len() {
        let next = done.min(1 << 15).min(bytes.len() - done);
        let step = if next == 1 << 15 { next - next % pattern.len() } else { next };
        bytes.copy_within(..step, done);
        done += step;
    }
}

fn read_window(window: Mapping, bytes: &mut [u8], regions: &[CopyRegion]) -> BackendResult<()> {
    for region in regions {
        let target = host_part_mut(bytes, *region)?;
        // SAFETY: as in `write_mapped`; the device's memory is nobody's on the host.
        stream::read(target, unsafe { window.bytes_mut(region.buffer, region.size) });
    }
    Ok(())
}

fn read_mapped(copiers: &Copiers, mapping: Mapping, bytes: &mut [u8], regions: &[CopyRegion]) -> BackendResult<()> {
    for region in regions {
        let target = host_part_mut(bytes, *region)?;
        if overlaps(mapping, *region, target) {
            // SAFETY: as in `write_mapped`.
            unsafe { std::ptr::copy(mapping.0.as_ptr().add(region.buffer as usize), target.as_mut_ptr(), target.len()) };
        } else {
            // SAFETY: as in `write_mapped`.
            copiers.copy(target, unsafe { mapping.bytes_mut(region.buffer, region.size) });
        }
    }
    Ok(())
}
