//! Writes the lines of an OpenCL C program. Lines within brackets are indented.

use crate::random::Random;
use std::fmt::Write;

/// A generator of lines.
pub trait Lines {
    /// Returns the random number generator, the generated text, and the indentation level.
    fn page(&mut self) -> (&mut Random, &mut String, &mut usize);

    /// Appends one line. If the line ends with an open bracket, the following lines are indented further.
    fn line(&mut self, line: &str) {
        let (_, text, indent) = self.page();
        let _ = writeln!(text, "{:1$}{line}", "", *indent * 4);
        if line.ends_with('{') {
            *indent += 1;
        }
    }

    /// Appends a closing bracket.
    fn close(&mut self) {
        *self.page().2 -= 1;
        self.line("}");
    }

    /// Returns a random element of a list.
    fn pick<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.page().0.below(list.len())]
    }
}
