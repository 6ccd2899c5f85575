//! The SPIR-V front end: lowers modules of the OpenCL environment (versions 1.0 to 1.6, capability `Kernel`) to IR in
//! memory form.
//!
//! ```text
//! words -> module (types, constants, blocks) -> control flow graph -> structure -> ir
//! ```
//! Instructions without an IR operation become calls of OpenCL C functions (`bridge`): OpenCL.std, images, atomics,
//! groups, pipes, device-side enqueue. So both languages share one library. All later stages, including the linker, are
//! shared with OpenCL C.
//!
//! # Files
//! `words` decodes instructions and `module` sorts them. `decorations`, `types`, `constants`, `fold` and `globals`
//! handle module-scope instructions. `lines` reads debug information. `control` creates the graph for `structurize`,
//! and lowers blocks and `OpPhi`s. `function` maps ids to values. `instruction` dispatches to the modules that lower
//! instructions.

mod arith;
mod atomics;
mod bridge;
mod builtins;
mod calls;
mod captures;
mod composite;
mod constants;
mod control;
mod convert;
mod decorations;
mod enqueue;
mod errors;
mod ext;
mod fold;
mod function;
mod globals;
mod groups;
mod images;
mod instruction;
mod intel_groups;
mod library;
mod lines;
mod mangled;
mod memory;
mod module;
mod named_barriers;
mod pipes;
mod reflection;
mod types;
mod unit;
mod words;

use crate::link::{self, CompiledUnit, Output};
use crate::options::BuildOptions;
use crate::parallel::on_thread;
use crate::passes::Watch;
use crate::program::{BuildResult, Program};
use crate::target::Target;
use crate::timing::stage;

use unit::Lowered;

pub use constants::{Specialisation, specialisation_constants};
pub use words::{InvalidHeader, read_words};

/// A module and the values of its specialisation constants.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The words that [`read_words`] returned.
    pub words: &'a [u32],
    /// Values of specialisation constants. Other constants have their default value.
    pub specialisation: &'a Specialisation,
}

/// Compiles a module to IR (clBuildProgram).
pub fn build(source: Source<'_>, options: &BuildOptions, target: &Target) -> BuildResult {
    build_watched(source, options, target, None)
}

/// Does the same as [`build`], and calls `watch` with the IR after each pass.
pub fn build_watched(source: Source<'_>, options: &BuildOptions, target: &Target, watch: Option<&Watch<'_>>) -> BuildResult {
    let built = on_thread(|| match stage("spirv", || unit::lower(source, options, target, unit::Roots::Kernels)) {
        Ok(Lowered { unit, sources }) => {
            let result = link::join(&[&unit], Output::Executable, target, watch);
            BuildResult { program: result.program.map(|program| Program { sources, ..program }), ..result }
        }
        Err(error) => BuildResult::failed(error.into_messages(source.words)),
    });
    built.unwrap_or_else(|error| BuildResult::failed(vec![*error]))
}

/// Compiles a module for linking (clCompileProgram). [`crate::link::link`] resolves its imports. Returns the unit, or
/// `None` if the module is rejected, and the build log.
pub fn compile(source: Source<'_>, options: &BuildOptions, target: &Target) -> (Option<CompiledUnit>, String) {
    let made = on_thread(|| match unit::lower(source, options, target, unit::Roots::Exports) {
        Ok(lowered) => (Some(lowered.unit), String::new()),
        Err(error) => (None, BuildResult::failed(error.into_messages(source.words)).log),
    });
    made.unwrap_or_else(|error| (None, error.into_log()))
}
