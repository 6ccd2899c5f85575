//! Lowers one function: parameters and values.
//!
//! Some values are used outside of the region of their definition, for example after a loop. Such a value is stored in
//! a private variable, like the value of every `OpPhi`. The passes convert these variables to SSA values. A structure
//! or array is represented by the address of memory that is not written again.

use rspirv::spirv::{Decoration, FunctionControl, FunctionParameterAttribute, Op as Opcode};
use rustc_hash::{FxHashMap, FxHashSet};

use super::bridge::Bridge;
use super::captures::CapturedHandles;
use super::constants::Constant;
use super::control::{self, CaseValues};
use super::errors::{Checked, ErrorKind, InvalidModule, OperandIndex, Shown, invalid, unsupported};
use super::globals::Globals;
use super::module::{FunctionDef, Module};
use super::types::Kind;
use super::words::{Id, Inst};
use crate::ir::{self, CastOp, CmpOp, Const, GlobalVar, Kernel, KernelParam, Op, Scalar, Space, Type, Value, Var};
use crate::lower::builder::Builder;
use crate::lower::regions;
use crate::structurize::graph::{Graph, Node};
use crate::structurize::structure::Structure;

/// The value of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Val {
    /// A number, pointer, image, sampler or event.
    One(Value),
    /// The address of a structure or array.
    Memory(Value),
    /// An image and a sampler.
    Sampled(Value, Value),
}

/// State that the functions of a module share.
pub(super) struct Shared<'m, 'w> {
    pub(super) module: &'m Module<'w>,
    pub(super) globals: &'m mut Globals,
    pub(super) bridge: &'m mut Bridge,
    /// IR numbers of the functions that are lowered as helpers.
    pub(super) helpers: &'m FxHashMap<Id, ir::Func>,
    /// The images and samplers that blocks capture.
    pub(super) captured: &'m CapturedHandles,
    /// The function that stores a pointer in private memory. The next one stores a 32-bit number.
    pub(super) first_store: ir::Func,
    /// Whether the module needs these two functions.
    pub(super) stores_handles: bool,
    /// True if the module is not linked with others.
    pub(super) is_alone: bool,
    pub(super) large_objects: bool,
}

/// The state while a function is lowered.
pub(super) struct Lowering<'m, 'w, 's> {
    pub(super) shared: &'s mut Shared<'m, 'w>,
    pub(super) module: &'m Module<'w>,
    pub(super) b: Builder,
    pub(super) def: &'m FunctionDef<'w>,
    pub(super) case_values: CaseValues,
    values: FxHashMap<Id, Val>,
    /// Variables of values that are used outside of the region of their definition. Created on first use.
    spilled: FxHashMap<Id, Option<Var>>,
    /// Variables of `OpVariable`s in the function.
    locals: FxHashMap<Id, Var>,
    /// Variables of `OpPhi`s.
    pub(super) phis: FxHashMap<Id, Var>,
    /// Integers that are widened: the original value, and whether it was sign-extended.
    pub(super) extended: FxHashMap<Value, (Value, bool)>,
    /// Four-lane vectors with an undefined last lane, and the original three-lane vectors. clang stores three-lane
    /// vectors this way.
    pub(super) widened: FxHashMap<Value, Value>,
    /// Vectors that were loaded from built-in variables such as `GlobalInvocationId`: the query of each dimension, and
    /// the variable.
    pub(super) queries: FxHashMap<Value, (Vec<Value>, rspirv::spirv::BuiltIn)>,
    /// The address to which the function writes a returned aggregate.
    pub(super) result: Option<Value>,
    /// The current instruction.
    pub(super) current: Inst<'w>,
}

/// Lowers a function as a kernel or a helper. `name` becomes the name of the IR function. Launches find kernels by this
/// name.
pub(super) fn lower<'m, 'w>(
    shared: &mut Shared<'m, 'w>,
    def: &'m FunctionDef<'w>,
    kernel: Option<Kernel>,
    name: &str,
) -> Result<ir::Function, InvalidModule> {
    let module = shared.module;
    let reject = |problem| def.inst.reject(problem);
    let mut data = ir::Function::new(name, Type::Void);
    let dont_inline = def.inst.word(0).map_err(reject)? & FunctionControl::DONT_INLINE.bits() != 0;
    // Ignore DontInline for a function with one block: without optimisation, clang sets it on all functions.
    data.no_inline = dont_inline && def.blocks.len() > 1 && kernel.is_none();
    let selector = |id: Id| scalar_of(module, id);
    if def.blocks.is_empty() {
        return declaration(shared, def, data).map_err(reject);
    }
    let (graph, case_values) = control::graph(def, selector).map_err(reject)?;
    let structure = Structure::new(&graph, ir::PREFERRED_NESTING).map_err(|error| reject(control::too_deep(error)))?;
    let mut lowering = Lowering {
        shared,
        module,
        b: Builder::new(data).with_value_checks(module.value_checks),
        def,
        case_values,
        values: FxHashMap::default(),
        spilled: FxHashMap::default(),
        locals: FxHashMap::default(),
        phis: FxHashMap::default(),
        extended: FxHashMap::default(),
        widened: FxHashMap::default(),
        queries: FxHashMap::default(),
        result: None,
        current: def.inst,
    };
    let outcome = lowering.run(kernel, &graph, &structure);
    let Lowering { current, b, .. } = lowering;
    outcome.map_err(|problem| current.reject(problem))?;
    b.finish().map_err(|error| def.inst.reject(ErrorKind::Invalid(error.message)))
}

/// Returns the scalar type of a switch selector, which must be an integer.
fn scalar_of(module: &Module<'_>, id: Id) -> Checked<Scalar> {
    let ty = match module.constants.get(id) {
        Some((ty, _)) => ty,
        None => module.definitions.get(&id).ok_or_else(|| invalid!("{id} is not defined"))?.ty()?,
    };
    match module.types.numbers(ty)? {
        Type::Scalar(scalar) if scalar.is_int() => Ok(scalar),
        _ => Err(invalid!("{id} is not an integer")),
    }
}

/// Declares a function that another unit defines.
fn declaration(shared: &mut Shared<'_, '_>, def: &FunctionDef<'_>, data: ir::Function) -> Checked<ir::Function> {
    let types = &shared.module.types;
    let mut b = Builder::new(data);
    signature(&mut b, def, types)?;
    b.effect(Op::Unreachable);
    b.finish().map_err(|error| ErrorKind::Invalid(error.message))
}

/// Sets the parameters and the result of a helper. Returns the address for a returned aggregate, if the function
/// returns one.
fn signature(b: &mut Builder, def: &FunctionDef<'_>, types: &super::types::Types) -> Checked<Option<Value>> {
    let ret = types.get(def.inst.ty()?)?;
    let mut result = None;
    if ret.is_aggregate() {
        let value = b.function.new_value(Type::Ptr(Space::Private));
        b.function.params.push(value);
        result = Some(value);
    } else {
        let ty = ret.ir()?;
        b.function.returns.extend((ty != Type::Void).then_some(ty));
    }
    for param in &def.params {
        let ty = types.ir(param.ty()?)?;
        let value = b.function.new_value(ty);
        b.function.params.push(value);
    }
    Ok(result)
}

impl<'m, 'w> Lowering<'m, 'w, '_> {
    fn run(&mut self, kernel: Option<Kernel>, graph: &Graph, structure: &Structure) -> Checked<()> {
        self.find_spilled(structure);
        match kernel {
            Some(kernel) => self.kernel_parameters(kernel)?,
            None => self.parameters()?,
        }
        self.variables()?;
        regions::lower(self, graph, structure)?;
        self.b.effect(Op::Unreachable);
        Ok(())
    }

    // ---- parameters ----

    fn parameters(&mut self) -> Checked<()> {
        self.result = signature(&mut self.b, self.def, &self.module.types)?;
        let skipped = usize::from(self.result.is_some());
        let params = self.b.function.params[skipped..].to_vec();
        for (inst, value) in self.def.params.iter().zip(params) {
            self.current = *inst;
            let (id, ty) = (inst.result()?, inst.ty()?);
            if self.is_by_value(inst) && !self.is_only_read(id) {
                let copy = self.copy_of(value, self.module.types.pointee(ty)?.0)?;
                self.values.insert(id, Val::One(copy));
            } else {
                let aggregate = self.module.types.get(ty)?.is_aggregate();
                self.values.insert(id, if aggregate { Val::Memory(value) } else { Val::One(value) });
            }
        }
        Ok(())
    }

    fn kernel_parameters(&mut self, kernel: Kernel) -> Checked<()> {
        let passing = kernel.params.clone();
        self.b.function.kernel = Some(kernel);
        for (inst, passing) in self.def.params.iter().zip(passing) {
            self.current = *inst;
            let (id, ty) = (inst.result()?, inst.ty()?);
            let bytes = matches!(passing, KernelParam::Bytes { .. });
            let want = if bytes { Type::Ptr(Space::Constant) } else { self.module.types.ir(ty)? };
            let value = self.b.function.new_value(want);
            self.b.function.params.push(value);
            let val = match &self.module.types.get(ty)?.kind {
                Kind::Pointer { pointee, .. } if bytes && !self.is_only_read(id) => Val::One(self.copy_of(value, *pointee)?),
                Kind::Array { .. } | Kind::Struct { .. } => Val::Memory(value),
                _ => Val::One(value),
            };
            self.values.insert(id, val);
        }
        Ok(())
    }

    fn is_by_value(&self, param: &Inst<'_>) -> bool {
        param.result_id().is_some_and(|id| self.module.decorations.has_attribute(id, FunctionParameterAttribute::ByVal))
    }

    /// Whether the function only loads or copies from the memory that a parameter points to, through addresses that
    /// derive from the parameter.
    fn is_only_read(&self, param: Id) -> bool {
        let mut addresses = FxHashSet::from_iter([param]);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for inst in self.def.blocks.iter().flat_map(|block| &block.insts) {
                let first = inst.operands.first().copied().map(Id);
                let uses = |from: usize| inst.operands_from(from).any(|id| addresses.contains(&id));
                match inst.op {
                    Opcode::Load if !uses(1) => {}
                    Opcode::AccessChain
                    | Opcode::InBoundsAccessChain
                    | Opcode::PtrAccessChain
                    | Opcode::InBoundsPtrAccessChain
                    | Opcode::Bitcast
                        if !uses(1) && first.is_some_and(|base| addresses.contains(&base)) =>
                    {
                        changed |= inst.result_id().is_some_and(|id| addresses.insert(id));
                    }
                    Opcode::CopyMemorySized | Opcode::CopyMemory if first.is_some_and(|to| !addresses.contains(&to)) => {}
                    _ if uses(0) => return false,
                    _ => {}
                }
            }
        }
        !self.def.blocks.iter().any(|block| block.end.operands_from(0).any(|id| addresses.contains(&id)))
    }

    fn variables(&mut self) -> Checked<()> {
        let insts: Vec<Inst<'w>> =
            self.def.blocks.iter().flat_map(|block| &block.insts).filter(|inst| inst.op == Opcode::Variable).copied().collect();
        for inst in insts {
            self.current = inst;
            let (id, pointer) = (inst.result()?, inst.ty()?);
            let (ty, space) = self.module.types.pointee(pointer)?;
            if space != Space::Private {
                return Err(unsupported!("a function variable outside of the Function storage class"));
            }
            let align = self.module.decorations.value(id, Decoration::Alignment).filter(|align| align.is_power_of_two()).unwrap_or(1);
            let (size, natural) = (self.module.types.size(ty)?, self.module.types.align(ty)?);
            let var = self.b.function.new_var(self.module.name(id), size, natural.max(align));
            self.locals.insert(id, var);
            if let Ok(initial) = inst.operand(1) {
                let address = self.b.var_addr(var);
                let value = self.get(initial)?;
                self.store_val(address, ty, value, natural.max(align), false)?;
            }
        }
        Ok(())
    }

    // ---- values ----

    /// Finds the values that are used outside of the region of their definition.
    fn find_spilled(&mut self, structure: &Structure) {
        let numbers: FxHashMap<Id, usize> = self.def.blocks.iter().enumerate().map(|(number, block)| (block.label, number)).collect();
        let mut definers: FxHashMap<Id, Node> = FxHashMap::default();
        for (node, block) in self.def.blocks.iter().enumerate() {
            definers
                .extend(block.insts.iter().filter(|inst| inst.op != Opcode::Variable).filter_map(|inst| Some((inst.result_id()?, node))));
        }
        let mut spilled = Vec::new();
        let mut uses = |user: Node, id: Id| {
            if let Some(&definer) = definers.get(&id)
                && !structure.can_use(user, definer)
            {
                spilled.push(id);
            }
        };
        for (node, block) in self.def.blocks.iter().enumerate() {
            for inst in block.insts.iter().chain([&block.end]) {
                if inst.op == Opcode::Phi {
                    for pair in inst.operands.chunks(2) {
                        if let &[value, from] = pair
                            && let Some(&from) = numbers.get(&Id(from))
                        {
                            uses(from, Id(value));
                        }
                    }
                } else {
                    inst.operands_from(0).for_each(|id| uses(node, id));
                }
            }
        }
        self.spilled = spilled.into_iter().map(|id| (id, None)).collect();
    }

    /// Sets the value of the current instruction's result id.
    pub(super) fn define(&mut self, val: Val) -> Checked<()> {
        let id = self.current.result()?;
        self.define_id(id, val)
    }

    pub(super) fn define_id(&mut self, id: Id, val: Val) -> Checked<()> {
        if !self.spilled.contains_key(&id) {
            self.values.insert(id, val);
            return Ok(());
        }
        let ty = self.type_id(id)?;
        let var = self.spill_var(id, ty)?;
        let address = self.b.var_addr(var);
        let align = self.module.types.align(ty)?;
        self.store_val(address, ty, val, align, false)
    }

    fn spill_var(&mut self, id: Id, ty: Id) -> Checked<Var> {
        if let Some(Some(var)) = self.spilled.get(&id) {
            return Ok(*var);
        }
        let (size, align) = (self.module.types.size(ty)?, self.module.types.align(ty)?);
        let var = self.b.temporary(size.max(1), align);
        self.spilled.insert(id, Some(var));
        Ok(var)
    }

    /// Returns the id of the type of a value.
    pub(super) fn type_id(&self, id: Id) -> Checked<Id> {
        self.module.type_of(id)
    }

    /// Returns the value of an id.
    pub(super) fn get(&mut self, id: Id) -> Checked<Val> {
        if self.spilled.contains_key(&id) {
            let ty = self.type_id(id)?;
            let var = self.spill_var(id, ty)?;
            let address = self.b.var_addr(var);
            let align = self.module.types.align(ty)?;
            return self.load_val(address, ty, align, false);
        }
        if let Some(val) = self.values.get(&id) {
            return Ok(*val);
        }
        if let Some(&var) = self.locals.get(&id) {
            return Ok(Val::One(self.b.var_addr(var)));
        }
        let module = self.module;
        match module.constants.get(id) {
            Some((ty, constant)) => self.constant(id, ty, constant),
            None if module.definitions.contains_key(&id) => Err(invalid!("{id} is used before it is defined")),
            None => Err(invalid!("{id} is not defined")),
        }
    }

    fn constant(&mut self, id: Id, ty: Id, constant: &Constant) -> Checked<Val> {
        let module = self.module;
        let info = module.types.get(ty)?;
        if info.is_aggregate() {
            return self.constant_memory(id, ty, constant);
        }
        let want = info.ir()?;
        Ok(Val::One(match constant {
            Constant::Bits(bits) => self.b.bits(want, *bits),
            Constant::Lanes(lanes) => self.b.constant(want, Const::Lanes(lanes.clone())),
            Constant::Null => self.b.constant(want, Const::Null),
            Constant::Undef => self.b.undef(want),
            Constant::Sampler(bits) => self.b.bits(Type::I32, u64::from(*bits)),
            Constant::Address { target, offset } => {
                let space = self.shared.globals.get(*target).map_or(Space::Constant, |data| data.space);
                let address = self.b.global_addr(*target, space);
                let address = if (space, want) == (Space::Constant, Type::Ptr(Space::Private)) {
                    if !module.decorations.has(id, Decoration::Constant) && !self.is_only_read(id) {
                        return Err(unsupported!("a write to a module-scope variable in the Private storage class"));
                    }
                    let variable = self.shared.globals.list.get(target.index()).map(|variable| variable.ty);
                    self.copy_of(address, variable.ok_or_else(|| invalid!("{id} has no address"))?)?
                } else {
                    address
                };
                let address = self.b.offset(address, *offset);
                if matches!(want, Type::Ptr(_)) { self.b.cast(CastOp::SpaceCast, address, want) } else { address }
            }
            Constant::BuiltIn(number) => {
                let pointee = module.types.pointee(ty)?.0;
                let value = self.builtin(*number, pointee)?;
                let (size, align) = (module.types.size(pointee)?, module.types.align(pointee)?);
                let var = self.b.temporary(size, align);
                let address = self.b.var_addr(var);
                self.store_val(address, pointee, Val::One(value), align, false)?;
                address
            }
            Constant::Composite(_) => return Err(invalid!("{id} is not a constant of its type")),
        }))
    }

    /// Returns the address of a constant structure or array.
    fn constant_memory(&mut self, id: Id, ty: Id, constant: &Constant) -> Checked<Val> {
        let module = self.module;
        let (size, align) = (module.types.size(ty)?, module.types.align(ty)?);
        if matches!(constant, Constant::Undef) {
            let var = self.b.temporary(size, align);
            return Ok(Val::Memory(self.b.var_addr(var)));
        }
        let (init, relocs) = match constant {
            Constant::Null => (None, Vec::new()),
            _ => {
                let (bytes, relocs) = module.constants.contents(id, ty, &module.types)?;
                (Some(bytes), relocs)
            }
        };
        if init.is_none() || size == 0 {
            let var = self.b.temporary(size, align);
            let dst = self.b.var_addr(var);
            if size > 0 {
                self.b.effect(Op::Zero { dst, size, align });
            }
            return Ok(Val::Memory(dst));
        }
        let data = GlobalVar { name: "initialiser".to_owned(), space: Space::Constant, size, align, init, relocs };
        let table = self.shared.globals.unnamed_constant(data);
        Ok(Val::Memory(self.b.global_addr(table, Space::Constant)))
    }

    /// Returns a value. Fails if it is an aggregate or a sampled image.
    pub(super) fn value(&mut self, id: Id) -> Checked<Value> {
        match self.get(id)? {
            Val::One(value) => Ok(value),
            Val::Memory(_) => Err(invalid!("{id} is a structure or an array, which is not valid here")),
            Val::Sampled(..) => Err(invalid!("{id} is a sampled image, which is not valid here")),
        }
    }

    /// Returns operand `index` of the current instruction. Fails if it is an aggregate or a sampled image.
    pub(super) fn arg(&mut self, index: usize) -> Checked<Value> {
        self.value(self.current.operand(index)?)
    }

    /// Returns operand `index`, which must be numeric.
    pub(super) fn number(&mut self, index: usize) -> Checked<Value> {
        let value = self.arg(index)?;
        if self.b.ty(value).scalar().is_some() { Ok(value) } else { Err(invalid!("{} is not a number", OperandIndex(index))) }
    }

    /// Returns operand `index`, which must be a pointer.
    pub(super) fn pointer(&mut self, index: usize) -> Checked<Value> {
        let value = self.arg(index)?;
        if matches!(self.b.ty(value), Type::Ptr(_)) { Ok(value) } else { Err(invalid!("{} is not a pointer", OperandIndex(index))) }
    }

    /// Returns the IR type of the current instruction's result.
    pub(super) fn result_type(&self) -> Checked<Type> {
        self.module.types.ir(self.current.ty()?)
    }

    /// Sets the value of the current instruction's result id. Fails if the type is wrong.
    pub(super) fn set_result(&mut self, value: Value) -> Checked<()> {
        let (have, want) = (self.b.ty(value), self.result_type()?);
        let pointers = matches!((have, want), (Type::Ptr(_), Type::Ptr(_)));
        if have != want && !pointers {
            return Err(invalid!("result type mismatch: have {}, expected {}", Shown(have), Shown(want)));
        }
        self.define(Val::One(value))
    }

    // ---- memory ----

    /// Copies an object to private memory. Returns the address of the copy.
    pub(super) fn copy_of(&mut self, from: Value, ty: Id) -> Checked<Value> {
        let (size, align) = (self.module.types.size(ty)?, self.module.types.align(ty)?);
        let var = self.b.temporary(size, align);
        let dst = self.b.var_addr(var);
        if size > 0 {
            self.b.effect(Op::Copy { dst, src: from, size, align });
        }
        Ok(dst)
    }

    pub(super) fn load_val(&mut self, address: Value, ty: Id, align: u32, volatile: bool) -> Checked<Val> {
        let info = self.module.types.get(ty)?;
        if info.is_aggregate() {
            let size = self.module.types.size(ty)?;
            let var = self.b.temporary(size, info.align);
            let dst = self.b.var_addr(var);
            if size > 0 {
                self.b.effect(Op::Copy { dst, src: address, size, align: align.min(info.align) });
            }
            return Ok(Val::Memory(dst));
        }
        let want = info.ir()?;
        if want.scalar() == Some(Scalar::Bool) {
            let bytes = want.with_scalar(Scalar::I8);
            let loaded = self.b.load(address, bytes, align, volatile);
            return Ok(Val::One(self.b.cmp_int(CmpOp::Ne, loaded, 0)));
        }
        if want == Type::Void {
            return Err(invalid!("type void is not valid for a value"));
        }
        Ok(Val::One(self.b.load(address, want, align, volatile)))
    }

    pub(super) fn store_val(&mut self, address: Value, ty: Id, val: Val, align: u32, volatile: bool) -> Checked<()> {
        let info = self.module.types.get(ty)?;
        match val {
            Val::Memory(src) if info.is_aggregate() => {
                let size = self.module.types.size(ty)?;
                if size > 0 {
                    self.b.effect(Op::Copy { dst: address, src, size, align: align.min(info.align) });
                }
                Ok(())
            }
            Val::One(value) if !info.is_aggregate() => {
                let (have, want) = (self.b.ty(value), info.ir()?);
                if have != want {
                    let (have, want) = (Shown(have), Shown(want));
                    return Err(invalid!("type mismatch: the stored value has type {have}, expected {want}"));
                }
                let bytes = have.with_scalar(Scalar::I8);
                // A vector that was widened from three to four lanes is stored with three lanes.
                let value = self.widened.get(&value).copied().unwrap_or(value);
                let value = if have.scalar() == Some(Scalar::Bool) { self.b.cast(CastOp::ZExt, value, bytes) } else { value };
                self.b.store(address, value, align, volatile);
                Ok(())
            }
            _ => Err(invalid!("type mismatch: the stored value does not have the type that the pointer points to")),
        }
    }
}
