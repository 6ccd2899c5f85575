//! Tests SPIR-V as a source. The tests check the results of the modules in `../tests/spirv` on the interpreter, and the
//! build log of rejected modules. A module with random damage must be built or rejected in bounded time.
//!
//! By default, the number of damaged modules is fixed. `WGCL_FUZZ_SECONDS` sets a duration instead, `WGCL_FUZZ_SEED`
//! the first seed, `WGCL_FUZZ_MODULES` another folder of modules. `WGCL_FUZZ_LAST` names a file to which the test
//! writes each damaged module before its build. After a crash, the file contains the module that caused the crash.

#![allow(clippy::expect_used, clippy::panic, clippy::cast_possible_truncation, reason = "tests may panic")]

use std::path::Path;
use std::time::{Duration, Instant};

use wgcl_compiler::interpret::{Argument, Memory, MemoryLocation, NdRange, ObjectId, Program, Settings, Stage};
use wgcl_compiler::ir::KernelParam;
use wgcl_compiler::launch::{LaunchError, LaunchKey};
use wgcl_compiler::pipe::PipeLayout;
use wgcl_compiler::program::{BuildOptions, BuildResult};
use wgcl_compiler::specialise::specialise;
use wgcl_compiler::spirv::{self, InvalidHeader, Source, Specialisation, read_words, specialisation_constants};
use wgcl_compiler::target::Target;

/// The time limit for building one damaged module, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);
/// The number of damaged variants of each module.
const COUNT: u64 = 400;

fn module(name: &str) -> Vec<u32> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/spirv").join(name).with_extension("spv");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    read_words(&bytes).expect("a module")
}

fn build(words: &[u32], specialisation: &Specialisation) -> BuildResult {
    build_for(words, specialisation, &Target::full().changed(|target| target.language.independent_subgroups = true))
}

fn build_for(words: &[u32], specialisation: &Specialisation, target: &Target) -> BuildResult {
    spirv::build(Source { words, specialisation }, &BuildOptions::default(), target)
}

/// Returns a function that returns a new id at each call, from 1 on.
fn object_ids() -> impl FnMut() -> Option<ObjectId> {
    let mut last = 0;
    move || {
        last += 1;
        ObjectId::new(last)
    }
}

/// Runs a kernel whose first argument is a buffer of `size` words, and returns the contents of the buffer. `more` are
/// the further arguments.
fn run(words: &[u32], specialisation: &Specialisation, kernel: &str, items: u32, size: usize, more: &[Argument]) -> Vec<u32> {
    run_with(words, specialisation, kernel, (items, size), more, Vec::new())
}

/// Like [`run`]. `objects` are the contents of further memory objects, whose ids start at 2.
fn run_with(
    words: &[u32],
    specialisation: &Specialisation,
    kernel: &str,
    (items, size): (u32, usize),
    more: &[Argument],
    objects: Vec<Vec<u8>>,
) -> Vec<u32> {
    let result = build(words, specialisation);
    let program = result.program.unwrap_or_else(|| panic!("{}", result.log));
    let program = Program::new(&program.module, Settings::new(Stage::Built, &Target::full()));
    let mut memory = Memory::default();
    let mut name = object_ids();
    let object = name().expect("a name");
    memory.insert(object, vec![0; size * 4], false);
    for bytes in objects {
        memory.insert(name().expect("a name"), bytes, false);
    }
    let instance = program.instantiate(&mut memory, &mut name).expect("names");
    let mut arguments = vec![Argument::Buffer(Some(MemoryLocation { object, offset: 0 }))];
    arguments.extend(more.iter().cloned());
    let outcome = program.launch(&instance, kernel, &arguments, &NdRange::linear(items, items), &mut memory, &mut Vec::new());
    outcome.unwrap_or_else(|fault| panic!("{kernel}: {fault}"));
    let bytes = memory.get(object).expect("the buffer");
    bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn control(kernel: &str, items: u32, size: usize) -> Vec<u32> {
    run(&module("control"), &Specialisation::new(), kernel, items, size, &[])
}

#[test]
fn irreducible_control_flow_is_supported() {
    let expected = |item: u32| {
        let mut number = item + if item.is_multiple_of(2) { 11 } else { 10 };
        while number < 100 {
            number += 11;
        }
        number
    };
    assert_eq!(control("irreducible", 16, 16), (0..16).map(expected).collect::<Vec<_>>());
}

#[test]
fn jumps_leave_several_loops() {
    let mut count = 0;
    'all: for outer in 0..5 {
        let mut whole = true;
        for inner in 0..5 {
            count += 1;
            match (outer, inner) {
                (1, 3) => {
                    whole = false;
                    break;
                }
                (3, 1) => {
                    count += 100;
                    break 'all;
                }
                _ => {}
            }
        }
        count += if whole { 10 } else { 0 };
    }
    assert_eq!(control("jumps_out", 1, 1), [count]);
}

#[test]
fn cases_fall_through() {
    assert_eq!(control("falls_through", 5, 5), [11, 11, 112, 5, 5]);
}

#[test]
fn phis_are_assigned_in_parallel() {
    assert_eq!(control("swaps", 1, 1), [21]);
}

#[test]
fn specialization_constants_affect_sizes_and_initializers() {
    let words = module("constants");
    assert_eq!(run(&words, &Specialisation::new(), "k", 1, 3, &[]), [9, 7, 5]);
    let given = Specialisation::from([(1, 3), (2, 1), (7, 1 << 32 | 9)]);
    assert_eq!(run(&words, &given, "k", 1, 3, &[]), [7, 100, 9]);
    let mut known = specialisation_constants(&words);
    known.sort_unstable();
    assert_eq!(known, [(1, 4), (2, 1), (7, 8)]);
}

#[test]
fn pipes_transfer_packets() {
    let layout = PipeLayout::new(4, 3).expect("a pipe");
    let mut bytes = layout.constants().to_vec();
    bytes.resize(usize::try_from(layout.size()).expect("small"), 0);
    let pipe = Argument::Buffer(Some(MemoryLocation { object: ObjectId::new(2).expect("a name"), offset: 0 }));
    let found = run_with(&module("pipes"), &Specialisation::new(), "ring", (1, 7), &[pipe.clone(), pipe], vec![bytes]);
    assert_eq!(found, [3, 1, 2, 0, 20, 21, u32::MAX]);
}

/// Builds a module for a device with independent subgroups, and runs a kernel of it in groups of 16.
#[test]
fn named_barriers_wait_for_some_subgroups() {
    let words = module("named_barriers");
    let target = Target::full().changed(|target| {
        target.language.independent_subgroups = true;
        target.language.subgroup_size = 2;
    });
    let result = build_for(&words, &Specialisation::new(), &target);
    let built = result.program.unwrap_or_else(|| panic!("{}", result.log));
    // The state of two barriers, and the counter.
    assert_eq!(built.kernels[0].local_memory, 28);
    let program = Program::new(&built.module, Settings::new(Stage::Built, &target));
    let mut memory = Memory::default();
    let object = ObjectId::new(1).expect("a name");
    memory.insert(object, vec![0; 48 * 4], false);
    let instance = program.instantiate(&mut memory, || ObjectId::new(2)).expect("names");
    let arguments = [Argument::Buffer(Some(MemoryLocation { object, offset: 0 }))];
    let outcome = program.launch(&instance, "rounds", &arguments, &NdRange::linear(48, 16), &mut memory, &mut Vec::new());
    outcome.unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(memory.get(object).expect("the buffer"), [1, 0, 0, 0].repeat(48));
}

#[test]
fn named_barriers_need_independent_subgroups() {
    let result = build_for(&module("named_barriers"), &Specialisation::new(), &Target::full());
    assert!(result.program.is_none());
    assert!(result.log.contains("whose subgroups do not make independent progress, is not supported"), "{}", result.log);
}

#[test]
fn pipe_storage_keeps_packets_between_launches() {
    let words = module("pipe_storage");
    let built = build(&words, &Specialisation::new());
    let built = built.program.unwrap_or_else(|| panic!("{}", built.log));
    let program = Program::new(&built.module, Settings::new(Stage::Built, &Target::full()));
    let mut memory = Memory::default();
    let mut name = object_ids();
    let object = name().expect("a name");
    memory.insert(object, vec![0; 24], false);
    let instance = program.instantiate(&mut memory, name).expect("names");
    let arguments = [Argument::Buffer(Some(MemoryLocation { object, offset: 0 }))];
    let mut run = |kernel: &str, items: u32| {
        let range = NdRange::linear(items, items);
        let outcome = program.launch(&instance, kernel, &arguments, &range, &mut memory, &mut Vec::new());
        outcome.unwrap_or_else(|fault| panic!("{kernel}: {fault}"));
        let bytes = memory.get(object).expect("the buffer");
        bytes.as_chunks::<4>().0.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect::<Vec<_>>()
    };
    assert_eq!(run("send", 3)[..3], [0, 0, 0]);
    assert_eq!(run("receive", 1), [3, 3, 0, 100, 0, 7]);
    assert_eq!(run("receive", 1), [2, 3, 1, 100, 0, 7]);
    // The first pipe has place for three more packets, the second one for two.
    assert_eq!(run("send", 3)[..3], [0, 0, -1]);
}

#[test]
fn operations_without_operators_have_the_expected_results() {
    let more = [Argument::Value(7_u32.to_le_bytes().to_vec()), Argument::Value(300.5_f32.to_le_bytes().to_vec())];
    let found = run(&module("numbers"), &Specialisation::new(), "k", 1, 9, &more);
    assert_eq!(found, [1, 1, 5, 255, 3, 3, 54, 1, 56]);
}

#[test]
fn structures_are_selected_and_addresses_are_vectors() {
    assert_eq!(run(&module("later"), &Specialisation::new(), "k", 4, 4, &[]), [7 + 42, 3 + 3 + 42, 7 + 2 + 42, 3 + 3 + 42]);
}

#[test]
fn built_in_variables_may_be_imported() {
    assert_eq!(run(&module("imported"), &Specialisation::new(), "k", 4, 4, &[]), [0, 3, 6, 9]);
}

#[test]
fn split_barriers_are_supported() {
    assert_eq!(run(&module("split"), &Specialisation::new(), "turn", 8, 8, &[]), [49, 36, 25, 16, 9, 4, 1, 0]);
}

#[test]
fn clock_readings_do_not_decrease() {
    assert_eq!(run(&module("clock"), &Specialisation::new(), "order", 1, 1, &[]), [1]);
}

#[test]
fn both_byte_orders_are_read() {
    let words = module("control");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    assert_eq!(read_words(&bytes), Ok(words));
}

#[test]
fn invalid_modules_are_rejected() {
    assert_eq!(read_words(b"kernel void k() {}"), Err(InvalidHeader::Size(18)));
    assert_eq!(read_words(&[0; 20]), Err(InvalidHeader::Magic(0)));
    let mut words = module("control");
    words[1] = 0x0002_0000;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(read_words(&bytes), Err(InvalidHeader::Version(2, 0)));
}

#[test]
fn the_log_contains_the_instruction_and_the_offset() {
    let mut words = module("numbers");
    // Replace the second operand of the addition by an undefined id.
    let at = words.iter().position(|word| word & 0xffff == 149).expect("OpIAddCarry");
    words[at + 4] = 9999;
    let result = build(&words, &Specialisation::new());
    assert!(result.program.is_none());
    let wanted = format!("OpIAddCarry at byte {}: %9999 is not defined", at * 4);
    assert!(result.log.starts_with("error: %") && result.log.contains(&wanted), "{}", result.log);
}

#[test]
fn the_log_contains_source_locations_and_names() {
    let mut words = module("later");
    // Replace the second operand of the last addition by an undefined id.
    let at = words.iter().rposition(|word| *word == 5 << 16 | 128).expect("OpIAdd");
    let result = words[at + 2];
    words[at + 4] = 9999;
    let log = build(&words, &Specialisation::new()).log;
    assert_eq!(log, format!("later.cl:12:5: error: %{result} \"sum\" = OpIAdd at byte {}: %9999 is not defined\n", at * 4));
}

#[test]
fn images_and_samplers_that_blocks_capture_are_parameters() {
    let result = build(&module("enqueue_image"), &Specialisation::new());
    let program = result.program.unwrap_or_else(|| panic!("{}", result.log));
    let count = |wanted: &KernelParam| {
        let blocks = program.module.functions.iter().filter(|function| wgcl_compiler::enqueue::is_block(&function.name));
        let params = blocks.filter_map(|function| function.kernel.as_ref()).map(|kernel| kernel.params.clone());
        let mut counts: Vec<usize> = params.map(|params| params.iter().filter(|param| *param == wanted).count()).collect();
        counts.sort_unstable();
        counts
    };
    // The block of `add`, the outer block and the inner block of `start`.
    assert_eq!(count(&KernelParam::Image), [2, 2, 3]);
    assert_eq!(count(&KernelParam::Sampler), [1, 1, 1]);
}

#[test]
fn device_enqueue_without_queues_is_an_error() {
    let target = Target::full().changed(|target| target.language.device_enqueue = false);
    let words = module("enqueue_direct");
    let result = spirv::build(Source { words: &words, specialisation: &Specialisation::new() }, &BuildOptions::default(), &target);
    assert!(result.program.is_none());
    assert!(result.log.contains("device-side enqueue on this device is not supported"), "{}", result.log);
}

#[test]
fn kernels_of_blocks_are_internal() {
    for name in ["enqueue", "enqueue_optimised", "enqueue_direct"] {
        let result = build(&module(name), &Specialisation::new());
        let program = result.program.unwrap_or_else(|| panic!("{name}: {}", result.log));
        let own = |name: &str| wgcl_compiler::enqueue::is_block(name);
        let names: Vec<&str> = program.kernels.iter().map(|kernel| &*kernel.name).filter(|name| !own(name)).collect();
        let wanted: &[&str] = match name {
            "enqueue_direct" => &["start", "asked"],
            _ => &["nothing_captured", "counted", "captured", "local_memory", "ordered", "nested", "given_queues", "asked"],
        };
        assert_eq!(names, wanted, "{name}");
        assert!(program.kernels.iter().any(|kernel| own(&kernel.name)), "{name}");
        assert!(program.kernels.iter().any(|kernel| kernel.enqueues), "{name}");
    }
}

/// A pseudo-random generator with a fixed sequence.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Applies one to four changes: flips a bit, copies a word, writes a small number, increments a word, removes words, or
/// repeats words. Stops early if few words remain.
fn damage(words: &mut Vec<u32>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = 5 + random.below(words.len() - 6);
        match random.below(6) {
            0 => words[at] ^= 1 << random.below(32),
            1 => words[at] = words[5 + random.below(words.len() - 5)],
            2 => words[at] = random.below(64) as u32,
            3 => {
                let end = (at + 1 + random.below(8)).min(words.len());
                words.drain(at..end);
            }
            4 => {
                let end = (at + 1 + random.below(16)).min(words.len());
                let again = words[at..end].to_vec();
                words.splice(at..at, again);
            }
            _ => words[at] = words[at].wrapping_add(1),
        }
        if words.len() < 16 {
            return;
        }
    }
}

/// Returns the modules to damage, and their names.
fn fuzzed() -> Vec<(String, Vec<u32>)> {
    let Ok(folder) = std::env::var("WGCL_FUZZ_MODULES") else {
        return [
            "control",
            "constants",
            "numbers",
            "later",
            "subgroups",
            "pipes",
            "split",
            "clock",
            "levels",
            "samples",
            "enqueue_direct",
            "named_barriers",
            "pipe_storage",
        ]
        .map(|name| (name.to_owned(), module(name)))
        .to_vec();
    };
    let paths = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let mut modules: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "spv"))
        .filter_map(|path| Some((path.display().to_string(), read_words(&std::fs::read(path).ok()?).ok()?)))
        .collect();
    modules.sort();
    modules
}

/// Compiles a shader for every kernel. Returns only errors that are defects of the compiler.
fn shaders(program: &wgcl_compiler::program::Program) -> Result<(), LaunchError> {
    for function in program.module.functions.iter().filter(|function| function.kernel.is_some()) {
        match specialise(&program.module, &function.name, &LaunchKey::example(function, [64, 1, 1]), &Target::full()) {
            Err(error @ (LaunchError::Internal { .. } | LaunchError::NoKernel(_))) => return Err(error),
            Ok(_)
            | Err(
                LaunchError::Limit { .. } | LaunchError::TooLarge { .. } | LaunchError::Unsupported { .. } | LaunchError::NotUniform { .. },
            ) => {}
        }
    }
    Ok(())
}

#[test]
fn multisample_images_require_the_extension() {
    let log = |target: &Target| build_for(&module("samples"), &Specialisation::new(), target).log;
    assert_eq!(log(&Target::full()), "");
    let without = log(&Target::full().changed(|target| target.language.multisample_images = false));
    assert!(without.contains("multisample images without cl_khr_gl_msaa_sharing"), "{without}");
}

#[test]
fn damaged_modules_are_rejected_or_built() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, seconds) = (number("WGCL_FUZZ_SEED").unwrap_or(0), number("WGCL_FUZZ_SECONDS"));
    let begin = Instant::now();
    let modules = fuzzed();
    let mut built = 0;
    for seed in first.. {
        let enough = seconds.map_or(seed - first >= COUNT, |seconds| begin.elapsed().as_secs() >= seconds);
        if enough {
            break;
        }
        for (name, words) in &modules {
            let mut words = words.clone();
            damage(&mut words, &mut Random(seed));
            let started = Instant::now();
            if let Ok(path) = std::env::var("WGCL_FUZZ_LAST") {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                std::fs::write(path, bytes).expect("a file");
            }
            let result = build(&words, &Specialisation::new());
            assert!(!result.log.contains("internal"), "{name}, seed {seed}: {}", result.log);
            assert!(result.program.is_some() || !result.log.is_empty(), "{name}, seed {seed}: rejected without a message");
            if let Some(program) = &result.program {
                shaders(program).unwrap_or_else(|error| panic!("{name}, seed {seed}: {error}"));
            }
            assert!(started.elapsed() < LIMIT, "{name}, seed {seed} took {:?}", started.elapsed());
            built += u64::from(result.program.is_some());
        }
    }
    assert!(built > 0, "no damaged module was built: the damage is too large for a useful test");
}
