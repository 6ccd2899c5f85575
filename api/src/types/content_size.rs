//! The counts of meaningful bytes in a memory object (cl_pocl_content_size).

use std::ops::Range;
use std::sync::{Arc, Weak};

use crate::types::lock::{Mutex, Rank};

/// Ranges of a store, and the buffers that start with the counts of their meaningful bytes. A count is ignored after
/// the application has released its buffer.
#[derive(Debug)]
pub(crate) struct ContentSizes<B>(Mutex<Vec<(Range<u64>, Weak<B>)>>);

impl<B> Default for ContentSizes<B> {
    fn default() -> Self {
        Self(Mutex::new(Rank::Residency, Vec::new()))
    }
}

impl<B> ContentSizes<B> {
    pub(crate) fn set(&self, range: Range<u64>, count: &Arc<B>) {
        let mut all = self.0.lock();
        all.retain(|(known, _)| *known != range);
        all.push((range, Arc::downgrade(count)));
    }

    /// Returns the range that contains a transfer, and the buffer with its count.
    pub(crate) fn of(&self, transfer: &Range<u64>) -> Option<(Range<u64>, Arc<B>)> {
        let all = self.0.lock();
        let contains = |range: &Range<u64>| range.start <= transfer.start && transfer.end <= range.end;
        all.iter().filter(|(range, _)| contains(range)).find_map(|(range, count)| Some((range.clone(), count.upgrade()?)))
    }
}
