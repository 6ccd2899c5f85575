//! Structs and unions: layout, attributes, `#pragma pack` (OpenCL C 6.11, 6.13.1; C99 6.7.2.1).

use super::scope::Tag;
use super::specifiers::MAX_OBJECT_SIZE;
use super::{DeclTy, Sema};
use crate::ast::{self, Attribute, AttributeArg, DeclaratorPart, Ident, Name, RecordSpec, ScalarKind, TypeSpec};
use crate::diag::{Span, WarningGroup};
use crate::editor::Tagged;
use crate::editor::index::Kind;
use crate::thir::{Field, QualTy, Record, RecordId, TyKind};

/// A member as declared.
struct Member<'b> {
    name: Option<&'b Ident>,
    ty: DeclTy,
    span: Span,
    /// The alignment in bytes from an `aligned` attribute, or 0.
    align: u32,
    packed: bool,
}

/// The layout of the members that were already added.
#[derive(Default)]
struct Layout {
    fields: Vec<Field>,
    names: Vec<Name>,
    size: u64,
    align: u32,
    /// The span of a flexible array member. A further member is an error.
    flexible: Option<Span>,
}

impl Sema<'_> {
    pub(super) fn record_spec(&mut self, spec: &RecordSpec) -> DeclTy {
        let id = match (&spec.tag, &spec.fields) {
            (Some(tag), None) => match self.lookup_tag(&tag.name) {
                Some(Tag::Record { id, is_union }) => {
                    if is_union != spec.is_union {
                        self.err(tag.span, format!("use of '{}' with tag type that does not match previous declaration", tag.name));
                    }
                    id
                }
                Some(Tag::Enum(_)) => {
                    self.err(tag.span, format!("use of '{}' with tag type that does not match previous declaration", tag.name));
                    return self.error_decl();
                }
                None => self.new_record(Some(tag.name.clone()), spec.is_union),
            },
            (Some(tag), Some(_)) => {
                let here = self.scopes.last().and_then(|scope| scope.tags.get(&tag.name)).copied();
                match here {
                    Some(Tag::Record { id, is_union }) if !self.types.record(id).complete && is_union == spec.is_union => id,
                    Some(_) => {
                        self.err(tag.span, format!("redefinition of '{}'", tag.name));
                        return self.error_decl();
                    }
                    None => self.new_record(Some(tag.name.clone()), spec.is_union),
                }
            }
            (None, _) => self.new_record(None, spec.is_union),
        };
        if let Some(tag) = &spec.tag {
            let kind = if spec.is_union { Kind::Union } else { Kind::Struct };
            self.record_tag(Tagged::Record(id), kind, tag, spec.fields.is_some());
        }
        if let Some(fields) = &spec.fields {
            self.complete_record(id, spec, fields);
            spec.asserts.iter().for_each(|assertion| self.static_assert(assertion));
        }
        DeclTy::of(self.types.intern(TyKind::Record(id)))
    }

    fn new_record(&mut self, name: Option<Name>, is_union: bool) -> RecordId {
        let id = self.types.add_record(Record {
            name: name.clone(),
            is_union,
            fields: Vec::new(),
            size: 0,
            align: 1,
            alias: None,
            complete: false,
        });
        if let Some(name) = name {
            self.declare_tag(&name, Tag::Record { id, is_union });
        }
        id
    }

    fn complete_record(&mut self, id: RecordId, spec: &RecordSpec, decls: &[ast::FieldDecl]) {
        let packed = spec.attributes.iter().any(|a| &*a.name.name == "packed");
        let mut layout = Layout { align: 1, ..Layout::default() };
        for decl in decls {
            for member in self.members(decl) {
                if let Some(kind) = self.device_sized_member(&decl.specs.ty, member.ty.qt) {
                    self.device_sized.entry(id).or_insert(kind);
                }
                if let Some(name) = member.name {
                    self.record_field(id, name, member.ty.qt);
                }
                self.lay_out_member(&mut layout, spec, packed, member);
            }
        }
        for attribute in &spec.attributes {
            if &*attribute.name.name == "aligned" {
                layout.align = layout.align.max(self.alignment(attribute).unwrap_or(1));
            }
        }
        self.check_attributes(&spec.attributes);
        let size = layout.size.next_multiple_of(u64::from(layout.align));
        let record = self.types.record_mut(id);
        record.fields = layout.fields;
        record.size = u32::try_from(size).unwrap_or(u32::MAX);
        record.align = layout.align;
        record.complete = true;
    }

    /// Returns the members of one declaration.
    fn members<'b>(&mut self, decl: &'b ast::FieldDecl) -> Vec<Member<'b>> {
        let base = self.specifiers(&decl.specs);
        if let Some((_, span)) = base.space
            && decl.declarators.iter().all(|(d, _)| !d.parts.iter().any(|p| matches!(p, DeclaratorPart::Pointer { .. })))
        {
            self.err(span, "field may not be qualified with an address space");
        }
        if decl.declarators.is_empty() {
            if let TyKind::Record(inner) = *self.kind(base.qt.ty)
                && self.types.record(inner).name.is_none()
            {
                return vec![Member { name: None, ty: base, span: decl.span, align: 0, packed: false }];
            }
            if !self.is_error(base.qt.ty) {
                self.warn(WarningGroup::MissingDeclarations, decl.span, "declaration does not declare anything");
            }
            return Vec::new();
        }
        let mut members = Vec::with_capacity(decl.declarators.len());
        for (declarator, width) in &decl.declarators {
            let mut ty = self.declarator_type(base, &declarator.parts);
            if let Some(width) = width {
                self.err(width.span, "bit-fields are not supported in OpenCL");
                ty = DeclTy::of(self.error_ty());
            }
            let attributes: Vec<&Attribute> = declarator.attributes.iter().chain(&decl.specs.attributes).collect();
            let (align, packed) = self.field_attributes(&attributes);
            let ty = self.vector_attribute(ty, &attributes);
            self.check_attributes(attributes);
            members.push(Member { name: declarator.name.as_ref(), ty, span: declarator.span, align, packed });
        }
        members
    }

    /// Appends a member to the layout. Reports an error if it is invalid.
    fn lay_out_member(&mut self, layout: &mut Layout, spec: &RecordSpec, packed: bool, member: Member<'_>) {
        let Member { name, ty, span, align: own_align, packed: own_packed } = member;
        if let Some(name) = name {
            if layout.names.contains(&name.name) {
                self.err(name.span, format!("duplicate member '{}'", name.name));
                return;
            }
            layout.names.push(name.name.clone());
        }
        let shown = self.show(ty.qt.ty);
        if matches!(self.kind(ty.qt.ty), TyKind::Image(..) | TyKind::Pipe(..) | TyKind::Sampler | TyKind::Event) {
            self.err(span, format!("the '{shown}' type cannot be used to declare a structure or union field"));
            return;
        }
        if let Some(flexible) = layout.flexible.take() {
            self.err(flexible, "flexible array member is not at the end of the struct");
        }
        let (field_size, natural) = match (self.types.layout(ty.qt.ty), self.kind(ty.qt.ty)) {
            (Some(found), _) => found,
            (None, TyKind::Array { element, len: None }) if !spec.is_union && !layout.fields.is_empty() => {
                let align = self.align_of(element.ty);
                layout.flexible = Some(span);
                (0, align)
            }
            _ => {
                self.err(span, format!("field has incomplete type '{shown}'"));
                return;
            }
        };
        let mut align = ty.align.unwrap_or(natural);
        if packed || own_packed {
            align = 1;
        }
        align = align.max(own_align).min(spec.pack.unwrap_or(u32::MAX)).max(1);
        let offset = if spec.is_union { 0 } else { layout.size.next_multiple_of(u64::from(align)) };
        layout.align = layout.align.max(align);
        layout.size = layout.size.max(offset + field_size);
        if layout.size > MAX_OBJECT_SIZE {
            self.err(span, format!("structure has {} bytes; the limit is {MAX_OBJECT_SIZE}", layout.size));
            layout.size = 0;
        }
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        layout.fields.push(Field { name: name.map(|n| n.name.clone()), ty: ty.qt, offset });
    }

    /// Returns the name of the member's type if its size depends on the device. A struct with such a member cannot be a
    /// kernel parameter (6.11). Returns `None` for other types.
    fn device_sized_member(&self, written: &TypeSpec, ty: QualTy) -> Option<&'static str> {
        match self.kind(self.innermost(ty)) {
            TyKind::Scalar(ScalarKind::Bool) => return Some("bool"),
            TyKind::Record(inner) => return self.device_sized.get(inner).copied(),
            TyKind::Scalar(_) => {}
            _ => return None,
        }
        match written {
            TypeSpec::SizeT => Some("size_t"),
            TypeSpec::PtrdiffT => Some("ptrdiff_t"),
            TypeSpec::IntptrT => Some("intptr_t"),
            TypeSpec::UintptrT => Some("uintptr_t"),
            _ => None,
        }
    }

    fn field_attributes(&mut self, attributes: &[&Attribute]) -> (u32, bool) {
        let mut align = 0;
        let mut packed = false;
        for attribute in attributes {
            match &*attribute.name.name {
                "aligned" => align = align.max(self.alignment(attribute).unwrap_or(0)),
                "packed" => packed = true,
                _ => {}
            }
        }
        (align, packed)
    }

    /// Returns the argument of `aligned` in bytes, or 16 without an argument. Reports an error and returns `None` if
    /// the argument is not a constant power of two, or exceeds 2^20.
    pub(super) fn alignment(&mut self, attribute: &Attribute) -> Option<u32> {
        const MAX_ALIGN: u32 = 1 << 20;
        let Some(arg) = attribute.args.first() else { return Some(16) };
        let AttributeArg::Expr(expr) = arg else {
            self.err(attribute.span, "'aligned' attribute requires integer constant");
            return None;
        };
        let value = self.rvalue_expr(expr);
        if self.is_error(value.ty) {
            return None;
        }
        let Some(value) = self.integer_constant(&value) else {
            self.err(expr.span, "'aligned' attribute requires integer constant");
            return None;
        };
        match u32::try_from(value) {
            Ok(value) if value.is_power_of_two() && value <= MAX_ALIGN => Some(value),
            _ if value > 0 && value.count_ones() == 1 => {
                self.err(expr.span, format!("requested alignment is {value} bytes; the limit is {MAX_ALIGN}"));
                None
            }
            _ => {
                self.err(expr.span, "requested alignment is not a power of 2");
                None
            }
        }
    }
}
