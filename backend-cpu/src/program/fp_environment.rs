//! The state of the processor's floating-point unit around generated code: that of the C ABI, whatever the application has set.

use std::arch::asm;

/// MXCSR as a thread begins: nothing traps, rounding to nearest, denormals are kept.
const DEFAULT: u32 = 0x1f80;

/// Sets the state, and puts the thread's own back when it is dropped.
#[derive(Debug)]
pub(crate) struct DefaultFloats {
    before: u32,
}

impl DefaultFloats {
    pub(crate) fn new() -> Self {
        let before = read();
        if before != DEFAULT {
            write(DEFAULT);
        }
        Self { before }
    }
}

impl Drop for DefaultFloats {
    fn drop(&mut self) {
        write(self.before);
    }
}

fn read() -> u32 {
    let mut state = 0_u32;
    // SAFETY: stores four bytes into `state`.
    unsafe { asm!("stmxcsr [{0}]", in(reg) &raw mut state, options(nostack, preserves_flags)) };
    state
}

fn write(state: u32) {
    // SAFETY: `DEFAULT`, or what `read` gave on this thread: no reserved bits. Rust's own code runs in another state only if the thread's owner had set it before.
    unsafe { asm!("ldmxcsr [{0}]", in(reg) &raw const state, options(nostack, preserves_flags, readonly)) };
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT, DefaultFloats, read, write};

    #[test]
    fn the_threads_state_comes_back() {
        let own = read();
        // Denormals are zero, rounding towards zero.
        let strange = DEFAULT | 0x8040 | 0x6000;
        write(strange);
        let inside = {
            let _floats = DefaultFloats::new();
            read()
        };
        let outside = read();
        write(own);
        assert_eq!((inside, outside), (DEFAULT, strange));
    }
}
