//! What every backend needs that generates code for its kernels: the variants of a kernel by key, the threads that make them ahead of time, and what of
//! them outlives the process.
//!
//! # From a launch to what runs
//! A backend brings a [`Machine`], which runs kernels, and a function that compiles. A launch asks a [`Program`] for a [`Kernel`]'s variant by its
//! [`VariantKey`]. The first who wants one makes it, and who comes second waits for the first:
//!
//! ```text
//! key ── spare artifact? ── shelf (cache on disk)? ── compile ──▶ artifact ── Machine::load ──▶ executable
//! ```
//!
//! # Ahead of time
//! Variants are made by [`workers`] before a launch asks for them where it is known what it will ask for: what earlier processes have launched
//! ([`Expected`]), what was enqueued behind something else, what the API thinks likely.
//!
//! What backends that run on the host ask about it is in [`host`].
//!
//! Nothing here knows what an artifact is: SPIR-V for a GPU's driver, or machine code.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

mod artifact;
mod compiler_panic;
mod disk_cache;
mod history;
pub mod host;
mod kernel;
mod program;
pub mod shutdown;
#[cfg(test)]
mod tests;
pub mod workers;

pub use artifact::{Artifact, Machine, VariantKey};
pub use compiler_panic::contained;
pub use disk_cache::Shelf;
pub use history::{History, Launched};
pub use kernel::{Kernel, KernelFacts};
pub use program::{Compile, Expected, Program};
