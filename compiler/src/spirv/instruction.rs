//! Dispatches an instruction of a function body to the module that lowers it.

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
            || self.named_barrier()?
            || self.intel_group()?
            || self.image()?;
        match self.current.op {
            _ if done => Ok(()),
            Opcode::FunctionCall => self.call(),
            Opcode::ExtInst => self.extended(),
            Opcode::Undef => {
                // An `OpUndef` in a function body defines a new undefined value.
                let ty = self.current.ty()?;
                let val = self.undefined(ty)?;
                self.define(val)
            }
            // The first three are hints for optimisers. An `OpVariable` was created at the entry of the function.
            Opcode::LifetimeStart | Opcode::LifetimeStop | Opcode::AssumeTrueKHR | Opcode::Variable => Ok(()),
            op => Err(unsupported!("Op{op:?}")),
        }
    }
}
