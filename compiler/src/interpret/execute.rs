//! A work-item: registers, private memory and a call stack. It can stop at barriers, collective operations and the ends
//! of loop iterations, and continue later.
//!
//! Example: at a barrier [`Item::run`] returns [`Stop`]. The launch continues the work-item after all others have
//! arrived.

use super::code::{Code, Collective, Fold, Inst, Lanes, Slot};
use super::memory::{MemoryKind, Private, Spaces, load, pointer, split, store};
use super::{Fault, FaultKind, Program};
use crate::diag::Span;
use crate::image::WORDS;
use crate::ir::WorkItem;
use crate::pointer::global_pointer;
use crate::printf::CAPACITY;

/// Maximum number of active calls of a work-item.
const MAX_CALLS: usize = 1024;

/// Maximum number of loop iterations and calls in a time slice. Only the end of an iteration ends the slice. Each slice
/// of a work-item that waits for others is lost, so slices are short.
const SLICE: u64 = 1 << 9;

/// The reason for which a work-item stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Done,
    Barrier,
    /// A subgroup operation.
    Subgroup,
    /// The time slice is over.
    TimeSlice,
}

/// An active call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    func: u32,
    /// Index of the next instruction.
    next: u32,
    /// The first register of the call.
    base: u32,
    /// The first register of the caller that receives the results.
    result: u32,
    /// The result of [`Private::mark`] before the call.
    mark: (u32, u32),
}

/// The ids of a work-item.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ids {
    pub(super) global: [u32; 3],
    pub(super) local: [u32; 3],
    /// Index in the work-group.
    pub(super) linear: u32,
}

/// The state that the work-items of a work-group share.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) program: &'a Program,
    /// Pointers to the objects of the module.
    pub(super) globals: Vec<u64>,
    /// The first register of each parameter of the kernel. For pointers, this is the pointer.
    pub(super) params: Vec<u64>,
    /// For each argument: object, offset in the object, and size, both in bytes. Zeros if the argument is null or not a
    /// buffer.
    pub(super) buffers: Vec<[u32; 3]>,
    /// Copies of the tables with these names in [`Dispatch`](super::launch::Dispatch).
    pub(super) starts: Vec<u32>,
    pub(super) merged_offsets: Vec<u32>,
    /// For each argument: the words of the image descriptor. Empty if there are no images.
    pub(super) images: Vec<[u32; WORDS as usize]>,
    pub(super) spaces: Spaces<'a>,
    pub(super) work_dim: u32,
    pub(super) global_size: [u32; 3],
    pub(super) global_offset: [u32; 3],
    /// The size of the current group.
    pub(super) local_size: [u32; 3],
    pub(super) enqueued_local_size: [u32; 3],
    pub(super) num_groups: [u32; 3],
    pub(super) group: [u32; 3],
    pub(super) fuel: u64,
    /// Records of `printf`.
    pub(super) printed: Vec<u32>,
}

impl Group<'_> {
    /// Converts a pointer for a record. A pointer to a module object is encoded as in the memory of a program, so that
    /// the host finds strings.
    fn printed_pointer(&self, bits: u64) -> u64 {
        let (kind, number, offset) = split(bits);
        let of = |global: &u64| split(*global).0 == kind && split(*global).1 == number;
        let global =
            self.globals.iter().position(of).filter(|_| kind == MemoryKind::Global).and_then(|index| self.program.globals.get(index));
        global.map_or(bits, |global| global_pointer(global.space, i64::from(global.start) + offset as i64, 8))
    }
}

#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) ids: Ids,
    frames: Vec<Frame>,
    registers: Vec<u64>,
    private: Private,
}

/// Starts a call: sets constants and creates variables. The caller must set the parameters.
fn enter(registers: &mut Vec<u64>, private: &mut Private, code: &Code, base: u32, fill: u8) {
    let end = (base + code.registers) as usize;
    if registers.len() < end {
        registers.resize(end, 0);
    }
    let first = (base + code.param_registers) as usize;
    registers[first..first + code.constants.len()].copy_from_slice(&code.constants);
    private.push(&code.variables, fill);
}

impl Item {
    /// Starts a function from its first instruction.
    pub(super) fn begin(&mut self, group: &Group<'_>, func: usize, arguments: &[u64], ids: Ids) {
        self.ids = ids;
        self.frames.clear();
        self.private.pop((0, 0));
        let code = &group.program.functions[func];
        enter(&mut self.registers, &mut self.private, code, 0, group.program.settings.undefined);
        self.registers[..arguments.len()].copy_from_slice(arguments);
        self.frames.push(Frame { func: func as u32, next: 0, base: 0, result: 0, mark: (0, 0) });
    }

    /// Whether two work-items have stopped at the same instruction.
    pub(super) fn is_at_instruction_of(&self, other: &Self) -> bool {
        self.frames.len() == other.frames.len() && self.frames.iter().zip(&other.frames).all(|(a, b)| (a.func, a.next) == (b.func, b.next))
    }

    /// The function and the source location of the last executed instruction, for messages.
    pub(super) fn location(&self, program: &Program) -> Option<(String, Span)> {
        let frame = self.frames.last()?;
        let code = program.functions.get(frame.func as usize)?;
        let span = code.spans.get((frame.next as usize).saturating_sub(1)).copied().unwrap_or(Span::NONE);
        Some((code.name.clone(), span))
    }

    /// The position of the work-item in program order. Work-items of a subgroup execute collective operations in this
    /// order. For each call, it contains the start and the iteration number of the enclosing loops, and then the
    /// instruction.
    pub(super) fn position(&self, program: &Program) -> Vec<u64> {
        let mut position = Vec::new();
        for frame in &self.frames {
            let Some(code) = program.functions.get(frame.func as usize) else { break };
            let at = frame.next.saturating_sub(1);
            if let Ok(found) = code.enclosing_loops.binary_search_by_key(&at, |(at, _)| *at) {
                for &(begin, iterations) in &code.enclosing_loops[found].1 {
                    position.extend([u64::from(begin), self.registers[(frame.base + iterations) as usize]]);
                }
            }
            position.push(u64::from(at));
        }
        position
    }

    /// Whether the work-item has stopped at an operation that all work-items of its subgroup must execute.
    pub(super) fn needs_all(&mut self, program: &Program) -> bool {
        self.collective(program).is_some_and(|(collective, _)| collective.whole)
    }

    /// The collective operation at which the work-item has stopped, and its registers. `None` for a barrier.
    fn collective(&mut self, program: &Program) -> Option<(Collective, &mut [u64])> {
        let frame = self.frames.last()?;
        let code = program.functions.get(frame.func as usize)?;
        let at = frame.next.checked_sub(1)?;
        let found = code.collectives.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        Some((code.collectives[found].1, &mut self.registers[frame.base as usize..]))
    }

    /// The first registers. After the function has returned, they contain its result.
    pub(super) fn result(&self, lanes: usize) -> &[u64] {
        &self.registers[..lanes]
    }

    /// Runs the work-item until it stops.
    pub(super) fn run(&mut self, group: &mut Group<'_>) -> Result<Stop, Fault> {
        self.advance(group).map_err(|kind| Fault { kind, function: self.location(group.program), item: Some(self.ids.global) })
    }

    fn advance(&mut self, group: &mut Group<'_>) -> Result<Stop, FaultKind> {
        let program = group.program;
        let Self { ids, frames, registers, private } = self;
        let mut slice = SLICE.min(group.fuel);
        let before = slice;
        loop {
            let Some(frame) = frames.last_mut() else { return Ok(Stop::Done) };
            let code = &program.functions[frame.func as usize];
            let r = &mut registers[frame.base as usize..(frame.base + code.registers) as usize];
            let change = segment(group, private, ids, code, frame, r, &mut slice)?;
            match change {
                Change::Stop(stop) => {
                    group.fuel -= before - slice;
                    if stop == Stop::TimeSlice && group.fuel == 0 {
                        return Err(FaultKind::OutOfFuel);
                    }
                    return Ok(stop);
                }
                Change::Call { func, list, to } => {
                    let (base, result) = (frame.base + code.registers, frame.base + to);
                    let from = frame.base;
                    if frames.len() >= MAX_CALLS {
                        return Err(FaultKind::TooDeep);
                    }
                    slice = slice.saturating_sub(1);
                    let callee = program.functions.get(func as usize).ok_or(FaultKind::Unreachable)?;
                    let mark = private.mark();
                    enter(registers, private, callee, base, program.settings.undefined);
                    for (param, arg) in callee.params.iter().zip(&code.lists[list as usize]) {
                        let start = (from + arg.at) as usize;
                        registers.copy_within(start..start + usize::from(arg.lanes), (base + param.at) as usize);
                    }
                    frames.push(Frame { func, next: 0, base, result, mark });
                }
                Change::Return { list } => {
                    let (mut result, mark) = (frame.result as usize, frame.mark);
                    for value in &code.lists[list as usize] {
                        let start = (frame.base + value.at) as usize;
                        registers.copy_within(start..start + usize::from(value.lanes), result);
                        result += usize::from(value.lanes);
                    }
                    private.pop(mark);
                    frames.pop();
                }
            }
        }
    }
}

/// The operands of one work-item for a collective operation.
#[derive(Clone, Copy)]
struct Member {
    /// Index of the work-item in the group or subgroup.
    index: u32,
    value: u64,
    /// The other operand.
    other: u64,
    /// Index of the work-item's cluster.
    cluster: u32,
}

/// Executes the collective operation at which the given work-items have stopped. They are all work-items of a group, or
/// the active ones of a subgroup with `lanes` work-items, in the order of their indices.
pub(super) fn execute_collective(program: &Program, items: &mut [&mut Item], lanes: u32) {
    let Some((Collective { fold, value, to, cluster, .. }, _)) = items.first_mut().and_then(|item| item.collective(program)) else {
        return;
    };
    let other = match fold {
        Fold::Broadcast { index: by } | Fold::Shuffle { by, .. } => Some(by),
        _ => None,
    };
    let members: Vec<Member> = items
        .iter_mut()
        .filter_map(|item| {
            let index = item.ids.linear % lanes;
            let (_, registers) = item.collective(program)?;
            let of = |register: Option<u32>| register.map_or(0, |register| registers[register as usize]);
            let size = of(cluster) as u32;
            Some(Member { index, value: of(Some(value)), other: of(other), cluster: index.checked_div(size).unwrap_or(0) })
        })
        .collect();
    let mut results: Vec<[u64; 4]> = Vec::with_capacity(members.len());
    for members in members.chunk_by(|a, b| a.cluster == b.cluster) {
        folded(fold, members, &mut results);
    }
    for (item, result) in items.iter_mut().zip(results) {
        if let Some((_, registers)) = item.collective(program) {
            let lanes = usize::from(to.lanes);
            registers[to.at as usize..][..lanes].copy_from_slice(&result[..lanes]);
        }
    }
}

/// Appends the result of each member.
fn folded(fold: Fold, members: &[Member], results: &mut Vec<[u64; 4]>) {
    let values = || members.iter().map(|member| member.value);
    let one = |value: u64| [value, 0, 0, 0];
    let mut all = |value: [u64; 4]| results.extend(members.iter().map(|_| value));
    let of = |index: u32| members.iter().find(|member| member.index == index).map(|member| member.value);
    match fold {
        Fold::Barrier => all([0; 4]),
        // The index is uniform, so the index of any member is correct.
        Fold::Broadcast { .. } => all(one(members.last().and_then(|member| of(member.other as u32)).unwrap_or_default())),
        Fold::First => all(one(values().next().unwrap_or_default())),
        Fold::Reduce(f) => all(one(values().reduce(f).unwrap_or_default())),
        Fold::Inclusive(f) => results.extend(values().scan(None, |sum: &mut Option<u64>, value| {
            *sum = Some(sum.map_or(value, |sum| f(sum, value)));
            sum.map(one)
        })),
        Fold::Exclusive(f, first) => results.extend(values().scan(first, |sum, value| Some(one(std::mem::replace(sum, f(*sum, value)))))),
        Fold::Ballot => {
            let mut words = [0; 4];
            for member in members.iter().filter(|member| member.value != 0) {
                if let Some(word) = words.get_mut(member.index as usize / 32) {
                    *word |= 1 << (member.index % 32);
                }
            }
            all(words);
        }
        Fold::Shuffle { from, otherwise, .. } => {
            results.extend(members.iter().map(|member| one(of(from(member.index, member.other as u32)).unwrap_or(otherwise))));
        }
    }
}

/// The reason for which a sequence of instructions in one frame ends.
enum Change {
    Stop(Stop),
    Call { func: u32, list: u32, to: u32 },
    Return { list: u32 },
}

fn aligned(pointer: u64, align: u32) -> Result<(), FaultKind> {
    let (_, _, offset) = split(pointer);
    if offset as u64 & u64::from(align.wrapping_sub(1)) == 0 { Ok(()) } else { Err(FaultKind::Misaligned { offset, align }) }
}

/// Runs one frame until a call, a return, or a stop.
fn segment(
    group: &mut Group<'_>,
    private: &mut Private,
    ids: &Ids,
    code: &Code,
    frame: &mut Frame,
    r: &mut [u64],
    slice: &mut u64,
) -> Result<Change, FaultKind> {
    let mut next = frame.next as usize;
    macro_rules! lanes {
        ($to:expr, |$lane:ident| $value:expr) => {
            for $lane in 0..usize::from($to.lanes) {
                r[$to.at as usize + $lane] = $value;
            }
        };
    }
    macro_rules! tried {
        ($result:expr) => {
            match $result {
                Ok(value) => value,
                Err(fault) => {
                    frame.next = next as u32;
                    return Err(fault);
                }
            }
        };
    }
    loop {
        let inst = code.insts[next];
        next += 1;
        match inst {
            Inst::Binary1 { f, a, b, to } => r[to as usize] = f(r[a as usize], r[b as usize]),
            Inst::Move { from, to } => {
                let from = from as usize;
                if to.lanes == 1 {
                    r[to.at as usize] = r[from];
                } else {
                    r.copy_within(from..from + usize::from(to.lanes), to.at as usize);
                }
            }
            Inst::Unary { f, a, to } => lanes!(to, |lane| f(r[a as usize + lane])),
            Inst::Binary { f, a, b, to } => lanes!(to, |lane| f(r[a as usize + lane], r[b as usize + lane])),
            Inst::Ternary { f, a, b, c, to } => {
                lanes!(to, |lane| f(r[a as usize + lane], r[b as usize + lane], r[c as usize + lane]));
            }
            Inst::Select { cond, yes, no, to, step } => {
                lanes!(to, |lane| r[(if r[cond as usize + lane * usize::from(step)] == 0 { no } else { yes }) as usize + lane]);
            }
            Inst::All { a, to } => {
                r[to as usize] = u64::from(r[a.at as usize..][..usize::from(a.lanes)].iter().all(|&lane| lane != 0));
            }
            Inst::Any { a, to } => {
                r[to as usize] = u64::from(r[a.at as usize..][..usize::from(a.lanes)].iter().any(|&lane| lane != 0));
            }
            Inst::Splat { from, to } => {
                let value = r[from as usize];
                lanes!(to, |lane| value);
            }
            Inst::ExtractDyn { vector, index, to } => {
                let index = r[index as usize];
                // The result for an index out of range is unspecified. Here it is the first lane.
                let lane = if index < u64::from(vector.lanes) { index as u32 } else { 0 };
                r[to as usize] = r[(vector.at + lane) as usize];
            }
            Inst::InsertDyn { vector, index, value, to } => {
                let (index, value) = (r[index as usize], r[value as usize]);
                r.copy_within(vector as usize..vector as usize + usize::from(to.lanes), to.at as usize);
                if index < u64::from(to.lanes) {
                    r[to.at as usize + index as usize] = value;
                }
            }
            Inst::Regroup { from, from_lanes, to, to_lanes } => {
                let mut bytes = [0; 128];
                let size = from_lanes.bytes();
                store(&r[from as usize..][..usize::from(from_lanes.lanes)], from_lanes.size, &mut bytes[..size]);
                load(&bytes[..size], to_lanes.size, &mut r[to as usize..][..usize::from(to_lanes.lanes)]);
            }
            Inst::WorkItem { query, to } => r[to as usize] = u64::from(work_item_query(group, ids, query)),
            Inst::VarAddr { number, to } => r[to as usize] = pointer(MemoryKind::Private, frame.mark.0 + number, 0),
            Inst::GlobalAddr { global, to } => r[to as usize] = group.globals[global as usize],
            Inst::ParamAddr { param, to } => r[to as usize] = group.params.get(param as usize).copied().unwrap_or(0),
            Inst::Offset { pointer, by, to, wide } => {
                let by = r[by as usize];
                let by = if wide { by } else { i64::from(by as i32) as u64 };
                r[to as usize] = r[pointer as usize].wrapping_add(by);
            }
            Inst::Load { pointer, to, shape, align } => {
                let pointer = r[pointer as usize];
                tried!(aligned(pointer, align));
                let bytes = tried!(group.spaces.read(private, pointer, shape.bytes()));
                load(bytes, shape.size, &mut r[to as usize..][..usize::from(shape.lanes)]);
            }
            Inst::Store { pointer, from, shape, align } => {
                let pointer = r[pointer as usize];
                tried!(aligned(pointer, align));
                let bytes = tried!(group.spaces.write(private, pointer, shape.bytes()));
                store(&r[from as usize..][..usize::from(shape.lanes)], shape.size, bytes);
            }
            Inst::Copy { to, from, size, align } => {
                let (to, from, size) = (r[to as usize], r[from as usize], size as usize);
                tried!(aligned(to, align));
                tried!(aligned(from, align));
                let bytes = tried!(group.spaces.read(private, from, size)).to_vec();
                tried!(group.spaces.write(private, to, size)).copy_from_slice(&bytes);
            }
            Inst::Zero { to, size, align } => {
                let to = r[to as usize];
                tried!(aligned(to, align));
                tried!(group.spaces.write(private, to, size as usize)).fill(0);
            }
            Inst::NanCheck { list, differs } => {
                let is_nan = |value: &Slot, lane: u32| {
                    let bits = r[(value.at + if value.lanes == 1 { 0 } else { lane }) as usize];
                    differs(bits, bits) != 0
                };
                let (result, operands) = code.lists[list as usize].split_first().expect("the verifier has seen a result");
                if (0..u32::from(result.lanes)).any(|lane| is_nan(result, lane) && !operands.iter().any(|value| is_nan(value, lane))) {
                    tried!(Err(FaultKind::NanCreated));
                }
            }
            Inst::UndefinedUse { number } => {
                let (what, names) = code.undefined_uses[number as usize].clone();
                tried!(Err(FaultKind::UndefinedUse { what, names }));
            }
            Inst::ConversionCheck { value, widen, limits: (low, high) } => {
                let converts = |bits: u64| (f64::from_bits(widen(bits)) > low) & (f64::from_bits(widen(bits)) < high);
                if !r[value.at as usize..][..usize::from(value.lanes)].iter().all(|&bits| converts(bits)) {
                    tried!(Err(FaultKind::ConversionOutOfRange));
                }
            }
            Inst::Clock { to } => {
                // The remaining fuel decreases, so its complement increases.
                let ticks = !group.fuel;
                r[to as usize] = ticks & u64::from(u32::MAX);
                r[to as usize + 1] = ticks >> 32;
            }
            Inst::Atomic { f, pointer, value, to, size } => {
                let old = tried!(update(group, private, r[pointer as usize], size, |old| f(old, r[value as usize])));
                r[to as usize] = old;
            }
            Inst::CompareExchange { pointer, expected, desired, to, size } => {
                let (expected, desired) = (r[expected as usize], r[desired as usize]);
                let change = |old| if old == expected { desired } else { old };
                r[to as usize] = tried!(update(group, private, r[pointer as usize], size, change));
            }
            Inst::Barrier | Inst::Group => {
                frame.next = next as u32;
                return Ok(Change::Stop(Stop::Barrier));
            }
            Inst::Subgroup => {
                frame.next = next as u32;
                return Ok(Change::Stop(Stop::Subgroup));
            }
            Inst::Count { iterations } => r[iterations as usize] += 1,
            Inst::Printf { site, list, to } => {
                let mut record = vec![site];
                for &(at, shape, is_pointer) in &code.printed[list as usize] {
                    let mut bytes = [0; 128];
                    if is_pointer {
                        let pointer = group.printed_pointer(r[at as usize]);
                        store(&[pointer], shape.size, &mut bytes);
                    } else {
                        store(&r[at as usize..][..usize::from(shape.lanes)], shape.size, &mut bytes);
                    }
                    let words = bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
                    record.extend(words.take(shape.bytes().div_ceil(4)));
                }
                let fits = group.printed.len() + record.len() <= CAPACITY as usize;
                if fits {
                    group.printed.extend(record);
                }
                r[to as usize] = if fits { 0 } else { u64::from(u32::MAX) };
            }
            Inst::Call { func, list, to } => {
                frame.next = next as u32;
                return Ok(Change::Call { func, list, to });
            }
            Inst::Return { list } => return Ok(Change::Return { list }),
            Inst::Jump { to } => next = to as usize,
            Inst::NextIteration { to } => {
                next = to as usize;
                *slice = slice.saturating_sub(1);
                if *slice == 0 {
                    frame.next = next as u32;
                    return Ok(Change::Stop(Stop::TimeSlice));
                }
            }
            Inst::JumpUnless { cond, to } => {
                if r[cond as usize] == 0 {
                    next = to as usize;
                }
            }
            Inst::Switch { selector, table } => {
                let table = &code.tables[table as usize];
                let found = table.cases.binary_search_by_key(&r[selector as usize], |(value, _)| *value);
                next = found.map_or(table.default, |index| table.cases[index].1) as usize;
            }
            Inst::Unreachable => tried!(Err(FaultKind::Unreachable)),
            Inst::Unsupported { text } => tried!(Err(FaultKind::Unsupported(code.texts[text as usize].clone()))),
        }
    }
}

/// Replaces a number in memory and returns the old one.
fn update(group: &mut Group<'_>, private: &mut Private, pointer: u64, size: u8, change: impl FnOnce(u64) -> u64) -> Result<u64, FaultKind> {
    aligned(pointer, u32::from(size))?;
    let shape = Lanes { size, lanes: 1 };
    let bytes = group.spaces.write(private, pointer, shape.bytes())?;
    let mut old = [0];
    load(bytes, size, &mut old);
    store(&[change(old[0])], size, bytes);
    Ok(old[0])
}

fn work_item_query(group: &Group<'_>, ids: &Ids, query: WorkItem) -> u32 {
    let of = |sizes: &[u32; 3], dimension: u8, beyond: u32| sizes.get(usize::from(dimension)).copied().unwrap_or(beyond);
    let of_buffer = |index: u32, word: usize| group.buffers.get(index as usize).map_or(0, |buffer| buffer[word]);
    let lanes = group.program.settings.lanes;
    match query {
        WorkItem::GlobalId(dimension) => of(&ids.global, dimension, 0),
        WorkItem::LocalId(dimension) => of(&ids.local, dimension, 0),
        WorkItem::GroupId(dimension) => of(&group.group, dimension, 0),
        WorkItem::GlobalSize(dimension) => of(&group.global_size, dimension, 1),
        WorkItem::LocalSize(dimension) => of(&group.local_size, dimension, 1),
        WorkItem::EnqueuedLocalSize(dimension) => of(&group.enqueued_local_size, dimension, 1),
        WorkItem::NumGroups(dimension) => of(&group.num_groups, dimension, 1),
        WorkItem::GlobalOffset(dimension) => of(&group.global_offset, dimension, 0),
        WorkItem::WorkDim => group.work_dim,
        WorkItem::SubgroupSize => lanes,
        WorkItem::SubgroupLocalId => ids.linear % lanes,
        WorkItem::SubgroupId => ids.linear / lanes,
        WorkItem::NumSubgroups => group.local_size.iter().product::<u32>().div_ceil(lanes),
        WorkItem::ArgIdentity(index) => of_buffer(index, 0),
        WorkItem::ArgBase(index) => of_buffer(index, 1),
        WorkItem::ArgSize(index) => of_buffer(index, 2),
        WorkItem::ArgSizeHigh(_) => 0,
        // The interpreter uses its 64-bit pointer as the address.
        WorkItem::ArgAddress { param, high } => of_buffer(param, usize::from(!high)),
        WorkItem::ArgStart(index) => group.starts.get(index as usize).copied().unwrap_or_default(),
        WorkItem::ArgImage { param, word } => {
            group.images.get(param as usize).and_then(|words| words.get(usize::from(word))).copied().unwrap_or_default()
        }
        WorkItem::ArgMergedOffset(index) => group.merged_offsets.get(index as usize).copied().unwrap_or_default(),
    }
}
