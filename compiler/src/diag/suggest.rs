//! Finds names with a similar spelling.

use std::fmt;

/// A suggestion at the end of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    text: String,
    /// The text that should be in place of the diagnostic's span.
    pub replacement: Option<String>,
}

impl Hint {
    /// Creates a suggestion without a replacement.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), replacement: None }
    }

    /// Creates the suggestion `; did you mean 'x'?`. It is empty for `None`. A name with parentheses is not a
    /// replacement, because the source also contains parentheses.
    pub(crate) fn name(found: Option<&str>) -> Self {
        let Some(name) = found else { return Self::default() };
        let replacement = if name.contains('(') { None } else { Some(name.to_owned()) };
        Self { text: format!("; did you mean '{name}'?"), replacement }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the most similar of some names, or `None` if no name is similar. The distance of similar names is at most 1
/// for up to 5 characters, 2 for up to 8, and 3 for more. Names that differ only in case and underscores have the
/// distance 1 (`getGlobalID` and `get_global_id`). A name with one character has no similar names.
pub fn nearest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let folded = fold(name);
    let limit = match name.chars().count() {
        0 | 1 => return None,
        2..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, &'n str)> = None;
    for candidate in candidates {
        if candidate == name || candidate.is_empty() || candidate.len().abs_diff(name.len()) > limit + 3 {
            continue;
        }
        let distance = if fold(candidate) == folded { 1 } else { distance(name.as_bytes(), candidate.as_bytes(), limit) };
        // If distances are equal, the first name in alphabetical order is used. The order of the candidates has no
        // effect.
        if distance <= limit && best.is_none_or(|(least, other)| (distance, candidate) < (least, other)) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| name)
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns the optimal string alignment distance: the number of insertions, deletions, substitutions and swaps of
/// adjacent characters. A distance above `limit` is not exact.
fn distance(a: &[u8], b: &[u8], limit: usize) -> usize {
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let width = b.len() + 1;
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (vec![0; width], (0..width).collect());
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1; width];
        for (j, y) in b.iter().enumerate() {
            let change = last[j] + usize::from(x != y);
            let mut least = change.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *y && b[j - 1] == *x {
                least = least.min(before[j - 1] + 1);
            }
            row[j + 1] = least;
        }
        before = std::mem::replace(&mut last, row);
    }
    last[width - 1]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_are_found() {
        let names = ["get_global_id", "get_local_id", "get_group_id", "sqrt", "rsqrt", "barrier"];
        for (wrong, right) in [
            ("get_gobal_id", "get_global_id"),
            ("getGlobalId", "get_global_id"),
            ("get_locla_id", "get_local_id"),
            ("sqr", "sqrt"),
            ("barier", "barrier"),
            ("Barrier", "barrier"),
        ] {
            assert_eq!(nearest(wrong, names), Some(right), "{wrong}");
        }
        for distant in ["x", "foo", "get", "compute_everything"] {
            assert_eq!(nearest(distant, names), None, "{distant}");
        }
    }
}
