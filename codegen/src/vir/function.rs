//! Modules, functions and basic blocks.

use super::entities::Value;
use super::op::{Inst, Terminator};
use super::types::Type;

/// Functions that are compiled together and can call each other.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Functions, indexed by [`Func`](super::Func). The host can call each of them with the C calling convention.
    pub functions: Vec<Function>,
}

/// A function. Parameters and result are scalars in general registers.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// A name for listings and profilers.
    pub name: String,
    /// At most six parameters, each `i32` or `i64`.
    pub params: Vec<Type>,
    /// The type of the result, `i32` or `i64`; `None` if there is no result.
    pub returns: Option<Type>,
    /// The type of each value, indexed by [`Value`].
    pub values: Vec<Type>,
    /// The blocks, indexed by [`Block`](super::Block), in the order of the code.
    pub blocks: Vec<BlockData>,
}

/// A basic block.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// Block parameters. The jumps to this block pass their values.
    pub params: Vec<Value>,
    /// The instructions, in order of execution.
    pub insts: Vec<Inst>,
    /// The end of the block; `None` only during construction.
    pub terminator: Option<Terminator>,
}

impl Function {
    /// Returns the type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.index()]
    }
}

impl Inst {
    /// Returns the type of the result, or `None` if there is no result.
    pub fn ty(&self, function: &Function) -> Option<Type> {
        self.result.map(|result| function.ty(result))
    }
}
