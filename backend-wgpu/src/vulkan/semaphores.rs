//! Semaphores that are shared with other APIs (VK_KHR_external_semaphore_fd).

use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use parking_lot::{Condvar, Mutex};
use wgcl_api::backend::{BackendError, BackendResult, ExternalSemaphore, SharedPayload};

use crate::vulkan::error::backend_error;
use crate::vulkan::queue::VulkanQueue;

/// How long an export waits for the submission of an enqueued signal.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// A binary semaphore.
#[derive(Debug)]
pub(crate) struct Semaphore {
    queue: Arc<VulkanQueue>,
    handle: vk::Semaphore,
    /// Submitted signals that were not exported as sync files.
    signals: SignalCount,
}

#[derive(Debug, Default)]
struct SignalCount {
    count: Mutex<u64>,
    added: Condvar,
}

impl SignalCount {
    fn add(&self) {
        *self.count.lock() += 1;
        self.added.notify_all();
    }

    /// Waits for a signal and takes it. Returns false if there is none at the end of the wait.
    fn take(&self, timeout: Duration) -> bool {
        let mut count = self.count.lock();
        self.added.wait_while_for(&mut count, |count| *count == 0, timeout);
        // The count decides, not the result of the wait: a signal may have been added after the timeout.
        let remaining = count.checked_sub(1);
        *count = remaining.unwrap_or(0);
        remaining.is_some()
    }
}

/// Returns the semaphores of these payloads. Fails if one belongs to another backend.
pub(crate) fn downcast_all(payloads: &[Arc<dyn SharedPayload>]) -> BackendResult<Vec<Arc<Semaphore>>> {
    let of_one = |payload: &Arc<dyn SharedPayload>| payload.as_any().downcast_ref::<SharedSemaphore>().map(|shared| Arc::clone(&shared.0));
    let all: Option<Vec<_>> = payloads.iter().map(of_one).collect();
    all.ok_or_else(|| BackendError::Other("the semaphore belongs to another backend".to_owned()))
}

/// The API's reference to a semaphore. Submissions refer to the [`Semaphore`] directly.
#[derive(Debug)]
pub(crate) struct SharedSemaphore(Arc<Semaphore>);

fn kind_of(kind: ExternalSemaphore) -> vk::ExternalSemaphoreHandleTypeFlags {
    match kind {
        ExternalSemaphore::OpaqueFd => vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD,
        ExternalSemaphore::SyncFd => vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD,
    }
}

impl SharedSemaphore {
    fn create(queue: &Arc<VulkanQueue>, info: &vk::SemaphoreCreateInfo<'_>) -> BackendResult<Self> {
        // SAFETY: the device lives as long as `queue`. If `info` names a handle type, the device reports it as
        // exportable.
        let handle = unsafe { queue.device.create_semaphore(info, None) }.map_err(backend_error)?;
        let semaphore = Semaphore { queue: Arc::clone(queue), handle, signals: SignalCount::default() };
        Ok(Self(Arc::new(semaphore)))
    }

    /// Creates a semaphore that can be exported as this kind.
    pub(crate) fn exportable(queue: &Arc<VulkanQueue>, kind: ExternalSemaphore) -> BackendResult<Self> {
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(kind_of(kind));
        Self::create(queue, &vk::SemaphoreCreateInfo::default().push_next(&mut export))
    }

    /// Creates a semaphore from a file descriptor, which it then owns.
    pub(crate) fn import_fd(queue: &Arc<VulkanQueue>, kind: ExternalSemaphore, fd: i32) -> BackendResult<Self> {
        let created = Self::create(queue, &vk::SemaphoreCreateInfo::default())?;
        created.0.import(kind, fd)?;
        Ok(created)
    }
}

impl Semaphore {
    pub(crate) const fn handle(&self) -> vk::Semaphore {
        self.handle
    }

    /// Records that a signal was submitted.
    pub(crate) fn signal_submitted(&self) {
        self.signals.add();
    }

    fn functions(&self) -> BackendResult<&ash::khr::external_semaphore_fd::Device> {
        self.queue.semaphore_fds().ok_or_else(|| BackendError::Other("the device does not support shared semaphores".to_owned()))
    }

    fn import(&self, kind: ExternalSemaphore, fd: i32) -> BackendResult<()> {
        // A sync file contains one signal, so its import is temporary. The import ends with the wait for this signal.
        let flags = if kind == ExternalSemaphore::SyncFd { vk::SemaphoreImportFlags::TEMPORARY } else { vk::SemaphoreImportFlags::empty() };
        let info = vk::ImportSemaphoreFdInfoKHR::default().semaphore(self.handle).flags(flags).handle_type(kind_of(kind)).fd(fd);
        // SAFETY: the extension is enabled. For a file descriptor of another kind, the driver returns an error. The
        // application ensures that no submission uses the semaphore.
        unsafe { self.functions()?.import_semaphore_fd(&info) }.map_err(backend_error)
    }
}

impl SharedPayload for SharedSemaphore {
    fn export(&self, kind: ExternalSemaphore) -> BackendResult<i32> {
        let Self(semaphore) = self;
        let functions = semaphore.functions()?;
        if kind == ExternalSemaphore::SyncFd {
            // Exporting a sync file requires a submitted signal.
            if !semaphore.signals.take(MAX_WAIT) {
                return Err(BackendError::Other(format!(
                    "cannot export a sync file: no signal of the semaphore was submitted within {MAX_WAIT:?}"
                )));
            }
        }
        let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(semaphore.handle).handle_type(kind_of(kind));
        // SAFETY: the extension is enabled, the semaphore was created for this export, and a sync file has a
        // submitted signal.
        unsafe { functions.get_semaphore_fd(&info) }.map_err(backend_error)
    }

    fn reimport(&self, fd: i32) -> BackendResult<()> {
        self.0.import(ExternalSemaphore::SyncFd, fd)
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: no submission uses it, as recorders retain the semaphores of their submissions.
        unsafe { self.queue.device.destroy_semaphore(self.handle, None) };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use super::SignalCount;

    #[test]
    fn signals_are_taken_once() {
        let signals = SignalCount::default();
        assert!(!signals.take(Duration::ZERO));
        signals.add();
        assert!(signals.take(Duration::ZERO) && !signals.take(Duration::ZERO));
    }

    #[test]
    fn a_signal_at_the_timeout_is_taken() {
        const TIMEOUT: Duration = Duration::from_secs(1);
        let signals = SignalCount::default();
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| signals.take(TIMEOUT));
            std::thread::sleep(TIMEOUT / 4);
            // The wait ends while this thread holds the lock.
            let mut count = signals.count.lock();
            std::thread::sleep(TIMEOUT);
            *count = 1;
            drop(count);
            assert!(taken.join().unwrap());
        });
    }
}
