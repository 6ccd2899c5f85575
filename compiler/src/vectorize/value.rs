//! Values of the IR as registers of the vector IR.

use smallvec::{SmallVec, smallvec};
use wgcl_codegen::vir::{BinOp, CastOp, Op, Type as Register, Value as V};

use super::shape::{Mode, elem};
use super::uniformity::LaneShape;
use super::vectorizer::Vectorizer;
use crate::ir::{self, Scalar, Type, Value};

/// The registers of one component for all lanes of a gang.
pub(super) type Regs = SmallVec<[V; 2]>;
/// The registers of each component.
pub(super) type Comps = SmallVec<[Regs; 4]>;

/// An IR value in registers.
#[derive(Clone, Debug)]
pub(super) enum Val {
    /// A uniform value: one scalar for each component.
    Uniform(SmallVec<[V; 4]>),
    /// A linear value: the value in lane 0, and the stride from lane to lane.
    Linear(V, i64),
    Varying(Comps),
    /// A pointer: a uniform address plus a signed 32-bit byte offset for each lane.
    Based(V, Regs),
    /// A pointer into a variable in element-major layout: the address of an element in lane 0, and a byte offset for
    /// each lane, `None` if all lanes access that element. The offsets count as if the elements of a lane were
    /// contiguous. Only loads, stores and `ptr_add` use such a pointer.
    ElementMajor(V, Option<Regs>),
}

/// Returns the scalar type of an IR value's components. Pointers are 64-bit integers.
pub(super) const fn scalar(ty: Type) -> Scalar {
    match ty {
        Type::Scalar(scalar) | Type::Vector(scalar, _) => scalar,
        Type::Ptr(_) | Type::Void => Scalar::I64,
    }
}

impl Vectorizer<'_> {
    pub(super) fn ir_ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// Returns the registers of an IR value. Creates the registers of a constant at its first use.
    pub(super) fn val(&mut self, value: Value) -> Val {
        if let Some(val) = &self.values[value.index()] {
            return val.clone();
        }
        if let Some(soa) = self.deinterleaved(value) {
            return Val::Varying(soa);
        }
        match self.uniformity.definitions().get(value) {
            Some(ir::Op::Const(constant)) => {
                let constant = constant.clone();
                Val::Uniform(self.constant(&constant, self.ir_ty(value), Mode::Uniform).into_iter().map(|regs| regs[0]).collect())
            }
            // The value is defined in unreachable code.
            _ => {
                let ty = self.ir_ty(value);
                let undef = self.undef(self.shape.register(scalar(ty), Mode::Uniform));
                Val::Uniform(smallvec![undef; usize::from(ty.lanes())])
            }
        }
    }

    /// Creates all registers of a constant.
    fn constant(&mut self, constant: &ir::Const, ty: Type, mode: Mode) -> Comps {
        let scalar = scalar(ty);
        let (register, count) = (self.shape.register(scalar, mode), self.shape.registers(scalar, mode));
        (0..usize::from(ty.lanes()))
            .map(|lane| {
                let bits = match constant {
                    ir::Const::Bits(bits) => Some(*bits),
                    ir::Const::Lanes(lanes) => lanes.get(lane).copied(),
                    ir::Const::Null => Some(0),
                    ir::Const::Undef => None,
                };
                let value = match bits {
                    Some(bits) => self.bits(register, bits),
                    None => self.undef(register),
                };
                smallvec![value; count]
            })
            .collect()
    }

    /// Returns the registers of each component in a mode. The caller must request uniform registers only for uniform
    /// values. For other values, uniform registers would contain only lane 0.
    pub(super) fn comps(&mut self, value: Value, mode: Mode) -> Comps {
        if self.values[value.index()].is_none()
            && let Some(ir::Op::Const(constant)) = self.uniformity.definitions().get(value)
        {
            let constant = constant.clone();
            return self.constant(&constant, self.ir_ty(value), mode);
        }
        let (val, ty) = (self.val(value), self.ir_ty(value));
        self.comps_of(&val, ty, mode)
    }

    /// Does the same as [`Self::comps`], for registers that do not belong to an IR value.
    pub(super) fn comps_of(&mut self, val: &Val, ty: Type, mode: Mode) -> Comps {
        let scalar = scalar(ty);
        match (val, mode) {
            (Val::Uniform(list), Mode::Uniform) => list.iter().map(|value| smallvec![*value]).collect(),
            (Val::Uniform(list), Mode::Varying) => list.iter().map(|value| self.splat(*value, scalar)).collect(),
            (Val::Linear(first, _) | Val::Based(first, _) | Val::ElementMajor(first, _), Mode::Uniform) => smallvec![smallvec![*first]],
            (Val::ElementMajor(first, _), Mode::Varying) => smallvec![self.splat(*first, scalar)],
            (Val::Linear(first, stride), Mode::Varying) => {
                let (first, steps) = (self.splat(*first, scalar), self.steps(scalar, *stride));
                smallvec![self.bin_regs(BinOp::Add, scalar, Mode::Varying, &first, &steps)]
            }
            (Val::Varying(comps), Mode::Varying) => comps.clone(),
            (Val::Varying(comps), Mode::Uniform) => {
                let register = self.shape.register(scalar, Mode::Uniform);
                comps.clone().iter().map(|regs| smallvec![self.op(register, Op::Extract(regs[0], 0))]).collect()
            }
            (Val::Based(base, offsets), Mode::Varying) => {
                let base = self.splat(*base, Scalar::I64);
                let wide = self.widen(CastOp::SExt, Scalar::I64, Mode::Varying, offsets);
                smallvec![self.bin_regs(BinOp::Add, Scalar::I64, Mode::Varying, &base, &wide)]
            }
        }
    }

    /// Returns the registers of a value with one component.
    pub(super) fn regs(&mut self, value: Value, mode: Mode) -> Regs {
        self.comps(value, mode).swap_remove(0)
    }

    /// Returns a uniform value with one component, or lane 0 of a linear value.
    pub(super) fn first(&mut self, value: Value) -> V {
        self.regs(value, Mode::Uniform)[0]
    }

    /// Copies a scalar to all lanes. The splat is placed in the block that defines the scalar, so that all users share
    /// it.
    pub(super) fn splat(&mut self, value: V, of: Scalar) -> Regs {
        let count = self.shape.registers(of, Mode::Varying);
        if self.shape.lanes == 1 {
            return smallvec![value];
        }
        if let Some(&made) = self.cache.splats.get(&value) {
            return smallvec![made; count];
        }
        let register = self.shape.register(of, Mode::Varying);
        let made = if of != Scalar::Bool {
            self.emit_at_def(value, register, Op::Splat(value))
        } else if let Some(mask) = self.compared_splats(value, register) {
            mask
        } else {
            // Convert 0 or 1 to an empty or a full mask.
            let lanes = self.emit_at_def(value, self.shape.vector(elem(Scalar::I32)), Op::Splat(value));
            let zero = self.bits(self.shape.vector(elem(Scalar::I32)), 0);
            self.emit_at_def(lanes, register, Op::Cmp(wgcl_codegen::vir::CmpOp::Ne, lanes, zero))
        };
        self.cache.splats.insert(value, made);
        smallvec![made; count]
    }

    /// Compares the operands of a scalar comparison in all lanes. Without this, the flags are first copied to a general
    /// register. Returns `None` if the value is not a comparison of 32-bit operands.
    fn compared_splats(&mut self, value: V, mask: Register) -> Option<V> {
        let &Op::Cmp(op, a, b) = self.b.op(value)? else { return None };
        let of = match self.b.ty(a) {
            Register::I32 => Scalar::I32,
            Register::F32 => Scalar::F32,
            _ => return None,
        };
        let [a, b] = [a, b].map(|operand| match self.constant_bits(operand) {
            Some(bits) => self.bits(self.shape.register(of, Mode::Varying), bits),
            None => self.splat(operand, of)[0],
        });
        Some(self.in_block(self.def_site(value), |this| this.emit(mask, Op::Cmp(op, a, b))))
    }

    /// Creates the difference between each lane and lane 0 of a linear value.
    pub(super) fn steps(&mut self, of: Scalar, stride: i64) -> Regs {
        let register = self.shape.register(of, Mode::Varying);
        let lanes = u32::from(register.lanes());
        let mask = of.mask();
        (0..self.shape.registers(of, Mode::Varying) as u32)
            .map(|index| {
                let lane = |lane: u32| (stride.wrapping_mul(i64::from(index * lanes + lane))).cast_unsigned() & mask;
                self.lanes(register, (0..lanes).map(lane).collect())
            })
            .collect()
    }

    /// Returns the registers of a value in a lane shape, for block parameters.
    pub(super) fn coerce(&mut self, value: Value, lane_shape: LaneShape) -> SmallVec<[V; 4]> {
        match lane_shape {
            LaneShape::Uniform | LaneShape::Unknown => self.comps(value, Mode::Uniform).into_iter().flatten().collect(),
            LaneShape::Linear(_) => smallvec![self.first(value)],
            LaneShape::Varying => self.comps(value, Mode::Varying).into_iter().flatten().collect(),
        }
    }

    /// Returns the types of the registers of [`Self::coerce`].
    pub(super) fn coerced_types(&self, lane_shape: LaneShape, ty: Type) -> SmallVec<[Register; 4]> {
        let scalar = scalar(ty);
        match lane_shape {
            LaneShape::Uniform | LaneShape::Unknown => smallvec![self.shape.register(scalar, Mode::Uniform); usize::from(ty.lanes())],
            LaneShape::Linear(_) => smallvec![self.shape.register(scalar, Mode::Uniform)],
            LaneShape::Varying => {
                let count = self.shape.registers(scalar, Mode::Varying) * usize::from(ty.lanes());
                smallvec![self.shape.register(scalar, Mode::Varying); count]
            }
        }
    }

    /// Creates the value that the registers of [`Self::coerce`] represent.
    pub(super) fn rebuild(&self, lane_shape: LaneShape, ty: Type, registers: &[V]) -> Val {
        match lane_shape {
            LaneShape::Uniform | LaneShape::Unknown => Val::Uniform(SmallVec::from_slice(registers)),
            LaneShape::Linear(stride) => Val::Linear(registers[0], stride),
            LaneShape::Varying => {
                let count = self.shape.registers(scalar(ty), Mode::Varying);
                Val::Varying(registers.chunks(count).map(SmallVec::from_slice).collect())
            }
        }
    }
}
