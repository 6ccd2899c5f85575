//! Commands: the `clEnqueue*` functions, command buffers, and the submission of commands to devices.

pub(crate) mod capture;
pub mod command;
pub mod command_buffer;
pub(crate) mod completion;
pub(crate) mod device_enqueue;
pub mod failure;
pub(crate) mod group_size;
pub mod image_transfer;
pub mod launch;
pub(crate) mod map_record;
pub(crate) mod mapping;
pub(crate) mod migration;
pub mod native_kernel;
pub(crate) mod serialization;
pub(crate) mod shared_staging;
pub(crate) mod staging_buffer;
pub mod svm;
pub mod svm_types;
pub mod transfer;
pub mod usm;
