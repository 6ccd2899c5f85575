//! Memory objects: buffers, sub-buffers, and the devices that hold their contents (OpenCL API 5.2).
//!
//! A [`Store`] is the memory of a buffer and its sub-buffers. The first use on a device creates an allocation on this
//! device. Devices with the same memory share an allocation. In contexts with several devices, the store also records,
//! for each byte range, which devices hold the newest version. A [`Buffer`] is the object of a cl_mem: a store and a
//! range of the store.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bitflags::bitflags;
use once_cell::sync::OnceCell;

use crate::backend::{Action, BackendResult, CopyRegion, Device, HostSource, Identity, Memory, Progress, Times};
use crate::commands::failure::Failure;
use crate::commands::map_record::MapRecord;
use crate::commands::svm_types::Usm;
use crate::objects::context::Context;
use crate::observe::lint::{self, BufferUsers};
use crate::observe::trace;
use crate::types::callback;
use crate::types::callback::Notify;
use crate::types::content_size::ContentSizes;
use crate::types::error::{Error, Result, ensure};
use crate::types::graphics::Graphics;
use crate::types::host_memory::HostRegion;
use crate::types::lock::{Mutex, Rank};
use crate::types::object::{Destructors, HandleSlot, Object};
use crate::types::range_set::RangeSet;

bitflags! {
    /// cl_mem_flags
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct MemFlags: u64 {
        /// CL_MEM_READ_WRITE
        const READ_WRITE = 1 << 0;
        /// CL_MEM_WRITE_ONLY
        const WRITE_ONLY = 1 << 1;
        /// CL_MEM_READ_ONLY
        const READ_ONLY = 1 << 2;
        /// CL_MEM_USE_HOST_PTR
        const USE_HOST_PTR = 1 << 3;
        /// CL_MEM_ALLOC_HOST_PTR
        const ALLOC_HOST_PTR = 1 << 4;
        /// CL_MEM_COPY_HOST_PTR
        const COPY_HOST_PTR = 1 << 5;
        /// CL_MEM_IMMUTABLE_EXT: no command and no kernel may modify the contents.
        const IMMUTABLE = 1 << 6;
        /// CL_MEM_HOST_WRITE_ONLY
        const HOST_WRITE_ONLY = 1 << 7;
        /// CL_MEM_HOST_READ_ONLY
        const HOST_READ_ONLY = 1 << 8;
        /// CL_MEM_HOST_NO_ACCESS
        const HOST_NO_ACCESS = 1 << 9;
    }
}

/// Displays the names of the flags in the specification.
impl fmt::Display for MemFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, flag)) in self.iter_names().enumerate() {
            let suffix = if flag == Self::IMMUTABLE { "_EXT" } else { "" };
            write!(f, "{}CL_MEM_{name}{suffix}", if index == 0 { "" } else { " | " })?;
        }
        Ok(())
    }
}

impl MemFlags {
    /// Flags on a kernel's access that exclude each other.
    const ACCESS: Self = Self::READ_WRITE.union(Self::WRITE_ONLY).union(Self::READ_ONLY);
    /// All flags on a kernel's access.
    const KERNEL: Self = Self::ACCESS.union(Self::IMMUTABLE);
    /// The flags that contradict immutable memory.
    const CHANGING: Self = Self::READ_WRITE.union(Self::WRITE_ONLY).union(Self::HOST_WRITE_ONLY);
    /// Flags on the host's access.
    const HOST: Self = Self::HOST_WRITE_ONLY.union(Self::HOST_READ_ONLY).union(Self::HOST_NO_ACCESS);
    /// Flags on the host pointer.
    pub(crate) const POINTER: Self = Self::USE_HOST_PTR.union(Self::ALLOC_HOST_PTR).union(Self::COPY_HOST_PTR);

    /// Parses the flags of clCreateBuffer.
    ///
    /// # Errors
    /// Fails for unknown bits and for flags that exclude each other.
    pub fn parse(bits: u64) -> Result<Self> {
        let flags = Self::from_bits(bits).ok_or_else(|| Error::InvalidValue(format!("memory flags {bits:#x} are unknown").into()))?;
        // "CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY and CL_MEM_READ_ONLY are mutually exclusive", and so are the flags on
        // the host's access.
        ensure!(
            (flags & Self::ACCESS).bits().count_ones() <= 1,
            InvalidValue,
            "{flags}: the flags for kernel access are mutually exclusive"
        );
        ensure!((flags & Self::HOST).bits().count_ones() <= 1, InvalidValue, "{flags}: the flags for host access are mutually exclusive");
        // "CL_MEM_ALLOC_HOST_PTR and CL_MEM_USE_HOST_PTR are mutually exclusive", and so are CL_MEM_COPY_HOST_PTR and
        // CL_MEM_USE_HOST_PTR.
        ensure!(
            !flags.contains(Self::USE_HOST_PTR) || !flags.intersects(Self::ALLOC_HOST_PTR | Self::COPY_HOST_PTR),
            InvalidValue,
            "{flags}: CL_MEM_USE_HOST_PTR excludes CL_MEM_ALLOC_HOST_PTR and CL_MEM_COPY_HOST_PTR"
        );
        // "CL_INVALID_VALUE if CL_MEM_IMMUTABLE_EXT is set in flags and CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, or
        // CL_MEM_HOST_WRITE_ONLY is set in flags."
        let is_valid = !flags.contains(Self::IMMUTABLE) || !flags.intersects(Self::CHANGING);
        ensure!(is_valid, InvalidValue, "{flags}: CL_MEM_IMMUTABLE_EXT excludes flags that permit writes");
        Ok(flags)
    }

    /// The flags with the specification's default for the kernel's access.
    #[must_use]
    pub fn or_default(self) -> Self {
        if self.intersects(Self::KERNEL) { self } else { self | Self::READ_WRITE }
    }

    /// Checks the flags of an object that is created from an object with the flags `parent`.
    ///
    /// # Errors
    /// If they contradict each other.
    pub fn check_inheritance(self, parent: Self) -> Result<()> {
        // "CL_INVALID_VALUE if buffer was created with CL_MEM_WRITE_ONLY and flags specifies CL_MEM_READ_WRITE or
        // CL_MEM_READ_ONLY", and so on.
        let excluded = [
            (Self::WRITE_ONLY, Self::READ_WRITE | Self::READ_ONLY),
            (Self::READ_ONLY, Self::READ_WRITE | Self::WRITE_ONLY),
            (Self::HOST_WRITE_ONLY, Self::HOST_READ_ONLY),
            (Self::HOST_READ_ONLY, Self::HOST_WRITE_ONLY),
            (Self::HOST_NO_ACCESS, Self::HOST_READ_ONLY | Self::HOST_WRITE_ONLY),
            (Self::IMMUTABLE, Self::CHANGING),
        ];
        for (of_parent, of_child) in excluded {
            ensure!(
                !parent.contains(of_parent) || !self.intersects(of_child),
                InvalidValue,
                "flags {self} contradict the flags {parent} of the parent object"
            );
        }
        // "... or if flags specifies CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR or CL_MEM_COPY_HOST_PTR."
        ensure!(
            !self.intersects(Self::POINTER),
            InvalidValue,
            "host pointer flags are not permitted for an object that is created from another object"
        );
        Ok(())
    }

    /// Checks that the flags of an immutable object specify contents. An object that is created from another object
    /// shares its contents, and needs no check.
    ///
    /// # Errors
    /// If the flags specify no contents.
    pub fn check_contents(self) -> Result<()> {
        // "CL_INVALID_VALUE if CL_MEM_IMMUTABLE_EXT is set in flags and none of the following conditions are met:
        // CL_MEM_COPY_HOST_PTR or CL_MEM_USE_HOST_PTR is set in flags ..."
        let has_contents = self.intersects(Self::USE_HOST_PTR | Self::COPY_HOST_PTR);
        ensure!(
            has_contents || !self.contains(Self::IMMUTABLE),
            InvalidValue,
            "CL_MEM_IMMUTABLE_EXT requires initial contents (CL_MEM_COPY_HOST_PTR or CL_MEM_USE_HOST_PTR)"
        );
        Ok(())
    }

    /// Checks that commands may write.
    ///
    /// # Errors
    /// If the object is immutable.
    pub fn check_write(self) -> Result<()> {
        // "CL_INVALID_OPERATION if [it] was created with CL_MEM_IMMUTABLE_EXT."
        ensure!(!self.contains(Self::IMMUTABLE), InvalidOperation, "the object is immutable");
        Ok(())
    }

    /// Whether kernels may not write.
    pub fn is_read_only(self) -> bool {
        self.intersects(Self::READ_ONLY | Self::IMMUTABLE)
    }

    /// Checks that the host may read.
    ///
    /// # Errors
    /// If the flags forbid it.
    pub fn check_host_read(self) -> Result<()> {
        // "CL_INVALID_OPERATION if [it] is called on buffer which has been created with CL_MEM_HOST_WRITE_ONLY or
        // CL_MEM_HOST_NO_ACCESS."
        ensure!(
            !self.intersects(Self::HOST_WRITE_ONLY | Self::HOST_NO_ACCESS),
            InvalidOperation,
            "the memory flags do not permit the host to read this object"
        );
        Ok(())
    }

    /// Checks that the host may write.
    ///
    /// # Errors
    /// If the flags forbid it.
    pub fn check_host_write(self) -> Result<()> {
        // "CL_INVALID_OPERATION if [it] is called on buffer which has been created with CL_MEM_HOST_READ_ONLY or
        // CL_MEM_HOST_NO_ACCESS."
        ensure!(
            !self.intersects(Self::HOST_READ_ONLY | Self::HOST_NO_ACCESS),
            InvalidOperation,
            "the memory flags do not permit the host to write this object"
        );
        self.check_write()
    }

    /// The flags, with missing flags inherited from `parent`.
    #[must_use]
    pub fn inherited(self, parent: Self) -> Self {
        let inherit = |mask: Self| if self.intersects(mask) { self & mask } else { parent & mask };
        inherit(Self::ACCESS) | inherit(Self::HOST) | (parent & (Self::POINTER | Self::IMMUTABLE))
    }
}

/// Size in bytes of a count of meaningful bytes, which is a little-endian integer.
pub(crate) const CONTENT_COUNT_SIZE: u64 = 8;

/// Allocates a vector of zeros, or returns an error if the allocation fails.
pub(crate) fn zeroed(size: u64) -> Result<Vec<u8>> {
    let out_of_memory = || Error::OutOfHostMemory(format!("cannot allocate {size} bytes of host memory").into());
    let size = usize::try_from(size).map_err(|_| out_of_memory())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| out_of_memory())?;
    bytes.resize(size, 0);
    Ok(bytes)
}

/// Copies a region's contents, for a device with its own memory. The device reads the copy later, when the application
/// may have released the buffer and freed the region.
fn copy_of(region: &Arc<dyn HostRegion>, size: u64) -> Result<Vec<u8>> {
    let mut bytes = zeroed(size)?;
    region.clone().source(0, size).with(&mut |host| {
        if host.len() == bytes.len() {
            bytes.copy_from_slice(host);
        }
    });
    Ok(bytes)
}

/// The memory of a buffer and its sub-buffers.
#[derive(Debug)]
pub struct Store {
    context: Arc<Context>,
    size: u64,
    /// The memory on each device of the context, by device index. Empty for devices that share the memory of an earlier
    /// device.
    memories: Vec<OnceCell<DeviceMemory>>,
    /// The high half of pointers into the memory.
    identity: Identity,
    /// The valid (newest) bytes of each device. The last element is for host memory that devices use in place. Unused
    /// in contexts with one device.
    valid: Mutex<Vec<RangeSet>>,
    /// Whether `failure` is set. Most memory has no failure, so this flag usually avoids the lock.
    has_failure: AtomicBool,
    /// The failure that made the contents invalid: the last command that would have written them failed.
    failure: Mutex<Option<Arc<Failure>>>,
    /// The indices of the devices that imported this external memory. Empty for memory that the context allocated.
    importers: Vec<usize>,
    /// The counts of meaningful bytes.
    pub(crate) content_sizes: ContentSizes<Buffer>,
    /// The object of OpenGL or EGL whose contents the memory has between an acquire and a release.
    graphics: OnceCell<Graphics<Buffer>>,
    /// The host memory of CL_MEM_USE_HOST_PTR or of an SVM allocation.
    pub(crate) host: Option<Arc<dyn HostRegion>>,
    /// Host memory that several devices of the context share and use in place; `None` if there is none.
    common_region: OnceCell<Option<Arc<dyn HostRegion>>>,
    /// The commands that use the memory. They are tracked only with `WGCL_CHECK`.
    pub(crate) users: BufferUsers,
    /// Active maps of the buffer and its sub-buffers.
    pub(crate) maps: Mutex<Vec<MapRecord>>,
    /// Host memory that maps share, allocated by the first map. An unmap does not free it, because an allocation takes
    /// longer than a copy.
    map_copy: Mutex<Option<Arc<dyn HostRegion>>>,
}

/// Memory with the same address on the host and on the devices.
#[derive(Debug)]
pub(crate) struct SvmAllocation {
    pub(crate) buffer: Arc<Buffer>,
    /// The unified shared memory properties, if the memory was allocated as such.
    pub(crate) usm: Option<Usm>,
}

/// A store's memory on a device.
#[derive(Debug)]
struct DeviceMemory {
    memory: Arc<dyn Memory>,
    /// Whether the memory is imported host memory ([`Store::host_region_for`]).
    is_imported_host_memory: bool,
}

impl Drop for Store {
    fn drop(&mut self) {
        if trace::is_on() {
            for (_, device) in self.memories.iter().zip(self.context.devices()).filter(|(memory, _)| memory.get().is_some()) {
                trace::record_memory(device.name(), self.size.cast_signed().saturating_neg());
            }
        }
    }
}

impl Store {
    fn new(context: &Arc<Context>, size: u64, identity: Identity, host: Option<Arc<dyn HostRegion>>) -> Arc<Self> {
        Arc::new(Self::make(context, size, identity, host))
    }

    /// Creates a store of external memory that the devices with these indices share.
    pub(crate) fn imported(context: &Arc<Context>, size: u64, importers: Vec<usize>, memory: Arc<dyn Memory>) -> Arc<Self> {
        let owner = importers.first().map_or(0, |&index| context.memory_owner(index));
        let mut store = Self::make(context, size, Identity::new(size), None);
        store.importers = importers;
        if let (Some(cell), Some(device)) = (store.memories.get(owner), context.devices().get(owner)) {
            // The cell is empty, because the store is new.
            let _ = cell.set(DeviceMemory { memory, is_imported_host_memory: false });
            trace::record_memory(device.name(), size.cast_signed());
        }
        store.record_write(owner, 0..size);
        Arc::new(store)
    }

    /// The indices of the devices that imported this external memory.
    pub(crate) fn importers(&self) -> &[usize] {
        &self.importers
    }

    /// Makes the memory that of an object of OpenGL or EGL. The caller has just created the store.
    pub(crate) fn set_graphics(&self, graphics: Graphics<Buffer>) {
        // The cell is empty, because the store is new.
        let _ = self.graphics.set(graphics);
    }

    /// The object of OpenGL or EGL, if the memory was created from one.
    pub fn graphics(&self) -> Option<&Graphics<Buffer>> {
        self.graphics.get()
    }

    fn make(context: &Arc<Context>, size: u64, identity: Identity, host: Option<Arc<dyn HostRegion>>) -> Self {
        Self {
            context: context.clone(),
            size,
            memories: context.devices().iter().map(|_| OnceCell::new()).collect(),
            identity,
            valid: Mutex::new(Rank::Residency, (0..=context.devices().len()).map(|_| RangeSet::default()).collect()),
            has_failure: AtomicBool::new(false),
            failure: Mutex::new(Rank::Residency, None),
            importers: Vec::new(),
            content_sizes: ContentSizes::default(),
            graphics: OnceCell::new(),
            host,
            common_region: OnceCell::new(),
            users: BufferUsers::default(),
            maps: Mutex::new(Rank::Maps, Vec::new()),
            map_copy: Mutex::new(Rank::Residency, None),
        }
    }

    /// The memory on a device of the context. The first use allocates it.
    ///
    /// # Errors
    /// If the device is not in the context, or if the allocation fails.
    pub fn memory(&self, device_index: usize) -> Result<Arc<dyn Memory>> {
        self.memory_ref(device_index).cloned()
    }

    /// Like [`Self::memory`], but borrows the memory.
    pub(crate) fn memory_ref(&self, device_index: usize) -> Result<&Arc<dyn Memory>> {
        let device_index = self.context.memory_owner(device_index);
        let (Some(cell), Some(device)) = (self.memories.get(device_index), self.context.devices().get(device_index)) else {
            return Err(Error::InvalidDevice("the device does not belong to the buffer's context".into()));
        };
        let backend = device.backend();
        let make = || {
            let adopted = self.host_region_for(backend).and_then(|region| backend.import_host_memory(region, self.size));
            let is_imported_host_memory = adopted.is_some();
            let memory = match adopted {
                Some(memory) => memory,
                None if self.identity.is_of_host() => backend.allocate_shared(self.size, self.identity.get())?,
                None => backend.allocate(self.size)?,
            };
            trace::record_memory(device.name(), self.size.cast_signed());
            Ok(DeviceMemory { memory, is_imported_host_memory })
        };
        cell.get_or_try_init(make).map(|memory| &memory.memory)
    }

    /// Returns the host memory that a device should use in place: the memory of `Store::host`, or memory that several
    /// devices share.
    fn host_region_for(&self, device: &dyn Device) -> Option<&Arc<dyn HostRegion>> {
        let in_common = || {
            let is_ordinary = self.importers.is_empty() && !self.identity.is_of_host();
            let can_share = is_ordinary && self.context.has_common_memory() && device.can_import_host_memory();
            let make = || self.context.allocator().allocate(self.size);
            if can_share { self.common_region.get_or_init(make).as_ref() } else { None }
        };
        self.host.as_ref().or_else(in_common)
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// The high half of pointers into the memory.
    pub fn identity(&self) -> u32 {
        self.identity.get()
    }

    /// Whether pointers into the memory are addresses of the host (shared virtual memory).
    pub fn is_svm(&self) -> bool {
        self.identity.is_of_host()
    }

    /// Whether the memory on a device is imported host memory. False before the first use on the device.
    pub(crate) fn is_imported_host_memory(&self, device_index: usize) -> bool {
        self.memories
            .get(self.context.memory_owner(device_index))
            .and_then(OnceCell::get)
            .is_some_and(|memory| memory.is_imported_host_memory)
    }

    /// The index of a device's contents in `valid`.
    fn holder(&self, device_index: usize) -> usize {
        if self.is_imported_host_memory(device_index) { self.context.devices().len() } else { self.context.memory_owner(device_index) }
    }

    /// The parts of `range` that are valid on another device but not on this device, each with the index of a device
    /// that holds them. Undefined parts are omitted.
    pub(crate) fn missing(&self, device_index: usize, range: Range<u64>) -> Vec<(usize, Range<u64>)> {
        let own = self.holder(device_index);
        let valid = self.valid.lock();
        let mut needed = RangeSet::default();
        needed.insert(range.clone());
        for have in valid.get(own).map(|set| set.intersection(&range)).unwrap_or_default() {
            needed.remove(&have);
        }
        let mut found = Vec::new();
        for (holder, set) in valid.iter().enumerate().filter(|(holder, _)| *holder != own) {
            // If the holder is host memory, any device that uses this memory in place can be the source.
            let Some(from) = (0..self.memories.len()).find(|&index| self.holder(index) == holder) else { continue };
            for piece in needed.intersection(&range) {
                for have in set.intersection(&piece) {
                    needed.remove(&have);
                    found.push((from, have));
                }
            }
        }
        found
    }

    /// The index of a device that holds the newest version of all of `range`, or `None`.
    pub(crate) fn newest_on(&self, range: &Range<u64>) -> Option<usize> {
        let holder = self.valid.lock().iter().position(|set| set.intersection(range) == [range.clone()])?;
        (0..self.memories.len()).find(|&index| self.holder(index) == holder)
    }

    /// Records that a device has written `range`: only this device has the newest version.
    pub(crate) fn record_write(&self, device_index: usize, range: Range<u64>) {
        let own = self.holder(device_index);
        for (index, set) in self.valid.lock().iter_mut().enumerate() {
            if index == own { set.insert(range.clone()) } else { set.remove(&range) }
        }
    }

    /// Records that a device has received a copy of the newest version of `range`.
    pub(crate) fn record_copy(&self, device_index: usize, range: Range<u64>) {
        if let Some(set) = self.valid.lock().get_mut(self.holder(device_index)) {
            set.insert(range);
        }
    }

    /// Records that a command that should have written the memory has failed.
    pub(crate) fn set_failure(&self, failure: &Arc<Failure>) {
        let mut memory = self.failure.lock();
        *memory = Some(failure.clone());
        self.has_failure.store(true, Ordering::Release);
    }

    /// Clears the failure after a command has overwritten all of the memory.
    pub(crate) fn clear_failure(&self) {
        if self.has_failure.load(Ordering::Acquire) {
            let mut memory = self.failure.lock();
            *memory = None;
            self.has_failure.store(false, Ordering::Release);
        }
    }

    /// The failure that affects the command with this number if it reads the memory.
    pub(crate) fn failure(&self, number: u64) -> Option<Arc<Failure>> {
        if !self.has_failure.load(Ordering::Acquire) {
            return None;
        }
        self.failure.lock().clone().filter(|failure| failure.affects(number))
    }

    /// Returns host memory for maps by a device of the context: the application's memory, the memory of other maps, or
    /// a new allocation.
    pub(crate) fn map_region(&self, device_index: usize) -> Result<Arc<dyn HostRegion>> {
        if let Some(host) = &self.host {
            return Ok(host.clone());
        }
        let known = self.map_copy.lock().clone();
        if let Some(region) = known {
            return Ok(region);
        }
        // The backend must not be called with a lock held. If two threads allocate at the same time, one drops its
        // result.
        let region = self
            .context
            .devices()
            .get(device_index)
            .and_then(|device| device.backend().host_region(self.size))
            .or_else(|| self.context.allocator().allocate(self.size))
            .ok_or_else(|| Error::MapFailure(format!("cannot allocate {} bytes of host memory for a map", self.size).into()))?;
        Ok(self.map_copy.lock().get_or_insert(region).clone())
    }
}

/// The transfer of a buffer's initial contents to a device. It has no event.
struct Upload(Arc<Store>);

impl Progress for Upload {
    fn submitted(&self, _now: u64) {}

    fn running(&self) {}

    fn complete(&self, result: BackendResult<Times>) {
        if let Err(error) = result {
            let error = Error::from(error);
            tracing::error!("the initial contents of a buffer could not be copied to the device: {error}");
            self.0.context.notify(&error);
            self.0.set_failure(&Failure::of_device(error));
        }
    }
}

/// A buffer or sub-buffer.
#[derive(Debug)]
pub struct Buffer {
    slot: HandleSlot,
    context: Arc<Context>,
    flags: MemFlags,
    size: u64,
    origin: u64,
    property_list: Option<Vec<u64>>,
    store: Arc<Store>,
    /// Dropped after `store`, so that callbacks run when the memory is free.
    destructors: Destructors,
    /// Dropped last: "memobj cannot be deleted until all sub-buffer objects associated with memobj are deleted"
    /// (clReleaseMemObject).
    parent: Option<Arc<Buffer>>,
}

impl Object for Buffer {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }

    fn listener(&self) -> Option<&Notify> {
        self.context.listener()
    }
}

/// The contents argument of clCreateBuffer.
#[derive(Debug)]
pub enum HostData {
    /// A null pointer.
    None,
    /// The bytes are copied when the buffer is created. Bytes beyond the vector are undefined.
    Copy(Vec<u8>),
    /// The buffer uses the memory for its whole lifetime.
    Use(Arc<dyn HostRegion>),
}

impl Buffer {
    /// Checks the size of a new buffer.
    ///
    /// # Errors
    /// If the size is zero or exceeds the limit of every device of the context.
    pub fn check_size(context: &Context, size: u64) -> Result<()> {
        // "CL_INVALID_BUFFER_SIZE if size is 0 or if size is greater than CL_DEVICE_MAX_MEM_ALLOC_SIZE for all
        // devices in context."
        let limit = context.devices().iter().map(|device| device.properties().max_allocation).max().unwrap_or(0);
        ensure!(size != 0 && size <= limit, InvalidBufferSize, "buffer size {size}: the size must be 1 to {limit} bytes");
        Ok(())
    }

    /// clCreateBufferWithProperties
    ///
    /// # Errors
    /// If the size is invalid or the allocation fails. The caller must ensure that the flags are valid.
    pub fn new(context: &Arc<Context>, flags: MemFlags, size: u64, data: HostData, property_list: Option<Vec<u64>>) -> Result<Arc<Self>> {
        Self::check_size(context, size)?;
        let (bytes, host) = match data {
            HostData::None => (None, None),
            HostData::Copy(bytes) => (Some(bytes), None),
            HostData::Use(region) => (None, Some(region)),
        };
        let store = Store::new(context, size, Identity::new(size), host);
        // In a context with several devices, the first user of the buffer is unknown. Until its first use, the first
        // device that is large enough holds the contents.
        let first_device = context.devices().iter().position(|device| device.properties().max_allocation >= size).unwrap_or(0);
        let memory = store.memory(first_device)?;
        let bytes = match &store.host {
            Some(region) if !store.is_imported_host_memory(first_device) => Some(copy_of(region, size)?),
            _ => bytes,
        };
        let has_contents = bytes.is_some() || store.host.is_some();
        if let (Some(bytes), Some(device)) = (bytes, context.devices().get(first_device))
            && !device.backend().write_immediately(&*memory, 0, &bytes)
        {
            let regions = vec![CopyRegion { buffer: 0, host: 0, size: bytes.len() as u64 }];
            let src: Arc<dyn HostSource> = Arc::new(bytes);
            device.backend().enqueue(Action::Write { dst: memory, src, regions }.into(), false, Arc::new(Upload(store.clone())));
        }
        if has_contents {
            store.record_write(first_device, 0..size);
        }
        Ok(Self::of_store(flags.or_default(), store, 0, size, property_list))
    }

    pub(crate) fn of_store(flags: MemFlags, store: Arc<Store>, origin: u64, size: u64, property_list: Option<Vec<u64>>) -> Arc<Self> {
        Arc::new(Self {
            slot: HandleSlot::default(),
            context: store.context.clone(),
            flags,
            size,
            origin,
            parent: None,
            property_list,
            store,
            destructors: Destructors::default(),
        })
    }

    /// Creates the buffer of an SVM allocation at the addresses of `region`.
    pub(crate) fn svm(context: &Arc<Context>, flags: MemFlags, size: u64, identity: u32, region: Arc<dyn HostRegion>) -> Result<Arc<Self>> {
        let store = Store::new(context, size, Identity::of_host(identity), Some(region));
        let first_device = context.devices().iter().position(|device| device.properties().max_allocation >= size).unwrap_or(0);
        store.memory(first_device)?;
        Ok(Self::of_store(flags.or_default(), store, 0, size, None))
    }

    /// clCreateBuffer with CL_MEM_USE_HOST_PTR and a pointer into this buffer of shared virtual memory. The result
    /// aliases a range of this buffer.
    ///
    /// # Errors
    /// If the range exceeds the allocation.
    pub fn from_svm(&self, flags: MemFlags, offset: u64, size: u64, property_list: Option<Vec<u64>>) -> Result<Arc<Self>> {
        // "CL_INVALID_BUFFER_SIZE ... if host_ptr is a pointer to SVM memory and size is larger than the
        // corresponding SVM allocation."
        let range = self.range(offset, size).map_err(|error| Error::InvalidBufferSize(error.to_string().into()))?;
        Ok(Self::of_store(flags.or_default(), self.store.clone(), range.start, size, property_list))
    }

    /// clCreateSubBuffer
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn sub_buffer(self: &Arc<Self>, flags: MemFlags, origin: u64, size: u64) -> Result<Arc<Self>> {
        // "CL_INVALID_MEM_OBJECT if buffer is not a valid buffer object or is a sub-buffer object."
        ensure!(self.parent.is_none(), InvalidMemObject, "the parent of a sub-buffer cannot be a sub-buffer");
        flags.check_inheritance(self.flags)?;
        // "CL_INVALID_BUFFER_SIZE if size is 0." As in other drivers, this check precedes the check of the bounds.
        ensure!(size != 0, InvalidBufferSize, "the sub-buffer's size is zero");
        // "CL_INVALID_VALUE if the region specified by (origin, size) is out of bounds in buffer."
        ensure!(
            origin.checked_add(size).is_some_and(|end| end <= self.size),
            InvalidValue,
            "origin {origin} and size {size} are out of bounds: the buffer has {} bytes",
            self.size
        );
        // "CL_MISALIGNED_SUB_BUFFER_OFFSET if there are no devices in context associated with buffer for which the
        // origin field is aligned to the CL_DEVICE_MEM_BASE_ADDR_ALIGN value."
        ensure!(
            self.context.devices().iter().any(|device| origin.is_multiple_of(device.base_alignment().into())),
            MisalignedSubBufferOffset,
            "origin {origin} is not a multiple of the base address alignment of any device"
        );
        Ok(Arc::new(Self {
            slot: HandleSlot::default(),
            context: self.context.clone(),
            flags: flags.inherited(self.flags),
            size,
            origin: self.origin + origin,
            parent: Some(self.clone()),
            property_list: None,
            store: self.store.clone(),
            destructors: Destructors::default(),
        }))
    }

    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// CL_MEM_FLAGS
    pub fn flags(&self) -> MemFlags {
        self.flags
    }

    /// CL_MEM_SIZE
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The offset of the buffer's first byte in the store.
    pub fn origin(&self) -> u64 {
        self.origin
    }

    /// CL_MEM_OFFSET: the offset of a sub-buffer in its parent.
    pub fn offset(&self) -> u64 {
        self.parent.as_ref().map_or(0, |parent| self.origin - parent.origin)
    }

    /// CL_MEM_ASSOCIATED_MEMOBJECT
    pub fn parent(&self) -> Option<&Arc<Self>> {
        self.parent.as_ref()
    }

    /// CL_MEM_PROPERTIES
    pub fn property_list(&self) -> Option<&[u64]> {
        self.property_list.as_deref()
    }

    /// CL_MEM_HOST_PTR: the host address of the first byte for CL_MEM_USE_HOST_PTR and SVM, otherwise 0.
    pub fn host_pointer(&self) -> usize {
        let origin = usize::try_from(self.origin).unwrap_or(0);
        self.store.host.as_ref().map_or(0, |region| region.address() + origin)
    }

    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Warns if commands that use the buffer are running when its last reference is released.
    pub fn check_release(&self) {
        lint::check_release(&self.store.users, self.size);
    }

    /// Whether the destruction of the buffer calls a callback.
    pub(crate) fn has_destructors(&self) -> bool {
        !self.destructors.is_empty() || self.parent.as_ref().is_some_and(|parent| parent.has_destructors())
    }

    /// clSetContentSizeBufferPoCL
    ///
    /// # Errors
    /// The errors of the extension's specification.
    pub fn set_content_size_buffer(&self, count: &Arc<Self>) -> Result<()> {
        ensure!(Arc::ptr_eq(&self.context, &count.context), InvalidContext, "the buffers belong to different contexts");
        ensure!(count.size >= CONTENT_COUNT_SIZE, InvalidBufferSize, "the count needs {CONTENT_COUNT_SIZE} bytes, got {}", count.size);
        ensure!(count.parent.is_none(), InvalidMemObject, "the buffer with the count is a sub-buffer");
        self.store.content_sizes.set(self.origin..self.origin + self.size, count);
        Ok(())
    }

    /// clSetMemObjectDestructorCallback
    pub fn on_destruction(&self, job: callback::Job) {
        self.destructors.push(job);
    }

    /// Checks that `offset..offset + size` is within the buffer, and returns it as a range of the store.
    ///
    /// # Errors
    /// If it is out of bounds.
    pub fn range(&self, offset: u64, size: u64) -> Result<Range<u64>> {
        match offset.checked_add(size) {
            Some(end) if end <= self.size => Ok(self.origin + offset..self.origin + end),
            _ => Err(Error::InvalidValue(
                format!("offset {offset} and size {size} are out of bounds: the buffer has {} bytes", self.size).into(),
            )),
        }
    }

    /// Checks that a sub-buffer's origin is aligned for a device.
    ///
    /// # Errors
    /// If it is not aligned.
    pub fn check_alignment(&self, device: &crate::objects::device::Device) -> Result<()> {
        // "CL_MISALIGNED_SUB_BUFFER_OFFSET if buffer is a sub-buffer object and offset specified when the sub-buffer
        // object is created is not aligned to CL_DEVICE_MEM_BASE_ADDR_ALIGN value for device associated with queue."
        ensure!(
            self.store.is_svm() || self.origin.is_multiple_of(device.base_alignment().into()),
            MisalignedSubBufferOffset,
            "the sub-buffer's origin {} is not a multiple of the base address alignment of {}, {} bytes",
            self.origin,
            device.name(),
            device.base_alignment()
        );
        Ok(())
    }
}
