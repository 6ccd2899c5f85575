//! Lifetime of the library on Windows.
//!
//! The library has no code in `DllMain`. When the process ends, Windows first ends all threads but one. Exit handlers
//! run afterwards, so they must not wait for a thread or for its locks.

use std::ffi::OsString;
use std::os::windows::ffi::OsStringExt;
use std::path::PathBuf;

use windows_sys::Win32::Foundation::HMODULE;
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
    GetModuleFileNameW, GetModuleHandleExW,
};

/// Limit for the path of the library, in UTF-16 units. Windows has no longer paths.
const MAX_LIBRARY_PATH: usize = 1 << 15;

/// Whether a loader may close the library. [`watch`] keeps the code mapped for the threads of the library.
pub(crate) const STAYS_LOADED: bool = true;

/// Keeps the library loaded until the process ends. Otherwise, `FreeLibrary` would unmap code that threads execute.
pub(crate) fn watch() {
    if let Err(error) = module(GET_MODULE_HANDLE_EX_FLAG_PIN) {
        tracing::warn!("cannot keep the library loaded ({error}): an application that unloads it may crash");
    }
}

/// Whether the process has more rights than the user who started it. Windows has no such programs.
pub(crate) const fn has_elevated_rights() -> bool {
    false
}

/// Returns the folder that contains the library.
pub(crate) fn library_folder() -> Option<PathBuf> {
    let module = module(GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT).ok()?;
    let mut path = vec![0_u16; MAX_LIBRARY_PATH];
    // SAFETY: the call writes at most as many units as the buffer has.
    let length = unsafe { GetModuleFileNameW(module, path.as_mut_ptr(), MAX_LIBRARY_PATH as u32) } as usize;
    let path = PathBuf::from(OsString::from_wide(path.get(..length)?));
    path.parent().map(PathBuf::from)
}

/// Returns the handle of this library.
fn module(flags: u32) -> std::io::Result<HMODULE> {
    let inside = watch as fn();
    let mut module = std::ptr::null_mut();
    // SAFETY: with these flags, the name is an address in this library. The call writes the handle.
    let found =
        unsafe { GetModuleHandleExW(flags | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, (inside as *const ()).cast(), &raw mut module) };
    if found == 0 { Err(std::io::Error::last_os_error()) } else { Ok(module) }
}
