//! The bits of a pointer in memory: an identity of what it points into, and a byte offset.
//!
//! Where pointers have 64 bits, the identity is the upper half; every buffer has one of its own as long as it lives. Where they have 32, the objects of a
//! launch are numbered in the upper bits. Host and kernels agree on this, so that what one stores the other can follow.

use crate::ir::Space;

/// Identities of memory objects: the high halves of 64-bit pointers. Null has 0.
///
/// Below [`FIRST_BUFFER`](identity::FIRST_BUFFER) are the high halves of the addresses that a host gives to its applications: memory that both share may have
/// them for its own, if it starts at a multiple of 4 GiB.
pub mod identity {
    /// The first that a buffer may have.
    pub const FIRST_BUFFER: u32 = 0x0001_0000;
    /// One more than the last that a buffer may have.
    pub const END_BUFFER: u32 = 0x7000_0000;
    /// The memory of a program's `__global` variables.
    pub const VARIABLES: u32 = END_BUFFER;
    /// The memory of a program's constants.
    pub const CONSTANTS: u32 = END_BUFFER + 1;
    /// The first of those that a kernel gives to its local and private objects: they mean nothing outside of it.
    pub const FIRST_OWN: u32 = END_BUFFER + 2;
}

/// On targets with 32-bit pointers the tag is in that many high bits, and the offset in the others.
pub(crate) const TAG_BITS_32: u32 = 6;

/// Identity of the program's variables where pointers have 32 bits.
const VARIABLES_32: u32 = 1;
/// Identity of its constants there.
const CONSTANTS_32: u32 = 2;
/// The first of the other objects there.
pub(crate) const FIRST_OWN_32: u32 = 3;

/// The bits of a pointer to byte `offset` of the memory of the program's variables or constants, as memory holds it (for [`crate::ir::Reloc`]).
/// `ptr_size` is 8 or 4.
pub(crate) fn global_pointer(space: Space, offset: i64, ptr_size: u32) -> u64 {
    let offset = offset.cast_unsigned() & 0xffff_ffff;
    let tag = u64::from(program_identity(space, ptr_size));
    if ptr_size == 8 {
        tag << 32 | offset
    } else {
        let shift = 32 - TAG_BITS_32;
        (tag << shift | (offset & ((1 << shift) - 1))) & 0xffff_ffff
    }
}

/// The tag and offset of a pointer's bits.
pub(crate) const fn split_pointer(bits: u64, ptr_size: u32) -> (u64, u64) {
    let shift = if ptr_size == 8 { 32 } else { 32 - TAG_BITS_32 };
    (bits >> shift, bits & ((1 << shift) - 1))
}

/// The identity of the program's variables or constants.
pub(crate) const fn program_identity(space: Space, ptr_size: u32) -> u32 {
    match (space, ptr_size) {
        (Space::Constant, 8) => identity::CONSTANTS,
        (Space::Constant, _) => CONSTANTS_32,
        (_, 8) => identity::VARIABLES,
        (_, _) => VARIABLES_32,
    }
}
