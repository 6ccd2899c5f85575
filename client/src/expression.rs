//! Host expressions for the values of arguments. They have C's operators on 128-bit integers and doubles, and are
//! evaluated for each element `i`.
//!
//! 128 bits can represent every product of 64-bit values. The result is truncated to the element type when it is stored
//! or compared. Conversions such as `uchar(x)` truncate within an expression.
//!
//! Example: `float[64] = i * 0.5` is a buffer with the values 0, 0.5, 1, ...

use std::collections::HashMap;

use crate::element::{Element, Value, half_to_f64};
use crate::error::NotationError;

type Result<T> = std::result::Result<T, NotationError>;

/// A parsed expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A number or a constant.
    Value(Value),
    /// A variable: `i`, an argument, or the counter of a `sum`.
    Name(String),
    /// An element of a buffer.
    Index(String, Box<Expr>),
    /// A unary operator.
    Unary(&'static str, Box<Expr>),
    /// A binary operator.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `condition ? yes : no`
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A function or a conversion.
    Call(String, Vec<Expr>),
}

/// The contents of a buffer or value argument before the kernel runs.
#[derive(Clone, Debug)]
pub struct Input {
    /// The type of the scalars.
    pub element: Element,
    pub bytes: Vec<u8>,
    /// Whether the argument is a scalar. In an expression, the name of an argument that is not a scalar is its element
    /// `i`.
    pub is_scalar: bool,
}

/// The values of names during the evaluation of an expression.
#[derive(Clone, Debug, Default)]
pub struct Scope<'a> {
    /// The value of `i`: the index of the element that the expression is evaluated for.
    pub index: i128,
    /// The arguments by their names.
    pub inputs: Option<&'a HashMap<String, Input>>,
    /// A seed, so that the `rand` sequences of arguments differ.
    pub salt: u64,
    /// The counters of the enclosing `sum`s.
    pub variables: Vec<(String, i128)>,
}

/// Binary operators in ascending order of precedence.
const LEVELS: [&[&str]; 10] =
    [&["||"], &["&&"], &["|"], &["^"], &["&"], &["==", "!="], &["<=", ">=", "<", ">"], &["<<", ">>"], &["+", "-"], &["*", "/", "%"]];

struct Parser<'a> {
    rest: &'a str,
}

/// Parses a whole text.
///
/// # Errors
/// Fails if the text is not an expression.
pub fn parse(text: &str) -> Result<Expr> {
    let mut parser = Parser { rest: text };
    let expr = parser.select()?;
    parser.skip_space();
    if parser.rest.is_empty() { Ok(expr) } else { Err(format!("unexpected `{}` in `{text}`", parser.rest).into()) }
}

impl Parser<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn accept(&mut self, token: &str) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.accept(token) { Ok(()) } else { Err(format!("`{token}` expected {}", self.position()).into()) }
    }

    /// Returns the position for an error message.
    fn position(&self) -> String {
        if self.rest.is_empty() { "at the end".to_owned() } else { format!("before `{}`", self.rest) }
    }

    fn select(&mut self) -> Result<Expr> {
        let condition = self.binary(0)?;
        if !self.accept("?") {
            return Ok(condition);
        }
        let yes = self.select()?;
        self.expect(":")?;
        let no = self.select()?;
        Ok(Expr::Select(Box::new(condition), Box::new(yes), Box::new(no)))
    }

    fn binary(&mut self, level: usize) -> Result<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut lhs = self.binary(level + 1)?;
        'next: loop {
            self.skip_space();
            for operator in *operators {
                // Do not parse the first character of `<<` or `&&` as an operator.
                let doubled = self
                    .rest
                    .strip_prefix(operator)
                    .is_some_and(|rest| operator.len() == 1 && "<>&|".contains(operator) && rest.starts_with(operator));
                if !doubled && self.accept(operator) {
                    let right = self.binary(level + 1)?;
                    lhs = Expr::Binary(operator, Box::new(lhs), Box::new(right));
                    continue 'next;
                }
            }
            return Ok(lhs);
        }
    }

    fn unary(&mut self) -> Result<Expr> {
        for operator in ["-", "~", "!", "+"] {
            if self.accept(operator) {
                return Ok(Expr::Unary(operator, Box::new(self.unary()?)));
            }
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<Expr> {
        if self.accept("(") {
            let inner = self.select()?;
            self.expect(")")?;
            return Ok(inner);
        }
        self.skip_space();
        if self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number();
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() {
            return Err(format!("operand expected {}", self.position()).into());
        }
        self.rest = rest;
        if self.accept("(") {
            let mut arguments = Vec::new();
            while !self.accept(")") {
                if !arguments.is_empty() {
                    self.expect(",")?;
                }
                arguments.push(self.select()?);
            }
            return Ok(Expr::Call(name.to_owned(), arguments));
        }
        if self.accept("[") {
            let index = self.select()?;
            self.expect("]")?;
            return Ok(Expr::Index(name.to_owned(), Box::new(index)));
        }
        Ok(constant(name).map_or_else(|| Expr::Name(name.to_owned()), Expr::Value))
    }

    fn number(&mut self) -> Result<Expr> {
        let hex = self.rest.strip_prefix("0x").or_else(|| self.rest.strip_prefix("0X"));
        if let Some(digits) = hex {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            let value = i128::from_str_radix(&digits[..end], 16).map_err(|error| error.to_string())?;
            self.rest = &digits[end..];
            return Ok(Expr::Value(Value::Int(value)));
        }
        let mut end = 0;
        let mut previous = ' ';
        for c in self.rest.chars() {
            let sign_of_exponent = (c == '-' || c == '+') && previous == 'e';
            if !(c.is_ascii_digit() || c == '.' || c == 'e' || sign_of_exponent) {
                break;
            }
            previous = c;
            end += 1;
        }
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        let value = match text.parse::<i128>() {
            Ok(int) => Value::Int(int),
            Err(_) => Value::Float(text.parse().map_err(|_| format!("`{text}` is not a number"))?),
        };
        Ok(Expr::Value(value))
    }
}

fn constant(name: &str) -> Option<Value> {
    Some(match name {
        "_" => Value::Any,
        "nan" => Value::Float(f64::NAN),
        "inf" => Value::Float(f64::INFINITY),
        "pi" => Value::Float(std::f64::consts::PI),
        "FLT_MAX" => Value::Float(f64::from(f32::MAX)),
        "FLT_MIN" => Value::Float(f64::from(f32::MIN_POSITIVE)),
        _ => {
            let (kind, end) = name.rsplit_once('_')?;
            let (min, max) = Element::from_name(&kind.to_ascii_lowercase()).filter(|_| kind == kind.to_ascii_uppercase())?.range();
            match end {
                "MIN" => Value::Int(min),
                "MAX" => Value::Int(max),
                _ => return None,
            }
        }
    })
}

impl Expr {
    /// Evaluates the expression in a scope.
    ///
    /// # Errors
    /// Fails if the expression uses a name that the scope does not have, or if it has no value.
    pub fn evaluate(&self, scope: &Scope<'_>) -> Result<Value> {
        match self {
            Expr::Value(value) => Ok(*value),
            Expr::Name(name) => scope.name(name),
            Expr::Index(name, index) => {
                let index = index.evaluate(scope)?.as_int();
                scope.element(name, index)
            }
            Expr::Unary(operator, operand) => unary(operator, operand.evaluate(scope)?),
            Expr::Binary("&&", left, right) => Ok(truth(left.evaluate(scope)?.is_true() && right.evaluate(scope)?.is_true())),
            Expr::Binary("||", left, right) => Ok(truth(left.evaluate(scope)?.is_true() || right.evaluate(scope)?.is_true())),
            Expr::Binary(operator, left, right) => binary(operator, left.evaluate(scope)?, right.evaluate(scope)?),
            Expr::Select(condition, yes, no) => {
                if condition.evaluate(scope)?.is_true() {
                    yes.evaluate(scope)
                } else {
                    no.evaluate(scope)
                }
            }
            Expr::Call(name, arguments) => call(name, arguments, scope),
        }
    }
}

impl Scope<'_> {
    fn name(&self, name: &str) -> Result<Value> {
        if let Some((_, value)) = self.variables.iter().rev().find(|(variable, _)| variable == name) {
            return Ok(Value::Int(*value));
        }
        match self.inputs.and_then(|inputs| inputs.get(name)) {
            Some(input) if input.is_scalar => self.element(name, 0),
            Some(_) => self.element(name, self.index),
            None if name == "i" => Ok(Value::Int(self.index)),
            None => Err(format!("unknown name `{name}`").into()),
        }
    }

    fn element(&self, name: &str, index: i128) -> Result<Value> {
        let input = self.inputs.and_then(|inputs| inputs.get(name)).ok_or_else(|| format!("unknown array `{name}`"))?;
        usize::try_from(index)
            .ok()
            .and_then(|index| input.element.load(&input.bytes, index))
            .ok_or_else(|| format!("`{name}` has no element {index}").into())
    }

    /// Returns a pseudo-random 64-bit number for the element (the finaliser of splitmix64).
    fn random(&self) -> u64 {
        let mut x =
            (self.index as u64).wrapping_add(self.salt << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

fn truth(value: bool) -> Value {
    Value::Int(i128::from(value))
}

fn unary(operator: &str, value: Value) -> Result<Value> {
    Ok(match (operator, value) {
        ("!", _) => truth(!value.is_true()),
        ("-", Value::Int(int)) => Value::Int(int.wrapping_neg()),
        ("-", Value::Float(float)) => Value::Float(-float),
        ("~", Value::Int(int)) => Value::Int(!int),
        ("+", _) => value,
        _ => return Err(format!("`{operator}` does not apply to {value}").into()),
    })
}

fn binary(operator: &str, left: Value, right: Value) -> Result<Value> {
    if let (Value::Int(a), Value::Int(b)) = (left, right) {
        let shift =
            || u32::try_from(b).ok().filter(|&count| count < 128).ok_or_else(|| format!("shift amount {b} is not between 0 and 127"));
        let divisor = || if b == 0 { Err("division by zero") } else { Ok(b) };
        return Ok(Value::Int(match operator {
            "+" => a.wrapping_add(b),
            "-" => a.wrapping_sub(b),
            "*" => a.wrapping_mul(b),
            "/" => a.wrapping_div(divisor()?),
            "%" => a.wrapping_rem(divisor()?),
            "<<" => a.wrapping_shl(shift()?),
            ">>" => a.wrapping_shr(shift()?),
            "&" => a & b,
            "|" => a | b,
            "^" => a ^ b,
            "==" => i128::from(a == b),
            "!=" => i128::from(a != b),
            "<" => i128::from(a < b),
            ">" => i128::from(a > b),
            "<=" => i128::from(a <= b),
            ">=" => i128::from(a >= b),
            _ => return Err(format!("unknown operator `{operator}`").into()),
        }));
    }
    let (a, b) = (left.as_f64(), right.as_f64());
    Ok(match operator {
        "+" => Value::Float(a + b),
        "-" => Value::Float(a - b),
        "*" => Value::Float(a * b),
        "/" => Value::Float(a / b),
        "%" => Value::Float(a % b),
        "==" => truth(a == b),
        "!=" => truth(a != b),
        "<" => truth(a < b),
        ">" => truth(a > b),
        "<=" => truth(a <= b),
        ">=" => truth(a >= b),
        _ => return Err(format!("`{operator}` does not apply to floats").into()),
    })
}

fn call(name: &str, arguments: &[Expr], scope: &Scope<'_>) -> Result<Value> {
    match (name, arguments) {
        ("sum", [Expr::Name(variable), from, to, body]) => {
            let (from, to) = (from.evaluate(scope)?.as_int(), to.evaluate(scope)?.as_int());
            let mut total = Value::Int(0);
            for value in from..to {
                let mut inner = scope.clone();
                inner.variables.push((variable.clone(), value));
                total = binary("+", total, body.evaluate(&inner)?)?;
            }
            return Ok(total);
        }
        ("min_of" | "max_of" | "bits_of" | "sat", [Expr::Name(kind), ..]) => {
            let element = Element::from_name(kind).ok_or_else(|| format!("`{kind}` is not a scalar type"))?;
            let (min, max) = element.range();
            return Ok(Value::Int(match (name, arguments) {
                ("min_of", _) => min,
                ("max_of", _) => max,
                ("bits_of", _) => element.size() as i128 * 8,
                (_, [_, value]) => value.evaluate(scope)?.as_int().clamp(min, max),
                _ => return Err("`sat` requires a type and a value".into()),
            }));
        }
        _ => {}
    }
    let values = arguments.iter().map(|argument| argument.evaluate(scope)).collect::<Result<Vec<_>>>()?;
    if let (Some(element), [value]) = (Element::from_name(name), values.as_slice()) {
        return Ok(element.convert(*value));
    }
    function(name, &values, scope).ok_or_else(|| format!("unknown function `{name}`, or invalid arguments for it").into())
}

fn function(name: &str, values: &[Value], scope: &Scope<'_>) -> Option<Value> {
    if values.iter().all(|value| matches!(value, Value::Int(_))) {
        let ints: Vec<i128> = values.iter().map(|value| value.as_int()).collect();
        let result = match (name, ints.as_slice()) {
            // Both bounds are included. In a range of more than 2^64 numbers, only the first 2^64 occur.
            ("rand", &[low, high]) if low > high => return None,
            ("rand", &[low, high]) => {
                let count = high.wrapping_sub(low).wrapping_add(1);
                low + if count > 0 { i128::from(scope.random()).rem_euclid(count) } else { i128::from(scope.random()) }
            }
            ("min", &[a, b]) => a.min(b),
            ("max", &[a, b]) => a.max(b),
            ("clamp", &[x, low, high]) => x.max(low).min(high),
            ("abs", &[a]) => a.wrapping_abs(),
            ("popcount", &[a]) => i128::from(a.count_ones()),
            // The number of leading zeros of a non-negative number of `width` bits.
            ("clz", &[a, width]) => (i128::from(a.leading_zeros()) - 128).wrapping_add(width),
            ("ctz", &[a, width]) => i128::from(a.trailing_zeros()).min(width),
            _ => return float_function(name, values, scope),
        };
        return Some(Value::Int(result));
    }
    float_function(name, values, scope)
}

fn float_function(name: &str, values: &[Value], scope: &Scope<'_>) -> Option<Value> {
    let floats: Vec<f64> = values.iter().map(|value| value.as_f64()).collect();
    let result = match (name, floats.as_slice()) {
        ("rand", &[low, high]) => low + (high - low) * (scope.random() >> 11) as f64 / (1u64 << 53) as f64,
        ("bits", &[a]) => return Some(Value::Int(i128::from((a as f32).to_bits()))),
        ("float_of", &[_]) => f64::from(f32::from_bits(values[0].as_int() as u32)),
        ("half_of", &[_]) => half_to_f64(values[0].as_int() as u16),
        ("isnan", &[a]) => return Some(truth(a.is_nan())),
        ("isinf", &[a]) => return Some(truth(a.is_infinite())),
        ("signbit", &[a]) => return Some(truth(a.is_sign_negative())),
        ("to_int", &[a]) => return Some(Value::Int(a as i128)),
        ("min", &[a, b]) => a.min(b),
        ("max", &[a, b]) => a.max(b),
        ("clamp", &[x, low, high]) => x.max(low).min(high),
        ("abs", &[a]) => a.abs(),
        ("floor", &[a]) => a.floor(),
        ("ceil", &[a]) => a.ceil(),
        ("trunc", &[a]) => a.trunc(),
        ("round", &[a]) => a.round(),
        ("rint", &[a]) => a.round_ties_even(),
        ("sqrt", &[a]) => a.sqrt(),
        ("cbrt", &[a]) => a.cbrt(),
        ("exp", &[a]) => a.exp(),
        ("exp2", &[a]) => a.exp2(),
        ("exp10", &[a]) => 10f64.powf(a),
        ("expm1", &[a]) => a.exp_m1(),
        ("log", &[a]) => a.ln(),
        ("log2", &[a]) => a.log2(),
        ("log10", &[a]) => a.log10(),
        ("log1p", &[a]) => a.ln_1p(),
        ("sin", &[a]) => a.sin(),
        ("cos", &[a]) => a.cos(),
        ("tan", &[a]) => a.tan(),
        ("asin", &[a]) => a.asin(),
        ("acos", &[a]) => a.acos(),
        ("atan", &[a]) => a.atan(),
        ("sinh", &[a]) => a.sinh(),
        ("cosh", &[a]) => a.cosh(),
        ("tanh", &[a]) => a.tanh(),
        ("asinh", &[a]) => a.asinh(),
        ("acosh", &[a]) => a.acosh(),
        ("atanh", &[a]) => a.atanh(),
        ("atan2", &[a, b]) => a.atan2(b),
        ("pow", &[a, b]) => a.powf(b),
        ("fmod", &[a, b]) => a % b,
        ("hypot", &[a, b]) => a.hypot(b),
        ("copysign", &[a, b]) => a.copysign(b),
        ("fma", &[a, b, c]) => fma(a, b, c),
        _ => return None,
    };
    Some(Value::Float(result))
}

/// Returns `a * b + c`, rounded once.
#[cfg(not(windows))]
fn fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

/// Returns `a * b + c`, rounded once. The `fma` of MinGW's C library rounds twice.
#[cfg(windows)]
fn fma(a: f64, b: f64, c: f64) -> f64 {
    libm::fma(a, b, c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_causes_a_panic() {
        let least = format!("-{} - 1", i128::MAX);
        for text in ["1 / 0", "1 % 0", "1 << 200", "rand(5, 4)", "unknown", "a[3]", "sat(int)", "sqrt()", "1.2.3", "("] {
            assert!(parse(text).and_then(|expr| expr.evaluate(&Scope::default())).is_err(), "{text}");
        }
        for text in [format!("abs({least})"), format!("rand({least}, {})", i128::MAX), format!("clz(1, {})", i128::MAX)] {
            assert!(parse(&text).and_then(|expr| expr.evaluate(&Scope::default())).is_ok(), "{text}");
        }
    }

    #[test]
    fn integers_wrap() {
        let least = format!("(-{} - 1)", i128::MAX);
        for text in [format!("{least} / -1 == {least}"), format!("{least} % -1 == 0"), format!("{least} - 1 == {}", i128::MAX)] {
            let value = parse(&text).and_then(|expr| expr.evaluate(&Scope::default()));
            assert!(value.is_ok_and(|value| value.is_true()), "{text}");
        }
    }
}
