//! `__has_include`, `__has_builtin` and similar operators of `#if`, as in clang and gcc.

use crate::lex::Punct;
use crate::lex::interner::Symbol;
use crate::lex::raw::{RawKind, RawToken};

use super::Preprocessor;

/// A feature check operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Query {
    Include,
    Attribute,
    Builtin,
    /// clang's features, extensions and warnings. The result is always 0.
    Feature,
}

impl Query {
    /// Returns the operator with this name, or `None` for other names.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "__has_include" | "__has_include_next" => Self::Include,
            "__has_attribute" | "__has_c_attribute" | "__has_declspec_attribute" => Self::Attribute,
            "__has_builtin" => Self::Builtin,
            "__has_feature" | "__has_extension" | "__has_warning" => Self::Feature,
            _ => return None,
        })
    }
}

impl Preprocessor<'_> {
    /// Whether `defined` and `#ifdef` are true for a name: it is a macro or a feature check operator.
    pub(super) fn is_defined(&mut self, name: Symbol) -> bool {
        self.macro_of(name).is_some() || Query::of(self.interner.name(name)).is_some()
    }

    /// Evaluates an operator on the tokens between its parentheses. Returns `None` if they are not a valid operand.
    pub(super) fn evaluate_query(&mut self, query: Query, inner: &[RawToken]) -> Option<bool> {
        let first = inner.first()?;
        if query == Query::Include {
            let text = self.spelling(*first);
            if first.kind == RawKind::Str {
                let name = text.get(1..text.len().checked_sub(1)?)?.to_owned();
                return Some(self.has_header(&name, false));
            }
            let [_, name @ .., last] = inner else { return None };
            if !first.is(Punct::Lt) || !last.is(Punct::Gt) {
                return None;
            }
            let name: String = name.iter().map(|token| self.spelling(*token)).collect();
            return Some(self.has_header(&name, true));
        }
        if first.kind != RawKind::Ident {
            return Some(false);
        }
        let name = self.spelling(*first);
        Some(match query {
            Query::Attribute => crate::builtins::attributes::is_known(name.trim_matches('_')),
            Query::Builtin => crate::builtins::is_known(name),
            Query::Feature | Query::Include => false,
        })
    }
}
