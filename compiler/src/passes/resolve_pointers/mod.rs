//! Replaces pointers by offsets, so that the memory object of every access is explicit.
//!
//! ```text
//! %3 = select %c, %a, %b                  %3 = select %c, 5, 6          (the tags of %a and %b)
//! %4 = ptr_add %3, %i               =>    %4 = trunc.i32 %i
//! %5 = load.f32 %4                        %5 = switch %3 {
//!                                           5: %6 = ptr_add %a, %4; %7 = load.f32 %6; yield %7
//!                                           default: %8 = ptr_add %b, %4; %9 = load.f32 %8; yield %9
//!                                         }
//! ```
//! # Representation of pointers
//! A pointer is a tag (`i32`) for the object, and a byte offset (`i32`). If there is only one possible object
//! ([roots]), there is no tag. Null is tag 0 and offset 0. There are two forms:
//!
//! * *Local-tag form*: all objects that the pointer may point to are known. The tag is a number that this kernel
//!   assigns to the object. The offset is relative to the start of the argument or variable.
//! * *Identity form*: the pointer may come from an integer, or from memory that the host or another kernel writes. The
//!   tag is the object's [identity](crate::pointer::identity). The offset is relative to the start of the allocation.
//!   The program-scope variables of an address space are one allocation. An access compares the identity with the
//!   identities of all objects that this launch can access. It also compares the offset with the argument's range,
//!   because two arguments may be parts of one allocation. Without a match, a load returns 0 and a store does nothing.
//!
//! In memory or as an integer, a pointer is `tag << 32 | offset` ([`crate::pointer`] describes targets without 64-bit
//! integers). It has the local-tag form if the memory only contains pointers of this kernel and is not read as another
//! type. Otherwise it has the identity form. The argument buffer contains the identity, first byte and size of an
//! argument ([`WorkItem::ArgIdentity`]), only for kernels that use them.
//!
//! Without 64-bit integers, a pointer has no bits for identities. Arguments then have tags of this kernel, and kernels
//! that store pointers to buffers in buffers are rejected.
//!
//! If a buffer has more than 2 GiB (`large_offsets`), offsets have 64 bits, and pointers in memory have identity form.
//! Such a pointer is one integer, identity and offset together. A buffer has one identity per 4 GiB. These identities
//! are consecutive numbers.
//!
//! With [`BindingKey::addresses`](crate::launch::BindingKey::addresses), buffers are accessed by address. An access to
//! one of several buffers then selects the address: there is one access, whose pointer is an `inttoptr`.
//!
//! [`calls`] describes the pointers that functions receive and return.
//!
//! # Result
//!
//! The pointer of a load, store or atomic operation is a root, or one `ptr_add` of a root and an `i32` (an `i64` with
//! `large_offsets`). A root is a kernel's pointer parameter (`param_addr` in other functions), `var_addr`,
//! `global_addr`, or `inttoptr` for an access by address. No other value has a pointer type. No pointer is loaded,
//! stored, converted, compared, or an operand of control flow. A load through null in local-tag form returns an
//! unspecified value. A store through null in this form does nothing, or changes any object of the pointer's address
//! space.

mod by_address;
mod calls;
mod forms;
mod large_offsets;
mod roots;

use super::PassError;
use super::pass::Pass;
use crate::analysis::definitions::Constants;
use crate::binding::required_addresses;
use crate::diag::Span;
use crate::ir::{
    AtomicOp, BinOp, Build, CastOp, CmpOp, Const, Cursor, Function, Global, Inst, KernelParam, Module, Op, Region, Scalar, Space, Type,
    Value, WorkItem,
};
use crate::layout::ProgramLayout;
use calls::{Form, Signature};
use forms::Numbers;
use roots::{Pointers, Root, Roots};
use rustc_hash::FxHashMap;

pub(crate) const PASS: Pass = Pass::module("resolve_pointers", |module, cx| {
    let kernel = module.functions.iter().find_map(|function| function.kernel.as_ref());
    let by_address = required_addresses(kernel.map_or(&[][..], |kernel| &kernel.params), &cx.key.binding);
    run(module, cx.pointer_size(), cx.key.kernel.large_offsets, &by_address)?;
    Ok(true)
});

/// Resolves the pointers of a kernel and its callees. `ptr_size` is the size of a pointer in bytes. If `large_offsets`
/// is true, offsets have 64 bits. `by_address` contains for each parameter of the kernel whether its memory is accessed
/// by address.
///
/// # Errors
///
/// Fails with [`PassError::Unsupported`] if 32-bit pointers have too few bits for tags or identities, or if a `copy` or
/// `zero` operation was not lowered.
pub(crate) fn run(module: &mut Module, ptr_size: u32, large_offsets: bool, by_address: &[bool]) -> Result<(), PassError> {
    let has_pointers = |function: &Function| function.values.iter().any(|value| matches!(value.ty, Type::Ptr(_)));
    if !module.functions.iter().any(has_pointers) {
        return Ok(());
    }
    let (forms, roots) = calls::analyse(module, large_offsets, by_address);
    let signature = |(func, function): (usize, &Function)| Signature::of(function, forms[func], &roots.functions[func]);
    let signatures = module.functions.iter().enumerate().map(signature).collect();
    let layout = ProgramLayout::of(&module.globals);
    let numbers = Numbers::new(module, &roots, &layout, ptr_size);
    let kernel = module.functions.iter().find_map(|function| function.kernel.as_ref());
    let params = kernel.map(|kernel| kernel.params.clone()).unwrap_or_default();
    let width = if large_offsets { Type::I64 } else { Type::I32 };
    let shared = calls::share_variables(module, &roots);
    let context = Context { roots, numbers, forms, signatures, params, shared, ptr_size, by_address };
    for (func, function) in module.functions.iter_mut().enumerate().filter(|(_, function)| has_pointers(function)) {
        resolve(function, func, width, &context)?;
    }
    Ok(())
}

/// Resolves the pointers of one function.
fn resolve(function: &mut Function, func: usize, width: Type, context: &Context<'_>) -> Result<(), PassError> {
    let mut body = std::mem::take(&mut function.body);
    let count = function.values.len();
    let mut pass = Resolver {
        cx: context,
        func,
        pointers: &context.roots.functions[func],
        parts: vec![None; count],
        from_pointers: FxHashMap::default(),
        constants: FxHashMap::default(),
        known: Constants::of(&body),
        root_values: vec![None; context.roots.list.len()],
        entry: Vec::new(),
        owners: Vec::new(),
        error: None,
        argument_words: FxHashMap::default(),
        function,
        width,
        addresses: FxHashMap::default(),
        flat_bases: FxHashMap::default(),
    };
    if context.forms[func] == Form::Kernel {
        for index in 0..context.roots.list.len() {
            if let Root::Param(param) = context.roots.list[index] {
                let value = pass.function.params[param as usize];
                pass.root_values[index] = Some(value);
                let zero = pass.constant(width, 0);
                pass.parts[value.index()] = Some(Parts { tag: Tag::Fixed(Some(index)), offset: zero });
            }
        }
    } else {
        pass.replace_params();
    }
    pass.region(&mut body);
    let error = pass.error.take();
    let mut insts = std::mem::take(&mut pass.entry);
    insts.append(&mut body.insts);
    function.body = Region { insts };
    match error {
        Some(what) => Err(PassError::Unsupported { function: function.name.clone(), what: what.to_owned() }),
        None => Ok(()),
    }
}

/// The data that all functions of a module share.
struct Context<'a> {
    roots: Roots,
    numbers: Numbers,
    /// The form of each function's parameters.
    forms: Vec<Form>,
    signatures: Vec<Signature>,
    /// The parameters of the kernel.
    params: Vec<KernelParam>,
    /// The private variables that other functions access, by root.
    shared: FxHashMap<usize, Global>,
    ptr_size: u32,
    /// For each parameter of the kernel: whether its memory is accessed by address.
    by_address: &'a [bool],
}

/// The object that a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    /// The pointer always points into this root. With `None`, the pointer is null.
    Fixed(Option<usize>),
    /// Local-tag form: the object with this tag.
    Local(Value),
    /// Identity form: the object with this identity.
    Identity(Value),
}

#[derive(Clone, Copy, Debug)]
struct Parts {
    tag: Tag,
    offset: Value,
}

/// How a result or parameter of control flow or of a function is represented.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Plain,
    /// As a device address.
    Address,
    /// As an offset, and a tag if the pointer has a tag.
    Pointer {
        has_tag: bool,
        has_identity: bool,
    },
}

struct Owner {
    is_loop: bool,
    results: Vec<Slot>,
    params: Vec<Slot>,
}

struct Resolver<'a> {
    cx: &'a Context<'a>,
    /// The index of the function.
    func: usize,
    /// The points-to sets of the function's pointers.
    pointers: &'a Pointers,
    function: &'a mut Function,
    /// The words of the argument buffer that are already loaded.
    argument_words: FxHashMap<WorkItem, Value>,
    /// The type of offsets.
    width: Type,
    /// The flat pointers that were already emitted, by root. Only with large offsets.
    flat_bases: FxHashMap<usize, Value>,
    /// The device addresses that were already emitted, by root.
    addresses: FxHashMap<usize, Value>,
    parts: Vec<Option<Parts>>,
    /// The parts of integers that were converted from pointers.
    from_pointers: FxHashMap<Value, Parts>,
    constants: FxHashMap<(Type, u64), Value>,
    /// The constants of the function before this pass.
    known: Constants,
    /// For each root: the pointer to it, if it was already emitted.
    root_values: Vec<Option<Value>>,
    /// New instructions for the start of the function.
    entry: Vec<Inst>,
    owners: Vec<Owner>,
    error: Option<&'static str>,
}

impl Resolver<'_> {
    /// Returns a cursor at the end of a list of instructions.
    fn at<'c>(&'c mut self, out: &'c mut Vec<Inst>, span: Span) -> Cursor<'c> {
        Cursor::new(self.function, out, span)
    }

    fn constant(&mut self, ty: Type, bits: u64) -> Value {
        let Self { constants, function, entry, .. } = self;
        *constants.entry((ty, bits)).or_insert_with(|| function.emit_bits(entry, Span::NONE, ty, bits))
    }

    fn is_pointer(&self, value: Value) -> bool {
        matches!(self.function.ty(value), Type::Ptr(_))
    }

    fn integer(&self) -> Type {
        if self.cx.ptr_size == 8 { Type::I64 } else { Type::I32 }
    }

    /// Returns the tag and offset of a pointer.
    fn parts(&mut self, ptr: Value) -> Parts {
        if let Some(parts) = self.parts.get(ptr.index()).copied().flatten() {
            return parts;
        }
        let offset = self.constant(self.width, 0);
        Parts { tag: Tag::Fixed(None), offset }
    }

    /// Records the parts of a new pointer. Drops the tag if only one object is possible.
    fn define(&mut self, ptr: Value, tag: Tag, offset: Value) {
        let set = self.pointers.set(ptr);
        let tag = if set.len() > 1 || self.pointers.has_identity(ptr) { tag } else { Tag::Fixed(set.roots().next()) };
        self.parts[ptr.index()] = Some(Parts { tag, offset });
    }

    fn tag_value(&mut self, tag: Tag) -> Value {
        match tag {
            Tag::Local(value) | Tag::Identity(value) => value,
            Tag::Fixed(root) => {
                let bits = root.map_or(0, |root| self.cx.numbers.tags[root]);
                self.constant(Type::I32, bits)
            }
        }
    }

    fn slots(&self, values: &[Value]) -> Vec<Slot> {
        values
            .iter()
            .map(|&value| {
                if self.is_pointer(value) {
                    let has_identity = self.pointers.has_identity(value);
                    Slot::Pointer { has_tag: has_identity || self.pointers.set(value).len() > 1, has_identity }
                } else {
                    Slot::Plain
                }
            })
            .collect()
    }

    /// Expands the operands of control flow to their parts.
    fn expand(&mut self, out: &mut Vec<Inst>, span: Span, values: &[Value], slots: &[Slot]) -> Vec<Value> {
        let mut list = Vec::with_capacity(values.len());
        for (&value, slot) in values.iter().zip(slots) {
            match slot {
                Slot::Plain => list.push(value),
                Slot::Address => list.push(self.passed_address(out, span, value)),
                Slot::Pointer { has_identity: true, .. } => {
                    let (tag, offset) = self.identity_form(out, span, value);
                    list.extend([offset, tag]);
                }
                Slot::Pointer { has_tag, .. } => {
                    let parts = self.parts(value);
                    list.push(parts.offset);
                    if *has_tag {
                        list.push(self.tag_value(parts.tag));
                    }
                }
            }
        }
        list
    }

    /// Replaces results or parameters by new values for their parts.
    fn define_slots(&mut self, values: &[Value], slots: &[Slot]) -> Vec<Value> {
        let mut out = Vec::with_capacity(values.len());
        for (&value, slot) in values.iter().zip(slots) {
            match slot {
                // Only parameters have addresses, and `replace_params` replaces them.
                Slot::Plain | Slot::Address => out.push(value),
                Slot::Pointer { has_tag, has_identity } => {
                    let offset = self.function.new_value(self.width);
                    out.push(offset);
                    let mut tag = Tag::Fixed(None);
                    if *has_tag {
                        let value = self.function.new_value(Type::I32);
                        out.push(value);
                        tag = if *has_identity { Tag::Identity(value) } else { Tag::Local(value) };
                    }
                    self.define(value, tag, offset);
                }
            }
        }
        out
    }

    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for inst in std::mem::take(&mut region.insts) {
            self.inst(inst, &mut out);
        }
        region.insts = out;
    }

    fn inst(&mut self, mut inst: Inst, out: &mut Vec<Inst>) {
        let span = inst.span;
        let result = inst.results.first().copied();
        match (&mut inst.op, result) {
            (Op::Const(_), Some(result)) => {
                if self.is_pointer(result) {
                    let zero = self.constant(self.width, 0);
                    self.define(result, Tag::Fixed(None), zero);
                    return;
                }
                out.push(inst);
            }
            (Op::VarAddr(_) | Op::GlobalAddr(_), Some(result)) => {
                let zero = self.constant(self.width, 0);
                let root = self.pointers.set(result).roots().next();
                self.define(result, Tag::Fixed(root), zero);
            }
            (Op::PtrAdd(ptr, offset), Some(result)) => {
                let (ptr, offset) = (*ptr, *offset);
                let parts = self.parts(ptr);
                let offset = self.offset(out, span, parts.offset, offset);
                self.define(result, parts.tag, offset);
            }
            (Op::Cast(CastOp::SpaceCast, ptr), Some(result)) => {
                let ptr = *ptr;
                self.narrow(out, span, result, ptr);
            }
            (Op::Select(cond, yes, no), Some(result)) if self.is_pointer(result) => {
                let (cond, yes, no) = (*cond, *yes, *no);
                self.select(out, span, result, cond, yes, no);
            }
            (Op::Cast(CastOp::PtrToInt, ptr), Some(result)) => {
                let ptr = *ptr;
                self.pack(out, span, ptr, Some(result));
                let parts = self.parts(ptr);
                self.from_pointers.insert(result, parts);
            }
            (Op::Cast(CastOp::IntToPtr, bits), Some(result)) => {
                let bits = *bits;
                self.unpack(out, span, result, bits);
            }
            (&mut Op::Bin(BinOp::Sub, a, b), Some(_)) => {
                if let Some(op) = self.difference(out, span, a, b) {
                    inst.op = op;
                }
                out.push(inst);
            }
            (Op::Cmp(kind, a, b), Some(_)) if self.from_pointers.contains_key(a) && self.from_pointers.contains_key(b) => {
                // Addresses in one object have the same order as their offsets.
                if let (Some(a), Some(b)) = (self.from_pointers.get(a), self.from_pointers.get(b))
                    && a.tag == b.tag
                {
                    inst.op = Op::Cmp(unsigned(*kind), a.offset, b.offset);
                }
                out.push(inst);
            }
            (Op::Cmp(kind, a, b), Some(result)) if self.is_pointer(*a) => {
                let (kind, a, b) = (*kind, *a, *b);
                self.compare(out, span, result, (kind, a, b));
            }
            (Op::Load { ptr, .. } | Op::Store { ptr, .. } | Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. }, _) => {
                let ptr = *ptr;
                self.access(inst, ptr, out);
            }
            (Op::Copy { .. } | Op::Zero { .. }, _) => self.error = Some("a `copy` or `zero` operation that was not lowered"),
            (Op::Call(..), _) => self.call(inst, out),
            (Op::Printf { args, .. }, _) => {
                for value in args {
                    if self.is_pointer(*value) {
                        *value = self.pack(out, span, *value, None);
                    }
                }
                out.push(inst);
            }
            _ => self.control(inst, out),
        }
    }

    /// Returns the difference of two integers that are addresses in one object, as the difference of the offsets.
    /// Returns `None` for other integers.
    fn difference(&mut self, out: &mut Vec<Inst>, span: Span, a: Value, b: Value) -> Option<Op> {
        let (a, b) = (*self.from_pointers.get(&a)?, *self.from_pointers.get(&b)?);
        if a.tag != b.tag {
            return None;
        }
        let difference = Op::Bin(BinOp::Sub, a.offset, b.offset);
        if self.width == self.integer() {
            return Some(difference);
        }
        let difference = self.function.emit(out, span, self.width, difference);
        Some(Op::Cast(CastOp::SExt, difference))
    }

    /// Rewrites `if`, `switch`, `loop`, and terminators.
    fn control(&mut self, mut inst: Inst, out: &mut Vec<Inst>) {
        let span = inst.span;
        match &mut inst.op {
            Op::If { .. } | Op::Switch { .. } => {
                let slots = self.slots(&inst.results);
                self.owners.push(Owner { is_loop: false, results: slots.clone(), params: Vec::new() });
                for region in inst.op.regions_mut() {
                    self.region(region);
                }
                self.owners.pop();
                inst.results = self.define_slots(&inst.results, &slots);
            }
            Op::Loop { init, params, body, .. } => {
                let results = self.slots(&inst.results);
                let param_slots = self.slots(params);
                *init = self.expand(out, span, init, &param_slots);
                *params = self.define_slots(params, &param_slots);
                self.owners.push(Owner { is_loop: true, results: results.clone(), params: param_slots });
                self.region(body);
                self.owners.pop();
                inst.results = self.define_slots(&inst.results, &results);
            }
            Op::Yield(values) => {
                if let Some(slots) = self.owners.last().map(|owner| owner.results.clone()) {
                    *values = self.expand(out, span, values, &slots);
                }
            }
            Op::Break(values) => {
                if let Some(slots) = self.owners.iter().rev().find(|owner| owner.is_loop).map(|owner| owner.results.clone()) {
                    *values = self.expand(out, span, values, &slots);
                }
            }
            Op::Continue(values) => {
                if let Some(slots) = self.owners.iter().rev().find(|owner| owner.is_loop).map(|owner| owner.params.clone()) {
                    *values = self.expand(out, span, values, &slots);
                }
            }
            Op::Return(values) => {
                let signature = &self.cx.signatures[self.func];
                *values = self.expand(out, span, values, &signature.results);
            }
            _ => {}
        }
        out.push(inst);
    }

    /// Emits the sum of an offset and the offset of a `ptr_add`, in the type of offsets.
    fn offset(&mut self, out: &mut Vec<Inst>, span: Span, base: Value, added: Value) -> Value {
        let is_wide = self.function.ty(added) == Type::I64;
        let added = match (self.known.bits(added), self.width == Type::I64) {
            (Some(bits), true) if is_wide => self.constant(Type::I64, bits),
            (Some(bits), true) => self.constant(Type::I64, i64::from(bits as i32).cast_unsigned()),
            (Some(bits), false) => self.constant(Type::I32, bits & 0xffff_ffff),
            (None, wide) if wide == is_wide => added,
            (None, true) => self.at(out, span).cast(CastOp::SExt, added, Scalar::I64),
            (None, false) => self.at(out, span).cast(CastOp::Trunc, added, Scalar::I32),
        };
        if base == self.constant(self.width, 0) {
            return added;
        }
        self.at(out, span).bin(BinOp::Add, base, added)
    }

    fn select(&mut self, out: &mut Vec<Inst>, span: Span, result: Value, cond: Value, yes: Value, no: Value) {
        if self.pointers.has_identity(result) {
            let (yes, no) = (self.identity_form(out, span, yes), self.identity_form(out, span, no));
            let tag = self.at(out, span).select(cond, yes.0, no.0);
            let offset = self.at(out, span).select(cond, yes.1, no.1);
            self.define(result, Tag::Identity(tag), offset);
            return;
        }
        let (yes, no) = (self.parts(yes), self.parts(no));
        let tag = if yes.tag == no.tag || self.pointers.set(result).len() <= 1 {
            yes.tag
        } else {
            let (yes, no) = (self.tag_value(yes.tag), self.tag_value(no.tag));
            Tag::Local(self.at(out, span).select(cond, yes, no))
        };
        let offset = if yes.offset == no.offset { yes.offset } else { self.at(out, span).select(cond, yes.offset, no.offset) };
        self.define(result, tag, offset);
    }

    /// Returns the pointer to a root.
    fn root_value(&mut self, root: usize) -> Value {
        if let Some(value) = self.root_values[root] {
            return value;
        }
        let shared = self.cx.shared.get(&root).copied();
        let op = match self.cx.roots.list[root] {
            Root::Var(..) if let Some(global) = shared => Op::GlobalAddr(global),
            Root::Global(global) => Op::GlobalAddr(global),
            Root::Var(_, var) => Op::VarAddr(var),
            Root::Param(index) | Root::Passed(_, index) => Op::ParamAddr(index),
        };
        let value = self.function.emit(&mut self.entry, Span::NONE, Type::Ptr(self.cx.roots.spaces[root]), op);
        self.root_values[root] = Some(value);
        value
    }

    fn access(&mut self, mut inst: Inst, ptr: Value, out: &mut Vec<Inst>) {
        let span = inst.span;
        let parts = self.parts(ptr);
        let writes = !matches!(inst.op, Op::Load { .. } | Op::Atomic { op: AtomicOp::Load, .. });
        // A pointer is loaded or stored as an integer, and converted from or to this integer.
        let mut loaded = None;
        if let Op::Store { value, .. } = &mut inst.op
            && matches!(self.function.ty(*value), Type::Ptr(_))
        {
            *value = self.stored_bits(out, span, *value, ptr);
        }
        if let (Op::Load { .. }, Some(&result)) = (&inst.op, inst.results.first())
            && self.is_pointer(result)
        {
            loaded = Some(result);
            inst.results = vec![self.function.new_value(self.integer())];
        }
        let bits = inst.results.first().copied();
        let candidates: Vec<usize> =
            self.pointers.set(ptr).roots().filter(|&root| !(writes && self.cx.roots.spaces[root] == Space::Constant)).collect();
        match (parts.tag, &candidates[..]) {
            (_, []) => {
                if let Some(result) = bits {
                    out.push(Inst { op: Op::Const(Const::Undef), results: vec![result], span });
                }
            }
            (Tag::Identity(tag), _) => self.access_by_identity(inst, tag, parts.offset, &candidates, out),
            (_, &[root]) => {
                self.access_root(&mut inst.op, root, parts.offset, span, out);
                out.push(inst);
            }
            (_, [others @ .., last]) => {
                let tag = self.tag_value(parts.tag);
                if let Some((op, rest)) = self.select_address(&inst, tag, parts.offset, &candidates, out) {
                    if rest.is_empty() {
                        out.push(Inst { op, results: inst.results, span });
                    } else {
                        let cases =
                            rest.iter().map(|&root| (vec![self.cx.numbers.tags[root]], self.case(&inst, root, parts.offset))).collect();
                        let default = self.case_of(&inst, op);
                        out.push(Inst { op: Op::Switch { selector: tag, cases, default }, results: inst.results, span });
                    }
                    return self.loaded(out, span, loaded, bits);
                }
                let cases = others.iter().map(|&root| (vec![self.cx.numbers.tags[root]], self.case(&inst, root, parts.offset))).collect();
                let default = self.case(&inst, *last, parts.offset);
                out.push(Inst { op: Op::Switch { selector: tag, cases, default }, results: inst.results, span });
            }
        }
        self.loaded(out, span, loaded, bits);
    }

    /// If the access loads a pointer, defines the pointer by the loaded bits.
    fn loaded(&mut self, out: &mut Vec<Inst>, span: Span, loaded: Option<Value>, bits: Option<Value>) {
        if let (Some(ptr), Some(bits)) = (loaded, bits) {
            self.unpack(out, span, ptr, bits);
        }
    }

    /// Builds a region with the access to one root.
    fn case(&mut self, inst: &Inst, root: usize, offset: Value) -> Region {
        let mut insts = Vec::new();
        let mut op = inst.op.clone();
        self.access_root(&mut op, root, offset, inst.span, &mut insts);
        self.end_case(inst, op, insts)
    }

    /// Builds a region with the access `op`, whose pointer is already set.
    fn case_of(&mut self, inst: &Inst, op: Op) -> Region {
        self.end_case(inst, op, Vec::new())
    }

    fn end_case(&mut self, inst: &Inst, op: Op, mut insts: Vec<Inst>) -> Region {
        let results: Vec<Value> = inst.results.iter().map(|&result| self.function.new_value(self.function.ty(result))).collect();
        insts.push(Inst { op, results: results.clone(), span: inst.span });
        insts.push(Inst::effect(Op::Yield(results), inst.span));
        Region { insts }
    }

    /// Sets the pointer of an access to a root plus an offset.
    fn access_root(&mut self, op: &mut Op, root: usize, offset: Value, span: Span, out: &mut Vec<Inst>) {
        // The addresses of buffers are loaded at the start of the kernel only, so other functions load them here.
        if self.is_passed_address(root) || (self.cx.forms[self.func] != Form::Kernel && self.has_address(root)) {
            let address = self.address_in(out, span, root, offset);
            let pointer = self.function.emit(out, span, Type::Ptr(Space::Global), Op::Cast(CastOp::IntToPtr, address));
            return set_pointer(op, pointer);
        }
        let base = self.root_value(root);
        let address = if offset == self.constant(self.width, 0) {
            base
        } else {
            self.function.emit(out, span, Type::Ptr(self.cx.roots.spaces[root]), Op::PtrAdd(base, offset))
        };
        set_pointer(op, address);
    }
}

/// Sets the pointer of an access.
fn set_pointer(op: &mut Op, address: Value) {
    if let Op::Load { ptr, .. } | Op::Store { ptr, .. } | Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. } = op {
        *ptr = address;
    }
}

/// Returns the unsigned form of a comparison.
const fn unsigned(kind: CmpOp) -> CmpOp {
    match kind {
        CmpOp::SLt => CmpOp::ULt,
        CmpOp::SLe => CmpOp::ULe,
        CmpOp::SGt => CmpOp::UGt,
        CmpOp::SGe => CmpOp::UGe,
        other => other,
    }
}
