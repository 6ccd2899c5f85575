//! Positions of the protocol: lines and UTF-16 code units. The compiler's positions are bytes.

use std::ops::Range as ByteRange;

use lsp_types::{Position, Range};

/// The lines of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let after_newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(after_newlines).collect() }
    }

    /// Returns the position of a byte. An offset within a character gives the position of the character.
    pub(crate) fn position(&self, text: &str, offset: usize) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let units = text.get(start..offset).map_or(0, utf16_length);
        Position { line: number(line), character: units }
    }

    /// Returns the byte at a position. A position after the end of a line gives the end of the line.
    pub(crate) fn offset(&self, text: &str, position: Position) -> usize {
        let Some(start) = self.starts.get(position.line as usize).copied() else { return text.len() };
        let end = self.starts.get(position.line as usize + 1).map_or(text.len(), |next| next - 1);
        let mut units = 0;
        for (at, character) in text.get(start..end).unwrap_or_default().char_indices() {
            if units >= position.character || character == '\r' {
                return start + at;
            }
            units += number(character.len_utf16());
        }
        end
    }

    pub(crate) fn range(&self, text: &str, bytes: ByteRange<usize>) -> Range {
        Range { start: self.position(text, bytes.start), end: self.position(text, bytes.end) }
    }
}

/// Returns the length of a text in UTF-16 code units.
pub(crate) fn utf16_length(text: &str) -> u32 {
    if text.is_ascii() { number(text.len()) } else { number(text.chars().map(char::len_utf16).sum()) }
}

/// Converts a count to the protocol's type.
pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::Lines;
    use lsp_types::Position;

    #[test]
    fn columns_are_utf16_units() {
        let text = "a\r\né𝄞b\n\nend";
        let lines = Lines::new(text);
        for (offset, line, character) in [(0, 0, 0), (1, 0, 1), (3, 1, 0), (5, 1, 1), (9, 1, 3), (10, 1, 4), (11, 2, 0), (15, 3, 3)] {
            let position = Position { line, character };
            assert_eq!(lines.position(text, offset), position, "{offset}");
            assert_eq!(lines.offset(text, position), offset, "{position:?}");
        }
        assert_eq!(lines.offset(text, Position { line: 0, character: 99 }), 1);
        assert_eq!(lines.offset(text, Position { line: 99, character: 0 }), text.len());
        assert_eq!(lines.position(text, 4), Position { line: 1, character: 0 });
    }
}
