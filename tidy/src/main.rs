//! Lists the findings under the given paths, or in the whole repository: `cargo run -q -p wgcl-tidy --
//! compiler/src/passes icd/tests`.
//!
//! `--rule NAME` restricts the list to one rule. `--totals` prints only the number of findings of each rule.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use wgcl_tidy::rules;

fn main() -> ExitCode {
    let mut paths: Vec<String> = Vec::new();
    let mut rule = None;
    let mut totals = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rule" => rule = arguments.next(),
            "--totals" => totals = true,
            _ => paths.push(argument),
        }
    }
    let findings = match rules::check_all() {
        Ok(findings) => findings,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let chosen: Vec<_> = findings
        .iter()
        .filter(|finding| paths.is_empty() || paths.iter().any(|path| finding.path.starts_with(path.as_str())))
        .filter(|finding| rule.as_ref().is_none_or(|rule| finding.rule == rule))
        .collect();
    if !totals {
        chosen.iter().for_each(|finding| println!("{finding}"));
    }
    for rule in rules::RULES {
        println!("{:6} {rule}", chosen.iter().filter(|finding| finding.rule == rule).count());
    }
    ExitCode::SUCCESS
}
