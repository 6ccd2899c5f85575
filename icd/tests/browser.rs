//! Runs kernels of `tests/cl` in a browser: headless Chromium with SwiftShader runs the WGSL that the compiler writes
//! for WebGPU. The test compares the results with the directives of the files.
//!
//! `WGCL_TEST_BROWSER` names the browser. By default, the test looks for `chromium` under its usual names. If there is
//! no browser, or if it lacks WebGPU, the test reports that and returns. `WGCL_TEST_BROWSER_FILES` selects other files
//! by parts of their paths. An empty value selects all files.

#![allow(dead_code, reason = "the shared modules contain items that only other tests use")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "cl_files/compare.rs"]
mod compare;
#[path = "cl_files/directive.rs"]
mod directive;
#[path = "browser/launch.rs"]
mod launch;
#[path = "cl_files/record.rs"]
mod record;
#[path = "browser/server.rs"]
mod server;

mod common;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use compare::{Records, compare};
use directive::Variant;
use launch::{Launch, Verdict};
use serde_json::Value as Json;
use wgcl_compiler::target::Target;

/// The default files. All runs that WebGPU supports must work. Each file must have at least one such run.
const FILES: [&str; 16] = [
    "programs/bitonic_sort.cl",
    "programs/blur.cl",
    "programs/crc32.cl",
    "programs/mandelbrot.cl",
    "programs/matrix_struct.cl",
    "programs/nbody.cl",
    "programs/sgemm.cl",
    "programs/sha256.cl",
    "programs/xorshift_pi.cl",
    "arith/float_ops.cl",
    "arith/integer_ops.cl",
    "arith/long_ops.cl",
    "atomics/one_place.cl",
    "control/loops.cl",
    "memory/private_arrays.cl",
    "workgroup/whole_groups.cl",
];

/// The usual names of Chromium's executable.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// The browser's message for a barrier in control flow that is not uniform by the rules of WGSL.
const NOT_UNIFORM: &str = "must only be called from uniform control flow";

/// The time limit of the whole test. A browser starts slowly on a machine with few cores.
const PATIENCE: Duration = Duration::from_secs(240);

fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("WGCL_TEST_BROWSER") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).flat_map(|folder| NAMES.map(|name| folder.join(name))).find(|file| file.is_file())
}

/// A browser process that is killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(browser: &Path, profile: &Path, address: &str) -> Running {
    let arguments = [
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--enable-unsafe-webgpu",
        "--use-webgpu-adapter=swiftshader",
        "--no-first-run",
    ];
    let command = Command::new(browser)
        .args(arguments)
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Running(command.unwrap_or_else(|error| panic!("{}: {error}", browser.display())))
}

/// Appends all `.cl` files below a folder.
fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "cl") {
            files.push(path);
        }
    }
}

/// Returns the selected files, and whether WebGPU must support at least one run of each file.
fn files(folder: &Path) -> (Vec<PathBuf>, bool) {
    let Ok(words) = std::env::var("WGCL_TEST_BROWSER_FILES") else { return (FILES.iter().map(|file| folder.join(file)).collect(), true) };
    let mut files = Vec::new();
    find(folder, &mut files);
    files.sort();
    let is_selected = |file: &PathBuf| words.is_empty() || words.split_whitespace().any(|word| file.to_string_lossy().contains(word));
    files.retain(is_selected);
    (files, false)
}

/// Returns the launches of a file, each with the index of its variant and of its run. Also returns the reasons for runs
/// without a launch.
fn launches(text: &str, variants: &[Variant]) -> (Vec<(usize, usize, Launch)>, Vec<String>) {
    // The browser uses SwiftShader, whose sines are inaccurate. On a Vulkan device, the GPU back end would detect this.
    let target = Target::webgpu().changed(|target| target.shaders.defects.coarse_sines = true);
    let (mut taken, mut refused) = (Vec::new(), Vec::new());
    for (number, variant) in variants.iter().enumerate() {
        for (index, run) in variant.runs.iter().enumerate() {
            match launch::launches(text, variant, (run, index == 0), &target) {
                Ok(launches) => taken.extend(launches.into_iter().map(|launch| (number, index, launch))),
                Err(reason) => refused.push(reason),
            }
        }
    }
    (taken, refused)
}

/// Decodes hexadecimal digits.
fn bytes(text: &Json) -> Vec<u8> {
    let digits = text.as_str().unwrap().as_bytes().as_chunks::<2>().0;
    digits.iter().map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Compares the results of a launch with the expectations. Returns the mismatches.
fn problems(run: &directive::Run, launch: &Launch, outcome: &Json) -> Vec<String> {
    if let Some(error) = outcome.get("error") {
        return vec![error.to_string()];
    }
    let left = outcome["left"].as_array().unwrap();
    let mut outputs = HashMap::new();
    for (buffer, left) in launch.buffers.iter().zip(left) {
        if let Some((name, size)) = buffer {
            outputs.insert(name.as_str(), bytes(left)[..*size].to_vec());
        }
    }
    // A buffer that the kernel does not use is not bound, so its contents do not change.
    for (name, input) in launch.inputs.iter().filter(|(_, input)| !input.is_scalar) {
        outputs.entry(name).or_insert_with(|| input.bytes.clone());
    }
    let mut recorder = record::Recorder::default();
    compare(run, &launch.inputs, &outputs, &mut Records { title: "", recorder: &mut recorder }).unwrap_or_else(|error| vec![error])
}

#[test]
fn kernels_in_a_browser_meet_their_expectations() {
    let Some(browser) = browser() else {
        println!("skipped: Chromium was not found");
        return;
    };
    let (files, must_support) = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cl"));
    let mut all = Vec::new();
    for path in files {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let variants = directive::parse_file(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (taken, refused) = launches(&text, &variants);
        assert!(!must_support || !taken.is_empty(), "{name}: WebGPU supports none of its runs: {}", refused.join("; "));
        if !taken.is_empty() {
            all.push((name, variants, taken));
        }
    }
    let requests: Vec<&Json> = all.iter().flat_map(|(_, _, taken)| taken.iter().map(|(_, _, launch)| &launch.request)).collect();
    let (address, receiver) = server::serve(serde_json::to_string(&requests).unwrap()).unwrap();
    let profile = tempfile::tempdir().unwrap();
    let running = start(&browser, profile.path(), &address);
    let found = receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{} sent nothing in {PATIENCE:?}", browser.display()));
    drop(running);
    let found: Json = serde_json::from_str(&found).unwrap();
    if let Some(missing) = found.get("missing") {
        println!("skipped: {missing} in {}", browser.display());
        return;
    }
    let outcomes = found["outcomes"].as_array().unwrap();
    assert_eq!(outcomes.len(), requests.len());
    println!("{} launches of {} files on {}", outcomes.len(), all.len(), found["adapter"]);
    let launched = all
        .iter()
        .flat_map(|(name, variants, taken)| taken.iter().map(move |(number, index, launch)| (name, &variants[*number], *index, launch)));
    let (mut wrong, mut refused) = (Vec::new(), 0);
    for ((name, variant, index, launch), outcome) in launched.zip(outcomes) {
        let run = &variant.runs[index];
        let is_refused = outcome["error"].as_str().is_some_and(|error| error.contains(NOT_UNIFORM));
        let found = match (launch.verdict, is_refused) {
            (Verdict::Rejected, true) => {
                refused += 1;
                Vec::new()
            }
            (Verdict::Rejected, false) => vec!["the compiler rejects the control flow of a barrier, but the browser accepts it".to_owned()],
            (Verdict::Accepted, _) => problems(run, launch, outcome),
        };
        wrong.extend(found.into_iter().map(|problem| format!("{name} {} {}: {problem}", variant.label, run.launch.kernel)));
    }
    let answered = all.iter().flat_map(|(_, _, taken)| taken).filter(|(_, _, launch)| launch.becomes_uniform).count();
    println!(
        "{refused} rejected for barriers in non-uniform control flow, as the compiler predicted; {answered} of these kernels also run after the compiler made their control flow uniform"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
