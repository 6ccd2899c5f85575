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
}

/// Words of [`ImageDescriptor::words`].
pub const WORDS: u32 = 8;

/// Index of the format in [`ImageDescriptor::words`].
pub const FORMAT_WORD: u8 = 6;

impl ImageDescriptor {
    /// As it is handed to a kernel: width, height, depth, array size, row pitch, slice pitch, format, 0.
    pub const fn words(&self) -> [u32; WORDS as usize] {
        [self.width, self.height, self.depth, self.array_size, self.row_pitch, self.slice_pitch, self.format.word(), 0]
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

/// `read_image` or `write_image`. Operands: the image, the sampler where coordinates need one, the coordinates; to write, a colour of four channels.
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
    /// Four channels.
    pub const fn ty(self) -> Type {
        Type::Vector(if matches!(self, Self::Float) { Scalar::F32 } else { Scalar::I32 }, 4)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Int => "int",
            Self::UInt => "uint",
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

impl ImageCall {
    /// Types of the operands but the image.
    pub fn operands(self) -> Vec<Type> {
        let mut list = Vec::new();
        if self.coordinates != Coordinates::Plain {
            list.push(Type::I32);
        }
        list.push(Type::of(if self.coordinates == Coordinates::Float { Scalar::F32 } else { Scalar::I32 }, self.shape.lanes()));
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
        format!("{what}.{}.{}.{}", self.shape.name(), self.colour.name(), self.coordinates.name())
    }

    /// The call of that name.
    pub fn parse(name: &str) -> Option<Self> {
        let shapes = [ImageShape::D1, ImageShape::D1Array, ImageShape::D2, ImageShape::D2Array, ImageShape::D3];
        let colours = [Colour::Float, Colour::Int, Colour::UInt];
        let coordinates = [Coordinates::Plain, Coordinates::Int, Coordinates::Float];
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
            colour: colours.into_iter().find(|known| known.name() == colour)?,
            coordinates: coordinates.into_iter().find(|known| known.name() == coordinate)?,
        })
    }
}
