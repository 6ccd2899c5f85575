//! Buffers: memory objects, staging memory, and the rings from which staging memory and arguments are allocated.

pub(crate) mod argument_ring;
pub(crate) mod device_memory;
pub(crate) mod pinned;
pub(crate) mod ring;
pub(crate) mod staging_buffer;
