//! Inlines calls.
//!
//! ```text
//! func twice(%0: i32) -> i32 {         kernel k(...) {
//!   %1 = add %0, %0                      ...
//!   return %1                  =>        %9 = add %8, %8
//! }                                      ... uses of %9 for the call's result
//! kernel k(...) { %9 = call twice(%8) }
//! ```
//! Functions of shaders only access their own variables and constants. Functions with pointers, and functions that
//! query the work-item, are inlined. So are functions with atomics, barriers, fences, collective operations, image
//! accesses, clock queries or printf. There are two exceptions if the copies would be too much code ([`Inlining`]):
//!
//! * Functions with pointers to private memory. [`super::argument_promotion`] removes the pointers.
//! * Functions with other pointers, queries, atomics, fences and printf. [`super::resolve_pointers`] replaces the
//!   pointers by addresses, or by tags and offsets. If the device has no buffer addresses, pointers to buffers are
//!   excluded.
//!
//! Machine code can call all functions except those with barriers, collective operations, images, or `printf` formats
//! that are not constant. Functions that shaders could not call are inlined in machine code as well, unless the copies
//! would be too much code. All other functions are inlined if they are small or called once. A callee must have a
//! single `return` at its end (`unify_returns`) or none.

use super::PassError;
use super::argument_promotion::{has_pointer_params, is_callable_in_shaders, is_closed};
use super::pass::Pass;
use crate::analysis::calls::callees;
use crate::diag::Span;
use crate::ir::{Func, Function, Inst, MAX_NESTING, Module, Op, Region, Space, Type, Value, Var};
use crate::target::Inlining;

pub const PASS: Pass = Pass::function("inline", |function, cx| {
    run_detached(function, cx.module, cx.policy)?;
    Ok(true)
});

/// Functions with more instructions are only inlined if they must be, or if they are called only once.
const SMALL: usize = 150;

/// Maximum number of instructions of a function after inlining. A call that would exceed this maximum stays, unless it
/// must be inlined.
const MAX_SIZE: usize = 300_000;

/// Approximate number of instructions that pass memory by value to a function and back.
const PASSING_COST: usize = 60;

/// Factor for [`Inlining::max_copied_instructions`] for functions with pointer parameters in machine code. Inlining is
/// better for these, because contiguous accesses become gathers in a callee.
const ADDRESS_FACTOR: u64 = 4;

/// Like [`ADDRESS_FACTOR`], for shaders. Bound buffers are faster than addresses, so with this factor the copies may
/// have up to two thirds of [`MAX_SIZE`] instructions.
const BUFFER_ADDRESS_FACTOR: u64 = 10;

/// Which functions of a module are inlined.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// For each function, whether calls of the function are inlined.
    pub inline: Vec<bool>,
    /// For each function, whether a call of the function stays if the caller would become too large or nested too
    /// deeply.
    optional: Vec<bool>,
    /// For each function, whether the function or one of its callees is called with addresses.
    uses_addresses: Vec<bool>,
    /// For each function, its number of instructions.
    pub size: Vec<usize>,
    /// For each function, the nesting depth of its regions.
    pub depth: Vec<usize>,
    /// For each function, the number of calls of the function in the module.
    pub calls: Vec<usize>,
    /// For each function, the number of call chains from kernels to the function.
    chains: Vec<u64>,
}

impl Policy {
    /// Counts the calls in a module. `order` contains the kernels and the functions that they call, callees first.
    pub fn new(module: &Module, order: &[Func]) -> Self {
        let count = module.functions.len();
        let mut calls = vec![0; count];
        let mut chains = vec![0_u64; count];
        for func in order.iter().rev() {
            let function = &module.functions[func.index()];
            let here = chains[func.index()] + u64::from(function.kernel.is_some());
            function.body.walk(&mut |inst| {
                if let Op::Call(callee, _) = inst.op {
                    calls[callee.index()] += 1;
                    chains[callee.index()] = chains[callee.index()].saturating_add(here);
                }
            });
        }
        let (optional, uses_addresses) = (vec![false; count], vec![false; count]);
        Self { inline: vec![true; count], optional, uses_addresses, size: vec![0; count], depth: vec![0; count], calls, chains }
    }

    /// Decides whether a function is inlined. The calls in it must already be inlined, except those that stay.
    pub fn decide(&mut self, func: Func, module: &Module, limits: Inlining) {
        self.measure(func, module);
        let (function, index) = (&module.functions[func.index()], func.index());
        let (size, calls) = (self.size[index], self.calls[index]);
        let is_small = (size <= SMALL || calls <= 1) && !function.no_inline;
        let copies = (size as u64).saturating_mul(self.chains[index]);
        let has_few = |factor: u64| size < limits.min_call_instructions || copies <= limits.max_copied_instructions * factor;
        let by_value = has_pointer_params(function) && is_closed(function, module, false);
        let must = !by_value && must_inline(function, module);
        let takes_tags = is_callable_in_shaders(function, module, limits.takes_buffer_addresses);
        // Inlining a function that calls others with addresses would only copy these calls.
        self.uses_addresses[index] = callees(function).iter().any(|callee| self.uses_addresses[callee.index()]);
        let factor = |usual: u64| if self.uses_addresses[index] { 1 } else { usual };
        (self.inline[index], self.optional[index]) = if by_value {
            (has_few(1), limits.takes_addresses || takes_tags)
        } else if !must {
            (is_small, true)
        } else if limits.takes_addresses && is_callable(function) {
            (has_few(factor(ADDRESS_FACTOR)) || (calls <= 1 && !limits.inlines_only_required()), true)
        } else if takes_tags {
            (has_few(factor(BUFFER_ADDRESS_FACTOR)) || (calls <= 1 && !limits.inlines_only_required()), true)
        } else {
            (true, false)
        };
        self.uses_addresses[index] |= must && !self.inline[index];
    }

    /// Decides that a function is inlined, regardless of its size.
    pub(super) fn inline_always(&mut self, func: Func) {
        (self.inline[func.index()], self.optional[func.index()]) = (true, false);
    }

    /// Updates the size and depth of a changed function. A call with pointers counts as [`PASSING_COST`] instructions.
    pub fn measure(&mut self, func: Func, module: &Module) {
        let function = &module.functions[func.index()];
        let mut calls = 0;
        function.body.walk(&mut |inst| {
            calls += usize::from(matches!(inst.op, Op::Call(callee, _) if has_pointer_params(&module.functions[callee.index()])));
        });
        self.size[func.index()] = function.body.size() + calls * PASSING_COST;
        self.depth[func.index()] = function.body.depth(MAX_NESTING + 1);
    }
}

/// Whether an operation queries the work-item, or accesses shared memory, other work-items or images. In shaders, most
/// of these operations are only supported in kernels.
pub(super) fn is_of_kernel(op: &Op, module: &Module) -> bool {
    match op {
        Op::WorkItem(_)
        | Op::Atomic { .. }
        | Op::CmpXchg { .. }
        | Op::Barrier(_)
        | Op::MemFence(_)
        | Op::Group { .. }
        | Op::Printf { .. }
        | Op::Clock { .. }
        | Op::Image { .. }
        | Op::ImageWord { .. } => true,
        Op::GlobalAddr(global) => module.globals.get(global.index()).is_none_or(|global| global.space != Space::Constant),
        _ => false,
    }
}

/// Whether machine code can call a function. Machine code cannot call functions with barriers, collective operations,
/// or `printf` formats that are not constant. It also cannot call functions with accesses to images, whose formats are
/// properties of kernel arguments.
fn is_callable(function: &Function) -> bool {
    let mut callable = function.kernel.is_none();
    function.body.walk(&mut |inst| {
        callable &= !matches!(
            inst.op,
            Op::Barrier(_) | Op::Group { .. } | Op::Image { .. } | Op::ImageWord { .. } | Op::Printf { format: None, .. }
        );
    });
    callable
}

/// Whether a function must be inlined in shaders.
fn must_inline(function: &Function, module: &Module) -> bool {
    if function.kernel.is_some() || has_pointer_params(function) || function.returns.iter().any(|ty| matches!(ty, Type::Ptr(_))) {
        return true;
    }
    let mut must = false;
    function.body.walk(&mut |inst| {
        must |= match &inst.op {
            op if is_of_kernel(op, module) => true,
            // These operations return pointers into a known object.
            Op::GlobalAddr(_) | Op::VarAddr(_) | Op::PtrAdd(..) => false,
            _ => inst.results.iter().any(|&result| matches!(function.ty(result), Type::Ptr(_))),
        };
        if let Op::Load { ptr, .. } | Op::Store { ptr, .. } | Op::Zero { dst: ptr, .. } = inst.op {
            must |= !matches!(function.ty(ptr), Type::Ptr(Space::Private | Space::Constant));
        }
    });
    must
}

/// Inlines the calls in `caller` that `policy` selects. Calls in the copied bodies are not inlined.
///
/// # Errors
///
/// Fails with [`PassError::TooLarge`] or [`PassError::TooDeep`].
pub fn run(module: &mut Module, caller: Func, policy: &Policy) -> Result<(), PassError> {
    let Some(slot) = module.functions.get_mut(caller.index()) else { return Ok(()) };
    let mut function = std::mem::replace(slot, Function::new("", Type::Void));
    let result = run_detached(&mut function, module, policy);
    module.functions[caller.index()] = function;
    result
}

/// Like [`run`], for a function that is not in the module.
///
/// # Errors
///
/// See [`run`].
pub fn run_detached(function: &mut Function, module: &Module, policy: &Policy) -> Result<(), PassError> {
    let mut calls = false;
    function.body.walk(&mut |inst| calls |= matches!(inst.op, Op::Call(callee, _) if policy.inline.get(callee.index()) == Some(&true)));
    if !calls {
        return Ok(());
    }
    let mut body = std::mem::take(&mut function.body);
    let size = body.size();
    let mut inliner = Inliner { module, policy, function, size, replaced: Vec::new() };
    let result = inliner.region(&mut body, 1);
    function.body = body;
    result
}

struct Inliner<'a> {
    module: &'a Module,
    policy: &'a Policy,
    function: &'a mut Function,
    /// The current number of instructions of the function.
    size: usize,
    /// The replacement of each inlined call's result, indexed by value.
    replaced: Vec<Option<Value>>,
}

impl Inliner<'_> {
    fn region(&mut self, region: &mut Region, depth: usize) -> Result<(), PassError> {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            inst.op.map_operands(|value| {
                if let Some(Some(new)) = self.replaced.get(value.index()) {
                    *value = *new;
                }
            });
            for nested in inst.op.regions_mut() {
                self.region(nested, depth + 1)?;
            }
            match &inst.op {
                Op::Call(callee, args) if self.policy.inline.get(callee.index()) == Some(&true) => {
                    if self.must_stay(*callee, depth)? {
                        out.push(inst);
                    } else if !self.expand(*callee, args, &inst, &mut out) {
                        break;
                    }
                }
                _ => out.push(inst),
            }
        }
        region.insts = out;
        Ok(())
    }

    /// Whether a call stays because the caller would be too large or nested too deeply. Fails if it cannot stay.
    fn must_stay(&mut self, callee: Func, depth: usize) -> Result<bool, PassError> {
        let size = self.size + self.policy.size[callee.index()];
        let (is_large, is_deep) = (size > MAX_SIZE, depth + self.policy.depth[callee.index()] > MAX_NESTING);
        if (is_large || is_deep) && self.policy.optional.get(callee.index()) == Some(&true) {
            return Ok(true);
        }
        if is_large {
            return Err(PassError::TooLarge { function: self.function.name.clone(), limit: MAX_SIZE });
        }
        if is_deep {
            return Err(PassError::TooDeep { function: self.function.name.clone(), limit: MAX_NESTING });
        }
        self.size = size;
        Ok(false)
    }

    /// Copies the callee's body. Returns false if the callee ends without `return`. The region then already has a
    /// terminator.
    fn expand(&mut self, callee: Func, args: &[Value], call: &Inst, out: &mut Vec<Inst>) -> bool {
        let module = self.module;
        let Some(target) = module.functions.get(callee.index()) else { return true };
        let first_value = crate::ir::number(self.function.values.len());
        let first_var = crate::ir::number(self.function.vars.len());
        self.function.values.extend(target.values.iter().cloned());
        self.function.vars.extend(target.vars.iter().cloned());
        let mut map: Vec<Value> = (0..target.values.len()).map(|index| Value(first_value + crate::ir::number(index))).collect();
        for (param, arg) in target.params.iter().zip(args) {
            map[param.index()] = *arg;
        }
        let copier = Copier { map: &map, first_var, call: call.span };
        for inst in &target.body.insts {
            match &inst.op {
                Op::Return(values) => {
                    for (value, result) in values.iter().zip(&call.results) {
                        if self.replaced.len() <= result.index() {
                            self.replaced.resize(result.index() + 1, None);
                        }
                        self.replaced[result.index()] = Some(map[value.index()]);
                    }
                    return true;
                }
                _ => out.push(copier.inst(inst)),
            }
        }
        false
    }
}

struct Copier<'a> {
    map: &'a [Value],
    first_var: u32,
    call: Span,
}

impl Copier<'_> {
    fn inst(&self, inst: &Inst) -> Inst {
        let mut copy = inst.clone();
        self.rename(&mut copy);
        copy
    }

    fn rename(&self, inst: &mut Inst) {
        // Instructions of the library get the source location of the call.
        if inst.span.is_of_library() {
            inst.span = self.call;
        }
        for result in &mut inst.results {
            *result = self.map[result.index()];
        }
        inst.op.map_operands(|value| *value = self.map[value.index()]);
        match &mut inst.op {
            Op::VarAddr(var) => *var = Var(self.first_var + var.0),
            Op::Loop { params, .. } => params.iter_mut().for_each(|param| *param = self.map[param.index()]),
            _ => {}
        }
        for region in inst.op.regions_mut() {
            region.insts.iter_mut().for_each(|inst| self.rename(inst));
        }
    }
}
