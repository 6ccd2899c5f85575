//! Lowers arithmetic operators.

use super::function::Lowering;
use super::types::ArithType;
use crate::diag::Span;
use crate::ir::{BinOp, CmpOp, Scalar, UnOp, Value};
use crate::thir::{BinaryOp, Expr, ExprKind, Lvalue, Ty, TyKind, UnaryOp};

/// An operand: a value, or the factors of a product that may be fused with an addition.
#[derive(Clone, Copy)]
enum Operand {
    Value(Value),
    Product(Value, Value, Span),
}

impl<'p> Lowering<'p, '_> {
    pub(super) fn unary(&mut self, op: UnaryOp, inner: &'p Expr, ty: Ty) -> Value {
        let arith = self.arithmetic(inner.ty);
        match op {
            UnaryOp::LogNot if arith.lanes == 1 => {
                let flag = self.condition(inner);
                let flag = self.b.not(flag);
                self.flag_value(flag, ty)
            }
            UnaryOp::LogNot => {
                let value = self.expr(inner);
                let zero = self.b.bits(arith.ir(), 0);
                let flags = self.b.cmp(if arith.is_float() { CmpOp::FEq } else { CmpOp::Eq }, value, zero);
                self.flag_value(flags, ty)
            }
            UnaryOp::Neg => {
                let value = self.expr(inner);
                self.b.un(if arith.is_float() { UnOp::FNeg } else { UnOp::Neg }, value)
            }
            UnaryOp::BitNot => {
                let value = self.expr(inner);
                self.b.not(value)
            }
        }
    }

    /// Lowers a binary operator. A loop lowers the chain of left operands, as in `a + b + c`, because a chain may be
    /// too long for recursion.
    pub(super) fn binary(&mut self, expr: &'p Expr) -> Value {
        let operand = self.binary_operand(expr);
        self.operand_value(operand)
    }

    fn binary_operand(&mut self, expr: &'p Expr) -> Operand {
        let mut chain = Vec::new();
        let mut bottom = expr;
        while let ExprKind::Binary { op, lhs, rhs, contract } = &bottom.kind {
            chain.push((bottom, *op, &**rhs, *contract));
            bottom = lhs;
        }
        let outer = self.b.span;
        let mut left = Operand::Value(self.expr(bottom));
        let mut arith = self.arith_type(bottom.ty);
        while let Some((node, op, rhs, contract)) = chain.pop() {
            self.b.span = node.span;
            let operands = arith.unwrap_or(ArithType::new(crate::ast::ScalarKind::Int, 1));
            let right = if contract && is_product(rhs) { self.product(rhs) } else { Operand::Value(self.expr(rhs)) };
            self.b.span = node.span;
            left = self.combine(op, left, right, operands, contract, node.ty);
            arith = self.arith_type(node.ty);
        }
        self.b.span = outer;
        left
    }

    /// Returns the factors of a multiplication that may be fused with an addition.
    fn product(&mut self, expr: &'p Expr) -> Operand {
        self.binary_operand(expr)
    }

    fn operand_value(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Value(value) => value,
            Operand::Product(a, b, span) => {
                let outer = std::mem::replace(&mut self.b.span, span);
                let product = self.b.bin(BinOp::FMul, a, b);
                self.b.nan_check(product, &[a, b], None);
                self.b.span = outer;
                product
            }
        }
    }

    /// Applies `op` to evaluated operands. `arith` is the type of the left operand. Only for shifts, the right operand
    /// has another type.
    fn combine(&mut self, op: BinaryOp, lhs: Operand, rhs: Operand, arith: ArithType, contract: bool, ty: Ty) -> Operand {
        if arith.is_float() && contract {
            match (op, lhs, rhs) {
                (BinaryOp::Mul, lhs, rhs) => {
                    let (a, b) = (self.operand_value(lhs), self.operand_value(rhs));
                    return Operand::Product(a, b, self.b.span);
                }
                (BinaryOp::Add, Operand::Product(a, b, _), rhs) => {
                    let c = self.operand_value(rhs);
                    return Operand::Value(self.contracted([a, b, c], [a, b, c]));
                }
                (BinaryOp::Add, Operand::Value(c), Operand::Product(a, b, _)) => {
                    return Operand::Value(self.contracted([a, b, c], [c, a, b]));
                }
                (BinaryOp::Sub, Operand::Product(a, b, _), rhs) => {
                    let c = self.operand_value(rhs);
                    let minus_c = self.b.un(UnOp::FNeg, c);
                    return Operand::Value(self.contracted([a, b, minus_c], [a, b, c]));
                }
                (BinaryOp::Sub, Operand::Value(c), Operand::Product(a, b, _)) => {
                    let minus_a = self.b.un(UnOp::FNeg, a);
                    return Operand::Value(self.contracted([minus_a, b, c], [c, a, b]));
                }
                _ => {}
            }
        }
        let (lhs, rhs) = (self.operand_value(lhs), self.operand_value(rhs));
        Operand::Value(self.operate(op, lhs, rhs, arith, ty))
    }

    /// Emits `a * b + c`, which the device may fuse. The product and the sum must be in one expression of the source.
    /// `operands` are the operands before negation, for the NaN check.
    fn contracted(&mut self, [a, b, c]: [Value; 3], operands: [Value; 3]) -> Value {
        let sum = self.b.mul_add(a, b, c);
        self.b.nan_check(sum, &operands, None);
        sum
    }

    /// Applies an operator to values.
    fn operate(&mut self, op: BinaryOp, lhs: Value, rhs: Value, arith: ArithType, ty: Ty) -> Value {
        let (float, signed) = (arith.is_float(), arith.is_signed());
        let bin = match op {
            BinaryOp::Add if float => BinOp::FAdd,
            BinaryOp::Sub if float => BinOp::FSub,
            BinaryOp::Mul if float => BinOp::FMul,
            BinaryOp::Div if float => BinOp::FDiv,
            BinaryOp::Add => BinOp::Add,
            BinaryOp::Sub => BinOp::Sub,
            BinaryOp::Mul => BinOp::Mul,
            BinaryOp::Div if signed => BinOp::SDiv,
            BinaryOp::Div => BinOp::UDiv,
            BinaryOp::Rem if signed => BinOp::SRem,
            BinaryOp::Rem => BinOp::URem,
            BinaryOp::BitAnd => BinOp::And,
            BinaryOp::BitOr => BinOp::Or,
            BinaryOp::BitXor => BinOp::Xor,
            BinaryOp::Shl => return self.shift(BinOp::Shl, lhs, rhs),
            BinaryOp::Shr => return self.shift(if signed { BinOp::AShr } else { BinOp::LShr }, lhs, rhs),
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                let flags = self.b.cmp(comparison(op, float, signed), lhs, rhs);
                return self.flag_value(flags, ty);
            }
            BinaryOp::VecAnd | BinaryOp::VecOr => {
                let zero = self.b.bits(arith.ir(), 0);
                let ne = if float { CmpOp::FNe } else { CmpOp::Ne };
                let (lhs, rhs) = (self.b.cmp(ne, lhs, zero), self.b.cmp(ne, rhs, zero));
                let flags = self.b.bin(if op == BinaryOp::VecAnd { BinOp::And } else { BinOp::Or }, lhs, rhs);
                return self.flag_value(flags, ty);
            }
        };
        let result = self.b.bin(bin, lhs, rhs);
        self.b.nan_check(result, &[lhs, rhs], None);
        result
    }

    /// Shifts by `amount` modulo the width of `lhs`. `amount` may have any width.
    fn shift(&mut self, op: BinOp, lhs: Value, amount: Value) -> Value {
        let ty = self.b.ty(lhs);
        let amount = self.b.splat(amount, ty.lanes());
        let amount = self.b.resize(amount, false, ty);
        self.b.bin(op, lhs, amount)
    }

    pub(super) fn compound_assign(&mut self, op: BinaryOp, lvalue: &'p Lvalue, value: &'p Expr, compute: Ty, contract: bool) -> Value {
        let right = if contract && is_product(value) { self.product(value) } else { Operand::Value(self.expr(value)) };
        let located = self.locate(lvalue);
        let old = self.read(&located, lvalue.ty.ty);
        let (object, arith) = (self.arithmetic(lvalue.ty.ty), self.arithmetic(compute));
        let left = self.b.convert(old, object, arith);
        let result = self.combine(op, Operand::Value(left), right, arith, contract, compute);
        let result = self.operand_value(result);
        let result = self.b.convert(result, arith, object);
        self.write(&located, lvalue.ty.ty, result);
        result
    }

    /// Lowers `++` and `--`. For a pointer, `stride` is the size of the pointee in bytes.
    pub(super) fn increment_or_decrement(&mut self, lvalue: &'p Lvalue, increment: bool, prefix: bool, stride: u32) -> Value {
        let located = self.locate(lvalue);
        let old = self.read(&located, lvalue.ty.ty);
        let new = if matches!(self.kind(lvalue.ty.ty), TyKind::Pointer { .. }) {
            let bytes = i64::from(stride);
            self.b.offset(old, if increment { bytes } else { -bytes })
        } else {
            let ty = self.b.ty(old);
            match ty.scalar() {
                // `++` always gives `true`. `--` inverts the value: `false - 1` converts to `true` (C99 6.5.2.4,
                // 6.3.1.2).
                Some(Scalar::Bool) if increment => self.b.bool(true),
                Some(Scalar::Bool) => self.b.not(old),
                Some(scalar) if scalar.is_float() => {
                    let one = self.b.float(ty, 1.0);
                    self.b.bin(if increment { BinOp::FAdd } else { BinOp::FSub }, old, one)
                }
                _ => self.b.bin_int(BinOp::Add, old, if increment { 1 } else { -1 }),
            }
        };
        self.write(&located, lvalue.ty.ty, new);
        if prefix { new } else { old }
    }
}

fn is_product(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Binary { op: BinaryOp::Mul, contract: true, .. })
}

/// Returns the comparison for a relational or equality operator. For floats, `!=` is true if an operand is a NaN.
const fn comparison(op: BinaryOp, float: bool, signed: bool) -> CmpOp {
    match (op, float, signed) {
        (BinaryOp::Eq, true, _) => CmpOp::FEq,
        (BinaryOp::Ne, true, _) => CmpOp::FNe,
        (BinaryOp::Lt, true, _) => CmpOp::FLt,
        (BinaryOp::Le, true, _) => CmpOp::FLe,
        (BinaryOp::Gt, true, _) => CmpOp::FGt,
        (_, true, _) => CmpOp::FGe,
        (BinaryOp::Eq, ..) => CmpOp::Eq,
        (BinaryOp::Ne, ..) => CmpOp::Ne,
        (BinaryOp::Lt, _, true) => CmpOp::SLt,
        (BinaryOp::Le, _, true) => CmpOp::SLe,
        (BinaryOp::Gt, _, true) => CmpOp::SGt,
        (_, _, true) => CmpOp::SGe,
        (BinaryOp::Lt, ..) => CmpOp::ULt,
        (BinaryOp::Le, ..) => CmpOp::ULe,
        (BinaryOp::Gt, ..) => CmpOp::UGt,
        _ => CmpOp::UGe,
    }
}
