//! The uses of undefined values that instrumented kernels report.
//!
//! Example: `undefined_use branch "x"`, for a branch that depends on the uninitialised variable `x`.

use serde::{Deserialize, Serialize};

/// The use of an undefined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UndefinedUse {
    /// The condition of a branch or loop, or the selector of a `switch`.
    Branch,
    /// The address of an access.
    Address,
    /// A value that is stored to global or local memory.
    Store,
    /// An operand of an operation that the host or other work-items can observe.
    Operand,
}

impl UndefinedUse {
    /// The name in the text form of the IR.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Address => "address",
            Self::Store => "store",
            Self::Operand => "operand",
        }
    }

    /// The subject of a message.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Branch => "a branch",
            Self::Address => "the address of an access",
            Self::Store => "the stored value",
            Self::Operand => "an operand",
        }
    }

    /// The use with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Branch, Self::Address, Self::Store, Self::Operand].into_iter().find(|what| what.name() == name)
    }
}
