//! Modules, functions and basic blocks.

use super::entities::Value;
use super::op::{Inst, Terminator};
use super::types::Type;

/// What is compiled together: functions that call each other.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Functions, indexed by [`Func`](super::Func). Each can be entered from outside, with the C calling convention.
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
    /// The blocks, indexed by [`Block`](super::Block), in the order of the code.
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

impl Inst {
    /// The type of what it gives.
    pub fn ty(&self, function: &Function) -> Option<Type> {
        self.result.map(|result| function.ty(result))
    }
}
