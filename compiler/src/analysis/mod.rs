//! What is known of a function without changing it: each question is answered here once, for all passes and for emission.
//!
//! * [`definitions`]: what defines a value, which constant it is, how often it is used; byte offsets as sums.
//! * [`addresses`]: which object a pointer leads into, and to which byte of it.
//! * [`alignment`]: the zero bits at the end of integers and pointers.
//! * [`divergence`]: how values differ between work-items, and who gets where together.
//! * [`loops`]: which loops count, how often they go on, and what their tests promise; [`ranges`]: between which bounds integers stay.
//! * [`eval`]: what operations on constants give.
//! * [`calls`]: functions in the order of their calls.
//! * [`group_blind`](mod@group_blind): whether a kernel can tell how its NDRange is divided into groups; [`written`]: whether it writes where its parameters do not say.
//!
//! This room imports [`ir`](crate::ir) alone (and [`Span`](crate::diag::Span)); nothing in `ir` imports it. An analysis is made when it is asked for and holds for
//! the function as it was then: those that borrow the function cannot be kept while it changes, the others ([`Constants`](definitions::Constants),
//! [`Addresses`](addresses::Addresses)) stay true of the values that they know as long as a pass only adds to it.

pub(crate) mod addresses;
pub(crate) mod alignment;
pub(crate) mod calls;
pub(crate) mod definitions;
pub(crate) mod divergence;
pub(crate) mod eval;
pub mod group_blind;
pub(crate) mod loops;
pub(crate) mod ranges;
pub(crate) mod written;

pub use group_blind::group_blind;
pub(crate) use written::writes_anywhere;
