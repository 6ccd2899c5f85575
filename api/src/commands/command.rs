//! Commands. A command is submitted when each predecessor of its event is complete or was submitted to the same device.
//!
//! A command names buffers, not device memory. [`PendingCommand::prepare`] looks up the memory of the queue's device
//! when the command is submitted. It also copies contents that only another device of the context holds.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::json;

use crate::backend::{
    Action, Command, CopyRegion, HostSource, HostTarget, HostWork, Launch, LaunchArg, LoadedProgram, MemoryRange, SharedPayload, ValueBytes,
};
use crate::commands::capture::Capture;
use crate::commands::failure::Failure;
use crate::commands::migration::{MissingRange, migrate};
use crate::image::{Image, MemObject};
use crate::objects::event::Event;
use crate::objects::memory::{Buffer, MemFlags};
use crate::objects::program::executable::Executable;
use crate::objects::queue::Queue;
use crate::observe::trace::{Description, Kind};
use crate::types::error::{Error, Result};

/// CL_EVENT_COMMAND_TYPE; the values are the specification's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[allow(missing_docs, reason = "the names are the specification's")]
pub enum CommandType {
    NdRangeKernel = 0x11F0,
    Task = 0x11F1,
    NativeKernel = 0x11F2,
    ReadBuffer = 0x11F3,
    WriteBuffer = 0x11F4,
    CopyBuffer = 0x11F5,
    ReadImage = 0x11F6,
    WriteImage = 0x11F7,
    CopyImage = 0x11F8,
    CopyImageToBuffer = 0x11F9,
    CopyBufferToImage = 0x11FA,
    MapBuffer = 0x11FB,
    MapImage = 0x11FC,
    UnmapMemObject = 0x11FD,
    Marker = 0x11FE,
    ReadBufferRect = 0x1201,
    WriteBufferRect = 0x1202,
    CopyBufferRect = 0x1203,
    User = 0x1204,
    Barrier = 0x1205,
    MigrateMemObjects = 0x1206,
    FillBuffer = 0x1207,
    SvmFree = 0x1209,
    SvmMemcpy = 0x120A,
    SvmMemFill = 0x120B,
    SvmMap = 0x120C,
    SvmUnmap = 0x120D,
    SvmMigrateMem = 0x120E,
    FillImage = 0x1208,
    AcquireGlObjects = 0x11FF,
    ReleaseGlObjects = 0x1200,
    GlFenceSync = 0x200D,
    AcquireEglObjects = 0x202D,
    ReleaseEglObjects = 0x202E,
    EglFenceSync = 0x202F,
    AcquireExternalMemObjects = 0x2047,
    ReleaseExternalMemObjects = 0x2048,
    SemaphoreWait = 0x2042,
    SemaphoreSignal = 0x2043,
    CommandBuffer = 0x12A8,
    UsmMemFill = 0x4204,
    UsmMemcpy = 0x4205,
    UsmMigrateMem = 0x4206,
    UsmMemAdvise = 0x4207,
    SvmFreeArm = 0x40BA,
    SvmMemcpyArm = 0x40BB,
    SvmMemFillArm = 0x40BC,
    SvmMapArm = 0x40BD,
    SvmUnmapArm = 0x40BE,
}

impl CommandType {
    /// The name of the constant in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NdRangeKernel => "CL_COMMAND_NDRANGE_KERNEL",
            Self::Task => "CL_COMMAND_TASK",
            Self::NativeKernel => "CL_COMMAND_NATIVE_KERNEL",
            Self::ReadBuffer => "CL_COMMAND_READ_BUFFER",
            Self::WriteBuffer => "CL_COMMAND_WRITE_BUFFER",
            Self::CopyBuffer => "CL_COMMAND_COPY_BUFFER",
            Self::ReadImage => "CL_COMMAND_READ_IMAGE",
            Self::WriteImage => "CL_COMMAND_WRITE_IMAGE",
            Self::CopyImage => "CL_COMMAND_COPY_IMAGE",
            Self::CopyImageToBuffer => "CL_COMMAND_COPY_IMAGE_TO_BUFFER",
            Self::CopyBufferToImage => "CL_COMMAND_COPY_BUFFER_TO_IMAGE",
            Self::MapBuffer => "CL_COMMAND_MAP_BUFFER",
            Self::MapImage => "CL_COMMAND_MAP_IMAGE",
            Self::UnmapMemObject => "CL_COMMAND_UNMAP_MEM_OBJECT",
            Self::Marker => "CL_COMMAND_MARKER",
            Self::ReadBufferRect => "CL_COMMAND_READ_BUFFER_RECT",
            Self::WriteBufferRect => "CL_COMMAND_WRITE_BUFFER_RECT",
            Self::CopyBufferRect => "CL_COMMAND_COPY_BUFFER_RECT",
            Self::User => "CL_COMMAND_USER",
            Self::Barrier => "CL_COMMAND_BARRIER",
            Self::MigrateMemObjects => "CL_COMMAND_MIGRATE_MEM_OBJECTS",
            Self::FillBuffer => "CL_COMMAND_FILL_BUFFER",
            Self::FillImage => "CL_COMMAND_FILL_IMAGE",
            Self::AcquireGlObjects => "CL_COMMAND_ACQUIRE_GL_OBJECTS",
            Self::ReleaseGlObjects => "CL_COMMAND_RELEASE_GL_OBJECTS",
            Self::GlFenceSync => "CL_COMMAND_GL_FENCE_SYNC_OBJECT_KHR",
            Self::AcquireEglObjects => "CL_COMMAND_ACQUIRE_EGL_OBJECTS_KHR",
            Self::ReleaseEglObjects => "CL_COMMAND_RELEASE_EGL_OBJECTS_KHR",
            Self::EglFenceSync => "CL_COMMAND_EGL_FENCE_SYNC_OBJECT_KHR",
            Self::SvmFree => "CL_COMMAND_SVM_FREE",
            Self::SvmMemcpy => "CL_COMMAND_SVM_MEMCPY",
            Self::SvmMemFill => "CL_COMMAND_SVM_MEMFILL",
            Self::SvmMap => "CL_COMMAND_SVM_MAP",
            Self::SvmUnmap => "CL_COMMAND_SVM_UNMAP",
            Self::SvmMigrateMem => "CL_COMMAND_SVM_MIGRATE_MEM",
            Self::AcquireExternalMemObjects => "CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR",
            Self::ReleaseExternalMemObjects => "CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR",
            Self::SemaphoreWait => "CL_COMMAND_SEMAPHORE_WAIT_KHR",
            Self::SemaphoreSignal => "CL_COMMAND_SEMAPHORE_SIGNAL_KHR",
            Self::CommandBuffer => "CL_COMMAND_COMMAND_BUFFER_KHR",
            Self::UsmMemFill => "CL_COMMAND_MEMFILL_INTEL",
            Self::UsmMemcpy => "CL_COMMAND_MEMCPY_INTEL",
            Self::UsmMigrateMem => "CL_COMMAND_MIGRATEMEM_INTEL",
            Self::UsmMemAdvise => "CL_COMMAND_MEMADVISE_INTEL",
            Self::SvmFreeArm => "CL_COMMAND_SVM_FREE_ARM",
            Self::SvmMemcpyArm => "CL_COMMAND_SVM_MEMCPY_ARM",
            Self::SvmMemFillArm => "CL_COMMAND_SVM_MEMFILL_ARM",
            Self::SvmMapArm => "CL_COMMAND_SVM_MAP_ARM",
            Self::SvmUnmapArm => "CL_COMMAND_SVM_UNMAP_ARM",
        }
    }
}

/// The access of a command to bytes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessMode {
    /// The command only reads the memory.
    Read,
    /// The command reads and writes the memory, or writes only a part of it.
    Write,
    /// The command writes every byte of the memory, and does not read it.
    Overwrite,
}

/// An access of a command to bytes of a buffer.
#[derive(Clone, Debug)]
pub struct BufferAccess {
    /// The buffer; keeps it alive until the command is done.
    pub buffer: Arc<Buffer>,
    /// The image that is stored in `buffer`, if the command accesses an image. It is retained, too.
    pub image: Option<Arc<Image>>,
    /// The accessed bytes of the buffer's store. A sub-buffer shares the store of its parent.
    pub range: Range<u64>,
    /// How the command accesses the memory.
    pub access: AccessMode,
}

impl BufferAccess {
    /// Marks the access as one to `image`, which is stored in the buffer.
    #[must_use]
    pub fn of_image(self, image: &Arc<Image>) -> Self {
        Self { image: Some(image.clone()), ..self }
    }

    fn into_retained(self) -> RetainedObject {
        let is_whole = self.range == (0..self.buffer.store().size());
        RetainedObject { object: self.image.map_or(MemObject::Buffer(self.buffer), MemObject::Image), access: self.access, is_whole }
    }
}

/// An object that is retained until a command is done, and the access of the command to it.
pub(crate) struct RetainedObject {
    object: MemObject,
    access: AccessMode,
    /// Whether the access covers the whole store of the object.
    is_whole: bool,
}

impl RetainedObject {
    /// Returns the failure of an earlier command that left the memory undefined and that affects command `number`.
    /// Returns `None` if this command overwrites the memory.
    pub(crate) fn failure(&self, number: u64) -> Option<Arc<Failure>> {
        if self.access == AccessMode::Overwrite { None } else { self.object.buffer().store().failure(number) }
    }

    /// Updates the failure of the memory at the end of the command. `failure` is the failure of the command, if any.
    pub(crate) fn record_end(&self, failure: Option<&Arc<Failure>>) {
        let store = self.object.buffer().store();
        match failure {
            Some(failure) if self.access != AccessMode::Read => store.set_failure(failure),
            None if self.access == AccessMode::Overwrite && self.is_whole => store.clear_failure(),
            _ => {}
        }
    }
}

/// A kernel argument, captured when the kernel is enqueued.
#[derive(Clone, Debug)]
pub enum Argument {
    /// The bytes of a value that were passed to clSetKernelArg.
    Value(ValueBytes),
    /// A buffer, or null.
    Buffer(Option<Arc<Buffer>>),
    /// Bytes of local memory.
    Local(u32),
    /// An image; its descriptor is passed to the kernel.
    Image(Arc<Image>),
    /// A pointer into a buffer, with its byte offset: an SVM pointer or a device address.
    Svm(Arc<Buffer>, u64),
    /// A pointer to host memory without a memory object.
    Address(usize),
}

impl Argument {
    /// Returns the buffer that the kernel accesses through this argument, if there is one.
    pub fn buffer(&self) -> Option<&Arc<Buffer>> {
        match self {
            Self::Buffer(buffer) => buffer.as_ref(),
            Self::Image(image) => Some(image.buffer()),
            Self::Svm(buffer, _) => Some(buffer),
            Self::Value(_) | Self::Local(_) | Self::Address(_) => None,
        }
    }
}

/// A kernel launch whose arguments are memory objects. Their device memory is looked up at submission.
#[derive(Debug)]
pub struct KernelLaunch {
    /// The program on the device.
    pub program: Arc<dyn LoadedProgram>,
    /// The kernel's name in its program.
    pub kernel: Arc<str>,
    /// One argument for each parameter.
    pub args: Vec<Argument>,
    /// Buffers that the kernel accesses only through pointers stored in memory.
    pub extra: Vec<Arc<Buffer>>,
    /// Dimensions of the range, 1 to 3.
    pub work_dim: u32,
    /// The first global id in each dimension.
    pub global_offset: [u64; 3],
    /// Work-items in each dimension.
    pub global_size: [u64; 3],
    /// Work-items of a group in each dimension.
    pub local_size: [u32; 3],
    /// The kernel's executable, if the kernel may enqueue kernels.
    pub enqueues_from: Option<Arc<Executable>>,
}

impl CommandType {
    /// Whether the command has results that the application waits for. Markers, barriers, unmaps, migrations, hints and
    /// frees have none.
    pub(crate) const fn has_results(self) -> bool {
        !matches!(
            self,
            Self::Marker
                | Self::Barrier
                | Self::UnmapMemObject
                | Self::MigrateMemObjects
                | Self::SvmUnmap
                | Self::SvmFree
                | Self::SvmMigrateMem
                | Self::UsmMigrateMem
                | Self::UsmMemAdvise
                | Self::SvmUnmapArm
                | Self::SvmFreeArm
        )
    }
}

/// A closure that calls a native kernel with its argument block.
pub type NativeCall = Box<dyn FnOnce(&[u8]) + Send>;

/// A native kernel: a host function and its argument block.
pub struct NativeKernel {
    pub(crate) call: NativeCall,
    pub(crate) args: Vec<u8>,
    /// The byte offsets of pointers in the arguments, with the buffers that they point to (`None`: a null pointer).
    pub(crate) pointers: Vec<(usize, Option<Arc<Buffer>>)>,
}

impl NativeKernel {
    /// Creates a command that calls a host function in the queue's order.
    pub(crate) fn call(call: impl FnOnce() + Send + 'static) -> Self {
        Self { call: Box::new(move |_| call()), args: Vec::new(), pointers: Vec::new() }
    }

    /// Writes the buffers' addresses into the arguments, and returns the command for the device of the context with
    /// this index.
    pub(crate) fn resolve(self, index: usize) -> Result<Command> {
        let Self { call, mut args, pointers } = self;
        for (at, buffer) in pointers {
            let address = match &buffer {
                None => 0,
                Some(buffer) => {
                    let start = buffer
                        .store()
                        .memory(index)?
                        .host_address()
                        .and_then(|start| start.checked_add(usize::try_from(buffer.origin()).ok()?));
                    start.ok_or_else(|| Error::OutOfResources("the host cannot access the buffer's memory".into()))?
                }
            };
            let bytes = address.to_ne_bytes();
            let place = at.checked_add(bytes.len()).and_then(|end| args.get_mut(at..end));
            place.ok_or_else(|| Error::InvalidValue("a buffer offset is outside the argument block".into()))?.copy_from_slice(&bytes);
        }
        Ok(Command::Host(HostWork(Box::new(move || {
            call(&args);
            Ok(())
        }))))
    }
}

/// The operation of a command. Offsets of regions are relative to the store, not to a sub-buffer.
pub enum Operation {
    /// A command without work: only its position in the order matters.
    Nop,
    /// Host to buffer.
    Write(Arc<Buffer>, Arc<dyn HostSource>, Vec<CopyRegion>),
    /// Buffer to host.
    Read(Arc<Buffer>, Arc<dyn HostTarget>, Vec<CopyRegion>),
    /// Buffer to buffer.
    Copy(Arc<Buffer>, Arc<Buffer>, Vec<CopyRegion>),
    /// Fills a buffer with a pattern: buffer, pattern, byte offset, and size in bytes.
    Fill(Arc<Buffer>, Vec<u8>, u64, u64),
    /// Runs a kernel.
    Launch(KernelLaunch),
    /// The commands of a command buffer, prepared for the queue's device.
    Replay(Arc<[Arc<Action>]>),
    /// A launch of a command buffer, prepared for the queue's device, whose kernel may enqueue kernels of its program.
    ReplayKernelTree(Arc<Action>, Arc<Executable>),
    /// A host function.
    Native(NativeKernel),
    /// Work of this crate on the host, which may fail.
    Host(HostWork),
    /// Waits on the device for semaphores that are shared with another API.
    Wait(Vec<Arc<dyn SharedPayload>>),
    /// Signals semaphores that are shared with another API.
    Signal(Vec<Arc<dyn SharedPayload>>),
}

impl Operation {
    /// Converts the operation to a command for the device of the context with this index.
    pub(crate) fn resolve(self, index: usize) -> Result<Command> {
        let memory = |buffer: &Arc<Buffer>| buffer.store().memory(index);
        let range = |buffer: &Arc<Buffer>, start: u64| {
            let (store, memory) = (buffer.store(), memory(buffer)?);
            let (origin, size, identity) = (buffer.origin(), buffer.size(), store.identity());
            // A pointer may point to any byte of an SVM allocation, so the whole allocation is bound.
            Ok::<_, Error>(if store.is_svm() {
                MemoryRange { memory, offset: 0, size: store.size(), start: origin + start, identity, read_only: false }
            } else {
                MemoryRange { memory, offset: origin, size, start, identity, read_only: buffer.flags().contains(MemFlags::READ_ONLY) }
            })
        };
        Ok(match self {
            Self::Nop => Command::Nop,
            Self::Write(dst, src, regions) => Action::Write { dst: memory(&dst)?, src, regions }.into(),
            Self::Read(src, dst, regions) => Action::Read { src: memory(&src)?, dst, regions }.into(),
            Self::Copy(src, dst, regions) => Action::Copy { src: memory(&src)?, dst: memory(&dst)?, regions }.into(),
            Self::Fill(dst, pattern, offset, size) => Action::Fill { dst: memory(&dst)?, pattern, offset, size }.into(),
            Self::Launch(launch) => {
                let mut args = Vec::with_capacity(launch.args.len());
                for arg in launch.args {
                    args.push(match arg {
                        Argument::Value(bytes) => LaunchArg::Value(bytes),
                        Argument::Local(size) => LaunchArg::Local(size),
                        Argument::Buffer(None) => LaunchArg::Buffer(None),
                        Argument::Buffer(Some(buffer)) => LaunchArg::Buffer(Some(range(&buffer, 0)?)),
                        Argument::Svm(buffer, start) => LaunchArg::Buffer(Some(range(&buffer, start)?)),
                        Argument::Address(address) => LaunchArg::Address(address as u64),
                        Argument::Image(image) => LaunchArg::Image(range(image.buffer(), 0)?, image.descriptor()),
                    });
                }
                Action::Launch(Launch {
                    program: launch.program,
                    kernel: launch.kernel,
                    args,
                    extra: launch.extra.iter().map(|buffer| range(buffer, 0)).collect::<Result<_>>()?,
                    work_dim: launch.work_dim,
                    global_offset: launch.global_offset,
                    global_size: launch.global_size,
                    local_size: launch.local_size,
                })
                .into()
            }
            Self::Replay(commands) => Command::Replay(commands),
            Self::ReplayKernelTree(launch, _) => match &*launch {
                Action::Launch(launch) => Action::Launch(launch.clone()).into(),
                _ => return Err(Error::InvalidOperation("internal error: the command of a kernel tree is not a launch".into())),
            },
            Self::Native(kernel) => kernel.resolve(index)?,
            Self::Host(work) => Command::Host(work),
            Self::Wait(payloads) => Command::Wait(payloads),
            Self::Signal(payloads) => Command::Signal(payloads),
        })
    }
}

/// An operation and its accesses to memory.
pub struct PendingCommand {
    pub operation: Operation,
    /// The accesses of the command. They determine the objects that it retains and the contents that must be
    /// transferred to its device. They also determine the memory that a failure of the command makes invalid.
    pub accesses: Vec<BufferAccess>,
    /// Bytes that the host wrote directly to the memory of a device: the device's index in the context, and the bytes.
    pub host_written: Option<(usize, BufferAccess)>,
    /// Whether the call that enqueues the command waits for it.
    pub is_blocking: bool,
    /// The capture of a launch.
    pub(crate) capture: Option<Box<Capture>>,
}

impl fmt::Debug for PendingCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCommand").field("accesses", &self.accesses).finish_non_exhaustive()
    }
}

/// The result of preparing a command.
pub(crate) enum Prepared {
    /// A command for the device, and the objects that the caller retains until it is complete.
    Command(Box<Command>, Vec<RetainedObject>),
    /// A launch whose kernel may enqueue kernels of its program.
    KernelTree(Box<Command>, Arc<Executable>, Vec<RetainedObject>),
    /// A launch that is captured.
    Captured(Box<Command>, Box<Capture>, Vec<RetainedObject>),
    /// Contents are being copied from another device. [`Event::resume`] is called after the copy.
    Migrating,
    /// The command cannot run because of this error.
    Failed(Error, Vec<RetainedObject>),
}

impl PendingCommand {
    /// Returns the description of the command for a trace.
    pub(crate) fn describe(&self, command: CommandType) -> Description {
        let bytes = |sizes: &mut dyn Iterator<Item = u64>| sizes.sum::<u64>();
        let name = format!("{command:?}");
        match &self.operation {
            Operation::Launch(launch) => {
                let items = launch.global_size.iter().product();
                let args = json!({ "global": launch.global_size, "local": launch.local_size, "offset": launch.global_offset });
                Description { kind: Kind::Kernel, name: launch.kernel.to_string(), amount: items, args }
            }
            Operation::Write(_, _, regions) | Operation::Read(_, _, regions) | Operation::Copy(_, _, regions) => {
                let bytes = bytes(&mut regions.iter().map(|region| region.size));
                Description { kind: Kind::Transfer, name, amount: bytes, args: json!({ "bytes": bytes }) }
            }
            Operation::Fill(_, _, _, bytes) => Description { kind: Kind::Transfer, name, amount: *bytes, args: json!({ "bytes": bytes }) },
            Operation::Replay(commands) => Description { kind: Kind::Kernel, name, amount: 0, args: json!({ "commands": commands.len() }) },
            Operation::ReplayKernelTree(..) => Description { kind: Kind::Kernel, name, amount: 0, args: json!({ "commands": 1 }) },
            Operation::Nop | Operation::Native(_) | Operation::Host(_) | Operation::Wait(_) | Operation::Signal(_) => {
                Description { kind: Kind::Transfer, name, amount: 0, args: json!({}) }
            }
        }
    }

    /// Creates a command without work.
    pub fn nop() -> Self {
        Self::new(Operation::Nop, Vec::new())
    }

    /// Creates a command with this operation and these accesses.
    pub fn new(operation: Operation, accesses: Vec<BufferAccess>) -> Self {
        Self { operation, accesses, host_written: None, is_blocking: false, capture: None }
    }

    /// Allocates all accessed memory on the device of a queue. The enqueuing call can thus report a lack of memory.
    ///
    /// # Errors
    /// If the allocation fails.
    pub fn allocate(&self, queue: &Queue) -> Result<()> {
        self.accesses.iter().try_for_each(|used| used.buffer.store().memory_ref(queue.device_index()).map(|_| ()))
    }

    /// Records which memory of OpenGL or EGL objects the command writes, so that a release copies it.
    pub(crate) fn record_graphics_writes(&self) {
        let written = self.accesses.iter().filter(|used| used.access != AccessMode::Read);
        for used in written.chain(self.host_written.as_ref().map(|(_, used)| used)) {
            if let Some(graphics) = used.buffer.store().graphics() {
                graphics.record_write();
            }
        }
    }

    /// Converts the operation to a command for the queue's device.
    pub(crate) fn prepare(mut self, queue: &Arc<Queue>, event: &Arc<Event>) -> Prepared {
        let index = queue.device_index();
        if queue.context().devices().len() > 1 {
            let missing: Vec<MissingRange> = self
                .accesses
                .iter()
                .filter(|used| used.access != AccessMode::Overwrite)
                .flat_map(|used| {
                    used.buffer.store().missing(index, used.range.clone()).into_iter().map(|(from, range)| MissingRange {
                        buffer: used.buffer.clone(),
                        from,
                        range,
                    })
                })
                .collect();
            if !missing.is_empty() {
                return migrate(missing, self, queue, event);
            }
            for used in self.accesses.iter().filter(|used| used.access != AccessMode::Read) {
                used.buffer.store().record_write(index, used.range.clone());
            }
            if let Some((writer, used)) = self.host_written.take() {
                used.buffer.store().record_write(writer, used.range);
            }
        }
        let retained = self.accesses.into_iter().map(BufferAccess::into_retained).collect();
        let enqueues_from = match &mut self.operation {
            Operation::Launch(launch) => launch.enqueues_from.take(),
            Operation::ReplayKernelTree(_, executable) => Some(executable.clone()),
            _ => None,
        };
        match (self.operation.resolve(index), enqueues_from, self.capture) {
            (Ok(command), Some(executable), _) => Prepared::KernelTree(Box::new(command), executable, retained),
            (Ok(command), None, Some(capture)) => Prepared::Captured(Box::new(command), capture, retained),
            (Ok(command), None, None) => Prepared::Command(Box::new(command), retained),
            (Err(error), ..) => Prepared::Failed(error, retained),
        }
    }

    /// Returns the objects of a command that is not executed.
    pub(crate) fn into_retained(self) -> Vec<RetainedObject> {
        self.accesses.into_iter().map(BufferAccess::into_retained).collect()
    }
}
