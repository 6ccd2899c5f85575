//! The C ABI of wgcl: handles, argument checks, the dispatch table. Everything that OpenCL objects *do* is in
//! `wgcl-api`.
//!
//! - [`ffi`]: from C's arguments to safe values; the macro that makes entry points; no panic leaves them.
//! - [`handles`]: what the application holds of objects, reference counts.
//! - [`info`]: answers to queries.
//! - [`dispatch`]: the table that the ICD loader calls through, every function of OpenCL 3.0 and of the extensions
//!   that have a place in it.
//! - The other modules have the entry points, one an object, and [`unsupported`] those of optional features that wgcl
//!   does not have.
//!
//! Loading the library does nothing. The platform is made by the first call for it, devices are looked for by the
//! first call for them.

#![warn(unreachable_pub)]
#![allow(non_snake_case, reason = "the functions' names are the specification's")]
#![allow(clippy::missing_safety_doc, reason = "the contract of every entry point is the OpenCL specification")]
#![allow(clippy::too_many_arguments, reason = "the functions' parameters are the specification's")]

mod backends;
#[rustfmt::skip]
#[allow(
    clippy::all,
    missing_docs,
    non_camel_case_types,
    non_upper_case_globals,
    dead_code,
    unnameable_types,
    unreachable_pub,
    reason = "generated from the Khronos headers; tests/bindings.rs compares"
)]
mod bindings;
mod command_buffer;
mod context;
mod device;
mod dispatch;
mod enqueue;
mod errors;
mod event;
mod external;
mod ffi;
mod gpu_probe;
mod handles;
mod host;
mod image;
mod image_enqueue;
mod info;
mod kernel;
mod leak_report;
mod memory;
mod mutable_dispatch;
mod pipe;
mod platform;
mod program;
mod queue;
mod sampler;
mod semaphore;
mod svm;
mod unsupported;
mod usm;
