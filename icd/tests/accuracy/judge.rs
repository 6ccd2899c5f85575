//! Decides whether a result is accurate enough.

use rug::Float;

use crate::format::Format;
use crate::functions::{Bound, Function, Relaxed, Shape};
use crate::reference::{Answer, Case, Second, reference};

/// The options of a build, and the deviations from strict results that they permit.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    pub options: &'static str,
    /// Whether the options say that neither arguments nor results are infinite or NaN.
    pub finite: bool,
    /// Whether denormals may be flushed to zero.
    pub flush: bool,
    pub relaxed: bool,
    /// Whether division and square root of floats must be correctly rounded.
    pub rounded: bool,
}

/// The results of the device.
#[derive(Clone, Copy, Debug)]
pub struct DeviceResult {
    pub value: f64,
    pub second: f64,
    pub int: i64,
}

/// The error of a result: `Ok` if the bound permits it, otherwise `Err`. The unit is ULP, or 1 for an absolute bound.
type Verdict = Result<f64, f64>;

fn bound(function: &Function, format: &Format, mode: Mode, case: &Case, answer: &Answer) -> Option<Bound> {
    let strict = function.bound(format);
    if strict == Bound::Open || function.name.starts_with("native_") {
        // Functions without a bound are measured only for normal numbers in their domain.
        let normal = |x: f64| x.is_finite() && x != 0.0 && !format.is_subnormal(x);
        let arguments = case.x.iter().take(function.arguments()).all(|&x| normal(x));
        let domain = match function.base() {
            "sin" | "cos" | "tan" => case.x[0].abs() <= std::f64::consts::PI,
            "log" | "log2" | "log10" | "powr" | "sqrt" | "rsqrt" => case.x[0] > 0.0,
            _ => true,
        };
        return (arguments && domain && normal(format.round(&answer.value))).then_some(strict);
    }
    if mode.rounded && matches!(function.name, "x / y" | "1.0 / x" | "sqrt") {
        return Some(Bound::Exact);
    }
    let [x, y, _] = case.x;
    if x < 0.0
        && function.name.starts_with("lgamma")
        && answer.value.is_finite()
        && let Bound::Ulp(limit) = strict
    {
        // lgamma of a negative number is a difference of two logarithms. `other` is one of them. Its magnitude
        // determines the unit of the error.
        let other = Float::with_val(64, -x).ln_gamma().to_f64().abs();
        return Some(Bound::Scaled(limit, other.max(answer.value.to_f64().abs()).max(1.0)));
    }
    if !mode.relaxed || format.size != 4 {
        return Some(strict);
    }
    let undefined = match function.base() {
        "pow" => x == 0.0 || x < 0.0 && (y.trunc() != y || y.abs() > 16_777_216.0),
        "pown" | "rootn" => x == 0.0,
        "powr" => x <= 0.0,
        _ => false,
    };
    if undefined {
        return None;
    }
    match function.relaxed {
        Relaxed::Same => Some(strict),
        Relaxed::Ulp(ulp) => Some(Bound::Ulp(ulp)),
        Relaxed::Within(limit, ulp) => (x.abs() <= limit).then_some(Bound::Ulp(ulp)),
        // For larger arguments, the specification only says that errors are larger.
        Relaxed::Sine(limit) => (x.abs() <= limit).then_some(Bound::Absolute(crate::format::pow2(-11))),
        Relaxed::Exp => Some(Bound::Ulp(3.0 + (2.0 * x.abs()).floor())),
        Relaxed::Log if (0.5..=2.0).contains(&x) => Some(Bound::Absolute(crate::format::pow2(-21))),
        Relaxed::Log => Some(Bound::Ulp(3.0)),
        Relaxed::Quotient(power) => {
            let domain = crate::format::pow2(-power)..=crate::format::pow2(power);
            let all = domain.contains(&x.abs()) && (function.name == "1.0 / x" || domain.contains(&y.abs()));
            all.then_some(Bound::Ulp(2.5))
        }
    }
}

/// Judges a result against one correct value.
fn value(bound: Bound, format: &Format, exact: &Float, any_zero: bool, prescribed: bool, got: f64) -> Verdict {
    if exact.is_nan() || got.is_nan() {
        return if exact.is_nan() == got.is_nan() { Ok(0.0) } else { Err(f64::INFINITY) };
    }
    let nearest = format.round(exact);
    let same = nearest == got && (got != 0.0 || any_zero || !exact.is_zero() || got.is_sign_negative() == nearest.is_sign_negative());
    if same && (got.is_infinite() || got == 0.0 && exact.is_zero()) {
        return Ok(0.0);
    }
    let error = if exact.is_infinite() { f64::INFINITY } else { format.error(exact, got) };
    let error = match bound {
        Bound::Absolute(_) => Float::with_val(64, exact - got).to_f64().abs(),
        Bound::Scaled(_, unit) => format.error(&Float::with_val(64, unit), unit + Float::with_val(64, exact - got).to_f64().abs()),
        _ => error,
    };
    let good = match bound {
        Bound::Open | Bound::Absent => true,
        Bound::Absolute(limit) => error <= limit,
        _ if exact.is_zero() || exact.is_infinite() => false,
        Bound::Exact => same,
        Bound::Ulp(_) if prescribed && *exact == nearest => same,
        Bound::Ulp(limit) | Bound::Scaled(limit, _) => error <= limit,
    };
    if good { Ok(error) } else { Err(error) }
}

/// Judges a result, assuming that the device did not flush arguments to zero.
fn unflushed(function: &Function, bound: Bound, format: &Format, mode: Mode, case: &Case, answer: &Answer, got: DeviceResult) -> Verdict {
    let any_zero = answer.any_zero || mode.relaxed;
    // For arguments that are zero or infinite, the specification or C defines exact results.
    let edge = |x: f64| x == 0.0 || x.is_infinite();
    let prescribed = !mode.relaxed && bound != Bound::Ulp(8192.0) && case.x.iter().take(function.arguments()).any(|&x| edge(x));
    if function.shape == Shape::ToInt {
        #[allow(clippy::cast_precision_loss, reason = "an int")]
        let good = std::iter::once(&answer.value).chain(&answer.others).any(|exact| *exact == got.int as f64);
        return if good { Ok(0.0) } else { Err(f64::INFINITY) };
    }
    let verdict = |exact: &Float| value(bound, format, exact, any_zero, prescribed, got.value);
    let mut best = verdict(&answer.value);
    for other in answer.others.iter().chain(answer.flushed.as_ref().filter(|_| mode.flush)) {
        if best.is_err() {
            best = verdict(other);
        }
    }
    // A device that flushes denormals may return zero for a denormal result.
    if best.is_err() && mode.flush && got.value == 0.0 && answer.value.is_finite() && answer.value.to_f64().abs() < format.min_normal() {
        best = Ok(0.0);
    }
    let error = best?;
    match &answer.second {
        Second::None => Ok(error),
        Second::Float(exact) => match value(bound, format, exact, any_zero, prescribed, got.second) {
            Ok(other) => Ok(error.max(other)),
            Err(_) if mode.flush && got.second == 0.0 && exact.is_finite() && exact.to_f64().abs() < format.min_normal() => Ok(error),
            Err(other) => Err(other),
        },
        Second::Int(wanted) => {
            if got.int == *wanted {
                Ok(error)
            } else {
                Err(f64::INFINITY)
            }
        }
        Second::Quotient { negative, low } => {
            let good = got.int.abs() & 127 == *low && (got.int == 0 || (got.int < 0) == *negative);
            if good { Ok(error) } else { Err(f64::INFINITY) }
        }
    }
}

/// Judges one result. Returns `None` if the specification does not define it.
pub fn judge(function: &Function, format: &Format, mode: Mode, case: &Case, answer: &Answer, got: DeviceResult) -> Option<Verdict> {
    let bound = bound(function, format, mode, case, answer)?;
    if mode.finite {
        let infinite = case.x.iter().take(function.arguments()).any(|x| !x.is_finite())
            || !format.round(&answer.value).is_finite()
            || matches!(&answer.second, Second::Float(value) if !value.is_finite());
        if infinite {
            return None;
        }
    }
    let verdict = unflushed(function, bound, format, mode, case, answer, got);
    if verdict.is_ok() || !mode.flush {
        return Some(verdict);
    }
    // The device may have flushed denormal arguments to zeros of any sign. Accept the results for all combinations.
    let flushed = |x: f64| if format.is_subnormal(x) { vec![x, 0.0, -0.0] } else { vec![x] };
    for x in flushed(case.x[0]) {
        for y in flushed(case.x[1]) {
            for z in flushed(case.x[2]) {
                let other = Case { x: [x, y, z], n: case.n };
                let answer = reference(function.base(), &other, format)?;
                if unflushed(function, bound, format, mode, &other, &answer, got).is_ok() {
                    return Some(Ok(0.0));
                }
            }
        }
    }
    Some(verdict)
}
