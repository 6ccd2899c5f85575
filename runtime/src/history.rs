//! With what a program was launched: what the next process is told of it.

use serde::{Deserialize, Serialize};

/// Launches of a program that its history holds: the last ones.
const REMEMBERED: usize = 64;

/// A variant of a kernel that a launch has asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched<K> {
    /// The kernel's name.
    pub kernel: String,
    /// What it was specialised to.
    pub key: K,
    /// Whether its artifact is kept for work-groups of all sizes.
    pub any_group_size: bool,
}

/// With what a program was launched, and what was found out about its kernels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct History<K> {
    /// In the order in which they were first wanted.
    pub launches: Vec<Launched<K>>,
    /// Kernels, and the bytes of local and of private memory that each takes, as far as known.
    pub usage: Vec<(String, u32, u32)>,
    /// Kernels, and the questions and answers of [`Kernel::find_out`](crate::Kernel::find_out).
    pub findings: Vec<(String, u32, u32)>,
}

impl<K> Default for History<K> {
    fn default() -> Self {
        Self { launches: Vec::new(), usage: Vec::new(), findings: Vec::new() }
    }
}

impl<K> History<K> {
    /// Appends a launch, and forgets the oldest where there are too many.
    pub(crate) fn push(&mut self, launched: Launched<K>) {
        self.launches.push(launched);
        if self.launches.len() > REMEMBERED {
            self.launches.remove(0);
        }
    }
}
