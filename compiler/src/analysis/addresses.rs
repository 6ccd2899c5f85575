//! The object and the byte offset that each pointer of a function points to.
//!
//! ```text
//! %1 = var_addr $x            $x, byte 0
//! %3 = ptr_add %1, %2         $x, byte 8              (where %2 is 8)
//! %5 = ptr_add %3, %4         $x, offset unknown
//! ```
//! This analysis does not know the objects of pointers that are results of control flow or are loaded from memory.
//! `passes::resolve_pointers` resolves these. The analysis is one traversal that fills one table.

use super::definitions::Root;
use crate::ir::{CastOp, Const, Function, Op, Region, Type, Value, Var};

/// An address in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub root: Root,
    /// Byte offset; `None` if it is only known at run time.
    pub offset: Option<i64>,
}

#[derive(Clone, Copy, Debug)]
enum Known {
    Nothing,
    /// A constant integer, sign-extended.
    Number(i64),
    Address(Address),
}

/// The known facts about each value of a function, indexed by value number.
#[derive(Debug)]
pub(crate) struct Addresses(Vec<Known>);

impl Addresses {
    /// Analyses a function whose body is `body`. Private variables have function index 0 in their [`Root`].
    pub(crate) fn of(function: &Function, body: &Region) -> Self {
        let mut addresses = Self(vec![Known::Nothing; function.values.len()]);
        let count = function.kernel.as_ref().map_or(0, |kernel| kernel.params.len());
        for (index, param) in (0..).zip(function.params.iter().take(count)) {
            addresses.0[param.index()] = Known::Address(Address { root: Root::Param(index), offset: Some(0) });
        }
        body.walk(&mut |inst| {
            if let [result] = inst.results[..] {
                addresses.0[result.index()] = addresses.operation(&inst.op, function.ty(result));
            }
        });
        addresses
    }

    fn operation(&self, op: &Op, ty: Type) -> Known {
        let start = |root: Root| Known::Address(Address { root, offset: Some(0) });
        match *op {
            Op::Const(Const::Bits(bits)) => match ty {
                Type::Scalar(scalar) => Known::Number(scalar.sign_extend(bits)),
                _ => Known::Nothing,
            },
            Op::VarAddr(var) => start(Root::Var(0, var)),
            Op::GlobalAddr(global) => start(Root::Global(global)),
            Op::ParamAddr(index) => start(Root::Param(index)),
            Op::PtrAdd(pointer, offset) => match self.get(pointer) {
                Some(Address { root, offset: from }) => {
                    let by = match self.0.get(offset.index()) {
                        Some(&Known::Number(by)) => Some(by),
                        _ => None,
                    };
                    Known::Address(Address { root, offset: from.zip(by).map(|(from, by)| from.wrapping_add(by)) })
                }
                None => Known::Nothing,
            },
            Op::Cast(CastOp::SpaceCast, pointer) => self.get(pointer).map_or(Known::Nothing, Known::Address),
            _ => Known::Nothing,
        }
    }

    /// The object and offset of a pointer; `None` if the object is not known.
    pub(crate) fn get(&self, pointer: Value) -> Option<Address> {
        match self.0.get(pointer.index()) {
            Some(&Known::Address(address)) => Some(address),
            _ => None,
        }
    }

    /// The object of a pointer; `None` if it is not known.
    pub(crate) fn root(&self, pointer: Value) -> Option<Root> {
        self.get(pointer).map(|address| address.root)
    }

    /// The private variable that a pointer points into, and the byte offset if it is constant. `None` for pointers that
    /// are not known to point into a private variable.
    pub(crate) fn variable(&self, pointer: Value) -> Option<(Var, Option<i64>)> {
        match self.get(pointer)? {
            Address { root: Root::Var(_, var), offset } => Some((var, offset)),
            _ => None,
        }
    }

    /// Like [`Self::variable`], but also `None` if the offset is not constant.
    pub(crate) fn fixed(&self, pointer: Value) -> Option<(Var, i64)> {
        self.variable(pointer).and_then(|(var, offset)| Some((var, offset?)))
    }
}
