//! Spilled values that are still in a register. Instructions read them from the register.
//!
//! ```text
//! vmovaps %ymm4, 0x40(%rsp)                      vmovaps %ymm4, 0x40(%rsp)
//! vpaddq 0x40(%rsp), %ymm2, %ymm2        =>      vpaddq %ymm4, %ymm2, %ymm2
//! ```
//! The register allocator splits the live range of a value that it spills. It assigns the spill slot to each use that
//! allows memory, also if the value was in a register one instruction before. A load from the slot then waits for the
//! store. On Zen 5, this takes 8 cycles longer than the register.

use regalloc2::{Allocation, Operand, OperandKind, PReg, PRegSet, SpillSlot};
use smallvec::SmallVec;

/// The spill slots of the current block whose values are in registers.
#[derive(Default)]
pub(super) struct Spilled {
    slots: SmallVec<[(SpillSlot, PReg); 16]>,
}

impl Spilled {
    /// Forgets all slots, at the start of a block.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
    }

    /// Returns the register with the value of a spill slot, otherwise the allocation itself.
    pub(super) fn register_of(&self, from: Allocation) -> Allocation {
        let known = from.as_stack().and_then(|slot| self.slots.iter().find(|(other, _)| *other == slot));
        known.map_or(from, |&(_, reg)| Allocation::reg(reg))
    }

    /// Records a move of the register allocator.
    pub(super) fn copy(&mut self, from: Allocation, to: Allocation) {
        if from == to {
            return;
        }
        match (to.as_reg(), to.as_stack()) {
            (Some(reg), _) => self.slots.retain(|(_, other)| *other != reg),
            (_, Some(slot)) => self.slots.retain(|(other, _)| *other != slot),
            _ => {}
        }
        if let (Some(slot), Some(reg)) = (from.as_stack().or(to.as_stack()), from.as_reg().or(to.as_reg())) {
            self.slots.push((slot, reg));
        }
    }

    /// Replaces the spill slots that an instruction reads.
    pub(super) fn replace_uses(&self, operands: &[Operand], allocs: &mut [Allocation]) {
        for (operand, alloc) in operands.iter().zip(allocs) {
            if operand.kind() == OperandKind::Use {
                *alloc = self.register_of(*alloc);
            }
        }
    }

    /// Records that an instruction writes its results and `clobbers`.
    pub(super) fn overwrite(&mut self, operands: &[Operand], allocs: &[Allocation], clobbers: PRegSet) {
        let defines = |reg: PReg| {
            let defs = operands.iter().zip(allocs).filter(|(operand, _)| operand.kind() == OperandKind::Def);
            defs.into_iter().any(|(_, alloc)| alloc.as_reg() == Some(reg))
        };
        self.slots.retain(|(_, reg)| !clobbers.contains(*reg) && !defines(*reg));
    }
}
