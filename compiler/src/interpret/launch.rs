//! Launches: the state of a program, of a launch and of a work-group.
//!
//! Example: [`NdRange::linear`] with sizes 128 and 64 has two groups.

use super::code::Code;
use super::execute::{Group, Ids, Item, Stop, execute_collective};
use super::memory::{Memory, MemoryKind, ObjectId, Spaces, load, pointer};
use super::{Fault, FaultKind, Program, Stage};
use crate::image::WORDS;
use crate::ir::{Kernel, KernelParam, Space};
use crate::pointer::global_pointer;

/// A location in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLocation {
    pub object: ObjectId,
    pub offset: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The bytes of a scalar, vector, structure or sampler.
    Value(Vec<u8>),
    /// A buffer. `None` is the null pointer.
    Buffer(Option<MemoryLocation>),
    /// An image: the location of its first element, and
    /// [`ImageDescriptor::words`](crate::image::ImageDescriptor::words). The module's image calls must be
    /// [expanded](crate::specialise::expand_images).
    Image(MemoryLocation, [u32; WORDS as usize]),
    /// The size in bytes of the work-group memory for a pointer to it.
    Local(u32),
}

/// The range of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NdRange {
    /// Number of dimensions.
    pub work_dim: u32,
    /// The global offset.
    pub global_offset: [u32; 3],
    /// Global size; 1 in unused dimensions.
    pub global_size: [u32; 3],
    /// Work-group size. If it does not divide the global size, the last group of a dimension is smaller.
    pub local_size: [u32; 3],
}

impl NdRange {
    /// Creates a one-dimensional range.
    pub const fn linear(global: u32, local: u32) -> Self {
        Self { work_dim: 1, global_offset: [0; 3], global_size: [global, 1, 1], local_size: [local, 1, 1] }
    }
}

/// The parameters of a launch of a specialised module, in addition to arguments and range. They must match its
/// [`LaunchKey`](crate::launch::LaunchKey). The kernel itself contains the number of work-items per invocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dispatch {
    /// Dimensions in which all groups have the full size. Work-items outside of the range return immediately.
    pub guard: [bool; 3],
    /// The first group and the end (exclusive) in each dimension. `None` runs all groups.
    pub part: Option<[[u32; 3]; 2]>,
    /// For each argument, the byte offset from the start of its buffer range to the pointer that the host passed.
    /// Missing entries are 0.
    pub starts: Vec<u32>,
    /// The byte offset of each argument in the first merged argument. Missing entries are 0.
    pub merged_offsets: Vec<u32>,
}

/// The memory of a program on a device. Its variables and constants are objects.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// The object of each global of the module. `None` for work-group and private memory. The globals of a space may
    /// share an object.
    objects: Vec<Option<ObjectId>>,
    read_only: Vec<bool>,
}

impl Instance {
    /// All objects, and whether each is read-only.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, bool)> {
        self.objects.iter().zip(&self.read_only).filter_map(|(id, read_only)| Some(((*id)?, *read_only)))
    }
}

/// All index triples below a limit. The first dimension varies fastest.
fn index_triples(limit: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..limit[2]).flat_map(move |z| (0..limit[1]).flat_map(move |y| (0..limit[0]).map(move |x| [x, y, z])))
}

/// Whether the globals of an address space have memory only while a kernel runs.
const fn is_per_launch(space: Space) -> bool {
    matches!(space, Space::Local | Space::Private)
}

impl Program {
    /// Creates objects for the variables and constants of the program, with their initial contents. `name` returns a
    /// new id for each object. Returns `None` if `name` does.
    pub fn instantiate(&self, memory: &mut Memory, mut name: impl FnMut() -> Option<ObjectId>) -> Option<Instance> {
        let mut instance = Instance::default();
        // After `resolve_pointers`, the variables of an address space are in one object.
        let mut whole = [None; 2];
        for global in &self.globals {
            let shared = &mut whole[usize::from(global.space == Space::Constant)];
            let id = match *shared {
                _ if is_per_launch(global.space) => None,
                Some(id) if self.settings.stage == Stage::Launched => Some(id),
                _ => Some(name()?),
            };
            if !is_per_launch(global.space) {
                *shared = id;
            }
            instance.objects.push(id);
            instance.read_only.push(global.space == Space::Constant);
        }
        for (global, id) in self.globals.iter().zip(&instance.objects) {
            let Some(id) = *id else { continue };
            let mut bytes = global.init.clone();
            bytes.resize(global.size as usize, 0);
            for &(at, target, addend) in &global.relocs {
                let target_object = instance.objects.get(target as usize).copied().flatten();
                let bits = match (self.settings.stage, target_object) {
                    (Stage::Launched, _) => self
                        .globals
                        .get(target as usize)
                        .map_or(0, |global| global_pointer(global.space, i64::from(global.start).wrapping_add(addend), 8)),
                    (_, Some(object)) => pointer(MemoryKind::Global, object.number(), addend as u64),
                    (_, None) => 0,
                };
                if let Some(place) = bytes.get_mut(at as usize..at as usize + 8) {
                    place.copy_from_slice(&bits.to_le_bytes());
                }
            }
            if self.settings.stage == Stage::Launched {
                let mut before = memory.remove(id).unwrap_or_default();
                before.resize(global.start as usize, 0);
                before.append(&mut bytes);
                bytes = before;
            }
            memory.insert(id, bytes, global.space == Space::Constant);
        }
        Some(instance)
    }

    /// Runs a kernel. `memory` must contain every object that the kernel accesses. Records of `printf` are appended to
    /// `output`.
    ///
    /// # Errors
    ///
    /// Fails with a fault of the kernel, or if the arguments or the range do not match the kernel.
    pub fn launch(
        &self,
        instance: &Instance,
        kernel: &str,
        arguments: &[Argument],
        range: &NdRange,
        memory: &mut Memory,
        output: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        self.dispatch(instance, kernel, arguments, (range, &Dispatch::default()), memory, output)
    }

    /// Runs some or all groups of a launch. The kernel must be specialised for the launch.
    ///
    /// # Errors
    /// See [`Self::launch`].
    pub fn dispatch(
        &self,
        instance: &Instance,
        kernel: &str,
        arguments: &[Argument],
        (range, dispatch): (&NdRange, &Dispatch),
        memory: &mut Memory,
        output: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let (func, code, kernel) = self.kernel(kernel)?;
        let coarsening_log2 = kernel.coarsening_log2;
        let begin = if kernel.zeroed { 0 } else { self.settings.undefined };
        let (mut group, registers, locals) = self.prepare(instance, code, Some(kernel), arguments, range, memory)?;
        (group.starts, group.merged_offsets) = (dispatch.starts.clone(), dispatch.merged_offsets.clone());
        let result = self.groups(&mut group, (func, coarsening_log2, begin), &registers, &locals, dispatch);
        let words = [group.printed.len() as u32].into_iter().chain(group.printed);
        output.extend(self.printf.text(&words.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()));
        result
    }

    fn groups(
        &self,
        group: &mut Group<'_>,
        (func, coarsening_log2, begin): (usize, u8, u8),
        registers: &[u64],
        locals: &[u32],
        dispatch: &Dispatch,
    ) -> Result<(), Fault> {
        let mut items = ItemPool::default();
        let mut invocations = group.global_size;
        invocations[0] >>= coarsening_log2;
        group.num_groups = std::array::from_fn(|d| invocations[d].div_ceil(group.enqueued_local_size[d]));
        let [first, end] = dispatch.part.unwrap_or([[0; 3], group.num_groups]);
        for id in index_triples(std::array::from_fn(|d| end[d].saturating_sub(first[d]))) {
            let id = std::array::from_fn(|d| first[d] + id[d]);
            group.group = id;
            let left: [u32; 3] = std::array::from_fn(|d| invocations[d].saturating_sub(id[d].saturating_mul(group.enqueued_local_size[d])));
            let size = |d: usize| if dispatch.guard[d] { group.enqueued_local_size[d] } else { group.enqueued_local_size[d].min(left[d]) };
            group.local_size = std::array::from_fn(size);
            for (memory, &size) in group.spaces.local.iter_mut().zip(locals) {
                memory.clear();
                memory.resize(size as usize, begin);
            }
            items.run(group, func, registers, left)?;
        }
        Ok(())
    }

    /// Runs a function as one work-item, with `lanes` as its arguments. Returns the first `result` lanes of its result.
    ///
    /// # Errors
    ///
    /// Fails with a fault of the function, or if the number of argument lanes is wrong.
    pub fn call(&self, instance: &Instance, func: usize, lanes: &[u64], result: usize, memory: &mut Memory) -> Result<Vec<u64>, Fault> {
        let code = self.functions.get(func).ok_or_else(|| FaultKind::Launch(format!("function {func} does not exist")))?;
        let (mut group, _, _) = self.prepare(instance, code, None, &[], &NdRange::linear(1, 1), memory)?;
        if lanes.len() != code.param_registers as usize {
            return Err(FaultKind::Launch(format!("{} argument lanes, expected {}", lanes.len(), code.param_registers)).into());
        }
        let mut item = Item::default();
        item.begin(&group, func, lanes, Ids::default());
        while item.run(&mut group)? != Stop::Done {}
        Ok(item.result(result).to_vec())
    }

    /// Whether a kernel, or any helper function, uses a global of the module.
    fn uses_global(&self, kernel: &Code, global: u32) -> bool {
        let helpers = self.functions.iter().zip(&self.kernels).filter(|(_, kernel)| kernel.is_none()).map(|(code, _)| code);
        helpers.chain([kernel]).any(|code| code.globals.contains(&global))
    }

    /// Returns the size in bytes of a kernel's work-group variables, and of its private variables.
    ///
    /// # Errors
    ///
    /// Fails if the kernel does not exist.
    pub fn usage(&self, kernel: &str) -> Result<(u32, u32), Fault> {
        let (_, code, _) = self.kernel(kernel)?;
        let locals = (0..).zip(&self.globals).filter(|&(index, global)| global.space == Space::Local && self.uses_global(code, index));
        Ok((locals.map(|(_, global)| global.size).sum(), code.variables.iter().sum()))
    }

    /// Creates the state of the first group, the registers of the arguments, and the sizes in bytes of the work-group
    /// objects.
    fn prepare<'a>(
        &'a self,
        instance: &Instance,
        code: &Code,
        kernel: Option<&Kernel>,
        arguments: &[Argument],
        range: &NdRange,
        memory: &'a mut Memory,
    ) -> Result<(Group<'a>, Vec<u64>, Vec<u32>), FaultKind> {
        let (globals, locals) = self.addresses(instance, code);
        let mut bound = Bound::new(arguments, locals);
        if let Some(kernel) = kernel {
            if kernel.params.len() != arguments.len() || kernel.params.len() != code.params.len() {
                return Err(FaultKind::Launch(format!("{} arguments for {} parameters", arguments.len(), kernel.params.len())));
            }
            for (index, ((param, slot), argument)) in kernel.params.iter().zip(&code.params).zip(arguments).enumerate() {
                bound.add(index, (param, usize::from(slot.lanes)), argument, memory)?;
            }
        }
        if range.local_size.contains(&0) {
            return Err(FaultKind::Launch(format!("the local size {:?} contains a 0", range.local_size)));
        }
        let Bound { registers, locals, structs, buffers, images } = bound;
        let group = Group {
            program: self,
            globals,
            params: code.params.iter().map(|slot| registers.get(slot.at as usize).copied().unwrap_or(0)).collect(),
            buffers,
            starts: Vec::new(),
            merged_offsets: Vec::new(),
            images,
            spaces: Spaces { global: memory, local: locals.iter().map(|_| Vec::new()).collect(), arguments: structs },
            work_dim: range.work_dim,
            global_size: range.global_size,
            global_offset: range.global_offset,
            local_size: range.local_size,
            enqueued_local_size: range.local_size,
            num_groups: [1; 3],
            group: [0; 3],
            fuel: self.settings.fuel,
            printed: Vec::new(),
        };
        Ok((group, registers, locals))
    }

    /// Returns the addresses of the module's globals, and the sizes in bytes of those in work-group memory.
    fn addresses(&self, instance: &Instance, code: &Code) -> (Vec<u64>, Vec<u32>) {
        let mut locals = Vec::new();
        let mut globals = Vec::with_capacity(self.globals.len());
        for ((index, global), object) in (0..).zip(&self.globals).zip(&instance.objects) {
            globals.push(match object {
                Some(object) => {
                    let start = if self.settings.stage == Stage::Launched { global.start } else { 0 };
                    pointer(MemoryKind::Global, object.number(), start.into())
                }
                // The private globals follow the variables of the kernel.
                None if global.space == Space::Private => {
                    let first = code.variables.len() - self.globals.iter().filter(|global| global.space == Space::Private).count();
                    let earlier = self.globals[..index as usize].iter().filter(|global| global.space == Space::Private).count();
                    pointer(MemoryKind::Private, (first + earlier) as u32, 0)
                }
                None => {
                    // Work-group variables that the kernel does not use have no memory.
                    locals.push(if self.uses_global(code, index) { global.size } else { 0 });
                    pointer(MemoryKind::Local, locals.len() as u32 - 1, 0)
                }
            });
        }
        (globals, locals)
    }
}

/// The arguments of a launch, in the form in which groups use them.
struct Bound {
    registers: Vec<u64>,
    /// Size in bytes of each work-group object.
    locals: Vec<u32>,
    /// Structures that are passed by value.
    structs: Vec<Vec<u8>>,
    /// For each argument: object, offset in the object, and size, both in bytes. Zeros if the argument is null or not a
    /// buffer.
    buffers: Vec<[u32; 3]>,
    /// For each argument: the words of the image descriptor. Empty if there are no images.
    images: Vec<[u32; WORDS as usize]>,
}

impl Bound {
    fn new(arguments: &[Argument], locals: Vec<u32>) -> Self {
        let images = if arguments.iter().any(|arg| matches!(arg, Argument::Image(..))) { arguments.len() } else { 0 };
        Self {
            registers: Vec::with_capacity(arguments.len()),
            locals,
            structs: Vec::new(),
            buffers: vec![[0; 3]; arguments.len()],
            images: vec![[0; WORDS as usize]; images],
        }
    }

    /// Adds the next argument, for a parameter with `lanes` lanes.
    fn add(&mut self, index: usize, (param, lanes): (&KernelParam, usize), argument: &Argument, memory: &Memory) -> Result<(), FaultKind> {
        match (param, argument) {
            (KernelParam::Image, Argument::Image(place, words)) => {
                self.images[index] = *words;
                self.registers.push(pointer(MemoryKind::Global, place.object.number(), place.offset));
            }
            (KernelParam::Value | KernelParam::Sampler, Argument::Value(bytes)) => {
                let start = self.registers.len();
                self.registers.resize(start + lanes, 0);
                // Three lanes have the size of four.
                let size = bytes.len() / if lanes == 3 { 4 } else { lanes.max(1) };
                load(bytes, size as u8, &mut self.registers[start..]);
            }
            (KernelParam::Bytes { size, .. }, Argument::Value(bytes)) if bytes.len() >= *size as usize => {
                self.registers.push(pointer(MemoryKind::Argument, self.structs.len() as u32, 0));
                self.structs.push(bytes.clone());
            }
            (KernelParam::Buffer { .. }, Argument::Buffer(place)) => {
                if let Some(place) = place {
                    let size = memory.get(place.object).map_or(0, |bytes| (bytes.len() as u64).saturating_sub(place.offset));
                    self.buffers[index] = [place.object.number(), place.offset as u32, size as u32];
                }
                self.registers.push(place.map_or(0, |place| pointer(MemoryKind::Global, place.object.number(), place.offset)));
            }
            (KernelParam::Local { .. }, Argument::Local(size)) => {
                self.registers.push(pointer(MemoryKind::Local, self.locals.len() as u32, 0));
                self.locals.push(*size);
            }
            (param, _) => return Err(FaultKind::Launch(format!("argument {index} does not fit {param:?}"))),
        }
        Ok(())
    }
}

/// Work-items that have ended. Their memory is reused.
#[derive(Default)]
struct ItemPool {
    free: Vec<Item>,
}

/// A work-item and the reason for which it stopped. `None` after it has ended.
type Stopped = Option<(Stop, Item)>;

impl ItemPool {
    /// Runs one work-item until it stops.
    fn run_item(&mut self, mut item: Item, group: &mut Group<'_>) -> Result<Stopped, Fault> {
        let stop = item.run(group)?;
        if stop == Stop::Done {
            self.free.push(item);
            return Ok(None);
        }
        Ok(Some((stop, item)))
    }

    /// Runs a group to its end. A work-item with a local id that is not below `left` is outside of the range.
    fn run(&mut self, group: &mut Group<'_>, func: usize, registers: &[u64], left: [u32; 3]) -> Result<(), Fault> {
        let (local, enqueued) = (group.local_size, group.enqueued_local_size);
        let mut items: Vec<Stopped> = Vec::new();
        for (linear, id) in (0..).zip(index_triples(local)) {
            if (0..3).any(|d| id[d] >= left[d]) {
                items.push(None);
                continue;
            }
            let mut item = self.free.pop().unwrap_or_default();
            let global = std::array::from_fn(|d| group.global_offset[d].wrapping_add(group.group[d] * enqueued[d]).wrapping_add(id[d]));
            item.begin(group, func, registers, Ids { global, local: id, linear });
            items.push(self.run_item(item, group)?);
        }
        loop {
            let mut progress = false;
            for place in &mut items {
                if let Some((_, item)) = place.take_if(|(stop, _)| *stop == Stop::TimeSlice) {
                    *place = self.run_item(item, group)?;
                    progress = true;
                }
            }
            let lanes = group.program.settings.lanes;
            for subgroup in items.chunks_mut(lanes as usize) {
                progress |= run_subgroup_collective(group.program, subgroup, lanes)?;
            }
            if !progress && !release_barrier(group.program, &mut items)? {
                return Ok(());
            }
        }
    }
}

/// Executes the next collective operation of a subgroup, if none of its work-items can continue alone. Returns whether
/// it executed an operation.
fn run_subgroup_collective(program: &Program, items: &mut [Stopped], lanes: u32) -> Result<bool, Fault> {
    if items.iter().flatten().any(|(stop, _)| *stop == Stop::TimeSlice) {
        return Ok(false);
    }
    let count = items.len();
    let waits = items.iter_mut().flatten().filter(|(stop, _)| *stop == Stop::Subgroup);
    let mut waiting: Vec<_> = waits.map(|(stop, item)| (item.position(program), stop, item)).collect();
    let Some(first) = waiting.iter().map(|(position, ..)| position.clone()).min() else { return Ok(false) };
    waiting.retain(|(position, ..)| *position == first);
    let missing = waiting.len() < count;
    if let Some((_, _, item)) = waiting.first_mut()
        && missing
        && item.needs_all(program)
    {
        return Err(Fault { kind: FaultKind::NotAllOfSubgroup, function: item.location(program), item: Some(item.ids.global) });
    }
    let mut active = Vec::new();
    for (_, stop, item) in waiting {
        *stop = Stop::TimeSlice;
        active.push(item);
    }
    execute_collective(program, &mut active, lanes);
    Ok(true)
}

/// Continues the work-items of a group if all of them wait at the same barrier or group operation. Returns false if all
/// work-items have ended.
fn release_barrier(program: &Program, items: &mut [Stopped]) -> Result<bool, Fault> {
    let count = items.len();
    let (mut stops, mut waiting) = (Vec::new(), Vec::new());
    for (stop, item) in items.iter_mut().flatten() {
        stops.push(stop);
        waiting.push(item);
    }
    let Some((first, others)) = waiting.split_first() else { return Ok(false) };
    if waiting.len() < count || !others.iter().all(|other| other.is_at_instruction_of(first)) {
        return Err(Fault { kind: FaultKind::Divergence, function: first.location(program), item: Some(first.ids.global) });
    }
    execute_collective(program, &mut waiting, u32::MAX);
    stops.into_iter().for_each(|stop| *stop = Stop::TimeSlice);
    Ok(true)
}
