//! Work-item functions: ids and sizes, from naga's built-in inputs, the launch key and the argument buffer.
//!
//! At its start, the kernel computes every item that it or its helpers use. It passes items to helpers in private
//! variables.

use super::EmitError;
use super::builder::{Expr, Shared, global};
use super::function::Emitter;
use super::plan::{Plan, RootPlace};
use super::views::{Backing, Object};
use crate::analysis::definitions::Root;
use crate::binding::hidden;
use crate::ir::{self, Op, Type, WorkItem};
use crate::launch::LaunchKey;
use crate::target::Target;
use naga::{AddressSpace, BinaryOperator, Binding, BuiltIn, Expression, FunctionArgument, Handle, Scalar, Statement};
use rustc_hash::FxHashMap;

/// A property of a work-item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Item {
    /// A query of the IR.
    Work(WorkItem),
    /// The index of the work-item in its work-group.
    LocalIndex,
    /// The index of the work-item in the dispatch.
    DispatchIndex,
}

impl Item {
    /// Whether the item is computed from the argument buffer.
    pub(super) fn needs_arguments(self, key: &LaunchKey) -> bool {
        match self {
            Self::Work(WorkItem::GlobalId(_)) => !key.kernel.zero_offset || !key.binding.single_dispatch,
            Self::Work(WorkItem::GroupId(_)) => !key.binding.single_dispatch,
            Self::Work(WorkItem::GlobalOffset(_)) => !key.kernel.zero_offset,
            Self::Work(
                WorkItem::GlobalSize(_)
                | WorkItem::NumGroups(_)
                | WorkItem::WorkDim
                | WorkItem::ArgIdentity(_)
                | WorkItem::ArgBase(_)
                | WorkItem::ArgSize(_)
                | WorkItem::ArgSizeHigh(_)
                | WorkItem::ArgAddress { .. }
                | WorkItem::ArgStart(_)
                | WorkItem::ArgImage { .. }
                | WorkItem::ArgMergedOffset(_),
            ) => true,
            _ => false,
        }
    }
}

/// The work dimension. Its upper 16 bits are a zero that is opaque to the driver.
pub(super) const OPAQUE_ZERO: Item = Item::Work(WorkItem::WorkDim);

/// The item whose zero is combined with indices of private arrays, so that an access does not use an index variable
/// directly ([`late_indices`](crate::target::Defects::late_indices)). `None` if the driver lacks this defect or has
/// 16-bit integers, or if the function accesses no private variables.
pub(super) fn index_hiding_item(function: &ir::Function, globals: &[ir::GlobalVar], target: &Target) -> Option<Item> {
    let has_private = !function.vars.is_empty() || globals.iter().any(|global| global.space == ir::Space::Private);
    (target.shaders.defects.late_indices && !target.shaders.int16 && has_private).then_some(OPAQUE_ZERO)
}

/// The items that the instructions of a function use.
pub(super) fn used(function: &ir::Function) -> Vec<Item> {
    let mut items = Vec::new();
    function.body.walk(&mut |inst| {
        if let Op::WorkItem(item) = inst.op {
            let item = Item::Work(item);
            if !items.contains(&item) {
                items.push(item);
            }
        }
    });
    items
}

/// The item that a function needs for private arrays in scratch memory. `None` if it has no private array in scratch
/// memory.
pub(super) fn used_by_memory(plan: &Plan, index: u32) -> Option<Item> {
    let is_in_scratch = |(root, place): (&Root, &RootPlace)| {
        matches!(root, Root::Var(function, _) if *function == index)
            && matches!(plan.objects.get(place.object), Some(Object { backing: Backing::Scratch { .. }, .. }))
    };
    plan.places.iter().any(is_in_scratch).then_some(Item::DispatchIndex)
}

/// The work-group size that the shader declares. It is one-dimensional if `items` contain a subgroup id or an id in a
/// subgroup, and the language or the device requires this. Some shader languages permit these ids only in
/// one-dimensional work-groups, and some devices return wrong ids in other work-groups. Each work-item has the same
/// index in the work-group for both sizes, and thus the same position in its subgroup.
pub(super) fn declared_size(items: &[Vec<Item>], local_size: [u32; 3], target: &Target) -> [u32; 3] {
    let is_subgroup_query = |item: &Item| matches!(item, Item::Work(WorkItem::SubgroupId | WorkItem::SubgroupLocalId));
    let any_shape = target.shaders.spirv;
    let correct_ids = !target.shaders.defects.subgroups_within_dimension_0 || local_size[0].is_multiple_of(target.language.subgroup_size);
    if any_shape && correct_ids || !items.iter().flatten().any(is_subgroup_query) { local_size } else { one_dimension(local_size) }
}

/// The one-dimensional size with the same number of work-items.
pub(super) fn one_dimension(local_size: [u32; 3]) -> [u32; 3] {
    [local_size.iter().fold(1, |product, &n| product.saturating_mul(n)), 1, 1]
}

/// Creates a private variable for each item that helpers use.
pub(super) fn create_passed_items(shared: &mut Shared, items: &[Item]) -> FxHashMap<Item, Handle<naga::GlobalVariable>> {
    let ty = shared.ty(Scalar::U32, 1);
    items.iter().enumerate().map(|(i, &item)| (item, global(shared, &format!("item{i}"), AddressSpace::Private, None, ty))).collect()
}

impl Emitter<'_, '_> {
    pub(super) fn item(&mut self, item: Item) -> Result<Expr, EmitError> {
        self.items.get(&item).copied().ok_or_else(|| EmitError::Internal(format!("{item:?} is not computed")))
    }

    /// Loads the items of a helper from the variables in which the kernel has passed them.
    pub(super) fn load_passed_items(&mut self, items: &[Item]) -> Result<(), EmitError> {
        for &item in items {
            let variable = *self.cx.passed.get(&item).ok_or_else(|| EmitError::Internal(format!("{item:?} is not passed to helpers")))?;
            let pointer = self.b.global_ptr(variable);
            let value = self.b.load(pointer);
            self.items.insert(item, value);
        }
        Ok(())
    }

    /// Computes the items of the kernel, and passes those that helpers use.
    pub(super) fn compute_items(&mut self, items: &[Item], arguments: Option<usize>) -> Result<(), EmitError> {
        let mut inputs = Inputs { arguments, builtins: FxHashMap::default() };
        // All items are computed before the guard, so that the inputs of the entry point are declared in one place.
        for &item in items {
            let value = self.compute(item, &mut inputs)?;
            self.items.insert(item, value);
        }
        self.guard(&mut inputs)?;
        let passed: Vec<_> = self.cx.passed.iter().map(|(&item, &variable)| (item, variable)).collect();
        for (item, variable) in passed {
            let value = self.item(item)?;
            let pointer = self.b.global_ptr(variable);
            self.b.store(pointer, value);
        }
        Ok(())
    }

    /// If work-groups extend beyond the NDRange, returns from the work-items outside of it.
    fn guard(&mut self, inputs: &mut Inputs) -> Result<(), EmitError> {
        let mut beyond: Option<Expr> = None;
        for (dimension, _) in (0_u8..3).zip(self.cx.key.kernel.guard).filter(|(_, guarded)| *guarded) {
            let id = self.id_without_offset(dimension, inputs)?;
            let mut size = self.hidden(inputs, hidden::GLOBAL_SIZE + u32::from(dimension) * 4)?;
            let log2 = self.function.kernel.as_ref().map_or(0, |kernel| kernel.coarsening_log2);
            if dimension == 0 && log2 > 0 {
                let shift = self.b.u32(u32::from(log2));
                size = self.b.shr(size, shift);
            }
            let here = self.b.binary(BinaryOperator::GreaterEqual, id, size);
            beyond = Some(match beyond {
                None => here,
                Some(other) => self.b.binary(BinaryOperator::LogicalOr, other, here),
            });
        }
        if let Some(condition) = beyond {
            self.b.open();
            self.b.stmt(Statement::Return { value: None });
            let accept = self.b.close();
            self.b.stmt(Statement::If { condition, accept, reject: naga::Block::new() });
        }
        Ok(())
    }

    /// Computes the global id minus the global offset.
    fn id_without_offset(&mut self, dimension: u8, inputs: &mut Inputs) -> Result<Expr, EmitError> {
        if self.cx.key.binding.single_dispatch && !self.is_declared_linear() {
            return Ok(self.input_lane(inputs, BuiltIn::GlobalInvocationId, dimension));
        }
        let group = self.compute(Item::Work(WorkItem::GroupId(dimension)), inputs)?;
        let size = self.b.u32(self.cx.key.kernel.enqueued_local_size[usize::from(dimension)]);
        let first = self.b.binary(BinaryOperator::Multiply, group, size);
        let local = self.local_id(dimension, inputs);
        Ok(self.b.add(first, local))
    }

    /// Whether the work-group has several dimensions but the shader declares one.
    fn is_declared_linear(&self) -> bool {
        let size = self.cx.key.kernel.local_size;
        self.cx.declared_size[0] > size[0].max(1)
    }

    fn local_id(&mut self, dimension: u8, inputs: &mut Inputs) -> Expr {
        if !self.is_declared_linear() {
            return self.input_lane(inputs, BuiltIn::LocalInvocationId, dimension);
        }
        let size = self.cx.key.kernel.local_size.map(|n| n.max(1));
        let index = self.input(inputs, BuiltIn::LocalInvocationIndex, 1);
        let before: u32 = size[..usize::from(dimension)].iter().product();
        let before = self.b.u32(before);
        let of_dimension = self.b.binary(BinaryOperator::Divide, index, before);
        let size = self.b.u32(size[usize::from(dimension)]);
        self.b.binary(BinaryOperator::Modulo, of_dimension, size)
    }

    /// Computes the offsets of this work-item's private arrays in scratch memory, for the function with this index.
    pub(super) fn compute_scratch_offsets(&mut self, index: u32) -> Result<(), EmitError> {
        let plan = self.cx.plan;
        let mut objects: Vec<usize> =
            plan.places.iter().filter(|(root, _)| matches!(root, Root::Var(f, _) if *f == index)).map(|(_, place)| place.object).collect();
        objects.sort_unstable();
        for number in objects {
            if !matches!(self.object(number)?.backing, Backing::Scratch { .. }) {
                continue;
            }
            let item = self.item(Item::DispatchIndex)?;
            let elements = self.b.u32(plan.scratch / 4);
            let first = self.b.binary(BinaryOperator::Multiply, item, elements);
            self.scratch_offsets.insert(number, first);
        }
        Ok(())
    }

    /// Loads the addresses of the objects that are accessed by address.
    pub(super) fn load_addresses(&mut self, arguments: Option<usize>) -> Result<(), EmitError> {
        let plan = self.cx.plan;
        for (number, object) in plan.objects.iter().enumerate() {
            let Backing::Address { place: Some(place) } = object.backing else { continue };
            let arguments = arguments.ok_or_else(|| EmitError::Internal("the argument buffer is not planned".to_owned()))?;
            let value = self.load_argument(arguments, place, Type::I64)?;
            let base = value.first().copied().ok_or_else(|| EmitError::Internal("an empty address".to_owned()))?;
            self.bases.insert(number, base);
        }
        Ok(())
    }

    fn input(&mut self, inputs: &mut Inputs, builtin: BuiltIn, lanes: u8) -> Expr {
        if let Some(&found) = inputs.builtins.get(&builtin) {
            return found;
        }
        let ty = self.b.shared.ty(Scalar::U32, lanes);
        let index = self.b.function.arguments.len() as u32;
        self.b.function.arguments.push(FunctionArgument { name: None, ty, binding: Some(Binding::BuiltIn(builtin)) });
        let made = self.b.bare(Expression::FunctionArgument(index));
        inputs.builtins.insert(builtin, made);
        made
    }

    fn input_lane(&mut self, inputs: &mut Inputs, builtin: BuiltIn, dimension: u8) -> Expr {
        let vector = self.input(inputs, builtin, 3);
        self.b.lane(vector, 3, dimension)
    }

    fn hidden(&mut self, inputs: &Inputs, offset: u32) -> Result<Expr, EmitError> {
        let object = inputs.arguments.ok_or_else(|| EmitError::Internal("the argument buffer is not planned".to_owned()))?;
        let value = self.load_argument(object, offset, Type::I32)?;
        value.first().copied().ok_or_else(|| EmitError::Internal("an empty hidden value".to_owned()))
    }

    /// Returns the word at byte offset `offset` of the identity of a pointer argument.
    fn identity_word(&mut self, inputs: &Inputs, index: u32, offset: u32) -> Result<Expr, EmitError> {
        let place = self.cx.args.identities.get(index as usize).copied().flatten();
        let place = place.ok_or_else(|| EmitError::Internal(format!("argument {index} has no identity in the argument buffer")))?;
        self.hidden(inputs, place + offset)
    }

    fn compute(&mut self, item: Item, inputs: &mut Inputs) -> Result<Expr, EmitError> {
        let key = self.cx.key;
        let work = match item {
            Item::LocalIndex => return Ok(self.input(inputs, BuiltIn::LocalInvocationIndex, 1)),
            Item::DispatchIndex => return Ok(self.dispatch_index(inputs)),
            Item::Work(work) => work,
        };
        if let WorkItem::GlobalId(d) | WorkItem::LocalId(d) | WorkItem::GroupId(d) | WorkItem::GlobalOffset(d) = work
            && d > 2
        {
            return Ok(self.b.u32(0));
        }
        if let WorkItem::GlobalSize(d) | WorkItem::EnqueuedLocalSize(d) | WorkItem::LocalSize(d) | WorkItem::NumGroups(d) = work
            && d > 2
        {
            return Ok(self.b.u32(1));
        }
        Ok(match work {
            WorkItem::GlobalId(d) => {
                let id = self.id_without_offset(d, inputs)?;
                if key.kernel.zero_offset {
                    id
                } else {
                    let offset = self.hidden(inputs, hidden::GLOBAL_OFFSET + u32::from(d) * 4)?;
                    self.b.add(id, offset)
                }
            }
            WorkItem::LocalId(d) => self.local_id(d, inputs),
            WorkItem::GroupId(d) => {
                if key.binding.two_dimensional_dispatch && d > 0 {
                    return self.hidden(inputs, hidden::GROUP_BASE + u32::from(d) * 4);
                }
                let mut group = self.input_lane(inputs, BuiltIn::WorkGroupId, d);
                if key.binding.two_dimensional_dispatch {
                    let row = self.input_lane(inputs, BuiltIn::WorkGroupId, 1);
                    let length = self.input_lane(inputs, BuiltIn::NumWorkGroups, 0);
                    let before = self.b.binary(BinaryOperator::Multiply, row, length);
                    group = self.b.add(before, group);
                }
                if key.binding.single_dispatch {
                    group
                } else {
                    let base = self.hidden(inputs, hidden::GROUP_BASE + u32::from(d) * 4)?;
                    self.b.add(group, base)
                }
            }
            WorkItem::GlobalSize(d) => self.hidden(inputs, hidden::GLOBAL_SIZE + u32::from(d) * 4)?,
            WorkItem::NumGroups(d) => self.hidden(inputs, hidden::NUM_GROUPS + u32::from(d) * 4)?,
            WorkItem::GlobalOffset(_) if key.kernel.zero_offset => self.b.u32(0),
            WorkItem::GlobalOffset(d) => self.hidden(inputs, hidden::GLOBAL_OFFSET + u32::from(d) * 4)?,
            WorkItem::WorkDim => self.hidden(inputs, hidden::WORK_DIM)?,
            WorkItem::ArgIdentity(index) => self.identity_word(inputs, index, 0)?,
            WorkItem::ArgBase(index) => self.identity_word(inputs, index, 4)?,
            WorkItem::ArgSize(index) => self.identity_word(inputs, index, 8)?,
            WorkItem::ArgSizeHigh(index) => self.identity_word(inputs, index, 16)?,
            WorkItem::ArgAddress { param, high } => {
                let place = self.cx.args.addresses.get(param as usize).copied().flatten();
                let place = place.ok_or_else(|| EmitError::Internal(format!("argument {param} has no address in the argument buffer")))?;
                self.hidden(inputs, place + 4 * u32::from(high))?
            }
            WorkItem::ArgMergedOffset(index) => {
                let place = self.cx.args.merged_offsets.get(index as usize).copied().flatten();
                let place = place.ok_or_else(|| EmitError::Internal(format!("argument {index} has no offset in the argument buffer")))?;
                self.hidden(inputs, place)?
            }
            WorkItem::ArgStart(index) => self.identity_word(inputs, index, 12)?,
            WorkItem::ArgImage { param, word } => {
                let place = self.cx.args.images.get(param as usize).copied().flatten();
                let place =
                    place.ok_or_else(|| EmitError::Internal(format!("argument {param} has no descriptor in the argument buffer")))?;
                self.hidden(inputs, place + 4 * u32::from(word))?
            }
            WorkItem::LocalSize(d) => self.b.u32(key.kernel.local_size[usize::from(d)]),
            WorkItem::EnqueuedLocalSize(d) => self.b.u32(key.kernel.enqueued_local_size[usize::from(d)]),
            WorkItem::SubgroupSize => self.input(inputs, BuiltIn::SubgroupSize, 1),
            WorkItem::SubgroupLocalId => self.input(inputs, BuiltIn::SubgroupInvocationId, 1),
            WorkItem::SubgroupId => self.input(inputs, BuiltIn::SubgroupId, 1),
            WorkItem::NumSubgroups => self.input(inputs, BuiltIn::NumSubgroups, 1),
        })
    }

    fn dispatch_index(&mut self, inputs: &mut Inputs) -> Expr {
        let group = self.input(inputs, BuiltIn::WorkGroupId, 3);
        let groups = self.input(inputs, BuiltIn::NumWorkGroups, 3);
        let local = self.input(inputs, BuiltIn::LocalInvocationIndex, 1);
        let mut index = self.b.lane(group, 3, 2);
        for dimension in [1, 0] {
            let count = self.b.lane(groups, 3, dimension);
            let here = self.b.lane(group, 3, dimension);
            let rows = self.b.binary(BinaryOperator::Multiply, index, count);
            index = self.b.add(rows, here);
        }
        let items: u32 = self.cx.key.kernel.local_size.iter().map(|&n| n.max(1)).product();
        let items = self.b.u32(items);
        let first = self.b.binary(BinaryOperator::Multiply, index, items);
        self.b.add(first, local)
    }
}

/// The inputs of the entry point that have been added.
struct Inputs {
    arguments: Option<usize>,
    builtins: FxHashMap<BuiltIn, Expr>,
}
