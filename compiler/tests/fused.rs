//! The functions of `library/fused.cl`, which are used only on devices with a fused `fma`. The interpreter runs them as
//! such a device, and the tests compare the results with those of the host's doubles. The error bounds are well below
//! those of the specification, so that a wrong digit of a constant causes a failure.

use wgcl_compiler::build::build;
use wgcl_compiler::interpret::{Argument, Memory, MemoryLocation, NdRange, ObjectId, Program, Settings, Stage};
use wgcl_compiler::program::{BuildOptions, Source};
use wgcl_compiler::target::Target;

/// A function of two numbers. Some functions ignore the second number.
#[derive(Clone, Copy)]
struct Function {
    expression: &'static str,
    reference: fn(f64, f64) -> f64,
    /// The maximum error, in units in the last place.
    bound: f64,
}

const FUNCTIONS: &[Function] = &[
    Function { expression: "sin(x)", reference: |x, _| x.sin(), bound: 1.6 },
    Function { expression: "cos(x)", reference: |x, _| x.cos(), bound: 1.6 },
    Function { expression: "sincos(x, &unused)", reference: |x, _| x.sin(), bound: 1.6 },
    Function { expression: "tan(x)", reference: |x, _| x.tan(), bound: 2.6 },
    Function { expression: "exp(x)", reference: |x, _| x.exp(), bound: 1.0 },
    Function { expression: "exp2(x)", reference: |x, _| x.exp2(), bound: 1.0 },
    Function { expression: "exp10(x)", reference: |x, _| 10.0_f64.powf(x), bound: 1.0 },
    Function { expression: "log(x)", reference: |x, _| x.ln(), bound: 1.1 },
    Function { expression: "log2(x)", reference: |x, _| x.log2(), bound: 1.7 },
    Function { expression: "log10(x)", reference: |x, _| x.log10(), bound: 1.5 },
    Function { expression: "log1p(x)", reference: |x, _| x.ln_1p(), bound: 1.0 },
    Function { expression: "sinh(x)", reference: |x, _| x.sinh(), bound: 2.0 },
    Function { expression: "tanh(x)", reference: |x, _| x.tanh(), bound: 2.0 },
    Function { expression: "pow(x, y)", reference: f64::powf, bound: 2.7 },
    Function { expression: "powr(x, y)", reference: powr, bound: 2.7 },
    Function { expression: "pown(x, convert_int_sat(y))", reference: |x, y| x.powf(f64::from(y as i32)), bound: 2.7 },
    Function { expression: "rootn(x, convert_int_sat(y))", reference: |x, y| rootn(x, y as i32), bound: 1.5 },
];

fn powr(x: f64, y: f64) -> f64 {
    let undefined = x < 0.0 || (x == 0.0 && y == 0.0) || (x.is_infinite() && y == 0.0) || (x == 1.0 && y.is_infinite());
    if undefined || x.is_nan() || y.is_nan() { f64::NAN } else { x.abs().powf(y) }
}

fn rootn(x: f64, n: i32) -> f64 {
    let root = x.abs().powf(1.0 / f64::from(n));
    if n == 0 {
        f64::NAN
    } else if n % 2 != 0 {
        root.copysign(x)
    } else if x < 0.0 {
        f64::NAN
    } else {
        root
    }
}

/// An expression, its reference, and the maximum error in units in the last place.
type OfDouble = (&'static str, fn(f64) -> f64, f64);

/// Functions of doubles. The error of the reference functions is less than one unit in the last place.
const DOUBLES: &[OfDouble] = &[
    ("sin(x)", f64::sin, 2.2),
    ("cos(x)", f64::cos, 2.2),
    ("sincos(x, &unused)", f64::sin, 2.2),
    ("tan(x)", f64::tan, 3.2),
    ("exp(x)", f64::exp, 1.8),
    ("exp2(x)", f64::exp2, 1.8),
    ("log(x)", f64::ln, 1.8),
    ("log1p(x)", f64::ln_1p, 2.0),
    ("cosh(x)", f64::cosh, 2.5),
];

/// Pairs of arguments: all pairs of edge cases, random bits, and arguments for which powers are in range.
fn arguments() -> Vec<[f32; 2]> {
    let tiny = f32::from_bits(1);
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        -2.0,
        0.5,
        3.0,
        -3.0,
        tiny,
        -tiny,
        f32::MIN_POSITIVE,
        f32::MAX,
        -f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        16_777_217.0,
        -16_777_215.0,
        3e9,
        -3e9,
        0.999_999_94,
        1.000_000_1,
        65_536.0,
        65_535.996,
        88.8,
        -87.3,
        -103.9,
        -105.1,
        128.0,
        -149.5,
        1e-40,
    ];
    let mut pairs: Vec<[f32; 2]> = edges.iter().flat_map(|&x| edges.iter().map(move |&y| [x, y])).collect();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as u32
    };
    for _ in 0..1000 {
        let (a, b) = (next(), next());
        pairs.push([f32::from_bits(a), f32::from_bits(b)]);
        // `x` is from 0.5 to 2. The binary logarithm of the power is between -130 and 130.
        let x = f32::from_bits(0x3f00_0000 + a % 0x0100_0000);
        pairs.push([x, (f64::from(b as i32) / f64::from(i32::MAX) * 130.0 / f64::from(x).log2()) as f32]);
        pairs.push([f32::from_bits(a & 0x7fff_ffff), (b % 64) as f32 - 32.0]);
        pairs.push([(f64::from(a as i32) / 2e7) as f32, (f64::from(b as i32) / 2e9) as f32]);
    }
    pairs
}

/// Returns the error of a result in units in the last place. It is infinite if a NaN, an infinity or a zero is expected
/// and the result is another number.
fn error(got: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if exact.is_nan() {
        return if got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if rounded.is_infinite() {
        // If the exact value is finite but rounds to infinity, the largest finite float is correct as well.
        return if got == rounded || (exact.is_finite() && got.abs() == f32::MAX) { 0.0 } else { f64::INFINITY };
    }
    if exact == 0.0 {
        return if got.to_bits() == rounded.to_bits() { 0.0 } else { f64::INFINITY };
    }
    let exponent = exact.abs().log2().floor().max(-126.0);
    (f64::from(got) - exact).abs() / (exponent - 23.0).exp2()
}

/// Returns the results of a kernel `k` that maps elements of one buffer to elements of another.
fn run(target: &Target, body: &str, input: Vec<u8>, items: usize, output: usize) -> Vec<u8> {
    let text = format!("kernel void k{body}");
    let built = build(&Source { text, ..Source::default() }, &BuildOptions::default(), target);
    let module = built.program.ok_or(built.log).expect("a program").module;
    let program = Program::new(&module, Settings::new(Stage::Built, target));
    let mut memory = Memory::default();
    let mut last = 0;
    let mut name = || {
        last += 1;
        ObjectId::new(last)
    };
    let objects = [name().expect("a name"), name().expect("a name")];
    memory.insert(objects[0], input, false);
    memory.insert(objects[1], vec![0; output], false);
    let instance = program.instantiate(&mut memory, &mut name).expect("names");
    let places = objects.map(|object| Argument::Buffer(Some(MemoryLocation { object, offset: 0 })));
    program.launch(&instance, "k", &places, &NdRange::linear(items as u32, 1), &mut memory, &mut Vec::new()).expect("a launch");
    memory.get(objects[1]).expect("the results").to_vec()
}

fn fused() -> Target {
    Target::full().changed(|target| target.language.fused_fma = true)
}

#[test]
fn functions_with_fused_fma_are_accurate() {
    check_functions(&fused(), FUNCTIONS);
}

/// The functions use the interpreter's `exp2`, which is exact.
#[test]
fn exponentials_with_the_exp2_of_the_device_are_accurate() {
    let target = fused().changed(|target| target.shaders.costs.accurate_exp2 = true);
    let names = ["exp(x)", "exp2(x)", "exp10(x)"];
    let exponentials: Vec<_> = FUNCTIONS.iter().filter(|function| names.contains(&function.expression)).copied().collect();
    assert_eq!(exponentials.len(), names.len());
    check_functions(&target, &exponentials);
}

fn check_functions(target: &Target, functions: &[Function]) {
    let pairs = arguments();
    let input: Vec<u8> = pairs.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    let mut failures = Vec::new();
    for Function { expression, reference, bound } in functions {
        let body = format!(
            "(global const float2 *in, global float *out) {{ uint i = get_global_id(0); float x = in[i].x, y = in[i].y, unused; out[i] = {expression}; }}"
        );
        let results = run(target, &body, input.clone(), pairs.len(), pairs.len() * 4);
        let mut worst = (0.0, [0.0; 2], 0.0, 0.0);
        for (&[x, y], &bytes) in pairs.iter().zip(results.as_chunks::<4>().0) {
            let (got, exact) = (f32::from_le_bytes(bytes), reference(f64::from(x), f64::from(y)));
            let error = error(got, exact);
            if error > worst.0 {
                worst = (error, [x, y], got, exact);
            }
        }
        if worst.0 > *bound {
            let (error, [x, y], got, exact) = worst;
            failures.push(format!("{expression} at {x:e}, {y:e}: {got:e} instead of {exact:e}, {error:.2} units in the last place"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn functions_of_doubles_with_fused_fma_are_accurate() {
    let edges = [
        524_288.0,
        524_287.999,
        -745.2,
        -708.4,
        709.78,
        709.79,
        1023.99,
        1024.0,
        -1074.0,
        -1075.1,
        1e-310,
        -1e-310,
        f64::MAX,
        f64::MIN_POSITIVE,
    ];
    let numbers: Vec<f64> = arguments().iter().flatten().map(|&x| f64::from(x) * (1.0 + 1e-9)).chain(edges).collect();
    let input: Vec<u8> = numbers.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut failures = Vec::new();
    for (expression, reference, bound) in DOUBLES {
        let body = format!(
            "(global const double *in, global double *out) {{ uint i = get_global_id(0); double x = in[i], unused; out[i] = {expression}; }}"
        );
        let results = run(&fused(), &body, input.clone(), numbers.len(), numbers.len() * 8);
        let mut worst = (0.0, 0.0, 0.0, 0.0);
        for (&x, &bytes) in numbers.iter().zip(results.as_chunks::<8>().0) {
            let (got, exact) = (f64::from_le_bytes(bytes), reference(x));
            let unit = (exact.abs().log2().floor().max(-1022.0) - 52.0).exp2();
            let error = if got.to_bits() == exact.to_bits() || (got.is_nan() && exact.is_nan()) {
                0.0
            } else if exact == 0.0 || !exact.is_finite() || !got.is_finite() {
                f64::INFINITY
            } else {
                (got - exact).abs() / unit
            };
            if error > worst.0 {
                worst = (error, x, got, exact);
            }
        }
        if worst.0 > *bound {
            let (error, x, got, exact) = worst;
            failures.push(format!("{expression} at {x:e}: {got:e} instead of {exact:e}, {error:.2} units in the last place"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
