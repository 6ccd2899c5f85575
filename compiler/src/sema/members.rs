//! Members, swizzles and subscripts (OpenCL C 6.3.7; C99 6.5.2.1, 6.5.2.3).

use super::{Operand, Sema};
use crate::ast::{self, Ident, ScalarKind};
use crate::diag::{Diagnostic, Span, WarningGroup};
use crate::options::CStd;
use crate::thir::types::scalar_size;
use crate::thir::{Expr, ExprKind, Lvalue, LvalueKind, QualTy, RecordId, TyKind};

/// The offset of a member in bytes from the start of the outermost record, and its type.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundField {
    pub(super) offset: u32,
    pub(super) ty: QualTy,
}

impl Sema<'_> {
    pub(super) fn member(&mut self, base: &ast::Expr, arrow: bool, field: &Ident, span: Span) -> Operand {
        let operand = self.operand(base);
        let ty = self.operand_type(&operand).ty;
        if self.is_error(ty) && !matches!(operand, Operand::Functions(..) | Operand::Builtin(..)) {
            return self.error_operand(span);
        }
        let operand = if arrow {
            let pointer = self.rvalue(operand);
            match *self.kind(pointer.ty) {
                TyKind::Error => return self.error_operand(span),
                TyKind::Pointer { .. } => Operand::Lvalue(self.deref_lvalue(pointer, span)),
                _ => {
                    let shown = self.show(pointer.ty);
                    if matches!(self.kind(pointer.ty), TyKind::Record(_)) {
                        let text = format!("member reference type '{shown}' is not a pointer; did you mean to use '.'?");
                        self.report(member_operator(span, text, field, "->", "."));
                    } else {
                        self.err(span, format!("member reference type '{shown}' is not a pointer"));
                    }
                    return self.error_operand(span);
                }
            }
        } else {
            operand
        };
        let ty = self.operand_type(&operand).ty;
        self.offer_members(ty, field.span);
        match self.kind(ty).clone() {
            TyKind::Record(id) => self.member_of(operand, id, field, span),
            TyKind::Vector(kind, lanes) => self.swizzle(operand, kind, lanes, field, span),
            TyKind::Error => self.error_operand(span),
            TyKind::Pointer { pointee, .. } if matches!(self.kind(pointee.ty), TyKind::Record(_)) && !arrow => {
                let shown = self.show(ty);
                let text = format!("member reference type '{shown}' is a pointer; did you mean to use '->'?");
                self.report(member_operator(span, text, field, ".", "->"));
                self.error_operand(span)
            }
            _ => {
                let shown = self.show(ty);
                self.err(span, format!("member reference base type '{shown}' is not a structure or union"));
                self.error_operand(span)
            }
        }
    }

    fn member_of(&mut self, operand: Operand, id: RecordId, field: &Ident, span: Span) -> Operand {
        if !self.types.record(id).complete {
            let ty = self.operand_type(&operand).ty;
            let shown = self.show(ty);
            self.err(span, format!("incomplete definition of type '{shown}'"));
            return self.error_operand(span);
        }
        let Some(found) = self.find_field(id, &field.name) else {
            let ty = self.operand_type(&operand).ty;
            let shown = self.show(ty);
            let hint = self.suggest_member(id, &field.name);
            self.err_hint(field.span, &format!("no member named '{}' in '{shown}'", field.name), &hint);
            return self.error_operand(span);
        };
        self.record_member(id, &field.name, field.span);
        let base = match operand {
            Operand::Lvalue(lvalue) => lvalue,
            Operand::Value(value) => self.temporary(value),
            Operand::Functions(..) | Operand::Builtin(..) | Operand::Block(..) => return self.error_operand(span),
        };
        Operand::Lvalue(self.field_lvalue(base, found.offset, found.ty, span))
    }

    /// Looks up a member by name, including the members of anonymous structs and unions. Returns `None` if there is no
    /// such member.
    pub(super) fn find_field(&self, id: RecordId, name: &str) -> Option<FoundField> {
        for field in &self.types.record(id).fields {
            match &field.name {
                Some(own) if **own == *name => return Some(FoundField { offset: field.offset, ty: field.ty }),
                Some(_) => {}
                None => {
                    if let TyKind::Record(inner) = *self.kind(field.ty.ty)
                        && let Some(found) = self.find_field(inner, name)
                    {
                        return Some(FoundField { offset: field.offset + found.offset, ty: found.ty });
                    }
                }
            }
        }
        None
    }

    fn swizzle(&mut self, operand: Operand, kind: ScalarKind, lanes: u8, field: &Ident, span: Span) -> Operand {
        // r, g, b and a require OpenCL C 3.0 (6.3.7).
        if self.options.std < CStd::Cl30 && !self.in_library && is_rgba(&field.name) {
            self.warn(
                WarningGroup::OpenclUnsupportedRgba,
                field.span,
                format!("vector component name '{}' is a feature from OpenCL version 3.0 onwards", field.name),
            );
        }
        let picked = match swizzle_lanes(&field.name, lanes) {
            Ok(picked) => picked,
            Err(SwizzleError::Name) => {
                self.err(field.span, format!("illegal vector component name '{}'", field.name));
                return self.error_operand(span);
            }
            Err(SwizzleError::Range) => {
                let ty = self.operand_type(&operand).ty;
                let shown = self.show(ty);
                self.err(field.span, format!("vector component access exceeds type '{shown}'"));
                return self.error_operand(span);
            }
            Err(SwizzleError::Count(count)) => {
                self.err(field.span, format!("vector component access has invalid length {count}; supported: 1,2,3,4,8,16"));
                return self.error_operand(span);
            }
        };
        let count = u8::try_from(picked.len()).unwrap_or(1);
        let ty = self.lanes(kind, count);
        self.record_swizzle(field.span, ty);
        match operand {
            Operand::Value(value) => {
                let picked = picked.into_iter().map(|lane| lane.min(lanes - 1)).collect();
                Operand::Value(self.fold_swizzle(value, picked, ty, span))
            }
            Operand::Lvalue(lvalue) => Operand::Lvalue(self.lanes_lvalue(lvalue, kind, picked, ty, span)),
            Operand::Functions(..) | Operand::Builtin(..) | Operand::Block(..) => self.error_operand(span),
        }
    }

    fn fold_swizzle(&mut self, value: Expr, lanes: Vec<u8>, ty: crate::thir::Ty, span: Span) -> Expr {
        let constant = matches!(value.kind, ExprKind::Constant(_));
        let kind = ExprKind::Swizzle(Box::new(value), lanes);
        if constant { self.fold(kind, ty, span) } else { self.expr(kind, ty, span) }
    }

    fn lanes_lvalue(&mut self, lvalue: Lvalue, kind: ScalarKind, picked: Vec<u8>, ty: crate::thir::Ty, span: Span) -> Lvalue {
        let span = self.span(span);
        let qt = QualTy { ty, ..lvalue.ty };
        let align = scalar_size(kind).min(lvalue.align);
        let space = lvalue.space;
        // A swizzle of a swizzle selects lanes of the underlying vector.
        let kind = match lvalue.kind {
            LvalueKind::Lanes { base, lanes } => {
                // The fourth lane of a swizzle with three lanes does not exist in the underlying vector. Its index is
                // `u8::MAX`.
                let lanes = picked.iter().map(|lane| lanes.get(usize::from(*lane)).copied().unwrap_or(u8::MAX)).collect();
                LvalueKind::Lanes { base, lanes }
            }
            _ => LvalueKind::Lanes { base: Box::new(lvalue), lanes: picked },
        };
        Lvalue { kind, ty: qt, space, align, span }
    }

    /// Checks a subscript, `base[index]`. `is_address` is true in `&base[index]`.
    pub(super) fn subscript(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span, is_address: bool) -> Operand {
        let base_operand = self.operand(base);
        let index_value = self.rvalue_expr(index);
        let base_ty = self.operand_type(&base_operand).ty;
        if self.is_error(index_value.ty) || (self.is_error(base_ty) && matches!(base_operand, Operand::Lvalue(_) | Operand::Value(_))) {
            return self.error_operand(span);
        }
        // `2[p]`
        if self.is_integer_scalar(base_ty) && self.is_pointer(index_value.ty) {
            let base_value = self.rvalue(base_operand);
            return self.subscript_pointer(index_value, base_value, span);
        }
        if !self.is_integer_scalar(index_value.ty) {
            self.err(index.span, "array subscript is not an integer");
            return self.error_operand(span);
        }
        match (self.kind(base_ty).clone(), base_operand) {
            (TyKind::Array { element, len }, Operand::Lvalue(lvalue)) => {
                if let (Some(value), Some(len)) = (self.integer_constant(&index_value), len)
                    && (value < 0 || u64::try_from(value).is_ok_and(|value| value >= len + u64::from(is_address)))
                {
                    let text = if value < 0 { "before the beginning" } else { "past the end" };
                    self.warn(
                        WarningGroup::ArrayBounds,
                        index.span,
                        format!("array index {value} is {text} of the array (that has type '{}')", self.show(base_ty)),
                    );
                }
                let index = self.promote(index_value);
                let size = self.size_of(element.ty).unwrap_or(1);
                let size_align = 1u32 << size.trailing_zeros().min(20);
                let align = lvalue.align.min(size_align).max(1);
                let ty = self.with_quals(element, lvalue.ty.is_const, lvalue.ty.is_volatile);
                let space = lvalue.space;
                let kind = LvalueKind::Element { base: Box::new(lvalue), index: Box::new(index) };
                Operand::Lvalue(Lvalue { kind, ty, space, align, span: self.span(span) })
            }
            (TyKind::Vector(kind, lanes), operand) => self.subscript_vector(operand, kind, lanes, index_value, span),
            (_, operand) => {
                let pointer = self.rvalue(operand);
                if self.is_error(pointer.ty) {
                    return self.error_operand(span);
                }
                if !self.is_pointer(pointer.ty) {
                    self.err(span, "subscripted value is not an array, pointer, or vector");
                    return self.error_operand(span);
                }
                self.subscript_pointer(pointer, index_value, span)
            }
        }
    }

    fn subscript_pointer(&mut self, pointer: Expr, index: Expr, span: Span) -> Operand {
        let TyKind::Pointer { pointee, .. } = *self.kind(pointer.ty) else { return self.error_operand(span) };
        if matches!(self.kind(pointee.ty), TyKind::Void) || self.size_of(pointee.ty).is_none() {
            let shown = self.show(pointee.ty);
            self.err(span, format!("subscript of pointer to incomplete type '{shown}'"));
            return self.error_operand(span);
        }
        let sum = self.pointer_add(pointer, pointee, index, false, span);
        Operand::Lvalue(self.deref_lvalue(sum, span))
    }

    fn subscript_vector(&mut self, operand: Operand, kind: ScalarKind, lanes: u8, index: Expr, span: Span) -> Operand {
        let ty = self.scalar(kind);
        if let Some(value) = self.integer_constant(&index) {
            let Some(lane) = u8::try_from(value).ok().filter(|lane| *lane < lanes) else {
                self.err(span, "vector component access exceeds the vector's type");
                return self.error_operand(span);
            };
            return match operand {
                Operand::Value(value) => Operand::Value(self.fold_swizzle(value, vec![lane], ty, span)),
                Operand::Lvalue(lvalue) => Operand::Lvalue(self.lanes_lvalue(lvalue, kind, vec![lane], ty, span)),
                Operand::Functions(..) | Operand::Builtin(..) | Operand::Block(..) => self.error_operand(span),
            };
        }
        let lvalue = match operand {
            Operand::Lvalue(Lvalue { kind: LvalueKind::Lanes { base, lanes }, ty, span, space, align }) => {
                // To index the result of a swizzle at run time, load its lanes first.
                let lvalue = Lvalue { kind: LvalueKind::Lanes { base, lanes }, ty, span, space, align };
                let value = self.rvalue(Operand::Lvalue(lvalue));
                self.temporary(value)
            }
            Operand::Lvalue(lvalue) => lvalue,
            Operand::Value(value) => self.temporary(value),
            Operand::Functions(..) | Operand::Builtin(..) | Operand::Block(..) => return self.error_operand(span),
        };
        let index = self.promote(index);
        let qt = QualTy { ty, ..lvalue.ty };
        let align = scalar_size(kind).min(lvalue.align);
        let space = lvalue.space;
        let kind = LvalueKind::LaneDyn { base: Box::new(lvalue), index: Box::new(index) };
        Operand::Lvalue(Lvalue { kind, ty: qt, space, align, span: self.span(span) })
    }
}

/// Creates an error about the operator before a member name. The fix assumes that no space separates them.
fn member_operator(span: Span, text: String, field: &Ident, wrong: &str, right: &str) -> Diagnostic {
    let length = u32::try_from(wrong.len()).unwrap_or(1);
    let operator = Span { lo: field.span.lo.saturating_sub(length), hi: field.span.lo };
    Diagnostic::error(span, text).with_fix(operator, right)
}

enum SwizzleError {
    Name,
    Range,
    Count(usize),
}

/// Whether a component name consists only of the letters `r`, `g`, `b` and `a`.
fn is_rgba(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b"rgba".contains(&b))
}

/// Returns the indices of the lanes that a component name selects (6.3.7).
fn swizzle_lanes(name: &str, lanes: u8) -> Result<Vec<u8>, SwizzleError> {
    // `hi` and `odd` of three lanes include an undefined fourth lane.
    let width = if lanes == 3 { 4 } else { lanes };
    match name {
        "lo" => return Ok((0..width / 2).collect()),
        "hi" => return Ok((width / 2..width).collect()),
        "even" => return Ok((0..width).step_by(2).collect()),
        "odd" => return Ok((1..width).step_by(2).collect()),
        _ => {}
    }
    let bytes = name.as_bytes();
    let mut picked = Vec::with_capacity(bytes.len());
    if let [b's' | b'S', digits @ ..] = bytes
        && !digits.is_empty()
    {
        for digit in digits {
            let lane = char::from(*digit).to_digit(16).ok_or(SwizzleError::Name)?;
            picked.push(u8::try_from(lane).map_err(|_| SwizzleError::Name)?);
        }
    } else {
        let set: &[u8] = if bytes.iter().all(|b| b"xyzw".contains(b)) { b"xyzw" } else { b"rgba" };
        for byte in bytes {
            let lane = set.iter().position(|c| c == byte).ok_or(SwizzleError::Name)?;
            picked.push(u8::try_from(lane).map_err(|_| SwizzleError::Name)?);
        }
    }
    if picked.iter().any(|lane| *lane >= lanes) {
        return Err(SwizzleError::Range);
    }
    if !matches!(picked.len(), 1 | 2 | 3 | 4 | 8 | 16) {
        return Err(SwizzleError::Count(picked.len()));
    }
    Ok(picked)
}
