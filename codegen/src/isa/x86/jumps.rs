//! Jumps in a short form of two bytes and a long form of five or six bytes, and padding.

use smallvec::smallvec;

use super::inst::Cc;
use crate::mach::layout::{BranchEncoding, Branches};

/// A jump with its condition code and target block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump {
    code: Option<u8>,
    target: usize,
    /// Whether the jump has a displacement of 32 bits instead of 8.
    long: bool,
}

/// The code of the condition "unordered".
const PARITY: u8 = 10;

/// Returns the code of a condition, and the code of a second condition for `FloatEqual` and `FloatNotEqual`.
/// `FloatEqual` holds if both conditions hold, and `FloatNotEqual` if either holds.
const fn codes(cc: Cc) -> (u8, Option<u8>) {
    match cc {
        Cc::FloatEqual => (Cc::Equal as u8, Some(PARITY ^ 1)),
        Cc::FloatNotEqual => (Cc::NotEqual as u8, Some(PARITY)),
        Cc::Below
        | Cc::AboveEqual
        | Cc::Equal
        | Cc::NotEqual
        | Cc::BelowEqual
        | Cc::Above
        | Cc::Sign
        | Cc::NotSign
        | Cc::Less
        | Cc::GreaterEqual
        | Cc::LessEqual
        | Cc::Greater => (cc as u8, None),
    }
}

/// No-op instructions, indexed by their size in bytes minus one.
const NOPS: [&[u8]; 9] = [
    &[0x90],
    &[0x66, 0x90],
    &[0x0F, 0x1F, 0x00],
    &[0x0F, 0x1F, 0x40, 0x00],
    &[0x0F, 0x1F, 0x44, 0x00, 0x00],
    &[0x66, 0x0F, 0x1F, 0x44, 0x00, 0x00],
    &[0x0F, 0x1F, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0F, 0x1F, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    &[0x66, 0x0F, 0x1F, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

impl Jump {
    const fn if_code(code: u8, target: usize) -> Self {
        Self { code: Some(code), target, long: false }
    }
}

impl BranchEncoding for Jump {
    type Cond = Cc;
    const LOOP_ALIGN: usize = 32;
    const ROTATES_LOOPS: bool = true;

    fn jump(target: usize) -> Self {
        Self { code: None, target, long: false }
    }

    fn conditional(cc: Cc, then: usize, els: usize, next: Option<usize>) -> Branches<Self> {
        let (cc, then, els) = if next == Some(then) { (cc.inverted(), els, then) } else { (cc, then, els) };
        let (code, second) = codes(cc);
        let (mut list, last): (Branches<Self>, usize) = match (cc, second) {
            // Equal and ordered: jumps to `els` if either condition does not hold.
            (Cc::FloatEqual, _) => (smallvec![Self::if_code(code ^ 1, els), Self::if_code(PARITY, els)], then),
            (_, Some(second)) => (smallvec![Self::if_code(code, then), Self::if_code(second, then)], els),
            (_, None) => (smallvec![Self::if_code(code, then)], els),
        };
        if Some(last) != next {
            list.push(Self::jump(last));
        }
        list
    }

    fn target(&self) -> usize {
        self.target
    }

    fn size(&self) -> usize {
        match (self.long, self.code) {
            (false, _) => 2,
            (true, None) => 5,
            (true, Some(_)) => 6,
        }
    }

    fn relax(&mut self, distance: i64) -> bool {
        let grows = !self.long && i8::try_from(distance).is_err();
        self.long |= grows;
        grows
    }

    fn encode(&self, distance: i64, out: &mut Vec<u8>) {
        match (self.long, self.code) {
            (false, code) => out.extend([code.map_or(0xEB, |code| 0x70 | code), distance as i8 as u8]),
            (true, code) => {
                match code {
                    None => out.push(0xE9),
                    Some(code) => out.extend([0x0F, 0x80 | code]),
                }
                out.extend((distance as i32).to_le_bytes());
            }
        }
    }

    fn pad(out: &mut Vec<u8>, length: usize) {
        while out.len() < length {
            let size = (length - out.len()).min(NOPS.len());
            out.extend(NOPS[size - 1]);
        }
    }
}
