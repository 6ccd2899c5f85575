//! Captured launches (`WGCL_CAPTURE`): which launches are captured, and a report at the end of the process.
//!
//! [`crate::commands::capture`] reads the memory of a launch, and [`record`] writes its folder.

pub mod record;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use parking_lot::Mutex;

use super::at_exit;
use crate::options::{CaptureOption, Options};

/// The number of launches of each kernel that are captured if the option does not name one.
pub const MAX_LAUNCHES: u64 = 10;

#[derive(Default)]
struct Counts {
    /// The number of launches of each kernel.
    launches: BTreeMap<String, u64>,
    captured: u64,
    /// The number of selected launches that could not be captured.
    failed: u64,
}

static COUNTS: Mutex<Option<Counts>> = Mutex::new(None);

/// Counts a launch of a kernel. Returns its number, from 1, if the launch is to be captured.
pub(crate) fn select(kernel: &str) -> Option<u64> {
    let option = Options::get().capture.as_ref()?;
    let number = {
        let mut counts = COUNTS.lock();
        let number = counts.get_or_insert_default().launches.entry(kernel.to_owned()).or_default();
        *number += 1;
        *number
    };
    let is_named = option.kernel.as_ref().is_none_or(|name| name == kernel);
    let is_in_limit = option.launch.map_or(number <= MAX_LAUNCHES, |wanted| number == wanted);
    (is_named && is_in_limit).then_some(number)
}

/// Counts a captured launch.
pub(crate) fn count_captured() {
    COUNTS.lock().get_or_insert_default().captured += 1;
}

/// Reports that a selected launch is not captured.
pub(crate) fn report_failure(kernel: &str, number: u64, why: &dyn Display) {
    COUNTS.lock().get_or_insert_default().failed += 1;
    eprintln!("wgcl: kernel `{kernel}`: launch {number} is not captured: {why}");
}

/// Prints the number of captured launches on standard error, in an exit handler.
pub fn print() {
    let Some(option) = &Options::get().capture else { return };
    let Some(counts) = at_exit::lock(&COUNTS) else { return at_exit::print_lost("the summary of captured launches") };
    let empty = Counts::default();
    at_exit::print(format_args!("{}", summary(option, counts.as_ref().unwrap_or(&empty))));
}

/// The text at the end of the process.
fn summary(option: &CaptureOption, counts: &Counts) -> String {
    let launches = |count: u64| format!("{count} launch{}", if count == 1 { "" } else { "es" });
    let mut text = format!("wgcl: captured {} in {}", launches(counts.captured), Path::new(&option.directory).display());
    if counts.failed > 0 {
        text.push_str(&format!("; {} not captured", launches(counts.failed)));
    }
    text.push('\n');
    match (&option.kernel, option.launch) {
        (Some(kernel), launch) => match (counts.launches.get(kernel), launch) {
            (None, _) => {
                let known: Vec<&str> = counts.launches.keys().map(String::as_str).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                text.push_str(&format!("wgcl: WGCL_CAPTURE: kernel `{kernel}` was not launched; launched kernels: {known}\n"));
            }
            (Some(&count), Some(wanted)) if count < wanted => text.push_str(&format!(
                "wgcl: WGCL_CAPTURE: kernel `{kernel}` was launched {count} time{}, so launch {wanted} was not captured\n",
                if count == 1 { "" } else { "s" }
            )),
            (Some(&count), None) if count > MAX_LAUNCHES => text.push_str(&beyond_limit(kernel, count)),
            _ => {}
        },
        (None, _) => {
            for (kernel, &count) in counts.launches.iter().filter(|(_, count)| **count > MAX_LAUNCHES) {
                text.push_str(&beyond_limit(kernel, count));
            }
        }
    }
    text
}

fn beyond_limit(kernel: &str, count: u64) -> String {
    format!(
        "wgcl: WGCL_CAPTURE: kernel `{kernel}` was launched {count} times; the limit is {MAX_LAUNCHES}; \
         DIR:{kernel}:N captures launch N\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{CaptureOption, Counts, summary};

    fn text(kernel: Option<&str>, launch: Option<u64>, launches: &[(&str, u64)], captured: u64, failed: u64) -> String {
        let option = CaptureOption { directory: "out".into(), kernel: kernel.map(str::to_owned), launch };
        let launches = launches.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        summary(&option, &Counts { launches, captured, failed })
    }

    #[test]
    fn the_summary_names_what_is_missing() {
        assert_eq!(text(None, None, &[("a", 1)], 1, 0), "wgcl: captured 1 launch in out\n");
        assert_eq!(text(None, None, &[("a", 3)], 2, 1), "wgcl: captured 2 launches in out; 1 launch not captured\n");
        assert_eq!(
            text(Some("b"), None, &[("a", 1), ("c", 2)], 0, 0),
            "wgcl: captured 0 launches in out\nwgcl: WGCL_CAPTURE: kernel `b` was not launched; launched kernels: a, c\n"
        );
        assert_eq!(
            text(Some("a"), Some(4), &[("a", 1)], 0, 0),
            "wgcl: captured 0 launches in out\nwgcl: WGCL_CAPTURE: kernel `a` was launched 1 time, so launch 4 was not captured\n"
        );
        assert_eq!(
            text(None, None, &[("a", 11)], 10, 0),
            "wgcl: captured 10 launches in out\n\
             wgcl: WGCL_CAPTURE: kernel `a` was launched 11 times; the limit is 10; DIR:a:N captures launch N\n"
        );
    }
}
