//! Instrumented accesses: the code checks each load and store before it executes (`WGCL_CHECK`).
//!
//! In an instrumented kernel, work-items run one at a time ([`Shape::scalar`](super::shape::Shape::scalar)), so that
//! each address is a scalar. Before each access, the code calls [`LaunchContext::check`]. The function returns the
//! address, or the address of other memory if the kernel must not access these bytes. Therefore, the kernel can
//! continue without an access to memory outside of its objects.
//!
//! The object of a pointer is known if the pointer is computed from a variable or a parameter of the kernel
//! ([`Addresses`]). The object of a parameter of a called function, of a loaded pointer, or of a pointer that results
//! from control flow, is unknown.
//!
//! If an operation produces a NaN, the code reports each operand. The check function tests whether all operands were
//! numbers ([`Op::NanCheck`]). If an integer type cannot represent a converted float, the code reports the float
//! ([`Op::ConversionCheck`]). Uses of uninitialised private variables are reported if a bit of their shadow is set
//! ([`crate::passes::undefined_uses`]).
//!
//! The code also reports events that order accesses: the begin and end of a group, barriers, fences, collective
//! operations and asynchronous copies. From these, the check function determines which of two accesses happens before
//! the other, and whether all work-items reach a barrier. It also receives the divisors of integer divisions.

use std::cell::RefCell;
use std::mem::offset_of;

use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};
use wgcl_codegen::vir::{BinOp as VBin, CastOp as VCast, Cond, Op as VOp, Target, Terminator, Type as Register, Value as V};

use super::abi::LaunchContext;
use super::private::Place;
use super::shape::Mode;
use super::value::{Regs, Val, scalar};
use super::vectorizer::{Lowered, Vectorizer};
use crate::analysis::addresses::Addresses;
use crate::analysis::definitions::Root;
use crate::diag::Span;
use crate::internal::internal;
use crate::ir::{AtomicOp, BinOp, CastOp, CmpOp, Fence, Function, Inst, Op, Scalar, Space, Type, UndefinedUse, Value};

/// An access to memory, or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    Load,
    /// The load of a copy, whose bytes are stored unchanged at another address.
    Copy,
    Store,
    /// A read and write in one atomic operation.
    Atomic,
    AtomicLoad,
    /// An atomic store, or an exchange whose result is not used.
    AtomicStore,
    /// A work-item reaches a barrier. The fields are the address spaces of its fence.
    Barrier {
        local: bool,
        global: bool,
    },
    /// A collective operation of a work-group, which orders all accesses before and after it.
    Collective,
    /// A work-item reaches a collective operation of its work-group. [`Access::Collective`] follows.
    Reach,
    /// A fence of one work-item.
    Fence,
    /// A group begins. The address is that of the arena, which starts with local memory. The object is the number of
    /// work-items in the low 32 bits, and the bytes of local memory in the high 32 bits.
    Begin,
    /// A group ends.
    End,
    /// An integer division or remainder. The address is the divisor.
    Divide,
    /// An operand of an operation that produced a NaN. The address is the operand as the bits of a `double`.
    /// [`Access::Nan`] follows.
    NanOperand,
    /// An operation produced a NaN from the operands reported before. The address is 1 plus the component index of a
    /// vector, or 0 for a scalar.
    Nan,
    /// A conversion of a float to an integer that cannot represent the result. The address is the float as the bits of
    /// a `double`. The object is 1 plus the component index of a vector, or 0 for a scalar.
    Conversion {
        to: Scalar,
        signed: bool,
    },
    /// A use of a value that depends on uninitialised bytes of private variables. The object has their names.
    Undefined(UndefinedUse),
    /// A work-item begins an asynchronous copy. The address is the event or 0, and the answer is the event.
    CopyBegin,
    /// A work-item has copied its part of an asynchronous copy.
    CopyEnd,
    /// A work-item waits for the asynchronous copies with an event. The address is the event.
    CopyWait,
}

impl Access {
    /// Whether the access or event reads or writes memory. False for all events.
    pub const fn accesses_memory(self) -> bool {
        matches!(self, Self::Load | Self::Copy | Self::Store) || self.is_atomic()
    }

    /// Whether the access changes memory. False for events.
    pub const fn writes(self) -> bool {
        matches!(self, Self::Store | Self::Atomic | Self::AtomicStore)
    }

    /// Whether the kernel uses the value that the access reads. False for copies, because programs copy structures of
    /// which only some members have a value.
    pub const fn uses_value(self) -> bool {
        matches!(self, Self::Load | Self::Atomic | Self::AtomicLoad)
    }

    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::Atomic | Self::AtomicLoad | Self::AtomicStore)
    }
}

/// The object that the pointer of an access is computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// The memory that a parameter of the kernel points to. The field is the index of the parameter.
    Argument(u32),
    Variable {
        /// The name in the source. Empty for variables that the compiler created.
        name: String,
        size: u32,
        space: Space,
    },
    Any,
}

/// An instrumented access or event of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessSite {
    pub access: Access,
    /// The number of bytes.
    pub size: u32,
    /// The alignment that the address must have, a power of two.
    pub align: u32,
    /// Whether the access is `volatile`: programs use such accesses to communicate.
    pub volatile: bool,
    pub object: Object,
    pub span: Span,
}

impl AccessSite {
    /// Creates a site that accesses no memory.
    const fn of(access: Access, span: Span) -> Self {
        Self { access, size: 0, align: 1, volatile: false, object: Object::Any, span }
    }
}

/// The pointers of the current function, and the sites of the kernel.
pub(super) struct Sanitizer<'a> {
    addresses: Addresses,
    /// All operands of instructions.
    operands: FxHashSet<Value>,
    /// All sites, of the kernel and of the functions that it calls.
    sites: &'a RefCell<Vec<AccessSite>>,
}

impl<'a> Sanitizer<'a> {
    /// Creates the state for a function. Its sites are appended to `sites`.
    pub(super) fn of(function: &Function, sites: &'a RefCell<Vec<AccessSite>>) -> Self {
        let mut operands = FxHashSet::default();
        function.body.walk(&mut |inst| inst.op.for_each_operand(|operand| _ = operands.insert(operand)));
        Self { addresses: Addresses::of(function, &function.body), operands, sites }
    }

    /// The kind of an access of an instruction.
    fn kind_of(&self, access: Access, inst: &Inst) -> Access {
        let is_exchange = matches!(inst.op, Op::Atomic { op: AtomicOp::Xchg, .. });
        if is_exchange && !inst.results.iter().any(|result| self.operands.contains(result)) { Access::AtomicStore } else { access }
    }
}

/// The original values of pointers that [`Vectorizer::emit_checks`] has replaced by checked pointers.
pub(super) type Unchecked = SmallVec<[(Value, Option<Val>); 2]>;

/// An access to memory.
pub(super) struct MemoryAccess {
    pub pointer: Value,
    pub access: Access,
    /// The number of bytes.
    pub size: u32,
    align: u32,
    volatile: bool,
}

impl MemoryAccess {
    const fn non_volatile(pointer: Value, access: Access, size: u32, align: u32) -> Self {
        Self { pointer, access, size, align, volatile: false }
    }
}

/// Returns the memory accesses of an instruction.
pub(super) fn accesses_of(function: &Function, inst: &Inst) -> SmallVec<[MemoryAccess; 2]> {
    let bytes = |value: Value| {
        let ty = function.ty(value);
        scalar(ty).size() * u32::from(ty.lanes())
    };
    match inst.op {
        Op::Load { ptr, align, volatile } => {
            let size = inst.results.first().map_or(0, |&result| bytes(result));
            smallvec![MemoryAccess { pointer: ptr, access: Access::Load, size, align, volatile }]
        }
        Op::Store { ptr, value, align, volatile } => {
            smallvec![MemoryAccess { pointer: ptr, access: Access::Store, size: bytes(value), align, volatile }]
        }
        Op::Copy { dst, src, size, align } => {
            smallvec![
                MemoryAccess::non_volatile(src, Access::Copy, size, align),
                MemoryAccess::non_volatile(dst, Access::Store, size, align)
            ]
        }
        Op::Zero { dst, size, align } => smallvec![MemoryAccess::non_volatile(dst, Access::Store, size, align)],
        Op::Atomic { op, ptr, ty, .. } => {
            let access = match op {
                AtomicOp::Load => Access::AtomicLoad,
                AtomicOp::Store => Access::AtomicStore,
                _ => Access::Atomic,
            };
            smallvec![MemoryAccess::non_volatile(ptr, access, ty.size(), ty.size())]
        }
        Op::CmpXchg { ptr, ty, .. } => smallvec![MemoryAccess::non_volatile(ptr, Access::Atomic, ty.size(), ty.size())],
        _ => SmallVec::new(),
    }
}

impl Vectorizer<'_> {
    /// Emits the checks of an instruction. Replaces its pointers by the results of the check function, until
    /// [`Self::restore_pointers`].
    pub(super) fn emit_checks(&mut self, inst: &Inst) -> Lowered<Unchecked> {
        let mut kept = Unchecked::new();
        if self.sanitizer.is_none() {
            return Ok(kept);
        }
        for checked in accesses_of(self.function, inst) {
            let (pointer, address) = (checked.pointer, self.first(checked.pointer));
            let root = self.sanitizer.as_ref().and_then(|checks| checks.addresses.root(pointer));
            let (object, base) = self.object(root)?;
            let MemoryAccess { access, size, align, volatile, .. } = checked;
            let access = self.sanitizer.as_ref().map_or(access, |checks| checks.kind_of(access, inst));
            let checked = self.call_check(AccessSite { access, size, align, volatile, object, span: inst.span }, address, base);
            kept.push((pointer, self.values[pointer.index()].replace(Val::Uniform(smallvec![checked]))));
        }
        match inst.op {
            Op::Barrier(Fence { local, global, image }) => self.report_event(Access::Barrier { local, global: global || image }, inst.span),
            Op::MemFence(_) => self.report_event(Access::Fence, inst.span),
            // A scan. `group::collective` reports the other operations.
            Op::Group { sub: false, .. } => {
                self.report_event(Access::Reach, inst.span);
                self.report_event(Access::Collective, inst.span);
            }
            Op::NanCheck { ref values, part } => self.check_nan(values, part, inst.span)?,
            Op::AsyncCopyBegin(event) => {
                let event = self.report_copy(Access::CopyBegin, event, inst.span);
                let event = self.op(Register::I32, VOp::Cast(VCast::Trunc, event));
                inst.results.iter().for_each(|&result| self.define(result, Val::Uniform(smallvec![event])));
            }
            Op::AsyncCopyEnd => self.report_event(Access::CopyEnd, inst.span),
            Op::AsyncCopyWait(event) => _ = self.report_copy(Access::CopyWait, event, inst.span),
            Op::UndefinedUse { what, ref names } => {
                let zero = self.i64(0);
                let object = Object::Variable { name: names.join("' or '"), size: 0, space: Space::Private };
                self.call_check(AccessSite { object, ..AccessSite::of(Access::Undefined(what), inst.span) }, zero, zero);
            }
            Op::ConversionCheck { value, to, signed } => self.check_conversion(value, to, signed, inst.span)?,
            Op::Bin(BinOp::SDiv | BinOp::UDiv | BinOp::SRem | BinOp::URem, _, divisor) => self.check_divisor(divisor, inst.span),
            _ => {}
        }
        Ok(kept)
    }

    /// Restores the pointers that [`Self::emit_checks`] has replaced.
    pub(super) fn restore_pointers(&mut self, kept: Unchecked) {
        for (pointer, val) in kept.into_iter().rev() {
            self.values[pointer.index()] = val;
        }
    }

    /// Reports that a group begins.
    pub(super) fn report_group_begin(&mut self) {
        if self.sanitizer.is_some() {
            let sizes = self.i64(u64::from(self.shape.items()) | u64::from(self.frame.local.size) << 32);
            let base = self.frame.base;
            self.call_check(AccessSite::of(Access::Begin, Span::NONE), base, sizes);
        }
    }

    /// Reports that the group ends.
    pub(super) fn report_group_end(&mut self) {
        if self.sanitizer.is_some() {
            self.report_event(Access::End, Span::NONE);
        }
    }

    /// Reports a collective operation once for the whole group.
    pub(super) fn report_collective(&mut self) {
        if self.sanitizer.is_some() {
            self.report_event(Access::Collective, Span::NONE);
        }
    }

    /// Reports that the current work-item reaches a collective operation.
    pub(super) fn report_reach(&mut self, span: Span) {
        if self.sanitizer.is_some() {
            self.report_event(Access::Reach, span);
        }
    }

    fn report_event(&mut self, access: Access, span: Span) {
        let zero = self.i64(0);
        self.call_check(AccessSite::of(access, span), zero, zero);
    }

    /// Reports the begin of a copy, or a wait. Returns the answer of the check function.
    fn report_copy(&mut self, access: Access, event: Value, span: Span) -> V {
        let (event, zero) = (self.first(event), self.i64(0));
        let event = self.op(Register::I64, VOp::Cast(VCast::ZExt, event));
        self.call_check(AccessSite::of(access, span), event, zero)
    }

    fn check_divisor(&mut self, divisor: Value, span: Span) {
        let (ty, zero) = (scalar(self.ir_ty(divisor)), self.i64(0));
        for part in self.comps(divisor, Mode::Uniform) {
            for number in part {
                if self.constant_bits(number).is_some_and(|bits| bits != 0) {
                    continue;
                }
                let mut wide = if ty == Scalar::I64 { number } else { self.op(Register::I64, VOp::Cast(VCast::ZExt, number)) };
                if ty.size() < 4 {
                    let mask = self.i64((1 << (8 * ty.size())) - 1);
                    wide = self.op(Register::I64, VOp::Bin(VBin::And, wide, mask));
                }
                self.call_check(AccessSite::of(Access::Divide, span), wide, zero);
            }
        }
    }

    /// Emits the check of a NaN: for each component of the first value that is a NaN, reports the operands.
    fn check_nan(&mut self, values: &[Value], part: Option<u8>, span: Span) -> Lowered<()> {
        let (&result, operands) = values.split_first().ok_or_else(|| internal!("a NaN check without values"))?;
        let ty = self.ir_ty(result);
        let zero = self.i64(0);
        for (lane, made) in (0..).zip(self.comps(result, Mode::Uniform)) {
            let is_nan = self.compare(CmpOp::FNe, ty, Mode::Uniform, &made, &made)[0];
            let (report, on) = (self.b.block(), self.b.block());
            self.b.end(Terminator::Branch(Cond::NonZero(is_nan), Target::new(report, []), Target::new(on, [])));
            self.b.enter(report);
            for &operand in operands {
                let (ty, mut comps) = (self.ir_ty(operand), self.comps(operand, Mode::Uniform));
                let wide = self.as_double(scalar(ty), comps.swap_remove(if comps.len() == 1 { 0 } else { lane }))?;
                let bits = self.emit(Register::I64, VOp::Cast(VCast::Bitcast, wide[0]));
                let site = AccessSite { size: scalar(ty).size(), ..AccessSite::of(Access::NanOperand, span) };
                self.call_check(site, bits, zero);
            }
            let lane = u8::try_from(lane).unwrap_or_default();
            let component = part.or_else(|| (ty.lanes() > 1).then_some(lane)).map_or(0, |component| u64::from(component) + 1);
            let component = self.i64(component);
            self.call_check(AccessSite { size: scalar(ty).size(), ..AccessSite::of(Access::Nan, span) }, component, zero);
            self.jump(on, []);
            self.b.enter(on);
        }
        Ok(())
    }

    /// Emits the check of a conversion: reports each component that the integer type cannot represent.
    fn check_conversion(&mut self, value: Value, to: Scalar, signed: bool, span: Span) -> Lowered<()> {
        let ty = self.ir_ty(value);
        let (low, high) = to.convertible_doubles(signed);
        let [low, high] = [low, high].map(|limit| self.number(Scalar::F64, Mode::Uniform, limit.to_bits()));
        for (lane, float) in (0_u64..).zip(self.comps(value, Mode::Uniform)) {
            let wide = self.as_double(scalar(ty), float)?;
            // Both comparisons are false for a NaN.
            let above = self.compare(CmpOp::FGt, Type::Scalar(Scalar::F64), Mode::Uniform, &wide, &low)[0];
            let below = self.compare(CmpOp::FLt, Type::Scalar(Scalar::F64), Mode::Uniform, &wide, &high)[0];
            let converts = self.op(Register::I32, VOp::Bin(VBin::And, above, below));
            let (report, on) = (self.b.block(), self.b.block());
            self.b.end(Terminator::Branch(Cond::NonZero(converts), Target::new(on, []), Target::new(report, [])));
            self.b.enter(report);
            let bits = self.emit(Register::I64, VOp::Cast(VCast::Bitcast, wide[0]));
            let component = self.i64(if ty.lanes() > 1 { lane + 1 } else { 0 });
            let site = AccessSite { size: scalar(ty).size(), ..AccessSite::of(Access::Conversion { to, signed }, span) };
            self.call_check(site, bits, component);
            self.jump(on, []);
            self.b.enter(on);
        }
        Ok(())
    }

    /// Converts a float to a `double`.
    fn as_double(&mut self, from: Scalar, float: Regs) -> Lowered<Regs> {
        if from == Scalar::F64 {
            return Ok(float);
        }
        let mut wide = self.cast(CastOp::FToF, Type::Scalar(from), Type::Scalar(Scalar::F64), Mode::Uniform, &smallvec![float])?;
        Ok(wide.swap_remove(0))
    }

    /// Calls the check function for a new site. `base` is the address of the object. Returns the address to access.
    fn call_check(&mut self, site: AccessSite, address: V, base: V) -> V {
        let Some(checks) = &self.sanitizer else { return address };
        let number = checks.sites.borrow().len() as u64;
        checks.sites.borrow_mut().push(site);
        let zero = self.i32(0);
        let (group, linear) = (self.items.group.unwrap_or([zero; 3]), self.items.linear.unwrap_or(zero));
        let number = self.i64(number);
        let work_item = self.pair(number, linear);
        let first = self.op(Register::I64, VOp::Cast(VCast::ZExt, group[0]));
        let group_of = self.pair(first, group[1]);
        let plane = self.op(Register::I64, VOp::Cast(VCast::ZExt, group[2]));
        let (function, checker) =
            (self.launch_address(offset_of!(LaunchContext, check)), self.launch_address(offset_of!(LaunchContext, checker)));
        let args = SmallVec::from_iter([checker, address, base, work_item, group_of, plane]);
        self.emit(Register::I64, VOp::CallHelper(function, args))
    }

    /// Computes `low + (high << 32)`, for a `low` below 2^32.
    fn pair(&mut self, low: V, high: V) -> V {
        let (high, by) = (self.op(Register::I64, VOp::Cast(VCast::ZExt, high)), self.i64(32));
        let high = self.op(Register::I64, VOp::Bin(VBin::Shl, high, by));
        self.op(Register::I64, VOp::Bin(VBin::Or, high, low))
    }

    /// Returns the object that a pointer points into, and the address of the object. If the object is unknown, the
    /// address is that of the arena.
    fn object(&mut self, root: Option<Root>) -> Lowered<(Object, V)> {
        match root {
            Some(Root::Param(index)) => {
                let param = self.function.params.get(index as usize).copied().ok_or_else(|| internal!("no parameter {index}"))?;
                Ok((Object::Argument(index), self.first(param)))
            }
            Some(Root::Global(global)) => {
                let object = self.module.globals.get(global.index()).ok_or_else(|| internal!("no object {global}"))?;
                let variable = Object::Variable { name: object.name.clone(), size: object.size, space: object.space };
                Ok((variable, self.global_addr(global)?))
            }
            Some(Root::Var(_, var)) => {
                let data = &self.function.vars[var.index()];
                let variable = Object::Variable { name: data.name.clone(), size: data.size, space: Space::Private };
                let Place::ItemMajor(at) = self.frame.private.vars[var.index()] else {
                    return Err(internal!("{var} has element-major layout, which the sanitizer does not expect"));
                };
                let (variables, by) = (self.frame.variables, self.i64(u64::from(at)));
                Ok((variable, self.op(Register::I64, VOp::Bin(VBin::Add, variables, by))))
            }
            Some(Root::Address(_)) | None => Ok((Object::Any, self.frame.base)),
        }
    }
}
