//! The values of options: the accepted words, and messages for others.

use wgcl_compiler::diag::suggest::nearest;

use super::table::{Kind, OptionInfo, TABLE};

/// Words for on and off.
const SWITCHES: [(&str, &str); 8] =
    [("1", "1"), ("true", "1"), ("yes", "1"), ("on", "1"), ("0", "0"), ("false", "0"), ("no", "0"), ("off", "0")];

/// Prefixes, after `WGCL_`, of variables that belong to scripts and tests.
const NON_OPTION_PREFIXES: &[&str] =
    &["ACCURACY", "DOUBLES_", "DXC", "FUZZ_", "JUMP_SEEDS", "LIBRARY", "MUTATION", "RUNTIME_ID", "STRESS_", "TEST_", "TWINS"];

fn switch(word: &str) -> Option<&'static str> {
    SWITCHES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, value)| *value)
}

/// Returns the normalised value. Returns `None` if no part is accepted, or if a list is empty (`off`). Adds a message
/// for each part that is not accepted.
pub(super) fn accepted(option: &OptionInfo, value: String, messages: &mut Vec<String>) -> Option<String> {
    let word = value.trim();
    match option.kind {
        Kind::Text(_) => Some(value),
        Kind::SwitchOrFile => Some(switch(word).map_or(value.clone(), str::to_owned)),
        Kind::Number(_) if word.parse::<u64>().is_ok_and(|number| number > 0) => Some(word.to_owned()),
        Kind::Number(_) => {
            messages.push(format!("{}: `{word}` is ignored; expected a positive number", option.name));
            None
        }
        Kind::Switch => match switch(word) {
            Some(value) => Some(value.to_owned()),
            None => refuse(option, word, &["true", "false", "yes", "off"], messages),
        },
        Kind::Word(words) => match find_word(words, word) {
            Some(value) => Some(value.to_owned()),
            None => refuse(option, word, words, messages),
        },
        Kind::Words(words) => {
            let mut list = Vec::new();
            for part in value.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                match find_word(words, part) {
                    Some(part) => list.push(part),
                    None if switch(part) == Some("0") => {}
                    None => drop(refuse(option, part, words, messages)),
                }
            }
            (!list.is_empty()).then(|| list.join(","))
        }
    }
}

fn find_word(words: &[&'static str], word: &str) -> Option<&'static str> {
    let same = |name: &&&'static str| name.eq_ignore_ascii_case(word);
    words.iter().find(same).copied().or_else(|| switch(word).filter(|value| words.contains(value)))
}

fn refuse(option: &OptionInfo, value: &str, words: &[&str], messages: &mut Vec<String>) -> Option<String> {
    let hint = nearest(value, words.iter().copied()).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    messages.push(format!("{}: `{value}` is ignored; expected {}{hint}", option.name, option.kind.values()));
    None
}

/// Adds a message for each variable that begins with `WGCL_` but is not an option.
pub(super) fn check_names(names: impl Iterator<Item = String>, messages: &mut Vec<String>) {
    for name in names {
        let Some(rest) = name.strip_prefix("WGCL_") else { continue };
        if TABLE.iter().any(|option| option.name == name) || NON_OPTION_PREFIXES.iter().any(|prefix| rest.starts_with(prefix)) {
            continue;
        }
        let near = nearest(&name, TABLE.iter().map(|option| option.name));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        messages.push(format!("unknown option {name}{hint}"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::TABLE;
    use super::{accepted, check_names};

    /// The value of an option, and the number of messages.
    fn read(name: &str, value: &str) -> (Option<String>, usize) {
        let option = TABLE.iter().find(|option| option.name == name).expect("an option");
        let mut messages = Vec::new();
        let value = accepted(option, value.to_owned(), &mut messages);
        (value, messages.len())
    }

    #[test]
    fn switches_accept_words() {
        for (value, expected) in
            [("1", "1"), ("true", "1"), ("Yes", "1"), ("on", "1"), ("0", "0"), ("FALSE", "0"), ("no", "0"), ("off", "0")]
        {
            assert_eq!(read("WGCL_CPU", value), (Some(expected.to_owned()), 0), "{value}");
            assert_eq!(read("WGCL_INTERPRETER", value), (Some(expected.to_owned()), 0), "{value}");
            assert_eq!(read("WGCL_STATS", value), (Some(expected.to_owned()), 0), "{value}");
        }
        assert_eq!(read("WGCL_CPU", "2"), (None, 1));
        assert_eq!(read("WGCL_STATS", "report.json"), (Some("report.json".to_owned()), 0));
    }

    #[test]
    fn lists_keep_the_accepted_words() {
        assert_eq!(read("WGCL_CHECK", "true"), (Some("1".to_owned()), 0));
        assert_eq!(read("WGCL_CHECK", "fatal, nan"), (Some("fatal,nan".to_owned()), 0));
        assert_eq!(read("WGCL_CHECK", "fatal,convert"), (Some("fatal,convert".to_owned()), 0));
        assert_eq!(read("WGCL_CHECK", "fatl,nan"), (Some("nan".to_owned()), 1));
        assert_eq!(read("WGCL_CHECK", "off"), (None, 0));
        assert_eq!(read("WGCL_EMULATE", "fp64,int65"), (Some("fp64".to_owned()), 1));
    }

    #[test]
    fn numbers_must_be_positive() {
        assert_eq!(read("WGCL_CACHE_SIZE", "64"), (Some("64".to_owned()), 0));
        assert_eq!(read("WGCL_CACHE_SIZE", "64MB"), (None, 1));
        assert_eq!(read("WGCL_BINDING_LIMIT", "-1"), (None, 1));
    }

    #[test]
    fn messages_contain_the_value_and_the_accepted_values() {
        let option = TABLE.iter().find(|option| option.name == "WGCL_CPU_ISA").expect("an option");
        let mut messages = Vec::new();
        assert_eq!(accepted(option, "avx521".to_owned(), &mut messages), None);
        assert_eq!(
            messages,
            [
                "WGCL_CPU_ISA: `avx521` is ignored; expected `sse4.2`, `avx2`, `avx512`, `armv8`, `armv8.2`, `sve-128`, `sve-256` or `sve-512`; did you mean `avx512`?"
            ]
        );
        messages.clear();
        let names = ["WGCL_CHEK", "WGCL_TEST_DEVICE", "WGCL_LIBRARY", "WGCL_LOG", "HOME", "WGCL_"];
        check_names(names.into_iter().map(str::to_owned), &mut messages);
        assert_eq!(messages, ["unknown option WGCL_CHEK; did you mean WGCL_CHECK?", "unknown option WGCL_"]);
    }
}
