//! Runs machine code where it can do no harm: in a process of its own, on memory with nothing around it.

use std::arch::asm;
use std::ffi::c_int;
use std::ptr::null_mut;

use wgcl_codegen::vir::Type;

use crate::generate::{Helper, SIZE};

/// Bytes before and behind each memory that may not be touched: more than any vector has.
const GUARD: usize = 1 << 16;
/// How many programs may run one after the other in one process.
pub const JOBS: usize = 32;
/// Bytes from one memory to the next.
const STRIDE: usize = SIZE as usize + GUARD;
/// Bytes of the stack on which code runs.
const STACK: usize = 4 << 20;
/// Bytes below what code may take of the stack that are looked at afterwards.
const BELOW: usize = 4096;
/// What is written there.
const PAINT: u8 = 0xa5;
/// Bytes of all: memories, outcomes, the stack, each with a guard behind it.
const BYTES: usize = GUARD + JOBS * STRIDE + 2 * GUARD + STACK + GUARD;

/// What code leaves behind.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Outcome {
    result: u64,
    /// Which bits differ in registers that it must keep.
    broken: u64,
    /// Whether it took more of the stack than it said.
    deep: bool,
    /// Whether it has begun, and whether it has ended.
    begun: bool,
    ended: bool,
}

/// A call of a function.
pub struct Job<'a> {
    /// The function.
    pub code: *const u8,
    /// What it is called with; the address of the memory comes first.
    pub args: [u64; 6],
    /// How many bytes of the stack it may take; `None` if that is not known.
    pub stack: Option<usize>,
    /// What it finds in memory.
    pub memory: &'a [u8],
}

/// The result of a function and the memory then, or how it failed.
pub type Left = Result<(u64, Vec<u8>), String>;

/// Memories that are shared with the processes in which code runs.
pub struct Arena {
    start: *mut u8,
}

impl Arena {
    /// One with the memories that programs want.
    pub fn new() -> Self {
        // SAFETY: a new mapping of memory that nothing else knows of.
        let start = unsafe { libc::mmap(null_mut(), BYTES, libc::PROT_NONE, libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED, "no memory");
        let arena = Self { start: start.cast() };
        let memories = (0..JOBS).map(|job| (arena.memory(job), SIZE as usize));
        let rest = [(arena.outcome(0).cast(), GUARD), (arena.stack().wrapping_sub(STACK), STACK)];
        for (place, size) in memories.chain(rest) {
            // SAFETY: the range is inside the mapping above.
            let changed = unsafe { libc::mprotect(place.cast(), size, libc::PROT_READ | libc::PROT_WRITE) };
            assert_eq!(changed, 0, "the memory cannot be used");
        }
        arena
    }

    /// Where the memory of a job is.
    pub fn base(&self, job: usize) -> u64 {
        self.memory(job).addr() as u64
    }

    fn memory(&self, job: usize) -> *mut u8 {
        self.start.wrapping_add(GUARD + job * STRIDE)
    }

    fn outcome(&self, job: usize) -> *mut Outcome {
        self.start.wrapping_add(GUARD + JOBS * STRIDE).cast::<Outcome>().wrapping_add(job)
    }

    /// Where the stack begins, which grows downwards.
    fn stack(&self) -> *mut u8 {
        self.start.wrapping_add(BYTES - GUARD)
    }

    /// Runs jobs, each on the memory of its number.
    ///
    /// # Safety
    /// The addresses are those of functions of the C calling convention that take as many arguments as they like of
    /// those, and live in this process.
    pub unsafe fn run(&self, jobs: &[Job<'_>]) -> Vec<Left> {
        assert!(jobs.len() <= JOBS);
        for (number, job) in jobs.iter().enumerate() {
            assert_eq!(job.memory.len(), SIZE as usize);
            assert!(job.stack.is_none_or(|bytes| bytes + BELOW < STACK), "the stack is too small");
            // SAFETY: the ranges are readable and writable, and no other thread or process uses them now.
            unsafe {
                self.memory(number).copy_from_nonoverlapping(job.memory.as_ptr(), SIZE as usize);
                self.outcome(number).write(Outcome { result: 0, broken: 0, deep: false, begun: false, ended: false });
            }
        }
        let mut left = Vec::new();
        while left.len() < jobs.len() {
            // SAFETY: what the caller promises.
            let status = unsafe { self.process(jobs, left.len()) };
            while left.len() < jobs.len() {
                // SAFETY: the process has ended, which alone has written here.
                let outcome = unsafe { self.outcome(left.len()).read() };
                if !outcome.ended && outcome.begun {
                    left.push(Err(format!("it dies of signal {}", libc::WTERMSIG(status))));
                }
                if !outcome.ended {
                    break;
                }
                left.push(self.left(left.len(), outcome));
            }
        }
        left
    }

    fn left(&self, number: usize, outcome: Outcome) -> Left {
        if outcome.broken != 0 {
            return Err(format!("it does not keep registers: {:#x}", outcome.broken));
        }
        if outcome.deep {
            return Err("it takes more of the stack than it says".to_owned());
        }
        let mut after = vec![0; SIZE as usize];
        // SAFETY: the range is readable, and the process that wrote there has ended.
        unsafe { after.as_mut_ptr().copy_from_nonoverlapping(self.memory(number), after.len()) };
        Ok((outcome.result, after))
    }

    /// Runs jobs from one on in a process of their own, as far as it comes; how it ended.
    ///
    /// # Safety
    /// As for [`Self::run`].
    unsafe fn process(&self, jobs: &[Job<'_>], first: usize) -> c_int {
        // SAFETY: the child calls nothing but the code and functions that may be called from handlers of signals.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "no process");
        if child == 0 {
            for (number, job) in jobs.iter().enumerate().skip(first) {
                // SAFETY: what the caller promises; if the code is wrong, only this process ends.
                unsafe {
                    libc::alarm(20);
                    (*self.outcome(number)).begun = true;
                    let below = self.stack().sub(job.stack.unwrap_or(0) + BELOW);
                    below.write_bytes(PAINT, BELOW);
                    let (result, broken) = call(job.code, job.args, self.stack());
                    let deep = job.stack.is_some() && (0..BELOW).any(|at| *below.add(at) != PAINT);
                    self.outcome(number).write(Outcome { result, broken, deep, begun: true, ended: true });
                }
            }
            // SAFETY: it ends the process.
            unsafe { libc::_exit(0) };
        }
        let mut status: c_int = 0;
        // SAFETY: the child is ours, and the pointer is that of a local variable.
        while unsafe { libc::waitpid(child, &raw mut status, 0) } != child {}
        status
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing of it is borrowed.
        unsafe { libc::munmap(self.start.cast(), BYTES) };
    }
}

/// Calls a function with known numbers in the registers that it must keep; its result, and which bits of these
/// registers differ afterwards.
///
/// # Safety
/// As for [`Arena::run`].
unsafe fn call(code: *const u8, args: [u64; 6], stack: *mut u8) -> (u64, u64) {
    let (result, broken): (u64, u64);
    // SAFETY: all registers that the function may change are named, the others are put back from the stack. It runs on
    // a stack of its own.
    unsafe {
        asm!(
            "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
            "mov rbp, rsp",
            "mov rsp, r11",
            "mov rbx, 0x1badb002", "mov r12, 0x12121212", "mov r13, 0x13131313", "mov r14, 0x14141414", "mov r15, rbp",
            "call rax",
            "xor rbx, 0x1badb002", "xor r12, 0x12121212", "xor r13, 0x13131313", "xor r14, 0x14141414", "xor r15, rbp",
            "mov r10, rbx", "or r10, r12", "or r10, r13", "or r10, r14", "or r10, r15",
            "mov rsp, rbp",
            "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx",
            inout("rax") code => result,
            inout("rdi") args[0] => _,
            inout("rsi") args[1] => _,
            inout("rdx") args[2] => _,
            inout("rcx") args[3] => _,
            inout("r8") args[4] => _,
            inout("r9") args[5] => _,
            out("r10") broken,
            inout("r11") stack => _,
            clobber_abi("sysv64"),
        );
    }
    (result, broken)
}

/// Writes ones into all registers that a function may change.
fn clobber() {
    // SAFETY: all that is changed is named.
    unsafe {
        asm!(
            "mov rcx, -1",
            "mov rdx, rcx",
            "mov rsi, rcx",
            "mov rdi, rcx",
            "mov r8, rcx",
            "mov r9, rcx",
            "mov r10, rcx",
            "mov r11, rcx",
            "pcmpeqd xmm0, xmm0",
            "pcmpeqd xmm1, xmm1",
            "pcmpeqd xmm2, xmm2",
            "pcmpeqd xmm3, xmm3",
            "pcmpeqd xmm4, xmm4",
            "pcmpeqd xmm5, xmm5",
            "pcmpeqd xmm6, xmm6",
            "pcmpeqd xmm7, xmm7",
            "pcmpeqd xmm8, xmm8",
            "pcmpeqd xmm9, xmm9",
            "pcmpeqd xmm10, xmm10",
            "pcmpeqd xmm11, xmm11",
            "pcmpeqd xmm12, xmm12",
            "pcmpeqd xmm13, xmm13",
            "pcmpeqd xmm14, xmm14",
            "pcmpeqd xmm15, xmm15",
            clobber_abi("sysv64"),
        );
    }
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the instruction is there, and all that is changed is named.
        unsafe { asm!("vzeroall", clobber_abi("sysv64")) };
    }
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: as above.
        unsafe {
            asm!(
                "kxnorw k0, k0, k0",
                "kxnorw k1, k1, k1",
                "kxnorw k2, k2, k2",
                "kxnorw k3, k3, k3",
                "kxnorw k4, k4, k4",
                "kxnorw k5, k5, k5",
                "kxnorw k6, k6, k6",
                "kxnorw k7, k7, k7",
                "vpternlogd zmm16, zmm16, zmm16, 255",
                "vpternlogd zmm17, zmm17, zmm17, 255",
                "vpternlogd zmm18, zmm18, zmm18, 255",
                "vpternlogd zmm19, zmm19, zmm19, 255",
                "vpternlogd zmm20, zmm20, zmm20, 255",
                "vpternlogd zmm21, zmm21, zmm21, 255",
                "vpternlogd zmm22, zmm22, zmm22, 255",
                "vpternlogd zmm23, zmm23, zmm23, 255",
                "vpternlogd zmm24, zmm24, zmm24, 255",
                "vpternlogd zmm25, zmm25, zmm25, 255",
                "vpternlogd zmm26, zmm26, zmm26, 255",
                "vpternlogd zmm27, zmm27, zmm27, 255",
                "vpternlogd zmm28, zmm28, zmm28, 255",
                "vpternlogd zmm29, zmm29, zmm29, 255",
                "vpternlogd zmm30, zmm30, zmm30, 255",
                "vpternlogd zmm31, zmm31, zmm31, 255",
                clobber_abi("sysv64"),
            );
        }
    }
}

extern "sysv64" fn mix(a: u64, b: u32, c: u64, d: u32, e: u64, f: u32) -> u64 {
    clobber();
    mixed(&[a, u64::from(b), c, u64::from(d), e, u64::from(f)])
}

extern "sysv64" fn mix_narrow(a: u32, b: u64) -> u32 {
    clobber();
    mixed(&[u64::from(a), b]) as u32
}

extern "sysv64" fn mix_none() -> u64 {
    clobber();
    mixed(&[])
}

extern "sysv64" fn mix_nothing(_: u64) {
    clobber();
}

/// What helpers give for their arguments.
pub fn mixed(args: &[u64]) -> u64 {
    args.iter().fold(0x9e37_79b9_7f4a_7c15, |sum, arg| (sum ^ arg).wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(17))
}

/// Functions for random programs to call.
pub fn helpers() -> [Helper; 4] {
    const MIX: [Type; 6] = [Type::I64, Type::I32, Type::I64, Type::I32, Type::I64, Type::I32];
    [
        Helper { address: (mix as *const ()).addr() as u64, params: &MIX, returns: Some(Type::I64) },
        Helper { address: (mix_narrow as *const ()).addr() as u64, params: &[Type::I32, Type::I64], returns: Some(Type::I32) },
        Helper { address: (mix_none as *const ()).addr() as u64, params: &[], returns: Some(Type::I64) },
        Helper { address: (mix_nothing as *const ()).addr() as u64, params: &[Type::I64], returns: None },
    ]
}
