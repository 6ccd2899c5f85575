//! The compiler's work grows linearly with its source.
//!
//! The test counts allocations and their bytes, which are the same on every machine and under any load. If a pass
//! copies all instructions for each line, the counts grow faster than linearly.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::alloc::System;
use std::fmt::Write;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use wgcl_compiler::build::build;
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::program::{BuildOptions, Source};
use wgcl_compiler::specialise::specialise;
use wgcl_compiler::target::Target;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The number of times that a source is doubled.
const DOUBLINGS: usize = 3;
/// The permitted growth for one doubling: twice the work, and some more for tables whose capacity doubles.
const MAX_GROWTH: f64 = 2.2;

/// A line of a kernel, by its index.
type Line = fn(usize) -> String;

const LINES: [(&str, Line); 7] = [
    ("sums", |i| format!("x = x * 3u + y + {i}u; y ^= x >> {};", i % 31 + 1)),
    ("loads and stores", |i| format!("out[8 * me + {}] = in[8 * me + {}] + x; x += in[{i} * me];", i % 8, (i + 3) % 8)),
    ("conditions", |i| format!("if (x > {i}u) {{ y += in[me + {i}]; }} else {{ x ^= y; }}")),
    ("loops", |i| format!("for (uint k = 0; k < y; k += {}u) x += in[k + {i}];", i % 3 + 1)),
    ("vectors", |i| format!("v += vload4(me + {i}, in); v.x ^= v.w + {i}u; vstore4(v, me + {i}, out);")),
    ("separate variables", |i| format!("uint a{i} = x + {i}u; x += a{i} * y;")),
    ("functions", |i| format!("x = mix_{}(x, y) + {i}u;", i % 4)),
];

fn source(line: Line, lines: usize) -> String {
    let mut text = String::new();
    for helper in 0..4 {
        writeln!(text, "uint mix_{helper}(uint a, uint b) {{ return (a ^ b >> {}) * {}u; }}", helper + 1, 2 * helper + 3).unwrap();
    }
    text.push_str(
        "kernel void k(global const uint *in, global uint *out) { uint me = get_global_id(0), x = me, y = in[me]; uint4 v = x;\n",
    );
    for i in 0..lines {
        text.push_str(&line(i));
        text.push('\n');
    }
    text.push_str("out[me] = x + y + v.x + v.w; }\n");
    text
}

/// Returns the allocations and bytes of a build and of a launch, for a device.
fn work(text: String, target: &Target) -> [(&'static str, usize); 4] {
    let region = Region::new(ALLOCATOR);
    let built = build(&Source { text, ..Source::default() }, &BuildOptions::default(), target);
    let build = region.change();
    let program = built.program.ok_or(built.log).unwrap();
    let key = LaunchKey::example(&program.module.functions[0], [64, 1, 1]).changed(|key| key.binding.distinct = true);
    let region = Region::new(ALLOCATOR);
    specialise(&program.module, "k", &key, target).unwrap();
    let launch = region.change();
    [
        ("allocations of the build", build.allocations + build.reallocations),
        ("bytes of the build", build.bytes_allocated),
        ("allocations of the launch", launch.allocations + launch.reallocations),
        ("bytes of the launch", launch.bytes_allocated),
    ]
}

/// This file must contain only one test, because the allocations of other tests would be counted.
#[test]
fn work_grows_linearly_with_the_source() {
    // Before counting, do the work that is done once per process.
    work(source(LINES[0].1, 10), &Target::nvidia());
    let mut wrong = Vec::new();
    for (kind, line) in LINES {
        for (device, target) in [("a GPU", &Target::nvidia()), ("lavapipe", &Target::lavapipe())] {
            let counts: Vec<_> = (0..=DOUBLINGS).map(|doubling| work(source(line, 100 << doubling), target)).collect();
            for pair in counts.windows(2).skip(1) {
                for ((what, before), (_, after)) in pair[0].iter().zip(&pair[1]) {
                    let ratio = *after as f64 / *before as f64;
                    if ratio > MAX_GROWTH {
                        wrong.push(format!("{kind}, {device}: {what} {before}, then {after}: {ratio:.2} times"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
