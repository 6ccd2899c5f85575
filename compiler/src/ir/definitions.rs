//! What defines the values of a function: where pointers lead, and byte offsets as sums.

use smallvec::SmallVec;

use super::{BinOp, CastOp, Const, Function, Global, Op, Region, Scalar, Type, Value, Var};

/// How far the sum that a byte offset is made of is looked into.
const MAX_TERMS: usize = 8;
const MAX_DEPTH: usize = 32;

/// What an access starts from, after `passes::resolve_pointers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// A parameter of the kernel.
    Param(u32),
    /// A module-level object.
    Global(Global),
    /// A private variable of the function with that index.
    Var(u32, Var),
}

/// A byte offset as a sum: `constant + sum(value * scale)`, modulo 2^32.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Linear {
    /// What is known.
    pub constant: u32,
    /// Values (of 32 or 64 bits, of which the low 32 count) and their factors.
    pub terms: SmallVec<[(Value, u32); 4]>,
}

/// What defines each value of a function.
#[derive(Debug)]
pub struct Definitions<'f> {
    ops: Vec<Option<&'f Op>>,
    function: u32,
}

impl<'f> Definitions<'f> {
    /// Those of a function, which has that index in its module.
    pub fn new(function: &'f Function, index: u32) -> Self {
        let mut ops = vec![None; function.values.len()];
        collect(&function.body, &mut ops);
        Self { ops, function: index }
    }

    /// The operation without regions that defines a value.
    pub fn get(&self, value: Value) -> Option<&'f Op> {
        self.ops.get(value.index()).copied().flatten()
    }

    /// The bits of a scalar constant.
    pub fn constant(&self, value: Value) -> Option<u64> {
        match self.get(value) {
            Some(Op::Const(Const::Bits(bits))) => Some(*bits),
            _ => None,
        }
    }

    /// Root and byte offset of a pointer.
    pub fn pointer(&self, function: &Function, pointer: Value) -> Option<(Root, Option<Value>)> {
        match self.get(pointer) {
            Some(Op::PtrAdd(base, offset)) => self.root(function, *base).map(|root| (root, Some(*offset))),
            _ => self.root(function, pointer).map(|root| (root, None)),
        }
    }

    fn root(&self, function: &Function, value: Value) -> Option<Root> {
        match self.get(value) {
            Some(Op::VarAddr(var)) => Some(Root::Var(self.function, *var)),
            Some(Op::GlobalAddr(global)) => Some(Root::Global(*global)),
            Some(_) => None,
            None => {
                function.kernel.as_ref()?;
                function.params.iter().position(|&param| param == value).map(|index| Root::Param(index as u32))
            }
        }
    }

    /// A byte offset as a sum: a single term where it is one of too many.
    pub fn linear(&self, function: &Function, offset: Value) -> Linear {
        let mut sum = Linear::default();
        if !self.add(function, offset, 1, &mut sum, 0) {
            sum = Linear::default();
            sum.terms.push((offset, 1));
        }
        sum
    }

    /// Adds `value * scale` to a sum, looking through additions and multiplications by constants. False if there are too many terms.
    fn add(&self, function: &Function, value: Value, scale: u32, sum: &mut Linear, depth: usize) -> bool {
        if let Some(bits) = self.constant(value) {
            sum.constant = sum.constant.wrapping_add((bits as u32).wrapping_mul(scale));
            return true;
        }
        // Sums of narrower integers wrap earlier.
        let wide = matches!(function.ty(value), Type::I32 | Type::I64);
        let op = if wide && depth < MAX_DEPTH { self.get(value) } else { None };
        let mut add = |value: Value, scale: u32| self.add(function, value, scale, sum, depth + 1);
        match op {
            Some(Op::Bin(BinOp::Add, a, b)) => return add(*a, scale) && add(*b, scale),
            Some(Op::Bin(BinOp::Sub, a, b)) if self.constant(*b).is_some() => return add(*a, scale) && add(*b, scale.wrapping_neg()),
            Some(Op::Bin(BinOp::Shl, a, b)) => {
                let width = function.ty(value).scalar().map_or(32, Scalar::bits) as u64;
                if let Some(amount) = self.constant(*b).map(|bits| bits & (width - 1)).filter(|&amount| amount < 32) {
                    return add(*a, scale.wrapping_shl(amount as u32));
                }
            }
            Some(Op::Bin(BinOp::Mul, a, b)) => {
                if let Some(factor) = self.constant(*b) {
                    return add(*a, scale.wrapping_mul(factor as u32));
                }
                if let Some(factor) = self.constant(*a) {
                    return add(*b, scale.wrapping_mul(factor as u32));
                }
            }
            // Only the low 32 bits matter.
            Some(Op::Cast(CastOp::Trunc, a)) if function.ty(*a) == Type::I64 && function.ty(value) == Type::I32 => return add(*a, scale),
            Some(Op::Cast(CastOp::ZExt | CastOp::SExt, a)) if function.ty(*a) == Type::I32 => return add(*a, scale),
            _ => {}
        }
        sum.terms.push((value, scale));
        sum.terms.len() <= MAX_TERMS
    }
}

fn collect<'f>(region: &'f Region, ops: &mut [Option<&'f Op>]) {
    for inst in &region.insts {
        if let [result] = inst.results[..]
            && let Some(slot) = ops.get_mut(result.index())
            && !matches!(inst.op, Op::If { .. } | Op::Loop { .. } | Op::Switch { .. })
        {
            *slot = Some(&inst.op);
        }
        for nested in inst.op.regions() {
            collect(nested, ops);
        }
    }
}
