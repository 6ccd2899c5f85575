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
pub(crate) fn allocate<I: MachineInst>(function: &mut MFunction<I>, environment: &MachineEnv) -> Result<Output, CodegenError> {
    if function.insts.len() > MAX_ION_INSTS {
        let environment = without_limits(function, environment);
        return Ok(regalloc2::run(function, &environment, &options(Algorithm::Fastalloc))?);
    }
    let output = regalloc2::run(function, environment, &options(Algorithm::Ion))?;
    #[cfg(debug_assertions)]
    if function.insts.len() <= MAX_CHECKED_INSTS {
        let mut checker = regalloc2::checker::Checker::new(function, environment);
        checker.prepare(&output);
        checker.run().map_err(|errors| CodegenError::Checker(format!("{errors:?}")))?;
    }
    Ok(output)
}

const fn options(algorithm: Algorithm) -> RegallocOptions {
    RegallocOptions { verbose_log: false, validate_ssa: cfg!(debug_assertions), algorithm }
}

/// Removes the operands' limits of register numbers, which Fastalloc does not support. Returns the environment without
/// the registers of the same class outside of the limits.
fn without_limits<I: MachineInst>(function: &mut MFunction<I>, environment: &MachineEnv) -> MachineEnv {
    let limits = function.remove_limits();
    let mut environment = environment.clone();
    for (class, limit) in limits.into_iter().enumerate() {
        for set in [&mut environment.preferred_regs_by_class[class], &mut environment.non_preferred_regs_by_class[class]] {
            set.into_iter().filter(|reg| reg.hw_enc() >= limit).for_each(|reg| set.remove(reg));
        }
    }
    environment
}
