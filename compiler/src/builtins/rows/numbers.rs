//! Rows of the work-item functions, and of the math, integer, common, geometric and relational functions
//! (OpenCL C 6.15.1 to 6.15.6).

use super::super::Intrinsic;
use super::super::table::{Row, extension, intrinsic, library, since};

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

pub(crate) static ROWS: &[Row] = &[
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
    library("ilogb", &["int#(F)"]),
    library("ldexp", &["F(F,int#)", "F(F,int)"]),
    library("pown rootn", &["F(F,int#)"]),
    library("fract modf sincos", &["F(F,~*F)"]),
    library("frexp lgamma_r", &["F(F,~*int#)"]),
    library("remquo", &["F(F,F,~*int#)"]),
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
