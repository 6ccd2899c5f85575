//! A program on a device: pipelines by kernel and launch key, and the memory of its constants and variables.

use std::any::Any;
use std::collections::hash_map::Entry;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use wgcl_api::backend::{BackendError, BackendResult, KernelUsage, LoadedProgram};
use wgcl_api::dump;
use wgcl_compiler::emit::Shader;
use wgcl_compiler::ir;
use wgcl_compiler::launch::{LaunchError, LaunchKey};
use wgcl_compiler::passes::group_blind;
use wgcl_compiler::specialise;
use wgcl_compiler::stored::{History, Launched};

use crate::gpu::Gpu;
use crate::memory::WgpuMemory;
use crate::pipeline::Pipeline;
use crate::shelf::Shelf;
use crate::workers::{self, Urgency};

/// Makes the shader of a kernel for a launch key. The compiler's, but for tests.
pub(crate) type Specialise = dyn Fn(&str, &LaunchKey) -> BackendResult<Shader> + Send + Sync;

/// A kernel's name, parameters, required work-group size, and whether it does not see its work-groups.
pub(crate) type KernelFacts = (String, Vec<ir::KernelParam>, Option<[u32; 3]>, bool);

/// The place of a pipeline.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub(crate) made: OnceLock<BackendResult<Arc<Pipeline>>>,
    /// The program's history has it, or should not.
    pub(crate) noted: AtomicBool,
}

pub(crate) type Slot = Arc<Place>;

/// A kernel and its pipelines.
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) params: Vec<ir::KernelParam>,
    required: Option<[u32; 3]>,
    /// Whether it cannot tell how its work-items are grouped.
    pub(crate) group_blind: bool,
    variants: Mutex<FxHashMap<LaunchKey, Slot>>,
    usage: OnceLock<BackendResult<KernelUsage>>,
    /// A shader that the next launch may want.
    tried: Mutex<Option<Tried>>,
    ready: AtomicBool,
    /// Somebody makes it in the background for a launch.
    claimed: AtomicBool,
    /// Somebody finds out what `coarse` will say.
    pub(crate) settling: Mutex<()>,
    /// Work-items that an invocation stands for in the end, by the number that it may stand for.
    pub(crate) coarse: Mutex<FxHashMap<u32, u32>>,
}

impl Kernel {
    /// Whether it has been made for a launch: then others like it take no time.
    pub(crate) fn is_ready(&self) -> bool {
        let is_ready = || self.ready.load(Ordering::Relaxed);
        if !is_ready() && self.variants.lock().values().any(|slot| slot.made.get().is_some()) {
            self.ready.store(true, Ordering::Relaxed);
        }
        is_ready()
    }

    /// Claims it for being made in the background; whether somebody has before.
    pub(crate) fn claim(&self) -> bool {
        self.claimed.swap(true, Ordering::Relaxed)
    }

    /// Keeps a shader for the next launch.
    fn keep_tried(&self, key: &LaunchKey, mut shader: Shader) {
        drop_naga(&mut shader);
        *self.tried.lock() = Some(Tried { key: key.clone(), shader });
    }

    /// The shader that was kept, if it is one for that key, or for all sizes of groups.
    fn take_tried(&self, key: &LaunchKey) -> Option<Shader> {
        let mut tried = self.tried.lock();
        let Tried { key: its_key, shader } = tried.as_ref()?;
        if common_key(key) != common_key(its_key) {
            return None;
        }
        if shader.any_local_size {
            let mut shader = shader.clone();
            shader.set_local_size(key.kernel.local_size);
            return Some(shader);
        }
        (*key == *its_key).then(|| tried.take().map(|tried| tried.shader)).flatten()
    }
}

/// A shader that was made for a launch, or for one that was thought likely.
struct Tried {
    key: LaunchKey,
    shader: Shader,
}

/// Launches of a program that its history holds.
const REMEMBERED: usize = 64;

/// A program on a device.
pub(crate) struct WgpuProgram {
    gpu: Arc<Gpu>,
    specialise: Box<Specialise>,
    kernels: FxHashMap<String, Arc<Kernel>>,
    /// `BindingSource::ConstantData`.
    pub(crate) constants: Option<Arc<WgpuMemory>>,
    /// `BindingSource::GlobalVariables`.
    pub(crate) variables: Option<Arc<WgpuMemory>>,
    /// What outlives the process.
    shelf: Option<Arc<Shelf>>,
    history: Mutex<History>,
}

impl fmt::Debug for WgpuProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WgpuProgram").field("kernels", &self.kernels.keys()).finish_non_exhaustive()
    }
}

/// Keeps a kernel's SPIR-V (or, for other devices, naga's IR) where the user wants it.
fn keep(kernel: &str, key: &LaunchKey, shader: &Shader) {
    if !dump::enabled() {
        return;
    }
    let [x, y, z] = key.kernel.local_size;
    let name = format!("{}-{kernel}-{x}x{y}x{z}", dump::prefix());
    match &shader.spirv {
        Some(words) => dump::write(&format!("{name}.spv"), &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>()),
        None => dump::write(&format!("{name}.naga"), format!("{:#?}\n", shader.naga).as_bytes()),
    }
}

impl WgpuProgram {
    /// Of a module of the compiler's.
    pub(crate) fn from_module(gpu: Arc<Gpu>, module: Arc<ir::Module>, shelf: Arc<Shelf>) -> Self {
        let kernels: Vec<KernelFacts> = (0..)
            .map(ir::Func)
            .zip(&module.functions)
            .filter_map(|(func, function)| {
                let kernel = function.kernel.as_ref()?;
                let blind = group_blind(&module, func);
                Some((function.name.clone(), kernel.params.clone(), kernel.reqd_work_group_size, blind))
            })
            .collect();
        let blind: FxHashSet<String> = kernels.iter().filter(|(.., blind)| *blind).map(|(name, ..): &KernelFacts| name.clone()).collect();
        let place = Arc::clone(&shelf);
        let specialise = move |kernel: &str, key: &LaunchKey| {
            // One shader is kept for all sizes of groups where it can be.
            let common = blind.contains(kernel).then(|| common_key(key));
            let found = common.as_ref().and_then(|common| shelf.find(kernel, common)).filter(|shader| shader.any_local_size);
            if let Some(mut shader) = found.or_else(|| shelf.find(kernel, key)) {
                shader.set_local_size(key.kernel.local_size);
                keep(kernel, key, &shader);
                return Ok(shader);
            }
            // naga's writers can panic on what they do not know.
            let made = catch_unwind(AssertUnwindSafe(|| specialise::specialise(&module, kernel, key, shelf.target()))).map_or_else(
                |payload| {
                    let message = payload
                        .downcast_ref::<String>()
                        .map(String::as_str)
                        .or_else(|| payload.downcast_ref::<&str>().copied())
                        .unwrap_or("unknown")
                        .to_owned();
                    Err(BackendError::Launch(LaunchError::Internal { kernel: kernel.to_owned(), stage: "emission", message }))
                },
                |result| result.inspect(|shader| keep(kernel, key, shader)).map_err(BackendError::from),
            );
            if let Ok(shader) = &made {
                shelf.keep(kernel, common.as_ref().filter(|_| shader.any_local_size).unwrap_or(key), shader);
            }
            made
        };
        Self { shelf: Some(place), ..Self::new(gpu, kernels, Box::new(specialise)) }
    }

    /// Of kernels whose shaders come from anywhere.
    pub(crate) fn new(gpu: Arc<Gpu>, kernels: Vec<KernelFacts>, specialise: Box<Specialise>) -> Self {
        let kernels = kernels
            .into_iter()
            .map(|(name, params, required, group_blind)| {
                let kernel = Kernel {
                    name: name.clone(),
                    params,
                    required,
                    group_blind,
                    variants: Mutex::default(),
                    usage: OnceLock::new(),
                    tried: Mutex::new(None),
                    ready: AtomicBool::new(false),
                    claimed: AtomicBool::new(false),
                    settling: Mutex::new(()),
                    coarse: Mutex::default(),
                };
                (name, Arc::new(kernel))
            })
            .collect();
        Self { gpu, specialise, kernels, constants: None, variables: None, shelf: None, history: Mutex::default() }
    }

    /// A kernel by its name.
    pub(crate) fn kernel(&self, name: &str) -> BackendResult<&Arc<Kernel>> {
        self.kernels.get(name).ok_or_else(|| BackendError::Launch(LaunchError::NoKernel(name.to_owned())))
    }

    /// The pipeline for a launch, if it has been made.
    pub(crate) fn made(&self, kernel: &Kernel, key: &LaunchKey) -> Option<BackendResult<Arc<Pipeline>>> {
        let variants = kernel.variants.lock();
        let slot = variants.get(key)?;
        let made = slot.made.get()?.clone();
        if !slot.noted.load(Ordering::Relaxed) {
            let slot = Arc::clone(slot);
            drop(variants);
            self.note(&slot, kernel, key);
        }
        Some(made)
    }

    /// For how many work-items an invocation stands in the shader for a key, which is then kept for the pipeline.
    pub(crate) fn try_coarse(&self, kernel: &Kernel, key: &LaunchKey) -> BackendResult<u32> {
        if let Some(made) = self.made(kernel, key) {
            return made.map(|pipeline| pipeline.coarse);
        }
        let shader = self.shader(kernel, key)?;
        let coarse = shader.coarse;
        kernel.keep_tried(key, shader);
        Ok(coarse)
    }

    /// Makes the pipeline for a launch that will come.
    pub(crate) fn make(&self, kernel: &Kernel, key: &LaunchKey) -> BackendResult<Arc<Pipeline>> {
        let slot = Arc::clone(kernel.variants.lock().entry(key.clone()).or_default());
        self.fill(&slot, kernel, key)
    }

    /// How many pipelines there are.
    pub(crate) fn pipelines(&self) -> usize {
        self.kernels.values().map(|kernel| kernel.variants.lock().len()).sum()
    }

    /// The pipeline for a launch. Compiles if it was not wanted before; who comes second waits for the first.
    pub(crate) fn pipeline(&self, kernel: &Kernel, key: &LaunchKey) -> BackendResult<Arc<Pipeline>> {
        let slot = Arc::clone(kernel.variants.lock().entry(key.clone()).or_default());
        let made = self.fill(&slot, kernel, key);
        self.note(&slot, kernel, key);
        made
    }

    /// Begins to make the pipeline for a launch in the background, unless somebody has.
    pub(crate) fn prepare(self: &Arc<Self>, kernel: &Arc<Kernel>, key: LaunchKey, urgency: Urgency) {
        let slot = match kernel.variants.lock().entry(key.clone()) {
            Entry::Occupied(_) => return,
            Entry::Vacant(place) => Arc::clone(place.insert(Slot::default())),
        };
        let (program, kernel) = (Arc::downgrade(self), Arc::clone(kernel));
        workers::spawn(urgency, move || {
            // The launch reports what goes wrong, should it come.
            if let Some(Err(error)) = program.upgrade().map(|program| program.fill(&slot, &kernel, &key)) {
                tracing::debug!("{}: {error}", kernel.name);
            }
        });
    }

    /// Takes over what was begun before it was loaded.
    pub(crate) fn take_over(&mut self, history: History, slots: Vec<Slot>) {
        for (name, local_memory, private_memory) in &history.needs {
            if let Some(kernel) = self.kernels.get(name) {
                let _ = kernel.usage.set(Ok(KernelUsage { local_memory: *local_memory, private_memory: *private_memory }));
            }
        }
        for (name, most, count) in &history.coarse {
            if let Some(kernel) = self.kernels.get(name) {
                kernel.coarse.lock().insert(*most, *count);
            }
        }
        for (Launched { kernel, key, .. }, slot) in history.launches.iter().zip(slots) {
            if let Some(kernel) = self.kernels.get(kernel) {
                kernel.variants.lock().insert(key.clone(), slot);
            }
        }
        *self.history.get_mut() = history;
    }

    /// Notes in the history that a pipeline was wanted.
    fn note(&self, slot: &Place, kernel: &Kernel, key: &LaunchKey) {
        if slot.noted.swap(true, Ordering::Relaxed) {
            return;
        }
        let (Some(shelf), Some(Ok(pipeline))) = (&self.shelf, slot.made.get()) else { return };
        let any_size = pipeline.any_local_size;
        let history = {
            let mut history = self.history.lock();
            history.launches.push(Launched { kernel: kernel.name.clone(), key: key.clone(), any_size });
            if history.launches.len() > REMEMBERED {
                history.launches.remove(0);
            }
            let known = self.kernels.values().filter_map(|kernel| Some((kernel, kernel.usage.get()?.as_ref().ok()?)));
            history.needs = known.map(|(kernel, usage)| (kernel.name.clone(), usage.local_memory, usage.private_memory)).collect();
            history.coarse.clear();
            for kernel in self.kernels.values() {
                history.coarse.extend(kernel.coarse.lock().iter().map(|(most, count)| (kernel.name.clone(), *most, *count)));
            }
            history.clone()
        };
        shelf.keep_history(&history);
    }

    fn fill(&self, slot: &Slot, kernel: &Kernel, key: &LaunchKey) -> BackendResult<Arc<Pipeline>> {
        let make = || {
            let shader = self.shader(kernel, key)?;
            Pipeline::new(&self.gpu, shader, key.kernel.local_size).map(Arc::new)
        };
        let made = slot.made.get_or_init(make).clone();
        kernel.ready.store(true, Ordering::Relaxed);
        made
    }

    /// Makes a shader, unless the last one will do.
    fn shader(&self, kernel: &Kernel, key: &LaunchKey) -> BackendResult<Shader> {
        if let Some(shader) = kernel.take_tried(key) {
            return Ok(shader);
        }
        let mut shader = (self.specialise)(&kernel.name, key)?;
        drop_naga(&mut shader);
        if shader.any_local_size {
            kernel.keep_tried(key, shader.clone());
        }
        Ok(shader)
    }

    /// The key of a launch as it probably comes.
    fn probable_key(&self, kernel: &Kernel, local_size: [u32; 3]) -> LaunchKey {
        let function = ir::Function {
            kernel: Some(ir::Kernel { params: kernel.params.clone(), reqd_work_group_size: kernel.required, coarse: 0 }),
            ..ir::Function::new("", ir::Type::Void)
        };
        let mut key = LaunchKey::example(&function, local_size);
        key.binding.distinct = true;
        if self.gpu.approach.texels {
            let is_memory = |param: &ir::KernelParam| matches!(param, ir::KernelParam::Buffer { .. } | ir::KernelParam::Image);
            key.binding.texel_args = (0..).zip(&kernel.params).filter(|(_, param)| is_memory(param)).map(|(index, _)| index).collect();
        }
        key
    }
}

/// Frees what nobody asks for where there is SPIR-V.
fn drop_naga(shader: &mut Shader) {
    if shader.spirv.is_some() {
        shader.naga = wgpu::naga::Module::default();
    }
}

/// The key that stands for those which differ in the size of groups only.
pub(crate) fn common_key(key: &LaunchKey) -> LaunchKey {
    key.clone().changed(|key| {
        key.kernel.local_size = [1; 3];
        key.kernel.enqueued_local_size = [1; 3];
    })
}

/// A program as the API holds it.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) program: Arc<WgpuProgram>,
}

impl LoadedProgram for Loaded {
    fn warm(&self, kernel: &str, local_size: [u32; 3]) {
        if let Ok(found) = self.program.kernel(kernel) {
            let key = self.program.probable_key(found, local_size);
            self.program.prepare(found, key, Urgency::Hint);
        }
    }

    fn kernel_usage(&self, kernel: &str) -> BackendResult<KernelUsage> {
        let kernel = self.program.kernel(kernel)?;
        let make = || {
            // A pipeline that exists already tells as well as any; none is made for this, for that is what takes long.
            let known = kernel.variants.lock().values().find_map(|slot| slot.made.get().and_then(|made| made.clone().ok()));
            let (local_memory, private_memory) = match known {
                Some(pipeline) => (pipeline.local_memory, pipeline.private_memory),
                None => {
                    let key = self.program.probable_key(kernel, [64, 1, 1]);
                    let shader = (self.program.specialise)(&kernel.name, &key)?;
                    let needs = (shader.local_memory, shader.private_memory);
                    kernel.keep_tried(&key, shader);
                    needs
                }
            };
            Ok(KernelUsage { local_memory, private_memory })
        };
        kernel.usage.get_or_init(make).clone()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
