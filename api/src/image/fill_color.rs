//! The element of an image with a given colour: the value that clEnqueueFillImage writes (OpenCL API 5.3.4).
//!
//! Colours are converted as by the function `write_image` in kernels (OpenCL C 8.3). Normalised channels are products
//! in single precision, rounded to the nearest integer, ties to even. Integers are saturated.

use wgcl_compiler::image::ImageFormat;

use crate::image::format::{data_type as ty, is_signed_integer, is_unsigned_integer, order};

/// Returns the size in bytes of the application's colour. A colour has four numbers, or one for depth images.
pub const fn color_size(format: ImageFormat) -> usize {
    if format.order == order::DEPTH { 4 } else { 16 }
}

/// The colour components that a channel order stores, in the order of memory.
const fn components(order: u16) -> &'static [usize] {
    match order {
        order::A => &[3],
        order::RG | order::RG_X => &[0, 1],
        order::RA => &[0, 3],
        order::RGB | order::RGB_X | order::S_RGB => &[0, 1, 2],
        // S_RGB_X: the value of the ignored channel does not matter.
        order::RGBA | order::S_RGBA | order::S_RGB_X => &[0, 1, 2, 3],
        order::BGRA | order::S_BGRA => &[2, 1, 0, 3],
        order::ARGB => &[3, 0, 1, 2],
        order::ABGR => &[3, 2, 1, 0],
        // R, Rx, INTENSITY, LUMINANCE, DEPTH
        _ => &[0],
    }
}

const fn is_srgb(order: u16) -> bool {
    matches!(order, order::S_RGB | order::S_RGB_X | order::S_RGBA | order::S_BGRA)
}

/// Converts a value from 0 to 1 to an integer from 0 to `max`.
fn unorm(value: f32, max: f32) -> u32 {
    // Casts in Rust saturate, and convert NaN to 0.
    (value * max).round_ties_even().clamp(0.0, max) as u32
}

/// Converts a value from -1 to 1 to an integer from `-max` to `max`.
fn snorm(value: f32, max: f32) -> i32 {
    (value * max).round_ties_even().clamp(-max, max) as i32
}

/// Converts a linear value to sRGB. The input is clamped to the range from 0 to 1, and the result is in this range.
fn to_srgb(linear: f32) -> f64 {
    let value = f64::from(linear);
    if value.is_nan() || value <= 0.0 {
        0.0
    } else if value >= 1.0 {
        1.0
    } else if value < 0.003_130_8 {
        12.92 * value
    } else {
        1.055 * value.powf(5.0 / 12.0) - 0.055
    }
}

/// Returns the bits of the nearest half. Ties are rounded to even.
fn half_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        // A NaN becomes a quiet NaN.
        return sign | 0x7e00 | (magnitude >> 13) as u16 & 0x1ff;
    }
    if magnitude >= 0x4780_0000 {
        return sign | 0x7c00;
    }
    // Below 2^-14 the half is denormal. The implicit leading bit becomes explicit, and the mantissa is shifted right by
    // one bit for each power of two.
    let (kept, lost_bits) = if magnitude < 0x3880_0000 {
        let shift = (126 - (magnitude >> 23)).min(31);
        ((magnitude & 0x7f_ffff) | 0x80_0000, shift)
    } else {
        (magnitude - 0x3800_0000, 13)
    };
    let half = kept >> lost_bits;
    let lost = kept & ((1 << lost_bits) - 1);
    let middle = 1 << (lost_bits - 1);
    let up = lost > middle || (lost == middle && half & 1 == 1);
    // A carry out of the mantissa increments the exponent, which is the correct result.
    sign | (half + u32::from(up)) as u16
}

/// Returns the bytes of one element with this colour. `color` has [`color_size`] bytes, which contain floats or
/// integers, depending on the format. Missing bytes count as zero.
pub fn element(format: ImageFormat, color: &[u8]) -> Vec<u8> {
    let mut words = [0u32; 4];
    for (word, bytes) in words.iter_mut().zip(color.chunks_exact(4)) {
        *word = bytes.try_into().map_or(0, u32::from_ne_bytes);
    }
    let pick = components(format.order).iter().map(|&index| words[index]);
    if is_signed_integer(format.data_type) {
        let values = pick.map(u32::cast_signed);
        return match format.data_type {
            ty::SIGNED_INT8 => values.flat_map(|v| (v.clamp(-0x80, 0x7f) as i8).to_ne_bytes()).collect(),
            ty::SIGNED_INT16 => values.flat_map(|v| (v.clamp(-0x8000, 0x7fff) as i16).to_ne_bytes()).collect(),
            _ => values.flat_map(i32::to_ne_bytes).collect(),
        };
    }
    if is_unsigned_integer(format.data_type) {
        return match format.data_type {
            ty::UNSIGNED_INT8 => pick.map(|v| v.min(0xff) as u8).collect(),
            ty::UNSIGNED_INT16 => pick.flat_map(|v| (v.min(0xffff) as u16).to_ne_bytes()).collect(),
            _ => pick.flat_map(u32::to_ne_bytes).collect(),
        };
    }
    let [red, green, blue, alpha] = words.map(f32::from_bits);
    let values = pick.map(f32::from_bits);
    match format.data_type {
        ty::UNORM_SHORT_565 => {
            let packed = unorm(red, 31.0) << 11 | unorm(green, 63.0) << 5 | unorm(blue, 31.0);
            (packed as u16).to_ne_bytes().to_vec()
        }
        ty::UNORM_SHORT_555 => {
            let packed = unorm(red, 31.0) << 10 | unorm(green, 31.0) << 5 | unorm(blue, 31.0);
            (packed as u16).to_ne_bytes().to_vec()
        }
        ty::UNORM_INT_101010 => {
            let packed = unorm(red, 1023.0) << 20 | unorm(green, 1023.0) << 10 | unorm(blue, 1023.0);
            packed.to_ne_bytes().to_vec()
        }
        ty::UNORM_INT_101010_2 => {
            let packed = unorm(red, 1023.0) << 22 | unorm(green, 1023.0) << 12 | unorm(blue, 1023.0) << 2 | unorm(alpha, 3.0);
            packed.to_ne_bytes().to_vec()
        }
        ty::UNORM_INT_2_101010 => {
            let packed = unorm(alpha, 3.0) << 30 | unorm(blue, 1023.0) << 20 | unorm(green, 1023.0) << 10 | unorm(red, 1023.0);
            packed.to_ne_bytes().to_vec()
        }
        ty::UNORM_INT8 if is_srgb(format.order) => {
            // Alpha is linear in all sRGB orders.
            let channel = |&index: &usize| {
                let value = f32::from_bits(words[index]);
                if index == 3 { unorm(value, 255.0) as u8 } else { (to_srgb(value) * 255.0).round_ties_even() as u8 }
            };
            components(format.order).iter().map(channel).collect()
        }
        ty::UNORM_INT8 => values.map(|v| unorm(v, 255.0) as u8).collect(),
        ty::UNORM_INT16 => values.flat_map(|v| (unorm(v, 65535.0) as u16).to_ne_bytes()).collect(),
        ty::SNORM_INT8 => values.flat_map(|v| (snorm(v, 127.0) as i8).to_ne_bytes()).collect(),
        ty::SNORM_INT16 => values.flat_map(|v| (snorm(v, 32767.0) as i16).to_ne_bytes()).collect(),
        ty::HALF_FLOAT => values.flat_map(|v| half_bits(v).to_ne_bytes()).collect(),
        _ => values.flat_map(f32::to_ne_bytes).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{ImageFormat, color_size, element, half_bits};
    use crate::image::format::{FormatUse, data_type as ty, element_size, order, supported};
    use crate::image::image_type::ImageType;
    use wgcl_compiler::target::Target;

    fn floats(values: [f32; 4]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    fn double_of(half: u16) -> f64 {
        let (exponent, mantissa) = (i32::from(half >> 10 & 31), f64::from(half & 0x3ff));
        let magnitude = if exponent == 0 { mantissa * 2f64.powi(-24) } else { (1024.0 + mantissa) * 2f64.powi(exponent - 25) };
        if half & 0x8000 == 0 { magnitude } else { -magnitude }
    }

    #[test]
    fn halves_are_rounded_to_nearest_even() {
        // Every half converts to itself. Between two neighbours, the nearest or even one is chosen.
        for half in 0..0x7c00u16 {
            let value = double_of(half);
            assert_eq!(half_bits(value as f32), half);
            assert_eq!(half_bits(-(value as f32)), half | 0x8000);
            let next = double_of(half + 1);
            let middle = ((value + next) / 2.0) as f32;
            assert_eq!(half_bits(middle), half + (half & 1), "{half:#x}");
            assert_eq!(half_bits(middle.next_down()), half);
            assert_eq!(half_bits(middle.next_up()), half + 1);
        }
        assert_eq!(half_bits(f32::INFINITY), 0x7c00);
        assert_eq!(half_bits(65520.0), 0x7c00);
        assert_eq!(half_bits(65519.996), 0x7bff);
        assert_eq!(half_bits(f32::MAX), 0x7c00);
        assert_eq!(half_bits(f32::from_bits(1)), 0);
        assert!(half_bits(f32::NAN) & 0x7fff > 0x7c00);
    }

    #[test]
    fn elements_have_the_size_of_their_format() {
        let target = Target::full();
        for image in ImageType::ALL {
            for format in supported(&target, image, FormatUse::Read) {
                let bytes = element(format, &vec![0; color_size(format)]);
                assert_eq!(Some(bytes.len() as u32), element_size(format), "{format:x?}");
            }
        }
    }

    #[test]
    fn colours_of_some_formats() {
        let format = |order, data_type| ImageFormat { order, data_type };
        let color = floats([1.0, 0.5, 0.0, 2.0]);
        assert_eq!(element(format(order::RGBA, ty::UNORM_INT8), &color), [255, 128, 0, 255]);
        assert_eq!(element(format(order::BGRA, ty::UNORM_INT8), &color), [0, 128, 255, 255]);
        assert_eq!(element(format(order::ARGB, ty::UNORM_INT8), &color), [255, 255, 128, 0]);
        assert_eq!(element(format(order::ABGR, ty::UNORM_INT8), &color), [255, 0, 128, 255]);
        assert_eq!(element(format(order::A, ty::SNORM_INT8), &color), [127]);
        assert_eq!(element(format(order::RA, ty::UNORM_INT8), &color), [255, 255]);
        assert_eq!(element(format(order::S_RGBA, ty::UNORM_INT8), &color), [255, 188, 0, 255]);
        assert_eq!(element(format(order::RGB, ty::UNORM_SHORT_565), &color), (31u16 << 11 | 32 << 5).to_ne_bytes());
        assert_eq!(element(format(order::RGBA, ty::UNORM_INT_101010_2), &color), (1023u32 << 22 | 512 << 12 | 3).to_ne_bytes());
        assert_eq!(element(format(order::ABGR, ty::UNORM_INT_2_101010), &color), (3u32 << 30 | 512 << 10 | 1023).to_ne_bytes());
        assert_eq!(element(format(order::RGBA, ty::UNORM_INT8), &floats([f32::NAN, -1.0, f32::INFINITY, 0.0])), [0, 0, 255, 0]);
        let integers: Vec<u8> = [300i32, -300, 5, -5].iter().flat_map(|value| value.to_ne_bytes()).collect();
        assert_eq!(element(format(order::RGBA, ty::SIGNED_INT8), &integers), [127, 0x80, 5, 0xfb]);
        assert_eq!(element(format(order::RGBA, ty::UNSIGNED_INT8), &integers), [255, 255, 5, 255]);
    }
}
