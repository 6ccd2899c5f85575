//! The source lines of shaders in listings.
//!
//! naga's WGSL writer does not report which statement a line of its output belongs to. So [`with_markers`] adds stores
//! of line numbers to a variable, and [`without_markers`] removes them from the text:
//!
//! ```text
//! wgcl_source_line = 3u;
//! let _e9 = buffer[_e7];      a line of this text belongs to line 3 of the source
//! ```
//! SPIR-V has `OpLine` for this purpose. naga computes its operands from a text and offsets in the text. [`with_rows`]
//! therefore replaces the positions in a module by offsets in a text of line ends.

use naga::{Block, Expression, Function, GlobalVariable, Handle, Literal, Module, Range, Span, Statement};

/// Returns the line, from 1, of a span in the main file of a program.
pub type LineOf<'a> = &'a (dyn Fn(crate::diag::Span) -> Option<u32> + Sync);

/// Text, and for each of its lines the line of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinedText {
    pub text: String,
    pub lines: Vec<Option<u32>>,
}

impl LinedText {
    pub(super) fn without_lines(text: String) -> Self {
        let lines = vec![None; text.lines().count()];
        Self { text, lines }
    }

    pub(super) fn push(&mut self, text: &str, line: Option<u32>) {
        self.text.push_str(text);
        self.text.push('\n');
        self.lines.push(line);
    }
}

const MARKER: &str = "wgcl_source_line";

fn line(span: Span, line_of: LineOf<'_>) -> Option<u32> {
    let range = span.to_range()?;
    line_of(crate::diag::Span { lo: range.start as u32, hi: range.end as u32 })
}

/// Calls `visit` with each block of a function. Inner blocks follow the block that contains them.
fn each_block(block: &mut Block, visit: &mut dyn FnMut(&mut Block)) {
    visit(block);
    for statement in block.iter_mut() {
        match statement {
            Statement::Block(inner) => each_block(inner, visit),
            Statement::If { accept, reject, .. } => {
                each_block(accept, visit);
                each_block(reject, visit);
            }
            Statement::Switch { cases, .. } => cases.iter_mut().for_each(|case| each_block(&mut case.body, visit)),
            Statement::Loop { body, continuing, .. } => {
                each_block(body, visit);
                each_block(continuing, visit);
            }
            _ => {}
        }
    }
}

/// Splits statements that evaluate expressions of several lines.
fn split_emits(function: &mut Function, line_of: LineOf<'_>) {
    let expressions = &function.expressions;
    each_block(&mut function.body, &mut |block| {
        let mut split = Block::with_capacity(block.len());
        for (statement, span) in std::mem::take(block).span_into_iter() {
            let Statement::Emit(range) = statement else {
                split.push(statement, span);
                continue;
            };
            let mut run: Option<(Handle<Expression>, Handle<Expression>, Span)> = None;
            for handle in range {
                let own = expressions.get_span(handle);
                let found = line(own, line_of);
                run = Some(match run {
                    Some((first, _, at)) if found.is_none() || found == line(at, line_of) => (first, handle, at),
                    Some((first, last, at)) => {
                        split.push(Statement::Emit(Range::new_from_bounds(first, last)), at);
                        (handle, handle, own)
                    }
                    None => (handle, handle, if found.is_some() { own } else { span }),
                });
            }
            if let Some((first, last, at)) = run {
                split.push(Statement::Emit(Range::new_from_bounds(first, last)), at);
            }
        }
        *block = split;
    });
}

fn functions(module: &mut Module) -> impl Iterator<Item = &mut Function> {
    let entries = module.entry_points.iter_mut().map(|entry| &mut entry.function);
    module.functions.iter_mut().map(|(_, function)| function).chain(entries)
}

/// Returns the module with a store of the line number before each statement that has another line than the previous
/// one in its block.
pub(super) fn with_markers(module: &Module, line_of: LineOf<'_>) -> Module {
    let mut marked = module.clone();
    let word = naga::Type { name: None, inner: naga::TypeInner::Scalar(naga::Scalar::U32) };
    let ty = marked.types.insert(word, Span::UNDEFINED);
    let variable = GlobalVariable {
        name: Some(MARKER.to_owned()),
        space: naga::AddressSpace::Private,
        binding: None,
        ty,
        init: None,
        memory_decorations: naga::MemoryDecorations::empty(),
    };
    let variable = marked.global_variables.append(variable, Span::UNDEFINED);
    for function in functions(&mut marked) {
        split_emits(function, line_of);
        let Function { expressions, body, .. } = function;
        let pointer = expressions.append(Expression::GlobalVariable(variable), Span::UNDEFINED);
        each_block(body, &mut |block| {
            let mut with = Block::with_capacity(block.len());
            let mut current = None;
            for (statement, span) in std::mem::take(block).span_into_iter() {
                let found = line(span, line_of).or(current);
                if let Some(number) = found.filter(|_| found != current) {
                    let value = expressions.append(Expression::Literal(Literal::U32(number)), Span::UNDEFINED);
                    with.push(Statement::Store { pointer, value }, Span::UNDEFINED);
                }
                let nests =
                    matches!(statement, Statement::Block(_) | Statement::If { .. } | Statement::Switch { .. } | Statement::Loop { .. });
                current = if nests { None } else { found };
                with.push(statement, span);
            }
            *block = with;
        });
    }
    marked
}

/// Removes the markers from WGSL text.
pub(super) fn without_markers(text: &str) -> LinedText {
    let mut made = LinedText::default();
    let mut current = None;
    for row in text.lines() {
        let code = row.trim_start();
        let rest = code.strip_prefix("var<private> ").unwrap_or(code).strip_prefix(MARKER);
        if let Some(rest) = rest {
            let number = rest.strip_prefix(" = ").and_then(|rest| rest.strip_suffix("u;")).and_then(|number| number.parse().ok());
            current = number.or(current);
            continue;
        }
        // The code after a nested block starts with a marker.
        let is_code = row.len() != code.len() && !code.starts_with('}');
        if !is_code {
            current = None;
        }
        made.push(row, current.filter(|_| is_code));
    }
    made
}

/// Returns the module with other positions, and a text. In this text, the statements of source line `n` are in row
/// `n + 1`, and statements without a line in row 1.
pub(super) fn with_rows(module: &Module, line_of: LineOf<'_>) -> (Module, String) {
    let mut moved = module.clone();
    let mut last = 0;
    for function in functions(&mut moved) {
        split_emits(function, line_of);
        each_block(&mut function.body, &mut |block| {
            for (_, span) in block.span_iter_mut() {
                let Some(span) = span else { continue };
                let row = line(*span, line_of).unwrap_or(0);
                last = last.max(row);
                *span = if row == 0 { Span::UNDEFINED } else { Span::new(row, row) };
            }
        });
    }
    (moved, "\n".repeat(last as usize + 1))
}

/// Removes the operations for lines from disassembled SPIR-V whose positions are those of [`with_rows`].
#[cfg(feature = "languages")]
pub(super) fn without_op_lines(text: &str) -> LinedText {
    let mut made = LinedText::default();
    let mut current = None;
    for row in text.lines() {
        if let Some(operands) = row.trim_start().strip_prefix("OpLine ") {
            let number: Option<u32> = operands.split(' ').nth(1).and_then(|number| number.parse().ok());
            current = number.and_then(|number| number.checked_sub(1)).filter(|&number| number > 0);
            continue;
        }
        // The text and the name that `with_rows` invents. The text contains line ends.
        if row.contains("OpString") || row.contains("OpSource ") || row.is_empty() || row == "\"" {
            continue;
        }
        let ends_block = row.contains("OpLabel") || row.contains("OpFunction");
        if ends_block {
            current = None;
        }
        made.push(row, current);
    }
    made
}
