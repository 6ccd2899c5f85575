//! Vector data loads and stores (6.15.7), also of halves.

use super::super::function::Lowering;
use super::super::lvalue::lane_size;
use super::super::types::ArithType;
use super::Call;
use crate::ast::ScalarKind;
use crate::ir::{CastOp, Scalar, Type, Value};
use crate::thir::Rounding;

/// Size of a half in bytes.
const HALF: u32 = 2;

impl<'p> Lowering<'p, '_> {
    /// Adds the offset argument, in units of `stride` bytes, to the pointer argument.
    fn data_address(&mut self, call: &Call<'p>, offset: usize, stride: u32) -> Value {
        let signed = self.arg_type(call, offset).is_signed();
        let (index, pointer) = (self.value(call, offset), self.value(call, offset + 1));
        self.element_address(pointer, index, signed, stride, false)
    }

    /// Lowers `vloadn`. The pointer is only guaranteed to be aligned to one element. Consecutive vectors of three lanes
    /// are three elements apart, not four.
    pub(super) fn vload(&mut self, call: &Call<'p>) -> Value {
        let arith = self.arithmetic(call.ty);
        let size = lane_size(arith);
        let address = self.data_address(call, 0, size * u32::from(arith.lanes));
        self.b.load(address, arith.ir(), size, false)
    }

    pub(super) fn vstore(&mut self, call: &Call<'p>) -> Option<Value> {
        let arith = self.arg_type(call, 0);
        let size = lane_size(arith);
        let address = self.data_address(call, 1, size * u32::from(arith.lanes));
        let data = self.value(call, 0);
        self.b.store(address, data, size, false);
        None
    }

    /// Returns the distance in bytes between consecutive vectors of halves, and their alignment in bytes.
    fn half_layout(lanes: u8, aligned: bool) -> (u32, u32) {
        let lanes = u32::from(lanes);
        if aligned {
            let size = HALF * if lanes == 3 { 4 } else { lanes };
            (size, size)
        } else {
            (HALF * lanes, HALF)
        }
    }

    pub(super) fn vload_half(&mut self, call: &Call<'p>, aligned: bool) -> Value {
        let arith = self.arithmetic(call.ty);
        let (stride, align) = Self::half_layout(arith.lanes, aligned);
        let address = self.data_address(call, 0, stride);
        let float = if self.shared.target.language.fp16 {
            let half = self.b.load(address, Type::of(Scalar::F16, arith.lanes), align, false);
            self.b.cast(CastOp::FToF, half, Type::of(Scalar::F32, arith.lanes))
        } else {
            let half = self.b.load(address, Type::of(Scalar::I16, arith.lanes), align, false);
            self.b.half_bits_to_float(half)
        };
        self.b.convert(float, ArithType::new(ScalarKind::Float, arith.lanes), arith)
    }

    pub(super) fn vstore_half(&mut self, call: &Call<'p>, rounding: Option<Rounding>, aligned: bool) -> Option<Value> {
        let arith = self.arg_type(call, 0);
        let (stride, align) = Self::half_layout(arith.lanes, aligned);
        let address = self.data_address(call, 1, stride);
        let data = self.value(call, 0);
        let language = &self.shared.target.language;
        let is_nearest = matches!(rounding, None | Some(Rounding::Rte));
        let may_use_device = language.rounds_to_half || (rounding.is_none() && self.shared.options.fast_relaxed_math);
        // Devices differ in rounding to half and in denormals. The device's conversion from `float` is used to round to
        // nearest, if it rounds correctly or -cl-fast-relaxed-math permits errors. Otherwise, the conversion uses
        // integers.
        let half = match rounding {
            _ if language.fp16 && arith.kind == ScalarKind::Float && is_nearest && may_use_device => {
                self.b.cast(CastOp::FToF, data, Type::of(Scalar::F16, arith.lanes))
            }
            _ => {
                let bits = self.b.float_to_half_bits(data, rounding.unwrap_or(Rounding::Rte));
                // Loads use the type `half` if the device has it, so that all accesses to a buffer of halves have the
                // same type.
                if self.shared.target.language.fp16 { self.b.bitcast(bits, Type::of(Scalar::F16, arith.lanes)) } else { bits }
            }
        };
        self.b.store(address, half, align, false);
        None
    }
}
