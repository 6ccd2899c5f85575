//! Where private arrays live: in the function, in a share of workgroup memory, or in scratch memory.

use super::plan::Inputs;
use super::views::{Backing, Object, Rule, ViewKey};

/// Bytes that all private arrays of a work-item may take in the function. NVIDIA's Vulkan driver 580.159 loses the device between 12 and
/// 16 KiB a work-item, whatever the number of work-items.
const FUNCTION: u64 = 8 * 1024;
/// The same for lavapipe, which gathers from there and stores without a jump for each work-item, but takes a tenth of a millisecond more to compile for each
/// word.
const LAVAPIPE: u64 = 4 * 1024;

/// Decides for all objects that are in the function so far; says whether some go to scratch memory. The smallest stay: they
/// are the most likely to be indexed often, or to end in registers.
pub(super) fn place(objects: &mut [Object], local_memory: &mut u32, inputs: &Inputs<'_>) -> bool {
    let target = inputs.target;
    let items: u64 = inputs.key.local_size.iter().map(|&n| u64::from(n.max(1))).product();
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
        if in_function + bytes <= if target.loop_limit { LAVAPIPE } else { FUNCTION } {
            in_function += bytes;
        } else if target.loop_limit && bytes * items + u64::from(*local_memory) <= u64::from(target.max_local_memory) {
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
