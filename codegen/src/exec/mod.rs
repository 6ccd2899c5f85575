//! Executable memory for machine code.
//!
//! Memory is written first and made executable afterwards. Some systems refuse to make written memory executable. On
//! Linux, an anonymous file is then mapped twice: once writable, once executable. On macOS, the mapping then has the
//! flag `MAP_JIT`. On AArch64, a thread can either write or execute such a mapping. On x86-64, a thread can do both.
//!
//! AArch64 processors need not keep the instruction cache coherent with stores. `cache` makes new code visible.
//!
//! On Windows, functions are registered with their unwind information, so that debuggers and exception handlers can
//! unwind the stack through kernels.

#[cfg(any(all(windows, target_arch = "aarch64"), test))]
mod arm64_unwind;
#[cfg(unix)]
mod cache;
#[cfg(not(any(unix, windows)))]
mod none;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(any(unix, windows)))]
use none as system;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use std::io;

use crate::mach::code::{Code, FunctionFrame};

/// The reason why code cannot be made executable.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The system cannot allocate memory.
    #[error("cannot allocate memory for machine code: {0}")]
    Memory(#[source] io::Error),
    /// The system refuses every method to create executable memory.
    #[error("cannot make memory executable: {0}")]
    Refused(#[source] io::Error),
}

/// Machine code in executable memory.
#[derive(Debug)]
pub struct Executable {
    pages: system::Pages,
    entries: Vec<u32>,
}

impl Executable {
    /// Copies code into executable memory.
    ///
    /// # Errors
    /// The system cannot allocate memory, or refuses to make it executable.
    pub fn new(code: &Code) -> Result<Self, ExecError> {
        Self::of_bytes(&code.bytes, &code.entries, &code.frames)
    }

    /// Copies code from its bytes. `entries` are the offsets of functions in bytes. `frames` describe the functions
    /// that can be unwound.
    ///
    /// # Errors
    /// Fails under the same conditions as [`Executable::new`].
    pub fn of_bytes(code: &[u8], entries: &[u32], frames: &[FunctionFrame]) -> Result<Self, ExecError> {
        Ok(Self { pages: system::Pages::new(code, frames)?, entries: entries.to_vec() })
    }

    /// Returns the address of a function of the module, or `None` if the index is out of range.
    pub fn entry(&self, function: usize) -> Option<*const u8> {
        let offset = *self.entries.get(function)?;
        Some(self.pages.range().0.wrapping_add(offset as usize))
    }

    /// Returns the address of the first byte of the code, and the number of mapped bytes.
    pub fn range(&self) -> (*const u8, usize) {
        self.pages.range()
    }
}
