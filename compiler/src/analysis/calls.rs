//! The order of functions by their calls.
//!
//! Example: if `@f0` calls `@f1` and `@f2`, and `@f1` calls `@f2`, callees-first order is `@f2`, `@f1`, `@f0`.

use crate::ir::{Func, Function, Module, Op, Region};

/// The reason why functions have no call order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    /// A function calls itself, directly or indirectly. The named function contains the last call of the cycle.
    #[error("function {0} is recursive")]
    Recursive(Func),
    /// A callee or root does not exist in the module.
    #[error("call of undefined function {0}")]
    Missing(Func),
}

/// The callees of a function, each once, in the order of their first calls.
pub(crate) fn callees(function: &Function) -> Vec<Func> {
    let mut list = Vec::new();
    function.body.walk(&mut |inst| {
        if let Op::Call(callee, _) = inst.op
            && !list.contains(&callee)
        {
            list.push(callee);
        }
    });
    list
}

/// Returns `roots` and all functions that they call, each once and after its own callees.
///
/// # Errors
///
/// Fails if a function is recursive, or if a root or callee does not exist.
pub(crate) fn callees_first(module: &Module, roots: impl IntoIterator<Item = Func>) -> Result<Vec<Func>, CallError> {
    #[derive(Clone, Copy)]
    enum State {
        New,
        /// Its callees are being visited.
        Open,
        Done,
    }
    let mut states = vec![State::New; module.functions.len()];
    let mut order = Vec::new();
    for root in roots {
        // Use an explicit stack, because call chains may be long. An entry has a function, its callees, and the index
        // of the next callee.
        let mut stack: Vec<(Func, Vec<Func>, usize)> = Vec::new();
        let mut entered = Some(root);
        loop {
            if let Some(func) = entered.take() {
                let function = module.functions.get(func.index()).ok_or(CallError::Missing(func))?;
                match states[func.index()] {
                    State::New => {
                        states[func.index()] = State::Open;
                        stack.push((func, callees(function), 0));
                    }
                    State::Open => return Err(CallError::Recursive(stack.last().map_or(func, |caller| caller.0))),
                    State::Done => {}
                }
            }
            let Some((func, callees, next)) = stack.last_mut() else { break };
            if let Some(&callee) = callees.get(*next) {
                *next += 1;
                entered = Some(callee);
            } else {
                states[func.index()] = State::Done;
                order.push(*func);
                stack.pop();
            }
        }
    }
    Ok(order)
}

/// The number of instructions of a module's first function after inlining every call. Callees must have larger numbers
/// than their callers.
pub(crate) fn expanded_size(module: &Module) -> u64 {
    let mut sizes = vec![0_u64; module.functions.len()];
    for (index, function) in module.functions.iter().enumerate().rev() {
        let mut size = 0_u64;
        function.body.walk(&mut |inst| {
            let callee = if let Op::Call(callee, _) = inst.op { sizes.get(callee.index()).copied().unwrap_or(0) } else { 0 };
            size = size.saturating_add(1).saturating_add(callee);
        });
        sizes[index] = size;
    }
    sizes.first().copied().unwrap_or(0)
}

/// The number of instructions of a function and of all functions that it calls, each counted once. 0 if the functions
/// have no call order.
pub fn reached_instructions(module: &Module, func: Func) -> usize {
    let reached = callees_first(module, [func]).unwrap_or_default();
    let count = |func: Func| {
        let mut count = 0;
        if let Some(function) = module.functions.get(func.index()) {
            function.body.walk(&mut |_| count += 1);
        }
        count
    };
    reached.into_iter().map(count).sum()
}

/// The nesting depth of the regions of function 0 after inlining every call. A body without nested regions has depth 1.
/// Returns 0 if the functions have no call order.
pub(crate) fn depth_with_calls(module: &Module) -> usize {
    let order = callees_first(module, [Func(0)]).unwrap_or_default();
    let mut depths = vec![0; module.functions.len()];
    for func in order {
        depths[func.index()] = inlined_depth(&module.functions[func.index()].body, &depths);
    }
    depths.first().copied().unwrap_or(0)
}

/// The nesting depth of a region after inlining. `depths` contains the depths of the functions that the region calls,
/// by function number.
fn inlined_depth(region: &Region, depths: &[usize]) -> usize {
    let mut deepest = 0;
    for inst in &region.insts {
        if let Op::Call(callee, _) = inst.op {
            // The body of an inlined function does not add a level, so the depth of the callee counts without this
            // level.
            deepest = deepest.max(depths.get(callee.index()).map_or(0, |depth| depth.saturating_sub(1)));
        }
        for nested in inst.op.regions() {
            deepest = deepest.max(inlined_depth(nested, depths));
        }
    }
    1 + deepest
}

#[cfg(test)]
mod tests {
    use super::{CallError, callees_first, depth_with_calls};
    use crate::ir::{Func, Function, Inst, Module, Op, Region, Type};

    /// A module in which function N calls the functions `calls[N]`.
    fn module(calls: &[&[u32]]) -> Module {
        let functions = calls
            .iter()
            .map(|calls| {
                let insts = calls.iter().map(|&callee| Inst::effect(Op::Call(Func(callee), Vec::new()), crate::diag::Span::NONE));
                Function { body: Region { insts: insts.collect() }, ..Function::new("f", Type::Void) }
            })
            .collect();
        Module { functions, globals: Vec::new() }
    }

    fn order(calls: &[&[u32]], root: u32) -> Result<Vec<u32>, CallError> {
        callees_first(&module(calls), [Func(root)]).map(|order| order.iter().map(|func| func.0).collect())
    }

    #[test]
    fn callees_come_before_their_callers() {
        assert_eq!(order(&[&[2, 1, 2], &[3], &[3], &[], &[0]], 0), Ok(vec![3, 2, 1, 0]));
        assert_eq!(order(&[&[2, 1, 2], &[3], &[3], &[], &[0]], 3), Ok(vec![3]));
    }

    #[test]
    fn depth_includes_calls() {
        assert_eq!(depth_with_calls(&module(&[&[]])), 1);
        assert_eq!(depth_with_calls(&module(&[&[1], &[]])), 1);
        let mut nested = module(&[&[1], &[]]);
        for _ in 0..3 {
            for function in &mut nested.functions {
                let inner = std::mem::take(&mut function.body);
                let op = Op::Loop { init: Vec::new(), params: Vec::new(), body: inner, unroll: None };
                function.body = Region { insts: vec![Inst::effect(op, crate::diag::Span::NONE)] };
            }
        }
        assert_eq!(depth_with_calls(&nested), 7);
    }

    #[test]
    fn recursion_and_undefined_functions_are_errors() {
        assert_eq!(order(&[&[1], &[2], &[1]], 0), Err(CallError::Recursive(Func(2))));
        assert_eq!(order(&[&[0]], 0), Err(CallError::Recursive(Func(0))));
        assert_eq!(order(&[&[7]], 0), Err(CallError::Missing(Func(7))));
    }
}
