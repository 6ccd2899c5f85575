//! The types of values. There are no aggregates: memory consists of bytes, and a struct is a variable or a range of a
//! buffer.
//!
//! Example: `float3` is `Type::Vector(Scalar::F32, 3)`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An address space (OpenCL C 6.7) of a pointer type or memory object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Space {
    /// Memory of one work-item for the variables of functions ([`super::Var`]).
    Private,
    Local,
    /// Buffers and program-scope `__global` variables.
    Global,
    /// Read-only memory: `__constant` arguments, program-scope constants, string literals, aggregates passed by value
    /// to kernels.
    Constant,
    /// Memory that is known only at run time to be private, local or global memory.
    Generic,
}

/// A scalar type. Integers are signless: signedness is a property of operations. [`Scalar::Bool`] has no size in memory
/// and is never loaded or stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scalar {
    /// One bit, for results of comparisons and for conditions.
    Bool,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

impl Scalar {
    /// Size in memory in bytes; 0 for `Bool`.
    pub const fn size(self) -> u32 {
        match self {
            Self::Bool => 0,
            Self::I8 => 1,
            Self::I16 | Self::F16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    /// Width in bits; 1 for `Bool`.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            other => other.size() * 8,
        }
    }

    /// Whether this is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// Whether this is an integer type. `Bool` is not one.
    pub const fn is_int(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The smallest and the largest number of an integer type.
    pub const fn integer_range(self, signed: bool) -> (i128, i128) {
        let width = self.bits();
        if signed { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) }
    }

    /// The exclusive limits of the doubles whose integral part an integer type can represent.
    #[allow(clippy::cast_precision_loss, reason = "powers of two and small numbers are exact")]
    pub fn convertible_doubles(self, signed: bool) -> (f64, f64) {
        let (min, max) = self.integer_range(signed);
        // There is no double between the smallest `long` and the next smaller double.
        let low = if signed && self.bits() == 64 { (min as f64).next_down() } else { (min - 1) as f64 };
        (low, (max + 1) as f64)
    }

    /// The integer type with a size of 1, 2, 4 or 8 bytes. `None` for other sizes.
    pub const fn int_of_size(bytes: u32) -> Option<Self> {
        match bytes {
            1 => Some(Self::I8),
            2 => Some(Self::I16),
            4 => Some(Self::I32),
            8 => Some(Self::I64),
            _ => None,
        }
    }

    /// Sign-extends zero-extended bits of this width.
    pub const fn sign_extend(self, bits: u64) -> i64 {
        let unused = 64 - self.bits();
        (bits << unused).cast_signed() >> unused
    }

    /// A mask of all bits of this width.
    pub const fn mask(self) -> u64 {
        match self.bits() {
            64 => u64::MAX,
            n => (1 << n) - 1,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Type {
    /// No value: the result of a `void` function. No [`super::Value`] has this type.
    Void,
    Scalar(Scalar),
    /// A vector of 2, 3, 4, 8 or 16 lanes. Three lanes occupy the memory of four where OpenCL C requires it. The size
    /// of an access is always the size of the lanes (12 bytes for a `float3`); the front end computes the layout.
    Vector(Scalar, u8),
    /// An address in an address space. Its size is 8 bytes if the OpenCL C of the target has 64-bit integers, otherwise
    /// 4.
    Ptr(Space),
}

impl Type {
    pub const BOOL: Self = Self::Scalar(Scalar::Bool);
    pub const I32: Self = Self::Scalar(Scalar::I32);
    pub const I64: Self = Self::Scalar(Scalar::I64);

    /// The scalar of a scalar or vector type. `None` for other types.
    pub const fn scalar(self) -> Option<Scalar> {
        match self {
            Self::Scalar(s) | Self::Vector(s, _) => Some(s),
            Self::Void | Self::Ptr(_) => None,
        }
    }

    /// Number of lanes: 1 for a scalar or a pointer.
    pub const fn lanes(self) -> u8 {
        match self {
            Self::Vector(_, n) => n,
            _ => 1,
        }
    }

    /// The scalar type if `lanes` is 1, otherwise a vector type.
    pub const fn of(scalar: Scalar, lanes: u8) -> Self {
        if lanes == 1 { Self::Scalar(scalar) } else { Self::Vector(scalar, lanes) }
    }

    /// The type with the same lane count and another scalar.
    pub const fn with_scalar(self, scalar: Scalar) -> Self {
        Self::of(scalar, self.lanes())
    }

    /// Size in bytes of a load or store of this type (12 for three 4-byte lanes). A pointer has `ptr_size` bytes.
    pub const fn access_size(self, ptr_size: u32) -> u32 {
        match self {
            Self::Void => 0,
            Self::Scalar(s) => s.size(),
            Self::Vector(s, n) => s.size() * n as u32,
            Self::Ptr(_) => ptr_size,
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Private => "private",
            Self::Local => "local",
            Self::Global => "global",
            Self::Constant => "constant",
            Self::Generic => "generic",
        })
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Void => f.write_str("void"),
            Self::Scalar(s) => write!(f, "{s}"),
            Self::Vector(s, n) => write!(f, "{s}x{n}"),
            Self::Ptr(space) => write!(f, "ptr.{space}"),
        }
    }
}
