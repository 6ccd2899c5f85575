//! Loops of which several turns are done at once: each kernel is run by the interpreter as it is built and as it is made for a launch on a GPU, and must leave
//! the same in its buffers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use wgcl_compiler::build::build_with;
use wgcl_compiler::interpret::{Argument, FaultKind, Memory, NdRange, ObjectId, Place, Program, Settings, Stage};
use wgcl_compiler::ir::{Module, Op};
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::passes;
use wgcl_compiler::program::{BuildOptions, Source};
use wgcl_compiler::target::Target;

/// Turns of loops after which a launch is given up: some steps never end.
const FUEL: u64 = 200_000;

/// A launch of `k(global const T *in, global uint *out, N n, N step)`.
#[derive(Clone, Copy, Debug)]
struct Launch {
    global: u32,
    local: u32,
    offset: u32,
    n: u64,
    step: u64,
    /// Bytes of `n` and `step`.
    width: usize,
    /// Whether both buffers are one.
    same: bool,
}

impl Launch {
    const fn new(global: u32, local: u32, n: u64, step: u64) -> Self {
        Self { global, local, offset: 0, n, step, width: 4, same: false }
    }

    fn run(&self, module: &Module, stage: Stage) -> Option<Vec<Vec<u8>>> {
        let program = Program::new(module, Settings { fuel: FUEL, ..Settings::new(stage, &Target::full()) });
        let mut memory = Memory::default();
        let mut last = 0;
        let mut name = || {
            last += 1;
            ObjectId::new(last)
        };
        let objects = [name().unwrap(), name().unwrap()];
        for (number, &object) in (0_u32..).zip(&objects) {
            memory.insert(object, (0..8192_u32).map(|i| (i.wrapping_mul(0x9e37_79b1).wrapping_add(number) >> 13) as u8).collect(), false);
        }
        let instance = program.instantiate(&mut memory, &mut name).unwrap();
        let buffer = |index: usize| Argument::Buffer(Some(Place { object: objects[index], offset: 0 }));
        let number = |value: u64| Argument::Value(value.to_le_bytes()[..self.width].to_vec());
        let arguments = [buffer(0), buffer(usize::from(!self.same)), number(self.n), number(self.step)];
        let range = NdRange { global_offset: [self.offset, 0, 0], ..NdRange::linear(self.global, self.local) };
        match program.launch(&instance, "k", &arguments, &range, &mut memory, &mut Vec::new()) {
            Ok(()) => Some(objects.into_iter().filter_map(|object| memory.remove(object)).collect()),
            Err(fault) if fault.kind == FaultKind::OutOfFuel => None,
            Err(fault) => panic!("{fault} in {self:?} of\n{module}"),
        }
    }
}

fn build(source: &str) -> Module {
    let source = Source { text: source.to_owned(), ..Source::default() };
    let built = build_with(&source, &BuildOptions::default(), &Target::full(), true);
    (*built.program.ok_or(built.log).unwrap().module).clone()
}

/// The kernel as it is made for a launch.
fn launched(module: &Module, launch: &Launch) -> Module {
    let key = LaunchKey::example(&module.functions[0], [launch.local, 1, 1]);
    let key = LaunchKey { distinct: !launch.same, zero_offset: launch.offset == 0, ..key };
    passes::launch(module, "k", &key, &Target::full()).unwrap()
}

fn count(module: &Module, wanted: fn(&Op) -> bool) -> usize {
    let mut count = 0;
    module.functions[0].body.walk(&mut |inst| count += usize::from(wanted(&inst.op)));
    count
}

fn loops(module: &Module) -> usize {
    count(module, |op| matches!(op, Op::Loop { .. }))
}

/// Runs a kernel both ways. How many of the launches came to an end.
fn check(source: &str, launches: &[Launch]) -> usize {
    let module = build(source);
    let mut ended = 0;
    for launch in launches {
        let Some(wanted) = launch.run(&module, Stage::Built) else { continue };
        let made = launched(&module, launch);
        assert!(launch.run(&made, Stage::Launched) == Some(wanted), "another outcome of {launch:?} of\n{source}\n{made}");
        ended += 1;
    }
    ended
}

/// All combinations.
fn launches(sizes: &[(u32, u32)], bounds: &[u64], steps: &[u64], width: usize) -> Vec<Launch> {
    let mut all = Vec::new();
    for &(global, local) in sizes {
        for &n in bounds {
            all.extend(steps.iter().map(|&step| Launch { width, ..Launch::new(global, local, n, step) }));
        }
    }
    all
}

/// A sum that tells the order of what is added.
fn ordered(counter: &str) -> String {
    format!(
        "kernel void k(global const uchar *in, global uint *out, {counter} n, {counter} step) {{
             uint sum = 0;
             for ({counter} i = get_global_id(0); i < n; i += step) sum = sum * 31 + in[i & 1023] + 1;
             out[get_global_id(0)] = sum;
         }}"
    )
}

#[test]
fn steps_that_are_no_constants_are_batched() {
    for step in ["get_global_size(0)", "get_local_size(0) * 3", "step"] {
        let source = ordered("uint").replace("+= step", &format!("+= {step}"));
        let module = build(&source);
        let launch = Launch::new(8, 4, 100, 8);
        assert_eq!(loops(&launched(&module, &launch)), 2, "{source}");
        let all = launches(&[(1, 1), (8, 4), (10, 10)], &[0, 1, 2, 7, 8, 31, 32, 33, 100, 777], &[1, 3, 8, 10], 4);
        assert_eq!(check(&source, &all), all.len());
    }
}

#[test]
fn counters_that_wrap_go_on_as_they_would() {
    let bounds = [0, 1, 3, 0x7fff_ffff, 0x8000_0000, 0xd000_0000, 0xffff_fffd, 0xffff_ffff];
    let steps = [0, 1, 0x2aaa_aaab, 0x5555_5554, 0x5555_5555, 0x5555_5556, 0x6000_0000, 0x7fff_ffff, 0x8000_0000, 0xc000_0001, 0xffff_ffff];
    let mut ended = 0;
    for counter in ["uint", "int"] {
        ended += check(&ordered(counter), &launches(&[(4, 4)], &bounds, &steps, 4));
    }
    let wide = |values: &[u64]| values.iter().flat_map(|value| [*value, value << 32, value << 32 | 0xffff_ffff]).collect::<Vec<_>>();
    for counter in ["ulong", "long"] {
        ended += check(&ordered(counter), &launches(&[(4, 4)], &wide(&bounds), &wide(&steps), 8));
    }
    assert!(ended > 1000, "{ended} launches ended");
}

#[test]
fn loads_stay_behind_stores_to_what_may_be_the_same() {
    let chain = "kernel void k(global const uchar *in, global uchar *out, uint n, uint step) {
        for (uint i = get_global_id(0); i < n; i += step) out[i + step] = in[i] + 1;
    }";
    for same in [false, true] {
        let launch = Launch { same, ..Launch::new(8, 8, 1000, 8) };
        assert_eq!(check(chain, &[launch]), 1);
        let made = launched(&build(chain), &launch);
        let mut order = String::new();
        made.functions[0].body.walk(&mut |inst| match inst.op {
            Op::Load { .. } => order.push('l'),
            Op::Store { .. } => order.push('s'),
            _ => {}
        });
        assert_eq!(order, if same { "lslslslsls" } else { "llllssssls" }, "{made}");
    }
}
