//! The call graph: recursion is refused (OpenCL C 6.11), and so are calls of functions that nobody defines.

use super::Sema;
use crate::diag::Span;
use crate::thir::FuncId;

impl Sema<'_> {
    pub(super) fn check_call_graph(&mut self) {
        let mut reported = vec![false; self.decls.len()];
        for (_, callee, span) in self.calls.clone() {
            let decl = &self.decls[callee.index()];
            if !decl.defined && !self.options.open_references && !reported[callee.index()] {
                reported[callee.index()] = true;
                let (name, at) = (decl.name.clone(), decl.span);
                self.err_note(span, format!("undefined reference to function '{name}'"), at, "declared here");
            }
        }
        let mut edges: Vec<Vec<(FuncId, Span)>> = vec![Vec::new(); self.decls.len()];
        for (caller, callee, span) in &self.calls {
            edges[caller.index()].push((*callee, *span));
        }
        // Depth first without recursion: 1 is on the path, 2 is done.
        let mut state = vec![0u8; self.decls.len()];
        for start in 0..self.decls.len() {
            if state[start] != 0 {
                continue;
            }
            state[start] = 1;
            let mut path = vec![(start, 0usize)];
            while let Some((node, next)) = path.last_mut() {
                let Some((callee, span)) = edges[*node].get(*next).copied() else {
                    state[*node] = 2;
                    path.pop();
                    continue;
                };
                *next += 1;
                match state[callee.index()] {
                    0 => {
                        state[callee.index()] = 1;
                        path.push((callee.index(), 0));
                    }
                    1 => {
                        let name = self.decls[callee.index()].name.clone();
                        self.err(span, format!("recursion is not supported in OpenCL: '{name}' calls itself, directly or through others"));
                    }
                    _ => {}
                }
            }
        }
    }
}
