//! What a kernel is told of an image (OpenCL C 6.15.15, OpenCL API 5.3).
//!
//! The elements of an image lie in a buffer, row after row and slice after slice, in the image's own format: kernels address and convert them
//! themselves. That makes reads and writes exact on every device, lets one image be read and written in one launch, and knows no limit of
//! texture bindings. The format of each image and the value of each sampler are part of the launch key, so that only the
//! conversion which is needed remains; sizes and pitches are words of the argument buffer. The levels of a mipmapped image follow each other in
//! the same buffer, so that the sizes of the first and their number are all that there is to know.

pub(crate) mod expand;
mod library;

pub use crate::ir::image::{FORMAT_WORD, ImageDescriptor, ImageFormat, SamplerWord, WORDS};
