//! How the arguments of a kernel are bound: the binding key of a launch, the argument buffer, and the choice between
//! bindings and device addresses.
//!
//! ```text
//! BindingKey    host -> compiler      which arguments are merged, split or accessed by address
//! addressing    compiler              by binding or by address, per parameter
//! ArgLayout     compiler -> host      offsets in the argument buffer
//! ```
//! Passes, emission and back ends use this module, so that they agree.

mod addressing;
mod arguments;
mod key;

pub(crate) use addressing::{chosen_addresses, required_addresses};
pub use arguments::{ArgLayout, arg_layout, hidden};
pub use key::{BindingKey, ConstantBinding, SplitBindings};
