//! Captures of launches (`WGCL_CAPTURE`).
//!
//! The event of a captured launch represents several commands of the device: reads of all memory objects, the launch,
//! and reads of the same memory. The event does not count as issued, so no later command of the application runs
//! between them. Failures of a capture are reported, and do not affect the launch.

pub(crate) mod request;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::backend::{Action, BackendError, BackendResult, Command, CopyRegion, Memory, Progress, Times};
use crate::commands::completion::on_completion;
use crate::commands::device_enqueue::TreeHandle;
use crate::commands::staging_buffer::StagingBuffer;
use crate::objects::device::Device;
use crate::observe::capture;
use crate::observe::capture::record::Record;

/// A memory object whose contents are captured.
#[derive(Clone, Debug)]
pub(crate) struct CapturedMemory {
    memory: Arc<dyn Memory>,
    /// The regions to read. Images are stored without padding.
    regions: Vec<CopyRegion>,
    size: usize,
}

/// The capture of a launch.
#[derive(Debug)]
pub(crate) struct Capture {
    /// The directory that receives the folder of the launch.
    directory: PathBuf,
    record: Record,
    memory: Vec<CapturedMemory>,
}

impl Capture {
    /// Runs and captures the launch. `handle` receives the progress of the launch, and is completed after the capture.
    pub(crate) fn start(self: Box<Self>, device: &Arc<Device>, command: Command, handle: Arc<dyn TreeHandle>) {
        let memory = self.memory.clone();
        let launch = CapturedLaunch { device: device.clone(), handle, capture: *self, folder: None };
        read_all(device, &memory, move |contents| launch.run(command, contents));
    }
}

struct CapturedLaunch {
    device: Arc<Device>,
    handle: Arc<dyn TreeHandle>,
    capture: Capture,
    /// The folder, after it was written. `None` if the capture failed.
    folder: Option<PathBuf>,
}

impl CapturedLaunch {
    fn report(&self, why: &dyn std::fmt::Display) {
        capture::report_failure(&self.capture.record.kernel, self.capture.record.launch, why);
    }

    /// Writes the contents before the launch, and launches the kernel.
    fn run(mut self, command: Command, contents: BackendResult<Vec<Vec<u8>>>) {
        match contents {
            Err(error) => self.report(&error),
            Ok(contents) => match self.capture.record.write_before(&self.capture.directory, &contents) {
                Err(error) => self.report(&error),
                Ok(folder) => self.folder = Some(folder),
            },
        }
        let (device, is_timed) = (self.device.clone(), self.handle.is_timed());
        let progress: Arc<dyn Progress> = match self.folder {
            None => self.handle,
            Some(_) => Arc::new(LaunchProgress { handle: self.handle.clone(), launch: Mutex::new(Some(self)) }),
        };
        device.backend().enqueue(command, is_timed, progress);
        device.backend().flush();
    }

    /// Reads and writes the contents after the launch, and completes the event.
    fn finish(mut self, result: BackendResult<Times>) {
        if let Err(error) = &result {
            self.capture.record.status = error.to_string();
            return self.end(&[], result);
        }
        let memory = std::mem::take(&mut self.capture.memory);
        let device = self.device.clone();
        read_all(&device, &memory, move |contents| match contents {
            Ok(contents) => {
                "complete".clone_into(&mut self.capture.record.status);
                self.end(&contents, result);
            }
            Err(error) => {
                self.report(&error);
                self.handle.complete(result);
            }
        });
    }

    fn end(self, contents: &[Vec<u8>], result: BackendResult<Times>) {
        if let Some(folder) = &self.folder {
            match self.capture.record.write_after(folder, contents) {
                Err(error) => self.report(&error),
                Ok(()) => capture::count_captured(),
            }
        }
        self.handle.complete(result);
    }
}

/// The progress of the launch itself. If the device drops it, `handle` fails the event.
struct LaunchProgress {
    handle: Arc<dyn TreeHandle>,
    launch: Mutex<Option<CapturedLaunch>>,
}

impl Progress for LaunchProgress {
    fn submitted(&self, now: u64) {
        self.handle.submitted(now);
    }

    fn running(&self) {
        self.handle.running();
    }

    fn is_awaited_by_this_thread(&self) -> bool {
        self.handle.is_awaited_by_this_thread()
    }

    fn print(&self, text: &[u8]) {
        self.handle.print(text);
    }

    fn complete(&self, result: BackendResult<Times>) {
        // The lock is not held while commands are enqueued.
        let launch = self.launch.lock().take();
        if let Some(launch) = launch {
            launch.finish(result);
        }
    }
}

/// Reads that are in progress.
struct Reads<F> {
    contents: Vec<StagingBuffer>,
    remaining: AtomicUsize,
    failure: Mutex<Option<BackendError>>,
    next: Mutex<Option<F>>,
}

impl<F: FnOnce(BackendResult<Vec<Vec<u8>>>)> Reads<F> {
    fn finish_one(&self, result: BackendResult<Times>) {
        if let Err(error) = result {
            self.failure.lock().get_or_insert(error);
        }
        if self.remaining.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        let failure = self.failure.lock().take();
        let contents = self.contents.iter().map(|buffer| std::mem::take(&mut *buffer.0.lock())).collect();
        let next = self.next.lock().take();
        if let Some(next) = next {
            next(failure.map_or(Ok(contents), Err));
        }
    }
}

/// Reads memory objects, and passes the contents to `next`.
fn read_all(device: &Arc<Device>, memory: &[CapturedMemory], next: impl FnOnce(BackendResult<Vec<Vec<u8>>>) + Send + 'static) {
    let mut contents = Vec::new();
    for object in memory {
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(object.size).is_err() {
            return next(Err(BackendError::OutOfHostMemory));
        }
        bytes.resize(object.size, 0);
        contents.push(StagingBuffer(Arc::new(Mutex::new(bytes))));
    }
    if memory.is_empty() {
        return next(Ok(Vec::new()));
    }
    let reads = Arc::new(Reads {
        contents: contents.clone(),
        remaining: AtomicUsize::new(memory.len()),
        failure: Mutex::new(None),
        next: Mutex::new(Some(next)),
    });
    for (object, staging) in memory.iter().zip(contents) {
        let reads = reads.clone();
        let action = Action::Read { src: object.memory.clone(), dst: Arc::new(staging), regions: object.regions.clone() };
        device.backend().enqueue(action.into(), false, on_completion(move |result| reads.finish_one(result)));
    }
    device.backend().flush();
}
