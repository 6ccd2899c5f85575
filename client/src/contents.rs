//! Computes the bytes of arguments. Values are evaluated for each element. Structures have the layout of C.

use crate::element::Element;
use crate::error::NotationError;
use crate::expression::Scope;
use crate::notation::{Init, slots};

/// Returns the bytes of `count` elements, padded with zeros to `slots` elements.
///
/// # Errors
/// Fails if an expression cannot be evaluated or there is not enough memory.
pub fn fill(element: Element, count: usize, slots: usize, init: &Init, scope: &Scope<'_>) -> Result<Vec<u8>, NotationError> {
    let mut bytes = Vec::new();
    let size = slots.max(count).saturating_mul(element.size());
    bytes.try_reserve_exact(size).map_err(|_| format!("cannot allocate {size} bytes"))?;
    let mut scope = scope.clone();
    for index in 0..count {
        scope.index = index as i128;
        let value = init.evaluate(&scope)?;
        element.store(value, &mut bytes);
    }
    bytes.resize(size, 0);
    Ok(bytes)
}

/// Returns the bytes of a structure. Each field is aligned, and the size is a multiple of the largest alignment.
///
/// # Errors
/// Fails with the errors of [`fill`].
pub fn layout(fields: &[(Element, usize, Init)], scope: &Scope<'_>) -> Result<Vec<u8>, NotationError> {
    let mut bytes = Vec::new();
    let mut strictest = 1;
    for (element, width, init) in fields {
        let align = element.size() * slots(*width);
        strictest = strictest.max(align);
        bytes.resize(bytes.len().next_multiple_of(align), 0);
        bytes.extend(fill(*element, *width, slots(*width), init, scope)?);
    }
    bytes.resize(bytes.len().next_multiple_of(strictest), 0);
    Ok(bytes)
}
