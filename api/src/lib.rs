//! What OpenCL objects are and do: the semantics of the API, in safe Rust, without handles and without wgpu.

#![forbid(unsafe_code)]

pub mod backend;
