//! The host's CPU as a device: kernels are machine code of our own (`wgcl_compiler::vectorize`), run by threads of our own.
//!
//! ```text
//! enqueue ─▶ Commands ─ one after the other ─▶ Engine ─ Launch ─▶ Dispatches ─ ranges of groups ─▶ Pool and the thread that waits
//! ```
//! # Memory
//! Memory is the host's ([`memory`]): what a kernel takes for a pointer is an address, in every address space and whoever stored it. So nothing is bound, and nothing has to be
//! said of what pointers in memory lead to.
//!
//! # Commands
//! Commands run in order, one at a time ([`launch::queue`]), by whoever needs them: the thread that waits for one runs those before it as well, and a thread of the device's own runs what nobody waits
//! for. A launch becomes up to a few dispatches, each of groups of one size ([`ndrange`]), and a dispatch ranges of groups that several threads take from one
//! counter ([`threads::thread_pool`]); a dispatch that is over sooner than another thread could be woken is not shared.
//!
//! # Parts
//! A part of the device ([`device`]) has its memory and its programs, and commands and threads of its own, which keep to its processors ([`threads::affinity`]): nothing of a part runs on a thread of the application's.
//!
//! # Soundness
//! Generated code runs in this process, with all that this means for kernels that go wrong. What is unsafe stands in few files: [`memory::host_allocation`] (memory), [`memory`] (its bytes), [`program::code`] (calls of
//! generated code), [`sanitizer`] (what it asks before it touches memory), [`threads::affinity`] (where threads run), [`program::fp_environment`] (the state of the processor around them).

#![cfg(all(unix, target_arch = "x86_64"))]
#![warn(unreachable_pub)]

mod device;
mod launch;
mod memory;
mod ndrange;
mod program;
mod sanitizer;
#[cfg(test)]
mod tests;
mod threads;

use std::sync::Arc;

pub use device::properties::isa_named;

use wgcl_api::backend::{Backend, Device};
use wgcl_codegen::Isa;

/// Why there is no such device on this machine.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unavailable {
    /// The processor lacks what all generated code uses.
    #[error("the processor has no SSE4.2")]
    Processor,
    /// The system does not let a process make code.
    #[error("executable memory is refused: {0}")]
    ExecutableMemory(String),
}

/// The backend whose only device is the host's CPU.
#[derive(Clone, Debug)]
pub struct CpuBackend {
    isa: Isa,
}

impl CpuBackend {
    /// For this machine, with no instructions beyond `limit`.
    ///
    /// # Errors
    /// See [`Unavailable`].
    pub fn new(limit: Option<Isa>) -> Result<Self, Unavailable> {
        let has = Isa::detect().ok_or(Unavailable::Processor)?;
        program::code::check_executable_memory()?;
        Ok(Self { isa: limit.map_or(has, |limit| limit.min(has)) })
    }
}

impl Backend for CpuBackend {
    fn devices(&self) -> Vec<Arc<dyn Device>> {
        vec![Arc::new(device::CpuDevice::new(self.isa))]
    }
}
