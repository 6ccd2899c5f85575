//! Which values are addresses of private variables at known offsets: what `lower_memory` and `promote` start from.

use crate::ir::{CastOp, Const, Function, Op, Region, Scalar, Type, Value, Var};

/// An address in a private variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The variable.
    pub var: Var,
    /// Byte offset; `None` where it is known at run time only.
    pub offset: Option<i64>,
}

/// Addresses and constants of a function, indexed by value.
#[derive(Debug)]
pub struct Addresses {
    base: Vec<Option<Address>>,
    consts: Vec<Option<i64>>,
}

impl Addresses {
    /// Finds the addresses in a function.
    pub fn of(function: &Function) -> Self {
        let count = function.values.len();
        let mut addresses = Self { base: vec![None; count], consts: vec![None; count] };
        addresses.region(function, &function.body);
        addresses
    }

    /// The private variable and offset that a pointer is known to have.
    pub fn get(&self, value: Value) -> Option<Address> {
        self.base.get(value.index()).copied().flatten()
    }

    /// The variable and offset if both are known.
    pub fn fixed(&self, value: Value) -> Option<(Var, i64)> {
        self.get(value).and_then(|address| Some((address.var, address.offset?)))
    }

    /// The value of a scalar integer constant, sign-extended.
    pub fn constant(&self, value: Value) -> Option<i64> {
        self.consts.get(value.index()).copied().flatten()
    }

    fn region(&mut self, function: &Function, region: &Region) {
        for inst in &region.insts {
            if let [result] = inst.results[..] {
                match &inst.op {
                    Op::Const(Const::Bits(bits)) => {
                        if let Type::Scalar(scalar) = function.ty(result) {
                            self.consts[result.index()] = Some(sign_extend(*bits, scalar));
                        }
                    }
                    Op::VarAddr(var) => self.base[result.index()] = Some(Address { var: *var, offset: Some(0) }),
                    Op::PtrAdd(ptr, offset) => {
                        let added = self.constant(*offset);
                        self.base[result.index()] = self.get(*ptr).map(|address| Address {
                            var: address.var,
                            offset: address.offset.zip(added).map(|(offset, added)| offset.wrapping_add(added)),
                        });
                    }
                    Op::Cast(CastOp::SpaceCast, ptr) => self.base[result.index()] = self.get(*ptr),
                    _ => {}
                }
            }
            for nested in inst.op.regions() {
                self.region(function, nested);
            }
        }
    }
}

/// The value of a scalar's bits as a signed integer.
pub const fn sign_extend(bits: u64, scalar: Scalar) -> i64 {
    let unused = 64 - scalar.bits();
    (bits << unused).cast_signed() >> unused
}
