//! Pointer parameters and results of functions that the kernel calls.
//!
//! A function has one of two forms ([`Form`]). If it only accesses buffers through its parameters, a parameter becomes
//! the address:
//!
//! ```text
//! %5 = ptr_add %a, %4                     %6 = address of %a
//! %7 = call @f1, %5                       %8 = add.i64 %6, (sext.i64 %4)
//!                                    =>   %7 = call @f1, %8
//! func @f1(%0: ptr.global) {              func @f1(%9: i64) {
//!   %1 = load.i32 %0                        %1 = load.i32 (inttoptr %9)
//! ```
//! All other functions receive and return a tag and an offset, as for pointers within the kernel. They access the
//! objects of the kernel by [`Op::ParamAddr`](crate::ir::Op::ParamAddr), or by an address from the argument buffer:
//!
//! ```text
//! %7 = call @f1, (select %c, %a, %b)      %6 = select %c, 5, 6          (the tags of the local arguments %a and %b)
//!                                         %7 = call @f1, 0, %6
//! func @f1(%0: ptr.local) {          =>   func @f1(%8: i32, %9: i32) {
//!   %1 = load.i32 %0                        %1 = switch %9 { ... load.i32 (ptr_add (param_addr 2), %8) ... }
//! ```
//! `argument_promotion` has replaced most pointers to private memory. If a function accesses a private variable of
//! another function, the variable becomes a private variable of the module. One variable suffices, because functions
//! are not recursive.

use super::roots::{Pointers, Root, Roots, Set};
use super::{Resolver, Slot, Tag};
use crate::diag::Span;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Function, Global, GlobalVar, Inst, Module, Op, Scalar, Space, Type, Value};
use crate::passes::argument_promotion::is_closed;
use rustc_hash::FxHashMap;

/// The form of the pointer parameters and results of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The kernel. Its parameters are objects.
    Kernel,
    /// Parameters are device addresses of bytes in buffers.
    Addresses,
    /// Parameters and results are tags and offsets.
    Tags,
}

/// Chooses the form of each function, and analyses the pointers. `by_address` contains for each parameter of the kernel
/// whether its memory is accessed by address.
pub(super) fn analyse(module: &Module, large_offsets: bool, by_address: &[bool]) -> (Vec<Form>, Roots) {
    let form = |function: &Function| match &function.kernel {
        Some(_) => Form::Kernel,
        None if by_address.contains(&true) && is_closed(function, module, true) => Form::Addresses,
        None => Form::Tags,
    };
    let mut forms: Vec<Form> = module.functions.iter().map(form).collect();
    loop {
        let roots = Roots::of(&module.functions, &forms, &module.globals, large_offsets);
        if !reject_addresses(module, &roots, by_address, &mut forms) {
            return (forms, roots);
        }
    }
}

/// Changes the form of functions that cannot have the form [`Form::Addresses`]: one of their arguments may have no
/// known address, or they pass an address to a function with tags. Returns whether anything changed.
fn reject_addresses(module: &Module, roots: &Roots, by_address: &[bool], forms: &mut [Form]) -> bool {
    let has_address = |root: usize| match roots.list[root] {
        Root::Param(index) => by_address.get(index as usize) == Some(&true),
        Root::Passed(..) => true,
        _ => false,
    };
    let mut rejected = Vec::new();
    for (func, function) in module.functions.iter().enumerate() {
        let pointers = &roots.functions[func];
        function.body.walk(&mut |inst| {
            let Op::Call(callee, args) = &inst.op else { return };
            for &arg in args.iter().filter(|&&arg| matches!(function.ty(arg), Type::Ptr(_))) {
                let set = pointers.set(arg);
                match forms[callee.index()] {
                    Form::Addresses if pointers.has_identity(arg) || !set.roots().all(has_address) => rejected.push(callee.index()),
                    Form::Tags if forms[func] == Form::Addresses && set.roots().next().is_some() => rejected.push(func),
                    _ => {}
                }
            }
        });
    }
    rejected.iter().for_each(|&func| forms[func] = Form::Tags);
    !rejected.is_empty()
}

/// Adds a global for each private variable that another function may access. Returns these globals by root.
pub(super) fn share_variables(module: &mut Module, roots: &Roots) -> FxHashMap<usize, Global> {
    let Module { functions, globals } = module;
    let mut shared = FxHashMap::default();
    for (func, function) in functions.iter().enumerate() {
        function.body.walk(&mut |inst| {
            let (Op::Load { ptr, .. } | Op::Store { ptr, .. } | Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. }) = inst.op else { return };
            for root in roots.functions[func].set(ptr).roots() {
                let Root::Var(owner, var) = roots.list[root] else { continue };
                if owner as usize != func && !shared.contains_key(&root) {
                    shared.insert(root, Global(crate::ir::number(globals.len())));
                    let data = &functions[owner as usize].vars[var.index()];
                    let (name, size, align) = (data.name.clone(), data.size, data.align);
                    globals.push(GlobalVar { name, space: Space::Private, size, align, init: None, relocs: Vec::new() });
                }
            }
        });
    }
    shared
}

/// The representation of the parameters and results of a function.
#[derive(Debug, Default)]
pub(super) struct Signature {
    pub params: Vec<Slot>,
    pub results: Vec<Slot>,
}

impl Signature {
    pub(super) fn of(function: &Function, form: Form, pointers: &Pointers) -> Self {
        let slot = |set: &Set, has_identity: bool| Slot::Pointer { has_tag: has_identity || set.len() > 1, has_identity };
        let param = |&param: &Value| match (function.ty(param), form) {
            (Type::Ptr(_), Form::Addresses) => Slot::Address,
            (Type::Ptr(_), _) => slot(pointers.set(param), pointers.has_identity(param)),
            _ => Slot::Plain,
        };
        let result = |(index, ty): (usize, &Type)| match ty {
            Type::Ptr(_) => {
                let (set, has_identity) = pointers.returned(index);
                slot(set, has_identity)
            }
            _ => Slot::Plain,
        };
        Self { params: function.params.iter().map(param).collect(), results: function.returns.iter().enumerate().map(result).collect() }
    }

    /// Returns the types of the results, for offsets of type `width`.
    pub(super) fn result_types(&self, returns: &[Type], width: Type) -> Vec<Type> {
        let mut types = Vec::with_capacity(returns.len());
        for (slot, &ty) in self.results.iter().zip(returns) {
            match slot {
                Slot::Plain => types.push(ty),
                Slot::Address => types.push(Type::I64),
                Slot::Pointer { has_tag, .. } => {
                    types.push(width);
                    types.extend(has_tag.then_some(Type::I32));
                }
            }
        }
        types
    }
}

impl Resolver<'_> {
    /// Replaces the pointer parameters of a function that is not a kernel.
    pub(super) fn replace_params(&mut self) {
        let params = std::mem::take(&mut self.function.params);
        let signature = &self.cx.signatures[self.func];
        match self.cx.forms[self.func] {
            Form::Kernel => self.function.params = params,
            Form::Tags => self.function.params = self.define_slots(&params, &signature.params),
            Form::Addresses => {
                let zero = self.constant(self.width, 0);
                for param in params {
                    let root = self.pointer_root(param);
                    let Some(root) = root else {
                        self.function.params.push(param);
                        continue;
                    };
                    let address = self.function.new_value(Type::I64);
                    self.function.params.push(address);
                    self.addresses.insert(root, address);
                    self.define(param, Tag::Fixed(Some(root)), zero);
                }
            }
        }
        self.function.returns = signature.result_types(&self.function.returns, self.width);
    }

    /// Returns the root of a pointer parameter of this function, or `None` for other parameters.
    fn pointer_root(&self, param: Value) -> Option<usize> {
        if self.is_pointer(param) { self.pointers.set(param).roots().next() } else { None }
    }

    /// Rewrites the arguments and results of a call.
    pub(super) fn call(&mut self, mut inst: Inst, out: &mut Vec<Inst>) {
        let span = inst.span;
        if let Op::Call(callee, args) = &mut inst.op {
            let signature = &self.cx.signatures[callee.index()];
            *args = self.expand(out, span, args, &signature.params);
            inst.results = self.define_slots(&inst.results, &signature.results);
        }
        out.push(inst);
    }

    /// Whether a root is memory at an address that is passed to this function.
    pub(super) fn is_passed_address(&self, root: usize) -> bool {
        matches!(self.cx.roots.list[root], Root::Passed(..))
    }

    /// Emits the address of the byte at `offset` in a root. Offsets from a parameter may be negative.
    pub(super) fn address_in(&mut self, out: &mut Vec<Inst>, span: Span, root: usize, offset: Value) -> Value {
        let base = self.address(root);
        if offset == self.constant(self.width, 0) {
            return base;
        }
        let is_long = self.function.ty(offset) == Type::I64;
        let offset = if is_long { offset } else { self.at(out, span).cast(CastOp::SExt, offset, Scalar::I64) };
        self.at(out, span).bin(BinOp::Add, base, offset)
    }

    /// Emits the address that a call passes for a pointer.
    pub(super) fn passed_address(&mut self, out: &mut Vec<Inst>, span: Span, pointer: Value) -> Value {
        let parts = self.parts(pointer);
        let mut address = self.constant(Type::I64, 0);
        for root in self.pointers.set(pointer).roots().collect::<Vec<_>>() {
            let own = self.address_in(out, span, root, parts.offset);
            address = match parts.tag {
                Tag::Local(tag) => {
                    let number = self.constant(Type::I32, self.cx.numbers.tags[root]);
                    let here = self.at(out, span).cmp(CmpOp::Eq, tag, number);
                    self.at(out, span).select(here, own, address)
                }
                _ => own,
            };
        }
        address
    }
}
