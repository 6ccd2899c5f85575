//! The traits that a backend implements for its code.

use std::fmt;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wgcl_api::backend::{BackendResult, KernelUsage};

/// Identifies a variant of a kernel. Equal keys have equal serialised forms.
pub trait VariantKey: Clone + Eq + Hash + fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static> VariantKey for T {}

/// A compiled kernel for one key, which is not loaded yet. Cloning an artifact is cheap compared with compiling the
/// kernel.
pub trait Artifact: Clone + Send + Sync + Sized + 'static {
    /// The key of the artifact's variant.
    type Key: VariantKey;

    /// The unique name of this kind of artifact in the keys of the disk cache.
    const KIND: &'static str;

    /// Serialises the artifact for the disk cache. Returns `None` if the artifact cannot be stored.
    fn encode(&self) -> Option<Vec<u8>>;

    /// Deserialises an artifact. Returns `None` if the bytes are invalid.
    fn decode(bytes: &[u8]) -> Option<Self>;

    /// Returns the amount of memory that the kernel uses.
    fn usage(&self) -> KernelUsage;

    /// Whether the artifact can run work-groups of any size, after a call of [`Artifact::adapt`].
    fn serves_any_group_size(&self) -> bool;

    /// Sets the local size of the artifact to that of `key`. The key of the artifact may differ from `key` only in the
    /// local size. Called only if the artifact can run work-groups of any size.
    fn adapt(&mut self, key: &Self::Key);

    /// Returns the common key of all keys that differ from `key` only in the local size.
    fn any_group_size(key: &Self::Key) -> Self::Key;

    /// Writes the artifact to the dump directory (`WGCL_DUMP_DIR`), if there is one.
    fn dump(&self, kernel: &str, key: &Self::Key) {
        let _ = (kernel, key);
    }
}

/// Runs kernels: a device with its driver, or the host.
pub trait Machine: Send + Sync + 'static {
    /// The compiler's output.
    type Artifact: Artifact;
    /// A loaded artifact: a pipeline, or a function in memory.
    type Executable: Send + Sync + 'static;

    /// Loads the artifact of a kernel. May take seconds.
    ///
    /// # Errors
    /// The errors of the driver or the system.
    fn load(&self, kernel: &str, artifact: Self::Artifact, key: &<Self::Artifact as Artifact>::Key) -> BackendResult<Self::Executable>;
}

/// The key of a machine's variants.
pub(crate) type KeyOf<M> = <<M as Machine>::Artifact as Artifact>::Key;
