//! Overload resolution for the built-in functions of the table, and their calls (OpenCL C 6.15).
//!
//! The cost of an argument is 0 if it has the type of the parameter, and greater for a conversion. The call uses the
//! signature with the smallest sum of costs. If several signatures have this sum, the call uses the first of them.
//! Clang reports some of these calls as ambiguous.

use std::ops::RangeInclusive;

use super::convert::{Purpose, usual_kind};
use super::library_call::LibraryCall;
use super::{Sema, is_float, is_signed, signed_of, unsigned_of};
use crate::ast::{Access, ImageKind, Name, ScalarKind};
use crate::builtins::images;
use crate::builtins::signature::{Class, Element, Lanes, Pointer, Signature, Slot, Type};
use crate::builtins::table::{self, Overload};
use crate::diag::{Diagnostic, Span};
use crate::ir::Space;
use crate::thir::types::scalar_size;
use crate::thir::{CastKind, Constant, Expr, ExprKind, QualTy, Ty, TyKind};

/// The cost of the argument conversions of a call. Lower is better.
type Cost = u32;

/// Maximum number of candidates that an error lists.
const MAX_NOTES: usize = 4;

/// `memory_order_seq_cst`, the order of functions without `_explicit`.
const ORDER_SEQ_CST: u64 = 5;

/// The types and lane counts that replace the generic types of a signature in a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) kind: ScalarKind,
    pub(super) lanes: u8,
    /// The lane count of a type written with `~` in the table.
    other: u8,
    image: ImageKind,
    /// The pointee type of the argument for a `void *` parameter.
    pointee: Option<QualTy>,
}

impl Bound {
    /// Returns the types for a call with one lane of each argument.
    pub(super) fn lane(self) -> Self {
        Self { lanes: 1, ..self }
    }
}

/// The reason why a candidate does not accept the arguments: the index of the first argument that does not fit, and
/// the types that its parameter requires.
struct Mismatch {
    bound: Bound,
    index: usize,
}

/// Returns the type in `class` to which a scalar argument of type `kind` converts, or `None` if there is no such type.
fn nearest_in_class(class: Class, kind: ScalarKind) -> Option<ScalarKind> {
    let has = |kind: &ScalarKind| class.contains(kind);
    let candidates = match kind {
        _ if is_float(kind) => [kind, ScalarKind::Float, ScalarKind::Float],
        ScalarKind::ULong => [kind, ScalarKind::UInt, ScalarKind::Float],
        _ => [kind, ScalarKind::Int, ScalarKind::Float],
    };
    candidates.into_iter().find(has)
}

const fn ordinal(index: usize) -> &'static str {
    match index {
        0 => "st",
        1 => "nd",
        2 => "rd",
        _ => "th",
    }
}

impl Sema<'_> {
    /// Returns the overloads of a function that the language version and the device have.
    fn offered(&self, name: &str) -> impl Iterator<Item = &'static Overload> {
        let (version, in_library) = (self.options.std.version(), self.in_library);
        table::find(name).iter().filter(move |overload| in_library || overload.row.is_offered(version, self.target))
    }

    /// Whether the table has a function that the language version and the device have.
    pub(super) fn is_in_table(&self, name: &str) -> bool {
        self.offered(name).next().is_some()
    }

    /// Whether a function of the table accepts the values without conversion.
    pub(super) fn fits_table_exactly(&self, name: &str, values: &[Expr]) -> bool {
        self.offered(name)
            .any(|overload| permits_count(overload.signature(), values.len()) && matches!(self.fit(overload, values), Ok((0, _))))
    }

    /// Resolves and creates a call of a function of the table.
    pub(super) fn table_call(&mut self, name: &Name, values: Vec<Expr>, name_span: Span, span: Span) -> Expr {
        let mut best: Option<(Cost, &'static Overload, Bound)> = None;
        let mut mismatches = Vec::new();
        for overload in self.offered(name).filter(|overload| permits_count(overload.signature(), values.len())) {
            match self.fit(overload, &values) {
                Ok((cost, bound)) if best.as_ref().is_none_or(|(old, ..)| cost < *old) => best = Some((cost, overload, bound)),
                Ok(_) => {}
                Err(mismatch) => mismatches.push((overload.signature(), mismatch)),
            }
        }
        match best {
            Some((_, overload, bound)) => self.overload_call(name, overload, bound, values, span),
            None if mismatches.is_empty() => self.wrong_count(name, values.len(), name_span, span),
            None => self.no_candidate(name, &mismatches, &values, name_span, span),
        }
    }

    fn wrong_count(&mut self, name: &str, given: usize, name_span: Span, span: Span) -> Expr {
        let least = self.offered(name).map(|overload| overload.signature().required).min().unwrap_or(0);
        let most = self.offered(name).map(|overload| overload.signature().params.len()).max().unwrap_or(0);
        self.expect_count(name, least..=most, given, name_span);
        self.error_expr(span)
    }

    /// Reports an error and returns false if `given` arguments are too few or too many.
    pub(super) fn expect_count(&mut self, name: &str, counts: RangeInclusive<usize>, given: usize, at: Span) -> bool {
        let fits = counts.contains(&given);
        if !fits {
            let (word, expected) = if given < *counts.start() { ("few", counts.start()) } else { ("many", counts.end()) };
            self.err(at, format!("too {word} arguments to function call '{name}', expected {expected}, have {given}"));
        }
        fits
    }

    fn no_candidate(&mut self, name: &str, found: &[(&'static Signature, Mismatch)], values: &[Expr], at: Span, span: Span) -> Expr {
        let mut notes: Vec<String> = Vec::new();
        // Functions that accept more of the arguments are more likely to be meant.
        let misfits = |(signature, mismatch): &(&'static Signature, Mismatch)| {
            let arguments = values.iter().zip(&signature.params);
            arguments.filter(|(value, slot)| self.cost(value, slot, &mismatch.bound).is_none()).count().max(1)
        };
        let counts: Vec<usize> = found.iter().map(misfits).collect();
        let fewest = counts.iter().min();
        for ((signature, mismatch), _) in found.iter().zip(&counts).filter(|(_, count)| Some(*count) == fewest) {
            if let (Some(value), Some(slot)) = (values.get(mismatch.index), signature.params.get(mismatch.index)) {
                let note = format!("candidate function not viable: {}", self.misfit(value, slot, mismatch));
                if !notes.contains(&note) && notes.len() < MAX_NOTES {
                    notes.push(note);
                }
            }
        }
        let types: Vec<String> = values.iter().map(|value| format!("'{}'", self.show(value.ty))).collect();
        let text = format!("no matching function for call to '{name}' with arguments of type {}", types.join(", "));
        self.report(notes.into_iter().fold(Diagnostic::error(at, text), |error, note| error.with_note(at, note)));
        self.error_expr(span)
    }

    /// Returns the text of the note about the argument that does not fit.
    fn misfit(&mut self, value: &Expr, slot: &Slot, mismatch: &Mismatch) -> String {
        let argument = format!("{}{} argument", mismatch.index + 1, ordinal(mismatch.index));
        let from = self.show(value.ty);
        let mut wanted = self.slot_type(slot, &mismatch.bound);
        if let (Some(pointer), Some((argument_pointee, argument_space)), Some((pointee, space))) =
            (&slot.pointer, self.pointer_parts(value.ty), self.pointer_parts(wanted))
        {
            let is_accepted = accepts(pointer, argument_space);
            match slot.ty == Type::Void || self.is_compatible(argument_pointee.ty, pointee.ty) {
                true if !is_accepted => {
                    return format!(
                        "cannot pass pointer to address space '__{argument_space}' as a pointer to address space '__{space}' in {argument}"
                    );
                }
                true if argument_pointee.is_const && !pointee.is_const => {
                    return format!("{argument} ('{from}') would lose const qualifier");
                }
                false if is_accepted => wanted = self.pointer(pointee, argument_space),
                _ => {}
            }
        }
        format!("no known conversion from '{from}' to '{}' for {argument}", self.show(wanted))
    }

    /// Returns the cost of a call of an overload, and its generic types. Fails if an argument does not fit. The caller
    /// must ensure that the number of arguments fits.
    fn fit(&self, overload: &Overload, values: &[Expr]) -> Result<(Cost, Bound), Mismatch> {
        let signature = overload.signature();
        let mut bound = self.bind(overload, values)?;
        if let Some(lanes) = signature.lanes.first().filter(|_| !signature.lanes.contains(&bound.lanes)) {
            bound.lanes = *lanes;
            return Err(Mismatch { bound, index: 0 });
        }
        let is_element = |slot: &Slot| slot.pointer.is_none() && slot.ty == Type::Value(Element::Generic, Lanes::Fixed(1));
        if bound.lanes == 1 && signature.params.iter().any(is_element) {
            bound.lanes = 2;
            return Err(Mismatch { bound, index: 0 });
        }
        if signature.ret.ty == Type::Value(Element::Wide, Lanes::Generic) && scalar_size(bound.kind) > 4 {
            bound.kind = ScalarKind::Int;
            return Err(Mismatch { bound, index: 0 });
        }
        let mut sum = 0;
        for (index, (value, slot)) in values.iter().zip(&signature.params).enumerate() {
            sum += self.cost(value, slot, &bound).ok_or(Mismatch { bound, index })?;
        }
        Ok((sum, bound))
    }

    /// Returns the cost of the conversion of an argument, or `None` if there is no conversion.
    fn cost(&self, value: &Expr, slot: &Slot, bound: &Bound) -> Option<Cost> {
        if let Some(pointer) = &slot.pointer {
            return self.pointer_cost(value, slot.ty, pointer, bound);
        }
        match (slot.ty, self.kind(value.ty)) {
            (Type::Image(set, access), TyKind::Image(kind, qualifier)) => {
                (set.contains(*kind) && images::permits(access, *qualifier)).then_some(0)
            }
            (Type::Event, TyKind::Event) | (Type::Sampler, TyKind::Sampler) => Some(0),
            (Type::Event | Type::Sampler, _) => self.is_integer_scalar(value.ty).then_some(4),
            (Type::Order | Type::Scope, _) => self.is_integer_scalar(value.ty).then_some(0),
            (Type::Value(element, lanes), _) => {
                let ((wanted, wanted_lanes), (found, found_lanes)) = (self.scalar_and_lanes(element, lanes, bound), self.arith(value.ty)?);
                if matches!(element, Element::Signed | Element::Unsigned) && is_float(found) {
                    return None;
                }
                match (found_lanes == wanted_lanes, found == wanted) {
                    (true, true) => Some(0),
                    (true, false) if wanted_lanes == 1 => Some(if is_float(found) == is_float(wanted) { 4 } else { 6 }),
                    (false, _) if found_lanes == 1 => Some(20 + u32::from(is_float(found) != is_float(wanted))),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn pointer_cost(&self, value: &Expr, ty: Type, pointer: &Pointer, bound: &Bound) -> Option<Cost> {
        let (pointee, space) = self.pointer_parts(value.ty)?;
        if !accepts(pointer, space) || (pointee.is_const && !pointer.is_const && !pointer.converts) {
            return None;
        }
        let is_same = match (ty, self.kind(pointee.ty)) {
            (Type::Void, _) | (Type::Event, TyKind::Event) | (Type::Flag, TyKind::AtomicFlag) => true,
            (Type::Atomic, TyKind::Atomic(kind)) => *kind == bound.kind,
            (Type::Value(element, lanes), _) => self.arith(pointee.ty) == Some(self.scalar_and_lanes(element, lanes, bound)),
            _ => false,
        };
        match is_same {
            true => Some(0),
            false if pointer.converts && self.arith(pointee.ty).is_some_and(|(kind, _)| kind != ScalarKind::Bool) => Some(50),
            false => None,
        }
    }

    /// Determines the generic types of a signature from the arguments: from vectors if there are any, otherwise from
    /// scalars. Pointers have precedence over scalars if the first generic parameter is a pointer, or if the name
    /// contains the lane count. Fails if an argument does not fit.
    fn bind(&self, overload: &Overload, values: &[Expr]) -> Result<Bound, Mismatch> {
        let signature = overload.signature();
        let class = signature.class;
        let mut bound = Bound {
            kind: nearest_in_class(class, ScalarKind::Int).or(class.first().copied()).unwrap_or(ScalarKind::Int),
            lanes: overload.lanes.unwrap_or(1),
            other: 1,
            image: ImageKind::Image2d,
            pointee: None,
        };
        let mut first = None;
        let (mut vector, mut pointee, mut scalar) = (None, None, None);
        for (index, (value, slot)) in values.iter().zip(&signature.params).enumerate() {
            let wrong = |bound| Err(Mismatch { bound, index });
            match (slot.ty, &slot.pointer, self.kind(value.ty)) {
                (Type::Image(set, _), _, kind) => {
                    bound.image = if let TyKind::Image(kind, _) = kind { *kind } else { set.example() };
                }
                (Type::Void, Some(_), TyKind::Pointer { pointee, .. }) => bound.pointee = Some(*pointee),
                (Type::Value(_, Lanes::Other), ..) => match self.arith(value.ty) {
                    Some((_, lanes @ 2..)) => bound.other = lanes,
                    _ => return wrong(bound),
                },
                (Type::Atomic | Type::Value(Element::Generic, _), Some(_), _) => {
                    first.get_or_insert((index, true));
                    let found = self.pointer_parts(value.ty).and_then(|(pointee, _)| match self.kind(pointee.ty) {
                        TyKind::Atomic(kind) if slot.ty == Type::Atomic => Some((*kind, 1)),
                        _ if slot.ty == Type::Atomic => None,
                        _ => self.arith(pointee.ty),
                    });
                    pointee = pointee.or(found);
                }
                (Type::Value(Element::Generic, Lanes::Generic), None, TyKind::Vector(kind, lanes)) => {
                    first.get_or_insert((index, false));
                    vector.get_or_insert((*kind, *lanes));
                }
                (Type::Value(Element::Generic, Lanes::Generic), None, _) => {
                    first.get_or_insert((index, false));
                    let Some(kind) = self.scalar_kind(value.ty) else { return wrong(bound) };
                    scalar = Some(scalar.map_or(kind, |old| common_kind(old, kind)));
                }
                _ => {}
            }
        }
        let Some((index, is_pointer)) = first else { return Ok(bound) };
        let exact = |(kind, lanes)| class.contains(&kind).then_some((kind, lanes));
        let by_pointer = is_pointer || overload.lanes.is_some();
        let found = match (vector, pointee, scalar) {
            (Some(vector), ..) => exact(vector),
            (None, Some(pointee), _) if by_pointer => exact(pointee),
            (None, _, Some(kind)) if !by_pointer || overload.lanes.is_some() => nearest_in_class(class, kind).map(|kind| (kind, 1)),
            _ => None,
        };
        let is_available = |kind| !signature.is_atomic || scalar_size(kind) < 8 || self.target.language.int64_atomics;
        let Some((kind, lanes)) = found.filter(|(kind, _)| is_available(*kind)) else { return Err(Mismatch { bound, index }) };
        bound.kind = kind;
        bound.lanes = overload.lanes.unwrap_or(lanes);
        Ok(bound)
    }

    /// Returns the scalar type and the lane count of a table type in a call.
    fn scalar_and_lanes(&self, element: Element, lanes: Lanes, bound: &Bound) -> (ScalarKind, u8) {
        let lanes = match lanes {
            Lanes::Generic => bound.lanes,
            Lanes::Other => bound.other,
            Lanes::Coordinates => images::coordinates(bound.image),
            Lanes::Gradients => images::gradients(bound.image),
            Lanes::Fixed(lanes) => lanes,
        };
        let kind = match element {
            Element::Generic => bound.kind,
            Element::Relational if lanes == 1 => ScalarKind::Int,
            Element::Signed | Element::Relational => signed_of(bound.kind),
            Element::Unsigned => unsigned_of(bound.kind),
            Element::Wide => match (scalar_size(bound.kind), is_signed(bound.kind)) {
                (1, true) => ScalarKind::Short,
                (1, false) => ScalarKind::UShort,
                (2, true) => ScalarKind::Int,
                (2, false) => ScalarKind::UInt,
                (_, true) => ScalarKind::Long,
                (_, false) => ScalarKind::ULong,
            },
            Element::Size => self.size_kind(),
            Element::Fixed(kind) => kind,
        };
        (kind, lanes)
    }

    /// Returns the type that replaces a table type in a call.
    pub(super) fn bound_type(&mut self, ty: Type, bound: &Bound) -> Ty {
        match ty {
            Type::Void => self.void_ty(),
            Type::Event => self.types.intern(TyKind::Event),
            Type::Sampler => self.types.intern(TyKind::Sampler),
            Type::Flag => self.types.intern(TyKind::AtomicFlag),
            Type::Atomic => self.types.intern(TyKind::Atomic(bound.kind)),
            Type::Order | Type::Scope => self.int(),
            Type::Image(set, access) => {
                let access = access.filter(|access| *access == Access::WriteOnly).unwrap_or(Access::ReadOnly);
                self.types.intern(TyKind::Image(set.example(), access))
            }
            Type::Value(element, lanes) => {
                let (kind, lanes) = self.scalar_and_lanes(element, lanes, bound);
                self.lanes(kind, lanes)
            }
        }
    }

    /// Returns the type of a parameter or result. A pointer has the first of the permitted address spaces.
    fn slot_type(&mut self, slot: &Slot, bound: &Bound) -> Ty {
        let ty = self.bound_type(slot.ty, bound);
        let Some(pointer) = &slot.pointer else { return ty };
        let plain = QualTy { is_const: pointer.is_const, ..QualTy::plain(ty) };
        let pointee = bound.pointee.filter(|_| slot.ty == Type::Void).unwrap_or(plain);
        self.pointer(pointee, pointer.spaces.first().copied().unwrap_or(Space::Generic))
    }

    /// Reports an error and returns false if the device lacks a type of a call.
    fn types_available(&mut self, signature: &Signature, bound: &Bound, span: Span) -> bool {
        let values = signature.params.iter().chain([&signature.ret]).filter(|slot| slot.pointer.is_none());
        let fixed = values.filter_map(|slot| match slot.ty {
            Type::Value(Element::Fixed(kind), _) => Some(kind),
            _ => None,
        });
        let generic = (!signature.class.is_empty()).then_some(bound.kind);
        for kind in fixed.chain(generic) {
            if kind == ScalarKind::Half && !self.target.language.fp16 {
                self.err(span, "half precision arithmetic requires cl_khr_fp16");
                return false;
            }
            if !self.kind_available(kind, span) {
                return false;
            }
        }
        true
    }

    fn overload_call(&mut self, name: &Name, overload: &'static Overload, bound: Bound, values: Vec<Expr>, span: Span) -> Expr {
        let signature = overload.signature();
        if !self.types_available(signature, &bound, span) || !self.check_orders(name, overload, &values, span) {
            return self.error_expr(span);
        }
        let mut args = Vec::with_capacity(values.len() + 1);
        for (value, slot) in values.into_iter().zip(&signature.params) {
            if slot.ty != Type::Scope {
                args.push(self.pass(value, slot, &bound));
            }
        }
        if overload.omits_order() {
            let int = self.int();
            args.push(self.expr(ExprKind::Constant(Constant::Int(ORDER_SEQ_CST)), int, span));
        }
        if args.iter().any(|arg| self.is_error(arg.ty)) {
            return self.error_expr(span);
        }
        let ret = self.slot_type(&signature.ret, &bound);
        match (overload.operation(bound.kind), signature.ret.bits) {
            (Some(op), Some(bits)) => {
                let operation_type = self.bound_type(bits, &bound);
                let call = self.expr(ExprKind::Intrinsic { op, args }, operation_type, span);
                self.as_type(call, ret, span)
            }
            (Some(op), None) => self.expr(ExprKind::Intrinsic { op, args }, ret, span),
            (None, _) => self.library_call(name, LibraryCall { signature, bound, args, ret, span }),
        }
    }

    /// Checks memory orders and scopes. Returns false after an error. The operations do not receive the scope, because
    /// every atomic operation has device scope.
    fn check_orders(&mut self, name: &Name, overload: &Overload, values: &[Expr], span: Span) -> bool {
        let with = |ty| values.iter().zip(&overload.signature().params).filter(move |(_, slot)| slot.ty == ty).map(|(value, _)| value);
        let (orders, scopes): (Vec<&Expr>, Vec<&Expr>) = (with(Type::Order).collect(), with(Type::Scope).collect());
        if let Some(is_explicit) = overload.is_explicit {
            self.check_orders_of_atomic(name, is_explicit, &orders, span);
        } else {
            self.check_fence(&orders, &scopes, span);
        }
        orders.into_iter().all(|order| self.check_order_value(order)) && scopes.into_iter().all(|scope| self.check_scope_value(scope))
    }

    /// Converts an argument to the type of its parameter.
    fn pass(&mut self, value: Expr, slot: &Slot, bound: &Bound) -> Expr {
        if let Some(pointer) = &slot.pointer {
            return self.pass_pointer(value, slot.ty, pointer, bound);
        }
        let ty = match slot.ty {
            Type::Image(..) => return value,
            // If other arguments are vectors, a scalar is splatted, so that all generic arguments have the same lane
            // count.
            Type::Value(Element::Generic, Lanes::Fixed(1)) => self.lanes(bound.kind, bound.lanes),
            ty => self.bound_type(ty, bound),
        };
        let span = value.span;
        let value = self.assign_convert(value, ty, &Purpose::Pass);
        match slot.bits {
            Some(bits) => {
                let bits = self.bound_type(bits, bound);
                self.as_type(value, bits, span)
            }
            None => value,
        }
    }

    fn pass_pointer(&mut self, value: Expr, ty: Type, pointer: &Pointer, bound: &Bound) -> Expr {
        let Some((pointee, space)) = self.pointer_parts(value.ty) else { return value };
        if pointer.spaces == [Space::Generic] {
            let generic = self.pointer(pointee, Space::Generic);
            return self.cast(CastKind::Pointer, value, generic);
        }
        if pointer.converts {
            let wanted = self.bound_type(ty, bound);
            if pointee.is_const || !self.is_compatible(pointee.ty, wanted) {
                let wanted = self.pointer(QualTy { ty: wanted, is_const: false, ..pointee }, space);
                return self.assign_convert(value, wanted, &Purpose::Pass);
            }
        }
        value
    }
}

/// Whether a signature permits this number of arguments.
fn permits_count(signature: &Signature, count: usize) -> bool {
    (signature.required..=signature.params.len()).contains(&count)
}

/// Whether a parameter accepts pointers to an address space.
fn accepts(pointer: &Pointer, space: Space) -> bool {
    pointer.spaces.contains(&space) || (pointer.spaces == [Space::Generic] && space != Space::Constant)
}

/// Returns the common type of two scalar arguments. A floating-point type has precedence over an integer type.
fn common_kind(a: ScalarKind, b: ScalarKind) -> ScalarKind {
    match (is_float(a), is_float(b)) {
        _ if a == b => a,
        (true, false) => a,
        (false, true) => b,
        _ => usual_kind(a, b),
    }
}
