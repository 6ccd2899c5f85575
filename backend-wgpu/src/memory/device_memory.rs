//! Device memory: one wgpu buffer each.
//!
//! The buffer is larger than what was asked for, so that every binding that a launch needs stays inside: storage bindings are rounded up to
//! 16 bytes (views as vectors), uniform bindings to a power of two.

use std::any::Any;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::mpsc::Sender;

use wgcl_api::backend::{BackendError, BackendResult, ExternalMemory, HostTarget, Memory};
use wgcl_api::types::host_memory::HostRegion;
use wgcl_runtime::shutdown;
use wgpu::BufferUsages;

use crate::buffer::Buffer;
use crate::gpu::open_device::Gpu;
use crate::host::mapped_copy;
use crate::message::Message;
use crate::transfer::path::WORD;
use crate::vulkan::dedicated_allocation::LARGE;
use crate::vulkan::hal::{self, Mapping};

/// Bytes that a buffer has beyond a multiple of this are never bound.
const GRANULE: u64 = 256;
/// Up to here a buffer has a size that is a power of two, as a uniform binding must.
const UNIFORM_LIMIT: u64 = 1 << 16;

/// Bytes of a page at least, on every host.
const PAGE: u64 = 4096;

/// How the host sees memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// As its own.
    Mapping,
    /// To write, where the device has a [window](crate::adapter::capabilities::Capabilities::window).
    Window,
}

/// Memory of a device.
#[derive(Debug)]
pub(crate) struct WgpuMemory {
    pub(crate) id: u64,
    gpu: Arc<Gpu>,
    size: u64,
    /// Bytes of the buffer.
    pub(crate) allocated: u64,
    buffer: ManuallyDrop<Buffer>,
    /// Whether a bind group has it.
    bound: AtomicBool,
    /// Where the host reads and writes it.
    mapping: Option<Mapping>,
    /// Where the host writes it, across the bus; it would read it slowly.
    window: Option<Mapping>,
    /// The host's memory that it is made of, if it is.
    region: Option<Arc<dyn HostRegion>>,
    /// Where to say that bindings of this memory are of no more use.
    thread: Option<Sender<Message>>,
    /// Serial number of the last batch that reads or writes it.
    last_use: AtomicU64,
    /// Serial number of the last batch that writes it.
    last_write: AtomicU64,
}

impl WgpuMemory {
    /// Memory that one binding holds.
    pub(crate) fn new(gpu: &Arc<Gpu>, size: u64, thread: Option<Sender<Message>>) -> BackendResult<Arc<Self>> {
        if size > gpu.limits.max_storage_buffer_binding_size {
            return Err(BackendError::OutOfDeviceMemory);
        }
        Self::of_any_size(gpu, size, thread)
    }

    /// Memory that may have to be bound in pieces.
    pub(crate) fn of_any_size(gpu: &Arc<Gpu>, size: u64, thread: Option<Sender<Message>>) -> BackendResult<Arc<Self>> {
        Self::make(gpu, size, thread, BufferUsages::UNIFORM, if gpu.capabilities.unified { View::Mapping } else { View::Window })
    }

    /// The host's memory, which the host sees, and which the device reads and writes across the bus. Only where there is [`Gpu::vulkan_queue`].
    pub(crate) fn host_allocation(gpu: &Arc<Gpu>, size: u64, thread: Sender<Message>) -> BackendResult<Arc<Self>> {
        // Said to be read by the host: cached.
        Self::make(gpu, size, Some(thread), BufferUsages::MAP_READ, View::Mapping)
    }

    /// Whether it is of that device.
    pub(crate) fn is_of(&self, gpu: &Arc<Gpu>) -> bool {
        Arc::ptr_eq(&self.gpu, gpu)
    }

    fn make(gpu: &Arc<Gpu>, size: u64, thread: Option<Sender<Message>>, more: BufferUsages, view: View) -> BackendResult<Arc<Self>> {
        let wanted = size.max(16);
        let allocated = if wanted <= UNIFORM_LIMIT { wanted.next_power_of_two().max(GRANULE) } else { wanted.next_multiple_of(GRANULE) };
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST | more;
        gpu.reserve(allocated)?;
        let mapped = view == View::Mapping || (gpu.capabilities.window && allocated < LARGE);
        let (mut buffer, address) = gpu.buffer(allocated, usage, mapped).inspect_err(|_| gpu.release(allocated))?;
        buffer.host_visible = view == View::Mapping;
        let (mapping, window) = if view == View::Mapping { (address, None) } else { (None, address) };
        let mut memory = Self::of_buffer(gpu, (size, allocated), buffer, thread);
        (memory.mapping, memory.window) = (mapping, window);
        Ok(Arc::new(memory))
    }

    /// Memory that others have made, which the host does not see.
    pub(crate) fn import_fd(gpu: &Arc<Gpu>, kind: ExternalMemory, fd: i32, size: u64, thread: Sender<Message>) -> BackendResult<Arc<Self>> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST | BufferUsages::UNIFORM;
        gpu.check_alive()?;
        let made = hal::imported_buffer(&gpu.device, kind == ExternalMemory::DmaBuf, fd, size, usage);
        let buffer = made.unwrap_or_else(|| Err(BackendError::Other("memory of others".to_owned())))?;
        let allocated = buffer.size();
        // It is no memory of ours, but given back as if it were.
        gpu.reserve(allocated)?;
        Ok(Arc::new(Self::of_buffer(gpu, (size, allocated), buffer, Some(thread))))
    }

    /// The first bytes of a region of the host's, which the device reads and writes where they are. `None` where that cannot be: they do not begin at a multiple of what the device asks
    /// for, or end within a word, of which stores then take along what stands beside.
    pub(crate) fn import_host(gpu: &Arc<Gpu>, region: &Arc<dyn HostRegion>, size: u64, thread: Sender<Message>) -> Option<Arc<Self>> {
        let align = gpu.capabilities.host_memory?;
        let start = NonNull::new(std::ptr::with_exposed_provenance_mut::<u8>(region.address()))?;
        // The pages in which it lies are there as a whole. The host maps no part of a page.
        let allocated = size.checked_next_multiple_of(align)?;
        let is_aligned = (region.address() as u64).is_multiple_of(align) && align <= PAGE && size > 0 && size.is_multiple_of(WORD);
        if !is_aligned || allocated > gpu.limits.max_storage_buffer_binding_size || gpu.check_alive().is_err() {
            return None;
        }
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST | BufferUsages::UNIFORM;
        // SAFETY: aligned as the device asks, and within the limit; the region keeps the bytes, and is kept until the buffer is gone.
        let made = unsafe { hal::adopted_buffer(&gpu.device, (start, allocated), usage) };
        let buffer = made?.inspect_err(|error| tracing::debug!("memory of the host's is not the device's: {error}")).ok()?;
        // It is no memory of the device's, but given back as if it were.
        let Ok(()) = gpu.reserve(allocated) else {
            drop(buffer);
            return None;
        };
        let mut memory = Self::of_buffer(gpu, (size, allocated), buffer, Some(thread));
        memory.region = Some(Arc::clone(region));
        memory.mapping = gpu.capabilities.unified.then_some(Mapping(start));
        Some(Arc::new(memory))
    }

    fn of_buffer(gpu: &Arc<Gpu>, (size, allocated): (u64, u64), buffer: Buffer, thread: Option<Sender<Message>>) -> Self {
        Self {
            id: gpu.fresh_id(),
            gpu: Arc::clone(gpu),
            size,
            allocated,
            buffer: ManuallyDrop::new(buffer),
            bound: AtomicBool::new(false),
            mapping: None,
            window: None,
            region: None,
            thread,
            last_use: AtomicU64::new(0),
            last_write: AtomicU64::new(0),
        }
    }

    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Notes that a bind group has it.
    pub(crate) fn set_bound(&self) {
        self.bound.store(true, Ordering::Relaxed);
    }

    pub(crate) fn mapping(&self) -> Option<Mapping> {
        self.mapping
    }

    /// Where the host may put bytes while no batch uses them.
    pub(crate) fn window(&self) -> Option<Mapping> {
        self.window
    }

    /// Notes that a batch uses it. Only the submission thread does so.
    pub(crate) fn mark(&self, serial: u64, writes: bool) {
        self.last_use.store(serial, Ordering::Relaxed);
        if writes {
            self.last_write.store(serial, Ordering::Relaxed);
        }
    }

    /// The batch to wait for before the host reads it, or, with `writes`, before it writes it.
    pub(crate) fn busy_until(&self, writes: bool) -> u64 {
        if writes { self.last_use.load(Ordering::Relaxed) } else { self.last_write.load(Ordering::Relaxed) }
    }
}

impl Drop for WgpuMemory {
    fn drop(&mut self) {
        if shutdown::is_ending() {
            // The driver below may be gone already.
            std::mem::forget(Arc::clone(&self.gpu));
            return;
        }
        // SAFETY: taken once, here.
        let buffer = unsafe { ManuallyDrop::take(&mut self.buffer) };
        self.gpu.free_after(buffer.wgpu, self.busy_until(true), self.allocated, self.region.take());
        if let (Some(thread), true) = (&self.thread, self.bound.load(Ordering::Relaxed)) {
            // A thread that has ended holds no bindings.
            let _ = thread.send(Message::Forget(self.id));
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

/// Bytes of memory that the host sees all the time, written by a command of another device.
#[derive(Debug)]
struct MappedTarget {
    memory: Arc<dyn Memory>,
    place: Range<u64>,
}

/// What is written at a range of memory, if the host sees it.
pub(crate) fn mapped_target(memory: &Arc<dyn Memory>, place: Range<u64>) -> Option<Arc<dyn HostTarget>> {
    let own = downcast(memory).ok()?;
    own.mapping()?;
    mapped_copy::check(std::iter::once((place.start, place.end.checked_sub(place.start)?)), own).ok()?;
    Some(Arc::new(MappedTarget { memory: Arc::clone(memory), place }))
}

impl HostTarget for MappedTarget {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        let Some(mapping) = downcast(&self.memory).ok().and_then(WgpuMemory::mapping) else { return };
        // SAFETY: the bytes are inside, as `mapped_target` saw. No command of this device uses them before the other's is done (`Device::mapped_target`), but one that races.
        f(unsafe { mapping.bytes_mut(self.place.start, self.place.end - self.place.start) });
        // They are there before anything is submitted.
        fence(Ordering::SeqCst);
    }
}

/// Our implementation of a memory object.
pub(crate) fn downcast(memory: &Arc<dyn Memory>) -> BackendResult<&WgpuMemory> {
    memory.as_any().downcast_ref().ok_or_else(|| BackendError::Other("memory of another backend".to_owned()))
}
