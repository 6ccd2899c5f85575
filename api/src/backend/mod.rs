//! The interface that a backend implements: devices, memory, programs and commands.
//!
//! This crate owns the dependency graph of events, queues and callbacks. A backend receives a command only when each of
//! its dependencies is complete or was enqueued on the same device earlier. A device runs its commands as if in
//! sequence, in the order of [`Device::enqueue`]. A device may collect commands until [`Device::flush`], and submit
//! them together.
//!
//! # Clock
//! All times are nanoseconds of one clock per backend, the clock of [`Device::now`]. This clock is the host's monotonic
//! clock. The backend converts GPU timestamps to it.

pub mod memory;

pub use memory::{CopyRegion, HostSource, HostTarget, Memory};

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use smallvec::SmallVec;
use wgcl_compiler::image::ImageDescriptor;
use wgcl_compiler::pointer::identity;
use wgcl_compiler::{ir, target::Target};

use crate::cache::Key;
use crate::types::affinity::Division;
use crate::types::host_memory::HostRegion;

/// The kind of a device, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceKind {
    /// A GPU with dedicated memory.
    DiscreteGpu,
    /// A GPU that shares the host's memory.
    IntegratedGpu,
    /// A GPU of a virtual machine.
    VirtualGpu,
    /// The host's CPU: the CPU device, the interpreter, or a GPU driver that runs on the CPU (lavapipe, SwiftShader,
    /// WARP).
    Cpu,
    /// A device whose driver does not report its kind.
    Other,
}

/// The preferred work-group size if the application does not specify one. The launch is divided equally among groups
/// whose size is within these bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreferredGroup {
    /// The minimum number of work-items: enough to hide latencies, and to outweigh the fixed cost of a group.
    pub min_items: u32,
    /// The maximum number of work-items.
    pub max_items: u32,
    /// The number of groups per compute unit at which groups of different durations load all units evenly.
    pub groups_per_unit: u32,
}

impl PreferredGroup {
    /// Returns a preference for groups of exactly `items` work-items.
    pub const fn fixed(items: u32) -> Self {
        Self { min_items: items, max_items: items, groups_per_unit: 1 }
    }
}

/// A read-write cache between a device and its global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheProperties {
    /// Size of a cache line in bytes.
    pub line: u32,
    /// Total size in bytes.
    pub size: u64,
}

bitflags::bitflags! {
    /// cl_device_svm_capabilities: the shared virtual memory features of a device.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SvmCapabilities: u64 {
        /// CL_DEVICE_SVM_COARSE_GRAIN_BUFFER: pointers are host addresses, and maps and unmaps transfer the contents.
        const COARSE_GRAIN_BUFFER = 1 << 0;
        /// CL_DEVICE_SVM_FINE_GRAIN_BUFFER: stores of host and device are visible to each other at synchronisation
        /// points.
        const FINE_GRAIN_BUFFER = 1 << 1;
        /// CL_DEVICE_SVM_FINE_GRAIN_SYSTEM: like FINE_GRAIN_BUFFER, for all host memory.
        const FINE_GRAIN_SYSTEM = 1 << 2;
        /// CL_DEVICE_SVM_ATOMICS: atomic stores of host and device are visible to each other even while a kernel runs.
        const ATOMICS = 1 << 3;
    }
}

/// The handle type of memory that another API allocated: cl_external_memory_handle_type_khr. The values are those of
/// the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ExternalMemory {
    /// A driver-specific file descriptor (CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR).
    OpaqueFd = 0x2060,
    /// A Linux dma_buf (CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR).
    DmaBuf = 0x2067,
}

/// Displays the name of the constant in the specification.
impl fmt::Display for ExternalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpaqueFd => "CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR",
            Self::DmaBuf => "CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR",
        })
    }
}

impl ExternalMemory {
    /// Converts the value of the C enumeration. Returns `None` for an unknown value.
    pub fn from_raw(raw: u64) -> Option<Self> {
        [Self::OpaqueFd, Self::DmaBuf].into_iter().find(|&kind| u64::from(kind as u32) == raw)
    }
}

/// Memory of a device that another API can import.
#[derive(Debug)]
pub struct ExportedMemory {
    /// The memory of the device.
    pub memory: Arc<dyn Memory>,
    /// An opaque file descriptor ([`ExternalMemory::OpaqueFd`]), which the caller owns.
    pub fd: i32,
    /// The size of the allocation in bytes, which an import requires.
    pub allocated: u64,
}

/// The handle type of a shared semaphore: cl_external_semaphore_handle_type_khr. The values are those of the
/// specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ExternalSemaphore {
    /// A driver-specific file descriptor (CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR). A semaphore that imports it shares the
    /// payload.
    OpaqueFd = 0x2055,
    /// A Linux sync file (CL_SEMAPHORE_HANDLE_SYNC_FD_KHR). A semaphore that imports it gets a copy of one signal.
    SyncFd = 0x2058,
}

/// Displays the name of the constant in the specification.
impl fmt::Display for ExternalSemaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpaqueFd => "CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR",
            Self::SyncFd => "CL_SEMAPHORE_HANDLE_SYNC_FD_KHR",
        })
    }
}

impl ExternalSemaphore {
    /// Converts the value of the C enumeration. Returns `None` for an unknown value.
    pub fn from_raw(raw: u64) -> Option<Self> {
        [Self::OpaqueFd, Self::SyncFd].into_iter().find(|&kind| u64::from(kind as u32) == raw)
    }
}

/// The payload of a semaphore that is shared with another API.
pub trait SharedPayload: Send + Sync + fmt::Debug {
    /// Exports the payload as a file descriptor, which the caller owns. A sync file captures the signal that was
    /// enqueued last. The call may block until that signal is submitted to the driver.
    ///
    /// # Errors
    /// The errors of the driver.
    fn export(&self, kind: ExternalSemaphore) -> BackendResult<i32>;
    /// Replaces the payload by the signal of another sync file. On success the device owns the descriptor.
    ///
    /// # Errors
    /// The errors of the driver.
    fn reimport(&self, fd: i32) -> BackendResult<()>;
    /// The implementation, for downcasts by its backend.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// Properties of a device that do not depend on OpenCL.
#[derive(Clone, Debug)]
pub struct DeviceProperties {
    /// The adapter's name.
    pub name: String,
    /// The source of CL_DEVICE_TYPE.
    pub kind: DeviceKind,
    /// The PCI vendor ID (CL_DEVICE_VENDOR_ID).
    pub vendor_id: u32,
    /// The PCI device ID.
    pub device_id: u32,
    /// The name of the vendor.
    pub vendor: String,
    /// The name and version of the underlying driver, for CL_DRIVER_VERSION and dumps.
    pub driver: String,
    /// The graphics API, such as "Vulkan" or "OpenGL ES"; "CPU" or "interpreter" for a device that runs on the host.
    pub api: &'static str,
    /// Total bytes of memory.
    pub global_memory: u64,
    /// Bytes of the largest single allocation.
    pub max_allocation: u64,
    /// Bytes of local memory.
    pub local_memory: u32,
    /// Bytes of the largest uniform buffer binding, the limit for a `__constant` argument.
    pub max_constant_size: u32,
    /// Maximum number of uniform buffer bindings for `__constant` arguments per kernel.
    pub max_constant_args: u32,
    /// Maximum work-items per group.
    pub max_group_invocations: u32,
    /// Maximum work-items per group in each dimension.
    pub max_group_size: [u32; 3],
    /// Maximum groups per dispatch in each dimension. The backend splits larger NDRanges.
    pub max_groups: [u32; 3],
    /// Smallest alignment, in bytes, of the offset of a sub-buffer.
    pub base_alignment: u32,
    /// Parallel processors, for CL_DEVICE_MAX_COMPUTE_UNITS: the host's cores on a CPU, the best estimate otherwise.
    pub compute_units: u32,
    /// Work-items that run in lockstep; 1 if unknown.
    pub subgroup_size: u32,
    /// Maximum number of subgroups per group, for kernels that require a subgroup size.
    pub max_required_subgroups: u32,
    /// The preferred work-group size if the application does not specify one.
    pub preferred_group: PreferredGroup,
    /// The cache between the device and global memory; `None` if the device has no such cache or it is unknown.
    pub cache: Option<CacheProperties>,
    /// Whether local memory is dedicated memory, not global memory.
    pub dedicated_local_memory: bool,
    /// Whether host and device share memory, so that a map of a buffer needs no copy.
    pub unified_memory: bool,
    /// Whether the device runs native kernels: commands that are host functions and access device memory by host
    /// address. Memory that such a device allocates has a [`Memory::host_address`].
    pub native_kernels: bool,
    /// The shared virtual memory features of the device, on a host that supports them.
    pub svm: SvmCapabilities,
    /// Nanoseconds per tick of the device's timestamps.
    pub timer_resolution: u64,
    /// Whether divisions and square roots are correctly rounded.
    pub correctly_rounded: bool,
    /// UUIDs of the device and of the driver, 16 bytes each (cl_khr_device_uuid), if known.
    pub uuid: Option<([u8; 16], [u8; 16])>,
    /// PCI domain, bus, device and function (cl_khr_pci_bus_info), if known.
    pub pci: Option<[u32; 4]>,
}

/// Facts that only the device's driver in the operating system's kernel reports. A query may take milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HardwareFacts {
    /// CL_DEVICE_MAX_CLOCK_FREQUENCY; an estimate where unknown.
    pub max_clock_mhz: u32,
    /// CL_DEVICE_ERROR_CORRECTION_SUPPORT
    pub error_correction: bool,
    pub nvidia: Option<NvidiaAttributes>,
}

/// The attributes of cl_nv_device_attribute_query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvidiaAttributes {
    /// Major and minor version.
    pub compute_capability: (u32, u32),
    /// 32-bit registers that a work-group can use.
    pub registers_per_block: u32,
    /// Whether the device shares the memory of the host.
    pub integrated: bool,
    /// Whether the driver ends kernels that run too long.
    pub execution_timeout: bool,
    /// The number of copy engines: hardware queues that execute only copies.
    pub copy_engines: u32,
}

/// An error of a backend.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum BackendError {
    /// The device does not have enough memory.
    #[error("out of device memory")]
    OutOfDeviceMemory,
    /// The host does not have enough memory.
    #[error("out of host memory")]
    OutOfHostMemory,
    /// The device was lost.
    #[error("the device was lost: {0}")]
    DeviceLost(String),
    /// The kernel cannot be compiled for this launch.
    #[error(transparent)]
    Launch(#[from] wgcl_compiler::launch::LaunchError),
    /// Any other error of a lower layer.
    #[error("{0}")]
    Other(String),
}

/// A result of a backend.
pub type BackendResult<T> = Result<T, BackendError>;

/// A byte range of a memory object that a command or a kernel argument uses.
#[derive(Clone, Debug)]
pub struct MemoryRange {
    /// The memory that contains the range.
    pub memory: Arc<dyn Memory>,
    /// Byte offset in the memory. A multiple of [`DeviceProperties::base_alignment`] if a kernel uses the range.
    pub offset: u64,
    /// The size of the range in bytes.
    pub size: u64,
    /// The byte offset, from the start of the range, to which a kernel argument points. The offset can differ from 0 if
    /// the argument is an SVM pointer or a device address.
    pub start: u64,
    /// The high half of a pointer to the first byte of the memory. This is the number of the memory's [`Identity`],
    /// which is the same on all devices.
    pub identity: u32,
    /// Whether kernels must not write the range (CL_MEM_READ_ONLY).
    pub read_only: bool,
}

/// Identifies the memory of a buffer in pointers that kernels store in memory. The identity is unique among all live
/// memory of the process, and applies to the sub-buffers too. It is one of the numbers that
/// `wgcl_compiler::pointer::identity` reserves for buffers, or the high half of a host address ([`Identity::of_host`]).
#[derive(Debug)]
pub struct Identity(u32);

impl Identity {
    /// Allocates a unique identity for `size` bytes: one number, and one more for each complete 4 GiB. The numbers are
    /// consecutive.
    pub fn new(size: u64) -> Self {
        let mut identities = IDENTITIES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Identities { next, taken } = &mut *identities;
        let more = u32::try_from(size >> 32).unwrap_or(u32::MAX).min(MAX_ADDITIONAL_NUMBERS);
        // The identities suffice for 10^9 objects, so the loop ends.
        loop {
            let number = if *next + more < identity::END_BUFFER { *next } else { identity::FIRST_BUFFER };
            let last = number + more;
            *next = if last + 1 < identity::END_BUFFER { last + 1 } else { identity::FIRST_BUFFER };
            let before = taken.range(..=last).next_back();
            if before.is_none_or(|(_, end)| *end < number) {
                taken.insert(number, last);
                return Self(number);
            }
        }
    }

    /// Returns the identity of memory whose host address is a multiple of 4 GiB. `number` is the high half of this
    /// address.
    pub const fn of_host(number: u32) -> Self {
        Self(number)
    }

    /// Whether pointers into the memory are addresses of the host.
    pub const fn is_of_host(&self) -> bool {
        self.0 < identity::FIRST_BUFFER
    }

    /// The high half of a pointer to the first byte of the memory. It increases by 1 for each complete 4 GiB.
    pub const fn get(&self) -> u32 {
        self.0
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        IDENTITIES.lock().unwrap_or_else(std::sync::PoisonError::into_inner).taken.remove(&self.0);
    }
}

struct Identities {
    next: u32,
    /// The first and the last number of each live identity.
    taken: BTreeMap<u32, u32>,
}

/// The maximum number of numbers that an identity has in addition to its first number.
const MAX_ADDITIONAL_NUMBERS: u32 = 1 << 20;

static IDENTITIES: Mutex<Identities> = Mutex::new(Identities { next: identity::FIRST_BUFFER, taken: BTreeMap::new() });

/// The bytes of a by-value argument. They are usually few, and are stored inline.
pub type ValueBytes = SmallVec<[u8; 16]>;

/// A kernel argument as captured when the kernel is enqueued.
#[derive(Clone, Debug)]
pub enum LaunchArg {
    /// Bytes of a by-value argument.
    Value(ValueBytes),
    /// A buffer; `None` for a null pointer.
    Buffer(Option<MemoryRange>),
    /// An address of the host, on devices with fine-grained system SVM.
    Address(u64),
    /// Bytes of local memory.
    Local(u32),
    /// An image: the location of its first element, and its descriptor. A sampler is a by-value argument: its bits
    /// are the CLK_... constants of OpenCL C.
    Image(MemoryRange, ImageDescriptor),
}

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program on this device.
    pub program: Arc<dyn LoadedProgram>,
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// One argument for each parameter.
    pub args: Vec<LaunchArg>,
    /// Memory that kernels access only through pointers in memory.
    pub extra: Vec<MemoryRange>,
    /// Number of dimensions, 1 to 3; the others have size 1 and offset 0.
    pub work_dim: u32,
    /// The first global id in each dimension.
    pub global_offset: [u64; 3],
    /// Work-items in each dimension; 1 in unused dimensions.
    pub global_size: [u64; 3],
    /// Work-items per group. The last groups of a dimension are smaller if this does not divide the global size.
    pub local_size: [u32; 3],
}

/// An operation of a device on memory and kernels. A command buffer can run the same action several times.
#[derive(Debug)]
pub enum Action {
    /// Host to device.
    Write {
        /// The memory that is written.
        dst: Arc<dyn Memory>,
        /// The bytes that the host provides.
        src: Arc<dyn HostSource>,
        /// The regions to copy: `buffer` offsets in `dst`, `host` offsets in `src`.
        regions: Vec<CopyRegion>,
    },
    /// Device to host.
    Read {
        /// The memory that is read.
        src: Arc<dyn Memory>,
        /// The destination on the host.
        dst: Arc<dyn HostTarget>,
        /// The regions to copy: `buffer` offsets in `src`, `host` offsets in `dst`.
        regions: Vec<CopyRegion>,
    },
    /// Device to device. Source and destination regions do not overlap.
    Copy {
        /// The source. The field `buffer` of a region is an offset in it.
        src: Arc<dyn Memory>,
        /// The destination. The field `host` of a region is an offset in it.
        dst: Arc<dyn Memory>,
        /// The regions to copy, in bytes.
        regions: Vec<CopyRegion>,
    },
    /// Repeats a pattern of 1 to 128 bytes.
    Fill {
        /// The memory that is filled.
        dst: Arc<dyn Memory>,
        /// The bytes that are repeated.
        pattern: Vec<u8>,
        /// Byte offset, a multiple of the pattern's size.
        offset: u64,
        /// Bytes, a multiple of the pattern's size.
        size: u64,
    },
    /// Runs a kernel.
    Launch(Launch),
}

/// A command that a queue submits to a device as one unit, with one completion report.
#[derive(Debug)]
pub enum Command {
    Once(Action),
    /// The actions of a command buffer, in sequence, as one command.
    Replay(Arc<[Arc<Action>]>),
    /// Waits on the device until all of these payloads are signalled, and resets them. Later commands of the device
    /// wait too.
    Wait(Vec<Arc<dyn SharedPayload>>),
    /// Signals these payloads on the device when all earlier commands are complete.
    Signal(Vec<Arc<dyn SharedPayload>>),
    /// Does nothing: used for markers, barriers, and maps and unmaps of host-visible memory. It completes after all
    /// commands before it.
    Nop,
    /// Runs a host function when all earlier commands are complete (native kernels and work of this crate). A thread of
    /// the device or a waiting thread runs it.
    Host(HostWork),
}

impl From<Action> for Command {
    fn from(action: Action) -> Self {
        Self::Once(action)
    }
}

/// A host function that the device runs in the order of its commands.
pub struct HostWork(pub Box<dyn FnOnce() -> BackendResult<()> + Send>);

impl fmt::Debug for HostWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostWork")
    }
}

/// When a command ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// When the command began on the device.
    pub start: u64,
    /// When the command ended on the device.
    pub end: u64,
}

/// Receives the progress of a command. The callers are the device's threads, and threads that enqueue, flush or wait.
/// An implementation may call `enqueue` and `flush`, so the caller must not hold locks that these need. An
/// implementation must not wait.
pub trait Progress: Send + Sync {
    /// Records that the command was submitted to the driver.
    fn submitted(&self, now: u64);
    /// Records that the command has begun. Called before `complete`.
    fn running(&self);
    /// Whether the calling thread waits for the command as soon as the command is enqueued. The device may then
    /// execute the command on this thread.
    fn is_awaited_by_this_thread(&self) -> bool {
        false
    }
    /// Receives the output of the kernel's `printf`. Called before `complete`.
    fn print(&self, text: &[u8]) {
        crate::types::printf::to_stdout(text);
    }
    /// Records that the command is complete. `times` are exact if profiling was requested, otherwise estimates.
    fn complete(&self, result: BackendResult<Times>);
}

/// A program on a device: the IR, its constant data and global variables, and the cache of its shaders and pipelines.
pub trait LoadedProgram: Send + Sync + fmt::Debug {
    /// Starts to compile the pipeline of a probable launch in the background (a hint). If `local_size` is `None`, the
    /// launch does not specify a group size, and the device chooses one. `constants` has the size in bytes of each
    /// `__constant` argument.
    fn precompile(&self, kernel: &str, local_size: Option<[u32; 3]>, constants: &[u64]);
    /// Specialises and compiles a kernel for a typical launch, and returns its resource usage. clBuildProgram's
    /// diagnostics and clGetKernelWorkGroupInfo report this usage.
    ///
    /// # Errors
    /// If the kernel cannot be compiled for this device.
    fn kernel_usage(&self, kernel: &str) -> BackendResult<KernelUsage>;
    /// The largest group size for which the device has enough registers, or `None` if the device does not report it.
    /// The call may compile the kernel.
    fn max_group_size(&self, kernel: &str) -> Option<u32> {
        let _ = kernel;
        None
    }
    /// The memory of the program's `__global` variables, or `None` if there are none.
    fn variables(&self) -> Option<Arc<dyn Memory>> {
        None
    }
    /// Passes the program's source (names and locations) to a device that [checks](Device::checks_kernels) kernels.
    fn attach_source(&self, program: &wgcl_compiler::program::Program) {
        let _ = program;
    }
    /// The implementation, for downcasts by its backend.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// The resource usage of a kernel on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelUsage {
    /// Bytes of local memory of the kernel's `__local` variables (without `__local` arguments).
    pub local_memory: u32,
    /// Bytes of private memory per work-item; 0 if unknown.
    pub private_memory: u32,
}

/// A device. The backend opens it (creates the wgpu device) at the first use that is not a query.
pub trait Device: Send + Sync + fmt::Debug {
    /// Whether the device runs the kernel sanitizer (`WGCL_CHECK`).
    fn checks_kernels(&self) -> bool {
        false
    }
    /// The properties that clGetDeviceInfo reports and that launches depend on.
    fn properties(&self) -> &DeviceProperties;
    /// Returns facts whose query takes longer than [`Device::properties`].
    fn hardware(&self) -> HardwareFacts;
    /// Whether [`HardwareFacts::nvidia`] is known. Takes less time than [`Device::hardware`].
    fn has_nvidia_attributes(&self) -> bool {
        false
    }
    /// The target description for the compiler.
    fn target(&self) -> &Target;
    /// Allocates memory; its contents are undefined.
    ///
    /// # Errors
    /// If the memory is insufficient, or if the device is lost.
    fn allocate(&self, size: u64) -> BackendResult<Arc<dyn Memory>>;
    /// Like [`Device::allocate`], for memory whose pointers are host addresses: their high half is `identity`.
    ///
    /// # Errors
    /// The errors of [`Device::allocate`].
    fn allocate_shared(&self, size: u64, identity: u32) -> BackendResult<Arc<dyn Memory>> {
        let _ = identity;
        self.allocate(size)
    }
    /// Whether [`Device::import_host_memory`] accepts aligned host memory.
    fn can_import_host_memory(&self) -> bool {
        false
    }
    /// Imports `size` bytes of host memory as device memory, without a copy. The result keeps the region alive.
    /// `None` if the device must allocate memory instead.
    fn import_host_memory(&self, region: &Arc<dyn HostRegion>, size: u64) -> Option<Arc<dyn Memory>> {
        let _ = (region, size);
        None
    }
    /// Imports `size` bytes of host memory for this device's copies only, not for its kernels. The result keeps the
    /// region alive. `None` if that is not possible.
    fn import_for_copies(&self, region: &Arc<dyn HostRegion>, size: u64) -> Option<Arc<dyn Memory>> {
        self.import_host_memory(region, size)
    }
    /// Whether calls of the application leave its current context of OpenGL unchanged. wgpu makes another context
    /// current on the calling thread if the device runs on OpenGL ES.
    fn keeps_opengl_context(&self) -> bool {
        true
    }
    /// The external memory handle types that the device can import.
    fn importable_memory(&self) -> Vec<ExternalMemory> {
        Vec::new()
    }
    /// Imports `size` bytes of external memory by a file descriptor. On success the device owns the descriptor.
    ///
    /// # Errors
    /// If the device cannot import it.
    fn import_memory(&self, kind: ExternalMemory, fd: i32, size: u64) -> BackendResult<Arc<dyn Memory>> {
        let _ = (kind, fd, size);
        Err(BackendError::Other("external memory is not supported".to_owned()))
    }
    /// Creates `size` bytes of memory that another API on the same device can import. Returns `None` if the device
    /// cannot export memory.
    ///
    /// # Errors
    /// If the allocation fails.
    fn export_memory(&self, size: u64) -> BackendResult<Option<ExportedMemory>> {
        let _ = size;
        Ok(None)
    }
    /// The external semaphore handle types that the device can import and export.
    fn shareable_semaphores(&self) -> Vec<ExternalSemaphore> {
        Vec::new()
    }
    /// Creates the payload of a semaphore that can be exported as a handle of type `kind`.
    ///
    /// # Errors
    /// If the allocation fails, or if the device cannot export semaphores as handles of this type.
    fn exportable_semaphore(&self, kind: ExternalSemaphore) -> BackendResult<Arc<dyn SharedPayload>> {
        let _ = kind;
        Err(BackendError::Other("external semaphores are not supported".to_owned()))
    }
    /// Imports the payload of a file descriptor. On success the device owns the descriptor.
    ///
    /// # Errors
    /// If the device cannot import it.
    fn import_semaphore(&self, kind: ExternalSemaphore, fd: i32) -> BackendResult<Arc<dyn SharedPayload>> {
        let _ = (kind, fd);
        Err(BackendError::Other("external semaphores are not supported".to_owned()))
    }
    /// Writes to device memory before it returns, if the memory is host-visible. The caller must ensure that no command
    /// uses these bytes. Returns `false` if the write needs a command.
    fn write_immediately(&self, memory: &dyn Memory, offset: u64, bytes: &[u8]) -> bool {
        let _ = (memory, offset, bytes);
        false
    }
    /// Returns a byte range of device memory as the host target of another device's read. The caller must ensure that
    /// no command of this device uses the range during the read. Returns `None` if the range is not host-visible: the
    /// transfer then needs a command of this device.
    fn host_visible_target(&self, memory: &Arc<dyn Memory>, range: Range<u64>) -> Option<Arc<dyn HostTarget>> {
        let _ = (memory, range);
        None
    }
    /// Whether the device can be partitioned into sub-devices ([`Device::sub_device`]) if it has several compute units.
    fn supports_partitioning(&self) -> bool {
        false
    }
    /// The affinity domains that divide the device, widest first.
    fn affinity_divisions(&self) -> Vec<Division> {
        Vec::new()
    }
    /// Creates a device with the compute units of these numbers, which count from 0. The new device and this device can
    /// use the same memory and programs. Returns `None` if the device cannot be partitioned.
    fn sub_device(&self, units: &[u32]) -> Option<Arc<dyn Device>> {
        let _ = units;
        None
    }
    /// Allocates host memory that the device accesses directly, for maps of buffers that are not host-visible. `None`
    /// if the device has no such memory.
    fn host_region(&self, size: u64) -> Option<Arc<dyn HostRegion>> {
        let _ = size;
        None
    }
    /// Announces that the program which the disk cache identifies by `name` (see [`Device::load`]) will be loaded. The
    /// device may begin to compile the kernels that earlier processes launched (a hint).
    fn prefetch(&self, name: Key) {
        let _ = name;
    }
    /// Loads a built program on the device. `name` identifies the module in the disk cache: equal names mean equal
    /// modules.
    ///
    /// # Errors
    /// If the allocation fails, or if the device is lost.
    fn load(&self, module: Arc<ir::Module>, name: Option<Key>) -> BackendResult<Arc<dyn LoadedProgram>>;
    /// Appends a command to the device's commands. Does not wait for earlier commands. `profile` requests exact times.
    fn enqueue(&self, command: Command, profile: bool, progress: Arc<dyn Progress>);
    /// Submits every command that was enqueued up to this call.
    fn flush(&self);
    /// Like [`Device::flush`], for a thread that waits until `done` returns true. The device may execute commands, and
    /// wait for them, on the calling thread. This saves a wake-up of another thread. Returns when `done` returns true,
    /// or earlier. Does not wait for commands after the one that makes `done` true, except for commands in the same
    /// batch.
    fn flush_until(&self, done: &dyn Fn() -> bool) {
        let _ = done;
        self.flush();
    }
    /// The clock, in nanoseconds.
    fn now(&self) -> u64;
}

/// An implementation of devices.
pub trait Backend: Send + Sync {
    /// The supported devices, best first. Called once, at the application's first query.
    fn devices(&self) -> Vec<Arc<dyn Device>>;
}

/// Several backends as one; their devices are concatenated.
impl Backend for Vec<Box<dyn Backend>> {
    fn devices(&self) -> Vec<Arc<dyn Device>> {
        self.iter().flat_map(|backend| backend.devices()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Identity;
    use wgcl_compiler::pointer::identity;

    #[test]
    fn live_identities_do_not_overlap() {
        let some: Vec<Identity> = (0..100).map(|count| Identity::new(count << 30)).collect();
        let mut numbers: Vec<u32> = some.iter().map(Identity::get).collect();
        assert!(numbers.iter().all(|number| (identity::FIRST_BUFFER..identity::END_BUFFER).contains(number)), "{numbers:?}");
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 100);
        // Object `count` has `count` GiB, so it has `count / 4 + 1` numbers.
        assert!(numbers.windows(2).zip(0..).all(|(pair, count)| pair[1] - pair[0] > count / 4), "{numbers:?}");
    }
}
