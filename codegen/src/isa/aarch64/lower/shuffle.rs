//! Shuffles: one instruction for common patterns, otherwise `tbl` and `tbx`.

use regalloc2::VReg;

use super::super::inst::{InstBuilder, Opcode};
use super::super::table as t;
use super::context::{Lower, wide};
use super::shape::log2;
use crate::mach::pool::Bytes;
use crate::vir::{Type, Value};

/// Instructions with two operands, and the lanes of the concatenation that they select.
const PAIRS: [(Opcode, [u8; 4]); 6] = [
    (t::ZIP1, [0, 4, 1, 5]),
    (t::ZIP2, [2, 6, 3, 7]),
    (t::UZP1, [0, 2, 4, 6]),
    (t::UZP2, [1, 3, 5, 7]),
    (t::TRN1, [0, 4, 2, 6]),
    (t::TRN2, [1, 5, 3, 7]),
];

impl Lower<'_> {
    pub(super) fn shuffle(&mut self, a: Value, b: Value, lanes: &[u8], ty: Type) -> VReg {
        let vectors = [self.reg(a), self.reg(b)];
        match *lanes {
            [x, y] if wide(ty) => self.shuffle_pairs(vectors, [x, y]),
            [x, y, z, w] if !wide(ty) => self.shuffle_words(vectors, [x, y, z, w]),
            _ => self.unsupported(format!("shuffle of {} lanes", lanes.len()), super::super::regs::VEC),
        }
    }

    /// Shuffles 64-bit lanes.
    fn shuffle_pairs(&mut self, vectors: [VReg; 2], lanes: [u8; 2]) -> VReg {
        let [first, second] = lanes.map(|lane| vectors[usize::from(lane / 2)]);
        match lanes.map(|lane| lane % 2) {
            [0, 0] => self.binary(t::ZIP1, true, first, second),
            [1, 1] => self.binary(t::ZIP2, true, first, second),
            [1, _] => self.bytes_from(first, second, 8),
            _ if first == second => first,
            _ => self.insert(true, second, 0, first, 0),
        }
    }

    /// Returns sixteen bytes of the concatenation of two vectors, from byte `start`.
    fn bytes_from(&mut self, low: VReg, high: VReg, start: u32) -> VReg {
        self.result(InstBuilder::new(t::EXT).n(low).m(high).imm(start << 11, start.into()))
    }

    /// Replaces a lane of `into` by lane `source` of `from`.
    fn insert(&mut self, double: bool, into: VReg, lane: u8, from: VReg, source: u8) -> VReg {
        let (to, size) = (self.vec(), log2(double));
        let builder = InstBuilder::new(t::INS_LANE).wide(double).tied(into, to).n(from);
        self.push(builder.lane(size, lane).source_lane(size, source));
        to
    }

    fn shuffle_words(&mut self, vectors: [VReg; 2], lanes: [u8; 4]) -> VReg {
        // If both operands are equal, select only lanes of the first operand.
        let same = vectors[0] == vectors[1];
        let lanes = if same { lanes.map(|lane| lane % 4) } else { lanes };
        let [a, b] = vectors;
        for (first, second, lanes) in [(a, b, lanes), (b, a, lanes.map(|lane| (lane + 4) % 8))] {
            if let Some(reg) = self.simple_words(first, second, lanes) {
                return reg;
            }
        }
        self.look_up(vectors, lanes)
    }

    /// Selects one instruction for the pattern, or returns `None` if there is none.
    fn simple_words(&mut self, a: VReg, b: VReg, lanes: [u8; 4]) -> Option<VReg> {
        let of_one = lanes.iter().all(|lane| *lane < 4);
        if lanes == [0, 1, 2, 3] {
            return Some(a);
        }
        if of_one && lanes == [lanes[0]; 4] {
            return Some(self.result(InstBuilder::new(t::DUP_LANE).n(a).lane(log2(false), lanes[0])));
        }
        if lanes == [1, 0, 3, 2] {
            return Some(self.unary(t::REV64, false, a));
        }
        for (opcode, pattern) in PAIRS {
            if pattern == lanes {
                return Some(self.binary(opcode, false, a, b));
            }
            if pattern.map(|lane| lane % 4) == lanes {
                return Some(self.binary(opcode, false, a, a));
            }
        }
        for start in 1..4 {
            let pattern = [0, 1, 2, 3].map(|lane| lane + start);
            if pattern == lanes {
                return Some(self.bytes_from(a, b, u32::from(start) * 4));
            }
            if pattern.map(|lane| lane % 4) == lanes {
                return Some(self.bytes_from(a, a, u32::from(start) * 4));
            }
        }
        if let Some(pairs) = pairs(lanes) {
            return Some(self.shuffle_pairs([a, b], pairs));
        }
        let mut others = (0..).zip(lanes).filter(|(place, lane)| place != lane);
        match (others.next(), others.next()) {
            (Some((place, lane)), None) => Some(self.insert(false, a, place, if lane < 4 { a } else { b }, lane % 4)),
            _ => None,
        }
    }

    /// Looks up the bytes of each operand with constant indices.
    fn look_up(&mut self, vectors: [VReg; 2], lanes: [u8; 4]) -> VReg {
        const OUTSIDE: u8 = 0xFF;
        let indices = |vector: u8| -> Bytes {
            let byte = |lane: u8, at: u8| if lane / 4 == vector { lane % 4 * 4 + at } else { OUTSIDE };
            lanes.iter().flat_map(|lane| (0..4).map(move |at| byte(*lane, at))).collect()
        };
        let uses = |vector: u8| lanes.iter().any(|lane| lane / 4 == vector);
        let only = match (uses(0), uses(1)) {
            (true, true) => None,
            (first, _) => Some(u8::from(!first)),
        };
        if let Some(only) = only {
            let table = self.pooled(indices(only));
            return self.binary(t::TBL, false, vectors[usize::from(only)], table);
        }
        let tables = [self.pooled(indices(0)), self.pooled(indices(1))];
        let first = self.binary(t::TBL, false, vectors[0], tables[0]);
        self.tied_binary(t::TBX, false, first, vectors[1], tables[1])
    }

    /// Selects lanes by a vector of lane indices, which are converted to byte indices.
    pub(super) fn permute(&mut self, a: Value, index: Value) -> VReg {
        const BYTES: u64 = 0x0302_0100;
        const FOUR: u64 = 0x0404_0404;
        let ty = self.ty(index);
        let (vector, index) = (self.reg(a), self.reg(index));
        let last = self.splat_constant(3, ty);
        let lane = self.binary(t::AND_V, false, index, last);
        let four = self.splat_constant(FOUR, ty);
        let start = self.binary(t::MUL_V, false, lane, four);
        let bytes = self.splat_constant(BYTES, ty);
        let table = self.binary(t::ADD_V, false, start, bytes);
        self.binary(t::TBL, false, vector, table)
    }
}

/// Returns the pattern in 64-bit lanes, or `None` if a pair of 32-bit lanes is not a 64-bit lane.
fn pairs([a, b, c, d]: [u8; 4]) -> Option<[u8; 2]> {
    let pair = |low: u8, high: u8| (low.is_multiple_of(2) && high == low + 1).then_some(low / 2);
    Some([pair(a, b)?, pair(c, d)?])
}
