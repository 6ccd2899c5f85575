//! Transformations of the IR, one a file, and the lists that say in which order they run.
//!
//! * [`BUILD`] works on every function of a program when it is built and knows no launch: it leaves SSA form, with everything that takes pointers inlined.
//! * [`SPECIALISE`] works on a copy of one kernel and what it calls, for one [`LaunchKey`](crate::launch::LaunchKey). Pointers are still pointers: what comes out is what every kind of code
//!   generator wants.
//! * [`SHADER`] makes of that the form that emission reads: every access names its root, and accesses are made as wide as the device likes them.
//! * [`LEGALIZE`] replaces what naga or the device lacks.
//!
//! [`crate::specialise`] tells how a launch goes through the last three. The [`Driver`] runs a list, verifies the IR after every pass where assertions are on, and
//! shows it to whoever watches.
//!
//! # What keeps the passes that not every device wants
//! docs/performance.md has the figures. Of an H100: `subgroup_coalesce` copies of `float8` by 1.35 and stores by 2; `coarsen` copies of bytes by 3.5;
//! `runtime_unroll` `reduction` from 211 to 107 us; `vectorize_memory` `md5` by 1.1; `majority` a chain of majorities by 1.5, hashcat's SHA-1 by 1.08 and SHA-256 by 1.05;
//! `fold` and `pieces` are for kernels that would not run otherwise. `argument_promotion`: hashcat's m22000 has 46,000 instructions in place of 302,000, and all stages take 0.7 s in place of 5.6.

mod alias;
mod argument_promotion;
mod calls;
pub(crate) mod coarse_sines;
pub mod coarsen;
pub(crate) mod constant_arrays;
pub(crate) mod constant_loads;
pub(crate) mod dce;
mod driver;
pub(crate) mod extra_buffers;
pub(crate) mod fp_barriers;
pub(crate) mod group_uniform_ids;
pub(crate) mod groups;
pub(crate) mod half_rounding;
pub(crate) mod infer_alignment;
pub mod inline;
pub mod legalize;
pub mod locks;
mod loop_copies;
pub(crate) mod lower_memory;
mod majority;
pub mod merge_bindings;
pub(crate) mod merge_exits;
pub(crate) mod offsets;
pub(crate) mod pairs;
mod pass;
pub mod renumber;
pub(crate) mod resolve_pointers;
pub(crate) mod runtime_unroll;
pub(crate) mod shrink_int64;
pub(crate) mod simplify;
mod sink_common;
pub(crate) mod specialise_key;
pub mod split_bindings;
pub(crate) mod sroa;
pub mod subgroup_coalesce;
pub(crate) mod test_last;
pub(crate) mod unify_latches;
pub(crate) mod unify_returns;
pub(crate) mod unroll;
pub(crate) mod unsigned;
pub(crate) mod vectorize_memory;
mod zeroed;

use std::sync::{Mutex, PoisonError};

use crate::analysis::calls::callees;
pub use crate::analysis::calls::reached_instructions;
pub use crate::analysis::group_blind;
use crate::internal::Defect;
use crate::ir::{self, Func};
use crate::launch::{self, LaunchError};
use crate::parallel;
use crate::target::Target;
use Step::{EachFunction, If, IfChanged, KernelOnly, Repeat, Steps};
pub(crate) use calls::{call_order, functions, subset};
use driver::take;
pub use driver::{AfterPass, Driver, Watch};
pub use pass::{Changed, Cx, Pass, PassResult, Run, Step};

/// Why the passes gave up.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum PassError {
    /// Inlining made a function too large: helpers that take pointers, called by helpers that do, many times.
    #[error("function `{function}` has more than {limit} instructions after inlining")]
    TooLarge {
        /// The function.
        function: String,
        /// Instructions.
        limit: usize,
    },
    /// Control flow nests too deep once calls are expanded.
    #[error("control flow in function `{function}` nests deeper than {limit} levels after inlining")]
    TooDeep {
        /// The function.
        function: String,
        /// Regions.
        limit: usize,
    },
    /// A function calls itself.
    #[error("function `{function}` is recursive")]
    Recursive {
        /// The function.
        function: String,
    },
    /// What cannot be expressed.
    #[error("function `{function}`: {what} is not supported")]
    Unsupported {
        /// The function.
        function: String,
        /// The construct.
        what: String,
    },
    /// The IR broke its own rules: a defect of the compiler.
    #[error("function `{function}`: internal compiler error in {pass}: {message}")]
    Internal {
        /// The function.
        function: String,
        /// After which pass.
        pass: &'static str,
        /// What is wrong.
        message: String,
    },
}

/// Promotes and simplifies until neither finds anything more, a few times at most: constants that `simplify` finds make more variables promotable.
pub const OPTIMISE: &[Step] = &[
    Step::Pass(&sroa::PASS),
    Step::Pass(&simplify::PASS),
    Repeat(2, &[Step::Pass(&sroa::PASS)], &[Step::Pass(&simplify::PASS)]),
    Step::Pass(&renumber::PASS),
];

/// For every function when a program is built, after all that it calls.
pub const BUILD: &[Step] = &[
    Step::Pass(&inline::PASS),
    Step::Pass(&constant_arrays::PASS),
    Step::Pass(&lower_memory::PASS),
    Step::Pass(&constant_loads::PASS),
    Steps(OPTIMISE),
];

/// The same for a function that others call.
pub const BUILD_CALLED: &[Step] = &[Step::Pass(&unify_returns::PASS), Steps(BUILD)];

/// For a function that calls what turned out to have to be inlined.
pub const EXPAND: &[Step] = &[Step::Pass(&inline::PASS), Steps(OPTIMISE)];

/// For a function of the library that is made for one use, with everything that it calls.
pub const BUILD_ALONE: &[Step] =
    &[Step::Pass(&unify_returns::PASS), Step::Pass(&inline::PASS), Step::Pass(&lower_memory::PASS), Steps(OPTIMISE)];

/// For a kernel and what it calls, at a launch: what the key says is put in, collective functions are expanded for shaders, loops are written out.
pub const SPECIALISE: &[Step] = &[
    Step::Pass(&zeroed::PASS),
    Step::Pass(&groups::PASS),
    EachFunction(&[
        Step::Pass(&specialise_key::PASS),
        Steps(OPTIMISE),
        IfChanged(&[Step::Pass(&test_last::PASS)], &[Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)]),
        // Loops around loops that were written out follow.
        Repeat(3, &[Step::Pass(&unroll::PASS)], OPTIMISE),
    ]),
];

/// Then, for shaders: how memory is bound, and how it is accessed best.
pub const SHADER: &[Step] = &[
    KernelOnly(&[Step::Pass(&extra_buffers::PASS), Step::Pass(&specialise_key::START), Step::Pass(&merge_bindings::PASS)]),
    EachFunction(&[
        Step::Pass(&resolve_pointers::PASS),
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
        |target| target.shaders.costs.lanes_exchange,
        &[KernelOnly(&[IfChanged(&[Step::Pass(&subgroup_coalesce::PASS)], &[Step::Pass(&renumber::PASS)])])],
    ),
];

/// Then, for machine code: integers no wider than addresses within an object need, loops that go on at one place and are left at few, and what lies side by side in one access.
pub const NATIVE: &[Step] = &[EachFunction(&[
    Steps(SHORT_OFFSETS),
    Step::Pass(&unsigned::PASS),
    IfChanged(&[Step::Pass(&unify_latches::PASS)], &[Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)]),
    Steps(FEW_EXITS),
    IfChanged(&[Step::Pass(&vectorize_memory::SORTED)], &[Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)]),
])];

/// The same where every access is looked at: those side by side stay apart.
pub const NATIVE_APART: &[Step] = &[EachFunction(&[Steps(SHORT_OFFSETS), Steps(FEW_EXITS)])];

/// Integers no wider than addresses within an object need.
const SHORT_OFFSETS: &[Step] =
    &[Step::Pass(&offsets::PASS), Step::Pass(&constant_loads::PASS), Step::Pass(&simplify::PASS), Step::Pass(&shrink_int64::PASS)];

/// Loops that are left at few places.
const FEW_EXITS: &[Step] = &[Step::Pass(&merge_exits::PASS), Step::Pass(&simplify::PASS), Step::Pass(&renumber::PASS)];

/// At last: what remains is what emission knows.
pub const LEGALIZE: &[Step] = &[
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
    ("native_apart", NATIVE_APART),
    ("legalize_all", LEGALIZE),
];

/// A pass by its name, if it is in any of the lists.
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

/// Brings a program as the front end lowered it into SSA form, with calls expanded and functions that no kernel needs removed.
///
/// # Errors
/// See [`PassError`]; the module is then unfit for use.
pub fn build(module: &mut ir::Module, target: &Target) -> Result<(), PassError> {
    build_watched(module, target, None)
}

/// The same, with someone who looks at the IR after every pass.
///
/// # Errors
/// As [`build`].
pub fn build_watched(module: &mut ir::Module, target: &Target, watch: Option<&Watch<'_>>) -> Result<(), PassError> {
    zeroed::at_build(module, target.zeroed);
    let order = call_order(module, functions(module).filter(|func| module.functions[func.index()].kernel.is_some()))?;
    let mut driver = Driver::new(target, &launch::NONE, watch);
    driver.policy = inline::Policy::new(module, &order);
    // What nothing calls is needed by nobody: kernels, but for those that others call.
    let (called, uncalled): (Vec<Func>, Vec<Func>) = order.into_iter().partition(|func| driver.policy.calls[func.index()] > 0);
    for func in called {
        driver.on_function(module, func, BUILD_CALLED)?;
        driver.policy.decide(func, module, target.inlining);
        driver.purity.note(func, &module.functions[func.index()]);
    }
    let sizes = uncalled.iter().map(|func| module.functions[func.index()].body.size());
    if uncalled.len() > 1 && sizes.sum::<usize>() >= parallel::WORTH && !driver.is_watched() {
        build_together(module, &uncalled, &driver)?;
    } else {
        for func in uncalled {
            driver.on_function(module, func, BUILD)?;
        }
    }
    let kernels: Vec<Func> = functions(module).filter(|func| module.functions[func.index()].kernel.is_some()).collect();
    hand_over_by_value(module, &kernels, &mut driver)?;
    *module = subset(module, &kernels)?;
    Ok(())
}

/// Takes pointers away from the functions that stay; expands the calls of those where that cannot be done.
fn hand_over_by_value(module: &mut ir::Module, kernels: &[Func], driver: &mut Driver<'_>) -> Result<(), PassError> {
    let pointer_size = driver.pointer_size();
    let plan = loop {
        let order = call_order(module, kernels.iter().copied())?;
        match argument_promotion::plan(module, &order, pointer_size) {
            Ok(plan) if plan.is_empty() => return Ok(()),
            Ok(plan) => break plan,
            Err(refused) => {
                refused.iter().for_each(|func| driver.policy.inline[func.index()] = true);
                for &func in &order {
                    if callees(&module.functions[func.index()]).iter().any(|callee| refused.contains(callee)) {
                        driver.on_function(module, func, EXPAND)?;
                        driver.policy.measure(func, module);
                    }
                }
            }
        }
    };
    for func in argument_promotion::run(module, &call_order(module, kernels.iter().copied())?, &plan) {
        driver.on_function(module, func, OPTIMISE)?;
        driver.purity.note(func, &module.functions[func.index()]);
    }
    Ok(())
}

/// Builds functions that do not call each other on several threads.
fn build_together(module: &mut ir::Module, list: &[Func], driver: &Driver<'_>) -> Result<(), PassError> {
    let taken: Vec<Mutex<ir::Function>> = list.iter().map(|func| Mutex::new(take(module, *func))).collect();
    let made = parallel::map(taken.len(), |number| {
        let mut function = taken[number].lock().unwrap_or_else(PoisonError::into_inner);
        driver.apart(&mut function, module, list[number], BUILD)
    });
    for (func, function) in list.iter().zip(taken) {
        module.functions[func.index()] = function.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
    made.into_iter().try_for_each(|made| made.map(drop))
}

/// Makes one function of a module final, with everything that it calls inlined.
///
/// # Errors
/// See [`PassError`].
pub fn build_alone(module: &mut ir::Module, root: Func, target: &Target) -> Result<(), PassError> {
    let mut driver = Driver::new(target, &launch::NONE, None);
    let order = call_order(module, std::iter::once(root))?;
    driver.policy = inline::Policy::new(module, &order);
    for func in order {
        driver.on_function(module, func, BUILD_ALONE)?;
        driver.policy.decide(func, module, target.inlining);
        driver.policy.inline[func.index()] = true;
    }
    Ok(())
}

impl Defect {
    /// As the error of a pass that works on a function.
    pub(crate) fn in_pass(self, pass: &'static str, function: &str) -> PassError {
        PassError::Internal { function: function.to_owned(), pass, message: self.to_string() }
    }
}

impl PassError {
    /// As the error of a launch.
    pub(crate) fn for_launch(self, kernel: &str) -> LaunchError {
        let kernel = kernel.to_owned();
        match self {
            Self::Internal { pass, message, .. } => LaunchError::Internal { kernel, stage: pass, message },
            Self::Unsupported { what, .. } => LaunchError::Unsupported { kernel, what },
            other => LaunchError::Unsupported { kernel, what: other.to_string() },
        }
    }
}
