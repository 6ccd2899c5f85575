//! Generates random IR programs in memory form, as the front end does. They contain variables, nested control flow,
//! pointers and helper functions.

use crate::case::Requirements;
use crate::random::Random;
use wgcl_compiler::diag::Span;
use wgcl_compiler::ir::{
    BinOp, CastOp, CmpOp, Const, Func, Function, GlobalVar, Inst, Kernel, KernelParam, Module, Op, Region, Scalar, Space, Type, Value, Var,
    WorkItem,
};

/// The requirements of the programs. A work-item accesses 256 bytes of each buffer.
pub const REQUIREMENTS: Requirements =
    Requirements { stride: 256, linear: false, may_alias: true, times: 1, local: 0, items: 16, nullable: None, device: None };

/// Returns a random program: a kernel with two buffers and two `i32`s as parameters, and two other functions.
pub fn module(seed: u64) -> Module {
    let mut random = Random::new(seed);
    let init = (0..64).map(|_| (random.next() & 0xff) as u8).collect();
    let table = GlobalVar { name: "table".to_owned(), space: Space::Constant, size: 64, align: 4, init: Some(init), relocs: Vec::new() };
    let mut kernel = Function::new("k", Type::Void);
    let mut data = Kernel::default();
    for _ in 0..2 {
        let param = kernel.new_value(Type::Ptr(Space::Global));
        kernel.params.push(param);
        data.params.push(KernelParam::Buffer { space: Space::Global, read_only: false, restrict: false });
    }
    for _ in 0..2 {
        let param = kernel.new_value(Type::I32);
        kernel.params.push(param);
        data.params.push(KernelParam::Value);
    }
    kernel.kernel = Some(data);
    let mut first = Function::new("first", Type::I32);
    let mut second = Function::new("second", Type::I32);
    for function in [&mut first, &mut second] {
        let ptr = function.new_value(Type::Ptr(Space::Global));
        let value = function.new_value(Type::I32);
        function.params = vec![ptr, value];
    }
    let ptr = first.new_value(Type::Ptr(Space::Private));
    first.params.push(ptr);
    for (function, callable, budget) in [(&mut second, 0, 14), (&mut first, 1, 18), (&mut kernel, 2, 40)] {
        let body = Writer::new(&mut *function, &mut random, callable, budget).body();
        function.body = body;
    }
    Module { functions: vec![kernel, first, second], globals: vec![table] }
}

struct Writer<'a> {
    function: &'a mut Function,
    random: &'a mut Random,
    out: Vec<Inst>,
    ints: Vec<Var>,
    longs: Vec<Var>,
    vector: Var,
    array: Var,
    bytes: Var,
    pointer: Var,
    pointers: Var,
    /// Pointers to the part of each buffer that belongs to the work-item.
    buffers: Vec<Value>,
    /// The number of functions that may be called.
    callable: usize,
    budget: usize,
    loops: usize,
    depth: usize,
}

const VECTOR: Type = Type::Vector(Scalar::I32, 4);

impl<'a> Writer<'a> {
    fn new(function: &'a mut Function, random: &'a mut Random, callable: usize, budget: usize) -> Self {
        let ints = (0..4).map(|index| function.new_var(format!("i{index}"), 4, 4)).collect();
        let longs = (0..2).map(|index| function.new_var(format!("l{index}"), 8, 8)).collect();
        let vector = function.new_var("v", 16, 16);
        let array = function.new_var("a", 64, 4);
        let bytes = function.new_var("u", 8, 8);
        let pointer = function.new_var("p", 8, 8);
        let pointers = function.new_var("pp", 32, 8);
        let is_buffer = |param: &Value| function.ty(*param) == Type::Ptr(Space::Global);
        let buffers = function.params.iter().copied().filter(is_buffer).collect();
        Self {
            buffers,
            function,
            random,
            out: Vec::new(),
            ints,
            longs,
            vector,
            array,
            bytes,
            pointer,
            pointers,
            callable,
            budget,
            loops: 0,
            depth: 0,
        }
    }

    fn emit(&mut self, ty: Type, op: Op) -> Value {
        self.function.emit(&mut self.out, Span::NONE, ty, op)
    }

    fn effect(&mut self, op: Op) {
        self.out.push(Inst { op, results: Vec::new(), span: Span::NONE });
    }

    fn int(&mut self, bits: u64) -> Value {
        self.emit(Type::I32, Op::Const(Const::Bits(bits & 0xffff_ffff)))
    }

    fn address(&mut self, var: Var) -> Value {
        self.emit(Type::Ptr(Space::Private), Op::VarAddr(var))
    }

    fn load(&mut self, ptr: Value, ty: Type) -> Value {
        self.emit(ty, Op::Load { ptr, align: 4, volatile: false })
    }

    fn store(&mut self, ptr: Value, value: Value) {
        self.effect(Op::Store { ptr, value, align: 4, volatile: false });
    }

    /// Emits the address `base + size * (index mod count)`, with a random index. `count` is a power of two.
    fn element(&mut self, base: Value, count: u64, size: u64) -> Value {
        let index = if self.random.below(3) == 0 {
            self.int_value(0)
        } else {
            let bits = self.random.next();
            self.int(bits)
        };
        let mask = self.int(count - 1);
        let index = self.emit(Type::I32, Op::Bin(BinOp::And, index, mask));
        let wide = self.emit(Type::I64, Op::Cast(CastOp::SExt, index));
        let scale = self.emit(Type::I64, Op::Const(Const::Bits(size)));
        let offset = self.emit(Type::I64, Op::Bin(BinOp::Mul, wide, scale));
        let ty = self.function.ty(base);
        self.emit(ty, Op::PtrAdd(base, offset))
    }

    /// Emits a pointer to at least 64 bytes of a buffer.
    fn buffer(&mut self) -> Value {
        let buffers = self.buffers.clone();
        match self.random.below(5) {
            0 => {
                let address = self.address(self.pointer);
                self.load(address, Type::Ptr(Space::Global))
            }
            1 => {
                let address = self.address(self.pointers);
                let place = self.element(address, 4, 8);
                self.load(place, Type::Ptr(Space::Global))
            }
            2 => {
                let (a, b) = (buffers[self.random.below(buffers.len())], buffers[0]);
                let cond = self.condition();
                self.emit(Type::Ptr(Space::Global), Op::Select(cond, a, b))
            }
            _ => buffers[self.random.below(buffers.len())],
        }
    }

    fn int_value(&mut self, depth: usize) -> Value {
        match self.random.below(if depth > 3 { 4 } else { 13 }) {
            0 => {
                let bits = if self.random.below(2) == 0 { self.random.next() & 7 } else { self.random.next() };
                self.int(bits)
            }
            1 | 2 => {
                let var = self.ints[self.random.below(self.ints.len())];
                let address = self.address(var);
                self.load(address, Type::I32)
            }
            3 => self.emit(Type::I32, Op::WorkItem(WorkItem::GlobalId(0))),
            4 | 5 => {
                let (a, b) = (self.int_value(depth + 1), self.int_value(depth + 1));
                let list = [
                    BinOp::Add,
                    BinOp::Sub,
                    BinOp::Mul,
                    BinOp::And,
                    BinOp::Or,
                    BinOp::Xor,
                    BinOp::Shl,
                    BinOp::LShr,
                    BinOp::AShr,
                    BinOp::SMin,
                    BinOp::UMax,
                    BinOp::SAddSat,
                    BinOp::Rotate,
                    BinOp::UMulHi,
                ];
                let op = list[self.random.below(list.len())];
                self.emit(Type::I32, Op::Bin(op, a, b))
            }
            6 => {
                let a = self.long_value(depth + 1);
                self.emit(Type::I32, Op::Cast(CastOp::Trunc, a))
            }
            7 => {
                let a = self.int_value(depth + 1);
                let list = [1, 2, 3, 8, 10, 0xffff_ffff];
                let divisor = list[self.random.below(list.len())];
                let divisor = self.int(divisor);
                let list = [BinOp::UDiv, BinOp::URem];
                let op = list[self.random.below(2)];
                self.emit(Type::I32, Op::Bin(op, a, divisor))
            }
            8 => {
                let cond = self.condition();
                let (a, b) = (self.int_value(depth + 1), self.int_value(depth + 1));
                self.emit(Type::I32, Op::Select(cond, a, b))
            }
            9 => {
                let base = self.buffer();
                let place = self.element(base, 16, 4);
                self.load(place, Type::I32)
            }
            10 => {
                let address = self.address(self.vector);
                let place = self.element(address, 4, 4);
                self.load(place, Type::I32)
            }
            11 => {
                let address = self.address(self.array);
                let place = self.element(address, 16, 4);
                self.load(place, Type::I32)
            }
            _ => {
                let cond = self.condition();
                self.emit(Type::I32, Op::Cast(CastOp::ZExt, cond))
            }
        }
    }

    fn long_value(&mut self, depth: usize) -> Value {
        match self.random.below(if depth > 3 { 3 } else { 7 }) {
            0 => {
                let bits = if self.random.below(2) == 0 { self.random.next() & 0xf } else { self.random.next() };
                self.emit(Type::I64, Op::Const(Const::Bits(bits)))
            }
            1 => {
                let var = self.longs[self.random.below(self.longs.len())];
                let address = self.address(var);
                self.load(address, Type::I64)
            }
            2 | 3 => {
                let a = self.int_value(depth + 1);
                let op = if self.random.below(2) == 0 { CastOp::ZExt } else { CastOp::SExt };
                self.emit(Type::I64, Op::Cast(op, a))
            }
            _ => {
                let (a, b) = (self.long_value(depth + 1), self.long_value(depth + 1));
                let list = [
                    BinOp::Add,
                    BinOp::Sub,
                    BinOp::Mul,
                    BinOp::And,
                    BinOp::Or,
                    BinOp::Xor,
                    BinOp::Shl,
                    BinOp::LShr,
                    BinOp::AShr,
                    BinOp::SMin,
                    BinOp::UMin,
                    BinOp::SMax,
                ];
                let op = list[self.random.below(list.len())];
                self.emit(Type::I64, Op::Bin(op, a, b))
            }
        }
    }

    fn condition(&mut self) -> Value {
        let list = [CmpOp::Eq, CmpOp::Ne, CmpOp::SLt, CmpOp::SGe, CmpOp::ULt, CmpOp::UGt];
        let op = list[self.random.below(list.len())];
        let (a, b) =
            if self.random.below(3) == 0 { (self.long_value(3), self.long_value(3)) } else { (self.int_value(3), self.int_value(3)) };
        let cond = self.emit(Type::BOOL, Op::Cmp(op, a, b));
        match self.random.below(4) {
            0 => self.emit(Type::BOOL, Op::Un(wgcl_compiler::ir::UnOp::Not, cond)),
            1 => {
                let (a, b) = (self.int_value(4), self.int_value(4));
                let other = self.emit(Type::BOOL, Op::Cmp(op, a, b));
                let op = if self.random.below(2) == 0 { BinOp::And } else { BinOp::Or };
                self.emit(Type::BOOL, Op::Bin(op, cond, other))
            }
            _ => cond,
        }
    }

    fn nested(&mut self, in_loop: bool) -> Region {
        let saved = std::mem::take(&mut self.out);
        self.depth += 1;
        let ended = self.statements(in_loop);
        self.depth -= 1;
        if !ended {
            self.effect(Op::Yield(Vec::new()));
        }
        Region { insts: std::mem::replace(&mut self.out, saved) }
    }

    /// Emits a list of statements. Returns true if the last one is a jump.
    fn statements(&mut self, in_loop: bool) -> bool {
        for _ in 0..1 + self.random.below(4) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            if self.statement(in_loop) {
                return true;
            }
        }
        false
    }

    fn statement(&mut self, in_loop: bool) -> bool {
        match self.random.below(if self.depth > 4 { 9 } else { 15 }) {
            kind @ 0..=8 => self.store_statement(kind),
            9 | 10 => {
                let cond = self.condition();
                let then = self.nested(in_loop);
                let els = self.nested(in_loop);
                let dead = !then.yields() && !els.yields();
                self.effect(Op::If { cond, then, els });
                if dead {
                    self.effect(Op::Unreachable);
                    return true;
                }
            }
            11 => {
                let selector = self.int_value(1);
                let mask = self.int(3);
                let selector = self.emit(Type::I32, Op::Bin(BinOp::And, selector, mask));
                let cases = vec![(vec![0], self.nested(in_loop)), (vec![1, 2], self.nested(in_loop))];
                let default = self.nested(in_loop);
                let dead = !default.yields() && cases.iter().all(|(_, region)| !region.yields());
                self.effect(Op::Switch { selector, cases, default });
                if dead {
                    self.effect(Op::Unreachable);
                    return true;
                }
            }
            12 if self.loops < 3 => self.counted_loop(),
            13 if self.callable > 0 => self.call(),
            14 if self.depth > 0 && self.random.below(3) == 0 => {
                match self.random.below(3) {
                    0 if in_loop => self.effect(Op::Break(Vec::new())),
                    1 if in_loop && self.random.below(2) == 0 => self.effect(Op::Break(Vec::new())),
                    _ => {
                        let value = if self.function.returns.is_empty() { Vec::new() } else { vec![self.int_value(1)] };
                        self.effect(Op::Return(value));
                    }
                }
                return true;
            }
            _ => {
                let address = self.address(self.array);
                let (src, dst) = (self.address(self.vector), address);
                self.effect(Op::Copy { dst, src, size: 16, align: 4 });
            }
        }
        false
    }

    /// Emits a statement that stores a value.
    fn store_statement(&mut self, kind: usize) {
        match kind {
            0 | 1 => {
                let value = self.int_value(0);
                let var = self.ints[self.random.below(self.ints.len())];
                let address = self.address(var);
                self.store(address, value);
            }
            2 => {
                let value = self.long_value(0);
                let var = self.longs[self.random.below(self.longs.len())];
                let address = self.address(var);
                self.store(address, value);
            }
            3 => {
                let base = self.buffer();
                let place = self.element(base, 16, 4);
                let value = self.int_value(0);
                self.store(place, value);
            }
            4 => {
                let var = if self.random.below(2) == 0 { self.vector } else { self.array };
                let address = self.address(var);
                let place = self.element(address, 4, 4);
                let value = self.int_value(1);
                self.store(place, value);
            }
            5 => {
                // Store one of eight bytes, and load the first four.
                let address = self.address(self.bytes);
                let byte = self.random.below(8) as u64;
                let offset = self.int(byte);
                let place = self.emit(Type::Ptr(Space::Private), Op::PtrAdd(address, offset));
                let value = self.int_value(2);
                let value = self.emit(Type::Scalar(Scalar::I8), Op::Cast(CastOp::Trunc, value));
                self.effect(Op::Store { ptr: place, value, align: 1, volatile: false });
                let whole = self.load(address, Type::I32);
                let target = self.address(self.ints[0]);
                self.store(target, whole);
            }
            6 => {
                let address = self.address(self.vector);
                let value = self.load(address, VECTOR);
                let sum = self.emit(VECTOR, Op::Bin(BinOp::Add, value, value));
                let order = (0..4).map(|_| Some(self.random.below(8) as u8)).collect();
                let mixed = self.emit(VECTOR, Op::Shuffle(sum, value, order));
                self.store(address, mixed);
            }
            7 => {
                let value = self.buffer();
                let base = self.buffer_root(value);
                let address = self.address(self.pointer);
                self.store(address, base);
            }
            _ => {
                let value = self.buffer();
                let base = self.buffer_root(value);
                let address = self.address(self.pointers);
                let place = self.element(address, 4, 8);
                self.store(place, base);
            }
        }
    }

    /// Returns a pointer to at least 128 bytes: a pointer parameter, or the parameter plus 16 bytes.
    fn buffer_root(&mut self, _value: Value) -> Value {
        let buffers = self.buffers.clone();
        let base = buffers[self.random.below(buffers.len())];
        if self.random.below(2) == 0 {
            return base;
        }
        let offset = self.int(16);
        self.emit(Type::Ptr(Space::Global), Op::PtrAdd(base, offset))
    }

    fn counted_loop(&mut self) {
        self.loops += 1;
        let long = self.random.below(2) == 0;
        let (ty, size) = if long { (Type::I64, 8) } else { (Type::I32, 4) };
        let counter = self.function.new_var("n", size, size);
        let address = self.address(counter);
        let zero = self.emit(ty, Op::Const(Const::Bits(0)));
        self.store(address, zero);
        let iterations = 1 + self.random.below(5) as u64;
        let saved = std::mem::take(&mut self.out);
        let address = self.address(counter);
        let value = self.load(address, ty);
        let limit = self.emit(ty, Op::Const(Const::Bits(iterations)));
        let cond = self.emit(Type::BOOL, Op::Cmp(if long { CmpOp::ULt } else { CmpOp::SLt }, value, limit));
        let then = Region { insts: vec![Inst { op: Op::Yield(Vec::new()), results: Vec::new(), span: Span::NONE }] };
        let els = Region { insts: vec![Inst { op: Op::Break(Vec::new()), results: Vec::new(), span: Span::NONE }] };
        self.effect(Op::If { cond, then, els });
        // Increment the counter first, so that a loop with `continue` ends.
        let one = self.emit(ty, Op::Const(Const::Bits(1)));
        let next = self.emit(ty, Op::Bin(BinOp::Add, value, one));
        self.store(address, next);
        if self.random.below(2) == 0 {
            self.kept_in_branch(value, ty);
        }
        self.depth += 1;
        let ended = self.statements(true);
        self.depth -= 1;
        if !ended {
            self.effect(Op::Continue(Vec::new()));
        }
        let body = Region { insts: std::mem::replace(&mut self.out, saved) };
        let mut breaks = false;
        body.for_each_jump(&mut |op| breaks |= matches!(op, Op::Break(_)));
        self.effect(Op::Loop { init: Vec::new(), params: Vec::new(), body, unroll: None });
        self.loops -= 1;
    }

    /// Emits `if (n == 0) x = ...; else { use x; x = ...; }` for a variable `x` without other uses.
    fn kept_in_branch(&mut self, counter: Value, ty: Type) {
        let var = self.function.new_var("x", 4, 4);
        let zero = self.emit(ty, Op::Const(Const::Bits(0)));
        let cond = self.emit(Type::BOOL, Op::Cmp(CmpOp::Eq, counter, zero));
        let mut regions = Vec::new();
        for first in [true, false] {
            let saved = std::mem::take(&mut self.out);
            let address = self.address(var);
            if !first {
                let kept = self.load(address, Type::I32);
                let target = self.address(self.ints[1]);
                self.store(target, kept);
            }
            let value = self.int_value(2);
            self.store(address, value);
            self.effect(Op::Yield(Vec::new()));
            regions.push(Region { insts: std::mem::replace(&mut self.out, saved) });
        }
        if let (Some(els), Some(then)) = (regions.pop(), regions.pop()) {
            self.effect(Op::If { cond, then, els });
        }
    }

    fn call(&mut self) {
        let value = self.int_value(1);
        let base = self.buffer_root(value);
        // `first` is function 1, and `second` function 2. `first` may call `second`, and the kernel may call either
        // function.
        let callee = if self.callable == 2 && self.random.below(2) == 0 { 1 } else { 2 };
        let mut args = vec![base, value];
        if callee == 1 {
            let address = self.address(self.array);
            args.push(address);
        }
        let result = self.emit(Type::I32, Op::Call(Func(callee), args));
        let address = self.address(self.ints[1]);
        self.store(address, result);
    }

    /// Restricts each work-item of a kernel to its own part of each buffer.
    fn own_parts(&mut self) {
        let mut number = self.emit(Type::I32, Op::WorkItem(WorkItem::GlobalId(2)));
        for dimension in [1, 0] {
            let size = self.emit(Type::I32, Op::WorkItem(WorkItem::GlobalSize(dimension)));
            let rows = self.emit(Type::I32, Op::Bin(BinOp::Mul, number, size));
            let id = self.emit(Type::I32, Op::WorkItem(WorkItem::GlobalId(dimension)));
            number = self.emit(Type::I32, Op::Bin(BinOp::Add, rows, id));
        }
        let stride = self.int(REQUIREMENTS.stride.into());
        let offset = self.emit(Type::I32, Op::Bin(BinOp::Mul, number, stride));
        for index in 0..self.buffers.len() {
            self.buffers[index] = self.emit(Type::Ptr(Space::Global), Op::PtrAdd(self.buffers[index], offset));
        }
    }

    fn body(mut self) -> Region {
        if self.function.kernel.is_some() {
            self.own_parts();
        }
        // Initialise every variable.
        for var in self.ints.clone() {
            let bits = self.random.next();
            let value = self.int(bits);
            let address = self.address(var);
            self.store(address, value);
        }
        for var in self.longs.clone() {
            let bits = self.random.next();
            let value = self.emit(Type::I64, Op::Const(Const::Bits(bits)));
            let address = self.address(var);
            self.store(address, value);
        }
        for (var, size) in [(self.vector, 16), (self.array, 64), (self.bytes, 8)] {
            let dst = self.address(var);
            self.effect(Op::Zero { dst, size, align: 4 });
        }
        let first = self.buffers[0];
        let address = self.address(self.pointer);
        self.store(address, first);
        for index in 0..4 {
            let address = self.address(self.pointers);
            let offset = self.int(index * 8);
            let place = self.emit(Type::Ptr(Space::Private), Op::PtrAdd(address, offset));
            self.store(place, first);
        }
        let table = self.emit(Type::Ptr(Space::Constant), Op::GlobalAddr(wgcl_compiler::ir::Global(0)));
        let place = self.element(table, 16, 4);
        let value = self.load(place, Type::I32);
        let address = self.address(self.ints[2]);
        self.store(address, value);
        let mut ended = false;
        while self.budget > 0 && !ended {
            ended = self.statements(false);
        }
        if !ended {
            let value = if self.function.returns.is_empty() { Vec::new() } else { vec![self.int_value(0)] };
            if self.function.kernel.is_some() {
                // Store the final values of the variables, so that the test compares them.
                for (index, var) in (0..).zip(self.ints.clone().into_iter().chain(self.longs.clone())) {
                    let ty = if index < 4 { Type::I32 } else { Type::I64 };
                    let address = self.address(var);
                    let value = self.load(address, ty);
                    let offset = self.int(128 + index * 8);
                    let base = self.buffers[1];
                    let place = self.emit(Type::Ptr(Space::Global), Op::PtrAdd(base, offset));
                    self.store(place, value);
                }
            }
            self.effect(Op::Return(value));
        }
        Region { insts: self.out }
    }
}
