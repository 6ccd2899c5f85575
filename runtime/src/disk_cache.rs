//! The disk cache of a program: the artifacts of its variants, and its launch history.
//!
//! With the history, the next process loads variants when it builds the program, before the first launch. Loading
//! starts as soon as the program is found in the cache, before its module is read
//! ([`PrefetchedProgram`](crate::PrefetchedProgram)).

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use wgcl_api::cache::{Cache, Key};
use wgcl_compiler::ir;
use wgcl_compiler::stored;
use wgcl_compiler::target::Target;

use crate::artifact::Artifact;
use crate::history::History;

/// The versions of the code that writes cache entries: the compiler writes artifacts, and this crate writes histories.
const WRITER: [&str; 2] = [stored::VERSION, env!("WGCL_RUNTIME_ID")];

/// The entries of a program in the disk cache.
pub struct ProgramCache<A> {
    /// The module and the target from which the identity is computed. `None` if the identity is given, or if the
    /// program is not cached.
    module: Option<(Arc<ir::Module>, Target)>,
    /// Identifies the module and the target. `None` if the program cannot be cached.
    identity: OnceLock<Option<Key>>,
    /// Whether the identity was given, so that no hash of the module is needed.
    is_named: bool,
    artifacts: PhantomData<fn() -> A>,
}

impl<A> fmt::Debug for ProgramCache<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramCache").field("is_named", &self.is_named).finish_non_exhaustive()
    }
}

impl<A: Artifact> ProgramCache<A> {
    /// Returns the entries of a program whose identity is given.
    pub fn named(name: Key, target: &Target) -> Self {
        let parts = [b"program".as_slice(), name.bytes(), &stored::identify_target(target)];
        Self { module: None, identity: OnceLock::from(Some(Key::of(&parts))), is_named: true, artifacts: PhantomData }
    }

    /// Returns the entries of a program without a given identity. The first use computes the identity, which is a hash
    /// of the module and the target.
    pub const fn of_module(module: Arc<ir::Module>, target: Target) -> Self {
        Self { module: Some((module, target)), identity: OnceLock::new(), is_named: false, artifacts: PhantomData }
    }

    /// Returns a cache that finds and stores nothing, for a program that is not cached.
    pub const fn empty() -> Self {
        Self { module: None, identity: OnceLock::new(), is_named: false, artifacts: PhantomData }
    }

    fn entry(&self, what: &str, rest: &[&[u8]]) -> Option<(&'static Cache, Key)> {
        let cache = Cache::get()?;
        let identity = self.identity.get_or_init(|| {
            let (module, target) = self.module.as_ref()?;
            Some(Key::of(&[b"module", &stored::identify(module, target)?]))
        });
        let [compiler, runtime] = WRITER.map(str::as_bytes);
        let parts = [what.as_bytes(), A::KIND.as_bytes(), compiler, runtime, identity.as_ref()?.bytes()];
        let parts: Vec<&[u8]> = parts.into_iter().chain(rest.iter().copied()).collect();
        Some((cache, Key::of(&parts)))
    }

    fn artifact_entry(&self, kernel: &str, key: &A::Key) -> Option<(&'static Cache, Key)> {
        self.entry("artifact", &[kernel.as_bytes(), &encode(key)?])
    }

    /// Returns the artifact of a kernel for a key, or `None` if the cache does not have it.
    pub(crate) fn find(&self, kernel: &str, key: &A::Key) -> Option<A> {
        let (cache, key) = self.artifact_entry(kernel, key)?;
        A::decode(&cache.find(&key)?)
    }

    /// Stores an artifact. Does nothing if it cannot be serialised, or if there is no disk cache.
    pub(crate) fn store(&self, kernel: &str, key: &A::Key, artifact: &A) {
        if let Some((cache, key)) = self.artifact_entry(kernel, key)
            && let Some(bytes) = artifact.encode()
        {
            cache.store(&key, &bytes);
        }
    }

    /// Returns the launch history of earlier processes. Programs without a given identity have none.
    pub(crate) fn history(&self) -> Option<History<A::Key>> {
        let (cache, key) = self.entry("history", &[]).filter(|_| self.is_named)?;
        postcard::from_bytes(&cache.find(&key)?).ok()
    }

    /// Stores the launch history for later processes. Does nothing for programs without a given identity.
    pub(crate) fn store_history(&self, history: &History<A::Key>) {
        if let Some((cache, key)) = self.entry("history", &[]).filter(|_| self.is_named)
            && let Some(bytes) = encode(history)
        {
            cache.store(&key, &bytes);
        }
    }
}

fn encode(value: &impl Serialize) -> Option<Vec<u8>> {
    postcard::to_stdvec(value).ok()
}
