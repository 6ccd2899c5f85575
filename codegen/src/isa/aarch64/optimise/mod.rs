//! Passes over machine instructions before register allocation: removal of unused instructions, shared sums, reuse of
//! equal results, pairs of loads and stores, loop-invariant code motion, and tests of predicates.
//!
//! The main purpose is to load vector constants less often. AArch64 has no memory operands, so instruction selection
//! emits an instruction for each use of a constant.

mod dead;
mod flags;
mod hoist;
mod pairs;
mod properties;
mod reuse;
mod sums;

use super::inst::MachInst;
use crate::mach::edit::Edit;
use crate::mach::function::MFunction;

/// Functions with more instructions are not optimised, because liveness takes more than linear time.
const MAX_INSTS: usize = 8_000;
/// The largest product of the numbers of blocks and registers for which liveness is computed.
const MAX_LIVENESS: usize = 1 << 22;

/// Optimises a function.
pub(super) fn optimise(function: MFunction<MachInst>) -> MFunction<MachInst> {
    if function.insts.len() > MAX_INSTS {
        return function;
    }
    let mut edit = Edit::new(function);
    if edit.vregs * edit.blocks.len() > MAX_LIVENESS {
        return edit.finish();
    }
    dead::remove(&mut edit);
    sums::share(&mut edit);
    reuse::reuse(&mut edit);
    pairs::pair(&mut edit);
    hoist::hoist(&mut edit);
    flags::set(&mut edit);
    edit.finish()
}
