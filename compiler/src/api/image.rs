//! Images and samplers as arguments.

use crate::image;

/// The format of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ImageFormat {
    /// Four channels of 8 bits, from 0 to 1 (CL_RGBA, CL_UNORM_INT8).
    #[default]
    Rgba8,
    /// Four channels of 8 bits (CL_RGBA, CL_UNSIGNED_INT8).
    Rgba8Uint,
    /// Four floats (CL_RGBA, CL_FLOAT).
    Rgba32Float,
    /// One channel of 8 bits, from 0 to 1 (CL_R, CL_UNORM_INT8).
    R8,
    /// One float (CL_R, CL_FLOAT).
    R32Float,
}

impl ImageFormat {
    pub(super) const fn inner(self) -> image::ImageFormat {
        const R: u16 = 0x10b0;
        const RGBA: u16 = 0x10b5;
        const UNORM_INT8: u16 = 0x10d2;
        const UNSIGNED_INT8: u16 = 0x10da;
        const FLOAT: u16 = 0x10de;
        let (order, data_type) = match self {
            Self::Rgba8 => (RGBA, UNORM_INT8),
            Self::Rgba8Uint => (RGBA, UNSIGNED_INT8),
            Self::Rgba32Float => (RGBA, FLOAT),
            Self::R8 => (R, UNORM_INT8),
            Self::R32Float => (R, FLOAT),
        };
        image::ImageFormat { order, data_type }
    }
}

/// A two-dimensional image. Its pixels are in a buffer, line by line, without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Image {
    pub width: u32,
    pub height: u32,
    pub format: ImageFormat,
}

impl Image {
    pub const fn new(width: u32, height: u32, format: ImageFormat) -> Self {
        Self { width, height, format }
    }

    /// Returns the size of the buffer in bytes.
    pub const fn size(&self) -> u64 {
        self.row() * self.height as u64
    }

    /// Returns the bytes that [`Shader::arguments`](super::Shader::arguments) expects for the argument.
    pub fn argument(&self) -> Vec<u8> {
        self.words().iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    const fn row(&self) -> u64 {
        self.format.inner().element_size() as u64 * self.width as u64
    }

    pub(super) const fn words(&self) -> [u32; image::WORDS as usize] {
        let descriptor = image::ImageDescriptor {
            width: self.width,
            height: self.height,
            depth: 1,
            array_size: 1,
            row_pitch: self.row(),
            slice_pitch: self.size(),
            format: self.format.inner(),
            levels: 1,
        };
        descriptor.words()
    }
}

/// How a sampler treats coordinates outside of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Addressing {
    /// The border colour (CLK_ADDRESS_CLAMP).
    Clamp,
    /// The nearest pixel of the image (CLK_ADDRESS_CLAMP_TO_EDGE).
    #[default]
    ClampToEdge,
    /// CLK_ADDRESS_REPEAT, which needs normalised coordinates.
    Repeat,
    /// CLK_ADDRESS_MIRRORED_REPEAT, which needs normalised coordinates.
    MirroredRepeat,
}

/// A sampler argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Whether coordinates are from 0 to 1.
    pub is_normalized: bool,
    pub addressing: Addressing,
    /// Whether colours are interpolated linearly.
    pub is_linear: bool,
}

impl Sampler {
    pub(super) const fn bits(self) -> u32 {
        let addressing = match self.addressing {
            Addressing::ClampToEdge => 1,
            Addressing::Clamp => 2,
            Addressing::Repeat => 3,
            Addressing::MirroredRepeat => 4,
        };
        image::SamplerWord { normalized: self.is_normalized, addressing, linear: self.is_linear, mip_linear: false, lods: (0.0, f32::MAX) }
            .bits()
    }
}
