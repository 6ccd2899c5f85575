//! Translates the sources of `.cl` files to SPIR-V. With `WGCL_TEST_SPIRV=0` (or 2), clang and llvm-spirv compile the
//! sources at that optimisation level, and the device gets the modules.
//!
//! Modules are cached in the system's folder for temporary files, under a hash of their inputs.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::directive::Variant;

/// The cached marker for a source that the translators reject.
const REJECTED: &str = "rejected";

/// Extensions that the translator may use.
const EXTENSIONS: &str = "--spirv-ext=+SPV_KHR_no_integer_wrap_decoration,+SPV_KHR_linkonce_odr,+SPV_KHR_expect_assume,+SPV_KHR_integer_dot_product,\
                          +SPV_EXT_shader_atomic_float_add,+SPV_EXT_shader_atomic_float_min_max";

/// Returns the requested optimisation level, or `None` if the device gets the sources.
pub fn level() -> Option<String> {
    std::env::var("WGCL_TEST_SPIRV").ok().filter(|level| !level.is_empty())
}

/// Whether modules are requested, but the variant tests the OpenCL C compiler itself.
pub fn is_about_source(variant: &Variant) -> bool {
    let refused = variant.diagnostics.iter().any(|want| want.severity == "error");
    level().is_some() && (refused || variant.runs.is_empty() || !variant.log.is_empty())
}

/// Returns the missing feature `translator` if modules are requested and the translators reject the variant.
pub fn missing(source: &str, variant: &Variant) -> Option<&'static str> {
    translate(source, &variant.options, &level()?).is_none().then_some("translator")
}

/// Returns the module of a variant, or `None` if the source is used directly or the translators reject it.
pub fn module(source: &str, variant: &Variant) -> Option<Vec<u8>> {
    translate(source, &variant.options, &level()?)
}

/// Returns the build options for a program created from a module: the `-cl-` options except `-cl-std`. The translators
/// have applied the other options.
pub fn build_options(options: &str) -> String {
    let mut words = options.split_whitespace();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "-D" | "-I" | "-U" => drop(words.next()),
            _ if word.starts_with("-cl-") && !word.starts_with("-cl-std") => kept.push(word),
            _ => {}
        }
    }
    kept.join(" ")
}

fn translate(source: &str, options: &str, level: &str) -> Option<Vec<u8>> {
    let mut hasher = DefaultHasher::new();
    (source, options, level, EXTENSIONS, REJECTED).hash(&mut hasher);
    let folder = std::env::temp_dir().join("wgcl-spirv");
    std::fs::create_dir_all(&folder).ok()?;
    let stem = folder.join(format!("{:016x}", hasher.finish()));
    let module = stem.with_extension("spv");
    if let Ok(bytes) = std::fs::read(&module) {
        return Some(bytes).filter(|bytes| bytes != REJECTED.as_bytes());
    }
    let made = match run_translators(source, options, level, &stem) {
        Ok(bytes) => Some(bytes),
        Err(Failure::Rejected) => None,
        // Nothing is cached, so the next run tries again.
        Err(Failure::Unavailable) => return None,
    };
    // Other processes may translate the same source at the same time. So write a temporary file, and rename it when it
    // is complete.
    let unfinished = stem.with_extension(format!("{}.new", std::process::id()));
    std::fs::write(&unfinished, made.as_deref().unwrap_or(REJECTED.as_bytes())).ok()?;
    std::fs::rename(&unfinished, &module).ok()?;
    made
}

/// The reason why a source has no module.
enum Failure {
    Rejected,
    /// A translator is not installed or was killed, or its files cannot be accessed.
    Unavailable,
}

impl From<std::io::Error> for Failure {
    fn from(_: std::io::Error) -> Self {
        Self::Unavailable
    }
}

fn run_translators(source: &str, options: &str, level: &str, stem: &Path) -> Result<Vec<u8>, Failure> {
    let file = |extension: &str| -> PathBuf { stem.with_extension(format!("{}.{extension}", std::process::id())) };
    let (text, ir, bitcode, module) = (file("cl"), file("ll"), file("bc"), file("spv"));
    std::fs::write(&text, source)?;
    let standard = if options.contains("-cl-std") { "" } else { "-cl-std=CL1.2" };
    let clang = format!("-x cl -S -emit-llvm -target spir64 -Xclang -finclude-default-header -w {standard} -O{level} {options}");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let done =
        run(Command::new("clang-15").args(clang.split_whitespace()).current_dir(include).arg(&text).arg("-o").arg(&ir)).and_then(|()| {
            // llvm-spirv does not support `freeze`. Only optimisers need this instruction, so replace it by a bitcast
            // to the same type.
            let lines = std::fs::read_to_string(&ir)?;
            let frozen = |line: &str| match line.split_once(" = freeze ") {
                Some((result, value)) => {
                    let ty = value.rsplit_once(' ').map_or(value, |(ty, _)| ty);
                    format!("{result} = bitcast {value} to {ty}\n")
                }
                None => format!("{line}\n"),
            };
            std::fs::write(&ir, lines.lines().map(frozen).collect::<String>())?;
            run(Command::new("clang-15").args("-x ir -c -emit-llvm -target spir64 -w -O0".split(' ')).arg(&ir).arg("-o").arg(&bitcode))?;
            run(Command::new("llvm-spirv-15")
                .arg(EXTENSIONS)
                .arg("--preserve-ocl-kernel-arg-type-metadata-through-string")
                .arg(&bitcode)
                .arg("-o")
                .arg(&module))?;
            Some(std::fs::read(&module)?).filter(|bytes| !bytes.is_empty()).ok_or(Failure::Rejected)
        });
    for file in [text, ir, bitcode, module] {
        // Ignore the error: a file may not have been created.
        let _ = std::fs::remove_file(file);
    }
    done
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    match status.code() {
        Some(0) => Ok(()),
        Some(_) => Err(Failure::Rejected),
        None => Err(Failure::Unavailable),
    }
}
