//! Built-in functions that are a few operations of the IR, a file for each section of the specification.
//!
//! Arguments are evaluated from left to right. Functions of lanes work on whole vectors; a scalar beside vectors goes to every lane.

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
use crate::builtins::Native;
use crate::ir::image::{Coordinates, Level};
use crate::ir::{Op, Scalar, Type, Value};
use crate::thir::{Expr, Ty, TyKind};

/// A call of a built-in whose arguments were evaluated.
struct Call<'p> {
    exprs: &'p [Expr],
    values: Vec<Value>,
    /// Of the result.
    ty: Ty,
}

impl<'p> Lowering<'p, '_> {
    pub(super) fn native(&mut self, op: Native, args: &'p [Expr], ty: Ty) -> Option<Value> {
        let values = args.iter().map(|arg| self.expr(arg)).collect();
        let call = Call { exprs: args, values, ty };
        match op {
            Native::GetWorkDim
            | Native::GetGlobalSize
            | Native::GetGlobalId
            | Native::GetLocalSize
            | Native::GetEnqueuedLocalSize
            | Native::GetLocalId
            | Native::GetNumGroups
            | Native::GetGroupId
            | Native::GetGlobalOffset
            | Native::GetGlobalLinearId
            | Native::GetLocalLinearId
            | Native::GetSubGroupSize
            | Native::GetMaxSubGroupSize
            | Native::GetNumSubGroups
            | Native::GetEnqueuedNumSubGroups
            | Native::GetSubGroupId
            | Native::GetSubGroupLocalId => Some(self.work_item(op, &call)),

            Native::Fabs
            | Native::Floor
            | Native::Ceil
            | Native::Trunc
            | Native::Rint
            | Native::Sqrt
            | Native::Rsqrt
            | Native::Fma
            | Native::Mad
            | Native::Fmin
            | Native::Fmax
            | Native::Copysign
            | Native::Nan
            | Native::NativeSin
            | Native::NativeCos
            | Native::NativeTan
            | Native::NativeExp2
            | Native::NativeLog2
            | Native::NativeRecip
            | Native::NativeDivide
            | Native::NativePowr
            | Native::NativeSqrt
            | Native::NativeRsqrt
            | Native::Degrees
            | Native::Radians
            | Native::Mix
            | Native::Step
            | Native::Smoothstep
            | Native::Sign => {
                let result = self.math(op, &call);
                self.native_nan_check(op, result, &call.values);
                Some(result)
            }

            Native::Abs
            | Native::AbsDiff
            | Native::AddSat
            | Native::SubSat
            | Native::Hadd
            | Native::Rhadd
            | Native::Clz
            | Native::Ctz
            | Native::Popcount
            | Native::MulHi
            | Native::MadHi
            | Native::MadSat
            | Native::Mul24
            | Native::Mad24
            | Native::Rotate
            | Native::Upsample
            | Native::ReverseBits
            | Native::BitfieldInsert
            | Native::BitfieldExtract
            | Native::Min
            | Native::Max
            | Native::Clamp => Some(self.integer(op, &call)),

            Native::IntegerDot => Some(self.integer_dot(&call)),

            Native::Dot
            | Native::Cross
            | Native::Length
            | Native::Distance
            | Native::Normalize
            | Native::FastLength
            | Native::FastDistance
            | Native::FastNormalize => {
                let result = self.geometric(op, &call);
                self.native_nan_check(op, result, &call.values);
                Some(result)
            }

            Native::IsEqual
            | Native::IsNotEqual
            | Native::IsGreater
            | Native::IsGreaterEqual
            | Native::IsLess
            | Native::IsLessEqual
            | Native::IsLessGreater
            | Native::IsFinite
            | Native::IsInf
            | Native::IsNan
            | Native::IsNormal
            | Native::IsOrdered
            | Native::IsUnordered
            | Native::SignBit
            | Native::Any
            | Native::All
            | Native::BitSelect
            | Native::Select => Some(self.relational(op, &call)),

            Native::VLoad => Some(self.vload(&call)),
            Native::VStore => self.vstore(&call),
            Native::VLoadHalf => Some(self.vload_half(&call, false)),
            Native::VLoadaHalf => Some(self.vload_half(&call, true)),
            Native::VStoreHalf(rounding) => self.vstore_half(&call, rounding, false),
            Native::VStoreaHalf(rounding) => self.vstore_half(&call, rounding, true),
            Native::Shuffle => Some(self.shuffle(&call)),
            Native::Shuffle2 => Some(self.shuffle2(&call)),

            Native::Barrier | Native::MemFence | Native::AtomicWorkItemFence => self.fence(op, &call),
            Native::Atomic(_)
            | Native::AtomicInc
            | Native::AtomicDec
            | Native::AtomicCmpXchg
            | Native::AtomicInit
            | Native::AtomicCompareExchange
            | Native::AtomicFlagTestAndSet
            | Native::AtomicFlagClear => self.atomic(op, &call),

            Native::WorkGroup(function) => self.collective(false, function, &call),
            Native::SubGroup(function) => self.collective(true, function, &call),

            Native::AsyncCopy => Some(self.async_copy(&call, false)),
            Native::AsyncStridedCopy => Some(self.async_copy(&call, true)),
            Native::AsyncCopy2D => Some(self.async_copy_lines(&call, false)),
            Native::AsyncCopy3D => Some(self.async_copy_lines(&call, true)),
            Native::WaitGroupEvents => self.wait_group_events(),
            Native::Clock { sub } => Some(self.b.emit(Op::Clock { sub }, Type::of(Scalar::I32, 2))),
            // A hint, whose arguments were evaluated.
            Native::Prefetch => None,

            Native::ToGlobal | Native::ToLocal | Native::ToPrivate => Some(self.narrow_space(&call)),
            Native::GetFence => Some(self.get_fence(&call)),
            Native::ReadImage => Some(self.read_image(&call)),
            Native::ReadImageLevel => Some(self.read_elements(&call, (Coordinates::Plain, Level::Lod))),
            Native::WriteImage => {
                self.write_image(&call);
                None
            }
            Native::GetImage(query) => Some(self.get_image(query, &call)),
        }
    }

    /// An argument's value.
    fn value(&mut self, call: &Call<'p>, index: usize) -> Value {
        call.values.get(index).copied().unwrap_or_else(|| {
            self.b.fail("internal error: a built-in function without its argument");
            self.b.i32(0)
        })
    }

    /// An argument's type, where it is a number.
    fn arg_type(&mut self, call: &Call<'p>, index: usize) -> ArithType {
        match call.exprs.get(index) {
            Some(expr) => self.arithmetic(expr.ty),
            None => ArithType::new(ScalarKind::Int, 1),
        }
    }

    /// What a pointer argument points to, where that is a number.
    fn pointee(&mut self, call: &Call<'p>, index: usize) -> ArithType {
        let pointee = call.exprs.get(index).and_then(|expr| match self.kind(expr.ty) {
            TyKind::Pointer { pointee, .. } => self.arith_type(pointee.ty),
            _ => None,
        });
        pointee.unwrap_or_else(|| {
            self.b.fail("this built-in function needs a pointer to numbers");
            ArithType::new(ScalarKind::Int, 1)
        })
    }

    /// All arguments with as many lanes as the widest, and what they have in common with the first.
    fn operands(&mut self, call: &Call<'p>) -> (Vec<Value>, ArithType) {
        let lanes = call.values.iter().map(|&value| self.b.ty(value).lanes()).max().unwrap_or(1);
        let values = call.values.iter().map(|&value| self.b.splat(value, lanes)).collect();
        let arith = self.arg_type(call, 0);
        (values, ArithType::new(arith.kind, lanes))
    }

    /// The result's type.
    fn result(&mut self, call: &Call<'p>) -> Type {
        self.value_type(call.ty)
    }
}
