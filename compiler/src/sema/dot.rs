//! Dot products of 8-bit integers (cl_khr_integer_dot_product; OpenCL C 6.15.3): vectors of four, or four bytes packed
//! into a `uint`.

use super::Sema;
use crate::ast::{Name, ScalarKind};
use crate::builtins::Intrinsic;
use crate::diag::Span;
use crate::thir::Expr;

/// The extension with these functions.
pub(super) const EXTENSION: &str = "cl_khr_integer_dot_product";

/// A function of the extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dot {
    /// Signedness of the bytes of both operands. `None` if the operand types determine it.
    packed: Option<(bool, bool)>,
    /// Whether a third operand is added with saturation.
    accumulates: bool,
}

impl Dot {
    /// Minimum and maximum number of arguments.
    pub(super) const fn arity(self) -> (usize, usize) {
        if self.accumulates { (3, 3) } else { (2, 2) }
    }
}

/// The function with this name. `dot` is also a function of floats.
pub(super) fn parse_dot(name: &str) -> Option<Dot> {
    let rest = name.strip_prefix("dot")?;
    let (rest, accumulates) = match rest.strip_prefix("_acc_sat") {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let packed = match rest {
        "" => None,
        "_4x8packed_uu_uint" => Some((false, false)),
        "_4x8packed_ss_int" => Some((true, true)),
        "_4x8packed_us_int" => Some((false, true)),
        "_4x8packed_su_int" => Some((true, false)),
        _ => return None,
    };
    Some(Dot { packed, accumulates })
}

const fn byte(signed: bool) -> ScalarKind {
    if signed { ScalarKind::Char } else { ScalarKind::UChar }
}

impl Sema<'_> {
    /// Whether a call of `dot` has byte operands.
    pub(super) fn is_integer_dot(&self, name: &str, values: &[Expr]) -> bool {
        name == "dot"
            && self.target.has_extension(EXTENSION)
            && values.len() == 2
            && values.iter().all(|value| matches!(self.arith(value.ty), Some((ScalarKind::Char | ScalarKind::UChar, 4))))
    }

    pub(super) fn integer_dot(&mut self, name: &Name, dot: Dot, values: Vec<Expr>, span: Span) -> Expr {
        let mut args = Vec::with_capacity(values.len());
        let mut signed = false;
        for (index, value) in values.into_iter().enumerate() {
            if index == 2 {
                args.push(self.scalar_arg(value, if signed { ScalarKind::Int } else { ScalarKind::UInt }));
                continue;
            }
            match dot.packed {
                Some(signs) => {
                    let own = if index == 0 { signs.0 } else { signs.1 };
                    signed |= own;
                    let word = self.scalar_arg(value, ScalarKind::UInt);
                    if self.is_error(word.ty) {
                        return self.error_expr(span);
                    }
                    let bytes = self.lanes(byte(own), 4);
                    args.push(self.as_type(word, bytes, span));
                }
                None => {
                    let Some((kind @ (ScalarKind::Char | ScalarKind::UChar), 4)) = self.arith(value.ty) else {
                        self.bad_arg(name, &value, "expecting 'char4' or 'uchar4'");
                        return self.error_expr(span);
                    };
                    signed |= kind == ScalarKind::Char;
                    args.push(value);
                }
            }
        }
        let ty = self.scalar(if signed { ScalarKind::Int } else { ScalarKind::UInt });
        self.intrinsic(Intrinsic::IntegerDot, args, ty, span)
    }
}
