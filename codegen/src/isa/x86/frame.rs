//! The stack frame, from high to low addresses: saved registers, spill slots.

use regalloc2::{Edit, Output};

use super::inst::MachInst;
use super::regs::{CALLEE_SAVED, INT};
use crate::mach::function::MFunction;

/// The layout of the stack frame below the frame pointer.
pub(super) struct Frame {
    /// The numbers of the saved registers other than rbp, in the order in which the prologue pushes them.
    pub(super) saved: Vec<u8>,
    /// The size in bytes of the spill slots and padding below the saved registers.
    size: i32,
    /// The alignment in bytes of the spill slots.
    align: i32,
}

impl Frame {
    pub(super) fn new(function: &MFunction<MachInst>, output: &Output) -> Self {
        let edits = output.edits.iter().flat_map(|(_, Edit::Move { from, to })| [*from, *to]);
        let mut used = [false; 16];
        for alloc in edits.chain(output.allocs.iter().copied()) {
            if let Some(reg) = alloc.as_reg().filter(|reg| reg.class() == INT) {
                used[reg.hw_enc()] = true;
            }
        }
        let saved: Vec<u8> = CALLEE_SAVED.into_iter().filter(|number| used[usize::from(*number)]).collect();
        let slots = output.num_spillslots as i32 * 8;
        let align = if slots > 0 { function.vector_bytes as i32 } else { 16 };
        let pushed = saved.len() as i32 * 8;
        let size = if align > 16 { (slots + align - 1) & -align } else { ((slots + pushed + 15) & -16) - pushed };
        Self { saved, size, align }
    }

    /// Returns the maximum frame size in bytes, including the return address.
    pub(super) fn stack(&self) -> u32 {
        let slack = if self.align > 16 { self.align } else { 0 };
        (16 + self.saved.len() as i32 * 8 + self.size + slack).cast_unsigned()
    }

    /// Appends the prologue: `endbr64; push rbp; mov rbp, rsp; ...`. `exec/windows/unwind.rs` describes it for the
    /// unwinder of Windows.
    pub(super) fn enter(&self, out: &mut Vec<u8>) {
        out.extend([0xF3, 0x0F, 0x1E, 0xFA, 0x55, 0x48, 0x89, 0xE5]);
        for &reg in &self.saved {
            push_pop(out, 0x50, reg);
        }
        if self.size > 0 {
            out.extend([0x48, 0x81, 0xEC]);
            out.extend(self.size.to_le_bytes());
        }
        if self.align > 16 {
            out.extend([0x48, 0x83, 0xE4, (-self.align) as u8]);
        }
    }

    /// Appends the epilogue.
    pub(super) fn leave(&self, out: &mut Vec<u8>) {
        if self.size > 0 || self.align > 16 {
            out.extend([0x48, 0x8D, 0x65, (self.saved.len() as i8 * -8) as u8]);
        }
        for &reg in self.saved.iter().rev() {
            push_pop(out, 0x58, reg);
        }
        out.extend([0x5D, 0xC3]);
    }
}

fn push_pop(out: &mut Vec<u8>, op: u8, reg: u8) {
    if reg >= 8 {
        out.push(0x41);
    }
    out.push(op | (reg & 7));
}
