//! Types and functions that the other modules share. They do not depend on particular OpenCL objects.

pub mod affinity;
pub mod callback;
pub(crate) mod content_size;
pub mod error;
pub mod flags;
pub mod graphics;
pub mod host_memory;
pub mod lock;
pub mod nd_range;
pub mod object;
pub mod printf;
pub mod process;
pub(crate) mod range_set;
pub mod rect;
pub mod status;
pub mod thread;
pub mod uuid;
pub mod version;
