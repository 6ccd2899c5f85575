//! Memory objects: bytes of the host, which the device has allocated, or which the application or the API have and the device uses as they are.
//!
//! Commands run one after the other, so that nobody but the application can touch a memory object's bytes while a command does; where it does all the same, its program has a race that OpenCL leaves
//! undefined. The application may hand memory of its own to commands that overlaps an object's (what it has mapped): so bytes are moved by pointers, without references to them.

pub(crate) mod arena;
pub(crate) mod host_allocation;
pub(crate) mod initialized;

use std::any::Any;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, BackendResult, CopyRegion, HostTarget, Memory};
use wgcl_api::host_commands::{HostBytes, range};
use wgcl_api::options::Options;
use wgcl_api::types::host_memory::HostRegion;

use crate::memory::host_allocation::Block;
use crate::memory::initialized::Written;

/// Bytes of a memory object that offsets of 32 bits with sign do not reach the end of.
const FAR: u64 = 1 << 31;

/// Counts the bytes of a device's memory, and the objects that are large.
#[derive(Debug)]
pub(crate) struct Quota {
    used: AtomicU64,
    limit: u64,
    /// Memory objects of `far_from` bytes or more.
    far: AtomicUsize,
    far_from: u64,
    /// Where each memory object is, where kernels are checked.
    places: Option<Mutex<Vec<Place>>>,
}

/// Where a memory object is.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Its first byte.
    pub(crate) start: u64,
    /// The first behind it.
    pub(crate) end: u64,
    /// What of it was written, where that is known.
    pub(crate) written: Option<Arc<Written>>,
}

impl Quota {
    /// Of so many bytes, all zero.
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        let asked = Options::get().binding_limit.as_deref().and_then(|text| text.parse::<u64>().ok());
        Arc::new(Self {
            used: AtomicU64::new(0),
            limit,
            far: AtomicUsize::new(0),
            far_from: asked.map_or(FAR, |asked| asked.min(FAR)),
            places: Options::get().is_checked().then(Mutex::default),
        })
    }

    /// Whether there is a memory object within which offsets take 64 bits.
    pub(crate) fn has_far(&self) -> bool {
        self.far.load(Ordering::Relaxed) > 0
    }

    /// Where memory objects are, where that is noted.
    pub(crate) fn places(&self) -> Vec<Place> {
        self.places.as_ref().map(|places| places.lock().clone()).unwrap_or_default()
    }

    /// Counts an object that is large, and notes where it is.
    fn note(&self, start: u64, size: usize, written: Option<&Arc<Written>>) {
        if let Some(places) = &self.places {
            places.lock().push(Place { start, end: start + size as u64, written: written.cloned() });
        }
        if size as u64 >= self.far_from {
            self.far.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts bytes; whether there are so many.
    fn take(&self, bytes: u64) -> bool {
        let more = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }
}

/// Alignment of memory that is not the device's own, at least: what loads and stores of the older instructions ask for.
const ADOPTED_ALIGN: usize = 16;

/// Whose the bytes are.
#[derive(Debug)]
enum Owner {
    Device(#[expect(dead_code, reason = "it is kept, for as long as the memory is used")] Block),
    /// A program has it for its variables: no memory object.
    Program(#[expect(dead_code, reason = "it is kept, for as long as the memory is used")] Block),
    Host(#[expect(dead_code, reason = "it is kept, for as long as the memory is used")] Arc<dyn HostRegion>),
}

/// A memory object.
#[derive(Debug)]
pub(crate) struct CpuMemory {
    start: NonNull<u8>,
    size: usize,
    owner: Owner,
    quota: Arc<Quota>,
    /// What of it was written, where kernels are checked and the memory is the device's own.
    written: Option<Arc<Written>>,
}

// SAFETY: an address, and what keeps the bytes there. Who reads and writes them says why that is sound.
unsafe impl Send for CpuMemory {}
// SAFETY: as above.
unsafe impl Sync for CpuMemory {}

impl CpuMemory {
    /// Of so many bytes, all zero.
    pub(crate) fn new(quota: &Arc<Quota>, size: u64) -> BackendResult<Self> {
        if !quota.take(size) {
            return Err(BackendError::OutOfDeviceMemory);
        }
        let Some(block) = Block::zeroed(size) else {
            quota.used.fetch_sub(size, Ordering::Relaxed);
            return Err(BackendError::OutOfDeviceMemory);
        };
        Ok(Self::owned(block.start(), block.size(), Owner::Device(block), quota))
    }

    /// That is the first bytes of a region of the host's; `None` where they are not aligned well enough.
    pub(crate) fn of_host(quota: &Arc<Quota>, region: &Arc<dyn HostRegion>, size: u64) -> Option<Self> {
        let start = NonNull::new(std::ptr::with_exposed_provenance_mut(region.address()))?;
        let size = usize::try_from(size).ok()?;
        region.address().is_multiple_of(ADOPTED_ALIGN).then(|| Self::owned(start, size, Owner::Host(Arc::clone(region)), quota))
    }

    /// The variables of a program, which are counted nowhere.
    pub(crate) fn of_variables(block: Block) -> Arc<Self> {
        let (start, size) = (block.start(), block.size());
        Arc::new(Self { start, size, owner: Owner::Program(block), quota: Quota::new(0), written: None })
    }

    fn owned(start: NonNull<u8>, size: usize, owner: Owner, quota: &Arc<Quota>) -> Self {
        let is_seen = quota.places.is_some() && matches!(owner, Owner::Device(_));
        let written = is_seen.then(|| Arc::new(Written::new(size)));
        quota.note(start.as_ptr().expose_provenance() as u64, size, written.as_ref());
        Self { start, size, owner, quota: Arc::clone(quota), written }
    }

    fn bytes<T>(&self, f: impl FnOnce(&mut [u8]) -> T) -> T {
        // SAFETY: the object has so many bytes, and only the one command that runs touches them (see above). `f` is of this crate's callers, none of which asks for the bytes of one object twice.
        f(unsafe { std::slice::from_raw_parts_mut(self.start().as_ptr(), self.length()) })
    }

    /// Whoever has the address may write.
    fn lend(&self) {
        if let Some(written) = &self.written {
            written.set_all();
        }
    }

    fn note_written(&self, place: &std::ops::Range<usize>) {
        if let Some(written) = &self.written {
            written.set(place.start as u64, place.end as u64);
        }
    }

    /// The address of its first byte.
    pub(crate) fn address(&self) -> u64 {
        self.start.as_ptr().expose_provenance() as u64
    }

    const fn start(&self) -> NonNull<u8> {
        self.start
    }

    const fn length(&self) -> usize {
        self.size
    }
}

impl Drop for CpuMemory {
    fn drop(&mut self) {
        let size = self.size as u64;
        if let Owner::Program(_) = &self.owner {
            return;
        }
        if let Some(places) = &self.quota.places {
            let (own, mut places) = ((self.address(), self.address() + size), places.lock());
            if let Some(index) = places.iter().position(|place| (place.start, place.end) == own) {
                places.swap_remove(index);
            }
        }
        if size >= self.quota.far_from {
            self.quota.far.fetch_sub(1, Ordering::Relaxed);
        }
        if let Owner::Device(_) = &self.owner {
            self.quota.used.fetch_sub(size, Ordering::Relaxed);
        }
    }
}

impl Memory for CpuMemory {
    fn size(&self) -> u64 {
        self.size as u64
    }

    fn host_address(&self) -> Option<usize> {
        self.lend();
        Some(self.start.as_ptr().expose_provenance())
    }

    fn kernel_address(&self) -> Option<u64> {
        self.host_address().map(|address| address as u64)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl HostBytes for CpuMemory {
    fn with_bytes<T>(&self, f: impl FnOnce(&mut [u8]) -> T) -> T {
        self.lend();
        self.bytes(f)
    }

    fn write(&self, host: &[u8], region: CopyRegion) -> BackendResult<()> {
        let source = &host[range(host.len(), region.host, region.size)?];
        let place = range(self.length(), region.buffer, region.size)?;
        self.note_written(&place);
        // SAFETY: both lie inside of their memory. They may be the same bytes, if the application has them mapped.
        unsafe { std::ptr::copy(source.as_ptr(), self.start().as_ptr().add(place.start), source.len()) };
        Ok(())
    }

    fn read(&self, host: &mut [u8], region: CopyRegion) -> BackendResult<()> {
        let wanted = range(host.len(), region.host, region.size)?;
        let place = range(self.length(), region.buffer, region.size)?;
        let target = &mut host[wanted];
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy(self.start().as_ptr().add(place.start), target.as_mut_ptr(), target.len()) };
        Ok(())
    }

    fn copy(&self, target: &Self, region: CopyRegion) -> BackendResult<()> {
        let from = range(self.length(), region.buffer, region.size)?;
        let to = range(target.length(), region.host, region.size)?;
        target.note_written(&to);
        // SAFETY: both lie inside of their memory, which may be the same.
        unsafe { std::ptr::copy(self.start().as_ptr().add(from.start), target.start().as_ptr().add(to.start), from.len()) };
        Ok(())
    }

    fn fill(&self, pattern: &[u8], offset: u64, size: u64) -> BackendResult<()> {
        /// Bytes that are copied at once: what the nearest cache holds.
        const MOST: usize = 1 << 14;
        let place = range(self.length(), offset, size)?;
        self.note_written(&place);
        self.bytes(|bytes| {
            let bytes = &mut bytes[place];
            if let [byte] = pattern {
                bytes.fill(*byte);
                return Ok(());
            }
            let mut done = pattern.len().min(bytes.len());
            bytes[..done].copy_from_slice(&pattern[..done]);
            // Twice as much each time, always whole patterns.
            while done < bytes.len() && !pattern.is_empty() {
                let most = (MOST - MOST % pattern.len()).max(pattern.len());
                let step = done.min(most).min(bytes.len() - done);
                bytes.copy_within(..step, done);
                done += step;
            }
            Ok(())
        })
    }
}

/// Bytes of an object that a command of another device writes.
#[derive(Debug)]
struct Landing {
    memory: Arc<dyn Memory>,
    place: Range<usize>,
}

/// What is written at a range of an object.
pub(crate) fn host_visible_target(memory: &Arc<dyn Memory>, place: Range<u64>) -> Option<Arc<dyn HostTarget>> {
    let own: &CpuMemory = memory.as_any().downcast_ref()?;
    let place = range(own.length(), place.start, place.end.checked_sub(place.start)?).ok()?;
    Some(Arc::new(Landing { memory: Arc::clone(memory), place }))
}

impl HostTarget for Landing {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        let Some(memory) = self.memory.as_any().downcast_ref::<CpuMemory>() else { return };
        memory.note_written(&self.place);
        // SAFETY: the bytes are inside, as `host_visible_target` saw. No command of this device uses them before the other's is done (`Device::host_visible_target`), but one that races.
        f(unsafe { std::slice::from_raw_parts_mut(memory.start().as_ptr().add(self.place.start), self.place.len()) });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    use wgcl_api::backend::{BackendError, CopyRegion, Memory};
    use wgcl_api::host_commands::HostBytes;

    use super::{CpuMemory, Quota};

    fn memory(bytes: &[u8]) -> CpuMemory {
        let memory = CpuMemory::new(&Quota::new(1 << 30), bytes.len() as u64).expect("memory");
        memory.with_bytes(|place| place.copy_from_slice(bytes));
        memory
    }

    fn bytes(memory: &CpuMemory) -> Vec<u8> {
        memory.with_bytes(|bytes| bytes.to_vec())
    }

    #[test]
    fn there_is_as_much_as_is_said() {
        let quota = Quota::new(1000);
        let first = CpuMemory::new(&quota, 600).expect("memory");
        assert_eq!(CpuMemory::new(&quota, 600).err(), Some(BackendError::OutOfDeviceMemory));
        drop(first);
        assert!(CpuMemory::new(&quota, 1000).is_ok());
        assert_eq!(CpuMemory::new(&quota, u64::MAX).err(), Some(BackendError::OutOfDeviceMemory));
        assert_eq!(quota.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn pieces_go_where_they_should_and_nowhere_else() {
        let memory = memory(&[0, 1, 2, 3, 4, 5, 6, 7]);
        let region = |buffer, host, size| CopyRegion { buffer, host, size };
        assert_eq!(memory.write(&[1, 2, 3, 4], region(6, 1, 2)), Ok(()));
        assert_eq!(bytes(&memory), [0, 1, 2, 3, 4, 5, 2, 3]);
        let mut host = [9; 4];
        assert_eq!(memory.read(&mut host, region(5, 1, 3)), Ok(()));
        assert_eq!(host, [9, 5, 2, 3]);
        assert_eq!(memory.copy(&memory, region(4, 0, 4)), Ok(()));
        assert_eq!(bytes(&memory), [4, 5, 2, 3, 4, 5, 2, 3]);
        for (buffer, host, size) in [(7, 0, 2), (0, 3, 2), (u64::MAX, 0, 2), (0, u64::MAX, 1)] {
            assert!(memory.write(&[1; 4], region(buffer, host, size)).is_err());
            assert!(memory.read(&mut [1; 4], region(buffer, host, size)).is_err());
        }
        assert!(memory.copy(&memory, region(0, 7, 2)).is_err() && memory.copy(&memory, region(7, 0, 2)).is_err());
        assert_eq!(bytes(&memory), [4, 5, 2, 3, 4, 5, 2, 3]);
    }

    #[test]
    fn bytes_of_its_own_may_be_what_is_written() {
        let memory = memory(&[1, 2, 3, 4]);
        let address = memory.host_address().expect("an address");
        assert_eq!(address as u64, memory.address());
        // SAFETY: the memory has four bytes and is not dropped before they are used.
        let own = unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(address), 4) };
        assert_eq!(memory.write(own, CopyRegion { buffer: 1, host: 0, size: 3 }), Ok(()));
        assert_eq!(bytes(&memory), [1, 1, 2, 3]);
    }

    #[test]
    fn patterns_of_all_sizes_are_repeated() {
        for width in [1, 2, 3, 4, 12, 16, 24, 48, 128] {
            let pattern: Vec<u8> = (1..=width).collect();
            let count = 40_000 / usize::from(width);
            let size = count * usize::from(width);
            let memory = Arc::new(memory(&vec![0; size + 2]));
            assert_eq!(memory.fill(&pattern, 1, size as u64), Ok(()));
            let bytes = bytes(&memory);
            assert_eq!((bytes[0], bytes[size + 1]), (0, 0));
            assert!(bytes[1..=size].chunks(usize::from(width)).all(|chunk| chunk == pattern), "{width}");
            assert!(memory.fill(&pattern, 3, size as u64).is_err());
        }
    }
}
