//! Duplicates code that some work-items may skip. One version is for complete subgroups, in which all work-items are
//! active. The other version is for the other subgroups.
//!
//! ```text
//! if slt %i, %n {                        if slt %i, %n {
//!   %x = load f32x8 ...                    %b = group sub ballot true;  %all = eq (extract %b, 0), 0xffffffff
//!   ...                            =>      if %all { %x = load f32x8 ... yield } else { %x' = load f32x8 ... yield }
//!   yield                                  yield
//! }                                      }
//! ```
//! Most subgroups are complete. The versions start at one position of a kernel, outside of loops, and contain the rest
//! of the region. The start is the first position that some work-items may not reach and that precedes a wide access in
//! its region. The rest of the region must not contain a barrier, because complete and incomplete subgroups of a group
//! would wait at different barriers.

use rustc_hash::FxHashMap;

use super::is_wide;
use crate::analysis::divergence::{Divergence, DivergenceParams, StableLoads};
use crate::diag::Span;
use crate::ir::{CmpOp, Const, Function, GroupOp, Inst, Op, Region, Scalar, Type, Value};
use crate::passes::loop_copies::copy;

/// Maximum number of instructions that are duplicated.
const MAX_SIZE: usize = 512;

/// The position at which the versions start.
struct VersionsStart {
    /// The path to the region: indices of instructions, and of their regions.
    path: Vec<(usize, usize)>,
    /// The index of the first instruction of the versions in the region.
    first: usize,
}

/// Creates the versions for subgroups of `lanes` work-items. Returns the condition for complete subgroups, or `None` if
/// there are no versions. `full` is true if all subgroups are complete at the start of the kernel.
pub(super) fn make(function: &mut Function, local_size: [u32; 3], full: bool, lanes: u32) -> Option<Value> {
    if lanes > u32::BITS {
        return None;
    }
    let mut path = Vec::new();
    let params = DivergenceParams { group: local_size, zero_offset: false, stable: StableLoads::Constant };
    let divergence = Divergence::of(function, &function.body, params);
    let first = find_start(&divergence, function, &function.body, full, &mut path)?;
    let start = VersionsStart { path, first };
    let mut body = std::mem::take(&mut function.body);
    let complete = split(function, &mut body, &start, lanes);
    function.body = body;
    complete
}

/// Finds the position at which the versions start. `together` is true if every subgroup that executes the region
/// executes it with all its lanes. Returns the index of the first instruction, and sets `path` to the path to its
/// region. Returns `None` if there is no such position.
fn find_start(
    divergence: &Divergence<'_>,
    function: &Function,
    region: &Region,
    mut together: bool,
    path: &mut Vec<(usize, usize)>,
) -> Option<usize> {
    let is_worth_it = |first: usize| {
        let rest = region.insts.get(first..)?;
        let (mut size, mut has_barrier) = (0, false);
        let mut visit = |inst: &Inst| {
            size += 1;
            has_barrier |= matches!(inst.op, Op::Barrier(_));
        };
        for inst in rest {
            visit(inst);
            inst.op.regions().iter().for_each(|nested| nested.walk(&mut visit));
        }
        (size <= MAX_SIZE && !has_barrier && is_wide(function, rest)).then_some(first)
    };
    if !together {
        return is_worth_it(0);
    }
    for (index, inst) in region.insts.iter().enumerate() {
        if !matches!(inst.op, Op::Loop { .. }) {
            for (which, nested) in inst.op.regions().iter().enumerate() {
                path.push((index, which));
                if let Some(first) = find_start(divergence, function, nested, !divergence.splits(inst), path) {
                    return Some(first);
                }
                path.pop();
            }
        }
        together &= !divergence.may_skip_rest(inst);
        if !together {
            return is_worth_it(index + 1);
        }
    }
    None
}

/// Creates the versions at a position. Returns the condition for complete subgroups.
fn split(function: &mut Function, body: &mut Region, start: &VersionsStart, lanes: u32) -> Option<Value> {
    let mut region = body;
    for &(inst, which) in &start.path {
        region = region.insts.get_mut(inst)?.op.regions_mut().into_iter().nth(which)?;
    }
    let mut then = region.insts.split_off(start.first);
    let mut end = then.pop()?;
    let span = end.span;
    let mut map = FxHashMap::default();
    let mut els: Vec<Inst> = then.iter().map(|inst| copy(function, inst, &mut map)).collect();
    let mut given = Vec::new();
    end.op.for_each_operand(|value| given.push(value));
    let instead = given.iter().map(|value| map.get(value).copied().unwrap_or(*value)).collect();
    let results: Vec<Value> = given.iter().map(|&value| function.new_value(function.ty(value))).collect();
    let mut next = results.iter();
    end.op.map_operands(|value| *value = next.next().copied().unwrap_or(*value));
    then.push(Inst::effect(Op::Yield(given), span));
    els.push(Inst::effect(Op::Yield(instead), span));
    let cond = all_lanes_active(function, &mut region.insts, span, lanes);
    let (then, els) = (Region { insts: then }, Region { insts: els });
    region.insts.push(Inst { op: Op::If { cond, then, els }, results, span });
    region.insts.push(end);
    Some(cond)
}

/// Emits a test whether all lanes of the subgroup are active.
fn all_lanes_active(function: &mut Function, out: &mut Vec<Inst>, span: Span, lanes: u32) -> Value {
    let here = function.emit(out, span, Type::BOOL, Op::Const(Const::Bits(1)));
    let ballot = function.emit(out, span, Type::Vector(Scalar::I32, 4), Op::Group { sub: true, op: GroupOp::Ballot, args: vec![here] });
    let active = function.emit(out, span, Type::I32, Op::Extract(ballot, 0));
    let all = function.emit_bits(out, span, Type::I32, u64::from(u32::MAX >> (u32::BITS - lanes)));
    function.emit(out, span, Type::BOOL, Op::Cmp(CmpOp::Eq, active, all))
}
