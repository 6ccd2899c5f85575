//! Tests the accuracy of the geometric functions (6.15.5) for vectors of one to four components, with the bounds of
//! 7.4.
//!
//! Intermediate results of `length`, `distance` and `normalize` must not overflow or underflow if the result does not.
//! Other functions, and builds with `-cl-fast-relaxed-math`, are judged only for arguments without such overflows and
//! underflows.

use std::fmt::Write as _;

use rug::Float;

use crate::common::ffi::CL_SUCCESS;
use crate::common::objects::{Context, Program, Queue};
use crate::device::{self, bytes, values};
use crate::format::{DOUBLE, FLOAT, Format, HALF, pow2};
use crate::inputs::Random;

const NAMES: [&str; 8] = ["dot", "cross", "length", "distance", "normalize", "fast_length", "fast_distance", "fast_normalize"];

type Vector = [f64; 4];

/// A function for vectors of `lanes` components.
#[derive(Clone, Copy)]
struct Kernel {
    name: &'static str,
    lanes: usize,
    format: Format,
}

impl Kernel {
    fn exists(&self) -> bool {
        match self.name {
            "cross" => self.lanes >= 3,
            name => !name.starts_with("fast_") || self.format == FLOAT,
        }
    }

    /// Returns the number of components of the result.
    fn results(&self) -> usize {
        if matches!(self.name, "cross" | "normalize" | "fast_normalize") { self.lanes } else { 1 }
    }

    fn source(&self, index: usize) -> String {
        let (name, lanes) = (self.name, self.lanes);
        let load = |buffer: &str| if lanes == 1 { format!("{buffer}[i]") } else { format!("vload{lanes}(i, {buffer})") };
        let call = if matches!(name, "dot" | "cross" | "distance" | "fast_distance") { "(x, y)" } else { "(x)" };
        let value = format!("{name}{call}");
        let store = if self.results() == 1 { format!("out[i] = {value};") } else { format!("vstore{lanes}({value}, i, out);") };
        let width = if lanes == 1 { String::new() } else { lanes.to_string() };
        format!(
            "kernel void k{index}(global const T *a, global const T *b, global T *out)\n{{\n    size_t i = get_global_id(0);\n    {ty}{width} x = {}, \
             y = {};\n    {store}\n}}\n",
            load("a"),
            load("b"),
            ty = self.format.name
        )
    }

    fn run(&self, context: &Context, queue: &Queue, program: &Program, index: usize, cases: &[(Vector, Vector)]) -> Vec<f64> {
        let kernel = program.kernel(&format!("k{index}"));
        let size = cases.len() * self.lanes * self.format.size;
        let (a, b) = (context.buffer(size), context.buffer(size));
        queue.write(&a, &bytes(&self.format, cases.iter().flat_map(|(x, _)| x.iter().copied().take(self.lanes))));
        queue.write(&b, &bytes(&self.format, cases.iter().flat_map(|(_, y)| y.iter().copied().take(self.lanes))));
        let out = context.buffer(cases.len() * self.results() * self.format.size);
        for (at, mem) in (0..).zip([&a, &b, &out]) {
            kernel.set_mem(at, mem);
        }
        assert_eq!(queue.launch(&kernel, &[cases.len()], None), CL_SUCCESS, "clEnqueueNDRangeKernel");
        values(&self.format, &queue.read::<u8>(&out, cases.len() * self.results() * self.format.size))
    }

    /// Returns the permitted error of lengths and normalised vectors, in units in the last place.
    fn ulp(&self) -> f64 {
        let n = [0.0, 1.0, 2.0, 3.0, 4.0][self.lanes];
        match (self.name, self.format.index()) {
            ("length", 0) => 2.75 + 0.5 * n,
            ("length", 1) => 5.5 + n,
            ("length", _) => 0.25 + 0.5 * n,
            ("distance", 0) => 2.5 + 2.0 * n,
            ("distance", 1) => 5.5 + 2.0 * n,
            ("distance", _) => 2.0 * n,
            ("normalize", 0) => 2.0 + n,
            ("normalize", 1) => 4.5 + n,
            ("normalize", _) => 1.0 + n,
            ("fast_distance", _) => 8191.5 + 2.0 * n,
            ("fast_length", _) => 8191.5 + n,
            _ => 8192.0 + n,
        }
    }

    /// Returns the error of a result, divided by its bound. Returns `None` if the specification has no bound for these
    /// arguments.
    fn excess(&self, x: &Vector, y: &Vector, got: &[f64], relaxed: bool) -> Option<f64> {
        let p = if self.format == DOUBLE { 2300 } else { 700 };
        let (x, y) = (x.get(..self.lanes)?, y.get(..self.lanes)?);
        let wide = |value: f64| Float::with_val(p, value);
        let zero = || Float::new(p);
        let sum = |terms: &mut dyn Iterator<Item = Float>| terms.fold(zero(), |sum, term| sum + term);
        let largest = x.iter().chain(y).fold(0f64, |largest, value| largest.max(value.abs()));
        let flushes = !device::keeps_denormals(&self.format) || relaxed;
        if flushes && x.iter().chain(y).any(|&value| self.format.is_subnormal(value)) {
            return None;
        }
        match self.name {
            "dot" | "cross" => {
                if x.iter().chain(y).any(|x| x.is_nan()) || largest * largest * 4.0 > self.format.max() {
                    return None;
                }
                let n = [0.0, 1.0, 3.0, 5.0, 7.0][self.lanes];
                let epsilon = pow2(1 - self.format.precision.cast_signed());
                let tiny = if flushes { self.format.min_normal() } else { self.format.decode(1) };
                let limit = largest * largest * epsilon * if self.name == "dot" { n } else { 3.0 } + 4.0 * tiny;
                let wanted: Vec<Float> = if self.name == "dot" {
                    vec![sum(&mut x.iter().zip(y).map(|(&x, &y)| wide(x) * wide(y)))]
                } else {
                    let part = |i: usize, j: usize| wide(x[i]) * wide(y[j]) - wide(x[j]) * wide(y[i]);
                    vec![part(1, 2), part(2, 0), part(0, 1), zero()].into_iter().take(self.lanes).collect()
                };
                let error = |(wanted, &got): (&Float, &f64)| {
                    if got.is_finite() { Float::with_val(64, wanted - got).to_f64().abs() / limit } else { f64::INFINITY }
                };
                Some(wanted.iter().zip(got).map(error).fold(0.0, f64::max))
            }
            _ => {
                let distance = self.name.ends_with("distance");
                let parts: Vec<Float> = x.iter().zip(y).map(|(&x, &y)| if distance { wide(x) - wide(y) } else { wide(x) }).collect();
                if flushes && parts.iter().any(|part| !part.is_zero() && part.to_f64().abs() < self.format.min_normal()) {
                    // A device may flush a denormal difference, so the result has no bound.
                    return None;
                }
                let squares = sum(&mut parts.iter().map(|part| Float::with_val(2 * p, part.square_ref())));
                if self.name.starts_with("fast_") || relaxed {
                    // These functions add squares without scaling, so the squares must be in the range of the format.
                    let normal = |value: &Float| value.is_zero() || *value >= self.format.min_normal();
                    let each = parts.iter().all(|part| normal(&Float::with_val(64, part.square_ref())));
                    if squares.to_f64() > self.format.max() / 4.0 || squares.is_nan() || squares.is_zero() || !each {
                        return None;
                    }
                }
                let length = Float::with_val(160, &squares).sqrt();
                let wanted: Vec<Float> = if !self.name.ends_with("normalize") {
                    vec![length]
                } else if x.iter().any(|x| x.is_nan()) {
                    return Some(if got.iter().all(|x| x.is_nan()) { 0.0 } else { f64::INFINITY });
                } else if squares.is_zero() {
                    parts
                } else if squares.is_infinite() {
                    let ones: Vec<f64> = x.iter().map(|x| if x.is_infinite() { x.signum() } else { 0f64.copysign(*x) }).collect();
                    let length = wide(ones.iter().map(|x| x * x).sum()).sqrt();
                    ones.iter().map(|&one| Float::with_val(160, one / &length)).collect()
                } else {
                    parts.iter().map(|part| Float::with_val(160, part / &length)).collect()
                };
                let ulps = |(wanted, &got): (&Float, &f64)| {
                    // This condition also holds if both values are infinite or zero.
                    if got == self.format.round(wanted) {
                        return 0.0;
                    }
                    if wanted.is_nan() || got.is_nan() || wanted.is_infinite() || wanted.is_zero() {
                        return if wanted.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
                    }
                    if flushes && got == 0.0 && wanted.to_f64().abs() < self.format.min_normal() {
                        0.0
                    } else {
                        self.format.error(wanted, got) / self.ulp()
                    }
                };
                Some(wanted.iter().zip(got).map(ulps).fold(0.0, f64::max))
            }
        }
    }
}

/// Returns pairs of vectors. Some have similar magnitudes, some have arbitrary magnitudes, some are close to each
/// other, and some have edges among their components.
fn cases(format: &Format) -> Vec<(Vector, Vector)> {
    let mut random = Random::new(format.name);
    let mut all = Vec::new();
    let special =
        [0.0, -0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, format.max(), -format.max(), format.min_normal(), format.decode(1)];
    for at in 0..4000 {
        let any = |random: &mut Random| random.stratified(format);
        let scale = pow2(random.within(format.most - 4));
        let close = |random: &mut Random| format.nearest(f64::from(random.within(1 << 20)) * pow2(-20) * scale);
        let mut x: Vector = [(); 4].map(|()| if at % 2 == 0 { any(&mut random) } else { close(&mut random) });
        let mut y: Vector = [(); 4].map(|()| if at % 2 == 0 { any(&mut random) } else { close(&mut random) });
        if at % 5 == 0 {
            y = x.map(|x| format.step(x, i64::from(random.within(3))));
        }
        if at % 3 == 0 {
            let pick = usize::try_from(random.below(special.len() as u64)).unwrap_or(0);
            let lane = usize::try_from(random.below(4)).unwrap_or(0);
            x[lane] = special[pick];
            if at % 6 == 0 {
                x = [special[pick]; 4];
            }
        }
        all.push((x, y));
    }
    all
}

#[test]
fn geometric_functions_are_within_their_bounds() {
    let context = Context::new();
    let queue = context.queue(0);
    let mut failures = String::new();
    for format in [FLOAT, DOUBLE, HALF].into_iter().filter(device::supports) {
        let kernels: Vec<Kernel> =
            NAMES.iter().flat_map(|&name| (1..=4).map(move |lanes| Kernel { name, lanes, format })).filter(Kernel::exists).collect();
        let mut source = format!("#define T {}\n", format.name);
        if format == HALF {
            source.push_str("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
        }
        source.extend(kernels.iter().enumerate().map(|(index, kernel)| kernel.source(index)));
        let cases = cases(&format);
        for options in ["", "-cl-fast-relaxed-math"] {
            let program = context.program(&source);
            assert_eq!(program.build(options), CL_SUCCESS, "{}", program.log());
            for (index, kernel) in kernels.iter().enumerate() {
                let results = kernel.run(&context, &queue, &program, index, &cases);
                let relaxed = !options.is_empty();
                let judged: Vec<(f64, usize)> = cases
                    .iter()
                    .zip(results.chunks(kernel.results()))
                    .enumerate()
                    .filter(|(_, ((x, y), _))| !relaxed || x.iter().chain(y).all(|x| x.is_finite()))
                    .filter_map(|(at, ((x, y), got))| Some((kernel.excess(x, y, got, relaxed)?, at)))
                    .collect();
                assert!(judged.len() > 20, "{}{} {} was judged for only {} cases", kernel.name, kernel.lanes, format.name, judged.len());
                let (worst, at) = judged.iter().copied().fold((0.0, 0), |worst, next| if next.0 > worst.0 { next } else { worst });
                if worst > 1.0 {
                    let count = judged.iter().filter(|(excess, _)| *excess > 1.0).count();
                    let got = results.get(at * kernel.results()..(at + 1) * kernel.results());
                    let (x, y) = cases[at];
                    let _ = writeln!(
                        failures,
                        "{}({}{}) {options}: {count} of {} wrong, {worst:.2} times the bound at {:?}, {:?}: {got:?}",
                        kernel.name,
                        format.name,
                        kernel.lanes,
                        judged.len(),
                        &x[..kernel.lanes],
                        &y[..kernel.lanes]
                    );
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
