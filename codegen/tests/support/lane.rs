//! A lane of a value in the evaluator: its bits, and the extent to which they are specified.

use smallvec::SmallVec;
use wgcl_codegen::vir::Elem;

/// The extent to which the IR specifies the bits of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All bits are specified.
    Known,
    /// A NaN. The IR does not specify which NaN arithmetic returns.
    Nan,
    /// An `f32` close to the bits ([`is_near`]).
    Near,
    /// No bit is specified.
    Unknown,
}

/// A lane, or a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The bits, zero-extended. Lanes of masks are 0 or 1.
    pub bits: u64,
    /// The extent to which the bits are specified.
    pub state: State,
}

/// The lanes of a value. A scalar has one.
pub type Lanes = SmallVec<[Lane; 16]>;

impl Lane {
    /// An unspecified lane.
    pub const UNKNOWN: Self = Self { bits: 0, state: State::Unknown };

    /// A lane with specified bits.
    pub const fn known(bits: u64) -> Self {
        Self { bits, state: State::Known }
    }

    /// An unspecified NaN.
    pub const fn nan(elem: Elem) -> Self {
        let bits = if elem.bits() == 32 { 0x7fc0_0000 } else { 0x7ff8_0000_0000_0000 };
        Self { bits, state: State::Nan }
    }

    /// The bits; `None` if they are not specified.
    pub fn exact(self) -> Option<u64> {
        (self.state == State::Known).then_some(self.bits)
    }

    /// Returns the lane for a result of arithmetic. If it is a NaN, its bits are unspecified.
    pub const fn of_f32(value: f32) -> Self {
        if value.is_nan() { Self::nan(Elem::F32) } else { Self::known(value.to_bits() as u64) }
    }

    /// Returns the lane for a result of arithmetic. If it is a NaN, its bits are unspecified.
    pub const fn of_f64(value: f64) -> Self {
        if value.is_nan() { Self::nan(Elem::F64) } else { Self::known(value.to_bits()) }
    }

    /// The float; `None` if it is neither specified nor a NaN.
    pub fn f32(self) -> Option<f32> {
        matches!(self.state, State::Known | State::Nan).then(|| f32::from_bits(self.bits as u32))
    }

    /// The double; `None` if it is neither specified nor a NaN.
    pub fn f64(self) -> Option<f64> {
        matches!(self.state, State::Known | State::Nan).then(|| f64::from_bits(self.bits))
    }

    /// Whether the bits are a permitted result for this lane.
    pub fn allows(self, bits: u64, elem: Elem) -> bool {
        match (self.state, elem.bits()) {
            (State::Unknown, _) => true,
            (State::Known, _) => self.bits == bits,
            (State::Nan, 32) => f32::from_bits(bits as u32).is_nan(),
            (State::Nan, _) => f64::from_bits(bits).is_nan(),
            (State::Near, _) => is_near(f32::from_bits(self.bits as u32), f32::from_bits(bits as u32)),
        }
    }
}

/// Whether an approximation has about 12 correct bits. Processors have errors of up to 1.5 units of the twelfth bit.
pub fn is_near(exact: f32, about: f32) -> bool {
    exact == about || (f64::from(about) - f64::from(exact)).abs() <= f64::from(exact).abs() * (1.5 / 4096.0)
}
