//! Rectangular regions of buffers and host memory (clEnqueueReadBufferRect and its like).

use std::ops::Range;

use crate::backend::CopyRegion;
use crate::types::error::{Error, Result, ensure};

/// The location of a box of bytes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// x in bytes, y in rows, z in slices.
    pub origin: [u64; 3],
    /// Width in bytes, height, depth.
    pub region: [u64; 3],
    /// Bytes from row to row.
    pub row_pitch: u64,
    /// Bytes from slice to slice.
    pub slice_pitch: u64,
}

impl Rect {
    /// Fills in pitches that are 0 and checks all of them.
    ///
    /// # Errors
    /// If the region is empty, or its end does not fit 64 bits. Also fails if a pitch is too small, or if the slice
    /// pitch is not a multiple of the row pitch.
    pub fn new(origin: [u64; 3], region: [u64; 3], row_pitch: u64, slice_pitch: u64) -> Result<Self> {
        let too_large = || Error::InvalidValue(format!("the region {region:?} is too large").into());
        // "CL_INVALID_VALUE if any region array element is 0."
        ensure!(!region.contains(&0), InvalidValue, "the region {region:?} is empty");
        // "... if row_pitch is not 0 and is less than region[0]."
        ensure!(row_pitch == 0 || row_pitch >= region[0], InvalidValue, "row pitch {row_pitch} is less than the width {}", region[0]);
        let row_pitch = if row_pitch == 0 { region[0] } else { row_pitch };
        let min_slice_pitch = region[1].checked_mul(row_pitch).ok_or_else(too_large)?;
        // "... if slice_pitch is not 0 and is less than region[1] * row_pitch and not a multiple of row_pitch." The
        // newest text lists the two conditions separately, so each of them is an error.
        ensure!(
            slice_pitch == 0 || (slice_pitch >= min_slice_pitch && slice_pitch.is_multiple_of(row_pitch)),
            InvalidValue,
            "slice pitch {slice_pitch} is less than {min_slice_pitch} or not a multiple of the row pitch {row_pitch}"
        );
        let slice_pitch = if slice_pitch == 0 { min_slice_pitch } else { slice_pitch };
        let rect = Self { origin, region, row_pitch, slice_pitch };
        rect.checked_end().ok_or_else(too_large)?;
        Ok(rect)
    }

    /// Creates a box without a check of its pitches: images have other rules for pitches.
    ///
    /// # Errors
    /// If the box is empty, or if its end does not fit 64 bits.
    pub fn unchecked(origin: [u64; 3], region: [u64; 3], row_pitch: u64, slice_pitch: u64) -> Result<Self> {
        let rect = Self { origin, region, row_pitch, slice_pitch };
        let end = if region.contains(&0) { None } else { rect.checked_end() };
        end.map(|_| rect).ok_or_else(|| Error::InvalidValue(format!("the region {region:?} is empty or too large").into()))
    }

    /// The offset after the last byte, or `None` if it does not fit 64 bits.
    fn checked_end(&self) -> Option<u64> {
        let coordinate = |index: usize, last: u64| self.origin[index].checked_add(last);
        let z = coordinate(2, self.region[2] - 1)?.checked_mul(self.slice_pitch)?;
        let y = coordinate(1, self.region[1] - 1)?.checked_mul(self.row_pitch)?;
        z.checked_add(y)?.checked_add(coordinate(0, self.region[0])?)
    }

    /// The offset of the first byte.
    pub fn start(&self) -> u64 {
        self.origin[2] * self.slice_pitch + self.origin[1] * self.row_pitch + self.origin[0]
    }

    /// The offset after the last byte.
    pub fn end(&self) -> u64 {
        // The constructors have checked that this does not overflow.
        self.checked_end().unwrap_or(u64::MAX)
    }

    /// The range from the first byte to the last.
    pub fn span(&self) -> Range<u64> {
        self.start()..self.end()
    }

    /// Whether every byte of the span belongs to the box.
    pub fn is_dense(&self) -> bool {
        let rows = self.region[0] == self.row_pitch || self.region[1] == 1;
        let slices = self.region[2] == 1 || (self.region[0] == self.row_pitch && self.region[1] * self.row_pitch == self.slice_pitch);
        rows && slices
    }
}

/// Returns the regions of a copy between two boxes of the same extent, as few as the pitches allow. The bases are added
/// to the offsets of the regions.
pub fn pieces(buffer: &Rect, buffer_base: u64, host: &Rect, host_base: u64) -> Vec<CopyRegion> {
    let [width, height, depth] = buffer.region;
    let (from, to) = (buffer.start() + buffer_base, host.start() + host_base);
    if buffer.is_dense() && host.is_dense() {
        return vec![CopyRegion { buffer: from, host: to, size: width * height * depth }];
    }
    let rows_touch = (buffer.row_pitch == width && host.row_pitch == width) || height == 1;
    let (rows, size) = if rows_touch { (1, width * height) } else { (height, width) };
    let mut pieces = Vec::new();
    for z in 0..depth {
        for y in 0..rows {
            pieces.push(CopyRegion {
                buffer: from + z * buffer.slice_pitch + y * buffer.row_pitch,
                host: to + z * host.slice_pitch + y * host.row_pitch,
                size,
            });
        }
    }
    pieces
}

/// Whether two boxes of the same extent and pitches in one buffer have a byte in common (CL_MEM_COPY_OVERLAP). See the
/// appendix "Checking for Memory Copy Overlap" of the specification.
pub fn overlap(a: &Rect, b: &Rect) -> bool {
    let (first, second) = if a.start() <= b.start() { (a, b) } else { (b, a) };
    if first.span().end <= second.start() {
        return false;
    }
    // The spans of the boxes overlap. The distance is `dx + dy * row + dz * slice`, with dx < row and dy < rows. The
    // boxes overlap if dx, dy and dz are less than width, height and depth. The same distance is also dx - row in the
    // next row (`wrap_y`), and dy - rows in the next slice (`wrap_z`).
    let distance = second.start() - first.start();
    let [width, height, depth] = a.region;
    let (row, slice) = (a.row_pitch, a.slice_pitch);
    let overlaps = |dx: i128, dy: i128, dz: i128| {
        dx.unsigned_abs() < u128::from(width) && dy.unsigned_abs() < u128::from(height) && dz.unsigned_abs() < u128::from(depth)
    };
    let (dz, rest) = (i128::from(distance / slice), distance % slice);
    let (dy, dx) = (i128::from(rest / row), i128::from(rest % row));
    let (row, rows) = (i128::from(row), i128::from(slice / row));
    (0..=1).any(|wrap_z| (0..=1).any(|wrap_y| overlaps(dx - wrap_y * row, dy + wrap_y - wrap_z * rows, dz + wrap_z)))
}

#[cfg(test)]
mod tests {
    use super::{Rect, overlap, pieces};

    fn bytes(rect: &Rect) -> std::collections::BTreeSet<u64> {
        let mut set = std::collections::BTreeSet::new();
        for z in 0..rect.region[2] {
            for y in 0..rect.region[1] {
                for x in 0..rect.region[0] {
                    set.insert(rect.start() + z * rect.slice_pitch + y * rect.row_pitch + x);
                }
            }
        }
        set
    }

    #[test]
    fn overlap_agrees_with_sets_of_bytes() {
        let mut random = 1u64;
        let mut next = |limit: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % limit
        };
        let mut hits = 0;
        for _ in 0..20000 {
            let region = [1 + next(4), 1 + next(3), 1 + next(3)];
            let row = region[0] + next(4);
            let slice = (region[1] + next(3)) * row;
            let mut origin = || [next(6), next(5), next(4)];
            let a = Rect::new(origin(), region, row, slice).expect("valid");
            let b = Rect::new(origin(), region, row, slice).expect("valid");
            let expected = !bytes(&a).is_disjoint(&bytes(&b));
            assert_eq!(overlap(&a, &b), expected, "{a:?} {b:?}");
            hits += u32::from(expected);
        }
        assert!((2000..18000).contains(&hits), "both results must occur: {hits}");
    }

    #[test]
    fn pieces_cover_the_box() {
        let a = Rect::new([1, 2, 0], [3, 4, 2], 8, 64).expect("valid");
        let b = Rect::new([0, 0, 0], [3, 4, 2], 0, 0).expect("valid");
        let moved = pieces(&a, 100, &b, 0);
        assert_eq!(moved.len(), 8);
        let from: std::collections::BTreeSet<u64> = moved.iter().flat_map(|p| p.buffer - 100..p.buffer - 100 + p.size).collect();
        let to: std::collections::BTreeSet<u64> = moved.iter().flat_map(|p| p.host..p.host + p.size).collect();
        assert_eq!(from, bytes(&a));
        assert_eq!(to, bytes(&b));
        assert_eq!(pieces(&b, 0, &b, 0).len(), 1);
    }

    #[test]
    fn wrong_pitches_are_refused() {
        assert!(Rect::new([0; 3], [4, 0, 1], 0, 0).is_err());
        assert!(Rect::new([0; 3], [4, 2, 1], 3, 0).is_err());
        assert!(Rect::new([0; 3], [4, 2, 1], 4, 7).is_err());
        assert!(Rect::new([0; 3], [4, 2, 1], 4, 10).is_err());
        assert!(Rect::new([u64::MAX, 0, 0], [4, 2, 1], 0, 0).is_err());
        assert!(Rect::new([0; 3], [u64::MAX, u64::MAX, 1], 0, 0).is_err());
    }
}
