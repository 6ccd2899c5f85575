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

/// An assembly listing.
#[derive(Clone, Debug, Default)]
pub struct Disassembly {
    pub text: String,
    /// For each line of `text`, the source position of its instruction. 0 is unknown.
    pub sources: Vec<SourceLoc>,
}

impl Disassembly {
    fn line(&mut self, text: &str, source: SourceLoc) {
        self.text.push_str(text);
        self.text.push('\n');
        self.sources.push(source);
    }
}

/// Writes labels and source lines between the instructions of a listing.
pub(crate) struct Listing<'a> {
    code: &'a Code,
    annotations: Annotations<'a>,
    /// The start of a comment in the syntax of the assembler.
    comment: &'static str,
    /// The index of the next entry of [`Code::lines`].
    next: usize,
    /// The source position of the current instruction.
    source: SourceLoc,
    /// The source line that the listing showed last in the current function.
    current: Option<String>,
    made: Disassembly,
}

impl<'a> Listing<'a> {
    pub(crate) fn new(code: &'a Code, annotations: Annotations<'a>, comment: &'static str) -> Self {
        Self { code, annotations, comment, next: 0, source: SourceLoc::default(), current: None, made: Disassembly::default() }
    }

    /// Writes an instruction, after its label and its source line. Offsets must increase from call to call.
    pub(crate) fn instruction(&mut self, offset: u32, text: &str) {
        if let Some(index) = self.code.entries.iter().position(|entry| *entry == offset) {
            let label = self.annotations.functions.get(index).map_or_else(|| format!("f{index}:"), |name| format!("{name}:"));
            self.made.line(&label, SourceLoc::default());
            self.current = None;
        }
        let mut changed = false;
        while let Some(line) = self.code.lines.get(self.next).filter(|line| line.offset <= offset) {
            self.source = line.source;
            self.next += 1;
            changed = true;
        }
        if let Some(line) = changed.then(|| (self.annotations.line)(self.source)).flatten()
            && self.current.as_ref() != Some(&line)
        {
            self.made.line(&format!("        {} {line}", self.comment), self.source);
            self.current = Some(line);
        }
        self.made.line(&format!("{offset:6x}  {text}"), self.source);
    }

    pub(crate) fn finish(self) -> Disassembly {
        self.made
    }
}
