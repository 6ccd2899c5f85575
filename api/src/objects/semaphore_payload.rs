//! The payload of a semaphore that is shared with another API. The device owns it.

use std::sync::Arc;

use crate::backend::{ExternalSemaphore, SharedPayload};
use crate::objects::device::Device;
use crate::objects::event::Event;
use crate::types::error::{Error, Result, ensure};
use crate::types::lock::{Mutex, Rank};
use crate::types::status::Status;

/// The last OpenCL command on the semaphore.
#[derive(Debug)]
pub(crate) enum LastOperation {
    /// No OpenCL command since the semaphore was created, exported as a sync file or re-imported.
    Nothing,
    Signal(Arc<Event>),
    Wait,
}

/// The shared payload of a semaphore.
#[derive(Debug)]
pub(crate) struct DevicePayload {
    pub(crate) payload: Arc<dyn SharedPayload>,
    /// The handle type from which the payload was imported, if it was imported.
    pub(crate) imported: Option<ExternalSemaphore>,
    /// CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR
    pub(crate) exported: Option<ExternalSemaphore>,
    pub(crate) last: Mutex<LastOperation>,
}

impl DevicePayload {
    /// Creates the payload of a semaphore for this device. Returns `None` if the semaphore is not shared.
    pub(crate) fn new(device: &Device, exports: Option<&[u64]>, import: Option<(ExternalSemaphore, i32)>) -> Result<Option<Self>> {
        // "CL_INVALID_OPERATION if props_list specifies a cl_external_semaphore_handle_type_khr followed by a handle
        // as well as CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR."
        ensure!(exports.is_none() || import.is_none(), InvalidOperation, "an imported semaphore cannot be exported");
        // "CL_INVALID_VALUE if more than one semaphore handle type is specified in the
        // CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR list."
        let exports = exports.unwrap_or_default();
        ensure!(exports.len() <= 1, InvalidValue, "{} handle types are given; at most one is permitted", exports.len());
        let shareable = device.backend().shareable_semaphores();
        let (payload, imported, exported) = match (import, exports.first()) {
            (Some((kind, fd)), _) => {
                // "CL_INVALID_DEVICE if one or more devices ... cannot import the requested external semaphore handle
                // type."
                ensure!(
                    shareable.contains(&kind),
                    InvalidDevice,
                    "device `{}` cannot import semaphore handles of type {kind}",
                    device.name()
                );
                (device.backend().import_semaphore(kind, fd)?, Some(kind), None)
            }
            (None, Some(&raw)) => {
                let kind = ExternalSemaphore::from_raw(raw).filter(|kind| shareable.contains(kind));
                let kind = kind.ok_or_else(|| {
                    Error::InvalidProperty(format!("device `{}` cannot export semaphore handles of type {raw:#x}", device.name()).into())
                })?;
                (device.backend().exportable_semaphore(kind)?, None, Some(kind))
            }
            (None, None) => return Ok(None),
        };
        Ok(Some(Self { payload, imported, exported, last: Mutex::new(Rank::Semaphore, LastOperation::Nothing) }))
    }

    pub(crate) fn payload(&self) -> &Arc<dyn SharedPayload> {
        &self.payload
    }

    /// Records that a signal was enqueued.
    pub(crate) fn record_signal(&self, event: &Arc<Event>) {
        self.set_last(LastOperation::Signal(event.clone()));
    }

    /// Records that a wait was enqueued.
    pub(crate) fn record_wait(&self) {
        self.set_last(LastOperation::Wait);
    }

    pub(crate) fn set_last(&self, last: LastOperation) {
        let previous = std::mem::replace(&mut *self.last.lock(), last);
        // The drop of the previous operation may destroy an event, which must not happen under the lock.
        drop(previous);
    }

    /// Whether the last OpenCL command on the semaphore is a completed signal. An imported sync file represents a
    /// signal.
    pub(crate) fn is_signalled(&self) -> bool {
        let signal = match &*self.last.lock() {
            LastOperation::Nothing => return self.imported == Some(ExternalSemaphore::SyncFd),
            LastOperation::Wait => return false,
            LastOperation::Signal(event) => event.clone(),
        };
        signal.observe() == Status::COMPLETE
    }
}
