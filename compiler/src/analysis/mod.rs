//! Analyses of functions: each property is computed in one place, for all passes and for emission.
//!
//! * [`definitions`]: the definition, the constant value and the uses of a value, and byte offsets as sums.
//! * [`addresses`]: the object and offset that a pointer points to.
//! * [`alignment`]: trailing zero bits of integers and pointers.
//! * [`divergence`]: how values differ between work-items, and which work-items execute an instruction together.
//! * [`strides`]: the transfer function of [`divergence`] for values that grow evenly.
//! * [`targets`]: the results and loop parameters that the operands of terminators become.
//! * [`loops`]: counted loops, trip counts, and the conditions that loop tests guarantee.
//! * [`ranges`]: bounds of integers.
//! * [`eval`]: constant folding.
//! * [`calls`]: functions in call order.
//! * [`group_independent`](mod@group_independent): whether a kernel is independent of its division into groups.
//! * [`written`]: whether a kernel writes through pointers that do not come from its parameters.
//!
//! This module only imports [`ir`](crate::ir) (and [`Span`](crate::diag::Span)); `ir` does not import this module. An
//! analysis is computed on request, for the current state of the function. Most results borrow the function, so that it
//! cannot change while they are used. The others, except [`Uses`](definitions::Uses), stay valid for the values that
//! they contain as long as a pass only adds instructions.

pub(crate) mod addresses;
pub(crate) mod alignment;
pub(crate) mod calls;
pub(crate) mod definitions;
pub(crate) mod divergence;
pub(crate) mod eval;
pub mod group_independent;
pub(crate) mod loops;
pub(crate) mod ranges;
pub(crate) mod strides;
pub(crate) mod targets;
pub(crate) mod written;

pub use group_independent::group_independent;
pub(crate) use written::writes_anywhere;
