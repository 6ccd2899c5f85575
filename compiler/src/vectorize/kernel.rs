//! The code around a kernel body: a loop over work-groups, and a loop over the gangs of a group. The lanes of a gang
//! are work-items.

use std::cell::RefCell;
use std::mem::offset_of;

use rustc_hash::FxHashMap;
use wgcl_codegen::vir;
use wgcl_codegen::vir::{
    Addr, BinOp as VBin, CastOp as VCast, CmpOp as VCmp, Cond, Elem, Module, Op as VOp, Target, Terminator, Type as Register, Value as V,
};

use super::Style;
use super::abi::{ArgPlaces, LaunchContext, WorkerContext};
use super::calls::CallFrame;
use super::frame::{ArenaLayout, ArenaSize, Frame};
use super::plan::Plan;
use super::sanitize::AccessSite;
use super::shape::{Mode, Shape};
use super::uniformity::{Entry, LaneShape, Uniformity};
use super::vectorizer::{Lowered, Vectorizer, VectorizerParams};
use super::work_items::{Items, RowPosition};
use crate::analysis::calls::callees_first;
use crate::internal::internal;
use crate::ir::{self, Func, Op, Region, Scalar};
use crate::launch::KernelKey;
use crate::printf::Table;

/// A vectorised kernel.
pub(super) struct VectorizedKernel {
    pub module: Module,
    /// The index of the kernel's function in the module.
    pub entry: usize,
    /// Bytes of the arena.
    pub arena: u32,
    pub args: ArgPlaces,
    /// The number of gangs of a group if they make independent progress, otherwise 0.
    pub subgroups: u32,
    pub local_memory: u32,
    pub private_memory: u32,
    pub lanes: u32,
    pub printed: Table,
    pub sites: Vec<AccessSite>,
}

/// Vectorises function 0 of a module, and the functions that it calls.
pub(super) fn vectorize(module: &ir::Module, key: &KernelKey, fused: bool, style: Style, plan: Plan) -> Lowered<VectorizedKernel> {
    let Plan { shape, independent, .. } = plan;
    let mut kernel = module.functions[0].clone();
    let by_groups = shape.gangs() > 1 && !independent && has_barrier(&kernel.body);
    if by_groups {
        super::group::switches::expand(&mut kernel);
    }
    let printed = Table::new(module, 8);
    let order = callees_first(module, [Func(0)]).map_err(|error| internal!("{error}"))?;
    let called: Vec<Func> = order.into_iter().filter(|func| func.0 != 0).collect();
    let copies = if by_groups { shape.gangs() * shape.lanes } else { shape.lanes };
    let arena = ArenaLayout::of(module, &kernel, &called, &key.local_args, ArenaSize { shape, copies, has_header: independent });
    let may_have_returned = by_groups && super::control::returns_early(&kernel.body);
    let uniformity = Uniformity::of(&kernel, shape, arena.private[0].clone(), Entry::Kernel { may_have_returned });
    let calls = called_uniformity(module, &called, shape, &arena, &uniformity);
    let sites = RefCell::default();
    let mut made = Module::default();
    let mut frames = vec![CallFrame::default(); module.functions.len()];
    let mut end = arena.end;
    for &func in &called {
        let function = &module.functions[func.index()];
        let uniformity = calls.get(&func).ok_or_else(|| internal!("{func} is not analysed"))?;
        let mut call = CallFrame::of(function, uniformity, &shape, end);
        let begin = VectorizerParams {
            module,
            function,
            shape,
            uniformity,
            fused,
            printed: &printed,
            calls: &frames,
            sites: style.checked.then_some(&sites),
            frame: arena.frame(func, shape.lanes, call.end),
        };
        let (code, frame) = lower_called(begin, &call, arena.variables[func.index()], key)?;
        end = frame.size();
        call.func = Some(vir::Func(made.functions.len() as u32));
        made.functions.push(code);
        frames[func.index()] = call;
    }
    let begin = VectorizerParams {
        module,
        function: &kernel,
        shape,
        uniformity: &uniformity,
        fused,
        printed: &printed,
        calls: &frames,
        sites: style.checked.then_some(&sites),
        frame: arena.frame(Func(0), copies, end),
    };
    let args = ArgPlaces::of(&kernel);
    let (code, frame) = lower_kernel(begin, args.clone(), arena.variables[0], key, by_groups)?;
    let entry = made.functions.len();
    made.functions.push(code);
    Ok(VectorizedKernel {
        module: made,
        entry,
        arena: frame.size(),
        args,
        subgroups: if independent { shape.gangs() } else { 0 },
        local_memory: arena.local.module_bytes,
        private_memory: arena.private.iter().map(|private| private.stride + private.element_major_bytes).sum(),
        lanes: shape.lanes,
        printed,
        sites: sites.into_inner(),
    })
}

/// Computes the uniformity of called functions. If a function has pointer parameters, each parameter has the lane shape
/// that the arguments of all calls have in common. All parameters of other functions are varying.
fn called_uniformity<'m>(
    module: &'m ir::Module,
    called: &[Func],
    shape: Shape,
    arena: &ArenaLayout,
    kernel: &Uniformity<'_>,
) -> FxHashMap<Func, Uniformity<'m>> {
    let mut params: FxHashMap<Func, Vec<LaneShape>> = FxHashMap::default();
    kernel.join_arguments(&mut params);
    let mut found = FxHashMap::default();
    // Callers precede their callees.
    for &func in called.iter().rev() {
        let function = &module.functions[func.index()];
        let takes_pointers = function.params.iter().any(|&param| function.ty(param).space().is_some());
        let given = params.remove(&func).filter(|_| takes_pointers).unwrap_or_default();
        let uniformity = Uniformity::of(function, shape, arena.private[func.index()].clone(), Entry::Called { params: &given });
        uniformity.join_arguments(&mut params);
        found.insert(func, uniformity);
    }
    found
}

/// Whether a region contains a barrier or a collective operation of the work-group.
pub(super) fn has_barrier(region: &Region) -> bool {
    let mut found = false;
    region.walk(&mut |inst| found |= matches!(inst.op, Op::Barrier(_) | Op::Group { sub: false, .. }));
    found
}

/// Vectorises a called function, with the parameters `(launch, arena)`.
fn lower_called(begin: VectorizerParams<'_>, call: &CallFrame, variables: u32, key: &KernelKey) -> Lowered<(vir::Function, Frame)> {
    let function = begin.function;
    let mut lower = Vectorizer::new(begin, vec![Register::I64, Register::I64]);
    let launch = lower.emit(Register::I64, VOp::Param(0));
    let base = lower.emit(Register::I64, VOp::Param(1));
    lower.begin(launch, base, ArgPlaces::default(), key);
    lower.begin_called_progress();
    lower.own_call = Some(call.clone());
    lower.frame.variables = lower.arena_at(variables);
    lower.frame.element_major = lower.arena_at(lower.frame.element_major_at);
    lower.begin_called(call);
    if lower.shape.lanes > 1 {
        lower.masks.split_depth = 1;
        lower.begin_live_mask();
    }
    lower.region(&function.body, &[])?;
    lower.leave_function();
    Ok(lower.finish())
}

/// Vectorises the kernel, with the parameters `(launch, worker, first, end)`.
fn lower_kernel(
    begin: VectorizerParams<'_>,
    args: ArgPlaces,
    variables: u32,
    key: &KernelKey,
    by_groups: bool,
) -> Lowered<(vir::Function, Frame)> {
    let function = begin.function;
    let mut lower = Vectorizer::new(begin, vec![Register::I64; 4]);
    let params: Vec<V> = (0..4).map(|index| lower.emit(Register::I64, VOp::Param(index))).collect();
    let [launch, worker, first, end] = params[..] else { return Err(internal!("expected four parameters")) };
    let base = lower.load_invariant(worker, Register::I64, offset_of!(WorkerContext, arena) as i32);
    lower.begin(launch, base, args, key);
    lower.begin_progress(worker);
    lower.frame.variables = lower.arena_at(variables);
    lower.frame.element_major = lower.arena_at(lower.frame.element_major_at);
    lower.kernel_params(&key.samplers)?;
    let done = lower.groups(first, end, |this, group| match () {
        () if by_groups => this.by_groups(&function.body),
        () if this.progress.is_some() => this.claimed_gangs(group, |this| this.lower_body(&function.body)),
        () => this.gang_loop(|this| this.lower_body(&function.body)),
    })?;
    lower.b.enter(done);
    lower.b.end(Terminator::Return(None));
    Ok(lower.finish())
}

impl<'a> Vectorizer<'a> {
    /// Computes the address of a byte of the arena.
    pub(super) fn arena_at(&mut self, at: u32) -> V {
        let by = self.i64(u64::from(at));
        self.op(Register::I64, VOp::Bin(VBin::Add, self.frame.base, by))
    }

    fn begin(&mut self, launch: V, base: V, args: ArgPlaces, key: &KernelKey) {
        (self.frame.base, self.frame.local_base) = (base, base);
        self.items = Items { launch: Some(launch), args, enqueued: key.enqueued_local_size, ..Items::default() };
    }

    /// Emits the exit block of a called function.
    fn leave_function(&mut self) {
        let exit = self.masks.exit;
        if !self.b.is_ended() {
            self.jump(exit, []);
        }
        self.b.enter(exit);
        self.b.end(Terminator::Return(None));
    }

    /// Records the active lanes as those that have not returned.
    pub(super) fn begin_live_mask(&mut self) {
        let (start, masks) = (self.masks.slots.len(), self.exec_mask_or_all());
        self.masks.segment = Some(masks.clone());
        self.masks.live = Some(start..start + masks.len());
        self.masks.slots.extend(masks);
    }

    /// Emits the loop over a range of groups. `body` gets the number of the group. Returns the block after the loop.
    fn groups(&mut self, first: V, end: V, body: impl FnOnce(&mut Self, V) -> Lowered<()>) -> Lowered<vir::Block> {
        let count = [0, 1, 2].map(|dimension: usize| self.launch_word(offset_of!(LaunchContext, group_count) + 4 * dimension));
        let base = [0, 1, 2].map(|dimension: usize| self.launch_word(offset_of!(LaunchContext, group_base) + 4 * dimension));
        let wide = count.map(|count| self.op(Register::I64, VOp::Cast(VCast::ZExt, count)));
        // A range can be empty. If it is not, all group counts are nonzero, so the divisions do not trap.
        let (start, header, inside, done) = (self.b.block(), self.b.block(), self.b.block(), self.b.block());
        self.b.end(Terminator::Branch(Cond::Cmp(VCmp::ULt, first, end), Target::new(start, []), Target::new(done, [])));
        self.b.enter(start);
        let mut rest = first;
        let mut at = Vec::new();
        for (dimension, &size) in wide.iter().enumerate() {
            let id = if dimension == 2 { rest } else { self.emit(Register::I64, VOp::Bin(VBin::URem, rest, size)) };
            at.push(self.emit(Register::I32, VOp::Cast(VCast::Trunc, id)));
            if dimension < 2 {
                rest = self.emit(Register::I64, VOp::Bin(VBin::UDiv, rest, size));
            }
        }
        self.open_loop(header, [first, at[0], at[1], at[2]]);
        let depth = self.depth();
        let number = self.block_param(header, Register::I64, depth);
        let at = [0, 1, 2].map(|_: usize| self.block_param(header, Register::I32, depth));
        self.jump(inside, []);
        self.b.enter(inside);
        let mut ids = at;
        for (id, base) in ids.iter_mut().zip(base) {
            *id = self.op(Register::I32, VOp::Bin(VBin::Add, *id, base));
        }
        self.items.group = Some(ids);
        self.report_group_begin();
        body(self, number)?;
        self.report_group_end();
        // Increment the group id of dimension 0, and carry to the next dimension where it wraps around.
        let (one, zero) = (self.i32(1), self.i32(0));
        let mut next = at;
        let mut carry = one;
        for dimension in 0..3 {
            let more = self.emit(Register::I32, VOp::Bin(VBin::Add, at[dimension], carry));
            let full = self.emit(Register::I32, VOp::Cmp(VCmp::Eq, more, count[dimension]));
            next[dimension] = self.emit(Register::I32, VOp::Select(full, zero, more));
            carry = self.emit(Register::I32, VOp::Select(full, carry, zero));
        }
        let unit = self.i64(1);
        let number = self.emit(Register::I64, VOp::Bin(VBin::Add, number, unit));
        let again = Target::new(header, [number, next[0], next[1], next[2]]);
        self.b.end(Terminator::Branch(Cond::Cmp(VCmp::ULt, number, end), again, Target::new(done, [])));
        self.close_loop();
        Ok(done)
    }

    /// Emits a loop over the gangs of a group.
    pub(super) fn gang_loop(&mut self, body: impl FnOnce(&mut Self) -> Lowered<()>) -> Lowered<()> {
        let latch = self.b.block();
        let zero = self.i32(0);
        self.masks.exit = latch;
        if self.shape.gangs() == 1 {
            self.items.linear = Some(zero);
            return self.gang(latch, body);
        }
        match self.shape.row() {
            Some(row) => self.row_loop(row, body),
            None => self.counted_loop(self.shape.lanes, self.shape.items(), |this, linear| {
                this.items.linear = Some(linear);
                this.gang(latch, body)
            }),
        }
    }

    /// Emits a loop over the rows of a group. It contains a loop over the gangs of a row. Values that are uniform in a
    /// row are computed outside of the inner loop.
    fn row_loop(&mut self, row: u32, body: impl FnOnce(&mut Self) -> Lowered<()>) -> Lowered<()> {
        let exit = self.masks.exit;
        self.counted_loop(row, self.shape.items(), |this, start| {
            let gang = |this: &mut Self, position| {
                this.items.in_row = Some(RowPosition { start, position });
                this.items.linear = Some(this.op(Register::I32, VOp::Bin(VBin::Add, start, position)));
                this.gang(exit, body)
            };
            let made = if row == this.shape.lanes {
                let zero = this.i32(0);
                gang(this, zero)
            } else {
                this.counted_loop(this.shape.lanes, row, gang)
            };
            this.items.in_row = None;
            made
        })
    }

    /// Emits a loop that counts from 0 to `end` in steps.
    fn counted_loop(&mut self, step: u32, end: u32, body: impl FnOnce(&mut Self, V) -> Lowered<()>) -> Lowered<()> {
        let (header, after, zero) = (self.b.block(), self.b.block(), self.i32(0));
        self.open_loop(header, [zero]);
        let depth = self.depth();
        let number = self.block_param(header, Register::I32, depth);
        body(self, number)?;
        let (step, end) = (self.i32(step), self.i32(end));
        let next = self.emit(Register::I32, VOp::Bin(VBin::Add, number, step));
        self.b.end(Terminator::Branch(Cond::Cmp(VCmp::ULt, next, end), Target::new(header, [next]), Target::new(after, [])));
        self.close_loop();
        self.b.enter(after);
        Ok(())
    }

    /// Emits the code of a gang, and enters the block `latch` after it.
    pub(super) fn gang(&mut self, latch: vir::Block, body: impl FnOnce(&mut Self) -> Lowered<()>) -> Lowered<()> {
        self.begin_gang();
        body(self)?;
        if !self.b.is_ended() {
            self.jump(latch, []);
        }
        self.b.enter(latch);
        Ok(())
    }

    /// Resets the masks for a new gang. All lanes are active, except lanes of the last gang that are not work-items.
    fn begin_gang(&mut self) {
        self.masks.exec = None;
        self.masks.in_masked_copy = false;
        self.forms.packed.clear();
        self.forms.aos.clear();
        self.bases.clear();
        self.masks.slots.clear();
        self.masks.live = None;
        self.masks.split_depth = 0;
        if self.shape.has_partial_gang() {
            let linear = self.items.linear.unwrap_or_else(|| self.i32(0));
            let (first, steps) = (self.splat(linear, Scalar::I32), self.steps(Scalar::I32, 1));
            let ids = self.bin_regs(VBin::Add, Scalar::I32, Mode::Varying, &first, &steps);
            let end = self.number(Scalar::I32, Mode::Varying, u64::from(self.shape.items()));
            self.masks.exec = Some(self.compare_regs(VCmp::ULt, Scalar::I32, Mode::Varying, &ids, &end));
        }
    }

    /// Vectorises the body of a kernel without barriers, or with groups of one gang.
    fn lower_body(&mut self, body: &'a Region) -> Lowered<()> {
        if self.shape.lanes > 1 && super::control::returns_early(body) {
            self.begin_live_mask();
        }
        self.region(body, &[]).map(drop)
    }

    /// Computes the address of the current gang's first element in an array with one element for each work-item.
    pub(super) fn item_addr(&mut self, at: u32, element: Elem) -> Addr {
        let linear = self.items.linear.unwrap_or_else(|| self.i32(0));
        let index = self.op(Register::I64, VOp::Cast(VCast::ZExt, linear));
        Addr { base: self.frame.base, index: Some((index, element.bytes() as u8)), disp: at.cast_signed() }
    }
}
