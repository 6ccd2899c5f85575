//! Parses the notation of image and sampler arguments.

use crate::element::Element;
use crate::error::NotationError;
use wgcl_opencl_headers::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR,
    CL_FILTER_NEAREST, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D,
};

type Result<T> = std::result::Result<T, NotationError>;

/// The properties of an image: `image2d 8x4 RGBA UNORM_INT8`, or `image2d 8x4 RGBA UNORM_INT8 levels 3`.
#[derive(Clone, Copy, Debug)]
pub struct ImageProperties {
    /// cl_mem_object_type
    pub kind: u32,
    /// The width, the height (for a 1D array the array size), and the depth (for a 2D array the array size). 1 for a
    /// missing dimension.
    pub sizes: [usize; 3],
    /// cl_channel_order
    pub order: u32,
    /// cl_channel_type
    pub data_type: u32,
    /// The scalar type in memory: that of a channel, or of a whole element in a packed format.
    pub element: Element,
    /// Number of scalars per element of the image.
    pub channels: usize,
    /// Number of mip levels, or 1 for an image without a mipmap. The contents begin with the largest level.
    pub levels: u32,
}

/// A mip level of an image.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// The `origin` argument of commands on this level.
    pub origin: [usize; 4],
    /// The sizes of the level, in the order of [`ImageProperties::sizes`].
    pub sizes: [usize; 3],
}

/// The channel orders in the order of their values, from CL_R on. Each has its number of channels in memory.
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

/// The channel types in the order of their values, from CL_SNORM_INT8 on. Each has its scalar type in memory, and
/// whether it is a packed format.
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

/// Packed channel types whose values do not follow those of [`TYPES`], and their values.
const MORE_TYPES: [(&str, u32); 2] = [("UNORM_INT_101010_2", 0x10E0), ("UNORM_INT_2_101010", 0x10E5)];

impl ImageProperties {
    /// Parses the properties of an image, such as `image2d 8x4 RGBA UNORM_INT8`.
    ///
    /// # Errors
    /// Fails if a part of the text is invalid.
    pub fn parse(text: &str) -> Result<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (words, levels) = match words.as_slice() {
            [words @ .., "levels", count] => {
                (words, count.parse().map_err(|error| format!("`{count}` is not a number of levels: {error}"))?)
            }
            words => (words, 1),
        };
        let [kind, sizes, order, data_type] = words else {
            return Err("expected an image of the form `KIND SIZES ORDER TYPE [levels N]`".into());
        };
        if !(1..=32).contains(&levels) {
            return Err(format!("the number of levels must be 1 to 32, not {levels}").into());
        }
        let (kind, dimensions) = match *kind {
            "image1d" => (CL_MEM_OBJECT_IMAGE1D, 1),
            "image1d_buffer" => (CL_MEM_OBJECT_IMAGE1D_BUFFER, 1),
            "image1d_array" => (CL_MEM_OBJECT_IMAGE1D_ARRAY, 2),
            "image2d" => (CL_MEM_OBJECT_IMAGE2D, 2),
            "image2d_array" => (CL_MEM_OBJECT_IMAGE2D_ARRAY, 3),
            "image3d" => (CL_MEM_OBJECT_IMAGE3D, 3),
            other => return Err(format!("`{other}` is not an image type").into()),
        };
        let given = sizes
            .split('x')
            .map(str::parse)
            .collect::<std::result::Result<Vec<usize>, _>>()
            .map_err(|error| format!("`{sizes}` is not an image size, such as `8x4`: {error}"))?;
        if given.len() != dimensions || given.contains(&0) {
            let numbers = if dimensions == 1 { "positive number" } else { "positive numbers, separated by `x`" };
            let is_array = matches!(kind, CL_MEM_OBJECT_IMAGE1D_ARRAY | CL_MEM_OBJECT_IMAGE2D_ARRAY);
            let last = if is_array { "; the last one is the array size" } else { "" };
            return Err(format!("image size `{sizes}`: expected {dimensions} {numbers}{last}").into());
        }
        // The product starts with the maximum size of an element: four channels of four bytes.
        given.iter().try_fold(16_usize, |bytes, size| bytes.checked_mul(*size)).ok_or("the image is too large")?;
        let sizes = std::array::from_fn(|dimension| given.get(dimension).copied().unwrap_or(1));
        let number = (0..).zip(ORDERS).find(|(_, (name, _))| name == order);
        let (order, channels) =
            number.map(|(number, (_, channels))| (0x10B0 + number, channels)).ok_or_else(|| format!("unknown channel order `{order}`"))?;
        let first =
            (0x10D0..).zip(TYPES).find(|(_, (name, ..))| name == data_type).map(|(number, (_, element, packed))| (number, element, packed));
        let more = || MORE_TYPES.iter().find(|(name, _)| name == data_type).map(|&(_, number)| (number, Element::Uint, true));
        let (data_type, element, packed) = first.or_else(more).ok_or_else(|| format!("unknown channel type `{data_type}`"))?;
        Ok(Self { kind, sizes, order, data_type, element, channels: if packed { 1 } else { channels }, levels })
    }

    /// Returns the mip levels. Each level has half the width, height and depth of the previous one, rounded down, but
    /// at least 1. All levels have the same array size.
    pub fn levels(&self) -> impl Iterator<Item = Level> {
        let form = *self;
        let whole = usize::from(form.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY) + 2 * usize::from(form.kind == CL_MEM_OBJECT_IMAGE2D_ARRAY);
        let place = match form.kind {
            CL_MEM_OBJECT_IMAGE1D => 1,
            CL_MEM_OBJECT_IMAGE1D_ARRAY | CL_MEM_OBJECT_IMAGE2D => 2,
            _ => 3,
        };
        (0..form.levels).map(move |level| {
            let sizes = std::array::from_fn(|dimension| {
                let size = form.sizes[dimension];
                if whole == dimension && whole != 0 { size } else { size.checked_shr(level).unwrap_or(0).max(1) }
            });
            let mut origin = [0; 4];
            origin[place] = level as usize;
            Level { origin, sizes }
        })
    }

    /// Returns the number of scalars in a region of these sizes.
    pub fn scalars(&self, sizes: [usize; 3]) -> usize {
        sizes.iter().product::<usize>() * self.channels
    }

    /// Returns the number of scalars in all levels.
    pub fn count(&self) -> usize {
        self.levels().map(|level| self.scalars(level.sizes)).sum()
    }
}

/// The properties of a sampler.
#[derive(Clone, Copy, Debug)]
pub struct SamplerProperties {
    /// Whether coordinates are normalised, as a cl_bool.
    pub normalized: u32,
    /// cl_addressing_mode
    pub addressing: u32,
    /// cl_filter_mode
    pub filter: u32,
    /// The cl_filter_mode between mip levels, and the minimum and maximum level. `None` without a filter between
    /// levels.
    pub levels: Option<(u32, f32, f32)>,
}

impl SamplerProperties {
    /// Parses the properties of a sampler, such as `normalized repeat linear` or
    /// `normalized repeat linear mip_linear 0.5..2`.
    ///
    /// # Errors
    /// Fails if a part of the text is invalid.
    pub fn parse(text: &str) -> Result<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [coordinates, mode, filter, levels @ ..] = words.as_slice() else {
            return Err("expected a sampler of the form `COORDINATES MODE FILTER [mip_FILTER [MIN..MAX]]`".into());
        };
        let normalized = match *coordinates {
            "normalized" => 1,
            "unnormalized" => 0,
            other => return Err(format!("`{other}` is neither normalized nor unnormalized").into()),
        };
        let addressing = match *mode {
            "none" => CL_ADDRESS_NONE,
            "clamp" => CL_ADDRESS_CLAMP,
            "clamp_to_edge" => CL_ADDRESS_CLAMP_TO_EDGE,
            "repeat" => CL_ADDRESS_REPEAT,
            "mirrored_repeat" => CL_ADDRESS_MIRRORED_REPEAT,
            other => return Err(format!("`{other}` is not an addressing mode").into()),
        };
        let filter_of = |text: &str| match text {
            "nearest" => Ok(CL_FILTER_NEAREST),
            "linear" => Ok(CL_FILTER_LINEAR),
            other => Err(NotationError::from(format!("`{other}` is not a filter mode"))),
        };
        let number = |text: &str| text.parse::<f32>().map_err(|error| NotationError::from(format!("{text}: {error}")));
        let between = |filter: &str| filter_of(filter.strip_prefix("mip_").unwrap_or(filter));
        let levels = match levels {
            [] => None,
            [filter] => Some((between(filter)?, 0.0, f32::MAX)),
            [filter, bounds] => {
                let (min_lod, max_lod) = bounds.split_once("..").ok_or("expected bounds of levels of the form `MIN..MAX`")?;
                Some((between(filter)?, number(min_lod)?, number(max_lod)?))
            }
            _ => return Err("unexpected text after the sampler".into()),
        };
        Ok(Self { normalized, addressing, filter: filter_of(filter)?, levels })
    }
}
