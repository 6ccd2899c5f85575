//! The table of built-in functions with generic types (OpenCL C 6.15.1 to 6.15.6).
//!
//! # Signatures
//! `result(parameter, ...)`, optionally followed by `|` and the allowed lane counts (1, 2, 3, 4, 8, and `g` for 16).
//!
//! | spelling | type |
//! |---|---|
//! | `F` | the generic type: half, float or double, of one lane or more |
//! | `P` | the generic type, float only |
//! | `I` | the generic type, any integer |
//! | `Q` | the generic type, `int` or `uint` |
//! | `G` | the generic type, integer or float |
//! | `e` | in a result: one lane of the generic type; in a parameter: one lane as well, but only if the generic type is
//! a vector |
//! | `S`, `U` | signed and unsigned integers of the generic type's lane size and lane count |
//! | `R` | the result of a comparison: `int` for a scalar, else `S` |
//! | `J`, `K` | `int`, `uint` of as many lanes |
//! | `W` | integers of twice the size and of the generic type's sign |
//! | `*X` | pointer to `X` in private, local, global or generic space |
//! | `int`, `uint`, `float`, `size`, `void` | these |

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::Intrinsic;
use crate::target::Target;

/// The implementation of a built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implementation {
    /// IR from [`lower`](crate::lower).
    Intrinsic(Intrinsic),
    /// The scalar function with the same name in the library, called per lane.
    Library,
}

/// Functions with the same signatures.
#[derive(Debug)]
pub struct Row {
    /// Names, separated by blanks.
    pub names: &'static str,
    /// Signatures in order of preference.
    pub signatures: &'static [&'static str],
    pub implementation: Implementation,
    /// Minimum version of OpenCL C, as in `__OPENCL_C_VERSION__`.
    pub since: u32,
    /// The extension that provides the functions.
    pub extension: Option<&'static str>,
}

impl Row {
    /// Whether a program of this version may call the functions on this device.
    pub fn is_offered(&self, version: u32, target: &Target) -> bool {
        version >= self.since && self.extension.is_none_or(|wanted| target.has_extension(wanted))
    }
}

const fn intrinsic(names: &'static str, intrinsic: Intrinsic, signatures: &'static [&'static str]) -> Row {
    Row { names, signatures, implementation: Implementation::Intrinsic(intrinsic), since: 100, extension: None }
}

const fn library(names: &'static str, signatures: &'static [&'static str]) -> Row {
    Row { names, signatures, implementation: Implementation::Library, since: 100, extension: None }
}

const fn since(since: u32, row: Row) -> Row {
    Row { since, ..row }
}

const fn extension(name: &'static str, row: Row) -> Row {
    Row { extension: Some(name), ..row }
}

const BIT_OPS: &str = "cl_khr_extended_bit_ops";

const F1: &[&str] = &["F(F)"];
const F2: &[&str] = &["F(F,F)"];
const F3: &[&str] = &["F(F,F,F)"];
const P1: &[&str] = &["P(P)"];
const P2: &[&str] = &["P(P,P)"];
const I1: &[&str] = &["I(I)"];
const I2: &[&str] = &["I(I,I)"];
const I3: &[&str] = &["I(I,I,I)"];
const DIMENSION: &[&str] = &["size(uint)"];
const R1: &[&str] = &["R(F)"];
const R2: &[&str] = &["R(F,F)"];

static ROWS: &[Row] = &[
    // 6.15.1
    intrinsic("get_work_dim", Intrinsic::GetWorkDim, &["uint()"]),
    intrinsic("get_global_size", Intrinsic::GetGlobalSize, DIMENSION),
    intrinsic("get_global_id", Intrinsic::GetGlobalId, DIMENSION),
    intrinsic("get_local_size", Intrinsic::GetLocalSize, DIMENSION),
    since(200, intrinsic("get_enqueued_local_size", Intrinsic::GetEnqueuedLocalSize, DIMENSION)),
    intrinsic("get_local_id", Intrinsic::GetLocalId, DIMENSION),
    intrinsic("get_num_groups", Intrinsic::GetNumGroups, DIMENSION),
    intrinsic("get_group_id", Intrinsic::GetGroupId, DIMENSION),
    intrinsic("get_global_offset", Intrinsic::GetGlobalOffset, DIMENSION),
    since(200, intrinsic("get_global_linear_id", Intrinsic::GetGlobalLinearId, &["size()"])),
    since(200, intrinsic("get_local_linear_id", Intrinsic::GetLocalLinearId, &["size()"])),
    // 6.15.2
    intrinsic("fabs", Intrinsic::Fabs, F1),
    intrinsic("floor", Intrinsic::Floor, F1),
    intrinsic("ceil", Intrinsic::Ceil, F1),
    intrinsic("trunc", Intrinsic::Trunc, F1),
    intrinsic("rint", Intrinsic::Rint, F1),
    intrinsic("sqrt", Intrinsic::Sqrt, F1),
    intrinsic("rsqrt", Intrinsic::Rsqrt, F1),
    intrinsic("fma", Intrinsic::Fma, F3),
    intrinsic("mad", Intrinsic::Mad, F3),
    intrinsic("fmin", Intrinsic::Fmin, &["F(F,F)", "F(F,e)"]),
    intrinsic("fmax", Intrinsic::Fmax, &["F(F,F)", "F(F,e)"]),
    intrinsic("copysign", Intrinsic::Copysign, F2),
    intrinsic("native_sin", Intrinsic::NativeSin, P1),
    intrinsic("native_cos", Intrinsic::NativeCos, P1),
    intrinsic("native_tan", Intrinsic::NativeTan, P1),
    intrinsic("native_exp2", Intrinsic::NativeExp2, P1),
    intrinsic("native_log2", Intrinsic::NativeLog2, P1),
    intrinsic("native_recip", Intrinsic::NativeRecip, P1),
    intrinsic("native_divide", Intrinsic::NativeDivide, P2),
    intrinsic("native_powr", Intrinsic::NativePowr, P2),
    intrinsic("native_sqrt", Intrinsic::NativeSqrt, P1),
    intrinsic("native_rsqrt", Intrinsic::NativeRsqrt, P1),
    library(
        "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt cos cosh cospi erf erfc exp exp2 exp10 expm1 lgamma log log2 log10 log1p \
         logb round sin sinh sinpi tan tanh tanpi tgamma",
        F1,
    ),
    library("atan2 atan2pi fdim fmod hypot maxmag minmag nextafter pow powr remainder", F2),
    library("ilogb", &["J(F)"]),
    library("ldexp", &["F(F,J)", "F(F,int)"]),
    library("pown rootn", &["F(F,J)"]),
    library("fract modf sincos", &["F(F,*F)"]),
    library("frexp lgamma_r", &["F(F,*J)"]),
    library("remquo", &["F(F,F,*J)"]),
    library(
        "half_cos half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_recip half_rsqrt half_sin half_sqrt half_tan native_exp \
         native_exp10 native_log native_log10",
        P1,
    ),
    library("half_divide half_powr", P2),
    // 6.15.3
    intrinsic("abs", Intrinsic::Abs, &["U(I)"]),
    intrinsic("abs_diff", Intrinsic::AbsDiff, &["U(I,I)"]),
    intrinsic("add_sat", Intrinsic::AddSat, I2),
    intrinsic("sub_sat", Intrinsic::SubSat, I2),
    intrinsic("hadd", Intrinsic::Hadd, I2),
    intrinsic("rhadd", Intrinsic::Rhadd, I2),
    intrinsic("clz", Intrinsic::Clz, I1),
    since(200, intrinsic("ctz", Intrinsic::Ctz, I1)),
    intrinsic("popcount", Intrinsic::Popcount, I1),
    intrinsic("mul_hi", Intrinsic::MulHi, I2),
    intrinsic("mad_hi", Intrinsic::MadHi, I3),
    intrinsic("mad_sat", Intrinsic::MadSat, I3),
    intrinsic("mul24", Intrinsic::Mul24, &["Q(Q,Q)"]),
    intrinsic("mad24", Intrinsic::Mad24, &["Q(Q,Q,Q)"]),
    intrinsic("rotate", Intrinsic::Rotate, I2),
    intrinsic("upsample", Intrinsic::Upsample, &["W(I,U)"]),
    extension(BIT_OPS, intrinsic("bitfield_insert", Intrinsic::BitfieldInsert, &["I(I,I,uint,uint)"])),
    extension(BIT_OPS, intrinsic("bitfield_extract_signed", Intrinsic::BitfieldExtract, &["S(I,uint,uint)"])),
    extension(BIT_OPS, intrinsic("bitfield_extract_unsigned", Intrinsic::BitfieldExtract, &["U(I,uint,uint)"])),
    extension(BIT_OPS, intrinsic("bit_reverse", Intrinsic::ReverseBits, I1)),
    intrinsic("min", Intrinsic::Min, &["G(G,G)", "G(G,e)"]),
    intrinsic("max", Intrinsic::Max, &["G(G,G)", "G(G,e)"]),
    intrinsic("clamp", Intrinsic::Clamp, &["G(G,G,G)", "G(G,e,e)"]),
    // 6.15.4
    intrinsic("degrees", Intrinsic::Degrees, F1),
    intrinsic("radians", Intrinsic::Radians, F1),
    intrinsic("mix", Intrinsic::Mix, &["F(F,F,F)", "F(F,F,e)"]),
    intrinsic("step", Intrinsic::Step, &["F(F,F)", "F(e,F)"]),
    intrinsic("smoothstep", Intrinsic::Smoothstep, &["F(F,F,F)", "F(e,e,F)"]),
    intrinsic("sign", Intrinsic::Sign, F1),
    // 6.15.5
    intrinsic("dot", Intrinsic::Dot, &["e(F,F)|1234"]),
    intrinsic("cross", Intrinsic::Cross, &["F(F,F)|34"]),
    intrinsic("length", Intrinsic::Length, &["e(F)|1234"]),
    intrinsic("distance", Intrinsic::Distance, &["e(F,F)|1234"]),
    intrinsic("normalize", Intrinsic::Normalize, &["F(F)|1234"]),
    intrinsic("fast_length", Intrinsic::FastLength, &["e(P)|1234"]),
    intrinsic("fast_distance", Intrinsic::FastDistance, &["e(P,P)|1234"]),
    intrinsic("fast_normalize", Intrinsic::FastNormalize, &["P(P)|1234"]),
    // 6.15.6
    intrinsic("isequal", Intrinsic::IsEqual, R2),
    intrinsic("isnotequal", Intrinsic::IsNotEqual, R2),
    intrinsic("isgreater", Intrinsic::IsGreater, R2),
    intrinsic("isgreaterequal", Intrinsic::IsGreaterEqual, R2),
    intrinsic("isless", Intrinsic::IsLess, R2),
    intrinsic("islessequal", Intrinsic::IsLessEqual, R2),
    intrinsic("islessgreater", Intrinsic::IsLessGreater, R2),
    intrinsic("isordered", Intrinsic::IsOrdered, R2),
    intrinsic("isunordered", Intrinsic::IsUnordered, R2),
    intrinsic("isfinite", Intrinsic::IsFinite, R1),
    intrinsic("isinf", Intrinsic::IsInf, R1),
    intrinsic("isnan", Intrinsic::IsNan, R1),
    intrinsic("isnormal", Intrinsic::IsNormal, R1),
    intrinsic("signbit", Intrinsic::SignBit, R1),
    intrinsic("any", Intrinsic::Any, &["int(I)"]),
    intrinsic("all", Intrinsic::All, &["int(I)"]),
    intrinsic("bitselect", Intrinsic::BitSelect, &["G(G,G,G)"]),
    intrinsic("select", Intrinsic::Select, &["G(G,G,S)", "G(G,G,U)"]),
];

static INDEX: LazyLock<FxHashMap<&'static str, &'static Row>> =
    LazyLock::new(|| ROWS.iter().flat_map(|row| row.names.split_whitespace().map(move |name| (name, row))).collect());

/// The row of a function.
pub fn find(name: &str) -> Option<&'static Row> {
    INDEX.get(name).copied()
}

/// A type in a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atom {
    /// The generic type.
    Generic,
    /// One lane of the generic type.
    Element,
    /// Signed integers with the lane size and count of the generic type.
    Signed,
    /// Unsigned integers with the lane size and count of the generic type.
    Unsigned,
    /// The result type of a comparison of the generic type.
    Relational,
    /// `int` with the lane count of the generic type.
    Ints,
    /// `uint` with the lane count of the generic type.
    UInts,
    /// Integers of twice the size.
    Wide,
    /// A scalar `int`. The types below are scalars too.
    Int,
    UInt,
    Float,
    /// `size_t`: the width of a pointer of the device.
    Size,
    /// No value. For results only.
    Void,
}

/// The allowed generic types of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    None,
    /// Any floating type: `F` in the table.
    Floats,
    /// `float` only: `P` in the table.
    FloatOnly,
    /// Any integer type except `bool`: `I` in the table.
    Integers,
    /// `int` and `uint`: `Q` in the table.
    Integers32,
    /// Any type except `bool`: `G` in the table.
    All,
}

/// A parsed signature.
#[derive(Debug)]
pub struct Signature {
    pub class: Class,
    pub ret: Atom,
    /// Parameters: the type, and whether the parameter is a pointer to it.
    pub params: Vec<(Atom, bool)>,
    /// Allowed lane counts. Empty if all are allowed.
    pub lanes: Vec<u8>,
}

impl Signature {
    /// Parses a signature of the table.
    pub fn parse(text: &str) -> Self {
        let (text, lanes) = text.split_once('|').unwrap_or((text, ""));
        let (ret, rest) = text.split_once('(').unwrap_or((text, ")"));
        let mut class = Class::None;
        let ret = atom(ret, &mut class);
        let params = rest
            .trim_end_matches(')')
            .split(',')
            .filter(|p| !p.is_empty())
            .map(|param| match param.strip_prefix('*') {
                Some(param) => (atom(param, &mut class), true),
                None => (atom(param, &mut class), false),
            })
            .collect();
        let lanes =
            lanes.chars().filter_map(|c| if c == 'g' { Some(16) } else { c.to_digit(10).and_then(|d| u8::try_from(d).ok()) }).collect();
        Self { class, ret, params, lanes }
    }
}

fn atom(text: &str, class: &mut Class) -> Atom {
    let mut generic = |found| {
        *class = found;
        Atom::Generic
    };
    match text {
        "F" => generic(Class::Floats),
        "P" => generic(Class::FloatOnly),
        "I" => generic(Class::Integers),
        "Q" => generic(Class::Integers32),
        "G" => generic(Class::All),
        "e" => Atom::Element,
        "S" => Atom::Signed,
        "U" => Atom::Unsigned,
        "R" => Atom::Relational,
        "J" => Atom::Ints,
        "K" => Atom::UInts,
        "W" => Atom::Wide,
        "int" => Atom::Int,
        "uint" => Atom::UInt,
        "float" => Atom::Float,
        "size" => Atom::Size,
        _ => Atom::Void,
    }
}

/// The name as a static string.
pub fn name(name: &str) -> Option<&'static str> {
    INDEX.get_key_value(name).map(|(name, _)| *name)
}

/// The names of all functions in the table.
pub fn names() -> impl Iterator<Item = &'static str> {
    INDEX.keys().copied()
}

#[cfg(test)]
mod tests {
    use super::{Atom, ROWS, Signature};

    #[test]
    fn signatures_are_spelled_right() {
        for row in ROWS {
            for text in row.signatures {
                let signature = Signature::parse(text);
                assert_ne!(signature.ret, Atom::Void, "{text}");
                assert!(signature.params.iter().all(|(atom, _)| *atom != Atom::Void), "{text}");
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = ROWS.iter().flat_map(|row| row.names.split_whitespace()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
