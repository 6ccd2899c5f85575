//! Compiles every kernel of `tests/cl` and of the examples in the portable form, which Metal, Direct3D 12 and WebGPU
//! use. Each shader must pass naga's full validation, and naga must print it as MSL, HLSL and WGSL. `portable.txt` in
//! this folder lists the exceptions with reasons. The test also fails if an entry no longer applies.
//!
//! A second test compiles the same kernels for the limits and features of each of these devices, and of OpenGL ES. A
//! device may reject a kernel. naga must print each accepted shader, which must be within the limits for buffers and
//! local memory. In WGSL, the text must pass naga's parser and validator.
//!
//! No test machine has Metal or Direct3D 12. Tests on Vulkan with `WGCL_PORTABLE` run the kernels in the portable form.
//! `icd/tests/browser.rs` runs kernels on WebGPU.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use wgcl_compiler::build;
use wgcl_compiler::emit::{BindingKind, Format, Shader, print};
use wgcl_compiler::ir::Function;
use wgcl_compiler::launch::{LaunchError, LaunchKey};
use wgcl_compiler::options;
use wgcl_compiler::program::Source;
use wgcl_compiler::specialise::specialise;
use wgcl_compiler::target::{Emulated, Target};

/// Stack size in bytes of a thread that compiles. It is large, because sources may be nested deeply.
const STACK: usize = 256 << 20;

/// The shading languages, with their names in `portable.txt`.
const LANGUAGES: [(&str, Format); 3] = [("msl", Format::Msl), ("hlsl", Format::Hlsl), ("wgsl", Format::Wgsl)];

/// For each stage and error: the files in which the error occurs. The stage is a language, or `shader` if no shader was
/// created.
type Failures = BTreeMap<(String, String), BTreeSet<String>>;

/// A source with its build options and the group sizes of its launches.
struct Job {
    name: String,
    source: String,
    builds: Vec<String>,
    groups: BTreeMap<String, Vec<[u32; 3]>>,
}

/// Appends all files below a folder that have the extension `ending`.
fn find(folder: &Path, ending: &str, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, ending, files);
        } else if path.extension().is_some_and(|extension| extension == ending) {
            files.push(path);
        }
    }
    files.sort();
}

/// Returns the texts of the directives `// NAME: TEXT` with the given name.
fn directives<'a>(source: &'a str, name: &str) -> Vec<&'a str> {
    source.lines().filter_map(|line| line.trim().strip_prefix("// ")?.strip_prefix(name)?.strip_prefix(':').map(str::trim)).collect()
}

/// Whether a `.cl` file requires a feature or an extension that these devices do not report, or a device without
/// shaders.
fn is_skipped(source: &str, target: &Target) -> bool {
    let is_missing = |word: &str| {
        let extension = word.starts_with("cl_") && !target.language.extensions.iter().any(|known| known == word);
        word == "!shaders" || extension || word.starts_with("__opencl_c_") && !target.has_feature(word)
    };
    directives(source, "requires").iter().flat_map(|words| words.split_whitespace()).any(is_missing)
}

/// Returns the job for a `.cl` file, or `None` if the file tests a build error.
fn job_of_test(name: String, source: String) -> Option<Job> {
    let is_error = |line: &str| line.contains("// error:") || line.contains("// error anywhere:");
    if source.lines().any(is_error) {
        return None;
    }
    let mut builds = directives(&source, "build");
    if builds.is_empty() {
        builds.push("");
    }
    let mut chosen: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
    for text in directives(&source, "for") {
        let (variable, values) = text.split_once('=').unwrap();
        let with = |chosen: &Vec<_>, value: &'_ _| [chosen.as_slice(), &[(variable.trim(), *value)]].concat();
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        chosen = chosen.iter().flat_map(|chosen| values.iter().map(move |value| with(chosen, value))).collect();
    }
    let options = |build: &str, chosen: &[(&str, &str)]| {
        let defined: String = chosen.iter().map(|(variable, value)| format!("-D{variable}={value} ")).collect();
        defined + &chosen.iter().fold(build.to_owned(), |build, (variable, value)| build.replace(&format!("${variable}"), value))
    };
    let builds = builds.iter().flat_map(|build| chosen.iter().map(move |chosen| options(build, chosen))).collect();
    let mut groups: BTreeMap<String, Vec<[u32; 3]>> = BTreeMap::new();
    for run in directives(&source, "run") {
        let mut words = run.split_whitespace();
        let kernel = words.next().unwrap().to_owned();
        let sizes = groups.entry(kernel).or_default();
        if let Some(local) = words.find_map(|word| word.strip_prefix("local=")) {
            let mut numbers = local.split('x').map(|number| number.parse().unwrap());
            let size = [0; 3].map(|_| numbers.next().unwrap_or(1));
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
    }
    Some(Job { name, source, builds, groups })
}

/// Returns the job for the source in an example, with the values that the example's Python code inserts. Returns `None`
/// if pyopencl generates the source.
fn job_of_example(name: String, text: &str) -> Option<Job> {
    let between = |head: &str| {
        let (_, rest) = text.split_once(&format!("\n{head} = \"\"\""))?;
        rest.split_once("\"\"\"").map(|(source, _)| source.to_owned())
    };
    let source = between("SOURCE")?;
    let source = between("CONSTANTS").map_or(source.clone(), |constants| source.replace("%s", &constants));
    Some(Job { name, source, builds: vec!["-DTILE=16".to_owned()], groups: BTreeMap::new() })
}

fn jobs() -> Vec<Job> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = |folder: &str, ending: &str| -> Vec<(String, String)> {
        let mut files = Vec::new();
        find(&root.join(folder), ending, &mut files);
        let named = |file: PathBuf| (file.strip_prefix(&root).unwrap().display().to_string(), std::fs::read_to_string(&file).unwrap());
        files.into_iter().map(named).collect()
    };
    let target = Target::portable();
    let accepted = |(_, source): &(String, String)| !is_skipped(source, &target);
    let tests = sources("tests/cl", "cl").into_iter().filter(accepted).filter_map(|(name, source)| job_of_test(name, source));
    let examples = sources("examples", "py").into_iter().filter_map(|(name, text)| job_of_example(name, &text));
    tests.chain(examples).collect()
}

/// Returns the launch key of a typical launch, in which arguments do not share memory.
fn key(function: &Function, local_size: [u32; 3]) -> LaunchKey {
    LaunchKey::example(function, local_size).changed(|key| key.binding.distinct = true)
}

/// Compiles every kernel of a source, and prints it in all languages. Returns the number of shaders.
fn run(job: &Job, target: &Target, fail: &dyn Fn(&str, String)) -> usize {
    let mut made = 0;
    for text in &job.builds {
        let options = options::parse_options(text).unwrap_or_else(|error| panic!("{}: {error}", job.name));
        let source = Source { text: job.source.clone(), ..Default::default() };
        let built = build::build(&source, &options, target);
        let program = built.program.unwrap_or_else(|| panic!("{} with `{text}` does not build:\n{}", job.name, built.log));
        for function in program.module.functions.iter().filter(|function| function.kernel.is_some()) {
            let mut sizes = job.groups.get(&function.name).cloned().unwrap_or_default();
            if sizes.is_empty() {
                sizes.push([64, 1, 1]);
            }
            for local_size in sizes {
                match specialise(&program.module, &function.name, &key(function, local_size), target) {
                    Ok(shader) => {
                        made += 1;
                        for (language, format) in LANGUAGES {
                            if let Err(error) = print(&shader, format, target) {
                                fail(language, error.to_string());
                            }
                        }
                    }
                    Err(error) => fail("shader", error.to_string()),
                }
            }
        }
    }
    made
}

/// Returns the failures and the number of shaders. If the message of a failure contains the message of an entry of
/// `listed`, the entry's message replaces it.
fn all_failures(listed: &Failures) -> (Failures, usize) {
    let jobs = jobs();
    // Devices have different limits for bindings. This test uses a high limit, so that no kernel is rejected for it.
    let target = Target::portable().changed(|target| target.shaders.limits.storage_buffers = 256);
    let (next, made, failures) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let fail = |stage: &str, error: String| failures.lock().unwrap().push((stage.to_owned(), error, job.name.clone()));
            made.fetch_add(run(job, &target, &fail), Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).unwrap();
        }
    });
    let mut sorted = Failures::new();
    for (stage, error, file) in failures.into_inner().unwrap() {
        let known = listed.keys().find(|(of, message)| *of == stage && error.contains(message));
        sorted.entry(known.cloned().unwrap_or((stage, error))).or_default().insert(file);
    }
    (sorted, made.into_inner())
}

/// Reads `portable.txt`. An entry is a line `STAGE: PART OF THE MESSAGE`. Indented lines follow: `because REASON`, then
/// one file per line.
fn listed() -> Failures {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/portable.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let mut listed = Failures::new();
    let mut heading: Option<(String, String)> = None;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match (line.strip_prefix("  "), &heading) {
            (None, _) => {
                let (stage, message) = line.split_once(": ").unwrap_or_else(|| panic!("`STAGE: PART OF THE MESSAGE` is expected: {line}"));
                heading = Some((stage.to_owned(), message.to_owned()));
            }
            (Some(reason), Some(heading)) if !listed.contains_key(heading) => {
                assert!(reason.len() > "because ".len() && reason.starts_with("because "), "a reason is expected: {line}");
                listed.insert(heading.clone(), BTreeSet::new());
            }
            (Some(file), Some(heading)) => {
                listed.get_mut(heading).unwrap().insert(file.to_owned());
            }
            (Some(_), None) => panic!("a file without a heading: {line}"),
        }
    }
    listed
}

/// Returns the text of the entries in `one` that are not in `other`.
fn only_in(one: &Failures, other: &Failures) -> String {
    let files = |(what, files): (&(String, String), &BTreeSet<String>)| {
        let rest: Vec<_> = files.iter().filter(|&file| !other.get(what).is_some_and(|files| files.contains(file))).cloned().collect();
        (!rest.is_empty()).then(|| format!("{}: {}\n  {}\n", what.0, what.1, rest.join("\n  ")))
    };
    one.iter().filter_map(files).collect()
}

#[test]
fn every_kernel_is_strictly_valid_and_prints() {
    let listed = listed();
    let (failures, made) = all_failures(&listed);
    println!("{made} shaders");
    let (new, gone) = (only_in(&failures, &listed), only_in(&listed, &failures));
    assert!(new.is_empty(), "not in tests/portable.txt:\n{new}");
    assert!(gone.is_empty(), "in tests/portable.txt, but no longer found:\n{gone}");
    // The number is lower if the test does not find all directives or folders.
    assert!(made > 1000, "only {made} shaders");
}

/// Returns the devices, and their shading languages.
fn devices() -> [(Format, Target); 4] {
    [(Format::Msl, Target::metal()), (Format::Hlsl, Target::dx12()), (Format::Glsl, Target::gles()), (Format::Wgsl, Target::webgpu())]
}

/// If `WGCL_TEST_SHADERS` names a folder, writes the text of a shader to `FOLDER/FORMAT/FILE.KERNEL.BUILD`, for
/// `scripts/check-shaders`.
fn save_shader(text: &str, format: Format, name: &str) {
    let Some(folder) = std::env::var_os("WGCL_TEST_SHADERS") else { return };
    let folder = PathBuf::from(folder).join(format!("{format:?}").to_lowercase());
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name.replace('/', "_")), text).unwrap();
}

/// Returns the limit that a shader exceeds, or the error in its text. Returns `None` if the shader is valid.
fn fault(shader: &Shader, format: Format, target: &Target, name: &str) -> Option<String> {
    let count =
        |uniform: bool| shader.bindings.iter().filter(|binding| matches!(binding.kind, BindingKind::Uniform { .. }) == uniform).count();
    let limits = target.shaders.limits;
    if count(false) > limits.storage_buffers as usize || count(true) > limits.uniform_buffers as usize {
        return Some(format!("{} storage and {} uniform buffers", count(false), count(true)));
    }
    if shader.local_memory > target.language.max_local_memory {
        return Some(format!("{} bytes of local memory", shader.local_memory));
    }
    let text = match print(shader, format, target) {
        Ok(text) => text,
        Err(error) => return Some(error.to_string()),
    };
    save_shader(&text, format, name);
    (format == Format::Wgsl).then(|| naga::front::wgsl::parse_str(&text).map_err(|error| error.emit_to_string(&text))).and_then(|parsed| {
        let module = match parsed {
            Ok(module) => module,
            Err(error) => return Some(error),
        };
        let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
        validator.validate(&module).err().map(|error| format!("{:?}", error.into_inner()))
    })
}

/// Compiles the kernels of a source for a device. Returns the numbers of accepted and rejected kernels.
fn compile_for_device(job: &Job, format: Format, target: &Target, fail: &dyn Fn(String)) -> (usize, usize) {
    let (mut accepted, mut rejected) = (0, 0);
    for (number, text) in job.builds.iter().enumerate() {
        let options = options::parse_options(text).unwrap();
        let source = Source { text: job.source.clone(), ..Default::default() };
        let Some(program) = build::build(&source, &options, target).program else {
            rejected += 1;
            continue;
        };
        for function in program.module.functions.iter().filter(|function| function.kernel.is_some()) {
            let size = job.groups.get(&function.name).and_then(|sizes| sizes.first()).copied().unwrap_or([64, 1, 1]);
            match specialise(&program.module, &function.name, &key(function, size), target) {
                Ok(shader) => {
                    accepted += 1;
                    if let Some(fault) = fault(&shader, format, target, &format!("{}.{}.{number}", job.name, function.name)) {
                        fail(format!("{} of {} with `{text}`: {fault}", function.name, job.name));
                    }
                }
                Err(
                    LaunchError::Unsupported { .. }
                    | LaunchError::Limit { .. }
                    | LaunchError::TooLarge { .. }
                    | LaunchError::NotUniform { .. },
                ) => rejected += 1,
                Err(error) => fail(format!("{}: {error}", job.name)),
            }
        }
    }
    (accepted, rejected)
}

#[test]
fn shaders_are_within_the_limits_of_their_device() {
    for (format, target) in devices() {
        all_within_limits(format, &target, jobs(), 1000);
    }
}

#[test]
fn every_device_accepts_software_doubles() {
    for (format, target) in devices() {
        let jobs =
            jobs().into_iter().filter(|job| job.source.contains("double")).map(|job| Job { name: format!("{}.fp64", job.name), ..job });
        all_within_limits(format, &target.emulating(Emulated { fp64: true, ..Emulated::default() }), jobs.collect(), 50);
    }
}

/// Compiles all kernels for a device, which must accept at least `least` of them.
fn all_within_limits(format: Format, target: &Target, jobs: Vec<Job>, least: usize) {
    let (next, counts, faults) = (AtomicUsize::new(0), Mutex::new((0, 0)), Mutex::new(Vec::new()));
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (accepted, rejected) = compile_for_device(job, format, target, &|fault| faults.lock().unwrap().push(fault));
            let mut counts = counts.lock().unwrap();
            *counts = (counts.0 + accepted, counts.1 + rejected);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).unwrap();
        }
    });
    let (accepted, rejected) = counts.into_inner().unwrap();
    let faults = faults.into_inner().unwrap();
    println!("{format:?}: {accepted} kernels accepted, {rejected} rejected, {} faults", faults.len());
    assert!(faults.is_empty(), "{format:?}:\n{}", faults.join("\n"));
    assert!(accepted >= least, "{format:?}: only {accepted} kernels accepted");
}

/// Compiles a program with one kernel to HLSL for shader model 6.
fn hlsl(text: &str) -> String {
    let (target, source) = (Target::dx12(), Source { text: text.to_owned(), ..Default::default() });
    let program = build::build(&source, &options::parse_options("").unwrap(), &target).program.unwrap();
    let kernel = program.module.functions.iter().find(|function| function.kernel.is_some()).unwrap();
    let shader = specialise(&program.module, &kernel.name, &key(kernel, [1, 1, 1]), &target).unwrap();
    print(&shader, Format::Hlsl, &target).unwrap()
}

/// DXC reads `1L` and `1uL` as 32-bit literals ([`wgcl_compiler::target::Defects::narrow_literals`]).
#[test]
fn hlsl_has_no_literals_of_64_bits() {
    let text = hlsl(
        "kernel void k(global long *a, global ulong2 *b)
        { a[0] = 5000000000; a[1] = -1; a[2] = 1L << a[3]; b[0] = (ulong2)(0xFFFFFFFFFFFFFFFF, 7); }",
    );
    let mut words = text.split(|character: char| !character.is_ascii_alphanumeric());
    let found = words.find(|word| word.starts_with(|first: char| first.is_ascii_digit()) && word.ends_with('L'));
    assert_eq!(found, None, "{text}");
}

/// naga's HLSL writer omits bitcasts of 64-bit integers. Without conversions, DXC reads signed operations as unsigned.
#[test]
fn hlsl_converts_the_operands_of_signed_operations_of_64_bits() {
    for expression in ["x >> y", "min(x, y)", "x / y", "x % y", "x < y", "(float)x", "convert_int_sat(x)", "mul_hi(x, y)"] {
        let text = hlsl(&format!("kernel void k(global long *a) {{ long x = a[0], y = a[1]; a[2] = {expression}; }}"));
        assert!(text.replace("uint64_t(", "").contains("int64_t("), "{expression}:\n{text}");
    }
    let text = hlsl("kernel void k(global const int *a, global ulong *b) { b[0] = (ulong)a[0] >> b[1]; }");
    assert!(text.contains("uint64_t(int64_t("), "{text}");
}
