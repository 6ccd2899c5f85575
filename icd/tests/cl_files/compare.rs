//! Compares the results of a run with its directives.

use std::collections::HashMap;

use wgcl_client::element::{Element, Value};
use wgcl_client::error::NotationError;
use wgcl_client::expression::{Input, Scope};
use wgcl_client::notation::ArgumentKind;

use super::directive::{Expect, Run, Tolerance};
use super::record::{Record, Recorder};

/// Maximum number of mismatches that are shown for one `expect`.
const SHOWN: usize = 8;

/// The recorder to which the buffers of a run are written.
pub struct Records<'a> {
    pub title: &'a str,
    pub recorder: &'a mut Recorder,
}

/// Compares the buffers with the expectations. An element without an `expect` must not have changed.
pub fn compare(
    run: &Run,
    inputs: &HashMap<String, Input>,
    outputs: &HashMap<&str, Vec<u8>>,
    records: &mut Records<'_>,
) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for expect in &run.expects {
        if !outputs.contains_key(expect.name.as_str()) {
            return Err(format!("line {}: no buffer `{}`", expect.line, expect.name));
        }
    }
    for (&name, bytes) in outputs {
        let Some(input) = inputs.get(name) else { continue };
        let element = input.element;
        let count = bytes.len() / element.size();
        let mut is_covered = vec![false; count];
        // Results of an earlier run may contain pointers, which differ between devices, so they are not exact.
        let left = run.arguments.iter().any(|argument| argument.name == name && matches!(argument.kind, ArgumentKind::Same { .. }));
        let mut exact = vec![!left; count];
        for expect in run.expects.iter().filter(|expect| expect.name == name) {
            problems.extend(compare_one(expect, inputs, element, bytes, &mut is_covered, &mut exact)?);
        }
        let size = element.size();
        for index in (0..count).filter(|&index| !is_covered[index]) {
            if bytes[index * size..][..size] != input.bytes[index * size..][..size] {
                problems.push(format!("{name}[{index}] was changed, but no `expect` covers it"));
                break;
            }
        }
        let title = format!("{}: {name}", records.title);
        records.recorder.add(Record { title, size, is_float: element.is_float(), exact, bytes: bytes.clone() });
    }
    Ok(problems)
}

fn compare_one(
    expect: &Expect,
    inputs: &HashMap<String, Input>,
    element: Element,
    bytes: &[u8],
    is_covered: &mut [bool],
    exact: &mut [bool],
) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (index, (is_covered, exact)) in is_covered.iter_mut().zip(exact).enumerate() {
        let scope = Scope { index: index as i128, inputs: Some(inputs), ..Scope::default() };
        let at = |error: NotationError| format!("line {}: {error}", expect.line);
        if let Some(condition) = &expect.condition
            && !condition.evaluate(&scope).map_err(at)?.is_true()
        {
            continue;
        }
        *is_covered = true;
        let want = expect.value.evaluate(&scope).map_err(at)?;
        *exact &= matches!(expect.tolerance, Tolerance::Exact) && want != Value::Any;
        let have = element.load(bytes, index).unwrap_or(Value::Any);
        if !agrees(element, want, have, expect.tolerance) {
            count += 1;
            if wrong.len() < SHOWN {
                wrong.push(format!("{}[{index}] is {have}, expected {}", expect.name, element.convert(want)));
            }
        }
    }
    if count > SHOWN {
        wrong.push(format!("... {count} wrong elements of {} in all", expect.name));
    }
    Ok(wrong.into_iter().map(|text| format!("line {}: {text}", expect.line)).collect())
}

fn agrees(element: Element, want: Value, have: Value, tolerance: Tolerance) -> bool {
    if want == Value::Any {
        return true;
    }
    if !element.is_float() {
        let distance = (element.convert(want).as_int() - have.as_int()).unsigned_abs();
        return match tolerance {
            Tolerance::Exact => distance == 0,
            Tolerance::Ulp(amount) | Tolerance::Relative(amount) => distance as f64 <= amount,
        };
    }
    let (exact, have) = (want.as_f64(), have.as_f64());
    let rounded = element.convert(want).as_f64();
    if rounded.is_nan() || have.is_nan() {
        return rounded.is_nan() && have.is_nan();
    }
    if rounded == have {
        return true;
    }
    if !have.is_finite() || !rounded.is_finite() {
        return false;
    }
    match tolerance {
        Tolerance::Exact => false,
        Tolerance::Ulp(amount) => (exact - have).abs() <= amount * element.ulp(exact),
        Tolerance::Relative(amount) => (exact - have).abs() <= amount * exact.abs().max(1.0),
    }
}
