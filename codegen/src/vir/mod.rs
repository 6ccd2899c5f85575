//! The vector IR: SSA over basic blocks, each value one register of a machine with vectors.
//!
//! # Values
//! A value is a scalar in a general register (`i32`, `i64`) or in the low lane of a vector register (`f32`, `f64`); a
//! vector of 16, 32 or 64 bytes; or a mask, one bit of truth a lane. Wider things are the business of who makes the IR:
//! sixteen lanes of 64 bits are two values of eight. Narrow integers do not exist in registers: bytes and 16-bit words
//! are memory formats ([`Mem`]) that are widened with zeros when they are loaded and cut when they are stored.
//!
//! # Control
//! A [`Function`] is a list of blocks; block 0 is the entry and has no parameters. Blocks have parameters in place of
//! phis, and end in a [`Terminator`]. Blocks stand in an order in which every definition comes before its uses: a block
//! that dominates another one stands before it, and the blocks of a loop stand together.
//!
//! # Meaning
//! * Shift amounts below the width of the element give the shift; others give an unspecified value (never a trap).
//! * Scalar divisions trap where the machine's do (by zero, and the least number by -1): who makes them guards them.
//!   There are no vector divisions of integers.
//! * [`BinOp::FMin`] is `a < b ? a : b` and [`BinOp::FMax`] `a > b ? a : b`: the second operand where one is a NaN.
//! * A masked access does not touch memory for lanes that are off; a masked load gives unspecified values there.
//! * Floating-point operations round to nearest even; whether denormals are kept is the thread's setting. `fma` has one
//!   rounding.
//! * `undef` is any value, and may be another one at each use.
//!
//! # Calls
//! [`Op::Call`] calls another function of the module, [`Op::CallHelper`] a function of the host at an address, with the
//! C calling convention of the platform; both take and give scalars in general registers (`i32` and `i64`). Vectors go
//! through memory.

mod build;
mod dominators;
mod entities;
mod function;
mod gvn;
mod op;
mod read;
mod types;
mod verify;
mod write;

pub use build::Builder;
pub use entities::{Block, Func, Value};
pub use function::{BlockData, Function, Module};
pub(crate) use gvn::gvn;
pub use op::{Addr, BinOp, CastOp, CmpOp, Cond, Inst, Mem, Op, Rounding, Target, Terminator, TernOp, UnOp};
pub use read::{ReadError, read};
pub use types::{Elem, MaskType, Type};
pub use verify::{VerifyError, verify};
