//! Memory objects on a device. Each memory object is one wgpu buffer.
//!
//! A buffer may be larger than its memory object, so that every binding of a launch fits. Storage bindings are rounded
//! up to 16 bytes, the largest element of a view, and uniform bindings to a power of two.

use std::any::Any;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::mpsc::Sender;

use wgcl_api::backend::{BackendError, BackendResult, ExportedMemory, ExternalMemory, HostTarget, Memory};
use wgcl_api::types::host_memory::HostRegion;
use wgcl_runtime::shutdown;
use wgpu::BufferUsages;

use crate::buffer::{Buffer, WORD};
use crate::gpu::open_device::Gpu;
use crate::host::mapping::Mapping;
use crate::host_visibility::HostVisibility;
use crate::message::Message;
use crate::vulkan::dedicated_allocation;

/// Sizes of buffers are multiples of this number of bytes.
const GRANULE: u64 = 256;
/// Up to this number of bytes, the size of a buffer is a power of two, like that of a uniform binding.
const UNIFORM_LIMIT: u64 = 1 << 16;

/// Usages of every buffer.
const STORAGE_AND_COPIES: BufferUsages = BufferUsages::STORAGE.union(BufferUsages::COPY_SRC).union(BufferUsages::COPY_DST);
/// Usages of a buffer on imported or exported memory.
const SHARED: BufferUsages = STORAGE_AND_COPIES.union(BufferUsages::UNIFORM);

/// Exported memory has at least this number of bytes after its contents. With llvmpipe of Mesa 22.3.6, a buffer of 256
/// bytes cannot be created on 256 bytes of imported memory, and one of 240 bytes can.
const IMPORT_PADDING: u64 = 64;

/// The smallest page size of all hosts.
const MIN_HOST_PAGE: u64 = 4096;

/// How the host accesses a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostAccess {
    /// The host reads and writes the buffer.
    Mapping,
    /// The host accesses the buffer across the bus, or not at all. The host can access it if the device has a
    /// [BAR](crate::adapter::capabilities::Capabilities::bar) for all of its memory, and the buffer is below
    /// [`dedicated_allocation::MIN_SIZE`].
    Bar,
}

#[derive(Debug)]
pub(crate) struct WgpuMemory {
    pub(crate) id: u64,
    gpu: Arc<Gpu>,
    size: u64,
    /// Size of the buffer in bytes.
    pub(crate) allocated: u64,
    buffer: ManuallyDrop<Buffer>,
    /// Whether a bind group was created for the buffer.
    bound: AtomicBool,
    /// The address at which the host reads and writes the buffer. `None` if the host cannot access it in place.
    mapping: Option<Mapping>,
    /// The address at which the host writes the buffer, and reads few bytes of it, across the bus. `None` if the host
    /// cannot access it. Large reads would be slow.
    bar: Option<Mapping>,
    /// The imported host memory, if any.
    region: Option<Arc<dyn HostRegion>>,
    /// Sends the message that bind groups with this buffer are stale.
    messages: Option<Sender<Message>>,
    /// Serial number of the last batch that reads or writes the buffer.
    last_use: AtomicU64,
    /// Serial number of the last batch that writes the buffer.
    last_write: AtomicU64,
}

impl WgpuMemory {
    /// Creates memory that fits one binding.
    pub(crate) fn new(gpu: &Arc<Gpu>, size: u64, messages: Option<Sender<Message>>) -> BackendResult<Arc<Self>> {
        if size > gpu.limits.max_storage_buffer_binding_size {
            return Err(BackendError::OutOfDeviceMemory);
        }
        Self::of_any_size(gpu, size, messages)
    }

    /// Creates memory that may have to be split across several bindings.
    pub(crate) fn of_any_size(gpu: &Arc<Gpu>, size: u64, messages: Option<Sender<Message>>) -> BackendResult<Arc<Self>> {
        Self::make(gpu, size, messages, BufferUsages::UNIFORM, if gpu.capabilities.unified { HostAccess::Mapping } else { HostAccess::Bar })
    }

    /// Creates host memory that the device accesses across the bus. Requires [`Gpu::vulkan_queue`].
    pub(crate) fn host_allocation(gpu: &Arc<Gpu>, size: u64, messages: Sender<Message>) -> BackendResult<Arc<Self>> {
        // MAP_READ selects memory that the CPU caches.
        Self::make(gpu, size, Some(messages), BufferUsages::MAP_READ, HostAccess::Mapping)
    }

    pub(crate) fn is_of(&self, gpu: &Arc<Gpu>) -> bool {
        Arc::ptr_eq(&self.gpu, gpu)
    }

    fn make(
        gpu: &Arc<Gpu>,
        size: u64,
        messages: Option<Sender<Message>>,
        more: BufferUsages,
        access: HostAccess,
    ) -> BackendResult<Arc<Self>> {
        let wanted = size.max(16);
        let allocated = if wanted <= UNIFORM_LIMIT { wanted.next_power_of_two().max(GRANULE) } else { wanted.next_multiple_of(GRANULE) };
        let usage = STORAGE_AND_COPIES | more;
        gpu.reserve(allocated)?;
        let mapped = access == HostAccess::Mapping || (gpu.capabilities.bar && allocated < dedicated_allocation::MIN_SIZE);
        let (mut buffer, address) = gpu.buffer(allocated, usage, mapped).inspect_err(|_| gpu.release(allocated))?;
        buffer.visibility = HostVisibility::new(access == HostAccess::Mapping);
        let (mapping, bar) = if access == HostAccess::Mapping { (address, None) } else { (None, address) };
        let mut memory = Self::of_buffer(gpu, size, buffer, messages);
        (memory.mapping, memory.bar) = (mapping, bar);
        Ok(Arc::new(memory))
    }

    /// Imports memory that another API exported. The host cannot access this memory.
    pub(crate) fn import_fd(
        gpu: &Arc<Gpu>,
        kind: ExternalMemory,
        fd: i32,
        size: u64,
        messages: Sender<Message>,
    ) -> BackendResult<Arc<Self>> {
        gpu.check_alive()?;
        let buffer = gpu.vulkan()?.import_fd(kind, fd, size, SHARED)?;
        let allocated = buffer.size();
        // The imported memory is not the device's. It needs a reservation nevertheless, because its destructor releases
        // one.
        gpu.reserve(allocated)?;
        Ok(Arc::new(Self::of_buffer(gpu, size, buffer, Some(messages))))
    }

    /// Creates memory that other APIs can import. The host cannot access this memory.
    pub(crate) fn exportable(gpu: &Arc<Gpu>, size: u64, messages: Sender<Message>) -> BackendResult<ExportedMemory> {
        gpu.check_alive()?;
        let wanted = (size + IMPORT_PADDING).next_multiple_of(GRANULE);
        gpu.reserve(wanted)?;
        let created = gpu.vulkan().and_then(|vulkan| vulkan.exportable_buffer(wanted, SHARED));
        let (buffer, fd, allocated) = created.inspect_err(|_| gpu.release(wanted))?;
        Ok(ExportedMemory { memory: Arc::new(Self::of_buffer(gpu, size, buffer, Some(messages))), fd, allocated })
    }

    /// Imports the first `size` bytes of a region of host memory. Returns `None` if the device cannot import the
    /// region. Also returns `None` if `size` is not a multiple of 4: a store of the device to part of a word
    /// writes the whole word.
    pub(crate) fn import_host(gpu: &Arc<Gpu>, region: &Arc<dyn HostRegion>, size: u64, messages: Sender<Message>) -> Option<Arc<Self>> {
        let align = gpu.capabilities.host_memory?;
        let start = NonNull::new(std::ptr::with_exposed_provenance_mut::<u8>(region.address()))?;
        // The host maps whole pages, so the bytes up to the rounded size exist.
        let allocated = size.checked_next_multiple_of(align)?;
        let is_aligned = (region.address() as u64).is_multiple_of(align) && align <= MIN_HOST_PAGE && size > 0 && size.is_multiple_of(WORD);
        if !is_aligned || allocated > gpu.limits.max_storage_buffer_binding_size || gpu.check_alive().is_err() {
            return None;
        }
        // SAFETY: the address is aligned as the device requires, and the size is within its limit. The region keeps
        // the bytes and outlives the buffer.
        let created = unsafe { gpu.vulkan().ok()?.import_host(start, allocated, SHARED) };
        let buffer = created.inspect_err(|error| tracing::debug!("host memory cannot be imported: {error}")).ok()?;
        // The imported memory is not the device's. It needs a reservation nevertheless, because its destructor releases
        // one.
        let Ok(()) = gpu.reserve(allocated) else {
            drop(buffer);
            return None;
        };
        let mut memory = Self::of_buffer(gpu, size, buffer, Some(messages));
        memory.region = Some(Arc::clone(region));
        memory.mapping = gpu.capabilities.unified.then_some(Mapping(start));
        Some(Arc::new(memory))
    }

    fn of_buffer(gpu: &Arc<Gpu>, size: u64, buffer: Buffer, messages: Option<Sender<Message>>) -> Self {
        Self {
            id: gpu.fresh_id(),
            gpu: Arc::clone(gpu),
            size,
            allocated: buffer.size(),
            buffer: ManuallyDrop::new(buffer),
            bound: AtomicBool::new(false),
            mapping: None,
            bar: None,
            region: None,
            messages,
            last_use: AtomicU64::new(0),
            last_write: AtomicU64::new(0),
        }
    }

    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    pub(crate) fn set_bound(&self) {
        self.bound.store(true, Ordering::Relaxed);
    }

    pub(crate) fn mapping(&self) -> Option<Mapping> {
        self.mapping
    }

    /// Returns the address across the bus at which the host may write while no batch uses the buffer. The host may also
    /// read there while no batch writes the buffer, if it sees the last write ([`HostVisibility::is_current`]).
    pub(crate) fn bar(&self) -> Option<Mapping> {
        self.bar
    }

    /// Records that batch `serial` uses the buffer. Only the thread that runs the engine calls this.
    pub(crate) fn record_use(&self, serial: u64, writes: bool) {
        self.last_use.store(serial, Ordering::Relaxed);
        if writes {
            self.last_write.store(serial, Ordering::Relaxed);
            self.buffer.visibility.record_write();
        }
    }

    /// Returns the serial number of the batch for which the host must wait before it reads the buffer. With `writes`,
    /// returns the batch for which it must wait before it writes the buffer.
    pub(crate) fn busy_until(&self, writes: bool) -> u64 {
        if writes { self.last_use.load(Ordering::Relaxed) } else { self.last_write.load(Ordering::Relaxed) }
    }
}

impl Drop for WgpuMemory {
    fn drop(&mut self) {
        if shutdown::is_ending() {
            // The driver may be unloaded already.
            std::mem::forget(Arc::clone(&self.gpu));
            return;
        }
        // SAFETY: the buffer is taken only here.
        let buffer = unsafe { ManuallyDrop::take(&mut self.buffer) };
        self.gpu.free_after(buffer.wgpu, self.busy_until(true), self.allocated, self.region.take());
        if let (Some(messages), true) = (&self.messages, self.bound.load(Ordering::Relaxed)) {
            // If the message cannot be sent, the receiving thread has ended and has no bind groups.
            let _ = messages.send(Message::Forget(self.id));
        }
    }
}

impl Memory for WgpuMemory {
    fn size(&self) -> u64 {
        self.size
    }

    fn host_address(&self) -> Option<usize> {
        self.mapping.map(Mapping::address)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A mapped range that a command of another device writes.
#[derive(Debug)]
struct MappedTarget {
    memory: Arc<dyn Memory>,
    range: Range<u64>,
}

/// Returns the range as a target of another device's read. Returns `None` if the host cannot access the buffer, or if
/// the range is out of bounds.
pub(crate) fn mapped_target(memory: &Arc<dyn Memory>, range: Range<u64>) -> Option<Arc<dyn HostTarget>> {
    let own = downcast(memory).ok()?;
    own.mapping()?;
    check_ranges(std::iter::once((range.start, range.end.checked_sub(range.start)?)), own).ok()?;
    Some(Arc::new(MappedTarget { memory: Arc::clone(memory), range }))
}

impl HostTarget for MappedTarget {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        let Some(mapping) = downcast(&self.memory).ok().and_then(WgpuMemory::mapping) else { return };
        // SAFETY: `mapped_target` checked the range. `Device::host_visible_target` requires that no command of
        // this device uses the range meanwhile.
        f(unsafe { mapping.bytes_mut(self.range.start, self.range.end - self.range.start) });
        // The fence makes the bytes visible before the next submission.
        fence(Ordering::SeqCst);
    }
}

pub(crate) fn downcast(memory: &Arc<dyn Memory>) -> BackendResult<&WgpuMemory> {
    memory.as_any().downcast_ref().ok_or_else(|| BackendError::Other("the memory object belongs to another backend".to_owned()))
}

/// Fails if a range (offset and size) is not inside the buffer. The API has already checked the ranges. This check
/// makes the unsafe code sound.
pub(crate) fn check_ranges(mut ranges: impl Iterator<Item = (u64, u64)>, memory: &WgpuMemory) -> BackendResult<()> {
    if ranges.all(|(offset, size)| offset.checked_add(size).is_some_and(|end| end <= memory.allocated)) {
        Ok(())
    } else {
        Err(BackendError::Other("internal error: a transfer ends beyond its buffer".to_owned()))
    }
}
