//! Types of the typed tree as types of the IR.

use super::function::Lowering;
use crate::ast::ScalarKind;
use crate::ir::{Scalar, Type};
use crate::thir::{Ty, TyKind};

/// Returns the IR's scalar type. It has no signedness. `bool` has one bit.
pub(crate) const fn scalar(kind: ScalarKind) -> Scalar {
    match kind {
        ScalarKind::Bool => Scalar::Bool,
        ScalarKind::Char | ScalarKind::UChar => Scalar::I8,
        ScalarKind::Short | ScalarKind::UShort => Scalar::I16,
        ScalarKind::Int | ScalarKind::UInt => Scalar::I32,
        ScalarKind::Long | ScalarKind::ULong => Scalar::I64,
        ScalarKind::Half => Scalar::F16,
        ScalarKind::Float => Scalar::F32,
        ScalarKind::Double => Scalar::F64,
    }
}

/// Whether a type is a signed integer type.
pub(super) const fn is_signed(kind: ScalarKind) -> bool {
    matches!(kind, ScalarKind::Char | ScalarKind::Short | ScalarKind::Int | ScalarKind::Long)
}

/// Whether a type is a floating-point type.
pub(super) const fn is_float(kind: ScalarKind) -> bool {
    matches!(kind, ScalarKind::Half | ScalarKind::Float | ScalarKind::Double)
}

/// An arithmetic type: a scalar (one lane) or a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArithType {
    pub(super) kind: ScalarKind,
    pub(super) lanes: u8,
}

impl ArithType {
    pub(super) const fn new(kind: ScalarKind, lanes: u8) -> Self {
        Self { kind, lanes }
    }

    pub(super) const fn is_float(self) -> bool {
        is_float(self.kind)
    }

    pub(super) const fn is_signed(self) -> bool {
        is_signed(self.kind)
    }

    pub(super) const fn ir(self) -> Type {
        Type::of(scalar(self.kind), self.lanes)
    }
}

impl<'p> Lowering<'p, '_> {
    pub(super) fn kind(&self, ty: Ty) -> &'p TyKind {
        self.shared.program.types.kind(ty)
    }

    /// Returns the arithmetic type that represents `ty`, or `None` for other types.
    pub(super) fn arith_type(&self, ty: Ty) -> Option<ArithType> {
        match *self.kind(ty) {
            TyKind::Scalar(kind) | TyKind::Enum { repr: kind, .. } | TyKind::Atomic(kind) => Some(ArithType::new(kind, 1)),
            TyKind::Vector(kind, lanes) => Some(ArithType::new(kind, lanes)),
            TyKind::AtomicFlag => Some(ArithType::new(ScalarKind::Int, 1)),
            // The device represents these as numbers, see `compiler/library/enqueue.cl`.
            TyKind::Queue | TyKind::ClkEvent if self.shared.program.types.pointer_size() == 8 => Some(ArithType::new(ScalarKind::ULong, 1)),
            TyKind::Event | TyKind::ReserveId | TyKind::Sampler | TyKind::Queue | TyKind::ClkEvent => {
                Some(ArithType::new(ScalarKind::UInt, 1))
            }
            _ => None,
        }
    }

    /// Like [`Self::arith_type`], for a type that the tree guarantees to be arithmetic.
    pub(super) fn arithmetic(&mut self, ty: Ty) -> ArithType {
        self.arith_type(ty).unwrap_or_else(|| {
            let name = self.shared.program.types.display(ty);
            self.b.fail(format!("internal error: expected a number, got `{name}`"));
            ArithType::new(ScalarKind::Int, 1)
        })
    }

    pub(super) fn is_record(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Record(_) | TyKind::Array { .. })
    }

    /// Returns the IR type of a value. The value of a record is an address in private memory.
    pub(super) fn value_type(&mut self, ty: Ty) -> Type {
        match *self.kind(ty) {
            TyKind::Void => Type::Void,
            TyKind::Pointer { space, .. } => Type::Ptr(space),
            // An image is the address of its elements. The launch provides the other properties of the image. A pipe is
            // the address of its memory, which also contains its state.
            TyKind::Image(..) | TyKind::Pipe(..) => Type::Ptr(crate::ir::Space::Global),
            TyKind::Record(_) | TyKind::Array { .. } => Type::Ptr(crate::ir::Space::Private),
            _ => match self.arith_type(ty) {
                Some(arith) => arith.ir(),
                None => {
                    let name = self.shared.program.types.display(ty);
                    self.b.fail(format!("values of type `{name}` are not supported"));
                    Type::I32
                }
            },
        }
    }

    /// Returns the size and alignment of a type in bytes.
    pub(super) fn layout(&mut self, ty: Ty) -> (u32, u32) {
        let (size, align) = self.shared.program.types.layout(ty).unwrap_or((0, 1));
        let size = u32::try_from(size).unwrap_or_else(|_| {
            self.b.fail(format!("object of {size} bytes is too large; the limit is {} bytes", u32::MAX));
            0
        });
        (size, align)
    }

    /// Returns the integer type with the size of a pointer.
    pub(super) fn pointer_int(&self) -> Type {
        if self.shared.program.types.pointer_size() == 8 { Type::I64 } else { Type::I32 }
    }
}
