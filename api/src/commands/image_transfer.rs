//! Commands on images: read, write, copy, fill, map (OpenCL API 5.3.3 to 5.3.6).
//!
//! Each command transfers boxes of the buffer that stores the image. Each command checks its arguments in the order in
//! which the specification lists its errors. The C ABI has already checked handles and null pointers.

use std::sync::Arc;

use crate::backend::{CopyRegion, HostSource, HostTarget};
use crate::commands::command::{AccessMode, BufferAccess, CommandType, Operation, PendingCommand};
use crate::commands::mapping;
use crate::commands::transfer::{MapFlags, buffer_access};
use crate::image::extent::Origin;
use crate::image::fill_color;
use crate::image::format::order;
use crate::image::{Image, MemObject};
use crate::objects::event::Event;
use crate::objects::memory::Buffer;
use crate::objects::queue::Queue;
use crate::types::error::{Error, Result, ensure};
use crate::types::rect::{self, Rect};

/// A box of an image's elements.
#[derive(Clone, Copy, Debug)]
pub struct ImageBox {
    /// The first element.
    pub origin: Origin,
    /// The number of elements in each direction.
    pub region: [u64; 3],
}

/// The pitches of a box in the application's memory.
#[derive(Clone, Copy, Debug)]
pub struct HostPitches {
    /// In bytes; 0 selects the default pitch.
    pub row: u64,
    /// In bytes; 0 selects the default pitch.
    pub slice: u64,
}

/// The result of mapping an image.
#[derive(Debug)]
pub struct MappedImage {
    /// The host address of the box's origin.
    pub address: usize,
    pub row_pitch: u64,
    /// Bytes; 0 for images without slices.
    pub slice_pitch: u64,
    /// The event of the map.
    pub event: Arc<Event>,
}

/// The byte range of a box in the store, from the first to the last byte.
fn span(image: &Image, rect: &Rect) -> Result<std::ops::Range<u64>> {
    image.buffer().range(rect.start(), rect.end() - rect.start())
}

/// Returns a box of the same extent without gaps, which starts at byte `offset`.
fn packed(rect: &Rect, offset: u64) -> Result<Rect> {
    let [width, height, depth] = rect.region;
    let too_large = || Error::InvalidValue("the region is too large".into());
    // Checks that the size fits 64 bits, so that later arithmetic cannot overflow.
    let slice = width.checked_mul(height).ok_or_else(too_large)?;
    let end = slice.checked_mul(depth).and_then(|size| size.checked_add(offset));
    end.ok_or_else(too_large)?;
    Rect::unchecked([0; 3], rect.region, width, slice)
}

impl Queue {
    fn check_image(&self, image: &Image) -> Result<()> {
        // "CL_INVALID_OPERATION if the device associated with command_queue does not support images."
        ensure!(self.device().target().language.images, InvalidOperation, "{} does not support images", self.device().name());
        // "Multi-sample OpenCL image objects cannot be used as arguments to clEnqueueReadImage, [...]. Such use will
        // return a CL_INVALID_OPERATION error."
        let samples = image.samples();
        ensure!(samples == 0, InvalidOperation, "the image has {samples} samples per element: only kernels can read it");
        // "Depth image objects with an image channel order of CL_DEPTH_STENCIL cannot be used as arguments to
        // clEnqueueReadImage, [...] and will return a CL_INVALID_OPERATION error."
        let has_stencil = image.reported_format().order == order::DEPTH_STENCIL;
        ensure!(!has_stencil, InvalidOperation, "the image has the channel order CL_DEPTH_STENCIL: only kernels can read its depths");
        image.buffer().check_alignment(self.device())
    }

    /// clEnqueueReadImage. `target` creates the host destination for a number of bytes.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn read_image(
        self: &Arc<Self>,
        image: &Arc<Image>,
        blocking: bool,
        area: ImageBox,
        pitches: HostPitches,
        target: impl FnOnce(u64) -> Result<Arc<dyn HostTarget>>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let buffer = image.buffer();
        self.check_contexts(&[buffer], wait_list)?;
        let image_rect = image.rect(area.origin, area.region)?;
        let host_rect = image.host_rect(area.region, pitches.row, pitches.slice)?;
        let target = target(host_rect.end())?;
        Self::check_blocking(blocking, wait_list)?;
        self.check_image(image)?;
        image.flags().check_host_read()?;
        let operation = Operation::Read(buffer.clone(), target, rect::pieces(&image_rect, buffer.origin(), &host_rect, 0));
        let work = PendingCommand::new(operation, vec![buffer_access(buffer, span(image, &image_rect)?, AccessMode::Read).of_image(image)]);
        self.submit_blocking(CommandType::ReadImage, work, wait_list, blocking)
    }

    /// clEnqueueWriteImage
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn write_image(
        self: &Arc<Self>,
        image: &Arc<Image>,
        blocking: bool,
        area: ImageBox,
        pitches: HostPitches,
        source: impl FnOnce(u64) -> Result<Arc<dyn HostSource>>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let buffer = image.buffer();
        self.check_contexts(&[buffer], wait_list)?;
        let image_rect = image.rect(area.origin, area.region)?;
        let host_rect = image.host_rect(area.region, pitches.row, pitches.slice)?;
        let source = source(host_rect.end())?;
        Self::check_blocking(blocking, wait_list)?;
        self.check_image(image)?;
        image.flags().check_host_write()?;
        let operation = Operation::Write(buffer.clone(), source, rect::pieces(&image_rect, buffer.origin(), &host_rect, 0));
        let work =
            PendingCommand::new(operation, vec![buffer_access(buffer, span(image, &image_rect)?, writing(&image_rect)).of_image(image)]);
        self.submit_blocking(CommandType::WriteImage, work, wait_list, blocking)
    }

    /// clEnqueueCopyImage. `boxes` contains the origin in `src`, the origin in `dst`, and the region of both.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn copy_image(
        self: &Arc<Self>,
        src: &Arc<Image>,
        dst: &Arc<Image>,
        boxes: (Origin, Origin, [u64; 3]),
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_wait_list(wait_list)?;
        self.submit(CommandType::CopyImage, self.copy_image_command(src, dst, boxes)?, wait_list)
    }

    /// Checks the arguments of clEnqueueCopyImage, and creates its command.
    pub(crate) fn copy_image_command(
        &self,
        src: &Arc<Image>,
        dst: &Arc<Image>,
        (src_origin, dst_origin, region): (Origin, Origin, [u64; 3]),
    ) -> Result<PendingCommand> {
        self.check_contexts(&[src.buffer(), dst.buffer()], &[])?;
        self.check_image(src)?;
        self.check_image(dst)?;
        // "CL_IMAGE_FORMAT_MISMATCH if src_image and dst_image do not use the same image format."
        ensure!(src.format() == dst.format(), ImageFormatMismatch, "the image formats {:x?} and {:x?} differ", src.format(), dst.format());
        let (from, to) = (src.rect(src_origin, region)?, dst.rect(dst_origin, region)?);
        dst.flags().check_write()?;
        let pieces = rect::pieces(&from, src.buffer().origin(), &to, dst.buffer().origin());
        let source = buffer_access(src.buffer(), span(src, &from)?, AccessMode::Read).of_image(src);
        let target = buffer_access(dst.buffer(), span(dst, &to)?, writing(&to)).of_image(dst);
        copy_pieces(source, target, pieces)
    }

    /// clEnqueueCopyImageToBuffer
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn copy_image_to_buffer(
        self: &Arc<Self>,
        src: &Arc<Image>,
        dst: &Arc<Buffer>,
        area: ImageBox,
        offset: u64,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_wait_list(wait_list)?;
        self.submit(CommandType::CopyImageToBuffer, self.copy_image_to_buffer_command(src, dst, area, offset)?, wait_list)
    }

    /// Checks the arguments of clEnqueueCopyImageToBuffer, and creates its command.
    pub(crate) fn copy_image_to_buffer_command(
        &self,
        src: &Arc<Image>,
        dst: &Arc<Buffer>,
        area: ImageBox,
        offset: u64,
    ) -> Result<PendingCommand> {
        self.check_contexts(&[src.buffer(), dst], &[])?;
        check_not_its_buffer(src, dst)?;
        let from = src.rect(area.origin, area.region)?;
        let to = packed(&from, offset)?;
        let target = dst.range(offset, to.end())?;
        dst.check_alignment(self.device())?;
        self.check_image(src)?;
        dst.flags().check_write()?;
        let pieces = rect::pieces(&from, src.buffer().origin(), &to, target.start);
        copy_pieces(
            buffer_access(src.buffer(), span(src, &from)?, AccessMode::Read).of_image(src),
            buffer_access(dst, target, AccessMode::Overwrite),
            pieces,
        )
    }

    /// clEnqueueCopyBufferToImage
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn copy_buffer_to_image(
        self: &Arc<Self>,
        src: &Arc<Buffer>,
        dst: &Arc<Image>,
        offset: u64,
        area: ImageBox,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_wait_list(wait_list)?;
        self.submit(CommandType::CopyBufferToImage, self.copy_buffer_to_image_command(src, dst, offset, area)?, wait_list)
    }

    /// Checks the arguments of clEnqueueCopyBufferToImage, and creates its command.
    pub(crate) fn copy_buffer_to_image_command(
        &self,
        src: &Arc<Buffer>,
        dst: &Arc<Image>,
        offset: u64,
        area: ImageBox,
    ) -> Result<PendingCommand> {
        self.check_contexts(&[src, dst.buffer()], &[])?;
        check_not_its_buffer(dst, src)?;
        let to = dst.rect(area.origin, area.region)?;
        let from = packed(&to, offset)?;
        let source = src.range(offset, from.end())?;
        src.check_alignment(self.device())?;
        self.check_image(dst)?;
        dst.flags().check_write()?;
        let pieces = rect::pieces(&from, source.start, &to, dst.buffer().origin());
        copy_pieces(
            buffer_access(src, source, AccessMode::Read),
            buffer_access(dst.buffer(), span(dst, &to)?, writing(&to)).of_image(dst),
            pieces,
        )
    }

    /// clEnqueueFillImage; `color` has [`fill_color::color_size`] bytes.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn fill_image(self: &Arc<Self>, image: &Arc<Image>, color: &[u8], area: ImageBox, wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.check_wait_list(wait_list)?;
        let (image_rect, range, element) = self.check_fill(image, color, area)?;
        let buffer = image.buffer();
        let operation = if image_rect.is_dense() {
            Operation::Fill(buffer.clone(), element, range.start, range.end - range.start)
        } else {
            // One row of elements is the source of all rows of the box.
            let count = usize::try_from(area.region[0]).map_err(|_| Error::InvalidValue("the region is too large".into()))?;
            Operation::Write(buffer.clone(), Arc::new(element.repeat(count)), rows(image, &image_rect))
        };
        let work = PendingCommand::new(operation, vec![buffer_access(buffer, range, writing(&image_rect)).of_image(image)]);
        self.submit(CommandType::FillImage, work, wait_list)
    }

    /// Checks the arguments of clEnqueueFillImage, and creates its commands. There is at least one, and each fills
    /// consecutive bytes.
    pub(crate) fn fill_image_commands(&self, image: &Arc<Image>, color: &[u8], area: ImageBox) -> Result<Vec<PendingCommand>> {
        let (image_rect, _, element) = self.check_fill(image, color, area)?;
        let buffer = image.buffer();
        let work = |row: &CopyRegion| {
            let range = row.buffer..row.buffer + row.size;
            let operation = Operation::Fill(buffer.clone(), element.clone(), row.buffer, row.size);
            PendingCommand::new(operation, vec![buffer_access(buffer, range, AccessMode::Overwrite).of_image(image)])
        };
        Ok(rows(image, &image_rect).iter().map(work).collect())
    }

    fn check_fill(&self, image: &Arc<Image>, color: &[u8], area: ImageBox) -> Result<(Rect, std::ops::Range<u64>, Vec<u8>)> {
        self.check_contexts(&[image.buffer()], &[])?;
        let image_rect = image.rect(area.origin, area.region)?;
        self.check_image(image)?;
        image.flags().check_write()?;
        Ok((image_rect, span(image, &image_rect)?, fill_color::element(image.format(), color)))
    }

    /// clEnqueueMapImage
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn map_image(
        self: &Arc<Self>,
        image: &Arc<Image>,
        blocking: bool,
        flags: u64,
        area: ImageBox,
        wait_list: &[Arc<Event>],
    ) -> Result<MappedImage> {
        let buffer = image.buffer();
        self.check_contexts(&[buffer], wait_list)?;
        let image_rect = image.rect(area.origin, area.region)?;
        let flags = MapFlags::parse(flags)?;
        Self::check_blocking(blocking, wait_list)?;
        self.check_image(image)?;
        flags.check_host(image.flags())?;
        let range = span(image, &image_rect)?;
        // The host's copy has the pitches of the image's memory.
        let host_rect = Rect { origin: [0; 3], ..image_rect };
        let pieces = rect::pieces(&image_rect, buffer.origin(), &host_rect, 0);
        let object = MemObject::Image(image.clone());
        let (address, event) = self.map_pieces(CommandType::MapImage, &object, (range, pieces), flags, blocking, wait_list)?;
        let (row_pitch, slice_pitch) = image.pitches(area.origin)?;
        Ok(MappedImage { address, row_pitch, slice_pitch, event })
    }
}

/// Returns one copy region for each row of a box. Each region copies from the start of the host memory. A box without
/// gaps is one region.
fn rows(image: &Image, rect: &Rect) -> Vec<CopyRegion> {
    let origin = image.buffer().origin();
    if rect.is_dense() {
        return vec![CopyRegion { buffer: rect.start() + origin, host: 0, size: rect.end() - rect.start() }];
    }
    rect::pieces(rect, origin, &Rect { origin: [0; 3], region: rect.region, row_pitch: 0, slice_pitch: 0 }, 0)
}

/// Creates a copy command. Fails if source and target overlap.
fn copy_pieces(source: BufferAccess, target: BufferAccess, pieces: Vec<CopyRegion>) -> Result<PendingCommand> {
    // "CL_MEM_COPY_OVERLAP if src_image and dst_image are the same image object and the source and destination regions
    // overlap". The check also covers different objects that share memory.
    let overlaps = Arc::ptr_eq(source.buffer.store(), target.buffer.store())
        && source.range.start < target.range.end
        && target.range.start < source.range.end
        && mapping::overlap(pieces.iter().map(|p| (p.buffer, p.size)), pieces.iter().map(|p| (p.host, p.size)));
    ensure!(!overlaps, MemCopyOverlap, "the source and the destination overlap");
    let operation = Operation::Copy(source.buffer.clone(), target.buffer.clone(), pieces);
    Ok(PendingCommand::new(operation, vec![source, target]))
}

/// Returns the access mode of a command that writes a box.
fn writing(rect: &Rect) -> AccessMode {
    if rect.is_dense() { AccessMode::Overwrite } else { AccessMode::Write }
}

/// "CL_INVALID_MEM_OBJECT if src_image is a 1D image buffer object created from dst_buffer."
fn check_not_its_buffer(image: &Image, buffer: &Arc<Buffer>) -> Result<()> {
    let made_from = matches!(image.source(), Some(MemObject::Buffer(source)) if Arc::ptr_eq(source, buffer));
    ensure!(
        !made_from || image.image_type() != crate::image::image_type::ImageType::Image1dBuffer,
        InvalidMemObject,
        "the image was created from this buffer"
    );
    Ok(())
}
