//! Generates the arguments: edges, all exponents, and dense ranges in which a function is difficult. Every run uses the
//! same arguments.

use rug::Float;

use crate::format::{Format, pow2};
use crate::functions::{Focus, Function, Shape};
use crate::reference::Case;

pub struct Random(u64);

impl Random {
    /// Creates a generator with a separate sequence for each name.
    pub fn new(name: &str) -> Self {
        Self(name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// Returns a number in [0, 1).
    #[allow(clippy::cast_precision_loss, reason = "53 bits")]
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * pow2(-53)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn within(&mut self, limit: i32) -> i32 {
        i32::try_from(self.below(2 * u64::from(limit.unsigned_abs()) + 1)).unwrap_or(0) - limit
    }

    /// Returns a number of the format. All exponents are equally probable. Some significands have long runs of equal
    /// bits.
    pub fn stratified(&mut self, format: &Format) -> f64 {
        let stored = format.stored();
        let field = self.below(format.top());
        let mask = (1u64 << stored) - 1;
        let fraction = match self.below(8) {
            0 => self.below(4),
            1 => mask - self.below(4),
            2 => mask << self.below(u64::from(stored)) & mask,
            _ => self.next() & mask,
        };
        // Shift the fractions of denormals, so that denormals of all magnitudes occur.
        let fraction = if field == 0 { fraction >> self.below(u64::from(stored)) } else { fraction };
        format.decode(self.next() >> 63 << (format.size * 8 - 1) | field << stored | fraction)
    }
}

/// Returns numbers at which a function changes its behaviour.
pub fn edges(format: &Format) -> Vec<f64> {
    let ulp = pow2(-format.stored().cast_signed());
    let whole = pow2(format.stored().cast_signed());
    let mut values = vec![0.0, format.decode(1), format.decode(2), format.decode(3), f64::INFINITY, f64::NAN];
    values.extend([format.min_normal(), format.max(), format.step(format.max(), -1)]);
    values.extend([
        format.step(format.min_normal(), -1),
        format.step(format.min_normal(), 1),
        format.min_normal() / 2.0,
        format.min_normal() * 2.0,
    ]);
    values.extend([0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 7.0, 8.0, 10.0, 16.0, 33.0, 64.0, 100.0]);
    values.extend([1.0 + ulp, 1.0 - ulp / 2.0, 2.0 - ulp, 0.5 - ulp / 4.0, 0.5 + ulp, ulp, ulp / 2.0, ulp / 4.0, ulp.sqrt()]);
    values.extend([
        whole - 1.0,
        whole - 0.5,
        whole,
        whole + 1.0,
        2.0 * whole - 1.0,
        2.0 * whole,
        2.0 * whole + 2.0,
        whole / 2.0 + 0.5,
        whole / 2.0 - 0.5,
    ]);
    values.extend([2147483647.0, 2147483648.0, 4294967296.0, 9.223372036854776e18, 1.8446744073709552e19]);
    values.extend((1..12).map(|k| f64::from(k) * std::f64::consts::FRAC_PI_4));
    values.extend([std::f64::consts::E, std::f64::consts::LN_2, 1.0 / 3.0, 1e10, 1e20, 1e-10, 1e-20]);
    // The float and the double that are nearest to a multiple of pi/2. They are the hardest numbers for an argument
    // reduction.
    values.extend([16367173.0 * pow2(72), 6381956970095103.0 * pow2(797)]);
    let top = f64::from(format.most + 1);
    let bottom = f64::from(format.least - format.stored().cast_signed());
    for base in [2f64, 10.0, std::f64::consts::E] {
        let scale = base.log2();
        values.extend([top / scale, bottom / scale, (bottom - 1.0) / scale, f64::from(format.least) / scale]);
    }
    let beside: Vec<f64> =
        values.iter().filter(|x| x.is_finite()).map(|&x| format.nearest(x)).flat_map(|x| [x, format.step(x, 1)]).collect();
    values.retain(|x| !x.is_finite());
    values.extend(beside);
    let mut all: Vec<f64> = values.iter().flat_map(|&x| [x, -x]).collect();
    all.sort_by_key(|x| x.to_bits());
    all.dedup_by_key(|x| x.to_bits());
    all
}

/// Returns the edges that are combined with each other.
fn few_edges(format: &Format) -> Vec<f64> {
    let whole = pow2(format.stored().cast_signed());
    let positive = [
        0.0,
        format.decode(1),
        format.step(format.min_normal(), -1),
        format.min_normal(),
        0.5,
        format.step(1.0, -1),
        1.0,
        format.step(1.0, 1),
        1.5,
        2.0,
        3.0,
        whole - 1.0,
        whole,
        2.0 * whole - 1.0,
        2.0 * whole,
        format.max(),
        f64::INFINITY,
        f64::NAN,
    ];
    positive.iter().map(|&x| format.nearest(x)).flat_map(|x| [x, -x]).collect()
}

const INTS: &[i32] = &[
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    4,
    -4,
    5,
    7,
    -7,
    10,
    14,
    15,
    16,
    -14,
    -15,
    -24,
    -25,
    23,
    24,
    31,
    100,
    126,
    127,
    128,
    -126,
    -127,
    -149,
    -150,
    255,
    256,
    1022,
    1023,
    1024,
    -1022,
    -1074,
    -1075,
    2046,
    2100,
    -2100,
    65535,
    65536,
    16777215,
    16777217,
    -16777217,
    0x1000_0001,
    i32::MAX,
    i32::MAX - 1,
    i32::MIN,
    i32::MIN + 1,
];

fn focused(focus: Focus, format: &Format, random: &mut Random) -> Case {
    let stored = format.stored().cast_signed();
    let jitter = |random: &mut Random| i64::from(random.within(2));
    let mut case = Case { x: [random.stratified(format), random.stratified(format), random.stratified(format)], n: random.within(40) };
    match focus {
        Focus::Uniform(low, high) => case.x[0] = format.nearest(random.between(low, high)),
        Focus::Near(point) => {
            let distance = pow2(-random.within(stored).abs() - 1) * random.between(-1.0, 1.0);
            case.x[0] = format.nearest(point + point * distance);
        }
        Focus::Multiples(unit) => {
            let bits = random.below(format.precision.into()) + 1;
            #[allow(clippy::cast_precision_loss, reason = "any number will do")]
            let count = (random.below(1 << bits) as f64).copysign(random.between(-1.0, 1.0));
            // Compute the multiple with more bits than the format has, because the test needs the nearest number.
            let multiple = if unit == std::f64::consts::FRAC_PI_2 || unit == std::f64::consts::FRAC_PI_4 {
                Float::with_val(160, rug::float::Constant::Pi) * count * (unit / std::f64::consts::PI)
            } else {
                Float::with_val(160, unit) * count
            };
            case.x[0] = format.round(&multiple);
            case.x[0] = if random.below(2) == 0 { case.x[0] } else { format.step(case.x[0], jitter(random)) };
        }
        Focus::Exponents(base) => {
            let scale = base.log2();
            case.x[0] = format.nearest(random.between(f64::from(format.least - stored - 3), f64::from(format.most + 3)) / scale);
        }
        Focus::Integers => case.x[0] = format.nearest(random.between(-1.0, 1.0) * pow2(stored + random.within(3))),
        Focus::Similar => {
            let factor = match random.below(4) {
                0 => pow2(random.within(4)),
                1 => 1.0,
                2 => random.between(0.5, 2.0),
                _ => random.between(-1.0, 1.0) * pow2(random.within(stored + 4)),
            };
            case.x[1] = format.step(format.nearest(case.x[0] * factor), jitter(random));
            if random.below(2) == 0 {
                case.x[0] = -case.x[0];
            }
            if random.below(2) == 0 {
                case.x.swap(0, 1);
            }
        }
        Focus::Quotients => {
            let bits = random.below(2 * u64::from(format.precision)) + 1;
            let quotient = (random.next() >> (64 - bits.min(53))) as f64 / 2.0;
            // Make half of the divisors smaller, so that fewer dividends overflow the format.
            let y = random.stratified(format) * if random.below(2) == 0 { 1.0 } else { pow2(-stored) };
            let y = format.nearest(y);
            case.x[0] = format.nearest(quotient * y * if random.below(2) == 0 { 1.0 } else { -1.0 });
            case.x[0] = if random.below(2) == 0 { case.x[0] } else { format.step(case.x[0], jitter(random)) };
            case.x[1] = y;
        }
        Focus::Powers => {
            let x = match random.below(3) {
                0 => format.nearest(1.0 + pow2(-random.within(stored).abs() - 1) * random.between(-1.0, 1.0)),
                1 => random.between(0.0, 20.0),
                _ => case.x[0],
            };
            let x = format.nearest(x);
            let target = random.between(f64::from(format.least - stored - 2), f64::from(format.most + 2));
            let y = target / x.abs().log2();
            let whole = random.below(4) == 0;
            let y = if y.is_finite() { y } else { 1.0 };
            #[allow(clippy::cast_possible_truncation, reason = "saturates")]
            let n = y as i32;
            case.n = n;
            case.x[0] = if whole { x } else { x.abs() };
            case.x[1] = format.nearest(if whole { f64::from(n) } else { y });
        }
        Focus::Cancelling => {
            let x = format.nearest(random.between(1.0, 2.0) * pow2(random.within(format.most / 2)));
            let y = if random.below(3) == 0 {
                // Use few bits, so that products are exact or halfway between two numbers.
                f64::from(random.within(7)) * pow2(random.within(format.most / 2 - 8))
            } else {
                format.nearest(random.between(-2.0, 2.0) * pow2(random.within(format.most / 2)))
            };
            let product = format.nearest(x * y);
            let ulp = format.step(product, 1) - product;
            case.x = [
                x,
                y,
                match random.below(5) {
                    0 => -product,
                    1 => format.step(-product, jitter(random)),
                    2 => format.nearest(ulp * random.between(-1.0, 1.0) * pow2(random.within(3))),
                    3 => format.nearest(ulp * pow2(-random.within(stored).abs() - 1)),
                    _ => format.nearest(product * pow2(random.within(stored + 2))),
                },
            ];
        }
        Focus::Unit => case.x = [(); 3].map(|()| format.nearest(random.unit())),
    }
    case
}

/// Returns the arguments for a function: edges, `count` arguments of all exponents, and about as many in its difficult
/// ranges. A function with one argument of type `half` gets all halves instead.
pub fn cases(function: &Function, format: &Format, count: usize) -> Vec<Case> {
    let mut random = Random::new(function.name);
    let mut all: Vec<Case> = Vec::new();
    let unary = matches!(function.shape, Shape::One | Shape::ToInt | Shape::AndFloat | Shape::AndInt);
    if unary && format.size == 2 {
        return (0..=u64::from(u16::MAX)).map(|bits| Case { x: [format.decode(bits), 0.0, 0.0], n: 0 }).collect();
    }
    let few = few_edges(format);
    match function.shape {
        Shape::Two | Shape::TwoAndInt => {
            all.extend(few.iter().flat_map(|&x| few.iter().map(move |&y| Case { x: [x, y, 0.0], n: 0 })));
            let others: Vec<f64> = [0.0, 1.0, -1.0, 2.0, 3.0, -3.0, 0.5, f64::INFINITY, f64::NAN].to_vec();
            for x in edges(format) {
                all.extend(others.iter().flat_map(|&y| [Case { x: [x, y, 0.0], n: 0 }, Case { x: [y, x, 0.0], n: 0 }]));
            }
        }
        Shape::Three => {
            let few: Vec<f64> = few.iter().copied().step_by(3).collect();
            all.extend(few.iter().flat_map(|&x| {
                few.iter().flat_map({
                    let few = &few;
                    move |&y| few.iter().map(move |&z| Case { x: [x, y, z], n: 0 })
                })
            }));
        }
        Shape::WithInt => all.extend(few.iter().flat_map(|&x| INTS.iter().map(move |&n| Case { x: [x, 0.0, 0.0], n }))),
        _ => all.extend(edges(format).iter().map(|&x| Case { x: [x, 0.0, 0.0], n: 0 })),
    }
    for _ in 0..count {
        let mut case = Case { x: [(); 3].map(|()| random.stratified(format)), n: 0 };
        case.n = match random.below(4) {
            0 => random.within(10),
            1 => random.within(2 * format.most + 60),
            2 => INTS.get(usize::try_from(random.below(INTS.len() as u64)).unwrap_or(0)).copied().unwrap_or(0),
            _ => random.within(i32::MAX),
        };
        all.push(case);
    }
    let each = count.div_ceil(function.focus.len().max(1));
    for &focus in function.focus {
        all.extend((0..each).map(|_| focused(focus, format, &mut random)));
    }
    all
}
