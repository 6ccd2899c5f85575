//! Finds the structure in `goto`s (C99 6.8.6.1).
//!
//! A label belongs to the list of statements that it stands in. If every `goto` to it is in that list too, at any depth, those before the label
//! jump forward, to the end of a part of the list, and those behind it jump backward, to the beginning of one:
//! ```text
//! again: A; if (c) goto out; B; goto again; out: C   becomes   forward out { backward again { A; if (c) goto out; B; goto again } } C
//! ```
//! Parts that overlap are made longer until one contains the other. What is left over jumps into a loop or into a nested statement; those `goto`s
//! stay as they are, and lowering runs them as a machine of states.

use rustc_hash::FxHashMap;

use crate::thir::visit::gotos;
use crate::thir::{LabelId, Stmt, StmtKind};

/// More parts in one list are not looked into: comparing them takes the square of their number.
const MAX_PARTS: usize = 100;

/// Structures a function's body; `deep` where `goto`s may be in statement expressions.
pub(super) fn structure(body: &mut Vec<Stmt>, deep: bool) {
    let mut totals = FxHashMap::default();
    for label in body.iter().flat_map(|stmt| gotos(stmt, deep)) {
        *totals.entry(label).or_insert(0_usize) += 1;
    }
    if !totals.is_empty() {
        Structurer { totals, deep }.list(body);
    }
}

struct Structurer {
    /// How many `goto`s each label has.
    totals: FxHashMap<LabelId, usize>,
    deep: bool,
}

/// A part of a list that `goto`s to a label are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    start: usize,
    /// The first statement behind it.
    end: usize,
    label: LabelId,
    forward: bool,
}

/// Where the `goto`s to a label are in its list.
struct Users {
    count: usize,
    first: usize,
    last: usize,
}

impl Structurer {
    fn list(&self, stmts: &mut Vec<Stmt>) {
        stmts.iter_mut().for_each(|stmt| self.inside(stmt));
        let mut parts = self.parts(stmts);
        if parts.is_empty() || parts.len() > MAX_PARTS {
            return;
        }
        let is_case = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Case { .. } | StmtKind::Default);
        let cases: Vec<usize> = stmts.iter().enumerate().filter(|(_, stmt)| is_case(stmt)).map(|(at, _)| at).collect();
        settle(&mut parts, &cases);
        // Outer parts before inner ones. Of two equal ones the loop is inside, so that leaving it is going forward.
        parts.sort_by_key(|part| (part.start, usize::MAX - part.end, !part.forward));
        *stmts = nest(std::mem::take(stmts), &parts);
    }

    fn inside(&self, stmt: &mut Stmt) {
        let mut next = Some(stmt);
        while let Some(stmt) = next.take() {
            match &mut stmt.kind {
                StmtKind::Block(stmts) => self.list(stmts),
                StmtKind::If { then, els, .. } => {
                    self.inside(then);
                    // Chains of `else if` are long.
                    next = els.as_deref_mut();
                }
                StmtKind::While { body, .. }
                | StmtKind::DoWhile { body, .. }
                | StmtKind::For { body, .. }
                | StmtKind::Switch { body, .. } => next = Some(body),
                _ => {}
            }
        }
    }

    /// The parts that the labels of a list need.
    fn parts(&self, stmts: &[Stmt]) -> Vec<Part> {
        let labels: FxHashMap<LabelId, usize> = stmts
            .iter()
            .enumerate()
            .filter_map(|(at, stmt)| match stmt.kind {
                StmtKind::Label(label) if self.totals.contains_key(&label) => Some((label, at)),
                _ => None,
            })
            .collect();
        if labels.is_empty() {
            return Vec::new();
        }
        let mut users: FxHashMap<LabelId, Users> = FxHashMap::default();
        for (at, stmt) in stmts.iter().enumerate() {
            for label in gotos(stmt, self.deep) {
                let user = users.entry(label).or_insert(Users { count: 0, first: at, last: at });
                user.count += 1;
                user.last = at;
            }
        }
        let mut parts = Vec::new();
        for (&label, &at) in &labels {
            let Some(found) = users.get(&label).filter(|found| self.totals.get(&label) == Some(&found.count)) else { continue };
            if found.first < at {
                parts.push(Part { start: found.first, end: at, label, forward: true });
            }
            if found.last > at {
                parts.push(Part { start: at, end: found.last + 1, label, forward: false });
            }
        }
        parts
    }
}

/// Makes overlapping parts contain each other, and drops those that cannot.
fn settle(parts: &mut Vec<Part>, cases: &[usize]) {
    while let Some(dropped) = extend(parts, cases) {
        parts.retain(|part| part.label != dropped);
    }
}

/// Extends parts until none overlap, or gives a label that has to go.
fn extend(parts: &mut [Part], cases: &[usize]) -> Option<LabelId> {
    loop {
        let mut changed = false;
        for first in 0..parts.len() {
            // A switch would jump into it.
            if cases.iter().any(|&at| parts[first].start <= at && at < parts[first].end) {
                return Some(parts[first].label);
            }
            for second in 0..parts.len() {
                let (a, b) = (parts[first], parts[second]);
                let overlap = a.start < b.start && b.start < a.end && a.end < b.end;
                if !overlap {
                    continue;
                }
                match (a.forward, b.forward) {
                    // Into a loop.
                    (true, false) => return Some(a.label),
                    (_, true) => parts[second].start = a.start,
                    (false, false) => parts[first].end = b.end,
                }
                changed = true;
            }
        }
        if !changed {
            return None;
        }
    }
}

/// Puts the statements of the parts into statements of their own. `parts` are in order of their starts, outer ones first.
fn nest(stmts: Vec<Stmt>, parts: &[Part]) -> Vec<Stmt> {
    let mut parts = parts.iter().copied().peekable();
    let mut out: Vec<Stmt> = Vec::new();
    let mut open: Vec<(Part, Vec<Stmt>)> = Vec::new();
    for (at, stmt) in stmts.into_iter().enumerate() {
        while let Some((part, before)) = open.pop_if(|(part, _)| part.end <= at) {
            close(part, before, &mut out);
        }
        while let Some(part) = parts.next_if(|part| part.start <= at) {
            open.push((part, std::mem::take(&mut out)));
        }
        out.push(stmt);
    }
    while let Some((part, before)) = open.pop() {
        close(part, before, &mut out);
    }
    out
}

/// Puts the statements of a part in the place of themselves, behind those before it.
fn close(part: Part, before: Vec<Stmt>, out: &mut Vec<Stmt>) {
    let body = std::mem::replace(out, before);
    let span = body.first().map_or(crate::diag::Span::NONE, |stmt| stmt.span);
    let label = part.label;
    out.push(Stmt { kind: if part.forward { StmtKind::Forward { label, body } } else { StmtKind::Backward { label, body } }, span });
}
