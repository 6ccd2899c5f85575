//! The wgpu backend.
