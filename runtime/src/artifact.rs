//! What a backend has to say of its code.

use std::fmt;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wgcl_api::backend::{BackendResult, KernelUsage};

/// What a kernel is specialised to: tells its variants apart. Equal keys have equal serialised forms.
pub trait VariantKey: Clone + Eq + Hash + fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static> VariantKey for T {}

/// A kernel as the compiler made it for a key, before a machine has it. Cloning one is cheap, compared with making it.
pub trait Artifact: Clone + Send + Sync + Sized + 'static {
    /// What it is made for.
    type Key: VariantKey;

    /// Names the kind of artifact in the cache on disk: no two kinds have the same.
    const KIND: &'static str;

    /// The bytes that stand for it in another process; `None` where it cannot be kept.
    fn encode(&self) -> Option<Vec<u8>>;

    /// The artifact of these bytes, if they are one.
    fn decode(bytes: &[u8]) -> Option<Self>;

    /// What the kernel takes.
    fn usage(&self) -> KernelUsage;

    /// Whether it serves work-groups of all sizes, once [`Artifact::adapt`] has told it theirs.
    fn serves_any_group_size(&self) -> bool;

    /// Makes it one for the size of groups in `key`, which differs from its own in nothing else. Called only where it serves all sizes.
    fn adapt(&mut self, key: &Self::Key);

    /// The key that stands for all those which differ from `key` in the size of groups only.
    fn any_group_size(key: &Self::Key) -> Self::Key;

    /// Writes it where the user wants to see what is made (`WGCL_DUMP`), if he does.
    fn dump(&self, kernel: &str, key: &Self::Key) {
        let _ = (kernel, key);
    }
}

/// What runs kernels: a device with its driver, or the host.
pub trait Machine: Send + Sync + 'static {
    /// What the compiler makes for it.
    type Artifact: Artifact;
    /// What it makes of that: a pipeline, or a function in memory.
    type Executable: Send + Sync + 'static;

    /// Makes the artifact of a kernel executable. May take long.
    ///
    /// # Errors
    /// What the layers below report.
    fn load(&self, kernel: &str, artifact: Self::Artifact, key: &<Self::Artifact as Artifact>::Key) -> BackendResult<Self::Executable>;
}

/// The key of a machine's variants.
pub(crate) type KeyOf<M> = <<M as Machine>::Artifact as Artifact>::Key;
