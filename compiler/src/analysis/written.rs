//! Whether a kernel writes through pointers that its parameters do not declare as written.
//!
//! A read-only parameter only says that nothing is written through its own pointer. Pointers from memory or integers
//! may point into the same buffer. Example: `*(global int *)table[0] = 1` writes a buffer although `table` is only
//! read.

use super::addresses::Addresses;
use super::definitions::Root;
use crate::ir::{AtomicOp, CastOp, Func, Function, Module, Op, Space, Type, Value};

/// Whether the function or its callees get pointers from memory or integers, and may write to global memory through
/// one of them.
pub(crate) fn writes_anywhere(module: &Module, root: Func) -> bool {
    let mut seen = vec![root];
    let mut found = WrittenMemory::default();
    let mut next = 0;
    while let Some(&func) = seen.get(next) {
        next += 1;
        match module.functions.get(func.index()) {
            Some(function) => found.look(function, &mut seen),
            None => return true,
        }
    }
    found.pointers && found.stores
}

/// Properties of all visited functions.
#[derive(Default)]
struct WrittenMemory {
    /// Pointers come from memory or integers.
    pointers: bool,
    /// Stores through pointers of unknown origin.
    stores: bool,
}

impl WrittenMemory {
    /// Visits a function and appends its callees to the list.
    fn look(&mut self, function: &Function, callees: &mut Vec<Func>) {
        let addresses = Addresses::of(function, &function.body);
        let unknown = |pointer: Value| match addresses.root(pointer) {
            Some(Root::Address(_)) => true,
            Some(_) => false,
            None => !matches!(function.ty(pointer), Type::Ptr(Space::Private | Space::Local | Space::Constant)),
        };
        let is_pointer = |value: &Value| matches!(function.ty(*value), Type::Ptr(Space::Global | Space::Generic));
        function.body.walk(&mut |inst| match &inst.op {
            Op::Load { .. } | Op::Cast(CastOp::IntToPtr, _) => self.pointers |= inst.results.iter().any(is_pointer),
            Op::Store { ptr, .. } | Op::Copy { dst: ptr, .. } | Op::Zero { dst: ptr, .. } | Op::CmpXchg { ptr, .. } => {
                self.stores |= unknown(*ptr);
            }
            Op::Atomic { op, ptr, .. } if *op != AtomicOp::Load => self.stores |= unknown(*ptr),
            Op::Call(callee, _) if !callees.contains(callee) => callees.push(*callee),
            _ => {}
        });
    }
}
