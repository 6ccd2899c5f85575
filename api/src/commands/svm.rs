//! Shared virtual memory (OpenCL API 5.6): memory with the same pointer values on the host and in kernels.
//!
//! An allocation is a buffer with reserved host addresses, which begin at a multiple of 4 GiB. A pointer in kernel
//! memory has an identity in its high half and a byte offset in its low half. The buffer's identity is the high half of
//! its host addresses, so the pointer in kernel memory and the host address have the same bits. Host and device have
//! separate copies of the bytes. Maps and unmaps transfer the bytes, as the specification allows for coarse-grained
//! memory. Devices that share host memory use the bytes of the host
//! ([`Device::import_host_memory`](crate::backend::Device::import_host_memory)). Fine-grained memory is then an
//! ordinary allocation. If kernels can access all host memory, an address outside all allocations is passed through
//! unchanged, and an allocation may have any address.
//!
//! Memory that a kernel accesses through stored pointers must be an argument, or clSetKernelExecInfo must name it. Only
//! that memory is bound.

use std::sync::Arc;

use crate::backend::{CopyRegion, HostSource, HostTarget, SvmCapabilities};
use crate::commands::command::NativeKernel;
use crate::commands::command::{AccessMode, CommandType, Operation, PendingCommand};
use crate::commands::svm_types::{SvmApi, SvmCopy, Usm, UsmInfo};
use crate::commands::transfer::{MapFlags, buffer_access};
use crate::image::MemObject;
use crate::objects::context::Context;
use crate::objects::device::{Device, LARGEST_TYPE};
use crate::objects::event::Event;
use crate::objects::memory::{Buffer, MemFlags, SvmAllocation};
use crate::objects::queue::Queue;
use crate::types::error::{Error, Result, ensure};

impl SvmApi {
    /// Returns the type of a command, from the type in OpenCL 2.0.
    const fn command(self, core: CommandType) -> CommandType {
        match (self, core) {
            (Self::Arm, CommandType::SvmFree) => CommandType::SvmFreeArm,
            (Self::Arm, CommandType::SvmMemcpy) => CommandType::SvmMemcpyArm,
            (Self::Arm, CommandType::SvmMemFill) => CommandType::SvmMemFillArm,
            (Self::Arm, CommandType::SvmMap) => CommandType::SvmMapArm,
            (Self::Arm, CommandType::SvmUnmap) => CommandType::SvmUnmapArm,
            _ => core,
        }
    }
}

impl Device {
    /// CL_DEVICE_SVM_CAPABILITIES. Empty if the host cannot reserve addresses.
    pub fn svm_capabilities(&self) -> SvmCapabilities {
        let host = cfg!(all(any(unix, windows), target_pointer_width = "64"));
        if host { self.properties().svm } else { SvmCapabilities::empty() }
    }

    /// Whether the device can access all host memory.
    pub fn accesses_host_memory(&self) -> bool {
        self.svm_capabilities().contains(SvmCapabilities::FINE_GRAIN_SYSTEM)
    }
}

impl Context {
    /// Whether a device of the context has shared virtual memory.
    pub fn has_svm(&self) -> bool {
        self.devices().iter().any(|device| !device.svm_capabilities().is_empty())
    }

    /// The features that at least one device of the context supports.
    pub fn svm_capabilities(&self) -> SvmCapabilities {
        self.devices().iter().fold(SvmCapabilities::empty(), |all, device| all | device.svm_capabilities())
    }

    /// clSVMAlloc. Returns the address, a multiple of `alignment`. `required` is the set of required features.
    ///
    /// # Errors
    /// If the size is zero or exceeds the devices' limits, if no device has the required features, or if the
    /// allocation fails.
    pub fn svm_alloc(self: &Arc<Self>, flags: MemFlags, required: SvmCapabilities, (size, alignment): (u64, u32)) -> Result<usize> {
        ensure!(self.has_svm(), InvalidOperation, "no device of the context supports SVM");
        // "... CL_MEM_SVM_FINE_GRAIN_BUFFER or CL_MEM_SVM_ATOMICS is specified in flags and these are not supported
        // by at least one device in context."
        ensure!(
            self.svm_capabilities().contains(required),
            InvalidOperation,
            "no device of the context supports {}",
            if required.contains(SvmCapabilities::ATOMICS) { "SVM atomics" } else { "fine-grained SVM buffers" }
        );
        Buffer::check_size(self, size)?;
        self.allocate_at_address(flags, (size, alignment), None)
    }

    /// Allocates `size` bytes with an alignment, at an address that is the same on the host and on the devices of the
    /// context. Returns the address.
    pub(crate) fn allocate_at_address(self: &Arc<Self>, flags: MemFlags, (size, alignment): (u64, u32), usm: Option<Usm>) -> Result<usize> {
        // Devices that can access all host memory do not need reserved addresses. Ordinary host memory is aligned for
        // the largest type, but not for larger alignments.
        let anywhere = alignment <= LARGEST_TYPE && self.devices().iter().all(|device| device.accesses_host_memory());
        let region = if anywhere { self.allocator().allocate(size) } else { self.allocator().allocate_shared(size) };
        let region = region.ok_or_else(|| Error::OutOfHostMemory(format!("cannot allocate {size} bytes of SVM").into()))?;
        let address = region.address();
        // An address has at most 64 bits, so its high half fits 32 bits.
        let identity = ((address as u64) >> 32) as u32;
        let buffer = Buffer::svm(self, flags, size, identity, region)?;
        self.svm.lock().insert(address, SvmAllocation { buffer, usm });
        Ok(address)
    }

    /// Removes the allocation at an address. Commands that use it keep its memory alive.
    pub(crate) fn free_at_address(&self, address: usize) {
        let removed = self.svm.lock().remove(&address);
        drop(removed);
    }

    /// clSVMFree: commands that use the memory keep it until they are done. Addresses that are not the start of an SVM
    /// allocation are ignored.
    pub fn svm_free(&self, address: usize) {
        let is_svm = self.svm.lock().get(&address).is_some_and(|shared| shared.usm.is_none());
        if is_svm {
            self.free_at_address(address);
        }
    }

    /// The unified shared memory allocation that contains an address, or `None` if there is none.
    pub fn usm_at(&self, address: usize) -> Option<UsmInfo> {
        let svm = self.svm.lock();
        let (&base, SvmAllocation { buffer, usm }) = svm.range(..=address).next_back()?;
        let usm = usm.clone().filter(|_| ((address - base) as u64) < buffer.size())?;
        Some(UsmInfo { base, size: buffer.size(), usm })
    }

    /// The buffer of the SVM allocation that contains an address, and the byte offset of the address in it. Returns
    /// `None` if no allocation contains the address.
    pub fn svm_at(&self, address: usize) -> Option<(Arc<Buffer>, u64)> {
        let svm = self.svm.lock();
        let (start, SvmAllocation { buffer, .. }) = svm.range(..=address).next_back()?;
        let offset = (address - start) as u64;
        (offset < buffer.size()).then(|| (buffer.clone(), offset))
    }
}

impl Queue {
    /// "CL_INVALID_OPERATION if the device associated with command_queue does not support SVM."
    pub(crate) fn check_svm(&self, wait_list: &[Arc<Event>]) -> Result<()> {
        ensure!(!self.device().svm_capabilities().is_empty(), InvalidOperation, "{} does not support SVM", self.device().name());
        self.check_wait_list(wait_list)
    }

    fn svm_at(&self, address: usize) -> Result<(Arc<Buffer>, u64)> {
        let found = self.context().svm_at(address);
        found.ok_or_else(|| Error::InvalidValue(format!("{address:#x} is not in shared virtual memory").into()))
    }

    /// Whether the address is outside all SVM allocations, and the device can access it as ordinary host memory.
    fn is_system_pointer(&self, address: usize) -> bool {
        self.device().accesses_host_memory() && address != 0 && self.context().svm_at(address).is_none()
    }

    /// clEnqueueSVMMap
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn svm_map(
        self: &Arc<Self>,
        api: SvmApi,
        blocking: bool,
        flags: u64,
        (address, size): (usize, u64),
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_svm(wait_list)?;
        // "CL_INVALID_VALUE if svm_ptr is NULL", "if size is 0 or if values specified in flags are not valid."
        ensure!(size != 0, InvalidValue, "the mapped region has a size of 0");
        let flags = MapFlags::parse(flags)?;
        let command = api.command(CommandType::SvmMap);
        if self.is_system_pointer(address) {
            Self::check_blocking(blocking, wait_list)?;
            return self.submit_blocking(command, PendingCommand::nop(), wait_list, blocking);
        }
        let (buffer, offset) = self.svm_at(address)?;
        let range = buffer.range(offset, size)?;
        Self::check_blocking(blocking, wait_list)?;
        let pieces = vec![CopyRegion { buffer: range.start, host: 0, size }];
        let object = MemObject::Buffer(buffer);
        self.map_pieces(command, &object, (range, pieces), flags, blocking, wait_list).map(|(_, event)| event)
    }

    /// clEnqueueSVMUnmap
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn svm_unmap(self: &Arc<Self>, api: SvmApi, address: usize, wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.check_svm(wait_list)?;
        let command = api.command(CommandType::SvmUnmap);
        if self.is_system_pointer(address) {
            return self.submit(command, PendingCommand::nop(), wait_list);
        }
        let (buffer, _) = self.svm_at(address)?;
        self.unmap_as(command, &MemObject::Buffer(buffer), address, wait_list)
    }

    /// Checks the arguments of clEnqueueSVMMemcpy, and creates its command. Either pointer may point to ordinary host
    /// memory.
    pub(crate) fn svm_copy_command(
        &self,
        SvmCopy { dst, src, size }: SvmCopy,
        target: impl FnOnce(u64) -> Result<Arc<dyn HostTarget>>,
        source: impl FnOnce(u64) -> Result<Arc<dyn HostSource>>,
    ) -> Result<PendingCommand> {
        // "CL_INVALID_VALUE if dst_ptr or src_ptr is NULL."
        ensure!(dst != 0 && src != 0, InvalidValue, "dst_ptr or src_ptr is NULL");
        // "CL_MEM_COPY_OVERLAP if the values specified for dst_ptr, src_ptr and size result in an overlapping copy."
        let is_disjoint = dst.abs_diff(src) as u64 >= size;
        ensure!(is_disjoint, MemCopyOverlap, "the source {src:#x} and the destination {dst:#x} overlap in a copy of {size} bytes");
        if size == 0 {
            return Ok(PendingCommand::nop());
        }
        let whole = |start: u64| vec![CopyRegion { buffer: start, host: 0, size }];
        Ok(match (self.context().svm_at(dst), self.context().svm_at(src)) {
            (Some((to, at)), Some((from, start))) => return self.copy_command(&from, &to, (start, at, size)),
            (Some((to, at)), None) => {
                let range = to.range(at, size)?;
                let operation = Operation::Write(to.clone(), source(size)?, whole(range.start));
                PendingCommand::new(operation, vec![buffer_access(&to, range, AccessMode::Overwrite)])
            }
            (None, Some((from, start))) => {
                let range = from.range(start, size)?;
                let operation = Operation::Read(from.clone(), target(size)?, whole(range.start));
                PendingCommand::new(operation, vec![buffer_access(&from, range, AccessMode::Read)])
            }
            (None, None) => {
                let (target, source) = (target(size)?, source(size)?);
                let copy = move || {
                    source.with(&mut |from| {
                        target.with_mut(&mut |to| {
                            let count = to.len().min(from.len());
                            to[..count].copy_from_slice(&from[..count]);
                        });
                    });
                };
                PendingCommand::new(Operation::Native(NativeKernel::call(copy)), Vec::new())
            }
        })
    }

    /// clEnqueueSVMMemcpy. `target` and `source` wrap ordinary host memory.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn svm_copy(
        self: &Arc<Self>,
        api: SvmApi,
        blocking: bool,
        copy: SvmCopy,
        target: impl FnOnce(u64) -> Result<Arc<dyn HostTarget>>,
        source: impl FnOnce(u64) -> Result<Arc<dyn HostSource>>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_svm(wait_list)?;
        Self::check_blocking(blocking, wait_list)?;
        let work = self.svm_copy_command(copy, target, source)?;
        self.submit_blocking(api.command(CommandType::SvmMemcpy), work, wait_list, blocking)
    }

    /// Checks the arguments of clEnqueueSVMMemFill, and creates its command. `target` wraps ordinary host memory.
    pub(crate) fn svm_fill_command(
        &self,
        address: usize,
        pattern: Vec<u8>,
        size: u64,
        target: impl FnOnce(u64) -> Result<Arc<dyn HostTarget>>,
    ) -> Result<PendingCommand> {
        // "CL_INVALID_VALUE if svm_ptr is not aligned to pattern_size bytes."
        let width = pattern.len();
        ensure!(width != 0 && address.is_multiple_of(width), InvalidValue, "{address:#x} is not aligned to {width} bytes");
        if self.is_system_pointer(address) {
            ensure!(size.is_multiple_of(width as u64), InvalidValue, "size {size} is not a multiple of the pattern size {width}");
            let target = target(size)?;
            let fill = move || {
                target.with_mut(&mut |bytes| bytes.chunks_exact_mut(pattern.len()).for_each(|chunk| chunk.copy_from_slice(&pattern)));
            };
            return Ok(PendingCommand::new(Operation::Native(NativeKernel::call(fill)), Vec::new()));
        }
        let (buffer, offset) = self.svm_at(address)?;
        self.fill_command(&buffer, pattern, (offset, size))
    }

    /// clEnqueueSVMMemFill
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn svm_fill(
        self: &Arc<Self>,
        api: SvmApi,
        address: usize,
        (pattern, size): (Vec<u8>, u64),
        target: impl FnOnce(u64) -> Result<Arc<dyn HostTarget>>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_svm(wait_list)?;
        let work = self.svm_fill_command(address, pattern, size, target)?;
        self.submit(api.command(CommandType::SvmMemFill), work, wait_list)
    }

    /// clEnqueueSVMMigrateMem. `parts` are addresses and sizes; the size 0 selects the whole allocation.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn svm_migrate(
        self: &Arc<Self>,
        parts: &[(usize, u64)],
        to_host: bool,
        discard: bool,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_svm(wait_list)?;
        let mut accesses = Vec::new();
        for &(address, size) in parts.iter().filter(|(address, _)| !self.is_system_pointer(*address)) {
            let (buffer, offset) = self.svm_at(address)?;
            // "... if sizes[i] is non zero range [svm_pointers[i], svm_pointers[i]+sizes[i]) is not contained within
            // an existing clSVMAlloc allocation."
            let range = if size == 0 { buffer.range(0, buffer.size())? } else { buffer.range(offset, size)? };
            if !to_host {
                accesses.push(buffer_access(&buffer, range, if discard { AccessMode::Overwrite } else { AccessMode::Read }));
            }
        }
        self.submit(CommandType::SvmMigrateMem, PendingCommand::new(Operation::Nop, accesses), wait_list)
    }

    /// clEnqueueSVMFree: `free` runs as a command in the queue's order.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn svm_free(self: &Arc<Self>, api: SvmApi, free: impl FnOnce() + Send + 'static, wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.check_svm(wait_list)?;
        let work = PendingCommand::new(Operation::Native(NativeKernel::call(free)), Vec::new());
        self.submit_native(api.command(CommandType::SvmFree), work, wait_list)
    }
}
