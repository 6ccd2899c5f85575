//! Structures `goto`s where possible (C99 6.8.6.1).
//!
//! A label belongs to a list of statements. A label is structured if every `goto` to it is in that list too, at any
//! depth. Then a `goto` before the label jumps forward, to the end of a range of the list. A `goto` after it jumps
//! backward, to the start of a range:
//! ```text
//! again: A; if (c) goto out; B; goto again; out: C
//! // becomes
//! forward out { backward again { A; if (c) goto out; B; goto again } } C
//! ```
//! Overlapping ranges are extended until one contains the other. The remaining `goto`s jump into a loop or a nested
//! statement. They stay unchanged, and lowering implements them with a state machine.

use rustc_hash::FxHashMap;

use crate::thir::visit::gotos;
use crate::thir::{LabelId, Stmt, StmtKind};

/// Maximum number of ranges in one list. Comparing them takes quadratic time.
const MAX_PARTS: usize = 100;

/// Structures the body of a function. If `deep`, statement expressions may contain `goto`s.
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
    /// Number of `goto`s of each label.
    totals: FxHashMap<LabelId, usize>,
    deep: bool,
}

/// The range of a list that contains the `goto`s of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    start: usize,
    /// The first statement after the range.
    end: usize,
    label: LabelId,
    forward: bool,
}

/// The positions of the `goto`s of a label in its list.
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
        // Sorts outer ranges before inner ones. If two ranges are equal, the loop is inner, so that leaving it is
        // a forward jump.
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
                    // A loop, since chains of `else if` are long.
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

    /// The ranges of the labels of a list.
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

/// Extends overlapping ranges so that one contains the other, and drops those that cannot be.
fn settle(parts: &mut Vec<Part>, cases: &[usize]) {
    while let Some(dropped) = extend(parts, cases) {
        parts.retain(|part| part.label != dropped);
    }
}

/// Extends ranges until none overlap. Returns a label that has to be dropped.
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
                    // A jump into a loop.
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

/// Wraps the statements of the ranges. `parts` is sorted by start, outer ranges first.
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

/// Replaces the statements of a range by one statement.
fn close(part: Part, before: Vec<Stmt>, out: &mut Vec<Stmt>) {
    let body = std::mem::replace(out, before);
    let span = body.first().map_or(crate::diag::Span::NONE, |stmt| stmt.span);
    let label = part.label;
    out.push(Stmt { kind: if part.forward { StmtKind::Forward { label, body } } else { StmtKind::Backward { label, body } }, span });
}
