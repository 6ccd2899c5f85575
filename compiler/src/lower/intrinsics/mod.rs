//! Built-in functions that need few IR operations. Each file implements a section of the specification.
//!
//! Arguments are evaluated from left to right. Lane-wise functions use vector operations; scalar operands are splatted.

mod asynchronous;
mod atomic;
mod blocks;
mod geometric;
mod groups;
mod image;
mod integer;
mod math;
mod memory;
mod relational;
mod shuffle;
mod work_item;

use super::function::Lowering;
use super::types::ArithType;
use crate::ast::ScalarKind;
use crate::builtins::Intrinsic;
use crate::ir::image::{Coordinates, Level};
use crate::ir::{Op, Scalar, Type, Value};
use crate::thir::{Expr, Ty, TyKind};

/// A call of a built-in function with evaluated arguments.
struct Call<'p> {
    exprs: &'p [Expr],
    values: Vec<Value>,
    /// The result type of the function.
    ty: Ty,
}

impl<'p> Lowering<'p, '_> {
    pub(super) fn intrinsic(&mut self, op: Intrinsic, args: &'p [Expr], ty: Ty) -> Option<Value> {
        let values = args.iter().map(|arg| self.expr(arg)).collect();
        let call = Call { exprs: args, values, ty };
        match op {
            Intrinsic::GetWorkDim
            | Intrinsic::GetGlobalSize
            | Intrinsic::GetGlobalId
            | Intrinsic::GetLocalSize
            | Intrinsic::GetEnqueuedLocalSize
            | Intrinsic::GetLocalId
            | Intrinsic::GetNumGroups
            | Intrinsic::GetGroupId
            | Intrinsic::GetGlobalOffset
            | Intrinsic::GetGlobalLinearId
            | Intrinsic::GetLocalLinearId
            | Intrinsic::GetSubGroupSize
            | Intrinsic::GetMaxSubGroupSize
            | Intrinsic::GetNumSubGroups
            | Intrinsic::GetEnqueuedNumSubGroups
            | Intrinsic::GetSubGroupId
            | Intrinsic::GetSubGroupLocalId => Some(self.work_item(op, &call)),

            Intrinsic::Fabs
            | Intrinsic::Floor
            | Intrinsic::Ceil
            | Intrinsic::Trunc
            | Intrinsic::Rint
            | Intrinsic::Sqrt
            | Intrinsic::Rsqrt
            | Intrinsic::Fma
            | Intrinsic::Mad
            | Intrinsic::Fmin
            | Intrinsic::Fmax
            | Intrinsic::Copysign
            | Intrinsic::Nan
            | Intrinsic::NativeSin
            | Intrinsic::NativeCos
            | Intrinsic::NativeTan
            | Intrinsic::NativeExp2
            | Intrinsic::NativeLog2
            | Intrinsic::NativeRecip
            | Intrinsic::NativeDivide
            | Intrinsic::NativePowr
            | Intrinsic::NativeSqrt
            | Intrinsic::NativeRsqrt
            | Intrinsic::Degrees
            | Intrinsic::Radians
            | Intrinsic::Mix
            | Intrinsic::Step
            | Intrinsic::Smoothstep
            | Intrinsic::Sign => {
                let result = self.math(op, &call);
                self.intrinsic_nan_check(op, result, &call.values);
                Some(result)
            }

            Intrinsic::Abs
            | Intrinsic::AbsDiff
            | Intrinsic::AddSat
            | Intrinsic::SubSat
            | Intrinsic::Hadd
            | Intrinsic::Rhadd
            | Intrinsic::Clz
            | Intrinsic::Ctz
            | Intrinsic::Popcount
            | Intrinsic::MulHi
            | Intrinsic::MadHi
            | Intrinsic::MadSat
            | Intrinsic::Mul24
            | Intrinsic::Mad24
            | Intrinsic::Rotate
            | Intrinsic::Upsample
            | Intrinsic::ReverseBits
            | Intrinsic::BitfieldInsert
            | Intrinsic::BitfieldExtract
            | Intrinsic::Min
            | Intrinsic::Max
            | Intrinsic::Clamp => Some(self.integer(op, &call)),

            Intrinsic::IntegerDot => Some(self.integer_dot(&call)),

            Intrinsic::Dot
            | Intrinsic::Cross
            | Intrinsic::Length
            | Intrinsic::Distance
            | Intrinsic::Normalize
            | Intrinsic::FastLength
            | Intrinsic::FastDistance
            | Intrinsic::FastNormalize => {
                let result = self.geometric(op, &call);
                self.intrinsic_nan_check(op, result, &call.values);
                Some(result)
            }

            Intrinsic::IsEqual
            | Intrinsic::IsNotEqual
            | Intrinsic::IsGreater
            | Intrinsic::IsGreaterEqual
            | Intrinsic::IsLess
            | Intrinsic::IsLessEqual
            | Intrinsic::IsLessGreater
            | Intrinsic::IsFinite
            | Intrinsic::IsInf
            | Intrinsic::IsNan
            | Intrinsic::IsNormal
            | Intrinsic::IsOrdered
            | Intrinsic::IsUnordered
            | Intrinsic::SignBit
            | Intrinsic::Any
            | Intrinsic::All
            | Intrinsic::BitSelect
            | Intrinsic::Select => Some(self.relational(op, &call)),

            Intrinsic::VLoad => Some(self.vload(&call)),
            Intrinsic::VStore => self.vstore(&call),
            Intrinsic::VLoadHalf => Some(self.vload_half(&call, false)),
            Intrinsic::VLoadaHalf => Some(self.vload_half(&call, true)),
            Intrinsic::VStoreHalf(rounding) => self.vstore_half(&call, rounding, false),
            Intrinsic::VStoreaHalf(rounding) => self.vstore_half(&call, rounding, true),
            Intrinsic::Shuffle => Some(self.shuffle(&call)),
            Intrinsic::Shuffle2 => Some(self.shuffle2(&call)),

            Intrinsic::Barrier | Intrinsic::MemFence | Intrinsic::AtomicWorkItemFence => self.fence(op, &call),
            Intrinsic::Atomic(_)
            | Intrinsic::AtomicInc
            | Intrinsic::AtomicDec
            | Intrinsic::AtomicCmpXchg
            | Intrinsic::AtomicInit
            | Intrinsic::AtomicCompareExchange
            | Intrinsic::AtomicFlagTestAndSet
            | Intrinsic::AtomicFlagClear => self.atomic(op, &call),

            Intrinsic::WorkGroup(function) => self.collective(false, function, &call),
            Intrinsic::SubGroup(function) => self.collective(true, function, &call),

            Intrinsic::AsyncCopy => Some(self.async_copy(&call, false)),
            Intrinsic::AsyncStridedCopy => Some(self.async_copy(&call, true)),
            Intrinsic::AsyncCopy2D => Some(self.async_copy_lines(&call, false)),
            Intrinsic::AsyncCopy3D => Some(self.async_copy_lines(&call, true)),
            Intrinsic::WaitGroupEvents => self.wait_group_events(&call),
            Intrinsic::Clock { sub } => Some(self.b.emit(Op::Clock { sub }, Type::of(Scalar::I32, 2))),
            // `prefetch` is a hint and emits nothing. Its arguments have been evaluated.
            Intrinsic::Prefetch => None,

            Intrinsic::ToGlobal | Intrinsic::ToLocal | Intrinsic::ToPrivate => Some(self.narrow_space(&call)),
            Intrinsic::GetFence => Some(self.get_fence(&call)),
            Intrinsic::ReadImage => Some(self.read_image(&call)),
            Intrinsic::ReadImageLevel => Some(self.read_elements(&call, (Coordinates::Plain, Level::Lod))),
            Intrinsic::ReadImageSample => Some(self.read_sample(&call)),
            Intrinsic::WriteImage => {
                self.write_image(&call);
                None
            }
            Intrinsic::GetImage(query) => Some(self.image_query(query, &call)),
        }
    }

    fn value(&mut self, call: &Call<'p>, index: usize) -> Value {
        call.values.get(index).copied().unwrap_or_else(|| {
            self.b.fail("internal error: a built-in function without its argument");
            self.b.i32(0)
        })
    }

    /// Returns the arithmetic type of argument `index`.
    fn arg_type(&mut self, call: &Call<'p>, index: usize) -> ArithType {
        match call.exprs.get(index) {
            Some(expr) => self.arithmetic(expr.ty),
            None => ArithType::new(ScalarKind::Int, 1),
        }
    }

    /// Returns the arithmetic type that pointer argument `index` points to.
    fn pointee(&mut self, call: &Call<'p>, index: usize) -> ArithType {
        let pointee = call.exprs.get(index).and_then(|expr| match self.kind(expr.ty) {
            TyKind::Pointer { pointee, .. } => self.arith_type(pointee.ty),
            _ => None,
        });
        pointee.unwrap_or_else(|| {
            self.b.fail("internal error: a built-in function with a pointer that does not point to scalars or vectors");
            ArithType::new(ScalarKind::Int, 1)
        })
    }

    /// Splats all arguments to the lane count of the widest argument. Also returns the arithmetic type of the first
    /// argument, with this lane count.
    fn operands(&mut self, call: &Call<'p>) -> (Vec<Value>, ArithType) {
        let lanes = call.values.iter().map(|&value| self.b.ty(value).lanes()).max().unwrap_or(1);
        let values = call.values.iter().map(|&value| self.b.splat(value, lanes)).collect();
        let arith = self.arg_type(call, 0);
        (values, ArithType::new(arith.kind, lanes))
    }

    fn result(&mut self, call: &Call<'p>) -> Type {
        self.value_type(call.ty)
    }
}
