//! Gives accesses the type of the value that is used, instead of a type with the same size that is converted.
//!
//! ```text
//! %1 = load.i8x4 %p                     %2 = load.i32 %p
//! %2 = bitcast.i32 %1            =>     ... %2 ...
//! ... %2 ...
//! %3 = bitcast.i8x4 %x                  store %x, %p
//! store %3, %p
//! ```
//! Example: `as_uint(vload4(0, bytes))`. A vector of four bytes in each lane consists of four registers, so the
//! vectoriser would split the word and compose it again. Private memory is excluded, because accesses of different
//! sizes to one variable prevent better layouts.

use rustc_hash::FxHashMap;

use super::pass::Pass;
use crate::analysis::definitions::{Definitions, Uses};
use crate::ir::{CastOp, Function, Op, Space, Type, Value};

pub(crate) const PASS: Pass = Pass::function("access_types", |function, _| Ok(run(function)));

/// Rewrites a function. Returns whether any access was changed. Instructions that become unused stay.
pub(crate) fn run(function: &mut Function) -> bool {
    let (loads, stored) = (loads(function), stored(function));
    if loads.is_empty() && stored.is_empty() {
        return false;
    }
    for (&loaded, &(ty, _)) in &loads {
        function.values[loaded.index()].ty = ty;
    }
    let mut replaced: FxHashMap<Value, Value> = FxHashMap::default();
    let mut body = std::mem::take(&mut function.body);
    body.walk_mut(&mut |inst| {
        if let Op::Store { ptr, value, volatile: false, .. } = &mut inst.op
            && let Some(&inner) = stored.get(value)
            && is_memory(function.ty(*ptr))
        {
            *value = inner;
        }
        inst.op.replace_operands(&replaced);
        if let (Op::Cast(CastOp::Bitcast, from), &[result]) = (&inst.op, &inst.results[..])
            && loads.contains_key(from)
        {
            replaced.insert(result, *from);
        }
    });
    remove_casts(&mut body, &replaced);
    function.body = body;
    true
}

/// Removes the bitcasts that have a replacement.
fn remove_casts(region: &mut crate::ir::Region, replaced: &FxHashMap<Value, Value>) {
    region.insts.retain(|inst| !inst.results.iter().any(|result| replaced.contains_key(result)));
    region.insts.iter_mut().flat_map(|inst| inst.op.regions_mut()).for_each(|nested| remove_casts(nested, replaced));
}

/// Returns the loads whose results are only converted to one other type, with this type and the number of conversions.
fn loads(function: &Function) -> FxHashMap<Value, (Type, u32)> {
    let mut loads: FxHashMap<Value, (Type, u32)> = FxHashMap::default();
    let (definitions, uses) = (Definitions::of(function), Uses::of(function));
    function.body.walk(&mut |inst| {
        let (&Op::Cast(CastOp::Bitcast, from), &[result]) = (&inst.op, &inst.results[..]) else { return };
        let Some(&Op::Load { ptr, volatile: false, .. }) = definitions.get(from) else { return };
        let ty = function.ty(result);
        if !is_memory(function.ty(ptr)) || !changes_lanes(function.ty(from), ty) {
            return;
        }
        let (known, count) = loads.entry(from).or_insert((ty, 0));
        *count += u32::from(*known == ty);
    });
    loads.retain(|&load, (_, count)| *count == uses.count(load));
    loads
}

/// Returns the bitcasts to another number of lanes, and their operands.
fn stored(function: &Function) -> FxHashMap<Value, Value> {
    let mut casts = FxHashMap::default();
    let mut stores = false;
    function.body.walk(&mut |inst| {
        if let (&Op::Cast(CastOp::Bitcast, from), &[result]) = (&inst.op, &inst.results[..])
            && changes_lanes(function.ty(result), function.ty(from))
        {
            casts.insert(result, from);
        }
        if let Op::Store { ptr, value, volatile: false, .. } = inst.op {
            stores |= casts.contains_key(&value) && is_memory(function.ty(ptr));
        }
    });
    if stores { casts } else { FxHashMap::default() }
}

/// Whether the lanes of a type in memory are smaller than the lanes of the type that is used. Three lanes have padding
/// in some accesses.
fn changes_lanes(memory: Type, used: Type) -> bool {
    memory.lanes() > used.lanes() && memory.lanes() != 3 && used.lanes() != 3
}

fn is_memory(pointer: Type) -> bool {
    matches!(pointer, Type::Ptr(Space::Global | Space::Constant | Space::Local | Space::Generic))
}
