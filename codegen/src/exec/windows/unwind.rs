//! Unwind information for x86-64 Windows (`RUNTIME_FUNCTION`, `UNWIND_INFO`).
//!
//! Generated code has the System V ABI and this prologue:
//!
//! ```text
//! endbr64; push rbp; mov rbp, rsp; push REGISTER...; sub rsp, SIZE; and rsp, -ALIGN
//! ```
//! The frame size after alignment is not constant, so the description is relative to rbp. It describes the equivalent
//! sequence `push rbp; sub rsp, BELOW; lea rbp, [rsp + BELOW]; mov [rbp - 8], REGISTER...`, which is exact after each
//! instruction of the prologue. The unwinder recognises the epilogue, because it consists of `lea`, `pop` and `ret`.
//!
//! System V functions do not preserve rsi, rdi and xmm6 to xmm15, but Windows functions do. The Rust function that
//! calls generated code saves them, and has its own unwind information.

use std::ffi::c_void;
use std::ptr::NonNull;

use windows_sys::Win32::System::Diagnostics::Debug::{IMAGE_RUNTIME_FUNCTION_ENTRY, RtlAddFunctionTable, RtlDeleteFunctionTable};

use crate::mach::code::FunctionFrame;

/// The number of rbp.
const RBP: u8 = 5;
/// Bytes from the described stack pointer to rbp. They contain all saved registers.
const BELOW: u8 = 48;
/// The offset in bytes of the end of `push rbp`.
const AFTER_PUSH: u8 = 5;
/// The offset in bytes of the end of `mov rbp, rsp`.
const AFTER_MOVE: u8 = 8;

/// The unwind operations.
const PUSH_NONVOL: u8 = 0;
const ALLOC_SMALL: u8 = 2;
const SET_FPREG: u8 = 3;
const SAVE_NONVOL: u8 = 4;

/// The place of a function table in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    offset: usize,
    count: u32,
}

/// Returns the bytes of an `UNWIND_INFO`, for a function that saves these registers in this order.
fn unwind_info(saved: &[u8]) -> Vec<u8> {
    let mut end = AFTER_MOVE;
    let mut codes: Vec<[u8; 2]> = Vec::new();
    // The codes are in descending order of their offsets in the prologue.
    for (place, &register) in (1..).zip(saved) {
        end += if register < 8 { 1 } else { 2 };
        codes.splice(0..0, [[end, SAVE_NONVOL | register << 4], [BELOW / 8 - place, 0]]);
    }
    codes.push([AFTER_MOVE, SET_FPREG]);
    codes.push([AFTER_MOVE, ALLOC_SMALL | (BELOW / 8 - 1) << 4]);
    codes.push([AFTER_PUSH, PUSH_NONVOL | RBP << 4]);
    let count = codes.len() as u8;
    // `UNWIND_INFO` requires an array with an even number of elements.
    codes.resize(codes.len().next_multiple_of(2), [0; 2]);
    let mut bytes = vec![1, end, count, RBP | (BELOW / 16) << 4];
    bytes.extend(codes.into_flattened());
    bytes
}

/// Appends unwind information and the function table to code.
pub(super) fn append(code: &[u8], frames: &[FunctionFrame]) -> (Vec<u8>, Place) {
    let mut image = code.to_vec();
    let mut table = Vec::new();
    for frame in frames {
        image.resize(image.len().next_multiple_of(4), 0);
        let Ok(info) = u32::try_from(image.len()) else { break };
        image.extend(unwind_info(&frame.saved));
        table.extend([frame.start, frame.end, info].map(u32::to_le_bytes));
    }
    image.resize(image.len().next_multiple_of(8), 0);
    let place = Place { offset: image.len(), count: (table.len() / 3) as u32 };
    image.extend(table.into_flattened());
    (image, place)
}

/// A registered function table.
#[derive(Debug)]
pub(super) struct Table(NonNull<IMAGE_RUNTIME_FUNCTION_ENTRY>);

impl Table {
    /// Registers the function table of the image at `start`. Returns `None` if the table is empty, or if the system
    /// refuses it.
    ///
    /// # Safety
    /// The memory must contain an image of [`append`] at an address that is a multiple of 8, for longer than the result
    /// lives.
    pub(super) unsafe fn register(start: NonNull<c_void>, place: &Place) -> Option<Self> {
        if place.count == 0 {
            return None;
        }
        // SAFETY: the caller guarantees that the image contains the table.
        let table = unsafe { start.byte_add(place.offset) }.cast::<IMAGE_RUNTIME_FUNCTION_ENTRY>();
        // SAFETY: the table has `count` entries. The table is valid until `Drop` removes it.
        let added = unsafe { RtlAddFunctionTable(table.as_ptr(), place.count, start.as_ptr().addr() as u64) };
        added.then_some(Self(table))
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // SAFETY: `register` added this table.
        unsafe { RtlDeleteFunctionTable(self.0.as_ptr()) };
    }
}
