//! External semaphores (cl_khr_external_semaphore; OpenCL API 5.16.5).
//!
//! The payload is on the device: a wait and a signal are device commands, in submission order, and the host does not
//! take part. A wait blocks every later command of the device, in every queue. As in Vulkan, the signal operation
//! must be submitted before the wait is enqueued.

use std::sync::Arc;

use crate::backend::ExternalSemaphore;
use crate::objects::device::Device;
use crate::objects::semaphore::Semaphore;
use crate::objects::semaphore_payload::{DevicePayload, LastOperation};
use crate::types::error::{Error, Result, ensure};

impl Semaphore {
    /// CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR: at most one type.
    pub fn export_types(&self) -> Vec<ExternalSemaphore> {
        self.shared().and_then(|shared| shared.exported).into_iter().collect()
    }

    /// Checks that clGetSemaphoreHandleForTypeKHR can export a handle of type `raw`.
    ///
    /// # Errors
    /// Fails if the semaphore does not belong to the device, or if it was not created with this handle type.
    pub fn check_export(&self, device: &Arc<Device>, raw: u64) -> Result<()> {
        self.exportable(device, raw).map(drop)
    }

    fn exportable(&self, device: &Arc<Device>, raw: u64) -> Result<(&DevicePayload, ExternalSemaphore)> {
        // "CL_INVALID_DEVICE ... if sema_object can not be shared with device."
        ensure!(
            self.devices().iter().any(|known| Arc::ptr_eq(known, device)),
            InvalidDevice,
            "the semaphore is not associated with the device"
        );
        // "CL_INVALID_VALUE if the requested external semaphore handle type was not specified when sema_object was
        // created."
        let missing_handle = || Error::InvalidValue(format!("the semaphore has no handle of type {raw:#x}").into());
        let shared = self.shared().ok_or_else(missing_handle)?;
        let kind = ExternalSemaphore::from_raw(raw).filter(|kind| shared.exported == Some(*kind)).ok_or_else(missing_handle)?;
        Ok((shared, kind))
    }

    /// clGetSemaphoreHandleForTypeKHR: a file descriptor, which belongs to the application.
    ///
    /// # Errors
    /// The errors of [`Self::check_export`]. Also fails for a sync file if no signal is pending.
    pub fn export(&self, device: &Arc<Device>, raw: u64) -> Result<i32> {
        let (shared, kind) = self.exportable(device, raw)?;
        if kind == ExternalSemaphore::SyncFd {
            let signal = match &*shared.last.lock() {
                LastOperation::Signal(event) => Some(event.clone()),
                _ => None,
            };
            let signal =
                signal.ok_or_else(|| Error::InvalidOperation("the semaphore has no pending signal to export as a sync file".into()))?;
            signal.flush();
        }
        let fd = shared.payload.export(kind)?;
        if kind == ExternalSemaphore::SyncFd {
            // Like a wait, the export of a sync file resets the semaphore: no signal is pending afterwards.
            shared.set_last(LastOperation::Nothing);
        }
        Ok(fd)
    }

    /// clReImportSemaphoreSyncFdKHR
    ///
    /// # Errors
    /// If the semaphore was not created from a sync file.
    pub fn reimport(&self, fd: i32) -> Result<()> {
        let shared = self.shared().filter(|shared| shared.imported == Some(ExternalSemaphore::SyncFd));
        let shared = shared.ok_or_else(|| Error::InvalidSemaphore("the semaphore was not created from a sync file".into()))?;
        shared.payload.reimport(fd)?;
        shared.set_last(LastOperation::Nothing);
        Ok(())
    }
}
