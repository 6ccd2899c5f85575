//! Emulates `double` with integers, for devices without it ([`Shaders::fp64`](crate::target::Shaders::fp64)).
//!
//! Each double becomes a 64-bit integer with its bits (IEEE 754 binary64). Memory, arguments and constants do not
//! change. Arithmetic, comparisons and conversions become calls of functions in OpenCL C (`library/double`) for each
//! lane. Small functions are inlined. The others are not, since an addition has some hundred instructions.
//!
//! ```text
//! %3: f64 = load %p align 8        %3: i64 = load %p align 8
//! %4: f64 = fadd %3, %2       =>   %4: i64 = call double_add(%3, %2)
//! %5: f64 = fneg %4                %5: i64 = xor %4, 0x8000000000000000
//! ```
//! Results are those of IEEE 754: rounded once, to nearest even, with denormals. So `fma` is fused, even if that of the
//! device is not. On devices without 64-bit integers, `passes::pairs` emulates 64-bit integers with pairs of 32-bit
//! integers.
//!
//! The pass runs at a launch before `passes::LEGALIZE`, which legalises the inlined operations. Earlier passes do not
//! depend on the implementation of doubles.

mod library;
mod rewrite;

use crate::ir::{Func, Module, Scalar};
use crate::passes::{self, Pass, PassError, inline};
use crate::target::Target;

/// Maximum number of instructions of a function that is inlined: comparisons, conversions of small integers.
const MAX_INLINED_INSTRUCTIONS: usize = 40;

/// The pass: removes the doubles from a module. Returns whether there were any.
pub(crate) const PASS: Pass = Pass::module("doubles", |module, cx| run(module, cx.target));

fn run(module: &mut Module, target: &Target) -> Result<bool, PassError> {
    let has_doubles =
        |module: &Module| module.functions.iter().any(|function| function.values.iter().any(|data| data.ty.scalar() == Some(Scalar::F64)));
    if !has_doubles(module) {
        return Ok(false);
    }
    let first = module.functions.len();
    let mut library = library::Library::new(first, target);
    for function in &mut module.functions {
        rewrite::run(function, &mut library)?;
    }
    module.functions.extend(library.functions().map(|function| (*function).clone()));
    let mut policy = inline::Policy::new(module, &[]);
    policy.inline.fill(false);
    for func in (first..module.functions.len()).map(|index| Func(index as u32)) {
        policy.measure(func, module);
        policy.inline[func.index()] = policy.size[func.index()] <= MAX_INLINED_INSTRUCTIONS;
    }
    for func in (0..first).map(|index| Func(index as u32)) {
        inline::run(module, func, &policy)?;
    }
    *module = passes::subset(module, &[Func(0)])?;
    Ok(true)
}
