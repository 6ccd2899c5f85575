//! The device's threads: a pool that runs work-groups, and the processors that a thread is bound to.

pub(crate) mod affinity;
pub(crate) mod thread_pool;
