//! Compares machine code with the evaluator.

use std::fmt;

use wgcl_codegen::Isa;
use wgcl_codegen::vir::{Func, Module, Op, Type, verify};

use super::code::Code;
use super::machine::{Arena, JOBS, Job, JobResult, helpers, mixed};
use crate::generate::{self, Helper, SIZE};
use crate::support::{Fault, Lane, Machine, Memory, Random};

/// Maximum number of instructions that the evaluator runs per program.
const FUEL: u32 = 2_000_000;

/// The kinds of failures.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The program is invalid, which is a defect of the generator.
    Invalid(String),
    /// The compiler rejects the program, or panics.
    NotCompiled(String),
    /// The process is killed, a callee-saved register is changed, or the function uses too much stack.
    Crash(String),
    /// The result or the memory differs from that of the evaluator.
    WrongResult(String),
}

impl Failure {
    /// Whether two failures probably have the same cause.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::NotCompiled(one), Self::NotCompiled(other)) => one.get(..24) == other.get(..24),
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(text) => write!(f, "invalid program: {text}"),
            Self::NotCompiled(text) => write!(f, "not compiled: {text}"),
            Self::Crash(text) => f.write_str(text),
            Self::WrongResult(text) => write!(f, "wrong result: {text}"),
        }
    }
}

/// The instruction sets of this processor.
pub fn isas() -> Vec<Isa> {
    let best = Isa::detect();
    Isa::ALL.into_iter().filter(|isa| best.is_some_and(|best| best.includes(*isa))).collect()
}

/// A program to compare with the evaluator.
pub struct Subject<'a> {
    /// The functions. The test calls the first one.
    pub module: &'a Module,
    pub isa: Isa,
    /// Seed for the initial memory and the arguments.
    pub seed: u64,
}

/// A compiled program with its arguments and expected results.
struct PreparedProgram {
    code: Code,
    args: [u64; 6],
    before: Vec<u8>,
    expected: Option<Lane>,
    memory: Memory,
}

/// The memory of programs, and the host functions that they can call.
pub struct Bench {
    arena: Arena,
    helpers: [Helper; 4],
}

impl Bench {
    pub fn new() -> Self {
        Self { arena: Arena::new(), helpers: helpers() }
    }

    /// The functions that programs can call.
    pub const fn helpers(&self) -> &[Helper] {
        &self.helpers
    }

    /// Compiles modules and runs their first functions. A result is false if the evaluator has no result to compare
    /// with.
    pub fn check_all(&self, subjects: &[Subject<'_>]) -> Vec<Result<bool, Failure>> {
        subjects.chunks(JOBS).flat_map(|subjects| self.check_some(subjects)).collect()
    }

    /// Compiles and runs one module.
    pub fn check(&self, module: &Module, isa: Isa, seed: u64) -> Result<bool, Failure> {
        self.check_some(&[Subject { module, isa, seed }]).pop().unwrap_or(Ok(false))
    }

    fn check_some(&self, subjects: &[Subject<'_>]) -> Vec<Result<bool, Failure>> {
        let mut jobs = Vec::new();
        let prepared: Vec<_> = subjects.iter().enumerate().map(|(number, subject)| self.prepare(subject, number)).collect();
        // Job `n` uses memory `n`. Therefore, every program needs a job. If a program cannot run, its job calls a
        // function that returns immediately.
        for (ready, subject) in prepared.iter().zip(subjects) {
            let return_immediately = Job { code: return_immediately as *const u8, args: [0; 6], stack: None, memory: &EMPTY };
            jobs.push(match ready {
                Ok(Some(ready)) => {
                    let stack = (!calls_helpers(subject.module)).then_some(ready.code.stack);
                    Job { code: ready.code.entry(), args: ready.args, stack, memory: &ready.before }
                }
                _ => return_immediately,
            });
        }
        // SAFETY: the code was compiled from functions with these parameters. The functions access only the arena.
        let results = unsafe { self.arena.run(&jobs) };
        let all = prepared.iter().zip(subjects).zip(results);
        all.map(|((ready, subject), left)| match ready {
            Ok(Some(ready)) => compare(ready, subject, left).map(|()| true),
            Ok(None) => Ok(false),
            Err(failure) => Err(failure.clone()),
        })
        .collect()
    }

    /// Compiles a program and computes the expected results. Returns `None` if the evaluator has no result.
    fn prepare(&self, subject: &Subject<'_>, number: usize) -> Result<Option<PreparedProgram>, Failure> {
        verify(subject.module).map_err(|error| Failure::Invalid(error.to_string()))?;
        let code = Code::new(subject.module, subject.isa).map_err(Failure::NotCompiled)?;
        let mut random = Random::new(subject.seed);
        let before = generate::memory(random.next());
        let base = self.arena.base(number);
        // The upper half of an `i32` argument's register is unspecified, so the test sets it to random bits.
        let args = [base, random.next(), random.next(), random.next(), random.next(), random.next()];
        let mut memory = Memory::new(base, &before);
        let helpers = |address: u64, args: &[u64]| {
            let helper = self.helpers.iter().find(|helper| helper.address == address)?;
            Some(if helper.returns == Some(Type::I32) { mixed(args) & 0xffff_ffff } else { mixed(args) })
        };
        match Machine::new(subject.module, &mut memory, &helpers, FUEL).call(Func(0), &args) {
            Ok(expected) => Ok(Some(PreparedProgram { code, args, before, expected, memory })),
            Err(Fault::Wrong(error)) => Err(Failure::Invalid(error.to_owned())),
            Err(_) => Ok(None),
        }
    }
}

fn calls_helpers(module: &Module) -> bool {
    let mut insts = module.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.insts);
    insts.any(|inst| matches!(inst.op, Op::CallHelper(..)))
}

/// The memory of jobs that do not run.
static EMPTY: [u8; SIZE as usize] = [0; SIZE as usize];

extern "C" fn return_immediately() {}

fn compare(ready: &PreparedProgram, subject: &Subject<'_>, left: JobResult) -> Result<(), Failure> {
    let (result, after) = left.map_err(Failure::Crash)?;
    if let Some((at, what)) = ready.memory.difference(&after) {
        return Err(Failure::WrongResult(format!("memory at offset {at:#x}: expected {what}")));
    }
    if let (Some(expected), Some(ty)) = (ready.expected.and_then(Lane::exact), subject.module.functions[0].returns) {
        let result = if ty == Type::I32 { result & 0xffff_ffff } else { result };
        if result != expected {
            return Err(Failure::WrongResult(format!("returns {result:#x}, expected {expected:#x}")));
        }
    }
    Ok(())
}
