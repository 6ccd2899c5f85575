//! Folds pointer arguments into one, for kernels that take more of them than the device has bindings.
//!
//! ```text
//! %9 = load %31           =>      %40 = workitem.arg_fold 31
//!                                 %41 = ptr_add %27, %40       (%27: the first folded parameter, %31: another one)
//!                                 %9 = load %41
//! ```
//! The launch puts what the folded arguments point to into one buffer, and says at which byte each is.

use super::PassError;
use super::pass::{Pass, PassResult};
use crate::diag::Span;
use crate::ir::{CastOp, Function, Inst, Op, Space, Type, Value, WorkItem};
use crate::launch::LaunchKey;

/// This transformation, as the lists of passes name it.
pub const PASS: Pass = Pass::function("fold", |function, cx| run(function, cx.key));

/// Makes all folded parameters addresses relative to the first, which stands for the common buffer.
///
/// # Errors
/// If the kernel keeps pointers as numbers or in memory: then what they mean would change.
pub fn run(function: &mut Function, key: &LaunchKey) -> PassResult {
    let params: Vec<(u32, Value)> = key
        .binding
        .folded
        .iter()
        .filter_map(|&index| function.params.get(usize::try_from(index).ok()?).map(|&param| (index, param)))
        .collect();
    let Some(&(_, first)) = params.first() else { return Ok(false) };
    let mut kept = false;
    let is_pointer = |value: &Value| matches!(function.ty(*value), Type::Ptr(_));
    function.body.walk(&mut |inst| {
        kept |= match &inst.op {
            Op::Cast(CastOp::PtrToInt | CastOp::IntToPtr, _) => true,
            Op::Load { .. } => inst.results.iter().any(is_pointer),
            Op::Store { value, .. } => is_pointer(value),
            _ => false,
        };
    });
    if kept {
        return Err(PassError::Unsupported {
            function: function.name.clone(),
            what: "keeping pointers in memory, with more pointer arguments than the device has bindings,".to_owned(),
        });
    }
    let mut entry = Vec::new();
    let mut replaced = Vec::new();
    for (index, param) in params {
        let (offset, pointer) = (function.new_value(Type::I32), function.new_value(Type::Ptr(Space::Global)));
        entry.push(Inst { op: Op::WorkItem(WorkItem::ArgFold(index)), results: vec![offset], span: Span::NONE });
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
