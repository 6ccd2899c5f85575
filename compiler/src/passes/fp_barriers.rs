//! Prevents drivers from algebraic simplification of float arithmetic, for target languages that cannot forbid it
//! ([`Shaders::exact`](crate::target::Shaders::exact)).
//!
//! Such a compiler assumes real numbers: it contracts, reorders and distributes, folds `x - x` and `x * 0` to 0, and
//! ignores the sign of zeros, infinities and NaN. All of this needs two visible operations, or a constant. The pass
//! therefore hides operands that are the result of another operation or a significant constant. It combines their
//! bits with a zero that is read from the argument buffer and is unknown before the launch.
//!
//! ```text
//!                              %5 = workitem.work_dim; %6 = lshr %5, 16
//! %2 = fadd %0, %1             %2 = fadd %0, %1
//! %3 = fsub %2, %0             %7 = bitcast %2 : i32; %8 = xor %7, %6; %9 = bitcast %8 : f32
//!                              %3 = fsub %9, %0
//! ```
//! If both operands are equal (`x - x`, `x / x`, `x == x`), the second one is hidden by another such zero. Sign
//! changes become bit operations, and minimum and maximum become selects.
//!
//! The results of comparisons are hidden as well. Otherwise compilers combine them as if there were no NaN: the
//! complement of `a < b` to `a >= b`, `a < b || a > b` to `a != b`, `a < b && a < c` to `a < min(b, c)`.
//!
//! Constants without a portable literal are also created from bits: WGSL has neither infinities nor NaN, and Tint
//! reads -0 as 0. Loads from buffers without stores are not hidden. `a * b + c` that may be contracted
//! ([`MathOp::FMulAdd`]) stays visible. Operands that are halves are not hidden, because some drivers compute in
//! `float` and round each result.

use rustc_hash::{FxHashMap, FxHashSet};

use super::pass::Pass;
use crate::diag::Span;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Const, Cursor, Function, Inst, MathOp, Op, Region, Scalar, Type, UnOp, Value, WorkItem};

pub(crate) const PASS: Pass = Pass::function("fp_barriers", |function, _| Ok(run(function)));

/// Shifts that convert a number of dimensions, 1 to 3, to zero.
const SHIFTS: [u64; 2] = [16, 17];

/// Selects one of the two zeros.
type Zero = usize;

/// Hides the operands of a function's float arithmetic; returns whether there is any.
fn run(function: &mut Function) -> bool {
    let mut body = std::mem::take(&mut function.body);
    let mut concerned = false;
    body.walk(&mut |inst| concerned |= is_concerned(function, inst) || is_unsaid(function, inst));
    if concerned {
        let plain = plain_loads(function, &body);
        let mut start = Vec::new();
        let span = body.insts.first().map_or_else(Span::default, |inst| inst.span);
        let zeros = zeros(&mut Cursor::new(function, &mut start, span));
        let clean = vec![false; function.values.len()];
        let mut opaque =
            Opaque { function, out: Vec::new(), span, zeros, clean, plain, constants: FxHashMap::default(), hidden: FxHashMap::default() };
        opaque.start();
        opaque.region(&mut body);
        start.append(&mut body.insts);
        body.insts = start;
    }
    function.body = body;
    concerned
}

/// Two zeros that are computed differently.
fn zeros(at: &mut Cursor<'_>) -> [Value; 2] {
    let dimensions = at.push(Type::I32, Op::WorkItem(WorkItem::WorkDim));
    SHIFTS.map(|shift| at.bin_bits(BinOp::LShr, dimensions, shift))
}

/// Whether an instruction has float operands to hide, or is rewritten.
fn is_concerned(function: &Function, inst: &Inst) -> bool {
    let operand = match &inst.op {
        Op::Cmp(op, ..) => return is_float_comparison(*op),
        Op::Un(UnOp::FNeg, a) => *a,
        Op::Bin(BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv | BinOp::FMin | BinOp::FMax, a, _) => *a,
        Op::Cast(CastOp::FToF | CastOp::FToS | CastOp::FToU, a) => *a,
        Op::Math(op, args) if takes_floats(*op) => match args.first() {
            Some(&a) => a,
            None => return false,
        },
        _ => return false,
    };
    is_wide(function.ty(operand))
}

const fn is_float_comparison(op: CmpOp) -> bool {
    matches!(op, CmpOp::FEq | CmpOp::FNe | CmpOp::FLt | CmpOp::FLe | CmpOp::FGt | CmpOp::FGe)
}

/// Whether an instruction is a constant with infinities, NaN, -0, or numbers near zero or infinity, for which
/// languages or their compilers have no literal.
fn is_unsaid(function: &Function, inst: &Inst) -> bool {
    let (Op::Const(constant), [result]) = (&inst.op, &inst.results[..]) else { return false };
    let ty = function.ty(*result);
    let (sign, least, most) = match ty.scalar() {
        Some(Scalar::F32) => (1 << 31, 0x0080_0000, 0x7f7f_ffff),
        Some(Scalar::F64) => (1 << 63, 0x0010_0000_0000_0000, 0x7fef_ffff_ffff_ffff),
        _ => return false,
    };
    let is_said = |bits: &u64| *bits == 0 || (least..most).contains(&(bits & !sign));
    match constant {
        Const::Bits(bits) => !is_said(bits),
        Const::Lanes(lanes) => !lanes.iter().all(is_said),
        Const::Null | Const::Undef => false,
    }
}

/// Whether operations of this type are hidden.
fn is_wide(ty: Type) -> bool {
    matches!(ty.scalar(), Some(Scalar::F32 | Scalar::F64))
}

/// Functions with accuracy requirements.
const fn takes_floats(op: MathOp) -> bool {
    matches!(
        op,
        MathOp::FAbs
            | MathOp::Floor
            | MathOp::Ceil
            | MathOp::FTrunc
            | MathOp::Rint
            | MathOp::Sqrt
            | MathOp::RSqrt
            | MathOp::Fma
            | MathOp::FMulAdd
            | MathOp::NativeRecip
            | MathOp::NativeDivide
    )
}

/// Results of loads from parameters that the kernel does not store to.
fn plain_loads(function: &Function, body: &Region) -> FxHashSet<Value> {
    let mut bases: FxHashMap<Value, Value> = function.params.iter().map(|&param| (param, param)).collect();
    let mut stored = FxHashSet::default();
    let mut loads = Vec::new();
    body.walk(&mut |inst| match &inst.op {
        Op::PtrAdd(ptr, _) => {
            if let (Some(&base), [result]) = (bases.get(ptr), &inst.results[..]) {
                bases.insert(*result, base);
            }
        }
        Op::Load { ptr, .. } => loads.extend(inst.results.iter().map(|&result| (result, *ptr))),
        Op::Store { ptr, .. }
        | Op::Copy { dst: ptr, .. }
        | Op::Zero { dst: ptr, .. }
        | Op::Atomic { ptr, .. }
        | Op::CmpXchg { ptr, .. } => {
            stored.extend(bases.get(ptr).copied());
        }
        Op::Call(_, args) => stored.extend(args.iter().filter_map(|arg| bases.get(arg).copied())),
        _ => {}
    });
    loads.into_iter().filter(|(_, ptr)| bases.get(ptr).is_some_and(|base| !stored.contains(base))).map(|(result, _)| result).collect()
}

struct Opaque<'a> {
    function: &'a mut Function,
    /// Instructions of the current region after rewriting.
    out: Vec<Inst>,
    span: Span,
    zeros: [Value; 2],
    /// Values that are opaque to a compiler: neither constants nor results of float arithmetic.
    clean: Vec<bool>,
    /// Loads of such values.
    plain: FxHashSet<Value>,
    /// Lanes of float constants; one entry if all lanes are equal.
    constants: FxHashMap<Value, Vec<u64>>,
    /// Hidden forms of values, by value and zero, in this region and the enclosing ones.
    hidden: FxHashMap<(Value, Zero), Value>,
}

impl Build for Opaque<'_> {
    fn cursor(&mut self) -> Cursor<'_> {
        Cursor::new(self.function, &mut self.out, self.span)
    }
}

impl Opaque<'_> {
    /// Arguments of a kernel are loaded; arguments of a helper are unknown.
    fn start(&mut self) {
        if self.function.kernel.is_some() {
            for param in &self.function.params {
                self.clean[param.index()] = true;
            }
        }
    }

    fn region(&mut self, region: &mut Region) {
        let outer = std::mem::take(&mut self.out);
        let known = self.hidden.clone();
        for mut inst in std::mem::take(&mut region.insts) {
            self.span = inst.span;
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            if is_unsaid(self.function, &inst) {
                self.spell(&mut inst);
            }
            self.note(&inst);
            if is_concerned(self.function, &inst) {
                inst.op = self.rewritten(inst.op);
            }
            self.out.push(inst);
        }
        region.insts = std::mem::replace(&mut self.out, outer);
        self.hidden = known;
    }

    /// Computes a constant from its bits, so that it is opaque to compilers.
    fn spell(&mut self, inst: &mut Inst) {
        let [result] = inst.results[..] else { return };
        let ty = self.function.ty(result);
        let integer = ty.with_scalar(if ty.scalar() == Some(Scalar::F64) { Scalar::I64 } else { Scalar::I32 });
        let bits = self.push(integer, inst.op.clone());
        let zeros = self.zeros_for(bits, 0);
        let hidden = self.bin(BinOp::Xor, bits, zeros);
        inst.op = Op::Cast(CastOp::Bitcast, hidden);
        self.clean[result.index()] = true;
    }

    /// Records properties of an instruction's result.
    fn note(&mut self, inst: &Inst) {
        let [result] = inst.results[..] else { return };
        if let Op::Const(constant) = &inst.op {
            let lanes = match constant {
                Const::Bits(bits) => vec![*bits],
                Const::Lanes(lanes) => lanes.clone(),
                Const::Null => vec![0],
                Const::Undef => return,
            };
            self.constants.insert(result, lanes);
            return;
        }
        let clean = |value: &Value| self.is_clean(*value);
        let is_clean = match &inst.op {
            Op::Load { .. } => self.plain.contains(&result),
            Op::Cast(CastOp::Bitcast, x) | Op::Splat(x) | Op::Extract(x, _) | Op::ExtractDyn(x, _) => clean(x),
            Op::Construct(parts) => parts.iter().all(clean),
            Op::Shuffle(a, b, _) => clean(a) && clean(b),
            // The sign is changed as a bit.
            Op::Un(UnOp::FNeg, _) | Op::Math(MathOp::FAbs, _) => true,
            Op::Bin(..) | Op::Un(..) | Op::WorkItem(_) => self.function.ty(result).scalar().is_some_and(Scalar::is_int),
            _ => false,
        };
        self.clean[result.index()] = is_clean;
    }

    /// Values that this pass has created are already hidden.
    fn is_clean(&self, value: Value) -> bool {
        self.clean.get(value.index()).copied().unwrap_or(true)
    }

    /// The operation with hidden operands.
    fn rewritten(&mut self, op: Op) -> Op {
        match op {
            Op::Un(UnOp::FNeg, a) => self.signed(a, BinOp::Xor),
            Op::Math(MathOp::FAbs, args) => match args[..] {
                [a] => self.signed(a, BinOp::And),
                _ => Op::Math(MathOp::FAbs, args),
            },
            Op::Bin(op @ (BinOp::FMin | BinOp::FMax), a, b) => self.extreme(op == BinOp::FMax, a, b),
            Op::Bin(op, a, b) => {
                let (a, b) = self.both(a, b, matches!(op, BinOp::FSub | BinOp::FDiv), op == BinOp::FDiv);
                Op::Bin(op, a, b)
            }
            Op::Cmp(op @ (CmpOp::FEq | CmpOp::FNe), a, b) if a == b && is_wide(self.function.ty(a)) => {
                let (magnitude, infinity) = self.magnitude(a);
                Op::Cmp(if op == CmpOp::FNe { CmpOp::UGt } else { CmpOp::ULe }, magnitude, infinity)
            }
            Op::Cmp(op, a, b) => {
                let (a, b) = if is_wide(self.function.ty(a)) { self.both(a, b, true, false) } else { (a, b) };
                let holds = self.cmp(op, a, b);
                self.outcome(holds)
            }
            Op::Cast(op, a) => Op::Cast(op, self.hide(a, 0, true)),
            Op::Math(op, args) => {
                let divides = op == MathOp::NativeDivide;
                Op::Math(op, args.into_iter().enumerate().map(|(i, arg)| self.hide(arg, usize::from(divides && i == 1), divides)).collect())
            }
            other => other,
        }
    }

    /// The hidden result of a comparison.
    fn outcome(&mut self, holds: Value) -> Op {
        let ty = self.function.ty(holds).with_scalar(Scalar::I32);
        let (one, zero) = (self.bits(ty, 1), self.bits(ty, 0));
        let bit = self.select(holds, one, zero);
        let zeros = self.zeros_for(bit, 0);
        let bit = self.bin(BinOp::Xor, bit, zeros);
        Op::Cmp(CmpOp::Ne, bit, zero)
    }

    /// Both operands. `cancels`: equal operands give a constant.
    fn both(&mut self, a: Value, b: Value, cancels: bool, constants: bool) -> (Value, Value) {
        let left = self.hide(a, 0, constants);
        if !cancels || self.is_constant(a) || self.is_constant(b) || self.is_clean(a) != self.is_clean(b) {
            return (left, self.hide(b, 0, constants));
        }
        (left, self.hidden(b, 1))
    }

    fn is_constant(&self, value: Value) -> bool {
        self.constants.contains_key(&value)
    }

    /// A hidden form of the value. `constants`: hides every constant, not only significant ones.
    fn hide(&mut self, value: Value, zero: Zero, constants: bool) -> Value {
        let shown = match self.constants.get(&value) {
            Some(lanes) => !constants && !lanes.iter().any(|&bits| is_special(self.function.ty(value), bits)),
            None => self.is_clean(value),
        };
        if shown { value } else { self.hidden(value, zero) }
    }

    fn hidden(&mut self, value: Value, zero: Zero) -> Value {
        if let Some(&found) = self.hidden.get(&(value, zero)) {
            return found;
        }
        let ty = self.function.ty(value);
        let bits = self.raw(value);
        let zeros = self.zeros_for(bits, zero);
        let bits = self.bin(BinOp::Xor, bits, zeros);
        let made = self.push(ty, Op::Cast(CastOp::Bitcast, bits));
        self.hidden.insert((value, zero), made);
        made
    }

    /// The bits of floats.
    fn raw(&mut self, value: Value) -> Value {
        let integer = if self.function.ty(value).scalar() == Some(Scalar::F64) { Scalar::I64 } else { Scalar::I32 };
        self.cast(CastOp::Bitcast, value, integer)
    }

    /// One of the zeros, with the type of `bits`.
    fn zeros_for(&mut self, bits: Value, zero: Zero) -> Value {
        let ty = self.function.ty(bits);
        let mut made = self.zeros[zero];
        if ty.scalar() == Some(Scalar::I64) {
            made = self.cast(CastOp::ZExt, made, Scalar::I64);
        }
        if ty.lanes() == 1 { made } else { self.push(ty, Op::Splat(made)) }
    }

    /// Changes or clears the sign: `Xor` or `And` with hidden bits.
    fn signed(&mut self, a: Value, op: BinOp) -> Op {
        let bits = self.raw(a);
        let ty = self.function.ty(bits);
        let sign = 1 << (ty.scalar().map_or(32, Scalar::bits) - 1);
        let zeros = self.zeros_for(bits, 0);
        let mask = self.bin_bits(BinOp::Xor, zeros, if op == BinOp::Xor { sign } else { sign - 1 });
        Op::Cast(CastOp::Bitcast, self.bin(op, bits, mask))
    }

    /// The bits of a float without its sign, and the bits of infinity: a NaN is larger.
    fn magnitude(&mut self, a: Value) -> (Value, Value) {
        let bits = self.raw(a);
        let ty = self.function.ty(bits);
        let sign = 1 << (ty.scalar().map_or(32, Scalar::bits) - 1);
        let magnitude = self.bin_bits(BinOp::And, bits, sign - 1);
        (magnitude, self.bits(ty, infinity(self.function.ty(a))))
    }

    /// The minimum or maximum; the other operand if one is a NaN.
    fn extreme(&mut self, maximum: bool, a: Value, b: Value) -> Op {
        let (x, y) = self.both(a, b, true, false);
        let better = self.cmp(if maximum { CmpOp::FGt } else { CmpOp::FLt }, y, x);
        let chosen = self.select(better, b, a);
        let (magnitude, infinity) = self.magnitude(a);
        let nan = self.cmp(CmpOp::UGt, magnitude, infinity);
        Op::Select(nan, b, chosen)
    }
}

/// The bits of infinity.
fn infinity(ty: Type) -> u64 {
    if ty.scalar() == Some(Scalar::F64) { 0x7ff0_0000_0000_0000 } else { 0x7f80_0000 }
}

/// Special constants: zeros, whose sums and products have known results, infinities and NaN.
fn is_special(ty: Type, bits: u64) -> bool {
    let magnitude = bits & ((1 << (ty.scalar().map_or(32, Scalar::bits) - 1)) - 1);
    magnitude == 0 || magnitude >= infinity(ty)
}
