//! One line at the end of a process that ran kernels with the sanitizer:
//! `wgcl: checked 3 launches of 2 kernels: nothing found`.

use std::collections::HashSet;

use parking_lot::Mutex;

use super::at_exit;

#[derive(Default)]
struct Summary {
    launches: u64,
    /// The names of the launched kernels.
    kernels: HashSet<String>,
    findings: u64,
}

static SUMMARY: Mutex<Option<Summary>> = Mutex::new(None);

/// Counts a launch of a kernel with the sanitizer.
pub fn count_launch(kernel: &str) {
    let mut summary = SUMMARY.lock();
    let summary = summary.get_or_insert_default();
    summary.launches += 1;
    if !summary.kernels.contains(kernel) {
        summary.kernels.insert(kernel.to_owned());
    }
}

/// Counts an error that the sanitizer reports.
pub fn count_finding() {
    SUMMARY.lock().get_or_insert_default().findings += 1;
}

/// Prints the summary on standard error, in an exit handler. Prints nothing if no kernel was launched with the
/// sanitizer.
pub fn print() {
    let counted = |count: u64, one: &str, several: &str| format!("{count} {}", if count == 1 { one } else { several });
    let Some(mut summary) = at_exit::lock(&SUMMARY) else { return at_exit::print_lost("the summary of the checks") };
    if let Some(Summary { launches, kernels, findings }) = summary.take() {
        let found = if findings == 0 { "nothing found".to_owned() } else { counted(findings, "error", "errors") };
        let launches = counted(launches, "launch", "launches");
        let kernels = counted(kernels.len() as u64, "kernel", "kernels");
        at_exit::print(format_args!("wgcl: checked {launches} of {kernels}: {found}\n"));
    }
}
