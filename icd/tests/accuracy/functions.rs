//! The functions to test, with their bounds in the specification (tables of 7.4), and the argument ranges that are
//! difficult for an implementation.

use std::f64::consts::{FRAC_PI_2, PI};

use crate::format::Format;
use Bound::{Absent, Absolute, Exact, Open, Ulp};
use Focus::{Cancelling, Exponents, Integers, Multiples, Near, Powers, Quotients, Similar, Uniform, Unit};
use Relaxed::Same;
use Shape::{AndFloat, AndInt, One, Three, ToInt, Two, TwoAndInt, WithInt};

/// The arguments and results of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    One,
    /// `T f(T, T)`
    Two,
    /// `T f(T, T, T)`
    Three,
    /// `T f(T, int)`
    WithInt,
    ToInt,
    /// `T f(T, T *)`
    AndFloat,
    /// `T f(T, int *)`
    AndInt,
    /// `T f(T, T, int *)`
    TwoAndInt,
}

/// The permitted error of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// The result must be the nearest value.
    Exact,
    /// The error is at most this number of units in the last place.
    Ulp(f64),
    /// The error is at most this absolute difference.
    Absolute(f64),
    /// `Scaled(limit, number)`: the error is at most `limit` units in the last place of `number`.
    Scaled(f64, f64),
    /// The error is implementation-defined. The test measures it, but does not judge it.
    Open,
    /// The function does not have this type.
    Absent,
}

/// The error that `-cl-fast-relaxed-math` permits in single precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relaxed {
    /// The same error as without the option.
    Same,
    Ulp(f64),
    /// `Within(magnitude, bound)`: `bound` units in the last place for arguments up to this magnitude. Larger arguments
    /// have no bound.
    Within(f64, f64),
    /// An absolute error of 2^-11 for arguments up to this magnitude. Larger arguments have no bound.
    Sine(f64),
    /// 3 + floor(|2 x|) units in the last place.
    Exp,
    /// An absolute error of 2^-21 for arguments in [1/2, 2], and 3 units in the last place for other arguments.
    Log,
    /// `Quotient(n)`: 2.5 units in the last place if the magnitudes of all arguments are between 2^-n and 2^n.
    Quotient(i32),
}

/// A range that the test covers with more arguments than other ranges.
#[derive(Clone, Copy, Debug)]
pub enum Focus {
    /// Arguments with a uniform distribution in an interval.
    Uniform(f64, f64),
    /// Arguments close to a number, at distances of all magnitudes.
    Near(f64),
    /// Multiples of a number, and the adjacent values.
    Multiples(f64),
    /// Arguments with a uniform distribution, for which powers of this base do not overflow the format, and a little
    /// beyond.
    Exponents(f64),
    /// Arguments close to the largest numbers with a fraction.
    Integers,
    /// Pairs of arguments of similar magnitude.
    Similar,
    /// Pairs of arguments whose quotient is close to a multiple of 1/2.
    Quotients,
    /// Pairs of arguments for which the power is in the range of the format.
    Powers,
    /// Triples of arguments whose product and addend nearly cancel, or have a sum halfway between two numbers.
    Cancelling,
    /// Arguments in [0, 1].
    Unit,
}

pub struct Function {
    pub name: &'static str,
    pub shape: Shape,
    /// The bounds for float, double and half.
    pub bounds: [Bound; 3],
    pub relaxed: Relaxed,
    pub focus: &'static [Focus],
    /// The expression to test, if it is not `name(arguments)`.
    pub call: Option<&'static str>,
}

const fn f(name: &'static str, shape: Shape, float: f64, double: f64, half: f64, relaxed: Relaxed, focus: &'static [Focus]) -> Function {
    Function { name, shape, bounds: [Ulp(float), Ulp(double), Ulp(half)], relaxed, focus, call: None }
}

const fn exact(name: &'static str, shape: Shape, focus: &'static [Focus]) -> Function {
    Function { name, shape, bounds: [Exact; 3], relaxed: Same, focus, call: None }
}

const fn half_form(name: &'static str, shape: Shape, focus: &'static [Focus]) -> Function {
    Function { name, shape, bounds: [Ulp(8192.0), Absent, Absent], relaxed: Same, focus, call: None }
}

const fn native(name: &'static str, shape: Shape, focus: &'static [Focus]) -> Function {
    Function { name, shape, bounds: [Open, Absent, Absent], relaxed: Same, focus, call: None }
}

const fn written(call: &'static str, function: Function) -> Function {
    Function { call: Some(call), ..function }
}

const fn bounded(bounds: [Bound; 3], function: Function) -> Function {
    Function { bounds, ..function }
}

const FAST: Relaxed = Relaxed::Ulp(8192.0);
const FAST_INVERSE: Relaxed = Relaxed::Ulp(4096.0);
/// 2^-11, the specification's bound for sine and cosine with unsafe optimisations. The test also uses this bound for
/// the native functions.
const NATIVE_SINE: f64 = 0.000_488_281_25;
const UNIT: &[Focus] = &[Uniform(-1.0, 1.0), Near(1.0), Near(-1.0), Near(0.5), Near(-0.5)];
const ATAN: &[Focus] = &[Uniform(-4.0, 4.0), Near(1.0), Near(-1.0), Near(0.41421356237309503), Near(2.414213562373095)];
const TRIGONOMETRIC: &[Focus] =
    &[Uniform(-10.0, 10.0), Uniform(-1e4, 1e4), Uniform(-1e7, 1e7), Multiples(FRAC_PI_2), Multiples(PI / 4.0), Near(FRAC_PI_2)];
const HALF_TURNS: &[Focus] = &[Uniform(-4.0, 4.0), Uniform(-300.0, 300.0), Multiples(0.5), Multiples(0.25), Integers];
const WHOLE: &[Focus] = &[Uniform(-10.0, 10.0), Multiples(0.5), Integers];
const E: f64 = std::f64::consts::E;
const EXP: &[Focus] = &[Exponents(E), Uniform(-2.0, 2.0)];
const LOG: &[Focus] = &[Near(1.0), Uniform(0.5, 2.0), Uniform(0.0, 100.0)];
/// Arguments near 1 and 2, and near the zeros of lgamma between -5 and -2.
const LGAMMA: &[Focus] = &[
    Near(1.0),
    Near(2.0),
    Uniform(0.0, 4.0),
    Uniform(0.0, 40.0),
    Uniform(-8.0, 0.0),
    Uniform(-300.0, 0.0),
    Near(-2.457024738220801),
    Near(-2.747682646727413),
    Near(-3.14358088834998),
    Near(-3.955294284858598),
    Near(-4.039361839740537),
    Near(-4.991544640560047),
];
const TGAMMA: &[Focus] = &[Uniform(-45.0, 37.0), Uniform(-190.0, 173.0), Uniform(0.0, 3.0), Multiples(1.0)];

pub static FUNCTIONS: &[Function] = &[
    written("x + y", exact("x + y", Two, &[Similar])),
    written("x - y", exact("x - y", Two, &[Similar])),
    written("x * y", exact("x * y", Two, &[Similar])),
    written("x / y", bounded([Ulp(2.5), Exact, Ulp(1.0)], f("x / y", Two, 0.0, 0.0, 0.0, Relaxed::Quotient(62), &[Similar]))),
    written("(T)1 / x", bounded([Ulp(2.5), Exact, Ulp(1.0)], f("1.0 / x", One, 0.0, 0.0, 0.0, Relaxed::Quotient(126), &[]))),
    // Trigonometric functions and their inverses.
    f("acos", One, 4.0, 4.0, 2.0, FAST_INVERSE, UNIT),
    f("acosh", One, 4.0, 4.0, 2.0, FAST, &[Near(1.0), Uniform(1.0, 4.0)]),
    f("acospi", One, 5.0, 5.0, 2.0, FAST, UNIT),
    f("asin", One, 4.0, 4.0, 2.0, FAST_INVERSE, UNIT),
    f("asinh", One, 4.0, 4.0, 2.0, FAST, &[Uniform(-2.0, 2.0), Near(0.5)]),
    f("asinpi", One, 5.0, 5.0, 2.0, FAST, UNIT),
    f("atan", One, 5.0, 5.0, 2.0, FAST_INVERSE, ATAN),
    f("atan2", Two, 6.0, 6.0, 2.0, FAST, &[Similar]),
    f("atan2pi", Two, 6.0, 6.0, 2.0, FAST, &[Similar]),
    f("atanh", One, 5.0, 5.0, 2.0, Relaxed::Within(1.0, 8192.0), UNIT),
    f("atanpi", One, 5.0, 5.0, 2.0, FAST, ATAN),
    f("cos", One, 4.0, 4.0, 2.0, Relaxed::Sine(PI), TRIGONOMETRIC),
    f("cosh", One, 4.0, 4.0, 2.0, Relaxed::Within(88.0, 8192.0), EXP),
    f("cospi", One, 4.0, 4.0, 2.0, Relaxed::Sine(1.0), HALF_TURNS),
    f("sin", One, 4.0, 4.0, 2.0, Relaxed::Sine(PI), TRIGONOMETRIC),
    f("sincos", AndFloat, 4.0, 4.0, 2.0, Relaxed::Sine(PI), TRIGONOMETRIC),
    f("sinh", One, 4.0, 4.0, 2.0, Relaxed::Within(88.0, 8192.0), EXP),
    f("sinpi", One, 4.0, 4.0, 2.0, Relaxed::Sine(1.0), HALF_TURNS),
    f("tan", One, 5.0, 5.0, 2.5, FAST, TRIGONOMETRIC),
    f("tanh", One, 5.0, 5.0, 2.0, FAST, &[Uniform(-20.0, 20.0), Uniform(-1.0, 1.0)]),
    f("tanpi", One, 6.0, 6.0, 2.0, Relaxed::Within(1.0, 8192.0), HALF_TURNS),
    // Exponentials, logarithms, powers, roots.
    f("cbrt", One, 2.0, 2.0, 2.0, FAST, &[]),
    f("exp", One, 3.0, 3.0, 2.0, Relaxed::Exp, EXP),
    f("exp2", One, 3.0, 3.0, 2.0, Relaxed::Exp, &[Exponents(2.0), Uniform(-2.0, 2.0), Multiples(0.5)]),
    f("exp10", One, 3.0, 3.0, 2.0, FAST, &[Exponents(10.0), Uniform(-2.0, 2.0)]),
    f("expm1", One, 3.0, 3.0, 2.0, FAST, EXP),
    f("hypot", Two, 4.0, 4.0, 2.0, Same, &[Similar]),
    f("log", One, 3.0, 3.0, 2.0, Relaxed::Log, LOG),
    f("log1p", One, 2.0, 2.0, 2.0, FAST, &[Uniform(-1.0, 1.0), Near(-1.0), Uniform(-1.0, 10.0)]),
    f("log2", One, 3.0, 3.0, 2.0, Relaxed::Log, LOG),
    f("log10", One, 3.0, 3.0, 2.0, Relaxed::Log, LOG),
    f("pow", Two, 16.0, 16.0, 4.0, FAST, &[Powers]),
    f("pown", WithInt, 16.0, 16.0, 4.0, FAST, &[Powers]),
    f("powr", Two, 16.0, 16.0, 4.0, FAST, &[Powers]),
    f("rootn", WithInt, 16.0, 16.0, 4.0, FAST, &[]),
    f("rsqrt", One, 2.0, 2.0, 1.0, Same, &[]),
    bounded([Ulp(3.0), Exact, Ulp(1.5)], f("sqrt", One, 0.0, 0.0, 0.0, Same, &[])),
    // Error and gamma functions. The specification has no bound for lgamma. For a negative argument, the bound here is
    // in units in the last place of the largest of three numbers: 1, the result, and lgamma of the magnitude.
    f("erf", One, 16.0, 16.0, 4.0, Same, &[Uniform(-6.0, 6.0), Uniform(-1.0, 1.0)]),
    f("erfc", One, 16.0, 16.0, 4.0, Same, &[Uniform(-6.0, 28.0), Uniform(-2.0, 11.0)]),
    f("lgamma", One, 16.0, 16.0, 16.0, Same, LGAMMA),
    f("lgamma_r", AndInt, 16.0, 16.0, 16.0, Same, LGAMMA),
    f("tgamma", One, 16.0, 16.0, 4.0, Same, TGAMMA),
    // Functions whose results must be exact.
    exact("ceil", One, WHOLE),
    exact("copysign", Two, &[]),
    exact("fabs", One, &[]),
    exact("fdim", Two, &[Similar]),
    exact("floor", One, WHOLE),
    exact("fma", Three, &[Cancelling]),
    exact("fmax", Two, &[Similar]),
    exact("fmin", Two, &[Similar]),
    exact("fmod", Two, &[Quotients]),
    exact("fract", AndFloat, WHOLE),
    exact("frexp", AndInt, &[]),
    exact("ilogb", ToInt, &[]),
    exact("ldexp", WithInt, &[]),
    exact("logb", One, &[]),
    exact("mad", Three, &[Cancelling]),
    exact("maxmag", Two, &[Similar]),
    exact("minmag", Two, &[Similar]),
    exact("modf", AndFloat, WHOLE),
    written("nan(AS_U(x))", exact("nan", One, &[])),
    exact("nextafter", Two, &[Similar]),
    exact("remainder", Two, &[Quotients]),
    exact("remquo", TwoAndInt, &[Quotients]),
    exact("rint", One, WHOLE),
    exact("round", One, WHOLE),
    exact("trunc", One, WHOLE),
    // 6.15.4: common functions.
    exact("clamp", Three, &[Unit]),
    f("degrees", One, 2.0, 2.0, 2.0, Same, &[]),
    exact("max", Two, &[Similar]),
    exact("min", Two, &[Similar]),
    bounded([Absolute(1e-3), Open, Open], f("mix", Three, 0.0, 0.0, 0.0, Same, &[Unit])),
    f("radians", One, 2.0, 2.0, 2.0, Same, &[]),
    exact("sign", One, &[]),
    bounded([Absolute(1e-5), Open, Open], f("smoothstep", Three, 0.0, 0.0, 0.0, Same, &[Unit])),
    exact("step", Two, &[Similar]),
    // half_ and native_ forms.
    half_form("half_cos", One, TRIGONOMETRIC),
    half_form("half_divide", Two, &[Similar]),
    half_form("half_exp", One, EXP),
    half_form("half_exp2", One, &[Exponents(2.0)]),
    half_form("half_exp10", One, &[Exponents(10.0)]),
    half_form("half_log", One, LOG),
    half_form("half_log2", One, LOG),
    half_form("half_log10", One, LOG),
    half_form("half_powr", Two, &[Powers]),
    half_form("half_recip", One, &[]),
    half_form("half_rsqrt", One, &[]),
    half_form("half_sin", One, TRIGONOMETRIC),
    half_form("half_sqrt", One, &[]),
    half_form("half_tan", One, TRIGONOMETRIC),
    bounded([Absolute(NATIVE_SINE), Absent, Absent], native("native_cos", One, &[Uniform(-PI, PI)])),
    native("native_divide", Two, &[Similar]),
    native("native_exp", One, EXP),
    native("native_exp2", One, &[Exponents(2.0)]),
    native("native_exp10", One, &[Exponents(10.0)]),
    native("native_log", One, LOG),
    native("native_log2", One, LOG),
    native("native_log10", One, LOG),
    native("native_powr", Two, &[Powers]),
    native("native_recip", One, &[]),
    native("native_rsqrt", One, &[]),
    bounded([Absolute(NATIVE_SINE), Absent, Absent], native("native_sin", One, &[Uniform(-PI, PI)])),
    native("native_sqrt", One, &[]),
    native("native_tan", One, &[Uniform(-PI, PI)]),
];

impl Function {
    pub fn bound(&self, format: &Format) -> Bound {
        self.bounds.get(format.index()).copied().unwrap_or(Absent)
    }

    /// Returns the name of the function that a `half_` or `native_` function approximates. For other functions, returns
    /// their own name.
    pub fn base(&self) -> &'static str {
        let name = self.name.strip_prefix("half_").or(self.name.strip_prefix("native_")).unwrap_or(self.name);
        match name {
            "divide" => "x / y",
            "recip" => "1.0 / x",
            name => name,
        }
    }

    /// Returns the number of floating-point arguments.
    pub fn arguments(&self) -> usize {
        match self.shape {
            One | WithInt | ToInt | AndFloat | AndInt => 1,
            Two | TwoAndInt => 2,
            Three => 3,
        }
    }

    /// Returns the name of the kernel for the function with this index.
    pub fn kernel(index: usize) -> String {
        format!("k{index}")
    }

    /// Returns the statements of the kernel.
    pub fn body(&self) -> String {
        let name = self.name;
        let call = match (self.call, self.shape) {
            (Some(call), _) => call.to_owned(),
            (None, One | ToInt) => format!("{name}(x)"),
            (None, Two) => format!("{name}(x, y)"),
            (None, Three) => format!("{name}(x, y, z)"),
            (None, WithInt) => format!("{name}(x, m)"),
            (None, AndFloat) => format!("{name}(x, &second)"),
            (None, AndInt) => format!("{name}(x, &whole)"),
            (None, TwoAndInt) => format!("{name}(x, y, &whole)"),
        };
        match self.shape {
            ToInt => format!("whole = {call}; ints[i] = whole;"),
            AndFloat => format!("out[i] = {call}; out2[i] = second;"),
            AndInt | TwoAndInt => format!("out[i] = {call}; ints[i] = whole;"),
            _ => format!("out[i] = {call};"),
        }
    }
}
