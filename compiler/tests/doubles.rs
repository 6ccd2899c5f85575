//! Software doubles (`compiler/src/doubles`). Each operation is specialised for a launch, and run by the interpreter on
//! random numbers and edge cases. The results must equal those of the host's doubles. The tests use 64-bit integers,
//! and their emulation with 32-bit integers. `WGCL_DOUBLES_COUNT` is the number of operand sets, `WGCL_DOUBLES_SEED`
//! the seed.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use wgcl_compiler::build::build;
use wgcl_compiler::interpret::{Argument, Dispatch, Memory, MemoryLocation, NdRange, ObjectId, Program, Settings, Stage};
use wgcl_compiler::ir::Scalar;
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::program::{BuildOptions, Source};
use wgcl_compiler::specialise::launched;
use wgcl_compiler::target::{Emulated, Target};

/// Three doubles, and bits for operands that are integers and floats.
#[derive(Clone, Copy)]
struct Operands {
    x: f64,
    y: f64,
    z: f64,
    bits: u64,
}

/// Returns the bits of the expected result of an expression, or `None` if any result is correct.
type Reference = fn(&Operands) -> Option<u64>;

/// Returns the bits of a double. All NaNs have the same bits, so that they are equal in the comparison.
fn double(value: f64) -> Option<u64> {
    Some(if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() })
}

fn single(value: f32) -> Option<u64> {
    Some(u64::from(if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() }))
}

/// Returns the expected minimum or maximum. If both operands are zero, either sign is correct.
fn min_or_max(operands: &Operands, value: f64) -> Option<u64> {
    if operands.x == 0.0 && operands.y == 0.0 { None } else { double(value) }
}

/// Rounds a double to a float, which may be greater if `up` and less if `down`. Rounds to nearest if both are
/// permitted.
fn directed(x: f64, up: bool, down: bool) -> Option<u64> {
    let near = x as f32;
    if near.is_nan() || f64::from(near) == x {
        return single(near);
    }
    let above = f64::from(near) > x;
    single(if above && !up {
        near.next_down()
    } else if !above && !down {
        near.next_up()
    } else {
        near
    })
}

fn truncated(x: f64) -> Option<u64> {
    directed(x, x < 0.0, x > 0.0)
}

/// Rounds a double to a half once: through a float that is rounded to odd. Returns `None` for a NaN.
fn half_of(x: f64) -> Option<u64> {
    let towards_zero = f32::from_bits(truncated(x)? as u32);
    let odd = towards_zero.to_bits() | u32::from(f64::from(towards_zero) != x);
    Some(half::f16::from_f32(f32::from_bits(odd)).to_bits().into()).filter(|_| !x.is_nan())
}

/// Returns the smallest double that is not less than an integer.
fn round_up(n: i64) -> Option<u64> {
    let near = n as f64;
    let is_below = (near as i128) < i128::from(n);
    double(if is_below { near.next_up() } else { near })
}

const CASES: &[(&str, Reference)] = &[
    ("as_ulong(x + y)", |g| double(g.x + g.y)),
    ("as_ulong(x - y)", |g| double(g.x - g.y)),
    ("as_ulong(x * y)", |g| double(g.x * g.y)),
    ("as_ulong(x / y)", |g| double(g.x / g.y)),
    ("as_ulong(sqrt(x))", |g| double(g.x.sqrt())),
    ("as_ulong(fma(x, y, z))", |g| double(g.x.mul_add(g.y, g.z))),
    ("as_ulong(mad(y, z, x))", |g| double(g.y.mul_add(g.z, g.x))),
    ("as_ulong(-x)", |g| double(-g.x)),
    ("as_ulong(fabs(x))", |g| double(g.x.abs())),
    ("as_ulong(copysign(x, y))", |g| double(g.x.copysign(g.y))),
    ("as_ulong(floor(x))", |g| double(g.x.floor())),
    ("as_ulong(ceil(x))", |g| double(g.x.ceil())),
    ("as_ulong(trunc(x))", |g| double(g.x.trunc())),
    ("as_ulong(rint(x))", |g| double(g.x.round_ties_even())),
    ("as_ulong(round(x))", |g| double(g.x.round())),
    ("as_ulong(fmin(x, y))", |g| min_or_max(g, g.x.min(g.y))),
    ("as_ulong(fmax(x, y))", |g| min_or_max(g, g.x.max(g.y))),
    ("as_ulong(((double4)(x, y, z, x) * (double4)(y, z, x, x)).y)", |g| double(g.y * g.z)),
    ("x < y", |g| Some((g.x < g.y).into())),
    ("x <= y", |g| Some((g.x <= g.y).into())),
    ("x > y", |g| Some((g.x > g.y).into())),
    ("x >= y", |g| Some((g.x >= g.y).into())),
    ("x == y", |g| Some((g.x == g.y).into())),
    ("x != y", |g| Some((g.x != g.y).into())),
    ("x == z", |g| Some((g.x == g.z).into())),
    ("isnan(x)", |g| Some(g.x.is_nan().into())),
    ("as_uint((float)x)", |g| single(g.x as f32)),
    ("as_uint(convert_float_rtz(x))", |g| truncated(g.x)),
    ("as_uint(convert_float_rtp(x))", |g| directed(g.x, true, false)),
    ("as_uint(convert_float_rtn(x))", |g| directed(g.x, false, true)),
    ("as_ushort((half)x)", |g| half_of(g.x)),
    ("as_ulong((double)as_half((ushort)bits))", |g| double(half::f16::from_bits(g.bits as u16).to_f64())),
    ("as_ulong((double)as_float((uint)bits))", |g| double(f32::from_bits(g.bits as u32).into())),
    ("(long)x", |g| Some(g.x as i64 as u64).filter(|_| g.x.abs() < 9.2e18)),
    ("(ulong)x", |g| Some(g.x as u64).filter(|_| g.x > -1.0 && g.x < 1.8e19)),
    ("(int)x", |g| Some(i64::from(g.x as i32) as u64).filter(|_| g.x.abs() < 2_147_483_648.0)),
    ("convert_int_sat_rte(x)", |g| Some(i64::from(g.x.round_ties_even() as i32) as u64)),
    ("convert_uint_sat_rtp(x)", |g| Some(u64::from(g.x.ceil() as u32))),
    ("convert_long_sat(x)", |g| Some(g.x as i64 as u64)),
    ("convert_ulong_sat_rtn(x)", |g| Some(g.x.floor() as u64)),
    ("convert_char_sat_rtz(x)", |g| Some(i64::from(g.x as i8) as u64)),
    ("as_ulong((double)(long)bits)", |g| double(g.bits as i64 as f64)),
    ("as_ulong((double)bits)", |g| double(g.bits as f64)),
    ("as_ulong(convert_double_rtp((long)bits))", |g| round_up(g.bits as i64)),
    ("as_ulong((double)(int)bits)", |g| double((g.bits as i32).into())),
    ("as_ulong((double)(uint)bits)", |g| double((g.bits as u32).into())),
    ("as_ulong((double)(short)bits)", |g| double((g.bits as i16).into())),
    ("as_ulong((double)(uchar)bits)", |g| double((g.bits as u8).into())),
];

/// A generator of doubles of all kinds: random bits, denormals, numbers near 1, numbers with few or almost all bits
/// set, numbers next to edge cases and to integers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 20) % limit
    }

    fn number(&mut self) -> f64 {
        const FRACTION: u64 = (1 << 52) - 1;
        let edges = [
            0.0,
            f64::from_bits(1),
            f64::MIN_POSITIVE,
            f64::MIN_POSITIVE.next_down(),
            0.5,
            1.0,
            1.0_f64.next_down(),
            2.0,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
            f64::from_bits(0x7ff0_0000_0000_0001),
            2_147_483_648.0,
            4_503_599_627_370_496.5,
            9_007_199_254_740_992.0,
            9_223_372_036_854_775_808.0,
            f64::from(f32::MAX),
            f64::from(f32::from_bits(1)),
            65_520.0,
        ];
        let sign = self.next() & 1 << 63;
        let fraction = self.next() & FRACTION;
        let field = |numbers: &mut Self, middle: u64, width: u64| (middle + numbers.below(width) - width / 2) << 52;
        let bits = match self.below(12) {
            0 => edges[self.below(edges.len() as u64) as usize].to_bits(),
            1 => edges[self.below(edges.len() as u64) as usize].to_bits().wrapping_add(self.below(5)).wrapping_sub(2),
            2 => self.next(),
            3 => fraction,
            4 => field(self, 1023, 120) | fraction,
            5 => field(self, 1023, 120) | (FRACTION << self.below(53) & FRACTION),
            6 => field(self, 1023, 60) | 1 << self.below(52),
            7 => field(self, 30, 60) | fraction,
            8 => field(self, 2016, 60) | fraction,
            9 => field(self, 1023, 4) | (fraction & FRACTION << self.below(53)),
            10 => {
                let whole = self.next() >> self.below(64);
                (whole as f64 / [1.0, 2.0][self.below(2) as usize]).to_bits()
            }
            _ => field(self, 1023, 4) | fraction,
        };
        f64::from_bits(bits ^ sign)
    }

    fn operands(&mut self) -> Operands {
        let (x, mut y, mut z) = (self.number(), self.number(), self.number());
        if self.below(8) == 0 {
            y = f64::from_bits(x.to_bits().wrapping_add(self.below(5)).wrapping_sub(2));
        }
        if self.below(4) == 0 {
            // Choose `z` near `-(x * y)`, so that only the last bits of the product remain in the fused sum.
            z = f64::from_bits((-(x * y)).to_bits().wrapping_add(self.below(5)).wrapping_sub(2));
        }
        let bits = match self.below(4) {
            0 => (1 << self.below(64)) + self.below(3),
            // Use integers halfway between two doubles, and the adjacent integers.
            1 => (self.next() >> 11 << 11).wrapping_add(1023 + self.below(3)) >> self.below(12),
            _ => self.next() >> self.below(64),
        };
        Operands { x, y, z, bits }
    }
}

fn source() -> String {
    let lines: String = CASES.iter().enumerate().map(|(index, (text, _))| format!("    out[{index}] = (ulong)(long)({text});\n")).collect();
    format!(
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL FP_CONTRACT OFF\n\
         kernel void k(global const ulong *in, global ulong *out) {{\n    in += 4 * get_global_id(0);\n    out += {} * get_global_id(0);\n\
             double x = as_double(in[0]), y = as_double(in[1]), z = as_double(in[2]);\n    ulong bits = in[3];\n{lines}}}\n",
        CASES.len()
    )
}

/// Returns the results of the kernel for some operands, specialised for a target.
fn run(target: &Target, operands: &[Operands]) -> Vec<u64> {
    let built = build(&Source { text: source(), ..Source::default() }, &BuildOptions::default(), target);
    let module = built.program.ok_or(built.log).expect("a program").module;
    let key = LaunchKey::example(&module.functions[0], [1, 1, 1]).changed(|key| key.binding.distinct = true);
    let made = launched(&module, "k", &key, target, None).expect("a launch");
    let is_double = |data: &wgcl_compiler::ir::ValueData| data.ty.scalar() == Some(Scalar::F64);
    assert!(!made.functions.iter().any(|function| function.values.iter().any(is_double)), "a value of type `double` remains");
    let program = Program::new(&made, Settings::new(Stage::Launched, target));
    let mut memory = Memory::default();
    let mut last = 0;
    let mut name = || {
        last += 1;
        ObjectId::new(last)
    };
    let objects = [name().expect("a name"), name().expect("a name")];
    let input = operands.iter().flat_map(|g| [g.x.to_bits(), g.y.to_bits(), g.z.to_bits(), g.bits]).flat_map(u64::to_le_bytes).collect();
    memory.insert(objects[0], input, false);
    memory.insert(objects[1], vec![0; operands.len() * CASES.len() * 8], false);
    let instance = program.instantiate(&mut memory, &mut name).unwrap_or_default();
    let arguments = objects.map(|object| Argument::Buffer(Some(MemoryLocation { object, offset: 0 })));
    let dispatch = Dispatch { guard: [false; 3], part: None, starts: vec![0; 2], merged_offsets: vec![0; 2] };
    let range = NdRange::linear(operands.len() as u32, 1);
    program.dispatch(&instance, "k", &arguments, (&range, &dispatch), &mut memory, &mut Vec::new()).expect("it runs");
    let bytes = memory.get(objects[1]).expect("the results");
    bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Replaces the bits of any NaN by those of one NaN.
fn with_canonical_nan(text: &str, got: u64) -> u64 {
    if text.starts_with("as_ulong") && f64::from_bits(got).is_nan() {
        f64::NAN.to_bits()
    } else if text.starts_with("as_uint") && f32::from_bits(got as u32).is_nan() {
        f32::NAN.to_bits().into()
    } else {
        got
    }
}

fn compare(target: &Target, count: u64) {
    let mut numbers = Numbers(number("WGCL_DOUBLES_SEED", 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut wrong = Vec::new();
    let mut left = number("WGCL_DOUBLES_COUNT", count);
    while left > 0 {
        let operands: Vec<Operands> = (0..left.min(4096)).map(|_| numbers.operands()).collect();
        left -= operands.len() as u64;
        for (operands, results) in operands.iter().zip(run(target, &operands).chunks(CASES.len())) {
            for ((text, reference), &got) in CASES.iter().zip(results) {
                let got = with_canonical_nan(text, got);
                if let Some(want) = reference(operands).filter(|&want| want != got) {
                    let Operands { x, y, z, bits } = *operands;
                    let [x, y, z] = [x, y, z].map(f64::to_bits);
                    wrong.push(format!("{text} of {x:#018x}, {y:#018x}, {z:#018x}, {bits:#x}: {got:#x} for {want:#x}"));
                }
            }
        }
    }
    let some = wrong.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} wrong:\n{some}", wrong.len());
}

#[test]
fn software_doubles_match_the_host() {
    compare(&Target::lavapipe().emulating(Emulated { fp64: true, ..Emulated::default() }), 200_000);
}

#[test]
fn software_doubles_with_emulated_int64_match_the_host() {
    compare(&Target::lavapipe().emulating(Emulated { int64: true, fp64: true, ..Emulated::default() }), 100_000);
}

#[test]
fn software_doubles_of_portable_devices_match_the_host() {
    let target = Target::portable().emulating(Emulated { int64: true, fp64: true, ..Emulated::default() });
    compare(&target, 20_000);
}
