//! Translates one IR function to one naga function: values, control flow, calls.
//!
//! In naga, `if` and `switch` have no results, and loops have no parameters. These results and parameters become
//! variables of the function, which are stored at the end of a region and loaded after it. In the IR, a `break` leaves
//! the innermost loop, even from within a `switch`. In naga, a `break` in a `switch` leaves the `switch`. The emitted
//! code therefore sets a flag, and a test after the `switch` leaves the loop.

use super::EmitError;
use super::builder::{Builder, Expr, Shared, Val, chunk_count, chunk_lanes, register, single};
use super::items::Item;
use super::loop_exit_workaround::{contains_break, contains_continue, first_loop};
use super::plan::Plan;
use super::views::ViewKey;
use crate::analysis::definitions::Definitions;
use crate::binding::ArgLayout;
use crate::ir::{self, CastOp, Const, Inst, Op, Region, Type, Value};
use crate::launch::LaunchKey;
use crate::target::{AtomicOrder, Target};
use naga::{
    Barrier, BinaryOperator, Expression, Function, FunctionArgument, FunctionResult, Handle, LocalVariable, Scalar, Span, Statement,
    StructMember, SwitchCase, SwitchValue, TypeInner,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The variables for one value, one per chunk.
type Slots = SmallVec<[Handle<LocalVariable>; 4]>;

/// The state that all functions of a kernel share.
pub(super) struct Context<'a> {
    pub(super) target: &'a Target,
    pub(super) key: &'a LaunchKey,
    /// The work-group size that the shader declares.
    pub(super) declared_size: [u32; 3],
    pub(super) args: &'a ArgLayout,
    pub(super) plan: &'a Plan,
    pub(super) globals: &'a [ir::GlobalVar],
    pub(super) printf: &'a crate::printf::Table,
    /// Functions that replace some bits of a word, by object and view.
    pub(super) masked_stores: FxHashMap<(usize, ViewKey), Handle<Function>>,
    /// The naga functions of helpers, by the index of the IR function. `None` until they are emitted.
    pub(super) functions: Vec<Option<Handle<Function>>>,
    /// Private variables in which the kernel passes items to helpers.
    pub(super) passed: FxHashMap<Item, Handle<naga::GlobalVariable>>,
    /// The variables of the watchdog ([`super::loop_watchdog`]). `None` if the driver cannot stop a loop.
    pub(super) watch: Option<super::loop_watchdog::WatchdogVariables>,
}

struct Loop {
    params: Vec<Slots>,
    results: Vec<Slots>,
    /// Number of `switch`es in this loop that enclose the current position.
    switches: u32,
    /// The variable that a `break` in a `switch` sets. `None` until a `switch` with a `break` is emitted.
    flag: Option<Handle<LocalVariable>>,
    /// The variable that a `continue` in a `switch` sets, if the driver has
    /// [`crate::target::Defects::switch_continues`].
    continue_flag: Option<Handle<LocalVariable>>,
    /// The number of this execution of the loop, if loops are watched.
    number: Option<Expr>,
}

/// The state while a function is emitted.
pub(super) struct Emitter<'a, 'm> {
    pub(super) b: Builder<'m>,
    pub(super) cx: &'a Context<'a>,
    pub(super) function: &'a ir::Function,
    pub(super) defs: Definitions<'a>,
    /// False for helpers.
    pub(super) is_kernel: bool,
    values: Vec<Option<Val>>,
    loops: Vec<Loop>,
    /// Number of the last extra loop exit in this function ([`super::loop_exit_workaround`]).
    pub(super) extra_exits: u32,
    /// Variables of private arrays, by object.
    pub(super) arrays: FxHashMap<usize, Handle<LocalVariable>>,
    /// Index of the first element of this work-item in scratch memory, by object.
    pub(super) scratch_offsets: FxHashMap<usize, Expr>,
    pub(super) items: FxHashMap<Item, Expr>,
    /// Addresses of the objects that are accessed by address.
    pub(super) bases: FxHashMap<usize, Expr>,
}

impl<'a, 'm> Emitter<'a, 'm> {
    pub(super) fn new(cx: &'a Context<'a>, shared: &'m mut Shared, function: &'a ir::Function, index: u32) -> Self {
        Self {
            b: Builder::new(shared, &function.name),
            cx,
            function,
            defs: Definitions::new(function, index),
            is_kernel: index == 0,
            values: vec![None; function.values.len()],
            loops: Vec::new(),
            extra_exits: first_loop(index),
            arrays: FxHashMap::default(),
            scratch_offsets: FxHashMap::default(),
            items: FxHashMap::default(),
            bases: FxHashMap::default(),
        }
    }

    /// Emits the body and finishes the function. The parameters and items must have been created.
    pub(super) fn finish(mut self) -> Result<Function, EmitError> {
        let function = self.function;
        self.region(&function.body, &[])?;
        Ok(self.b.finish())
    }

    pub(super) fn value(&self, value: Value) -> Result<Val, EmitError> {
        self.values.get(value.index()).and_then(Clone::clone).ok_or_else(|| EmitError::Internal(format!("{value} is used but not defined")))
    }

    /// Returns a value that has one chunk.
    pub(super) fn one(&self, value: Value) -> Result<Expr, EmitError> {
        match self.values.get(value.index()) {
            Some(Some(chunks)) if chunks.len() == 1 => Ok(chunks[0]),
            _ => Err(EmitError::Internal(format!("{value} is used but not defined, or not a scalar"))),
        }
    }

    pub(super) fn define(&mut self, value: Value, chunks: Val) {
        if let Some(slot) = self.values.get_mut(value.index()) {
            *slot = Some(chunks);
        }
    }

    /// Creates the parameters of a helper and its result type.
    pub(super) fn signature(&mut self) -> Result<(), EmitError> {
        let function = self.function;
        for &param in &function.params {
            let ty = function.ty(param);
            let (naga_ty, count) = self.chunk_type(ty)?;
            let mut chunks = Val::new();
            for _ in 0..count {
                let index = self.b.function.arguments.len() as u32;
                self.b.function.arguments.push(FunctionArgument { name: None, ty: naga_ty, binding: None });
                chunks.push(self.b.bare(Expression::FunctionArgument(index)));
            }
            self.define(param, chunks);
        }
        let ty = self.result_type(&function.returns)?;
        self.b.function.result = ty.map(|ty| FunctionResult { ty, binding: None });
        Ok(())
    }

    /// The naga type of each chunk, and the number of chunks.
    fn chunk_type(&mut self, ty: Type) -> Result<(Handle<naga::Type>, usize), EmitError> {
        let unsupported =
            || EmitError::unsupported("a pointer that depends on a condition (`c ? p : q`, or a variable that is assigned in a branch)");
        let scalar = ty.scalar().ok_or_else(unsupported)?;
        Ok((self.b.shared.ty(register(scalar), chunk_lanes(ty.lanes())), chunk_count(ty.lanes())))
    }

    /// The naga return type of a function. It is a struct if there are several chunks.
    fn result_type(&mut self, returns: &[Type]) -> Result<Option<Handle<naga::Type>>, EmitError> {
        let mut chunks = Vec::new();
        for &ty in returns {
            let (chunk, count) = self.chunk_type(ty)?;
            let width = ty.scalar().map_or(4, |scalar| u32::from(register(scalar).width)) * 4;
            chunks.extend(std::iter::repeat_n((chunk, width), count));
        }
        if chunks.len() < 2 {
            return Ok(chunks.first().map(|&(chunk, _)| chunk));
        }
        // Each member has the size of four lanes of the widest scalar, which aligns every chunk. The struct is never in
        // memory.
        let place = chunks.iter().map(|&(_, width)| width).max().unwrap_or(16);
        let member = |(i, &(ty, _)): (u32, &(Handle<naga::Type>, u32))| StructMember {
            name: Some(format!("s{i}")),
            ty,
            binding: None,
            offset: i * place,
        };
        let members: Vec<StructMember> = (0..).zip(&chunks).map(member).collect();
        let names: Vec<String> = returns.iter().map(ToString::to_string).collect();
        let inner = TypeInner::Struct { span: place * members.len() as u32, members };
        Ok(Some(
            self.b.shared.module.types.insert(naga::Type { name: Some(format!("Result_{}", names.join("_"))), inner }, Span::UNDEFINED),
        ))
    }

    fn slots(&mut self, values: &[Value]) -> Result<Vec<Slots>, EmitError> {
        values
            .iter()
            .map(|&value| {
                let (ty, count) = self.chunk_type(self.function.ty(value))?;
                Ok((0..count).map(|_| self.b.local(None, ty)).collect())
            })
            .collect()
    }

    fn store_slots(&mut self, slots: &[Slots], values: &[Value]) -> Result<(), EmitError> {
        if slots.len() != values.len() {
            return Err(EmitError::Internal("a region ends with the wrong number of values".to_owned()));
        }
        for (slots, &value) in slots.iter().zip(values) {
            for (&slot, chunk) in slots.iter().zip(self.value(value)?) {
                self.b.store_local(slot, chunk);
            }
        }
        Ok(())
    }

    fn load_slots(&mut self, slots: &[Slots], values: &[Value]) {
        for (slots, &value) in slots.iter().zip(values) {
            let chunks = slots.iter().map(|&slot| self.b.load_local(slot)).collect();
            self.define(value, chunks);
        }
    }

    /// Emits a region into the current block. A `yield` stores its values in `targets`.
    fn region(&mut self, region: &'a Region, targets: &[Slots]) -> Result<(), EmitError> {
        for inst in &region.insts {
            self.b.span = Span::new(inst.span.lo, inst.span.hi);
            match &inst.op {
                Op::Yield(values) => self.store_slots(targets, values)?,
                op if op.is_terminator() => self.leave(op)?,
                Op::If { .. } | Op::Loop { .. } | Op::Switch { .. } => self.control(inst)?,
                _ => self.inst(inst)?,
            }
        }
        Ok(())
    }

    /// Emits a `break`, `continue`, `return` or `unreachable`.
    fn leave(&mut self, op: &Op) -> Result<(), EmitError> {
        let outside = || EmitError::Internal("a jump outside of a loop".to_owned());
        match op {
            Op::Break(values) => {
                let innermost = self.loops.pop().ok_or_else(outside)?;
                let stored = self.store_slots(&innermost.results, values);
                let number = innermost.number;
                let flag = innermost.flag.filter(|_| innermost.switches > 0);
                self.loops.push(innermost);
                stored?;
                self.leave_loop(number);
                if let Some(flag) = flag {
                    self.set_flag(flag, true);
                }
                self.b.stmt(Statement::Break);
            }
            Op::Continue(values) => {
                let innermost = self.loops.pop().ok_or_else(outside)?;
                let stored = self.store_slots(&innermost.params, values);
                let flag = innermost.continue_flag.filter(|_| innermost.switches > 0);
                self.loops.push(innermost);
                stored?;
                if let Some(flag) = flag {
                    self.set_flag(flag, true);
                    self.b.stmt(Statement::Break);
                } else {
                    self.b.stmt(Statement::Continue);
                }
            }
            Op::Return(values) => {
                let value = self.returned(values)?;
                self.end_watchdog()?;
                self.b.stmt(Statement::Return { value });
            }
            // `unreachable` outside of loops. If the function has a result, naga requires a `return`, so zero is
            // returned.
            _ if self.loops.is_empty() => {
                if let Some(ty) = self.result_type(&self.function.returns)? {
                    let value = self.b.bare(Expression::ZeroValue(ty));
                    self.b.stmt(Statement::Return { value: Some(value) });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn returned(&mut self, values: &[Value]) -> Result<Option<Expr>, EmitError> {
        let mut chunks = Vec::new();
        for &value in values {
            chunks.extend(self.value(value)?);
        }
        if chunks.len() < 2 {
            return Ok(chunks.first().copied());
        }
        let ty = self.result_type(&self.function.returns)?;
        Ok(ty.map(|ty| self.b.expr(Expression::Compose { ty, components: chunks })))
    }

    fn control(&mut self, inst: &'a Inst) -> Result<(), EmitError> {
        match &inst.op {
            Op::If { cond, then, els } => {
                let condition = self.one(*cond)?;
                let slots = self.slots(&inst.results)?;
                self.b.open();
                let done = self.region(then, &slots);
                let accept = self.b.close();
                done?;
                self.b.open();
                let done = self.region(els, &slots);
                let reject = self.b.close();
                done?;
                self.b.span = Span::new(inst.span.lo, inst.span.hi);
                self.b.stmt(Statement::If { condition, accept, reject });
                self.load_slots(&slots, &inst.results);
                Ok(())
            }
            Op::Loop { init, params, body, .. } => {
                let (carried, results) = (self.slots(params)?, self.slots(&inst.results)?);
                self.store_slots(&carried, init)?;
                let number = self.begin_loop();
                let otherwise = self.extra_exit_condition(&inst.op)?;
                self.b.open();
                self.load_slots(&carried, params);
                if let Some(condition) = otherwise {
                    self.emit_extra_exit(condition);
                }
                self.loops.push(Loop { params: carried, results, switches: 0, flag: None, continue_flag: None, number });
                let done = self.region(body, &[]);
                let finished = self.loops.pop();
                let body = self.b.close();
                done?;
                self.b.stmt(Statement::Loop { body, continuing: naga::Block::new(), break_if: None });
                if let Some(finished) = finished {
                    self.end_loop(number);
                    self.load_slots(&finished.results, &inst.results);
                }
                Ok(())
            }
            Op::Switch { selector, cases, default } => self.switch(inst, *selector, cases, default),
            _ => Ok(()),
        }
    }

    fn switch(&mut self, inst: &'a Inst, selector: Value, cases: &'a [(Vec<u64>, Region)], default: &'a Region) -> Result<(), EmitError> {
        let selected = self.selector(selector, cases)?;
        let slots = self.slots(&inst.results)?;
        if self.cx.target.shaders.defects.switches {
            return self.branches(inst, selected, cases, default, &slots);
        }
        let breaks = inst.op.regions().into_iter().any(contains_break);
        let flag = if breaks { self.break_flag() } else { None };
        if let Some(flag) = flag {
            self.set_flag(flag, false);
        }
        let continue_flag = self.continue_flag(&inst.op);
        if let Some(innermost) = self.loops.last_mut() {
            innermost.switches += 1;
        }
        let mut arms = Vec::new();
        let mut failed = Ok(());
        let by_number = matches!(selected, Selector::Numbered(_));
        for (number, (values, region)) in cases.iter().enumerate() {
            self.b.open();
            failed = failed.and_then(|()| self.region(region, &slots));
            let body = self.b.close();
            if by_number {
                arms.push(SwitchCase { value: SwitchValue::U32(number as u32), body, fall_through: false });
            } else if let Some((last, others)) = values.split_last() {
                for &value in others {
                    arms.push(SwitchCase { value: SwitchValue::U32(value as u32), body: naga::Block::new(), fall_through: true });
                }
                arms.push(SwitchCase { value: SwitchValue::U32(*last as u32), body, fall_through: false });
            }
        }
        self.b.open();
        failed = failed.and_then(|()| self.region(default, &slots));
        let body = self.b.close();
        arms.push(SwitchCase { value: SwitchValue::Default, body, fall_through: false });
        if let Some(innermost) = self.loops.last_mut() {
            innermost.switches -= 1;
        }
        failed?;
        let (Selector::Direct(selector) | Selector::Numbered(selector)) = selected;
        self.b.span = Span::new(inst.span.lo, inst.span.hi);
        self.b.stmt(Statement::Switch { selector, cases: arms });
        if let Some(flag) = flag {
            self.jump_if(flag, Statement::Break);
        }
        if let Some(flag) = continue_flag {
            let is_nested = self.loops.last().is_some_and(|innermost| innermost.switches > 0);
            self.jump_if(flag, if is_nested { Statement::Break } else { Statement::Continue });
        }
        self.load_slots(&slots, &inst.results);
        Ok(())
    }

    /// Returns the flag for the `continue`s in a `switch`, reset before the outermost `switch` of the loop. `None` if
    /// the `switch` has no `continue`, or if the driver executes `continue` in a `switch` correctly.
    fn continue_flag(&mut self, switch: &'a Op) -> Option<Handle<LocalVariable>> {
        let has_defect = self.cx.target.shaders.defects.switch_continues;
        if !has_defect || !switch.regions().into_iter().any(contains_continue) {
            return None;
        }
        let existing = self.loops.last()?.continue_flag;
        let flag = existing.unwrap_or_else(|| self.new_flag());
        if self.loops.last()?.switches == 0 {
            self.set_flag(flag, false);
        }
        self.loops.last_mut()?.continue_flag = Some(flag);
        Some(flag)
    }

    /// Returns the `break` flag of the innermost loop, and creates it if necessary.
    fn break_flag(&mut self) -> Option<Handle<LocalVariable>> {
        let existing = self.loops.last()?.flag;
        let flag = existing.unwrap_or_else(|| self.new_flag());
        self.loops.last_mut()?.flag = Some(flag);
        Some(flag)
    }

    fn new_flag(&mut self) -> Handle<LocalVariable> {
        let ty = self.b.shared.ty(Scalar::BOOL, 1);
        self.b.local(None, ty)
    }

    fn set_flag(&mut self, flag: Handle<LocalVariable>, value: bool) {
        let value = self.b.scalar(Scalar::BOOL, value.into());
        self.b.store_local(flag, value);
    }

    fn jump_if(&mut self, flag: Handle<LocalVariable>, jump: Statement) {
        let condition = self.b.load_local(flag);
        self.b.open();
        self.b.stmt(jump);
        let accept = self.b.close();
        self.b.stmt(Statement::If { condition, accept, reject: naga::Block::new() });
    }

    /// Emits the regions of a `switch` in a balanced tree of `if`s ([`crate::target::Defects::switches`]).
    fn branches(
        &mut self,
        inst: &'a Inst,
        selected: Selector,
        cases: &'a [(Vec<u64>, Region)],
        default: &'a Region,
        slots: &[Slots],
    ) -> Result<(), EmitError> {
        let (Selector::Direct(number) | Selector::Numbered(number)) = selected;
        let regions: Vec<&'a Region> = cases.iter().map(|(_, region)| region).chain([default]).collect();
        self.branch(number, 0, &regions, slots)?;
        self.load_slots(slots, &inst.results);
        Ok(())
    }

    /// Emits the region whose index in `regions`, plus `first`, is `number`. Greater numbers select the last one.
    fn branch(&mut self, number: Expr, first: u32, regions: &[&'a Region], slots: &[Slots]) -> Result<(), EmitError> {
        let (low, high) = match regions {
            [] => return Ok(()),
            [only] => return self.region(only, slots),
            _ => regions.split_at(regions.len() / 2),
        };
        let middle = first + low.len() as u32;
        let limit = self.b.u32(middle);
        let condition = self.b.binary(BinaryOperator::Less, number, limit);
        self.b.open();
        let done = self.branch(number, first, low, slots);
        let accept = self.b.close();
        done?;
        self.b.open();
        let done = self.branch(number, middle, high, slots);
        let reject = self.b.close();
        done?;
        self.b.stmt(Statement::If { condition, accept, reject });
        Ok(())
    }

    /// Returns a 32-bit selector: the value itself, or the number of the selected case for a 64-bit value and for
    /// [`Self::branches`].
    fn selector(&mut self, selector: Value, cases: &[(Vec<u64>, Region)]) -> Result<Selector, EmitError> {
        let value = self.one(selector)?;
        let is_wide = self.function.ty(selector) == Type::I64;
        if !is_wide && !self.cx.target.shaders.defects.switches {
            return Ok(Selector::Direct(value));
        }
        let mut number = self.b.u32(u32::MAX);
        for (i, (values, _)) in cases.iter().enumerate() {
            for &bits in values {
                let bits = if is_wide { self.b.scalar(Scalar::U64, bits) } else { self.b.u32(bits as u32) };
                let here = self.b.binary(BinaryOperator::Equal, value, bits);
                let this = self.b.u32(i as u32);
                number = self.b.select(here, this, number);
            }
        }
        Ok(Selector::Numbered(number))
    }

    fn inst(&mut self, inst: &'a Inst) -> Result<(), EmitError> {
        let result = inst.results.first().copied();
        let ty = result.map_or(Type::Void, |value| self.function.ty(value));
        let chunks = match &inst.op {
            Op::Const(constant) => self.constant(constant, ty)?,
            Op::Un(op, a) => self.un(*op, *a)?,
            Op::Bin(op, a, b) => self.bin(*op, *a, *b)?,
            Op::Cmp(op, a, b) => self.cmp(*op, *a, *b)?,
            Op::Cast(CastOp::IntToPtr, _) => return Ok(()),
            Op::Cast(op, a) => self.cast(*op, *a, ty)?,
            Op::Select(condition, a, b) => self.select(*condition, *a, *b)?,
            Op::Math(op, args) => self.math_op(*op, args)?,
            Op::All(a) => self.reduce(true, *a)?,
            Op::Any(a) => self.reduce(false, *a)?,
            Op::Construct(parts) => self.construct(parts, ty)?,
            Op::Splat(a) => self.splat_value(*a, ty)?,
            Op::Extract(a, lane) => self.extract(*a, *lane)?,
            Op::ExtractDyn(a, index) => self.extract_dyn(*a, *index)?,
            Op::Insert(a, lane, scalar) => self.insert(*a, *lane, *scalar)?,
            Op::InsertDyn(a, index, scalar) => self.insert_dyn(*a, *index, *scalar)?,
            Op::Shuffle(a, b, picks) => self.shuffle(*a, *b, picks)?,
            Op::WorkItem(item) => single(self.item(Item::Work(*item))?),
            // No code: an access computes its address from the root and the offset of its pointer.
            Op::VarAddr(_) | Op::GlobalAddr(_) | Op::ParamAddr(_) | Op::PtrAdd(..) => return Ok(()),
            Op::Load { ptr, align, volatile } => self.load(*ptr, ty, *align, *volatile)?,
            Op::Store { ptr, value, align, volatile } => return self.store(*ptr, *value, *align, *volatile),
            Op::Atomic { op, ptr, value, ty } => self.atomic(*op, *ptr, *value, Type::Scalar(*ty))?,
            Op::CmpXchg { ptr, expected, desired, ty } => self.compare_exchange(*ptr, *expected, *desired, Type::Scalar(*ty))?,
            Op::Barrier(fence) => {
                self.b.stmt(Statement::ControlBarrier(barrier_flags(*fence)));
                return Ok(());
            }
            Op::MemFence(_) if self.cx.target.language.atomic_order == AtomicOrder::ReadModifyWrite => return Ok(()),
            Op::MemFence(fence) => {
                self.b.stmt(Statement::MemoryBarrier(barrier_flags(*fence)));
                return Ok(());
            }
            Op::Call(function, args) => return self.call(function.index(), args, &inst.results),
            Op::Group { sub: true, op, args } => self.subgroup(*op, args)?,
            Op::Printf { format, args } => self.printf(*format, args)?,
            Op::Clock { sub } => self.clock(*sub)?,
            Op::Copy { .. } | Op::Zero { .. } => return Err(EmitError::Internal("a block copy was not expanded".to_owned())),
            op => return Err(EmitError::Internal(format!("unexpected {op:?}"))),
        };
        if let Some(result) = result {
            self.define(result, chunks);
        }
        Ok(())
    }

    fn clock(&mut self, sub: bool) -> Result<Val, EmitError> {
        let language = &self.cx.target.language;
        if !(if sub { language.subgroup_clock } else { language.device_clock }) {
            return Err(EmitError::unsupported("a read of a clock"));
        }
        let function = super::clock::function(self.b.shared, sub);
        let read = self.b.bare(Expression::CallResult(function));
        self.b.stmt(Statement::Call { function, arguments: Vec::new(), result: Some(read) });
        Ok(single(read))
    }

    fn constant(&mut self, constant: &Const, ty: Type) -> Result<Val, EmitError> {
        let Some(scalar) = ty.scalar() else {
            return Err(EmitError::unsupported("a pointer whose target is known only at run time"));
        };
        let (register, lanes) = (register(scalar), chunk_lanes(ty.lanes()));
        let mask = scalar.mask();
        Ok(match constant {
            Const::Bits(bits) => {
                let chunk = self.b.same(register, bits & mask, lanes);
                std::iter::repeat_n(chunk, chunk_count(ty.lanes())).collect()
            }
            Const::Lanes(all) => all
                .chunks(4)
                .map(|chunk| {
                    let bits: SmallVec<[u64; 4]> = chunk.iter().map(|bits| bits & mask).collect();
                    self.b.lanes(register, &bits)
                })
                .collect(),
            Const::Null | Const::Undef => {
                let chunk = self.b.zero(register, lanes);
                std::iter::repeat_n(chunk, chunk_count(ty.lanes())).collect()
            }
        })
    }

    fn call(&mut self, index: usize, args: &[Value], results: &[Value]) -> Result<(), EmitError> {
        let function = self
            .cx
            .functions
            .get(index)
            .copied()
            .flatten()
            .ok_or_else(|| EmitError::Internal(format!("function {index} is called before it is emitted")))?;
        let mut arguments = Vec::new();
        for &arg in args {
            arguments.extend(self.value(arg)?);
        }
        if results.is_empty() {
            self.b.stmt(Statement::Call { function, arguments, result: None });
            return Ok(());
        }
        let returned = self.b.bare(Expression::CallResult(function));
        self.b.stmt(Statement::Call { function, arguments, result: Some(returned) });
        let counts: Vec<u32> = results.iter().map(|&result| chunk_count(self.function.ty(result).lanes()) as u32).collect();
        let mut next = 0;
        for (&result, &count) in results.iter().zip(&counts) {
            let chunks =
                if counts == [1] { single(returned) } else { (next..next + count).map(|i| self.b.element_at(returned, i)).collect() };
            next += count;
            self.define(result, chunks);
        }
        Ok(())
    }
}

enum Selector {
    Direct(Expr),
    Numbered(Expr),
}

fn barrier_flags(fence: ir::Fence) -> Barrier {
    let mut flags = Barrier::empty();
    // naga requires at least one memory flag. A barrier without memory flags therefore gets `WORK_GROUP`.
    flags.set(Barrier::WORK_GROUP, fence.local || !(fence.global || fence.image));
    flags.set(Barrier::STORAGE, fence.global);
    flags.set(Barrier::TEXTURE, fence.image);
    flags
}
