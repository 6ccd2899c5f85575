//! Checks every file against the rules of language and size (`wgcl_tidy::rules`).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use wgcl_tidy::{baseline, rules};

/// Maximum number of findings that a failure lists.
const LISTED: usize = 60;

#[test]
fn the_source_follows_the_rules() {
    let findings = rules::check_all().unwrap();
    let found = baseline::count(&findings);
    let permitted = baseline::read().unwrap();
    for rule in rules::RULES {
        println!("{:6} {rule} (the baseline permits {})", baseline::total(&found, rule), baseline::total(&permitted, rule));
    }
    if std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1") {
        baseline::write(&found, &permitted).unwrap();
        return;
    }
    let exceeded = baseline::exceeded(&found, &permitted);
    let excess: Vec<String> = findings
        .iter()
        .filter(|finding| exceeded.contains(&(finding.rule.to_owned(), finding.path.clone())))
        .map(ToString::to_string)
        .collect();
    let more = excess.len().saturating_sub(LISTED);
    assert!(
        excess.is_empty(),
        "{}{}\n{} findings in files that exceed tidy/baseline.txt",
        excess[..excess.len() - more].join("\n"),
        if more > 0 { format!("\n... and {more} more") } else { String::new() },
        excess.len()
    );
}
