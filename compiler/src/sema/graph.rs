//! References between functions and variables. Rejects recursion (OpenCL C 6.11) and undefined functions and variables.

use super::Sema;
use crate::diag::Span;
use crate::thir::{FuncId, GlobalId, Local, LocalId};

impl Sema<'_> {
    /// Reports used variables without a definition.
    pub(super) fn check_variables(&mut self) {
        if self.options.open_references {
            return;
        }
        let missing = |(global, _): &(GlobalId, Span)| !self.globals[global.index()].defined;
        let mut list: Vec<(GlobalId, Span)> = self.extern_uses.iter().map(|(global, span)| (*global, *span)).filter(missing).collect();
        list.sort_unstable_by_key(|(global, _)| global.0);
        for (global, span) in list {
            let variable = &self.globals[global.index()];
            let (name, at) = (variable.name.clone(), variable.span);
            self.err_note(span, format!("undefined reference to variable '{name}'"), at, "declared here");
        }
    }

    /// Sets the linkage of all functions, and the parameters of functions that are only declared. Linking compares
    /// these parameters with those of the definitions.
    pub(super) fn describe_declared(&mut self) {
        for (function, decl) in self.functions.iter_mut().zip(&self.decls) {
            function.linkage = decl.linkage;
            function.overloadable = decl.overloadable;
            if function.body.is_none() && !decl.is_library {
                let locals = decl.params.iter().map(|param| Local { name: "".into(), ty: param.ty, align: 1, span: param.span });
                function.locals = locals.collect();
                function.params = (0..).map(LocalId).take(decl.params.len()).collect();
            }
        }
    }

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
        // Depth-first search without recursion. State 0: not visited, 1: on the current path, 2: done.
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
                        let from = path.iter().position(|(node, _)| *node == callee.index()).unwrap_or(0);
                        let cycle: Vec<usize> = path[from..].iter().map(|(node, _)| *node).collect();
                        self.recursion(&cycle, span);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Reports a cycle in the call graph. The call at `span` is its last edge.
    fn recursion(&mut self, cycle: &[usize], span: Span) {
        const SHOWN: usize = 5;
        let name = |index: &usize| self.decls[*index].name.clone();
        let Some(first) = cycle.first().map(name) else { return };
        let text = if cycle.len() == 1 {
            format!("recursion is not supported in OpenCL: '{first}' calls itself")
        } else {
            let shown: Vec<String> = cycle.iter().skip(1).take(SHOWN).map(|index| format!("'{}'", name(index))).collect();
            let more = if cycle.len() > SHOWN + 1 { ", which calls ..." } else { "" };
            format!("recursion is not supported in OpenCL: '{first}' calls {}{more}, which calls '{first}'", shown.join(", which calls "))
        };
        self.err(span, text);
    }
}
