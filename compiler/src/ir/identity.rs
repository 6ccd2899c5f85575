//! Identity elements of operations.
//!
//! Example: `BinOp::Add.identity(Scalar::I32)` is 0.

use super::{BinOp, Scalar};

impl BinOp {
    /// The bits of the result of an empty reduction or scan (OpenCL C 6.15.16).
    pub fn identity(self, scalar: Scalar) -> u64 {
        let sign = 1 << (scalar.bits().max(1) - 1);
        let (one, infinity) = match scalar {
            Scalar::F16 => (0x3c00, 0x7c00),
            Scalar::F32 => (u64::from(1_f32.to_bits()), u64::from(f32::INFINITY.to_bits())),
            Scalar::F64 => (1_f64.to_bits(), f64::INFINITY.to_bits()),
            _ => (1, 0),
        };
        match self {
            Self::SMin => sign - 1,
            Self::SMax => sign,
            Self::UMin | Self::And => scalar.mask(),
            Self::FMin => infinity,
            Self::FMax => infinity | sign,
            Self::Mul | Self::FMul => one,
            _ => 0,
        }
    }

    /// The bits of an identity element that also preserves the sign of zeros, and NaNs.
    pub fn neutral(self, scalar: Scalar) -> u64 {
        match self {
            Self::FAdd => 1 << (scalar.bits() - 1),
            Self::FMin | Self::FMax => match scalar {
                Scalar::F16 => 0x7e00,
                Scalar::F64 => f64::NAN.to_bits(),
                _ => u64::from(f32::NAN.to_bits()),
            },
            _ => self.identity(scalar),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BinOp, Scalar};

    #[test]
    fn identities_change_nothing() {
        assert_eq!(BinOp::SMin.identity(Scalar::I8), 0x7f);
        assert_eq!(BinOp::SMax.identity(Scalar::I16), 0x8000);
        assert_eq!(BinOp::UMin.identity(Scalar::I64), u64::MAX);
        assert_eq!(BinOp::FMax.identity(Scalar::F16), 0xfc00);
        assert_eq!(f64::from_bits(BinOp::FMul.identity(Scalar::F64)), 1.0);
        assert_eq!(BinOp::FAdd.identity(Scalar::F32), 0);
    }

    #[test]
    fn neutral_values_keep_signs_and_nans() {
        let zero = f32::from_bits(BinOp::FAdd.neutral(Scalar::F32) as u32);
        assert_eq!((-0.0_f32 + zero).to_bits(), (-0.0_f32).to_bits());
        assert!(f64::from_bits(BinOp::FMin.neutral(Scalar::F64)).is_nan());
        assert_eq!(BinOp::Xor.neutral(Scalar::I32), 0);
    }
}
