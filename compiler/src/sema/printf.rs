//! Calls of `printf` (OpenCL C 6.15.14). The format is a pointer to constant memory. A format that is known at build
//! time is checked against the arguments. If the format is not the start of one known string, it becomes the first
//! argument of the call. The host then reads the string from the program's constants.
//!
//! Undefined behaviour, such as an argument of the wrong type, is reported as a warning with clang's wording.

use super::consteval::Value;
use super::{Sema, is_float};
use crate::ast::{self, ScalarKind};
use crate::diag::{Span, WarningGroup};
use crate::ir::Space;
use crate::printf::format::{self, Length, Piece, Spec};
use crate::thir::types::scalar_size;
use crate::thir::{Expr, ExprKind, GlobalId, LvalueKind, Ty, TyKind};

/// The error message for a format that is not in the program's constants.
pub(crate) const NOT_CONSTANT: &str = "format of 'printf' must be a string literal in constant memory";

impl Sema<'_> {
    pub(super) fn printf(&mut self, args: &[ast::Expr], span: Span) -> Expr {
        let Some((first, rest)) = args.split_first() else {
            self.err(span, "too few arguments to function call, expected at least 1, have 0");
            return self.error_expr(span);
        };
        let format = self.rvalue_expr(first);
        if self.is_error(format.ty) {
            return self.error_expr(span);
        }
        let mut values = Vec::with_capacity(rest.len());
        let mut types = Vec::with_capacity(rest.len());
        for arg in rest {
            let value = self.rvalue_expr(arg);
            if self.is_error(value.ty) {
                return self.error_expr(span);
            }
            types.push((value.ty, arg.span));
            values.push(match *self.kind(value.ty) {
                TyKind::Scalar(ScalarKind::Half) => self.scalar_arg(value, ScalarKind::Float),
                TyKind::Scalar(_) | TyKind::Enum { .. } => self.promote(value),
                TyKind::Vector(..) | TyKind::Pointer { .. } => value,
                _ => {
                    let shown = self.show(value.ty);
                    self.err(arg.span, format!("cannot pass expression of type '{shown}' to 'printf'"));
                    return self.error_expr(span);
                }
            });
        }
        if !self.is_constant_string(&format) {
            self.err(first.span, NOT_CONSTANT);
            return self.error_expr(span);
        }
        let mut known = Vec::new();
        self.known_formats(&format, &mut known);
        for &(global, offset) in &known {
            self.check_format(global, offset, first.span, &types);
        }
        let format = match (self.evaluate(&format), known.as_slice()) {
            (Some(_), &[(global, 0)]) => Some(global),
            _ => {
                values.insert(0, format);
                None
            }
        };
        let int = self.int();
        self.expr(ExprKind::Printf { format, args: values }, int, span)
    }

    /// Whether an expression is a pointer to characters in constant memory, and is not a kernel parameter.
    fn is_constant_string(&self, format: &Expr) -> bool {
        let TyKind::Pointer { pointee, space: Space::Constant, .. } = *self.kind(format.ty) else { return false };
        let is_text = matches!(self.scalar_kind(pointee.ty), Some(ScalarKind::Char | ScalarKind::UChar));
        let is_argument = match &format.kind {
            ExprKind::Load(lvalue) => match lvalue.kind {
                LvalueKind::Local(local) => {
                    self.f.as_ref().is_some_and(|f| f.is_kernel && local.index() < self.decls[f.id.index()].params.len())
                }
                _ => false,
            },
            _ => false,
        };
        is_text && !is_argument
    }

    /// Appends the known strings that `format` may refer to. Each is a variable and an offset in bytes.
    fn known_formats(&self, format: &Expr, known: &mut Vec<(GlobalId, i64)>) {
        match (self.evaluate(format), &format.kind) {
            (Some(Value::Address(id, offset)), _) => {
                let global = self.globals.get(id.index());
                if global.is_some_and(|global| global.space == Space::Constant && global.init.is_some()) {
                    known.push((id, offset));
                }
            }
            (_, ExprKind::Cond { then, els, .. }) => {
                self.known_formats(then, known);
                self.known_formats(els, known);
            }
            _ => {}
        }
    }

    fn check_format(&mut self, format: GlobalId, offset: i64, span: Span, args: &[(Ty, Span)]) {
        let whole = self.globals.get(format.index()).and_then(|global| global.init.clone());
        let Some(text) = whole.as_deref().and_then(|text| text.get(usize::try_from(offset).ok()?..)) else { return };
        let Some(end) = text.iter().position(|&byte| byte == 0) else {
            self.warn(WarningGroup::Format, span, "format string is not null-terminated");
            return;
        };
        if end + 1 < text.len() {
            self.warn(WarningGroup::Format, span, "format string contains '\\0' within the string body");
        }
        let pieces = format::parse(&text[..end]);
        let mut rest = args.iter();
        for piece in &pieces {
            match piece {
                Piece::Text(_) => {}
                Piece::Bad(error, _) => self.warn(WarningGroup::FormatInvalidSpecifier, span, error.to_string()),
                Piece::Spec(spec) => match rest.next() {
                    Some(&(ty, at)) => self.check_argument(spec, ty, at),
                    None => {
                        self.warn(WarningGroup::FormatInsufficientArgs, span, "more '%' conversions than data arguments");
                        return;
                    }
                },
            }
        }
        if let Some(&(_, at)) = rest.next()
            && !pieces.iter().any(|piece| matches!(piece, Piece::Bad(..)))
        {
            self.warn(WarningGroup::FormatExtraArgs, at, "data argument not used by format string");
        }
    }

    fn check_argument(&mut self, spec: &Spec, ty: Ty, span: Span) {
        let fits = match (self.kind(ty).clone(), spec.vector) {
            (TyKind::Vector(kind, lanes), Some(expected)) => lanes == expected && self.lane_fits(spec, kind),
            (TyKind::Pointer { pointee, .. }, None) => match spec.conversion {
                b'p' => true,
                b's' => matches!(self.scalar_kind(pointee.ty), Some(ScalarKind::Char | ScalarKind::UChar)),
                _ => false,
            },
            (TyKind::Scalar(_) | TyKind::Enum { .. }, None) => self.scalar_kind(ty).is_some_and(|kind| self.scalar_fits(spec, kind)),
            _ => false,
        };
        if !fits {
            let shown = self.show(ty);
            let expected = self.expected(spec);
            self.warn(WarningGroup::Format, span, format!("format specifies type '{expected}' but the argument has type '{shown}'"));
        }
    }

    /// Whether a vector lane of type `kind` has the type that `spec` requires. The signs may differ. Vectors are not
    /// promoted, so the sizes must be equal.
    fn lane_fits(&self, spec: &Spec, kind: ScalarKind) -> bool {
        let size = match spec.length {
            Length::Char => 1,
            Length::Short => 2,
            Length::Word => 4,
            Length::Long => 8,
            Length::Size => scalar_size(self.size_kind()),
            Length::None => return false,
        };
        is_float(kind) == spec.is_float() && scalar_size(kind) == size
    }

    /// Whether a scalar of type `kind`, after promotion, has the type that `spec` requires. The signs may differ.
    fn scalar_fits(&self, spec: &Spec, kind: ScalarKind) -> bool {
        if spec.is_float() {
            return is_float(kind);
        }
        if is_float(kind) || !(spec.is_integer() || spec.conversion == b'c') {
            return false;
        }
        let size = match spec.length {
            Length::Long => 8,
            Length::Size => scalar_size(self.size_kind()),
            _ => 4,
        };
        scalar_size(kind).max(4) == size
    }

    fn expected(&self, spec: &Spec) -> String {
        let signed = matches!(spec.conversion, b'd' | b'i');
        let name = match (spec.conversion, spec.length) {
            (b's', _) => return "constant char *".to_owned(),
            (b'p', _) => return "void *".to_owned(),
            (b'c', _) => "int",
            (_, Length::Short) if spec.is_float() => "half",
            (_, Length::Word) if spec.is_float() => "float",
            _ if spec.is_float() => "double",
            (_, Length::Char) if signed => "char",
            (_, Length::Char) => "uchar",
            (_, Length::Short) if signed => "short",
            (_, Length::Short) => "ushort",
            (_, Length::Long) if signed => "long",
            (_, Length::Long) => "ulong",
            (_, Length::Size) if signed => "ptrdiff_t",
            (_, Length::Size) => "size_t",
            _ if signed => "int",
            _ => "uint",
        };
        spec.vector.map_or_else(|| name.to_owned(), |lanes| format!("{name}{lanes}"))
    }
}
