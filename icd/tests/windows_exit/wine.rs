//! Wine ends some processes before the exit handlers of libraries have run.
//!
//! If `ExitProcess` interrupts the end of a thread, Wine 10.0 decrements its number of threads twice. The last of the
//! other threads then finds no thread left, and ends the process. The exit status is right. A process without OpenCL
//! can end in this way, too.
//!
//! A file shows whether the exit handlers have returned. The C library writes the buffers of open files when the system
//! detaches it from the process. Libraries that were loaded later are detached before.

use std::ffi::CString;
use std::path::Path;

use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};

/// The contents of the file.
const RETURNED: &[u8] = b"the exit handlers have returned";

pub fn is_wine() -> bool {
    let ntdll: Vec<u16> = "ntdll.dll\0".encode_utf16().collect();
    // SAFETY: both names end in zero. The module is always loaded.
    unsafe { GetProcAddress(GetModuleHandleW(ntdll.as_ptr()), c"wine_get_version".as_ptr().cast()) }.is_some()
}

/// Opens the file, and leaves the text in the buffer of the C library.
pub fn open_report(path: &str) {
    let path = CString::new(path).expect("a path without zeros");
    // SAFETY: the strings end in zero, and the file stays open until the process ends.
    unsafe {
        let file = libc::fopen(path.as_ptr(), c"wb".as_ptr());
        assert!(!file.is_null(), "cannot create {path:?}");
        assert_eq!(libc::fwrite(RETURNED.as_ptr().cast(), 1, RETURNED.len(), file), RETURNED.len());
    }
}

/// Whether the exit handlers of the process that wrote this file have returned.
pub fn has_returned(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|text| text == RETURNED)
}
