//! Semaphores that others share (cl_khr_external_semaphore; OpenCL API 5.16.5).
//!
//! The payload is the device's own: a wait and a signal are commands there, in the order in which it gets them, and the host needs no turn between OpenCL and whoever else has the semaphore. A
//! wait holds up everything that the device is given later, whatever its queue: as Vulkan has it, whatever signals the semaphore has to be on its way when the wait is enqueued.

use std::sync::Arc;

use crate::backend::{ExternalSemaphore, SharedPayload};
use crate::objects::device::Device;
use crate::objects::event::{Event, Status};
use crate::objects::semaphore::Semaphore;
use crate::types::error::{Error, Result, ensure};
use crate::types::lock::{Mutex, Rank};

/// What OpenCL did last.
#[derive(Debug)]
enum Last {
    /// Nothing: as it came.
    Nothing,
    Signal(Arc<Event>),
    Wait,
}

/// What others share of a semaphore.
#[derive(Debug)]
pub(crate) struct DevicePayload {
    payload: Arc<dyn SharedPayload>,
    /// What it was made of, if others have made it.
    imported: Option<ExternalSemaphore>,
    /// CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR
    exported: Option<ExternalSemaphore>,
    last: Mutex<Last>,
}

impl DevicePayload {
    /// Of a semaphore for these devices; `None` where nobody shares it.
    pub(crate) fn new(devices: &[Arc<Device>], exports: Option<&[u64]>, import: Option<(ExternalSemaphore, i32)>) -> Result<Option<Self>> {
        // "CL_INVALID_OPERATION if props_list specifies a cl_external_semaphore_handle_type_khr followed by a handle as well as
        // CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR."
        ensure!(exports.is_none() || import.is_none(), InvalidOperation, "a semaphore of others cannot be exported");
        // "CL_INVALID_VALUE if more than one semaphore handle type is specified in the CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR list."
        let exports = exports.unwrap_or_default();
        ensure!(exports.len() <= 1, InvalidValue, "{} types of handles", exports.len());
        let Some(device) = devices.first() else { return Ok(None) };
        let shareable = device.backend().shareable_semaphores();
        let (payload, imported, exported) = match (import, exports.first()) {
            (Some((kind, fd)), _) => {
                // "CL_INVALID_DEVICE if one or more devices ... cannot import the requested external semaphore handle type."
                ensure!(shareable.contains(&kind), InvalidDevice, "{} cannot use {kind:?}", device.name());
                (device.backend().import_semaphore(kind, fd)?, Some(kind), None)
            }
            (None, Some(&raw)) => {
                let kind = ExternalSemaphore::from_raw(raw).filter(|kind| shareable.contains(kind));
                let kind =
                    kind.ok_or_else(|| Error::InvalidProperty(format!("{} exports no handles of type {raw:#x}", device.name()).into()))?;
                (device.backend().exportable_semaphore(kind)?, None, Some(kind))
            }
            (None, None) => return Ok(None),
        };
        Ok(Some(Self { payload, imported, exported, last: Mutex::new(Rank::Semaphore, Last::Nothing) }))
    }

    pub(crate) fn payload(&self) -> &Arc<dyn SharedPayload> {
        &self.payload
    }

    /// A signal was enqueued.
    pub(crate) fn signals(&self, event: &Arc<Event>) {
        self.set_last(Last::Signal(event.clone()));
    }

    /// A wait was enqueued.
    pub(crate) fn waits(&self) {
        self.set_last(Last::Wait);
    }

    fn set_last(&self, last: Last) {
        let before = std::mem::replace(&mut *self.last.lock(), last);
        // Events may die with it, which is nothing to be done under a lock.
        drop(before);
    }

    /// Whether it is signalled, as far as OpenCL knows: a sync file stands for a signal.
    pub(crate) fn is_signalled(&self) -> bool {
        let signal = match &*self.last.lock() {
            Last::Nothing => return self.imported == Some(ExternalSemaphore::SyncFd),
            Last::Wait => return false,
            Last::Signal(event) => event.clone(),
        };
        signal.status() == Status::COMPLETE
    }
}

impl Semaphore {
    /// CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR: none, or one.
    pub fn export_types(&self) -> Vec<ExternalSemaphore> {
        self.shared().and_then(|shared| shared.exported).into_iter().collect()
    }

    /// Whether clGetSemaphoreHandleForTypeKHR can give such a handle.
    ///
    /// # Errors
    /// For devices that it is not for, and handles that it was not made to have.
    pub fn check_export(&self, device: &Arc<Device>, raw: u64) -> Result<()> {
        self.exportable(device, raw).map(drop)
    }

    fn exportable(&self, device: &Arc<Device>, raw: u64) -> Result<(&DevicePayload, ExternalSemaphore)> {
        // "CL_INVALID_DEVICE ... if sema_object can not be shared with device."
        ensure!(self.devices().iter().any(|known| Arc::ptr_eq(known, device)), InvalidDevice, "the semaphore is not for the device");
        // "CL_INVALID_VALUE if the requested external semaphore handle type was not specified when sema_object was created."
        let none = || Error::InvalidValue(format!("the semaphore has no handle of type {raw:#x}").into());
        let shared = self.shared().ok_or_else(none)?;
        let kind = ExternalSemaphore::from_raw(raw).filter(|kind| shared.exported == Some(*kind)).ok_or_else(none)?;
        Ok((shared, kind))
    }

    /// clGetSemaphoreHandleForTypeKHR: a file descriptor, which belongs to the application.
    ///
    /// # Errors
    /// As [`Self::check_export`]; and for a sync file without a signal to take.
    pub fn export(&self, device: &Arc<Device>, raw: u64) -> Result<i32> {
        let (shared, kind) = self.exportable(device, raw)?;
        if kind == ExternalSemaphore::SyncFd {
            let signal = match &*shared.last.lock() {
                Last::Signal(event) => Some(event.clone()),
                _ => None,
            };
            let signal = signal.ok_or_else(|| Error::InvalidOperation("there is no signal that a sync file could be of".into()))?;
            signal.flush();
        }
        let fd = shared.payload.export(kind)?;
        if kind == ExternalSemaphore::SyncFd {
            // "... has the same side effects on the source semaphore's payload as executing a semaphore wait operation."
            shared.set_last(Last::Nothing);
        }
        Ok(fd)
    }

    /// clReImportSemaphoreSyncFdKHR
    ///
    /// # Errors
    /// If it was not made of a sync file.
    pub fn import_again(&self, fd: i32) -> Result<()> {
        let shared = self.shared().filter(|shared| shared.imported == Some(ExternalSemaphore::SyncFd));
        let shared = shared.ok_or_else(|| Error::InvalidSemaphore("the semaphore was not made of a sync file".into()))?;
        shared.payload.import_again(fd)?;
        shared.set_last(Last::Nothing);
        Ok(())
    }
}
