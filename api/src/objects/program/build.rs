//! Builds of a program: threads, devices, and results.

use std::io::{self, Write};
use std::sync::{Arc, Once};

use wgcl_compiler::diag::Message;
use wgcl_compiler::launch::{LaunchError, NESTED_LEVELS};
use wgcl_compiler::link::{CompiledUnit, Output, link};
use wgcl_compiler::parallel;
use wgcl_compiler::program::{BuildOptions, BuildResult, Program as Compiled, Source};
use wgcl_compiler::target::Target;

use crate::backend::{BackendError, LoadedProgram};
use crate::cache::{self, Cache};
use crate::commands::serialization::TreeQueue;
use crate::objects::device::Device;
use crate::objects::program::binary::{BinaryKind, Object, Unit};
use crate::objects::program::executable::Executable;
use crate::observe::dump;
use crate::observe::trace;
use crate::options::Options;
use crate::types::error::{Error, Result, ensure};

/// The compiled translation units, in order; `None` for units that are not compiled yet.
pub(crate) type Units = Vec<Option<Arc<CompiledUnit>>>;

/// The result of a compilation.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub success: bool,
    pub compiled: Option<Compiled>,
    pub units: Units,
    pub log: String,
    /// The key of the program in the cache, if it is cached.
    pub cache_key: Option<cache::Key>,
}

/// The result of a build for a device.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub success: bool,
    pub log: String,
    pub units: Units,
    pub executable: Option<Arc<Executable>>,
}

/// Runs a build in the background. `job` must record the build result itself. A panic of `job` ends only the build
/// thread.
pub(crate) fn spawn(job: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new()
        .name("wgcl-build".to_owned())
        .spawn(job)
        .map(drop)
        .map_err(|error| Error::OutOfHostMemory(format!("cannot create the build thread: {error}").into()))
}

/// Compiles an object for a device. If an executable has only one unit, and that unit was not compiled before, the unit
/// is compiled and linked in one step. Otherwise the units are compiled separately, and then linked. `previous` are the
/// units that were compiled before.
pub(crate) fn compile(
    object: &Object,
    previous: &[Option<Arc<CompiledUnit>>],
    kind: BinaryKind,
    (device, target): (&Device, &Target),
) -> Built {
    let begin = std::time::Instant::now();
    let bytes = object.units.iter().map(Unit::size).sum::<usize>();
    let _span = trace::build(|| format!("compile for {}", device.name()), bytes as u64);
    let previous_unit = |index: usize| previous.get(index).cloned().flatten();
    let built = match object.units.as_slice() {
        [unit] if kind == BinaryKind::Executable && previous_unit(0).is_none() => compile_alone(unit, device, target),
        units => compile_separately(units, &previous_unit, kind, target),
    };
    tracing::debug!(
        "compile {} bytes of source to {:?} for {}: {} after {:?}",
        bytes,
        kind,
        device.name(),
        if built.success { "succeeded" } else { "failed" },
        begin.elapsed()
    );
    if dump::enabled() {
        dump_build(object, &built);
    }
    built
}

/// Parses the options of a unit.
fn options(unit: &Unit) -> std::result::Result<BuildOptions, Box<Message>> {
    wgcl_compiler::program::parse_options(&unit.options).map_err(|error| Box::new(Message::error(error.to_string())))
}

/// Converts an OpenCL C unit to compiler input.
fn source(unit: &Unit) -> Source {
    Source { text: unit.source.clone(), name: None, headers: unit.headers.clone() }
}

/// Compiles and links a single unit.
fn build_unit(unit: &Unit, target: &Target) -> BuildResult {
    match (options(unit), &unit.module) {
        (Ok(options), Some(module)) => wgcl_compiler::spirv::build(module.source(), &options, target),
        (Ok(options), None) => wgcl_compiler::build::build(&source(unit), &options, target),
        (Err(error), _) => BuildResult::failed(vec![*error]),
    }
}

/// Compiles a unit that will be linked.
fn compile_unit(unit: &Unit, target: &Target) -> (Option<CompiledUnit>, String) {
    match (options(unit), &unit.module) {
        (Ok(options), Some(module)) => wgcl_compiler::spirv::compile(module.source(), &options, target),
        (Ok(options), None) => wgcl_compiler::build::compile(&source(unit), &options, target),
        (Err(error), _) => (None, error.into_log()),
    }
}

fn compile_alone(unit: &Unit, device: &Device, target: &Target) -> Built {
    let cache = Cache::get();
    if let Some((program, log, key)) =
        cache.and_then(|cache| cache::programs::find_program(cache, unit, target, |key| device.backend().prefetch(key)))
    {
        trace::record_cache_lookup(true);
        return Built { success: true, compiled: Some(program), units: Units::new(), log, cache_key: Some(key) };
    }
    trace::record_cache_lookup(false);
    let result = build_unit(unit, target);
    let mut cache_key = None;
    if let (Some(cache), Some(program)) = (cache, &result.program) {
        cache_key = cache::programs::store_program(cache, unit, target, program, &result.log, &result.files);
    }
    Built { success: result.program.is_some(), compiled: result.program, units: Units::new(), log: result.log, cache_key }
}

fn compile_separately(units: &[Unit], previous: &dyn Fn(usize) -> Option<Arc<CompiledUnit>>, kind: BinaryKind, target: &Target) -> Built {
    let mut log = String::new();
    let mut compiled = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        let (result, text) = match previous(index) {
            Some(unit) => (Some(unit), String::new()),
            None => {
                let (unit, text) = compile_unit(unit, target);
                (unit.map(Arc::new), text)
            }
        };
        log.push_str(&text);
        compiled.extend(result);
    }
    if compiled.len() < units.len() {
        return Built { success: false, compiled: None, units: Units::new(), log, cache_key: None };
    }
    let output = match kind {
        BinaryKind::Executable => Output::Executable,
        BinaryKind::Library | BinaryKind::CompiledObject | BinaryKind::None => Output::Library,
    };
    let parts: Vec<&CompiledUnit> = compiled.iter().map(|unit| &**unit).collect();
    let linked = link(&parts, output, target);
    log.push_str(&linked.log);
    let success = if output == Output::Executable { linked.program.is_some() } else { linked.log.is_empty() };
    Built { success, compiled: linked.program, units: compiled.into_iter().map(Some).collect(), log, cache_key: None }
}

/// Loads an executable onto the device. Compiled objects and libraries are not loaded.
pub(crate) fn load(built: Built, kind: BinaryKind, device: &Device) -> Outcome {
    let Built { success, compiled, units, mut log, cache_key } = built;
    let Some(compiled) = compiled.filter(|_| success && kind == BinaryKind::Executable) else {
        return Outcome { success: success && kind != BinaryKind::Executable, log, units, executable: None };
    };
    let _span = trace::build(|| format!("load on {}", device.name()), 0);
    match device.backend().load(compiled.module.clone(), cache_key) {
        Ok(loaded) => {
            if Options::get().is_checked() {
                attach_source(&compiled, &*loaded, device);
            } else if Options::get().writes_jitdump() {
                loaded.attach_source(&compiled);
            }
            // A captured launch contains the included files.
            let sources = compiled.sources.filter(|_| Options::get().capture.is_some());
            let compiled = Compiled { sources, ..compiled };
            log.push_str(&launch_warnings(&compiled, &*loaded, device));
            let executable = Executable { compiled, loaded, trees: TreeQueue::default() };
            Outcome { success: true, log, units: Units::new(), executable: Some(Arc::new(executable)) }
        }
        Err(error) => {
            log.push_str(&format!("error: {}: {error}\n", device.name()));
            Outcome { success: false, log, units: Units::new(), executable: None }
        }
    }
}

/// Passes the program's source to a device that checks kernels. For other devices, prints a warning to standard error
/// once per process.
fn attach_source(compiled: &Compiled, loaded: &dyn LoadedProgram, device: &Device) {
    static WARNING: Once = Once::new();
    if device.backend().checks_kernels() {
        loaded.attach_source(compiled);
    } else {
        // The user requested the check, so the warning is printed even without logging.
        let text = format!("warning: WGCL_CHECK checks kernels only on the CPU device, not on {}\n", device.name());
        WARNING.call_once(|| drop(io::stderr().write_all(text.as_bytes())));
    }
}

/// The maximum number of instructions of a program whose kernels a build also compiles for a typical launch. This
/// compilation takes about as long as the build itself, and saves time only if later launches match the typical launch.
const MAX_TRIAL_INSTRUCTIONS: usize = 20_000;

/// Returns a warning for each kernel that the device cannot run with any work-group size. A launch would report this
/// too late. The build succeeds, because the other kernels of the program are usable. Programs with more than
/// [`MAX_TRIAL_INSTRUCTIONS`] are not examined.
fn launch_warnings(compiled: &Compiled, loaded: &dyn LoadedProgram, device: &Device) -> String {
    let mut log = String::new();
    let size = compiled.module.functions.iter().map(|function| function.body.size()).sum::<usize>();
    if size > MAX_TRIAL_INSTRUCTIONS {
        return log;
    }
    let kernels = &compiled.kernels;
    let usage = |number: usize| loaded.kernel_usage(&kernels[number].name);
    let usages =
        if size >= parallel::MIN_INSTRUCTIONS { parallel::map(kernels.len(), usage) } else { (0..kernels.len()).map(usage).collect() };
    for usage in usages {
        if let Err(BackendError::Launch(
            error @ (LaunchError::Unsupported { .. }
            | LaunchError::TooLarge { .. }
            | LaunchError::Limit { what: NESTED_LEVELS, .. }
            | LaunchError::Internal { .. }),
        )) = usage
        {
            log.push_str(&format!("warning: {error} on {}: launching the kernel will fail\n", device.name()));
        }
    }
    log
}

/// Dumps the sources, options, log and IR of a build.
fn dump_build(object: &Object, result: &Built) {
    let prefix = dump::prefix();
    let several = object.units.len() > 1;
    for (number, unit) in (1..).zip(&object.units) {
        let prefix = if several { format!("{prefix}-{number}") } else { prefix.clone() };
        match &unit.module {
            Some(module) => dump::write(&format!("{prefix}.spv"), &module.bytes()),
            None => dump::write(&format!("{prefix}.cl"), unit.source.as_bytes()),
        }
        dump::write(&format!("{prefix}.options"), unit.options.as_bytes());
        for (header, contents) in &unit.headers {
            dump::write(&format!("{prefix}.{header}"), contents.as_bytes());
        }
    }
    dump::write(&format!("{prefix}.log"), result.log.as_bytes());
    if let Some(program) = &result.compiled {
        dump::write(&format!("{prefix}.ir"), program.module.to_string().as_bytes());
    }
}

/// Parses the options of clLinkProgram, and returns the kind of the output.
///
/// # Errors
/// CL_INVALID_LINKER_OPTIONS for an unknown linker option, and for -enable-link-options without -create-library.
pub(crate) fn parse_link_options(options: &str) -> Result<BinaryKind> {
    const KNOWN: &[&str] = &[
        "-create-library",
        "-enable-link-options",
        "-cl-denorms-are-zero",
        "-cl-no-signed-zeros",
        "-cl-unsafe-math-optimizations",
        "-cl-finite-math-only",
        "-cl-fast-relaxed-math",
        "-cl-no-subgroup-ifp",
    ];
    let mut kind = BinaryKind::Executable;
    let mut enable = false;
    for option in options.split_whitespace() {
        ensure!(KNOWN.contains(&option), InvalidLinkerOptions, "unknown link option `{option}`");
        match option {
            "-create-library" => kind = BinaryKind::Library,
            "-enable-link-options" => enable = true,
            _ => {}
        }
    }
    // "-enable-link-options ... can only be specified with the -create-library option."
    ensure!(!enable || kind == BinaryKind::Library, InvalidLinkerOptions, "-enable-link-options requires -create-library");
    Ok(kind)
}
