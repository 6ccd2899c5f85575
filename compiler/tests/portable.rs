//! Every kernel of `tests/cl` and of the examples in the form that Metal, DX12 and WebGPU get: it must pass naga's full validation, and print in MSL, HLSL
//! and WGSL. `portable.txt` beside this file lists what does not, with the reasons; it is held to both ways.
//!
//! Then the same for what is known of each of these devices: its types, its limits, its language. Such a device may refuse a kernel; what it takes prints, has no more buffers and local memory
//! than it has, and, in WGSL, is read and found valid by naga again.
//!
//! The compiler's end of those devices, for which there is no machine among those that the tests run on: what kernels compute in this form is tested on
//! Vulkan, by wgpu's own commands (`WGCL_PORTABLE`).

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

/// Stack of a thread that compiles: sources may nest deeply.
const STACK: usize = 256 << 20;

/// The languages by their names in the list.
const LANGUAGES: [(&str, Format); 3] = [("msl", Format::Msl), ("hlsl", Format::Hlsl), ("wgsl", Format::Wgsl)];

/// Stage, and what is wrong there; and the files of which that is so. The stage is a language, or `shader` where there is none to print.
type Failures = BTreeMap<(String, String), BTreeSet<String>>;

/// A source with the options of its builds and the sizes of groups that its kernels are launched with.
struct Job {
    name: String,
    source: String,
    builds: Vec<String>,
    groups: BTreeMap<String, Vec<[u32; 3]>>,
}

/// All files below a folder with that ending.
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

/// The texts of a file's directives of that name.
fn directives<'a>(source: &'a str, name: &str) -> Vec<&'a str> {
    source.lines().filter_map(|line| line.trim().strip_prefix("// ")?.strip_prefix(name)?.strip_prefix(':').map(str::trim)).collect()
}

/// Whether a `.cl` file says that it needs a feature of OpenCL C 3.0, or an extension, that the devices of this form do not report: they skip it.
fn is_skipped(source: &str, target: &Target) -> bool {
    let is_missing = |word: &str| {
        let extension = word.starts_with("cl_") && !target.language.extensions.iter().any(|known| known == word);
        extension || word.starts_with("__opencl_c_") && !target.has_feature(word)
    };
    directives(source, "requires").iter().flat_map(|words| words.split_whitespace()).any(is_missing)
}

/// A `.cl` file; `None` where it says that it does not build.
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

/// The source in an example, with what Python would put into it. `None` where pyopencl writes the source.
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
    let taken = |(_, source): &(String, String)| !is_skipped(source, &target);
    let tests = sources("tests/cl", "cl").into_iter().filter(taken).filter_map(|(name, source)| job_of_test(name, source));
    let examples = sources("examples", "py").into_iter().filter_map(|(name, text)| job_of_example(name, &text));
    tests.chain(examples).collect()
}

/// A launch as most are: no memory is bound twice.
fn key(function: &Function, local_size: [u32; 3]) -> LaunchKey {
    LaunchKey::example(function, local_size).changed(|key| key.binding.distinct = true)
}

/// Takes every kernel of a source through all languages; returns how many shaders were made.
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

/// What goes wrong, by what it is: by the heading of `listed` that is a part of it, where there is one. And how many shaders were made.
fn all_failures(listed: &Failures) -> (Failures, usize) {
    let jobs = jobs();
    // How many buffers can be bound is the device's affair.
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

/// Reads the list: `STAGE: PART OF THE MESSAGE`, indented `because REASON`, and the files of which that is so, indented, a line each.
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

/// What one of two lists has that the other has not.
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
    assert!(gone.is_empty(), "in tests/portable.txt, and not so any more:\n{gone}");
    // Were directives or folders read wrongly, there would be fewer.
    assert!(made > 1000, "{made} shaders only");
}

/// The devices, and the languages that they take.
fn devices() -> [(Format, Target); 4] {
    [(Format::Msl, Target::metal()), (Format::Hlsl, Target::dx12()), (Format::Glsl, Target::gles()), (Format::Wgsl, Target::webgpu())]
}

/// Leaves a text where `WGCL_TEST_SHADERS` wants it, for other compilers (`scripts/check-shaders`): `FOLDER/FORMAT/FILE.KERNEL.BUILD`.
fn keep(text: &str, format: Format, name: &str) {
    let Some(folder) = std::env::var_os("WGCL_TEST_SHADERS") else { return };
    let folder = PathBuf::from(folder).join(format!("{format:?}").to_lowercase());
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name.replace('/', "_")), text).unwrap();
}

/// What a shader has too much of, or what is wrong with its text.
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
    keep(&text, format, name);
    (format == Format::Wgsl).then(|| naga::front::wgsl::parse_str(&text).map_err(|error| error.emit_to_string(&text))).and_then(|parsed| {
        let module = match parsed {
            Ok(module) => module,
            Err(error) => return Some(error),
        };
        let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
        validator.validate(&module).err().map(|error| format!("{:?}", error.into_inner()))
    })
}

/// Takes the kernels of a source through a device's form; returns how many it takes and how many it refuses.
fn take(job: &Job, format: Format, target: &Target, fail: &dyn Fn(String)) -> (usize, usize) {
    let (mut taken, mut refused) = (0, 0);
    for (number, text) in job.builds.iter().enumerate() {
        let options = options::parse_options(text).unwrap();
        let source = Source { text: job.source.clone(), ..Default::default() };
        let Some(program) = build::build(&source, &options, target).program else {
            refused += 1;
            continue;
        };
        for function in program.module.functions.iter().filter(|function| function.kernel.is_some()) {
            let size = job.groups.get(&function.name).and_then(|sizes| sizes.first()).copied().unwrap_or([64, 1, 1]);
            match specialise(&program.module, &function.name, &key(function, size), target) {
                Ok(shader) => {
                    taken += 1;
                    if let Some(fault) = fault(&shader, format, target, &format!("{}.{}.{number}", job.name, function.name)) {
                        fail(format!("{} of {} with `{text}`: {fault}", function.name, job.name));
                    }
                }
                Err(
                    LaunchError::Unsupported { .. }
                    | LaunchError::Limit { .. }
                    | LaunchError::TooLarge { .. }
                    | LaunchError::NotUniform { .. },
                ) => refused += 1,
                Err(error) => fail(format!("{}: {error}", job.name)),
            }
        }
    }
    (taken, refused)
}

#[test]
fn what_a_device_takes_is_within_its_limits() {
    for (format, target) in devices() {
        all_within_limits(format, &target, jobs(), 1000);
    }
}

#[test]
fn doubles_by_integers_are_taken_by_every_device() {
    for (format, target) in devices() {
        let jobs =
            jobs().into_iter().filter(|job| job.source.contains("double")).map(|job| Job { name: format!("{}.fp64", job.name), ..job });
        all_within_limits(format, &target.emulating(Emulated { fp64: true, ..Emulated::default() }), jobs.collect(), 50);
    }
}

/// Takes all kernels through a device's form, of which it has to take some.
fn all_within_limits(format: Format, target: &Target, jobs: Vec<Job>, least: usize) {
    let (next, counts, faults) = (AtomicUsize::new(0), Mutex::new((0, 0)), Mutex::new(Vec::new()));
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (taken, refused) = take(job, format, target, &|fault| faults.lock().unwrap().push(fault));
            let mut counts = counts.lock().unwrap();
            *counts = (counts.0 + taken, counts.1 + refused);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).unwrap();
        }
    });
    let (taken, refused) = counts.into_inner().unwrap();
    let faults = faults.into_inner().unwrap();
    println!("{format:?}: {taken} kernels taken, {refused} refused, {} faults", faults.len());
    assert!(faults.is_empty(), "{format:?}:\n{}", faults.join("\n"));
    assert!(taken >= least, "{format:?}: {taken} kernels only");
}
