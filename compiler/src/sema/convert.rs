//! Implicit conversions: promotions, the usual arithmetic conversions, and conversion as if by assignment (OpenCL C
//! 6.4; C99 6.3, 6.5.16.1).

use super::consteval::{Value, int_bits, int_value, range};
use super::{Sema, is_float, signed_of, unsigned_of};
use crate::ast::ScalarKind;
use crate::diag::{Span, WarningGroup};
use crate::ir::Space;
use crate::thir::types::{scalar_name, scalar_size};
use crate::thir::{CastKind, Constant, Expr, ExprKind, Ty, TyKind};

/// The purpose of a conversion. It selects the wording of errors.
#[derive(Clone, Debug)]
pub(super) enum Purpose {
    Initialize,
    Assign,
    Pass,
    Return,
}

/// The result of assigning one pointer type to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointerFit {
    Same,
    /// The pointee types are compatible, but the conversion discards `const` or `volatile` of the pointee.
    DropsQualifiers,
    /// The pointee types differ.
    OtherPointee,
    /// There is no implicit conversion between the address spaces.
    OtherSpace,
}

impl Sema<'_> {
    /// Creates a cast. Folds constants. Returns the operand unchanged if an arithmetic or pointer cast has no effect.
    pub(super) fn cast(&mut self, kind: CastKind, operand: Expr, ty: Ty) -> Expr {
        if operand.ty == ty && matches!(kind, CastKind::Arith | CastKind::Pointer) {
            return operand;
        }
        if self.is_wide(operand.ty) {
            return self.cast_wide(operand, ty);
        }
        let span = operand.span;
        if let ExprKind::Constant(_) = &operand.kind
            && let Some(Value::Const(constant)) = self.cast_constant(kind, &operand, ty)
        {
            return Expr { kind: ExprKind::Constant(constant), ty, span };
        }
        Expr { kind: ExprKind::Cast(kind, Box::new(operand)), ty, span }
    }

    /// Converts an arithmetic value to an arithmetic type: scalar to scalar, scalar to vector, or between vectors with
    /// equal lane counts.
    pub(super) fn arith_cast(&mut self, operand: Expr, ty: Ty) -> Expr {
        let operand = match self.arith(ty) {
            Some((kind, _)) if self.is_wide(operand.ty) => {
                let lane = self.scalar(kind);
                self.cast(CastKind::Arith, operand, lane)
            }
            _ => operand,
        };
        let (Some((_, from_lanes)), Some((to, to_lanes))) = (self.arith(operand.ty), self.arith(ty)) else { return operand };
        if from_lanes == to_lanes {
            return self.cast(CastKind::Arith, operand, ty);
        }
        let lane = self.scalar(to);
        let scalar = self.cast(CastKind::Arith, operand, lane);
        self.cast(CastKind::Splat, scalar, ty)
    }

    /// Applies the integer promotions to a scalar (C99 6.3.1.1). Returns other values unchanged.
    pub(super) fn promote(&mut self, operand: Expr) -> Expr {
        let Some(kind) = self.scalar_kind(operand.ty) else { return operand };
        let promoted = promoted(kind);
        let ty = self.scalar(promoted);
        if operand.ty == ty { operand } else { self.cast(CastKind::Arith, operand, ty) }
    }

    /// Applies the usual arithmetic conversions to two operands. If there is no common type, reports an error with both
    /// types at `span` and returns `None`.
    pub(super) fn usual_conversions(&mut self, lhs: Expr, rhs: Expr, span: Span) -> Option<(Expr, Expr)> {
        if self.has_wide_operand(lhs.ty, rhs.ty) {
            return Some((self.widened(lhs), self.widened(rhs)));
        }
        let (lhs, rhs) = match (self.arith(lhs.ty), self.arith(rhs.ty)) {
            (Some((lane, _)), None) if self.is_wide(rhs.ty) => {
                let rhs = self.wide_lane(rhs, lhs.ty, lane, span)?;
                (lhs, rhs)
            }
            (None, Some((lane, _))) if self.is_wide(lhs.ty) => (self.wide_lane(lhs, rhs.ty, lane, span)?, rhs),
            _ => (lhs, rhs),
        };
        let (Some((lhs_kind, lhs_lanes)), Some((rhs_kind, rhs_lanes))) = (self.arith(lhs.ty), self.arith(rhs.ty)) else {
            self.invalid_operands(&lhs, &rhs, span);
            return None;
        };
        match (lhs_lanes, rhs_lanes) {
            (1, 1) => {
                let kind = usual_kind(lhs_kind, rhs_kind);
                let ty = self.scalar(kind);
                Some((self.cast(CastKind::Arith, lhs, ty), self.cast(CastKind::Arith, rhs, ty)))
            }
            (_, 1) => {
                let rhs = self.widen(rhs, rhs_kind, lhs.ty, lhs_kind, span)?;
                Some((lhs, rhs))
            }
            (1, _) => {
                let lhs = self.widen(lhs, lhs_kind, rhs.ty, rhs_kind, span)?;
                Some((lhs, rhs))
            }
            _ if lhs.ty == rhs.ty => Some((lhs, rhs)),
            _ => {
                let (a, b) = (self.show(lhs.ty), self.show(rhs.ty));
                if lhs_lanes == rhs_lanes {
                    self.err(
                        span,
                        format!(
                            "cannot convert between vector type '{a}' and vector type '{b}' as implicit conversion would cause truncation; \
                             use convert_{a} or convert_{b}"
                        ),
                    );
                } else {
                    self.err(span, format!("vector operands do not have the same number of elements ('{a}' and '{b}')"));
                }
                None
            }
        }
    }

    /// Widens a scalar to a vector type (6.4.1). Reports an error and returns `None` if the scalar has a greater rank
    /// than the lanes. A constant may have a greater rank, except a floating-point constant for integer lanes.
    pub(super) fn widen(&mut self, scalar: Expr, kind: ScalarKind, vector: Ty, lane: ScalarKind, span: Span) -> Option<Expr> {
        let fits = match (is_float(kind), is_float(lane)) {
            (false, true) => true,
            (true, false) => false,
            _ => scalar_size(kind) <= scalar_size(lane),
        };
        let constant_fits = is_float(kind) == is_float(lane) && self.evaluate(&scalar).is_some();
        // A constant of greater rank is converted. `warn_of_lost_bits` warns if an integer constant loses bits.
        if !fits && !constant_fits {
            let (a, b) = (self.show(scalar.ty), self.show(vector));
            self.err(span, format!("scalar operand type has greater rank than the type of the vector element. ('{b}' and '{a}')"));
            return None;
        }
        if !fits && !is_float(kind) {
            self.warn_of_lost_bits(&scalar, kind, lane, span);
        }
        Some(self.arith_cast(scalar, vector))
    }

    /// Warns about an integer constant that neither the signed nor the unsigned type of the lane size can represent.
    fn warn_of_lost_bits(&mut self, scalar: &Expr, kind: ScalarKind, lane: ScalarKind, span: Span) {
        let Some(Value::Const(Constant::Int(bits))) = self.evaluate(scalar) else { return };
        let ((low, _), (_, high)) = (range(signed_of(lane)), range(unsigned_of(lane)));
        let value = int_value(kind, bits);
        if !(low..=high).contains(&value) {
            let (kept, from, to) = (int_value(lane, int_bits(lane, value)), self.show(scalar.ty), scalar_name(lane));
            self.warn_of_conversion(WarningGroup::ConstantConversion, span, (&from, to), value, kept);
        }
    }

    pub(super) fn invalid_operands(&mut self, lhs: &Expr, rhs: &Expr, span: Span) {
        if self.is_error(lhs.ty) || self.is_error(rhs.ty) {
            return;
        }
        let (a, b) = (self.show(lhs.ty), self.show(rhs.ty));
        self.err(span, format!("invalid operands to binary expression ('{a}' and '{b}')"));
    }

    /// Classifies the implicit conversion from one pointer type to another.
    pub(super) fn pointer_fit(&self, from: Ty, to: Ty) -> PointerFit {
        let (TyKind::Pointer { pointee: a, space: from_space, .. }, TyKind::Pointer { pointee: b, space: to_space, .. }) =
            (self.kind(from), self.kind(to))
        else {
            return PointerFit::OtherPointee;
        };
        if from_space != to_space && !(*to_space == Space::Generic && *from_space != Space::Constant) {
            return PointerFit::OtherSpace;
        }
        let void = matches!(self.kind(a.ty), TyKind::Void) || matches!(self.kind(b.ty), TyKind::Void);
        if !void && !self.is_compatible(a.ty, b.ty) {
            return PointerFit::OtherPointee;
        }
        if (a.is_const && !b.is_const) || (a.is_volatile && !b.is_volatile) {
            return PointerFit::DropsQualifiers;
        }
        PointerFit::Same
    }

    /// Whether two types are compatible (C99 6.2.7): equal except for `restrict`, unknown array lengths, and
    /// enumerations in place of their integer type.
    pub(super) fn is_compatible(&self, a: Ty, b: Ty) -> bool {
        if a == b {
            return true;
        }
        match (self.kind(a), self.kind(b)) {
            (TyKind::Error, _) | (_, TyKind::Error) => true,
            (TyKind::Array { element: x, len: m }, TyKind::Array { element: y, len: n }) => {
                (m.is_none() || n.is_none() || m == n) && self.is_compatible(x.ty, y.ty)
            }
            (TyKind::Pointer { pointee: x, space: s, .. }, TyKind::Pointer { pointee: y, space: t, .. }) => {
                s == t && x.is_const == y.is_const && x.is_volatile == y.is_volatile && self.is_compatible(x.ty, y.ty)
            }
            (TyKind::Enum { repr, .. }, TyKind::Scalar(kind)) | (TyKind::Scalar(kind), TyKind::Enum { repr, .. }) => repr == kind,
            _ => false,
        }
    }

    /// Converts a value as if by assignment to an object of a type. Reports invalid conversions.
    pub(super) fn assign_convert(&mut self, value: Expr, ty: Ty, purpose: &Purpose) -> Expr {
        if value.ty == ty {
            return value;
        }
        if self.is_error(value.ty) || self.is_error(ty) {
            let span = value.span;
            return if self.is_error(value.ty) { value } else { self.error_expr(span) };
        }
        if self.is_wide(value.ty) {
            if self.arith(ty).is_some() {
                self.warn_of_changed_constant(&value, ty);
                return self.arith_cast(value, ty);
            }
            let value = self.narrowed(value);
            return self.assign_convert(value, ty, purpose);
        }
        let from = self.kind(value.ty).clone();
        let to = self.kind(ty).clone();
        match (&from, &to) {
            (_, TyKind::Scalar(_) | TyKind::Enum { .. }) if self.scalar_kind(value.ty).is_some() => {
                self.warn_of_changed_value(&value, ty);
                self.cast(CastKind::Arith, value, ty)
            }
            (TyKind::Scalar(_) | TyKind::Enum { .. }, TyKind::Vector(..)) => self.arith_cast(value, ty),
            (TyKind::Pointer { .. }, TyKind::Scalar(ScalarKind::Bool)) => self.pointer_truth(value),
            (TyKind::Pointer { .. }, TyKind::Pointer { .. }) => self.assign_pointer(value, ty, purpose),
            (TyKind::Scalar(_) | TyKind::Enum { .. }, TyKind::Pointer { .. }) if self.is_integer_scalar(value.ty) => {
                let span = value.span;
                if self.is_null_constant(&value) {
                    return self.expr(ExprKind::Constant(Constant::Null), ty, span);
                }
                let text = self.mismatch("incompatible integer to pointer conversion", &value, ty, purpose);
                self.err(span, text);
                self.error_expr(span)
            }
            (TyKind::Pointer { .. }, TyKind::Scalar(_) | TyKind::Enum { .. }) if self.is_integer_scalar(ty) => {
                let span = value.span;
                let text = self.mismatch("incompatible pointer to integer conversion", &value, ty, purpose);
                self.err(span, text);
                self.error_expr(span)
            }
            // The constant 0 can initialise an event or a queue, and any constant can initialise a sampler or an
            // `atomic_flag`. Any integer can initialise an atomic type.
            (TyKind::Scalar(_), TyKind::Event | TyKind::Queue | TyKind::Sampler | TyKind::AtomicFlag | TyKind::Atomic(_))
                if self.is_integer_scalar(value.ty) =>
            {
                if let TyKind::Atomic(kind) = to {
                    let lane = self.scalar(kind);
                    let mut value = self.cast(CastKind::Arith, value, lane);
                    value.ty = ty;
                    return value;
                }
                let span = value.span;
                match self.integer_constant(&value) {
                    Some(1..) if matches!(to, TyKind::Event | TyKind::Queue) => self.incompatible(&value, ty, purpose),
                    Some(bits) => self.expr(ExprKind::Constant(Constant::Int(bits.cast_unsigned())), ty, span),
                    None => self.incompatible(&value, ty, purpose),
                }
            }
            (TyKind::Scalar(_), TyKind::Atomic(kind)) => {
                let lane = self.scalar(*kind);
                let mut value = self.cast(CastKind::Arith, value, lane);
                value.ty = ty;
                value
            }
            _ => self.incompatible(&value, ty, purpose),
        }
    }

    fn incompatible(&mut self, value: &Expr, ty: Ty, purpose: &Purpose) -> Expr {
        let (from, to, span) = (self.show(value.ty), self.show(ty), value.span);
        let hint = match (self.kind(value.ty), self.kind(ty)) {
            (TyKind::Vector(..), TyKind::Scalar(_)) => "; take one of its components, such as '.x'".to_owned(),
            (TyKind::Vector(_, a), TyKind::Vector(_, b)) if a == b => format!("; use convert_{to} or as_{to}"),
            _ => String::new(),
        };
        let text = match purpose {
            Purpose::Initialize => format!("initializing '{to}' with an expression of incompatible type '{from}'"),
            Purpose::Assign => format!("assigning to '{to}' from incompatible type '{from}'"),
            Purpose::Pass => format!("passing '{from}' to parameter of incompatible type '{to}'"),
            Purpose::Return => format!("returning '{from}' from a function with incompatible result type '{to}'"),
        };
        self.err(span, text + &hint);
        self.error_expr(span)
    }

    fn mismatch(&self, what: &str, value: &Expr, ty: Ty, purpose: &Purpose) -> String {
        let (from, to) = (self.show(value.ty), self.show(ty));
        match purpose {
            Purpose::Initialize => format!("{what} initializing '{to}' with an expression of type '{from}'"),
            Purpose::Assign => format!("{what} assigning to '{to}' from '{from}'"),
            Purpose::Pass => format!("{what} passing '{from}' to parameter of type '{to}'"),
            Purpose::Return => format!("{what} returning '{from}' from a function with result type '{to}'"),
        }
    }

    fn assign_pointer(&mut self, value: Expr, ty: Ty, purpose: &Purpose) -> Expr {
        let span = value.span;
        if self.is_null_constant(&value) {
            return self.expr(ExprKind::Constant(Constant::Null), ty, span);
        }
        let (from, to) = (self.show(value.ty), self.show(ty));
        match self.pointer_fit(value.ty, ty) {
            PointerFit::Same => {}
            PointerFit::OtherSpace => {
                let text = match purpose {
                    Purpose::Initialize => {
                        format!("initializing '{to}' with an expression of type '{from}' changes address space of pointer")
                    }
                    Purpose::Assign => format!("assigning '{from}' to '{to}' changes address space of pointer"),
                    Purpose::Pass => {
                        let hint = match self.kind(value.ty) {
                            TyKind::Pointer { space: Space::Generic | Space::Private, .. } => String::new(),
                            _ => format!("; declare the parameter as '{from}' to pass this pointer"),
                        };
                        format!("passing '{from}' to parameter of type '{to}' changes address space of pointer{hint}")
                    }
                    Purpose::Return => {
                        format!("returning '{from}' from a function with result type '{to}' changes address space of pointer")
                    }
                };
                self.err(span, text);
                return self.error_expr(span);
            }
            PointerFit::OtherPointee => {
                // A conversion must not change the address space of a nested pointer.
                if self.nested_spaces_differ(value.ty, ty) {
                    let text = match purpose {
                        Purpose::Initialize => {
                            format!("initializing '{to}' with an expression of type '{from}' changes address space of nested pointer")
                        }
                        Purpose::Assign => format!("assigning '{from}' to '{to}' changes address space of nested pointer"),
                        Purpose::Pass => format!("passing '{from}' to parameter of type '{to}' changes address space of nested pointer"),
                        Purpose::Return => {
                            format!("returning '{from}' from a function with result type '{to}' changes address space of nested pointer")
                        }
                    };
                    self.err(span, text);
                    return self.error_expr(span);
                }
                let text = self.mismatch("incompatible pointer types", &value, ty, purpose);
                self.warn(WarningGroup::IncompatiblePointerTypes, span, text);
            }
            PointerFit::DropsQualifiers => {
                let text = match purpose {
                    Purpose::Initialize => format!("initializing '{to}' with an expression of type '{from}' discards qualifiers"),
                    Purpose::Assign => format!("assigning to '{to}' from '{from}' discards qualifiers"),
                    Purpose::Pass => format!("passing '{from}' to parameter of type '{to}' discards qualifiers"),
                    Purpose::Return => format!("returning '{from}' from a function with result type '{to}' discards qualifiers"),
                };
                self.warn(WarningGroup::IncompatiblePointerTypesDiscardsQualifiers, span, text);
            }
        }
        self.cast(CastKind::Pointer, value, ty)
    }

    fn nested_spaces_differ(&self, a: Ty, b: Ty) -> bool {
        let (TyKind::Pointer { pointee: x, .. }, TyKind::Pointer { pointee: y, .. }) = (self.kind(a), self.kind(b)) else { return false };
        match (self.kind(x.ty), self.kind(y.ty)) {
            (TyKind::Pointer { space: s, .. }, TyKind::Pointer { space: t, .. }) => s != t || self.nested_spaces_differ(x.ty, y.ty),
            _ => false,
        }
    }

    /// Creates the `bool` expression that is true if `pointer` is not null.
    pub(super) fn pointer_truth(&mut self, pointer: Expr) -> Expr {
        let (ty, span) = (pointer.ty, pointer.span);
        let null = Expr { kind: ExprKind::Constant(Constant::Null), ty, span };
        let int = self.int();
        let kind = ExprKind::PointerCompare { op: crate::thir::BinaryOp::Ne, lhs: Box::new(pointer), rhs: Box::new(null) };
        let compared = Expr { kind, ty: int, span };
        let bool_ty = self.scalar(ScalarKind::Bool);
        self.cast(CastKind::Arith, compared, bool_ty)
    }
}

/// Returns the type of a scalar after integer promotion.
pub(super) const fn promoted(kind: ScalarKind) -> ScalarKind {
    match kind {
        ScalarKind::Bool | ScalarKind::Char | ScalarKind::UChar | ScalarKind::Short | ScalarKind::UShort => ScalarKind::Int,
        other => other,
    }
}

/// Returns the common type of two scalar types (C99 6.3.1.8). `half` is not promoted to `float` (OpenCL C 6.3.1.1).
pub(super) fn usual_kind(a: ScalarKind, b: ScalarKind) -> ScalarKind {
    if is_float(a) || is_float(b) {
        for kind in [ScalarKind::Double, ScalarKind::Float] {
            if a == kind || b == kind {
                return kind;
            }
        }
        return ScalarKind::Half;
    }
    let (a, b) = (promoted(a), promoted(b));
    let rank = |kind| match kind {
        ScalarKind::Int => 0,
        ScalarKind::UInt => 1,
        ScalarKind::Long => 2,
        _ => 3,
    };
    if rank(a) >= rank(b) { a } else { b }
}
