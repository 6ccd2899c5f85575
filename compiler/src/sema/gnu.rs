//! Calls of `__builtin_...` functions of GNU C and clang.

use super::Sema;
use crate::ast::{self, Name, ScalarKind};
use crate::builtins::Intrinsic;
use crate::builtins::gnu::{Bits, Gnu, parse};
use crate::diag::Span;
use crate::thir::types::scalar_size;
use crate::thir::{BinaryOp, CastKind, Constant, Expr, ExprKind};

impl Sema<'_> {
    pub(super) fn gnu_builtin(&mut self, name: &Name, args: &[ast::Expr], name_span: Span, span: Span) -> Expr {
        let Some(gnu) = parse(name) else { return self.error_expr(span) };
        if gnu == Gnu::Nothing {
            for arg in args {
                self.unevaluated(arg);
            }
            return self.no_value(span);
        }
        let values: Vec<Expr> = args.iter().map(|arg| self.rvalue_expr(arg)).collect();
        if values.iter().any(|value| self.is_error(value.ty)) {
            return self.error_expr(span);
        }
        let expected = match gnu {
            Gnu::Expect | Gnu::AssumeAligned => 2..=3,
            Gnu::Constant(_, value) => usize::from(value.is_nan())..=1,
            Gnu::Function(..) => 0..=3,
            _ => 1..=1,
        };
        if !self.expect_count(name, expected, values.len(), name_span) {
            return self.error_expr(span);
        }
        match gnu {
            Gnu::Function(ours, kind) => {
                let kind = kind.map(|kind| if self.target.language.fp64 { kind } else { ScalarKind::Float });
                let mut converted = Vec::with_capacity(values.len());
                for (index, value) in values.into_iter().enumerate() {
                    // Do not convert the exponent of `ldexp`, which is an integer.
                    let value = match kind.filter(|_| !(ours == "ldexp" && index == 1)) {
                        Some(kind) => {
                            let ty = self.scalar(kind);
                            self.arith_cast(value, ty)
                        }
                        None => value,
                    };
                    converted.push(value);
                }
                let values = converted;
                self.builtin_call_values(&Name::from(ours), values, args, name_span, span)
            }
            Gnu::Constant(kind, value) => {
                let kind = if self.target.language.fp64 { kind } else { ScalarKind::Float };
                let ty = self.scalar(kind);
                self.expr(ExprKind::Constant(Constant::Float(value)), ty, span)
            }
            _ => match values.into_iter().next() {
                Some(value) => self.gnu_unary(gnu, name, value, span),
                None => self.error_expr(span),
            },
        }
    }

    /// Creates a `void` expression without effect.
    fn no_value(&mut self, span: Span) -> Expr {
        let zero = self.int_const(0, ScalarKind::Int, span);
        let void = self.void_ty();
        self.expr(ExprKind::Cast(CastKind::ToVoid, Box::new(zero)), void, span)
    }

    fn gnu_unary(&mut self, gnu: Gnu, name: &Name, value: Expr, span: Span) -> Expr {
        let int = self.int();
        match gnu {
            Gnu::AssumeAligned if self.is_pointer(value.ty) => return value,
            Gnu::ConstantP => {
                let known = self.evaluate(&value).is_some();
                return self.int_const(i64::from(known), ScalarKind::Int, span);
            }
            Gnu::Expect if self.is_pointer(value.ty) => return self.pointer_truth(value),
            _ => {}
        }
        if !self.is_integer_scalar(value.ty) {
            self.bad_arg(name, &value, "expecting an integer");
            return self.error_expr(span);
        }
        match gnu {
            Gnu::Expect => self.promote(value),
            Gnu::Abs(kind) => {
                let ty = self.scalar(kind);
                let value = self.cast(CastKind::Arith, value, ty);
                let unsigned = self.scalar(super::unsigned_of(kind));
                let result = self.intrinsic(Intrinsic::Abs, vec![value], unsigned, span);
                self.cast(CastKind::Arith, result, ty)
            }
            Gnu::ByteSwap(kind) => {
                let ty = self.scalar(kind);
                let size = u8::try_from(scalar_size(kind)).unwrap_or(4);
                let bytes = self.lanes(ScalarKind::UChar, size);
                let value = self.cast(CastKind::Arith, value, ty);
                let vector = self.cast(CastKind::AsType, value, bytes);
                let swapped = self.expr(ExprKind::Swizzle(Box::new(vector), (0..size).rev().collect()), bytes, span);
                self.cast(CastKind::AsType, swapped, ty)
            }
            Gnu::Bits(bits, kind) => {
                let ty = self.scalar(kind);
                let value = self.cast(CastKind::Arith, value, ty);
                let op = match bits {
                    Bits::Popcount | Bits::Parity => Intrinsic::Popcount,
                    Bits::Clz => Intrinsic::Clz,
                    Bits::Ctz | Bits::Ffs => Intrinsic::Ctz,
                };
                let result = self.intrinsic(op, vec![value], ty, span);
                let result = self.cast(CastKind::Arith, result, int);
                let constant = |sema: &mut Self, value| Box::new(sema.int_const(value, ScalarKind::Int, span));
                let binary = |sema: &Self, op, lhs, rhs| sema.expr(ExprKind::Binary { op, lhs, rhs, contract: false }, int, span);
                match bits {
                    Bits::Parity => {
                        let one = constant(self, 1);
                        binary(self, BinaryOp::BitAnd, Box::new(result), one)
                    }
                    // ffs(x) = (ctz(x) + 1) % (width + 1), because ctz(0) is the width.
                    Bits::Ffs => {
                        let one = constant(self, 1);
                        let next = binary(self, BinaryOp::Add, Box::new(result), one);
                        let modulus = constant(self, i64::from(scalar_size(kind) * 8 + 1));
                        binary(self, BinaryOp::Rem, Box::new(next), modulus)
                    }
                    _ => result,
                }
            }
            _ => self.error_expr(span),
        }
    }
}
