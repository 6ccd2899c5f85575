//! Checks of values for the sanitizer.
//!
//! NaN checks (`WGCL_CHECK=nan`) find operations that create a NaN from operands that are not NaN, such as
//! `0 / 0`, `sqrt(-1)`, `pow(-1, 0.5)`. Conversion checks (`WGCL_CHECK=convert`) find conversions of floats to integers
//! that cannot represent the result, which are undefined (C99 6.3.1.4).
//!
//! ```text
//! a / b              %r = fdiv %a, %b         nan_check whole, %r, %a, %b
//! hypot(v, w)        library function for each lane, then a nan_check of the vectors
//! (int)x             conversion_check i32 signed %x         %i = ftos %x
//! convert_int_sat(x) no check
//! ```
//! The operators and built-in calls of the source are checked. For a call of a library function, only the result is
//! checked for NaNs, because library functions use NaNs internally.

use super::builder::Builder;
use super::function::Lowering;
use crate::builtins::Intrinsic;
use crate::ir::{Op, Scalar, Value};
use crate::thir::FuncId;

impl Builder {
    /// Checks each component of a result against the same components of the operands. Operands that are not floats are
    /// ignored. If the result is one component of a vector in the source, `part` is its index.
    pub(crate) fn nan_check(&mut self, result: Value, operands: &[Value], part: Option<u8>) {
        let is_float = |value: &Value| self.ty(*value).scalar().is_some_and(Scalar::is_float);
        if !self.value_checks.nans || !is_float(&result) {
            return;
        }
        let mut values = vec![result];
        values.extend(operands.iter().copied().filter(is_float));
        if values.len() > 1 {
            self.effect(Op::NanCheck { values, part });
        }
    }

    /// Checks a result whose components depend on all components of the operands.
    pub(crate) fn nan_check_across(&mut self, result: Value, operands: &[Value]) {
        if self.value_checks.nans {
            let lanes: Vec<Value> = operands.iter().flat_map(|&operand| self.components(operand)).collect();
            self.nan_check(result, &lanes, None);
        }
    }

    /// Checks the operand of a conversion to an integer.
    pub(crate) fn conversion_check(&mut self, value: Value, to: Scalar, signed: bool) {
        if self.value_checks.conversions {
            self.effect(Op::ConversionCheck { value, to, signed });
        }
    }

    fn components(&mut self, value: Value) -> Vec<Value> {
        (0..self.ty(value).lanes()).map(|lane| self.extract(value, lane)).collect()
    }
}

impl Lowering<'_, '_> {
    /// Checks a call of a library function.
    pub(super) fn call_nan_check(&mut self, func: FuncId, result: Option<Value>, args: &[Value], part: Option<u8>) {
        let is_library = self.shared.program.functions.get(func.index()).is_some_and(|function| function.is_library);
        if let Some(result) = result.filter(|_| is_library) {
            self.b.nan_check(result, args, part);
        }
    }

    /// Checks an intrinsic: mathematical (6.15.2), common (6.15.4) and geometric functions (6.15.5).
    pub(super) fn intrinsic_nan_check(&mut self, op: Intrinsic, result: Value, args: &[Value]) {
        match op {
            // The argument of `nan` is the payload. The other functions create no NaN.
            Intrinsic::Nan
            | Intrinsic::Fabs
            | Intrinsic::Copysign
            | Intrinsic::Fmin
            | Intrinsic::Fmax
            | Intrinsic::Step
            | Intrinsic::Sign => {}
            Intrinsic::Dot
            | Intrinsic::Cross
            | Intrinsic::Length
            | Intrinsic::Distance
            | Intrinsic::Normalize
            | Intrinsic::FastLength
            | Intrinsic::FastDistance
            | Intrinsic::FastNormalize => self.b.nan_check_across(result, args),
            _ => self.b.nan_check(result, args, None),
        }
    }
}
