//! Tests unrolling with a run-time trip count. The interpreter runs each kernel as built, specialised for a GPU, and
//! specialised for lavapipe. The results must be equal.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use wgcl_compiler::build;
use wgcl_compiler::interpret::{Argument, FaultKind, Memory, MemoryLocation, NdRange, ObjectId, Program, Settings, Stage};
use wgcl_compiler::ir::{Module, Op};
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::program::{BuildOptions, Source};
use wgcl_compiler::specialise::Specialised;
use wgcl_compiler::target::Target;

/// Limit for the loop iterations of a launch. With some values of `step`, the loop does not end.
const FUEL: u64 = 200_000;

/// A launch of `k(global const T *in, global uint *out, N n, N step)`.
#[derive(Clone, Copy, Debug)]
struct Launch {
    global: u32,
    local: u32,
    offset: u32,
    n: u64,
    step: u64,
    /// Size in bytes of `n` and `step`.
    width: usize,
    /// Whether the arguments `in` and `out` are the same buffer.
    same: bool,
}

impl Launch {
    const fn new(global: u32, local: u32, n: u64, step: u64) -> Self {
        Self { global, local, offset: 0, n, step, width: 4, same: false }
    }

    /// Returns the contents of the buffers after the launch. Returns `None` if the loop does not end, or accesses
    /// memory outside of the buffers.
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
            memory.insert(object, (0..16384_u32).map(|i| (i.wrapping_mul(0x9e37_79b1).wrapping_add(number) >> 13) as u8).collect(), false);
        }
        let instance = program.instantiate(&mut memory, &mut name).unwrap();
        let buffer = |index: usize| Argument::Buffer(Some(MemoryLocation { object: objects[index], offset: 0 }));
        let number = |value: u64| Argument::Value(value.to_le_bytes()[..self.width].to_vec());
        let arguments = [buffer(0), buffer(usize::from(!self.same)), number(self.n), number(self.step)];
        let range = NdRange { global_offset: [self.offset, 0, 0], ..NdRange::linear(self.global, self.local) };
        match program.launch(&instance, "k", &arguments, &range, &mut memory, &mut Vec::new()) {
            Ok(()) => Some(objects.into_iter().filter_map(|object| memory.remove(object)).collect()),
            Err(fault) if matches!(fault.kind, FaultKind::OutOfFuel | FaultKind::OutOfBounds { .. } | FaultKind::WildPointer) => None,
            Err(fault) => panic!("{fault} in {self:?} of\n{module}"),
        }
    }
}

fn build(source: &str) -> Module {
    let source = Source { text: source.to_owned(), ..Source::default() };
    let built = build::build(&source, &BuildOptions::default(), &Target::full());
    (*built.program.ok_or(built.log).unwrap().module).clone()
}

/// Specialises the kernel `k` for a launch, without the passes for legalisation.
fn specialised(module: &Module, key: &LaunchKey, target: &Target) -> Module {
    let mut made = Specialised::new(module, "k", key, target, None).unwrap();
    made.prepare_shader().unwrap();
    made.module
}

/// Returns the launch key of a launch.
fn key(module: &Module, launch: &Launch) -> LaunchKey {
    LaunchKey::example(&module.functions[0], [launch.local, 1, 1]).changed(|key| {
        key.binding.distinct = !launch.same;
        key.kernel.zero_offset = launch.offset == 0;
    })
}

/// Specialises the kernel for a launch on a GPU.
fn specialised_for_gpu(module: &Module, launch: &Launch) -> Module {
    specialised(module, &key(module, launch), &Target::full())
}

fn count(module: &Module, wanted: fn(&Op) -> bool) -> usize {
    let mut count = 0;
    module.functions[0].body.walk(&mut |inst| count += usize::from(wanted(&inst.op)));
    count
}

fn loops(module: &Module) -> usize {
    count(module, |op| matches!(op, Op::Loop { .. }))
}

/// Runs a kernel as built, and as specialised for each target. Returns the number of launches that ended.
fn check(source: &str, launches: &[Launch]) -> usize {
    let module = build(source);
    let mut ended = 0;
    for launch in launches {
        let Some(wanted) = launch.run(&module, Stage::Built) else { continue };
        for target in [Target::full(), Target::lavapipe()] {
            let made = specialised(&module, &key(&module, launch), &target);
            assert!(launch.run(&made, Stage::Launched).as_ref() == Some(&wanted), "other results of {launch:?} of\n{source}\n{made}");
        }
        ended += 1;
    }
    ended
}

fn launches(sizes: &[(u32, u32)], bounds: &[u64], steps: &[u64], width: usize) -> Vec<Launch> {
    let mut all = Vec::new();
    for &(global, local) in sizes {
        for &n in bounds {
            all.extend(steps.iter().map(|&step| Launch { width, ..Launch::new(global, local, n, step) }));
        }
    }
    all
}

/// Returns a kernel that computes a sum whose value depends on the order of its terms.
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
fn loops_with_run_time_steps_are_unrolled() {
    for step in ["get_global_size(0)", "get_local_size(0) * 3", "step"] {
        let source = ordered("uint").replace("+= step", &format!("+= {step}"));
        let module = build(&source);
        let launch = Launch::new(8, 4, 100, 8);
        assert_eq!(loops(&specialised_for_gpu(&module, &launch)), 2, "{source}");
        let all = launches(&[(1, 1), (8, 4), (10, 10)], &[0, 1, 2, 7, 8, 31, 32, 33, 100, 777], &[1, 3, 8, 10], 4);
        assert_eq!(check(&source, &all), all.len());
    }
}

#[test]
fn loops_with_wrapping_counters_have_equal_results() {
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
    assert!(ended > 1000, "only {ended} launches ended");
}

#[test]
fn loads_do_not_move_over_stores_that_may_alias() {
    let chain = "kernel void k(global const uchar *in, global uchar *out, uint n, uint step) {
        for (uint i = get_global_id(0); i < n; i += step) out[i + step] = in[i] + 1;
    }";
    for same in [false, true] {
        let launch = Launch { same, ..Launch::new(8, 8, 1000, 8) };
        assert_eq!(check(chain, &[launch]), 1);
        let made = specialised_for_gpu(&build(chain), &launch);
        let mut order = String::new();
        made.functions[0].body.walk(&mut |inst| match inst.op {
            Op::Load { .. } => order.push('l'),
            Op::Store { .. } => order.push('s'),
            _ => {}
        });
        assert_eq!(order, if same { "lslslslsls" } else { "llllssssls" }, "{made}");
    }
}

/// A kernel that computes a histogram per group, with `counts` in local memory.
const HISTOGRAM: &str = "kernel void k(global const uchar *in, global uint *out, uint n, uint step) {
    local uint counts[256];
    for (uint b = get_local_id(0); b < 256; b += get_local_size(0)) counts[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&counts[in[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = get_local_id(0); b < 256; b += get_local_size(0)) out[get_group_id(0) * 256 + b] += counts[b];
}";

/// The loop of [`HISTOGRAM`].
const LOOP: &str = "for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&counts[in[i]]);";

fn with(loop_text: &str) -> String {
    HISTOGRAM.replace(LOOP, loop_text)
}

/// Returns launches with groups of 4 to 64 work-items, and with `n` up to `most`. Some global sizes or offsets are not
/// multiples of 16, 4 or 2.
fn histogram_launches(most: u64) -> Vec<Launch> {
    let bounds = [0, 1, 15, 16, 17, 63, 64, 65, 255, 511, 1023, 1024, 1025, 1999, 2047, 2048, 2049, 2600, 4095, 8191];
    let bounds: Vec<u64> = bounds.into_iter().filter(|&bound| bound <= most).collect();
    let mut all = launches(&[(16, 16), (64, 16), (128, 64), (40, 8), (36, 4), (36, 12)], &bounds, &[16, 20], 4);
    for offset in [1, 2, 4, 12, 16] {
        all.extend(bounds.iter().map(|&n| Launch { offset, ..Launch::new(32, 16, n, 32) }));
    }
    all
}

#[test]
fn histograms_have_equal_results() {
    let kernels = [
        HISTOGRAM.to_owned(),
        with("for (int i = get_global_id(0); i < (int)n; i += (int)get_global_size(0)) atomic_inc(&counts[in[i]]);"),
        with("for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&counts[in[i]]);"),
        with("for (ulong i = get_global_id(0); i < n * 1UL; i += get_global_size(0)) atomic_inc(&counts[in[i]]);"),
        with("for (uint i = get_group_id(0) * get_local_size(0) + get_local_id(0); n > i; i = get_global_size(0) + i) atomic_inc(&counts[in[i]]);"),
        with("uint end = min((uint)(get_group_id(0) + 1) * 512, n); for (uint i = get_group_id(0) * 512 + get_local_id(0); i < end; i += get_local_size(0)) atomic_inc(&counts[in[i]]);"),
        with("for (uint i = get_global_id(0); i < n; i += step) { uint x = in[i] * 3; if (x & 4) atomic_add(&counts[x & 255], x); else atomic_add(&counts[i & 15], i); }"),
        with("for (uint i = get_global_id(0); i < n; i += get_global_size(0)) { atomic_xor(&counts[in[i] / 2], i); atomic_xor(&counts[in[i ^ 1] | 128], in[i]); }"),
        with("for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_max((local int *)&counts[in[i]], (int)i);"),
        with("for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&counts[in[in[i]]]);"),
        with("uint end = in[3] * 5, stride = in[4] * 32 | 16; for (uint i = get_global_id(0); i < end; i += stride) atomic_inc(&counts[in[i]]);"),
        HISTOGRAM.replace("global const uchar", "constant uchar"),
        "kernel void k(global const uchar *in, global uint *out, uint n, uint step) {
            for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&out[in[i]]);
        }"
        .to_owned(),
        "kernel void k(global const uchar *in, global uint *out, uint n, uint step) {
            local uint sums[4];
            if (get_local_id(0) < 4) sums[get_local_id(0)] = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = get_global_id(0); i < n; i += get_global_size(0)) { atomic_add(&sums[i & 3], in[i]); atomic_min(&out[7], in[i] * i); }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (get_local_id(0) < 4) atomic_min(&out[get_local_id(0)], sums[get_local_id(0)]);
        }"
        .to_owned(),
    ];
    for source in &kernels {
        let all = histogram_launches(8191);
        assert!(check(source, &all) * 2 > all.len(), "{source}");
    }
}

#[test]
fn histograms_of_short_integers_and_small_vectors_have_equal_results() {
    let reads = "for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&counts[in[i]]);";
    for (ty, read, most) in [
        ("ushort", "(in[i] & 255)", 4095),
        ("short", "(uchar)in[i]", 4095),
        ("uchar2", "rotate(in[i], (uchar2)(1, 7)).y", 4095),
        ("char", "(uchar)in[i]", 8191),
    ] {
        let source = HISTOGRAM.replace("uchar *in", &format!("{ty} *in")).replace(reads, &reads.replace("in[i]", read));
        check(&source, &histogram_launches(most));
    }
    // The loop loads elements of two sizes.
    let both =
        with("for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_add(&counts[in[i]], ((global const uint *)in)[i]);");
    check(&both, &histogram_launches(2048));
}

#[test]
fn histograms_with_wrapping_counters_have_equal_results() {
    // Addresses have 32 bits, so two-byte elements whose indices differ by 2^31 are the same element.
    let mut ended = 0;
    for counter in ["uint", "int"] {
        let loop_text =
            format!("for ({counter} i = get_global_id(0); i < ({counter})n; i += ({counter})step) atomic_inc(&counts[in[i] & 255]);");
        let module = build(&with(&loop_text).replace("uchar", "ushort"));
        for n in [0, 0x100, 0x7fff_ff00, 0x8000_0100, 0x8000_0400, 0xffff_ff00] {
            for step in [16, 0x7fff_fff0, 0x8000_0000, 0x8000_0010, 0x8000_0020, 0xffff_fff0] {
                let launch = Launch::new(64, 16, n, step);
                let guarded = key(&module, &launch).changed(|key| key.kernel.guard = [true, false, false]);
                let (unguarded, guarded) = (specialised_for_gpu(&module, &launch), specialised(&module, &guarded, &Target::full()));
                if let Some(wanted) = launch.run(&guarded, Stage::Launched) {
                    assert!(launch.run(&unguarded, Stage::Launched) == Some(wanted), "{launch:?} changed:\n{loop_text}\n{unguarded}");
                    ended += 1;
                }
            }
        }
    }
    assert!(ended > 30, "only {ended} launches ended");
}

#[test]
fn loops_with_observable_order_have_equal_results() {
    let aliased = Launch { same: true, ..Launch::new(128, 64, 2048, 64) };
    let plain = Launch { same: false, ..aliased };
    let keep = |source: &str, launch: &Launch| {
        // In kernels with `return`, not all work-items reach the barrier, so their results are undefined. Do not run
        // them.
        if !source.contains("return") {
            check(source, &[*launch]);
        }
    };
    let each = "for (uint i = get_global_id(0); i < n; i += get_global_size(0))";
    for loop_text in [
        // The kernel uses the result of the atomic operation.
        format!("uint last = 0; {each} last += atomic_inc(&counts[in[i]]); out[get_global_id(0)] = last != 12345678;"),
        format!("{each} if (atomic_inc(&counts[in[i]]) > 1000000) out[0] = 1;"),
        // A value is carried between iterations.
        format!("uint sum = 0; {each} {{ sum += in[i]; atomic_add(&counts[in[i]], sum); }}"),
        // A value depends on the work-item.
        format!("{each} atomic_add(&counts[in[i]], get_local_id(0) + 1);"),
        format!("{each} atomic_inc(&counts[(in[i] + get_global_id(0)) & 255]);"),
        format!("uint own = in[get_global_id(0)]; {each} atomic_add(&counts[in[i]], own);"),
        format!(
            "uint own[8]; for (uint j = 0; j < 8; j++) own[j] = in[j] + get_local_id(0); {each} atomic_add(&counts[in[i]], own[in[i] & 7]);"
        ),
        // The bound, the step, or the start depends on the work-item.
        "for (uint i = get_global_id(0); i < n - get_local_id(0); i += get_global_size(0)) atomic_inc(&counts[in[i]]);".to_owned(),
        "for (uint i = get_global_id(0); i < n; i += get_global_size(0) + get_local_id(0) % 2) atomic_inc(&counts[in[i]]);".to_owned(),
        "for (uint i = get_global_id(0) * 2; i < n; i += get_global_size(0)) atomic_inc(&counts[in[i]]);".to_owned(),
        "for (uint i = in[get_local_id(0)]; i < n; i += get_global_size(0)) atomic_inc(&counts[in[i]]);".to_owned(),
        // The counter is used after the loop.
        "uint i = get_global_id(0); for (; i < n; i += get_global_size(0)) atomic_inc(&counts[in[i]]); out[4095 - get_global_id(0)] = i;"
            .to_owned(),
        // Some work-items skip the loop, or leave it early.
        format!("if (in[get_local_id(0)] == 77) return; {each} atomic_inc(&counts[in[i]]);"),
        format!("if (get_local_id(0) < 32) {each} atomic_inc(&counts[in[i]]);"),
        format!("{each} {{ if (in[i] == 200) break; atomic_inc(&counts[in[i]]); }}"),
        format!("{each} {{ if (in[i] == 200) return; atomic_inc(&counts[in[i]]); }}"),
        // There are two kinds of operations, or operations that do not commute.
        format!("{each} {{ atomic_inc(&counts[in[i]]); atomic_max(&counts[in[i] / 2], i); }}"),
        format!("{each} atomic_xchg(&counts[in[i]], i);"),
        format!("{each} atomic_cmpxchg(&counts[in[i]], i, i + 1);"),
        format!("{each} counts[in[i]] = 7;"),
        format!("{each} atomic_add(&counts[in[i]], counts[0] > 1000000);"),
        // The counts are read before all work-items are done, or initialised while some work-items already count.
        format!("{each} atomic_inc(&counts[in[i]]); out[get_global_id(0)] = counts[in[get_global_id(0)]] > 1000000;"),
        format!("counts[get_local_id(0)] = 0; {each} atomic_inc(&counts[in[i]]);"),
        format!("if (n > 3) counts[get_local_id(0)] = 0; {each} atomic_inc(&counts[in[i]]);"),
        format!("{each} atomic_inc(&counts[in[i]]); {each} atomic_inc(&counts[in[i]]);"),
        // The loop counts in global memory that the kernel also reads.
        format!("{each} atomic_inc(&out[in[i]]);"),
        // The loaded memory may change during the loop.
        format!("{each} atomic_inc(&counts[((global uchar *)out)[i]]);"),
        format!("{each} atomic_inc(&counts[*(volatile global const uchar *)&in[i]]);"),
        // The loads are not contiguous, not aligned, or conditional.
        format!("{each} atomic_inc(&counts[in[i + 1]]);"),
        format!("{each} atomic_inc(&counts[in[i * 2]]);"),
        format!("{each} if (i % 3 == 0) atomic_inc(&counts[in[i]]);"),
        // The loop loads words, which are not narrow.
        format!("{each} atomic_inc(&counts[((global const uint *)in)[i] & 255]);"),
        // The source forbids unrolling.
        format!("__attribute__((opencl_unroll_hint(1))) {each} atomic_inc(&counts[in[i]]);"),
        // There is a barrier in the loop.
        format!("{each} {{ atomic_inc(&counts[in[i]]); barrier(CLK_LOCAL_MEM_FENCE); }}"),
    ] {
        let n = if loop_text.contains("i * 2") || loop_text.contains("uint *)in") { 1024 } else { 2048 };
        keep(&with(&loop_text), &Launch { n, ..plain });
    }
    // The barrier orders another address space.
    keep(&HISTOGRAM.replace("barrier(CLK_LOCAL_MEM_FENCE);\n    for (uint i", "barrier(CLK_GLOBAL_MEM_FENCE);\n    for (uint i"), &plain);
    // The loaded buffer may alias the written buffer.
    let same = "kernel void k(global const uchar *in, global uint *out, uint n, uint step) {
        for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&out[in[i] * 4 + 1024]);
    }";
    keep(same, &plain);
    keep(same, &aliased);
}
