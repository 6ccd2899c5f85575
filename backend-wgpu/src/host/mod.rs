//! The CPU's side of the backend: copies of mapped memory, the clock, and the end of the process.

pub(crate) mod clock;
pub(crate) mod copy_threads;
pub(crate) mod mapped_copy;
pub(crate) mod mapping;
pub(crate) mod process_exit;
pub(crate) mod uncached_read;
