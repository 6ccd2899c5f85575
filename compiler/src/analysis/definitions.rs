//! Definitions, constants and uses of values.
//!
//! [`Definitions`] borrows the operations of a function. [`Constants`] only contains constants, and a pass may use it
//! while it rewrites the function. Both represent a constant by [`Const::bits`](crate::ir::Const::bits). Example: the
//! linear form of `add (shl %i, 2), 8` is `8 + %i * 4`.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ir::{BinOp, CastOp, Const, Function, Global, Op, Region, Scalar, Type, Value, Var};

/// Limit for the terms of a linear form.
const MAX_TERMS: usize = 8;
/// Limit for the nesting of operations in a linear form.
const MAX_DEPTH: usize = 32;

/// The base object of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Root {
    /// A parameter of the kernel.
    Param(u32),
    /// A module-level object.
    Global(Global),
    /// A private variable of the function with this index.
    Var(u32, Var),
    /// Memory at a device address, given by the value.
    Address(Value),
}

/// A byte offset as a sum: `constant + sum(value * scale)`, modulo 2^32.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Linear {
    /// The constant part.
    pub constant: u32,
    /// Values (of 32 bits, or the low 32 of 64 bits) and their factors.
    pub terms: SmallVec<[(Value, u32); 4]>,
}

/// The base pointer and the byte offset of each `ptr_add`, for passes that rewrite the body at the same time.
pub(crate) fn offsets(body: &Region) -> FxHashMap<Value, (Value, Value)> {
    let mut offsets = FxHashMap::default();
    body.walk(&mut |inst| {
        if let (Op::PtrAdd(base, offset), Some(&result)) = (&inst.op, inst.results.first()) {
            offsets.insert(result, (*base, *offset));
        }
    });
    offsets
}

/// The definition of each value of a function.
#[derive(Clone, Debug)]
pub(crate) struct Definitions<'f> {
    function: &'f Function,
    ops: Vec<Option<&'f Op>>,
    index: u32,
}

impl<'f> Definitions<'f> {
    /// The definitions in a function with this index in its module.
    pub(crate) fn new(function: &'f Function, index: u32) -> Self {
        Self::of_body(function, &function.body, index)
    }

    /// The definitions in a function. The function index in [`Root::Var`] is 0, for callers that do not use this index.
    pub(crate) fn of(function: &'f Function) -> Self {
        Self::new(function, 0)
    }

    /// The definitions in a body that is currently not in its function.
    pub(crate) fn of_body(function: &'f Function, body: &'f Region, index: u32) -> Self {
        let mut ops = vec![None; function.values.len()];
        collect(body, &mut ops);
        Self { function, ops, index }
    }

    /// The operation without regions that defines a value. `None` for parameters of functions and loops, for the
    /// results of `if`, `switch` and `loop`, and for instructions with several results.
    pub(crate) fn get(&self, value: Value) -> Option<&'f Op> {
        self.ops.get(value.index()).copied().flatten()
    }

    /// The bits of a scalar constant, or of a lane of a vector constant with equal lanes. `None` for other values.
    pub(crate) fn bits(&self, value: Value) -> Option<u64> {
        match self.get(value) {
            Some(Op::Const(constant)) => constant.bits(),
            _ => None,
        }
    }

    /// The bits of a scalar constant; `None` for other values.
    pub(crate) fn scalar(&self, value: Value) -> Option<u64> {
        match self.get(value) {
            Some(Op::Const(Const::Bits(bits))) => Some(*bits),
            _ => None,
        }
    }

    /// Root and byte offset of a pointer in the form that `passes::resolve_pointers` produces: a root, or one `ptr_add`
    /// of a root. The offset of a root is `None`. Returns `None` for other pointers.
    pub(crate) fn pointer(&self, pointer: Value) -> Option<(Root, Option<Value>)> {
        match self.get(pointer) {
            Some(Op::PtrAdd(base, offset)) => self.root(*base).map(|root| (root, Some(*offset))),
            _ => self.root(pointer).map(|root| (root, None)),
        }
    }

    fn root(&self, value: Value) -> Option<Root> {
        match self.get(value) {
            Some(Op::VarAddr(var)) => Some(Root::Var(self.index, *var)),
            Some(Op::GlobalAddr(global)) => Some(Root::Global(*global)),
            Some(Op::ParamAddr(index)) => Some(Root::Param(*index)),
            Some(Op::Cast(CastOp::IntToPtr, address)) => Some(Root::Address(*address)),
            Some(_) => None,
            None => {
                self.function.kernel.as_ref()?;
                self.function.params.iter().position(|&param| param == value).map(|index| Root::Param(index as u32))
            }
        }
    }

    /// The linear form of a byte offset. If it would have more than [`MAX_TERMS`] terms, `offset` is the only term.
    pub(crate) fn linear(&self, offset: Value) -> Linear {
        let mut sum = Linear::default();
        if !self.add(offset, 1, &mut sum, 0) {
            sum = Linear::default();
            sum.terms.push((offset, 1));
        }
        sum
    }

    /// Adds `value * scale` to a sum. Looks through sums, subtractions of constants, products with constants, left
    /// shifts by constants, and conversions between 32 and 64 bits. Returns false if there are too many terms.
    fn add(&self, value: Value, scale: u32, sum: &mut Linear, depth: usize) -> bool {
        if let Some(bits) = self.scalar(value) {
            sum.constant = sum.constant.wrapping_add((bits as u32).wrapping_mul(scale));
            return true;
        }
        // Sums of integers with fewer than 32 bits wrap at their own width, so they are not linear modulo 2^32.
        let wide = matches!(self.function.ty(value), Type::I32 | Type::I64);
        let op = if wide && depth < MAX_DEPTH { self.get(value) } else { None };
        let mut add = |value: Value, scale: u32| self.add(value, scale, sum, depth + 1);
        match op {
            Some(Op::Bin(BinOp::Add, a, b)) => return add(*a, scale) && add(*b, scale),
            Some(Op::Bin(BinOp::Sub, a, b)) if self.scalar(*b).is_some() => return add(*a, scale) && add(*b, scale.wrapping_neg()),
            Some(Op::Bin(BinOp::Shl, a, b)) => {
                let width = self.function.ty(value).scalar().map_or(32, Scalar::bits) as u64;
                if let Some(amount) = self.scalar(*b).map(|bits| bits & (width - 1)).filter(|&amount| amount < 32) {
                    return add(*a, scale.wrapping_shl(amount as u32));
                }
            }
            Some(Op::Bin(BinOp::Mul, a, b)) => {
                if let Some(factor) = self.scalar(*b) {
                    return add(*a, scale.wrapping_mul(factor as u32));
                }
                if let Some(factor) = self.scalar(*a) {
                    return add(*b, scale.wrapping_mul(factor as u32));
                }
            }
            // A linear form is a sum modulo 2^32, so only the low 32 bits of `a` matter.
            Some(Op::Cast(CastOp::Trunc, a)) if self.function.ty(*a) == Type::I64 && self.function.ty(value) == Type::I32 => {
                return add(*a, scale);
            }
            Some(Op::Cast(CastOp::ZExt | CastOp::SExt, a)) if self.function.ty(*a) == Type::I32 => return add(*a, scale),
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

/// The bits of the scalar constants of a function, and of the lanes of vector constants with equal lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constants(FxHashMap<Value, u64>);

impl Constants {
    /// The constants in a body.
    pub(crate) fn of(body: &Region) -> Self {
        let mut constants = Self::default();
        body.walk(&mut |inst| {
            if let (Op::Const(constant), &[result]) = (&inst.op, inst.results.as_slice())
                && let Some(bits) = constant.bits()
            {
                constants.add(result, bits);
            }
        });
        constants
    }

    /// The bits of a constant; `None` for other values, and for vectors with different lanes.
    pub(crate) fn bits(&self, value: Value) -> Option<u64> {
        self.0.get(&value).copied()
    }

    /// Records a constant that a pass has created.
    pub(crate) fn add(&mut self, value: Value, bits: u64) {
        self.0.insert(value, bits);
    }
}

/// Number of uses of each value of a function.
#[derive(Clone, Debug)]
pub(crate) struct Uses(Vec<u32>);

impl Uses {
    /// Counts the operands of all instructions.
    pub(crate) fn of(function: &Function) -> Self {
        let mut uses = vec![0_u32; function.values.len()];
        function.body.walk(&mut |inst| inst.op.for_each_operand(|value| uses[value.index()] += 1));
        Self(uses)
    }

    /// Number of uses of a value.
    pub(crate) fn count(&self, value: Value) -> u32 {
        self.0.get(value.index()).copied().unwrap_or(0)
    }
}
