//! Expands `copy` and `zero` operations to loads and stores.
//!
//! ```text
//! copy $s, %p, 8 align 4       =>      %0 = load.f32 %p            (where $s is read as f32 and i32)
//!                                      store %0, $s
//!                                      %1 = load.i32 %p + 4
//!                                      store %1, $s + 4
//! ```
//! Copies from or to a private variable use the types of its other accesses, so that `sroa` can split the variable.
//! Operations on many bytes become loops.

use super::pass::Pass;
use crate::analysis::addresses::Addresses;
use crate::diag::Span;
use crate::ir::{BinOp, CmpOp, Const, Function, Inst, Op, Region, Scalar, Type, Value, Var};
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass::function("lower_memory", |function, cx| {
    run(function, cx.pointer_size());
    Ok(true)
});

/// Copies and zeroings of private variables become loops above this size in bytes.
const MAX_INLINE_PRIVATE: u32 = 512;

/// Other copies and zeroings become loops above this size in bytes.
const MAX_INLINE_OTHER: u32 = 64;

/// The types of a variable's accesses, by byte offset. Fields do not overlap.
type Fields = BTreeMap<u32, Type>;

/// Expands every [`Op::Copy`] and [`Op::Zero`] of a function. `ptr_size` is the size of a pointer in bytes.
pub(crate) fn run(function: &mut Function, ptr_size: u32) {
    let mut operations = Vec::new();
    function.body.walk(&mut |inst| match inst.op {
        Op::Copy { dst, src, size, .. } => operations.push((dst, Some(src), size)),
        Op::Zero { dst, size, .. } => operations.push((dst, None, size)),
        _ => {}
    });
    if operations.is_empty() {
        return;
    }
    let addresses = Addresses::of(function, &function.body);
    let mut fields = vec![Fields::new(); function.vars.len()];
    find_fields(function, &addresses, ptr_size, &mut fields);
    // Each repetition propagates the fields over one more copy, for chains of temporaries.
    for _ in 0..4 {
        let mut changed = false;
        for &(dst, src, size) in &operations {
            if let Some(src) = src
                && let (Some(dst), Some(src)) = (addresses.fixed(dst), addresses.fixed(src))
            {
                changed |= propagate_fields(&mut fields, dst, src, size, ptr_size);
                changed |= propagate_fields(&mut fields, src, dst, size, ptr_size);
            }
        }
        if !changed {
            break;
        }
    }
    let mut body = std::mem::take(&mut function.body);
    let mut pass = Lowering { function, addresses, fields, ptr_size };
    pass.region(&mut body);
    pass.function.body = body;
}

fn find_fields(function: &Function, addresses: &Addresses, ptr_size: u32, fields: &mut [Fields]) {
    function.body.walk(&mut |inst| {
        let (ptr, ty) = match inst.op {
            Op::Load { ptr, .. } => match inst.results.first() {
                Some(&result) => (ptr, function.ty(result)),
                None => return,
            },
            Op::Store { ptr, value, .. } => (ptr, function.ty(value)),
            _ => return,
        };
        if let Some((var, offset)) = addresses.fixed(ptr)
            && let Ok(offset) = u32::try_from(offset)
        {
            add_field(&mut fields[var.index()], offset, ty, ptr_size);
        }
    });
}

/// Adds a field, unless it overlaps another field. Returns whether it was added.
fn add_field(fields: &mut Fields, offset: u32, ty: Type, ptr_size: u32) -> bool {
    let size = ty.access_size(ptr_size);
    if size == 0 || fields.get(&offset) == Some(&ty) {
        return false;
    }
    let end = offset.saturating_add(size);
    let before = fields.range(..offset).next_back().is_some_and(|(at, ty)| at + ty.access_size(ptr_size) > offset);
    let after = fields.range(offset..end).next().is_some();
    if before || after {
        return false;
    }
    fields.insert(offset, ty);
    true
}

/// Adds the fields of the copied part of `from` to `to`. Returns whether any field was new.
fn propagate_fields(fields: &mut [Fields], to: (Var, i64), from: (Var, i64), size: u32, ptr_size: u32) -> bool {
    let mut changed = false;
    let found: Vec<(i64, Type)> = fields[from.0.index()].iter().map(|(&at, &ty)| (i64::from(at) - from.1, ty)).collect();
    for (at, ty) in found {
        if at >= 0
            && at + i64::from(ty.access_size(ptr_size)) <= i64::from(size)
            && let Ok(offset) = u32::try_from(at + to.1)
        {
            changed |= add_field(&mut fields[to.0.index()], offset, ty, ptr_size);
        }
    }
    changed
}

struct Lowering<'a> {
    function: &'a mut Function,
    addresses: Addresses,
    fields: Vec<Fields>,
    ptr_size: u32,
}

impl Lowering<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            match inst.op {
                Op::Copy { dst, src, size, align } => {
                    if dst != src {
                        self.expand(&mut out, inst.span, dst, Some(src), size, align);
                    }
                }
                Op::Zero { dst, size, align } => self.expand(&mut out, inst.span, dst, None, size, align),
                _ => {
                    for nested in inst.op.regions_mut() {
                        self.region(nested);
                    }
                    out.push(inst);
                }
            }
        }
        region.insts = out;
    }

    fn expand(&mut self, out: &mut Vec<Inst>, span: Span, dst: Value, src: Option<Value>, size: u32, align: u32) {
        let private = self.addresses.fixed(dst).is_some() || src.is_some_and(|src| self.addresses.fixed(src).is_some());
        let limit = if private { MAX_INLINE_PRIVATE } else { MAX_INLINE_OTHER };
        if size > limit {
            self.expand_to_loop(out, span, dst, src, size, align);
            return;
        }
        let mut at = 0;
        while at < size {
            let ty = self.access_type(dst, src, at, size - at, align);
            self.transfer(out, span, dst, src, (at, ty, align));
            at += ty.access_size(self.ptr_size);
        }
    }

    /// Returns the type of the load and store at byte offset `at`, if `left` bytes remain.
    fn access_type(&self, dst: Value, src: Option<Value>, at: u32, left: u32, align: u32) -> Type {
        let mut most = left;
        for pointer in src.into_iter().chain([dst]) {
            let Some((var, offset)) = self.addresses.fixed(pointer) else { continue };
            let Ok(start) = u32::try_from(offset + i64::from(at)) else { continue };
            let fields = &self.fields[var.index()];
            if let Some(&ty) = fields.get(&start)
                && ty.access_size(self.ptr_size) <= most
            {
                return ty;
            }
            if let Some((&next, _)) = fields.range(start + 1..).next() {
                most = most.min(next - start);
            }
        }
        integer(at, most, align, self.ptr_size)
    }

    fn transfer(&mut self, out: &mut Vec<Inst>, span: Span, dst: Value, src: Option<Value>, (at, ty, align): (u32, Type, u32)) {
        let align = align_at(align, at);
        let value = match src {
            Some(src) => {
                let ptr = self.offset(out, span, src, at);
                self.function.emit(out, span, ty, Op::Load { ptr, align, volatile: false })
            }
            None => match ty {
                Type::Ptr(_) => self.function.emit(out, span, ty, Op::Const(Const::Null)),
                ty => self.function.emit_bits(out, span, ty, 0),
            },
        };
        let ptr = self.offset(out, span, dst, at);
        out.push(Inst::effect(Op::Store { ptr, value, align, volatile: false }, span));
    }

    fn offset(&mut self, out: &mut Vec<Inst>, span: Span, ptr: Value, at: u32) -> Value {
        if at == 0 {
            return ptr;
        }
        let offset = self.function.emit_bits(out, span, Type::I32, u64::from(at));
        self.function.emit(out, span, self.function.ty(ptr), Op::PtrAdd(ptr, offset))
    }

    /// Emits `for (i = 0; i < size; i += unit) ...`, followed by the remainder.
    fn expand_to_loop(&mut self, out: &mut Vec<Inst>, span: Span, dst: Value, src: Option<Value>, size: u32, align: u32) {
        let ty = integer(0, size, align, self.ptr_size);
        let unit = ty.access_size(self.ptr_size);
        let whole = size - size % unit;
        let start = self.function.emit_bits(out, span, Type::I32, 0);
        let end = self.function.emit_bits(out, span, Type::I32, u64::from(whole));
        let step = self.function.emit_bits(out, span, Type::I32, u64::from(unit));
        let index = self.function.new_value(Type::I32);
        let mut body = Vec::new();
        let cond = self.function.emit(&mut body, span, Type::BOOL, Op::Cmp(CmpOp::ULt, index, end));
        let then = Region { insts: vec![Inst::effect(Op::Yield(Vec::new()), span)] };
        let els = Region { insts: vec![Inst::effect(Op::Break(Vec::new()), span)] };
        body.push(Inst::effect(Op::If { cond, then, els }, span));
        let value = match src {
            Some(src) => {
                let ptr = self.function.emit(&mut body, span, self.function.ty(src), Op::PtrAdd(src, index));
                self.function.emit(&mut body, span, ty, Op::Load { ptr, align: align_at(align, unit), volatile: false })
            }
            None => self.function.emit_bits(&mut body, span, ty, 0),
        };
        let ptr = self.function.emit(&mut body, span, self.function.ty(dst), Op::PtrAdd(dst, index));
        body.push(Inst::effect(Op::Store { ptr, value, align: align_at(align, unit), volatile: false }, span));
        let next = self.function.emit(&mut body, span, Type::I32, Op::Bin(BinOp::Add, index, step));
        body.push(Inst::effect(Op::Continue(vec![next]), span));
        out.push(Inst::effect(Op::Loop { init: vec![start], params: vec![index], body: Region { insts: body }, unroll: None }, span));
        let mut at = whole;
        while at < size {
            let ty = integer(at, size - at, align, self.ptr_size);
            self.transfer(out, span, dst, src, (at, ty, align));
            at += ty.access_size(self.ptr_size);
        }
    }
}

/// Returns the largest integer type that is aligned at offset `at` and has at most `left` bytes. The type is not larger
/// than a pointer, so that an aligned pointer is copied as one integer.
const fn integer(at: u32, left: u32, align: u32, ptr_size: u32) -> Type {
    let align = align_at(align, at);
    let scalar = if align >= 8 && left >= 8 && ptr_size == 8 {
        Scalar::I64
    } else if align >= 4 && left >= 4 {
        Scalar::I32
    } else if align >= 2 && left >= 2 {
        Scalar::I16
    } else {
        Scalar::I8
    };
    Type::Scalar(scalar)
}

/// Returns the alignment of an address that is `at` bytes after an address with alignment `align`.
const fn align_at(align: u32, at: u32) -> u32 {
    if at == 0 {
        return align;
    }
    let own = 1 << at.trailing_zeros();
    if own < align { own } else { align }
}
