//! The semantics of the OpenCL API, in safe Rust. The crate `wgcl` (`icd`) implements handles, and the backends
//! implement devices.
//!
//! | module | contents |
//! |---|---|
//! | [`backend`] | the traits that a device implements |
//! | `built_in_kernels` | the names and sources of the built-in kernels |
//! | [`host_commands`] | commands on host memory, shared by the backends that run on the host |
//! | [`objects`] | platform, devices, contexts, queues, memory, programs, kernels, events |
//! | [`image`] | images: layout, formats, extents |
//! | [`commands`] | the `clEnqueue*` functions, command buffers, and the submission of commands to devices |
//! | [`cache`] | compiled programs and shaders on disk |
//! | [`observe`] | traces, dumps, captures, warnings about misuse |
//! | [`options`] | environment variables and the configuration file |
//! | [`types`] | errors, locks, and other plain types without references to objects |
//!
//! # Rules
//! - Every method may be called from any thread at any time.
//! - Locks have an order ([`types::lock`]). No lock is held while the application's code runs, while a thread waits,
//!   or while a backend is called.
//! - Functions check in the order of the specification's lists of errors, and each error carries a message
//!   ([`types::error`]).
//! - Nothing polls.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

pub mod backend;
mod built_in_kernels;
pub mod cache;
pub mod commands;
pub mod host_commands;
pub mod image;
pub mod objects;
pub mod observe;
pub mod options;
#[cfg(test)]
mod test_backend;
#[cfg(test)]
mod tests;
pub mod types;
