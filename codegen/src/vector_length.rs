//! The length of SVE's vector registers.

use std::arch::asm;

/// Returns the size of a vector register in bytes. The operating system can give each thread another size. The
/// processor must have SVE.
pub(crate) fn sve_vector_bytes() -> u32 {
    let bytes: u64;
    // The word is `rdvl x0, #1`. As text, it would need the target feature of SVE.
    // SAFETY: the caller has checked that the processor has SVE. The instruction only writes x0.
    unsafe { asm!(".inst 0x04bf5020", out("x0") bytes, options(nomem, nostack, preserves_flags)) };
    bytes as u32
}
