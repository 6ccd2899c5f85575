//! The definition of a pass: a name and a function of one of two forms, and the context of every pass.
//!
//! Example: `Pass::function("renumber", |function, _| { run(function); Ok(true) })`.

use super::PassError;
use super::inline::Policy;
use super::simplify::Purity;
use crate::ir::{Func, Function, Module};
use crate::launch::LaunchKey;
use crate::target::Target;

/// Whether a pass has changed anything; passes that do not know return true.
pub type Changed = bool;

pub type PassResult = Result<Changed, PassError>;

/// A transformation of the IR.
#[derive(Debug)]
pub struct Pass {
    /// The name in tests, `wgclc --after` and errors: the name of the pass's file.
    pub name: &'static str,
    pub run: Run,
}

/// The two forms of passes.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// Works on one function, which is taken out of its module.
    Function(fn(&mut Function, &Cx<'_>) -> PassResult),
    /// Works on a module.
    Module(fn(&mut Module, &Cx<'_>) -> PassResult),
}

impl Pass {
    /// A pass that works on one function.
    pub const fn function(name: &'static str, run: fn(&mut Function, &Cx<'_>) -> PassResult) -> Self {
        Self { name, run: Run::Function(run) }
    }

    /// A pass that works on a module.
    pub const fn module(name: &'static str, run: fn(&mut Module, &Cx<'_>) -> PassResult) -> Self {
        Self { name, run: Run::Module(run) }
    }
}

/// The context of a pass.
#[derive(Clone, Copy, Debug)]
pub struct Cx<'a> {
    pub target: &'a Target,
    /// The launch. Passes of a build do not use it.
    pub key: &'a LaunchKey,
    /// Which functions can be called, or not called, without an observable difference.
    pub purity: &'a Purity,
    /// Which calls are inlined.
    pub policy: &'a Policy,
    /// The module of the function, without the function itself. Meaningless for passes on modules.
    pub module: &'a Module,
    /// The function's number in the module.
    pub func: Func,
}

impl Cx<'_> {
    /// Size of a pointer in bytes.
    pub const fn pointer_size(&self) -> u32 {
        self.target.pointer_size()
    }
}

/// One entry of a list of passes.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Pass(&'static Pass),
    /// Several steps with a separate name.
    Steps(&'static [Step]),
    /// Steps for devices that satisfy a condition.
    If(fn(&Target) -> bool, &'static [Step]),
    /// Steps for the kernel only, not for its callees.
    KernelOnly(&'static [Step]),
    /// All steps for one function after the other.
    EachFunction(&'static [Step]),
    /// Steps, and steps that follow if any of the first ones changed anything.
    IfChanged(&'static [Step], &'static [Step]),
    /// At most N rounds of both lists of steps, until the first list changes nothing.
    Repeat(u32, &'static [Step], &'static [Step]),
}
