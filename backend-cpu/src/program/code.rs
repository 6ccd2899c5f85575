//! Calls of generated code.

use std::ops::Range;

use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_codegen::exec::Executable;
use wgcl_compiler::vectorize::abi::{LaunchContext, NativeKernel, WorkerContext};

use crate::Unavailable;
use crate::program::fp_environment::DefaultFloats;

/// A kernel, as `wgcl_compiler::vectorize::abi` has it.
pub(crate) type Entry = unsafe extern "sysv64" fn(*const LaunchContext, *mut WorkerContext, u64, u64);

/// A kernel that can be called.
#[derive(Debug)]
pub(crate) struct Code {
    entry: Entry,
    /// Where it is; functions of Rust are anywhere.
    memory: Option<Executable>,
}

impl Code {
    /// Brings a kernel into executable memory.
    pub(crate) fn map(kernel: &NativeKernel) -> BackendResult<Self> {
        let outside = || BackendError::Other("code that is entered outside of it".to_owned());
        if kernel.entry as usize >= kernel.code.len() {
            return Err(outside());
        }
        let memory = Executable::of_bytes(&kernel.code, &[kernel.entry]).map_err(|error| BackendError::Other(error.to_string()))?;
        let entry = memory.entry(0).ok_or_else(outside)?;
        // SAFETY: the address of a function of that type, as the contract of native code says; it stays there as long as `memory`.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(entry) };
        Ok(Self { entry, memory: Some(memory) })
    }

    /// A function of Rust in a kernel's place.
    #[cfg(test)]
    pub(crate) const fn of_function(entry: Entry) -> Self {
        Self { entry, memory: None }
    }

    /// Where its first byte is, if it is machine code.
    pub(crate) fn address(&self) -> Option<usize> {
        self.memory.as_ref().map(|memory| memory.range().0.addr())
    }

    /// Runs work-groups.
    ///
    /// # Safety
    /// The contexts are what the kernel was compiled for: its arguments and program are as it expects them, its arena is as large as it asks for and nobody else's, and the thread's stack has room
    /// for it. What the kernel does with the memory that it reaches through its arguments is the application's responsibility.
    pub(crate) unsafe fn run(&self, launch: &LaunchContext, worker: &mut WorkerContext, groups: Range<u64>) {
        let _floats = DefaultFloats::new();
        // SAFETY: as the caller promises.
        unsafe { (self.entry)(launch, worker, groups.start, groups.end) };
    }
}

/// Whether the system lets a process make code: a function that does nothing is made, and called.
pub(crate) fn check_executable_memory() -> Result<(), Unavailable> {
    /// `endbr64`, `ret`
    const NOTHING: [u8; 5] = [0xf3, 0x0f, 0x1e, 0xfa, 0xc3];
    let nothing = NativeKernel { code: NOTHING.to_vec(), ..NativeKernel::default() };
    let code = Code::map(&nothing).map_err(|error| Unavailable::ExecutableMemory(error.to_string()))?;
    // SAFETY: the function looks at nothing.
    unsafe { code.run(&LaunchContext::default(), &mut WorkerContext::default(), 0..0) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use wgcl_compiler::vectorize::abi::NativeKernel;

    use super::{Code, check_executable_memory};

    #[test]
    fn code_is_made_and_called() {
        assert_eq!(check_executable_memory(), Ok(()));
    }

    #[test]
    fn code_is_entered_where_it_is() {
        let kernel = NativeKernel { code: vec![0xcc, 0xc3], entry: 1, ..NativeKernel::default() };
        let code = Code::map(&kernel).expect("code");
        // SAFETY: the function returns at once.
        unsafe { code.run(&Default::default(), &mut Default::default(), 0..1) };
        for entry in [2, 100] {
            assert!(Code::map(&NativeKernel { entry, ..kernel.clone() }).is_err());
        }
    }
}
