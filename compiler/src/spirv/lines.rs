//! Debug information: `OpLine`, `DebugLine` of NonSemantic.Shader.DebugInfo.100, `OpName`. It is not validated, since
//! only messages use it.

use std::fmt::Write;
use std::sync::Arc;

use rspirv::spirv::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::errors::InvalidModule;
use super::words::{Id, Inst, instructions};
use crate::diag::source_map::SourceFile;
use crate::diag::{Message, SourceMap, Span};

/// Numbers of instructions in NonSemantic.Shader.DebugInfo.100.
const DEBUG_SOURCE: u32 = 35;
const DEBUG_LINE: u32 = 103;
const DEBUG_NO_LINE: u32 = 104;

/// Locations whose column is not below this limit are ignored as implausible.
const COLUMN_LIMIT: u32 = 4096;

/// A source location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Line {
    /// The `OpString` that contains the file name.
    file: Id,
    line: u32,
    /// 0 if unknown.
    column: u32,
}

/// Tracks the current location while a module is read.
#[derive(Default)]
pub(super) struct Lines {
    current: Option<Line>,
    /// Ids of imported debug instruction sets.
    sets: FxHashSet<u32>,
    /// Values of 32-bit integer constants. They are operands of `DebugLine`.
    numbers: FxHashMap<u32, u32>,
    /// `OpString`s with the file names, by the id of the `DebugSource`.
    sources: FxHashMap<u32, Id>,
}

impl Lines {
    /// Returns the source location of an instruction. Must be called for all instructions in order.
    pub(super) fn location(&mut self, inst: &Inst<'_>) -> Option<Line> {
        let place = self.current;
        match (inst.op, inst.operands) {
            (Op::Line, &[file, line, column]) => self.current = Some(Line { file: Id(file), line, column }),
            (Op::NoLine | Op::FunctionEnd, _) => self.current = None,
            (Op::Constant, &[number]) => {
                self.numbers.extend(inst.result_id().map(|id| (id.0, number)));
            }
            (Op::ExtInstImport, _) if inst.string(0).is_ok_and(|(name, _)| name.starts_with("NonSemantic.Shader.DebugInfo")) => {
                self.sets.extend(inst.result_id().map(|id| id.0));
            }
            (Op::ExtInst, &[set, number, ref operands @ ..]) if self.sets.contains(&set) => self.debug(inst, number, operands),
            // A location applies at most up to the end of its block, so a new block starts without a location.
            (Op::Label, _) => self.current = None,
            _ => {}
        }
        place
    }

    fn debug(&mut self, inst: &Inst<'_>, number: u32, operands: &[u32]) {
        match (number, operands) {
            (DEBUG_SOURCE, &[file, ..]) => self.sources.extend(inst.result_id().map(|id| (id.0, Id(file)))),
            (DEBUG_LINE, &[source, line, _, column, ..]) => {
                let number = |id: u32| self.numbers.get(&id).copied().unwrap_or_default();
                self.current = self.sources.get(&source).map(|&file| Line { file, line: number(line), column: number(column) });
            }
            (DEBUG_NO_LINE, _) => self.current = None,
            _ => {}
        }
    }
}

/// Maps the source locations of a module to spans in a synthetic source, for the sanitizer. Each location has a line of
/// blanks in that source. The number of blanks gives the column.
#[derive(Debug, Default)]
pub(super) struct SourceLocations {
    spans: FxHashMap<Line, Span>,
}

impl SourceLocations {
    /// Creates the spans of some locations, and their source map. The map is `None` without locations.
    pub(super) fn of(lines: &FxHashSet<Line>, names: &FxHashMap<Id, String>) -> (Self, Option<Arc<SourceMap>>) {
        let mut text = String::new();
        let mut made = Vec::with_capacity(lines.len());
        for line in lines.iter().filter(|line| line.column < COLUMN_LIMIT) {
            // Each location has its own line. A `#line` directive before it sets the line number.
            let before = text.len();
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', line.column.saturating_sub(1) as usize));
            made.push((*line, before, text.len()));
            text.push('\n');
        }
        let mut map = SourceMap::new();
        let Some(start) = map.add_file("", text, Span::NONE).map(SourceFile::start).filter(|_| !made.is_empty()) else {
            return (Self::default(), None);
        };
        let mut spans = FxHashMap::default();
        for (line, before, at) in made {
            let position = |offset: usize| start + u32::try_from(offset).unwrap_or(u32::MAX - start);
            let directive = Span { lo: position(before), hi: position(before) };
            map.add_line_directive(directive, line.line, names.get(&line.file).map(|name| name.as_str().into()));
            spans.insert(line, Span { lo: position(at), hi: position(at) });
        }
        (Self { spans }, Some(Arc::new(map)))
    }

    /// Returns the span of an instruction.
    pub(super) fn span(&self, inst: &Inst<'_>) -> Span {
        inst.line().and_then(|line| self.spans.get(&line)).copied().unwrap_or(Span::NONE)
    }
}

/// Returns the error message for an invalid module, with the source location of the instruction if the module has one.
/// The name from `OpName` follows each id.
pub(super) fn message(error: &InvalidModule, words: &[u32]) -> Message {
    let (mut names, mut strings) = (FxHashMap::default(), FxHashMap::default());
    // If the instructions cannot be decoded, there are no names.
    for inst in instructions(words).unwrap_or_default() {
        match inst.op {
            Op::Name => {
                if let (Ok(id), Ok((name, _))) = (inst.operand(0), inst.string(1)) {
                    names.insert(id.0, name);
                }
            }
            Op::String => {
                if let (Some(id), Ok((text, _))) = (inst.result_id(), inst.string(0)) {
                    strings.insert(id, text);
                }
            }
            _ => {}
        }
    }
    let text = named(&error.to_string(), &names);
    match error.line.and_then(|line| Some((line, strings.get(&line.file)?))) {
        Some((Line { line, column, .. }, file)) => Message::error_in(file, line, column, text),
        None => Message::error(text),
    }
}

/// Inserts the name of each id after the id in a message.
fn named(message: &str, names: &FxHashMap<u32, String>) -> String {
    let mut pieces = message.split('%');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.find(|c: char| !c.is_ascii_digit()).unwrap_or(piece.len());
        let (number, rest) = piece.split_at(digits);
        let name = number.parse().ok().and_then(|id: u32| names.get(&id)).filter(|name| !name.is_empty());
        let name = name.map(|name| format!(" \"{name}\"")).unwrap_or_default();
        let _ = write!(text, "%{number}{name}{rest}");
    }
    text
}
