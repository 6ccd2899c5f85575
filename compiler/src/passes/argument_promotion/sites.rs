//! Finds the objects that the pointer arguments of calls point into.

use super::footprint::Footprint;
use crate::analysis::definitions::Definitions;
use crate::ir::{CastOp, Function, Op, Type, Value, Var};

/// The object that a pointer argument points into, and the offset in the object.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub object: Object,
    /// The constant part of the offset, in bytes.
    pub constant: i64,
    /// The run-time terms of the offset, in bytes.
    pub terms: Vec<Value>,
}

/// An object that a caller passes by pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    Variable(Var),
    /// The pointee of a parameter of the caller, by the parameter's index.
    Param(usize),
}

/// Resolves the pointer arguments of calls in a function.
pub(super) struct Sites<'f> {
    function: &'f Function,
    known: Definitions<'f>,
}

impl<'f> Sites<'f> {
    pub(super) fn of(function: &'f Function) -> Self {
        Self { function, known: Definitions::of(function) }
    }

    /// Returns the parameter index and the target of each argument whose parameter has a footprint. Returns `None` if
    /// memory cannot be passed by value, for one of these reasons:
    /// * An argument does not point into one known object.
    /// * Two arguments alias, and the callee stores through one of them.
    pub(super) fn of_call(&self, args: &[Value], footprints: &[Option<Footprint>]) -> Option<Vec<(usize, Site)>> {
        let mut list: Vec<(usize, Site)> = Vec::new();
        for (index, (&arg, footprint)) in args.iter().zip(footprints).enumerate() {
            let Some(footprint) = footprint else { continue };
            let site = self.site(arg)?;
            let conflicts =
                |(other, at): &(usize, Site)| footprints[*other].as_ref().is_some_and(|known| conflicts((footprint, &site), (known, at)));
            if list.iter().any(conflicts) {
                return None;
            }
            list.push((index, site));
        }
        Some(list)
    }

    /// Returns the target of a pointer, or `None` if the pointer does not point into one object that is known when the
    /// program is built.
    pub(super) fn site(&self, pointer: Value) -> Option<Site> {
        let (mut pointer, mut constant, mut terms) = (pointer, 0_i64, Vec::new());
        loop {
            match self.known.get(pointer) {
                Some(Op::VarAddr(var)) => return Some(Site { object: Object::Variable(*var), constant, terms }),
                Some(Op::Cast(CastOp::SpaceCast, from)) => pointer = *from,
                Some(Op::PtrAdd(base, offset)) => {
                    match (self.known.scalar(*offset), self.function.ty(*offset)) {
                        (Some(bits), Type::Scalar(scalar)) => constant = constant.checked_add(scalar.sign_extend(bits))?,
                        _ => terms.push(*offset),
                    }
                    pointer = *base;
                }
                Some(_) => return None,
                None => {
                    let index = self.function.params.iter().position(|&param| param == pointer)?;
                    return self.function.kernel.is_none().then_some(Site { object: Object::Param(index), constant, terms });
                }
            }
        }
    }
}

/// Whether two arguments of a call alias and the callee stores through one of them.
fn conflicts((one, at): (&Footprint, &Site), (other, there): (&Footprint, &Site)) -> bool {
    if at.object != there.object || !(one.is_written() || other.is_written()) {
        return false;
    }
    let (Footprint::Fixed(mine), Footprint::Fixed(theirs)) = (one, other) else { return true };
    if !at.terms.is_empty() || !there.terms.is_empty() {
        return true;
    }
    mine.iter().any(|mine| {
        let first = at.constant + mine.offset;
        theirs.iter().any(|theirs| {
            let second = there.constant + theirs.offset;
            (mine.writes || theirs.writes) && first < second + i64::from(theirs.size) && second < first + i64::from(mine.size)
        })
    })
}
