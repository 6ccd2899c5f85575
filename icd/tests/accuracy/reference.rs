//! Reference results of the functions, computed with MPFR.

use rug::Float;
use rug::float::{Constant, Special};
use rug::ops::Pow as _;

use crate::format::Format;

/// One set of arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Case {
    /// Floating-point arguments, which are values of the format.
    pub x: [f64; 3],
    pub n: i32,
}

/// The expected second result.
#[derive(Clone, Debug)]
pub enum Second {
    None,
    /// A number with the same bound as the first result.
    Float(Float),
    Int(i64),
    /// The sign and the low seven bits of the integer quotient (`remquo`).
    Quotient {
        negative: bool,
        low: i64,
    },
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub value: Float,
    /// Other values that are also correct.
    pub others: Vec<Float>,
    /// A value that is correct if denormals are flushed.
    pub flushed: Option<Float>,
    /// Whether a zero may have any sign.
    pub any_zero: bool,
    pub second: Second,
}

impl Answer {
    fn of(value: Float) -> Option<Self> {
        Some(Self { value, others: Vec::new(), flushed: None, any_zero: false, second: Second::None })
    }

    fn with(value: Float, second: Second) -> Option<Self> {
        Some(Self { value, others: Vec::new(), flushed: None, any_zero: false, second })
    }
}

fn nan() -> Float {
    Float::with_val(2, Special::Nan)
}

fn infinity() -> Float {
    Float::with_val(2, Special::Infinity)
}

/// Computes x^y by the specification's rules for `powr`.
fn powr(x: &Float, y: &Float, precision: u32) -> Float {
    let invalid = x.is_nan() || y.is_nan() || *x < 0 || (x.is_zero() || x.is_infinite()) && y.is_zero() || *x == 1 && y.is_infinite();
    if invalid {
        return nan();
    }
    Float::with_val(precision, x.clone().abs().pow(y))
}

fn rootn(x: &Float, n: i32, precision: u32) -> Float {
    if n == 0 {
        return nan();
    }
    let x = Float::with_val(precision, x);
    let Ok(root) = i32::try_from(n.unsigned_abs()) else {
        // `n` is INT_MIN, which is even.
        return if x < 0 { nan() } else { Float::with_val(precision, x.abs().pow(Float::with_val(64, 1) / n)) };
    };
    if n > 0 { x.root(root.unsigned_abs()) } else { x.root_i(n) }
}

/// Returns the number adjacent to `x` in the direction of `y`.
fn next_after(format: &Format, x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x == y {
        y
    } else if x == 0.0 {
        format.decode(1).copysign(y)
    } else {
        format.step(x, if (y > x) == (x > 0.0) { 1 } else { -1 })
    }
}

fn exponent(x: f64) -> i32 {
    Float::with_val(53, x).get_exp().unwrap_or(0) - 1
}

/// Returns x - y n for the integer n nearest to x / y, and the low bits of n.
fn remquo(x: f64, y: f64, format: &Format) -> (Float, Second) {
    let zero = Second::Quotient { negative: false, low: 0 };
    if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
        return (nan(), zero);
    }
    let precision = format.precision + 16;
    let value = Float::with_val(precision, x);
    if y.is_infinite() || x == 0.0 {
        return (value, zero);
    }
    let (ax, ay) = (Float::with_val(precision, x.abs()), Float::with_val(precision, y.abs()));
    let few = ax.clone() % Float::with_val(precision, &ay << 8);
    let rest = few.clone().remainder(&ay);
    let quotient = Float::with_val(precision, &few - &rest) / &ay;
    let low = quotient.to_integer().and_then(|whole| whole.to_i64()).unwrap_or(i64::MIN) & 127;
    (value.remainder(&Float::with_val(precision, y)), Second::Quotient { negative: (x < 0.0) != (y < 0.0), low })
}

/// Returns the expected result of a function, or `None` if the specification does not define it.
pub fn reference(base: &str, case: &Case, format: &Format) -> Option<Answer> {
    let p = match format.size {
        2 => 53,
        4 => 72,
        _ => 120,
    };
    // With these precisions, sums of any two values, and sums of a product and a value, are exact.
    let (sum, fused) = match format.size {
        2 => (64, 110),
        4 => (300, 620),
        _ => (2200, 4400),
    };
    let [x, y, z] = case.x;
    let at = |precision: u32, value: f64| Float::with_val(precision, value);
    let v = at(p, x);
    let w = at(p, y);
    let one = |value: Float| Answer::of(value);
    match base {
        "x + y" => one(Float::with_val(sum, &v + &w)),
        "x - y" => one(Float::with_val(sum, &v - &w)),
        "x * y" => one(Float::with_val(p, &v * &w)),
        "x / y" => one(v / w),
        "1.0 / x" => one(v.recip()),
        "acos" => one(v.acos()),
        "acosh" => one(v.acosh()),
        "acospi" => one(v.acos_pi()),
        "asin" => one(v.asin()),
        "asinh" => one(v.asinh()),
        "asinpi" => one(v.asin_pi()),
        "atan" => one(v.atan()),
        "atan2" => one(v.atan2(&w)),
        "atan2pi" => one(v.atan2_pi(&w)),
        "atanh" => one(v.atanh()),
        "atanpi" => one(v.atan_pi()),
        "cos" => one(v.cos()),
        "cosh" => one(v.cosh()),
        "cospi" => one(v.cos_pi()),
        "sin" => one(v.sin()),
        "sincos" => {
            let (sine, cosine) = v.sin_cos(Float::new(p));
            Answer::with(sine, Second::Float(cosine))
        }
        "sinh" => one(v.sinh()),
        "sinpi" => one(v.sin_pi()),
        "tan" => one(v.tan()),
        "tanh" => one(v.tanh()),
        "tanpi" => one(v.tan_pi()),
        "cbrt" => one(v.cbrt()),
        "exp" => one(v.exp()),
        "exp2" => one(v.exp2()),
        "exp10" => one(v.exp10()),
        "expm1" => one(v.exp_m1()),
        "hypot" => one(v.hypot(&w)),
        "log" => one(v.ln()),
        "log1p" => one(v.ln_1p()),
        "log2" => one(v.log2()),
        "log10" => one(v.log10()),
        "pow" => one(v.pow(&w)),
        "pown" => one(v.pow(case.n)),
        "powr" => one(powr(&v, &w, p)),
        "rootn" => one(rootn(&v, case.n, p)),
        "rsqrt" => one(if x == 0.0 { Float::with_val(p, infinity()).copysign(&v) } else { v.recip_sqrt() }),
        "sqrt" => one(v.sqrt()),
        "erf" => one(v.erf()),
        "erfc" => one(v.erfc()),
        "lgamma" => one(v.ln_abs_gamma().0),
        "lgamma_r" => {
            let sign = if x == 0.0 || x < 0.0 && x.trunc() == x && x.is_finite() {
                Some(0)
            } else if x.is_finite() {
                Some(v.clone().ln_abs_gamma().1 as i64)
            } else {
                None
            };
            Answer::with(v.ln_abs_gamma().0, sign.map_or(Second::None, Second::Int))
        }
        "tgamma" => one(v.gamma()),
        "ceil" => one(v.ceil()),
        // The device may not preserve the sign of a NaN argument, so there is no expected result.
        "copysign" => {
            if y.is_nan() {
                None
            } else {
                one(v.copysign(&w))
            }
        }
        "fabs" => one(v.abs()),
        "fdim" => one(match x.partial_cmp(&y) {
            None => nan(),
            Some(std::cmp::Ordering::Greater) => Float::with_val(sum, &v - &w),
            Some(_) => Float::new(p),
        }),
        "floor" => one(v.floor()),
        "fma" | "mad" => {
            let fused = at(fused, x).mul_add(&at(fused, y), &at(fused, z));
            let mut answer = Answer::of(fused)?;
            if base == "mad" {
                let product = format.round(&Float::with_val(p, &v * &w));
                answer.others.push(Float::with_val(sum, &at(p, product) + &at(p, z)));
                answer.flushed = format.is_subnormal(product).then(|| at(p, z));
            }
            Some(answer)
        }
        "fmax" | "fmin" | "maxmag" | "minmag" | "max" | "min" => {
            if base.len() == 3 && (x.is_nan() || y.is_nan()) {
                return None;
            }
            let (large, by) = match base {
                "fmax" | "max" => (true, x.partial_cmp(&y)),
                "fmin" | "min" => (false, x.partial_cmp(&y)),
                magnitude => match x.abs().partial_cmp(&y.abs()) {
                    Some(std::cmp::Ordering::Equal) => (magnitude == "maxmag", x.partial_cmp(&y)),
                    other => (magnitude == "maxmag", other),
                },
            };
            let first = match by {
                None => y.is_nan(),
                Some(order) => (order == std::cmp::Ordering::Greater) == large,
            };
            let mut answer = Answer::of(if first { v } else { w })?;
            answer.any_zero = true;
            Some(answer)
        }
        "fmod" => one(v % w),
        "fract" => {
            let whole = v.clone().floor();
            let below_one = format.step(1.0, -1);
            let rest = if x.is_infinite() || x == 0.0 { at(p, 0f64.copysign(x)) } else { Float::with_val(sum, &v - &whole) };
            // If the number is so small that the fraction rounds to 1, the result is the largest number below 1.
            let rest = if !rest.is_nan() && format.round(&rest) >= 1.0 { at(p, below_one) } else { rest };
            Answer::with(rest, Second::Float(whole))
        }
        "frexp" => match v.get_exp() {
            Some(e) => Answer::with(v >> e, Second::Int(e.into())),
            None => Answer::with(v, Second::Int(0)),
        },
        "ilogb" => {
            let mut answer = Answer::of(at(64, exponent(x).into()))?;
            if x.is_nan() {
                answer.value = at(64, i32::MAX.into());
                answer.others.push(at(64, i32::MIN.into()));
            } else if x.is_infinite() {
                answer.value = at(64, i32::MAX.into());
            } else if x == 0.0 {
                answer.value = at(64, i32::MIN.into());
                answer.others.push(at(64, (-i32::MAX).into()));
            }
            Some(answer)
        }
        "ldexp" => one(v << case.n),
        "logb" => one(if x.is_nan() {
            nan()
        } else if x == 0.0 {
            -infinity()
        } else if x.is_infinite() {
            infinity()
        } else {
            at(p, exponent(x).into())
        }),
        "modf" => {
            let whole = v.clone().trunc();
            let rest = if x.is_infinite() { Float::new(p) } else { Float::with_val(p, &v - &whole) };
            Answer::with(rest.copysign(&v), Second::Float(whole))
        }
        "nan" => one(nan()),
        "nextafter" => one(at(p, next_after(format, x, y))),
        "remainder" => one(remquo(x, y, format).0),
        "remquo" => {
            let (rest, quotient) = remquo(x, y, format);
            Answer::with(rest, quotient)
        }
        "rint" => one(v.round_even()),
        "round" => one(v.round()),
        "trunc" => one(v.trunc()),
        "clamp" => {
            let open = x.is_nan() || y.is_nan() || z.is_nan() || y > z;
            let mut answer = Answer::of(if x < y {
                w
            } else if x > z {
                at(p, z)
            } else {
                v
            })?;
            answer.any_zero = true;
            if open { None } else { Some(answer) }
        }
        "degrees" => one(v * 180 / Float::with_val(p, Constant::Pi)),
        "radians" => one(v * Float::with_val(p, Constant::Pi) / 180),
        "mix" => {
            let open = ![x, y, z].iter().all(|x| (0.0..=1.0).contains(x));
            if open { None } else { one((w - &v) * at(p, z) + &v) }
        }
        "sign" => one(if x.is_nan() {
            Float::new(p)
        } else if x == 0.0 {
            v
        } else {
            at(p, x.signum())
        }),
        "smoothstep" => {
            let open = ![x, y, z].iter().all(|x| (0.0..=1.0).contains(x)) || x >= y;
            if open {
                return None;
            }
            let t = (at(p, z) - &v) / (w - &v);
            let t = if t < 0 {
                Float::new(p)
            } else if t > 1 {
                at(p, 1.0)
            } else {
                t
            };
            one(Float::with_val(p, t.square_ref()) * (3 - 2 * t))
        }
        "step" => {
            if x.is_nan() || y.is_nan() {
                None
            } else {
                one(at(p, if y < x { 0.0 } else { 1.0 }))
            }
        }
        _ => None,
    }
}
