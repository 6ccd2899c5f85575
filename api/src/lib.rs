//! What OpenCL objects are and do: the semantics of the API, in safe Rust, without handles and without wgpu.
//!
//! One file an object: [`platform`], [`device`], [`context`], [`queue`], [`memory`], [`event`], [`program`], [`kernel`]; what is done with them is in
//! [`transfer`] and [`launch`]; how commands come to their devices in [`event`] and [`command`]. [`backend`] is what a device has to offer, and
//! [`host_commands`] what those have in common whose memory is the host's.
//!
//! # Rules
//! - Every method may be called from any thread at any time.
//! - Locks have an order ([`lock`]); none is held while the application's code runs, while a thread waits, or while a backend is called.
//! - Functions check in the order of the specification's lists of errors, and say in words what is wrong ([`error`]).
//! - Nothing polls.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

pub mod address;
pub mod backend;
pub mod binary;
mod build;
pub mod cache;
pub mod callback;
pub mod command;
pub mod command_buffer;
pub mod context;
pub mod device;
mod device_type;
pub mod dump;
pub mod error;
pub mod event;
pub mod external;
pub mod external_semaphore;
pub mod failure;
mod family;
mod group_size;
pub mod host;
pub mod host_commands;
pub mod il;
pub mod image;
pub mod image_color;
pub mod image_extent;
pub mod image_format;
pub mod image_requirements;
pub mod image_transfer;
pub mod kernel;
pub mod launch;
pub mod lock;
pub mod mandates;
mod map;
pub mod memory;
mod migration;
pub mod misuse;
pub mod mutable_dispatch;
pub mod native;
pub mod object;
pub mod options;
pub mod partition;
pub mod pipe;
pub mod platform;
pub mod printf;
pub mod program;
pub mod queue;
mod ranges;
pub mod rect;
pub mod sampler;
mod segments;
pub mod semaphore;
pub mod svm;
#[cfg(test)]
mod test_backend;
#[cfg(test)]
mod tests;
pub mod trace;
pub mod transfer;
pub mod usm;
pub mod uuid;
pub mod version;
