//! `--emit bindings`: the resources that a host must bind for a shader.

use wgcl_compiler::binding::hidden;
use wgcl_compiler::emit::{BindingKind, BindingSource};
use wgcl_compiler::launch::LaunchResult;
use wgcl_compiler::program::Program;
use wgcl_compiler::target::Target;

use crate::arguments::Arguments;
use crate::launches::shaders;

/// Returns the bindings of each kernel in bind group 0 and the layout of its argument buffer, one per line.
pub fn bindings(arguments: &Arguments, program: &Program, target: &Target) -> LaunchResult<String> {
    let mut text = String::new();
    shaders(arguments, program, target, &mut |shader| {
        let names = program.kernels.iter().find(|kernel| kernel.name == shader.entry_point).map_or(&[][..], |kernel| &kernel.args);
        let name = |index: u32| names.get(index as usize).map_or_else(|| format!("argument {index}"), |arg| arg.name.clone());
        text.push_str(&format!("kernel {}\n", shader.entry_point));
        for binding in &shader.bindings {
            let kind = match binding.kind {
                BindingKind::Uniform { size } => format!("uniform buffer of {size} bytes"),
                BindingKind::Storage => "storage buffer".to_owned(),
            };
            let source = match binding.source {
                BindingSource::Param(index) => name(index),
                other => format!("{other:?}"),
            };
            text.push_str(&format!("  binding {}, {kind}: {source}\n", binding.binding));
        }
        let hidden = [
            (hidden::GLOBAL_OFFSET, "global offset, 3 words"),
            (hidden::WORK_DIM, "dimensions"),
            (hidden::GLOBAL_SIZE, "global size, 3 words"),
            (hidden::NUM_GROUPS, "groups, 3 words"),
            (hidden::GROUP_BASE, "first group of the dispatch, 3 words"),
        ];
        for (at, what) in hidden {
            text.push_str(&format!("  Arguments, byte {at}: {what}\n"));
        }
        for (index, (at, size)) in (0..).zip(&shader.args.values).filter_map(|(index, place)| Some((index, (*place)?))) {
            text.push_str(&format!("  Arguments, byte {at}: {}, {size} bytes\n", name(index)));
        }
        Ok(())
    })?;
    Ok(text)
}
