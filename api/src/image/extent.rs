//! The extent of an image: its dimensions and pitches, and the locations of its mip levels (OpenCL API 5.3,
//! cl_khr_mipmap_image).
//!
//! Levels follow each other in the image's buffer without gaps, the largest first, each with all of its slices or
//! layers:
//!
//! ```text
//! 4 x 2, R UNORM_INT8, 3 levels:   00 00 00 00  00 00 00 00   11 11   22
//! ```
//! Kernels compute the location of a level from the size of the first one (`wgcl_compiler::image`), so kernels and this
//! module must use the same formula.

use crate::image::image_type::ImageType;
use crate::types::error::{Result, ensure};

/// The origin of a command on an image, in the order of the specification: x; y or the index in a 1D array; z or the
/// index in a 2D array. For a mipmapped image the level follows the last dimension. Unused elements are 0.
pub type Origin = [u64; 4];

/// The dimensions and pitches of an image, in a form that is the same for all image types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ImageExtent {
    pub(crate) kind: ImageType,
    pub(crate) element: u64,
    /// The size in the order of a command's region: width, height or 1D array size, depth or 2D array size. 1 for
    /// unused dimensions. The third dimension of a multisample image is the number of layers times the number of
    /// samples.
    pub(crate) extent: [u64; 3],
    pub(crate) row_pitch: u64,
    /// In bytes; 0 if the type has no slices.
    pub(crate) slice_pitch: u64,
    /// The number of mip levels, 1 if the image is not mipmapped. With several levels there is no padding after rows
    /// and slices.
    pub(crate) levels: u32,
    /// The number of samples of each element. 0 if the image is not a multisample image.
    pub(crate) samples: u32,
}

/// The maximum number of mip levels. The specification has no limit. Each level after the 1 x 1 x 1 level also has one
/// element, and the conformance tests create such levels.
pub(crate) const MAX_LEVELS: u32 = 32;

impl ImageExtent {
    /// Returns the distance in bytes from one index to the next, for the second and the third dimension of `extent`.
    pub(crate) fn strides(&self) -> [u64; 2] {
        match self.kind {
            ImageType::Image1dArray => [self.slice_pitch, self.slice_pitch * self.extent[1]],
            _ if self.kind.has_slices() => [self.row_pitch, self.slice_pitch],
            _ => [self.row_pitch, self.row_pitch * self.extent[1]],
        }
    }

    /// Bytes of the whole image, padding included. `None` if the number does not fit 64 bits.
    pub(crate) fn size(&self) -> Option<u64> {
        let first = self.level_size()?;
        (1..self.levels).try_fold(first, |size, level| size.checked_add(self.level_extent(level).level_size()?))
    }

    /// Bytes of the first level.
    fn level_size(&self) -> Option<u64> {
        match self.kind {
            ImageType::Image1dArray => self.slice_pitch.checked_mul(self.extent[1]),
            _ if self.kind.has_slices() => self.slice_pitch.checked_mul(self.extent[2]),
            _ => self.row_pitch.checked_mul(self.extent[1])?.checked_mul(self.extent[2]),
        }
    }

    /// Returns a mip level as a separate image with one level. Level 0 has the pitches of the image; the other levels
    /// have no padding. "Each successively smaller mipmap level is half the size of the previous level, rounded down to
    /// the nearest integer."
    fn level_extent(&self, level: u32) -> Self {
        if level == 0 {
            return Self { levels: 1, ..*self };
        }
        let small = |size: u64| size.checked_shr(level).unwrap_or(0).max(1);
        let [width, second, third] = self.extent;
        let extent = match self.kind {
            ImageType::Image1dArray => [small(width), second, third],
            ImageType::Image2dArray => [small(width), small(second), third],
            _ => [small(width), small(second), small(third)],
        };
        let row_pitch = extent[0] * self.element;
        let rows = if self.kind == ImageType::Image1dArray { 1 } else { extent[1] };
        let slice_pitch = if self.kind.has_slices() { row_pitch * rows } else { 0 };
        Self { extent, row_pitch, slice_pitch, levels: 1, ..*self }
    }

    /// Returns the byte offset and the extent of a mip level.
    pub(crate) fn level(&self, level: u32) -> (u64, Self) {
        let before = (0..level).filter_map(|level| self.level_extent(level).level_size());
        (before.sum(), self.level_extent(level))
    }

    /// Returns the mip level that an origin selects, and the position in this level ("Specifying Mipmap Levels to Image
    /// Operations").
    pub(crate) fn locate(&self, origin: Origin) -> Result<(u32, [u64; 3])> {
        let [x, y, z, fourth] = origin;
        if self.levels == 1 {
            return Ok((0, [x, y, z]));
        }
        let (level, place) = match self.kind {
            ImageType::Image1d => (y, [x, 0, z]),
            ImageType::Image1dArray | ImageType::Image2d => (z, [x, y, 0]),
            _ => (fourth, [x, y, z]),
        };
        // "CL_INVALID_MIP_LEVEL if the cl_khr_mipmap_image extension is supported and the mip level specified in
        // origin is not a valid level for image."
        ensure!(level < self.levels.into(), InvalidMipLevel, "mip level {level}: the image has {} mip levels", self.levels);
        Ok((level as u32, place))
    }
}
