//! Opcode tables.
//!
//! The text of an opcode has its operands as the decoder writes them, with these placeholders:
//! - A capital letter and a field (`d`, `n`, `m`, `a`) are a register. `W`, `X`, `B`, `H`, `S`, `D`, `Q` and `V` are
//!   registers of that kind. `R` is `w` or `x`, and `F` is `s` or `d`, by the width. `A` is an `x` register or `sp`, and
//!   `P` is a `w` or `x` register or the stack pointer.
//! - `.T` is the arrangement `.4s` or `.2d`, and `.E` the element `.s` or `.d`, by the width.
//! - `#` and `$` are the first and the second immediate, `@` and `&` the same as lane numbers.
//! - `%` is the first immediate as the bits of a double. `?` is the first immediate as a condition.
//! - A part in `<` and `>` is left out if its immediate is 0.

/// Defines opcodes, and a list of them for tests.
macro_rules! opcodes {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub(in crate::isa::aarch64) const $name: Opcode = $value;)*

        /// All opcodes of this table.
        #[cfg(test)]
        pub(in crate::isa::aarch64) const ALL: &[Opcode] = &[$($name),*];
    };
}

mod memory;
mod scalar;
mod vector;

pub(super) use memory::*;
pub(super) use scalar::*;
pub(super) use vector::*;

/// The tables, for tests.
#[cfg(test)]
pub(super) const TABLES: [&[Opcode]; 3] = [memory::ALL, scalar::ALL, vector::ALL];

use super::inst::Opcode;

/// Selects 64-bit general registers.
const X: u32 = 1 << 31;
/// Selects 64-bit general registers in bit fields and logical immediates.
const XN: u32 = 1 << 31 | 1 << 22;
/// Selects doubles, or vectors of 64-bit lanes.
const D: u32 = 1 << 22;

/// An opcode with one width.
const fn one(name: &'static str, text: &'static str, word: u32) -> Opcode {
    Opcode { name, text, word, wide: 0 }
}

/// An opcode of 32-bit and 64-bit general registers.
const fn int(name: &'static str, text: &'static str, word: u32) -> Opcode {
    Opcode { name, text, word, wide: X }
}

/// An opcode of singles and doubles, or of vectors with 32-bit and 64-bit lanes.
const fn vec(name: &'static str, text: &'static str, word: u32) -> Opcode {
    Opcode { name, text, word, wide: D }
}
