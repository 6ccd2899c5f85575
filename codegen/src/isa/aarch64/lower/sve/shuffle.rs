//! Shuffles of long vectors: one instruction for common patterns, otherwise `tbl`.

use regalloc2::VReg;

use super::super::super::inst::{InstBuilder, Opcode};
use super::super::super::table as t;
use super::super::context::{Lower, bytes, wide};
use crate::vir::{Type, Value};

/// Two vectors, and the number of their lanes.
#[derive(Clone, Copy)]
struct Pair {
    regs: [VReg; 2],
    lanes: u8,
    wide: bool,
    /// Whether the vectors fill their registers.
    full: bool,
}

/// An instruction with two operands.
struct Pattern {
    opcode: Opcode,
    /// Whether the instruction also works on vectors that do not fill their registers.
    any_size: bool,
    /// The lane of the concatenation that the instruction selects for a lane, given the number of lanes.
    lane: fn(u8, u8) -> u8,
}

const PATTERNS: [Pattern; 6] = [
    Pattern { opcode: t::ZIP1_Z, any_size: true, lane: |at, lanes| at / 2 + at % 2 * lanes },
    Pattern { opcode: t::ZIP2_Z, any_size: false, lane: |at, lanes| lanes / 2 + at / 2 + at % 2 * lanes },
    Pattern { opcode: t::UZP1_Z, any_size: false, lane: |at, _| 2 * at },
    Pattern { opcode: t::UZP2_Z, any_size: false, lane: |at, _| 2 * at + 1 },
    Pattern { opcode: t::TRN1_Z, any_size: true, lane: |at, lanes| at - at % 2 + at % 2 * lanes },
    Pattern { opcode: t::TRN2_Z, any_size: true, lane: |at, lanes| at - at % 2 + 1 + at % 2 * lanes },
];

impl Lower<'_> {
    /// Selects lanes of the concatenation of two vectors.
    pub(in super::super) fn long_shuffle(&mut self, [a, b]: [Value; 2], lanes: &[u8], ty: Type) -> VReg {
        let count = ty.lanes();
        // If all lanes are from one vector, the other one is not computed.
        let used = [lanes.iter().any(|lane| *lane < count), lanes.iter().any(|lane| *lane >= count)];
        let (a, b) = (if used[0] { a } else { b }, if used[1] { b } else { a });
        let one = a == b;
        let lanes: Vec<u8> = lanes.iter().map(|lane| if one { lane % count } else { *lane }).collect();
        let first = self.reg(a);
        let second = if one { first } else { self.reg(b) };
        let pair = Pair { regs: [first, second], lanes: count, wide: wide(ty), full: self.fills_register(ty) };
        if let Some(reg) = self.simple_shuffle(pair, &lanes) {
            return reg;
        }
        if !pair.wide
            && let Some(doubled) = doubled(&lanes)
            && let Some(reg) = self.simple_shuffle(Pair { lanes: count / 2, wide: true, ..pair }, &doubled)
        {
            return reg;
        }
        self.long_look_up(pair, &lanes, ty)
    }

    /// Selects one instruction for the pattern, or returns `None` if there is none.
    fn simple_shuffle(&mut self, pair: Pair, lanes: &[u8]) -> Option<VReg> {
        let Pair { regs: [a, b], lanes: count, wide, full } = pair;
        let numbered = || lanes.iter().copied().zip(0_u8..);
        let one = a == b;
        if numbered().all(|(lane, at)| lane == at) {
            return Some(a);
        }
        if lanes.iter().all(|lane| *lane == lanes[0]) {
            let (from, lane) = if lanes[0] < count { (a, lanes[0]) } else { (b, lanes[0] - count) };
            let log2 = if wide { 3 } else { 2 };
            let opcode = if lane == 0 { t::DUP_Z_FIRST } else { t::DUP_Z_LANE };
            return Some(self.result(InstBuilder::new(opcode).wide(wide).n(from).z_lane(log2, lane)));
        }
        for Pattern { opcode, any_size, lane } in PATTERNS {
            if !full && !any_size {
                continue;
            }
            for (first, second, swapped) in [(a, b, 0), (b, a, count)] {
                let matches = |(found, at): (u8, u8)| {
                    let wanted = (lane(at, count) + swapped) % (2 * count);
                    found == if one { wanted % count } else { wanted }
                };
                if numbered().all(matches) {
                    return Some(self.binary(opcode, wide, first, second));
                }
            }
        }
        if one && numbered().all(|(lane, at)| lane == at ^ 1) && !wide {
            return Some(self.z_unary(t::REVW_Z, true, a));
        }
        if full && one && numbered().all(|(lane, at)| lane == count - 1 - at) {
            return Some(self.unary(t::REV_Z, wide, a));
        }
        let start = lanes[0];
        let modulus = if one { count } else { 2 * count };
        if full && numbered().all(|(lane, at)| lane == (start + at) % modulus) {
            let (low, high) = if start < count { (a, b) } else { (b, a) };
            let to = self.vec();
            let bytes = u32::from(start % count) * if wide { 8 } else { 4 };
            self.push(InstBuilder::new(t::EXT_Z).tied(low, to).n(high).z_start(bytes));
            return Some(to);
        }
        None
    }

    /// Looks up lanes of each vector with constant indices.
    fn long_look_up(&mut self, pair: Pair, lanes: &[u8], ty: Type) -> VReg {
        let Pair { regs: [a, b], lanes: count, wide, .. } = pair;
        let indices = |of: &dyn Fn(u8) -> u64| -> Vec<u64> { lanes.iter().map(|lane| of(*lane)).collect() };
        if a == b {
            let index = self.long_lanes(&indices(&|lane| (lane % count).into()), ty);
            return self.binary(t::TBL_Z, wide, a, index);
        }
        if 2 * bytes(ty) <= self.register_bytes() {
            let both = self.concatenate(a, b, count.into(), wide);
            let index = self.long_lanes(&indices(&u64::from), ty);
            return self.binary(t::TBL_Z, wide, both, index);
        }
        let outside = u64::MAX;
        let first = self.long_lanes(&indices(&|lane| if lane < count { lane.into() } else { outside }), ty);
        let second = self.long_lanes(&indices(&|lane| if lane < count { outside } else { (lane - count).into() }), ty);
        let (first, second) = (self.binary(t::TBL_Z, wide, a, first), self.binary(t::TBL_Z, wide, b, second));
        self.binary(t::ORR_Z, false, first, second)
    }

    /// Selects lanes by a vector of lane indices.
    pub(in super::super) fn long_permute(&mut self, a: Value, index: Value) -> VReg {
        let ty = self.ty(index);
        let (vector, index) = (self.reg(a), self.reg(index));
        let last = self.long_splat(u64::from(ty.lanes()) - 1, ty);
        let lane = self.binary(t::AND_Z, false, index, last);
        self.binary(t::TBL_Z, false, vector, lane)
    }
}

/// Returns the pattern in 64-bit lanes, or `None` if a pair of 32-bit lanes is not a 64-bit lane.
fn doubled(lanes: &[u8]) -> Option<Vec<u8>> {
    let pair = |two: &[u8]| (two[0].is_multiple_of(2) && two[1] == two[0] + 1).then_some(two[0] / 2);
    lanes.chunks_exact(2).map(pair).collect()
}
