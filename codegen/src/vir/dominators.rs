//! Dominators of basic blocks.

use super::function::Function;
use super::op::Terminator;

/// The dominator tree of a function whose blocks are listed after their dominators.
pub(crate) struct Dominators {
    /// The immediate dominator of each block: itself for block 0, `None` for unreachable blocks.
    above: Vec<Option<u32>>,
}

impl Dominators {
    /// One walk in the order of the blocks does not suffice for every graph. So walks repeat until nothing changes.
    pub(crate) fn of(function: &Function) -> Self {
        let mut this = Self { above: vec![None; function.blocks.len()] };
        if this.above.is_empty() {
            return this;
        }
        this.above[0] = Some(0);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (from, block) in (0..).zip(&function.blocks) {
                if this.above[from as usize].is_none() {
                    continue;
                }
                for target in block.terminator.iter().flat_map(Terminator::targets) {
                    let to = target.block.index();
                    if to == 0 || to >= this.above.len() {
                        continue;
                    }
                    let new = this.above[to].map_or(from, |old| this.common(old, from));
                    changed |= this.above[to] != Some(new);
                    this.above[to] = Some(new);
                }
            }
        }
        this
    }

    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            let higher = if a > b { &mut a } else { &mut b };
            let up = self.above[*higher as usize].unwrap_or(0);
            if up >= *higher {
                return 0;
            }
            *higher = up;
        }
        a
    }

    pub(crate) fn is_reached(&self, block: u32) -> bool {
        self.above[block as usize].is_some()
    }

    /// Whether block `above` dominates block `below`, or is the same block.
    pub(crate) fn dominates(&self, above: u32, mut below: u32) -> bool {
        while below > above {
            match self.above[below as usize] {
                Some(up) if up < below => below = up,
                _ => return false,
            }
        }
        above == below
    }
}
