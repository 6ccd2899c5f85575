//! Code generators for instruction sets.
//!
//! Each has the same files: `inst`, `table`, `encode`, `check`, `regs`, `frame`, `emit`, `jumps`, `folding` and
//! `lower`.

pub(crate) mod aarch64;
pub(crate) mod x86;
