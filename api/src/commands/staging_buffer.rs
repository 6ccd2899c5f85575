//! Host memory that one command writes and a later one reads.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::backend::{HostSource, HostTarget};

/// Bytes that are being transferred through the host.
#[derive(Clone, Debug)]
pub(crate) struct StagingBuffer(pub(crate) Arc<Mutex<Vec<u8>>>);

impl HostTarget for StagingBuffer {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        f(&mut self.0.lock());
    }
}

impl HostSource for StagingBuffer {
    fn with(&self, f: &mut dyn FnMut(&[u8])) {
        f(&self.0.lock());
    }
}
