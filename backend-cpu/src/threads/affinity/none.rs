//! A system without affinity masks.

/// Number of processors that the process may use.
pub(crate) fn cores() -> usize {
    wgcl_compiler::parallel::cores()
}

/// Returns `None`, because the system chooses the processors of each thread.
pub(super) const fn to_inherit() -> Option<Affinity> {
    None
}

/// All processors, as a thread cannot be bound.
#[derive(Clone, Copy)]
pub(super) struct Affinity;

impl Affinity {
    pub(super) const fn of_this_thread() -> Option<Self> {
        None
    }

    pub(super) fn of(_: impl Iterator<Item = usize>) -> Self {
        Self
    }

    pub(super) const fn processors(&self) -> Vec<usize> {
        Vec::new()
    }

    pub(super) const fn set(&self) {}
}
