//! Images: creation and rejected arguments, queries, memory that images share with other objects, host pointers,
//! samplers, kernel arguments. If the device has no images, every test except for the first one returns early.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use common::ffi::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_NONE, CL_ADDRESS_REPEAT, CL_BGRA, CL_COMMAND_MAP_IMAGE, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE,
    CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, CL_DEVICE_IMAGE_PITCH_ALIGNMENT, CL_DEVICE_IMAGE2D_MAX_HEIGHT, CL_DEVICE_IMAGE2D_MAX_WIDTH,
    CL_DEVICE_IMAGE3D_MAX_DEPTH, CL_DEVICE_IMAGE3D_MAX_HEIGHT, CL_DEVICE_IMAGE3D_MAX_WIDTH, CL_DEVICE_MAX_READ_IMAGE_ARGS,
    CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, CL_DEVICE_MAX_SAMPLERS, CL_DEVICE_MAX_WRITE_IMAGE_ARGS, CL_EVENT_COMMAND_TYPE, CL_FALSE,
    CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_FLOAT, CL_HALF_FLOAT, CL_IMAGE_ARRAY_SIZE, CL_IMAGE_BUFFER, CL_IMAGE_DEPTH,
    CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_FORMAT, CL_IMAGE_FORMAT_NOT_SUPPORTED, CL_IMAGE_HEIGHT, CL_IMAGE_NUM_MIP_LEVELS, CL_IMAGE_NUM_SAMPLES,
    CL_IMAGE_ROW_PITCH, CL_IMAGE_SLICE_PITCH, CL_IMAGE_WIDTH, CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE, CL_INVALID_CONTEXT,
    CL_INVALID_HOST_PTR, CL_INVALID_IMAGE_DESCRIPTOR, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, CL_INVALID_IMAGE_SIZE, CL_INVALID_MEM_OBJECT,
    CL_INVALID_OPERATION, CL_INVALID_SAMPLER, CL_INVALID_VALUE, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_CONTEXT,
    CL_MEM_COPY_HOST_PTR, CL_MEM_FLAGS, CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_PTR, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY,
    CL_MEM_KERNEL_READ_AND_WRITE, CL_MEM_MAP_COUNT, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER,
    CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D, CL_MEM_OFFSET, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE,
    CL_MEM_REFERENCE_COUNT, CL_MEM_SIZE, CL_MEM_TYPE, CL_MEM_USE_HOST_PTR, CL_MEM_WRITE_ONLY, CL_R, CL_RGB, CL_RGBA,
    CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_CONTEXT, CL_SAMPLER_FILTER_MODE, CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_PROPERTIES,
    CL_SAMPLER_REFERENCE_COUNT, CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32, CL_SUCCESS, CL_TRUE, CL_UNORM_INT8, CL_UNORM_INT16,
    CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, CL_sRGBA, cl_image_desc, cl_image_format, cl_int, cl_mem, cl_uint,
};
use common::images::{Area, KINDS, Model, Pitches, desc, extent, format, formats, image, image_info, read, supported, try_image, write};
use common::objects::{Context, Event, Mem, Queue, Sampler};
use common::{info, info_bytes, target};

const RGBA8: cl_image_format = format(CL_RGBA, CL_UNSIGNED_INT8);

fn device_info<T: Copy + Default>(name: cl_uint) -> T {
    let target = target();
    info(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret)).expect("an answer")
}

fn mem_info<T: Copy + Default>(mem: &Mem, name: cl_uint) -> Result<T, cl_int> {
    info(|size, value, ret| target().cl.clGetMemObjectInfo(mem.0, name, size, value, ret))
}

fn creation_status(context: &Context, flags: u64, format: cl_image_format, desc: &cl_image_desc, host: *mut c_void) -> cl_int {
    try_image(context, flags, &format, desc, host).err().unwrap_or(CL_SUCCESS)
}

#[test]
fn a_device_without_images_reports_it() {
    let context = Context::new();
    if supported() {
        return;
    }
    let desc = desc(CL_MEM_OBJECT_IMAGE2D, [4, 4, 1]);
    assert_eq!(creation_status(&context, 0, RGBA8, &desc, null_mut()), CL_INVALID_OPERATION);
    assert!(formats(&context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D).is_empty());
    let mut status = 1;
    assert!(target().cl.clCreateSampler(context.0, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &mut status).is_null());
    assert_eq!(status, CL_INVALID_OPERATION);
    assert_eq!(device_info::<cl_uint>(CL_DEVICE_MAX_READ_IMAGE_ARGS), 0);
}

#[test]
fn limits_satisfy_the_full_profile() {
    if !supported() {
        return;
    }
    for name in [CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT] {
        assert!(device_info::<usize>(name) >= 16384);
    }
    for name in [CL_DEVICE_IMAGE3D_MAX_WIDTH, CL_DEVICE_IMAGE3D_MAX_HEIGHT, CL_DEVICE_IMAGE3D_MAX_DEPTH, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE] {
        assert!(device_info::<usize>(name) >= 2048);
    }
    assert!(device_info::<usize>(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE) >= 65536);
    assert!(device_info::<cl_uint>(CL_DEVICE_MAX_READ_IMAGE_ARGS) >= 128);
    assert!(device_info::<cl_uint>(CL_DEVICE_MAX_WRITE_IMAGE_ARGS) >= 64);
    assert!(device_info::<cl_uint>(CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS) >= 64);
    assert!(device_info::<cl_uint>(CL_DEVICE_MAX_SAMPLERS) >= 16);
    assert!(device_info::<cl_uint>(CL_DEVICE_IMAGE_PITCH_ALIGNMENT).is_power_of_two());
}

#[test]
fn required_formats_are_listed_and_can_be_created() {
    if !supported() {
        return;
    }
    let context = Context::new();
    let types = [
        CL_UNORM_INT8,
        CL_UNORM_INT16,
        CL_SIGNED_INT8,
        CL_SIGNED_INT16,
        CL_SIGNED_INT32,
        CL_UNSIGNED_INT8,
        CL_UNSIGNED_INT16,
        CL_UNSIGNED_INT32,
        CL_HALF_FLOAT,
        CL_FLOAT,
    ];
    for kind in KINDS {
        for flags in [CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE, 0, CL_MEM_KERNEL_READ_AND_WRITE] {
            let listed = formats(&context, flags, kind);
            assert!(types.iter().all(|&ty| listed.contains(&format(CL_RGBA, ty))), "{kind:#x} {flags:#x}");
            assert!(listed.contains(&format(CL_BGRA, CL_UNORM_INT8)));
            if flags == CL_MEM_KERNEL_READ_AND_WRITE {
                assert!(types.iter().filter(|&&ty| ty != CL_UNORM_INT16).all(|&ty| listed.contains(&format(CL_R, ty))));
            }
            for format in listed {
                let image = image(&context, flags & !CL_MEM_KERNEL_READ_AND_WRITE, format, &desc(kind, [3, 2, 2]), null_mut());
                assert_eq!(
                    image_info(image.0, CL_IMAGE_FORMAT),
                    Ok(format.image_channel_order as u64 | u64::from(format.image_channel_data_type) << 32)
                );
            }
        }
    }
    let cl = &target().cl;
    let mut one = cl_image_format::default();
    assert_eq!(cl.clGetSupportedImageFormats(context.0, CL_MEM_READ_ONLY, 0x10F0, 1, &mut one, null_mut()), CL_INVALID_VALUE);
    assert_eq!(cl.clGetSupportedImageFormats(context.0, 1 << 40, CL_MEM_OBJECT_IMAGE2D, 1, &mut one, null_mut()), CL_INVALID_VALUE);
    assert_eq!(cl.clGetSupportedImageFormats(context.0, 0, CL_MEM_OBJECT_IMAGE2D, 0, &mut one, null_mut()), CL_INVALID_VALUE);
    assert_eq!(cl.clGetSupportedImageFormats(null_mut(), 0, CL_MEM_OBJECT_IMAGE2D, 1, &mut one, null_mut()), CL_INVALID_CONTEXT);
}

#[test]
fn invalid_creation_is_rejected() {
    if !supported() {
        return;
    }
    let context = Context::new();
    let flat = desc(CL_MEM_OBJECT_IMAGE2D, [8, 4, 1]);
    let deep = desc(CL_MEM_OBJECT_IMAGE3D, [8, 4, 2]);
    let mut data = vec![0u8; 4096];
    let host = data.as_mut_ptr().cast();
    let none = null_mut();
    let with = |change: &dyn Fn(&mut cl_image_desc)| {
        let mut changed = flat;
        change(&mut changed);
        changed
    };
    let cl = &target().cl;
    let mut status = 1;
    assert!(cl.clCreateImage(null_mut(), 0, &RGBA8, &flat, none, &mut status).is_null());
    assert_eq!(status, CL_INVALID_CONTEXT);
    assert_eq!(creation_status(&context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, RGBA8, &flat, none), CL_INVALID_VALUE);
    assert_eq!(creation_status(&context, 1 << 40, RGBA8, &flat, none), CL_INVALID_VALUE);
    assert_eq!(try_image(&context, 0, null(), &flat, none).err(), Some(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR));
    assert_eq!(creation_status(&context, 0, format(CL_RGBA, 1), &flat, none), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_eq!(creation_status(&context, 0, format(CL_RGBA + 0x1_0000, CL_FLOAT), &flat, none), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_eq!(creation_status(&context, 0, format(CL_RGB, CL_UNORM_INT8), &flat, none), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_eq!(creation_status(&context, 0, format(CL_BGRA, CL_FLOAT), &flat, none), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_eq!(try_image(&context, 0, &RGBA8, null(), none).err(), Some(CL_INVALID_IMAGE_DESCRIPTOR));
    assert_eq!(creation_status(&context, 0, RGBA8, &with(&|d| d.image_type = 0x10F0), none), CL_INVALID_IMAGE_DESCRIPTOR);
    assert_eq!(creation_status(&context, 0, RGBA8, &with(&|d| d.num_samples = 2), none), CL_INVALID_IMAGE_DESCRIPTOR);
    assert_eq!(creation_status(&context, 0, RGBA8, &with(&|d| d.num_mip_levels = 33), none), CL_INVALID_IMAGE_DESCRIPTOR);
    // The pitches must be 0 without a host pointer. Otherwise, they must be large enough, and multiples of the element
    // size.
    assert_eq!(creation_status(&context, 0, RGBA8, &with(&|d| d.image_row_pitch = 32), none), CL_INVALID_IMAGE_DESCRIPTOR);
    for pitch in [28, 33, 34] {
        assert_eq!(
            creation_status(&context, CL_MEM_COPY_HOST_PTR, RGBA8, &with(&|d| d.image_row_pitch = pitch), host),
            CL_INVALID_IMAGE_DESCRIPTOR
        );
    }
    for slice in [64, 127, 160 + 8] {
        let crooked = cl_image_desc { image_slice_pitch: slice, ..deep };
        assert_eq!(creation_status(&context, CL_MEM_COPY_HOST_PTR, RGBA8, &crooked, host), CL_INVALID_IMAGE_DESCRIPTOR, "{slice}");
    }
    // Invalid sizes must be rejected.
    for change in [[0, 4, 1], [4, 0, 1], [usize::MAX, 4, 1], [device_info::<usize>(CL_DEVICE_IMAGE2D_MAX_WIDTH) + 1, 1, 1]] {
        assert_eq!(creation_status(&context, 0, RGBA8, &desc(CL_MEM_OBJECT_IMAGE2D, change), none), CL_INVALID_IMAGE_SIZE, "{change:?}");
    }
    let layers = device_info::<usize>(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
    assert_eq!(creation_status(&context, 0, RGBA8, &desc(CL_MEM_OBJECT_IMAGE3D, [4, 4, 0]), none), CL_INVALID_IMAGE_SIZE);
    assert_eq!(creation_status(&context, 0, RGBA8, &desc(CL_MEM_OBJECT_IMAGE2D_ARRAY, [4, 4, layers + 1]), none), CL_INVALID_IMAGE_SIZE);
    assert_eq!(creation_status(&context, 0, RGBA8, &desc(CL_MEM_OBJECT_IMAGE1D_ARRAY, [4, 0, 0]), none), CL_INVALID_IMAGE_SIZE);
    // Host pointers that do not match the flags must be rejected.
    assert_eq!(creation_status(&context, 0, RGBA8, &flat, host), CL_INVALID_HOST_PTR);
    assert_eq!(creation_status(&context, CL_MEM_COPY_HOST_PTR, RGBA8, &flat, none), CL_INVALID_HOST_PTR);
    assert_eq!(creation_status(&context, CL_MEM_USE_HOST_PTR, RGBA8, &flat, none), CL_INVALID_HOST_PTR);
    // CL_Rx is a valid channel order, but devices need not support it.
    assert_eq!(creation_status(&context, 0, format(0x10BA, CL_UNORM_INT8), &flat, none), CL_IMAGE_FORMAT_NOT_SUPPORTED);
    // The following images are created from other objects.
    let buffer = context.buffer_with(CL_MEM_READ_ONLY, 256, null_mut());
    let of = |mem: &Mem, mut d: cl_image_desc| {
        d.mem_object = mem.0.cast();
        d
    };
    let line = of(&buffer, desc(CL_MEM_OBJECT_IMAGE1D_BUFFER, [64, 0, 0]));
    assert_eq!(creation_status(&context, 0, RGBA8, &line, none), CL_SUCCESS);
    assert_eq!(creation_status(&context, CL_MEM_READ_WRITE, RGBA8, &line, none), CL_INVALID_VALUE, "the buffer is read-only");
    assert_eq!(creation_status(&context, CL_MEM_COPY_HOST_PTR, RGBA8, &line, host), CL_INVALID_VALUE);
    assert_eq!(creation_status(&context, 0, RGBA8, &cl_image_desc { image_width: 65, ..line }, none), CL_INVALID_IMAGE_SIZE);
    // The row pitch of a 1D image affects only the required size of the buffer.
    let pitch = |image_row_pitch| cl_image_desc { image_width: 60, image_row_pitch, ..line };
    assert_eq!(creation_status(&context, 0, RGBA8, &pitch(256), none), CL_SUCCESS);
    assert_eq!(creation_status(&context, 0, RGBA8, &pitch(260), none), CL_INVALID_IMAGE_SIZE);
    for crooked in [236, 242] {
        assert_eq!(creation_status(&context, 0, RGBA8, &pitch(crooked), none), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    }
    assert_eq!(creation_status(&context, 0, RGBA8, &cl_image_desc { mem_object: null_mut(), ..line }, none), CL_INVALID_IMAGE_DESCRIPTOR);
    // cl_ext_image_from_buffer permits images of these types from buffers.
    let any = if target().is_wgcl() { CL_SUCCESS } else { CL_INVALID_IMAGE_DESCRIPTOR };
    assert_eq!(creation_status(&context, 0, RGBA8, &of(&buffer, desc(CL_MEM_OBJECT_IMAGE1D, [4, 0, 0])), none), any);
    assert_eq!(creation_status(&context, 0, RGBA8, &with(&|d| d.mem_object = host.cast()), none), CL_INVALID_IMAGE_DESCRIPTOR);
    assert_eq!(creation_status(&context, 0, RGBA8, &of(&buffer, desc(CL_MEM_OBJECT_IMAGE2D, [8, 9, 1])), none), CL_INVALID_IMAGE_SIZE);
    let crooked = cl_image_desc { image_row_pitch: 33, ..of(&buffer, flat) };
    assert_eq!(creation_status(&context, 0, RGBA8, &crooked, none), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    // The older functions take pitches and depths as separate arguments.
    assert!(cl.clCreateImage2D(context.0, 0, &RGBA8, 8, 4, 32, none, &mut status).is_null());
    assert_eq!(status, CL_INVALID_IMAGE_SIZE);
    assert!(cl.clCreateImage3D(context.0, 0, &RGBA8, 8, 4, 1, 0, 0, none, &mut status).is_null());
    assert_eq!(status, CL_INVALID_IMAGE_SIZE);
    assert!(cl.clCreateImageWithProperties(context.0, [1, 1, 0].as_ptr(), 0, &RGBA8, &flat, none, &mut status).is_null());
    assert_eq!(status, common::ffi::CL_INVALID_PROPERTY);
}

#[test]
fn image_queries_are_answered() {
    if !supported() {
        return;
    }
    let context = Context::new();
    let mut data = vec![0u8; 1 << 16];
    for kind in KINDS {
        for (row, slices) in [(0, 0), (40, 0), (40, 4)] {
            let mut form = desc(kind, [7, 3, 5]);
            let slices = if kind == CL_MEM_OBJECT_IMAGE1D_BUFFER { 0 } else { slices };
            let row = if kind == CL_MEM_OBJECT_IMAGE1D_BUFFER { 0 } else { row };
            form.image_row_pitch = row;
            form.image_slice_pitch = row * slices;
            let (flags, host) = if row == 0 { (0, null_mut()) } else { (CL_MEM_COPY_HOST_PTR, data.as_mut_ptr().cast()) };
            let image = image(&context, flags, RGBA8, &form, host);
            let ask = |name| image_info::<usize>(image.0, name).expect("an answer");
            let row = if row == 0 { 28 } else { row };
            let [has_height, has_depth] = match kind {
                CL_MEM_OBJECT_IMAGE2D | CL_MEM_OBJECT_IMAGE2D_ARRAY => [true, false],
                CL_MEM_OBJECT_IMAGE3D => [true, true],
                _ => [false, false],
            };
            let is_array = matches!(kind, CL_MEM_OBJECT_IMAGE1D_ARRAY | CL_MEM_OBJECT_IMAGE2D_ARRAY);
            let layers = if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { 3 } else { 5 };
            let least = if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { row } else { row * 3 };
            let slice = if slices == 0 { least } else { row * slices };
            assert_eq!(ask(CL_IMAGE_ELEMENT_SIZE), 4);
            assert_eq!(ask(CL_IMAGE_WIDTH), 7);
            assert_eq!(ask(CL_IMAGE_HEIGHT), if has_height { 3 } else { 0 });
            assert_eq!(ask(CL_IMAGE_DEPTH), if has_depth { 5 } else { 0 });
            assert_eq!(ask(CL_IMAGE_ARRAY_SIZE), if is_array { layers } else { 0 });
            assert_eq!(ask(CL_IMAGE_ROW_PITCH), row);
            assert_eq!(ask(CL_IMAGE_SLICE_PITCH), if is_array || has_depth { slice } else { 0 }, "{kind:#x}");
            assert_eq!(image_info(image.0, CL_IMAGE_NUM_MIP_LEVELS), Ok(0u32));
            assert_eq!(image_info(image.0, CL_IMAGE_NUM_SAMPLES), Ok(0u32));
            assert_eq!(image_info::<u32>(image.0, 0xdead), Err(CL_INVALID_VALUE));
            assert_eq!(image_info::<u32>(image.0, CL_IMAGE_WIDTH), Err(CL_INVALID_VALUE), "the buffer is too small");
            assert_eq!(mem_info(&image, CL_MEM_TYPE), Ok(kind));
            assert_eq!(mem_info(&image, CL_MEM_FLAGS), Ok(flags | CL_MEM_READ_WRITE));
            assert_eq!(mem_info(&image, CL_MEM_CONTEXT), Ok(context.0 as usize));
            assert_eq!(mem_info(&image, CL_MEM_MAP_COUNT), Ok(0u32));
            assert_eq!(mem_info(&image, CL_MEM_OFFSET), Ok(0usize));
            assert_eq!(mem_info(&image, CL_MEM_HOST_PTR), Ok(0usize));
            let buffer: usize = image_info(image.0, CL_IMAGE_BUFFER).expect("the buffer");
            assert_eq!(buffer != 0, kind == CL_MEM_OBJECT_IMAGE1D_BUFFER);
            assert_eq!(mem_info(&image, CL_MEM_ASSOCIATED_MEMOBJECT), Ok(buffer));
            assert!(mem_info::<usize>(&image, CL_MEM_SIZE).expect("the size") >= 4 * extent(&form).iter().product::<usize>());
            assert_eq!(mem_info(&image, CL_MEM_REFERENCE_COUNT), Ok(1u32));
            assert_eq!(target().cl.clRetainMemObject(image.0), CL_SUCCESS);
            assert_eq!(mem_info(&image, CL_MEM_REFERENCE_COUNT), Ok(2u32));
            assert_eq!(target().cl.clReleaseMemObject(image.0), CL_SUCCESS);
        }
    }
    let buffer = context.buffer(64);
    assert_eq!(image_info::<usize>(buffer.0, CL_IMAGE_WIDTH), Err(CL_INVALID_MEM_OBJECT));
}

#[test]
fn host_pointers_use_the_pitches_of_the_application() {
    if !supported() {
        return;
    }
    let (context, cl) = (Context::new(), &target().cl);
    let queue = context.queue(0);
    for kind in KINDS {
        if kind == CL_MEM_OBJECT_IMAGE1D_BUFFER {
            continue;
        }
        for flags in [CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR] {
            let mut form = desc(kind, [5, 4, 3]);
            form.image_row_pitch = 28;
            let slices = !matches!(kind, CL_MEM_OBJECT_IMAGE1D | CL_MEM_OBJECT_IMAGE2D);
            form.image_slice_pitch = if slices { 28 * 6 } else { 0 };
            let pitches =
                if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { Pitches { row: 28 * 6, slice: 0 } } else { Pitches { row: 28, slice: 28 * 6 } };
            let mut data: Vec<u8> = (0..28 * 6 * 4).map(|n| n as u8).collect();
            let mut model = Model::new(4, extent(&form), |_| 0);
            let whole = model.whole();
            model.put(whole, pitches, &data);
            let host = data.as_mut_ptr();
            let image = image(&context, flags, RGBA8, &form, host.cast());
            assert_eq!(read(&queue, &image, whole, 4), model.bytes, "{kind:#x}");
            let used = flags == CL_MEM_USE_HOST_PTR;
            assert_eq!(mem_info(&image, CL_MEM_HOST_PTR), Ok(if used { host as usize } else { 0 }));
            // A map of two elements returns the device's contents. The mapping is in the application's memory if the
            // image uses that memory.
            let region: [usize; 3] = std::array::from_fn(|dim| if dim == 0 { 2 } else { 1 });
            let area = Area { origin: std::array::from_fn(|dim| whole.region[dim] - region[dim]), region };
            write(&queue, &image, area, &[200, 201, 202, 203, 204, 205, 206, 207]);
            let (mut row, mut slice, mut status, mut event) = (0, 0, 1, null_mut());
            let pointer = cl.clEnqueueMapImage(
                queue.0,
                image.0,
                CL_TRUE,
                CL_MAP_READ | CL_MAP_WRITE,
                area.origin.as_ptr(),
                area.region.as_ptr(),
                &mut row,
                &mut slice,
                0,
                null(),
                &mut event,
                &mut status,
            );
            assert_eq!(status, CL_SUCCESS);
            let event = Event(event);
            let command = info(|size, value, ret| cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_TYPE, size, value, ret));
            assert_eq!(command, Ok(CL_COMMAND_MAP_IMAGE));
            assert_eq!(mem_info(&image, CL_MEM_MAP_COUNT), Ok(1u32));
            assert_eq!((row, slice), (28, if slices { 28 * 6 } else { 0 }));
            let start = area.origin[0] * 4 + area.origin[1] * pitches.row + area.origin[2] * pitches.slice;
            if used {
                assert_eq!(pointer as usize, host as usize + start);
            }
            // SAFETY: eight bytes were mapped.
            let seen = unsafe { std::slice::from_raw_parts_mut(pointer.cast::<u8>(), 8) };
            assert_eq!(seen, [200, 201, 202, 203, 204, 205, 206, 207]);
            seen[0] = 9;
            let nowhere = data.as_mut_ptr().wrapping_add(3).cast();
            assert_eq!(cl.clEnqueueUnmapMemObject(queue.0, image.0, nowhere, 0, null(), null_mut()), CL_INVALID_VALUE);
            assert_eq!(cl.clEnqueueUnmapMemObject(queue.0, image.0, pointer, 0, null(), null_mut()), CL_SUCCESS);
            assert_eq!(read(&queue, &image, area, 4), [9, 201, 202, 203, 204, 205, 206, 207]);
            assert_eq!(mem_info(&image, CL_MEM_MAP_COUNT), Ok(0u32));
        }
    }
}

#[test]
fn images_share_the_memory_of_their_parent() {
    if !supported() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let bytes: Vec<u8> = (0..1024u32).map(|n| (n % 251) as u8).collect();
    let buffer = context.buffer(1024);
    queue.write(&buffer, &bytes);
    let line = cl_image_desc { mem_object: buffer.0.cast(), ..desc(CL_MEM_OBJECT_IMAGE1D_BUFFER, [100, 0, 0]) };
    let line = image(&context, 0, RGBA8, &line, null_mut());
    let part = Area { origin: [3, 0, 0], region: [4, 1, 1] };
    assert_eq!(read(&queue, &line, part, 4), bytes[12..28]);
    write(&queue, &line, part, &[1; 16]);
    assert_eq!(queue.read::<u8>(&buffer, 28)[11..], [[11].as_slice(), &[1; 16]].concat());
    // Create a 2D image with a pitch that the application chooses.
    let flat = cl_image_desc { mem_object: buffer.0.cast(), image_row_pitch: 64, ..desc(CL_MEM_OBJECT_IMAGE2D, [9, 5, 1]) };
    let flat = image(&context, CL_MEM_READ_ONLY, format(CL_RGBA, CL_UNORM_INT8), &flat, null_mut());
    assert_eq!(image_info(flat.0, CL_IMAGE_ROW_PITCH), Ok(64usize));
    assert_eq!(image_info(flat.0, CL_IMAGE_BUFFER), Ok(buffer.0 as usize));
    assert_eq!(mem_info(&flat, CL_MEM_ASSOCIATED_MEMOBJECT), Ok(buffer.0 as usize));
    let corner = Area { origin: [8, 4, 0], region: [1, 1, 1] };
    assert_eq!(read(&queue, &flat, corner, 4), bytes[4 * 64 + 32..4 * 64 + 36]);
    // `srgb` is an image with the same elements as `flat`, interpreted as sRGB.
    let view = cl_image_desc { mem_object: flat.0.cast(), ..desc(CL_MEM_OBJECT_IMAGE2D, [9, 5, 1]) };
    let srgb = image(&context, 0, format(CL_sRGBA, CL_UNORM_INT8), &view, null_mut());
    assert_eq!(mem_info(&srgb, CL_MEM_ASSOCIATED_MEMOBJECT), Ok(flat.0 as usize));
    assert_eq!(image_info(srgb.0, CL_IMAGE_ROW_PITCH), Ok(64usize));
    assert_eq!(mem_info(&srgb, CL_MEM_FLAGS), Ok(CL_MEM_READ_ONLY), "inherited");
    assert_eq!(read(&queue, &srgb, corner, 4), bytes[4 * 64 + 32..4 * 64 + 36]);
    write(&queue, &srgb, corner, &[5, 6, 7, 8]);
    assert_eq!(read(&queue, &flat, corner, 4), [5, 6, 7, 8]);
    for wrong in [format(CL_BGRA, CL_UNORM_INT8), format(CL_RGBA, CL_SIGNED_INT8)] {
        assert_eq!(creation_status(&context, 0, wrong, &view, null_mut()), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    }
    let narrower = cl_image_desc { image_width: 8, ..view };
    assert_eq!(creation_status(&context, 0, format(CL_sRGBA, CL_UNORM_INT8), &narrower, null_mut()), CL_INVALID_IMAGE_DESCRIPTOR);
    let volume = cl_image_desc { mem_object: flat.0.cast(), ..desc(CL_MEM_OBJECT_IMAGE3D, [9, 5, 1]) };
    assert_eq!(creation_status(&context, 0, format(CL_sRGBA, CL_UNORM_INT8), &volume, null_mut()), CL_INVALID_IMAGE_DESCRIPTOR);
    // The image retains its parent objects.
    drop(buffer);
    drop(flat);
    assert_eq!(read(&queue, &srgb, corner, 4), [5, 6, 7, 8]);
}

static DEATHS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

unsafe extern "C" fn died(_: cl_mem, data: *mut c_void) {
    DEATHS.lock().expect("the list").push(data as usize);
}

#[test]
fn destructors_run_in_reverse_order() {
    if !supported() {
        return;
    }
    let context = Context::new();
    let image = image(&context, 0, RGBA8, &desc(CL_MEM_OBJECT_IMAGE2D, [4, 4, 1]), null_mut());
    for number in 1..=3usize {
        let status = target().cl.clSetMemObjectDestructorCallback(image.0, Some(died), std::ptr::without_provenance_mut(number));
        assert_eq!(status, CL_SUCCESS);
    }
    assert_eq!(target().cl.clSetMemObjectDestructorCallback(image.0, None, null_mut()), CL_INVALID_VALUE);
    drop(image);
    let end = Instant::now() + Duration::from_secs(10);
    while DEATHS.lock().expect("the list").len() < 3 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(*DEATHS.lock().expect("the list"), [3, 2, 1]);
}

static LATE_DEATHS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn died_late(_: cl_mem, _: *mut c_void) {
    LATE_DEATHS.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn an_image_lives_until_its_commands_are_done() {
    if !supported() {
        return;
    }
    let (context, cl) = (Context::new(), &target().cl);
    let queue = context.queue(0);
    let mut status = 1;
    let gate = Event(cl.clCreateUserEvent(context.0, &mut status));
    let image = image(&context, 0, RGBA8, &desc(CL_MEM_OBJECT_IMAGE2D, [4, 4, 1]), null_mut());
    assert_eq!(cl.clSetMemObjectDestructorCallback(image.0, Some(died_late), null_mut()), CL_SUCCESS);
    let (color, origin, region) = ([1u32; 4], [0usize; 3], [2usize, 2, 1]);
    let (at, size) = (origin.as_ptr(), region.as_ptr());
    assert_eq!(cl.clEnqueueFillImage(queue.0, image.0, color.as_ptr().cast(), at, size, 1, &gate.0, null_mut()), CL_SUCCESS);
    drop(image);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(LATE_DEATHS.load(Ordering::SeqCst), 0, "the fill waits");
    assert_eq!(cl.clSetUserEventStatus(gate.0, 0), CL_SUCCESS);
    queue.finish();
    let end = Instant::now() + Duration::from_secs(10);
    while LATE_DEATHS.load(Ordering::SeqCst) == 0 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(LATE_DEATHS.load(Ordering::SeqCst), 1);
}

#[test]
fn host_access_flags_are_enforced() {
    if !supported() {
        return;
    }
    let (context, cl) = (Context::new(), &target().cl);
    let queue = context.queue(0);
    let (origin, region) = ([0; 3], [1; 3]);
    let mut byte = [0u8; 16];
    let pointer = byte.as_mut_ptr().cast();
    for (flags, may_read, may_write) in
        [(CL_MEM_HOST_READ_ONLY, true, false), (CL_MEM_HOST_WRITE_ONLY, false, true), (CL_MEM_HOST_NO_ACCESS, false, false)]
    {
        let image = image(&context, flags, RGBA8, &desc(CL_MEM_OBJECT_IMAGE2D, [4, 4, 1]), null_mut());
        let expected = |may: bool| if may { CL_SUCCESS } else { CL_INVALID_OPERATION };
        let (from, size) = (origin.as_ptr(), region.as_ptr());
        let status = cl.clEnqueueReadImage(queue.0, image.0, CL_TRUE, from, size, 0, 0, pointer, 0, null(), null_mut());
        assert_eq!(status, expected(may_read));
        let status = cl.clEnqueueWriteImage(queue.0, image.0, CL_TRUE, from, size, 0, 0, pointer, 0, null(), null_mut());
        assert_eq!(status, expected(may_write));
        for (map, may) in [(CL_MAP_READ, may_read), (CL_MAP_WRITE, may_write)] {
            let (mut row, mut status) = (0, 1);
            let none = null_mut();
            let at = cl.clEnqueueMapImage(queue.0, image.0, CL_TRUE, map, from, size, &mut row, none, 0, null(), null_mut(), &mut status);
            assert_eq!(status, expected(may), "{flags:#x} {map:#x}");
            if may {
                assert_eq!(cl.clEnqueueUnmapMemObject(queue.0, image.0, at, 0, null(), null_mut()), CL_SUCCESS);
            }
        }
    }
}

fn sampler(context: &Context, properties: Option<&[u64]>) -> Result<Sampler, cl_int> {
    let mut status = 1;
    let list = properties.map_or(null(), <[u64]>::as_ptr);
    let made = target().cl.clCreateSamplerWithProperties(context.0, list, &mut status);
    assert_eq!(made.is_null(), status != CL_SUCCESS);
    if made.is_null() { Err(status) } else { Ok(Sampler(made)) }
}

#[test]
fn samplers_have_the_requested_properties() {
    if !supported() {
        return;
    }
    let (context, cl) = (Context::new(), &target().cl);
    let names = [CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE];
    let ask = |sampler: &Sampler, name| info::<cl_uint>(|size, value, ret| cl.clGetSamplerInfo(sampler.0, name, size, value, ret));
    let all = |sampler: &Sampler| names.map(|name| ask(sampler, name).expect("an answer"));
    for normalized in [CL_FALSE, CL_TRUE] {
        for addressing in CL_ADDRESS_NONE..=CL_ADDRESS_NONE + 4 {
            for filter in [CL_FILTER_NEAREST, CL_FILTER_LINEAR] {
                let mut status = 1;
                let made = Sampler(cl.clCreateSampler(context.0, normalized, addressing, filter, &mut status));
                assert_eq!(status, CL_SUCCESS);
                assert_eq!(all(&made), [normalized, addressing, filter]);
                let properties = info_bytes(|size, value, ret| cl.clGetSamplerInfo(made.0, CL_SAMPLER_PROPERTIES, size, value, ret));
                assert_eq!(properties, Ok(Vec::new()));
            }
        }
    }
    let made = sampler(&context, None).expect("a sampler");
    assert_eq!(all(&made), [CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST], "the specification's defaults");
    let [normalized, addressing, filter] = names.map(u64::from);
    let list = [filter, u64::from(CL_FILTER_LINEAR), addressing, u64::from(CL_ADDRESS_REPEAT), 0];
    let made = sampler(&context, Some(&list)).expect("a sampler");
    assert_eq!(all(&made), [CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR]);
    let properties = info_bytes(|size, value, ret| cl.clGetSamplerInfo(made.0, CL_SAMPLER_PROPERTIES, size, value, ret));
    assert_eq!(properties, Ok(list.iter().flat_map(|number| number.to_ne_bytes()).collect()));
    assert_eq!(ask(&made, CL_SAMPLER_REFERENCE_COUNT), Ok(1));
    assert_eq!(cl.clRetainSampler(made.0), CL_SUCCESS);
    assert_eq!(ask(&made, CL_SAMPLER_REFERENCE_COUNT), Ok(2));
    assert_eq!(cl.clReleaseSampler(made.0), CL_SUCCESS);
    let owner: usize = info(|size, value, ret| cl.clGetSamplerInfo(made.0, CL_SAMPLER_CONTEXT, size, value, ret)).expect("the context");
    assert_eq!(owner, context.0 as usize);
    assert_eq!(ask(&made, 0xdead), Err(CL_INVALID_VALUE));
    for wrong in [[filter, 1, 0, 0, 0], [1, 1, 0, 0, 0], [normalized, 2, 0, 0, 0], [normalized, 1, normalized, 1, 0]] {
        assert_eq!(sampler(&context, Some(&wrong)).err(), Some(CL_INVALID_VALUE), "{wrong:?}");
    }
    let mut status = 1;
    assert!(cl.clCreateSampler(context.0, CL_TRUE, CL_FILTER_NEAREST, CL_FILTER_NEAREST, &mut status).is_null());
    assert_eq!(status, CL_INVALID_VALUE);
    assert!(cl.clCreateSampler(null_mut(), CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &mut status).is_null());
    assert_eq!(status, CL_INVALID_CONTEXT);
    assert_eq!(cl.clRetainSampler(context.0), CL_INVALID_SAMPLER);
}

#[test]
fn invalid_kernel_arguments_are_rejected() {
    if !supported() {
        return;
    }
    let (context, other) = (Context::new(), Context::new());
    let program =
        context.program("kernel void f(read_only image2d_t a, write_only image3d_t b, read_write image1d_array_t c, sampler_t s) {}");
    assert_eq!(program.build("-cl-std=CL3.0"), CL_SUCCESS, "clBuildProgram:\n{}", program.log());
    let kernel = program.kernel("f");
    let flat = |flags, context: &Context| image(context, flags, RGBA8, &desc(CL_MEM_OBJECT_IMAGE2D, [4, 4, 1]), null_mut());
    let (plain, written) = (flat(0, &context), flat(CL_MEM_WRITE_ONLY, &context));
    assert_eq!(kernel.set(0, &plain.0), CL_SUCCESS);
    assert_eq!(kernel.set(0, &written.0), CL_INVALID_ARG_VALUE);
    assert_eq!(kernel.set(0, &flat(CL_MEM_READ_ONLY, &context).0), CL_SUCCESS);
    assert_eq!(kernel.set(0, &flat(0, &other).0), CL_INVALID_CONTEXT);
    assert_eq!(kernel.set(0, &context.buffer(64).0), CL_INVALID_MEM_OBJECT);
    assert_eq!(kernel.set(0, &null_mut::<c_void>()), CL_INVALID_MEM_OBJECT);
    assert_eq!(target().cl.clSetKernelArg(kernel.0, 0, size_of::<cl_mem>(), null()), CL_INVALID_MEM_OBJECT);
    assert_eq!(target().cl.clSetKernelArg(kernel.0, 0, 4, (&raw const plain.0).cast()), CL_INVALID_ARG_SIZE);
    assert_eq!(kernel.set(1, &plain.0), CL_INVALID_MEM_OBJECT, "of two dimensions");
    let deep = |flags| image(&context, flags, RGBA8, &desc(CL_MEM_OBJECT_IMAGE3D, [4, 4, 2]), null_mut());
    assert_eq!(kernel.set(1, &deep(0).0), CL_SUCCESS);
    assert_eq!(kernel.set(1, &deep(CL_MEM_READ_ONLY).0), CL_INVALID_ARG_VALUE);
    let lines = image(&context, 0, RGBA8, &desc(CL_MEM_OBJECT_IMAGE1D_ARRAY, [4, 2, 0]), null_mut());
    assert_eq!(kernel.set(2, &lines.0), CL_SUCCESS);
    let made = sampler(&context, None).expect("a sampler");
    assert_eq!(kernel.set(3, &made.0), CL_SUCCESS);
    assert_eq!(kernel.set(3, &plain.0), CL_INVALID_SAMPLER);
    assert_eq!(target().cl.clSetKernelArg(kernel.0, 3, size_of::<usize>(), null()), CL_INVALID_SAMPLER);
    assert_eq!(target().cl.clSetKernelArg(kernel.0, 3, 4, (&raw const made.0).cast()), CL_INVALID_ARG_SIZE);
    assert_eq!(kernel.set(3, &sampler(&other, None).expect("a sampler").0), CL_INVALID_CONTEXT);
    let buffers = context.build("kernel void g(global int *a) { a[0] = 1; }");
    assert_eq!(buffers.kernel("g").set(0, &plain.0), CL_INVALID_MEM_OBJECT);
    // Kernels do not retain images, so the argument is invalid after the image is released.
    let queue: Queue = context.queue(0);
    drop(lines);
    assert_eq!(queue.launch(&kernel, &[1], None), common::ffi::CL_INVALID_KERNEL_ARGS);
}
