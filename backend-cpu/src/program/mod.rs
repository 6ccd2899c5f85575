//! Programs: the compiled variants of their kernels, and the memory of their constants and variables.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rustc_hash::FxHashMap;
use wgcl_api::backend::{BackendError, BackendResult, KernelUsage, LoadedProgram, Memory};
use wgcl_api::observe::dump;
use wgcl_codegen::Isa;
use wgcl_compiler::ir;
use wgcl_compiler::launch::{BindingKey, LaunchKey, LaunchResult};
use wgcl_compiler::layout::{ProgramAddresses, ProgramData, program_data_at, program_sizes};
use wgcl_compiler::printf::Table;
use wgcl_compiler::project::internal_error;
use wgcl_compiler::target::Target;
use wgcl_compiler::vectorize::abi::{ArgPlaces, NativeKernel};
use wgcl_compiler::vectorize::sanitize::AccessSite;
use wgcl_compiler::vectorize::{Style, assembly, compile_with_lines, vector_ir};
use wgcl_runtime::workers::{STACK, Urgency};
use wgcl_runtime::{Artifact, Compile, KernelFacts, Machine, PrefetchedProgram, Program, ProgramCache, catch_panic};

use crate::memory::CpuMemory;
use crate::memory::address_range::AddressRange;
use crate::memory::host_allocation::HostAllocation;
use crate::ndrange;
use crate::program::code::Code;
use crate::program::key::VariantKey;
use crate::sanitizer::report::Reports;

pub(crate) mod code;
pub(crate) mod fp_environment;
#[cfg(target_os = "linux")]
mod jitdump;
pub(crate) mod key;
#[cfg(unix)]
mod perf_map;
#[cfg(windows)]
mod stack;

/// The target of the CPU backend: code generation options, and the method to load a kernel.
pub(crate) struct Cpu {
    /// Options of the code generator.
    pub(crate) style: Style,
    /// Copies a kernel to executable memory.
    map: fn(&NativeKernel) -> BackendResult<Code>,
}

impl Cpu {
    /// Creates a target that runs machine code.
    pub(crate) fn new(style: Style) -> Arc<Self> {
        Arc::new(Self { style, map: Code::map })
    }

    /// Creates a target that runs Rust functions instead of machine code.
    #[cfg(test)]
    pub(crate) fn of_functions(map: fn(&NativeKernel) -> BackendResult<Code>) -> Arc<Self> {
        Arc::new(Self { style: Style::of(Isa::SSE42), map })
    }
}

/// A kernel of a program, with its variants.
pub(crate) type Kernel = wgcl_runtime::Kernel<Cpu>;

/// A compiled kernel before it is in executable memory.
#[derive(Clone, Debug)]
pub(crate) struct CompiledKernel {
    pub(crate) kernel: Arc<NativeKernel>,
    /// The listings for `WGCL_DUMP_DIR`, if it is set.
    listings: Option<Arc<Listings>>,
    /// The source lines of the code for `WGCL_JITDUMP`, if it is set.
    #[cfg(target_os = "linux")]
    lines: Arc<[jitdump::CodeLine]>,
}

/// The listings of a kernel.
#[derive(Debug)]
struct Listings {
    vector_ir: String,
    assembly: String,
}

impl CompiledKernel {
    /// Creates a kernel without listings.
    pub(crate) fn new(kernel: NativeKernel) -> Self {
        Self {
            kernel: Arc::new(kernel),
            listings: None,
            #[cfg(target_os = "linux")]
            lines: Arc::new([]),
        }
    }
}

impl Artifact for CompiledKernel {
    type Key = VariantKey;
    const KIND: &'static str = "cpu";

    fn encode(&self) -> Option<Vec<u8>> {
        // The encoding contains neither printf format strings nor access sites. Kernels that have them are not cached.
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

    fn adapt(&mut self, _: &VariantKey) {
        // A variant runs only work-groups of one size, so this function is never called.
    }

    fn any_group_size(key: &VariantKey) -> VariantKey {
        key.clone().without_local_size()
    }

    fn dump(&self, kernel: &str, key: &VariantKey) {
        if !dump::enabled() {
            return;
        }
        let [x, y, z] = key.kernel.local_size;
        let name = format!("{}-{kernel}-{x}x{y}x{z}", dump::prefix());
        dump::write(&format!("{name}.bin"), &self.kernel.code);
        if let Some(listings) = &self.listings {
            dump::write(&format!("{name}.vir"), listings.vector_ir.as_bytes());
            dump::write(&format!("{name}.s"), listings.assembly.as_bytes());
        }
    }
}

/// A kernel variant that can be launched.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) code: Code,
    /// The instruction set of the code.
    pub(crate) isa: Isa,
    /// Layout of the argument block.
    pub(crate) args: ArgPlaces,
    /// Maximum bytes of stack that it uses.
    pub(crate) stack: u32,
    /// Bytes of a thread's arena that it needs.
    pub(crate) arena: u64,
    /// The number of gangs of a group, if they may wait for each other. Otherwise 0.
    pub(crate) subgroups: u32,
    /// The printf format strings; `None` if the kernel cannot print.
    pub(crate) printf: Option<Table>,
    /// The accesses that the sanitizer checks.
    pub(crate) sites: Arc<[AccessSite]>,
}

impl Machine for Cpu {
    type Artifact = CompiledKernel;
    type Executable = Variant;

    #[cfg_attr(not(unix), expect(unused_variables, reason = "only files for perf contain the name"))]
    fn load(&self, name: &str, artifact: CompiledKernel, _: &VariantKey) -> BackendResult<Variant> {
        let kernel = &artifact.kernel;
        let code = (self.map)(kernel)?;
        #[cfg(unix)]
        if let Some(address) = code.address() {
            let name = format!("{name}.{}", self.style.isa.name());
            perf_map::add_kernel(address, kernel.code.len(), &name);
            #[cfg(target_os = "linux")]
            if jitdump::enabled() {
                jitdump::add_kernel(address, &kernel.code, &name, &artifact.lines);
            }
        }
        Ok(Variant {
            code,
            isa: self.style.isa,
            args: kernel.args.clone(),
            stack: kernel.stack,
            arena: kernel.arena,
            subgroups: kernel.subgroups,
            printf: kernel.prints.then(|| kernel.printed.clone()),
            sites: kernel.sites.as_slice().into(),
        })
    }
}

/// The measured duration of a kernel's last dispatch, in picoseconds per work-item; 0 before the first dispatch.
#[derive(Debug, Default)]
pub(crate) struct KernelTiming(AtomicU64);

impl KernelTiming {
    /// The estimated duration of `items` work-items on one thread, in nanoseconds. `None` before the first dispatch.
    pub(crate) fn estimate(&self, items: u64) -> Option<u64> {
        let picoseconds = self.0.load(Ordering::Relaxed);
        (picoseconds != 0).then(|| picoseconds.saturating_mul(items) / 1000)
    }

    /// Records the duration of `items` work-items on one thread, in nanoseconds.
    pub(crate) fn record(&self, items: u64, nanoseconds: u64) {
        self.0.store((nanoseconds.saturating_mul(1000) / items.max(1)).max(1), Ordering::Relaxed);
    }
}

/// A program on the device.
pub(crate) struct CpuProgram {
    /// The kernels and their variants.
    pub(crate) code: Arc<Program<Cpu>>,
    timings: FxHashMap<String, KernelTiming>,
    memory: ProgramMemory,
    /// The findings of the sanitizer.
    pub(crate) reports: Arc<Reports>,
}

/// The memory of a program's constants and variables. After the initialisation, only kernels and commands access it.
struct ProgramMemory {
    constants: Option<HostAllocation>,
    variables: Option<Arc<CpuMemory>>,
    /// The addresses of constants and variables; 0 if there are none.
    places: ProgramAddresses,
}

impl ProgramMemory {
    const EMPTY: Self = Self { constants: None, variables: None, places: ProgramAddresses { constant: 0, global: 0 } };

    fn of_module(module: &ir::Module) -> BackendResult<Self> {
        let InitializedMemory { constants, variables, places } = initialized_memory(module)?;
        Ok(Self { constants, variables: variables.map(CpuMemory::of_variables), places })
    }
}

impl fmt::Debug for CpuProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CpuProgram").field("code", &self.code).finish_non_exhaustive()
    }
}

impl CpuProgram {
    /// Creates the program of a module. `prefetched` has the variants whose loading began before the module was read.
    ///
    /// # Errors
    /// Fails if there is not enough memory for the constants and variables.
    pub(crate) fn of_module(
        cpu: &Arc<Cpu>,
        module: Arc<ir::Module>,
        target: &Target,
        prefetched: Option<PrefetchedProgram<Cpu>>,
    ) -> BackendResult<Self> {
        let cache = match &prefetched {
            Some(prefetched) => Arc::clone(prefetched.cache()),
            None => Arc::new(ProgramCache::of_module(Arc::clone(&module), target.clone())),
        };
        let memory = ProgramMemory::of_module(&module)?;
        let facts = KernelFacts::of_module(&module);
        let timings = timings(&facts);
        let reports = Arc::<Reports>::default();
        let compiler = Compiler { module, target: target.clone(), style: cpu.style, reports: Arc::clone(&reports) };
        let compile = move |kernel: &str, key: &VariantKey| compiler.compile(kernel, key);
        let mut code = Program::new(Arc::clone(cpu), facts, Box::new(compile), Some(cache));
        if let Some(prefetched) = prefetched {
            code.adopt(prefetched);
        }
        Ok(Self { code: Arc::new(code), timings, memory, reports })
    }

    /// Creates a program with existing code for the same module, and with its own constants and variables.
    ///
    /// # Errors
    /// Fails if there is not enough memory for the constants and variables.
    pub(crate) fn of_code(code: Arc<Program<Cpu>>, module: &ir::Module) -> BackendResult<Self> {
        let memory = ProgramMemory::of_module(module)?;
        let timings = timings(&KernelFacts::of_module(module));
        Ok(Self { code, timings, memory, reports: Arc::default() })
    }

    /// Creates a program with the kernels that the function `compile` returns.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests' kernels are Rust functions"))]
    pub(crate) fn of_kernels(cpu: &Arc<Cpu>, facts: Vec<KernelFacts>, compile: Box<Compile<CompiledKernel>>) -> Self {
        let timings = timings(&facts);
        let code = Arc::new(Program::new(Arc::clone(cpu), facts, compile, None));
        Self { code, timings, memory: ProgramMemory::EMPTY, reports: Arc::default() }
    }

    /// Whether the sanitizer checks its kernels.
    pub(crate) fn is_checked(&self) -> bool {
        self.code.machine().style.checked
    }

    /// The addresses of its constants and variables; 0 if it has none.
    pub(crate) const fn addresses(&self) -> ProgramAddresses {
        self.memory.places
    }

    /// The memory of its constants and of its variables.
    pub(crate) fn memory_ranges(&self) -> impl Iterator<Item = AddressRange> {
        let ProgramMemory { constants, variables, .. } = &self.memory;
        let constants = constants.as_ref().map(|memory| (memory.address() as u64, memory.size() as u64));
        let variables = variables.as_ref().map(|memory| (memory.address(), memory.size()));
        constants.into_iter().chain(variables).map(|(start, size)| AddressRange { start, end: start + size })
    }

    /// The measured duration of a kernel's last dispatch. `None` if the kernel does not exist.
    pub(crate) fn timing(&self, kernel: &str) -> Option<&KernelTiming> {
        self.timings.get(kernel)
    }

    /// Returns the variant for a key. A new variant is compiled on another thread, because the application's thread may
    /// have a small stack. If the system refuses to create a thread, the calling thread compiles it.
    ///
    /// # Errors
    /// Returns the errors of the compiler.
    pub(crate) fn variant(&self, kernel: &Kernel, key: &VariantKey) -> BackendResult<Arc<Variant>> {
        if let Some(made) = self.code.loaded(kernel, key) {
            return made;
        }
        thread::scope(|scope| {
            let make = || self.code.executable(kernel, key);
            let thread = thread::Builder::new().name("wgcl-compile".to_owned()).stack_size(STACK).spawn_scoped(scope, make);
            match thread.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(made)) => made,
                Ok(Err(_)) => Err(BackendError::Other(format!("kernel `{}`: {}", kernel.name(), internal_error("the compiler panicked")))),
                Err(_) => make(),
            }
        })
    }

    fn probable_key(&self, kernel: &Kernel, local_size: [u32; 3]) -> VariantKey {
        let style = self.code.machine().style;
        let local_size = if kernel.can_regroup() && !style.checked { ndrange::DEFAULT_LOCAL_SIZE } else { local_size };
        VariantKey::probable(kernel.params(), kernel.required_group_size(), local_size, style)
    }
}

/// Whether the backend may choose the local size of a kernel.
pub(crate) trait Regroup {
    /// Whether the kernel cannot observe its work-groups, and does not require a local size.
    fn can_regroup(&self) -> bool;
}

impl Regroup for Kernel {
    fn can_regroup(&self) -> bool {
        self.group_independent() && self.required_group_size().is_none()
    }
}

fn timings(facts: &[KernelFacts]) -> FxHashMap<String, KernelTiming> {
    facts.iter().map(|facts| (facts.name.clone(), KernelTiming::default())).collect()
}

/// Starts to load variants of a program from the disk cache: those that earlier processes launched.
pub(crate) fn prefetch_program(cpu: &Arc<Cpu>, name: wgcl_api::cache::Key, target: &Target) -> PrefetchedProgram<Cpu> {
    PrefetchedProgram::begin(cpu, Arc::new(ProgramCache::named(name, target)))
}

/// The constants and variables of a module with their initial contents.
pub(crate) struct InitializedMemory {
    pub(crate) constants: Option<HostAllocation>,
    pub(crate) variables: Option<HostAllocation>,
    pub(crate) places: ProgramAddresses,
}

/// Allocates and initialises the constants and variables of a module.
///
/// # Errors
/// Fails if there is not enough memory.
pub(crate) fn initialized_memory(module: &ir::Module) -> BackendResult<InitializedMemory> {
    let allocate = |size: u32| match size {
        0 => Ok(None),
        size => HostAllocation::new(size.into()).map(Some).ok_or(BackendError::OutOfDeviceMemory),
    };
    let [constant, global] = program_sizes(module);
    let (mut constants, mut variables) = (allocate(constant)?, allocate(global)?);
    let address = |memory: &Option<HostAllocation>| memory.as_ref().map_or(0, |memory| memory.address() as u64);
    let places = ProgramAddresses { constant: address(&constants), global: address(&variables) };
    let ProgramData { constant, global } = program_data_at(module, places);
    for (memory, bytes) in [(&mut constants, constant), (&mut variables, global)] {
        if let Some(memory) = memory {
            memory.bytes_mut().copy_from_slice(&bytes);
        }
    }
    Ok(InitializedMemory { constants, variables, places })
}

/// Compiles the kernels of a module.
struct Compiler {
    module: Arc<ir::Module>,
    target: Target,
    style: Style,
    /// Has the sources of the program.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only files for perf contain source lines"))]
    reports: Arc<Reports>,
}

impl Compiler {
    fn compile(&self, kernel: &str, key: &VariantKey) -> BackendResult<CompiledKernel> {
        let Self { module, target, style, .. } = self;
        let key = LaunchKey { kernel: key.kernel.clone(), binding: BindingKey::default() };
        let listings = || -> LaunchResult<Listings> {
            let vector_ir = vector_ir(module, kernel, &key, target, *style)?.to_string();
            Ok(Listings { vector_ir, assembly: assembly(module, kernel, &key, target, *style, None)? })
        };
        catch_panic(kernel, "machine code", || {
            let (native, positions) = compile_with_lines(module, kernel, &key, target, *style)?;
            let compiled = CompiledKernel::new(native);
            #[cfg(target_os = "linux")]
            let compiled = if jitdump::enabled() {
                let lines = jitdump::lines_of(self.reports.sources(), positions.into_iter());
                CompiledKernel { lines: lines.into(), ..compiled }
            } else {
                compiled
            };
            #[cfg(not(target_os = "linux"))]
            drop(positions);
            let listings = if dump::enabled() { Some(Arc::new(listings()?)) } else { None };
            Ok(CompiledKernel { listings, ..compiled })
        })
    }
}

impl LoadedProgram for CpuProgram {
    /// Starts the compilation only if the local size is known, because each variant takes about a millisecond.
    fn precompile(&self, kernel: &str, local_size: Option<[u32; 3]>, _: &[u64]) {
        if let (Ok(found), Some(size)) = (self.code.kernel(kernel), local_size) {
            self.code.compile_in_background(found, self.probable_key(found, size), Urgency::Hint);
        }
    }

    fn kernel_usage(&self, kernel: &str) -> BackendResult<KernelUsage> {
        let kernel = self.code.kernel(kernel)?;
        self.code.usage(kernel, || self.probable_key(kernel, [64, 1, 1]))
    }

    fn variables(&self) -> Option<Arc<dyn Memory>> {
        self.memory.variables.clone().map(|memory| memory as Arc<dyn Memory>)
    }

    fn attach_source(&self, program: &wgcl_compiler::program::Program) {
        self.reports.attach_source(program);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
