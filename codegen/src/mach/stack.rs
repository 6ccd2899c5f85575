//! The native stack usage of a module's functions.

use super::code::CodegenError;
use super::link::{Emitted, FixupTarget};
use crate::vir::Module;

/// Bytes of stack of the deepest chain of calls. Fails if a function calls itself, directly or indirectly.
pub(crate) fn stack_depth(module: &Module, functions: &[Emitted]) -> Result<u32, CodegenError> {
    let mut search = Search { module, functions, known: vec![None; functions.len()], open: vec![false; functions.len()] };
    (0..functions.len()).try_fold(0, |worst, index| Ok(search.depth(index)?.max(worst)))
}

struct Search<'a> {
    module: &'a Module,
    functions: &'a [Emitted],
    /// The stack depth of each function, including called functions, once it is known.
    known: Vec<Option<u32>>,
    /// The functions on the current path of the call graph.
    open: Vec<bool>,
}

impl Search<'_> {
    fn depth(&mut self, index: usize) -> Result<u32, CodegenError> {
        if let Some(known) = self.known[index] {
            return Ok(known);
        }
        if std::mem::replace(&mut self.open[index], true) {
            return Err(CodegenError::Recursion(self.module.functions[index].name.clone()));
        }
        let functions = self.functions;
        let mut callees = 0;
        for fixup in &functions[index].fixups {
            if let FixupTarget::Function(callee) = fixup.target {
                callees = callees.max(self.depth(callee as usize)?);
            }
        }
        let stack = functions[index].stack + callees;
        self.known[index] = Some(stack);
        Ok(stack)
    }
}
