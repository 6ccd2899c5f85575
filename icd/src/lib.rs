//! The C ABI of wgcl: handles, argument checks, the dispatch table. `wgcl-api` implements the OpenCL objects.
//!
//! - [`ffi`] converts C arguments to safe values. Its macro declares entry points, which catch panics.
//! - [`handles`] maps the application's handles to objects, and counts its references.
//! - [`info`] returns the results of queries.
//! - [`dispatch`] has the dispatch table of the ICD loader, with every function of OpenCL 3.1. It also finds functions
//!   of extensions by name.
//! - The other modules have the entry points, one module for each kind of object. [`gl`] has those for sharing with
//!   OpenGL and EGL.
//!
//! Loading the library does nothing. The first query for the platform creates the platform. The first query for devices
//! lists the devices.

#![warn(unreachable_pub)]
#![allow(non_snake_case, reason = "the functions' names are the specification's")]
#![allow(clippy::missing_safety_doc, reason = "the contract of every entry point is the OpenCL specification")]
#![allow(clippy::too_many_arguments, reason = "the functions' parameters are the specification's")]

mod backends;
mod command_buffer;
mod context;
mod device;
mod dispatch;
mod enqueue;
mod errors;
mod event;
mod external;
mod ffi;
mod gl;
mod gpu_probe;
mod handles;
mod host;
mod image;
mod image_enqueue;
mod info;
mod kernel;
mod leak_report;
mod lifetime;
mod logging;
mod memory;
mod mutable_dispatch;
mod pipe;
mod platform;
mod program;
mod queue;
mod sampler;
mod semaphore;
mod svm;
mod svm_arm;
mod terminal;
mod usm;
