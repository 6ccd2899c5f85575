//! Folds sums into the addressing modes of memory instructions.
//!
//! A sum whose uses are all addresses is not computed. Each access uses the terms instead, with a shift of one term as
//! the scale. Folding keeps two registers alive instead of one. Therefore, a sum that is defined outside the loop of
//! its uses is not folded. A constant needs no register, so a small constant becomes a displacement in any case.

use crate::vir::{Addr, BinOp, Function, Inst, Op, Terminator, Type, Value};

/// The addressing modes of an instruction set: `base + index * scale + displacement`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressingModes {
    /// The binary logarithm of the largest scale.
    pub(crate) max_scale_log2: i64,
    /// Only constants with an absolute value below this number become displacements.
    pub(crate) max_constant: i64,
    /// Sums are only folded into accesses whose displacement has an absolute value below this number of bytes.
    pub(crate) max_displacement: i32,
}

/// The terms of a sum that is used as an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sum {
    /// An address plus a displacement.
    Offset(Value, i32),
    /// `Terms(base, index, scale)`: `base + index * scale`. The scale is a power of two.
    Terms(Value, Value, u8),
}

/// Counts of the uses of a value: all uses, uses as an address, and uses as an address at the loop depth of the value.
#[derive(Clone, Copy, Debug, Default)]
struct Uses {
    all: u32,
    as_address: u32,
    in_same_loop: u32,
}

/// Finds sums that are only used as addresses.
#[derive(Debug)]
pub(crate) struct Addresses<'a> {
    modes: AddressingModes,
    defs: &'a [Option<&'a Inst>],
    /// The loop depth of the instruction that defines each value; 0 for block parameters.
    depths: Vec<u32>,
    uses: Vec<Uses>,
}

/// Returns the loop depth of each block. The blocks of a loop are contiguous. A loop counts once for each backward
/// branch.
fn depths(function: &Function) -> Vec<u32> {
    let mut depths = vec![0; function.blocks.len()];
    for (from, block) in function.blocks.iter().enumerate() {
        for target in block.terminator.iter().flat_map(Terminator::targets) {
            if target.block.index() <= from {
                depths[target.block.index()..=from].iter_mut().for_each(|depth| *depth += 1);
            }
        }
    }
    depths
}

/// Returns the addresses of a memory access or prefetch. Returns none if the operation has no [`Addr`].
fn foldable_addresses(op: &Op) -> &[Addr] {
    match op {
        Op::Load(_, addr)
        | Op::Store(_, addr, _)
        | Op::LoadVector { addr, .. }
        | Op::StoreVector { addr, .. }
        | Op::AtomicAdd(_, addr, _)
        | Op::PrefetchWrite(addr)
        | Op::AtomicExchange(_, addr, _)
        | Op::AtomicCompareExchange(_, addr, ..) => std::slice::from_ref(addr),
        Op::LoadPieces(_, places) => places,
        _ => &[],
    }
}

impl<'a> Addresses<'a> {
    /// Returns the terms of each sum that is not computed, indexed by value.
    pub(crate) fn find(
        function: &'a Function,
        modes: &AddressingModes,
        defs: &'a [Option<&'a Inst>],
        reachable: &[bool],
    ) -> Vec<Option<Sum>> {
        let mut this =
            Self { modes: *modes, defs, depths: vec![0; function.values.len()], uses: vec![Uses::default(); function.values.len()] };
        let depths = depths(function);
        let blocks = || function.blocks.iter().enumerate().filter(|(index, _)| reachable[*index]);
        for (index, block) in blocks() {
            let results = block.insts.iter().filter_map(|inst| inst.result);
            results.for_each(|result| this.depths[result.index()] = depths[index]);
            block.insts.iter().for_each(|inst| inst.op.for_each_operand(|value| this.uses[value.index()].all += 1));
            block.terminator.iter().for_each(|end| end.for_each_operand(|value| this.uses[value.index()].all += 1));
        }
        for (index, block) in blocks() {
            for addr in block.insts.iter().flat_map(|inst| foldable_addresses(&inst.op)) {
                if addr.index.is_none() && addr.disp.abs() < modes.max_displacement {
                    let in_same_loop = this.depths[addr.base.index()] == depths[index];
                    this.fold(addr.base, in_same_loop);
                }
            }
        }
        let mut sums = vec![None; function.values.len()];
        // Uses follow definitions, so the backward walk visits all uses of a sum before the sum.
        for (_, block) in function.blocks.iter().enumerate().rev().filter(|(index, _)| reachable[*index]) {
            for inst in block.insts.iter().rev() {
                if let Some(result) = inst.result {
                    sums[result.index()] = this.sum(function, result, &inst.op);
                }
            }
        }
        sums
    }

    fn fold(&mut self, value: Value, in_same_loop: bool) {
        let uses = &mut self.uses[value.index()];
        uses.as_address += 1;
        uses.in_same_loop += u32::from(in_same_loop);
    }

    fn constant(&self, value: Value) -> Option<i64> {
        match self.defs[value.index()]?.op {
            Op::Const(bits) => Some(bits.cast_signed()).filter(|number| number.abs() < self.modes.max_constant),
            _ => None,
        }
    }

    /// Returns the operand of a shift by a constant, and the scale. Returns `None` if `value` is not a shift at the
    /// loop depth `depth`, or if the addressing modes do not have the scale.
    fn scaled(&self, value: Value, depth: u32) -> Option<(Value, u8)> {
        let Op::Bin(BinOp::Shl, of, by) = self.defs[value.index()]?.op else { return None };
        let amount = self.constant(by)?;
        (self.depths[value.index()] == depth && (1..=self.modes.max_scale_log2).contains(&amount)).then(|| (of, 1 << amount))
    }

    fn sum(&mut self, function: &Function, result: Value, op: &Op) -> Option<Sum> {
        let uses = self.uses[result.index()];
        let (Op::Bin(BinOp::Add, a, b), Type::I64) = (op, function.ty(result)) else { return None };
        if uses.all == 0 || uses.all != uses.as_address {
            return None;
        }
        let depth = self.depths[result.index()];
        if let Some((of, by)) = self.constant(*b).map(|by| (*a, by)).or_else(|| self.constant(*a).map(|by| (*b, by))) {
            self.fold(of, uses.in_same_loop == uses.all && self.depths[of.index()] == depth);
            return Some(Sum::Offset(of, by as i32));
        }
        if uses.in_same_loop != uses.all {
            return None;
        }
        let (base, index) = if self.scaled(*b, depth).is_none() && self.scaled(*a, depth).is_some() { (*b, *a) } else { (*a, *b) };
        let (index, scale) = self.scaled(index, depth).unwrap_or((index, 1));
        // The addressing mode is complete except for the displacement, so only constants can be folded into `base`.
        self.fold(base, false);
        Some(Sum::Terms(base, index, scale))
    }
}
