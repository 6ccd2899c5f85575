//! Which bytes of a memory object something has written.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A bit for each byte. What the host may write without being seen counts as written.
#[derive(Debug)]
pub(crate) struct Written {
    bits: Vec<AtomicU64>,
    /// Whether all of them are, whatever the bits say.
    all: AtomicBool,
}

impl Written {
    /// Of so many bytes, none of which is written.
    pub(crate) fn new(size: usize) -> Self {
        Self { bits: (0..size.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(), all: AtomicBool::new(false) }
    }

    /// All bytes are, from now on.
    pub(crate) fn set_all(&self) {
        self.all.store(true, Ordering::Relaxed);
    }

    /// Those from a byte on up to another.
    pub(crate) fn set(&self, start: u64, end: u64) {
        self.words(start, end).for_each(|(word, mask)| {
            word.fetch_or(mask, Ordering::Relaxed);
        });
    }

    /// Whether all from a byte on up to another are.
    pub(crate) fn has(&self, start: u64, end: u64) -> bool {
        self.all.load(Ordering::Relaxed) || self.words(start, end).all(|(word, mask)| word.load(Ordering::Relaxed) & mask == mask)
    }

    /// The words that have the bits from one on up to another, and which bits these are.
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
    use super::Written;

    #[test]
    fn what_was_written_is_known_by_the_byte() {
        let written = Written::new(300);
        assert!(!written.has(0, 1));
        written.set(60, 200);
        assert!(written.has(60, 200) && written.has(63, 65) && written.has(128, 192));
        assert!(!written.has(59, 61) && !written.has(199, 201) && !written.has(0, 300));
        written.set(0, 60);
        written.set(200, 300);
        assert!(written.has(0, 300));
        let whole = Written::new(64);
        whole.set_all();
        assert!(whole.has(0, 64));
    }
}
