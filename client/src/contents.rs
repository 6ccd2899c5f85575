//! The bytes of arguments: values are evaluated for each element, structures have the layout of C.

use crate::element::Element;
use crate::error::NotationError;
use crate::expression::Scope;
use crate::notation::{Init, slots};

/// The bytes of `count` elements, padded to `slots`.
///
/// # Errors
/// If an expression uses a name that the scope does not have, or there is not enough memory.
pub fn fill(element: Element, count: usize, slots: usize, init: &Init, scope: &Scope<'_>) -> Result<Vec<u8>, NotationError> {
    let mut bytes = Vec::new();
    let size = slots.max(count).saturating_mul(element.size());
    bytes.try_reserve_exact(size).map_err(|_| format!("there is no memory for {size} bytes"))?;
    let mut scope = scope.clone();
    for index in 0..count {
        scope.index = index as i128;
        let value = init.evaluate(&scope)?;
        element.store(value, &mut bytes);
    }
    bytes.resize(size, 0);
    Ok(bytes)
}

/// The bytes of a structure: each field at its alignment, the size padded to the largest alignment.
///
/// # Errors
/// The errors of [`fill`].
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
