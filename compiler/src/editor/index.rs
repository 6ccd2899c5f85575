//! The declarations of a source, and the uses of names.

use std::sync::Arc;

use crate::diag::Span;

/// The kind of a declared object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Function,
    Kernel,
    Parameter,
    /// A private variable, or a `__local` variable of a kernel.
    Variable,
    /// A variable with static storage.
    Global,
    Typedef,
    Struct,
    Union,
    Enum,
    Enumerator,
    Member,
    Label,
    Macro,
}

/// The declaration of a name.
#[derive(Clone, Debug)]
pub struct Declaration {
    pub name: Arc<str>,
    pub kind: Kind,
    /// The name in the declaration. If there are several declarations, the name in the definition.
    pub span: Span,
    /// The declaration on one line, for example `__global float *data`.
    pub detail: String,
    /// The whole declaration as far as it is known. It contains `span`.
    pub extent: Span,
    /// The first position at which the name is visible.
    pub visible_from: u32,
    /// The end of the scope of the name.
    pub visible_to: u32,
    /// The index of the function, record or enumeration that contains the declaration.
    pub container: Option<usize>,
    /// The types of the parameters of a function, as text with their names.
    pub parameters: Vec<String>,
}

/// The object that a name refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The index of a declaration in [`Index::declarations`].
    Declaration(usize),
    /// A built-in function, and the types of a call, as in `float4 (float4, float4)`.
    Builtin { name: Arc<str>, call: Option<String> },
    /// Components of a vector. The text is the type of the expression.
    Swizzle(String),
    /// A predefined macro, type or constant.
    Predefined,
}

/// A name in the source that refers to a declaration or to a built-in.
#[derive(Clone, Debug)]
pub struct Use {
    pub span: Span,
    pub target: Target,
}

/// A member that can follow `.` or `->`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub name: String,
    /// The type of the member.
    pub ty: String,
    /// Whether the name selects components of a vector.
    pub is_swizzle: bool,
}

/// The names of a source.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub declarations: Vec<Declaration>,
    /// Sorted by position. Each declaration is also a use of itself.
    pub uses: Vec<Use>,
    /// The members at the position for which [`crate::front::FrontEnd::index`] was called.
    pub members: Vec<Candidate>,
}

impl Index {
    /// Returns the use that contains a position or ends there. Returns `None` if there is no name.
    pub fn use_at(&self, position: u32) -> Option<&Use> {
        let after = self.uses.partition_point(|found| found.span.lo <= position);
        self.uses.get(..after)?.iter().rev().take(2).find(|found| found.span.hi >= position)
    }

    /// Returns the declarations that are visible at a position. A declaration hides earlier ones with the same name.
    pub fn visible_at(&self, position: u32) -> Vec<&Declaration> {
        let is_ordinary = |kind| !matches!(kind, Kind::Member | Kind::Label | Kind::Struct | Kind::Union | Kind::Enum);
        let is_visible = |found: &&Declaration| is_ordinary(found.kind) && found.visible_from <= position && position <= found.visible_to;
        let mut names = rustc_hash::FxHashSet::default();
        let visible = self.declarations.iter().rev().filter(is_visible);
        visible.filter(|found| names.insert(&*found.name)).collect()
    }
}
