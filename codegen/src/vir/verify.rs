//! Verifies functions against the rules of the vector IR.

use super::dominators::Dominators;
use super::entities::Value;
use super::function::{Function, Module};
use super::op::{Addr, BinOp, CastOp, Cond, Inst, Mem, Op, Target, Terminator, UnOp};
use super::types::{Elem, Type};

/// A broken rule: a defect of the code that built the function.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("function `{function}`: {place}: {message}")]
pub struct VerifyError {
    /// The name of the function.
    pub function: String,
    /// The signature, block or instruction that breaks the rule, as text.
    pub place: String,
    /// The broken rule.
    pub message: String,
}

/// Verifies all functions of a module against the rules of [the vector IR](super). Does not check that the blocks of a
/// loop are contiguous.
///
/// # Errors
/// Reports the first broken rule.
pub fn verify(module: &Module) -> Result<(), VerifyError> {
    module.functions.iter().try_for_each(|function| Checker::new(module, function).function())
}

struct Checker<'a> {
    module: &'a Module,
    function: &'a Function,
    /// The block that defines each value. `None` if the definition has not been visited yet.
    defined: Vec<Option<u32>>,
    dominators: Dominators,
}

type Check = Result<(), String>;

fn require(holds: bool, message: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(message()) }
}

impl<'a> Checker<'a> {
    fn new(module: &'a Module, function: &'a Function) -> Self {
        Self { module, function, defined: vec![None; function.values.len()], dominators: Dominators::of(function) }
    }

    fn error(&self, place: String, message: String) -> VerifyError {
        VerifyError { function: self.function.name.clone(), place, message }
    }

    fn function(&mut self) -> Result<(), VerifyError> {
        let params = &self.function.params;
        let general = params.len() <= 6 && params.iter().chain(&self.function.returns).all(|ty| ty.is_general());
        if !general || self.function.blocks.first().is_none_or(|block| !block.params.is_empty()) {
            return Err(self.error(
                "signature".into(),
                "expected at most six integer parameters, an integer result or none, and an entry block without parameters".into(),
            ));
        }
        for (index, block) in (0..).zip(&self.function.blocks) {
            for &param in &block.params {
                self.define(index, param).map_err(|message| self.error(format!("b{index}"), message))?;
            }
            for inst in &block.insts {
                self.inst(index, inst).map_err(|message| self.error(format!("b{index}: {:?} = {}", inst.result, inst.op), message))?;
                if let Some(result) = inst.result {
                    self.define(index, result).map_err(|message| self.error(format!("b{index}: {}", inst.op), message))?;
                }
            }
            let Some(terminator) = &block.terminator else {
                return Err(self.error(format!("b{index}"), "the block has no terminator".into()));
            };
            // Arguments of a jump are uses in this block: their definitions must dominate this block, even if the
            // target is an earlier block.
            self.terminator(index, terminator).map_err(|message| self.error(format!("b{index}: {terminator}"), message))?;
        }
        Ok(())
    }

    fn define(&mut self, block: u32, value: Value) -> Check {
        let place = self.defined.get_mut(value.index()).ok_or_else(|| format!("{value} is not a value of the function"))?;
        require(place.is_none(), || format!("{value} is defined twice"))?;
        *place = Some(block);
        Ok(())
    }

    /// Returns the type of a value. Fails if the definition of the value has not been visited, or does not dominate the
    /// block.
    fn used(&self, block: u32, value: Value) -> Result<Type, String> {
        let defined = self.defined.get(value.index()).copied().flatten().ok_or_else(|| format!("{value} is used before its definition"))?;
        require(!self.dominators.is_reachable(block) || self.dominators.dominates(defined, block), || {
            format!("{value} is defined in b{defined}, which does not dominate this block")
        })?;
        Ok(self.function.ty(value))
    }

    fn target(&self, block: u32, target: &Target) -> Check {
        let to = self.function.blocks.get(target.block.index()).ok_or_else(|| format!("{} is not a block", target.block))?;
        require(target.block.index() != 0, || "the entry block is the target of a jump".into())?;
        let (params, args) = (to.params.len(), target.args.len());
        require(params == args, || format!("arguments for {}: expected {params}, got {args}", target.block))?;
        for (&param, &arg) in to.params.iter().zip(&target.args) {
            let (param, arg) = (self.function.ty(param), self.used(block, arg)?);
            require(param == arg, || format!("{}: expected an argument of type {param}, got {arg}", target.block))?;
        }
        Ok(())
    }

    fn terminator(&self, block: u32, terminator: &Terminator) -> Check {
        match terminator {
            Terminator::Branch(cond, ..) => match *cond {
                Cond::Cmp(_, a, b) => {
                    let (a, b) = (self.used(block, a)?, self.used(block, b)?);
                    require(a == b && a.is_general(), || "expected two integers of the same type".into())?;
                }
                Cond::NonZero(value) => require(self.used(block, value)? == Type::I32, || "expected an i32 as condition".into())?,
                Cond::Any(mask) | Cond::All(mask) => {
                    require(matches!(self.used(block, mask)?, Type::Mask(_)), || "expected a mask as condition".into())?;
                }
            },
            Terminator::Return(value) => {
                let ty = value.map(|value| self.used(block, value)).transpose()?;
                require(ty == self.function.returns, || "the result has the wrong type".into())?;
            }
            Terminator::Jump(_) | Terminator::Unreachable => {}
        }
        terminator.targets().iter().try_for_each(|target| self.target(block, target))
    }

    fn address(&self, block: u32, addr: &Addr) -> Check {
        let base = self.used(block, addr.base)?;
        let index = addr.index.map(|(index, scale)| Ok::<_, String>((self.used(block, index)?, scale))).transpose()?;
        let index = index.is_none_or(|(ty, scale)| ty == Type::I64 && matches!(scale, 1 | 2 | 4 | 8));
        require(base == Type::I64 && index, || "expected i64 addresses, and a scale of 1, 2, 4 or 8".into())
    }

    fn mask(&self, block: u32, mask: Option<Value>, of: Type) -> Check {
        let Some(mask) = mask else { return Ok(()) };
        let ty = self.used(block, mask)?;
        require(ty == of.compared(), || format!("expected {}, got {ty}", of.compared()))
    }

    fn inst(&self, block: u32, inst: &Inst) -> Check {
        let mut operands = Ok(());
        inst.op.for_each_operand(|value| {
            if operands.is_ok() {
                operands = self.used(block, value).map(drop);
            }
        });
        operands?;
        let returns = match &inst.op {
            Op::Call(func, _) => {
                self.module.functions.get(func.index()).ok_or_else(|| format!("{func} is not a function"))?.returns.is_some()
            }
            Op::CallHelper(..) => inst.result.is_some(),
            op => op.has_result(),
        };
        require(inst.result.is_some() == returns, || "the result is missing or unexpected".into())?;
        let ty = inst.result.map(|result| self.function.ty(result));
        if let Some(Type::Vector(elem, lanes)) = ty {
            require(matches!(elem.bytes() * u32::from(lanes), 16 | 32 | 64), || {
                format!("expected a vector of 16, 32 or 64 bytes, got {}", Type::Vector(elem, lanes))
            })?;
        }
        self.op(block, &inst.op, ty.unwrap_or(Type::I32))
    }

    fn op(&self, block: u32, op: &Op, ty: Type) -> Check {
        let of = |value: Value| self.function.ty(value);
        let wrong = || format!("the types of the operands do not match {ty}");
        match op {
            Op::Const(_) | Op::Undef | Op::Fence => Ok(()),
            Op::Clock => require(ty == Type::I64, wrong),
            Op::Lanes(lanes) => require(matches!(ty, Type::Vector(..)) && lanes.len() == usize::from(ty.lanes()), wrong),
            Op::Param(index) => require(block == 0 && self.function.params.get(usize::from(*index)) == Some(&ty), || {
                "the parameter does not exist, or is not in block 0".into()
            }),
            Op::Un(UnOp::HalfToFloat, a) => require(ty == of(*a).with_elem(Elem::F32) && of(*a).elem() == Some(Elem::I32), wrong),
            Op::Un(UnOp::FloatToHalf, a) => require(ty == of(*a).with_elem(Elem::I32) && of(*a).elem() == Some(Elem::F32), wrong),
            Op::Un(op, a) => require(ty == of(*a) && (ty.elem().is_some() || *op == UnOp::Not), wrong),
            Op::Bin(op, a, b) => {
                let bits = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::AndNot);
                let scalar = matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem)
                    || matches!(op, BinOp::MulHiU | BinOp::MulHiS) && ty.elem() == Some(Elem::I64);
                let float = matches!(op, BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv | BinOp::FMin | BinOp::FMax);
                let packed =
                    matches!(op, BinOp::AddBytes | BinOp::SubBytes | BinOp::MulBytes | BinOp::AddWords | BinOp::SubWords | BinOp::MulWords);
                require(!packed || matches!(ty, Type::Vector(Elem::I32, _)), wrong)?;
                let shape = bits || ty.elem().is_some_and(|elem| elem.is_float() == float) && (!scalar || ty.is_general());
                require(of(*a) == ty && of(*b) == ty && shape, wrong)
            }
            Op::Tern(_, a, b, c) => {
                require([a, b, c].iter().all(|value| of(**value) == ty) && ty.elem().is_some_and(Elem::is_float), wrong)
            }
            Op::Cmp(_, a, b) => require(of(*a) == of(*b) && ty == of(*a).compared() && of(*a).elem().is_some(), wrong),
            Op::Select(cond, a, b) => require(of(*a) == ty && of(*b) == ty && of(*cond) == ty.compared(), wrong),
            Op::Cast(op, a) => {
                let sizes = (of(*a).elem().map(Elem::bits), ty.elem().map(Elem::bits));
                let same = sizes.0 == sizes.1 && *op != CastOp::SExt && *op != CastOp::ZExt && *op != CastOp::Trunc;
                let scalar = matches!((of(*a), ty), (Type::Scalar(_), Type::Scalar(_)));
                require(of(*a).lanes() == ty.lanes() && (scalar && *op != CastOp::Bitcast || same), wrong)
            }
            Op::Widen(_, a, part) => {
                let (Type::Vector(from, many), Type::Vector(to, few)) = (of(*a), ty) else { return Err(wrong()) };
                require(
                    from.bits() == 32 && to.bits() == 64 && few > 0 && u32::from(few) * (u32::from(*part) + 1) <= u32::from(many),
                    wrong,
                )
            }
            Op::Narrow(_, list) => {
                let lanes: u32 = list.iter().map(|value| u32::from(of(*value).lanes())).sum();
                let wide = list.iter().all(|value| of(*value).elem().is_some_and(|elem| elem.bits() == 64));
                require(wide && lanes == u32::from(ty.lanes()) && ty.elem().is_some_and(|elem| elem.bits() == 32), wrong)
            }
            Op::Splat(a) => require(matches!(ty, Type::Vector(elem, _) if of(*a) == Type::Scalar(elem)), wrong),
            Op::Extract(a, lane) => require(matches!(of(*a), Type::Vector(elem, n) if ty == Type::Scalar(elem) && *lane < n), wrong),
            Op::Shuffle(a, b, lanes) => {
                let fits = lanes.len() == usize::from(ty.lanes()) && lanes.iter().all(|&lane| lane < 2 * ty.lanes());
                require(of(*a) == ty && of(*b) == ty && matches!(ty, Type::Vector(..)) && fits, wrong)
            }
            Op::Permute(a, index) => {
                let narrow = matches!(ty, Type::Vector(elem, _) if elem.bits() == 32);
                require(narrow && of(*a) == ty && of(*index) == ty.with_elem(Elem::I32), wrong)
            }
            Op::MaskPart(a, part) => {
                let (Type::Mask(from), Type::Mask(to)) = (of(*a), ty) else { return Err(wrong()) };
                require(from.bits == 32 && to.bits == 64 && u32::from(to.lanes) * (u32::from(*part) + 1) <= u32::from(from.lanes), wrong)
            }
            Op::MaskJoin(list) => {
                let lanes: u32 = list.iter().map(|value| u32::from(of(*value).lanes())).sum();
                let wide = list.iter().all(|value| matches!(of(*value), Type::Mask(mask) if mask.bits == 64));
                require(wide && matches!(ty, Type::Mask(mask) if mask.bits == 32 && u32::from(mask.lanes) == lanes), wrong)
            }
            Op::MaskBits(a) => require(matches!(of(*a), Type::Mask(_)) && ty == Type::I32, wrong),
            Op::MaskOf(a) => require(matches!(ty, Type::Mask(_)) && of(*a) == Type::I32, wrong),
            Op::Call(func, args) => {
                let callee = &self.module.functions[func.index()];
                let given = args.iter().map(|arg| of(*arg));
                require(given.eq(callee.params.iter().copied()) && callee.returns.is_none_or(|returns| returns == ty), wrong)
            }
            Op::CallHelper(address, args) => require(
                of(*address) == Type::I64 && args.len() <= 6 && args.iter().all(|arg| of(*arg).is_general()) && ty.is_general(),
                wrong,
            ),
            op => self.access(block, op, ty),
        }
    }

    fn access(&self, block: u32, op: &Op, ty: Type) -> Check {
        let of = |value: Value| self.function.ty(value);
        let wrong = || "the types of the access do not match".to_owned();
        let atomic = |mem: Mem| matches!(mem, Mem::Elem(Elem::I32 | Elem::I64)) && ty == Type::Scalar(mem.elem());
        match op {
            Op::Load(mem, addr) => {
                self.address(block, addr)?;
                require(ty == Type::Scalar(mem.elem()), wrong)
            }
            Op::Store(mem, addr, value) => {
                self.address(block, addr)?;
                require(of(*value) == Type::Scalar(mem.elem()), wrong)
            }
            Op::LoadVector { mem, addr, mask } => {
                self.address(block, addr)?;
                self.mask(block, *mask, ty)?;
                require(matches!(ty, Type::Vector(elem, _) if elem == mem.elem()), wrong)
            }
            Op::LoadPieces(elem, places) => {
                places.iter().try_for_each(|place| self.address(block, place))?;
                let pieces = places.len() as u32;
                require(
                    pieces > 1 && matches!(ty, Type::Vector(of, lanes) if of == *elem && u32::from(lanes) * of.bytes() == 16 * pieces),
                    wrong,
                )
            }
            Op::StoreVector { mem, addr, value, mask } => {
                self.address(block, addr)?;
                self.mask(block, *mask, of(*value))?;
                require(matches!(of(*value), Type::Vector(elem, _) if elem == mem.elem()), wrong)
            }
            Op::Gather { elem, base, index, scale, mask } => {
                self.indices(*base, index, *scale, ty)?;
                self.mask(block, *mask, ty)?;
                require(ty.elem() == Some(*elem), wrong)
            }
            Op::Scatter { elem, base, index, scale, value, mask } => {
                self.indices(*base, index, *scale, of(*value))?;
                self.mask(block, *mask, of(*value))?;
                require(of(*value).elem() == Some(*elem), wrong)
            }
            Op::AtomicAdd(mem, addr, value) | Op::AtomicExchange(mem, addr, value) => {
                self.address(block, addr)?;
                require(atomic(*mem) && of(*value) == ty, wrong)
            }
            Op::AtomicCompareExchange(mem, addr, expected, desired) => {
                self.address(block, addr)?;
                let short = *mem == Mem::I16 && ty == Type::I32;
                require((atomic(*mem) || short) && of(*expected) == ty && of(*desired) == ty, wrong)
            }
            Op::PrefetchWrite(addr) => self.address(block, addr),
            _ => Err("unknown operation".into()),
        }
    }

    fn indices(&self, base: Option<Value>, index: &[Value], scale: u8, of: Type) -> Check {
        let ty = |value: Value| self.function.ty(value);
        let lanes: u32 = index.iter().map(|value| u32::from(ty(*value).lanes())).sum();
        let narrow = index.len() == 1 && ty(index[0]).elem() == Some(Elem::I32);
        let wide = index.len() <= 2 && index.iter().all(|value| ty(*value).elem() == Some(Elem::I64));
        let fits = lanes == u32::from(of.lanes()) && (narrow || wide) && matches!(scale, 1 | 2 | 4 | 8);
        require(fits && base.is_none_or(|base| ty(base) == Type::I64), || {
            "expected an i64 base or none, one i32 or i64 index per lane, and a scale of 1, 2, 4 or 8".into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::verify;
    use crate::vir::{BinOp, Builder, Module, Op, Target, Terminator, Type};

    #[test]
    fn definitions_must_dominate_uses_and_types_must_match() {
        let mut build = Builder::new("f", vec![Type::I64], Some(Type::I64));
        let param = build.value_of(Type::I64, Op::Param(0));
        let next = build.block();
        let carried = build.block_param(next, Type::I64);
        build.end(Terminator::Jump(Target::new(next, [param])));
        build.enter(next);
        let sum = build.value_of(Type::I64, Op::Bin(BinOp::Add, carried, param));
        build.end(Terminator::Return(Some(sum)));
        let mut module = Module { functions: vec![build.finish()] };
        assert_eq!(verify(&module), Ok(()));
        module.functions[0].blocks[1].insts[0].op = Op::Bin(BinOp::Add, carried, sum);
        assert!(verify(&module).is_err());
        module.functions[0].blocks[1].insts[0].op = Op::Bin(BinOp::FAdd, carried, param);
        assert!(verify(&module).is_err());
    }
}
