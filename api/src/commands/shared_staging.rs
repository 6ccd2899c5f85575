//! Host memory that the copy commands of several devices can access: a pool of slots for transfers between these
//! devices.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use once_cell::sync::OnceCell;
use parking_lot::Mutex;

use crate::backend::Memory;
use crate::objects::device::Device;
use crate::types::host_memory::HostAllocator;

/// Bytes per chunk of a transfer between devices: the copy of one chunk takes several times as long as its submission.
pub(crate) const CHUNK_SIZE: u64 = if cfg!(test) { 1 << 16 } else { 8 << 20 };
/// Maximum number of concurrent chunks.
pub(crate) const SLOTS: u64 = 8;

/// Receives the index of a slot, and must release the slot.
type SlotUser = Box<dyn FnOnce(u64) + Send>;

/// The pool of slots of [`CHUNK_SIZE`] bytes each.
pub(crate) struct SharedStaging {
    /// The import of the memory into each device, if the device can import it.
    mappings: Vec<Option<Arc<dyn Memory>>>,
    slots: Mutex<Slots>,
}

struct Slots {
    free: Vec<u64>,
    waiting: VecDeque<SlotUser>,
    /// Whether a thread is in [`SharedStaging::serve`].
    is_served: bool,
}

impl fmt::Debug for SharedStaging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedStaging").field("mappings", &self.mappings).finish_non_exhaustive()
    }
}

impl SharedStaging {
    /// Allocates the pool and imports it into the devices. `memory_owners` holds, for each device, the index of the
    /// first device with the same memory. Returns `None` if the allocation fails or fewer than two devices can access
    /// the memory.
    pub(crate) fn new(devices: &[Arc<Device>], memory_owners: &[usize], allocator: &dyn HostAllocator) -> Option<Arc<Self>> {
        let region = allocator.allocate(CHUNK_SIZE * SLOTS)?;
        let import = |(index, device): (usize, &Arc<Device>)| {
            if memory_owners[index] == index { device.backend().import_for_copies(&region, CHUNK_SIZE * SLOTS) } else { None }
        };
        let imported: Vec<_> = devices.iter().enumerate().map(import).collect();
        if imported.iter().flatten().count() < 2 {
            return None;
        }
        let mappings = memory_owners.iter().map(|&owner| imported[owner].clone()).collect();
        let slots = Mutex::new(Slots { free: (0..SLOTS).collect(), waiting: VecDeque::new(), is_served: false });
        Some(Arc::new(Self { mappings, slots }))
    }

    /// The import of the memory into a device, or `None` if the device cannot access the memory.
    pub(crate) fn mapping(&self, device_index: usize) -> Option<&Arc<dyn Memory>> {
        self.mappings.get(device_index)?.as_ref()
    }

    /// Runs `user` with a slot, now or when one is free.
    pub(crate) fn with_slot(&self, user: impl FnOnce(u64) + Send + 'static) {
        self.slots.lock().waiting.push_back(Box::new(user));
        self.serve();
    }

    /// Passes a slot to the next user, or returns it to the free slots.
    pub(crate) fn release(&self, slot: u64) {
        self.slots.lock().free.push(slot);
        self.serve();
    }

    /// Passes free slots to users that wait. One thread does this at a time. A user may call this function: if a device
    /// is lost, each user releases its slot at once. Such a nested call returns immediately, so the stack does not grow
    /// with the number of users.
    fn serve(&self) {
        if std::mem::replace(&mut self.slots.lock().is_served, true) {
            return;
        }
        while let Some((user, slot)) = self.next() {
            user(slot);
        }
    }

    /// Returns the next user and its slot, or records that no thread passes slots any more.
    fn next(&self) -> Option<(SlotUser, u64)> {
        let mut slots = self.slots.lock();
        if slots.waiting.is_empty() || slots.free.is_empty() {
            slots.is_served = false;
            return None;
        }
        slots.waiting.pop_front().zip(slots.free.pop())
    }
}

/// The staging memory of a context, allocated on first use.
#[derive(Debug, Default)]
pub(crate) struct LazySharedStaging(OnceCell<Option<Arc<SharedStaging>>>);

impl LazySharedStaging {
    pub(crate) fn get(
        &self,
        devices: &[Arc<Device>],
        memory_owners: &[usize],
        allocator: &dyn HostAllocator,
    ) -> Option<&Arc<SharedStaging>> {
        self.0.get_or_init(|| SharedStaging::new(devices, memory_owners, allocator)).as_ref()
    }
}
