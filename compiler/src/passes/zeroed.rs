//! Clears memory when a kernel starts, if the context requests it (cl_khr_initialize_memory).
//!
//! ```text
//! kernel @k(%0: ptr.local local 4) {      =>      kernel @k(%0: ptr.local local 4) zeroed {  (build)
//!                                                   barrier local
//! kernel @k(...) zeroed {                 =>      for (i = id * 4; i < size; i += group * 4) store.i32 %0 + i, 0
//!   barrier local                                 barrier local
//! ```
//! Private variables are cleared at the start of their function. Dead code elimination removes most of these stores.
//! The work-items of a group clear local memory together. This code is inserted at a launch, when the group size and
//! the argument sizes are known. The barrier is inserted at the build, so that every analysis of barriers sees it.

use super::pass::Pass;
use crate::diag::Span;
use crate::ir::{
    BinOp, CmpOp, Fence, Func, Function, Global, GlobalVar, Inst, KernelParam, Module, Op, Region, Scalar, Space, Type, Value, Var,
    WorkItem,
};
use crate::target::Zeroed;

/// The pass for launches: clears local memory.
pub(crate) const PASS: Pass = Pass::module("zeroed", |module, cx| Ok(clear_local(module, &cx.key.kernel.local_args)));

/// Transforms a module at a build: clears private variables, and marks the kernels that must clear local memory.
pub(super) fn at_build(module: &mut Module, zeroed: Zeroed) {
    if zeroed.private {
        module.functions.iter_mut().for_each(clear_variables);
    }
    if zeroed.local {
        let by_helpers = !locals_of(&module.globals, module.functions.iter().filter(|function| function.kernel.is_none())).is_empty();
        for function in &mut module.functions {
            let own = !locals_of(&module.globals, std::iter::once(&*function)).is_empty();
            let Some(kernel) = &mut function.kernel else { continue };
            let argument = kernel.params.iter().any(|param| matches!(param, KernelParam::Local { .. }));
            if argument || by_helpers || own {
                kernel.zeroed = true;
                let barrier = Op::Barrier(Fence { local: true, global: false, image: false });
                function.body.insts.insert(0, Inst::effect(barrier, Span::NONE));
            }
        }
    }
}

/// Returns the local variables (address space `local`) that functions use.
fn locals_of<'f>(globals: &[GlobalVar], functions: impl Iterator<Item = &'f Function>) -> Vec<Global> {
    let mut found = Vec::new();
    for function in functions {
        function.body.walk(&mut |inst| {
            if let Op::GlobalAddr(global) = inst.op
                && globals.get(global.index()).is_some_and(|data| data.space == Space::Local)
                && !found.contains(&global)
            {
                found.push(global);
            }
        });
    }
    found
}

fn clear_variables(function: &mut Function) {
    let mut out = Vec::new();
    for (index, (size, align)) in (0..).zip(function.vars.iter().map(|data| (data.size, data.align)).collect::<Vec<_>>()) {
        if size != 0 {
            let dst = function.emit(&mut out, Span::NONE, Type::Ptr(Space::Private), Op::VarAddr(Var(index)));
            out.push(Inst::effect(Op::Zero { dst, size, align }, Span::NONE));
        }
    }
    function.body.insts.splice(0..0, out);
}

/// Inserts code that clears the local memory of a kernel. Returns whether the kernel is marked.
fn clear_local(module: &mut Module, arguments: &[u32]) -> bool {
    let kernel = module.functions.first().and_then(|function| function.kernel.as_ref());
    let Some(kernel) = kernel.filter(|kernel| kernel.zeroed) else { return false };
    let pointers = kernel.params.iter().zip(&module.functions[0].params);
    let pointers =
        pointers.filter_map(|(param, &value)| if let KernelParam::Local { align } = *param { Some((value, align)) } else { None });
    let pointers: Vec<(Value, u32, u32)> = pointers.zip(arguments).map(|((value, align), &size)| (value, size, align)).collect();
    let variables = locals_of(&module.globals, module.functions.iter()).into_iter().map(|global| (global, &module.globals[global.index()]));
    let variables: Vec<(Global, u32, u32)> = variables.map(|(global, data)| (global, data.size, data.align)).collect();
    let mut clearing = Clearing { function: &mut module.functions[Func(0).index()], out: Vec::new() };
    let (item, items) = clearing.work_item_index();
    for (global, size, align) in variables {
        let dst = clearing.emit(Type::Ptr(Space::Local), Op::GlobalAddr(global));
        clearing.clear(dst, size, align, (item, items));
    }
    for (dst, size, align) in pointers {
        clearing.clear(dst, size, align, (item, items));
    }
    let Clearing { function, out } = clearing;
    function.body.insts.splice(0..0, out);
    true
}

struct Clearing<'f> {
    function: &'f mut Function,
    out: Vec<Inst>,
}

impl Clearing<'_> {
    fn emit(&mut self, ty: Type, op: Op) -> Value {
        self.function.emit(&mut self.out, Span::NONE, ty, op)
    }

    fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        self.emit(Type::I32, Op::Bin(op, a, b))
    }

    /// Emits the linear index of the work-item in its group, and the number of work-items in the group.
    fn work_item_index(&mut self) -> (Value, Value) {
        let mut word = |item: fn(u8) -> WorkItem, dim| self.emit(Type::I32, Op::WorkItem(item(dim)));
        let (ids, sizes) = ([0, 1, 2].map(|dim| word(WorkItem::LocalId, dim)), [0, 1, 2].map(|dim| word(WorkItem::LocalSize, dim)));
        let planes = self.bin(BinOp::Mul, ids[2], sizes[1]);
        let rows = self.bin(BinOp::Add, planes, ids[1]);
        let before = self.bin(BinOp::Mul, rows, sizes[0]);
        let plane = self.bin(BinOp::Mul, sizes[0], sizes[1]);
        (self.bin(BinOp::Add, before, ids[0]), self.bin(BinOp::Mul, plane, sizes[2]))
    }

    /// Emits loops that clear words, and the remainder byte by byte.
    fn clear(&mut self, dst: Value, size: u32, align: u32, work_item_index: (Value, Value)) {
        let words = if align >= 4 { size & !3 } else { 0 };
        self.clear_strided(dst, 0..words, Scalar::I32, work_item_index);
        self.clear_strided(dst, words..size, Scalar::I8, work_item_index);
    }

    /// Emits `for (i = begin + item * unit; i < end; i += items * unit) dst[i] = 0`.
    fn clear_strided(&mut self, dst: Value, bytes: std::ops::Range<u32>, unit: Scalar, (item, items): (Value, Value)) {
        if bytes.is_empty() {
            return;
        }
        let (ty, span) = (Type::Scalar(unit), Span::NONE);
        let constant = |this: &mut Self, bits: u32| this.function.emit_bits(&mut this.out, span, Type::I32, bits.into());
        let [size, begin, end] = [unit.size(), bytes.start, bytes.end].map(|bits| constant(self, bits));
        let own = self.bin(BinOp::Mul, item, size);
        let (start, step) = (self.bin(BinOp::Add, own, begin), self.bin(BinOp::Mul, items, size));
        let index = self.function.new_value(Type::I32);
        let mut body = Vec::new();
        let cond = self.function.emit(&mut body, span, Type::BOOL, Op::Cmp(CmpOp::ULt, index, end));
        let then = Region { insts: vec![Inst::effect(Op::Yield(Vec::new()), span)] };
        let els = Region { insts: vec![Inst::effect(Op::Break(Vec::new()), span)] };
        body.push(Inst::effect(Op::If { cond, then, els }, span));
        let value = self.function.emit_bits(&mut body, span, ty, 0);
        let ptr = self.function.emit(&mut body, span, self.function.ty(dst), Op::PtrAdd(dst, index));
        body.push(Inst::effect(Op::Store { ptr, value, align: unit.size(), volatile: false }, span));
        let next = self.function.emit(&mut body, span, Type::I32, Op::Bin(BinOp::Add, index, step));
        body.push(Inst::effect(Op::Continue(vec![next]), span));
        self.out.push(Inst::effect(Op::Loop { init: vec![start], params: vec![index], body: Region { insts: body }, unroll: None }, span));
    }
}
