//! Copies and fills of memory. Several threads run the large ones, because one thread cannot use the bandwidth of the
//! memory.

use std::ops::Range;
use std::sync::Arc;

use wgcl_api::backend::BackendResult;

use crate::memory::arena::Arena;
use crate::threads::thread_pool::{ThreadPool, Work};

/// Minimum bytes of a copy or fill that several threads run. One thread copies 1 MiB in 100 us. To wake all threads
/// takes up to 30 us (16 virtual processors of a Xeon).
const MIN_SHARED_SIZE: usize = 1 << 20;
/// Bytes of an index of the shared work.
const PIECE: usize = 64 << 10;

/// A copy between two ranges of memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
    pub(super) size: usize,
}

impl Segment {
    /// # Safety
    /// The range at `from` must be readable and the range at `to` writable.
    unsafe fn copy(self) {
        // SAFETY: promised by the caller. The ranges may overlap.
        unsafe { std::ptr::copy(self.from, self.to, self.size) };
    }

    fn is_disjoint(self) -> bool {
        self.from.addr().abs_diff(self.to.addr()) >= self.size
    }

    /// The bytes `range` of the segment.
    fn part(self, range: Range<usize>) -> Self {
        Self { from: self.from.wrapping_add(range.start), to: self.to.wrapping_add(range.start), size: range.len() }
    }
}

/// Copies the segments, large ones on `threads`. Source and target of a segment may overlap. If different segments
/// overlap, the copied bytes are not defined.
///
/// # Safety
/// The ranges must be readable and writable, also by the threads of the pool.
pub(super) unsafe fn copy(threads: Option<&ThreadPool>, segments: impl Iterator<Item = Segment> + Clone) {
    let size: usize = segments.clone().map(|segment| segment.size).sum();
    let usable = |threads: &&ThreadPool| size >= MIN_SHARED_SIZE && threads.threads() > 1 && segments.clone().all(Segment::is_disjoint);
    let Some(threads) = threads.filter(usable) else {
        // SAFETY: promised by the caller.
        return segments.for_each(|segment| unsafe { segment.copy() });
    };
    let mut begin = 0;
    let positions = segments.map(|segment| {
        begin += segment.size;
        (begin - segment.size, segment)
    });
    run(threads, SharedCopy { segments: positions.collect(), size }, size.div_ceil(PIECE));
}

/// Runs work on all threads. The work needs no arena, so it cannot fail for lack of memory.
fn run(threads: &ThreadPool, work: impl Work, pieces: usize) {
    let pieces = 0..pieces as u64;
    let result = threads.share(Arc::new(work), pieces, true);
    debug_assert!(result.is_ok(), "{result:?}");
}

/// The bytes of some pieces.
fn bytes(pieces: Range<u64>, piece: usize, size: usize) -> Range<usize> {
    (pieces.start as usize * piece).min(size)..(pieces.end as usize * piece).min(size)
}

/// A copy that threads share.
struct SharedCopy {
    /// The segments, each with the number of bytes before it.
    segments: Vec<(usize, Segment)>,
    /// The sum of the sizes of the segments.
    size: usize,
}

// SAFETY: the caller of `copy` promises that all threads may access the ranges.
unsafe impl Send for SharedCopy {}
// SAFETY: the caller of `copy` promises that all threads may access the ranges.
unsafe impl Sync for SharedCopy {}

impl Work for SharedCopy {
    fn run(&self, pieces: Range<u64>, _: &mut Arena) -> BackendResult<()> {
        let bytes = bytes(pieces, PIECE, self.size);
        let first = self.segments.partition_point(|(begin, segment)| begin + segment.size <= bytes.start);
        for &(begin, segment) in self.segments[first..].iter().take_while(|(begin, _)| *begin < bytes.end) {
            let part = segment.part(bytes.start.saturating_sub(begin)..(bytes.end - begin).min(segment.size));
            // SAFETY: the part is within the segment, which the caller of `copy` promises to be accessible.
            unsafe { part.copy() };
        }
        Ok(())
    }
}

/// Repeats `pattern` in `size` bytes at `to`.
///
/// # Safety
/// The range must be writable, also by the threads of the pool. `size` must be a multiple of the pattern's size.
pub(super) unsafe fn fill(threads: &ThreadPool, to: *mut u8, size: usize, pattern: &[u8]) {
    if size < MIN_SHARED_SIZE || threads.threads() == 1 || !(1..=PIECE).contains(&pattern.len()) {
        // SAFETY: promised by the caller.
        return fill_bytes(unsafe { std::slice::from_raw_parts_mut(to, size) }, pattern);
    }
    let piece = PIECE - PIECE % pattern.len();
    run(threads, SharedFill { to, size, piece, pattern: pattern.to_vec() }, size.div_ceil(piece));
}

/// A fill that threads share.
struct SharedFill {
    to: *mut u8,
    size: usize,
    /// Bytes of an index, a multiple of the pattern's size.
    piece: usize,
    pattern: Vec<u8>,
}

// SAFETY: the caller of `fill` promises that all threads may access the range.
unsafe impl Send for SharedFill {}
// SAFETY: the caller of `fill` promises that all threads may access the range.
unsafe impl Sync for SharedFill {}

impl Work for SharedFill {
    fn run(&self, pieces: Range<u64>, _: &mut Arena) -> BackendResult<()> {
        let bytes = bytes(pieces, self.piece, self.size);
        // SAFETY: the bytes are within the range of `fill`. Each thread has other pieces.
        let part = unsafe { std::slice::from_raw_parts_mut(self.to.wrapping_add(bytes.start), bytes.len()) };
        fill_bytes(part, &self.pattern);
        Ok(())
    }
}

/// Repeats `pattern` in `bytes`.
fn fill_bytes(bytes: &mut [u8], pattern: &[u8]) {
    /// Maximum bytes per copy: they fit the level 1 data cache.
    const MAX_COPY: usize = 1 << 14;
    if let [byte] = pattern {
        bytes.fill(*byte);
        return;
    }
    let mut done = pattern.len().min(bytes.len());
    bytes[..done].copy_from_slice(&pattern[..done]);
    // Each copy doubles the filled range, up to the limit. The copied sizes are multiples of the pattern's size.
    while done < bytes.len() && !pattern.is_empty() {
        let limit = (MAX_COPY - MAX_COPY % pattern.len()).max(pattern.len());
        let step = done.min(limit).min(bytes.len() - done);
        bytes.copy_within(..step, done);
        done += step;
    }
}

#[cfg(test)]
mod tests {
    use super::{MIN_SHARED_SIZE, Segment, copy, fill};
    use crate::threads::thread_pool::ThreadPool;

    /// Bytes that differ between neighbours and between pieces.
    fn numbers(size: usize) -> Vec<u8> {
        (0..size).map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8).collect()
    }

    #[test]
    fn threads_copy_segments_of_all_sizes() {
        for threads in [1, 3] {
            let pool = ThreadPool::new(threads, None);
            // The sizes of the segments and the gaps between them.
            for (size, gap, count) in [(1, 0, 1), (MIN_SHARED_SIZE + 7, 1, 1), (MIN_SHARED_SIZE / 3 + 1, 5, 4), (1000, 3, 3000), (0, 2, 5)]
            {
                let (source, mut target) = (numbers(size * count), vec![0; (size + gap) * count]);
                let pointers = (source.as_ptr(), target.as_mut_ptr());
                let segments = (0..count).map(|i| Segment {
                    from: pointers.0.wrapping_add(i * size),
                    to: pointers.1.wrapping_add(i * (size + gap)),
                    size,
                });
                // SAFETY: the segments are within the two vectors, which nothing else uses.
                unsafe { copy(Some(&pool), segments) };
                for (i, row) in target.chunks(size + gap).enumerate() {
                    assert!(row[..size] == source[i * size..(i + 1) * size] && row[size..].iter().all(|&byte| byte == 0), "{size} {i}");
                }
            }
        }
    }

    #[test]
    fn source_and_target_may_overlap() {
        let pool = ThreadPool::new(3, None);
        let size = 2 * MIN_SHARED_SIZE;
        let mut bytes = numbers(size + 1);
        let want = bytes[..size].to_vec();
        let segment = Segment { from: bytes.as_ptr(), to: bytes.as_mut_ptr().wrapping_add(1), size };
        // SAFETY: both ranges are within the vector, which nothing else uses.
        unsafe { copy(Some(&pool), std::iter::once(segment)) };
        assert!(bytes[1..] == want);
    }

    #[test]
    fn threads_repeat_patterns_of_all_sizes() {
        for threads in [1, 3] {
            let pool = ThreadPool::new(threads, None);
            for width in [1, 2, 3, 12, 48, 128] {
                let size = (MIN_SHARED_SIZE / width + 5) * width;
                let (pattern, mut bytes) = (numbers(width), vec![0xff; size + 1]);
                // SAFETY: the range is within the vector, which nothing else uses.
                unsafe { fill(&pool, bytes.as_mut_ptr(), size, &pattern) };
                assert!(bytes[..size].chunks(width).all(|chunk| chunk == pattern) && bytes[size] == 0xff, "{width}");
            }
        }
    }
}
