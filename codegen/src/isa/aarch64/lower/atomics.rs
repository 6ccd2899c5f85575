//! Atomic operations, fences and prefetches.
//!
//! The atomic instructions of LSE (Armv8.1) with acquire and release semantics are sequentially consistent, as the
//! vector IR requires. Without LSE, one [`MachInst`] expands to a loop of exclusive accesses and a barrier.

use regalloc2::VReg;

use super::super::inst::{Exclusive, Field, InstBuilder, MachInst, exclusive_operands};
use super::super::table as t;
use super::context::Lower;
use crate::target::A64Level;
use crate::vir::{Addr, Mem, Value};

impl Lower<'_> {
    fn has_lse(&self) -> bool {
        self.level >= A64Level::V82
    }

    fn exclusive(&mut self, kind: Exclusive, mem: Mem, operands: &[VReg]) -> VReg {
        let to = self.int();
        self.add(MachInst::Exclusive(kind, mem.bytes() as u8), &exclusive_operands(to, operands));
        to
    }

    pub(super) fn atomic_add(&mut self, mem: Mem, addr: &Addr, value: Value) -> VReg {
        let (value, at) = (self.reg(value), self.address(addr));
        if self.has_lse() {
            return self.result(InstBuilder::new(t::LDADDAL).wide(mem.bytes() == 8).m(value).n(at));
        }
        self.exclusive(Exclusive::Add, mem, &[at, value])
    }

    pub(super) fn atomic_exchange(&mut self, mem: Mem, addr: &Addr, value: Value) -> VReg {
        let (value, at) = (self.reg(value), self.address(addr));
        if self.has_lse() {
            return self.result(InstBuilder::new(t::SWPAL).wide(mem.bytes() == 8).m(value).n(at));
        }
        self.exclusive(Exclusive::Exchange, mem, &[at, value])
    }

    pub(super) fn atomic_compare_exchange(&mut self, mem: Mem, addr: &Addr, expected: Value, desired: Value) -> VReg {
        let (expected, desired, at) = (self.reg(expected), self.reg(desired), self.address(addr));
        if !self.has_lse() {
            return self.exclusive(Exclusive::CompareExchange, mem, &[at, expected, desired]);
        }
        let to = self.int();
        let opcode = if mem == Mem::I16 { t::CASALH } else { t::CASAL };
        let builder = InstBuilder::new(opcode).wide(mem.bytes() == 8).tied_at(Field::M, expected, to);
        self.push(builder.d(desired).n(at));
        to
    }

    pub(super) fn prefetch_write(&mut self, addr: &Addr) {
        let builder = self.access(t::PREFETCH, addr);
        self.push(builder);
    }

    pub(super) fn fence(&mut self) {
        self.push(InstBuilder::new(t::DMB_ISH));
    }
}
