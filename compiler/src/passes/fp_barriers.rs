//! Prevents algebraic simplification of float arithmetic by drivers, for target languages that cannot forbid it
//! ([`Shaders::exact`](crate::target::Shaders::exact)).
//!
//! Such a driver assumes real numbers. It contracts, reorders and distributes operations, folds `x - x` and `x * 0` to
//! 0, and ignores the sign of zeros, infinities and NaN. For each simplification, it must see two operations, or an
//! operation and a constant. The pass therefore makes operands opaque that are results of another operation or special
//! constants. The pass combines their bits with a zero that is read from the argument buffer and is unknown before the
//! launch.
//!
//! ```text
//!                              %5 = workitem.work_dim; %6 = and %5, -4
//! %2 = fadd %0, %1             %2 = fadd %0, %1
//! %3 = fsub %2, %0             %7 = bitcast %2 : i32; %8 = xor %7, %6; %9 = bitcast %8 : f32
//!                              %3 = fsub %9, %0
//! ```
//! If both operands are equal (`x - x`, `x / x`), the second operand is combined with another such zero. Sign changes
//! become bit operations, minimum and maximum become selects, and `x == x` becomes a comparison of bits.
//!
//! The results of comparisons become opaque as well. Otherwise compilers combine them as if there were no NaN:
//! * the complement of `a < b` to `a >= b`
//! * `a < b || a > b` to `a != b`
//! * `a < b && a < c` to `a < min(b, c)`
//!
//! Constants without a portable literal are also created from bits: WGSL has neither infinities nor NaN, and Tint
//! reads -0 as 0. Loads from buffers without stores are already opaque. `a * b + c` that may be contracted
//! ([`MathOp::FMulAdd`]) stays one operation. Operands of type `half` do not change.

use rustc_hash::{FxHashMap, FxHashSet};

use super::pass::Pass;
use crate::diag::Span;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Const, Cursor, Function, Inst, MathOp, Op, Region, Scalar, Type, UnOp, Value, WorkItem};

pub(crate) const PASS: Pass = Pass::function("fp_barriers", |function, _| Ok(run(function)));

/// Masks that clear the number of dimensions (1 to 3). FXC replaces a float by 0 if it knows that only the lower bits
/// are set, as after a shift.
const MASKS: [u64; 2] = [0xffff_fffc, 0xffff_fff8];

/// The index of one of the two zeros.
type Zero = usize;

/// Rewrites the float arithmetic of a function. Returns whether anything changed.
fn run(function: &mut Function) -> bool {
    let mut body = std::mem::take(&mut function.body);
    let mut changes = false;
    body.walk(&mut |inst| changes |= must_rewrite(function, inst) || has_no_literal(function, inst));
    if changes {
        let read_only = read_only_loads(function, &body);
        let mut start = Vec::new();
        let span = body.insts.first().map_or_else(Span::default, |inst| inst.span);
        let zeros = zeros(&mut Cursor::new(function, &mut start, span));
        let (opaque, constants) = (vec![false; function.values.len()], FxHashMap::default());
        let mut rewriter = Rewriter { function, out: Vec::new(), span, zeros, opaque, read_only, constants, hidden: FxHashMap::default() };
        rewriter.mark_params();
        rewriter.region(&mut body);
        start.append(&mut body.insts);
        body.insts = start;
    }
    function.body = body;
    changes
}

/// Emits two zeros that are computed differently, so that a compiler does not know that they are equal.
fn zeros(at: &mut Cursor<'_>) -> [Value; 2] {
    let dimensions = at.push(Type::I32, Op::WorkItem(WorkItem::WorkDim));
    MASKS.map(|mask| at.bin_bits(BinOp::And, dimensions, mask))
}

/// Whether the pass rewrites an instruction or its operands.
fn must_rewrite(function: &Function, inst: &Inst) -> bool {
    let operand = match &inst.op {
        Op::Cmp(op, ..) => return is_float_comparison(*op),
        Op::Un(UnOp::FNeg, a) => *a,
        Op::Bin(BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv | BinOp::FMin | BinOp::FMax, a, _) => *a,
        Op::Cast(CastOp::FToF | CastOp::FToS | CastOp::FToU, a) => *a,
        Op::Math(op, args) if is_accurate(*op) => match args.first() {
            Some(&a) => a,
            None => return false,
        },
        _ => return false,
    };
    is_protected(function.ty(operand))
}

const fn is_float_comparison(op: CmpOp) -> bool {
    matches!(op, CmpOp::FEq | CmpOp::FNe | CmpOp::FLt | CmpOp::FLe | CmpOp::FGt | CmpOp::FGe)
}

/// Whether an instruction is a float constant that target languages or their compilers cannot represent as a literal:
/// infinities, NaN, -0, denormals, and the largest finite numbers.
fn has_no_literal(function: &Function, inst: &Inst) -> bool {
    let (Op::Const(constant), [result]) = (&inst.op, &inst.results[..]) else { return false };
    let ty = function.ty(*result);
    let (sign, least, most) = match ty.scalar() {
        Some(Scalar::F32) => (1 << 31, 0x0080_0000, 0x7f7f_ffff),
        Some(Scalar::F64) => (1 << 63, 0x0010_0000_0000_0000, 0x7fef_ffff_ffff_ffff),
        _ => return false,
    };
    let has_literal = |bits: &u64| *bits == 0 || (least..most).contains(&(bits & !sign));
    match constant {
        Const::Bits(bits) => !has_literal(bits),
        Const::Lanes(lanes) => !lanes.iter().all(has_literal),
        Const::Null | Const::Undef => false,
    }
}

/// Whether the pass applies to operations on this type.
fn is_protected(ty: Type) -> bool {
    matches!(ty.scalar(), Some(Scalar::F32 | Scalar::F64))
}

/// Whether the operands of a mathematical function must not be simplified, because its result has to be accurate. The
/// native functions are included because the library computes `pow` with `native_recip`.
const fn is_accurate(op: MathOp) -> bool {
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

/// Returns the results of loads from parameters that the function does not write to.
fn read_only_loads(function: &Function, body: &Region) -> FxHashSet<Value> {
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

struct Rewriter<'a> {
    function: &'a mut Function,
    /// Instructions of the current region after rewriting.
    out: Vec<Inst>,
    span: Span,
    zeros: [Value; 2],
    /// Whether each value is opaque to a driver: neither a constant nor the result of float arithmetic.
    opaque: Vec<bool>,
    /// Results of loads that are opaque.
    read_only: FxHashSet<Value>,
    /// Lanes of constants. There is only one entry if all lanes are equal.
    constants: FxHashMap<Value, Vec<u64>>,
    /// Opaque copies of values, by value and zero, that dominate the current instruction.
    hidden: FxHashMap<(Value, Zero), Value>,
}

impl Build for Rewriter<'_> {
    fn cursor(&mut self) -> Cursor<'_> {
        Cursor::new(self.function, &mut self.out, self.span)
    }
}

impl Rewriter<'_> {
    /// Marks the parameters of a kernel as opaque, because they are loaded. The arguments of other functions may be
    /// results of float arithmetic.
    fn mark_params(&mut self) {
        if self.function.kernel.is_some() {
            for param in &self.function.params {
                self.opaque[param.index()] = true;
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
            if has_no_literal(self.function, &inst) {
                self.build_constant(&mut inst);
            }
            self.note(&inst);
            if must_rewrite(self.function, &inst) {
                inst.op = self.rewritten(inst.op);
            }
            self.out.push(inst);
        }
        region.insts = std::mem::replace(&mut self.out, outer);
        self.hidden = known;
    }

    /// Computes a constant from opaque bits.
    fn build_constant(&mut self, inst: &mut Inst) {
        let [result] = inst.results[..] else { return };
        let ty = self.function.ty(result);
        let integer = ty.with_scalar(if ty.scalar() == Some(Scalar::F64) { Scalar::I64 } else { Scalar::I32 });
        let bits = self.push(integer, inst.op.clone());
        let zeros = self.zeros_for(bits, 0);
        let hidden = self.bin(BinOp::Xor, bits, zeros);
        inst.op = Op::Cast(CastOp::Bitcast, hidden);
        self.opaque[result.index()] = true;
    }

    /// Records whether an instruction's result is opaque, and the lanes of a constant.
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
        let opaque = |value: &Value| self.is_opaque(*value);
        let is_opaque = match &inst.op {
            Op::Load { .. } => self.read_only.contains(&result),
            Op::Cast(CastOp::Bitcast, x) | Op::Splat(x) | Op::Extract(x, _) | Op::ExtractDyn(x, _) => opaque(x),
            Op::Construct(parts) => parts.iter().all(opaque),
            Op::Shuffle(a, b, _) => opaque(a) && opaque(b),
            // These operations become bit operations, so their results are opaque.
            Op::Un(UnOp::FNeg, _) | Op::Math(MathOp::FAbs, _) => true,
            Op::Bin(..) | Op::Un(..) | Op::WorkItem(_) => self.function.ty(result).scalar().is_some_and(Scalar::is_int),
            _ => false,
        };
        self.opaque[result.index()] = is_opaque;
    }

    /// Whether a value is opaque to a driver. All values that this pass has created are opaque.
    fn is_opaque(&self, value: Value) -> bool {
        self.opaque.get(value.index()).copied().unwrap_or(true)
    }

    /// Returns the operation with opaque operands.
    fn rewritten(&mut self, op: Op) -> Op {
        match op {
            Op::Un(UnOp::FNeg, a) => self.with_sign(a, BinOp::Xor),
            Op::Math(MathOp::FAbs, args) => match args[..] {
                [a] => self.with_sign(a, BinOp::And),
                _ => Op::Math(MathOp::FAbs, args),
            },
            Op::Bin(op @ (BinOp::FMin | BinOp::FMax), a, b) => self.min_or_max(op == BinOp::FMax, a, b),
            Op::Bin(op, a, b) => {
                let (a, b) = self.hide_both(a, b, matches!(op, BinOp::FSub | BinOp::FDiv), op == BinOp::FDiv);
                Op::Bin(op, a, b)
            }
            Op::Cmp(op @ (CmpOp::FEq | CmpOp::FNe), a, b) if a == b && is_protected(self.function.ty(a)) => {
                let (magnitude, infinity) = self.magnitude(a);
                Op::Cmp(if op == CmpOp::FNe { CmpOp::UGt } else { CmpOp::ULe }, magnitude, infinity)
            }
            Op::Cmp(op, a, b) => {
                let (a, b) = if is_protected(self.function.ty(a)) { self.hide_both(a, b, true, false) } else { (a, b) };
                let holds = self.cmp(op, a, b);
                self.opaque_condition(holds)
            }
            Op::Cast(op, a) => Op::Cast(op, self.hide(a, 0, true)),
            Op::Math(op, args) => {
                let divides = op == MathOp::NativeDivide;
                Op::Math(op, args.into_iter().enumerate().map(|(i, arg)| self.hide(arg, usize::from(divides && i == 1), divides)).collect())
            }
            other => other,
        }
    }

    /// Emits an opaque copy of the result of a comparison, except the last operation, which it returns.
    fn opaque_condition(&mut self, holds: Value) -> Op {
        let ty = self.function.ty(holds).with_scalar(Scalar::I32);
        let (one, zero) = (self.bits(ty, 1), self.bits(ty, 0));
        let bit = self.select(holds, one, zero);
        let zeros = self.zeros_for(bit, 0);
        let bit = self.bin(BinOp::Xor, bit, zeros);
        Op::Cmp(CmpOp::Ne, bit, zero)
    }

    /// Returns opaque copies of both operands. `cancels` means that the operation has a constant result if both
    /// operands are equal. `constants` has the same meaning as for [`Self::hide`].
    fn hide_both(&mut self, a: Value, b: Value, cancels: bool, constants: bool) -> (Value, Value) {
        let left = self.hide(a, 0, constants);
        if !cancels || self.is_constant(a) || self.is_constant(b) || self.is_opaque(a) != self.is_opaque(b) {
            return (left, self.hide(b, 0, constants));
        }
        (left, self.opaque_copy(b, 1))
    }

    fn is_constant(&self, value: Value) -> bool {
        self.constants.contains_key(&value)
    }

    /// Returns an opaque copy of a value, or the value itself if no copy is needed. If `constants` is set, every
    /// constant is copied, otherwise only special constants.
    fn hide(&mut self, value: Value, zero: Zero, constants: bool) -> Value {
        let stays = match self.constants.get(&value) {
            Some(lanes) => !constants && !lanes.iter().any(|&bits| is_special(self.function.ty(value), bits)),
            None => self.is_opaque(value),
        };
        if stays { value } else { self.opaque_copy(value, zero) }
    }

    fn opaque_copy(&mut self, value: Value, zero: Zero) -> Value {
        if let Some(&found) = self.hidden.get(&(value, zero)) {
            return found;
        }
        let ty = self.function.ty(value);
        let bits = self.emit_float_bits(value);
        let zeros = self.zeros_for(bits, zero);
        let bits = self.bin(BinOp::Xor, bits, zeros);
        let made = self.push(ty, Op::Cast(CastOp::Bitcast, bits));
        self.hidden.insert((value, zero), made);
        made
    }

    /// Emits the bits of a float as an integer.
    fn emit_float_bits(&mut self, value: Value) -> Value {
        let integer = if self.function.ty(value).scalar() == Some(Scalar::F64) { Scalar::I64 } else { Scalar::I32 };
        self.cast(CastOp::Bitcast, value, integer)
    }

    /// Returns one of the two zeros, in the type of `bits`.
    fn zeros_for(&mut self, bits: Value, zero: Zero) -> Value {
        let ty = self.function.ty(bits);
        let mut made = self.zeros[zero];
        if ty.scalar() == Some(Scalar::I64) {
            made = self.cast(CastOp::ZExt, made, Scalar::I64);
        }
        if ty.lanes() == 1 { made } else { self.push(ty, Op::Splat(made)) }
    }

    /// Inverts (`Xor`) or clears (`And`) the sign, with an opaque mask. Returns the last operation, and emits the other
    /// operations.
    fn with_sign(&mut self, a: Value, op: BinOp) -> Op {
        let bits = self.emit_float_bits(a);
        let ty = self.function.ty(bits);
        let sign = 1 << (ty.scalar().map_or(32, Scalar::bits) - 1);
        let zeros = self.zeros_for(bits, 0);
        let mask = self.bin_bits(BinOp::Xor, zeros, if op == BinOp::Xor { sign } else { sign - 1 });
        Op::Cast(CastOp::Bitcast, self.bin(op, bits, mask))
    }

    /// Emits the bits of a float without its sign, and the bits of infinity. Only the bits of a NaN are larger than
    /// those of infinity.
    fn magnitude(&mut self, a: Value) -> (Value, Value) {
        let bits = self.emit_float_bits(a);
        let ty = self.function.ty(bits);
        let sign = 1 << (ty.scalar().map_or(32, Scalar::bits) - 1);
        let magnitude = self.bin_bits(BinOp::And, bits, sign - 1);
        (magnitude, self.bits(ty, infinity(self.function.ty(a))))
    }

    /// Lowers a minimum or maximum. If one operand is a NaN, the result is the other operand.
    fn min_or_max(&mut self, maximum: bool, a: Value, b: Value) -> Op {
        let (x, y) = self.hide_both(a, b, true, false);
        let better = self.cmp(if maximum { CmpOp::FGt } else { CmpOp::FLt }, y, x);
        let chosen = self.select(better, b, a);
        let (magnitude, infinity) = self.magnitude(a);
        let nan = self.cmp(CmpOp::UGt, magnitude, infinity);
        Op::Select(nan, b, chosen)
    }
}

/// Returns the bits of infinity in the float type `ty`.
fn infinity(ty: Type) -> u64 {
    if ty.scalar() == Some(Scalar::F64) { 0x7ff0_0000_0000_0000 } else { 0x7f80_0000 }
}

/// Whether a constant lets drivers simplify operations: zeros, infinities and NaN.
fn is_special(ty: Type, bits: u64) -> bool {
    let magnitude = bits & ((1 << (ty.scalar().map_or(32, Scalar::bits) - 1)) - 1);
    magnitude == 0 || magnitude >= infinity(ty)
}
