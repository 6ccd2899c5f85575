//! `cl_intel_subgroups`, `cl_intel_subgroups_char`, `_short` and `_long`: shuffles of vectors and of two values, and
//! block reads and writes of buffers and images.

use super::Sema;
use super::convert::Purpose;
use super::groups::{Group, collective};
use crate::ast::{Access, ImageKind, Name, ScalarKind};
use crate::builtins::{GroupFn, Intrinsic};
use crate::diag::Span;
use crate::ir::Space;
use crate::thir::types::scalar_size;
use crate::thir::{CastKind, Expr, QualTy, Ty, TyKind};

/// The meaning of a name after `intel_sub_group_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubgroupCall {
    /// One or two values, and an index or a distance.
    Shuffle(GroupFn),
    /// The function without the prefix.
    Collective(GroupFn),
    /// A block access with `lanes` elements per work-item.
    Block { write: bool, kind: ScalarKind, lanes: u8 },
}

/// Parses the name without its prefix. Also returns the required extension.
pub(super) fn parse(rest: &str) -> Option<(SubgroupCall, &'static str)> {
    const FIRST: &str = "cl_intel_subgroups";
    let shuffle = match rest {
        "shuffle" => Some(GroupFn::Shuffle),
        "shuffle_xor" => Some(GroupFn::ShuffleXor),
        "shuffle_down" => Some(GroupFn::ShuffleDownInto),
        "shuffle_up" => Some(GroupFn::ShuffleUpFrom),
        _ => None,
    };
    if let Some(function) = shuffle {
        return Some((SubgroupCall::Shuffle(function), FIRST));
    }
    let (write, rest) = match (rest.strip_prefix("block_read"), rest.strip_prefix("block_write")) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ => {
            let function = collective(rest).filter(|function| !matches!(function, GroupFn::All | GroupFn::Any))?;
            return Some((SubgroupCall::Collective(function), "cl_intel_subgroups_short"));
        }
    };
    let (kind, extension, lanes) = match rest.strip_prefix('_').map(|typed| typed.split_at(typed.len().min(2))) {
        None => (ScalarKind::UInt, FIRST, rest),
        Some(("ui", lanes)) => (ScalarKind::UInt, FIRST, lanes),
        Some(("uc", lanes)) => (ScalarKind::UChar, "cl_intel_subgroups_char", lanes),
        Some(("us", lanes)) => (ScalarKind::UShort, "cl_intel_subgroups_short", lanes),
        Some(("ul", lanes)) => (ScalarKind::ULong, "cl_intel_subgroups_long", lanes),
        Some(_) => return None,
    };
    let lanes = match lanes {
        "" => 1,
        "2" => 2,
        "4" => 4,
        "8" => 8,
        "16" if scalar_size(kind) <= 2 => 16,
        _ => return None,
    };
    Some((SubgroupCall::Block { write, kind, lanes }, extension))
}

impl SubgroupCall {
    /// Minimum and maximum number of arguments.
    pub(super) const fn arity(self) -> (usize, usize) {
        match self {
            Self::Shuffle(GroupFn::ShuffleDownInto | GroupFn::ShuffleUpFrom) => (3, 3),
            Self::Shuffle(_) => (2, 2),
            Self::Collective(function) => Sema::group_arity(Group { sub: true, function }),
            Self::Block { write: false, .. } => (1, 2),
            Self::Block { write: true, .. } => (2, 3),
        }
    }
}

impl Sema<'_> {
    pub(super) fn subgroup_call(&mut self, name: &Name, call: SubgroupCall, values: Vec<Expr>, span: Span) -> Expr {
        match call {
            SubgroupCall::Shuffle(function) => self.shuffle_call(name, function, values, span),
            SubgroupCall::Collective(function) => self.group_call(name, Group { sub: true, function }, values, span),
            SubgroupCall::Block { write, kind, lanes } => {
                let ty = self.lanes(kind, lanes);
                if values.first().is_some_and(|value| matches!(self.kind(value.ty), TyKind::Image(..))) {
                    self.image_block(name, write, ty, values, span)
                } else {
                    self.buffer_block(name, write, (kind, ty), values, span)
                }
            }
        }
    }

    fn shuffle_call(&mut self, name: &Name, function: GroupFn, values: Vec<Expr>, span: Span) -> Expr {
        let count = values.len();
        let mut args: Vec<Expr> = Vec::with_capacity(count);
        for (index, value) in values.into_iter().enumerate() {
            if index + 1 == count {
                args.push(self.scalar_arg(value, ScalarKind::UInt));
                continue;
            }
            match (self.arith(value.ty), args.first().map(|first| first.ty)) {
                (Some((ScalarKind::Bool, _)) | None, _) => {
                    self.bad_arg(name, &value, "expecting a scalar or a vector");
                    return self.error_expr(span);
                }
                (Some((kind, _)), None) if !self.kind_available(kind, span) => return self.error_expr(span),
                (_, Some(ty)) => args.push(self.assign_convert(value, ty, &Purpose::Pass)),
                (_, None) => args.push(value),
            }
        }
        let Some(ty) = args.first().map(|first| first.ty) else { return self.error_expr(span) };
        self.intrinsic(Intrinsic::SubGroup(function), args, ty, span)
    }

    /// (pointer) or (pointer, data)
    fn buffer_block(&mut self, name: &Name, write: bool, (kind, ty): (ScalarKind, Ty), values: Vec<Expr>, span: Span) -> Expr {
        if values.len() != 1 + usize::from(write) {
            self.err(span, format!("'{name}' takes a pointer to global memory or an image and coordinates"));
            return self.error_expr(span);
        }
        let mut values = values.into_iter();
        let (Some(pointer), data) = (values.next(), values.next()) else { return self.error_expr(span) };
        let fits = self.pointer_parts(pointer.ty).is_some_and(|(pointee, space)| {
            let same = self.scalar_kind(pointee.ty).is_some_and(|found| scalar_size(found) == scalar_size(kind) && !super::is_float(found));
            same && space == Space::Global && !(write && pointee.is_const)
        });
        if !fits {
            let wanted = self.scalar(kind);
            let shown = self.show(wanted);
            self.bad_arg(name, &pointer, &format!("expecting a pointer to '{shown}' in global memory"));
            return self.error_expr(span);
        }
        let Some((pointee, space)) = self.pointer_parts(pointer.ty) else { return self.error_expr(span) };
        let element = self.scalar(kind);
        let wanted = self.pointer(QualTy { ty: element, ..pointee }, space);
        let pointer = if pointer.ty == wanted { pointer } else { self.cast(CastKind::Pointer, pointer, wanted) };
        let mut args = vec![pointer];
        args.extend(data.map(|data| self.assign_convert(data, ty, &Purpose::Pass)));
        let (function, result) = if write { (GroupFn::BlockWrite, self.void_ty()) } else { (GroupFn::BlockRead, ty) };
        self.intrinsic(Intrinsic::SubGroup(function), args, result, span)
    }

    /// (image, coordinates) or (image, coordinates, data). The first coordinate is in bytes.
    fn image_block(&mut self, name: &Name, write: bool, ty: Ty, values: Vec<Expr>, span: Span) -> Expr {
        let kind = values.first().map(|value| self.kind(value.ty).clone());
        let fits = match kind {
            Some(TyKind::Image(ImageKind::Image2d, access)) => access != if write { Access::ReadOnly } else { Access::WriteOnly },
            _ => false,
        };
        if !fits || values.len() != 2 + usize::from(write) {
            let wanted = if write { "written, coordinates and data" } else { "read, and coordinates" };
            self.err(span, format!("'{name}' takes an image of two dimensions that may be {wanted}"));
            return self.error_expr(span);
        }
        let int2 = self.lanes(ScalarKind::Int, 2);
        let mut args = Vec::with_capacity(values.len());
        for (index, value) in values.into_iter().enumerate() {
            args.push(match index {
                0 => value,
                1 => self.assign_convert(value, int2, &Purpose::Pass),
                _ => self.assign_convert(value, ty, &Purpose::Pass),
            });
        }
        let (function, result) = if write { (GroupFn::BlockWrite, self.void_ty()) } else { (GroupFn::BlockRead, ty) };
        self.intrinsic(Intrinsic::SubGroup(function), args, result, span)
    }
}
