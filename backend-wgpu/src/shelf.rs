//! What the cache on disk has of a program: the shaders that were made for its launches, and which launches those were. So the next process
//! begins their pipelines when it builds the program, and not when it launches the kernels: as soon as it has found the program in the cache, before the
//! rest of it is even read ([`Expected`]).

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use wgcl_api::cache::{Cache, Key};
use wgcl_compiler::emit::Shader;
use wgcl_compiler::ir;
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::stored::{self, History, Launched};
use wgcl_compiler::target::Target;

use crate::gpu::Gpu;
use crate::pipeline::Pipeline;
use crate::program::{Slot, common_key};
use crate::workers::{self, Urgency};

/// The place of a program in the cache.
#[derive(Debug)]
pub(crate) struct Shelf {
    /// `None` where the program has a name.
    module: Option<Arc<ir::Module>>,
    target: Target,
    /// What stands for the module and the target; `None` where there is no such thing.
    identity: OnceLock<Option<Key>>,
    /// Whether that was known from the start: then it cost nothing.
    named: bool,
}

impl Shelf {
    /// Of a program for which the name stands.
    pub(crate) fn named(name: Key, target: Target) -> Self {
        let parts = [b"program".as_slice(), stored::VERSION.as_bytes(), name.bytes(), &stored::identify_target(&target)];
        Self { module: None, identity: OnceLock::from(Some(Key::of(&parts))), target, named: true }
    }

    /// Of any program: a hash of the whole stands for it, which is made when it is first needed.
    pub(crate) fn of(module: Arc<ir::Module>, target: Target) -> Self {
        Self { module: Some(module), target, identity: OnceLock::new(), named: false }
    }

    pub(crate) const fn target(&self) -> &Target {
        &self.target
    }

    fn place(&self, what: &[u8], rest: &[&[u8]]) -> Option<(&'static Cache, Key)> {
        let cache = Cache::get().filter(|_| self.target.shaders.spirv)?;
        let module = self.identity.get_or_init(|| {
            let bytes = stored::identify(self.module.as_ref()?, &self.target)?;
            Some(Key::of(&[b"module", stored::VERSION.as_bytes(), &bytes]))
        });
        let parts: Vec<&[u8]> = [what, module.as_ref()?.bytes()].into_iter().chain(rest.iter().copied()).collect();
        Some((cache, Key::of(&parts)))
    }

    fn place_of_shader(&self, kernel: &str, key: &LaunchKey) -> Option<(&'static Cache, Key)> {
        self.place(b"shader", &[kernel.as_bytes(), &stored::identify_key(key)])
    }

    /// The shader of a kernel for a key.
    pub(crate) fn find(&self, kernel: &str, key: &LaunchKey) -> Option<Shader> {
        let (cache, key) = self.place_of_shader(kernel, key)?;
        stored::decode_shader(&cache.find(&key)?)
    }

    /// Keeps one.
    pub(crate) fn keep(&self, kernel: &str, key: &LaunchKey, shader: &Shader) {
        if let Some((cache, key)) = self.place_of_shader(kernel, key)
            && let Some(bytes) = stored::encode_shader(shader)
        {
            cache.keep(&key, &bytes);
        }
    }

    /// The launches of earlier processes. Nothing is kept of programs without a name.
    pub(crate) fn history(&self) -> Option<History> {
        let (cache, key) = self.place(b"history", &[]).filter(|_| self.named)?;
        stored::decode_history(&cache.find(&key)?)
    }

    /// Keeps the launches for later processes.
    pub(crate) fn keep_history(&self, history: &History) {
        if let Some((cache, key)) = self.place(b"history", &[]).filter(|_| self.named)
            && let Some(bytes) = stored::encode_history(history)
        {
            cache.keep(&key, &bytes);
        }
    }
}

/// A program that is going to be loaded.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) history: History,
    /// The pipelines of the history's launches, which are being made.
    pub(crate) slots: Vec<Slot>,
}

impl Expected {
    /// Begins with what earlier processes have launched of a program.
    pub(crate) fn new(gpu: &Arc<Gpu>, name: Key, target: &Target) -> Self {
        let shelf = Arc::new(Shelf::named(name, target.clone()));
        let history = shelf.history().unwrap_or_default();
        tracing::debug!("{} launches of earlier processes", history.launches.len());
        let begin = |launched: &Launched| {
            let slot = Slot::default();
            slot.noted.store(true, Ordering::Relaxed);
            let (gpu, shelf, place, launched) = (Arc::clone(gpu), Arc::clone(&shelf), Arc::downgrade(&slot), launched.clone());
            workers::spawn(Urgency::Hint, move || {
                // Who waits for the program has it; what is not on the shelf is made by the launch.
                let Some(slot) = place.upgrade() else { return };
                let Launched { kernel, key, any_size } = launched;
                let kept_as = if any_size { &common_key(&key) } else { &key };
                if let Some(mut shader) = shelf.find(&kernel, kept_as).filter(|shader| shader.any_local_size == any_size) {
                    shader.set_local_size(key.kernel.local_size);
                    slot.made.get_or_init(|| Pipeline::new(&gpu, shader, key.kernel.local_size).map(Arc::new));
                }
            });
            slot
        };
        let slots = history.launches.iter().map(begin).collect();
        Self { shelf, history, slots }
    }
}
