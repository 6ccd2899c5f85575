//! The native stack usage of a module's functions.

use super::code::CodegenError;
use super::link::{Emitted, RelocationTarget};
use crate::vir::Module;

/// Returns the stack size in bytes of the deepest chain of calls. Fails if a function calls itself, directly or
/// indirectly.
pub(crate) fn stack_depth(module: &Module, functions: &[Emitted]) -> Result<u32, CodegenError> {
    let mut search = Search { module, functions, depths: vec![None; functions.len()], begun: vec![false; functions.len()] };
    (0..functions.len()).try_fold(0, |worst, index| Ok(search.depth(index)?.max(worst)))
}

struct Search<'a> {
    module: &'a Module,
    functions: &'a [Emitted],
    /// The stack size in bytes of each function, including its callees. `None` if it is not computed yet.
    depths: Vec<Option<u32>>,
    /// The functions whose search has begun. Those without a depth are on the current path of the call graph.
    begun: Vec<bool>,
}

impl Search<'_> {
    fn depth(&mut self, index: usize) -> Result<u32, CodegenError> {
        if let Some(depth) = self.depths[index] {
            return Ok(depth);
        }
        if std::mem::replace(&mut self.begun[index], true) {
            return Err(CodegenError::Recursion(self.module.functions[index].name.clone()));
        }
        let functions = self.functions;
        let mut callees = 0;
        for relocation in &functions[index].text.relocations {
            if let RelocationTarget::Function(callee) = relocation.target {
                callees = callees.max(self.depth(callee as usize)?);
            }
        }
        let stack = functions[index].stack + callees;
        self.depths[index] = Some(stack);
        Ok(stack)
    }
}
