//! The vector IR: SSA over basic blocks, each value one register of a machine with vectors.
//!
//! # Values
//! A value is a scalar in a general register (`i32`, `i64`) or in the low lane of a vector register (`f32`, `f64`); a vector of 16, 32 or 64 bytes; or a mask, one
//! bit of truth a lane. Wider things are the business of who makes the IR: sixteen lanes of 64 bits are two values of eight. Narrow integers do not
//! exist in registers: bytes and 16-bit words are memory formats ([`Mem`]) that are widened with zeros when they are loaded and cut when they are stored.
//!
//! # Control
//! A [`Function`] is a list of blocks; block 0 is the entry and has no parameters. Blocks have parameters in place of phis, and end in a [`Terminator`]. Blocks
//! stand in an order in which every definition comes before its uses: a block that dominates another one stands before it, and the blocks of a loop stand together.
//!
//! # Meaning
//! * Shift amounts below the width of the element give the shift; others give an unspecified value (never a trap).
//! * Scalar divisions trap where the machine's do (by zero, and the least number by -1): who makes them guards them. There are no vector divisions of integers.
//! * [`BinOp::FMin`] is `a < b ? a : b` and [`BinOp::FMax`] `a > b ? a : b`: the second operand where one is a NaN.
//! * A masked access does not touch memory for lanes that are off; a masked load gives unspecified values there.
//! * Floating-point operations round to nearest even; whether denormals are kept is the thread's setting. `fma` has one rounding.
//! * `undef` is any value, and may be another one at each use.
//!
//! # Calls
//! [`Op::Call`] calls another function of the module, [`Op::CallHelper`] a function of the host at an address, with the C calling convention of the
//! platform; both take and give scalars in general registers (`i32` and `i64`). Vectors go through memory.

mod build;
mod dominators;
mod gvn;
mod op;
mod types;
mod verify;
mod write;

pub use build::Builder;
pub(crate) use gvn::gvn;
pub use op::{Addr, BinOp, CastOp, CmpOp, Cond, Inst, Mem, Op, Rounding, Target, Terminator, TernOp, UnOp};
pub use types::{Elem, MaskType, Type};
pub use verify::{VerifyError, verify};

use std::fmt;

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// The index into the table that this entity names an entry of.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

entity!(
    /// An SSA value of a function.
    Value, "v"
);
entity!(
    /// A block of a function.
    Block, "b"
);
entity!(
    /// A function of a module.
    Func, "f"
);

/// What is compiled together: functions that call each other.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Functions, indexed by [`Func`]. Each can be entered from outside, with the C calling convention.
    pub functions: Vec<Function>,
}

/// A function: parameters and result are scalars in general registers.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// A name for listings and profilers.
    pub name: String,
    /// Types of the parameters, six at most, each `i32` or `i64`.
    pub params: Vec<Type>,
    /// The type of the result, `i32` or `i64`, if there is one.
    pub returns: Option<Type>,
    /// The type of each value, indexed by [`Value`].
    pub values: Vec<Type>,
    /// The blocks, indexed by [`Block`], in the order of the code.
    pub blocks: Vec<BlockData>,
}

/// A list of instructions with one way in and one way on.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// What the blocks that lead here hand over.
    pub params: Vec<Value>,
    /// In order of execution.
    pub insts: Vec<Inst>,
    /// Where it goes on; `None` only while it is being built.
    pub terminator: Option<Terminator>,
}

impl Function {
    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.index()]
    }
}
