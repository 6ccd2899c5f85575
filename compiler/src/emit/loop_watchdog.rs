//! Detects that the driver has stopped a loop
//! ([`Defects::max_loop_iterations`](crate::target::Defects::max_loop_iterations)), so that the launch fails instead
//! of computing wrong results.
//!
//! A loop can be left only by a `break` or by a `return`. Each execution of a loop has a number, which its `break`
//! records:
//!
//! ```text
//! begun += 1; number = begun
//! loop { if zero == 7 { left = 0; break }; ... left = number; break; ... }
//! stopped |= left ^ number
//! ```
//! If the driver has stopped a loop of a work-item, the work-item sets a word before it returns. The host reads the
//! word after the launch ([`BindingSource::Failures`]). The driver's compiler does not know that loops may be stopped:
//! after a loop with one `break` it assumes that the `break` was executed. An extra `break`
//! ([`super::loop_exit_workaround`]) prevents this. It is not executed, because `zero` is 0. The driver's compiler does
//! not remove it, because `zero` is loaded from memory. A kernel with loops in helpers is watched. Other kernels are
//! watched unless their loops are known to run fewer iterations in total than the limit.

use super::EmitError;
use super::builder::{Expr, Shared, global};
use super::function::Emitter;
#[cfg(doc)]
use super::shader::BindingSource;
use super::views::{AccessShape, Kind};
use crate::analysis::loops::trips::Trips;
use crate::ir::{Module, Op};
use crate::target::Target;
use naga::{AddressSpace, BinaryOperator, Block, GlobalVariable, Handle, Scalar, Statement};

/// The accesses to the watchdog buffer: the store of word 0 (a loop was stopped), and the load of word 1 (zero).
pub(super) const SHAPES: [AccessShape; 2] = [
    AccessShape { size: 4, lanes: 1, align: 4, kind: Kind::Store, volatile: false },
    AccessShape { size: 4, lanes: 1, align: 4, kind: Kind::Load, volatile: false },
];

/// Whether the driver may stop a loop. If the driver has a limit, this is true for every kernel whose helpers contain a
/// loop.
pub(super) fn needs_watchdog(module: &Module, target: &Target) -> bool {
    let (Some(limit), Some((kernel, helpers))) = (target.shaders.defects.max_loop_iterations, module.functions.split_first()) else {
        return false;
    };
    let mut loops = false;
    for helper in helpers {
        helper.body.walk(&mut |inst| loops |= matches!(inst.op, Op::Loop { .. }));
    }
    loops || Trips::of(kernel).total().is_none_or(|iterations| iterations >= u64::from(limit))
}

/// Private variables that all functions share.
pub(super) struct WatchdogVariables {
    begun: Handle<GlobalVariable>,
    left: Handle<GlobalVariable>,
    stopped: Handle<GlobalVariable>,
    zero: Handle<GlobalVariable>,
}

impl WatchdogVariables {
    pub(super) fn new(shared: &mut Shared) -> Self {
        let ty = shared.ty(Scalar::U32, 1);
        let mut make = |name| global(shared, name, AddressSpace::Private, None, ty);
        Self { begun: make("loops_begun"), left: make("loop_left"), stopped: make("loop_stopped"), zero: make("zero") }
    }
}

impl Emitter<'_, '_> {
    fn load_watchdog_variable(&mut self, variable: Handle<GlobalVariable>) -> Expr {
        let pointer = self.b.global_ptr(variable);
        self.b.load(pointer)
    }

    fn store_watchdog_variable(&mut self, variable: Handle<GlobalVariable>, value: Expr) {
        let pointer = self.b.global_ptr(variable);
        self.b.store(pointer, value);
    }

    fn watchdog_word(&mut self, index: u32) -> Result<Option<Expr>, EmitError> {
        let Some(object) = self.cx.plan.loop_watchdog else { return Ok(None) };
        let missing = || EmitError::Internal("the watchdog word has no view".to_owned());
        let key = self.object(object)?.natural(SHAPES[0], self.cx.target).ok_or_else(missing)?;
        let words = self.view_pointer(object, key)?;
        Ok(Some(self.b.element_at(words, index)))
    }

    /// Emits the initialisation at the start of the kernel. Without a watchdog, emits nothing.
    pub(super) fn begin_watchdog(&mut self) -> Result<(), EmitError> {
        if let (Some(watch), Some(word)) = (&self.cx.watch, self.watchdog_word(1)?) {
            let zero = self.b.u32(0);
            self.store_watchdog_variable(watch.begun, zero);
            self.store_watchdog_variable(watch.stopped, zero);
            let zero = self.b.load(word);
            self.store_watchdog_variable(watch.zero, zero);
        }
        Ok(())
    }

    /// Emits the code before a loop. Returns the number of this execution. `None` without a watchdog.
    pub(super) fn begin_loop(&mut self) -> Option<Expr> {
        let watch = self.cx.watch.as_ref()?;
        let (begun, one) = (self.load_watchdog_variable(watch.begun), self.b.u32(1));
        let number = self.b.add(begun, one);
        self.store_watchdog_variable(watch.begun, number);
        Some(number)
    }

    /// Returns a zero that is opaque to the driver's compiler. `None` without a watchdog.
    pub(super) fn zero(&mut self) -> Option<Expr> {
        let watch = self.cx.watch.as_ref()?;
        Some(self.load_watchdog_variable(watch.zero))
    }

    /// Emits the code before an extra `break`.
    pub(super) fn before_extra_break(&mut self) {
        if let Some(watch) = &self.cx.watch {
            let zero = self.b.u32(0);
            self.store_watchdog_variable(watch.left, zero);
        }
    }

    /// Emits the code before a `break` of the execution `number` of a loop.
    pub(super) fn leave_loop(&mut self, number: Option<Expr>) {
        if let (Some(number), Some(watch)) = (number, &self.cx.watch) {
            self.store_watchdog_variable(watch.left, number);
        }
    }

    /// Emits the code after the execution `number` of a loop.
    pub(super) fn end_loop(&mut self, number: Option<Expr>) {
        if let (Some(number), Some(watch)) = (number, &self.cx.watch) {
            let (left, stopped) = (self.load_watchdog_variable(watch.left), self.load_watchdog_variable(watch.stopped));
            let differs = self.b.binary(BinaryOperator::ExclusiveOr, left, number);
            let stopped = self.b.or(stopped, differs);
            self.store_watchdog_variable(watch.stopped, stopped);
        }
    }

    /// Emits the report before a `return` of the kernel.
    pub(super) fn end_watchdog(&mut self) -> Result<(), EmitError> {
        if let (true, Some(watch), Some(word)) = (self.is_kernel, &self.cx.watch, self.watchdog_word(0)?) {
            let (stopped, zero, one) = (self.load_watchdog_variable(watch.stopped), self.b.u32(0), self.b.u32(1));
            let condition = self.b.binary(BinaryOperator::NotEqual, stopped, zero);
            self.b.open();
            self.b.store(word, one);
            let accept = self.b.close();
            self.b.stmt(Statement::If { condition, accept, reject: Block::new() });
        }
        Ok(())
    }
}
