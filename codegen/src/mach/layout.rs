//! Block layout: the order of blocks, and their branches.
//!
//! A branch to a block that only jumps goes to the target of that jump instead (jump threading). No block ends with a
//! jump to the block that follows it. Each branch has the shortest form that can encode its distance. The instruction
//! set defines the forms ([`BranchEncoding`]).

use smallvec::SmallVec;

use super::code::LineEntry;
use super::link::{Relocation, Text};

/// The end of a block. Blocks are indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockEnd<C> {
    /// Returns from the function, or traps.
    None,
    /// Continues at a block.
    Jump(usize),
    /// Continues at the first block if the condition holds, otherwise at the second.
    Branch(C, usize, usize),
}

/// The bytes of a block without its branches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockCode<C> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) branch: BlockEnd<C>,
    /// Whether the block follows all blocks that are not cold.
    pub(crate) cold: bool,
}

/// The branch encodings of an instruction set.
pub(crate) trait BranchEncoding: Sized {
    /// A condition of branches.
    type Cond: Copy;
    /// The alignment of targets of backward branches in bytes: the size of an instruction fetch.
    const LOOP_ALIGN: usize;

    /// Whether the header of a loop moves after the latch, so that an iteration executes one branch.
    const ROTATES_LOOPS: bool;

    /// Returns an unconditional branch.
    fn jump(target: usize) -> Self;
    /// Returns the branches to two different blocks. `next` is the block that follows, and may be one of them.
    fn conditional(cond: Self::Cond, then: usize, els: usize, next: Option<usize>) -> Branches<Self>;
    /// Returns the target block.
    fn target(&self) -> usize;
    /// Returns the size of the current form in bytes.
    fn size(&self) -> usize;
    /// Changes to a longer form if the current form cannot encode `distance`, which is relative to the end of the
    /// branch. Returns true if the form changed. A branch never becomes shorter again.
    fn relax(&mut self, distance: i64) -> bool;
    /// Appends the branch. `distance` is relative to the end of the branch.
    fn encode(&self, distance: i64, out: &mut Vec<u8>);
    /// Appends no-op instructions until `out` has `length` bytes.
    fn pad(out: &mut Vec<u8>, length: usize);
}

/// The branches at the end of a block.
pub(crate) type Branches<B> = SmallVec<[B; 3]>;

/// Returns the block that a branch to `block` reaches after blocks that only jump.
fn thread<C: Copy>(blocks: &[BlockCode<C>], mut block: usize) -> usize {
    // The limit ends cycles of blocks that only jump.
    for _ in 0..blocks.len() {
        match blocks[block] {
            BlockCode { start, end, branch: BlockEnd::Jump(to), .. } if start == end => block = to,
            BlockCode { branch: BlockEnd::None | BlockEnd::Jump(_) | BlockEnd::Branch(..), .. } => break,
        }
    }
    block
}

/// Returns the branches at the end of a block. `next` is the block that follows.
fn branches<B: BranchEncoding>(blocks: &[BlockCode<B::Cond>], block: usize, next: Option<usize>) -> Branches<B> {
    let to = |target: usize| if Some(target) == next { Branches::new() } else { Branches::from_iter([B::jump(target)]) };
    match blocks[block].branch {
        BlockEnd::None => Branches::new(),
        BlockEnd::Jump(target) => to(thread(blocks, target)),
        BlockEnd::Branch(cond, then, els) => {
            let (then, els) = (thread(blocks, then), thread(blocks, els));
            if then == els { to(then) } else { B::conditional(cond, then, els, next) }
        }
    }
}

/// Moves the header of a loop after its latch. The latch must jump to the header, and the header must branch to the
/// exit of the loop. Other loops do not change.
fn rotate_loops<C: Copy>(blocks: &[BlockCode<C>], order: &mut [usize]) {
    let latches = order.to_vec();
    for latch in latches {
        let BlockEnd::Jump(header) = blocks[latch].branch else { continue };
        let header = thread(blocks, header);
        let places = [header, latch].map(|block| order.iter().position(|other| *other == block));
        let (BlockEnd::Branch(_, then, els), [Some(start), Some(end)]) = (blocks[header].branch, places) else { continue };
        if header == 0 || start >= end {
            continue;
        }
        let inside = [then, els].map(|target| order[start..=end].contains(&thread(blocks, target)));
        if inside[0] != inside[1] {
            order[start..=end].rotate_left(1);
        }
    }
}

/// A layout in progress.
struct Layout<'a, B: BranchEncoding> {
    blocks: &'a [BlockCode<B::Cond>],
    /// The blocks that are not skipped, in the order of the code.
    order: Vec<usize>,
    /// The branches of each block in `order`.
    branches: Vec<Branches<B>>,
    /// The offset of each block.
    starts: Vec<usize>,
    /// Whether a block is the target of a backward branch in a block that is not cold.
    loops: Vec<bool>,
}

/// Lays out the blocks of a function, whose instructions are in `text`.
pub(crate) fn lay_out<B: BranchEncoding>(text: &Text, blocks: &[BlockCode<B::Cond>]) -> Text {
    let mut order: Vec<usize> = (0..blocks.len()).filter(|block| *block == 0 || thread(blocks, *block) == *block).collect();
    if B::ROTATES_LOOPS {
        rotate_loops(blocks, &mut order);
    }
    order.sort_by_key(|block| blocks[*block].cold);
    let branches: Vec<Branches<B>> =
        order.iter().enumerate().map(|(place, block)| branches(blocks, *block, order.get(place + 1).copied())).collect();
    let mut loops = vec![false; blocks.len()];
    let mut places = vec![0; blocks.len()];
    order.iter().enumerate().for_each(|(place, block)| places[*block] = place);
    for (place, branches) in branches.iter().enumerate().filter(|(place, _)| !blocks[order[*place]].cold) {
        branches.iter().filter(|branch| places[branch.target()] <= place).for_each(|branch| loops[branch.target()] = true);
    }
    let mut layout = Layout::<B> { blocks, order, branches, starts: vec![0; blocks.len()], loops };
    // Branches never shrink, so the loop terminates.
    while layout.grow() {}
    layout.write(text)
}

impl<B: BranchEncoding> Layout<'_, B> {
    /// Computes the offsets of blocks. Returns true if a branch grew, which changes the offsets.
    fn grow(&mut self) -> bool {
        let size = |block: usize| self.blocks[block].end - self.blocks[block].start;
        let mut at = 0usize;
        for (&block, branches) in self.order.iter().zip(&self.branches) {
            if self.loops[block] {
                at = at.next_multiple_of(B::LOOP_ALIGN);
            }
            self.starts[block] = at;
            at += size(block) + branches.iter().map(B::size).sum::<usize>();
        }
        let mut grown = false;
        for (&block, branches) in self.order.iter().zip(&mut self.branches) {
            let mut at = self.starts[block] + size(block);
            for branch in branches {
                at += branch.size();
                let distance = self.starts[branch.target()] as i64 - at as i64;
                grown |= branch.relax(distance);
            }
        }
        grown
    }

    fn write(&self, text: &Text) -> Text {
        let Text { bytes, relocations, lines } = text;
        let mut out = Vec::with_capacity(bytes.len() + self.blocks.len() * 8);
        let mut moved = Vec::with_capacity(relocations.len());
        let mut moved_lines = Vec::with_capacity(lines.len());
        for (&block, branches) in self.order.iter().zip(&self.branches) {
            let (code, start) = (self.blocks[block], self.starts[block]);
            B::pad(&mut out, start);
            out.extend(&bytes[code.start..code.end]);
            let [first, last] = [code.start, code.end].map(|limit| relocations.partition_point(|relocation| relocation.at < limit));
            let own = &relocations[first..last];
            let to = |place: usize| place - code.start + start;
            // A block with instructions has a line entry at its start, because the emitter adds one.
            let [first, last] = [code.start, code.end].map(|limit| lines.partition_point(|line| (line.offset as usize) < limit));
            moved_lines.extend(lines[first..last].iter().map(|line| LineEntry { offset: to(line.offset as usize) as u32, ..*line }));
            moved.extend(own.iter().map(|relocation| Relocation { at: to(relocation.at), end: to(relocation.end), ..*relocation }));
            for branch in branches {
                let end = out.len() + branch.size();
                branch.encode(self.starts[branch.target()] as i64 - end as i64, &mut out);
            }
        }
        Text { bytes: out, relocations: moved, lines: moved_lines }
    }
}
