//! Analyses of functions: each property is computed in one place, for all passes and for emission.
//!
//! * [`definitions`]: the definition, constant value and uses of a value; byte offsets as sums.
//! * [`addresses`]: the object and offset that a pointer points to.
//! * [`alignment`]: trailing zero bits of integers and pointers.
//! * [`divergence`]: how values differ between work-items, and which work-items execute an instruction together;
//!   [`strides`]: its transfer function for values that grow evenly.
//! * [`targets`]: the values that terminators define.
//! * [`loops`]: counted loops, trip counts, and the conditions that loop tests guarantee; [`ranges`]: bounds of
//!   integers.
//! * [`eval`]: constant folding.
//! * [`calls`]: functions in call order.
//! * [`group_blind`](mod@group_blind): whether a kernel depends on its division into groups; [`written`]: whether it
//!   writes through pointers that its parameters do not declare.
//!
//! This module only imports [`ir`](crate::ir) (and [`Span`](crate::diag::Span)); nothing in `ir` imports it. An
//! analysis is computed on request and is valid for the function at that time. Analyses that borrow the function
//! cannot be kept while it changes. The others ([`Constants`](definitions::Constants),
//! [`Addresses`](addresses::Addresses)) stay valid for the values that they contain as long as a pass only adds
//! instructions.

pub(crate) mod addresses;
pub(crate) mod alignment;
pub(crate) mod calls;
pub(crate) mod definitions;
pub(crate) mod divergence;
pub(crate) mod eval;
pub mod group_blind;
pub(crate) mod loops;
pub(crate) mod ranges;
pub(crate) mod strides;
pub(crate) mod targets;
pub(crate) mod written;

pub use group_blind::group_blind;
pub(crate) use written::writes_anywhere;
