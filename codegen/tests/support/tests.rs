//! Tests of the evaluator.

use smallvec::smallvec;
use wgcl_codegen::vir::{
    Addr, BinOp, Builder, CastOp, CmpOp, Cond, Elem, Func, Mem, Module, Op, Target, Terminator, Type, UnOp, Value, verify,
};

use super::{Fault, Lane, Machine, Memory, State};

const BASE: u64 = 0x1000;

/// Builds a function and runs it. Its parameter is the address of 64 bytes with the values 0, 1, 2 and so on. Returns
/// the result and the final memory.
fn run(build: impl FnOnce(&mut Builder, Value)) -> (Result<Option<Lane>, Fault>, Memory) {
    let mut builder = Builder::new("f", vec![Type::I64], Some(Type::I64));
    let base = builder.value_of(Type::I64, Op::Param(0));
    build(&mut builder, base);
    let module = Module { functions: vec![builder.finish()] };
    assert_eq!(verify(&module), Ok(()));
    let bytes: Vec<u8> = (0..64).collect();
    let mut memory = Memory::new(BASE, &bytes);
    let helpers = |address: u64, args: &[u64]| (address == 7).then(|| args.iter().sum());
    let result = Machine::new(&module, &mut memory, &helpers, 1000).call(Func(0), &[BASE]);
    (result, memory)
}

/// Ends the function with the return of a scalar.
fn return_scalar(builder: &mut Builder, value: Value) {
    let wide = match builder.ty(value) {
        Type::I32 => builder.value_of(Type::I64, Op::Cast(CastOp::ZExt, value)),
        Type::F64 => builder.value_of(Type::I64, Op::Cast(CastOp::Bitcast, value)),
        _ => value,
    };
    builder.end(Terminator::Return(Some(wide)));
}

/// The result of an operation on two constants.
fn of_two(op: BinOp, ty: Type, a: u64, b: u64) -> Result<Option<u64>, Fault> {
    let (result, _) = run(|builder, _| {
        let a = builder.value_of(ty, Op::Const(a));
        let b = builder.value_of(ty, Op::Const(b));
        let value = builder.value_of(ty, Op::Bin(op, a, b));
        return_scalar(builder, value);
    });
    result.map(|lane| lane.and_then(Lane::exact))
}

#[test]
fn integers_are_as_wide_as_their_type() {
    let i32_of = |op, a, b| of_two(op, Type::I32, a, b);
    assert_eq!(i32_of(BinOp::Add, 0xffff_ffff, 2), Ok(Some(1)));
    assert_eq!(i32_of(BinOp::AShr, 0x8000_0000, 31), Ok(Some(0xffff_ffff)));
    assert_eq!(i32_of(BinOp::Shl, 1, 32), Ok(None));
    assert_eq!(i32_of(BinOp::Rotl, 0x8000_0001, 33), Ok(Some(3)));
    assert_eq!(i32_of(BinOp::MulHiS, 0xffff_ffff, 0xffff_ffff), Ok(Some(0)));
    assert_eq!(i32_of(BinOp::MulHiU, 0xffff_ffff, 0xffff_ffff), Ok(Some(0xffff_fffe)));
    assert_eq!(i32_of(BinOp::SDiv, 0x8000_0000, 0xffff_ffff), Err(Fault::Trap));
    assert_eq!(of_two(BinOp::SRem, Type::I64, (-7_i64) as u64, 4), Ok(Some((-3_i64) as u64)));
    assert_eq!(of_two(BinOp::MulWideS, Type::I64, 0x1_ffff_ffff, 5), Ok(Some((-5_i64) as u64)));
    assert_eq!(of_two(BinOp::MulHiS, Type::I64, u64::MAX, 1), Ok(Some(u64::MAX)));
}

#[test]
fn minima_of_a_nan_are_the_second_operand() {
    let (nan, one) = (f64::NAN.to_bits() | 5, 1_f64.to_bits());
    assert_eq!(of_two(BinOp::FMin, Type::F64, nan, one), Ok(Some(one)));
    assert_eq!(of_two(BinOp::FMin, Type::F64, one, nan), Ok(Some(nan)));
    assert_eq!(of_two(BinOp::FMax, Type::F64, (-0_f64).to_bits(), 0), Ok(Some(0)));
    assert_eq!(of_two(BinOp::FAdd, Type::F64, nan, one), Ok(None));
}

#[test]
fn conversions_that_do_not_fit_are_not_specified() {
    let converted = |value: f64, op| {
        let (result, _) = run(|builder, _| {
            let value = builder.value_of(Type::F64, Op::Const(value.to_bits()));
            let whole = builder.value_of(Type::I32, Op::Cast(op, value));
            return_scalar(builder, whole);
        });
        result.expect("it runs").and_then(Lane::exact)
    };
    assert_eq!(converted(-0.9, CastOp::FToU), Some(0));
    assert_eq!(converted(-1.0, CastOp::FToU), None);
    assert_eq!(converted(4_294_967_295.9, CastOp::FToU), Some(0xffff_ffff));
    assert_eq!(converted(-2_147_483_648.9, CastOp::FToS), Some(0x8000_0000));
    assert_eq!(converted(2_147_483_648.0, CastOp::FToS), None);
    assert_eq!(converted(f64::NAN, CastOp::FToS), None);
}

#[test]
fn inactive_lanes_do_not_access_memory() {
    let (result, memory) = run(|builder, base| {
        let bits = builder.value_of(Type::I32, Op::Const(0b0101));
        let mask = builder.value_of(Type::mask(4, 32), Op::MaskOf(bits));
        let ty = Type::Vector(Elem::I32, 4);
        // The last two lanes of `outside` are outside the memory, but the third lane is active.
        let outside = Addr::offset(base, 56);
        let inside = Addr::offset(base, 52);
        let loaded = builder.value_of(ty, Op::LoadVector { mem: Mem::Elem(Elem::I32), addr: inside, mask: Some(mask) });
        builder.effect(Op::StoreVector { mem: Mem::Elem(Elem::I32), addr: Addr::of(base), value: loaded, mask: None });
        builder.effect(Op::StoreVector { mem: Mem::I8, addr: Addr::offset(base, 60), value: loaded, mask: Some(mask) });
        let value = builder.value_of(Type::I64, Op::Load(Mem::Elem(Elem::I64), Addr::of(base)));
        let last = builder.value_of(ty, Op::LoadVector { mem: Mem::Elem(Elem::I32), addr: outside, mask: Some(mask) });
        builder.effect(Op::StoreVector { mem: Mem::Elem(Elem::I32), addr: Addr::of(base), value: last, mask: None });
        return_scalar(builder, value);
    });
    assert_eq!(result, Err(Fault::Outside(BASE + 64)));
    assert_eq!(memory.unknown(), 8);
    let mut expected: Vec<u8> = (0..64).collect();
    expected[..16].copy_from_slice(&[52, 53, 54, 55, 0, 0, 0, 0, 60, 61, 62, 63, 9, 9, 9, 9]);
    (expected[60], expected[62]) = (52, 60);
    assert_eq!(memory.difference(&expected), None);
    expected[61] = 0;
    assert_eq!(memory.difference(&expected), Some((61, "0x3d, found 0x00".to_owned())));
}

#[test]
fn all_nans_in_memory_are_equal() {
    let (result, memory) = run(|builder, base| {
        let zero = builder.value_of(Type::F32, Op::Const(0));
        let nan = builder.value_of(Type::F32, Op::Bin(BinOp::FDiv, zero, zero));
        builder.effect(Op::Store(Mem::Elem(Elem::F32), Addr::of(base), nan));
        builder.effect(Op::Store(Mem::Elem(Elem::F32), Addr::offset(base, 8), nan));
        let byte = builder.value_of(Type::I32, Op::Const(0x300));
        builder.effect(Op::Store(Mem::I8, Addr::offset(base, 11), byte));
        let about = builder.value_of(Type::F32, Op::Const(u64::from(3_f32.to_bits())));
        let about = builder.value_of(Type::F32, Op::Un(UnOp::RecipApprox, about));
        builder.effect(Op::Store(Mem::Elem(Elem::F32), Addr::offset(base, 16), about));
        let same = builder.value_of(Type::I32, Op::Cmp(CmpOp::FEq, nan, nan));
        return_scalar(builder, same);
    });
    assert_eq!(result.map(|lane| lane.and_then(Lane::exact)), Ok(Some(0)));
    let mut found: Vec<u8> = (0..64).collect();
    found[..4].copy_from_slice(&0xffc1_2345_u32.to_le_bytes());
    found[8..12].copy_from_slice(&[1, 2, 3, 0]);
    found[16..20].copy_from_slice(&0.33335_f32.to_le_bytes());
    assert_eq!(memory.difference(&found), None);
    found[3] = 0;
    assert_eq!(memory.difference(&found).map(|(at, _)| at), Some(0));
    found[3] = 0xff;
    found[16..20].copy_from_slice(&0.3335_f32.to_le_bytes());
    assert_eq!(memory.difference(&found).map(|(at, _)| at), Some(16));
}

#[test]
fn unspecified_conditions_fail() {
    let (result, _) = run(|builder, base| {
        let undef = builder.value_of(Type::mask(8, 32), Op::Undef);
        let (one, other) = (builder.block(), builder.block());
        let ends = [Target::new(one, []), Target::new(other, [])];
        builder.end(Terminator::Branch(Cond::Any(undef), ends[0].clone(), ends[1].clone()));
        builder.enter(one);
        builder.end(Terminator::Return(Some(base)));
        builder.enter(other);
        builder.end(Terminator::Return(Some(base)));
    });
    assert_eq!(result, Err(Fault::Unknown("a condition")));
}

#[test]
fn block_parameters_are_assigned_in_parallel() {
    // Swaps two numbers three times, then calls a function.
    let (result, _) = run(|builder, _| {
        let constant = |builder: &mut Builder, bits| builder.value_of(Type::I64, Op::Const(bits));
        let (one, two, zero) = (constant(builder, 1), constant(builder, 2), constant(builder, 0));
        let (head, out) = (builder.block(), builder.block());
        let params: Vec<Value> = (0..3).map(|_| builder.block_param(head, Type::I64)).collect();
        builder.end(Terminator::Jump(Target::new(head, [zero, one, two])));
        builder.enter(head);
        let next = builder.value_of(Type::I64, Op::Bin(BinOp::Add, params[0], one));
        let three = constant(builder, 3);
        let again = Target::new(head, [next, params[2], params[1]]);
        builder.end(Terminator::Branch(Cond::Cmp(CmpOp::ULt, params[0], three), again, Target::new(out, [])));
        builder.enter(out);
        let ten = constant(builder, 10);
        let high = builder.value_of(Type::I64, Op::Bin(BinOp::Mul, params[1], ten));
        let address = constant(builder, 7);
        let sum = builder.value_of(Type::I64, Op::CallHelper(address, smallvec![high, params[2]]));
        return_scalar(builder, sum);
    });
    assert_eq!(result, Ok(Some(Lane { bits: 21, state: State::Known })));
}
