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
pub(super) struct Chunk {
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

/// Goes through blocks that do nothing but jump.
fn thread(chunks: &[Chunk], mut block: usize) -> usize {
    // A loop of such blocks is left after one turn.
    for _ in 0..chunks.len() {
        match chunks[block] {
            Chunk { start, end, jump: End::Jump(to) } if start == end => block = to,
            _ => break,
        }
    }
    block
}

/// The jumps at the end of a block that another one follows.
fn jumps(chunks: &[Chunk], block: usize, next: Option<usize>) -> Jumps {
    let to = |target: usize| {
        let mut list = Jumps::new();
        if Some(target) != next {
            list.push(Jump::new(None, target));
        }
        list
    };
    let (mut cc, mut then, mut els) = match chunks[block].jump {
        End::None => return Jumps::new(),
        End::Jump(target) => return to(thread(chunks, target)),
        End::Branch(cc, then, els) => (cc, thread(chunks, then), thread(chunks, els)),
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

/// Puts the blocks one behind the other.
pub(super) fn lay_out(text: &[u8], chunks: &[Chunk], fixups: &[Fixup]) -> (Vec<u8>, Vec<Fixup>) {
    let order: Vec<usize> = (0..chunks.len()).filter(|block| *block == 0 || thread(chunks, *block) == *block).collect();
    let mut all: Vec<Jumps> = order.iter().enumerate().map(|(place, block)| jumps(chunks, *block, order.get(place + 1).copied())).collect();
    let mut starts = vec![0; chunks.len()];
    loop {
        let mut at = 0;
        for (block, jumps) in order.iter().zip(&all) {
            starts[*block] = at;
            at += chunks[*block].end - chunks[*block].start + jumps.iter().map(Jump::size).sum::<usize>();
        }
        let mut changed = false;
        for (block, jumps) in order.iter().zip(&mut all) {
            let mut at = starts[*block] + chunks[*block].end - chunks[*block].start;
            for jump in jumps {
                at += jump.size();
                let distance = starts[jump.target] as i64 - at as i64;
                if !jump.near && i8::try_from(distance).is_err() {
                    jump.near = true;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    write(text, chunks, fixups, &order, &all, &starts)
}

fn write(text: &[u8], chunks: &[Chunk], fixups: &[Fixup], order: &[usize], all: &[Jumps], starts: &[usize]) -> (Vec<u8>, Vec<Fixup>) {
    let mut out = Vec::with_capacity(text.len() + chunks.len() * 8);
    let mut moved = Vec::with_capacity(fixups.len());
    let mut rest = fixups;
    for (&block, jumps) in order.iter().zip(all) {
        let chunk = chunks[block];
        out.extend(&text[chunk.start..chunk.end]);
        let count = rest.partition_point(|fixup| fixup.at < chunk.end);
        let (mine, others) = rest.split_at(count);
        rest = others;
        let to = |place: usize| place - chunk.start + starts[block];
        moved.extend(mine.iter().map(|fixup| Fixup { at: to(fixup.at), end: to(fixup.end), target: fixup.target }));
        for jump in jumps {
            let end = out.len() + jump.size();
            let distance = starts[jump.target] as i64 - end as i64;
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
