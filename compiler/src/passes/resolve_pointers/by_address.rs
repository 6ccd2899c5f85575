//! Replaces an access to one of several buffers with known device addresses by one access through a selected address.
//!
//! Example: `load (select %c, %a, %b)` becomes `load (inttoptr (select %c, address of %a, address of %b))`.

use super::roots::Root;
use super::{Resolver, set_pointer};
use crate::diag::Span;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Inst, Op, Region, Scalar, Space, Type, Value, WorkItem};

impl Resolver<'_> {
    /// Whether a root is a buffer that is accessed by address.
    pub(super) fn has_address(&self, root: usize) -> bool {
        matches!(self.cx.roots.list[root], Root::Param(index) if self.cx.by_address.get(index as usize) == Some(&true))
    }

    /// Returns the device address of a root.
    pub(super) fn address(&mut self, root: usize) -> Value {
        if let Some(&known) = self.addresses.get(&root) {
            return known;
        }
        let Root::Param(param) = self.cx.roots.list[root] else { return self.constant(Type::I64, 0) };
        let halves = [false, true].map(|high| self.argument_word(WorkItem::ArgAddress { param, high }));
        let amount = self.constant(Type::I64, 32);
        let Self { function, entry, .. } = self;
        let [low, high] = halves.map(|half| function.emit(entry, Span::NONE, Type::I64, Op::Cast(CastOp::ZExt, half)));
        let high = function.emit(entry, Span::NONE, Type::I64, Op::Bin(BinOp::Shl, high, amount));
        let address = function.emit(entry, Span::NONE, Type::I64, Op::Bin(BinOp::Or, low, high));
        self.addresses.insert(root, address);
        address
    }

    /// Zero-extends an offset to 64 bits.
    pub(super) fn extend_offset(&mut self, out: &mut Vec<Inst>, span: Span, offset: Value) -> Value {
        if self.function.ty(offset) == Type::I64 {
            return offset;
        }
        self.at(out, span).cast(CastOp::ZExt, offset, Scalar::I64)
    }

    /// Emits the address of the candidate that a local tag selects. Returns the operation at this address, and the
    /// candidates that are not accessed by address. Returns `None` if fewer than two candidates are accessed by
    /// address.
    pub(super) fn select_address(
        &mut self,
        inst: &Inst,
        tag: Value,
        offset: Value,
        candidates: &[usize],
        out: &mut Vec<Inst>,
    ) -> Option<(Op, Vec<usize>)> {
        let (reached, rest): (Vec<usize>, Vec<usize>) = candidates.iter().partition(|&&root| self.has_address(root));
        let [first, others @ ..] = &reached[..] else { return None };
        if others.is_empty() {
            return None;
        }
        let mut address = self.address(*first);
        for &root in others {
            let number = self.constant(Type::I32, self.cx.numbers.tags[root]);
            let here = self.at(out, inst.span).cmp(CmpOp::Eq, tag, number);
            let own = self.address(root);
            address = self.at(out, inst.span).select(here, own, address);
        }
        let offset = self.extend_offset(out, inst.span, offset);
        let sum = self.at(out, inst.span).bin(BinOp::Add, address, offset);
        Some((self.at_address(inst, sum, out), rest))
    }

    /// Returns the operation of `inst`, with the address as its pointer.
    fn at_address(&mut self, inst: &Inst, address: Value, out: &mut Vec<Inst>) -> Op {
        let mut op = inst.op.clone();
        let pointer = self.function.emit(out, inst.span, Type::Ptr(Space::Global), Op::Cast(CastOp::IntToPtr, address));
        set_pointer(&mut op, pointer);
        op
    }

    /// Removes the candidates that are accessed by address from the list `found`, for a pointer in identity form. Each
    /// entry is a root, a value that is true if the pointer points into this root, and the offset in the root.
    /// Returns whether the pointer points into a removed candidate, and a region with the operation for this case.
    /// Returns `None`, without changing `found`, if fewer than two candidates are accessed by address.
    pub(super) fn match_by_address(
        &mut self,
        inst: &Inst,
        found: &mut Vec<(usize, Value, Value)>,
        out: &mut Vec<Inst>,
    ) -> Option<(Value, Region)> {
        let (reached, rest): (Vec<_>, Vec<_>) = found.iter().partition(|(root, ..)| self.has_address(*root));
        if reached.len() < 2 {
            return None;
        }
        *found = rest;
        let span = inst.span;
        let mut chosen: Option<(Value, Value)> = None;
        for (root, here, relative) in reached {
            let base = self.address(root);
            let offset = self.extend_offset(out, span, relative);
            let own = self.at(out, span).bin(BinOp::Add, base, offset);
            chosen = Some(match chosen {
                None => (here, own),
                Some((before, address)) => {
                    let any = self.at(out, span).bin(BinOp::Or, before, here);
                    (any, self.at(out, span).select(here, own, address))
                }
            });
        }
        let (here, address) = chosen?;
        let mut insts = Vec::new();
        let op = self.at_address(inst, address, &mut insts);
        Some((here, self.end_case(inst, op, insts)))
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::read::read_module;
    use crate::ir::verify::verify;
    use crate::passes::resolve_pointers;

    fn resolve(text: &str, large_offsets: bool, by_address: &[bool]) -> String {
        let mut module = read_module(text).expect("the text is IR");
        resolve_pointers::run(&mut module, 8, large_offsets, by_address).expect("pointers with roots");
        assert!(verify(&module).is_ok(), "{:?}\n{module}", verify(&module));
        module.to_string()
    }

    const CHOOSE: &str = r#"kernel @f0 "k" (%0: ptr.global buffer, %1: ptr.global buffer, %2: i32 value, %3: i32 value) {
  %7: bool = ult %2, %3
  %4: ptr.global = select %7, %0, %1
  %5: ptr.global = ptr_add %4, %3
  %6: i32 = load %5 align 4
  store %0, %6 align 4
  return
}
"#;

    #[test]
    fn selected_buffers_are_accessed_by_selected_addresses() {
        let text = resolve(CHOOSE, false, &[true, true]);
        assert!(text.contains("inttoptr") && !text.contains("switch"), "{text}");
        assert_eq!(text.matches("load").count(), 1, "{text}");
        // Without device addresses, each bound buffer has a separate access.
        let text = resolve(CHOOSE, false, &[]);
        assert!(text.contains("switch") && !text.contains("arg_address"), "{text}");
    }

    #[test]
    fn large_buffers_have_64_bit_offsets() {
        let text = resolve(CHOOSE, true, &[true, true]);
        assert!(text.contains("sext") && !text.contains("trunc"), "{text}");
    }

    #[test]
    fn loaded_pointers_access_buffers_by_address() {
        let text = r#"kernel @f0 "k" (%0: ptr.global buffer, %1: ptr.global buffer) {
  %2: ptr.global = load %0 align 8
  %3: i32 = load %2 align 4
  store %1, %3 align 4
  return
}
"#;
        for large_offsets in [false, true] {
            let text = resolve(text, large_offsets, &[true, true]);
            assert_eq!(text.matches("load").count(), 2, "{text}");
            assert!(text.contains("inttoptr") && !text.contains("switch") && text.contains("arg_size_high") == large_offsets, "{text}");
        }
    }
}
