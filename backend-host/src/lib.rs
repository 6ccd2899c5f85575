//! A device that interprets the IR on the host ([`wgcl_compiler::interpret`]), without a GPU, a driver or generated
//! code.
//!
//! The interpreter's results are a reference for other devices. It executes the IR that a program build returns, after
//! one pass: the expansion of image accesses. If a GPU has another result, the GPU or the interpreter is wrong. A
//! kernel that accesses memory out of bounds fails.
//!
//! Each device has one thread, which runs commands in order. A memory object is a vector of bytes. A launch owns
//! the vector while it runs.
//!
//! | module | content |
//! |---|---|
//! | [`device`] | properties and entry points of the device |
//! | [`engine`] | runs commands |
//! | [`memory`] | memory objects and their ids, which are part of pointers |
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
