//! The floating-point environment of generated code. It is the environment of a new thread in the C ABI, regardless of
//! the application's settings.

#[cfg(target_arch = "aarch64")]
use fpcr::{DEFAULT, read, write};
#[cfg(target_arch = "x86_64")]
use mxcsr::{DEFAULT, read, write};

/// The value of a floating-point control register.
type Control = u32;

/// Sets the default environment, and restores the previous environment of the thread on drop.
#[derive(Debug)]
pub(crate) struct DefaultFpEnvironment {
    before: Control,
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

/// The control register of x86-64.
#[cfg(target_arch = "x86_64")]
mod mxcsr {
    use std::arch::asm;

    use super::Control;

    /// MXCSR at the start of a thread: exceptions masked, rounding to nearest, denormals kept.
    pub(super) const DEFAULT: Control = 0x1f80;
    /// Denormals are zero (DAZ, FTZ), rounding towards zero.
    #[cfg(test)]
    pub(super) const OTHER: Control = DEFAULT | 0x8040 | 0x6000;

    pub(super) fn read() -> Control {
        let mut state = 0;
        // SAFETY: stores four bytes into `state`.
        unsafe { asm!("stmxcsr [{0}]", in(reg) &raw mut state, options(nostack, preserves_flags)) };
        state
    }

    pub(super) fn write(state: Control) {
        // SAFETY: `state` is `DEFAULT` or a result of `read`, so no reserved bit is set. Rust code runs in a
        // non-default environment only where the thread's owner set it before.
        unsafe { asm!("ldmxcsr [{0}]", in(reg) &raw const state, options(nostack, preserves_flags, readonly)) };
    }
}

/// The control register of AArch64.
#[cfg(target_arch = "aarch64")]
mod fpcr {
    use std::arch::asm;

    use super::Control;

    /// FPCR at the start of a thread: exceptions disabled, rounding to nearest, denormals kept.
    pub(super) const DEFAULT: Control = 0;
    /// Denormals are zero (FZ), rounding towards zero.
    #[cfg(test)]
    pub(super) const OTHER: Control = 1 << 24 | 3 << 22;

    pub(super) fn read() -> Control {
        let state: u64;
        // SAFETY: reads a register.
        unsafe { asm!("mrs {0}, fpcr", out(reg) state, options(nomem, nostack, preserves_flags)) };
        // The upper half is reserved.
        state as Control
    }

    pub(super) fn write(state: Control) {
        let state = u64::from(state);
        // SAFETY: `state` is `DEFAULT` or a result of `read`, so no reserved bit is set. Rust code runs in a
        // non-default environment only where the thread's owner set it before.
        unsafe { asm!("msr fpcr, {0}", in(reg) state, options(nomem, nostack, preserves_flags)) };
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "aarch64")]
    use super::fpcr::OTHER;
    #[cfg(target_arch = "x86_64")]
    use super::mxcsr::OTHER;
    use super::{DEFAULT, DefaultFpEnvironment, read, write};

    #[test]
    fn the_previous_environment_is_restored() {
        let own = read();
        write(OTHER);
        let inside = {
            let _fp_environment = DefaultFpEnvironment::new();
            read()
        };
        let outside = read();
        write(own);
        assert_eq!((inside, outside), (DEFAULT, OTHER));
    }
}
