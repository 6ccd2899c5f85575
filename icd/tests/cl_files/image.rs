//! Image and sampler arguments of `.cl` files: their notation, and the objects that they are.

use std::ptr::null_mut;

use super::element::Element;
use crate::common::ffi::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR,
    CL_FILTER_NEAREST, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER,
    CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_WRITE, CL_SUCCESS, cl_uint,
};
use crate::common::images::{Area, desc, extent, format, read, try_image};
use crate::common::objects::{Context, Mem, Queue, Sampler};
use crate::common::target;

/// An image, but for its contents: `image2d 8x4 RGBA UNORM_INT8`.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// cl_mem_object_type
    kind: cl_uint,
    /// Width, height or images of a 1D array, depth or images of a 2D array.
    sizes: [usize; 3],
    order: cl_uint,
    data_type: cl_uint,
    /// What a channel is in memory, or an element of a packed format.
    pub element: Element,
    /// Of those, in an element of the image.
    channels: usize,
}

/// Channel orders from CL_R on, and how many channels they have in memory.
const ORDERS: [(&str, usize); 20] = [
    ("R", 1),
    ("A", 1),
    ("RG", 2),
    ("RA", 2),
    ("RGB", 3),
    ("RGBA", 4),
    ("BGRA", 4),
    ("ARGB", 4),
    ("INTENSITY", 1),
    ("LUMINANCE", 1),
    ("Rx", 1),
    ("RGx", 2),
    ("RGBx", 3),
    ("DEPTH", 1),
    ("DEPTH_STENCIL", 1),
    ("sRGB", 3),
    ("sRGBx", 4),
    ("sRGBA", 4),
    ("sBGRA", 4),
    ("ABGR", 4),
];

/// Channel types from CL_SNORM_INT8 on, what they are in memory, and whether that is the whole element.
const TYPES: [(&str, Element, bool); 15] = [
    ("SNORM_INT8", Element::Char, false),
    ("SNORM_INT16", Element::Short, false),
    ("UNORM_INT8", Element::Uchar, false),
    ("UNORM_INT16", Element::Ushort, false),
    ("UNORM_SHORT_565", Element::Ushort, true),
    ("UNORM_SHORT_555", Element::Ushort, true),
    ("UNORM_INT_101010", Element::Uint, true),
    ("SIGNED_INT8", Element::Char, false),
    ("SIGNED_INT16", Element::Short, false),
    ("SIGNED_INT32", Element::Int, false),
    ("UNSIGNED_INT8", Element::Uchar, false),
    ("UNSIGNED_INT16", Element::Ushort, false),
    ("UNSIGNED_INT32", Element::Uint, false),
    ("HALF_FLOAT", Element::Half, false),
    ("FLOAT", Element::Float, false),
];

impl Form {
    /// Reads `image2d 8x4 RGBA UNORM_INT8`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [kind, sizes, order, data_type] = words.as_slice() else { return Err("an image is `KIND SIZES ORDER TYPE`".to_owned()) };
        let (kind, dimensions) = match *kind {
            "image1d" => (CL_MEM_OBJECT_IMAGE1D, 1),
            "image1d_buffer" => (CL_MEM_OBJECT_IMAGE1D_BUFFER, 1),
            "image1d_array" => (CL_MEM_OBJECT_IMAGE1D_ARRAY, 2),
            "image2d" => (CL_MEM_OBJECT_IMAGE2D, 2),
            "image2d_array" => (CL_MEM_OBJECT_IMAGE2D_ARRAY, 3),
            "image3d" => (CL_MEM_OBJECT_IMAGE3D, 3),
            other => return Err(format!("`{other}` is no kind of image")),
        };
        let given = sizes.split('x').map(str::parse).collect::<Result<Vec<usize>, _>>().map_err(|error| format!("{sizes}: {error}"))?;
        if given.len() != dimensions || given.contains(&0) {
            return Err(format!("{dimensions} sizes, please, instead of {sizes}"));
        }
        let sizes = std::array::from_fn(|dimension| given.get(dimension).copied().unwrap_or(1));
        let number = (0..).zip(ORDERS).find(|(_, (name, _))| name == order);
        let (order, channels) = number.map(|(number, (_, channels))| (0x10B0 + number, channels)).ok_or("unknown channel order")?;
        let number = (0..).zip(TYPES).find(|(_, (name, ..))| name == data_type);
        let (number, (_, element, packed)) = number.ok_or("unknown channel type")?;
        Ok(Self { kind, sizes, order, data_type: 0x10D0 + number, element, channels: if packed { 1 } else { channels } })
    }

    /// Scalars that its contents are.
    pub fn count(&self) -> usize {
        self.sizes.iter().product::<usize>() * self.channels
    }

    /// An image with those contents.
    pub fn create(&self, context: &Context, bytes: &mut [u8]) -> Result<Mem, String> {
        let mut desc = desc(self.kind, self.sizes);
        let mut flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        let mut host = bytes.as_mut_ptr().cast();
        // The image holds on to it.
        let mut _buffer = None;
        if self.kind == CL_MEM_OBJECT_IMAGE1D_BUFFER {
            let buffer = context.buffer_with(flags, bytes.len(), host);
            desc.mem_object = buffer.0;
            (flags, host) = (CL_MEM_READ_WRITE, null_mut());
            _buffer = Some(buffer);
        }
        try_image(context, flags, &format(self.order, self.data_type), &desc, host).map_err(|status| format!("clCreateImage gave {status}"))
    }

    /// What an image of this form holds.
    pub fn read(&self, queue: &Queue, image: &Mem) -> Vec<u8> {
        let area = Area { origin: [0; 3], region: extent(&desc(self.kind, self.sizes)) };
        read(queue, image, area, self.channels * self.element.size())
    }
}

/// What a sampler is made of: whether coordinates are normalised, the addressing mode, the filter.
#[derive(Clone, Copy, Debug)]
pub struct SamplerForm(cl_uint, cl_uint, cl_uint);

impl SamplerForm {
    /// Reads `normalized repeat linear`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [coordinates, mode, filter] = words.as_slice() else { return Err("a sampler is `COORDINATES MODE FILTER`".to_owned()) };
        let normalized = match *coordinates {
            "normalized" => 1,
            "unnormalized" => 0,
            other => return Err(format!("`{other}` is neither normalized nor unnormalized")),
        };
        let mode = match *mode {
            "none" => CL_ADDRESS_NONE,
            "clamp" => CL_ADDRESS_CLAMP,
            "clamp_to_edge" => CL_ADDRESS_CLAMP_TO_EDGE,
            "repeat" => CL_ADDRESS_REPEAT,
            "mirrored_repeat" => CL_ADDRESS_MIRRORED_REPEAT,
            other => return Err(format!("`{other}` is no addressing mode")),
        };
        let filter = match *filter {
            "nearest" => CL_FILTER_NEAREST,
            "linear" => CL_FILTER_LINEAR,
            other => return Err(format!("`{other}` is no filter")),
        };
        Ok(Self(normalized, mode, filter))
    }

    pub fn create(self, context: &Context) -> Result<Sampler, String> {
        let mut status = 1;
        let sampler = target().cl.clCreateSampler(context.0, self.0, self.1, self.2, &mut status);
        if status == CL_SUCCESS { Ok(Sampler(sampler)) } else { Err(format!("clCreateSampler gave {status}")) }
    }
}
