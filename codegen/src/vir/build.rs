//! Builds functions one instruction at a time.

use super::entities::{Block, Value};
use super::function::{BlockData, Function};
use super::op::{Cond, Inst, Op, SourceLoc, Target, Terminator};
use super::types::Type;

/// A function under construction, and the current block.
#[derive(Debug)]
pub struct Builder {
    function: Function,
    /// The entered blocks, in the order of the code.
    order: Vec<Block>,
    current: Block,
    /// The source position of the instructions that are added.
    source: SourceLoc,
    /// The block and the index of the instruction that defines each value; `None` for block parameters.
    definitions: Vec<Option<(Block, u32)>>,
}

impl Builder {
    /// Starts a function. The entry block becomes the current block.
    pub fn new(name: impl Into<String>, params: Vec<Type>, returns: Option<Type>) -> Self {
        let function = Function { name: name.into(), params, returns, values: Vec::new(), blocks: vec![BlockData::default()] };
        Self { function, order: vec![Block(0)], current: Block(0), source: SourceLoc::default(), definitions: Vec::new() }
    }

    /// Returns the function in its current state.
    pub const fn function(&self) -> &Function {
        &self.function
    }

    /// Returns the type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// Returns the operation that defines a value, or `None` for a block parameter.
    pub fn op(&self, value: Value) -> Option<&Op> {
        let (block, index) = (*self.definitions.get(value.index())?)?;
        self.function.blocks[block.index()].insts.get(index as usize).map(|inst| &inst.op)
    }

    /// Creates a block without predecessors. [`enter`](Self::enter) determines its position in the order of the blocks.
    pub fn block(&mut self) -> Block {
        let block = Block(u32::try_from(self.function.blocks.len()).unwrap_or(u32::MAX));
        self.function.blocks.push(BlockData::default());
        block
    }

    /// Adds a parameter to a block.
    pub fn block_param(&mut self, block: Block, ty: Type) -> Value {
        let value = self.value(ty);
        self.function.blocks[block.index()].params.push(value);
        value
    }

    /// Makes a block current and appends it to the order.
    pub fn enter(&mut self, block: Block) {
        if !self.order.contains(&block) {
            self.order.push(block);
        }
        self.current = block;
    }

    /// Returns the block to which instructions are added.
    pub const fn current(&self) -> Block {
        self.current
    }

    /// Whether the current block has ended.
    pub fn is_ended(&self) -> bool {
        self.function.blocks[self.current.index()].terminator.is_some()
    }

    /// Sets the source position of the instructions that are added from now on.
    pub const fn set_source(&mut self, source: SourceLoc) {
        self.source = source;
    }

    /// Adds an instruction with a result of the given type.
    pub fn value_of(&mut self, ty: Type, op: Op) -> Value {
        let value = self.value(ty);
        let insts = &mut self.function.blocks[self.current.index()].insts;
        self.definitions[value.index()] = u32::try_from(insts.len()).ok().map(|index| (self.current, index));
        insts.push(Inst { op, result: Some(value), source: self.source });
        value
    }

    /// Adds an instruction without a result.
    pub fn effect(&mut self, op: Op) {
        self.function.blocks[self.current.index()].insts.push(Inst { op, result: None, source: self.source });
    }

    /// Ends the current block.
    pub fn end(&mut self, terminator: Terminator) {
        let block = &mut self.function.blocks[self.current.index()];
        debug_assert!(block.terminator.is_none(), "the block already has a terminator");
        block.terminator = Some(terminator);
    }

    /// Returns the function with its blocks in the order of [`enter`](Self::enter). Removes unreachable blocks, unused
    /// block parameters, and unused instructions without effects.
    pub fn finish(self) -> Function {
        let Self { mut function, mut order, .. } = self;
        let reached = reachable(&function);
        order.retain(|block| reached[block.index()]);
        remove_unused(&mut function, &order);
        let mut places = vec![Block(u32::MAX); function.blocks.len()];
        for (place, block) in (0..).zip(&order) {
            places[block.index()] = Block(place);
        }
        let mut blocks: Vec<BlockData> = order.iter().map(|block| std::mem::take(&mut function.blocks[block.index()])).collect();
        for block in &mut blocks {
            match &mut block.terminator {
                Some(Terminator::Jump(target)) => target.block = places[target.block.index()],
                Some(Terminator::Branch(_, then, els)) => {
                    then.block = places[then.block.index()];
                    els.block = places[els.block.index()];
                }
                Some(Terminator::Return(_) | Terminator::Unreachable) | None => {}
            }
        }
        function.blocks = blocks;
        function
    }

    /// Creates a value without a definition.
    fn value(&mut self, ty: Type) -> Value {
        let value = Value(u32::try_from(self.function.values.len()).unwrap_or(u32::MAX));
        self.function.values.push(ty);
        self.definitions.push(None);
        value
    }
}

/// Computes which blocks are reachable from the entry.
fn reachable(function: &Function) -> Vec<bool> {
    let mut reached = vec![false; function.blocks.len()];
    let mut list = vec![Block(0)];
    while let Some(block) = list.pop() {
        if std::mem::replace(&mut reached[block.index()], true) {
            continue;
        }
        list.extend(function.blocks[block.index()].terminator.iter().flat_map(Terminator::targets).map(|target| target.block));
    }
    reached
}

/// Removes operations without effects whose result is unused, and unused block parameters. A parameter whose only use
/// is as an argument for itself, in a loop, is unused.
fn remove_unused(function: &mut Function, order: &[Block]) {
    let mut used = vec![false; function.values.len()];
    let mut list: Vec<Value> = Vec::new();
    // The operands of the instruction that defines a value, or the arguments of jumps that define a block parameter.
    let mut dependencies: Vec<Vec<Value>> = vec![Vec::new(); function.values.len()];
    for &block in order {
        let data = &function.blocks[block.index()];
        for inst in &data.insts {
            match inst.result {
                Some(result) if inst.op.is_pure() || is_load(&inst.op) => {
                    inst.op.for_each_operand(|value| dependencies[result.index()].push(value))
                }
                _ => inst.op.for_each_operand(|value| list.push(value)),
            }
        }
        let Some(terminator) = &data.terminator else { continue };
        for target in terminator.targets() {
            for (&param, &arg) in function.blocks[target.block.index()].params.iter().zip(&target.args) {
                dependencies[param.index()].push(arg);
            }
        }
        match terminator {
            Terminator::Branch(Cond::Cmp(_, a, b), ..) => list.extend([*a, *b]),
            Terminator::Branch(Cond::NonZero(value) | Cond::Any(value) | Cond::All(value), ..) | Terminator::Return(Some(value)) => {
                list.push(*value)
            }
            Terminator::Jump(_) | Terminator::Return(None) | Terminator::Unreachable => {}
        }
    }
    while let Some(value) = list.pop() {
        if !std::mem::replace(&mut used[value.index()], true) {
            list.append(&mut dependencies[value.index()]);
        }
    }
    let params: Vec<Vec<bool>> =
        function.blocks.iter().map(|block| block.params.iter().map(|param| used[param.index()]).collect()).collect();
    for &block in order {
        let data = &mut function.blocks[block.index()];
        data.params.retain(|param| used[param.index()]);
        data.insts.retain(|inst| inst.result.is_none_or(|result| used[result.index()] || !(inst.op.is_pure() || is_load(&inst.op))));
        let keep = |target: &mut Target| {
            let mut kept = params[target.block.index()].iter();
            target.args.retain(|_| kept.next().copied().unwrap_or(true));
        };
        match &mut data.terminator {
            Some(Terminator::Jump(target)) => keep(target),
            Some(Terminator::Branch(_, then, els)) => {
                keep(then);
                keep(els);
            }
            Some(Terminator::Return(_) | Terminator::Unreachable) | None => {}
        }
    }
}

/// Whether an operation is a non-atomic load.
const fn is_load(op: &Op) -> bool {
    matches!(op, Op::Load(..) | Op::LoadVector { .. } | Op::LoadPieces(..) | Op::Gather { .. })
}
