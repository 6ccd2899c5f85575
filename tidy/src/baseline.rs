//! Findings that are permitted for now. `tidy/baseline.txt` has lines `RULE FILE COUNT`. The counts may only decrease.

use std::collections::{BTreeMap, BTreeSet};

use crate::files;
use crate::rules::{Finding, RULES};

/// The number of findings by rule and file.
pub type Counts = BTreeMap<(String, String), usize>;

fn path() -> std::path::PathBuf {
    files::root().join("tidy/baseline.txt")
}

/// Counts findings by rule and file.
pub fn count(findings: &[Finding]) -> Counts {
    let mut counts = Counts::new();
    for finding in findings {
        *counts.entry((finding.rule.to_owned(), finding.path.clone())).or_default() += 1;
    }
    counts
}

/// Returns the number of findings of one rule in all files.
pub fn total(counts: &Counts, rule: &str) -> usize {
    counts.iter().filter(|((name, _), _)| name == rule).map(|(_, count)| count).sum()
}

/// Reads the baseline. A missing file permits no finding. Fails if a line has the wrong format.
pub fn read() -> Result<Counts, String> {
    let text = std::fs::read_to_string(path()).unwrap_or_default();
    let mut counts = Counts::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#')) {
        let entry = match line.split(' ').collect::<Vec<_>>()[..] {
            [rule, file, count] => count.parse().ok().map(|count| ((rule.to_owned(), file.to_owned()), count)),
            _ => None,
        };
        let (key, count) = entry.ok_or_else(|| format!("tidy/baseline.txt:{number}: expected `RULE FILE COUNT`, got `{line}`"))?;
        counts.insert(key, count);
    }
    Ok(counts)
}

/// Returns the rules and files with more findings than the baseline permits.
///
/// A moved file has no entry. It may have as many findings as the entries of files that no longer exist permit.
pub fn exceeded(found: &Counts, permitted: &Counts) -> BTreeSet<(String, String)> {
    let mut gone: BTreeMap<&str, usize> = BTreeMap::new();
    for ((rule, file), count) in permitted {
        if !files::root().join(file).exists() {
            *gone.entry(rule).or_default() += count;
        }
    }
    let mut exceeded = BTreeSet::new();
    for (key, count) in found {
        let spare = gone.entry(&key.0).or_default();
        match permitted.get(key) {
            Some(permitted) if count <= permitted => {}
            None if count <= spare => *spare -= count,
            _ => {
                exceeded.insert(key.clone());
            }
        }
    }
    exceeded
}

/// Replaces the baseline with the current findings. Fails if a rule has more findings than before, unless there was no
/// baseline.
pub fn write(found: &Counts, old: &Counts) -> Result<(), String> {
    for rule in RULES {
        let (before, now) = (total(old, rule), total(found, rule));
        if now > before && !old.is_empty() {
            return Err(format!("rule `{rule}`: {now} findings, but the baseline permits only {before}: correct the new findings"));
        }
    }
    let mut text = String::from(
        "# Findings that are permitted for now: RULE FILE COUNT. UPDATE_EXPECT=1 cargo test -p wgcl-tidy rewrites this file.\n",
    );
    for ((rule, file), count) in found {
        text.push_str(&format!("{rule} {file} {count}\n"));
    }
    std::fs::write(path(), text).map_err(|error| format!("tidy/baseline.txt: {error}"))
}
