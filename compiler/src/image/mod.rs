//! Images (OpenCL C 6.15.15, OpenCL API 5.3).
//!
//! The elements of an image are in a buffer, line by line and slice by slice, in the format of the image. Kernels
//! compute addresses and convert elements. So reads and writes are exact on every device, and an image can be read
//! and written in one launch. Limits for texture bindings do not apply. The format of each image and the value of each
//! sampler are part of the launch key. A kernel thus contains only the conversion that it needs. Sizes and pitches
//! are words of the argument buffer. The levels of a mipmapped image are consecutive in the buffer. Their offsets
//! follow from the size of the first level.
//!
//! A multisample image (cl_khr_gl_msaa_sharing) is an array of images with one sample. Sample `s` of layer `l` is in
//! layer `l * samples + s`. So only `lower` and `spirv` distinguish it from an array.

pub(crate) mod expand;
mod library;

pub use crate::ir::image::{FORMAT_WORD, ImageDescriptor, ImageFormat, SamplerWord, WORDS};
