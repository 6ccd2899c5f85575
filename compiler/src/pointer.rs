//! The encoding of a pointer in memory: the identity of an object, and a byte offset.
//!
//! In a 64-bit pointer, the identity is the upper half. Every existing buffer has a unique identity. In a 32-bit
//! pointer, the upper bits are the number of the object in the launch. Host and kernels use the same encoding, so that
//! each can use pointers that the other has stored. Example: the pointer to byte 8 of the buffer with identity
//! `0x10000` is `0x0001_0000_0000_0008`.

use crate::ir::Space;

/// Identities of memory objects: the upper halves of 64-bit pointers. The identity of a null pointer is 0.
///
/// Numbers below [`FIRST_BUFFER`](identity::FIRST_BUFFER) are the upper halves of host addresses. Shared memory that
/// starts at a multiple of 4 GiB can use the upper half of its address as its identity.
pub mod identity {
    /// The first identity of buffers.
    pub const FIRST_BUFFER: u32 = 0x0001_0000;
    /// The end (exclusive) of the identities of buffers.
    pub const END_BUFFER: u32 = 0x7000_0000;
    /// The identity of a program's `__global` variables.
    pub const VARIABLES: u32 = END_BUFFER;
    /// The identity of a program's constants.
    pub const CONSTANTS: u32 = END_BUFFER + 1;
    /// The first identity of a kernel's local and private objects. These identities are valid only in the kernel.
    pub const FIRST_OWN: u32 = END_BUFFER + 2;
}

/// Number of upper bits that are the tag (identity) of a 32-bit pointer. The other bits are the offset.
pub(crate) const TAG_BITS_32: u32 = 6;

/// Identity of the program's variables if pointers have 32 bits.
const VARIABLES_32: u32 = 1;
/// Identity of the program's constants if pointers have 32 bits.
const CONSTANTS_32: u32 = 2;
/// The first identity of other objects if pointers have 32 bits.
pub(crate) const FIRST_OWN_32: u32 = 3;

/// Returns the bits of a pointer to byte `offset` of the program's variables or constants in memory, for
/// [`crate::ir::Reloc`]. `ptr_size` is 8 or 4.
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

/// Splits a pointer into its tag and its offset. `ptr_size` is 8 or 4.
pub(crate) const fn split_pointer(bits: u64, ptr_size: u32) -> (u64, u64) {
    let shift = if ptr_size == 8 { 32 } else { 32 - TAG_BITS_32 };
    (bits >> shift, bits & ((1 << shift) - 1))
}

/// Returns the identity of the program's constants (`Space::Constant`) or variables (other address spaces).
pub(crate) const fn program_identity(space: Space, ptr_size: u32) -> u32 {
    match (space, ptr_size) {
        (Space::Constant, 8) => identity::CONSTANTS,
        (Space::Constant, _) => CONSTANTS_32,
        (_, 8) => identity::VARIABLES,
        (_, _) => VARIABLES_32,
    }
}
