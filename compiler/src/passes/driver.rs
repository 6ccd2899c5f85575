//! Runs lists of [`Step`]s. After each pass, verifies the IR if assertions are enabled, and calls the observer.
//! Measures the time of each pass.

use std::fmt;

use super::inline::Policy;
use super::pass::{Changed, Cx, Pass, PassResult, Run, Step};
use super::simplify::Purity;
use super::{PassError, functions};
use crate::ir::{self, Func, Function, Module};
use crate::launch::LaunchKey;
use crate::target::Target;
use crate::timing::stage;

/// The IR after a pass.
#[derive(Clone, Copy, Debug)]
pub struct AfterPass<'a> {
    /// The name of the pass.
    pub pass: &'static str,
    module: &'a Module,
    /// For function passes, the function that the pass changed. It is currently not in the module.
    detached: Option<(Func, &'a Function)>,
}

impl AfterPass<'_> {
    /// Returns the module after the pass.
    pub fn module(&self) -> Module {
        let mut module = self.module.clone();
        if let Some((func, function)) = self.detached {
            module.functions[func.index()] = function.clone();
        }
        module
    }
}

impl fmt::Display for AfterPass<'_> {
    /// Prints the name of the pass and the function. For module passes, prints the whole module.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.detached {
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

/// Runs lists of [`Step`]s for one device and launch.
pub struct Driver<'a> {
    target: &'a Target,
    key: &'a LaunchKey,
    watch: Option<&'a Watch<'a>>,
    pub(super) purity: Purity,
    pub(super) policy: Policy,
}

impl<'a> Driver<'a> {
    /// Creates a driver for a target and a launch. Until the caller sets `purity` and `policy`, functions are impure
    /// and no call is inlined.
    pub fn new(target: &'a Target, key: &'a LaunchKey, watch: Option<&'a Watch<'a>>) -> Self {
        Self { target, key, watch, purity: Purity::unknown(), policy: Policy::default() }
    }

    /// Whether an observer is called after every pass.
    pub(super) const fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Returns the size of a pointer in bytes.
    pub(super) const fn pointer_size(&self) -> u32 {
        self.target.pointer_size()
    }

    /// Whether functions of the target can have pointer parameters.
    pub(super) const fn takes_addresses(&self) -> bool {
        self.target.inlining.takes_addresses
    }

    /// Records which callees of the kernel are pure. The kernel must be the first function, and callees must have
    /// larger numbers than their callers.
    pub fn note_purity(&mut self, module: &Module) {
        for func in functions(module).rev() {
            if func != Func(0) {
                self.purity.note(func, &module.functions[func.index()]);
            }
        }
    }

    /// Runs steps on a module.
    ///
    /// # Errors
    /// See [`PassError`]. After an error, the module is invalid.
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
                self.notify(&AfterPass { pass: pass.name, module, detached: None });
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
        let result = self.on_detached(&mut function, module, func, steps);
        module.functions[func.index()] = function;
        result
    }

    /// Runs steps on a function that is currently not in its module.
    pub(super) fn on_detached(&self, function: &mut Function, module: &Module, func: Func, steps: &[Step]) -> PassResult {
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
                self.notify(&AfterPass { pass: name, module, detached: Some((func, function)) });
                Ok(changed)
            }
            Step::Pass(Pass { name, run: Run::Module(_) }) => {
                let message = "a module pass was run on a single function".to_owned();
                Err(PassError::Internal { function: function.name.clone(), pass: name, message })
            }
            Step::Steps(steps) | Step::EachFunction(steps) => self.on_detached(function, module, func, steps),
            Step::If(holds, steps) => Ok(holds(self.target) && self.on_detached(function, module, func, steps)?),
            Step::KernelOnly(steps) => Ok(func == Func(0) && self.on_detached(function, module, func, steps)?),
            Step::IfChanged(first, then) => {
                let changed: Changed = self.on_detached(function, module, func, first)?;
                if changed {
                    self.on_detached(function, module, func, then)?;
                }
                Ok(changed)
            }
            Step::Repeat(most, first, then) => {
                let mut rounds = 0;
                while rounds < most && self.on_detached(function, module, func, first)? {
                    self.on_detached(function, module, func, then)?;
                    rounds += 1;
                }
                Ok(rounds > 0)
            }
        }
    }

    fn cx<'c>(&'c self, module: &'c Module, func: Func) -> Cx<'c> {
        Cx { target: self.target, key: self.key, purity: &self.purity, policy: &self.policy, module, func }
    }

    fn notify(&self, after: &AfterPass<'_>) {
        if let Some(watch) = self.watch {
            watch(after);
        }
    }
}

/// Removes a function from its module. The caller must put it back.
pub(super) fn take(module: &mut Module, func: Func) -> Function {
    std::mem::replace(&mut module.functions[func.index()], Function::new("", ir::Type::Void))
}

/// Runs the verifier if assertions are enabled. A verification error is a defect of the pass.
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
