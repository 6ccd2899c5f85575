//! `double` by integers, for devices that have none ([`Shaders::fp64`](crate::target::Shaders::fp64)).
//!
//! Each such number becomes a 64-bit integer, its bits (IEEE 754 binary64). Memory, arguments and constants hold what they held; arithmetic, comparisons and conversions are calls of functions written
//! in OpenCL C (`library/double`), a lane at a time. Small ones are put in the place of their calls; the others stay functions, as an addition has some hundred instructions.
//!
//! ```text
//! %3: f64 = load %p align 8        %3: i64 = load %p align 8
//! %4: f64 = fadd %3, %2       =>   %4: i64 = call double_add(%3, %2)
//! %5: f64 = fneg %4                %5: i64 = xor %4, 0x8000000000000000
//! ```
//! Results are what IEEE 754 says: rounded once, to nearest even, with denormals. So `fma` is fused, whatever the device's own does. Where there are no 64-bit integers either,
//! `passes::pairs` makes words of these.
//!
//! Runs at a launch before `passes::LEGALIZE`, which makes simpler what the functions are made of. Nothing before it knows how a device does doubles.

mod library;
mod rewrite;

use crate::ir::{Func, Module, Scalar};
use crate::passes::{self, Pass, PassError, inline};
use crate::target::Target;

/// Functions of at most so many instructions are put in the place of their calls: comparisons, conversions of small integers.
const SMALL: usize = 40;

/// The pass: takes the doubles out of a module; says whether there were any.
pub(crate) const PASS: Pass = Pass::module("doubles", |module, cx| run(module, cx.target));

fn run(module: &mut Module, target: &Target) -> Result<bool, PassError> {
    let has_doubles =
        |module: &Module| module.functions.iter().any(|function| function.values.iter().any(|data| data.ty.scalar() == Some(Scalar::F64)));
    if !has_doubles(module) {
        return Ok(false);
    }
    let own = module.functions.len();
    let mut library = library::Library::new(own, target);
    for function in &mut module.functions {
        rewrite::run(function, &mut library)?;
    }
    module.functions.extend(library.functions().map(|function| (*function).clone()));
    let mut policy = inline::Policy::new(module, &[]);
    policy.inline.fill(false);
    for func in (own..module.functions.len()).map(|index| Func(index as u32)) {
        policy.measure(func, module);
        policy.inline[func.index()] = policy.size[func.index()] <= SMALL;
    }
    for func in (0..own).map(|index| Func(index as u32)) {
        inline::run(module, func, &policy)?;
    }
    *module = passes::subset(module, &[Func(0)])?;
    Ok(true)
}
