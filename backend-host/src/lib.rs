//! A device that interprets the IR on the host ([`wgcl_compiler::interpret`]), without a GPU, a driver or generated
//! code.
//!
//! It is a reference for comparison. The IR after a program build alone defines what a kernel does, before any pass for
//! a device. If a GPU gives another result, one of the two is wrong. The device is strict: a kernel that accesses
//! memory out of bounds fails.
//!
//! Each device has one thread, which runs commands in order. A memory object is a vector of bytes, which a launch takes
//! while it runs.
//!
//! | module | content |
//! |---|---|
//! | [`device`] | properties and entry points of the device |
//! | [`engine`] | runs commands |
//! | [`memory`] | memory objects and the ids that pointers have |
//! | [`program`] | programs, their variables, and kernels with expanded image accesses |

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

mod device;
mod engine;
mod memory;
mod program;

use std::sync::Arc;

use wgcl_api::backend::{Backend, Device};

/// The backend with the interpreter as its only device.
#[derive(Clone, Copy, Debug, Default)]
pub struct InterpreterBackend;

impl Backend for InterpreterBackend {
    fn devices(&self) -> Vec<Arc<dyn Device>> {
        vec![Arc::new(device::InterpreterDevice::new())]
    }
}

#[cfg(test)]
mod tests;
