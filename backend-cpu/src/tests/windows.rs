//! Threads and their affinity masks on Windows, for one group of processors.

use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{GetCurrentThread, GetCurrentThreadId, GetThreadGroupAffinity, SetThreadAffinityMask};

/// The processors in the affinity mask of the calling thread.
pub(super) fn processors_of_this_thread() -> Vec<usize> {
    let mut own = GROUP_AFFINITY::default();
    // SAFETY: the call writes the mask.
    assert_ne!(unsafe { GetThreadGroupAffinity(GetCurrentThread(), &raw mut own) }, 0);
    (0..64).filter(|&processor| own.Mask >> processor & 1 != 0).collect()
}

/// Binds the calling thread to one processor.
pub(super) fn bind_this_thread(processor: usize) {
    // SAFETY: the call has no pointers.
    assert_ne!(unsafe { SetThreadAffinityMask(GetCurrentThread(), 1 << processor) }, 0);
}

/// The thread id of the calling thread.
pub(super) fn thread_number() -> u32 {
    // SAFETY: the call has no arguments.
    unsafe { GetCurrentThreadId() }
}
