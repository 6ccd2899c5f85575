//! What a pass is: a name and a function of one of two forms, and what every pass is told besides what it changes.

use super::PassError;
use super::inline::Policy;
use super::simplify::Purity;
use crate::ir::{Func, Function, Module};
use crate::launch::LaunchKey;
use crate::target::Target;

/// Whether a pass has changed anything; one that cannot tell says that it has.
pub type Changed = bool;

/// What comes of a pass.
pub type PassResult = Result<Changed, PassError>;

/// A transformation of the IR.
#[derive(Debug)]
pub struct Pass {
    /// As tests, `wgclc --after` and errors name it: the name of its file.
    pub name: &'static str,
    /// What it does.
    pub run: Run,
}

/// The two forms of passes.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// Works on one function, which is taken out of its module meanwhile.
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

/// What a pass is told.
#[derive(Clone, Copy, Debug)]
pub struct Cx<'a> {
    /// The device.
    pub target: &'a Target,
    /// The launch. When a program is built there is none yet: passes of a build do not ask.
    pub key: &'a LaunchKey,
    /// Which functions may be called or not without anyone noticing.
    pub purity: &'a Purity,
    /// Which calls are expanded.
    pub policy: &'a Policy,
    /// The module of the function, whose own place in it is empty. Without meaning for a pass that works on a module.
    pub module: &'a Module,
    /// The function's number there.
    pub func: Func,
}

impl Cx<'_> {
    /// Bytes of a pointer.
    pub const fn pointer_size(&self) -> u32 {
        self.target.pointer_size()
    }
}

/// One line of a list of passes.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A pass.
    Pass(&'static Pass),
    /// Several steps that have a name of their own.
    Steps(&'static [Step]),
    /// Steps for some devices only.
    If(fn(&Target) -> bool, &'static [Step]),
    /// Steps for the kernel alone, not for the functions that it calls.
    KernelOnly(&'static [Step]),
    /// All these steps for one function after the other.
    EachFunction(&'static [Step]),
    /// Steps, and what follows if any of them has changed anything.
    IfChanged(&'static [Step], &'static [Step]),
    /// The same several times, at most so many, until the first steps change nothing.
    Repeat(u32, &'static [Step], &'static [Step]),
}
