//! Conversions, compared with those of the host and with exact arithmetic.

use super::eval::{call, float};
use crate::ast::ScalarKind;
use crate::ir::verify::verify;
use crate::ir::{Function, Module, Op, Scalar, Type, Value};
use crate::lower::builder::Builder;
use crate::lower::types::ArithType;
use crate::thir::Rounding;

/// Builds a module with a function of one parameter.
fn unary(from: Type, to: Type, body: impl FnOnce(&mut Builder, Value) -> Value) -> Module {
    let mut function = Function::new("f", to);
    let param = function.new_value(from);
    function.params.push(param);
    let mut b = Builder::new(function);
    let result = body(&mut b, param);
    b.effect(Op::Return(vec![result]));
    let module = Module { functions: vec![b.finish().expect("a function")], globals: Vec::new() };
    assert_eq!(verify(&module), Ok(()));
    module
}

fn apply(module: &Module, x: u64) -> u64 {
    call(module, &[x]).expect("it runs")
}

/// Returns floats for tests of conversions: special values, values near powers of two, and random values.
fn float_samples() -> Vec<f64> {
    let mut samples = vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, 5e-324, f64::MAX];
    for exponent in -160..140 {
        let power = f64::from(exponent).exp2();
        for factor in [1.0, 1.5, 1.0 + f64::EPSILON, 2.0 - f64::EPSILON, 1.0 + 1.0 / 2048.0, 1.0 + 3.0 / 2048.0, 1.0 + 1.0 / 1024.0] {
            samples.push(power * factor);
        }
    }
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for _ in 0..2000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Random exponents near the exponents of halves.
        let exponent = (state >> 52) % 60 + 1023 - 35;
        samples.push(f64::from_bits((state & 0x000F_FFFF_FFFF_FFFF) | (exponent << 52)));
    }
    let negatives: Vec<f64> = samples.iter().map(|x| -x).collect();
    samples.extend(negatives);
    samples
}

/// Returns the half that a rounding mode gives. Searches all halves. Halves of one sign are ordered by their bits.
fn half_reference(x: f64, mode: Rounding) -> u16 {
    if x.is_nan() {
        return half::f16::NAN.to_bits();
    }
    let magnitude = x.abs();
    let value = |bits: u16| half::f16::from_bits(bits).to_f64();
    let (mut low, mut above) = (0, 0x7c00);
    while low < above {
        let middle = u16::midpoint(low, above);
        if value(middle) < magnitude { low = middle + 1 } else { above = middle }
    }
    let below = if value(above) == magnitude { above } else { above - 1 };
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let result = match mode {
        Rounding::Rte => {
            // To round to nearest, infinity counts as the next power of two.
            let top = if above == 0x7c00 { 65536.0 } else { value(above) };
            let (up, down) = (top - magnitude, magnitude - value(below));
            if below == above || up > down || (up == down && below % 2 == 0) { below } else { above }
        }
        Rounding::Rtz => below,
        Rounding::Rtp if x > 0.0 => above,
        Rounding::Rtn if x < 0.0 => above,
        Rounding::Rtp | Rounding::Rtn => below,
    };
    result | sign
}

const MODES: [Rounding; 4] = [Rounding::Rte, Rounding::Rtz, Rounding::Rtp, Rounding::Rtn];

#[test]
fn halves_are_rounded_once_in_every_mode() {
    for mode in MODES {
        for scalar in [Scalar::F32, Scalar::F64] {
            let module = unary(Type::Scalar(scalar), Type::Scalar(Scalar::I16), |b, x| b.float_to_half_bits(x, mode));
            for x in float_samples() {
                let bits = super::eval::bits(x, scalar);
                let x = float(bits, scalar);
                let have = apply(&module, bits) as u16;
                let want = half_reference(x, mode);
                if x.is_nan() {
                    assert!(half::f16::from_bits(have).is_nan(), "{have:#x}");
                } else {
                    assert_eq!(have, want, "{scalar} {x:e} ({bits:#x}) {mode:?}");
                }
            }
        }
    }
}

#[test]
fn halves_widen_exactly() {
    let module = unary(Type::Scalar(Scalar::I16), Type::Scalar(Scalar::F32), |b, x| b.half_bits_to_float(x));
    for bits in 0..=u16::MAX {
        let have = f32::from_bits(apply(&module, u64::from(bits)) as u32);
        let want = half::f16::from_bits(bits).to_f32();
        assert!(have.to_bits() == want.to_bits() || (have.is_nan() && want.is_nan()), "{bits:#x}: {have} {want}");
    }
}

#[test]
fn floats_narrow_in_every_mode() {
    let (from, to) = (ArithType::new(ScalarKind::Double, 1), ArithType::new(ScalarKind::Half, 1));
    for mode in MODES {
        let module = unary(from.ir(), to.ir(), |b, x| b.convert_with(x, from, to, false, Some(mode)));
        for x in float_samples() {
            let have = apply(&module, x.to_bits()) as u16;
            let want = half_reference(x, mode);
            assert!(have == want || x.is_nan(), "{x:e} {mode:?}: {have:#x} {want:#x}");
        }
    }
}

fn integer_samples(arith: ArithType) -> Vec<i128> {
    let width = arith.ir().scalar().expect("a scalar").bits();
    let mut samples = Vec::new();
    let mut state = 88_172_645_463_325_252_u64;
    for shift in 0..width {
        for offset in -3..=3 {
            samples.push((1_i128 << shift) + offset);
            samples.push(-(1_i128 << shift) + offset);
        }
        for _ in 0..20 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            samples.push(i128::from(state >> (64 - width)) >> shift);
        }
    }
    let (min, max) = limits(arith);
    samples.extend([min, max]);
    samples.retain(|x| (min..=max).contains(x));
    samples
}

fn limits(arith: ArithType) -> (i128, i128) {
    let width = arith.ir().scalar().expect("a scalar").bits();
    if arith.is_signed() { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) }
}

const INTEGERS: [ScalarKind; 8] = [
    ScalarKind::Char,
    ScalarKind::UChar,
    ScalarKind::Short,
    ScalarKind::UShort,
    ScalarKind::Int,
    ScalarKind::UInt,
    ScalarKind::Long,
    ScalarKind::ULong,
];

/// Whether a float is the result of rounding an integer: on the correct side, and without another float in between.
fn is_rounded(x: i128, result: f64, next_down: f64, next_up: f64, mode: Rounding) -> bool {
    // The conversion is exact: floats of these integers are integers below 2^65, or infinite.
    let exact = |f: f64| if f.is_infinite() { if f > 0.0 { i128::MAX } else { i128::MIN } } else { f as i128 };
    let (value, below, above) = (exact(result), exact(next_down), exact(next_up));
    match mode {
        Rounding::Rtp => value >= x && (below < x || value == x),
        Rounding::Rtn => value <= x && (above > x || value == x),
        _ if x >= 0 => value <= x && value >= 0 && (above > x || value == x),
        _ => value >= x && value <= 0 && (below < x || value == x),
    }
}

#[test]
fn integers_become_floats_in_directed_modes() {
    for kind in INTEGERS {
        let from = ArithType::new(kind, 1);
        for float_kind in [ScalarKind::Half, ScalarKind::Float, ScalarKind::Double] {
            let to = ArithType::new(float_kind, 1);
            let scalar = to.ir().scalar().expect("a scalar");
            for mode in [Rounding::Rtz, Rounding::Rtp, Rounding::Rtn] {
                let module = unary(from.ir(), to.ir(), |b, x| b.convert_with(x, from, to, false, Some(mode)));
                for x in integer_samples(from) {
                    let mask = from.ir().scalar().expect("a scalar").mask();
                    let bits = apply(&module, x as u64 & mask);
                    let result = float(bits, scalar);
                    let step = |by: i64| {
                        let magnitude = bits & (scalar.mask() >> 1);
                        let away = (by > 0) == (bits == magnitude);
                        if magnitude == 0 {
                            return by as f64;
                        }
                        float(if away { bits + 1 } else { bits - 1 }, scalar)
                    };
                    assert!(is_rounded(x, result, step(-1), step(1), mode), "{kind:?} {x} to {float_kind:?} {mode:?}: {result}");
                }
            }
        }
    }
}

#[test]
fn integers_saturate() {
    for from_kind in INTEGERS {
        for to_kind in INTEGERS {
            let (from, to) = (ArithType::new(from_kind, 1), ArithType::new(to_kind, 1));
            let module = unary(from.ir(), to.ir(), |b, x| b.convert_with(x, from, to, true, None));
            let (min, max) = limits(to);
            for x in integer_samples(from) {
                let have = apply(&module, x as u64 & from.ir().scalar().expect("a scalar").mask());
                let want = x.clamp(min, max) as u64 & to.ir().scalar().expect("a scalar").mask();
                assert_eq!(have, want, "{from_kind:?} {x} to {to_kind:?}");
            }
        }
    }
}

#[test]
fn floats_become_integers_with_saturation_and_rounding() {
    for from_kind in [ScalarKind::Half, ScalarKind::Float, ScalarKind::Double] {
        let from = ArithType::new(from_kind, 1);
        let scalar = from.ir().scalar().expect("a scalar");
        for to_kind in INTEGERS {
            let to = ArithType::new(to_kind, 1);
            let (min, max) = limits(to);
            for mode in MODES {
                let module = unary(from.ir(), to.ir(), |b, x| b.convert_with(x, from, to, true, Some(mode)));
                let mut samples = float_samples();
                samples.extend([0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 128.5, 255.5, -128.5, 65535.5, 2_147_483_647.5, 4_294_967_295.5]);
                for x in samples {
                    let bits = super::eval::bits(x, scalar);
                    let x = float(bits, scalar);
                    let rounded = match mode {
                        Rounding::Rte => x.round_ties_even(),
                        Rounding::Rtz => x.trunc(),
                        Rounding::Rtp => x.ceil(),
                        Rounding::Rtn => x.floor(),
                    };
                    // `as` saturates, and converts NaN to 0.
                    let want = (rounded as i128).clamp(min, max) as u64 & to.ir().scalar().expect("a scalar").mask();
                    assert_eq!(apply(&module, bits), want, "{from_kind:?} {x:e} to {to_kind:?} {mode:?}");
                }
            }
        }
    }
}
