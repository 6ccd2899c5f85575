//! The quality of service (QoS) of threads on macOS.
//!
//! macOS has no affinity masks. It chooses performance or efficiency cores for a thread from the thread's QoS class. A
//! new thread has the default class. The threads of the device get the class of the thread that starts them, because
//! the application waits for their work.

/// Number of processors that the process may use.
pub(crate) fn cores() -> usize {
    wgcl_compiler::parallel::cores()
}

/// The class of the calling thread, which a new thread gets.
pub(super) fn to_inherit() -> Option<Affinity> {
    let (mut class, mut priority) = (0u32, 0);
    // SAFETY: the class is an enumeration of 32 bits, and the call writes both values.
    let status = unsafe { libc::pthread_get_qos_class_np(libc::pthread_self(), (&raw mut class).cast(), &raw mut priority) };
    let classes = [
        libc::qos_class_t::QOS_CLASS_USER_INTERACTIVE,
        libc::qos_class_t::QOS_CLASS_USER_INITIATED,
        libc::qos_class_t::QOS_CLASS_DEFAULT,
        libc::qos_class_t::QOS_CLASS_UTILITY,
        libc::qos_class_t::QOS_CLASS_BACKGROUND,
    ];
    // A thread whose scheduling parameters were changed has no class.
    classes.into_iter().find(|&known| status == 0 && known as u32 == class).map(Affinity)
}

/// All processors, with the QoS class of a thread.
#[derive(Clone, Copy)]
pub(super) struct Affinity(libc::qos_class_t);

impl Affinity {
    /// Returns `None`, because a thread cannot be bound.
    pub(super) const fn of_this_thread() -> Option<Self> {
        None
    }

    pub(super) fn of(_: impl Iterator<Item = usize>) -> Self {
        Self(libc::qos_class_t::QOS_CLASS_DEFAULT)
    }

    pub(super) const fn processors(&self) -> Vec<usize> {
        Vec::new()
    }

    pub(super) fn set(&self) {
        // SAFETY: the call has no pointers.
        if unsafe { libc::pthread_set_qos_class_self_np(self.0, 0) } != 0 {
            tracing::debug!("cannot set the QoS class of a thread");
        }
    }
}
