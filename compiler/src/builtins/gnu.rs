//! `__builtin_...` functions of GNU C and clang.

use crate::ast::ScalarKind;

/// The function that a `__builtin_...` name refers to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Gnu {
    /// `expect(x, likely)`, which returns `x`.
    Expect,
    /// A bit function of `uint` or `ulong`.
    Bits(Bits, ScalarKind),
    /// Reverses the bytes of an integer.
    ByteSwap(ScalarKind),
    Abs(ScalarKind),
    /// A hint without effect. Its operands are not evaluated.
    Nothing,
    ConstantP,
    AssumeAligned,
    Constant(ScalarKind, f64),
    /// A function of OpenCL C. The arguments are converted to the type, except for the exponent of `ldexp`. `None` does
    /// not convert them. On devices without doubles, `Double` means `float`.
    Function(&'static str, Option<ScalarKind>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bits {
    Popcount,
    Parity,
    Clz,
    Ctz,
    Ffs,
}

/// Returns the function that a name refers to, or `None` for other names.
pub(crate) fn parse(name: &str) -> Option<Gnu> {
    let name = name.strip_prefix("__builtin_")?;
    let sized = |name: &str| {
        let (bare, kind) = match name.strip_suffix('l') {
            Some(bare) => (bare.strip_suffix('l').unwrap_or(bare), ScalarKind::ULong),
            None => (name, ScalarKind::UInt),
        };
        let bits = match bare {
            "popcount" => Bits::Popcount,
            "parity" => Bits::Parity,
            "clz" => Bits::Clz,
            "ctz" => Bits::Ctz,
            "ffs" => Bits::Ffs,
            _ => return None,
        };
        Some(Gnu::Bits(bits, kind))
    };
    Some(match name {
        "expect" | "expect_with_probability" => Gnu::Expect,
        "bswap16" => Gnu::ByteSwap(ScalarKind::UShort),
        "bswap32" => Gnu::ByteSwap(ScalarKind::UInt),
        "bswap64" => Gnu::ByteSwap(ScalarKind::ULong),
        "abs" => Gnu::Abs(ScalarKind::Int),
        "labs" | "llabs" => Gnu::Abs(ScalarKind::Long),
        "unreachable" | "assume" | "prefetch" => Gnu::Nothing,
        "constant_p" => Gnu::ConstantP,
        "assume_aligned" => Gnu::AssumeAligned,
        "inff" | "huge_valf" => Gnu::Constant(ScalarKind::Float, f64::INFINITY),
        "inf" | "huge_val" => Gnu::Constant(ScalarKind::Double, f64::INFINITY),
        "nanf" => Gnu::Constant(ScalarKind::Float, f64::NAN),
        "nan" => Gnu::Constant(ScalarKind::Double, f64::NAN),
        _ => return sized(name).or_else(|| relational(name)).or_else(|| math(name)),
    })
}

/// Returns the function if OpenCL C has a relational function with the same name.
fn relational(name: &str) -> Option<Gnu> {
    let function = ["isnan", "isinf", "isfinite", "isnormal", "signbit"].into_iter().find(|function| *function == name)?;
    Some(Gnu::Function(function, None))
}

/// Returns the function for a name of the C library. The arguments of `sqrtf` are `float`, those of `sqrt` are
/// `double`, or `float` on devices without doubles.
fn math(name: &str) -> Option<Gnu> {
    const MATH: &str = "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma \
        fmax fmin fmod hypot ldexp lgamma log log10 log1p log2 logb nextafter pow remainder rint round sin sinh sqrt \
        tan tanh tgamma trunc";
    let find = |name: &str| MATH.split(' ').find(|function| *function == name);
    match name.strip_suffix('f').and_then(find) {
        Some(function) => Some(Gnu::Function(function, Some(ScalarKind::Float))),
        None => find(name).map(|function| Gnu::Function(function, Some(ScalarKind::Double))),
    }
}

/// Whether a name refers to a function of [`Gnu`] (`__has_builtin`).
pub(crate) fn is_known(name: &str) -> bool {
    parse(name).is_some()
}
