//! Specialises a program for a launch: counts the passes that change it, and finds the pass that breaks it.

use crate::launches::{Case, SpecialisedPart, outcome, run_parts, run_whole};
use std::collections::BTreeMap;
use std::sync::Mutex;
use wgcl_compiler::interpret::Stage;
use wgcl_compiler::ir::{Module, Region};
use wgcl_compiler::launch::{LaunchError, LaunchKey};
use wgcl_compiler::passes::{self, AfterPass, Watch};
use wgcl_compiler::specialise::{self, launched};
use wgcl_compiler::target::{Inlining, Target};

/// The number of modules that each pass has changed.
pub type Changes = BTreeMap<&'static str, u64>;

/// The parts of each function that a pass may change: the number of parameters, the number of variables, and the body.
type Snapshot = Vec<(usize, usize, Region)>;

fn snapshot(module: &Module) -> Snapshot {
    module.functions.iter().map(|function| (function.params.len(), function.vars.len(), function.body.clone())).collect()
}

/// Specialises a built module. Counts the passes that change it in `changes`.
fn counted<T>(module: &Module, changes: &mut Changes, make: impl FnOnce(&Watch<'_>) -> Result<T, LaunchError>) -> Result<T, LaunchError> {
    let seen = Mutex::new((snapshot(module), Changes::new()));
    let watch = |left: &AfterPass<'_>| {
        let mut seen = seen.lock().expect("no other thread");
        let now = snapshot(&left.module());
        if now != seen.0 {
            seen.1.insert(left.pass, 1);
            seen.0 = now;
        }
    };
    let made = make(&watch)?;
    for (pass, count) in seen.into_inner().expect("no other thread").1 {
        *changes.entry(pass).or_default() += count;
    }
    Ok(made)
}

/// Specialises a kernel for machine code: one work-item per invocation, and no changed bindings ([`without_bindings`]).
fn prepared(module: &Module, case: &Case, watch: &Watch<'_>) -> Result<Module, LaunchError> {
    let key = without_bindings(&case.key).changed(|key| key.binding.coarsen = 1);
    specialise::prepared(module, &case.kernel, &key, &case.target, false, Some(watch))
}

/// Returns the module from which machine code would be generated for a launch. Counts the passes in `changes`.
pub fn native(module: &Module, case: &Case, changes: &mut Changes) -> Result<Module, LaunchError> {
    counted(module, changes, |watch| prepared(module, case, watch))
}

/// Returns the key without merged bindings, split bindings, start offsets, and additional buffers (`extra_buffers`).
fn without_bindings(key: &LaunchKey) -> LaunchKey {
    key.clone().changed(|key| {
        key.binding.merged.clear();
        key.binding.started_args.clear();
        key.binding.extra_buffers = 0;
        key.binding.split.params.clear();
    })
}

/// Specialises a module for all parts of a launch ([`Case::parts`]).
pub fn parts(module: &Module, case: &Case, changes: &mut Changes) -> Result<Vec<SpecialisedPart>, LaunchError> {
    let mut count = case.key.binding.coarsen;
    loop {
        let mut made: Vec<SpecialisedPart> = Vec::new();
        for (key, part) in case.parts(count) {
            let known = made.iter().find(|made| made.key == key).map(|made| made.module.clone());
            let module = match known {
                Some(module) => module,
                None => counted(module, changes, |watch| launched(module, &case.kernel, &key, &case.target, Some(watch)))?,
            };
            made.push(SpecialisedPart { module, key, part: Some(part) });
        }
        let kernel = made.first().and_then(|made| made.module.functions[0].kernel.as_ref());
        let found = kernel.map_or(1, |kernel| 1 << kernel.coarsening_log2);
        if found == count {
            return Ok(made);
        }
        // The key contains only a maximum number of work-items per invocation, as in a driver. The pass `coarsen`
        // selected another number, so divide the groups again for that number.
        count = found;
    }
}

/// Returns the names of the passes, each with the module after the pass. Stops at the first pass that fails.
fn snapshots(module: &Module, run: impl FnOnce(&(dyn Fn(&AfterPass<'_>) + Sync)) -> Result<(), String>) -> Vec<(&'static str, Module)> {
    let list = Mutex::new(vec![("nothing", module.clone())]);
    let failed = run(&|left: &AfterPass<'_>| list.lock().expect("no other thread").push((left.pass, left.module())));
    let mut list = list.into_inner().expect("no other thread");
    if failed.is_err() {
        list.push(("the pass that fails", module.clone()));
    }
    list
}

/// Describes the first pass after which `is_wrong` holds, with the module before and after the pass. Returns `None` if
/// `is_wrong` holds after no pass.
fn first(list: &[(&'static str, Module)], is_wrong: impl Fn(usize, &Module) -> bool) -> Option<String> {
    let wrong = list.iter().enumerate().position(|(index, (_, module))| is_wrong(index, module))?;
    let (pass, after) = &list[wrong];
    let before = wrong.checked_sub(1).map(|index| &list[index].1);
    let before = before.map(|module| format!("{module}=>\n")).unwrap_or_default();
    Some(format!("the result is wrong after {pass}:\n{before}{after}"))
}

/// Whether the results of a module differ from the expected results.
fn differs(case: &Case, module: &Module, stage: Stage, expected: &[Vec<u8>]) -> bool {
    outcome(case, |undefined| run_whole(case, module, stage, undefined)).as_deref() != Ok(expected)
}

/// Returns the target for building a program. For half of the seeds, as few functions as possible are inlined, with or
/// without buffer addresses.
pub fn build_target(seed: u64) -> Target {
    Target::full().changed(|target| {
        target.inlining = match seed % 4 {
            0 => Inlining::NONE,
            2 => target.inlining.keeping_all(),
            _ => Inlining::default(),
        }
    })
}

/// Returns a target like [`build_target`] for machine code. Its functions may also have pointer parameters.
pub fn native_build_target(seed: u64) -> Target {
    build_target(seed).changed(|target| target.inlining.takes_addresses = true)
}

/// Describes the first pass of the build after which the results are wrong.
pub fn first_of_build(module: &Module, target: &Target, case: &Case, expected: &[Vec<u8>]) -> String {
    let list =
        snapshots(module, |watch| passes::build_watched(&mut module.clone(), target, Some(watch)).map_err(|error| error.to_string()));
    first(&list, |_, module| differs(case, module, Stage::Built, expected))
        .unwrap_or_else(|| "no pass of the build changes the results".to_owned())
}

/// Describes the first pass for machine code after which the results are wrong.
pub fn first_of_native(module: &Module, case: &Case, expected: &[Vec<u8>]) -> String {
    let list = snapshots(module, |watch| prepared(module, case, watch).map(drop).map_err(|error| error.to_string()));
    first(&list, |_, module| differs(case, module, Stage::Prepared, expected))
        .unwrap_or_else(|| "no pass for the CPU changes the results".to_owned())
}

/// Describes the first pass of a specialisation after which the results are wrong, in any part of the launch.
pub fn first_of_launch(module: &Module, case: &Case, made: &[SpecialisedPart], expected: &[Vec<u8>]) -> String {
    for (number, part) in made.iter().enumerate() {
        let list = snapshots(module, |watch| {
            launched(module, &case.kernel, &part.key, &case.target, Some(watch)).map(drop).map_err(|error| error.to_string())
        });
        let is_wrong = |index: usize, module_now: &Module| {
            let has_run = |pass: &str| list[..=index].iter().any(|(name, _)| *name == pass);
            // Remove the properties of the key that depend on passes that have not run yet.
            let mut key = part.key.clone();
            if !has_run("merge_bindings") {
                key.binding.merged.clear();
            }
            if !has_run("start_parameters") {
                key.binding.started_args.clear();
            }
            if !has_run("extra_buffers") {
                key.binding.extra_buffers = 0;
            }
            let is_coarse = |module: &Module| module.functions[0].kernel.as_ref().is_some_and(|kernel| kernel.coarsening_log2 > 0);
            let now = |made: &SpecialisedPart| SpecialisedPart { module: module_now.clone(), key: key.clone(), part: made.part };
            let parts: Vec<SpecialisedPart> = match (is_coarse(&part.module), is_coarse(module_now)) {
                // The pass `coarsen` changes the specialised module. After it, use the module for all parts. Before it,
                // execute all groups as one part.
                (true, true) => made.iter().map(now).collect(),
                (true, false) => vec![SpecialisedPart { part: None, ..now(part) }],
                // The module is not coarsened. Use the module of the build for all other parts.
                (false, _) => {
                    let built = |made: &SpecialisedPart| SpecialisedPart {
                        module: module.clone(),
                        key: without_bindings(&made.key),
                        part: made.part,
                    };
                    made.iter().enumerate().map(|(other, made)| if other == number { now(made) } else { built(made) }).collect()
                }
            };
            outcome(case, |undefined| run_parts(case, &parts, undefined)).as_deref() != Ok(expected)
        };
        if let Some(found) = first(&list, is_wrong) {
            return found;
        }
    }
    "no single pass of the launch changes the results".to_owned()
}
