//! Threads and their affinity masks on Linux.

/// The processors in the affinity mask of the calling thread.
pub(super) fn processors_of_this_thread() -> Vec<usize> {
    // SAFETY: all bits zero are an empty set. The call writes at most its size. The set has a bit for each number.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &raw mut set), 0);
        (0..libc::CPU_SETSIZE as usize).filter(|&processor| libc::CPU_ISSET(processor, &set)).collect()
    }
}

/// Binds the calling thread to one processor.
pub(super) fn bind_this_thread(processor: usize) {
    // SAFETY: all bits zero are an empty set, and the set has a bit for the number.
    unsafe {
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor, &mut one);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&one), &raw const one), 0);
    }
}

/// The thread id of the calling thread (gettid).
pub(super) fn thread_number() -> u32 {
    // SAFETY: the call has no arguments.
    unsafe { libc::gettid() }.unsigned_abs()
}
