//! Types of the vector IR: the contents of one register.

use std::fmt;

/// The element of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names need no documentation")]
pub enum Elem {
    I32,
    I64,
    F32,
    F64,
}

impl Elem {
    /// Size in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::I32 | Self::F32 => 32,
            Self::I64 | Self::F64 => 64,
        }
    }

    /// Size in bytes.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// A constant with all bits set.
    pub const fn mask(self) -> u64 {
        match self {
            Self::I32 | Self::F32 => 0xffff_ffff,
            Self::I64 | Self::F64 => u64::MAX,
        }
    }

    /// Whether the element is a floating-point number.
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

/// The lanes of the vectors that a mask applies to. On a processor without mask registers, the mask is a vector with
/// these lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MaskType {
    /// The number of lanes.
    pub lanes: u8,
    /// Bits per lane of the vectors: 32 or 64.
    pub bits: u8,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One number: an integer in a general register, or a float in the low lane of a vector register.
    Scalar(Elem),
    /// A vector with this number of lanes, 16, 32 or 64 bytes in total.
    Vector(Elem, u8),
    /// The active lanes of a vector.
    Mask(MaskType),
}

impl Type {
    /// A 32-bit integer in a general register. Comparisons of scalars give this type (0 or 1).
    pub const I32: Self = Self::Scalar(Elem::I32);
    /// A 64-bit integer in a general register. Addresses have this type.
    pub const I64: Self = Self::Scalar(Elem::I64);
    /// A float in a vector register.
    pub const F32: Self = Self::Scalar(Elem::F32);
    /// A double in a vector register.
    pub const F64: Self = Self::Scalar(Elem::F64);

    /// A mask for vectors of `lanes` lanes with `bits` bits each.
    pub const fn mask(lanes: u8, bits: u32) -> Self {
        Self::Mask(MaskType { lanes, bits: bits as u8 })
    }

    /// The element of a scalar or vector; `None` for masks.
    pub const fn elem(self) -> Option<Elem> {
        match self {
            Self::Scalar(elem) | Self::Vector(elem, _) => Some(elem),
            Self::Mask(_) => None,
        }
    }

    /// The number of lanes; 1 for scalars.
    pub const fn lanes(self) -> u8 {
        match self {
            Self::Scalar(_) => 1,
            Self::Vector(_, lanes) | Self::Mask(MaskType { lanes, .. }) => lanes,
        }
    }

    /// The scalar or vector with the same number of lanes and this element. A mask becomes a vector.
    pub const fn with_elem(self, elem: Elem) -> Self {
        match self {
            Self::Scalar(_) => Self::Scalar(elem),
            Self::Vector(_, lanes) | Self::Mask(MaskType { lanes, .. }) => Self::Vector(elem, lanes),
        }
    }

    /// The type of the result of a comparison of two values of this type.
    pub const fn compared(self) -> Self {
        match self {
            Self::Vector(elem, lanes) => Self::mask(lanes, elem.bits()),
            Self::Scalar(_) => Self::I32,
            Self::Mask(_) => self,
        }
    }

    /// Whether the value is in a general register.
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
