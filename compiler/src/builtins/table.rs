//! The table of built-in functions (OpenCL C 6.15).
//!
//! An overload has a name, a signature in the notation of [`signature`](super::signature), the versions and devices
//! that have it, and an implementation. A row describes several overloads. [`rows`] has a file for each group of
//! sections of the specification. `sema::overloads` resolves calls.
//!
//! # Names
//! A row contains the names of functions that are equal in all other properties, separated by blanks.
//!
//! | in a name | meaning |
//! |---|---|
//! | `vload{2,3,4}` | a function for each number, which is the value of `#` in the signature; an empty number is 1 |
//! | `reduce_%` | a function for each operation of the row |
//! | `atomic_load[_explicit]` | two functions; the first has neither order nor scope |
//!
//! The table does not contain functions whose parameter types depend on more than the argument types. Separate modules
//! check these: `sema::families` (`convert_T`, `as_T` and `printf`), `sema::pipes` and `sema::enqueue`.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::signature::Signature;
use super::{Combine, Intrinsic, rows};
use crate::ast::ScalarKind;
use crate::target::Target;

/// The implementation of a built-in function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Implementation {
    /// An operation that [`lower`](crate::lower) expands.
    Intrinsic(Intrinsic),
    /// An operation that depends on the generic type.
    ByKind(fn(ScalarKind) -> Intrinsic),
    /// One function for each of these operations. The name of the operation replaces `%`.
    Combine(&'static [Combine], fn(Combine) -> Intrinsic),
    /// The scalar library function with the same name, called once per lane.
    Library,
}

/// Functions with the same signatures.
#[derive(Debug)]
pub(crate) struct Row {
    pub(super) names: &'static str,
    /// Signatures in order of preference.
    pub(super) signatures: &'static [&'static str],
    pub(super) implementation: Implementation,
    /// Minimum version of OpenCL C, as in `__OPENCL_C_VERSION__`.
    pub(super) since: u32,
    /// The extension that provides the functions.
    pub(crate) extension: Option<&'static str>,
    /// A further condition, on the version and the device.
    pub(super) condition: Option<fn(u32, &Target) -> bool>,
}

impl Row {
    /// Whether the language version and the device have the functions.
    pub(crate) fn is_offered(&self, version: u32, target: &Target) -> bool {
        version >= self.since
            && self.extension.is_none_or(|wanted| target.has_extension(wanted))
            && self.condition.is_none_or(|holds| holds(version, target))
    }
}

const fn row(names: &'static str, implementation: Implementation, signatures: &'static [&'static str]) -> Row {
    Row { names, signatures, implementation, since: 100, extension: None, condition: None }
}

pub(super) const fn intrinsic(names: &'static str, intrinsic: Intrinsic, signatures: &'static [&'static str]) -> Row {
    row(names, Implementation::Intrinsic(intrinsic), signatures)
}

pub(super) const fn by_kind(names: &'static str, choose: fn(ScalarKind) -> Intrinsic, signatures: &'static [&'static str]) -> Row {
    row(names, Implementation::ByKind(choose), signatures)
}

pub(super) const fn combine(
    names: &'static str,
    operations: &'static [Combine],
    choose: fn(Combine) -> Intrinsic,
    signatures: &'static [&'static str],
) -> Row {
    row(names, Implementation::Combine(operations, choose), signatures)
}

pub(super) const fn library(names: &'static str, signatures: &'static [&'static str]) -> Row {
    row(names, Implementation::Library, signatures)
}

pub(super) const fn since(since: u32, row: Row) -> Row {
    Row { since, ..row }
}

pub(super) const fn extension(name: &'static str, row: Row) -> Row {
    Row { extension: Some(name), ..row }
}

pub(super) const fn when(condition: fn(u32, &Target) -> bool, row: Row) -> Row {
    Row { condition: Some(condition), ..row }
}

/// A function of the table with one of its signatures.
#[derive(Debug)]
pub(crate) struct Overload {
    pub(crate) row: &'static Row,
    text: &'static str,
    /// The operation in the name.
    combine: Option<Combine>,
    /// The number in the name.
    pub(crate) lanes: Option<u8>,
    /// For a function of a pair with and without `_explicit`: whether the function has that suffix.
    pub(crate) is_explicit: Option<bool>,
    /// The parsed signature, and whether an order was omitted. Parsed on first use.
    signature: OnceLock<Box<(Signature, bool)>>,
}

impl Overload {
    fn parsed(&self) -> &(Signature, bool) {
        self.signature.get_or_init(|| {
            let mut signature = Signature::parse(self.text).unwrap_or_else(Signature::none);
            let omits_order = self.is_explicit == Some(false) && signature.omit_order();
            Box::new((signature, omits_order))
        })
    }

    pub(crate) fn signature(&self) -> &Signature {
        &self.parsed().0
    }

    /// Whether the operation has a memory order parameter and the function does not.
    pub(crate) fn omits_order(&self) -> bool {
        self.parsed().1
    }

    /// Returns the operation for a generic type, or `None` for a library function.
    pub(crate) fn operation(&self, kind: ScalarKind) -> Option<Intrinsic> {
        match self.row.implementation {
            Implementation::Intrinsic(intrinsic) => Some(intrinsic),
            Implementation::ByKind(choose) => Some(choose(kind)),
            Implementation::Combine(_, choose) => self.combine.map(choose),
            Implementation::Library => None,
        }
    }
}

type Index = FxHashMap<Cow<'static, str>, SmallVec<[Overload; 1]>>;

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    // There are about 500 names, so the map does not grow.
    let mut index = Index::with_capacity_and_hasher(512, FxBuildHasher);
    for row in rows::all() {
        for names in row.names.split_ascii_whitespace() {
            add(&mut index, row, names);
        }
    }
    index
});

/// Adds the functions of one name in a row, which may be several.
fn add(index: &mut Index, row: &'static Row, name: &'static str) {
    let mut put = |name: Cow<'static, str>, combine, lanes, is_explicit| {
        let overload = |text: &&'static str| Overload { row, text, combine, lanes, is_explicit, signature: OnceLock::new() };
        index.entry(name).or_default().extend(row.signatures.iter().map(overload));
    };
    if let Implementation::Combine(operations, _) = row.implementation {
        for operation in operations {
            put(name.replace('%', operation.name()).into(), Some(*operation), None, None);
        }
    } else if let Some((stem, (numbers, rest))) = name.split_once('{').and_then(|(stem, rest)| Some((stem, rest.split_once('}')?))) {
        for number in numbers.split(',') {
            put([stem, number, rest].concat().into(), None, Some(number.parse().unwrap_or(1)), None);
        }
    } else if let Some(plain) = name.strip_suffix("[_explicit]") {
        put(plain.into(), None, None, Some(false));
        put([plain, "_explicit"].concat().into(), None, None, Some(true));
    } else {
        put(name.into(), None, None, None);
    }
}

/// Returns the overloads of a function on all devices. Empty if the table does not contain the name.
pub(crate) fn find(name: &str) -> &'static [Overload] {
    INDEX.get(name).map_or(&[], |overloads| overloads.as_slice())
}

/// Returns the names of the functions with floating-point parameters (6.15.2 to 6.15.6), whose accuracy the
/// specification defines.
pub fn functions_of_floats() -> impl Iterator<Item = &'static str> {
    let of_floats = |text: &&str| Signature::parse(text).is_some_and(|signature| signature.class.contains(&ScalarKind::Float));
    let rows = rows::numbers::ROWS.iter().filter(move |row| row.signatures.iter().any(of_floats));
    rows.flat_map(|row| row.names.split_whitespace())
}

/// Returns the name and the overloads of each function of the table.
pub(crate) fn functions() -> impl Iterator<Item = (&'static str, &'static [Overload])> {
    INDEX.iter().map(|(name, overloads)| (&**name, overloads.as_slice()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Signature, functions};
    use crate::builtins::signature::Type;

    #[test]
    fn all_signatures_are_valid() {
        for (name, overloads) in functions() {
            for overload in overloads {
                let signature = Signature::parse(overload.text);
                assert!(signature.is_some(), "{name}: {}", overload.text);
                let holes = signature
                    .map_or(0, |signature| signature.params.iter().filter(|slot| slot.ty == Type::Void && slot.pointer.is_none()).count());
                assert_eq!(holes, 0, "{name}: {}", overload.text);
            }
        }
    }

    #[test]
    fn overloads_have_different_signatures() {
        for (name, overloads) in functions() {
            let mut seen = BTreeSet::new();
            for overload in overloads {
                assert!(seen.insert(overload.text), "{name}: {} twice", overload.text);
                assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{name}");
            }
        }
    }
}
