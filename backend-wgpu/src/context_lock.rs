//! The lock for calls into wgpu on OpenGL ES.
//!
//! All threads share one OpenGL ES context, and wgpu-hal locks it in each call. wgpu-hal panics in a thread that waits
//! for longer than 6 seconds (`CONTEXT_LOCK_TIMEOUT_SECS` in its `gles/egl.rs`). Drivers may compile a shader, or
//! execute a kernel, for longer. Threads therefore first take this lock, which waits without limit.
//!
//! The destruction of objects also uses the context: [`Guarded`] objects take the lock. To prevent deadlocks, a thread
//! that holds this lock takes no other lock under which this crate calls wgpu.

use std::ops::Deref;

use parking_lot::{ReentrantMutex, ReentrantMutexGuard};

/// One lock for all devices, because they share the OpenGL ES context.
static CONTEXT: ReentrantMutex<()> = ReentrantMutex::new(());

/// The lock of a device, or nothing if its driver allows calls from several threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContextLock {
    is_needed: bool,
}

impl ContextLock {
    /// A lock that is never taken, for buffers of Vulkan devices.
    pub(crate) const NONE: Self = Self { is_needed: false };

    pub(crate) fn of(backend: wgpu::Backend) -> Self {
        Self { is_needed: backend == wgpu::Backend::Gl }
    }

    /// Waits until no other thread uses the context, and locks it. Returns `None` if the device needs no lock.
    pub(crate) fn lock(self) -> Option<ReentrantMutexGuard<'static, ()>> {
        self.is_needed.then(|| CONTEXT.lock())
    }

    pub(crate) const fn guard<T>(self, object: T) -> Guarded<T> {
        Guarded { object: Some(object), lock: self }
    }
}

/// A wgpu object that is destroyed while the context is locked.
#[derive(Clone, Debug)]
pub(crate) struct Guarded<T> {
    /// `None` only while this [`Guarded`] is dropped.
    object: Option<T>,
    lock: ContextLock,
}

impl<T> Deref for Guarded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.object.as_ref().unwrap_or_else(|| unreachable!("the object was destroyed"))
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        let _guard = self.lock.lock();
        self.object = None;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::ContextLock;

    struct Reports(std::sync::mpsc::Sender<&'static str>);

    impl Drop for Reports {
        fn drop(&mut self) {
            self.0.send("destroyed").expect("the receiver exists");
        }
    }

    #[test]
    fn objects_are_destroyed_after_the_calls_of_other_threads() {
        let lock = ContextLock::of(wgpu::Backend::Gl);
        let (sender, receiver) = channel();
        let object = lock.guard(Reports(sender.clone()));
        let outer = lock.lock();
        // The thread that has the lock may take it again.
        let inner = lock.lock();
        let thread = thread::spawn(move || drop(object));
        drop(inner);
        thread::sleep(std::time::Duration::from_millis(50));
        sender.send("unlocked").expect("the receiver exists");
        drop(outer);
        thread.join().expect("the thread ends");
        drop(sender);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), ["unlocked", "destroyed"]);
    }

    #[test]
    fn other_backends_take_no_lock() {
        assert!(ContextLock::of(wgpu::Backend::Vulkan).lock().is_none());
    }
}
