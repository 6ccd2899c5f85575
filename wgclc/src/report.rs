//! Writes diagnostics and stage outputs: text for terminals, or JSON for editors.
//!
//! There is one JSON object per line, in cargo's format. A `compiler-message` contains a diagnostic in rustc's format.
//! An `output` names a written file. `build-finished` follows the compilation of all files.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use wgcl_compiler::diag::Message;

use crate::arguments::{Arguments, Emit, MessageFormat};
use crate::compile::{Outcome, show};

/// A line of `--message-format json`.
#[derive(Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Line<'a> {
    CompilerMessage { package_id: &'a str, target: Target<'a>, message: &'a Message },
    Output { file: &'a str, stage: &'a str, filename: &'a Path },
    BuildFinished { success: bool },
}

/// The `target` of a message in cargo's format, which is the compiled file.
#[derive(Serialize)]
struct Target<'a> {
    kind: [&'a str; 1],
    crate_types: [&'a str; 1],
    name: &'a str,
    src_path: &'a str,
    edition: &'a str,
    doc: bool,
    doctest: bool,
    test: bool,
}

impl<'a> Target<'a> {
    const fn of(file: &'a str) -> Self {
        // Readers of cargo's format require all fields. The edition is arbitrary.
        Self { kind: ["bin"], crate_types: ["bin"], name: file, src_path: file, edition: "2015", doc: false, doctest: false, test: false }
    }
}

/// Reports the result of each file.
pub struct Report<'a> {
    arguments: &'a Arguments,
    /// Maps each output file to its input, to detect two inputs with the same output file.
    written: HashMap<PathBuf, String>,
}

impl<'a> Report<'a> {
    /// Creates a report without files.
    pub fn new(arguments: &'a Arguments) -> Self {
        Self { arguments, written: HashMap::new() }
    }

    fn is_json(&self) -> bool {
        self.arguments.message_format == MessageFormat::Json
    }

    /// Reports the diagnostics of a file and writes its outputs.
    ///
    /// # Errors
    /// Fails with the file that cannot be written and the reason.
    pub fn outcome(&mut self, file: &str, outcome: &Outcome) -> Result<(), String> {
        if self.is_json() {
            for message in &outcome.messages {
                line(&Line::CompilerMessage { package_id: file, target: Target::of(file), message });
            }
        } else {
            // A closed terminal is not an error.
            let _ = write!(anstream::stderr(), "{}", outcome.log);
        }
        for (stage, text) in &outcome.texts {
            self.text(file, *stage, text)?;
        }
        Ok(())
    }

    /// Reports the end of the compilation of all files.
    pub fn finish(&self, success: bool) {
        if self.is_json() {
            line(&Line::BuildFinished { success });
        }
    }

    /// Reports that a file cannot be read or written, also with `--message-format json` on standard error.
    pub fn error(&self, file: &str, text: &str) {
        if self.is_json() {
            line(&Line::CompilerMessage { package_id: file, target: Target::of(file), message: &Message::error(text) });
        }
        let _ = writeln!(anstream::stderr(), "wgclc: {text}");
    }

    fn text(&mut self, file: &str, stage: Emit, text: &str) -> Result<(), String> {
        let Some(output) = &self.arguments.output else {
            if self.arguments.files.len() > 1 {
                show(&format!("==> {file} <==\n"));
            }
            show(text);
            return Ok(());
        };
        let path = match self.arguments.folder() {
            Some(folder) => {
                std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
                let stem = Path::new(file).file_stem().filter(|_| file != "-").unwrap_or("stdin".as_ref());
                folder.join(format!("{}.{}", stem.display(), stage.extension()))
            }
            None => output.clone(),
        };
        if let Some(other) = self.written.insert(path.clone(), file.to_owned()).filter(|other| other != file) {
            return Err(format!("{other} and {file} have the same output file {}", path.display()));
        }
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        if self.is_json() {
            line(&Line::Output { file, stage: stage.extension(), filename: &path });
        }
        Ok(())
    }
}

fn line(line: &Line<'_>) {
    // The serialisation of strings and numbers does not fail.
    show(&serde_json::to_string(line).map(|text| text + "\n").unwrap_or_default());
    // Editors read the output line by line.
    let _ = std::io::stdout().flush();
}
