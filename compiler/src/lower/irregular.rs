//! Finds irregular control flow: `goto`s and nested `case` labels. Some devices limit the nesting of conditions. For
//! these devices, a statement is also irregular if it nests deeper than half of the limit.
//!
//! `blocks` splits the smallest enclosing statement that has no jumps into or out of it. The statements around that
//! statement keep their structure.

use rustc_hash::{FxHashMap, FxHashSet};

use super::scan;
use crate::thir::visit::{gotos, nested};
use crate::thir::{Function, LabelId, Stmt, StmtKind};

/// The irregular control flow of a function.
#[derive(Clone, Debug)]
pub(super) struct Irregular {
    /// Maps each label to the number of its `goto`s.
    gotos: FxHashMap<LabelId, usize>,
    /// Whether statement expressions contain jumps out of them.
    in_expressions: bool,
    /// Maximum nesting of a statement that is not split. `None` if the device has no limit, or if no statement of the
    /// function nests deeper than this maximum.
    most_nested: Option<usize>,
}

/// Maximum nesting of a statement that is one item of a block, if the nesting is limited.
const MAX_ITEM_NESTING: usize = 8;

impl Irregular {
    /// Returns `None` for a function without irregular control flow. `limit` is the number of nested conditions that
    /// the device supports.
    pub(super) fn find(function: &Function, body: &[Stmt], has_deep_labels: bool, limit: Option<u32>) -> Option<Self> {
        let mut counts: FxHashMap<LabelId, usize> = FxHashMap::default();
        if !function.labels.is_empty() {
            body.iter().flat_map(gotos).for_each(|label| *counts.entry(label).or_default() += 1);
        }
        // Half of the limit is left for inlining and later passes, which add nesting.
        let most_nested = limit.map(|limit| limit as usize / 2).filter(|&most| body.iter().any(|stmt| nests_beyond(stmt, most)));
        let any = has_deep_labels || !counts.is_empty() || function.expression_jumps || most_nested.is_some();
        any.then_some(Self { gotos: counts, in_expressions: function.expression_jumps, most_nested })
    }

    /// Whether a statement or its nested statements are irregular. Jumps within one of its statement expressions do not
    /// count.
    fn is_in(&self, stmt: &Stmt) -> bool {
        let mut stack = vec![stmt];
        while let Some(stmt) = stack.pop() {
            if self.is_irregular(stmt) {
                return true;
            }
            nested(stmt, &mut stack);
        }
        false
    }

    /// Whether a statement itself is irregular. Its nested statements do not count.
    fn is_irregular(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Goto(_) => return true,
            StmtKind::Switch { body, .. } if scan::has_deep_labels(body) => return true,
            _ => {}
        }
        self.in_expressions && !scan::expression_leaves(stmt).labels.is_empty()
    }

    /// Whether all irregular control flow is inside of single statements, so that the list itself need not be split.
    pub(super) fn is_local(&self, body: &[Stmt]) -> bool {
        body.iter().all(|stmt| !self.is_in(stmt) || self.is_local_inside(stmt) || self.is_sealed(stmt))
    }

    /// Whether a statement must be split into blocks.
    pub(super) fn needs_blocks(&self, stmt: &Stmt) -> bool {
        let is_irregular = self.is_in(stmt) && !self.is_local_inside(stmt);
        (is_irregular || self.most_nested.is_some_and(|most| nests_beyond(stmt, most))) && self.is_sealed(stmt)
    }

    /// Whether all irregular control flow of a statement is inside of its nested statements.
    fn is_local_inside(&self, mut stmt: &Stmt) -> bool {
        loop {
            if self.is_irregular(stmt) {
                return false;
            }
            // The bodies of these statements are lowered as lists of statements, so [`Self::is_local`] applies to them.
            let body = match &stmt.kind {
                StmtKind::If { then, els: None, .. } => then,
                // A long chain of `else if` is lowered as one statement.
                StmtKind::If { then, els: Some(els), .. } => {
                    if !self.is_local(scan::statements(then)) {
                        return false;
                    }
                    if matches!(els.kind, StmtKind::If { .. }) {
                        stmt = els;
                        continue;
                    }
                    els
                }
                StmtKind::Switch { body, .. }
                | StmtKind::While { body, .. }
                | StmtKind::DoWhile { body, .. }
                | StmtKind::For { body, .. } => body,
                StmtKind::Block(stmts) => return self.is_local(stmts),
                _ => return true,
            };
            return self.is_local(scan::statements(body));
        }
    }

    /// Whether there are no jumps into a statement, and none out of it except `return`.
    fn is_sealed(&self, stmt: &Stmt) -> bool {
        !scan::leaves(stmt, true).any() && !scan::has_labels(stmt) && self.has_all_gotos(stmt)
    }

    /// Whether a statement contains all `goto`s to its labels.
    fn has_all_gotos(&self, stmt: &Stmt) -> bool {
        let mut labels = labels(std::slice::from_ref(stmt));
        labels.retain(|label| self.gotos.contains_key(label));
        if labels.is_empty() {
            return true;
        }
        let gotos = gotos(stmt);
        labels.iter().all(|label| Some(&gotos.iter().filter(|to| *to == label).count()) == self.gotos.get(label))
    }

    /// Whether a statement can be an item of a block.
    pub(super) fn can_be_item(&self, stmt: &Stmt) -> bool {
        self.is_sealed(stmt) && !(self.limits_nesting() && nests_beyond(stmt, MAX_ITEM_NESTING))
    }

    /// Whether statements are split to reduce the nesting.
    pub(super) fn limits_nesting(&self) -> bool {
        self.most_nested.is_some()
    }
}

/// Returns the labels in some statements. Labels in statement expressions do not count.
pub(super) fn labels(stmts: &[Stmt]) -> FxHashSet<LabelId> {
    let mut found = FxHashSet::default();
    let mut stack: Vec<&Stmt> = stmts.iter().collect();
    while let Some(stmt) = stack.pop() {
        if let StmtKind::Label(label) = stmt.kind {
            found.insert(label);
        }
        nested(stmt, &mut stack);
    }
    found
}

/// Whether conditions and loops in a statement nest more than `most` levels. A chain of `else if` is one level, since
/// it is lowered as consecutive statements.
fn nests_beyond(stmt: &Stmt, most: usize) -> bool {
    let mut stack = vec![(stmt, 0)];
    let mut inside = Vec::new();
    while let Some((stmt, level)) = stack.pop() {
        let level = level + usize::from(!matches!(stmt.kind, StmtKind::Block(_)));
        if let StmtKind::If { then, els, .. } = &stmt.kind {
            stack.push((then, level));
            if let Some(els) = els {
                let is_chained = matches!(els.kind, StmtKind::If { .. });
                stack.push((els, if is_chained { level - 1 } else { level }));
            }
        } else {
            nested(stmt, &mut inside);
            stack.extend(inside.drain(..).map(|inner| (inner, level)));
        }
        // The innermost statement is neither a condition nor a loop, so one more level is permitted.
        if level > most + 1 {
            return true;
        }
    }
    false
}
