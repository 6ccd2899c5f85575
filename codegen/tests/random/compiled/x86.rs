//! Calls of machine code on x86-64.

use std::arch::asm;

/// Number of bytes that [`call`] stores in the stack of the function, in addition to a return address.
pub const CALL_BYTES: usize = 0;

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
            "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
            "mov rbp, rsp",
            "mov rsp, r11",
            "mov rbx, 0x1badb002", "mov r12, 0x12121212", "mov r13, 0x13131313", "mov r14, 0x14141414", "mov r15, rbp",
            "call rax",
            "xor rbx, 0x1badb002", "xor r12, 0x12121212", "xor r13, 0x13131313", "xor r14, 0x14141414", "xor r15, rbp",
            "mov r10, rbx", "or r10, r12", "or r10, r13", "or r10, r14", "or r10, r15",
            "mov rsp, rbp",
            "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx",
            inout("rax") code => result,
            inout("rdi") args[0] => _,
            inout("rsi") args[1] => _,
            inout("rdx") args[2] => _,
            inout("rcx") args[3] => _,
            inout("r8") args[4] => _,
            inout("r9") args[5] => _,
            out("r10") changed_bits,
            inout("r11") stack => _,
            clobber_abi("sysv64"),
        );
    }
    (result, changed_bits)
}

/// Overwrites the caller-saved registers, except for the result register. All bits become 1, but with AVX, the bits of
/// vector registers 0 to 15 become 0.
pub fn clobber() {
    // SAFETY: the clobber list is complete.
    unsafe {
        asm!(
            "mov rcx, -1",
            "mov rdx, rcx",
            "mov rsi, rcx",
            "mov rdi, rcx",
            "mov r8, rcx",
            "mov r9, rcx",
            "mov r10, rcx",
            "mov r11, rcx",
            "pcmpeqd xmm0, xmm0",
            "pcmpeqd xmm1, xmm1",
            "pcmpeqd xmm2, xmm2",
            "pcmpeqd xmm3, xmm3",
            "pcmpeqd xmm4, xmm4",
            "pcmpeqd xmm5, xmm5",
            "pcmpeqd xmm6, xmm6",
            "pcmpeqd xmm7, xmm7",
            "pcmpeqd xmm8, xmm8",
            "pcmpeqd xmm9, xmm9",
            "pcmpeqd xmm10, xmm10",
            "pcmpeqd xmm11, xmm11",
            "pcmpeqd xmm12, xmm12",
            "pcmpeqd xmm13, xmm13",
            "pcmpeqd xmm14, xmm14",
            "pcmpeqd xmm15, xmm15",
            clobber_abi("sysv64"),
        );
    }
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has the instruction, and the clobber list is complete.
        unsafe { asm!("vzeroall", clobber_abi("sysv64")) };
    }
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions, and the clobber list is complete.
        unsafe {
            asm!(
                "kxnorw k0, k0, k0",
                "kxnorw k1, k1, k1",
                "kxnorw k2, k2, k2",
                "kxnorw k3, k3, k3",
                "kxnorw k4, k4, k4",
                "kxnorw k5, k5, k5",
                "kxnorw k6, k6, k6",
                "kxnorw k7, k7, k7",
                "vpternlogd zmm16, zmm16, zmm16, 255",
                "vpternlogd zmm17, zmm17, zmm17, 255",
                "vpternlogd zmm18, zmm18, zmm18, 255",
                "vpternlogd zmm19, zmm19, zmm19, 255",
                "vpternlogd zmm20, zmm20, zmm20, 255",
                "vpternlogd zmm21, zmm21, zmm21, 255",
                "vpternlogd zmm22, zmm22, zmm22, 255",
                "vpternlogd zmm23, zmm23, zmm23, 255",
                "vpternlogd zmm24, zmm24, zmm24, 255",
                "vpternlogd zmm25, zmm25, zmm25, 255",
                "vpternlogd zmm26, zmm26, zmm26, 255",
                "vpternlogd zmm27, zmm27, zmm27, 255",
                "vpternlogd zmm28, zmm28, zmm28, 255",
                "vpternlogd zmm29, zmm29, zmm29, 255",
                "vpternlogd zmm30, zmm30, zmm30, 255",
                "vpternlogd zmm31, zmm31, zmm31, 255",
                clobber_abi("sysv64"),
            );
        }
    }
}
