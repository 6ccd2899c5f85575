//! What a kernel is told of an image (OpenCL C 6.15.15, OpenCL API 5.3).
//!
//! The elements of an image lie in a buffer, row after row and slice after slice, in the image's own format: kernels address and convert them
//! themselves. That makes reads and writes exact on every device, lets one image be read and written in one launch, and knows no limit of
//! texture bindings. The format of each image and the value of each sampler are part of the launch key, so that only the
//! conversion which is needed remains; sizes and pitches are words of the argument buffer.

pub mod expand;
mod library;

pub use crate::ir::image::ImageFormat;

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
