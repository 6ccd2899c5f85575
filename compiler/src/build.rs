//! The stages of a build in order: source text in, IR and build log out.
//!
//! A build runs on a thread of its own, because the recursion of the front end follows the nesting of the source, which its limits bound
//! but which takes more stack than a caller may have. A panic in it is a defect of ours: it is caught there and becomes an error in the log.

use crate::diag::render::{RenderOptions, render};
use crate::diag::{Diagnostics, SourceMap, Span};
use crate::ir;
use crate::link::CompiledUnit;
use crate::options::{BuildOptions, Source};
use crate::parallel::on_thread;
use crate::passes::{self, PassError, Watch};
use crate::program::{BuildResult, Program};
use crate::target::Target;
use crate::timing::stage;
use crate::{lower, parse, preprocess, sema};

/// Builds a source: everything up to the IR.
pub fn build(source: &Source, options: &BuildOptions, target: &Target) -> BuildResult {
    build_with(source, options, target, false)
}

/// Compiles a translation unit on its own (clCompileProgram): what it declares and does not define is left to [`crate::link::link`]. The unit, unless
/// the source is refused, and the build log.
pub fn compile(source: &Source, options: &BuildOptions, target: &Target) -> (Option<CompiledUnit>, String) {
    let options = BuildOptions { open_references: true, ..options.clone() };
    let compiled = on_thread(|| {
        let (mut map, mut diags) = (SourceMap::default(), Diagnostics::default());
        let unit = front(source, &options, target, &mut map, &mut diags)
            .and_then(|checked| CompiledUnit::new(&checked, &options, target).map_err(|error| diags.error(error.span, error.message)).ok());
        let (log, refused) = finish(&map, &diags, &options, false);
        (unit.filter(|_| !refused), log)
    });
    compiled.unwrap_or_else(|log| (None, log))
}

/// As [`build`], with colours in the log where asked for.
pub fn build_with(source: &Source, options: &BuildOptions, target: &Target, colour: bool) -> BuildResult {
    build_watched(source, options, target, colour, None)
}

/// As [`build_with`], with someone who looks at the IR after every pass.
pub fn build_watched(source: &Source, options: &BuildOptions, target: &Target, colour: bool, watch: Option<&Watch<'_>>) -> BuildResult {
    on_thread(|| run(source, options, target, colour, watch)).unwrap_or_else(BuildResult::refused)
}

/// Compiles one function of a source for use within a kernel: everything that it calls is inlined. The error is a log.
pub(crate) fn function(source: &Source, options: &BuildOptions, target: &Target, name: &str) -> Result<ir::Function, String> {
    let options = BuildOptions { open_references: true, ..options.clone() };
    on_thread(|| {
        let (mut map, mut diags) = (SourceMap::default(), Diagnostics::default());
        let made = front(source, &options, target, &mut map, &mut diags).and_then(|checked| {
            let lowered = lower::lower_unit(&checked, &options, target).map_err(|error| diags.error(error.span, error.message));
            let (mut module, _) = lowered.ok()?;
            let index = module.functions.iter().position(|function| function.name == name)?;
            let root = ir::Func(u32::try_from(index).ok()?);
            let made = passes::build_alone(&mut module, root, target);
            made.map_err(|error| diags.error(Span::NONE, error.to_string())).ok()?;
            Some(module.functions.swap_remove(index))
        });
        made.ok_or_else(|| finish(&map, &diags, &options, false).0)
    })?
}

/// The log, and whether the source is refused.
fn finish(map: &SourceMap, diags: &Diagnostics, options: &BuildOptions, colour: bool) -> (String, bool) {
    let rendering = RenderOptions { colour, no_warnings: options.no_warnings, warnings_are_errors: options.warnings_are_errors };
    (render(map, diags, rendering), diags.fails(options.warnings_are_errors && !options.no_warnings))
}

fn run(source: &Source, options: &BuildOptions, target: &Target, colour: bool, watch: Option<&Watch<'_>>) -> BuildResult {
    let mut map = SourceMap::default();
    let mut diags = Diagnostics::default();
    let program =
        front(source, options, target, &mut map, &mut diags).and_then(|checked| middle(checked, options, target, &mut diags, watch));
    let (log, refused) = finish(&map, &diags, options, colour);
    BuildResult { program: program.filter(|_| !refused), log, files: map.into_sought() }
}

/// The typed tree of a source without errors.
fn front(
    source: &Source,
    options: &BuildOptions,
    target: &Target,
    map: &mut SourceMap,
    diags: &mut Diagnostics,
) -> Option<crate::thir::Program> {
    let tokens = stage("preprocess", || preprocess::preprocess(source, options, target, map, diags));
    let unit = stage("parse", || parse::parse(tokens, diags));
    // What could be parsed is checked even if something could not: its errors are worth reporting together.
    let complete = !diags.has_errors();
    stage("sema", || sema::check(&unit, options, target, diags)).filter(|_| complete && !diags.has_errors())
}

/// The stages after the front end.
fn middle(
    checked: crate::thir::Program,
    options: &BuildOptions,
    target: &Target,
    diags: &mut Diagnostics,
    watch: Option<&Watch<'_>>,
) -> Option<Program> {
    let mut module = match stage("lower", || lower::lower(&checked, options, target)) {
        Ok(module) => module,
        Err(error) => {
            diags.error(error.span, error.message);
            return None;
        }
    };
    if let Err(error) = stage("build passes", || passes::build_watched(&mut module, target, watch)) {
        diags.error(place_of(&error, &checked), error.to_string());
        return None;
    }
    let program = Program::new(module, checked.kernels.into_iter().map(|(_, info)| info).collect());
    if let Err(what) = program.check_variables() {
        diags.error(Span::NONE, what);
        return None;
    }
    Some(program)
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
