//! Selects the objects and views through which a kernel accesses memory.
//!
//! Every access in the IR has a root: an argument, a global, a private variable, or an address. Roots that share memory
//! form one [`Object`], for example all constants or all `__global` variables of the program. The plan collects the
//! shapes of all accesses to an object, which determine its views ([`super::views`]). Example: a buffer with `f32` and
//! `f32x4` loads gets two aliased views.

use super::EmitError;
use super::shader::{Binding, BindingKind, BindingSource};
use super::views::{AccessShape, Backing, Kind, Object, Rule, Variable, View, ViewKey, single_view};
use crate::analysis::definitions::{Definitions, Root};
use crate::binding::ArgLayout;
use crate::internal::internal;
use crate::ir::{Function, Global, KernelParam, Module, Op, Space, Type, Value};
use crate::launch::{ConstantBinding, LaunchKey};
use crate::layout::ProgramLayout;
use crate::passes::locks;
use crate::target::{AtomicOrder, Target};
use naga::Scalar;
use rustc_hash::FxHashMap;

/// The memory of a root: an object, and the byte offset of the root in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RootPlace {
    pub(super) object: usize,
    pub(super) base: u32,
}

/// The memory of a kernel and its helpers.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) objects: Vec<Object>,
    pub(super) places: FxHashMap<Root, RootPlace>,
    pub(super) bindings: Vec<Binding>,
    /// The object of the argument buffer, if it is used.
    pub(super) arguments: Option<usize>,
    /// The object for memory at arbitrary addresses, if there is such an access.
    pub(super) arbitrary_memory: Option<usize>,
    /// The object of the printf buffer, if it is used.
    pub(super) printf: Option<usize>,
    /// The object with the words of the watchdog. `None` if the driver cannot stop a loop.
    pub(super) loop_watchdog: Option<usize>,
    /// Size of the work-group memory in bytes.
    pub(super) local_memory: u32,
    /// Size of the private arrays of a work-item in bytes.
    pub(super) private_memory: u32,
    /// Size of the scratch memory of a work-item in bytes.
    pub(super) scratch: u32,
    /// Whether a fence makes stores to buffers visible to other work-groups.
    pub(super) coherent: bool,
}

/// The pointer and the shape of a memory access. `None` for other instructions.
fn access(function: &Function, inst: &crate::ir::Inst, pointer_size: u32) -> Option<(Value, AccessShape)> {
    match &inst.op {
        Op::Load { ptr, align, volatile } => {
            let ty = function.ty(*inst.results.first()?);
            Some((*ptr, AccessShape::new(ty, *align, Kind::Load, *volatile, pointer_size)))
        }
        Op::Store { ptr, value, align, volatile } => {
            Some((*ptr, AccessShape::new(function.ty(*value), *align, Kind::Store, *volatile, pointer_size)))
        }
        Op::Atomic { op, ptr, ty, .. } => Some((*ptr, AccessShape::new(Type::Scalar(*ty), ty.size(), Kind::of(*op), false, pointer_size))),
        Op::CmpXchg { ptr, ty, .. } => Some((*ptr, AccessShape::new(Type::Scalar(*ty), ty.size(), Kind::Atomic, false, pointer_size))),
        _ => None,
    }
}

/// The input of [`plan`].
pub(super) struct Inputs<'a> {
    pub(super) module: &'a Module,
    pub(super) key: &'a LaunchKey,
    pub(super) target: &'a Target,
    pub(super) args: &'a ArgLayout,
    pub(super) layout: &'a ProgramLayout,
    /// Whether the argument buffer may be read.
    pub(super) arguments: bool,
}

/// Size in bytes of `long16` and `double16`.
const LARGEST_TYPE: u32 = 128;

/// Collects the accesses of all functions, and selects objects and views. [`create_variables`] then creates the
/// variables.
pub(super) fn plan(inputs: &Inputs<'_>) -> Result<Plan, EmitError> {
    let mut planner = Planner { inputs, plan: Plan::default(), shared: FxHashMap::default(), next_binding: 0 };
    if inputs.arguments {
        planner.arguments();
    }
    for (index, function) in inputs.module.functions.iter().enumerate() {
        planner.function(function, index as u32)?;
    }
    if super::loop_watchdog::needs_watchdog(inputs.module, inputs.target) {
        planner.loop_watchdog();
    }
    planner.decide()?;
    let mut plan = planner.plan;
    plan.bindings.sort_by_key(|binding| binding.binding);
    check_limits(&plan, inputs.target)?;
    Ok(plan)
}

fn check_limits(plan: &Plan, target: &Target) -> Result<(), EmitError> {
    let limit = |what, needed: usize, limit: u32| {
        if needed > limit as usize { Err(EmitError::Limit { what, needed: needed as u64, limit: u64::from(limit) }) } else { Ok(()) }
    };
    let count = |is: fn(&BindingKind) -> bool| plan.bindings.iter().filter(|binding| is(&binding.kind)).count();
    let storage = count(|kind| *kind == BindingKind::Storage);
    let uniform = count(|kind| matches!(kind, BindingKind::Uniform { .. }));
    limit("storage buffers", storage, target.shaders.limits.storage_buffers)?;
    limit("uniform buffers", uniform, target.shaders.limits.uniform_buffers)?;
    limit("bytes of local memory", plan.local_memory as usize, target.language.max_local_memory)
}

struct Planner<'a> {
    inputs: &'a Inputs<'a>,
    plan: Plan,
    /// Objects that several roots may share.
    shared: FxHashMap<BindingSource, usize>,
    next_binding: u32,
}

impl Planner<'_> {
    fn function(&mut self, function: &Function, index: u32) -> Result<(), EmitError> {
        let definitions = Definitions::new(function, index);
        let mut failed = None;
        let pointer_size = self.inputs.target.pointer_size();
        function.body.walk(&mut |inst| {
            if failed.is_some() {
                return;
            }
            match inst.op {
                Op::Printf { .. } => return self.printf(),
                Op::MemFence(fence) => {
                    self.plan.coherent |= fence.global && self.inputs.target.language.atomic_order == AtomicOrder::Fences
                }
                _ => {}
            }
            let Some((pointer, shape)) = access(function, inst, pointer_size) else { return };
            let Some((root, _)) = definitions.pointer(pointer) else {
                failed = Some(EmitError::Internal(format!("access through {pointer}, the pointer has no root")));
                return;
            };
            match self.place(function, root) {
                Ok(place) => {
                    let shapes = &mut self.plan.objects[place.object].shapes;
                    if !shapes.contains(&shape) {
                        shapes.push(shape);
                    }
                }
                Err(error) => failed = Some(error),
            }
        });
        failed.map_or(Ok(()), Err)
    }

    fn place(&mut self, function: &Function, root: Root) -> Result<RootPlace, EmitError> {
        if let Some(&place) = self.plan.places.get(&root) {
            return Ok(place);
        }
        let place = match root {
            Root::Var(index, var) => {
                let data = function.vars.get(var.index()).ok_or_else(|| EmitError::Internal(format!("no variable {var}")))?;
                let name = if data.name.is_empty() { format!("v{}", var.0) } else { data.name.clone() };
                RootPlace { object: self.object(name, Backing::Function(index), data.size), base: 0 }
            }
            Root::Global(global) => self.global(global)?,
            Root::Param(index) => self.param(index)?,
            Root::Address(_) => RootPlace { object: self.arbitrary_memory(), base: 0 },
        };
        self.plan.places.insert(root, place);
        Ok(place)
    }

    fn object(&mut self, name: String, backing: Backing, size: u32) -> usize {
        self.plan.objects.push(Object {
            name,
            backing,
            size,
            has_slack: false,
            shapes: Vec::new(),
            rule: Rule::Many,
            views: Vec::new(),
            unaliased: false,
        });
        self.plan.objects.len() - 1
    }

    fn add_binding(&mut self, kind: BindingKind, source: BindingSource) -> u32 {
        // The binding numbers have no gaps. On Vulkan, wgpu renumbers the bindings of a layout, so that they have no
        // gaps. It does not renumber the bindings in SPIR-V that it did not write. So numbers with gaps would not
        // match.
        let binding = self.next_binding;
        self.next_binding += 1;
        self.plan.bindings.push(Binding { binding, kind, source });
        binding
    }

    fn uniform(&mut self, name: &str, size: u32, source: BindingSource) -> usize {
        let size = size.next_multiple_of(16).max(16);
        let binding = self.add_binding(BindingKind::Uniform { size }, source);
        let object = self.object(name.to_owned(), Backing::Uniform { binding, vectors: size / 16 }, size);
        self.plan.objects[object].rule = Rule::Uniform;
        object
    }

    fn storage(&mut self, name: &str, size: u32, source: BindingSource) -> usize {
        let binding = self.add_binding(BindingKind::Storage, source);
        self.object(name.to_owned(), Backing::Storage { binding }, size)
    }

    /// Creates the object of a parameter, with a binding or an address.
    fn param_object(&mut self, name: &str, index: u32) -> usize {
        match self.inputs.args.addresses.get(index as usize).copied().flatten() {
            Some(place) => {
                self.arguments();
                self.object(name.to_owned(), Backing::Address { place: Some(place) }, 0)
            }
            None => self.storage(name, 0, BindingSource::Param(index)),
        }
    }

    /// Returns the object for memory at arbitrary addresses.
    fn arbitrary_memory(&mut self) -> usize {
        if let Some(object) = self.plan.arbitrary_memory {
            return object;
        }
        let object = self.object("memory".to_owned(), Backing::Address { place: None }, 0);
        self.plan.arbitrary_memory = Some(object);
        object
    }

    fn arguments(&mut self) -> usize {
        if let Some(&object) = self.shared.get(&BindingSource::Arguments) {
            return object;
        }
        let object = self.uniform("arguments", self.inputs.args.size, BindingSource::Arguments);
        self.shared.insert(BindingSource::Arguments, object);
        self.plan.arguments = Some(object);
        object
    }

    fn loop_watchdog(&mut self) {
        let object = self.failures();
        self.plan.objects[object].shapes.extend(super::loop_watchdog::SHAPES);
        self.plan.loop_watchdog = Some(object);
    }

    /// Returns the object for the words that report failed launches, and the locks after them.
    fn failures(&mut self) -> usize {
        if let Some(&object) = self.shared.get(&BindingSource::Failures) {
            return object;
        }
        let object = self.storage("failures", locks::TABLE_BYTES, BindingSource::Failures);
        self.shared.insert(BindingSource::Failures, object);
        object
    }

    /// Creates the object of the printf buffer: words, one of which is a counter.
    fn printf(&mut self) {
        if self.plan.printf.is_some() {
            return;
        }
        let object = self.storage("printf", crate::printf::BUFFER_SIZE, BindingSource::Printf);
        let shape = |kind| AccessShape { size: 4, lanes: 1, align: 4, kind, volatile: false };
        self.plan.objects[object].shapes = vec![shape(Kind::Atomic), shape(Kind::Store)];
        self.plan.printf = Some(object);
    }

    fn global(&mut self, global: Global) -> Result<RootPlace, EmitError> {
        let data = self.inputs.module.globals.get(global.index()).ok_or_else(|| EmitError::Internal(format!("no global {global}")))?;
        if locks::is_table(data) {
            return Ok(RootPlace { object: self.failures(), base: 0 });
        }
        let base = self.inputs.layout.offsets.get(global.index()).copied().ok_or_else(|| internal!("no place for global {global}"))?;
        let (source, size) = match data.space {
            Space::Local => return Ok(RootPlace { object: self.object(data.name.clone(), Backing::Workgroup, data.size), base: 0 }),
            Space::Private => return Ok(RootPlace { object: self.object(data.name.clone(), Backing::Private, data.size), base: 0 }),
            Space::Constant => (BindingSource::ConstantData, self.inputs.layout.constant_size),
            _ => (BindingSource::GlobalVariables, self.inputs.layout.global_size),
        };
        if let Some(&object) = self.shared.get(&source) {
            return Ok(RootPlace { object, base });
        }
        let object = if source == BindingSource::ConstantData && size <= self.inputs.target.shaders.limits.uniform_size {
            self.uniform("constants", size, source)
        } else if source == BindingSource::ConstantData {
            self.storage("constants", size, source)
        } else {
            self.storage("variables", size, source)
        };
        self.shared.insert(source, object);
        Ok(RootPlace { object, base })
    }

    /// Returns the place of the memory of a kernel's parameter.
    fn param(&mut self, index: u32) -> Result<RootPlace, EmitError> {
        let kernel = self.inputs.module.functions.first().and_then(|kernel| kernel.kernel.as_ref());
        let params = kernel.map_or(&[][..], |kernel| &kernel.params);
        let name = format!("arg{index}");
        let source = BindingSource::Param(index);
        let earlier = params.get(..index as usize).unwrap_or_default();
        let missing = || EmitError::Internal(format!("the launch key has no entry for parameter {index}"));
        match params.get(index as usize) {
            Some(KernelParam::Bytes { .. }) => {
                let base = self.inputs.args.values.get(index as usize).copied().flatten().ok_or_else(missing)?.0;
                Ok(RootPlace { object: self.arguments(), base })
            }
            Some(KernelParam::Buffer { space: Space::Constant, .. }) => {
                let ordinal = earlier.iter().filter(|param| matches!(param, KernelParam::Buffer { space: Space::Constant, .. })).count();
                let object = match self.inputs.key.binding.constant_args.get(ordinal).ok_or_else(missing)? {
                    ConstantBinding::Uniform(size) => self.uniform(&name, *size, source),
                    ConstantBinding::Storage => {
                        let object = self.param_object(&name, index);
                        self.plan.objects[object].unaliased = self.inputs.key.binding.distinct;
                        object
                    }
                };
                Ok(RootPlace { object, base: 0 })
            }
            Some(KernelParam::Buffer { restrict, .. }) => {
                let object = self.param_object(&name, index);
                self.plan.objects[object].unaliased = *restrict || self.inputs.key.binding.distinct;
                Ok(RootPlace { object, base: 0 })
            }
            Some(KernelParam::Local { .. }) => {
                let ordinal = earlier.iter().filter(|param| matches!(param, KernelParam::Local { .. })).count();
                let size = *self.inputs.key.kernel.local_args.get(ordinal).ok_or_else(missing)?;
                let object = self.object(name, Backing::Workgroup, size);
                self.plan.objects[object].has_slack = true;
                Ok(RootPlace { object, base: 0 })
            }
            Some(KernelParam::Image) => {
                let object = self.param_object(&name, index);
                self.plan.objects[object].unaliased = self.inputs.key.binding.distinct;
                Ok(RootPlace { object, base: 0 })
            }
            Some(KernelParam::Value | KernelParam::Sampler) | None => {
                Err(EmitError::Internal(format!("access through parameter {index}, which is not a pointer")))
            }
        }
    }

    /// Rounds the size of local arguments up to a multiple of the largest type, if there is enough memory. Other
    /// drivers do the same, so some applications allocate too little memory and do not fail with these drivers.
    fn add_slack(&mut self) {
        let limit = self.inputs.target.language.max_local_memory;
        for object in self.plan.objects.iter_mut().filter(|object| object.has_slack && object.backing == Backing::Workgroup) {
            let Rule::One(key) = object.rule else { continue };
            let requested = object.elements(key).saturating_mul(key.stored());
            let size = object.size;
            object.size = size.checked_next_multiple_of(LARGEST_TYPE).unwrap_or(size);
            let rounded = object.elements(key).saturating_mul(key.stored());
            let total = self.plan.local_memory.saturating_add(rounded - requested);
            if total <= limit {
                self.plan.local_memory = total;
            } else {
                object.size = size;
            }
        }
    }

    /// Selects the [`Rule`] of every object, and moves large private arrays to scratch memory.
    fn decide(&mut self) -> Result<(), EmitError> {
        let target = self.inputs.target;
        for widen in [true, false] {
            let mut local = 0_u32;
            for object in &mut self.plan.objects {
                if object.backing == Backing::Workgroup {
                    let key = single_view(object, target, widen)?;
                    object.rule = Rule::One(key);
                    local = local.saturating_add(object.elements(key).saturating_mul(key.stored()));
                }
            }
            self.plan.local_memory = local;
            if local <= target.language.max_local_memory {
                break;
            }
        }
        for object in &mut self.plan.objects {
            match object.backing {
                Backing::Storage { .. } if !target.shaders.spirv => object.rule = Rule::One(single_view(object, target, false)?),
                Backing::Function(_) | Backing::Private => object.rule = Rule::One(single_view(object, target, true)?),
                _ => {}
            }
        }
        if super::private::move_to_scratch(&mut self.plan.objects, self.inputs.target) {
            self.place_scratch();
        }
        self.add_slack();
        self.plan.private_memory = self.plan.objects.iter().filter(|object| object.backing.is_private()).map(|object| object.size).sum();
        Ok(())
    }

    /// Creates one scratch buffer for all objects that [`super::private`] has moved to scratch memory.
    fn place_scratch(&mut self) {
        let mut end = 0_u32;
        let mut bases = FxHashMap::default();
        for (index, object) in self.plan.objects.iter().enumerate() {
            if let Backing::Scratch { .. } = object.backing {
                bases.insert(index, end);
                end = (end + object.size).next_multiple_of(16);
            }
        }
        let binding = self.add_binding(BindingKind::Storage, BindingSource::Scratch { bytes_per_item: end });
        self.plan.scratch = end;
        for place in self.plan.places.values_mut() {
            if let Some(&base) = bases.get(&place.object) {
                place.base = base;
            }
        }
        for &index in bases.keys() {
            self.plan.objects[index].backing = Backing::Scratch { binding };
        }
    }
}

/// Creates the naga variables of all views.
pub(super) fn create_variables(plan: &mut Plan, shared: &mut super::builder::Shared, inputs: &Inputs<'_>) -> Result<(), EmitError> {
    use super::builder::global;
    use naga::AddressSpace;
    let storage = AddressSpace::Storage { access: naga::StorageAccess::LOAD | naga::StorageAccess::STORE };
    let mut scratch = None;
    let mut address_variables: FxHashMap<ViewKey, naga::Handle<naga::GlobalVariable>> = FxHashMap::default();
    for object in &mut plan.objects {
        let keys = match object.rule {
            Rule::Uniform => Vec::new(),
            Rule::One(key) => vec![key],
            Rule::Many => object.keys(inputs.target),
        };
        match object.backing {
            Backing::Uniform { binding, vectors } => {
                let ty = shared.array(Scalar::U32, 4, false, Some(vectors));
                let variable = Variable::Global(global(shared, &object.name, AddressSpace::Uniform, Some(binding), ty));
                object.views.push(View { key: ViewKey { lanes: 4, ..ViewKey::WORDS }, variable });
            }
            Backing::Scratch { binding } => {
                let variable = *scratch.get_or_insert_with(|| {
                    let ty = shared.array(Scalar::U32, 1, false, None);
                    global(shared, "scratch", storage, Some(binding), ty)
                });
                object.views.push(View { key: ViewKey::WORDS, variable: Variable::Global(variable) });
            }
            Backing::Storage { binding: own } => {
                let is_only_read = inputs.target.shaders.spirv && object.is_only_read();
                let space = if is_only_read { AddressSpace::Storage { access: naga::StorageAccess::LOAD } } else { storage };
                for key in keys {
                    let tag = if key == ViewKey::BYTES { super::bytes::TAG } else { 0 };
                    let ty = shared.array(key.slot, key.lanes, key.atomic, None);
                    let variable = global(shared, &object.name, space, Some(own | tag), ty);
                    if plan.coherent {
                        shared.module.global_variables.get_mut(variable).memory_decorations = naga::MemoryDecorations::COHERENT;
                    }
                    object.views.push(View { key, variable: Variable::Global(variable) });
                }
            }
            Backing::Address { .. } => {
                for key in keys {
                    let binding = super::addresses::tag(key) | address_variables.len() as u32;
                    let variable = *address_variables.entry(key).or_insert_with(|| {
                        let ty = shared.array(key.slot, key.lanes, key.atomic, None);
                        let variable = global(shared, "memory", storage, Some(binding), ty);
                        if plan.coherent {
                            shared.module.global_variables.get_mut(variable).memory_decorations = naga::MemoryDecorations::COHERENT;
                        }
                        variable
                    });
                    object.views.push(View { key, variable: Variable::Global(variable) });
                }
            }
            Backing::Workgroup | Backing::Private => {
                let space = if object.backing == Backing::Private { AddressSpace::Private } else { AddressSpace::WorkGroup };
                for key in keys {
                    let ty = shared.array(key.slot, key.lanes, key.atomic, Some(object.elements(key)));
                    let variable = Variable::Global(global(shared, &object.name, space, None, ty));
                    object.views.push(View { key, variable });
                }
            }
            Backing::Function(_) => {
                for key in keys {
                    let ty = shared.array(key.slot, key.lanes, false, Some(object.elements(key)));
                    object.views.push(View { key, variable: Variable::Function(ty) });
                }
            }
        }
    }
    Ok(())
}
