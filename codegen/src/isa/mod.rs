//! Code generators for instruction sets.
//!
//! Each code generator has the same files: `inst`, `table`, `encode`, `check`, `regs`, `frame`, `emit`, `jumps`,
//! `folding` and `lower`. Only `aarch64` also has `optimise`.

pub(crate) mod aarch64;
pub(crate) mod x86;
