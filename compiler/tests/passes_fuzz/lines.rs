//! The lines of a program in OpenCL C, indented by their brackets.

use crate::random::Random;
use std::fmt::Write;

/// What writes lines.
pub trait Lines {
    /// What is drawn from, the text so far, and how deep it is indented.
    fn page(&mut self) -> (&mut Random, &mut String, &mut usize);

    /// One line; what ends in an open bracket indents those that follow.
    fn line(&mut self, line: &str) {
        let (_, text, indent) = self.page();
        let _ = writeln!(text, "{:1$}{line}", "", *indent * 4);
        if line.ends_with('{') {
            *indent += 1;
        }
    }

    /// A closing bracket.
    fn close(&mut self) {
        *self.page().2 -= 1;
        self.line("}");
    }

    /// One of a list.
    fn pick<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.page().0.below(list.len())]
    }
}
