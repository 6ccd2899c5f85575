//! The formats of OpenGL textures and renderbuffers, and the image formats of OpenCL that correspond to them.

use wgcl_api::image::format::{data_type as ty, order};
use wgcl_api::objects::graphics::GraphicsFormat;
use wgcl_compiler::image::ImageFormat;

use super::constants::{GL_FLOAT, GL_UNSIGNED_NORMALIZED};

/// The format and the type of a pixel transfer that has the layout of the OpenCL image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PixelTransfer {
    pub(super) format: u32,
    pub(super) kind: u32,
    /// Whether the elements are depths. The stencil of the object is neither read nor written.
    pub(super) is_depth: bool,
}

/// An internal format of OpenGL with its pixel transfer and its OpenCL format.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedFormat {
    /// The internal format, with sizes.
    pub(super) internal: u32,
    pub(super) transfer: PixelTransfer,
    pub(super) image: GraphicsFormat,
}

/// The values that a shader fetches from a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampleValues {
    Float,
    Int,
    UInt,
    /// Floats that the fetch has decoded from sRGB.
    Srgb,
}

/// The format of a texture with one sample to which the samples of a multisample texture are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SampleFormat {
    pub(super) internal: u32,
    pub(super) transfer: PixelTransfer,
    pub(super) values: SampleValues,
}

impl SharedFormat {
    /// Returns the format of the copies of samples. Its pixel transfer has the same layout. The copy of a depth is a
    /// colour, so the shader has one output for all formats. Not all drivers render to sRGB formats without encoding.
    pub(super) fn of_samples(&self) -> SampleFormat {
        let PixelTransfer { format, kind, is_depth } = self.transfer;
        let (internal, format, values) = match (self.internal, format, kind) {
            (_, _, UNSIGNED_SHORT) if is_depth => (R16, RED, SampleValues::Float),
            _ if is_depth => (R32F, RED, SampleValues::Float),
            (SRGB8_ALPHA8, ..) => (RGBA8, format, SampleValues::Srgb),
            (internal, RED_INTEGER | RG_INTEGER | RGBA_INTEGER, BYTE | SHORT | INT) => (internal, format, SampleValues::Int),
            (internal, RED_INTEGER | RG_INTEGER | RGBA_INTEGER, _) => (internal, format, SampleValues::UInt),
            (internal, ..) => (internal, format, SampleValues::Float),
        };
        SampleFormat { internal, transfer: PixelTransfer { format, kind, is_depth: false }, values }
    }
}

const RED: u32 = 0x1903;
const RGB: u32 = 0x1907;
const RGBA: u32 = 0x1908;
const RG: u32 = 0x8227;
const BGRA: u32 = 0x80E1;
const RED_INTEGER: u32 = 0x8D94;
const RG_INTEGER: u32 = 0x8228;
const RGBA_INTEGER: u32 = 0x8D99;
const DEPTH_COMPONENT: u32 = 0x1902;
const DEPTH_STENCIL: u32 = 0x84F9;

const BYTE: u32 = 0x1400;
const UNSIGNED_BYTE: u32 = 0x1401;
const SHORT: u32 = 0x1402;
const UNSIGNED_SHORT: u32 = 0x1403;
const INT: u32 = 0x1404;
const UNSIGNED_INT: u32 = 0x1405;
const HALF_FLOAT: u32 = 0x140B;
const UNSIGNED_SHORT_5_6_5: u32 = 0x8363;
const UNSIGNED_INT_10_10_10_2: u32 = 0x8036;

const RGBA8: u32 = 0x8058;
const RGBA16: u32 = 0x805B;
const RGBA16F: u32 = 0x881A;
const RGBA32F: u32 = 0x8814;
const R8: u32 = 0x8229;
const R16: u32 = 0x822A;
const R32F: u32 = 0x822E;
const RG8: u32 = 0x822B;
const SRGB8_ALPHA8: u32 = 0x8C43;
const DEPTH_COMPONENT16: u32 = 0x81A5;
const DEPTH_COMPONENT24: u32 = 0x81A6;
const DEPTH_COMPONENT32F: u32 = 0x8CAC;
const DEPTH24_STENCIL8: u32 = 0x88F0;

/// The internal formats of colours, as in the table "OpenGL internal formats and corresponding OpenCL internal formats"
/// of cl_khr_gl_sharing. Two packed formats, which the table does not have, follow.
const COLORS: &[(u32, u16, u16, u32, u32)] = &[
    (RGBA8, order::RGBA, ty::UNORM_INT8, RGBA, UNSIGNED_BYTE),
    (SRGB8_ALPHA8, order::S_RGBA, ty::UNORM_INT8, RGBA, UNSIGNED_BYTE),
    (BGRA, order::BGRA, ty::UNORM_INT8, BGRA, UNSIGNED_BYTE),
    // GL_BGRA8_EXT
    (0x93A1, order::BGRA, ty::UNORM_INT8, BGRA, UNSIGNED_BYTE),
    // GL_RGBA8I, GL_RGBA16I, GL_RGBA32I
    (0x8D8E, order::RGBA, ty::SIGNED_INT8, RGBA_INTEGER, BYTE),
    (0x8D88, order::RGBA, ty::SIGNED_INT16, RGBA_INTEGER, SHORT),
    (0x8D82, order::RGBA, ty::SIGNED_INT32, RGBA_INTEGER, INT),
    // GL_RGBA8UI, GL_RGBA16UI, GL_RGBA32UI
    (0x8D7C, order::RGBA, ty::UNSIGNED_INT8, RGBA_INTEGER, UNSIGNED_BYTE),
    (0x8D76, order::RGBA, ty::UNSIGNED_INT16, RGBA_INTEGER, UNSIGNED_SHORT),
    (0x8D70, order::RGBA, ty::UNSIGNED_INT32, RGBA_INTEGER, UNSIGNED_INT),
    // GL_RGBA8_SNORM
    (0x8F97, order::RGBA, ty::SNORM_INT8, RGBA, BYTE),
    (RGBA16, order::RGBA, ty::UNORM_INT16, RGBA, UNSIGNED_SHORT),
    // GL_RGBA16_SNORM
    (0x8F9B, order::RGBA, ty::SNORM_INT16, RGBA, SHORT),
    (RGBA16F, order::RGBA, ty::HALF_FLOAT, RGBA, HALF_FLOAT),
    (RGBA32F, order::RGBA, ty::FLOAT, RGBA, GL_FLOAT),
    (R8, order::R, ty::UNORM_INT8, RED, UNSIGNED_BYTE),
    // GL_R8_SNORM, GL_R16, GL_R16_SNORM
    (0x8F94, order::R, ty::SNORM_INT8, RED, BYTE),
    (R16, order::R, ty::UNORM_INT16, RED, UNSIGNED_SHORT),
    (0x8F98, order::R, ty::SNORM_INT16, RED, SHORT),
    // GL_R16F, GL_R32F
    (0x822D, order::R, ty::HALF_FLOAT, RED, HALF_FLOAT),
    (R32F, order::R, ty::FLOAT, RED, GL_FLOAT),
    // GL_R8I, GL_R16I, GL_R32I
    (0x8231, order::R, ty::SIGNED_INT8, RED_INTEGER, BYTE),
    (0x8233, order::R, ty::SIGNED_INT16, RED_INTEGER, SHORT),
    (0x8235, order::R, ty::SIGNED_INT32, RED_INTEGER, INT),
    // GL_R8UI, GL_R16UI, GL_R32UI
    (0x8232, order::R, ty::UNSIGNED_INT8, RED_INTEGER, UNSIGNED_BYTE),
    (0x8234, order::R, ty::UNSIGNED_INT16, RED_INTEGER, UNSIGNED_SHORT),
    (0x8236, order::R, ty::UNSIGNED_INT32, RED_INTEGER, UNSIGNED_INT),
    (RG8, order::RG, ty::UNORM_INT8, RG, UNSIGNED_BYTE),
    // GL_RG8_SNORM, GL_RG16, GL_RG16_SNORM
    (0x8F95, order::RG, ty::SNORM_INT8, RG, BYTE),
    (0x822C, order::RG, ty::UNORM_INT16, RG, UNSIGNED_SHORT),
    (0x8F99, order::RG, ty::SNORM_INT16, RG, SHORT),
    // GL_RG16F, GL_RG32F
    (0x822F, order::RG, ty::HALF_FLOAT, RG, HALF_FLOAT),
    (0x8230, order::RG, ty::FLOAT, RG, GL_FLOAT),
    // GL_RG8I, GL_RG16I, GL_RG32I
    (0x8237, order::RG, ty::SIGNED_INT8, RG_INTEGER, BYTE),
    (0x8239, order::RG, ty::SIGNED_INT16, RG_INTEGER, SHORT),
    (0x823B, order::RG, ty::SIGNED_INT32, RG_INTEGER, INT),
    // GL_RG8UI, GL_RG16UI, GL_RG32UI
    (0x8238, order::RG, ty::UNSIGNED_INT8, RG_INTEGER, UNSIGNED_BYTE),
    (0x823A, order::RG, ty::UNSIGNED_INT16, RG_INTEGER, UNSIGNED_SHORT),
    (0x823C, order::RG, ty::UNSIGNED_INT32, RG_INTEGER, UNSIGNED_INT),
    // GL_RGB565, GL_RGB10_A2
    (0x8D62, order::RGB, ty::UNORM_SHORT_565, RGB, UNSIGNED_SHORT_5_6_5),
    (0x8059, order::RGBA, ty::UNORM_INT_101010_2, RGBA, UNSIGNED_INT_10_10_10_2),
];

/// The internal formats of depths: the reported order and type, the stored type, and the type of pixel transfers. The
/// table of cl_khr_gl_depth_images does not have GL_DEPTH_COMPONENT24. A float stores its 24 bits exactly.
const DEPTHS: &[(u32, u16, u16, u16, u32)] = &[
    (DEPTH_COMPONENT16, order::DEPTH, ty::UNORM_INT16, ty::UNORM_INT16, UNSIGNED_SHORT),
    (DEPTH_COMPONENT24, order::DEPTH, ty::FLOAT, ty::FLOAT, GL_FLOAT),
    (DEPTH_COMPONENT32F, order::DEPTH, ty::FLOAT, ty::FLOAT, GL_FLOAT),
    (DEPTH24_STENCIL8, order::DEPTH_STENCIL, ty::UNORM_INT24, ty::FLOAT, GL_FLOAT),
    // GL_DEPTH32F_STENCIL8
    (0x8CAD, order::DEPTH_STENCIL, ty::FLOAT, ty::FLOAT, GL_FLOAT),
];

/// Bits and type of a component, for internal formats without sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Components {
    pub(super) red_bits: i32,
    /// GL_TEXTURE_RED_TYPE, or 0 if it is unknown.
    pub(super) red_type: u32,
    pub(super) depth_bits: i32,
}

/// Returns the internal format with sizes that the driver has chosen for a format without sizes.
fn sized(internal: u32, components: Components) -> u32 {
    let is_float = components.red_type == GL_FLOAT;
    let is_unorm = components.red_type == GL_UNSIGNED_NORMALIZED || components.red_type == 0;
    match (internal, components.red_bits, components.depth_bits) {
        (RGBA, 8, _) if is_unorm => RGBA8,
        (RGBA, 16, _) if is_unorm => RGBA16,
        (RGBA, 16, _) if is_float => RGBA16F,
        (RGBA, 32, _) if is_float => RGBA32F,
        (RED, 8, _) if is_unorm => R8,
        (RG, 8, _) if is_unorm => RG8,
        (DEPTH_COMPONENT, _, 16) => DEPTH_COMPONENT16,
        (DEPTH_COMPONENT, _, 24) => DEPTH_COMPONENT24,
        (DEPTH_STENCIL, _, 24) => DEPTH24_STENCIL8,
        _ => internal,
    }
}

/// Returns the OpenCL format of an internal format, or `None` if there is none.
pub(super) fn of_internal(internal: u32, components: Components) -> Option<SharedFormat> {
    let internal = sized(internal, components);
    let color = COLORS.iter().find(|row| row.0 == internal).map(|&(_, order, data_type, format, kind)| {
        let image = ImageFormat { order, data_type };
        SharedFormat {
            internal,
            transfer: PixelTransfer { format, kind, is_depth: false },
            image: GraphicsFormat { stored: image, reported: image },
        }
    });
    let depth = || {
        DEPTHS.iter().find(|row| row.0 == internal).map(|&(_, reported, reported_type, stored_type, kind)| SharedFormat {
            internal,
            transfer: PixelTransfer { format: DEPTH_COMPONENT, kind, is_depth: true },
            image: GraphicsFormat {
                stored: ImageFormat { order: order::DEPTH, data_type: stored_type },
                reported: ImageFormat { order: reported, data_type: reported_type },
            },
        })
    };
    color.or_else(depth)
}
