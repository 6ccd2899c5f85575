//! Turns private variables into SSA values, over structured control flow.
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
//! A variable is divided into [pieces]: ranges of bytes that no access straddles. Each piece is an SSA value. What stays in memory:
//! variables whose address goes anywhere but into loads, stores and constant offsets, and those that are accessed at run-time offsets.
//!
//! The construction visits each instruction once. An `if`, `switch` or `loop` gets results (a loop parameters, too) for the pieces that
//! are assigned within it, unless all their accesses are; superfluous ones that this leaves are removed by `simplify`. A load of
//! what was never stored gives `undef`.

mod access;
pub(super) mod pieces;

use super::pass::Pass;
use crate::analysis::addresses::Addresses;
use crate::diag::Span;
use crate::ir::{CastOp, Const, Cursor, Function, Inst, Op, Region, Type, Value, Var};
use pieces::{Access, Pieces};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) const PASS: Pass = Pass::function("promote", |function, cx| Ok(run(function, cx.pointer_size())));

/// Promotes every private variable that can be. `ptr_size` is the size of a pointer in bytes. Returns whether anything changed.
pub(crate) fn run(function: &mut Function, ptr_size: u32) -> bool {
    if function.vars.is_empty() {
        return false;
    }
    let addresses = Addresses::of(function, &function.body);
    let pieces = Pieces::new(accesses(function, &addresses, ptr_size));
    if pieces.list.is_empty() {
        return false;
    }
    let mut scan = Scan::new(function, &addresses, &pieces, ptr_size);
    scan.region(&function.body);
    let Scan { nested, total, home_count, .. } = scan;
    let mut body = std::mem::take(&mut function.body);
    let mut pass = Promote {
        current: vec![None; pieces.list.len()],
        replaced: FxHashMap::default(),
        undefined: FxHashMap::default(),
        undefined_insts: Vec::new(),
        loops: Vec::new(),
        next_nested: 0,
        addresses,
        pieces,
        nested,
        total,
        home_count,
        function,
        ptr_size,
    };
    pass.region(&mut body);
    let mut insts = pass.undefined_insts;
    insts.append(&mut body.insts);
    function.body = Region { insts };
    true
}

/// The accesses of each variable; `None` where something else happens to its address.
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

/// What happens to a piece inside of one instruction with regions.
#[derive(Clone, Copy, Debug)]
struct Use {
    piece: usize,
    /// Accesses, nested ones included.
    count: u32,
    assigned: bool,
}

/// Finds out what each instruction with regions assigns. Such instructions are numbered in order of their beginning.
struct Scan<'a> {
    function: &'a Function,
    addresses: &'a Addresses,
    pieces: &'a Pieces,
    ptr_size: u32,
    nested: Vec<Vec<Use>>,
    /// Accesses of each piece.
    total: Vec<u32>,
    /// For each piece, the region of its first access, if that is a store of the whole piece.
    home: Vec<Option<u32>>,
    /// For each piece, its accesses in that region: all of them come after the first one if this is `total`.
    home_count: Vec<u32>,
    regions: u32,
}

impl<'a> Scan<'a> {
    fn new(function: &'a Function, addresses: &'a Addresses, pieces: &'a Pieces, ptr_size: u32) -> Self {
        let count = pieces.list.len();
        let (total, home, home_count) = (vec![0; count], vec![None; count], vec![0; count]);
        Self { function, addresses, pieces, ptr_size, nested: Vec::new(), total, home, home_count, regions: 0 }
    }

    /// Returns the uses in the region, without repetitions, in order of pieces.
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
            if self.home[single.piece] == Some(number) {
                self.home_count[single.piece] = single.count;
            }
        }
        uses
    }

    fn access(&mut self, ptr: Value, ty: Type, assigned: bool, region: u32, uses: &mut Vec<Use>) {
        let Some((var, offset)) = self.addresses.fixed(ptr) else { return };
        let Ok(offset) = u32::try_from(offset) else { return };
        let size = ty.access_size(self.ptr_size);
        for piece in self.pieces.touched(var, offset, size) {
            let covered =
                self.pieces.list[piece].offset >= offset && self.pieces.list[piece].offset + self.pieces.list[piece].size <= offset + size;
            if self.total[piece] == 0 && assigned && covered {
                self.home[piece] = Some(region);
            }
            self.total[piece] += 1;
            uses.push(Use { piece, count: 1, assigned });
        }
    }
}

/// Sorts uses and adds those of one piece up.
fn merge(uses: &mut Vec<Use>) {
    uses.sort_by_key(|single| single.piece);
    uses.dedup_by(|later, earlier| {
        let same = later.piece == earlier.piece;
        if same {
            earlier.count += later.count;
            earlier.assigned |= later.assigned;
        }
        same
    });
}

/// The loop around an instruction: which pieces its `continue`s and `break`s carry.
struct Frame {
    params: Vec<usize>,
    /// The same, to look up.
    carried: FxHashSet<usize>,
    results: Vec<usize>,
}

struct Promote<'a> {
    function: &'a mut Function,
    addresses: Addresses,
    pieces: Pieces,
    nested: Vec<Vec<Use>>,
    total: Vec<u32>,
    home_count: Vec<u32>,
    ptr_size: u32,
    /// The value that each piece has here.
    current: Vec<Option<Value>>,
    /// What stands for the results of removed loads.
    replaced: FxHashMap<Value, Value>,
    undefined: FxHashMap<Type, Value>,
    undefined_insts: Vec<Inst>,
    loops: Vec<Frame>,
    next_nested: usize,
}

/// The value of a piece, made up where it has none yet.
fn value_of(
    function: &mut Function,
    current: &mut [Option<Value>],
    undefined: &mut FxHashMap<Type, Value>,
    undefined_insts: &mut Vec<Inst>,
    (piece, ty): (usize, Type),
) -> Value {
    if let Some(value) = current[piece] {
        return value;
    }
    *undefined.entry(ty).or_insert_with(|| function.emit(undefined_insts, Span::NONE, ty, Op::Const(Const::Undef)))
}

impl Promote<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            inst.op.map_operands(|value| {
                if let Some(&new) = self.replaced.get(value) {
                    *value = new;
                }
            });
            match &mut inst.op {
                Op::VarAddr(var) if self.pieces.promoted(*var) => {}
                Op::PtrAdd(ptr, _) | Op::Cast(CastOp::SpaceCast, ptr) if self.promoted(*ptr).is_some() => {}
                Op::Load { ptr, .. } => match (self.promoted(*ptr), inst.results.first()) {
                    (Some((var, offset)), Some(&result)) => {
                        let new = self.load(&mut out, inst.span, var, offset, self.function.ty(result));
                        self.replaced.insert(result, new);
                    }
                    _ => out.push(inst),
                },
                Op::Store { ptr, value, .. } => match self.promoted(*ptr) {
                    Some((var, offset)) => self.store(&mut out, inst.span, var, offset, *value),
                    None => out.push(inst),
                },
                Op::If { .. } | Op::Switch { .. } => {
                    self.branches(&mut inst);
                    out.push(inst);
                }
                Op::Loop { .. } => {
                    self.repeat(&mut inst);
                    out.push(inst);
                }
                Op::Break(values) => {
                    if let Some(frame) = self.loops.last() {
                        let pieces = frame.results.clone();
                        values.extend(self.values(&pieces));
                    }
                    out.push(inst);
                }
                Op::Continue(values) => {
                    if let Some(frame) = self.loops.last() {
                        let pieces = frame.params.clone();
                        values.extend(self.values(&pieces));
                    }
                    out.push(inst);
                }
                _ => out.push(inst),
            }
        }
        region.insts = out;
    }

    /// The place that a pointer into a promoted variable points to.
    fn promoted(&self, ptr: Value) -> Option<(Var, u32)> {
        let (var, offset) = self.addresses.fixed(ptr)?;
        // Addresses outside of the variable are computed at most, never accessed.
        self.pieces.promoted(var).then(|| (var, u32::try_from(offset).unwrap_or(0)))
    }

    fn values(&mut self, pieces: &[usize]) -> Vec<Value> {
        pieces.iter().map(|&piece| self.value(piece)).collect()
    }

    fn value(&mut self, piece: usize) -> Value {
        let ty = self.pieces.list[piece].ty;
        value_of(self.function, &mut self.current, &mut self.undefined, &mut self.undefined_insts, (piece, ty))
    }

    fn load(&mut self, out: &mut Vec<Inst>, span: Span, var: Var, offset: u32, ty: Type) -> Value {
        let Self { function, current, undefined, undefined_insts, pieces, .. } = self;
        let size = ty.access_size(self.ptr_size);
        let mut get =
            |function: &mut Function, piece: usize| value_of(function, current, undefined, undefined_insts, (piece, pieces.list[piece].ty));
        pieces.read(&mut Cursor::new(function, out, span), var, offset, (ty, size), &mut get)
    }

    fn store(&mut self, out: &mut Vec<Inst>, span: Span, var: Var, offset: u32, value: Value) {
        let Self { function, current, undefined, undefined_insts, pieces, .. } = self;
        let size = function.ty(value).access_size(self.ptr_size);
        let mut get =
            |function: &mut Function, piece: usize| value_of(function, current, undefined, undefined_insts, (piece, pieces.list[piece].ty));
        let changed = pieces.write(&mut Cursor::new(function, out, span), var, offset, (value, size), &mut get);
        for (piece, value) in changed {
            self.current[piece] = Some(value);
        }
    }

    /// An `if` or `switch`: results for the pieces that it assigns and that are accessed outside, or in the next turn of a loop.
    fn branches(&mut self, inst: &mut Inst) {
        let index = self.next_nested;
        self.next_nested += 1;
        let assigned: Vec<usize> = self.nested[index].iter().filter(|single| single.assigned).map(|single| single.piece).collect();
        let results: Vec<usize> = self.nested[index]
            .iter()
            .filter(|single| single.assigned && (single.count < self.total[single.piece] || self.is_carried(single.piece)))
            .map(|single| single.piece)
            .collect();
        let before: Vec<Option<Value>> = assigned.iter().map(|&piece| self.current[piece]).collect();
        for region in inst.op.regions_mut() {
            self.region(region);
            if region.yields() {
                let values = self.values(&results);
                if let Some(Inst { op: Op::Yield(yielded), .. }) = region.insts.last_mut() {
                    yielded.extend(values);
                }
            }
            for (&piece, &value) in assigned.iter().zip(&before) {
                self.current[piece] = value;
            }
        }
        self.add_results(inst, &results);
    }

    /// Whether the next turn of the loop around wants a piece, even where nothing else does.
    fn is_carried(&self, piece: usize) -> bool {
        self.loops.last().is_some_and(|frame| frame.carried.contains(&piece))
    }

    fn add_results(&mut self, inst: &mut Inst, pieces: &[usize]) {
        for &piece in pieces {
            let value = self.function.new_value(self.pieces.list[piece].ty);
            inst.results.push(value);
            self.current[piece] = Some(value);
        }
    }

    fn repeat(&mut self, inst: &mut Inst) {
        let index = self.next_nested;
        self.next_nested += 1;
        let uses = &self.nested[index];
        let everything_inside = |single: &Use| single.count == self.total[single.piece];
        let results: Vec<usize> = uses
            .iter()
            .filter(|single| single.assigned && (!everything_inside(single) || self.is_carried(single.piece)))
            .map(|single| single.piece)
            .collect();
        // A piece that lives in the body and is assigned there before all else carries nothing from turn to turn.
        let local = |single: &Use| everything_inside(single) && self.home_count[single.piece] == single.count;
        let params: Vec<usize> = uses.iter().filter(|single| single.assigned && !local(single)).map(|single| single.piece).collect();
        let assigned: Vec<usize> = uses.iter().filter(|single| single.assigned).map(|single| single.piece).collect();
        let initial = self.values(&params);
        let Op::Loop { init, params: values, body, .. } = &mut inst.op else { return };
        init.extend(initial);
        for &piece in &params {
            let value = self.function.new_value(self.pieces.list[piece].ty);
            values.push(value);
            self.current[piece] = Some(value);
        }
        self.loops.push(Frame { carried: params.iter().copied().collect(), params, results: results.clone() });
        self.region(body);
        self.loops.pop();
        for piece in assigned {
            self.current[piece] = None;
        }
        self.add_results(inst, &results);
    }
}
