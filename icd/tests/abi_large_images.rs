//! Images of 4 GiB and more, on devices that support them: kernels and commands access the first and last elements.

mod common;

use std::ptr::{null, null_mut};

use common::ffi::{
    CL_FLOAT, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D, CL_MEM_USE_HOST_PTR,
    CL_RGBA, CL_SUCCESS, CL_TRUE, cl_image_desc,
};
use common::images::{desc, format, image, supported};
use common::large::{SIZE, reserve};
use common::objects::{Context, Kernel, Mem, Program, Queue};
use common::{info, is_cpu, target};

/// Work-items of a launch. Work-item `i` accesses the element `i` elements before the tested element.
const ITEMS: usize = 64;

/// Two kernels for each image type. `paint` writes elements. `look` reads them without a sampler and, if the type
/// supports samplers, with integer and float coordinates.
const SOURCE: &str = "
constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
#define PAINT(TYPE, AT) \
    kernel void paint_##TYPE(write_only TYPE##_t i, int4 c, float v) \
    { int id = get_global_id(0); c.x -= id; v += id; write_imagef(i, AT, (float4)(v, v + 1, v + 2, v + 3)); }
#define LOOK(TYPE, AT, FLOAT) \
    kernel void look_##TYPE(read_only TYPE##_t i, int4 c, global float4 *out) \
    { int id = get_global_id(0); c.x -= id; float4 f = convert_float4(c); out += 5 * id; \
      out[0] = read_imagef(i, AT); out[1] = read_imagef(i, s, AT); out[2] = read_imagef(i, border, AT); \
      out[3] = read_imagef(i, s, FLOAT); out[4] = read_imagef(i, linear, FLOAT); }
PAINT(image2d, c.xy)
LOOK(image2d, c.xy, f.xy + 0.5f)
PAINT(image2d_array, c)
LOOK(image2d_array, c, f + (float4)(0.5f, 0.5f, 0, 0))
PAINT(image1d_buffer, c.x)
kernel void look_image1d_buffer(read_only image1d_buffer_t i, int4 c, global float4 *out)
{ int id = get_global_id(0); c.x -= id; for (int n = 0; n < 5; n++) out[5 * id + n] = read_imagef(i, c.x); }
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
PAINT(image3d, c)
LOOK(image3d, c, f + 0.5f)
";

struct Large {
    context: Context,
    queue: Queue,
    program: Program,
    out: Mem,
}

impl Large {
    fn new() -> Self {
        let context = Context::new();
        let (queue, program, out) = (context.queue(0), context.build(SOURCE), context.buffer(ITEMS * 80));
        Self { context, queue, program, out }
    }

    fn launch(&self, kernel: &Kernel, image: &Mem, at: [usize; 3]) {
        kernel.set_mem(0, image);
        let [x, y, z] = at.map(|place| i32::try_from(place).expect("a coordinate"));
        assert_eq!(kernel.set(1, &[x, y, z, 0]), CL_SUCCESS);
        assert_eq!(self.queue.launch(kernel, &[ITEMS], None), CL_SUCCESS);
    }

    /// Lets a kernel write the elements up to `at`, and a command read them. Then lets a command write the elements,
    /// and a kernel read them.
    fn access(&self, name: &str, image: &Mem, at: [usize; 3], first: f32) {
        let cl = &target().cl;
        let row =
            |first: f32| (0..ITEMS).rev().flat_map(move |item| (0..4).map(move |lane| first + (item + lane) as f32)).collect::<Vec<_>>();
        let begin = [at[0] + 1 - ITEMS, at[1], at[2]];
        let region = [ITEMS, 1, 1];
        let paint = self.program.kernel(&format!("paint_{name}"));
        assert_eq!(paint.set(2, &first), CL_SUCCESS);
        self.launch(&paint, image, at);
        let mut colors = vec![0f32; 4 * ITEMS];
        let to = colors.as_mut_ptr().cast();
        let read = cl.clEnqueueReadImage(self.queue.0, image.0, CL_TRUE, begin.as_ptr(), region.as_ptr(), 0, 0, to, 0, null(), null_mut());
        assert_eq!(read, CL_SUCCESS, "clEnqueueReadImage");
        assert_eq!(colors, row(first), "{name}: written by a kernel at {at:?}");
        let colors = row(first + 500.);
        let from = colors.as_ptr().cast();
        let write =
            cl.clEnqueueWriteImage(self.queue.0, image.0, CL_TRUE, begin.as_ptr(), region.as_ptr(), 0, 0, from, 0, null(), null_mut());
        assert_eq!(write, CL_SUCCESS, "clEnqueueWriteImage");
        let look = self.program.kernel(&format!("look_{name}"));
        look.set_mem(2, &self.out);
        self.launch(&look, image, at);
        let seen = self.queue.read::<[f32; 4]>(&self.out, 5 * ITEMS);
        for (item, ways) in seen.chunks(5).enumerate() {
            let begin = first + 500. + item as f32;
            assert_eq!(ways, [[begin, begin + 1., begin + 2., begin + 3.]; 5], "{name}: read by work-item {item} at {at:?}");
        }
    }

    /// Accesses the elements at `places`: the first and last elements, and the elements around 4 GiB.
    fn ends(&self, name: &str, image: &Mem, places: &[[usize; 3]]) {
        for (number, &at) in places.iter().enumerate() {
            self.access(name, image, at, (number * 1000) as f32);
        }
        // The accesses at one place did not change the elements at the other places.
        let look = self.program.kernel(&format!("look_{name}"));
        look.set_mem(2, &self.out);
        for (number, &at) in places.iter().enumerate() {
            self.launch(&look, image, at);
            assert_eq!(self.queue.read::<f32>(&self.out, 1), [(number * 1000 + 500) as f32], "{name} at {at:?}");
        }
    }

    fn image(&self, desc: &cl_image_desc) -> Mem {
        image(&self.context, 0, format(CL_RGBA, CL_FLOAT), desc, null_mut())
    }
}

#[test]
fn arrays_of_images() {
    // The images of the array have 1 GiB or exactly 4 GiB. A slice pitch of 4 GiB has 33 bits.
    for sizes in [[16384, 4096, 5], [16384, 16384, 2]] {
        let [width, height, count] = sizes;
        let Some(_memory) = reserve(16 * width * height * count).filter(|_| supported()) else { continue };
        let large = Large::new();
        let image = large.image(&desc(CL_MEM_OBJECT_IMAGE2D_ARRAY, sizes));
        let last = [width - 1, height - 1, count - 1];
        large.ends("image2d_array", &image, &[[63, 0, 0], last, [63, 0, count - 1], [width - 1, height - 1, count - 2]]);
    }
}

#[test]
fn volumes() {
    let Some(_memory) = reserve(SIZE).filter(|_| supported()) else { return };
    let large = Large::new();
    // The slices have 64 MiB, so the 65th slice begins at 4 GiB.
    let image = large.image(&desc(CL_MEM_OBJECT_IMAGE3D, [2048, 2048, 70]));
    large.ends("image3d", &image, &[[63, 0, 0], [2047, 2047, 69], [63, 0, 64], [2047, 2047, 63], [63, 0, 32]]);
}

#[test]
fn images_of_buffers() {
    let Some(_memory) = reserve(SIZE).filter(|_| supported()) else { return };
    let large = Large::new();
    let buffer = large.context.buffer(SIZE);
    let row = cl_image_desc { mem_object: buffer.0.cast(), ..desc(CL_MEM_OBJECT_IMAGE1D_BUFFER, [SIZE / 16, 1, 1]) };
    let image = large.image(&row);
    let half = 1 << 27;
    large.ends("image1d_buffer", &image, &[[63, 0, 0], [SIZE / 16 - 1, 0, 0], [2 * half + 30, 0, 0], [half + 30, 0, 0]]);
    // The image has 16,384 rows with a pitch of 288 KiB.
    let rows = cl_image_desc { mem_object: buffer.0.cast(), image_row_pitch: 288 << 10, ..desc(CL_MEM_OBJECT_IMAGE2D, [100, 16384, 1]) };
    let image = large.image(&rows);
    large.ends("image2d", &image, &[[63, 1, 0], [99, 16383, 0], [63, 14564, 0], [99, 7282, 0]]);
}

/// Tests images in the application's memory with a pitch of 33 bits.
#[test]
fn pitches_of_host_memory() {
    let Some(_memory) = reserve(2 * SIZE).filter(|_| supported() && is_cpu()) else { return };
    let large = Large::new();
    // The system maps these pages when they are first accessed.
    let mut bytes = vec![0_u8; 2 * SIZE + 4096];
    let start = bytes.as_mut_ptr();
    let start = start.wrapping_add(start.align_offset(4096));
    let rows = cl_image_desc { image_row_pitch: SIZE, ..desc(CL_MEM_OBJECT_IMAGE2D, [100, 2, 1]) };
    let slices = |kind| cl_image_desc { image_row_pitch: 4096, image_slice_pitch: SIZE, ..desc(kind, [100, 2, 2]) };
    for (name, desc, last) in [
        ("image2d", rows, [99, 1, 0]),
        ("image2d_array", slices(CL_MEM_OBJECT_IMAGE2D_ARRAY), [99, 1, 1]),
        ("image3d", slices(CL_MEM_OBJECT_IMAGE3D), [99, 1, 1]),
    ] {
        let image = image(&large.context, CL_MEM_USE_HOST_PTR, format(CL_RGBA, CL_FLOAT), &desc, start.cast());
        large.ends(name, &image, &[[63, 0, 0], last]);
    }
}

/// Tests mipmap levels that begin at offsets above 4 GiB.
#[test]
fn levels_of_large_images() {
    const SIZES: [usize; 3] = [16384, 8192, 3];
    let Some(_memory) = reserve(16 * SIZES.iter().product::<usize>() / 4 * 5).filter(|_| supported()) else { return };
    let names = common::info_string(|size, value, ret| {
        let target = target();
        target.cl.clGetDeviceInfo(target.device, common::ffi::CL_DEVICE_EXTENSIONS, size, value, ret)
    });
    if !names.is_ok_and(|names| names.split(' ').any(|name| name == "cl_khr_mipmap_image_writes")) {
        return;
    }
    let large = Large::new();
    let image = large.image(&cl_image_desc { num_mip_levels: 2, ..desc(CL_MEM_OBJECT_IMAGE2D_ARRAY, SIZES) });
    let program = large.context.build(
        "#pragma OPENCL EXTENSION cl_khr_mipmap_image : enable
         #pragma OPENCL EXTENSION cl_khr_mipmap_image_writes : enable
         constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
         kernel void paint(write_only image2d_array_t i, int4 c, float v) { write_imagef(i, c, 1, (float4)(v)); }
         kernel void look(read_only image2d_array_t i, int4 c, global float4 *out) { out[0] = read_imagef(i, s, convert_float4(c), 1.0f); }",
    );
    let (paint, look) = (program.kernel("paint"), program.kernel("look"));
    look.set_mem(2, &large.out);
    let places = [[0, 0, 0], [8191, 4095, 2], [5, 4095, 1]];
    for (value, at) in (1_u8..).zip(places) {
        assert_eq!(paint.set(2, &f32::from(value)), CL_SUCCESS);
        large.launch(&paint, &image, at);
    }
    for (value, at) in (1_u8..).zip(places) {
        large.launch(&look, &image, at);
        assert_eq!(large.queue.read::<f32>(&large.out, 1), [f32::from(value)], "level 1 at {at:?}");
        let (level_at, one, mut color) = ([at[0], at[1], at[2], 1], [1_usize; 3], [0f32; 4]);
        let to = color.as_mut_ptr().cast();
        let cl = &target().cl;
        let status =
            cl.clEnqueueReadImage(large.queue.0, image.0, CL_TRUE, level_at.as_ptr(), one.as_ptr(), 0, 0, to, 0, null(), null_mut());
        assert_eq!((status, color[0]), (CL_SUCCESS, f32::from(value)), "level 1 at {at:?}");
    }
}

/// Tests an image of exactly 4 GiB, whose offsets have 32 bits. Commands and kernels access its first and last
/// elements.
#[test]
fn an_image_of_4_gib_is_accessed_at_its_end() {
    const EDGE: usize = 16384;
    let cl = &target().cl;
    let edge = |name| info::<usize>(|size, value, ret| cl.clGetDeviceInfo(target().device, name, size, value, ret)).unwrap_or(0);
    // CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT
    let Some(_memory) = reserve(SIZE).filter(|_| edge(0x1011) >= EDGE && edge(0x1012) >= EDGE) else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let format = format(CL_RGBA, CL_FLOAT);
    let mut status = 1;
    let desc = desc(CL_MEM_OBJECT_IMAGE2D, [EDGE, EDGE, 1]);
    let image = Mem(cl.clCreateImage(context.0, 0, &format, &desc, null_mut(), &mut status));
    assert_eq!(status, CL_SUCCESS, "clCreateImage");
    let at = |x, y| [x, y, 0usize];
    let (first, last, one) = (at(0, 0), at(EDGE - 1, EDGE - 1), [1usize; 3]);
    for (origin, value) in [(first, 1f32), (last, 5f32)] {
        let color = [value, value + 1., value + 2., value + 3.];
        let status = cl.clEnqueueFillImage(queue.0, image.0, color.as_ptr().cast(), origin.as_ptr(), one.as_ptr(), 0, null(), null_mut());
        assert_eq!(status, CL_SUCCESS, "clEnqueueFillImage");
    }
    let read = |origin: [usize; 3]| {
        let mut color = [0f32; 4];
        let (to, none) = (color.as_mut_ptr().cast(), null());
        let status = cl.clEnqueueReadImage(queue.0, image.0, CL_TRUE, origin.as_ptr(), one.as_ptr(), 0, 0, to, 0, none, null_mut());
        assert_eq!(status, CL_SUCCESS, "clEnqueueReadImage");
        color
    };
    assert_eq!([read(first), read(last)], [[1., 2., 3., 4.], [5., 6., 7., 8.]]);
    let program = context.build(
        "kernel void look(read_only image2d_t i, int x, int y, global float4 *out) { out[0] = read_imagef(i, (int2)(x, y)); }
         kernel void paint(write_only image2d_t i, int x, int y) { write_imagef(i, (int2)(x, y), (float4)(9, 8, 7, 6)); }",
    );
    let out = context.buffer(16);
    let (look, paint) = (program.kernel("look"), program.kernel("paint"));
    look.set_mem(0, &image);
    look.set_mem(3, &out);
    paint.set_mem(0, &image);
    let edge = EDGE as i32 - 1;
    for (kernel, x, y) in [(&look, edge, edge), (&paint, edge - 1, edge)] {
        assert_eq!((kernel.set(1, &x), kernel.set(2, &y)), (CL_SUCCESS, CL_SUCCESS));
        assert_eq!(queue.launch(kernel, &[1], None), CL_SUCCESS);
    }
    assert_eq!(queue.read::<f32>(&out, 4), [5., 6., 7., 8.]);
    assert_eq!(read(at(EDGE - 2, EDGE - 1)), [9., 8., 7., 6.]);
    assert_eq!([read(first), read(last)], [[1., 2., 3., 4.], [5., 6., 7., 8.]]);
}
