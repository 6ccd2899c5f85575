//! Blocks, jumps and calls.

use regalloc2::{Operand, VReg};

use super::super::inst::{MachInst, Test};
use super::super::regs::{ARGS, RESULT};
use super::context::{Lower, wide};
use crate::mach::function::Label;
use crate::vir::{CmpOp, Cond, Func, Target, Terminator, Type, Value};

impl Lower<'_> {
    /// Returns a label for a block that starts later. The labels below the VIR function's number of blocks refer to the
    /// blocks of that function.
    pub(super) fn label(&mut self) -> Label {
        self.out.label()
    }

    /// Starts the block of a label.
    pub(super) fn start_block(&mut self, label: Label, params: &[VReg]) {
        self.out.start_block(label, params);
    }

    /// Ends the current block with a jump.
    pub(super) fn jump(&mut self, to: Label, args: &[VReg]) {
        self.add(MachInst::Jump, &[]);
        self.out.close_block(&[to], args);
    }

    /// Ends the current block with a branch. The register is the operand of [`Test::Zero`].
    pub(super) fn branch_on(&mut self, (test, reg): (Test, Option<VReg>), labels: [Label; 2]) {
        let operand = reg.map(Operand::reg_use);
        self.add(MachInst::Branch(test), operand.as_slice());
        self.out.close_block(&labels, &[]);
    }

    /// Lowers all reachable blocks.
    pub(super) fn blocks(&mut self) {
        let function = self.function;
        for (index, block) in function.blocks.iter().enumerate() {
            if !self.plan.reachable[index] {
                continue;
            }
            let params: Vec<VReg> = block.params.iter().map(|param| self.out.new_reg(self.class(function.ty(*param)))).collect();
            block.params.iter().zip(&params).for_each(|(param, reg)| self.set(*param, *reg));
            self.start_block(index, &params);
            if index == 0 {
                self.params = function.params.iter().map(|_| self.int()).collect();
                let operands: Vec<Operand> = self.params.iter().zip(ARGS).map(|(reg, place)| Operand::reg_fixed_def(*reg, place)).collect();
                self.add(MachInst::Defines, &operands);
            }
            for inst in &block.insts {
                if self.plan.is_selected(inst) {
                    self.out.source = inst.source;
                    self.inst(inst);
                }
            }
            if let Some(terminator) = &block.terminator {
                self.terminator(terminator);
            }
        }
        self.out.connect();
    }

    fn arguments(&mut self, target: &Target) -> Vec<VReg> {
        target.args.iter().map(|arg| self.reg(*arg)).collect()
    }

    fn terminator(&mut self, terminator: &Terminator) {
        match terminator {
            Terminator::Jump(target) => {
                let args = self.arguments(target);
                self.jump(target.block.index(), &args);
            }
            Terminator::Branch(cond, then, els) => self.branch(cond, then, els),
            Terminator::Return(value) => {
                let operand = value.map(|value| Operand::reg_fixed_use(self.reg(value), RESULT));
                self.add(MachInst::Return, operand.as_slice());
                self.out.close_block(&[], &[]);
            }
            Terminator::Unreachable => {
                self.add(MachInst::Trap, &[]);
                self.out.close_block(&[], &[]);
            }
        }
    }

    /// Lowers a branch. Splits critical edges and edges with arguments: the new block contains the moves.
    fn branch(&mut self, cond: &Cond, then: &Target, els: &Target) {
        let nonzero = Test::Zero { wide: false, inverted: true };
        let test = match *cond {
            Cond::Cmp(op, a, b) => self.test(op, a, b),
            Cond::NonZero(value) => match self.folded_compare(value) {
                Some((op, a, b)) => self.test(op, a, b),
                None => (nonzero, Some(self.reg(value))),
            },
            Cond::Any(mask) if self.sve() => (Test::Flags(self.any_active(mask)), None),
            Cond::All(mask) if self.sve() => (Test::Flags(self.all_active(mask)), None),
            Cond::Any(mask) => {
                let mask = self.reg(mask);
                (nonzero, Some(self.any(mask)))
            }
            Cond::All(mask) => {
                let mask = self.reg(mask);
                (nonzero, Some(self.all(mask)))
            }
        };
        let direct = |this: &Self, target: &Target| target.args.is_empty() && this.plan.edges[target.block.index()] == 1;
        let labels = [then, els].map(|target| if direct(self, target) { target.block.index() } else { self.label() });
        self.branch_on(test, labels);
        for (target, label) in [then, els].into_iter().zip(labels) {
            if label != target.block.index() {
                self.start_block(label, &[]);
                let args = self.arguments(target);
                self.jump(target.block.index(), &args);
            }
        }
    }

    /// Selects the condition of a branch on a comparison. Comparisons with 0 for equality need no flags.
    fn test(&mut self, op: CmpOp, a: Value, b: Value) -> (Test, Option<VReg>) {
        if matches!(op, CmpOp::Eq | CmpOp::Ne) && self.splat_bits(b) == Some(0) {
            return (Test::Zero { wide: wide(self.ty(a)), inverted: op == CmpOp::Ne }, Some(self.reg(a)));
        }
        (Test::Flags(self.flags(op, a, b)), None)
    }

    fn call_with(&mut self, inst: MachInst, first: Option<VReg>, args: &[Value], result: bool) -> VReg {
        let args: Vec<VReg> = args.iter().map(|arg| self.reg(*arg)).collect();
        self.out.add_call(inst, first, &args, &ARGS, result.then_some(RESULT))
    }

    pub(super) fn call(&mut self, func: Func, args: &[Value], ty: Option<Type>) -> VReg {
        self.call_with(MachInst::Call(func.0), None, args, ty.is_some())
    }

    pub(super) fn call_helper(&mut self, address: Value, args: &[Value], result: bool) -> VReg {
        let address = self.reg(address);
        self.call_with(MachInst::CallAddress, Some(address), args, result)
    }
}
