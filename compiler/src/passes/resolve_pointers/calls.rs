//! Rewrites calls of functions with pointers to global memory: the argument becomes the address.
//!
//! ```text
//! %5 = ptr_add %a, %4                     %6 = address of %a
//! %7 = call @f1, %5                       %8 = add.i64 %6, (sext.i64 %4)
//!                                    =>   %7 = call @f1, %8
//! func @f1(%0: ptr.global) {              func @f1(%9: i64) {
//!   %1 = load.i32 %0                        %1 = load.i32 (inttoptr %9)
//! ```
//! A function with pointers to global memory is only called if the pointers point into buffers of the kernel.
//! `argument_promotion` ensures this: other calls of such functions are inlined.

use super::roots::Root;
use super::{Resolver, Tag};
use crate::diag::Span;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Inst, Scalar, Space, Type, Value};

impl Resolver<'_> {
    /// Replaces a parameter that points to global memory by an address, except in kernels.
    pub(super) fn replace_by_address(&mut self, root: usize, param: usize) {
        if self.function.kernel.is_none() && self.roots.spaces[root] == Space::Global {
            let address = self.function.new_value(Type::I64);
            self.function.params[param] = address;
            self.addresses.insert(root, address);
        }
    }

    /// Whether a root is a parameter that was replaced by an address.
    pub(super) fn is_address_param(&self, root: usize) -> bool {
        self.function.kernel.is_none() && matches!(self.roots.list[root], Root::Param(_)) && self.addresses.contains_key(&root)
    }

    /// Emits the address of the byte at `offset` in a root. Offsets from a parameter may be negative.
    pub(super) fn address_in(&mut self, out: &mut Vec<Inst>, span: Span, root: usize, offset: Value) -> Value {
        let base = self.address(root);
        if offset == self.constant(self.width, 0) {
            return base;
        }
        let is_long = self.function.ty(offset) == Type::I64;
        let offset = if is_long { offset } else { self.at(out, span).cast(CastOp::SExt, offset, Scalar::I64) };
        self.at(out, span).bin(BinOp::Add, base, offset)
    }

    /// Emits the address that a call passes for a pointer.
    pub(super) fn passed_address(&mut self, out: &mut Vec<Inst>, span: Span, pointer: Value) -> Value {
        let parts = self.parts(pointer);
        let candidates: Vec<usize> = self.roots.set(pointer).roots().collect();
        let unknown =
            matches!(parts.tag, Tag::Identity(_)) || !candidates.iter().all(|&root| self.has_address(root) || self.is_address_param(root));
        if unknown {
            self.error = Some("a call with pointers that was not inlined");
        }
        let mut address = self.constant(Type::I64, 0);
        for root in candidates {
            let own = self.address_in(out, span, root, parts.offset);
            address = match parts.tag {
                Tag::Local(tag) => {
                    let number = self.constant(Type::I32, self.numbers.tags[root]);
                    let here = self.at(out, span).cmp(CmpOp::Eq, tag, number);
                    self.at(out, span).select(here, own, address)
                }
                _ => own,
            };
        }
        address
    }
}
