//! The labels and source lines of an assembly listing.

use crate::mach::code::Code;
use crate::vir::SourceLoc;

/// The names and source lines of a listing.
#[derive(Clone, Copy)]
pub struct Annotations<'a> {
    /// The name of each function of the module. The label of a function without a name is `f` and its index.
    pub functions: &'a [String],
    /// The text of the source line at a position.
    pub line: &'a dyn Fn(SourceLoc) -> Option<String>,
}

impl Annotations<'_> {
    /// No names and no source lines.
    pub const NONE: Self = Annotations { functions: &[], line: &|_| None };
}

/// Writes labels and source lines between the instructions of a listing.
pub(crate) struct Listing<'a> {
    code: &'a Code,
    annotations: Annotations<'a>,
    /// The start of a comment in the syntax of the assembler.
    comment: &'static str,
    /// The index of the next entry of [`Code::lines`].
    next: usize,
    /// The source line that the listing showed last in the current function.
    current: Option<String>,
}

impl<'a> Listing<'a> {
    pub(crate) const fn new(code: &'a Code, annotations: Annotations<'a>, comment: &'static str) -> Self {
        Self { code, annotations, comment, next: 0, current: None }
    }

    /// Writes the label and the source line of the instruction at an offset. Offsets must increase from call to call.
    pub(crate) fn begin(&mut self, offset: u32, out: &mut String) {
        if let Some(index) = self.code.entries.iter().position(|entry| *entry == offset) {
            match self.annotations.functions.get(index) {
                Some(name) => out.push_str(&format!("{name}:\n")),
                None => out.push_str(&format!("f{index}:\n")),
            }
            self.current = None;
        }
        let mut source = None;
        while let Some(line) = self.code.lines.get(self.next).filter(|line| line.offset <= offset) {
            source = Some(line.source);
            self.next += 1;
        }
        let Some(line) = source.and_then(self.annotations.line) else { return };
        if self.current.as_ref() != Some(&line) {
            out.push_str(&format!("        {} {line}\n", self.comment));
            self.current = Some(line);
        }
    }
}
