//! Shuffles: each lane of the result is a lane of one of two vectors, selected by a constant index.
//!
//! Without AVX-512, no instruction selects arbitrary lanes of two vectors. Most patterns that repeat in each 16 bytes,
//! and shuffles of 128-bit halves, take one instruction. Other shuffles permute each vector and blend the results.

use regalloc2::VReg;

use super::super::inst::{InstBuilder, RegMem};
use super::super::table as t;
use super::context::{Lower, length, wide};
use crate::mach::constants::Constant;
use crate::vir::{Elem, Type, Value};

/// The two operands and their type.
#[derive(Clone, Copy)]
struct Operands {
    regs: [VReg; 2],
    ty: Type,
}

/// The index of an operand (0 or 1), and the index of a lane of this operand.
type Lane = (usize, u8);

impl Lower<'_> {
    /// Selects lanes of the concatenation of two vectors.
    pub(super) fn shuffle(&mut self, a: Value, b: Value, lanes: &[u8], ty: Type) -> VReg {
        let count = ty.lanes();
        // If all lanes are from one vector, the other one is not computed.
        let used = [lanes.iter().any(|&lane| lane < count), lanes.iter().any(|&lane| lane >= count)];
        let (a, b) = (if used[0] { a } else { b }, if used[1] { b } else { a });
        let from = |lane: u8| (usize::from(a != b && lane >= count), lane % count);
        let lanes: Vec<Lane> = lanes.iter().map(|&lane| from(lane)).collect();
        if a == b && lanes.iter().zip(0..).all(|(&(_, lane), at)| lane == at) {
            return self.reg(a);
        }
        let first = self.reg(a);
        let pair = Operands { regs: [first, if a == b { first } else { self.reg(b) }], ty };
        if let Some(reg) = self.shuffle_within_16_bytes(pair, &lanes) {
            return reg;
        }
        if self.avx512() {
            return self.shuffle_by_table(pair, &lanes);
        }
        // Combine pairs of adjacent lanes to lanes of twice the size.
        let combined_lanes = |lanes: &[Lane]| -> Option<Vec<Lane>> {
            let one = |two: &[Lane]| {
                (two[0].0 == two[1].0 && two[0].1.is_multiple_of(2) && two[0].1 + 1 == two[1].1).then(|| (two[0].0, two[0].1 / 2))
            };
            lanes.chunks_exact(2).map(one).collect()
        };
        let doubled = if wide(ty) { Some(lanes.clone()) } else { combined_lanes(&lanes) };
        if let Some(doubled) = doubled {
            let ty = Type::Vector(if ty.elem().is_some_and(Elem::is_float) { Elem::F64 } else { Elem::I64 }, doubled.len() as u8);
            if let Some(reg) = self.wide_lanes(Operands { ty, ..pair }, &doubled, combined_lanes(&doubled)) {
                return reg;
            }
        }
        self.permute_and_blend(pair, &lanes)
    }

    /// Permutes lanes of a vector by another vector of indices.
    pub(super) fn permute(&mut self, a: Value, index: Value, ty: Type) -> VReg {
        let (from, index, len) = (self.reg(a), self.reg(index), length(ty));
        if len == 0 { self.v3(t::PERMILPS, len, false, from, index) } else { self.v3(t::PERMPS, len, false, index, from) }
    }

    /// Shuffles with a vector of constant indices. Requires AVX-512.
    fn shuffle_by_table(&mut self, pair: Operands, lanes: &[Lane]) -> VReg {
        let (len, wide) = (length(pair.ty), wide(pair.ty));
        let numbers: Vec<u64> = lanes.iter().map(|&(of, lane)| u64::from(lane) + of as u64 * lanes.len() as u64).collect();
        let index = self.table(&numbers, pair.ty);
        let from = self.v2(t::MOVU, len, false, index);
        let to = self.vec();
        self.push(InstBuilder::new(t::PERMI2).len(len).wide(wide).tied(from, to).vvvv(pair.regs[0]).rm(pair.regs[1]));
        to
    }

    fn table(&mut self, numbers: &[u64], ty: Type) -> RegMem {
        let ty = ty.with_elem(if wide(ty) { Elem::I64 } else { Elem::I32 });
        RegMem::Pool { id: self.pooled(Constant::Lanes(numbers), ty), broadcast: false }
    }

    /// Selects one instruction that applies the same pattern within each 16 bytes, or returns `None` if there is none.
    fn shuffle_within_16_bytes(&mut self, pair: Operands, lanes: &[Lane]) -> Option<VReg> {
        let (len, wide) = (length(pair.ty), wide(pair.ty));
        let each = if wide { 2 } else { 4 };
        let stays = lanes.iter().zip(0_u8..).all(|(&(_, lane), at)| lane / each == at / each);
        let inner: Vec<Lane> = lanes.iter().map(|&(of, lane)| (of, lane % each)).collect();
        let quarter = &inner[..usize::from(each)];
        if !stays || inner.chunks(usize::from(each)).any(|other| other != quarter) {
            return None;
        }
        let reg = |of: usize| pair.regs[of];
        if wide {
            let [low, high] = [quarter[0], quarter[1]];
            let imm = (0..1_u8 << len).fold(0, |imm, part| imm | (low.1 | high.1 << 1) << (2 * part));
            return Some(self.v3_imm(t::SHUFP.of(Elem::F64, false), len, true, reg(low.0), reg(high.0), imm));
        }
        let numbers: Vec<u8> = quarter.iter().map(|lane| lane.1).collect();
        let imm = (0..4).fold(0, |imm, at| imm | numbers[at] << (2 * at));
        if inner.iter().all(|lane| lane.0 == quarter[0].0) {
            return Some(self.v2_imm(t::PSHUFD, len, false, reg(quarter[0].0), imm));
        }
        if quarter[0].0 == quarter[1].0 && quarter[2].0 == quarter[3].0 {
            return Some(self.v3_imm(t::SHUFP, len, false, reg(quarter[0].0), reg(quarter[2].0), imm));
        }
        let alternates = quarter[0].0 == quarter[2].0 && quarter[1].0 == quarter[3].0;
        let opcode = match numbers[..] {
            [0, 0, 1, 1] if alternates => t::UNPCKL,
            [2, 2, 3, 3] if alternates => t::UNPCKH,
            _ => return None,
        };
        Some(self.v3(opcode, len, false, reg(quarter[0].0), reg(quarter[1].0)))
    }

    /// Selects 64-bit lanes with one instruction, or returns `None` if there is none. `halves` is the pattern of
    /// 128-bit lanes, or `None` if the pattern splits 128-bit lanes. Used only with AVX2, not with AVX-512.
    fn wide_lanes(&mut self, pair: Operands, lanes: &[Lane], halves: Option<Vec<Lane>>) -> Option<VReg> {
        if let Some(reg) = self.shuffle_within_16_bytes(pair, lanes) {
            return Some(reg);
        }
        let [_, _, _, _] = lanes else { return None };
        if let Some([low, high]) = halves.as_deref() {
            // In the immediate, 0 and 1 are the halves of the first vector, 2 and 3 those of the second.
            let number = |half: &Lane| half.1 | (half.0 as u8) << 1;
            if low == &(low.0, 0) && high == &(high.0, 0) {
                return Some(self.join(pair.regs[low.0], pair.regs[high.0], 0));
            }
            return Some(self.v3_imm(t::PERM2F128, 1, false, pair.regs[0], pair.regs[1], number(low) | number(high) << 4));
        }
        let imm = (0..).zip(lanes).fold(0, |imm, (at, lane)| imm | lane.1 << (2 * at));
        if lanes.iter().all(|lane| lane.0 == lanes[0].0) {
            return Some(self.v2_imm(t::PERMQ, 1, true, pair.regs[lanes[0].0], imm));
        }
        let stays = lanes.iter().zip(0_u8..).all(|(&(_, lane), at)| lane / 2 == at / 2);
        if stays && lanes[0].0 == lanes[2].0 && lanes[1].0 == lanes[3].0 {
            let imm = (0..).zip(lanes).fold(0, |imm, (at, lane)| imm | (lane.1 % 2) << at);
            return Some(self.v3_imm(t::SHUFP.of(Elem::F64, false), 1, true, pair.regs[lanes[0].0], pair.regs[lanes[1].0], imm));
        }
        None
    }

    /// Permutes each vector and blends the results. Used only with AVX2, not with AVX-512.
    fn permute_and_blend(&mut self, pair: Operands, lanes: &[Lane]) -> VReg {
        let placed = [0, 1].map(|of| {
            // The blend replaces the lanes that come from the other vector, so this permutation leaves them in place.
            let own: Vec<u8> = lanes.iter().zip(0..).map(|(&(other, lane), at)| if other == of { lane } else { at }).collect();
            self.permute_lanes(pair.regs[of], &own, pair.ty)
        });
        if lanes.iter().all(|lane| lane.0 == 0) {
            return placed[0];
        }
        let words = if wide(pair.ty) { 2 } else { 1 };
        let choices = lanes.iter().flat_map(|lane| std::iter::repeat_n(lane.0 as u8, words));
        let imm = (0..).zip(choices).fold(0, |imm, (at, of)| imm | of << at);
        self.v3_imm(t::BLEND_IMM, length(pair.ty), false, placed[0], placed[1], imm)
    }

    /// Permutes the lanes of one vector. Used only with AVX2, not with AVX-512.
    fn permute_lanes(&mut self, from: VReg, lanes: &[u8], ty: Type) -> VReg {
        if lanes.iter().zip(0..).all(|(&lane, at)| lane == at) {
            return from;
        }
        let own: Vec<Lane> = lanes.iter().map(|&lane| (0, lane)).collect();
        let pair = Operands { regs: [from; 2], ty };
        if let Some(reg) = self.shuffle_within_16_bytes(pair, &own) {
            return reg;
        }
        if wide(ty) {
            let imm = (0..).zip(lanes).fold(0, |imm, (at, lane)| imm | lane << (2 * at));
            return self.v2_imm(t::PERMQ, 1, true, from, imm);
        }
        let numbers: Vec<u64> = lanes.iter().map(|&lane| u64::from(lane)).collect();
        let index = self.table(&numbers, ty);
        let index = self.v2(t::MOVU, length(ty), false, index);
        self.v3(t::PERMPS, length(ty), false, index, from)
    }
}
