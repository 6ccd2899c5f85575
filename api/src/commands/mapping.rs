//! Maps: parts of memory objects that are visible to the host (OpenCL API 5.2.4, 5.3.6, 5.5.3).
//!
//! If host and device share the memory, a map copies nothing. Otherwise the host accesses a copy with the same layout,
//! which the map fills. An unmap writes back only the mapped bytes, because another map may own the bytes between the
//! rows of a box.

use std::ops::Range;

use crate::backend::CopyRegion;
use crate::commands::map_record::{MapBacking, MapRecord};
use crate::image::MemObject;
use crate::types::error::{Error, Result, ensure};

/// Whether two lists of ranges (first byte and size), each in order, have a byte in common.
pub(crate) fn overlap(a: impl Iterator<Item = (u64, u64)>, b: impl Iterator<Item = (u64, u64)>) -> bool {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    while let (Some(&(first, size)), Some(&(other, other_size))) = (a.peek(), b.peek()) {
        if first + size <= other {
            a.next();
        } else if other + other_size <= first {
            b.next();
        } else {
            return true;
        }
    }
    false
}

fn ranges(pieces: &[CopyRegion]) -> impl Iterator<Item = (u64, u64)> {
    pieces.iter().map(|piece| (piece.buffer, piece.size))
}

impl MemObject {
    /// CL_MEM_MAP_COUNT
    pub fn map_count(&self) -> usize {
        let owner = self.identity();
        self.buffer().store().maps.lock().iter().filter(|map| map.owner == owner).count()
    }

    /// Makes bytes of the store visible to the host, and returns the record of the map with their address. `pieces` are
    /// as in [`MapRecord`].
    pub(crate) fn begin_map(&self, device_index: usize, span: Range<u64>, pieces: Vec<CopyRegion>, write: bool) -> Result<MapRecord> {
        let store = self.buffer().store();
        let start = usize::try_from(span.start).map_err(|_| Error::MapFailure("the offset does not fit an address".into()))?;
        let memory = store.memory(device_index)?;
        // With CL_MEM_USE_HOST_PTR a map must return the application's own memory. So the device's memory is returned
        // only if it is the application's memory.
        let direct = memory.host_address().filter(|_| store.host.is_none() || store.is_imported_host_memory(device_index));
        let (address, backing) = match direct {
            Some(address) => (address + start, MapBacking::Device(device_index)),
            None => {
                let region = store.map_region(device_index)?;
                (region.address() + start, MapBacking::Region(region))
            }
        };
        let record = MapRecord { owner: self.identity(), address, span, pieces, write, backing };
        let mut maps = store.maps.lock();
        // "CL_INVALID_OPERATION if mapping would lead to overlapping regions being mapped for writing."
        let overlaps = |map: &MapRecord| {
            map.write
                && map.span.start < record.span.end
                && record.span.start < map.span.end
                && overlap(ranges(&map.pieces), ranges(&record.pieces))
        };
        ensure!(
            !write || !maps.iter().any(overlaps),
            InvalidOperation,
            "bytes {:?} overlap a region that is already mapped for writing",
            record.span
        );
        maps.push(record.clone());
        Ok(record)
    }

    /// Removes the last map of this object with this address, and returns it. Returns `None` if there is no such map.
    pub(crate) fn end_map(&self, address: usize) -> Option<MapRecord> {
        let owner = self.identity();
        let mut maps = self.buffer().store().maps.lock();
        let found = maps.iter().rposition(|map| map.owner == owner && map.address == address)?;
        Some(maps.remove(found))
    }
}

#[cfg(test)]
mod tests {
    use super::overlap;

    #[test]
    fn overlapping_ranges_are_found() {
        let meet = |a: &[(u64, u64)], b: &[(u64, u64)]| overlap(a.iter().copied(), b.iter().copied());
        assert!(meet(&[(0, 4)], &[(3, 1)]));
        assert!(!meet(&[(0, 4), (8, 4)], &[(4, 4), (12, 4)]));
        assert!(meet(&[(0, 4), (8, 4)], &[(4, 4), (11, 4)]));
        assert!(!meet(&[], &[(0, 1)]));
    }
}
