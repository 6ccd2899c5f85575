//! Calls of machine code on AArch64.

use std::arch::asm;

/// Number of bytes that [`call`] stores in the stack of the function.
pub const CALL_BYTES: usize = 16;

/// Calls a function with known values in callee-saved registers. Returns its result, and the changed bits of these
/// registers.
///
/// # Safety
/// The requirements are those of [`Arena::run`](super::machine::Arena::run).
pub unsafe fn call(code: *const u8, args: [u64; 6], stack: *mut u8) -> (u64, u64) {
    let (result, changed_bits): (u64, u64);
    // SAFETY: the clobber list has all registers that the function may change. The assembly restores the callee-saved
    // registers from the stack. The function has its own stack.
    unsafe {
        asm!(
            "stp x19, x20, [sp, #-112]!", "stp x21, x22, [sp, #16]", "stp x23, x24, [sp, #32]", "stp x25, x26, [sp, #48]",
            "stp x27, x28, [sp, #64]", "stp x29, x30, [sp, #80]", "str x18, [sp, #96]",
            "mov x28, sp",
            "mov sp, x10",
            "mov x18, #1800", "mov x19, #1900", "mov x20, #2000", "mov x21, #2100", "mov x22, #2200", "mov x23, #2300",
            "mov x24, #2400", "mov x25, #2500", "mov x26, #2600", "mov x27, #2700", "mov x29, #2900",
            "fmov d8, x19", "fmov d9, x20", "fmov d10, x21", "fmov d11, x22", "fmov d12, x23", "fmov d13, x24",
            "fmov d14, x25", "fmov d15, x26",
            "str x28, [sp, #-16]!",
            "blr x9",
            "ldr x9, [sp], #16",
            "eor x10, x28, x9", "mov x28, x9",
            "mov x9, #1800", "eor x9, x18, x9", "orr x10, x10, x9", "mov x9, #1900", "eor x9, x19, x9", "orr x10, x10, x9",
            "mov x9, #2000", "eor x9, x20, x9", "orr x10, x10, x9", "mov x9, #2100", "eor x9, x21, x9", "orr x10, x10, x9",
            "mov x9, #2200", "eor x9, x22, x9", "orr x10, x10, x9", "mov x9, #2300", "eor x9, x23, x9", "orr x10, x10, x9",
            "mov x9, #2400", "eor x9, x24, x9", "orr x10, x10, x9", "mov x9, #2500", "eor x9, x25, x9", "orr x10, x10, x9",
            "mov x9, #2600", "eor x9, x26, x9", "orr x10, x10, x9", "mov x9, #2700", "eor x9, x27, x9", "orr x10, x10, x9",
            "mov x9, #2900", "eor x9, x29, x9", "orr x10, x10, x9",
            "fmov x9, d8", "eor x9, x9, x19", "orr x10, x10, x9", "fmov x9, d9", "eor x9, x9, x20", "orr x10, x10, x9",
            "fmov x9, d10", "eor x9, x9, x21", "orr x10, x10, x9", "fmov x9, d11", "eor x9, x9, x22", "orr x10, x10, x9",
            "fmov x9, d12", "eor x9, x9, x23", "orr x10, x10, x9", "fmov x9, d13", "eor x9, x9, x24", "orr x10, x10, x9",
            "fmov x9, d14", "eor x9, x9, x25", "orr x10, x10, x9", "fmov x9, d15", "eor x9, x9, x26", "orr x10, x10, x9",
            "mov sp, x28",
            "ldr x18, [sp, #96]", "ldp x29, x30, [sp, #80]", "ldp x27, x28, [sp, #64]", "ldp x25, x26, [sp, #48]",
            "ldp x23, x24, [sp, #32]", "ldp x21, x22, [sp, #16]", "ldp x19, x20, [sp], #112",
            inout("x0") args[0] => result,
            inout("x1") args[1] => _,
            inout("x2") args[2] => _,
            inout("x3") args[3] => _,
            inout("x4") args[4] => _,
            inout("x5") args[5] => _,
            inout("x9") code => _,
            inout("x10") stack => changed_bits,
            out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v12") _, out("v13") _, out("v14") _, out("v15") _,
            clobber_abi("C"),
        );
    }
    (result, changed_bits)
}

/// Sets all bits of the caller-saved registers.
pub fn clobber() {
    // SAFETY: the clobber list is complete. A function may change the upper halves of v8 to v15.
    unsafe {
        asm!(
            "mov x0, #-1",
            "mov x1, x0",
            "mov x2, x0",
            "mov x3, x0",
            "mov x4, x0",
            "mov x5, x0",
            "mov x6, x0",
            "mov x7, x0",
            "mov x8, x0",
            "mov x9, x0",
            "mov x10, x0",
            "mov x11, x0",
            "mov x12, x0",
            "mov x13, x0",
            "mov x14, x0",
            "mov x15, x0",
            "mov x16, x0",
            "mov x17, x0",
            "movi v0.16b, #255",
            "mov v1.16b, v0.16b",
            "mov v2.16b, v0.16b",
            "mov v3.16b, v0.16b",
            "mov v4.16b, v0.16b",
            "mov v5.16b, v0.16b",
            "mov v6.16b, v0.16b",
            "mov v7.16b, v0.16b",
            "mov v8.d[1], x0",
            "mov v9.d[1], x0",
            "mov v10.d[1], x0",
            "mov v11.d[1], x0",
            "mov v12.d[1], x0",
            "mov v13.d[1], x0",
            "mov v14.d[1], x0",
            "mov v15.d[1], x0",
            "mov v16.16b, v0.16b",
            "mov v17.16b, v0.16b",
            "mov v18.16b, v0.16b",
            "mov v19.16b, v0.16b",
            "mov v20.16b, v0.16b",
            "mov v21.16b, v0.16b",
            "mov v22.16b, v0.16b",
            "mov v23.16b, v0.16b",
            "mov v24.16b, v0.16b",
            "mov v25.16b, v0.16b",
            "mov v26.16b, v0.16b",
            "mov v27.16b, v0.16b",
            "mov v28.16b, v0.16b",
            "mov v29.16b, v0.16b",
            "mov v30.16b, v0.16b",
            "mov v31.16b, v0.16b",
            clobber_abi("C"),
        );
    }
}
