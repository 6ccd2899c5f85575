//! A client of the OpenCL API: a notation for launches and their arguments, and their execution on any OpenCL device.
//!
//! `wgclc run` and `wgclc replay` use the crate. The `.cl` tests use its notation in their comments. The crate
//! uses only the OpenCL C API, and `wgcl-opencl-headers` is the only crate of the driver that it depends on. It
//! therefore runs on the devices of every vendor.
//!
//! Example: the launch `sum global=64 local=16` with the argument `data: float[64] = i`.

pub mod capture;
pub mod compare;
pub mod contents;
pub mod devices;
pub mod element;
pub mod error;
mod error_names;
pub mod expression;
pub mod image;
pub mod notation;
pub mod replay;
pub mod session;

mod api;
mod objects;
mod parameters;
