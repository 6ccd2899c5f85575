//! Compares a build log's diagnostics with the `error` and `warning` directives of the file.

use super::directive::Expected;

/// A diagnostic of a build log.
#[derive(Debug)]
struct Found {
    line: usize,
    severity: &'static str,
    text: String,
}

/// Reads the `file:line:column: severity: text` lines of a log.
fn read(log: &str) -> Vec<Found> {
    log.lines()
        .filter_map(|line| {
            let (place, severity, text) = [": error: ", ": fatal error: ", ": warning: "].iter().find_map(|mark| {
                let (place, text) = line.split_once(mark)?;
                Some((place, if mark.contains("error") { "error" } else { "warning" }, text))
            })?;
            let mut parts = place.rsplitn(3, ':');
            let _column: usize = parts.next()?.trim().parse().ok()?;
            let line = parts.next()?.parse().ok()?;
            parts.next()?;
            Some(Found { line, severity, text: text.to_owned() })
        })
        .collect()
}

/// Checks that every expected diagnostic is in the log at its line, and that the log has no error beyond them (and no
/// warning, where the file expects any).
pub fn compare(expected: &[Expected], log: &str) -> Vec<String> {
    let mut found = read(log);
    let mut problems = Vec::new();
    for want in expected {
        let fits = |have: &Found| have.line == want.line && have.severity == want.severity && have.text.contains(&want.text);
        match found.iter().position(fits) {
            Some(index) => {
                found.remove(index);
            }
            None => problems.push(format!("line {}: no {} containing `{}`", want.line, want.severity, want.text)),
        }
    }
    let warnings_matter = expected.iter().any(|want| want.severity == "warning");
    for left in found.iter().filter(|left| left.severity == "error" || warnings_matter) {
        problems.push(format!("line {}: unexpected {}: {}", left.line, left.severity, left.text));
    }
    if !problems.is_empty() {
        problems.push(format!("the build log:\n{log}"));
    }
    problems
}
