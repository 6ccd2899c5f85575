//! What the cache on disk has of a program: the artifacts that were made for its launches, and which launches those were. So the next process begins its
//! variants when it builds the program, and not when it launches the kernels: as soon as it has found the program in the cache, before the rest of it is
//! even read ([`Expected`](crate::Expected)).

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

/// What wrote the entries: an artifact is the compiler's, a history this crate's.
const WRITER: [&str; 2] = [stored::VERSION, env!("WGCL_RUNTIME_ID")];

/// The place of a program in the cache.
pub struct Shelf<A> {
    /// What the identity is made of, where it is not known yet.
    module: Option<(Arc<ir::Module>, Target)>,
    /// What stands for the module and the target; `None` where there is no such thing.
    identity: OnceLock<Option<Key>>,
    /// Whether that was known from the start: then it cost nothing.
    is_named: bool,
    artifacts: PhantomData<fn() -> A>,
}

impl<A> fmt::Debug for Shelf<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf").field("is_named", &self.is_named).finish_non_exhaustive()
    }
}

impl<A: Artifact> Shelf<A> {
    /// Of a program for which a name stands.
    pub fn named(name: Key, target: &Target) -> Self {
        let parts = [b"program".as_slice(), name.bytes(), &stored::identify_target(target)];
        Self { module: None, identity: OnceLock::from(Some(Key::of(&parts))), is_named: true, artifacts: PhantomData }
    }

    /// Of any program: a hash of the whole stands for it, which is made when it is first needed.
    pub const fn of_module(module: Arc<ir::Module>, target: Target) -> Self {
        Self { module: Some((module, target)), identity: OnceLock::new(), is_named: false, artifacts: PhantomData }
    }

    /// Of a program of which nothing is kept.
    pub const fn empty() -> Self {
        Self { module: None, identity: OnceLock::new(), is_named: false, artifacts: PhantomData }
    }

    fn place(&self, what: &str, rest: &[&[u8]]) -> Option<(&'static Cache, Key)> {
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

    fn place_of_artifact(&self, kernel: &str, key: &A::Key) -> Option<(&'static Cache, Key)> {
        self.place("artifact", &[kernel.as_bytes(), &encode(key)?])
    }

    /// The artifact of a kernel for a key.
    pub(crate) fn find(&self, kernel: &str, key: &A::Key) -> Option<A> {
        let (cache, key) = self.place_of_artifact(kernel, key)?;
        A::decode(&cache.find(&key)?)
    }

    /// Keeps one, where it can be kept.
    pub(crate) fn keep(&self, kernel: &str, key: &A::Key, artifact: &A) {
        if let Some((cache, key)) = self.place_of_artifact(kernel, key)
            && let Some(bytes) = artifact.encode()
        {
            cache.keep(&key, &bytes);
        }
    }

    /// The launches of earlier processes. Nothing is kept of programs without a name.
    pub(crate) fn history(&self) -> Option<History<A::Key>> {
        let (cache, key) = self.place("history", &[]).filter(|_| self.is_named)?;
        postcard::from_bytes(&cache.find(&key)?).ok()
    }

    /// Keeps the launches for later processes.
    pub(crate) fn keep_history(&self, history: &History<A::Key>) {
        if let Some((cache, key)) = self.place("history", &[]).filter(|_| self.is_named)
            && let Some(bytes) = encode(history)
        {
            cache.keep(&key, &bytes);
        }
    }
}

fn encode(value: &impl Serialize) -> Option<Vec<u8>> {
    postcard::to_stdvec(value).ok()
}
