//! Compares a build log's diagnostics with the `error` and `warning` directives of the file.

use super::directive::Expected;

/// A diagnostic of a build log.
#[derive(Debug, PartialEq)]
struct Found {
    line: usize,
    severity: &'static str,
    text: String,
}

/// Reads the lines `file:line:column: severity: text` of a log. In PoCL's logs, the severity is first.
fn read(log: &str) -> Vec<Found> {
    log.lines().filter_map(|line| read_clang(line).or_else(|| read_pocl(line))).collect()
}

fn read_clang(line: &str) -> Option<Found> {
    let (place, severity, text) = [(": error: ", "error"), (": fatal error: ", "error"), (": warning: ", "warning")]
        .iter()
        .find_map(|(mark, severity)| line.split_once(mark).map(|(place, text)| (place, *severity, text)))?;
    Some(Found { line: line_of(place)?, severity, text: text.to_owned() })
}

fn read_pocl(line: &str) -> Option<Found> {
    let (severity, rest) = [("error: ", "error"), ("warning: ", "warning")]
        .iter()
        .find_map(|(mark, severity)| line.strip_prefix(mark).map(|rest| (*severity, rest)))?;
    let (place, text) = rest.split_once(": ")?;
    Some(Found { line: line_of(place.split(' ').next()?)?, severity, text: text.to_owned() })
}

/// Returns the line number in `file:line:column`.
fn line_of(place: &str) -> Option<usize> {
    let mut parts = place.rsplitn(3, ':');
    let _column: usize = parts.next()?.trim().parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    parts.next().map(|_file| line)
}

/// Checks that the log contains every expected diagnostic: at its line, or on any line if it has no line. The log must
/// have no other error. If the file expects a warning, the log must have no other warning.
pub fn compare(expected: &[Expected], log: &str) -> Vec<String> {
    let mut found = read(log);
    // PoCL reports some diagnostics twice.
    found.dedup();
    let mut problems = Vec::new();
    for want in expected {
        let fits = |have: &Found| {
            want.line.is_none_or(|line| line == have.line) && have.severity == want.severity && have.text.contains(&want.text)
        };
        match (found.iter().position(fits), want.line) {
            (Some(index), Some(_)) => {
                found.remove(index);
            }
            (Some(_), None) => found.retain(|have| !fits(have)),
            (None, Some(line)) => problems.push(format!("line {line}: no {} containing `{}`", want.severity, want.text)),
            (None, None) => problems.push(format!("no {} containing `{}`", want.severity, want.text)),
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
