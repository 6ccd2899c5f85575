//! The reference for the vector IR: what a function does, worked out a lane at a time and in no hurry.

mod arith;
mod cast;
mod eval;
mod lane;
mod memory;
mod random;
mod tests;

pub use eval::{Fault, Machine};
pub use lane::{Lane, State};
pub use memory::Memory;
pub use random::Random;
