//! Converts control flow graphs to structured regions with `break` and `continue`.
//!
//! The algorithm does not depend on the contents of the blocks. The caller creates a [`graph::Graph`] from the jumps of
//! its blocks. [`graph`] finds the loops, and converts irreducible cycles to loops with one entry. [`structure`] nests
//! the nodes. `lower::regions` lowers the [`structure::Structure`] to regions of the IR.

pub(crate) mod graph;
pub(crate) mod structure;

use crate::ir::MAX_NESTING;

/// Loops or conditions nest deeper than the IR can represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("control flow nested more than {MAX_NESTING} levels deep")]
pub(crate) struct TooDeep;
