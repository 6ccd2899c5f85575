//! Groups of warnings, and the build options that select them: `-w`, `-WNAME`, `-Wno-NAME`, `-Werror`,
//! `-Wno-error`, `-Werror=NAME` and `-Wno-error=NAME`. The names and their meaning are those of clang 19.

use super::{Diagnostic, Severity};

/// A group of warnings. A warning without a group has none in clang either, and only `-w` and `-Wno-everything` disable
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningGroup {
    ArrayBounds,
    C23Extensions,
    CompareDistinctPointerTypes,
    ConditionalTypeMismatch,
    ConstantConversion,
    DivisionByZero,
    DuplicateDeclSpecifier,
    EmptyBody,
    ExcessInitializers,
    ExtraTokens,
    Format,
    FormatExtraArgs,
    FormatInsufficientArgs,
    FormatInvalidSpecifier,
    GnuFoldingConstant,
    IgnoredPragmas,
    ImplicitlyUnsignedLiteral,
    IncompatiblePointerTypes,
    IncompatiblePointerTypesDiscardsQualifiers,
    LiteralConversion,
    LiteralRange,
    LogicalNotParentheses,
    MacroRedefined,
    MissingDeclarations,
    Multichar,
    OpenclUnsupportedRgba,
    Parentheses,
    Pedantic,
    PointerIntegerCompare,
    PointerTypeMismatch,
    PragmaMessages,
    PragmaOnceOutsideHeader,
    ReturnType,
    ShiftOpParentheses,
    TautologicalCompare,
    TautologicalConstantOutOfRangeCompare,
    TentativeDefinitionArray,
    Trigraphs,
    Uninitialized,
    UnknownAttributes,
    UnknownEscapeSequence,
    UnknownPragmas,
    UnreachableCodeGenericAssoc,
    UnusedComparison,
    UnusedValue,
    UserWarnings,
}

use WarningGroup::*;

/// All groups, in order: the name, and the names of larger groups that contain the group.
const GROUPS: &[(WarningGroup, &str, &[&str])] = &[
    (ArrayBounds, "array-bounds", &[]),
    (C23Extensions, "c23-extensions", &[]),
    (CompareDistinctPointerTypes, "compare-distinct-pointer-types", &[]),
    (ConditionalTypeMismatch, "conditional-type-mismatch", &[]),
    (ConstantConversion, "constant-conversion", &["conversion"]),
    (DivisionByZero, "division-by-zero", &[]),
    (DuplicateDeclSpecifier, "duplicate-decl-specifier", &[]),
    (EmptyBody, "empty-body", &[]),
    (ExcessInitializers, "excess-initializers", &[]),
    (ExtraTokens, "extra-tokens", &["all", "most"]),
    (Format, "format", &["all", "most"]),
    (FormatExtraArgs, "format-extra-args", &["all", "format", "most"]),
    (FormatInsufficientArgs, "format-insufficient-args", &["all", "format", "most"]),
    (FormatInvalidSpecifier, "format-invalid-specifier", &["all", "format", "most"]),
    (GnuFoldingConstant, "gnu-folding-constant", &["gnu", "pedantic"]),
    (IgnoredPragmas, "ignored-pragmas", &["pragmas"]),
    (ImplicitlyUnsignedLiteral, "implicitly-unsigned-literal", &[]),
    (IncompatiblePointerTypes, "incompatible-pointer-types", &[]),
    (IncompatiblePointerTypesDiscardsQualifiers, "incompatible-pointer-types-discards-qualifiers", &["incompatible-pointer-types"]),
    (LiteralConversion, "literal-conversion", &["conversion"]),
    (LiteralRange, "literal-range", &[]),
    (LogicalNotParentheses, "logical-not-parentheses", &["all", "parentheses"]),
    (MacroRedefined, "macro-redefined", &[]),
    (MissingDeclarations, "missing-declarations", &[]),
    (Multichar, "multichar", &["all", "most"]),
    (OpenclUnsupportedRgba, "opencl-unsupported-rgba", &[]),
    (Parentheses, "parentheses", &["all"]),
    (Pedantic, "pedantic", &[]),
    (PointerIntegerCompare, "pointer-integer-compare", &[]),
    (PointerTypeMismatch, "pointer-type-mismatch", &[]),
    (PragmaMessages, "#pragma-messages", &[]),
    (PragmaOnceOutsideHeader, "pragma-once-outside-header", &[]),
    (ReturnType, "return-type", &["all", "most"]),
    (ShiftOpParentheses, "shift-op-parentheses", &["all", "parentheses"]),
    (TautologicalCompare, "tautological-compare", &["all", "most"]),
    (
        TautologicalConstantOutOfRangeCompare,
        "tautological-constant-out-of-range-compare",
        &["all", "most", "tautological-compare", "tautological-constant-compare"],
    ),
    (TentativeDefinitionArray, "tentative-definition-array", &[]),
    (Trigraphs, "trigraphs", &["all", "comment", "most"]),
    (Uninitialized, "uninitialized", &["all", "most"]),
    (UnknownAttributes, "unknown-attributes", &["attributes"]),
    (UnknownEscapeSequence, "unknown-escape-sequence", &[]),
    (UnknownPragmas, "unknown-pragmas", &["all", "most", "pragmas"]),
    (UnreachableCodeGenericAssoc, "unreachable-code-generic-assoc", &[]),
    (UnusedComparison, "unused-comparison", &["all", "most", "unused", "unused-value"]),
    (UnusedValue, "unused-value", &["all", "most", "unused"]),
    (UserWarnings, "#warnings", &[]),
];

/// Groups of clang that contain no warning of wgcl.
const EMPTY: &[&str] = &["default", "extra"];

impl WarningGroup {
    /// Returns clang's name, such as `unused-value`. The option is this name after `-W`.
    pub fn name(self) -> &'static str {
        GROUPS.get(self as usize).map_or("", |&(_, name, _)| name)
    }

    const fn bit(self) -> u64 {
        1 << self as u32
    }
}

/// Returns the names of all groups.
pub fn warning_group_names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().map(|&(_, name, _)| name)
}

/// Returns the set of groups that a name selects, or `None` if wgcl has no such group.
fn members(name: &str) -> Option<u64> {
    if name == "everything" {
        return Some(u64::MAX);
    }
    let found = GROUPS.iter().filter(|(_, own, larger)| *own == name || larger.contains(&name));
    let set = found.fold(0, |set, (group, ..)| set | group.bit());
    (set != 0 || EMPTY.contains(&name)).then_some(set)
}

/// Which warnings are reported, and which of them are errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarningLevels {
    /// Whether no warning is reported (`-w`).
    pub none: bool,
    /// Whether warnings are errors (`-Werror`).
    pub are_errors: bool,
    /// Sets of groups, one bit for each group. The highest bit is for warnings without a group.
    disabled: u64,
    errors: u64,
    never_errors: u64,
}

impl WarningLevels {
    /// The levels that report no warning (`-w`).
    pub const NONE: Self = Self { none: true, are_errors: false, disabled: 0, errors: 0, never_errors: 0 };

    /// Applies an option that starts with `-W`. Later options override earlier ones. Returns false if wgcl does not
    /// have the group.
    pub fn apply(&mut self, option: &str) -> bool {
        let name = option.strip_prefix("-W").unwrap_or(option);
        let (name, effect): (&str, fn(&mut Self, u64)) = if name == "error" || name == "no-error" {
            self.are_errors = name == "error";
            return true;
        } else if let Some(name) = name.strip_prefix("error=") {
            (name, |levels, set| {
                (levels.disabled, levels.errors, levels.never_errors) =
                    (levels.disabled & !set, levels.errors | set, levels.never_errors & !set)
            })
        } else if let Some(name) = name.strip_prefix("no-error=") {
            (name, |levels, set| (levels.errors, levels.never_errors) = (levels.errors & !set, levels.never_errors | set))
        } else if let Some(name) = name.strip_prefix("no-") {
            (name, |levels, set| levels.disabled |= set)
        } else {
            (name, |levels, set| levels.disabled &= !set)
        };
        members(name).map(|set| effect(self, set)).is_some()
    }

    /// Returns the severity of a diagnostic. `None` if it is not reported.
    pub fn severity(&self, diagnostic: &Diagnostic) -> Option<Severity> {
        if diagnostic.severity != Severity::Warning {
            return Some(diagnostic.severity);
        }
        let bit = diagnostic.group.map_or(1 << 63, WarningGroup::bit);
        if self.none || self.disabled & bit != 0 {
            return None;
        }
        let is_error = self.errors & bit != 0 || self.are_errors && self.never_errors & bit == 0;
        Some(if is_error { Severity::Error } else { Severity::Warning })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Span;

    #[test]
    fn every_group_has_its_row() {
        for (index, &(group, name, _)) in GROUPS.iter().enumerate() {
            assert_eq!(group as usize, index);
            assert_eq!(group.name(), name);
            assert!(index < 63, "the highest bit is for warnings without a group");
        }
    }

    /// Returns the severities of a warning of `unused-value` and of one without a group.
    fn severities(options: &str) -> [Option<Severity>; 2] {
        let mut levels = WarningLevels::default();
        for option in options.split_whitespace() {
            assert!(levels.apply(option), "{option}");
        }
        [Some(UnusedValue), None].map(|group| levels.severity(&Diagnostic::warning(group, Span::NONE, "odd")))
    }

    #[test]
    fn later_options_override_earlier_ones() {
        let (warning, error) = (Some(Severity::Warning), Some(Severity::Error));
        for (options, expected) in [
            ("", [warning, warning]),
            ("-Wno-unused-value", [None, warning]),
            ("-Wno-unused", [None, warning]),
            ("-Wno-unused -Wall", [warning, warning]),
            ("-Wno-everything", [None, None]),
            ("-Wno-everything -Wunused-value", [warning, None]),
            ("-Wno-unused-comparison -Wno-parentheses", [warning, warning]),
            ("-Werror", [error, error]),
            ("-Werror -Wno-error", [warning, warning]),
            ("-Werror=unused-value", [error, warning]),
            ("-Wno-unused-value -Werror=unused-value", [error, warning]),
            ("-Werror=unused-value -Wno-unused-value", [None, warning]),
            ("-Werror -Wno-error=unused", [warning, error]),
            ("-Wno-error=unused -Werror", [warning, error]),
            ("-Wno-error=unused -Werror=unused", [error, warning]),
            ("-Wextra -Wpedantic -Wdefault", [warning, warning]),
        ] {
            assert_eq!(severities(options), expected, "{options}");
        }
        assert_eq!(WarningLevels::NONE.severity(&Diagnostic::warning(None, Span::NONE, "odd")), None);
    }

    #[test]
    fn unknown_names_have_no_effect() {
        for option in ["-Wunused-variable", "-Wno-unused-variable", "-Werror=foo", "-W", "-Wno-", "-Wno-error="] {
            let mut levels = WarningLevels::default();
            assert!(!levels.apply(option), "{option}");
            assert_eq!(levels, WarningLevels::default());
        }
    }
}
