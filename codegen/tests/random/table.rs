//! One small module for each operation and type, which applies the operation to many numbers.

use std::cell::RefCell;

use smallvec::{SmallVec, smallvec};
use wgcl_codegen::Isa;
use wgcl_codegen::vir::{
    Addr, BinOp, Builder, CastOp, CmpOp, Elem, Mem, Module, Op, Rounding, Target, Terminator, TernOp, Type, UnOp, Value,
};

use crate::generate::{PACKED, SIZE, all_types, has_fma, number, order};
use crate::support::Random;

/// Size in bytes of all numbers of one operand.
const OPERAND: i32 = 512;
/// Maximum number of times that a case applies its operation, with different numbers. One more application uses the
/// numbers at the end of the memory.
const REPETITIONS: i32 = 24;
/// The offset of results in bytes.
const RESULTS: i32 = 4096;
/// The offset in bytes of the range of numbers for accesses.
const FIELD: i32 = 3072;
/// The offset in bytes of stored operands.
const COPIES: i32 = 3840;

/// An operation to test.
pub struct Case {
    /// The operation and its types.
    pub name: String,
    /// The module that applies it.
    pub module: Module,
}

/// The collected cases.
struct Table {
    isa: Isa,
    cases: Vec<Case>,
}

/// Builds one application of a case's operation, from operands and the address of a range of numbers.
type Build<'a> = &'a dyn Fn(&mut Builder, &[Value], Value) -> Option<Value>;

/// Returns a case for each operation of an instruction set and each type.
pub fn cases(isa: Isa) -> Vec<Case> {
    let mut table = Table { isa, cases: Vec::new() };
    for ty in all_types(isa) {
        table.bits_of_bits(ty);
        match ty.elem() {
            None => table.masks(ty),
            Some(elem) if elem.is_float() => table.floats(ty, elem),
            Some(elem) => table.integers(ty, elem),
        }
        if let Some(elem) = ty.elem() {
            table.any(ty, elem);
            table.accesses(ty, elem);
        }
    }
    table.conversions();
    table.cases
}

/// Loads an operand.
fn load(build: &mut Builder, ty: Type, base: Value, disp: i32) -> Value {
    let addr = Addr::offset(base, disp);
    match ty {
        Type::Scalar(elem) => build.value_of(ty, Op::Load(Mem::Elem(elem), addr)),
        Type::Vector(elem, _) => build.value_of(ty, Op::LoadVector { mem: Mem::Elem(elem), addr, mask: None }),
        Type::Mask(_) => {
            let bits = build.value_of(Type::I32, Op::Load(Mem::Elem(Elem::I32), addr));
            build.value_of(ty, Op::MaskOf(bits))
        }
    }
}

/// Creates an operand of a random kind: a load that an instruction can fold, a load with a second use (a store), or a
/// constant.
fn operand(build: &mut Builder, random: &mut Random, ty: Type, base: Value, disp: i32) -> Value {
    match (random.below(6), ty) {
        (0 | 1, _) => {
            let value = load(build, ty, base, disp);
            store(build, value, base, COPIES);
            value
        }
        (2, Type::Mask(_)) => build.value_of(ty, Op::Const(random.next() & 1)),
        (2, Type::Scalar(elem) | Type::Vector(elem, _)) => build.value_of(ty, Op::Const(number(random, elem))),
        (3, Type::Vector(elem, lanes)) => {
            let lanes = (0..lanes).map(|_| number(random, elem)).collect();
            build.value_of(ty, Op::Lanes(lanes))
        }
        (4, Type::Vector(elem, _)) => {
            let scalar = load(build, Type::Scalar(elem), base, disp);
            build.value_of(ty, Op::Splat(scalar))
        }
        _ => load(build, ty, base, disp),
    }
}

fn store(build: &mut Builder, value: Value, base: Value, disp: i32) {
    let (mem, addr) = (|elem| Mem::Elem(elem), Addr::offset(base, disp));
    match build.ty(value) {
        Type::Scalar(elem) => build.effect(Op::Store(mem(elem), addr, value)),
        Type::Vector(elem, _) => build.effect(Op::StoreVector { mem: mem(elem), addr, value, mask: None }),
        Type::Mask(_) => {
            let bits = build.value_of(Type::I32, Op::MaskBits(value));
            build.effect(Op::Store(Mem::Elem(Elem::I32), addr, bits));
        }
    }
}

/// Size of a value in memory, in bytes.
fn bytes(ty: Type) -> i32 {
    ty.elem().map_or(4, |elem| (elem.bytes() * u32::from(ty.lanes())).cast_signed())
}

/// Bits per lane. For masks, bits per lane of the vectors.
const fn bits_of(ty: Type) -> u32 {
    match ty {
        Type::Mask(mask) => mask.bits as u32,
        Type::Scalar(elem) | Type::Vector(elem, _) => elem.bits(),
    }
}

fn constant(build: &mut Builder, ty: Type, bits: u64) -> Value {
    build.value_of(ty, Op::Const(bits))
}

impl Table {
    fn has(&self, ty: Type) -> bool {
        all_types(self.isa).contains(&ty)
    }

    fn add(&mut self, name: String, operands: &[Type], apply: Build<'_>) {
        let mut build = Builder::new(name.clone(), vec![Type::I64], None);
        let base = build.value_of(Type::I64, Op::Param(0));
        // Repeat as often as the largest operand fits into `OPERAND` bytes.
        let size = operands.iter().map(|ty| bytes(*ty)).max().unwrap_or(64);
        let repetitions = (OPERAND / size).min(REPETITIONS);
        let mut random = Random::new(0);
        for at in 0..=repetitions {
            // The last repetition uses the end of the memory, so that reads after it fail.
            let place = |index: i32, ty: Type| if at < repetitions { index * OPERAND + at * size } else { SIZE as i32 - bytes(ty) };
            let values: Vec<Value> =
                (0..).zip(operands).map(|(index, &ty)| operand(&mut build, &mut random, ty, base, place(index, ty))).collect();
            if let Some(result) = apply(&mut build, &values, base) {
                store(&mut build, result, base, RESULTS + at * 64);
            }
        }
        build.end(Terminator::Return(None));
        self.cases.push(Case { name, module: Module { functions: vec![build.finish()] } });
    }

    /// Adds a case for one operation.
    fn op(&mut self, name: String, operands: &[Type], result: Type, op: impl Fn(&[Value]) -> Op) {
        let name = format!("{name} {operands:?} -> {result:?}");
        self.add(name.clone(), operands, &|build, values, _| Some(build.value_of(result, op(values))));
        if self.isa == Isa::AVX512 && matches!(result, Type::Vector(..)) {
            self.masked(&name, operands, result, op);
        }
    }

    /// Adds a case for an operation and a `select` of its result. One masked instruction can execute both.
    fn masked(&mut self, name: &str, operands: &[Type], result: Type, op: impl Fn(&[Value]) -> Op) {
        let all: Vec<Type> = operands.iter().copied().chain([result.compared(), result]).collect();
        let random = RefCell::new(Random::new(0));
        self.add(format!("{name} under a mask"), &all, &|build, values, _| {
            let (mask, other) = (values[operands.len()], values[operands.len() + 1]);
            let made = build.value_of(result, op(&values[..operands.len()]));
            let same: Vec<Value> = values.iter().copied().filter(|value| build.ty(*value) == result).collect();
            let mut random = random.borrow_mut();
            let other = if random.once_in(2) { random.of(&same) } else { other };
            let (one, two) = if random.once_in(3) { (other, made) } else { (made, other) };
            Some(build.value_of(result, Op::Select(mask, one, two)))
        });
    }

    /// Adds cases with two consecutive bitwise operations.
    fn bits_of_bits(&mut self, ty: Type) {
        let ops = [BinOp::And, BinOp::Or, BinOp::Xor, BinOp::AndNot];
        for first in ops {
            let random = RefCell::new(Random::new(1));
            self.add(format!("{first:?}, then another {ty:?}"), &[ty, ty, ty], &|build, values, _| {
                let mut random = random.borrow_mut();
                let mut inner = build.value_of(ty, Op::Bin(first, values[0], values[1]));
                if ty.elem().is_none_or(|elem| !elem.is_float()) && random.once_in(3) {
                    inner = build.value_of(ty, Op::Un(UnOp::Not, inner));
                }
                let third = values[random.below(3)];
                let (a, b) = if random.once_in(2) { (inner, third) } else { (third, inner) };
                Some(build.value_of(ty, Op::Bin(random.of(&ops), a, b)))
            });
        }
    }

    fn bin(&mut self, op: BinOp, ty: Type) {
        self.op(format!("{op:?}"), &[ty, ty], ty, |values| Op::Bin(op, values[0], values[1]));
        self.op(format!("{op:?} of the same"), &[ty], ty, |values| Op::Bin(op, values[0], values[0]));
    }

    fn cmp(&mut self, op: CmpOp, ty: Type) {
        self.op(format!("{op:?}"), &[ty, ty], ty.compared(), |values| Op::Cmp(op, values[0], values[1]));
    }

    fn integers(&mut self, ty: Type, elem: Elem) {
        use BinOp::{Add, And, AndNot, Mul, MulHiS, MulHiU, MulWideS, MulWideU, Or, Rotl, SMax, SMin, Sub, UMax, UMin, Xor};
        use CmpOp::{Eq, Ne, SGe, SGt, SLe, SLt, UGe, UGt, ULe, ULt};
        let packed = PACKED.into_iter().filter(|_| elem == Elem::I32 && ty.lanes() > 1);
        for op in [Add, Sub, Mul, And, Or, Xor, AndNot, Rotl, SMin, SMax, UMin, UMax].into_iter().chain(packed) {
            self.bin(op, ty);
            for bits in
                [0, 1, 2, 5, 0x40, 0x7f, 0x80, i32::MAX as u64, i32::MIN as u64, 0x8000_0000, 0xffff_ffff, 1 << 40, 1 << 63, u64::MAX]
            {
                let narrow = elem == Elem::I32;
                if narrow && bits > 0xffff_ffff && bits != u64::MAX {
                    continue;
                }
                let bits = if narrow { bits & 0xffff_ffff } else { bits };
                self.add(format!("{op:?} of a constant {bits:#x} {ty:?}"), &[ty], &|build, values, _| {
                    let bits = constant(build, ty, bits);
                    Some(build.value_of(ty, Op::Bin(op, values[0], bits)))
                });
            }
        }
        for bytes in 1..8 {
            self.add(format!("Rotl of {bytes} bytes {ty:?}"), &[ty], &|build, values, _| {
                let bits = constant(build, ty, 8 * bytes);
                Some(build.value_of(ty, Op::Bin(Rotl, values[0], bits)))
            });
        }
        if elem == Elem::I64 {
            self.bin(MulWideU, ty);
            self.bin(MulWideS, ty);
        }
        if elem == Elem::I32 || ty.is_general() {
            self.bin(MulHiU, ty);
            self.bin(MulHiS, ty);
        }
        self.shifts(ty, elem);
        let mut ops = vec![UnOp::Not, UnOp::Neg, UnOp::Clz, UnOp::Popcnt];
        if ty.is_general() {
            ops.push(UnOp::Ctz);
            self.divisions(ty);
        }
        for op in ops {
            self.op(format!("{op:?}"), &[ty], ty, |values| Op::Un(op, values[0]));
        }
        for op in [Eq, Ne, SLt, SLe, SGt, SGe, ULt, ULe, UGt, UGe] {
            self.cmp(op, ty);
        }
    }

    fn shifts(&mut self, ty: Type, elem: Elem) {
        for op in [BinOp::Shl, BinOp::LShr, BinOp::AShr] {
            self.add(format!("{op:?} {ty:?}"), &[ty, ty], &|build, values, _| {
                let most = constant(build, ty, u64::from(elem.bits() - 1));
                let amount = build.value_of(ty, Op::Bin(BinOp::And, values[1], most));
                Some(build.value_of(ty, Op::Bin(op, values[0], amount)))
            });
            for amount in [0, 1, 7, 31, u64::from(elem.bits() - 1)] {
                self.add(format!("{op:?} by {amount} {ty:?}"), &[ty], &|build, values, _| {
                    let amount = constant(build, ty, amount);
                    Some(build.value_of(ty, Op::Bin(op, values[0], amount)))
                });
            }
            if ty.lanes() > 1 {
                self.add(format!("{op:?} by one amount {ty:?}"), &[ty, Type::Scalar(elem)], &|build, values, _| {
                    let most = constant(build, Type::Scalar(elem), u64::from(elem.bits() - 1));
                    let amount = build.value_of(Type::Scalar(elem), Op::Bin(BinOp::And, values[1], most));
                    let amount = build.value_of(ty, Op::Splat(amount));
                    Some(build.value_of(ty, Op::Bin(op, values[0], amount)))
                });
            }
        }
    }

    fn divisions(&mut self, ty: Type) {
        for op in [BinOp::UDiv, BinOp::URem, BinOp::SDiv, BinOp::SRem] {
            self.add(format!("{op:?} {ty:?}"), &[ty, ty], &|build, values, _| {
                // The divisor is below -1, or positive and odd, so that no division traps.
                let (one, below) = (constant(build, ty, 1), constant(build, ty, if ty == Type::I32 { 0xffff_fffe } else { u64::MAX - 1 }));
                let odd = build.value_of(ty, Op::Bin(BinOp::Or, values[1], one));
                let other = build.value_of(ty, Op::Bin(BinOp::SMin, values[1], below));
                let zero = constant(build, ty, 0);
                let negative = build.value_of(Type::I32, Op::Cmp(CmpOp::SLt, odd, zero));
                let divisor = build.value_of(ty, Op::Select(negative, other, odd));
                Some(build.value_of(ty, Op::Bin(op, values[0], divisor)))
            });
        }
    }

    fn floats(&mut self, ty: Type, elem: Elem) {
        use BinOp::{And, AndNot, FAdd, FDiv, FMax, FMin, FMul, FSub, Or, Xor};
        use CmpOp::{FEq, FGe, FGt, FLe, FLt, FNe};
        let isa = self.isa;
        for op in [FAdd, FSub, FMul, FDiv, FMin, FMax, And, Or, Xor, AndNot] {
            self.bin(op, ty);
        }
        for op in [FEq, FNe, FLt, FLe, FGt, FGe] {
            self.cmp(op, ty);
        }
        let fused = [TernOp::Fma, TernOp::Fms, TernOp::Fnma];
        for op in fused.into_iter().filter(|_| has_fma(isa, elem)) {
            self.op(format!("{op:?}"), &[ty, ty, ty], ty, |values| Op::Tern(op, values[0], values[1], values[2]));
        }
        let mut ops = vec![UnOp::Sqrt];
        ops.extend([Rounding::NearestEven, Rounding::Down, Rounding::Up, Rounding::Zero].map(UnOp::Round));
        if elem == Elem::F32 {
            ops.extend([UnOp::RecipApprox, UnOp::RsqrtApprox]);
            let bits = ty.with_elem(Elem::I32);
            self.op("HalfToFloat".into(), &[bits], ty, |values| Op::Un(UnOp::HalfToFloat, values[0]));
            self.op("FloatToHalf".into(), &[ty], bits, |values| Op::Un(UnOp::FloatToHalf, values[0]));
        }
        for op in ops {
            self.op(format!("{op:?}"), &[ty], ty, |values| Op::Un(op, values[0]));
        }
    }

    fn masks(&mut self, ty: Type) {
        for op in [BinOp::And, BinOp::Or, BinOp::Xor, BinOp::AndNot] {
            self.bin(op, ty);
        }
        self.op("Not".into(), &[ty], ty, |values| Op::Un(UnOp::Not, values[0]));
        self.op("Select".into(), &[ty, ty, ty], ty, |values| Op::Select(values[0], values[1], values[2]));
        for bits in [0, 1] {
            self.op(format!("Const {bits}"), &[], ty, |_| Op::Const(bits));
        }
        let other = Type::mask(ty.lanes(), 96 - bits_of(ty));
        if bits_of(ty) == 32 && self.has(other) {
            self.op("MaskJoin".into(), &[other], ty, |values| Op::MaskJoin(smallvec![values[0]]));
        }
        let half = Type::mask(ty.lanes() / 2, 64);
        if bits_of(ty) == 32 && self.has(half) {
            self.op("MaskJoin".into(), &[half, half], ty, |values| Op::MaskJoin(SmallVec::from_slice(values)));
        }
        for times in [1, 2, 4] {
            let whole = Type::mask(ty.lanes() * times, 32);
            let parts = if bits_of(ty) == 64 && self.has(whole) { times } else { 0 };
            for part in 0..parts {
                self.op(format!("MaskPart {part}"), &[whole], ty, |values| Op::MaskPart(values[0], part));
            }
        }
        for all in [false, true] {
            self.branch(ty, all);
        }
    }

    /// Adds a case with branches on masks. The result depends on the taken targets.
    fn branch(&mut self, ty: Type, all: bool) {
        use wgcl_codegen::vir::Cond;
        self.add(format!("branch on {} of {ty:?}", if all { "all" } else { "any" }), &[ty, ty], &|build, values, _| {
            let mut sum = constant(build, Type::I32, 0);
            let whole = build.value_of(ty, Op::Const(1));
            let none = build.value_of(ty, Op::Const(0));
            for mask in [values[0], values[1], whole, none] {
                let (one, two) = (constant(build, Type::I32, 1), constant(build, Type::I32, 2));
                let join = build.block();
                let way = build.block_param(join, Type::I32);
                let cond = if all { Cond::All(mask) } else { Cond::Any(mask) };
                build.end(Terminator::Branch(cond, Target::new(join, [one]), Target::new(join, [two])));
                build.enter(join);
                let shift = build.value_of(Type::I32, Op::Bin(BinOp::Shl, sum, two));
                sum = build.value_of(Type::I32, Op::Bin(BinOp::Or, shift, way));
            }
            Some(sum)
        });
    }

    /// Operations that all types except masks have, and operations on the lanes of vectors.
    fn any(&mut self, ty: Type, elem: Elem) {
        self.op("Select".into(), &[ty.compared(), ty, ty], ty, |values| Op::Select(values[0], values[1], values[2]));
        for bits in [0, 1, 0x8000_0000, 0xffff_ffff, u64::MAX, 0x3ff0_0000_0000_0000, 0x3f80_0000] {
            let bits = if elem.bits() == 32 { bits & 0xffff_ffff } else { bits };
            self.op(format!("Const {bits:#x}"), &[], ty, |_| Op::Const(bits));
        }
        if let Type::Vector(_, lanes) = ty {
            self.op("Splat".into(), &[Type::Scalar(elem)], ty, |values| Op::Splat(values[0]));
            for lane in 0..lanes {
                self.op(format!("Extract {lane}"), &[ty], Type::Scalar(elem), |values| Op::Extract(values[0], lane));
            }
            for kind in 0..100 {
                let lanes = order(&mut Random::new(kind), lanes);
                self.op(format!("Shuffle {lanes:?}"), &[ty, ty], ty, |values| Op::Shuffle(values[0], values[1], lanes.clone()));
                self.op(format!("Shuffle {lanes:?} of one"), &[ty], ty, |values| Op::Shuffle(values[0], values[0], lanes.clone()));
            }
            if elem.bits() == 32 {
                self.op("Permute".into(), &[ty, ty.with_elem(Elem::I32)], ty, |values| Op::Permute(values[0], values[1]));
            }
            self.op("Lanes".into(), &[], ty, |_| Op::Lanes((0..lanes).map(|lane| 0x0102_0304 << (lane % 4)).collect()));
        }
    }

    fn accesses(&mut self, ty: Type, elem: Elem) {
        let formats = if elem == Elem::I32 { &[Mem::I8, Mem::I16, Mem::Elem(Elem::I32)][..] } else { &[Mem::Elem(elem)] };
        let field = |base| Addr::offset(base, FIELD + 3);
        for &mem in formats {
            if ty.lanes() == 1 {
                self.add(format!("Load {mem:?}"), &[], &|build, _, base| Some(build.value_of(ty, Op::Load(mem, field(base)))));
                self.add(format!("Store {mem:?}"), &[ty], &|build, values, base| {
                    build.effect(Op::Store(mem, field(base), values[0]));
                    None
                });
                continue;
            }
            for masked in [false, true] {
                self.add(format!("LoadVector {mem:?} {ty:?} {masked}"), &[ty.compared()], &|build, values, base| {
                    let mask = masked.then(|| values[0]);
                    Some(build.value_of(ty, Op::LoadVector { mem, addr: field(base), mask }))
                });
                self.add(format!("StoreVector {mem:?} {ty:?} {masked}"), &[ty.compared(), ty], &|build, values, base| {
                    let mask = masked.then(|| values[0]);
                    build.effect(Op::StoreVector { mem, addr: field(base), value: values[1], mask });
                    None
                });
            }
        }
        if self.isa.caps().has_piece_loads && u32::from(ty.lanes()) * elem.bytes() > 16 {
            for step in [16, 24, -8] {
                self.add(format!("LoadPieces {ty:?} {step}"), &[], &|build, _, base| {
                    let disp = if step < 0 { 64 } else { 0 };
                    let pieces = (u32::from(ty.lanes()) * elem.bytes() / 16).cast_signed();
                    let places = (0..pieces).map(|piece| Addr::offset(base, FIELD + disp + piece * step)).collect();
                    Some(build.value_of(ty, Op::LoadPieces(elem, places)))
                });
            }
        }
        if ty.lanes() > 1 {
            for index in [Elem::I32, Elem::I64] {
                let whole = Type::Vector(index, ty.lanes());
                let half = Type::Vector(index, ty.lanes() / 2);
                if self.has(whole) {
                    self.gathers(ty, elem, whole, 1);
                }
                if index == Elem::I64 && self.has(half) {
                    self.gathers(ty, elem, half, 2);
                }
            }
        } else if ty.is_general() {
            self.atomics(ty, elem);
        }
    }

    fn gathers(&mut self, ty: Type, elem: Elem, of: Type, count: usize) {
        for (masked, scale, has_base) in [(false, 1, true), (true, 4, true), (true, 8, true), (true, 1, false)] {
            if !has_base && of.elem() == Some(Elem::I32) {
                continue;
            }
            let index = |build: &mut Builder, values: &[Value], base: Value| -> SmallVec<[Value; 2]> {
                let values = values[2..].iter().map(|&value| {
                    let most = constant(build, of, 63);
                    let value = build.value_of(of, Op::Bin(BinOp::And, value, most));
                    if has_base {
                        return value;
                    }
                    let base = build.value_of(of, Op::Splat(base));
                    build.value_of(of, Op::Bin(BinOp::Add, value, base))
                });
                values.collect()
            };
            let base_of = |build: &mut Builder, base: Value| {
                let start = constant(build, Type::I64, FIELD as u64);
                has_base.then(|| build.value_of(Type::I64, Op::Bin(BinOp::Add, base, start)))
            };
            let operands: Vec<Type> = [ty.compared(), ty].into_iter().chain(std::iter::repeat_n(of, count)).collect();
            let name = format!("{ty:?} by {count} of {of:?}, masked {masked}, scale {scale}, base {has_base}");
            self.add(format!("Gather {name}"), &operands, &|build, values, base| {
                let (index, base) = (index(build, values, base), base_of(build, base));
                Some(build.value_of(ty, Op::Gather { elem, base, index, scale, mask: masked.then(|| values[0]) }))
            });
            if self.isa.caps().has_scatter {
                self.add(format!("Scatter {name}"), &operands, &|build, values, base| {
                    let (index, base) = (index(build, values, base), base_of(build, base));
                    build.effect(Op::Scatter { elem, base, index, scale, value: values[1], mask: masked.then(|| values[0]) });
                    None
                });
            }
        }
    }

    fn atomics(&mut self, ty: Type, elem: Elem) {
        let (mem, place) = (Mem::Elem(elem), |base| Addr::offset(base, FIELD));
        self.add(format!("AtomicAdd {ty:?}"), &[ty], &|build, values, base| {
            Some(build.value_of(ty, Op::AtomicAdd(mem, place(base), values[0])))
        });
        self.add(format!("AtomicExchange {ty:?}"), &[ty], &|build, values, base| {
            build.effect(Op::Fence);
            build.effect(Op::PrefetchWrite(place(base)));
            Some(build.value_of(ty, Op::AtomicExchange(mem, place(base), values[0])))
        });
        self.add(format!("AtomicCompareExchange {ty:?}"), &[ty, ty], &|build, values, base| {
            let old = build.value_of(ty, Op::Load(mem, place(base)));
            let _ = build.value_of(ty, Op::AtomicCompareExchange(mem, place(base), old, values[1]));
            Some(build.value_of(ty, Op::AtomicCompareExchange(mem, place(base), values[0], values[1])))
        });
    }

    fn conversions(&mut self) {
        use CastOp::{Bitcast, FToF, FToS, FToU, SExt, SToF, Trunc, UToF, ZExt};
        use Elem::{F32, F64, I32, I64};
        let same: [(Elem, Elem, &[CastOp]); 4] = [
            (I32, F32, &[Bitcast, SToF, UToF]),
            (F32, I32, &[Bitcast, FToS, FToU]),
            (I64, F64, &[Bitcast, SToF, UToF]),
            (F64, I64, &[Bitcast, FToS, FToU]),
        ];
        let wider: [(Elem, Elem, &[CastOp]); 4] =
            [(I32, I64, &[SExt, ZExt]), (I32, F64, &[SToF, UToF]), (F32, F64, &[FToF]), (F32, I64, &[FToS, FToU])];
        let narrower: [(Elem, Elem, &[CastOp]); 4] =
            [(I64, I32, &[Trunc]), (F64, I32, &[FToS, FToU]), (F64, F32, &[FToF]), (I64, F32, &[SToF, UToF])];
        let scalars = same.iter().chain(&wider).chain(&narrower);
        for (from, to, op) in scalars.flat_map(|(from, to, ops)| ops.iter().map(|op| (*from, *to, *op))) {
            self.op(format!("{op:?}"), &[Type::Scalar(from)], Type::Scalar(to), |values| Op::Cast(op, values[0]));
        }
        let converts = self.isa.caps().has_i64_conversions;
        let can =
            |from: Elem, to: Elem, op: CastOp| converts || op == Bitcast || !(from == I64 && to.is_float() || to == I64 && from.is_float());
        for ty in all_types(self.isa) {
            let Type::Vector(to, lanes) = ty else { continue };
            let to_this = |list: &[(Elem, Elem, &'static [CastOp]); 4]| -> Vec<(Elem, CastOp)> {
                let fitting = list.iter().filter(|(_, other, _)| *other == to);
                fitting.flat_map(|(from, _, ops)| ops.iter().map(|op| (*from, *op))).filter(|(from, op)| can(*from, to, *op)).collect()
            };
            for (from, op) in to_this(&same) {
                self.op(format!("{op:?}"), &[Type::Vector(from, lanes)], ty, |values| Op::Cast(op, values[0]));
            }
            for (from, op) in to_this(&wider) {
                for times in [1, 2, 4] {
                    let whole = Type::Vector(from, lanes * times);
                    let parts = if self.has(whole) { times } else { 0 };
                    for part in 0..parts {
                        self.op(format!("Widen {op:?} part {part}"), &[whole], ty, |values| Op::Widen(op, values[0], part));
                    }
                }
            }
            for (from, op) in to_this(&narrower) {
                for (count, source) in [(1, Type::Vector(from, lanes)), (2, Type::Vector(from, lanes / 2))] {
                    if self.has(source) {
                        let operands = vec![source; count];
                        self.op(format!("Narrow {op:?}"), &operands, ty, |values| Op::Narrow(op, SmallVec::from_slice(values)));
                    }
                }
            }
        }
    }
}
