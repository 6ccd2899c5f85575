//! Where private arrays live: in the function, in a share of workgroup memory, or in scratch memory.

use super::plan::Inputs;
use super::views::{Backing, Object, Rule, ViewKey};

/// Decides for all objects that are in the function so far; says whether some go to scratch memory. The smallest stay: they
/// are the most likely to be indexed often, or to end in registers.
pub(super) fn place(objects: &mut [Object], local_memory: &mut u32, inputs: &Inputs<'_>) -> bool {
    let target = inputs.target;
    let items: u64 = inputs.key.kernel.local_size.iter().map(|&n| u64::from(n.max(1))).product();
    let mut private: Vec<(u64, &mut Object)> = objects
        .iter_mut()
        .filter_map(|object| match (object.backing, object.rule) {
            (Backing::Function(_), Rule::One(key)) => Some((u64::from(object.elements(key)) * u64::from(key.stored()), object)),
            _ => None,
        })
        .collect();
    private.sort_by_key(|(bytes, _)| *bytes);
    let (mut in_function, mut scratch) = (0, false);
    for (bytes, object) in private {
        if in_function + bytes <= u64::from(target.shaders.limits.function_memory) {
            in_function += bytes;
        } else if target.shaders.costs.private_in_local
            && bytes * items + u64::from(*local_memory) <= u64::from(target.language.max_local_memory)
        {
            object.backing = Backing::WorkgroupShare;
            *local_memory += (bytes * items) as u32;
        } else {
            object.backing = Backing::Scratch { binding: 0 };
            object.rule = Rule::One(ViewKey::WORDS);
            scratch = true;
        }
    }
    scratch
}
