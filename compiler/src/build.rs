//! Runs the stages of a build, from source text to IR and build log.
//!
//! A build runs on a separate thread with a large stack, because the front end recurses as deep as the source
//! nests. A panic on this thread is a bug in the compiler. It becomes an error in the build log.

use std::sync::Arc;

use crate::diag::Span;
use crate::front::FrontEnd;
use crate::link::CompiledUnit;
use crate::options::{BuildOptions, Source};
use crate::parallel::on_thread;
use crate::passes::{self, PassError, Watch};
use crate::program::{BuildResult, Program};
use crate::target::Target;
use crate::timing::stage;
use crate::{ir, lower, thir};

/// Compiles a source to IR (clBuildProgram).
pub fn build(source: &Source, options: &BuildOptions, target: &Target) -> BuildResult {
    build_watched(source, options, target, None)
}

/// Like [`build`], but calls `watch` with the IR after each pass.
pub fn build_watched(source: &Source, options: &BuildOptions, target: &Target, watch: Option<&Watch<'_>>) -> BuildResult {
    on_thread(|| run(source, options, target, watch)).unwrap_or_else(|error| BuildResult::failed(vec![*error]))
}

/// Compiles a translation unit (clCompileProgram). [`crate::link::link`] later resolves functions and variables that
/// the unit does not define. Returns the unit and the build log. The unit is `None` if the source is rejected.
pub fn compile(source: &Source, options: &BuildOptions, target: &Target) -> (Option<CompiledUnit>, String) {
    let options = BuildOptions { open_references: true, ..options.clone() };
    let compiled = on_thread(|| {
        let mut front = FrontEnd::new(source, &options, target);
        let unit = front.check().and_then(|checked| {
            let unit = CompiledUnit::new(&checked, &front.map, &options, target);
            unit.map_err(|error| front.diags.error(error.span, error.message)).ok()
        });
        (unit.filter(|_| !front.is_rejected()), front.log())
    });
    compiled.unwrap_or_else(|error| (None, error.into_log()))
}

/// Compiles one function of a source for use in a kernel. Inlines all calls in it. Fails with the build log.
pub(crate) fn function(source: &Source, options: &BuildOptions, target: &Target, name: &str) -> Result<ir::Function, String> {
    let options = BuildOptions { open_references: true, ..options.clone() };
    on_thread(|| {
        let mut front = FrontEnd::new(source, &options, target);
        let made = front.check().and_then(|checked| {
            let lowered = lower::lower_unit(&checked, &options, target).map_err(|error| front.diags.error(error.span, error.message));
            let (mut module, _) = lowered.ok()?;
            let index = module.functions.iter().position(|function| function.name == name)?;
            let root = ir::Func(u32::try_from(index).ok()?);
            let made = passes::build_alone(&mut module, root, target);
            made.map_err(|error| front.diags.error(Span::NONE, error.to_string())).ok()?;
            Some(module.functions.swap_remove(index))
        });
        made.ok_or_else(|| front.log())
    })
    .unwrap_or_else(|error| Err(error.into_log()))
}

fn run(source: &Source, options: &BuildOptions, target: &Target, watch: Option<&Watch<'_>>) -> BuildResult {
    let mut front = FrontEnd::new(source, options, target);
    let program = front.check().and_then(|checked| finish(&mut front, checked, target, watch));
    let (log, messages, is_rejected) = (front.log(), front.messages(), front.is_rejected());
    let files = front.map.take_searched_files();
    let sources = Some(Arc::new(front.map));
    let program = program.filter(|_| !is_rejected).map(|program| Program { sources, ..program });
    BuildResult { program, log, messages, files }
}

/// Runs the stages after the front end. Reports an error and returns `None` if one of them fails.
fn finish(front: &mut FrontEnd<'_>, checked: thir::Program, target: &Target, watch: Option<&Watch<'_>>) -> Option<Program> {
    let mut module = front.lower_checked(&checked)?;
    if let Err(error) = stage("build passes", || passes::build_watched(&mut module, target, watch)) {
        front.diags.error(location_of(&error, &checked), error.to_string());
        return None;
    }
    let program = Program::new(module, checked.kernels.into_iter().map(|(_, info)| info).collect());
    if let Err(what) = program.check_variables() {
        front.diags.error(Span::NONE, what);
        return None;
    }
    Some(program)
}

/// Returns the location of the function that an error of a pass is about, or [`Span::NONE`].
fn location_of(error: &PassError, program: &thir::Program) -> Span {
    let (PassError::TooLarge { function, .. }
    | PassError::TooDeep { function, .. }
    | PassError::Recursive { function }
    | PassError::Unsupported { function, .. }
    | PassError::Internal { function, .. }) = error;
    program.functions.iter().find(|f| *f.name == **function).map_or(Span::NONE, |f| f.span)
}
