//! Scalar replacement of aggregates: promotes private variables to SSA values, in structured control flow.
//!
//! ```text
//! store %0, $x                           if %c {
//! if %c {                          =>      yield %1
//!   store %1, $x                         } else {
//!   yield                                  yield %0
//! } else {                               } -> %3
//!   yield                                ... uses of %3 for %2
//! }
//! %2 = load $x
//! ```
//! A variable is divided into [slices], which are ranges of bytes. Each slice becomes an SSA value. A variable stays in
//! memory if its address has a use other than loads, stores and constant offsets.
//!
//! The construction visits each instruction once. An `if`, `switch` or `loop` gets results for the slices that are
//! stored in it and accessed outside of it. A loop also gets parameters for these slices, and for stored slices of
//! which no store in the body dominates all accesses. `simplify` removes redundant results and parameters. A load
//! before any store gives `undef`.

mod access;
pub(super) mod slices;

use super::pass::Pass;
use crate::analysis::addresses::Addresses;
use crate::diag::Span;
use crate::ir::{CastOp, Const, Cursor, Function, Inst, Op, Region, Type, Value, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use slices::{Access, Slices};

pub(crate) const PASS: Pass = Pass::function("sroa", |function, cx| Ok(run(function, cx.pointer_size())));

/// Promotes all private variables that can be promoted. `ptr_size` is the size of a pointer in bytes. Returns whether
/// any variable was promoted.
pub(crate) fn run(function: &mut Function, ptr_size: u32) -> bool {
    if function.vars.is_empty() {
        return false;
    }
    let addresses = Addresses::of(function, &function.body);
    let slices = Slices::new(accesses(function, &addresses, ptr_size));
    if slices.list.is_empty() {
        return false;
    }
    let mut scan = Scan::new(function, &addresses, &slices, ptr_size);
    scan.region(&function.body);
    let Scan { nested, total, store_region_count, .. } = scan;
    let mut body = std::mem::take(&mut function.body);
    let mut pass = Promote {
        current: vec![None; slices.list.len()],
        replaced: FxHashMap::default(),
        undefined: FxHashMap::default(),
        undefined_insts: Vec::new(),
        loops: Vec::new(),
        next_nested: 0,
        addresses,
        slices,
        nested,
        total,
        store_region_count,
        function,
        ptr_size,
    };
    pass.region(&mut body);
    let mut insts = pass.undefined_insts;
    insts.append(&mut body.insts);
    function.body = Region { insts };
    true
}

/// Returns the accesses to each variable. Returns `None` for a variable that cannot be promoted, because its address
/// has another use or an access is not within the variable.
fn accesses(function: &Function, addresses: &Addresses, ptr_size: u32) -> Vec<Option<Vec<Access>>> {
    let mut list: Vec<Option<Vec<Access>>> = vec![Some(Vec::new()); function.vars.len()];
    function.body.walk(&mut |inst| {
        let access = match &inst.op {
            Op::VarAddr(_) => return,
            Op::Cast(CastOp::SpaceCast, ptr) => {
                if addresses.fixed(*ptr).is_some() {
                    return;
                }
                None
            }
            Op::PtrAdd(ptr, _) => {
                let dynamic =
                    inst.results.first().and_then(|&result| addresses.variable(result)).is_some_and(|(_, offset)| offset.is_none());
                if addresses.variable(*ptr).is_some() && !dynamic {
                    return;
                }
                None
            }
            Op::Load { ptr, .. } => inst.results.first().map(|&result| (*ptr, function.ty(result))),
            Op::Store { ptr, value, .. } => {
                if let Some((var, _)) = addresses.variable(*value) {
                    list[var.index()] = None;
                }
                Some((*ptr, function.ty(*value)))
            }
            _ => None,
        };
        let Some((ptr, ty)) = access else {
            inst.op.for_each_operand(|value| {
                if let Some((var, _)) = addresses.variable(value) {
                    list[var.index()] = None;
                }
            });
            return;
        };
        let Some((var, offset)) = addresses.variable(ptr) else { return };
        let entry = &mut list[var.index()];
        let size = ty.access_size(ptr_size);
        let offset = offset.and_then(|offset| u32::try_from(offset).ok());
        let inside = offset.filter(|offset| size > 0 && offset.checked_add(size).is_some_and(|end| end <= function.vars[var.index()].size));
        match (inside, entry.as_mut()) {
            (Some(offset), Some(accesses)) => accesses.push(Access { offset, size, ty }),
            _ => *entry = None,
        }
    });
    list
}

/// The accesses to a slice in one region, or in one instruction with regions.
#[derive(Clone, Copy, Debug)]
struct Use {
    slice: usize,
    /// The number of accesses, including accesses in nested regions.
    count: u32,
    /// Whether one of the accesses is a store.
    assigned: bool,
}

/// Computes the uses of slices in each instruction with regions. These instructions are numbered in program order.
struct Scan<'a> {
    function: &'a Function,
    addresses: &'a Addresses,
    slices: &'a Slices,
    ptr_size: u32,
    nested: Vec<Vec<Use>>,
    /// The number of accesses to each slice.
    total: Vec<u32>,
    /// For each slice, the region of its first access, if the first access is a store to the whole slice.
    store_region: Vec<Option<u32>>,
    /// For each slice, the number of accesses in this region. If this number equals `total`, the first store dominates
    /// all accesses.
    store_region_count: Vec<u32>,
    regions: u32,
}

impl<'a> Scan<'a> {
    fn new(function: &'a Function, addresses: &'a Addresses, slices: &'a Slices, ptr_size: u32) -> Self {
        let count = slices.list.len();
        let (total, store_region, store_region_count) = (vec![0; count], vec![None; count], vec![0; count]);
        Self { function, addresses, slices, ptr_size, nested: Vec::new(), total, store_region, store_region_count, regions: 0 }
    }

    /// Returns the uses in the region, without duplicates, in order of slices.
    fn region(&mut self, region: &Region) -> Vec<Use> {
        let number = self.regions;
        self.regions += 1;
        let mut uses = Vec::new();
        for inst in &region.insts {
            match &inst.op {
                Op::Load { ptr, .. } => {
                    if let Some(&result) = inst.results.first() {
                        self.access(*ptr, self.function.ty(result), false, number, &mut uses);
                    }
                }
                Op::Store { ptr, value, .. } => self.access(*ptr, self.function.ty(*value), true, number, &mut uses),
                op => {
                    let regions = op.regions();
                    if regions.is_empty() {
                        continue;
                    }
                    let index = self.nested.len();
                    self.nested.push(Vec::new());
                    let mut inner = Vec::new();
                    for region in regions {
                        inner.extend(self.region(region));
                    }
                    merge(&mut inner);
                    uses.extend_from_slice(&inner);
                    self.nested[index] = inner;
                }
            }
        }
        merge(&mut uses);
        for single in &uses {
            if self.store_region[single.slice] == Some(number) {
                self.store_region_count[single.slice] = single.count;
            }
        }
        uses
    }

    fn access(&mut self, ptr: Value, ty: Type, assigned: bool, region: u32, uses: &mut Vec<Use>) {
        let Some((var, offset)) = self.addresses.fixed(ptr) else { return };
        let Ok(offset) = u32::try_from(offset) else { return };
        let size = ty.access_size(self.ptr_size);
        for slice in self.slices.overlapping(var, offset, size) {
            let covered =
                self.slices.list[slice].offset >= offset && self.slices.list[slice].offset + self.slices.list[slice].size <= offset + size;
            if self.total[slice] == 0 && assigned && covered {
                self.store_region[slice] = Some(region);
            }
            self.total[slice] += 1;
            uses.push(Use { slice, count: 1, assigned });
        }
    }
}

/// Sorts uses and combines the uses of the same slice.
fn merge(uses: &mut Vec<Use>) {
    uses.sort_by_key(|single| single.slice);
    uses.dedup_by(|later, earlier| {
        let same = later.slice == earlier.slice;
        if same {
            earlier.count += later.count;
            earlier.assigned |= later.assigned;
        }
        same
    });
}

/// An enclosing loop: the slices that are operands of its `continue`s and `break`s.
struct Frame {
    params: Vec<usize>,
    /// The same slices, for look-ups.
    carried: FxHashSet<usize>,
    results: Vec<usize>,
}

struct Promote<'a> {
    function: &'a mut Function,
    addresses: Addresses,
    slices: Slices,
    nested: Vec<Vec<Use>>,
    total: Vec<u32>,
    store_region_count: Vec<u32>,
    ptr_size: u32,
    /// The current value of each slice.
    current: Vec<Option<Value>>,
    /// Replacements for the results of removed loads.
    replaced: FxHashMap<Value, Value>,
    undefined: FxHashMap<Type, Value>,
    undefined_insts: Vec<Inst>,
    loops: Vec<Frame>,
    next_nested: usize,
}

/// Returns the current value of a slice, or an undefined constant if there is none.
fn value_of(
    function: &mut Function,
    current: &mut [Option<Value>],
    undefined: &mut FxHashMap<Type, Value>,
    undefined_insts: &mut Vec<Inst>,
    (slice, ty): (usize, Type),
) -> Value {
    if let Some(value) = current[slice] {
        return value;
    }
    *undefined.entry(ty).or_insert_with(|| function.emit(undefined_insts, Span::NONE, ty, Op::Const(Const::Undef)))
}

impl Promote<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            inst.op.replace_operands(&self.replaced);
            match &mut inst.op {
                Op::VarAddr(var) if self.slices.is_promoted(*var) => {}
                Op::PtrAdd(ptr, _) | Op::Cast(CastOp::SpaceCast, ptr) if self.promoted_target(*ptr).is_some() => {}
                Op::Load { ptr, .. } => match (self.promoted_target(*ptr), inst.results.first()) {
                    (Some((var, offset)), Some(&result)) => {
                        let new = self.load(&mut out, inst.span, var, offset, self.function.ty(result));
                        self.replaced.insert(result, new);
                    }
                    _ => out.push(inst),
                },
                Op::Store { ptr, value, .. } => match self.promoted_target(*ptr) {
                    Some((var, offset)) => self.store(&mut out, inst.span, var, offset, *value),
                    None => out.push(inst),
                },
                Op::If { .. } | Op::Switch { .. } => {
                    self.visit_branches(&mut inst);
                    out.push(inst);
                }
                Op::Loop { .. } => {
                    self.visit_loop(&mut inst);
                    out.push(inst);
                }
                Op::Break(values) => {
                    if let Some(frame) = self.loops.last() {
                        let slices = frame.results.clone();
                        values.extend(self.values(&slices));
                    }
                    out.push(inst);
                }
                Op::Continue(values) => {
                    if let Some(frame) = self.loops.last() {
                        let slices = frame.params.clone();
                        values.extend(self.values(&slices));
                    }
                    out.push(inst);
                }
                _ => out.push(inst),
            }
        }
        region.insts = out;
    }

    /// Returns the variable and the byte offset of a pointer into a promoted variable, or `None` for other pointers.
    fn promoted_target(&self, ptr: Value) -> Option<(Var, u32)> {
        let (var, offset) = self.addresses.fixed(ptr)?;
        // A pointer outside of the variable is used by no access, so any offset is correct for it.
        self.slices.is_promoted(var).then(|| (var, u32::try_from(offset).unwrap_or(0)))
    }

    fn values(&mut self, slices: &[usize]) -> Vec<Value> {
        slices.iter().map(|&slice| self.value(slice)).collect()
    }

    fn value(&mut self, slice: usize) -> Value {
        let ty = self.slices.list[slice].ty;
        value_of(self.function, &mut self.current, &mut self.undefined, &mut self.undefined_insts, (slice, ty))
    }

    fn load(&mut self, out: &mut Vec<Inst>, span: Span, var: Var, offset: u32, ty: Type) -> Value {
        let Self { function, current, undefined, undefined_insts, slices, .. } = self;
        let size = ty.access_size(self.ptr_size);
        let mut get =
            |function: &mut Function, slice: usize| value_of(function, current, undefined, undefined_insts, (slice, slices.list[slice].ty));
        slices.read(&mut Cursor::new(function, out, span), var, offset, (ty, size), &mut get)
    }

    fn store(&mut self, out: &mut Vec<Inst>, span: Span, var: Var, offset: u32, value: Value) {
        let Self { function, current, undefined, undefined_insts, slices, .. } = self;
        let size = function.ty(value).access_size(self.ptr_size);
        let mut get =
            |function: &mut Function, slice: usize| value_of(function, current, undefined, undefined_insts, (slice, slices.list[slice].ty));
        let changed = slices.write(&mut Cursor::new(function, out, span), var, offset, (value, size), &mut get);
        for (slice, value) in changed {
            self.current[slice] = Some(value);
        }
    }

    /// Visits an `if` or `switch`. Adds results for slices that are stored in the instruction and accessed outside of
    /// it, or in the next iteration of a loop.
    fn visit_branches(&mut self, inst: &mut Inst) {
        let index = self.next_nested;
        self.next_nested += 1;
        let assigned: Vec<usize> = self.nested[index].iter().filter(|single| single.assigned).map(|single| single.slice).collect();
        let results: Vec<usize> = self.nested[index]
            .iter()
            .filter(|single| single.assigned && (single.count < self.total[single.slice] || self.is_carried(single.slice)))
            .map(|single| single.slice)
            .collect();
        let before: Vec<Option<Value>> = assigned.iter().map(|&slice| self.current[slice]).collect();
        for region in inst.op.regions_mut() {
            self.region(region);
            if region.yields() {
                let values = self.values(&results);
                if let Some(Inst { op: Op::Yield(yielded), .. }) = region.insts.last_mut() {
                    yielded.extend(values);
                }
            }
            for (&slice, &value) in assigned.iter().zip(&before) {
                self.current[slice] = value;
            }
        }
        self.add_results(inst, &results);
    }

    /// Whether a slice is a parameter of the innermost enclosing loop.
    fn is_carried(&self, slice: usize) -> bool {
        self.loops.last().is_some_and(|frame| frame.carried.contains(&slice))
    }

    fn add_results(&mut self, inst: &mut Inst, slices: &[usize]) {
        for &slice in slices {
            let value = self.function.new_value(self.slices.list[slice].ty);
            inst.results.push(value);
            self.current[slice] = Some(value);
        }
    }

    fn visit_loop(&mut self, inst: &mut Inst) {
        let index = self.next_nested;
        self.next_nested += 1;
        let uses = &self.nested[index];
        let everything_inside = |single: &Use| single.count == self.total[single.slice];
        let results: Vec<usize> = uses
            .iter()
            .filter(|single| single.assigned && (!everything_inside(single) || self.is_carried(single.slice)))
            .map(|single| single.slice)
            .collect();
        // A slice needs no loop parameter if it is only used in the body, and a store there dominates all uses.
        let is_local = |single: &Use| everything_inside(single) && self.store_region_count[single.slice] == single.count;
        let params: Vec<usize> = uses.iter().filter(|single| single.assigned && !is_local(single)).map(|single| single.slice).collect();
        let assigned: Vec<usize> = uses.iter().filter(|single| single.assigned).map(|single| single.slice).collect();
        let initial = self.values(&params);
        let Op::Loop { init, params: values, body, .. } = &mut inst.op else { return };
        init.extend(initial);
        for &slice in &params {
            let value = self.function.new_value(self.slices.list[slice].ty);
            values.push(value);
            self.current[slice] = Some(value);
        }
        self.loops.push(Frame { carried: params.iter().copied().collect(), params, results: results.clone() });
        self.region(body);
        self.loops.pop();
        for slice in assigned {
            self.current[slice] = None;
        }
        self.add_results(inst, &results);
    }
}
