//! Truncates offsets within memory objects to 32 bits if all objects are smaller than [`MIN_LARGE_OBJECT`]. Otherwise
//! extends them to 64 bits.
//!
//! ```text
//! %8 = ptr_add %p, %6        =>     %7 = trunc.i32 %6           or, with large offsets:     %7 = sext.i64 %6
//!                                   %8 = ptr_add %p, %7                                     %8 = ptr_add %p, %7
//! ```
//! Two addresses in an object of up to 2 GiB differ by less than 2 GiB. So the sign-extended low half of an offset
//! gives the same address. [`shrink_int64`](super::shrink_int64) then narrows the computation of the offsets. A vector
//! register contains twice as many 32-bit indices as 64-bit indices, and `uint` indices can be analysed across lanes.
//! On a CPU, the benchmarks `long_integers` and `private_arrays` run 1.5 times as fast as without this pass.
//!
//! In larger objects, the sum of two 32-bit offsets may exceed 32 bits, so offsets are extended. Constant offsets, and
//! offsets in private and local memory, are not extended.

use super::pass::Pass;
use crate::analysis::definitions::Constants;
use crate::ir::{CastOp, Function, Inst, Op, Region, Scalar, Space, Type};

/// Minimum size in bytes of an object that needs 64-bit offsets. The distance from 2 GiB allows for small displacements
/// ([`crate::vectorize`]).
pub const MIN_LARGE_OBJECT: u64 = (1 << 31) - 4096;

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
    /// Converts the offsets in a region. Returns whether anything changed.
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

    /// Converts the offset of a `ptr_add`. Returns false for other instructions and if the offset does not change.
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
