//! The end of a process on Windows: no way to end the process may hang or crash while the device's threads exist.
//!
//! `cargo test` runs each way in 50 child processes. `WGCL_TEST_EXITS` sets another number. A child runs a kernel on
//! several threads, enqueues another launch without a flush, and ends. It returns from `main`, calls `exit` or
//! `ExitProcess` while other threads use OpenCL, or first unloads the library. A child of `unload_unused` never uses
//! the library. Some children also check the results that `WGCL_CHECK`, `WGCL_STATS` and `WGCL_TRACE` print at the end.

#[cfg(windows)]
#[path = "windows_exit/child.rs"]
mod child;
#[cfg(windows)]
mod common;
#[cfg(windows)]
#[path = "windows_exit/parent.rs"]
mod parent;
#[cfg(windows)]
#[path = "windows_exit/wine.rs"]
mod wine;

#[cfg(windows)]
fn main() -> std::process::ExitCode {
    match std::env::var(parent::WAY) {
        Ok(way) => child::run(&way),
        Err(_) => parent::run(),
    }
}

/// On other systems, `abi_exit` tests the end of a process.
#[cfg(not(windows))]
fn main() {
    println!("running 0 tests\ntest result: ok. 0 passed; 0 failed; 0 ignored");
}
