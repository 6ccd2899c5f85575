//! Images (OpenCL C 6.15.15, OpenCL API 5.3).
//!
//! The elements of an image are in a buffer, line by line and slice by slice, in the image's own format; kernels
//! address and convert them. Reads and writes are therefore exact on every device. An image can be read and written
//! in one launch, and there is no limit for texture bindings. The format of each image and the value of each sampler
//! are part of the launch key, so that only the needed conversion remains. Sizes and pitches are words of the
//! argument buffer. The levels of a mipmapped image are consecutive in the same buffer. Their offsets follow from the
//! size of the first level and their number.

pub(crate) mod expand;
mod library;

pub use crate::ir::image::{FORMAT_WORD, ImageDescriptor, ImageFormat, SamplerWord, WORDS};
