//! Compares explicit conversions between all scalar types (6.4.3), and loads and stores of halves (6.15.7), with exact
//! arithmetic, for every rounding mode. The inputs are all halves and all 16-bit integers. For the other types, they
//! are edges, halfway cases and random numbers.

use std::fmt::Write as _;

use rug::float::Round;
use rug::{Float, Integer};

use crate::common::ffi::{CL_DEVICE_PROFILE, CL_SUCCESS};
use crate::common::objects::{Context, Queue};
use crate::common::{info_string, target};
use crate::device;
use crate::format::{DOUBLE, FLOAT, Format, HALF};
use crate::inputs::{Random, edges};

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Type {
    Int { name: &'static str, bits: u32, signed: bool },
    Real(Format),
}

const fn int(name: &'static str, bits: u32, signed: bool) -> Type {
    Type::Int { name, bits, signed }
}

const TYPES: [Type; 11] = [
    int("char", 8, true),
    int("uchar", 8, false),
    int("short", 16, true),
    int("ushort", 16, false),
    int("int", 32, true),
    int("uint", 32, false),
    int("long", 64, true),
    int("ulong", 64, false),
    Type::Real(FLOAT),
    Type::Real(DOUBLE),
    Type::Real(HALF),
];

/// Suffixes of conversion functions, and their rounding directions. Without a suffix, conversions to floating-point
/// types round to nearest, and conversions to integers round towards zero.
const MODES: [(&str, Option<Round>); 5] =
    [("", None), ("_rte", Some(Round::Nearest)), ("_rtz", Some(Round::Zero)), ("_rtp", Some(Round::Up)), ("_rtn", Some(Round::Down))];

/// An exact value of a scalar type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Int(i128),
    Real(f64),
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Self::Int { name, .. } => name,
            Self::Real(format) => format.name,
        }
    }

    fn size(self) -> usize {
        match self {
            Self::Int { bits, .. } => bits as usize / 8,
            Self::Real(format) => format.size,
        }
    }

    fn decode(self, bits: u64) -> Value {
        match self {
            Self::Int { bits: width, signed, .. } => {
                let value = i128::from(bits);
                let wrapped = if signed && bits >> (width - 1) & 1 == 1 { value - (1 << width) } else { value };
                Value::Int(wrapped)
            }
            Self::Real(format) => Value::Real(format.decode(bits)),
        }
    }

    /// Returns the least and the largest number of an integer type.
    fn range(self) -> Option<(i128, i128)> {
        match self {
            Self::Int { bits, signed: true, .. } => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Self::Int { bits, .. } => Some((0, (1 << bits) - 1)),
            Self::Real(_) => None,
        }
    }

    /// Returns the bits of the values to convert from.
    fn sources(self) -> Vec<u64> {
        if self.size() <= 2 {
            return (0..1u64 << (self.size() * 8)).collect();
        }
        let mut random = Random::new(self.name());
        match self {
            Self::Int { bits, .. } => {
                let mask = u64::MAX >> (64 - bits);
                let near = |power: u32| (0..7).flat_map(move |k| [(1u64 << power).wrapping_add(k).wrapping_sub(3)]);
                let mut all: Vec<u64> = (0..bits).flat_map(near).collect();
                for precision in [11, 24, 53].into_iter().filter(|&precision| precision < bits) {
                    // Numbers halfway between two numbers of a floating-point format, and the adjacent values.
                    all.extend((0..600).flat_map(|_| {
                        let significand = random.next() >> (64 - precision) << 1 | 1;
                        let shift = random.below(u64::from(bits - precision));
                        [0, 1, u64::MAX].map(|by| (significand << shift).wrapping_add(by))
                    }));
                }
                all.extend((0..2000).map(|_| random.next() >> random.below(64)));
                all.iter().flat_map(|&x| [x & mask, x.wrapping_neg() & mask]).collect()
            }
            Self::Real(format) => {
                let mut all = edges(&format);
                all.extend((0..2000).map(|_| random.stratified(&format)));
                // Numbers halfway between two halves or floats, and the adjacent values. Then the limits of the integer
                // types.
                for (precision, least, most) in [(11, -26, 17), (24, -151, 129)] {
                    all.extend((0..1500).flat_map(|_| {
                        let significand = (random.next() >> (64 - precision) << 1 | 1) as f64;
                        let exponent = least + i32::try_from(random.below(u64::from((most - least) as u32))).unwrap_or(0);
                        let middle = significand * crate::format::pow2(exponent - precision);
                        let middle = format.nearest(middle);
                        [-1, 0, 1].map(|by| format.step(middle, by)).map(|x| if random.below(2) == 0 { x } else { -x })
                    }));
                }
                for power in [7, 8, 15, 16, 31, 32, 63, 64] {
                    let limit = crate::format::pow2(power);
                    let near = [limit, limit - 0.5, limit - 1.0, limit - 1.5, limit + 0.5, limit + 1.0, limit + 1.5];
                    all.extend(near.into_iter().flat_map(|x| [x, -x]).map(|x| format.nearest(x)));
                    all.extend([-1, 1].map(|by| format.step(format.nearest(limit), by)));
                }
                all.extend((-2000..2000).map(|k| format.nearest(f64::from(k) / 8.0)));
                all.into_iter().map(|x| format.encode(x)).collect()
            }
        }
    }
}

/// Returns the exact result of a conversion, or `None` if the result is undefined.
fn convert(from: Value, to: Type, direction: Option<Round>, saturate: bool) -> Option<Value> {
    let exact = match from {
        Value::Int(value) => Float::with_val(72, value),
        Value::Real(value) => Float::with_val(72, value),
    };
    let Some((least, most)) = to.range() else {
        let Type::Real(format) = to else { return None };
        return Some(Value::Real(format.round_to(&exact, direction.unwrap_or(Round::Nearest))));
    };
    let whole = match from {
        Value::Int(value) => value,
        Value::Real(value) if value.is_nan() => return saturate.then_some(Value::Int(0)),
        Value::Real(value) if value.is_infinite() => {
            if value > 0.0 {
                i128::MAX
            } else {
                i128::MIN
            }
        }
        Value::Real(_) => {
            let rounded = match direction {
                Some(Round::Nearest) => exact.round_even(),
                Some(Round::Up) => exact.ceil(),
                Some(Round::Down) => exact.floor(),
                _ => exact.trunc(),
            };
            let beyond = if rounded.is_sign_negative() { i128::MIN } else { i128::MAX };
            rounded.to_integer().and_then(|whole: Integer| whole.to_i128()).unwrap_or(beyond)
        }
    };
    if (least..=most).contains(&whole) {
        Some(Value::Int(whole))
    } else if saturate {
        Some(Value::Int(whole.clamp(least, most)))
    } else if matches!(from, Value::Int(_)) {
        // Conversions between integers wrap modulo 2^bits.
        let wrapped = (whole - least).rem_euclid(most - least + 1) + least;
        Some(Value::Int(wrapped))
    } else {
        None
    }
}

/// Whether two values are equal. All NaNs are equal, but zeros of different signs are not.
fn are_equal(wanted: Value, got: Value) -> bool {
    match (wanted, got) {
        (Value::Real(x), Value::Real(y)) => x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan(),
        (x, y) => x == y,
    }
}

/// Whether a result is correct, or correct for a device that flushes denormals.
fn is_permitted(from: Type, to: Type, input: Value, got: Value, direction: Option<Round>, saturate: bool) -> bool {
    let Some(wanted) = convert(input, to, direction, saturate) else { return true };
    if are_equal(wanted, got) {
        return true;
    }
    let flushes = |ty: Type, value: Value| match (ty, value) {
        (Type::Real(format), Value::Real(x)) => format.is_subnormal(x) && !device::keeps_denormals(&format),
        _ => false,
    };
    let zero = |value: Value| value == Value::Real(0.0);
    if flushes(to, wanted) && zero(got) {
        return true;
    }
    flushes(from, input)
        && [0.0, -0.0].iter().any(|&x| convert(Value::Real(x), to, direction, saturate).is_some_and(|wanted| are_equal(wanted, got)))
}

fn to_bytes(values: &[u64], size: usize) -> Vec<u8> {
    values.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(size)).collect()
}

fn from_bytes(bytes: &[u8], size: usize) -> Vec<u64> {
    bytes.chunks(size).map(|chunk| chunk.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))).collect()
}

/// A conversion function: its name, its rounding direction, and whether it saturates.
struct Variant {
    text: String,
    direction: Option<Round>,
    saturate: bool,
}

fn variants(to: Type) -> Vec<Variant> {
    let saturations: &[&str] = if to.range().is_some() { &["", "_sat"] } else { &[""] };
    saturations
        .iter()
        .flat_map(|sat| {
            MODES.iter().map(move |&(suffix, direction)| Variant {
                text: format!("convert_{}{sat}{suffix}", to.name()),
                direction,
                saturate: !sat.is_empty(),
            })
        })
        .collect()
}

/// Runs a kernel `k(in, out, count)` over the inputs. Returns the results of each variant.
fn run(queue: &Queue, context: &Context, source: &str, inputs: (&[u64], usize), out: usize, variants: usize) -> Vec<Vec<u64>> {
    let program = context.build(source);
    let kernel = program.kernel("k");
    let (values, size) = inputs;
    let count = values.len();
    let input = context.buffer(count * size);
    queue.write(&input, &to_bytes(values, size));
    let output = context.buffer(count * out * variants);
    kernel.set_mem(0, &input);
    kernel.set_mem(1, &output);
    assert_eq!(kernel.set(2, &u32::try_from(count).unwrap_or(0)), CL_SUCCESS, "clSetKernelArg");
    assert_eq!(queue.launch(&kernel, &[count], None), CL_SUCCESS, "clEnqueueNDRangeKernel");
    let bytes = queue.read::<u8>(&output, count * out * variants);
    from_bytes(&bytes, out).chunks(count).map(<[u64]>::to_vec).collect()
}

fn header(types: &[Type]) -> &'static str {
    if types.contains(&Type::Real(HALF)) { "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" } else { "" }
}

fn supports(ty: Type) -> bool {
    match ty {
        Type::Real(format) => device::supports(&format),
        // Devices of the embedded profile may lack 64-bit integers.
        Type::Int { bits, .. } => {
            let query = |size, value, ret| target().cl.clGetDeviceInfo(target().device, CL_DEVICE_PROFILE, size, value, ret);
            bits < 64 || info_string(query).as_deref() == Ok("FULL_PROFILE")
        }
    }
}

#[test]
fn conversions_are_exact() {
    let context = Context::new();
    let queue = context.queue(0);
    let types: Vec<Type> = TYPES.into_iter().filter(|ty| supports(*ty)).collect();
    let mut failures = String::new();
    for &from in &types {
        let inputs = from.sources();
        for &to in &types {
            let variants = variants(to);
            let mut source =
                format!("{}kernel void k(global const {} *a, global {} *out, uint n)\n{{\n", header(&[from, to]), from.name(), to.name());
            let _ = writeln!(source, "    uint i = get_global_id(0);\n    {} x = a[i];", from.name());
            for (index, variant) in variants.iter().enumerate() {
                let _ = writeln!(source, "    out[{index} * n + i] = {}(x);", variant.text);
            }
            source.push_str("}\n");
            let results = run(&queue, &context, &source, (&inputs, from.size()), to.size(), variants.len());
            for (variant, results) in variants.iter().zip(&results) {
                let wrong: Vec<(u64, u64)> = inputs
                    .iter()
                    .zip(results)
                    .filter(|&(&input, &got)| {
                        !is_permitted(from, to, from.decode(input), to.decode(got), variant.direction, variant.saturate)
                    })
                    .map(|(&input, &got)| (input, got))
                    .collect();
                if let Some(&(input, got)) = wrong.first() {
                    let value = from.decode(input);
                    let _ = writeln!(
                        failures,
                        "{}({}): {} wrong, {value:?} gives {:?}, not {:?}",
                        variant.text,
                        from.name(),
                        wrong.len(),
                        to.decode(got),
                        convert(value, to, variant.direction, variant.saturate)
                    );
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn halves_are_stored_exactly() {
    let context = Context::new();
    let queue = context.queue(0);
    let mut failures = String::new();
    for format in [FLOAT, DOUBLE].into_iter().filter(device::supports) {
        let from = Type::Real(format);
        // Inputs: every half, the value halfway between it and the next half, and the two values adjacent to that.
        let mut inputs = from.sources();
        for bits in 0..1u64 << 16 {
            let (x, next) = (HALF.decode(bits), HALF.decode((bits + 1) & 0xffff));
            let middle = format.encode((x + next) / 2.0);
            inputs.extend([format.encode(x), middle, middle.wrapping_add(1), middle.wrapping_sub(1)]);
        }
        let mut source =
            format!("kernel void k(global const {} *a, global ushort *out, uint n)\n{{\n    uint i = get_global_id(0);\n", format.name);
        for (index, (suffix, _)) in MODES.iter().enumerate() {
            let _ = writeln!(source, "    vstore_half{suffix}(a[i], {index} * n + i, (global half *)out);");
        }
        source.push_str("}\n");
        let results = run(&queue, &context, &source, (&inputs, format.size), 2, MODES.len());
        for ((suffix, direction), results) in MODES.iter().zip(&results) {
            let wrong = inputs.iter().zip(results).filter(|&(&input, &got)| {
                // Devices must store half denormals even if they do not compute with them. They may flush only denormal
                // inputs.
                let value = from.decode(input);
                let stored = HALF.decode(got);
                let wanted = convert(value, Type::Real(HALF), *direction, false);
                let flushed =
                    matches!(value, Value::Real(x) if format.is_subnormal(x)) && !device::keeps_denormals(&format) && stored == 0.0;
                !flushed && !wanted.is_some_and(|wanted| are_equal(wanted, Value::Real(stored)))
            });
            let wrong: Vec<_> = wrong.collect();
            if let Some(&(&input, &got)) = wrong.first() {
                let value = from.decode(input);
                let _ = writeln!(
                    failures,
                    "vstore_half{suffix}({}): {} wrong, {value:?} gives {:?}",
                    format.name,
                    wrong.len(),
                    HALF.decode(got)
                );
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn halves_are_loaded_exactly() {
    let context = Context::new();
    let queue = context.queue(0);
    let inputs: Vec<u64> = (0..1 << 16).collect();
    let source = "kernel void k(global const ushort *a, global float *out, uint n)\n{\n    uint i = get_global_id(0);\n    out[i] = vload_half(i, \
                  (global const half *)a);\n}\n";
    let results = run(&queue, &context, source, (&inputs, 2), 4, 1).concat();
    let wrong =
        inputs.iter().zip(&results).filter(|&(&input, &got)| !are_equal(Value::Real(HALF.decode(input)), Value::Real(FLOAT.decode(got))));
    assert_eq!(wrong.count(), 0, "vload_half");
}
