//! What is told of a file and where what was made of it goes: text for people, or JSON for editors.
//!
//! The objects are cargo's, one a line: `compiler-message` with a diagnostic in rustc's form, `output` for a file that was written, and at the end,
//! each time where files are watched, `build-finished`.

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

/// What cargo calls the target of a message: here the file that was compiled.
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
        // What a reader of cargo's takes for granted; nothing here has editions.
        Self { kind: ["bin"], crate_types: ["bin"], name: file, src_path: file, edition: "2015", doc: false, doctest: false, test: false }
    }
}

/// Tells of files one after the other.
pub struct Report<'a> {
    arguments: &'a Arguments,
    /// Which file each output was written for: two of them may not have the same.
    written: HashMap<PathBuf, String>,
}

impl<'a> Report<'a> {
    /// Before the first file.
    pub fn new(arguments: &'a Arguments) -> Self {
        Self { arguments, written: HashMap::new() }
    }

    fn is_json(&self) -> bool {
        self.arguments.message_format == MessageFormat::Json
    }

    /// Tells of a file, and writes what was made of it.
    ///
    /// # Errors
    /// What could not be written, and why.
    pub fn outcome(&mut self, file: &str, outcome: &Outcome) -> Result<(), String> {
        if self.is_json() {
            for message in &outcome.messages {
                line(&Line::CompilerMessage { package_id: file, target: Target::of(file), message });
            }
        } else {
            // A terminal that is gone is no error.
            let _ = write!(anstream::stderr(), "{}", outcome.log);
        }
        for (stage, text) in &outcome.texts {
            self.text(file, *stage, text)?;
        }
        Ok(())
    }

    /// The end of a turn through all files.
    pub fn finish(&self, success: bool) {
        if self.is_json() {
            line(&Line::BuildFinished { success });
        }
    }

    /// Says something that is about no source.
    pub fn say(&self, text: &str) {
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
            return Err(format!("{}: both {other} and {file} would be written there", path.display()));
        }
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        if self.is_json() {
            line(&Line::Output { file, stage: stage.extension(), filename: &path });
        }
        Ok(())
    }
}

fn line(line: &Line<'_>) {
    // Strings and numbers alone: there is nothing in them that JSON cannot say.
    show(&serde_json::to_string(line).map(|text| text + "\n").unwrap_or_default());
    // Who waits for the line has it now.
    let _ = std::io::stdout().flush();
}
