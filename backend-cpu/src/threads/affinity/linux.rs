//! Affinity masks of Linux threads.

/// Number of processors that the process may use, which its affinity mask and its control group limit.
pub(crate) fn cores() -> usize {
    wgcl_compiler::parallel::cores()
}

/// Returns `None`, because a new thread inherits the affinity mask of its creator.
pub(super) const fn to_inherit() -> Option<Affinity> {
    None
}

/// A set of processors.
#[derive(Clone, Copy)]
pub(super) struct Affinity(libc::cpu_set_t);

impl Affinity {
    pub(super) fn of_this_thread() -> Option<Self> {
        // SAFETY: all bits zero are an empty set. The call writes at most its size.
        let (set, result) = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            let result = libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
            (set, result)
        };
        (result == 0).then_some(Self(set))
    }

    pub(super) fn of(processors: impl Iterator<Item = usize>) -> Self {
        // SAFETY: all bits zero are an empty set.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        for processor in processors.filter(|&processor| processor < libc::CPU_SETSIZE as usize) {
            // SAFETY: the filter ensures that the set has this bit.
            unsafe { libc::CPU_SET(processor, &mut set) };
        }
        Self(set)
    }

    pub(super) fn processors(&self) -> Vec<usize> {
        // SAFETY: the set has a bit for each number below CPU_SETSIZE.
        (0..libc::CPU_SETSIZE as usize).filter(|&processor| unsafe { libc::CPU_ISSET(processor, &self.0) }).collect()
    }

    pub(super) fn set(&self) {
        // SAFETY: the call only reads the set.
        if unsafe { libc::sched_setaffinity(0, size_of_val(&self.0), &raw const self.0) } != 0 {
            tracing::warn!("cannot bind a thread to its processors: {}", std::io::Error::last_os_error());
        }
    }
}
