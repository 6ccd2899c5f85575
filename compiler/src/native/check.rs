//! Accesses that ask before they are made.
//!
//! In a kernel that is checked every work-item runs by itself ([`Shape::alone`](super::shape::Shape::alone)), so that each address is one number. Before each access
//! [`LaunchContext::check`] is asked of it: it gives the address back, or where the bytes are not the kernel's to touch that of some which do not matter. So nothing outside is read
//! or written, and control goes its way.
//!
//! What a pointer leads into is known where it is computed from a parameter or a variable ([`Addresses`]); a pointer that control flow or memory gives may lead into anything.

use std::cell::RefCell;
use std::mem::offset_of;

use smallvec::{SmallVec, smallvec};
use wgcl_codegen::vir::{BinOp as VBin, CastOp as VCast, Op as VOp, Type as Register, Value as V};

use super::abi::LaunchContext;
use super::lower::{Lower, Lowered};
use super::private::Place;
use super::value::{Val, scalar};
use crate::analysis::addresses::Addresses;
use crate::analysis::definitions::Root;
use crate::diag::Span;
use crate::internal::internal;
use crate::ir::{Function, Inst, Op, Space, Value};

/// What is done with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It is read.
    Load,
    /// It is written.
    Store,
    /// It is read and written at once.
    Atomic,
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
pub struct Site {
    /// What it does.
    pub access: Access,
    /// To how many bytes.
    pub size: u32,
    /// Of what.
    pub object: Object,
    /// Where the source says so.
    pub span: Span,
}

/// What is known of the pointers of the function that is being lowered.
pub(super) struct Checks<'a> {
    addresses: Addresses,
    /// The accesses of the kernel and of all that it calls, so far.
    sites: &'a RefCell<Vec<Site>>,
}

impl<'a> Checks<'a> {
    /// Of a function whose accesses become sites behind those that are known.
    pub(super) fn of(function: &Function, sites: &'a RefCell<Vec<Site>>) -> Self {
        Self { addresses: Addresses::of(function, &function.body), sites }
    }
}

/// What pointers were before they were checked.
pub(super) type Unchecked = SmallVec<[(Value, Option<Val>); 2]>;

impl Lower<'_> {
    /// The accesses of an instruction: their pointers, what they do and how many bytes they touch.
    fn accesses(&self, inst: &Inst) -> SmallVec<[(Value, Access, u32); 2]> {
        let bytes = |value: Value| {
            let ty = self.ir_ty(value);
            scalar(ty).size() * u32::from(ty.lanes())
        };
        match inst.op {
            Op::Load { ptr, .. } => smallvec![(ptr, Access::Load, inst.results.first().map_or(0, |&result| bytes(result)))],
            Op::Store { ptr, value, .. } => smallvec![(ptr, Access::Store, bytes(value))],
            Op::Copy { dst, src, size, .. } => smallvec![(src, Access::Load, size), (dst, Access::Store, size)],
            Op::Zero { dst, size, .. } => smallvec![(dst, Access::Store, size)],
            Op::Atomic { ptr, ty, .. } | Op::CmpXchg { ptr, ty, .. } => smallvec![(ptr, Access::Atomic, ty.size())],
            _ => SmallVec::new(),
        }
    }

    /// Has the pointers of an instruction checked, which are what came of that until [`Self::uncheck`].
    pub(super) fn check(&mut self, inst: &Inst) -> Lowered<Unchecked> {
        let mut kept = Unchecked::new();
        if self.checks.is_none() {
            return Ok(kept);
        }
        for (pointer, access, size) in self.accesses(inst) {
            let address = self.first(pointer);
            let checked = self.checked_address((pointer, address), access, size, inst.span)?;
            kept.push((pointer, self.values[pointer.index()].replace(Val::Uniform(smallvec![checked]))));
        }
        Ok(kept)
    }

    /// The pointers are again what they were.
    pub(super) fn uncheck(&mut self, kept: Unchecked) {
        for (pointer, val) in kept.into_iter().rev() {
            self.values[pointer.index()] = val;
        }
    }

    fn checked_address(&mut self, (pointer, address): (Value, V), access: Access, size: u32, span: Span) -> Lowered<V> {
        let root = self.checks.as_ref().and_then(|checks| checks.addresses.root(pointer));
        let (object, base) = self.object(root)?;
        let Some(checks) = &self.checks else { return Ok(address) };
        let number = checks.sites.borrow().len() as u64;
        checks.sites.borrow_mut().push(Site { access, size, object, span });
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
        Ok(self.here(Register::I64, VOp::CallHelper(function, args)))
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
