//! The initialised bytes of a memory object, for the sanitizer.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A bit for each byte of a memory object. Bytes that the host can write without a command count as initialised.
#[derive(Debug)]
pub(crate) struct InitializedBytes {
    bits: Vec<AtomicU64>,
    /// Whether every byte is initialised, regardless of `bits`.
    all: AtomicBool,
}

impl InitializedBytes {
    /// Creates the state of an object of `size` uninitialised bytes.
    pub(crate) fn new(size: usize) -> Self {
        Self { bits: (0..size.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(), all: AtomicBool::new(false) }
    }

    /// Marks every byte.
    pub(crate) fn mark_all(&self) {
        self.all.store(true, Ordering::Relaxed);
    }

    /// Marks the bytes `start..end`.
    pub(crate) fn mark(&self, start: u64, end: u64) {
        self.words(start, end).for_each(|(word, mask)| {
            word.fetch_or(mask, Ordering::Relaxed);
        });
    }

    /// Whether the bytes `start..end` are initialised.
    pub(crate) fn is_initialized(&self, start: u64, end: u64) -> bool {
        self.all.load(Ordering::Relaxed) || self.words(start, end).all(|(word, mask)| word.load(Ordering::Relaxed) & mask == mask)
    }

    /// The words that hold the bits `start..end`, each with a mask of those bits.
    fn words(&self, start: u64, end: u64) -> impl Iterator<Item = (&AtomicU64, u64)> {
        let first = start / 64;
        let words = self.bits.get(first as usize..(end.div_ceil(64) as usize).min(self.bits.len())).unwrap_or_default();
        (first..).zip(words).map(move |(index, word)| {
            let (from, to) = (start.saturating_sub(index * 64), (end - index * 64).min(64));
            let below = |bit: u64| if bit == 64 { u64::MAX } else { (1 << bit) - 1 };
            (word, below(to) & !below(from))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::InitializedBytes;

    #[test]
    fn initialized_bytes_are_tracked_individually() {
        let bytes = InitializedBytes::new(300);
        assert!(!bytes.is_initialized(0, 1));
        bytes.mark(60, 200);
        assert!(bytes.is_initialized(60, 200) && bytes.is_initialized(63, 65) && bytes.is_initialized(128, 192));
        assert!(!bytes.is_initialized(59, 61) && !bytes.is_initialized(199, 201) && !bytes.is_initialized(0, 300));
        bytes.mark(0, 60);
        bytes.mark(200, 300);
        assert!(bytes.is_initialized(0, 300));
        let whole = InitializedBytes::new(64);
        whole.mark_all();
        assert!(whole.is_initialized(0, 64));
    }
}
