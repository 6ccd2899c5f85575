//! Writes the table of errors in `docs/accuracy.md`.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::format::Format;
use crate::functions::{Bound, Function, Shape};
use crate::reference::Case;

/// The largest error of a function in one build variant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Worst {
    pub error: f64,
    pub case: Case,
    pub seen: usize,
}

/// A row of the table.
pub struct Line {
    pub function: &'static Function,
    pub format: Format,
    pub plain: Worst,
    pub relaxed: Worst,
}

pub fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/accuracy.md")
}

fn bound(bound: Bound) -> String {
    match bound {
        Bound::Exact => "exact".to_owned(),
        Bound::Ulp(ulp) => format!("{ulp}"),
        Bound::Absolute(limit) => format!("{limit:.1e} absolute"),
        Bound::Scaled(ulp, _) => format!("{ulp}"),
        Bound::Open | Bound::Absent => "open".to_owned(),
    }
}

fn number(x: f64, format: &Format) -> String {
    let text = if format.size == 4 {
        #[allow(clippy::cast_possible_truncation, reason = "a float's value")]
        let x = x as f32;
        format!("{x:?}")
    } else {
        format!("{x:?}")
    };
    // Both text forms are exact. Use the form with an exponent for long numbers of formats other than `float`.
    let other = format!("{x:e}");
    if text.len() <= 12 || format.size == 4 { text } else { other }
}

/// Returns the arguments of a case as text.
pub fn arguments(function: &Function, format: &Format, case: &Case) -> String {
    let mut list: Vec<String> = case.x.iter().take(function.arguments()).map(|&x| number(x, format)).collect();
    if function.shape == Shape::WithInt {
        list.push(case.n.to_string());
    }
    list.join(", ")
}

fn error(worst: &Worst, bound: Bound) -> String {
    match bound {
        _ if worst.seen == 0 => "-".to_owned(),
        Bound::Exact => "0".to_owned(),
        Bound::Absolute(_) => format!("{:.1e}", worst.error),
        _ if worst.error >= 1e5 => format!("{:.1e}", worst.error),
        _ => format!("{:.2}", worst.error),
    }
}

/// Returns the start of a row of the table, which identifies the function.
fn key(line: &Line) -> String {
    format!("| {} | `{}` |", line.format.name, line.function.name)
}

pub fn write(lines: &[Line], device: &str, formats: &[Format]) -> std::io::Result<()> {
    let mut text = format!(
        "# Accuracy of the mathematical functions\n\
         \n\
         The largest measured errors, in units in the last place (ULP) of the exact result (OpenCL C \
         7.4), and the arguments where they occur.\n\
         \n\
         - Device: {device}.\n\
         - Reference: MPFR.\n\
         - Arguments: random numbers over all exponents, edge cases, and many arguments in ranges in \
         which a function is hard to compute accurately; for half, all values.\n\
         - *bound* is the limit of the specification. *open* means that the specification has no limit. \
         If the bound is *absolute*, the errors in the row are absolute, too. wgcl defines the bounds of \
         `lgamma`, `native_cos` and `native_sin`, because the specification has none. For negative \
         arguments, the bound of `lgamma` is relative to the largest of 1, the result, and `lgamma` of the \
         magnitude.\n\
         - *relaxed* is the error for the same arguments with `-cl-fast-relaxed-math`. It does not \
         include arguments for which that option specifies no error.\n\
         - Native functions are measured where arguments and results are normal numbers; `native_sin`, \
         `native_cos` and `native_tan` in [-pi, pi].\n\
         \n\
         `icd/tests/accuracy` measures these errors and writes this page. The test fails if an error \
         exceeds its bound, or if a special value is wrong.\n\
         \n\
         ```sh\n\
         cargo test --release -p wgcl --test accuracy                  # 6,000 random arguments per \
         function, about as many in difficult ranges, and edge cases\n\
         WGCL_ACCURACY_COUNT=1000000 cargo test ... --test accuracy    # this number of random arguments \
         instead of 6,000\n\
         WGCL_ACCURACY=sin,cos cargo test ... --test accuracy          # these functions only\n\
         UPDATE_EXPECT=1 cargo test ... --test accuracy                # writes this page\n\
         ```\n"
    );
    for format in formats {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {}\n\n| type | function | bound | largest | at | relaxed |\n|---|---|---|---|---|---|\n", format.name);
        for line in lines.iter().filter(|line| line.format == *format) {
            let limit = line.function.bound(&line.format);
            let at = if limit == Bound::Exact || line.plain.error == 0.0 {
                String::new()
            } else {
                arguments(line.function, format, &line.plain.case)
            };
            let _ =
                writeln!(text, "{} {} | {} | {at} | {} |", key(line), bound(limit), error(&line.plain, limit), error(&line.relaxed, limit));
        }
    }
    std::fs::write(path(), text)
}

/// Returns the functions that the page does not list.
pub fn missing(lines: &[Line]) -> Vec<String> {
    let page = std::fs::read_to_string(path()).unwrap_or_default();
    lines.iter().map(key).filter(|key| !page.contains(key.as_str())).collect()
}
