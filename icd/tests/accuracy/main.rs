//! Measures the accuracy of the mathematical functions (OpenCL C 6.15.2, with the operators and the common functions)
//! on the device, relative to MPFR.
//!
//! Every function runs through the compiler and the ICD loader. The arguments are edges, numbers of all exponents, and
//! dense ranges in which the function is difficult. Errors must be within the tables of section 7.4, and special values
//! must be those of 7.5.1 and of C. The tests repeat this with the options that relax floating-point arithmetic.
//! `docs/accuracy.md` lists the largest errors. MPFR is not available for Windows.

#![cfg(not(windows))]
#![allow(clippy::panic, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod conversions;
mod device;
mod format;
mod functions;
mod geometric;
mod inputs;
mod judge;
mod reference;
mod report;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::ffi::{CL_DEVICE_NAME, CL_DRIVER_VERSION};
use common::objects::{Context, Program};
use common::{info_string, target};
use device::Arguments;
use format::{DOUBLE, FLOAT, Format, HALF};
use functions::{Bound, FUNCTIONS, Function};
use judge::{Mode, judge};
use reference::reference;
use report::{Line, Worst};
use wgcl_compiler::builtins::table;

/// The results for one function of one type.
struct Outcome {
    line: Line,
    failures: String,
}

/// A format, the programs of its build variants, and the variants.
struct Plan {
    format: Format,
    programs: Vec<(Mode, Program)>,
}

fn count() -> usize {
    std::env::var("WGCL_ACCURACY_COUNT").ok().and_then(|text| text.parse().ok()).unwrap_or(6000)
}

fn measure(context: &Context, plan: &Plan, index: usize, function: &'static Function) -> Outcome {
    let format = &plan.format;
    let queue = context.queue(0);
    let cases = inputs::cases(function, format, count());
    let arguments = Arguments::new(context, &queue, format, &cases);
    let results: Vec<_> = plan
        .programs
        .iter()
        // The variant with correctly rounded division and square root only affects these functions.
        .filter(|(mode, _)| !mode.rounded || matches!(function.name, "x / y" | "1.0 / x" | "sqrt"))
        .map(|(mode, program)| (*mode, arguments.run(&queue, program, index)))
        .collect();
    let mut worst = vec![Worst::default(); results.len()];
    let mut failed = vec![0; results.len()];
    let mut failures = String::new();
    for (at, case) in cases.iter().enumerate() {
        let Some(answer) = reference(function.base(), case, format) else { continue };
        for (way, (mode, results)) in results.iter().enumerate() {
            let Some(&got) = results.get(at) else { continue };
            let Some(verdict) = judge(function, format, *mode, case, &answer, got) else { continue };
            worst[way].seen += 1;
            let error = match verdict {
                Ok(error) => error,
                Err(error) => {
                    failed[way] += 1;
                    if failed[way] <= 3 {
                        let _ = writeln!(
                            failures,
                            "  {}({}) is {:?} {:?} {}, not {:?} {:?}: {error:.3} ulp",
                            function.name,
                            report::arguments(function, format, case),
                            got.value,
                            got.second,
                            got.int,
                            format.round(&answer.value),
                            answer.second,
                        );
                    }
                    error
                }
            };
            if error > worst[way].error {
                worst[way] = Worst { error, case: *case, ..worst[way] };
            }
        }
    }
    for (way, (mode, _)) in results.iter().enumerate() {
        if failed[way] > 0 {
            let text = format!(
                "{} {} {}: {} of {} wrong, the largest error {:.3} ulp at {}\n",
                format.name,
                function.name,
                mode.options,
                failed[way],
                worst[way].seen,
                worst[way].error,
                report::arguments(function, format, &worst[way].case)
            );
            failures.insert_str(0, &text);
        }
    }
    let relaxed = worst.get(1).copied().unwrap_or_default();
    Outcome { line: Line { function, format: *format, plain: worst.first().copied().unwrap_or_default(), relaxed }, failures }
}

#[test]
fn functions_are_within_their_bounds() {
    let only: Option<Vec<String>> = std::env::var("WGCL_ACCURACY").ok().map(|list| list.split(',').map(str::to_owned).collect());
    let chosen = |function: &Function, format: &Format| {
        only.as_ref().is_none_or(|only| only.iter().any(|name| name == function.name || *name == format.name))
    };
    let context = Context::new();
    let mut formats: Vec<Format> = [FLOAT, DOUBLE, HALF].into_iter().filter(device::supports).collect();
    formats.retain(|format| FUNCTIONS.iter().any(|function| chosen(function, format)));
    let plans: Vec<Plan> = formats
        .iter()
        .map(|format| {
            let programs = device::modes(format).into_iter().map(|mode| (mode, device::build(&context, format, mode))).collect();
            Plan { format: *format, programs }
        })
        .collect();
    let work: Vec<(&Plan, usize, &'static Function)> = plans
        .iter()
        .flat_map(|plan| FUNCTIONS.iter().enumerate().map(move |(index, function)| (plan, index, function)))
        .filter(|(plan, _, function)| function.bound(&plan.format) != Bound::Absent)
        .filter(|(plan, _, function)| chosen(function, &plan.format))
        .collect();
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Vec<(usize, Outcome)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&(plan, index, function)) = work.get(at) else { return };
                    let start = std::time::Instant::now();
                    let outcome = measure(&context, plan, index, function);
                    if std::env::var_os("WGCL_ACCURACY_TIMES").is_some() {
                        eprintln!("{:8.3} s {} {}", start.elapsed().as_secs_f64(), plan.format.name, function.name);
                    }
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push((at, outcome));
                    }
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.sort_by_key(|(at, _)| *at);
    assert_eq!(outcomes.len(), work.len());
    let failures: String = outcomes.iter().map(|(_, outcome)| outcome.failures.as_str()).collect();
    let lines: Vec<Line> = outcomes.into_iter().map(|(_, outcome)| outcome.line).collect();
    assert!(lines.iter().all(|line| line.plain.seen > 100), "a function was judged for at most 100 arguments");
    if only.is_none() {
        if std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1") {
            let info = |param| {
                info_string(|size, value, ret| target().cl.clGetDeviceInfo(target().device, param, size, value, ret)).unwrap_or_default()
            };
            let (name, driver) = (info(CL_DEVICE_NAME), info(CL_DRIVER_VERSION));
            report::write(&lines, &format!("{name}, driver version `{driver}`"), driver.contains("(CPU:"), &formats)
                .expect("docs/accuracy.md");
        }
        assert_eq!(report::missing(&lines), Vec::<String>::new(), "docs/accuracy.md lacks lines: run with UPDATE_EXPECT=1");
    } else {
        for line in &lines {
            let at = report::arguments(line.function, &line.format, &line.plain.case);
            eprintln!("{} {}: {:.3} at {at}; relaxed {:.3}", line.format.name, line.function.name, line.plain.error, line.relaxed.error);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Built-in floating-point functions that are not in `FUNCTIONS`, because they are not mathematical functions. These
/// are relations and selection (6.15.6), and geometric functions (6.15.5), which have a separate test.
const OTHERS: &str = "isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isordered isunordered isfinite isinf isnan isnormal \
                      signbit bitselect select dot cross length distance normalize fast_length fast_distance fast_normalize";

#[test]
fn no_function_is_missing() {
    let listed: BTreeSet<&str> = FUNCTIONS.iter().map(|function| function.name).chain(OTHERS.split_whitespace()).collect();
    assert_eq!(listed.len(), FUNCTIONS.len() + OTHERS.split_whitespace().count(), "a function is listed twice");
    let missing: Vec<&str> = table::functions_of_floats().filter(|name| !listed.contains(name)).collect();
    assert!(missing.is_empty(), "not measured: {missing:?}");
}
