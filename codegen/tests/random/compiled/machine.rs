//! Runs machine code in a child process, on memory between guard pages.

use std::ffi::c_int;
use std::ptr::null_mut;

use wgcl_codegen::vir::Type;

use super::processor::{CALL_BYTES, call, clobber};
use crate::generate::{Helper, SIZE};

/// Inaccessible bytes before and after each memory, larger than any vector.
const GUARD: usize = 1 << 16;
/// Maximum number of programs per process.
pub const JOBS: usize = 32;
/// The distance between memories in bytes.
const STRIDE: usize = SIZE as usize + GUARD;
/// Size of the stack in bytes.
const STACK: usize = 4 << 20;
/// Number of bytes below the allowed stack that must not change.
const BELOW: usize = 4096;
/// The byte that fills the bytes below the allowed stack.
const PAINT: u8 = 0xa5;
/// Total size in bytes: memories, outcomes and stack, each followed by a guard.
const BYTES: usize = GUARD + JOBS * STRIDE + 2 * GUARD + STACK + GUARD;

/// The outcome of a job, written by the child process.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Outcome {
    result: u64,
    /// The bits that differ in callee-saved registers.
    changed_bits: u64,
    /// Whether the function used more stack than allowed.
    exceeded_stack: bool,
    /// Whether the function was called.
    was_called: bool,
    ended: bool,
}

/// A call of a function.
pub struct Job<'a> {
    pub code: *const u8,
    /// The arguments. The first one is the address of the memory.
    pub args: [u64; 6],
    /// Allowed bytes of stack; `None` if the limit is unknown.
    pub stack: Option<usize>,
    /// The initial memory.
    pub memory: &'a [u8],
}

/// The result of a function and the final memory, or a message about the failure.
pub type JobResult = Result<(u64, Vec<u8>), String>;

/// Memory that is shared with the child processes.
pub struct Arena {
    start: *mut u8,
}

impl Arena {
    /// Maps memory for `JOBS` programs.
    pub fn new() -> Self {
        // SAFETY: the mapping is new.
        let start = unsafe { libc::mmap(null_mut(), BYTES, libc::PROT_NONE, libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED, "no memory");
        let arena = Self { start: start.cast() };
        let memories = (0..JOBS).map(|job| (arena.memory(job), SIZE as usize));
        let rest = [(arena.outcome(0).cast(), GUARD), (arena.stack().wrapping_sub(STACK), STACK)];
        for (place, size) in memories.chain(rest) {
            // SAFETY: the range is inside the mapping.
            let changed = unsafe { libc::mprotect(place.cast(), size, libc::PROT_READ | libc::PROT_WRITE) };
            assert_eq!(changed, 0, "mprotect failed");
        }
        arena
    }

    /// The address of a job's memory.
    pub fn base(&self, job: usize) -> u64 {
        self.memory(job).addr() as u64
    }

    fn memory(&self, job: usize) -> *mut u8 {
        self.start.wrapping_add(GUARD + job * STRIDE)
    }

    fn outcome(&self, job: usize) -> *mut Outcome {
        self.start.wrapping_add(GUARD + JOBS * STRIDE).cast::<Outcome>().wrapping_add(job)
    }

    /// The start of the stack, which grows downwards.
    fn stack(&self) -> *mut u8 {
        self.start.wrapping_add(BYTES - GUARD)
    }

    /// Runs jobs. Job `n` uses memory `n`.
    ///
    /// # Safety
    /// Each address must be that of a function in this process. The function must follow the C calling convention and
    /// have at most six integer parameters.
    pub unsafe fn run(&self, jobs: &[Job<'_>]) -> Vec<JobResult> {
        assert!(jobs.len() <= JOBS);
        for (number, job) in jobs.iter().enumerate() {
            assert_eq!(job.memory.len(), SIZE as usize);
            assert!(job.stack.is_none_or(|bytes| bytes + CALL_BYTES + BELOW < STACK), "the stack is too small");
            // SAFETY: the ranges are readable and writable, and no other thread or process uses them now.
            unsafe {
                self.memory(number).copy_from_nonoverlapping(job.memory.as_ptr(), SIZE as usize);
                self.outcome(number).write(Outcome { result: 0, changed_bits: 0, exceeded_stack: false, was_called: false, ended: false });
            }
        }
        let mut results = Vec::new();
        while results.len() < jobs.len() {
            // SAFETY: the caller guarantees the requirements of `process`, which are those of this function.
            let status = unsafe { self.process(jobs, results.len()) };
            while results.len() < jobs.len() {
                // SAFETY: the process was the only writer, and it has ended.
                let outcome = unsafe { self.outcome(results.len()).read() };
                if !outcome.ended && outcome.was_called {
                    results.push(Err(format!("killed by signal {}", libc::WTERMSIG(status))));
                }
                if !outcome.ended {
                    break;
                }
                results.push(self.result_of(results.len(), outcome));
            }
        }
        results
    }

    fn result_of(&self, number: usize, outcome: Outcome) -> JobResult {
        if outcome.changed_bits != 0 {
            return Err(format!("callee-saved registers changed: {:#x}", outcome.changed_bits));
        }
        if outcome.exceeded_stack {
            return Err("the function uses more stack than `Code::stack`".to_owned());
        }
        let mut after = vec![0; SIZE as usize];
        // SAFETY: the range is readable, and the process that wrote it has ended.
        unsafe { after.as_mut_ptr().copy_from_nonoverlapping(self.memory(number), after.len()) };
        Ok((outcome.result, after))
    }

    /// Runs the jobs from index `first` in a child process, until all jobs have run or one of them kills the process.
    /// Returns the wait status of the process.
    ///
    /// # Safety
    /// The caller must ensure the same as for [`Self::run`].
    unsafe fn process(&self, jobs: &[Job<'_>], first: usize) -> c_int {
        // SAFETY: the child calls only the code of the jobs and async-signal-safe functions.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "no process");
        if child == 0 {
            for (number, job) in jobs.iter().enumerate().skip(first) {
                // SAFETY: the caller guarantees that the code is a function with these parameters. If the code is
                // wrong, only the child process ends.
                unsafe {
                    libc::alarm(20);
                    (*self.outcome(number)).was_called = true;
                    let below = self.stack().sub(CALL_BYTES + job.stack.unwrap_or(0) + BELOW);
                    below.write_bytes(PAINT, BELOW);
                    let (result, changed_bits) = call(job.code, job.args, self.stack());
                    let exceeded_stack = job.stack.is_some() && (0..BELOW).any(|at| *below.add(at) != PAINT);
                    self.outcome(number).write(Outcome { result, changed_bits, exceeded_stack, was_called: true, ended: true });
                }
            }
            // SAFETY: the call ends the process.
            unsafe { libc::_exit(0) };
        }
        let mut status: c_int = 0;
        // SAFETY: this process created the child, and the pointer is to a local variable.
        while unsafe { libc::waitpid(child, &raw mut status, 0) } != child {}
        status
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: this object owns the mapping, and no reference into it exists.
        unsafe { libc::munmap(self.start.cast(), BYTES) };
    }
}

extern "C" fn mix(a: u64, b: u32, c: u64, d: u32, e: u64, f: u32) -> u64 {
    clobber();
    mixed(&[a, u64::from(b), c, u64::from(d), e, u64::from(f)])
}

extern "C" fn mix_narrow(a: u32, b: u64) -> u32 {
    clobber();
    mixed(&[u64::from(a), b]) as u32
}

extern "C" fn mix_none() -> u64 {
    clobber();
    mixed(&[])
}

extern "C" fn mix_nothing(_: u64) {
    clobber();
}

/// The result of every helper for these arguments.
pub fn mixed(args: &[u64]) -> u64 {
    args.iter().fold(0x9e37_79b9_7f4a_7c15, |sum, arg| (sum ^ arg).wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(17))
}

/// Host functions that random programs call.
pub fn helpers() -> [Helper; 4] {
    const MIX: [Type; 6] = [Type::I64, Type::I32, Type::I64, Type::I32, Type::I64, Type::I32];
    [
        Helper { address: (mix as *const ()).addr() as u64, params: &MIX, returns: Some(Type::I64) },
        Helper { address: (mix_narrow as *const ()).addr() as u64, params: &[Type::I32, Type::I64], returns: Some(Type::I32) },
        Helper { address: (mix_none as *const ()).addr() as u64, params: &[], returns: Some(Type::I64) },
        Helper { address: (mix_nothing as *const ()).addr() as u64, params: &[Type::I64], returns: None },
    ]
}
