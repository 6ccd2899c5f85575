//! Control flow of random programs.

use smallvec::SmallVec;
use wgcl_codegen::vir::{BinOp, Block, CmpOp, Cond, Op, Target, Terminator, Type, Value};

use super::{Available, Generator, Quality};

/// A merge block, and the types and qualities of its parameters.
struct Merge {
    block: Block,
    params: Vec<Available>,
}

impl Generator<'_> {
    /// Generates a sequence of instructions, branches and loops.
    pub(super) fn body(&mut self, depth: u32) {
        let share = 1 + self.budget / (1 + depth as usize);
        let until = self.budget.saturating_sub(share);
        while self.budget > until {
            match self.random.below(28) {
                0 | 1 if depth > 0 => self.branch(depth),
                2 if depth > 0 && self.loops < 3 => self.repeat(depth),
                3 if depth > 0 => self.same_target(),
                4..=6 => self.store(),
                7 => self.call_for_effect(),
                8 => self.effect(Op::Fence),
                9 if depth > 0 => self.branch_never_taken(),
                10 | 11 => self.overwritten(),
                _ => {
                    let ty = self.random.of(&self.types.clone());
                    self.make(ty);
                }
            }
        }
    }

    /// Stores some values, and returns.
    pub(super) fn store_and_return(&mut self) {
        let all = self.random.once_in(2);
        let count = if all { self.available.len() } else { self.available.len().min(8) };
        for _ in 0..count.min(150) {
            let at = self.random.below(self.available.len());
            let Available { value, ty, .. } = self.available[at];
            self.store_result(value, ty);
        }
        let result = self.returns.map(|ty| self.exact(ty));
        self.build.end(Terminator::Return(result));
    }

    fn new_merge(&mut self, most: usize) -> Merge {
        let block = self.build.block();
        let count = self.random.below(most + 1);
        let params = (0..count).map(|_| {
            let ty = self.random.of(&self.types.clone());
            Available { value: self.build.block_param(block, ty), ty, quality: Quality::Exact }
        });
        let params = params.collect();
        Merge { block, params }
    }

    /// Creates a jump to a merge block, with random arguments.
    fn jump_to_merge(&mut self, merge: &mut Merge) -> Target {
        let mut args = SmallVec::<[Value; 4]>::new();
        for param in &mut merge.params {
            let arg = self.any(param.ty);
            param.quality = param.quality.min(self.quality(arg));
            args.push(arg);
        }
        Target::new(merge.block, args)
    }

    fn enter_merge(&mut self, merge: Merge) {
        self.build.enter(merge.block);
        self.available.extend(merge.params);
    }

    fn cond(&mut self) -> Cond {
        let mask = self.random.of(&super::all_types(self.config.isa));
        match self.random.below(4) {
            0 | 1 if mask.elem().is_none() => {
                let mask = self.exact(mask);
                if self.random.once_in(2) { Cond::Any(mask) } else { Cond::All(mask) }
            }
            0 | 2 => Cond::NonZero(self.exact(Type::I32)),
            _ => {
                let ty = self.random.of(&[Type::I32, Type::I64]);
                let op = self.comparison(if ty == Type::I32 { wgcl_codegen::vir::Elem::I32 } else { wgcl_codegen::vir::Elem::I64 });
                Cond::Cmp(op, self.exact(ty), self.exact(ty))
            }
        }
    }

    /// Generates an `if` with or without an `else`.
    fn branch(&mut self, depth: u32) {
        let mut join = self.new_merge(6);
        let then = self.build.block();
        let has_other = self.random.once_in(2);
        let (cond, returns_early) = (self.cond(), self.random.once_in(8));
        let other = if has_other { Target::new(self.build.block(), []) } else { self.jump_to_merge(&mut join) };
        let (then, other_block) = (Target::new(then, []), other.block);
        let ways = if self.random.once_in(2) { (then.clone(), other) } else { (other, then.clone()) };
        self.build.end(Terminator::Branch(cond, ways.0, ways.1));
        let before = self.available.len();
        self.build.enter(then.block);
        self.body(depth - 1);
        if returns_early {
            self.store_and_return();
        } else {
            let way = self.jump_to_merge(&mut join);
            self.build.end(Terminator::Jump(way));
        }
        self.available.truncate(before);
        if has_other {
            self.build.enter(other_block);
            self.body(depth - 1);
            let way = self.jump_to_merge(&mut join);
            self.build.end(Terminator::Jump(way));
            self.available.truncate(before);
        }
        self.enter_merge(join);
    }

    /// Generates a branch whose two targets are the same block.
    fn same_target(&mut self) {
        let mut join = self.new_merge(8);
        let cond = self.cond();
        let (one, other) = (self.jump_to_merge(&mut join), self.jump_to_merge(&mut join));
        self.build.end(Terminator::Branch(cond, one, other));
        self.enter_merge(join);
    }

    /// Generates a branch whose condition is never true.
    fn branch_never_taken(&mut self) {
        let (any, zero) = (self.exact(Type::I64), self.constant(Type::I64, 0));
        let (stop, on) = (self.build.block(), self.build.block());
        let ways = (Target::new(stop, []), Target::new(on, []));
        self.build.end(Terminator::Branch(Cond::Cmp(CmpOp::ULt, any, zero), ways.0, ways.1));
        self.build.enter(stop);
        self.build.end(Terminator::Unreachable);
        self.build.enter(on);
    }

    /// Generates a loop with its condition at the start or at the end, in some cases with a second exit.
    fn repeat(&mut self, depth: u32) {
        let times = 1 + self.random.below(6) as u64;
        let counts_wide = self.random.once_in(2);
        let counter_type = if counts_wide { Type::I64 } else { Type::I32 };
        let zero = self.constant(counter_type, 0);
        let header = self.build.block();
        let counter = self.build.block_param(header, counter_type);
        let carried = self.loop_params(header);
        let mut starts = SmallVec::<[Value; 4]>::from_iter([zero]);
        starts.extend(carried.iter().map(|param| self.pick(param.ty, param.quality)));
        self.build.end(Terminator::Jump(Target::new(header, starts)));
        self.build.enter(header);
        self.loops += 1;
        self.available.push(Available { value: counter, ty: counter_type, quality: Quality::Exact });
        self.available.extend(&carried);
        let (mut exit, inner) = (self.new_merge(5), self.build.block());
        let at_start = self.random.once_in(2);
        if at_start {
            let cond = self.loop_condition(counter, counter_type, times);
            let out = self.jump_to_merge(&mut exit);
            self.build.end(Terminator::Branch(cond, Target::new(inner, []), out));
            self.build.enter(inner);
        }
        let outer = self.available.len();
        self.body(depth - 1);
        if self.random.once_in(2) {
            let (cond, out, rest) = (self.cond(), self.jump_to_merge(&mut exit), self.build.block());
            self.build.end(Terminator::Branch(cond, out, Target::new(rest, [])));
            self.build.enter(rest);
            self.body(depth - 1);
        }
        let one = self.constant(counter_type, 1);
        let next = self.bin(BinOp::Add, counter_type, counter, one);
        let mut nexts = SmallVec::<[Value; 4]>::from_iter([next]);
        nexts.extend(carried.iter().map(|param| self.next_value(param, &carried)));
        let again = Target::new(header, nexts);
        if at_start {
            self.build.end(Terminator::Jump(again));
        } else {
            let cond = self.loop_condition(next, counter_type, times);
            let out = self.jump_to_merge(&mut exit);
            self.build.end(Terminator::Branch(cond, again, out));
        }
        self.available.truncate(outer);
        self.loops -= 1;
        self.enter_merge(exit);
    }

    /// Adds random parameters to a loop header.
    fn loop_params(&mut self, header: Block) -> Vec<Available> {
        let count = self.random.of(&[0, 1, 2, 3, 4, 6, 12]);
        let mut params: Vec<Available> = Vec::new();
        for _ in 0..count {
            let ty = match params.last() {
                // Some neighbouring parameters have the same type, so that an iteration can swap them.
                Some(last) if self.random.once_in(2) => last.ty,
                _ => self.random.of(&self.types.clone()),
            };
            let quality = self.random.of(&[Quality::Unspecified, Quality::AnyNan, Quality::Exact, Quality::Exact]);
            params.push(Available { value: self.build.block_param(header, ty), ty, quality });
        }
        params
    }

    /// Chooses a loop parameter's value in the next iteration, often another parameter.
    fn next_value(&mut self, param: &Available, carried: &[Available]) -> Value {
        let fits: Vec<&Available> = carried.iter().filter(|other| other.ty == param.ty && other.quality >= param.quality).collect();
        if self.random.once_in(2) { self.random.of(&fits).value } else { self.pick(param.ty, param.quality) }
    }

    fn loop_condition(&mut self, counter: Value, ty: Type, times: u64) -> Cond {
        let limit = self.constant(ty, times);
        let masks: Vec<Type> = super::all_types(self.config.isa).into_iter().filter(|ty| ty.elem().is_none()).collect();
        match self.random.below(4) {
            0 => {
                let bit = self.emit(Type::I32, Op::Cmp(CmpOp::SLt, counter, limit), Quality::Exact);
                Cond::NonZero(bit)
            }
            1 if !masks.is_empty() => {
                let bit = self.emit(Type::I32, Op::Cmp(CmpOp::ULt, counter, limit), Quality::Exact);
                let zero = self.constant(Type::I32, 0);
                let bits = self.emit(Type::I32, Op::Bin(BinOp::Sub, zero, bit), Quality::Exact);
                let mask = self.random.of(&masks);
                let mask = self.emit(mask, Op::MaskOf(bits), Quality::Exact);
                if self.random.once_in(2) { Cond::Any(mask) } else { Cond::All(mask) }
            }
            2 => Cond::Cmp(CmpOp::Ne, counter, limit),
            _ => Cond::Cmp(CmpOp::ULt, counter, limit),
        }
    }
}
