//! Element-wise operations on random and special values.

use crate::common::{ALL, device, noise};
use crate::execute_for;
use crate::kernels::{Text, elementwise, size_of};
use wgcl_api::backend::Device;
use wgcl_compiler::target::{Emulated, Target};

/// Runs an element-wise kernel on random and special values, with all settings of the backend. Compares each result
/// with `expected` where the result is specified.
fn check_elementwise(ty: &str, ops: &[(&str, &str)], special: &[u64], expected: impl Fn(usize, u64, u64) -> Option<Vec<u8>>) {
    check_elementwise_for(Target::clone, ty, ops, special, expected);
}

/// Like [`check_elementwise`], for a target that `target` derives from the device's target.
fn check_elementwise_for(
    target: impl Fn(&Target) -> Target,
    ty: &str,
    ops: &[(&str, &str)],
    special: &[u64],
    expected: impl Fn(usize, u64, u64) -> Option<Vec<u8>>,
) {
    let size = size_of(ty) as usize;
    let items = 256;
    let mut inputs = [noise(size * items, 7), noise(size * items, 99)];
    for (i, &a) in special.iter().enumerate() {
        for (j, &b) in special.iter().enumerate() {
            let at = (i * special.len() + j) * size;
            if at + size <= inputs[0].len() {
                inputs[0][at..at + size].copy_from_slice(&a.to_le_bytes()[..size]);
                inputs[1][at..at + size].copy_from_slice(&b.to_le_bytes()[..size]);
            }
        }
    }
    let total: usize = ops.iter().map(|(ty, _)| size_of(ty).next_multiple_of(16) as usize).sum();
    let text = elementwise(ty, ops);
    for settings in ALL {
        let device = device(settings);
        let buffers = [inputs[0].clone(), inputs[1].clone(), vec![0; total * items]];
        let out = execute_for(&device, target(device.target()), &text, &buffers, &[], items as u64, 64);
        for item in 0..items {
            let bits = |input: &[u8]| {
                let mut bytes = [0; 8];
                bytes[..size].copy_from_slice(&input[item * size..(item + 1) * size]);
                u64::from_le_bytes(bytes)
            };
            let (a, b) = (bits(&inputs[0]), bits(&inputs[1]));
            let mut at = item * total;
            for (k, (result, rhs)) in ops.iter().enumerate() {
                let got = &out[2][at..at + size_of(result) as usize];
                if let Some(want) = expected(k, a, b) {
                    assert_eq!(got, &want[..got.len()], "{ty}: {rhs} of {a:#x} and {b:#x} on {settings:?}");
                }
                at += size_of(result).next_multiple_of(16) as usize;
            }
        }
    }
}

/// Returns the result of the integer operation `name` on values of `bits` bits.
fn integer(name: &str, bits: u32, a: u64, b: u64) -> u64 {
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let sign = |x: u64| ((x << (64 - bits)) as i64 >> (64 - bits)) as i128;
    let (sa, sb, ua, ub) = (sign(a), sign(b), u128::from(a), u128::from(b));
    let (least, most) = (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1);
    let amount = (b % u64::from(bits)) as u32;
    let value: i128 = match name {
        "add" => sa + sb,
        "sub" => sa - sb,
        "mul" => sa.wrapping_mul(sb),
        // The result is unspecified for a zero divisor or an overflowing quotient. The compiler replaces the divisor by
        // 1 in these cases.
        "sdiv" if b == 0 || (sa == least && sb == -1 && bits >= 32) => sa,
        "srem" if b == 0 || (sa == least && sb == -1 && bits >= 32) => 0,
        "udiv" if b == 0 => ua as i128,
        "urem" if b == 0 => 0,
        "sdiv" => sa / sb,
        "srem" => sa % sb,
        "udiv" => (ua / ub) as i128,
        "urem" => (ua % ub) as i128,
        "shl" => (ua << amount) as i128,
        "lshr" => (ua >> amount) as i128,
        "ashr" => sa >> amount,
        "and" => sa & sb,
        "or" => sa | sb,
        "xor" => sa ^ sb,
        "smin" => sa.min(sb),
        "smax" => sa.max(sb),
        "umin" => ua.min(ub) as i128,
        "umax" => ua.max(ub) as i128,
        "umulhi" => ((ua * ub) >> bits) as i128,
        "smulhi" => (sa * sb) >> bits,
        "saddsat" => (sa + sb).clamp(least, most),
        "ssubsat" => (sa - sb).clamp(least, most),
        "uaddsat" => (ua + ub).min(u128::from(mask)) as i128,
        "usubsat" => ua.saturating_sub(ub) as i128,
        "rotate" => (ua << amount | ua >> ((bits - amount) % bits)) as i128,
        "math.clz" => i128::from((a << (64 - bits) | ((1_u128 << (64 - bits)) - 1) as u64).leading_zeros().min(bits)),
        "math.ctz" => i128::from((ua | 1 << bits).trailing_zeros()),
        "math.popcount" => i128::from(a.count_ones()),
        "math.reverse_bits" => i128::from(a.reverse_bits() >> (64 - bits)),
        "math.sabs" => sa.abs(),
        "not" => !sa,
        "neg" => -sa,
        other => panic!("{other}"),
    };
    value as u64 & mask
}

const BINARY: [&str; 27] = [
    "add", "sub", "mul", "sdiv", "srem", "udiv", "urem", "shl", "lshr", "ashr", "and", "or", "xor", "smin", "smax", "umin", "umax",
    "umulhi", "smulhi", "saddsat", "ssubsat", "uaddsat", "usubsat", "rotate", "sub", "mul", "add",
];
const UNARY: [&str; 7] = ["math.clz", "math.ctz", "math.popcount", "math.reverse_bits", "math.sabs", "not", "neg"];

fn check_integers(bits: u32) {
    let ty = format!("i{bits}");
    let rhs: Vec<String> = BINARY.iter().map(|name| format!("{name} A, B")).chain(UNARY.iter().map(|name| format!("{name} A"))).collect();
    let ops: Vec<(&str, &str)> = rhs.iter().map(|rhs| (ty.as_str(), rhs.as_str())).collect();
    let top = 1_u64 << (bits - 1);
    let special = [0, 1, 2, 7, top - 1, top, top + 1, top | (top - 1), top >> 1];
    check_elementwise(&ty, &ops, &special, |k, a, b| {
        let name = BINARY.iter().chain(&UNARY).nth(k).unwrap();
        Some(integer(name, bits, a, b).to_le_bytes().to_vec())
    });
}

#[test]
fn integers_of_8_bits() {
    check_integers(8);
}

#[test]
fn integers_of_16_bits() {
    check_integers(16);
}

#[test]
fn integers_of_32_bits() {
    check_integers(32);
}

#[test]
fn integers_of_64_bits() {
    check_integers(64);
}

/// Bit patterns of 32-bit floats: zeros, denormals, ones, large and small numbers, infinities, NaN.
const FLOATS_32: [u32; 14] = [
    0,
    0x8000_0000,
    1,
    0x807f_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x3f80_0001,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x4b00_0001,
    0x3380_0000,
];

#[test]
fn floats_of_32_bits() {
    let ops = [
        ("f32", "fadd A, B"),
        ("f32", "fsub A, B"),
        ("f32", "fmul A, B"),
        ("f32", "math.fabs A"),
        ("f32", "fneg A"),
        ("f32", "math.floor A"),
        ("f32", "math.ceil A"),
        ("f32", "math.trunc A"),
        ("f32", "math.rint A"),
        ("f32", "f32 = fmin A, B; fadd $, $"),
        ("f32", "f32 = fmax A, B; fadd $, $"),
        ("i32", "bool = feq A, B; zext $"),
        ("i32", "bool = fne A, B; zext $"),
        ("i32", "bool = flt A, B; zext $"),
        ("i32", "bool = fle A, B; zext $"),
        ("i32", "bool = fgt A, B; zext $"),
        ("i32", "bool = fge A, B; sext $"),
        ("f32", "math.fma A, B, A"),
        ("f32", "math.fma A, A, B"),
        ("i32", "ftos A"),
        ("i32", "ftou A"),
        ("i16", "ftos A"),
        ("i8", "ftou A"),
        ("i64", "ftos A"),
        ("i64", "ftou A"),
        ("f64", "ftof A"),
        ("f32", "fdiv A, B"),
        ("f32", "math.sqrt A"),
    ];
    let special: Vec<u64> = FLOATS_32.iter().map(|&bits| u64::from(bits)).collect();
    check_elementwise("f32", &ops, &special, |k, a, b| {
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        let number = |value: f32| Some(value.to_bits().to_le_bytes().to_vec()).filter(|_| !value.is_nan());
        let yes = |condition: bool| Some(u32::from(condition).to_le_bytes().to_vec());
        let fits = |low: f32, high: f32| x.trunc() >= low && x.trunc() <= high;
        match k {
            0 => number(x + y),
            1 => number(x - y),
            2 => number(x * y),
            3 => number(x.abs()),
            4 => number(-x),
            5 => number(x.floor()),
            6 => number(x.ceil()),
            7 => number(x.trunc()),
            8 => number(x.round_ties_even()),
            // The sign of the result for two zeros is unspecified.
            9 => number(x.min(y) * 2.0).filter(|_| x != 0.0 || y != 0.0),
            10 => number(x.max(y) * 2.0).filter(|_| x != 0.0 || y != 0.0),
            11 => yes(x == y),
            12 => yes(x != y),
            13 => yes(x < y),
            14 => yes(x <= y),
            15 => yes(x > y),
            16 => Some((-i32::from(x >= y)).to_le_bytes().to_vec()),
            17 => number(x.mul_add(y, x)),
            18 => number(x.mul_add(x, y)),
            19 => fits(-2_147_483_648.0, 2_147_483_520.0).then(|| (x as i32).to_le_bytes().to_vec()),
            20 => fits(0.0, 4_294_967_040.0).then(|| (x as u32).to_le_bytes().to_vec()),
            21 => fits(-32768.0, 32767.0).then(|| (x as i16).to_le_bytes().to_vec()),
            22 => fits(0.0, 255.0).then(|| (x as u8).to_le_bytes().to_vec()),
            23 => fits(-9.0e18, 9.0e18).then(|| (x as i64).to_le_bytes().to_vec()),
            24 => fits(0.0, 18.0e18).then(|| (x as u64).to_le_bytes().to_vec()),
            25 => Some(f64::from(x).to_bits().to_le_bytes().to_vec()).filter(|_| !x.is_nan()),
            26 => number(x / y),
            _ => number(x.sqrt()),
        }
    });
}

#[test]
fn floats_of_64_bits() {
    let ops = [
        ("f64", "fadd A, B"),
        ("f64", "fmul A, B"),
        ("f64", "fdiv A, B"),
        ("f64", "fmin A, B"),
        ("i32", "bool = fne A, B; zext $"),
        ("f32", "ftof A"),
        ("i64", "ftos A"),
        ("f64", "math.rint A"),
        ("f64", "math.sqrt A"),
        ("f64", "math.fma A, B, A"),
        ("f64", "math.fma A, A, B"),
    ];
    let special: Vec<u64> =
        FLOATS_32.iter().map(|&bits| f64::from(f32::from_bits(bits)).to_bits()).chain([1, 0x7fef_ffff_ffff_ffff]).collect();
    let expected = |k, a, b| {
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        let number = |value: f64| Some(value.to_bits().to_le_bytes().to_vec()).filter(|_| !value.is_nan());
        match k {
            0 => number(x + y),
            1 => number(x * y),
            2 => number(x / y),
            3 => number(x.min(y)).filter(|_| x != 0.0 || y != 0.0),
            4 => Some(u32::from(x != y).to_le_bytes().to_vec()),
            5 => Some((x as f32).to_bits().to_le_bytes().to_vec()).filter(|_| !x.is_nan()),
            6 => (x.abs() < 9.0e18).then(|| (x as i64).to_le_bytes().to_vec()),
            7 => number(x.round_ties_even()),
            8 => number(x.sqrt()),
            9 => number(x.mul_add(y, x)),
            _ => number(x.mul_add(x, y)),
        }
    };
    check_elementwise("f64", &ops, &special, expected);
    // Software double, with 64-bit and with 32-bit integers.
    for int64 in [false, true] {
        check_elementwise_for(
            |target| target.clone().emulating(Emulated { int64, fp64: true, ..Emulated::default() }),
            "f64",
            &ops,
            &special,
            expected,
        );
    }
}

#[test]
fn integers_become_floats() {
    let ops = [("f32", "stof A"), ("f32", "utof A"), ("f64", "stof A"), ("f64", "utof A")];
    let special = [0, 1, 0x8000_0000_0000_0000, u64::MAX, 0x7fff_ffff_ffff_ffff, 0x0080_0000_8000_0000, 0x0100_0001_0000_0000];
    check_elementwise("i64", &ops, &special, |k, a, _| {
        Some(match k {
            0 => (a as i64 as f32).to_bits().to_le_bytes().to_vec(),
            1 => (a as f32).to_bits().to_le_bytes().to_vec(),
            2 => (a as i64 as f64).to_bits().to_le_bytes().to_vec(),
            _ => (a as f64).to_bits().to_le_bytes().to_vec(),
        })
    });
    let ops = [("f32", "stof A"), ("f32", "utof A"), ("i64", "i16 = sext A; zext $"), ("i64", "sext A"), ("f64", "stof A")];
    check_elementwise("i8", &ops, &[0, 1, 0x7f, 0x80, 0xff], |k, a, _| {
        let signed = a as u8 as i8;
        Some(match k {
            0 => f32::from(signed).to_bits().to_le_bytes().to_vec(),
            1 => (a as f32).to_bits().to_le_bytes().to_vec(),
            2 => u64::from(i16::from(signed) as u16).to_le_bytes().to_vec(),
            3 => i64::from(signed).to_le_bytes().to_vec(),
            _ => f64::from(signed).to_bits().to_le_bytes().to_vec(),
        })
    });
}

#[test]
fn comparisons_of_integers() {
    for bits in [8_u32, 16, 32, 64] {
        let ty = format!("i{bits}");
        let names = ["slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge", "eq", "ne"];
        let rhs: Vec<String> = names.iter().map(|name| format!("bool = {name} A, B; zext $")).collect();
        let ops: Vec<(&str, &str)> = rhs.iter().map(|rhs| ("i32", rhs.as_str())).collect();
        let top = 1_u64 << (bits - 1);
        check_elementwise(&ty, &ops, &[0, 1, top, top - 1, top | (top - 1)], |k, a, b| {
            let sign = |x: u64| (x << (64 - bits)) as i64;
            let yes = match k {
                0 => sign(a) < sign(b),
                1 => sign(a) <= sign(b),
                2 => sign(a) > sign(b),
                3 => sign(a) >= sign(b),
                4 => a < b,
                5 => a <= b,
                6 => a > b,
                7 => a >= b,
                8 => a == b,
                _ => a != b,
            };
            Some(u32::from(yes).to_le_bytes().to_vec())
        });
    }
}

#[test]
fn bitcasts_preserve_bits() {
    let ops = [
        ("i8x8", "bitcast A"),
        ("i16x4", "bitcast A"),
        ("i32x2", "bitcast A"),
        ("f64", "bitcast A"),
        ("i64", "i8x8 = bitcast A; bitcast $"),
        ("i64", "i16x4 = bitcast A; bitcast $"),
        ("i64", "i32x2 = bitcast A; bitcast $"),
        ("i64", "i16x4 = bitcast A; i8x8 = bitcast $; i32x2 = bitcast $; bitcast $"),
        ("i64", "f32x2 = bitcast A; bitcast $"),
        ("i32", "i32 = trunc A; i8x4 = bitcast $; bitcast $"),
        ("i16", "i16 = trunc A; i8x2 = bitcast $; bitcast $"),
    ];
    check_elementwise("i64", &ops, &[], |_, a, _| Some(a.to_le_bytes().to_vec()));
}

/// `out[id] = fma(a[id], b[id], c[id])`.
fn fma_kernel(ty: &str) -> String {
    let mut t = Text::new(4);
    let id = t.op("i32", "workitem.global_id 0");
    let size = size_of(ty);
    let operands: Vec<String> = (0..3)
        .map(|param| {
            let place = t.element(&format!("%{param}"), "global", &id, size);
            t.load(ty, &place, size)
        })
        .collect();
    let result = t.op(ty, format!("math.fma {}", operands.join(", ")));
    let place = t.element("%3", "global", &id, size);
    t.store(&place, &result, size);
    t.kernel(r#""fma" (%0: ptr.global buffer, %1: ptr.global buffer, %2: ptr.global buffer, %3: ptr.global buffer)"#)
}

/// Returns operands `a`, `b`, `c` of `fma`. Products and sums cancel, differ widely in magnitude, are denormal, or
/// overflow.
fn triples(count: usize, fraction: u32, bias: i64) -> Vec<[u64; 3]> {
    let mut seed = 12345_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 11 ^ seed >> 37
    };
    let sign = if fraction == 52 { 63 } else { 31 };
    let make = |significand: u64, exponent: i64, negative: u64| {
        let field = exponent.clamp(0, 2 * bias) as u64;
        (negative & 1) << sign | field << fraction | significand & ((1 << fraction) - 1)
    };
    (0..count)
        .map(|i| {
            // Significands with few bits give products that are exact or nearly ties.
            let bits = |r: u64| if i % 3 == 0 { r & !0 << (fraction / 2) } else { r };
            let ea = random() as i64 % (2 * bias);
            let eb = match i % 4 {
                0 => random() as i64 % (2 * bias),
                // The product is close to the denormals.
                1 => bias - ea + random() as i64 % 80 - 40,
                _ => 2 * bias - ea - bias / 2 + random() as i64 % 8,
            };
            let product = ea + eb - bias;
            let ec = match i % 5 {
                0 => random() as i64 % (2 * bias),
                1 => product + random() as i64 % 140 - 70,
                _ => product + random() as i64 % 5 - 2,
            };
            [make(bits(random()), ea, random()), make(bits(random()), eb, random()), make(bits(random()), ec, random())]
        })
        .collect()
}

#[test]
fn fused_multiply_add_without_a_wider_type() {
    let count = 1 << 16;
    let settings = ALL[0];
    let device = device(settings);
    // For single precision, the target has no double, so the compiler cannot use a wider type.
    for (ty, fraction, bias) in [("f64", 52, 1023_i64), ("f32", 23, 127)] {
        let size = size_of(ty) as usize;
        let mut triples = triples(count, fraction, bias);
        // In every seventh triple, the sum cancels all but the last bits of the product.
        for (i, [a, b, c]) in triples.iter_mut().enumerate().filter(|(i, _)| i % 7 == 0) {
            *c = if size == 8 {
                (-(f64::from_bits(*a) * f64::from_bits(*b))).to_bits().wrapping_add(i as u64 % 3).wrapping_sub(1)
            } else {
                u64::from((-(f32::from_bits(*a as u32) * f32::from_bits(*b as u32))).to_bits().wrapping_add(i as u32 % 3).wrapping_sub(1))
            };
        }
        let column = |k: usize| triples.iter().flat_map(|triple| triple[k].to_le_bytes()[..size].to_vec()).collect::<Vec<u8>>();
        let mut target = device.target().clone().changed(|target| target.language.fused_fma = false);
        if size == 4 {
            target.shaders.fp64 = false;
        }
        let buffers = [column(0), column(1), column(2), vec![0; count * size]];
        let out = execute_for(&device, target, &fma_kernel(ty), &buffers, &[], count as u64, 64);
        for (i, (bytes, [a, b, c])) in out[3].chunks(size).zip(&triples).enumerate() {
            let mut all = [0; 8];
            all[..size].copy_from_slice(bytes);
            let got = u64::from_le_bytes(all);
            let (same, want) = if size == 8 {
                let want = f64::from_bits(*a).mul_add(f64::from_bits(*b), f64::from_bits(*c));
                (want.is_nan() && f64::from_bits(got).is_nan() || want.to_bits() == got, want.to_bits())
            } else {
                let want = f32::from_bits(*a as u32).mul_add(f32::from_bits(*b as u32), f32::from_bits(*c as u32));
                (want.is_nan() && f32::from_bits(got as u32).is_nan() || u64::from(want.to_bits()) == got, u64::from(want.to_bits()))
            };
            assert!(same, "{ty} {i}: fma({a:#x}, {b:#x}, {c:#x}) is {got:#x}, not {want:#x}");
        }
    }
}
