//! Initialisers (C99 6.7.8): lists with designators and omitted braces, strings and vectors. The result is a flat list
//! of offsets and values.

use std::ops::Range;

use super::consteval::Value;
use super::convert::Purpose;
use super::{DeclTy, Operand, Sema};
use crate::ast::{self, Designator, InitList, Initializer, ScalarKind};
use crate::diag::{Span, WarningGroup};
use crate::ir::{self, Reloc, Space};
use crate::thir::{Constant, Expr, ExprKind, GlobalVar, Init, Linkage, QualTy, Ty, TyKind};

/// A position in an initialiser list.
struct Cursor<'b> {
    items: &'b [(Vec<Designator>, Initializer)],
    at: usize,
    /// The expression of the next item, if it was checked but not used yet.
    pending: Option<Operand>,
    /// The index of an item whose designators were already resolved.
    followed: Option<usize>,
}

/// The collected values of an initialiser.
#[derive(Default)]
struct Parts {
    list: Vec<(u32, Expr)>,
    designated: bool,
    failed: bool,
}

impl<'b> Cursor<'b> {
    /// Returns the next item and its designators. The list of designators is empty after [`Self::follow`].
    fn peek(&self) -> Option<(&'b [Designator], &'b Initializer)> {
        let (designators, item) = self.items.get(self.at)?;
        Some((if self.followed == Some(self.at) { &[] } else { designators }, item))
    }

    /// Marks the designators of the next item as resolved.
    fn follow(&mut self) {
        self.followed = Some(self.at);
    }

    fn next(&mut self) {
        self.at += 1;
        self.pending = None;
    }
}

/// Maximum difference between the last and the first index of a range designator.
const MAX_RANGE: u64 = 1 << 20;

/// Exclusive limit of the indices in designators. It also applies to arrays of unknown length.
const MAX_ELEMENTS: u64 = 1 << 26;

impl Sema<'_> {
    /// Checks the initialiser of an object. Returns the type of the object, with the length of an array, and the
    /// checked initialiser. Returns `None` after an error.
    pub(super) fn initializer(&mut self, qt: QualTy, init: &Initializer) -> Option<(Ty, Init)> {
        match init {
            Initializer::List(list) => self.list_initializer(qt, list),
            Initializer::Expr(expr) => {
                if let (TyKind::Array { element, len }, Some(bytes)) = (self.kind(qt.ty).clone(), string_of(expr))
                    && self.is_char(element.ty)
                {
                    return self.string_initializer(element, len, bytes, expr.span);
                }
                let value = self.any_rvalue(expr);
                if self.is_error(value.ty) {
                    return None;
                }
                if matches!(self.kind(qt.ty), TyKind::Array { .. }) {
                    self.err(expr.span, "array initializer must be an initializer list");
                    return None;
                }
                let value = self.assign_convert(value, qt.ty, &Purpose::Initialize);
                if self.is_error(value.ty) {
                    return None;
                }
                Some((qt.ty, Init::Expr(value)))
            }
        }
    }

    fn is_char(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Scalar(ScalarKind::Char | ScalarKind::UChar))
    }

    fn string_initializer(&mut self, element: QualTy, len: Option<u64>, bytes: &[u8], span: Span) -> Option<(Ty, Init)> {
        let full = bytes.len() as u64 + 1;
        let len = len.unwrap_or(full);
        if (bytes.len() as u64) > len {
            self.warn(WarningGroup::ExcessInitializers, span, "initializer-string for char array is too long");
        }
        let ty = self.types.intern(TyKind::Array { element, len: Some(len) });
        let mut parts = Parts::default();
        self.string_parts(element.ty, len, bytes, 0, span, &mut parts);
        Some((ty, Init::Parts { zero_rest: full < len, parts: parts.list }))
    }

    fn string_parts(&mut self, element: Ty, len: u64, bytes: &[u8], offset: u64, span: Span, parts: &mut Parts) {
        let kind = self.scalar_kind(element).unwrap_or(ScalarKind::Char);
        let padded = bytes.iter().copied().chain([0]).take(usize::try_from(len).unwrap_or(usize::MAX));
        for (index, byte) in padded.enumerate() {
            let value = self.int_const(i64::from(byte), kind, span);
            parts.list.push((u32::try_from(offset).unwrap_or(u32::MAX).saturating_add(u32::try_from(index).unwrap_or(u32::MAX)), value));
        }
    }

    /// Checks an initialiser in braces. Returns the same as [`Self::initializer`].
    pub(super) fn list_initializer(&mut self, qt: QualTy, list: &InitList) -> Option<(Ty, Init)> {
        if self.is_error(qt.ty) {
            for (_, item) in &list.items {
                if let Initializer::Expr(expr) = item {
                    self.operand(expr);
                }
            }
            return None;
        }
        let aggregate = matches!(self.kind(qt.ty), TyKind::Array { .. } | TyKind::Record(_));
        let mut parts = Parts::default();
        let len = self.braced(qt.ty, 0, list, &mut parts);
        if parts.failed {
            return None;
        }
        if !aggregate {
            return parts.list.pop().map(|(_, value)| (qt.ty, Init::Expr(value)));
        }
        let ty = match *self.kind(qt.ty) {
            TyKind::Array { element, len: None } => self.types.intern(TyKind::Array { element, len: Some(len) }),
            _ => qt.ty,
        };
        let covered: u64 = parts.list.iter().map(|(_, value)| self.size_of(value.ty).unwrap_or(0)).sum();
        let zero_rest = parts.designated || self.size_of(ty) != Some(covered);
        Some((ty, Init::Parts { zero_rest, parts: parts.list }))
    }

    /// Initialises the object at `offset` from a list in braces. Returns the number of elements of an array.
    fn braced(&mut self, ty: Ty, offset: u64, list: &InitList, parts: &mut Parts) -> u64 {
        let mut cursor = Cursor { items: &list.items, at: 0, pending: None, followed: None };
        let count = match self.kind(ty).clone() {
            TyKind::Array { element, len } => {
                // `char s[] = { "text" }`
                if let [(designators, Initializer::Expr(expr))] = list.items.as_slice()
                    && designators.is_empty()
                    && self.is_char(element.ty)
                    && let Some(bytes) = string_of(expr)
                {
                    let count = len.unwrap_or(bytes.len() as u64 + 1);
                    self.string_parts(element.ty, count, bytes, offset, expr.span, parts);
                    return count;
                }
                self.array_items(element.ty, len, offset, &mut cursor, true, parts)
            }
            TyKind::Record(_) => {
                self.record_items(ty, offset, &mut cursor, true, parts);
                0
            }
            TyKind::Vector(..) => {
                self.vector_items(ty, offset, list, parts);
                return 0;
            }
            TyKind::Error => return 0,
            _ => {
                // A scalar in braces.
                match cursor.peek() {
                    None => {
                        let zero = self.zero(ty, list.span);
                        parts.list.push((u32::try_from(offset).unwrap_or(u32::MAX), zero));
                    }
                    Some(_) => self.element(ty, offset, &mut cursor, parts),
                }
                0
            }
        };
        if let Some((_, item)) = cursor.peek()
            && !parts.failed
        {
            let span = match item {
                Initializer::Expr(expr) => expr.span,
                Initializer::List(list) => list.span,
            };
            let what = match self.kind(ty) {
                TyKind::Array { .. } => "array",
                TyKind::Record(id) if self.types.record(*id).is_union => "union",
                TyKind::Record(_) => "struct",
                _ => "scalar",
            };
            self.warn(WarningGroup::ExcessInitializers, span, format!("excess elements in {what} initializer"));
        }
        count
    }

    fn zero(&mut self, ty: Ty, span: Span) -> Expr {
        let constant = match self.kind(ty) {
            TyKind::Pointer { .. } => Constant::Null,
            TyKind::Scalar(kind) if super::is_float(*kind) => Constant::Float(0.0),
            _ => Constant::Int(0),
        };
        self.expr(ExprKind::Constant(constant), ty, span)
    }

    fn vector_items(&mut self, ty: Ty, offset: u64, list: &InitList, parts: &mut Parts) {
        let mut values = Vec::new();
        for (_, item) in &list.items {
            let Initializer::Expr(expr) = item else {
                self.err(list.span, "too many braces around vector initializer");
                parts.failed = true;
                return;
            };
            let value = self.rvalue_expr(expr);
            if self.is_error(value.ty) {
                parts.failed = true;
                return;
            }
            values.push(value);
        }
        let Some((kind, lanes)) = self.arith(ty) else { return };
        if values.is_empty() {
            for _ in 0..lanes {
                let lane = self.scalar(kind);
                let zero = self.zero(lane, list.span);
                values.push(zero);
            }
        }
        let value = self.vector_of(values, ty, list.span);
        if self.is_error(value.ty) {
            parts.failed = true;
            return;
        }
        parts.list.push((u32::try_from(offset).unwrap_or(u32::MAX), value));
    }

    fn array_items(
        &mut self,
        element: Ty,
        len: Option<u64>,
        offset: u64,
        cursor: &mut Cursor<'_>,
        own_braces: bool,
        parts: &mut Parts,
    ) -> u64 {
        let size = self.size_of(element).unwrap_or(1);
        let (mut index, mut count) = (0u64, 0u64);
        while let Some((designators, _)) = cursor.peek() {
            if parts.failed {
                return count;
            }
            if !designators.is_empty() {
                if !own_braces {
                    return count;
                }
                parts.designated = true;
                let Some((first, last)) = self.designated_indices(&designators[0], len) else {
                    parts.failed = true;
                    return count;
                };
                cursor.follow();
                self.each_index(first, last, cursor, parts, |sema, index, cursor, parts| {
                    sema.designated(element, offset + index * size, &designators[1..], cursor, parts);
                });
                index = last + 1;
                count = count.max(index);
                continue;
            }
            if len.is_some_and(|len| index >= len) {
                return count;
            }
            let before = cursor.at;
            self.element(element, offset + index * size, cursor, parts);
            index += 1;
            count = count.max(index);
            if cursor.at == before {
                // An element without members consumes no items. Stop, to avoid an endless loop.
                return count;
            }
        }
        count
    }

    /// Returns the first and the last index (inclusive) of an array designator. Reports an error and returns `None` if
    /// it is invalid.
    fn designated_indices(&mut self, designator: &Designator, len: Option<u64>) -> Option<(u64, u64)> {
        let (first, last) = match designator {
            Designator::Index(index) => (index, index),
            Designator::Range(first, last) => (first, last),
            Designator::Field(ident) => {
                self.err(ident.span, "field designator cannot initialize a non-struct, non-union type");
                return None;
            }
        };
        let mut indices = [0u64; 2];
        for (slot, expr) in indices.iter_mut().zip([first, last]) {
            let value = self.rvalue_expr(expr);
            match self.integer_constant(&value) {
                Some(value) => match u64::try_from(value) {
                    Ok(index) if len.is_none_or(|len| index < len) && index < MAX_ELEMENTS => *slot = index,
                    _ => {
                        let limit = len.map_or(MAX_ELEMENTS, |len| len.min(MAX_ELEMENTS));
                        self.err(expr.span, format!("array designator index ({value}) exceeds array bounds ({limit})"));
                        return None;
                    }
                },
                None => {
                    if !self.is_error(value.ty) {
                        self.err(expr.span, "expression is not an integer constant expression");
                    }
                    return None;
                }
            }
        }
        let [first_index, last_index] = indices;
        if first_index > last_index {
            self.err(first.span.to(last.span), format!("array designator range [{first_index}, {last_index}] is empty"));
            return None;
        }
        if last_index - first_index > MAX_RANGE {
            self.err(first.span.to(last.span), format!("array designator range has more than {} elements", MAX_RANGE + 1));
            return None;
        }
        Some((first_index, last_index))
    }

    /// Initialises the elements `first..=last` with the same item.
    fn each_index<'b>(
        &mut self,
        first: u64,
        last: u64,
        cursor: &mut Cursor<'b>,
        parts: &mut Parts,
        element: impl Fn(&mut Self, u64, &mut Cursor<'b>, &mut Parts),
    ) {
        let start = cursor.at;
        for index in first..=last {
            cursor.at = start;
            element(self, index, cursor, parts);
            if parts.failed {
                return;
            }
        }
    }

    fn designator_span(&self, designator: &Designator) -> Span {
        match designator {
            Designator::Index(expr) | Designator::Range(expr, _) => expr.span,
            Designator::Field(ident) => ident.span,
        }
    }

    fn record_items(&mut self, ty: Ty, offset: u64, cursor: &mut Cursor<'_>, own_braces: bool, parts: &mut Parts) {
        let TyKind::Record(id) = *self.kind(ty) else { return };
        let record = self.types.record(id);
        let is_union = record.is_union;
        let fields: Vec<(Option<ast::Name>, QualTy, u32)> = record.fields.iter().map(|f| (f.name.clone(), f.ty, f.offset)).collect();
        let mut index = 0;
        while let Some((designators, _)) = cursor.peek() {
            if parts.failed {
                return;
            }
            if !designators.is_empty() {
                if !own_braces {
                    return;
                }
                let Designator::Field(ident) = &designators[0] else {
                    self.err(
                        self.designator_span(&designators[0]),
                        format!("array designator cannot initialize non-array type '{}'", self.show(ty)),
                    );
                    parts.failed = true;
                    return;
                };
                parts.designated = true;
                let Some(found) = self.find_field(id, &ident.name) else {
                    let shown = self.show(ty);
                    let hint = self.suggest_member(id, &ident.name);
                    let message = format!("field designator '{}' does not refer to any field in type '{shown}'", ident.name);
                    self.err_hint(ident.span, &message, &hint);
                    parts.failed = true;
                    return;
                };
                self.record_member(id, &ident.name, ident.span);
                let at = offset + u64::from(found.offset);
                cursor.follow();
                self.designated(found.ty.ty, at, &designators[1..], cursor, parts);
                // The next item without a designator initialises the member after the designated member.
                index = fields
                    .iter()
                    .position(|(name, field, at)| {
                        name.as_ref() == Some(&ident.name)
                            || (name.is_none()
                                && found.offset >= *at
                                && u64::from(found.offset) < u64::from(*at) + self.size_of(field.ty).unwrap_or(0))
                    })
                    .map_or(fields.len(), |i| i + 1);
                if is_union {
                    index = fields.len();
                }
                continue;
            }
            let Some((_, field, at)) = fields.get(index) else { return };
            if matches!(self.kind(field.ty), TyKind::Array { len: None, .. }) {
                self.err(next_span(cursor), "initialization of flexible array member is not allowed");
                parts.failed = true;
                return;
            }
            self.element(field.ty, offset + u64::from(*at), cursor, parts);
            index = if is_union { fields.len() } else { index + 1 };
        }
    }

    /// Initialises the part of the object at `offset` that the designators in `path` select.
    fn designated(&mut self, ty: Ty, offset: u64, path: &[Designator], cursor: &mut Cursor<'_>, parts: &mut Parts) {
        let Some((first, rest)) = path.split_first() else {
            self.element(ty, offset, cursor, parts);
            return;
        };
        let next = match (first, self.kind(ty).clone()) {
            (Designator::Field(ident), TyKind::Record(id)) => {
                self.record_member(id, &ident.name, ident.span);
                self.find_field(id, &ident.name).map(|found| (found.ty.ty, offset + u64::from(found.offset)))
            }
            (Designator::Index(_) | Designator::Range(..), TyKind::Array { element, len }) => {
                let size = self.size_of(element.ty).unwrap_or(1);
                match self.designated_indices(first, len) {
                    Some((first, last)) => self.each_index(first, last, cursor, parts, |sema, index, cursor, parts| {
                        sema.designated(element.ty, offset + index * size, rest, cursor, parts);
                    }),
                    None => parts.failed = true,
                }
                return;
            }
            _ => None,
        };
        match next {
            Some((ty, offset)) => self.designated(ty, offset, rest, cursor, parts),
            None => {
                let shown = self.show(ty);
                self.err(self.designator_span(first), format!("designator does not refer to any part of type '{shown}'"));
                parts.failed = true;
            }
        }
    }

    /// Initialises the object at `offset` from the next item. An aggregate without braces consumes several items.
    fn element(&mut self, ty: Ty, offset: u64, cursor: &mut Cursor<'_>, parts: &mut Parts) {
        let Some((_, item)) = cursor.peek() else { return };
        let expr = match item {
            Initializer::List(list) => {
                self.braced(ty, offset, list, parts);
                cursor.next();
                return;
            }
            Initializer::Expr(expr) => expr,
        };
        if let TyKind::Array { element, len } = *self.kind(ty)
            && self.is_char(element.ty)
            && cursor.pending.is_none()
            && let Some(bytes) = string_of(expr)
        {
            self.string_parts(element.ty, len.unwrap_or(bytes.len() as u64 + 1), bytes, offset, expr.span, parts);
            cursor.next();
            return;
        }
        let operand = match cursor.pending.take() {
            Some(operand) => operand,
            None => self.operand(expr),
        };
        let from = self.operand_type(&operand).ty;
        match *self.kind(ty) {
            TyKind::Array { element, len } => {
                cursor.pending = Some(operand);
                self.array_items(element.ty, len, offset, cursor, false, parts);
            }
            TyKind::Record(_) if from != ty => {
                if self.is_error(from) {
                    parts.failed = true;
                    cursor.next();
                    return;
                }
                cursor.pending = Some(operand);
                self.record_items(ty, offset, cursor, false, parts);
            }
            _ => {
                let value = self.rvalue(operand);
                let value = self.assign_convert(value, ty, &Purpose::Initialize);
                if self.is_error(value.ty) {
                    parts.failed = true;
                } else {
                    parts.list.push((u32::try_from(offset).unwrap_or(u32::MAX), value));
                }
                cursor.next();
            }
        }
    }

    // Constant initialisers.

    /// Evaluates a constant initialiser. Returns its bytes and relocations. Reports an error and returns `None` if it
    /// is not constant.
    pub(super) fn constant_initializer(&mut self, ty: Ty, init: &Init, span: Span) -> Option<(Vec<u8>, Vec<Reloc>)> {
        let size = usize::try_from(self.size_of(ty)?).ok()?;
        let mut bytes = vec![0u8; size];
        let mut relocs: Vec<Reloc> = Vec::new();
        let single;
        let parts: &[(u32, Expr)] = match init {
            Init::Parts { parts, .. } => parts,
            Init::Expr(expr) => {
                single = self.constant_part(0, expr, span, &mut bytes, &mut relocs);
                return single.map(|()| (bytes, relocs));
            }
        };
        for (offset, value) in parts {
            self.constant_part(*offset, value, span, &mut bytes, &mut relocs)?;
        }
        Some((bytes, relocs))
    }

    /// Removes the relocations of pointers that overlap these bytes.
    fn remove_relocs(&self, relocs: &mut Vec<Reloc>, bytes: Range<usize>) {
        let size = self.types.pointer_size() as usize;
        relocs.retain(|reloc| reloc.at as usize + size <= bytes.start || reloc.at as usize >= bytes.end);
    }

    fn constant_part(&mut self, offset: u32, value: &Expr, span: Span, bytes: &mut [u8], relocs: &mut Vec<Reloc>) -> Option<()> {
        let value_span = if value.span == Span::NONE { span } else { value.span };
        let at = offset as usize;
        match self.evaluate(value) {
            Some(Value::Const(constant)) => {
                let mut encoded = Vec::new();
                if self.constant_bytes(&constant, value.ty, &mut encoded).is_none() {
                    encoded.resize(usize::try_from(self.size_of(value.ty)?).ok()?, 0);
                    if !matches!(constant, Constant::Int(0)) {
                        if let (Constant::Int(bits), TyKind::Atomic(_) | TyKind::AtomicFlag | TyKind::Sampler) =
                            (&constant, self.kind(value.ty))
                        {
                            let size = encoded.len().min(8);
                            encoded[..size].copy_from_slice(&bits.to_le_bytes()[..size]);
                        } else if let (Constant::Float(float), TyKind::Atomic(kind)) = (&constant, self.kind(value.ty)) {
                            let kind = *kind;
                            let scalar = self.scalar(kind);
                            encoded.clear();
                            self.constant_bytes(&Constant::Float(*float), scalar, &mut encoded)?;
                        }
                    }
                }
                let target = bytes.get_mut(at..at + encoded.len())?;
                target.copy_from_slice(&encoded);
                self.remove_relocs(relocs, at..at + encoded.len());
                Some(())
            }
            Some(Value::Address(target, addend)) => {
                relocs.retain(|r| r.at != offset);
                relocs.push(Reloc { at: offset, target: ir::Global(target.0), addend });
                Some(())
            }
            None => {
                // If the value is a constant aggregate, copy its bytes and the addresses in it.
                if let ExprKind::Load(source) = &value.kind
                    && let Some((global, from)) = self.address(source)
                    && self.globals[global.index()].space == Space::Constant
                    && let Some(size) = self.size_of(value.ty).and_then(|s| usize::try_from(s).ok())
                    && let Ok(from) = usize::try_from(from)
                    && let Some(copied) = self.globals[global.index()].init.as_ref().and_then(|b| b.get(from..from + size))
                    && let Some(target) = bytes.get_mut(at..at + size)
                {
                    target.copy_from_slice(copied);
                    self.remove_relocs(relocs, at..at + size);
                    let source = self.globals[global.index()].relocs.iter();
                    let inside = source.filter(|reloc| (from..from + size).contains(&(reloc.at as usize)));
                    relocs.extend(inside.map(|reloc| Reloc { at: (reloc.at as usize - from + at) as u32, ..reloc.clone() }));
                    return Some(());
                }
                self.err(value_span, "initializer element is not a compile-time constant");
                None
            }
        }
    }

    /// Checks a compound literal at program scope, which becomes an unnamed variable in constant memory.
    pub(super) fn static_compound(&mut self, decl: DeclTy, list: &InitList, span: Span) -> Operand {
        let Some((ty, init)) = self.list_initializer(decl.qt, list) else { return self.error_operand(span) };
        let Some((bytes, relocs)) = self.constant_initializer(ty, &init, span) else { return self.error_operand(span) };
        let align = self.align_of(ty);
        let global = GlobalVar {
            name: ".compound".into(),
            ty: QualTy { ty, ..decl.qt },
            space: Space::Constant,
            init: Some(bytes),
            relocs,
            align,
            linkage: Linkage::Internal,
            defined: true,
            span: self.span(span),
        };
        let id = self.new_global(global);
        Operand::Lvalue(self.global_lvalue(id, span))
    }
}

/// Returns the span of the next item.
fn next_span(cursor: &Cursor<'_>) -> Span {
    match cursor.peek() {
        Some((_, Initializer::Expr(expr))) => expr.span,
        Some((_, Initializer::List(list))) => list.span,
        None => Span::NONE,
    }
}

/// Returns the bytes of a string literal, possibly in parentheses. Returns `None` for other expressions.
fn string_of(expr: &ast::Expr) -> Option<&[u8]> {
    match &expr.without_parentheses().kind {
        ast::ExprKind::Str(bytes) => Some(bytes),
        _ => None,
    }
}
