//! Checks that the machine code of some functions contains the expected instructions.

use wgcl_codegen::vir::{
    Addr, BinOp, Builder, CastOp, CmpOp, Cond, Elem, Func, Mem, Module, Op, Target, Terminator, TernOp, Type, UnOp, Value,
};
use wgcl_codegen::{CodegenError, Isa, compile, disassemble};

/// Builds a function that stores the value that `make` returns. The parameter of the function is an address.
fn function(ty: Type, make: impl FnOnce(&mut Builder, Value) -> Value) -> Module {
    let mut build = Builder::new("f", vec![Type::I64], None);
    let base = build.value_of(Type::I64, Op::Param(0));
    let value = make(&mut build, base);
    let mem = Mem::Elem(ty.elem().unwrap());
    build.effect(Op::StoreVector { mem, addr: Addr::of(base), value, mask: None });
    build.end(Terminator::Return(None));
    Module { functions: vec![build.finish()] }
}

fn load(build: &mut Builder, ty: Type, base: Value, disp: i32) -> Value {
    build.value_of(ty, Op::LoadVector { mem: Mem::Elem(ty.elem().unwrap()), addr: Addr::offset(base, disp), mask: None })
}

fn text(module: &Module, isa: Isa) -> String {
    disassemble(&compile(module, isa).unwrap(), isa)
}

fn count(text: &str, what: &str) -> usize {
    text.lines().filter(|line| line.contains(what)).count()
}

const F32X16: Type = Type::Vector(Elem::F32, 16);
const I32X16: Type = Type::Vector(Elem::I32, 16);
const F32X8: Type = Type::Vector(Elem::F32, 8);

#[test]
fn a_broadcast_element_in_memory_is_an_operand() {
    let module = function(F32X16, |build, base| {
        let scalar = build.value_of(Type::F32, Op::Load(Mem::Elem(Elem::F32), Addr::offset(base, 4)));
        let all = build.value_of(F32X16, Op::Splat(scalar));
        let other = load(build, F32X16, base, 64);
        let root = build.value_of(F32X16, Op::Un(UnOp::Sqrt, other));
        build.value_of(F32X16, Op::Bin(BinOp::FMul, all, root))
    });
    let text = text(&module, Isa::AVX512);
    assert_eq!((count(&text, "vmulps 4(%rdi){1to16}"), count(&text, "broadcast")), (1, 0), "{text}");
}

#[test]
fn a_load_is_not_folded_across_a_store() {
    let module = function(F32X8, |build, base| {
        let early = load(build, F32X8, base, 32);
        build.effect(Op::StoreVector { mem: Mem::Elem(Elem::F32), addr: Addr::offset(base, 32), value: early, mask: None });
        let (a, b) = (load(build, F32X8, base, 64), load(build, F32X8, base, 96));
        let sum = build.value_of(F32X8, Op::Bin(BinOp::FAdd, a, b));
        let late = load(build, F32X8, base, 32);
        build.effect(Op::StoreVector { mem: Mem::Elem(Elem::F32), addr: Addr::offset(base, 32), value: sum, mask: None });
        build.value_of(F32X8, Op::Bin(BinOp::FAdd, sum, late))
    });
    let text = text(&module, Isa::AVX2);
    assert_eq!((count(&text, "vaddps 0x"), count(&text, "vmovups 0x20(%rdi)")), (1, 2), "{text}");
}

#[test]
fn an_operation_that_select_uses_is_masked() {
    let module = function(F32X16, |build, base| {
        let [a, b, c] = [64, 128, 192].map(|disp| load(build, F32X16, base, disp));
        let less = build.value_of(Type::mask(16, 32), Op::Cmp(CmpOp::FLt, a, c));
        let mask = build.value_of(Type::I32, Op::MaskBits(less));
        let mask = build.value_of(Type::mask(16, 32), Op::MaskOf(mask));
        let differs = build.value_of(Type::mask(16, 32), Op::Cmp(CmpOp::FNe, a, b));
        let both = build.value_of(Type::mask(16, 32), Op::Bin(BinOp::And, mask, differs));
        let sum = build.value_of(F32X16, Op::Tern(TernOp::Fma, a, b, c));
        build.value_of(F32X16, Op::Select(both, sum, c))
    });
    let text = text(&module, Isa::AVX512);
    assert_eq!((count(&text, "vfmadd231ps"), count(&text, "blend"), count(&text, "kand")), (1, 0, 0), "{text}");
}

#[test]
fn bitwise_operations_on_three_operands_are_one_instruction() {
    let module = function(I32X16, |build, base| {
        let [a, b, c] = [64, 128, 192].map(|disp| load(build, I32X16, base, disp));
        let not = build.value_of(I32X16, Op::Un(UnOp::Not, a));
        let both = build.value_of(I32X16, Op::Bin(BinOp::And, b, c));
        build.value_of(I32X16, Op::Bin(BinOp::Xor, both, not))
    });
    let text = text(&module, Isa::AVX512);
    assert_eq!((count(&text, "vpternlogd"), count(&text, "vpand"), count(&text, "vpxor")), (1, 0, 0), "{text}");
}

#[test]
fn nested_logic_of_three_values_is_one_instruction() {
    let module = function(I32X16, |build, base| {
        let [a, b, c] = [64, 128, 192].map(|disp| {
            let value = load(build, I32X16, base, disp);
            build.value_of(I32X16, Op::Bin(BinOp::Add, value, value))
        });
        // The choice function of MD5, and a majority function. Each of them is one `vpternlogd`.
        let differ = build.value_of(I32X16, Op::Bin(BinOp::Xor, b, c));
        let chosen = build.value_of(I32X16, Op::Bin(BinOp::And, a, differ));
        let choice = build.value_of(I32X16, Op::Bin(BinOp::Xor, c, chosen));
        let [both, first, second] = [(a, b), (a, c), (b, c)].map(|(x, y)| build.value_of(I32X16, Op::Bin(BinOp::And, x, y)));
        let some = build.value_of(I32X16, Op::Bin(BinOp::Or, both, first));
        let most = build.value_of(I32X16, Op::Bin(BinOp::Or, some, second));
        build.value_of(I32X16, Op::Bin(BinOp::Add, choice, most))
    });
    let text = text(&module, Isa::AVX512);
    assert_eq!((count(&text, "vpternlogd"), count(&text, "vpand"), count(&text, "vpxor"), count(&text, "vpor")), (2, 0, 0, 0), "{text}");
}

#[test]
fn a_comparison_is_folded_into_its_branch() {
    let mut build = Builder::new("f", vec![Type::I64, Type::I64], Some(Type::I64));
    let [a, b] = [0, 1].map(|index| build.value_of(Type::I64, Op::Param(index)));
    let less = build.value_of(Type::I32, Op::Cmp(CmpOp::ULt, a, b));
    let (then, els) = (build.block(), build.block());
    build.end(Terminator::Branch(Cond::NonZero(less), Target::new(then, []), Target::new(els, [])));
    for (block, value) in [(then, a), (els, b)] {
        build.enter(block);
        build.end(Terminator::Return(Some(value)));
    }
    let text = text(&Module { functions: vec![build.finish()] }, Isa::SSE42);
    assert_eq!((count(&text, "cmp %rsi,%rdi"), count(&text, "jae"), count(&text, "set"), count(&text, "jmp")), (1, 1, 0, 0), "{text}");
}

/// Builds a function that calls function number `callee`.
fn calls(name: &str, callee: u32) -> wgcl_codegen::vir::Function {
    let mut build = Builder::new(name, Vec::new(), None);
    build.effect(Op::Call(Func(callee), [].into_iter().collect()));
    build.end(Terminator::Return(None));
    build.finish()
}

#[test]
fn the_stack_size_includes_the_deepest_calls() {
    let mut leaf = Builder::new("leaf", Vec::new(), None);
    leaf.end(Terminator::Return(None));
    let functions = vec![calls("f", 1), calls("g", 2), leaf.finish()];
    let code = compile(&Module { functions }, Isa::SSE42).unwrap();
    assert_eq!(code.stack, 3 * 16);
    let circle = Module { functions: vec![calls("f", 1), calls("g", 0)] };
    assert!(matches!(compile(&circle, Isa::SSE42), Err(CodegenError::Recursion(_))));
}

#[test]
fn quotient_and_remainder_share_one_division() {
    let mut build = Builder::new("f", vec![Type::I64, Type::I64], Some(Type::I64));
    let [a, b] = [0, 1].map(|index| build.value_of(Type::I64, Op::Param(index)));
    let rest = build.value_of(Type::I64, Op::Bin(BinOp::URem, a, b));
    let quotient = build.value_of(Type::I64, Op::Bin(BinOp::UDiv, a, b));
    let sum = build.value_of(Type::I64, Op::Bin(BinOp::Add, rest, quotient));
    build.end(Terminator::Return(Some(sum)));
    let text = text(&Module { functions: vec![build.finish()] }, Isa::AVX2);
    assert_eq!(count(&text, "div"), 1, "{text}");
}

#[test]
fn sums_of_addresses_fold_into_accesses() {
    let mut build = Builder::new("f", vec![Type::I64, Type::I32], None);
    let base = build.value_of(Type::I64, Op::Param(0));
    let index = build.value_of(Type::I32, Op::Param(1));
    let one = build.value_of(Type::I32, Op::Const(1));
    let index = build.value_of(Type::I32, Op::Bin(BinOp::Add, index, one));
    let wide = build.value_of(Type::I64, Op::Cast(CastOp::ZExt, index));
    let two = build.value_of(Type::I64, Op::Const(2));
    let offset = build.value_of(Type::I64, Op::Bin(BinOp::Shl, wide, two));
    let place = build.value_of(Type::I64, Op::Bin(BinOp::Add, base, offset));
    let value = load(&mut build, F32X8, place, 0);
    let twice = build.value_of(F32X8, Op::Bin(BinOp::FAdd, value, value));
    build.effect(Op::StoreVector { mem: Mem::Elem(Elem::F32), addr: Addr::offset(place, 32), value: twice, mask: None });
    build.end(Terminator::Return(None));
    let text = text(&Module { functions: vec![build.finish()] }, Isa::AVX2);
    assert_eq!((count(&text, "(%rdi,%rsi,4)"), count(&text, "shl"), count(&text, "mov %esi")), (2, 0, 0), "{text}");
}

#[test]
fn an_inverted_comparison_is_one_comparison() {
    let module = function(I32X16, |build, base| {
        let [a, b] = [64, 128].map(|disp| load(build, I32X16, base, disp));
        let at_least = build.value_of(Type::mask(16, 32), Op::Cmp(CmpOp::UGe, a, b));
        let not = build.value_of(Type::mask(16, 32), Op::Un(UnOp::Not, at_least));
        build.value_of(I32X16, Op::Select(not, a, b))
    });
    let text = text(&module, Isa::AVX512);
    assert_eq!((count(&text, "vpcmpltud"), count(&text, "knot")), (1, 0), "{text}");
}

#[test]
fn a_redundant_computation_is_removed() {
    let module = function(I32X16, |build, base| {
        let x = load(build, I32X16, base, 64);
        let (one, two) = (build.value_of(I32X16, Op::Bin(BinOp::Add, x, x)), build.value_of(I32X16, Op::Bin(BinOp::Add, x, x)));
        let next = build.block();
        build.end(Terminator::Jump(Target::new(next, [])));
        build.enter(next);
        let three = build.value_of(I32X16, Op::Bin(BinOp::Add, x, x));
        let product = build.value_of(I32X16, Op::Bin(BinOp::Mul, one, two));
        build.value_of(I32X16, Op::Bin(BinOp::Sub, product, three))
    });
    assert_eq!(count(&text(&module, Isa::AVX512), "vpaddd"), 1);
}

#[test]
fn a_computation_in_one_branch_is_not_reused_in_the_other() {
    let mut build = Builder::new("f", vec![Type::I64], None);
    let base = build.value_of(Type::I64, Op::Param(0));
    let x = build.value_of(Type::I32, Op::Load(Mem::Elem(Elem::I32), Addr::of(base)));
    let ways = [build.block(), build.block()];
    build.end(Terminator::Branch(Cond::NonZero(x), Target::new(ways[0], []), Target::new(ways[1], [])));
    for (place, way) in (1..).zip(ways) {
        build.enter(way);
        let product = build.value_of(Type::I32, Op::Bin(BinOp::Mul, x, x));
        build.effect(Op::Store(Mem::Elem(Elem::I32), Addr::offset(base, 4 * place), product));
        build.end(Terminator::Return(None));
    }
    let module = Module { functions: vec![build.finish()] };
    assert_eq!(count(&text(&module, Isa::SSE42), "imul"), 2);
}

#[test]
fn a_shuffle_with_a_simple_pattern_is_one_instruction() {
    let shuffled = |lanes: [u8; 8]| {
        let module = function(F32X8, |build, base| {
            let (a, b) = (load(build, F32X8, base, 32), load(build, F32X8, base, 64));
            build.value_of(F32X8, Op::Shuffle(a, b, lanes.into()))
        });
        text(&module, Isa::AVX2)
    };
    let one = |lanes, name| {
        let text = shuffled(lanes);
        let all = ["vshuf", "vunpck", "vperm", "vblend", "vinsert"].map(|name| count(&text, name)).iter().sum::<usize>();
        assert_eq!((all, count(&text, name)), (1, 1), "{text}");
    };
    one([0, 2, 8, 10, 4, 6, 12, 14], "vshufps");
    one([0, 8, 1, 9, 4, 12, 5, 13], "vunpcklps");
    one([2, 10, 3, 11, 6, 14, 7, 15], "vunpckhps");
    one([0, 1, 2, 3, 8, 9, 10, 11], "vinserti128");
    one([4, 5, 6, 7, 12, 13, 14, 15], "vperm2f128");
    one([0, 9, 2, 11, 4, 13, 6, 15], "vblendps");
    assert_eq!(count(&shuffled([7, 8, 0, 3, 2, 9, 14, 1]), "vperm"), 2);
}
