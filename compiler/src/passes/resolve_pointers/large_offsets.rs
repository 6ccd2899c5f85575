//! Pointers in identity form if a buffer has more than 2 GiB. Such a pointer is one 64-bit integer, called a flat
//! pointer. It is the sum of the identity in the upper half and the offset, which may carry into the upper half. The
//! offset in [`Parts`](super::Parts) is the flat pointer, and the tag is not used.

use super::forms::Identity;
use super::{Resolver, Tag};
use crate::diag::Span;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Inst, Scalar, Space, Type, Value, WorkItem};
use crate::pointer::identity;

/// The bit position of the identity in a flat pointer.
const SHIFT: u64 = 32;

impl Resolver<'_> {
    /// Whether offsets have 64 bits.
    pub(super) fn has_large_offsets(&self) -> bool {
        self.width == Type::I64
    }

    /// Emits a pointer as a flat pointer.
    pub(super) fn flat(&mut self, out: &mut Vec<Inst>, span: Span, ptr: Value) -> Value {
        let parts = self.parts(ptr);
        let base = match parts.tag {
            Tag::Identity(_) | Tag::Fixed(None) => return parts.offset,
            Tag::Fixed(Some(root)) => self.flat_base(root),
            Tag::Local(local_tag) => {
                let mut base = self.flat_identity(out, span, local_tag);
                for root in self.pointers.set(ptr).roots().collect::<Vec<_>>() {
                    let number = self.cx.numbers.tags[root];
                    if matches!(self.cx.numbers.identities[root], Identity::Known(known, 0) if u64::from(known) == number) {
                        continue;
                    }
                    let own = self.flat_base(root);
                    let number = self.constant(Type::I32, number);
                    let here = self.at(out, span).cmp(CmpOp::Eq, local_tag, number);
                    base = self.at(out, span).select(here, own, base);
                }
                base
            }
        };
        self.at(out, span).bin(BinOp::Add, base, parts.offset)
    }

    /// Emits the identity of a flat pointer.
    pub(super) fn identity_of_flat(&mut self, out: &mut Vec<Inst>, span: Span, flat: Value) -> Value {
        let amount = self.constant(Type::I64, SHIFT);
        let high = self.at(out, span).bin(BinOp::LShr, flat, amount);
        self.at(out, span).cast(CastOp::Trunc, high, Scalar::I32)
    }

    /// Emits an identity shifted to its position in a flat pointer.
    fn flat_identity(&mut self, out: &mut Vec<Inst>, span: Span, tag: Value) -> Value {
        let wide = self.at(out, span).cast(CastOp::ZExt, tag, Scalar::I64);
        let amount = self.constant(Type::I64, SHIFT);
        self.at(out, span).bin(BinOp::Shl, wide, amount)
    }

    /// Returns the flat pointer to the first byte of a root.
    fn flat_base(&mut self, root: usize) -> Value {
        if let Identity::Known(tag, base) = self.cx.numbers.identities[root] {
            return self.constant(Type::I64, u64::from(tag) << SHIFT | u64::from(base));
        }
        if let Some(&known) = self.flat_bases.get(&root) {
            return known;
        }
        let (tag, base) = self.identity(root);
        let mut made = Vec::new();
        let high = self.flat_identity(&mut made, Span::NONE, tag);
        let low = self.at(&mut made, Span::NONE).cast(CastOp::ZExt, base, Scalar::I64);
        let flat = self.at(&mut made, Span::NONE).bin(BinOp::Or, high, low);
        self.entry.append(&mut made);
        self.flat_bases.insert(root, flat);
        flat
    }

    /// Returns the root, whether a flat pointer points into the root, and the offset in the root.
    pub(super) fn match_large(&mut self, out: &mut Vec<Inst>, span: Span, root: usize, flat: Value) -> (usize, Value, Value) {
        let Some(index) = self.cx.numbers.argument(root) else {
            let (own, _) = self.identity(root);
            let high = self.identity_of_flat(out, span, flat);
            let here = self.at(out, span).cmp(CmpOp::Eq, high, own);
            let low = self.constant(Type::I64, u64::from(u32::MAX));
            return (root, here, self.at(out, span).bin(BinOp::And, flat, low));
        };
        let base = self.flat_base(root);
        let relative = self.at(out, span).bin(BinOp::Sub, flat, base);
        let [low, high] = [WorkItem::ArgSize(index), WorkItem::ArgSizeHigh(index)].map(|half| self.argument_word(half));
        let high = self.flat_identity(out, span, high);
        let low = self.at(out, span).cast(CastOp::ZExt, low, Scalar::I64);
        let size = self.at(out, span).bin(BinOp::Or, high, low);
        (root, self.at(out, span).cmp(CmpOp::ULt, relative, size), relative)
    }

    /// Defines the result of a cast between address spaces of a flat pointer. A cast from the generic space is null if
    /// the pointer points to another space than that of the result.
    pub(super) fn narrow_large(
        &mut self,
        out: &mut Vec<Inst>,
        span: Span,
        (result, flat): (Value, Value),
        (from, to): (Option<Space>, Option<Space>),
        kept: &[usize],
    ) {
        let tag = self.constant(Type::I32, 0);
        if from != Some(Space::Generic) || to == Some(Space::Generic) {
            return self.define(result, Tag::Identity(tag), flat);
        }
        let high = self.identity_of_flat(out, span, flat);
        let here = if to == Some(Space::Global) {
            let last = self.constant(Type::I32, u64::from(identity::VARIABLES));
            self.at(out, span).cmp(CmpOp::ULe, high, last)
        } else {
            self.is_one_of(out, span, high, kept, true)
        };
        let null = self.constant(Type::I64, 0);
        let flat = self.at(out, span).select(here, flat, null);
        self.define(result, Tag::Identity(tag), flat);
    }
}
