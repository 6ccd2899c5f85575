//! 128-bit integers: constants that exceed `long`, as clang's `long long` in OpenCL C, and operations on them.
//!
//! A literal such as `9223372036854775808` has the type [`TyKind::Wide`]. The type has no name, so variables cannot
//! have it. This module evaluates constant expressions of the type. An expression that is not constant is a tree of
//! sums, products and bit operations on widened operands. It is converted to a type of at most 64 bits in one of these
//! ways:
//!
//! * A conversion to 64 bits or less needs only the lower 64 bits of the expression. These depend only on the lower
//!   64 bits of its operands ([`Sema::low_bits`]).
//! * Comparisons, quotients, right shifts and conversions to floats need all bits. The operand types determine a
//!   range of values ([`Sema::wide_range`]). Often it fits in 64 bits, or it determines the result of a comparison.
//! * Otherwise the compiler reports an error, because there is no 128-bit arithmetic at run time.
//!
//! All other operations reject the type, because [`Sema::scalar_kind`] does not treat it as a scalar type.
//! [`Sema::rvalue_expr`] converts values of this type to 64 bits.

use super::consteval::{Value, int_bits, int_value, range, wide_to};
use super::operators::thir_op;
use super::{Operand, Sema, is_float, is_signed, signed_of, unsigned_of};
use crate::ast::{self, IntSuffix, ScalarKind};
use crate::diag::{Span, WarningGroup};
use crate::thir::{BinaryOp, CastKind, Constant, Expr, ExprKind, Init, Lvalue, QualTy, Stmt, StmtKind, Ty, TyKind, UnaryOp};

/// Maximum nesting of 128-bit operations. The functions of this module are recursive.
const MAX_DEPTH: u32 = 200;

/// Minimum and maximum value of an expression.
type Range = (i128, i128);

const NEEDS_128: &str =
    "128-bit integer arithmetic is supported in constants only; add a suffix such as 'ul' or convert to 'long' or 'ulong'";

impl Sema<'_> {
    pub(super) fn wide_ty(&mut self) -> Ty {
        self.types.intern(TyKind::Wide)
    }

    pub(super) fn is_wide(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Wide)
    }

    /// Whether both types are integers and one of them has 128 bits.
    pub(super) fn has_wide_operand(&self, a: Ty, b: Ty) -> bool {
        let integer = |ty| self.is_wide(ty) || self.is_integer_scalar(ty);
        (self.is_wide(a) || self.is_wide(b)) && integer(a) && integer(b)
    }

    /// Creates the constant for a literal that no 64-bit type permitted by its suffix can represent. Reports an error
    /// if the suffix is unsigned, or if the literal exceeds a signed 128-bit integer.
    pub(super) fn wide_literal(&mut self, value: u128, suffix: IntSuffix, span: Span) -> Expr {
        match i128::try_from(value) {
            Ok(value) if !suffix.unsigned => self.wide_const(value, span),
            _ => {
                self.err(span, "integer literal is too large to be represented in any integer type");
                self.error_expr(span)
            }
        }
    }

    fn wide_const(&mut self, value: i128, span: Span) -> Expr {
        let ty = self.wide_ty();
        self.expr(ExprKind::Constant(Constant::Wide(value)), ty, span)
    }

    fn needs_wide(&mut self, span: Span) -> Expr {
        self.err(span, NEEDS_128);
        self.error_expr(span)
    }

    /// Widens an integer to 128 bits.
    pub(super) fn widened(&mut self, value: Expr) -> Expr {
        if self.is_wide(value.ty) || self.is_error(value.ty) {
            return value;
        }
        let span = value.span;
        match (self.scalar_kind(value.ty), self.evaluate(&value)) {
            (Some(kind), Some(Value::Const(Constant::Int(bits)))) => self.wide_const(int_value(kind, bits), span),
            _ => {
                let ty = self.wide_ty();
                self.expr(ExprKind::Cast(CastKind::Arith, Box::new(value)), ty, span)
            }
        }
    }

    /// Converts a 128-bit integer to `long` or `ulong`. Reports an error unless one of them can represent it. Returns
    /// other values unchanged.
    pub(super) fn narrowed(&mut self, value: Expr) -> Expr {
        if !self.is_wide(value.ty) {
            return value;
        }
        match self.exact_kind(&[&value]) {
            Some(kind) => self.low_bits(value, kind),
            None => self.needs_wide(value.span),
        }
    }

    /// Checks an expression and converts it to a value, which may be a 128-bit integer.
    pub(super) fn any_rvalue(&mut self, expr: &ast::Expr) -> Expr {
        let operand: Operand = self.operand(expr);
        self.rvalue(operand)
    }

    /// Compares a 128-bit integer with zero. The result is an `int`. Returns other values unchanged.
    pub(super) fn wide_truth(&mut self, value: Expr, op: BinaryOp) -> Expr {
        if !self.is_wide(value.ty) {
            return value;
        }
        let span = value.span;
        let zero = self.wide_const(0, span);
        self.wide_compare(op, value, zero, span)
    }

    /// Converts a 128-bit integer to another type.
    pub(super) fn cast_wide(&mut self, value: Expr, ty: Ty) -> Expr {
        let span = value.span;
        let Some(kind) = self.scalar_kind(ty) else {
            let narrowed = self.narrowed(value);
            return if self.is_error(narrowed.ty) { narrowed } else { self.cast(CastKind::Arith, narrowed, ty) };
        };
        if let ExprKind::Constant(Constant::Wide(value)) = value.kind {
            return self.expr(ExprKind::Constant(wide_to(kind, value)), ty, span);
        }
        let narrow = match kind {
            ScalarKind::Bool => self.wide_truth(value, BinaryOp::Ne),
            kind if is_float(kind) => self.narrowed(value),
            kind => self.low_bits(value, if is_signed(kind) { ScalarKind::Long } else { ScalarKind::ULong }),
        };
        if self.is_error(narrow.ty) { narrow } else { self.cast(CastKind::Arith, narrow, ty) }
    }

    /// Warns about an implicit conversion that changes the value of a 128-bit constant.
    pub(super) fn warn_of_changed_constant(&mut self, value: &Expr, ty: Ty) {
        let (ExprKind::Constant(Constant::Wide(wide)), Some(kind)) = (&value.kind, self.scalar_kind(ty)) else { return };
        if is_float(kind) || kind == ScalarKind::Bool {
            return;
        }
        let changed = int_value(kind, int_bits(kind, *wide));
        if changed != *wide {
            let (from, to) = (self.show(value.ty), self.show(ty));
            self.warn_of_conversion(WarningGroup::ConstantConversion, value.span, (&from, &to), wide, changed);
        }
    }

    // Operators.

    pub(super) fn wide_unary(&mut self, op: UnaryOp, value: Expr, span: Span) -> Expr {
        let ty = value.ty;
        match (op, &value.kind) {
            (UnaryOp::Neg, ExprKind::Constant(Constant::Wide(wide))) => {
                let wide = wide.wrapping_neg();
                self.wide_const(wide, span)
            }
            (UnaryOp::BitNot, ExprKind::Constant(Constant::Wide(wide))) => {
                let wide = !*wide;
                self.wide_const(wide, span)
            }
            _ if self.is_too_deep(&[&value], span) => self.error_expr(span),
            _ => self.expr(ExprKind::Unary(op, Box::new(value)), ty, span),
        }
    }

    /// Reports an error and returns true if an operation on these operands exceeds the nesting limit.
    pub(super) fn is_too_deep(&mut self, operands: &[&Expr], span: Span) -> bool {
        let deep = operands.iter().any(|operand| wide_depth(operand, 0) >= MAX_DEPTH);
        if deep {
            self.err(span, format!("expression is nested too deeply (the limit is {MAX_DEPTH})"));
        }
        deep
    }

    /// Creates an operation on two 128-bit integers, except for shifts and comparisons.
    pub(super) fn wide_arithmetic(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        if let (ExprKind::Constant(Constant::Wide(a)), ExprKind::Constant(Constant::Wide(b))) = (&lhs.kind, &rhs.kind) {
            return match wide_value(op, *a, *b) {
                Some(value) => self.wide_const(value, span),
                None => {
                    self.err(span, "overflow or division by zero in a 128-bit integer constant");
                    self.error_expr(span)
                }
            };
        }
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) {
            return self.wide_quotient(op, lhs, rhs, span);
        }
        if self.is_too_deep(&[&lhs, &rhs], span) {
            return self.error_expr(span);
        }
        let ty = self.wide_ty();
        self.expr(ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs), contract: false }, ty, span)
    }

    fn wide_quotient(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        let overflows = match (self.wide_range(&lhs), self.wide_range(&rhs)) {
            (Some((low, _)), Some((from, to))) => low == i128::from(i64::MIN) && from <= -1 && to >= -1,
            _ => true,
        };
        match self.exact_kind(&[&lhs, &rhs]) {
            Some(kind) if !overflows => {
                let (lhs, rhs) = (self.low_bits(lhs, kind), self.low_bits(rhs, kind));
                let ty = lhs.ty;
                let quotient = self.binary_node(op, lhs, rhs, ty, span);
                self.widened(quotient)
            }
            _ => self.needs_wide(span),
        }
    }

    /// Creates a shift of a 128-bit integer by the low seven bits of `amount`.
    pub(super) fn wide_shift(&mut self, op: BinaryOp, lhs: Expr, amount: Expr, span: Span) -> Expr {
        let known = match self.evaluate(&amount) {
            Some(Value::Const(Constant::Int(bits))) => Some(u32::try_from(bits & 127).unwrap_or(0)),
            _ => None,
        };
        if let (ExprKind::Constant(Constant::Wide(value)), Some(amount)) = (&lhs.kind, known) {
            let shifted = if op == BinaryOp::Shl { value << amount } else { value >> amount };
            return self.wide_const(shifted, span);
        }
        if op == BinaryOp::Shl {
            if self.is_too_deep(&[&lhs], span) {
                return self.error_expr(span);
            }
            let ty = self.wide_ty();
            return self.expr(ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(amount), contract: false }, ty, span);
        }
        let Some(kind) = self.exact_kind(&[&lhs]) else { return self.needs_wide(span) };
        let lhs = self.low_bits(lhs, kind);
        let shifted = self.shifted(op, lhs, amount, span);
        self.widened(shifted)
    }

    /// Creates a 64-bit shift by the low seven bits of `amount`, which may be 64 or more.
    fn shifted(&mut self, op: BinaryOp, value: Expr, amount: Expr, span: Span) -> Expr {
        let ty = value.ty;
        let ulong = self.scalar(ScalarKind::ULong);
        let amount = self.cast(CastKind::Arith, amount, ulong);
        let (value, value_again, kept_value) = self.twice(value, span);
        let (amount, amount_again, kept_amount) = self.twice(amount, span);
        let bit = self.int_const(64, ScalarKind::ULong, span);
        let is_64_or_more = self.binary_node(BinaryOp::BitAnd, amount, bit, ulong, span);
        // A shift by 64 or more leaves sign bits in a right shift of a signed number, and zeros otherwise.
        let all_shifted_out = if op == BinaryOp::Shr && self.scalar_kind(ty) == Some(ScalarKind::Long) {
            let all = self.int_const(63, ScalarKind::ULong, span);
            self.binary_node(op, value_again, all, ty, span)
        } else {
            self.int_const(0, ScalarKind::ULong, span)
        };
        let all_shifted_out = Expr { ty, ..all_shifted_out };
        let shifted_less = self.binary_node(op, value, amount_again, ty, span);
        let (then, els) = (Box::new(all_shifted_out), Box::new(shifted_less));
        let value = self.expr(ExprKind::Cond { cond: Box::new(is_64_or_more), then, els }, ty, span);
        let stmts: Vec<Stmt> = [kept_value, kept_amount].into_iter().flatten().collect();
        self.expr(ExprKind::StmtExpr { stmts, value: Some(Box::new(value)) }, ty, span)
    }

    /// Returns two expressions with the value of `value`, and the statement that stores the value to the variable that
    /// they read. A constant needs no statement.
    fn twice(&mut self, value: Expr, span: Span) -> (Expr, Expr, Option<Stmt>) {
        let ty = value.ty;
        if let ExprKind::Constant(constant) = &value.kind {
            let again = self.expr(ExprKind::Constant(constant.clone()), ty, span);
            return (value, again, None);
        }
        let Some(local) = self.new_local("", QualTy::plain(ty), span) else {
            let (first, second) = (self.needs_wide(span), self.error_expr(span));
            return (first, second, None);
        };
        let (first, second) = (self.local_lvalue(local, span), self.local_lvalue(local, span));
        let (first, second) = (self.rvalue(Operand::Lvalue(first)), self.rvalue(Operand::Lvalue(second)));
        let kept = Stmt { kind: StmtKind::Local { local, init: Some(Init::Expr(value)) }, span: self.span(span) };
        (first, second, Some(kept))
    }

    /// Creates a comparison of 128-bit integers.
    pub(super) fn wide_compare(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        if let (ExprKind::Constant(Constant::Wide(a)), ExprKind::Constant(Constant::Wide(b))) = (&lhs.kind, &rhs.kind) {
            let truth = range_comparison(op, (*a, *a), (*b, *b)) == Some(true);
            return self.int_const(i64::from(truth), ScalarKind::Int, span);
        }
        let answer = match (self.wide_range(&lhs), self.wide_range(&rhs)) {
            (Some(a), Some(b)) => range_comparison(op, a, b),
            _ => None,
        };
        let int = self.int();
        if let Some(answer) = answer {
            self.warn_of_constant_comparison(&lhs, &rhs, answer, span);
            // Evaluate the operands for their side effects.
            let mut value = self.int_const(i64::from(answer), ScalarKind::Int, span);
            for operand in [rhs, lhs] {
                if !matches!(operand.kind, ExprKind::Constant(_)) {
                    let operand = self.low_bits(operand, ScalarKind::ULong);
                    value = self.expr(ExprKind::Comma(Box::new(operand), Box::new(value)), int, span);
                }
            }
            return value;
        }
        match self.exact_kind(&[&lhs, &rhs]) {
            Some(kind) => {
                let (lhs, rhs) = (self.low_bits(lhs, kind), self.low_bits(rhs, kind));
                self.binary_node(op, lhs, rhs, int, span)
            }
            None => self.needs_wide(span),
        }
    }

    fn warn_of_constant_comparison(&mut self, lhs: &Expr, rhs: &Expr, answer: bool, span: Span) {
        let (constant, other) = match (&lhs.kind, &rhs.kind) {
            (ExprKind::Constant(Constant::Wide(constant)), _) => (constant, rhs),
            (_, ExprKind::Constant(Constant::Wide(constant))) => (constant, lhs),
            _ => return,
        };
        if let ExprKind::Cast(CastKind::Arith, operand) = &other.kind {
            let shown = self.show(operand.ty);
            self.warn(
                WarningGroup::TautologicalConstantOutOfRangeCompare,
                span,
                format!("result of comparison of constant {constant} with expression of type '{shown}' is always {answer}"),
            );
        }
    }

    /// Converts a 128-bit operand of a binary operation to the lane type of the other operand, which is a float or a
    /// vector. For an integer lane type, the operand must be a constant that a signed or unsigned integer of the lane's
    /// size can represent. Otherwise, reports an error and returns `None`.
    pub(super) fn wide_lane(&mut self, value: Expr, other: Ty, lane: ScalarKind, span: Span) -> Option<Expr> {
        let ty = self.scalar(lane);
        let fits = match value.kind {
            ExprKind::Constant(Constant::Wide(value)) => {
                let ((low, _), (_, high)) = (range(signed_of(lane)), range(unsigned_of(lane)));
                (low..=high).contains(&value)
            }
            _ => false,
        };
        if !is_float(lane) && !fits {
            let (a, b) = (self.show(value.ty), self.show(other));
            self.err(span, format!("scalar operand type has greater rank than the type of the vector element. ('{b}' and '{a}')"));
            return None;
        }
        Some(self.cast(CastKind::Arith, value, ty)).filter(|value| !self.is_error(value.ty))
    }

    /// Creates a compound assignment with a 128-bit integer on the right.
    pub(super) fn wide_assignment(&mut self, op: ast::BinaryOp, lvalue: Lvalue, value: Expr, span: Span) -> Expr {
        let ty = lvalue.ty.ty;
        let is_shift = matches!(op, ast::BinaryOp::Shl | ast::BinaryOp::Shr);
        let value = match self.arith(ty) {
            Some((kind, 1)) if !is_float(kind) && !is_shift => {
                let (compute, value) = self.wide_compound(op, kind, value);
                let (op, lvalue, value) = (thir_op(op), Box::new(lvalue), Box::new(value));
                return self.expr(ExprKind::CompoundAssign { op, lvalue, value, compute, contract: false }, ty, span);
            }
            Some((kind, _)) if !is_shift => self.wide_lane(value, ty, kind, span),
            _ if is_shift => {
                // A shift uses only the low bits of the amount.
                let ulong = self.scalar(ScalarKind::ULong);
                Some(self.cast(CastKind::Arith, value, ulong))
            }
            _ => Some(self.narrowed(value)),
        };
        match value.filter(|value| !self.is_error(value.ty)) {
            Some(value) => self.compound_assignment(op, lvalue, value, span),
            None => self.error_expr(span),
        }
    }

    /// Returns the computation type and the converted operand of a compound assignment to an integer of at most 64
    /// bits.
    fn wide_compound(&mut self, op: ast::BinaryOp, kind: ScalarKind, value: Expr) -> (Ty, Expr) {
        use ast::BinaryOp as B;
        let span = value.span;
        let compute = match op {
            B::Add | B::Sub | B::Mul | B::BitAnd | B::BitOr | B::BitXor if kind != ScalarKind::Bool => Some(ScalarKind::ULong),
            _ => {
                // The operation depends on all bits. One 64-bit type must represent both ranges.
                let of_lvalue = range(kind);
                let of_value = self.wide_range(&value);
                of_value.and_then(|of_value| common_kind(&[of_lvalue, of_value]))
            }
        };
        match compute {
            Some(compute) => {
                let value = self.low_bits(value, compute);
                (value.ty, value)
            }
            None => {
                let error = self.needs_wide(span);
                (error.ty, error)
            }
        }
    }

    // Conversion to 64 bits.

    /// Returns the 64-bit type that can represent all possible values of some 128-bit expressions. Returns `None` if
    /// there is no such type, or if the range of an expression is unknown.
    fn exact_kind(&self, values: &[&Expr]) -> Option<ScalarKind> {
        let ranges: Option<Vec<Range>> = values.iter().map(|value| self.wide_range(value)).collect();
        common_kind(&ranges?)
    }

    /// Returns the range of a 128-bit expression, from the types of its operands. Returns `None` if the range is not
    /// known or exceeds 128 bits.
    fn wide_range(&self, value: &Expr) -> Option<Range> {
        match &value.kind {
            ExprKind::Constant(Constant::Wide(value)) => Some((*value, *value)),
            ExprKind::Cast(_, operand) => Some(range(self.scalar_kind(operand.ty)?)),
            ExprKind::Unary(UnaryOp::Neg, operand) => {
                let (low, high) = self.wide_range(operand)?;
                Some((high.checked_neg()?, low.checked_neg()?))
            }
            ExprKind::Unary(UnaryOp::BitNot, operand) => {
                let (low, high) = self.wide_range(operand)?;
                Some((!high, !low))
            }
            ExprKind::Binary { op, lhs, rhs, .. } => binary_range(*op, self.wide_range(lhs)?, self.wide_range(rhs)?),
            ExprKind::Cond { then, els, .. } => {
                let (a, b) = (self.wide_range(then)?, self.wide_range(els)?);
                Some((a.0.min(b.0), a.1.max(b.1)))
            }
            _ => None,
        }
    }

    /// Creates the low 64 bits of a 128-bit expression, as the type `kind`. In sums, products and bit operations, they
    /// depend only on the low 64 bits of the operands.
    fn low_bits(&mut self, value: Expr, kind: ScalarKind) -> Expr {
        let ty = self.scalar(kind);
        let Expr { kind: node, span, .. } = value;
        match node {
            ExprKind::Constant(Constant::Wide(wide)) => self.expr(ExprKind::Constant(wide_to(kind, wide)), ty, span),
            ExprKind::Cast(_, operand) => self.cast(CastKind::Arith, *operand, ty),
            ExprKind::Unary(op, operand) => {
                let operand = self.low_bits(*operand, kind);
                self.expr(ExprKind::Unary(op, Box::new(operand)), ty, span)
            }
            ExprKind::Binary { op: BinaryOp::Shl, lhs, rhs, .. } => {
                let lhs = self.low_bits(*lhs, kind);
                self.shifted(BinaryOp::Shl, lhs, *rhs, span)
            }
            ExprKind::Binary { op, lhs, rhs, .. } => {
                let (lhs, rhs) = (self.low_bits(*lhs, kind), self.low_bits(*rhs, kind));
                self.binary_node(op, lhs, rhs, ty, span)
            }
            ExprKind::Cond { cond, then, els } => {
                let (then, els) = (self.low_bits(*then, kind), self.low_bits(*els, kind));
                self.expr(ExprKind::Cond { cond, then: Box::new(then), els: Box::new(els) }, ty, span)
            }
            _ => self.needs_wide(span),
        }
    }
}

/// Returns `depth` plus the nesting depth of the 128-bit operations in `value`, at most [`MAX_DEPTH`].
fn wide_depth(value: &Expr, depth: u32) -> u32 {
    if depth >= MAX_DEPTH {
        return depth;
    }
    match &value.kind {
        ExprKind::Unary(_, operand) => wide_depth(operand, depth + 1),
        ExprKind::Binary { op: BinaryOp::Shl, lhs, .. } => wide_depth(lhs, depth + 1),
        ExprKind::Binary { lhs: a, rhs: b, .. } | ExprKind::Cond { then: a, els: b, .. } => {
            wide_depth(a, depth + 1).max(wide_depth(b, depth + 1))
        }
        _ => depth,
    }
}

/// Returns the 64-bit type that contains all ranges, or `None` if there is no such type. `long` has precedence.
fn common_kind(ranges: &[Range]) -> Option<ScalarKind> {
    let within = |kind| {
        let (low, high) = range(kind);
        ranges.iter().all(|(from, to)| low <= *from && *to <= high)
    };
    [ScalarKind::Long, ScalarKind::ULong].into_iter().find(|kind| within(*kind))
}

/// Returns the result of an arithmetic or bitwise operation. Returns `None` if it is undefined or overflows, and for
/// other operators.
fn wide_value(op: BinaryOp, a: i128, b: i128) -> Option<i128> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => a.checked_div(b),
        BinaryOp::Rem => a.checked_rem(b),
        BinaryOp::BitAnd => Some(a & b),
        BinaryOp::BitOr => Some(a | b),
        BinaryOp::BitXor => Some(a ^ b),
        _ => None,
    }
}

/// Returns the range of an operation on values of two ranges, or `None` if it is not known or overflows.
fn binary_range(op: BinaryOp, a: Range, b: Range) -> Option<Range> {
    match op {
        BinaryOp::Add => Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?)),
        BinaryOp::Sub => Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?)),
        BinaryOp::Mul => {
            let corners = [a.0.checked_mul(b.0)?, a.0.checked_mul(b.1)?, a.1.checked_mul(b.0)?, a.1.checked_mul(b.1)?];
            Some((*corners.iter().min()?, *corners.iter().max()?))
        }
        // The result is not greater than a non-negative operand.
        BinaryOp::BitAnd if a.0 >= 0 && b.0 >= 0 => Some((0, a.1.min(b.1))),
        BinaryOp::BitAnd if a.0 >= 0 => Some((0, a.1)),
        BinaryOp::BitAnd if b.0 >= 0 => Some((0, b.1)),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            let bits = [a.0, a.1, b.0, b.1].into_iter().map(magnitude_bits).max()?;
            let least = if a.0 >= 0 && b.0 >= 0 { 0 } else { i128::MIN >> (127 - bits) };
            Some((least, i128::MAX >> (127 - bits)))
        }
        _ => None,
    }
}

/// Returns the number of bits of a two's complement number without its sign bits.
const fn magnitude_bits(value: i128) -> u32 {
    128 - (if value < 0 { !value } else { value }).leading_zeros()
}

/// Returns the result of a comparison of values of two ranges, or `None` if it depends on the values.
fn range_comparison(op: BinaryOp, a: Range, b: Range) -> Option<bool> {
    let (below, above) = (a.1 < b.0, a.0 > b.1);
    let same = a.0 == a.1 && a == b;
    match op {
        BinaryOp::Eq if below || above => Some(false),
        BinaryOp::Eq => same.then_some(true),
        BinaryOp::Ne if below || above => Some(true),
        BinaryOp::Ne => same.then_some(false),
        BinaryOp::Lt if below => Some(true),
        BinaryOp::Lt => (a.0 >= b.1).then_some(false),
        BinaryOp::Gt if above => Some(true),
        BinaryOp::Gt => (a.1 <= b.0).then_some(false),
        BinaryOp::Le if above => Some(false),
        BinaryOp::Le => (a.1 <= b.0).then_some(true),
        BinaryOp::Ge if below => Some(false),
        BinaryOp::Ge => (a.0 >= b.1).then_some(true),
        _ => None,
    }
}
