//! `switch` statements whose labels are directly in their body, not in nested statements.
//!
//! The body is split at its labels into segments. Segments that are connected by fallthrough form a group. A group
//! becomes a case of the IR's `switch`. In a group, each segment except the last runs if the switch has entered the
//! group at that segment or an earlier one:
//! ```text
//! case 1: A; case 2: B; break;   becomes   case 1, 2: entry = 0 or 1; if (entry <= 0) { A } B
//! ```

use super::function::Lowering;
use super::scan::{self, Leaves};
use super::stmt::Jumps;
use crate::ir::{BinOp, CmpOp, Op, Region, Type, Value, Var};
use crate::thir::{Expr, Stmt, StmtKind};

/// Maximum size of a range whose values become labels of the IR's `switch`. If a range is larger, comparisons select
/// the segment.
const MAX_LISTED_RANGE: u64 = 256;

/// Maximum total number of labels of an IR `switch`.
const MAX_LISTED_VALUES: u64 = 1 << 16;

/// Maximum number of groups in one IR `switch`. With more groups, a binary search selects the group. Drivers that test
/// the labels in sequence would take minutes to compile thousands of groups.
const MAX_GROUPS: usize = 64;

/// Maximum number of ranges that are compared in sequence.
const MAX_COMPARED_RANGES: usize = 4;

/// The statements between two labels of the switch, and the labels before them.
pub(super) struct Segment<'p> {
    labels: Vec<(u64, u64)>,
    is_default: bool,
    stmts: &'p [Stmt],
}

fn segments(body: &Stmt) -> Vec<Segment<'_>> {
    let mut result: Vec<Segment<'_>> = Vec::new();
    let mut rest = scan::statements(body);
    let is_label = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Case { .. } | StmtKind::Default);
    // The code before the first label is unreachable.
    let first = rest.iter().position(is_label).unwrap_or(rest.len());
    rest = &rest[first..];
    while !rest.is_empty() {
        let mut segment = Segment { labels: Vec::new(), is_default: false, stmts: &[] };
        let count = rest.iter().position(|stmt| !is_label(stmt)).unwrap_or(rest.len());
        let (labels, after) = rest.split_at(count);
        for label in labels {
            match label.kind {
                StmtKind::Case { lo, hi } => segment.labels.push((lo, hi)),
                _ => segment.is_default = true,
            }
        }
        let count = after.iter().position(is_label).unwrap_or(after.len());
        (segment.stmts, rest) = after.split_at(count);
        result.push(segment);
    }
    result
}

/// A range of values and the number of the segment that it selects.
struct Numbered {
    lo: u64,
    hi: u64,
    number: usize,
}

/// The number of a segment, and its labels.
type Selected<'a> = (usize, &'a [(u64, u64)]);

impl<'p> Lowering<'p, '_> {
    pub(super) fn switch(&mut self, cond: &'p Expr, body: &'p Stmt, jumps: Jumps<'p>) {
        let selector = self.expr(cond);
        let segments = segments(body);
        let mut groups: Vec<Vec<(usize, &Segment<'p>)>> = Vec::new();
        let mut falls = false;
        for (number, segment) in segments.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if falls => group.push((number, segment)),
                _ => groups.push(vec![(number, segment)]),
            }
            falls = segment.stmts.iter().all(scan::may_complete);
        }
        let many = groups.len() > MAX_GROUPS;
        let (selector, values) = if many { self.numbered(selector, &segments) } else { self.selection(selector, &segments) };
        let nested = segments.iter().any(|segment| super::stmt::nested_jumps(segment.stmts, self.function.expression_jumps).by_break);
        let jumps = Jumps { on_break: self.end_target(nested), ..jumps };
        if many {
            let zero = self.b.int(Type::I32, 0);
            let any = self.b.cmp(CmpOp::SGe, selector, zero);
            self.branch(any, |this| this.search_groups(selector, &values, &groups, jumps), |_| ());
            return;
        }
        let mut cases = Vec::new();
        let mut default = None;
        for group in &groups {
            self.b.open();
            self.group(selector, &values, group, jumps);
            let region = self.b.close_branch();
            if group.iter().any(|(_, segment)| segment.is_default) {
                default = Some(region);
            } else {
                let all = group.iter().filter_map(|(number, _)| values.get(*number)).flatten().copied().collect();
                cases.push((all, region));
            }
        }
        self.emit_switch(selector, cases, default);
    }

    fn emit_switch(&mut self, selector: Value, mut cases: Vec<(Vec<u64>, Region)>, default: Option<Region>) {
        cases.retain(|(values, _)| !values.is_empty());
        let default = default.unwrap_or_else(|| {
            self.b.open();
            self.b.close_branch()
        });
        let dead = super::builder::ends_with_jump(&default) && cases.iter().all(|(_, region)| super::builder::ends_with_jump(region));
        self.b.effect(Op::Switch { selector, cases, default });
        if dead {
            self.b.effect(Op::Unreachable);
        }
    }

    /// Returns an `i32` selector, and its values for each segment. The values are the case labels, or segment numbers
    /// if the labels are too wide or too many.
    fn selection(&mut self, selector: Value, segments: &[Segment<'p>]) -> (Value, Vec<Vec<u64>>) {
        let selected: Vec<Selected<'_>> = segments.iter().map(|segment| segment.labels.as_slice()).enumerate().collect();
        self.select_number(selector, &selected)
    }

    /// Returns the number of the segment that runs first (-1 for none), and for each segment a list with only its
    /// number.
    fn numbered(&mut self, selector: Value, segments: &[Segment<'p>]) -> (Value, Vec<Vec<u64>>) {
        let selected: Vec<Selected<'_>> = segments.iter().map(|segment| segment.labels.as_slice()).enumerate().collect();
        let default = segments.iter().position(|segment| segment.is_default).map_or(u64::MAX, |number| number as u64);
        let number = self.find_number(selector, &selected, default);
        (number, (0..segments.len() as u64).map(|number| vec![number]).collect())
    }

    /// Emits a binary search for the group that contains segment `number`, and the code of each group.
    fn search_groups(&mut self, number: Value, values: &[Vec<u64>], groups: &[Vec<(usize, &Segment<'p>)>], jumps: Jumps<'p>) {
        match groups {
            [] => {}
            [only] => self.group(number, values, only, jumps),
            _ => {
                let (low, high) = groups.split_at(groups.len() / 2);
                let first = high.first().and_then(|group| group.first()).map_or(0, |(number, _)| *number);
                let first = self.b.int(Type::I32, first as i64);
                let below = self.b.cmp(CmpOp::SLt, number, first);
                self.branch(
                    below,
                    |this| this.search_groups(number, values, low, jumps),
                    |this| this.search_groups(number, values, high, jumps),
                );
            }
        }
    }

    /// Returns a selector, and the values of the selector for each element of `selected`. These are the original
    /// selector and the labels, or the number of the selected segment and the segment numbers.
    pub(super) fn select_number(&mut self, selector: Value, selected: &[Selected<'_>]) -> (Value, Vec<Vec<u64>>) {
        let spans = || selected.iter().flat_map(|(_, labels)| labels.iter().map(|(lo, hi)| hi.wrapping_sub(*lo)));
        let count = spans().fold(0_u64, |sum, span| sum.saturating_add(span).saturating_add(1));
        let ordered = selected.iter().flat_map(|(_, labels)| labels.iter()).all(|(lo, hi)| lo <= hi);
        if self.b.ty(selector) == Type::I32 && count <= MAX_LISTED_VALUES && spans().all(|span| span < MAX_LISTED_RANGE) && ordered {
            let values = selected.iter().map(|(_, labels)| labels.iter().flat_map(|&(lo, hi)| lo..=hi).collect()).collect();
            return (selector, values);
        }
        let number = self.find_number(selector, selected, u64::MAX);
        let values = selected.iter().map(|(of, labels)| if labels.is_empty() { Vec::new() } else { vec![*of as u64] }).collect();
        (number, values)
    }

    /// Returns the number of the element whose labels include the selector, or `none` if there is no such element.
    fn find_number(&mut self, selector: Value, selected: &[Selected<'_>], none: u64) -> Value {
        let ty = self.b.ty(selector);
        let mask = ty.scalar().map_or(u64::MAX, crate::ir::Scalar::mask);
        let mut ranges: Vec<Numbered> = Vec::new();
        for &(number, labels) in selected {
            for &(lo, hi) in labels {
                // Bits are compared as unsigned numbers: a range from a negative to a positive number wraps around.
                if lo <= hi {
                    ranges.push(Numbered { lo, hi, number });
                } else {
                    ranges.push(Numbered { lo, hi: mask, number });
                    ranges.push(Numbered { lo: 0, hi, number });
                }
            }
        }
        ranges.sort_by_key(|range| range.lo);
        let var = self.b.temporary(4, 4);
        let address = self.b.var_addr(var);
        let number = self.b.bits(Type::I32, none);
        self.b.store(address, number, 4, false);
        self.search(selector, &ranges, var);
        let address = self.b.var_addr(var);
        self.b.load(address, Type::I32, 4, false)
    }

    /// Emits a binary search that stores the number of the range that contains the selector.
    fn search(&mut self, selector: Value, ranges: &[Numbered], var: Var) {
        let ty = self.b.ty(selector);
        if ranges.len() > MAX_COMPARED_RANGES {
            let (low, high) = ranges.split_at(ranges.len() / 2);
            let first = self.b.bits(ty, high.first().map_or(0, |range| range.lo));
            let below = self.b.cmp(CmpOp::ULt, selector, first);
            self.branch(below, |this| this.search(selector, low, var), |this| this.search(selector, high, var));
            return;
        }
        let address = self.b.var_addr(var);
        let mut number = self.b.load(address, Type::I32, 4, false);
        for range in ranges {
            let index = self.b.int(Type::I32, range.number as i64);
            let low = self.b.bits(ty, range.lo);
            let inside = if range.lo == range.hi {
                self.b.cmp(CmpOp::Eq, selector, low)
            } else {
                let distance = self.b.bin(BinOp::Sub, selector, low);
                let span = self.b.bits(ty, range.hi - range.lo);
                self.b.cmp(CmpOp::ULe, distance, span)
            };
            number = self.b.select(inside, index, number);
        }
        self.b.store(address, number, 4, false);
    }

    /// Lowers the body of a case: one segment, or several that are connected by fallthrough.
    fn group(&mut self, selector: Value, values: &[Vec<u64>], group: &[(usize, &Segment<'p>)], jumps: Jumps<'p>) {
        let [before @ .., (_, last)] = group else { return };
        if before.is_empty() {
            self.block(last.stmts, jumps);
            return;
        }
        let entry = self.entry_position(selector, values, group);
        let mut left = Leaves::default();
        for (i, (_, segment)) in before.iter().enumerate() {
            if segment.stmts.is_empty() {
                continue;
            }
            let address = self.b.var_addr(entry);
            let entered = self.b.load(address, Type::I32, 4, false);
            let entered = self.b.cmp_int(CmpOp::SLe, entered, i as i64);
            let runs = match self.no_jump(&left, jumps) {
                Some(falls_through) => self.b.and(entered, falls_through),
                None => entered,
            };
            self.b.open();
            self.block(segment.stmts, jumps.before_more());
            let then = self.b.close_branch();
            self.b.if_then(runs, then);
            for stmt in segment.stmts {
                left.add(super::stmt::only_ends(scan::leaves(stmt, self.function.expression_jumps), jumps));
            }
        }
        match self.no_jump(&left, jumps) {
            None => self.block(last.stmts, jumps),
            Some(falls_through) => {
                self.b.open();
                self.block(last.stmts, jumps);
                let then = self.b.close_branch();
                self.b.if_then(falls_through, then);
            }
        }
    }

    /// Creates a variable with the position in the group at which the switch enters the group.
    fn entry_position(&mut self, selector: Value, values: &[Vec<u64>], group: &[(usize, &Segment<'p>)]) -> Var {
        let var = self.b.function.new_var("", 4, 4);
        let address = self.b.var_addr(var);
        let mut cases = Vec::new();
        let mut default = 0;
        for (i, (number, segment)) in group.iter().enumerate() {
            if segment.is_default {
                default = i;
                continue;
            }
            self.b.open();
            let position = self.b.int(Type::I32, i as i64);
            self.b.store(address, position, 4, false);
            let region = self.b.close_branch();
            cases.push((values.get(*number).cloned().unwrap_or_default(), region));
        }
        self.b.open();
        let position = self.b.int(Type::I32, default as i64);
        self.b.store(address, position, 4, false);
        let default = self.b.close_branch();
        self.emit_switch(selector, cases, Some(default));
        var
    }
}
