//! The definition of a pass (a name, and a transformation of a function or of a module), and the context of passes.
//!
//! Example: `Pass::function("renumber", |function, _| { run(function); Ok(true) })`.

use super::PassError;
use super::inline::Policy;
use super::simplify::Purity;
use crate::ir::{Func, Function, Module};
use crate::launch::LaunchKey;
use crate::target::Target;

/// Whether a pass has changed the IR. Passes that do not track changes return true.
pub type Changed = bool;

pub type PassResult = Result<Changed, PassError>;

/// A transformation of the IR.
#[derive(Debug)]
pub struct Pass {
    /// The name in tests, `wgclc --after` and errors. It is the name of the file, unless the file has several passes.
    pub name: &'static str,
    pub run: Run,
}

/// The two forms of passes.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// Transforms one function, which is temporarily removed from its module.
    Function(fn(&mut Function, &Cx<'_>) -> PassResult),
    Module(fn(&mut Module, &Cx<'_>) -> PassResult),
}

impl Pass {
    /// Creates a pass that transforms one function.
    pub const fn function(name: &'static str, run: fn(&mut Function, &Cx<'_>) -> PassResult) -> Self {
        Self { name, run: Run::Function(run) }
    }

    /// Creates a pass that transforms a module.
    pub const fn module(name: &'static str, run: fn(&mut Module, &Cx<'_>) -> PassResult) -> Self {
        Self { name, run: Run::Module(run) }
    }
}

/// The context of a pass.
#[derive(Clone, Copy, Debug)]
pub struct Cx<'a> {
    pub target: &'a Target,
    /// The launch key. Passes of a build do not use it.
    pub key: &'a LaunchKey,
    /// The functions without side effects. A call of such a function can be removed if its result is unused.
    pub purity: &'a Purity,
    /// The functions whose calls are inlined.
    pub policy: &'a Policy,
    /// The module of the function. It contains an empty function in place of the function itself. Unspecified for
    /// module passes.
    pub module: &'a Module,
    /// The function's number in the module. Unspecified for module passes.
    pub func: Func,
}

impl Cx<'_> {
    /// Returns the size of a pointer in bytes.
    pub const fn pointer_size(&self) -> u32 {
        self.target.pointer_size()
    }
}

/// One entry of a list of passes.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Pass(&'static Pass),
    /// Runs another list.
    Steps(&'static [Step]),
    /// Runs a list for targets that satisfy a condition.
    If(fn(&Target) -> bool, &'static [Step]),
    /// Runs a list on the kernel, but not on its callees.
    KernelOnly(&'static [Step]),
    /// Runs the whole list on one function, then on the next function.
    EachFunction(&'static [Step]),
    /// Runs the first list. Runs the second list if the first list changed the IR.
    IfChanged(&'static [Step], &'static [Step]),
    /// Runs the first list and then the second list, at most N times. Stops when the first list changes nothing.
    Repeat(u32, &'static [Step], &'static [Step]),
}
