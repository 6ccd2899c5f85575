//! Unified shared memory (cl_intel_unified_shared_memory): memory that is accessed by host address, allocated for the
//! host, for a device, or for both.
//!
//! Devices that can access all host memory support the extension. On these devices the kinds of memory differ only in
//! the properties that queries report. An allocation is an SVM allocation ([`crate::commands::svm`]) with a record of
//! its kind.

use std::sync::Arc;

use crate::backend::{HostSource, HostTarget};
use crate::commands::command::{CommandType, PendingCommand};
use crate::commands::svm_types::{SvmCopy, Usm, UsmCapabilities, UsmFlags, UsmType};
use crate::objects::context::Context;
use crate::objects::device::{Device, LARGEST_TYPE};
use crate::objects::event::Event;
use crate::objects::memory::MemFlags;
use crate::objects::queue::Queue;
use crate::types::error::{Error, Result, ensure};

impl Device {
    /// Returns the capabilities of the device. They are the same for each kind of memory, and for memory of other
    /// allocators in the process. Empty if the device does not support the extension.
    pub fn usm_capabilities(&self) -> UsmCapabilities {
        if self.accesses_host_memory() { UsmCapabilities::all() } else { UsmCapabilities::empty() }
    }

    fn check_usm_support(&self) -> Result<()> {
        ensure!(self.accesses_host_memory(), InvalidOperation, "device `{}` does not support unified shared memory", self.name());
        Ok(())
    }
}

impl Context {
    /// Whether a device of the context has unified shared memory.
    pub fn has_usm(&self) -> bool {
        self.devices().iter().any(|device| device.accesses_host_memory())
    }

    /// clHostMemAllocINTEL, clDeviceMemAllocINTEL and clSharedMemAllocINTEL. Returns the address.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn usm_alloc(self: &Arc<Self>, usm: Usm, size: u64, alignment: u32) -> Result<usize> {
        let Usm { kind, device, flags } = &usm;
        // "CL_INVALID_DEVICE if device is not a valid device or is not associated with context."
        let is_own = device.as_ref().is_none_or(|device| self.device_index(device).is_some());
        ensure!(is_own && (*kind != UsmType::Device || device.is_some()), InvalidDevice, "a device of the context is required");
        // The specification requires CL_INVALID_OPERATION if `device` lacks the capabilities. Without a device, the
        // error applies if all devices of the context lack them.
        match device {
            Some(device) => device.check_usm_support()?,
            None => ensure!(self.has_usm(), InvalidOperation, "no device of the context supports unified shared memory"),
        }
        // "CL_INVALID_VALUE if alignment is not zero or a power of two", or "greater than the size of the largest
        // data type supported by device".
        let aligned = alignment == 0 || (alignment.is_power_of_two() && alignment <= LARGEST_TYPE);
        ensure!(aligned, InvalidValue, "alignment {alignment}: it must be 0 or a power of two, at most {LARGEST_TYPE}");
        // The specification requires CL_INVALID_PROPERTY for a placement flag of a host or device allocation, and for
        // both flags of a shared allocation.
        let placements = (*flags & (UsmFlags::PLACED_ON_DEVICE | UsmFlags::PLACED_ON_HOST)).bits();
        ensure!(
            placements.count_ones() <= u32::from(*kind == UsmType::Shared),
            InvalidProperty,
            "placement flags {placements:#x}: only a shared allocation accepts a placement flag, and at most one"
        );
        // The specification requires CL_INVALID_BUFFER_SIZE if the size is 0 or exceeds CL_DEVICE_MAX_MEM_ALLOC_SIZE of
        // `device`. Without a device, the limits of all devices with unified shared memory apply.
        let is_affected =
            |other: &&Arc<Device>| device.as_ref().map_or_else(|| other.accesses_host_memory(), |device| Arc::ptr_eq(device, other));
        let limit = self.devices().iter().filter(is_affected).map(|device| device.properties().max_allocation).min().unwrap_or(0);
        ensure!(size != 0 && size <= limit, InvalidBufferSize, "allocation size {size}: the size must be 1 to {limit} bytes");
        self.allocate_at_address(MemFlags::READ_WRITE, (size, alignment), Some(usm))
    }

    /// clMemFreeINTEL: commands that name the memory keep it alive until they are done. The application must not free
    /// memory that a running kernel accesses through stored pointers.
    ///
    /// # Errors
    /// If the address is not the start of an allocation.
    pub fn usm_free(&self, address: usize) -> Result<()> {
        self.usm_free_after(address, || ())
    }

    /// clMemBlockingFreeINTEL: first waits for all enqueued commands, because they may access the memory through stored
    /// pointers.
    ///
    /// # Errors
    /// The errors of [`Context::usm_free`].
    pub fn usm_free_when_unused(&self, address: usize) -> Result<()> {
        self.usm_free_after(address, || self.queues().iter().for_each(|queue| queue.drain()))
    }

    /// Frees the allocation at an address after `wait`. Null is ignored.
    fn usm_free_after(&self, address: usize, wait: impl FnOnce()) -> Result<()> {
        if address == 0 {
            return Ok(());
        }
        self.usm_at(address).filter(|info| info.base == address).ok_or_else(|| {
            // "CL_INVALID_VALUE if ptr is not a value returned by [the functions that allocate], or a NULL pointer."
            Error::InvalidValue(format!("{address:#x} is not the start of a unified shared memory allocation").into())
        })?;
        wait();
        self.free_at_address(address);
        Ok(())
    }
}

impl Queue {
    /// Checks that the device supports the extension and that the wait list is valid.
    fn check_usm(&self, wait_list: &[Arc<Event>]) -> Result<()> {
        self.device().check_usm_support()?;
        self.check_wait_list(wait_list)
    }

    /// clEnqueueMemcpyINTEL. `target` and `source` wrap ordinary host memory.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn usm_copy(
        self: &Arc<Self>,
        blocking: bool,
        copy: SvmCopy,
        target: impl FnOnce(u64) -> Result<Arc<dyn HostTarget>>,
        source: impl FnOnce(u64) -> Result<Arc<dyn HostSource>>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_usm(wait_list)?;
        Self::check_blocking(blocking, wait_list)?;
        let work = self.svm_copy_command(copy, target, source)?;
        self.submit_blocking(CommandType::UsmMemcpy, work, wait_list, blocking)
    }

    /// clEnqueueMemFillINTEL, and clEnqueueMemsetINTEL with a pattern of one byte. `target` wraps ordinary host memory.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn usm_fill(
        self: &Arc<Self>,
        address: usize,
        (pattern, size): (Vec<u8>, u64),
        target: impl FnOnce(u64) -> Result<Arc<dyn HostTarget>>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_usm(wait_list)?;
        // "CL_INVALID_VALUE if dst_ptr is NULL, or if dst_ptr is not aligned to pattern_size bytes."
        ensure!(address != 0, InvalidValue, "dst_ptr is NULL");
        // "CL_INVALID_VALUE if pattern_size is not a power of two or is greater than the size of the largest integer
        // or floating-point vector data type".
        let width = pattern.len();
        ensure!(
            width.is_power_of_two() && width <= LARGEST_TYPE as usize,
            InvalidValue,
            "pattern of {width} bytes: the size must be a power of two, at most {LARGEST_TYPE}"
        );
        // "CL_INVALID_VALUE if size is not a multiple of pattern_size."
        ensure!(size.is_multiple_of(width as u64), InvalidValue, "size {size} is not a multiple of the pattern size {width}");
        let work = if size == 0 { PendingCommand::nop() } else { self.svm_fill_command(address, pattern, size, target)? };
        self.submit(CommandType::UsmMemFill, work, wait_list)
    }

    /// clEnqueueMigrateMemINTEL and clEnqueueMemAdviseINTEL, selected by `command`: hints without effect, because
    /// host and device share all memory.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn usm_hint(self: &Arc<Self>, command: CommandType, wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.check_usm(wait_list)?;
        self.submit(command, PendingCommand::nop(), wait_list)
    }
}
