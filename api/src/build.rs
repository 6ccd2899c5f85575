//! Running the compiler for a program: on which thread, for which device, and what is kept of it.

use std::sync::Arc;

use wgcl_compiler::program::Program as Compiled;

use crate::binary::{BinaryKind, Object};
use crate::device::Device;
use crate::dump;
use crate::error::{Error, Result, ensure};
use crate::program::{Executable, combine};

/// What the compiler said.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub success: bool,
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

/// Runs a build in the background. A panic of `job` ends only its thread; `job` itself reports the end.
pub(crate) fn spawn(job: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new()
        .name("wgcl-build".to_owned())
        .spawn(job)
        .map(drop)
        .map_err(|error| Error::OutOfHostMemory(format!("no thread for the build: {error}").into()))
}

/// Compiles an object for a device.
pub(crate) fn compile(object: &Object, kind: BinaryKind, device: &Device) -> Built {
    let (source, options) = match combine(object) {
        Ok(input) => input,
        Err(error) => return Built { success: false, compiled: None, log: format!("error: {error}\n"), arg_info: false },
    };
    let begin = std::time::Instant::now();
    let result = if kind == BinaryKind::Executable {
        let result = wgcl_compiler::program::build(&source, &options, device.target());
        Built { success: result.program.is_some(), compiled: result.program, log: result.log, arg_info: options.kernel_arg_info }
    } else {
        // Functions may be defined by what this is linked with later: there is nothing to make yet.
        let (success, log) = wgcl_compiler::build::check(&source, &options, device.target());
        Built { success, compiled: None, log, arg_info: options.kernel_arg_info }
    };
    tracing::debug!(
        "{:?} of {} bytes for {}: {} in {:?}",
        kind,
        source.text.len(),
        device.name(),
        if result.success { "done" } else { "refused" },
        begin.elapsed()
    );
    if dump::enabled() {
        keep(object, &source.text, &result);
    }
    result
}

/// Brings what was compiled onto the device, if it is an executable.
pub(crate) fn load(built: Built, kind: BinaryKind, device: &Device) -> Outcome {
    let Built { success, compiled, mut log, arg_info } = built;
    let Some(compiled) = compiled.filter(|_| success && kind == BinaryKind::Executable) else {
        return Outcome { success: success && kind != BinaryKind::Executable, log, executable: None };
    };
    match device.backend().load(compiled.module.clone()) {
        Ok(loaded) => Outcome { success: true, log, executable: Some(Arc::new(Executable { compiled, loaded, arg_info })) },
        Err(error) => {
            log.push_str(&format!("error: {}: {error}\n", device.name()));
            Outcome { success: false, log, executable: None }
        }
    }
}

/// Keeps the source, options, log and IR of a build.
fn keep(object: &Object, text: &str, result: &Built) {
    let prefix = dump::prefix();
    let options: Vec<&str> = object.units.iter().map(|unit| unit.options.as_str()).collect();
    dump::write(&format!("{prefix}.cl"), text.as_bytes());
    dump::write(&format!("{prefix}.options"), options.join("\n").as_bytes());
    dump::write(&format!("{prefix}.log"), result.log.as_bytes());
    for (header, contents) in object.units.iter().flat_map(|unit| &unit.headers) {
        dump::write(&format!("{prefix}.{header}"), contents.as_bytes());
    }
    if let Some(program) = &result.compiled {
        dump::write(&format!("{prefix}.ir"), program.module.to_string().as_bytes());
    }
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
