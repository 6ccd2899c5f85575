//! External memory: buffers that import it, and their ownership (cl_khr_external_memory).
//!
//! A buffer imports memory that another API has exported. OpenCL owns it between an acquire and a release. An acquire
//! marks the importing device's memory as the only valid copy in the context. A release transfers the writes of other
//! devices to that memory.

use std::sync::Arc;

use crate::backend::ExternalMemory;
use crate::commands::command::{AccessMode, CommandType, Operation, PendingCommand};
use crate::commands::transfer::buffer_access;
use crate::image::MemObject;
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::event::Event;
use crate::objects::memory::{Buffer, MemFlags, Store};
use crate::objects::queue::Queue;
use crate::types::error::{Error, Result, ensure};

/// External memory in the properties of a new buffer.
#[derive(Clone, Debug)]
pub struct External {
    /// The type of the handle.
    pub kind: ExternalMemory,
    /// The file descriptor, which the buffer owns after its creation.
    pub fd: i32,
    /// CL_MEM_DEVICE_HANDLE_LIST_KHR
    pub devices: Option<Vec<Arc<Device>>>,
}

impl Buffer {
    /// clCreateBufferWithProperties with a handle of external memory.
    ///
    /// # Errors
    /// If the flags contain a host pointer flag, or if a device cannot import the memory.
    pub fn import(
        context: &Arc<Context>,
        flags: MemFlags,
        size: u64,
        external: &External,
        property_list: Option<Vec<u64>>,
    ) -> Result<Arc<Self>> {
        // "CL_INVALID_VALUE if properties includes a supported external memory handle and flags includes
        // CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR, or CL_MEM_COPY_HOST_PTR."
        ensure!(
            !flags.intersects(MemFlags::POINTER),
            InvalidValue,
            "memory flags {flags}: host pointer flags are not permitted for external memory"
        );
        Self::check_size(context, size)?;
        let devices = external.devices.as_deref().unwrap_or(context.devices());
        let index = |device: &Arc<Device>| {
            // "CL_INVALID_DEVICE if a device identified by the property CL_MEM_DEVICE_HANDLE_LIST_KHR ... is not
            // associated with context, or ... cannot import the requested external memory object type."
            let index =
                context.device_index(device).ok_or_else(|| Error::InvalidDevice("a device does not belong to the context".into()))?;
            let can = device.backend().importable_memory().contains(&external.kind);
            ensure!(can, InvalidDevice, "device `{}` cannot import memory handles of type {}", device.name(), external.kind);
            Ok(index)
        };
        let indices = devices.iter().map(index).collect::<Result<Vec<_>>>()?;
        let first = *indices.first().ok_or_else(|| Error::InvalidDevice("the list of devices for the memory is empty".into()))?;
        let share_memory = indices.iter().all(|&index| context.memory_owner(index) == context.memory_owner(first));
        ensure!(share_memory, InvalidDevice, "external memory belongs to one device; specify it with CL_MEM_DEVICE_HANDLE_LIST_KHR");
        let memory = context.devices()[context.memory_owner(first)].backend().import_memory(external.kind, external.fd, size)?;
        Ok(Self::of_store(flags.or_default(), Store::imported(context, size, indices, memory), 0, size, property_list))
    }
}

impl Queue {
    /// clEnqueueAcquireExternalMemObjectsKHR
    ///
    /// # Errors
    /// If an object is not external memory that was imported for the queue's device, or if an event of the wait list
    /// has failed.
    pub fn acquire_external(self: &Arc<Self>, objects: &[MemObject], wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.transfer_ownership(CommandType::AcquireExternalMemObjects, objects, AccessMode::Overwrite, wait_list)
    }

    /// clEnqueueReleaseExternalMemObjectsKHR
    ///
    /// # Errors
    /// The errors of [`Self::acquire_external`].
    pub fn release_external(self: &Arc<Self>, objects: &[MemObject], wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.transfer_ownership(CommandType::ReleaseExternalMemObjects, objects, AccessMode::Read, wait_list)
    }

    fn transfer_ownership(
        self: &Arc<Self>,
        command: CommandType,
        objects: &[MemObject],
        access: AccessMode,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let mut accesses = Vec::with_capacity(objects.len());
        for object in objects {
            let store = object.buffer().store();
            ensure!(!store.importers().is_empty(), InvalidMemObject, "the memory object was not created from external memory");
            ensure!(Arc::ptr_eq(object.context(), self.context()), InvalidCommandQueue, "a memory object belongs to another context");
            ensure!(
                store.importers().contains(&self.device_index()),
                InvalidCommandQueue,
                "the memory was not imported for the queue's device"
            );
            // An acquire or release of a sub-buffer or an image applies to all of its memory.
            accesses.push(buffer_access(object.buffer(), 0..store.size(), access));
        }
        self.check_wait_list(wait_list)?;
        // "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the execution status of any of the events in
        // event_wait_list is a negative integer value."
        let failed = wait_list.iter().any(|event| event.status().is_failed());
        ensure!(!failed, ExecStatusErrorForEventsInWaitList, "an event of the wait list has failed");
        self.submit(command, PendingCommand::new(Operation::Nop, accesses), wait_list)
    }
}
