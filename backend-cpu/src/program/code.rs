//! Kernels in executable memory, and calls of kernels.

use std::ops::Range;

use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_codegen::exec::Executable;
use wgcl_compiler::vectorize::abi::{LaunchContext, NativeKernel, WorkerContext};

use crate::program::fp_environment::DefaultFpEnvironment;

generated_code_abi! {
    /// The function type of a kernel (`wgcl_compiler::vectorize::abi`).
    pub(crate) type Entry = unsafe fn(*const LaunchContext, *mut WorkerContext, u64, u64);
}

/// A function that only returns: `endbr64; ret`.
#[cfg(target_arch = "x86_64")]
const RETURN: &[u8] = &[0xf3, 0x0f, 0x1e, 0xfa, 0xc3];
/// A function that only returns: `bti c; ret`.
#[cfg(target_arch = "aarch64")]
const RETURN: &[u8] = &[0x5f, 0x24, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6];

/// A callable kernel.
#[derive(Debug)]
pub(crate) struct Code {
    entry: Entry,
    /// The executable memory that contains the kernel; `None` for a Rust function.
    #[cfg_attr(not(unix), expect(dead_code, reason = "owns the memory"))]
    memory: Option<Executable>,
    /// Maximum bytes of stack that the kernel uses.
    #[cfg(windows)]
    stack: u32,
}

impl Code {
    /// Copies a kernel to executable memory.
    ///
    /// # Errors
    /// Fails if the entry is outside of the code, or the system refuses executable memory.
    pub(crate) fn map(kernel: &NativeKernel) -> BackendResult<Self> {
        let (entry, size) = (kernel.entry, kernel.code.len());
        let outside = || BackendError::Other(format!("internal error: entry {entry} is outside of the {size} bytes of code"));
        if entry as usize >= size {
            return Err(outside());
        }
        let memory =
            Executable::of_bytes(&kernel.code, &[entry], &kernel.frames).map_err(|error| BackendError::Other(error.to_string()))?;
        let entry = memory.entry(0).ok_or_else(outside)?;
        // SAFETY: `wgcl_compiler::vectorize::abi` defines the function type, and `memory` owns the code.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(entry) };
        Ok(Self {
            entry,
            memory: Some(memory),
            #[cfg(windows)]
            stack: kernel.stack,
        })
    }

    /// Wraps a Rust function in place of a kernel.
    #[cfg(test)]
    pub(crate) const fn of_function(entry: Entry) -> Self {
        Self {
            entry,
            memory: None,
            #[cfg(windows)]
            stack: 0,
        }
    }

    /// The address of the first byte of machine code; `None` for a Rust function.
    #[cfg(unix)]
    pub(crate) fn address(&self) -> Option<usize> {
        self.memory.as_ref().map(|memory| memory.range().0.addr())
    }

    /// The kernel's function.
    #[cfg(not(all(windows, target_arch = "aarch64")))]
    pub(crate) const fn entry(&self) -> Entry {
        self.entry
    }

    /// Commits the pages of the calling thread's stack that the kernel uses, on Windows.
    pub(crate) fn commit_stack(&self) {
        #[cfg(windows)]
        super::stack::commit(self.stack);
    }

    /// Runs a range of work-groups.
    ///
    /// # Safety
    /// The contexts must match the kernel. Arguments and program memory must have the layout that the kernel was
    /// compiled for. `worker.arena` must have the size that the kernel needs, and no other thread may use it. The
    /// thread must have the stack that the kernel needs. The application is responsible for the memory that the kernel
    /// accesses through its arguments.
    pub(crate) unsafe fn run(&self, launch: &LaunchContext, worker: &mut WorkerContext, groups: Range<u64>) {
        let _fp_environment = DefaultFpEnvironment::new();
        self.commit_stack();
        // SAFETY: the caller ensures the conditions in the documentation of this function.
        unsafe { (self.entry)(launch, worker, groups.start, groups.end) };
    }
}

/// Checks that the system allows executable memory: maps and calls a function that only returns.
///
/// # Errors
/// Fails if the system refuses executable memory.
pub(crate) fn check_executable_memory() -> BackendResult<()> {
    let kernel = NativeKernel { code: RETURN.to_vec(), ..NativeKernel::default() };
    let code = Code::map(&kernel)?;
    // SAFETY: the function reads nothing.
    unsafe { code.run(&LaunchContext::default(), &mut WorkerContext::default(), 0..0) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use wgcl_compiler::vectorize::abi::NativeKernel;

    use super::{Code, RETURN, check_executable_memory};

    #[test]
    fn code_is_mapped_and_called() {
        assert_eq!(check_executable_memory(), Ok(()));
    }

    /// The code first stores to the lowest address of a large frame. Without committed pages, this is an access
    /// violation on Windows.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn kernels_may_have_frames_of_many_pages() {
        // endbr64; push rbp; mov rbp, rsp; sub rsp, 1 MiB; mov [rsp], rax; lea rsp, [rbp]; pop rbp; ret
        let code = b"\xF3\x0F\x1E\xFA\x55\x48\x89\xE5\x48\x81\xEC\x00\x00\x10\x00\x48\x89\x04\x24\x48\x8D\x65\x00\x5D\xC3";
        let kernel = NativeKernel { code: code.to_vec(), stack: (1 << 20) + 16, ..NativeKernel::default() };
        let run = move || {
            let code = Code::map(&kernel).expect("code");
            // SAFETY: the function uses only its stack, and the thread has 4 MiB.
            unsafe { code.run(&Default::default(), &mut Default::default(), 0..1) };
        };
        let thread = std::thread::Builder::new().stack_size(4 << 20).spawn(run).expect("a thread");
        assert!(thread.join().is_ok());
    }

    #[test]
    fn an_entry_outside_of_the_code_is_an_error() {
        // Four bytes that must not be executed, and then the function.
        let code = [&[0; 4], RETURN].concat();
        let size = code.len() as u32;
        let kernel = NativeKernel { code, entry: 4, ..NativeKernel::default() };
        let code = Code::map(&kernel).expect("code");
        // SAFETY: the function returns at once.
        unsafe { code.run(&Default::default(), &mut Default::default(), 0..1) };
        for entry in [size, size + 100] {
            assert!(Code::map(&NativeKernel { entry, ..kernel.clone() }).is_err());
        }
    }
}
