//! The stages of a build in order: source text in, IR and build log out.
//!
//! A build runs on a thread of its own, because the recursion of the front end follows the nesting of the source, which its limits bound
//! but which takes more stack than a caller may have. A panic in it is a defect of ours: it is caught there and becomes an error in the log.

use std::sync::Arc;

use crate::diag::render::{RenderOptions, render};
use crate::diag::{Diagnostics, SourceMap, Span};
use crate::ir;
use crate::passes::{self, PassError};
use crate::program::{BuildOptions, BuildResult, Program, Source};
use crate::target::Target;
use crate::{lower, parse, preprocess, sema};

/// Bytes of stack for the thread of a build; only what is touched is ever taken.
const STACK: usize = 256 << 20;

/// Builds a source: everything up to the IR.
pub fn build(source: &Source, options: &BuildOptions, target: &Target) -> BuildResult {
    build_with(source, options, target, false)
}

/// As [`build`], with colours in the log where asked for.
pub fn build_with(source: &Source, options: &BuildOptions, target: &Target, colour: bool) -> BuildResult {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("wgcl build".to_owned()).stack_size(STACK);
        let spawned = thread.spawn_scoped(scope, || run(source, options, target, colour));
        let failed = |what: &str| BuildResult { program: None, log: format!("error: {what}\n") };
        match spawned.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => {
                let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
                failed(&format!("internal compiler error: {}", text.unwrap_or("unknown panic")))
            }
            Err(error) => failed(&format!("no thread for the compiler: {error}")),
        }
    })
}

fn run(source: &Source, options: &BuildOptions, target: &Target, colour: bool) -> BuildResult {
    let mut map = SourceMap::default();
    let mut diags = Diagnostics::default();
    let program = stages(source, options, target, &mut map, &mut diags);
    let rendering = RenderOptions { colour, no_warnings: options.no_warnings, warnings_are_errors: options.warnings_are_errors };
    let log = render(&map, &diags, rendering);
    let refused = diags.fails(options.warnings_are_errors && !options.no_warnings);
    BuildResult { program: program.filter(|_| !refused), log }
}

fn stages(source: &Source, options: &BuildOptions, target: &Target, map: &mut SourceMap, diags: &mut Diagnostics) -> Option<Program> {
    let tokens = preprocess::preprocess(source, options, target, map, diags);
    let unit = parse::parse(tokens, diags);
    if diags.has_errors() {
        // What could be parsed is checked all the same: its errors are worth reporting together.
        sema::check(&unit, options, target, diags);
        return None;
    }
    let checked = sema::check(&unit, options, target, diags)?;
    if diags.has_errors() {
        return None;
    }
    let mut module = match lower::lower(&checked, options, target) {
        Ok(module) => module,
        Err(error) => {
            diags.error(error.span, error.message);
            return None;
        }
    };
    if let Err(error) = passes::build(&mut module, target) {
        diags.error(place_of(&error, &checked), error.to_string());
        return None;
    }
    let global_variable_size = module.globals.iter().filter(|g| g.space == ir::Space::Global).map(|g| u64::from(g.size)).sum();
    Some(Program { module: Arc::new(module), kernels: checked.kernels.into_iter().map(|(_, info)| info).collect(), global_variable_size })
}

/// The definition of the function that a pass complains of.
fn place_of(error: &PassError, program: &crate::thir::Program) -> Span {
    let (PassError::TooLarge { function, .. }
    | PassError::TooDeep { function, .. }
    | PassError::Recursive { function }
    | PassError::Unsupported { function, .. }
    | PassError::Internal { function, .. }) = error;
    program.functions.iter().find(|f| *f.name == **function).map_or(Span::NONE, |f| f.span)
}
