//! The launch history of a program, stored in the disk cache for the next process.

use serde::{Deserialize, Serialize};

/// Maximum number of launches in a history. In a full history, a new launch replaces the oldest one.
const MAX_LAUNCHES: usize = 64;

/// A variant that a launch requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched<K> {
    /// Name of the kernel.
    pub kernel: String,
    /// Key of the variant.
    pub key: K,
    /// Whether the variant's artifact can run work-groups of any size. If true, the disk cache contains the artifact
    /// under the common key of all local sizes.
    pub any_group_size: bool,
}

/// The launches of a program, and facts about its kernels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct History<K> {
    /// The launches, in the order of the first request.
    pub launches: Vec<Launched<K>>,
    /// The known memory usage of kernels: name, bytes of local memory, bytes of private memory.
    pub usage: Vec<(String, u32, u32)>,
    /// Kernel name, key and value of each measurement ([`Kernel::measure_once`](crate::Kernel::measure_once)).
    pub measurements: Vec<(String, u32, u32)>,
}

impl<K> Default for History<K> {
    fn default() -> Self {
        Self { launches: Vec::new(), usage: Vec::new(), measurements: Vec::new() }
    }
}

impl<K> History<K> {
    /// Appends a launch. Removes the oldest launch if there are more than the maximum.
    pub(crate) fn push(&mut self, launched: Launched<K>) {
        self.launches.push(launched);
        if self.launches.len() > MAX_LAUNCHES {
            self.launches.remove(0);
        }
    }
}
