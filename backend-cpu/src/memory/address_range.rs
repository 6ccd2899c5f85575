//! A range of host addresses.

/// The bytes `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AddressRange {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl AddressRange {
    /// Whether every byte of `other` is in this range.
    pub(crate) const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Number of bytes.
    pub(crate) const fn size(self) -> u64 {
        self.end - self.start
    }
}
