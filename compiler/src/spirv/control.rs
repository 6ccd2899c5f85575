//! The control flow of a function: the graph of its blocks, their contents, and the values of `OpPhi`s.

use rspirv::spirv::Op as Opcode;
use rustc_hash::{FxHashMap, FxHashSet};

use super::errors::{Checked, ErrorKind, Shown, invalid};
use super::function::{Lowering, Val};
use super::module::FunctionDef;
use super::words::{Id, Inst};
use crate::ir::{BinOp, CmpOp, Op, Scalar, Type, Value, Var};
use crate::lower::builder::Builder;
use crate::lower::regions::Blocks;
use crate::structurize::TooDeep;
use crate::structurize::graph::{Edge, End, Graph, Node};

pub(super) fn too_deep(error: TooDeep) -> ErrorKind {
    ErrorKind::Unsupported(error.to_string())
}

/// The case values of each switch, grouped by target. The default target is not listed.
pub(super) type CaseValues = FxHashMap<Node, Vec<Vec<u64>>>;

/// Creates the graph of a function's blocks, with the case values of its switches.
pub(super) fn graph(def: &FunctionDef<'_>, selector_scalar: impl Fn(Id) -> Checked<Scalar>) -> Checked<(Graph, CaseValues)> {
    let numbers: FxHashMap<Id, Node> = def.blocks.iter().enumerate().map(|(number, block)| (block.label, number)).collect();
    let edge = |id: Id| numbers.get(&id).map(|&to| Edge::new(to)).ok_or_else(|| invalid!("{id} is not a block of the function"));
    let mut case_values = CaseValues::default();
    let mut ends = Vec::with_capacity(def.blocks.len());
    for (node, block) in def.blocks.iter().enumerate() {
        let inst = &block.end;
        ends.push(match inst.op {
            Opcode::Branch => End::Goto(edge(inst.operand(0)?)?),
            Opcode::BranchConditional => {
                let (then, els) = (edge(inst.operand(1)?)?, edge(inst.operand(2)?)?);
                if then == els { End::Goto(then) } else { End::Branch { then, els } }
            }
            Opcode::Switch => {
                let (edges, values) = switch(inst, &edge, selector_scalar(inst.operand(0)?)?)?;
                if let [default] = edges[..] {
                    End::Goto(default)
                } else {
                    case_values.insert(node, values);
                    End::Switch(edges)
                }
            }
            _ => End::Leave,
        });
    }
    Ok((Graph::new(ends).map_err(too_deep)?, case_values))
}

/// Returns the targets of a switch, and the case values grouped by target. Cases of the default target are dropped.
fn switch(inst: &Inst<'_>, edge: &impl Fn(Id) -> Checked<Edge>, scalar: Scalar) -> Checked<(Vec<Edge>, Vec<Vec<u64>>)> {
    let default = edge(inst.operand(1)?)?;
    let wide = scalar.bits() == 64;
    let mut edges = Vec::new();
    let mut all: Vec<Vec<u64>> = Vec::new();
    let mut places: FxHashMap<Edge, usize> = FxHashMap::default();
    let mut seen = FxHashSet::default();
    for parts in inst.operands.get(2..).unwrap_or_default().chunks(if wide { 3 } else { 2 }) {
        let (value, label) = match *parts {
            [low, high, label] if wide => (u64::from(high) << 32 | u64::from(low), label),
            [low, label] if !wide => (u64::from(low) & scalar.mask(), label),
            _ => return Err(invalid!("the last case has no target")),
        };
        let to = edge(Id(label))?;
        if !seen.insert(value) {
            return Err(invalid!("case {value} is listed twice"));
        }
        if to == default {
            continue;
        }
        let index = *places.entry(to).or_insert_with(|| {
            edges.push(to);
            all.push(Vec::new());
            all.len() - 1
        });
        all[index].push(value);
    }
    edges.push(default);
    Ok((edges, all))
}

impl Blocks for Lowering<'_, '_, '_> {
    type Error = ErrorKind;

    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }

    fn block(&mut self, block: Node) -> Checked<()> {
        let Some(block) = self.def.blocks.get(block) else { return Ok(()) };
        for inst in block.insts.iter().filter(|inst| inst.op == Opcode::Phi) {
            self.current = *inst;
            self.phi_value()?;
        }
        for inst in block.insts.iter().filter(|inst| inst.op != Opcode::Phi) {
            self.current = *inst;
            self.b.span = self.module.locations.span(inst);
            self.instruction()?;
        }
        self.current = block.end;
        self.b.span = self.module.locations.span(&block.end);
        match block.end.op {
            Opcode::Branch | Opcode::BranchConditional | Opcode::Switch => {}
            Opcode::Return => self.return_(None)?,
            Opcode::ReturnValue => self.return_(Some(block.end.operand(0)?))?,
            _ => self.b.effect(Op::Unreachable),
        }
        Ok(())
    }

    /// Assigns the values of a jump to the phis of its target. All values are read before the first phi is written.
    fn assign_phis(&mut self, from: Node, into: Node) -> Checked<()> {
        let label = self.def.blocks[from].label;
        let mut pending = Vec::new();
        for inst in self.def.blocks[into].insts.iter().filter(|inst| inst.op == Opcode::Phi) {
            self.current = *inst;
            let pair = inst.operands.chunks(2).find(|pair| pair.get(1) == Some(&label.0));
            let &value = pair.and_then(|pair| pair.first()).ok_or_else(|| invalid!("OpPhi has no value for predecessor {label}"))?;
            let undefined = matches!(self.module.constants.get(Id(value)), Some((_, super::constants::Constant::Undef)));
            if !undefined {
                pending.push((*inst, self.get(Id(value))?));
            }
        }
        for (inst, val) in pending {
            self.current = inst;
            let (id, ty) = (inst.result()?, inst.ty()?);
            let var = self.phi_var(id, ty)?;
            let address = self.b.var_addr(var);
            let align = self.module.types.align(ty)?;
            let val = match (val, self.module.types.ir(ty)?) {
                (Val::One(value), want @ Type::Ptr(_)) if matches!(self.b.ty(value), Type::Ptr(_)) => {
                    Val::One(self.b.cast(crate::ir::CastOp::SpaceCast, value, want))
                }
                (val, _) => val,
            };
            self.store_val(address, ty, val, align, false)?;
        }
        self.current = self.def.blocks[from].end;
        Ok(())
    }

    fn condition(&mut self, block: Node) -> Checked<Value> {
        let id = self.def.blocks[block].end.operand(0)?;
        let cond = self.value(id)?;
        if self.b.ty(cond) == Type::BOOL { Ok(cond) } else { Err(invalid!("{id} is not a Boolean scalar")) }
    }

    fn selector(&mut self, block: Node) -> Checked<(Value, Vec<Vec<u64>>)> {
        let id = self.def.blocks[block].end.operand(0)?;
        let selector = self.value(id)?;
        let cases = self.case_values.remove(&block).unwrap_or_default();
        Ok(self.select_case(selector, cases))
    }

    fn unroll(&self, header: Node) -> Option<u32> {
        self.def.blocks[header].unroll
    }
}

impl Lowering<'_, '_, '_> {
    /// Converts a switch to a 32-bit selector and its case values. A 64-bit selector is replaced by the index of the
    /// matching case, or by -1.
    fn select_case(&mut self, selector: Value, cases: Vec<Vec<u64>>) -> (Value, Vec<Vec<u64>>) {
        let scalar = self.b.ty(selector).scalar().unwrap_or(Scalar::I32);
        if scalar.bits() <= 32 {
            return (self.b.resize(selector, false, Type::I32), cases);
        }
        let mut number = self.b.i32(-1);
        for (index, values) in (0_u32..).zip(&cases) {
            for value in values {
                let want = self.b.bits(Type::Scalar(scalar), *value);
                let is = self.b.cmp(CmpOp::Eq, selector, want);
                let index = self.b.bits(Type::I32, u64::from(index));
                number = self.b.select(is, index, number);
            }
        }
        (number, (0..cases.len() as u64).map(|number| vec![number]).collect())
    }

    fn return_(&mut self, id: Option<Id>) -> Checked<()> {
        let want = self.b.function.returned();
        let values = match (id, self.result) {
            (None, None) if want == Type::Void => Vec::new(),
            (Some(id), Some(address)) => {
                let (val, ty) = (self.get(id)?, self.def.inst.ty()?);
                let align = self.module.types.align(ty)?;
                self.store_val(address, ty, val, align, false)?;
                Vec::new()
            }
            (Some(id), None) => {
                let value = self.value(id)?;
                let value = match (self.b.ty(value), want) {
                    (Type::Ptr(have), Type::Ptr(space)) if have != space => self.b.cast(crate::ir::CastOp::SpaceCast, value, want),
                    _ => value,
                };
                if self.b.ty(value) != want {
                    let (have, want) = (Shown(self.b.ty(value)), Shown(want));
                    return Err(invalid!("return type mismatch: the value has type {have}, expected {want}"));
                }
                vec![value]
            }
            _ => return Err(invalid!("return type mismatch: OpReturn in a function that returns a value")),
        };
        self.b.effect(Op::Return(values));
        Ok(())
    }

    fn phi_var(&mut self, id: Id, ty: Id) -> Checked<Var> {
        if let Some(&var) = self.phis.get(&id) {
            return Ok(var);
        }
        let (size, align) = (self.module.types.size(ty)?, self.module.types.align(ty)?);
        let var = self.b.temporary(size.max(1), align);
        self.phis.insert(id, var);
        Ok(var)
    }

    fn phi_value(&mut self) -> Checked<()> {
        let (id, ty) = (self.current.result()?, self.current.ty()?);
        let var = self.phi_var(id, ty)?;
        let address = self.b.var_addr(var);
        let align = self.module.types.align(ty)?;
        let val = self.load_val(address, ty, align, false)?;
        self.define(val)
    }

    /// Returns `to + what` if `condition` is true, else `to`. Remainders with the sign of the divisor use this.
    pub(super) fn add_if(&mut self, condition: Value, to: Value, what: Value) -> Value {
        let sum = self.b.bin(BinOp::Add, to, what);
        self.b.select(condition, sum, to)
    }
}
