//! Raw memory of the host: what buffers, arenas and programs' variables lie in.
//!
//! It is aligned for every type of OpenCL C, and there are some bytes more behind it that vectors may read. Large blocks are pages of their own, which the system gives when they are touched, and
//! takes back when the block is dropped: large pages, for three buffers of 4 MiB are more than the small ones that a core remembers. Such blocks begin at different places of a page, or what
//! a kernel reads and writes of twenty of them at one index would share one set of each cache.

use std::alloc::{Layout, alloc, dealloc};
use std::arch::asm;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Alignment of every block, in bytes: that of `long16`.
pub(crate) const ALIGN: usize = 128;
/// Bytes behind every block that may be read and written, too.
pub(crate) const PADDING: usize = 128;
/// Bytes of a large page.
const PAGE: usize = 2 << 20;
/// Bytes from which on a block has pages of its own.
const LARGE: usize = PAGE;
/// By how many bytes the beginning of a block lies further from that of its pages than in the block before, and after how many it is at the beginning again: whole multiples of 1 KiB, for a
/// store delays loads of addresses whose last 12 bits are the same or a little higher.
const STEP: usize = 5 << 10;
const STEPS: usize = 64 << 10;
/// Bytes that are a whole number of the small pages of every system.
const SMALL_PAGE: usize = 64 << 10;

/// How far from the beginning of its pages the large block of a number begins.
const fn beginning(number: usize) -> usize {
    number.wrapping_mul(STEP) % STEPS
}

/// Where memory came from, and goes back to.
#[derive(Debug)]
enum Origin {
    Heap(Layout),
    Pages(#[expect(dead_code, reason = "they go back when it is dropped")] Pages),
}

/// Memory of the host. Its contents are whatever was there before.
#[derive(Debug)]
pub(crate) struct Block {
    start: NonNull<u8>,
    size: usize,
    origin: Origin,
}

// SAFETY: a block is an address; who reads and writes there says why that is sound.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    /// `size` bytes, which may be none; `None` where there is no memory.
    pub(crate) fn new(size: u64) -> Option<Self> {
        let size = usize::try_from(size).ok()?;
        let whole = size.checked_add(PADDING)?;
        if whole >= LARGE {
            static BLOCKS: AtomicUsize = AtomicUsize::new(0);
            let before = beginning(BLOCKS.fetch_add(1, Ordering::Relaxed));
            let pages = Pages::new(before.checked_add(whole)?)?;
            // SAFETY: the pages hold so many bytes, and more.
            let start = unsafe { pages.start.add(before) };
            return Some(Self { start, size, origin: Origin::Pages(pages) });
        }
        let layout = Layout::from_size_align(whole, ALIGN).ok()?;
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        // SAFETY: no instruction. As far as the compiler knows it has written all of the memory, so that its bytes have values, if unknown ones.
        unsafe { asm!("/* {0} */", in(reg) start.as_ptr(), options(nostack, preserves_flags)) };
        Some(Self { start, size, origin: Origin::Heap(layout) })
    }

    /// `size` bytes that are zero: programs that forget to write what they read get that on other devices.
    pub(crate) fn zeroed(size: u64) -> Option<Self> {
        let mut block = Self::new(size)?;
        if let Origin::Heap(_) = block.origin {
            block.bytes_mut().fill(0);
        }
        Some(block)
    }

    /// The address of the first byte.
    pub(crate) fn address(&self) -> usize {
        self.start.as_ptr().expose_provenance()
    }

    /// The first byte.
    pub(crate) const fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Bytes, the padding not counted.
    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    /// Its bytes, for who has it for himself.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the block has so many bytes, all with a value, and whoever has the only reference to it may write them: generated code is given a block's address only while its owner waits.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.size) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // Pages drop themselves.
        if let Origin::Heap(layout) = self.origin {
            // SAFETY: allocated with this layout, and freed once.
            unsafe { dealloc(self.start.as_ptr(), layout) };
        }
    }
}

/// Pages of their own, large ones where the system has them: a kernel that streams through memory would otherwise pay for a fault every 4 KiB.
#[derive(Debug)]
struct Pages {
    start: NonNull<u8>,
    size: usize,
}

impl Pages {
    /// That hold so many bytes, and begin where a large page does.
    fn new(size: usize) -> Option<Self> {
        // Whole large pages where that is little more; else the end lies in small ones.
        let whole = size.checked_next_multiple_of(PAGE).filter(|whole| whole - size <= size / 8);
        let size = whole.or_else(|| size.checked_next_multiple_of(SMALL_PAGE))?;
        let asked = size.checked_add(PAGE)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: new pages wherever the system likes.
        let mapped = unsafe { libc::mmap(std::ptr::null_mut(), asked, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if mapped == libc::MAP_FAILED {
            return None;
        }
        let before = mapped.addr().next_multiple_of(PAGE) - mapped.addr();
        // SAFETY: less than a large page lies before the place, and the sizes say how much lies behind: nothing of what goes back was touched.
        let start = unsafe {
            let start = mapped.byte_add(before);
            for (part, size) in [(mapped, before), (start.byte_add(size), asked - before - size)] {
                if size > 0 {
                    libc::munmap(part, size);
                }
            }
            start
        };
        #[cfg(target_os = "linux")]
        // SAFETY: advice about pages that were just made.
        unsafe {
            libc::madvise(start, size, libc::MADV_HUGEPAGE)
        };
        Some(Self { start: NonNull::new(start.cast())?, size })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped with this size, and given back once.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.size) };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ALIGN, Block, LARGE, PAGE, STEPS, beginning};

    #[test]
    fn blocks_of_all_sizes_are_aligned_and_can_be_written() {
        for size in [0, 1, 127, 128, 4096, LARGE as u64, LARGE as u64 + 1] {
            let mut block = Block::new(size).expect("memory");
            assert!(block.address().is_multiple_of(ALIGN), "{size}");
            assert_eq!(block.bytes_mut().len() as u64, size);
            block.bytes_mut().fill(7);
            assert!(block.bytes_mut().iter().all(|&byte| byte == 7));
        }
    }

    #[test]
    fn large_blocks_begin_at_different_places_of_large_pages() {
        let places: BTreeSet<_> = (0..STEPS / 1024).map(beginning).collect();
        assert_eq!(places.len(), STEPS / 1024);
        assert!(places.iter().all(|place| place.is_multiple_of(1024) && *place < STEPS));
        let block = Block::new(LARGE as u64).expect("memory");
        assert!(places.contains(&(block.address() % PAGE)));
    }

    #[test]
    fn zeroed_blocks_have_nothing_of_those_before() {
        for size in [64, 5000, LARGE as u64] {
            for _ in 0..4 {
                let mut block = Block::zeroed(size).expect("memory");
                assert!(block.bytes_mut().iter().all(|&byte| byte == 0), "{size}");
                block.bytes_mut().fill(7);
            }
        }
    }

    #[test]
    fn there_is_no_block_as_large_as_the_address_space() {
        assert!(Block::new(u64::MAX).is_none() && Block::new(1 << 62).is_none());
    }
}
