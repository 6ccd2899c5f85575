//! Dominators of basic blocks.

use super::function::Function;
use super::op::Terminator;

/// The dominator tree of a control flow graph whose blocks are listed after their dominators.
pub(crate) struct Dominators {
    /// The immediate dominator of each block: itself for block 0, `None` for unreachable blocks.
    idom: Vec<Option<u32>>,
}

impl Dominators {
    pub(crate) fn of(function: &Function) -> Self {
        Self::of_graph(function.blocks.len(), |block| {
            function.blocks[block].terminator.iter().flat_map(Terminator::targets).map(|target| target.block.index())
        })
    }

    /// Computes the dominator tree by iteration to a fixed point: one walk in the order of the blocks does not suffice
    /// for every graph. Block 0 is the entry.
    pub(crate) fn of_graph<S: Iterator<Item = usize>>(count: usize, successors: impl Fn(usize) -> S) -> Self {
        let mut this = Self { idom: vec![None; count] };
        if this.idom.is_empty() {
            return this;
        }
        this.idom[0] = Some(0);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (from, block) in (0..).zip(0..count) {
                if this.idom[block].is_none() {
                    continue;
                }
                for to in successors(block) {
                    if to == 0 || to >= this.idom.len() {
                        continue;
                    }
                    let new = this.idom[to].map_or(from, |old| this.common(old, from));
                    changed |= this.idom[to] != Some(new);
                    this.idom[to] = Some(new);
                }
            }
        }
        this
    }

    /// Returns the nearest common dominator of two blocks.
    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            let later = if a > b { &mut a } else { &mut b };
            let idom = self.idom[*later as usize].unwrap_or(0);
            if idom >= *later {
                return 0;
            }
            *later = idom;
        }
        a
    }

    /// Returns the immediate dominator of a block. Returns `None` for block 0 and unreachable blocks.
    pub(crate) fn idom(&self, block: u32) -> Option<u32> {
        self.idom[block as usize].filter(|idom| *idom != block)
    }

    pub(crate) fn is_reachable(&self, block: u32) -> bool {
        self.idom[block as usize].is_some()
    }

    /// Whether block `a` dominates block `b`. A block dominates itself.
    pub(crate) fn dominates(&self, a: u32, mut b: u32) -> bool {
        while b > a {
            match self.idom[b as usize] {
                Some(idom) if idom < b => b = idom,
                _ => return false,
            }
        }
        a == b
    }
}
