//! The vector IR: SSA over basic blocks. Each value fits one register of a processor with vectors.
//!
//! # Values
//! A value is one of these:
//! - a scalar: `i32` and `i64` are in a general register, `f32` and `f64` in the low lane of a vector register
//! - a vector of 16, 32 or 64 bytes
//! - a mask, with one bit per lane
//!
//! The code that builds the IR splits larger vectors: sixteen lanes of 64 bits are two values of eight lanes. Registers
//! do not hold narrow integers, except for packed ones ([`BinOp`]). Bytes and 16-bit words are memory formats
//! ([`Mem`]): loads extend them with zeros, stores truncate.
//!
//! # Control flow
//! A [`Function`] is a list of blocks. Block 0 is the entry and has no parameters. Blocks have parameters instead of
//! phis, and end in a [`Terminator`]. A block follows the blocks that dominate it, so definitions precede uses. The
//! blocks of a loop are contiguous.
//!
//! # Semantics
//! * A shift by the width of the element or more gives an unspecified value, and never traps.
//! * Scalar division by zero, or of the least number by -1, traps on processors whose division traps. The code that
//!   builds the IR must guard divisions. Vectors of integers have no division.
//! * [`BinOp::FMin`] is `a < b ? a : b` and [`BinOp::FMax`] is `a > b ? a : b`. So the result is the second operand if
//!   one operand is a NaN.
//! * A masked access does not touch memory for inactive lanes. A masked load gives unspecified values for inactive
//!   lanes.
//! * Floating-point operations round to nearest even. The state of the thread decides whether denormals are flushed.
//!   `fma` rounds once.
//! * `undef` is any value, and can differ at each use.
//!
//! # Calls
//! [`Op::Call`] calls another function of the module. [`Op::CallHelper`] calls a host function at an address, with the
//! C calling convention of the platform. Parameters and results are scalars in general registers (`i32` and `i64`).
//! Vectors are passed in memory.

mod build;
pub(crate) mod dominators;
mod entities;
mod extensions;
mod function;
mod gvn;
mod op;
mod read;
mod sums;
mod types;
mod verify;
mod write;

pub use build::Builder;
pub use entities::{Block, Func, Value};
pub(crate) use extensions::unsign;
pub use function::{BlockData, Function, Module};
pub(crate) use gvn::gvn;
pub use op::{Addr, BinOp, CastOp, CmpOp, Cond, Inst, Mem, Op, Rounding, SourceLoc, Target, Terminator, TernOp, UnOp};
pub use read::{ReadError, read};
pub(crate) use sums::order_sums;
pub use types::{Elem, MaskType, Type};
pub use verify::{VerifyError, verify};
