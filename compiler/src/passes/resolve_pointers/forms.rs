//! The two forms of pointers: tags and identities of objects, conversions between the forms, comparisons, and accesses
//! by identity.

use super::roots::{Root, Roots, first_of};
use super::{Resolver, Tag};
use crate::diag::Span;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Const, Inst, KernelParam, Module, Op, Region, Space, Type, UnOp, Value, WorkItem};
use crate::layout::ProgramLayout;
use crate::pointer::{FIRST_OWN_32, TAG_BITS_32, identity, program_identity};

/// The identity of an object, see [`crate::pointer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// Known at compile time: the identity, and the byte offset of the object in the memory with that identity.
    Known(u32, u32),
    /// The identity of the buffer that is passed for a parameter.
    Argument(u32),
}

/// The tags and identities of all objects.
#[derive(Debug)]
pub(super) struct Numbers {
    /// The tag of each root in local-tag form.
    pub(super) tags: Vec<u64>,
    pub(super) identities: Vec<Identity>,
    /// For each root, the root through which the memory of the root is accessed in identity form.
    through: Vec<usize>,
    /// Whether all tags fit a 32-bit pointer. Always true for 64-bit pointers.
    fit: bool,
}

impl Numbers {
    pub(super) fn new(module: &Module, roots: &Roots, layout: &ProgramLayout, ptr_size: u32) -> Self {
        let Module { functions, globals } = module;
        let first_own = if ptr_size == 8 { identity::FIRST_OWN } else { FIRST_OWN_32 };
        let kernel = functions.iter().find_map(|function| function.kernel.as_ref());
        let params = kernel.map_or(&[][..], |kernel| &kernel.params);
        // The objects are numbered in this order: globals, and the parameters and variables of each function.
        let mut first = Vec::with_capacity(functions.len());
        let mut next = globals.len();
        for function in functions {
            first.push(next);
            next += function.params.len() + function.vars.len();
        }
        let mut numbers = Self { tags: Vec::new(), identities: Vec::new(), through: Vec::new(), fit: true };
        for (number, (root, &space)) in roots.list.iter().zip(&roots.spaces).enumerate() {
            let own = match *root {
                Root::Global(global) => global.index(),
                Root::Param(index) => globals.len() + index as usize,
                Root::Passed(func, index) => first[func as usize] + index as usize,
                Root::Var(func, var) => first[func as usize] + functions[func as usize].params.len() + var.index(),
            };
            let own = first_own.saturating_add(crate::ir::number(own));
            let mut tag = own;
            let mut known = Identity::Known(own, 0);
            let mut through = number;
            match root {
                Root::Global(global) if space != Space::Local => {
                    known = Identity::Known(program_identity(space, ptr_size), layout.offsets.get(global.index()).copied().unwrap_or(0));
                    let first = first_of(globals, space).map(Root::Global);
                    through = roots.list.iter().position(|&other| Some(other) == first).unwrap_or(number);
                }
                Root::Param(index) if matches!(params.get(*index as usize), Some(KernelParam::Buffer { .. })) && ptr_size == 8 => {
                    tag = 1 + index;
                    known = Identity::Argument(*index);
                }
                _ => {}
            }
            numbers.fit &= ptr_size == 8 || tag < 1 << TAG_BITS_32;
            numbers.tags.push(u64::from(tag));
            numbers.identities.push(known);
            numbers.through.push(through);
        }
        numbers
    }

    /// Returns the parameter index of a root whose identity the host passes, or `None` for other roots.
    pub(super) fn argument(&self, root: usize) -> Option<u32> {
        match self.identities[root] {
            Identity::Argument(index) => Some(index),
            Identity::Known(..) => None,
        }
    }
}

impl Resolver<'_> {
    /// Returns the value of a word of the argument buffer.
    pub(super) fn argument_word(&mut self, what: WorkItem) -> Value {
        let Self { argument_words, function, entry, .. } = self;
        *argument_words.entry(what).or_insert_with(|| function.emit(entry, Span::NONE, Type::I32, Op::WorkItem(what)))
    }

    /// Returns the identity of a root, and its byte offset in the memory with that identity.
    pub(super) fn identity(&mut self, root: usize) -> (Value, Value) {
        match self.cx.numbers.identities[root] {
            Identity::Known(tag, base) => (self.constant(Type::I32, u64::from(tag)), self.constant(Type::I32, u64::from(base))),
            Identity::Argument(index) => (self.argument_word(WorkItem::ArgIdentity(index)), self.argument_word(WorkItem::ArgBase(index))),
        }
    }

    fn sum(&mut self, out: &mut Vec<Inst>, span: Span, a: Value, b: Value) -> Value {
        let zero = self.constant(Type::I32, 0);
        match (a == zero, b == zero) {
            (true, _) => b,
            (_, true) => a,
            _ => self.at(out, span).bin(BinOp::Add, a, b),
        }
    }

    /// Returns the identity and offset of a pointer. With large offsets, the offset is the flat pointer, and the
    /// identity is 0.
    pub(super) fn identity_form(&mut self, out: &mut Vec<Inst>, span: Span, ptr: Value) -> (Value, Value) {
        let parts = self.parts(ptr);
        if self.has_large_offsets() {
            return (self.constant(Type::I32, 0), self.flat(out, span, ptr));
        }
        match parts.tag {
            Tag::Identity(tag) => (tag, parts.offset),
            Tag::Fixed(None) => (self.constant(Type::I32, 0), parts.offset),
            Tag::Fixed(Some(root)) => {
                let (tag, base) = self.identity(root);
                let offset = self.sum(out, span, base, parts.offset);
                (tag, offset)
            }
            Tag::Local(local_tag) => {
                let zero = self.constant(Type::I32, 0);
                let (mut tag, mut base) = (local_tag, zero);
                for root in self.pointers.set(ptr).roots().collect::<Vec<_>>() {
                    let number = self.cx.numbers.tags[root];
                    if matches!(self.cx.numbers.identities[root], Identity::Known(known, 0) if u64::from(known) == number) {
                        continue;
                    }
                    let (own_tag, own_base) = self.identity(root);
                    let number = self.constant(Type::I32, number);
                    let here = self.at(out, span).cmp(CmpOp::Eq, local_tag, number);
                    tag = self.at(out, span).select(here, own_tag, tag);
                    if own_base != base {
                        base = self.at(out, span).select(here, own_base, base);
                    }
                }
                let offset = self.sum(out, span, base, parts.offset);
                (tag, offset)
            }
        }
    }

    /// Emits the bits of a pointer in identity form. `into` is the value to define, if there is one.
    pub(super) fn pack(&mut self, out: &mut Vec<Inst>, span: Span, ptr: Value, into: Option<Value>) -> Value {
        if self.has_large_offsets() {
            let flat = self.flat(out, span, ptr);
            let Some(value) = into else { return flat };
            let zero = self.constant(Type::I64, 0);
            out.push(Inst { op: Op::Bin(BinOp::Or, flat, zero), results: vec![value], span });
            return value;
        }
        let (tag, offset) = self.identity_form(out, span, ptr);
        self.join(out, span, tag, offset, into)
    }

    fn join(&mut self, out: &mut Vec<Inst>, span: Span, mut tag: Value, mut offset: Value, into: Option<Value>) -> Value {
        let ty = self.integer();
        let shift = if self.cx.ptr_size == 8 { 32 } else { 32 - TAG_BITS_32 };
        if self.cx.ptr_size == 8 {
            tag = self.function.emit(out, span, ty, Op::Cast(CastOp::ZExt, tag));
            offset = self.function.emit(out, span, ty, Op::Cast(CastOp::ZExt, offset));
        } else {
            self.check_tags();
            let mask = self.constant(ty, (1 << shift) - 1);
            offset = self.at(out, span).bin(BinOp::And, offset, mask);
        }
        let amount = self.constant(ty, u64::from(shift));
        let high = self.at(out, span).bin(BinOp::Shl, tag, amount);
        let value = into.unwrap_or_else(|| self.function.new_value(ty));
        out.push(Inst { op: Op::Bin(BinOp::Or, high, offset), results: vec![value], span });
        value
    }

    fn check_tags(&mut self) {
        if !self.cx.numbers.fit {
            self.error = Some(
                "a pointer in memory or as an integer, in a kernel with too many objects for 32-bit pointers, on a device without 64-bit integers,",
            );
        }
    }

    /// Defines the pointer `ptr` by its bits.
    pub(super) fn unpack(&mut self, out: &mut Vec<Inst>, span: Span, ptr: Value, bits: Value) {
        let ty = self.integer();
        if self.has_large_offsets() {
            let tag = self.constant(Type::I32, 0);
            return self.define(ptr, Tag::Identity(tag), bits);
        }
        let shift = if self.cx.ptr_size == 8 { 32 } else { 32 - TAG_BITS_32 };
        let amount = self.constant(ty, u64::from(shift));
        let mut tag = self.at(out, span).bin(BinOp::LShr, bits, amount);
        let offset = if self.cx.ptr_size == 8 {
            tag = self.function.emit(out, span, Type::I32, Op::Cast(CastOp::Trunc, tag));
            self.function.emit(out, span, Type::I32, Op::Cast(CastOp::Trunc, bits))
        } else {
            self.check_tags();
            let mask = self.constant(ty, (1 << shift) - 1);
            self.at(out, span).bin(BinOp::And, bits, mask)
        };
        let tag = if self.pointers.has_identity(ptr) { Tag::Identity(tag) } else { Tag::Local(tag) };
        self.define(ptr, tag, offset);
    }

    /// Emits the bits of the pointer `value` for a store through `ptr`.
    pub(super) fn stored_bits(&mut self, out: &mut Vec<Inst>, span: Span, value: Value, ptr: Value) -> Value {
        if !self.cx.roots.stores_identities(self.pointers.set(ptr)) {
            let parts = self.parts(value);
            let tag = self.tag_value(parts.tag);
            return self.join(out, span, tag, parts.offset, None);
        }
        if self.cx.ptr_size == 4 {
            let buffer = |root: &Root| match root {
                Root::Param(index) => matches!(self.cx.params.get(*index as usize), Some(KernelParam::Buffer { .. })),
                _ => false,
            };
            let points_to_buffer = self.pointers.set(value).roots().any(|root| buffer(&self.cx.roots.list[root]));
            let outlives = |root: usize| matches!(self.cx.roots.spaces[root], Space::Global | Space::Constant);
            if points_to_buffer && self.pointers.set(ptr).roots().any(outlives) {
                self.error = Some("a store to global memory of a pointer that points to a buffer, on a device without 64-bit integers,");
            }
        }
        self.pack(out, span, value, None)
    }

    /// Defines the result of a cast between address spaces. A cast from the generic space is null if the pointer points
    /// to another space than that of the result.
    pub(super) fn narrow(&mut self, out: &mut Vec<Inst>, span: Span, result: Value, ptr: Value) {
        let parts = self.parts(ptr);
        let (from, to) = (self.function.ty(ptr).space(), self.function.ty(result).space());
        let kept: Vec<usize> = self.pointers.set(result).roots().collect();
        let lost = self.pointers.set(ptr).roots().any(|root| !kept.contains(&root));
        if let (Tag::Identity(_), true) = (parts.tag, self.has_large_offsets()) {
            return self.narrow_large(out, span, (result, parts.offset), (from, to), &kept);
        }
        let narrows = from == Some(Space::Generic) && to != Some(Space::Generic);
        let tag = match parts.tag {
            Tag::Local(tag) if narrows && lost => {
                let here = self.is_one_of(out, span, tag, &kept, false);
                Tag::Local(self.choose(out, span, here, tag))
            }
            Tag::Identity(tag) if narrows && self.cx.ptr_size == 8 && to == Some(Space::Global) => {
                let last = self.constant(Type::I32, u64::from(identity::VARIABLES));
                let here = self.at(out, span).cmp(CmpOp::ULe, tag, last);
                Tag::Identity(self.choose(out, span, here, tag))
            }
            Tag::Identity(tag) if narrows => {
                let here = self.is_one_of(out, span, tag, &kept, true);
                Tag::Identity(self.choose(out, span, here, tag))
            }
            tag => tag,
        };
        // A pointer with tag 0 is null for every offset.
        self.define(result, tag, parts.offset);
    }

    /// Emits `tag` if the condition `here` holds, and null otherwise.
    fn choose(&mut self, out: &mut Vec<Inst>, span: Span, here: Value, tag: Value) -> Value {
        let null = self.constant(Type::I32, 0);
        self.at(out, span).select(here, tag, null)
    }

    /// Emits a test whether `tag` is the tag of one of the roots. If `by_identity`, compares with the identities of the
    /// roots instead of the tags.
    pub(super) fn is_one_of(&mut self, out: &mut Vec<Inst>, span: Span, tag: Value, roots: &[usize], by_identity: bool) -> Value {
        let mut result = self.constant(Type::BOOL, 0);
        let mut first = true;
        for &root in roots {
            let number = if by_identity { self.identity(root).0 } else { self.constant(Type::I32, self.cx.numbers.tags[root]) };
            let here = self.at(out, span).cmp(CmpOp::Eq, tag, number);
            result = if first { here } else { self.at(out, span).bin(BinOp::Or, result, here) };
            first = false;
        }
        result
    }

    pub(super) fn compare(&mut self, out: &mut Vec<Inst>, span: Span, result: Value, (kind, a, b): (CmpOp, Value, Value)) {
        let kind = super::unsigned(kind);
        let (x, y) = (self.parts(a), self.parts(b));
        if x.tag == y.tag {
            out.push(Inst { op: Op::Cmp(kind, x.offset, y.offset), results: vec![result], span });
            return;
        }
        let null = self.constant(Type::I32, 0);
        // All pointers with tag 0 are null, so comparisons with null only compare tags.
        if let (Tag::Fixed(None), other, CmpOp::Eq | CmpOp::Ne) | (other, Tag::Fixed(None), CmpOp::Eq | CmpOp::Ne) = (x.tag, y.tag, kind) {
            let op = match other {
                Tag::Fixed(_) => Op::Const(Const::Bits(u64::from(kind == CmpOp::Ne))),
                Tag::Identity(_) if self.has_large_offsets() => {
                    let flat = if matches!(x.tag, Tag::Fixed(None)) { y.offset } else { x.offset };
                    Op::Cmp(kind, self.identity_of_flat(out, span, flat), null)
                }
                Tag::Local(tag) | Tag::Identity(tag) => Op::Cmp(kind, tag, null),
            };
            out.push(Inst { op, results: vec![result], span });
            return;
        }
        // Two arguments may be the same buffer, or parts of the same buffer. So pointers into two arguments are
        // compared by identity.
        let mut arguments: Vec<u32> =
            [a, b].iter().flat_map(|&ptr| self.pointers.set(ptr).roots().filter_map(|root| self.cx.numbers.argument(root))).collect();
        arguments.sort_unstable();
        arguments.dedup();
        let by_identity = matches!(x.tag, Tag::Identity(_)) || matches!(y.tag, Tag::Identity(_)) || arguments.len() > 1;
        let (p, q) = match (x.tag, y.tag) {
            (Tag::Fixed(p), Tag::Fixed(q))
                if !by_identity || [p, q].iter().any(|root| root.and_then(|root| self.cx.numbers.argument(root)).is_none()) =>
            {
                // The order of pointers into different objects is that of their tags.
                let of = |root: Option<usize>| root.map_or(0, |root| self.cx.numbers.tags[root]);
                let holds = match kind {
                    CmpOp::Ne => true,
                    CmpOp::ULt | CmpOp::ULe => of(p) < of(q),
                    CmpOp::UGt | CmpOp::UGe => of(p) > of(q),
                    _ => false,
                };
                out.push(Inst { op: Op::Const(Const::Bits(u64::from(holds))), results: vec![result], span });
                return;
            }
            _ if by_identity => (self.identity_form(out, span, a), self.identity_form(out, span, b)),
            _ => ((self.tag_value(x.tag), x.offset), (self.tag_value(y.tag), y.offset)),
        };
        let same = self.at(out, span).cmp(CmpOp::Eq, p.0, q.0);
        let offsets = |kind: CmpOp, pass: &mut Self, out: &mut Vec<Inst>| pass.at(out, span).cmp(kind, p.1, q.1);
        let last = match kind {
            CmpOp::Eq => Op::Bin(BinOp::And, same, offsets(CmpOp::Eq, self, out)),
            CmpOp::Ne => {
                let equal = offsets(CmpOp::Eq, self, out);
                Op::Un(UnOp::Not, self.at(out, span).bin(BinOp::And, same, equal))
            }
            _ => {
                let offsets = offsets(kind, self, out);
                let objects = self.at(out, span).cmp(kind, p.0, q.0);
                Op::Select(same, offsets, objects)
            }
        };
        out.push(Inst { op: last, results: vec![result], span });
    }

    /// Emits an access through a pointer in identity form. The code compares the pointer's identity and offset with
    /// those of each candidate root.
    pub(super) fn access_by_identity(&mut self, inst: Inst, tag: Value, offset: Value, candidates: &[usize], out: &mut Vec<Inst>) {
        let span = inst.span;
        let mut roots: Vec<usize> = candidates.iter().map(|&root| self.cx.numbers.through[root]).collect();
        roots.sort_unstable();
        roots.dedup();
        let mut found = Vec::with_capacity(roots.len());
        for root in roots {
            if self.has_large_offsets() {
                found.push(self.match_large(out, span, root, offset));
                continue;
            }
            let (own, base) = self.identity(root);
            let mut here = self.at(out, span).cmp(CmpOp::Eq, tag, own);
            let mut relative = offset;
            if let Some(index) = self.cx.numbers.argument(root) {
                relative = self.at(out, span).bin(BinOp::Sub, offset, base);
                let size = self.argument_word(WorkItem::ArgSize(index));
                let inside = self.at(out, span).cmp(CmpOp::ULt, relative, size);
                here = self.at(out, span).bin(BinOp::And, here, inside);
            }
            found.push((root, here, relative));
        }
        let mut nothing = Vec::new();
        let zeros = inst.results.iter().map(|&result| self.function.emit_bits(&mut nothing, span, self.function.ty(result), 0)).collect();
        nothing.push(Inst::effect(Op::Yield(zeros), span));
        let nothing = Region { insts: nothing };
        let by_address = self.match_by_address(&inst, &mut found, out);
        let op = if let (Some((here, then)), []) = (&by_address, &found[..]) {
            Op::If { cond: *here, then: then.clone(), els: nothing }
        } else if let (None, [(root, here, relative)]) = (&by_address, &found[..]) {
            Op::If { cond: *here, then: self.case(&inst, *root, *relative), els: nothing }
        } else {
            let mut selector = self.constant(Type::I32, 0);
            let mut cases = Vec::with_capacity(found.len());
            let others = found.into_iter().map(|(root, here, relative)| (here, self.case(&inst, root, relative)));
            let others: Vec<(Value, Region)> = others.collect();
            for (number, (here, region)) in (1_u64..).zip(by_address.into_iter().chain(others)) {
                let constant = self.constant(Type::I32, number);
                selector = self.at(out, span).select(here, constant, selector);
                cases.push((vec![number], region));
            }
            Op::Switch { selector, cases, default: nothing }
        };
        out.push(Inst { op, results: inst.results, span });
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::read::read_module;
    use crate::passes::{PassError, resolve_pointers};

    fn resolve(text: &str, ptr_size: u32) -> Result<String, PassError> {
        let mut module = read_module(text).unwrap_or_default();
        resolve_pointers::run(&mut module, ptr_size, false, &[])?;
        Ok(module.to_string())
    }

    const KEEP: &str = r#"kernel @f0 "k" (%0: ptr.global buffer, %1: ptr.global buffer) {
  var $0 "p" size=8 align=8
  %2: ptr.private = var_addr $0
  store PLACE, %1 align 4
  %3: ptr.global = load PLACE align 4
  %4: i32 = const 5
  store %3, %4 align 4
  return
}
"#;

    #[test]
    fn pointers_in_private_memory_need_no_identity() {
        for ptr_size in [4, 8] {
            let text = resolve(&KEEP.replace("PLACE", "%2"), ptr_size).unwrap_or_default();
            assert!(text.contains("ptr_add %1, ") && !text.contains("arg_identity"), "{text}");
        }
    }

    #[test]
    fn pointers_in_buffers_need_64_bit_identities() {
        let text = resolve(&KEEP.replace("PLACE", "%0"), 8).unwrap_or_default();
        assert!(text.contains("arg_identity 1") && text.contains("arg_base 1") && text.contains("arg_size 0"), "{text}");
        let refused = resolve(&KEEP.replace("PLACE", "%0"), 4);
        assert!(matches!(refused, Err(PassError::Unsupported { .. })), "{refused:?}");
    }

    #[test]
    fn comparisons_of_one_object_need_no_identity() {
        let text = r#"kernel @f0 "k" (%0: ptr.global buffer, %1: ptr.global buffer, %2: i32 value) {
  %3: ptr.global = ptr_add %0, %2
  %4: i64 = ptrtoint %0
  %5: i64 = ptrtoint %3
  %6: bool = ult %4, %5
  %7: bool = eq %0, %1
  return
}
"#;
        let text = resolve(text, 8).unwrap_or_default();
        assert!(text.contains("bool = ult %") && !text.contains("ult %4, %5"), "{text}");
        // Two arguments may be the same buffer, so their identities are compared.
        assert!(text.contains("arg_identity 1"), "{text}");
    }
}
