//! Alignment of values: a lower bound for the number of trailing zero bits of each integer and pointer of a kernel.
//!
//! A buffer starts at a multiple of 16 bytes, a structure passed by value at a multiple of its own alignment. The
//! analysis follows sums, products, left shifts and masks of constants and ids. Example: `shl %id, 5` has 5 trailing
//! zero bits.

use crate::analysis::definitions::Constants;
use crate::analysis::targets::Targets;
use crate::ir::{BinOp, CastOp, Const, Function, Inst, KernelParam, Op, Region, Type, Value, WorkItem};

/// Trailing zero bits of the address of a buffer argument: it is a multiple of 16 bytes. CL_DEVICE_MEM_BASE_ADDR_ALIGN
/// and the alignment of bindings are larger.
pub(crate) const BUFFER: u8 = 4;

/// A lower bound for the trailing zero bits of each value in the body of a kernel, by value number. `None` if the
/// function is not a kernel. The global ids of dimension 0 must be multiples of `count`, a power of two.
pub(crate) fn zeros(function: &Function, body: &Region, count: u32) -> Option<Vec<u8>> {
    walk(function, body, Ids { global: count, local: 1 })
}

/// Like [`zeros`], for the work-items in the first lane of vectors. The ids of dimension 0 must be multiples of `ids`.
pub(crate) fn zeros_of_first_lanes(function: &Function, ids: Ids) -> Option<Vec<u8>> {
    walk(function, &function.body, ids)
}

/// Powers of two that divide the ids of dimension 0.
#[derive(Clone, Copy)]
pub(crate) struct Ids {
    pub global: u32,
    pub local: u32,
}

/// Like [`zeros`], for ids of dimension 0 that are multiples of `ids`.
fn walk(function: &Function, body: &Region, ids: Ids) -> Option<Vec<u8>> {
    let kernel = function.kernel.as_ref()?;
    let mut zeros = Zeros { zeros: vec![u8::MAX; function.values.len()], constants: Constants::of(body), ids, function };
    for (param, kind) in function.params.iter().zip(&kernel.params) {
        zeros.zeros[param.index()] = match kind {
            KernelParam::Buffer { .. } => BUFFER,
            KernelParam::Bytes { align, .. } => BUFFER.min(align.trailing_zeros() as u8),
            _ => 0,
        };
    }
    zeros.region(body, Targets::NONE);
    Some(zeros.zeros)
}

struct Zeros<'f> {
    zeros: Vec<u8>,
    constants: Constants,
    ids: Ids,
    function: &'f Function,
}

impl Zeros<'_> {
    fn join(&mut self, from: &[Value], to: &[Value]) {
        for (from, to) in from.iter().zip(to) {
            self.zeros[to.index()] = self.zeros[to.index()].min(self.zeros[from.index()]);
        }
    }

    fn region(&mut self, region: &Region, targets: Targets<'_>) {
        for inst in &region.insts {
            self.inst(inst, targets);
        }
    }

    fn inst(&mut self, inst: &Inst, targets: Targets<'_>) {
        match &inst.op {
            Op::If { .. } | Op::Switch { .. } => {
                for nested in inst.op.regions() {
                    self.region(nested, targets.in_branch(&inst.results));
                }
            }
            Op::Loop { init, params, body, .. } => {
                self.join(init, params);
                loop {
                    let before: Vec<u8> = params.iter().map(|param| self.zeros[param.index()]).collect();
                    self.region(body, Targets::in_loop(params, &inst.results));
                    if params.iter().map(|param| self.zeros[param.index()]).eq(before) {
                        break;
                    }
                }
            }
            op => {
                if let Some((from, to)) = targets.of(op) {
                    self.join(from, to);
                }
                let zeros = self.op(op);
                for &result in &inst.results {
                    self.zeros[result.index()] = zeros;
                }
            }
        }
    }

    fn op(&self, op: &Op) -> u8 {
        let of = |value: Value| self.zeros[value.index()];
        let is_number = |value: Value| matches!(self.function.ty(value), Type::I32 | Type::I64);
        match *op {
            Op::Const(Const::Bits(bits)) => bits.trailing_zeros() as u8,
            Op::WorkItem(WorkItem::GlobalId(0)) => self.ids.global.trailing_zeros() as u8,
            Op::WorkItem(WorkItem::LocalId(0)) => self.ids.local.trailing_zeros() as u8,
            Op::Bin(BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor, a, b) if is_number(a) => of(a).min(of(b)),
            Op::Bin(BinOp::Mul, a, b) if is_number(a) => of(a).saturating_add(of(b)),
            Op::Bin(BinOp::And, a, b) if is_number(a) => of(a).max(of(b)),
            Op::Bin(BinOp::Shl, a, b) if is_number(a) => of(a).saturating_add(self.amount(b)),
            Op::Cast(CastOp::ZExt | CastOp::SExt | CastOp::Trunc, a) if is_number(a) => of(a),
            Op::Select(_, a, b) | Op::PtrAdd(a, b) => of(a).min(of(b)),
            _ => 0,
        }
    }

    /// Returns the amount of a shift by a constant, modulo 32, which is a lower bound for 64-bit integers. Returns 0 if
    /// the amount is not constant.
    fn amount(&self, value: Value) -> u8 {
        self.constants.bits(value).map_or(0, |bits| (bits % 32) as u8)
    }
}
