//! Whether the host sees the writes of commands to a buffer. Vulkan requires a barrier to the host at the end of a
//! batch, after the writes. ("Host Write Ordering Guarantees" of its specification orders only writes of the host
//! before commands.) On an H100, the barrier takes 2 of the 19 us of a launch with a wait. Batches therefore do without
//! it for buffers that the host could read across the bus, until the first such read. This first read copies the bytes
//! on the device instead, and later batches have the barrier.

use std::sync::atomic::{AtomicBool, Ordering};

/// Only the thread that runs the engine changes the state.
#[derive(Debug)]
pub(crate) struct HostVisibility {
    /// Whether batches that write the buffer end with a barrier to the host.
    has_barriers: AtomicBool,
    /// Whether the last write is not followed by such a barrier.
    is_stale: AtomicBool,
}

impl HostVisibility {
    /// The state of a buffer that no command has written.
    pub(crate) const fn new(has_barriers: bool) -> Self {
        Self { has_barriers: AtomicBool::new(has_barriers), is_stale: AtomicBool::new(false) }
    }

    pub(crate) fn has_barriers(&self) -> bool {
        self.has_barriers.load(Ordering::Relaxed)
    }

    /// Requests barriers for later batches.
    pub(crate) fn request_barriers(&self) {
        self.has_barriers.store(true, Ordering::Relaxed);
    }

    /// Records that the open batch writes the buffer. If this batch ends with a barrier, the barrier also covers the
    /// writes of all earlier batches.
    pub(crate) fn record_write(&self) {
        self.is_stale.store(!self.has_barriers(), Ordering::Relaxed);
    }

    /// Whether the host sees the last write, once its batch is complete.
    pub(crate) fn is_current(&self) -> bool {
        !self.is_stale.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::HostVisibility;

    #[test]
    fn writes_without_a_barrier_are_not_visible() {
        let mapped = HostVisibility::new(true);
        mapped.record_write();
        assert!(mapped.has_barriers() && mapped.is_current());

        let bar = HostVisibility::new(false);
        assert!(bar.is_current(), "only the host has written the buffer");
        bar.record_write();
        assert!(!bar.has_barriers() && !bar.is_current());
        bar.request_barriers();
        assert!(bar.has_barriers() && !bar.is_current(), "the request does not change earlier batches");
        bar.record_write();
        assert!(bar.is_current());
    }
}
