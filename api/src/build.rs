//! Running the compiler for a program: on which thread, for which device, and what is kept of it.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use wgcl_compiler::program::Program as Compiled;

use crate::binary::{BinaryKind, Object};
use crate::device::Device;
use crate::error::{Error, Result, ensure};
use crate::options::Options;
use crate::program::{Executable, combine};

/// Bytes of stack of a thread that compiles. Only touched pages cost anything.
const STACK: usize = 64 << 20;

/// What the compiler said.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub compiled: Option<Compiled>,
    pub log: String,
    pub arg_info: bool,
}

/// What came of a build for a device.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub success: bool,
    pub log: String,
    pub executable: Option<Arc<Executable>>,
}

/// Runs a build on a thread with a deep stack and waits for it.
pub(crate) fn run<T: Send>(job: impl FnOnce() -> T + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("wgcl-build".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, job)
            .map_err(|error| Error::OutOfHostMemory(format!("no thread for the build: {error}").into()))?;
        thread.join().map_err(|_| Error::OutOfHostMemory("the compiler panicked".into()))
    })
}

/// Runs a build in the background. A panic of `job` ends only its thread; `job` itself reports the end.
pub(crate) fn spawn(job: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new()
        .name("wgcl-build".to_owned())
        .stack_size(STACK)
        .spawn(job)
        .map(drop)
        .map_err(|error| Error::OutOfHostMemory(format!("no thread for the build: {error}").into()))
}

/// Compiles an object for a device. Panics of the compiler become errors in the log.
pub(crate) fn compile(object: &Object, kind: BinaryKind, device: &Device) -> Built {
    let (source, options) = match combine(object) {
        Ok(input) => input,
        Err(error) => return Built { compiled: None, log: format!("error: {error}\n"), arg_info: false },
    };
    let begin = std::time::Instant::now();
    let compiler = std::panic::AssertUnwindSafe(|| wgcl_compiler::program::build(&source, &options, device.target()));
    let result = std::panic::catch_unwind(compiler).unwrap_or_else(|_| {
        tracing::error!("the compiler panicked");
        let log = "error: internal error of the compiler (please report it together with the source)\n".to_owned();
        wgcl_compiler::program::BuildResult { program: None, log }
    });
    tracing::debug!(
        "{:?} of {} bytes for {}: {} in {:?}",
        kind,
        source.text.len(),
        device.name(),
        if result.program.is_some() { "done" } else { "refused" },
        begin.elapsed()
    );
    if let Some(directory) = &Options::get().dump_dir
        && let Err(error) = dump(directory, object, &source.text, &result)
    {
        tracing::warn!("WGCL_DUMP_DIR: {}: {error}", directory.display());
    }
    Built { compiled: result.program, log: result.log, arg_info: options.kernel_arg_info }
}

/// Brings what was compiled onto the device, if it is an executable.
pub(crate) fn load(built: Built, kind: BinaryKind, device: &Device) -> Outcome {
    let Built { compiled, mut log, arg_info } = built;
    let Some(compiled) = compiled else { return Outcome { success: false, log, executable: None } };
    if kind != BinaryKind::Executable {
        return Outcome { success: true, log, executable: None };
    }
    match device.backend().load(compiled.module.clone()) {
        Ok(loaded) => Outcome { success: true, log, executable: Some(Arc::new(Executable { compiled, loaded, arg_info })) },
        Err(error) => {
            log.push_str(&format!("error: {}: {error}\n", device.name()));
            Outcome { success: false, log, executable: None }
        }
    }
}

/// Keeps the source, options, log and IR of a build.
fn dump(directory: &Path, object: &Object, text: &str, result: &wgcl_compiler::program::BuildResult) -> io::Result<()> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    std::fs::create_dir_all(directory)?;
    let name = format!("{}-{:04}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let options: Vec<&str> = object.units.iter().map(|unit| unit.options.as_str()).collect();
    std::fs::write(directory.join(format!("{name}.cl")), text)?;
    std::fs::write(directory.join(format!("{name}.options")), options.join("\n"))?;
    std::fs::write(directory.join(format!("{name}.log")), &result.log)?;
    for (header, contents) in object.units.iter().flat_map(|unit| &unit.headers) {
        std::fs::write(directory.join(format!("{name}.{}", header.replace(['/', '\\'], "_"))), contents)?;
    }
    if let Some(program) = &result.program {
        std::fs::write(directory.join(format!("{name}.ir")), format!("{:#?}\n", program.module))?;
    }
    Ok(())
}

/// Reads the options of clLinkProgram and says what is to be made.
///
/// # Errors
/// CL_INVALID_LINKER_OPTIONS for what is not an option of the linker.
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
    ensure!(!enable || kind == BinaryKind::Library, InvalidLinkerOptions, "-enable-link-options needs -create-library");
    Ok(kind)
}
