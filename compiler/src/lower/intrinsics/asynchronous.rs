//! Async copies (6.15.11). The work-items of the group divide the elements. Waiting for the event is a barrier.
//!
//! For the sanitizer, a copy has marks, which let it find accesses before the wait:
//! ```text
//! e = async_work_group_copy(d, s, n, 0)     %e = async_copy_begin 0; loop { ... }; async_copy_end
//! wait_group_events(1, &e)                  loop { async_copy_wait %e }; barrier local global
//! ```

use super::super::function::Lowering;
use super::super::lvalue::lane_size;
use super::super::types::{ArithType, scalar};
use super::Call;
use crate::ir::{BinOp, CastOp, CmpOp, Fence, Op, Scalar, Space, Type, Value};

/// The operands of a copy of lines. The copied elements fit local memory, so their counts are `i32`. Offsets and steps
/// may exceed 32 bits in global memory, so they have the size of a pointer.
struct Lines {
    dst: Value,
    src: Value,
    /// In elements, like `src_offset`.
    dst_offset: Value,
    src_offset: Value,
    /// Size of an element in bytes (`i32`).
    bytes: Value,
    per_line: Value,
    lines: Value,
    planes: Value,
    /// Distances between lines and between planes, in elements.
    src_steps: [Value; 2],
    dst_steps: [Value; 2],
}

impl<'p> Lowering<'p, '_> {
    /// Lowers a copy of contiguous or strided elements. Arguments: destination, source, number of elements, stride if
    /// `strided`, event.
    pub(super) fn async_copy(&mut self, call: &Call<'p>, strided: bool) -> Value {
        let (dst, src, count) = (self.value(call, 0), self.value(call, 1), self.value(call, 2));
        let event = self.value(call, if strided { 4 } else { 3 });
        let event = self.begin_copy(event);
        let pointee = self.pointee(call, 0);
        // A vector of three lanes is copied as four lanes, because it occupies the memory of four.
        let element = ArithType::new(pointee.kind, if pointee.lanes == 3 { 4 } else { pointee.lanes });
        let size = lane_size(element) * u32::from(element.lanes);
        let size_ty = self.pointer_int();
        let stride = strided.then(|| {
            let stride = self.value(call, 3);
            self.b.resize(stride, false, size_ty)
        });
        let count = self.b.resize(count, false, Type::I32);
        let mut first = self.local_linear_id();
        let step = self.group_size();
        // Bytes in global memory are accessed as parts of words. So are shorts on devices without 16-bit storage. Such
        // elements are copied as whole words, which is faster.
        let narrow = lane_size(element) == 1 || !self.shared.target.language.short_elements;
        if stride.is_none() && size < 4 && narrow {
            let words = self.copy_words(dst, src, count, element);
            first = self.b.add(first, words);
        }

        self.emit_loop(first, count, step, |this, index| {
            let strided_index = match stride {
                Some(stride) => {
                    let index = this.b.resize(index, false, size_ty);
                    this.b.mul(index, stride)
                }
                None => index,
            };
            let from_global = this.b.ty(src) == Type::Ptr(Space::Global);
            let (to, from) = if from_global { (index, strided_index) } else { (strided_index, index) };
            let to = this.element_address(dst, to, false, size, false);
            let from = this.element_address(src, from, false, size, false);
            let value = this.b.load(from, element.ir(), size, false);
            this.b.store(to, value, size, false);
        });
        self.end_copy();
        event
    }

    /// Returns the event of a copy with the event argument `event`.
    fn begin_copy(&mut self, event: Value) -> Value {
        if self.shared.target.marks_async_copies { self.b.emit(Op::AsyncCopyBegin(event), Type::I32) } else { event }
    }

    fn end_copy(&mut self) {
        if self.shared.target.marks_async_copies {
            self.b.effect(Op::AsyncCopyEnd);
        }
    }

    /// Copies elements smaller than a word as words, if the global pointer is aligned to words. Local memory is
    /// accessed by element, because its elements may be stored in another layout than their addresses imply. Returns
    /// the number of copied elements.
    fn copy_words(&mut self, dst: Value, src: Value, count: Value, element: ArithType) -> Value {
        let size = lane_size(element) * u32::from(element.lanes);
        let per_word = 4 / size;
        let from_global = self.b.ty(src) == Type::Ptr(Space::Global);
        let global = if from_global { src } else { dst };
        let address = self.pointer_int();
        let address = self.b.cast(CastOp::PtrToInt, global, address);
        let address = self.b.resize(address, false, Type::I32);
        let low = self.b.bin_int(BinOp::And, address, 3);
        let aligned = self.b.cmp_int(CmpOp::Eq, low, 0);
        let all = self.b.bin_int(BinOp::UDiv, count, i64::from(per_word));
        let none = self.b.i32(0);
        let words = self.b.select(aligned, all, none);
        let first = self.local_linear_id();
        let step = self.group_size();
        let bits = Type::of(scalar(element.kind), (4 / lane_size(element)) as u8);
        self.emit_loop(first, words, step, |this, index| {
            let word = this.element_address(global, index, false, 4, false);
            let start = this.b.bin_int(BinOp::Mul, index, i64::from(per_word));
            let local = this.element_address(if from_global { dst } else { src }, start, false, size, false);
            let mut lanes = Vec::new();
            let whole = from_global.then(|| this.b.load(word, bits, 4, false));
            for number in 0..per_word as u8 {
                let address = this.b.offset(local, i64::from(u32::from(number) * size));
                match whole {
                    Some(whole) => {
                        let element_lanes: Vec<u8> = (0..element.lanes).map(|lane| number * element.lanes + lane).collect();
                        let value = this.b.lanes(whole, &element_lanes);
                        this.b.store(address, value, size, false);
                    }
                    None => {
                        let value = this.b.load(address, element.ir(), size, false);
                        lanes.extend((0..element.lanes).map(|lane| this.b.extract(value, lane)));
                    }
                }
            }
            if !from_global {
                let whole = this.b.construct(&lanes);
                this.b.store(word, whole, 4, false);
            }
        });
        self.b.bin_int(BinOp::Mul, words, i64::from(per_word))
    }

    /// Lowers `async_work_group_copy_2D2D` and `_3D3D`. Copies units of 2 or 4 bytes if the element size is a constant
    /// multiple of the unit. A run-time test checks that both pointers are aligned to the unit. Otherwise bytes are
    /// copied.
    pub(super) fn async_copy_lines(&mut self, call: &Call<'p>, planes: bool) -> Value {
        let size_ty = self.pointer_int();
        let number = |this: &mut Self, index: usize, ty: Type| {
            let value = this.value(call, index);
            this.b.resize(value, false, ty)
        };
        let (dst, src) = (self.value(call, 0), self.value(call, 2));
        let [dst_offset, src_offset] = [1, 3].map(|index| number(self, index, size_ty));
        let [bytes, per_line, lines] = [4, 5, 6].map(|index| number(self, index, Type::I32));
        let copy = if planes {
            let planes = number(self, 7, Type::I32);
            let [src_line, src_plane, dst_line, dst_plane] = [8, 9, 10, 11].map(|index| number(self, index, size_ty));
            let (src_steps, dst_steps) = ([src_line, src_plane], [dst_line, dst_plane]);
            Lines { dst, src, dst_offset, src_offset, bytes, per_line, lines, planes, src_steps, dst_steps }
        } else {
            let [src_line, dst_line] = [7, 8].map(|index| number(self, index, size_ty));
            let (planes, zero) = (self.b.i32(1), self.b.int(size_ty, 0));
            let (src_steps, dst_steps) = ([src_line, zero], [dst_line, zero]);
            Lines { dst, src, dst_offset, src_offset, bytes, per_line, lines, planes, src_steps, dst_steps }
        };
        let event = self.value(call, if planes { 12 } else { 9 });
        let event = self.begin_copy(event);
        let unit = match self.b.known(bytes) {
            Some(known) if known != 0 => 1_u32 << known.trailing_zeros().min(2),
            _ => 1,
        };
        if unit == 1 {
            self.copy_lines(&copy, 1);
            self.end_copy();
            return event;
        }
        let word = if self.shared.target.language.int64 { Type::I64 } else { Type::I32 };
        let (to, from) = (self.b.cast(CastOp::PtrToInt, dst, word), self.b.cast(CastOp::PtrToInt, src, word));
        let both = self.b.or(to, from);
        let low = self.b.bin_int(BinOp::And, both, i64::from(unit) - 1);
        let aligned = self.b.cmp_int(CmpOp::Eq, low, 0);
        self.branch(aligned, |this| this.copy_lines(&copy, unit), |this| this.copy_lines(&copy, 1));
        self.end_copy();
        event
    }

    /// Divides the elements among the work-items. An element is copied in units of `unit` bytes.
    fn copy_lines(&mut self, copy: &Lines, unit: u32) {
        let size_ty = self.pointer_int();
        let element_bytes = self.b.resize(copy.bytes, false, size_ty);
        let plane = self.b.mul(copy.per_line, copy.lines);
        let total = self.b.mul(plane, copy.planes);
        let first = self.local_linear_id();
        let step = self.group_size();
        self.emit_loop(first, total, step, |this, index| {
            let column = this.b.bin(BinOp::URem, index, copy.per_line);
            let row = this.b.bin(BinOp::UDiv, index, copy.per_line);
            let line = this.b.bin(BinOp::URem, row, copy.lines);
            let plane = this.b.bin(BinOp::UDiv, row, copy.lines);
            let [column, line, plane] = [column, line, plane].map(|count| this.b.resize(count, false, size_ty));
            let address_of = |this: &mut Self, base: Value, offset: Value, steps: [Value; 2]| {
                let (lines, planes) = (this.b.mul(line, steps[0]), this.b.mul(plane, steps[1]));
                let element = this.b.add(offset, column);
                let element = this.b.add(element, lines);
                let element = this.b.add(element, planes);
                let bytes = this.b.mul(element, element_bytes);
                let ty = this.b.ty(base);
                this.b.emit(Op::PtrAdd(base, bytes), ty)
            };
            let to = address_of(this, copy.dst, copy.dst_offset, copy.dst_steps);
            let from = address_of(this, copy.src, copy.src_offset, copy.src_steps);
            let (zero, piece) = (this.b.i32(0), this.b.i32(unit as i32));
            let ty = Type::Scalar(Scalar::int_of_size(unit).unwrap_or(Scalar::I8));
            this.emit_loop(zero, copy.bytes, piece, |this, at| {
                let (to_ty, from_ty) = (this.b.ty(to), this.b.ty(from));
                let to = this.b.emit(Op::PtrAdd(to, at), to_ty);
                let from = this.b.emit(Op::PtrAdd(from, at), from_ty);
                let value = this.b.load(from, ty, unit, false);
                this.b.store(to, value, unit, false);
            });
        });
    }

    /// Emits `for (index = first; index < end; index += step) body`.
    fn emit_loop(&mut self, first: Value, end: Value, step: Value, body: impl FnOnce(&mut Self, Value)) {
        let var = self.b.temporary(4, 4);
        let at = self.b.var_addr(var);
        self.b.store(at, first, 4, false);
        self.b.open();
        let index = self.b.load(at, Type::I32, 4, false);
        let inside = self.b.cmp(CmpOp::ULt, index, end);
        self.branch(inside, |_| (), |this| this.b.effect(Op::Break(Vec::new())));
        body(self, index);
        let next = self.b.add(index, step);
        self.b.store(at, next, 4, false);
        let body = self.b.close(Op::Continue(Vec::new()));
        self.b.loop_(body, None);
    }

    pub(super) fn wait_group_events(&mut self, call: &Call<'p>) -> Option<Value> {
        if self.shared.target.marks_async_copies {
            let (count, list) = (self.value(call, 0), self.value(call, 1));
            let (first, step) = (self.b.i32(0), self.b.i32(1));
            let size = self.shared.program.types.pointer_size();
            self.emit_loop(first, count, step, |this, index| {
                let event = this.element_address(list, index, false, size, false);
                let event = this.b.load(event, Type::I32, 4, false);
                this.b.effect(Op::AsyncCopyWait(event));
            });
        }
        self.b.effect(Op::Barrier(Fence { local: true, global: true, image: false }));
        None
    }
}
