//! Division of pairs. A function, which this pass adds to the module, is called for each lane.
//!
//! ```text
//! divide(n, d):    n and d fit a word             division of words
//!                  d fits a word                  divides n.high, then its remainder and n.low in two 16-bit digits
//!                  otherwise                      divides n / 2 by the upper bits of d; this is at most one too large
//! ```
//! Based on Warren, "Hacker's Delight", 9-4 and 9-5 (division of unsigned doublewords by digits, and by long division
//! of words). There are no loops. The result of a division by zero is unspecified.

use super::{Pair, Pairs};
use crate::diag::Span;
use crate::ir::{BinOp, Build, CmpOp, Function, Inst, MathOp, Op, Region, Scalar, Type, Value};
use crate::passes::PassError;
use rustc_hash::FxHashMap;

/// Whether a function divides 64-bit integers.
pub(super) fn has_division(function: &Function) -> bool {
    let mut found = false;
    function.body.walk(&mut |inst| {
        found |=
            matches!(&inst.op, Op::Bin(BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem, a, _) if super::is_pair(function.ty(*a)));
    });
    found
}

/// Returns the function `(n.low, n.high, d.low, d.high) -> (q.low, q.high, r.low, r.high)`, for unsigned integers.
pub(super) fn function() -> Function {
    let mut function = Function::new("divide_pairs", Type::Void);
    function.returns = vec![Type::I32; 4];
    function.params = (0..4).map(|_| function.new_value(Type::I32)).collect();
    let mut pairs = Pairs {
        function: &mut function,
        out: Vec::new(),
        span: Span::default(),
        pairs: FxHashMap::default(),
        known: FxHashMap::default(),
        addresses: FxHashMap::default(),
        divide: None,
    };
    let results = pairs.division((Value(0), Value(1)), (Value(2), Value(3)));
    pairs.effect(Op::Return(results));
    let insts = std::mem::take(&mut pairs.out);
    function.body = Region { insts };
    function
}

impl Pairs<'_> {
    /// Emits a quotient or remainder as one call per lane.
    pub(super) fn emit_division(&mut self, op: BinOp, n: Pair, d: Pair) -> Result<Pair, PassError> {
        let callee = self.divide.ok_or_else(|| self.unsupported("this division of 64-bit integers"))?;
        let signs = matches!(op, BinOp::SDiv | BinOp::SRem).then(|| (self.sign(n), self.sign(d)));
        let (n, d, sign) = match signs {
            None => (n, d, None),
            Some((of_n, of_d)) => {
                let sign = if op == BinOp::SRem { of_n } else { self.bin(BinOp::Xor, of_n, of_d) };
                (self.with_sign(n, of_n), self.with_sign(d, of_d), Some(sign))
            }
        };
        let lanes = self.type_of(n.0).lanes();
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for lane in 0..lanes {
            let args = [n.0, n.1, d.0, d.1].map(|word| if lanes == 1 { word } else { self.extract(word, lane) });
            let results: Vec<Value> = (0..4).map(|_| self.function.new_value(Type::I32)).collect();
            let first = if matches!(op, BinOp::UDiv | BinOp::SDiv) { 0 } else { 2 };
            low.push(results[first]);
            high.push(results[first + 1]);
            let span = self.span;
            self.out.push(Inst { op: Op::Call(callee, args.to_vec()), results, span });
        }
        let result = if lanes == 1 {
            (low[0], high[0])
        } else {
            let ty = Type::Vector(Scalar::I32, lanes);
            (self.push(ty, Op::Construct(low)), self.push(ty, Op::Construct(high)))
        };
        Ok(match sign {
            None => result,
            Some(sign) => self.with_sign(result, sign),
        })
    }

    /// Emits an `if` whose regions yield four words each.
    fn if_else(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Self) -> Vec<Value>,
        els: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        let outer = std::mem::take(&mut self.out);
        let values = then(self);
        self.effect(Op::Yield(values));
        let then = Region { insts: std::mem::take(&mut self.out) };
        let values = els(self);
        self.effect(Op::Yield(values));
        let els = Region { insts: std::mem::replace(&mut self.out, outer) };
        let results: Vec<Value> = (0..4).map(|_| self.function.new_value(Type::I32)).collect();
        let span = self.span;
        self.out.push(Inst { op: Op::If { cond, then, els }, results: results.clone(), span });
        results
    }

    fn division(&mut self, n: Pair, d: Pair) -> Vec<Value> {
        let highs = self.bin(BinOp::Or, n.1, d.1);
        let short = self.cmp_bits(CmpOp::Eq, highs, 0);
        self.if_else(
            short,
            |pairs| {
                let zero = pairs.word(0);
                let (q, r) = (pairs.bin(BinOp::UDiv, n.0, d.0), pairs.bin(BinOp::URem, n.0, d.0));
                vec![q, zero, r, zero]
            },
            |pairs| {
                let is_word = pairs.cmp_bits(CmpOp::Eq, d.1, 0);
                pairs.if_else(is_word, |pairs| pairs.by_word(n, d.0), |pairs| pairs.by_pair(n, d))
            },
        )
    }

    /// Divides a pair by a word.
    fn by_word(&mut self, n: Pair, d: Value) -> Vec<Value> {
        let high = self.bin(BinOp::UDiv, n.1, d);
        let rest = self.bin(BinOp::URem, n.1, d);
        let (low, rest) = self.by_digits(rest, n.0, d);
        vec![low, high, rest, self.word(0)]
    }

    /// Divides a pair by a pair larger than a word.
    fn by_pair(&mut self, n: Pair, d: Pair) -> Vec<Value> {
        let zeros = self.math(MathOp::Clz, d.1);
        let (_, top) = self.shift_left(d, zeros);
        let one = self.word(1);
        let half = self.shift_right(BinOp::LShr, n, one);
        let (estimate, _) = self.by_digits(half.1, half.0, top);
        let all = self.word(31);
        let shift = self.bin(BinOp::Sub, all, zeros);
        let estimate = self.bin(BinOp::LShr, estimate, shift);
        // The estimate is correct or too large by one. After subtracting one, it is correct or too small by one.
        let least = self.bin_bits(BinOp::UMax, estimate, 1);
        let q = self.bin_bits(BinOp::Sub, least, 1);
        let zero = self.word(0);
        let product = self.product((q, zero), d);
        let rest = self.difference(n, product);
        let less = self.emit_less(CmpOp::ULt, rest, d);
        let next = self.bin_bits(BinOp::Add, q, 1);
        let next_rest = self.difference(rest, d);
        let q = self.select(less, q, next);
        let rest = self.select_pair(less, rest, next_rest);
        vec![q, zero, rest.0, rest.1]
    }

    /// Divides `high:low` by `d`, which must be greater than `high`. Returns quotient and remainder.
    fn by_digits(&mut self, high: Value, low: Value, d: Value) -> (Value, Value) {
        let zeros = self.math(MathOp::Clz, d);
        let d = self.bin(BinOp::Shl, d, zeros);
        let (n_low, n_high) = self.shift_left_within((low, high), zeros);
        let digits = (self.bin_bits(BinOp::LShr, d, 16), self.bin_bits(BinOp::And, d, 0xffff));
        let next = self.bin_bits(BinOp::LShr, n_low, 16);
        let (first, rest) = self.digit(n_high, next, d, digits);
        let next = self.bin_bits(BinOp::And, n_low, 0xffff);
        let (second, rest) = self.digit(rest, next, d, digits);
        let first = self.bin_bits(BinOp::Shl, first, 16);
        (self.bin(BinOp::Or, first, second), self.bin(BinOp::LShr, rest, zeros))
    }

    /// Shifts a pair left by less than 32.
    fn shift_left_within(&mut self, a: Pair, amount: Value) -> Pair {
        let (low, high) = (self.bin(BinOp::Shl, a.0, amount), self.bin(BinOp::Shl, a.1, amount));
        let complement = self.bin_bits(BinOp::Xor, amount, 31);
        let over = self.bin_bits(BinOp::LShr, a.0, 1);
        let over = self.bin(BinOp::LShr, over, complement);
        (low, self.bin(BinOp::Or, high, over))
    }

    /// Divides `rest`, followed by the 16-bit digit `next`, by `d`. The top bit of `d` must be set. Returns one digit
    /// of the quotient, and the remainder.
    fn digit(&mut self, rest: Value, next: Value, d: Value, (upper, lower): (Value, Value)) -> (Value, Value) {
        let mut q = self.bin(BinOp::UDiv, rest, upper);
        let mut left = self.bin(BinOp::URem, rest, upper);
        // The estimate is too large by at most two.
        for _ in 0..2 {
            let product = self.bin(BinOp::Mul, q, lower);
            let shifted = self.bin_bits(BinOp::Shl, left, 16);
            let have = self.bin(BinOp::Or, shifted, next);
            let (beyond, too_large) = (self.cmp_bits(CmpOp::UGt, q, 0xffff), self.cmp(CmpOp::UGt, product, have));
            let wrong = self.bin(BinOp::Or, beyond, too_large);
            let is_digit = self.cmp_bits(CmpOp::ULe, left, 0xffff);
            let wrong = self.bin(BinOp::And, wrong, is_digit);
            let (less, more) = (self.bin_bits(BinOp::Sub, q, 1), self.bin(BinOp::Add, left, upper));
            q = self.select(wrong, less, q);
            left = self.select(wrong, more, left);
        }
        let shifted = self.bin_bits(BinOp::Shl, rest, 16);
        let all = self.bin(BinOp::Or, shifted, next);
        let product = self.bin(BinOp::Mul, q, d);
        (q, self.bin(BinOp::Sub, all, product))
    }
}
