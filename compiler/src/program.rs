//! The results of a build: a program and a build log (clBuildProgram, clLinkProgram).

use std::path::PathBuf;
use std::sync::Arc;

use crate::analysis::writes_anywhere;
use crate::diag::{Message, SourceMap};
use crate::ir;
use crate::layout::ProgramLayout;
pub use crate::options::{BuildOptions, CStd, OptionError, Source, parse_options};
pub use crate::reflection::{AccessQualifier, ArgInfo, KernelInfo};
use crate::target::MAX_GLOBAL_VARIABLES;

/// A built program, with all data that launches need.
#[derive(Clone, Debug)]
pub struct Program {
    /// IR after the build-time passes.
    pub module: Arc<ir::Module>,
    /// Kernels in order of their definition.
    pub kernels: Vec<KernelInfo>,
    /// Size in bytes of the program-scope `__global` variables that the program declares.
    pub global_variable_size: u64,
    /// The sources that the spans of instructions refer to. `None` for a program that was linked or deserialised, and
    /// for a SPIR-V module without source locations.
    pub sources: Option<Arc<SourceMap>>,
}

impl Program {
    /// Creates a program from a module after the build passes.
    pub(crate) fn new(mut module: ir::Module, mut kernels: Vec<KernelInfo>) -> Self {
        mark_written_pointees(&mut module, &mut kernels);
        let enqueuing = crate::enqueue::enqueuing(&module);
        for (func, function) in (0..).map(ir::Func).zip(&module.functions).filter(|(_, function)| function.kernel.is_some()) {
            let is_independent = crate::passes::group_independent(&module, func);
            let enqueues = enqueuing.get(func.index()).copied().unwrap_or(false);
            for kernel in kernels.iter_mut().filter(|kernel| kernel.name == function.name) {
                kernel.group_independent = is_independent;
                kernel.enqueues = enqueues;
            }
        }
        let visible = module.globals.iter().filter(|g| g.space == ir::Space::Global && !crate::enqueue::is_hidden(&g.name));
        let global_variable_size = visible.map(|g| u64::from(g.size)).sum();
        Self { module: Arc::new(module), kernels, global_variable_size, sources: None }
    }

    /// Fails if the `__global` variables exceed [`MAX_GLOBAL_VARIABLES`].
    pub(crate) fn check_variables(&self) -> Result<(), String> {
        let size = self.global_variable_size.max(ProgramLayout::of(&self.module.globals).global_size.into());
        if size <= MAX_GLOBAL_VARIABLES {
            return Ok(());
        }
        Err(format!("the program's variables need {size} bytes of global memory; the limit is {MAX_GLOBAL_VARIABLES} bytes"))
    }
}

/// Marks all buffer parameters as written in kernels that write through pointers that they load from memory.
fn mark_written_pointees(module: &mut ir::Module, kernels: &mut [KernelInfo]) {
    fn written(param: &mut ir::KernelParam) {
        if let ir::KernelParam::Buffer { space: ir::Space::Global, read_only, .. } = param {
            *read_only = false;
        }
    }
    for index in 0..module.functions.len() {
        let is_concerned = |func: ir::Func| module.functions[func.index()].kernel.is_some() && writes_anywhere(module, func);
        if !u32::try_from(index).is_ok_and(|index| is_concerned(ir::Func(index))) {
            continue;
        }
        let function = &mut module.functions[index];
        function.kernel.iter_mut().flat_map(|kernel| &mut kernel.params).for_each(written);
        let same = kernels.iter_mut().filter(|kernel| kernel.name == function.name);
        same.flat_map(|kernel| &mut kernel.args).for_each(|arg| written(&mut arg.passing));
    }
}

/// The result of a build.
#[derive(Clone, Debug)]
pub struct BuildResult {
    /// The program, or `None` if the build failed or created a library.
    pub program: Option<Program>,
    /// The build log: the diagnostics in clang's format. Empty if there are none.
    pub log: String,
    /// The diagnostics of the log as data.
    pub messages: Vec<Message>,
    /// Every file that the build searched in the file system, with its contents, or `None` if the file does not exist.
    /// The result of the build depends on these files.
    pub files: Vec<(PathBuf, Option<Vec<u8>>)>,
}

impl BuildResult {
    /// Creates the result of a failed build.
    pub fn failed(messages: Vec<Message>) -> Self {
        let log = messages.iter().filter_map(|message| message.rendered.as_deref()).collect();
        Self { program: None, log, messages, files: Vec::new() }
    }
}
