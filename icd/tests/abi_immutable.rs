//! Memory objects that do not change after creation (cl_ext_immutable_memory_objects).

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::ffi::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_FALSE, CL_INVALID_ARG_VALUE, CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_MAP_READ, CL_MAP_WRITE,
    CL_MEM_COPY_HOST_PTR, CL_MEM_FLAGS, CL_MEM_HOST_WRITE_ONLY, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE,
    CL_MEM_USE_HOST_PTR, CL_MEM_WRITE_ONLY, CL_RGBA, CL_SUCCESS, CL_TRUE, CL_UNSIGNED_INT8, cl_bitfield, cl_buffer_region, cl_int,
};
use common::images::{desc, format, try_image};
use common::objects::{Context, Mem};
use common::{info, target};

const CL_MEM_IMMUTABLE: cl_bitfield = 1 << 6;

fn try_buffer(context: &Context, flags: cl_bitfield, data: &mut [u32]) -> Result<Mem, cl_int> {
    let wants = flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR) != 0;
    let host: *mut c_void = if wants { data.as_mut_ptr().cast() } else { null_mut() };
    let mut status = 1;
    let mem = target().cl.clCreateBuffer(context.0, flags, size_of_val(data), host, &mut status);
    if status == CL_SUCCESS { Ok(Mem(mem)) } else { Err(status) }
}

#[test]
fn creation_requires_contents_and_read_access() {
    if !target().is_wgcl() {
        return;
    }
    let context = Context::new();
    let mut data = [1u32; 64];
    assert_eq!(try_buffer(&context, CL_MEM_IMMUTABLE, &mut data).err(), Some(CL_INVALID_VALUE), "no contents are given");
    for writes in [CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_HOST_WRITE_ONLY] {
        let flags = CL_MEM_IMMUTABLE | CL_MEM_COPY_HOST_PTR | writes;
        assert_eq!(try_buffer(&context, flags, &mut data).err(), Some(CL_INVALID_VALUE), "{writes:#x}");
    }
    let flags = CL_MEM_IMMUTABLE | CL_MEM_COPY_HOST_PTR;
    let mem = try_buffer(&context, flags, &mut data).expect("a buffer");
    assert_eq!(info(|size, value, ret| target().cl.clGetMemObjectInfo(mem.0, CL_MEM_FLAGS, size, value, ret)), Ok(flags));

    let part = |flags: cl_bitfield| {
        let (mut status, region) = (1, cl_buffer_region { origin: 0, size: 16 });
        let part = target().cl.clCreateSubBuffer(mem.0, flags, CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast(), &mut status);
        if status == CL_SUCCESS { Ok(Mem(part)) } else { Err(status) }
    };
    for writes in [CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_HOST_WRITE_ONLY] {
        assert_eq!(part(writes).err(), Some(CL_INVALID_VALUE), "{writes:#x}");
    }
    // A sub-buffer of an immutable buffer is immutable, even if its own flags do not say so.
    for flags in [0, CL_MEM_READ_ONLY, CL_MEM_IMMUTABLE] {
        let part = part(flags).expect("a part");
        assert_eq!(
            target().cl.clEnqueueWriteBuffer(context.queue(0).0, part.0, CL_TRUE, 0, 4, data.as_ptr().cast(), 0, null(), null_mut()),
            CL_INVALID_OPERATION
        );
    }
}

#[test]
fn commands_that_write_them_are_rejected() {
    if !target().is_wgcl() {
        return;
    }
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let mut data: Vec<u32> = (0..64).collect();
    let mem = try_buffer(&context, CL_MEM_IMMUTABLE | CL_MEM_COPY_HOST_PTR, &mut data).expect("a buffer");
    let other = context.buffer(256);
    let bytes = data.as_ptr().cast::<c_void>();
    let (origin, region) = ([0usize; 3], [4usize, 1, 1]);
    let refused = [
        cl.clEnqueueWriteBuffer(queue.0, mem.0, CL_FALSE, 0, 4, bytes, 0, null(), null_mut()),
        cl.clEnqueueWriteBufferRect(
            queue.0,
            mem.0,
            CL_FALSE,
            origin.as_ptr(),
            origin.as_ptr(),
            region.as_ptr(),
            0,
            0,
            0,
            0,
            bytes,
            0,
            null(),
            null_mut(),
        ),
        cl.clEnqueueCopyBuffer(queue.0, other.0, mem.0, 0, 0, 4, 0, null(), null_mut()),
        cl.clEnqueueFillBuffer(queue.0, mem.0, bytes, 4, 0, 4, 0, null(), null_mut()),
    ];
    assert_eq!(refused, [CL_INVALID_OPERATION; 4]);
    let mut status = 1;
    let map = |flags: cl_bitfield, status: &mut cl_int| {
        cl.clEnqueueMapBuffer(queue.0, mem.0, CL_TRUE, flags, 0, 256, 0, null(), null_mut(), status)
    };
    assert!(map(CL_MAP_WRITE, &mut status).is_null() && status == CL_INVALID_OPERATION);
    let mapped = map(CL_MAP_READ, &mut status);
    assert!(!mapped.is_null() && status == CL_SUCCESS);
    assert_eq!(cl.clEnqueueUnmapMemObject(queue.0, mem.0, mapped, 0, null(), null_mut()), CL_SUCCESS);
    // Immutable memory objects can be read like other memory objects.
    assert_eq!(cl.clEnqueueCopyBuffer(queue.0, mem.0, other.0, 0, 0, 256, 0, null(), null_mut()), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&other, 64), data);
    assert_eq!(queue.read::<u32>(&mem, 64), data);
}

#[test]
fn kernels_may_only_read_them() {
    if !target().is_wgcl() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(
        "kernel void sum(global const uint *a, constant uint *b, global uint *c) { size_t i = get_global_id(0); c[i] = a[i] + b[i]; }",
    );
    let kernel = program.kernel("sum");
    let mut data: Vec<u32> = (0..64).collect();
    let mem = try_buffer(&context, CL_MEM_IMMUTABLE | CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &mut data).expect("a buffer");
    let out = context.buffer(256);
    assert_eq!(kernel.set(2, &mem.0), CL_INVALID_ARG_VALUE, "the kernel would write it");
    kernel.set_mem(0, &mem);
    kernel.set_mem(1, &mem);
    kernel.set_mem(2, &out);
    assert_eq!(queue.launch(&kernel, &[64], None), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&out, 64), data.iter().map(|n| 2 * n).collect::<Vec<_>>());
}

#[test]
fn images_follow_the_rules_of_buffers() {
    if !target().is_wgcl() || !common::images::supported() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build("kernel void set(write_only image2d_t a) { write_imageui(a, (int2)(0), (uint4)(1)); }");
    let kernel = program.kernel("set");
    let (format, desc) = (format(CL_RGBA, CL_UNSIGNED_INT8), desc(CL_MEM_OBJECT_IMAGE2D, [8, 8, 0]));
    let mut data = [7u8; 256];
    let host = data.as_mut_ptr().cast();
    let image = try_image(&context, CL_MEM_IMMUTABLE | CL_MEM_COPY_HOST_PTR, &format, &desc, host).expect("an image");
    assert_eq!(try_image(&context, CL_MEM_IMMUTABLE, &format, &desc, null_mut()).err(), Some(CL_INVALID_VALUE));
    assert_eq!(kernel.set(0, &image.0), CL_INVALID_ARG_VALUE);
    let (origin, region) = ([0usize; 3], [1usize, 1, 1]);
    let written = target().cl.clEnqueueWriteImage(
        queue.0,
        image.0,
        CL_TRUE,
        origin.as_ptr(),
        region.as_ptr(),
        0,
        0,
        data.as_ptr().cast(),
        0,
        null(),
        null_mut(),
    );
    assert_eq!(written, CL_INVALID_OPERATION);
}
