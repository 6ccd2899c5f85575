//! Which statements have control flow that is not a matter of nesting: `goto`s into other statements, and `case` labels inside of them.
//!
//! The smallest statement around such a jump that nothing else jumps into or out of becomes a machine of states (`flat`); all that is around it
//! keeps its form.

use rustc_hash::{FxHashMap, FxHashSet};

use super::scan;
use crate::thir::visit::{gotos, in_expressions, nested};
use crate::thir::{LabelId, Stmt, StmtKind};

/// What makes the control flow of a function irregular.
#[derive(Clone, Debug)]
pub(super) struct Irregular {
    /// How many `goto`s each label has.
    gotos: FxHashMap<LabelId, usize>,
    /// Labels of `goto`s that are in no `Forward` or `Backward` of theirs.
    loose: FxHashSet<LabelId>,
    /// Whether some of these are in statement expressions.
    in_expressions: bool,
}

impl Irregular {
    /// `None` for a function without irregular control flow. `deep`: it may have labels.
    pub(super) fn find(body: &[Stmt], deep: bool) -> Option<Self> {
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
        // A label has all of its `goto`s in such statements or none.
        let loose: FxHashSet<LabelId> = gotos.keys().copied().filter(|label| !bound.contains(label)).collect();
        let in_expressions = !loose.is_empty() && expression_gotos(body).iter().any(|label| loose.contains(label));
        let found = Self { gotos, loose, in_expressions };
        body.iter().any(|stmt| found.is_in(stmt)).then_some(found)
    }

    /// Whether some irregular jump starts in a statement.
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

    /// Whether machines inside of the body's statements will do, so that it need not be one as a whole.
    pub(super) fn is_local(&self, body: &[Stmt]) -> bool {
        body.iter().all(|stmt| self.is_contained(stmt))
    }

    /// Whether a statement that is lowered now has to become a machine.
    pub(super) fn needs_machine(&self, stmt: &Stmt) -> bool {
        // In a statement expression, what only jumps out of it is no machine.
        self.is_in(stmt) && !self.is_local_inside(stmt) && self.is_sealed(stmt)
    }

    /// Whether the statements of a statement expression have to become a machine of their own.
    pub(super) fn needs_machine_within(&self, stmts: &[Stmt]) -> bool {
        self.in_expressions && self.has_targets(stmts) && !self.is_local(stmts)
    }

    /// Whether something jumps to places within some statements, out of statement expressions: labels, or those of a switch.
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

    /// Whether all irregular control flow in a statement is within the statements inside of it.
    fn is_local_inside(&self, stmt: &Stmt) -> bool {
        // What its statement expressions have within them is a matter of theirs.
        if self.in_expressions && scan::expression_leaves(stmt).labels.iter().any(|label| self.loose.contains(label)) {
            return false;
        }
        match &stmt.kind {
            StmtKind::Goto(label) => !self.loose.contains(label),
            StmtKind::Switch { body, .. } => !has_deep_labels(body) && self.is_local(scan::statements(body)),
            // Their bodies are lowered as lists, never as one statement.
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

    /// Whether nothing jumps into a statement nor, but for `return`, out of it.
    fn is_sealed(&self, stmt: &Stmt) -> bool {
        !scan::leaves(stmt, true).any() && !scan::has_labels(stmt) && self.has_all_gotos(stmt)
    }

    /// Whether all `goto`s to the labels in a statement are in it too.
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

    /// Whether a statement can be lowered as one piece of a machine.
    pub(super) fn is_piece(&self, stmt: &Stmt) -> bool {
        self.is_sealed(stmt) && !self.is_in(stmt)
    }
}

/// The labels of the `goto`s that are in statement expressions of some statements.
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

/// The labels that stand in some statements, or at their ends, those in statement expressions excepted.
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

/// Whether the body of a switch has labels that are not at its top.
fn has_deep_labels(body: &Stmt) -> bool {
    scan::statements(body).iter().any(|stmt| !matches!(stmt.kind, StmtKind::Case { .. } | StmtKind::Default) && scan::has_labels(stmt))
}
