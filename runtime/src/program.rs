//! A program on a machine: its kernels, and the history of their launches.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use wgcl_api::backend::{BackendError, BackendResult, KernelUsage};
use wgcl_api::observe::trace;
use wgcl_compiler::address_space;
use wgcl_compiler::launch::LaunchError;

use crate::artifact::{Artifact, KeyOf, Machine};
use crate::disk_cache::ProgramCache;
use crate::history::{History, Launched};
use crate::kernel::{Kernel, KernelFacts, Loaded, Variant};
use crate::workers::{self, Urgency};

/// A function that compiles a kernel for a key.
pub type Compile<A> = dyn Fn(&str, &<A as Artifact>::Key) -> BackendResult<A> + Send + Sync;

/// The kernels of a program on a machine, and their launches.
pub struct Program<M: Machine> {
    machine: Arc<M>,
    compile: Box<Compile<M::Artifact>>,
    kernels: FxHashMap<String, Arc<Kernel<M>>>,
    /// `None` if the program is not cached.
    cache: Option<Arc<ProgramCache<M::Artifact>>>,
    /// The launches of this process and of earlier ones. When a launch requests a new variant, the history is extended
    /// and stored.
    history: Mutex<History<KeyOf<M>>>,
}

impl<M: Machine> fmt::Debug for Program<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("kernels", &self.kernels.keys()).finish_non_exhaustive()
    }
}

impl<M: Machine> Program<M> {
    /// Creates a program. `compile` compiles its kernels, and `cache` stores them.
    pub fn new(
        machine: Arc<M>,
        kernels: Vec<KernelFacts>,
        compile: Box<Compile<M::Artifact>>,
        cache: Option<Arc<ProgramCache<M::Artifact>>>,
    ) -> Self {
        let kernels = kernels.into_iter().map(|facts| (facts.name.clone(), Arc::new(Kernel::new(facts)))).collect();
        Self { machine, compile, kernels, cache, history: Mutex::default() }
    }

    /// Adds the variants and the history of a prefetch, which began before the program existed.
    pub fn adopt(&mut self, prefetched: PrefetchedProgram<M>) {
        let PrefetchedProgram { history, variants, .. } = prefetched;
        for (name, local_memory, private_memory) in &history.usage {
            if let Some(kernel) = self.kernels.get(name) {
                let _ = kernel.usage.set(Ok(KernelUsage { local_memory: *local_memory, private_memory: *private_memory }));
            }
        }
        for (name, key, value) in &history.measurements {
            if let Some(kernel) = self.kernels.get(name) {
                kernel.set_measurement(*key, *value);
            }
        }
        for (Launched { kernel, key, .. }, variant) in history.launches.iter().zip(variants) {
            if let Some(kernel) = self.kernels.get(kernel) {
                kernel.adopt(key.clone(), variant);
            }
        }
        *self.history.get_mut() = history;
    }

    pub const fn machine(&self) -> &Arc<M> {
        &self.machine
    }

    /// Returns a kernel by its name.
    ///
    /// # Errors
    /// If the program has no kernel of that name.
    pub fn kernel(&self, name: &str) -> BackendResult<&Arc<Kernel<M>>> {
        self.kernels.get(name).ok_or_else(|| BackendError::Launch(LaunchError::NoKernel(name.to_owned())))
    }

    /// Returns the number of variants of all kernels.
    pub fn variant_count(&self) -> usize {
        self.kernels.values().map(|kernel| kernel.count()).sum()
    }

    /// Returns the executable for a key, or `None` if it is not loaded yet.
    pub fn loaded(&self, kernel: &Kernel<M>, key: &KeyOf<M>) -> Option<BackendResult<Arc<M::Executable>>> {
        let variant = kernel.known_variant(key)?;
        let executable = variant.executable()?;
        self.remember(&variant, kernel, key);
        Some(executable)
    }

    /// Returns the executable for a key. The first request compiles it. Concurrent requests wait.
    ///
    /// # Errors
    /// The errors of the compiler and of the machine, which every later request for the key also returns. Also
    /// `OutOfHostMemory` if the address space is too small to compile. This error is not recorded, so a later request
    /// tries again.
    pub fn executable(&self, kernel: &Kernel<M>, key: &KeyOf<M>) -> BackendResult<Arc<M::Executable>> {
        let variant = kernel.variant(key);
        let executable = self.make(&variant, kernel, key);
        self.remember(&variant, kernel, key);
        executable
    }

    /// Compiles a variant for a later launch, on the calling thread.
    ///
    /// # Errors
    /// The errors of [`Program::executable`].
    pub fn compile_for_later(&self, kernel: &Kernel<M>, key: &KeyOf<M>) -> BackendResult<()> {
        self.make(&kernel.variant(key), kernel, key).map(drop)
    }

    /// Starts to compile a variant in the background, unless it has been requested before.
    pub fn compile_in_background(self: &Arc<Self>, kernel: &Arc<Kernel<M>>, key: KeyOf<M>, urgency: Urgency) {
        let Some(variant) = kernel.new_variant(&key) else { return };
        let (program, kernel) = (Arc::downgrade(self), Arc::clone(kernel));
        workers::spawn(urgency, move || {
            // Only log the error. A launch of the variant reports it.
            if let Some(Err(error)) = program.upgrade().map(|program| program.make(&variant, &kernel, &key)) {
                tracing::debug!("cannot compile kernel `{}` in the background: {error}", kernel.name());
            }
        });
    }

    /// Returns every kernel that was launched, with the key of its last new variant.
    pub fn last_keys(&self) -> Vec<(&Arc<Kernel<M>>, KeyOf<M>)> {
        let history = self.history.lock();
        let mut last = FxHashMap::default();
        last.extend(history.launches.iter().map(|launched| (launched.kernel.as_str(), &launched.key)));
        last.into_iter().filter_map(|(name, key)| Some((self.kernels.get(name)?, key.clone()))).collect()
    }

    /// Inspects the executable of a variant. If the variant is not loaded, inspects its artifact instead, and stores
    /// the artifact for the variant.
    ///
    /// # Errors
    /// The errors of the compiler, and of the machine if loading the variant has failed.
    pub fn inspect<T>(
        &self,
        kernel: &Kernel<M>,
        key: &KeyOf<M>,
        executable: impl FnOnce(&M::Executable) -> T,
        artifact: impl FnOnce(&M::Artifact) -> T,
    ) -> BackendResult<T> {
        if let Some(loaded) = self.loaded(kernel, key) {
            return loaded.map(|loaded| executable(&loaded));
        }
        let compiled = self.artifact(kernel, key)?;
        let result = artifact(&compiled);
        kernel.set_aside(key, compiled);
        Ok(result)
    }

    /// Returns the memory usage of a kernel, from any compiled variant. If no variant is compiled, uses an artifact for
    /// `probable_key` from the disk cache or the compiler. Does not load this artifact, because loading takes longer
    /// than compiling.
    ///
    /// # Errors
    /// The errors of the compiler.
    pub fn usage(&self, kernel: &Kernel<M>, probable_key: impl FnOnce() -> KeyOf<M>) -> BackendResult<KernelUsage> {
        let find = || match kernel.usage_of_any() {
            Some(usage) => Ok(usage),
            None => {
                let key = probable_key();
                let artifact = self.specialise(kernel, &key)?;
                let usage = artifact.usage();
                kernel.set_aside(&key, artifact);
                Ok(usage)
            }
        };
        kernel.usage.get_or_init(find).clone()
    }

    fn make(&self, variant: &Variant<M::Executable>, kernel: &Kernel<M>, key: &KeyOf<M>) -> BackendResult<Arc<M::Executable>> {
        // This error is not recorded, because the process may have more memory later.
        if variant.loaded.get().is_none() && !address_space::has_room_to_compile(0, workers::STACK) {
            return Err(BackendError::OutOfHostMemory);
        }
        let loaded = variant.loaded.get_or_init(|| load(&*self.machine, kernel.name(), self.artifact(kernel, key)?, key));
        kernel.set_ready();
        loaded.as_ref().map(|loaded| Arc::clone(&loaded.executable)).map_err(Clone::clone)
    }

    /// Returns an artifact for a key: the stored artifact if its key matches, or else a new one. If a new artifact can
    /// run work-groups of any size, stores it.
    fn artifact(&self, kernel: &Kernel<M>, key: &KeyOf<M>) -> BackendResult<M::Artifact> {
        if let Some(spare) = kernel.take_spare(key) {
            return Ok(spare);
        }
        let artifact = self.specialise(kernel, key)?;
        if artifact.serves_any_group_size() {
            kernel.set_aside(key, artifact.clone());
        }
        Ok(artifact)
    }

    /// Returns an artifact from the disk cache, or else compiles an artifact and stores it in the disk cache. The disk
    /// cache contains an artifact that can run work-groups of any size under the common key of all local sizes.
    fn specialise(&self, kernel: &Kernel<M>, key: &KeyOf<M>) -> BackendResult<M::Artifact> {
        let common = kernel.group_independent().then(|| M::Artifact::any_group_size(key));
        let find = |cache: &Arc<ProgramCache<M::Artifact>>| {
            let for_all = common.as_ref().and_then(|common| cache.find(kernel.name(), common));
            for_all.filter(M::Artifact::serves_any_group_size).or_else(|| cache.find(kernel.name(), key))
        };
        if let Some(mut artifact) = self.cache.as_ref().and_then(find) {
            if artifact.serves_any_group_size() {
                artifact.adapt(key);
            }
            artifact.dump(kernel.name(), key);
            return Ok(artifact);
        }
        let span = trace::build(|| format!("specialise kernel {}", kernel.name()), 0);
        let artifact = (self.compile)(kernel.name(), key)?;
        drop(span);
        artifact.dump(kernel.name(), key);
        if let Some(cache) = &self.cache {
            cache.store(kernel.name(), common.as_ref().filter(|_| artifact.serves_any_group_size()).unwrap_or(key), &artifact);
        }
        Ok(artifact)
    }

    /// Adds a launch to the history, if it is the first launch of the variant.
    fn remember(&self, variant: &Variant<M::Executable>, kernel: &Kernel<M>, key: &KeyOf<M>) {
        if variant.in_history.load(Ordering::Relaxed) || variant.in_history.swap(true, Ordering::Relaxed) {
            return;
        }
        let (Some(cache), Some(Ok(loaded))) = (&self.cache, variant.loaded.get()) else { return };
        let history = {
            let mut history = self.history.lock();
            history.push(Launched { kernel: kernel.name().to_owned(), key: key.clone(), any_group_size: loaded.any_group_size });
            let known = self.kernels.values().filter_map(|kernel| Some((kernel, kernel.usage.get()?.as_ref().ok()?)));
            history.usage = known.map(|(kernel, usage)| (kernel.name().to_owned(), usage.local_memory, usage.private_memory)).collect();
            history.measurements.clear();
            for kernel in self.kernels.values() {
                let measurements = kernel.measurements().into_iter();
                history.measurements.extend(measurements.map(|(key, value)| (kernel.name().to_owned(), key, value)));
            }
            history.clone()
        };
        cache.store_history(&history);
    }
}

/// Loads an artifact.
fn load<M: Machine>(machine: &M, kernel: &str, artifact: M::Artifact, key: &KeyOf<M>) -> BackendResult<Loaded<M::Executable>> {
    let (usage, any_group_size) = (artifact.usage(), artifact.serves_any_group_size());
    let _span = trace::build(|| format!("finish kernel {kernel}"), 0);
    machine.load(kernel, artifact, key).map(|executable| Loaded { executable: Arc::new(executable), usage, any_group_size })
}

/// Loads variants from the disk cache while the program itself is being loaded. The variants are those that earlier
/// processes launched.
pub struct PrefetchedProgram<M: Machine> {
    cache: Arc<ProgramCache<M::Artifact>>,
    history: History<KeyOf<M>>,
    /// The variants of the history's launches, in order.
    variants: Vec<Arc<Variant<M::Executable>>>,
}

impl<M: Machine> fmt::Debug for PrefetchedProgram<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrefetchedProgram").field("launches", &self.variants.len()).finish_non_exhaustive()
    }
}

impl<M: Machine> PrefetchedProgram<M> {
    /// Starts to load the variants that earlier processes launched.
    pub fn begin(machine: &Arc<M>, cache: Arc<ProgramCache<M::Artifact>>) -> Self {
        let history = cache.history().unwrap_or_default();
        tracing::debug!("the history lists {} launch keys of earlier processes", history.launches.len());
        Self::of_history(machine, cache, history)
    }

    pub(crate) fn of_history(machine: &Arc<M>, cache: Arc<ProgramCache<M::Artifact>>, history: History<KeyOf<M>>) -> Self {
        let begin = |launched: &Launched<KeyOf<M>>| {
            let variant = Arc::new(Variant { loaded: OnceLock::new(), in_history: AtomicBool::new(true) });
            let (machine, cache, place, launched) = (Arc::clone(machine), Arc::clone(&cache), Arc::downgrade(&variant), launched.clone());
            workers::spawn(Urgency::Hint, move || {
                // If the program failed to load, the variant no longer exists. If the artifact is not in the cache, a
                // launch compiles the variant.
                let Some(variant) = place.upgrade() else { return };
                let Launched { kernel, key, any_group_size } = launched;
                let stored_key = if any_group_size { &M::Artifact::any_group_size(&key) } else { &key };
                let found = cache.find(&kernel, stored_key).filter(|artifact| artifact.serves_any_group_size() == any_group_size);
                if let Some(mut artifact) = found {
                    if any_group_size {
                        artifact.adapt(&key);
                    }
                    variant.loaded.get_or_init(|| load(&*machine, &kernel, artifact, &key));
                }
            });
            variant
        };
        let variants = history.launches.iter().map(begin).collect();
        Self { cache, history, variants }
    }

    pub const fn cache(&self) -> &Arc<ProgramCache<M::Artifact>> {
        &self.cache
    }
}
