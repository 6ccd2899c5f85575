//! Mipmapped images: rejected arguments, queries, and commands on their levels (cl_khr_mipmap_image).

mod common;

use std::ptr::{null, null_mut};

use common::ffi::{
    CL_DEPTH, CL_DEVICE_EXTENSIONS, CL_FLOAT, CL_IMAGE_NUM_MIP_LEVELS, CL_IMAGE_ROW_PITCH, CL_INVALID_HOST_PTR,
    CL_INVALID_IMAGE_DESCRIPTOR, CL_INVALID_MIP_LEVEL, CL_INVALID_VALUE, CL_MAP_READ, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE1D,
    CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D,
    CL_MEM_SIZE, CL_MEM_USE_HOST_PTR, CL_R, CL_RGBA, CL_SUCCESS, CL_TRUE, CL_UNORM_INT8, CL_UNSIGNED_INT8, cl_image_desc, cl_image_format,
    cl_int, cl_uint,
};
use common::images::{desc, format, image, image_info, supported, try_image};
use common::objects::{Context, Mem, Queue, Sampler};
use common::{info, info_string, target};

const CL_FILTER_NEAREST: cl_uint = 0x1140;
const CL_FILTER_LINEAR: cl_uint = 0x1141;
const CL_SAMPLER_MIP_FILTER_MODE_KHR: cl_uint = 0x1155;
const CL_SAMPLER_LOD_MIN_KHR: cl_uint = 0x1156;
const CL_SAMPLER_LOD_MAX_KHR: cl_uint = 0x1157;

const BYTES: cl_image_format = format(CL_R, CL_UNSIGNED_INT8);

fn mipmaps() -> bool {
    let target = target();
    let names = info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_EXTENSIONS, size, value, ret));
    let reported = names.is_ok_and(|names| names.split(' ').any(|name| name == "cl_khr_mipmap_image"));
    assert!(reported || !target.is_wgcl(), "a wgcl device without mipmapped images");
    supported() && reported
}

fn levels(kind: cl_uint, sizes: [usize; 3], count: cl_uint) -> cl_image_desc {
    cl_image_desc { num_mip_levels: count, ..desc(kind, sizes) }
}

#[test]
fn invalid_arguments_are_rejected() {
    if !mipmaps() {
        return;
    }
    let context = Context::new();
    let mut data = vec![0u8; 4096];
    let host = data.as_mut_ptr().cast();
    let refused = |flags, format: cl_image_format, desc: &cl_image_desc, host| try_image(&context, flags, &format, desc, host).err();
    let flat = |count| levels(CL_MEM_OBJECT_IMAGE2D, [9, 4, 1], count);
    let rgba = format(CL_RGBA, CL_UNORM_INT8);
    assert_eq!(refused(0, rgba, &flat(4), null_mut()), None);
    assert_eq!(refused(0, rgba, &flat(5), null_mut()), None, "more levels than 9, 4, 2 and 1 are permitted");
    assert_eq!(refused(0, rgba, &flat(33), null_mut()), Some(CL_INVALID_IMAGE_DESCRIPTOR));
    assert_eq!(refused(0, rgba, &flat(cl_uint::MAX), null_mut()), Some(CL_INVALID_IMAGE_DESCRIPTOR));
    for flags in [CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR] {
        assert_eq!(refused(flags, rgba, &flat(2), host), Some(CL_INVALID_HOST_PTR));
        assert_eq!(refused(flags, rgba, &flat(2), null_mut()), Some(CL_INVALID_HOST_PTR));
        assert_eq!(refused(flags, rgba, &flat(1), host), None, "an image with one level is not mipmapped");
    }
    assert_eq!(refused(0, format(CL_DEPTH, CL_FLOAT), &flat(2), null_mut()), None);
    let buffer = context.buffer(4096);
    for kind in [CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D] {
        let from = cl_image_desc { mem_object: buffer.0.cast(), ..levels(kind, [8, 8, 1], 2) };
        assert_eq!(refused(0, rgba, &from, null_mut()), Some(CL_INVALID_IMAGE_DESCRIPTOR));
    }
    for count in 0..4 {
        let made = image(&context, 0, rgba, &flat(count), null_mut());
        assert_eq!(image_info(made.0, CL_IMAGE_NUM_MIP_LEVELS), Ok(count));
        assert_eq!(image_info(made.0, CL_IMAGE_ROW_PITCH), Ok(36usize));
    }
    let made = image(&context, 0, rgba, &flat(4), null_mut());
    let size = info::<usize>(|size, value, ret| target().cl.clGetMemObjectInfo(made.0, CL_MEM_SIZE, size, value, ret));
    assert!(size.is_ok_and(|size| size >= 4 * (9 * 4 + 4 * 2 + 2 + 1)));
}

/// An image type, the sizes of its first level, the index of the coordinate that selects a level, and the sizes of its
/// second level.
const KINDS: [(cl_uint, [usize; 3], usize, [usize; 3]); 5] = [
    (CL_MEM_OBJECT_IMAGE1D, [9, 1, 1], 1, [4, 1, 1]),
    (CL_MEM_OBJECT_IMAGE1D_ARRAY, [9, 3, 1], 2, [4, 3, 1]),
    (CL_MEM_OBJECT_IMAGE2D, [9, 7, 1], 2, [4, 3, 1]),
    (CL_MEM_OBJECT_IMAGE2D_ARRAY, [9, 7, 3], 3, [4, 3, 3]),
    (CL_MEM_OBJECT_IMAGE3D, [9, 7, 5], 3, [4, 3, 2]),
];

struct Levels {
    image: Mem,
    place: usize,
}

impl Levels {
    fn origin(&self, level: usize) -> [usize; 4] {
        let mut origin = [0; 4];
        origin[self.place] = level;
        origin
    }

    fn write(&self, queue: &Queue, level: usize, region: [usize; 3], bytes: &[u8]) -> cl_int {
        let (origin, from) = (self.origin(level), bytes.as_ptr().cast());
        let (origin, region) = (origin.as_ptr(), region.as_ptr());
        target().cl.clEnqueueWriteImage(queue.0, self.image.0, CL_TRUE, origin, region, 0, 0, from, 0, null(), null_mut())
    }

    fn read(&self, queue: &Queue, level: usize, region: [usize; 3]) -> Result<Vec<u8>, cl_int> {
        let mut bytes = vec![0u8; region.iter().product()];
        let (origin, to) = (self.origin(level), bytes.as_mut_ptr().cast());
        let (origin, region) = (origin.as_ptr(), region.as_ptr());
        let status = target().cl.clEnqueueReadImage(queue.0, self.image.0, CL_TRUE, origin, region, 0, 0, to, 0, null(), null_mut());
        if status == CL_SUCCESS { Ok(bytes) } else { Err(status) }
    }
}

#[test]
fn commands_access_their_level() {
    if !mipmaps() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let cl = &target().cl;
    for (kind, sizes, place, half) in KINDS {
        let make = || Levels { image: image(&context, 0, BYTES, &levels(kind, sizes, 3), null_mut()), place };
        let (a, b) = (make(), make());
        let count = half.iter().product::<usize>();
        let (first, second) = (vec![7u8; sizes.iter().product()], (0..count).map(|at| 100 + at as u8).collect::<Vec<_>>());
        assert_eq!(a.write(&queue, 0, sizes, &first), CL_SUCCESS, "{kind:#x}");
        assert_eq!(a.write(&queue, 1, half, &second), CL_SUCCESS, "{kind:#x}");
        assert_eq!(a.read(&queue, 0, sizes).as_ref(), Ok(&first), "{kind:#x}");
        assert_eq!(a.read(&queue, 1, half).as_ref(), Ok(&second), "{kind:#x}");
        // A box with the sizes of the first level does not fit in the second level.
        assert_eq!(a.read(&queue, 1, sizes).err(), Some(CL_INVALID_VALUE), "{kind:#x}");
        assert_eq!(a.read(&queue, 3, [1, 1, 1]).err(), Some(CL_INVALID_MIP_LEVEL), "{kind:#x}");
        assert_eq!(a.write(&queue, usize::MAX, [1, 1, 1], &first), CL_INVALID_MIP_LEVEL, "{kind:#x}");
        // Copy between levels of two images, and between levels of one image.
        let (from, to, least) = (a.origin(1), b.origin(0), a.origin(3));
        let (from, to, least) = (from.as_ptr(), to.as_ptr(), least.as_ptr());
        let copy = |src: &Levels, dst: &Levels, from, to| {
            cl.clEnqueueCopyImage(queue.0, src.image.0, dst.image.0, from, to, half.as_ptr(), 0, null(), null_mut())
        };
        assert_eq!(copy(&a, &b, from, to), CL_SUCCESS, "{kind:#x}");
        assert_eq!(b.read(&queue, 0, half).as_ref(), Ok(&second), "{kind:#x}");
        assert_eq!(copy(&a, &b, from, least), CL_INVALID_MIP_LEVEL, "{kind:#x}");
        assert_eq!(copy(&a, &b, least, to), CL_INVALID_MIP_LEVEL, "{kind:#x}");
        assert_eq!(copy(&a, &a, from, to), CL_SUCCESS, "levels do not overlap: {kind:#x}");
        // Copy through a buffer into the second level.
        let buffer = context.buffer(first.len());
        let region = half.as_ptr();
        assert_eq!(cl.clEnqueueCopyImageToBuffer(queue.0, a.image.0, buffer.0, from, region, 3, 0, null(), null_mut()), CL_SUCCESS);
        assert_eq!(cl.clEnqueueCopyBufferToImage(queue.0, buffer.0, b.image.0, 3, from, region, 0, null(), null_mut()), CL_SUCCESS);
        assert_eq!(b.read(&queue, 1, half).as_ref(), Ok(&second), "{kind:#x}");
        let status = cl.clEnqueueCopyImageToBuffer(queue.0, a.image.0, buffer.0, least, region, 0, 0, null(), null_mut());
        assert_eq!(status, CL_INVALID_MIP_LEVEL);
        let status = cl.clEnqueueCopyBufferToImage(queue.0, buffer.0, b.image.0, 0, least, region, 0, null(), null_mut());
        assert_eq!(status, CL_INVALID_MIP_LEVEL);
        // Fill a level, and check it through a map with the pitches of the level.
        let color = [9u32; 4];
        let fill = |origin| cl.clEnqueueFillImage(queue.0, b.image.0, color.as_ptr().cast(), origin, region, 0, null(), null_mut());
        assert_eq!(fill(from), CL_SUCCESS);
        assert_eq!(fill(least), CL_INVALID_MIP_LEVEL);
        let (mut row, mut slice, mut status) = (1, 1, 1);
        let mut map = |origin: *const usize| {
            let (row, slice, event) = (&raw mut row, &raw mut slice, null_mut());
            let to =
                cl.clEnqueueMapImage(queue.0, b.image.0, CL_TRUE, CL_MAP_READ, origin, region, row, slice, 0, null(), event, &mut status);
            (to, status)
        };
        assert_eq!(map(least).1, CL_INVALID_MIP_LEVEL);
        let (address, status) = map(from);
        assert_eq!(status, CL_SUCCESS);
        let slices = !matches!(kind, CL_MEM_OBJECT_IMAGE1D | CL_MEM_OBJECT_IMAGE2D);
        let least = if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { 4 } else { 4 * half[1] };
        assert_eq!((row, slice), (4, if slices { least } else { 0 }), "{kind:#x}");
        // SAFETY: the level is mapped, and has no gaps.
        let seen = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), count) };
        assert_eq!(seen, vec![9; count], "{kind:#x}");
        assert_eq!(cl.clEnqueueUnmapMemObject(queue.0, b.image.0, address, 0, null(), null_mut()), CL_SUCCESS);
        assert_eq!(b.read(&queue, 0, half).as_ref(), Ok(&second), "the first level is as it was: {kind:#x}");
    }
}

#[test]
fn samplers_have_mip_properties() {
    if !mipmaps() {
        return;
    }
    let (context, cl) = (Context::new(), &target().cl);
    let make = |list: &[u64]| {
        let mut status = 1;
        let sampler = cl.clCreateSamplerWithProperties(context.0, list.as_ptr(), &mut status);
        if status == CL_SUCCESS { Ok(Sampler(sampler)) } else { Err(status) }
    };
    let ask = |sampler: &Sampler| {
        let word = |name| info::<cl_uint>(|size, value, ret| cl.clGetSamplerInfo(sampler.0, name, size, value, ret)).expect("an answer");
        (word(CL_SAMPLER_MIP_FILTER_MODE_KHR), f32::from_bits(word(CL_SAMPLER_LOD_MIN_KHR)), f32::from_bits(word(CL_SAMPLER_LOD_MAX_KHR)))
    };
    let [filter, least, most] = [CL_SAMPLER_MIP_FILTER_MODE_KHR, CL_SAMPLER_LOD_MIN_KHR, CL_SAMPLER_LOD_MAX_KHR].map(u64::from);
    let bits = |lod: f32| u64::from(lod.to_bits());
    assert_eq!(make(&[0]).as_ref().map(ask), Ok((CL_FILTER_NEAREST, 0.0, f32::MAX)), "the specification's defaults");
    let made = make(&[filter, u64::from(CL_FILTER_LINEAR), least, bits(-1.5), most, bits(2.25), 0]);
    assert_eq!(made.as_ref().map(ask), Ok((CL_FILTER_LINEAR, -1.5, 2.25)));
    for wrong in [[filter, 3, 0, 0, 0], [least, bits(f32::NAN), 0, 0, 0], [least, bits(1.0), least, bits(1.0), 0]] {
        assert_eq!(make(&wrong).err(), Some(CL_INVALID_VALUE), "{wrong:?}");
    }
}
