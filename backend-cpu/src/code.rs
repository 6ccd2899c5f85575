//! Calls of generated code.

use std::ops::Range;

use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_codegen::Isa;
use wgcl_compiler::native::abi::{LaunchContext, NativeKernel, WorkerContext};

use crate::Unavailable;
use crate::floats::DefaultFloats;

/// A kernel, as `wgcl_compiler::native::abi` has it.
pub(crate) type Entry = unsafe extern "sysv64" fn(*const LaunchContext, *mut WorkerContext, u64, u64);

/// A kernel that can be called.
#[derive(Debug)]
pub(crate) struct Code {
    entry: Entry,
}

impl Code {
    /// Brings a kernel into executable memory.
    pub(crate) fn map(kernel: &NativeKernel) -> BackendResult<Self> {
        let _ = kernel;
        Err(BackendError::Other("there is no executable memory yet".to_owned()))
    }

    /// A function of Rust in a kernel's place.
    #[cfg(test)]
    pub(crate) const fn of_function(entry: Entry) -> Self {
        Self { entry }
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

/// The largest instruction set that the processor has.
pub(crate) fn detect_isa() -> Option<Isa> {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("popcnt"), avx2, avx512) {
        (true, true, true) => Some(Isa::Avx512),
        (true, true, false) => Some(Isa::Avx2),
        (true, false, _) => Some(Isa::Sse42),
        (false, ..) => None,
    }
}

/// Whether the system lets a process make code.
pub(crate) fn check_executable_memory() -> Result<(), Unavailable> {
    Ok(())
}
