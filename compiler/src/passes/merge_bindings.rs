//! Merges pointer arguments into one binding, for kernels with more pointer arguments than the device has bindings.
//! Also merges arguments on the same memory, for devices whose bindings must not share memory.
//!
//! ```text
//! %9 = load %31           =>      %40 = workitem.arg_merged_offset 31
//!                                 %41 = ptr_add %27, %40       (%27: the first merged parameter, %31: another one)
//!                                 %9 = load %41
//! ```
//! The launch copies the pointees of the merged arguments to one buffer, unless they are already on the same memory. It
//! passes their offsets in it. The [`LOW`] bits of addresses do not change, so that kernels may query the alignment of
//! a pointer, as asynchronous copies do.

use super::PassError;
use super::pass::{Pass, PassResult};
use crate::analysis::definitions::Definitions;
use crate::diag::Span;
use crate::ir::{BinOp, CastOp, Function, Inst, Op, Space, Type, Value, WorkItem};
use crate::launch::LaunchKey;
use rustc_hash::FxHashSet;

/// The mask of the address bits that do not change.
pub const LOW: u64 = 0xff;

pub const PASS: Pass = Pass::function("merge_bindings", |function, cx| run(function, cx.key));

/// Replaces all merged parameters by addresses relative to the first merged parameter, which is the common buffer.
///
/// # Errors
///
/// Fails if the kernel stores pointers in memory or converts them to integers, and their values would change.
pub fn run(function: &mut Function, key: &LaunchKey) -> PassResult {
    let params: Vec<(u32, Value)> = key
        .binding
        .merged
        .iter()
        .filter_map(|&index| function.params.get(usize::try_from(index).ok()?).map(|&param| (index, param)))
        .collect();
    let Some(&(_, first)) = params.first() else { return Ok(false) };
    if !key.binding.merged_in_place && stores_addresses(function) {
        return Err(PassError::Unsupported {
            function: function.name.clone(),
            what: "a pointer in memory or as an integer, in a kernel with more pointer arguments than the device has bindings,".to_owned(),
        });
    }
    let mut entry = Vec::new();
    let mut replaced = Vec::new();
    for (index, param) in params {
        let (offset, pointer) = (function.new_value(Type::I32), function.new_value(Type::Ptr(Space::Global)));
        entry.push(Inst { op: Op::WorkItem(WorkItem::ArgMergedOffset(index)), results: vec![offset], span: Span::NONE });
        entry.push(Inst { op: Op::PtrAdd(first, offset), results: vec![pointer], span: Span::NONE });
        replaced.push((param, pointer));
    }
    function.body.walk_mut(&mut |inst: &mut Inst| {
        inst.op.map_operands(|operand| {
            if let Some((_, pointer)) = replaced.iter().find(|(param, _)| param == operand) {
                *operand = *pointer;
            }
        });
    });
    function.body.insts.splice(0..0, entry);
    Ok(true)
}

/// Whether a function stores pointers in memory or uses them as integers. A use of only the [`LOW`] bits does not
/// count.
fn stores_addresses(function: &Function) -> bool {
    let definitions = Definitions::of(function);
    let is_pointer = |value: &Value| matches!(function.ty(*value), Type::Ptr(_));
    // Integers whose low bits are those of addresses.
    let mut numbers: FxHashSet<Value> = FxHashSet::default();
    let mut kept = false;
    function.body.walk(&mut |inst| {
        let masked = |value: Value| definitions.bits(value).is_some_and(|bits| bits <= LOW);
        let is_address_number = match &inst.op {
            Op::Cast(CastOp::PtrToInt, _) => true,
            Op::Cast(CastOp::Trunc, a) => numbers.contains(a),
            Op::Bin(BinOp::Add | BinOp::Or | BinOp::Xor, a, b) => numbers.contains(a) || numbers.contains(b),
            _ => false,
        };
        if is_address_number {
            numbers.extend(&inst.results);
            return;
        }
        match &inst.op {
            Op::Bin(BinOp::And, a, b) if masked(*a) || masked(*b) => {}
            Op::Cast(CastOp::IntToPtr, _) => kept = true,
            Op::Load { .. } => kept |= inst.results.iter().any(is_pointer),
            Op::Store { value, .. } => kept |= is_pointer(value) || numbers.contains(value),
            op => op.for_each_operand(|operand| kept |= numbers.contains(&operand)),
        }
    });
    kept
}
