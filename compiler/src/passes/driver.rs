//! Goes through lists of passes: verifies after each, times it, and shows what it has left to whoever watches.

use std::fmt;

use super::inline::Policy;
use super::pass::{Changed, Cx, Pass, PassResult, Run, Step};
use super::simplify::Purity;
use super::{PassError, functions};
use crate::ir::{self, Func, Function, Module};
use crate::launch::LaunchKey;
use crate::target::Target;
use crate::timing::stage;

/// What a pass has left.
#[derive(Clone, Copy, Debug)]
pub struct AfterPass<'a> {
    /// Its name.
    pub pass: &'static str,
    module: &'a Module,
    /// A function that is not in its place in the module.
    apart: Option<(Func, &'a Function)>,
}

impl AfterPass<'_> {
    /// The module.
    pub fn module(&self) -> Module {
        let mut module = self.module.clone();
        if let Some((func, function)) = self.apart {
            module.functions[func.index()] = function.clone();
        }
        module
    }
}

impl fmt::Display for AfterPass<'_> {
    /// The pass, and the function on which it worked or else the whole module.
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

/// Who looks at the IR after every pass: `wgclc --after`, tests that look for the pass which goes wrong.
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
    /// For a device and a launch; functions count as impure, and no call is expanded, until the driver is told otherwise.
    pub fn new(target: &'a Target, key: &'a LaunchKey, watch: Option<&'a Watch<'a>>) -> Self {
        Self { target, key, watch, purity: Purity::unknown(), policy: Policy::default() }
    }

    /// Whether someone looks at the IR after every pass.
    pub(super) const fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Bytes of a pointer.
    pub(super) const fn pointer_size(&self) -> u32 {
        self.target.pointer_size()
    }

    /// Notes which of the functions that the kernel, the first one, calls are pure.
    pub fn note_purity(&mut self, module: &Module) {
        // Helpers come before what calls them: callers have the smaller numbers.
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
                let message = "it works on a module, and was asked to work on a function".to_owned();
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

/// Takes a function out of its module, to be put back.
pub(super) fn take(module: &mut Module, func: Func) -> Function {
    std::mem::replace(&mut module.functions[func.index()], Function::new("", ir::Type::Void))
}

/// Runs the verifier where assertions are on: a failure is a defect of the pass.
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
