//! The lines of an OpenCL C program, indented by brackets.

use crate::random::Random;
use std::fmt::Write;

/// A generator of lines.
pub trait Lines {
    /// The random numbers, the generated text, and the indentation.
    fn page(&mut self) -> (&mut Random, &mut String, &mut usize);

    /// Appends one line; an open bracket at its end indents the following lines.
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

    /// A random element of a list.
    fn pick<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.page().0.below(list.len())]
    }
}
