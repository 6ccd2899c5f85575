//! Registers: their numbers, the calling convention of the System V ABI, and the registers that may be allocated.

use regalloc2::{MachineEnv, PReg, PRegSet, RegClass};

use crate::target::X86Level;

pub(super) const INT: RegClass = RegClass::Int;
/// Vector registers, which also hold floats.
pub(super) const VEC: RegClass = RegClass::Float;
/// Mask registers of AVX-512.
pub(super) const MASK: RegClass = RegClass::Vector;

/// Returns the general register with this number.
pub(super) const fn gpr(number: usize) -> PReg {
    PReg::new(number, INT)
}

pub(super) const RAX: PReg = gpr(0);
pub(super) const RCX: PReg = gpr(1);
pub(super) const RDX: PReg = gpr(2);
/// The number of the stack pointer.
pub(super) const RSP: u8 = 4;
/// The registers of parameters, in order.
pub(super) const ARGS: [PReg; 6] = [gpr(7), gpr(6), RDX, RCX, gpr(8), gpr(9)];
/// Callee-saved registers: rbx, r12 to r15. rbp is the frame pointer.
pub(super) const CALLEE_SAVED: [u8; 5] = [3, 12, 13, 14, 15];
const CALLER_SAVED: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];

/// Returns the registers that a call clobbers, without the result register if `result` is set.
pub(super) fn call_clobbers(result: bool) -> PRegSet {
    let mut set = PRegSet::empty();
    CALLER_SAVED.iter().filter(|number| !result || **number != 0).for_each(|number| set.add(gpr(*number)));
    (0..32).for_each(|number| set.add(PReg::new(number, VEC)));
    (1..8).for_each(|number| set.add(PReg::new(number, MASK)));
    set
}

/// Returns the registers that may be allocated.
pub(super) fn environment(level: X86Level) -> MachineEnv {
    let mut preferred = [PRegSet::empty(); 3];
    let mut others = [PRegSet::empty(); 3];
    CALLER_SAVED.iter().for_each(|number| preferred[0].add(gpr(*number)));
    CALLEE_SAVED.iter().for_each(|number| others[0].add(gpr(usize::from(*number))));
    // Registers above 15 need the longer EVEX encoding.
    (0..16).for_each(|number| preferred[1].add(PReg::new(number, VEC)));
    if level == X86Level::Avx512 {
        (16..32).for_each(|number| others[1].add(PReg::new(number, VEC)));
        // In encodings, mask 0 means "no mask".
        (1..8).for_each(|number| preferred[2].add(PReg::new(number, MASK)));
    }
    MachineEnv {
        preferred_regs_by_class: preferred,
        non_preferred_regs_by_class: others,
        scratch_by_class: [None; 3],
        fixed_stack_slots: Vec::new(),
    }
}
