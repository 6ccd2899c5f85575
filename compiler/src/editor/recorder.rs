//! Records the names that `sema` declares and resolves.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::index::{Candidate, Declaration, Index, Kind, Target, Use};
use crate::ast::Name;
use crate::diag::{SourceMap, Span};
use crate::thir::{RecordId, Ty};

/// A type with a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Tagged {
    Record(RecordId),
    Enum(Ty),
}

/// The state of a recording.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    index: Index,
    /// Maps the name in each declaration to its index.
    at: FxHashMap<Span, usize>,
    uses: FxHashMap<Span, Target>,
    /// The declarations of the open scopes, except for those at program scope.
    scopes: Vec<Vec<usize>>,
    tags: FxHashMap<Tagged, usize>,
    members: FxHashMap<(RecordId, Name), usize>,
    labels: FxHashMap<Name, usize>,
    /// The function that contains the current declarations.
    pub(crate) function: Option<usize>,
    /// The position for which members are wanted.
    pub(crate) wanted: Option<u32>,
}

impl Recorder {
    /// Starts a recording. `wanted` is a position in a member name. The recorder lists the members that could replace
    /// this name.
    pub(crate) fn new(wanted: Option<u32>) -> Self {
        Self { wanted, ..Self::default() }
    }

    pub(crate) fn open_scope(&mut self) {
        self.scopes.push(Vec::new());
    }

    pub(crate) fn close_scope(&mut self, end: u32) {
        for closed in self.scopes.pop().unwrap_or_default() {
            if let Some(declaration) = self.index.declarations.get_mut(closed) {
                declaration.visible_to = end;
            }
        }
    }

    /// Records the declaration of a name. Returns its index.
    pub(crate) fn declare(&mut self, name: &Name, kind: Kind, span: Span, detail: String) -> usize {
        if let Some(known) = self.at.get(&span) {
            return *known;
        }
        let index = self.index.declarations.len();
        let container = self.function.filter(|_| !self.scopes.is_empty());
        self.index.declarations.push(Declaration {
            name: name.clone(),
            kind,
            span,
            detail,
            extent: span,
            visible_from: span.hi,
            visible_to: u32::MAX,
            container,
            parameters: Vec::new(),
        });
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(index);
        }
        self.at.insert(span, index);
        self.uses.insert(span, Target::Declaration(index));
        index
    }

    /// Records a function. `first` is the name in its first declaration.
    pub(crate) fn function(&mut self, name: &Name, (span, first): (Span, Span), is_kernel: bool, detail: String, parameters: Vec<String>) {
        let kind = if is_kernel { Kind::Kernel } else { Kind::Function };
        let index = match self.at.get(&first).copied() {
            Some(known) => {
                self.at.insert(span, known);
                self.uses.insert(span, Target::Declaration(known));
                known
            }
            None => self.declare(name, kind, span, detail),
        };
        if let Some(declaration) = self.index.declarations.get_mut(index) {
            declaration.parameters = parameters;
        }
    }

    /// Starts the definition of a function. Its name is at `span`.
    pub(crate) fn define(&mut self, span: Span, extent: Span) {
        self.labels.clear();
        self.function = self.at.get(&span).copied();
        if let Some(declaration) = self.function.and_then(|index| self.index.declarations.get_mut(index)) {
            declaration.span = span;
            declaration.extent = extent;
        }
    }

    /// Records the tag of a type, as a declaration if the type was not recorded before.
    pub(crate) fn tag(&mut self, tagged: Tagged, kind: Kind, name: &Name, span: Span, is_definition: bool) -> usize {
        let index = match self.tags.get(&tagged).copied() {
            Some(known) => {
                self.uses.insert(span, Target::Declaration(known));
                known
            }
            None => {
                let word = match kind {
                    Kind::Union => "union",
                    Kind::Enum => "enum",
                    _ => "struct",
                };
                let index = self.declare(name, kind, span, format!("{word} {name}"));
                self.tags.insert(tagged, index);
                index
            }
        };
        if let (true, Some(declaration)) = (is_definition, self.index.declarations.get_mut(index)) {
            declaration.span = span;
            declaration.extent = span;
        }
        index
    }

    /// Records a member of a record.
    pub(crate) fn member(&mut self, record: RecordId, name: &Name, span: Span, detail: String) {
        let index = self.declare(name, Kind::Member, span, detail);
        let container = self.tags.get(&Tagged::Record(record)).copied();
        if let Some(declaration) = self.index.declarations.get_mut(index) {
            declaration.container = container;
        }
        self.contain(container, span);
        self.members.insert((record, name.clone()), index);
    }

    /// Makes the members of a record without a tag parts of its first typedef.
    pub(crate) fn name_record(&mut self, record: RecordId, typedef: usize) {
        if self.tags.contains_key(&Tagged::Record(record)) {
            return;
        }
        self.tags.insert(Tagged::Record(record), typedef);
        let members: Vec<usize> = self.members.iter().filter(|((owner, _), _)| *owner == record).map(|(_, index)| *index).collect();
        for member in members {
            let Some(declaration) = self.index.declarations.get_mut(member) else { continue };
            declaration.container = Some(typedef);
            let span = declaration.span;
            self.contain(Some(typedef), span);
        }
    }

    /// Makes the declaration at a span a part of another declaration.
    pub(crate) fn put_into(&mut self, container: usize, span: Span) {
        let index = self.at.get(&span).copied();
        if let Some(declaration) = index.and_then(|index| self.index.declarations.get_mut(index)) {
            declaration.container = Some(container);
            self.contain(Some(container), span);
        }
    }

    fn contain(&mut self, container: Option<usize>, span: Span) {
        if let Some(outer) = container.and_then(|index| self.index.declarations.get_mut(index)) {
            outer.extent = outer.extent.to(span);
        }
    }

    /// Records a label or its use.
    pub(crate) fn label(&mut self, name: &Name, span: Span, is_definition: bool) {
        let index = match self.labels.get(name).copied() {
            Some(known) => known,
            None => {
                let index = self.declare(name, Kind::Label, span, format!("{name}:"));
                self.labels.insert(name.clone(), index);
                index
            }
        };
        self.uses.insert(span, Target::Declaration(index));
        if let (true, Some(declaration)) = (is_definition, self.index.declarations.get_mut(index)) {
            (declaration.span, declaration.extent) = (span, span);
        }
    }

    /// Records a use of the name that is declared at `declared`.
    pub(crate) fn refer(&mut self, span: Span, declared: Span) {
        if let Some(index) = self.at.get(&declared) {
            self.uses.insert(span, Target::Declaration(*index));
        }
    }

    pub(crate) fn refer_to_member(&mut self, span: Span, record: RecordId, name: &Name) {
        if let Some(index) = self.members.get(&(record, name.clone())) {
            self.uses.insert(span, Target::Declaration(*index));
        }
    }

    pub(crate) fn note(&mut self, span: Span, target: Target) {
        self.uses.insert(span, target);
    }

    /// Whether the members at this span are wanted.
    pub(crate) fn wants(&self, span: Span) -> bool {
        self.wanted.is_some_and(|wanted| span.lo <= wanted && wanted <= span.hi)
    }

    pub(crate) fn offer(&mut self, candidates: Vec<Candidate>) {
        self.index.members = candidates;
    }

    /// Ends the recording. Adds the macros of the source map. Removes names that are not at their span, which come from
    /// the replacement list of a macro.
    pub(crate) fn finish(mut self, map: &SourceMap) -> Index {
        for (span, name, definition) in map.macro_names() {
            if *definition == Span::NONE {
                self.uses.insert(*span, Target::Predefined);
            } else if span == definition {
                let detail = format!("#define {}", map.line_from(*span));
                self.macro_definition(name, *span, detail);
            } else {
                self.refer(*span, *definition);
            }
        }
        let is_written = |span: Span, name: &str| map.has_text(span, name);
        let Index { declarations, .. } = &self.index;
        let mut uses: Vec<Use> = std::mem::take(&mut self.uses)
            .into_iter()
            .filter(|(span, target)| match target {
                Target::Declaration(index) => declarations.get(*index).is_some_and(|found| is_written(*span, &found.name)),
                Target::Builtin { name, .. } => is_written(*span, name),
                Target::Swizzle(_) | Target::Predefined => *span != Span::NONE,
            })
            .map(|(span, target)| Use { span, target })
            .collect();
        uses.sort_by_key(|found| found.span);
        self.index.uses = uses;
        self.index
    }

    fn macro_definition(&mut self, name: &Arc<str>, span: Span, detail: String) {
        let scopes = std::mem::take(&mut self.scopes);
        self.function = None;
        self.declare(name, Kind::Macro, span, detail);
        self.scopes = scopes;
    }
}
