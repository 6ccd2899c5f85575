//! The scalar types of buffers, and the values of host expressions.

use std::fmt;

/// The value of a host expression. Integers have 128 bits, and are truncated when they are stored. Floats have double
/// precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Int(i128),
    Float(f64),
    /// `_`: every value is accepted as a result.
    Any,
}

impl Value {
    /// Converts the value to a double.
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Int(value) => value as f64,
            Value::Float(value) => value,
            Value::Any => 0.0,
        }
    }

    /// Converts the value to an integer. Floats are rounded towards zero.
    pub fn as_int(self) -> i128 {
        match self {
            Value::Int(value) => value,
            Value::Float(value) => value as i128,
            Value::Any => 0,
        }
    }

    /// Whether the value is not zero.
    pub fn is_true(self) -> bool {
        match self {
            Value::Int(value) => value != 0,
            Value::Float(value) => value != 0.0,
            Value::Any => false,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Any => f.write_str("_"),
        }
    }
}

/// A scalar type of OpenCL C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    Char,
    Uchar,
    Short,
    Ushort,
    Int,
    Uint,
    Long,
    Ulong,
    Half,
    Float,
    Double,
}

impl Element {
    /// Returns the scalar type with this name, or `None` for other names.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "char" => Element::Char,
            "uchar" => Element::Uchar,
            "short" => Element::Short,
            "ushort" => Element::Ushort,
            "int" => Element::Int,
            "uint" => Element::Uint,
            "long" => Element::Long,
            "ulong" => Element::Ulong,
            "half" => Element::Half,
            "float" => Element::Float,
            "double" => Element::Double,
            _ => return None,
        })
    }

    /// Returns the name of the type in OpenCL C.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Char => "char",
            Self::Uchar => "uchar",
            Self::Short => "short",
            Self::Ushort => "ushort",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Long => "long",
            Self::Ulong => "ulong",
            Self::Half => "half",
            Self::Float => "float",
            Self::Double => "double",
        }
    }

    /// Splits the name of a vector type, such as `float4`, into the scalar type and the number of components, which is
    /// 1 for a scalar. Returns `None` for other names.
    pub fn vector_from_name(name: &str) -> Option<(Self, usize)> {
        let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        let element = Self::from_name(&name[..digits])?;
        let width = match &name[digits..] {
            "" => 1,
            "2" => 2,
            "3" => 3,
            "4" => 4,
            "8" => 8,
            "16" => 16,
            _ => return None,
        };
        Some((element, width))
    }

    /// Returns the size in bytes.
    pub const fn size(self) -> usize {
        match self {
            Element::Char | Element::Uchar => 1,
            Element::Short | Element::Ushort | Element::Half => 2,
            Element::Int | Element::Uint | Element::Float => 4,
            Element::Long | Element::Ulong | Element::Double => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Element::Half | Element::Float | Element::Double)
    }

    /// Whether it is a signed integer type.
    pub fn is_signed(self) -> bool {
        matches!(self, Element::Char | Element::Short | Element::Int | Element::Long)
    }

    /// Returns the minimum and the maximum value of an integer type.
    pub fn range(self) -> (i128, i128) {
        let bits = self.size() as u32 * 8;
        if self.is_signed() { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) }
    }

    /// Converts a value to this type. Integers are truncated, and floats are rounded.
    pub fn convert(self, value: Value) -> Value {
        match (self, value) {
            (_, Value::Any) => Value::Any,
            (Element::Double, _) => Value::Float(value.as_f64()),
            // Convert directly, because a conversion to double first would round twice.
            (Element::Float, Value::Int(int)) => Value::Float(f64::from(int as f32)),
            (Element::Float, _) => Value::Float(f64::from(value.as_f64() as f32)),
            (Element::Half, _) => Value::Float(half_to_f64(f64_to_half(value.as_f64()))),
            _ => {
                let bits = self.size() as u32 * 8;
                let wrapped = value.as_int() & ((1i128 << bits) - 1);
                if self.is_signed() && wrapped >> (bits - 1) != 0 { Value::Int(wrapped - (1i128 << bits)) } else { Value::Int(wrapped) }
            }
        }
    }

    /// Converts a value to this type and appends its bytes.
    pub fn store(self, value: Value, out: &mut Vec<u8>) {
        match self {
            Element::Half => out.extend(f64_to_half(value.as_f64()).to_le_bytes()),
            Element::Float => match self.convert(value) {
                Value::Float(float) => out.extend((float as f32).to_le_bytes()),
                Value::Int(_) | Value::Any => out.extend([0; 4]),
            },
            Element::Double => out.extend(value.as_f64().to_le_bytes()),
            _ => out.extend(&value.as_int().to_le_bytes()[..self.size()]),
        }
    }

    /// Reads the element with this index. Returns `None` after the end of `bytes`.
    pub fn load(self, bytes: &[u8], index: usize) -> Option<Value> {
        let size = self.size();
        let at = index.checked_mul(size)?;
        let bytes = bytes.get(at..at.checked_add(size)?)?;
        let mut word = [0u8; 16];
        word[..size].copy_from_slice(bytes);
        let bits = i128::from_le_bytes(word);
        Some(match self {
            Element::Half => Value::Float(half_to_f64(bits as u16)),
            Element::Float => Value::Float(f64::from(f32::from_bits(bits as u32))),
            Element::Double => Value::Float(f64::from_bits(bits as u64)),
            _ => self.convert(Value::Int(bits)),
        })
    }

    /// Returns the unit in the last place of a floating-point type at `value`.
    pub fn ulp(self, value: f64) -> f64 {
        let (mantissa, min_exponent) = match self {
            Element::Half => (10, -14),
            Element::Float => (23, -126),
            _ => (52, -1022),
        };
        let exponent = if value == 0.0 || !value.is_finite() { min_exponent } else { value.abs().log2().floor() as i32 };
        2f64.powi(exponent.max(min_exponent) - mantissa)
    }
}

/// Converts the bits of a half to double.
pub fn half_to_f64(bits: u16) -> f64 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let mantissa = f64::from(bits & 0x3ff);
    sign * match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + mantissa) * 2f64.powi(exponent - 25),
    }
}

/// Converts a double to the bits of the nearest half (ties to even).
pub fn f64_to_half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | 0x7e00;
    }
    // 65520 is halfway between the largest half, 65504, and 65536, and rounds to infinity.
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    let exponent = if magnitude < 2f64.powi(-14) { -14 } else { magnitude.log2().floor() as i32 };
    // log2 can round up to the next integer.
    let exponent = if magnitude < 2f64.powi(exponent) { (exponent - 1).max(-14) } else { exponent };
    let units = (magnitude * 2f64.powi(10 - exponent)).round_ties_even() as u16;
    // A subnormal has fewer than 1024 units, so the exponent field is 0. A carry in the addition increments the
    // exponent.
    sign | ((exponent + 14) as u16 * 1024 + units)
}
