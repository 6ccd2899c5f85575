//! The floating-point environment of generated code: that of the C ABI at the start of a thread, regardless of the
//! application's settings.

use std::arch::asm;

/// MXCSR at the start of a thread: exceptions masked, rounding to nearest, denormals kept.
const DEFAULT: u32 = 0x1f80;

/// Sets the default environment, and restores the thread's own on drop.
#[derive(Debug)]
pub(crate) struct DefaultFpEnvironment {
    before: u32,
}

impl DefaultFpEnvironment {
    pub(crate) fn new() -> Self {
        let before = read();
        if before != DEFAULT {
            write(DEFAULT);
        }
        Self { before }
    }
}

impl Drop for DefaultFpEnvironment {
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
    // SAFETY: `state` is `DEFAULT` or a result of `read`, so no reserved bit is set. Rust code runs in a non-default
    // environment only where the thread's owner set it before.
    unsafe { asm!("ldmxcsr [{0}]", in(reg) &raw const state, options(nostack, preserves_flags, readonly)) };
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT, DefaultFpEnvironment, read, write};

    #[test]
    fn the_threads_environment_is_restored() {
        let own = read();
        // Denormals are zero (DAZ, FTZ), rounding towards zero.
        let strange = DEFAULT | 0x8040 | 0x6000;
        write(strange);
        let inside = {
            let _fp_environment = DefaultFpEnvironment::new();
            read()
        };
        let outside = read();
        write(own);
        assert_eq!((inside, outside), (DEFAULT, strange));
    }
}
