//! Images of every type in buffers (cl_ext_image_from_buffer), and the requirements of images
//! (cl_ext_image_requirements_info).

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use common::ffi::{
    CL_INVALID_CONTEXT, CL_INVALID_IMAGE_DESCRIPTOR, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, CL_INVALID_IMAGE_SIZE, CL_INVALID_PROPERTY,
    CL_INVALID_VALUE, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D, CL_R, CL_RGBA, CL_SUCCESS, CL_UNSIGNED_INT8, CL_UNSIGNED_INT32, cl_bitfield,
    cl_context, cl_image_desc, cl_image_format, cl_int, cl_uint,
};
use common::images::{KINDS, desc, format, image_info, try_image};
use common::objects::{Context, Mem};
use common::{info, target};

const ROW_PITCH_ALIGNMENT: cl_uint = 0x1290;
const SLICE_PITCH_ALIGNMENT: cl_uint = 0x1291;
const BASE_ADDRESS_ALIGNMENT: cl_uint = 0x1292;
const SIZE: cl_uint = 0x12B2;
const MAX_WIDTH: cl_uint = 0x12B3;
const MAX_HEIGHT: cl_uint = 0x12B4;
const MAX_DEPTH: cl_uint = 0x12B5;
const MAX_ARRAY_SIZE: cl_uint = 0x12B6;
const CL_IMAGE_ROW_PITCH: cl_uint = 0x1112;
const CL_IMAGE_SLICE_PITCH: cl_uint = 0x1113;
const CL_MEM_SIZE: cl_uint = 0x1102;

const RGBA8: cl_image_format = format(CL_RGBA, CL_UNSIGNED_INT8);

common::extension_functions! {
    fn clGetImageRequirementsInfoEXT(c: cl_context, list: *const u64, flags: cl_bitfield, format: *const cl_image_format, desc: *const cl_image_desc, name: cl_uint, size: usize, value: *mut c_void, ret: *mut usize) -> cl_int;
}

/// Returns the functions, if wgcl's device has images.
fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    FUNCTIONS.get_or_init(Functions::load).as_ref().filter(|_| target().is_wgcl() && common::images::supported())
}

fn query<T: Copy + Default>(
    context: &Context,
    format: *const cl_image_format,
    desc: *const cl_image_desc,
    name: cl_uint,
) -> Result<T, cl_int> {
    let functions = functions().ok_or(0)?;
    info(|size, value, ret| functions.clGetImageRequirementsInfoEXT(context.0, null(), 0, format, desc, name, size, value, ret))
}

fn of_buffer(buffer: &Mem, desc: cl_image_desc) -> cl_image_desc {
    cl_image_desc { mem_object: buffer.0.cast(), ..desc }
}

#[test]
fn requirements_are_reported_before_an_image_is_created() {
    if functions().is_none() {
        return;
    }
    let context = Context::new();
    for kind in KINDS {
        let desc = desc(kind, [8, 4, 2]);
        for (name, expected) in [(ROW_PITCH_ALIGNMENT, 4usize), (SLICE_PITCH_ALIGNMENT, 4), (BASE_ADDRESS_ALIGNMENT, 1)] {
            assert_eq!(query(&context, &RGBA8, &desc, name), Ok(expected), "{kind:#x}");
        }
        let size: usize = query(&context, &RGBA8, &desc, SIZE).expect("a size");
        if kind != CL_MEM_OBJECT_IMAGE1D_BUFFER {
            let image = try_image(&context, 0, &RGBA8, &desc, null_mut()).expect("an image");
            assert_eq!(info(|capacity, value, ret| target().cl.clGetMemObjectInfo(image.0, CL_MEM_SIZE, capacity, value, ret)), Ok(size));
        }
        let least = context.buffer(size);
        assert!(try_image(&context, 0, &RGBA8, &of_buffer(&least, desc), null_mut()).is_ok(), "{kind:#x}");
        let less = context.buffer(size - 1);
        assert_eq!(try_image(&context, 0, &RGBA8, &of_buffer(&less, desc), null_mut()).err(), Some(CL_INVALID_IMAGE_SIZE), "{kind:#x}");
    }
    assert_eq!(query(&context, null(), null(), ROW_PITCH_ALIGNMENT), Ok(16usize), "of any format");
    assert_eq!(query(&context, &RGBA8, null(), MAX_DEPTH), Ok(2048u32));
    let any_size = cl_image_desc { image_type: CL_MEM_OBJECT_IMAGE2D, ..desc(CL_MEM_OBJECT_IMAGE2D, [0, 0, 0]) };
    assert_eq!(query(&context, null(), &any_size, MAX_WIDTH), Ok(16384u32));
    assert_eq!(query(&context, null(), &any_size, MAX_HEIGHT), Ok(16384u32));
}

#[test]
fn invalid_queries_are_rejected() {
    let Some(functions) = functions() else { return };
    let context = Context::new();
    let flat = desc(CL_MEM_OBJECT_IMAGE2D, [8, 4, 0]);
    assert_eq!(query::<usize>(&context, null(), &flat, SIZE), Err(CL_INVALID_VALUE));
    assert_eq!(query::<usize>(&context, &RGBA8, null(), SIZE), Err(CL_INVALID_VALUE));
    assert_eq!(query::<usize>(&context, &format(CL_RGBA, 0x10D4), &flat, SIZE), Err(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR));
    assert_eq!(query::<usize>(&context, &RGBA8, &desc(0x10F0, [8, 4, 0]), ROW_PITCH_ALIGNMENT), Err(CL_INVALID_IMAGE_DESCRIPTOR));
    assert_eq!(query::<usize>(&context, &RGBA8, &desc(CL_MEM_OBJECT_IMAGE2D, [0, 4, 0]), SIZE), Err(CL_INVALID_IMAGE_DESCRIPTOR));
    assert_eq!(query::<u32>(&context, &RGBA8, &flat, MAX_DEPTH), Err(CL_INVALID_IMAGE_DESCRIPTOR));
    assert_eq!(query::<u32>(&context, &RGBA8, &flat, MAX_ARRAY_SIZE), Err(CL_INVALID_IMAGE_DESCRIPTOR));
    assert_eq!(query::<u32>(&context, &RGBA8, &desc(CL_MEM_OBJECT_IMAGE1D, [8, 0, 0]), MAX_HEIGHT), Err(CL_INVALID_IMAGE_DESCRIPTOR));
    assert_eq!(query::<u32>(&context, &RGBA8, &flat, 0xdead), Err(CL_INVALID_VALUE));
    let raw = |context, list: &[u64], flags| {
        let (mut answer, capacity) = (0usize, size_of::<usize>());
        let value = (&raw mut answer).cast();
        functions.clGetImageRequirementsInfoEXT(context, list.as_ptr(), flags, &RGBA8, &flat, SIZE, capacity, value, null_mut())
    };
    assert_eq!(raw(context.0, &[0], 0), CL_SUCCESS);
    assert_eq!(raw(null_mut(), &[0], 0), CL_INVALID_CONTEXT);
    assert_eq!(raw(context.0, &[1, 1, 0], 0), CL_INVALID_PROPERTY);
    assert_eq!(raw(context.0, &[0], u64::MAX), CL_INVALID_VALUE);
}

#[test]
fn given_pitches_are_used() {
    if functions().is_none() {
        return;
    }
    let context = Context::new();
    let buffer = context.buffer(4096);
    for kind in [CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D] {
        let desc = of_buffer(&buffer, cl_image_desc { image_row_pitch: 48, image_slice_pitch: 240, ..desc(kind, [8, 4, 2]) });
        let image = try_image(&context, 0, &RGBA8, &desc, null_mut()).expect("an image");
        assert_eq!(image_info(image.0, CL_IMAGE_ROW_PITCH), Ok(48usize));
        assert_eq!(image_info(image.0, CL_IMAGE_SLICE_PITCH), Ok(240usize));
        for invalid in [
            cl_image_desc { image_row_pitch: 49, ..desc },
            cl_image_desc { image_row_pitch: 28, ..desc },
            cl_image_desc { image_slice_pitch: 241, ..desc },
        ] {
            assert_eq!(try_image(&context, 0, &RGBA8, &invalid, null_mut()).err(), Some(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR), "{invalid:?}");
        }
    }
}

#[test]
fn kernels_access_the_elements_of_the_buffer() {
    if functions().is_none() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(
        "kernel void line(read_only image1d_t a, global uint *out) { out[get_global_id(0)] = read_imageui(a, (int)get_global_id(0)).x; }
         kernel void lines(read_only image1d_array_t a, global uint *out) { size_t i = get_global_id(0); out[i] = read_imageui(a, (int2)(i % 4, i / 4)).x; }
         kernel void planes(read_only image2d_array_t a, global uint *out) { size_t i = get_global_id(0); out[i] = read_imageui(a, (int4)(i % 4, i / 4 % 2, i / 8, 0)).x; }
         kernel void volume(read_only image3d_t a, global uint *out) { size_t i = get_global_id(0); out[i] = read_imageui(a, (int4)(i % 4, i / 4 % 2, i / 8, 0)).x; }",
    );
    let (buffer, out) = (context.buffer(256), context.buffer(64));
    queue.write(&buffer, &std::array::from_fn::<u32, 64, _>(|i| i as u32));
    // The row pitch is 6 elements, and the slice pitch 18. The images use four elements of a row, and two of the three
    // rows.
    let (row, slice) = (6, 18);
    for (name, kind, size) in [
        ("line", CL_MEM_OBJECT_IMAGE1D, [16, 0, 0]),
        ("lines", CL_MEM_OBJECT_IMAGE1D_ARRAY, [4, 3, 0]),
        ("planes", CL_MEM_OBJECT_IMAGE2D_ARRAY, [4, 2, 2]),
        ("volume", CL_MEM_OBJECT_IMAGE3D, [4, 2, 2]),
    ] {
        let mut desc = of_buffer(&buffer, desc(kind, size));
        if kind != CL_MEM_OBJECT_IMAGE1D {
            (desc.image_row_pitch, desc.image_slice_pitch) = (4 * row, 4 * slice);
        }
        let image = try_image(&context, 0, &format(CL_R, CL_UNSIGNED_INT32), &desc, null_mut()).expect("an image");
        let kernel = program.kernel(name);
        assert_eq!(kernel.set(0, &image.0), CL_SUCCESS);
        kernel.set_mem(1, &out);
        let count = if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { 12 } else { 16 };
        assert_eq!(queue.launch(&kernel, &[count], None), CL_SUCCESS);
        let place = |i: usize| match kind {
            CL_MEM_OBJECT_IMAGE1D => i,
            CL_MEM_OBJECT_IMAGE1D_ARRAY => i % 4 + i / 4 * slice,
            _ => i % 4 + i / 4 % 2 * row + i / 8 * slice,
        };
        assert_eq!(queue.read::<u32>(&out, count), (0..count).map(|i| place(i) as u32).collect::<Vec<_>>(), "{name}");
    }
}
