//! Lowers expressions to IR.

use super::function::Lowering;
use super::lvalue::{Located, ObjectAddress};
use super::scan;
use super::stmt::MAX_CHAIN;
use super::types::{self, ArithType};
use crate::ast::ScalarKind;
use crate::ir::{BinOp, CastOp, CmpOp, Const, Scalar, Space, Type, Value};
use crate::thir::{BinaryOp, CastKind, Constant, Expr, ExprKind, Ty, TyKind, UnaryOp};

/// Maximum nesting of expressions. A chain of left operands, as in `a + b + c`, counts as one level, because generated
/// sources contain long chains.
const MAX_DEPTH: u32 = 4096;

impl<'p> Lowering<'p, '_> {
    /// Evaluates a non-void expression. The value of a record is its address. The record at this address does not
    /// change before the value is used.
    pub(super) fn expr(&mut self, expr: &'p Expr) -> Value {
        match self.expr_opt(expr) {
            Some(value) => value,
            None => {
                let ty = match self.value_type(expr.ty) {
                    Type::Void => Type::I32,
                    ty => ty,
                };
                self.b.undef(ty)
            }
        }
    }

    /// Whether an expression is cheap and may be evaluated even if its value is not needed. False if values
    /// are checked, because the check would report a value that the program does not compute.
    pub(super) fn is_cheap(&self, expr: &Expr) -> bool {
        !self.b.value_checks.any() && scan::is_cheap(expr)
    }

    /// Evaluates an expression. Returns `None` for `void`.
    pub(super) fn expr_opt(&mut self, expr: &'p Expr) -> Option<Value> {
        let outer = std::mem::replace(&mut self.b.span, expr.span);
        self.depth += 1;
        let value = if self.depth > MAX_DEPTH {
            self.b.fail(format!("expression is nested too deeply (the limit is {MAX_DEPTH})"));
            None
        } else {
            self.expr_inner(expr)
        };
        self.depth -= 1;
        self.b.span = outer;
        value
    }

    /// Evaluates an expression for its side effects.
    pub(super) fn effect(&mut self, expr: &'p Expr) {
        match &expr.kind {
            ExprKind::Cond { cond, then, els } => {
                let cond = self.condition(cond);
                self.branch(cond, |this| this.effect(then), |this| this.effect(els));
            }
            ExprKind::LogAnd(lhs, rhs) => {
                let cond = self.condition(lhs);
                self.branch(cond, |this| this.effect(rhs), |_| ());
            }
            ExprKind::LogOr(lhs, rhs) => {
                let cond = self.condition(lhs);
                self.branch(cond, |_| (), |this| this.effect(rhs));
            }
            ExprKind::Comma(lhs, rhs) => {
                self.effect(lhs);
                self.effect(rhs);
            }
            ExprKind::Cast(_, inner) => self.effect(inner),
            _ => {
                self.expr_opt(expr);
            }
        }
    }

    /// Emits an `if`, or only the selected side if the condition is constant.
    pub(super) fn branch(&mut self, cond: Value, then: impl FnOnce(&mut Self), els: impl FnOnce(&mut Self)) {
        match self.b.known(cond) {
            Some(0) => els(self),
            Some(_) => then(self),
            None => {
                let span = self.b.span;
                self.b.open();
                then(self);
                let then = self.b.close_branch();
                self.b.open();
                els(self);
                let els = self.b.close_branch();
                self.b.span = span;
                self.b.if_else(cond, then, els);
            }
        }
    }

    #[allow(clippy::too_many_lines, reason = "one flat match over the kinds")]
    fn expr_inner(&mut self, expr: &'p Expr) -> Option<Value> {
        Some(match &expr.kind {
            ExprKind::Constant(constant) => self.constant(constant, expr.ty),
            ExprKind::Load(lvalue) => {
                if matches!(self.kind(expr.ty), TyKind::Void) {
                    self.locate(lvalue);
                    return None;
                }
                let located = self.locate(lvalue);
                self.read(&located, lvalue.ty.ty)
            }
            ExprKind::AddrOf(lvalue) | ExprKind::Decay(lvalue) => {
                let address = self.address(lvalue);
                self.pointer_to(address, expr.ty)
            }
            ExprKind::Unary(op, inner) => self.unary(*op, inner, expr.ty),
            ExprKind::Binary { .. } => self.binary(expr),
            ExprKind::LogAnd(..) | ExprKind::LogOr(..) => {
                let flag = self.condition(expr);
                self.flag_value(flag, expr.ty)
            }
            ExprKind::Cond { cond, then, els } => return self.conditional(cond, then, els, expr.ty),
            ExprKind::VecSelect { cond, then, els } => {
                let cond = self.expr(cond);
                let (then, els) = (self.expr(then), self.expr(els));
                let cond = self.b.cmp_int(CmpOp::SLt, cond, 0);
                self.b.select(cond, then, els)
            }
            ExprKind::Assign { lvalue, value } => {
                let value = self.expr(value);
                let located = self.locate(lvalue);
                self.write(&located, lvalue.ty.ty, value);
                match located {
                    Located::Memory(memory) if self.is_record(expr.ty) => memory.address,
                    _ => value,
                }
            }
            ExprKind::CompoundAssign { op, lvalue, value, compute, contract } => {
                self.compound_assign(*op, lvalue, value, *compute, *contract)
            }
            ExprKind::PointerAssign { lvalue, index, stride, negate } => {
                let located = self.locate(lvalue);
                let pointer = self.read(&located, lvalue.ty.ty);
                let pointer = self.index_address(pointer, index, *stride, *negate);
                self.write(&located, lvalue.ty.ty, pointer);
                pointer
            }
            ExprKind::IncDec { lvalue, increment, prefix, stride } => self.increment_or_decrement(lvalue, *increment, *prefix, *stride),
            ExprKind::Cast(kind, inner) => return self.cast(*kind, inner, expr.ty),
            ExprKind::PointerAdd { pointer, index, stride, negate } => {
                let pointer = self.expr(pointer);
                self.index_address(pointer, index, *stride, *negate)
            }
            ExprKind::PointerDiff { lhs, rhs, stride } => self.pointer_difference(lhs, rhs, *stride, expr.ty),
            ExprKind::PointerCompare { op, lhs, rhs } => {
                let flag = self.compare_pointers(*op, lhs, rhs);
                self.flag_value(flag, expr.ty)
            }
            ExprKind::Call { func, args, part } => return self.call(*func, args, expr.ty, *part),
            ExprKind::CallLanes { func, args } => return self.call_lanes(*func, args, expr.ty),
            ExprKind::Intrinsic { op, args } => return self.intrinsic(*op, args, expr.ty),
            ExprKind::Printf { format, args } => self.printf(*format, args),
            ExprKind::Comma(lhs, rhs) => {
                self.effect(lhs);
                return self.expr_opt(rhs);
            }
            ExprKind::VectorLit(parts) => self.vector_literal(parts, expr.ty),
            ExprKind::Swizzle(inner, lanes) => {
                let vector = self.expr(inner);
                self.b.lanes(vector, lanes)
            }
            ExprKind::StmtExpr { stmts, value } => {
                self.statement_expression(stmts);
                return value.as_deref().and_then(|value| self.expr_opt(value));
            }
        })
    }

    // ---- constants ----

    fn constant(&mut self, constant: &Constant, ty: Ty) -> Value {
        let ir = self.value_type(ty);
        match constant {
            Constant::Null => self.b.constant(ir, Const::Null),
            _ if matches!(ir, Type::Ptr(_)) => {
                let bits = scalar_bits(constant, Scalar::I64);
                let int = self.pointer_int();
                let bits = self.b.bits(int, bits);
                self.b.cast(CastOp::IntToPtr, bits, ir)
            }
            Constant::Vector(lanes) => {
                let scalar = ir.scalar().unwrap_or(Scalar::I32);
                let lanes = lanes.iter().map(|lane| scalar_bits(lane, scalar) & scalar.mask()).collect();
                self.b.constant(ir, Const::Lanes(lanes))
            }
            _ => {
                let bits = scalar_bits(constant, ir.scalar().unwrap_or(Scalar::I32));
                self.b.bits(ir, bits)
            }
        }
    }

    // ---- conditions ----

    /// Emits a test whether an expression is not zero. The result of a comparison is used without conversion to `int`.
    pub(super) fn condition(&mut self, expr: &'p Expr) -> Value {
        let outer = std::mem::replace(&mut self.b.span, expr.span);
        self.depth += 1;
        let flag = if self.depth > MAX_DEPTH {
            self.b.fail(format!("expression is nested too deeply (the limit is {MAX_DEPTH})"));
            self.b.bool(false)
        } else {
            self.condition_inner(expr)
        };
        self.depth -= 1;
        self.b.span = outer;
        flag
    }

    fn condition_inner(&mut self, expr: &'p Expr) -> Value {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::LogNot, inner) if self.arith_type(expr.ty).is_none_or(|arith| arith.lanes == 1) => {
                let flag = self.condition(inner);
                self.b.not(flag)
            }
            ExprKind::LogAnd(..) => self.short_circuit(expr, true),
            ExprKind::LogOr(..) => self.short_circuit(expr, false),
            // A widening conversion does not change whether a value is zero, so the unconverted value is tested.
            ExprKind::Cast(CastKind::Arith, inner) if self.keeps_zero(inner.ty, expr.ty) => self.condition(inner),
            ExprKind::Comma(lhs, rhs) => {
                self.effect(lhs);
                self.condition(rhs)
            }
            _ => {
                let value = self.expr(expr);
                self.non_zero(value)
            }
        }
    }

    fn keeps_zero(&self, from: Ty, to: Ty) -> bool {
        match (self.arith_type(from), self.arith_type(to)) {
            (Some(from), Some(to)) => {
                from.lanes == 1
                    && to.lanes == 1
                    && !from.is_float()
                    && !to.is_float()
                    && (to.kind == ScalarKind::Bool || types::scalar(from.kind).bits() <= types::scalar(to.kind).bits())
            }
            _ => false,
        }
    }

    /// Tests that a scalar or pointer is not zero.
    pub(super) fn non_zero(&mut self, value: Value) -> Value {
        match self.b.ty(value) {
            Type::BOOL => value,
            Type::Ptr(space) => {
                let null = self.b.constant(Type::Ptr(space), Const::Null);
                self.b.cmp(CmpOp::Ne, value, null)
            }
            ty if ty.scalar().is_some_and(Scalar::is_float) => {
                let zero = self.b.bits(ty, 0);
                self.b.cmp(CmpOp::FNe, value, zero)
            }
            _ => self.b.cmp_int(CmpOp::Ne, value, 0),
        }
    }

    /// Lowers `a && b && c`. A loop lowers the operands, because a chain may be too long for recursion.
    fn short_circuit(&mut self, expr: &'p Expr, and: bool) -> Value {
        let mut operands = Vec::new();
        let mut first = expr;
        loop {
            first = match (&first.kind, and) {
                (ExprKind::LogAnd(lhs, rhs), true) | (ExprKind::LogOr(lhs, rhs), false) => {
                    operands.push(&**rhs);
                    lhs
                }
                _ => break,
            };
        }
        let mut flag = self.condition(first);
        while let Some(operand) = operands.pop() {
            flag = self.short_circuit_pair(flag, operand, and);
        }
        flag
    }

    /// Emits `first && rhs` or `first || rhs`.
    fn short_circuit_pair(&mut self, first: Value, rhs: &'p Expr, and: bool) -> Value {
        if let Some(known) = self.b.known(first) {
            return if (known != 0) == and { self.condition(rhs) } else { self.b.bool(!and) };
        }
        if self.is_cheap(rhs) {
            let second = self.condition(rhs);
            return if and { self.b.and(first, second) } else { self.b.or(first, second) };
        }
        let var = self.b.temporary(1, 1);
        let address = self.b.var_addr(var);
        let byte = Type::Scalar(Scalar::I8);
        let decided = self.b.int(byte, i64::from(!and));
        let evaluate = |this: &mut Self| {
            let second = this.condition(rhs);
            let second = this.b.storable(second);
            this.b.store(address, second, 1, false);
        };
        let decide = |this: &mut Self| this.b.store(address, decided, 1, false);
        if and {
            self.branch(first, evaluate, decide)
        } else {
            self.branch(first, decide, evaluate)
        }
        let result = self.b.load(address, byte, 1, false);
        self.b.cmp_int(CmpOp::Ne, result, 0)
    }

    /// Converts the result of a comparison to the type of its expression: `bool`, `int` 0 or 1, or a vector of 0 or -1.
    pub(super) fn flag_value(&mut self, flag: Value, ty: Ty) -> Value {
        let ir = self.value_type(ty);
        if ir.scalar() == Some(Scalar::Bool) {
            return flag;
        }
        let op = if ir.lanes() == 1 { CastOp::ZExt } else { CastOp::SExt };
        self.b.cast(op, flag, ir)
    }

    // ---- choices ----

    fn conditional(&mut self, cond: &'p Expr, then: &'p Expr, els: &'p Expr, ty: Ty) -> Option<Value> {
        let flag = self.condition(cond);
        if let Some(known) = self.b.known(flag) {
            return self.expr_opt(if known != 0 { then } else { els });
        }
        if matches!(self.kind(ty), TyKind::Void) {
            self.branch(flag, |this| this.effect(then), |this| this.effect(els));
            return None;
        }
        if !self.is_record(ty) && self.is_cheap(then) && self.is_cheap(els) {
            let (then, els) = (self.expr(then), self.expr(els));
            return Some(self.b.select(flag, then, els));
        }
        let (size, align) = self.layout(ty);
        let var = self.b.temporary(size, align);
        let result = ObjectAddress { address: self.b.var_addr(var), align, volatile: false };
        self.branch(flag, |this| this.choose(then, result, ty), |this| this.choices(els, result, ty));
        Some(self.load_value(result, ty))
    }

    /// Evaluates one of the two values of a conditional expression and stores it in `result`.
    fn choose(&mut self, expr: &'p Expr, result: ObjectAddress, ty: Ty) {
        let value = self.expr(expr);
        self.store_value(result.address, ty, value, result.align, false);
    }

    /// Lowers the third operand of `a ? x : b ? y : ...`, like a chain of `else if`.
    fn choices(&mut self, mut expr: &'p Expr, result: ObjectAddress, ty: Ty) {
        let mut links = Vec::new();
        while let ExprKind::Cond { cond, then, els } = &expr.kind
            && expr.ty == ty
        {
            links.push((&**cond, &**then));
            expr = els;
        }
        if links.len() <= MAX_CHAIN {
            self.nested_choices(&links, result, ty, |this| this.choose(expr, result, ty));
            return;
        }
        let rest = self.b.temporary(1, 1);
        for (index, piece) in links.chunks(MAX_CHAIN).enumerate() {
            let write = |this: &mut Self| {
                this.set_flag(rest, 0);
                this.nested_choices(piece, result, ty, |this| this.set_flag(rest, 1));
            };
            if index == 0 {
                write(self);
            } else {
                let runs = self.flag_is_set(rest);
                self.branch(runs, write, |_| ());
            }
        }
        let runs = self.flag_is_set(rest);
        self.branch(runs, |this| this.choose(expr, result, ty), |_| ());
    }

    fn nested_choices(&mut self, links: &[(&'p Expr, &'p Expr)], result: ObjectAddress, ty: Ty, last: impl FnOnce(&mut Self)) {
        match links {
            [(cond, then), rest @ ..] => {
                let flag = self.condition(cond);
                // Boxed, since a closure type per nesting level would be infinite.
                let last: Box<dyn FnOnce(&mut Self) + '_> = Box::new(last);
                self.branch(flag, |this| this.choose(then, result, ty), |this| this.nested_choices(rest, result, ty, last));
            }
            [] => last(self),
        }
    }

    // ---- vectors ----

    fn vector_literal(&mut self, parts: &'p [Expr], ty: Ty) -> Value {
        let values: Vec<Value> = parts.iter().map(|part| self.expr(part)).collect();
        let want = self.value_type(ty);
        match values.as_slice() {
            [only] if self.b.ty(*only) == want => return *only,
            // `(float4)(x)`
            [only] if self.b.ty(*only).lanes() == 1 => return self.b.splat(*only, want.lanes()),
            &[a, b] if self.b.ty(a) == self.b.ty(b) && self.b.ty(a).lanes() > 1 => {
                let all: Vec<u8> = (0..want.lanes()).collect();
                return self.b.shuffle(a, b, &all);
            }
            _ => {}
        }
        let mut lanes = Vec::new();
        for value in values {
            for lane in 0..self.b.ty(value).lanes() {
                lanes.push(self.b.extract(value, lane));
            }
        }
        self.b.construct(&lanes)
    }

    // ---- pointers ----

    /// Converts an address to the pointer type of an expression.
    pub(super) fn pointer_to(&mut self, address: Value, ty: Ty) -> Value {
        let want = self.value_type(ty);
        if matches!(want, Type::Ptr(_)) { self.b.cast(CastOp::SpaceCast, address, want) } else { address }
    }

    /// Adds `index` elements of `stride` bytes to a pointer. Subtracts them if `negate` is set.
    pub(super) fn index_address(&mut self, pointer: Value, index: &'p Expr, stride: u32, negate: bool) -> Value {
        let signed = self.arithmetic(index.ty).is_signed();
        let index = self.expr(index);
        self.element_address(pointer, index, signed, stride, negate)
    }

    /// Like [`Self::index_address`], with an evaluated index.
    ///
    /// Byte offsets in private and local memory are 32 bits wide, since that memory is small. In other memory, byte
    /// offsets are 32 bits wide if the index is narrower than 32 bits, or signed with 32 bits. On devices with objects
    /// above 2 GiB, the offset must also be unable to exceed 2 GiB.
    pub(super) fn element_address(&mut self, pointer: Value, index: Value, signed: bool, stride: u32, negate: bool) -> Value {
        let wide = (self.pointer_int(), self.shared.target.language.large_objects);
        let ty = self.b.index_type(pointer, index, signed, stride.into(), wide);
        let index = self.b.resize(index, signed, ty);
        let bytes = self.b.bin_int(BinOp::Mul, index, i64::from(stride));
        let bytes = if negate { self.b.un(crate::ir::UnOp::Neg, bytes) } else { bytes };
        self.b.ptr_add(pointer, bytes)
    }

    fn pointer_difference(&mut self, lhs: &'p Expr, rhs: &'p Expr, stride: u32, ty: Ty) -> Value {
        let int = self.pointer_int();
        let (lhs, rhs) = (self.expr(lhs), self.expr(rhs));
        let (lhs, rhs) = (self.b.cast(CastOp::PtrToInt, lhs, int), self.b.cast(CastOp::PtrToInt, rhs, int));
        let bytes = self.b.sub(lhs, rhs);
        let elements = if stride.is_power_of_two() {
            self.b.bin_int(BinOp::AShr, bytes, i64::from(stride.trailing_zeros()))
        } else {
            self.b.bin_int(BinOp::SDiv, bytes, i64::from(stride.max(1)))
        };
        let want = self.value_type(ty);
        self.b.resize(elements, true, want)
    }

    fn compare_pointers(&mut self, op: BinaryOp, lhs: &'p Expr, rhs: &'p Expr) -> Value {
        let (mut lhs, mut rhs) = (self.expr(lhs), self.expr(rhs));
        if self.b.ty(lhs) != self.b.ty(rhs) {
            lhs = self.b.cast(CastOp::SpaceCast, lhs, Type::Ptr(Space::Generic));
            rhs = self.b.cast(CastOp::SpaceCast, rhs, Type::Ptr(Space::Generic));
        }
        let op = match op {
            BinaryOp::Eq => return self.b.cmp(CmpOp::Eq, lhs, rhs),
            BinaryOp::Ne => return self.b.cmp(CmpOp::Ne, lhs, rhs),
            BinaryOp::Lt => CmpOp::ULt,
            BinaryOp::Le => CmpOp::ULe,
            BinaryOp::Gt => CmpOp::UGt,
            _ => CmpOp::UGe,
        };
        let int = self.pointer_int();
        let (lhs, rhs) = (self.b.cast(CastOp::PtrToInt, lhs, int), self.b.cast(CastOp::PtrToInt, rhs, int));
        self.b.cmp(op, lhs, rhs)
    }

    // ---- casts ----

    fn cast(&mut self, kind: CastKind, inner: &'p Expr, ty: Ty) -> Option<Value> {
        if kind == CastKind::ToVoid {
            self.effect(inner);
            return None;
        }
        if matches!(kind, CastKind::Arith) && self.arith_type(ty).is_some_and(|arith| arith == ArithType::new(ScalarKind::Bool, 1)) {
            return Some(self.condition(inner));
        }
        let value = self.expr(inner);
        let int = self.pointer_int();
        Some(match kind {
            CastKind::ToVoid => return None,
            CastKind::Arith => {
                let (from, to) = (self.arithmetic(inner.ty), self.arithmetic(ty));
                self.b.convert(value, from, to)
            }
            CastKind::Convert { saturate, rounding } => {
                let (from, to) = (self.arithmetic(inner.ty), self.arithmetic(ty));
                self.b.convert_with(value, from, to, saturate, rounding)
            }
            CastKind::Splat => {
                let lanes = self.arithmetic(ty).lanes;
                self.b.splat(value, lanes)
            }
            CastKind::AsType => {
                let to = self.value_type(ty);
                self.b.reinterpret(value, to)
            }
            CastKind::Pointer => {
                let to = self.value_type(ty);
                self.b.cast(CastOp::SpaceCast, value, to)
            }
            CastKind::PointerToInt => {
                let to = self.value_type(ty);
                if to == Type::BOOL {
                    self.non_zero(value)
                } else {
                    let value = self.b.cast(CastOp::PtrToInt, value, int);
                    self.b.resize(value, false, to)
                }
            }
            CastKind::IntToPointer => {
                let from = self.arithmetic(inner.ty);
                let to = self.value_type(ty);
                let value = self.b.resize(value, from.is_signed(), int);
                if self.b.known(value) == Some(0) { self.b.constant(to, Const::Null) } else { self.b.cast(CastOp::IntToPtr, value, to) }
            }
        })
    }
}

fn scalar_bits(constant: &Constant, scalar: Scalar) -> u64 {
    match constant {
        Constant::Int(bits) => *bits,
        Constant::Float(value) => super::builder::float_bits(scalar, *value),
        Constant::Null | Constant::Vector(_) | Constant::Wide(_) => 0,
    }
}
