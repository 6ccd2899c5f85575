//! Sets the alignment of every load and store to the largest alignment that follows from its base object and offset.
//!
//! ```text
//! %o = shl %i, 2                                  %o = shl %i, 2
//! %x = load i8x4 (ptr_add %buffer, %o) align 1    %x = load i8x4 (ptr_add %buffer, %o) align 4
//! ```
//! `vload4` only guarantees the alignment of one element. Buffers start at multiples of 16 bytes, so the trailing zero
//! bits of an offset may imply a larger alignment. A word or vector can then be accessed at once.
//!
//! A program may also cast a pointer to a type of larger alignment. Then the alignment of an access may be larger than
//! that of its base object. If the object is a private variable, the pass raises the alignment of the variable. Other
//! objects cannot move, so the pass lowers the alignment of the access. After this pass, the verifier checks that no
//! access assumes a larger alignment than that of its base object. Expects the form that `resolve_pointers` and
//! `shrink_int64` produce.

use super::pass::Pass;
use crate::analysis::alignment::{BUFFER, zeros};
use crate::analysis::definitions::{Definitions, Root};
use crate::ir::{Function, Module, Op};

pub(crate) const PASS: Pass = Pass::function("infer_alignment", |function, cx| {
    run(function, cx.module);
    Ok(true)
});

/// Raises and lowers the alignments of accesses.
fn run(function: &mut Function, module: &Module) {
    let Some(zeros) = zeros(function, &function.body, 1) else { return };
    let definitions = Definitions::of(function);
    let roots: Vec<Option<Root>> =
        (0..function.values.len()).map(|index| definitions.pointer(crate::ir::Value(index as u32)).map(|(root, _)| root)).collect();
    let mut variables: Vec<u32> = function.vars.iter().map(|var| var.align).collect();
    let params = function.kernel.as_ref().map(|kernel| kernel.params.clone()).unwrap_or_default();
    function.body.walk_mut(&mut |inst| {
        let (Op::Load { ptr, align, .. } | Op::Store { ptr, align, .. }) = &mut inst.op else { return };
        *align = (*align).max(1 << zeros[ptr.index()].min(BUFFER));
        let limit = match roots[ptr.index()] {
            Some(Root::Param(index)) => params.get(index as usize).map(|param| param.align()),
            Some(Root::Global(global)) => module.globals.get(global.index()).map(|global| global.start_align()),
            Some(Root::Var(_, var)) => {
                if let Some(variable) = variables.get_mut(var.index()) {
                    *variable = (*variable).max(*align);
                }
                None
            }
            Some(Root::Address(_)) | None => None,
        };
        *align = limit.map_or(*align, |limit| limit.min(*align));
    });
    for (var, align) in function.vars.iter_mut().zip(variables) {
        var.align = align;
    }
    if let Some(kernel) = &mut function.kernel {
        kernel.aligned = true;
    }
}
