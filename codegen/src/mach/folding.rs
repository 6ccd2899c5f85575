//! Instruction folding: decides which values are computed as part of their only user, and which are used at all.
//!
//! An instruction can compute its operand if it is the only user of the operand, and is in the same block. For example,
//! a branch reads the flags of a comparison, and a load becomes the memory operand of an addition. The policy of an
//! instruction set decides which operations fold. The policy must not fold a load if memory may be written between the
//! load and its user.
//!
//! ```text
//! v1 = load.i32 [v0]        the load is folded:      add eax, [rdi]
//! v3 = add v2, v1
//! ```

use super::addresses::{Addresses, AddressingModes, Sum};
use crate::vir::{Cond, Function, Inst, Mem, Op, Terminator, Value};

/// A value whose only user is in the same block, so the user can compute it.
pub(crate) struct Candidate<'a> {
    pub(crate) function: &'a Function,
    pub(crate) op: &'a Op,
    pub(crate) result: Value,
    /// The user. `None` if the value is the condition of the block's terminator.
    pub(crate) user: Option<&'a Op>,
    pub(crate) terminator: Option<&'a Terminator>,
    /// Whether memory may be written between the value and the position at which its user is computed.
    pub(crate) memory_changes: bool,
    /// Whether the operation is a splat, and the only user of a load.
    pub(crate) splats_load: bool,
}

/// The user of a value, if the value has only one use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    None,
    /// `At(block, index)`: an instruction of a block. The index after the last instruction is the terminator's
    /// condition.
    At(usize, usize),
    /// Several uses, or a use as the argument of a jump or as the result of the function.
    Many,
}

/// The results of the analysis of a function, for instruction selection.
#[derive(Debug)]
pub(crate) struct FoldingPlan<'a> {
    /// The instruction that defines each value; `None` for block parameters.
    pub(crate) defs: Vec<Option<&'a Inst>>,
    /// Whether a value is computed as part of its only user.
    pub(crate) folded: Vec<bool>,
    /// Whether a value is an operand of an instruction or terminator. The operands of a sum in `sums` are its terms.
    pub(crate) used: Vec<bool>,
    /// Whether the only use of a value is in the block that defines it.
    pub(crate) single_block_use: Vec<bool>,
    /// The terms of each sum that is only used as an address; `None` for other values.
    pub(crate) sums: Vec<Option<Sum>>,
    /// Whether a block is reachable.
    pub(crate) reachable: Vec<bool>,
    /// The number of edges to each block from reachable blocks.
    pub(crate) edges: Vec<u32>,
}

impl<'a> FoldingPlan<'a> {
    /// Analyses a function. `folds` is the policy of the instruction set: it returns true if the only user of a value
    /// computes it.
    pub(crate) fn new(function: &'a Function, modes: &AddressingModes, folds: impl Fn(&Candidate<'_>) -> bool) -> Self {
        let values = function.values.len();
        let mut plan = Self {
            defs: vec![None; values],
            folded: vec![false; values],
            used: vec![false; values],
            single_block_use: vec![false; values],
            sums: Vec::new(),
            reachable: vec![false; function.blocks.len()],
            edges: vec![0; function.blocks.len()],
        };
        plan.find_reachable(function);
        let users = plan.users(function);
        plan.sums = Addresses::find(function, modes, &plan.defs, &plan.reachable);
        plan.recompute_used(function);
        for (index, block) in function.blocks.iter().enumerate() {
            if !plan.reachable[index] {
                continue;
            }
            let here = |user: User| match user {
                User::At(block, place) if block == index => Some(place),
                _ => None,
            };
            for &param in &block.params {
                plan.single_block_use[param.index()] = here(users[param.index()]).is_some();
            }
            plan.fold_block(function, index, &folds, |value| here(users[value.index()]));
        }
        plan
    }

    /// Whether an instruction is selected at its place in the block: it is not folded into its users, and its result is
    /// used or it has an effect.
    pub(crate) fn is_selected(&self, inst: &Inst) -> bool {
        inst.result.is_none_or(|result| {
            let folded = self.folded[result.index()] || self.sums[result.index()].is_some();
            !folded && (self.used[result.index()] || !inst.op.is_pure())
        })
    }

    fn find_reachable(&mut self, function: &Function) {
        let mut list = vec![0];
        while let Some(block) = list.pop() {
            if std::mem::replace(&mut self.reachable[block], true) {
                continue;
            }
            for target in function.blocks[block].terminator.iter().flat_map(Terminator::targets) {
                self.edges[target.block.index()] += 1;
                list.push(target.block.index());
            }
        }
    }

    fn users(&mut self, function: &'a Function) -> Vec<User> {
        let mut users = vec![User::None; function.values.len()];
        for (index, block) in function.blocks.iter().enumerate().filter(|(index, _)| self.reachable[*index]) {
            let mut seen = |value: Value, user: User| {
                let old = &mut users[value.index()];
                *old = if *old == User::None { user } else { User::Many };
            };
            for (place, inst) in block.insts.iter().enumerate() {
                inst.op.for_each_operand(|value| seen(value, User::At(index, place)));
            }
            if let Some(terminator) = &block.terminator {
                let place = User::At(index, block.insts.len());
                match terminator {
                    Terminator::Branch(Cond::Cmp(_, a, b), ..) => {
                        seen(*a, place);
                        seen(*b, place);
                    }
                    Terminator::Branch(Cond::NonZero(value) | Cond::Any(value) | Cond::All(value), ..) => seen(*value, place),
                    Terminator::Return(Some(value)) => seen(*value, User::Many),
                    Terminator::Jump(_) | Terminator::Return(None) | Terminator::Unreachable => {}
                }
                terminator.targets().iter().for_each(|target| target.args.iter().for_each(|arg| seen(*arg, User::Many)));
            }
            for inst in &block.insts {
                if let Some(result) = inst.result {
                    self.defs[result.index()] = Some(inst);
                }
            }
        }
        self.used = users.iter().map(|user| *user != User::None).collect();
        users
    }

    /// Recomputes [`Self::used`] with the terms of sums as operands. A shift that is only the scale of an address is
    /// then unused.
    fn recompute_used(&mut self, function: &Function) {
        let mut needed = vec![false; function.values.len()];
        for (index, block) in function.blocks.iter().enumerate().filter(|(index, _)| self.reachable[*index]) {
            for inst in &block.insts {
                match inst.result.and_then(|result| self.sums[result.index()]) {
                    Some(Sum::Offset(of, _)) => needed[of.index()] = true,
                    Some(Sum::Terms(base, of, _)) => [base, of].iter().for_each(|value| needed[value.index()] = true),
                    None => inst.op.for_each_operand(|value| needed[value.index()] = true),
                }
            }
            if let Some(end) = &function.blocks[index].terminator {
                end.for_each_operand(|value| needed[value.index()] = true);
            }
        }
        self.used = needed;
    }

    /// Decides which values of a block are folded. Visits users before their operands, so that the positions of users
    /// are known.
    fn fold_block(
        &mut self,
        function: &Function,
        index: usize,
        folds: &impl Fn(&Candidate<'_>) -> bool,
        only_user: impl Fn(Value) -> Option<usize>,
    ) {
        let block = &function.blocks[index];
        let mut writes = vec![0; block.insts.len() + 1];
        for (place, inst) in block.insts.iter().enumerate() {
            let is_load = matches!(inst.op, Op::Load(..) | Op::LoadVector { .. } | Op::LoadPieces(..) | Op::Gather { .. });
            let write = !inst.op.is_pure() && !is_load && !matches!(inst.op, Op::Bin(..));
            writes[place + 1] = writes[place] + u32::from(write);
        }
        // The position at which each instruction is computed. A folded instruction has its user's position.
        let mut sink_point: Vec<usize> = (0..=block.insts.len()).collect();
        for (place, inst) in block.insts.iter().enumerate().rev() {
            let Some(result) = inst.result else { continue };
            let Some(at) = only_user(result) else { continue };
            self.single_block_use[result.index()] = true;
            let user = block.insts.get(at);
            // A value is not folded into a sum that is an address, because several accesses can use the terms. It is
            // not folded into an unused instruction either, because that is not computed.
            if user.and_then(|user| user.result).is_some_and(|user| self.sums[user.index()].is_some() || !self.used[user.index()]) {
                continue;
            }
            let splats_load = if let Op::Splat(a) = inst.op {
                let load = self.defs[a.index()].is_some_and(|inst| matches!(inst.op, Op::Load(Mem::Elem(_), _)));
                load && only_user(a).is_some()
            } else {
                false
            };
            let candidate = Candidate {
                function,
                op: &inst.op,
                result,
                user: user.map(|inst| &inst.op),
                terminator: block.terminator.as_ref(),
                memory_changes: writes[place] != writes[sink_point[at]],
                splats_load,
            };
            if folds(&candidate) {
                self.folded[result.index()] = true;
                sink_point[place] = sink_point[at];
            }
        }
    }
}
