//! Lifetime of the library on Windows.
//!
//! The library has no code in `DllMain`. When the process ends, Windows first ends all threads but one. Exit handlers
//! run afterwards, so they must not wait for a thread or for its locks.

use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
};

/// Whether a loader may close the library. [`watch`] keeps the code mapped for the threads of the library.
pub(crate) const STAYS_LOADED: bool = true;

/// Keeps the library loaded until the process ends. Otherwise, `FreeLibrary` would unmap code that threads execute.
pub(crate) fn watch() {
    let inside = watch as fn();
    let mut module = std::ptr::null_mut();
    let flags = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
    // SAFETY: with these flags, the name is an address in this library. The call writes the handle.
    if unsafe { GetModuleHandleExW(flags, (inside as *const ()).cast(), &raw mut module) } == 0 {
        let error = std::io::Error::last_os_error();
        tracing::warn!("cannot keep the library loaded ({error}): an application that unloads it may crash");
    }
}
