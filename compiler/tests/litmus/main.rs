//! Litmus tests of the memory order of AArch64 code. They need no AArch64 processor, and no emulator: an emulator on
//! x86 does not reorder accesses as an AArch64 processor does.
//!
//! The programs are in `tests/litmus/programs`. Each work-group is a thread. The test compiles the program for Armv8.0
//! (exclusive accesses) and Armv8.2 (LSE). It executes the decoded instructions of each group ([`machine`]), for all
//! values that the reads of the group can return. The memory model of the architecture ([`model`]) then decides which
//! executions are possible together.
//!
//! A program starts with comments:
//! ```text
//! // buffers: x y out                       the buffers of the parameters, with zeros
//! // groups: 2                              work-groups (default: 2)
//! // group size: 1                          work-items of a group (default: 1)
//! // cell: 4                                bytes of an element of all buffers (default: 4)
//! // events: 24                             runs with more events are ignored (default: 24)
//! // case: -DORDER=memory_order_release     build options; the next lines belong to them
//! // forbidden: out[0] = 1, out[1] = 0      final values that the OpenCL memory model forbids
//! // allowed: out[0] = 0                    final values that the code must allow
//! // needs: 0 1                             groups whose barriers and ordered accesses are necessary
//! ```
//! `needs` tests the checker: without barriers and ordered accesses of one of these groups, each forbidden outcome must
//! be possible.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

mod classic;
mod event;
mod instructions;
mod machine;
mod model;
mod program;

use std::collections::BTreeSet;
use std::mem::offset_of;

use wgcl_codegen::Isa;
use wgcl_compiler::vectorize::abi::{ArgPlace, LaunchContext, NativeKernel, WorkerContext};

use event::{Trace, weakened};
use machine::{CODE, Choices, Domains, Machine, Run, SHARED, STRIDE, Value};
use model::{State, final_states};
use program::{Outcome, Program, programs};

/// The addresses of the structs that the kernel's parameters point to.
const LAUNCH: u64 = 0x2000_0000;
const ARGUMENTS: u64 = 0x2010_0000;
const WORKER: u64 = 0x2020_0000;
const ARENA: u64 = 0x2030_0000;

/// The number of runs of a work-group at which the test fails.
const RUNS: usize = 100_000;

/// Runs one work-group of a kernel.
fn run(program: &Program, kernel: &NativeKernel, group: usize, choices: &mut Choices, domains: &Domains) -> Run {
    let mut machine = Machine::new(&kernel.code, program.cell, choices, domains);
    let mut field = |offset: usize, bytes: &[u8]| machine.place(LAUNCH + offset as u64, bytes);
    let counts = |first: usize| [first as u32, 1, 1].map(u32::to_le_bytes).concat();
    field(offset_of!(LaunchContext, args), &ARGUMENTS.to_le_bytes());
    field(offset_of!(LaunchContext, group_count), &counts(program.groups));
    field(offset_of!(LaunchContext, num_groups), &counts(program.groups));
    field(offset_of!(LaunchContext, global_size), &counts(program.groups * program.group_size as usize));
    field(offset_of!(LaunchContext, work_dim), &1u32.to_le_bytes());
    machine.place(WORKER + offset_of!(WorkerContext, arena) as u64, &ARENA.to_le_bytes());
    for (place, buffer) in kernel.args.places.iter().zip(0..) {
        let ArgPlace::Address { offset } = place else { return Err("a parameter is not a buffer".into()) };
        machine.place(ARGUMENTS + u64::from(*offset), &(SHARED + buffer * STRIDE).to_le_bytes());
    }
    for (register, value) in [LAUNCH, WORKER, group as u64, group as u64 + 1].into_iter().enumerate() {
        machine.general[register] = Value::new(value.into(), 0);
    }
    machine.run(CODE + u64::from(kernel.entry), program.events)
}

/// Returns the traces of each group. Reads return the values that any group can write.
fn traces(program: &Program, kernel: &NativeKernel) -> Result<Vec<Vec<Trace>>, String> {
    let mut domains = Domains::new();
    loop {
        let mut threads = Vec::new();
        for group in 0..program.groups {
            let (mut choices, mut found) = (Choices::default(), BTreeSet::new());
            for runs in 0.. {
                assert!(runs < RUNS, "{}: too many runs; `events` limits them", program.path.display());
                found.extend(run(program, kernel, group, &mut choices, &domains)?);
                if !choices.advance() {
                    break;
                }
            }
            assert!(!found.is_empty(), "{}: no run of group {group} is short enough", program.path.display());
            threads.push(found.into_iter().collect::<Vec<Trace>>());
        }
        let mut more = domains.clone();
        for event in threads.iter().flatten().flatten().filter(|event| event.is_write()) {
            let domain = more.entry(event.cell).or_insert_with(|| BTreeSet::from([0]));
            // Limit the values of a cell, because repeated additions have no largest value.
            if domain.len() < 4 {
                domain.insert(event.value);
            }
        }
        if more == domains {
            return Ok(threads);
        }
        domains = more;
    }
}

/// Whether a state has the values of an outcome.
fn matches(program: &Program, state: &State, outcome: &Outcome) -> bool {
    outcome.iter().all(|(cell, value)| {
        let (buffer, element) = program.place(cell);
        state.get(&(SHARED + buffer as u64 * STRIDE + element * program.cell)).copied().unwrap_or(0) == *value
    })
}

/// Checks a program with the options of each case for one instruction set. Returns what is wrong.
fn check(program: &Program, isa: Isa) -> Vec<String> {
    let mut wrong = Vec::new();
    for case in &program.cases {
        let mut fail = |what: &str, outcome: &Outcome| {
            wrong.push(format!("{}, {isa:?}, `{}`: {what}: {outcome:?}", program.path.display(), case.options));
        };
        let kernel = program.compile(case, isa);
        let threads = traces(program, &kernel).unwrap_or_else(|error| panic!("{}, {isa:?}: {error}", program.path.display()));
        if std::env::var_os("LITMUS_TRACES").is_some() {
            threads.iter().enumerate().for_each(|(group, traces)| traces.iter().for_each(|trace| println!("{group}: {trace:#x?}")));
        }
        let states = final_states(&threads);
        let is_possible = |states: &BTreeSet<State>, outcome: &Outcome| states.iter().any(|state| matches(program, state, outcome));
        case.forbidden.iter().filter(|outcome| is_possible(&states, outcome)).for_each(|outcome| fail("possible", outcome));
        case.allowed.iter().filter(|outcome| !is_possible(&states, outcome)).for_each(|outcome| fail("impossible", outcome));
        for &group in &case.needs {
            let mut weaker = threads.clone();
            weaker[group] = weaker[group].iter().map(weakened).collect();
            let states = final_states(&weaker);
            let kept = case.forbidden.iter().filter(|outcome| !is_possible(&states, outcome));
            kept.for_each(|outcome| fail(&format!("impossible even without the barriers of group {group}"), outcome));
        }
    }
    wrong
}

#[test]
fn emitted_code_has_the_order_of_the_memory_model() {
    let only = std::env::var("LITMUS_PROGRAM").unwrap_or_default();
    let programs: Vec<Program> = programs().into_iter().filter(|program| program.path.to_string_lossy().contains(&only)).collect();
    let wrong: Vec<String> =
        programs.iter().flat_map(|program| [Isa::ARMV8, Isa::ARMV8_2].map(|isa| check(program, isa))).flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
