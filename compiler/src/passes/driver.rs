//! Runs lists of passes. Verifies the IR after each pass, measures its time, and calls the observer.

use std::fmt;

use super::inline::Policy;
use super::pass::{Changed, Cx, Pass, PassResult, Run, Step};
use super::simplify::Purity;
use super::{PassError, functions};
use crate::ir::{self, Func, Function, Module};
use crate::launch::LaunchKey;
use crate::target::Target;
use crate::timing::stage;

/// The state after a pass.
#[derive(Clone, Copy, Debug)]
pub struct AfterPass<'a> {
    /// The name of the pass.
    pub pass: &'static str,
    module: &'a Module,
    /// A function that is currently taken out of the module.
    apart: Option<(Func, &'a Function)>,
}

impl AfterPass<'_> {
    /// The module after the pass.
    pub fn module(&self) -> Module {
        let mut module = self.module.clone();
        if let Some((func, function)) = self.apart {
            module.functions[func.index()] = function.clone();
        }
        module
    }
}

impl fmt::Display for AfterPass<'_> {
    /// Prints the pass and its function, or the whole module for module passes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.apart {
            Some((func, function)) => {
                let alone = Module { functions: vec![function.clone()], globals: Vec::new() };
                writeln!(f, "; after {} of {func}\n{alone}", self.pass)
            }
            None => writeln!(f, "; after {}\n{}", self.pass, self.module),
        }
    }
}

/// An observer that is called with the IR after every pass: `wgclc --after`, and tests that bisect passes.
pub type Watch<'a> = dyn Fn(&AfterPass<'_>) + Sync + 'a;

/// Runs steps for one device and launch.
pub struct Driver<'a> {
    target: &'a Target,
    key: &'a LaunchKey,
    watch: Option<&'a Watch<'a>>,
    pub(super) purity: Purity,
    pub(super) policy: Policy,
}

impl<'a> Driver<'a> {
    /// A driver for a device and a launch. Functions count as impure, and no call is inlined, until the driver is
    /// configured.
    pub fn new(target: &'a Target, key: &'a LaunchKey, watch: Option<&'a Watch<'a>>) -> Self {
        Self { target, key, watch, purity: Purity::unknown(), policy: Policy::default() }
    }

    /// Whether an observer is called after every pass.
    pub(super) const fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Size of a pointer in bytes.
    pub(super) const fn pointer_size(&self) -> u32 {
        self.target.pointer_size()
    }

    /// Whether functions may take pointers.
    pub(super) const fn takes_addresses(&self) -> bool {
        self.target.inlining.takes_addresses
    }

    /// Records which functions that the kernel (the first function) calls are pure.
    pub fn note_purity(&mut self, module: &Module) {
        // Callees have larger numbers than callers.
        for func in functions(module).rev() {
            if func != Func(0) {
                self.purity.note(func, &module.functions[func.index()]);
            }
        }
    }

    /// Runs steps on a module.
    ///
    /// # Errors
    /// See [`PassError`]; the module is then unfit for use.
    pub fn run(&self, module: &mut Module, steps: &[Step]) -> PassResult {
        let mut changed = false;
        for step in steps {
            changed |= match *step {
                Step::Pass(pass) => self.pass(module, pass)?,
                Step::Steps(steps) => self.run(module, steps)?,
                Step::If(holds, steps) => holds(self.target) && self.run(module, steps)?,
                Step::KernelOnly(steps) => !module.functions.is_empty() && self.on_function(module, Func(0), steps)?,
                Step::EachFunction(steps) => {
                    let mut any = false;
                    for func in functions(module) {
                        any |= self.on_function(module, func, steps)?;
                    }
                    any
                }
                Step::IfChanged(first, then) => {
                    self.run(module, first)? && {
                        self.run(module, then)?;
                        true
                    }
                }
                Step::Repeat(most, first, then) => {
                    let mut rounds = 0;
                    while rounds < most && self.run(module, first)? {
                        self.run(module, then)?;
                        rounds += 1;
                    }
                    rounds > 0
                }
            };
        }
        Ok(changed)
    }

    fn pass(&self, module: &mut Module, pass: &'static Pass) -> PassResult {
        match pass.run {
            Run::Function(_) => {
                let mut changed = false;
                for func in functions(module) {
                    changed |= self.on_function(module, func, &[Step::Pass(pass)])?;
                }
                Ok(changed)
            }
            Run::Module(run) => {
                let nothing = Module::default();
                let cx = self.cx(&nothing, Func(0));
                let changed = stage(pass.name, || run(module, &cx))?;
                for function in &module.functions {
                    verify(module, function, pass.name)?;
                }
                self.show(&AfterPass { pass: pass.name, module, apart: None });
                Ok(changed)
            }
        }
    }

    /// Runs steps on one function of a module.
    ///
    /// # Errors
    /// See [`PassError`].
    pub fn on_function(&self, module: &mut Module, func: Func, steps: &[Step]) -> PassResult {
        let mut function = take(module, func);
        let made = self.apart(&mut function, module, func, steps);
        module.functions[func.index()] = function;
        made
    }

    /// Runs steps on a function that was taken out of its module.
    pub(super) fn apart(&self, function: &mut Function, module: &Module, func: Func, steps: &[Step]) -> PassResult {
        let mut changed = false;
        for step in steps {
            changed |= self.step(function, module, func, step)?;
        }
        Ok(changed)
    }

    fn step(&self, function: &mut Function, module: &Module, func: Func, step: &Step) -> PassResult {
        match *step {
            Step::Pass(Pass { name, run: Run::Function(run) }) => {
                let changed = stage(name, || run(function, &self.cx(module, func)))?;
                verify(module, function, name)?;
                self.show(&AfterPass { pass: name, module, apart: Some((func, function)) });
                Ok(changed)
            }
            Step::Pass(Pass { name, run: Run::Module(_) }) => {
                let message = "it transforms a module, but was called for a function".to_owned();
                Err(PassError::Internal { function: function.name.clone(), pass: name, message })
            }
            Step::Steps(steps) | Step::EachFunction(steps) => self.apart(function, module, func, steps),
            Step::If(holds, steps) => Ok(holds(self.target) && self.apart(function, module, func, steps)?),
            Step::KernelOnly(steps) => Ok(func == Func(0) && self.apart(function, module, func, steps)?),
            Step::IfChanged(first, then) => {
                let changed: Changed = self.apart(function, module, func, first)?;
                if changed {
                    self.apart(function, module, func, then)?;
                }
                Ok(changed)
            }
            Step::Repeat(most, first, then) => {
                let mut rounds = 0;
                while rounds < most && self.apart(function, module, func, first)? {
                    self.apart(function, module, func, then)?;
                    rounds += 1;
                }
                Ok(rounds > 0)
            }
        }
    }

    fn cx<'c>(&'c self, module: &'c Module, func: Func) -> Cx<'c> {
        Cx { target: self.target, key: self.key, purity: &self.purity, policy: &self.policy, module, func }
    }

    fn show(&self, left: &AfterPass<'_>) {
        if let Some(watch) = self.watch {
            watch(left);
        }
    }
}

/// Takes a function out of its module; the caller puts it back.
pub(super) fn take(module: &mut Module, func: Func) -> Function {
    std::mem::replace(&mut module.functions[func.index()], Function::new("", ir::Type::Void))
}

/// Runs the verifier if assertions are enabled: an error is a defect of the pass.
fn verify(module: &Module, function: &Function, pass: &'static str) -> Result<(), PassError> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    ir::verify::verify_function(module, function).map_err(|errors| PassError::Internal {
        function: function.name.clone(),
        pass,
        message: errors.first().map_or_else(String::new, ToString::to_string),
    })
}
