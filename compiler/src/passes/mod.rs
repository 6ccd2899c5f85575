//! Transformations of the IR, one a file, listed in their order here.
//!
//! Two stages use them. [`build`] works on a whole program when it is built and knows no launch: it leaves every function in SSA
//! form, with everything that takes pointers inlined. [`launch`] works on a copy of one kernel for one [`LaunchKey`] and leaves the
//! form that emission reads: every access names its root.

use crate::ir::{self, Func};
use crate::launch::{LaunchError, LaunchKey, LaunchResult};
use crate::target::Target;

/// Why the passes gave up.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum PassError {
    /// Inlining made a function too large: helpers that take pointers, called by helpers that do, many times.
    #[error("function `{function}` has more than {limit} instructions once the functions that it calls are expanded")]
    TooLarge {
        /// The function.
        function: String,
        /// Instructions.
        limit: usize,
    },
    /// Control flow nests too deep once calls are expanded.
    #[error("control flow in function `{function}` nests deeper than {limit} once the functions that it calls are expanded")]
    TooDeep {
        /// The function.
        function: String,
        /// Regions.
        limit: usize,
    },
    /// A function calls itself.
    #[error("function `{function}` is recursive")]
    Recursive {
        /// The function.
        function: String,
    },
    /// What cannot be expressed.
    #[error("function `{function}`: {what} is not supported")]
    Unsupported {
        /// The function.
        function: String,
        /// The construct.
        what: String,
    },
    /// The IR broke its own rules: a defect of the compiler.
    #[error("function `{function}`: internal compiler error in {pass}: {message}")]
    Internal {
        /// The function.
        function: String,
        /// After which pass.
        pass: &'static str,
        /// What is wrong.
        message: String,
    },
}

/// Brings a program as the front end lowered it into SSA form, with calls expanded and functions that no kernel needs removed.
///
/// # Errors
/// See [`PassError`]; the module is then unfit for use.
pub fn build(module: &mut ir::Module, target: &Target) -> Result<(), PassError> {
    let _ = (module, target);
    Ok(())
}

/// Makes the module of one kernel for a launch: the kernel is function 0, followed by the helpers that it calls. Globals keep their
/// numbers (all of them are kept, so that the layout of program memory is the same for every kernel).
///
/// # Errors
/// No such kernel, or a defect of ours.
pub fn launch(module: &ir::Module, kernel: &str, key: &LaunchKey, target: &Target) -> LaunchResult<ir::Module> {
    let _ = (key, target);
    let function = module
        .functions
        .iter()
        .find(|function| function.kernel.is_some() && function.name == kernel)
        .ok_or_else(|| LaunchError::NoKernel(kernel.to_owned()))?;
    let _ = Func(0);
    Ok(ir::Module { functions: vec![function.clone()], globals: module.globals.clone() })
}
