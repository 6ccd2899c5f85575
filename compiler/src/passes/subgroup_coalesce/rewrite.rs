//! Emits the accesses that lanes perform together.

use rustc_hash::FxHashSet;

use super::{Combined, PART};
use crate::analysis::definitions::Linear;
use crate::diag::Span;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Cursor, Function, GroupOp, Inst, Op, Region, Scalar, Type, Value, WorkItem};

const WORDS: Type = Type::Vector(Scalar::I32, 4);

/// Rewrites the loads and stores with an entry in `accesses`, in program order.
pub(super) fn run(function: &mut Function, accesses: &[Option<Combined>]) {
    let mut body = std::mem::take(&mut function.body);
    let mut entry = Vec::new();
    let span = body.insts.first().map_or(Span::NONE, |inst| inst.span);
    let lane = function.emit(&mut entry, span, Type::I32, Op::WorkItem(WorkItem::SubgroupLocalId));
    let defined = function.params.iter().copied().collect();
    let mut writer = Writer { function, accesses, index: 0, out: entry, span, lane, lane_bits: [None; 2], rows: Vec::new(), defined };
    writer.lane_bits = [1, 2].map(|bit| Some(writer.lane_bit(bit)));
    let entry = std::mem::take(&mut writer.out);
    writer.region(&mut body);
    body.insts.splice(0..0, entry);
    function.body = body;
}

struct Writer<'a> {
    function: &'a mut Function,
    accesses: &'a [Option<Combined>],
    /// The number of loads and stores before the current instruction.
    index: usize,
    out: Vec<Inst>,
    span: Span,
    /// The index of the work-item in the subgroup.
    lane: Value,
    /// Whether bits 0 and 1 of `lane` are set.
    lane_bits: [Option<Value>; 2],
    /// Exchanged offsets that dominate the current instruction: the linear form, and the result of [`Self::rows`].
    rows: Vec<(Linear, Vec<Value>)>,
    /// The function's parameters, and the results of all instructions before the current instruction. Loop parameters
    /// are not included.
    defined: FxHashSet<Value>,
}

impl Build for Writer<'_> {
    fn cursor(&mut self) -> Cursor<'_> {
        Cursor::new(self.function, &mut self.out, self.span)
    }
}

impl Writer<'_> {
    /// Emits a test whether the bit with the mask `bit` is set in the lane's index.
    fn lane_bit(&mut self, bit: u32) -> Value {
        let bits = self.bin_bits(BinOp::And, self.lane, u64::from(bit));
        self.cmp_bits(CmpOp::Ne, bits, 0)
    }

    fn region(&mut self, region: &mut Region) {
        let outer = std::mem::take(&mut self.out);
        let known = self.rows.len();
        for mut inst in std::mem::take(&mut region.insts) {
            self.span = inst.span;
            self.hoist_exchanges(&inst);
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            self.span = inst.span;
            self.defined.extend(&inst.results);
            let combined = matches!(inst.op, Op::Load { .. } | Op::Store { .. }).then(|| {
                self.index += 1;
                self.accesses.get(self.index - 1).and_then(Option::as_ref)
            });
            match (combined.flatten(), &inst.op) {
                (Some(combined), Op::Load { .. }) => self.load(combined, inst.results),
                (Some(combined), Op::Store { value, .. }) => self.store(combined, *value),
                _ => self.out.push(inst),
            }
        }
        self.rows.truncate(known);
        region.insts = std::mem::replace(&mut self.out, outer);
    }

    /// Before an instruction with regions, exchanges the offsets of the accesses in these regions, if the terms of the
    /// offsets are already defined.
    fn hoist_exchanges(&mut self, inst: &Inst) {
        let mut count = 0;
        let is_access = |inst: &Inst| usize::from(matches!(inst.op, Op::Load { .. } | Op::Store { .. }));
        inst.op.regions().iter().for_each(|region| region.walk(&mut |inst| count += is_access(inst)));
        let accesses = self.accesses;
        for combined in accesses.iter().skip(self.index).take(count).flatten() {
            if combined.per_lane.terms.iter().all(|(value, _)| self.defined.contains(value)) {
                self.rows(&combined.per_lane, combined.lanes());
            }
        }
    }

    /// Emits a sum. Returns `None` if the sum is 0.
    fn sum(&mut self, linear: &Linear) -> Option<Value> {
        let mut total = (linear.constant != 0).then(|| self.word(linear.constant));
        for &(value, scale) in &linear.terms {
            let value = self.cast(CastOp::Trunc, value, Scalar::I32);
            let term = match scale {
                1 => value,
                _ if scale.is_power_of_two() => self.bin_bits(BinOp::Shl, value, u64::from(scale.trailing_zeros())),
                _ => self.bin_bits(BinOp::Mul, value, u64::from(scale)),
            };
            total = Some(total.map_or(term, |total| self.bin(BinOp::Add, total, term)));
        }
        total
    }

    fn shuffle(&mut self, op: GroupOp, value: Value, other: Value) -> Value {
        self.push(Type::I32, Op::Group { sub: true, op, args: vec![value, other] })
    }

    /// Returns the offsets of the accesses of the `lanes` lanes that work together, in order of the lanes. The offset
    /// of this lane's part is added to each offset.
    fn rows(&mut self, per_lane: &Linear, lanes: u32) -> Vec<Value> {
        if let Some((_, rows)) = self.rows.iter().find(|(linear, rows)| linear == per_lane && rows.len() == lanes as usize) {
            return rows.clone();
        }
        let offset = self.sum(per_lane).unwrap_or_else(|| self.word(0));
        let place = self.bin_bits(BinOp::And, self.lane, u64::from(lanes - 1));
        let part = self.bin_bits(BinOp::Shl, place, u64::from(PART.trailing_zeros()));
        let rows: Vec<Value> = if let (2, Some(odd)) = (lanes, self.lane_bits[0]) {
            let one = self.word(1);
            let other = self.shuffle(GroupOp::ShuffleXor, offset, one);
            [(other, offset), (offset, other)].map(|(odds, evens)| self.select(odd, odds, evens)).to_vec()
        } else {
            let first = self.bin(BinOp::Xor, self.lane, place);
            let lane = |this: &mut Self, index: u32| {
                let from = this.bin_bits(BinOp::Or, first, u64::from(index));
                this.shuffle(GroupOp::Shuffle, offset, from)
            };
            (0..lanes).map(|index| lane(self, index)).collect()
        };
        let rows: Vec<Value> = rows.into_iter().map(|row| self.bin(BinOp::Add, row, part)).collect();
        self.rows.push((per_lane.clone(), rows.clone()));
        rows
    }

    /// Returns the pointers to this lane's parts of an access with `parts` parts. Returns a list for each group of four
    /// parts, or one list if there are two parts. A list has one pointer for each of the lanes that work together.
    fn pointers(&mut self, combined: &Combined, parts: u32) -> Vec<Vec<Value>> {
        let lanes = combined.lanes();
        let rows = self.rows(&combined.per_lane, lanes);
        let mut uniform = combined.uniform.clone();
        (0..parts / lanes)
            .map(|_| {
                let more = self.sum(&uniform);
                uniform.constant = uniform.constant.wrapping_add(lanes * PART);
                let pointer = |this: &mut Self, row: Value| {
                    let offset = more.map_or(row, |more| this.bin(BinOp::Add, row, more));
                    this.ptr_add(combined.param, offset)
                };
                rows.iter().map(|&row| pointer(self, row)).collect()
            })
            .collect()
    }

    /// Transposes parts between lanes: part `i` of lane `j` is exchanged with part `j` of lane `i`.
    fn transpose(&mut self, parts: &[Value]) -> Vec<Value> {
        let mut parts = parts.to_vec();
        for (bit, lane_bit) in
            (0..parts.len().trailing_zeros()).zip(self.lane_bits).filter_map(|(bit, lane_bit)| Some((1_usize << bit, lane_bit?)))
        {
            let by = self.word(bit as u32);
            for low in (0..parts.len()).filter(|index| index & bit == 0) {
                let (Some(&a), Some(&b)) = (parts.get(low), parts.get(low | bit)) else { continue };
                let given = self.select(lane_bit, a, b);
                let words: Vec<Value> = (0..4_u8)
                    .map(|word| {
                        let word = self.extract(given, word);
                        self.shuffle(GroupOp::ShuffleXor, word, by)
                    })
                    .collect();
                let taken = self.push(WORDS, Op::Construct(words));
                parts[low] = self.select(lane_bit, taken, a);
                parts[low | bit] = self.select(lane_bit, b, taken);
            }
        }
        parts
    }

    fn load(&mut self, combined: &Combined, results: Vec<Value>) {
        let Some(&result) = results.first() else { return };
        let ty = self.function.ty(result);
        let Some(scalar) = ty.scalar() else { return };
        let parts = u32::from(ty.lanes()) * scalar.size() / PART;
        let mut pieces = Vec::new();
        for pointers in self.pointers(combined, parts) {
            let loaded: Vec<Value> =
                pointers.into_iter().map(|ptr| self.push(WORDS, Op::Load { ptr, align: PART, volatile: false })).collect();
            pieces.extend(self.transpose(&loaded));
        }
        let mut lanes = (PART / scalar.size()) as u8;
        if scalar != Scalar::I32 {
            pieces = pieces.into_iter().map(|piece| self.push(Type::Vector(scalar, lanes), Op::Cast(CastOp::Bitcast, piece))).collect();
        }
        while pieces.len() > 2 {
            lanes *= 2;
            let joined = |this: &mut Self, pair: &[Value]| this.push(Type::Vector(scalar, lanes), join(pair, lanes));
            pieces = pieces.chunks(2).map(|pair| joined(self, pair)).collect();
        }
        // The last operation defines the result of the original load.
        self.out.push(Inst { op: join(&pieces, lanes * 2), results, span: self.span });
    }

    fn store(&mut self, combined: &Combined, value: Value) {
        let ty = self.function.ty(value);
        let Some(scalar) = ty.scalar() else { return };
        let lanes = (PART / scalar.size()) as u8;
        let parts = ty.lanes() / lanes;
        let pieces: Vec<Value> = (0..parts)
            .map(|part| {
                let which = (0..lanes).map(|lane| Some(part * lanes + lane)).collect();
                let piece = self.push(Type::Vector(scalar, lanes), Op::Shuffle(value, value, which));
                if scalar == Scalar::I32 { piece } else { self.push(WORDS, Op::Cast(CastOp::Bitcast, piece)) }
            })
            .collect();
        let rows = self.pointers(combined, u32::from(parts));
        let mut pieces = pieces.chunks(usize::from(parts.min(4)));
        for (pointers, pieces) in rows.into_iter().zip(&mut pieces) {
            let given = self.transpose(pieces);
            for (ptr, value) in pointers.into_iter().zip(given) {
                self.out.push(Inst { op: Op::Store { ptr, value, align: PART, volatile: false }, results: Vec::new(), span: self.span });
            }
        }
    }
}

/// Combines two vectors into one with `lanes` lanes.
fn join(pair: &[Value], lanes: u8) -> Op {
    match *pair {
        [a, b, ..] => Op::Shuffle(a, b, (0..lanes).map(Some).collect()),
        [a] => Op::Shuffle(a, a, (0..lanes).map(Some).collect()),
        [] => Op::Const(crate::ir::Const::Undef),
    }
}
