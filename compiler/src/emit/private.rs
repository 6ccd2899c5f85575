//! Decides which private arrays are variables of storage class Function and which are in scratch memory.
//!
//! Example: with a limit of 8 KiB, a 64-byte array is a variable of storage class Function. A 16 KiB array is in
//! scratch memory.

use super::views::{Backing, Object, Rule, ViewKey};
use crate::target::Target;

/// Moves the largest private arrays to scratch memory, so that the others fit into the limit `function_memory` of the
/// device. Arrays that several functions access do not move. Returns true if an array was moved. Small arrays are moved
/// last, because they are most likely to be indexed often, or to be promoted to registers.
pub(super) fn move_to_scratch(objects: &mut [Object], target: &Target) -> bool {
    let bytes = |object: &Object, key: ViewKey| u64::from(object.elements(key)) * u64::from(key.stored());
    let of_several_functions = objects.iter().filter(|object| object.backing == Backing::Private).map(|object| match object.rule {
        Rule::One(key) => bytes(object, key),
        _ => 0,
    });
    let mut in_function: u64 = of_several_functions.sum();
    let mut private: Vec<(u64, &mut Object)> = objects
        .iter_mut()
        .filter_map(|object| match (object.backing, object.rule) {
            (Backing::Function(_), Rule::One(key)) => Some((bytes(object, key), object)),
            _ => None,
        })
        .collect();
    private.sort_by_key(|(bytes, _)| *bytes);
    let mut scratch = false;
    for (bytes, object) in private {
        if in_function + bytes <= u64::from(target.shaders.limits.function_memory) {
            in_function += bytes;
        } else {
            object.backing = Backing::Scratch { binding: 0 };
            object.rule = Rule::One(ViewKey::WORDS);
            scratch = true;
        }
    }
    scratch
}
