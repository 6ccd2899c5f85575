//! The table of built-in functions with generic types (OpenCL C 6.15.1 to 6.15.6).
//!
//! # Signatures
//! `result(parameter, ...)`, optionally followed by `|` and the lane counts allowed (of 1, 2, 3, 4, 8, 16; `8` and `g` for 16).
//!
//! | spelling | type |
//! |---|---|
//! | `F` | the generic type: half, float or double, of one lane or more |
//! | `P` | the generic type, float only |
//! | `I` | the generic type, any integer |
//! | `Q` | the generic type, `int` or `uint` |
//! | `G` | the generic type, integer or float |
//! | `e` | in a result: one lane of the generic type; in a parameter: the same, and only where the generic type is a vector |
//! | `S`, `U` | signed and unsigned integers of the generic type's lane size and lane count |
//! | `R` | the result of a comparison: `int` for a scalar, else `S` |
//! | `J`, `K` | `int`, `uint` of as many lanes |
//! | `W` | integers of twice the size and of the generic type's sign |
//! | `*X` | pointer to `X` in private, local, global or generic space |
//! | `int`, `uint`, `float`, `size`, `void` | these |

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::Native;
use crate::target::Target;

/// How a built-in is implemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By the IR that [`lower`](crate::lower) writes for it.
    Native(Native),
    /// By the scalar function of the same name in the library, called for each lane.
    Library,
}

/// Functions that share their signatures.
#[derive(Debug)]
pub struct Row {
    /// Names, separated by blanks.
    pub names: &'static str,
    /// Signatures, the preferred ones first.
    pub signatures: &'static [&'static str],
    /// Who implements them.
    pub how: How,
    /// Least version of OpenCL C, as in `__OPENCL_C_VERSION__`.
    pub since: u32,
    /// The extension that they are functions of, if it takes one.
    pub extension: Option<&'static str>,
}

impl Row {
    /// Whether a program of that version may call them on that device.
    pub fn is_offered(&self, version: u32, target: &Target) -> bool {
        version >= self.since && self.extension.is_none_or(|wanted| target.has_extension(wanted))
    }
}

const fn native(names: &'static str, native: Native, signatures: &'static [&'static str]) -> Row {
    Row { names, signatures, how: How::Native(native), since: 100, extension: None }
}

const fn library(names: &'static str, signatures: &'static [&'static str]) -> Row {
    Row { names, signatures, how: How::Library, since: 100, extension: None }
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
    native("get_work_dim", Native::GetWorkDim, &["uint()"]),
    native("get_global_size", Native::GetGlobalSize, DIMENSION),
    native("get_global_id", Native::GetGlobalId, DIMENSION),
    native("get_local_size", Native::GetLocalSize, DIMENSION),
    since(200, native("get_enqueued_local_size", Native::GetEnqueuedLocalSize, DIMENSION)),
    native("get_local_id", Native::GetLocalId, DIMENSION),
    native("get_num_groups", Native::GetNumGroups, DIMENSION),
    native("get_group_id", Native::GetGroupId, DIMENSION),
    native("get_global_offset", Native::GetGlobalOffset, DIMENSION),
    since(200, native("get_global_linear_id", Native::GetGlobalLinearId, &["size()"])),
    since(200, native("get_local_linear_id", Native::GetLocalLinearId, &["size()"])),
    // 6.15.2
    native("fabs", Native::Fabs, F1),
    native("floor", Native::Floor, F1),
    native("ceil", Native::Ceil, F1),
    native("trunc", Native::Trunc, F1),
    native("rint", Native::Rint, F1),
    native("sqrt", Native::Sqrt, F1),
    native("rsqrt", Native::Rsqrt, F1),
    native("fma", Native::Fma, F3),
    native("mad", Native::Mad, F3),
    native("fmin", Native::Fmin, &["F(F,F)", "F(F,e)"]),
    native("fmax", Native::Fmax, &["F(F,F)", "F(F,e)"]),
    native("copysign", Native::Copysign, F2),
    native("native_sin", Native::NativeSin, P1),
    native("native_cos", Native::NativeCos, P1),
    native("native_tan", Native::NativeTan, P1),
    native("native_exp2", Native::NativeExp2, P1),
    native("native_log2", Native::NativeLog2, P1),
    native("native_recip", Native::NativeRecip, P1),
    native("native_divide", Native::NativeDivide, P2),
    native("native_powr", Native::NativePowr, P2),
    native("native_sqrt", Native::NativeSqrt, P1),
    native("native_rsqrt", Native::NativeRsqrt, P1),
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
    native("abs", Native::Abs, &["U(I)"]),
    native("abs_diff", Native::AbsDiff, &["U(I,I)"]),
    native("add_sat", Native::AddSat, I2),
    native("sub_sat", Native::SubSat, I2),
    native("hadd", Native::Hadd, I2),
    native("rhadd", Native::Rhadd, I2),
    native("clz", Native::Clz, I1),
    since(200, native("ctz", Native::Ctz, I1)),
    native("popcount", Native::Popcount, I1),
    native("mul_hi", Native::MulHi, I2),
    native("mad_hi", Native::MadHi, I3),
    native("mad_sat", Native::MadSat, I3),
    native("mul24", Native::Mul24, &["Q(Q,Q)"]),
    native("mad24", Native::Mad24, &["Q(Q,Q,Q)"]),
    native("rotate", Native::Rotate, I2),
    native("upsample", Native::Upsample, &["W(I,U)"]),
    extension(BIT_OPS, native("bitfield_insert", Native::BitfieldInsert, &["I(I,I,uint,uint)"])),
    extension(BIT_OPS, native("bitfield_extract_signed", Native::BitfieldExtract, &["S(I,uint,uint)"])),
    extension(BIT_OPS, native("bitfield_extract_unsigned", Native::BitfieldExtract, &["U(I,uint,uint)"])),
    extension(BIT_OPS, native("bit_reverse", Native::ReverseBits, I1)),
    native("min", Native::Min, &["G(G,G)", "G(G,e)"]),
    native("max", Native::Max, &["G(G,G)", "G(G,e)"]),
    native("clamp", Native::Clamp, &["G(G,G,G)", "G(G,e,e)"]),
    // 6.15.4
    native("degrees", Native::Degrees, F1),
    native("radians", Native::Radians, F1),
    native("mix", Native::Mix, &["F(F,F,F)", "F(F,F,e)"]),
    native("step", Native::Step, &["F(F,F)", "F(e,F)"]),
    native("smoothstep", Native::Smoothstep, &["F(F,F,F)", "F(e,e,F)"]),
    native("sign", Native::Sign, F1),
    // 6.15.5
    native("dot", Native::Dot, &["e(F,F)|1234"]),
    native("cross", Native::Cross, &["F(F,F)|34"]),
    native("length", Native::Length, &["e(F)|1234"]),
    native("distance", Native::Distance, &["e(F,F)|1234"]),
    native("normalize", Native::Normalize, &["F(F)|1234"]),
    native("fast_length", Native::FastLength, &["e(P)|1234"]),
    native("fast_distance", Native::FastDistance, &["e(P,P)|1234"]),
    native("fast_normalize", Native::FastNormalize, &["P(P)|1234"]),
    // 6.15.6
    native("isequal", Native::IsEqual, R2),
    native("isnotequal", Native::IsNotEqual, R2),
    native("isgreater", Native::IsGreater, R2),
    native("isgreaterequal", Native::IsGreaterEqual, R2),
    native("isless", Native::IsLess, R2),
    native("islessequal", Native::IsLessEqual, R2),
    native("islessgreater", Native::IsLessGreater, R2),
    native("isordered", Native::IsOrdered, R2),
    native("isunordered", Native::IsUnordered, R2),
    native("isfinite", Native::IsFinite, R1),
    native("isinf", Native::IsInf, R1),
    native("isnan", Native::IsNan, R1),
    native("isnormal", Native::IsNormal, R1),
    native("signbit", Native::SignBit, R1),
    native("any", Native::Any, &["int(I)"]),
    native("all", Native::All, &["int(I)"]),
    native("bitselect", Native::BitSelect, &["G(G,G,G)"]),
    native("select", Native::Select, &["G(G,G,S)", "G(G,G,U)"]),
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
    /// One lane of it.
    Element,
    /// Signed integers of its shape.
    Signed,
    /// Unsigned integers of its shape.
    Unsigned,
    /// Result of a comparison of it.
    Relational,
    /// `int` of as many lanes.
    Ints,
    /// `uint` of as many lanes.
    UInts,
    /// Integers of twice the size.
    Wide,
    /// A scalar `int`, however many lanes the generic type has; so are those below.
    Int,
    UInt,
    Float,
    /// `size_t`: as wide as a pointer of the device.
    Size,
    /// No value; for results only.
    Void,
}

/// What the generic type of a signature may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// There is none.
    None,
    /// Any floating type: `F` in the table.
    Floats,
    /// `float` alone, whatever the device has besides: `P` in the table.
    FloatOnly,
    /// Any integer type but `bool`: `I` in the table.
    Integers,
    /// `int` and `uint`: `Q` in the table.
    Integers32,
    /// Any type but `bool`: `G` in the table.
    All,
}

/// A signature, parsed.
#[derive(Debug)]
pub struct Signature {
    /// What the generic type may be.
    pub class: Class,
    /// The type of the result.
    pub ret: Atom,
    /// Parameters: a type, and whether it is a pointer to that type.
    pub params: Vec<(Atom, bool)>,
    /// Lane counts allowed; all if empty.
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

/// A name as the table spells it.
pub fn name(name: &str) -> Option<&'static str> {
    INDEX.get_key_value(name).map(|(name, _)| *name)
}

/// The names of all functions of the table.
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
