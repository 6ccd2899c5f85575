//! Finds irregular control flow: `goto`s into other statements, and nested `case` labels. On devices that limit the
//! nesting of conditions, statements that nest deeply count as irregular.
//!
//! The smallest statement around such a jump, without jumps into or out of it, becomes a state machine (`flat`). The
//! surrounding statements keep their structure.

use rustc_hash::{FxHashMap, FxHashSet};

use super::scan;
use crate::thir::visit::{gotos, in_expressions, nested};
use crate::thir::{LabelId, Stmt, StmtKind};

/// The irregular control flow of a function.
#[derive(Clone, Debug)]
pub(super) struct Irregular {
    /// Number of `goto`s of each label.
    gotos: FxHashMap<LabelId, usize>,
    /// Labels of `goto`s without an enclosing `Forward` or `Backward`.
    loose: FxHashSet<LabelId>,
    /// Whether some of the `goto`s are in statement expressions.
    in_expressions: bool,
    /// The nesting beyond which a statement becomes a state machine, if a statement of the function exceeds it.
    most_nested: Option<usize>,
}

/// Maximum nesting of a statement that is one block of the state machine of a deeper statement.
const PIECE_NESTING: usize = 8;

impl Irregular {
    /// `None` for a function without irregular control flow. `deep` is set if it may have labels. `limit` is the number
    /// of nested conditions that the device supports.
    pub(super) fn find(body: &[Stmt], deep: bool, limit: Option<u32>) -> Option<Self> {
        let mut bound = FxHashSet::default();
        let mut gotos: FxHashMap<LabelId, usize> = FxHashMap::default();
        if deep {
            let mut stack: Vec<&Stmt> = body.iter().collect();
            while let Some(stmt) = stack.pop() {
                stack.extend(in_expressions(stmt));
                match &stmt.kind {
                    StmtKind::Forward { label, .. } | StmtKind::Backward { label, .. } => {
                        bound.insert(*label);
                    }
                    StmtKind::Goto(label) => *gotos.entry(*label).or_default() += 1,
                    _ => {}
                }
                nested(stmt, &mut stack);
            }
        }
        // Either all `goto`s of a label are in such statements or none.
        let loose: FxHashSet<LabelId> = gotos.keys().copied().filter(|label| !bound.contains(label)).collect();
        let in_expressions = !loose.is_empty() && expression_gotos(body).iter().any(|label| loose.contains(label));
        // Inlining and later passes need the other half.
        let most_nested = limit.map(|limit| limit as usize / 2).filter(|&most| body.iter().any(|stmt| nests_beyond(stmt, most)));
        let found = Self { gotos, loose, in_expressions, most_nested };
        (most_nested.is_some() || body.iter().any(|stmt| found.is_in(stmt))).then_some(found)
    }

    /// Whether an irregular jump starts in a statement.
    pub(super) fn is_in(&self, stmt: &Stmt) -> bool {
        let mut stack = vec![stmt];
        while let Some(stmt) = stack.pop() {
            if self.in_expressions {
                stack.extend(in_expressions(stmt));
            }
            match &stmt.kind {
                StmtKind::Goto(label) if self.loose.contains(label) => return true,
                StmtKind::Switch { body, .. } => {
                    if has_deep_labels(body) {
                        return true;
                    }
                    stack.push(body);
                }
                _ => nested(stmt, &mut stack),
            }
        }
        false
    }

    /// Whether state machines within the statements of the body suffice.
    pub(super) fn is_local(&self, body: &[Stmt]) -> bool {
        body.iter().all(|stmt| self.is_contained(stmt))
    }

    /// Whether a statement must become a state machine.
    pub(super) fn needs_machine(&self, stmt: &Stmt) -> bool {
        // A jump out of a statement expression does not need a state machine.
        let is_irregular = self.is_in(stmt) && !self.is_local_inside(stmt);
        (is_irregular || self.most_nested.is_some_and(|most| nests_beyond(stmt, most))) && self.is_sealed(stmt)
    }

    /// Whether the statements of a statement expression must become a state machine.
    pub(super) fn needs_machine_within(&self, stmts: &[Stmt]) -> bool {
        self.in_expressions && self.has_targets(stmts) && !self.is_local(stmts)
    }

    /// Whether statement expressions jump into these statements: to labels, or to the cases of a switch.
    fn has_targets(&self, stmts: &[Stmt]) -> bool {
        let mut stack: Vec<&Stmt> = stmts.iter().collect();
        while let Some(stmt) = stack.pop() {
            match &stmt.kind {
                StmtKind::Label(label) if self.loose.contains(label) => return true,
                StmtKind::Switch { body, .. } if has_deep_labels(body) => return true,
                _ => nested(stmt, &mut stack),
            }
        }
        false
    }

    fn is_contained(&self, stmt: &Stmt) -> bool {
        !self.is_in(stmt) || self.is_local_inside(stmt) || self.is_sealed(stmt)
    }

    /// Whether all irregular control flow of a statement is within its nested statements.
    fn is_local_inside(&self, stmt: &Stmt) -> bool {
        // Statement expressions handle their own control flow.
        if self.in_expressions && scan::expression_leaves(stmt).labels.iter().any(|label| self.loose.contains(label)) {
            return false;
        }
        match &stmt.kind {
            StmtKind::Goto(label) => !self.loose.contains(label),
            StmtKind::Switch { body, .. } => !has_deep_labels(body) && self.is_local(scan::statements(body)),
            // These bodies are lowered as lists, never as one statement.
            StmtKind::If { then, els, .. } => {
                self.is_local(scan::statements(then)) && els.as_deref().is_none_or(|els| self.is_local(scan::statements(els)))
            }
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } | StmtKind::For { body, .. } => {
                self.is_local(scan::statements(body))
            }
            _ => {
                let mut inside = Vec::new();
                nested(stmt, &mut inside);
                inside.into_iter().all(|stmt| self.is_contained(stmt))
            }
        }
    }

    /// Whether there are no jumps into a statement, and none out of it except `return`.
    fn is_sealed(&self, stmt: &Stmt) -> bool {
        !scan::leaves(stmt, true).any() && !scan::has_labels(stmt) && self.has_all_gotos(stmt)
    }

    /// Whether a statement contains all `goto`s to its labels.
    fn has_all_gotos(&self, stmt: &Stmt) -> bool {
        let mut labels = Vec::new();
        let mut stack = vec![stmt];
        while let Some(stmt) = stack.pop() {
            if let StmtKind::Label(label) = stmt.kind
                && self.gotos.contains_key(&label)
            {
                labels.push(label);
            }
            nested(stmt, &mut stack);
        }
        if labels.is_empty() {
            return true;
        }
        let gotos = gotos(stmt, true);
        labels.iter().all(|label| Some(&gotos.iter().filter(|to| *to == label).count()) == self.gotos.get(label))
    }

    /// Whether a statement can be lowered as one block of a state machine.
    pub(super) fn is_piece(&self, stmt: &Stmt) -> bool {
        self.is_sealed(stmt) && !self.is_in(stmt) && !(self.limits_nesting() && nests_beyond(stmt, PIECE_NESTING))
    }

    /// Whether state machines reduce the nesting.
    pub(super) fn limits_nesting(&self) -> bool {
        self.most_nested.is_some()
    }
}

/// The labels of the `goto`s in statement expressions of some statements.
pub(super) fn expression_gotos(stmts: &[Stmt]) -> Vec<LabelId> {
    let mut found = Vec::new();
    let mut stack: Vec<&Stmt> = stmts.iter().collect();
    while let Some(stmt) = stack.pop() {
        found.extend(in_expressions(stmt).into_iter().flat_map(|inner| gotos(inner, true)));
        nested(stmt, &mut stack);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The labels in some statements or at their ends, without those in statement expressions.
pub(super) fn labels(stmts: &[Stmt]) -> FxHashSet<LabelId> {
    let mut found = FxHashSet::default();
    let mut stack: Vec<&Stmt> = stmts.iter().collect();
    while let Some(stmt) = stack.pop() {
        if let StmtKind::Label(label) | StmtKind::Forward { label, .. } = stmt.kind {
            found.insert(label);
        }
        nested(stmt, &mut stack);
    }
    found
}

/// Whether conditions and loops in a statement nest deeper than this number of levels. A chain of `else if` is one
/// level, since it is lowered as consecutive pieces.
fn nests_beyond(stmt: &Stmt, most: usize) -> bool {
    let mut stack = vec![(stmt, 0)];
    let mut inside = Vec::new();
    while let Some((stmt, level)) = stack.pop() {
        let level = level + usize::from(!matches!(stmt.kind, StmtKind::Block(_) | StmtKind::Forward { .. } | StmtKind::Backward { .. }));
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
        // A statement without nested statements does not count.
        if level > most + 1 {
            return true;
        }
    }
    false
}

/// Whether the body of a switch has labels below its top level.
fn has_deep_labels(body: &Stmt) -> bool {
    scan::statements(body).iter().any(|stmt| !matches!(stmt.kind, StmtKind::Case { .. } | StmtKind::Default) && scan::has_labels(stmt))
}
