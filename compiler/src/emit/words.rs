//! SPIR-V as words, for post-processing: constants of the specification, and an iterator over instructions.
//!
//! Example: `instructions(&words)` yields `(op::CAPABILITY, [CAPABILITY | 2 << 16, 1])` for `OpCapability Shader`.

use rustc_hash::FxHashSet;

pub(super) mod op {
    pub(in crate::emit) const NAME: u32 = 5;
    pub(in crate::emit) const EXTENSION: u32 = 10;
    pub(in crate::emit) const EXT_INST_IMPORT: u32 = 11;
    pub(in crate::emit) const EXT_INST: u32 = 12;
    pub(in crate::emit) const MEMORY_MODEL: u32 = 14;
    pub(in crate::emit) const ENTRY_POINT: u32 = 15;
    pub(in crate::emit) const EXECUTION_MODE: u32 = 16;
    pub(in crate::emit) const CAPABILITY: u32 = 17;
    pub(in crate::emit) const TYPE_VOID: u32 = 19;
    pub(in crate::emit) const TYPE_INT: u32 = 21;
    pub(in crate::emit) const TYPE_FLOAT: u32 = 22;
    pub(in crate::emit) const TYPE_VECTOR: u32 = 23;
    pub(in crate::emit) const TYPE_ARRAY: u32 = 28;
    pub(in crate::emit) const TYPE_RUNTIME_ARRAY: u32 = 29;
    pub(in crate::emit) const TYPE_STRUCT: u32 = 30;
    pub(in crate::emit) const TYPE_POINTER: u32 = 32;
    pub(in crate::emit) const TYPE_FORWARD_POINTER: u32 = 39;
    pub(in crate::emit) const CONSTANT_TRUE: u32 = 41;
    pub(in crate::emit) const CONSTANT_NULL: u32 = 46;
    pub(in crate::emit) const VARIABLE: u32 = 59;
    pub(in crate::emit) const LOAD: u32 = 61;
    pub(in crate::emit) const STORE: u32 = 62;
    pub(in crate::emit) const ACCESS_CHAIN: u32 = 65;
    pub(in crate::emit) const IN_BOUNDS_ACCESS_CHAIN: u32 = 66;
    pub(in crate::emit) const DECORATE: u32 = 71;
    pub(in crate::emit) const MEMBER_DECORATE: u32 = 72;
    pub(in crate::emit) const U_CONVERT: u32 = 113;
    pub(in crate::emit) const F_CONVERT: u32 = 115;
    pub(in crate::emit) const CONVERT_U_TO_PTR: u32 = 120;
    pub(in crate::emit) const F_NEGATE: u32 = 127;
    pub(in crate::emit) const F_ADD: u32 = 129;
    pub(in crate::emit) const F_SUB: u32 = 131;
    pub(in crate::emit) const F_MUL: u32 = 133;
    pub(in crate::emit) const F_DIV: u32 = 136;
    pub(in crate::emit) const F_REM: u32 = 140;
    pub(in crate::emit) const F_MOD: u32 = 141;
    pub(in crate::emit) const F_ORD_NOT_EQUAL: u32 = 182;
    pub(in crate::emit) const F_UNORD_NOT_EQUAL: u32 = 183;
}

/// The capability for 8-bit arithmetic.
pub(super) const INT8: u32 = 39;
/// The capability for 8-bit storage.
pub(super) const STORAGE_BUFFER_8_BIT_ACCESS: u32 = 4448;
/// The decoration of a variable that other work-groups may change.
pub(super) const COHERENT: u32 = 23;
/// The decoration with the binding number of a variable.
pub(super) const BINDING: u32 = 33;
/// The storage class of variables of a function.
pub(super) const FUNCTION: u32 = 7;
/// The storage class of storage buffers.
pub(super) const STORAGE_BUFFER: u32 = 12;
/// Number of words before the first instruction. The fourth word is the bound of the ids.
pub(super) const HEADER: usize = 5;

/// Iterates over instructions. The items are the opcode and all words of an instruction.
pub(super) fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = (rest.first()? >> 16) as usize;
        let inst = rest.get(..length).filter(|inst| !inst.is_empty())?;
        rest = &rest[length..];
        Some((inst[0] & 0xffff, inst))
    })
}

/// The variables whose binding number has the bit `tag`.
pub(super) fn tagged(words: &[u32], tag: u32) -> FxHashSet<u32> {
    instructions(words)
        .filter(|(code, inst)| {
            *code == op::DECORATE && inst.get(2) == Some(&BINDING) && inst.get(3).is_some_and(|binding| binding & tag != 0)
        })
        .filter_map(|(_, inst)| inst.get(1).copied())
        .collect()
}
