//! `shuffle` and `shuffle2` (6.15.13). Only the low bits of each mask lane are used.

use super::super::function::Lowering;
use super::Call;
use crate::ir::{BinOp, CmpOp, Op, Scalar, Type, Value};

impl<'p> Lowering<'p, '_> {
    pub(super) fn shuffle(&mut self, call: &Call<'p>) -> Value {
        let (x, mask) = (self.value(call, 0), self.value(call, 1));
        self.shuffle_by(x, None, mask)
    }

    pub(super) fn shuffle2(&mut self, call: &Call<'p>) -> Value {
        let (x, y, mask) = (self.value(call, 0), self.value(call, 1), self.value(call, 2));
        self.shuffle_by(x, Some(y), mask)
    }

    fn shuffle_by(&mut self, x: Value, y: Option<Value>, mask: Value) -> Value {
        let lanes = self.b.ty(x).lanes();
        let all = if y.is_some() { u64::from(lanes) * 2 } else { u64::from(lanes) };
        let low = all.next_power_of_two() - 1;
        if let Some(known) = self.b.known_lanes(mask) {
            let picks: Vec<u8> = known.iter().map(|lane| (lane & low) as u8).collect();
            return self.b.shuffle(x, y.unwrap_or(x), &picks);
        }
        let scalar = Type::Scalar(self.b.ty(x).scalar().unwrap_or(Scalar::I32));
        let count = self.b.ty(mask).lanes();
        let results: Vec<Value> = (0..count)
            .map(|lane| {
                let index = self.b.extract(mask, lane);
                let index = self.b.resize(index, false, Type::I32);
                let index = self.b.bin_int(BinOp::And, index, low as i64);
                let first = self.b.emit(Op::ExtractDyn(x, index), scalar);
                let Some(y) = y else { return first };
                let beyond = self.b.bin_int(BinOp::Sub, index, i64::from(lanes));
                let second = self.b.emit(Op::ExtractDyn(y, beyond), scalar);
                let in_first = self.b.cmp_int(CmpOp::ULt, index, i64::from(lanes));
                self.b.select(in_first, first, second)
            })
            .collect();
        self.b.construct(&results)
    }
}
