//! Sentences about built-in functions, types, keywords and attributes, for hovers and completions.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// A table of sentences. `prefixes` are the names that end with `*`, in the order of the file.
struct Table {
    exact: FxHashMap<&'static str, &'static str>,
    prefixes: Vec<(&'static str, &'static str)>,
}

impl Table {
    fn parse(text: &'static str) -> Self {
        let mut table = Self { exact: FxHashMap::default(), prefixes: Vec::new() };
        for (names, sentence) in text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" | ")) {
            for name in names.split_whitespace() {
                match name.strip_suffix('*') {
                    Some(prefix) => table.prefixes.push((prefix, sentence)),
                    None => {
                        table.exact.insert(name, sentence);
                    }
                }
            }
        }
        table
    }

    fn find(&self, name: &str) -> Option<&'static str> {
        let by_prefix = || self.prefixes.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, sentence)| *sentence);
        self.exact.get(name).copied().or_else(by_prefix)
    }
}

static FUNCTIONS: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("descriptions.txt")));
static WORDS: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("words.txt")));

/// Returns a sentence about a built-in function. Empty for other names.
pub(crate) fn of(name: &str) -> String {
    let accuracy = if name.starts_with("native_") {
        " The accuracy depends on the device."
    } else if name.starts_with("half_") {
        " The result has at least 10 accurate bits."
    } else {
        ""
    };
    match FUNCTIONS.find(name) {
        Some(sentence) => format!("{sentence}{accuracy}"),
        None => collective(name).unwrap_or_default(),
    }
}

/// Returns a sentence about a reduction or a scan.
fn collective(name: &str) -> Option<String> {
    let (group, rest) = [
        ("work_group_", "the work-group"),
        ("sub_group_non_uniform_", "the active work-items of the subgroup"),
        ("sub_group_clustered_", "a cluster of the subgroup"),
        ("intel_sub_group_", "the subgroup"),
        ("sub_group_", "the subgroup"),
    ]
    .into_iter()
    .find_map(|(prefix, group)| name.strip_prefix(prefix).map(|rest| (group, rest)))?;
    let (kind, operation) = [
        ("reduce_", "over"),
        ("scan_inclusive_", "of the values up to this work-item in"),
        ("scan_exclusive_", "of the values before this work-item in"),
    ]
    .into_iter()
    .find_map(|(prefix, kind)| rest.strip_prefix(prefix).map(|operation| (kind, operation)))?;
    let what = match operation {
        "add" => "sum",
        "mul" => "product",
        "min" => "minimum",
        "max" => "maximum",
        "and" => "bitwise AND",
        "or" => "bitwise OR",
        "xor" => "bitwise XOR",
        "logical_and" => "logical AND",
        "logical_or" => "logical OR",
        "logical_xor" => "logical XOR",
        _ => return None,
    };
    Some(format!("Returns the {what} {kind} {group}."))
}

/// Returns a sentence about a keyword, an attribute or a predefined name.
pub(crate) fn of_word(name: &str) -> Option<String> {
    WORDS.find(name).map(str::to_owned)
}

/// Returns a sentence about a predeclared type.
pub(crate) fn of_type(name: &str) -> Option<String> {
    if let Some(sentence) = of_word(name) {
        return Some(sentence);
    }
    if name.starts_with("atomic_") {
        return Some("An object that only atomic functions access.".to_owned());
    }
    if name.starts_with("image") {
        return Some("An image. Kernels access it by functions such as `read_imagef`.".to_owned());
    }
    let (scalar, lanes) = name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len()));
    let (size, what) = match scalar {
        "bool" => (1, "truth value"),
        "char" => (1, "signed 8-bit integer"),
        "uchar" => (1, "unsigned 8-bit integer"),
        "short" => (2, "signed 16-bit integer"),
        "ushort" => (2, "unsigned 16-bit integer"),
        "int" => (4, "signed 32-bit integer"),
        "uint" => (4, "unsigned 32-bit integer"),
        "long" => (8, "signed 64-bit integer"),
        "ulong" => (8, "unsigned 64-bit integer"),
        "half" => (2, "16-bit floating-point value"),
        "float" => (4, "32-bit floating-point value"),
        "double" => (8, "64-bit floating-point value"),
        _ => return None,
    };
    if lanes.is_empty() {
        return Some(format!("A {what}. Size and alignment: {size}."));
    }
    let count: u32 = lanes.parse().ok()?;
    let bytes = size * if count == 3 { 4 } else { count };
    Some(format!("A vector of {count} components, each a {what}. Size and alignment: {bytes}."))
}

#[cfg(test)]
mod tests {
    use super::{of, of_type};
    use wgcl_compiler::editor::catalogue;

    #[test]
    fn every_function_has_a_sentence() {
        let missing: Vec<&str> = catalogue::all_names().filter(|name| !name.starts_with("__") && of(name).is_empty()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn sentences_depend_on_the_name() {
        assert_eq!(of("sub_group_clustered_reduce_add"), "Returns the sum over a cluster of the subgroup.");
        assert_eq!(of("native_sin"), "Returns the sine of an angle in radians. The accuracy depends on the device.");
        assert!(of("vload_half4").contains("half"));
        assert_eq!(
            of_type("float3").as_deref(),
            Some("A vector of 3 components, each a 32-bit floating-point value. Size and alignment: 16.")
        );
        assert_eq!(of("nothing"), "");
    }
}
