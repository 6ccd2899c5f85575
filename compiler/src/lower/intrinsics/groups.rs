//! Collective functions of work-groups and subgroups (6.15.16, 6.15.19).

use super::super::function::Lowering;
use super::Call;
use crate::builtins::{Combine, GroupFn, MaskKind};
use crate::ir::{BinOp, CmpOp, GroupOp, MathOp, Op, Scalar, Type, Value, WorkItem};

/// Maximum subgroup size of any device, and the number of bits of a ballot.
const MAX_SUBGROUP_SIZE: i32 = 128;

/// Type of a ballot.
const BALLOT: Type = Type::Vector(Scalar::I32, 4);

impl<'p> Lowering<'p, '_> {
    fn group_op(&mut self, sub: bool, op: GroupOp, args: Vec<Value>, ty: Type) -> Value {
        self.b.emit(Op::Group { sub, op, args }, ty)
    }

    pub(super) fn collective(&mut self, sub: bool, function: GroupFn, call: &Call<'p>) -> Option<Value> {
        if function == GroupFn::Barrier {
            self.b.effect(Op::Group { sub, op: GroupOp::Barrier, args: Vec::new() });
            return None;
        }
        if function == GroupFn::BlockWrite {
            self.block_write(call);
            return None;
        }
        let want = self.result(call);
        Some(match function {
            GroupFn::All | GroupFn::Any => {
                let flag = self.bool_argument(call);
                let op = if function == GroupFn::All { GroupOp::All } else { GroupOp::Any };
                let result = self.group_op(sub, op, vec![flag], Type::BOOL);
                self.b.resize(result, false, want)
            }
            GroupFn::Ballot => {
                let flag = self.bool_argument(call);
                self.group_op(sub, GroupOp::Ballot, vec![flag], BALLOT)
            }
            GroupFn::AllEqual => {
                let x = self.value(call, 0);
                let ty = self.b.ty(x);
                let first = self.group_op(sub, GroupOp::BroadcastFirst, vec![x], ty);
                let compare = if ty.scalar().is_some_and(Scalar::is_float) { CmpOp::FEq } else { CmpOp::Eq };
                let same = self.b.cmp(compare, x, first);
                let all = self.group_op(sub, GroupOp::All, vec![same], Type::BOOL);
                self.b.resize(all, false, want)
            }
            GroupFn::Elect => {
                let lane = self.lane();
                let first = self.group_op(sub, GroupOp::BroadcastFirst, vec![lane], Type::I32);
                let is_first = self.b.cmp(CmpOp::Eq, lane, first);
                self.b.resize(is_first, false, want)
            }
            GroupFn::Broadcast if !sub => {
                let x = self.value(call, 0);
                let index = self.group_index(call);
                self.group_op(false, GroupOp::Broadcast, vec![x, index], want)
            }
            GroupFn::Broadcast | GroupFn::Shuffle | GroupFn::ShuffleXor if sub && want.lanes() > 1 => {
                let (x, index) = (self.value(call, 0), self.value(call, 1));
                let op = if function == GroupFn::ShuffleXor { GroupOp::ShuffleXor } else { GroupOp::Shuffle };
                self.shuffled(op, x, index)
            }
            GroupFn::Rotate | GroupFn::ClusteredRotate => self.rotated(sub, function, call),
            GroupFn::Broadcast | GroupFn::Shuffle | GroupFn::ShuffleXor | GroupFn::ShuffleUp | GroupFn::ShuffleDown => {
                let op = match function {
                    GroupFn::ShuffleXor => GroupOp::ShuffleXor,
                    GroupFn::ShuffleUp => GroupOp::ShuffleUp,
                    GroupFn::ShuffleDown => GroupOp::ShuffleDown,
                    _ => GroupOp::Shuffle,
                };
                let args = vec![self.value(call, 0), self.value(call, 1)];
                self.group_op(sub, op, args, want)
            }
            GroupFn::ShuffleDownInto | GroupFn::ShuffleUpFrom => self.shuffled_between(function, call),
            GroupFn::BlockRead => self.block_read(call),
            GroupFn::BroadcastFirst => {
                let x = self.value(call, 0);
                self.group_op(sub, GroupOp::BroadcastFirst, vec![x], want)
            }
            GroupFn::Reduce(combine)
            | GroupFn::ScanInclusive(combine)
            | GroupFn::ScanExclusive(combine)
            | GroupFn::ActiveReduce(combine)
            | GroupFn::ActiveInclusive(combine)
            | GroupFn::ActiveExclusive(combine)
            | GroupFn::ClusteredReduce(combine) => self.combined(sub, function, combine, call),
            GroupFn::Mask(kind) => {
                let lane = self.lane();
                self.mask(kind, lane)
            }
            _ => self.ballot_function(function, call, want),
        })
    }

    /// Shuffles a scalar, or each lane of a vector.
    fn shuffled(&mut self, op: GroupOp, x: Value, index: Value) -> Value {
        let ty = self.b.ty(x);
        if ty.lanes() == 1 {
            return self.group_op(true, op, vec![x, index], ty);
        }
        let lane_ty = ty.scalar().map_or(ty, Type::Scalar);
        let lanes: Vec<Value> = (0..ty.lanes())
            .map(|lane| {
                let x = self.b.extract(x, lane);
                self.group_op(true, op, vec![x, index], lane_ty)
            })
            .collect();
        self.b.construct(&lanes)
    }

    /// Lowers a shuffle up or down of two values. They are shuffled like one value of twice as many work-items. Its
    /// lower half is `first`, and its upper half is `second`.
    fn shuffled_between(&mut self, function: GroupFn, call: &Call<'p>) -> Value {
        let (first, second, delta) = (self.value(call, 0), self.value(call, 1), self.value(call, 2));
        let (lane, size) = (self.lane(), self.b.emit(Op::WorkItem(WorkItem::SubgroupSize), Type::I32));
        let up = function == GroupFn::ShuffleUpFrom;
        let index = if up { self.b.sub(lane, delta) } else { self.b.add(lane, delta) };
        // The subgroup size is a power of two, so this mask wraps an index around in the subgroup.
        let inside = self.b.bin_int(BinOp::Sub, size, 1);
        let wrapped = self.b.and(index, inside);
        let (a, b) = (self.shuffled(GroupOp::Shuffle, first, wrapped), self.shuffled(GroupOp::Shuffle, second, wrapped));
        let of_first = if up { self.b.cmp(CmpOp::ULt, lane, delta) } else { self.b.cmp(CmpOp::ULt, index, size) };
        self.b.select(of_first, a, b)
    }

    /// Returns the value of the lane that is `delta` lanes further. The index wraps around in the subgroup or cluster.
    fn rotated(&mut self, sub: bool, function: GroupFn, call: &Call<'p>) -> Value {
        let (x, delta) = (self.value(call, 0), self.value(call, 1));
        let want = self.result(call);
        let size = if function == GroupFn::ClusteredRotate {
            self.value(call, 2)
        } else {
            self.b.emit(Op::WorkItem(WorkItem::SubgroupSize), Type::I32)
        };
        // The size is a power of two, so these masks separate the index in the cluster from the position of the
        // cluster.
        let inside = self.b.bin_int(BinOp::Sub, size, 1);
        let outside = self.b.not(inside);
        let lane = self.lane();
        let to = self.b.add(lane, delta);
        let (to, cluster) = (self.b.and(to, inside), self.b.and(lane, outside));
        let index = self.b.or(cluster, to);
        self.group_op(sub, GroupOp::Shuffle, vec![x, index], want)
    }

    /// Lowers a reduction or a scan.
    fn combined(&mut self, sub: bool, function: GroupFn, combine: Combine, call: &Call<'p>) -> Value {
        let logical = matches!(combine, Combine::LogicalAnd | Combine::LogicalOr | Combine::LogicalXor);
        let x = if logical {
            let flag = self.bool_argument(call);
            self.b.resize(flag, false, Type::I32)
        } else {
            self.value(call, 0)
        };
        let arith = self.arg_type(call, 0);
        let op = match (combine, arith.is_float(), arith.is_signed()) {
            (Combine::Add, true, _) => BinOp::FAdd,
            (Combine::Mul, true, _) => BinOp::FMul,
            (Combine::Min, true, _) => BinOp::FMin,
            (Combine::Max, true, _) => BinOp::FMax,
            (Combine::Add, ..) => BinOp::Add,
            (Combine::Mul, ..) => BinOp::Mul,
            (Combine::And | Combine::LogicalAnd, ..) => BinOp::And,
            (Combine::Or | Combine::LogicalOr, ..) => BinOp::Or,
            (Combine::Xor | Combine::LogicalXor, ..) => BinOp::Xor,
            (Combine::Min, _, true) => BinOp::SMin,
            (Combine::Min, ..) => BinOp::UMin,
            (Combine::Max, _, true) => BinOp::SMax,
            (Combine::Max, ..) => BinOp::UMax,
        };
        let op = match function {
            GroupFn::Reduce(_) => GroupOp::Reduce(op),
            GroupFn::ScanInclusive(_) => GroupOp::ScanInclusive(op),
            GroupFn::ScanExclusive(_) => GroupOp::ScanExclusive(op),
            GroupFn::ActiveInclusive(_) => GroupOp::ActiveInclusive(op),
            GroupFn::ActiveExclusive(_) => GroupOp::ActiveExclusive(op),
            _ => GroupOp::ActiveReduce(op),
        };
        let mut args = vec![x];
        match function {
            GroupFn::ClusteredReduce(_) => args.push(self.value(call, 1)),
            // The argument is the cluster size. No subgroup is larger than this, so all work-items of a subgroup are in
            // one cluster.
            GroupFn::ActiveReduce(_) | GroupFn::ActiveInclusive(_) | GroupFn::ActiveExclusive(_) => {
                args.push(self.b.i32(MAX_SUBGROUP_SIZE));
            }
            _ => {}
        }
        let want = self.result(call);
        let result = self.group_op(sub, op, args, want);
        // A scan with `and` starts with the identity, which has all bits set. The mask reduces it to the truth value 1.
        if logical { self.b.bin_int(BinOp::And, result, 1) } else { result }
    }

    /// Converts the first argument to `bool` by a comparison with zero.
    fn bool_argument(&mut self, call: &Call<'p>) -> Value {
        let x = self.value(call, 0);
        self.b.cmp_int(CmpOp::Ne, x, 0)
    }

    fn lane(&mut self) -> Value {
        self.b.emit(Op::WorkItem(WorkItem::SubgroupLocalId), Type::I32)
    }

    /// Returns the linear local index of the work-item whose local ids are the arguments after the first argument.
    fn group_index(&mut self, call: &Call<'p>) -> Value {
        let mut index: Option<Value> = None;
        for (dimension, argument) in (0_u8..3).zip(1..call.values.len()).rev() {
            let id = self.value(call, argument);
            index = Some(match index {
                None => id,
                Some(outer) => {
                    let size = self.b.emit(Op::WorkItem(WorkItem::LocalSize(dimension)), Type::I32);
                    let rows = self.b.mul(outer, size);
                    self.b.add(rows, id)
                }
            });
        }
        index.unwrap_or_else(|| self.b.i32(0))
    }

    /// Returns the ballot mask of this kind for a lane: 128 bits, as four words.
    fn mask(&mut self, kind: MaskKind, lane: Value) -> Value {
        let mut words = Vec::new();
        for word in 0..4_i64 {
            // `below` has the bits of this word below the lane: none, some, or all.
            let first = self.b.bin_int(BinOp::Sub, lane, word * 32);
            let low = self.b.bin_int(BinOp::SMax, first, 0);
            let below = self.low_bits(low);
            let equal = {
                let inside = self.b.cmp_int(CmpOp::ULt, first, 32);
                let one = self.b.i32(1);
                let bit = self.b.bin(BinOp::Shl, one, first);
                let none = self.b.i32(0);
                self.b.select(inside, bit, none)
            };
            let up_to = self.b.or(below, equal);
            words.push(match kind {
                MaskKind::Eq => equal,
                MaskKind::Lt => below,
                MaskKind::Le => up_to,
                MaskKind::Gt => self.complement_in_subgroup(up_to, word),
                MaskKind::Ge => self.complement_in_subgroup(below, word),
            });
        }
        self.b.construct(&words)
    }

    /// Returns a word whose lowest `count` bits are set. All bits are set if `count` is 32 or more.
    fn low_bits(&mut self, count: Value) -> Value {
        let all = self.b.cmp_int(CmpOp::UGe, count, 32);
        let one = self.b.i32(1);
        let bit = self.b.bin(BinOp::Shl, one, count);
        let some = self.b.bin_int(BinOp::Sub, bit, 1);
        let ones = self.b.i32(-1);
        self.b.select(all, ones, some)
    }

    /// Returns the complement of word `index` of a mask, limited to the work-items of the subgroup.
    fn complement_in_subgroup(&mut self, word: Value, index: i64) -> Value {
        let size = self.b.emit(Op::WorkItem(WorkItem::SubgroupSize), Type::I32);
        let rest = self.b.bin_int(BinOp::Sub, size, index * 32);
        let rest = self.b.bin_int(BinOp::SMax, rest, 0);
        let all = self.low_bits(rest);
        let others = self.b.not(word);
        self.b.and(others, all)
    }

    fn ballot_function(&mut self, function: GroupFn, call: &Call<'p>, want: Type) -> Value {
        let ballot = self.value(call, 0);
        match function {
            GroupFn::InverseBallot | GroupFn::BallotBitExtract => {
                let index = if function == GroupFn::InverseBallot { self.lane() } else { self.value(call, 1) };
                let word = self.b.bin_int(BinOp::LShr, index, 5);
                let mut bits = self.b.extract(ballot, 0);
                for lane in 1..4_u8 {
                    let here = self.b.cmp_int(CmpOp::Eq, word, i64::from(lane));
                    let other = self.b.extract(ballot, lane);
                    bits = self.b.select(here, other, bits);
                }
                let bit = self.b.bin(BinOp::LShr, bits, index);
                self.b.bin_int(BinOp::And, bit, 1)
            }
            GroupFn::BallotFindLsb | GroupFn::BallotFindMsb => {
                let lowest = function == GroupFn::BallotFindLsb;
                // Bits beyond the subgroup are ignored.
                let none = self.b.i32(0);
                let real: Vec<Value> = (0..4).map(|word| self.complement_in_subgroup(none, word)).collect();
                let real = self.b.construct(&real);
                let ballot = self.b.and(ballot, real);
                let mut found = self.b.int(want, 0);
                for step in 0..4_u8 {
                    // The loop keeps the last word that is not zero, so it visits the words in the opposite order for
                    // the lowest bit.
                    let lane = if lowest { 3 - step } else { step };
                    let word = self.b.extract(ballot, lane);
                    let any = self.b.cmp_int(CmpOp::Ne, word, 0);
                    let at = if lowest {
                        self.b.math(MathOp::Ctz, &[word])
                    } else {
                        let zeros = self.b.math(MathOp::Clz, &[word]);
                        let last = self.b.i32(31);
                        self.b.sub(last, zeros)
                    };
                    let at = self.b.bin_int(BinOp::Add, at, i64::from(lane) * 32);
                    found = self.b.select(any, at, found);
                }
                found
            }
            _ => {
                let masked = match function {
                    GroupFn::BallotBitCount => {
                        let none = self.b.i32(0);
                        let words: Vec<Value> = (0..4).map(|word| self.complement_in_subgroup(none, word)).collect();
                        self.b.construct(&words)
                    }
                    _ => {
                        let kind = if function == GroupFn::BallotInclusiveScan { MaskKind::Le } else { MaskKind::Lt };
                        let lane = self.lane();
                        self.mask(kind, lane)
                    }
                };
                let bits = self.b.and(ballot, masked);
                let mut sum = self.b.int(want, 0);
                for lane in 0..4 {
                    let word = self.b.extract(bits, lane);
                    let count = self.b.math(MathOp::Popcount, &[word]);
                    sum = self.b.add(sum, count);
                }
                sum
            }
        }
    }
}
