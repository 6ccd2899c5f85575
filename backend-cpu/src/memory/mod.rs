//! Memory objects: memory that the device allocated, or host memory of the application or the API that the device uses
//! in place.
//!
//! Commands run one at a time. So only the application can access the bytes of a memory object at the same time as a
//! command. Such an access is a data race, which is undefined behaviour in OpenCL. The application may pass host memory
//! that overlaps a memory object (a mapped region). Therefore, transfers use raw pointers, without references to the
//! bytes.

pub(crate) mod address_range;
pub(crate) mod arena;
pub(crate) mod host_allocation;
pub(crate) mod initialized;
mod pages;

use std::any::Any;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, BackendResult, HostTarget, Memory};
use wgcl_api::host_commands::range;
use wgcl_api::options::Options;
use wgcl_api::types::host_memory::HostRegion;
use wgcl_compiler::launch::MAX_SMALL_IMAGE;
use wgcl_compiler::passes::offsets::MIN_LARGE_OBJECT;

use crate::memory::address_range::AddressRange;
use crate::memory::host_allocation::HostAllocation;
use crate::memory::initialized::InitializedBytes;
#[cfg(windows)]
pub(crate) use crate::memory::pages::physical_memory;

/// The properties of memory objects for which kernels are specialised.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectSizes {
    /// Whether the device has memory objects that need 64-bit offsets.
    pub(crate) large: bool,
    /// The size in bytes of the largest image whose elements have 32-bit offsets.
    pub(crate) max_small_image: u64,
}

/// Counts the allocated bytes and the large objects of a device. Lists the objects for the sanitizer.
#[derive(Debug)]
pub(crate) struct MemoryTracker {
    used: AtomicU64,
    limit: u64,
    /// Number of memory objects of `large_threshold` bytes or more.
    large_objects: AtomicUsize,
    large_threshold: u64,
    /// The size in bytes of the largest image whose elements have 32-bit offsets.
    max_small_image: u64,
    /// The memory objects, if the sanitizer is enabled.
    objects: Option<Mutex<Vec<MemoryObject>>>,
}

/// A memory object, for the sanitizer.
#[derive(Clone, Debug)]
pub(crate) struct MemoryObject {
    pub(crate) range: AddressRange,
    /// The initialised bytes, if the device allocated the object.
    pub(crate) initialized: Option<Arc<InitializedBytes>>,
}

impl MemoryTracker {
    /// Creates a tracker for a device with `limit` bytes of memory.
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        let requested = Options::get().binding_limit.as_deref().and_then(|text| text.parse::<u64>().ok());
        Arc::new(Self {
            used: AtomicU64::new(0),
            limit,
            large_objects: AtomicUsize::new(0),
            large_threshold: requested.map_or(MIN_LARGE_OBJECT, |requested| requested.min(MIN_LARGE_OBJECT)),
            max_small_image: requested.map_or(MAX_SMALL_IMAGE, |requested| requested.min(MAX_SMALL_IMAGE)),
            objects: Options::get().is_checked().then(Mutex::default),
        })
    }

    /// The properties of memory objects for which kernels are specialised.
    pub(crate) fn object_sizes(&self) -> ObjectSizes {
        ObjectSizes { large: self.large_objects.load(Ordering::Relaxed) > 0, max_small_image: self.max_small_image }
    }

    /// The memory objects. Empty if the sanitizer is disabled.
    pub(crate) fn objects(&self) -> Vec<MemoryObject> {
        self.objects.as_ref().map(|objects| objects.lock().clone()).unwrap_or_default()
    }

    /// Adds an object.
    fn add(&self, range: AddressRange, initialized: Option<&Arc<InitializedBytes>>) {
        if let Some(objects) = &self.objects {
            objects.lock().push(MemoryObject { range, initialized: initialized.cloned() });
        }
        if range.size() >= self.large_threshold {
            self.large_objects.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Reserves bytes of device memory. Returns false if not enough bytes are available.
    fn reserve(&self, bytes: u64) -> bool {
        let more = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }
}

/// Minimum alignment of host memory that the device uses in place: SSE loads and stores require it.
const ADOPTED_ALIGN: usize = 16;

/// The owner of the bytes.
#[derive(Debug)]
enum Owner {
    Device(#[expect(dead_code, reason = "it keeps the bytes")] HostAllocation),
    /// The memory of a program's variables, which are not a memory object.
    Program(#[expect(dead_code, reason = "it keeps the bytes")] HostAllocation),
    Host(#[expect(dead_code, reason = "it keeps the bytes")] Arc<dyn HostRegion>),
}

/// A memory object, or the variables of a program.
#[derive(Debug)]
pub(crate) struct CpuMemory {
    start: NonNull<u8>,
    size: usize,
    owner: Owner,
    tracker: Arc<MemoryTracker>,
    /// The initialised bytes, if the sanitizer is enabled and the device allocated the object.
    initialized: Option<Arc<InitializedBytes>>,
}

// SAFETY: the value is an address and the owner of the bytes. The code that accesses the bytes states why the access is
// sound.
unsafe impl Send for CpuMemory {}
// SAFETY: the reason for `Send` also applies to `Sync`.
unsafe impl Sync for CpuMemory {}

impl CpuMemory {
    /// Creates a memory object of `size` zero bytes.
    ///
    /// # Errors
    /// Fails if the device or the host has not enough memory.
    pub(crate) fn new(tracker: &Arc<MemoryTracker>, size: u64) -> BackendResult<Self> {
        if !tracker.reserve(size) {
            return Err(BackendError::OutOfDeviceMemory);
        }
        let Some(allocation) = HostAllocation::zeroed(size) else {
            tracker.used.fetch_sub(size, Ordering::Relaxed);
            return Err(BackendError::OutOfDeviceMemory);
        };
        Ok(Self::owned(allocation.start(), allocation.size(), Owner::Device(allocation), tracker))
    }

    /// Creates a memory object that uses the first `size` bytes of host memory in place. Returns `None` if the address
    /// is null, or not a multiple of [`ADOPTED_ALIGN`].
    pub(crate) fn of_host(tracker: &Arc<MemoryTracker>, region: &Arc<dyn HostRegion>, size: u64) -> Option<Self> {
        let start = NonNull::new(std::ptr::with_exposed_provenance_mut(region.address()))?;
        let size = usize::try_from(size).ok()?;
        region.address().is_multiple_of(ADOPTED_ALIGN).then(|| Self::owned(start, size, Owner::Host(Arc::clone(region)), tracker))
    }

    /// Wraps the memory of a program's variables, which does not count as device memory.
    pub(crate) fn of_variables(allocation: HostAllocation) -> Arc<Self> {
        let (start, size) = (allocation.start(), allocation.size());
        Arc::new(Self { start, size, owner: Owner::Program(allocation), tracker: MemoryTracker::new(0), initialized: None })
    }

    fn owned(start: NonNull<u8>, size: usize, owner: Owner, tracker: &Arc<MemoryTracker>) -> Self {
        let is_checked = tracker.objects.is_some() && matches!(owner, Owner::Device(_));
        let initialized = is_checked.then(|| Arc::new(InitializedBytes::new(size)));
        let memory = Self { start, size, owner, tracker: Arc::clone(tracker), initialized };
        tracker.add(memory.range(), memory.initialized.as_ref());
        memory
    }

    pub(crate) fn bytes<T>(&self, f: impl FnOnce(&mut [u8]) -> T) -> T {
        // SAFETY: the object has `length` bytes, and only the running command accesses them (module documentation). No
        // caller in this crate requests the bytes of one object within `f`.
        f(unsafe { std::slice::from_raw_parts_mut(self.start().as_ptr(), self.length()) })
    }

    /// Marks all bytes as initialised, because the caller receives the address or the bytes and may write to them.
    pub(crate) fn mark_all_initialized(&self) {
        if let Some(initialized) = &self.initialized {
            initialized.mark_all();
        }
    }

    pub(crate) fn mark_initialized(&self, range: &Range<usize>) {
        if let Some(initialized) = &self.initialized {
            initialized.mark(range.start as u64, range.end as u64);
        }
    }

    /// The address of the first byte.
    pub(crate) fn address(&self) -> u64 {
        self.start.as_ptr().expose_provenance() as u64
    }

    fn range(&self) -> AddressRange {
        AddressRange { start: self.address(), end: self.address() + self.size as u64 }
    }

    pub(crate) const fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) const fn length(&self) -> usize {
        self.size
    }
}

impl Drop for CpuMemory {
    fn drop(&mut self) {
        let size = self.size as u64;
        if let Owner::Program(_) = &self.owner {
            return;
        }
        if let Some(objects) = &self.tracker.objects {
            let mut objects = objects.lock();
            if let Some(index) = objects.iter().position(|object| object.range == self.range()) {
                objects.swap_remove(index);
            }
        }
        if size >= self.tracker.large_threshold {
            self.tracker.large_objects.fetch_sub(1, Ordering::Relaxed);
        }
        if let Owner::Device(_) = &self.owner {
            self.tracker.used.fetch_sub(size, Ordering::Relaxed);
        }
    }
}

impl Memory for CpuMemory {
    fn size(&self) -> u64 {
        self.size as u64
    }

    fn host_address(&self) -> Option<usize> {
        self.mark_all_initialized();
        Some(self.start.as_ptr().expose_provenance())
    }

    fn kernel_address(&self) -> Option<u64> {
        self.host_address().map(|address| address as u64)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A range of a memory object that a command of another device writes.
#[derive(Debug)]
struct WriteTarget {
    memory: Arc<dyn Memory>,
    bytes: Range<usize>,
}

/// Returns the target for writes of another device to a range of a memory object. `None` if the range is not in the
/// object.
pub(crate) fn host_visible_target(memory: &Arc<dyn Memory>, bytes: Range<u64>) -> Option<Arc<dyn HostTarget>> {
    let own: &CpuMemory = memory.as_any().downcast_ref()?;
    let bytes = range(own.length(), bytes.start, bytes.end.checked_sub(bytes.start)?).ok()?;
    Some(Arc::new(WriteTarget { memory: Arc::clone(memory), bytes }))
}

impl HostTarget for WriteTarget {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        let Some(memory) = self.memory.as_any().downcast_ref::<CpuMemory>() else { return };
        memory.mark_initialized(&self.bytes);
        // SAFETY: `host_visible_target` checked the range. No command of this device accesses it before the other
        // device's command completes (`Device::host_visible_target`), except in a racy program.
        f(unsafe { std::slice::from_raw_parts_mut(memory.start().as_ptr().add(self.bytes.start), self.bytes.len()) });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use wgcl_api::backend::BackendError;

    use super::{CpuMemory, MemoryTracker};

    #[test]
    fn allocations_are_limited_to_the_devices_memory() {
        let tracker = MemoryTracker::new(1000);
        let first = CpuMemory::new(&tracker, 600).expect("memory");
        assert_eq!(CpuMemory::new(&tracker, 600).err(), Some(BackendError::OutOfDeviceMemory));
        drop(first);
        assert!(CpuMemory::new(&tracker, 1000).is_ok());
        assert_eq!(CpuMemory::new(&tracker, u64::MAX).err(), Some(BackendError::OutOfDeviceMemory));
        assert_eq!(tracker.used.load(Ordering::Relaxed), 0);
    }
}
