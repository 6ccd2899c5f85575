//! The function table of generated code on Windows (`RUNTIME_FUNCTION`), and unwind information for x86-64
//! (`UNWIND_INFO`). `arm64_unwind` has that for ARM64.
//!
//! Generated code for x86-64 has the System V ABI and this prologue:
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

#[cfg(target_arch = "aarch64")]
use windows_sys::Win32::System::Diagnostics::Debug::IMAGE_ARM64_RUNTIME_FUNCTION_ENTRY as Entry;
#[cfg(target_arch = "x86_64")]
use windows_sys::Win32::System::Diagnostics::Debug::IMAGE_RUNTIME_FUNCTION_ENTRY as Entry;
use windows_sys::Win32::System::Diagnostics::Debug::{RtlAddFunctionTable, RtlDeleteFunctionTable};

use crate::mach::code::FunctionFrame;

/// The place of a function table in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    offset: usize,
    count: u32,
}

/// Appends unwind information and the function table to code.
pub(super) fn append(code: &[u8], frames: &[FunctionFrame]) -> (Vec<u8>, Place) {
    let mut image = code.to_vec();
    let mut table: Vec<u8> = Vec::new();
    let mut count = 0;
    for frame in frames {
        let text = code.get(frame.start as usize..frame.end as usize).unwrap_or_default();
        let Some(information) = information(frame, text) else { continue };
        image.resize(image.len().next_multiple_of(4), 0);
        let Ok(offset) = u32::try_from(image.len()) else { break };
        image.extend(information);
        table.extend(entry(frame, offset));
        count += 1;
    }
    image.resize(image.len().next_multiple_of(8), 0);
    let place = Place { offset: image.len(), count };
    image.extend(table);
    (image, place)
}

/// The unwind information of a function. `None` if the format cannot describe it.
#[cfg(target_arch = "x86_64")]
fn information(frame: &FunctionFrame, _: &[u8]) -> Option<Vec<u8>> {
    Some(x86::unwind_info(&frame.saved))
}

/// The entry of a function in the table, with the offset of its unwind information.
#[cfg(target_arch = "x86_64")]
fn entry(frame: &FunctionFrame, information: u32) -> impl Iterator<Item = u8> {
    [frame.start, frame.end, information].into_iter().flat_map(u32::to_le_bytes)
}

/// The unwind information of a function. `None` if the format cannot describe it.
#[cfg(target_arch = "aarch64")]
fn information(frame: &FunctionFrame, text: &[u8]) -> Option<Vec<u8>> {
    crate::exec::arm64_unwind::record(frame, text)
}

/// The entry of a function in the table, with the offset of its unwind information. The lowest two bits of the offset
/// are 0, which selects a record in the format of `.xdata`. That record contains the length of the function.
#[cfg(target_arch = "aarch64")]
fn entry(frame: &FunctionFrame, information: u32) -> impl Iterator<Item = u8> {
    [frame.start, information].into_iter().flat_map(u32::to_le_bytes)
}

/// A registered function table.
#[derive(Debug)]
pub(super) struct Table(NonNull<Entry>);

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
        let table = unsafe { start.byte_add(place.offset) }.cast::<Entry>();
        // SAFETY: the table has `count` entries. The table is valid until `Drop` removes it.
        let added = unsafe { RtlAddFunctionTable(table.as_ptr(), place.count, start.as_ptr().addr() as _) };
        added.then_some(Self(table))
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // SAFETY: `register` added this table.
        unsafe { RtlDeleteFunctionTable(self.0.as_ptr()) };
    }
}

/// The encoding of `UNWIND_INFO`.
#[cfg(target_arch = "x86_64")]
mod x86 {
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

    /// Returns the bytes of an `UNWIND_INFO`, for a function that saves these registers in this order.
    pub(super) fn unwind_info(saved: &[u8]) -> Vec<u8> {
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
}
