//! Scopes of names. The grammar of C requires the parser to know which names are types.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ast::Name;

use super::types;

/// The kind of the declaration of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    /// A typedef. `vector` is true for a vector type.
    Type { vector: bool },
    /// A variable, function or enumerator.
    Value,
}

/// The declarations of all current scopes. Each name has a list of scope depths and kinds, innermost last.
#[derive(Debug)]
pub(super) struct Scopes {
    names: FxHashMap<Name, SmallVec<[(u32, NameKind); 1]>>,
    /// The names declared in the nested scopes, outermost first, to remove them at the end of their scope.
    declared: Vec<Name>,
    /// The index in `declared` at which each nested scope starts.
    starts: Vec<usize>,
}

impl Scopes {
    /// Creates the file scope.
    pub(super) fn new() -> Self {
        Self { names: FxHashMap::default(), declared: Vec::new(), starts: Vec::new() }
    }

    fn depth(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn push(&mut self) {
        self.starts.push(self.declared.len());
    }

    pub(super) fn pop(&mut self) {
        let Some(start) = self.starts.pop() else { return };
        for name in self.declared.drain(start..) {
            if let Some(stack) = self.names.get_mut(&name) {
                stack.pop();
            }
        }
    }

    pub(super) fn declare(&mut self, name: &Name, meaning: NameKind) {
        let depth = self.depth();
        let stack = self.names.entry(name.clone()).or_default();
        match stack.last_mut() {
            Some(last) if last.0 == depth => last.1 = meaning,
            _ => {
                stack.push((depth, meaning));
                if depth > 0 {
                    self.declared.push(name.clone());
                }
            }
        }
    }

    /// Looks up a declared or predeclared name. Returns `None` for other names.
    pub(super) fn meaning(&self, name: &str) -> Option<NameKind> {
        if let Some((_, meaning)) = self.names.get(name).and_then(|stack| stack.last()) {
            return Some(*meaning);
        }
        types::predeclared(name).map(|ty| NameKind::Type { vector: matches!(ty, types::Predeclared::Vector(..)) })
    }

    pub(super) fn is_type(&self, name: &str) -> bool {
        matches!(self.meaning(name), Some(NameKind::Type { .. }))
    }

    /// Returns the names of the types that the source declares.
    pub(super) fn declared_types(&self) -> impl Iterator<Item = &str> {
        let is_type = |stack: &SmallVec<[(u32, NameKind); 1]>| matches!(stack.last(), Some((_, NameKind::Type { .. })));
        self.names.iter().filter(move |(_, stack)| is_type(stack)).map(|(name, _)| &**name)
    }

    /// Whether the source declares the name. The declaration hides a predeclared type.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|stack| !stack.is_empty())
    }
}
