//! Pages of memory for large allocations, which the system provides at the first access.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::Pages;
#[cfg(windows)]
pub(super) use windows::Pages;
#[cfg(windows)]
pub(crate) use windows::physical_memory;

/// Size of a huge page, in bytes. `Pages` start at multiples of this size.
pub(super) const HUGE_PAGE: usize = 2 << 20;
/// A multiple of the page size of every system, in bytes.
const SMALL_PAGE: usize = 64 << 10;

/// The number of bytes to map for `size` bytes. `None` if it does not fit the address space.
fn rounded(size: usize) -> Option<usize> {
    // Round up to huge pages if this adds at most an eighth. Otherwise, the end is in small pages.
    let whole = size.checked_next_multiple_of(HUGE_PAGE).filter(|whole| whole - size <= size / 8);
    whole.or_else(|| size.checked_next_multiple_of(SMALL_PAGE))
}
