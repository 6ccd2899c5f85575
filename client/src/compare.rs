//! Compares the buffers that two devices computed.

use crate::element::{Element, Value};
use crate::session::Buffer;

/// The differences between the buffers of two devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Number of elements that differ by more than the permitted difference.
    pub count: usize,
    /// Number of elements.
    pub total: usize,
    /// The first differing elements: the index, and the value on each device.
    pub first: Vec<(usize, Value, Value)>,
    /// The largest difference of floats in units in the last place (ULP) of the first device's value, or the largest
    /// difference of integers. It is infinite if two floats differ and one of them is a NaN or an infinity.
    pub ulp: f64,
}

/// Compares two buffers of the same size: integers exactly, and floats with a permitted difference of `ulp`. All NaNs
/// are equal. Returns `None` if there are no differences, and at most `listed` of the first differing elements.
pub fn differences(one: &Buffer, other: &Buffer, ulp: f64, listed: usize) -> Option<Difference> {
    let total = one.after.len() / one.element.size();
    let mut found: Option<Difference> = None;
    for index in 0..total {
        let (a, b) = (one.element.load(&one.after, index)?, one.element.load(&other.after, index)?);
        let distance = distance(one.element, a, b);
        let allowed = if one.element.is_float() { ulp } else { 0.0 };
        if distance > allowed {
            let found = found.get_or_insert(Difference { count: 0, total, first: Vec::new(), ulp: 0.0 });
            if found.count < listed {
                found.first.push((index, a, b));
            }
            found.count += 1;
            found.ulp = found.ulp.max(distance);
        }
    }
    found
}

fn distance(element: Element, a: Value, b: Value) -> f64 {
    if !element.is_float() {
        return (a.as_int() - b.as_int()).unsigned_abs() as f64;
    }
    let (a, b) = (a.as_f64(), b.as_f64());
    if a == b || a.is_nan() && b.is_nan() {
        return 0.0;
    }
    if !a.is_finite() || !b.is_finite() {
        return f64::INFINITY;
    }
    (a - b).abs() / element.ulp(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(values: &[f32]) -> Buffer {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Buffer { name: "a".to_owned(), element: Element::Float, before: bytes.clone(), after: bytes }
    }

    #[test]
    fn differences_are_counted_in_units_in_the_last_place() {
        let (one, other) = (buffer(&[1.0, f32::NAN, 0.0, 4.0]), buffer(&[1.0 + f32::EPSILON, f32::NAN, -0.0, 4.0]));
        assert_eq!(differences(&one, &other, 1.0, 1), None);
        let first = vec![(0, Value::Float(1.0), Value::Float(f64::from(1.0 + f32::EPSILON)))];
        assert_eq!(differences(&one, &other, 0.0, 1), Some(Difference { count: 1, total: 4, first, ulp: 1.0 }));
        assert!(differences(&one, &buffer(&[1.0, 2.0, 0.0, 4.0]), 9.0, 1).is_some_and(|found| found.ulp.is_infinite()));
    }
}
