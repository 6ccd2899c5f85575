//! The stack of a thread on Windows.
//!
//! Windows commits the pages of a stack one by one. An access to the page directly below the committed pages commits
//! that page. An access further below is an access violation. Functions with large frames therefore touch each page.
//! Generated code does not touch them. The size of its stack is known, so its caller touches the pages instead.

use std::arch::asm;

/// Bytes of a page.
const PAGE: usize = 4096;

/// Commits the pages for the next `bytes` of the calling thread's stack. The stack must have them.
pub(super) fn commit(bytes: u32) {
    let count = (bytes as usize).div_ceil(PAGE);
    if bytes as usize <= PAGE / 2 {
        // So few bytes reach at most the next page. It may be a guard page, which the first access commits.
        return;
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads the pages of the stack in the order that the system requires, and changes no memory.
    unsafe {
        asm!(
            "lea {page}, [rsp]",
            "2:",
            "sub {page}, 4096",
            "test byte ptr [{page}], 0",
            "sub {count}, 1",
            "jnz 2b",
            page = out(reg) _,
            count = inout(reg) count => _,
            options(nostack, readonly),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reads the pages of the stack in the order that the system requires, and changes no memory.
    unsafe {
        asm!(
            "mov {page}, sp",
            "2:",
            "sub {page}, {page}, #4096",
            "ldrb wzr, [{page}]",
            "subs {count}, {count}, #1",
            "b.ne 2b",
            page = out(reg) _,
            count = inout(reg) count => _,
            options(nostack, readonly),
        );
    }
}
