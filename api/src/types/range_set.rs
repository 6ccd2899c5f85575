//! Sets of byte ranges.

use std::ops::Range;

/// A set of byte offsets, stored as sorted, disjoint ranges that are not adjacent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RangeSet(Vec<Range<u64>>);

impl RangeSet {
    pub(crate) fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let first = self.0.partition_point(|r| r.end < range.start);
        let last = self.0.partition_point(|r| r.start <= range.end);
        let start = self.0.get(first..last).and_then(|s| s.first()).map_or(range.start, |r| r.start.min(range.start));
        let end = self.0.get(first..last).and_then(|s| s.last()).map_or(range.end, |r| r.end.max(range.end));
        self.0.splice(first..last, std::iter::once(start..end));
    }

    /// Removes bytes from the set.
    pub(crate) fn remove(&mut self, range: &Range<u64>) {
        if range.is_empty() {
            return;
        }
        self.0 = std::mem::take(&mut self.0)
            .into_iter()
            .flat_map(|r| [r.start..r.end.min(range.start), r.start.max(range.end)..r.end])
            .filter(|r| !r.is_empty())
            .collect();
    }

    /// The bytes of `range` that are in the set.
    pub(crate) fn intersection(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        self.0.iter().map(|r| r.start.max(range.start)..r.end.min(range.end)).filter(|r| !r.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::RangeSet;

    fn bits(set: &RangeSet) -> u64 {
        set.intersection(&(0..64)).into_iter().flatten().fold(0, |bits, bit| bits | 1 << bit)
    }

    #[test]
    fn the_set_agrees_with_a_bit_mask() {
        let mut set = RangeSet::default();
        let mut expected = 0u64;
        let mut random = 12345u64;
        for _ in 0..2000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (a, b) = ((random >> 33) % 64, (random >> 45) % 64);
            let range = a.min(b)..a.max(b);
            let mask = range.clone().fold(0u64, |mask, bit| mask | 1 << bit);
            if random >> 63 == 0 {
                set.insert(range);
                expected |= mask;
            } else {
                set.remove(&range);
                expected &= !mask;
            }
            assert_eq!(bits(&set), expected);
            assert!(set.0.is_sorted_by(|a, b| a.end < b.start), "{set:?}");
        }
    }
}
