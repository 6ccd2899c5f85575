//! NDRanges: what belongs to a program, to a launch, to a work-group.

use super::code::Code;
use super::execute::{Group, Ids, Item, Stop, meet};
use super::memory::{Home, Memory, ObjectId, Spaces, load, pointer};
use super::{Fault, FaultKind, Program, Stage};
use crate::image::WORDS;
use crate::ir::{Kernel, KernelParam, Space};
use crate::pointer::global_pointer;

/// A part of global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The object.
    pub object: ObjectId,
    /// Byte offset.
    pub offset: u64,
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The bytes of a value.
    Value(Vec<u8>),
    /// A buffer; `None` is the null pointer.
    Buffer(Option<Place>),
    /// An image: where its first element is, and the words of [`ImageDescriptor::words`](crate::image::ImageDescriptor::words). Its accesses must have been
    /// [expanded](crate::specialise::expand_images). A sampler is a value.
    Image(Place, [u32; WORDS as usize]),
    /// Bytes of work-group memory.
    Local(u32),
}

/// What is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NdRange {
    /// Number of dimensions.
    pub work_dim: u32,
    /// First global ids.
    pub global_offset: [u32; 3],
    /// Work-items; 1 in dimensions that there are not.
    pub global_size: [u32; 3],
    /// Work-items of a group; the last ones of a dimension have fewer where this does not divide the global size.
    pub local_size: [u32; 3],
}

impl NdRange {
    /// One dimension.
    pub const fn linear(global: u32, local: u32) -> Self {
        Self { work_dim: 1, global_offset: [0; 3], global_size: [global, 1, 1], local_size: [local, 1, 1] }
    }
}

/// The memory of a program on a device: its variables and constants have names.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// One an object of the module; none for work-group memory.
    objects: Vec<Option<ObjectId>>,
    read_only: Vec<bool>,
}

impl Instance {
    /// The names of all objects, and whether they are constants.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, bool)> {
        self.objects.iter().zip(&self.read_only).filter_map(|(id, read_only)| Some(((*id)?, *read_only)))
    }
}

/// All numbers below a limit, the first dimension fastest.
fn steps(limit: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..limit[2]).flat_map(move |z| (0..limit[1]).flat_map(move |y| (0..limit[0]).map(move |x| [x, y, z])))
}

impl Program {
    /// Gives the program's variables and constants names and their first contents, and puts them into memory.
    pub fn instantiate(&self, memory: &mut Memory, mut name: impl FnMut() -> Option<ObjectId>) -> Option<Instance> {
        let mut instance = Instance::default();
        // After `resolve_pointers` the variables of a kind are parts of one object.
        let mut whole = [None; 2];
        for global in &self.globals {
            let shared = &mut whole[usize::from(global.space == Space::Constant)];
            let id = match *shared {
                _ if global.space == Space::Local => None,
                Some(id) if self.settings.stage == Stage::Launched => Some(id),
                _ => Some(name()?),
            };
            if global.space != Space::Local {
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
                    (_, Some(object)) => pointer(Home::Global, object.number(), addend as u64),
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

    /// Runs a kernel. Everything that it touches must be in `memory`; what it prints goes to `output`.
    ///
    /// # Errors
    /// What the kernel did wrong, or how the launch does not fit it.
    pub fn launch(
        &self,
        instance: &Instance,
        kernel: &str,
        arguments: &[Argument],
        range: &NdRange,
        memory: &mut Memory,
        output: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let (func, code, kernel) = self.kernel(kernel)?;
        let (mut group, registers, locals) = self.prepare(instance, code, Some(kernel), arguments, range, memory)?;
        let result = self.groups(&mut group, func, &registers, &locals);
        let words = [group.printed.len() as u32].into_iter().chain(group.printed);
        output.extend(self.printf.text(&words.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()));
        result
    }

    fn groups(&self, group: &mut Group<'_>, func: usize, registers: &[u64], locals: &[u32]) -> Result<(), Fault> {
        let mut items = Items::default();
        for id in steps(group.num_groups) {
            group.group = id;
            let left = |d: usize| group.global_size[d].saturating_sub(id[d].saturating_mul(group.enqueued_local_size[d]));
            group.local_size = std::array::from_fn(|d| group.enqueued_local_size[d].min(left(d)));
            for (memory, &size) in group.spaces.local.iter_mut().zip(locals) {
                memory.clear();
                memory.resize(size as usize, self.settings.undefined);
            }
            items.run(group, func, registers)?;
        }
        Ok(())
    }

    /// Runs a function as the only work-item, whose global id is that of `range`'s offset, with the given lanes as arguments. The lanes of its result.
    ///
    /// # Errors
    /// What the function did wrong.
    pub fn call(&self, instance: &Instance, func: usize, lanes: &[u64], result: usize, memory: &mut Memory) -> Result<Vec<u64>, Fault> {
        let code = self.functions.get(func).ok_or_else(|| FaultKind::Launch("no such function".to_owned()))?;
        let (mut group, _, _) = self.prepare(instance, code, None, &[], &NdRange::linear(1, 1), memory)?;
        if lanes.len() != code.param_registers as usize {
            return Err(FaultKind::Launch("the wrong number of arguments".to_owned()).into());
        }
        let mut item = Item::default();
        item.begin(&group, func, lanes, Ids::default());
        while item.run(&mut group)? != Stop::Done {}
        Ok(item.result(result).to_vec())
    }

    /// Whether a kernel, or any helper, names an object of the module.
    fn names(&self, kernel: &Code, global: u32) -> bool {
        let helpers = self.functions.iter().zip(&self.kernels).filter(|(_, kernel)| kernel.is_none()).map(|(code, _)| code);
        helpers.chain([kernel]).any(|code| code.globals.contains(&global))
    }

    /// Bytes of work-group memory of a kernel's variables, and bytes of its private variables.
    ///
    /// # Errors
    /// If there is no such kernel.
    pub fn usage(&self, kernel: &str) -> Result<(u32, u32), Fault> {
        let (_, code, _) = self.kernel(kernel)?;
        let locals = (0..).zip(&self.globals).filter(|&(index, global)| global.space == Space::Local && self.names(code, index));
        Ok((locals.map(|(_, global)| global.size).sum(), code.variables.iter().sum()))
    }

    /// The first group, the registers of the arguments, and the sizes of work-group memory.
    fn prepare<'a>(
        &'a self,
        instance: &Instance,
        code: &Code,
        kernel: Option<&Kernel>,
        arguments: &[Argument],
        range: &NdRange,
        memory: &'a mut Memory,
    ) -> Result<(Group<'a>, Vec<u64>, Vec<u32>), FaultKind> {
        let mut locals = Vec::new();
        let mut globals = Vec::with_capacity(self.globals.len());
        for ((index, global), object) in (0..).zip(&self.globals).zip(&instance.objects) {
            globals.push(match object {
                Some(object) => {
                    let start = if self.settings.stage == Stage::Launched { global.start } else { 0 };
                    pointer(Home::Global, object.number(), start.into())
                }
                None => {
                    // Those of other kernels are not there.
                    locals.push(if self.names(code, index) { global.size } else { 0 });
                    pointer(Home::Local, locals.len() as u32 - 1, 0)
                }
            });
        }
        let mut structs = Vec::new();
        let mut buffers = vec![[0; 3]; arguments.len()];
        let mut images =
            vec![[0; WORDS as usize]; if arguments.iter().any(|arg| matches!(arg, Argument::Image(..))) { arguments.len() } else { 0 }];
        let mut registers = Vec::with_capacity(code.param_registers as usize);
        if let Some(kernel) = kernel {
            if kernel.params.len() != arguments.len() || kernel.params.len() != code.params.len() {
                return Err(FaultKind::Launch(format!("{} arguments for {} parameters", arguments.len(), kernel.params.len())));
            }
            for (index, ((param, slot), argument)) in kernel.params.iter().zip(&code.params).zip(arguments).enumerate() {
                let lanes = usize::from(slot.lanes);
                match (param, argument) {
                    (KernelParam::Image, Argument::Image(place, words)) => {
                        images[index] = *words;
                        registers.push(pointer(Home::Global, place.object.number(), place.offset));
                    }
                    (KernelParam::Value | KernelParam::Sampler, Argument::Value(bytes)) => {
                        let start = registers.len();
                        registers.resize(start + lanes, 0);
                        // Three lanes come in the bytes of four.
                        let size = bytes.len() / if lanes == 3 { 4 } else { lanes.max(1) };
                        load(bytes, size as u8, &mut registers[start..]);
                    }
                    (KernelParam::Bytes { size, .. }, Argument::Value(bytes)) if bytes.len() >= *size as usize => {
                        registers.push(pointer(Home::Argument, structs.len() as u32, 0));
                        structs.push(bytes.clone());
                    }
                    (KernelParam::Buffer { .. }, Argument::Buffer(place)) => {
                        if let Some(place) = place {
                            let size = memory.get(place.object).map_or(0, |bytes| (bytes.len() as u64).saturating_sub(place.offset));
                            buffers[index] = [place.object.number(), place.offset as u32, size as u32];
                        }
                        registers.push(place.map_or(0, |place| pointer(Home::Global, place.object.number(), place.offset)));
                    }
                    (KernelParam::Local { .. }, Argument::Local(size)) => {
                        registers.push(pointer(Home::Local, locals.len() as u32, 0));
                        locals.push(*size);
                    }
                    (param, _) => return Err(FaultKind::Launch(format!("argument {index} does not fit {param:?}"))),
                }
            }
        }
        let mut num_groups = [1; 3];
        for ((count, &size), &local) in num_groups.iter_mut().zip(&range.global_size).zip(&range.local_size) {
            if local == 0 {
                return Err(FaultKind::Launch(format!("local size {:?}", range.local_size)));
            }
            *count = size.div_ceil(local);
        }
        let group = Group {
            program: self,
            globals,
            buffers,
            images,
            spaces: Spaces { global: memory, local: locals.iter().map(|_| Vec::new()).collect(), arguments: structs },
            work_dim: range.work_dim,
            global_size: range.global_size,
            global_offset: range.global_offset,
            local_size: range.local_size,
            enqueued_local_size: range.local_size,
            num_groups,
            group: [0; 3],
            fuel: self.settings.fuel,
            printed: Vec::new(),
        };
        Ok((group, registers, locals))
    }
}

/// Work-items whose memory is free for the next ones.
#[derive(Default)]
struct Items {
    free: Vec<Item>,
}

/// The work-items of a group by what stopped them last.
#[derive(Default)]
struct Stopped {
    ended: usize,
    barrier: Vec<Item>,
    /// Their turn was over.
    turns: Vec<Item>,
}

impl Items {
    /// Runs one work-item until something stops it.
    fn turn(&mut self, mut item: Item, group: &mut Group<'_>, of: &mut Stopped) -> Result<(), Fault> {
        match item.run(group)? {
            Stop::Done => {
                of.ended += 1;
                self.free.push(item);
            }
            Stop::Barrier => of.barrier.push(item),
            Stop::Turn => of.turns.push(item),
        }
        Ok(())
    }

    /// Runs a group to its end.
    fn run(&mut self, group: &mut Group<'_>, func: usize, registers: &[u64]) -> Result<(), Fault> {
        let (local, enqueued) = (group.local_size, group.enqueued_local_size);
        let mut of = Stopped::default();
        for (linear, id) in (0..).zip(steps(local)) {
            let mut item = self.free.pop().unwrap_or_default();
            let global = std::array::from_fn(|d| group.global_offset[d].wrapping_add(group.group[d] * enqueued[d]).wrapping_add(id[d]));
            item.begin(group, func, registers, Ids { global, local: id, linear });
            self.turn(item, group, &mut of)?;
        }
        loop {
            while !of.turns.is_empty() {
                for item in std::mem::take(&mut of.turns) {
                    self.turn(item, group, &mut of)?;
                }
            }
            let Some((first, others)) = of.barrier.split_first() else { return Ok(()) };
            if of.ended > 0 || !others.iter().all(|other| other.is_where(first)) {
                return Err(Fault { kind: FaultKind::Divergence, function: first.place(group.program), item: Some(first.ids.global) });
            }
            // In the order of their numbers again.
            of.barrier.sort_by_key(|item| item.ids.linear);
            meet(group.program, &mut of.barrier);
            of.turns = std::mem::take(&mut of.barrier);
        }
    }
}
