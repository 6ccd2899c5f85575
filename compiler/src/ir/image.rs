//! Functions of images in the IR: what the source asks for, until a launch knows the format of each image and the values of samplers and
//! makes loads and stores of it (`image::expand`).

use serde::{Deserialize, Serialize};

use super::{Scalar, Type};

/// cl_image_format: the numbers are the API's, which OpenCL C shares (CLK_RGBA is CL_RGBA).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageFormat {
    /// cl_channel_order
    pub order: u16,
    /// cl_channel_type
    pub data_type: u16,
}

impl ImageFormat {
    /// Bytes of an element.
    pub const fn element_size(self) -> u32 {
        let channels = match self.order {
            // RG, RA and RGx; RGB and sRGB; what has four.
            0x10b2 | 0x10b3 | 0x10bb => 2,
            0x10b4 | 0x10bf => 3,
            0x10b5..=0x10b7 | 0x10bc | 0x10c0..=0x10c3 => 4,
            _ => 1,
        };
        match self.data_type {
            // Packed: 565 and 555, 101010, 101010_2 and 2_101010.
            0x10d4 | 0x10d5 => 2,
            0x10d6 | 0x10e0 | 0x10e5 => 4,
            0x10d0 | 0x10d2 | 0x10d7 | 0x10da => channels,
            0x10d1 | 0x10d3 | 0x10d8 | 0x10db | 0x10dd => channels * 2,
            _ => channels * 4,
        }
    }

    /// The order in the upper half, the data type in the lower.
    pub const fn word(self) -> u32 {
        (self.order as u32) << 16 | self.data_type as u32
    }
}

/// An image, as its launch sees it. The first element is the first byte of the memory that is bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ImageDescriptor {
    /// Elements in a row.
    pub width: u32,
    /// Rows; 1 for images of one dimension.
    pub height: u32,
    /// Slices of a three-dimensional image, else 1.
    pub depth: u32,
    /// Images of an array, else 1.
    pub array_size: u32,
    /// Bytes from a row to the next.
    pub row_pitch: u32,
    /// Bytes from a slice, or an image of an array, to the next.
    pub slice_pitch: u32,
    /// Its format.
    pub format: ImageFormat,
    /// Levels of a mipmapped image, else 1. They follow each other without gaps, and each has half the width, height and depth of the one before, rounded down, but 1 at least;
    /// the sizes and pitches above are those of the first.
    pub levels: u32,
}

/// Words of [`ImageDescriptor::words`].
pub const WORDS: u32 = 8;

/// Index of the format in [`ImageDescriptor::words`].
pub const FORMAT_WORD: u8 = 6;

/// Index of the number of levels in [`ImageDescriptor::words`].
pub const LEVELS_WORD: u8 = 7;

/// Behind those: not of the descriptor, but which of the kernel's parameters the image is, counted from 0.
pub const PARAMETER_WORD: u8 = 8;

impl ImageDescriptor {
    /// As it is handed to a kernel: width, height, depth, array size, row pitch, slice pitch, format, levels.
    pub const fn words(&self) -> [u32; WORDS as usize] {
        [self.width, self.height, self.depth, self.array_size, self.row_pitch, self.slice_pitch, self.format.word(), self.levels]
    }
}

/// The value of a sampler, as a launch hands it to a kernel: the bits of OpenCL C's CLK_ constants, and what of a mipmapped image they do not say. A constant of the source has the
/// defaults of that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerWord {
    /// CL_SAMPLER_NORMALIZED_COORDS
    pub normalized: bool,
    /// cl_addressing_mode, counted from CL_ADDRESS_NONE.
    pub addressing: u32,
    /// Whether CL_SAMPLER_FILTER_MODE is CL_FILTER_LINEAR.
    pub linear: bool,
    /// Whether CL_SAMPLER_MIP_FILTER_MODE_KHR is that.
    pub mip_linear: bool,
    /// CL_SAMPLER_LOD_MIN_KHR and CL_SAMPLER_LOD_MAX_KHR: kept in 256ths of a level, of which texture units have no more.
    pub lods: (f32, f32),
}

impl SamplerWord {
    /// CLK_FILTER_LINEAR of the levels.
    const MIP_LINEAR: u32 = 0x40;
    /// The largest number of 256ths that a bound of levels has; as the upper bound it is none.
    const MOST: u32 = 0xfff;

    /// In one word: CLK_ bits, in bits 8 to 19 the lower bound, in 20 to 31 what the upper one is less than [`Self::MOST`].
    pub const fn bits(self) -> u32 {
        // Casts of floats stop at the bounds; what is no number is 0.
        const fn fixed(lod: f32) -> u32 {
            let steps = (lod * 256.0 + 0.5) as u32;
            if steps < SamplerWord::MOST { steps } else { SamplerWord::MOST }
        }
        let filter = if self.linear { 0x20 } else { 0x10 };
        let mip = if self.mip_linear { Self::MIP_LINEAR } else { 0 };
        let (least, most) = self.lods;
        self.normalized as u32 | self.addressing << 1 | filter | mip | fixed(least) << 8 | (Self::MOST - fixed(most)) << 20
    }
}

/// How many coordinates an image has. An image of a buffer is like one of one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImageShape {
    D1,
    D1Array,
    D2,
    D2Array,
    D3,
}

/// What a channel of a colour is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Colour {
    Float,
    Int,
    UInt,
    /// Numbers of so many bytes that the image's memory is seen as, whatever its format; the first coordinate counts them. Eight bytes are two channels.
    Raw(u8),
}

/// How an element is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Coordinates {
    /// Integers, without a sampler.
    Plain,
    /// Integers, with a sampler.
    Int,
    /// Floats, with a sampler.
    Float,
}

/// Which level of a mipmapped image is meant (cl_khr_mipmap_image).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Level {
    /// The first one.
    Base,
    /// That of a number: a float where coordinates are floats, else an integer.
    Lod,
    /// That which the differences of the coordinates between neighbours in two directions ask for.
    Gradients,
}

/// `read_image` or `write_image`. Operands: the image, the sampler where coordinates need one, the coordinates, what the level is chosen by; to write, a colour of four channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageCall {
    /// `write_image`; its coordinates are plain.
    pub write: bool,
    /// Of the image.
    pub shape: ImageShape,
    /// Of the function.
    pub colour: Colour,
    /// Of the call.
    pub coordinates: Coordinates,
    /// Of the image; gradients go with coordinates that are floats.
    pub level: Level,
}

impl ImageShape {
    /// Lanes of its coordinates.
    pub const fn lanes(self) -> u8 {
        match self {
            Self::D1 => 1,
            Self::D1Array | Self::D2 => 2,
            Self::D2Array | Self::D3 => 4,
        }
    }

    /// Lanes of the gradients of its coordinates: layers have none.
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
    /// What numbers of so many bytes (1, 2, 4 or 8) are.
    pub const fn raw(bytes: u32) -> Self {
        Self::Raw(bytes as u8)
    }

    /// The format that an image is taken for.
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

    /// Four channels.
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
    /// What it adds to the name of a call.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Base => "",
            Self::Lod => ".lod",
            Self::Gradients => ".gradients",
        }
    }
}

impl ImageCall {
    /// Types of the operands but the image.
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

    /// Type of the result; a write has none.
    pub const fn result(self) -> Option<Type> {
        if self.write { None } else { Some(self.colour.ty()) }
    }

    /// As it stands in the text form.
    pub fn name(self) -> String {
        let what = if self.write { "write" } else { "read" };
        format!("{what}.{}.{}.{}{}", self.shape.name(), self.colour.name(), self.coordinates.name(), self.level.suffix())
    }

    /// The call of that name.
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
