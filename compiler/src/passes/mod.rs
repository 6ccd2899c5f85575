//! Transformations of the IR, one a file, listed in their order here.
//!
//! Two stages use them. [`build`] works on a whole program when it is built and knows no launch: it leaves every function in SSA
//! form, with everything that takes pointers inlined. [`launch`] works on a copy of one kernel for one [`LaunchKey`] and leaves the
//! form that emission reads: every access names its root.

pub mod addresses;
mod alias;
pub mod align;
pub mod batch_turns;
pub mod coarsen;
pub mod compact;
pub mod constant_arrays;
pub mod constant_loads;
pub mod constants_inward;
mod counted;
pub mod dce;
pub mod deal_turns;
pub mod exchange;
pub mod fold;
mod group_blind;
pub mod groups;
pub mod inline;
mod lane;
pub mod legalize;
pub mod lower_memory;
pub mod merge_exits;
pub mod narrow;
pub mod pieces;
pub mod promote;
pub mod resolve_pointers;
pub mod side_by_side;
pub mod simplify;
pub mod specialise_key;
pub mod structure_returns;
pub mod trips;
pub mod uniform_loads;
pub mod unroll;

use std::sync::{Mutex, PoisonError};

use crate::image::ImageFormat;
use crate::ir::{self, Func};
use crate::launch::{LaunchError, LaunchKey, LaunchResult};
use crate::parallel;
use crate::target::Target;
pub use group_blind::group_blind;
use simplify::Purity;

/// Why the passes gave up.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum PassError {
    /// Inlining made a function too large: helpers that take pointers, called by helpers that do, many times.
    #[error("function `{function}` has more than {limit} instructions once the functions that it calls are expanded")]
    TooLarge {
        /// The function.
        function: String,
        /// Instructions.
        limit: usize,
    },
    /// Control flow nests too deep once calls are expanded.
    #[error("control flow in function `{function}` nests deeper than {limit} once the functions that it calls are expanded")]
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

/// Brings a program as the front end lowered it into SSA form, with calls expanded and functions that no kernel needs removed.
///
/// # Errors
/// See [`PassError`]; the module is then unfit for use.
pub fn build(module: &mut ir::Module, target: &Target) -> Result<(), PassError> {
    let order = call_order(module, functions(module).filter(|func| module.functions[func.index()].kernel.is_some()))?;
    let ptr_size = target.pointer_size();
    let mut policy = inline::Policy::new(module);
    let mut purity = Purity::unknown();
    // What nothing calls is needed by nobody: kernels, but for those that others call.
    let (called, uncalled): (Vec<Func>, Vec<Func>) = order.into_iter().partition(|func| policy.calls[func.index()] > 0);
    for func in called {
        let mut function = take(module, func);
        structure_returns::run(&mut function, ptr_size);
        let made = check_function(module, &function, "structure_returns")
            .and_then(|()| build_function(&mut function, module, (&policy, &purity), ptr_size));
        module.functions[func.index()] = function;
        made?;
        policy.decide(func, module);
        purity.note(func, &module.functions[func.index()]);
    }
    let sizes = uncalled.iter().map(|func| module.functions[func.index()].body.size());
    let work = |function: &mut ir::Function, module: &ir::Module| build_function(function, module, (&policy, &purity), ptr_size);
    if uncalled.len() > 1 && sizes.sum::<usize>() >= parallel::WORTH {
        let functions: Vec<Mutex<ir::Function>> = uncalled.iter().map(|func| Mutex::new(take(module, *func))).collect();
        let made = parallel::map(functions.len(), |number| {
            let mut function = functions[number].lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut function, module)
        });
        for (func, function) in uncalled.iter().zip(functions) {
            module.functions[func.index()] = function.into_inner().unwrap_or_else(PoisonError::into_inner);
        }
        made.into_iter().collect::<Result<(), PassError>>()?;
    } else {
        for func in uncalled {
            let mut function = take(module, func);
            let made = work(&mut function, module);
            module.functions[func.index()] = function;
            made?;
        }
    }
    let kernels: Vec<Func> = functions(module).filter(|func| module.functions[func.index()].kernel.is_some()).collect();
    *module = subset(module, &kernels);
    Ok(())
}

/// Takes a function out of its module, to be put back.
fn take(module: &mut ir::Module, func: Func) -> ir::Function {
    std::mem::replace(&mut module.functions[func.index()], ir::Function::new("", ir::Type::Void))
}

/// The passes of a build for a function that was taken out of its module, all of whose callees are final.
fn build_function(
    function: &mut ir::Function,
    module: &ir::Module,
    (policy, purity): (&inline::Policy, &Purity),
    ptr_size: u32,
) -> Result<(), PassError> {
    inline::run_apart(function, module, policy)?;
    check_function(module, function, "inline")?;
    constant_arrays::run(function, &module.globals);
    check_function(module, function, "constant_arrays")?;
    lower_memory::run(function, ptr_size);
    check_function(module, function, "lower_memory")?;
    constant_loads::run(function, &module.globals);
    check_function(module, function, "constant_loads")?;
    optimise_function(function, module, ptr_size, purity)
}

/// As [`optimise_function`], for one that is in its module.
fn optimise(module: &mut ir::Module, func: Func, ptr_size: u32, purity: &Purity) -> Result<(), PassError> {
    let mut function = take(module, func);
    let made = optimise_function(&mut function, module, ptr_size, purity);
    module.functions[func.index()] = function;
    made
}

/// Promotes and simplifies until neither finds anything more, a few times at most: constants that `simplify` finds make more variables
/// promotable.
fn optimise_function(function: &mut ir::Function, module: &ir::Module, ptr_size: u32, purity: &Purity) -> Result<(), PassError> {
    for round in 0..3 {
        let promoted = promote::run(function, ptr_size);
        check_function(module, function, "promote")?;
        if round > 0 && !promoted {
            break;
        }
        simplify::run(function, purity);
        check_function(module, function, "simplify")?;
    }
    compact::run(function);
    check_function(module, function, "compact")
}

/// Makes the module of one kernel for a launch: the kernel is function 0, followed by the helpers that it calls. Globals keep their
/// numbers (all of them are kept, so that the layout of program memory is the same for every kernel).
///
/// # Errors
/// No such kernel, or a defect of ours.
pub fn launch(module: &ir::Module, kernel: &str, key: &LaunchKey, target: &Target) -> LaunchResult<ir::Module> {
    let mut module = kernel_module(module, kernel)?;
    if let Some(function) = module.functions.first_mut() {
        add_buffers(function, key.extra_buffers);
        specialise_key::start_parameters(function, key);
    }
    images(&mut module, &key.images, &key.samplers, target).map_err(|error| error.for_launch(kernel))?;
    if let Some(function) = module.functions.first_mut() {
        fold::run(function, key).map_err(|error| error.for_launch(kernel))?;
        check(&module, Func(0), "fold").map_err(|error| error.for_launch(kernel))?;
    }
    specialise(&mut module, key, target).map_err(|error| error.for_launch(kernel))?;
    if let Some(function) = module.functions.first_mut().filter(|_| !key.pieces.params.is_empty()) {
        pieces::run(function, &key.pieces);
        check(&module, Func(0), "pieces").map_err(|error| error.for_launch(kernel))?;
    }
    if let Some(function) = module.functions.first_mut().filter(|_| target.shaders.costs.lanes_exchange)
        && exchange::run(function, key, target.language.max_subgroup_size)
    {
        compact::run(function);
        check(&module, Func(0), "exchange").map_err(|error| error.for_launch(kernel))?;
    }
    let purity = Purity::unknown();
    for func in functions(&module) {
        if constants_inward::run(&mut module.functions[func.index()]) {
            dce::run(&mut module.functions[func.index()], &purity);
            compact::run(&mut module.functions[func.index()]);
            check(&module, func, "constants_inward").map_err(|error| error.for_launch(kernel))?;
        }
    }
    Ok(module)
}

/// Makes the module of one kernel as [`build`] has left it, but with the accesses to images made for their formats and for the values of samplers (each in the
/// order of the kernel's parameters): what an interpreter can run.
///
/// # Errors
/// No such kernel, or an image that is chosen at run time.
pub fn expand_images(
    module: &ir::Module,
    kernel: &str,
    formats: &[ImageFormat],
    samplers: &[u32],
    target: &Target,
) -> LaunchResult<ir::Module> {
    let mut module = kernel_module(module, kernel)?;
    images(&mut module, formats, samplers, target).map_err(|error| error.for_launch(kernel))?;
    Ok(module)
}

/// The module of one kernel: it is function 0, followed by the helpers that it calls.
fn kernel_module(module: &ir::Module, kernel: &str) -> LaunchResult<ir::Module> {
    let root = functions(module)
        .find(|func| module.functions[func.index()].kernel.is_some() && module.functions[func.index()].name == kernel)
        .ok_or_else(|| LaunchError::NoKernel(kernel.to_owned()))?;
    Ok(subset(module, &[root]))
}

/// Puts the accesses to images in the place of their functions.
fn images(module: &mut ir::Module, formats: &[ImageFormat], samplers: &[u32], target: &Target) -> Result<(), PassError> {
    let added = crate::image::expand::run(module, formats, samplers, target)?;
    let Some(first) = added.first() else { return Ok(()) };
    let mut policy = inline::Policy::new(module);
    policy.inline.fill(false);
    for &func in &added {
        policy.decide(func, module);
        policy.inline[func.index()] = true;
    }
    inline::run(module, Func(0), &policy)?;
    check(module, Func(0), "images")?;
    module.functions.truncate(first.index());
    Ok(())
}

/// Makes one function of a module final, with everything that it calls inlined.
///
/// # Errors
/// See [`PassError`].
pub fn flatten(module: &mut ir::Module, root: Func, ptr_size: u32) -> Result<(), PassError> {
    let mut policy = inline::Policy::new(module);
    let purity = Purity::unknown();
    for func in call_order(module, std::iter::once(root))? {
        structure_returns::run(&mut module.functions[func.index()], ptr_size);
        check(module, func, "structure_returns")?;
        inline::run(module, func, &policy)?;
        check(module, func, "inline")?;
        lower_memory::run(&mut module.functions[func.index()], ptr_size);
        check(module, func, "lower_memory")?;
        optimise(module, func, ptr_size, &purity)?;
        policy.decide(func, module);
        policy.inline[func.index()] = true;
    }
    Ok(())
}

/// Gives a kernel parameters for buffers that only pointers in memory lead to.
fn add_buffers(function: &mut ir::Function, count: u32) {
    for _ in 0..count {
        add_buffer(function);
    }
}

/// Gives a kernel one more parameter, for a buffer.
fn add_buffer(function: &mut ir::Function) -> ir::Value {
    let param = function.new_value(ir::Type::Ptr(ir::Space::Global));
    function.params.push(param);
    if let Some(kernel) = &mut function.kernel {
        kernel.params.push(ir::KernelParam::Buffer { space: ir::Space::Global, read_only: false, restrict: false });
    }
    param
}

fn specialise(module: &mut ir::Module, key: &LaunchKey, target: &Target) -> Result<(), PassError> {
    let mut purity = Purity::unknown();
    let count = module.functions.len();
    // Helpers come before what calls them, the kernel is last: `subset` numbers callers first.
    for func in functions(module).rev() {
        if func.index() + 1 < count || count == 1 {
            purity.note(func, &module.functions[func.index()]);
        }
    }
    groups::run(module, key.local_size, target.language.max_subgroup_size);
    for func in functions(module) {
        check(module, func, "groups")?;
        specialise_key::run(&mut module.functions[func.index()], key);
        check(module, func, "specialise_key")?;
        optimise(module, func, target.pointer_size(), &purity)?;
        let mode = if target.shaders.costs.long_code { unroll::Mode::Full } else { unroll::Mode::Generous };
        // Loops around loops that were written out follow.
        for _ in 0..3 {
            let changed = unroll::run(&mut module.functions[func.index()], mode);
            check(module, func, "unroll")?;
            if !changed {
                break;
            }
            optimise(module, func, target.pointer_size(), &purity)?;
        }
        resolve_pointers::run(&mut module.functions[func.index()], &module.globals, target.pointer_size())?;
        check(module, func, "resolve_pointers")?;
        constant_loads::run(&mut module.functions[func.index()], &module.globals);
        check(module, func, "constant_loads")?;
        simplify::run(&mut module.functions[func.index()], &purity);
        check(module, func, "simplify")?;
        narrow::run(&mut module.functions[func.index()]);
        check(module, func, "narrow")?;
        merge_exits::run(&mut module.functions[func.index()]);
        check(module, func, "merge_exits")?;
        simplify::run(&mut module.functions[func.index()], &purity);
        check(module, func, "simplify")?;
        compact::run(&mut module.functions[func.index()]);
        check(module, func, "compact")?;
        let widths = if target.shaders.costs.long_code { &deal_turns::WIDTHS[..1] } else { deal_turns::WIDTHS };
        let mut several = deal_turns::run(&mut module.functions[func.index()], key, &purity, widths);
        check(module, func, "deal_turns")?;
        if target.shaders.costs.local_lane_by_lane && func == Func(0) && target.language.subgroups {
            several |= uniform_loads::run(&mut module.functions[0], key, target.language.max_subgroup_size);
            check(module, func, "uniform_loads")?;
        }
        if target.shaders.costs.branches {
            several |= unroll::run(&mut module.functions[func.index()], unroll::Mode::Partial);
            check(module, func, "unroll")?;
        }
        if target.shaders.costs.load_latency {
            several |= batch_turns::run(&mut module.functions[func.index()], key.distinct, &purity);
            check(module, func, "batch_turns")?;
        }
        if several {
            simplify::run(&mut module.functions[func.index()], &purity);
            check(module, func, "simplify")?;
            compact::run(&mut module.functions[func.index()]);
            check(module, func, "compact")?;
        }
        align::run(&mut module.functions[func.index()]);
        check(module, func, "align")?;
        let widest = if target.shaders.costs.lanes_exchange { exchange::SHARED } else { side_by_side::WIDE };
        if target.shaders.costs.accesses && side_by_side::run(&mut module.functions[func.index()], key.distinct, &purity, widest) {
            dce::run(&mut module.functions[func.index()], &purity);
            compact::run(&mut module.functions[func.index()]);
            check(module, func, "side_by_side")?;
        }
    }
    coarsen(module, key, &purity)
}

/// Lets invocations of the kernel stand for several work-items where the launch allows it and it pays.
fn coarsen(module: &mut ir::Module, key: &LaunchKey, purity: &Purity) -> Result<(), PassError> {
    // Helpers would have to be told which work-item asks.
    let asks = |inst: &ir::Inst| matches!(inst.op, ir::Op::WorkItem(ir::WorkItem::GlobalId(0)));
    for helper in module.functions.iter().skip(1) {
        let mut found = false;
        helper.body.walk(&mut |inst| found |= asks(inst));
        if found {
            return Ok(());
        }
    }
    let Some(function) = module.functions.first_mut().filter(|_| key.coarsen > 1) else { return Ok(()) };
    let count = coarsen::run(function, key.coarsen);
    let Some(kernel) = function.kernel.as_mut().filter(|_| count > 1) else { return Ok(()) };
    kernel.coarse = count.trailing_zeros() as u8;
    check(module, Func(0), "coarsen")?;
    simplify::run(&mut module.functions[0], purity);
    check(module, Func(0), "simplify")?;
    compact::run(&mut module.functions[0]);
    check(module, Func(0), "compact")
}

impl PassError {
    /// As the error of a launch.
    fn for_launch(self, kernel: &str) -> LaunchError {
        let kernel = kernel.to_owned();
        match self {
            Self::Internal { pass, message, .. } => LaunchError::Internal { kernel, stage: pass, message },
            Self::Unsupported { what, .. } => LaunchError::Unsupported { kernel, what },
            other => LaunchError::Unsupported { kernel, what: other.to_string() },
        }
    }
}

/// The numbers of all functions.
fn functions(module: &ir::Module) -> impl DoubleEndedIterator<Item = Func> + use<> {
    (0..u32::try_from(module.functions.len()).unwrap_or(u32::MAX)).map(Func)
}

/// Functions that a function calls, each once.
fn callees(function: &ir::Function) -> Vec<Func> {
    let mut list = Vec::new();
    function.body.walk(&mut |inst| {
        if let ir::Op::Call(callee, _) = inst.op
            && !list.contains(&callee)
        {
            list.push(callee);
        }
    });
    list
}

/// The functions that some need, those included, each after those that it calls.
fn call_order(module: &ir::Module, roots: impl Iterator<Item = Func>) -> Result<Vec<Func>, PassError> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; module.functions.len()];
    let mut order = Vec::new();
    for root in roots {
        let mut stack = vec![(root, None::<Vec<Func>>)];
        while let Some((func, rest)) = stack.last_mut() {
            let func = *func;
            let Some(function) = module.functions.get(func.index()) else {
                stack.pop();
                continue;
            };
            let todo = rest.get_or_insert_with(|| {
                if states[func.index()] == State::New {
                    states[func.index()] = State::Open;
                    callees(function)
                } else {
                    Vec::new()
                }
            });
            match todo.pop() {
                Some(callee) => match states.get(callee.index()) {
                    Some(State::New) => stack.push((callee, None)),
                    Some(State::Open) => return Err(PassError::Recursive { function: function.name.clone() }),
                    Some(State::Done) | None => {}
                },
                None => {
                    if states[func.index()] == State::Open {
                        states[func.index()] = State::Done;
                        order.push(func);
                    }
                    stack.pop();
                }
            }
        }
    }
    Ok(order)
}

/// A copy of some functions of a module and what they call, callers before the called, with all globals.
fn subset(module: &ir::Module, roots: &[Func]) -> ir::Module {
    let mut list: Vec<Func> = roots.to_vec();
    let mut next = 0;
    while let Some(&func) = list.get(next) {
        for callee in callees(&module.functions[func.index()]) {
            if !list.contains(&callee) {
                list.push(callee);
            }
        }
        next += 1;
    }
    let mut numbers = vec![None; module.functions.len()];
    for (number, func) in (0..).zip(&list) {
        numbers[func.index()] = Some(Func(number));
    }
    let functions = list
        .iter()
        .map(|func| {
            let mut function = module.functions[func.index()].clone();
            function.body.walk_mut(&mut |inst| {
                if let ir::Op::Call(callee, _) = &mut inst.op {
                    *callee = numbers.get(callee.index()).copied().flatten().unwrap_or(*callee);
                }
            });
            function
        })
        .collect();
    ir::Module { functions, globals: module.globals.clone() }
}

/// Runs the verifier where assertions are on, or where the environment variable `WGCL_VERIFY` asks for it.
fn check(module: &ir::Module, func: Func, pass: &'static str) -> Result<(), PassError> {
    check_function(module, &module.functions[func.index()], pass)
}

/// The same for a function that was taken out of its module.
fn check_function(module: &ir::Module, function: &ir::Function, pass: &'static str) -> Result<(), PassError> {
    static ASKED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    if !cfg!(debug_assertions) && !ASKED.get_or_init(|| std::env::var_os("WGCL_VERIFY").is_some()) {
        return Ok(());
    }
    ir::verify::verify_function(module, function).map_err(|errors| PassError::Internal {
        function: function.name.clone(),
        pass,
        message: errors.first().map_or_else(String::new, ToString::to_string),
    })
}
