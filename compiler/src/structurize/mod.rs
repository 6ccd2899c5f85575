//! Converts control flow graphs to nested pieces with `break` and `continue`.
//!
//! The nodes are blocks of any source: their contents are not known here. The source creates a [`graph::Graph`] from
//! the jumps of its blocks, and `lower::regions` lowers its [`structure::Structure`] to regions of the IR.
//! [`graph`] finds the loops, and makes each cycle a loop with one entry. [`structure`] nests the nodes.

pub(crate) mod graph;
pub(crate) mod structure;

use crate::ir::MAX_NESTING;

/// Loops or conditions nest deeper than the IR can represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("control flow nested more than {MAX_NESTING} levels deep")]
pub(crate) struct TooDeep;
