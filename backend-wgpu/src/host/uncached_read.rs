//! Reads of memory that the host does not cache, such as device memory across the bus.
//!
//! A plain load of such memory is one bus transaction: 4 KiB take 67 us on an H100. Streaming loads fetch whole cache
//! lines, several at a time, and take 7 us. A copy by the device takes 14 us.

/// Maximum size in bytes of a read for which loads across the bus are faster than a device copy.
pub(crate) fn max_fast_read() -> u64 {
    if has_streaming_loads() { 8 << 10 } else { 64 }
}

/// Copies `source` to `target`, which must have the same length.
pub(crate) fn read(target: &mut [u8], source: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    if has_streaming_loads() && target.len() == source.len() {
        // SAFETY: the processor has AVX2, and the slices have the same length.
        unsafe { x86::read(target, source) };
        return;
    }
    target.copy_from_slice(source);
}

fn has_streaming_loads() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__m256i, _mm_mfence, _mm256_storeu_si256, _mm256_stream_load_si256};

    const VECTOR_BYTES: usize = size_of::<__m256i>();
    /// Number of loads in flight at the same time.
    const LOADS_IN_FLIGHT: usize = 4;

    /// Copies `source` to `target`, which must have the same length.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn read(target: &mut [u8], source: &[u8]) {
        let lead = source.as_ptr().align_offset(VECTOR_BYTES).min(source.len());
        let (Some((head_to, to)), Some((head, from))) = (target.split_at_mut_checked(lead), source.split_at_checked(lead)) else { return };
        head_to.copy_from_slice(head);
        // Discards lines that earlier streaming loads fetched, which may be stale.
        _mm_mfence();
        // SAFETY: the processor has AVX2, `from` is aligned to a vector, and both slices have the same length.
        let (to, from) = unsafe { copy_blocks::<LOADS_IN_FLIGHT>(to, from) };
        // SAFETY: the processor has AVX2, and the copied blocks were multiples of a vector.
        let (to, from) = unsafe { copy_blocks::<1>(to, from) };
        to.copy_from_slice(from);
    }

    /// Copies as many whole blocks of `COUNT` vectors as possible, and returns the remaining bytes of both slices.
    ///
    /// # Safety
    /// The processor must have AVX2, `from` must be aligned to a vector, and the slices must have the same length.
    #[target_feature(enable = "avx2")]
    unsafe fn copy_blocks<'t, 's, const COUNT: usize>(to: &'t mut [u8], from: &'s [u8]) -> (&'t mut [u8], &'s [u8]) {
        let mut target_blocks = to.chunks_exact_mut(VECTOR_BYTES * COUNT);
        let mut blocks = from.chunks_exact(VECTOR_BYTES * COUNT);
        for (to, from) in (&mut target_blocks).zip(&mut blocks) {
            let from = from.as_ptr().cast::<__m256i>();
            // SAFETY: the block has `COUNT` aligned vectors.
            let values: [__m256i; COUNT] = std::array::from_fn(|index| unsafe { _mm256_stream_load_si256(from.add(index)) });
            for (index, value) in values.into_iter().enumerate() {
                // SAFETY: the target block has `COUNT` vectors, with any alignment.
                unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast::<__m256i>().add(index), value) };
            }
        }
        (target_blocks.into_remainder(), blocks.remainder())
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn every_byte_arrives() {
        let source: Vec<u8> = (0..1000_u32).map(|k| (k % 251) as u8).collect();
        for first in 0..40 {
            for size in [0, 1, 31, 32, 127, 128, 129, 500, 960] {
                let mut target = vec![0; size];
                read(&mut target, &source[first..first + size]);
                assert!(target == source[first..first + size], "{size} bytes from {first}");
            }
        }
    }
}
