//! Enumerations (C99 6.7.2.2): the values of their constants, and the integer type that represents them.

use super::scope::{Symbol, Tag};
use super::{DeclTy, Sema};
use crate::ast::{EnumSpec, Expr, Ident, Name, ScalarKind};
use crate::editor::Tagged;
use crate::editor::index::Kind;
use crate::thir::{Ty, TyKind};

/// Returns the narrowest integer type that can represent all values. The type has at least 32 bits unless `packed`. A
/// type of at most 32 bits is unsigned if there are no negative values.
fn representation(values: &[i64], packed: bool) -> ScalarKind {
    let fits = |low: i64, high: i64| values.iter().all(|value| (low..=high).contains(value));
    match () {
        () if packed && fits(0, i64::from(u8::MAX)) => ScalarKind::UChar,
        () if packed && fits(i64::from(i8::MIN), i64::from(i8::MAX)) => ScalarKind::Char,
        () if packed && fits(0, i64::from(u16::MAX)) => ScalarKind::UShort,
        () if packed && fits(i64::from(i16::MIN), i64::from(i16::MAX)) => ScalarKind::Short,
        () if fits(0, i64::from(u32::MAX)) => ScalarKind::UInt,
        () if fits(i64::from(i32::MIN), i64::from(i32::MAX)) => ScalarKind::Int,
        () => ScalarKind::Long,
    }
}

impl Sema<'_> {
    pub(super) fn enum_spec(&mut self, spec: &EnumSpec) -> DeclTy {
        self.check_attributes(&spec.attributes);
        let Some(enumerators) = &spec.enumerators else {
            let Some(tag) = &spec.tag else { return self.error_decl() };
            return match self.lookup_tag(&tag.name) {
                Some(Tag::Enum(ty)) => {
                    self.record_tag(Tagged::Enum(ty), Kind::Enum, tag, false);
                    DeclTy::of(ty)
                }
                Some(Tag::Record { .. }) => {
                    self.err(tag.span, format!("use of '{}' with tag type that does not match previous declaration", tag.name));
                    self.error_decl()
                }
                None => {
                    let ty = self.forward_enum(&tag.name);
                    self.record_tag(Tagged::Enum(ty), Kind::Enum, tag, false);
                    DeclTy::of(ty)
                }
            };
        };
        let mut forward = None;
        if let Some(tag) = &spec.tag
            && let Some(known) = self.scopes.last().and_then(|scope| scope.tags.get(&tag.name)).copied()
        {
            match known {
                Tag::Enum(ty) if matches!(self.kind(ty), TyKind::Forward { .. }) => forward = Some(ty),
                _ => self.err(tag.span, format!("redefinition of '{}'", tag.name)),
            }
        }
        let values = self.enumerators(enumerators);
        let packed = spec.attributes.iter().any(|attribute| &*attribute.name.name == "packed");
        let repr = representation(&values, packed);
        let name = spec.tag.as_ref().map(|tag| tag.name.clone());
        if let Some(ty) = forward
            && let &TyKind::Forward { id, .. } = self.kind(ty)
        {
            self.types.complete(ty, TyKind::Enum { name, id, repr });
            self.record_enum(ty, spec);
            return DeclTy::of(ty);
        }
        self.enum_count += 1;
        let ty = self.types.intern(TyKind::Enum { name: name.clone(), id: self.enum_count, repr });
        if let Some(name) = name {
            self.declare_tag(&name, Tag::Enum(ty));
        }
        self.record_enum(ty, spec);
        DeclTy::of(ty)
    }

    /// Records the definition of an enumeration for editors.
    fn record_enum(&mut self, ty: Ty, spec: &EnumSpec) {
        let (Some(recorder), Some(tag)) = (self.recorder(), &spec.tag) else { return };
        let index = recorder.tag(Tagged::Enum(ty), Kind::Enum, &tag.name, tag.span, true);
        for (enumerator, _) in spec.enumerators.iter().flatten() {
            recorder.put_into(index, enumerator.span);
        }
    }

    /// Declares an enumeration that is used before its definition (an extension of GNU C).
    fn forward_enum(&mut self, name: &Name) -> Ty {
        self.enum_count += 1;
        let ty = self.types.intern(TyKind::Forward { name: name.clone(), id: self.enum_count });
        self.declare_tag(name, Tag::Enum(ty));
        ty
    }

    /// Declares the enumeration constants. Returns their values.
    fn enumerators(&mut self, enumerators: &[(Ident, Option<Expr>)]) -> Vec<i64> {
        let mut values = Vec::with_capacity(enumerators.len());
        let mut next = 0i64;
        let int = self.int();
        for (ident, expr) in enumerators {
            if let Some(expr) = expr {
                let value = self.rvalue_expr(expr);
                if !self.is_error(value.ty) {
                    match self.integer_constant(&value) {
                        Some(value) => next = value,
                        None => self.err(expr.span, "expression is not an integer constant expression"),
                    }
                }
            }
            let ty = if i32::try_from(next).is_ok() {
                int
            } else if u32::try_from(next).is_ok() {
                self.scalar(ScalarKind::UInt)
            } else {
                self.scalar(ScalarKind::Long)
            };
            self.declare_new(&ident.name, Symbol::Constant(next, ty), ident.span);
            values.push(next);
            next = next.wrapping_add(1);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::representation;
    use crate::ast::ScalarKind::{Char, Int, Long, Short, UChar, UInt, UShort};

    #[test]
    fn enumerations_are_as_wide_as_their_values_require() {
        for (values, plain, packed) in [
            (&[][..], UInt, UChar),
            (&[0, 255], UInt, UChar),
            (&[-1, 127], Int, Char),
            (&[-1, 128], Int, Short),
            (&[256], UInt, UShort),
            (&[65_536], UInt, UInt),
            (&[-32_769], Int, Int),
            (&[4_294_967_295], UInt, UInt),
            (&[-1, 4_294_967_295], Long, Long),
        ] {
            assert_eq!((representation(values, false), representation(values, true)), (plain, packed), "{values:?}");
        }
    }
}
