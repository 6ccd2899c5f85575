//! A device that executes the IR on the host ([`wgcl_compiler::interpret`]): no GPU, no driver, no code of its own in between.
//!
//! It is there to compare with: what a kernel does on it is decided by the IR alone, as programs have it after a build, before anything that
//! is made for a device. Where a GPU gives something else, one of the two is wrong. It is strict, too: a kernel that accesses
//! memory out of bounds fails.
//!
//! Commands are run as they come by one thread a device. Memory is a vector of bytes each, which a launch takes for as long as it runs.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

mod device;
mod engine;
mod memory;
mod program;

use std::sync::Arc;

use wgcl_api::backend::{Backend, Device};

/// The backend whose only device is the interpreter.
#[derive(Clone, Copy, Debug, Default)]
pub struct InterpreterBackend;

impl Backend for InterpreterBackend {
    fn devices(&self) -> Vec<Arc<dyn Device>> {
        vec![Arc::new(device::InterpreterDevice::new())]
    }
}

#[cfg(test)]
mod tests;
