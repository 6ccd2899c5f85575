//! Writes the table of errors in `docs/accuracy.md`.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::format::Format;
use crate::functions::{Bound, Function, Relaxed, Shape};
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

/// The relaxed error. The bounds of sine and cosine of floats are absolute with the relaxed options.
fn relaxed_error(line: &Line, bound: Bound) -> String {
    let is_absolute =
        line.format.size == 4 && matches!(line.function.relaxed, Relaxed::Sine(_)) && !line.function.name.starts_with("native_");
    if is_absolute && line.relaxed.seen > 0 {
        return format!("{:.1e} absolute", line.relaxed.error);
    }
    error(&line.relaxed, bound)
}

/// The columns of a kind of device: the largest error, its argument, and the largest error with relaxed options.
const COLUMNS: usize = 3;

/// Returns the cells of a device in the row of a function on the existing page.
fn known(page: &str, line: &Line, device: usize) -> String {
    let row = page.lines().find_map(|row| row.strip_prefix(key(line).as_str()));
    let cells: Vec<&str> = row.map(|row| row.split('|').map(str::trim).collect()).unwrap_or_default();
    let first = 1 + device * COLUMNS;
    (first..first + COLUMNS).map(|column| cells.get(column).copied().unwrap_or_default()).collect::<Vec<_>>().join(" | ")
}

/// Writes the page. The columns of the other kind of device keep their contents.
pub fn write(lines: &[Line], device: &str, is_cpu: bool, formats: &[Format]) -> std::io::Result<()> {
    let page = std::fs::read_to_string(path()).unwrap_or_default();
    let known_device = |name: &str| {
        let prefix = format!("- {name}: ");
        page.lines().find_map(|line| line.strip_prefix(prefix.as_str())).map_or_else(|| "not measured".to_owned(), str::to_owned)
    };
    let [cpu, vulkan] = if is_cpu { [device.to_owned(), known_device("Vulkan")] } else { [known_device("CPU"), device.to_owned()] };
    let mut text = INTRODUCTION.replace("CPU_DEVICE", &cpu).replace("VULKAN_DEVICE", &vulkan);
    for format in formats {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n## {}\n\n| type | function | bound | CPU | at | CPU, relaxed | Vulkan | at | Vulkan, relaxed |\n|---|---|---|---|---|---|---|---|---|\n",
            format.name
        );
        for line in lines.iter().filter(|line| line.format == *format) {
            let limit = line.function.bound(&line.format);
            let at = if limit == Bound::Exact || line.plain.error == 0.0 {
                String::new()
            } else {
                arguments(line.function, format, &line.plain.case)
            };
            let own = format!("{} | {at} | {}", error(&line.plain, limit), relaxed_error(line, limit));
            let [first, second] = if is_cpu { [own, known(&page, line, 1)] } else { [known(&page, line, 0), own] };
            let _ = writeln!(text, "{} {} | {first} | {second} |", key(line), bound(limit));
        }
    }
    std::fs::write(path(), text)
}

const INTRODUCTION: &str = "# Accuracy of the mathematical functions

All functions are within the bounds of the specification (OpenCL C 7.4) on both devices below. They have not been measured on GPUs. \
Most errors are below 2 ULP for `float` and `double`, and at most 0.5 ULP for `half`. \
The tables list the largest measured errors, in units in the last place (ULP) of the exact result, and the arguments where they occur. \
More arguments can find slightly larger errors; the bound is the guarantee.

- CPU: CPU_DEVICE
- Vulkan: VULKAN_DEVICE

llvmpipe is lavapipe, Mesa's Vulkan driver for CPUs. [Build options](#build-options) shows which options change results.

The functions are wgcl's own code, which is the same on all devices. Errors differ, because the CPU device uses its own sequences for some functions, and \
GPU drivers compute the native functions. `native_exp` on a GPU, for example, is the driver's `Exp2` of a product.

- Reference: MPFR.
- Arguments: 6,000 random numbers over all exponents (`WGCL_ACCURACY_COUNT`), edge cases, and many numbers in ranges that are hard to compute accurately; for half, all values.
- *bound* is the limit of the specification. *open* means that the specification has no limit. If the bound is *absolute*, the errors in the row are \
absolute, too. wgcl defines the bounds of `lgamma`, `native_cos` and `native_sin`, because the specification has none. For negative arguments, the bound of \
`lgamma` is relative to the largest of 1, the result, and `lgamma` of the magnitude.
- *relaxed* is the error for the same arguments with `-cl-fast-relaxed-math`. Arguments for which the specification permits any result with this option are left out. \
The code of these functions is the same with and without the option. The columns differ only where the bound with the option is absolute, or holds for fewer \
arguments, such as [-pi, pi] for `sin` and `cos`.
- Native functions are measured where arguments and results are normal numbers; `native_sin`, `native_cos` and `native_tan` in [-pi, pi].

`icd/tests/accuracy` measures these errors and writes this page. The test fails if an error exceeds its bound, or if a special value is wrong.

```sh
cargo test --profile checked --workspace --test accuracy      # 6,000 random arguments per function, about as many in difficult ranges, and edge cases
WGCL_ACCURACY_COUNT=1000000 cargo test ... --test accuracy    # this number of random arguments instead of 6,000
WGCL_ACCURACY=sin,cos cargo test ... --test accuracy          # these functions only
UPDATE_EXPECT=1 cargo test ... --test accuracy                # writes this page: the columns of the first device
UPDATE_EXPECT=1 WGCL_CPU=0 cargo test ... --test accuracy     # writes the columns of a Vulkan device
```

## Build options

| option | effect |
|---|---|
| `-cl-fast-relaxed-math` | `length`, `distance` and `normalize` do not scale their operands, as `fast_length` and the others. `vstore_half` without a rounding suffix uses the conversion of a Vulkan device. The macro `__FAST_RELAXED_MATH__` is defined. |
| `-cl-single-precision-constant` | Constants without a suffix are `float`. |
| `-cl-mad-enable`, `-cl-unsafe-math-optimizations`, `-cl-no-signed-zeros`, `-cl-finite-math-only`, `-cl-denorms-are-zero`, `-cl-fp32-correctly-rounded-divide-sqrt`, `-cl-opt-disable`, `-cl-strict-aliasing` | none |

These rules hold with all options:

- `sin`, `cos` and `tan` have the errors of the tables for all arguments.
- A product and a sum in one expression (`a * b + c`) become one `fma` if the device has a fast one. `#pragma OPENCL FP_CONTRACT OFF` prevents this.
- wgcl's compiler preserves infinities, NaNs and signed zeros.
- The CPU device preserves denormals. Vulkan devices preserve them if `CL_DEVICE_SINGLE_FP_CONFIG` contains `CL_FP_DENORM`, except lavapipe of Mesa 26.2.6 ([known limitations](known-limitations.md#vulkan-devices)).
";

/// Returns the functions that the page does not list.
pub fn missing(lines: &[Line]) -> Vec<String> {
    let page = std::fs::read_to_string(path()).unwrap_or_default();
    lines.iter().map(key).filter(|key| !page.contains(key.as_str())).collect()
}
