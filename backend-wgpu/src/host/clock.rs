//! The clock of all reported times: the host's monotonic clock in nanoseconds.

#[cfg(unix)]
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writes, and CLOCK_MONOTONIC exists on every Unix.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds)
}

#[cfg(not(unix))]
pub(crate) fn now() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    let nanoseconds = START.get_or_init(Instant::now).elapsed().as_nanos();
    // The result is never zero, because zero means that a time is not known yet.
    1 + u64::try_from(nanoseconds).unwrap_or(u64::MAX - 1)
}
