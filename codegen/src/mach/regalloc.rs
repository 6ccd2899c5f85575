//! Register allocation with regalloc2.

use regalloc2::{Algorithm, MachineEnv, Output, RegallocOptions};

use super::code::CodegenError;
use super::function::{MFunction, MachineInst};

/// Functions with more instructions use Fastalloc, because Ion takes more than linear time.
const MAX_ION_INSTS: usize = 20_000;

/// Functions with more instructions are not checked, because the checker takes quadratic time.
#[cfg(debug_assertions)]
const MAX_CHECKED_INSTS: usize = 8_000;

/// Assigns registers and spill slots to all values of a function.
pub(crate) fn allocate<I: MachineInst>(function: &MFunction<I>, environment: &MachineEnv) -> Result<Output, CodegenError> {
    let algorithm = if function.insts.len() > MAX_ION_INSTS { Algorithm::Fastalloc } else { Algorithm::Ion };
    let options = RegallocOptions { verbose_log: false, validate_ssa: cfg!(debug_assertions), algorithm };
    let output = regalloc2::run(function, environment, &options)?;
    #[cfg(debug_assertions)]
    if function.insts.len() <= MAX_CHECKED_INSTS {
        let mut checker = regalloc2::checker::Checker::new(function, environment);
        checker.prepare(&output);
        checker.run().map_err(|errors| CodegenError::Checker(format!("{errors:?}")))?;
    }
    Ok(output)
}
