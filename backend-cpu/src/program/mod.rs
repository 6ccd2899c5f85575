//! Programs: kernels' variants as machine code, and the memory of constants and variables.

pub(crate) mod code;
mod fp_environment;
pub(crate) mod key;
mod perf_map;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rustc_hash::FxHashMap;
use wgcl_api::backend::{BackendError, BackendResult, KernelUsage, LoadedProgram, Memory};
use wgcl_api::observe::dump;
use wgcl_compiler::ir;
use wgcl_compiler::launch::{BindingKey, LaunchKey, LaunchResult};
use wgcl_compiler::layout::{ProgramData, ProgramPlaces, program_data_at, program_sizes};
use wgcl_compiler::printf::Table;
use wgcl_compiler::target::Target;
use wgcl_compiler::vectorize::abi::{ArgPlaces, NativeKernel};
use wgcl_compiler::vectorize::sanitize::AccessSite;
use wgcl_compiler::vectorize::{Style, assembly, compile, vector_ir};
use wgcl_runtime::workers::{STACK, Urgency};
use wgcl_runtime::{Artifact, Compile, Expected, KernelFacts, Machine, Program, Shelf, contained};

use crate::device::properties::isa_name;
use crate::memory::CpuMemory;
use crate::memory::host_allocation::Block;
use crate::ndrange;
use crate::program::code::Code;
use crate::program::key::Key;
use crate::sanitizer::report::Reports;

/// The processor, as what runs kernels.
pub(crate) struct Cpu {
    /// How kernels are made.
    pub(crate) style: Style,
    /// Makes an artifact callable.
    map: fn(&NativeKernel) -> BackendResult<Code>,
}

impl Cpu {
    /// That runs kernels of this style.
    pub(crate) fn new(style: Style) -> Arc<Self> {
        Arc::new(Self { style, map: Code::map })
    }

    /// With functions of Rust for code.
    #[cfg(test)]
    pub(crate) fn of_functions(map: fn(&NativeKernel) -> BackendResult<Code>) -> Arc<Self> {
        Arc::new(Self { style: Style::of(wgcl_codegen::Isa::Sse42), map })
    }
}

/// A kernel of the program.
pub(crate) type Kernel = wgcl_runtime::Kernel<Cpu>;

/// A kernel as the compiler made it.
#[derive(Clone, Debug)]
pub(crate) struct Native {
    pub(crate) kernel: Arc<NativeKernel>,
    /// What it was made of, for who keeps that.
    texts: Option<Arc<Texts>>,
}

/// A kernel for those who want to see it.
#[derive(Debug)]
struct Texts {
    vector: String,
    assembly: String,
}

impl Native {
    /// Without anything to see.
    pub(crate) fn new(kernel: NativeKernel) -> Self {
        Self { kernel: Arc::new(kernel), texts: None }
    }
}

impl Artifact for Native {
    type Key = Key;
    const KIND: &'static str = "cpu";

    fn encode(&self) -> Option<Vec<u8>> {
        // What makes text of what it prints is not kept.
        if self.kernel.prints || !self.kernel.sites.is_empty() { None } else { postcard::to_stdvec(&*self.kernel).ok() }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok().map(Self::new)
    }

    fn usage(&self) -> KernelUsage {
        KernelUsage { local_memory: self.kernel.local_memory, private_memory: self.kernel.private_memory }
    }

    fn serves_any_group_size(&self) -> bool {
        false
    }

    fn adapt(&mut self, _: &Key) {
        // It is made for one size.
    }

    fn any_group_size(key: &Key) -> Key {
        let mut key = key.clone();
        (key.kernel.local_size, key.kernel.enqueued_local_size) = ([1; 3], [1; 3]);
        key
    }

    fn dump(&self, kernel: &str, key: &Key) {
        if !dump::enabled() {
            return;
        }
        let [x, y, z] = key.kernel.local_size;
        let name = format!("{}-{kernel}-{x}x{y}x{z}", dump::prefix());
        dump::write(&format!("{name}.bin"), &self.kernel.code);
        if let Some(texts) = &self.texts {
            dump::write(&format!("{name}.vir"), texts.vector.as_bytes());
            dump::write(&format!("{name}.s"), texts.assembly.as_bytes());
        }
    }
}

/// A kernel that can be launched.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) code: Code,
    /// Where its arguments lie.
    pub(crate) args: ArgPlaces,
    /// Bytes of the stack that it takes.
    pub(crate) stack: u32,
    /// Bytes of a thread's arena.
    pub(crate) arena: u64,
    /// What it prints, if it may print.
    pub(crate) printed: Option<Table>,
    /// Its accesses, if they are checked.
    pub(crate) sites: Vec<AccessSite>,
}

impl Machine for Cpu {
    type Artifact = Native;
    type Executable = Variant;

    fn load(&self, name: &str, artifact: Native, _: &Key) -> BackendResult<Variant> {
        let kernel = &artifact.kernel;
        let code = (self.map)(kernel)?;
        if let Some(address) = code.address() {
            perf_map::note(address, kernel.code.len(), &format!("{name}.{}", isa_name(self.style.isa)));
        }
        Ok(Variant {
            code,
            args: kernel.args.clone(),
            stack: kernel.stack,
            arena: kernel.arena,
            printed: kernel.prints.then(|| kernel.printed.clone()),
            sites: kernel.sites.clone(),
        })
    }
}

/// How quick a kernel is: what its last launch took decides how the next one is run.
#[derive(Debug, Default)]
pub(crate) struct Pace(AtomicU64);

impl Pace {
    /// Nanoseconds that so many work-items will take on one thread, if it was launched before.
    pub(crate) fn estimate(&self, items: u64) -> Option<u64> {
        let picoseconds = self.0.load(Ordering::Relaxed);
        (picoseconds != 0).then(|| picoseconds.saturating_mul(items) / 1000)
    }

    /// Notes what so many have taken.
    pub(crate) fn note(&self, items: u64, nanoseconds: u64) {
        self.0.store((nanoseconds.saturating_mul(1000) / items.max(1)).max(1), Ordering::Relaxed);
    }
}

/// A program on the device.
pub(crate) struct CpuProgram {
    /// Its kernels, and their variants by key.
    pub(crate) code: Arc<Program<Cpu>>,
    paces: FxHashMap<String, Pace>,
    /// Constants and variables, where there are any; only kernels and commands touch them once they are filled.
    constants: Option<Block>,
    variables: Option<Arc<CpuMemory>>,
    /// What is told of its accesses, where they are checked.
    pub(crate) reports: Arc<Reports>,
}

impl fmt::Debug for CpuProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CpuProgram").field("code", &self.code).finish_non_exhaustive()
    }
}

impl CpuProgram {
    /// Of a module of the compiler's. `expected` is what was begun of it.
    pub(crate) fn of_module(
        cpu: &Arc<Cpu>,
        module: Arc<ir::Module>,
        target: &Target,
        expected: Option<Expected<Cpu>>,
    ) -> BackendResult<Self> {
        let shelf = match &expected {
            Some(expected) => Arc::clone(expected.shelf()),
            None => Arc::new(Shelf::of_module(Arc::clone(&module), target.clone())),
        };
        let ([constants, variables], _) = program_memory(&module)?;
        let facts = KernelFacts::of_module(&module);
        let paces = paces(&facts);
        let (style, target) = (cpu.style, target.clone());
        let make = move |kernel: &str, key: &Key| make(&module, kernel, key, (&target, style));
        let mut code = Program::new(Arc::clone(cpu), facts, Box::new(make), Some(shelf));
        if let Some(expected) = expected {
            code.adopt(expected);
        }
        Ok(Self { code: Arc::new(code), paces, constants, variables: variables.map(CpuMemory::of_variables), reports: Arc::default() })
    }

    /// Of a module whose code another device has made: with constants and variables of its own.
    pub(crate) fn of_code(code: Arc<Program<Cpu>>, module: &ir::Module) -> BackendResult<Self> {
        let ([constants, variables], _) = program_memory(module)?;
        let paces = paces(&KernelFacts::of_module(module));
        Ok(Self { code, paces, constants, variables: variables.map(CpuMemory::of_variables), reports: Arc::default() })
    }

    /// Of kernels that come from anywhere.
    #[cfg_attr(not(test), expect(dead_code, reason = "kernels of tests are functions of Rust"))]
    pub(crate) fn of_kernels(cpu: &Arc<Cpu>, facts: Vec<KernelFacts>, make: Box<Compile<Native>>) -> Self {
        let paces = paces(&facts);
        let code = Arc::new(Program::new(Arc::clone(cpu), facts, make, None));
        Self { code, paces, constants: None, variables: None, reports: Arc::default() }
    }

    /// The addresses of its constants and variables.
    pub(crate) fn places(&self) -> ProgramPlaces {
        let constant = self.constants.as_ref().map_or(0, |block| block.address() as u64);
        ProgramPlaces { constant, global: self.variables.as_ref().map_or(0, |variables| variables.address()) }
    }

    /// The first byte of its constants and of its variables, and the first behind them.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        let constants = self.constants.as_ref().map(|block| (block.address() as u64, (block.address() + block.size()) as u64));
        let variables = self.variables.as_ref().map(|memory| (memory.address(), memory.address() + memory.size()));
        constants.into_iter().chain(variables)
    }

    /// How quick a kernel is, by its name.
    pub(crate) fn pace(&self, kernel: &str) -> Option<&Pace> {
        self.paces.get(kernel)
    }

    /// What runs a kernel's launches of that key. It is made on a thread of its own, for the application's may have little stack.
    pub(crate) fn variant(&self, kernel: &Kernel, key: &Key) -> BackendResult<Arc<Variant>> {
        if let Some(made) = self.code.made(kernel, key) {
            return made;
        }
        thread::scope(|scope| {
            let make = || self.code.executable(kernel, key);
            let thread = thread::Builder::new().name("wgcl-compile".to_owned()).stack_size(STACK).spawn_scoped(scope, make);
            match thread.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(made)) => made,
                Ok(Err(_)) => Err(BackendError::Other("a defect of the compiler ended a launch".to_owned())),
                Err(_) => make(),
            }
        })
    }

    fn probable_key(&self, kernel: &Kernel, local_size: [u32; 3]) -> Key {
        let style = self.code.machine().style;
        let local_size = if kernel.is_free() && !style.checked { ndrange::PROBABLE } else { local_size };
        Key::probable(kernel.params(), kernel.required_group_size(), local_size, style)
    }
}

/// What a kernel allows its launches.
pub(crate) trait Freedom {
    /// Whether its work-items may be grouped in any way.
    fn is_free(&self) -> bool;
}

impl Freedom for Kernel {
    fn is_free(&self) -> bool {
        self.group_blind() && self.required_group_size().is_none()
    }
}

fn paces(facts: &[KernelFacts]) -> FxHashMap<String, Pace> {
    facts.iter().map(|facts| (facts.name.clone(), Pace::default())).collect()
}

/// A program that was found in the cache and is going to be loaded: what earlier processes have launched of it is begun.
pub(crate) fn expect(cpu: &Arc<Cpu>, name: wgcl_api::cache::Key, target: &Target) -> Expected<Cpu> {
    Expected::begin(cpu, Arc::new(Shelf::named(name, target)))
}

/// The memory of a module's constants and variables with their initial contents, and where each is.
pub(crate) fn program_memory(module: &ir::Module) -> BackendResult<([Option<Block>; 2], ProgramPlaces)> {
    let allocate = |size: u32| match size {
        0 => Ok(None),
        size => Block::new(size.into()).map(Some).ok_or(BackendError::OutOfDeviceMemory),
    };
    let [constant, global] = program_sizes(module);
    let mut memory = [allocate(constant)?, allocate(global)?];
    let address = |block: &Option<Block>| block.as_ref().map_or(0, |block| block.address() as u64);
    let places = ProgramPlaces { constant: address(&memory[0]), global: address(&memory[1]) };
    let ProgramData { constant, global } = program_data_at(module, places);
    for (block, bytes) in memory.iter_mut().zip([constant, global]) {
        if let Some(block) = block {
            block.bytes_mut().copy_from_slice(&bytes);
        }
    }
    Ok((memory, places))
}

/// Has the compiler make a kernel.
fn make(module: &ir::Module, kernel: &str, key: &Key, (target, style): (&Target, Style)) -> BackendResult<Native> {
    let key = LaunchKey { kernel: key.kernel.clone(), binding: BindingKey::default() };
    let texts = || -> LaunchResult<Texts> {
        let vector = vector_ir(module, kernel, &key, target, style)?.to_string();
        Ok(Texts { vector, assembly: assembly(module, kernel, &key, target, style)? })
    };
    contained(kernel, "machine code", || {
        let made = Native::new(compile(module, kernel, &key, target, style)?);
        let texts = if dump::enabled() { Some(Arc::new(texts()?)) } else { None };
        Ok(Native { texts, ..made })
    })
}

impl LoadedProgram for CpuProgram {
    /// Code takes a millisecond to make: what would be made in vain is not.
    fn precompile(&self, kernel: &str, local_size: Option<[u32; 3]>) {
        if let (Ok(found), Some(size)) = (self.code.kernel(kernel), local_size) {
            self.code.begin(found, self.probable_key(found, size), Urgency::Hint);
        }
    }

    fn kernel_usage(&self, kernel: &str) -> BackendResult<KernelUsage> {
        let kernel = self.code.kernel(kernel)?;
        self.code.usage(kernel, || self.probable_key(kernel, [64, 1, 1]))
    }

    fn variables(&self) -> Option<Arc<dyn Memory>> {
        self.variables.clone().map(|memory| memory as Arc<dyn Memory>)
    }

    fn attach_source(&self, program: &wgcl_compiler::program::Program) {
        self.reports.attach_source(program);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
