//! Lowers the typed tree to IR in memory form.
//!
//! Every variable becomes a private variable with loads and stores. Parameters that are never written stay values.
//! Every record is in memory and is copied as bytes. All control flow, including `goto` and fallthrough, becomes `if`,
//! `loop` and `switch`. Passes convert this to SSA form. Only functions that a kernel calls, directly or indirectly,
//! are lowered. In a unit for linking, all functions that are not `static` are also lowered.
//!
//! # Conventions between functions
//! * A record passed by value is a pointer to a copy in private memory of the caller.
//! * A record returned by value is written through a hidden first parameter, a private pointer.
//! * A record parameter of a kernel is a `ptr.constant` to its bytes. It is copied only if the kernel writes it or
//!   takes its address.
//! * A kernel that is called as a function is also lowered as a helper.
//!
//! # Files
//! `builder` builds instructions. `function` sets up a function. `expr`, `lvalue`, `arith` and `calls` lower
//! expressions, `convert` and `half` lower conversions. `stmt`, `switch`, `irregular` and `blocks` lower control flow,
//! and `regions` converts a control flow graph to regions. `value_checks` adds checks for the sanitizer. `intrinsics`
//! lowers built-in functions that need few operations. `scan` analyses the typed tree, and `types` converts types.

mod arith;
mod blocks;
pub(crate) mod builder;
mod calls;
mod convert;
mod expr;
mod function;
mod half;
mod intrinsics;
mod irregular;
mod lvalue;
pub(crate) mod regions;
mod scan;
mod stmt;
mod switch;
#[cfg(test)]
mod tests;
mod types;
mod value_checks;

pub(crate) use types::scalar;

use rustc_hash::FxHashMap;

use crate::diag::Span;
use crate::ir;
use crate::options::BuildOptions;
use crate::target::Target;
use crate::thir::{self, FuncId};

/// Error for a valid construct that this compiler does not support, or for an exceeded limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct LowerError {
    pub span: Span,
    /// The text of the diagnostic.
    pub message: String,
}

/// Lowers the kernels of a program and every function that they call, directly or indirectly.
///
/// # Errors
/// Fails with the first unsupported construct or exceeded limit.
pub(crate) fn lower(program: &thir::Program, options: &BuildOptions, target: &Target) -> Result<ir::Module, LowerError> {
    let roots = program.kernels.iter().map(|(id, _)| Instance { id: *id, kernel: true });
    lower_roots(program, options, target, roots).map(|(module, _)| module)
}

/// Lowers a translation unit for linking. Kernels become entry points. All functions with a body that are not `static`,
/// including kernels, become helpers. A function that is only declared has the body `unreachable`. Also returns the
/// source function of each IR function.
///
/// # Errors
/// See [`lower`].
pub(crate) fn lower_unit(
    program: &thir::Program,
    options: &BuildOptions,
    target: &Target,
) -> Result<(ir::Module, Vec<Instance>), LowerError> {
    let kernels = program.kernels.iter().map(|(id, _)| Instance { id: *id, kernel: true });
    let others =
        (0..).zip(&program.functions).filter(|(_, function)| function.body.is_some() && function.linkage != thir::Linkage::Internal);
    let others = others.map(|(id, _)| Instance { id: FuncId(id), kernel: false });
    lower_roots(program, options, target, kernels.chain(others))
}

fn lower_roots(
    program: &thir::Program,
    options: &BuildOptions,
    target: &Target,
    roots: impl Iterator<Item = Instance>,
) -> Result<(ir::Module, Vec<Instance>), LowerError> {
    let mut shared = Shared { program, options, target, numbers: FxHashMap::default(), queue: Vec::new(), tables: Vec::new() };
    for root in roots {
        shared.function_number(root);
    }
    let mut functions = Vec::new();
    while let Some(&instance) = shared.queue.get(functions.len()) {
        functions.push(function::lower_function(&mut shared, instance)?);
    }
    let mut globals = program.globals.iter().map(|global| lower_global(program, global)).collect::<Result<Vec<_>, _>>()?;
    globals.append(&mut shared.tables);
    Ok((ir::Module { functions, globals }, shared.queue))
}

/// A source function that is lowered as an entry point or as a helper function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Instance {
    pub(crate) id: FuncId,
    /// Whether the IR function is an entry point.
    pub(crate) kernel: bool,
}

/// State that the functions of a module share.
struct Shared<'p> {
    program: &'p thir::Program,
    options: &'p BuildOptions,
    target: &'p Target,
    numbers: FxHashMap<Instance, ir::Func>,
    /// The functions to lower, in the order of their numbers in the module.
    queue: Vec<Instance>,
    /// Constants without a name in the program. Their numbers follow those of the program's variables.
    tables: Vec<ir::GlobalVar>,
}

impl Shared<'_> {
    /// Returns a constant with these bytes. Equal constants are shared.
    fn table(&mut self, bytes: Vec<u8>, align: u32) -> ir::Global {
        let known = self.tables.iter().position(|table| table.align == align && table.init.as_ref() == Some(&bytes));
        let index = known.unwrap_or_else(|| {
            self.tables.push(ir::GlobalVar {
                name: String::from("initialiser"),
                space: ir::Space::Constant,
                size: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
                align,
                init: Some(bytes),
                relocs: Vec::new(),
            });
            self.tables.len() - 1
        });
        ir::Global(ir::number(self.program.globals.len() + index))
    }

    /// Returns the number of a function. The first call queues the function for lowering.
    fn function_number(&mut self, instance: Instance) -> ir::Func {
        let next = ir::Func(ir::number(self.queue.len()));
        *self.numbers.entry(instance).or_insert_with(|| {
            self.queue.push(instance);
            next
        })
    }
}

fn lower_global(program: &thir::Program, global: &thir::GlobalVar) -> Result<ir::GlobalVar, LowerError> {
    let (size, align) = program.types.layout(global.ty.ty).unwrap_or((0, 1));
    let too_large = || LowerError {
        span: global.span,
        message: format!("variable `{}` of {size} bytes is too large; the limit is {} bytes", global.name, u32::MAX),
    };
    Ok(ir::GlobalVar {
        name: global.name.to_string(),
        space: global.space,
        size: u32::try_from(size).map_err(|_| too_large())?,
        align: align.max(global.align).max(1),
        init: global.init.clone(),
        relocs: global.relocs.clone(),
    })
}
