//! What is known of a device before its files run: which of them it skips for want of a feature, and which fail on it.
//!
//! `tests/expected/DEVICE.txt` says so, each with a reason; `tests/README.md` describes the form. A file is held to that list both ways: what skips
//! or fails without standing there is a failure, and so is what stands there and does neither.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::common;
use super::{Outcome, Ran};

/// Whether kernels do a type by others (`WGCL_EMULATE`).
fn emulates(name: &str) -> bool {
    std::env::var("WGCL_EMULATE").is_ok_and(|list| list.split(',').any(|part| part.trim() == name))
}

/// What a list says of one file.
#[derive(Debug, Default, PartialEq)]
struct Entry {
    /// Features for want of which the file, or some of its builds, are skipped.
    skips: BTreeSet<String>,
    fails: bool,
}

/// The list of one device.
#[derive(Debug)]
pub struct Expectations {
    /// As it is named in messages.
    list: String,
    files: BTreeMap<String, Entry>,
}

/// The name of the list for the device of this process; `None` where there is none, as for GPUs and for the platforms of others.
pub fn list_of_device() -> Result<Option<&'static str>, String> {
    let target = common::try_target()?;
    if !target.is_wgcl() {
        return Ok(None);
    }
    let name = common::device_name(target);
    if let Some(level) = super::spirv::level() {
        let known = common::is_cpu() && !name.contains("interpreter");
        return Ok(match level.as_str() {
            "0" if known => Some("spirv-0"),
            "2" if known => Some("spirv-2"),
            _ => None,
        });
    }
    let portable = std::env::var("WGCL_PORTABLE").is_ok_and(|value| value == "1");
    let nans = std::env::var("WGCL_CHECK").is_ok_and(|value| value.split(',').any(|word| word == "nan"));
    Ok(match name.as_str() {
        name if name.contains("interpreter") => Some("interpreter"),
        _ if common::is_cpu() => Some(if nans { "nan" } else { "cpu" }),
        name if name.contains("llvmpipe") && name.contains("OpenGL ES") => Some("gles"),
        name if name.contains("llvmpipe") && emulates("int64") => Some("words"),
        name if name.contains("llvmpipe") => Some(if portable { "portable" } else { "lavapipe" }),
        _ => None,
    })
}

impl Expectations {
    /// The list of that name; every file that it names must be one of `known`. None is skipped for want of what `WGCL_EMULATE` makes.
    pub fn read(name: &str, known: &BTreeSet<String>) -> Result<Self, String> {
        let list = format!("tests/expected/{name}.txt");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(&list);
        let text = std::fs::read_to_string(path).map_err(|error| format!("{list}: {error}"))?;
        let mut files = parse(&text).map_err(|error| format!("{list}: {error}"))?;
        for entry in files.values_mut() {
            if emulates("int64_atomics") {
                entry.skips.remove("cl_khr_int64_base_atomics");
                if entry.skips.remove("atomic_double") {
                    // What is left to want.
                    entry.skips.insert("fp64".to_owned());
                }
            }
            if emulates("fp64") {
                entry.skips.remove("fp64");
            }
        }
        match files.keys().find(|file| !known.contains(*file)) {
            Some(file) => Err(format!("{list}: there is no file {file}")),
            None => Ok(Self { list, files }),
        }
    }

    /// Whether what a file did is what is expected of it: what came of it, and a line about that.
    pub fn judge(&self, file: &str, ran: Ran) -> Ran {
        let nothing = Entry::default();
        let entry = self.files.get(file).unwrap_or(&nothing);
        let list = &self.list;
        let failed = |report| Ran { outcome: Outcome::Failed { crashed: false }, skips: BTreeSet::new(), report };
        match ran.outcome {
            Outcome::Failed { crashed: false } if entry.fails => {
                Ran { outcome: Outcome::Skipped, skips: BTreeSet::new(), report: format!("fails, as {list} says") }
            }
            Outcome::Failed { .. } => ran,
            _ if entry.fails => failed(format!("it passes, although {list} says that it fails: take it off the list\n")),
            _ if ran.skips == entry.skips => ran,
            _ => {
                let words = |skips: &BTreeSet<String>| match skips.len() {
                    0 => "nothing".to_owned(),
                    _ => skips.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
                };
                failed(format!("it is skipped for want of {}, and {list} says of {}\n", words(&ran.skips), words(&entry.skips)))
            }
        }
    }
}

/// Reads a list: `skips FEATURE: REASON` or `fails: REASON`, and the files of which that is so, indented, a line each.
fn parse(text: &str) -> Result<BTreeMap<String, Entry>, String> {
    let mut files: BTreeMap<String, Entry> = BTreeMap::new();
    // Whether the files that follow skip something (and what) or fail.
    let mut heading: Option<Option<&str>> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let wrong = |what: &str| format!("line {number}: {what}");
        if line.starts_with(' ') {
            let entry = files.entry(trimmed.to_owned()).or_default();
            let is_new = match heading.ok_or_else(|| wrong("a file without a heading"))? {
                Some(feature) => entry.skips.insert(feature.to_owned()),
                None => !std::mem::replace(&mut entry.fails, true),
            };
            if !is_new {
                return Err(wrong("the file stands there twice"));
            }
            continue;
        }
        let (what, reason) = trimmed.split_once(':').ok_or_else(|| wrong("a heading is `skips FEATURE: REASON` or `fails: REASON`"))?;
        if reason.trim().is_empty() {
            return Err(wrong("a heading without a reason"));
        }
        heading = Some(match what.split_once(' ') {
            Some(("skips", feature)) => Some(feature.trim()),
            None if what == "fails" => None,
            _ => return Err(wrong("a heading is `skips FEATURE: REASON` or `fails: REASON`")),
        });
    }
    Ok(files)
}
