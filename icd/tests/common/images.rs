//! Images: their descriptions, boxes of elements, and a model of their contents.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use super::ffi::{
    CL_DEVICE_IMAGE_SUPPORT, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D, CL_SUCCESS, CL_TRUE, cl_bitfield, cl_image_desc, cl_image_format, cl_int, cl_mem,
    cl_uint,
};
use super::objects::{Context, Mem, Queue};
use super::{info, target};

pub const KINDS: [cl_uint; 6] = [
    CL_MEM_OBJECT_IMAGE1D,
    CL_MEM_OBJECT_IMAGE1D_BUFFER,
    CL_MEM_OBJECT_IMAGE1D_ARRAY,
    CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_OBJECT_IMAGE3D,
];

/// Whether the device under test has images.
pub fn reported() -> bool {
    let target = target();
    let answer: Result<cl_uint, cl_int> =
        info(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_IMAGE_SUPPORT, size, value, ret));
    answer == Ok(CL_TRUE)
}

/// Whether the platform under test has images. Tests return early on another platform without images.
///
/// # Panics
/// If a wgcl device has no images, because every wgcl device must have images.
pub fn supported() -> bool {
    let answer = reported();
    assert!(answer || !target().is_wgcl(), "a wgcl device without images");
    answer
}

pub const fn format(order: cl_uint, data_type: cl_uint) -> cl_image_format {
    cl_image_format { image_channel_order: order, image_channel_data_type: data_type }
}

/// Returns an image description. Ignores dimensions that the type does not have.
pub const fn desc(kind: cl_uint, [width, height, third]: [usize; 3]) -> cl_image_desc {
    cl_image_desc {
        image_type: kind,
        image_width: width,
        image_height: height,
        image_depth: third,
        image_array_size: if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { height } else { third },
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        mem_object: null_mut(),
    }
}

/// Returns the size of an image with this description, as the region of a command.
pub fn extent(desc: &cl_image_desc) -> [usize; 3] {
    match desc.image_type {
        CL_MEM_OBJECT_IMAGE1D | CL_MEM_OBJECT_IMAGE1D_BUFFER => [desc.image_width, 1, 1],
        CL_MEM_OBJECT_IMAGE1D_ARRAY => [desc.image_width, desc.image_array_size, 1],
        CL_MEM_OBJECT_IMAGE2D => [desc.image_width, desc.image_height, 1],
        CL_MEM_OBJECT_IMAGE2D_ARRAY => [desc.image_width, desc.image_height, desc.image_array_size],
        _ => [desc.image_width, desc.image_height, desc.image_depth],
    }
}

pub fn try_image(
    context: &Context,
    flags: cl_bitfield,
    format: *const cl_image_format,
    desc: *const cl_image_desc,
    host: *mut c_void,
) -> Result<Mem, cl_int> {
    let mut status = 1;
    let mem = target().cl.clCreateImage(context.0, flags, format, desc, host, &mut status);
    assert_eq!(mem.is_null(), status != CL_SUCCESS);
    if mem.is_null() { Err(status) } else { Ok(Mem(mem)) }
}

/// Creates an image. A 1D buffer image gets a new buffer if the description has none.
pub fn image(context: &Context, flags: cl_bitfield, format: cl_image_format, desc: &cl_image_desc, host: *mut c_void) -> Mem {
    let mut desc = *desc;
    let mut _buffer = None;
    if desc.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER && desc.mem_object.is_null() {
        let buffer = context.buffer(desc.image_width * 16);
        desc.mem_object = buffer.0.cast();
        _buffer = Some(buffer);
    }
    try_image(context, flags, &format, &desc, host).unwrap_or_else(|status| {
        assert_eq!(status, CL_SUCCESS, "clCreateImage({flags:#x}, {format:x?}, {desc:?})");
        Mem(null_mut())
    })
}

/// A box of elements.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub origin: [usize; 3],
    pub region: [usize; 3],
}

/// The layout of a box in memory: the bytes from one row to the next, and from one slice to the next.
#[derive(Clone, Copy, Debug)]
pub struct Pitches {
    pub row: usize,
    pub slice: usize,
}

/// The contents of an image, without gaps.
pub struct Model {
    pub element: usize,
    pub extent: [usize; 3],
    pub bytes: Vec<u8>,
}

impl Model {
    pub fn new(element: usize, extent: [usize; 3], byte: impl FnMut(usize) -> u8) -> Self {
        let size = element * extent.iter().product::<usize>();
        Self { element, extent, bytes: (0..size).map(byte).collect() }
    }

    pub fn whole(&self) -> Area {
        Area { origin: [0; 3], region: self.extent }
    }

    /// Returns the rows of a box. Each row has its index, the index of its slice in the box, and its byte offset in the
    /// model.
    fn rows(&self, area: Area) -> Vec<(usize, usize, usize)> {
        let Area { origin: [x, y, z], region: [_, height, depth] } = area;
        let [width, rows, _] = self.extent;
        let mut found = Vec::new();
        for slice in 0..depth {
            for row in 0..height {
                found.push((row, slice, (((z + slice) * rows + y + row) * width + x) * self.element));
            }
        }
        found
    }

    /// Copies a box to memory with these pitches.
    pub fn get(&self, area: Area, pitches: Pitches, memory: &mut [u8]) {
        let size = area.region[0] * self.element;
        for (row, slice, from) in self.rows(area) {
            let to = slice * pitches.slice + row * pitches.row;
            memory[to..to + size].copy_from_slice(&self.bytes[from..from + size]);
        }
    }

    pub fn put(&mut self, area: Area, pitches: Pitches, memory: &[u8]) {
        let size = area.region[0] * self.element;
        for (row, slice, to) in self.rows(area) {
            let from = slice * pitches.slice + row * pitches.row;
            self.bytes[to..to + size].copy_from_slice(&memory[from..from + size]);
        }
    }

    /// Returns the pitches of a box without gaps.
    pub fn tight(&self, area: Area) -> Pitches {
        let row = area.region[0] * self.element;
        Pitches { row, slice: row * area.region[1] }
    }

    pub fn packed(&self, area: Area) -> Vec<u8> {
        let mut memory = vec![0; self.element * area.region.iter().product::<usize>()];
        self.get(area, self.tight(area), &mut memory);
        memory
    }
}

/// Reads a box of an image. The result has no gaps.
pub fn read(queue: &Queue, image: &Mem, area: Area, element: usize) -> Vec<u8> {
    let mut out = vec![0u8; element * area.region.iter().product::<usize>()];
    let (origin, region) = (area.origin.as_ptr(), area.region.as_ptr());
    let pointer = out.as_mut_ptr().cast();
    let status = target().cl.clEnqueueReadImage(queue.0, image.0, CL_TRUE, origin, region, 0, 0, pointer, 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS, "clEnqueueReadImage({area:?})");
    out
}

pub fn write(queue: &Queue, image: &Mem, area: Area, bytes: &[u8]) {
    let (origin, region) = (area.origin.as_ptr(), area.region.as_ptr());
    let pointer = bytes.as_ptr().cast();
    let status = target().cl.clEnqueueWriteImage(queue.0, image.0, CL_TRUE, origin, region, 0, 0, pointer, 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS, "clEnqueueWriteImage({area:?})");
}

pub fn image_info<T: Copy + Default>(image: cl_mem, name: cl_uint) -> Result<T, cl_int> {
    info(|size, value, ret| target().cl.clGetImageInfo(image, name, size, value, ret))
}

pub fn formats(context: &Context, flags: cl_bitfield, kind: cl_uint) -> Vec<cl_image_format> {
    let cl = &target().cl;
    let mut count = 0;
    assert_eq!(cl.clGetSupportedImageFormats(context.0, flags, kind, 0, null_mut(), &mut count), CL_SUCCESS);
    let mut all = vec![cl_image_format::default(); count as usize + 1];
    assert_eq!(cl.clGetSupportedImageFormats(context.0, flags, kind, count + 1, all.as_mut_ptr(), null_mut()), CL_SUCCESS);
    assert_eq!(all.pop(), Some(cl_image_format::default()), "at most the counted number");
    all
}
