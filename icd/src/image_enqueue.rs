//! Commands on images (OpenCL API 5.3.3 to 5.3.6).

use std::ffi::c_void;

use wgcl_api::commands::image_transfer::{HostPitches, ImageBox};
use wgcl_api::commands::transfer::MapFlags;
use wgcl_api::image::Image;
use wgcl_api::image::extent::Origin;
use wgcl_api::image::fill_color::color_size;
use wgcl_api::objects::memory::Buffer;
use wgcl_api::objects::queue::Queue;
use wgcl_api::types::error::Error;

use crate::check;
use crate::enqueue::triple;
use crate::event::{return_event, wait_list};
use crate::ffi::{Bytes, BytesMut, FromC, List, Out};
use crate::handles;
use crate::image;
use wgcl_opencl_headers::{cl_bool, cl_command_queue, cl_event, cl_int, cl_map_flags, cl_mem, cl_uint};

/// Returns the origin of a command on an image. The list has three elements, or four for mipmapped 3D images and 2D
/// image arrays.
pub(crate) fn origin_of(image: &Image, origin: &List<usize>) -> Result<Origin, Error> {
    let [x, y, z] = triple(origin)?;
    let level = origin.get(image.origin_elements()).get(3).map_or(0, |&level| level as u64);
    Ok([x, y, z, level])
}

/// Returns the box of a command on an image: "CL_INVALID_VALUE if origin or region is NULL."
pub(crate) fn image_box(image: &Image, origin: &List<usize>, region: &List<usize>) -> Result<ImageBox, Error> {
    Ok(ImageBox { origin: origin_of(image, origin)?, region: triple(region)? })
}

crate::entry! {
    fn clEnqueueReadImage(
        queue: cl_command_queue,
        image: cl_mem,
        blocking: cl_bool,
        origin: List<usize>,
        region: List<usize>,
        row_pitch: usize,
        slice_pitch: usize,
        ptr: BytesMut,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, image) = (handles::get::<Queue>(queue)?, image::get(image)?);
        let area = image_box(&image, &origin, &region)?;
        let pitches = HostPitches { row: row_pitch as u64, slice: slice_pitch as u64 };
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.read_image(&image, blocking != 0, area, pitches, |size| ptr.target(size), &waits)?);
        Ok(())
    }

    fn clEnqueueWriteImage(
        queue: cl_command_queue,
        image: cl_mem,
        blocking: cl_bool,
        origin: List<usize>,
        region: List<usize>,
        row_pitch: usize,
        slice_pitch: usize,
        ptr: Bytes,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, image) = (handles::get::<Queue>(queue)?, image::get(image)?);
        let area = image_box(&image, &origin, &region)?;
        let pitches = HostPitches { row: row_pitch as u64, slice: slice_pitch as u64 };
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.write_image(&image, blocking != 0, area, pitches, |size| ptr.source(size), &waits)?);
        Ok(())
    }

    fn clEnqueueFillImage(
        queue: cl_command_queue,
        image: cl_mem,
        color: Bytes,
        origin: List<usize>,
        region: List<usize>,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, image) = (handles::get::<Queue>(queue)?, image::get(image)?);
        // "CL_INVALID_VALUE if fill_color is NULL."
        check!(!color.is_null(), InvalidValue, "fill_color is null");
        let area = image_box(&image, &origin, &region)?;
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.fill_image(&image, &color.get(color_size(image.format())), area, &waits)?);
        Ok(())
    }

    fn clEnqueueCopyImage(
        queue: cl_command_queue,
        src: cl_mem,
        dst: cl_mem,
        src_origin: List<usize>,
        dst_origin: List<usize>,
        region: List<usize>,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, src, dst) = (handles::get::<Queue>(queue)?, image::get(src)?, image::get(dst)?);
        let boxes = (origin_of(&src, &src_origin)?, origin_of(&dst, &dst_origin)?, triple(&region)?);
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.copy_image(&src, &dst, boxes, &waits)?);
        Ok(())
    }

    fn clEnqueueCopyImageToBuffer(
        queue: cl_command_queue,
        src: cl_mem,
        dst: cl_mem,
        origin: List<usize>,
        region: List<usize>,
        offset: usize,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, src, dst) = (handles::get::<Queue>(queue)?, image::get(src)?, handles::get::<Buffer>(dst)?);
        let area = image_box(&src, &origin, &region)?;
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.copy_image_to_buffer(&src, &dst, area, offset as u64, &waits)?);
        Ok(())
    }

    fn clEnqueueCopyBufferToImage(
        queue: cl_command_queue,
        src: cl_mem,
        dst: cl_mem,
        offset: usize,
        origin: List<usize>,
        region: List<usize>,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, src, dst) = (handles::get::<Queue>(queue)?, handles::get::<Buffer>(src)?, image::get(dst)?);
        let area = image_box(&dst, &origin, &region)?;
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.copy_buffer_to_image(&src, &dst, offset as u64, area, &waits)?);
        Ok(())
    }
}

/// `clEnqueueMapImage`. Not declared with [`entry!`](crate::entry), because it returns an address instead of an object.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clEnqueueMapImage(
    queue: cl_command_queue,
    image: cl_mem,
    blocking: cl_bool,
    flags: cl_map_flags,
    origin: *const usize,
    region: *const usize,
    row_pitch: *mut usize,
    slice_pitch: *mut usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
    errcode_ret: *mut cl_int,
) -> *mut c_void {
    // SAFETY: arguments of a call from C, as in all entry points.
    let (origin, region, waits) = unsafe { (List::from_c(origin), List::from_c(region), List::from_c(waits)) };
    // SAFETY: as above.
    let (row_pitch, slice_pitch, event) = unsafe { (Out::from_c(row_pitch), Out::from_c(slice_pitch), Out::from_c(event)) };
    crate::ffi::pointer("clEnqueueMapImage", errcode_ret, |_| {
        let (queue, image) = (handles::get::<Queue>(queue)?, image::get(image)?);
        let area = image_box(&image, &origin, &region)?;
        // Check the map flags before the pitch pointers: the conformance tests pass null pointers in maps that the
        // flags of the image do not permit.
        MapFlags::parse(flags)?.check_host(image.flags())?;
        // "CL_INVALID_VALUE if image_row_pitch is NULL [or] if image is a 3D image, 1D or 2D image array object and
        // image_slice_pitch is NULL."
        check!(!row_pitch.is_null(), InvalidValue, "the pointer for the row pitch is null");
        let slices = image.image_type().has_slices();
        check!(!slices || !slice_pitch.is_null(), InvalidValue, "the pointer for the slice pitch is null");
        let waits = wait_list(num_waits, &waits)?;
        let mapped = queue.map_image(&image, blocking != 0, flags, area, &waits)?;
        row_pitch.set(mapped.row_pitch as usize);
        slice_pitch.set(mapped.slice_pitch as usize);
        return_event(&event, mapped.event);
        Ok(std::ptr::with_exposed_provenance_mut(mapped.address))
    })
}
