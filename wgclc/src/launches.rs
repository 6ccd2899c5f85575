//! The selected kernels, and the launches for which they are compiled.

use wgcl_compiler::emit::Shader;
use wgcl_compiler::ir::Function;
use wgcl_compiler::launch::{LaunchKey, LaunchResult};
use wgcl_compiler::program::Program;
use wgcl_compiler::specialise::specialise;
use wgcl_compiler::target::Target;

use crate::arguments::Arguments;

/// Returns all kernels, or only that of `--kernel`.
pub fn kernels<'p>(arguments: &Arguments, program: &'p Program) -> impl Iterator<Item = &'p Function> {
    let wanted = arguments.kernel.clone();
    let kernels = program.module.functions.iter().filter(|function| function.kernel.is_some());
    kernels.filter(move |function| wanted.as_ref().is_none_or(|name| *name == function.name))
}

/// Returns the key of a typical launch, in which no buffer is bound twice.
pub fn key(arguments: &Arguments, function: &Function, target: &Target) -> LaunchKey {
    LaunchKey::example(function, arguments.local_size).changed(|key| {
        key.binding.distinct = true;
        key.binding.addresses |= arguments.addresses && target.shaders.addresses;
    })
}

/// Compiles the selected kernels to shaders. Calls `with` for each. Stops at the first error.
pub fn shaders(
    arguments: &Arguments,
    program: &Program,
    target: &Target,
    with: &mut dyn FnMut(&Shader) -> LaunchResult<()>,
) -> LaunchResult<()> {
    for function in kernels(arguments, program) {
        let key = key(arguments, function, target);
        with(&specialise(&program.module, &function.name, &key, target)?)?;
    }
    Ok(())
}
