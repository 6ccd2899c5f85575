//! The length of SVE's vector registers. It is a property of a thread, and a program can change it.

use std::marker::PhantomData;

/// The system does not give a thread the vector length that code needs.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "machine code for SVE with vectors of {} bits cannot run on this thread, whose vectors have {} bits: the system refuses to change \
     the length (prctl PR_SVE_SET_VL)",
    needed * 8,
    found * 8
)]
pub struct VectorLengthError {
    /// The size of a vector in bytes that the code needs.
    needed: u32,
    /// The size that the thread has.
    found: u32,
}

/// Gives the calling thread the vector length that code needs. Restores the previous length on drop. Between the two
/// changes, only this code may use SVE.
#[derive(Debug)]
pub struct VectorLength {
    /// The previous length with its flags, as the system reports it; `None` if it was not changed.
    before: Option<u32>,
    /// The length belongs to the thread.
    _thread: PhantomData<*const ()>,
}

impl VectorLength {
    /// Changes the length to `needed` bytes if the thread has another one. `needed` is
    /// [`Isa::sve_vector_bytes`](crate::Isa::sve_vector_bytes), and the processor must have SVE unless it is `None`.
    ///
    /// # Errors
    /// The system refuses to change the length.
    #[cfg_attr(not(target_arch = "aarch64"), expect(unused_variables, reason = "other processors have one length"))]
    pub fn with_bytes(needed: Option<u32>) -> Result<Self, VectorLengthError> {
        #[cfg(target_arch = "aarch64")]
        if let Some(needed) = needed {
            let found = sve_vector_bytes();
            if needed != found {
                let before = system::change(needed).ok_or(VectorLengthError { needed, found })?;
                return Ok(Self { before: Some(before), _thread: PhantomData });
            }
        }
        Ok(Self { before: None, _thread: PhantomData })
    }
}

impl Drop for VectorLength {
    fn drop(&mut self) {
        #[cfg(target_arch = "aarch64")]
        if let Some(before) = self.before {
            system::restore(before);
        }
        #[cfg(not(target_arch = "aarch64"))]
        debug_assert!(self.before.is_none());
    }
}

/// Returns the size of a vector register of the calling thread in bytes. The processor must have SVE.
#[cfg(target_arch = "aarch64")]
pub(crate) fn sve_vector_bytes() -> u32 {
    let bytes: u64;
    // The word is `rdvl x0, #1`. As text, it would need the target feature of SVE.
    // SAFETY: the caller has checked that the processor has SVE. The instruction only writes x0.
    unsafe { std::arch::asm!(".inst 0x04bf5020", out("x0") bytes, options(nomem, nostack, preserves_flags)) };
    bytes as u32
}

/// Linux changes the length by a system call. The call preserves the registers that functions must preserve.
#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
mod system {
    use libc::{c_int, c_ulong, prctl};

    const PR_SVE_SET_VL: c_int = 50;
    const PR_SVE_GET_VL: c_int = 51;
    const LENGTH_MASK: c_int = 0xFFFF;

    /// Returns the previous length with its flags, or `None` if the system refuses the new length.
    pub(super) fn change(bytes: u32) -> Option<u32> {
        // SAFETY: the calls only read and change the vector length of this thread. No code of Rust uses SVE.
        let (before, now) = unsafe { (prctl(PR_SVE_GET_VL), prctl(PR_SVE_SET_VL, c_ulong::from(bytes))) };
        let before = u32::try_from(before).ok()?;
        // The system chooses the next smaller length if it does not support the requested one.
        if now >= 0 && (now & LENGTH_MASK).cast_unsigned() == bytes {
            return Some(before);
        }
        restore(before);
        None
    }

    pub(super) fn restore(before: u32) {
        // SAFETY: as above. The value is one that the system reported.
        unsafe { prctl(PR_SVE_SET_VL, c_ulong::from(before)) };
    }
}

#[cfg(all(target_arch = "aarch64", not(target_os = "linux")))]
mod system {
    pub(super) const fn change(_: u32) -> Option<u32> {
        None
    }

    pub(super) const fn restore(_: u32) {}
}
