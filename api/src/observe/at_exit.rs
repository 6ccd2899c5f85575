//! Locks and standard error at the end of the process.
//!
//! Windows ends all other threads before it runs exit handlers. A thread may have held any lock, which is then never
//! released. On Windows, exit handlers therefore never wait for a lock. This includes Rust's lock of standard error.

use std::fmt::Arguments;

use parking_lot::{Mutex, MutexGuard};

/// Whether other threads may have been ended while they held locks.
pub const LOCKS_MAY_BE_LOST: bool = cfg!(windows);

/// Locks a mutex in an exit handler. Returns `None` if a thread that was ended held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    if LOCKS_MAY_BE_LOST { mutex.try_lock() } else { Some(mutex.lock()) }
}

/// Prepares [`print()`] at the start of the process.
#[cfg(not(windows))]
pub fn prepare() {}

/// Prints on standard error in an exit handler.
#[cfg(not(windows))]
pub fn print(text: Arguments<'_>) {
    eprint!("{text}");
}

/// Standard error. `None` if the process has none.
#[cfg(windows)]
static STANDARD_ERROR: std::sync::OnceLock<Option<std::fs::File>> = std::sync::OnceLock::new();

/// Prepares [`print()`] at the start of the process: duplicates the handle of standard error.
#[cfg(windows)]
pub fn prepare() {
    use std::io::Write as _;
    use std::os::windows::io::AsHandle as _;

    STANDARD_ERROR.get_or_init(|| {
        let mut file = std::fs::File::from(std::io::stderr().as_handle().try_clone_to_owned().ok()?);
        // Wine asks its server for a file at the first write. A thread that is ended meanwhile can break this exchange.
        let _ = file.write(&[]);
        Some(file)
    });
}

/// Prints on standard error in an exit handler, without Rust's lock of standard error.
#[cfg(windows)]
pub fn print(text: Arguments<'_>) {
    use std::io::Write as _;

    if let Some(mut file) = STANDARD_ERROR.get().and_then(Option::as_ref) {
        let _ = file.write_all(text.to_string().as_bytes());
    }
}

/// Prints that a result is missing, because a thread that was ended held its lock.
pub fn print_lost(what: &str) {
    print(format_args!("wgcl: cannot print {what}: the process ended a thread that held its lock\n"));
}
