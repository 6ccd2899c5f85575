//! The expectations for a device: the files that it skips for a missing feature, and the files that fail on it.
//!
//! `tests/expected/DEVICE.txt` lists these files, each with a reason. `tests/README.md` describes the format. The
//! comparison works in both directions. It fails if a file skips or fails without an entry. It also fails if a file has
//! an entry, but neither skips nor fails.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::common::features::{self, emulates};
use super::{Outcome, Ran};

/// The entry of one file.
#[derive(Debug, Default, PartialEq)]
struct Entry {
    /// Missing features for which the whole file, or some of its builds, are skipped.
    skips: BTreeSet<String>,
    fails: bool,
}

/// The list of one device.
#[derive(Debug)]
pub struct Expectations {
    /// The name of the list in messages.
    list: String,
    files: BTreeMap<String, Entry>,
}

/// Returns the name of the list for the device of this process and the kind of programs (source or SPIR-V). Returns
/// `None` if there is no list.
pub fn list_of_device() -> Result<Option<&'static str>, String> {
    let list = features::list_of_device()?;
    let Some(level) = super::spirv::level() else { return Ok(list) };
    let known = list == Some("cpu") || list == Some("nan");
    Ok(match level.as_str() {
        "0" if known => Some("spirv-0"),
        "2" if known => Some("spirv-2"),
        _ => None,
    })
}

impl Expectations {
    /// Reads the list with this name. Every file in the list must be one of `known`. Features that `WGCL_EMULATE`
    /// provides are removed.
    pub fn read(name: &str, known: &BTreeSet<String>) -> Result<Self, String> {
        let list = format!("tests/expected/{name}.txt");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(&list);
        let text = std::fs::read_to_string(path).map_err(|error| format!("{list}: {error}"))?;
        let mut files = parse(&text).map_err(|error| format!("{list}: {error}"))?;
        for entry in files.values_mut() {
            if emulates("int64_atomics") {
                entry.skips.remove("cl_khr_int64_base_atomics");
                if entry.skips.remove("atomic_double") {
                    // With emulated 64-bit atomics, fp64 is the feature that is still missing.
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

    /// Compares the result of a file with the expectation. Returns the result to count, with a report.
    pub fn judge(&self, file: &str, ran: Ran) -> Ran {
        let nothing = Entry::default();
        let entry = self.files.get(file).unwrap_or(&nothing);
        let list = &self.list;
        let failed = |report| Ran { outcome: Outcome::Failed { crashed: false }, skips: BTreeSet::new(), report };
        match ran.outcome {
            Outcome::Failed { crashed: false } if entry.fails => {
                Ran { outcome: Outcome::Skipped, skips: BTreeSet::new(), report: format!("fails as expected by {list}") }
            }
            Outcome::Failed { .. } => ran,
            _ if entry.fails => failed(format!("it passes, but {list} expects it to fail: remove it from the list\n")),
            _ if ran.skips == entry.skips => ran,
            _ => {
                let words = |skips: &BTreeSet<String>| match skips.len() {
                    0 => "none".to_owned(),
                    _ => skips.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
                };
                failed(format!("skipped for missing features: {}; expected by {list}: {}\n", words(&ran.skips), words(&entry.skips)))
            }
        }
    }
}

/// Parses a list. The heading `skips FEATURE: REASON` or `fails: REASON` precedes its files, each on an indented line.
/// `lacks FEATURE: REASON` has no files.
fn parse(text: &str) -> Result<BTreeMap<String, Entry>, String> {
    let mut files: BTreeMap<String, Entry> = BTreeMap::new();
    // The last heading: `Some(Some(FEATURE))` for `skips`, and `Some(None)` for `fails`.
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
                return Err(wrong("the file is listed twice"));
            }
            continue;
        }
        let (what, reason) = trimmed
            .split_once(':')
            .ok_or_else(|| wrong("a heading is `skips FEATURE: REASON`, `fails: REASON` or `lacks FEATURE: REASON`"))?;
        if reason.trim().is_empty() {
            return Err(wrong("a heading without a reason"));
        }
        heading = Some(match what.split_once(' ') {
            // These entries are for the tests of the API (`common::features`), and have no files.
            Some(("lacks", _)) => {
                heading = None;
                continue;
            }
            Some(("skips", feature)) => Some(feature.trim()),
            None if what == "fails" => None,
            _ => return Err(wrong("a heading is `skips FEATURE: REASON`, `fails: REASON` or `lacks FEATURE: REASON`")),
        });
    }
    Ok(files)
}
