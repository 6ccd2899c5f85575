//! Constructors of opcodes, by the operand sizes that an opcode supports.

use super::super::inst::Opcode;

/// Selects 64-bit general registers.
pub(super) const X: u32 = 1 << 31;
/// Selects 64-bit general registers in bit fields and logical immediates.
pub(super) const XN: u32 = 1 << 31 | 1 << 22;
/// Selects doubles, or vectors of 64-bit lanes.
pub(super) const D: u32 = 1 << 22;

/// Creates an opcode with one operand size.
pub(super) const fn one(name: &'static str, text: &'static str, word: u32) -> Opcode {
    Opcode { name, text, word, wide: 0 }
}

/// Creates an opcode of 32-bit and 64-bit general registers.
pub(super) const fn int(name: &'static str, text: &'static str, word: u32) -> Opcode {
    Opcode { name, text, word, wide: X }
}

/// Creates an opcode of singles and doubles, or of vectors with 32-bit and 64-bit lanes.
pub(super) const fn vec(name: &'static str, text: &'static str, word: u32) -> Opcode {
    Opcode { name, text, word, wide: D }
}
