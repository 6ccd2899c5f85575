//! Transformations of the IR, one per file, and the lists that define their order.
//!
//! * [`BUILD`] runs on every function when a program is built. It converts to SSA form and inlines calls. It does not
//!   depend on a launch.
//! * [`SPECIALISE`] runs on a copy of one kernel and its callees, for one [`LaunchKey`](crate::launch::LaunchKey).
//!   Its result is the input of all code generators. It does not change how pointers are represented.
//! * [`SHADER`] converts the IR to the form that emission reads. The root of every access is explicit, and accesses
//!   have the width that is best for the device.
//! * [`LEGALIZE`] replaces operations that naga or the device lacks.
//! * [`NATIVE`] prepares the IR for the vectoriser, instead of [`SHADER`] and [`LEGALIZE`].
//!
//! At a launch, [`crate::specialise`] runs [`SPECIALISE`] and the lists of the code generator. The [`Driver`] runs a
//! list, verifies the IR after every pass if assertions are enabled, and calls an observer.
//!
//! # Benefits of the optional passes
//!
//! Each of these passes is for some devices only. The measurements are from November 2026, on an H100 with NVIDIA's
//! Vulkan driver 580.159. They compare the same program with and without the pass. docs/internals/performance-log.md
//! contains most of the measurements.
//! * `subgroup_coalesce`: copies of `float8` are 1.35 times as fast, stores of `float8` are 2 times as fast.
//! * `coarsen`: copies of bytes are 3.5 times as fast.
//! * `runtime_unroll`: the benchmark `reduction` takes 107 us instead of 211 us.
//! * `vectorize_memory`: the benchmark `md5` is 1.1 times as fast.
//! * `majority`: a chain of majorities is 1.5 times as fast, hashcat's SHA-1 1.08 times, SHA-256 1.05 times.
//! * `funnel_shifts`: hashcat's kernel for md5crypt takes 0.94 of the time.
//! * `argument_promotion`: hashcat's m22000 has 46,000 instructions instead of 302,000, and compilation takes 0.7 s
//!   instead of 5.6 s.
//! * `half_rounding`: FluidX3D with 16-bit storage runs at 1.06 times the speed of NVIDIA's OpenCL. With rounding in
//!   integer arithmetic instead of the pass, it runs at 0.79 times that speed.
//! * `atomic_loops`, `access_types`, `hoist_common`, `unify_latches`, `exit_stores`, `unsigned`, `offsets`: for CPUs
//!   only. The documentation of each pass describes its benefit.
//! * `merge_bindings`, `split_bindings`: needed by kernels that otherwise exceed the limits for bindings.
//! * `pairs`, `locks`, `fp_barriers` and `coarse_sines`: needed by devices without 64-bit integers, 64-bit atomics,
//!   exact float arithmetic, or accurate sines.
//! * `group_uniform_ids`: needed by browsers, which reject a barrier unless a group id shows that it is uniform.

mod access_types;
mod alias;
mod argument_promotion;
mod atomic_loops;
mod calls;
pub(crate) mod coarse_sines;
pub mod coarsen;
pub(crate) mod constant_arrays;
pub(crate) mod constant_loads;
pub(crate) mod dce;
mod driver;
mod exit_stores;
pub(crate) mod extra_buffers;
pub(crate) mod fp_barriers;
mod funnel_shifts;
pub(crate) mod group_uniform_ids;
pub(crate) mod groups;
pub(crate) mod half_rounding;
mod hoist_common;
pub(crate) mod infer_alignment;
pub mod inline;
mod kept_barriers;
pub mod legalize;
mod load_ahead;
pub mod locks;
mod loop_copies;
pub(crate) mod lower_memory;
mod majority;
mod masked_logic;
pub mod merge_bindings;
pub(crate) mod merge_exits;
pub mod offsets;
mod opaque_zero;
pub(crate) mod pairs;
mod pass;
pub mod renumber;
pub(crate) mod resolve_pointers;
pub(crate) mod runtime_unroll;
pub(crate) mod shared_stores;
pub(crate) mod shrink_int64;
pub(crate) mod simplify;
mod sink_common;
pub(crate) mod specialise_key;
pub mod split_bindings;
pub(crate) mod sroa;
pub mod subgroup_coalesce;
pub(crate) mod test_last;
pub(crate) mod undefined_uses;
pub(crate) mod unify_latches;
pub(crate) mod unify_returns;
pub(crate) mod unroll;
mod unroll_periodic;
pub(crate) mod unsigned;
pub(crate) mod vectorize_memory;
mod wrapped_differences;
mod zeroed;

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashSet;

use crate::analysis::calls::callees;
pub use crate::analysis::calls::reached_instructions;
pub use crate::analysis::group_independent;
use crate::internal::Defect;
use crate::ir::{self, Func};
use crate::launch::{self, LaunchError};
use crate::parallel;
use crate::printf;
use crate::target::Target;
use Step::{EachFunction, If, IfChanged, KernelOnly, Repeat, Steps};
pub(crate) use calls::{call_order, functions, subset};
use driver::take;
pub use driver::{AfterPass, Driver, Watch};
pub use pass::{Changed, Cx, Pass, PassResult, Run, Step};

/// Why a pass failed.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum PassError {
    /// Inlining made a function too large. This happens if many functions with pointer parameters call each other.
    #[error("function `{function}` has more than {limit} instructions after inlining")]
    TooLarge { function: String, limit: usize },
    /// Control flow is nested too deeply after inlining.
    #[error("control flow in function `{function}` nests deeper than {limit} levels after inlining")]
    TooDeep { function: String, limit: usize },
    /// A function calls itself.
    #[error("function `{function}` is recursive")]
    Recursive { function: String },
    /// A construct that the compiler does not support.
    #[error("function `{function}`: {what} is not supported")]
    Unsupported { function: String, what: String },
    /// The IR is invalid: a defect of the compiler.
    #[error("function `{function}`: internal compiler error in {pass}: {message}")]
    Internal {
        function: String,
        /// The pass that produced invalid IR.
        pass: &'static str,
        message: String,
    },
}

/// Runs `sroa` and `simplify`, then `constant_loads`, `sroa` and `simplify` until neither of the first two changes
/// anything, at most four times. Constants from `simplify` are the offsets of more loads from constant tables, and let
/// `sroa` promote more variables. In `s[TABLE[i]]`, the constant from the table is the offset into the variable.
pub const OPTIMISE: &[Step] = &[
    Step::Pass(&sroa::PASS),
    Step::Pass(&simplify::PASS),
    Repeat(4, &[Step::Pass(&constant_loads::PASS), Step::Pass(&sroa::PASS)], &[Step::Pass(&simplify::PASS)]),
    Step::Pass(&renumber::PASS),
];

/// Runs on each function when a program is built. The callees of the function are built first.
pub const BUILD: &[Step] = &[
    Step::Pass(&inline::PASS),
    // After inlining, so that arguments are ordinary variables, and before `lower_memory` and `sroa`, which promote the
    // shadow variables together with the variables.
    If(|target| target.value_checks.undefined, &[Step::Pass(&undefined_uses::PASS)]),
    Step::Pass(&constant_arrays::PASS),
    Step::Pass(&lower_memory::PASS),
    Step::Pass(&constant_loads::PASS),
    Steps(OPTIMISE),
];

/// Like [`BUILD`], for a function that other functions call.
pub const BUILD_CALLED: &[Step] = &[Step::Pass(&unify_returns::PASS), Steps(BUILD)];

/// Runs on a function with callees that must be inlined, because memory cannot be passed to them by value.
pub const EXPAND: &[Step] = &[Step::Pass(&inline::PASS), Steps(OPTIMISE)];

/// Runs on a library function that is compiled for one use, and on its callees.
pub const BUILD_ALONE: &[Step] =
    &[Step::Pass(&unify_returns::PASS), Step::Pass(&inline::PASS), Step::Pass(&lower_memory::PASS), Steps(OPTIMISE)];

/// Runs on a kernel and its callees at a launch. Values of the launch key become constants, collective functions are
/// expanded for shaders, and loops are unrolled.
pub const SPECIALISE: &[Step] = &[
    Step::Pass(&zeroed::PASS),
    Step::Pass(&groups::PASS),
    EachFunction(&[
        Step::Pass(&specialise_key::PASS),
        If(|target| target.shaders.defects.returns_in_loops, &[Step::Pass(&unify_returns::IN_LOOPS)]),
        Steps(OPTIMISE),
        IfChanged(&[Step::Pass(&test_last::PASS)], &[Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)]),
        // Each repetition can unroll the loops around the loops that the previous repetition unrolled. The kernels of
        // matrix products have four nested loops.
        Repeat(8, &[Step::Pass(&unroll::PASS)], OPTIMISE),
        If(
            |target| target.shaders.costs.copies_carried_values && !target.native,
            &[IfChanged(&[Step::Pass(&load_ahead::PASS)], OPTIMISE), IfChanged(&[Step::Pass(&unroll::CARRYING)], OPTIMISE)],
        ),
    ]),
];

/// Runs after [`SPECIALISE`] for shaders: assigns memory to bindings, and chooses the best form of accesses.
pub const SHADER: &[Step] = &[
    KernelOnly(&[Step::Pass(&extra_buffers::PASS), Step::Pass(&specialise_key::START), Step::Pass(&merge_bindings::PASS)]),
    Step::Pass(&resolve_pointers::PASS),
    EachFunction(&[
        Step::Pass(&constant_loads::PASS),
        Step::Pass(&simplify::PASS),
        Step::Pass(&shrink_int64::PASS),
        If(
            |target| target.shaders.uniform_barriers,
            &[IfChanged(&[Step::Pass(&group_uniform_ids::PASS)], &[Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)])],
        ),
        Steps(FEW_EXITS),
        IfChanged(&[Step::Pass(&runtime_unroll::PASS)], &[Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)]),
        Step::Pass(&infer_alignment::PASS),
        IfChanged(&[Step::Pass(&vectorize_memory::PASS)], &[Step::Pass(&dce::PASS), Step::Pass(&renumber::PASS)]),
    ]),
    IfChanged(&[Step::Pass(&coarsen::PASS)], &[KernelOnly(&[Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)])]),
    KernelOnly(&[Step::Pass(&split_bindings::PASS)]),
    If(
        |target| target.shaders.costs.subgroup_coalescing,
        &[KernelOnly(&[IfChanged(&[Step::Pass(&subgroup_coalesce::PASS)], &[Step::Pass(&renumber::PASS)])])],
    ),
];

/// Runs after [`SPECIALISE`] for machine code: narrow offsets, loops with one latch and few exits, and wide accesses.
pub const NATIVE: &[Step] = &[EachFunction(&[
    IfChanged(
        &[Step::Pass(&atomic_loops::PASS), Step::Pass(&access_types::PASS)],
        &[Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)],
    ),
    IfChanged(&[Step::Pass(&hoist_common::PASS)], &[Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)]),
    Steps(SHORT_OFFSETS),
    Step::Pass(&unsigned::PASS),
    IfChanged(&[Step::Pass(&unify_latches::PASS)], &[Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)]),
    Steps(FEW_EXITS),
    // After the exits are merged, so that fewer exits need copies of the stores.
    IfChanged(&[Step::Pass(&exit_stores::PASS)], &[Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)]),
    IfChanged(&[Step::Pass(&vectorize_memory::DEINTERLEAVED)], &[Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)]),
])];

/// Runs instead of [`NATIVE`] if accesses are instrumented. In particular, this list does not merge contiguous
/// accesses.
pub const NATIVE_INSTRUMENTED: &[Step] = &[EachFunction(&[Steps(SHORT_OFFSETS), Steps(FEW_EXITS)])];

/// Narrows integers to the width of offsets within an object.
const SHORT_OFFSETS: &[Step] =
    &[Step::Pass(&offsets::PASS), Step::Pass(&constant_loads::PASS), Step::Pass(&simplify::PASS), Step::Pass(&shrink_int64::PASS)];

/// Reduces the number of loop exits.
const FEW_EXITS: &[Step] = &[Step::Pass(&merge_exits::PASS), Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)];

/// The last list for shaders. Its result only contains operations that emission supports.
pub const LEGALIZE: &[Step] = &[
    If(
        |target| target.shaders.costs.funnel_shifts && target.shaders.int64,
        &[EachFunction(&[IfChanged(&[Step::Pass(&funnel_shifts::PASS)], &[Step::Pass(&dce::PASS), Step::Pass(&renumber::PASS)])])],
    ),
    If(
        |target| target.shaders.costs.logic_of_three,
        &[EachFunction(&[IfChanged(&[Step::Pass(&majority::PASS)], &[Step::Pass(&dce::PASS), Step::Pass(&renumber::PASS)])])],
    ),
    If(|target| target.shaders.defects.coarse_sines, &[EachFunction(&[Step::Pass(&coarse_sines::PASS)])]),
    If(|target| !target.shaders.int64_atomics, &[Step::Pass(&locks::PASS)]),
    Step::Pass(&legalize::PASS),
    If(|target| !target.shaders.int64, &[Step::Pass(&pairs::PASS)]),
    If(|target| !target.shaders.exact, &[EachFunction(&[Step::Pass(&fp_barriers::PASS)])]),
    If(|target| target.shaders.defects.half_rounding, &[EachFunction(&[Step::Pass(&half_rounding::PASS)])]),
    If(|target| target.shaders.defects.max_loop_iterations.is_some(), &[EachFunction(&[Step::Pass(&unroll::LAST)])]),
    If(|target| target.shaders.defects.masked_logic, &[EachFunction(&[Step::Pass(&masked_logic::PASS)])]),
    If(|target| target.shaders.defects.wrapped_differences, &[EachFunction(&[Step::Pass(&wrapped_differences::PASS)])]),
    If(|target| target.shaders.defects.shared_stores, &[EachFunction(&[Step::Pass(&shared_stores::PASS)])]),
    If(|target| target.shaders.defects.removed_barriers, &[EachFunction(&[Step::Pass(&kept_barriers::PASS)])]),
];

/// All lists by name, for tests and tools.
pub const LISTS: &[(&str, &[Step])] = &[
    ("optimise", OPTIMISE),
    ("build", BUILD),
    ("build_called", BUILD_CALLED),
    ("expand", EXPAND),
    ("build_alone", BUILD_ALONE),
    ("specialise", SPECIALISE),
    ("shader", SHADER),
    ("native", NATIVE),
    ("native_instrumented", NATIVE_INSTRUMENTED),
    ("legalize_all", LEGALIZE),
];

/// Returns the pass with this name, or `None` if no list contains it.
pub fn find(name: &str) -> Option<&'static Pass> {
    fn search(steps: &'static [Step], name: &str) -> Option<&'static Pass> {
        steps.iter().find_map(|step| match *step {
            Step::Pass(pass) => (pass.name == name).then_some(pass),
            Steps(steps) | If(_, steps) | KernelOnly(steps) | EachFunction(steps) => search(steps, name),
            IfChanged(first, then) | Repeat(_, first, then) => search(first, name).or_else(|| search(then, name)),
        })
    }
    LISTS.iter().find_map(|(_, steps)| search(steps, name))
}

/// Returns the names of all passes of the lists. A name occurs once for each use of the pass.
pub fn names() -> Vec<&'static str> {
    fn collect(steps: &'static [Step], names: &mut Vec<&'static str>) {
        for step in steps {
            match *step {
                Step::Pass(pass) => names.push(pass.name),
                Steps(steps) | If(_, steps) | KernelOnly(steps) | EachFunction(steps) => collect(steps, names),
                IfChanged(first, then) | Repeat(_, first, then) => {
                    collect(first, names);
                    collect(then, names);
                }
            }
        }
    }
    let mut names = Vec::new();
    LISTS.iter().for_each(|(_, steps)| collect(steps, &mut names));
    names
}

/// Converts a program from the front end to SSA form. Inlines calls ([`inline::Policy`] decides) and removes functions
/// that no kernel calls.
///
/// # Errors
///
/// See [`PassError`]. After an error, the module is invalid.
pub fn build(module: &mut ir::Module, target: &Target) -> Result<(), PassError> {
    build_watched(module, target, None)
}

/// Like [`build`], and calls `watch` after every pass.
///
/// # Errors
///
/// See [`build`].
pub fn build_watched(module: &mut ir::Module, target: &Target, watch: Option<&Watch<'_>>) -> Result<(), PassError> {
    zeroed::at_build(module, target.zeroed);
    let order = call_order(module, functions(module).filter(|func| module.functions[func.index()].kernel.is_some()))?;
    let mut driver = Driver::new(target, &launch::NONE, watch);
    driver.policy = inline::Policy::new(module, &order);
    // Functions without callers are kernels. No other function depends on them, so they can be built in parallel.
    let (called, uncalled): (Vec<Func>, Vec<Func>) = order.into_iter().partition(|func| driver.policy.calls[func.index()] > 0);
    for func in called {
        driver.on_function(module, func, BUILD_CALLED)?;
        driver.policy.decide(func, module, target.effective_inlining());
        driver.purity.note(func, &module.functions[func.index()]);
    }
    let sizes = uncalled.iter().map(|func| module.functions[func.index()].body.size());
    if uncalled.len() > 1 && sizes.sum::<usize>() >= parallel::MIN_INSTRUCTIONS && !driver.is_watched() {
        build_together(module, &uncalled, &driver)?;
    } else {
        for func in uncalled {
            driver.on_function(module, func, BUILD)?;
        }
    }
    let kernels: Vec<Func> = functions(module).filter(|func| module.functions[func.index()].kernel.is_some()).collect();
    for func in &kernels {
        let kernel = &module.functions[func.index()];
        if printf::check::format_is_argument(kernel) {
            return Err(PassError::Unsupported { function: kernel.name.clone(), what: "a printf format in a kernel argument".to_owned() });
        }
    }
    pass_memory_by_value(module, &kernels, &mut driver)?;
    *module = subset(module, &kernels)?;
    mark_kernels_by_address(module)?;
    Ok(())
}

/// Removes pointers to private memory from the parameters of functions that are not inlined: memory is passed by value.
/// If this is not possible for a function, inlines its calls. If the callers would be too large, or if the target has
/// pointers, the function keeps its pointer parameters.
fn pass_memory_by_value(module: &mut ir::Module, kernels: &[Func], driver: &mut Driver<'_>) -> Result<(), PassError> {
    let pointer_size = driver.pointer_size();
    let mut by_address = FxHashSet::default();
    if driver.takes_addresses() {
        let is_open = |func: &Func| !argument_promotion::is_closed(&module.functions[func.index()], module, false);
        by_address = call_order(module, kernels.iter().copied())?.into_iter().filter(is_open).collect();
    }
    let plan = loop {
        let order = call_order(module, kernels.iter().copied())?;
        match argument_promotion::plan(module, &order, pointer_size, &by_address) {
            Ok(plan) if plan.is_empty() => return Ok(()),
            Ok(plan) => break plan,
            Err(refused) if driver.takes_addresses() => by_address.extend(refused),
            Err(refused) => {
                refused.iter().for_each(|func| driver.policy.inline[func.index()] = true);
                for &func in &order {
                    if callees(&module.functions[func.index()]).iter().any(|callee| refused.contains(callee)) {
                        driver.on_function(module, func, EXPAND)?;
                        driver.policy.measure(func, module);
                    }
                }
                // The calls that remain would make their caller too large.
                let order = call_order(module, kernels.iter().copied())?;
                by_address.extend(refused.into_iter().filter(|func| order.contains(func)));
            }
        }
    };
    for func in argument_promotion::run(module, &call_order(module, kernels.iter().copied())?, &plan) {
        driver.on_function(module, func, OPTIMISE)?;
        driver.purity.note(func, &module.functions[func.index()]);
    }
    Ok(())
}

/// Marks the kernels that call functions with pointers to buffers.
fn mark_kernels_by_address(module: &mut ir::Module) -> Result<(), PassError> {
    let to_buffers = |value: &ir::ValueData| matches!(value.ty, ir::Type::Ptr(ir::Space::Global | ir::Space::Generic));
    let constant = |&param: &ir::Value, function: &ir::Function| function.ty(param) == ir::Type::Ptr(ir::Space::Constant);
    let takes_buffers = |function: &ir::Function| {
        function.kernel.is_none()
            && (function.values.iter().any(to_buffers) || function.params.iter().any(|param| constant(param, function)))
    };
    for func in functions(module) {
        let reached = call_order(module, std::iter::once(func))?;
        let by_address = reached.iter().any(|func| takes_buffers(&module.functions[func.index()]));
        if let Some(kernel) = &mut module.functions[func.index()].kernel {
            kernel.requires_addresses = by_address;
        }
    }
    Ok(())
}

/// Builds several functions in parallel. They must not call each other.
fn build_together(module: &mut ir::Module, list: &[Func], driver: &Driver<'_>) -> Result<(), PassError> {
    let taken: Vec<Mutex<ir::Function>> = list.iter().map(|func| Mutex::new(take(module, *func))).collect();
    let results = parallel::map(taken.len(), |number| {
        let mut function = taken[number].lock().unwrap_or_else(PoisonError::into_inner);
        driver.on_detached(&mut function, module, list[number], BUILD)
    });
    for (func, function) in list.iter().zip(taken) {
        module.functions[func.index()] = function.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
    results.into_iter().try_for_each(|result| result.map(drop))
}

/// Builds one function of a module and inlines all its calls, also those in its callees.
///
/// # Errors
///
/// See [`PassError`].
pub fn build_alone(module: &mut ir::Module, root: Func, target: &Target) -> Result<(), PassError> {
    let mut driver = Driver::new(target, &launch::NONE, None);
    let order = call_order(module, std::iter::once(root))?;
    driver.policy = inline::Policy::new(module, &order);
    for func in order {
        driver.on_function(module, func, BUILD_ALONE)?;
        driver.policy.decide(func, module, target.effective_inlining());
        driver.policy.inline_always(func);
    }
    Ok(())
}

impl Defect {
    /// Converts to the error of the pass `pass` on the function `function`.
    pub(crate) fn in_pass(self, pass: &'static str, function: &str) -> PassError {
        PassError::Internal { function: function.to_owned(), pass, message: self.to_string() }
    }
}

impl PassError {
    /// Converts to the error of a launch of `kernel`.
    pub(crate) fn for_launch(self, kernel: &str) -> LaunchError {
        let kernel = kernel.to_owned();
        match self {
            Self::Internal { pass, message, .. } => LaunchError::Internal { kernel, stage: pass, message },
            Self::Unsupported { what, .. } => LaunchError::Unsupported { kernel, what },
            other => LaunchError::Unsupported { kernel, what: other.to_string() },
        }
    }
}
