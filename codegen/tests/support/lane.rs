//! What the evaluator knows of one lane of a value.

use smallvec::SmallVec;
use wgcl_codegen::vir::Elem;

/// How far the bits of a lane are said by the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All bits.
    Known,
    /// It is some NaN: the IR does not say which one arithmetic gives.
    Nan,
    /// An `f32` about as large as the bits say ([`is_near`]).
    Near,
    /// Nothing.
    Unknown,
}

/// A lane, or a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The bits, zeros above those of the element; 0 or 1 of a mask.
    pub bits: u64,
    /// What of it is known.
    pub state: State,
}

/// The lanes of a value; one of a scalar.
pub type Lanes = SmallVec<[Lane; 16]>;

impl Lane {
    /// A lane of which nothing is known.
    pub const UNKNOWN: Self = Self { bits: 0, state: State::Unknown };

    /// A lane of which all is known.
    pub const fn known(bits: u64) -> Self {
        Self { bits, state: State::Known }
    }

    /// Some NaN.
    pub const fn nan(elem: Elem) -> Self {
        let bits = if elem.bits() == 32 { 0x7fc0_0000 } else { 0x7ff8_0000_0000_0000 };
        Self { bits, state: State::Nan }
    }

    /// The bits, if they are known.
    pub fn exact(self) -> Option<u64> {
        (self.state == State::Known).then_some(self.bits)
    }

    /// What arithmetic gives: NaNs are all the same.
    pub const fn of_f32(value: f32) -> Self {
        if value.is_nan() { Self::nan(Elem::F32) } else { Self::known(value.to_bits() as u64) }
    }

    /// What arithmetic gives: NaNs are all the same.
    pub const fn of_f64(value: f64) -> Self {
        if value.is_nan() { Self::nan(Elem::F64) } else { Self::known(value.to_bits()) }
    }

    /// As a float, if it is known or some NaN.
    pub fn f32(self) -> Option<f32> {
        matches!(self.state, State::Known | State::Nan).then(|| f32::from_bits(self.bits as u32))
    }

    /// As a double, if it is known or some NaN.
    pub fn f64(self) -> Option<f64> {
        matches!(self.state, State::Known | State::Nan).then(|| f64::from_bits(self.bits))
    }

    /// Whether bits that a machine has got for it are right.
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

/// Whether an approximation has 12 bits that are right, or nearly so: the machines' have errors of up to 1.5 units of
/// the twelfth.
pub fn is_near(exact: f32, about: f32) -> bool {
    exact == about || (f64::from(about) - f64::from(exact)).abs() <= f64::from(exact).abs() * (1.5 / 4096.0)
}
