//! Shrinks a failing program while it still fails.

use wgcl_codegen::vir::{Block, BlockData, Function, Inst, Module, Op, SourceLoc, Terminator, Value, verify};

/// Simplifies a module at the position with the given number; `None` if there is no such position.
type Edit = fn(&Module, usize) -> Option<Module>;

/// The smallest valid module that the search finds and for which `fails` returns true.
pub fn shrink(module: &Module, fails: &dyn Fn(&Module) -> bool) -> Module {
    let edits: [Edit; 6] = [without_branch::<0>, without_branch::<1>, without_inst, with_constant::<0>, with_constant::<1>, without_param];
    let mut best = module.clone();
    loop {
        let before = size(&best);
        for edit in edits {
            let mut place = 0;
            while let Some(smaller) = edit(&best, place) {
                if size(&smaller) < size(&best) && verify(&smaller).is_ok() && fails(&smaller) {
                    best = smaller;
                } else {
                    place += 1;
                }
            }
        }
        if size(&best) == before {
            return best;
        }
    }
}

/// The size to minimise. Constants count less than other operations.
fn size(module: &Module) -> usize {
    let of_inst = |inst: &Inst| {
        if matches!(inst.op, Op::Const(0)) {
            2
        } else if matches!(inst.op, Op::Const(_)) {
            3
        } else {
            4
        }
    };
    let of_block = |block: &BlockData| {
        let ways = block.terminator.as_ref().map_or(0, |end| end.targets().len());
        block.params.len() * 4 + ways * 4 + block.insts.iter().map(of_inst).sum::<usize>()
    };
    module.functions.iter().flat_map(|function| &function.blocks).map(of_block).sum()
}

/// The function, block and index of the instruction with a number; `None` if there is no such instruction.
fn place(module: &Module, mut number: usize) -> Option<(usize, usize, usize)> {
    for (f, function) in module.functions.iter().enumerate() {
        for (b, block) in function.blocks.iter().enumerate() {
            if number < block.insts.len() {
                // Start at the end of the block: after the removal of a last use, the unused operand can be removed
                // too.
                return Some((f, b, block.insts.len() - 1 - number));
            }
            number -= block.insts.len();
        }
    }
    None
}

/// Removes an instruction. An operand of the same type, if there is one, replaces uses of the result.
fn without_inst(module: &Module, number: usize) -> Option<Module> {
    let (f, b, at) = place(module, number)?;
    let mut module = module.clone();
    let function = &mut module.functions[f];
    let inst = function.blocks[b].insts.remove(at);
    if let Some(result) = inst.result {
        let mut other = None;
        inst.op.for_each_operand(|operand| {
            if function.ty(operand) == function.ty(result) {
                other = Some(operand);
            }
        });
        if let Some(other) = other {
            rename(function, result, other);
        }
    }
    Some(module)
}

/// Replaces an instruction by a constant.
fn with_constant<const BITS: u64>(module: &Module, number: usize) -> Option<Module> {
    let (f, b, at) = place(module, number)?;
    let mut module = module.clone();
    let inst = &mut module.functions[f].blocks[b].insts[at];
    if inst.result.is_some() {
        inst.op = Op::Const(BITS);
    }
    Some(module)
}

/// Replaces a branch by a jump to one of its targets.
fn without_branch<const KEPT: usize>(module: &Module, number: usize) -> Option<Module> {
    let all = module.functions.iter().enumerate().flat_map(|(f, function)| (0..function.blocks.len()).map(move |b| (f, b)));
    let (f, b) = all.into_iter().nth(number)?;
    let mut module = module.clone();
    let function = &mut module.functions[f];
    let end = function.blocks[b].terminator.as_ref()?;
    if let Terminator::Branch(_, then, els) = end {
        let kept = if KEPT == 0 { then } else { els };
        function.blocks[b].terminator = Some(Terminator::Jump(kept.clone()));
        prune(function);
    }
    Some(module)
}

/// Replaces a block parameter by a constant.
fn without_param(module: &Module, number: usize) -> Option<Module> {
    let all = module.functions.iter().enumerate().flat_map(|(f, function)| {
        let blocks = function.blocks.iter().enumerate();
        blocks.flat_map(move |(b, block)| (0..block.params.len()).map(move |param| (f, b, param)))
    });
    let (f, b, param) = all.into_iter().nth(number)?;
    let mut module = module.clone();
    let function = &mut module.functions[f];
    let value = function.blocks[b].params.remove(param);
    function.blocks[b].insts.insert(0, Inst { op: Op::Const(0), result: Some(value), source: SourceLoc::default() });
    for block in &mut function.blocks {
        for target in targets(block) {
            if target.block.index() == b {
                target.args.remove(param);
            }
        }
    }
    Some(module)
}

fn targets(block: &mut BlockData) -> Vec<&mut wgcl_codegen::vir::Target> {
    match &mut block.terminator {
        Some(Terminator::Jump(target)) => vec![target],
        Some(Terminator::Branch(_, then, els)) => vec![then, els],
        _ => Vec::new(),
    }
}

fn rename(function: &mut Function, from: Value, to: Value) {
    let name = |value: Value| if value == from { to } else { value };
    for block in &mut function.blocks {
        block.insts.iter_mut().for_each(|inst| inst.op.map_operands(name));
        for target in targets(block) {
            target.args.iter_mut().for_each(|arg| *arg = name(*arg));
        }
        if let Some(Terminator::Return(Some(value))) = &mut block.terminator {
            *value = name(*value);
        }
    }
}

/// Removes unreachable blocks.
fn prune(function: &mut Function) {
    let mut reached = vec![false; function.blocks.len()];
    let mut open = vec![0];
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut reached[block], true) {
            open.extend(function.blocks[block].terminator.iter().flat_map(|end| end.targets()).map(|target| target.block.index()));
        }
    }
    let mut places = vec![Block(0); reached.len()];
    for (next, (place, _)) in (0..).zip(places.iter_mut().zip(&reached).filter(|(_, reached)| **reached)) {
        *place = Block(next);
    }
    let mut reached = reached.iter();
    function.blocks.retain(|_| reached.next().copied().unwrap_or(false));
    for block in &mut function.blocks {
        targets(block).into_iter().for_each(|target| target.block = places[target.block.index()]);
    }
}
