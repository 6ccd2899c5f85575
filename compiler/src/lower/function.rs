//! Lowers a function: parameters, variables, return.

use std::rc::Rc;

use super::builder::Builder;
use super::irregular::Irregular;
use super::scan::{self, Usage};
use super::stmt::Jumps;
use super::{Instance, LowerError, Shared, blocks};
use crate::diag::Span;
use crate::ir::{self, Kernel, KernelParam, Op, Space, Type, Value, Var};
use crate::target::ValueChecks;
use crate::thir::{self, Expr, LabelId, LocalId, Stmt, Ty, TyKind};

/// The location of a parameter or variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot {
    /// No memory or value yet: the first use creates a variable.
    New,
    Var(Var),
    /// A parameter that is neither written nor has its address taken.
    Value(Value),
    /// The address of a record parameter.
    Memory(Value),
}

/// The state while a function is lowered.
pub(super) struct Lowering<'p, 's> {
    pub(super) shared: &'s mut Shared<'p>,
    pub(super) b: Builder,
    pub(super) function: &'p thir::Function,
    slots: Vec<Slot>,
    /// The address to which the function writes a returned record.
    result: Option<Value>,
    /// Nesting depth of the current expression.
    pub(super) depth: u32,
    /// The flags of labels outside of the enclosing statement expressions, innermost last. A `goto` to such a label
    /// sets its flag and leaves the expression.
    pub(super) label_flags: Vec<(LabelId, Var)>,
    /// Targets of jumps out of a statement expression.
    pub(super) outer: Jumps<'p>,
    /// Irregular control flow, if any.
    pub(super) irregular: Option<Rc<Irregular>>,
}

pub(super) fn lower_function(shared: &mut Shared<'_>, instance: Instance) -> Result<ir::Function, LowerError> {
    let program = shared.program;
    let missing = || LowerError { span: Span::NONE, message: "internal error: a function that does not exist".to_owned() };
    let function = program.functions.get(instance.id.index()).ok_or_else(missing)?;
    let body = match &function.body {
        Some(body) => body.as_slice(),
        // A unit for the linker may call functions without a definition. The linker finds the definition in another
        // unit.
        None if shared.options.open_references => &[],
        None => {
            return Err(LowerError { span: function.span, message: format!("function `{}` is called but not defined", function.name) });
        }
    };
    let usage = scan::usage(function, body);
    let mut data = ir::Function::new(&*function.name, Type::Void);
    data.no_inline = function.no_inline;
    let value_checks = if function.is_library { ValueChecks::NONE } else { shared.target.value_checks };
    let b = Builder::new(data).with_value_checks(value_checks);
    let slots = vec![Slot::New; function.locals.len()];
    let limit = shared.target.shaders.defects.nested_conditions;
    let irregular = Irregular::find(function, body, usage.has_deep_labels, limit).map(Rc::new);
    let mut lowering =
        Lowering { shared, b, function, slots, result: None, depth: 0, label_flags: Vec::new(), outer: Jumps::NONE, irregular };
    lowering.b.span = function.span;
    if instance.kernel {
        lowering.kernel(instance);
    }
    lowering.parameters(instance.kernel, &usage);
    if function.body.is_some() {
        lowering.body(body);
    } else {
        lowering.b.effect(Op::Unreachable);
    }
    lowering.b.finish()
}

impl<'p> Lowering<'p, '_> {
    fn kernel(&mut self, instance: Instance) {
        let info = self.shared.program.kernels.iter().find(|(id, _)| *id == instance.id).map(|(_, info)| info);
        let params: Vec<KernelParam> = info.into_iter().flat_map(|info| &info.args).map(|arg| arg.passing.clone()).collect();
        if params.len() != self.function.params.len() {
            self.b.fail(format!("internal error: reflection of kernel `{}` does not fit its parameters", self.function.name));
        }
        let &thir::Function { reqd_work_group_size, reqd_subgroup_size, .. } = self.function;
        self.b.function.kernel = Some(Kernel { params, reqd_work_group_size, reqd_subgroup_size, ..Kernel::default() });
    }

    fn new_param(&mut self, ty: Type) -> Value {
        let value = self.b.function.new_value(ty);
        self.b.function.params.push(value);
        value
    }

    fn parameters(&mut self, kernel: bool, usage: &Usage) {
        let function = self.function;
        if self.is_record(function.ret) {
            self.result = Some(self.new_param(Type::Ptr(Space::Private)));
        } else {
            let ty = self.value_type(function.ret);
            self.b.function.returns.extend((ty != Type::Void).then_some(ty));
        }
        let values: Vec<(LocalId, Value)> = function
            .params
            .iter()
            .filter_map(|&id| {
                let local = function.locals.get(id.index())?;
                self.b.span = local.span;
                let ty = match self.kind(local.ty.ty) {
                    TyKind::Record(_) if kernel => Type::Ptr(Space::Constant),
                    _ => self.value_type(local.ty.ty),
                };
                Some((id, self.new_param(ty)))
            })
            .collect();
        for (id, value) in values {
            let Some(local) = function.locals.get(id.index()) else { continue };
            let ty = local.ty.ty;
            self.b.span = local.span;
            let record = self.is_record(ty);
            let slot = if !usage.is_written(id) {
                if record { Slot::Memory(value) } else { Slot::Value(value) }
            } else if record && !kernel {
                // The caller passes the address of a copy that it made for this call.
                Slot::Memory(value)
            } else {
                let var = self.new_variable(id);
                let address = self.b.var_addr(var);
                self.store_value(address, ty, value, local.align, false);
                Slot::Var(var)
            };
            self.set_slot(id, slot);
        }
    }

    fn body(&mut self, body: &'p [Stmt]) {
        match self.irregular.clone() {
            Some(irregular) if !irregular.is_local(body) => blocks::lower_body(self, irregular, body),
            _ => self.block(body, Jumps::NONE),
        }
        self.b.span = self.function.span;
        if !self.b.is_dead() {
            let value = match self.b.function.returned() {
                Type::Void => None,
                // Reaching the end without `return` leaves the value undefined (C99 6.9.1).
                ty => Some(self.b.undef(ty)),
            };
            self.b.effect(Op::Return(Vec::from_iter(value)));
        }
    }

    pub(super) fn return_(&mut self, value: Option<&'p Expr>) {
        let Some(expr) = value else {
            // `return;` in a function with a result gives an undefined value.
            let value = match self.b.function.returned() {
                Type::Void => None,
                ty => Some(self.b.undef(ty)),
            };
            self.b.effect(Op::Return(Vec::from_iter(value)));
            return;
        };
        let value = self.expr_opt(expr);
        let result = match (value, self.result) {
            (Some(value), Some(address)) => {
                self.store_value(address, self.function.ret, value, self.type_align(self.function.ret), false);
                None
            }
            (_, _) if self.b.function.returns.is_empty() => None,
            (value, _) => value,
        };
        self.b.effect(Op::Return(Vec::from_iter(result)));
    }

    /// Returns the alignment of a type in bytes.
    pub(super) fn type_align(&self, ty: Ty) -> u32 {
        self.shared.program.types.layout(ty).map_or(1, |(_, align)| align)
    }

    fn set_slot(&mut self, id: LocalId, slot: Slot) {
        if let Some(entry) = self.slots.get_mut(id.index()) {
            *entry = slot;
        }
    }

    fn new_variable(&mut self, id: LocalId) -> Var {
        let Some(local) = self.function.locals.get(id.index()) else {
            self.b.fail("internal error: a variable that does not exist");
            return self.b.temporary(4, 4);
        };
        let (size, align) = self.layout(local.ty.ty);
        self.b.function.new_var(&*local.name, size, align.max(local.align).max(1))
    }

    /// Returns the flag of a label outside of the innermost statement expression, or `None` if the label has no flag.
    pub(super) fn label_flag(&self, label: LabelId) -> Option<Var> {
        self.label_flags.iter().rev().find(|(of, _)| *of == label).map(|(_, flag)| *flag)
    }

    /// Returns the location of a local. The first use creates its variable.
    pub(super) fn slot(&mut self, id: LocalId) -> Slot {
        match self.slots.get(id.index()).copied() {
            None | Some(Slot::New) => {
                let slot = Slot::Var(self.new_variable(id));
                self.set_slot(id, slot);
                slot
            }
            Some(slot) => slot,
        }
    }
}
