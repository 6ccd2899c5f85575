//! Types of the vector IR: what one register holds.

use std::fmt;

/// What a lane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Elem {
    I32,
    I64,
    F32,
    F64,
}

impl Elem {
    /// Bits of one.
    pub const fn bits(self) -> u32 {
        match self {
            Self::I32 | Self::F32 => 32,
            Self::I64 | Self::F64 => 64,
        }
    }

    /// Bytes of one.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// All bits of one.
    pub const fn mask(self) -> u64 {
        match self {
            Self::I32 | Self::F32 => 0xffff_ffff,
            Self::I64 | Self::F64 => u64::MAX,
        }
    }

    /// Whether it is a floating-point number.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// The integer of the same size.
    pub const fn int(self) -> Self {
        match self {
            Self::I32 | Self::F32 => Self::I32,
            Self::I64 | Self::F64 => Self::I64,
        }
    }
}

/// The shape of the vectors that a mask is for: machines without registers for masks keep a mask in a vector of that
/// shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MaskType {
    /// How many lanes.
    pub lanes: u8,
    /// Bits of each lane of the vectors that it is for: 32 or 64.
    pub bits: u8,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One number: integers in a general register, floats in the low lane of a vector register.
    Scalar(Elem),
    /// So many lanes; 16, 32 or 64 bytes in all.
    Vector(Elem, u8),
    /// Which lanes of a vector are meant.
    Mask(MaskType),
}

impl Type {
    /// A 32-bit integer in a general register; also what comparisons of scalars give (0 or 1).
    pub const I32: Self = Self::Scalar(Elem::I32);
    /// A 64-bit integer in a general register; also addresses.
    pub const I64: Self = Self::Scalar(Elem::I64);
    /// A float.
    pub const F32: Self = Self::Scalar(Elem::F32);
    /// A double.
    pub const F64: Self = Self::Scalar(Elem::F64);

    /// The type of a mask for vectors of that many lanes of that many bits.
    pub const fn mask(lanes: u8, bits: u32) -> Self {
        Self::Mask(MaskType { lanes, bits: bits as u8 })
    }

    /// What a scalar is, or a lane of a vector.
    pub const fn elem(self) -> Option<Elem> {
        match self {
            Self::Scalar(elem) | Self::Vector(elem, _) => Some(elem),
            Self::Mask(_) => None,
        }
    }

    /// How many lanes; 1 for scalars.
    pub const fn lanes(self) -> u8 {
        match self {
            Self::Scalar(_) => 1,
            Self::Vector(_, lanes) | Self::Mask(MaskType { lanes, .. }) => lanes,
        }
    }

    /// The same shape of another element.
    pub const fn with_elem(self, elem: Elem) -> Self {
        match self {
            Self::Scalar(_) => Self::Scalar(elem),
            Self::Vector(_, lanes) | Self::Mask(MaskType { lanes, .. }) => Self::Vector(elem, lanes),
        }
    }

    /// The type of a comparison of two values of this type.
    pub const fn compared(self) -> Self {
        match self {
            Self::Vector(elem, lanes) => Self::mask(lanes, elem.bits()),
            Self::Scalar(_) => Self::I32,
            Self::Mask(_) => self,
        }
    }

    /// Whether it lives in a general register.
    pub const fn is_general(self) -> bool {
        matches!(self, Self::Scalar(Elem::I32 | Elem::I64))
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(elem) => write!(f, "{elem}"),
            Self::Vector(elem, lanes) => write!(f, "{elem}x{lanes}"),
            Self::Mask(MaskType { lanes, bits }) => write!(f, "m{bits}x{lanes}"),
        }
    }
}
