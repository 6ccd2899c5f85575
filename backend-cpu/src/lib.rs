//! The host's CPU as a device. The compiler generates machine code for kernels (`wgcl_compiler::vectorize`), and
//! threads of the device run their work-groups.
//!
//! ```text
//! enqueue ─▶ CommandQueue ─▶ Engine ─ one Dispatch per region ─▶ ThreadPool: ranges of work-groups on several threads
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`device`] | the device, its properties, and its sub-devices |
//! | [`launch`] | command queue, launch plan, argument block, dispatches |
//! | [`ndrange`] | splitting an NDRange into regions with work-groups of one size |
//! | [`program`] | compiled kernel variants and their key, executable memory, constants and variables |
//! | [`memory`] | memory objects, host allocations, the arenas of threads |
//! | [`threads`] | thread pool, affinity |
//! | [`sanitizer`] | checks of memory accesses (`WGCL_CHECK`) |
//!
//! # Memory
//! Memory objects are in host memory. A pointer in a kernel is a host address, in every address space. Therefore,
//! kernels need no bindings, and pointers in memory need no translation.
//!
//! # Commands
//! Commands run in order, one at a time ([`launch::queue`]). A thread that waits for a command runs this command and
//! its predecessors. A thread that flushes runs the queued commands if there are few and all are quick. A thread of the
//! device runs other commands. A launch becomes one dispatch per region ([`ndrange`]). An atomic counter distributes
//! ranges of a dispatch's work-groups to threads ([`threads::thread_pool`]). A dispatch that is shorter than the time
//! to wake another thread runs on one thread.
//!
//! # Sub-devices
//! A sub-device ([`device`]) has its own command queue and threads, which are bound to its processors
//! ([`threads::affinity`]). Commands of a sub-device run on a thread of the application only if the system refuses to
//! create a thread.
//!
//! # Soundness
//! Generated code runs in this process. A faulty kernel can corrupt the memory of the process. `unsafe` code is
//! confined to a few files. [`memory`], [`memory::host_allocation`] and `memory::pages` allocate and access memory.
//! [`program::code`] and [`launch::dispatch`] call generated code, whose function types `calling_convention` defines.
//! `program::fp_environment` and `program::stack` (Windows) prepare these calls. [`sanitizer`] reads the memory of
//! kernels. [`threads::affinity`] binds threads. `device::processor` reads an identification register of AArch64.

#![cfg(all(any(unix, windows), any(target_arch = "x86_64", target_arch = "aarch64")))]
#![warn(unreachable_pub)]

#[macro_use]
mod calling_convention;
mod device;
mod isa;
mod launch;
mod memory;
mod ndrange;
mod program;
mod sanitizer;
#[cfg(test)]
mod tests;
mod threads;

use std::sync::Arc;

pub use isa::isa_named;

use wgcl_api::backend::{Backend, Device};
use wgcl_codegen::Isa;

/// The reason why this machine has no CPU device.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unavailable {
    /// The processor lacks instructions that all generated code uses.
    #[error("the processor lacks instructions that wgcl's machine code requires (on x86-64: SSE4.2 and POPCNT)")]
    Processor,
    /// The system refuses to map executable memory.
    #[error("cannot map executable memory: {0}")]
    ExecutableMemory(String),
}

/// The backend with the host's CPU as its only device.
#[derive(Clone, Debug)]
pub struct CpuBackend {
    isa: Isa,
}

impl CpuBackend {
    /// Creates the backend for this machine. Generates code for `limit` if the processor supports it, otherwise for the
    /// best supported instruction set.
    ///
    /// # Errors
    /// See [`Unavailable`].
    pub fn new(limit: Option<Isa>) -> Result<Self, Unavailable> {
        let detected = Isa::detect().ok_or(Unavailable::Processor)?;
        program::code::check_executable_memory().map_err(|error| Unavailable::ExecutableMemory(error.to_string()))?;
        Ok(Self { isa: limit.filter(|&limit| detected.includes(limit)).unwrap_or(detected) })
    }
}

impl Backend for CpuBackend {
    fn devices(&self) -> Vec<Arc<dyn Device>> {
        vec![Arc::new(device::CpuDevice::new(self.isa))]
    }
}
