//! Semaphores that others share with a device (VK_KHR_external_semaphore_fd).

use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use parking_lot::{Condvar, Mutex};
use wgcl_api::backend::{BackendError, BackendResult, ExternalSemaphore, SharedPayload};

use crate::vulkan::queue::{VulkanQueue, error};

/// How long an export waits until a signal that was enqueued is with the driver.
const PATIENCE: Duration = Duration::from_secs(10);

/// A binary semaphore.
#[derive(Debug)]
pub(crate) struct Semaphore {
    queue: Arc<VulkanQueue>,
    handle: vk::Semaphore,
    /// Signals that were submitted and not exported as sync files.
    signals: Mutex<u64>,
    signalled: Condvar,
}

/// The implementations behind payloads.
pub(crate) fn downcast_all(payloads: &[Arc<dyn SharedPayload>]) -> BackendResult<Vec<Arc<Semaphore>>> {
    let of_one = |payload: &Arc<dyn SharedPayload>| payload.as_any().downcast_ref::<SharedSemaphore>().map(|shared| Arc::clone(&shared.0));
    let all: Option<Vec<_>> = payloads.iter().map(of_one).collect();
    all.ok_or_else(|| BackendError::Other("a semaphore of another backend".to_owned()))
}

/// What the API has of one: submissions keep the semaphore itself.
#[derive(Debug)]
pub(crate) struct SharedSemaphore(Arc<Semaphore>);

fn kind_of(kind: ExternalSemaphore) -> vk::ExternalSemaphoreHandleTypeFlags {
    match kind {
        ExternalSemaphore::OpaqueFd => vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD,
        ExternalSemaphore::SyncFd => vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD,
    }
}

impl SharedSemaphore {
    fn make(queue: &Arc<VulkanQueue>, info: &vk::SemaphoreCreateInfo<'_>) -> BackendResult<Self> {
        // SAFETY: the device lives as long as `queue`; the handle type, if there is one, can be exported, as the device's list says.
        let handle = unsafe { queue.device.create_semaphore(info, None) }.map_err(error)?;
        let semaphore = Semaphore { queue: Arc::clone(queue), handle, signals: Mutex::new(0), signalled: Condvar::new() };
        Ok(Self(Arc::new(semaphore)))
    }

    /// One that will be exported so.
    pub(crate) fn exportable(queue: &Arc<VulkanQueue>, kind: ExternalSemaphore) -> BackendResult<Self> {
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(kind_of(kind));
        Self::make(queue, &vk::SemaphoreCreateInfo::default().push_next(&mut export))
    }

    /// One of what a file descriptor names, which it takes if that succeeds.
    pub(crate) fn import_fd(queue: &Arc<VulkanQueue>, kind: ExternalSemaphore, fd: i32) -> BackendResult<Self> {
        let made = Self::make(queue, &vk::SemaphoreCreateInfo::default())?;
        made.0.import(kind, fd)?;
        Ok(made)
    }
}

impl Semaphore {
    pub(crate) const fn handle(&self) -> vk::Semaphore {
        self.handle
    }

    /// A signal is with the driver.
    pub(crate) fn signal_submitted(&self) {
        *self.signals.lock() += 1;
        self.signalled.notify_all();
    }

    fn functions(&self) -> BackendResult<&ash::khr::external_semaphore_fd::Device> {
        self.queue.semaphore_fds().ok_or_else(|| BackendError::Other("semaphores of others".to_owned()))
    }

    fn import(&self, kind: ExternalSemaphore, fd: i32) -> BackendResult<()> {
        // A sync file is one signal, and gone with the wait for it.
        let flags = if kind == ExternalSemaphore::SyncFd { vk::SemaphoreImportFlags::TEMPORARY } else { vk::SemaphoreImportFlags::empty() };
        let info = vk::ImportSemaphoreFdInfoKHR::default().semaphore(self.handle).flags(flags).handle_type(kind_of(kind)).fd(fd);
        // SAFETY: the extension is on; a descriptor of something else is an error. Nothing that was submitted uses the semaphore, as the application sees to.
        unsafe { self.functions()?.import_semaphore_fd(&info) }.map_err(error)
    }
}

impl SharedPayload for SharedSemaphore {
    fn export(&self, kind: ExternalSemaphore) -> BackendResult<i32> {
        let Self(semaphore) = self;
        let functions = semaphore.functions()?;
        if kind == ExternalSemaphore::SyncFd {
            // A sync file is made of a signal that the driver knows of.
            let mut signals = semaphore.signals.lock();
            while *signals == 0 {
                if semaphore.signalled.wait_for(&mut signals, PATIENCE).timed_out() {
                    return Err(BackendError::Other("the signal of the semaphore waits for something else".to_owned()));
                }
            }
            *signals -= 1;
        }
        let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(semaphore.handle).handle_type(kind_of(kind));
        // SAFETY: the extension is on, and the semaphore was made to be exported so; a signal of it was submitted where one is taken.
        unsafe { functions.get_semaphore_fd(&info) }.map_err(error)
    }

    fn import_again(&self, fd: i32) -> BackendResult<()> {
        self.0.import(ExternalSemaphore::SyncFd, fd)
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: no submission uses it: recorders keep what theirs wait for and signal.
        unsafe { self.queue.device.destroy_semaphore(self.handle, None) };
    }
}
