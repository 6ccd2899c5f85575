//! Calls of the module's functions (SPIR-V 3.52.9).

use super::errors::{Checked, Shown, invalid};
use super::function::{Lowering, Val};
use crate::ir::{CastOp, Op, Space, Type};

impl Lowering<'_, '_, '_> {
    pub(super) fn call(&mut self) -> Checked<()> {
        let id = self.current.operand(0)?;
        let module = self.module;
        let number = module.function_numbers.get(&id).copied().ok_or_else(|| invalid!("{id} is not a function"))?;
        let callee = &module.functions[number];
        if self.call_import(callee)? {
            return Ok(());
        }
        let helper = *self.shared.helpers.get(&id).ok_or_else(|| invalid!("{id} is not a function"))?;
        let count = self.current.operands.len() - 1;
        if count != callee.params.len() {
            return Err(invalid!("the function has {} parameters, but {count} arguments are passed", callee.params.len()));
        }
        let mut args = Vec::with_capacity(count + 1);
        for (index, param) in callee.params.iter().enumerate() {
            let (val, ty) = (self.get(self.current.operand(index + 1)?)?, param.ty()?);
            let want = module.types.ir(ty)?;
            let value = match val {
                Val::Memory(address) if module.types.get(ty)?.is_aggregate() => self.copy_of(address, ty)?,
                Val::One(value) => match (self.b.ty(value), want) {
                    (Type::Ptr(_), Type::Ptr(_)) => self.b.cast(CastOp::SpaceCast, value, want),
                    _ => value,
                },
                _ => return Err(invalid!("argument {index} does not have the type of its parameter")),
            };
            if self.b.ty(value) != want {
                return Err(invalid!("argument {index} has type {}, expected {}", Shown(self.b.ty(value)), Shown(want)));
            }
            args.push(value);
        }
        let ret = callee.inst.ty()?;
        if ret != self.current.ty()? {
            return Err(invalid!("the result type is not the return type of the function"));
        }
        let info = module.types.get(ret)?;
        if info.is_aggregate() {
            let var = self.b.temporary(module.types.size(ret)?, info.align);
            let address = self.b.var_addr(var);
            debug_assert_eq!(self.b.ty(address), Type::Ptr(Space::Private), "variables are private");
            args.insert(0, address);
            self.b.effect(Op::Call(helper, args));
            return self.define(Val::Memory(address));
        }
        match info.ir()? {
            Type::Void => {
                self.b.effect(Op::Call(helper, args));
                Ok(())
            }
            ty => {
                let value = self.b.emit(Op::Call(helper, args), ty);
                self.define(Val::One(value))
            }
        }
    }
}
