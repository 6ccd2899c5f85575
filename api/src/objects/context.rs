//! Contexts (OpenCL API 4.4).

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use wgcl_compiler::target::{Target, Zeroed};

use crate::commands::shared_staging::{LazySharedStaging, SharedStaging};
use crate::objects::device::Device;
use crate::objects::memory::{Buffer, SvmAllocation};
use crate::types::callback::{self, Notify};
use crate::types::error::{Error, Result, ensure};
use crate::types::host_memory::HostAllocator;
use crate::types::lock::{Mutex, Rank};
use crate::types::object::{Destructors, HandleSlot, Object};
use crate::types::printf::{self, Printer};

/// The operations of a queue that its context uses.
pub(crate) trait Drain: Send + Sync {
    /// Waits until every enqueued command is complete or has failed.
    fn drain(&self);
}

pub struct Context {
    slot: HandleSlot,
    devices: Vec<Arc<Device>>,
    /// For each device, the index of the first device with the same memory.
    memory_owners: Vec<usize>,
    /// Whether several devices of the context can import the same host memory.
    has_common_memory: bool,
    /// The staging memory for transfers between devices.
    shared_staging: LazySharedStaging,
    property_list: Option<Vec<isize>>,
    notify: Option<Notify>,
    printer: OnceLock<Printer>,
    zeroed: OnceLock<Zeroed>,
    allocator: Arc<dyn HostAllocator>,
    /// The number that the next command gets.
    next_number: AtomicU64,
    /// Allocations of shared virtual memory, by address.
    pub(crate) svm: Mutex<BTreeMap<usize, SvmAllocation>>,
    /// Buffers that were created with a device address, by address.
    pub(crate) addressed: Mutex<BTreeMap<u64, Weak<Buffer>>>,
    /// The queues of the context. Some may no longer exist.
    queues: Mutex<Vec<Weak<dyn Drain>>>,
    /// The default on-device queue of each device, by device index.
    default_queues: Mutex<Vec<Weak<dyn Any + Send + Sync>>>,
    /// The connections to OpenGL and EGL, which the C ABI creates.
    graphics: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// The number of user events whose status the application has not set.
    open_user_events: AtomicUsize,
    /// The last field, so that its callbacks run after all other fields are dropped.
    destructors: Destructors,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("devices", &self.devices).finish_non_exhaustive()
    }
}

impl Object for Context {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }

    fn listener(&self) -> Option<&Notify> {
        self.notify.as_ref()
    }
}

impl Context {
    /// clCreateContext. `property_list` is the list as the application passed it, for CL_CONTEXT_PROPERTIES. Duplicate
    /// devices count once.
    ///
    /// # Errors
    /// If the list of devices is empty.
    pub fn new(
        devices: &[Arc<Device>],
        property_list: Option<Vec<isize>>,
        notify: Option<Notify>,
        allocator: Arc<dyn HostAllocator>,
    ) -> Result<Arc<Self>> {
        ensure!(!devices.is_empty(), InvalidValue, "the list of devices is empty");
        let mut unique: Vec<Arc<Device>> = Vec::new();
        for device in devices {
            if !unique.iter().any(|d| Arc::ptr_eq(d, device)) {
                unique.push(device.clone());
            }
        }
        let memory_owner = |device: &Arc<Device>| unique.iter().position(|other| other.shares_memory(device)).unwrap_or(0);
        let memory_owners: Vec<usize> = unique.iter().map(memory_owner).collect();
        let importing = unique
            .iter()
            .zip(&memory_owners)
            .enumerate()
            .filter(|(index, (device, memory_owner))| index == *memory_owner && device.backend().can_import_host_memory());
        let has_common_memory = importing.count() > 1;
        Ok(Arc::new(Self {
            slot: HandleSlot::default(),
            devices: unique,
            memory_owners,
            has_common_memory,
            shared_staging: LazySharedStaging::default(),
            property_list,
            notify,
            printer: OnceLock::new(),
            zeroed: OnceLock::new(),
            allocator,
            next_number: AtomicU64::new(1),
            svm: Mutex::new(Rank::Svm, BTreeMap::new()),
            addressed: Mutex::new(Rank::Svm, BTreeMap::new()),
            queues: Mutex::new(Rank::Svm, Vec::new()),
            default_queues: Mutex::new(Rank::Svm, devices.iter().map(|_| Weak::<()>::new() as Weak<dyn Any + Send + Sync>).collect()),
            graphics: OnceLock::new(),
            open_user_events: AtomicUsize::new(0),
            destructors: Destructors::default(),
        }))
    }

    /// CL_CONTEXT_DEVICES
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// CL_CONTEXT_PROPERTIES
    pub fn property_list(&self) -> Option<&[isize]> {
        self.property_list.as_deref()
    }

    /// The index of a device in the context, or `None` if it does not belong to the context.
    pub fn device_index(&self, device: &Arc<Device>) -> Option<usize> {
        self.devices.iter().position(|d| Arc::ptr_eq(d, device))
    }

    /// The index of the first device that shares the memory of the device with this index.
    pub(crate) fn memory_owner(&self, device_index: usize) -> usize {
        self.memory_owners.get(device_index).copied().unwrap_or(device_index)
    }

    /// Whether several devices of the context can import the same host memory.
    pub(crate) const fn has_common_memory(&self) -> bool {
        self.has_common_memory
    }

    /// Returns the host memory for transfers between devices, or `None` if the devices do not support such transfers.
    /// The first call allocates the memory.
    pub(crate) fn shared_staging(&self) -> Option<&Arc<SharedStaging>> {
        self.shared_staging.get(&self.devices, &self.memory_owners, &*self.allocator)
    }

    /// Sets the destination of kernels' printf output. Only the first call has an effect.
    pub fn set_printer(&self, printer: Printer) {
        // `set` cannot fail, because clCreateContext rejects duplicate properties.
        let _ = self.printer.set(printer);
    }

    /// CL_CONTEXT_MEMORY_INITIALIZE_KHR. Only the first call has an effect.
    pub fn set_zeroed(&self, zeroed: Zeroed) {
        // `set` cannot fail, because clCreateContext rejects duplicate properties.
        let _ = self.zeroed.set(zeroed);
    }

    /// The connections to OpenGL and EGL. The first call creates them with `make`.
    pub fn graphics(&self, make: impl FnOnce() -> Arc<dyn Any + Send + Sync>) -> Arc<dyn Any + Send + Sync> {
        self.graphics.get_or_init(make).clone()
    }

    /// Records that a user event was created.
    pub(crate) fn add_user_event(&self) {
        self.open_user_events.fetch_add(1, Ordering::AcqRel);
    }

    /// Records that the application has set the status of a user event, or has released it without.
    pub(crate) fn remove_user_event(&self) {
        self.open_user_events.fetch_sub(1, Ordering::AcqRel);
    }

    /// Whether commands may wait for an event that only the application can complete.
    pub(crate) fn has_open_user_events(&self) -> bool {
        self.open_user_events.load(Ordering::Acquire) != 0
    }

    /// The compilation target of a device, with zero-initialised memory if the context property requests it.
    pub(crate) fn target_of(&self, device: &Device) -> Target {
        Target { zeroed: self.zeroed.get().copied().unwrap_or_default(), ..device.target().clone() }
    }

    /// Forwards the printf output of a kernel.
    pub fn print(&self, text: &[u8]) {
        match self.printer.get() {
            Some(printer) => printer(text),
            None => printf::to_stdout(text),
        }
    }

    /// Records that a queue was created.
    pub(crate) fn add_queue(&self, queue: Weak<dyn Drain>) {
        let mut queues = self.queues.lock();
        queues.retain(|queue| queue.strong_count() > 0);
        queues.push(queue);
    }

    /// The queues that still exist.
    pub(crate) fn queues(&self) -> Vec<Arc<dyn Drain>> {
        self.queues.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// The default on-device queues, by device index. The elements are queues, but their type is `Any`, because the
    /// module of queues depends on this module.
    pub(crate) fn default_queues(&self) -> &Mutex<Vec<Weak<dyn Any + Send + Sync>>> {
        &self.default_queues
    }

    /// The allocator of host memory: for maps, SVM and staging memory.
    pub fn allocator(&self) -> &dyn HostAllocator {
        &*self.allocator
    }

    /// Assigns a command its number: the commands of all queues are numbered in enqueue order.
    pub(crate) fn take_number(&self) -> u64 {
        self.next_number.fetch_add(1, Ordering::AcqRel)
    }

    /// The number that the next command gets.
    pub(crate) fn next_number(&self) -> u64 {
        self.next_number.load(Ordering::Acquire)
    }

    /// clSetContextDestructorCallback
    pub fn on_destruction(&self, job: callback::Job) {
        self.destructors.push(job);
    }

    /// Reports an error to the application's callback, if there is one.
    pub(crate) fn notify(&self, error: &Error) {
        if let Some(notify) = &self.notify {
            let (notify, message, code) = (notify.clone(), error.to_string(), error.code());
            callback::schedule(Box::new(move || notify(&message, code)));
        }
    }
}
