//! Checks instruction folding: compares machine code with the evaluator, for trees of operations whose values are
//! mostly used once.

#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), any(unix, windows)))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod expected;
#[path = "../support/mod.rs"]
mod support;

use support::{Fault, Machine, Memory, Random};
use wgcl_codegen::exec::Executable;
use wgcl_codegen::vir::{
    Addr, BinOp, Builder, CastOp, CmpOp, Cond, Elem, Func, Mem, Module, Op, Target, Terminator, TernOp, Type, UnOp, Value,
};
use wgcl_codegen::{Isa, compile, disassemble};

/// Size of the memory in bytes: inputs, then results.
const BYTES: usize = 4096;
const RESULTS: i32 = 2048;

/// A generated function.
#[cfg(target_arch = "x86_64")]
type Function = extern "sysv64" fn(u64);
/// A generated function.
#[cfg(target_arch = "aarch64")]
type Function = extern "C" fn(u64);

/// The instruction sets of this processor.
fn isas() -> impl Iterator<Item = Isa> {
    let best = Isa::detect();
    let all = Isa::ALL;
    all.into_iter().filter(move |isa| best.is_some_and(|best| best.includes(*isa)))
}

/// Builds random trees of operations.
struct Trees {
    build: Builder,
    random: Random,
    base: Value,
    ty: Type,
    /// Values for later operands. Most have no use yet.
    fresh: Vec<Value>,
    masks: Vec<Value>,
    /// Values that are addresses at most 256 bytes after the base.
    places: Vec<Value>,
}

impl Trees {
    fn value(&mut self, op: Op) -> Value {
        self.build.value_of(self.ty, op)
    }

    fn elem(&self) -> Elem {
        self.ty.elem().unwrap()
    }

    /// An address that is a sum, in some cases with shifts. The sum can have several uses.
    fn place(&mut self, disp: i32) -> Addr {
        let bin = |build: &mut Builder, op, a, b| build.value_of(Type::I64, Op::Bin(op, a, b));
        let base = if self.random.once_in(2) { self.random.of(&self.places) } else { self.base };
        if base != self.base || self.random.once_in(3) {
            return Addr::offset(base, disp);
        }
        let build = &mut self.build;
        let word = build.value_of(Type::I32, Op::Load(Mem::Elem(Elem::I32), Addr::offset(self.base, disp)));
        let low = build.value_of(Type::I32, Op::Const(7));
        let index = build.value_of(Type::I32, Op::Bin(BinOp::And, word, low));
        let index = build.value_of(Type::I64, Op::Cast(CastOp::ZExt, index));
        let by = build.value_of(Type::I64, Op::Const(self.random.below(5) as u64));
        let shifted = bin(build, BinOp::Shl, index, by);
        let some = build.value_of(Type::I64, Op::Const(64));
        let place = match self.random.below(6) {
            0 => bin(build, BinOp::Add, base, some),
            1 => bin(build, BinOp::Add, shifted, base),
            2 => bin(build, BinOp::Add, base, shifted),
            3 => {
                let inner = bin(build, BinOp::Add, base, shifted);
                bin(build, BinOp::Add, some, inner)
            }
            4 => {
                let other = bin(build, BinOp::Add, shifted, shifted);
                let place = bin(build, BinOp::Add, base, other);
                let mask = build.value_of(Type::I64, Op::Const(!255));
                let (wide, rest) = (bin(build, BinOp::And, place, mask), bin(build, BinOp::Sub, place, base));
                let same = build.value_of(Type::I32, Op::Cmp(CmpOp::Eq, wide, rest));
                build.value_of(Type::I64, Op::Select(same, base, place))
            }
            _ => return Addr { base, index: Some((index, 4)), disp },
        };
        self.places.push(place);
        Addr::offset(place, disp)
    }

    /// Creates a value: a load, a broadcast load, or a constant.
    fn leaf(&mut self) -> Value {
        let (elem, disp) = (self.elem(), self.random.below(96) as i32 * 8);
        let addr = self.place(disp);
        match (self.random.below(4), self.ty) {
            (0, _) => {
                let bits = self.random.of(&[0, 1, 0x3f80_0000, 0x4000_0000, 0xffff_ffff, 17]);
                self.value(Op::Const(if elem.bits() == 64 { bits << 32 } else { bits }))
            }
            (1, Type::Vector(..)) => {
                let scalar = self.build.value_of(Type::Scalar(elem), Op::Load(Mem::Elem(elem), addr));
                self.value(Op::Splat(scalar))
            }
            (_, Type::Vector(..)) => self.value(Op::LoadVector { mem: Mem::Elem(elem), addr, mask: None }),
            _ => self.value(Op::Load(Mem::Elem(elem), addr)),
        }
    }

    /// An operand, most often a value without uses.
    fn operand(&mut self) -> Value {
        if self.fresh.is_empty() || self.random.once_in(3) {
            return self.leaf();
        }
        let place = self.fresh.len() - 1 - self.random.below(self.fresh.len().min(3));
        if self.random.once_in(8) { self.fresh[place] } else { self.fresh.remove(place) }
    }

    fn bin_op(&mut self) -> BinOp {
        if self.elem().is_float() {
            let all = [BinOp::FAdd, BinOp::FSub, BinOp::FMul, BinOp::FDiv, BinOp::FMin, BinOp::FMax, BinOp::And, BinOp::Xor];
            return self.random.of(&all);
        }
        let all = [
            BinOp::Add,
            BinOp::Sub,
            BinOp::Mul,
            BinOp::SMin,
            BinOp::SMax,
            BinOp::UMin,
            BinOp::UMax,
            BinOp::And,
            BinOp::Or,
            BinOp::Xor,
            BinOp::AndNot,
            BinOp::And,
            BinOp::Or,
            BinOp::Xor,
            BinOp::AndNot,
        ];
        match self.random.below(12) {
            0 if self.elem() == Elem::I32 => self.random.of(&[BinOp::MulHiU, BinOp::MulHiS]),
            _ => self.random.of(&all),
        }
    }

    fn compare(&mut self) -> Value {
        let (a, b) = (self.operand(), self.operand());
        let op = if self.elem().is_float() {
            self.random.of(&[CmpOp::FEq, CmpOp::FNe, CmpOp::FLt, CmpOp::FLe, CmpOp::FGt, CmpOp::FGe])
        } else {
            self.random.of(&[CmpOp::Eq, CmpOp::Ne, CmpOp::SLt, CmpOp::SGe, CmpOp::ULt, CmpOp::UGt, CmpOp::SLe, CmpOp::UGe])
        };
        self.build.value_of(self.ty.compared(), Op::Cmp(op, a, b))
    }

    fn mask(&mut self) -> Value {
        let mut mask = self.compare();
        if self.random.once_in(3) && matches!(self.ty, Type::Vector(..)) {
            mask = self.build.value_of(self.ty.compared(), Op::Un(UnOp::Not, mask));
        }
        if self.random.once_in(2) || !matches!(self.ty, Type::Vector(..)) {
            return mask;
        }
        let other = if self.masks.is_empty() || self.random.once_in(2) { self.compare() } else { self.random.of(&self.masks) };
        let both = self.build.value_of(self.ty.compared(), Op::Bin(BinOp::And, other, mask));
        self.masks.push(both);
        both
    }

    fn step(&mut self) {
        let float = self.elem().is_float();
        let value = match self.random.below(8) {
            0 | 1 => {
                let (cond, a) = (self.mask(), self.operand());
                let b = self.operand();
                self.value(Op::Select(cond, a, b))
            }
            2 if float => {
                let (a, b, c) = (self.operand(), self.operand(), self.operand());
                let op = self.random.of(&[TernOp::Fma, TernOp::Fms, TernOp::Fnma]);
                let sum = self.value(Op::Tern(op, a, b, c));
                if self.random.once_in(2) {
                    sum
                } else {
                    let cond = self.mask();
                    self.value(Op::Select(cond, sum, c))
                }
            }
            3 => {
                let (op, a, b, old) = (self.bin_op(), self.operand(), self.operand(), self.operand());
                let new = self.value(Op::Bin(op, a, b));
                let cond = self.mask();
                self.value(Op::Select(cond, new, old))
            }
            4 if !float => {
                let a = self.operand();
                let op = self.random.of(&[UnOp::Not, UnOp::Neg]);
                self.value(Op::Un(op, a))
            }
            _ => {
                let (op, a, b) = (self.bin_op(), self.operand(), self.operand());
                self.value(Op::Bin(op, a, b))
            }
        };
        self.fresh.push(value);
        if self.random.once_in(6) {
            self.store(RESULTS);
        }
    }

    /// Stores a value at offset `from` or more. If `from` is 0, an earlier load may read the same address.
    fn store(&mut self, from: i32) {
        let value = self.operand();
        let disp = from + self.random.below(64) as i32 * 8;
        let addr = self.place(disp);
        let mem = Mem::Elem(self.elem());
        self.build.effect(match self.ty {
            Type::Vector(..) => Op::StoreVector { mem, addr, value, mask: None },
            _ => Op::Store(mem, addr, value),
        });
    }
}

/// Builds a function with trees of operations of a type, and a branch in the middle.
fn trees(seed: u64, ty: Type) -> Module {
    let mut build = Builder::new(format!("{ty}"), vec![Type::I64], None);
    let base = build.value_of(Type::I64, Op::Param(0));
    let mut trees = Trees { build, random: Random::new(seed), base, ty, fresh: Vec::new(), masks: Vec::new(), places: vec![base] };
    (0..8).for_each(|_| trees.step());
    let mask = trees.mask();
    let cond = match ty {
        Type::Vector(..) if trees.random.once_in(2) => Cond::Any(mask),
        Type::Vector(..) => Cond::All(mask),
        _ => Cond::NonZero(mask),
    };
    let (then, out) = (trees.build.block(), trees.build.block());
    let carried = trees.operand();
    let param = trees.build.block_param(out, ty);
    trees.build.end(Terminator::Branch(cond, Target::new(then, []), Target::new(out, [carried])));
    trees.build.enter(then);
    (0..4).for_each(|_| trees.step());
    let other = trees.operand();
    trees.build.end(Terminator::Jump(Target::new(out, [other])));
    trees.build.enter(out);
    // Values of the branches are not available here.
    trees.fresh = vec![param];
    trees.masks.clear();
    trees.places = vec![base];
    (0..4).for_each(|_| trees.step());
    trees.store(RESULTS);
    trees.store(0);
    trees.build.end(Terminator::Return(None));
    Module { functions: vec![trees.build.finish()] }
}

/// Compares the first function of a module with the evaluator. Returns `false` if the evaluator has no result, because
/// a condition or an address depends on the bits of a NaN.
fn check(module: &Module, isa: Isa, seed: u64) -> bool {
    let mut random = Random::new(seed);
    let number = |random: &mut Random| match random.below(4) {
        0 => random.of(&[0, 1, u64::MAX, 1 << 63, 0x7ff0_0000_7f80_0000, 0x3ff0_0000_3f80_0000, 0x8000_0000_8000_0000]),
        1 => u64::from((random.below(2000) as f32 - 1000.0).to_bits()) << 32 | u64::from((random.below(100) as f32).to_bits()),
        2 => (random.below(2000) as f64 - 1000.0).to_bits(),
        _ => random.next(),
    };
    let words: Vec<u64> = (0..BYTES / 8).map(|_| number(&mut random)).collect();
    let before: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let code = compile(module, isa).unwrap_or_else(|error| panic!("{isa:?} {seed}: {error}\n{module}"));
    let executable = Executable::new(&code).unwrap();
    let mut bytes = before.clone();
    let base = bytes.as_mut_ptr() as u64;
    let mut memory = Memory::new(base, &before);
    match Machine::new(module, &mut memory, &|_, _| None, 10_000).call(Func(0), &[base]) {
        Err(Fault::Unknown(_)) => return false,
        result => assert_eq!(result.err(), None, "{module}"),
    }
    // SAFETY: the function takes an address and accesses only the `BYTES` bytes at this address. The evaluator has
    // checked the accesses.
    let function: Function = unsafe { std::mem::transmute(executable.entry(0).unwrap()) };
    function(base);
    let difference = memory.difference(&bytes);
    assert!(difference.is_none(), "{isa:?} {seed}: {difference:x?}\n{module}\n{}", disassemble(&code, isa));
    true
}

#[test]
fn folded_trees_equal_the_evaluator() {
    for isa in isas() {
        for elem in [Elem::I32, Elem::I64, Elem::F32, Elem::F64] {
            for bytes in [0, 16, 32, 64].into_iter().filter(|bytes| *bytes <= isa.caps().vector_bytes) {
                let ty = if bytes == 0 { Type::Scalar(elem) } else { Type::Vector(elem, (bytes / elem.bytes()) as u8) };
                // SSE4.2 has no FMA, and the code generator emulates FMA only for `f32`. So it cannot compile `f64`
                // trees for SSE4.2.
                if isa == Isa::SSE42 && elem == Elem::F64 {
                    continue;
                }
                let ran = (0..200).filter(|seed| check(&trees(*seed, ty), isa, *seed)).count();
                assert!(ran > 100, "{isa:?}, {ty}: {ran} of 200 functions have a result");
            }
        }
    }
}

#[test]
fn shuffles_support_irregular_orders_of_lanes() {
    for isa in isas() {
        for (elem, bytes) in [(Elem::I32, 64), (Elem::F32, 32), (Elem::I64, 64), (Elem::F64, 16), (Elem::I32, 16)] {
            if bytes as u32 > isa.caps().vector_bytes {
                continue;
            }
            let (size, lanes) = (elem.bytes() as usize, bytes / elem.bytes() as usize);
            let ty = Type::Vector(elem, lanes as u8);
            let order: Box<[u8]> = (0..lanes).map(|lane| ((lane * 7 + 3) % (2 * lanes)) as u8).collect();
            let mut build = Builder::new("shuffle", vec![Type::I64], None);
            let base = build.value_of(Type::I64, Op::Param(0));
            let load = |build: &mut Builder, disp| {
                build.value_of(ty, Op::LoadVector { mem: Mem::Elem(elem), addr: Addr::offset(base, disp), mask: None })
            };
            let (a, b) = (load(&mut build, 0), load(&mut build, bytes as i32));
            let value = build.value_of(ty, Op::Shuffle(a, b, order.clone()));
            build.effect(Op::StoreVector { mem: Mem::Elem(elem), addr: Addr::offset(base, 128), value, mask: None });
            build.end(Terminator::Return(None));
            let code = compile(&Module { functions: vec![build.finish()] }, isa).unwrap();
            let executable = Executable::new(&code).unwrap();
            let mut memory: Vec<u8> = (0..192).collect();
            // SAFETY: the function takes an address and accesses only the bytes of `memory`.
            let function: Function = unsafe { std::mem::transmute(executable.entry(0).unwrap()) };
            function(memory.as_mut_ptr() as u64);
            let expected: Vec<u8> =
                order.iter().flat_map(|&lane| (0..size).map(move |byte| (usize::from(lane) * size + byte) as u8)).collect();
            assert_eq!(memory[128..128 + bytes], expected, "{isa:?}, {ty}");
        }
    }
}
