//! Branches in a short form of one word and a long form of two words, and padding.

use smallvec::smallvec;

use super::inst::Cc;
use crate::mach::layout::{BranchEncoding, Branches};

/// The condition of a branch after register allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Flags(Cc),
    /// A register of 32 bits or (`wide`) 64 bits is 0. If `inverted`, it is not 0.
    Zero {
        reg: u8,
        wide: bool,
        inverted: bool,
    },
}

/// A branch to a target block. It is unconditional if the condition is `None`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump {
    condition: Option<Condition>,
    target: usize,
    /// Whether the branch is encoded as an unconditional branch that the inverse condition skips.
    long: bool,
}

const B: u32 = 0x1400_0000;
const B_COND: u32 = 0x5400_0000;
const CBZ: u32 = 0x3400_0000;
const NOP: u32 = 0xD503_201F;

impl Condition {
    const fn inverted(self) -> Self {
        match self {
            Self::Flags(cc) => Self::Flags(cc.inverted()),
            Self::Zero { reg, wide, inverted } => Self::Zero { reg, wide, inverted: !inverted },
        }
    }

    /// Encodes a branch in its short form. `distance` is in bytes, from the start of the branch.
    pub(super) const fn word(self, distance: i64) -> u32 {
        let place = ((distance / 4) as u32 & 0x7_FFFF) << 5;
        match self {
            Self::Flags(cc) => B_COND | place | cc as u32,
            Self::Zero { reg, wide, inverted } => CBZ | (wide as u32) << 31 | (inverted as u32) << 24 | place | reg as u32,
        }
    }
}

impl BranchEncoding for Jump {
    type Cond = Condition;
    const LOOP_ALIGN: usize = 16;
    const ROTATES_LOOPS: bool = true;

    fn jump(target: usize) -> Self {
        Self { condition: None, target, long: false }
    }

    fn conditional(condition: Condition, then: usize, els: usize, next: Option<usize>) -> Branches<Self> {
        let (condition, then, els) = if next == Some(then) { (condition.inverted(), els, then) } else { (condition, then, els) };
        let mut list: Branches<Self> = smallvec![Self { condition: Some(condition), target: then, long: false }];
        if Some(els) != next {
            list.push(Self::jump(els));
        }
        list
    }

    fn target(&self) -> usize {
        self.target
    }

    fn size(&self) -> usize {
        if self.long { 8 } else { 4 }
    }

    fn relax(&mut self, distance: i64) -> bool {
        // Conditional branches encode the distance in words, with 19 bits.
        const REACH: i64 = 1 << 20;
        let start = distance + self.size() as i64;
        let grows = self.condition.is_some() && !self.long && !(-REACH..REACH).contains(&start);
        self.long |= grows;
        grows
    }

    fn encode(&self, distance: i64, out: &mut Vec<u8>) {
        let last = distance + 4;
        let branch = B | (last / 4) as u32 & 0x3FF_FFFF;
        match self.condition {
            None => out.extend(branch.to_le_bytes()),
            Some(condition) if !self.long => out.extend(condition.word(last).to_le_bytes()),
            Some(condition) => {
                out.extend(condition.inverted().word(8).to_le_bytes());
                out.extend(branch.to_le_bytes());
            }
        }
    }

    fn pad(out: &mut Vec<u8>, length: usize) {
        while out.len() < length {
            out.extend(NOP.to_le_bytes());
        }
    }
}
