//! Suggestions ("did you mean ...?"): declared names with a similar spelling.

use super::Sema;
use super::scope::Symbol;
use crate::builtins::table::{self, Overload};
use crate::diag::suggest::{Hint, nearest};
pub(super) use crate::parse::suggest::hint;
use crate::parse::suggest::{foreign, type_hint};
use crate::parse::types::predeclared_names;
use crate::thir::{RecordId, TyKind};

impl Sema<'_> {
    /// Returns the declared names whose symbols satisfy a condition.
    fn names_of(&self, wanted: impl Fn(&Symbol) -> bool) -> Vec<&str> {
        let names = self.scopes.iter().flat_map(|scope| &scope.names);
        names.filter(|(_, (symbol, _))| wanted(symbol)).map(|(name, _)| &**name).collect()
    }

    /// Returns a suggestion for a name in an expression, or an empty one.
    pub(super) fn suggest_name(&self, name: &str) -> Hint {
        if let Some(ours) = foreign(name) {
            return Hint::name(Some(ours));
        }
        let visible = |symbol: &Symbol| !matches!(symbol, Symbol::Typedef(_) | Symbol::Error);
        let mut names: Vec<&str> = self.names_of(visible);
        names.extend(crate::preprocess::predefined_names().map(|name| -> &str { name }));
        hint(name, names)
    }

    /// Returns a suggestion for the name of a called function, or an empty one.
    pub(super) fn suggest_function(&self, name: &str) -> Hint {
        if let Some(ours) = foreign(name) {
            return Hint::name(Some(ours));
        }
        let mut names = self.names_of(|symbol| matches!(symbol, Symbol::Functions(_)));
        let version = self.options.std.version();
        let offered = |overloads: &[Overload]| overloads.iter().any(|overload| overload.row.is_offered(version, self.target));
        names.extend(table::functions().filter(|(_, overloads)| offered(overloads)).map(|(name, _)| name));
        names.push("printf");
        if let found @ Some(_) = nearest(name, names) {
            return Hint::name(found);
        }
        // The type in the name may be misspelt, as in `convert_flaot4`.
        for prefix in ["convert_", "as_", "vload", "vstore"] {
            if !name.starts_with(prefix) {
                continue;
            }
            let widths = ["2", "3", "4", "8", "16"];
            let types: Vec<&str> = if prefix.starts_with('v') { widths.to_vec() } else { predeclared_names().collect() };
            let all: Vec<String> = types.into_iter().map(|ty| format!("{prefix}{ty}")).filter(|name| self.is_builtin(name)).collect();
            return Hint::name(nearest(name, all.iter().map(String::as_str)));
        }
        Hint::default()
    }

    /// Returns a suggestion for a type name, or an empty one.
    pub(super) fn suggest_type(&self, name: &str) -> Hint {
        type_hint(name, self.names_of(|symbol| matches!(symbol, Symbol::Typedef(_))))
    }

    /// Returns a suggestion for a member of a struct or union, or an empty one.
    pub(super) fn suggest_member(&self, id: RecordId, name: &str) -> Hint {
        let mut names = Vec::new();
        self.member_names(id, &mut names);
        hint(name, names.iter().map(|name| &**name))
    }

    fn member_names(&self, id: RecordId, into: &mut Vec<crate::ast::Name>) {
        for field in &self.types.record(id).fields {
            match (&field.name, self.kind(field.ty.ty)) {
                (Some(name), _) => into.push(name.clone()),
                (None, TyKind::Record(inner)) => self.member_names(*inner, into),
                (None, _) => {}
            }
        }
    }
}
