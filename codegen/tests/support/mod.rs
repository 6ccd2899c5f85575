//! The reference for the vector IR: a simple evaluator that computes one lane at a time.

mod arith;
mod cast;
mod eval;
#[path = "../../../compiler/src/fma.rs"]
mod fma;
mod lane;
mod memory;
mod random;
mod tests;

pub use eval::{Fault, Machine};
pub use lane::{Lane, State};
pub use memory::Memory;
pub use random::Random;
