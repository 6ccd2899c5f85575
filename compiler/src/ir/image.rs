//! Image functions in the IR. The IR keeps the calls until a kernel is specialised for the image formats and samplers
//! of a launch. Then `crate::image::expand` expands them to loads and stores.

use serde::{Deserialize, Serialize};

use super::{Scalar, Type};

/// cl_image_format. OpenCL C uses the API's numbers (CLK_RGBA is CL_RGBA).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageFormat {
    /// cl_channel_order
    pub order: u16,
    /// cl_channel_type
    pub data_type: u16,
}

impl ImageFormat {
    /// Size of an element in bytes.
    pub const fn element_size(self) -> u32 {
        let channels = match self.order {
            // The arms, in order: formats with two channels, RGB and sRGB with three channels, formats with four
            // channels.
            0x10b2 | 0x10b3 | 0x10bb => 2,
            0x10b4 | 0x10bf => 3,
            0x10b5..=0x10b7 | 0x10bc | 0x10c0..=0x10c3 => 4,
            _ => 1,
        };
        match self.data_type {
            // Packed formats: 565 and 555 have 2 bytes. 101010, 101010_2 and 2_101010 have 4 bytes.
            0x10d4 | 0x10d5 => 2,
            0x10d6 | 0x10e0 | 0x10e5 => 4,
            0x10d0 | 0x10d2 | 0x10d7 | 0x10da => channels,
            0x10d1 | 0x10d3 | 0x10d8 | 0x10db | 0x10dd => channels * 2,
            _ => channels * 4,
        }
    }

    /// The order in the upper 16 bits and the data type in the lower 16 bits.
    pub const fn word(self) -> u32 {
        (self.order as u32) << 16 | self.data_type as u32
    }
}

/// An image argument of a launch. The first element is at offset 0 of the bound memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ImageDescriptor {
    /// Elements per line.
    pub width: u32,
    /// Number of lines; 1 for one-dimensional images.
    pub height: u32,
    /// Slices of a three-dimensional image, samples of a multisample image, otherwise 1.
    pub depth: u32,
    /// Number of images in an array, otherwise 1. For a multisample image, the number of layers times the number of
    /// samples.
    pub array_size: u32,
    /// Distance between lines in bytes.
    pub row_pitch: u64,
    /// Distance in bytes between slices, or between images of an array.
    pub slice_pitch: u64,
    pub format: ImageFormat,
    /// Number of levels of a mipmapped image, otherwise 1. The levels are consecutive in memory. Each has half the
    /// width, height and depth of the previous level, rounded down, but at least 1. The other fields describe the first
    /// level.
    pub levels: u32,
}

/// The number of words of [`ImageDescriptor::words`].
pub const WORDS: u32 = 10;

/// Indices of the lower halves of the row pitch and the slice pitch in [`ImageDescriptor::words`].
pub const PITCH_WORDS: [u8; 2] = [4, 5];

/// Index of the number of samples in [`ImageDescriptor::words`]. A multisample image has no depth, so it is the word of
/// the depth. It is not 0 for any image.
pub const SAMPLES_WORD: u8 = 2;

/// Index of the format in [`ImageDescriptor::words`].
pub const FORMAT_WORD: u8 = 6;

/// Index of the number of levels in [`ImageDescriptor::words`].
pub const LEVELS_WORD: u8 = 7;

/// The index of the upper half of a pitch minus the index of its lower half, in [`ImageDescriptor::words`].
pub const UPPER_PITCH_WORD: u8 = 4;

/// Index of a word that is not part of the descriptor: the index of the kernel's image parameter, from 0.
pub const PARAMETER_WORD: u8 = 10;

impl ImageDescriptor {
    /// The words that a kernel reads: width, height, depth, array size, lower halves of row pitch and slice pitch,
    /// format, levels, upper halves of both pitches.
    pub const fn words(&self) -> [u32; WORDS as usize] {
        let (row, slice) = (self.row_pitch, self.slice_pitch);
        [
            self.width,
            self.height,
            self.depth,
            self.array_size,
            row as u32,
            slice as u32,
            self.format.word(),
            self.levels,
            (row >> 32) as u32,
            (slice >> 32) as u32,
        ]
    }
}

/// The value of a sampler in a launch: the bits of OpenCL C's CLK_ constants, and additional properties for mipmapped
/// images. A sampler constant in the source uses the defaults of the additional properties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerWord {
    /// CL_SAMPLER_NORMALIZED_COORDS
    pub normalized: bool,
    /// cl_addressing_mode minus CL_ADDRESS_NONE.
    pub addressing: u32,
    /// Whether CL_SAMPLER_FILTER_MODE is CL_FILTER_LINEAR.
    pub linear: bool,
    /// Whether CL_SAMPLER_MIP_FILTER_MODE_KHR is CL_FILTER_LINEAR.
    pub mip_linear: bool,
    /// CL_SAMPLER_LOD_MIN_KHR and CL_SAMPLER_LOD_MAX_KHR, in levels. [`Self::bits`] rounds them to 256ths of a level,
    /// the precision of texture units.
    pub lods: (f32, f32),
}

impl SamplerWord {
    /// The bit for linear filtering between levels.
    const MIP_LINEAR: u32 = 0x40;
    /// The largest bound of a level in 256ths. As the upper bound it means that there is no limit.
    const MAX_LOD: u32 = 0xfff;

    /// The sampler as a word: CLK_ bits, the lower bound in bits 8 to 19, and [`Self::MAX_LOD`] minus the upper bound
    /// in bits 20 to 31.
    pub const fn bits(self) -> u32 {
        // Casts from floats to integers saturate, and NaN becomes 0.
        const fn fixed(lod: f32) -> u32 {
            let steps = (lod * 256.0 + 0.5) as u32;
            if steps < SamplerWord::MAX_LOD { steps } else { SamplerWord::MAX_LOD }
        }
        let filter = if self.linear { 0x20 } else { 0x10 };
        let mip = if self.mip_linear { Self::MIP_LINEAR } else { 0 };
        let (least, most) = self.lods;
        self.normalized as u32 | self.addressing << 1 | filter | mip | fixed(least) << 8 | (Self::MAX_LOD - fixed(most)) << 20
    }

    /// The sampler with these [bits](Self::bits). The bounds of levels are those of the bits, which are rounded.
    pub const fn from_bits(bits: u32) -> Self {
        let most = Self::MAX_LOD - (bits >> 20);
        let most = if most == Self::MAX_LOD { f32::MAX } else { most as f32 / 256.0 };
        Self {
            normalized: bits & 1 != 0,
            addressing: bits >> 1 & 7,
            linear: bits & 0x20 != 0,
            mip_linear: bits & Self::MIP_LINEAR != 0,
            lods: ((bits >> 8 & Self::MAX_LOD) as f32 / 256.0, most),
        }
    }
}

/// The dimensions of an image. An image of a buffer has the shape of a one-dimensional image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImageShape {
    D1,
    D1Array,
    D2,
    D2Array,
    D3,
}

/// The type of the channels of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Colour {
    Float,
    Int,
    UInt,
    /// The image's memory as integers of N bytes, independent of its format. The first coordinate is an index of these
    /// integers. An 8-byte integer is returned as two 32-bit channels.
    Raw(u8),
}

/// The type of the coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Coordinates {
    /// Integers, without a sampler.
    Plain,
    /// Integers, with a sampler.
    Int,
    /// Floats, with a sampler.
    Float,
}

/// How a call specifies the level of a mipmapped image (cl_khr_mipmap_image).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Level {
    /// The first level.
    Base,
    /// A level number: a float if the coordinates are floats, otherwise an integer.
    Lod,
    /// The level that follows from explicit gradients of the coordinates in two directions.
    Gradients,
}

/// A call of `read_image` or `write_image`. Operands: the image, the sampler if the coordinates require one, the
/// coordinates, the level or gradients if specified, and for writes a colour with four channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageCall {
    /// Whether the call is a `write_image`, which has integer coordinates.
    pub write: bool,
    pub shape: ImageShape,
    pub colour: Colour,
    pub coordinates: Coordinates,
    /// The level. Gradients require float coordinates.
    pub level: Level,
}

impl ImageShape {
    /// The number of components of the coordinates.
    pub const fn lanes(self) -> u8 {
        match self {
            Self::D1 => 1,
            Self::D1Array | Self::D2 => 2,
            Self::D2Array | Self::D3 => 4,
        }
    }

    /// The number of components of each gradient. The array layer has no gradient.
    pub const fn gradient_lanes(self) -> u8 {
        match self {
            Self::D1 | Self::D1Array => 1,
            Self::D2 | Self::D2Array => 2,
            Self::D3 => 4,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::D1 => "1d",
            Self::D1Array => "1d_array",
            Self::D2 => "2d",
            Self::D2Array => "2d_array",
            Self::D3 => "3d",
        }
    }
}

impl Colour {
    /// The colour for elements that are integers of 1, 2, 4 or 8 bytes.
    pub const fn raw(bytes: u32) -> Self {
        Self::Raw(bytes as u8)
    }

    /// Returns the format with which a call with this colour accesses the memory of an image with format `image`.
    pub const fn format(self, image: ImageFormat) -> ImageFormat {
        let (r, rg) = (0x10b0, 0x10b2);
        let (uint8, uint16, uint32) = (0x10da, 0x10db, 0x10dc);
        match self {
            Self::Raw(1) => ImageFormat { order: r, data_type: uint8 },
            Self::Raw(2) => ImageFormat { order: r, data_type: uint16 },
            Self::Raw(4) => ImageFormat { order: r, data_type: uint32 },
            Self::Raw(_) => ImageFormat { order: rg, data_type: uint32 },
            _ => image,
        }
    }

    /// The type of a colour, a vector of four channels.
    pub const fn ty(self) -> Type {
        Type::Vector(if matches!(self, Self::Float) { Scalar::F32 } else { Scalar::I32 }, 4)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Int => "int",
            Self::UInt => "uint",
            Self::Raw(1) => "raw8",
            Self::Raw(2) => "raw16",
            Self::Raw(4) => "raw32",
            Self::Raw(_) => "raw64",
        }
    }
}

impl Coordinates {
    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Int => "sampled_int",
            Self::Float => "sampled_float",
        }
    }
}

impl Level {
    /// The suffix in the name of a call.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Base => "",
            Self::Lod => ".lod",
            Self::Gradients => ".gradients",
        }
    }
}

impl ImageCall {
    /// Types of the operands after the image.
    pub fn operands(self) -> Vec<Type> {
        let mut list = Vec::new();
        if self.coordinates != Coordinates::Plain {
            list.push(Type::I32);
        }
        let coordinate = if self.coordinates == Coordinates::Float { Scalar::F32 } else { Scalar::I32 };
        list.push(Type::of(coordinate, self.shape.lanes()));
        match self.level {
            Level::Base => {}
            Level::Lod => list.push(Type::Scalar(coordinate)),
            Level::Gradients => list.extend([Type::of(coordinate, self.shape.gradient_lanes()); 2]),
        }
        if self.write {
            list.push(self.colour.ty());
        }
        list
    }

    /// Type of the result. `None` for a write.
    pub const fn result(self) -> Option<Type> {
        if self.write { None } else { Some(self.colour.ty()) }
    }

    /// The name in the text form.
    pub fn name(self) -> String {
        let what = if self.write { "write" } else { "read" };
        format!("{what}.{}.{}.{}{}", self.shape.name(), self.colour.name(), self.coordinates.name(), self.level.suffix())
    }

    /// Returns the call with this name in the text form. `None` if the name is not valid.
    pub fn parse(name: &str) -> Option<Self> {
        let shapes = [ImageShape::D1, ImageShape::D1Array, ImageShape::D2, ImageShape::D2Array, ImageShape::D3];
        let raw = [1, 2, 4, 8].map(Colour::Raw);
        let colours = [Colour::Float, Colour::Int, Colour::UInt];
        let coordinates = [Coordinates::Plain, Coordinates::Int, Coordinates::Float];
        let levels = [Level::Gradients, Level::Lod, Level::Base];
        let (level, name) = levels.into_iter().find_map(|level| Some((level, name.strip_suffix(level.suffix())?)))?;
        let mut parts = name.split('.');
        let write = match parts.next()? {
            "write" => true,
            "read" => false,
            _ => return None,
        };
        let (shape, colour, coordinate) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            write,
            shape: shapes.into_iter().find(|known| known.name() == shape)?,
            colour: colours.into_iter().chain(raw).find(|known| known.name() == colour)?,
            coordinates: coordinates.into_iter().find(|known| known.name() == coordinate)?,
            level,
        })
    }
}
