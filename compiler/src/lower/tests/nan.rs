//! NaN checks: a NaN result of operands that are not NaN is a fault, in lowered IR and after the passes.

use super::programs::has_fault;
use crate::interpret::FaultKind;
use crate::target::{Target, ValueChecks};

/// Whether a statement creates a NaN from operands that are not NaN. `z` is 0, `one` is 1, `n` is a NaN.
fn makes_nan(statement: &str) -> bool {
    let target = Target { value_checks: ValueChecks { nans: true, ..ValueChecks::NONE }, ..Target::full() };
    let text = format!(
        "kernel void k(global float *out) {{ float z = out[0], one = z + 1, n = as_float(as_int(z) | 0x7fc00000); {statement}; out[1] = n; }}"
    );
    has_fault(&text, &target, FaultKind::NanCreated)
}

#[test]
fn nans_of_numbers_are_reported() {
    for statement in [
        "z / z",
        "z /= z",
        "float4 v = one / (float4)(1, 0, 1, 1) * z",
        "float inf = one / z; out[2] = inf - inf",
        "float inf = one / z; out[2] = inf * z + one",
        "sqrt(-one)",
        "pow(-one, 0.5f)",
        "fmod(one, z)",
        "acos((float2)(one, 2)).y",
        "int e; lgamma_r(-one / z, &e); remquo((float2)one, (float2)(1, 0), (int2 *)&out[2])",
        "cross((float3)(one / z, 1, 1), (float3)z)",
        "mix(one / z, -one / z, z)",
        "double d = z; d / d",
        "half h = (half)z; h / h",
    ] {
        assert!(makes_nan(statement), "{statement}");
    }
}

#[test]
fn nan_operands_are_not_reported() {
    for statement in [
        "n + one",
        "n * n - n",
        "sqrt(n)",
        "nan(5u)",
        "as_float(0x7fc00001)",
        "NAN",
        "out[2] = z > one ? z / z : one",
        "out[2] = z != 0 && z / z > one",
        "float2 v = (float2)(n, one); v = v * v; out[2] = dot(v, v)",
        "cross((float3)(one, n, one), (float3)one)",
        "fmin(n, one) + fmax(one, n)",
        "bitselect(one, -one, n)",
        "select(one, n, 1)",
        // Functions whose intermediate results are NaNs.
        "pow(z, one) + atan2(z, -z) + hypot(one / z, n) + pown(z, 0) + sinpi(one / one) + tgamma(one) + fmod(one, one / z)",
        "erf(one / z) + exp(-one / z) + log2(z) + cbrt(-one) + rootn(-one, 3) + ldexp(one, 3)",
    ] {
        assert!(!makes_nan(statement), "{statement}");
    }
}
