//! Records names for editors, if the analysis has a recorder.

use super::Sema;
use super::functions::FuncDecl;
use super::scope::Symbol;
use crate::ast::{Ident, Name};
use crate::diag::Span;
use crate::editor::index::{Candidate, Kind, Target};
use crate::editor::{Recorder, Tagged};
use crate::ir::Space;
use crate::thir::{FuncId, QualTy, RecordId, Ty, TyKind};

impl Sema<'_> {
    /// Returns the recorder. Returns `None` in the built-in library, and if there is no recorder.
    pub(super) fn recorder(&mut self) -> Option<&mut Recorder> {
        if self.in_library { None } else { self.recorder.as_deref_mut() }
    }

    pub(super) fn record_declaration(&mut self, name: &Name, symbol: &Symbol, span: Span) {
        if self.in_library {
            return;
        }
        let (kind, detail) = match symbol {
            Symbol::Typedef(ty) => (Kind::Typedef, format!("typedef {} {name}", self.types.display_qual(ty.qt))),
            Symbol::Local(local) => {
                let Some(f) = &self.f else { return };
                let is_parameter = local.index() < self.decls[f.id.index()].params.len();
                let ty = f.locals.get(local.index()).map(|local| local.ty);
                (if is_parameter { Kind::Parameter } else { Kind::Variable }, self.declarator_text(ty, name))
            }
            Symbol::Global(global) => {
                let found = self.globals.get(global.index());
                let space = found.map_or(Space::Global, |global| global.space);
                let text = self.declarator_text(found.map(|global| global.ty), name);
                let kind = if space == Space::Local { Kind::Variable } else { Kind::Global };
                (kind, format!("{} {text}", space_name(space)))
            }
            Symbol::Block(_) => (Kind::Variable, format!("block {name}")),
            Symbol::Constant(value, _) => (Kind::Enumerator, format!("{name} = {value}")),
            Symbol::Functions(_) => return,
            Symbol::Error => (Kind::Variable, name.to_string()),
        };
        let record = match symbol {
            Symbol::Typedef(ty) => match *self.kind(ty.qt.ty) {
                TyKind::Record(id) => Some(id),
                _ => None,
            },
            _ => None,
        };
        if let Some(recorder) = self.recorder() {
            let index = recorder.declare(name, kind, span, detail);
            if let Some(record) = record {
                recorder.name_record(record, index);
            }
        }
    }

    /// Returns a declaration of a name with a type, as text.
    fn declarator_text(&self, ty: Option<QualTy>, name: &str) -> String {
        let Some(ty) = ty else { return name.to_owned() };
        let text = self.types.display_qual(ty);
        if text.ends_with('*') { format!("{text}{name}") } else { format!("{text} {name}") }
    }

    /// Records a declaration of a function. `first` is the name in its first declaration.
    pub(super) fn record_function(&mut self, decl: &FuncDecl, first: Span) {
        if self.recorder.is_none() || self.in_library {
            return;
        }
        let parameters: Vec<String> =
            decl.params.iter().map(|param| self.declarator_text(Some(param.ty), param.name.as_deref().unwrap_or(""))).collect();
        let kernel = if decl.is_kernel { "kernel " } else { "" };
        let detail = format!("{kernel}{} {}({})", self.types.display(decl.ret), decl.name, parameters.join(", "));
        if let Some(recorder) = self.recorder() {
            recorder.function(&decl.name, (decl.span, first), decl.is_kernel, detail, parameters);
        }
    }

    /// Records the start of the definition of a function.
    pub(super) fn record_definition(&mut self, id: FuncId, extent: Span) {
        let span = self.decls[id.index()].span;
        if let Some(recorder) = self.recorder() {
            recorder.define(span, extent.to(span));
        }
    }

    pub(super) fn record_end_of_definition(&mut self) {
        if let Some(recorder) = self.recorder() {
            recorder.function = None;
        }
    }

    /// Records the use of a declared name.
    pub(super) fn record_use(&mut self, name: &Name, span: Span) {
        if self.recorder.is_none() || self.in_library {
            return;
        }
        let declared = self.scopes.iter().rev().find_map(|scope| scope.names.get(name)).map(|(_, declared)| *declared);
        let Some(recorder) = self.recorder() else { return };
        match declared {
            Some(declared) => recorder.refer(span, declared),
            None => recorder.note(span, Target::Predefined),
        }
    }

    /// Records the overload that a call refers to.
    pub(super) fn record_call(&mut self, id: FuncId, span: Span) {
        let declared = self.decls[id.index()].span;
        if let Some(recorder) = self.recorder() {
            recorder.refer(span, declared);
        }
    }

    /// Records a call of a built-in function, with the types of its arguments and of its result.
    pub(super) fn record_builtin(&mut self, name: &Name, span: Span, types: Option<(&[Ty], Ty)>) {
        if self.recorder.is_none() || self.in_library {
            return;
        }
        let call = types.map(|(arguments, result)| {
            let arguments: Vec<String> = arguments.iter().map(|ty| self.types.display(*ty)).collect();
            format!("{} ({})", self.types.display(result), arguments.join(", "))
        });
        if let Some(recorder) = self.recorder() {
            recorder.note(span, Target::Builtin { name: name.clone(), call });
        }
    }

    /// Records the tag of a type.
    pub(super) fn record_tag(&mut self, tagged: Tagged, kind: Kind, tag: &Ident, is_definition: bool) {
        if let Some(recorder) = self.recorder() {
            recorder.tag(tagged, kind, &tag.name, tag.span, is_definition);
        }
    }

    /// Records a declared member.
    pub(super) fn record_field(&mut self, id: RecordId, name: &Ident, ty: QualTy) {
        if self.recorder.is_none() || self.in_library {
            return;
        }
        let detail = self.declarator_text(Some(ty), &name.name);
        if let Some(recorder) = self.recorder() {
            recorder.member(id, &name.name, name.span, detail);
        }
    }

    /// Records the use of a member.
    pub(super) fn record_member(&mut self, id: RecordId, name: &Name, span: Span) {
        if self.recorder.is_none() || self.in_library {
            return;
        }
        let owner = self.member_owner(id, name).unwrap_or(id);
        if let Some(recorder) = self.recorder() {
            recorder.refer_to_member(span, owner, name);
        }
    }

    /// Returns the record that declares a member: the record itself or an anonymous record in it.
    fn member_owner(&self, id: RecordId, name: &str) -> Option<RecordId> {
        self.types.record(id).fields.iter().find_map(|field| match (&field.name, self.kind(field.ty.ty)) {
            (Some(own), _) => (**own == *name).then_some(id),
            (None, TyKind::Record(inner)) => self.member_owner(*inner, name),
            (None, _) => None,
        })
    }

    pub(super) fn record_swizzle(&mut self, span: Span, ty: Ty) {
        if self.recorder.is_none() || self.in_library {
            return;
        }
        let shown = self.types.display(ty);
        if let Some(recorder) = self.recorder() {
            recorder.note(span, Target::Swizzle(shown));
        }
    }

    pub(super) fn record_label(&mut self, name: &Ident, is_definition: bool) {
        if let Some(recorder) = self.recorder() {
            recorder.label(&name.name, name.span, is_definition);
        }
    }

    /// Offers the members of a type if the member name at a span is wanted.
    pub(super) fn offer_members(&mut self, ty: Ty, span: Span) {
        if !self.recorder().is_some_and(|recorder| recorder.wants(span)) {
            return;
        }
        let mut candidates = Vec::new();
        match *self.kind(ty) {
            TyKind::Record(id) => self.field_candidates(id, &mut candidates),
            TyKind::Vector(kind, lanes) => {
                let mut offer = |name: String, count: u8| {
                    let ty = if count == 1 { kind.name().to_owned() } else { format!("{}{count}", kind.name()) };
                    candidates.push(Candidate { name, ty, is_swizzle: true });
                };
                for lane in "xyzw".chars().take(usize::from(lanes)) {
                    offer(lane.to_string(), 1);
                }
                for (name, count) in [("xy", 2), ("xyz", 3), ("xyzw", 4)] {
                    if count <= lanes {
                        offer(name.to_owned(), count);
                    }
                }
                let half = if lanes == 3 { 2 } else { lanes / 2 };
                ["lo", "hi", "even", "odd"].into_iter().for_each(|name| offer(name.to_owned(), half));
                for lane in 0..lanes {
                    offer(format!("s{lane:x}"), 1);
                }
            }
            _ => {}
        }
        if let Some(recorder) = self.recorder() {
            recorder.offer(candidates);
        }
    }

    fn field_candidates(&self, id: RecordId, into: &mut Vec<Candidate>) {
        for field in &self.types.record(id).fields {
            match (&field.name, self.kind(field.ty.ty)) {
                (Some(name), _) => {
                    let ty = self.types.display_qual(field.ty);
                    into.push(Candidate { name: name.to_string(), ty, is_swizzle: false });
                }
                (None, TyKind::Record(inner)) => self.field_candidates(*inner, into),
                (None, _) => {}
            }
        }
    }
}

const fn space_name(space: Space) -> &'static str {
    match space {
        Space::Private => "__private",
        Space::Local => "__local",
        Space::Global => "__global",
        Space::Constant => "__constant",
        Space::Generic => "__generic",
    }
}
