//! The exported functions. A call writes the request to the memory at [`wgcl_input`], and reads the response at
//! [`wgcl_output`].

// The names of exported symbols must be unique in the module. The prefix ensures this.
#![allow(unsafe_code, reason = "`no_mangle` is an unsafe attribute")]

use std::cell::RefCell;
use std::sync::Once;

use crate::message::{decode, encode};
use crate::session::Session;

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

static HOOK: Once = Once::new();

/// Returns the address of `length` bytes for the next request.
#[unsafe(no_mangle)]
pub extern "C" fn wgcl_input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Executes the request. Returns the length of the response.
#[unsafe(no_mangle)]
pub extern "C" fn wgcl_call() -> usize {
    // After a panic, the instance can still return the contents of `OUTPUT`.
    HOOK.call_once(|| std::panic::set_hook(Box::new(|info| OUTPUT.set(info.to_string().into_bytes()))));
    OUTPUT.set(Vec::new());
    let input = INPUT.take();
    let response = SESSION.with_borrow_mut(|session| session.call(&decode(&input)));
    drop(input);
    OUTPUT.set(encode(&response));
    wgcl_output_length()
}

/// Returns the address of the last response, or of the message of a panic.
#[unsafe(no_mangle)]
pub extern "C" fn wgcl_output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

/// Returns the length of the last response, or of the message of a panic.
#[unsafe(no_mangle)]
pub extern "C" fn wgcl_output_length() -> usize {
    OUTPUT.with_borrow(Vec::len)
}
