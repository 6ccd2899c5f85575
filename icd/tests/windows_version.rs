//! Windows must find the version resource of the library.

#![cfg(windows)]

mod common;

use std::ffi::c_void;
use std::ptr::null_mut;

use windows_sys::Win32::Storage::FileSystem::{GetFileVersionInfoSizeW, GetFileVersionInfoW, VS_FIXEDFILEINFO, VerQueryValueW};

fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

#[test]
fn the_library_has_a_version() {
    let library = wide(&common::library_under_test().expect("the library").to_string_lossy());
    // SAFETY: the name ends in zero.
    let size = unsafe { GetFileVersionInfoSizeW(library.as_ptr(), null_mut()) };
    assert!(size != 0, "{}", std::io::Error::last_os_error());
    let mut resource = vec![0u8; size as usize];
    // SAFETY: the call writes at most `size` bytes.
    assert!(unsafe { GetFileVersionInfoW(library.as_ptr(), 0, size, resource.as_mut_ptr().cast()) } != 0);
    let query = |path: &str| {
        let (mut value, mut length): (*mut c_void, u32) = (null_mut(), 0);
        // SAFETY: the resource is complete, and the path ends in zero.
        let is_found = unsafe { VerQueryValueW(resource.as_ptr().cast(), wide(path).as_ptr(), &raw mut value, &raw mut length) };
        assert!(is_found != 0, "{path} is missing");
        (value, length as usize)
    };
    let text = |name: &str| {
        let (value, length) = query(&format!(r"\StringFileInfo\040904b0\{name}"));
        // SAFETY: the value has this number of characters.
        let characters = unsafe { std::slice::from_raw_parts(value.cast::<u16>(), length) };
        String::from_utf16_lossy(characters).trim_end_matches('\0').to_owned()
    };
    assert_eq!((text("ProductName").as_str(), text("FileVersion").as_str()), ("wgcl", env!("CARGO_PKG_VERSION")));
    let (value, length) = query(r"\");
    assert_eq!(length, size_of::<VS_FIXEDFILEINFO>());
    // SAFETY: the value is such a structure, aligned to 4 bytes.
    let fixed = unsafe { value.cast::<VS_FIXEDFILEINFO>().read_unaligned() };
    let number = |text: &str| text.parse::<u32>().expect("a number");
    assert_eq!(fixed.dwFileVersionMS, number(env!("CARGO_PKG_VERSION_MAJOR")) << 16 | number(env!("CARGO_PKG_VERSION_MINOR")));
}
