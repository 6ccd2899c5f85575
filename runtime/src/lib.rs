//! Kernel variants, for every backend that generates code: their lookup by key, their compilation in the background,
//! and their storage in the disk cache.
//!
//! # From a launch to an executable
//! A backend provides a [`Machine`], which runs kernels, and a compile function. A launch requests the variant of a
//! [`Kernel`] for a [`VariantKey`] from its [`Program`]. The first thread that requests a variant compiles it. Other
//! threads wait for the result:
//!
//! ```text
//! key ── spare artifact? ── disk cache? ── compile ──▶ artifact ── Machine::load ──▶ executable
//! ```
//!
//! # Background compilation
//! [`workers`] compile variants before a launch requests them, if the key is known or probable: variants that
//! earlier processes launched ([`PrefetchedProgram`]), launches that are queued after other commands, and hints from
//! the API.
//!
//! [`host`] returns the memory size, caches and clock of the host, for backends that use the host's memory or
//! processors.
//!
//! This crate does not interpret artifacts. An artifact contains SPIR-V for a GPU's driver, or machine code.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

mod artifact;
mod compiler_panic;
mod disk_cache;
mod end_signal;
mod history;
pub mod host;
mod kernel;
mod program;
pub mod shutdown;
#[cfg(test)]
mod tests;
pub mod workers;

pub use artifact::{Artifact, Machine, VariantKey};
pub use compiler_panic::catch_panic;
pub use disk_cache::ProgramCache;
pub use end_signal::EndSignal;
pub use history::{History, Launched};
pub use kernel::{Kernel, KernelFacts};
pub use program::{Compile, PrefetchedProgram, Program};
