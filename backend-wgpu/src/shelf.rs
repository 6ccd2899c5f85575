//! What the cache on disk has of a program: the shaders that were made for its launches, and which launches those were. So the next process
//! begins their pipelines when it builds the program, and not when it launches the kernels.

use std::sync::{Arc, OnceLock};

use wgcl_api::cache::{Cache, Key};
use wgcl_compiler::ir;
use wgcl_compiler::launch::{LaunchKey, Shader};
use wgcl_compiler::stored::{self, History};
use wgcl_compiler::target::Target;

/// The place of a program in the cache.
#[derive(Debug)]
pub(crate) struct Shelf {
    module: Arc<ir::Module>,
    target: Target,
    /// What stands for the module and the target; `None` where there is no such thing.
    identity: OnceLock<Option<Key>>,
    /// Whether that was known from the start: then it cost nothing.
    named: bool,
}

impl Shelf {
    /// `name` stands for the module, if the cache has it; otherwise it takes a hash of the whole to name it, which is made when it is first needed.
    pub(crate) fn new(module: Arc<ir::Module>, target: Target, name: Option<Key>) -> Self {
        let known = name.map(|name| {
            let parts = [b"program".as_slice(), stored::VERSION.as_bytes(), name.bytes(), &stored::identify_target(&target)];
            Some(Key::of(&parts))
        });
        let named = known.is_some();
        Self { module, target, identity: known.map_or_else(OnceLock::new, OnceLock::from), named }
    }

    pub(crate) fn module(&self) -> &ir::Module {
        &self.module
    }

    pub(crate) const fn target(&self) -> &Target {
        &self.target
    }

    fn place(&self, what: &[u8], rest: &[&[u8]]) -> Option<(&'static Cache, Key)> {
        let cache = Cache::get().filter(|_| self.target.spirv)?;
        let module = self.identity.get_or_init(|| {
            let bytes = stored::identify(&self.module, &self.target)?;
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
