//! Numbers values in order of their definition and removes unused variables, so that tables do not grow with every
//! pass and inlined copies stay small.
//!
//! Example: after `%9: i32 = const 1; %4: i32 = add %9, %9` the definitions are `%0` and `%1`.

use super::pass::Pass;
use crate::ir::{Function, Inst, Op, Region, Value, ValueData, Var};

pub const PASS: Pass = Pass::function("renumber", |function, _| {
    run(function);
    Ok(true)
});

/// Renumbers the values and variables of a function.
pub fn run(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    let mut vars: Vec<Option<Var>> = vec![None; function.vars.len()];
    let mut kept_vars = Vec::new();
    body.walk(&mut |inst| {
        if let Op::VarAddr(var) = inst.op
            && vars[var.index()].is_none()
        {
            vars[var.index()] = Some(Var(crate::ir::number(kept_vars.len())));
            kept_vars.push(function.vars[var.index()].clone());
        }
    });
    let mut renumber =
        Renumber { old: &function.values, map: vec![None; function.values.len()], new: Vec::with_capacity(function.values.len()), vars };
    let params: Vec<Value> = function.params.iter().map(|&param| renumber.define(param)).collect();
    renumber.region(&mut body);
    let values = renumber.new;
    function.params = params;
    function.values = values;
    function.vars = kept_vars;
    function.body = body;
}

struct Renumber<'a> {
    old: &'a [ValueData],
    map: Vec<Option<Value>>,
    new: Vec<ValueData>,
    vars: Vec<Option<Var>>,
}

impl Renumber<'_> {
    fn define(&mut self, value: Value) -> Value {
        let new = Value(crate::ir::number(self.new.len()));
        self.new.push(self.old[value.index()].clone());
        self.map[value.index()] = Some(new);
        new
    }

    fn region(&mut self, region: &mut Region) {
        for inst in &mut region.insts {
            self.inst(inst);
        }
    }

    fn inst(&mut self, inst: &mut Inst) {
        inst.op.map_operands(|value| *value = self.map[value.index()].unwrap_or(*value));
        if let Op::VarAddr(var) = &mut inst.op {
            *var = self.vars[var.index()].unwrap_or(*var);
        }
        if let Op::Loop { params, .. } = &mut inst.op {
            for param in params {
                *param = self.define(*param);
            }
        }
        for region in inst.op.regions_mut() {
            self.region(region);
        }
        for result in &mut inst.results {
            *result = self.define(*result);
        }
    }
}
