//! Raw memory of the host: what buffers, arenas and programs' variables lie in.
//!
//! It is aligned for every type of OpenCL C, and there are some bytes more behind it that vectors may read. Large blocks are pages of their own, which the system gives when they are touched, and
//! takes back when the block is dropped.

use std::alloc::{Layout, alloc, dealloc};
use std::arch::asm;
use std::ptr::NonNull;

/// Alignment of every block, in bytes: that of `long16`.
pub(crate) const ALIGN: usize = 128;
/// Bytes behind every block that may be read and written, too.
pub(crate) const PADDING: usize = 128;
/// Bytes from which on a block has pages of its own.
const LARGE: usize = 4 << 20;

/// Where memory came from, and goes back to.
#[derive(Debug)]
enum Origin {
    Heap(Layout),
    Pages(usize),
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
            return Some(Self { start: pages(whole)?, size, origin: Origin::Pages(whole) });
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
        match self.origin {
            // SAFETY: allocated with this layout, and freed once.
            Origin::Heap(layout) => unsafe { dealloc(self.start.as_ptr(), layout) },
            Origin::Pages(size) => {
                // SAFETY: mapped with this size, and given back once.
                unsafe { libc::munmap(self.start.as_ptr().cast(), size) };
            }
        }
    }
}

/// Pages of their own, large ones where the system has them: a kernel that streams through memory would otherwise pay for a fault every 4 KiB.
fn pages(size: usize) -> Option<NonNull<u8>> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: new pages wherever the system likes.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    #[cfg(target_os = "linux")]
    // SAFETY: advice about pages that were just made.
    unsafe {
        libc::madvise(start, size, libc::MADV_HUGEPAGE)
    };
    NonNull::new(start.cast())
}

#[cfg(test)]
mod tests {
    use super::{ALIGN, Block, LARGE};

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
