//! Registers: their numbers, the procedure call standard (AAPCS64), and the registers that may be allocated.

use regalloc2::{MachineEnv, PReg, PRegSet, RegClass};

use crate::target::A64Level;

pub(super) const INT: RegClass = RegClass::Int;
/// Vector registers, which also hold floats. SVE extends them. Without SVE, they also hold masks.
pub(super) const VEC: RegClass = RegClass::Float;
/// Predicate registers of SVE, which hold masks.
pub(super) const MASK: RegClass = RegClass::Vector;

/// Returns the general register with this number.
pub(super) const fn gpr(number: usize) -> PReg {
    PReg::new(number, INT)
}

/// The register of a function's result.
pub(super) const RESULT: PReg = gpr(0);
/// The registers of parameters, in order. Functions of the vector IR have at most six.
pub(super) const ARGS: [PReg; 6] = [gpr(0), gpr(1), gpr(2), gpr(3), gpr(4), gpr(5)];
/// Registers that are never allocated. Accesses to the stack with large offsets, loads of distant constants and loops
/// of exclusive accesses overwrite them.
pub(super) const SCRATCH: [u8; 2] = [16, 17];
pub(super) const FRAME_POINTER: u8 = 29;
pub(super) const LINK: u8 = 30;
/// The number of the stack pointer. In other operands, the same number is the zero register.
pub(super) const SP: u8 = 31;
pub(super) const ZERO: u8 = 31;
/// Caller-saved general registers that may be allocated. x16 and x17 are scratch registers. The platform reserves x18.
const CALLER_SAVED: [usize; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
/// Callee-saved general registers.
pub(super) const CALLEE_SAVED: [u8; 10] = [19, 20, 21, 22, 23, 24, 25, 26, 27, 28];
/// Vector registers whose lower 64 bits are callee-saved.
pub(super) const CALLEE_SAVED_VECTORS: [u8; 8] = [8, 9, 10, 11, 12, 13, 14, 15];

/// The number of predicate registers.
const PREDICATES: usize = 16;
/// Most instructions encode only p0 to p7 as their governing predicate.
pub(super) const GOVERNING_PREDICATES: usize = 8;

/// Returns the registers that a call clobbers, without the result register if `result` is set. All vector registers are
/// clobbered, because a callee preserves only the lower 64 bits of v8 to v15. It preserves no predicate register.
pub(super) fn call_clobbers(result: bool) -> PRegSet {
    let mut set = PRegSet::empty();
    CALLER_SAVED.iter().filter(|number| !result || **number != 0).for_each(|number| set.add(gpr(*number)));
    (0..32).for_each(|number| set.add(PReg::new(number, VEC)));
    (0..PREDICATES).for_each(|number| set.add(PReg::new(number, MASK)));
    set
}

/// Returns the registers that may be allocated.
pub(super) fn environment(level: A64Level) -> MachineEnv {
    let mut preferred = [PRegSet::empty(); 3];
    let mut others = [PRegSet::empty(); 3];
    CALLER_SAVED.iter().for_each(|number| preferred[0].add(gpr(*number)));
    CALLEE_SAVED.iter().for_each(|number| others[0].add(gpr(usize::from(*number))));
    for number in 0..32 {
        let set = if CALLEE_SAVED_VECTORS.contains(&number) { &mut others } else { &mut preferred };
        set[1].add(PReg::new(usize::from(number), VEC));
    }
    if matches!(level, A64Level::Sve(_)) {
        (0..PREDICATES).for_each(|number| preferred[2].add(PReg::new(number, MASK)));
    }
    MachineEnv {
        preferred_regs_by_class: preferred,
        non_preferred_regs_by_class: others,
        scratch_by_class: [None; 3],
        fixed_stack_slots: Vec::new(),
    }
}
