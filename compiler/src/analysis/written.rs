//! Whether a kernel may write to global memory through pointers that do not come from its parameters.
//!
//! A read-only parameter only means that the kernel does not write through this parameter. Pointers from memory or
//! integers may point into the same buffer. Example: `*(global int *)table[0] = 1` writes a buffer, although `table`
//! is only read.

use super::addresses::Addresses;
use super::definitions::Root;
use crate::ir::{AtomicOp, CastOp, Func, Function, Module, Op, Space, Type, Value};

/// Whether the function or its callees load pointers or convert integers to pointers, and may write to global memory
/// through one of these.
pub(crate) fn writes_anywhere(module: &Module, root: Func) -> bool {
    let mut seen = vec![root];
    let mut found = WrittenMemory::default();
    let mut next = 0;
    while let Some(&func) = seen.get(next) {
        next += 1;
        match module.functions.get(func.index()) {
            Some(function) => found.visit(function, &mut seen),
            None => return true,
        }
    }
    found.has_loaded_pointers && found.has_unknown_stores
}

/// Joined properties of all visited functions.
#[derive(Default)]
struct WrittenMemory {
    /// Whether a function loads pointers or converts integers to pointers.
    has_loaded_pointers: bool,
    /// Whether a function writes through a pointer of unknown origin.
    has_unknown_stores: bool,
}

impl WrittenMemory {
    /// Visits a function and appends its callees to the list.
    fn visit(&mut self, function: &Function, callees: &mut Vec<Func>) {
        let addresses = Addresses::of(function, &function.body);
        let unknown = |pointer: Value| match addresses.root(pointer) {
            Some(Root::Address(_)) => true,
            Some(_) => false,
            None => !matches!(function.ty(pointer), Type::Ptr(Space::Private | Space::Local | Space::Constant)),
        };
        let is_pointer = |value: &Value| matches!(function.ty(*value), Type::Ptr(Space::Global | Space::Generic));
        function.body.walk(&mut |inst| match &inst.op {
            Op::Load { .. } | Op::Cast(CastOp::IntToPtr, _) => self.has_loaded_pointers |= inst.results.iter().any(is_pointer),
            Op::Store { ptr, .. } | Op::Copy { dst: ptr, .. } | Op::Zero { dst: ptr, .. } | Op::CmpXchg { ptr, .. } => {
                self.has_unknown_stores |= unknown(*ptr);
            }
            Op::Atomic { op, ptr, .. } if *op != AtomicOp::Load => self.has_unknown_stores |= unknown(*ptr),
            Op::Call(callee, _) if !callees.contains(callee) => callees.push(*callee),
            _ => {}
        });
    }
}
