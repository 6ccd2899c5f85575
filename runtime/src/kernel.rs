//! A kernel and its variants.

use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use wgcl_api::backend::{BackendResult, KernelUsage};
use wgcl_compiler::ir::{Func, KernelParam, Module};
use wgcl_compiler::passes::{group_blind, reached_instructions};

use crate::artifact::{Artifact, KeyOf, Machine};

/// Instructions from which on a kernel is long: NVIDIA's Vulkan driver compiles 5,000 to 10,000 in a second.
const LONG: usize = 10_000;

/// What is known of a kernel before it is compiled.
#[derive(Clone, Debug)]
pub struct KernelFacts {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<KernelParam>,
    /// The only size of work-groups that it may be launched with, if it says so.
    pub required_group_size: Option<[u32; 3]>,
    /// Whether it cannot tell how its work-items are grouped.
    pub group_blind: bool,
    /// How many instructions it has, with those of the functions that it calls.
    pub instructions: usize,
}

impl KernelFacts {
    /// Those of all kernels of a module.
    pub fn of_module(module: &Module) -> Vec<Self> {
        let kernels = (0..).map(Func).zip(&module.functions).filter_map(|(func, function)| {
            let kernel = function.kernel.as_ref()?;
            Some(Self {
                name: function.name.clone(),
                params: kernel.params.clone(),
                required_group_size: kernel.reqd_work_group_size,
                group_blind: group_blind(module, func),
                instructions: reached_instructions(module, func),
            })
        });
        kernels.collect()
    }
}

/// What became of an artifact on the machine.
pub(crate) struct Loaded<E> {
    pub(crate) executable: Arc<E>,
    pub(crate) usage: KernelUsage,
    pub(crate) any_group_size: bool,
}

/// A variant, made or being made.
pub(crate) struct Variant<E> {
    /// Filled by the first who needs it, once and for all; others wait for him.
    pub(crate) loaded: OnceLock<BackendResult<Loaded<E>>>,
    /// A launch has asked for it, and the program's history has it.
    pub(crate) in_history: AtomicBool,
}

impl<E> Default for Variant<E> {
    fn default() -> Self {
        Self { loaded: OnceLock::new(), in_history: AtomicBool::new(false) }
    }
}

impl<E> Variant<E> {
    /// What a launch runs, once it is made.
    pub(crate) fn executable(&self) -> Option<BackendResult<Arc<E>>> {
        Some(match self.loaded.get()? {
            Ok(loaded) => Ok(Arc::clone(&loaded.executable)),
            Err(error) => Err(error.clone()),
        })
    }
}

/// An artifact that nothing was made of yet.
struct Spare<A: Artifact> {
    key: A::Key,
    artifact: A,
}

/// Variants by key.
type Variants<M> = FxHashMap<KeyOf<M>, Arc<Variant<<M as Machine>::Executable>>>;

/// A kernel and its variants.
pub struct Kernel<M: Machine> {
    facts: KernelFacts,
    variants: Mutex<Variants<M>>,
    pub(crate) usage: OnceLock<BackendResult<KernelUsage>>,
    /// The artifact that was made last, for the next variant. Filled by who wanted to know something of an artifact without running it, and where one serves
    /// groups of all sizes; taken by who makes a variant.
    spare: Mutex<Option<Spare<M::Artifact>>>,
    /// Some variant is made: then others like it take no time.
    is_ready: AtomicBool,
    /// A launch's variant is being made in the background.
    begun: AtomicBool,
    /// What was found out by making artifacts, by question.
    findings: Mutex<FxHashMap<u32, u32>>,
    /// Held by who is finding something out.
    finding_out: Mutex<()>,
}

impl<M: Machine> Kernel<M> {
    pub(crate) fn new(facts: KernelFacts) -> Self {
        Self {
            facts,
            variants: Mutex::default(),
            usage: OnceLock::new(),
            spare: Mutex::new(None),
            is_ready: AtomicBool::new(false),
            begun: AtomicBool::new(false),
            findings: Mutex::default(),
            finding_out: Mutex::new(()),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.facts.name
    }

    /// Its parameters.
    pub fn params(&self) -> &[KernelParam] {
        &self.facts.params
    }

    /// The only size of work-groups that it may be launched with, if it says so.
    pub const fn required_group_size(&self) -> Option<[u32; 3]> {
        self.facts.required_group_size
    }

    /// Whether it cannot tell how its work-items are grouped.
    pub const fn group_blind(&self) -> bool {
        self.facts.group_blind
    }

    /// Whether a driver's compiler may take seconds for it.
    pub const fn is_long(&self) -> bool {
        self.facts.instructions >= LONG
    }

    /// Whether it has been made for a launch: then others like it take no time.
    pub fn is_ready(&self) -> bool {
        let is_ready = || self.is_ready.load(Ordering::Relaxed);
        if !is_ready() && self.variants.lock().values().any(|variant| variant.loaded.get().is_some()) {
            self.set_ready();
        }
        is_ready()
    }

    pub(crate) fn set_ready(&self) {
        self.is_ready.store(true, Ordering::Relaxed);
    }

    /// Notes that somebody makes it in the background for a launch. Whether the caller is the first, and should.
    pub fn is_first_to_begin(&self) -> bool {
        !self.begun.swap(true, Ordering::Relaxed)
    }

    /// The answer to a question that only making artifacts answers, as `experiment` finds it if nobody has before. One thread at a time experiments. The program's
    /// history keeps answers for later processes. What the numbers mean is the backend's matter.
    ///
    /// # Errors
    /// Those of `experiment`.
    pub fn find_out(&self, question: u32, experiment: impl FnOnce() -> BackendResult<u32>) -> BackendResult<u32> {
        let known = || self.findings.lock().get(&question).copied();
        if let Some(answer) = known() {
            return Ok(answer);
        }
        let _one_at_a_time = self.finding_out.lock();
        if let Some(answer) = known() {
            return Ok(answer);
        }
        let answer = experiment()?;
        self.correct(question, answer);
        Ok(answer)
    }

    /// Replaces the answer to a question.
    pub fn correct(&self, question: u32, answer: u32) {
        self.findings.lock().insert(question, answer);
    }

    /// All questions and answers.
    pub(crate) fn findings(&self) -> Vec<(u32, u32)> {
        self.findings.lock().iter().map(|(question, answer)| (*question, *answer)).collect()
    }

    /// The variant of a key, if somebody has asked for it before.
    pub(crate) fn known_variant(&self, key: &KeyOf<M>) -> Option<Arc<Variant<M::Executable>>> {
        self.variants.lock().get(key).map(Arc::clone)
    }

    /// The variant of a key.
    pub(crate) fn variant(&self, key: &KeyOf<M>) -> Arc<Variant<M::Executable>> {
        Arc::clone(self.variants.lock().entry(key.clone()).or_default())
    }

    /// The variant of a key, if nobody has asked for it before.
    pub(crate) fn new_variant(&self, key: &KeyOf<M>) -> Option<Arc<Variant<M::Executable>>> {
        match self.variants.lock().entry(key.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(Arc::clone(place.insert(Arc::default()))),
        }
    }

    /// Takes a variant over that was begun before the kernel was there.
    pub(crate) fn adopt(&self, key: KeyOf<M>, variant: Arc<Variant<M::Executable>>) {
        self.variants.lock().insert(key, variant);
    }

    /// How many variants there are.
    pub(crate) fn count(&self) -> usize {
        self.variants.lock().len()
    }

    /// What a variant that is made takes.
    pub(crate) fn usage_of_any(&self) -> Option<KernelUsage> {
        self.variants.lock().values().find_map(|variant| variant.loaded.get()?.as_ref().ok().map(|loaded| loaded.usage))
    }

    /// Sets an artifact aside for the next variant.
    pub(crate) fn set_aside(&self, key: &KeyOf<M>, artifact: M::Artifact) {
        *self.spare.lock() = Some(Spare { key: key.clone(), artifact });
    }

    /// The artifact that was set aside, if it is one for that key, or for groups of all sizes; the latter stays for others.
    pub(crate) fn take_spare(&self, key: &KeyOf<M>) -> Option<M::Artifact> {
        let mut spare = self.spare.lock();
        let Spare { key: its_key, artifact } = spare.as_ref()?;
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
