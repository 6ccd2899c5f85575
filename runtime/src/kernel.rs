//! A kernel and its variants.
//!
//! The first request for a key creates the variant. One thread compiles the variant, and stores the result in its
//! `OnceLock`.

use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};
use rustc_hash::FxHashMap;
use wgcl_api::backend::{BackendResult, KernelUsage};
use wgcl_api::types::process;
use wgcl_compiler::ir::{Func, KernelParam, Module};
use wgcl_compiler::passes::{group_independent, reached_instructions};

use crate::artifact::{Artifact, KeyOf, Machine};

/// Minimum number of instructions of a long kernel. NVIDIA's Vulkan driver compiles 5,000 to 10,000 instructions per
/// second.
const LONG: usize = 10_000;

/// Facts about a kernel that are known before it is compiled.
#[derive(Clone, Debug)]
pub struct KernelFacts {
    pub name: String,
    pub params: Vec<KernelParam>,
    /// The attribute `reqd_work_group_size`, if the kernel has it.
    pub required_group_size: Option<[u32; 3]>,
    /// Whether the kernel's results are independent of the work-group size.
    pub group_independent: bool,
    /// Whether the kernel's buffers must be accessed by address.
    pub requires_addresses: bool,
    /// Number of instructions of the kernel, including those of the functions that it calls.
    pub instructions: usize,
}

impl KernelFacts {
    /// Returns the facts of every kernel of a module.
    pub fn of_module(module: &Module) -> Vec<Self> {
        let kernels = (0..).map(Func).zip(&module.functions).filter_map(|(func, function)| {
            let kernel = function.kernel.as_ref()?;
            Some(Self {
                name: function.name.clone(),
                params: kernel.params.clone(),
                required_group_size: kernel.reqd_work_group_size,
                group_independent: group_independent(module, func),
                requires_addresses: kernel.requires_addresses,
                instructions: reached_instructions(module, func),
            })
        });
        kernels.collect()
    }
}

/// A loaded artifact.
pub(crate) struct Loaded<E> {
    pub(crate) executable: Arc<E>,
    pub(crate) usage: KernelUsage,
    pub(crate) any_group_size: bool,
}

/// A variant that is compiled, is being compiled, or has only been requested.
pub(crate) struct Variant<E> {
    /// The result of compilation. The first thread that needs the result computes it, and other threads wait.
    pub(crate) loaded: OnceLock<BackendResult<Loaded<E>>>,
    /// Whether a launch has requested the variant, so that the program's history lists it.
    pub(crate) in_history: AtomicBool,
}

impl<E> Default for Variant<E> {
    fn default() -> Self {
        Self { loaded: OnceLock::new(), in_history: AtomicBool::new(false) }
    }
}

impl<E> Variant<E> {
    /// Returns the executable, or `None` if it is not loaded yet.
    pub(crate) fn executable(&self) -> Option<BackendResult<Arc<E>>> {
        Some(match self.loaded.get()? {
            Ok(loaded) => Ok(Arc::clone(&loaded.executable)),
            Err(error) => Err(error.clone()),
        })
    }
}

/// An artifact that is stored for a later variant, and is not loaded.
struct StoredArtifact<A: Artifact> {
    key: A::Key,
    artifact: A,
}

/// Variants by key.
type Variants<M> = FxHashMap<KeyOf<M>, Arc<Variant<<M as Machine>::Executable>>>;

/// A kernel and its variants.
pub struct Kernel<M: Machine> {
    facts: KernelFacts,
    variants: Mutex<Variants<M>>,
    /// Fork generation of the process that compiles the variants.
    generation: AtomicU32,
    pub(crate) usage: OnceLock<BackendResult<KernelUsage>>,
    /// The last artifact that was compiled only for an inspection or its memory usage, or that can run work-groups of
    /// any size. The next variant uses it if the keys match.
    spare: Mutex<Option<StoredArtifact<M::Artifact>>>,
    /// Whether the compilation of a variant has ended. Later variants that are similar then compile quickly.
    is_ready: AtomicBool,
    /// Whether a caller has claimed the background compilation for a launch.
    begun: AtomicBool,
    /// The results of measurements of artifacts, by key.
    measurements: Mutex<FxHashMap<u32, u32>>,
    /// A thread holds this lock during a measurement.
    measuring: Mutex<()>,
}

impl<M: Machine> Kernel<M> {
    pub(crate) fn new(facts: KernelFacts) -> Self {
        Self {
            facts,
            variants: Mutex::default(),
            generation: AtomicU32::new(process::generation()),
            usage: OnceLock::new(),
            spare: Mutex::new(None),
            is_ready: AtomicBool::new(false),
            begun: AtomicBool::new(false),
            measurements: Mutex::default(),
            measuring: Mutex::new(()),
        }
    }

    /// Locks the variants. In a forked child, removes variants that a thread of the parent was compiling, because no
    /// thread of the child completes them.
    fn variants(&self) -> MutexGuard<'_, Variants<M>> {
        let mut variants = self.variants.lock();
        let generation = process::generation();
        if self.generation.swap(generation, Ordering::Relaxed) != generation {
            variants.retain(|_, variant| variant.loaded.get().is_some());
        }
        variants
    }

    pub fn name(&self) -> &str {
        &self.facts.name
    }

    pub fn params(&self) -> &[KernelParam] {
        &self.facts.params
    }

    /// Whether the kernel's buffers must be accessed by address.
    pub const fn requires_addresses(&self) -> bool {
        self.facts.requires_addresses
    }

    /// Returns the attribute `reqd_work_group_size`, if the kernel has it.
    pub const fn required_group_size(&self) -> Option<[u32; 3]> {
        self.facts.required_group_size
    }

    /// Whether the kernel's results are independent of the work-group size.
    pub const fn group_independent(&self) -> bool {
        self.facts.group_independent
    }

    /// Whether a driver may need seconds to compile the kernel.
    pub const fn is_long(&self) -> bool {
        self.facts.instructions >= LONG
    }

    /// Whether the compilation of a variant has ended, possibly with an error. Later variants that are similar then
    /// compile quickly.
    pub fn is_ready(&self) -> bool {
        let is_ready = || self.is_ready.load(Ordering::Relaxed);
        if !is_ready() && self.variants().values().any(|variant| variant.loaded.get().is_some()) {
            self.set_ready();
        }
        is_ready()
    }

    pub(crate) fn set_ready(&self) {
        self.is_ready.store(true, Ordering::Relaxed);
    }

    /// Claims the background compilation for a launch. Returns true only to the first caller, which must start the
    /// compilation.
    pub fn claim_background_compilation(&self) -> bool {
        !self.begun.swap(true, Ordering::Relaxed)
    }

    /// Returns the value of a measurement of artifacts. Runs `experiment` if the value is unknown, on one thread at a
    /// time. The program's history keeps the value for later processes. The backend defines the meaning of key and
    /// value.
    ///
    /// # Errors
    /// The errors of `experiment`.
    pub fn measure_once(&self, key: u32, experiment: impl FnOnce() -> BackendResult<u32>) -> BackendResult<u32> {
        let cached = || self.measurements.lock().get(&key).copied();
        if let Some(value) = cached() {
            return Ok(value);
        }
        let _one_at_a_time = self.measuring.lock();
        if let Some(value) = cached() {
            return Ok(value);
        }
        let value = experiment()?;
        self.set_measurement(key, value);
        Ok(value)
    }

    /// Sets the value of a measurement.
    pub fn set_measurement(&self, key: u32, value: u32) {
        self.measurements.lock().insert(key, value);
    }

    /// Returns key and value of every measurement.
    pub(crate) fn measurements(&self) -> Vec<(u32, u32)> {
        self.measurements.lock().iter().map(|(key, value)| (*key, *value)).collect()
    }

    /// Returns the variant of a key, or `None` if it has not been requested before.
    pub(crate) fn known_variant(&self, key: &KeyOf<M>) -> Option<Arc<Variant<M::Executable>>> {
        self.variants().get(key).map(Arc::clone)
    }

    /// Returns the variant of a key. The first call creates it.
    pub(crate) fn variant(&self, key: &KeyOf<M>) -> Arc<Variant<M::Executable>> {
        Arc::clone(self.variants().entry(key.clone()).or_default())
    }

    /// Creates the variant of a key. Returns `None` if it has been requested before.
    pub(crate) fn new_variant(&self, key: &KeyOf<M>) -> Option<Arc<Variant<M::Executable>>> {
        match self.variants().entry(key.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(Arc::clone(place.insert(Arc::default()))),
        }
    }

    /// Adds a variant whose loading started before the kernel existed.
    pub(crate) fn adopt(&self, key: KeyOf<M>, variant: Arc<Variant<M::Executable>>) {
        self.variants().insert(key, variant);
    }

    /// Returns the number of variants.
    pub(crate) fn count(&self) -> usize {
        self.variants().len()
    }

    /// Returns the memory usage of any compiled variant, or `None` if no variant is compiled.
    pub(crate) fn usage_of_any(&self) -> Option<KernelUsage> {
        self.variants().values().find_map(|variant| variant.loaded.get()?.as_ref().ok().map(|loaded| loaded.usage))
    }

    /// Stores an artifact for the next variant.
    pub(crate) fn set_aside(&self, key: &KeyOf<M>, artifact: M::Artifact) {
        *self.spare.lock() = Some(StoredArtifact { key: key.clone(), artifact });
    }

    /// Returns the stored artifact if it has this key, and removes it. If the artifact can run work-groups of any size,
    /// the local size may differ. In this case, returns an adapted copy, and does not remove the artifact.
    pub(crate) fn take_spare(&self, key: &KeyOf<M>) -> Option<M::Artifact> {
        let mut spare = self.spare.lock();
        let StoredArtifact { key: its_key, artifact } = spare.as_ref()?;
        if M::Artifact::any_group_size(key) != M::Artifact::any_group_size(its_key) {
            return None;
        }
        if artifact.serves_any_group_size() {
            let mut artifact = artifact.clone();
            artifact.adapt(key);
            return Some(artifact);
        }
        (key == its_key).then(|| spare.take().map(|spare| spare.artifact)).flatten()
    }
}
