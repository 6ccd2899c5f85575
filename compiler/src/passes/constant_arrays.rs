//! Replaces private arrays with constant contents by constants of the program.
//!
//! ```text
//! copy $t, @g0, 1024            =>      %1 = ptr_add @g0, %0
//! %1 = ptr_add $t, %0                   %2 = load.i32 %1
//! %2 = load.i32 %1
//! ```
//! The front end copies a long initialiser from a program-scope constant, the table. The loads can read the table if
//! nothing else is stored to the variable, and if only loads and copies use its address. Then the copy is removed.
//! Loads before the copy return unspecified values, so they can read the table as well.

use super::pass::Pass;
use crate::ir::{Function, Global, GlobalVar, Op, Region, Space, Type, Value, Var};
use rustc_hash::FxHashMap;

pub(crate) const PASS: Pass = Pass::function("constant_arrays", |function, cx| {
    run(function, &cx.module.globals);
    Ok(true)
});

/// The contents of a variable after the instructions up to this point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contents {
    /// Nothing was stored.
    None,
    /// Only copies of this table were stored.
    Table(Global),
    /// Other data was stored, or the address is used by an instruction that is neither a load nor a copy.
    Other,
}

/// Replaces each private variable that contains only a table.
pub(crate) fn run(function: &mut Function, globals: &[GlobalVar]) {
    let mut copies = false;
    function.body.walk(&mut |inst| copies |= matches!(inst.op, Op::Copy { .. }));
    if !copies {
        return;
    }
    let mut contents = vec![Contents::None; function.vars.len()];
    let mut tables: FxHashMap<Value, Global> = FxHashMap::default();
    // For each pointer into a variable: the variable, and whether the pointer is its start.
    let mut pointers: FxHashMap<Value, (Var, bool)> = FxHashMap::default();
    function.body.walk(&mut |inst| {
        let result = inst.results.first().copied();
        match (&inst.op, result) {
            (Op::VarAddr(var), Some(result)) => drop(pointers.insert(result, (*var, true))),
            (Op::GlobalAddr(global), Some(result)) => {
                if globals.get(global.index()).is_some_and(is_constant_data) {
                    tables.insert(result, *global);
                }
            }
            (Op::PtrAdd(base, _), Some(result)) => {
                if let Some(&(var, _)) = pointers.get(base) {
                    pointers.insert(result, (var, false));
                }
            }
            (Op::Load { volatile: false, .. }, _) => {}
            (&Op::Copy { dst, src, size, .. }, _) => {
                if let Some(&(var, start)) = pointers.get(&dst) {
                    let whole = start && function.vars.get(var.index()).is_some_and(|var| var.size == size);
                    let table = tables.get(&src).copied().filter(|_| whole);
                    if let Some(known) = contents.get_mut(var.index()) {
                        *known = match (*known, table) {
                            (Contents::None, Some(table)) => Contents::Table(table),
                            (Contents::Table(old), Some(table)) if old == table => Contents::Table(table),
                            _ => Contents::Other,
                        };
                    }
                }
            }
            (op, _) => op.for_each_operand(|operand| {
                if let Some((var, _)) = pointers.get(&operand)
                    && let Some(known) = contents.get_mut(var.index())
                {
                    *known = Contents::Other;
                }
            }),
        }
    });
    let table_of = |var: Var| match contents.get(var.index()) {
        Some(Contents::Table(table)) => Some(*table),
        _ => None,
    };
    if !pointers.values().any(|(var, _)| table_of(*var).is_some()) {
        return;
    }
    for (&pointer, &(var, _)) in &pointers {
        if table_of(var).is_some()
            && let Some(data) = function.values.get_mut(pointer.index())
        {
            data.ty = Type::Ptr(Space::Constant);
        }
    }
    let replaced = |pointer: Value| pointers.get(&pointer).is_some_and(|&(var, _)| table_of(var).is_some());
    rewrite(&mut function.body, &replaced, &table_of);
}

fn rewrite(region: &mut Region, replaced: &impl Fn(Value) -> bool, table_of: &impl Fn(Var) -> Option<Global>) {
    region.insts.retain(|inst| !matches!(inst.op, Op::Copy { dst, .. } if replaced(dst)));
    for inst in &mut region.insts {
        if let Op::VarAddr(var) = inst.op
            && let Some(table) = table_of(var)
        {
            inst.op = Op::GlobalAddr(table);
        }
        for nested in inst.op.regions_mut() {
            rewrite(nested, replaced, table_of);
        }
    }
}

/// Whether the contents of a global are known when the program is built: constant data without addresses.
pub(super) fn is_constant_data(global: &GlobalVar) -> bool {
    global.space == Space::Constant && global.init.is_some() && global.relocs.is_empty()
}
