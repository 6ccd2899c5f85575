//! A thread with a context of OpenGL that shares its objects with a context of the application.
//!
//! All calls of OpenGL run on this thread, except for fences in the application's context ([`Connection::fence`]). A
//! caller sends a function to the thread and waits for its result. Between the calls, the thread polls the sync objects
//! of events.

use std::cell::RefCell;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Once, Weak};
use std::thread::{JoinHandle, ThreadId};
use std::time::Duration;

use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_api::objects::event::Event;
use wgcl_api::types::error::{Error, Result};
use wgcl_api::types::status::Status;

use crate::lifetime::at_exit;

use super::binding::{Api, OwnContext, Share, WindowSystem, not_shareable, text};
use super::constants::{
    EGL_SIGNALED, EGL_SYNC_STATUS, GL_CLAMP_FRAGMENT_COLOR, GL_DEVICE_UUID_EXT, GL_DRIVER_UUID_EXT, GL_EXTENSIONS, GL_NO_ERROR,
    GL_NUM_EXTENSIONS, GL_PACK_ALIGNMENT, GL_SYNC_FLUSH_COMMANDS_BIT, GL_SYNC_GPU_COMMANDS_COMPLETE, GL_TIMEOUT_EXPIRED,
    GL_UNPACK_ALIGNMENT, GL_VERSION, GL_WAIT_FAILED,
};
use super::functions::{
    DesktopFunctions, DrawFunctions, EglImageFunctions, EglSyncFunctions, GlFunctions, LevelFunctions, MemoryFunctions, UuidFunctions,
};
use super::imported::{self, Names};
use super::multisample::SampleReader;

/// The time between two polls of the sync objects of events.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Maximum time that the exit handler waits for the thread of a connection.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// The timeout of one wait for a fence, in nanoseconds.
const FENCE_TIMEOUT: u64 = 1_000_000_000;

/// The functions and properties of the thread's context.
pub(super) struct Gl {
    pub(super) functions: Arc<GlFunctions>,
    /// `None` for OpenGL ES before 3.1.
    pub(super) levels: Option<LevelFunctions>,
    /// `None` for OpenGL ES.
    pub(super) desktop: Option<DesktopFunctions>,
    /// `None` without GL_OES_EGL_image.
    pub(super) egl_images: Option<EglImageFunctions>,
    /// `None` without EGL 1.5.
    egl_syncs: Option<EglSyncFunctions>,
    /// `None` if a function for draws is missing.
    pub(super) samples: Option<SampleReader>,
    /// `None` without GL_EXT_memory_object_fd.
    pub(super) memory: Option<MemoryFunctions>,
    /// The UUIDs of the device and of the driver, if the driver reports them.
    uuids: Option<([u8; 16], [u8; 16])>,
    /// The imported memory that exists.
    pub(super) imported: RefCell<Vec<Names>>,
    /// Dropped last: the functions need a current context.
    _context: OwnContext,
}

/// An error of OpenGL, with the operation that caused it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("OpenGL error {code:#x} in {operation}")]
pub(super) struct GlError {
    pub(super) code: u32,
    pub(super) operation: &'static str,
}

impl From<GlError> for BackendError {
    fn from(error: GlError) -> Self {
        Self::Other(error.to_string())
    }
}

impl Gl {
    fn new(api: &Api, context: OwnContext) -> Result<Self> {
        let find = |name: &str| api.address(name);
        let functions = GlFunctions::load(&find).map_err(|error| not_shareable(error.to_string()))?;
        // SAFETY: the result is null or a string that ends with a zero.
        let version = unsafe { text(functions.glGetString(GL_VERSION)) };
        let version_number = version_of(&version);
        let minimum = if context.is_es { (3, 0) } else { (3, 2) };
        if version_number < minimum {
            return Err(not_shareable(format!("OpenGL version `{version}`: at least {}.{} is required", minimum.0, minimum.1)));
        }
        let extensions = extensions(&functions);
        let has = |name: &str| extensions.iter().any(|known| known == name);
        let levels = (!context.is_es || version_number >= (3, 1)).then(|| LevelFunctions::load(&find).ok()).flatten();
        let desktop = (!context.is_es).then(|| DesktopFunctions::load(&find).ok()).flatten();
        let egl_images = has("GL_OES_EGL_image").then(|| EglImageFunctions::load(&find).ok()).flatten();
        let egl_syncs = if matches!(api, Api::Egl(_)) { EglSyncFunctions::load(&find).ok() } else { None };
        let uuids = has("GL_EXT_memory_object").then(|| UuidFunctions::load(&find).ok()).flatten();
        let uuids = uuids.map(|functions| {
            let (mut device, mut driver) = ([0; 16], [0; 16]);
            functions.glGetUnsignedBytei_vEXT(GL_DEVICE_UUID_EXT, 0, device.as_mut_ptr());
            functions.glGetUnsignedBytevEXT(GL_DRIVER_UUID_EXT, driver.as_mut_ptr());
            (device, driver)
        });
        let memory = has("GL_EXT_memory_object_fd").then(|| MemoryFunctions::load(&find).ok()).flatten();
        functions.glPixelStorei(GL_PACK_ALIGNMENT, 1);
        functions.glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
        // Compatibility profiles clamp colours, also signed normalised ones. Core profiles have no such state.
        if let Some(desktop) = &desktop {
            desktop.glClampColor(GL_CLAMP_FRAGMENT_COLOR, 0);
        }
        let samples = DrawFunctions::load(&find).ok().map(SampleReader::new);
        let gl = Self {
            functions: Arc::new(functions),
            levels,
            desktop,
            egl_images,
            egl_syncs,
            samples,
            memory,
            uuids,
            imported: RefCell::default(),
            _context: context,
        };
        gl.discard_errors();
        Ok(gl)
    }

    /// Removes the errors of earlier calls.
    pub(super) fn discard_errors(&self) {
        // A lost context may report errors for ever.
        for _ in 0..16 {
            if self.functions.glGetError() == GL_NO_ERROR {
                break;
            }
        }
    }

    /// Returns the error of the calls since the last check.
    ///
    /// # Errors
    /// The first error of OpenGL.
    pub(super) fn check(&self, operation: &'static str) -> std::result::Result<(), GlError> {
        match self.functions.glGetError() {
            GL_NO_ERROR => Ok(()),
            code => {
                self.discard_errors();
                Err(GlError { code, operation })
            }
        }
    }

    /// Waits for a fence, and deletes it.
    fn wait_for_fence(&self, fence: usize) -> BackendResult<()> {
        let result = loop {
            match self.functions.glClientWaitSync(fence, 0, FENCE_TIMEOUT) {
                GL_TIMEOUT_EXPIRED => {}
                GL_WAIT_FAILED => break Err(BackendError::Other("the wait for OpenGL commands of the application failed".to_owned())),
                _ => break Ok(()),
            }
        };
        self.functions.glDeleteSync(fence);
        self.discard_errors();
        result
    }

    /// Whether a sync object is signalled. `None` if the wait failed, for example because the application has deleted
    /// the object.
    fn is_signalled(&self, sync: Sync) -> Option<bool> {
        let sync = match sync {
            Sync::Gl(sync) => sync,
            Sync::Egl { display, sync } => {
                let mut value = 0;
                let is_known = self.egl_syncs.as_ref()?.eglGetSyncAttrib(display, sync, EGL_SYNC_STATUS, &raw mut value) != 0;
                return is_known.then_some(value == EGL_SIGNALED);
            }
        };
        if self.functions.glIsSync(sync) == 0 {
            return None;
        }
        match self.functions.glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, 0) {
            GL_TIMEOUT_EXPIRED => Some(false),
            GL_WAIT_FAILED => None,
            _ => Some(true),
        }
    }
}

/// Returns the major and minor version in GL_VERSION: `4.5 (Compatibility Profile) ...`, `OpenGL ES 3.2 ...`.
fn version_of(text: &str) -> (u32, u32) {
    let number = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut parts = number.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

fn extensions(functions: &GlFunctions) -> Vec<String> {
    let mut count = 0;
    functions.glGetIntegerv(GL_NUM_EXTENSIONS, &raw mut count);
    // SAFETY: the result is null or a string that ends with a zero.
    (0..count.max(0).cast_unsigned()).map(|index| unsafe { text(functions.glGetStringi(GL_EXTENSIONS, index)) }).collect()
}

/// A sync object of the application.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sync {
    Gl(usize),
    Egl { display: usize, sync: usize },
}

/// A sync object whose event the thread completes.
struct PendingSync {
    sync: Sync,
    event: Weak<Event>,
}

impl PendingSync {
    /// Whether the thread must poll the sync object again.
    fn is_pending(&self, gl: &Gl) -> bool {
        let Some(event) = self.event.upgrade() else { return false };
        match gl.is_signalled(self.sync) {
            Some(false) => return true,
            Some(true) => event.complete_sync(Status::COMPLETE),
            None => event.complete_sync(Status(Error::InvalidGlObject("".into()).code())),
        }
        false
    }
}

/// The connections of the process.
static CONNECTIONS: Mutex<Vec<Weak<Connection>>> = Mutex::new(Vec::new());

/// The exit handler.
extern "C" fn delete_imported_memory() {
    let connections = CONNECTIONS.try_lock_for(EXIT_TIMEOUT).map(|mut connections| std::mem::take(&mut *connections));
    let alive = connections.unwrap_or_default();
    for connection in alive.iter().filter_map(Weak::upgrade).filter(|connection| connection.process == std::process::id()) {
        let (reply, done) = channel();
        let delete = move |worker: &mut Worker| {
            imported::delete_all(&worker.gl);
            let _ = reply.send(());
        };
        if connection.facts.imports_memory && connection.send(Box::new(delete)).is_ok() {
            let _ = done.recv_timeout(EXIT_TIMEOUT);
        }
        // Its destructor would wait for the thread.
        std::mem::forget(connection);
    }
}

type Job = Box<dyn FnOnce(&mut Worker) + Send>;

/// The state of the thread.
struct Worker {
    gl: Gl,
    pending: Vec<PendingSync>,
}

impl Worker {
    fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            let job = if self.pending.is_empty() {
                jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                jobs.recv_timeout(POLL_INTERVAL)
            };
            match job {
                Ok(job) => job(&mut self),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let gl = &self.gl;
            self.pending.retain(|pending| pending.is_pending(gl));
        }
    }
}

/// Facts about the thread's context.
#[derive(Clone, Copy, Debug)]
struct Facts {
    uuids: Option<([u8; 16], [u8; 16])>,
    has_egl_images: bool,
    /// Whether it can import memory by file descriptors.
    imports_memory: bool,
}

/// A connection to a context of OpenGL.
pub(crate) struct Connection {
    share: Share,
    api: Arc<Api>,
    functions: Arc<GlFunctions>,
    facts: Facts,
    /// `None` after the connection was closed.
    jobs: Mutex<Option<Sender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    thread_id: ThreadId,
    /// The process that has the thread. A forked child does not have it.
    process: u32,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("share", &self.share).finish_non_exhaustive()
    }
}

impl Connection {
    /// Creates a context that shares its objects with `share`, and its thread.
    ///
    /// # Errors
    /// The errors of clCreateContext for an invalid context of OpenGL.
    pub(super) fn open(share: Share) -> Result<Arc<Self>> {
        let api = Arc::new(Api::load(share.system)?);
        let (jobs, received) = channel::<Job>();
        let (ready, opened) = channel();
        let own = api.clone();
        let work = move || {
            let gl = OwnContext::create(&own, share).and_then(|context| Gl::new(&own, context));
            match gl {
                Ok(gl) => {
                    let facts = Facts { uuids: gl.uuids, has_egl_images: gl.egl_images.is_some(), imports_memory: gl.memory.is_some() };
                    let _ = ready.send(Ok((gl.functions.clone(), facts)));
                    Worker { gl, pending: Vec::new() }.run(&received);
                }
                Err(error) => drop(ready.send(Err(error))),
            }
        };
        let thread = std::thread::Builder::new().name("wgcl OpenGL".to_owned()).spawn(work);
        let thread = thread.map_err(|error| Error::OutOfHostMemory(format!("cannot create a thread for OpenGL: {error}").into()))?;
        let (functions, facts) = opened.recv().map_err(|_| not_shareable("the thread for OpenGL ended"))??;
        let thread_id = thread.thread().id();
        let (jobs, thread) = (Mutex::new(Some(jobs)), Mutex::new(Some(thread)));
        let connection = Arc::new(Self { share, api, functions, facts, jobs, thread, thread_id, process: std::process::id() });
        // The driver is loaded, so its exit handler runs after this one.
        static ONCE: Once = Once::new();
        ONCE.call_once(|| at_exit(delete_imported_memory));
        let mut connections = CONNECTIONS.lock();
        connections.retain(|other| other.strong_count() > 0);
        connections.push(Arc::downgrade(&connection));
        Ok(connection)
    }

    fn send(&self, job: Job) -> BackendResult<()> {
        let lost = || BackendError::Other("the connection to OpenGL is closed".to_owned());
        self.jobs.lock().as_ref().ok_or_else(lost)?.send(job).map_err(|_| lost())
    }

    /// Runs a function on the thread of the connection, and returns its result.
    ///
    /// # Errors
    /// If the thread has ended.
    pub(super) fn call<R: Send + 'static>(&self, function: impl FnOnce(&Gl) -> R + Send + 'static) -> BackendResult<R> {
        let (reply, result) = channel();
        self.send(Box::new(move |worker: &mut Worker| {
            worker.gl.discard_errors();
            let _ = reply.send(function(&worker.gl));
        }))?;
        result.recv().map_err(|_| BackendError::Other("the thread for OpenGL ended".to_owned()))
    }

    /// Runs a function on the thread of the connection, and does not wait for it.
    pub(super) fn post(&self, function: impl FnOnce(&Gl) + Send + 'static) {
        // Without the thread there is no context, and no object that the function could change.
        let _ = self.send(Box::new(move |worker: &mut Worker| function(&worker.gl)));
    }

    /// Whether a sync object exists.
    pub(super) fn is_sync(&self, sync: Sync) -> bool {
        self.call(move |gl| gl.is_signalled(sync).is_some()).unwrap_or(false)
    }

    /// Completes an event when a sync object is signalled.
    pub(super) fn complete_after(&self, sync: Sync, event: &Arc<Event>) -> BackendResult<()> {
        let event = Arc::downgrade(event);
        self.send(Box::new(move |worker: &mut Worker| worker.pending.push(PendingSync { sync, event })))
    }

    /// Whether the connection is one to an EGL display, and can bind EGL images to textures.
    pub(super) fn is_of_egl(&self, display: usize) -> bool {
        self.share.system == WindowSystem::Egl && self.share.display == display && self.facts.has_egl_images
    }

    /// The UUID of the device, if the driver reports it.
    pub(super) fn device_uuid(&self) -> Option<[u8; 16]> {
        self.facts.uuids.map(|(device, _)| device)
    }

    /// The UUIDs of the device and of the driver, if the context can import memory of the device.
    pub(super) fn importing_device(&self) -> Option<([u8; 16], [u8; 16])> {
        self.facts.uuids.filter(|_| self.facts.imports_memory)
    }

    /// Whether a context is current on the calling thread.
    pub(super) fn is_current(&self) -> bool {
        self.share.context != 0 && self.api.current_context() != 0
    }

    /// Waits for the commands of the context that is current on the calling thread. Another context can then use their
    /// results.
    pub(super) fn finish_application(&self) {
        if self.is_current() {
            self.functions.glFinish();
        }
    }

    /// Submits the commands of the context that is current on the calling thread.
    pub(super) fn flush_application(&self) {
        if self.is_current() {
            self.functions.glFlush();
        }
    }

    /// Makes later copies wait for the commands of the context that is current on the calling thread. Returns a
    /// function that waits for them, or waits for them itself.
    pub(super) fn fence(self: &Arc<Self>) -> Option<Box<dyn FnOnce() -> BackendResult<()> + Send>> {
        if self.api.current_context() != self.share.context || self.share.context == 0 {
            // The thread of the connection can wait only for a fence of a context that shares its objects. It is not
            // known whether this context does.
            self.finish_application();
            return None;
        }
        let fence = self.functions.glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        if fence == 0 {
            self.functions.glFinish();
            return None;
        }
        self.functions.glFlush();
        let connection = self.clone();
        Some(Box::new(move || connection.call(move |gl| gl.wait_for_fence(fence))?))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.jobs.lock().take();
        // The context of the application can be destroyed only after the context of the thread. The last reference may
        // be that of a job of the thread, which cannot wait for itself.
        if std::thread::current().id() != self.thread_id
            && let Some(thread) = self.thread.lock().take()
        {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::version_of;

    #[test]
    fn versions_are_parsed() {
        assert_eq!(version_of("4.5 (Compatibility Profile) Mesa 22.3.6"), (4, 5));
        assert_eq!(version_of("OpenGL ES 3.2 Mesa 22.3.6"), (3, 2));
        assert_eq!(version_of("3.3.0 NVIDIA 535.183"), (3, 3));
        assert_eq!(version_of(""), (0, 0));
    }
}
