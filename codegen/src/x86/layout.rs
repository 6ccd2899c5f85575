//! Where the blocks of a function stand, and its jumps: as short as they can be, and none to the next block.

use smallvec::{SmallVec, smallvec};

use super::emit::{Fixup, codes};
use super::inst::Cc;

/// How a block ends, in indices of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It leaves the function.
    None,
    /// It goes on there.
    Jump(usize),
    /// It goes on to the first if the condition holds, else to the second.
    Branch(Cc, usize, usize),
}

/// The bytes of a block without its jumps.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockCode {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) jump: End,
}

/// A jump: on which condition, and where to.
#[derive(Clone, Copy, Debug)]
struct Jump {
    code: Option<u8>,
    target: usize,
    near: bool,
}

impl Jump {
    const fn new(code: Option<u8>, target: usize) -> Self {
        Self { code, target, near: false }
    }

    const fn size(&self) -> usize {
        match (self.near, self.code) {
            (false, _) => 2,
            (true, None) => 5,
            (true, Some(_)) => 6,
        }
    }
}

type Jumps = SmallVec<[Jump; 3]>;

/// At what loops are aligned: what processors fetch at once.
const LOOP_ALIGN: usize = 32;

/// Instructions of one to nine bytes that do nothing.
const NOTHING: [&[u8]; 9] = [
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

/// Appends instructions that do nothing, up to a length.
fn fill(out: &mut Vec<u8>, length: usize) {
    while out.len() < length {
        let size = (length - out.len()).min(NOTHING.len());
        out.extend(NOTHING[size - 1]);
    }
}

/// Goes through blocks that do nothing but jump.
fn thread(blocks: &[BlockCode], mut block: usize) -> usize {
    // A loop of such blocks is left after one turn.
    for _ in 0..blocks.len() {
        match blocks[block] {
            BlockCode { start, end, jump: End::Jump(to) } if start == end => block = to,
            _ => break,
        }
    }
    block
}

/// The jumps at the end of a block that another one follows.
fn jumps(blocks: &[BlockCode], block: usize, next: Option<usize>) -> Jumps {
    let to = |target: usize| {
        let mut list = Jumps::new();
        if Some(target) != next {
            list.push(Jump::new(None, target));
        }
        list
    };
    let (mut cc, mut then, mut els) = match blocks[block].jump {
        End::None => return Jumps::new(),
        End::Jump(target) => return to(thread(blocks, target)),
        End::Branch(cc, then, els) => (cc, thread(blocks, then), thread(blocks, els)),
    };
    if then == els {
        return to(then);
    }
    if next == Some(then) {
        (cc, then, els) = (cc.inverted(), els, then);
    }
    let (code, parity) = codes(cc);
    let mut list: Jumps = match (cc, parity) {
        // Equal and ordered: away if either is not so.
        (Cc::FloatEqual, _) => {
            let mut list: Jumps = smallvec![Jump::new(Some(code ^ 1), els), Jump::new(Some(10), els)];
            if next != Some(then) {
                list.push(Jump::new(None, then));
            }
            return list;
        }
        (_, Some(parity)) => smallvec![Jump::new(Some(code), then), Jump::new(Some(parity), then)],
        (_, None) => smallvec![Jump::new(Some(code), then)],
    };
    list.extend(to(els));
    list
}

/// What is known of the places of blocks.
struct Layout<'a> {
    blocks: &'a [BlockCode],
    /// The blocks that are left, in order.
    order: Vec<usize>,
    /// The jumps of each of them.
    jumps: Vec<Jumps>,
    /// Where each block begins.
    starts: Vec<usize>,
    /// Whether something jumps back to a block.
    loops: Vec<bool>,
}

/// Puts the blocks one behind the other.
pub(super) fn lay_out(text: &[u8], blocks: &[BlockCode], fixups: &[Fixup]) -> (Vec<u8>, Vec<Fixup>) {
    let order: Vec<usize> = (0..blocks.len()).filter(|block| *block == 0 || thread(blocks, *block) == *block).collect();
    let jumps: Vec<Jumps> = order.iter().enumerate().map(|(place, block)| jumps(blocks, *block, order.get(place + 1).copied())).collect();
    let mut loops = vec![false; blocks.len()];
    for (block, jumps) in order.iter().zip(&jumps) {
        jumps.iter().filter(|jump| jump.target <= *block).for_each(|jump| loops[jump.target] = true);
    }
    let mut layout = Layout { blocks, order, jumps, starts: vec![0; blocks.len()], loops };
    // Jumps only ever grow, so this ends.
    while layout.grow() {}
    layout.write(text, fixups)
}

impl Layout<'_> {
    /// Finds where blocks begin, and whether a jump that was short does not reach.
    fn grow(&mut self) -> bool {
        let size = |block: usize| self.blocks[block].end - self.blocks[block].start;
        let mut at = 0usize;
        for (&block, jumps) in self.order.iter().zip(&self.jumps) {
            if self.loops[block] {
                at = at.next_multiple_of(LOOP_ALIGN);
            }
            self.starts[block] = at;
            at += size(block) + jumps.iter().map(Jump::size).sum::<usize>();
        }
        let mut grown = false;
        for (&block, jumps) in self.order.iter().zip(&mut self.jumps) {
            let mut at = self.starts[block] + size(block);
            for jump in jumps {
                at += jump.size();
                let distance = self.starts[jump.target] as i64 - at as i64;
                if !jump.near && i8::try_from(distance).is_err() {
                    jump.near = true;
                    grown = true;
                }
            }
        }
        grown
    }

    fn write(&self, text: &[u8], fixups: &[Fixup]) -> (Vec<u8>, Vec<Fixup>) {
        let mut out = Vec::with_capacity(text.len() + self.blocks.len() * 8);
        let mut moved = Vec::with_capacity(fixups.len());
        let mut rest = fixups;
        for (&block, jumps) in self.order.iter().zip(&self.jumps) {
            let (block_code, start) = (self.blocks[block], self.starts[block]);
            fill(&mut out, start);
            out.extend(&text[block_code.start..block_code.end]);
            let (mine, others) = rest.split_at(rest.partition_point(|fixup| fixup.at < block_code.end));
            rest = others;
            let to = |place: usize| place - block_code.start + start;
            moved.extend(mine.iter().map(|fixup| Fixup { at: to(fixup.at), end: to(fixup.end), target: fixup.target }));
            for jump in jumps {
                let end = out.len() + jump.size();
                let distance = self.starts[jump.target] as i64 - end as i64;
                match (jump.near, jump.code) {
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
        }
        (out, moved)
    }
}
