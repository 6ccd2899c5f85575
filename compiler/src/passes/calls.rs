//! The call graph: functions in call order, and copies of parts of a module.

use rustc_hash::FxHashMap;

use super::PassError;
use crate::analysis::calls::{CallError, callees, callees_first};
use crate::internal::internal;
use crate::ir::{self, Func};

/// Returns the numbers of all functions.
pub(crate) fn functions(module: &ir::Module) -> impl DoubleEndedIterator<Item = Func> + use<> {
    (0..crate::ir::number(module.functions.len())).map(Func)
}

/// Returns the functions in `roots` and their callees, each function after all of its callees.
pub(crate) fn call_order(module: &ir::Module, roots: impl Iterator<Item = Func>) -> Result<Vec<Func>, PassError> {
    callees_first(module, roots).map_err(|error| match error {
        CallError::Recursive(func) => PassError::Recursive { function: module.functions[func.index()].name.clone() },
        CallError::Missing(_) => internal!("{error}").in_pass("build", ""),
    })
}

/// Copies some functions of a module, all functions that they call, and all globals. `roots` come first.
///
/// # Errors
///
/// Fails if a called function does not exist, which is a defect of the compiler.
pub(crate) fn subset(module: &ir::Module, roots: &[Func]) -> Result<ir::Module, PassError> {
    let mut list: Vec<Func> = roots.to_vec();
    let mut functions = Vec::new();
    while let Some(&func) = list.get(functions.len()) {
        let Some(function) = module.functions.get(func.index()) else {
            let caller = functions.last().map_or_else(String::new, |caller: &ir::Function| caller.name.clone());
            return Err(internal!("function {func} does not exist").in_pass("subset", &caller));
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
            // The list contains every callee, so every call gets a new number.
            if let ir::Op::Call(callee, _) = &mut inst.op
                && let Some(&number) = numbers.get(callee)
            {
                *callee = number;
            }
        });
    }
    Ok(ir::Module { functions, globals: module.globals.clone() })
}
