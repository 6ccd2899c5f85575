//! Conversion checks: a conversion of a float to an integer that cannot represent the result is a fault, in lowered IR
//! and after the passes.

use super::programs::has_fault;
use crate::interpret::FaultKind;
use crate::target::{Target, ValueChecks};

/// Whether a statement converts a float that is out of range. `z` is 0, `d` is the double 0.
fn is_out_of_range(statement: &str) -> bool {
    let target = Target { value_checks: ValueChecks { conversions: true, ..ValueChecks::NONE }, ..Target::full() };
    let text = format!("kernel void k(global float *out) {{ float z = out[0]; double d = z; {statement}; }}");
    has_fault(&text, &target, FaultKind::ConversionOutOfRange)
}

/// Each integer type, with the largest and the smallest double that converts, and their neighbours that do not.
#[test]
fn the_limits_are_exact() {
    for (name, [above, most, least, below]) in [
        ("char", ["128.0", "127.99999999999999", "-128.99999999999997", "-129.0"]),
        ("uchar", ["256.0", "255.99999999999997", "-0.9999999999999999", "-1.0"]),
        ("short", ["32768.0", "32767.999999999996", "-32768.99999999999", "-32769.0"]),
        ("ushort", ["65536.0", "65535.99999999999", "-0.9999999999999999", "-1.0"]),
        ("int", ["2147483648.0", "2147483647.9999998", "-2147483648.9999995", "-2147483649.0"]),
        ("uint", ["4294967296.0", "4294967295.9999995", "-0.9999999999999999", "-1.0"]),
        ("long", ["9223372036854775808.0", "9223372036854774784.0", "-9223372036854775808.0", "-9223372036854777856.0"]),
        ("ulong", ["18446744073709551616.0", "18446744073709549568.0", "-0.9999999999999999", "-1.0"]),
    ] {
        for (number, expected) in [(above, true), (most, false), (least, false), (below, true)] {
            assert_eq!(is_out_of_range(&format!("out[1] = ({name})(d + {number})")), expected, "{name} {number}");
        }
    }
}

#[test]
fn conversions_out_of_range_are_reported() {
    for statement in [
        "int i = z + 3e9f; out[1] = i",
        "int i = 1; i += z / z; out[1] = i",
        "uchar c = 250; c *= z + 1.5f; out[1] = c",
        "out[1] = convert_uchar_rte(z + 255.5f)",
        "out[1] = convert_char_rtn(z - 128.5f)",
        "out[1] = convert_int2((float2)(z, z + 1e20f)).y",
        "half h = (half)(z + 300); out[1] = (char)h",
        "half h = (half)(1 / z); out[1] = (int)h",
    ] {
        assert!(is_out_of_range(statement), "{statement}");
    }
}

#[test]
fn other_conversions_are_not_reported() {
    for statement in [
        "out[1] = convert_int_sat(z + 3e9f) + convert_uchar_sat(z - 1) + convert_int_sat(z / z) + convert_char_sat_rte(z + 1000)",
        "out[1] = z > 1 ? (int)(z + 1e10f) : 3; out[2] = z && (int)(z + 1e10f)",
        "out[1] = convert_uchar_rtz(z - 0.5f) + convert_uchar_rte(z + 255.4f)",
        "bool b = z / z; out[1] = b",
        "out[1] = convert_float(d + 1e300) + (half)(z + 1e10f)",
        // Functions that convert to integers internally.
        "int e; out[1] = sin(z + 1e30f) + exp(z + 1e10f) + pown(z + 2, 3) + remquo(z + 1e30f, 3, &e) + ilogb(1 / z) + tgamma(z + 1e10f)",
    ] {
        assert!(!is_out_of_range(statement), "{statement}");
    }
}
