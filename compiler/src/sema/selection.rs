//! `_Generic` (C11 6.5.1.1, an extension of clang in OpenCL C): selects an expression by the type of a controlling
//! expression, which is not evaluated.

use super::{Operand, Sema};
use crate::ast::{self, TypeName};
use crate::diag::{Span, WarningGroup};
use crate::thir::{QualTy, Ty, TyKind};

impl Sema<'_> {
    pub(super) fn generic_selection(&mut self, control: &ast::Expr, choices: &[(Option<Box<TypeName>>, ast::Expr)], span: Span) -> Operand {
        let operand = self.unevaluated(control);
        let wanted = self.converted_type(&operand, control.span);
        let mut types: Vec<(Ty, Span)> = Vec::new();
        let (mut selected, mut default): (Option<usize>, Option<(usize, Span)>) = (None, None);
        for (index, (name, value)) in choices.iter().enumerate() {
            let Some(name) = name else {
                if let Some((_, previous)) = default {
                    self.err_note(
                        value.span,
                        "duplicate default generic association",
                        previous,
                        "previous default generic association is here",
                    );
                }
                default.get_or_insert((index, value.span));
                continue;
            };
            let qt = self.type_name(name);
            if self.is_error(qt.ty) {
                continue;
            }
            if self.types.layout(qt.ty).is_none() {
                let shown = self.show(qt.ty);
                let what = if matches!(self.kind(qt.ty), TyKind::Function { .. }) { "not an object type" } else { "incomplete" };
                self.err(name.span, format!("type '{shown}' in generic association {what}"));
                continue;
            }
            if qt.is_const || qt.is_volatile {
                let shown = self.types.display_qual(qt);
                let text = format!(
                    "due to lvalue conversion of the controlling expression, association of type '{}' will never be selected because it is \
                     qualified",
                    shown.trim_end()
                );
                self.warn(WarningGroup::UnreachableCodeGenericAssoc, name.span, text);
                continue;
            }
            if let Some(&(other, previous)) = types.iter().find(|(other, _)| self.is_compatible(*other, qt.ty)) {
                let (new, old) = (self.show(qt.ty), self.show(other));
                let text = format!("type '{new}' in generic association compatible with previously specified type '{old}'");
                self.err_note(name.span, text, previous, format!("compatible type '{old}' specified here"));
                continue;
            }
            types.push((qt.ty, name.span));
            if !self.is_error(wanted) && self.is_compatible(wanted, qt.ty) {
                selected = Some(index);
            }
        }
        let selected = selected.or(default.map(|(index, _)| index));
        if selected.is_none() && !self.is_error(wanted) {
            let shown = self.show(wanted);
            self.err(control.span, format!("controlling expression type '{shown}' not compatible with any generic association type"));
        }
        // Also check the expressions that are not selected.
        let mut result = self.error_operand(span);
        for (index, (_, value)) in choices.iter().enumerate() {
            if selected == Some(index) {
                result = self.operand(value);
            } else {
                self.unevaluated(value);
            }
        }
        if self.is_error(wanted) { self.error_operand(span) } else { result }
    }

    /// Returns the type of an operand after lvalue conversion: the unqualified type, or a pointer for an array.
    fn converted_type(&mut self, operand: &Operand, span: Span) -> Ty {
        if matches!(operand, Operand::Functions(..) | Operand::Builtin(..)) {
            self.err(span, "taking address of function is not allowed");
        }
        let QualTy { ty, .. } = self.operand_type(operand);
        match (self.kind(ty), operand) {
            (&TyKind::Array { element, .. }, Operand::Lvalue(lvalue)) => {
                let space = lvalue.space;
                self.pointer(element, space)
            }
            _ => ty,
        }
    }
}
