//! What is known of a function before instructions are chosen: who uses what, and what waits until it is used.
//!
//! A value that is used once, in the block that defines it, may be made where it is used: a comparison becomes the flags of the jump behind it, a load
//! the memory operand of an addition. Loads wait only where nothing is written in between.

use super::addresses::{Addresses, Sum};
use super::logic::is_logic;
use crate::Isa;
use crate::vir::{BinOp, Cond, Elem, Function, Inst, Mem, Op, Terminator, Type, UnOp, Value};

/// Where the only use of a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    Nobody,
    /// An instruction, or the condition behind the last one.
    At(usize, usize),
    /// Several, or a block that is given the value.
    Many,
}

/// What is known of the values of a function.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// What defines each value, but for parameters of blocks.
    pub(super) defs: Vec<Option<&'a Inst>>,
    /// Whether it is made where it is used.
    pub(super) folded: Vec<bool>,
    /// Whether it is used at all.
    pub(super) used: Vec<bool>,
    /// Whether its only use is in the block that defines it.
    pub(super) single_block_use: Vec<bool>,
    /// What addresses are made of that are not made.
    pub(super) sums: Vec<Option<Sum>>,
    /// Which blocks are ever reached.
    pub(super) reached: Vec<bool>,
    /// How many edges lead to each block.
    pub(super) edges: Vec<u32>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(function: &'a Function, isa: Isa) -> Self {
        let values = function.values.len();
        let mut plan = Self {
            defs: vec![None; values],
            folded: vec![false; values],
            used: vec![false; values],
            single_block_use: vec![false; values],
            sums: Vec::new(),
            reached: vec![false; function.blocks.len()],
            edges: vec![0; function.blocks.len()],
        };
        plan.reach(function);
        let users = plan.users(function);
        plan.sums = Addresses::find(function, &plan.defs, &plan.reached);
        plan.forget_parts(function);
        for (index, block) in function.blocks.iter().enumerate() {
            if !plan.reached[index] {
                continue;
            }
            let here = |user: User| match user {
                User::At(block, place) if block == index => Some(place),
                _ => None,
            };
            for &param in &block.params {
                plan.single_block_use[param.index()] = here(users[param.index()]).is_some();
            }
            plan.wait(function, index, isa, |value| here(users[value.index()]));
        }
        plan
    }

    fn reach(&mut self, function: &Function) {
        let mut list = vec![0];
        while let Some(block) = list.pop() {
            if std::mem::replace(&mut self.reached[block], true) {
                continue;
            }
            for target in function.blocks[block].terminator.iter().flat_map(Terminator::targets) {
                self.edges[target.block.index()] += 1;
                list.push(target.block.index());
            }
        }
    }

    fn users(&mut self, function: &'a Function) -> Vec<User> {
        let mut users = vec![User::Nobody; function.values.len()];
        for (index, block) in function.blocks.iter().enumerate().filter(|(index, _)| self.reached[*index]) {
            let mut seen = |value: Value, user: User| {
                let old = &mut users[value.index()];
                *old = if *old == User::Nobody { user } else { User::Many };
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
                    _ => {}
                }
                terminator.targets().iter().for_each(|target| target.args.iter().for_each(|arg| seen(*arg, User::Many)));
            }
            for inst in &block.insts {
                if let Some(result) = inst.result {
                    self.defs[result.index()] = Some(inst);
                }
            }
        }
        self.used = users.iter().map(|user| *user != User::Nobody).collect();
        users
    }

    /// Shifts that are scales of addresses only are not made.
    fn forget_parts(&mut self, function: &Function) {
        let mut needed = vec![false; function.values.len()];
        for (index, block) in function.blocks.iter().enumerate().filter(|(index, _)| self.reached[*index]) {
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

    /// Decides for the values of a block, from the last to the first, so that where a user is made is known.
    fn wait(&mut self, function: &Function, index: usize, isa: Isa, only: impl Fn(Value) -> Option<usize>) {
        let block = &function.blocks[index];
        let mut writes = vec![0; block.insts.len() + 1];
        for (place, inst) in block.insts.iter().enumerate() {
            let write = !inst.op.is_pure() && !matches!(inst.op, Op::Load(..) | Op::LoadVector { .. } | Op::Gather { .. } | Op::Bin(..));
            writes[place + 1] = writes[place] + u32::from(write);
        }
        let mut made: Vec<usize> = (0..=block.insts.len()).collect();
        for (place, inst) in block.insts.iter().enumerate().rev() {
            let Some(result) = inst.result else { continue };
            let Some(at) = only(result) else { continue };
            self.single_block_use[result.index()] = true;
            let user = block.insts.get(at);
            // What is part of an address is used by the accesses, which may be many.
            if user.and_then(|user| user.result).is_some_and(|user| self.sums[user.index()].is_some() || !self.used[user.index()]) {
                continue;
            }
            let by = user.map(|inst| &inst.op);
            let waits = match &inst.op {
                Op::Cmp(_, a, _) => fuses(function.ty(*a), result, by, block.terminator.as_ref(), isa),
                Op::Load(Mem::Elem(_), _) => by.is_some_and(takes_memory) && writes[place] == writes[made[at]],
                Op::LoadVector { mem: Mem::Elem(_), mask: None, .. } => by.is_some_and(takes_memory) && writes[place] == writes[made[at]],
                Op::Splat(a) => {
                    let load = self.defs[a.index()].is_some_and(|inst| matches!(inst.op, Op::Load(Mem::Elem(_), _)));
                    isa == Isa::Avx512 && load && only(*a).is_some() && by.is_some_and(broadcasts)
                }
                op if isa == Isa::Avx512 && merges(op, result, by) => matches!(function.ty(result), Type::Vector(..)),
                op => {
                    let vector = matches!(function.ty(result), Type::Vector(Elem::I32 | Elem::I64, _));
                    isa == Isa::Avx512 && vector && is_logic(op) && by.is_some_and(|by| matches!(by, Op::Bin(..)) && is_logic(by))
                }
            };
            self.folded[result.index()] = waits;
            if waits {
                made[place] = made[at];
            }
        }
    }
}

/// Whether a comparison becomes flags, or a mask under a mask.
fn fuses(ty: Type, result: Value, by: Option<&Op>, terminator: Option<&Terminator>, isa: Isa) -> bool {
    match (by, ty) {
        (Some(Op::Select(cond, ..)), Type::Scalar(_)) => *cond == result,
        (Some(Op::Bin(BinOp::And, ..)), Type::Vector(..)) => isa == Isa::Avx512,
        (Some(Op::Un(UnOp::Not, _)), Type::Vector(..)) => true,
        (None, Type::Scalar(_)) => matches!(terminator, Some(Terminator::Branch(Cond::NonZero(_), ..))),
        _ => false,
    }
}

/// Whether an operation becomes one under the mask of a selection.
fn merges(op: &Op, result: Value, by: Option<&Op>) -> bool {
    let Some(Op::Select(_, a, b)) = by else { return false };
    let bin = match op {
        Op::Bin(op, ..) => matches!(
            op,
            BinOp::Add
                | BinOp::Sub
                | BinOp::Mul
                | BinOp::SMin
                | BinOp::SMax
                | BinOp::UMin
                | BinOp::UMax
                | BinOp::FAdd
                | BinOp::FSub
                | BinOp::FMul
                | BinOp::FDiv
                | BinOp::FMin
                | BinOp::FMax
        ),
        Op::Tern(_, _, _, c) => c == b,
        _ => false,
    };
    bin && *a == result && *b != result
}

/// Whether an operation may have an operand in memory.
const fn takes_memory(op: &Op) -> bool {
    matches!(op, Op::Bin(..) | Op::Un(..) | Op::Tern(..) | Op::Cmp(..) | Op::Cast(..) | Op::Splat(_) | Op::Select(..) | Op::Widen(..))
}

/// Whether an operation may have one element of memory for all lanes.
const fn broadcasts(op: &Op) -> bool {
    matches!(op, Op::Bin(..) | Op::Tern(..) | Op::Cmp(..) | Op::Select(..))
}
