//! Which blocks every way to a block leads through.

use super::function::Function;
use super::op::Terminator;

/// The blocks that dominate the blocks of a function whose dominating blocks stand first.
pub(crate) struct Dominators {
    /// The block that dominates each block at once; of block 0 itself, of blocks that are never reached none.
    above: Vec<Option<u32>>,
}

impl Dominators {
    /// One walk in the order of the blocks is not enough for any graph, so walks are repeated until nothing changes.
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

    /// Whether a block is ever reached.
    pub(crate) fn is_reached(&self, block: u32) -> bool {
        self.above[block as usize].is_some()
    }

    /// Whether every way to a block leads through another one, or it is that.
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
