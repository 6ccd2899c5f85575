//! Runs launches on the interpreter as a driver would: with the program of a build, or with modules that are
//! specialised for the launch.

#![allow(dead_code, reason = "each test uses a part of it")]

use wgcl_compiler::interpret::{Argument, Dispatch, Fault, Memory, MemoryLocation, NdRange, ObjectId, Program, Settings, Stage};
use wgcl_compiler::ir::{Module, Scalar, Type};
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::target::Target;

#[derive(Clone, Debug)]
pub enum ArgValue {
    /// The index of a memory object and a byte offset in it, or `None` for null.
    Buffer(Option<(usize, u32)>),
    Value(Vec<u8>),
    /// Size in bytes of local memory.
    Local(u32),
}

#[derive(Clone, Debug)]
pub struct Case {
    pub profile: &'static str,
    /// The kernel's name.
    pub kernel: String,
    pub target: Target,
    pub range: NdRange,
    /// The initial contents of the memory objects.
    pub memory: Vec<Vec<u8>>,
    /// The arguments, by parameter.
    pub args: Vec<ArgValue>,
    /// The key, except for the fields that differ between parts.
    pub key: LaunchKey,
    /// The byte offset of each merged argument in the common buffer, by parameter.
    pub merged_offsets: Vec<u32>,
    /// Size in bytes of the common buffer.
    pub common: u32,
    /// Whether the results do not depend on the division into work-groups.
    pub group_independent: bool,
    /// The number of groups in dimension 0 of the first of two dispatches. 0 for a single dispatch.
    pub split_at: u32,
}

/// Groups of one size in one dispatch: the ids of the first group, and the exclusive upper bounds of the ids.
pub type Part = [[u32; 3]; 2];

impl Case {
    /// Returns one more than the largest linear id `id 0 + size 0 * (id 1 + size 1 * id 2)` of a work-item.
    pub fn span(&self) -> u32 {
        let ids: [u32; 3] = std::array::from_fn(|d| self.range.global_offset[d] + self.range.global_size[d] - 1);
        let [width, height, _] = self.range.global_size;
        1 + ids[0] + width * (ids[1] + height * ids[2])
    }

    /// Describes the launch for messages.
    pub fn describe(&self) -> String {
        let Self { profile, range, key, target, .. } = self;
        format!("for {profile} with subgroups of {}, {range:?}, {key:?}, {:?}", target.language.subgroup_size, self.args)
    }

    /// Divides the groups into parts of one size in one dispatch. Returns the key and the groups of each part. `count`
    /// is the number of work-items per invocation.
    pub fn parts(&self, count: u32) -> Vec<(LaunchKey, Part)> {
        let local = self.range.local_size;
        let mut invocations = self.range.global_size;
        invocations[0] /= count;
        let groups: [u32; 3] = std::array::from_fn(|d| invocations[d].div_ceil(local[d]));
        let rest: [u32; 3] = std::array::from_fn(|d| invocations[d] % local[d]);
        let whole = self.key.clone().changed(|key| {
            key.kernel.guard = if self.group_independent { rest.map(|rest| rest != 0) } else { [false; 3] };
            key.binding.coarsen = if count > 1 { key.binding.coarsen } else { 1 };
            key.binding.two_dimensional_dispatch = self.split_at == 0 && self.range.work_dim == 1 && !key.binding.single_dispatch;
        });
        let mut parts = vec![(whole, [[0; 3], groups])];
        for d in (0..3).filter(|&d| rest[d] != 0 && !self.group_independent) {
            for index in 0..parts.len() {
                let (mut key, mut edge) = parts[index].clone();
                key.kernel.local_size[d] = rest[d];
                edge[0][d] = groups[d] - 1;
                parts[index].1[1][d] -= 1;
                parts.push((key, edge));
            }
        }
        let end = parts[0].1[1][0];
        if (1..end).contains(&self.split_at) {
            let (key, mut second) = parts[0].clone();
            second[0][0] = self.split_at;
            parts[0].1[1][0] = self.split_at;
            parts.push((key, second));
        }
        parts.retain(|(_, [first, end])| (0..3).all(|d| first[d] < end[d]));
        parts
    }
}

/// Limit for the loop iterations and calls of a work-item.
const FUEL: u64 = 10_000;

/// A module specialised for a part of a launch.
#[derive(Clone, Debug)]
pub struct SpecialisedPart {
    pub module: Module,
    pub key: LaunchKey,
    /// The groups of the part; `None` for all groups.
    pub part: Option<Part>,
}

/// Returns the final contents of the memory objects. Runs the program with two values for undefined bytes.
///
/// # Errors
///
/// Fails if the program has a fault, or if the contents depend on undefined bytes.
pub fn outcome(case: &Case, run: impl Fn(u8) -> Result<Vec<Vec<u8>>, Fault>) -> Result<Vec<Vec<u8>>, String> {
    let first = run(0x5a).map_err(|fault| fault.to_string())?;
    let second = run(0x31).map_err(|fault| fault.to_string())?;
    if second == first { Ok(first) } else { Err(format!("the outcome depends on undefined values: {}", difference(case, &first, &second))) }
}

/// Describes the first difference between contents of memory.
pub fn difference(case: &Case, one: &[Vec<u8>], other: &[Vec<u8>]) -> String {
    for (object, (one, other)) in one.iter().zip(other).enumerate() {
        if let Some(byte) = one.iter().zip(other).position(|(one, other)| one != other) {
            return format!("byte {byte} of object {object} of {}: {} and {}", case.memory.len(), one[byte], other[byte]);
        }
    }
    String::new()
}

fn settings(case: &Case, stage: Stage, undefined: u8) -> Settings {
    let items: u64 = case.range.global_size.iter().map(|&size| u64::from(size)).product();
    let lanes = case.target.language.subgroup_size;
    Settings { fuel: FUEL * items, undefined, fused: false, lanes, ..Settings::new(stage, &case.target) }
}

/// Creates a generator of object ids.
fn names() -> impl FnMut() -> Option<ObjectId> {
    let mut last = 0;
    move || {
        last += 1;
        ObjectId::new(last)
    }
}

/// Runs the kernel of a launch in a module that is not specialised.
pub fn run_whole(case: &Case, module: &Module, stage: Stage, undefined: u8) -> Result<Vec<Vec<u8>>, Fault> {
    let program = Program::new(module, settings(case, stage, undefined));
    let (mut memory, mut name) = (Memory::default(), names());
    let objects: Vec<ObjectId> = case.memory.iter().filter_map(|_| name()).collect();
    for (&object, bytes) in objects.iter().zip(&case.memory) {
        memory.insert(object, bytes.clone(), false);
    }
    let instance = program.instantiate(&mut memory, &mut name).unwrap_or_default();
    let arguments: Vec<Argument> = case.args.iter().map(|given| argument(given, &objects)).collect();
    program.launch(&instance, &case.kernel, &arguments, &case.range, &mut memory, &mut Vec::new())?;
    Ok(objects.into_iter().filter_map(|object| memory.remove(object)).collect())
}

fn argument(given: &ArgValue, objects: &[ObjectId]) -> Argument {
    match given {
        ArgValue::Buffer(None) => Argument::Buffer(None),
        &ArgValue::Buffer(Some((object, start))) => {
            Argument::Buffer(Some(MemoryLocation { object: objects[object], offset: start.into() }))
        }
        ArgValue::Value(bytes) => Argument::Value(bytes.clone()),
        &ArgValue::Local(bytes) => Argument::Local(bytes),
    }
}

/// Runs the modules of the parts of a launch in sequence.
pub fn run_parts(case: &Case, parts: &[SpecialisedPart], undefined: u8) -> Result<Vec<Vec<u8>>, Fault> {
    let (mut memory, mut name) = (Memory::default(), names());
    let objects: Vec<ObjectId> = case.memory.iter().filter_map(|_| name()).collect();
    for (&object, bytes) in objects.iter().zip(&case.memory) {
        memory.insert(object, bytes.clone(), false);
    }
    let common = name();
    for made in parts {
        let program = Program::new(&made.module, settings(case, Stage::Launched, undefined));
        let instance = program.instantiate(&mut memory, &mut name).unwrap_or_default();
        let (arguments, starts) = bound(case, made, &objects, common);
        let dispatch = Dispatch { guard: made.key.kernel.guard, part: made.part, starts, merged_offsets: case.merged_offsets.clone() };
        let range = NdRange { local_size: made.key.kernel.enqueued_local_size, ..case.range };
        if let (Some(common), false) = (common, made.key.binding.merged.is_empty()) {
            memory.insert(common, vec![undefined; case.common as usize], false);
            copy_merged(case, made, &objects, common, &mut memory, true);
        }
        program.dispatch(&instance, &case.kernel, &arguments, (&range, &dispatch), &mut memory, &mut Vec::new())?;
        if let (Some(common), false) = (common, made.key.binding.merged.is_empty()) {
            copy_merged(case, made, &objects, common, &mut memory, false);
        }
        for (object, _) in instance.objects() {
            memory.remove(object);
        }
    }
    Ok(objects.into_iter().filter_map(|object| memory.remove(object)).collect())
}

/// Returns the arguments of a part, and the start offset of each argument in its binding (0 without a start offset).
fn bound(case: &Case, made: &SpecialisedPart, objects: &[ObjectId], common: Option<ObjectId>) -> (Vec<Argument>, Vec<u32>) {
    let (mut arguments, mut starts) = (Vec::new(), vec![0; case.args.len()]);
    for (index, given) in (0_u32..).zip(&case.args) {
        let mut given = argument(given, objects);
        if let Argument::Buffer(Some(place)) = &mut given
            && made.key.binding.started_args.contains(&index)
        {
            starts[index as usize] = std::mem::take(&mut place.offset) as u32;
        }
        if let Some(position) = made.key.binding.merged.iter().position(|&merged| merged == index) {
            // Only the first merged argument has a binding, which is the common buffer.
            given = Argument::Buffer(common.filter(|_| position == 0).map(|object| MemoryLocation { object, offset: 0 }));
        }
        arguments.push(given);
    }
    let kernel = made.module.functions.iter().find(|function| function.name == case.kernel).and_then(|function| function.kernel.as_ref());
    let params = kernel.map_or(&[][..], |kernel| &kernel.params);
    let pieces = &made.key.binding.split;
    for _ in 0..made.key.binding.extra_buffers {
        arguments.push(Argument::Buffer(None));
    }
    for (param, piece) in pieces.added().take(params.len().saturating_sub(arguments.len())) {
        let offset = u64::from(piece) * u64::from(pieces.step());
        let place = match case.args[param as usize] {
            ArgValue::Buffer(Some((object, start))) => {
                // The binding of an argument with a start offset begins with the first byte of the object.
                let start = if made.key.binding.started_args.contains(&param) { 0 } else { start };
                Some(MemoryLocation { object: objects[object], offset: offset + u64::from(start) })
            }
            _ => None,
        };
        arguments.push(Argument::Buffer(place));
    }
    // A module from before the passes that add parameters has fewer parameters. Drop the surplus arguments.
    arguments.truncate(params.len().max(case.args.len()));
    (arguments, starts)
}

/// Copies the contents of merged arguments into the common buffer, or back.
fn copy_merged(case: &Case, made: &SpecialisedPart, objects: &[ObjectId], common: ObjectId, memory: &mut Memory, into: bool) {
    let mut shared = memory.remove(common).unwrap_or_default();
    for &index in made.key.binding.merged.iter() {
        if let ArgValue::Buffer(Some((object, _))) = case.args[index as usize] {
            let mut own = memory.remove(objects[object]).unwrap_or_default();
            let place = &mut shared[case.merged_offsets[index as usize] as usize..][..own.len()];
            if into {
                place.copy_from_slice(&own)
            } else {
                own.copy_from_slice(place)
            }
            memory.insert(objects[object], own, false);
        }
    }
    memory.insert(common, shared, false);
}

/// Returns the bytes of a value whose lanes all have the given bits.
pub fn bytes_of(ty: Type, bits: u64) -> Vec<u8> {
    let size = ty.scalar().map_or(8, Scalar::size) as usize;
    // Three lanes occupy the bytes of four.
    let lanes = if ty.lanes() == 3 { 4 } else { usize::from(ty.lanes()) };
    bits.to_le_bytes()[..size].repeat(lanes)
}
