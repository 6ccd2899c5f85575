//! Trigraphs (C99 5.2.1.1, translation phase 1), which clang replaces in every OpenCL C version.

use std::borrow::Cow;

use crate::diag::{Span, WarningGroup};

use super::Preprocessor;

/// The third characters of trigraphs, and the characters that they represent.
const TRIGRAPHS: [(u8, char); 9] =
    [(b'=', '#'), (b'/', '\\'), (b'\'', '^'), (b'(', '['), (b')', ']'), (b'!', '|'), (b'<', '{'), (b'>', '}'), (b'-', '~')];

/// Replaces all trigraphs of a text. Returns the new text, and the offsets of the replacements in it in bytes.
pub(super) fn replace(text: &str) -> (Cow<'_, str>, Vec<u32>) {
    let mut places = Vec::new();
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("??") {
        let third = rest.as_bytes().get(at + 2);
        let found = TRIGRAPHS.iter().find(|(byte, _)| Some(byte) == third);
        let (kept, next) = if found.is_some() { (at, at + 3) } else { (at + 1, at + 1) };
        replaced.push_str(&rest[..kept]);
        if let Some((_, character)) = found {
            places.extend(u32::try_from(replaced.len()));
            replaced.push(*character);
        }
        rest = &rest[next..];
    }
    if places.is_empty() {
        return (Cow::Borrowed(text), places);
    }
    replaced.push_str(rest);
    (Cow::Owned(replaced), places)
}

impl Preprocessor<'_> {
    /// Records the trigraphs of a file. `offsets` are relative to the position `start` of the file.
    pub(super) fn note_trigraphs(&mut self, offsets: &[u32], start: u32) {
        self.trigraphs.extend(offsets.iter().map(|offset| offset.saturating_add(start)));
    }

    /// Warns about the trigraphs in a token, once each.
    pub(super) fn warn_of_trigraphs(&mut self, token: Span) {
        if self.trigraphs.is_empty() {
            return;
        }
        let in_token = |place: &u32| (token.lo..token.hi).contains(place);
        let (inside, others): (Vec<u32>, Vec<u32>) = self.trigraphs.iter().partition(|place| in_token(place));
        self.trigraphs = others;
        for place in inside {
            let span = Span { lo: place, hi: place + 1 };
            let character = self.map.snippet(span);
            self.warn(WarningGroup::Trigraphs, span, format!("trigraph converted to '{character}' character"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn only_trigraphs_are_replaced() {
        for (text, expected) in [
            ("a ?", "a ?"),
            ("what??", "what??"),
            ("???=?? ??é", "?#?? ??é"),
            ("??=??/??'??(??)??!??<??>??-", "#\\^[]|{}~"),
            ("??????!", "????|"),
        ] {
            let (found, places) = replace(text);
            assert_eq!(found, expected);
            assert_eq!(places.len() * 2, text.len() - expected.len());
        }
    }
}
