//! Commands that move bytes: read, write, copy, fill, map, unmap, migrate (OpenCL API 5.2.2 to 5.2.5, 5.5).
//!
//! Each command checks its arguments in the order in which the specification lists its errors. The C ABI has already
//! checked handles and null pointers.

use std::sync::Arc;

use bitflags::bitflags;

use crate::backend::{CopyRegion, HostSource, HostTarget};
use crate::commands::command::{AccessMode, BufferAccess, CommandType, Operation, PendingCommand};
use crate::commands::failure::ReportedVia;
use crate::commands::map_record::{MapBacking, MapRecord};
use crate::image::MemObject;
use crate::objects::event::Event;
use crate::objects::memory::{Buffer, MemFlags};
use crate::objects::queue::Queue;
use crate::types::error::{Error, Result, ensure};
use crate::types::rect::{self, Rect};

bitflags! {
    /// cl_map_flags
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct MapFlags: u64 {
        /// CL_MAP_READ
        const READ = 1 << 0;
        /// CL_MAP_WRITE
        const WRITE = 1 << 1;
        /// CL_MAP_WRITE_INVALIDATE_REGION
        const WRITE_INVALIDATE_REGION = 1 << 2;
    }
}

impl MapFlags {
    /// Parses the flags of clEnqueueMapBuffer.
    ///
    /// # Errors
    /// Fails for unknown bits and for flags that exclude each other.
    pub fn parse(bits: u64) -> Result<Self> {
        let flags = Self::from_bits(bits).ok_or_else(|| Error::InvalidValue(format!("map flags {bits:#x} are unknown").into()))?;
        ensure!(
            !(flags.contains(Self::WRITE_INVALIDATE_REGION) && flags.intersects(Self::READ | Self::WRITE)),
            InvalidValue,
            "CL_MAP_WRITE_INVALIDATE_REGION excludes the other flags"
        );
        Ok(flags)
    }

    /// Whether the host may write.
    pub const fn writes(self) -> bool {
        self.intersects(Self::WRITE.union(Self::WRITE_INVALIDATE_REGION))
    }

    /// Checks that an object's flags allow the map.
    ///
    /// # Errors
    /// If they do not allow it.
    pub fn check_host(self, object: MemFlags) -> Result<()> {
        // "CL_INVALID_OPERATION if buffer has been created with CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS and
        // CL_MAP_READ is set ..."
        if self.contains(Self::READ) {
            object.check_host_read()?;
        }
        if self.writes() { object.check_host_write() } else { Ok(()) }
    }
}

/// The arguments of a rectangular copy: a box of a buffer, and a box of host memory or of another buffer.
#[derive(Clone, Copy, Debug)]
pub struct RectArgs {
    /// Origin in the (source) buffer.
    pub buffer_origin: [u64; 3],
    /// Origin in the host's memory or the destination buffer.
    pub host_origin: [u64; 3],
    /// Width in bytes, height, depth.
    pub region: [u64; 3],
    /// Bytes from row to row in the (source) buffer; 0 selects the default.
    pub buffer_row_pitch: u64,
    /// Bytes from slice to slice in the (source) buffer; 0 selects the default.
    pub buffer_slice_pitch: u64,
    /// Bytes from row to row in the host's memory or the destination; 0 selects the default.
    pub host_row_pitch: u64,
    /// Bytes from slice to slice in the host's memory or the destination; 0 selects the default.
    pub host_slice_pitch: u64,
}

impl RectArgs {
    fn rects(&self) -> Result<(Rect, Rect)> {
        Ok((
            Rect::new(self.buffer_origin, self.region, self.buffer_row_pitch, self.buffer_slice_pitch)?,
            Rect::new(self.host_origin, self.region, self.host_row_pitch, self.host_slice_pitch)?,
        ))
    }
}

pub(crate) fn buffer_access(buffer: &Arc<Buffer>, range: std::ops::Range<u64>, access: AccessMode) -> BufferAccess {
    BufferAccess { buffer: buffer.clone(), image: None, range, access }
}

/// Creates an access to bytes of a memory object of any kind.
fn object_access(object: &MemObject, range: std::ops::Range<u64>, access: AccessMode) -> BufferAccess {
    let buffer_level = buffer_access(object.buffer(), range, access);
    if let MemObject::Image(image) = object { buffer_level.of_image(image) } else { buffer_level }
}

impl Queue {
    /// "CL_INVALID_CONTEXT if the context associated with command_queue and buffer are not the same or if the context
    /// associated with command_queue and events in event_wait_list are not the same."
    pub(crate) fn check_contexts(&self, buffers: &[&Arc<Buffer>], wait_list: &[Arc<Event>]) -> Result<()> {
        ensure!(
            buffers.iter().all(|buffer| Arc::ptr_eq(buffer.context(), self.context())),
            InvalidContext,
            "the queue and the buffer belong to different contexts"
        );
        self.check_wait_list(wait_list)
    }

    pub(crate) fn wait_if_blocking(self: &Arc<Self>, event: Arc<Event>, blocking: bool) -> Result<Arc<Event>> {
        if blocking {
            self.block_on(&event)?;
        }
        Ok(event)
    }

    /// Submits a transfer. If the call is blocking, waits for it.
    pub(crate) fn submit_blocking(
        self: &Arc<Self>,
        command: CommandType,
        mut work: PendingCommand,
        wait_list: &[Arc<Event>],
        blocking: bool,
    ) -> Result<Arc<Event>> {
        work.is_blocking = blocking;
        self.wait_if_blocking(self.submit(command, work, wait_list)?, blocking)
    }

    /// "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the read and write operations are blocking and the execution
    /// status of any of the events in event_wait_list is a negative integer value."
    pub(crate) fn check_blocking(blocking: bool, wait_list: &[Arc<Event>]) -> Result<()> {
        let Some(failed) = wait_list.iter().find(|event| blocking && event.status().is_failed()) else { return Ok(()) };
        failed.mark_reported(ReportedVia::Queue);
        Err(Error::ExecStatusErrorForEventsInWaitList("an event of the wait list has failed".into()))
    }

    /// clEnqueueReadBuffer. `target` creates the host destination for a number of bytes.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn read(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        (offset, size): (u64, u64),
        target: impl FnOnce(u64) -> Result<Arc<dyn HostTarget>>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_contexts(&[buffer], wait_list)?;
        let range = buffer.range(offset, size)?;
        let target = target(size)?;
        buffer.check_alignment(self.device())?;
        Self::check_blocking(blocking, wait_list)?;
        buffer.flags().check_host_read()?;
        let regions = vec![CopyRegion { buffer: range.start, host: 0, size }];
        let operation = if size == 0 { Operation::Nop } else { Operation::Read(buffer.clone(), target, regions) };
        let work = PendingCommand::new(operation, vec![buffer_access(buffer, range, AccessMode::Read)]);
        self.submit_blocking(CommandType::ReadBuffer, work, wait_list, blocking)
    }

    /// clEnqueueWriteBuffer
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn write(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        (offset, size): (u64, u64),
        source: impl FnOnce(u64) -> Result<Arc<dyn HostSource>>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_contexts(&[buffer], wait_list)?;
        let range = buffer.range(offset, size)?;
        let source = source(size)?;
        buffer.check_alignment(self.device())?;
        Self::check_blocking(blocking, wait_list)?;
        buffer.flags().check_host_write()?;
        let regions = vec![CopyRegion { buffer: range.start, host: 0, size }];
        let operation = if size == 0 { Operation::Nop } else { Operation::Write(buffer.clone(), source, regions) };
        let work = PendingCommand::new(operation, vec![buffer_access(buffer, range, AccessMode::Overwrite)]);
        self.submit_blocking(CommandType::WriteBuffer, work, wait_list, blocking)
    }

    /// clEnqueueReadBufferRect
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn read_rect(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        args: &RectArgs,
        target: impl FnOnce(u64) -> Result<Arc<dyn HostTarget>>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_contexts(&[buffer], wait_list)?;
        let (buffer_rect, host_rect) = args.rects()?;
        let range = buffer.range(buffer_rect.start(), buffer_rect.end() - buffer_rect.start())?;
        let target = target(host_rect.end())?;
        buffer.check_alignment(self.device())?;
        Self::check_blocking(blocking, wait_list)?;
        buffer.flags().check_host_read()?;
        let operation = Operation::Read(buffer.clone(), target, rect::pieces(&buffer_rect, buffer.origin(), &host_rect, 0));
        let work = PendingCommand::new(operation, vec![buffer_access(buffer, range, AccessMode::Read)]);
        self.submit_blocking(CommandType::ReadBufferRect, work, wait_list, blocking)
    }

    /// clEnqueueWriteBufferRect
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn write_rect(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        args: &RectArgs,
        source: impl FnOnce(u64) -> Result<Arc<dyn HostSource>>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_contexts(&[buffer], wait_list)?;
        let (buffer_rect, host_rect) = args.rects()?;
        let range = buffer.range(buffer_rect.start(), buffer_rect.end() - buffer_rect.start())?;
        let source = source(host_rect.end())?;
        buffer.check_alignment(self.device())?;
        Self::check_blocking(blocking, wait_list)?;
        buffer.flags().check_host_write()?;
        let operation = Operation::Write(buffer.clone(), source, rect::pieces(&buffer_rect, buffer.origin(), &host_rect, 0));
        let access = if buffer_rect.is_dense() { AccessMode::Overwrite } else { AccessMode::Write };
        let work = PendingCommand::new(operation, vec![buffer_access(buffer, range, access)]);
        self.submit_blocking(CommandType::WriteBufferRect, work, wait_list, blocking)
    }

    /// clEnqueueCopyBuffer
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn copy(
        self: &Arc<Self>,
        src: &Arc<Buffer>,
        dst: &Arc<Buffer>,
        offsets: (u64, u64, u64),
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_wait_list(wait_list)?;
        self.submit(CommandType::CopyBuffer, self.copy_command(src, dst, offsets)?, wait_list)
    }

    /// Checks the arguments of clEnqueueCopyBuffer, and creates its command.
    pub(crate) fn copy_command(
        &self,
        src: &Arc<Buffer>,
        dst: &Arc<Buffer>,
        (src_offset, dst_offset, size): (u64, u64, u64),
    ) -> Result<PendingCommand> {
        self.check_contexts(&[src, dst], &[])?;
        let (from, to) = (src.range(src_offset, size)?, dst.range(dst_offset, size)?);
        src.check_alignment(self.device())?;
        dst.check_alignment(self.device())?;
        // "CL_MEM_COPY_OVERLAP if src_buffer and dst_buffer are the same buffer or sub-buffer object and the source
        // and destination regions overlap or if [they] are different sub-buffers of the same associated buffer object
        // and they overlap."
        ensure!(
            !Arc::ptr_eq(src.store(), dst.store()) || from.end <= to.start || to.end <= from.start,
            MemCopyOverlap,
            "source bytes {from:?} and destination bytes {to:?} of the same buffer overlap"
        );
        dst.flags().check_write()?;
        let regions = vec![CopyRegion { buffer: from.start, host: to.start, size }];
        let operation = if size == 0 { Operation::Nop } else { Operation::Copy(src.clone(), dst.clone(), regions) };
        Ok(PendingCommand::new(operation, vec![buffer_access(src, from, AccessMode::Read), buffer_access(dst, to, AccessMode::Overwrite)]))
    }

    /// clEnqueueCopyBufferRect; the `host` side of `args` is the destination.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn copy_rect(
        self: &Arc<Self>,
        src: &Arc<Buffer>,
        dst: &Arc<Buffer>,
        args: &RectArgs,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_wait_list(wait_list)?;
        self.submit(CommandType::CopyBufferRect, self.copy_rect_command(src, dst, args)?, wait_list)
    }

    /// Checks the arguments of clEnqueueCopyBufferRect, and creates its command.
    pub(crate) fn copy_rect_command(&self, src: &Arc<Buffer>, dst: &Arc<Buffer>, args: &RectArgs) -> Result<PendingCommand> {
        self.check_contexts(&[src, dst], &[])?;
        let (from, to) = args.rects()?;
        let source = src.range(from.start(), from.end() - from.start())?;
        let target = dst.range(to.start(), to.end() - to.start())?;
        if Arc::ptr_eq(src, dst) {
            // "CL_INVALID_VALUE if src_buffer and dst_buffer are the same buffer object and src_slice_pitch is not
            // equal to dst_slice_pitch and src_row_pitch is not equal to dst_row_pitch." Here a difference in one of
            // the pitches is already an error, because `rect::overlap` requires equal pitches.
            ensure!(
                from.row_pitch == to.row_pitch && from.slice_pitch == to.slice_pitch,
                InvalidValue,
                "a copy within one buffer requires equal source and destination pitches"
            );
        }
        src.check_alignment(self.device())?;
        dst.check_alignment(self.device())?;
        let overlapping = if Arc::ptr_eq(src, dst) {
            rect::overlap(&from, &to)
        } else {
            Arc::ptr_eq(src.store(), dst.store()) && source.start < target.end && target.start < source.end
        };
        ensure!(!overlapping, MemCopyOverlap, "the source and the destination overlap");
        dst.flags().check_write()?;
        let operation = Operation::Copy(src.clone(), dst.clone(), rect::pieces(&from, src.origin(), &to, dst.origin()));
        let access = if to.is_dense() { AccessMode::Overwrite } else { AccessMode::Write };
        Ok(PendingCommand::new(operation, vec![buffer_access(src, source, AccessMode::Read), buffer_access(dst, target, access)]))
    }

    /// clEnqueueFillBuffer
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn fill(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        pattern: Vec<u8>,
        bytes: (u64, u64),
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_wait_list(wait_list)?;
        self.submit(CommandType::FillBuffer, self.fill_command(buffer, pattern, bytes)?, wait_list)
    }

    /// Checks the arguments of clEnqueueFillBuffer, and creates its command.
    pub(crate) fn fill_command(&self, buffer: &Arc<Buffer>, pattern: Vec<u8>, (offset, size): (u64, u64)) -> Result<PendingCommand> {
        self.check_contexts(&[buffer], &[])?;
        let range = buffer.range(offset, size)?;
        // "CL_INVALID_VALUE if ... pattern_size is not one of { 1, 2, 4, 8, 16, 32, 64, 128 }."
        let width = pattern.len() as u64;
        ensure!(
            width.is_power_of_two() && width <= 128,
            InvalidValue,
            "pattern of {width} bytes: the size must be a power of two, at most 128"
        );
        // "CL_INVALID_VALUE if offset and size are not a multiple of pattern_size."
        ensure!(
            offset.is_multiple_of(width) && size.is_multiple_of(width),
            InvalidValue,
            "offset {offset} and size {size} must be multiples of the pattern's {width} bytes"
        );
        buffer.check_alignment(self.device())?;
        buffer.flags().check_write()?;
        let operation = if size == 0 { Operation::Nop } else { Operation::Fill(buffer.clone(), pattern, range.start, size) };
        Ok(PendingCommand::new(operation, vec![buffer_access(buffer, range, AccessMode::Overwrite)]))
    }

    /// clEnqueueMapBuffer: returns the address of the mapped bytes, and the event of the map.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn map(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        flags: u64,
        (offset, size): (u64, u64),
        wait_list: &[Arc<Event>],
    ) -> Result<(usize, Arc<Event>)> {
        self.check_contexts(&[buffer], wait_list)?;
        // "CL_INVALID_VALUE if region being mapped given by (offset, size) is out of bounds or if size is 0 or if
        // values specified in map_flags are not valid."
        let range = buffer.range(offset, size)?;
        ensure!(size != 0, InvalidValue, "the mapped region has a size of 0");
        let flags = MapFlags::parse(flags)?;
        buffer.check_alignment(self.device())?;
        Self::check_blocking(blocking, wait_list)?;
        flags.check_host(buffer.flags())?;
        let pieces = vec![CopyRegion { buffer: range.start, host: 0, size }];
        self.map_pieces(CommandType::MapBuffer, &MemObject::Buffer(buffer.clone()), (range, pieces), flags, blocking, wait_list)
    }

    /// Maps bytes of an object's store; `span` and pieces are those of [`MapRecord`].
    pub(crate) fn map_pieces(
        self: &Arc<Self>,
        command: CommandType,
        object: &MemObject,
        (span, pieces): (std::ops::Range<u64>, Vec<CopyRegion>),
        flags: MapFlags,
        blocking: bool,
        wait_list: &[Arc<Event>],
    ) -> Result<(usize, Arc<Event>)> {
        let record = object.begin_map(self.device_index(), span, pieces, flags.writes())?;
        let buffer = object.buffer();
        let discard = flags.contains(MapFlags::WRITE_INVALIDATE_REGION);
        let operation = match &record.backing {
            MapBacking::Region(region) if !discard => {
                let size = record.span.end - record.span.start;
                Operation::Read(buffer.clone(), region.clone().target(record.span.start, size), record.pieces.clone())
            }
            _ => Operation::Nop,
        };
        let access = if discard && record.is_dense() { AccessMode::Overwrite } else { AccessMode::Read };
        let work = PendingCommand::new(operation, vec![object_access(object, record.span.clone(), access)]);
        // If the call fails, the application does not get the address and cannot unmap it. The map is therefore
        // removed.
        let event = self.submit_blocking(command, work, wait_list, blocking).inspect_err(|_| {
            object.end_map(record.address);
        })?;
        Ok((record.address, event))
    }

    /// clEnqueueUnmapMemObject
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn unmap(self: &Arc<Self>, object: &MemObject, address: usize, wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.unmap_as(CommandType::UnmapMemObject, object, address, wait_list)
    }

    pub(crate) fn unmap_as(
        self: &Arc<Self>,
        command: CommandType,
        object: &MemObject,
        address: usize,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let buffer = object.buffer();
        self.check_contexts(&[buffer], wait_list)?;
        // "CL_INVALID_VALUE if mapped_ptr is not a valid pointer returned by clEnqueueMapBuffer ... for memobj."
        let record = object
            .end_map(address)
            .ok_or_else(|| Error::InvalidValue("the pointer is not the address of an active map of this object".into()))?;
        let mut work = PendingCommand::nop();
        let access = if record.is_dense() { AccessMode::Overwrite } else { AccessMode::Write };
        let MapRecord { span, pieces, write, backing, .. } = record;
        match backing {
            MapBacking::Region(region) if write => {
                let source = region.source(span.start, span.end - span.start);
                work = PendingCommand::new(Operation::Write(buffer.clone(), source, pieces), vec![object_access(object, span, access)]);
            }
            MapBacking::Device(index) if write => {
                work.host_written = Some((index, object_access(object, span, AccessMode::Overwrite)));
            }
            MapBacking::Region(_) | MapBacking::Device(_) => {}
        }
        self.submit(command, work, wait_list)
    }

    /// clEnqueueMigrateMemObjects. `to_host` and `discard` are CL_MIGRATE_MEM_OBJECT_HOST and
    /// CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn migrate(self: &Arc<Self>, objects: &[MemObject], to_host: bool, discard: bool, wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        let all: Vec<_> = objects.iter().map(MemObject::buffer).collect();
        self.check_contexts(&all, wait_list)?;
        // A migration to the host copies nothing: the contents stay on their device until they are read.
        let accesses = objects
            .iter()
            .filter(|_| !to_host)
            .map(|object| {
                // A pipe must keep its contents, so `discard` has no effect on it.
                let access = if discard && !matches!(object, MemObject::Pipe(_)) { AccessMode::Overwrite } else { AccessMode::Read };
                Ok(object_access(object, object.buffer().range(0, object.size())?, access))
            })
            .collect::<Result<_>>()?;
        self.submit(CommandType::MigrateMemObjects, PendingCommand::new(Operation::Nop, accesses), wait_list)
    }
}
