//! Offsets within memory objects get 32 bits where none has more than 2 GiB, and 64 where one has.
//!
//! ```text
//! %8 = ptr_add %p, %6        =>     %7 = trunc.i32 %6            or, where memory is far, of an i32 %6     %7 = sext.i64 %6
//!                                   %8 = ptr_add %p, %7                                                    %8 = ptr_add %p, %7
//! ```
//! Two addresses of an object of up to 2 GiB are less than that apart, so that the low half of an offset, taken with its sign, leads to the same place. [`narrow`](super::shrink_int64) goes on from
//! there: indices take 32 bits, of which a vector holds twice as many, and `uint` indices can be followed from lane to lane (`long_integers` and `private_arrays` run 1.5 times as fast on a CPU).
//! Where an object has more, not even the sum of two offsets of 32 bits has.

use super::pass::Pass;
use crate::analysis::definitions::Constants;
use crate::ir::{CastOp, Function, Inst, Op, Region, Scalar, Space, Type};

/// This transformation, as the lists of passes name it.
pub(crate) const PASS: Pass = Pass::function("offsets", |function, cx| {
    let mut body = std::mem::take(&mut function.body);
    let constants = Constants::of(&body);
    let changed = Offsets { function, constants, large_offsets: cx.key.kernel.large_offsets }.region(&mut body);
    function.body = body;
    Ok(changed)
});

struct Offsets<'f> {
    function: &'f mut Function,
    constants: Constants,
    large_offsets: bool,
}

impl Offsets<'_> {
    fn region(&mut self, region: &mut Region) -> bool {
        let mut changed = false;
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            for inner in inst.op.regions_mut() {
                changed |= self.region(inner);
            }
            changed |= self.resize(&mut inst, &mut out);
            out.push(inst);
        }
        region.insts = out;
        changed
    }

    fn resize(&mut self, inst: &mut Inst, out: &mut Vec<Inst>) -> bool {
        let Op::PtrAdd(base, offset) = &mut inst.op else { return false };
        let is_wide = self.function.ty(*offset).scalar() == Some(Scalar::I64);
        let is_small = matches!(self.function.ty(*base), Type::Ptr(Space::Private | Space::Local));
        let (ty, cast) = match (self.large_offsets, is_wide) {
            (false, true) => (Type::I32, CastOp::Trunc),
            (true, false) if !is_small && self.constants.bits(*offset).is_none() => (Type::I64, CastOp::SExt),
            _ => return false,
        };
        *offset = self.function.emit(out, inst.span, ty, Op::Cast(cast, *offset));
        true
    }
}
