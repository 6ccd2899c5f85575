//! Accesses that ask before they are made.
//!
//! In a kernel that is checked every work-item runs by itself ([`Shape::scalar`](super::shape::Shape::alone)), so that each address is one number. Before each access
//! [`LaunchContext::check`] is asked of it: it gives the address back, or where the bytes are not the kernel's to touch that of some which do not matter. So nothing outside is read
//! or written, and control goes its way.
//!
//! What a pointer leads into is known where it is computed from a parameter or a variable ([`Addresses`]); a pointer that control flow or memory gives may lead into anything.
//!
//! Where a NaN was made the function is told of what, one operand after the other, and finds out whether these were numbers ([`Op::NanCheck`]).
//!
//! The same function hears of what orders accesses: where a group begins, who comes to which barrier, and fences. So it knows which of two accesses is made before the other one, and whether all come to a barrier. It is
//! also given what integers are divided by.

use std::cell::RefCell;
use std::mem::offset_of;

use smallvec::{SmallVec, smallvec};
use wgcl_codegen::vir::{BinOp as VBin, CastOp as VCast, Cond, Op as VOp, Target, Terminator, Type as Register, Value as V};

use super::abi::LaunchContext;
use super::private::Place;
use super::shape::Mode;
use super::value::{Val, scalar};
use super::vectorizer::{Lowered, Vectorizer};
use crate::analysis::addresses::Addresses;
use crate::analysis::definitions::Root;
use crate::diag::Span;
use crate::internal::internal;
use crate::ir::{BinOp, CastOp, CmpOp, Fence, Function, Inst, Op, Scalar, Space, Type, Value};

/// What is done with memory, or to its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It is read.
    Load,
    /// It is read to be written elsewhere as it is.
    Copy,
    /// It is written.
    Store,
    /// It is read and written at once.
    Atomic,
    /// A work-item comes to a barrier, with its fences.
    Barrier {
        /// CLK_LOCAL_MEM_FENCE.
        local: bool,
        /// CLK_GLOBAL_MEM_FENCE.
        global: bool,
    },
    /// What all work-items of a group do together, which orders all that they do before and behind it.
    Together,
    /// A fence of a work-item's own.
    Fence,
    /// A group begins. The address is that of the arena, the object's the number of work-items and above that (from bit 32 on) the bytes of local memory, with which the arena begins.
    Begin,
    /// It is done.
    End,
    /// An integer is divided; the address is what by.
    Divide,
    /// A NaN was made of something, of which the address is the bits of a double: [`Access::Nan`] is to follow.
    NanOperand,
    /// A NaN was made of what was told of; the address is 1 more than the component of the source's vector, or 0.
    Nan,
}

impl Access {
    /// Whether there is memory that it touches.
    pub const fn touches(self) -> bool {
        matches!(self, Self::Load | Self::Copy | Self::Store | Self::Atomic)
    }

    /// Whether it changes memory.
    pub const fn writes(self) -> bool {
        matches!(self, Self::Store | Self::Atomic)
    }
}

/// What an access was meant for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// What a parameter of the kernel points to, by its number.
    Argument(u32),
    /// A variable of the source.
    Variable {
        /// Its name; empty for what the compiler has made.
        name: String,
        /// Its bytes.
        size: u32,
        /// Where it lies.
        space: Space,
    },
    /// Anything.
    Any,
}

/// An access in a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessSite {
    /// What it does.
    pub access: Access,
    /// To how many bytes.
    pub size: u32,
    /// A power of two of which the address has to be a multiple.
    pub align: u32,
    /// Whether it is `volatile`: programs tell each other so what they have done.
    pub volatile: bool,
    /// Of what.
    pub object: Object,
    /// Where the source says so.
    pub span: Span,
}

impl AccessSite {
    /// Of what touches no memory.
    const fn of(access: Access, span: Span) -> Self {
        Self { access, size: 0, align: 1, volatile: false, object: Object::Any, span }
    }
}

/// What is known of the pointers of the function that is being lowered.
pub(super) struct Sanitizer<'a> {
    addresses: Addresses,
    /// The accesses of the kernel and of all that it calls, so far.
    sites: &'a RefCell<Vec<AccessSite>>,
}

impl<'a> Sanitizer<'a> {
    /// Of a function whose accesses become sites behind those that are known.
    pub(super) fn of(function: &Function, sites: &'a RefCell<Vec<AccessSite>>) -> Self {
        Self { addresses: Addresses::of(function, &function.body), sites }
    }
}

/// What pointers were before they were checked.
pub(super) type Unchecked = SmallVec<[(Value, Option<Val>); 2]>;

/// An access that is to be asked for.
struct CheckedAccess {
    pointer: Value,
    access: Access,
    size: u32,
    align: u32,
    volatile: bool,
}

impl CheckedAccess {
    const fn plain(pointer: Value, access: Access, size: u32, align: u32) -> Self {
        Self { pointer, access, size, align, volatile: false }
    }
}

impl Vectorizer<'_> {
    /// The accesses of an instruction.
    fn accesses(&self, inst: &Inst) -> SmallVec<[CheckedAccess; 2]> {
        let bytes = |value: Value| {
            let ty = self.ir_ty(value);
            scalar(ty).size() * u32::from(ty.lanes())
        };
        match inst.op {
            Op::Load { ptr, align, volatile } => {
                let size = inst.results.first().map_or(0, |&result| bytes(result));
                smallvec![CheckedAccess { pointer: ptr, access: Access::Load, size, align, volatile }]
            }
            Op::Store { ptr, value, align, volatile } => {
                smallvec![CheckedAccess { pointer: ptr, access: Access::Store, size: bytes(value), align, volatile }]
            }
            Op::Copy { dst, src, size, align } => {
                smallvec![CheckedAccess::plain(src, Access::Copy, size, align), CheckedAccess::plain(dst, Access::Store, size, align)]
            }
            Op::Zero { dst, size, align } => smallvec![CheckedAccess::plain(dst, Access::Store, size, align)],
            Op::Atomic { ptr, ty, .. } | Op::CmpXchg { ptr, ty, .. } => {
                smallvec![CheckedAccess::plain(ptr, Access::Atomic, ty.size(), ty.size())]
            }
            _ => SmallVec::new(),
        }
    }

    /// Has the pointers of an instruction checked, which are what came of that until [`Self::uncheck`].
    pub(super) fn check(&mut self, inst: &Inst) -> Lowered<Unchecked> {
        let mut kept = Unchecked::new();
        if self.sanitizer.is_none() {
            return Ok(kept);
        }
        for checked in self.accesses(inst) {
            let (pointer, address) = (checked.pointer, self.first(checked.pointer));
            let root = self.sanitizer.as_ref().and_then(|checks| checks.addresses.root(pointer));
            let (object, base) = self.object(root)?;
            let CheckedAccess { access, size, align, volatile, .. } = checked;
            let checked = self.validate(AccessSite { access, size, align, volatile, object, span: inst.span }, address, base);
            kept.push((pointer, self.values[pointer.index()].replace(Val::Uniform(smallvec![checked]))));
        }
        match inst.op {
            Op::Barrier(Fence { local, global, image }) => self.report_event(Access::Barrier { local, global: global || image }, inst.span),
            Op::MemFence(_) => self.report_event(Access::Fence, inst.span),
            Op::Group { sub: false, .. } => self.report_event(Access::Together, inst.span),
            Op::NanCheck { ref values, part } => self.check_nan(values, part, inst.span)?,
            Op::Bin(BinOp::SDiv | BinOp::UDiv | BinOp::SRem | BinOp::URem, _, divisor) => self.check_divisor(divisor, inst.span),
            _ => {}
        }
        Ok(kept)
    }

    /// The pointers are again what they were.
    pub(super) fn uncheck(&mut self, kept: Unchecked) {
        for (pointer, val) in kept.into_iter().rev() {
            self.values[pointer.index()] = val;
        }
    }

    /// Tells that a group begins.
    pub(super) fn check_group(&mut self) {
        if self.sanitizer.is_some() {
            let sizes = self.i64(u64::from(self.shape.items()) | u64::from(self.frame.local.size) << 32);
            let base = self.frame.base;
            self.validate(AccessSite::of(Access::Begin, Span::NONE), base, sizes);
        }
    }

    /// Tells that it is done.
    pub(super) fn check_end(&mut self) {
        if self.sanitizer.is_some() {
            self.report_event(Access::End, Span::NONE);
        }
    }

    /// Tells of what the work-items of a group do together, where that is known of all at once.
    pub(super) fn check_together(&mut self) {
        if self.sanitizer.is_some() {
            self.report_event(Access::Together, Span::NONE);
        }
    }

    fn report_event(&mut self, access: Access, span: Span) {
        let zero = self.i64(0);
        self.validate(AccessSite::of(access, span), zero, zero);
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
                self.validate(AccessSite::of(Access::Divide, span), wide, zero);
            }
        }
    }

    /// Tells where a component of the first value is a NaN, and of what operands.
    fn check_nan(&mut self, values: &[Value], part: Option<u8>, span: Span) -> Lowered<()> {
        let (&result, operands) = values.split_first().ok_or_else(|| internal!("a check of nothing"))?;
        let ty = self.ir_ty(result);
        let zero = self.i64(0);
        for (lane, made) in (0..).zip(self.comps(result, Mode::Uniform)) {
            let is_nan = self.compare(CmpOp::FNe, ty, Mode::Uniform, &made, &made)[0];
            let (report, on) = (self.b.block(), self.b.block());
            self.b.end(Terminator::Branch(Cond::NonZero(is_nan), Target::new(report, []), Target::new(on, [])));
            self.b.enter(report);
            for &operand in operands {
                let (ty, mut comps) = (self.ir_ty(operand), self.comps(operand, Mode::Uniform));
                let of_lane = comps.swap_remove(if comps.len() == 1 { 0 } else { lane });
                let wide = match ty.scalar() {
                    Some(Scalar::F64) => smallvec![of_lane],
                    _ => {
                        self.cast(CastOp::FToF, Type::Scalar(scalar(ty)), Type::Scalar(Scalar::F64), Mode::Uniform, &smallvec![of_lane])?
                    }
                };
                let bits = self.here(Register::I64, VOp::Cast(VCast::Bitcast, wide[0][0]));
                let site = AccessSite { size: scalar(ty).size(), ..AccessSite::of(Access::NanOperand, span) };
                self.validate(site, bits, zero);
            }
            let lane = u8::try_from(lane).unwrap_or_default();
            let component = part.or_else(|| (ty.lanes() > 1).then_some(lane)).map_or(0, |component| u64::from(component) + 1);
            let component = self.i64(component);
            self.validate(AccessSite { size: scalar(ty).size(), ..AccessSite::of(Access::Nan, span) }, component, zero);
            self.jump(on, []);
            self.b.enter(on);
        }
        Ok(())
    }

    /// Asks of a site with an address and what that is in; the address to take in its place.
    fn validate(&mut self, site: AccessSite, address: V, base: V) -> V {
        let Some(checks) = &self.sanitizer else { return address };
        let number = checks.sites.borrow().len() as u64;
        checks.sites.borrow_mut().push(site);
        let zero = self.i32(0);
        let (group, linear) = (self.items.group.unwrap_or([zero; 3]), self.items.linear.unwrap_or(zero));
        let number = self.i64(number);
        let who = self.pair(number, linear);
        let first = self.op(Register::I64, VOp::Cast(VCast::ZExt, group[0]));
        let group_of = self.pair(first, group[1]);
        let plane = self.op(Register::I64, VOp::Cast(VCast::ZExt, group[2]));
        let (function, checker) =
            (self.launch_address(offset_of!(LaunchContext, check)), self.launch_address(offset_of!(LaunchContext, checker)));
        let args = SmallVec::from_iter([checker, address, base, who, group_of, plane]);
        self.here(Register::I64, VOp::CallHelper(function, args))
    }

    /// A number of 32 bits above one that has no more.
    fn pair(&mut self, low: V, high: V) -> V {
        let (high, by) = (self.op(Register::I64, VOp::Cast(VCast::ZExt, high)), self.i64(32));
        let high = self.op(Register::I64, VOp::Bin(VBin::Shl, high, by));
        self.op(Register::I64, VOp::Bin(VBin::Or, high, low))
    }

    /// What a pointer leads into, and where that begins; the arena, where it may be anything.
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
                let Place::Block(at) = self.frame.private.vars[var.index()] else { return Err(internal!("{var} lies in rows")) };
                let (variables, by) = (self.frame.variables, self.i64(u64::from(at)));
                Ok((variable, self.op(Register::I64, VOp::Bin(VBin::Add, variables, by))))
            }
            Some(Root::Address(_)) | None => Ok((Object::Any, self.frame.base)),
        }
    }
}
