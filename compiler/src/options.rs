//! Inputs of a build: sources and build options (OpenCL API 5.8.6 "Compiler Options", 5.8.7 "Linker Options").

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::diag::WarningLevels;

/// A source and its embedded headers (clCompileProgram).
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The concatenated strings of clCreateProgramWithSource.
    pub text: String,
    /// The name in diagnostics. If this is `None`, the name is `<source>`.
    pub name: Option<String>,
    /// Maps names in `#include` to the texts of headers.
    pub headers: BTreeMap<String, String>,
}

/// The OpenCL C version of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CStd {
    /// OpenCL C 1.0. The value of `__OPENCL_C_VERSION__` is the only difference from 1.1.
    Cl10,
    Cl11,
    /// `-cl-std=CL1.2`, the default.
    Cl12,
    Cl20,
    Cl30,
    /// `-cl-std=CL3.1`, for devices that support it ([`crate::target::Language::supports_opencl_c_31`]).
    Cl31,
}

impl CStd {
    /// Returns the version number as text, such as `1.2`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cl10 => "1.0",
            Self::Cl11 => "1.1",
            Self::Cl12 => "1.2",
            Self::Cl20 => "2.0",
            Self::Cl30 => "3.0",
            Self::Cl31 => "3.1",
        }
    }

    /// Returns the value of `__OPENCL_C_VERSION__`, such as 120.
    pub const fn version(self) -> u32 {
        match self {
            Self::Cl10 => 100,
            Self::Cl11 => 110,
            Self::Cl12 => 120,
            Self::Cl20 => 200,
            Self::Cl30 => 300,
            Self::Cl31 => 310,
        }
    }
}

/// Parsed build options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildOptions {
    /// `-D name[=value]` and `-U name`, in order. The value is `None` for `-U`.
    pub macros: Vec<(String, Option<String>)>,
    /// `-I dir`, in order.
    pub include_dirs: Vec<std::path::PathBuf>,
    pub std: CStd,
    /// `-w`, `-W...` and `-Werror`.
    pub warnings: WarningLevels,
    /// Options that start with `-W` and name a group that wgcl does not have, except `-Wno-NAME`. They have no effect.
    pub unknown_warnings: Vec<String>,
    pub opt_disable: bool,
    /// `-cl-mad-enable`. Also set by `-cl-unsafe-math-optimizations` and `-cl-fast-relaxed-math`.
    pub mad_enable: bool,
    /// `-cl-no-signed-zeros`. Also set by `-cl-unsafe-math-optimizations` and `-cl-fast-relaxed-math`.
    pub no_signed_zeros: bool,
    pub unsafe_math: bool,
    pub finite_math_only: bool,
    /// `-cl-fast-relaxed-math`. Also sets `mad_enable`, `no_signed_zeros`, `unsafe_math` and `finite_math_only`, and
    /// defines `__FAST_RELAXED_MATH__`.
    pub fast_relaxed_math: bool,
    pub denorms_are_zero: bool,
    pub single_precision_constant: bool,
    pub correctly_rounded_divide_sqrt: bool,
    pub uniform_work_group_size: bool,
    pub kernel_arg_info: bool,
    pub debug_info: bool,
    /// Whether another translation unit may define functions and variables. Set by [`crate::build::compile`], and for
    /// functions that are compiled for use in other modules.
    pub open_references: bool,
}

impl BuildOptions {
    /// Whether the last work-groups of an NDRange may be smaller than the others.
    pub(crate) fn non_uniform_groups(&self) -> bool {
        self.std >= CStd::Cl20 && !self.uniform_work_group_size
    }
}

/// An invalid option string: CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMPILER_OPTIONS, or exit status 2 of `wgclc`.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum OptionError {
    #[error("unknown build option `{0}`")]
    Unknown(String),
    #[error("build option `{0}` requires an argument")]
    MissingArgument(String),
    /// A quote without a closing quote. The text is the unfinished word.
    #[error("unterminated quote in build options: `{0}`")]
    UnterminatedQuote(String),
    #[error("build option `{option}`: invalid argument `{value}`; expected {expected}")]
    InvalidArgument {
        /// The option as written, such as `-D`.
        option: String,
        value: String,
        /// The valid arguments, as text.
        expected: &'static str,
    },
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            macros: Vec::new(),
            include_dirs: Vec::new(),
            std: CStd::Cl12,
            warnings: WarningLevels::default(),
            unknown_warnings: Vec::new(),
            opt_disable: false,
            mad_enable: false,
            no_signed_zeros: false,
            unsafe_math: false,
            finite_math_only: false,
            fast_relaxed_math: false,
            denorms_are_zero: false,
            single_precision_constant: false,
            correctly_rounded_divide_sqrt: false,
            uniform_work_group_size: false,
            kernel_arg_info: false,
            debug_info: false,
            open_references: false,
        }
    }
}

/// Parses the `options` argument of clBuildProgram and clCompileProgram.
pub fn parse_options(text: &str) -> Result<BuildOptions, OptionError> {
    parse_words(split_words(text)?)
}

/// Parses options that were already split into words.
pub fn parse_words(words: impl IntoIterator<Item = String>) -> Result<BuildOptions, OptionError> {
    let mut options = BuildOptions::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if let Some((option, value)) = with_argument(&word) {
            let value = if value.is_empty() {
                words.next().ok_or_else(|| OptionError::MissingArgument(option.to_owned()))?
            } else {
                value.to_owned()
            };
            argument_option(&mut options, option, value)?;
        } else if let Some(version) = word.strip_prefix("-cl-std=") {
            options.std = language_version(version).ok_or_else(|| OptionError::InvalidArgument {
                option: "-cl-std".to_owned(),
                value: version.to_owned(),
                expected: "CL1.0, CL1.1, CL1.2, CL2.0, CL3.0 or CL3.1",
            })?;
        } else {
            flag(&mut options, &word)?;
        }
    }
    Ok(options)
}

/// Whether the next word is the argument of this option. For tools that forward options.
pub fn takes_next_word(word: &str) -> bool {
    matches!(word, "-D" | "-U" | "-I")
}

/// Splits a string at white space outside of quotes. A backslash escapes a quote, a backslash and, outside of quotes,
/// white space.
fn split_words(text: &str) -> Result<Vec<String>, OptionError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.trim_end_matches('\0').chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek().is_some_and(|next| matches!(next, '"' | '\\' | '\'') || quote.is_none() && next.is_whitespace()) => {
                word.get_or_insert_default().extend(chars.next());
            }
            '"' | '\'' if quote.is_none() => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            _ if quote == Some(c) => quote = None,
            _ if quote.is_none() && c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        let value = word.unwrap_or_default();
        return Err(OptionError::UnterminatedQuote(value));
    }
    words.extend(word);
    Ok(words)
}

/// Splits a word that starts with `-D`, `-U` or `-I` into the option and its argument. The argument is empty if it is
/// the next word. Returns `None` for other words.
fn with_argument(word: &str) -> Option<(&'static str, &str)> {
    ["-D", "-U", "-I"].into_iter().find_map(|option| word.strip_prefix(option).map(|value| (option, value)))
}

fn argument_option(options: &mut BuildOptions, option: &str, value: String) -> Result<(), OptionError> {
    match option {
        "-I" => options.include_dirs.push(PathBuf::from(value)),
        _ => {
            let (name, definition) = match value.split_once('=') {
                Some((name, definition)) if option == "-D" => (name, Some(definition)),
                _ => (value.as_str(), (option == "-D").then_some("1")),
            };
            if !is_macro_name(name) {
                return Err(OptionError::InvalidArgument { option: option.to_owned(), value: value.clone(), expected: "a macro name" });
            }
            options.macros.push((name.to_owned(), definition.map(str::to_owned)));
        }
    }
    Ok(())
}

/// Whether a string is an identifier, optionally followed by macro parameters.
fn is_macro_name(name: &str) -> bool {
    let name = match name.split_once('(') {
        Some((name, params)) if params.ends_with(')') => name,
        Some(_) => return false,
        None => name,
    };
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn language_version(version: &str) -> Option<CStd> {
    Some(match version {
        "CL1.0" | "cl1.0" => CStd::Cl10,
        "CL1.1" | "cl1.1" => CStd::Cl11,
        "CL1.2" | "cl1.2" => CStd::Cl12,
        "CL2.0" | "cl2.0" => CStd::Cl20,
        "CL3.0" | "cl3.0" => CStd::Cl30,
        "CL3.1" | "cl3.1" => CStd::Cl31,
        _ => return None,
    })
}

fn flag(options: &mut BuildOptions, word: &str) -> Result<(), OptionError> {
    match word {
        "-cl-single-precision-constant" => options.single_precision_constant = true,
        "-cl-denorms-are-zero" => options.denorms_are_zero = true,
        "-cl-fp32-correctly-rounded-divide-sqrt" => options.correctly_rounded_divide_sqrt = true,
        "-cl-opt-disable" => options.opt_disable = true,
        "-cl-mad-enable" => options.mad_enable = true,
        "-cl-no-signed-zeros" => options.no_signed_zeros = true,
        "-cl-finite-math-only" => options.finite_math_only = true,
        "-cl-unsafe-math-optimizations" => unsafe_math(options),
        "-cl-fast-relaxed-math" => {
            unsafe_math(options);
            options.finite_math_only = true;
            options.fast_relaxed_math = true;
        }
        "-cl-uniform-work-group-size" => options.uniform_work_group_size = true,
        "-cl-kernel-arg-info" => options.kernel_arg_info = true,
        "-w" => options.warnings.none = true,
        "-g" => options.debug_info = true,
        // Programs pass options of clang to every driver. Unknown groups are therefore accepted.
        word if word.starts_with("-W") && word.len() > 2 => {
            if !options.warnings.apply(word) && !word.starts_with("-Wno-") {
                options.unknown_warnings.push(word.to_owned());
            }
        }
        // Valid options without effect on the compilation. The last two are linker options.
        "-cl-strict-aliasing" | "-cl-no-subgroup-ifp" | "-create-library" | "-enable-link-options" => {}
        _ => return Err(OptionError::Unknown(word.to_owned())),
    }
    Ok(())
}

/// Sets `-cl-unsafe-math-optimizations`: "This option includes the -cl-no-signed-zeros and -cl-mad-enable options."
const fn unsafe_math(options: &mut BuildOptions) {
    options.unsafe_math = true;
    options.no_signed_zeros = true;
    options.mad_enable = true;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_in_all_spellings() {
        let options = parse_options(r#"-D A -DB=2 -D "C=a b" -DD="x y" -DE= -D'F(x)=x + 1' -U A"#).unwrap_or_default();
        let macros: Vec<(&str, Option<&str>)> = options.macros.iter().map(|(n, v)| (n.as_str(), v.as_deref())).collect();
        let expected = [
            ("A", Some("1")),
            ("B", Some("2")),
            ("C", Some("a b")),
            ("D", Some("x y")),
            ("E", Some("")),
            ("F(x)", Some("x + 1")),
            ("A", None),
        ];
        assert_eq!(macros, expected);
    }

    #[test]
    fn escaped_quotes_are_part_of_the_value() {
        let options = parse_options(r#"-DNAME=\"text\" -I C:\dir -I "a b""#).unwrap_or_default();
        assert_eq!(options.macros, [("NAME".to_owned(), Some("\"text\"".to_owned()))]);
        assert_eq!(options.include_dirs, [PathBuf::from("C:\\dir"), PathBuf::from("a b")]);
    }

    #[test]
    fn implications() {
        let options = parse_options(" -cl-fast-relaxed-math  -cl-std=CL3.0 ").unwrap_or_default();
        assert!(options.fast_relaxed_math && options.finite_math_only && options.unsafe_math && options.no_signed_zeros);
        assert!(options.mad_enable);
        assert_eq!(options.std, CStd::Cl30);
    }

    #[test]
    fn errors() {
        assert_eq!(parse_options("-cl-foo"), Err(OptionError::Unknown("-cl-foo".to_owned())));
        assert_eq!(parse_options("-x spir"), Err(OptionError::Unknown("-x".to_owned())));
        assert_eq!(parse_options("-I"), Err(OptionError::MissingArgument("-I".to_owned())));
        assert!(matches!(parse_options("-cl-std=CL4.0"), Err(OptionError::InvalidArgument { .. })));
        assert!(matches!(parse_options("-D 1x"), Err(OptionError::InvalidArgument { .. })));
        assert_eq!(parse_options("-D \"open"), Err(OptionError::UnterminatedQuote("open".to_owned())));
        assert_eq!(parse_options("-W"), Err(OptionError::Unknown("-W".to_owned())));
        assert!(parse_options("").is_ok());
        assert_eq!(parse_options("-Wall -Wextra -Wno-unused-variable"), Ok(BuildOptions::default()));
    }

    #[test]
    fn unknown_groups_of_warnings_are_kept() {
        let options = parse_options("-Wunused-variable -Werror=foo -Wno-bar -Wno-parentheses").unwrap_or_default();
        assert_eq!(options.unknown_warnings, ["-Wunused-variable", "-Werror=foo"]);
        assert_ne!(options.warnings, WarningLevels::default());
    }
}
