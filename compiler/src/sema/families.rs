//! Built-in functions that the table cannot express: the name contains a type, or the argument types depend on a pipe
//! or a format string (OpenCL C 6.4.3, 6.4.4, 6.15.14, 6.15.17).

use super::convert::Purpose;
use super::pipes::PipeCall;
use super::{Sema, is_float};
use crate::ast::{self, Name, ScalarKind};
use crate::builtins::{Intrinsic, signature};
use crate::diag::Span;
use crate::ir::Space;
use crate::thir::{CastKind, Expr, ExprKind, QualTy, Rounding, Ty, TyKind};

/// The function that a built-in name outside of the table refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Convert { kind: ScalarKind, lanes: u8, saturate: bool, rounding: Option<Rounding> },
    As { kind: ScalarKind, lanes: u8 },
    Pipe(PipeCall),
    Printf,
}

fn parse_type(text: &str) -> Option<(ScalarKind, u8)> {
    let (name, lanes) = text.split_at(text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len()));
    Some((signature::scalar(name)?, if lanes.is_empty() { 1 } else { parse_lanes(lanes)? }))
}

fn parse_lanes(text: &str) -> Option<u8> {
    match text {
        "2" => Some(2),
        "3" => Some(3),
        "4" => Some(4),
        "8" => Some(8),
        "16" => Some(16),
        _ => None,
    }
}

fn parse_rounding(text: &str) -> Option<Rounding> {
    match text {
        "rte" => Some(Rounding::Rte),
        "rtz" => Some(Rounding::Rtz),
        "rtp" => Some(Rounding::Rtp),
        "rtn" => Some(Rounding::Rtn),
        _ => None,
    }
}

fn parse_convert(rest: &str) -> Option<Family> {
    let mut parts = rest.split('_');
    let (kind, lanes) = parse_type(parts.next()?)?;
    let (mut saturate, mut rounding) = (false, None);
    for part in parts {
        if part == "sat" && !saturate && rounding.is_none() && !is_float(kind) {
            saturate = true;
        } else if rounding.is_none() {
            rounding = Some(parse_rounding(part)?);
        } else {
            return None;
        }
    }
    Some(Family::Convert { kind, lanes, saturate, rounding })
}

impl Sema<'_> {
    fn family(&self, name: &str) -> Option<Family> {
        if let Some(rest) = name.strip_prefix("convert_") {
            return parse_convert(rest);
        }
        if let Some(rest) = name.strip_prefix("as_") {
            return parse_type(rest).map(|(kind, lanes)| Family::As { kind, lanes });
        }
        if name == "printf" {
            return Some(Family::Printf);
        }
        self.pipe_function(name).map(Family::Pipe)
    }

    pub(super) fn is_family(&self, name: &str) -> bool {
        self.family(name).is_some()
    }

    /// Converts a value to a parameter of scalar type.
    pub(super) fn scalar_arg(&mut self, value: Expr, kind: ScalarKind) -> Expr {
        let ty = self.scalar(kind);
        self.assign_convert(value, ty, &Purpose::Pass)
    }

    pub(super) fn pointer_parts(&self, ty: Ty) -> Option<(QualTy, Space)> {
        match *self.kind(ty) {
            TyKind::Pointer { pointee, space, .. } => Some((pointee, space)),
            _ => None,
        }
    }

    pub(super) fn intrinsic(&mut self, op: Intrinsic, args: Vec<Expr>, ty: Ty, span: Span) -> Expr {
        if args.iter().any(|a| self.is_error(a.ty)) {
            return self.error_expr(span);
        }
        self.expr(ExprKind::Intrinsic { op, args }, ty, span)
    }

    pub(super) fn bad_arg(&mut self, name: &str, value: &Expr, what: &str) {
        let shown = self.show(value.ty);
        self.err(value.span, format!("invalid argument type '{shown}' to function '{name}', {what}"));
    }

    pub(super) fn family_call(&mut self, name: &Name, values: Vec<Expr>, args: &[ast::Expr], name_span: Span, span: Span) -> Expr {
        let Some(family) = self.family(name) else {
            self.err(name_span, format!("implicit declaration of function '{name}' is invalid in OpenCL"));
            return self.error_expr(span);
        };
        let counts = match family {
            Family::Convert { .. } | Family::As { .. } => 1..=1,
            Family::Pipe(call) => call.arguments(),
            Family::Printf => 1..=usize::MAX,
        };
        if !self.expect_count(name, counts, values.len(), name_span) {
            return self.error_expr(span);
        }
        let mut values = values.into_iter();
        match (family, values.next()) {
            (Family::Convert { kind, lanes, saturate, rounding }, Some(value)) => {
                self.convert_call(name, value, (kind, lanes), saturate, rounding, span)
            }
            (Family::As { kind, lanes }, Some(value)) if self.kind_available(kind, span) => {
                let ty = self.lanes(kind, lanes);
                self.as_type(value, ty, span)
            }
            (Family::Pipe(call), Some(pipe)) => self.pipe_call(name, call, pipe, values, span),
            (Family::Printf, _) => self.printf(args, span),
            _ => self.error_expr(span),
        }
    }

    pub(super) fn kind_available(&mut self, kind: ScalarKind, span: Span) -> bool {
        let missing = match kind {
            ScalarKind::Double => !self.target.language.fp64,
            ScalarKind::Half => !self.target.language.fp16,
            ScalarKind::Long | ScalarKind::ULong => !self.target.language.int64,
            _ => false,
        };
        if missing {
            self.err(span, format!("use of type '{}' is not supported by this device", crate::thir::types::scalar_name(kind)));
        }
        !missing
    }

    fn convert_call(
        &mut self,
        name: &Name,
        value: Expr,
        to: (ScalarKind, u8),
        saturate: bool,
        rounding: Option<Rounding>,
        span: Span,
    ) -> Expr {
        if !self.kind_available(to.0, span) {
            return self.error_expr(span);
        }
        let Some((from, lanes)) = self.arith(value.ty).filter(|(_, lanes)| *lanes == to.1) else {
            let wanted = if to.1 == 1 { "a scalar".to_owned() } else { format!("a vector of {} elements", to.1) };
            self.bad_arg(name, &value, &format!("expecting {wanted}"));
            return self.error_expr(span);
        };
        let ty = self.lanes(to.0, lanes);
        if from == to.0 {
            return value;
        }
        if from == ScalarKind::Bool {
            return self.cast(CastKind::Arith, value, ty);
        }
        self.cast(CastKind::Convert { saturate, rounding }, value, ty)
    }
}
