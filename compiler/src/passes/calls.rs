//! Who calls whom.

use rustc_hash::FxHashMap;

use super::PassError;
use crate::internal::internal;
use crate::ir::{self, Func};

/// The numbers of all functions.
pub(crate) fn functions(module: &ir::Module) -> impl DoubleEndedIterator<Item = Func> + use<> {
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
pub(crate) fn call_order(module: &ir::Module, roots: impl Iterator<Item = Func>) -> Result<Vec<Func>, PassError> {
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
///
/// # Errors
/// A call of a function that is not there: a defect of ours.
pub(crate) fn subset(module: &ir::Module, roots: &[Func]) -> Result<ir::Module, PassError> {
    let mut list: Vec<Func> = roots.to_vec();
    let mut functions = Vec::new();
    while let Some(&func) = list.get(functions.len()) {
        let Some(function) = module.functions.get(func.index()) else {
            let caller = functions.last().map_or_else(String::new, |caller: &ir::Function| caller.name.clone());
            return Err(internal!("there is no function {func}").in_pass("subset", &caller));
        };
        for callee in callees(function) {
            if !list.contains(&callee) {
                list.push(callee);
            }
        }
        functions.push(function.clone());
    }
    let numbers: FxHashMap<Func, Func> = list.iter().copied().zip((0..).map(Func)).collect();
    for function in &mut functions {
        function.body.walk_mut(&mut |inst| {
            // Whatever is called is in the list.
            if let ir::Op::Call(callee, _) = &mut inst.op
                && let Some(&number) = numbers.get(callee)
            {
                *callee = number;
            }
        });
    }
    Ok(ir::Module { functions, globals: module.globals.clone() })
}
