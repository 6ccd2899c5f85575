//! Which file lowers an instruction of a function's body.

use rspirv::spirv::Op as Opcode;

use super::errors::{Checked, unsupported};
use super::function::Lowering;

impl Lowering<'_, '_, '_> {
    /// Lowers the current instruction.
    pub(super) fn instruction(&mut self) -> Checked<()> {
        let done = self.arithmetic()?
            || self.composite()?
            || self.memory()?
            || self.pipe()?
            || self.device_enqueue()?
            || self.conversion()?
            || self.atomic()?
            || self.group()?
            || self.intel_group()?
            || self.image()?;
        match self.current.op {
            _ if done => Ok(()),
            Opcode::FunctionCall => self.call(),
            Opcode::ExtInst => self.extended(),
            Opcode::Undef => {
                // As a constant it is known; here it has a place of its own.
                let ty = self.current.ty()?;
                let val = self.undefined(ty)?;
                self.define(val)
            }
            // What only optimisers and debuggers ask for.
            Opcode::LifetimeStart | Opcode::LifetimeStop | Opcode::AssumeTrueKHR | Opcode::Variable => Ok(()),
            op => Err(unsupported!("Op{op:?}")),
        }
    }
}
