//! Opcode tables.
//!
//! The text of an opcode lists its operands as the decoder prints them, with these placeholders:
//! - A capital letter and a field (`d`, `n`, `m`, `a`) are a register. `W`, `X`, `B`, `H`, `S`, `D`, `Q` and `V` are
//!   registers of that kind. `R` is `w` or `x`, and `F` is `s` or `d`, by the operand size. `A` is an `x` register or
//!   `sp`. `P` is `R` or the stack pointer of that size. `Z` and `G` are the vector and predicate registers of SVE.
//! - `.T` is the arrangement `.4s` or `.2d`, and `.E` the element `.s` or `.d`, by the operand size.
//! - `#` and `$` are the first and the second immediate, printed after a `#`. `@` and `&` are the same two immediates,
//!   printed without that sign. `#0` is literal text.
//! - `%` is the first immediate as the bits of a double. `?` is the first immediate as a condition.
//! - Text in `<` and `>` is omitted if all its immediates are 0.

/// Defines a constant for each opcode of a table.
macro_rules! opcodes {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub(crate) const $name: Opcode = $value;)*
        #[cfg(test)]
        pub(super) const ALL: &[Opcode] = &[$($name),*];
    };
}

mod forms;
mod memory;
mod scalar;
mod sve;
mod vector;

pub(super) use memory::*;
pub(super) use scalar::*;
pub(super) use sve::*;
pub(super) use vector::*;

#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static super::inst::Opcode> {
    memory::ALL.iter().chain(scalar::ALL).chain(vector::ALL).chain(sve::ALL)
}
