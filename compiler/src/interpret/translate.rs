//! Translates the regions of the IR to code for registers.
//!
//! Registers are assigned in the order of definitions. The registers of a region are reused after the region, because
//! its values are not visible outside of it. Operations that only reinterpret lanes (such as `extract`, and `bitcast`
//! between equal lane counts) refer to existing registers.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::code::{Code, Collective, Fold, Inst, Lanes, Register, Slot, Table};
use super::memory::{MemoryKind, within};
use super::number::{self, Binary, Math, Unary};
use super::{Settings, Stage};
use crate::diag::Span;
use crate::ir::{AtomicOp, BinOp, CastOp, CmpOp, Const, Function, GroupOp, Inst as IrInst, Module, Op, Region, Scalar, Space, Type, Value};
use crate::printf::{self, resolved};

/// Size of a pointer in memory, in bytes.
pub(super) const POINTER: u8 = 8;

/// The name of an operation, for messages.
fn describe(op: &Op) -> String {
    let text = format!("{op:?}");
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// Whether a function contains subgroup operations.
pub(super) fn has_subgroup_operations(function: &Function) -> bool {
    let mut found = false;
    function.body.walk(&mut |inst| found |= matches!(inst.op, Op::Group { sub: true, .. }));
    found
}

/// Translates a function. `counts_iterations`: whether loop iterations are counted, which operations of subgroups with
/// several work-items require.
pub(super) fn translate(module: &Module, function: &Function, table: &printf::Table, counts_iterations: bool, settings: &Settings) -> Code {
    let mut translator = Translator {
        module,
        function,
        table,
        settings,
        counts_iterations,
        code: Code { name: function.name.clone(), ..Code::default() },
        slots: vec![Slot { at: 0, lanes: 1 }; function.values.len()],
        top: 0,
        loops: Vec::new(),
        span: Span::NONE,
        known: FxHashMap::default(),
    };
    for &param in &function.params {
        let slot = translator.define(param);
        translator.code.params.push(slot);
    }
    translator.code.param_registers = translator.top;
    translator.constants();
    translator.code.variables = function.vars.iter().map(|var| var.size).collect();
    translator.region(&function.body, &[]);
    // A body ends in `return`. Only a bug in the compiler can lead to this instruction.
    translator.push(Inst::Unreachable);
    translator.code
}

/// Index of a jump whose target is not yet known.
type Hole = usize;

struct Loop {
    params: SmallVec<[Slot; 4]>,
    results: SmallVec<[Slot; 4]>,
    begin: u32,
    breaks: Vec<Hole>,
    /// The iteration counter. `None` if iterations are not counted.
    iterations: Option<Register>,
}

struct Translator<'a> {
    module: &'a Module,
    function: &'a Function,
    /// The calls of `printf` in the module.
    table: &'a printf::Table,
    settings: &'a Settings,
    /// Whether iterations of loops are counted.
    counts_iterations: bool,
    code: Code,
    slots: Vec<Slot>,
    /// The first free register.
    top: Register,
    loops: Vec<Loop>,
    span: Span,
    known: FxHashMap<u64, Register>,
}

impl Translator<'_> {
    fn push(&mut self, inst: Inst) -> Hole {
        self.code.insts.push(inst);
        self.code.spans.push(self.span);
        self.code.insts.len() - 1
    }

    fn here(&self) -> u32 {
        self.code.insts.len() as u32
    }

    /// Makes the next instruction the target of a jump.
    fn set_target(&mut self, hole: Hole) {
        let here = self.here();
        if let Some(Inst::Jump { to } | Inst::JumpUnless { to, .. }) = self.code.insts.get_mut(hole) {
            *to = here;
        }
    }

    fn unsupported(&mut self, text: String) {
        let number = self.code.texts.len() as u32;
        self.code.texts.push(text);
        self.push(Inst::Unsupported { text: number });
    }

    fn allocate(&mut self, lanes: u8) -> Slot {
        let at = self.top;
        self.top += u32::from(lanes);
        self.code.registers = self.code.registers.max(self.top);
        Slot { at, lanes }
    }

    fn define(&mut self, value: Value) -> Slot {
        let slot = self.allocate(self.function.ty(value).lanes());
        self.slots[value.index()] = slot;
        slot
    }

    fn slot(&self, value: Value) -> Slot {
        self.slots[value.index()]
    }

    fn at(&self, value: Value) -> Register {
        self.slot(value).at
    }

    /// Maps a value to existing registers.
    fn alias(&mut self, value: Value, at: Register) {
        self.slots[value.index()] = Slot { at, lanes: self.function.ty(value).lanes() };
    }

    fn scalar(&self, value: Value) -> Scalar {
        self.function.ty(value).scalar().unwrap_or(Scalar::I64)
    }

    fn shape(&self, ty: Type) -> Lanes {
        let size = ty.scalar().map_or(POINTER, |scalar| scalar.size() as u8);
        Lanes { size, lanes: ty.lanes() }
    }

    /// Assigns registers to constants. Equal scalars share a register.
    fn constants(&mut self) {
        let function = self.function;
        if self.counts_iterations {
            self.constant(&[0]);
        }
        function.body.walk(&mut |inst| {
            let [result] = inst.results.as_slice() else { return };
            let ty = function.ty(*result);
            match &inst.op {
                Op::Const(constant) => {
                    let at = match constant {
                        Const::Bits(bits) => self.constant(&[*bits]),
                        Const::Lanes(lanes) => self.constant(lanes),
                        Const::Null => self.constant(&[0]),
                        Const::Undef => self.constant(&vec![self.undefined(ty); usize::from(ty.lanes())]),
                    };
                    self.alias(*result, at);
                }
                Op::Group { sub: true, op: GroupOp::ScanExclusive(op) | GroupOp::ActiveExclusive(op), .. } if self.settings.lanes == 1 => {
                    let first = ty.scalar().map_or(0, |scalar| op.identity(scalar));
                    let at = self.constant(&vec![first; usize::from(ty.lanes())]);
                    self.alias(*result, at);
                }
                Op::Group { sub: true, op: GroupOp::Ballot, .. } => {
                    self.constant(&[0]);
                }
                Op::Shuffle(.., lanes) if lanes.contains(&None) => {
                    self.constant(&[self.undefined(ty)]);
                }
                _ => {}
            }
        });
    }

    /// The bits of an unspecified lane of a type.
    fn undefined(&self, ty: Type) -> u64 {
        self.settings.undefined_bits() & ty.scalar().map_or(u64::MAX, Scalar::mask)
    }

    fn constant(&mut self, lanes: &[u64]) -> Register {
        if let &[bits] = lanes
            && let Some(&at) = self.known.get(&bits)
        {
            return at;
        }
        let at = self.allocate(lanes.len() as u8).at;
        self.code.constants.extend(lanes);
        if let &[bits] = lanes {
            self.known.insert(bits, at);
        }
        at
    }

    /// Copies values to their targets, as if all copies were simultaneous.
    fn move_values(&mut self, values: &[Value], targets: &[Slot]) {
        let mut moves: SmallVec<[(Register, Slot); 8]> =
            values.iter().zip(targets).map(|(&value, &to)| (self.at(value), to)).filter(|(from, to)| *from != to.at).collect();
        let overlaps = |from: Register, lanes: u8, to: Slot| from < to.at + u32::from(to.lanes) && to.at < from + u32::from(lanes);
        let top = self.top;
        for index in 0..moves.len() {
            let (from, to) = moves[index];
            // If an earlier move overwrites the source, save the source first.
            if moves[..index].iter().any(|(_, earlier)| overlaps(from, to.lanes, *earlier)) {
                let saved = self.allocate(to.lanes);
                self.push(Inst::Move { from, to: saved });
                moves[index].0 = saved.at;
            }
        }
        for (from, to) in moves {
            self.push(Inst::Move { from, to });
        }
        self.top = top;
    }

    fn results(&mut self, inst: &IrInst) -> SmallVec<[Slot; 4]> {
        inst.results.iter().map(|&result| self.define(result)).collect()
    }

    /// `results` are the slots to which a `yield` in this region copies its values.
    fn region(&mut self, region: &Region, results: &[Slot]) {
        let top = self.top;
        for inst in &region.insts {
            self.span = inst.span;
            self.inst(inst, results);
        }
        self.top = top;
    }

    fn inst(&mut self, inst: &IrInst, outer: &[Slot]) {
        match &inst.op {
            Op::If { cond, then, els } => {
                let results = self.results(inst);
                let otherwise = self.push(Inst::JumpUnless { cond: self.at(*cond), to: 0 });
                self.region(then, &results);
                let end = then.yields().then(|| self.push(Inst::Jump { to: 0 }));
                self.set_target(otherwise);
                self.region(els, &results);
                if let Some(end) = end {
                    self.set_target(end);
                }
            }
            Op::Loop { init, params, body, .. } => {
                let results = self.results(inst);
                let params: SmallVec<[Slot; 4]> = params.iter().map(|&param| self.define(param)).collect();
                self.move_values(init, &params);
                let iterations = self.known.get(&0).copied().filter(|_| self.counts_iterations).map(|zero| {
                    let iterations = self.allocate(1);
                    self.push(Inst::Move { from: zero, to: iterations });
                    iterations.at
                });
                let begin = self.here();
                self.loops.push(Loop { params, results, begin, breaks: Vec::new(), iterations });
                self.region(body, &[]);
                for hole in self.loops.pop().map(|open| open.breaks).unwrap_or_default() {
                    self.set_target(hole);
                }
            }
            Op::Switch { selector, cases, default } => {
                let results = self.results(inst);
                let number = self.code.tables.len();
                self.code.tables.push(Table::default());
                self.push(Inst::Switch { selector: self.at(*selector), table: number as u32 });
                let mut ends = Vec::new();
                let mut table = Table::default();
                for (values, region) in cases {
                    let here = self.here();
                    table.cases.extend(values.iter().map(|&value| (value, here)));
                    self.region(region, &results);
                    if region.yields() {
                        ends.push(self.push(Inst::Jump { to: 0 }));
                    }
                }
                table.cases.sort_unstable();
                table.default = self.here();
                self.region(default, &results);
                ends.into_iter().for_each(|hole| self.set_target(hole));
                self.code.tables[number] = table;
            }
            Op::Yield(values) => self.move_values(values, outer),
            Op::Break(values) => {
                let Some(results) = self.loops.last().map(|open| open.results.clone()) else { return };
                self.move_values(values, &results);
                let hole = self.push(Inst::Jump { to: 0 });
                if let Some(open) = self.loops.last_mut() {
                    open.breaks.push(hole);
                }
            }
            Op::Continue(values) => {
                let Some((params, begin, iterations)) = self.loops.last().map(|open| (open.params.clone(), open.begin, open.iterations))
                else {
                    return;
                };
                self.move_values(values, &params);
                if let Some(iterations) = iterations {
                    self.push(Inst::Count { iterations });
                }
                self.push(Inst::NextIteration { to: begin });
            }
            Op::Return(values) => {
                let list = self.list(values);
                self.push(Inst::Return { list });
            }
            Op::Call(func, args) => {
                let list = self.list(args);
                // The registers of the results are consecutive, like those of returned values.
                let to = self.top;
                for &result in &inst.results {
                    self.define(result);
                }
                let here = self.push(Inst::Call { func: func.0, list, to });
                self.record_enclosing_loops(here);
            }
            Op::Unreachable => {
                self.push(Inst::Unreachable);
            }
            op => self.operation(op, inst.results.first().copied()),
        }
    }

    /// Adds a list with the registers of values. Returns its index.
    fn list(&mut self, values: &[Value]) -> u32 {
        let number = self.code.lists.len() as u32;
        let list = values.iter().map(|&value| self.slot(value)).collect();
        self.code.lists.push(list);
        number
    }

    /// Translates an operation with at most one result and without regions.
    fn operation(&mut self, op: &Op, result: Option<Value>) {
        match (op, result) {
            (Op::Const(_) | Op::MemFence(_), _) => {}
            (Op::Store { ptr, value, align, .. }, _) => {
                let shape = self.shape(self.function.ty(*value));
                self.push(Inst::Store { pointer: self.at(*ptr), from: self.at(*value), shape, align: *align });
            }
            (Op::Copy { dst, src, size, align }, _) => {
                self.push(Inst::Copy { to: self.at(*dst), from: self.at(*src), size: *size, align: *align });
            }
            (Op::Zero { dst, size, align }, _) => {
                self.push(Inst::Zero { to: self.at(*dst), size: *size, align: *align });
            }
            (Op::Barrier(_), _) => {
                self.push(Inst::Barrier);
            }
            (Op::Group { sub, op, args }, result) => self.group(*sub, *op, args, result),
            (Op::Atomic { op, ptr, value, ty }, result) => self.atomic(*op, *ptr, *value, *ty, result),
            (Op::NanCheck { values, .. }, _) => {
                let list = self.list(values);
                let scalar = values.first().and_then(|&value| self.function.ty(value).scalar());
                match scalar.and_then(|scalar| number::compare(CmpOp::FNe, scalar)) {
                    Some(differs) => _ = self.push(Inst::NanCheck { list, differs }),
                    None => self.unsupported("a NaN check".to_owned()),
                }
            }
            (Op::UndefinedUse { what, names }, _) => {
                let number = self.code.undefined_uses.len() as u32;
                self.code.undefined_uses.push((*what, names.join("' or '")));
                self.push(Inst::UndefinedUse { number });
            }
            (Op::ConversionCheck { value, to, signed }, _) => {
                let scalar = self.function.ty(*value).scalar();
                let widen = match scalar {
                    Some(Scalar::F64) => Some((|bits| bits) as number::Unary),
                    Some(scalar) => number::cast(CastOp::FToF, scalar, Scalar::F64),
                    None => None,
                };
                let slot = self.slot(*value);
                match widen {
                    Some(widen) => {
                        let limits = to.convertible_doubles(*signed);
                        _ = self.push(Inst::ConversionCheck { value: slot, widen, limits });
                    }
                    None => self.unsupported("a conversion check".to_owned()),
                }
            }
            (Op::Clock { .. }, Some(result)) => {
                let to = self.define(result).at;
                self.push(Inst::Clock { to });
            }
            (Op::Printf { format, args }, Some(result)) => {
                let types: Vec<Type> = args.iter().map(|&arg| resolved(self.function.ty(arg), u32::from(POINTER))).collect();
                let Some((site, _)) = self.table.find(*format, &types) else { return self.unsupported("printf".to_owned()) };
                let printed = args.iter().map(|&arg| {
                    let ty = self.function.ty(arg);
                    (self.at(arg), self.shape(ty), matches!(ty, Type::Ptr(_)))
                });
                let printed = printed.collect();
                let list = self.code.printed.len() as u32;
                self.code.printed.push(printed);
                let to = self.define(result).at;
                self.push(Inst::Printf { site, list, to });
            }
            (op, Some(result)) => self.value(op, result),
            (op, None) => self.unsupported(describe(op)),
        }
    }

    fn value(&mut self, op: &Op, result: Value) {
        let ty = self.function.ty(result);
        match op {
            Op::Cast(op, a) => self.cast(*op, *a, result),
            Op::Extract(vector, lane) => {
                let at = self.at(*vector) + u32::from(*lane);
                self.alias(result, at);
            }
            Op::Un(op, a) => match number::unary(*op, self.scalar(*a)) {
                Some(f) => {
                    let (a, to) = (self.at(*a), self.define(result));
                    self.push(Inst::Unary { f, a, to });
                }
                None => self.unsupported(format!("{op:?} of {ty}")),
            },
            Op::Bin(op, a, b) => self.binary(number::binary(*op, self.scalar(*a)), *a, *b, result),
            Op::Cmp(op, a, b) => self.binary(number::compare(*op, self.scalar(*a)), *a, *b, result),
            Op::Select(cond, yes, no) => {
                let step = u8::from(self.slot(*cond).lanes > 1);
                let (cond, yes, no, to) = (self.at(*cond), self.at(*yes), self.at(*no), self.define(result));
                self.push(Inst::Select { cond, yes, no, to, step });
            }
            Op::Math(op, args) => {
                let scalar = args.first().map_or(Scalar::I64, |&arg| self.scalar(arg));
                match (number::math(*op, scalar, self.settings.fused), args.as_slice()) {
                    (Some(Math::One(f)), [a]) => {
                        let (a, to) = (self.at(*a), self.define(result));
                        self.push(Inst::Unary { f, a, to });
                    }
                    (Some(Math::Two(f)), [a, b]) => self.binary(Some(f), *a, *b, result),
                    (Some(Math::Three(f)), [a, b, c]) => {
                        let (a, b, c, to) = (self.at(*a), self.at(*b), self.at(*c), self.define(result));
                        self.push(Inst::Ternary { f, a, b, c, to });
                    }
                    _ => self.unsupported(format!("{op:?} of {ty}")),
                }
            }
            Op::All(a) => {
                let (a, to) = (self.slot(*a), self.define(result).at);
                self.push(Inst::All { a, to });
            }
            Op::Any(a) => {
                let (a, to) = (self.slot(*a), self.define(result).at);
                self.push(Inst::Any { a, to });
            }
            Op::Construct(lanes) => {
                let to = self.define(result);
                for (to, &lane) in (to.at..).zip(lanes) {
                    self.push(Inst::Move { from: self.at(lane), to: Slot { at: to, lanes: 1 } });
                }
            }
            Op::Splat(a) => {
                let (from, to) = (self.at(*a), self.define(result));
                self.push(Inst::Splat { from, to });
            }
            Op::ExtractDyn(vector, index) => {
                let (vector, index, to) = (self.slot(*vector), self.at(*index), self.define(result).at);
                self.push(Inst::ExtractDyn { vector, index, to });
            }
            Op::Insert(vector, lane, value) => {
                let (from, value, to) = (self.at(*vector), self.at(*value), self.define(result));
                self.push(Inst::Move { from, to });
                self.push(Inst::Move { from: value, to: Slot { at: to.at + u32::from(*lane), lanes: 1 } });
            }
            Op::InsertDyn(vector, index, value) => {
                let (vector, index, value, to) = (self.at(*vector), self.at(*index), self.at(*value), self.define(result));
                self.push(Inst::InsertDyn { vector, index, value, to });
            }
            Op::Shuffle(a, b, lanes) => self.shuffle(self.slot(*a), self.at(*b), lanes, result),
            Op::WorkItem(query) => {
                let to = self.define(result).at;
                self.push(Inst::WorkItem { query: *query, to });
            }
            Op::VarAddr(var) => {
                let to = self.define(result).at;
                self.push(Inst::VarAddr { number: var.0, to });
            }
            Op::GlobalAddr(global) => {
                let to = self.define(result).at;
                if self.module.globals.get(global.index()).is_some() {
                    self.push(Inst::GlobalAddr { global: global.0, to });
                    if !self.code.globals.contains(&global.0) {
                        self.code.globals.push(global.0);
                    }
                } else {
                    self.unsupported(format!("{global}"));
                }
            }
            Op::ParamAddr(param) => {
                let to = self.define(result).at;
                self.push(Inst::ParamAddr { param: *param, to });
            }
            Op::PtrAdd(pointer, by) => {
                let wide = self.scalar(*by) == Scalar::I64;
                let (pointer, by, to) = (self.at(*pointer), self.at(*by), self.define(result).at);
                self.push(Inst::Offset { pointer, by, to, wide });
            }
            Op::Load { ptr, align, .. } => {
                let (pointer, to) = (self.at(*ptr), self.define(result).at);
                let shape = self.shape(ty);
                self.push(Inst::Load { pointer, to, shape, align: *align });
            }
            Op::CmpXchg { ptr, expected, desired, ty } => {
                let (pointer, expected, desired, to) = (self.at(*ptr), self.at(*expected), self.at(*desired), self.define(result).at);
                self.push(Inst::CompareExchange { pointer, expected, desired, to, size: ty.size() as u8 });
            }
            other => self.unsupported(describe(other)),
        }
    }

    fn binary(&mut self, f: Option<Binary>, a: Value, b: Value, result: Value) {
        let Some(f) = f else {
            let ty = self.function.ty(a);
            return self.unsupported(format!("an operation of {ty}"));
        };
        let (a, b, to) = (self.at(a), self.at(b), self.define(result));
        if to.lanes == 1 {
            self.push(Inst::Binary1 { f, a, b, to: to.at });
        } else {
            self.push(Inst::Binary { f, a, b, to });
        }
    }

    fn cast(&mut self, op: CastOp, a: Value, result: Value) {
        let (from, to) = (self.function.ty(a), self.function.ty(result));
        let at = self.at(a);
        match op {
            // The result is null if the pointer points to another address space.
            CastOp::SpaceCast if to != Type::Ptr(Space::Generic) => {
                let f: Unary = match to {
                    Type::Ptr(Space::Local) => |pointer| within(MemoryKind::Local, pointer),
                    Type::Ptr(Space::Private) => |pointer| within(MemoryKind::Private, pointer),
                    _ => |pointer| within(MemoryKind::Global, pointer),
                };
                let to = self.define(result);
                self.push(Inst::Unary { f, a: at, to });
            }
            CastOp::PtrToInt | CastOp::IntToPtr | CastOp::SpaceCast => self.alias(result, at),
            CastOp::Bitcast if from.lanes() == to.lanes() => self.alias(result, at),
            CastOp::Bitcast => {
                let (from_lanes, to_lanes) = (self.shape(from), self.shape(to));
                let to = self.define(result).at;
                self.push(Inst::Regroup { from: at, from_lanes, to, to_lanes });
            }
            CastOp::ZExt => self.alias(result, at),
            _ => match number::cast(op, self.scalar(a), self.scalar(result)) {
                Some(f) => {
                    let to = self.define(result);
                    self.push(Inst::Unary { f, a: at, to });
                }
                None => self.unsupported(format!("{op:?} of {from} to {to}")),
            },
        }
    }

    fn shuffle(&mut self, a: Slot, b: Register, lanes: &[Option<u8>], result: Value) {
        let unspecified = self.known.get(&self.undefined(self.function.ty(result))).copied().unwrap_or(a.at);
        let to = self.define(result);
        for (to, lane) in (to.at..).zip(lanes) {
            let from = match *lane {
                Some(lane) if lane < a.lanes => a.at + u32::from(lane),
                Some(lane) => b + u32::from(lane - a.lanes),
                None => unspecified,
            };
            self.push(Inst::Move { from, to: Slot { at: to, lanes: 1 } });
        }
    }

    /// Records the loops around a subgroup operation or a call.
    fn record_enclosing_loops(&mut self, here: Hole) {
        if self.counts_iterations {
            let loops = self.loops.iter().filter_map(|open| Some((open.begin, open.iterations?))).collect();
            self.code.enclosing_loops.push((here as u32, loops));
        }
    }

    fn group(&mut self, sub: bool, op: GroupOp, args: &[Value], result: Option<Value>) {
        if sub && self.settings.lanes == 1 {
            return self.single_lane_group(op, args, result);
        }
        let scalar = args.first().map_or(Scalar::I32, |&value| self.scalar(value));
        let f = |op| number::binary(op, scalar);
        let exclusive = |op| f(op).map(|f| Fold::Exclusive(f, op.identity(scalar)));
        let by = args.get(1).map(|&by| self.at(by));
        let otherwise = self.settings.undefined_bits() & scalar.mask();
        let shuffle = |from| by.map(|by| Fold::Shuffle { by, from, otherwise });
        let fold = match op {
            GroupOp::All => f(BinOp::And).map(Fold::Reduce),
            GroupOp::Any => f(BinOp::Or).map(Fold::Reduce),
            GroupOp::Broadcast if sub => shuffle(|_, by| by),
            GroupOp::Broadcast => by.map(|index| Fold::Broadcast { index }),
            GroupOp::Reduce(op) | GroupOp::ActiveReduce(op) => f(op).map(Fold::Reduce),
            GroupOp::ScanInclusive(op) | GroupOp::ActiveInclusive(op) => f(op).map(Fold::Inclusive),
            GroupOp::ScanExclusive(op) | GroupOp::ActiveExclusive(op) => exclusive(op),
            GroupOp::BroadcastFirst => Some(Fold::First),
            GroupOp::Ballot => Some(Fold::Ballot),
            GroupOp::Shuffle => shuffle(|_, by| by),
            GroupOp::ShuffleXor => shuffle(|lane, by| lane ^ by),
            GroupOp::ShuffleUp => shuffle(u32::wrapping_sub),
            GroupOp::ShuffleDown => shuffle(u32::wrapping_add),
            GroupOp::Barrier => Some(Fold::Barrier),
        };
        let Some(fold) = fold else { return self.unsupported(format!("{op:?} of a group")) };
        let cluster = by.filter(|_| matches!(op, GroupOp::ActiveReduce(_) | GroupOp::ActiveInclusive(_) | GroupOp::ActiveExclusive(_)));
        // After specialisation, reductions and scans are operations of the active work-items (`passes::groups`), and do
        // not require the whole subgroup.
        let arithmetic = matches!(op, GroupOp::Reduce(_) | GroupOp::ScanInclusive(_) | GroupOp::ScanExclusive(_));
        let for_launch = matches!(self.settings.stage, Stage::Prepared | Stage::Launched);
        let whole = matches!(op, GroupOp::Broadcast | GroupOp::Barrier) || (arithmetic && !for_launch);
        let value = args.first().map_or(0, |&value| self.at(value));
        let to = result.map_or(Slot { at: 0, lanes: 0 }, |result| self.define(result));
        let here = self.push(if sub { Inst::Subgroup } else { Inst::Group });
        self.code.collectives.push((here as u32, Collective { fold, value, to, cluster, whole }));
        if sub {
            self.record_enclosing_loops(here);
        }
    }

    /// Translates an operation of a subgroup with one work-item.
    fn single_lane_group(&mut self, op: GroupOp, args: &[Value], result: Option<Value>) {
        let (Some(result), Some(&value)) = (result, args.first()) else { return };
        let at = self.at(value);
        match op {
            GroupOp::ScanExclusive(_) | GroupOp::ActiveExclusive(_) => {}
            GroupOp::Ballot => {
                let zero = self.known.get(&0).copied().unwrap_or(at);
                let to = self.define(result);
                for lane in 0..u32::from(to.lanes) {
                    self.push(Inst::Move { from: if lane == 0 { at } else { zero }, to: Slot { at: to.at + lane, lanes: 1 } });
                }
            }
            _ => self.alias(result, at),
        }
    }

    fn atomic(&mut self, op: AtomicOp, pointer: Value, value: Option<Value>, ty: Scalar, result: Option<Value>) {
        let bin = |op| number::binary(op, ty);
        let f: Option<Binary> = match op {
            AtomicOp::Add => bin(BinOp::Add),
            AtomicOp::Sub => bin(BinOp::Sub),
            AtomicOp::And => bin(BinOp::And),
            AtomicOp::Or => bin(BinOp::Or),
            AtomicOp::Xor => bin(BinOp::Xor),
            AtomicOp::SMin => bin(BinOp::SMin),
            AtomicOp::SMax => bin(BinOp::SMax),
            AtomicOp::UMin => bin(BinOp::UMin),
            AtomicOp::UMax => bin(BinOp::UMax),
            AtomicOp::FAdd => bin(BinOp::FAdd),
            AtomicOp::FMin => bin(BinOp::FMin),
            AtomicOp::FMax => bin(BinOp::FMax),
            AtomicOp::Xchg | AtomicOp::Store => Some(|_, new| new),
            AtomicOp::Load => Some(|old, _| old),
        };
        let Some(f) = f else { return self.unsupported(format!("an atomic {op:?} of {ty}")) };
        let pointer = self.at(pointer);
        let value = value.map_or(pointer, |value| self.at(value));
        let to = match result {
            Some(result) => self.define(result).at,
            // The old value is not used, so the next instruction can use its register.
            None => {
                let saved = self.allocate(1).at;
                self.top = saved;
                saved
            }
        };
        self.push(Inst::Atomic { f, pointer, value, to, size: ty.size() as u8 });
    }
}
