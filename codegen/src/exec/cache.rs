//! Coherence of instruction caches.

use std::ffi::c_void;
use std::ptr::NonNull;

/// Makes new code visible to the instruction caches of all processors. `written` and `executed` are addresses of
/// the same memory.
///
/// # Safety
/// Both ranges must be readable.
#[cfg(all(target_arch = "aarch64", not(target_vendor = "apple")))]
pub(super) unsafe fn publish(written: NonNull<c_void>, executed: NonNull<c_void>, bytes: usize) {
    use std::arch::asm;
    // Bits of CTR_EL0, the cache type register (Arm Architecture Reference Manual). If a bit is set, the cache does not
    // need this maintenance.
    const NO_DATA_CLEAN: u64 = 1 << 28;
    const NO_INSTRUCTION_INVALIDATION: u64 = 1 << 29;
    let types: u64;
    // SAFETY: the instruction only reads a register that user code may read.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) types, options(nomem, nostack, preserves_flags)) };
    let lines = |start: NonNull<c_void>, log2_words: u64| {
        let size = 4_usize << log2_words;
        let start = start.as_ptr().addr();
        (start & !(size - 1)..start + bytes).step_by(size)
    };
    if types & NO_DATA_CLEAN == 0 {
        for line in lines(written, types >> 16 & 15) {
            // SAFETY: the caller guarantees that the memory is readable. Its contents do not change.
            unsafe { asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags)) };
        }
    }
    // SAFETY: barriers change no memory.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
    if types & NO_INSTRUCTION_INVALIDATION == 0 {
        for line in lines(executed, types & 15) {
            // SAFETY: the caller guarantees that the memory is readable. Its contents do not change.
            unsafe { asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags)) };
        }
    }
    // SAFETY: barriers change no memory.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
}

/// Makes written code visible to the instruction caches of all processors.
///
/// # Safety
/// The range must be readable.
#[cfg(all(target_arch = "aarch64", target_vendor = "apple"))]
pub(super) unsafe fn publish(_: NonNull<c_void>, executed: NonNull<c_void>, bytes: usize) {
    unsafe extern "C" {
        fn sys_icache_invalidate(start: *mut c_void, bytes: usize);
    }
    // SAFETY: the caller guarantees that the memory is readable.
    unsafe { sys_icache_invalidate(executed.as_ptr(), bytes) };
}

/// Does nothing: the instruction caches of x86-64 processors are coherent with stores.
///
/// # Safety
/// Always safe.
#[cfg(not(target_arch = "aarch64"))]
pub(super) unsafe fn publish(_: NonNull<c_void>, _: NonNull<c_void>, _: usize) {}
