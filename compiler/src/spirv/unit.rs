//! Lowers a module to a unit for linking: the functions of the module, the library functions that they call, and its
//! symbols.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Source;
use super::bridge::Bridge;
use super::captures::{self, CapturedHandles};
use super::enqueue;
use super::errors::InvalidModule;
use super::function::{self, Shared};
use super::globals::{Globals, Variable};
use super::library;
use super::module::{Entry, FunctionDef, Module, read};
use super::reflection::{self, kernel_body};
use super::words::Id;
use crate::diag::{Message, SourceMap};
use crate::ir::{self, Func, Space, Type};
use crate::link::{CompiledUnit, Symbol};
use crate::options::BuildOptions;
use crate::program::KernelInfo;
use crate::target::Target;
use crate::thir::Linkage;

/// The functions of a module that are lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Roots {
    /// Kernels and the functions that they call. The module is not linked with others.
    Kernels,
    /// Kernels, exported functions, and the functions that they call. Other units may call exported functions.
    Exports,
}

/// The reason why a module cannot be lowered.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnitError {
    #[error(transparent)]
    InvalidModule(#[from] InvalidModule),
    /// The library functions do not compile for this device.
    #[error("the module uses features that this device does not support")]
    Library(Vec<Message>),
    /// A bug in the compiler, or an invalid module that no check rejected.
    #[error("internal compiler error or invalid module: {0}; if spirv-val accepts the module, report a bug")]
    Internal(String),
}

impl UnitError {
    /// Returns the error messages for the build log.
    pub(super) fn into_messages(self, words: &[u32]) -> Vec<Message> {
        match self {
            Self::InvalidModule(error) => vec![super::lines::message(&error, words)],
            Self::Library(ref details) => std::iter::once(Message::error(self.to_string())).chain(details.iter().cloned()).collect(),
            Self::Internal(_) => vec![Message::error(self.to_string())],
        }
    }
}

/// A lowered module.
pub(super) struct Lowered {
    pub(super) unit: CompiledUnit,
    /// The source map of the spans in the module. `None` if the module has no source locations.
    pub(super) sources: Option<Arc<SourceMap>>,
}

/// Lowers a module.
pub(super) fn lower(source: Source<'_>, options: &BuildOptions, target: &Target, roots: Roots) -> Result<Lowered, UnitError> {
    let mut module = read(source.words, source.specialisation, target)?;
    let mut globals = std::mem::take(&mut module.globals);
    let is_kernel = |entry: &&Entry| !enqueue::is_block(&module, entry);
    module.entries = module.entries.iter().filter(is_kernel).cloned().collect();
    let mut bridge = Bridge::new(source);
    let helpers = helpers(&module, roots);
    let first = u32::try_from(module.entries.len()).unwrap_or(u32::MAX);
    let numbers: FxHashMap<Id, Func> = helpers.iter().zip(first..).map(|(def, number)| (def.id, Func(number))).collect();
    let (mut functions, mut symbols, mut kernels): (Vec<ir::Function>, Vec<Symbol>, Vec<KernelInfo>) = Default::default();
    let captured = CapturedHandles::find(&module);
    let mut shared = Shared {
        module: &module,
        globals: &mut globals,
        bridge: &mut bridge,
        helpers: &numbers,
        captured: &captured,
        first_store: Func(first.saturating_add(ir::number(helpers.len()))),
        stores_handles: false,
        is_alone: roots == Roots::Kernels,
        large_objects: target.language.large_objects,
    };
    for entry in &module.entries {
        let (def, info) = reflection::kernel(&module, entry, shared.globals, (options, target))?;
        let kernel = ir::Kernel {
            params: info.args.iter().map(|arg| arg.passing.clone()).collect(),
            reqd_work_group_size: info.reqd_work_group_size,
            reqd_subgroup_size: info.reqd_subgroup_size,
            coarsening_log2: 0,
            zeroed: false,
            requires_addresses: false,
            aligned: false,
        };
        functions.push(function::lower(&mut shared, def, Some(kernel), &entry.name)?);
        symbols.push(Symbol::lowered(entry.name.clone(), Linkage::Internal, true, functions.last()));
        kernels.push(info);
    }
    for def in &helpers {
        let link = module.decorations.link(def.id);
        let name = link.map_or_else(|| module.name(def.id).to_owned(), |link| link.name.clone());
        let function = function::lower(&mut shared, def, None, &name)?;
        let defined = !def.blocks.is_empty();
        let linkage = match link {
            Some(link) if roots == Roots::Exports || !defined => link.linkage,
            _ => Linkage::Internal,
        };
        symbols.push(Symbol::lowered(name, linkage, defined, Some(&function)));
        functions.push(function);
    }
    if shared.stores_handles {
        for (name, ty) in [("store_image", Type::Ptr(Space::Global)), ("store_sampler", Type::I32)] {
            let missing = |problem| InvalidModule { instruction: "OpEnqueueKernel".to_owned(), offset: 0, problem, line: None };
            let function = captures::store_function(name, ty).map_err(missing)?;
            symbols.push(Symbol::lowered(name.to_owned(), Linkage::Internal, true, Some(&function)));
            functions.push(function);
        }
    }
    let mut variables = variable_symbols(&module, &globals, roots);
    let mut lowered = ir::Module { functions, globals: globals.into_data() };
    // The symbols of the unnamed constants follow those of the variables.
    variables.extend(
        lowered
            .globals
            .iter()
            .skip(variables.len())
            .map(|data| Symbol::lowered_variable(data.name.clone(), Linkage::Internal, true, data))
            .collect::<Vec<_>>(),
    );
    let added = library::add(&mut lowered, &bridge, options, target)?;
    kernels.extend(added.kernels);
    symbols.extend(added.functions);
    variables.extend(added.variables);
    if let Err(errors) = ir::verify::verify(&lowered) {
        return Err(UnitError::Internal(errors.first().map(ToString::to_string).unwrap_or_default()));
    }
    let non_uniform = module.non_uniform_groups && !options.uniform_work_group_size;
    let sources = module.sources;
    Ok(Lowered { unit: CompiledUnit::lowered(lowered, kernels, non_uniform, symbols, variables), sources })
}

/// Returns the symbols of a module's variables.
fn variable_symbols(module: &Module<'_>, globals: &Globals, roots: Roots) -> Vec<Symbol> {
    let symbol = |variable: &Variable| {
        let link = module.decorations.link(variable.id);
        let (defined, linkage) = link.map_or((true, Linkage::Internal), |link| (!link.import, link.linkage));
        let name = link.map_or_else(|| variable.data.name.clone(), |link| link.name.clone());
        let linkage = if roots == Roots::Kernels && defined { Linkage::Internal } else { linkage };
        Symbol::lowered_variable(name, linkage, defined, &variable.data)
    };
    globals.list.iter().map(symbol).collect()
}

/// Returns the functions to lower in addition to the kernels, in the order of the module.
fn helpers<'m, 'w>(module: &'m Module<'w>, roots: Roots) -> Vec<&'m FunctionDef<'w>> {
    let mut wanted: FxHashSet<Id> = FxHashSet::default();
    let mut queue: Vec<&FunctionDef<'w>> = module.entries.iter().filter_map(|entry| kernel_body(module, entry)).collect();
    if roots == Roots::Exports {
        let exported = |def: &&FunctionDef<'w>| !def.blocks.is_empty() && module.decorations.link(def.id).is_some_and(|link| !link.import);
        let exports: Vec<_> = module.functions.iter().filter(exported).collect();
        wanted.extend(exports.iter().map(|def| def.id));
        queue.extend(exports);
    }
    while let Some(def) = queue.pop() {
        for id in def.blocks.iter().flat_map(|block| &block.insts).filter_map(enqueue::called_function) {
            if let Some(&number) = module.function_numbers.get(&id)
                && wanted.insert(id)
            {
                queue.push(&module.functions[number]);
            }
        }
    }
    module.functions.iter().filter(|def| wanted.contains(&def.id)).collect()
}
