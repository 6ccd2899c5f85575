//! Image formats: the legal ones, the supported ones by use, and their element sizes (OpenCL API 5.3.1.1, 5.3.2).
//!
//! Kernels convert elements themselves, so support does not depend on the hardware. Every format that the compiler's
//! library converts is supported if the device has the extension that the format requires. `CL_Rx` and `CL_RGx` are
//! excluded, because versions of the specification differ in whether memory contains the ignored channel.

use wgcl_compiler::image::ImageFormat;
use wgcl_compiler::target::Target;

use crate::image::image_type::ImageType;

/// cl_channel_order
pub mod order {
    #![allow(missing_docs, reason = "the names are the specification's")]
    pub const R: u16 = 0x10B0;
    pub const A: u16 = 0x10B1;
    pub const RG: u16 = 0x10B2;
    pub const RA: u16 = 0x10B3;
    pub const RGB: u16 = 0x10B4;
    pub const RGBA: u16 = 0x10B5;
    pub const BGRA: u16 = 0x10B6;
    pub const ARGB: u16 = 0x10B7;
    pub const INTENSITY: u16 = 0x10B8;
    pub const LUMINANCE: u16 = 0x10B9;
    pub const R_X: u16 = 0x10BA;
    pub const RG_X: u16 = 0x10BB;
    pub const RGB_X: u16 = 0x10BC;
    pub const DEPTH: u16 = 0x10BD;
    pub const DEPTH_STENCIL: u16 = 0x10BE;
    pub const S_RGB: u16 = 0x10BF;
    pub const S_RGB_X: u16 = 0x10C0;
    pub const S_RGBA: u16 = 0x10C1;
    pub const S_BGRA: u16 = 0x10C2;
    pub const ABGR: u16 = 0x10C3;
}

/// cl_channel_type
pub mod data_type {
    #![allow(missing_docs, reason = "the names are the specification's")]
    pub const SNORM_INT8: u16 = 0x10D0;
    pub const SNORM_INT16: u16 = 0x10D1;
    pub const UNORM_INT8: u16 = 0x10D2;
    pub const UNORM_INT16: u16 = 0x10D3;
    pub const UNORM_SHORT_565: u16 = 0x10D4;
    pub const UNORM_SHORT_555: u16 = 0x10D5;
    pub const UNORM_INT_101010: u16 = 0x10D6;
    pub const SIGNED_INT8: u16 = 0x10D7;
    pub const SIGNED_INT16: u16 = 0x10D8;
    pub const SIGNED_INT32: u16 = 0x10D9;
    pub const UNSIGNED_INT8: u16 = 0x10DA;
    pub const UNSIGNED_INT16: u16 = 0x10DB;
    pub const UNSIGNED_INT32: u16 = 0x10DC;
    pub const HALF_FLOAT: u16 = 0x10DD;
    pub const FLOAT: u16 = 0x10DE;
    pub const UNORM_INT24: u16 = 0x10DF;
    pub const UNORM_INT_101010_2: u16 = 0x10E0;
    pub const UNORM_INT_2_101010: u16 = 0x10E5;
}

use data_type as ty;

/// The uses of an image in kernels: the flags that are passed to clGetSupportedImageFormats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatUse {
    /// CL_MEM_READ_ONLY
    Read,
    /// CL_MEM_WRITE_ONLY
    Write,
    /// CL_MEM_READ_WRITE: some kernels read it, and other kernels write it.
    ReadOrWrite,
    /// CL_MEM_KERNEL_READ_AND_WRITE: one kernel can read and write it.
    ReadAndWrite,
}

/// Formats with the same support.
struct FormatSet {
    orders: &'static [u16],
    types: &'static [u16],
    requirement: Requirement,
}

/// The requirement of a set of formats, in addition to the support for images.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Requirement {
    Nothing,
    /// cl_khr_depth_images, and an image type that kernels can declare as a depth image.
    Depth,
    /// cl_khr_srgb_image_writes, if the image is written.
    Srgb,
}

const ALL_TYPES: &[u16] = &[
    ty::UNORM_INT8,
    ty::UNORM_INT16,
    ty::SNORM_INT8,
    ty::SNORM_INT16,
    ty::SIGNED_INT8,
    ty::SIGNED_INT16,
    ty::SIGNED_INT32,
    ty::UNSIGNED_INT8,
    ty::UNSIGNED_INT16,
    ty::UNSIGNED_INT32,
    ty::HALF_FLOAT,
    ty::FLOAT,
];
const BYTES: &[u16] = &[ty::UNORM_INT8, ty::SNORM_INT8, ty::SIGNED_INT8, ty::UNSIGNED_INT8];
const GREY: &[u16] = &[ty::UNORM_INT8, ty::UNORM_INT16, ty::SNORM_INT8, ty::SNORM_INT16, ty::HALF_FLOAT, ty::FLOAT];
const PACKED: &[u16] = &[ty::UNORM_SHORT_565, ty::UNORM_SHORT_555, ty::UNORM_INT_101010];

/// The table of supported formats.
const SUPPORTED: &[FormatSet] = &[
    FormatSet { orders: &[order::RGBA], types: ALL_TYPES, requirement: Requirement::Nothing },
    FormatSet { orders: &[order::RGBA], types: &[ty::UNORM_INT_101010_2], requirement: Requirement::Nothing },
    // cl_ext_image_unorm_int_2_101010
    FormatSet { orders: &[order::ABGR], types: &[ty::UNORM_INT_2_101010], requirement: Requirement::Nothing },
    FormatSet { orders: &[order::BGRA, order::ARGB, order::ABGR], types: BYTES, requirement: Requirement::Nothing },
    FormatSet { orders: &[order::R, order::A, order::RG, order::RA], types: ALL_TYPES, requirement: Requirement::Nothing },
    FormatSet { orders: &[order::INTENSITY, order::LUMINANCE], types: GREY, requirement: Requirement::Nothing },
    FormatSet { orders: &[order::RGB, order::RGB_X], types: PACKED, requirement: Requirement::Nothing },
    FormatSet { orders: &[order::S_RGBA, order::S_BGRA, order::S_RGB_X], types: &[ty::UNORM_INT8], requirement: Requirement::Srgb },
    FormatSet { orders: &[order::DEPTH], types: &[ty::UNORM_INT16, ty::FLOAT], requirement: Requirement::Depth },
];

/// The number of channels in memory of an element with this order, if the format is not packed. `None` for unsupported
/// orders.
const fn channels(order: u16) -> Option<u32> {
    Some(match order {
        order::R | order::A | order::R_X | order::INTENSITY | order::LUMINANCE | order::DEPTH => 1,
        order::RG | order::RA | order::RG_X => 2,
        order::RGB | order::S_RGB => 3,
        order::RGBA | order::BGRA | order::ARGB | order::ABGR | order::RGB_X | order::S_RGB_X | order::S_RGBA | order::S_BGRA => 4,
        _ => return None,
    })
}

/// Returns the size of an element in bytes. `None` if the format is not legal. Reasons are an unknown number, an order
/// that the type does not allow, or an element size that is not a power of two.
pub fn element_size(format: ImageFormat) -> Option<u32> {
    let ImageFormat { order, data_type } = format;
    let is_valid = match order {
        order::RGB | order::RGB_X => PACKED.contains(&data_type),
        order::ABGR => data_type == ty::UNORM_INT_2_101010 || BYTES.contains(&data_type),
        order::BGRA | order::ARGB => BYTES.contains(&data_type),
        order::INTENSITY | order::LUMINANCE => GREY.contains(&data_type),
        order::DEPTH => matches!(data_type, ty::UNORM_INT16 | ty::FLOAT),
        order::S_RGB | order::S_RGB_X | order::S_RGBA | order::S_BGRA => data_type == ty::UNORM_INT8,
        order::RGBA => data_type == ty::UNORM_INT_101010_2 || ALL_TYPES.contains(&data_type),
        _ => ALL_TYPES.contains(&data_type),
    };
    let channel = match data_type {
        ty::UNORM_SHORT_565 | ty::UNORM_SHORT_555 => return is_valid.then_some(2),
        ty::UNORM_INT_101010 | ty::UNORM_INT_101010_2 | ty::UNORM_INT_2_101010 => return is_valid.then_some(4),
        ty::SNORM_INT8 | ty::UNORM_INT8 | ty::SIGNED_INT8 | ty::UNSIGNED_INT8 => 1,
        ty::SNORM_INT16 | ty::UNORM_INT16 | ty::SIGNED_INT16 | ty::UNSIGNED_INT16 | ty::HALF_FLOAT => 2,
        ty::SIGNED_INT32 | ty::UNSIGNED_INT32 | ty::FLOAT => 4,
        _ => return None,
    };
    let size = channels(order)? * channel;
    (is_valid && size.is_power_of_two()).then_some(size)
}

/// Whether kernels read the channels as signed integers.
pub const fn is_signed_integer(data_type: u16) -> bool {
    matches!(data_type, ty::SIGNED_INT8 | ty::SIGNED_INT16 | ty::SIGNED_INT32)
}

/// Whether kernels read the channels as unsigned integers.
pub const fn is_unsigned_integer(data_type: u16) -> bool {
    matches!(data_type, ty::UNSIGNED_INT8 | ty::UNSIGNED_INT16 | ty::UNSIGNED_INT32)
}

/// clGetSupportedImageFormats, for one device.
pub fn supported(target: &Target, image: ImageType, purpose: FormatUse) -> Vec<ImageFormat> {
    if !target.language.images || (purpose == FormatUse::ReadAndWrite && !target.has_feature("__opencl_c_read_write_images")) {
        return Vec::new();
    }
    let available = |set: &&FormatSet| match set.requirement {
        Requirement::Nothing => true,
        Requirement::Depth => target.has_extension("cl_khr_depth_images") && matches!(image, ImageType::Image2d | ImageType::Image2dArray),
        Requirement::Srgb => purpose == FormatUse::Read || target.has_extension("cl_khr_srgb_image_writes"),
    };
    let formats = SUPPORTED
        .iter()
        .filter(available)
        .flat_map(|set| set.orders.iter().flat_map(|&order| set.types.iter().map(move |&data_type| ImageFormat { order, data_type })));
    formats.collect()
}

/// Whether a device supports a format for a use.
pub fn is_supported(target: &Target, image: ImageType, purpose: FormatUse, format: ImageFormat) -> bool {
    supported(target, image, purpose).contains(&format)
}

/// Whether an image with the order `view` can be created from an image with the order `of`. The two images then share
/// their elements (5.3.1.2, table of compatible channel orders).
pub const fn compatible_orders(view: u16, of: u16) -> bool {
    matches!(
        (view, of),
        (order::S_BGRA, order::BGRA)
            | (order::BGRA, order::S_BGRA)
            | (order::S_RGBA, order::RGBA)
            | (order::RGBA, order::S_RGBA)
            | (order::S_RGB, order::RGB)
            | (order::RGB, order::S_RGB)
            | (order::S_RGB_X, order::RGB_X)
            | (order::RGB_X, order::S_RGB_X)
            | (order::DEPTH, order::R)
    )
}

#[cfg(test)]
mod tests {
    use super::{FormatUse, ImageFormat, ImageType, SUPPORTED, Target, data_type as ty, element_size, order, supported};

    fn target(extensions: &[&str]) -> Target {
        let mut target = Target::full();
        target.language.extensions.retain(|name| name != "cl_khr_depth_images" && name != "cl_khr_srgb_image_writes");
        target.language.extensions.extend(extensions.iter().map(|&name| name.to_owned()));
        target
    }

    const USES: [FormatUse; 4] = [FormatUse::Read, FormatUse::Write, FormatUse::ReadOrWrite, FormatUse::ReadAndWrite];

    #[test]
    fn the_table_has_no_invalid_and_no_duplicate_format() {
        let mut all = Vec::new();
        for group in SUPPORTED {
            for &order in group.orders {
                all.extend(group.types.iter().map(|&data_type| ImageFormat { order, data_type }));
            }
        }
        assert!(all.iter().all(|&format| element_size(format).is_some_and(|size| size <= 16)), "{all:x?}");
        let mut unique = all.clone();
        unique.sort_by_key(|format| format.word());
        unique.dedup();
        assert_eq!(unique.len(), all.len());
    }

    #[test]
    fn formats_of_the_full_profile_are_supported() {
        let rgba = [
            ty::UNORM_INT8,
            ty::UNORM_INT16,
            ty::SIGNED_INT8,
            ty::SIGNED_INT16,
            ty::SIGNED_INT32,
            ty::UNSIGNED_INT8,
            ty::UNSIGNED_INT16,
            ty::UNSIGNED_INT32,
            ty::HALF_FLOAT,
            ty::FLOAT,
        ];
        let mut required: Vec<ImageFormat> = rgba.iter().map(|&data_type| ImageFormat { order: order::RGBA, data_type }).collect();
        required.push(ImageFormat { order: order::BGRA, data_type: ty::UNORM_INT8 });
        let single = rgba.iter().filter(|&&data_type| data_type != ty::UNORM_INT16);
        required.extend(single.map(|&data_type| ImageFormat { order: order::R, data_type }));
        for image in ImageType::ALL {
            for purpose in USES {
                let formats = supported(&target(&[]), image, purpose);
                assert!(required.iter().all(|format| formats.contains(format)), "{image:?} {purpose:?}");
            }
        }
        let none = {
            let mut none = target(&[]);
            none.language.images = false;
            none
        };
        assert!(supported(&none, ImageType::Image2d, FormatUse::Read).is_empty());
    }

    #[test]
    fn depth_and_srgb_formats_require_their_extensions() {
        let depth = ImageFormat { order: order::DEPTH, data_type: ty::FLOAT };
        let srgb = ImageFormat { order: order::S_RGBA, data_type: ty::UNORM_INT8 };
        let (without, with) = (target(&[]), target(&["cl_khr_depth_images", "cl_khr_srgb_image_writes"]));
        for image in ImageType::ALL {
            let of_depth = matches!(image, ImageType::Image2d | ImageType::Image2dArray);
            for purpose in USES {
                assert!(!supported(&without, image, purpose).contains(&depth));
                assert_eq!(supported(&with, image, purpose).contains(&depth), of_depth);
                assert_eq!(supported(&without, image, purpose).contains(&srgb), purpose == FormatUse::Read);
                assert!(supported(&with, image, purpose).contains(&srgb));
            }
        }
    }

    #[test]
    fn sizes_of_elements() {
        let size = |order, data_type| element_size(ImageFormat { order, data_type });
        assert_eq!(size(order::RGBA, ty::FLOAT), Some(16));
        assert_eq!(size(order::RG, ty::HALF_FLOAT), Some(4));
        assert_eq!(size(order::INTENSITY, ty::SNORM_INT16), Some(2));
        assert_eq!(size(order::RGB, ty::UNORM_SHORT_555), Some(2));
        assert_eq!(size(order::RGBA, ty::UNORM_INT_101010_2), Some(4));
        assert_eq!(size(order::ABGR, ty::UNORM_INT_2_101010), Some(4));
        assert_eq!(size(order::RGBA, ty::UNORM_INT_2_101010), None);
        // Elements of three bytes are not supported: 3 is not a power of two.
        assert_eq!(size(order::RGB, ty::UNORM_INT8), None);
        assert_eq!(size(order::S_RGB, ty::UNORM_INT8), None);
        assert_eq!(size(order::LUMINANCE, ty::SIGNED_INT8), None);
        assert_eq!(size(order::BGRA, ty::UNORM_INT16), None);
        assert_eq!(size(order::RGBA, ty::UNORM_SHORT_565), None);
        assert_eq!(size(order::R, ty::UNORM_INT24), None);
        assert_eq!(size(order::DEPTH_STENCIL, ty::FLOAT), None);
        assert_eq!(size(0, ty::FLOAT), None);
        assert_eq!(size(order::R, 0), None);
    }
}
